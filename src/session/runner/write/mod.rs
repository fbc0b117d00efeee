//! Writes accepted hunks, all files or none, and takes them for the commit that follows.

mod interrupted;

use crate::config::Settings;
use crate::git::{GitError, OwnChanges, Repo};
use crate::session::runner::commit::pending::{Pending, manner, not_committed, told as told_of_commit, trailer};
use crate::session::{CommitOrder, Failure, WriteOrder, Written};
use crate::workspace::{
    self, ContentHash, Direction, FileWrite, Journal, Root, RootKind, WriteError, editor_trace, stored_at,
};
pub use interrupted::recovered;
use interrupted::told;

/// Why nothing was written, and which files changed meanwhile.
pub type NotWritten = (Failure, Vec<String>);

/// Where the bytes of a file are, and the hash of what was written there; none if it was deleted.
type Stored = (String, Option<ContentHash>);

/// What came of an order to write.
#[derive(Debug)]
pub enum WriteOutcome {
    /// Nothing is written yet: these files have changes of the user's own, and it is to be asked what becomes of them.
    OwnChanges(Vec<String>),
    /// The files are written; the commits that are to follow, if any.
    Written(Written, Option<Box<Pending>>),
}

/// Writes the files and, with an order for it, takes them for a commit where there is a git repository. The user's own
/// uncommitted changes to these files are taken for a commit before it, or the files are left out of the commit, as the order
/// says: it must hold what was accepted and nothing else. With a journal the write can be undone.
///
/// # Errors
/// Nothing was written: a file changed meanwhile, or the file system refused.
pub fn write(
    root: &Root,
    journal: Option<&Journal>,
    orders: &[WriteOrder],
    commit: Option<&CommitOrder>,
) -> Result<WriteOutcome, NotWritten> {
    let before = commit.map(|commit| Before::look(root, orders, commit));
    if let (Some(Ok(Some(before))), Some(CommitOrder { own_changes: None, .. })) = (&before, commit)
        && !before.own.whole.is_empty()
    {
        // What cannot be written needs no answer first.
        workspace::objection(root, &file_writes(orders)).map_err(not_written)?;
        return Ok(WriteOutcome::OwnChanges(before.own.whole.clone()));
    }
    let owed = matches!(before, Some(Ok(Some(_)))).then(|| journal?.owe_commit(&stored_paths(root, orders))).flatten();
    let message = commit.map(|commit| commit.fallback.as_str());
    let (mut written, stored) = put_down(root, journal, orders, message)?;
    let pending = match (before, commit) {
        (Some(Ok(Some(before))), Some(commit)) => {
            before.take(&stored, commit).map(|pending| Some(Box::new(pending.with_owed(owed))))
        }
        (Some(Err(error)), _) => Err(error),
        _ => Ok(None),
    };
    let pending = pending.unwrap_or_else(|error| {
        written.notes.push(not_committed(&error));
        None
    });
    Ok(WriteOutcome::Written(written, pending))
}

/// Writes the files, without a commit.
///
/// # Errors
/// As [`write()`].
pub fn write_files(root: &Root, journal: Option<&Journal>, orders: &[WriteOrder]) -> Result<Written, NotWritten> {
    put_down(root, journal, orders, None).map(|(written, _)| written)
}

/// Writes the files; what that did, and where their bytes really are.
fn put_down(
    root: &Root,
    journal: Option<&Journal>,
    orders: &[WriteOrder],
    message: Option<&str>,
) -> Result<(Written, Vec<Stored>), NotWritten> {
    let writes = file_writes(orders);
    let done = workspace::write(root, journal, &writes, message).map_err(not_written)?;
    let recovered = done.recovered.iter().map(told);
    let not_noted = done.not_noted.map(|why| Failure {
        message: format!("All is written, but the journal could not note the end of it: {why}."),
        hint: "The next start of rhumb looks at these files and notes it.".into(),
    });
    // A path may lead through a link; what changed for git is the file at its end.
    let stored: Vec<Stored> = done.files.into_iter().map(|file| (file.stored_at, file.hash)).collect();
    let written = Written {
        paths: orders.iter().map(|order| order.path.clone()).collect(),
        notes: recovered.chain(held_by_editors(root, &stored)).chain(not_noted).collect(),
        not_undoable: done.not_undoable.map(|why| Failure {
            message: format!("What is written now cannot be undone with rhumb: {why}."),
            hint: "Make room there, or make that folder writable; git can undo what is committed.".into(),
        }),
        ..Written::default()
    };
    Ok((written, stored))
}

