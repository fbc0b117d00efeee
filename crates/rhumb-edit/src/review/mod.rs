//! The review of a proposal: decisions on hunks, comments, the composed texts, and an undo history.
//!
//! Nothing here reads or writes a file. [`FileReview::composed`] is the text to write, [`Review::settle`] records
//! that it was written, and [`Review::rebase`] moves a review onto a file that changed on disk.

mod bulk;
mod edit_state;
mod file;
mod hunk;
mod manual;
mod marks;
mod merge;
mod persist;
mod rebase;
mod split;
mod subset;

#[cfg(test)]
mod tests;

use std::ops::Range;

use rhumb_text::diff::Hunk;
use serde::{Deserialize, Serialize};

use crate::outcome::{Outcome, Status};
use crate::proposal::{FileProposal, Proposal};
use marks::marks;

pub use edit_state::{EditRecord, EditState, Placement};
pub use file::{Composed, FileReview, path_with_link_target};
pub use hunk::{Counts, Decision, ReviewHunk};
pub use manual::PlaceError;
pub use marks::HunkMark;
pub use subset::failure_inducing_set;

/// Identifies a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct HunkId {
    /// Index of the file in [`Review::files`].
    pub file: usize,
    /// Index of the hunk in that file.
    pub hunk: usize,
}

/// The subject of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommentTarget {
    /// The file with that index.
    File(usize),
    /// A hunk.
    Hunk(HunkId),
    /// A line of a hunk (0-based, its removed lines first).
    Line(HunkId, usize),
}

