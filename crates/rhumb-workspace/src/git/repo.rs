//! A repository as seen from the folder that the work happens in.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{ErrorCode, Repository, RepositoryState, StatusOptions};

use super::error::GitError;
use super::open;

/// How long a commit waits for another git process to let go of the index.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Where HEAD points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch without a commit yet.
    Unborn {
        /// Name of the branch.
        branch: String,
    },
    /// The tip of a branch.
    Branch {
        /// Name of the branch.
        name: String,
        /// Abbreviated commit id.
        short_id: String,
    },
    /// A commit, but no branch.
    Detached {
        /// Abbreviated commit id.
        short_id: String,
    },
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unborn { branch } => write!(f, "{branch} (no commits yet)"),
            Self::Branch { name, .. } => f.write_str(name),
            Self::Detached { short_id } => write!(f, "detached at {short_id}"),
        }
    }
}

/// A repository with a work tree. All paths given to it and returned by it are relative to the folder that it was
/// opened for, with `/`.
pub struct Repo {
    pub(super) inner: Repository,
    /// Top of the work tree, free of links.
    pub(super) top: PathBuf,
    /// The folder it was opened for, relative to the top, with a `/` at the end; empty at the top.
    prefix: String,
    pub(super) lock_patience: Duration,
}

impl fmt::Debug for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repo").field("top", &self.top).field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Repo {
    /// The repository whose work tree holds `workdir`; none outside a work tree and in a bare repository.
    pub fn open(workdir: &Path) -> Result<Option<Self>, GitError> {
        let Some(inner) = open::discover(workdir)? else { return no_repository(workdir) };
        let top = inner.workdir().and_then(|top| top.canonicalize().ok());
        let place = top.zip(workdir.canonicalize().ok());
        Ok(place.and_then(|(top, folder)| {
            let prefix = prefix(&top, &folder)?;
            Some(Self { inner, top, prefix, lock_patience: LOCK_PATIENCE })
        }))
    }

    /// Top of the work tree, absolute and free of links.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Where HEAD is now.
    pub fn head(&self) -> Result<Head, GitError> {
        let failed = GitError::when("read HEAD");
        match self.inner.head() {
            Ok(head) => {
                let commit = head.peel_to_commit().map_err(failed)?;
                let short_id = short_id(&commit)?;
                if self.inner.head_detached().map_err(failed)? {
                    return Ok(Head::Detached { short_id });
                }
                Ok(Head::Branch { name: String::from_utf8_lossy(head.shorthand_bytes()).into_owned(), short_id })
            }
            Err(error) if error.code() == ErrorCode::UnbornBranch => {
                let head = self.inner.find_reference("HEAD").map_err(failed)?;
                let target = String::from_utf8_lossy(head.symbolic_target_bytes().unwrap_or_default()).into_owned();
                Ok(Head::Unborn { branch: target.strip_prefix("refs/heads/").unwrap_or(&target).to_owned() })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Files under the folder that differ from HEAD, in the index or in the work tree, untracked files included and
    /// ignored ones not. Names that are not UTF-8 are left out. Does not write the index.
    pub fn dirty_paths(&self) -> Result<BTreeSet<String>, GitError> {
        self.check_all_rules()?;
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false).exclude_submodules(true);
        let statuses = self.inner.statuses(Some(&mut options)).map_err(GitError::when("read the status"))?;
        let dirty = statuses.iter().filter_map(|entry| entry.path().ok().and_then(|path| self.below_folder(path)));
        Ok(dirty.collect())
    }

    /// The merge, rebase or the like that is under way, if one is.
    pub fn state(&self) -> Option<&'static str> {
        match self.inner.state() {
            RepositoryState::Clean => None,
            RepositoryState::Merge => Some("merge"),
            RepositoryState::Revert | RepositoryState::RevertSequence => Some("revert"),
            RepositoryState::CherryPick | RepositoryState::CherryPickSequence => Some("cherry-pick"),
            RepositoryState::Bisect => Some("bisect"),
            RepositoryState::Rebase | RepositoryState::RebaseInteractive | RepositoryState::RebaseMerge => {
                Some("rebase")
            }
            RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => Some("patch series"),
        }
    }

    /// A path of ours as one from the top of the work tree.
    pub(super) fn to_top(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    pub(super) fn below_folder(&self, path: &str) -> Option<String> {
        path.strip_prefix(&self.prefix).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }
}

/// What it means that git finds no repository at or above a folder: none, or an error if there is something that was one.
fn no_repository(workdir: &Path) -> Result<Option<Repo>, GitError> {
    let entry = |folder: &Path| Some(folder.join(".git")).filter(|entry| entry.symlink_metadata().is_ok());
    let Some(path) = workdir.ancestors().find_map(entry) else { return Ok(None) };
    let reason = match std::fs::read_dir(&path).map(Iterator::count) {
        // An empty folder is nothing, to git as well.
        Ok(0) => return Ok(None),
        Ok(_) => "its HEAD is missing or broken",
        Err(_) => "what it leads to is not there",
    };
    Err(GitError::Broken { path, reason })
}

/// The abbreviated id of a commit, as long as it has to be to be unique.
pub(super) fn short_id(commit: &git2::Commit<'_>) -> Result<String, GitError> {
    let id = commit.as_object().short_id().map_err(GitError::when("shorten a commit id"))?;
    Ok(String::from_utf8_lossy(&id).into_owned())
}

fn prefix(top: &Path, folder: &Path) -> Option<String> {
    let mut prefix = String::new();
    for part in folder.strip_prefix(top).ok()?.components() {
        prefix.push_str(part.as_os_str().to_str()?);
        prefix.push('/');
    }
    Some(prefix)
}

/// The folder that all worktrees of the repository at `root` share; `None` outside of a repository.
pub fn common_folder(root: &Path) -> Option<PathBuf> {
    Some(open::open(root).ok()?.commondir().to_owned())
}
