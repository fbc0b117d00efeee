//! The steps of a write, and their rollback.

use super::dir::Dir;
use super::plan::Planned;
use crate::error::WriteError;
use crate::fault::{fault, may_copy_metadata};
use crate::journal::Version;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Progress<'a> {
    root: &'a Path,
    /// How each planned file is replaced, by index.
    staged: Vec<Staged>,
    /// The files that were changed, in order: index, and whether the file was rewritten in place.
    moved: Vec<(usize, bool)>,
    /// Folders that were created, outermost first.
    folders: Vec<PathBuf>,
}

/// The changes that a rollback could not undo.
#[derive(Debug, Default)]
pub(crate) struct RollbackFailures {
    /// Files that could not be restored, each with the reason.
    pub(crate) not_restored: Vec<String>,
    /// Temporary files and folders that could not be removed, each with the reason.
    pub(crate) leftovers: Vec<String>,
}

/// How a file gets its new content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Staged {
    /// A synced temporary file next to the target is renamed over it.
    Beside,
    /// The target is rewritten in place.
    InPlace,
    Delete,
    /// There is nothing to do.
    Done,
}

impl<'a> Progress<'a> {
    /// Starts a write of files in `root`.
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, staged: Vec::new(), moved: Vec::new(), folders: Vec::new() }
    }

    pub(crate) fn made_folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Writes the new content of a file to a temporary file next to its target.
    pub(crate) fn stage(&mut self, index: usize, file: &Planned) -> Result<(), WriteError> {
        debug_assert_eq!(index, self.staged.len());
        let staged = match &file.change.after {
            _ if file.is_done() => Staged::Done,
            None => Staged::Delete,
            Some(after) => {
                let refused = |doing, error| refused(file, doing, error);
                let folder = self.make_folders(file).map_err(|error| refused("make a folder for", error))?;
                beside(&folder, file, after).map_err(|error| refused("write", error))?
            }
        };
        self.staged.push(staged);
        Ok(())
    }

    /// Replaces a file. Its old content is compared once more, as late as possible.
    pub(crate) fn commit_file(&mut self, index: usize, file: &Planned) -> Result<(), WriteError> {
        let Some(&staged) = self.staged.get(index).filter(|staged| **staged != Staged::Done) else { return Ok(()) };
        let stale = |change| WriteError::Stale { path: file.path.clone(), change };
        let folder = fault().and_then(|()| Dir::above(&file.target, self.root)).map_err(|error| {
            // Only these errors mean that someone changed the folder.
            if Dir::is_gone(&error) {
                stale("its folder was moved or replaced")
            } else {
                WriteError::from_io(&file.path, "open the folder of", 0, error)
            }
        })?;
        let is_still = fault().and_then(|()| folder.holds(file.name(), file.before()));
        if !is_still.map_err(|error| WriteError::from_io(&file.path, "read", 0, error))? {
            return Err(stale("it changed at this very moment"));
        }
        // From here on a rollback must check this file: even a failed rewrite may have changed it.
        self.moved.push((index, staged == Staged::InPlace));
        let name = file.name();
        let outcome = fault().and_then(|()| match staged {
            Staged::Beside => move_into_place(&folder, file, file.change.before.is_some()),
            Staged::InPlace => rewrite(&folder, name, file.after().unwrap_or_default()),
            Staged::Delete => folder.remove(name),
            Staged::Done => Ok(()),
        });
        if outcome.is_ok()
            && let Some(staged) = self.staged.get_mut(index)
        {
            *staged = Staged::Done;
        }
        outcome.and_then(|()| fault()).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => stale("a file of this name has appeared"),
            _ => WriteError::from_io(&file.path, "replace", file.new_bytes(), error),
        })
    }

    /// Rolls back all steps, the last one first.
    pub(crate) fn roll_back(self, planned: &[Planned]) -> RollbackFailures {
        let mut remains = RollbackFailures::default();
        // Temporary files are removed first, because restoring a file may need their names.
        for file in planned.iter().take(self.staged.len() + 1) {
            if let Err(error) = self.remove_temp(file) {
                remains.leftovers.push(format!("{} beside {} ({error})", file.change.temp, file.path));
            }
        }
        for (index, in_place) in self.moved.iter().rev() {
            if let Some(file) = planned.get(*index)
                && let Err(error) = restore(self.root, file, *in_place)
            {
                remains.not_restored.push(format!("{} ({error})", file.path));
            }
        }
        for made in self.folders.iter().rev() {
            if let Err(error) = self.remove_made(made) {
                let name = made.strip_prefix(self.root).unwrap_or(made);
                remains.leftovers.push(format!("{}/ ({error})", name.display()));
            }
        }
        remains
    }

    fn remove_temp(&self, file: &Planned) -> io::Result<()> {
        let Some(folder) = self.folder_above(&file.target)? else { return Ok(()) };
        let temp = OsStr::new(&file.change.temp);
        if folder.is_free(temp)? { Ok(()) } else { fault().and_then(|()| folder.remove(temp)) }
    }

    fn remove_made(&self, made: &Path) -> io::Result<()> {
        let (Some(folder), Some(name)) = (self.folder_above(made)?, made.file_name()) else { return Ok(()) };
        match fault().and_then(|()| folder.remove_folder(name)) {
            // Something else was created in the folder, so it stays. Or the folder is already gone.
            Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => Ok(()),
            outcome => outcome,
        }
    }

    /// Opens the folder of `target`. Returns `None` if it was removed or replaced, since nothing has to be removed
    /// then.
    fn folder_above(&self, target: &Path) -> io::Result<Option<Dir>> {
        match fault().and_then(|()| Dir::above(target, self.root)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if Dir::is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the folder of a file and creates missing folders, without following symbolic links.
    fn make_folders(&mut self, file: &Planned) -> io::Result<Dir> {
        let mut path = file.existing_ancestor.clone();
        let mut folder = Dir::open(&path, self.root)?;
        let parent = file.target.parent().unwrap_or(self.root);
        for name in parent.strip_prefix(&file.existing_ancestor).unwrap_or(Path::new("")) {
            path.push(name);
            fault()?;
            match folder.make(name) {
                Ok(()) => self.folders.push(path.clone()),
                // Created for an earlier file of the set.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            folder = folder.enter(name)?;
        }
        Ok(folder)
    }
}

/// Classifies an error of staging. The file itself is writable, so a denial refers to the folder.
fn refused(file: &Planned, doing: &'static str, error: io::Error) -> WriteError {
    match WriteError::from_io(&file.path, doing, file.new_bytes(), error) {
        WriteError::Denied { path, .. } => WriteError::FolderDenied { path, folder: file.existing_ancestor.clone() },
        error => error,
    }
}

/// Writes a version to a synced temporary file and copies the metadata of the file that it replaces. Returns
/// [`Staged::InPlace`] if the metadata cannot be copied.
fn beside(folder: &Dir, file: &Planned, version: &Version) -> io::Result<Staged> {
    // A deleted file that is restored cannot be rewritten in place.
    let is_there = file.change.after.is_some();
    fault()?;
    let temp = OsStr::new(&file.change.temp);
    let is_new = file.meta.is_none() && version.mode.is_none();
    let made = folder.create(temp, if is_new { NEW_FILE_MODE } else { PRIVATE_MODE })?;
    let can_replace = fill(folder, made, file, version).map(|can_replace| can_replace || !is_there);
    match can_replace {
        Ok(true) => return Ok(Staged::Beside),
        Ok(false) => folder.remove(temp)?,
        Err(_) => drop(folder.remove(temp)),
    }
    can_replace.map(|_| Staged::InPlace)
}

/// Fills the temporary file. Returns whether it can replace the old file.
fn fill(folder: &Dir, mut made: File, file: &Planned, version: &Version) -> io::Result<bool> {
    fault()?;
    made.write_all(&version.bytes)?;
    fault()?;
    let can_replace = match &file.meta {
        Some(meta) => {
            let old = match folder.open_for_reading(file.name()) {
                Ok(old) => Some(old),
                // A deleted file is restored.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            copy_metadata(&made, old.as_ref(), meta)? && may_copy_metadata(file.name())
        }
        None => set_mode(&made, version.mode).map(|()| true)?,
    };
    fault()?;
    made.sync_all()?;
    fault()?;
    Ok(can_replace)
}

/// Renames the temporary file to its target, which must not exist unless a file is replaced.
fn move_into_place(folder: &Dir, file: &Planned, replaces: bool) -> io::Result<()> {
    let temp = OsStr::new(&file.change.temp);
    if replaces { folder.replace(temp, file.name()) } else { folder.rename_noreplace(temp, file.name()) }
}

/// Rewrites a file in place without ever truncating it to zero: the length is set last. Fails for a file with other
/// hard links, which may be outside of the root.
fn rewrite(folder: &Dir, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let mut file = folder.open_for_writing(name)?;
    if is_hard_linked(&file.metadata()?) {
        return Err(io::Error::from(io::ErrorKind::TooManyLinks));
    }
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    fault()?;
    file.write_all(rest)?;
    fault()?;
    file.set_len(bytes.len() as u64)?;
    fault()?;
    file.sync_all()
}

/// Restores the earlier content, unless someone else has changed the file since.
fn restore(root: &Path, file: &Planned, in_place: bool) -> io::Result<()> {
    let folder = Dir::above(&file.target, root)?;
    let name = file.name();
    if folder.holds(name, file.before())? {
        return Ok(());
    }
    // An interrupted rewrite has neither content and must be restored as well.
    let is_rewrite = in_place && file.change.after.is_some();
    if !is_rewrite && !folder.holds(name, file.after())? {
        return Err(io::Error::other("another program wrote it meanwhile"));
    }
    let Some(before) = &file.change.before else { return folder.remove(name) };
    match beside(&folder, file, before)? {
        Staged::Beside => move_into_place(&folder, file, file.change.after.is_some()),
        _ => rewrite(&folder, name, &before.bytes),
    }
}

/// Mode of a temporary file until it takes over the mode of the file that it replaces.
const PRIVATE_MODE: u32 = 0o600;
/// Mode of a new file, before the umask is applied.
const NEW_FILE_MODE: u32 = 0o644;

/// Returns whether the file has several hard links, of which some may be outside of the root.
#[cfg(unix)]
pub(crate) fn is_hard_linked(meta: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.nlink() > 1
}

#[cfg(not(unix))]
pub(crate) fn is_hard_linked(_meta: &Metadata) -> bool {
    false
}

/// Copies owner, permissions and extended attributes of `old`, whose metadata is `meta`, to `new`. Returns `false` if
/// the operating system does not allow it.
#[cfg(unix)]
fn copy_metadata(new: &File, old: Option<&File>, meta: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = new.metadata()?;
    let same = own.uid() == meta.uid() && own.gid() == meta.gid();
    if !same && fchown(new, Some(meta.uid()), Some(meta.gid())).is_err() {
        return Ok(false);
    }
    // After the owner, because changing the owner clears the set-id bits.
    new.set_permissions(meta.permissions())?;
    Ok(old.is_none_or(|old| copy_attributes(new, old)))
}

#[cfg(not(unix))]
fn copy_metadata(_new: &File, _old: Option<&File>, _meta: &Metadata) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
fn set_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    mode.map_or(Ok(()), |mode| file.set_permissions(std::fs::Permissions::from_mode(mode)))
}

#[cfg(not(unix))]
fn set_mode(_file: &File, _mode: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// Copies the extended attributes (such as access control lists and security labels) that `new` does not have yet.
/// Returns `false` if one cannot be set.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn copy_attributes(new: &File, old: &File) -> bool {
    use rustix::fs::{XattrFlags, fgetxattr, fgetxattr_query, flistxattr, flistxattr_query, fsetxattr};
    use rustix::io::Errno;
    let value = |file: &File, name: &[u8]| {
        let mut value = vec![0; fgetxattr_query(file, name).ok()?];
        let length = fgetxattr(file, name, &mut *value).ok()?;
        value.truncate(length);
        Some(value)
    };
    // A file system without support for attributes counts as a file without attributes.
    let size = match flistxattr_query(old) {
        Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS) => return true,
        Ok(size) => size,
        Err(_) => return false,
    };
    let mut names = vec![0; size];
    let Ok(length) = flistxattr(old, &mut *names) else { return false };
    names.truncate(length);
    names.split(|&byte| byte == 0).filter(|name| !name.is_empty()).all(|name| match value(old, name) {
        Some(wanted) => {
            value(new, name).as_ref() == Some(&wanted) || fsetxattr(new, name, &wanted, XattrFlags::empty()).is_ok()
        }
        None => false,
    })
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn copy_attributes(_new: &File, _old: &File) -> bool {
    true
}
