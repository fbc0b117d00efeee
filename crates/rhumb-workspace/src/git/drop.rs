//! Taking the last commit off a branch, and putting it back: what `git reset --soft` does, for the files of that commit alone.
//!
//! The commit itself stays in the object store and in the reflog of HEAD, so that it can be put back under its own id. Nothing
//! in the work tree changes here.

use std::path::Path;

use git2::Oid;

use super::error::GitError;
use super::repo::{Repo, short_id};

/// How much older than a commit the tip of a branch can be that holds it: clocks of several machines differ.
const CLOCK_SKEW: i64 = 86_400;

impl Repo {
    /// Whether the commit is HEAD, changes no other file than `paths`, and is on no branch of a remote, so that it can be taken off
    /// the branch without a trace elsewhere. A repository that jj works on as well keeps its commits.
    pub fn can_drop(&self, id: &str, paths: &[String]) -> bool {
        self.state().is_none() && !self.is_shared_with_jj() && self.droppable(id, paths).unwrap_or(false)
    }

    fn droppable(&self, id: &str, paths: &[String]) -> Result<bool, git2::Error> {
        let commit = self.inner.find_commit(Oid::from_str(id)?)?;
        if self.inner.head()?.peel_to_commit()?.id() != commit.id() || commit.parent_count() != 1 {
            return Ok(false);
        }
        let (before, after) = (commit.parent(0)?.tree()?, commit.tree()?);
        let diff = self.inner.diff_tree_to_tree(Some(&before), Some(&after), None)?;
        let own = diff.deltas().all(|delta| {
            let named = |path: Option<&Path>| path.and_then(Path::to_str).and_then(|path| self.below_folder(path));
            let path = named(delta.new_file().path()).or_else(|| named(delta.old_file().path()));
            path.is_some_and(|path| paths.contains(&path))
        });
        Ok(own && !self.is_on_a_remote(&commit)?)
    }

