//! What is noted on a hunk: how the edits behind it were located, and what a reviewer should know of it.

use crate::{FileProposal, Flag, HunkFlags, Outcome, Status, Strategy};
use rhumb_text::diff::Hunk;

/// What to note on a hunk of `file`, sorted.
pub(super) fn marks(file: &FileProposal, hunk: &Hunk, outcomes: &[Outcome], flags: &[HunkFlags]) -> Vec<String> {
    let is_one = file.is_one_hunk();
    let landed = outcomes.iter().filter(|outcome| outcome.status == Status::Applied && file.has_name(&outcome.path));
    let behind = landed.filter(|outcome| is_one || outcome.is_behind(hunk));
    let own = flags.iter().filter(|flagged| flagged.path == file.path && (is_one || flagged.hunk == *hunk));
    let own = own.flat_map(|flagged| &flagged.flags).map(ToString::to_string);
    let mut marks: Vec<String> = behind.flat_map(marks_of).chain(own).collect();
    marks.sort();
    marks.dedup();
    marks
}

/// What to note of how an edit was located: how sure that is when it was not exact, and every flag that is about the edit
/// rather than about one of its hunks.
fn marks_of(outcome: &Outcome) -> impl Iterator<Item = String> + '_ {
    let percent = (outcome.confidence * 100.0).floor();
    let how = outcome.strategy.filter(|_| percent < 100.0).map(|strategy| format!("{strategy} {percent:.0} %"));
    let of_hunks = |flag: &&Flag| match flag {
        Flag::SyntaxError | Flag::Generated | Flag::Ignored | Flag::RunsLater | Flag::NewAddress => true,
        Flag::OpenInEditor | Flag::ReadOnly | Flag::HardLinked => true,
        Flag::Elision => outcome.strategy != Some(Strategy::Elision),
        _ => false,
    };
    let flags = outcome.flags.iter().filter(move |flag| !of_hunks(flag));
    how.into_iter().chain(flags.map(ToString::to_string))
}