/// Where the bytes of the files are: a path may lead through a link.
fn stored_paths(root: &Root, orders: &[WriteOrder]) -> Vec<String> {
    orders.iter().map(|order| stored_at(root, &order.path)).collect()
}

/// The files that an editor holds, each with what it has put beside it.
fn held_by_editors(root: &Root, stored: &[Stored]) -> Option<Failure> {
    let traces = stored.iter().filter_map(|(path, _)| Some(format!("{path} ({})", editor_trace(root, path)?)));
    let held: Vec<String> = traces.collect();
    (!held.is_empty()).then(|| Failure {
        message: format!("An editor holds {}.", held.join(", ")),
        hint: "Load it there anew before you save it, or what was written now is gone.".into(),
    })
}

fn file_writes(orders: &[WriteOrder]) -> Vec<FileWrite> {
    let writes = orders.iter().map(|order| FileWrite {
        path: order.path.clone(),
        expected: order.expected.clone(),
        content: order.content.clone(),
        renamed_from: order.renamed_from.clone(),
    });
    writes.collect()
}

/// What is known of the files before they are written.
struct Before {
    repo: Repo,
    own: OwnChanges,
    /// The user's own changes, taken to be committed first.
    pending: Pending,
}

impl Before {
    /// Looks at the files that are to be written; `None` outside of a repository.
    fn look(root: &Root, orders: &[WriteOrder], commit: &CommitOrder) -> Result<Option<Self>, GitError> {
        let Some(repo) = Repo::open(root.path())? else { return Ok(None) };
        if let Some(operation) = repo.state() {
            return Err(GitError::InProgress { operation });
        }
        let own = repo.own_changes(&stored_paths(root, orders))?;
        let mut pending = Pending::new(root);
        if commit.own_changes == Some(true) && !own.whole.is_empty() {
            pending = pending.with_own(repo.take(&own.whole, None)?, &own.whole);
        }
        Ok(Some(Self { repo, own, pending }))
    }

    /// Takes what was written.
    fn take(self, stored: &[Stored], commit: &CommitOrder) -> Result<Pending, GitError> {
        let Self { repo, own, pending } = self;
        let stays_out = |(path, _): &Stored| match pending.own() {
            Some(_) => own.partly_staged.contains(path),
            None => own.holds(path),
        };
        let (out, ours): (Vec<Stored>, Vec<Stored>) = stored.iter().cloned().partition(stays_out);
        let out: Vec<&String> = out.iter().map(|(path, _)| path).collect();
        let note = (!out.is_empty()).then(|| left_out(&out, &own));
        let taken = repo.take_written(&ours, pending.own())?;
        let pending = pending.with_note(note);
        if ours.is_empty() {
            return Ok(pending);
        }
        Ok(pending.with_accepted(taken, &commit.fallback, &commit.request))
    }
}

fn left_out(paths: &[&String], own: &OwnChanges) -> Failure {
    let names: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
    let files = names.join(", ");
    let why = if paths.iter().all(|path| own.partly_staged.contains(*path)) {
        "because a part of the file is staged"
    } else {
        "because of uncommitted changes of your own in the file"
    };
    Failure {
        message: format!("Not committed, {why}: {files}."),
        hint: "The hunks are written; commit the file when you are ready.".into(),
    }
}

/// Takes the last write back, or does the one again that was undone last. One that was committed is taken back by a commit
/// of its own, if the settings want commits: the branch never moves back.
///
/// # Errors
/// Nothing was changed: a file is not as the write left it, or the disk refuses.
pub fn unwrite(
    root: &Root,
    journal: Option<&Journal>,
    direction: Direction,
    settings: &Settings,
) -> Result<Written, Failure> {
    let Some(journal) = journal else { return Ok(Written::default()) };
    let repo = if settings.auto_commit && root.kind() == RootKind::Git { Repo::open(root.path()) } else { Ok(None) };
    // What is not committed before is not ours to commit.
    let dirty = repo.as_ref().ok().and_then(Option::as_ref).map(Repo::dirty_paths);
    let done = workspace::undo(root, journal, direction).map_err(|error| not_written(error).0)?;
    let mut written =
        Written { notes: done.recovered.iter().map(told).collect(), paths: done.paths.clone(), ..Written::default() };
    let Some(recorded) = done.message.filter(|_| !done.paths.is_empty()) else { return Ok(written) };
    let committed = match (repo, dirty) {
        (Ok(Some(repo)), Some(Ok(dirty))) => {
            let files = done.paths.into_iter().zip(done.hashes);
            let (own, clean): (Vec<Stored>, Vec<Stored>) = files.partition(|(path, _)| dirty.contains(path));
            let own: Vec<String> = own.into_iter().map(|(path, _)| path).collect();
            commit_unwritten(&repo, &clean, &own, direction, &recorded, settings)
        }
        (Err(error), _) | (_, Some(Err(error))) => Err(error),
        (Ok(_), _) => return Ok(written),
    };
    match committed {
        Ok((commit, notes)) => {
            written.commit = commit;
            written.notes.extend(notes);
        }
        Err(error) => written.notes.push(not_committed(&error)),
    }
    Ok(written)
}

