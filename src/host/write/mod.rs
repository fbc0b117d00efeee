//! Writes accepted hunks, all files or none, and takes them for the commit that follows.

mod interrupted;
mod undo;

use crate::host::commit::pending::{Pending, not_committed};
pub use interrupted::recovered;
use interrupted::{doubts, told};
use rhumb_edit::{SyntaxFault, syntax_faults};
use rhumb_session::context::{ChangedFile, change_message};
use rhumb_session::{CommitRequest, DirtyCommitPolicy, Failure, PendingWrite, Written};
use rhumb_workspace::git::{GitError, Repo, UncommittedChanges};
use rhumb_workspace::{ContentHash, FileWrite, Journal, Root, WriteError, WrittenFile, editor_trace, resolve_links};
pub use undo::{undo_preview, unwrite};

/// Why nothing was written, and which files changed meanwhile.
pub type NotWritten = (Failure, Vec<String>);

/// Where the bytes of a file are, and the hash of what was written there; none if it was deleted.
type Stored = (String, Option<ContentHash>);

/// What came of an order to write.
#[derive(Debug)]
pub enum WriteOutcome {
    /// Nothing is written yet: these files have changes of the user's own, and it is to be asked what becomes of them.
    UncommittedChanges(Vec<String>),
    /// Nothing is written yet: the journal cannot record it, and why. Without a journal it would be written.
    NotRecorded(String),
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
    orders: &[PendingWrite],
    commit: Option<&CommitRequest>,
) -> Result<WriteOutcome, NotWritten> {
    let before = commit.map(|commit| Before::look(root, orders, commit));
    if let (Some(Ok(Some(before))), Some(CommitRequest { own_changes: DirtyCommitPolicy::Ask, .. })) = (&before, commit)
        && !before.own.whole.is_empty()
    {
        // What cannot be written needs no answer first.
        return match rhumb_workspace::check_write(root, journal, &file_writes(orders)) {
            Ok(()) => Ok(WriteOutcome::UncommittedChanges(before.own.whole.clone())),
            Err(error) => not_begun(error),
        };
    }
    let owed = matches!(before, Some(Ok(Some(_))))
        .then(|| journal?.note_pending_commit(&stored_paths(root, orders)))
        .flatten();
    let message = commit.map(|commit| change_message(&changed_files(orders), &commit.request));
    let PutDown { mut written, stored, number } = match put_down(root, journal, orders, message.as_deref()) {
        Ok(done) => done,
        Err(error) => return not_begun(error),
    };
    let pending = match (before, commit) {
        (Some(Ok(Some(before))), Some(commit)) => {
            let taken = before.take(&stored, (&message.unwrap_or_default(), &commit.request));
            let recorded = journal.cloned().zip(number);
            taken.map(|pending| Some(Box::new(pending.with_owed(owed).with_record(recorded))))
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

/// The syntax errors that a write would bring into files, in the order of the files.
pub fn faults_of(orders: &[PendingWrite]) -> Vec<SyntaxFault> {
    let faults = |file: ChangedFile<'_>| {
        file.after.map(|after| syntax_faults(file.path, file.before, after)).unwrap_or_default()
    };
    changed_files(orders).into_iter().flat_map(faults).collect()
}

/// The files of a write as one change: a rename is one of them.
fn changed_files(orders: &[PendingWrite]) -> Vec<ChangedFile<'_>> {
    let sources: Vec<&str> = orders.iter().filter_map(|order| Some(source(orders, order)?.path.as_str())).collect();
    let is_source = |order: &&PendingWrite| order.content.is_none() && sources.contains(&order.path.as_str());
    let mut files = Vec::new();
    for order in orders.iter().filter(|order| !is_source(order)) {
        let before = source(orders, order).map_or(&order.expected, |source| &source.expected);
        files.push(ChangedFile {
            path: &order.path,
            renamed_from: order.renamed_from.as_deref(),
            before: before.as_deref(),
            after: order.content.as_deref(),
        });
    }
    files
}

/// The order that deletes the file which another one renames.
fn source<'a>(orders: &'a [PendingWrite], renamed: &PendingWrite) -> Option<&'a PendingWrite> {
    let from = renamed.renamed_from.as_ref()?;
    orders.iter().find(|order| order.content.is_none() && order.path == *from)
}

/// Files that were written.
struct PutDown {
    written: Written,
    /// Where their bytes really are.
    stored: Vec<Stored>,
    /// The number of the write in the journal, if it is recorded there.
    number: Option<u64>,
}

/// Writes the files.
fn put_down(
    root: &Root,
    journal: Option<&Journal>,
    orders: &[PendingWrite],
    message: Option<&str>,
) -> Result<PutDown, WriteError> {
    let writes = file_writes(orders);
    let done = rhumb_workspace::write(root, journal, &writes, message)?;
    let recovered = done.recovered.iter().map(told);
    let linked = was_linked(&done.files);
    let doubts = doubts(done.journal_warning, done.sync_warning);
    // A path may lead through a link; what changed for git is the file at its end.
    let stored: Vec<Stored> = done.files.into_iter().map(|file| (file.stored_at, file.hash)).collect();
    let written = Written {
        paths: orders.iter().map(|order| order.path.clone()).collect(),
        notes: recovered.chain(held_by_editors(root, &stored)).chain(linked).chain(doubts).collect(),
        ..Written::default()
    };
    Ok(PutDown { written, stored, number: done.number })
}

