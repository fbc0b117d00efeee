//! Hunks in words: where each stands, how it was located, what it takes away and what it brings.

use std::ops::Range;

use super::super::report::marks;
use rhumb_edit::review::{CommentTarget, Decision, EditState, FileReview, HunkId, Review, ReviewHunk};
use rhumb_edit::{FileChange, Outcome};
use rhumb_text::{count, lines};

/// What there is to review, in a line.
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

/// How many hunks stand where.
pub(super) fn standing(review: &Review) -> String {
    let counts = review.counts();
    format!("{} accepted, {} rejected, {} undecided.", counts.accepted, counts.rejected, counts.pending)
}

/// The line above a hunk: its number, its place, its size, how it was located, what was said of it.
pub(super) fn heading(review: &Review, id: HunkId, number: usize, total: usize) -> String {
    let (Some(file), Some(item)) = (review.files.get(id.file), review.hunk(id)) else { return String::new() };
    let mut parts = vec![format!("hunk {number} of {total}"), file.path.clone()];
    parts.extend(file.stored_at.iter().map(|stored| format!("a link to {stored}")));
    parts.extend(place(file, item));
    if file.change == FileChange::Modify && !item.marks.iter().any(|mark| marks::tells_how_located(mark)) {
        parts.push("located exactly".to_owned());
    }
    parts.extend(item.marks.iter().map(|mark| marks::in_words(mark)));
    parts.extend(item.original().map(|_| "changed by you".to_owned()));
    parts.push(decision_in_words(item));
    parts.join(", ")
}

fn place(file: &FileReview, item: &ReviewHunk) -> Vec<String> {
    let (base, proposed) = (&item.hunk.base, &item.hunk.proposed);
    match &file.change {
        FileChange::Create => vec![format!("a new file of {}", count(proposed.len(), "line"))],
        FileChange::Delete => vec![format!("deletes the file of {}", count(base.len(), "line"))],
        FileChange::Rename { from } => vec![format!("moves there from {from}")],
        FileChange::Modify if base.is_empty() => {
            vec![after(base.start), format!("adds {}", count(proposed.len(), "line"))]
        }
        FileChange::Modify if proposed.is_empty() => {
            vec![span(base), format!("removes {}", count(base.len(), "line"))]
        }
        FileChange::Modify => {
            vec![span(base), format!("replaces {} by {}", count(base.len(), "line"), proposed.len())]
        }
    }
}

fn after(line: usize) -> String {
    if line == 0 { "before line 1".to_owned() } else { format!("after line {line}") }
}

/// `line 3`, `lines 3 to 5`, of a range that counts from 0.
fn span(lines: &Range<usize>) -> String {
    match lines.len() {
        1 => format!("line {}", lines.end),
        _ => format!("lines {} to {}", lines.start + 1, lines.end),
    }
}

fn decision_in_words(item: &ReviewHunk) -> String {
    if item.has_line_decisions() {
        let of = |wanted| (0..item.line_count()).filter(|line| item.line_decision(*line) == wanted).count();
        let counts = [Decision::Accepted, Decision::Rejected, Decision::Pending].map(of);
        return format!("of its lines {} accepted, {} rejected, {} undecided", counts[0], counts[1], counts[2]);
    }
    decided(item.decision()).to_owned()
}

/// A decision as a word.
pub(super) fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Pending => "undecided",
        Decision::Accepted => "accepted",
        Decision::Rejected => "rejected",
    }
}

