//! Undo and redo of a write: what they would do, and what they did.

use super::write::few;
use crate::effect::{Effect, Failure, Written};
use crate::state::Session;
use crate::transcript::Level;
use rhumb_workspace::Direction;

/// What becomes of the commit of a write that is undone or redone. Commits are named by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitPlan {
    /// There is none, and none is made.
    None,
    /// It is taken off the branch.
    Drop(String),
    /// It is put back onto the branch.
    Restore(String),
    /// A new commit follows.
    New,
}

/// What an undo or a redo would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoPreview {
    /// Which of the two.
    pub direction: Direction,
    /// The files.
    pub paths: Vec<String>,
    /// The subject of the commit of the write, if there was to be one.
    pub subject: Option<String>,
    /// What becomes of that commit.
    pub commit: CommitPlan,
}

impl UndoPreview {
    /// What happens to the commit, as a sentence; empty if nothing does.
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

/// What became of the commit, as a sentence after the one about the files; empty if nothing did.
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
    pub fn unwrite(&mut self, direction: Direction) -> Vec<Effect> {
        if self.proposals.is_writing {
            self.report(Level::Warning, "A write is running.", "Try again when it is done.");
            return Vec::new();
        }
        self.proposals.is_writing = true;
        vec![Effect::Undo(direction)]
    }

    pub(crate) fn unwrote(&mut self, direction: Direction, result: Result<Written, Failure>) -> Vec<Effect> {
        self.proposals.is_writing = false;
        let written = match result {
            Ok(written) => written,
            Err(failure) => {
                self.report(Level::Error, failure.message, failure.hint);
                return Vec::new();
            }
        };
        let (did, to_do, hint) = match direction {
            Direction::Undo => ("Undid the last write", "undo", "/redo writes it again."),
            Direction::Redo => ("Redid the last write", "redo", "/undo takes it back."),
        };
        let commit = commit_change(direction, &written);
        self.report_notes(written.notes);
        self.write_undone(direction, &written.paths);
        if written.paths.is_empty() {
            self.report(Level::Info, format!("There is no write to {to_do}."), "");
            return Vec::new();
        }
        self.report(Level::Info, format!("{did}: {}.{commit}", few(&written.paths)), hint);
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
