//! Questions that a write may raise: uncommitted changes of the user in the files, hunks that break the syntax of a file, and a journal
//! that cannot record the write. Nothing is written before they are answered.

use crate::{Choice, Effect, OwnChanges, Question, Session, Subject};
use rhumb_edit::SyntaxFault;
use rhumb_edit::review::HunkId;

/// Maximum number of syntax errors that the question lists.
const MAX_LISTED_FAULTS: usize = 5;

/// The answer that shows the hunk.
pub const SHOW_FAULT: char = 'g';

/// What the user agreed to for one write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteConsent {
    /// Syntax errors that may be written.
    pub faults: Vec<SyntaxFault>,
    /// Whether to write without a record in the journal.
    pub unrecorded: bool,
    /// Whether to write hunks whose trial failed, or that have none.
    pub untried: bool,
}

impl Session {
    pub(super) fn ask_about_own_changes(&mut self, paths: &[String]) {
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

    /// Handles the answer to the question about the user's own changes.
    pub(crate) fn answer_own_changes(&mut self, key: char) -> Vec<Effect> {
        let answer = if matches!(key, 'y' | 'a') { OwnChanges::CommitFirst } else { OwnChanges::LeaveUncommitted };
        let before = std::mem::replace(&mut self.proposals.commits.own_changes, answer);
        let effects = self.continue_write();
        if matches!(key, 'y' | 'n') {
            self.proposals.commits.own_changes = before;
        }
        effects
    }

    /// Asks whether to write hunks that break the syntax of their files.
    pub(crate) fn ask_about_syntax(&mut self, faults: Vec<SyntaxFault>) {
        self.proposals.is_writing = false;
        self.questions.withdraw(|subject| matches!(subject, Subject::BreaksSyntax(_)));
        let review = &self.proposals.review;
        let hunk_number = |fault: &SyntaxFault| {
            let at = review.hunk_at_fault(fault).and_then(|id| review.ids().position(|other| other == id));
            at.map_or_else(String::new, |at| format!(" (hunk {})", at + 1))
        };
        let line = |fault: &SyntaxFault| {
            let (path, number) = (&fault.path, fault.line + 1);
            format!("{path} does not parse at line {number}{}: {}", hunk_number(fault), fault.text)
        };
        let mut lines: Vec<String> = faults.iter().take(MAX_LISTED_FAULTS).map(line).collect();
        if faults.len() > MAX_LISTED_FAULTS {
            lines.push(format!("… and {} more.", faults.len() - MAX_LISTED_FAULTS));
        }
        lines.push("Nothing is written before you answer.".to_owned());
        let (title, show) = match faults.len() {
            1 => ("An accepted hunk breaks the syntax of its file. Write it anyway?".to_owned(), "go to the hunk"),
            many => (
                format!("{many} accepted hunks break the syntax of their files. Write them anyway?"),
                "go to the first of them",
            ),
        };
        self.ask_now(Question {
            subject: Subject::BreaksSyntax(faults),
            title,
            text: lines.join("\n"),
            choices: vec![
                Choice::new('y', "write anyway"),
                Choice::new(SHOW_FAULT, show),
                Choice::new('n', "write nothing"),
            ],
        });
    }

    /// Handles the answer to the question about syntax errors. After [`SHOW_FAULT`], the front end shows [`Session::hunk_at_fault`].
    pub(crate) fn answer_syntax(&mut self, key: char, faults: Vec<SyntaxFault>) -> Vec<Effect> {
        if key != 'y' {
            return Vec::new();
        }
        self.proposals.commits.consent.faults = faults;
        self.continue_write()
    }

    /// The first hunk with a syntax error, if the first question is about syntax errors.
    pub fn hunk_at_fault(&self) -> Option<HunkId> {
        let Subject::BreaksSyntax(faults) = &self.questions.first()?.subject else { return None };
        faults.iter().find_map(|fault| self.proposals.review.hunk_at_fault(fault))
    }

    /// Asks whether to write without a record, unless the user agreed to it for the whole session. Each write tries the journal again.
    pub(crate) fn ask_about_record(&mut self, cause: &str) -> Vec<Effect> {
        self.proposals.is_writing = false;
        if self.proposals.commits.always_unrecorded {
            return self.write_unrecorded();
        }
        let text = format!(
            "The journal of writes cannot be used: {cause}.\n\
             Without it, /undo cannot take this write back. If rhumb is killed during the write, some files may stay changed and \
             others not, and a file .rhumb-….tmp may stay beside them.\n\
             Free some space or make that folder writable, and write again. Nothing is written before you answer."
        );
        self.ask_now(Question {
            subject: Subject::NotRecorded,
            title: "This write cannot be recorded. Write it anyway?".to_owned(),
            text,
            choices: vec![
                Choice::new('y', "write without a record"),
                Choice::new('a', "always in this session"),
                Choice::new('n', "write nothing"),
            ],
        });
        Vec::new()
    }

    pub(crate) fn answer_unrecorded(&mut self, key: char) -> Vec<Effect> {
        if key == 'n' {
            return Vec::new();
        }
        self.proposals.commits.always_unrecorded = key == 'a';
        self.write_unrecorded()
    }

    /// Writes the accepted hunks without a record in the journal. The write cannot be undone, or recovered after a kill.
    pub fn write_unrecorded(&mut self) -> Vec<Effect> {
        self.proposals.commits.consent.unrecorded = true;
        self.continue_write()
    }

    /// Withdraws the questions about a write, which is done or whose review is gone.
    pub(super) fn forget_write_questions(&mut self) {
        self.questions.withdraw(|subject| {
            matches!(
                subject,
                Subject::UncommittedChanges | Subject::BreaksSyntax(_) | Subject::NotRecorded | Subject::FailedTrial
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Connection, GitResponse, Notice, Response, Written};
    use rhumb_edit::review::Decision;
    use rhumb_edit::{FileChange, FileProposal, Proposal, syntax_faults};

    const BASE: &str = "def a():\n    return f(1)\n\n\ndef b():\n    return 2\n";

    fn session() -> Session {
        Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0
    }

    /// Proposes a change of `a.py`, and accepts all of it.
    fn propose(session: &mut Session, base: &str, proposed: &str) {
        let file = FileProposal {
            path: "a.py".into(),
            change: FileChange::Modify,
            base: Some(Arc::from(base)),
            proposed: Some(Arc::from(proposed)),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        session.handle(Response::Proposed { request: "Change it".into(), proposal });
        session.proposals.review.decide_all(Decision::Accepted);
    }

    fn consent(effects: &[Effect]) -> &WriteConsent {
        let [Effect::Write { consent, .. }] = effects else { panic!("{effects:?}") };
        consent
    }

    fn wrote(session: &mut Session) {
        session.handle(Response::Wrote(Written { paths: vec!["a.py".into()], ..Written::default() }));
    }

    fn asks_now(session: &Session) -> bool {
        session.notices().any(|notice| *notice == Notice::AskNow) && !session.proposals.is_writing
    }

    /// A session that has tried to write two accepted hunks, the second of which breaks `a.py`.
    fn asked_about_syntax() -> (Session, Vec<SyntaxFault>) {
        let mut session = session();
        let proposed = BASE.replace("f(1)", "f(2)").replace("return 2", "return (2");
        let faults = syntax_faults("a.py", Some(BASE), &proposed);
        propose(&mut session, BASE, &proposed);
        assert!(consent(&session.write_accepted()).faults.is_empty());
        session.handle(Response::BreaksSyntax(faults.clone()));
        (session, faults)
    }

    /// A session that has tried to write an accepted hunk without a usable journal.
    fn asked_about_record() -> Session {
        let mut session = session();
        propose(&mut session, "1\n", "2\n");
        assert!(!consent(&session.write_accepted()).unrecorded);
        session.handle(Response::NotRecorded("/state/journal: No space left on device".into()));
        session
    }

    #[test]
    fn the_question_names_the_file_the_hunk_and_the_line() {
        let (session, _) = asked_about_syntax();
        assert!(asks_now(&session));
        let text = &session.questions.first().unwrap().text;
        assert!(text.starts_with("a.py does not parse at line 6 (hunk 2): return (2\n"), "{text}");
        assert_eq!(session.hunk_at_fault(), Some(HunkId { file: 0, hunk: 1 }));
    }

    #[test]
    fn a_yes_writes_the_faults_once_and_the_next_write_asks_again() {
        let (mut session, faults) = asked_about_syntax();
        assert_eq!(consent(&session.answer('y')).faults, faults);
        wrote(&mut session);
        propose(&mut session, "1\n", "2\n");
        assert!(consent(&session.write_accepted()).faults.is_empty());
    }

    #[test]
    fn another_answer_writes_nothing_and_keeps_the_decisions() {
        for key in [SHOW_FAULT, 'n'] {
            let (mut session, _) = asked_about_syntax();
            assert!(session.answer(key).is_empty() && session.questions.is_empty() && !session.proposals.is_writing);
            assert_eq!(session.proposals.review.counts().accepted, 2);
        }
    }

    #[test]
    fn nothing_is_written_before_the_question_is_answered() {
        let mut session = asked_about_record();
        assert!(asks_now(&session));
        assert!(session.questions.first().unwrap().text.contains("/state/journal: No space left on device."));
        assert!(session.questions.first().unwrap().is_harmless('n'));
        assert!(session.answer('n').is_empty() && session.questions.is_empty());
        assert_eq!(session.proposals.review.counts().accepted, 1);
        assert!(!consent(&session.write_accepted()).unrecorded, "the next write tries the journal again");
    }

    #[test]
    fn a_yes_is_for_one_write_and_for_the_question_that_follows_it() {
        let mut session = asked_about_record();
        assert!(consent(&session.answer('y')).unrecorded);
        session.handle(Response::Git(GitResponse::UncommittedChanges(vec!["a.py".into()])));
        assert!(consent(&session.answer('y')).unrecorded);
        wrote(&mut session);
        propose(&mut session, "1\n", "2\n");
        assert!(!consent(&session.write_accepted()).unrecorded);
        session.handle(Response::NotRecorded("full".into()));
        assert_eq!(session.questions.len(), 1);
    }

    #[test]
    fn an_always_tries_the_journal_again_and_asks_no_more() {
        let mut session = asked_about_record();
        assert!(consent(&session.answer('a')).unrecorded);
        wrote(&mut session);
        propose(&mut session, "1\n", "2\n");
        assert!(!consent(&session.write_accepted()).unrecorded);
        assert!(consent(&session.handle(Response::NotRecorded("full".into()))).unrecorded);
        assert!(session.questions.is_empty());
    }
}
