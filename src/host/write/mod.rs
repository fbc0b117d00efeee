//! Writes accepted hunks, all files or none, and prepares their commit.

mod interrupted;
mod undo;

use crate::host::commit::pending::{PendingCommits, not_committed};
pub use interrupted::recovered;
use interrupted::{durability_notes, recovery_note};
use rhumb_edit::{SyntaxFault, syntax_faults};
use rhumb_session::context::{ChangedFile, change_message};
use rhumb_session::{CommitRequest, Failure, OwnChanges, PendingWrite, Written};
use rhumb_workspace::git::{GitError, Repo, UncommittedChanges};
use rhumb_workspace::{ContentHash, FileWrite, Journal, Root, WriteError, WrittenFile, editor_trace, resolve_links};
pub use undo::{undo, undo_preview};

/// Why nothing was written, and the files that changed meanwhile.
pub type NotWritten = (Failure, Vec<String>);

/// The real path of a written file (its own path may lead through a link), and its hash; `None` if it was deleted.
type Stored = (String, Option<ContentHash>);

/// The result of [`write()`].
#[derive(Debug)]
pub enum WriteOutcome {
    /// Nothing was written: these files have uncommitted changes of the user, and the user must decide what to do with them.
    UncommittedChanges(Vec<String>),
    /// Nothing was written: the journal cannot record the write, for this reason.
    NotRecorded(String),
    /// The files were written; the pending commits, if any.
    Written(Written, Option<Box<PendingCommits>>),
}

/// Writes the files and, with a `commit` in a git repository, prepares their commit. It must contain the accepted changes only:
/// uncommitted changes of the user in these files are committed before, or the files are not committed, according to `commit`.
/// With a journal the write can be undone.
///
/// # Errors
/// Nothing was written: a file changed meanwhile, or the file system reported an error.
pub fn write(
    root: &Root,
    journal: Option<&Journal>,
    files: &[PendingWrite],
    commit: Option<&CommitRequest>,
) -> Result<WriteOutcome, NotWritten> {
    let before = commit.map(|commit| Before::read(root, files, commit));
    if let (Some(Ok(Some(before))), Some(CommitRequest { own_changes: OwnChanges::BySetting, .. })) = (&before, commit)
        && !before.own.whole.is_empty()
    {
        // The question is only shown if the files can be written.
        return match rhumb_workspace::check_write(root, journal, &file_writes(files)) {
            Ok(()) => Ok(WriteOutcome::UncommittedChanges(before.own.whole.clone())),
            Err(error) => failed_outcome(error),
        };
    }
    let journal_note =
        matches!(before, Some(Ok(Some(_)))).then(|| journal?.note_pending_commit(&stored_paths(root, files))).flatten();
    let message = commit.map(|commit| change_message(&changed_files(files), &commit.request));
    let WrittenFiles { mut written, stored, number } = match write_files(root, journal, files, message.as_deref()) {
        Ok(done) => done,
        Err(error) => return failed_outcome(error),
    };
    let pending = match (before, commit) {
        (Some(Ok(Some(before))), Some(commit)) => {
            let pending = before.prepare(&stored, (&message.unwrap_or_default(), &commit.request));
            let recorded = journal.cloned().zip(number);
            pending.map(|pending| Some(Box::new(pending.with_journal_note(journal_note).with_record(recorded))))
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

/// The new syntax errors of a write, in the order of the files.
pub fn new_syntax_faults(files: &[PendingWrite]) -> Vec<SyntaxFault> {
    let faults = |file: ChangedFile<'_>| {
        file.after.map(|after| syntax_faults(file.path, file.before, after)).unwrap_or_default()
    };
    changed_files(files).into_iter().flat_map(faults).collect()
}

/// The changed files of a write. A rename is one changed file.
fn changed_files(files: &[PendingWrite]) -> Vec<ChangedFile<'_>> {
    let sources: Vec<&str> = files.iter().filter_map(|file| Some(rename_source(files, file)?.path.as_str())).collect();
    let is_source = |file: &&PendingWrite| file.content.is_none() && sources.contains(&file.path.as_str());
    let mut changed = Vec::new();
    for file in files.iter().filter(|file| !is_source(file)) {
        let before = rename_source(files, file).map_or(&file.expected, |source| &source.expected);
        changed.push(ChangedFile {
            path: &file.path,
            renamed_from: file.renamed_from.as_deref(),
            before: before.as_deref(),
            after: file.content.as_deref(),
        });
    }
    changed
}

/// The write that deletes the old file of a rename.
fn rename_source<'a>(files: &'a [PendingWrite], renamed: &PendingWrite) -> Option<&'a PendingWrite> {
    let from = renamed.renamed_from.as_ref()?;
    files.iter().find(|file| file.content.is_none() && file.path == *from)
}

struct WrittenFiles {
    written: Written,
    stored: Vec<Stored>,
    /// The number of the write in the journal.
    number: Option<u64>,
}

