//! The queue of messages that the user sends while the model answers.

use crate::context::Mode;
use crate::{Effect, Level, Session};
use rhumb_text::count;

/// A queued message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Its text.
    pub text: String,
    /// Its mode.
    pub mode: Mode,
    is_comment: bool,
}

/// The queued messages, oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Vec<Queued>,
    /// Whether the messages wait for the user, because a turn was cancelled or failed and they may be obsolete.
    held: bool,
}

impl Queue {
    /// The messages, oldest first.
    pub fn waiting(&self) -> &[Queued] {
        &self.waiting
    }

    /// Whether the messages wait for the user after a cancelled or failed turn.
    pub fn is_held(&self) -> bool {
        self.held
    }
}

impl Session {
    /// Whether an action of the user is in progress.
    pub fn is_busy(&self) -> bool {
        self.turns.current.is_some()
            || self.proposals.is_locating()
            || self.proposals.is_writing()
            || self.is_compacting()
    }

    pub(crate) fn enqueue(&mut self, text: String, mode: Mode) {
        self.turns.queue.waiting.push(Queued { text, mode, is_comment: false });
    }

    pub(crate) fn enqueue_comments(&mut self, text: String, mode: Mode) {
        self.turns.queue.waiting.push(Queued { text, mode, is_comment: true });
    }

    /// Removes queued comments. Returns the number of messages.
    pub(crate) fn drop_queued_comments(&mut self) -> usize {
        let before = self.turns.queue.waiting.len();
        self.turns.queue.waiting.retain(|queued| !queued.is_comment);
        self.turns.queue.held &= !self.turns.queue.waiting.is_empty();
        before - self.turns.queue.waiting.len()
    }

    /// Removes all queued messages and reports that.
    pub(crate) fn drop_queue(&mut self) {
        let queued = std::mem::take(&mut self.turns.queue).waiting.len();
        if queued > 0 {
            self.report(Level::Info, format!("{} in the queue will not be sent.", count(queued, "message")), "");
        }
    }

    /// Keeps queued messages until the user sends them.
    pub(crate) fn hold_queue(&mut self) {
        self.turns.queue.held = !self.turns.queue.waiting.is_empty();
    }

    /// Sends the oldest queued message, unless a turn runs, hunks are under review, a question other than an offer waits, or a plan is
    /// in the input. The front end calls this after each event.
    pub fn next_queued(&mut self) -> Vec<Effect> {
        let must_decide = self.questions.iter().any(|question| !question.subject.is_offer())
            || self.file_offers.counting().any(|question| !question.is_offer())
            || self.modes.plan_in_input.is_some();
        let is_free = !self.is_busy() && !must_decide && self.proposals.review().is_empty();
        if self.turns.queue.waiting.is_empty() || self.turns.queue.held || !is_free {
            return Vec::new();
        }
        self.send_queued()
    }

    /// Sends the oldest queued message, even if hunks or questions wait. Does nothing while the model answers.
    pub fn send_queued(&mut self) -> Vec<Effect> {
        let waits = self.turns.current.is_some() || self.is_compacting();
        if waits || !self.model.is_connected() || self.turns.queue.waiting.is_empty() {
            return Vec::new();
        }
        self.turns.queue.held = false;
        let next = self.turns.queue.waiting.remove(0);
        let (is_sent, effects) = self.send_in_mode(&next.text, next.mode);
        if !is_sent {
            self.turns.queue.waiting.insert(0, next);
            self.turns.queue.held = true;
        }
        effects
    }

    /// Removes the newest queued message and returns its text, as the user typed it.
    pub fn take_back_queued(&mut self) -> Option<String> {
        let taken = self.turns.queue.waiting.pop();
        self.turns.queue.held &= !self.turns.queue.waiting.is_empty();
        taken.map(|queued| self.as_typed(&queued.text, queued.mode))
    }
}

#[cfg(test)]
mod tests {
    use crate::context::Mode;
    use crate::*;
    use rhumb_llm::{Completion, Finish, LlmError, StreamEvent};

    fn busy() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        assert!(session.send("first").0 && session.send("second").0 && session.send("third").0);
        session
    }

    fn end(session: &mut Session, result: Result<Completion, AskError>) -> Vec<Effect> {
        let Some(turn) = session.turns.current.as_ref().map(|turn| turn.number) else { panic!("no turn") };
        session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text("Well.".into())) });
        session.handle(Response::Ended { turn, result })
    }

    fn done() -> Result<Completion, AskError> {
        Ok(Completion::new(Finish::Stop, None))
    }

    fn sent(effects: &[Effect]) -> Option<&str> {
        effects.iter().find_map(|effect| match effect {
            Effect::Ask(spec) => Some(spec.draft.as_str()),
            _ => None,
        })
    }

    #[test]
    fn queued_messages_are_sent_in_order_after_the_edits_of_the_answer_are_located() {
        let mut session = busy();
        assert_eq!(sent(&session.next_queued()), None, "the model still answers");
        let effects = end(&mut session, done());
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { .. })));
        assert_eq!(sent(&session.next_queued()), None, "the edits of the answer are not located yet");
        session.handle(Response::NotProposed(None));
        assert_eq!(sent(&session.next_queued()), Some("second"));
        assert_eq!(session.turns.queue.waiting().len(), 1);
    }

    #[test]
    fn after_a_failed_or_cancelled_turn_the_queue_is_held() {
        for stop in [true, false] {
            let mut session = busy();
            if stop {
                session.cancel();
            } else {
                end(&mut session, Err(AskError::Provider(LlmError::Interrupted("gone".into()))));
            }
            assert_eq!(sent(&session.next_queued()), None);
            assert!(session.turns.queue.is_held());
            assert_eq!(sent(&session.send_queued()), Some("second"), "the user sends it");
            assert!(!session.turns.queue.is_held());
        }
    }

    #[test]
    fn queued_messages_can_be_taken_back_newest_first() {
        let mut session = busy();
        assert_eq!(session.take_back_queued().as_deref(), Some("third"));
        assert_eq!(session.take_back_queued().as_deref(), Some("second"));
        assert_eq!(session.take_back_queued(), None);
    }

    #[test]
    fn a_message_that_is_taken_back_keeps_its_mode() {
        let mut session = busy();
        session.command(Command::Mode { mode: Mode::Ask, message: "why?".into() });
        assert_eq!(session.take_back_queued().as_deref(), Some("/ask why?"));
    }

    #[test]
    fn queued_messages_wait_while_a_plan_is_in_the_input() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let turn = crate::turn::Turn::new(1, "plan it".into());
        session.plan_completed("first this".into(), &turn);
        session.enqueue("and then?".into(), Mode::Ask);
        session.answer('e');
        assert_eq!(sent(&session.next_queued()), None);
        assert_eq!(session.input_mode(), Mode::Editor, "the plan is still being changed");
        session.withdraw_offers();
        assert_eq!(sent(&session.next_queued()), Some("and then?"));
    }
}