/// Commits what was undone or done again, as far as it was committed before.
fn commit_unwritten(
    repo: &Repo,
    clean: &[Stored],
    own: &[String],
    direction: Direction,
    recorded: &str,
    settings: &Settings,
) -> Result<(Option<String>, Vec<Failure>), GitError> {
    let mut notes = Vec::new();
    // What is as it was committed now needs no word: the write itself had not been committed.
    let still = repo.own_changes(own)?;
    let out: Vec<&String> = own.iter().filter(|path| still.holds(path)).collect();
    if !out.is_empty() {
        notes.push(left_out(&out, &still));
    }
    if clean.is_empty() {
        return Ok((None, notes));
    }
    let last = clean.first().and_then(|(path, _)| repo.subject_of_last_change(path));
    let subject = subject_unwritten(direction, last.as_deref(), recorded);
    let message = match direction {
        Direction::Undo => subject,
        Direction::Redo => subject + &trailer(settings, settings.model.as_deref().unwrap_or_default()),
    };
    let taken = repo.take_written(clean, None)?;
    let commit = repo.commit(taken, &manner(&message, settings, true))?;
    notes.extend(told_of_commit(&commit));
    Ok((Some(commit.short_id), notes))
}

/// The first line of the commit that takes a write back, or does it again. The record knows the first line of the request; the
/// last commit of the file may have a better one, but only where it is about this write: behind several in a row it is about
/// the one before.
fn subject_unwritten(direction: Direction, last: Option<&str>, recorded: &str) -> String {
    const UNDO: &str = "Undo: ";
    let undone = last.and_then(|last| last.strip_prefix(UNDO));
    match direction {
        Direction::Undo => {
            let written = last.filter(|_| undone.is_none());
            format!("{UNDO}{}", written.unwrap_or(recorded))
        }
        Direction::Redo => undone.unwrap_or(recorded).to_owned(),
    }
}

fn not_written(error: WriteError) -> NotWritten {
    let failure = Failure { message: format!("{error}."), hint: error.hint() };
    match error {
        WriteError::Stale { path, .. } => (failure, vec![path]),
        _ => (failure, Vec::new()),
    }
}

#[cfg(test)]
mod interleavings;

#[cfg(test)]
mod situations;

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::session::runner::commit::pending::Messages;

    #[test]
    fn a_commit_that_unwrites_is_named_for_its_own_write() {
        let (undo, redo) = (Direction::Undo, Direction::Redo);
        // Each row: what is done, the last commit of the file, the record of the write, the new subject.
        let rows = [
            (undo, Some("feat: two"), "second", "Undo: feat: two"),
            (undo, Some("Undo: feat: two"), "first", "Undo: first"),
            (redo, Some("Undo: first"), "first", "first"),
            (redo, Some("first"), "second", "second"),
            (undo, None, "first", "Undo: first"),
        ];
        for (direction, last, recorded, subject) in rows {
            assert_eq!(subject_unwritten(direction, last, recorded), subject);
        }
    }

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
        let ask = CommitOrder { fallback: "change".into(), ..CommitOrder::default() };
        let asked = write(&root, None, std::slice::from_ref(&order), Some(&ask)).unwrap();
        assert!(matches!(asked, WriteOutcome::OwnChanges(paths) if paths == ["real.rs"]));
        let leave = CommitOrder { own_changes: Some(false), ..ask };
        let outcome = write(&root, None, &[order], Some(&leave)).unwrap();
        let WriteOutcome::Written(_, Some(pending)) = outcome else { panic!("{outcome:?}") };
        let committed = pending.commit(Messages::default(), &Settings::default(), "");
        assert_eq!(committed.commit, None);
        assert!(committed.notes[0].message.contains("real.rs"));
    }
}
