//! Commits of selected files, and removal and restoration of the last commit.
//!
//! A commit's tree is built in memory from the tree of HEAD, so staged and unstaged changes in other files are
//! neither committed nor lost. In the real index, which is locked meanwhile, only the entries of the committed files
//! change.
//!
//! [`Repo::drop_commit`] does what `git reset --soft HEAD~` does, for the files of that commit only. The commit stays
//! in the object store and in the reflog, so [`Repo::restore_commit`] can restore it under the same id. Neither
//! changes the work tree.

use super::error::GitError;
use super::prepare::{Change, HeadPosition, PreparedCommit, apply, entry_at, in_memory};
use super::repo::{Repo, short_id};
use git2::{ErrorCode, Index, Oid, Signature};
use std::path::Path;
use std::time::Duration;

/// Suffix that marks the names of author and committer.
const SUFFIX: &str = " (rhumb)";

/// How a commit is made.
#[derive(Debug, Clone)]
pub struct CommitOptions<'a> {
    /// Commit message.
    pub message: &'a str,
    /// Whether to mark the author's name with `(rhumb)`.
    pub mark_author: bool,
    /// Whether to mark the committer's name with `(rhumb)`.
    pub mark_committer: bool,
    /// Whether git's hooks run.
    pub hooks: bool,
    /// Time limit of the git program, if it is needed.
    pub timeout: Duration,
}

impl<'a> CommitOptions<'a> {
    /// A commit with this message, unmarked names and no hooks.
    pub fn new(message: &'a str) -> Self {
        let timeout = Duration::from_secs(60);
        Self { message, mark_author: false, mark_committer: false, hooks: false, timeout }
    }
}

/// A commit that was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// Commit id.
    pub id: String,
    /// Abbreviated commit id.
    pub short_id: String,
    /// First line of the message.
    pub subject: String,
    /// New files that were left out because git ignores them.
    pub ignored: Vec<String>,
    /// Why other files were left out, one reason per file.
    pub refused: Vec<String>,
    /// Files that someone else has committed since they were prepared. They stay as committed.
    pub already_committed: Vec<String>,
    /// Why the index could not be updated. It stays locked, and the next commit or start tries again.
    pub index_error: Option<String>,
}

pub(crate) struct Names {
    pub(crate) author: Signature<'static>,
    pub(crate) committer: Signature<'static>,
}

impl Repo {
    /// Commits the present content of `paths` in the work tree. See [`Repo::prepare`] and [`Repo::commit`].
    ///
    /// # Errors
    /// The same as for those two.
    pub fn commit_paths(&self, paths: &[String], message: &str) -> Result<Commit, GitError> {
        self.commit(self.prepare(paths, None)?, &CommitOptions::new(message))
    }