/// A proposal with decisions and comments.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Review {
    /// The files, in the order of the reply.
    pub files: Vec<FileReview>,
    /// Refused edits, with reasons and candidates.
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
        // The model explains its changes in the order of the reply.
        let position = |file: &FileProposal| outcomes.iter().position(|outcome| file.has_name(&outcome.path));
        let mut files: Vec<_> = proposed.into_iter().map(|file| (position(&file), file)).collect();
        files.sort_by_key(|(position, _)| *position);
        let review = |(_, file): (_, FileProposal)| {
            let names = FileProposal { base: None, proposed: None, ..file.clone() };
            let marks = |hunk: &Hunk| marks(&names, hunk, &outcomes, &flags);
            let stored_at = links.get(&file.path).cloned();
            let mut review = FileReview::new(file.path, file.change, file.base, file.proposed, marks)?;
            edit_state::assign_edits(&mut review, &names, &outcomes);
            Some(FileReview { stored_at, ..review })
        };
        let files = files.into_iter().filter_map(review).collect();
        let refused = outcomes.into_iter().filter(|outcome| outcome.status == Status::Refused).collect();
        Self { files, refused, ..Self::default() }
    }

    /// Whether the review has neither hunks nor refused edits.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.refused.is_empty()
    }

    /// The ids of all hunks, in reading order.
    pub fn ids(&self) -> impl Iterator<Item = HunkId> + '_ {
        let hunks =
            |(file, review): (usize, &FileReview)| (0..review.hunks.len()).map(move |hunk| HunkId { file, hunk });
        self.files.iter().enumerate().flat_map(hunks)
    }

    /// The hunk with that id.
    pub fn hunk(&self, id: HunkId) -> Option<&ReviewHunk> {
        self.files.get(id.file)?.hunks.get(id.hunk)
    }

    /// The decision on a hunk; pending if it does not exist.
    pub fn decision(&self, id: HunkId) -> Decision {
        self.hunk(id).map_or(Decision::Pending, ReviewHunk::decision)
    }

    /// The number of hunks by decision.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.files.iter().flat_map(|file| &file.hunks).for_each(|hunk| counts.add(hunk.decision()));
        counts
    }

    /// The number of pending hunks and refused edits.
    pub fn waiting(&self) -> usize {
        self.counts().pending + self.refused.len()
    }

    /// The first pending hunk after `id`, wrapping around.
    pub fn next_pending(&self, id: HunkId) -> Option<HunkId> {
        let pending = |other: &HunkId| self.decision(*other) == Decision::Pending;
        self.ids().filter(pending).find(|other| *other > id).or_else(|| self.ids().find(pending))
    }

    /// Sets the decision of one hunk. Returns the number of changed hunks.
    pub fn decide(&mut self, id: HunkId, decision: Decision) -> usize {
        self.decide_where(|other| other == id, decision)
    }

    /// Sets the decision of all hunks of a file. Returns the number of changed hunks.
    pub fn decide_file(&mut self, file: usize, decision: Decision) -> usize {
        self.decide_where(|id| id.file == file, decision)
    }

    /// Sets the decision of all hunks. Returns the number of changed hunks.
    pub fn decide_all(&mut self, decision: Decision) -> usize {
        self.decide_where(|_| true, decision)
    }

    /// Rejects every pending hunk. Returns their number.
    pub fn reject_pending(&mut self) -> usize {
        let pending: Vec<HunkId> = self.ids().filter(|id| self.decision(*id) == Decision::Pending).collect();
        self.change_hunks(&pending, |hunk| hunk.decide_pending(Decision::Rejected))
    }

    /// Whether a hunk, or a line of one, is accepted.
    pub fn has_accepted(&self) -> bool {
        self.files.iter().flat_map(|file| &file.hunks).any(ReviewHunk::is_partly_accepted)
    }

    /// Sets the decision of some lines of a hunk (0-based, its removed lines first). Returns the number of changed
    /// lines: 0 for a file that is new, deleted or renamed, which has no line decisions.
    pub fn decide_lines(&mut self, id: HunkId, lines: Range<usize>, decision: Decision) -> usize {
        self.decide_runs(id, &[lines], decision)
    }

    /// As [`Review::decide_lines`], for several runs of lines in one step.
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

    /// Splits a hunk into its smallest parts, which keep the decisions and comments of their lines. Returns their
    /// number.
    pub fn split(&mut self, id: HunkId) -> usize {
        self.change_file(id, |file| file.split(id.hunk), |count| *count > 1).unwrap_or(1)
    }

    /// Splits a hunk before one of its lines (0-based, its removed lines first). Other versions of the lines stay
    /// with them. Returns `false` at its ends.
    pub fn split_at(&mut self, id: HunkId, line: usize) -> bool {
        self.change_file(id, |file| file.split_at(id.hunk, line), |split| *split).is_some()
    }

    /// Makes runs of lines of a hunk (0-based, its removed lines first) a separate hunk, with their versions on the
    /// other side. Returns its id, or `None` if that is the whole hunk.
    pub fn split_out(&mut self, id: HunkId, runs: &[Range<usize>]) -> Option<HunkId> {
        let hunk = self.change_file(id, |file| file.split_out(id.hunk, runs), Option::is_some)??;
        Some(HunkId { hunk, ..id })
    }

    /// Joins a hunk and the next one of its file, with the unchanged lines between them. The result is pending
    /// unless both have the same decision, or they touch. Returns `false` if there is no next hunk.
    pub fn join(&mut self, id: HunkId) -> bool {
        self.change_file(id, |file| file.join(id.hunk), |joined| *joined).is_some()
    }

    /// Replaces the added lines of a hunk with `text`, and accepts it. Returns `false` if nothing changes, or the
    /// hunk deletes its file.
    pub fn edit(&mut self, id: HunkId, text: &str) -> bool {
        self.change_file(id, |file| file.rewrite(id.hunk, text), |edited| *edited).is_some()
    }

    /// Sets the comment on a target. An empty text removes it. Returns `false` if nothing changes.
    pub fn comment(&mut self, target: CommentTarget, text: &str) -> bool {
        if self.comment_on(target).unwrap_or_default() == text.trim() {
            return false;
        }
        let text = text.trim();
        match target {
            CommentTarget::File(file) => {
                let note = |file: &mut FileReview| text.clone_into(&mut file.comment);
                self.change_file(HunkId { file, hunk: 0 }, note, |()| true).is_some()
            }
            CommentTarget::Hunk(id) => self.change_hunks(&[id], |item| item.note(None, text)) > 0,
            CommentTarget::Line(id, line) if self.hunk(id).is_some_and(|item| line < item.line_count()) => {
                self.change_hunks(&[id], |item| item.note(Some(line), text)) > 0
            }
            CommentTarget::Line(..) => false,
        }
    }

    /// The comment on a target.
    pub fn comment_on(&self, target: CommentTarget) -> Option<&str> {
        match target {
            CommentTarget::File(file) => {
                self.files.get(file).map(|file| file.comment.as_str()).filter(|text| !text.is_empty())
            }
            CommentTarget::Hunk(id) => self.hunk(id)?.comment(None),
            CommentTarget::Line(id, line) => self.hunk(id)?.comment(Some(line)),
        }
    }

    /// All comments in reading order: of a file, then of each of its hunks, then of the lines of the hunk.
    pub fn comments(&self) -> impl Iterator<Item = (CommentTarget, &str)> {
        let of_file =
            |index| self.comment_on(CommentTarget::File(index)).map(|text| (CommentTarget::File(index), text));
        let of_hunk = |id: HunkId| {
            let target =
                move |line: Option<usize>| line.map_or(CommentTarget::Hunk(id), |line| CommentTarget::Line(id, line));
            let comments = self.hunk(id).into_iter().flat_map(ReviewHunk::comments);
            comments.map(move |(line, text)| (target(line), text))
        };
        (0..self.files.len()).flat_map(move |file| {
            let hunks = (0..self.files[file].hunks.len()).map(move |hunk| HunkId { file, hunk });
            of_file(file).into_iter().chain(hunks.flat_map(of_hunk))
        })
    }

    /// One undo step for all changed hunks.
    fn decide_where(&mut self, chosen: impl Fn(HunkId) -> bool, decision: Decision) -> usize {
        let other = |id: &HunkId| self.hunk(*id).is_some_and(|item| !item.is_decided(decision));
        let ids: Vec<HunkId> = self.ids().filter(|id| chosen(*id)).filter(other).collect();
        self.change_hunks(&ids, |item| item.decide(decision))
    }

    /// Changes hunks in one step. Returns their number.
    fn change_hunks(&mut self, ids: &[HunkId], change: impl Fn(&mut ReviewHunk)) -> usize {
        let mut before = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(item) = self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk)) {
                before.push(Saved::Hunk(*id, item.clone()));
                change(item);
            }
        }
        let changed = before.len();
        if let (Some(cursor), true) = (ids.first(), changed > 0) {
            self.record_step(Step { cursor: *cursor, before });
        }
        changed
    }

    /// Changes the file of a hunk, as one step if `worked` is true for the result. Returns the result then.
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
        self.record_step(Step { cursor: id, before: vec![Saved::File(id.file, before)] });
        Some(result)
    }
}

