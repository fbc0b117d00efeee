//! Undo and redo of a write: the preview, the effect, and the result.

use crate::{Effect, Failure, Level, Session, Written, name_some};
use rhumb_workspace::Direction;

/// What happens to the commit of a write that is undone or redone. Commits are given by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitPlan {
    /// The write has no commit, and none is made.
    None,
    /// The commit is dropped from the branch.
    Drop(String),
    /// The commit is restored on the branch.
    Restore(String),
    /// A new commit is made.
    New,
}

/// A preview of an undo or redo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoPreview {
    /// Undo or redo.
    pub direction: Direction,
    /// The files.
    pub paths: Vec<String>,
    /// The subject of the commit of the write, if one was requested.
    pub subject: Option<String>,
    /// What happens to that commit.
    pub commit: CommitPlan,
}

impl UndoPreview {
    /// A sentence about the commit; empty without one.
    pub fn commit_text(&self) -> String {
        let short = |id: &str| id.get(..7).unwrap_or(id).to_owned();
        let subject = self.subject.as_deref().unwrap_or_default();
        match (&self.commit, self.direction) {
            (CommitPlan::None, _) => String::new(),
            (CommitPlan::Drop(id), _) => {
                format!("Commit {} (\"{subject}\") is dropped from the branch. /redo restores it.", short(id))
            }
            (CommitPlan::Restore(id), _) => format!("Commit {} (\"{subject}\") is restored.", short(id)),
            (CommitPlan::New, Direction::Undo) => {
                format!("If \"{subject}\" was committed, a new commit reverts it. No commit is dropped.")
            }
            (CommitPlan::New, Direction::Redo) => format!("A new commit \"{subject}\" follows."),
        }
    }
}

/// A sentence about the effect on the commit, with a leading space; empty if there was none.
pub fn commit_change(direction: Direction, written: &Written) -> String {
    if let Some(commit) = &written.dropped {
        return format!(" Dropped commit {commit}.");
    }
    if let Some(commit) = &written.restored {
        return format!(" Restored commit {commit}.");
    }
    match (&written.commit, direction) {
        (Some(commit), Direction::Undo) => format!(" Committed the revert as {commit}."),
        (Some(commit), Direction::Redo) => format!(" Committed as {commit}."),
        (None, _) => String::new(),
    }
}

impl Session {
    /// Undoes the last write, or redoes the write that was undone last.
    pub fn undo_or_redo(&mut self, direction: Direction) -> Vec<Effect> {
        if self.proposals.is_writing {
            self.report(Level::Warning, "A write is running.", "Try again when it is done.");
            return Vec::new();
        }
        self.proposals.is_writing = true;
        vec![Effect::Undo(direction)]
    }

    pub(crate) fn undone(&mut self, direction: Direction, result: Result<Written, Failure>) -> Vec<Effect> {
        self.proposals.is_writing = false;
        self.forget_snapshots();
        let written = match result {
            Ok(written) => written,
            Err(failure) => {
                self.report_failure(Level::Error, failure);
                return Vec::new();
            }
        };
        let (done, verb, hint) = match direction {
            Direction::Undo => ("Undid the last write", "undo", "/redo writes it again."),
            Direction::Redo => ("Redid the last write", "redo", "/undo takes it back."),
        };
        let commit = commit_change(direction, &written);
        self.report_notes(written.notes);
        self.record_undo(direction, &written.paths);
        if written.paths.is_empty() {
            self.report(Level::Info, format!("There is no write to {verb}."), "");
            return Vec::new();
        }
        self.report(Level::Info, format!("{done}: {}.{commit}", name_some(&written.paths)), hint);
        let under_review = |path: &String| self.proposals.review.files.iter().any(|file| file.path == *path);
        let stale: Vec<String> = written.paths.into_iter().filter(under_review).collect();
        let mut effects = vec![Effect::Survey];
        if !stale.is_empty() {
            effects.push(Effect::Reread(stale));
        }
        effects.extend(self.measure());
        effects
    }
}