    /// Commits prepared content on top of HEAD, or as the first commit. The rest of the index is unchanged.
    ///
    /// Hooks run if `options` requests them, and the commit is signed if git's settings request it. The git program
    /// does both, and it is used for nothing else.
    ///
    /// # Errors
    /// A merge or a similar operation is in progress, HEAD has moved elsewhere since the preparation, another git
    /// process holds the index for more than two seconds, or git reports an error. Nothing is committed then.
    pub fn commit(&self, prepared: PreparedCommit, options: &CommitOptions<'_>) -> Result<Commit, GitError> {
        if let Some(operation) = self.state() {
            return Err(GitError::InProgress(operation));
        }
        let message = &git2::message_prettify(options.message, None).unwrap_or_default();
        if message.is_empty() {
            return Err(GitError::EmptyMessage);
        }
        let names = self.names(options)?;
        let mut lock = self.lock_index()?;
        self.has_not_left(&prepared.head)?;
        let parent = self.parent()?;
        let mut index = in_memory(parent.as_ref())?;
        let Sorted { ready, already_committed } = sorted(&prepared.changes, &index);
        if ready.is_empty() {
            return Err(nothing(prepared, already_committed));
        }
        apply(&mut index, &ready)?;
        let tree = self.tree(&mut index, parent.as_ref())?;
        let from = parent.as_ref().map(git2::Commit::id);
        let (id, followed) = if options.hooks {
            lock.moves(from, None)?;
            let id = self.commit_by_program(options.timeout, &names, message, &index)?;
            (id, lock.prepare(from, id, &prepared.changes))
        } else {
            let id = self.make(options, &names, message, parent.as_ref(), tree)?;
            lock.prepare(from, id, &prepared.changes)?;
            lock.moves(from, Some(id))?;
            self.move_head(parent.as_ref(), id, message)?;
            (id, Ok(()))
        };
        // The commit exists from here on, so a failure becomes a warning.
        let index_error = followed.and_then(|()| lock.install()).err();
        let made = self.inner.find_commit(id).ok();
        let short = made.as_ref().and_then(|made| short_id(made).ok()).unwrap_or_else(|| id.to_string());
        let subject = made.as_ref().and_then(git2::Commit::summary_bytes).unwrap_or_default();
        Ok(Commit {
            id: id.to_string(),
            short_id: short,
            subject: String::from_utf8_lossy(subject).into_owned(),
            ignored: prepared.ignored,
            refused: prepared.refused.iter().map(ToString::to_string).collect(),
            already_committed,
            index_error: index_error.map(|error| error.to_string()),
        })
    }

    /// Creates a commit without moving a branch.
    fn make(
        &self,
        options: &CommitOptions<'_>,
        names: &Names,
        message: &str,
        parent: Option<&git2::Commit<'_>>,
        tree: Oid,
    ) -> Result<Oid, GitError> {
        if self.signs() {
            return self.sign_by_program(options.timeout, names, message, parent, tree);
        }
        let tree = self.inner.find_tree(tree).map_err(GitError::when("read a tree"))?;
        let parents: Vec<&git2::Commit<'_>> = parent.into_iter().collect();
        let made = self.inner.commit(None, &names.author, &names.committer, message, &tree, &parents);
        made.map_err(GitError::when("commit"))
    }

    fn tree(&self, index: &mut Index, parent: Option<&git2::Commit<'_>>) -> Result<Oid, GitError> {
        let tree = index.write_tree_to(&self.inner).map_err(GitError::when("write a tree"))?;
        if parent.map(git2::Commit::tree_id) == Some(tree) || (parent.is_none() && index.is_empty()) {
            return Err(GitError::NothingToCommit);
        }
        Ok(tree)
    }

    fn names(&self, options: &CommitOptions<'_>) -> Result<Names, GitError> {
        let unknown = |error: git2::Error| match error.code() {
            ErrorCode::NotFound => GitError::NoIdentity,
            _ => GitError::when("read your name")(error),
        };
        let author = self.inner.author_from_env().map_err(unknown)?;
        let committer = self.inner.committer_from_env().map_err(unknown)?;
        Ok(Names { author: marked(author, options.mark_author), committer: marked(committer, options.mark_committer) })
    }

    pub(crate) fn parent(&self) -> Result<Option<git2::Commit<'_>>, GitError> {
        match self.inner.head().and_then(|head| head.peel_to_commit()) {
            Ok(commit) => Ok(Some(commit)),
            Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
            Err(error) => Err(GitError::when("read HEAD")(error)),
        }
    }

    /// Returns an error unless HEAD is on the same branch as at the preparation, and at the same commit or a
    /// descendant.
    fn has_not_left(&self, mark: &HeadPosition) -> Result<(), GitError> {
        let now = self.head_position()?;
        let follows = match (mark.tip, now.tip) {
            (None, _) => true,
            (Some(before), Some(tip)) => before == tip || self.inner.graph_descendant_of(tip, before).unwrap_or(false),
            (Some(_), None) => false,
        };
        if now.branch == mark.branch && follows { Ok(()) } else { Err(GitError::Moved) }
    }

    pub(crate) fn commit_refused(&self, error: git2::Error) -> GitError {
        if error.code() != ErrorCode::Locked {
            return GitError::when("commit")(error);
        }
        GitError::Locked { lock: self.branch_lock(), age_seconds: None }
    }

    /// Moves the branch, or a detached HEAD, from the parent to the new commit.
    fn move_head(&self, parent: Option<&git2::Commit<'_>>, id: Oid, message: &str) -> Result<(), GitError> {
        let name = self.head_position()?.branch.unwrap_or_else(|| "HEAD".to_owned());
        let first = message.lines().next().unwrap_or_default();
        let moved = match parent {
            Some(parent) => {
                self.inner.reference_matching(&name, id, true, parent.id(), &format!("commit: {first}")).map(drop)
            }
            None => self.inner.reference(&name, id, false, &format!("commit (initial): {first}")).map(drop),
        };
        moved.map_err(|error| self.commit_refused(error))
    }
}

