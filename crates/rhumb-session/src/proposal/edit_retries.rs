//! A proposal comes in, and what found no place goes back to the model by itself, a limited number of times.

use crate::context;
use crate::effect::Effect;
use crate::processes::RepeatedCheck;
use crate::state::Session;
use crate::transcript::Level;
use crate::turn::Turn;
use rhumb_edit::review::{EditState, Review};
use rhumb_edit::{Outcome, PendingChanges, Proposal};
use rhumb_text::count;

/// How far the model is with one request of the developer.
#[derive(Debug, Default)]
pub(crate) struct EditRetries {
    /// The answers whose edits are under review, oldest first.
    pub(crate) replies: Vec<String>,
    /// Which answers of the session they are.
    answers: Vec<usize>,
    /// How often the model was asked again.
    asked: usize,
    /// It is not asked again by itself.
    is_closed: bool,
    /// How often it was told what checks found.
    pub(crate) verified: usize,
    /// The failed check that the request is to fix, repeated after each write.
    pub(crate) recheck: Option<RepeatedCheck>,
    /// Whether it may be: the last answer came from it, and it still sends edits.
    may_ask: bool,
    /// The edits that the model was last asked about by itself, among all of its answers.
    asked_about: Vec<Outcome>,
    /// Refused edits that the answer to come is not about.
    aside: Vec<Outcome>,
    /// What the first of the answers is put upon.
    standing: PendingChanges,
}

impl EditRetries {
    /// No more rounds.
    pub(crate) fn closed() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// The rounds of a new request, which is about that failed check if there is one.
    pub(crate) fn about(recheck: Option<RepeatedCheck>) -> Self {
        Self { recheck, ..Self::default() }
    }

    /// The developer has a word on the same request: what he left of its answers is mended on, and rounds are counted anew.
    pub(super) fn begin_again(&mut self, refused: Vec<Outcome>) {
        (self.asked, self.verified, self.is_closed) = (0, 0, false);
        self.forget_replies();
        self.asked_about.clear();
        self.standing.refused = refused;
    }

    /// What the answers proposed is decided: one to come is put upon what is left of it.
    pub(super) fn forget_replies(&mut self) {
        self.replies.clear();
        self.answers.clear();
        self.standing = PendingChanges::default();
    }

    /// Keeps refused edits while the model is asked for others. Where its earlier answers are known, they say it themselves.
    pub(super) fn keep_aside(&mut self, refused: Vec<Outcome>) {
        self.aside = if self.replies.is_empty() { refused } else { Vec::new() };
    }

    /// One more round: which it is, and of how many.
    pub(crate) fn next(&mut self, most: usize) -> (usize, usize) {
        self.asked += 1;
        (self.may_ask, self.is_closed) = (false, false);
        (self.asked, most.max(self.asked))
    }
}

impl Session {
    /// Looks for the edits of an answer that has just ended. It may mend those of the answers before it.
    pub(crate) fn propose_answer(&mut self, reply: String, turn: &Turn) -> Vec<Effect> {
        let earlier = self.proposals.retries.replies.clone();
        if earlier.is_empty() {
            self.proposals.retries.standing.files = self.proposals.review.pending_changes();
        }
        self.proposals.retries.replies.push(reply.clone());
        let number = self.last_answer_number();
        self.proposals.retries.answers.push(number);
        let answers = self.proposals.retries.answers.iter().copied().map(Some).collect();
        self.proposals.retries.may_ask = earlier.is_empty() || !turn.edits.is_empty();
        self.proposals.locating += 1;
        let pending = self.proposals.retries.standing.clone();
        let (request, files) = (turn.request.clone(), self.chat_files.files().to_vec());
        vec![Effect::Propose { request, pending, earlier, reply, answers, files }]
    }

    /// A proposal arrived. Files of an earlier one that it does not touch stay under review.
    pub(crate) fn proposed(&mut self, request: String, proposal: Proposal) -> Vec<Effect> {
        let message = context::refusals(&proposal.outcomes);
        let (outcomes, repeated) = (proposal.outcomes.clone(), proposal.repeated.clone());
        let before = self.proposals.review.edits();
        let newer = Review::new(proposal);
        if newer.is_empty() {
            self.record_edits(&outcomes, &repeated, &before);
            return Vec::new();
        }
        self.proposals.count += 1;
        if self.proposals.request != request {
            // What was said of hunks of another request is of no use for this one.
            self.proposals.feedback.clear();
        }
        self.proposals.request.clone_from(&request);
        let unchanged = message.is_some() && context::same_refusals(&self.proposals.retries.asked_about, &outcomes);
        self.report_refused(&newer.refused_states(), unchanged);
        for path in self.proposals.review.merge(newer) {
            let text =
                format!("In {path} the new answer has other changes in the place of some that were under review.");
            self.report(Level::Info, text, "");
        }
        self.proposals.review.refused.append(&mut self.proposals.retries.aside);
        self.record_edits(&outcomes, &repeated, &before);
        match message.filter(|_| !unchanged) {
            Some(message) => self.ask_again(message, request, outcomes),
            None => Vec::new(),
        }
    }

    /// Tells of the edits without a place; `unchanged` if asking for them again has changed nothing.
    fn report_refused(&mut self, states: &[(EditState, usize)], unchanged: bool) {
        let sentence = |(state, number): &(EditState, usize)| {
            let edits = count(*number, "edit");
            match (state, *number == 1) {
                (EditState::AlreadyApplied, true) => format!("{edits} is already applied."),
                (EditState::AlreadyApplied, false) => format!("{edits} are already applied."),
                (EditState::Incomplete, true) => format!("{edits} is incomplete."),
                (EditState::Incomplete, false) => format!("{edits} are incomplete."),
                _ => format!("{edits} found no place in the files."),
            }
        };
        if !states.is_empty() {
            let mut text: Vec<String> = states.iter().map(sentence).collect();
            if unchanged {
                text.push("The last answer changed nothing about that, so the model is not asked again.".into());
            }
            self.report(Level::Warning, text.join(" "), "The review shows the reason and the nearest places.");
        }
    }

    /// Sends `message` about refused edits, if that may be done by itself and was not done too often.
    fn ask_again(&mut self, message: String, request: String, outcomes: Vec<Outcome>) -> Vec<Effect> {
        let is_free = !self.turns.is_running() && !self.proposals.is_writing && self.model.is_connected();
        if !is_free
            || !self.proposals.retries.may_ask
            || self.proposals.retries.is_closed
            || self.proposals.retries.asked >= self.proposals.max_retries
        {
            return Vec::new();
        }
        self.proposals.retries.asked_about = outcomes;
        self.send_again(message, request)
    }
}
