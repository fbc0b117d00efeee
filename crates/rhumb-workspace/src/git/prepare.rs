//! Content that is stored in the object store now, so that it can be committed later.
//!
//! A commit message may take a while to arrive. Changes that the user makes in the meantime must not become part of the commit.

use super::error::GitError;
use super::repo::Repo;
use crate::ContentHash;
use git2::{AttrCheckFlags, Index, IndexEntry, IndexTime, Oid};
use git2::{DiffOptions, Patch};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path};

/// File modes in git trees.
const MODE_FILE: u32 = 0o100_644;
const MODE_EXECUTABLE: u32 = 0o100_755;
const MODE_LINK: u32 = 0o120_000;
const MODE_SUBMODULE: u32 = 0o160_000;

/// Flag of an index entry that a sparse checkout omits from the work tree.
const SKIP_WORKTREE: u16 = 1 << 14;

/// Flag of an index entry without staged content, as `git add --intent-to-add` creates it.
const INTENT_TO_ADD: u16 = 1 << 13;

/// Object id and mode of an entry in a tree or in the index.
pub(crate) type ObjectEntry = (Oid, u32);

/// Hash of the content that was just written to a file, or `None` if the file was deleted.
type Written = Option<ContentHash>;

/// The change of one path in a commit.
#[derive(Debug)]
pub(crate) struct Change {
    /// Path relative to the top of the work tree.
    pub(crate) path: String,
    /// Expected entry in HEAD at the time of the commit.
    pub(crate) in_head: Option<ObjectEntry>,
    /// Expected entry in the index at the time of the commit.
    pub(crate) in_index: Option<ObjectEntry>,
    /// The new entry, or `None` to remove the path.
    pub(crate) after: Option<IndexEntry>,
}

impl Change {
    pub(crate) fn entry_after(&self) -> Option<ObjectEntry> {
        self.after.as_ref().map(object_entry)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadPosition {
    /// Full name of the branch, or `None` for a detached HEAD.
    pub(crate) branch: Option<String>,
    pub(crate) tip: Option<Oid>,
}

/// Content of some paths, ready to be committed with [`Repo::commit`].
#[derive(Debug)]
pub struct PreparedCommit {
    pub(crate) changes: Vec<Change>,
    pub(crate) head: HeadPosition,
    pub(crate) ignored: Vec<String>,
    /// Paths that cannot be committed, each with the reason.
    pub(crate) refused: Vec<GitError>,
}

impl PreparedCommit {
    /// Returns whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| change.entry_after() == change.in_head)
    }

    fn of(&self, path: &str) -> Option<&Change> {
        self.changes.iter().find(|change| change.path == path)
    }
}

/// Why a path is left out.
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
    /// Stores the present content of `paths` in the work tree, deletions included.
    ///
    /// With `on`, the result is to be committed after that one. Paths that cannot be committed are reported in the
    /// result and do not affect the others.
    ///
    /// # Errors
    /// HEAD or the index cannot be read, or the object store cannot be written.
    pub fn prepare(&self, paths: &[String], on: Option<&PreparedCommit>) -> Result<PreparedCommit, GitError> {
        self.prepare_each(paths.iter().map(|path| (path, None)), on)
    }

    /// Like [`Repo::prepare`], for files that were just written. Each has the hash of its content, or `None` if it
    /// was deleted. A file that someone else has changed since is refused, so that no foreign change is committed.
    ///
    /// # Errors
    /// HEAD or the index cannot be read, or the object store cannot be written.
    pub fn prepare_written(
        &self,
        files: &[(String, Option<ContentHash>)],
        on: Option<&PreparedCommit>,
    ) -> Result<PreparedCommit, GitError> {
        self.prepare_each(files.iter().map(|(path, hash)| (path, Some(*hash))), on)
    }

    fn prepare_each<'p>(
        &self,
        files: impl Iterator<Item = (&'p String, Option<Written>)>,
        on: Option<&PreparedCommit>,
    ) -> Result<PreparedCommit, GitError> {
        let real = self.inner.index().map_err(GitError::when("read the index"))?;
        let head = in_memory(self.parent()?.as_ref())?;
        let mut prepared = PreparedCommit {
            changes: Vec::new(),
            head: self.head_position()?,
            ignored: Vec::new(),
            refused: Vec::new(),
        };
        for (path, written) in files {
            match self.change((path, written), &head, &real, on) {
                Ok(change) => prepared.changes.push(change),
                Err(Obstacle::Ignored) => prepared.ignored.push(path.clone()),
                // The object store failed, for example on a full disk. A commit of the other files alone would be
                // incomplete.
                Err(Obstacle::Refused(error @ GitError::Git { .. })) => return Err(error),
                Err(Obstacle::Refused(error)) => prepared.refused.push(error),
            }
        }
        Ok(prepared)
    }

