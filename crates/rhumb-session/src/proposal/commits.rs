//! Commits: how writes are committed, the effects of git, and their results.
//!
//! Accepted hunks are written at once. If a model writes the commit message, the commit is made when the message arrives. Later writes and
//! commits wait for it, and shorten its wait.

use crate::{Effect, Failure, Level, Notice, Page, Session, WriteConsent};
use rhumb_llm::models::Dollars;

/// Whether a write is committed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommitChoice {
    /// The setting `auto_commit` decides.
    #[default]
    BySetting,
    /// It is committed.
    Commit,
    /// It is not committed.
    NoCommit,
}

impl CommitChoice {
    /// Whether the write is committed, where `setting` is the value of `auto_commit`.
    pub fn commits(self, setting: bool) -> bool {
        match self {
            Self::BySetting => setting,
            Self::Commit => true,
            Self::NoCommit => false,
        }
    }
}

impl From<bool> for CommitChoice {
    fn from(commits: bool) -> Self {
        if commits { Self::Commit } else { Self::NoCommit }
    }
}

/// What happens to the user's own uncommitted changes of the files that are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
pub enum OwnChanges {
    /// The setting `dirty_commits` decides; without it the user decides.
    #[default]
    #[serde(rename = "ask")]
    BySetting,
    /// They are committed before the write.
    #[serde(rename = "yes")]
    CommitFirst,
    /// The files are written and not committed.
    #[serde(rename = "no")]
    LeaveUncommitted,
}

impl OwnChanges {
    /// This choice, or else that of `dirty_commits`. Still [`OwnChanges::BySetting`] if there is neither.
    #[must_use]
    pub fn or_setting(self, dirty_commits: Self) -> Self {
        if self == Self::BySetting { dirty_commits } else { self }
    }
}

/// How accepted hunks are committed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommitRequest {
    /// The request of the user.
    pub request: String,
    /// What happens to the user's own changes of the files.
    pub own_changes: OwnChanges,
    /// The maximum cost of the messages; `None` without a limit.
    pub allowance: Option<Dollars>,
    /// The weak model, if one was chosen in this session.
    pub weak_model: Option<String>,
    /// Whether the write is committed.
    pub choice: CommitChoice,
}

/// An effect of git.
#[derive(Debug, Clone, PartialEq)]
pub enum GitEffect {
    /// Commit the staged changes, or else every change of tracked files.
    Commit {
        /// The message; `None` to have the weak model write it.
        message: Option<String>,
        /// The maximum cost of the message; `None` without a limit.
        allowance: Option<Dollars>,
        /// The weak model, if one was chosen in this session.
        weak_model: Option<String>,
    },
    /// Show the changes written since the last message.
    Diff,
    /// Make pending commits without waiting for their messages, because the program ends. This effect has no response.
    FlushPendingCommits,
}

/// The response to a [`GitEffect`], or to a write that concerns git.
#[derive(Debug, Clone)]
pub enum GitResponse {
    /// Nothing is written yet: these files have uncommitted changes of the user, and the user is to be asked.
    UncommittedChanges(Vec<String>),
    /// A commit was made or failed.
    Committed(Committed),
    /// The changes written since the last message, as unified diffs; empty without any.
    Diff(Result<String, Failure>),
}

/// The result of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// The short id of the commit and the first line of its message; `None` if none was made.
    pub commit: Option<(String, String)>,
    /// The commit of the user's own changes before it, if one was made.
    pub own_commit: Option<String>,
    /// Why none was made, and other warnings.
    pub notes: Vec<Failure>,
}

/// Pending commits, and the choices about commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits {
    /// The number of commits that are not made yet. Most wait for a message.
    pub pending: usize,
    /// The answer about the user's own changes for the rest of the session.
    pub(super) own_changes: OwnChanges,
    /// Whether writes are not committed.
    pub off: bool,
    /// Whether the last write that the user requested is committed.
    pub(super) choice: CommitChoice,
    /// What the user agreed to for that write.
    pub(super) consent: WriteConsent,
    /// Whether the user agreed to all writes of the session without a record.
    pub(super) always_unrecorded: bool,
}

impl Session {
    /// How the accepted hunks are committed.
    pub(super) fn commit_request(&self) -> CommitRequest {
        CommitRequest {
            request: self.proposals.request.clone(),
            own_changes: self.proposals.commits.own_changes,
            allowance: self.allowance(),
            weak_model: self.next_request.overrides().weak_model.clone(),
            choice: self.proposals.commits.choice,
        }
    }

    pub(crate) fn git(&mut self, response: GitResponse) -> Vec<Effect> {
        match response {
            GitResponse::UncommittedChanges(paths) => self.ask_about_own_changes(&paths),
            GitResponse::Committed(committed) => self.committed(committed),
            GitResponse::Diff(Ok(text)) if text.is_empty() => {
                self.report(Level::Info, "Nothing was written since the last message.", "");
            }
            GitResponse::Diff(Ok(text)) => {
                self.notices.push(Notice::Diff(Page { title: "written since the last message".to_owned(), text }));
            }
            GitResponse::Diff(Err(failure)) => self.report_failure(Level::Error, failure),
        }
        Vec::new()
    }

