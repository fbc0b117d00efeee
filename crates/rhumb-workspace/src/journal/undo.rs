//! Taking the last write back, and doing it again. Only what we wrote is touched, and only while it is as we wrote it.

use super::recover::{recorded_place, remove_folders};
use super::{Change, Entry, Held, Illegible, Journal, Record, Recovered, Stage, settle_unfinished};
use crate::error::WriteError;
use crate::root::Root;
use crate::snapshot::{ContentHash, read_bytes};
use crate::write::{Planned, carry_out, may_replace, mode};

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The last write is taken back.
    Undo,
    /// What was undone last is done again.
    Redo,
}

/// What was undone or done again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unwritten {
    /// The number of the write in the journal.
    pub number: u64,
    /// The files, relative to the root; none when there was no write to undo or to do again.
    pub paths: Vec<String>,
    /// What each of them holds now; none if it is gone.
    pub hashes: Vec<Option<ContentHash>>,
    /// The commit message of the write, if it was to be committed.
    pub message: Option<String>,
    /// Why the journal could not note that this has ended, if it could not: whoever comes next finds that out.
    pub not_noted: Option<String>,
    /// The folders that could not be synced, each with the reason, if there are any.
    pub not_synced: Option<String>,
    /// Earlier writes whose process had died, and what became of them.
    pub recovered: Vec<Recovered>,
}

/// Undoes the last write that is not undone yet, or does the one again that was undone last: all of its files or none.
///
/// # Errors
/// A file is not as the write (or its undoing) left it; or the disk or the journal refuses. Nothing has changed then.
pub fn undo(root: &Root, journal: &Journal, direction: Direction) -> Result<Unwritten, WriteError> {
    let held = journal.hold()?;
    let recovered = settle_unfinished(root, &held);
    let Some(entry) = next(&held.entries()?, direction) else {
        return Ok(Unwritten { recovered, ..Unwritten::default() });
    };
    let record = held.read(entry).map_err(|why| illegible(&held, entry, why))?;
    let Turned { not_noted, not_synced } = turn(root, &held, entry, &record, direction)?;
    let now = |change: &Change| match direction {
        Direction::Undo => change.before.as_ref().map(|version| version.hash),
        Direction::Redo => change.after.as_ref().map(|version| version.hash),
    };
    let hashes = record.files.iter().map(now).collect();
    let paths = record.files.into_iter().map(|change| change.path).collect();
    Ok(Unwritten { number: entry.number, paths, hashes, message: record.message, not_noted, not_synced, recovered })
}

/// A record that cannot be read is no way back, and must not stand in that of the writes before it.
fn illegible(held: &Held<'_>, entry: Entry, why: Illegible) -> WriteError {
    let record = held.path(entry);
    match why {
        Illegible::Damaged { .. } => match held.set_aside(entry) {
            Ok(kept) => WriteError::DamagedRecord { kept },
            Err(error) => error.into(),
        },
        Illegible::OtherVersion => WriteError::NewerRecord { record },
        Illegible::Unreadable(error) => WriteError::Journal { cause: format!("{}: {error}", record.display()) },
    }
}

/// What [`undo`] would take back now, or do again, for a look at it before. Nothing is changed, and nothing waited for: a write that is
/// under way is not among it, and so is a record that is damaged.
pub fn last_write(journal: &Journal, direction: Direction) -> Option<Unwritten> {
    let entry = next(&journal.entries().ok()?, direction)?;
    let record = journal.read(entry).ok()?;
    let paths = record.files.into_iter().map(|change| change.path).collect();
    Some(Unwritten { number: entry.number, paths, message: record.message, ..Unwritten::default() })
}

/// The one that is next on the way: `entries` are oldest first.
fn next(entries: &[Entry], direction: Direction) -> Option<Entry> {
    let next = match direction {
        Direction::Undo => entries.iter().rev().find(|entry| entry.stage == Stage::Done),
        Direction::Redo => entries.iter().find(|entry| entry.stage == Stage::Undone),
    };
    next.copied()
}

/// What is to be told of files that were turned.
struct Turned {
    not_noted: Option<String>,
    not_synced: Option<String>,
}

fn turn(
    root: &Root,
    held: &Held<'_>,
    entry: Entry,
    record: &Record,
    direction: Direction,
) -> Result<Turned, WriteError> {
    let planned = plan(root, record, direction)?;
    let (during, end) = match direction {
        Direction::Undo => (Stage::Undoing, Stage::Undone),
        Direction::Redo => (Stage::Doing, Stage::Done),
    };
    let begun = held.mark(entry, during)?;
    let not_synced = match carry_out(root, &planned) {
        Ok(not_synced) => not_synced,
        Err(error) => {
            // Half of it may stand: then the mark stays, and the next start sees to it.
            if !error.leaves_remains() {
                held.mark(begun, entry.stage)?;
            }
            return Err(error);
        }
    };
    if direction == Direction::Undo {
        // A folder that stays is no reason to call files changed that are as they were.
        remove_folders(root, record).ok();
    }
    // The files are as they are to be, whatever the journal says.
    let not_noted = held.mark(begun, end).err().map(|error| error.to_string());
    Ok(Turned { not_noted, not_synced })
}

/// The way back for every file; all files that do not stand as they should are named at once.
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
    if changed.is_empty() { Ok(planned) } else { Err(WriteError::ChangedSince { paths: changed }) }
}

/// None if the file does not hold what it held then.
fn plan_one(root: &Root, mut change: Change) -> Result<Option<Planned>, WriteError> {
    let path = change.path.clone();
    let Some(place) = recorded_place(root, &path)? else { return Ok(None) };
    match (&place.found, &change.before) {
        (None, None) => {}
        (Some(meta), Some(before)) if meta.is_file() && !place.is_link => {
            let now =
                read_bytes(&place.target, u64::MAX).map_err(|error| WriteError::from_io(&path, "read", 0, error))?;
            if now != before.bytes {
                return Ok(None);
            }
            may_replace(&path, &place, meta)?;
            // Rights that the user gave or took since are theirs.
            if before.mode.is_some()
                && mode(meta) != before.mode
                && let Some(after) = &mut change.after
            {
                after.mode = mode(meta);
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(Planned::new(path, place, change)))
}
