//! The question before accepted hunks are written that break the syntax of a file.

use crate::effect::Effect;
use crate::question::{Choice, Question, Subject};
use crate::state::Session;
use rhumb_edit::SyntaxFault;
use rhumb_edit::review::HunkId;

/// Most syntax errors that the question names.
const MAX_NAMED: usize = 5;

/// The answer that shows the hunk.
pub const SHOW_FAULT: char = 'g';

impl Session {
    /// Asks whether hunks that break the syntax of their files are to be written.
    pub(crate) fn ask_about_syntax(&mut self, faults: Vec<SyntaxFault>) {
        self.proposals.is_writing = false;
        self.questions.withdraw(|subject| matches!(subject, Subject::BreaksSyntax(_)));
        let numbered = |fault: &SyntaxFault| {
            let at = self
                .proposals
                .review
                .hunk_at_fault(fault)
                .and_then(|id| self.proposals.review.ids().position(|other| other == id));
            at.map_or_else(String::new, |at| format!(" (hunk {})", at + 1))
        };
        let mut lines: Vec<String> = faults
            .iter()
            .take(MAX_NAMED)
            .map(|fault| {
                format!("{} does not parse at line {}{}: {}", fault.path, fault.line + 1, numbered(fault), fault.text)
            })
            .collect();
        if faults.len() > MAX_NAMED {
            lines.push(format!("… and {} more.", faults.len() - MAX_NAMED));
        }
        lines.push("Nothing is written before you answer.".to_owned());
        let title = match faults.len() {
            1 => "An accepted hunk breaks the syntax of its file. Write it anyway?".to_owned(),
            many => format!("{many} accepted hunks break the syntax of their files. Write them anyway?"),
        };
        let them = if faults.len() == 1 { "the hunk" } else { "the first of them" };
        self.ask_now(Question {
            subject: Subject::BreaksSyntax(faults),
            title,
            text: lines.join("\n"),
            choices: vec![
                Choice::new('y', "write anyway"),
                Choice::new(SHOW_FAULT, format!("go to {them}")),
                Choice::new('n', "write nothing"),
            ],
        });
    }

    /// Takes the answer to that question. Whoever shows the review goes to [`Session::hunk_at_fault`] after [`SHOW_FAULT`].
    pub(crate) fn decide_on_syntax(&mut self, key: char, faults: Vec<SyntaxFault>) -> Vec<Effect> {
        if key != 'y' {
            self.proposals.commits.wanted = None;
            return Vec::new();
        }
        self.proposals.commits.consent.faults = faults;
        self.write_accepted()
    }

    /// The hunk that the question about syntax errors is about, while it is the first question; the first hunk of several.
    pub fn hunk_at_fault(&self) -> Option<HunkId> {
        let Subject::BreaksSyntax(faults) = &self.questions.first()?.subject else { return None };
        faults.iter().find_map(|fault| self.proposals.review.hunk_at_fault(fault))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Connection, Response, Written};
    use rhumb_edit::review::Decision;
    use rhumb_edit::{FileChange, FileProposal, Proposal, syntax_faults};

    const BASE: &str = "def a():\n    return f(1)\n\n\ndef b():\n    return 2\n";

    /// A session that has tried to write two accepted hunks, the second of which breaks `a.py`.
    fn asked() -> (Session, Vec<SyntaxFault>) {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let proposed = BASE.replace("f(1)", "f(2)").replace("return 2", "return (2");
        let faults = syntax_faults("a.py", Some(BASE), &proposed);
        let file = FileProposal {
            path: "a.py".into(),
            change: FileChange::Modify,
            base: Some(Arc::from(BASE)),
            proposed: Some(Arc::from(proposed)),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        session.handle(Response::Proposed { request: "Break it".into(), proposal });
        session.proposals.review.decide_all(Decision::Accepted);
        let effects = session.write_accepted();
        assert!(matches!(&effects[..], [Effect::Write { consent, .. }] if consent.faults.is_empty()));
        session.handle(Response::BreaksSyntax(faults.clone()));
        (session, faults)
    }

    #[test]
    fn the_question_names_the_file_the_hunk_and_the_line() {
        let (session, _) = asked();
        assert!(session.notices().any(|notice| *notice == crate::Notice::AskNow) && !session.proposals.is_writing);
        let text = &session.questions.first().unwrap().text;
        assert!(text.starts_with("a.py does not parse at line 6 (hunk 2): return (2\n"), "{text}");
        assert_eq!(session.hunk_at_fault(), Some(HunkId { file: 0, hunk: 1 }));
    }

    #[test]
    fn yes_writes_what_was_asked_about_and_the_next_write_asks_again() {
        let (mut session, faults) = asked();
        let effects = session.answer('y');
        assert!(matches!(&effects[..], [Effect::Write { consent, .. }] if consent.faults == faults), "{effects:?}");
        session.handle(Response::Wrote(Written { paths: vec!["a.py".into()], ..Written::default() }));
        assert!(session.proposals.commits.consent.faults.is_empty());
    }

    #[test]
    fn another_answer_writes_nothing_and_keeps_the_decisions() {
        for key in [SHOW_FAULT, 'n'] {
            let (mut session, _) = asked();
            assert!(session.answer(key).is_empty() && session.questions.is_empty() && !session.proposals.is_writing);
            assert_eq!(session.proposals.review.counts().accepted, 2);
        }
    }
}
