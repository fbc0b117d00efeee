//! [`Dir`] for systems without operations relative to an open folder. It checks the path before each step instead.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A folder inside the root.
#[derive(Debug)]
pub(crate) struct Dir {
    path: PathBuf,
}

impl Dir {
    /// Opens the folder that contains `target`.
    pub(crate) fn above(target: &Path, root: &Path) -> io::Result<Self> {
        Self::open(target.parent().ok_or(io::ErrorKind::NotFound)?, root)
    }

    /// Opens the folder at `path`, which is `root` or inside it.
    pub(crate) fn open(path: &Path, root: &Path) -> io::Result<Self> {
        let is_inside = path.starts_with(root) && fs::canonicalize(path)? == path;
        if is_inside { Ok(Self { path: path.to_owned() }) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.path.join(name), &self.path)
    }

    pub(crate) fn make(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    /// Creates a file, which must not exist.
    pub(crate) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.path.join(name))
    }

    /// Opens an existing file for writing, without truncating it.
    pub(crate) fn open_for_writing(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.path.join(name))
    }

    pub(crate) fn open_for_reading(&self, name: &OsStr) -> io::Result<File> {
        File::open(self.path.join(name))
    }

    pub(crate) fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        fs::read(self.path.join(name))
    }

    pub(crate) fn is_free(&self, name: &OsStr) -> io::Result<bool> {
        Ok(self.look(name)?.is_none())
    }

    /// Returns whether there is a regular file with exactly these bytes, or, for `None`, whether there is no entry.
    pub(crate) fn holds(&self, name: &OsStr, bytes: Option<&[u8]>) -> io::Result<bool> {
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

    /// Returns whether the error of [`Dir::open`] means that the folder was removed or replaced by something else.
    pub(crate) fn is_gone(error: &io::Error) -> bool {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }

    /// Renames a file over another one.
    pub(crate) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Renames a file to a name that must not be in use.
    pub(crate) fn rename_noreplace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        if self.is_free(to)? { self.replace(from, to) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }
}
