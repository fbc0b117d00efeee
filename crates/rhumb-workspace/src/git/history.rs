//! CommitHistory of changed paths: the files that each commit before HEAD changed, newest first.
//!
//! Trees are compared from the top, and folders with equal ids are skipped, so the cost of a commit is about the
//! number of entries in the folders that contain its files. All limits are counts, not times, so that the result is
//! the same on every machine.

use super::error::GitError;
use super::repo::Repo;
use git2::{Commit, ObjectType, Oid, Sort, Tree};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering as Memory};

/// Maximum number of commits in the history. Older commits say little about the next change.
const MAX_COMMITS: usize = 3_000;
/// Maximum number of commits that are visited, including merges.
const MAX_WALKED: usize = 4 * MAX_COMMITS;
/// Maximum number of paths of a commit. Commits beyond it, such as renames and reformatting, say nothing about their
/// files.
const MAX_PATHS: usize = 30;
/// Maximum number of tree entries that are compared for all commits together.
const MAX_ENTRIES: usize = 4_000_000;

/// The commits before HEAD, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitHistory {
    /// Full id of the commit at HEAD. Empty if the history is empty.
    pub head: String,
    /// The commits. Merges and root commits are omitted.
    pub commits: Vec<PastCommit>,
}

/// A commit and the paths that it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastCommit {
    /// Full commit id.
    pub id: String,
    /// First line of the message.
    pub subject: String,
    /// The changed files. Empty if there are more than 30.
    pub paths: Vec<String>,
    /// Number of tree entries that were compared. It counts towards the total limit of a history, whether the commit is
    /// read or copied, so that the length of the history does not depend on what is known.
    pub compared: u32,
}

impl Repo {
    /// Returns the commits that are reachable from HEAD, newest first, except merges and root commits.
    ///
    /// Commits in `known` are copied and not read again. The history is empty for an unborn HEAD, in a shallow clone,
    /// and after a cancellation.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn history(&self, known: &CommitHistory, cancel: &AtomicBool) -> Result<CommitHistory, GitError> {
        let failed = GitError::when("read the history");
        let Some(head) = self.inner.head().ok().and_then(|head| head.target()).map(|id| id.to_string()) else {
            return Ok(CommitHistory::default());
        };
        if self.inner.is_shallow() {
            return Ok(CommitHistory::default());
        }
        if known.head == head {
            return Ok(known.clone());
        }
        let known: HashMap<&str, &PastCommit> = known.commits.iter().map(|past| (past.id.as_str(), past)).collect();
        let mut walk = self.inner.revwalk().map_err(failed)?;
        walk.set_sorting(Sort::TIME).map_err(failed)?;
        walk.push_head().map_err(failed)?;
        let mut comparison = Comparison { repo: self, entries: 0, paths: Vec::new() };
        let mut commits = Vec::new();
        for id in walk.take(MAX_WALKED) {
            if cancel.load(Memory::Relaxed) {
                return Ok(CommitHistory::default());
            }
            let id = id.map_err(failed)?;
            let text = id.to_string();
            if let Some(past) = known.get(text.as_str()) {
                comparison.entries += past.compared as usize;
                commits.push((*past).clone());
            } else {
                let commit = self.inner.find_commit(id).map_err(failed)?;
                if commit.parent_count() != 1 {
                    continue;
                }
                let before = comparison.entries;
                let paths = comparison.changed(&commit).unwrap_or_default();
                let compared = u32::try_from(comparison.entries - before).unwrap_or(u32::MAX);
                commits.push(PastCommit { id: text, subject: subject(&commit), paths, compared });
            }
            if commits.len() == MAX_COMMITS || comparison.entries > MAX_ENTRIES {
                break;
            }
        }
        Ok(CommitHistory { head, commits })
    }
}

fn subject(commit: &Commit<'_>) -> String {
    let message = String::from_utf8_lossy(commit.message_bytes());
    message.trim_start().lines().next().unwrap_or_default().trim_end().to_owned()
}

/// Compares the tree of a commit with that of its parent.
struct Comparison<'r> {
    repo: &'r Repo,
    /// Number of entries compared so far, for all commits.
    entries: usize,
    paths: Vec<String>,
}