/// The lines of a hunk, with so many unchanged ones before and after it. With `numbered`, each line that can be decided by itself
/// has its number within the hunk before it.
pub(super) fn body(review: &Review, id: HunkId, context: usize, numbered: bool) -> Vec<String> {
    let (Some(file), Some(item)) = (review.files.get(id.file), review.hunk(id)) else { return Vec::new() };
    let old = lines::split(file.base.as_deref().unwrap_or_default());
    let new = lines::split(file.proposed.as_deref().unwrap_or_default());
    let (base, proposed) = (item.hunk.base.clone(), item.hunk.proposed.clone());
    let is_moved = matches!(file.change, FileChange::Rename { .. });
    if is_moved && file.base == file.proposed {
        return vec!["Its text stays as it is.".to_owned()];
    }
    let mut told = Vec::new();
    let kept = |range: Range<usize>| {
        let line = |at: usize| format!("kept {}: {}", at + 1, spoken(old.get(at).copied().unwrap_or_default()));
        range.map(line).collect::<Vec<_>>()
    };
    let modifies = file.change == FileChange::Modify;
    if modifies {
        told.extend(kept(base.start.saturating_sub(context)..base.start));
    }
    let sides = [("removed", &old, base.clone()), ("added", &new, proposed)];
    let mut at = 0;
    for (verb, texts, range) in sides {
        for number in range {
            let line = texts.get(number).copied().unwrap_or_default();
            let index = if numbered { format!("line {}, ", at + 1) } else { String::new() };
            let said = if item.has_line_decisions() {
                format!(" ({})", decided(item.line_decision(at)))
            } else {
                String::new()
            };
            told.push(format!("{index}{verb} {}{said}: {}", number + 1, spoken(line)));
            told.extend(item.comment(Some(at)).map(|text| format!("comment on that line: {text}")));
            at += 1;
        }
    }
    if modifies {
        told.extend(kept(base.end..(base.end + context).min(old.len())));
    }
    told.extend(endings(&old, &new, item, modifies));
    told.extend(review.comment_on(CommentTarget::Hunk(id)).map(|text| format!("comment: {text}")));
    told
}

/// A line without its end; one that nobody would hear says what it is.
fn spoken(line: &str) -> String {
    let body = lines::body(line);
    match body.chars().count() {
        0 => "(empty line)".to_owned(),
        blanks if body.trim().is_empty() => format!("({})", count(blanks, "blank")),
        _ => body.to_owned(),
    }
}

/// That the last line loses or gets its end, which no line shows.
fn endings(old: &[&str], new: &[&str], item: &ReviewHunk, modifies: bool) -> Option<String> {
    let last = |lines: &[&str], range: &Range<usize>| {
        let line = lines.last().copied().filter(|_| !range.is_empty() && range.end == lines.len())?;
        Some(line.ends_with('\n'))
    };
    match (last(old, &item.hunk.base), last(new, &item.hunk.proposed)) {
        (Some(true), Some(false)) => Some("The file ends without a line end then.".to_owned()),
        (Some(false), Some(true)) => Some("The file gets a line end at its end.".to_owned()),
        (None, Some(false)) if !modifies => Some("The file ends without a line end.".to_owned()),
        _ => None,
    }
}

