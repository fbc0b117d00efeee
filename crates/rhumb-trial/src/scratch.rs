//! The folder of a trial on the disk: the upper layers, the copy, and the specification of a run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::changed::Changes;
use crate::spec::Spec;
use crate::{Change, Status, TrialError};

/// The largest upper layer that is kept for the next run, in bytes.
const MAX_KEPT_BYTES: u64 = 20 << 30;
/// Number of entries after which a folder is no longer measured exactly.
const MAX_MEASURED: usize = 200_000;

/// The scratch folder of one trial. A locked file in it shows that the trial is in use.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    _lock: File,
    /// Paths that runs have changed. The next run restores them.
    touched: Vec<String>,
    /// Folders that runs have created. The next run removes them if they are empty then.
    created: Vec<String>,
    began: SystemTime,
}

impl Scratch {
    pub(crate) fn create(parent: &Path) -> Result<Self, TrialError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| TrialError::Scratch { path, source }
        };
        private_folder(parent).map_err(failed(parent))?;
        remove_abandoned(parent);
        let name = format!("{}-{:08x}", std::process::id(), fastrand::u32(..));
        let folder = parent.join(&name);
        // Another process could lock the folder before this one does, so it gets its name when it is locked.
        let new = parent.join(format!("{NEW}{name}"));
        private_folder(&new).map_err(failed(&new))?;
        let lock_file = new.join(LOCK);
        let lock = File::create(&lock_file).map_err(failed(&lock_file))?;
        lock.try_lock().map_err(|error| failed(&lock_file)(io::Error::other(error)))?;
        fs::rename(&new, &folder).map_err(failed(&folder))?;
        let scratch = Self { folder, _lock: lock, touched: Vec::new(), created: Vec::new(), began: SystemTime::now() };
        for name in ["upper", "work", "changes"] {
            let path = scratch.folder.join(name);
            private_folder(&path).map_err(failed(&path))?;
        }
        Ok(scratch)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The layer with what commands have written.
    pub(crate) fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }

    pub(crate) fn copy(&self) -> PathBuf {
        self.folder.join("copy")
    }

    pub(crate) fn touched(&self) -> &[String] {
        &self.touched
    }

    /// The folders that runs have created, the deepest first.
    pub(crate) fn created(&self) -> &[String] {
        &self.created
    }

    pub(crate) fn began(&self) -> SystemTime {
        self.began
    }

    /// Prepares a run on the files as they are now. Where something else has taken the place of what earlier runs changed, such as a folder
    /// that of a file, their layer is dropped.
    pub(crate) fn begin_run(&mut self, root: &Path) {
        self.began = SystemTime::now();
        let fits = |path: &String, is_expected: fn(&fs::Metadata) -> bool| {
            let at = root.join(path);
            let mut above = at.ancestors().skip(1).take_while(|folder| *folder != root);
            above.all(|folder| fs::symlink_metadata(folder).map_or(true, |meta| meta.is_dir()))
                && fs::symlink_metadata(&at).map_or(true, |meta| is_expected(&meta))
        };
        let can_be_undone = self.touched.iter().all(|path| fits(path, fs::Metadata::is_file))
            && self.created.iter().all(|path| fits(path, fs::Metadata::is_dir));
        if !can_be_undone {
            self.clear();
        }
        // What the repository has by now is not the command's.
        self.created.retain(|path| fs::symlink_metadata(root.join(path)).is_err());
    }

    /// Writes the specification and the contents of the changes. Returns its file.
    pub(crate) fn write_spec(&self, spec: &Spec, changes: &[Change]) -> Result<PathBuf, TrialError> {
        let write = |path: &Path, bytes: &[u8]| {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options
                .open(path)
                .and_then(|mut file| file.write_all(bytes))
                .map_err(|source| TrialError::Scratch { path: path.to_owned(), source })
        };
        let mut spec = spec.clone();
        for (number, change) in changes.iter().enumerate() {
            if let Some(content) = &change.content {
                write(&self.folder.join("changes").join(number.to_string()), content)?;
            }
            let content = change.content.is_some().then_some(number);
            spec.changes.push((change.path.clone(), content, change.executable));
        }
        spec.touched.retain(|path| changes.iter().all(|change| change.path != *path));
        write(&self.folder.join(STATUS), b"")?;
        let bytes = serde_json::to_vec(&spec).map_err(|error| TrialError::Setup(error.to_string()))?;
        let file = self.folder.join("spec.json");
        write(&file, &bytes)?;
        Ok(file)
    }

    /// What the child reported.
    pub(crate) fn status(&self) -> Status {
        let text = fs::read_to_string(self.folder.join(STATUS)).unwrap_or_default();
        let ended = || Status::NotMounted("it ended before the command was started".to_owned());
        serde_json::from_str(&text).unwrap_or_else(|_| ended())
    }

    /// Notes what a run has changed, for the next one to restore, and drops a layer that is too large.
    pub(crate) fn end_run(&mut self, changes: &[Change], changed: &Changes) {
        for path in changes.iter().map(|change| &change.path).chain(&changed.paths) {
            if !self.touched.contains(path) {
                self.touched.push(path.clone());
            }
        }
        for folder in &changed.folders {
            if !self.created.contains(folder) {
                self.created.push(folder.clone());
            }
        }
        self.created.sort_by(|one, other| other.cmp(one));
        // What a command did to git's data is not kept.
        let git = GIT_LAYER.map(|name| self.folder.join(name));
        [self.upper().join(".git")].iter().chain(&git).for_each(|path| remove_all(path));
        if !changed.can_be_undone || self.bytes() > MAX_KEPT_BYTES {
            self.clear();
        }
    }

    pub(crate) fn clear(&mut self) {
        for name in fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.file_name()) {
            if name != LOCK {
                remove_all(&self.folder.join(name));
            }
        }
        self.touched.clear();
        self.created.clear();
        for name in ["upper", "work", "changes"] {
            // The next run reports a failure.
            private_folder(&self.folder.join(name)).ok();
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        let mut bytes = 0;
        let mut open = vec![self.folder.clone()];
        for _ in 0..MAX_MEASURED {
            let Some(folder) = open.pop() else { break };
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(meta) = entry.metadata() else { continue };
                if meta.is_dir() {
                    open.push(entry.path());
                } else {
                    bytes += meta.len();
                }
            }
        }
        bytes
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove_scratch(&self.folder);
    }
}

