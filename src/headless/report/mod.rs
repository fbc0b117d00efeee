//! Prints proposals for people and as JSON, and asks about their hunks.

mod hunk_prompt;

use super::event::HunkEvent;
use super::print_message;
use crate::host::new_syntax_faults;
pub(crate) use hunk_prompt::is_editing;
pub use hunk_prompt::{ask_each, yes_or_no};
use rhumb_edit::review::{FileReview, Review, path_with_link_target};
use rhumb_edit::{FileChange, Outcome, Proposal, Status, SyntaxFault};
use rhumb_session::{PendingWrite, pending_writes};
use rhumb_text::{diff, sanitize};
use serde_json::{Value, json};

/// The proposal as `rhumb apply --json` prints it.
pub fn as_json(proposal: &Proposal) -> Value {
    json!({
        "hunks": proposal.outcomes.iter().map(|outcome| HunkEvent::new(outcome, proposal)).collect::<Vec<_>>(),
        "files": proposal.files.iter().map(|file| file_json(proposal, &file.path)).collect::<Vec<_>>(),
    })
}

fn file_json(proposal: &Proposal, path: &str) -> Value {
    let applied = proposal.outcomes.iter().filter(|outcome| outcome.path == path && outcome.status == Status::Applied);
    json!({"path": path, "hunks": applied.count()})
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
    let path = path_with_link_target(&outcome.path, stored);
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

pub(super) fn is_yes(answer: &str) -> bool {
    ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

/// The syntax errors that writing the accepted hunks would add to files.
fn syntax_faults(review: &Review) -> Vec<SyntaxFault> {
    let writes: Vec<PendingWrite> = review.files.iter().flat_map(pending_writes).collect();
    new_syntax_faults(&writes)
}

fn syntax_warning(fault: &SyntaxFault) -> String {
    format!("warning: {} does not parse at line {}: {}", fault.path, fault.line + 1, fault.text)
}

/// Prints the syntax errors that writing the accepted hunks would add to files.
pub fn warn_of_faults(review: &Review) {
    syntax_faults(review).iter().for_each(|fault| print_message(&syntax_warning(fault)));
}

/// One hunk of a file as a unified diff, with control characters made visible.
fn hunk_diff(file: &FileReview, index: usize) -> String {
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
