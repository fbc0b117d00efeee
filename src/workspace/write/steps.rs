//! The steps that change the disk, and the way back.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use super::check::Planned;
use crate::workspace::error::WriteError;
use crate::workspace::fault::fault;
use crate::workspace::journal::Version;
use crate::workspace::snapshot::read_bytes;

/// How far the write of a set has come. The new contents that were not moved yet vanish with it.
#[derive(Debug, Default)]
pub(in crate::workspace) struct Progress {
    /// By index of the planned file.
    laid: Vec<Laid>,
    /// The files that were changed, in order: the index, and whether it was rewritten in place.
    moved: Vec<(usize, bool)>,
    /// Folders that did not exist, outermost first.
    folders: Vec<PathBuf>,
}

/// How a file is going to get its new content.
#[derive(Debug)]
enum Laid {
    /// A synced temporary file waits beside the target.
    Beside(TempPath),
    /// The target is rewritten where it is.
    InPlace,
    /// The target goes.
    Delete,
    /// There is nothing to do.
    Done,
}

impl Progress {
    pub(in crate::workspace) fn made_folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Puts the new content of a file on disk, beside its target.
    pub(in crate::workspace) fn lay_down(&mut self, index: usize, file: &Planned) -> Result<(), WriteError> {
        debug_assert_eq!(index, self.laid.len());
        let laid = match &file.change.after {
            _ if file.is_done() => Laid::Done,
            None => Laid::Delete,
            Some(after) => {
                self.make_folders(file)
                    .map_err(|error| WriteError::from_io(&file.path, "make a folder for", 0, error))?;
                beside(file, after)
                    .map_err(|error| WriteError::from_io(&file.path, "write", file.new_bytes(), error))?
            }
        };
        self.laid.push(laid);
        Ok(())
    }

