//! The steps that change the disk, and the way back.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::belongings::{NEW, PRIVATE, has_other_names, take_mode, take_over};
use super::check::Planned;
use super::folder::Folder;
use crate::error::WriteError;
use crate::fault::{fault, may_take_over};
use crate::journal::Version;

/// How far the write of a set has come.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    root: &'a Path,
    /// By index of the planned file.
    laid: Vec<Laid>,
    /// The files that were changed, in order: the index, and whether it was rewritten in place.
    moved: Vec<(usize, bool)>,
    /// Folders that did not exist, outermost first.
    folders: Vec<PathBuf>,
}

/// What is left of a write that was undone.
#[derive(Debug, Default)]
pub(super) struct Remains {
    /// The files that could not be put back, each with the reason.
    pub(super) standing: Vec<String>,
    /// The temporary files and folders that could not be removed, likewise.
    pub(super) litter: Vec<String>,
}

/// How a file is going to get its new content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Laid {
    /// A synced temporary file waits beside the target.
    Beside,
    /// The target is rewritten where it is.
    InPlace,
    /// The target goes.
    Delete,
    /// There is nothing to do.
    Done,
}

impl<'a> Progress<'a> {
    /// Nothing is done yet. All files lie in `root`.
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, laid: Vec::new(), moved: Vec::new(), folders: Vec::new() }
    }

    pub(super) fn made_folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Puts the new content of a file on disk, beside its target.
    pub(super) fn lay_down(&mut self, index: usize, file: &Planned) -> Result<(), WriteError> {
        debug_assert_eq!(index, self.laid.len());
        let laid = match &file.change.after {
            _ if file.is_done() => Laid::Done,
            None => Laid::Delete,
            Some(after) => {
                let refused = |doing, error| refused(file, doing, error);
                let folder = self.make_folders(file).map_err(|error| refused("make a folder for", error))?;
                beside(&folder, file, after).map_err(|error| refused("write", error))?
            }
        };
        self.laid.push(laid);
        Ok(())
    }

    /// Gives a file its new content. The content it replaces is looked at once more, as late as can be.
    pub(super) fn move_over(&mut self, index: usize, file: &Planned) -> Result<(), WriteError> {
        let Some(&laid) = self.laid.get(index).filter(|laid| **laid != Laid::Done) else {
            return Ok(());
        };
        let stale = |change| WriteError::Stale { path: file.path.clone(), change };
        let folder = fault().and_then(|()| Folder::above(&file.target, self.root)).map_err(|error| {
            // Only these errors say that somebody changed it.
            if Folder::is_gone(&error) {
                stale("its folder was moved or replaced")
            } else {
                WriteError::from_io(&file.path, "open the folder of", 0, error)
            }
        })?;
        let is_still = fault().and_then(|()| folder.holds(file.name(), file.before()));
        if !is_still.map_err(|error| WriteError::from_io(&file.path, "read", 0, error))? {
            return Err(stale("it changed at this very moment"));
        }
        // From here on the way back must look at this file: even a failed rewrite may have changed it.
        self.moved.push((index, laid == Laid::InPlace));
        let name = file.name();
        let outcome = fault().and_then(|()| match laid {
            Laid::Beside => take_place(&folder, file, file.change.before.is_some()),
            Laid::InPlace => rewrite(&folder, name, file.after().unwrap_or_default()),
            Laid::Delete => folder.remove(name),
            Laid::Done => Ok(()),
        });
        if outcome.is_ok()
            && let Some(laid) = self.laid.get_mut(index)
        {
            *laid = Laid::Done;
        }
        outcome.and_then(|()| fault()).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => stale("a file of this name has appeared"),
            _ => WriteError::from_io(&file.path, "replace", file.new_bytes(), error),
        })
    }

    /// Undoes what was done, last step first.
    pub(super) fn put_back(self, planned: &[Planned]) -> Remains {
        let mut remains = Remains::default();
        // Temporary files go first: what is put back may need their names.
        for file in planned.iter().take(self.laid.len() + 1) {
            if let Err(error) = self.remove_temp(file) {
                remains.litter.push(format!("{} beside {} ({error})", file.change.temp, file.path));
            }
        }
        for (index, in_place) in self.moved.iter().rev() {
            if let Some(file) = planned.get(*index)
                && let Err(error) = restore(self.root, file, *in_place)
            {
                remains.standing.push(format!("{} ({error})", file.path));
            }
        }
        for made in self.folders.iter().rev() {
            if let Err(error) = self.remove_made(made) {
                let name = made.strip_prefix(self.root).unwrap_or(made);
                remains.litter.push(format!("{}/ ({error})", name.display()));
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
            // Something else has moved in meanwhile, so that the folder has to stay; or it went with that.
            Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => Ok(()),
            outcome => outcome,
        }
    }

    /// The folder that something of ours was put into. Where it is gone, or is another one, nothing of ours is left in it.
    fn folder_above(&self, target: &Path) -> io::Result<Option<Folder>> {
        match fault().and_then(|()| Folder::above(target, self.root)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if Folder::is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder of a file, made as far as it is missing. A link that slipped in is not followed.
    fn make_folders(&mut self, file: &Planned) -> io::Result<Folder> {
        let mut path = file.existing_folder.clone();
        let mut folder = Folder::open(&path, self.root)?;
        let parent = file.target.parent().unwrap_or(self.root);
        for name in parent.strip_prefix(&file.existing_folder).unwrap_or(Path::new("")) {
            path.push(name);
            fault()?;
            match folder.make(name) {
                Ok(()) => self.folders.push(path.clone()),
                // Made for a file before this one.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            folder = folder.enter(name)?;
        }
        Ok(folder)
    }
}

/// Why nothing can be laid down beside a file. That the file itself may be written has been seen before.
fn refused(file: &Planned, doing: &'static str, error: io::Error) -> WriteError {
    match WriteError::from_io(&file.path, doing, file.new_bytes(), error) {
        WriteError::Denied { path, .. } => WriteError::FolderDenied { path, folder: file.existing_folder.clone() },
        error => error,
    }
}

/// Puts a version into a synced temporary file, with all that belongs to the file that it shall replace. A file that
/// another one cannot stand for is to be rewritten in place.
fn beside(folder: &Folder, file: &Planned, version: &Version) -> io::Result<Laid> {
    // A deleted file that is put back has no place to be rewritten in.
    let is_there = file.change.after.is_some();
    fault()?;
    let temp = OsStr::new(&file.change.temp);
    let is_new = file.meta.is_none() && version.mode.is_none();
    let made = folder.create(temp, if is_new { NEW } else { PRIVATE })?;
    let stands_in = fill(folder, made, file, version).map(|stands_in| stands_in || !is_there);
    match stands_in {
        Ok(true) => return Ok(Laid::Beside),
        Ok(false) => folder.remove(temp)?,
        Err(_) => drop(folder.remove(temp)),
    }
    stands_in.map(|_| Laid::InPlace)
}

/// Whether the filled file can stand for the one that it shall replace.
fn fill(folder: &Folder, mut made: File, file: &Planned, version: &Version) -> io::Result<bool> {
    fault()?;
    made.write_all(&version.bytes)?;
    fault()?;
    let stands_in = match &file.meta {
        Some(meta) => {
            let old = match folder.open_for_reading(file.name()) {
                Ok(old) => Some(old),
                // A deleted file is put back.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            take_over(&made, old.as_ref(), meta)? && may_take_over(file.name())
        }
        None => take_mode(&made, version.mode).map(|()| true)?,
    };
    fault()?;
    made.sync_all()?;
    fault()?;
    Ok(stands_in)
}

/// Moves the temporary file to its place; the place must be free unless a file is to be replaced.
fn take_place(folder: &Folder, file: &Planned, replaces: bool) -> io::Result<()> {
    let temp = OsStr::new(&file.change.temp);
    if replaces { folder.replace(temp, file.name()) } else { folder.place(temp, file.name()) }
}

/// Writes over a file without ever emptying it: the length is set last. A file with other names is left alone, as they may lie
/// outside of the root.
fn rewrite(folder: &Folder, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let mut file = folder.open_for_writing(name)?;
    if has_other_names(&file.metadata()?) {
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

/// Puts back what was there before, unless someone else has written the file since: theirs is not ours to undo.
fn restore(root: &Path, file: &Planned, in_place: bool) -> io::Result<()> {
    let folder = Folder::above(&file.target, root)?;
    let name = file.name();
    if folder.holds(name, file.before())? {
        return Ok(());
    }
    // A rewrite that stopped half way has neither content; it is ours all the same.
    let is_rewrite = in_place && file.change.after.is_some();
    if !is_rewrite && !folder.holds(name, file.after())? {
        return Err(io::Error::other("another program wrote it meanwhile"));
    }
    let Some(before) = &file.change.before else {
        return folder.remove(name);
    };
    match beside(&folder, file, before)? {
        Laid::Beside => take_place(&folder, file, file.change.after.is_some()),
        _ => rewrite(&folder, name, &before.bytes),
    }
}