    /// Whether a branch of a remote holds the commit, as far as this repository knows.
    fn is_on_a_remote(&self, commit: &git2::Commit<'_>) -> Result<bool, git2::Error> {
        for reference in self.inner.references_glob("refs/remotes/*")? {
            let Ok(tip) = reference?.peel_to_commit() else { continue };
            if tip.id() == commit.id() {
                return Ok(true);
            }
            let may_hold = tip.time().seconds() + CLOCK_SKEW >= commit.time().seconds();
            if may_hold && self.inner.graph_descendant_of(tip.id(), commit.id())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the commit is there and HEAD is its parent, so that it can be put back.
    pub fn can_restore(&self, id: &str) -> bool {
        let parent = || {
            let commit = self.inner.find_commit(Oid::from_str(id).ok()?).ok()?;
            if commit.parent_count() == 1 { commit.parent_id(0).ok() } else { None }
        };
        let head = || self.inner.head().and_then(|head| head.peel_to_commit()).ok().map(|head| head.id());
        self.state().is_none() && !self.is_shared_with_jj() && parent().is_some_and(|parent| head() == Some(parent))
    }

    /// Takes the commit off the branch: HEAD becomes its parent. The index follows for its files, as far as nothing else is staged
    /// in them. Returns the abbreviated id.
    ///
    /// # Errors
    /// HEAD is another commit by now, or git refuses. Nothing was moved.
    pub fn drop_commit(&self, id: &str) -> Result<String, GitError> {
        let commit = self.inner.find_commit(oid(id)?).map_err(GitError::when("read a commit"))?;
        let parent = commit.parent(0).map_err(GitError::when("read a commit"))?;
        self.move_branch(&commit, &parent, "undo")?;
        short_id(&commit)
    }

    /// Puts a commit back that was taken off the branch. Returns the abbreviated id.
    ///
    /// # Errors
    /// HEAD is not its parent any more, or git refuses. Nothing was moved.
    pub fn restore_commit(&self, id: &str) -> Result<String, GitError> {
        let commit = self.inner.find_commit(oid(id)?).map_err(GitError::when("read a commit"))?;
        let parent = commit.parent(0).map_err(GitError::when("read a commit"))?;
        self.move_branch(&parent, &commit, "redo")?;
        short_id(&commit)
    }

    /// Moves the branch, or HEAD itself where it is on none, from one commit to another.
    fn move_branch(&self, from: &git2::Commit<'_>, to: &git2::Commit<'_>, why: &str) -> Result<(), GitError> {
        let mut lock = self.lock_index()?;
        let name = self.mark()?.branch.unwrap_or_else(|| "HEAD".to_owned());
        let log = format!("rhumb {why}: moving to {}", short_id(to)?);
        lock.prepare(Some(from.id()), to.id(), &[])?;
        lock.moves(Some(from.id()), Some(to.id()))?;
        let moved = self.inner.reference_matching(&name, to.id(), true, from.id(), &log);
        moved.map(drop).map_err(|error| self.commit_refused(error))?;
        lock.install()
    }
}

fn oid(id: &str) -> Result<Oid, GitError> {
    Oid::from_str(id).map_err(GitError::when("read a commit"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Place {
        dir: tempfile::TempDir,
        repo: Repo,
    }

    impl Place {
        /// A repository with `a`, `b` and `c`, of which a second commit changes `a` and adds `new`.
        fn new() -> (Self, String) {
            let dir = tempfile::tempdir().unwrap();
            for path in ["a", "b", "c"] {
                fs::write(dir.path().join(path), "1\n").unwrap();
            }
            crate::git::init(dir.path(), "Ada", "ada@example.com", "Start").unwrap();
            let repo = Repo::open(dir.path()).unwrap().unwrap();
            let place = Self { dir, repo };
            place.put("a", "2\n");
            place.put("new", "1\n");
            place.repo.commit_paths(&paths(&["a", "new"]), "Second").unwrap();
            let id = place.head();
            (place, id)
        }

        fn put(&self, path: &str, text: &str) {
            fs::write(self.dir.path().join(path), text).unwrap();
        }

        fn head(&self) -> String {
            self.repo.inner.head().unwrap().peel_to_commit().unwrap().id().to_string()
        }

        fn stage(&self, path: &str) {
            let mut index = self.repo.inner.index().unwrap();
            index.read(true).unwrap();
            index.add_path(Path::new(path)).unwrap();
            index.write().unwrap();
        }

        /// What differs from HEAD, with `S` for what is staged.
        fn status(&self) -> Vec<String> {
            let staged = git2::Status::INDEX_NEW | git2::Status::INDEX_MODIFIED | git2::Status::INDEX_DELETED;
            let mut options = git2::StatusOptions::new();
            options.include_untracked(true);
            let all = self.repo.inner.statuses(Some(&mut options)).unwrap();
            let line = |entry: git2::StatusEntry<'_>| {
                let mark = if entry.status().intersects(staged) { "S " } else { "" };
                format!("{mark}{}", entry.path().unwrap())
            };
            all.iter().map(line).collect()
        }
    }

    fn paths(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn a_dropped_commit_comes_back_under_its_own_id() {
        let (place, id) = Place::new();
        // What the user works on meanwhile stays as it is.
        place.put("b", "mine\n");
        place.stage("b");
        place.put("c", "mine\n");
        assert!(place.repo.can_drop(&id, &paths(&["a", "new"])) && !place.repo.can_restore(&id));
        place.put("a", "1\n");
        fs::remove_file(place.dir.path().join("new")).unwrap();
        place.repo.drop_commit(&id).unwrap();
        assert_ne!(place.head(), id);
        assert_eq!(place.status(), ["S b", "c"]);
        place.put("a", "2\n");
        place.put("new", "1\n");
        assert!(place.repo.can_restore(&id));
        place.repo.restore_commit(&id).unwrap();
        assert_eq!((place.head(), place.status()), (id, paths(&["S b", "c"])));
    }

    #[test]
    fn a_commit_is_not_dropped_that_others_may_know_or_that_is_not_the_last() {
        let (place, id) = Place::new();
        let own = paths(&["a", "new"]);
        assert!(!place.repo.can_drop(&id, &paths(&["a"])), "it changes another file as well");
        assert!(!place.repo.can_drop("no id", &own));
        let oid = Oid::from_str(&id).unwrap();
        let mut pushed = place.repo.inner.reference("refs/remotes/origin/main", oid, true, "").unwrap();
        assert!(!place.repo.can_drop(&id, &own));
        pushed.delete().unwrap();
        place.put("b", "2\n");
        place.repo.commit_paths(&paths(&["b"]), "Third").unwrap();
        let third = place.head();
        assert!(!place.repo.can_drop(&id, &own));
        assert!(place.repo.drop_commit(&id).is_err() && place.head() == third);
        assert!(!place.repo.can_restore(&id));
        assert!(place.repo.can_drop(&third, &paths(&["b"])));
        place.repo.inner.reference("refs/remotes/origin/x", Oid::from_str(&third).unwrap(), true, "").unwrap();
        assert!(!place.repo.can_drop(&third, &paths(&["b"])));
        let first = place.repo.inner.find_commit(oid).unwrap().parent_id(0).unwrap().to_string();
        assert!(!place.repo.can_drop(&first, &paths(&["a", "b", "c"])), "the first commit has no parent");
    }
}
