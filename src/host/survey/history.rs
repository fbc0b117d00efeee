//! Data from git: the commit history, tracked files that are ignored, and uncommitted changes.

use super::SurveyStart;
use rhumb_index::repo_map::{History, PastCommit};
use rhumb_session::Failure;
use rhumb_workspace::git::{self, GitError, Repo, WorkTreeStatus};
use rhumb_workspace::{FileEntry, Root, RootKind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The repository of the root, or why its `.git` folder is not opened: it contains a pipe or a device. Opening it takes a look at every
/// folder of objects, so a survey does that once.
pub(super) fn repository(root: &Root) -> (Option<Repo>, Option<Failure>) {
    if root.kind() != RootKind::Git {
        return (None, None);
    }
    match Repo::open(root.path()) {
        Err(error @ GitError::NotAFile { .. }) => {
            let why = format!("Git is not used (history, tracked files, commits): {error}.");
            (None, Some(Failure::new(why, error.hint())))
        }
        repo => (repo.ok().flatten(), None),
    }
}

/// The history of HEAD, and whether it must be stored; empty if it cannot be read.
pub(super) fn history(repo: Option<&Repo>, start: SurveyStart<'_>, cancel: &AtomicBool) -> (Arc<History>, bool) {
    let Some(repo) = repo else { return (Arc::default(), false) };
    let known = match (start.before, start.store) {
        (Some(before), _) => Arc::clone(&before.history),
        (None, store) => Arc::new(store.map(|store| store.history()).unwrap_or_default()),
    };
    match repo.history(&commit_history(&known), cancel) {
        Ok(history) if history.head == known.head => (known, start.before.is_some_and(|before| before.new_history)),
        Ok(history) => (Arc::new(map_history(history)), true),
        Err(_) => (Arc::default(), false),
    }
}

/// The history of a map in the form of git.
fn commit_history(history: &History) -> git::CommitHistory {
    let commit = |past: &PastCommit| git::PastCommit {
        id: past.id.clone(),
        subject: past.subject.clone(),
        paths: past.paths.clone(),
        compared: past.compared,
    };
    git::CommitHistory { head: history.head.clone(), commits: history.commits.iter().map(commit).collect() }
}

fn map_history(history: git::CommitHistory) -> History {
    let commit = |git::PastCommit { id, subject, paths, compared }| PastCommit { id, subject, paths, compared };
    History { head: history.head, commits: history.commits.into_iter().map(commit).collect() }
}

/// Tracked files that are not in `files` (sorted): ignore rules do not apply to tracked files.
pub(super) fn hidden_but_tracked(
    root: &Root,
    repo: Option<&Repo>,
    files: &[FileEntry],
    cancel: &AtomicBool,
) -> Vec<FileEntry> {
    let tracked = repo.and_then(|repo| repo.tracked_outside(files).ok()).unwrap_or_default();
    rhumb_workspace::ignored_but_tracked(root, &tracked, cancel)
}

/// Files with uncommitted changes, the status that the next survey starts from, and whether it must be stored.
pub(super) fn edited(
    repo: Option<&Repo>,
    files: &[FileEntry],
    start: SurveyStart<'_>,
) -> (Vec<String>, WorkTreeStatus, bool) {
    let before = match (start.before, start.store) {
        (Some(before), _) => before.status.clone(),
        (None, store) => store.map(|store| store.status()).unwrap_or_default(),
    };
    let found = repo.and_then(|repo| repo.edited(files, &before).ok());
    let (edited, status) = found.unwrap_or_default();
    let is_new = status != before;
    (edited.into_iter().collect(), status, is_new)
}
