//! Atomic writes of sets of files. Nothing else in this crate changes the user's files.
//!
//! Before the first write, every file is compared with the version that the user reviewed. Then the new contents are
//! written to temporary files next to their targets, synced, and renamed over them one after the other. If a step
//! fails, the files that were already replaced are restored. If the process is killed, the journal has what is needed
//! to finish the write or to roll it back.
//!
//! If the owner or the attributes of a file cannot be copied to a new file, the file is rewritten in place. A file
//! with several hard links is never rewritten in place, since the other names may be outside of the root. They keep
//! the old content, and the name that is written gets a new file.

#[cfg_attr(not(unix), path = "dir_by_path.rs")]
mod dir;
mod plan;
mod steps;

use super::journal::{JournalEntry, LockedJournal, RecordState, RecordedChange, recover_unfinished, sync_folder};
use super::snapshot::read_bytes;
use crate::resolve::relative;
use crate::{ContentHash, Journal, JournalError, Recovered, Recovery, Root, WriteError};
use plan::plan;
pub(crate) use plan::{Planned, may_replace, mode, resolve_target};
pub use plan::{editor_trace, has_hard_links, may_write};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use steps::{Progress, RollbackFailures, is_hard_linked};

/// Prefix of the names of temporary files.
const TEMP_PREFIX: &str = ".rhumb-";
/// Suffix of the names of temporary files. Listings use both to omit files that a power failure left behind.
const TEMP_SUFFIX: &str = ".tmp";

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// The text that the change was made for. `None` if the file must not exist.
    pub expected: Option<Arc<str>>,
    /// The whole new text, or `None` to delete the file. The encoding of the file is kept.
    pub content: Option<String>,
    /// Another path of the same set. A new file takes over its encoding and mode, because it is that file under a new
    /// name.
    pub renamed_from: Option<String>,
}

/// The result of a write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// One entry per requested file, in the same order.
    pub files: Vec<WrittenFile>,
    /// Total size in bytes of the files that exist now.
    pub bytes: u64,
    /// Number of the write in the journal, if it was recorded.
    pub number: Option<u64>,
    /// Interrupted earlier writes that were recovered first.
    pub recovered: Vec<Recovered>,
    /// Why the end of the write could not be recorded in the journal. The next recovery detects it.
    pub journal_warning: Option<String>,
    /// Folders that could not be synced, each with the reason. A power failure may undo the write in them.
    pub sync_warning: Option<String>,
}

/// A file after the write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// Path as requested.
    pub path: String,
    /// Path of the file with symbolic links resolved, relative to the root.
    pub stored_at: String,
    /// Hash of the new content, or `None` if the file was deleted.
    pub hash: Option<ContentHash>,
    /// Whether the file had other hard links, which keep the old content.
    pub had_hard_links: bool,
}

/// Returns whether `name` is the name of a temporary file of this module.
pub(crate) fn is_temp_name(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX))
}

/// Checks whether `writes` could be written and recorded now, without changing a file.
///
/// # Errors
/// The same as for [`write()`].
pub fn check_write(root: &Root, journal: Option<&Journal>, writes: &[FileWrite]) -> Result<(), WriteError> {
    let planned = plan(root, writes)?;
    let locked = journal.map(Journal::lock).transpose().map_err(not_recorded)?;
    if let (Some(locked), Some(entry)) = (&locked, begin(root, locked.as_ref(), &planned, None)?) {
        locked.forget(entry);
    }
    Ok(())
}

/// A file as a write would leave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePreview {
    /// Path relative to the root, with symbolic links resolved.
    pub path: String,
    /// The bytes; `None` if the file is deleted.
    pub content: Option<Vec<u8>>,
    /// Permission bits of the file, or `None` for those of a new file.
    pub mode: Option<u32>,
}

