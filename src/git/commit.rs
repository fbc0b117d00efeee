//! A commit of some files, and of nothing else.
//!
//! The tree is built in memory from HEAD's tree, so what the user has staged or left unstaged in other files is neither
//! committed nor lost. Afterwards only the entries of the committed files change in the real index.

use std::fs;
use std::io;
use std::path::{Component, Path};
use std::time::Duration;

use git2::{AttrCheckFlags, ErrorCode, Index, IndexEntry, IndexTime, Oid};

use super::error::GitError;
use super::repo::{Repo, short_id};

/// File modes as git stores them.
const MODE_FILE: u32 = 0o100_644;
const MODE_EXECUTABLE: u32 = 0o100_755;
const MODE_LINK: u32 = 0o120_000;
const MODE_SUBMODULE: u32 = 0o160_000;

/// While waiting for a lock, how often to look.
const LOCK_POLL: Duration = Duration::from_millis(50);

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Abbreviated commit id.
    pub short_id: String,
    /// New files that were left out because git ignores them.
    pub left_out: Vec<String>,
    /// The index could not be brought up to date: `git status` shows the files as changed until `git reset` is run.
    pub index_is_behind: bool,
}

/// What becomes of one path in the commit.
enum Change {
    Put(IndexEntry),
    Remove(String),
}

impl Repo {
    /// Commits the content that `paths` have in the work tree now, deletions included, on top of HEAD or as the first
    /// commit. The rest of the user's index stays as it was. Refused while a merge or the like is under way and while
    /// another git process holds the index; waits up to two seconds for the latter. No hook is run and nothing is
    /// signed.
    pub fn commit_paths(&self, paths: &[String], message: &str) -> Result<Commit, GitError> {
        if let Some(operation) = self.state() {
            return Err(GitError::InProgress { operation });
        }
        let message = &git2::message_prettify(message, None).unwrap_or_default();
        if message.is_empty() {
            return Err(GitError::EmptyMessage);
        }
        self.identity()?;
        self.wait_for_lock()?;

        let mut real = self.inner.index().map_err(GitError::when("read the index"))?;
        let parent = self.parent()?;
        let mut index = in_memory(parent.as_ref())?;
        let (changes, left_out) = self.changes(paths, &index, &real)?;
        apply(&mut index, &changes)?;
        let id = self.commit_tree(&mut index, parent.as_ref(), message)?;

        // The commit stands from here on, so a failure is told and not returned.
        let index_is_behind = apply(&mut real, &changes).is_err() || real.write().is_err();
        let short_id = self.inner.find_commit(id).ok().and_then(|made| short_id(&made).ok());
        Ok(Commit { short_id: short_id.unwrap_or_else(|| id.to_string()), left_out, index_is_behind })
    }

    fn commit_tree(
        &self,
        index: &mut Index,
        parent: Option<&git2::Commit<'_>>,
        message: &str,
    ) -> Result<Oid, GitError> {
        let (author, committer) = self.identity()?;
        let tree = index.write_tree_to(&self.inner).map_err(GitError::when("write a tree"))?;
        if parent.map(git2::Commit::tree_id) == Some(tree) || (parent.is_none() && index.is_empty()) {
            return Err(GitError::NothingToCommit);
        }
        let tree = self.inner.find_tree(tree).map_err(GitError::when("read a tree"))?;
        let parents: Vec<&git2::Commit<'_>> = parent.into_iter().collect();
        self.inner
            .commit(Some("HEAD"), &author, &committer, message, &tree, &parents)
            .map_err(|error| self.commit_refused(error))
    }

    fn identity(&self) -> Result<(git2::Signature<'static>, git2::Signature<'static>), GitError> {
        let unknown = |error: git2::Error| match error.code() {
            ErrorCode::NotFound => GitError::NoIdentity,
            _ => GitError::when("read your name")(error),
        };
        Ok((self.inner.author_from_env().map_err(unknown)?, self.inner.committer_from_env().map_err(unknown)?))
    }

