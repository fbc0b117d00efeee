//! A commit of some files, and of nothing else.
//!
//! The tree is built in memory from HEAD's tree, so what the user has staged or left unstaged in other files is neither
//! committed nor lost. Only the entries of the committed files change in the real index, which is locked all the while.

use std::time::Duration;

use git2::{ErrorCode, Index, Oid, Signature};

use super::error::GitError;
use super::repo::{Repo, short_id};
use super::take::{Change, Mark, Taken, apply, holds, in_memory};

/// What stands after a name to tell commits of the program apart.
const SUFFIX: &str = " (rhumb)";

/// How a commit is made.
#[derive(Debug, Clone)]
pub struct Manner<'a> {
    /// The message.
    pub message: &'a str,
    /// Whether the author's name tells that the program wrote it.
    pub mark_author: bool,
    /// Whether the committer's name tells so.
    pub mark_committer: bool,
    /// Whether git's hooks run.
    pub hooks: bool,
    /// How long the git program may take, where it is needed.
    pub patience: Duration,
}

impl<'a> Manner<'a> {
    /// With this message, by the user alone, and without hooks.
    pub fn plain(message: &'a str) -> Self {
        let patience = Duration::from_secs(60);
        Self { message, mark_author: false, mark_committer: false, hooks: false, patience }
    }
}

/// A commit that was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// Commit id.
    pub id: String,
    /// Abbreviated commit id.
    pub short_id: String,
    /// The first line of its message.
    pub subject: String,
    /// New files that were left out because git ignores them.
    pub left_out: Vec<String>,
    /// Files that were left out because they cannot be committed here: the reasons.
    pub refused: Vec<String>,
    /// Files that somebody else has committed since they were taken; they are as those commits have them.
    pub overtaken: Vec<String>,
    /// Why the index could not be brought to the commit, where it could not. It stays locked, and the next commit or start tries again.
    pub index_failed: Option<String>,
}

/// Who is named in a commit.
pub(super) struct Names {
    pub(super) author: Signature<'static>,
    pub(super) committer: Signature<'static>,
}

impl Repo {
    /// Commits the content that `paths` have in the work tree now. See [`Repo::take`] and [`Repo::commit`].
    ///
    /// # Errors
    /// As there.
    pub fn commit_paths(&self, paths: &[String], message: &str) -> Result<Commit, GitError> {
        self.commit(self.take(paths, None)?, &Manner::plain(message))
    }

    /// Commits what was taken, on top of HEAD or as the first commit. The rest of the user's index stays as it was. Refused
    /// while a merge or the like is under way, when HEAD has gone elsewhere since, and while another git process holds the
    /// index; waits up to two seconds for the latter. Hooks run if they are wanted, and the commit is signed if git's
    /// settings say so: both by the git program, which nothing else runs.
    ///
    /// # Errors
    /// Nothing was committed, for one of these reasons.
    pub fn commit(&self, taken: Taken, manner: &Manner<'_>) -> Result<Commit, GitError> {
        if let Some(operation) = self.state() {
            return Err(GitError::InProgress { operation });
        }
        let message = &git2::message_prettify(manner.message, None).unwrap_or_default();
        if message.is_empty() {
            return Err(GitError::EmptyMessage);
        }
        let names = self.names(manner)?;
        let mut lock = self.lock_index()?;
        self.has_not_left(&taken.mark)?;
        let parent = self.parent()?;
        let mut index = in_memory(parent.as_ref())?;
        let Sorted { ready, overtaken } = sorted(&taken.changes, &index);
        if ready.is_empty() {
            return Err(nothing(taken, overtaken));
        }
        apply(&mut index, &ready)?;
        let tree = self.tree(&mut index, parent.as_ref())?;
        let from = parent.as_ref().map(git2::Commit::id);
        let (id, followed) = if manner.hooks {
            lock.moves(from, None)?;
            let id = self.commit_by_program(manner.patience, &names, message, &index)?;
            (id, lock.prepare(from, id, &taken.changes))
        } else {
            let id = self.make(manner, &names, message, parent.as_ref(), tree)?;
            lock.prepare(from, id, &taken.changes)?;
            lock.moves(from, Some(id))?;
            self.move_head(parent.as_ref(), id, message)?;
            (id, Ok(()))
        };
        // The commit stands from here on, so a failure is told and not returned.
        let index_failed = followed.and_then(|()| lock.install()).err();
        let made = self.inner.find_commit(id).ok();
        let short = made.as_ref().and_then(|made| short_id(made).ok()).unwrap_or_else(|| id.to_string());
        let subject = made.as_ref().and_then(git2::Commit::summary_bytes).unwrap_or_default();
        Ok(Commit {
            id: id.to_string(),
            short_id: short,
            subject: String::from_utf8_lossy(subject).into_owned(),
            left_out: taken.ignored,
            refused: taken.refused.iter().map(ToString::to_string).collect(),
            overtaken,
            index_failed: index_failed.map(|error| error.to_string()),
        })
    }

