//! Answers that broke off: going on with one, or asking for it again.

use std::sync::Arc;

use super::{Turn, TurnStatus};
use crate::context::Mode;
use crate::effect::{Effect, RequestSpec};
use crate::modes::architect::Plan;
use crate::state::Session;
use crate::transcript::{self, AnswerState, Entry, Level};

/// What can be done about an answer that the connection broke off.
pub(crate) const OFFER: &str = "/continue goes on where it stopped, /retry asks again, /review takes the edits in it that are whole. Without one \
     of these it is in no later request.";

/// What can be done about an answer that its model did not end.
pub(super) const OFFER_CUT: &str = "/continue goes on where it stopped, /retry asks again, /review takes the edits in it that are whole. Later \
     requests carry it with the mark that it is not whole.";

impl Session {
    /// Goes on with the last answer, which broke off.
    pub fn go_on(&mut self) -> Vec<Effect> {
        if self.is_answering() || !self.is_connected() {
            return Vec::new();
        }
        let is_answer = |entry: &Entry| matches!(entry, Entry::Answer(_));
        let last = self.transcript.iter().rposition(is_answer);
        let asked = last.and_then(|at| self.transcript[..at].iter().rposition(Entry::is_asked));
        let (Some(at), Some(asked)) = (last, asked) else {
            self.tell(Level::Warning, "There is no answer to go on with.", "");
            return Vec::new();
        };
        if matches!(&self.transcript[at], Entry::Answer(answer) if answer.state == AnswerState::Complete) {
            self.tell(Level::Warning, "The last answer is complete.", "Say what you want next.");
            return Vec::new();
        }
        let Some(Entry::Answer(answer)) = self.transcript.get_mut(at) else { return Vec::new() };
        answer.state = AnswerState::Streaming;
        let partial = answer.text.clone();
        let message = self.reopen(asked);
        let message = self.plan_at(asked).unwrap_or(message);
        let mut order = RequestSpec { draft: message.clone(), partial: partial.clone(), ..self.next_order() };
        if self.asked_mode() == Mode::Editor && matches!(self.transcript[asked], Entry::Again { .. }) {
            let earlier = order.history.len().saturating_sub(transcript::exchange(&self.transcript[..asked]));
            order.exchange = Arc::make_mut(&mut order.history).split_off(earlier);
        }
        let order = self.in_round(order);
        let mut turn = Turn::again(order.generation, message, self.request_of(asked)).in_mode(order.mode);
        turn.push(&partial);
        turn.status = TurnStatus::Resuming;
        self.turns.current = Some(turn);
        vec![Effect::Ask(Box::new(order))]
    }

    /// Asks the last message again. Its answer stays to be read and is not sent any more.
    pub fn retry(&mut self) -> Vec<Effect> {
        if self.is_answering() {
            return Vec::new();
        }
        let Some(asked) = self.transcript.iter().rposition(|entry| matches!(entry, Entry::User { .. })) else {
            self.tell(Level::Warning, "There is no message to ask again.", "");
            return Vec::new();
        };
        let Entry::User { text, mode, .. } = &self.transcript[asked] else { return Vec::new() };
        let (message, mode) = (text.clone(), *mode);
        if !self.may_send(&message) {
            return Vec::new();
        }
        for entry in asked..self.transcript.len() {
            self.reopen(entry);
        }
        let plan = self.plan_at(asked);
        // What the answer before left to be decided goes with it.
        self.withdraw_offers();
        match plan {
            Some(text) => self.carry_out(Plan { edited: text == message, text, request: self.request_of(asked) }),
            None => self.begin_message(&message, mode),
        }
    }

    /// Leaves a message, and with it its answer, out of the history; its text.
    fn reopen(&mut self, at: usize) -> String {
        match self.transcript.get_mut(at) {
            Some(Entry::User { text, answered, .. } | Entry::Again { text, answered, .. }) => {
                *answered = false;
                text.clone()
            }
            _ => String::new(),
        }
    }

    /// What the developer asked for with the message at `asked`, or had asked for when the program wrote that.
    fn request_of(&self, asked: usize) -> String {
        let typed = self.transcript[..=asked].iter().rev().find_map(|entry| match entry {
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

    fn broken(text: &str) -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        session.send("do it");
        stream(&mut session, 1, text);
        let error = AskError::Provider(LlmError::Interrupted { cause: "gone".into() });
        session.handle(Response::Ended { turn: 1, result: Err(error) });
        session
    }

    fn stream(session: &mut Session, turn: u64, text: &str) {
        session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    }

    #[test]
    fn an_answer_that_broke_off_is_gone_on_with_in_its_place() {
        let mut session = broken("one ");
        assert_eq!(session.returned_draft(), None, "there is something to go on with");
        let effects = session.go_on();
        let [Effect::Ask(order)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((order.draft.as_str(), order.partial.as_str()), ("do it", "one "));
        assert!(order.history.is_empty());
        stream(&mut session, order.generation, "two");
        let result = Ok(Completion { finish: Finish::Stop, usage: None });
        let effects = session.handle(Response::Ended { turn: order.generation, result });
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { reply, .. } if reply == "one two")));
        let answers = session.transcript.iter().filter(|entry| matches!(entry, Entry::Answer(_))).count();
        assert_eq!(answers, 1);
    }

    #[test]
    fn a_message_asked_again_leaves_its_first_answer_behind() {
        let mut session = broken("one ");
        let effects = session.retry();
        let [Effect::Ask(order)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((order.draft.as_str(), order.partial.as_str(), order.history.len()), ("do it", "", 0));
    }

    #[test]
    fn what_cannot_be_sent_changes_nothing() {
        let mut session = broken("one ");
        session.set_connection(Connection::None);
        let before = session.transcript.clone();
        assert!(session.go_on().is_empty() && session.retry().is_empty());
        assert!(session.turns.current.is_none());
        assert_eq!(session.transcript[..before.len()], before[..], "nothing is left out of later requests");
        let told =
            |entry: &Entry| matches!(entry, Entry::Status(notice) if notice.text.contains("No model is connected"));
        assert_eq!(session.transcript[before.len()..].iter().filter(|entry| told(entry)).count(), 2);
    }

    #[test]
    fn what_is_whole_or_absent_cannot_be_gone_on_with() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        assert!(session.go_on().is_empty() && session.retry().is_empty());
        session.send("do it");
        assert!(session.go_on().is_empty() && session.retry().is_empty(), "it is being answered");
        stream(&mut session, 1, "all");
        session.handle(Response::Ended { turn: 1, result: Ok(Completion { finish: Finish::Stop, usage: None }) });
        assert!(session.go_on().is_empty());
    }
}
