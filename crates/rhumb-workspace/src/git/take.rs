//! What files hold at a moment, taken into the object store so that it can be committed later: a message may be a while in
//! coming, and what is typed meanwhile must not get into the commit.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path};

use git2::{AttrCheckFlags, Index, IndexEntry, IndexTime, Oid};

use super::error::GitError;
use super::repo::Repo;
use crate::ContentHash;

/// File modes as git stores them.
const MODE_FILE: u32 = 0o100_644;
const MODE_EXECUTABLE: u32 = 0o100_755;
const MODE_LINK: u32 = 0o120_000;
const MODE_SUBMODULE: u32 = 0o160_000;

/// The bit of an index entry whose file a sparse checkout leaves out of the work tree.
pub(super) const SKIP_WORKTREE: u16 = 1 << 14;

/// What an entry of a tree or of the index holds, and its mode.
pub(super) type Held = (Oid, u32);

/// What was just written to a file; `None` if it was deleted.
type Written = Option<ContentHash>;

/// What becomes of one path in a commit.
#[derive(Debug)]
pub(super) struct Change {
    /// From the top of the work tree.
    pub(super) path: String,
    /// What HEAD has there when the commit is made, if nobody came in between.
    pub(super) in_head: Option<Held>,
    /// What the index has there, likewise.
    pub(super) in_index: Option<Held>,
    /// What the commit puts there; `None` to remove it.
    pub(super) after: Option<IndexEntry>,
}

impl Change {
    /// What the commit puts there.
    pub(super) fn held_after(&self) -> Option<Held> {
        self.after.as_ref().map(held)
    }
}

/// Where HEAD was when something was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The branch by its full name; `None` for none.
    pub(super) branch: Option<String>,
    pub(super) tip: Option<Oid>,
}

/// What some paths held at a moment, ready to be committed.
#[derive(Debug)]
pub struct Taken {
    pub(super) changes: Vec<Change>,
    pub(super) mark: Mark,
    /// New files that git ignores.
    pub(super) ignored: Vec<String>,
    /// Paths that cannot be committed to this repository, each with the reason.
    pub(super) refused: Vec<GitError>,
}

impl Taken {
    /// Whether there is nothing to commit in it.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| change.held_after() == change.in_head)
    }

    fn of(&self, path: &str) -> Option<&Change> {
        self.changes.iter().find(|change| change.path == path)
    }
}

/// What is in the way of one path.
enum Obstacle {
    Ignored,
    Refused(GitError),
}

impl From<GitError> for Obstacle {
    fn from(error: GitError) -> Self {
        Self::Refused(error)
    }
}

impl Repo {
    /// Takes the content that `paths` have in the work tree now, deletions included. With `on`, the commit of that one comes
    /// before. Paths that cannot be committed are remembered with the reason and hold the others up in nothing.
    ///
    /// # Errors
    /// HEAD or the index cannot be read, or the object store not be written.
    pub fn take(&self, paths: &[String], on: Option<&Taken>) -> Result<Taken, GitError> {
        self.take_each(paths.iter().map(|path| (path, None)), on)
    }

    /// As [`take`](Self::take), of files that were just written, each with the hash of its content, or none if it was
    /// deleted: one that somebody else has written since is refused, so that nothing of theirs is taken along.
    ///
    /// # Errors
    /// HEAD or the index cannot be read.
    pub fn take_written(&self, files: &[(String, Option<ContentHash>)], on: Option<&Taken>) -> Result<Taken, GitError> {
        self.take_each(files.iter().map(|(path, hash)| (path, Some(*hash))), on)
    }

