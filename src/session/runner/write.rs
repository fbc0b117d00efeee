//! Writes accepted hunks, all files or none, and commits them.

use std::collections::BTreeSet;

use crate::git::{GitError, Repo};
use crate::session::{Failure, WriteOrder, Written};
use crate::workspace::{self, FileWrite, Root, RootKind, WriteError};

/// Why nothing was written, and which files changed meanwhile.
pub type NotWritten = (Failure, Vec<String>);

/// Writes the files and, with `commit`, commits them in a git repository. Files that had uncommitted changes of the user's
/// own are written but left out of the commit: it must hold what was accepted and nothing else.
///
/// # Errors
/// Nothing was written: a file changed meanwhile, or the file system refused.
pub fn write(root: &Root, orders: &[WriteOrder], message: &str, commit: bool) -> Result<Written, NotWritten> {
    let dirty = if commit { dirty_now(root) } else { Ok(BTreeSet::new()) };
    let writes: Vec<FileWrite> = orders
        .iter()
        .map(|order| FileWrite {
            path: order.path.clone(),
            expected: order.expected.clone(),
            content: order.content.clone(),
            renamed_from: order.renamed_from.clone(),
        })
        .collect();
    let done = workspace::write(root, None, &writes, None).map_err(not_written)?;
    let paths: Vec<String> = orders.iter().map(|order| order.path.clone()).collect();
    if !commit {
        return Ok(Written { paths, commit: None, note: None });
    }
    // A path may lead through a link; what changed for git is the file at its end.
    let stored: Vec<String> = done.files.into_iter().map(|file| file.stored_at).collect();
    let (commit, note) = match dirty.and_then(|dirty| commit_clean(root, &stored, &dirty, message)) {
        Ok(done) => done,
        Err(error) => (None, Some(not_committed(&error))),
    };
    Ok(Written { paths, commit, note })
}

/// Every path with uncommitted changes.
fn dirty_now(root: &Root) -> Result<BTreeSet<String>, GitError> {
    open(root)?.map_or_else(|| Ok(BTreeSet::new()), |repo| repo.dirty_paths())
}

fn open(root: &Root) -> Result<Option<Repo>, GitError> {
    if root.kind() == RootKind::Git { Repo::open(root.path()) } else { Ok(None) }
}

type Committed = (Option<String>, Option<Failure>);

/// Commits those of `paths` that were clean before; the commit, and what else to know.
fn commit_clean(root: &Root, paths: &[String], dirty: &BTreeSet<String>, message: &str) -> Result<Committed, GitError> {
    let Some(repo) = open(root)? else { return Ok((None, None)) };
    let (own, clean): (Vec<String>, Vec<String>) = paths.iter().cloned().partition(|path| dirty.contains(path));
    let mut notes = Vec::new();
    if !own.is_empty() {
        let files = own.join(", ");
        notes.push(format!("Not committed, because of uncommitted changes of your own in the file: {files}."));
    }
    let commit = if clean.is_empty() { None } else { Some(repo.commit_paths(&clean, message)?) };
    if let Some(commit) = &commit {
        if !commit.left_out.is_empty() {
            notes.push(format!("Not committed, because git ignores it: {}.", commit.left_out.join(", ")));
        }
        if commit.index_is_behind {
            notes.push("The commit stands, but git's index could not be brought up to date: run git reset.".to_owned());
        }
    }
    let hint = "The hunks are written; commit the rest when you are ready.".to_owned();
    let note = (!notes.is_empty()).then(|| Failure { message: notes.join(" "), hint });
    Ok((commit.map(|commit| commit.short_id), note))
}

fn not_committed(error: &GitError) -> Failure {
    Failure { message: format!("Written, but not committed: {error}."), hint: error.hint() }
}

fn not_written(error: WriteError) -> NotWritten {
    let failure = Failure { message: format!("{error}."), hint: error.hint() };
    match error {
        WriteError::Stale { path, .. } => (failure, vec![path]),
        _ => (failure, Vec::new()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_users_own_change_behind_a_link_stays_out_of_the_commit() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("real.rs"), "one\ntwo\n").unwrap();
        std::os::unix::fs::symlink("real.rs", dir.path().join("link.rs")).unwrap();
        crate::git::init(dir.path(), "T", "t@example.com", "start").unwrap();
        std::fs::write(dir.path().join("real.rs"), "one, mine\ntwo\n").unwrap();
        let root = Root::at(dir.path()).unwrap();
        let order = WriteOrder {
            path: "link.rs".into(),
            expected: Some(Arc::from("one, mine\ntwo\n")),
            content: Some("one, mine\nTWO\n".into()),
            renamed_from: None,
        };
        let written = write(&root, &[order], "change", true).unwrap();
        assert_eq!(written.commit, None);
        assert!(written.note.unwrap().message.contains("real.rs"));
    }
}
