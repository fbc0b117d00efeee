//! Writes and commits of the app, one after the other.
//!
//! A write is never held up by a message: the files are written, and the commit follows when the model has answered. Whatever
//! writes or commits next hurries it on and waits for it, so that commits are made in the order of the writes.

pub(super) mod message;
pub(super) mod pending;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use super::survey::surveying::head_line;
use super::write::{WriteOutcome, faults_of, unwrite, write};
use super::{Host, Line, caught, lock, message_line, messages};
use pending::{Messages, Pending, not_committed};
use rhumb_llm::models::Dollars;
use rhumb_session::context::{ChangedFile, change_message};
use rhumb_session::{
    AskEvent, CommitRequest, Committed, Consent, DirtyCommitPolicy, Failure, GitEffect, GitResponse, PendingWrite,
    RequestSpec, Response, Written, few,
};
use rhumb_text::diff;
use rhumb_workspace::git::{GitError, Repo};
use rhumb_workspace::process::quoted;
use rhumb_workspace::{Direction, Root, RootKind};

/// What the commits of a session share.
#[derive(Debug, Default)]
pub(super) struct Commits {
    /// Held by whoever writes or commits.
    queue: tokio::sync::Mutex<()>,
    /// Ends the wait of the last of them for its message.
    hurry: Mutex<CancellationToken>,
    /// The newest write when the last message was sent.
    since: AtomicU64,
    /// Whether it was told what jj makes of the commits.
    told_jj: AtomicBool,
}

impl Commits {
    /// A place at the end of the queue. ModelRole stands before it no longer waits for a message.
    fn line_up(&self) -> CancellationToken {
        let own = CancellationToken::new();
        std::mem::replace(&mut *lock(&self.hurry), own.clone()).cancel();
        own
    }

    async fn turn(&self) -> MutexGuard<'_, ()> {
        self.queue.lock().await
    }
}

impl Host {
    /// Writes files, and commits them if the settings want that.
    pub(super) fn write_and_commit(self, files: Vec<PendingWrite>, order: CommitRequest, consent: Consent) {
        let hurry = self.shared.commits.line_up();
        tokio::spawn(async move {
            let _turn = self.shared.commits.turn().await;
            let allowance = order.allowance;
            let failed = |failure| (Response::NotWritten { failure, stale: Vec::new() }, None);
            let (report, follows) = self.on_thread(failed, move |runner| runner.write(&files, order, &consent)).await;
            self.report(report).await;
            let Some((pending, line)) = follows else { return };
            let committed = self.committed(pending, &line, allowance, &hurry).await;
            self.tell_committed(committed).await;
        });
    }

    /// Takes the last write back, or does it again.
    pub(super) fn unwrite_in_turn(self, direction: Direction) {
        self.shared.commits.line_up();
        tokio::spawn(async move {
            let _turn = self.shared.commits.turn().await;
            let work = move |runner: &Self| {
                let shared = &runner.shared;
                unwrite(&shared.root, runner.journal().as_ref(), direction, &shared.outfit.settings)
            };
            let result = self.on_thread(Err, work).await;
            self.report(Response::Undone { direction, result }).await;
        });
    }

    /// Does something with git.
    pub(super) fn git(self, order: GitEffect) {
        match order {
            GitEffect::Hurry => drop(self.shared.commits.line_up()),
            GitEffect::Diff => {
                let failed = |failure| Response::Git(GitResponse::Diff(Err(failure)));
                self.blocking(failed, |runner| Response::Git(GitResponse::Diff(Ok(runner.written_since_message()))));
            }
            GitEffect::Commit { message, allowance, weak_model } => {
                let hurry = self.shared.commits.line_up();
                tokio::spawn(async move {
                    let _turn = self.shared.commits.turn().await;
                    let committed = self.commit_users((message, weak_model.as_deref()), allowance, &hurry).await;
                    self.tell_committed(committed).await;
                });
            }
        }
    }

    /// From here on `/diff` counts, if this is a message of the developer's own.
    pub(super) fn begin_diff(&self, order: &RequestSpec) {
        if !order.exchange.is_empty() || !order.partial.is_empty() {
            return;
        }
        let runner = self.clone();
        tokio::task::spawn_blocking(move || {
            let newest = runner.journal().map_or(0, |journal| journal.newest());
            runner.shared.commits.since.store(newest, Ordering::SeqCst);
        });
    }

