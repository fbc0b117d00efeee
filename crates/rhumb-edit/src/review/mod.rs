//! A whole proposal under review: its files and hunks, the edits that found no place, and what the user says of them.
// FROM review/each.rs
// //! Decisions on several hunks, not the same on all of them, as one step.
// FROM review/step.rs
// //! Taking back what was done to a review, and doing it again: each step keeps what it changed as it was before.
// FROM review/mod.rs
// //! Decisions on a proposal: which hunks are accepted, what the files become, and what happens when a file changed
// //! meanwhile. Nothing here touches a disk.

mod edit_state;
mod file;
mod hunk;
mod manual;
mod marks;
mod merge;
mod persist;
mod rebase;
mod split;

#[cfg(test)]
mod tests;

use std::ops::Range;

use rhumb_text::diff::Hunk;
use serde::{Deserialize, Serialize};

use crate::outcome::{Outcome, Status};
use crate::proposal::{FileProposal, Proposal};
use marks::marks;

pub use edit_state::{EditRecord, EditState, Placement};
pub use file::{Composed, FileReview, led};
pub use hunk::{Counts, Decision, ReviewHunk};
pub use manual::PlaceError;

/// Names one hunk: the index of its file in [`Review::files`] and its own index there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct HunkId {
    /// Index of the file.
    pub file: usize,
    /// Index of the hunk in that file.
    pub hunk: usize,
}

/// What a comment is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The file of that index.
    File(usize),
    /// A hunk.
    Hunk(HunkId),
    /// A line of a hunk, 0-based, its removed lines first.
    Line(HunkId, usize),
}

/// The proposal of a turn with everything that was said of it so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Review {
    /// Files with at least one hunk, in the order of the reply.
    pub files: Vec<FileReview>,
    /// Edits that found no place, with the reason and the nearest candidates.
    pub refused: Vec<Outcome>,
    #[serde(skip)]
    pub(crate) undo: Vec<Step>,
    #[serde(skip)]
    pub(crate) redo: Vec<Step>,
}

impl Review {
    /// A review in which every hunk is pending.
    pub fn new(proposal: Proposal) -> Self {
        let Proposal { files: proposed, outcomes, flags, links, .. } = proposal;
        // In the order of the reply, which is the order in which the model explains its changes.
        let place = |file: &FileProposal| outcomes.iter().position(|outcome| file.has_name(&outcome.path));
        let mut files: Vec<_> = proposed.into_iter().map(|file| (place(&file), file)).collect();
        files.sort_by_key(|(place, _)| *place);
        let review = |(_, file): (_, FileProposal)| {
            let names = FileProposal { base: None, proposed: None, ..file.clone() };
            let marks = |hunk: &Hunk| marks(&names, hunk, &outcomes, &flags);
            let stored_at = links.get(&file.path).cloned();
            let mut review = FileReview::new(file.path, file.change, file.base, file.proposed, marks)?;
            edit_state::note_edits(&mut review, &names, &outcomes);
            Some(FileReview { stored_at, ..review })
        };
        let files = files.into_iter().filter_map(review).collect();
        let refused = outcomes.into_iter().filter(|outcome| outcome.status == Status::Refused).collect();
        Self { files, refused, ..Self::default() }
    }