impl Comparison<'_> {
    /// Returns the paths that a commit with one parent changed. `None` if there are too many, or if an object is
    /// missing, as in a partial clone.
    fn changed(&mut self, commit: &Commit<'_>) -> Option<Vec<String>> {
        let before = commit.parent(0).and_then(|parent| parent.tree()).ok()?;
        let after = commit.tree().ok()?;
        self.paths.clear();
        self.compare(Some(&before), Some(&after), "")?;
        let repo = self.repo;
        Some(self.paths.drain(..).filter_map(|path| repo.below_folder(&path)).collect())
    }

    /// Adds the differences between two versions of a folder. Returns `None` if there are too many paths.
    fn compare(&mut self, before: Option<&Tree<'_>>, after: Option<&Tree<'_>>, folder: &str) -> Option<()> {
        let (before, after) = (entries(before), entries(after));
        self.entries += before.len().max(after.len());
        let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => old.name.cmp(&new.name),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Some(()),
            };
            let old = if order.is_le() { old.next() } else { None };
            let new = if order.is_ge() { new.next() } else { None };
            if old.map(|entry| entry.id) != new.map(|entry| entry.id) {
                self.descend(old, new, folder)?;
            }
        }
    }

    fn descend(&mut self, old: Option<&CommitEntry>, new: Option<&CommitEntry>, folder: &str) -> Option<()> {
        let name = &new.or(old)?.name;
        let tree = |entry: Option<&CommitEntry>| match entry.filter(|entry| entry.is_folder) {
            Some(entry) => self.repo.inner.find_tree(entry.id).map(Some),
            None => Ok(None),
        };
        let (before, after) = (tree(old).ok()?, tree(new).ok()?);
        if [old, new].into_iter().flatten().any(|entry| !entry.is_folder) {
            self.paths.push(format!("{folder}{name}"));
        }
        if before.is_some() || after.is_some() {
            self.compare(before.as_ref(), after.as_ref(), &format!("{folder}{name}/"))?;
        }
        (self.paths.len() <= MAX_PATHS).then_some(())
    }
}

struct CommitEntry {
    name: String,
    id: Oid,
    is_folder: bool,
}