    /// Prepares a commit of everything that is staged.
    ///
    /// # Errors
    /// HEAD or the index cannot be read, or the index has conflicts.
    pub fn prepare_staged(&self) -> Result<PreparedCommit, GitError> {
        let failed = GitError::when("read the index");
        let index = self.inner.index().map_err(failed)?;
        if let Some(conflict) = index.conflicts().map_err(failed)?.flatten().next() {
            let entry = conflict.our.or(conflict.their).or(conflict.ancestor);
            let path = entry.map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).unwrap_or_default();
            return Err(GitError::Conflict(path));
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
            if staged.as_ref().is_some_and(is_intent_to_add) {
                continue;
            }
            let in_index = staged.as_ref().map(object_entry);
            changes.push(Change { path: path.to_owned(), in_head: entry_at(&head, path), in_index, after: staged });
        }
        Ok(PreparedCommit { changes, head: self.head_position()?, ignored: Vec::new(), refused: Vec::new() })
    }

    pub(crate) fn head_position(&self) -> Result<HeadPosition, GitError> {
        let failed = GitError::when("read HEAD");
        let head = self.inner.find_reference("HEAD").map_err(failed)?;
        let branch = head.symbolic_target_bytes().map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(HeadPosition { branch, tip: self.parent()?.map(|commit| commit.id()) })
    }

    fn change(
        &self,
        (path, written): (&str, Option<Written>),
        head: &Index,
        real: &Index,
        on: Option<&PreparedCommit>,
    ) -> Result<Change, Obstacle> {
        let full = self.to_top(path);
        self.check(path, &full, head, real)?;
        let before = on.and_then(|on| on.of(&full));
        let in_head = before.map_or_else(|| entry_at(head, &full), Change::entry_after);
        let in_index = before.map_or_else(|| entry_at(real, &full), Change::entry_after);
        let known = real.get_path(Path::new(&full), 0).or_else(|| head.get_path(Path::new(&full), 0));
        let mode = in_head.or(in_index).map(|(_, mode)| mode);
        let disk = self.top.join(&full);
        let after = match fs::symlink_metadata(&disk) {
            Err(error) if missing(&error) => None,
            // A folder replaced a file.
            Ok(meta) if meta.is_dir() && mode.is_some_and(|mode| mode != MODE_SUBMODULE) => None,
            Err(source) => return Err(GitError::Read { path: path.to_owned(), source }.into()),
            Ok(_) if known.is_none() && before.is_none() && self.inner.is_path_ignored(&full).unwrap_or(false) => {
                return Err(Obstacle::Ignored);
            }
            Ok(meta) => Some(self.entry((path, written), full.clone(), &disk, &meta, mode)?),
        };
        // The written file was deleted, or the deleted file exists again.
        if written.is_some_and(|hash| hash.is_some() != after.is_some()) {
            return Err(GitError::Rewritten(path.to_owned()).into());
        }
        Ok(Change { path: full, in_head, in_index, after })
    }

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
            return Err(GitError::Conflict(path.to_owned()));
        }
        // Its content in HEAD is not what was on disk when it was written.
        if is_sparse(real, Path::new(full)) {
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

    fn attribute(&self, full: &str, name: &str) -> Option<String> {
        let value = self.inner.get_attr(Path::new(full), name, AttrCheckFlags::default()).ok()??;
        let named = git2::AttrValue::from_string(Some(value)) == git2::AttrValue::String(value);
        named.then(|| value.to_owned())
    }

    /// Stores the content of a file in the object store and returns its index entry.
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
            return Err(GitError::Rewritten(path.to_owned()));
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

    /// Stores the content of a file if it is what was written. Reads the file once, so that the compared bytes are
    /// the stored bytes.
    fn store_written(&self, path: &str, full: &str, disk: &Path, written: Written) -> Result<Oid, GitError> {
        let bytes = fs::read(disk).map_err(|source| GitError::Read { path: path.to_owned(), source })?;
        if written != Some(ContentHash::of(&bytes)) {
            return Err(GitError::Rewritten(path.to_owned()));
        }
        let failed = GitError::when("store a file");
        // Given the path, libgit2 applies the conversions that the attributes request.
        let mut writer = self.inner.blob_writer(Some(Path::new(full))).map_err(failed)?;
        let wrote = writer.write_all(&bytes);
        wrote.map_err(|error| failed(git2::Error::from_str(&error.to_string())))?;
        writer.commit().map_err(failed)
    }

    /// Returns the mode of a file. If the file system does not keep the executable bit (`core.fileMode` is false),
    /// the recorded mode is used.
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

pub(crate) fn in_memory(commit: Option<&git2::Commit<'_>>) -> Result<Index, GitError> {
    let failed = GitError::when("read HEAD");
    let mut index = Index::new().map_err(failed)?;
    if let Some(commit) = commit {
        index.read_tree(&commit.tree().map_err(failed)?).map_err(failed)?;
    }
    Ok(index)
}

pub(crate) fn apply(index: &mut Index, changes: &[&Change]) -> Result<(), GitError> {
    let failed = GitError::when("change the index");
    // Removals come first, because a file may be replaced by a folder of the same name.
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

pub(crate) fn entry_at(index: &Index, path: &str) -> Option<ObjectEntry> {
    index.get_path(Path::new(path), 0).as_ref().map(object_entry)
}

fn object_entry(entry: &IndexEntry) -> ObjectEntry {
    (entry.id, entry.mode)
}

/// Returns whether a sparse checkout omits the file from the work tree.
pub(crate) fn is_sparse(index: &Index, path: &Path) -> bool {
    index.get_path(path, 0).is_some_and(|entry| entry.flags_extended & SKIP_WORKTREE != 0)
}

/// Returns whether only the name of the file is in the index. Its content is not staged.
pub(crate) fn is_intent_to_add(entry: &IndexEntry) -> bool {
    entry.flags_extended & INTENT_TO_ADD != 0
}

fn is_submodule(index: &Index, folder: &Path) -> bool {
    index.get_path(folder, 0).is_some_and(|entry| entry.mode == MODE_SUBMODULE)
}

/// Compares encoding names like git does. Files that are UTF-8 in the work tree are stored unchanged.
fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8"].iter().any(|name| encoding.eq_ignore_ascii_case(name))
}

/// Returns whether a file is missing, possibly because a folder on the way is a file now.
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

/// Creates an index entry with the times and numbers of the file, by which the next `git status` sees that it is
/// unchanged. The index stores the low 32 bits of each.
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

/// Creates an index entry without file times. Git compares the content when needed.
pub(crate) fn bare_entry(path: String, id: Oid, mode: u32) -> IndexEntry {
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

/// Maximum size in bytes of a file whose text is returned.
const MAX_TEXT_BYTES: i64 = 1 << 20;

/// The diff of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// Path relative to the top of the work tree.
    pub path: String,
    /// Unified diff with its header.
    pub text: String,
}

/// The text of one file before and after a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTexts {
    /// Path relative to the top of the work tree.
    pub path: String,
    /// Earlier path, if a file of the same content was deleted there.
    pub renamed_from: Option<String>,
    /// `None` if the file did not exist. Empty if it is not UTF-8 or larger than 1 MiB.
    pub before: Option<String>,
    /// `None` if the file is deleted. Otherwise like `before`.
    pub after: Option<String>,
}

