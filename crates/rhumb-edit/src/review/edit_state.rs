//! The edits of answers behind the hunks of a review: their identity, their line counts and their state.
//!
//! An edit may become several hunks or share one, and its hunks leave the review when they are written. A hunk
//! names its edits, an [`EditRecord`] is kept with the answer, and [`EditState::of`] combines both.

use std::collections::{BTreeMap, BTreeSet};

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;
use serde::{Deserialize, Serialize};

use super::Review;
use super::file::FileReview;
use super::hunk::Counts;
use crate::outcome::{EditId, Flag, Outcome, Status, Strategy};
use crate::proposal::FileProposal;

/// How an edit was located.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The edit is part of the proposed text.
    #[default]
    Located,
    /// The file already has the change.
    AlreadyApplied,
    /// An earlier edit proposes the same change.
    Repeated,
    /// The reply stopped inside the edit.
    Incomplete,
    /// The edit has no location: nothing in the file matches, several locations do, or the file cannot be edited.
    Unplaced,
}

impl Placement {
    /// The placement of an edit with that outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let is = |add_flags: Flag| outcome.flags.contains(&add_flags);
        match outcome.status {
            _ if is(Flag::Repeated) => Self::Repeated,
            _ if is(Flag::AlreadyApplied) => Self::AlreadyApplied,
            Status::Applied if outcome.strategy == Some(Strategy::Unchanged) => Self::AlreadyApplied,
            Status::Applied => Self::Located,
            Status::Refused if is(Flag::Incomplete) => Self::Incomplete,
            Status::Refused => Self::Unplaced,
        }
    }
}

/// An edit of an answer, and what became of it outside of the review. Kept with the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EditRecord {
    /// The edit.
    pub id: EditId,
    /// The path under the root; as the model wrote it if it was not found, and empty if there was none.
    pub path: String,
    /// Number of added lines.
    pub added: usize,
    /// Number of removed lines.
    pub removed: usize,
    /// How the edit was located.
    pub placement: Placement,
    /// Number of its hunks that were written.
    #[serde(default)]
    pub written: usize,
    /// Number of its hunks that were rejected when they left the review.
    #[serde(default)]
    pub rejected: usize,
    /// The number, in the session, of the write with its hunks.
    #[serde(default)]
    pub write: u64,
    /// Whether that write was undone.
    #[serde(default)]
    pub is_undone: bool,
    /// Whether an edit of a later answer replaced it in the review.
    #[serde(default)]
    pub is_replaced: bool,
}

impl EditRecord {
    /// The record of an edit with that outcome. `counts` are the lines that it adds and removes in the review.
    /// `None` if the outcome names no edit.
    pub fn new(outcome: &Outcome, counts: Option<(usize, usize)>) -> Option<Self> {
        let placement = Placement::of(outcome);
        let wanted = || {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (outcome.quote.split_inclusive('\n').collect(), outcome.replacement.split_inclusive('\n').collect());
            let hunks = diff::line_hunks(&old, &new);
            let sum = |of: fn(&Hunk) -> usize| hunks.iter().map(of).sum();
            (sum(|hunk| hunk.proposed.len()), sum(|hunk| hunk.base.len()))
        };
        // An edit without a location shows the lines that it asks for.
        let (added, removed) = match placement {
            Placement::Located | Placement::AlreadyApplied | Placement::Repeated => counts.unwrap_or_default(),
            Placement::Incomplete | Placement::Unplaced => wanted(),
        };
        Some(Self {
            id: *outcome.edits.first()?,
            path: outcome.path.clone(),
            added,
            removed,
            placement,
            ..Self::default()
        })
    }
}

/// The state of an edit of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditState {
    /// Under review and pending.
    Pending,
    /// Accepted and not written yet.
    Accepted,
    /// Rejected.
    Rejected,
    /// Written.
    Written,
    /// Its hunks have different decisions. Written hunks count as accepted.
    Mixed(Counts),
    /// The file already has the change.
    AlreadyApplied,
    /// An earlier edit proposes the same change.
    Repeated,
    /// It has no location in the file.
    Unplaced,
    /// The reply stopped inside the edit.
    Incomplete,
    /// The file changed on disk at its location.
    Conflict,
    /// It was written, and the write was undone.
    Undone,
    /// An edit of a later answer replaced it.
    Replaced,
    /// The user dismissed it, or abandoned the review.
    Dismissed,
}

