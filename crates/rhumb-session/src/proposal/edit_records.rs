//! The records of edits, which are saved with their answers: where an edit was placed, and whether it was written.

use crate::{Answer, Entry, Session};
use rhumb_edit::review::{Decision, EditRecord, EditState, Placement};
use rhumb_edit::{EditId, Outcome};
use rhumb_workspace::Direction;
use std::collections::{BTreeMap, BTreeSet};

impl Session {
    /// The current state of an edit of an answer.
    pub fn edit_state(&self, record: &EditRecord) -> EditState {
        EditState::of(record, &self.proposals.review)
    }

    /// The number of the answer at a position of the transcript, among all answers (0-based).
    pub(crate) fn answer_number(&self, entry: usize) -> usize {
        let before = self.transcript.iter().take(entry);
        before.filter(|entry| matches!(entry, Entry::Answer(_))).count()
    }

    /// The number of the last answer (0-based).
    pub(crate) fn last_answer_number(&self) -> usize {
        self.answer_number(self.transcript.len()).saturating_sub(1)
    }

    /// The answer with this number (0-based).
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

    /// Records the edits of a new proposal. `repeated` are edits that are equal to earlier ones, and `before` are the edits that were in
    /// the review before the proposal.
    pub(super) fn record_edits(&mut self, outcomes: &[Outcome], repeated: &[Outcome], before: &BTreeSet<EditId>) {
        let counts = self.proposals.review.lines_by_edit(outcomes);
        let new = outcomes.iter().map(|outcome| (outcome, false));
        for (outcome, is_repeated) in new.chain(repeated.iter().map(|outcome| (outcome, true))) {
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

    /// Records the decisions on hunks before they leave the review with a write of these files.
    pub(super) fn record_decisions(&mut self, paths: &[String]) {
        let mut leaving: BTreeMap<EditId, (usize, usize)> = BTreeMap::new();
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
                    let sums = leaving.entry(*id).or_default();
                    *sums = (sums.0 + written, sums.1 + rejected);
                }
            }
        }
        let write = self.edit_records().map(|record| record.write).max().unwrap_or_default() + 1;
        self.change_edit_records(|record| {
            if let Some((written, rejected)) = leaving.get(&record.id) {
                record.rejected += rejected;
                if *written > 0 {
                    let before = if record.is_undone { 0 } else { record.written };
                    (record.written, record.write, record.is_undone) = (before + written, write, false);
                }
            }
        });
    }

    /// Records that the last write of these files was undone or redone.
    pub(super) fn record_undo(&mut self, direction: Direction, paths: &[String]) {
        let is_undo = matches!(direction, Direction::Undo);
        let is_affected =
            |record: &EditRecord| record.written > 0 && record.is_undone != is_undo && paths.contains(&record.path);
        let writes = self.edit_records().filter(|record| is_affected(record)).map(|record| record.write);
        let Some(write) = (if is_undo { writes.max() } else { writes.min() }) else { return };
        self.change_edit_records(|record| {
            if is_affected(record) && record.write == write {
                record.is_undone = is_undo;
            }
        });
    }
}