    fn take_each<'p>(
        &self,
        files: impl Iterator<Item = (&'p String, Option<Written>)>,
        on: Option<&Taken>,
    ) -> Result<Taken, GitError> {
        let real = self.inner.index().map_err(GitError::when("read the index"))?;
        let head = in_memory(self.parent()?.as_ref())?;
        let mut taken = Taken { changes: Vec::new(), mark: self.mark()?, ignored: Vec::new(), refused: Vec::new() };
        for (path, written) in files {
            match self.change((path, written), &head, &real, on) {
                Ok(change) => taken.changes.push(change),
                Err(Obstacle::Ignored) => taken.ignored.push(path.clone()),
                // The object store fails, for example on a full disk: a commit of the other files alone would be half of the change.
                Err(Obstacle::Refused(error @ GitError::Git { .. })) => return Err(error),
                Err(Obstacle::Refused(error)) => taken.refused.push(error),
            }
        }
        Ok(taken)
    }

    /// Takes what is staged; what it is against HEAD, file by file.
    ///
    /// # Errors
    /// HEAD or the index cannot be read, or the index holds conflicts.
    pub fn take_staged(&self) -> Result<Taken, GitError> {
        let failed = GitError::when("read the index");
        let index = self.inner.index().map_err(failed)?;
        if let Some(conflict) = index.conflicts().map_err(failed)?.flatten().next() {
            let entry = conflict.our.or(conflict.their).or(conflict.ancestor);
            let path = entry.map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).unwrap_or_default();
            return Err(GitError::Conflict { path });
        }
        let parent = self.parent()?;
        let tree = parent.as_ref().map(git2::Commit::tree).transpose().map_err(GitError::when("read HEAD"))?;
        let head = in_memory(parent.as_ref())?;
        let diff = self.inner.diff_tree_to_index(tree.as_ref(), Some(&index), None).map_err(failed)?;
        let mut changes = Vec::new();
        for delta in diff.deltas() {
            let file = if delta.new_file().path().is_some() { delta.new_file() } else { delta.old_file() };
            let Some(path) = file.path().and_then(|path| path.to_str()) else { continue };
            let staged = index.get_path(Path::new(path), 0);
            let in_index = staged.as_ref().map(held);
            changes.push(Change { path: path.to_owned(), in_head: holds(&head, path), in_index, after: staged });
        }
        Ok(Taken { changes, mark: self.mark()?, ignored: Vec::new(), refused: Vec::new() })
    }

    /// Where HEAD is.
    pub(super) fn mark(&self) -> Result<Mark, GitError> {
        let failed = GitError::when("read HEAD");
        let head = self.inner.find_reference("HEAD").map_err(failed)?;
        let branch = head.symbolic_target_bytes().map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(Mark { branch, tip: self.parent()?.map(|commit| commit.id()) })
    }

    fn change(
        &self,
        (path, written): (&str, Option<Written>),
        head: &Index,
        real: &Index,
        on: Option<&Taken>,
    ) -> Result<Change, Obstacle> {
        let full = self.to_top(path);
        self.check(path, &full, head, real)?;
        let before = on.and_then(|on| on.of(&full));
        let in_head = before.map_or_else(|| holds(head, &full), Change::held_after);
        let in_index = before.map_or_else(|| holds(real, &full), Change::held_after);
        let known = real.get_path(Path::new(&full), 0).or_else(|| head.get_path(Path::new(&full), 0));
        let mode = in_head.or(in_index).map(|(_, mode)| mode);
        let disk = self.top.join(&full);
        let after = match fs::symlink_metadata(&disk) {
            Err(error) if missing(&error) => None,
            // A folder has taken the place of a file.
            Ok(meta) if meta.is_dir() && mode.is_some_and(|mode| mode != MODE_SUBMODULE) => None,
            Err(source) => return Err(GitError::Read { path: path.to_owned(), source }.into()),
            Ok(_) if known.is_none() && before.is_none() && self.inner.is_path_ignored(&full).unwrap_or(false) => {
                return Err(Obstacle::Ignored);
            }
            Ok(meta) => Some(self.entry((path, written), full.clone(), &disk, &meta, mode)?),
        };
        // What was written is not there any more, or what was deleted is there again.
        if written.is_some_and(|hash| hash.is_some() != after.is_some()) {
            return Err(GitError::Rewritten { path: path.to_owned() }.into());
        }
        Ok(Change { path: full, in_head, in_index, after })
    }

    /// Whether a path may be committed here at all.
    fn check(&self, path: &str, full: &str, head: &Index, real: &Index) -> Result<(), GitError> {
        let refused = |reason| Err(GitError::Path { path: path.to_owned(), reason });
        let plain = |part: Component<'_>| matches!(part, Component::Normal(name) if name != ".git");
        if path.is_empty() || path.contains('\0') || !Path::new(path).components().all(plain) {
            return refused("it is not a plain path inside the work tree");
        }
        for folder in Path::new(full).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            let disk = self.top.join(folder);
            let nested = disk.join(".git").symlink_metadata().is_ok();
            if nested || is_submodule(head, folder) || is_submodule(real, folder) {
                return refused("it belongs to another repository inside this one");
            }
            if disk.is_symlink() {
                return refused("its folder is a link");
            }
        }
        if (1..=3).any(|stage| real.get_path(Path::new(full), stage).is_some()) {
            return Err(GitError::Conflict { path: path.to_owned() });
        }
        // Its content in HEAD is not what somebody saw who wrote it anew.
        if real.get_path(Path::new(full), 0).is_some_and(|entry| entry.flags_extended & SKIP_WORKTREE != 0) {
            return refused("the sparse checkout leaves it out of the work tree");
        }
        if let Some(filter) = self.attribute(full, "filter") {
            return Err(GitError::Filtered { path: path.to_owned(), filter });
        }
        match self.attribute(full, "working-tree-encoding").filter(|encoding| !is_utf8(encoding)) {
            Some(encoding) => Err(GitError::Encoded { path: path.to_owned(), encoding }),
            None => Ok(()),
        }
    }

    /// What the attributes name for a path under `name`.
    fn attribute(&self, full: &str, name: &str) -> Option<String> {
        let value = self.inner.get_attr(Path::new(full), name, AttrCheckFlags::default()).ok()??;
        let named = git2::AttrValue::from_string(Some(value)) == git2::AttrValue::String(value);
        named.then(|| value.to_owned())
    }

    /// The index entry for a file on disk, whose content goes into the object store.
    fn entry(
        &self,
        (path, written): (&str, Option<Written>),
        full: String,
        disk: &Path,
        meta: &fs::Metadata,
        tracked: Option<u32>,
    ) -> Result<IndexEntry, GitError> {
        let stored = |result: Result<Oid, git2::Error>| result.map_err(GitError::when("store a file"));
        if written.is_some() && !meta.is_file() {
            return Err(GitError::Rewritten { path: path.to_owned() });
        }
        let (id, mode) = if meta.is_symlink() {
            let target = fs::read_link(disk).map_err(|source| GitError::Read { path: path.to_owned(), source })?;
            (stored(self.inner.blob(target.as_os_str().as_encoded_bytes()))?, MODE_LINK)
        } else if meta.is_file() {
            let id = match written {
                Some(hash) => self.store_written(path, &full, disk, hash)?,
                None => stored(self.inner.blob_path(disk))?,
            };
            (id, self.file_mode(meta, tracked))
        } else {
            return Err(GitError::Path { path: path.to_owned(), reason: "it is not a regular file" });
        };
        Ok(index_entry(full, id, mode, meta))
    }

    /// Stores what a file holds, provided that it is what was written. The bytes that are compared are those that are stored.
    fn store_written(&self, path: &str, full: &str, disk: &Path, written: Written) -> Result<Oid, GitError> {
        let bytes = fs::read(disk).map_err(|source| GitError::Read { path: path.to_owned(), source })?;
        if written != Some(ContentHash::of(&bytes)) {
            return Err(GitError::Rewritten { path: path.to_owned() });
        }
        let failed = GitError::when("store a file");
        // With the path it stores what the attributes of that path make of the bytes.
        let mut writer = self.inner.blob_writer(Some(Path::new(full))).map_err(failed)?;
        let wrote = writer.write_all(&bytes);
        wrote.map_err(|error| failed(git2::Error::from_str(&error.to_string())))?;
        writer.commit().map_err(failed)
    }

    /// Where the file system does not keep the executable bit (`core.fileMode` is false), the recorded mode counts.
    fn file_mode(&self, meta: &fs::Metadata, tracked: Option<u32>) -> u32 {
        let config = self.inner.config().and_then(|mut config| config.snapshot());
        let trusted = config.and_then(|config| config.get_bool("core.filemode")).unwrap_or(true);
        match tracked {
            Some(mode @ (MODE_FILE | MODE_EXECUTABLE)) if !trusted => mode,
            _ if trusted && is_executable(meta) => MODE_EXECUTABLE,
            _ => MODE_FILE,
        }
    }
}