impl EditState {
    /// The state of a recorded edit in a review.
    pub fn of(record: &EditRecord, review: &Review) -> Self {
        let mut counts = Counts::default();
        let hunks = review.files.iter().flat_map(|file| &file.hunks);
        hunks.filter(|hunk| hunk.edits.contains(&record.id)).for_each(|hunk| counts.add(hunk.decision()));
        let refused = review.refused.iter().find(|outcome| outcome.edits.contains(&record.id));
        let written = if record.is_undone { 0 } else { record.written };
        match refused {
            Some(outcome) if counts.total() == 0 || outcome.is_conflict() => return Self::of_refused(outcome),
            _ => {}
        }
        let rejected = counts.rejected + record.rejected;
        match (counts.pending, counts.accepted, rejected, written) {
            (0, 0, 0, 0) => Self::outside(record),
            (_, 0, 0, 0) => Self::Pending,
            (0, _, 0, 0) => Self::Accepted,
            (0, 0, _, 0) => Self::Rejected,
            (0, 0, 0, _) => Self::Written,
            (pending, accepted, rejected, written) => {
                Self::Mixed(Counts { pending, accepted: accepted + written, rejected })
            }
        }
    }

    /// The state of a refused edit.
    pub fn of_refused(outcome: &Outcome) -> Self {
        match Placement::of(outcome) {
            _ if outcome.is_conflict() => Self::Conflict,
            Placement::AlreadyApplied => Self::AlreadyApplied,
            Placement::Repeated => Self::Repeated,
            Placement::Incomplete => Self::Incomplete,
            Placement::Located | Placement::Unplaced => Self::Unplaced,
        }
    }

    /// The state of an edit that is not in the review and was not written.
    fn outside(record: &EditRecord) -> Self {
        match record.placement {
            Placement::AlreadyApplied => Self::AlreadyApplied,
            Placement::Repeated => Self::Repeated,
            _ if record.is_undone => Self::Undone,
            _ if record.is_replaced => Self::Replaced,
            _ => Self::Dismissed,
        }
    }

    /// A symbol that does not depend on colour.
    pub fn mark(self) -> char {
        match self {
            Self::Pending | Self::Mixed(_) => '·',
            Self::Accepted | Self::Written => '✓',
            Self::Rejected => '✗',
            Self::AlreadyApplied | Self::Repeated => '=',
            Self::Unplaced | Self::Incomplete | Self::Conflict => '⚠',
            Self::Undone => '↶',
            Self::Replaced | Self::Dismissed => '–',
        }
    }

    /// The state in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Written => "written",
            Self::Mixed(_) => "partly decided",
            Self::AlreadyApplied => "already applied",
            Self::Repeated => "repeated",
            Self::Unplaced => "no location",
            Self::Incomplete => "incomplete",
            Self::Conflict => "conflict",
            Self::Undone => "undone",
            Self::Replaced => "replaced",
            Self::Dismissed => "put away",
        }
    }
}