/// Where the bytes of the files are: a path may lead through a link.
fn stored_paths(root: &Root, orders: &[PendingWrite]) -> Vec<String> {
    orders.iter().map(|order| resolve_links(root, &order.path)).collect()
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

/// The files that had other names, which they have no more.
fn was_linked(files: &[WrittenFile]) -> Option<Failure> {
    let linked: Vec<&str> =
        files.iter().filter(|file| file.had_hard_links).map(|file| file.stored_at.as_str()).collect();
    (!linked.is_empty()).then(|| Failure {
        message: format!("{} had other names (hard links), which keep the old content.", linked.join(", ")),
        hint: "A link may lead out of the repository, so rhumb writes through none. ln -f makes them one file again."
            .into(),
    })
}

fn file_writes(orders: &[PendingWrite]) -> Vec<FileWrite> {
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
    own: UncommittedChanges,
    /// The user's own changes, taken to be committed first.
    pending: Pending,
}

impl Before {
    /// Looks at the files that are to be written; `None` outside of a repository.
    fn look(root: &Root, orders: &[PendingWrite], commit: &CommitRequest) -> Result<Option<Self>, GitError> {
        let Some(repo) = Repo::open(root.path())? else { return Ok(None) };
        if let Some(operation) = repo.state() {
            return Err(GitError::InProgress { operation });
        }
        let own = repo.uncommitted_changes(&stored_paths(root, orders))?;
        let mut pending = Pending::new(root);
        if commit.own_changes == DirtyCommitPolicy::Commit && !own.whole.is_empty() {
            pending = pending.with_own(repo.prepare(&own.whole, None)?, &own.whole);
        }
        Ok(Some(Self { repo, own, pending }))
    }

    /// Takes what was written, to be committed with that message where no model writes one for the request.
    fn take(self, stored: &[Stored], (message, request): (&str, &str)) -> Result<Pending, GitError> {
        let Self { repo, own, pending } = self;
        let stays_out = |(path, _): &Stored| match pending.own() {
            Some(_) => own.partly_staged.contains(path),
            None => own.holds(path),
        };
        let (out, ours): (Vec<Stored>, Vec<Stored>) = stored.iter().cloned().partition(stays_out);
        let out: Vec<&String> = out.iter().map(|(path, _)| path).collect();
        let note = (!out.is_empty()).then(|| left_out(&out, &own));
        let taken = repo.prepare_written(&ours, pending.own())?;
        let pending = pending.with_note(note);
        if ours.is_empty() {
            return Ok(pending);
        }
        Ok(pending.with_accepted(taken, message, request))
    }
}

fn left_out(paths: &[&String], own: &UncommittedChanges) -> Failure {
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

/// What comes of an error: where only the record is missing, the user may want the write all the same.
fn not_begun(error: WriteError) -> Result<WriteOutcome, NotWritten> {
    match error {
        WriteError::NotRecorded { source } => Ok(WriteOutcome::NotRecorded(source.to_string())),
        error => Err(not_written(error)),
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
    use crate::config::Settings;
    use crate::host::commit::pending::Messages;

    #[test]
    fn a_users_own_change_behind_a_link_stays_out_of_the_commit() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("real.rs"), "one\ntwo\n").unwrap();
        std::os::unix::fs::symlink("real.rs", dir.path().join("link.rs")).unwrap();
        rhumb_workspace::git::init(dir.path(), "T", "t@example.com", "start").unwrap();
        std::fs::write(dir.path().join("real.rs"), "one, mine\ntwo\n").unwrap();
        let root = Root::at(dir.path()).unwrap();
        let order = PendingWrite {
            path: "link.rs".into(),
            expected: Some(Arc::from("one, mine\ntwo\n")),
            content: Some("one, mine\nTWO\n".into()),
            renamed_from: None,
        };
        let ask = CommitRequest { request: "change".into(), ..CommitRequest::default() };
        let asked = write(&root, None, std::slice::from_ref(&order), Some(&ask)).unwrap();
        assert!(matches!(asked, WriteOutcome::UncommittedChanges(paths) if paths == ["real.rs"]));
        let leave = CommitRequest { own_changes: DirtyCommitPolicy::Leave, ..ask };
        let outcome = write(&root, None, &[order], Some(&leave)).unwrap();
        let WriteOutcome::Written(_, Some(pending)) = outcome else { panic!("{outcome:?}") };
        let committed = pending.commit(Messages::default(), &Settings::default(), "");
        assert_eq!(committed.commit, None);
        assert!(committed.notes[0].message.contains("real.rs"));
    }
}