    /// Gives a file its new content. The content it replaces is looked at once more, as late as can be.
    pub(in crate::workspace) fn move_over(&mut self, index: usize, file: &Planned) -> Result<(), WriteError> {
        let Some(slot) = self.laid.get_mut(index) else {
            return Ok(());
        };
        let laid = std::mem::replace(slot, Laid::Done);
        if matches!(laid, Laid::Done) {
            return Ok(());
        }
        let stale = |change| WriteError::Stale { path: file.path.clone(), change };
        if !is_in_place(&file.target) {
            return Err(stale("its folder was moved or replaced"));
        }
        if !is_still(file) {
            return Err(stale("it changed at this very moment"));
        }
        // From here on the way back must look at this file: even a failed rewrite may have changed it.
        self.moved.push((index, matches!(laid, Laid::InPlace)));
        let outcome = fault().and_then(|()| match laid {
            Laid::Beside(temp) if file.change.before.is_some() => {
                temp.persist(&file.target).map_err(|error| error.error)
            }
            Laid::Beside(temp) => temp.persist_noclobber(&file.target).map_err(|error| error.error),
            Laid::InPlace => rewrite(&file.target, file.after().unwrap_or_default()),
            Laid::Delete => fs::remove_file(&file.target),
            Laid::Done => Ok(()),
        });
        let outcome = outcome.and_then(|()| fault());
        outcome.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => stale("a file of this name has appeared"),
            _ => WriteError::from_io(&file.path, "replace", file.new_bytes(), error),
        })
    }

    /// Undoes what was done, last step first. Returns the files that could not be put back, each with the reason.
    pub(in crate::workspace) fn put_back(mut self, planned: &[Planned]) -> Vec<String> {
        let mut standing = Vec::new();
        while let Some((index, in_place)) = self.moved.pop() {
            if let Some(file) = planned.get(index)
                && let Err(error) = restore(file, in_place)
            {
                standing.push(format!("{} ({error})", file.path));
            }
        }
        // Temporary files go before the folders that they lie in.
        self.laid.clear();
        while let Some(folder) = self.folders.pop() {
            // Fails only if something else has moved in meanwhile; then the folder has to stay.
            fs::remove_dir(&folder).ok();
        }
        standing
    }

    fn make_folders(&mut self, file: &Planned) -> io::Result<()> {
        let Some(parent) = file.target.parent() else {
            return Ok(());
        };
        let mut folder = file.existing_folder.clone();
        for name in parent.strip_prefix(&file.existing_folder).unwrap_or(Path::new("")) {
            folder.push(name);
            fault()?;
            match fs::create_dir(&folder) {
                Ok(()) => self.folders.push(folder.clone()),
                // Made for a file before this one. A link that slipped in is not followed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !fs::symlink_metadata(&folder)?.is_dir() {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A synced temporary file with the bytes of a version, and with the mode and owner of the file that it shall replace.
fn beside(file: &Planned, version: &Version) -> io::Result<Laid> {
    let folder = file.target.parent().ok_or(io::ErrorKind::NotFound)?;
    // A deleted file that is put back has no place to be rewritten in.
    let is_there = file.change.after.is_some();
    if is_there && file.meta.as_ref().is_some_and(has_other_names) {
        return Ok(Laid::InPlace);
    }
    fault()?;
    let mut builder = Builder::new();
    builder.prefix(&file.change.temp).rand_bytes(0);
    #[cfg(unix)]
    if file.meta.is_none() && version.mode.is_none() {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(0o644));
    }
    let mut temp = builder.tempfile_in(folder)?;
    fault()?;
    temp.write_all(&version.bytes)?;
    fault()?;
    if let Some(meta) = &file.meta {
        if !take_owner(temp.as_file(), meta)? && is_there {
            return Ok(Laid::InPlace);
        }
        // After the owner, because a change of owner clears the set-id bits.
        temp.as_file().set_permissions(meta.permissions())?;
    } else {
        take_mode(temp.as_file(), version.mode)?;
    }
    fault()?;
    temp.as_file().sync_all()?;
    fault()?;
    Ok(Laid::Beside(temp.into_temp_path()))
}

#[cfg(unix)]
fn take_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    mode.map_or(Ok(()), |mode| file.set_permissions(Permissions::from_mode(mode)))
}

#[cfg(not(unix))]
fn take_mode(_file: &File, _mode: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn has_other_names(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_meta: &fs::Metadata) -> bool {
    false
}

/// Whether `file` now belongs to the owner and group in `meta`.
#[cfg(unix)]
fn take_owner(file: &File, meta: &fs::Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    let same = own.uid() == meta.uid() && own.gid() == meta.gid();
    Ok(same || fchown(file, Some(meta.uid()), Some(meta.gid())).is_ok())
}

#[cfg(not(unix))]
fn take_owner(_file: &File, _meta: &fs::Metadata) -> io::Result<bool> {
    Ok(true)
}

/// Writes over a file without ever emptying it: the length is set last.
fn rewrite(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(target)?;
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    fault()?;
    file.write_all(rest)?;
    fault()?;
    file.set_len(bytes.len() as u64)?;
    fault()?;
    file.sync_all()
}

/// Whether the folder of the target is still reached without a link, so that nothing lands outside the root.
fn is_in_place(target: &Path) -> bool {
    target.parent().is_some_and(|folder| fs::canonicalize(folder).is_ok_and(|real| real == folder))
}

fn is_still(file: &Planned) -> bool {
    match file.before() {
        Some(before) => read_bytes(&file.target, u64::MAX).is_ok_and(|bytes| bytes == before),
        None => fs::symlink_metadata(&file.target).is_err_and(|error| error.kind() == io::ErrorKind::NotFound),
    }
}

/// Puts back what was there before, unless someone else has written the file since: theirs is not ours to undo.
fn restore(file: &Planned, in_place: bool) -> io::Result<()> {
    if is_still(file) {
        return Ok(());
    }
    let ours = match &file.change.after {
        // A rewrite that stopped half way has neither content; it is ours all the same.
        Some(_) if in_place => true,
        Some(after) => read_bytes(&file.target, u64::MAX).is_ok_and(|bytes| bytes == after.bytes),
        None => fs::symlink_metadata(&file.target).is_err(),
    };
    if !ours {
        return Err(io::Error::other("another program wrote it meanwhile"));
    }
    let Some(before) = &file.change.before else {
        return fs::remove_file(&file.target);
    };
    match beside(file, before)? {
        Laid::Beside(temp) if file.change.after.is_some() => temp.persist(&file.target).map_err(|error| error.error),
        Laid::Beside(temp) => temp.persist_noclobber(&file.target).map_err(|error| error.error),
        _ => rewrite(&file.target, &before.bytes),
    }
}
