//! Git, as the session asks for it: commits, their messages, what differs.
//!
//! Accepted hunks are written at once. Their commit follows when its message is there, if a model writes one; whatever wants to
//! write or commit after that waits for it, and hurries it on.

use crate::effect::{Effect, Failure};
use crate::notice::Notice;
use crate::question::{Choice, Question, Subject};
use crate::repository::lookup::Page;
use crate::state::Session;
use crate::transcript::Level;
use rhumb_edit::SyntaxFault;
use rhumb_llm::models::Dollars;

/// How accepted hunks are committed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommitRequest {
    /// What the developer asked for.
    pub request: String,
    /// Whether the user's own changes to these files are committed first; `None` for what the settings say.
    pub own_changes: Option<bool>,
    /// What may be spent on messages; `None` for as much as it takes.
    pub allowance: Option<Dollars>,
    /// The weak model that was chosen in this session, if one was.
    pub weak_model: Option<String>,
    /// Whether there is a commit at all; `None` for what the settings say.
    pub wanted: Option<bool>,
}

/// What the user agreed to for one write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consent {
    /// Syntax errors that are written all the same.
    pub faults: Vec<SyntaxFault>,
    /// Whether it is written without a record in the journal.
    pub unrecorded: bool,
}

/// Something to be done with git.
#[derive(Debug, Clone, PartialEq)]
pub enum GitEffect {
    /// Commit what is staged, or else every change of tracked files.
    Commit {
        /// The message; the weak model writes one without it.
        message: Option<String>,
        /// What may be spent on that; `None` for as much as it takes.
        allowance: Option<Dollars>,
        /// The weak model that was chosen in this session, if one was.
        weak_model: Option<String>,
    },
    /// Show what was written since the last message.
    Diff,
    /// Commit what waits for its message without it: somebody is leaving. Nothing is reported for it.
    Hurry,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum GitResponse {
    /// Nothing was written yet: these files have changes of the user's own, and the settings say to ask.
    UncommittedChanges(Vec<String>),
    /// A commit was made, or none.
    Committed(Committed),
    /// What was written since the last message, as unified diffs; empty for nothing.
    Diff(Result<String, Failure>),
}

/// What became of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// The commit, shortened, with the first line of its message; `None` if none was made.
    pub commit: Option<(String, String)>,
    /// The commit before it of the user's own changes, if one was made.
    pub own_commit: Option<String>,
    /// Why there is none, or what else to know.
    pub notes: Vec<Failure>,
}

/// Commits under way, and how they are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits {
    /// Commits that are still to be made; most wait for a message.
    pub pending: usize,
    /// What was answered for the rest of the session about the user's own changes.
    own_changes: Option<bool>,
    /// Whether the settings want no commit of what is written.
    pub off: bool,
    /// What was said of the commit of the write that is under way.
    pub(crate) wanted: Option<bool>,
    /// What the user agreed to for the write that is under way.
    pub(super) consent: Consent,
    /// Whether the user agreed to every write without a record, for the rest of the session.
    pub(super) always_unrecorded: bool,
}

impl Session {
    /// How the accepted hunks are committed.
    pub(super) fn commit_order(&self) -> CommitRequest {
        CommitRequest {
            request: self.proposals.request.clone(),
            own_changes: self.proposals.commits.own_changes,
            allowance: self.allowance(),
            weak_model: self.next_request.overrides().weak_model.clone(),
            wanted: self.proposals.commits.wanted,
        }
    }

    /// Takes in what git did.
    pub(crate) fn git(&mut self, report: GitResponse) -> Vec<Effect> {
        match report {
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

    /// Commits what the user has not committed.
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
        for note in committed.notes {
            self.report_failure(Level::Warning, note);
        }
    }

    fn ask_about_own_changes(&mut self, paths: &[String]) {
        self.proposals.is_writing = false;
        let (have, files) = if paths.len() == 1 { ("has", "the file is") } else { ("have", "the files are") };
        let text = format!(
            "{} {have} uncommitted changes of your own. If they are committed first, they stay separate from what the model \
             wrote. Otherwise the accepted hunks are written, and {files} left for you to commit. Nothing is written \
             before you answer.",
            paths.join(", ")
        );
        self.ask_now(Question {
            subject: Subject::UncommittedChanges,
            title: "Commit your own changes first?".to_owned(),
            text,
            choices: vec![
                Choice::new('y', "yes, commit them first"),
                Choice::new('n', "no, write without a commit of these files"),
                Choice::new('a', "yes, always in this session"),
                Choice::new('x', "no, never in this session"),
            ],
        });
    }

    /// Writes what is accepted, now that it was said what becomes of the user's own changes.
    pub(crate) fn decide_own_changes(&mut self, key: char) -> Vec<Effect> {
        let first = matches!(key, 'y' | 'a');
        let before = self.proposals.commits.own_changes.replace(first);
        let effects = self.write_accepted();
        if matches!(key, 'y' | 'n') {
            self.proposals.commits.own_changes = before;
        }
        effects
    }

    /// Withdraws the questions about a write: it is done, or the review that they are about is gone.
    pub(super) fn forget_questions_of_write(&mut self) {
        self.questions.withdraw(|subject| {
            matches!(subject, Subject::UncommittedChanges | Subject::BreaksSyntax(_) | Subject::NotRecorded)
        });
        self.proposals.commits.consent = Consent::default();
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

    fn order(effects: &[Effect]) -> &CommitRequest {
        let [Effect::Write { commit, .. }] = effects else { panic!("{effects:?}") };
        commit
    }

    fn last_text(session: &Session) -> &str {
        let notice = session.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Status(notice) => Some(notice.text.as_str()),
            _ => None,
        });
        notice.unwrap_or_default()
    }

    #[test]
    fn a_write_carries_the_request() {
        let mut session = session();
        let effects = session.write_accepted();
        let order = order(&effects);
        assert_eq!((order.request.as_str(), order.own_changes), ("Count in words\nplease", None));
    }

    #[test]
    fn own_changes_are_asked_about_and_the_answer_writes() {
        for (key, now, later) in
            [('y', true, None), ('n', false, None), ('a', true, Some(true)), ('x', false, Some(false))]
        {
            let mut session = session();
            session.write_accepted();
            session.handle(Response::Git(GitResponse::UncommittedChanges(vec!["a".into()])));
            assert!(session.notices().any(|notice| *notice == Notice::AskNow) && !session.proposals.is_writing);
            assert!(session.questions.first().unwrap().text.contains("a has uncommitted changes of your own"));
            let effects = session.answer(key);
            assert_eq!(order(&effects).own_changes, Some(now), "{key}");
            assert!(session.questions.is_empty());
            assert_eq!(session.commit_order().own_changes, later, "{key}");
        }
    }

    #[test]
    fn asked_twice_it_is_one_question_and_an_abandoned_review_needs_none() {
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
    fn a_commit_that_follows_is_waited_for_and_told() {
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
    fn a_diff_is_shown_or_there_is_none() {
        let mut session = session();
        session.handle(Response::Git(GitResponse::Diff(Ok(String::new()))));
        assert_eq!(last_text(&session), "Nothing was written since the last message.");
        session.handle(Response::Git(GitResponse::Diff(Ok("--- a".into()))));
        assert!(matches!(session.take_notices().pop_front(), Some(Notice::Diff(page)) if page.text == "--- a"));
    }
}
