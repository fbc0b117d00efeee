//! Uncommitted changes, and the log of a file.

use super::error::GitError;
use super::prepare::SKIP_WORKTREE;
use super::repo::Repo;
use git2::{DiffFormat, DiffOptions};
use git2::{Sort, Status, StatusOptions, StatusShow};
use std::collections::BTreeSet;
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
            let in_index = entry.path().ok().and_then(|path| index.get_path(Path::new(path), 0));
            let is_sparse = in_index.is_some_and(|entry| entry.flags_extended & SKIP_WORKTREE != 0);
            if is_sparse && entry.status() == Status::WT_DELETED {
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

    /// Returns whether anything is staged.
    ///
    /// # Errors
    /// HEAD or the index cannot be read.
    pub fn has_staged(&self) -> Result<bool, GitError> {
        let failed = GitError::when("read the index");
        let tree = self.parent()?.map(|commit| commit.tree()).transpose().map_err(failed)?;
        let diff = self.inner.diff_tree_to_index(tree.as_ref(), None, None).map_err(failed)?;
        Ok(diff.deltas().len() > 0)
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
        let path = |delta: git2::DiffDelta<'_>| {
            let file = if delta.new_file().path().is_some() { delta.new_file() } else { delta.old_file() };
            self.below_folder(file.path()?.to_str()?)
        };
        Ok(diff.deltas().filter_map(path).collect())
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

/// A file in the work tree.
#[derive(Debug, Clone, Copy)]
pub struct DiskFile<'f> {
    /// Path relative to the opened folder, with `/`.
    pub path: &'f str,
    /// Size in bytes.
    pub bytes: u64,
    /// Modification time: seconds and nanoseconds since 1970.
    pub modified: (i64, u32),
}

impl Repo {
    /// Returns the tracked regular files in the opened folder.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn tracked(&self) -> Result<BTreeSet<String>, GitError> {
        /// Bits of an index entry's mode.
        const REGULAR: u32 = 0o100_000;
        const TYPE: u32 = 0o170_000;
        let index = self.inner.index().map_err(GitError::when("read the index"))?;
        let regular = index.iter().filter(|entry| entry.mode & TYPE == REGULAR);
        Ok(regular.filter_map(|entry| self.below_folder(std::str::from_utf8(&entry.path).ok()?)).collect())
    }

    /// Returns those of `files` that differ from the index by size or modification time, are not in the index, or
    /// differ from HEAD in the index. A file with a new modification time counts as edited even if its content is the
    /// same.
    ///
    /// # Errors
    /// The index or HEAD cannot be read.
    pub fn edited<'f>(&self, files: impl Iterator<Item = DiskFile<'f>>) -> Result<BTreeSet<String>, GitError> {
        let failed = GitError::when("read the index");
        let index = self.inner.index().map_err(failed)?;
        let mut edited = BTreeSet::new();
        for file in files {
            let entry = index.get_path(self.to_top(file.path).as_ref(), 0);
            let same = entry.is_some_and(|entry| {
                let time = (i64::from(entry.mtime.seconds()), entry.mtime.nanoseconds());
                // Some versions of git store whole seconds.
                let time_fits = time == file.modified || (time.1 == 0 && time.0 == file.modified.0);
                u64::from(entry.file_size) == file.bytes & u64::from(u32::MAX) && time_fits
            });
            if !same {
                edited.insert(file.path.to_owned());
            }
        }
        if edited.len() > MAX_MTIME_CHANGES {
            return self.dirty_paths();
        }
        let head = self.inner.head().ok().and_then(|head| head.peel_to_tree().ok());
        let staged = self.inner.diff_tree_to_index(head.as_ref(), Some(&index), None).map_err(failed)?;
        let paths = staged.deltas().filter_map(|delta| delta.new_file().path().and_then(|path| path.to_str()));
        edited.extend(paths.filter_map(|path| self.below_folder(path)));
        Ok(edited)
    }
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
        let mut text = String::new();
        diff.print(DiffFormat::Patch, |delta, _, line| {
            let path = delta.new_file().path().or_else(|| delta.old_file().path()).and_then(|path| path.to_str());
            if path.and_then(|path| self.below_folder(path)).is_some_and(|path| is_wanted(&path)) {
                if matches!(line.origin(), '+' | '-' | ' ') {
                    text.push(line.origin());
                }
                text.push_str(&String::from_utf8_lossy(line.content()));
            }
            true
        })
        .map_err(failed)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn on_disk<'f>(root: &Path, path: &'f str) -> DiskFile<'f> {
        let meta = fs::metadata(root.join(path)).unwrap();
        let time = meta.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
        DiskFile { path, bytes: meta.len(), modified: (time.as_secs() as i64, time.subsec_nanos()) }
    }

    fn edited(root: &Path, paths: &[&str]) -> Vec<String> {
        let repo = Repo::open(root).unwrap().unwrap();
        repo.edited(paths.iter().map(|path| on_disk(root, path))).unwrap().into_iter().collect()
    }

    #[test]
    fn changed_new_and_staged_files_are_edited() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a", "b", "c"] {
            fs::write(root.join(path), "as committed").unwrap();
        }
        crate::git::init(root, "You", "you@example.com", "Begin").unwrap();
        assert!(edited(root, &["a", "b", "c"]).is_empty());
        fs::write(root.join("a"), "changed").unwrap();
        fs::write(root.join("new"), "").unwrap();
        fs::write(root.join("b"), "staged").unwrap();
        let repo = git2::Repository::open(root).unwrap();
        let mut index = repo.index().unwrap();
        index.add_path(Path::new("b")).unwrap();
        index.write().unwrap();
        assert_eq!(edited(root, &["a", "b", "c", "new"]), ["a", "b", "new"]);
    }

    #[test]
    fn a_copied_work_tree_does_not_count_as_edited() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let names: Vec<String> = (0..80).map(|n| format!("f{n:02}")).collect();
        names.iter().for_each(|name| fs::write(root.join(name), "text").unwrap());
        crate::git::init(root, "You", "you@example.com", "Begin").unwrap();
        let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(999);
        for name in &names {
            fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(earlier).unwrap();
        }
        fs::write(root.join("f07"), "other").unwrap();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(edited(root, &names), ["f07"]);
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
