//! Opening and creating repositories, and the state of HEAD.

use super::error::GitError;
use super::open;
use super::prepare::is_sparse;
use git2::{ErrorCode, Repository, RepositoryState, Status, StatusOptions};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a commit waits for the index lock of another git process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Position of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch without commits: its name.
    Unborn(String),
    /// The tip of a branch.
    Branch {
        /// Name of the branch.
        name: String,
        /// Abbreviated commit id.
        short_id: String,
    },
    /// A detached HEAD: the abbreviated commit id.
    Detached(String),
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unborn(branch) => write!(f, "{branch} (no commits yet)"),
            Self::Branch { name, .. } => f.write_str(name),
            Self::Detached(short_id) => write!(f, "detached at {short_id}"),
        }
    }
}

/// A repository with a work tree. Paths in arguments and results are relative to the folder that it was opened for,
/// with `/`.
pub struct Repo {
    pub(crate) inner: Repository,
    /// Top of the work tree, without symbolic links.
    pub(crate) top: PathBuf,
    /// The opened folder relative to the top, with a trailing `/`. Empty at the top.
    prefix: String,
    pub(crate) lock_timeout: Duration,
}

impl fmt::Debug for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repo").field("top", &self.top).field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Repo {
    /// Opens the repository whose work tree contains `workdir`. Returns `None` outside of a work tree and in a bare
    /// repository.
    pub fn open(workdir: &Path) -> Result<Option<Self>, GitError> {
        let Some(inner) = open::discover(workdir)? else { return no_repository(workdir) };
        let top = inner.workdir().and_then(|top| top.canonicalize().ok());
        let folders = top.zip(workdir.canonicalize().ok());
        Ok(folders.and_then(|(top, folder)| {
            let prefix = prefix(&top, &folder)?;
            Some(Self { inner, top, prefix, lock_timeout: LOCK_TIMEOUT })
        }))
    }

    /// Returns the position of HEAD.
    pub fn head(&self) -> Result<Head, GitError> {
        let failed = GitError::when("read HEAD");
        match self.inner.head() {
            Ok(head) => {
                let commit = head.peel_to_commit().map_err(failed)?;
                let short_id = short_id(&commit)?;
                if self.inner.head_detached().map_err(failed)? {
                    return Ok(Head::Detached(short_id));
                }
                Ok(Head::Branch { name: String::from_utf8_lossy(head.shorthand_bytes()).into_owned(), short_id })
            }
            Err(error) if error.code() == ErrorCode::UnbornBranch => {
                let head = self.inner.find_reference("HEAD").map_err(failed)?;
                let target = String::from_utf8_lossy(head.symbolic_target_bytes().unwrap_or_default()).into_owned();
                Ok(Head::Unborn(target.strip_prefix("refs/heads/").unwrap_or(&target).to_owned()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns the files in the opened folder that differ from HEAD in the index or in the work tree.
    ///
    /// Untracked files are included. Ignored files, files that a sparse checkout omits, and names that are not UTF-8 are not. The index
    /// is not written.
    pub fn dirty_paths(&self) -> Result<BTreeSet<String>, GitError> {
        self.check_all_rules()?;
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false).exclude_submodules(true);
        let statuses = self.inner.statuses(Some(&mut options)).map_err(GitError::when("read the status"))?;
        let index = self.inner.index().map_err(GitError::when("read the index"))?;
        let dirty = statuses.iter().filter_map(|entry| {
            let path = entry.path().ok()?;
            // libgit2 reports what a sparse checkout omits as deleted.
            let is_omitted = entry.status() == Status::WT_DELETED && is_sparse(&index, Path::new(path));
            self.below_folder(path).filter(|_| !is_omitted)
        });
        Ok(dirty.collect())
    }

    /// Returns the name of the operation in progress, such as a merge or a rebase.
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

    /// Converts a path to one relative to the top of the work tree.
    pub(crate) fn to_top(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// The opened folder relative to the top, with a trailing `/`. Empty at the top.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) fn below_folder(&self, path: &str) -> Option<String> {
        path.strip_prefix(&self.prefix).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }
}

/// Returns an error if there is a broken repository at or above the folder, else `None`.
fn no_repository(workdir: &Path) -> Result<Option<Repo>, GitError> {
    let entry = |folder: &Path| Some(folder.join(".git")).filter(|entry| entry.symlink_metadata().is_ok());
    let Some(path) = workdir.ancestors().find_map(entry) else { return Ok(None) };
    let reason = match std::fs::read_dir(&path).map(Iterator::count) {
        // Like git, ignores an empty folder.
        Ok(0) => return Ok(None),
        Ok(_) => "its HEAD is missing or broken",
        Err(_) => "what it leads to is not there",
    };
    Err(GitError::Broken { path, reason })
}

/// Returns the abbreviated id of a commit, as long as needed to be unique.
pub(crate) fn short_id(commit: &git2::Commit<'_>) -> Result<String, GitError> {
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

/// Returns the folder that all work trees of the repository at `root` share, or `None` outside of a repository.
pub fn common_folder(root: &Path) -> Option<PathBuf> {
    Some(open::open(root).ok()?.commondir().to_owned())
}

/// Creates a git repository in `workdir` with one commit of its files. The identity is stored in this repository
/// only.
///
/// # Errors
/// libgit2 reports an error. Nothing outside of `workdir` is changed.
pub fn init(workdir: &Path, name: &str, email: &str, message: &str) -> Result<(), GitError> {
    init_with(workdir, name, email, message).map_err(|source| GitError::Git { doing: "make a repository", source })
}

fn init_with(workdir: &Path, name: &str, email: &str, message: &str) -> Result<(), git2::Error> {
    let mut options = git2::RepositoryInitOptions::new();
    let repo = git2::Repository::init_opts(workdir, options.initial_head("main").external_template(false))?;
    let mut config = repo.config()?.open_level(git2::ConfigLevel::Local)?;
    config.set_str("user.name", name)?;
    config.set_str("user.email", email)?;
    // There must be no passphrase prompt.
    config.set_bool("commit.gpgsign", false)?;
    let mut index = repo.index()?;
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None)?;
    index.write()?;
    let tree = repo.find_tree(index.write_tree()?)?;
    let author = git2::Signature::now(name, email)?;
    repo.commit(Some("HEAD"), &author, &author, message, &tree, &[])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Repo;

    #[test]
    fn a_folder_becomes_a_clean_repository_with_one_commit() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "a\n").unwrap();
        init(dir.path(), "Demo", "demo@example.com", "Start").unwrap();
        let repo = Repo::open(dir.path()).unwrap().unwrap();
        assert!(repo.dirty_paths().unwrap().is_empty());
        assert_eq!(repo.head().unwrap().to_string(), "main");
    }
}
