//! Uncommitted changes, and the log of a file.

use super::error::GitError;
use super::prepare::{is_intent_to_add, is_sparse};
use super::repo::Repo;
use crate::{FileEntry, find_sorted};
use git2::{Delta, DiffDelta, DiffOptions, Index, Patch};
use git2::{Sort, Status, StatusOptions, StatusShow};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Maximum number of commits that are searched for the last change of a file.
const MAX_LOG_COMMITS: usize = 200;

/// Files that differ from HEAD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UncommittedChanges {
    /// Files that can be committed as they are in the work tree.
    pub whole: Vec<String>,
    /// Files with both staged and unstaged changes. Committing them as they are would commit the unstaged part too.
    pub partly_staged: Vec<String>,
}

impl UncommittedChanges {
    /// Returns whether the file differs from HEAD.
    pub fn holds(&self, path: &str) -> bool {
        self.whole.iter().chain(&self.partly_staged).any(|own| own == path)
    }
}

impl Repo {
    /// Returns those of `paths` that differ from HEAD, in the index or in the work tree. Untracked files are
    /// included, ignored files are not. The index is not written.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn uncommitted_changes(&self, paths: &[String]) -> Result<UncommittedChanges, GitError> {
        let mut own = UncommittedChanges::default();
        if paths.is_empty() {
            return Ok(own);
        }
        // If HEAD cannot be read, all files would appear to be changed.
        self.parent()?.map(|commit| commit.tree()).transpose().map_err(GitError::when("read HEAD"))?;
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false).exclude_submodules(true);
        options.disable_pathspec_match(true);
        let from_top: Vec<String> = paths.iter().map(|path| self.to_top(path)).collect();
        self.check_rules_for(&from_top)?;
        for path in from_top {
            options.pathspec(path);
        }
        let statuses = self.inner.statuses(Some(&mut options)).map_err(GitError::when("read the status"))?;
        let index = self.inner.index().map_err(GitError::when("read the index"))?;
        for entry in statuses.iter() {
            // A file that a sparse checkout omits is not deleted.
            if entry.status() == Status::WT_DELETED && entry.path().is_ok_and(|path| is_sparse(&index, Path::new(path)))
            {
                continue;
            }
            let Some(path) = entry.path().ok().and_then(|path| self.below_folder(path)) else { continue };
            // The path may name a folder, whose other files are not requested.
            if !paths.contains(&path) {
                continue;
            }
            let staged = entry.status().intersects(
                Status::INDEX_NEW
                    | Status::INDEX_MODIFIED
                    | Status::INDEX_DELETED
                    | Status::INDEX_RENAMED
                    | Status::INDEX_TYPECHANGE,
            );
            let unstaged = entry.status().intersects(
                Status::WT_NEW | Status::WT_MODIFIED | Status::WT_DELETED | Status::WT_RENAMED | Status::WT_TYPECHANGE,
            );
            let list = if staged && unstaged { &mut own.partly_staged } else { &mut own.whole };
            list.push(path);
        }
        Ok(own)
    }

    /// Returns whether anything is staged. Entries of `git add --intent-to-add` do not count.
    ///
    /// # Errors
    /// HEAD or the index cannot be read.
    pub fn has_staged(&self) -> Result<bool, GitError> {
        let failed = GitError::when("read the index");
        let tree = self.parent()?.map(|commit| commit.tree()).transpose().map_err(failed)?;
        let diff = self.inner.diff_tree_to_index(tree.as_ref(), None, None).map_err(failed)?;
        let index = self.inner.index().map_err(failed)?;
        let entry = |delta: DiffDelta<'_>| index.get_path(delta.new_file().path()?, 0);
        Ok(diff.deltas().any(|delta| entry(delta).is_none_or(|entry| !is_intent_to_add(&entry))))
    }

    /// Returns the tracked files in the opened folder that differ from the index.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn modified_tracked(&self) -> Result<Vec<String>, GitError> {
        self.check_all_rules()?;
        let mut options = git2::DiffOptions::new();
        options.ignore_submodules(true);
        let diff = self.inner.diff_index_to_workdir(None, Some(&mut options));
        let diff = diff.map_err(GitError::when("read the status"))?;
        let index = self.inner.index().map_err(GitError::when("read the index"))?;
        let path = |delta: DiffDelta<'_>| {
            let file = if delta.new_file().path().is_some() { delta.new_file() } else { delta.old_file() };
            self.below_folder(file.path()?.to_str()?)
        };
        Ok(diff.deltas().filter(|delta| !is_omitted(&index, delta)).filter_map(path).collect())
    }

    /// Returns the files in the opened folder that are neither tracked nor ignored, sorted. A folder without tracked
    /// files is returned as one path with a trailing `/`. The index is not written.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn untracked(&self) -> Result<Vec<String>, GitError> {
        self.check_all_rules()?;
        let mut options = StatusOptions::new();
        options.show(StatusShow::Workdir).include_untracked(true).include_ignored(false).exclude_submodules(true);
        let statuses = self.inner.statuses(Some(&mut options)).map_err(GitError::when("read the status"))?;
        let new = statuses.iter().filter(|entry| entry.status().contains(Status::WT_NEW));
        let mut paths: Vec<String> =
            new.filter_map(|entry| entry.path().ok().and_then(|path| self.below_folder(path))).collect();
        paths.sort();
        Ok(paths)
    }

    /// Returns the first line of the message of the last commit that changed a file. Searches at most 200 commits.
    pub fn subject_of_last_change(&self, path: &str) -> Option<String> {
        let full = self.to_top(path);
        let mut walk = self.inner.revwalk().ok()?;
        walk.push_head().ok()?;
        walk.simplify_first_parent().ok()?;
        walk.set_sorting(Sort::TOPOLOGICAL).ok()?;
        let holds = |commit: &git2::Commit<'_>| {
            let tree = commit.tree().ok()?;
            tree.get_path(Path::new(&full)).ok().map(|entry| (entry.id(), entry.filemode()))
        };
        for id in walk.take(MAX_LOG_COMMITS) {
            let commit = self.inner.find_commit(id.ok()?).ok()?;
            let before = commit.parent(0).ok().and_then(|parent| holds(&parent));
            if before != holds(&commit) {
                return commit.summary_bytes().map(|subject| String::from_utf8_lossy(subject).into_owned());
            }
        }
        None
    }

    /// Returns whether jj uses the same work tree. It imports git commits at its next command.
    pub fn is_shared_with_jj(&self) -> bool {
        self.top.join(".jj").is_dir()
    }
}

