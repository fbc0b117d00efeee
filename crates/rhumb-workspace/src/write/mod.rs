//! The one place that changes the user's files: a set of files is written whole or not at all.
//!
//! Every file is checked against the version that the user reviewed before the first byte goes to disk. New contents
//! are then laid down beside their targets, synced, and moved over them one after the other. When a step fails, what
//! was moved already is put back; when the process dies, the journal knows what to put back or to finish. A file
//! whose owner or attributes we cannot give to a new file is rewritten in place instead. One with several names (hard links) never
//! is: the others may lie outside of the root, so that they keep the old content and the name that is written gets a file of
//! its own.

mod belongings;
mod check;
#[cfg_attr(not(unix), path = "write/folder/by_path.rs")]
mod folder;
mod steps;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::WriteError;
use super::journal::{
    Change, Entry, Held, Journal, JournalError, Recovered, Recovery, Stage, settle_unfinished, sync_folder,
};
use super::resolve::relative;
use super::root::Root;
use super::snapshot::{ContentHash, read_bytes};
pub(super) use belongings::has_other_names;
use check::plan;
pub(super) use check::{Planned, may_replace, mode, place};
use steps::{Progress, Remains};

/// Temporary files carry this at the front of their names …
const TEMP_PREFIX: &str = ".rhumb-";
/// … and this at the end, so that a listing can leave out one that a power cut left behind.
const TEMP_SUFFIX: &str = ".tmp";

/// One file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// The text that the change was made for; none if the file must not exist.
    pub expected: Option<Arc<str>>,
    /// The whole new text; none to delete the file. It takes the form that the text has in the file now.
    pub content: Option<String>,
    /// A file of the same set whose form and mode a new file takes over, because it is that file under another name.
    pub renamed_from: Option<String>,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// One entry for each file asked for, in that order.
    pub files: Vec<WrittenFile>,
    /// Sum of the sizes of the files that have content now, in bytes.
    pub bytes: u64,
    /// The number of the write in the journal, if it is recorded there.
    pub number: Option<u64>,
    /// Earlier writes whose process had died, and what became of them.
    pub recovered: Vec<Recovered>,
    /// Why the journal could not note that the write has ended, if it could not: whoever comes next finds that out.
    pub not_noted: Option<String>,
    /// The folders that could not be synced, each with the reason, if there are any: a power cut may undo the write in them.
    pub not_synced: Option<String>,
}

/// One file after the write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// The path as asked for.
    pub path: String,
    /// Where the bytes really are, relative to the root: differs from `path` if that leads through a link.
    pub stored_at: String,
    /// Hash of the content now; none if the file was deleted.
    pub hash: Option<ContentHash>,
    /// Whether the file had other names (hard links), which keep the old content.
    pub was_linked: bool,
}

/// Whether this is the name of a temporary file of ours.
pub(super) fn is_temp_name(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX))
}

/// Looks whether `writes` could be written and recorded as things stand, without touching the files.
///
/// # Errors
/// What [`write()`] would say.
pub fn objection(root: &Root, journal: Option<&Journal>, writes: &[FileWrite]) -> Result<(), WriteError> {
    let planned = plan(root, writes)?;
    let held = journal.map(Journal::hold).transpose().map_err(|error| not_recorded(&error))?;
    if let (Some(held), Some(entry)) = (&held, begin(root, held.as_ref(), &planned, None)?) {
        held.forget(entry);
    }
    Ok(())
}

/// Writes all of `writes`, or none. All are checked first: a file that is not as expected stops the whole set with
/// [`WriteError::Stale`]. Encodings, modes and owners are kept, new files are UTF-8 and get 0644 less the umask, and missing
/// folders are made.
///
/// With a journal the write can be undone, and a death of the process on the way is made good by [`recover`](super::recover)
/// or the next write. `message` is that of the commit which is to follow, if one is. Where the journal cannot record the write, nothing
/// is written: [`WriteError::NotRecorded`]. Without a journal it is written all the same, for those who agreed to that.
pub fn write(
    root: &Root,
    journal: Option<&Journal>,
    writes: &[FileWrite],
    message: Option<&str>,
) -> Result<Written, WriteError> {
    let held = journal.map(Journal::hold).transpose();
    if let Err(JournalError::Busy) = held {
        return Err(WriteError::Busy);
    }
    let recovered = held.as_ref().ok().and_then(Option::as_ref).map(|held| settle_unfinished(root, held));
    let recovered = recovered.unwrap_or_default();
    // What cannot be written anyway needs no record.
    let planned = plan(root, writes)?;
    let held = held.map_err(|error| not_recorded(&error))?;
    planned.iter().try_for_each(|file| is_finished(file, &recovered))?;
    let begun = begin(root, held.as_ref(), &planned, message)?;
    let outcome = carry_out(root, &planned);
    let number = begun.map(|entry| entry.number);
    let mut not_noted = None;
    if let (Some(held), Some(entry)) = (&held, begun) {
        match &outcome {
            Ok(_) => match held.mark(entry, Stage::Done) {
                Ok(_) => held.tidy(),
                Err(error) => not_noted = Some(error.to_string()),
            },
            // What could not be put back is still to go back to what it was.
            Err(error) if error.leaves_remains() => drop(held.mark(entry, Stage::Undoing)),
            Err(_) => held.forget(entry),
        }
    }
    let not_synced = outcome?;
    planned.iter().try_for_each(read_back)?;
    Ok(Written { number, recovered, not_noted, not_synced, ..report(&planned) })
}

