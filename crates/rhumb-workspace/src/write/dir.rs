//! A folder that is held open, so that every operation takes place in exactly this folder.
//!
//! Between the check of a path and its use, a folder on the way can be replaced by a symbolic link out of the root. A
//! [`Dir`] is opened one component at a time from the root without following links, and all operations are relative
//! to the open folder.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// An open folder inside the root.
#[derive(Debug)]
pub(crate) struct Dir {
    handle: File,
}

impl Dir {
    /// Opens the folder that contains `target`. Both paths must be free of symbolic links.
    pub(crate) fn above(target: &Path, root: &Path) -> io::Result<Self> {
        Self::open(target.parent().ok_or(io::ErrorKind::NotFound)?, root)
    }

    /// Opens the folder at `path`, which is `root` or inside it.
    pub(crate) fn open(path: &Path, root: &Path) -> io::Result<Self> {
        let names = path.strip_prefix(root).map_err(|_| io::ErrorKind::NotFound)?;
        let handle = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(root)?;
        names.iter().try_fold(Self { handle }, |folder, name| folder.enter(name))
    }

    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { handle: openat(&self.handle, name, flags, Mode::empty())?.into() })
    }

    pub(crate) fn make(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(&self.handle, name, Mode::from_raw_mode(0o777))?)
    }

    /// Creates a file, which must not exist. The umask is applied to `mode`.
    pub(crate) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.handle, name, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Opens an existing file for writing, without truncating it.
    pub(crate) fn open_for_writing(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OFlags::WRONLY)
    }

    pub(crate) fn open_for_reading(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OFlags::RDONLY)
    }

    pub(crate) fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_for_reading(name)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn is_free(&self, name: &OsStr) -> io::Result<bool> {
        Ok(self.kind(name)?.is_none())
    }

    /// Returns whether there is a regular file with exactly these bytes, or, for `None`, whether there is no entry.
    pub(crate) fn holds(&self, name: &OsStr, bytes: Option<&[u8]>) -> io::Result<bool> {
        match (self.kind(name)?, bytes) {
            (Some(FileType::RegularFile), Some(bytes)) => Ok(self.read(name)? == bytes),
            (found, bytes) => Ok(found.is_none() && bytes.is_none()),
        }
    }

    fn kind(&self, name: &OsStr) -> io::Result<Option<FileType>> {
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the error of [`Dir::open`] means that the folder was removed or replaced by something else.
    pub(crate) fn is_gone(error: &io::Error) -> bool {
        let errno = Errno::from_io_error(error);
        error.kind() == io::ErrorKind::NotFound || matches!(errno, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
    }

    /// Renames a file over another one.
    pub(crate) fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Renames a file to a name that must not be in use.
    pub(crate) fn rename_noreplace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            match renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
                // Not every file system supports `RENAME_NOREPLACE`.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                outcome => return Ok(outcome?),
            }
        }
        if self.is_free(to)? { self.replace(from, to) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Opens a regular file. A pipe in its place would block the open forever, so the file is opened without blocking
    /// and then checked.
    fn open_file(&self, name: &OsStr, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.handle, name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn an_open_folder_stays_the_same_when_its_path_changes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir(dir.path().join("out")).unwrap();
        for folder in ["root/src", "out"] {
            fs::write(dir.path().join(folder).join("a"), "old").unwrap();
        }
        let folder = Dir::above(&root.join("src/a"), &root).unwrap();
        fs::rename(root.join("src"), root.join("moved")).unwrap();
        symlink("../out", root.join("src")).unwrap();
        drop(folder.create(OsStr::new("temp"), 0o600).unwrap());
        folder.replace(OsStr::new("temp"), OsStr::new("a")).unwrap();
        drop(folder.create(OsStr::new("temp"), 0o600).unwrap());
        folder.rename_noreplace(OsStr::new("temp"), OsStr::new("b")).unwrap();
        folder.make(OsStr::new("c")).unwrap();
        assert_eq!(fs::read(root.join("moved/a")).unwrap(), b"");
        folder.remove(OsStr::new("a")).unwrap();
        let names = |path: &Path| fs::read_dir(path).unwrap().count();
        assert_eq!((names(&root.join("moved")), names(&dir.path().join("out"))), (2, 1));
        assert_eq!(fs::read(dir.path().join("out/a")).unwrap(), b"old");
        // The path now leads to a symbolic link, which is not followed.
        assert!(Dir::above(&root.join("src/a"), &root).is_err());
    }

    #[test]
    fn an_existing_name_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["from", "to"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        symlink("nowhere", dir.path().join("link")).unwrap();
        let folder = Dir::open(dir.path(), dir.path()).unwrap();
        for name in ["to", "link"] {
            let error = folder.rename_noreplace(OsStr::new("from"), OsStr::new(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert!(folder.create(OsStr::new(name), 0o600).is_err());
        }
        assert!(folder.open_for_writing(OsStr::new("link")).is_err());
        assert!(folder.is_free(OsStr::new("other")).unwrap() && !folder.is_free(OsStr::new("link")).unwrap());
        let holds = |name: &str, bytes: Option<&[u8]>| folder.holds(OsStr::new(name), bytes).unwrap();
        assert!(holds("to", Some(b"to")) && holds("other", None));
        assert!(!holds("to", Some(b"from")) && !holds("to", None) && !holds("link", None) && !holds("link", Some(b"")));
        // A name that cannot be inspected counts neither as existing nor as free.
        let long = "x".repeat(300);
        assert!(folder.is_free(OsStr::new(&long)).is_err() && folder.holds(OsStr::new(&long), None).is_err());
    }
}
