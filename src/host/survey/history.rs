//! Data from git: the commit history, tracked files that are ignored, and uncommitted changes.

use super::SurveyStart;
use rhumb_index::repo_map::{History, PastCommit};
use rhumb_session::Failure;
use rhumb_workspace::git::{self, DiskFile, GitError, Repo};
use rhumb_workspace::{FileEntry, Root, RootKind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why the `.git` folder is not opened: it contains a pipe or a device.
pub(super) fn refused(root: &Root) -> Option<Failure> {
    match Repo::open(root.path()) {
        Err(error @ GitError::NotAFile { .. }) if root.kind() == RootKind::Git => {
            Some(Failure::new(format!("Git is not used (history, tracked files, commits): {error}."), error.hint()))
        }
        _ => None,
    }
}

/// The history of HEAD, and whether it must be stored; empty if it cannot be read.
pub(super) fn history(root: &Root, start: SurveyStart<'_>, cancel: &AtomicBool) -> (Arc<History>, bool) {
    if root.kind() != RootKind::Git {
        return (Arc::default(), false);
    }
    let known = match (start.before, start.store) {
        (Some(before), _) => Arc::clone(&before.history),
        (None, store) => Arc::new(store.map(|store| store.history()).unwrap_or_default()),
    };
    let repo = Repo::open(root.path()).ok().flatten();
    match repo.and_then(|repo| repo.history(&commit_history(&known), cancel).ok()) {
        Some(history) if history.head == known.head => (known, start.before.is_some_and(|before| before.new_history)),
        Some(history) => (Arc::new(map_history(history)), true),
        None => (Arc::default(), false),
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
pub(super) fn hidden_but_tracked(root: &Root, files: &[FileEntry], cancel: &AtomicBool) -> Vec<FileEntry> {
    if root.kind() != RootKind::Git {
        return Vec::new();
    }
    let repo = Repo::open(root.path()).ok().flatten();
    let mut tracked = repo.and_then(|repo| repo.tracked().ok()).unwrap_or_default();
    tracked.retain(|path| files.binary_search_by(|file| file.path.as_str().cmp(path)).is_err());
    rhumb_workspace::ignored_but_tracked(root, &tracked, cancel)
}

/// Files with uncommitted changes; none outside of git.
pub(super) fn edited(root: &Root, files: &[FileEntry]) -> Vec<String> {
    if root.kind() != RootKind::Git {
        return Vec::new();
    }
    fn on_disk(entry: &FileEntry) -> DiskFile<'_> {
        DiskFile { path: entry.path.as_str(), bytes: entry.bytes, modified: entry.modified }
    }
    let repo = Repo::open(root.path()).ok().flatten();
    let edited = repo.and_then(|repo| repo.edited(files.iter().map(on_disk)).ok());
    edited.unwrap_or_default().into_iter().collect()
}