fn not_recorded(error: &JournalError) -> WriteError {
    match error {
        JournalError::Busy => WriteError::Busy,
        JournalError::Io { .. } => WriteError::NotRecorded { cause: error.to_string() },
    }
}

/// Records what is about to be written; `None` without a journal, or where nothing changes.
fn begin(
    root: &Root,
    held: Option<&Held<'_>>,
    planned: &[Planned],
    message: Option<&str>,
) -> Result<Option<Entry>, WriteError> {
    let changes: Vec<&Change> = planned.iter().filter(|file| !file.is_done()).map(|file| &file.change).collect();
    let Some(held) = held.filter(|_| !changes.is_empty()) else { return Ok(None) };
    held.begin(message, &new_folders(root, planned), &changes).map(Some).map_err(|error| not_recorded(&error))
}

/// Refuses a file of an earlier write that is still unfinished: a change upon it would count as somebody else's, and keep the files of
/// that write apart for good.
fn is_finished(file: &Planned, recovered: &[Recovered]) -> Result<(), WriteError> {
    for earlier in recovered {
        let Recovery::Failed(reason) = &earlier.outcome else { continue };
        let reason = reason.clone();
        if earlier.paths.contains(&file.change.path) {
            return Err(WriteError::Unfinished { path: file.path.clone(), reason });
        }
        // Not even its record can be read, so it may be of any file.
        if earlier.paths.is_empty() {
            return Err(WriteError::NotRecorded { cause: reason });
        }
    }
    Ok(())
}

/// Takes the steps for all of `planned`, or none: what was changed before a step fails is put back.
///
/// Returns the folders that could not be synced, each with the reason, if there are any.
pub(super) fn carry_out(root: &Root, planned: &[Planned]) -> Result<Option<String>, WriteError> {
    let mut progress = Progress::new(root.path());
    let outcome = run(planned, &mut progress);
    let folders = folders(planned, &progress);
    if let Err(cause) = outcome {
        let Remains { standing, litter } = progress.put_back(planned);
        // Or a power cut would bring the change back when its record is gone. That the disk refuses is told already.
        folders.iter().for_each(|folder| drop(sync_folder(folder)));
        return Err(match (standing.is_empty(), litter.is_empty()) {
            (true, true) => cause,
            (true, false) => WriteError::Litter { cause: Box::new(cause), litter },
            (false, _) => WriteError::Half { cause: Box::new(cause), standing },
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
        progress.lay_down(i, file)?;
    }
    for (i, file) in planned.iter().enumerate() {
        progress.move_over(i, file)?;
    }
    Ok(())
}

fn folders(planned: &[Planned], progress: &Progress<'_>) -> BTreeSet<PathBuf> {
    let beside = planned.iter().filter_map(|file| file.target.parent());
    let above = progress.made_folders().iter().filter_map(|folder| folder.parent());
    beside.chain(above).map(PathBuf::from).collect()
}

/// The folders that are missing for new files, outermost first, relative to the root.
fn new_folders(root: &Root, planned: &[Planned]) -> Vec<String> {
    let new = planned.iter().filter(|file| file.change.after.is_some() && !file.is_done());
    let missing = new.flat_map(|file| {
        let above = file.target.ancestors().skip(1);
        above.take_while(|folder| *folder != file.existing_folder && folder.starts_with(&file.existing_folder))
    });
    // A folder sorts before what lies in it.
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
        _ => Err(WriteError::ReadBack { path }),
    }
}

fn report(planned: &[Planned]) -> Written {
    let file = |file: &Planned| WrittenFile {
        path: file.path.clone(),
        stored_at: file.change.path.clone(),
        hash: file.change.after.as_ref().map(|version| version.hash),
        was_linked: file.after().is_some() && !file.is_done() && file.meta.as_ref().is_some_and(has_other_names),
    };
    Written {
        files: planned.iter().map(file).collect(),
        bytes: planned.iter().map(Planned::new_bytes).sum(),
        ..Written::default()
    }
}

#[cfg(test)]
mod tests;
