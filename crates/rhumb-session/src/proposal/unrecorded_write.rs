//! The question before accepted hunks are written that the journal cannot record.

use crate::effect::Effect;
use crate::question::{Choice, Question, Subject};
use crate::state::Session;

impl Session {
    /// Asks whether hunks are to be written without a record of them, unless that was answered for the whole session. The journal is
    /// tried anew for each write.
    pub(crate) fn ask_about_record(&mut self, cause: &str) -> Vec<Effect> {
        self.proposals.is_writing = false;
        if self.proposals.commits.always_unrecorded {
            return self.write_unrecorded();
        }
        let text = format!(
            "The journal of writes cannot be used: {cause}.\n\
             Without it, /undo cannot take this write back. If rhumb is killed during the write, some files may stay changed and \
             others not, and a file .rhumb-….tmp may stay beside them.\n\
             Make room there, or make that folder writable, and write again. Nothing is written before you answer."
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

    /// Takes the answer to that question.
    pub(crate) fn decide_on_record(&mut self, key: char) -> Vec<Effect> {
        if key == 'n' {
            self.proposals.commits.wanted = None;
            return Vec::new();
        }
        self.proposals.commits.always_unrecorded = key == 'a';
        self.write_unrecorded()
    }

    /// Writes the accepted hunks without a record in the journal: undo and recovery do not know the write.
    pub fn write_unrecorded(&mut self) -> Vec<Effect> {
        self.proposals.commits.consent.unrecorded = true;
        self.write_accepted()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Connection, GitResponse, Response, Written};
    use rhumb_edit::review::Decision;
    use rhumb_edit::{FileChange, FileProposal, Proposal};

    /// A session that has tried to write an accepted hunk where the journal cannot be used.
    fn asked() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        propose(&mut session);
        assert!(!is_unrecorded(&session.write_accepted()));
        session.handle(Response::NotRecorded("/state/journal: No space left on device".into()));
        session
    }

    fn propose(session: &mut Session) {
        let file = FileProposal {
            path: "a".into(),
            change: FileChange::Modify,
            base: Some(Arc::from("1\n")),
            proposed: Some(Arc::from("2\n")),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        session.handle(Response::Proposed { request: "Two".into(), proposal });
        session.proposals.review.decide_all(Decision::Accepted);
    }

    fn is_unrecorded(effects: &[Effect]) -> bool {
        let [Effect::Write { consent, .. }] = effects else { panic!("{effects:?}") };
        consent.unrecorded
    }

    fn wrote(session: &mut Session) {
        session.handle(Response::Wrote(Written { paths: vec!["a".into()], ..Written::default() }));
    }

    #[test]
    fn nothing_is_written_before_the_question_is_answered() {
        let mut session = asked();
        assert!(session.notices().any(|notice| *notice == crate::Notice::AskNow) && !session.proposals.is_writing);
        assert!(session.questions.first().unwrap().text.contains("/state/journal: No space left on device."));
        assert!(session.questions.first().unwrap().is_harmless('n'));
        assert!(session.answer('n').is_empty() && session.questions.is_empty());
        assert_eq!(session.proposals.review.counts().accepted, 1);
        assert!(!is_unrecorded(&session.write_accepted()), "the next write tries the journal again");
    }

    #[test]
    fn a_yes_is_for_one_write_and_for_the_question_that_follows_it() {
        let mut session = asked();
        assert!(is_unrecorded(&session.answer('y')));
        session.handle(Response::Git(GitResponse::UncommittedChanges(vec!["a".into()])));
        assert!(is_unrecorded(&session.answer('y')));
        wrote(&mut session);
        propose(&mut session);
        assert!(!is_unrecorded(&session.write_accepted()));
        session.handle(Response::NotRecorded("full".into()));
        assert_eq!(session.questions.len(), 1);
    }

    #[test]
    fn an_always_tries_the_journal_again_and_asks_no_more() {
        let mut session = asked();
        assert!(is_unrecorded(&session.answer('a')));
        wrote(&mut session);
        propose(&mut session);
        assert!(!is_unrecorded(&session.write_accepted()));
        assert!(is_unrecorded(&session.handle(Response::NotRecorded("full".into()))));
        assert!(session.questions.is_empty());
    }
}
