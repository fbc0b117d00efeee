//! Incomplete answers: continuing one, or sending its message again.

use crate::context::Mode;
use crate::transcript::{self};
use crate::{AnswerState, Effect, Entry, Level, Plan, RequestSpec, Session, Turn, TurnStatus};

/// The hint after an answer that a connection error interrupted.
pub(crate) const HINT_INTERRUPTED: &str = "/continue continues it, /retry sends the message again, /review takes the complete edits in it. Otherwise, later requests \
     do not contain it.";

/// The hint after an answer that ended early.
pub(super) const HINT_CUT: &str = "/continue continues it, /retry sends the message again, /review takes the complete edits in it. Later requests contain \
     it, marked as incomplete.";

impl Session {
    /// Asks the model to continue the last answer, which is incomplete.
    pub fn continue_answer(&mut self) -> Vec<Effect> {
        if self.reject_if_answering() || !self.require_model() {
            return Vec::new();
        }
        if let Some(effects) = self.continue_agent() {
            return effects;
        }
        let is_answer = |entry: &Entry| matches!(entry, Entry::Answer(_));
        let last = self.transcript.iter().rposition(is_answer);
        let message_at = last.and_then(|at| self.transcript[..at].iter().rposition(Entry::is_message));
        let (Some(at), Some(message_at)) = (last, message_at) else {
            self.report(Level::Warning, "There is no answer to continue.", "");
            return Vec::new();
        };
        if matches!(&self.transcript[at], Entry::Answer(answer) if answer.state == AnswerState::Complete) {
            self.report(Level::Warning, "The last answer is complete.", "Say what you want next.");
            return Vec::new();
        }
        let mut effects = self.forget_summary_of(message_at);
        let Some(Entry::Answer(answer)) = self.transcript.get_mut(at) else { return effects };
        answer.state = AnswerState::Streaming;
        let partial = answer.text.clone();
        let message = self.mark_unanswered(message_at);
        let message = self.plan_at(message_at).unwrap_or(message);
        let mut spec = RequestSpec { draft: message.clone(), partial: partial.clone(), ..self.next_request_spec() };
        if self.last_mode() == Mode::Editor && matches!(self.transcript[message_at], Entry::FollowUp { .. }) {
            spec.split_exchange(transcript::exchange_len(&self.transcript[..message_at]));
        }
        let spec = self.as_follow_up(spec);
        let mut turn = Turn::follow_up(spec.generation, message, self.request_at(message_at)).with_mode(spec.mode);
        turn.push(&partial);
        turn.status = TurnStatus::Resuming;
        self.turns.current = Some(turn);
        effects.push(Effect::Ask(Box::new(spec)));
        effects
    }

    /// Sends the last message again. Its answer stays in the transcript, but later requests do not contain it.
    pub fn retry(&mut self) -> Vec<Effect> {
        if self.reject_if_answering() {
            return Vec::new();
        }
        let Some(message_at) = self.transcript.iter().rposition(|entry| matches!(entry, Entry::User { .. })) else {
            self.report(Level::Warning, "There is no message to send again.", "");
            return Vec::new();
        };
        let Entry::User { text, mode, .. } = &self.transcript[message_at] else { return Vec::new() };
        let (message, mode) = (text.clone(), *mode);
        if !self.may_send(&message) {
            return Vec::new();
        }
        let mut effects = self.forget_summary_of(message_at);
        for entry in message_at..self.transcript.len() {
            self.mark_unanswered(entry);
        }
        let plan = self.plan_at(message_at);
        // Offers about the previous answer are obsolete.
        self.withdraw_offers();
        effects.extend(match plan {
            Some(text) => self.carry_out(Plan { edited: text == message, text, request: self.request_at(message_at) }),
            None => self.begin_message(&message, mode),
        });
        effects
    }

    /// Excludes a message and its answer from the history. Returns the text of the message.
    fn mark_unanswered(&mut self, at: usize) -> String {
        match self.transcript.get_mut(at) {
            Some(Entry::User { text, answered, .. } | Entry::FollowUp { text, answered, .. }) => {
                *answered = false;
                text.clone()
            }
            _ => String::new(),
        }
    }

    /// The request of the user that the message at index `at` contains or continues.
    pub(crate) fn request_at(&self, at: usize) -> String {
        let typed = self.transcript[..=at].iter().rev().find_map(|entry| match entry {
            Entry::User { text, mode, .. } if *mode != Mode::Editor => Some(text.clone()),
            _ => None,
        });
        typed.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::*;
    use rhumb_llm::{Completion, Finish, LlmError, StreamEvent};

    /// A session whose answer was interrupted after `text`.
    fn interrupted(text: &str) -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        session.send("do it");
        stream(&mut session, 1, text);
        let error = AskError::Provider(LlmError::Interrupted("gone".into()));
        session.handle(Response::Ended { turn: 1, result: Err(error) });
        session
    }

    fn stream(session: &mut Session, turn: u64, text: &str) {
        session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    }

    #[test]
    fn continue_appends_to_the_incomplete_answer() {
        let mut session = interrupted("one ");
        assert_eq!(session.returned_draft(), None, "the message is not returned, because the answer can be continued");
        let effects = session.continue_answer();
        let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((spec.draft.as_str(), spec.partial.as_str()), ("do it", "one "));
        assert!(spec.history.is_empty());
        stream(&mut session, spec.generation, "two");
        let result = Ok(Completion::new(Finish::Stop, None));
        let effects = session.handle(Response::Ended { turn: spec.generation, result });
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { reply, .. } if reply == "one two")));
        let answers = session.transcript.iter().filter(|entry| matches!(entry, Entry::Answer(_))).count();
        assert_eq!(answers, 1);
    }

    #[test]
    fn retry_excludes_the_first_answer_from_the_request() {
        let mut session = interrupted("one ");
        let effects = session.retry();
        let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((spec.draft.as_str(), spec.partial.as_str(), spec.history.len()), ("do it", "", 0));
    }

    #[test]
    fn continue_and_retry_without_a_model_change_nothing() {
        let mut session = interrupted("one ");
        session.set_connection(Connection::None);
        let before = session.transcript.clone();
        assert!(session.continue_answer().is_empty() && session.retry().is_empty());
        assert!(session.turns.current.is_none());
        assert_eq!(session.transcript[..before.len()], before[..], "nothing is left out of later requests");
        let is_warning =
            |entry: &&Entry| matches!(entry, Entry::Status(status) if status.text.contains("No model is connected"));
        assert_eq!(session.transcript[before.len()..].iter().filter(is_warning).count(), 2);
    }

    #[test]
    fn a_complete_or_missing_answer_cannot_be_continued() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        assert!(session.continue_answer().is_empty() && session.retry().is_empty());
        session.send("do it");
        assert!(session.continue_answer().is_empty() && session.retry().is_empty(), "a turn is running");
        stream(&mut session, 1, "all");
        session.handle(Response::Ended { turn: 1, result: Ok(Completion::new(Finish::Stop, None)) });
        assert!(session.continue_answer().is_empty());
    }
}
