//! Open sessions: each has a lock file, whose lock the system releases when the process ends.

use crate::store::database::{DatabaseError, private_file};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The lock of a session that this process has open. It is released on drop and at the end of the process.
#[derive(Debug)]
pub struct Live {
    path: PathBuf,
    _lock: File,
}

impl Live {
    /// Locks a session; `None` if another process has it open.
    pub(super) fn take(folder: &Path, number: i64) -> Result<Option<Self>, DatabaseError> {
        let path = file(folder, number);
        loop {
            let failed = |source| DatabaseError::Folder { path: path.clone(), source };
            let lock = private_file(&path).map_err(failed)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // The previous owner may have removed the file between opening and locking. Then the lock is on a file that others
            // do not see.
            if is_at(&lock, &path).map_err(failed)? {
                return Ok(Some(Self { path, _lock: lock }));
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // A file that remains is empty, and the next owner uses it.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether a process has the session open.
pub(super) fn is_taken(folder: &Path, number: i64) -> bool {
    let Ok(lock) = File::open(file(folder, number)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn file(folder: &Path, number: i64) -> PathBuf {
    folder.join(format!("open-{number}.lock"))
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    // An open file cannot be removed on this system.
    Ok(true)
}
