//! A copy of the repository, for systems on which it cannot be mounted.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
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
    private_folder(copy).map_err(|source| TrialError::Scratch { path: copy.to_owned(), source })?;
    sync(root.path(), copy, trials_of(copy))
}

/// The folder of all trials, which is not copied.
fn trials_of(copy: &Path) -> &Path {
    copy.ancestors().nth(2).unwrap_or(copy)
}

/// The size of the repository in bytes, ignored files included.
pub(crate) fn size(folder: &Path, copy: &Path) -> u64 {
    let (mut bytes, mut open) = (0, vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() && entry.path() != trials_of(copy) {
                open.push(entry.path());
            }
            bytes += meta.len();
        }
    }
    bytes
}

/// Makes a folder of the copy equal to one of the repository, except for the folder `trials`.
fn sync(from: &Path, to: &Path, trials: &Path) -> Result<(), TrialError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| TrialError::Scratch { path, source }
    };
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(from).map_err(failed(from))? {
        let entry = entry.map_err(failed(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source == trials {
            continue;
        }
        names.insert(entry.file_name());
        copy_entry(&entry, &target).map_err(failed(&source))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sync(&source, &target, trials)?;
        }
    }
    for entry in fs::read_dir(to).map_err(failed(to))?.flatten() {
        if !names.contains(&entry.file_name()) {
            remove_all(&entry.path());
        }
    }
    Ok(())
}

/// Copies a file or link, or creates a folder. A file with the same size, time and mode is not copied again.
fn copy_entry(entry: &DirEntry, target: &Path) -> io::Result<()> {
    let (source, meta) = (entry.path(), entry.metadata()?);
    let known = fs::symlink_metadata(target).ok();
    if known.as_ref().is_some_and(|known| known.file_type() != meta.file_type()) {
        remove_all(target);
    }
    if meta.is_dir() {
        fs::create_dir_all(target)?;
        // A command may have taken the permissions away.
        #[cfg(unix)]
        fs::set_permissions(target, fs::Permissions::from_mode(meta.permissions().mode() | 0o700))?;
    } else if meta.is_symlink() {
        remove_all(target);
        #[cfg(unix)]
        std::os::unix::fs::symlink(fs::read_link(&source)?, target)?;
    } else if meta.is_file() {
        let is_same = |known: &fs::Metadata| {
            let has_same_times = known.modified().ok() == meta.modified().ok();
            known.is_file() && known.len() == meta.len() && known.permissions() == meta.permissions() && has_same_times
        };
        if !known.as_ref().is_some_and(is_same) {
            copy_file(&source, target, &meta)?;
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
    // Before the permissions, which may forbid to open it.
    #[cfg(unix)]
    fs::set_permissions(target, fs::Permissions::from_mode(0o600))?;
    File::options().append(true).open(target)?.set_times(fs::FileTimes::new().set_modified(meta.modified()?))?;
    fs::set_permissions(target, meta.permissions())
}
