//! Leaving the line of a conversation: a new session from an earlier turn, or an earlier message taken back. Nothing is deleted: the
//! session as it was until now stays as one of its own.

use super::super::effect::Effect;
use super::super::proposal::edit_retries::EditRetries;
use super::super::state::Session;
use super::super::transcript::{Entry, Level};
use super::PersistenceEffect;

impl Session {
    /// Clears the conversation and takes all files out but those that every chat begins with.
    pub fn reset(&mut self) -> Vec<Effect> {
        self.remove_all_files();
        self.clear_history()
    }

    /// Begins a new session with this one as far as a turn (1-based), or all of it.
    pub fn fork(&mut self, turn: Option<usize>) -> Vec<Effect> {
        let turns = self.messages();
        if turns.is_empty() {
            self.report(Level::Warning, "Nothing was said yet that a new session could begin with.", "");
            return Vec::new();
        }
        if !self.persistence.on {
            let text = "Sessions are not kept here, so there would be no way back from a fork.";
            self.report(Level::Warning, text, "/rewind takes a message back here all the same.");
            return Vec::new();
        }
        let Some(end) = self.turn_end(turn, &turns) else { return Vec::new() };
        if self.must_not_move() {
            return Vec::new();
        }
        let from = self.persistence.number;
        let mut effects = self.branch(end);
        if !self.persistence.name.is_empty() {
            self.persistence.name += ", fork";
        }
        let turn = turn.map_or_else(|| "all of it".to_owned(), |turn| format!("as far as turn {turn}"));
        let text = format!("This is a new session now, with the conversation so far ({turn}).");
        self.report(Level::Info, text, self.way_back(from));
        effects.extend(self.measure());
        effects
    }

    /// Takes a message (by the number of its turn, 1-based; the last one without) back into the composer. It and all after it
    /// are left out from now on.
    pub fn rewind(&mut self, turn: Option<usize>) -> Vec<Effect> {
        let turns = self.messages();
        let number = turn.unwrap_or(turns.len());
        let Some(at) = number.checked_sub(1).and_then(|at| turns.get(at)).copied() else {
            self.report_turns(turns.len());
            return Vec::new();
        };
        if self.must_not_move() {
            return Vec::new();
        }
        let Some(Entry::User { text, mode, .. }) = self.transcript.get(at).cloned() else { return Vec::new() };
        let message = self.as_typed(&text, mode);
        let from = self.persistence.number;
        let mut effects = self.branch(at);
        let text = format!("Turn {number} is in the composer again; it and what came after it are left out.");
        self.report(Level::Info, text, self.way_back(from));
        self.drafts.set_message(&message);
        self.return_draft(message);
        effects.extend(self.measure());
        effects
    }

    /// The message of the user in that entry, as it would be typed again, and the number of its turn (1-based).
    pub fn message_again(&self, entry: usize) -> Option<(usize, String)> {
        let turn = self.messages().iter().position(|at| *at == entry)? + 1;
        let Some(Entry::User { text, mode, .. }) = self.transcript.get(entry) else { return None };
        Some((turn, self.as_typed(text, *mode)))
    }

    /// Where the messages of the user stand.
    fn messages(&self) -> Vec<usize> {
        let is_message = |at: &usize| matches!(self.transcript.get(*at), Some(Entry::User { .. }));
        (0..self.transcript.len()).filter(is_message).collect()
    }

    /// Where a turn ends; `None`, which is told, if there is no such turn.
    fn turn_end(&mut self, turn: Option<usize>, turns: &[usize]) -> Option<usize> {
        match turn {
            None => Some(self.transcript.len()),
            Some(turn) if turn <= turns.len() => Some(turns.get(turn).copied().unwrap_or(self.transcript.len())),
            Some(_) => {
                self.report_turns(turns.len());
                None
            }
        }
    }

    fn report_turns(&mut self, turns: usize) {
        let text = match turns {
            0 => "There is no message yet.".to_owned(),
            1 => "There is one turn so far.".to_owned(),
            turns => format!("There are {turns} turns so far."),
        };
        self.report(Level::Warning, text, "A turn is a message of yours with its answer; the first has number 1.");
    }

    /// Makes this a new session, with the transcript up to `end`.
    fn branch(&mut self, end: usize) -> Vec<Effect> {
        let mut effects = self.keep_the_rest();
        effects.extend(self.persistence.on.then_some(Effect::Persist(PersistenceEffect::Branch { from: None })));
        let is_cut = end < self.transcript.len();
        self.transcript.truncate(end);
        self.forget_kept();
        if is_cut {
            self.withdraw_offers();
            self.forget_mentioned();
            self.set_checks_apart();
            // The review no longer holds back what waits, and it may be about what is left out.
            self.hold_queue();
            self.forget_summary();
            *self.proposals.retries_mut() = EditRetries::closed();
        }
        // What is under review belongs to a turn that is left out. It can be found where it is kept, and only there.
        if is_cut && self.persistence.on && !self.proposals.review().is_empty() {
            self.proposals.discard_review();
            self.report(Level::Info, "The review stays with the session as it was.", "");
        }
        effects
    }

    fn way_back(&self, from: Option<i64>) -> String {
        match from {
            Some(number) if self.persistence.on => {
                format!("As it was, it is session {number}: /resume {number} goes back.")
            }
            _ => String::new(),
        }
    }
}