fn write_files(
    root: &Root,
    journal: Option<&Journal>,
    files: &[PendingWrite],
    message: Option<&str>,
) -> Result<WrittenFiles, WriteError> {
    let writes = file_writes(files);
    let done = rhumb_workspace::write(root, journal, &writes, message)?;
    let recovered = done.recovered.iter().map(recovery_note);
    let linked = hard_link_note(&done.files);
    let durability = durability_notes(done.journal_warning, done.sync_warning);
    // Git sees the real file, not the link.
    let stored: Vec<Stored> = done.files.into_iter().map(|file| (file.stored_at, file.hash)).collect();
    let written = Written {
        paths: files.iter().map(|file| file.path.clone()).collect(),
        notes: recovered.chain(open_in_editors(root, &stored)).chain(linked).chain(durability).collect(),
        ..Written::default()
    };
    Ok(WrittenFiles { written, stored, number: done.number })
}

/// The real paths of the files, without links.
fn stored_paths(root: &Root, files: &[PendingWrite]) -> Vec<String> {
    files.iter().map(|file| resolve_links(root, &file.path)).collect()
}

/// A note about files that are open in an editor, each with the editor's lock or swap file.
fn open_in_editors(root: &Root, stored: &[Stored]) -> Option<Failure> {
    let traces = stored.iter().filter_map(|(path, _)| Some(format!("{path} ({})", editor_trace(root, path)?)));
    let open: Vec<String> = traces.collect();
    (!open.is_empty()).then(|| Failure {
        message: format!("Open in an editor: {}.", open.join(", ")),
        hint: "Reload it there before you save, or the editor overwrites this write.".into(),
    })
}

fn hard_link_note(files: &[WrittenFile]) -> Option<Failure> {
    let linked: Vec<&str> =
        files.iter().filter(|file| file.had_hard_links).map(|file| file.stored_at.as_str()).collect();
    (!linked.is_empty()).then(|| Failure::new(format!("{} had hard links, which keep the old content.", linked.join(", ")), "rhumb does not write through hard links, because they may lead out of the repository. ln -f links them again."))
}

pub(super) fn file_writes(files: &[PendingWrite]) -> Vec<FileWrite> {
    let writes = files.iter().map(|file| FileWrite {
        path: file.path.clone(),
        expected: file.expected.clone(),
        content: file.content.clone(),
        renamed_from: file.renamed_from.clone(),
    });
    writes.collect()
}

/// The state of the files before the write.
struct Before {
    repo: Repo,
    own: UncommittedChanges,
    /// The commit of the user's own changes.
    pending: PendingCommits,
}

impl Before {
    /// Reads the state of the files; `None` outside of a repository.
    fn read(root: &Root, files: &[PendingWrite], commit: &CommitRequest) -> Result<Option<Self>, GitError> {
        let Some(repo) = Repo::open(root.path())? else { return Ok(None) };
        if let Some(operation) = repo.state() {
            return Err(GitError::InProgress(operation));
        }
        let own = repo.uncommitted_changes(&stored_paths(root, files))?;
        let mut pending = PendingCommits::new(root);
        if commit.own_changes == OwnChanges::CommitFirst && !own.whole.is_empty() {
            pending = pending.with_own(repo.prepare(&own.whole, None)?, &own.whole);
        }
        Ok(Some(Self { repo, own, pending }))
    }

    /// Prepares the commit of the written files. `message` is used if no model writes one.
    fn prepare(self, stored: &[Stored], (message, request): (&str, &str)) -> Result<PendingCommits, GitError> {
        let Self { repo, own, pending } = self;
        let is_excluded = |(path, _): &Stored| match pending.own() {
            Some(_) => own.partly_staged.contains(path),
            None => own.holds(path),
        };
        let (excluded, ours): (Vec<Stored>, Vec<Stored>) = stored.iter().cloned().partition(is_excluded);
        let excluded: Vec<&String> = excluded.iter().map(|(path, _)| path).collect();
        let note = (!excluded.is_empty()).then(|| not_committed_note(&excluded, &own));
        let prepared = repo.prepare_written(&ours, pending.own())?;
        let pending = pending.with_note(note);
        if ours.is_empty() { Ok(pending) } else { Ok(pending.with_accepted(prepared, message, request)) }
    }
}

fn not_committed_note(paths: &[&String], own: &UncommittedChanges) -> Failure {
    let names: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
    let files = names.join(", ");
    let why = if paths.iter().all(|path| own.partly_staged.contains(*path)) {
        "because parts of the file are staged"
    } else {
        "because the file has uncommitted changes of yours"
    };
    Failure {
        message: format!("Not committed, {why}: {files}."),
        hint: "The hunks were written. Commit the file when you are ready.".into(),
    }
}

/// The result for an error. If only the record failed, the user may still want the write.
fn failed_outcome(error: WriteError) -> Result<WriteOutcome, NotWritten> {
    match error {
        WriteError::NotRecorded(source) => Ok(WriteOutcome::NotRecorded(source.to_string())),
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
mod tests;
