//! Recovery of writes whose process was killed.
//!
//! A file belongs to the write only if its content is one of the two versions in the record, or the mixture of both
//! that an interrupted in-place rewrite leaves. If at least one file has its new content and no file was changed by
//! someone else, the write is finished. Otherwise all files that belong to it are rolled back. Thus no set of files
//! stays half written, and no other change is lost. If all files had been written and only the end was not recorded,
//! the write is complete and stays, even if files were changed since.
//!
//! If a file cannot be read, nothing of its write is touched. The record stays for the next attempt.

use super::{
    JournalEntry, JournalError, LockedJournal, RECOVERY_LOCK_TIMEOUT, Record, RecordError, RecordState, RecordedChange,
    Version,
};
use crate::fault::fault;
use crate::resolve::ResolvedPath;
use crate::snapshot::read_bytes;
use crate::write::{Planned, apply, mode, resolve_target};
use crate::{Journal, Root, WriteError};
use std::fs;
use std::io;
use std::path::PathBuf;

/// The recovery of one interrupted write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Files of the write, relative to the root.
    pub paths: Vec<String>,
    /// The result of the recovery.
    pub outcome: Recovery,
    /// Files of the write that someone else has changed since. They were not touched.
    pub externally_changed: Vec<String>,
    /// The root of the write, to which its paths are relative, if it is above or below the requested root.
    pub other_root: Option<PathBuf>,
    /// Whether a commit was to follow.
    pub to_commit: bool,
    /// Id of the commit that was made of the write, if its undo or redo was interrupted.
    pub commit: Option<String>,
    /// Folders that could not be synced, each with the reason.
    pub sync_warning: Option<String>,
}

/// The result of the recovery of an interrupted write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// The remaining files were written.
    Finished,
    /// All files had been written before.
    AlreadyComplete,
    /// All files have their earlier content again.
    RolledBack,
    /// Recovery failed for this reason and will be tried again.
    Failed(String),
    /// The record is damaged, so nothing was done. Its paths may be wrong. It was moved to this path.
    Damaged(PathBuf),
    /// The write was made in a root above this one. Nothing is touched from here.
    InParentRoot,
    /// Another version of the program made the write. Its record stays at this path.
    OtherVersion(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Before,
    After,
    /// An in-place rewrite was interrupted.
    Between,
    Foreign,
}

struct RecordedFile<'a> {
    change: &'a RecordedChange,
    resolved: Option<ResolvedPath>,
    now: Option<Version>,
    /// The temporary file, if the killed process left it.
    temp: Option<PathBuf>,
    state: FileState,
}

/// Recovers the interrupted writes in `root`, including those made with a folder inside it as their root.
///
/// Writes made with a folder above `root` as their root are only reported. Writes of a running process are left
/// alone.
pub fn recover(root: &Root, journal: &Journal) -> Vec<Recovered> {
    let mut told = match journal.has_unfinished() {
        Ok(false) => Vec::new(),
        Ok(true) => with_lock(journal, |locked| recover_unfinished(root, locked)),
        Err(error) => vec![Recovered::failed(&error)],
    };
    for other in journal.related_journals() {
        let Ok(there) = Root::at(&other.root) else { continue };
        let is_below = there.path().starts_with(root.path());
        let seen =
            with_lock(
                &other,
                |locked| if is_below { recover_unfinished(&there, locked) } else { report_unfinished(locked) },
            );
        told.extend(seen.into_iter().map(|write| Recovered { other_root: Some(other.root.clone()), ..write }));
    }
    told
}