/// Returns what [`write()`] would write, without changing a file.
///
/// # Errors
/// The same as for [`write()`].
pub fn preview_write(root: &Root, writes: &[FileWrite]) -> Result<Vec<FilePreview>, WriteError> {
    let preview = |planned: Planned| FilePreview {
        path: planned.change.path,
        mode: planned.change.after.as_ref().and_then(|version| version.mode),
        content: planned.change.after.map(|version| version.bytes),
    };
    Ok(plan(root, writes)?.into_iter().map(preview).collect())
}

/// Writes all of `writes` or none.
///
/// Encodings, modes and owners are kept. New files are UTF-8 with mode 0644 (less the umask). Missing folders are
/// created. With a journal the write can be undone, and if the process is killed, [`recover`](super::recover) or the
/// next write completes it or rolls it back. `message` is the message of the commit that is to follow, if any.
///
/// # Errors
/// [`WriteError::Stale`] if a file is not as expected, [`WriteError::NotRecorded`] if the journal cannot record the
/// write, and others. Nothing is written in either case. Pass no journal to write without a record.
pub fn write(
    root: &Root,
    journal: Option<&Journal>,
    writes: &[FileWrite],
    message: Option<&str>,
) -> Result<Written, WriteError> {
    let locked = journal.map(Journal::lock).transpose();
    if let Err(JournalError::Busy) = locked {
        return Err(WriteError::Busy);
    }
    let recovered = locked.as_ref().ok().and_then(Option::as_ref).map(|locked| recover_unfinished(root, locked));
    let recovered = recovered.unwrap_or_default();
    // A write that fails anyway needs no record.
    let planned = plan(root, writes)?;
    let locked = locked.map_err(not_recorded)?;
    planned.iter().try_for_each(|file| is_finished(file, &recovered))?;
    let begun = begin(root, locked.as_ref(), &planned, message)?;
    let outcome = apply(root, &planned);
    let number = begun.map(|entry| entry.number);
    let mut journal_warning = None;
    if let (Some(locked), Some(entry)) = (&locked, begun) {
        match &outcome {
            Ok(_) => match locked.mark(entry, RecordState::Done) {
                Ok(_) => locked.tidy(),
                Err(error) => journal_warning = Some(error.to_string()),
            },
            // Marks the files that could not be restored for the next recovery.
            Err(error) if error.needs_cleanup() => drop(locked.mark(entry, RecordState::Undoing)),
            Err(_) => locked.forget(entry),
        }
    }
    let sync_warning = outcome?;
    planned.iter().try_for_each(read_back)?;
    Ok(Written { number, recovered, journal_warning, sync_warning, ..report(&planned) })
}

fn not_recorded(error: JournalError) -> WriteError {
    match error {
        JournalError::Busy => WriteError::Busy,
        source => WriteError::NotRecorded(source),
    }
}

/// Records the write. Returns `None` without a journal, or if nothing changes.
fn begin(
    root: &Root,
    locked: Option<&LockedJournal<'_>>,
    planned: &[Planned],
    message: Option<&str>,
) -> Result<Option<JournalEntry>, WriteError> {
    let changes: Vec<&RecordedChange> =
        planned.iter().filter(|file| !file.is_done()).map(|file| &file.change).collect();
    let Some(locked) = locked.filter(|_| !changes.is_empty()) else { return Ok(None) };
    locked.begin(message, &new_folders(root, planned), &changes).map(Some).map_err(not_recorded)
}

/// Rejects a file of an interrupted write that could not be recovered. Changing it would look like an external change
/// to the next recovery.
fn is_finished(file: &Planned, recovered: &[Recovered]) -> Result<(), WriteError> {
    for earlier in recovered {
        let Recovery::Failed(reason) = &earlier.outcome else { continue };
        let reason = reason.clone();
        if earlier.paths.contains(&file.change.path) {
            return Err(WriteError::Unfinished { path: file.path.clone(), reason });
        }
        // The record cannot be read, so it may contain any file.
        if earlier.paths.is_empty() {
            return Err(WriteError::NotRecorded(JournalError::Unrecovered(reason)));
        }
    }
    Ok(())
}