    /// Whether there is nothing to decide and nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.refused.is_empty()
    }

    /// Every hunk, in reading order.
    pub fn ids(&self) -> impl Iterator<Item = HunkId> + '_ {
        let hunks =
            |(file, review): (usize, &FileReview)| (0..review.hunks.len()).map(move |hunk| HunkId { file, hunk });
        self.files.iter().enumerate().flat_map(hunks)
    }

    /// A hunk, if there is one of that name.
    pub fn hunk(&self, id: HunkId) -> Option<&ReviewHunk> {
        self.files.get(id.file)?.hunks.get(id.hunk)
    }

    /// The decision on a hunk; pending for one that does not exist.
    pub fn decision(&self, id: HunkId) -> Decision {
        self.hunk(id).map_or(Decision::Pending, ReviewHunk::decision)
    }

    /// How many hunks of the whole review stand where.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.files.iter().flat_map(|file| &file.hunks).for_each(|hunk| counts.add(hunk.decision()));
        counts
    }

    /// How many things wait for the user: pending hunks, and edits without a place, conflicts among them.
    pub fn waiting(&self) -> usize {
        self.counts().pending + self.refused.len()
    }

    /// The first pending hunk after `id`, wrapping round; `None` when nothing is pending.
    pub fn next_pending(&self, id: HunkId) -> Option<HunkId> {
        let pending = |other: &HunkId| self.decision(*other) == Decision::Pending;
        self.ids().filter(pending).find(|other| *other > id).or_else(|| self.ids().find(pending))
    }

    /// Sets the decision of one hunk, all of its lines; 1 if that changed something.
    pub fn decide(&mut self, id: HunkId, decision: Decision) -> usize {
        self.decide_where(|other| other == id, decision)
    }

    /// Sets the decision of all hunks of a file; how many changed.
    pub fn decide_file(&mut self, file: usize, decision: Decision) -> usize {
        self.decide_where(|id| id.file == file, decision)
    }

    /// Sets every decision; how many changed.
    pub fn decide_all(&mut self, decision: Decision) -> usize {
        self.decide_where(|_| true, decision)
    }

    /// Rejects every hunk that is not decided; how many those are.
    pub fn reject_pending(&mut self) -> usize {
        let pending: Vec<HunkId> = self.ids().filter(|id| self.decision(*id) == Decision::Pending).collect();
        self.change_hunks(&pending, ReviewHunk::reject_pending)
    }

    /// Whether a hunk is accepted, or a line of one.
    pub fn is_anything_taken(&self) -> bool {
        self.files.iter().flat_map(|file| &file.hunks).any(ReviewHunk::is_taken)
    }

    /// Sets the decision of some lines of a hunk (0-based, its removed lines first); how many changed. A file that is new,
    /// gone or moved is decided as a whole: none then.
    pub fn decide_lines(&mut self, id: HunkId, lines: Range<usize>, decision: Decision) -> usize {
        self.decide_runs(id, &[lines], decision)
    }

    /// As [`Review::decide_lines`], of several runs of lines in one step: side by side, removed and added lines are chosen together.
    pub fn decide_runs(&mut self, id: HunkId, runs: &[Range<usize>], decision: Decision) -> usize {
        let Some(item) = self.hunk(id).filter(|_| self.files[id.file].is_divisible()) else {
            return 0;
        };
        let count = item.line_count();
        let runs: Vec<Range<usize>> = runs.iter().map(|run| run.start..run.end.min(count)).collect();
        let lines = runs.iter().cloned().flatten();
        let changed = lines.filter(|line| item.line_decision(*line) != decision).count();
        if changed > 0 {
            self.change_hunks(&[id], |item| runs.iter().for_each(|run| item.decide_lines(run, decision)));
        }
        changed
    }

    /// Takes a hunk apart into the smallest parts that mean something; into how many. Each keeps what was said of its lines.
    pub fn split(&mut self, id: HunkId) -> usize {
        self.change_file(id, |file| file.split(id.hunk), |count| *count > 1).unwrap_or(1)
    }

    /// Takes a hunk apart before one of its lines (0-based, its removed lines first). Lines of the other side go with those
    /// that they are versions of. False at its ends.
    pub fn split_at(&mut self, id: HunkId, line: usize) -> bool {
        self.change_file(id, |file| file.split_at(id.hunk, line), |split| *split).is_some()
    }

    /// Makes runs of lines of a hunk (0-based, its removed lines first) a hunk of its own; its name. Lines of one side alone take their
    /// versions on the other along. `None` if that is all of the hunk.
    pub fn split_out(&mut self, id: HunkId, runs: &[Range<usize>]) -> Option<HunkId> {
        let hunk = self.change_file(id, |file| file.split_out(id.hunk, runs), Option::is_some)??;
        Some(HunkId { hunk, ..id })
    }

    /// Makes a hunk and the next one of its file one hunk; unchanged lines between them become part of it. It is pending
    /// unless the same was said of both, or they touch. False if there is no next one.
    pub fn join(&mut self, id: HunkId) -> bool {
        self.change_file(id, |file| file.join(id.hunk), |joined| *joined).is_some()
    }

    /// Puts `text` in place of the lines that a hunk adds, which accepts the hunk. False if that changes nothing, or the
    /// hunk deletes its file.
    pub fn edit(&mut self, id: HunkId, text: &str) -> bool {
        self.change_file(id, |file| file.rewrite(id.hunk, text), |edited| *edited).is_some()
    }

    /// Notes `text` on a place, instead of what was noted there; an empty text takes the note away. False if that changes
    /// nothing.
    pub fn comment(&mut self, place: Place, text: &str) -> bool {
        if self.comment_on(place).unwrap_or_default() == text.trim() {
            return false;
        }
        let text = text.trim();
        match place {
            Place::File(file) => {
                let note = |file: &mut FileReview| text.clone_into(&mut file.comment);
                self.change_file(HunkId { file, hunk: 0 }, note, |()| true).is_some()
            }
            Place::Hunk(id) => self.change_hunks(&[id], |item| item.note(None, text)) > 0,
            Place::Line(id, line) if self.hunk(id).is_some_and(|item| line < item.line_count()) => {
                self.change_hunks(&[id], |item| item.note(Some(line), text)) > 0
            }
            Place::Line(..) => false,
        }
    }

    /// What was noted on a place.
    pub fn comment_on(&self, place: Place) -> Option<&str> {
        match place {
            Place::File(file) => self.files.get(file).map(|file| file.comment.as_str()).filter(|text| !text.is_empty()),
            Place::Hunk(id) => self.hunk(id)?.comment(None),
            Place::Line(id, line) => self.hunk(id)?.comment(Some(line)),
        }
    }

    /// All comments in reading order: of a file, then of each of its hunks, then of the lines of the hunk.
    pub fn comments(&self) -> impl Iterator<Item = (Place, &str)> {
        let of_file = |index| self.comment_on(Place::File(index)).map(|text| (Place::File(index), text));
        let of_hunk = |id: HunkId| {
            let place = move |line: Option<usize>| line.map_or(Place::Hunk(id), |line| Place::Line(id, line));
            let comments = self.hunk(id).into_iter().flat_map(ReviewHunk::comments);
            comments.map(move |(line, text)| (place(line), text))
        };
        (0..self.files.len()).flat_map(move |file| {
            let hunks = (0..self.files[file].hunks.len()).map(move |hunk| HunkId { file, hunk });
            of_file(file).into_iter().chain(hunks.flat_map(of_hunk))
        })
    }

    /// One undo step, however many hunks it changes.
    fn decide_where(&mut self, chosen: impl Fn(HunkId) -> bool, decision: Decision) -> usize {
        let other = |id: &HunkId| self.hunk(*id).is_some_and(|item| !item.is_wholly(decision));
        let ids: Vec<HunkId> = self.ids().filter(|id| chosen(*id)).filter(other).collect();
        self.change_hunks(&ids, |item| item.decide(decision))
    }

    /// Changes hunks, as one step; how many there were.
    fn change_hunks(&mut self, ids: &[HunkId], change: impl Fn(&mut ReviewHunk)) -> usize {
        let mut before = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(item) = self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk)) {
                before.push(Before::Hunk(*id, item.clone()));
                change(item);
            }
        }
        let changed = before.len();
        if let (Some(cursor), true) = (ids.first(), changed > 0) {
            self.did(Step { cursor: *cursor, before });
        }
        changed
    }

    /// Changes the file of a hunk, as one step if `worked` says so of the result; that result then.
    pub(crate) fn change_file<T>(
        &mut self,
        id: HunkId,
        change: impl FnOnce(&mut FileReview) -> T,
        worked: impl FnOnce(&T) -> bool,
    ) -> Option<T> {
        let file = self.files.get_mut(id.file)?;
        let before = file.clone();
        let result = change(file);
        if !worked(&result) {
            return None;
        }
        self.did(Step { cursor: id, before: vec![Before::File(id.file, before)] });
        Some(result)
    }
}

