//! A folder that is held open: what happens in it happens in this folder and in no other.
//!
//! Between a look at a path and a step along it, a folder on the way can be swapped for a link that leads out of the root.
//! A folder here is reached from the root by one name after the other, following no link, and every step takes a name in
//! the folder that is open.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// An open folder inside the root.
#[derive(Debug)]
pub(super) struct Folder {
    handle: File,
}

impl Folder {
    /// The folder that `target` lies in, which lies in `root`. Both are free of links, or were when they were looked at.
    pub(super) fn above(target: &Path, root: &Path) -> io::Result<Self> {
        Self::open(target.parent().ok_or(io::ErrorKind::NotFound)?, root)
    }

    /// The folder at `path`, which is `root` or lies in it.
    pub(super) fn open(path: &Path, root: &Path) -> io::Result<Self> {
        let names = path.strip_prefix(root).map_err(|_| io::ErrorKind::NotFound)?;
        let handle = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(root)?;
        names.iter().try_fold(Self { handle }, |folder, name| folder.enter(name))
    }

    /// A folder in this one.
    pub(super) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { handle: openat(&self.handle, name, flags, Mode::empty())?.into() })
    }

    /// Makes a folder in this one.
    pub(super) fn make(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(&self.handle, name, Mode::from_raw_mode(0o777))?)
    }

    /// Makes a file that is not there yet, with these permissions less the umask.
    pub(super) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.handle, name, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Opens a file for writing over it.
    pub(super) fn open_for_writing(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OFlags::WRONLY)
    }

    /// Opens a file for reading.
    pub(super) fn open_for_reading(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OFlags::RDONLY)
    }

    /// The bytes of a file.
    pub(super) fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_for_reading(name)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether nothing of this name is there.
    pub(super) fn is_free(&self, name: &OsStr) -> bool {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_err_and(|error| error == Errno::NOENT)
    }

    /// Moves a file over another one.
    pub(super) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Moves a file to a name that must be free.
    pub(super) fn place(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            match renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
                // Not every file system can tell.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                outcome => return Ok(outcome?),
            }
        }
        if self.is_free(to) { self.replace(from, to) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    /// Deletes a file.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Deletes an empty folder in this one.
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// A pipe that takes the place of a file would block the open for ever, so the open does not wait, and what was opened is
    /// looked at.
    fn open_file(&self, name: &OsStr, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.handle, name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
    }
}
