//! Commits that wait for their messages, which the weak model writes. Their trees are prepared already.

use crate::config::Settings;
use crate::host::history_summary::answer;
use crate::host::{ModelClient, RequestEnv};
use rhumb_llm::Request;
use rhumb_llm::models::Dollars;
use rhumb_session::context::{CommitMessageInputs, commit_message_in, commit_request, shortened_subject};
use rhumb_session::{Committed, Failure, Spent, name_some};
use rhumb_workspace::git::{Commit, CommitOptions, GitError, PreparedCommit, Repo};
use rhumb_workspace::{Journal, PendingCommit, Root, is_secret_name};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum time for signing a commit.
const SIGNING_TIMEOUT: Duration = Duration::from_secs(60);

/// Commits that are prepared but not made.
#[derive(Debug)]
pub struct PendingCommits {
    root: Root,
    /// The user's own changes, which are committed first.
    own: Option<CommitDraft>,
    accepted: Option<CommitDraft>,
    /// Whether a model wrote the accepted changes.
    by_model: bool,
    notes: Vec<Failure>,
    /// A note in the journal in case the process dies before the commit. Removed on drop.
    journal_note: Option<PendingCommit>,
    /// The number of the write in the journal.
    recorded: Option<(Journal, u64)>,
}

#[derive(Debug)]
struct CommitDraft {
    prepared: PreparedCommit,
    /// The message if no model writes one.
    fallback: String,
    /// The message of the user that led to the changes; may be empty.
    request: String,
}

/// The input for a commit message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRequest {
    /// The message of the user; may be empty.
    pub request: String,
    /// The files, each with its diff, which is empty for secret files.
    pub change: Vec<(String, String)>,
}

/// Messages by a model; `None` for a commit without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitMessages {
    /// For the user's own changes.
    pub own: Option<String>,
    /// For the accepted changes, or those of `/commit`.
    pub accepted: Option<String>,
}

impl PendingCommits {
    pub(crate) fn new(root: &Root) -> Self {
        Self {
            root: root.clone(),
            own: None,
            accepted: None,
            by_model: false,
            notes: Vec::new(),
            journal_note: None,
            recorded: None,
        }
    }

    /// Adds the commit of the user's own changes to these files.
    pub(crate) fn with_own(mut self, prepared: PreparedCommit, paths: &[String]) -> Self {
        let fallback = shortened_subject(&format!("Own changes to {}", name_some(paths)));
        self.own = Some(CommitDraft { prepared, fallback, request: String::new() });
        self
    }

    pub(crate) fn with_accepted(mut self, prepared: PreparedCommit, fallback: &str, request: &str) -> Self {
        self.by_model = true;
        self.accepted = Some(CommitDraft { prepared, fallback: fallback.to_owned(), request: request.to_owned() });
        self
    }

    pub(super) fn with_users(mut self, prepared: PreparedCommit, fallback: String) -> Self {
        self.accepted = Some(CommitDraft { prepared, fallback, request: String::new() });
        self
    }

    pub(crate) fn with_note(mut self, note: Option<Failure>) -> Self {
        self.notes.extend(note);
        self
    }

    pub(crate) fn with_journal_note(mut self, journal_note: Option<PendingCommit>) -> Self {
        self.journal_note = journal_note;
        self
    }

    pub(crate) fn with_record(mut self, recorded: Option<(Journal, u64)>) -> Self {
        self.recorded = recorded;
        self
    }

    pub(crate) fn own(&self) -> Option<&PreparedCommit> {
        self.own.as_ref().map(|draft| &draft.prepared)
    }

    /// Whether there is a commit that is not empty.
    pub fn needs_message(&self) -> bool {
        [&self.own, &self.accepted].into_iter().flatten().any(|draft| !draft.prepared.is_empty())
    }

    /// The input for the message of the user's own changes.
    pub(super) fn own_message_request(&self) -> Option<MessageRequest> {
        self.message_request_for(self.own.as_ref()?, None)
    }

