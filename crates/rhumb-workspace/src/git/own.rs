//! What the user has changed and not committed, and what the log says of a file.

use std::path::Path;

use git2::{Sort, Status, StatusOptions, StatusShow};

use super::error::GitError;
use super::repo::Repo;
use super::take::SKIP_WORKTREE;

/// Commits that are looked at for the last change of a file.
const LOOKED_BACK: usize = 200;

/// Files that are not as they were committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnChanges {
    /// Those that can be committed as they lie on disk.
    pub whole: Vec<String>,
    /// Those of which a part is staged: what lies on disk is not what the user means to commit.
    pub partly_staged: Vec<String>,
}

impl OwnChanges {
    /// Whether a file is not as it was committed.
    pub fn holds(&self, path: &str) -> bool {
        self.whole.iter().chain(&self.partly_staged).any(|own| own == path)
    }
}

impl Repo {
    /// Those of `paths` that differ from HEAD, in the index or in the work tree. Untracked files are among them, ignored ones are
    /// not. Does not write the index.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn own_changes(&self, paths: &[String]) -> Result<OwnChanges, GitError> {
        let mut own = OwnChanges::default();
        if paths.is_empty() {
            return Ok(own);
        }
        // Where HEAD cannot be read, every file would look like one that the user has changed.
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
            // What a sparse checkout leaves out is not deleted.
            let in_index = entry.path().ok().and_then(|path| index.get_path(Path::new(path), 0));
            let is_sparse = in_index.is_some_and(|entry| entry.flags_extended & SKIP_WORKTREE != 0);
            if is_sparse && entry.status() == Status::WT_DELETED {
                continue;
            }
            let Some(path) = entry.path().ok().and_then(|path| self.below_folder(path)) else { continue };
            // A folder that is named by a file of ours is none of ours.
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

    /// Whether something is staged.
    ///
    /// # Errors
    /// HEAD or the index cannot be read.
    pub fn has_staged(&self) -> Result<bool, GitError> {
        let failed = GitError::when("read the index");
        let tree = self.parent()?.map(|commit| commit.tree()).transpose().map_err(failed)?;
        let diff = self.inner.diff_tree_to_index(tree.as_ref(), None, None).map_err(failed)?;
        Ok(diff.deltas().len() > 0)
    }

    /// Files below the folder that git tracks and that are not as the index has them.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn changed_tracked(&self) -> Result<Vec<String>, GitError> {
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

    /// Files below the folder that git neither tracks nor ignores; of a folder without any that it tracks, the folder, with `/` at the
    /// end. Sorted. Does not write the index.
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

    /// The first line of the message of the last commit that changed a file, among the newest few hundred.
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
        for id in walk.take(LOOKED_BACK) {
            let commit = self.inner.find_commit(id.ok()?).ok()?;
            let before = commit.parent(0).ok().and_then(|parent| holds(&parent));
            if before != holds(&commit) {
                return commit.summary_bytes().map(|subject| String::from_utf8_lossy(subject).into_owned());
            }
        }
        None
    }

    /// Whether jj works on the same files: it takes what git commits in at its next command.
    pub fn is_shared_with_jj(&self) -> bool {
        self.top.join(".jj").is_dir()
    }
}