    /// A commit that no branch has yet.
    fn make(
        &self,
        manner: &Manner<'_>,
        names: &Names,
        message: &str,
        parent: Option<&git2::Commit<'_>>,
        tree: Oid,
    ) -> Result<Oid, GitError> {
        if self.signs() {
            return self.sign_by_program(manner.patience, names, message, parent, tree);
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

    fn names(&self, manner: &Manner<'_>) -> Result<Names, GitError> {
        let unknown = |error: git2::Error| match error.code() {
            ErrorCode::NotFound => GitError::NoIdentity,
            _ => GitError::when("read your name")(error),
        };
        let author = self.inner.author_from_env().map_err(unknown)?;
        let committer = self.inner.committer_from_env().map_err(unknown)?;
        Ok(Names { author: marked(author, manner.mark_author), committer: marked(committer, manner.mark_committer) })
    }

    pub(super) fn parent(&self) -> Result<Option<git2::Commit<'_>>, GitError> {
        match self.inner.head().and_then(|head| head.peel_to_commit()) {
            Ok(commit) => Ok(Some(commit)),
            Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
            Err(error) => Err(GitError::when("read HEAD")(error)),
        }
    }

    /// What was taken belongs on the branch that it was taken on: the same one, and not set back since.
    fn has_not_left(&self, mark: &Mark) -> Result<(), GitError> {
        let now = self.mark()?;
        let follows = match (mark.tip, now.tip) {
            (None, _) => true,
            (Some(before), Some(tip)) => before == tip || self.inner.graph_descendant_of(tip, before).unwrap_or(false),
            (Some(_), None) => false,
        };
        if now.branch == mark.branch && follows { Ok(()) } else { Err(GitError::Moved) }
    }

    pub(super) fn commit_refused(&self, error: git2::Error) -> GitError {
        if error.code() != ErrorCode::Locked {
            return GitError::when("commit")(error);
        }
        let name = self.inner.find_reference("HEAD").ok();
        let name = name.as_ref().and_then(|head| head.symbolic_target().ok().flatten()).unwrap_or("HEAD");
        GitError::Locked { lock: self.inner.commondir().join(format!("{name}.lock")), age_seconds: None }
    }

    /// Moves the branch, or HEAD itself where it is on none, from its parent to a new commit.
    fn move_head(&self, parent: Option<&git2::Commit<'_>>, id: Oid, message: &str) -> Result<(), GitError> {
        let name = self.mark()?.branch.unwrap_or_else(|| "HEAD".to_owned());
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

/// The changes that HEAD does not have yet, and the paths that it has otherwise since.
struct Sorted<'t> {
    ready: Vec<&'t Change>,
    overtaken: Vec<String>,
}

fn sorted<'t>(changes: &'t [Change], head: &Index) -> Sorted<'t> {
    let mut sorted = Sorted { ready: Vec::new(), overtaken: Vec::new() };
    for change in changes {
        let now = holds(head, &change.path);
        if now == change.held_after() {
            continue;
        }
        if now == change.in_head {
            sorted.ready.push(change);
        } else {
            sorted.overtaken.push(change.path.clone());
        }
    }
    sorted
}

/// Why there is nothing to commit in what was taken.
fn nothing(taken: Taken, overtaken: Vec<String>) -> GitError {
    if !overtaken.is_empty() {
        return GitError::Overtaken { paths: overtaken };
    }
    taken.refused.into_iter().next().unwrap_or(GitError::NothingToCommit)
}

fn marked(name: Signature<'static>, mark: bool) -> Signature<'static> {
    let text = String::from_utf8_lossy(name.name_bytes()).into_owned() + SUFFIX;
    let email = String::from_utf8_lossy(name.email_bytes()).into_owned();
    if mark { Signature::new(&text, &email, &name.when()).unwrap_or(name) } else { name }
}
