//! Writes accepted hunks, all files or none, and commits them.

use std::collections::BTreeSet;

use crate::git::{GitError, Repo};
use crate::session::{Failure, WriteOrder, Written};
use crate::workspace::{self, Direction, FileWrite, Journal, Recovered, Recovery, Root, RootKind, WriteError};

/// Why nothing was written, and which files changed meanwhile.
pub type NotWritten = (Failure, Vec<String>);

/// Writes the files and, with a `message`, commits them in a git repository. Files that had uncommitted changes of the
/// user's own are written but left out of the commit: it must hold what was accepted and nothing else. With a journal the
/// write can be undone.
///
/// # Errors
/// Nothing was written: a file changed meanwhile, or the file system refused.
pub fn write(
    root: &Root,
    journal: Option<&Journal>,
    orders: &[WriteOrder],
    message: Option<&str>,
) -> Result<Written, NotWritten> {
    let message = message.filter(|_| root.kind() == RootKind::Git);
    let dirty = if message.is_some() { dirty_now(root) } else { Ok(BTreeSet::new()) };
    let writes: Vec<FileWrite> = orders
        .iter()
        .map(|order| FileWrite {
            path: order.path.clone(),
            expected: order.expected.clone(),
            content: order.content.clone(),
            renamed_from: order.renamed_from.clone(),
        })
        .collect();
    let done = workspace::write(root, journal, &writes, message).map_err(not_written)?;
    // A path may lead through a link; what changed for git is the file at its end.
    let stored: Vec<String> = done.files.into_iter().map(|file| file.stored_at).collect();
    let written = Written {
        paths: orders.iter().map(|order| order.path.clone()).collect(),
        notes: done.recovered.iter().map(told).collect(),
        not_undoable: done.not_undoable.map(|why| Failure {
            message: format!("What is written now cannot be undone with rhumb: {why}."),
            hint: "Make that folder writable; git can undo what is committed.".into(),
        }),
        ..Written::default()
    };
    Ok(committed(written, root, &stored, dirty, message))
}

/// Takes the last write back, or does the one again that was undone last. One that was committed is taken back by a commit
/// of its own, if `may_commit`: the branch never moves back.
///
/// # Errors
/// Nothing was changed: a file is not as the write left it, or the disk refuses.
pub fn unwrite(
    root: &Root,
    journal: Option<&Journal>,
    direction: Direction,
    may_commit: bool,
) -> Result<Written, Failure> {
    let Some(journal) = journal else { return Ok(Written::default()) };
    let may_commit = may_commit && root.kind() == RootKind::Git;
    let dirty = if may_commit { dirty_now(root) } else { Ok(BTreeSet::new()) };
    let done = workspace::undo(root, journal, direction).map_err(|error| not_written(error).0)?;
    let message = done.message.filter(|_| may_commit).map(|message| match direction {
        Direction::Undo => format!("Undo: {message}"),
        Direction::Redo => message,
    });
    let written = Written { notes: done.recovered.iter().map(told).collect(), ..Written::default() };
    let stored = done.paths.clone();
    Ok(committed(Written { paths: done.paths, ..written }, root, &stored, dirty, message.as_deref()))
}

/// Sees to the writes that an earlier process did not live to finish, and tells of them.
pub fn recovered(root: &Root, journal: Option<&Journal>) -> Vec<Failure> {
    journal.map(|journal| workspace::recover(root, journal)).unwrap_or_default().iter().map(told).collect()
}

/// What became of an interrupted write, in words.
fn told(write: &Recovered) -> Failure {
    let files = write.paths.join(", ");
    let (what, hint) = match &write.outcome {
        Recovery::Finished => (format!("is finished now: {files}"), "Undo takes it back."),
        Recovery::TakenBack if write.foreign.is_empty() => {
            (format!("was taken back, its files are as before: {files}"), "Redo writes it after all.")
        }
        Recovery::TakenBack => (
            format!(
                "was taken back: {files}; left alone, because they were changed since: {}",
                write.foreign.join(", ")
            ),
            "Look at the files that were left alone.",
        ),
        Recovery::Failed(reason) => (
            format!("could neither be finished nor taken back: {files} ({reason})"),
            "Look at these files; the next start tries again.",
        ),
    };
    Failure { message: format!("An earlier write was interrupted and {what}."), hint: hint.into() }
}

/// Commits what was written, if there is a message; whatever happens is told in the result.
fn committed(
    mut written: Written,
    root: &Root,
    stored: &[String],
    dirty: Result<BTreeSet<String>, GitError>,
    message: Option<&str>,
) -> Written {
    let Some(message) = message else { return written };
    match dirty.and_then(|dirty| commit_clean(root, stored, &dirty, message)) {
        Ok((commit, note)) => {
            written.commit = commit;
            written.notes.extend(note);
        }
        Err(error) => written.notes.push(not_committed(&error)),
    }
    written
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
        let written = write(&root, None, &[order], Some("change")).unwrap();
        assert_eq!(written.commit, None);
        assert!(written.notes[0].message.contains("real.rs"));
    }
}