    fn parent(&self) -> Result<Option<git2::Commit<'_>>, GitError> {
        match self.inner.head().and_then(|head| head.peel_to_commit()) {
            Ok(commit) => Ok(Some(commit)),
            Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
            Err(error) => Err(GitError::when("read HEAD")(error)),
        }
    }

    /// The lock is looked at before anything is made, because a commit whose index cannot follow confuses its owner.
    fn wait_for_lock(&self) -> Result<(), GitError> {
        let lock = self.inner.path().join("index.lock");
        let mut waited = Duration::ZERO;
        while let Ok(meta) = fs::symlink_metadata(&lock) {
            if waited >= self.lock_patience {
                let age = meta.modified().ok().and_then(|time| time.elapsed().ok());
                return Err(GitError::Locked { lock, age_seconds: age.map(|age| age.as_secs()) });
            }
            std::thread::sleep(LOCK_POLL);
            waited += LOCK_POLL;
        }
        Ok(())
    }

    fn commit_refused(&self, error: git2::Error) -> GitError {
        if error.code() != ErrorCode::Locked {
            return GitError::when("commit")(error);
        }
        let name = self.inner.find_reference("HEAD").ok();
        let name = name.as_ref().and_then(|head| head.symbolic_target().ok().flatten()).unwrap_or("HEAD");
        GitError::Locked { lock: self.inner.commondir().join(format!("{name}.lock")), age_seconds: None }
    }

    /// What the commit does to each path, and which paths are left out of it.
    fn changes(&self, paths: &[String], head: &Index, real: &Index) -> Result<(Vec<Change>, Vec<String>), GitError> {
        let mut changes = Vec::new();
        let mut left_out = Vec::new();
        for path in paths {
            let full = self.to_top(path);
            self.check(path, &full, head, real)?;
            let tracked = head.get_path(Path::new(&full), 0).or_else(|| real.get_path(Path::new(&full), 0));
            let disk = self.top.join(&full);
            match fs::symlink_metadata(&disk) {
                Err(error) if missing(&error) => changes.push(Change::Remove(full)),
                // A folder has taken the place of a file.
                Ok(meta) if meta.is_dir() && tracked.as_ref().is_some_and(|entry| entry.mode != MODE_SUBMODULE) => {
                    changes.push(Change::Remove(full));
                }
                Err(source) => {
                    return Err(GitError::Read { path: path.clone(), source });
                }
                Ok(_) if tracked.is_none() && self.inner.is_path_ignored(&full).unwrap_or(false) => {
                    left_out.push(path.clone());
                }
                Ok(meta) => changes.push(Change::Put(self.entry(path, full, &disk, &meta, tracked.as_ref())?)),
            }
        }
        Ok((changes, left_out))
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
        match self.filter(full) {
            Some(filter) => Err(GitError::Filtered { path: path.to_owned(), filter }),
            None => Ok(()),
        }
    }

    /// The filter program that the attributes name for a path.
    fn filter(&self, full: &str) -> Option<String> {
        let value = self.inner.get_attr(Path::new(full), "filter", AttrCheckFlags::default()).ok()??;
        let named = git2::AttrValue::from_string(Some(value)) == git2::AttrValue::String(value);
        named.then(|| value.to_owned())
    }

    /// The index entry for a file on disk, whose content goes into the object store.
    fn entry(
        &self,
        path: &str,
        full: String,
        disk: &Path,
        meta: &fs::Metadata,
        tracked: Option<&IndexEntry>,
    ) -> Result<IndexEntry, GitError> {
        let stored = |result: Result<Oid, git2::Error>| result.map_err(GitError::when("store a file"));
        let (id, mode) = if meta.is_symlink() {
            let target = fs::read_link(disk).map_err(|source| GitError::Read { path: path.to_owned(), source })?;
            (stored(self.inner.blob(target.as_os_str().as_encoded_bytes()))?, MODE_LINK)
        } else if meta.is_file() {
            (stored(self.inner.blob_path(disk))?, self.file_mode(meta, tracked))
        } else {
            return Err(GitError::Path { path: path.to_owned(), reason: "it is not a regular file" });
        };
        Ok(index_entry(full, id, mode, meta))
    }

    /// Where the file system does not keep the executable bit (`core.fileMode` is false), the recorded mode counts.
    fn file_mode(&self, meta: &fs::Metadata, tracked: Option<&IndexEntry>) -> u32 {
        let config = self.inner.config().and_then(|mut config| config.snapshot());
        let trusted = config.and_then(|config| config.get_bool("core.filemode")).unwrap_or(true);
        match tracked.map(|entry| entry.mode) {
            Some(mode @ (MODE_FILE | MODE_EXECUTABLE)) if !trusted => mode,
            _ if trusted && is_executable(meta) => MODE_EXECUTABLE,
            _ => MODE_FILE,
        }
    }
}

/// An index that is on no disk, with the files of a commit; empty for none.
fn in_memory(commit: Option<&git2::Commit<'_>>) -> Result<Index, GitError> {
    let failed = GitError::when("read HEAD");
    let mut index = Index::new().map_err(failed)?;
    if let Some(commit) = commit {
        index.read_tree(&commit.tree().map_err(failed)?).map_err(failed)?;
    }
    Ok(index)
}

fn is_submodule(index: &Index, folder: &Path) -> bool {
    index.get_path(folder, 0).is_some_and(|entry| entry.mode == MODE_SUBMODULE)
}

/// Also when a folder on the way has become a file.
fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn apply(index: &mut Index, changes: &[Change]) -> Result<(), GitError> {
    let failed = GitError::when("change the index");
    // Removals first: a file may make way for a folder of its name.
    for change in changes {
        if let Change::Remove(path) = change
            && index.get_path(Path::new(path), 0).is_some()
        {
            index.remove(Path::new(path), 0).map_err(failed)?;
        }
    }
    for change in changes {
        if let Change::Put(entry) = change {
            index.add(entry).map_err(failed)?;
        }
    }
    Ok(())
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
        mode,
        uid: meta.uid(),
        gid: meta.gid(),
        file_size: meta.len() as u32,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.into_bytes(),
    }
}

#[cfg(not(unix))]
fn index_entry(path: String, id: Oid, mode: u32, meta: &fs::Metadata) -> IndexEntry {
    let zero = IndexTime::new(0, 0);
    IndexEntry {
        ctime: zero,
        mtime: zero,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: meta.len() as u32,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.into_bytes(),
    }
}