impl Review {
    /// The edits in the review: those of its hunks and the refused ones.
    pub fn edits(&self) -> BTreeSet<EditId> {
        let hunks = self.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.edits);
        hunks.chain(self.refused.iter().flat_map(|outcome| &outcome.edits)).copied().collect()
    }

    /// The number of refused edits by state: conflicts first, then those that need an answer, then those that need
    /// none.
    pub fn refused_states(&self) -> Vec<(EditState, usize)> {
        let states = [EditState::Conflict, EditState::Unplaced, EditState::Incomplete, EditState::AlreadyApplied];
        let number = |state| self.refused.iter().filter(|outcome| EditState::of_refused(outcome) == state).count();
        states.into_iter().map(|state| (state, number(state))).filter(|(_, number)| *number > 0).collect()
    }

    /// The number of lines that each of these edits adds and removes in the review. A line of a hunk that several
    /// edits made counts for one of them, so that the sums are those of the hunks.
    pub fn lines_by_edit(&self, outcomes: &[Outcome]) -> BTreeMap<EditId, (usize, usize)> {
        let by_id: BTreeMap<EditId, &Outcome> =
            outcomes.iter().flat_map(|outcome| outcome.edits.iter().map(move |id| (*id, outcome))).collect();
        let mut counts: BTreeMap<EditId, (usize, usize)> = BTreeMap::new();
        for file in &self.files {
            let (old, new) = file.split_texts();
            for item in &file.hunks {
                let behind: Vec<(EditId, &Outcome)> =
                    item.edits.iter().filter_map(|id| Some((*id, *by_id.get(id)?))).collect();
                for at in item.hunk.base.clone() {
                    let line = lines::body(old.get(at).copied().unwrap_or_default());
                    if let Some(id) = edit_removing(&behind, at + 1, line) {
                        counts.entry(id).or_default().1 += 1;
                    }
                }
                for at in item.hunk.proposed.clone() {
                    let line = lines::body(new.get(at).copied().unwrap_or_default());
                    if let Some(id) = edit_adding(&behind, line) {
                        counts.entry(id).or_default().0 += 1;
                    }
                }
            }
        }
        counts
    }
}

/// The edit that removes a line (1-based) of a hunk.
fn edit_removing(behind: &[(EditId, &Outcome)], number: usize, line: &str) -> Option<EditId> {
    let covers = |outcome: &Outcome| outcome.lines.is_some_and(|(first, last)| (first..=last).contains(&number));
    let removes = |outcome: &Outcome| has_line(&outcome.quote, line) && !has_line(&outcome.replacement, line);
    first_of(behind, &[&|outcome| covers(outcome) && removes(outcome), &covers, &removes])
}

/// The edit that adds a line of a hunk.
fn edit_adding(behind: &[(EditId, &Outcome)], line: &str) -> Option<EditId> {
    let brings = |outcome: &Outcome| has_line(&outcome.replacement, line);
    first_of(behind, &[&|outcome| brings(outcome) && !has_line(&outcome.quote, line), &brings])
}

/// The first edit that passes the strictest test that any edit passes; the first edit if none does.
fn first_of(behind: &[(EditId, &Outcome)], tests: &[&dyn Fn(&Outcome) -> bool]) -> Option<EditId> {
    let passing = |test: &&dyn Fn(&Outcome) -> bool| behind.iter().find(|(_, outcome)| test(outcome));
    tests.iter().find_map(passing).or(behind.first()).map(|(id, _)| *id)
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|own| own.trim() == line.trim())
}

/// Sets the edits of each hunk of a file.
pub(crate) fn assign_edits(file: &mut FileReview, names: &FileProposal, outcomes: &[Outcome]) {
    let landed: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| Placement::of(outcome) == Placement::Located && names.has_name(&outcome.path))
        .filter(|outcome| !outcome.edits.is_empty())
        .collect();
    if landed.is_empty() {
        return;
    }
    let is_one = names.is_one_hunk();
    let sources: Vec<Vec<EditId>> = file
        .hunks
        .iter()
        .map(|item| {
            let behind =
                if is_one { landed.clone() } else { sources(&landed, &item.hunk, || added_lines(file, &item.hunk)) };
            behind.iter().flat_map(|outcome| &outcome.edits).copied().collect()
        })
        .collect();
    for (item, edits) in file.hunks.iter_mut().zip(sources) {
        item.edits = edits;
    }
}

fn added_lines(file: &FileReview, hunk: &Hunk) -> Vec<String> {
    let (_, new) = file.split_texts();
    let added = new.get(hunk.proposed.clone()).unwrap_or_default();
    added.iter().map(|line| lines::body(line).to_owned()).collect()
}