/// Maximum number of files that may be considered modified by size and time alone. In a copied work tree all times
/// are new, so beyond this git compares the contents.
const MAX_MTIME_CHANGES: usize = 64;

/// What a comparison of the work tree with the index and HEAD found. The next one compares only what changed since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkTreeStatus {
    /// The checksum of the index, in hexadecimal; empty if it is unknown, and then nothing else is used.
    pub index: String,
    /// The id of HEAD's tree; empty without commits.
    pub head: String,
    /// The files that differ between HEAD and the index, sorted.
    pub staged: Vec<String>,
    /// The files whose content was compared because their times differ from those in the index, sorted by path. In a
    /// copied work tree these are all files, until a git command writes the times.
    pub compared: Vec<ComparedFile>,
}

/// A file that was compared with the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedFile {
    /// The path.
    pub path: String,
    /// The stamp of the file at that time. See [`FileEntry::stamp`].
    pub stamp: u64,
    /// Whether it differs.
    pub edited: bool,
}

impl WorkTreeStatus {
    /// Returns whether a file was found to differ; `None` if it was not compared or has changed since.
    fn was_edited(&self, file: &FileEntry) -> Option<bool> {
        let at = self.compared.binary_search_by(|known| known.path.as_str().cmp(&file.path)).ok()?;
        self.compared.get(at).filter(|known| known.stamp == file.stamp && file.stamp != 0).map(|known| known.edited)
    }
}