/// Carries out all of `planned`. If a step fails, restores what was changed before.
///
/// Returns the folders that could not be synced, each with the reason.
pub(crate) fn apply(root: &Root, planned: &[Planned]) -> Result<Option<String>, WriteError> {
    let mut progress = Progress::new(root.path());
    let outcome = run(planned, &mut progress);
    let folders = folders(planned, &progress);
    if let Err(cause) = outcome {
        let RollbackFailures { not_restored, leftovers } = progress.roll_back(planned);
        // Otherwise a power failure could bring the change back after its record is gone. The error of the write is
        // reported instead of a sync error.
        folders.iter().for_each(|folder| drop(sync_folder(folder)));
        return Err(match (not_restored.is_empty(), leftovers.is_empty()) {
            (true, true) => cause,
            (true, false) => WriteError::Leftovers { cause: Box::new(cause), leftovers },
            (false, _) => WriteError::Partial { cause: Box::new(cause), not_restored },
        });
    }
    let failed = folders.iter().filter_map(|folder| {
        let error = sync_folder(folder).err()?;
        let name = relative(root, folder).filter(|name| !name.is_empty()).unwrap_or_else(|| ".".to_owned());
        Some(format!("{name} ({error})"))
    });
    let failed: Vec<String> = failed.collect();
    Ok((!failed.is_empty()).then(|| failed.join(", ")))
}

fn run(planned: &[Planned], progress: &mut Progress<'_>) -> Result<(), WriteError> {
    for (i, file) in planned.iter().enumerate() {
        progress.stage(i, file)?;
    }
    for (i, file) in planned.iter().enumerate() {
        progress.commit_file(i, file)?;
    }
    Ok(())
}

fn folders(planned: &[Planned], progress: &Progress<'_>) -> BTreeSet<PathBuf> {
    let beside = planned.iter().filter_map(|file| file.target.parent());
    let above = progress.made_folders().iter().filter_map(|folder| folder.parent());
    beside.chain(above).map(PathBuf::from).collect()
}

/// Returns the folders that must be created for new files, outermost first, relative to the root.
fn new_folders(root: &Root, planned: &[Planned]) -> Vec<String> {
    let new = planned.iter().filter(|file| file.change.after.is_some() && !file.is_done());
    let missing = new.flat_map(|file| {
        let above = file.target.ancestors().skip(1);
        above.take_while(|folder| *folder != file.existing_ancestor && folder.starts_with(&file.existing_ancestor))
    });
    // A folder sorts before its content.
    let missing: BTreeSet<String> = missing.filter_map(|folder| relative(root, folder)).collect();
    missing.into_iter().collect()
}

fn read_back(file: &Planned) -> Result<(), WriteError> {
    let there = match file.after() {
        Some(_) => read_bytes(&file.target, u64::MAX).map(Some),
        None => file.target.symlink_metadata().map(|_| Some(Vec::new())),
    };
    let path = file.path.clone();
    match there {
        Ok(bytes) if bytes.as_deref() == file.after() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && file.after().is_none() => Ok(()),
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(WriteError::NotReadBack { path, source }),
        _ => Err(WriteError::ReadBack(path)),
    }
}

fn report(planned: &[Planned]) -> Written {
    let file = |file: &Planned| WrittenFile {
        path: file.path.clone(),
        stored_at: file.change.path.clone(),
        hash: file.change.after.as_ref().map(|version| version.hash),
        had_hard_links: file.after().is_some() && !file.is_done() && file.meta.as_ref().is_some_and(is_hard_linked),
    };
    Written {
        files: planned.iter().map(file).collect(),
        bytes: planned.iter().map(Planned::new_bytes).sum(),
        ..Written::default()
    }
}

#[cfg(test)]
mod tests;
