//! Adds the edits of an answer to the review, and retries refused edits: sends them back to the model without a question a limited
//! number of times, and after that if the user requests it.

use crate::context;
use crate::transcript::{self};
use crate::{Effect, Entry, Level, RepeatedCheck, RequestSpec, Session, TrialCommand, Turn};
use rhumb_edit::review::{EditState, HunkMark, Review};
use rhumb_edit::{Outcome, PendingChanges, Proposal};
use rhumb_text::count;
use std::sync::Arc;

/// The answers to one request of the user, and the retries so far.
#[derive(Debug, Default)]
pub(crate) struct EditRetries {
    /// The answers whose edits are under review, oldest first.
    replies: Vec<String>,
    /// Their numbers among the answers of the session.
    answers: Vec<usize>,
    /// How often refused edits were sent back.
    count: usize,
    /// Whether a retry must be requested by the user.
    is_closed: bool,
    /// Whether the last answer may be followed by a retry: a retry without edits ends the retries.
    may_continue: bool,
    last_outcomes: Vec<Outcome>,
    /// Refused edits that the next answer does not correct.
    other_refused: Vec<Outcome>,
    /// The changes to which the first of the answers is applied.
    pending: PendingChanges,
    /// How often findings of checks were sent.
    pub(crate) repairs: usize,
    /// The failed check that the request is to fix. It is repeated after each write.
    pub(crate) recheck: Option<RepeatedCheck>,
    /// The command of a failed trial, which is repeated when an answer has edits.
    pub(crate) failed_trial: Option<TrialCommand>,
}

impl EditRetries {
    /// The state without further retries.
    pub(crate) fn closed() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// The state for a new request, which is to fix the failed check if there is one.
    pub(crate) fn about(recheck: Option<RepeatedCheck>) -> Self {
        Self { recheck, ..Self::default() }
    }

    /// Handles feedback of the user on the same request: the next answer may correct the edits that are still refused, and the
    /// count of retries starts again at zero.
    pub(super) fn restart(&mut self, refused: Vec<Outcome>) {
        (self.count, self.repairs, self.is_closed) = (0, 0, false);
        self.forget_replies();
        self.last_outcomes.clear();
        self.pending.refused = refused;
    }

    /// Handles the decision on all edits of the answers: the next answer is applied to the current files.
    pub(super) fn forget_replies(&mut self) {
        self.replies.clear();
        self.answers.clear();
        self.pending = PendingChanges::default();
    }

    /// Counts a retry. Returns its number and the maximum.
    fn next(&mut self, max: usize) -> (usize, usize) {
        self.count += 1;
        (self.may_continue, self.is_closed) = (false, false);
        (self.count, max.max(self.count))
    }
}

impl Session {
    /// Locates the edits of an answer that has just ended. The answer may correct edits of earlier ones.
    pub(crate) fn propose_answer(&mut self, reply: String, turn: &Turn) -> Vec<Effect> {
        let number = self.last_answer_number();
        let retries = &mut self.proposals.retries;
        let earlier = retries.replies.clone();
        if earlier.is_empty() {
            retries.pending.files = self.proposals.review.pending_changes();
        }
        retries.replies.push(reply.clone());
        retries.answers.push(number);
        retries.may_continue = earlier.is_empty() || !turn.edits.is_empty();
        let (pending, answers) = (retries.pending.clone(), retries.answers.iter().copied().map(Some).collect());
        self.proposals.locating += 1;
        let (request, files) = (turn.request.clone(), self.chat_files.files().to_vec());
        vec![Effect::Propose { request, pending, earlier, reply, answers, files }]
    }

    /// Handles a new proposal. Files of earlier proposals that it does not touch stay under review.
    pub(crate) fn proposed(&mut self, request: String, proposal: Proposal) -> Vec<Effect> {
        let message = context::refusals(&proposal.outcomes);
        let (outcomes, repeated) = (proposal.outcomes.clone(), proposal.repeated.clone());
        let before = self.proposals.review.edits();
        let newer = Review::new(proposal);
        if newer.is_empty() {
            self.record_edits(&outcomes, &repeated, &before);
            return Vec::new();
        }
        self.proposals.count_proposal(&request);
        let is_unchanged =
            message.is_some() && context::same_refusals(&self.proposals.retries.last_outcomes, &outcomes);
        self.report_refused(&newer.refused_states(), is_unchanged);
        let changes = self.proposals.review.changes();
        for path in self.proposals.review.merge(newer) {
            self.report(Level::Info, format!("Newer changes replace some of those under review in {path}."), "");
        }
        self.proposals.review.refused.append(&mut self.proposals.retries.other_refused);
        if self.proposals.retries.repairs > 0 {
            let round = HunkMark::Round(self.proposals.retries.repairs);
            self.proposals.review.mark_others(&changes, &round);
        }
        self.record_edits(&outcomes, &repeated, &before);
        match message.filter(|_| !is_unchanged) {
            Some(message) => {
                let effects = self.retry_refused(message, request, outcomes);
                if effects.is_empty() { self.try_proposal() } else { effects }
            }
            None => self.try_proposal(),
        }
    }

    /// Reports the edits that were not applied; `is_unchanged` if a retry had the same result.
    fn report_refused(&mut self, states: &[(EditState, usize)], is_unchanged: bool) {
        if states.is_empty() {
            return;
        }
        let sentence = |(state, number): &(EditState, usize)| {
            let verb = if *number == 1 { "is" } else { "are" };
            let edits = count(*number, "edit");
            match state {
                EditState::AlreadyApplied => format!("{edits} {verb} already applied."),
                EditState::Incomplete => format!("{edits} {verb} incomplete."),
                _ => format!("{edits} found no location in the files."),
            }
        };
        let mut text: Vec<String> = states.iter().map(sentence).collect();
        if is_unchanged {
            text.push("The last answer changed nothing about that, so the model is not asked again.".into());
        }
        self.report(Level::Warning, text.join(" "), "The review shows the reason and the nearest places.");
    }

    /// Sends a message about refused edits, unless the retries are used up or something else runs.
    fn retry_refused(&mut self, message: String, request: String, outcomes: Vec<Outcome>) -> Vec<Effect> {
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
            self.report(Level::Info, "The file already contains the text of this edit.", "");
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

    /// Sends a message about refused edits, which starts one more round of the same request.
    fn send_retry(&mut self, message: String, request: String) -> Vec<Effect> {
        let (round, of) = self.proposals.retries.next(self.proposals.max_retries);
        // The draft of the user stays in the composer.
        let number = self.turns.next_number();
        let spec = self.round_spec(number, message.clone());
        self.transcript.push(Entry::FollowUp { text: message.clone(), round, of, answered: false });
        self.open_turn(Turn::follow_up(spec.generation, message, request).with_mode(spec.mode));
        let mut effects = self.start_timer();
        effects.push(Effect::Ask(Box::new(spec)));
        effects
    }

    pub(crate) fn round_spec(&self, number: u64, message: String) -> RequestSpec {
        let mut spec = RequestSpec { draft: message, ..self.request_spec(number) };
        // The files have the same text as before the request, so they come before all messages about it.
        let exchange = std::mem::take(&mut spec.exchange);
        Arc::make_mut(&mut spec.history).extend_from_slice(&exchange);
        spec.split_exchange(transcript::exchange_len(&self.transcript));
        self.as_follow_up(spec)
    }
}