/// An index that is on no disk, with the files of a commit; empty for none.
pub(super) fn in_memory(commit: Option<&git2::Commit<'_>>) -> Result<Index, GitError> {
    let failed = GitError::when("read HEAD");
    let mut index = Index::new().map_err(failed)?;
    if let Some(commit) = commit {
        index.read_tree(&commit.tree().map_err(failed)?).map_err(failed)?;
    }
    Ok(index)
}

/// Makes the changes in an index.
pub(super) fn apply(index: &mut Index, changes: &[&Change]) -> Result<(), GitError> {
    let failed = GitError::when("change the index");
    // Removals first: a file may make way for a folder of its name.
    for change in changes.iter().filter(|change| change.after.is_none()) {
        if index.get_path(Path::new(&change.path), 0).is_some() {
            index.remove(Path::new(&change.path), 0).map_err(failed)?;
        }
    }
    for entry in changes.iter().filter_map(|change| change.after.as_ref()) {
        index.add(entry).map_err(failed)?;
    }
    Ok(())
}

/// What an index holds at a path.
pub(super) fn holds(index: &Index, path: &str) -> Option<Held> {
    index.get_path(Path::new(path), 0).as_ref().map(held)
}

fn held(entry: &IndexEntry) -> Held {
    (entry.id, entry.mode)
}

