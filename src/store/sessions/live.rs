//! Which sessions are open somewhere: a lock of the system for each, so that a process that was killed holds none.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::error::SessionsError;
use crate::store::database::private_file;

/// A session that this process has open. It is let go when this is dropped, or by the end of the process.
#[derive(Debug)]
pub struct Live {
    path: PathBuf,
    _lock: File,
}

impl Live {
    /// Takes the lock of a session; `None` while another has it.
    pub(super) fn take(folder: &Path, number: i64) -> Result<Option<Self>, SessionsError> {
        let path = file(folder, number);
        loop {
            let failed = |source| SessionsError::Folder { path: path.clone(), source };
            let lock = private_file(&path).map_err(failed)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // Whoever had it may have taken the file away between our two steps: then we hold a lock that nobody sees.
            if is_at(&lock, &path).map_err(failed)? {
                return Ok(Some(Self { path, _lock: lock }));
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // A lock left behind is only an empty file, which the next owner uses.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether somebody has the session open.
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
    // A file that is open cannot be taken away there.
    Ok(true)
}
