//! Commits of a repository as work trees, one after the other in a folder of its own: how a benchmark sees a repository
//! as it was before a change.

use std::fmt;
use std::fs;
use std::path::Path;

use git2::build::CheckoutBuilder;
use git2::{ObjectType, Repository, RepositoryInitOptions};

use super::error::GitError;
use super::open::open;

/// A repository that borrows the objects of another, and has no name but HEAD: what came after the commit that is checked
/// out cannot be found in it.
pub struct Checkout {
    repo: Repository,
}

impl fmt::Debug for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkout").field("folder", &self.folder()).finish_non_exhaustive()
    }
}

impl Checkout {
    /// A checkout of the repository at `git_dir`, bare or with a work tree, in the empty `folder`. Nothing is copied, no
    /// network is used, and nothing is written to `git_dir`.
    ///
    /// # Errors
    /// There is no repository, or it is another user's; the folder cannot be written.
    pub fn new(git_dir: &Path, folder: &Path) -> Result<Self, GitError> {
        let lender = open(git_dir)?;
        let objects = lender.commondir().join("objects");
        let objects = objects.canonicalize().unwrap_or(objects);
        let failed = GitError::when("make a checkout");
        let mut options = RepositoryInitOptions::new();
        let made = Repository::init_opts(folder, options.external_template(false)).map_err(failed)?;
        let mut line = objects.into_os_string().into_encoded_bytes();
        line.push(b'\n');
        fs::write(made.path().join("objects/info/alternates"), line).map_err(|source| GitError::Write { source })?;
        // Only a repository that is opened anew looks for what it may borrow.
        Ok(Self { repo: Repository::open(folder).map_err(failed)? })
    }

    /// Makes the folder the tree of a commit, byte for byte as it is stored, with HEAD at it. Only files that differ from
    /// the commit before are written.
    ///
    /// # Errors
    /// The repository has no such commit, or the folder cannot be written.
    pub fn to(&self, commit: &str) -> Result<(), GitError> {
        let found = self.repo.revparse_single(commit).and_then(|object| object.peel(ObjectType::Commit));
        let commit = found.map_err(|_| GitError::NoCommit { commit: commit.to_owned() })?;
        let failed = GitError::when("check out a commit");
        let mut how = CheckoutBuilder::new();
        how.force().remove_untracked(true).disable_filters(true);
        self.repo.checkout_tree(&commit, Some(&mut how)).map_err(failed)?;
        self.repo.set_head_detached(commit.id()).map_err(failed)
    }

    /// The folder of the work tree.
    pub fn folder(&self) -> &Path {
        self.repo.workdir().unwrap_or_else(|| self.repo.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with two commits, and their ids: `b.txt` is gone in the second.
    fn two_commits(folder: &Path) -> [String; 2] {
        fs::write(folder.join("a.txt"), "one\r\n").unwrap();
        fs::write(folder.join("b.txt"), "b\n").unwrap();
        crate::git::init(folder, "Ada", "ada@example.com", "One").unwrap();
        let repo = Repository::open(folder).unwrap();
        let first = repo.head().unwrap().peel_to_commit().unwrap();
        fs::write(folder.join("a.txt"), "two\r\n").unwrap();
        let mut index = repo.index().unwrap();
        index.add_path(Path::new("a.txt")).unwrap();
        index.remove_path(Path::new("b.txt")).unwrap();
        let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
        let author = first.author();
        let second = repo.commit(Some("HEAD"), &author, &author, "Two", &tree, &[&first]).unwrap();
        [first.id().to_string(), second.to_string()]
    }

    #[test]
    fn the_same_folder_moves_from_commit_to_commit() {
        let (lender, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [first, second] = two_commits(lender.path());
        let checkout = Checkout::new(lender.path(), folder.path()).unwrap();
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).ok();
        checkout.to(&second).unwrap();
        assert_eq!((read("a.txt").as_deref(), read("b.txt")), (Some("two\r\n"), None));
        fs::write(folder.path().join("stray.txt"), "").unwrap();
        checkout.to(&first).unwrap();
        assert_eq!((read("a.txt").as_deref(), read("b.txt").as_deref()), (Some("one\r\n"), Some("b\n")));
        assert_eq!(read("stray.txt"), None);
        checkout.to(&second).unwrap();
        assert_eq!((read("a.txt").as_deref(), read("b.txt")), (Some("two\r\n"), None));
    }

    #[test]
    fn a_checkout_knows_its_past_and_nothing_that_came_later() {
        let (lender, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [first, second] = two_commits(lender.path());
        let checkout = Checkout::new(&lender.path().join(".git"), folder.path()).unwrap();
        checkout.to(&first).unwrap();
        let seen = |repo: &Repository| {
            let mut walk = repo.revwalk().unwrap();
            walk.push_head().unwrap();
            walk.map(|id| id.unwrap().to_string()).collect::<Vec<_>>()
        };
        let repo = Repository::open(folder.path()).unwrap();
        assert_eq!((seen(&repo), repo.references().unwrap().count()), (vec![first.clone()], 0));
        checkout.to(&second).unwrap();
        assert_eq!(seen(&repo), [second, first]);
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let (lender, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = Checkout::new(&lender.path().join("none"), folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("there is no repository at") && error.ends_with("none"), "{error}");
        two_commits(lender.path());
        let checkout = Checkout::new(lender.path(), folder.path()).unwrap();
        let missing = "0123456789012345678901234567890123456789";
        for commit in [missing, "nonsense"] {
            assert_eq!(checkout.to(commit).unwrap_err().to_string(), format!("the repository has no commit {commit}"));
        }
    }
}