    /// Commits the user's changes.
    pub(crate) fn commit_all(&mut self, message: Option<String>) -> Vec<Effect> {
        self.proposals.commits.pending += 1;
        vec![Effect::Git(GitEffect::Commit {
            message,
            allowance: self.allowance(),
            weak_model: self.next_request.overrides().weak_model.clone(),
        })]
    }

    fn committed(&mut self, committed: Committed) {
        self.proposals.commits.pending = self.proposals.commits.pending.saturating_sub(1);
        if let Some((id, subject)) = &committed.commit {
            let own = committed.own_commit.as_ref();
            let own = own.map_or_else(String::new, |own| format!(", after your own changes as {own}"));
            self.report(Level::Info, format!("Committed as {id}{own}: {subject}"), "");
        }
        self.report_notes(committed.notes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::*;
    use rhumb_edit::review::Decision;
    use rhumb_edit::{FileChange, FileProposal, Proposal};

    fn session() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let file = FileProposal {
            path: "a".into(),
            change: FileChange::Modify,
            base: Some(Arc::from("1\n2\n3\n")),
            proposed: Some(Arc::from("one\n2\nthree\n")),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        session.handle(Response::Proposed { request: "Count in words\nplease".into(), proposal });
        session.proposals.review.decide_all(Decision::Accepted);
        session
    }

    fn commit(effects: &[Effect]) -> &CommitRequest {
        let [Effect::Write { commit, .. }] = effects else { panic!("{effects:?}") };
        commit
    }

    fn last_text(session: &Session) -> &str {
        let message = session.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Status(message) => Some(message.text.as_str()),
            _ => None,
        });
        message.unwrap_or_default()
    }

    #[test]
    fn a_write_carries_the_request() {
        let mut session = session();
        let effects = session.write_accepted();
        let commit = commit(&effects);
        assert_eq!((commit.request.as_str(), commit.own_changes), ("Count in words\nplease", OwnChanges::BySetting));
    }

    #[test]
    fn own_changes_are_asked_about_and_the_answer_writes() {
        use OwnChanges::{BySetting, CommitFirst, LeaveUncommitted};
        for (key, now, later) in [
            ('y', CommitFirst, BySetting),
            ('n', LeaveUncommitted, BySetting),
            ('a', CommitFirst, CommitFirst),
            ('x', LeaveUncommitted, LeaveUncommitted),
        ] {
            let mut session = session();
            session.write_accepted();
            session.handle(Response::Git(GitResponse::UncommittedChanges(vec!["a".into()])));
            assert!(session.notices().any(|notice| *notice == Notice::AskNow) && !session.proposals.is_writing);
            assert!(session.questions.first().unwrap().text.contains("a has uncommitted changes of your own"));
            let effects = session.answer(key);
            assert_eq!(commit(&effects).own_changes, now, "{key}");
            assert!(session.questions.is_empty());
            assert_eq!(session.commit_request().own_changes, later, "{key}");
        }
    }

    #[test]
    fn a_repeated_question_replaces_the_first_and_an_abandoned_review_withdraws_it() {
        let mut session = session();
        for _ in 0..2 {
            session.write_accepted();
            session.handle(Response::Git(GitResponse::UncommittedChanges(vec!["a".into()])));
        }
        assert_eq!(session.questions.len(), 1);
        session.abandon_review();
        assert!(session.questions.is_empty());
    }

    #[test]
    fn a_commit_that_follows_is_awaited_and_reported() {
        let mut session = session();
        session.write_accepted();
        let written = Written { paths: vec!["a".into()], commit_follows: true, ..Written::default() };
        session.handle(Response::Wrote(written));
        assert_eq!((session.proposals.commits.pending, session.proposals.is_writing), (1, false));
        let committed = Committed {
            commit: Some(("abc1234".into(), "feat: count in words".into())),
            own_commit: Some("def5678".into()),
            ..Committed::default()
        };
        session.handle(Response::Git(GitResponse::Committed(committed)));
        assert_eq!(session.proposals.commits.pending, 0);
        assert_eq!(
            last_text(&session),
            "Committed as abc1234, after your own changes as def5678: feat: count in words"
        );
    }

    #[test]
    fn a_diff_is_shown_unless_it_is_empty() {
        let mut session = session();
        session.handle(Response::Git(GitResponse::Diff(Ok(String::new()))));
        assert_eq!(last_text(&session), "Nothing was written since the last message.");
        session.handle(Response::Git(GitResponse::Diff(Ok("--- a".into()))));
        assert!(matches!(session.take_notices().pop_front(), Some(Notice::Diff(page)) if page.text == "--- a"));
    }
}