impl Review {
    /// Decides each of these hunks, all of its lines; how many that changed. One step to be taken back, however many they are.
    pub fn decide_each(&mut self, wanted: impl IntoIterator<Item = (HunkId, Decision)>) -> usize {
        let (mut before, mut cursor) = (Vec::new(), None);
        for (id, decision) in wanted {
            let item = self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk));
            if let Some(item) = item.filter(|item| !item.is_wholly(decision)) {
                before.push(Before::Hunk(id, item.clone()));
                item.decide(decision);
                cursor = cursor.or(Some(id));
            }
        }
        let changed = before.len();
        if let Some(cursor) = cursor {
            self.did(Step { cursor, before });
        }
        changed
    }

    /// Accepts every hunk but those that want a yes of their own, which stay as they are; how many changed.
    pub fn accept_all(&mut self) -> usize {
        let own = |id: &HunkId| self.hunk(*id).is_some_and(ReviewHunk::wants_own_yes);
        let ids: Vec<HunkId> = self.ids().filter(|id| !own(id)).collect();
        self.decide_each(ids.into_iter().map(|id| (id, Decision::Accepted)))
    }

    /// The files whose hunks want a yes of their own and wait for it.
    pub fn waiting_for_own_yes(&self) -> Vec<String> {
        let waits = |hunk: &ReviewHunk| hunk.wants_own_yes() && hunk.decision() == Decision::Pending;
        let files = self.files.iter().filter(|file| file.hunks.iter().any(waits));
        files.map(FileReview::title).collect()
    }
}