/// Calls `look` with the locked journal. Returns nothing if a running process holds the lock, since its write is in
/// progress.
fn with_lock(journal: &Journal, look: impl FnOnce(&LockedJournal<'_>) -> Vec<Recovered>) -> Vec<Recovered> {
    match journal.lock_within(RECOVERY_LOCK_TIMEOUT) {
        Ok(locked) => look(&locked),
        Err(JournalError::Busy) => Vec::new(),
        Err(error) => vec![Recovered::failed(&error)],
    }
}

/// Returns the root and the files of each write that [`recover`] would recover or report. The files are empty if the
/// record cannot be read.
///
/// Nothing is changed. Writes in progress are not included.
pub fn unfinished_writes(journal: &Journal) -> Vec<(PathBuf, Vec<String>)> {
    let neighbours = journal.related_journals().into_iter();
    let all = std::iter::once(journal.clone()).chain(neighbours);
    let named = all.flat_map(|journal| {
        let is_unfinished = journal.has_unfinished().unwrap_or(false);
        // The writer holds the lock while it runs. If the lock cannot be tried, the write is reported.
        let is_left = is_unfinished && !matches!(journal.try_lock_journal(), Err(JournalError::Busy));
        let entries = if is_left { journal.entries().unwrap_or_default() } else { Vec::new() };
        let open = entries.into_iter().filter(|entry| entry.is_unfinished());
        let paths = |record: Record| record.files.into_iter().map(|change| change.path).collect();
        let named = open.map(|entry| (journal.root.clone(), journal.read(entry).map(paths).unwrap_or_default()));
        named.collect::<Vec<_>>()
    });
    named.collect()
}

/// Reports the unfinished writes of a root above.
fn report_unfinished(locked: &LockedJournal<'_>) -> Vec<Recovered> {
    let open = locked.entries().unwrap_or_default().into_iter().filter(|entry| entry.is_unfinished());
    let records = open.filter_map(|entry| locked.read(entry).ok());
    let named = records.map(|record| Recovered {
        paths: record.files.into_iter().map(|change| change.path).collect(),
        ..Recovered::new(Recovery::InParentRoot)
    });
    named.collect()
}

impl Recovered {
    fn new(outcome: Recovery) -> Self {
        Self {
            paths: Vec::new(),
            outcome,
            externally_changed: Vec::new(),
            other_root: None,
            to_commit: false,
            commit: None,
            sync_warning: None,
        }
    }

    /// The journal itself cannot be read.
    fn failed(error: &JournalError) -> Self {
        Self::new(Recovery::Failed(error.to_string()))
    }
}

pub(crate) fn recover_unfinished(root: &Root, locked: &LockedJournal<'_>) -> Vec<Recovered> {
    let entries = match locked.entries() {
        Ok(entries) => entries,
        Err(error) => return vec![Recovered::failed(&error)],
    };
    let seen = entries.into_iter().filter(|entry| entry.is_unfinished()).map(|entry| match locked.read(entry) {
        Ok(record) => recover_write(root, locked, entry, &record),
        Err(why) => unreadable_record(locked, entry, why),
    });
    seen.collect()
}

/// Reports a record that cannot be read. It is kept, because its files may be half written.
fn unreadable_record(locked: &LockedJournal<'_>, entry: JournalEntry, why: RecordError) -> Recovered {
    let (paths, outcome) = match why {
        RecordError::Damaged { paths } => {
            let aside = locked.set_aside(entry).map_err(|error| error.to_string());
            (paths, aside.map_or_else(Recovery::Failed, Recovery::Damaged))
        }
        RecordError::OtherVersion => (Vec::new(), Recovery::OtherVersion(locked.path(entry))),
        RecordError::Unreadable(error) => {
            (Vec::new(), Recovery::Failed(format!("{}: {error}", locked.path(entry).display())))
        }
    };
    Recovered { paths, ..Recovered::new(outcome) }
}

fn recover_write(root: &Root, locked: &LockedJournal<'_>, entry: JournalEntry, record: &Record) -> Recovered {
    let found: Result<Vec<RecordedFile<'_>>, WriteError> =
        record.files.iter().map(|change| find(root, change)).collect();
    let (externally_changed, outcome) = match found {
        Ok(found) => {
            let externally_changed = found.iter().filter(|found| found.state == FileState::Foreign);
            let outcome = bring_to_target(root, locked, (entry, record), &found, target_state(entry.state, &found));
            (externally_changed.map(|found| found.change.path.clone()).collect(), outcome)
        }
        Err(error) => (Vec::new(), Err(error)),
    };
    let (outcome, sync_warning) = outcome.unwrap_or_else(|error| (Recovery::Failed(error.to_string()), None));
    Recovered {
        paths: record.files.iter().map(|change| change.path.clone()).collect(),
        externally_changed,
        to_commit: record.message.is_some(),
        commit: locked.journal.commit_of(entry.number),
        sync_warning,
        ..Recovered::new(outcome)
    }
}

/// Brings all files to the target state and marks the record.
fn bring_to_target(
    root: &Root,
    locked: &LockedJournal<'_>,
    (mut entry, record): (JournalEntry, &Record),
    found: &[RecordedFile<'_>],
    target_state: FileState,
) -> Result<(Recovery, Option<String>), WriteError> {
    let nothing_to_do = found.iter().all(|found| [target_state, FileState::Foreign].contains(&found.state));
    if target_state == FileState::Before && entry.state == RecordState::Doing && !nothing_to_do {
        // If this fails half way, the next recovery must take the same direction. It could not tell from the
        // temporary files, which are removed below.
        entry = locked.mark(entry, RecordState::Undoing)?;
    }
    remove_temp_files(found)?;
    let sync_warning = move_files_to(root, found, target_state)?;
    if target_state == FileState::After {
        locked.mark(entry, RecordState::Done)?;
        return Ok((if nothing_to_do { Recovery::AlreadyComplete } else { Recovery::Finished }, sync_warning));
    }
    remove_folders(root, record)?;
    locked.mark(entry, RecordState::Undone)?;
    Ok((Recovery::RolledBack, sync_warning))
}

/// Returns the state that all files must reach: the new content if one file has it already, else the old content.
fn target_state(state: RecordState, found: &[RecordedFile<'_>]) -> FileState {
    let is_foreign = |found: &&RecordedFile<'_>| found.state == FileState::Foreign;
    let all = |state: FileState| found.iter().filter(|found| !is_foreign(found)).all(|found| found.state == state);
    let has_foreign = found.iter().any(|found| is_foreign(&found));
    // A temporary file that still exists was not moved to its target. Without one, a file that was changed externally
    // had been written before.
    let is_whole = || all(FileState::After) && !found.iter().any(|found| found.temp.is_some());
    match state {
        _ if all(FileState::Before) => FileState::Before,
        RecordState::Undoing if all(FileState::After) && !has_foreign => FileState::After,
        RecordState::Undoing => FileState::Before,
        _ if has_foreign && !is_whole() => FileState::Before,
        _ => FileState::After,
    }
}

/// Compares a file with its record. An I/O error is not a change: the file may still belong to the write.
fn find<'a>(root: &Root, change: &'a RecordedChange) -> Result<RecordedFile<'a>, WriteError> {
    let temp = temp(root, change)?;
    let externally_changed =
        |resolved, temp| RecordedFile { change, resolved, now: None, temp, state: FileState::Foreign };
    let Some(resolved) = resolve_recorded(root, &change.path)? else { return Ok(externally_changed(None, temp)) };
    let now = match &resolved.found {
        None => None,
        Some(meta) if meta.is_file() && !resolved.is_link => {
            let bytes = fault().and_then(|()| read_bytes(&resolved.target, u64::MAX));
            let bytes = bytes.map_err(|error| WriteError::from_io(&change.path, "read", 0, error))?;
            Some(Version::new(bytes, mode(meta)))
        }
        Some(_) => return Ok(externally_changed(Some(resolved), temp)),
    };
    let state = state(change, now.as_ref());
    Ok(RecordedFile { change, resolved: Some(resolved), now, temp, state })
}

/// Resolves a path of a record. Returns `None` if a folder on the way was replaced by a file or a symbolic link.
pub(crate) fn resolve_recorded(root: &Root, path: &str) -> Result<Option<ResolvedPath>, WriteError> {
    fault().map_err(|error| WriteError::from_io(path, "look at", 0, error))?;
    match resolve_target(root, path) {
        Ok(resolved) => Ok(Some(resolved)),
        Err(WriteError::NotAFile(_) | WriteError::Outside { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the temporary file of a change if it exists, no matter what replaced the file itself.
fn temp(root: &Root, change: &RecordedChange) -> Result<Option<PathBuf>, WriteError> {
    let folder = change.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let resolved = resolve_recorded(root, &(folder + &change.temp))?;
    let is_file =
        |resolved: &ResolvedPath| !resolved.is_link && resolved.found.as_ref().is_some_and(fs::Metadata::is_file);
    Ok(resolved.filter(is_file).map(|resolved| resolved.target))
}

fn state(change: &RecordedChange, now: Option<&Version>) -> FileState {
    let is = |version: &Option<Version>| version.as_ref().map(|it| &it.bytes) == now.map(|it| &it.bytes);
    if is(&change.before) {
        return FileState::Before;
    }
    if is(&change.after) {
        return FileState::After;
    }
    match (&change.before, &change.after, now) {
        (Some(before), Some(after), Some(now))
            if is_between(&before.bytes, &after.bytes, &now.bytes)
                || is_between(&after.bytes, &before.bytes, &now.bytes) =>
        {
            FileState::Between
        }
        _ => FileState::Foreign,
    }
}

/// Returns whether `now` is the result of an interrupted rewrite of `old` with `new`: a prefix of the new bytes
/// followed by the old ones. The length is set last.
fn is_between(old: &[u8], new: &[u8], now: &[u8]) -> bool {
    let written = now.iter().zip(new).take_while(|(one, other)| one == other).count();
    now.get(written..) == Some(old.get(written..).unwrap_or_default())
}

/// Removes the temporary files of the killed process. Their names are unique to it.
fn remove_temp_files(found: &[RecordedFile<'_>]) -> Result<(), WriteError> {
    for found in found {
        let Some(temp) = &found.temp else { continue };
        let removed = fault().and_then(|()| fs::remove_file(temp));
        removed.map_err(|error| WriteError::from_io(&found.change.path, "clean up beside", 0, error))?;
    }
    Ok(())
}

/// Brings every file that belongs to the write to the target state.
fn move_files_to(
    root: &Root,
    found: &[RecordedFile<'_>],
    target_state: FileState,
) -> Result<Option<String>, WriteError> {
    let mut planned = Vec::new();
    for found in found {
        let Some(resolved) = found.resolved.clone().filter(|_| !matches!(found.state, FileState::Foreign)) else {
            continue;
        };
        let after = if target_state == FileState::After { &found.change.after } else { &found.change.before };
        // Keeps the recorded name of the temporary file, so that a killed recovery can be recovered too.
        let change = RecordedChange { before: found.now.clone(), after: after.clone(), ..found.change.clone() };
        let path = change.path.clone();
        planned.push(Planned::new(path, resolved, change));
    }
    fault().map_err(|error| WriteError::from_io("the files", "bring back", 0, error))?;
    apply(root, &planned)
}

/// Removes the folders that the write had created, if they are empty.
pub(crate) fn remove_folders(root: &Root, record: &Record) -> Result<(), WriteError> {
    for folder in record.folders.iter().rev() {
        let resolved = resolve_recorded(root, folder)?;
        let is_folder =
            |resolved: &ResolvedPath| !resolved.is_link && resolved.found.as_ref().is_some_and(fs::Metadata::is_dir);
        let Some(resolved) = resolved.filter(is_folder) else { continue };
        match fault().and_then(|()| fs::remove_dir(&resolved.target)) {
            // Someone else created a file in it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            outcome => outcome.map_err(|error| WriteError::from_io(folder, "remove", 0, error))?,
        }
    }
    Ok(())
}