    fn written_since_message(&self) -> String {
        let since = self.shared.commits.since.load(Ordering::SeqCst);
        let changes = self.journal().map(|journal| journal.changes_after(since)).unwrap_or_default();
        let texts =
            changes.iter().map(|change| diff::unified(&change.path, change.before.as_deref(), change.after.as_deref()));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Writes; what to report, and what is to be committed once that model was asked for its message.
    fn write(
        &self,
        files: &[PendingWrite],
        order: CommitRequest,
        consent: &Consent,
    ) -> (Response, Option<(Pending, Line)>) {
        let faults = faults_of(files);
        if faults.iter().any(|fault| !consent.faults.contains(fault)) {
            return (Response::BreaksSyntax(faults), None);
        }
        let settings = &self.shared.outfit.settings;
        let mut order = order;
        if order.own_changes == DirtyCommitPolicy::Ask {
            order.own_changes = settings.dirty_commits;
        }
        let wanted = order.wanted.unwrap_or(settings.auto_commit).then_some(&order);
        let journal = self.journal().filter(|_| !consent.unrecorded);
        let (mut written, pending) = match write(&self.shared.root, journal.as_ref(), files, wanted) {
            Ok(WriteOutcome::Written(written, pending)) => (written, pending),
            Ok(WriteOutcome::UncommittedChanges(paths)) => {
                return (Response::Git(GitResponse::UncommittedChanges(paths)), None);
            }
            Ok(WriteOutcome::NotRecorded(cause)) => return (Response::NotRecorded(cause), None),
            Err((failure, stale)) => return (Response::NotWritten { failure, stale }, None),
        };
        let Some(pending) = pending else { return (Response::Wrote(written), None) };
        let line = pending.is_worth_a_message().then(|| self.message_line(order.weak_model.as_deref())).flatten();
        if let Some(line) = line {
            written.commit_follows = true;
            return (Response::Wrote(written), Some((*pending, line)));
        }
        let committed = self.made(*pending, Messages::default());
        (Response::Wrote(with_commit(written, committed)), None)
    }

    /// Asks for the messages, and commits with what came in time.
    async fn committed(
        &self,
        pending: Pending,
        line: &Line,
        allowance: Option<Dollars>,
        hurry: &CancellationToken,
    ) -> Committed {
        let (messages, spent) = messages(&self.shared.outfit, line, &pending, allowance, hurry).await;
        for spent in spent {
            self.report(Response::Asked { turn: 0, event: AskEvent::Spent(spent) }).await;
        }
        self.on_thread(lost, move |runner| runner.made(pending, messages)).await
    }

    /// Commits what the user has not committed: what is staged, or every change of tracked files.
    async fn commit_users(
        &self,
        (message, weak_model): (Option<String>, Option<&str>),
        allowance: Option<Dollars>,
        hurry: &CancellationToken,
    ) -> Committed {
        let (asks, weak_model) = (message.is_none(), weak_model.map(str::to_owned));
        let take = move |runner: &Self| runner.take_users(asks, weak_model.as_deref());
        let taken = self.on_thread(|failure| Err(vec![failure]), take).await;
        let (pending, line, left) = match taken {
            Ok(taken) => taken,
            Err(notes) => return Committed { notes, ..Committed::default() },
        };
        let mut committed = match line {
            Some(line) => self.committed(pending, &line, allowance, hurry).await,
            None => {
                let messages = Messages { ours: message, ..Messages::default() };
                self.on_thread(lost, move |runner| runner.made(pending, messages)).await
            }
        };
        committed.notes.extend(left);
        committed
    }

    /// Whom to ask for messages, if anybody.
    fn message_line(&self, chosen: Option<&str>) -> Option<Line> {
        message_line(&self.shared.outfit, chosen, self.line().as_ref())
    }

    /// What is to be committed, whom to ask for a message, and what to say of that which is left.
    fn take_users(
        &self,
        asks: bool,
        weak_model: Option<&str>,
    ) -> Result<(Pending, Option<Line>, Option<Failure>), Vec<Failure>> {
        let failed = |error: &GitError| vec![not_committed(error)];
        let Some(repo) = self.repo_for_commit().map_err(|error| failed(&error))? else {
            let message = "This folder is not in a git repository, so nothing was committed.".to_owned();
            return Err(vec![Failure { message, hint: "git init starts one.".to_owned() }]);
        };
        // ModelRole has staged something has said what to commit.
        let left = if repo.has_staged().unwrap_or(false) { Vec::new() } else { repo.untracked().unwrap_or_default() };
        let left = (!left.is_empty()).then(|| untracked_note(&left));
        let pending = match users_changes(&self.shared.root, &repo) {
            Ok(pending) => pending,
            Err(error) => return Err(failed(&error).into_iter().chain(left).collect()),
        };
        let line = if asks { self.message_line(weak_model) } else { None };
        Ok((pending, line, left))
    }

    fn repo_for_commit(&self) -> Result<Option<Repo>, GitError> {
        let root = &self.shared.root;
        if root.kind() != RootKind::Git {
            return Ok(None);
        }
        let repo = Repo::open(root.path())?;
        match repo.as_ref().and_then(Repo::state) {
            Some(operation) => Err(GitError::InProgress { operation }),
            None => Ok(repo),
        }
    }

    fn made(&self, pending: Pending, messages: Messages) -> Committed {
        let model = self.line().map(|line| line.model).unwrap_or_default();
        let mut committed = pending.commit(messages, &self.shared.outfit.settings, &model);
        committed.notes.extend(committed.commit.is_some().then(|| self.jj_note()).flatten());
        committed
    }

    /// Said once: whose tool works on the same files, and what it makes of a commit.
    fn jj_note(&self) -> Option<Failure> {
        let shared = is_shared_with_jj(self.shared.root.path());
        (shared && !self.shared.commits.told_jj.swap(true, Ordering::SeqCst)).then(|| Failure {
            message:
                "This is also a jj repository: the commit is on git's HEAD, and jj takes it in at its next command."
                    .into(),
            hint: "--no-commit leaves what is written in jj's working copy instead.".into(),
        })
    }

    async fn tell_committed(&self, committed: Committed) {
        let head = self.on_thread(|_| None, |runner| head_line(&runner.shared.root)).await;
        if let Some(head) = head {
            self.report(Response::Head(head)).await;
        }
        self.report(Response::Git(GitResponse::Committed(committed))).await;
    }

    /// Does `work` on a thread that may block; if it panics, what `failed` makes of that.
    async fn on_thread<T: Send + 'static>(
        &self,
        failed: impl FnOnce(Failure) -> T + Send + 'static,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let runner = self.clone();
        let (sender, done) = tokio::sync::oneshot::channel();
        tokio::task::spawn_blocking(move || {
            drop(sender.send(caught(|| work(&runner)).unwrap_or_else(failed)));
        });
        match done.await {
            Ok(result) => result,
            // The runtime ends: nobody waits for the result any more.
            Err(_) => std::future::pending().await,
        }
    }
}

