//! Undo and redo of the last write. Files are changed only if they still have the content of that write.

use super::recover::{remove_folders, resolve_recorded};
use super::{JournalEntry, LockedJournal, Record, RecordError, RecordState, RecordedChange, recover_unfinished};
use crate::snapshot::read_bytes;
use crate::write::{Planned, apply, may_replace, mode};
use crate::{ContentHash, Journal, JournalError, Recovered, Root, WriteError};

/// Undo or redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Undo the last write.
    Undo,
    /// Redo the write that was undone last.
    Redo,
}

/// The result of an undo or redo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoOutcome {
    /// Number of the write in the journal.
    pub number: u64,
    /// Files, relative to the root. Empty if there was no write to undo or redo.
    pub paths: Vec<String>,
    /// Hash of the present content of each file, `None` if it does not exist.
    pub hashes: Vec<Option<ContentHash>>,
    /// Commit message of the write, if a commit was to follow.
    pub message: Option<String>,
    /// Why the end of the undo could not be recorded in the journal. The next recovery detects it.
    pub journal_warning: Option<String>,
    /// Folders that could not be synced, each with the reason.
    pub sync_warning: Option<String>,
    /// Interrupted earlier writes that were recovered first.
    pub recovered: Vec<Recovered>,
}

/// Undoes the last write, or redoes the write that was undone last: all of its files or none.
///
/// # Errors
/// A file was changed since, or a file or the journal cannot be accessed. Nothing has changed then.
pub fn undo(root: &Root, journal: &Journal, direction: Direction) -> Result<UndoOutcome, WriteError> {
    let locked = journal.lock()?;
    let recovered = recover_unfinished(root, &locked);
    let Some(entry) = next(&locked.entries()?, direction) else {
        return Ok(UndoOutcome { recovered, ..UndoOutcome::default() });
    };
    let record = locked.read(entry).map_err(|why| unreadable_record(&locked, entry, why))?;
    let Reversal { journal_warning, sync_warning } = reverse(root, &locked, entry, &record, direction)?;
    let now = |change: &RecordedChange| match direction {
        Direction::Undo => change.before.as_ref().map(|version| version.hash),
        Direction::Redo => change.after.as_ref().map(|version| version.hash),
    };
    let hashes = record.files.iter().map(now).collect();
    let paths = record.files.into_iter().map(|change| change.path).collect();
    Ok(UndoOutcome {
        number: entry.number,
        paths,
        hashes,
        message: record.message,
        journal_warning,
        sync_warning,
        recovered,
    })
}

/// Moves a damaged record out of the way, so that it does not block the undo of earlier writes.
fn unreadable_record(locked: &LockedJournal<'_>, entry: JournalEntry, why: RecordError) -> WriteError {
    let record = locked.path(entry);
    match why {
        RecordError::Damaged { .. } => match locked.set_aside(entry) {
            Ok(kept) => WriteError::DamagedRecord(kept),
            Err(error) => error.into(),
        },
        RecordError::OtherVersion => WriteError::NewerRecord(record),
        RecordError::Unreadable(source) => WriteError::Journal(JournalError::Io { path: record, source }),
    }
}

/// Returns what [`undo`] would undo or redo now, without `hashes`.
///
/// Nothing is changed, and the lock is not taken. Writes in progress and damaged records are not included.
pub fn last_write(journal: &Journal, direction: Direction) -> Option<UndoOutcome> {
    let entry = next(&journal.entries().ok()?, direction)?;
    let record = journal.read(entry).ok()?;
    let paths = record.files.into_iter().map(|change| change.path).collect();
    Some(UndoOutcome { number: entry.number, paths, message: record.message, ..UndoOutcome::default() })
}

/// Returns the record that is undone or redone next. `entries` are oldest first.
fn next(entries: &[JournalEntry], direction: Direction) -> Option<JournalEntry> {
    let next = match direction {
        Direction::Undo => entries.iter().rev().find(|entry| entry.state == RecordState::Done),
        Direction::Redo => entries.iter().find(|entry| entry.state == RecordState::Undone),
    };
    next.copied()
}

/// Warnings of an undo or redo that took place.
struct Reversal {
    journal_warning: Option<String>,
    sync_warning: Option<String>,
}

fn reverse(
    root: &Root,
    locked: &LockedJournal<'_>,
    entry: JournalEntry,
    record: &Record,
    direction: Direction,
) -> Result<Reversal, WriteError> {
    let planned = plan(root, record, direction)?;
    let (during, end) = match direction {
        Direction::Undo => (RecordState::Undoing, RecordState::Undone),
        Direction::Redo => (RecordState::Doing, RecordState::Done),
    };
    let begun = locked.mark(entry, during)?;
    let sync_warning = match apply(root, &planned) {
        Ok(sync_warning) => sync_warning,
        Err(error) => {
            // If files could not be restored, the mark stays for the next recovery.
            if !error.needs_cleanup() {
                locked.mark(begun, entry.state)?;
            }
            return Err(error);
        }
    };
    if direction == Direction::Undo {
        // A folder that cannot be removed does not make the undo fail.
        remove_folders(root, record).ok();
    }
    // The files are in their final state even if the journal cannot be updated.
    let journal_warning = locked.mark(begun, end).err().map(|error| error.to_string());
    Ok(Reversal { journal_warning, sync_warning })
}

/// Plans the reverse change of every file. Reports all files that were changed since at once.
fn plan(root: &Root, record: &Record, direction: Direction) -> Result<Vec<Planned>, WriteError> {
    let mut planned = Vec::with_capacity(record.files.len());
    let mut changed = Vec::new();
    for change in &record.files {
        let mut change = change.clone();
        if direction == Direction::Undo {
            std::mem::swap(&mut change.before, &mut change.after);
        }
        let path = change.path.clone();
        match plan_one(root, change)? {
            Some(one) => planned.push(one),
            None => changed.push(path),
        }
    }
    if changed.is_empty() { Ok(planned) } else { Err(WriteError::ChangedSince(changed)) }
}

/// Returns `None` if the file no longer has the recorded content.
fn plan_one(root: &Root, mut change: RecordedChange) -> Result<Option<Planned>, WriteError> {
    let path = change.path.clone();
    let Some(resolved) = resolve_recorded(root, &path)? else { return Ok(None) };
    match (&resolved.found, &change.before) {
        (None, None) => {}
        (Some(meta), Some(before)) if meta.is_file() && !resolved.is_link => {
            let now =
                read_bytes(&resolved.target, u64::MAX).map_err(|error| WriteError::from_io(&path, "read", 0, error))?;
            if now != before.bytes {
                return Ok(None);
            }
            may_replace(&path, &resolved, meta)?;
            // Permission bits that the user changed since are kept.
            if before.mode.is_some()
                && mode(meta) != before.mode
                && let Some(after) = &mut change.after
            {
                after.mode = mode(meta);
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(Planned::new(path, resolved, change)))
}
