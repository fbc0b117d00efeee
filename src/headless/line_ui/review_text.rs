//! Renders hunks in words: number, location, size, marks, decision, and lines.

use rhumb_edit::review::{
    CommentTarget, Composed, Decision, EditState, FileReview, HunkId, HunkMark, Review, ReviewHunk,
};
use rhumb_edit::{FileChange, Outcome};
use rhumb_text::{count, lines};
use std::ops::Range;

pub(super) fn summary(review: &Review) -> String {
    let hunks = review.counts().total();
    let mut parts = Vec::new();
    if hunks > 0 || review.refused.is_empty() {
        parts.push(format!("{} in {}", count(hunks, "hunk"), count(review.files.len(), "file")));
    }
    let states = review.refused_states();
    parts.extend(states.into_iter().map(|(state, number)| format!("{}: {}", count(number, "edit"), state.label())));
    let hint = if review.refused.is_empty() { "" } else { " (refused shows why)" };
    format!("{}{hint}.", parts.join(", "))
}

/// The number of hunks by decision.
pub(super) fn status(review: &Review) -> String {
    let counts = review.counts();
    format!("{} accepted, {} rejected, {} undecided.", counts.accepted, counts.rejected, counts.pending)
}

/// The line above a hunk: number, file, location, size, how it was located, marks, decision.
pub(super) fn heading(review: &Review, id: HunkId) -> String {
    let (Some(file), Some(hunk)) = (review.files.get(id.file), review.hunk(id)) else { return String::new() };
    let number = review.number_of(id).unwrap_or_default();
    let mut parts = vec![format!("hunk {number} of {}", review.counts().total()), file.path.clone()];
    parts.extend(file.stored_at.iter().map(|target| format!("a link to {target}")));
    parts.extend(change(file, hunk));
    if file.is_divisible() && hunk.is_located_exactly() {
        parts.push("located exactly".to_owned());
    }
    parts.extend(hunk.marks.iter().map(HunkMark::describe));
    parts.extend(hunk.original().map(|_| "changed by you".to_owned()));
    parts.push(decision(hunk));
    parts.join(", ")
}

fn change(file: &FileReview, hunk: &ReviewHunk) -> Vec<String> {
    let (base, proposed) = (&hunk.hunk.base, &hunk.hunk.proposed);
    match &file.change {
        FileChange::Create => vec![format!("a new file of {}", count(proposed.len(), "line"))],
        FileChange::Delete => vec![format!("deletes the file of {}", count(base.len(), "line"))],
        FileChange::Rename { from } => vec![format!("moves there from {from}")],
        FileChange::Modify if base.is_empty() => {
            let location =
                if base.start == 0 { "before line 1".to_owned() } else { format!("after line {}", base.start) };
            vec![location, format!("adds {}", count(proposed.len(), "line"))]
        }
        FileChange::Modify if proposed.is_empty() => {
            vec![line_numbers(base), format!("removes {}", count(base.len(), "line"))]
        }
        FileChange::Modify => {
            vec![line_numbers(base), format!("replaces {} by {}", count(base.len(), "line"), proposed.len())]
        }
    }
}

/// `line 3` or `lines 3 to 5`, for a 0-based range.
fn line_numbers(lines: &Range<usize>) -> String {
    match lines.len() {
        1 => format!("line {}", lines.end),
        _ => format!("lines {} to {}", lines.start + 1, lines.end),
    }
}

fn decision(hunk: &ReviewHunk) -> String {
    if hunk.has_line_decisions() {
        let of = |wanted| (0..hunk.line_count()).filter(|line| hunk.line_decision(*line) == wanted).count();
        let counts = [Decision::Accepted, Decision::Rejected, Decision::Pending].map(of);
        return format!("of its lines {} accepted, {} rejected, {} undecided", counts[0], counts[1], counts[2]);
    }
    decision_name(hunk.decision()).to_owned()
}

fn decision_name(decision: Decision) -> &'static str {
    match decision {
        Decision::Pending => "undecided",
        Decision::Accepted => "accepted",
        Decision::Rejected => "rejected",
    }
}