fn is_submodule(index: &Index, folder: &Path) -> bool {
    index.get_path(folder, 0).is_some_and(|entry| entry.mode == MODE_SUBMODULE)
}

/// As git compares the names of encodings; what is UTF-8 in the work tree is stored as it is.
fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8"].iter().any(|name| encoding.eq_ignore_ascii_case(name))
}

/// Also when a folder on the way has become a file.
fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(unix)]
fn is_executable(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_meta: &fs::Metadata) -> bool {
    false
}

/// The file's times and numbers let the next `git status` see at a glance that it is unchanged. The index keeps the low
/// 32 bits of each.
#[cfg(unix)]
fn index_entry(path: String, id: Oid, mode: u32, meta: &fs::Metadata) -> IndexEntry {
    use std::os::unix::fs::MetadataExt;
    IndexEntry {
        ctime: IndexTime::new(meta.ctime() as i32, meta.ctime_nsec() as u32),
        mtime: IndexTime::new(meta.mtime() as i32, meta.mtime_nsec() as u32),
        dev: meta.dev() as u32,
        ino: meta.ino() as u32,
        uid: meta.uid(),
        gid: meta.gid(),
        file_size: meta.len() as u32,
        ..bare_entry(path, id, mode)
    }
}

#[cfg(not(unix))]
fn index_entry(path: String, id: Oid, mode: u32, meta: &fs::Metadata) -> IndexEntry {
    IndexEntry { file_size: meta.len() as u32, ..bare_entry(path, id, mode) }
}

/// An index entry that says nothing of the file on disk: git looks for itself.
pub(super) fn bare_entry(path: String, id: Oid, mode: u32) -> IndexEntry {
    let zero = IndexTime::new(0, 0);
    IndexEntry {
        ctime: zero,
        mtime: zero,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.into_bytes(),
    }
}