impl Repo {
    /// Returns the files that the commit changes.
    pub fn texts(&self, prepared: &PreparedCommit) -> Vec<FileTexts> {
        let changes: Vec<&Change> =
            prepared.changes.iter().filter(|change| change.entry_after() != change.in_head).collect();
        let content = |held: Option<ObjectEntry>| held.map(|(id, _)| id);
        let gone = |change: &&&Change| change.after.is_none();
        // The deleted file with the content of a new file: it was renamed.
        let source = |change: &Change| {
            let is_source = |gone: &&&Change| content(gone.in_head) == content(change.entry_after());
            change.in_head.is_none().then(|| changes.iter().filter(gone).find(is_source)).flatten()
        };
        let sources: Vec<&str> = changes.iter().filter_map(|change| Some(source(change)?.path.as_str())).collect();
        let kept = changes.iter().filter(|change| change.after.is_some() || !sources.contains(&change.path.as_str()));
        let text = |(id, _): ObjectEntry| {
            let blob = self.inner.find_blob(id).ok();
            let blob = blob.filter(|blob| i64::try_from(blob.size()).is_ok_and(|size| size <= MAX_TEXT_BYTES));
            blob.and_then(|blob| String::from_utf8(blob.content().to_vec()).ok()).unwrap_or_default()
        };
        kept.map(|change| {
            let source = source(change);
            FileTexts {
                path: change.path.clone(),
                renamed_from: source.map(|source| source.path.clone()),
                before: source.map_or(change.in_head, |source| source.in_head).map(text),
                after: change.entry_after().map(text),
            }
        })
        .collect()
    }

    /// Returns the diff of the commit, file by file. With `on`, that commit comes first.
    ///
    /// # Errors
    /// HEAD cannot be read, or the object store cannot be written.
    pub fn patches(&self, prepared: &PreparedCommit, on: Option<&PreparedCommit>) -> Result<Vec<FilePatch>, GitError> {
        let failed = GitError::when("compare the files");
        let mut index = in_memory(self.parent()?.as_ref())?;
        if let Some(on) = on {
            apply(&mut index, &on.changes.iter().collect::<Vec<_>>())?;
        }
        let before = index.write_tree_to(&self.inner).map_err(failed)?;
        apply(&mut index, &prepared.changes.iter().collect::<Vec<_>>())?;
        let after = index.write_tree_to(&self.inner).map_err(failed)?;
        let tree = |id| self.inner.find_tree(id).map_err(failed);
        let mut options = DiffOptions::new();
        options.max_size(MAX_TEXT_BYTES);
        let diff = self.inner.diff_tree_to_tree(Some(&tree(before)?), Some(&tree(after)?), Some(&mut options));
        let diff = diff.map_err(failed)?;
        let mut patches = Vec::new();
        for at in 0..diff.deltas().len() {
            let Some(mut patch) = Patch::from_diff(&diff, at).map_err(failed)? else { continue };
            let text = String::from_utf8_lossy(&patch.to_buf().map_err(failed)?).into_owned();
            let delta = patch.delta();
            let path = delta.new_file().path().or_else(|| delta.old_file().path());
            let path = path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
            patches.push(FilePatch { path, text });
        }
        Ok(patches)
    }
}