/// One step of the undo history.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The first hunk that it changed.
    pub(crate) cursor: HunkId,
    pub(crate) before: Vec<Before>,
}

/// Something that a step changed, as it was before it.
#[derive(Debug, Clone)]
pub(crate) enum Before {
    Hunk(HunkId, ReviewHunk),
    /// Of the file with that index, all of it: its hunks are others now.
    File(usize, FileReview),
    /// Everything: files came or went.
    All(Vec<FileReview>, Vec<Outcome>),
}

impl Review {
    /// Takes back the last step, whatever it was; the first hunk it concerned, for the cursor.
    pub fn undo(&mut self) -> Option<HunkId> {
        let step = self.undo.pop()?;
        let cursor = step.cursor;
        let inverse = self.restore(step);
        self.redo.push(inverse);
        Some(cursor)
    }

    /// Does again what [`Review::undo`] took back.
    pub fn redo(&mut self) -> Option<HunkId> {
        let step = self.redo.pop()?;
        let cursor = step.cursor;
        let inverse = self.restore(step);
        self.undo.push(inverse);
        Some(cursor)
    }

    /// Whether there is a step to take back.
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is one that was taken back.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// Empties the undo history: what it names has moved.
    pub fn forget_steps(&mut self) {
        self.undo.clear();
        self.redo.clear();
    }

    /// Keeps a step that was just done.
    pub(crate) fn did(&mut self, step: Step) {
        self.check_syntax_after(&step);
        self.undo.push(step);
        self.redo.clear();
    }

    /// Puts back what a step keeps; what that replaces is the inverse.
    fn restore(&mut self, mut step: Step) -> Step {
        for before in &mut step.before {
            match before {
                Before::Hunk(id, hunk) => {
                    let now = self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk));
                    now.into_iter().for_each(|now| std::mem::swap(now, hunk));
                }
                Before::File(index, file) => {
                    self.files.get_mut(*index).into_iter().for_each(|now| std::mem::swap(now, file));
                }
                Before::All(files, refused) => {
                    std::mem::swap(&mut self.files, files);
                    std::mem::swap(&mut self.refused, refused);
                }
            }
        }
        self.check_syntax_after(&step);
        step
    }
}
