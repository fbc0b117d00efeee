//! Past revisions of files, and checkouts of past commits.
//!
//! Both read from the object store of a repository, which may be bare, and write nothing to it.

use super::error::GitError;
use super::open::open;
use git2::RepositoryInitOptions;
use git2::build::CheckoutBuilder;
use git2::{Delta, DiffOptions, ObjectType, Oid, Repository, Sort, Tree, TreeWalkMode, TreeWalkResult};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// Maximum number of files that a commit may change to be considered. Larger commits say little about each file.
const MAX_FILES: usize = 30;
/// Maximum number of other files of the same folder in a revision.
const MAX_SIBLINGS: usize = 6;
/// Maximum number of files with the same name in other folders in a revision.
const MAX_NAMESAKES: usize = 3;
const MAX_FILE_BYTES: usize = 512 * 1024;

/// A text file before and after a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// Commit id.
    pub commit: String,
    /// Path from the top of the tree, with `/`.
    pub path: String,
    /// Text before the commit.
    pub before: String,
    /// Text after the commit.
    pub after: String,
    /// Some other files before the commit: files of the same folder, and files of the same name in other folders.
    pub around: BTreeMap<String, String>,
}

/// A commit with one parent, without its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitHeader {
    /// Commit id.
    pub id: String,
    /// Id of the parent.
    pub parent: String,
    /// The whole message. Bytes that are not UTF-8 are replaced.
    pub message: String,
    /// Time of the commit in seconds since the Unix epoch.
    pub seconds: i64,
}

/// The commits of a repository, newest first.
pub struct Revisions {
    repo: Repository,
    commits: Vec<Oid>,
}

impl fmt::Debug for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revisions").field("path", &self.repo.path()).finish_non_exhaustive()
    }
}

impl Revisions {
    /// Opens the repository at `git_dir`, bare or with a work tree.
    ///
    /// # Errors
    /// There is no repository, it belongs to another user, or its commits cannot be listed.
    pub fn open(git_dir: &Path) -> Result<Self, GitError> {
        let repo = open(git_dir)?;
        let failed = GitError::when("list the commits");
        let mut walk = repo.revwalk().map_err(failed)?;
        walk.set_sorting(Sort::TIME | Sort::TOPOLOGICAL).map_err(failed)?;
        walk.push_head().map_err(failed)?;
        let commits = walk.collect::<Result<Vec<Oid>, _>>().map_err(failed)?;
        Ok(Self { repo, commits })
    }

    /// Returns the number of commits.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Returns whether there are no commits.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Returns the header of commit number `nth` (0-based). `None` for merges and for the first commit.
    pub fn header(&self, nth: usize) -> Option<CommitHeader> {
        let commit = self.repo.find_commit(*self.commits.get(nth)?).ok()?;
        if commit.parent_count() != 1 {
            return None;
        }
        Some(CommitHeader {
            id: commit.id().to_string(),
            parent: commit.parent_id(0).ok()?.to_string(),
            message: String::from_utf8_lossy(commit.message_bytes()).into_owned(),
            seconds: commit.time().seconds(),
        })
    }

    /// Returns the number of files before commit number `nth` (0-based), submodules excluded. 0 for merges, for the first commit,
    /// and if objects are missing.
    pub fn files_before(&self, nth: usize) -> usize {
        let (Some((before, _)), Ok(objects)) = (self.trees(nth), self.repo.odb()) else { return 0 };
        let mut files = 0;
        let walked = before.walk(TreeWalkMode::PreOrder, |_, entry| {
            if entry.kind() != Some(ObjectType::Blob) {
                return TreeWalkResult::Ok;
            }
            files += 1;
            if objects.exists(entry.id()) { TreeWalkResult::Ok } else { TreeWalkResult::Abort }
        });
        if walked.is_ok() { files } else { 0 }
    }

