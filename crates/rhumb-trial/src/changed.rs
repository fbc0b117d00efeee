//! What a command changed in the checkout, and what others changed in the repository meanwhile.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use rhumb_workspace::git::Repo;
use rhumb_workspace::{GitIgnore, Root, is_hidden, last_change};

use crate::scratch::{Scratch, remove_all};
use crate::{Change, FileIsolation};

/// Maximum number of changed files that are reported.
pub const MAX_CHANGED_FILES: usize = 1_000;
/// Maximum size of a file that is reported, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Maximum number of entries that are looked at, without those of ignored folders.
const MAX_ENTRIES: usize = 50_000;
/// Maximum number of stale files that are named.
const MAX_STALE: usize = 20;

/// A file that a command changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path below the root, with `/`.
    pub path: String,
    /// The content when the command started; `None` if the file did not exist.
    pub before: Option<Arc<[u8]>>,
    /// The content now; `None` if the file was deleted.
    pub after: Option<Arc<[u8]>>,
}

/// What a command changed.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The files, sorted by path and at most [`MAX_CHANGED_FILES`], without those that `.ignore` or `.rhumbignore` hide.
    pub(crate) files: Vec<ChangedFile>,
    /// The paths of all changed files.
    pub(crate) paths: Vec<String>,
    /// The folders that it created.
    pub(crate) folders: Vec<String>,
    /// Whether the next run can undo all that is listed here, and nothing else was changed. It cannot restore links, modes, large files,
    /// and files that became folders.
    pub(crate) can_be_undone: bool,
}

/// Finds what a command changed, without ignored files that are not tracked.
pub(crate) fn collect(root: &Root, scratch: &Scratch, files: FileIsolation, changes: &[Change]) -> Changes {
    let expected = changes.iter().map(|change| (change.path.as_str(), &change.content)).collect();
    let mut found = Collector {
        root,
        rules: GitIgnore::new(root),
        tracked: OnceCell::new(),
        expected,
        files: BTreeMap::new(),
        hidden: Vec::new(),
        folders: Vec::new(),
        entries: 0,
        can_be_undone: true,
    };
    match files {
        FileIsolation::Overlay => found.upper(&scratch.upper(), "", false),
        FileIsolation::Copy => found.copy(&scratch.copy()),
    }
    let paths: Vec<String> = found.files.keys().chain(&found.hidden).cloned().collect();
    let file = |(path, (before, after))| ChangedFile { path, before, after };
    Changes {
        can_be_undone: found.can_be_undone && paths.len() <= MAX_CHANGED_FILES,
        files: found.files.into_iter().map(file).take(MAX_CHANGED_FILES).collect(),
        paths,
        folders: found.folders,
    }
}

type Content = Option<Arc<[u8]>>;

struct Collector<'r> {
    root: &'r Root,
    rules: GitIgnore,
    /// The files in git's index.
    tracked: OnceCell<BTreeSet<String>>,
    /// The contents of the files that the trial had changed before the command started.
    expected: BTreeMap<&'r str, &'r Content>,
    files: BTreeMap<String, (Content, Content)>,
    /// Changed files that are not reported.
    hidden: Vec<String>,
    folders: Vec<String>,
    entries: usize,
    can_be_undone: bool,
}

