//! Writes and commits of the app, in order.
//!
//! A write does not wait for a commit message: the files are written, and the commit is made when the model has answered. The next
//! write or commit flushes the pending commit and waits for it, so that commits are made in the order of the writes.

pub(super) mod pending;

use super::history_summary::separate_weak_client;
use super::survey::refresh::head_line;
use super::write::{WriteOutcome, new_syntax_faults, undo, write};
use super::{Host, ModelClient, caught, lock};
use pending::commit_messages;
use pending::{CommitMessages, PendingCommits, not_committed};
use rhumb_llm::models::Dollars;
use rhumb_session::context::{ChangedFile, change_message};
use rhumb_session::{
    AskEvent, CommitRequest, Committed, Failure, GitEffect, GitResponse, PendingWrite, RequestSpec, Response,
    WriteConsent, Written, name_some,
};
use rhumb_text::diff;
use rhumb_workspace::git::{GitError, Repo};
use rhumb_workspace::process::quoted;
use rhumb_workspace::{Direction, Root, RootKind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// The state of a session's commits.
#[derive(Debug, Default)]
pub(super) struct Commits {
    /// Held while files are written or committed.
    queue: tokio::sync::Mutex<()>,
    /// Makes the last commit in the queue stop waiting for its message.
    flush: Mutex<CancellationToken>,
    /// The newest write in the journal at the last message of the user.
    since: AtomicU64,
    reported_jj: AtomicBool,
}

impl Commits {
    /// Makes pending commits stop waiting for their messages. Returns the token for the next one.
    fn flush(&self) -> CancellationToken {
        let own = CancellationToken::new();
        std::mem::replace(&mut *lock(&self.flush), own.clone()).cancel();
        own
    }
}

impl Host {
    /// Writes files, and commits them if the settings enable commits.
    pub(super) fn write_and_commit(self, files: Vec<PendingWrite>, commit: CommitRequest, consent: WriteConsent) {
        let flush = self.shared.commits.flush();
        tokio::spawn(async move {
            let _turn = self.shared.commits.queue.lock().await;
            let allowance = commit.allowance;
            let failed = |failure| (Response::NotWritten { failure, stale: Vec::new() }, None);
            let (response, pending) = self.on_thread(failed, move |host| host.write(&files, commit, &consent)).await;
            self.respond(response).await;
            let Some((pending, client)) = pending else { return };
            let committed = self.commit_with_message(pending, &client, allowance, &flush).await;
            self.report_commit(committed).await;
        });
    }

    /// Undoes or redoes the last write.
    pub(super) fn undo_in_turn(self, direction: Direction) {
        self.shared.commits.flush();
        tokio::spawn(async move {
            let _turn = self.shared.commits.queue.lock().await;
            let work = move |host: &Self| {
                let shared = &host.shared;
                undo(&shared.root, host.journal().as_ref(), direction, &shared.env.settings)
            };
            let result = self.on_thread(Err, work).await;
            self.respond(Response::Undone { direction, result }).await;
        });
    }

    pub(super) fn git(self, effect: GitEffect) {
        match effect {
            GitEffect::FlushPendingCommits => drop(self.shared.commits.flush()),
            GitEffect::Diff => {
                let failed = |failure| Response::Git(GitResponse::Diff(Err(failure)));
                self.blocking(failed, |host| Response::Git(GitResponse::Diff(Ok(host.written_since_message()))));
            }
            GitEffect::Commit { message, allowance, weak_model } => {
                let flush = self.shared.commits.flush();
                tokio::spawn(async move {
                    let _turn = self.shared.commits.queue.lock().await;
                    let committed =
                        self.commit_users_changes((message, weak_model.as_deref()), allowance, &flush).await;
                    self.report_commit(committed).await;
                });
            }
        }
    }

    /// Sets the start of `/diff`, if this is a message of the user.
    pub(super) fn mark_diff_start(&self, spec: &RequestSpec) {
        if !spec.exchange.is_empty() || !spec.partial.is_empty() {
            return;
        }
        let host = self.clone();
        tokio::task::spawn_blocking(move || {
            let newest = host.journal().map_or(0, |journal| journal.newest());
            host.shared.commits.since.store(newest, Ordering::SeqCst);
        });
    }

    fn written_since_message(&self) -> String {
        let since = self.shared.commits.since.load(Ordering::SeqCst);
        let changes = self.journal().map(|journal| journal.changes_after(since)).unwrap_or_default();
        let texts =
            changes.iter().map(|change| diff::unified(&change.path, change.before.as_deref(), change.after.as_deref()));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Writes files. Returns the response, and the pending commits with the model for their messages.
    fn write(
        &self,
        files: &[PendingWrite],
        commit: CommitRequest,
        consent: &WriteConsent,
    ) -> (Response, Option<(PendingCommits, ModelClient)>) {
        let faults = new_syntax_faults(files);
        if faults.iter().any(|fault| !consent.faults.contains(fault)) {
            return (Response::BreaksSyntax(faults), None);
        }
        let settings = &self.shared.env.settings;
        let commit = CommitRequest { own_changes: commit.own_changes.or_setting(settings.dirty_commits), ..commit };
        let wanted = commit.choice.commits(settings.auto_commit).then_some(&commit);
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
        let client = pending.needs_message().then(|| self.message_client(commit.weak_model.as_deref())).flatten();
        if let Some(client) = client {
            written.commit_follows = true;
            return (Response::Wrote(written), Some((*pending, client)));
        }
        let committed = self.make_commits(*pending, CommitMessages::default());
        (Response::Wrote(with_commit(written, committed)), None)
    }

    async fn commit_with_message(
        &self,
        pending: PendingCommits,
        client: &ModelClient,
        allowance: Option<Dollars>,
        flush: &CancellationToken,
    ) -> Committed {
        let (messages, spent) = commit_messages(&self.shared.env, client, &pending, allowance, flush).await;
        for spent in spent {
            self.respond(Response::Asked { turn: 0, event: AskEvent::Spent(spent) }).await;
        }
        self.on_thread(panicked, move |host| host.make_commits(pending, messages)).await
    }

    /// Performs `/commit`: commits the staged changes, or all changes of tracked files.
    async fn commit_users_changes(
        &self,
        (message, weak_model): (Option<String>, Option<&str>),
        allowance: Option<Dollars>,
        flush: &CancellationToken,
    ) -> Committed {
        let (needs_message, weak_model) = (message.is_none(), weak_model.map(str::to_owned));
        let prepare = move |host: &Self| host.prepare_users_changes(needs_message, weak_model.as_deref());
        let prepared = self.on_thread(|failure| Err(vec![failure]), prepare).await;
        let (pending, client, untracked) = match prepared {
            Ok(prepared) => prepared,
            Err(notes) => return Committed { notes, ..Committed::default() },
        };
        let mut committed = match client {
            Some(client) => self.commit_with_message(pending, &client, allowance, flush).await,
            None => {
                let messages = CommitMessages { accepted: message, ..CommitMessages::default() };
                self.on_thread(panicked, move |host| host.make_commits(pending, messages)).await
            }
        };
        committed.notes.extend(untracked);
        committed
    }

    /// The model for commit messages; `None` without a weak model. Then a message is made from the change.
    fn message_client(&self, chosen: Option<&str>) -> Option<ModelClient> {
        separate_weak_client(&self.shared.env, chosen, &self.client()?)
    }

    /// Prepares `/commit`. Returns the commit, the model for its message, and a note about untracked files.
    fn prepare_users_changes(
        &self,
        needs_message: bool,
        weak_model: Option<&str>,
    ) -> Result<(PendingCommits, Option<ModelClient>, Option<Failure>), Vec<Failure>> {
        let failed = |error: &GitError| vec![not_committed(error)];
        let Some(repo) = self.repo_for_commit().map_err(|error| failed(&error))? else {
            let message = "This folder is not in a git repository, so nothing was committed.".to_owned();
            return Err(vec![Failure { message, hint: "git init creates one.".to_owned() }]);
        };
        // Staged changes are an explicit choice of what to commit.
        let untracked =
            if repo.has_staged().unwrap_or(false) { Vec::new() } else { repo.untracked().unwrap_or_default() };
        let untracked = (!untracked.is_empty()).then(|| untracked_note(&untracked));
        let pending = match users_changes(&self.shared.root, &repo) {
            Ok(pending) => pending,
            Err(error) => return Err(failed(&error).into_iter().chain(untracked).collect()),
        };
        let client = if needs_message { self.message_client(weak_model) } else { None };
        Ok((pending, client, untracked))
    }

    fn repo_for_commit(&self) -> Result<Option<Repo>, GitError> {
        let root = &self.shared.root;
        if root.kind() != RootKind::Git {
            return Ok(None);
        }
        let repo = Repo::open(root.path())?;
        match repo.as_ref().and_then(Repo::state) {
            Some(operation) => Err(GitError::InProgress(operation)),
            None => Ok(repo),
        }
    }

    fn make_commits(&self, pending: PendingCommits, messages: CommitMessages) -> Committed {
        let model = self.client().map(|client| client.model).unwrap_or_default();
        let mut committed = pending.commit(messages, &self.shared.env.settings, &model);
        committed.notes.extend(committed.commit.is_some().then(|| self.jj_note()).flatten());
        committed
    }

    /// A note, shown once, if the repository is shared with jj.
    fn jj_note(&self) -> Option<Failure> {
        let shared = is_shared_with_jj(self.shared.root.path());
        (shared && !self.shared.commits.reported_jj.swap(true, Ordering::SeqCst)).then(|| Failure {
            message:
                "This is also a jj repository: the commit is on git's HEAD, and jj imports it with its next command."
                    .into(),
            hint: "With --no-commit, the changes stay in jj's working copy.".into(),
        })
    }

    async fn report_commit(&self, committed: Committed) {
        let head = self.on_thread(|_| None, |host| head_line(&host.shared.root)).await;
        if let Some(head) = head {
            self.respond(Response::Head(head)).await;
        }
        self.respond(Response::Git(GitResponse::Committed(committed))).await;
    }

    /// Runs `work` on a thread that may block; after a panic, returns the result of `failed`.
    async fn on_thread<T: Send + 'static>(
        &self,
        failed: impl FnOnce(Failure) -> T + Send + 'static,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let host = self.clone();
        let (sender, done) = tokio::sync::oneshot::channel();
        tokio::task::spawn_blocking(move || {
            drop(sender.send(caught(|| work(&host)).unwrap_or_else(failed)));
        });
        match done.await {
            Ok(result) => result,
            // The runtime is shutting down, so the result is not needed.
            Err(_) => std::future::pending().await,
        }
    }
}

/// The staged changes, or all changes of tracked files.
fn users_changes(root: &Root, repo: &Repo) -> Result<PendingCommits, GitError> {
    let prepared =
        if repo.has_staged()? { repo.prepare_staged()? } else { repo.prepare(&repo.modified_tracked()?, None)? };
    if prepared.is_empty() {
        return Err(GitError::NothingToCommit);
    }
    let texts = repo.texts(&prepared);
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
    Ok(PendingCommits::new(root).with_users(prepared, message))
}

/// A note about untracked files, which are not committed.
fn untracked_note(paths: &[String]) -> Failure {
    let stay = if paths.len() == 1 {
        "stays uncommitted: git does not track it"
    } else {
        "stay uncommitted: git does not track them"
    };
    let first = paths.first().map(|path| quoted(path)).unwrap_or_default();
    Failure { message: format!("{} {stay}.", name_some(paths)), hint: format!("/git add {first}, then /commit.") }
}

fn panicked(failure: Failure) -> Committed {
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