impl Repo {
    /// Returns the tracked regular files in the opened folder that are not among `files`, which are sorted by path.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn tracked_outside(&self, files: &[FileEntry]) -> Result<BTreeSet<String>, GitError> {
        /// Bits of an index entry's mode.
        const REGULAR: u32 = 0o100_000;
        const TYPE: u32 = 0o170_000;
        let index = self.inner.index().map_err(GitError::when("read the index"))?;
        let mut next = 0;
        let mut is_listed = |path: &str| find_sorted(files, &mut next, |file| file.path.as_str().cmp(path)).is_some();
        let outside = index.iter().filter(|entry| entry.mode & TYPE == REGULAR).filter_map(|entry| {
            let path = std::str::from_utf8(&entry.path).ok()?.strip_prefix(self.prefix())?;
            (!path.is_empty() && !is_listed(path)).then(|| path.to_owned())
        });
        Ok(outside.collect())
    }

    /// Returns those of `files` that differ from the index by size or modification time, are not in the index, or
    /// differ from HEAD in the index. A file with a new modification time counts as edited even if its content is the
    /// same, unless there are many. `before` is the result of an earlier call for the same folder; the new one is
    /// returned, too.
    ///
    /// # Errors
    /// The index or HEAD cannot be read.
    pub fn edited(
        &self,
        files: &[FileEntry],
        before: &WorkTreeStatus,
    ) -> Result<(BTreeSet<String>, WorkTreeStatus), GitError> {
        let failed = GitError::when("read the index");
        let checksum = self.index_checksum();
        let mut index = self.inner.index().map_err(failed)?;
        // It may have been read before the files were listed.
        index.read(false).map_err(failed)?;
        let tree = self.inner.head().ok().and_then(|head| head.peel_to_tree().ok());
        let head = tree.as_ref().map(|tree| tree.id().to_string()).unwrap_or_default();
        let known = Some(before).filter(|before| Some(&before.index) == checksum.as_ref());
        let (mut compared, mut unknown) = (Vec::new(), Vec::new());
        let merged = index.iter().filter(|entry| entry.flags & STAGE == 0);
        let mut entries: Vec<git2::IndexEntry> =
            merged.filter(|entry| entry.path.starts_with(self.prefix().as_bytes())).collect();
        // An index that ignores case has another order.
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let mut next = 0;
        let mut has_time = |file: &FileEntry| {
            let order = |entry: &git2::IndexEntry| entry.path[self.prefix().len()..].cmp(file.path.as_bytes());
            find_sorted(&entries, &mut next, order).is_some_and(|at| has_time_of_entry(file, &entries[at]))
        };
        for file in files.iter().filter(|file| !has_time(file)) {
            match known.and_then(|known| known.was_edited(file)) {
                Some(edited) => compared.push(ComparedFile { path: file.path.clone(), stamp: file.stamp, edited }),
                None => unknown.push(file),
            }
        }
        let mut edited: BTreeSet<String> =
            compared.iter().filter(|file| file.edited).map(|file| file.path.clone()).collect();
        if unknown.len() > MAX_MTIME_CHANGES {
            let dirty = self.dirty_paths()?;
            compared.extend(unknown.iter().map(|file| ComparedFile {
                path: file.path.clone(),
                stamp: file.stamp,
                edited: dirty.contains(&file.path),
            }));
            compared.sort_by(|a, b| a.path.cmp(&b.path));
            edited.extend(dirty);
        } else {
            edited.extend(unknown.iter().map(|file| file.path.clone()));
        }
        let staged = match known.filter(|known| known.head == head) {
            Some(known) => known.staged.clone(),
            None => self.staged(tree.as_ref(), &index)?,
        };
        edited.extend(staged.iter().cloned());
        // If the index was written meanwhile, it is not known which one was compared.
        let checksum = checksum.filter(|checksum| self.index_checksum().as_ref() == Some(checksum));
        Ok((edited, WorkTreeStatus { index: checksum.unwrap_or_default(), head, staged, compared }))
    }

    /// Returns the files in the opened folder that differ between HEAD's tree and the index.
    fn staged(&self, head: Option<&git2::Tree<'_>>, index: &git2::Index) -> Result<Vec<String>, GitError> {
        let diff = self.inner.diff_tree_to_index(head, Some(index), None).map_err(GitError::when("read the index"))?;
        let paths = diff.deltas().filter_map(|delta| delta.new_file().path()?.to_str().map(str::to_owned));
        Ok(paths.filter_map(|path| self.below_folder(&path)).collect())
    }

    /// Returns the checksum at the end of the index file, in hexadecimal. `None` without an index, or if git was told
    /// to write none.
    fn index_checksum(&self) -> Option<String> {
        let mut file = fs::File::open(self.inner.path().join("index")).ok()?;
        let mut checksum = [0; INDEX_CHECKSUM_BYTES];
        file.seek(SeekFrom::End(-(INDEX_CHECKSUM_BYTES as i64))).ok()?;
        file.read_exact(&mut checksum).ok()?;
        checksum.iter().any(|&byte| byte != 0).then(|| checksum.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Length of the checksum at the end of an index, in bytes: SHA-1. Of a SHA-256 it is the last part.
const INDEX_CHECKSUM_BYTES: usize = 20;

/// The bits of an index entry's flags that number the side of a conflict.
const STAGE: u16 = 0x3000;

/// Returns whether a file has the size and the modification time in the index.
fn has_time_of_entry(file: &FileEntry, entry: &git2::IndexEntry) -> bool {
    let time = (i64::from(entry.mtime.seconds()), entry.mtime.nanoseconds());
    // Some versions of git store whole seconds.
    let time_fits = time == file.modified || (time.1 == 0 && time.0 == file.modified.0);
    u64::from(entry.file_size) == file.bytes & u64::from(u32::MAX) && time_fits
}

/// Maximum size in bytes of a file whose content is part of the diff. Larger files are only named.
const MAX_DIFF_FILE_BYTES: i64 = 1024 * 1024;

impl Repo {
    /// Returns a unified diff between HEAD and the work tree for those files in the opened folder that are
    /// `is_wanted`. New files are included, ignored files are not. No diff program of the user's configuration is
    /// run.
    ///
    /// # Errors
    /// HEAD, the index or the work tree cannot be read.
    pub fn uncommitted_diff(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<String, GitError> {
        let failed = GitError::when("compare the work tree");
        self.check_all_rules()?;
        let head = self.inner.head().ok().and_then(|head| head.peel_to_tree().ok());
        let mut options = DiffOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).show_untracked_content(true);
        options.ignore_submodules(true).max_size(MAX_DIFF_FILE_BYTES);
        let diff = self.inner.diff_tree_to_workdir_with_index(head.as_ref(), Some(&mut options)).map_err(failed)?;
        let index = self.inner.index().map_err(failed)?;
        let mut text = String::new();
        for (at, delta) in diff.deltas().enumerate() {
            let path = delta.new_file().path().or_else(|| delta.old_file().path()).and_then(|path| path.to_str());
            let is_wanted = path.and_then(|path| self.below_folder(path)).is_some_and(|path| is_wanted(&path));
            // A partial clone may lack the content of a file that the sparse checkout omits, so it is not read.
            if is_wanted
                && !is_omitted(&index, &delta)
                && let Some(mut patch) = Patch::from_diff(&diff, at).map_err(failed)?
            {
                text.push_str(&String::from_utf8_lossy(&patch.to_buf().map_err(failed)?));
            }
        }
        Ok(text)
    }
}

/// Returns whether a file is missing from the work tree only because a sparse checkout omits it.
fn is_omitted(index: &Index, delta: &DiffDelta<'_>) -> bool {
    delta.status() == Delta::Deleted && delta.old_file().path().is_some_and(|path| is_sparse(index, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn edited_since(root: &Path, before: &WorkTreeStatus) -> (Vec<String>, WorkTreeStatus) {
        let repo = Repo::open(root).unwrap().unwrap();
        let files = crate::files(&crate::Root::at(root).unwrap(), &AtomicBool::new(false), &mut |_| {}).files;
        let (edited, status) = repo.edited(&files, before).unwrap();
        (edited.into_iter().collect(), status)
    }

    fn edited(root: &Path) -> Vec<String> {
        edited_since(root, &WorkTreeStatus::default()).0
    }

    #[test]
    fn changed_new_and_staged_files_are_edited() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a", "b", "c"] {
            fs::write(root.join(path), "as committed").unwrap();
        }
        crate::git::init(root, "You", "you@example.com", "Begin").unwrap();
        assert!(edited(root).is_empty());
        fs::write(root.join("a"), "changed").unwrap();
        fs::write(root.join("new"), "").unwrap();
        fs::write(root.join("b"), "staged").unwrap();
        let repo = git2::Repository::open(root).unwrap();
        let mut index = repo.index().unwrap();
        index.add_path(Path::new("b")).unwrap();
        index.write().unwrap();
        assert_eq!(edited(root), ["a", "b", "new"]);
    }

    #[test]
    fn a_copied_work_tree_does_not_count_as_edited() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let names: Vec<String> = (0..80).map(|n| format!("f{n:02}")).collect();
        names.iter().for_each(|name| fs::write(root.join(name), "text").unwrap());
        crate::git::init(root, "You", "you@example.com", "Begin").unwrap();
        let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(999);
        let set_time = |name: &str, time| {
            fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(time).unwrap();
        };
        fs::write(root.join("f07"), "other").unwrap();
        names.iter().for_each(|name| set_time(name, earlier));
        // A change of a file within the last milliseconds could go unnoticed, so that it would be compared again.
        std::thread::sleep(std::time::Duration::from_millis(120));
        let (found, status) = edited_since(root, &WorkTreeStatus::default());
        assert_eq!(found, ["f07"]);
        assert_eq!(status.compared.len(), 80);
        // The next comparison trusts the first: a content that is changed without a trace is not read again.
        let wrong = ComparedFile { edited: true, ..status.compared[3].clone() };
        let mut told = status.clone();
        told.compared[3] = wrong;
        assert_eq!(edited_since(root, &told), (vec!["f03".into(), "f07".into()], told));
        // Only files with a new stamp are in doubt.
        fs::write(root.join("f09"), "another").unwrap();
        let (found, next) = edited_since(root, &status);
        assert_eq!((found, next.compared.len()), (vec!["f07".into(), "f09".into()], 79));
        // What was found for another index is not used.
        let repo = git2::Repository::open(root).unwrap();
        let mut index = repo.index().unwrap();
        index.add_path(Path::new("f07")).unwrap();
        index.write().unwrap();
        let (found, next) = edited_since(root, &WorkTreeStatus { staged: vec!["none".into()], ..status.clone() });
        assert_eq!((found, next.staged.clone()), (vec!["f07".into(), "f09".into()], vec!["f07".into()]));
        assert_ne!(next.index, status.index);
    }

    #[test]
    fn what_is_staged_is_compared_again_for_another_head() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("a"), "text").unwrap();
        crate::git::init(root, "You", "you@example.com", "Begin").unwrap();
        let (_, status) = edited_since(root, &WorkTreeStatus::default());
        let told = WorkTreeStatus { staged: vec!["a".into()], ..status };
        assert_eq!(edited_since(root, &told).0, ["a"]);
        assert_eq!(edited_since(root, &WorkTreeStatus { head: "another".into(), ..told.clone() }).0, [""; 0]);
        assert_eq!(edited_since(root, &WorkTreeStatus { index: String::new(), ..told }).0, [""; 0]);
    }

    #[test]
    fn the_diff_has_changes_and_new_files_but_not_unwanted_ones() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs::write(folder.path().join(path), text).unwrap();
        };
        write("a.txt", "one\n");
        write("sub/b.txt", "two\n");
        write(".gitignore", "build\n");
        crate::git::init(folder.path(), "Mira Keel", "mira@example.org", "Start").unwrap();
        let repo = Repo::open(folder.path()).unwrap().unwrap();
        assert_eq!(repo.uncommitted_diff(&|_| true).unwrap(), "");
        write("a.txt", "1\n");
        write("sub/c.txt", "three\n");
        write("build/x", "built\n");
        write(".env", "KEY=canary\n");
        let diff = repo.uncommitted_diff(&|path| path != ".env").unwrap();
        assert!(diff.contains("-one\n+1\n") && diff.contains("+++ b/sub/c.txt") && diff.contains("+three"), "{diff}");
        assert!(!diff.contains("canary") && !diff.contains("built"), "{diff}");
        let below = Repo::open(&folder.path().join("sub")).unwrap().unwrap();
        let diff = below.uncommitted_diff(&|_| true).unwrap();
        assert!(diff.contains("+three") && !diff.contains("+1\n"), "{diff}");
    }
}