/// What is staged, or every change of tracked files.
fn users_changes(root: &Root, repo: &Repo) -> Result<Pending, GitError> {
    let taken =
        if repo.has_staged()? { repo.prepare_staged()? } else { repo.prepare(&repo.modified_tracked()?, None)? };
    if taken.is_empty() {
        return Err(GitError::NothingToCommit);
    }
    let texts = repo.texts(&taken);
    let files: Vec<ChangedFile<'_>> = texts
        .iter()
        .map(|file| ChangedFile {
            path: &file.path,
            renamed_from: file.renamed_from.as_deref(),
            before: file.before.as_deref(),
            after: file.after.as_deref(),
        })
        .collect();
    let message = change_message(&files, "");
    Ok(Pending::new(root).with_users(taken, message))
}

/// Of new files nobody has said yet that they belong into the repository.
fn untracked_note(paths: &[String]) -> Failure {
    let stay = if paths.len() == 1 {
        "stays uncommitted: git does not track it"
    } else {
        "stay uncommitted: git does not track them"
    };
    let first = paths.first().map(|path| quoted(path)).unwrap_or_default();
    Failure { message: format!("{} {stay}.", few(paths)), hint: format!("/git add {first}, then /commit.") }
}

/// What a panic leaves of a commit.
fn lost(failure: Failure) -> Committed {
    Committed { notes: vec![failure], ..Committed::default() }
}

fn with_commit(mut written: Written, committed: Committed) -> Written {
    written.commit = committed.commit.map(|(id, _)| id);
    written.own_commit = committed.own_commit;
    written.notes.extend(committed.notes);
    written
}

fn is_shared_with_jj(root: &Path) -> bool {
    Repo::open(root).ok().flatten().is_some_and(|repo| repo.is_shared_with_jj())
}