    /// Returns the paths that commit number `nth` (0-based) modifies. Empty for merges, for the first commit, for
    /// commits with more than 30 files, and if objects are missing.
    pub fn modified(&self, nth: usize) -> Vec<String> {
        let Some((before, after)) = self.trees(nth) else { return Vec::new() };
        let mut options = DiffOptions::new();
        options.context_lines(0).skip_binary_check(true);
        let Ok(diff) = self.repo.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options)) else {
            return Vec::new();
        };
        if diff.deltas().len() > MAX_FILES {
            return Vec::new();
        }
        let modified = diff.deltas().filter(|delta| delta.status() == Delta::Modified);
        modified.filter_map(|delta| Some(delta.new_file().path()?.to_str()?.to_owned())).collect()
    }

    /// Returns the change of a file by commit number `nth` (0-based). `None` if the file is not UTF-8, larger than
    /// 512 KiB, or missing on either side.
    pub fn revision(&self, nth: usize, path: &str) -> Option<Revision> {
        let (before, after) = self.texts(nth, path)?;
        let commit = self.commits.get(nth)?.to_string();
        let around = self.around(&self.trees(nth)?.0, path);
        Some(Revision { commit, path: path.to_owned(), before, after, around })
    }

    /// Returns the texts of a file before and after commit number `nth` (0-based), under the conditions of
    /// [`revision`](Self::revision).
    pub fn texts(&self, nth: usize, path: &str) -> Option<(String, String)> {
        let (before, after) = self.trees(nth)?;
        Some((self.text(&before, path)?, self.text(&after, path)?))
    }

    /// Returns the trees before and after a commit with one parent.
    fn trees(&self, nth: usize) -> Option<(Tree<'_>, Tree<'_>)> {
        let commit = self.repo.find_commit(*self.commits.get(nth)?).ok()?;
        if commit.parent_count() != 1 { None } else { Some((commit.parent(0).ok()?.tree().ok()?, commit.tree().ok()?)) }
    }

    fn text(&self, tree: &Tree<'_>, path: &str) -> Option<String> {
        let entry = tree.get_path(Path::new(path)).ok()?;
        let plain = entry.kind() == Some(ObjectType::Blob) && entry.filemode() != 0o120_000;
        let blob = self.repo.find_blob(entry.id()).ok().filter(|blob| plain && blob.size() <= MAX_FILE_BYTES)?;
        String::from_utf8(blob.content().to_vec()).ok()
    }

    fn around(&self, tree: &Tree<'_>, path: &str) -> BTreeMap<String, String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (mut near, mut namesakes) = (Vec::new(), Vec::new());
        // An unreadable folder contributes no files.
        let _ = tree.walk(TreeWalkMode::PreOrder, |root, entry| {
            let (root, Ok(entry_name)) = (root.trim_end_matches('/'), entry.name()) else { return TreeWalkResult::Ok };
            if entry.kind() == Some(ObjectType::Blob) {
                let full = if root.is_empty() { entry_name.to_owned() } else { format!("{root}/{entry_name}") };
                if root == folder && entry_name != name {
                    near.push(full);
                } else if root != folder && entry_name == name {
                    namesakes.push(full);
                }
            }
            TreeWalkResult::Ok
        });
        // Prefers files with similar names.
        let at = near.partition_point(|other| other.as_str() < path);
        let near = near.into_iter().skip(at.saturating_sub(MAX_SIBLINGS / 2)).take(MAX_SIBLINGS);
        let chosen = near.chain(namesakes.into_iter().take(MAX_NAMESAKES));
        chosen.filter_map(|path| self.text(tree, &path).map(|text| (path, text))).collect()
    }
}

/// A checkout of past commits in a separate folder.
///
/// Its repository borrows the objects of another one and has no branches, so commits after the one that is checked
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
    /// Creates a checkout of the repository at `git_dir` (bare or with a work tree) in the empty `folder`. No objects
    /// are copied.
    ///
    /// # Errors
    /// There is no repository, it belongs to another user, or the folder cannot be written.
    pub fn new(git_dir: &Path, folder: &Path) -> Result<Self, GitError> {
        let lender = open(git_dir)?;
        let objects = lender.commondir().join("objects");
        let objects = objects.canonicalize().unwrap_or(objects);
        let failed = GitError::when("make a checkout");
        let mut options = RepositoryInitOptions::new();
        let made = Repository::init_opts(folder, options.external_template(false)).map_err(failed)?;
        let mut line = objects.into_os_string().into_encoded_bytes();
        line.push(b'\n');
        fs::write(made.path().join("objects/info/alternates"), line).map_err(GitError::Write)?;
        // libgit2 reads the list of borrowed stores only when a repository is opened.
        Ok(Self { repo: Repository::open(folder).map_err(failed)? })
    }

    /// Checks out the exact stored bytes of a commit. Only files that differ from the previous checkout are
    /// written.
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
    use crate::git::{self, Repo};
    use std::fs;

    #[test]
    fn a_modification_is_read_with_the_files_around() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/tide.py", "high\n");
        write("a/port.py", "port\n");
        write("b/tide.py", "other\n");
        write("c/far.py", "far\n");
        git::init(folder.path(), "Ada", "ada@example.com", "Begin").unwrap();
        write("a/tide.py", "low\n");
        write("a/new.py", "new\n");
        let repo = Repo::open(folder.path()).unwrap().unwrap();
        repo.commit_paths(&["a/tide.py".to_owned(), "a/new.py".to_owned()], "Turn").unwrap();
        let revisions = Revisions::open(folder.path()).unwrap();
        assert_eq!(
            (revisions.len(), revisions.modified(0), revisions.modified(1)),
            (2, vec!["a/tide.py".into()], vec![])
        );
        let revision = revisions.revision(0, "a/tide.py").unwrap();
        assert_eq!((revision.before.as_str(), revision.after.as_str()), ("high\n", "low\n"));
        assert_eq!(revision.around.keys().map(String::as_str).collect::<Vec<_>>(), ["a/port.py", "b/tide.py"]);
        assert_eq!(revisions.revision(0, "a/new.py"), None);
        let header = revisions.header(0).unwrap();
        assert_eq!((header.id, header.message.trim_end()), (revision.commit, "Turn"));
        assert_eq!((revisions.files_before(0), revisions.files_before(1), revisions.header(1)), (4, 0, None));
        assert!(Revisions::open(&folder.path().join("none")).is_err());
    }

    /// Creates a repository with two commits and returns their ids. The second one deletes `b.txt`.
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
    fn a_checkout_contains_no_later_commits() {
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
    fn a_missing_repository_or_commit_is_named() {
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