/// An edit without a place: why, what it quotes, and what stands at the nearest places.
pub(super) fn refused(outcome: &Outcome, number: usize, total: usize) -> Vec<String> {
    let path = if outcome.path.is_empty() { "no file name" } else { outcome.path.as_str() };
    let state = EditState::of_refused(outcome).label();
    let mut told = vec![format!("refused edit {number} of {total}, {path}, {state}: {}", outcome.reason.trim())];
    let quoted = |verb: &str, text: &str| text.lines().map(|line| format!("{verb}: {line}")).collect::<Vec<_>>();
    told.extend(quoted("quoted", &outcome.quote));
    told.extend(quoted("wanted", &outcome.replacement));
    for near in &outcome.nearest {
        let lines = near.text.lines().enumerate();
        told.extend(lines.map(|(at, text)| format!("nearest, line {}: {text}", near.line + at)));
    }
    if outcome.nearest.is_empty() {
        let place = |place: &rhumb_edit::Candidate| format!("line {}", place.line);
        let places: Vec<String> = outcome.candidates.iter().map(place).collect();
        told.extend((!places.is_empty()).then(|| format!("nearest places: {}", places.join(", "))));
    }
    told
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use rhumb_edit::{FileProposal, Proposal};

    /// A review of one modified, one new and one deleted file.
    pub(crate) fn review() -> Review {
        let file = |path: &str, change, base: Option<&str>, proposed: Option<&str>| FileProposal {
            path: path.into(),
            change,
            base: base.map(Arc::from),
            proposed: proposed.map(Arc::from),
        };
        let files = vec![
            file("a.rs", FileChange::Modify, Some("1\n2\n3\n4\n5\n6\n"), Some("1\ntwo\n3\n4\n5\nfive\nsix\n")),
            file("b.rs", FileChange::Create, None, Some("new")),
            file("c.rs", FileChange::Delete, Some("old\n"), None),
        ];
        Review::new(Proposal { files, ..Proposal::default() })
    }

    fn id(file: usize, hunk: usize) -> HunkId {
        HunkId { file, hunk }
    }

    #[test]
    fn a_hunk_is_told_with_its_place_its_size_and_how_it_was_located() {
        let mut review = review();
        assert_eq!(summary(&review), "4 hunks in 3 files.");
        let heading = |review: &Review, file, hunk, number| super::heading(review, id(file, hunk), number, 4);
        assert_eq!(
            heading(&review, 0, 0, 1),
            "hunk 1 of 4, a.rs, line 2, replaces 1 line by 1, located exactly, undecided"
        );
        assert_eq!(heading(&review, 1, 0, 3), "hunk 3 of 4, b.rs, a new file of 1 line, undecided");
        review.decide(id(2, 0), Decision::Rejected);
        assert_eq!(heading(&review, 2, 0, 4), "hunk 4 of 4, c.rs, deletes the file of 1 line, rejected");
    }

    #[test]
    fn the_lines_of_a_hunk_say_what_becomes_of_them() {
        let mut review = review();
        assert_eq!(body(&review, id(0, 0), 1, false), ["kept 1: 1", "removed 2: 2", "added 2: two", "kept 3: 3"]);
        assert_eq!(body(&review, id(1, 0), 3, false), ["added 1: new", "The file ends without a line end."]);
        review.decide_lines(id(0, 0), 1..2, Decision::Accepted);
        review.comment(CommentTarget::Line(id(0, 0), 1), "why?");
        let told = body(&review, id(0, 0), 0, true);
        assert_eq!(told[0], "line 1, removed 2 (undecided): 2");
        assert_eq!(told[1..], ["line 2, added 2 (accepted): two", "comment on that line: why?"]);
    }

    #[test]
    fn an_edit_without_a_hunk_has_its_state() {
        use rhumb_edit::{Flag, Status};
        let edit = |flags: Vec<Flag>| {
            let outcome = serde_json::json!({
                "path": "a.rs", "format": "diff", "status": Status::Refused, "strategy": null, "confidence": 0.0, "lines": null,
                "reason": "why", "candidates": [], "nearest": [], "flags": flags, "quote": "", "replacement": "",
                "reply_lines": [1, 2],
            });
            serde_json::from_value::<Outcome>(outcome).unwrap()
        };
        let states = [
            (vec![], "no place"),
            (vec![Flag::AlreadyApplied], "already applied"),
            (vec![Flag::Incomplete], "incomplete"),
            (vec![Flag::Conflict], "conflict"),
        ];
        let mut review = review();
        for (at, (flags, state)) in states.into_iter().enumerate() {
            review.refused.push(edit(flags));
            let heading = &refused(&review.refused[at], at + 1, 4)[0];
            assert_eq!(*heading, format!("refused edit {} of 4, a.rs, {state}: why", at + 1));
        }
        assert_eq!(
            summary(&review),
            "4 hunks in 3 files, 1 edit: conflict, 1 edit: no place, 1 edit: incomplete, 1 edit: already applied (refused shows why)."
        );
    }

    #[test]
    fn marks_and_blanks_are_words() {
        assert_eq!([spoken("\r\n"), spoken("   \n"), spoken(" x\n")], ["(empty line)", "(3 blanks)", " x"]);
        assert_eq!(marks::in_words("fuzzy 93 %"), "located by fuzzy 93 percent");
        assert_eq!(marks::in_words("syntax-error"), "breaks the syntax of the file");
        assert_eq!(marks::in_words("some-new-mark"), "some new mark");
    }
}
