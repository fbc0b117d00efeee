//! What commits did to single files: the text before, the text after, and some of the files around. Everything is read
//! from the object store of a repository; there need not be a work tree.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use git2::{Delta, DiffOptions, ObjectType, Oid, Repository, Sort, Tree, TreeWalkMode, TreeWalkResult};

use super::error::GitError;
use super::open::open;

/// A commit that changes more files says little of any of them.
const MOST_FILES: usize = 30;
/// Files of the same folder that are read along.
const NEAR: usize = 6;
/// Files of the same name in other folders that are read along.
const NAMESAKES: usize = 3;
/// Bytes above which a file is not read.
const LARGEST: usize = 512 * 1024;

/// One text file as a commit found it and as it left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// Id of the commit.
    pub commit: String,
    /// The file, from the top of the tree, with `/`.
    pub path: String,
    /// Its text before the commit.
    pub before: String,
    /// Its text after it.
    pub after: String,
    /// Some files of the tree before the commit: of the same folder, and of the same name elsewhere.
    pub around: BTreeMap<String, String>,
}

/// The commits of a repository that have one parent, newest first.
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
    /// Opens the repository at `git_dir`, bare or with a work tree. Nothing is written to it.
    ///
    /// # Errors
    /// There is no repository, or it is another user's, or its commits cannot be listed.
    pub fn open(git_dir: &Path) -> Result<Self, GitError> {
        let repo = open(git_dir)?;
        let failed = GitError::when("list the commits");
        let mut walk = repo.revwalk().map_err(failed)?;
        walk.set_sorting(Sort::TIME | Sort::TOPOLOGICAL).map_err(failed)?;
        walk.push_head().map_err(failed)?;
        let commits = walk.collect::<Result<Vec<Oid>, _>>().map_err(failed)?;
        Ok(Self { repo, commits })
    }

    /// How many commits there are.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Whether there is no commit.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// The paths that the commit numbered `nth` (0-based) modifies; none for a merge, for the first commit, for one that
    /// changes very many files, and where objects are missing.
    pub fn modified(&self, nth: usize) -> Vec<String> {
        let Some((before, after)) = self.trees(nth) else { return Vec::new() };
        let mut options = DiffOptions::new();
        options.context_lines(0).skip_binary_check(true);
        let Ok(diff) = self.repo.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options)) else {
            return Vec::new();
        };
        if diff.deltas().len() > MOST_FILES {
            return Vec::new();
        }
        let modified = diff.deltas().filter(|delta| delta.status() == Delta::Modified);
        modified.filter_map(|delta| Some(delta.new_file().path()?.to_str()?.to_owned())).collect()
    }

    /// What the commit numbered `nth` (0-based) did to a file; none if it is not UTF-8 or large before or after, or is
    /// not in both trees.
    pub fn revision(&self, nth: usize, path: &str) -> Option<Revision> {
        let (before, after) = self.trees(nth)?;
        let commit = self.commits.get(nth)?.to_string();
        let (old, new) = (self.text(&before, path)?, self.text(&after, path)?);
        Some(Revision { commit, path: path.to_owned(), before: old, after: new, around: self.around(&before, path) })
    }

    /// The tree before a commit with one parent, and its own.
    fn trees(&self, nth: usize) -> Option<(Tree<'_>, Tree<'_>)> {
        let commit = self.repo.find_commit(*self.commits.get(nth)?).ok()?;
        if commit.parent_count() != 1 {
            return None;
        }
        Some((commit.parent(0).ok()?.tree().ok()?, commit.tree().ok()?))
    }

    fn text(&self, tree: &Tree<'_>, path: &str) -> Option<String> {
        let entry = tree.get_path(Path::new(path)).ok()?;
        let plain = entry.kind() == Some(ObjectType::Blob) && entry.filemode() != 0o120_000;
        let blob = self.repo.find_blob(entry.id()).ok().filter(|blob| plain && blob.size() <= LARGEST)?;
        String::from_utf8(blob.content().to_vec()).ok()
    }

    fn around(&self, tree: &Tree<'_>, path: &str) -> BTreeMap<String, String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (mut near, mut namesakes) = (Vec::new(), Vec::new());
        // A folder that cannot be read has no files to offer.
        let _ = tree.walk(TreeWalkMode::PreOrder, |root, entry| {
            let (root, Ok(entry_name)) = (root.trim_end_matches('/'), entry.name()) else {
                return TreeWalkResult::Ok;
            };
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
        // Those with the nearest names.
        let at = near.partition_point(|other| other.as_str() < path);
        let near = near.into_iter().skip(at.saturating_sub(NEAR / 2)).take(NEAR);
        let chosen = near.chain(namesakes.into_iter().take(NAMESAKES));
        chosen.filter_map(|path| self.text(tree, &path).map(|text| (path, text))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::git::{self, Repo};

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
        assert!(Revisions::open(&folder.path().join("none")).is_err());
    }
}