    /// The input for the message of the other commit.
    pub(crate) fn message_request(&self) -> Option<MessageRequest> {
        self.message_request_for(self.accepted.as_ref()?, self.own())
    }

    fn message_request_for(&self, draft: &CommitDraft, on: Option<&PreparedCommit>) -> Option<MessageRequest> {
        let patches = Repo::open(self.root.path()).ok()??.patches(&draft.prepared, on).ok()?;
        let shown = |path: &str, text: String| if is_secret_name(path) { String::new() } else { text };
        let change = patches.into_iter().map(|patch| (patch.path.clone(), shown(&patch.path, patch.text)));
        let change: Vec<(String, String)> = change.collect();
        (!change.is_empty()).then(|| MessageRequest { request: draft.request.clone(), change })
    }

    /// Makes the commits. Changes by `model` are attributed to it according to the settings.
    pub fn commit(self, messages: CommitMessages, settings: &Settings, model: &str) -> Committed {
        // The journal note is dropped at the end, even after an error, because errors are reported.
        let Self { root, own, accepted, by_model, notes, journal_note: _journal_note, recorded } = self;
        let mut committed = Committed { notes, ..Committed::default() };
        let repo = match Repo::open(root.path()) {
            Ok(Some(repo)) => repo,
            Ok(None) => return committed,
            Err(error) => return with_error(committed, &error),
        };
        if let Some(own) = own {
            let message = messages.own.unwrap_or(own.fallback);
            match repo.commit(own.prepared, &commit_options(&message, settings, false)) {
                Ok(commit) => {
                    committed.own_commit = Some(commit.short_id.clone());
                    committed.notes.extend(commit_note(&commit));
                }
                Err(error) => return with_error(committed, &error),
            }
        }
        let Some(accepted) = accepted else { return committed };
        let mut message = messages.accepted.unwrap_or(accepted.fallback);
        if by_model {
            message += &trailer(settings, model);
        }
        match repo.commit(accepted.prepared, &commit_options(&message, settings, by_model)) {
            Ok(commit) => {
                committed.notes.extend(commit_note(&commit));
                if let Some((journal, number)) = recorded {
                    journal.note_commit(number, &commit.id);
                }
                committed.commit = Some((commit.short_id, commit.subject));
                committed
            }
            Err(error) => with_error(committed, &error),
        }
    }
}

/// The options of a commit; `ours` for changes that the program wrote.
pub(crate) fn commit_options<'a>(message: &'a str, settings: &Settings, ours: bool) -> CommitOptions<'a> {
    CommitOptions {
        message,
        mark_author: ours && settings.attribution.author,
        mark_committer: ours && settings.attribution.committer,
        hooks: settings.commit_hooks,
        timeout: if settings.commit_hooks { settings.command_timeout } else { SIGNING_TIMEOUT },
    }
}

/// The trailer that names the model, if the settings ask for it.
pub(crate) fn trailer(settings: &Settings, model: &str) -> String {
    let name: String = model.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>' | '(' | ')')).collect();
    if !settings.attribution.co_author || name.is_empty() {
        return String::new();
    }
    // The domain is reserved and receives no mail.
    format!("\n\nCo-authored-by: rhumb ({name}) <noreply@rhumb.invalid>")
}

fn with_error(mut committed: Committed, error: &GitError) -> Committed {
    committed.notes.push(not_committed(error));
    committed
}

/// The failure for a commit that was not made.
pub(crate) fn not_committed(error: &GitError) -> Failure {
    let error_text = error.to_string();
    Failure { message: format!("Not committed: {}.", error_text.trim_end_matches('.')), hint: error.hint() }
}

pub(crate) fn commit_note(commit: &Commit) -> Option<Failure> {
    let mut notes = Vec::new();
    if !commit.ignored.is_empty() {
        notes.push(format!("Not committed, because it is ignored by git: {}.", commit.ignored.join(", ")));
    }
    notes.extend(commit.refused.iter().map(|reason| format!("Not in the commit: {reason}.")));
    if !commit.already_committed.is_empty() {
        notes.push(format!(
            "Not in the commit, because another commit changed it meanwhile: {}.",
            commit.already_committed.join(", ")
        ));
    }
    if let Some(why) = &commit.index_error {
        notes.push(format!(
            "The commit was made, but git's index was not updated: {why}. The index stays locked, so that it is not used for \
             another commit. The next commit or start of rhumb updates it."
        ));
    }
    let hint = "These files are on disk; commit them when you are ready.".to_owned();
    (!notes.is_empty()).then(|| Failure { message: notes.join(" "), hint })
}

