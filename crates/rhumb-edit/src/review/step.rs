//! Taking back what was done to a review, and doing it again: each step keeps what it changed as it was before.

use super::file::FileReview;
use super::hunk::ReviewHunk;
use super::state::{HunkId, Review};
use crate::Outcome;

/// One step of the undo history.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The first hunk that it changed.
    pub(super) cursor: HunkId,
    pub(super) before: Vec<Before>,
}

/// Something that a step changed, as it was before it.
#[derive(Debug, Clone)]
pub(super) enum Before {
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
    pub(super) fn did(&mut self, step: Step) {
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