/// The file whose lock shows that a trial is in use.
const LOCK: &str = "lock";
/// How the name of a folder begins that is not locked yet.
const NEW: &str = ".new-";
/// After this time, such a folder was left by a process that is gone.
const MAX_NEW_AGE: Duration = Duration::from_secs(60);
/// The layers above git's data, where it is outside of the root.
pub(crate) const GIT_LAYER: [&str; 2] = ["upper-git", "work-git"];
/// The file in which the child reports.
pub(crate) const STATUS: &str = "status.json";

/// Creates a folder that only the user can enter. A folder that exists is not changed.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes the folders of trials whose processes are gone.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let folder = entry.path();
        let is_abandoned = if entry.file_name().to_string_lossy().starts_with(NEW) {
            let age = entry.metadata().ok().and_then(|meta| meta.modified().ok()?.elapsed().ok());
            age.is_some_and(|age| age > MAX_NEW_AGE)
        } else {
            // A folder without a lock file is half removed.
            File::open(folder.join(LOCK)).map_or(true, |lock| lock.try_lock().is_ok())
        };
        if is_abandoned {
            remove_scratch(&folder);
        }
    }
}

/// Removes a scratch folder. Its lock file is last, so that what cannot be removed now is removed by a later trial.
fn remove_scratch(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.file_name() != LOCK) {
        remove_all(&entry.path());
    }
    remove_all(folder);
}

/// Removes a file or folder. The work folder of an overlay, and what commands made, may be without permissions.
pub(crate) fn remove_all(path: &Path) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    if !meta.is_dir() {
        fs::remove_file(path).ok();
        return;
    }
    if fs::remove_dir_all(path).is_ok() {
        return;
    }
    make_accessible(path);
    fs::remove_dir_all(path).ok();
}

fn make_accessible(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).ok();
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_accessible(&entry.path());
        }
    }
}
