//! Access to the state of a session for tests, also those of front ends.

use crate::{Connection, ContextView, Notice, Question, Session, Transcript};
use std::collections::VecDeque;

impl Session {
    /// The transcript.
    pub fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    /// The questions that wait for an answer.
    pub fn questions_mut(&mut self) -> &mut VecDeque<Question> {
        self.questions.all_mut()
    }

    /// Replaces the connected model.
    pub fn set_connection(&mut self, connection: Connection) {
        self.model.set_connection(connection);
    }

    /// Sets whether writes are committed.
    pub fn set_auto_commit(&mut self, on: bool) {
        self.proposals.set_commits(on);
    }

    /// The message that becomes the draft again, if there is one.
    pub fn returned_draft(&self) -> Option<&str> {
        self.notices().find_map(|notice| match notice {
            Notice::ReturnDraft(draft) => Some(draft.as_str()),
            _ => None,
        })
    }

    /// Replaces the measured request.
    pub fn set_view(&mut self, view: ContextView) {
        self.next_request.set_view(view);
    }
}