/// Returns the entries of a tree, sorted by name. Names that are not UTF-8 are omitted.
fn entries(tree: Option<&Tree<'_>>) -> Vec<CommitEntry> {
    let entries = tree.into_iter().flat_map(|tree| tree.iter());
    let mut entries: Vec<CommitEntry> = entries
        .filter_map(|entry| {
            let name = entry.name().ok()?.to_owned();
            Some(CommitEntry { name, id: entry.id(), is_folder: entry.kind() == Some(ObjectType::Tree) })
        })
        .collect();
    // Git sorts a folder as if its name ended in `/`. Here a file and a folder of the same name must be adjacent.
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use git2::{Repository, Signature, Time};

    use super::*;

    /// A repository whose commits are one second apart and give each listed file a new text.
    struct Past {
        dir: tempfile::TempDir,
        git: Repository,
        made: i64,
    }

    impl Past {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let git = Repository::init(dir.path()).unwrap();
            Self { dir, git, made: 0 }
        }

        fn commit(&mut self, message: &str, paths: &[&str], parents: &[Oid]) -> Oid {
            self.made += 1;
            let mut index = self.git.index().unwrap();
            for path in paths {
                let full = self.dir.path().join(path);
                std::fs::create_dir_all(full.parent().unwrap()).unwrap();
                std::fs::write(full, format!("{message} {}", self.made)).unwrap();
                index.add_path(Path::new(path)).unwrap();
            }
            let tree = self.git.find_tree(index.write_tree().unwrap()).unwrap();
            let who = Signature::new("Ada", "ada@example.com", &Time::new(self.made, 0)).unwrap();
            let parents: Vec<Commit<'_>> = parents.iter().map(|id| self.git.find_commit(*id).unwrap()).collect();
            let id = self.git.commit(None, &who, &who, message, &tree, &parents.iter().collect::<Vec<_>>()).unwrap();
            self.git.reference("refs/heads/main", id, true, "").unwrap();
            self.git.set_head("refs/heads/main").unwrap();
            id
        }

        fn read(&self) -> CommitHistory {
            let repo = Repo::open(self.dir.path()).unwrap().unwrap();
            repo.history(&CommitHistory::default(), &AtomicBool::new(false)).unwrap()
        }

        fn told(&self) -> Vec<(String, Vec<String>)> {
            self.read().commits.into_iter().map(|past| (past.subject, past.paths)).collect()
        }
    }

    #[test]
    fn commits_have_their_changed_paths_newest_first() {
        let mut past = Past::new();
        let root = past.commit("Begin", &["a", "d/b", "d/e/c"], &[]);
        let second = past.commit("Change two\n\nWith a body.\n", &["a", "d/e/c"], &[root]);
        past.commit("Add one", &["d/new"], &[second]);
        let expected: [(String, Vec<String>); 2] =
            [("Add one".into(), vec!["d/new".into()]), ("Change two".into(), vec!["a".into(), "d/e/c".into()])];
        assert_eq!(past.told(), expected);
    }

    #[test]
    fn a_folder_that_becomes_a_file_changes_both() {
        let mut past = Past::new();
        let root = past.commit("Begin", &["d/b", "z"], &[]);
        std::fs::remove_dir_all(past.dir.path().join("d")).unwrap();
        past.git.index().unwrap().remove_path(Path::new("d/b")).unwrap();
        past.commit("Flatten", &["d"], &[root]);
        assert_eq!(past.told(), [("Flatten".to_owned(), vec!["d".to_owned(), "d/b".to_owned()])]);
    }

    #[test]
    fn merges_are_omitted_but_not_the_merged_commits() {
        let mut past = Past::new();
        let root = past.commit("Begin", &["a"], &[]);
        let left = past.commit("Left", &["b"], &[root]);
        let right = past.commit("Right", &["c"], &[root]);
        past.commit("Merge", &[], &[left, right]);
        let subjects: Vec<String> = past.read().commits.into_iter().map(|commit| commit.subject).collect();
        assert_eq!(subjects, ["Right", "Left"]);
    }

    #[test]
    fn a_large_commit_has_no_paths() {
        let mut past = Past::new();
        let root = past.commit("Begin", &["a"], &[]);
        let names: Vec<String> = (0..=MAX_PATHS).map(|number| format!("f{number}")).collect();
        past.commit("Sweep", &names.iter().map(String::as_str).collect::<Vec<_>>(), &[root]);
        assert_eq!(past.told(), [("Sweep".to_owned(), vec![])]);
    }

    #[test]
    fn known_commits_are_copied() {
        let mut past = Past::new();
        let root = past.commit("Begin", &["a"], &[]);
        past.commit("Next", &["a"], &[root]);
        let mut known = past.read();
        known.commits[0].subject = "As it was told".into();
        let repo = Repo::open(past.dir.path()).unwrap().unwrap();
        assert_eq!(repo.history(&known, &AtomicBool::new(false)).unwrap(), known);
    }

    #[test]
    fn the_history_is_empty_without_commits_or_if_cancelled() {
        let mut past = Past::new();
        assert_eq!(past.read(), CommitHistory::default(), "unborn");
        let root = past.commit("Begin", &["a"], &[]);
        assert!(past.read().commits.is_empty(), "a root alone");
        past.commit("Next", &["a"], &[root]);
        let repo = Repo::open(past.dir.path()).unwrap().unwrap();
        assert_eq!(repo.history(&CommitHistory::default(), &AtomicBool::new(true)).unwrap(), CommitHistory::default());
    }

    #[test]
    fn paths_are_those_below_the_opened_folder() {
        let mut past = Past::new();
        let root = past.commit("Begin", &["a", "d/b"], &[]);
        past.commit("Both", &["a", "d/b"], &[root]);
        let repo = Repo::open(&past.dir.path().join("d")).unwrap().unwrap();
        let history = repo.history(&CommitHistory::default(), &AtomicBool::new(false)).unwrap();
        assert_eq!(history.commits[0].paths, ["b"]);
    }
}
