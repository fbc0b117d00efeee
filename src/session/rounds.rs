//! A proposal comes in, and what found no place goes back to the model by itself, a limited number of times.

use super::effect::{ContextOrder, Effect};
use super::state::{Connection, Session};
use super::transcript::{self, Entry, Level};
use super::turn::Turn;
use super::writing::count;
use crate::context;
use crate::edit::Proposal;
use crate::review::Review;

/// How far the model is with one request of the developer.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The answers whose edits are under review, oldest first.
    pub(super) replies: Vec<String>,
    /// How often the model was asked again.
    asked: usize,
    /// How often it was told what checks found.
    pub(super) verified: usize,
    /// Whether it may be: the last answer came from it, and it still sends edits.
    may_ask: bool,
}

impl Rounds {
    /// No more rounds.
    pub(super) fn closed() -> Self {
        Self { asked: usize::MAX, ..Self::default() }
    }
}

impl Session {
    /// Looks for the edits of an answer that has just ended. It may mend those of the answers before it.
    pub(super) fn propose_answer(&mut self, reply: String, turn: &Turn) -> Vec<Effect> {
        let earlier = self.rounds.replies.clone();
        self.rounds.replies.push(reply.clone());
        self.rounds.may_ask = earlier.is_empty() || !turn.edits.is_empty();
        self.proposing += 1;
        vec![Effect::Propose { request: turn.request.clone(), earlier, reply, files: self.files.clone() }]
    }

    /// A proposal arrived. Files of an earlier one that it does not touch stay under review.
    pub(super) fn proposed(&mut self, request: String, proposal: Proposal) -> Vec<Effect> {
        let message = context::refusals(&proposal.outcomes);
        let newer = Review::new(proposal);
        if newer.is_empty() {
            return Vec::new();
        }
        self.proposals += 1;
        self.request.clone_from(&request);
        let refused = newer.refused.len();
        if refused > 0 {
            let text = format!("{} found no place in the files.", count(refused, "edit"));
            self.tell(Level::Warning, text, "The review says why, with the nearest places where there are any.");
        }
        for path in self.review.merge(newer) {
            let text = format!("The earlier proposal for {path} was replaced by the new one.");
            self.tell(Level::Info, text, "");
        }
        message.map_or_else(Vec::new, |message| self.ask_again(message, request))
    }

    /// Sends `message` about refused edits, if that may be done by itself and was not done too often.
    fn ask_again(&mut self, message: String, request: String) -> Vec<Effect> {
        let is_free = self.turn.is_none() && !self.writing && self.connection != Connection::None;
        if !is_free || !self.rounds.may_ask || self.rounds.asked >= self.edit_rounds {
            return Vec::new();
        }
        self.rounds.asked += 1;
        self.rounds.may_ask = false;
        // What the developer is typing meanwhile stays in the composer.
        let mut order = ContextOrder { draft: message.clone(), ..self.next_order() };
        // The files are as they were for the request, so they stand before all that was said of it.
        order.history.append(&mut order.exchange);
        let earlier = order.history.len().saturating_sub(transcript::exchange(&self.transcript));
        order.exchange = order.history.split_off(earlier);
        let order = self.in_round(order);
        let (round, of) = (self.rounds.asked, self.edit_rounds);
        self.transcript.push(Entry::Again { text: message.clone(), round, of, answered: false });
        self.begin(Turn::again(order.generation, message, request).in_mode(order.mode));
        vec![Effect::Ask(Box::new(order))]
    }
}
