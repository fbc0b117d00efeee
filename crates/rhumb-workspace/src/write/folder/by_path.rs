//! A folder by its path, for systems where names cannot be taken in an open folder: the path is looked at before each step.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A folder inside the root.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder that `target` lies in, which lies in `root`.
    pub(super) fn above(target: &Path, root: &Path) -> io::Result<Self> {
        Self::open(target.parent().ok_or(io::ErrorKind::NotFound)?, root)
    }

    /// The folder at `path`, which is `root` or lies in it.
    pub(super) fn open(path: &Path, root: &Path) -> io::Result<Self> {
        let is_inside = path.starts_with(root) && fs::canonicalize(path)? == path;
        if is_inside { Ok(Self { path: path.to_owned() }) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// A folder in this one.
    pub(super) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.path.join(name), &self.path)
    }

    /// Makes a folder in this one.
    pub(super) fn make(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    /// Makes a file that is not there yet.
    pub(super) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.path.join(name))
    }

    /// Opens a file for writing over it.
    pub(super) fn open_for_writing(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.path.join(name))
    }

    /// Opens a file for reading.
    pub(super) fn open_for_reading(&self, name: &OsStr) -> io::Result<File> {
        File::open(self.path.join(name))
    }

    /// The bytes of a file.
    pub(super) fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        fs::read(self.path.join(name))
    }

    /// Whether nothing of this name is there.
    pub(super) fn is_free(&self, name: &OsStr) -> io::Result<bool> {
        Ok(self.look(name)?.is_none())
    }

    /// Whether there is a regular file with these bytes; for `None`, whether nothing is there.
    pub(super) fn holds(&self, name: &OsStr, bytes: Option<&[u8]>) -> io::Result<bool> {
        match (self.look(name)?, bytes) {
            (Some(meta), Some(bytes)) if meta.is_file() => Ok(self.read(name)? == bytes),
            (found, bytes) => Ok(found.is_none() && bytes.is_none()),
        }
    }

    fn look(&self, name: &OsStr) -> io::Result<Option<fs::Metadata>> {
        match fs::symlink_metadata(self.path.join(name)) {
            Ok(meta) => Ok(Some(meta)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether that is why a folder cannot be opened: it is gone, or something else has its name. Any other error says nothing of it.
    pub(super) fn is_gone(error: &io::Error) -> bool {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }

    /// Moves a file over another one.
    pub(super) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Moves a file to a name that must be free.
    pub(super) fn place(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        if self.is_free(to)? { self.replace(from, to) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    /// Deletes a file.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Deletes an empty folder in this one.
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }
}