/// Changes to commit, and paths that someone else has changed in HEAD.
struct Sorted<'t> {
    ready: Vec<&'t Change>,
    already_committed: Vec<String>,
}

fn sorted<'t>(changes: &'t [Change], head: &Index) -> Sorted<'t> {
    let mut sorted = Sorted { ready: Vec::new(), already_committed: Vec::new() };
    for change in changes {
        let now = entry_at(head, &change.path);
        if now == change.entry_after() {
            continue;
        }
        if now == change.in_head {
            sorted.ready.push(change);
        } else {
            sorted.already_committed.push(change.path.clone());
        }
    }
    sorted
}

/// Returns the reason why there is nothing to commit.
fn nothing(prepared: PreparedCommit, already_committed: Vec<String>) -> GitError {
    if !already_committed.is_empty() {
        return GitError::AlreadyCommitted(already_committed);
    }
    prepared.refused.into_iter().next().unwrap_or(GitError::NothingToCommit)
}

fn marked(name: Signature<'static>, mark: bool) -> Signature<'static> {
    let text = String::from_utf8_lossy(name.name_bytes()).into_owned() + SUFFIX;
    let email = String::from_utf8_lossy(name.email_bytes()).into_owned();
    if mark { Signature::new(&text, &email, &name.when()).unwrap_or(name) } else { name }
}

/// Maximum difference in seconds between the clocks of two machines. A branch tip can be this much older than a
/// commit that the branch contains.
const CLOCK_SKEW: i64 = 86_400;

impl Repo {
    /// Returns whether HEAD is this commit and it can be removed from its branch: it changes no files other than
    /// `paths`, no remote branch contains it, and the repository is not shared with jj.
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

    /// Returns whether a remote-tracking branch contains the commit.
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

    /// Returns whether the commit exists and HEAD is its parent, so that it can be restored.
    pub fn can_restore(&self, id: &str) -> bool {
        let parent = || {
            let commit = self.inner.find_commit(Oid::from_str(id).ok()?).ok()?;
            if commit.parent_count() == 1 { commit.parent_id(0).ok() } else { None }
        };
        let head = || self.inner.head().and_then(|head| head.peel_to_commit()).ok().map(|head| head.id());
        self.state().is_none() && !self.is_shared_with_jj() && parent().is_some_and(|parent| head() == Some(parent))
    }

    /// Removes the commit from its branch: HEAD becomes its parent. The index entries of its files follow, except
    /// those with other staged content. Returns the abbreviated id.
    ///
    /// # Errors
    /// HEAD is no longer this commit, or git reports an error. Nothing was moved.
    pub fn drop_commit(&self, id: &str) -> Result<String, GitError> {
        let commit = self.inner.find_commit(oid(id)?).map_err(GitError::when("read a commit"))?;
        let parent = commit.parent(0).map_err(GitError::when("read a commit"))?;
        self.move_branch(&commit, &parent, "undo")?;
        short_id(&commit)
    }

    /// Restores a removed commit. Returns the abbreviated id.
    ///
    /// # Errors
    /// HEAD is no longer its parent, or git reports an error. Nothing was moved.
    pub fn restore_commit(&self, id: &str) -> Result<String, GitError> {
        let commit = self.inner.find_commit(oid(id)?).map_err(GitError::when("read a commit"))?;
        let parent = commit.parent(0).map_err(GitError::when("read a commit"))?;
        self.move_branch(&parent, &commit, "redo")?;
        short_id(&commit)
    }

    /// Moves the branch, or a detached HEAD, from one commit to another.
    fn move_branch(&self, from: &git2::Commit<'_>, to: &git2::Commit<'_>, why: &str) -> Result<(), GitError> {
        let mut lock = self.lock_index()?;
        let name = self.head_position()?.branch.unwrap_or_else(|| "HEAD".to_owned());
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
    use super::*;
    use std::fs;

    struct Fixture {
        dir: tempfile::TempDir,
        repo: Repo,
    }

    impl Fixture {
        /// A repository with the files `a`, `b` and `c`, and a second commit that changes `a` and adds `new`.
        fn new() -> (Self, String) {
            let dir = tempfile::tempdir().unwrap();
            for path in ["a", "b", "c"] {
                fs::write(dir.path().join(path), "1\n").unwrap();
            }
            crate::git::init(dir.path(), "Ada", "ada@example.com", "Start").unwrap();
            let repo = Repo::open(dir.path()).unwrap().unwrap();
            let fixture = Self { dir, repo };
            fixture.put("a", "2\n");
            fixture.put("new", "1\n");
            fixture.repo.commit_paths(&paths(&["a", "new"]), "Second").unwrap();
            let id = fixture.head();
            (fixture, id)
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

        /// Paths that differ from HEAD, with `S` in front of staged ones.
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
        let (fixture, id) = Fixture::new();
        // Other changes of the user stay as they are.
        fixture.put("b", "mine\n");
        fixture.stage("b");
        fixture.put("c", "mine\n");
        assert!(fixture.repo.can_drop(&id, &paths(&["a", "new"])) && !fixture.repo.can_restore(&id));
        fixture.put("a", "1\n");
        fs::remove_file(fixture.dir.path().join("new")).unwrap();
        fixture.repo.drop_commit(&id).unwrap();
        assert_ne!(fixture.head(), id);
        assert_eq!(fixture.status(), ["S b", "c"]);
        fixture.put("a", "2\n");
        fixture.put("new", "1\n");
        assert!(fixture.repo.can_restore(&id));
        fixture.repo.restore_commit(&id).unwrap();
        assert_eq!((fixture.head(), fixture.status()), (id, paths(&["S b", "c"])));
    }

    #[test]
    fn pushed_commits_and_earlier_commits_cannot_be_dropped() {
        let (fixture, id) = Fixture::new();
        let own = paths(&["a", "new"]);
        assert!(!fixture.repo.can_drop(&id, &paths(&["a"])), "it changes another file as well");
        assert!(!fixture.repo.can_drop("no id", &own));
        let oid = Oid::from_str(&id).unwrap();
        let mut pushed = fixture.repo.inner.reference("refs/remotes/origin/main", oid, true, "").unwrap();
        assert!(!fixture.repo.can_drop(&id, &own));
        pushed.delete().unwrap();
        fixture.put("b", "2\n");
        fixture.repo.commit_paths(&paths(&["b"]), "Third").unwrap();
        let third = fixture.head();
        assert!(!fixture.repo.can_drop(&id, &own));
        assert!(fixture.repo.drop_commit(&id).is_err() && fixture.head() == third);
        assert!(!fixture.repo.can_restore(&id));
        assert!(fixture.repo.can_drop(&third, &paths(&["b"])));
        fixture.repo.inner.reference("refs/remotes/origin/x", Oid::from_str(&third).unwrap(), true, "").unwrap();
        assert!(!fixture.repo.can_drop(&third, &paths(&["b"])));
        let first = fixture.repo.inner.find_commit(oid).unwrap().parent_id(0).unwrap().to_string();
        assert!(!fixture.repo.can_drop(&first, &paths(&["a", "b", "c"])), "the first commit has no parent");
    }
}