/// How long a commit waits for its message.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);

/// How long to wait for a cancelled request to end, so that its cost is known.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Expected maximum size of a message in tokens with its thinking, for the spending cap.
const EXPECTED_OUTPUT: u64 = 512;

/// Asks for the messages of pending commits. Returns those that arrive in time and before `cancel`, and their cost.
pub async fn commit_messages(
    env: &RequestEnv,
    client: &ModelClient,
    pending: &PendingCommits,
    allowance: Option<Dollars>,
    cancel: &CancellationToken,
) -> (CommitMessages, Vec<Spent>) {
    let writer = MessageWriter { env, client, cancel };
    let (mut messages, mut all, mut left) = (CommitMessages::default(), Vec::new(), allowance);
    let (own, accepted) = (pending.own_message_request(), pending.message_request());
    for (message_request, message) in [(own, &mut messages.own), (accepted, &mut messages.accepted)] {
        let Some(message_request) = message_request else { continue };
        let (text, spent) = writer.message(&message_request, left).await;
        *message = text;
        if let Some(spent) = spent {
            client.pay(&mut left, &spent);
            all.push(spent);
        }
    }
    (messages, all)
}

struct MessageWriter<'a> {
    env: &'a RequestEnv,
    client: &'a ModelClient,
    cancel: &'a CancellationToken,
}

impl MessageWriter<'_> {
    async fn message(
        &self,
        message_request: &MessageRequest,
        allowance: Option<Dollars>,
    ) -> (Option<String>, Option<Spent>) {
        let Some(request) = self.request(message_request).filter(|_| !self.cancel.is_cancelled()) else {
            return (None, None);
        };
        if self.client.exceeds(allowance, &request, EXPECTED_OUTPUT) {
            return (None, None);
        }
        let stop = self.cancel.child_token();
        let timeout_reached = async {
            tokio::time::sleep(MESSAGE_TIMEOUT).await;
            stop.cancel();
            tokio::time::sleep(STOP_TIMEOUT).await;
        };
        let cancelled = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(STOP_TIMEOUT).await;
        };
        let answer = timeout(MESSAGE_TIMEOUT + STOP_TIMEOUT * 2, answer(self.client, request, &stop));
        tokio::select! {
            ended = answer => match ended {
                Ok((text, spent)) => (text.ok().and_then(|text| commit_message_in(&text)), spent),
                Err(_) => (None, None),
            },
            () = timeout_reached => (None, None),
            () = cancelled => (None, None),
        }
    }

    fn request(&self, message_request: &MessageRequest) -> Option<Request> {
        let counter = self.env.counter(&self.client.facts);
        let inputs = CommitMessageInputs {
            request: &message_request.request,
            change: &message_request.change,
            language: self.env.settings.commit_language.as_deref(),
            window: self.env.window(&self.client.facts),
            prompts: &self.env.prompts,
            counter: &counter,
        };
        let (messages, _) = commit_request(&inputs)?;
        Some(self.client.request(messages, &counter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trailer_names_the_model_without_special_characters() {
        let settings = Settings::default();
        assert_eq!(trailer(&settings, "m-1"), "\n\nCo-authored-by: rhumb (m-1) <noreply@rhumb.invalid>");
        assert_eq!(trailer(&settings, "m\n<x@y>\u{1b}"), "\n\nCo-authored-by: rhumb (mx@y) <noreply@rhumb.invalid>");
        assert_eq!(trailer(&settings, ""), "");
        let mut off = settings;
        off.attribution.co_author = false;
        assert_eq!(trailer(&off, "m"), "");
    }
}
