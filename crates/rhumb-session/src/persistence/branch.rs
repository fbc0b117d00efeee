//! Forking and rewinding: a new session from an earlier turn of this one. Nothing is deleted: the previous state stays as a session.

use crate::proposal::edit_retries::EditRetries;
use crate::{ChatFile, Effect, Entry, Level, PersistenceEffect, Session};

impl Session {
    /// Clears the conversation and drops all files except those that every chat starts with.
    pub fn reset(&mut self) -> Vec<Effect> {
        self.remove_all_files();
        self.clear_history()
    }

    /// The files that `/drop` without names removes: all except those that every chat starts with.
    pub(crate) fn files_to_drop(&self) -> Vec<&str> {
        let stays = |file: &ChatFile| file.read_only && self.chat_files.is_initial(&file.path);
        self.chat_files.files().iter().filter(|file| !stays(file)).map(|file| file.path.as_str()).collect()
    }

    /// Starts a new session with the conversation up to the end of a turn (1-based), or all of it.
    pub fn fork(&mut self, turn: Option<usize>) -> Vec<Effect> {
        let turns = self.message_positions();
        if turns.is_empty() {
            self.report(Level::Warning, "The conversation is empty, so there is nothing to fork.", "");
            return Vec::new();
        }
        if !self.persistence.is_on {
            let text = "Sessions are not saved here, so there would be no way back from a fork.";
            self.report(Level::Warning, text, "/rewind still takes a message back.");
            return Vec::new();
        }
        let end = match turn {
            Some(turn) if turn > turns.len() => {
                self.report_turn_count(turns.len());
                return Vec::new();
            }
            Some(turn) => turns.get(turn).copied().unwrap_or(self.transcript.len()),
            None => self.transcript.len(),
        };
        if self.warn_if_busy() {
            return Vec::new();
        }
        let from = self.persistence.number;
        let mut effects = self.branch(end);
        if !self.persistence.name.is_empty() {
            self.persistence.name += ", fork";
        }
        let part = turn.map_or_else(|| "the whole conversation".to_owned(), |turn| format!("turns 1 to {turn}"));
        self.report(Level::Info, format!("This is now a new session with {part}."), self.resume_hint(from));
        effects.extend(self.measure());
        effects
    }

    /// Moves the message of a turn (1-based; the last one by default) back into the composer. That turn and all later ones leave the
    /// conversation.
    pub fn rewind(&mut self, turn: Option<usize>) -> Vec<Effect> {
        let turns = self.message_positions();
        let number = turn.unwrap_or(turns.len());
        let Some(at) = number.checked_sub(1).and_then(|at| turns.get(at)).copied() else {
            self.report_turn_count(turns.len());
            return Vec::new();
        };
        if self.warn_if_busy() {
            return Vec::new();
        }
        let Some(Entry::User { text, mode, .. }) = self.transcript.get(at).cloned() else { return Vec::new() };
        let message = self.as_typed(&text, mode);
        let from = self.persistence.number;
        let mut effects = self.branch(at);
        let text = format!("Turn {number} is the draft again. It and all later turns left the conversation.");
        self.report(Level::Info, text, self.resume_hint(from));
        self.drafts.set_message(&message);
        self.return_draft(message);
        effects.extend(self.measure());
        effects
    }

    /// The message of the user at this position of the transcript, as it would be typed, and the number of its turn (1-based).
    pub fn message_as_typed(&self, entry: usize) -> Option<(usize, String)> {
        let turn = self.message_positions().iter().position(|at| *at == entry)? + 1;
        let Some(Entry::User { text, mode, .. }) = self.transcript.get(entry) else { return None };
        Some((turn, self.as_typed(text, *mode)))
    }

    /// The positions of the user's messages in the transcript.
    fn message_positions(&self) -> Vec<usize> {
        let is_message = |at: &usize| matches!(self.transcript.get(*at), Some(Entry::User { .. }));
        (0..self.transcript.len()).filter(is_message).collect()
    }

    fn report_turn_count(&mut self, turns: usize) {
        let text = match turns {
            0 => "There is no message yet.".to_owned(),
            1 => "There is one turn so far.".to_owned(),
            turns => format!("There are {turns} turns so far."),
        };
        let hint = "A turn is one message of yours with its answer. Turns are numbered from 1.";
        self.report(Level::Warning, text, hint);
    }

    /// Makes this a new session with the transcript up to `end`.
    fn branch(&mut self, end: usize) -> Vec<Effect> {
        let mut effects = self.save_changes();
        effects.extend(self.persistence.is_on.then_some(Effect::Persist(PersistenceEffect::Branch { from: None })));
        let is_cut = end < self.transcript.len();
        self.transcript.truncate(end);
        self.mark_unsaved();
        if is_cut {
            self.withdraw_offers();
            self.forget_mentioned();
            self.detach_checks();
            // Queued messages may be about removed turns, so they are not sent without the user.
            self.hold_queue();
            self.forget_summary();
            *self.proposals.retries_mut() = EditRetries::closed();
        }
        // The review belongs to a removed turn. It is discarded only if it is saved with the previous session.
        if is_cut && self.persistence.is_on && !self.proposals.review().is_empty() {
            self.proposals.discard_review();
            self.report(Level::Info, "The review stays in the previous session.", "");
        }
        effects
    }

    fn resume_hint(&self, previous: Option<i64>) -> String {
        match previous {
            Some(number) if self.persistence.is_on => {
                format!("The previous state is session {number}: /resume {number} goes back to it.")
            }
            _ => String::new(),
        }
    }
}