impl Review {
    /// Sets the decision of each of these hunks, in one step. Returns the number of changed hunks.
    pub fn decide_each(&mut self, wanted: impl IntoIterator<Item = (HunkId, Decision)>) -> usize {
        let (mut before, mut cursor) = (Vec::new(), None);
        for (id, decision) in wanted {
            let item = self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk));
            if let Some(item) = item.filter(|item| !item.is_decided(decision)) {
                before.push(Saved::Hunk(id, item.clone()));
                item.decide(decision);
                cursor = cursor.or(Some(id));
            }
        }
        let changed = before.len();
        if let Some(cursor) = cursor {
            self.record_step(Step { cursor, before });
        }
        changed
    }

    /// The files with pending hunks that need confirmation.
    pub fn files_awaiting_confirmation(&self) -> Vec<String> {
        let waits = |hunk: &ReviewHunk| hunk.needs_confirmation() && hunk.decision() == Decision::Pending;
        let files = self.files.iter().filter(|file| file.hunks.iter().any(waits));
        files.map(FileReview::title).collect()
    }
}

/// One step of the undo history.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The first changed hunk.
    pub(crate) cursor: HunkId,
    pub(crate) before: Vec<Saved>,
}

/// Something that a step changed, before the change.
#[derive(Debug, Clone)]
pub(crate) enum Saved {
    Hunk(HunkId, ReviewHunk),
    /// The file with that index.
    File(usize, FileReview),
    /// All files and refused edits.
    All(Vec<FileReview>, Vec<Outcome>),
}

impl Review {
    /// Undoes the last step. Returns its first hunk, for the cursor.
    pub fn undo(&mut self) -> Option<HunkId> {
        let step = self.undo.pop()?;
        let cursor = step.cursor;
        let inverse = self.swap_step(step);
        self.redo.push(inverse);
        Some(cursor)
    }

    /// Repeats the step that [`Review::undo`] undid.
    pub fn redo(&mut self) -> Option<HunkId> {
        let step = self.redo.pop()?;
        let cursor = step.cursor;
        let inverse = self.swap_step(step);
        self.undo.push(inverse);
        Some(cursor)
    }

    /// Whether there is a step to undo.
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is a step to repeat.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// Clears the undo history, because the hunks that it refers to have moved.
    pub fn clear_history(&mut self) {
        self.undo.clear();
        self.redo.clear();
    }

    /// Records a step.
    pub(crate) fn record_step(&mut self, step: Step) {
        self.check_syntax_after(&step);
        self.undo.push(step);
        self.redo.clear();
    }

    /// Swaps the saved state of a step with the current one, which makes it the inverse step.
    fn swap_step(&mut self, mut step: Step) -> Step {
        for before in &mut step.before {
            match before {
                Saved::Hunk(id, hunk) => {
                    let now = self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk));
                    now.into_iter().for_each(|now| std::mem::swap(now, hunk));
                }
                Saved::File(index, file) => {
                    self.files.get_mut(*index).into_iter().for_each(|now| std::mem::swap(now, file));
                }
                Saved::All(files, refused) => {
                    std::mem::swap(&mut self.files, files);
                    std::mem::swap(&mut self.refused, refused);
                }
            }
        }
        self.check_syntax_after(&step);
        step
    }
}
