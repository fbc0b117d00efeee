//! The record of each edit, kept with its answer: what its proposal made of it, and whether it was written.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::Session;
use crate::transcript::{Answer, Entry};
use rhumb_edit::review::{Decision, EditRecord, EditState, Placement};
use rhumb_edit::{EditId, Outcome};
use rhumb_workspace::Direction;

impl Session {
    /// Where an edit of an answer stands.
    pub fn edit_state(&self, record: &EditRecord) -> EditState {
        EditState::of(record, &self.proposals.review)
    }

    /// Which answer of the session an entry of the transcript is, 0-based.
    pub(crate) fn answer_number(&self, entry: usize) -> usize {
        let before = self.transcript.iter().take(entry);
        before.filter(|entry| matches!(entry, Entry::Answer(_))).count()
    }

    /// The same of the last answer.
    pub(crate) fn last_answer_number(&self) -> usize {
        self.answer_number(self.transcript.len()).saturating_sub(1)
    }

    /// The answer with that number, 0-based, to be changed.
    fn answer_mut(&mut self, number: usize) -> Option<&mut Answer> {
        let is_answer = |at: &usize| matches!(self.transcript.get(*at), Some(Entry::Answer(_)));
        let at = (0..self.transcript.len()).filter(is_answer).nth(number)?;
        match self.transcript.get_mut(at) {
            Some(Entry::Answer(answer)) => Some(answer),
            _ => None,
        }
    }

    fn edit_records(&self) -> impl Iterator<Item = &EditRecord> {
        let edits = self.transcript.iter().filter_map(|entry| match entry {
            Entry::Answer(answer) => Some(&answer.edits),
            _ => None,
        });
        edits.flatten()
    }

    fn change_edit_records(&mut self, mut change: impl FnMut(&mut EditRecord)) {
        self.transcript.change_edits(|edits| edits.iter_mut().for_each(&mut change));
    }

    /// Records the edits of a proposal that has come under review; `repeated` are those that ask again for what an earlier one
    /// proposed, and `before` those that the review had until then.
    pub(super) fn record_edits(&mut self, outcomes: &[Outcome], repeated: &[Outcome], before: &BTreeSet<EditId>) {
        let counts = self.proposals.review.lines_by_edit(outcomes);
        let others = repeated.iter().map(|outcome| (outcome, true));
        for (outcome, is_repeated) in outcomes.iter().map(|outcome| (outcome, false)).chain(others) {
            let Some(mut record) =
                outcome.edits.first().and_then(|id| EditRecord::new(outcome, counts.get(id).copied()))
            else {
                continue;
            };
            if is_repeated {
                record.placement = Placement::Repeated;
            }
            let Some(answer) = self.answer_mut(record.id.answer) else { continue };
            match answer.edits.iter_mut().find(|known| known.id == record.id) {
                Some(known) => {
                    (record.written, record.rejected) = (known.written, known.rejected);
                    (record.write, record.is_undone) = (known.write, known.is_undone);
                    *known = record;
                }
                None => answer.edits.push(record),
            }
            answer.edits.sort_by_key(|record| record.id);
        }
        let now = self.proposals.review.edits();
        self.change_edit_records(|record| {
            record.is_replaced = !now.contains(&record.id) && (record.is_replaced || before.contains(&record.id));
        });
    }

    /// Records what becomes of the hunks of a review that was written, before they leave it.
    pub(super) fn remember_decided(&mut self, paths: &[String]) {
        let mut left: BTreeMap<EditId, (usize, usize)> = BTreeMap::new();
        for file in &self.proposals.review.files {
            let is_written = paths.contains(&file.path);
            let is_rejected = file.counts().rejected == file.hunks.len();
            for hunk in &file.hunks {
                let (written, rejected) = match hunk.decision() {
                    Decision::Accepted if is_written => (1, 0),
                    Decision::Rejected if is_written || is_rejected => (0, 1),
                    _ => continue,
                };
                for id in &hunk.edits {
                    let sums = left.entry(*id).or_default();
                    *sums = (sums.0 + written, sums.1 + rejected);
                }
            }
        }
        let write = self.edit_records().map(|record| record.write).max().unwrap_or_default() + 1;
        self.change_edit_records(|record| {
            if let Some((written, rejected)) = left.get(&record.id) {
                record.rejected += rejected;
                if *written > 0 {
                    let before = if record.is_undone { 0 } else { record.written };
                    (record.written, record.write, record.is_undone) = (before + written, write, false);
                }
            }
        });
    }

    /// The last write of these files was undone, or done again.
    pub(super) fn write_undone(&mut self, direction: Direction, paths: &[String]) {
        let undo = matches!(direction, Direction::Undo);
        let is_affected =
            |record: &EditRecord| record.written > 0 && record.is_undone != undo && paths.contains(&record.path);
        let writes = self.edit_records().filter(|record| is_affected(record)).map(|record| record.write);
        let Some(write) = (if undo { writes.max() } else { writes.min() }) else { return };
        self.change_edit_records(|record| {
            if is_affected(record) && record.write == write {
                record.is_undone = undo;
            }
        });
    }
}
