//! Messages that wait: what the developer sends while the model answers goes out when that is done.

use crate::context::Mode;
use crate::effect::Effect;
use crate::state::Session;
use crate::transcript::Level;
use rhumb_text::count;

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// What is said.
    pub text: String,
    /// How it is meant.
    pub mode: Mode,
    /// Whether comments in a file say it.
    is_comment: bool,
}

/// Messages that wait, the oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Vec<Queued>,
    /// Nothing goes out by itself: a turn was stopped or failed, and what was said after it may not hold any more.
    held: bool,
}

impl Queue {
    /// What waits, the oldest first.
    pub fn waiting(&self) -> &[Queued] {
        &self.waiting
    }

    /// Whether it waits for a word of the developer.
    pub fn is_held(&self) -> bool {
        self.held
    }
}

impl Session {
    /// Whether something is under way that the developer waits for.
    pub fn is_busy(&self) -> bool {
        self.turns.current.is_some()
            || self.proposals.is_locating()
            || self.proposals.is_writing()
            || self.is_compacting()
    }

    /// Lets a message wait until the model is free.
    pub(crate) fn enqueue(&mut self, text: String, mode: Mode) {
        self.turns.queue.waiting.push(Queued { text, mode, is_comment: false });
    }

    /// Lets comments in a file wait in the same way.
    pub(crate) fn enqueue_comments(&mut self, text: String, mode: Mode) {
        self.turns.queue.waiting.push(Queued { text, mode, is_comment: true });
    }

    /// Leaves out the comments that wait; how many messages they were.
    pub(crate) fn drop_queued_comments(&mut self) -> usize {
        let before = self.turns.queue.waiting.len();
        self.turns.queue.waiting.retain(|queued| !queued.is_comment);
        self.turns.queue.held &= !self.turns.queue.waiting.is_empty();
        before - self.turns.queue.waiting.len()
    }

    /// Leaves out all that waits, and says so.
    pub(crate) fn drop_queue(&mut self) {
        let waited = std::mem::take(&mut self.turns.queue).waiting.len();
        if waited > 0 {
            self.tell(Level::Info, format!("{} that waited will not be sent.", count(waited, "message")), "");
        }
    }

    /// Holds what waits until the developer says otherwise.
    pub(crate) fn hold_queue(&mut self) {
        self.turns.queue.held = !self.turns.queue.waiting.is_empty();
    }

    /// Sends the oldest message that waits, unless a turn runs, a hunk waits for a decision, a question other than an offer of
    /// files is open, or a plan is in the composer. The face calls this after everything that happens.
    pub fn next_queued(&mut self) -> Vec<Effect> {
        let waiting = self.modes.waiting().weighing.iter().map(|(_, subject)| subject);
        let mut subjects = self.questions.iter().map(|question| &question.subject).chain(waiting);
        let is_asked = subjects.any(|subject| !subject.is_offer()) || self.modes.waiting().plan.is_some();
        drop(subjects);
        let is_free = !self.is_busy() && !is_asked && self.proposals.review().is_empty();
        if self.turns.queue.waiting.is_empty() || self.turns.queue.held || !is_free {
            return Vec::new();
        }
        self.send_queued()
    }

    /// Sends the oldest message that waits, whatever else does; nothing while the model answers.
    pub fn send_queued(&mut self) -> Vec<Effect> {
        let waits = self.turns.current.is_some() || self.is_compacting();
        if waits || !self.model.is_connected() || self.turns.queue.waiting.is_empty() {
            return Vec::new();
        }
        self.turns.queue.held = false;
        let next = self.turns.queue.waiting.remove(0);
        let (sent, effects) = self.send_in(&next.text, next.mode);
        if !sent {
            self.turns.queue.waiting.insert(0, next);
            self.turns.queue.held = true;
        }
        effects
    }

    /// Takes the newest message that waits back, to be changed.
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
        Ok(Completion { finish: Finish::Stop, usage: None })
    }

    fn asked(effects: &[Effect]) -> Option<&str> {
        effects.iter().find_map(|effect| match effect {
            Effect::Ask(order) => Some(order.draft.as_str()),
            _ => None,
        })
    }

    #[test]
    fn what_is_said_meanwhile_goes_out_in_order_when_the_answer_has_been_looked_through() {
        let mut session = busy();
        assert_eq!(asked(&session.next_queued()), None, "the model still answers");
        let effects = end(&mut session, done());
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { .. })));
        assert_eq!(asked(&session.next_queued()), None, "nobody knows yet what the answer changes");
        session.handle(Response::NotProposed(None));
        assert_eq!(asked(&session.next_queued()), Some("second"));
        assert_eq!(session.turns.queue.waiting().len(), 1);
    }

    #[test]
    fn after_a_failure_or_a_stop_what_waits_is_held() {
        for stop in [true, false] {
            let mut session = busy();
            if stop {
                session.cancel();
            } else {
                end(&mut session, Err(AskError::Provider(LlmError::Interrupted { cause: "gone".into() })));
            }
            assert_eq!(asked(&session.next_queued()), None);
            assert!(session.turns.queue.is_held());
            assert_eq!(asked(&session.send_queued()), Some("second"), "until the developer says so");
            assert!(!session.turns.queue.is_held());
        }
    }

    #[test]
    fn what_waits_can_be_taken_back_the_newest_first() {
        let mut session = busy();
        assert_eq!(session.take_back_queued().as_deref(), Some("third"));
        assert_eq!(session.take_back_queued().as_deref(), Some("second"));
        assert_eq!(session.take_back_queued(), None);
    }

    #[test]
    fn what_is_taken_back_is_meant_as_it_was() {
        let mut session = busy();
        session.command(Command::Mode { mode: Mode::Ask, message: "why?".into() });
        assert_eq!(session.take_back_queued().as_deref(), Some("/ask why?"));
    }

    #[test]
    fn what_waits_does_not_take_a_plan_out_of_the_composer() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let turn = crate::turn::Turn::new(1, "plan it".into());
        session.planned("first this".into(), &turn);
        session.enqueue("and then?".into(), Mode::Ask);
        session.answer('e');
        assert_eq!(asked(&session.next_queued()), None);
        assert_eq!(session.composing(), Mode::Editor, "the plan is still being changed");
        session.withdraw_offers();
        assert_eq!(asked(&session.next_queued()), Some("and then?"));
    }
}