impl Collector<'_> {
    /// Adds the differences between a folder of the upper layer and the repository. `is_ignored`: git ignores the folder.
    fn upper(&mut self, folder: &Path, below: &str, is_ignored: bool) {
        self.rules.enter(below);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            self.entries += 1;
            let (Some(name), Ok(meta)) = (entry.file_name().to_str().map(str::to_owned), entry.metadata()) else {
                self.can_be_undone = false;
                continue;
            };
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            names.push(name);
            self.can_be_undone &= self.entries <= MAX_ENTRIES;
            if self.entries > MAX_ENTRIES || path == ".git" {
                continue;
            }
            let original = fs::symlink_metadata(self.root.path().join(&path)).ok();
            let is_whiteout = is_whiteout(&meta);
            let is_folder =
                if is_whiteout { original.as_ref().is_some_and(fs::Metadata::is_dir) } else { meta.is_dir() };
            if self.is_product(&path, is_folder, is_ignored) {
                if is_whiteout {
                    // A build product that was deleted is there again in the next run.
                    remove_all(&entry.path());
                }
                continue;
            }
            let is_ignored = is_ignored || self.rules.ignores(&path, is_folder);
            if is_whiteout {
                self.deleted(&path, is_ignored);
                continue;
            }
            self.can_be_undone &= original.as_ref().map_or_else(|| is_plain(&meta), |known| is_alike(known, &meta));
            if is_folder {
                self.upper(&entry.path(), &path, is_ignored);
                if original.is_none() {
                    self.folders.push(path);
                }
            } else if meta.is_file() {
                self.compare(&path, read(&entry.path()));
            }
        }
        if is_opaque(folder) {
            // Ignored files of the folder may be gone as well.
            self.can_be_undone = false;
            for entry in fs::read_dir(self.root.path().join(below)).into_iter().flatten().flatten() {
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
                let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if !names.contains(&name) && path != ".git" && !self.is_product(&path, is_folder, is_ignored) {
                    self.deleted(&path, is_ignored);
                }
            }
        }
    }

    /// Whether an entry of the folder that was entered is a build product: git ignores it or that folder, and tracks nothing of it.
    fn is_product(&self, path: &str, is_folder: bool, in_ignored: bool) -> bool {
        if !in_ignored && !self.rules.ignores(path, is_folder) {
            return false;
        }
        let tracked = self.tracked.get_or_init(|| {
            let repository = Repo::open(self.root.path()).ok().flatten();
            repository.and_then(|repository| repository.tracked_outside(&[]).ok()).unwrap_or_default()
        });
        if !is_folder {
            return !tracked.contains(path);
        }
        let folder = format!("{path}/");
        !tracked.range(folder.clone()..).next().is_some_and(|file| file.starts_with(&folder))
    }

    /// Adds the deletion of a file, or of all files of a folder.
    fn deleted(&mut self, path: &str, is_ignored: bool) {
        self.entries += 1;
        let at = self.root.path().join(path);
        let Ok(meta) = fs::symlink_metadata(&at) else { return self.compare(path, Ok(None)) };
        self.can_be_undone &= meta.is_file() && is_plain(&meta);
        if !meta.is_dir() {
            return self.compare(path, Ok(None));
        }
        self.rules.enter(path);
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let below = format!("{path}/{name}");
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if self.entries <= MAX_ENTRIES && !self.is_product(&below, is_folder, is_ignored) {
                let is_ignored = is_ignored || self.rules.ignores(&below, is_folder);
                self.deleted(&below, is_ignored);
            }
        }
    }

    /// Adds the differences between a copy and the repository.
    fn copy(&mut self, copy: &Path) {
        let Ok(copied) = Root::at(copy) else { return };
        let listed = |root: &Root| {
            let listing = rhumb_workspace::files(root, &AtomicBool::new(false), &mut |_| {});
            listing.files.into_iter().map(|entry| entry.path).collect::<Vec<String>>()
        };
        for path in listed(&copied).into_iter().chain(listed(self.root)) {
            self.compare(&path, read(&copy.join(&path)));
        }
    }

    fn compare(&mut self, path: &str, after: Result<Content, TooLarge>) {
        let before = match self.expected.get(path) {
            Some(content) => Ok((*content).clone()),
            None => read(&self.root.path().join(path)),
        };
        match (before, after) {
            (Ok(before), Ok(after)) if before == after => {}
            (Ok(_), Ok(_)) if is_hidden(self.root, path) => self.hidden.push(path.to_owned()),
            (Ok(before), Ok(after)) => {
                self.files.insert(path.to_owned(), (before, after));
            }
            _ => self.can_be_undone = false,
        }
    }
}

/// Whether the next run can write or delete such an entry: a folder, or a file that is read.
fn is_plain(meta: &fs::Metadata) -> bool {
    meta.is_dir() || (meta.is_file() && meta.len() <= MAX_FILE_BYTES)
}

/// Whether two entries differ in their content alone.
fn is_alike(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    let has_same_form = one.file_type() == other.file_type() && one.permissions() == other.permissions();
    has_same_form && is_plain(one) && is_plain(other)
}

/// A file has more than [`MAX_FILE_BYTES`].
struct TooLarge;

/// The content of a file; `None` if there is none.
fn read(path: &Path) -> Result<Content, TooLarge> {
    let Some(meta) = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file) else { return Ok(None) };
    if meta.len() > MAX_FILE_BYTES {
        return Err(TooLarge);
    }
    Ok(fs::read(path).ok().map(Into::into))
}

/// Whether an entry of an upper layer marks a deleted file: a character device with the number 0.
fn is_whiteout(meta: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
        meta.file_type().is_char_device() && meta.rdev() == 0
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        false
    }
}

/// Whether a folder of an upper layer hides the folder below it.
fn is_opaque(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        let mut value = [0u8; 1];
        rustix::fs::getxattr(folder, "user.overlay.opaque", &mut value[..])
            .is_ok_and(|length| length == 1 && value == *b"y")
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

/// The files of the repository that were modified, moved or deleted since `began`, at most [`MAX_STALE`]. Deleted files are found if git
/// tracks them.
pub(crate) fn stale(root: &Root, began: SystemTime) -> Vec<String> {
    let listing = rhumb_workspace::files(root, &AtomicBool::new(false), &mut |_| {});
    let since = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let since = (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos());
    let changed_at = |path: &str| fs::symlink_metadata(root.path().join(path)).ok().map(|meta| last_change(&meta));
    let mut folders = HashMap::new();
    let mut stale = BTreeSet::new();
    for file in &listing.files {
        // A file that was moved keeps its modification time, but its folder has changed.
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_folder_changed = *folders.entry(folder).or_insert_with(|| changed_at(folder) > Some(since));
        if file.modified > since || (is_folder_changed && changed_at(&file.path) > Some(since)) {
            stale.insert(file.path.clone());
        }
    }
    let repository = Repo::open(root.path()).ok().flatten();
    let unlisted = repository.and_then(|repository| repository.tracked_outside(&listing.files).ok());
    for path in unlisted.unwrap_or_default() {
        // The deletion changed the folder that is left.
        let mut changes = Path::new(&path).ancestors().filter_map(|path| changed_at(path.to_str()?));
        if changed_at(&path).is_none() && changes.next() > Some(since) {
            stale.insert(path);
        }
    }
    stale.into_iter().take(MAX_STALE).collect()
}
