//! A copy of the repository, for systems on which it cannot be mounted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rhumb_workspace::Root;

use crate::TrialError;
use crate::scratch::{private_folder, remove_all};

/// Makes the copy equal to the repository, ignored files included. Files with the same size and time are not copied again.
///
/// # Errors
/// The repository is too large, or a file cannot be copied.
pub(crate) fn refresh(root: &Root, copy: &Path, reason: &str, limit: u64) -> Result<(), TrialError> {
    let bytes = size(root.path(), copy);
    if bytes > limit {
        return Err(TrialError::TooLarge { reason: reason.to_owned(), bytes, limit });
    }
    let failed = |source| TrialError::Scratch { path: copy.to_owned(), source };
    private_folder(copy).map_err(failed)?;
    sync(root.path(), copy, copy).map_err(failed)
}

/// The size of the repository in bytes, ignored files included.
pub(crate) fn size(folder: &Path, copy: &Path) -> u64 {
    let (mut bytes, mut open) = (0, vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() && !copy.starts_with(entry.path()) {
                open.push(entry.path());
            }
            bytes += meta.len();
        }
    }
    bytes
}

fn sync(from: &Path, to: &Path, copy: &Path) -> io::Result<()> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let meta = entry.metadata()?;
        // The scratch folder may be below the root.
        if copy.starts_with(&source) {
            continue;
        }
        names.insert(entry.file_name());
        let known = fs::symlink_metadata(&target).ok();
        if known.as_ref().is_some_and(|known| known.file_type() != meta.file_type()) {
            remove_all(&target);
        }
        if meta.is_dir() {
            fs::create_dir_all(&target)?;
            sync(&source, &target, copy)?;
        } else if meta.is_symlink() {
            remove_all(&target);
            #[cfg(unix)]
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if meta.is_file() {
            let is_same = |known: &fs::Metadata| {
                known.is_file() && known.len() == meta.len() && known.modified().ok() == meta.modified().ok()
            };
            if !known.as_ref().is_some_and(is_same) {
                copy_file(&source, &target, &meta)?;
            }
        }
    }
    for entry in fs::read_dir(to)?.flatten() {
        if !names.contains(&entry.file_name()) {
            remove_all(&entry.path());
        }
    }
    Ok(())
}

/// Copies a file with its mode and time: its blocks are shared where the file system can do that.
fn copy_file(source: &Path, target: &Path, meta: &fs::Metadata) -> io::Result<()> {
    remove_all(target);
    #[cfg(target_os = "linux")]
    let is_cloned = rustix::fs::ioctl_ficlone(File::create(target)?, File::open(source)?).is_ok();
    #[cfg(not(target_os = "linux"))]
    let is_cloned = false;
    if !is_cloned {
        fs::copy(source, target)?;
    }
    fs::set_permissions(target, meta.permissions())?;
    let times = fs::FileTimes::new().set_modified(meta.modified()?);
    File::options().append(true).open(target).and_then(|file| file.set_times(times)).or_else(|error| {
        // A file that cannot be opened for writing gets the time of the copy.
        if error.kind() == io::ErrorKind::PermissionDenied { Ok(()) } else { Err(error) }
    })
}
