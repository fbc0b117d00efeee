//! Retries of refused edits: they are sent back to the model without a question a limited number of times, and after that when the user
//! asks for it.

use std::sync::Arc;

use crate::context;
use crate::effect::{Effect, RequestSpec};
use crate::processes::RepeatedCheck;
use crate::state::Session;
use crate::transcript::{self, Entry, Level};
use crate::turn::Turn;
use rhumb_edit::{Outcome, PendingChanges, PendingFile};

/// The answers to one request of the developer, and the retries so far.
#[derive(Debug, Default)]
pub(crate) struct EditRetries {
    /// The answers whose edits are under review, oldest first.
    replies: Vec<String>,
    /// Their numbers among the answers of the session.
    answers: Vec<usize>,
    /// How often refused edits were sent back.
    count: usize,
    /// Whether retries need the user.
    is_closed: bool,
    /// Whether the last answer may be followed by a retry: a retry without edits ends the retries.
    may_continue: bool,
    /// The outcomes before the last retry.
    last_outcomes: Vec<Outcome>,
    /// Refused edits that the next answer is not about.
    other_refused: Vec<Outcome>,
    /// The changes to which the first of the answers is applied.
    pending: PendingChanges,
    /// How often findings of checks were sent.
    pub(crate) repairs: usize,
    /// The failed check that the request is to fix. It is repeated after each write.
    pub(crate) recheck: Option<RepeatedCheck>,
}

impl EditRetries {
    /// Without further retries.
    pub(crate) fn closed() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// For a new request, which is about a failed check if there is one.
    pub(crate) fn about(recheck: Option<RepeatedCheck>) -> Self {
        Self { recheck, ..Self::default() }
    }

    /// The user sent feedback on the same request: the next answer may correct the edits that are still refused, and retries are counted
    /// from the start.
    pub(super) fn restart(&mut self, refused: Vec<Outcome>) {
        (self.count, self.repairs, self.is_closed) = (0, 0, false);
        self.forget_replies();
        self.last_outcomes.clear();
        self.pending.refused = refused;
    }

    /// The edits of the answers are decided: the next answer is applied to the files as they are now.
    pub(super) fn forget_replies(&mut self) {
        self.replies.clear();
        self.answers.clear();
        self.pending = PendingChanges::default();
    }

    /// Adds an answer and returns the earlier ones. `pending` is called for the first answer.
    pub(super) fn add_reply(
        &mut self,
        reply: &str,
        number: usize,
        has_edits: bool,
        pending: impl FnOnce() -> Vec<PendingFile>,
    ) -> Vec<String> {
        let earlier = self.replies.clone();
        if earlier.is_empty() {
            self.pending.files = pending();
        }
        self.replies.push(reply.to_owned());
        self.answers.push(number);
        self.may_continue = earlier.is_empty() || has_edits;
        earlier
    }

    /// The changes to which the first answer is applied, and the numbers of all answers.
    pub(super) fn pending_and_answers(&self) -> (PendingChanges, Vec<Option<usize>>) {
        (self.pending.clone(), self.answers.iter().copied().map(Some).collect())
    }

    /// Whether the last retry was about the same refused edits.
    pub(super) fn has_same_refusals(&self, outcomes: &[Outcome]) -> bool {
        context::same_refusals(&self.last_outcomes, outcomes)
    }

    pub(super) fn take_other_refused(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.other_refused)
    }

    /// Counts a retry. Returns its number and the maximum.
    fn next(&mut self, max: usize) -> (usize, usize) {
        self.count += 1;
        (self.may_continue, self.is_closed) = (false, false);
        (self.count, max.max(self.count))
    }
}

impl Session {
    /// Sends a message about refused edits, unless that was done too often or something else runs.
    pub(super) fn retry_refused(&mut self, message: String, request: String, outcomes: Vec<Outcome>) -> Vec<Effect> {
        let is_free = !self.turns.is_running() && !self.proposals.is_writing && self.model.is_connected();
        let retries = &mut self.proposals.retries;
        let may_retry = retries.may_continue && !retries.is_closed && retries.count < self.proposals.max_retries;
        if !is_free || !may_retry {
            return Vec::new();
        }
        retries.last_outcomes = outcomes;
        self.send_retry(message, request)
    }

    /// Sends one refused edit, or all of them, back to the model.
    pub fn ask_for_refused(&mut self, one: Option<usize>) -> Vec<Effect> {
        let (mut sent, mut others) = (Vec::new(), Vec::new());
        for (index, outcome) in self.proposals.review.refused.iter().enumerate() {
            let part = if one.is_none_or(|one| one == index) { &mut sent } else { &mut others };
            part.push(outcome.clone());
        }
        let Some(message) = context::refusals(&sent) else {
            self.tell(Level::Info, "The file already contains the text of this edit.", "");
            return Vec::new();
        };
        if self.proposals.is_writing || !self.may_send(&message) {
            return Vec::new();
        }
        // If the earlier answers are sent too, they contain the other edits.
        let retries = &mut self.proposals.retries;
        retries.other_refused = if retries.replies.is_empty() { others } else { Vec::new() };
        self.send_retry(message, self.proposals.request.clone())
    }

    /// Sends a message about refused edits: one more round of the same request.
    fn send_retry(&mut self, message: String, request: String) -> Vec<Effect> {
        let (round, of) = self.proposals.retries.next(self.proposals.max_retries);
        // The draft of the user stays in the composer.
        let number = self.turns.next_number();
        let spec = self.round_spec(number, message.clone());
        self.transcript.push(Entry::Again { text: message.clone(), round, of, answered: false });
        self.begin(Turn::again(spec.generation, message, request).in_mode(spec.mode));
        vec![Effect::Ask(Box::new(spec))]
    }

    /// The request for one more round of the same request, with this message.
    pub(crate) fn round_spec(&self, number: u64, message: String) -> RequestSpec {
        let mut spec = RequestSpec { draft: message, ..self.order(number) };
        // The files have the same text as before the request, so they come before all messages about it.
        let history = Arc::make_mut(&mut spec.history);
        history.append(&mut spec.exchange);
        let earlier = history.len().saturating_sub(transcript::exchange(&self.transcript));
        spec.exchange = history.split_off(earlier);
        self.in_round(spec)
    }
}
