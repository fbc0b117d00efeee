//! A proposal in words and as JSON, and asking about it hunk by hunk on a terminal.

pub(super) mod marks;

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

use crate::diff;
use crate::edit::{FileChange, Outcome, Proposal, Status};
use crate::review::{Decision, Review, ReviewHunk, led};
use crate::text::sanitize;

/// The proposal as `rhumb apply --json` prints it.
pub fn as_json(proposal: &Proposal) -> Value {
    json!({
        "hunks": proposal.outcomes.iter().map(|outcome| outcome_json(outcome, proposal)).collect::<Vec<_>>(),
        "files": proposal.files.iter().map(|file| file_json(proposal, &file.path)).collect::<Vec<_>>(),
    })
}

fn file_json(proposal: &Proposal, path: &str) -> Value {
    let applied = proposal.outcomes.iter().filter(|outcome| outcome.path == path && outcome.status == Status::Applied);
    json!({"path": path, "hunks": applied.count()})
}

/// One edit of a reply.
pub fn outcome_json(outcome: &Outcome, proposal: &Proposal) -> Value {
    let applied = outcome.status == Status::Applied;
    let candidates = outcome.candidates.iter();
    let mut told = json!({
        "path": outcome.path,
        "format": outcome.format.to_string(),
        "status": if applied { "applied" } else { "refused" },
        "strategy": outcome.strategy.map(|strategy| strategy.to_string()).unwrap_or_default(),
        "confidence": f64::from(outcome.confidence),
        "lines": outcome.lines.map(|(first, last)| json!([first, last])),
        "reason": outcome.reason,
        "candidates": candidates
            .map(|place| json!({"line": place.line, "similarity": f64::from(place.similarity)}))
            .collect::<Vec<_>>(),
        "nearest": outcome.nearest.iter().map(|near| json!({"line": near.line, "text": near.text})).collect::<Vec<_>>(),
        "flags": outcome.flags.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if let Some(stored) = proposal.links.get(&outcome.path) {
        told["stored_at"] = json!(stored);
    }
    told
}

/// The proposal as a unified diff.
pub fn as_diff(proposal: &Proposal) -> String {
    proposal
        .files
        .iter()
        .map(|file| file_diff(&file.path, &file.change, file.base.as_deref(), file.proposed.as_deref()))
        .collect()
}

fn file_diff(path: &str, change: &FileChange, base: Option<&str>, proposed: Option<&str>) -> String {
    match change {
        FileChange::Rename { from } => {
            diff::unified_move(from, path, base.unwrap_or_default(), proposed.unwrap_or_default())
        }
        _ => diff::unified(path, base, proposed),
    }
}

/// One line for an edit, for people.
pub fn outcome_line(number: usize, outcome: &Outcome, proposal: &Proposal) -> String {
    let stored = proposal.links.get(&outcome.path).map(String::as_str);
    let path = led(&outcome.path, stored);
    let path = sanitize::visible_line(&path);
    match outcome.status {
        Status::Applied => {
            let how = outcome.strategy.map(|strategy| strategy.to_string()).unwrap_or_default();
            let flags: String = outcome.flags.iter().map(|flag| format!(" [{flag}]")).collect();
            format!("{number}. {path}: {how}{flags}")
        }
        Status::Refused => format!("{number}. {path}: refused: {}", sanitize::visible(&outcome.reason)),
    }
}

/// Asks about each hunk by number on the terminal; end of input rejects the rest.
pub fn ask_each(review: &mut Review) {
    let ids: Vec<_> = review.ids().collect();
    let total = ids.len();
    let mut input = std::io::stdin().lock();
    for (index, id) in ids.into_iter().enumerate() {
        let Some(file) = review.files.get(id.file) else {
            continue;
        };
        let shown = hunk_text(file, id.hunk);
        let title = file.title();
        let path = sanitize::visible_line(&title);
        let marks = file.hunks.get(id.hunk).map_or_else(String::new, marks_line);
        let question = format!("{shown}{marks}hunk {} of {total} in {path}: accept? [y/n] ", index + 1);
        let mut err = std::io::stderr();
        let _ = err.write_all(question.as_bytes()).and_then(|()| err.flush());
        let mut answer = String::new();
        let yes = input.read_line(&mut answer).is_ok() && is_yes(&answer);
        review.decide(id, if yes { Decision::Accepted } else { Decision::Rejected });
    }
}

/// Whether an answer on the terminal is a yes.
pub(super) fn is_yes(answer: &str) -> bool {
    ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

/// What the reviewer should know of a hunk, as a line; nothing where there is nothing to know.
fn marks_line(hunk: &ReviewHunk) -> String {
    let told: Vec<String> = hunk.marks.iter().map(|mark| marks::in_words(mark)).collect();
    if told.is_empty() { String::new() } else { format!("note: {}\n", sanitize::visible_line(&told.join("; "))) }
}

fn hunk_text(file: &crate::review::FileReview, index: usize) -> String {
    let hunks: Vec<_> = file.hunks.iter().map(|hunk| hunk.hunk.clone()).collect();
    let base = file.base.as_deref().unwrap_or_default();
    let only = diff::apply(base, file.proposed.as_deref().unwrap_or_default(), &hunks, |hunk| hunk == index);
    let proposed = file.proposed.as_ref().map(|_| only.as_str());
    sanitize::visible(&file_diff(&file.path, &file.change, file.base.as_deref(), proposed)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_in_full_is_a_yes_and_nothing_else_is() {
        assert!(["y\n", "Y\r\n", " yes \n", "YES"].into_iter().all(is_yes));
        assert!(!["", "\n", "n\n", "no\n", "ye\n", "yy\n", "yesterday\n"].into_iter().any(is_yes));
    }
}