/// The lines of a hunk, with up to `context` unchanged lines before and after it. If `numbered`, each removed and added line has
/// its number within the hunk.
pub(super) fn body(review: &Review, id: HunkId, context: usize, numbered: bool) -> Vec<String> {
    let (Some(file), Some(hunk)) = (review.files.get(id.file), review.hunk(id)) else { return Vec::new() };
    let old = lines::split(file.base.as_deref().unwrap_or_default());
    let new = lines::split(file.proposed.as_deref().unwrap_or_default());
    let (base, proposed) = (hunk.hunk.base.clone(), hunk.hunk.proposed.clone());
    if matches!(file.change, FileChange::Rename { .. }) && file.base == file.proposed {
        return vec!["The text does not change.".to_owned()];
    }
    let unchanged = |range: Range<usize>| {
        let line = |at: usize| format!("kept {}: {}", at + 1, readable(old.get(at).copied().unwrap_or_default()));
        range.filter(|_| file.is_divisible()).map(line).collect::<Vec<_>>()
    };
    let mut text = unchanged(base.start.saturating_sub(context)..base.start);
    let sides = [("removed", &old, base.clone()), ("added", &new, proposed)];
    let rows = sides.into_iter().flat_map(|(verb, texts, range)| range.map(move |number| (verb, texts, number)));
    for (at, (verb, texts, number)) in rows.enumerate() {
        let line = texts.get(number).copied().unwrap_or_default();
        let index = if numbered { format!("line {}, ", at + 1) } else { String::new() };
        let decision = match hunk.has_line_decisions() {
            true => format!(" ({})", decision_name(hunk.line_decision(at))),
            false => String::new(),
        };
        text.push(format!("{index}{verb} {}{decision}: {}", number + 1, readable(line)));
        text.extend(hunk.comment(Some(at)).map(|comment| format!("comment on that line: {comment}")));
    }
    text.extend(unchanged(base.end..(base.end + context).min(old.len())));
    text.extend(final_line_end(&old, &new, hunk, file.is_divisible()).map(str::to_owned));
    text.extend(review.comment_on(CommentTarget::Hunk(id)).map(|comment| format!("comment: {comment}")));
    text
}

/// A line without its line end. A line that a screen reader would not read is described.
fn readable(line: &str) -> String {
    let body = lines::body(line);
    match body.chars().count() {
        0 => "(empty line)".to_owned(),
        blanks if body.trim().is_empty() => format!("({})", count(blanks, "blank")),
        _ => body.to_owned(),
    }
}

/// States that the hunk adds or removes the final line end of the file, which no line shows.
fn final_line_end(old: &[&str], new: &[&str], hunk: &ReviewHunk, is_modified: bool) -> Option<&'static str> {
    let has_line_end = |lines: &[&str], range: &Range<usize>| {
        let line = lines.last().copied().filter(|_| !range.is_empty() && range.end == lines.len())?;
        Some(line.ends_with('\n'))
    };
    match (has_line_end(old, &hunk.hunk.base), has_line_end(new, &hunk.hunk.proposed)) {
        (Some(true), Some(false)) => Some("Removes the final line end of the file."),
        (Some(false), Some(true)) => Some("Adds a final line end to the file."),
        (None, Some(false)) if !is_modified => Some("The file ends without a line end."),
        _ => None,
    }
}

/// A refused edit: the reason, its quote, its replacement, and the nearest lines of the file.
pub(super) fn refused(outcome: &Outcome, number: usize, total: usize) -> Vec<String> {
    let path = if outcome.path.is_empty() { "no file name" } else { outcome.path.as_str() };
    let state = EditState::of_refused(outcome).label();
    let mut text = vec![format!("refused edit {number} of {total}, {path}, {state}: {}", outcome.reason.trim())];
    text.extend(outcome.quote.lines().map(|line| format!("quoted: {line}")));
    text.extend(outcome.replacement.lines().map(|line| format!("wanted: {line}")));
    for near in &outcome.nearest {
        let lines = near.text.lines().enumerate();
        text.extend(lines.map(|(at, line)| format!("nearest, line {}: {line}", near.line + at)));
    }
    if outcome.nearest.is_empty() && !outcome.candidates.is_empty() {
        let candidates: Vec<String> = outcome.candidates.iter().map(|near| format!("line {}", near.line)).collect();
        text.push(format!("nearest locations: {}", candidates.join(", ")));
    }
    text
}

/// The effect of a write on a file; `None` if no hunk of it is accepted.
pub(super) fn write_line(file: &FileReview) -> Option<String> {
    let hunks = count(file.counts().accepted, "hunk");
    match (file.composed(), &file.change) {
        (Composed::Untouched, _) => None,
        (Composed::Deleted, _) => Some(format!("deletes {}", file.path)),
        (Composed::Text(_), FileChange::Create) => Some(format!("creates {}", file.path)),
        (Composed::Text(_), FileChange::Rename { from }) => Some(format!("moves {from} to {}", file.path)),
        (Composed::Text(_), FileChange::Modify | FileChange::Delete) => Some(format!("changes {}: {hunks}", file.path)),
    }
}

#[cfg(test)]
pub(super) mod tests;
