//! The one place that changes the user's files: a set of files is written whole or not at all.
//!
//! Every file is checked against the version that the user reviewed before the first byte goes to disk. New contents
//! are then laid down beside their targets, synced, and moved over them one after the other. When a step fails, what
//! was moved already is put back. A file with several names (hard links), or one whose owner we cannot give to a new
//! file, is rewritten in place instead, because a move would cut it loose from what it is.

mod check;
mod steps;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::WriteError;
use super::root::Root;
use super::snapshot::{ContentHash, read_bytes};
use check::{Planned, plan};
use steps::Progress;

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
}

/// Whether this is the name of a temporary file of ours.
pub(super) fn is_temp_name(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX))
}

/// Writes all of `writes`, or none. All are checked first: a file that is not as expected stops the whole set with
/// [`WriteError::Stale`]. Encodings, modes and owners are kept, new files are UTF-8 and get 0644 less the umask, and missing
/// folders are made.
pub fn write(root: &Root, writes: &[FileWrite]) -> Result<Written, WriteError> {
    let planned = plan(root, writes)?;
    let mut progress = Progress::default();
    if let Err(cause) = run(&planned, &mut progress) {
        let standing = progress.put_back(&planned);
        return Err(if standing.is_empty() { cause } else { WriteError::Half { cause: Box::new(cause), standing } });
    }
    steps::sync_folders(&folders(&planned, &progress));
    for file in &planned {
        read_back(file)?;
    }
    Ok(report(&planned))
}

fn run(planned: &[Planned], progress: &mut Progress) -> Result<(), WriteError> {
    for (i, file) in planned.iter().enumerate() {
        progress.lay_down(i, file)?;
    }
    for (i, file) in planned.iter().enumerate() {
        progress.move_over(i, file)?;
    }
    Ok(())
}

fn folders(planned: &[Planned], progress: &Progress) -> BTreeSet<PathBuf> {
    let beside = planned.iter().filter_map(|file| file.target.parent());
    let above = progress.made_folders().iter().filter_map(|folder| folder.parent());
    beside.chain(above).map(PathBuf::from).collect()
}

fn read_back(file: &Planned) -> Result<(), WriteError> {
    let same = match file.new_hash {
        Some(hash) => read_bytes(&file.target, u64::MAX).is_ok_and(|bytes| ContentHash::of(&bytes) == hash),
        None => file.target.symlink_metadata().is_err(),
    };
    if same { Ok(()) } else { Err(WriteError::ReadBack { path: file.path.clone() }) }
}

fn report(planned: &[Planned]) -> Written {
    let file = |file: &Planned| WrittenFile {
        path: file.path.clone(),
        stored_at: file.stored_at.clone(),
        hash: file.new_hash,
    };
    Written { files: planned.iter().map(file).collect(), bytes: planned.iter().map(Planned::new_bytes).sum() }
}

#[cfg(test)]
mod tests;