/// The located edits that made a hunk: those whose location it touches, and those in added text with one of its
/// lines. A diff may show a change next to the location of its edit; then the nearest edit counts.
fn sources<'a>(landed: &[&'a Outcome], hunk: &Hunk, added: impl Fn() -> Vec<String>) -> Vec<&'a Outcome> {
    let added = std::cell::LazyCell::new(added);
    let brings =
        |outcome: &Outcome| added.iter().any(|line| !line.trim().is_empty() && has_line(&outcome.replacement, line));
    let may_have_made = |outcome: &&&Outcome| outcome.touches(hunk) || (outcome.lines.is_none() && brings(outcome));
    let found: Vec<&Outcome> = landed.iter().filter(may_have_made).copied().collect();
    if !found.is_empty() {
        return found;
    }
    let distance = |outcome: &&&Outcome| {
        let (first, last) = outcome.lines.unwrap_or((1, usize::MAX));
        hunk.base.start.saturating_sub(last).max(first.saturating_sub(hunk.base.end + 1))
    };
    landed.iter().min_by_key(distance).copied().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::{Decision, HunkId};
    use crate::{FormatChoice, parse, propose};
    use std::collections::BTreeMap;

    const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

    fn files() -> BTreeMap<String, Vec<u8>> {
        BTreeMap::from([("a.txt".to_owned(), FILE.as_bytes().to_vec())])
    }

    fn block(old: &str, new: &str) -> String {
        format!("a.txt\n```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n\n")
    }

    /// The review of a reply, and the records of its edits.
    fn of(reply: &str) -> (Review, Vec<EditRecord>) {
        let parsed = crate::ParsedReply { answer: Some(0), ..parse(reply, FormatChoice::Auto) };
        let proposal = propose(&parsed, &files());
        let outcomes = [proposal.outcomes.clone(), proposal.repeated.clone()].concat();
        let review = Review::new(proposal);
        let counts = review.lines_by_edit(&outcomes);
        let record = |outcome: &Outcome| EditRecord::new(outcome, counts.get(&outcome.edits[0]).copied());
        let records = outcomes.iter().filter_map(record).collect();
        (review, records)
    }

    #[test]
    fn each_edit_has_the_state_of_its_own_hunk() {
        let reply = block("two", "2") + &block("six", "6") + &block("nine", "9") + &block("two", "2");
        let (mut review, records) = of(&reply);
        let states = |review: &Review| records.iter().map(|record| EditState::of(record, review)).collect::<Vec<_>>();
        use EditState::{Accepted, Dismissed, Pending, Rejected, Repeated, Unplaced};
        assert_eq!(states(&review), [Pending, Pending, Unplaced, Repeated]);
        review.decide(HunkId { file: 0, hunk: 0 }, Decision::Accepted);
        review.decide(HunkId { file: 0, hunk: 1 }, Decision::Rejected);
        assert_eq!(states(&review), [Accepted, Rejected, Unplaced, Repeated]);
        review.dismiss(0);
        assert_eq!(states(&review)[2], Dismissed);
        review.undo();
        assert_eq!(states(&review)[2], Unplaced);
    }

    #[test]
    fn an_edit_that_the_user_places_has_the_state_of_its_hunk() {
        let (mut review, records) = of(&block("nine", "9"));
        review.place(Some(0), "a.txt", &FILE.into(), 2..3, "9\n").unwrap();
        assert_eq!(EditState::of(&records[0], &review), EditState::Pending);
        review.decide(HunkId::default(), Decision::Accepted);
        assert_eq!(EditState::of(&records[0], &review), EditState::Accepted);
    }

    #[test]
    fn a_hunk_that_lost_its_place_is_a_conflict_of_its_edit() {
        let (mut review, records) = of(&block("two", "2"));
        review.rebase("a.txt", Some("one\nmine\nthree\n"));
        assert_eq!(EditState::of(&records[0], &review), EditState::Conflict);
    }

    #[test]
    fn a_hunk_that_is_split_counts_for_its_edit_in_parts() {
        let (mut review, records) = of(&block("two\nthree\nfour", "2\nthree\n4"));
        review.decide(HunkId { file: 0, hunk: 0 }, Decision::Accepted);
        let counts = Counts { pending: 1, accepted: 1, rejected: 0 };
        assert_eq!(EditState::of(&records[0], &review), EditState::Mixed(counts));
    }

    #[test]
    fn edits_that_share_a_hunk_share_its_lines() {
        let (review, records) = of(&(block("two", "2\n2b") + &block("three", "3")));
        assert_eq!(review.files[0].hunks.len(), 1);
        let counts: Vec<_> = records.iter().map(|record| (record.added, record.removed)).collect();
        assert_eq!(counts, [(2, 1), (1, 1)]);
    }
}
