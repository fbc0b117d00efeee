//! Earlier sessions: listing, previewing, renaming and deleting them, and resuming one.

use super::saved::SavedChoices;
use crate::turn::continuation::HINT_INTERRUPTED;
use crate::{
    Answer, AnswerState, Connection, Effect, Entry, Level, PersistenceEffect, RunState, SavedSession, Session,
    SessionSelector,
};

const MAX_PREVIEW_MESSAGES: usize = 12;
/// Maximum length of each message in a preview, in characters.
const MAX_PREVIEW_CHARS: usize = 600;

/// Why an answer or a command of a saved session is incomplete.
const STOPPED: &str = "rhumb was stopped";

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    You,
    /// The model.
    Model,
}

impl Session {
    /// Lists earlier sessions to choose from.
    pub fn list_sessions(&self, query: String) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::List(query))]
    }

    /// Reads the last messages of an earlier session.
    pub fn peek_session(&self, number: i64) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Peek(number))]
    }

    /// Deletes an earlier session.
    pub fn delete_session(&self, number: i64) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Delete(number))]
    }

    /// Renames an earlier session.
    pub fn rename_session(&self, number: i64, name: String) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Rename(number, name))]
    }

    /// Starts a new session with the contents of an earlier one, which stays unchanged.
    pub fn fork_session(&mut self, number: i64) -> Vec<Effect> {
        self.load(SessionSelector::Named(number.to_string()), true)
    }

    /// Resumes the earlier session with this number or name, or the last one.
    pub fn resume(&mut self, name: Option<String>) -> Vec<Effect> {
        self.load(name.map_or(SessionSelector::Newest, SessionSelector::Named), false)
    }

    fn load(&mut self, selector: SessionSelector, fork: bool) -> Vec<Effect> {
        if self.warn_if_busy() {
            return Vec::new();
        }
        vec![Effect::Persist(PersistenceEffect::Resume { selector, fork })]
    }

    /// Whether a turn or an effect of this session runs, so that the session cannot be left now. If so, reports it.
    pub(super) fn warn_if_busy(&mut self) -> bool {
        if self.turns.is_running() {
            self.report(Level::Warning, "The model is still answering.", "Cancel the turn, then try again.");
        } else if self.proposals.is_writing() {
            self.report(Level::Warning, "A write is running.", "Try again when it is done.");
        } else if self.is_compacting() {
            self.report(Level::Warning, "The conversation is being summarised.", "Try again when that is done.");
        } else if self.proposals.is_locating() {
            let text = "The edits of the last answer are still being located.";
            self.report(Level::Warning, text, "Try again in a moment.");
        }
        self.is_busy()
    }

    /// Saves the changes before the session is replaced by another.
    pub(super) fn save_changes(&mut self) -> Vec<Effect> {
        self.unsaved_changes().map(Effect::Persist).into_iter().collect()
    }

    /// Replaces this session by an earlier one that was loaded.
    pub(super) fn resumed(&mut self, session: SavedSession, fork: bool) -> Vec<Effect> {
        if self.warn_if_busy() {
            return vec![Effect::Persist(PersistenceEffect::CancelResume)];
        }
        // A session without a conversation has only status messages and the files of the command line, which the resumed session
        // gets too.
        let is_fresh = !self.has_conversation();
        let mut effects = self.save_changes();
        let status_messages = self.transcript.replace(session.transcript);
        let files = self.chat_files.replace(session.files);
        if is_fresh {
            files.iter().for_each(|file| self.chat_files.add(&file.path, file.read_only));
        }
        self.restore_choices(&session.choices);
        self.persistence.name = session.name;
        self.spending.resume(session.ledger);
        self.history.restore(session.summary);
        self.drafts.set_message(&session.draft);
        self.drafts.clear_command();
        self.codebase.resume(session.passages);
        self.proposals.resume(session.review, session.request, session.feedback);
        self.suspend_waiting();
        effects.push(self.switch_to(session.number, fork));
        let interrupted = self.close_interrupted();
        if is_fresh {
            // Messages of an earlier start are in the transcript already.
            let unfinished = self.persistence.unfinished.take();
            let is_new = |entry: &&Entry| !self.transcript.contains(entry) && Some(*entry) != unfinished.as_ref();
            let new: Vec<Entry> = status_messages.iter().filter(is_new).cloned().collect();
            self.transcript.extend(new);
        }
        self.report_resumed(session.number, fork, &session.choices.model, session.unreadable);
        session.stale.into_iter().for_each(|(path, text)| self.reread(&path, text.as_deref()));
        // The last message is visible on a small screen too, and this one needs an action.
        if let Some((text, hint)) = interrupted {
            self.report(Level::Warning, text, hint);
        }
        if !self.drafts.message().is_empty() {
            self.return_draft(self.drafts.message().to_owned());
        }
        effects.extend(self.measure());
        effects
    }

    /// Withdraws the questions of the previous session, and holds its queued messages until the user sends them.
    fn suspend_waiting(&mut self) {
        self.withdraw_offers();
        self.forget_mentioned();
        self.modes.end_search();
        self.detach_checks();
        self.withdraw_questions();
        self.hold_queue();
    }

    /// Later changes are saved in the session with this number, or in a new one that was forked from it.
    fn switch_to(&mut self, number: i64, fork: bool) -> Effect {
        self.mark_unsaved();
        if fork {
            return Effect::Persist(PersistenceEffect::Branch { from: Some(number) });
        }
        self.persistence.number = Some(number);
        self.mark_saved();
        Effect::Persist(PersistenceEffect::ConfirmResume)
    }

    fn restore_choices(&mut self, choices: &SavedChoices) {
        self.modes.set_mode(choices.mode);
        self.next_request.restore_map(choices.map_tokens, &choices.pinned, &choices.banned);
        self.turns.skip_to(choices.turns);
    }

    /// Marks commands and an answer that were running when the program was killed as incomplete. A message without an answer becomes
    /// the draft again if there is no other. Returns a message about the answer, and a hint.
    fn close_interrupted(&mut self) -> Option<(&'static str, &'static str)> {
        let is_running = |entry: &Entry| matches!(entry, Entry::Ran(ran) if ran.state == RunState::Running);
        while let Some(Entry::Ran(ran)) = self.transcript.rfind_mut(is_running) {
            ran.state = RunState::Failed(STOPPED.into());
        }
        let at = self.transcript.iter().rposition(Entry::is_streaming)?;
        let Some(Entry::Answer(Answer { text, state, .. })) = self.transcript.get_mut(at) else { return None };
        if !text.is_empty() {
            *state = AnswerState::Incomplete(STOPPED.into());
            return Some(("The last answer was incomplete when rhumb was stopped.", HINT_INTERRUPTED));
        }
        self.transcript.remove(at);
        let message = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::User { text, mode, answered: false } => Some(self.as_typed(text, *mode)),
            _ => None,
        });
        let text = "The last message had no answer yet when rhumb was stopped.";
        if !self.drafts.message().is_empty() {
            return Some((text, "/retry sends it again."));
        }
        self.drafts.set_message(&message.unwrap_or_default());
        Some((text, "It is the draft again, ready to be sent."))
    }

    fn report_resumed(&mut self, number: i64, fork: bool, model: &str, unreadable: Vec<String>) {
        let title = self.title();
        let title = if title.is_empty() { title } else { format!(": {title}") };
        let (text, hint) = if fork {
            (format!("This new session is a copy of session {number}{title}."), "The other session stays unchanged.")
        } else {
            (format!("Back in session {number}{title}."), "")
        };
        let message = Entry::status(Level::Info, text, hint);
        while let Some(at) = self.transcript.iter().position(|entry| *entry == message) {
            self.transcript.remove(at);
        }
        self.transcript.push(message);
        if let Connection::Remote { model: now, .. } = self.model.connection()
            && !model.is_empty()
            && now != model
        {
            let text = format!("This session used {model} before; it now uses {now}.");
            self.report(Level::Info, text, format!("/model {model} switches back."));
        }
        unreadable.into_iter().for_each(|text| self.report(Level::Warning, text, "Everything else was restored."));
    }
}

/// The last messages of a conversation, for a preview. Long messages are cut.
pub fn last_messages(transcript: &[Entry]) -> Vec<(Speaker, String)> {
    let message = |entry: &Entry| match entry {
        Entry::User { text, .. } => Some((Speaker::You, cut(text))),
        Entry::Answer(answer) if !answer.text.trim().is_empty() => Some((Speaker::Model, cut(&answer.text))),
        _ => None,
    };
    let mut last: Vec<_> = transcript.iter().rev().filter_map(message).take(MAX_PREVIEW_MESSAGES).collect();
    last.reverse();
    last
}

fn cut(text: &str) -> String {
    let text = text.trim();
    let short: String = text.chars().take(MAX_PREVIEW_CHARS).collect();
    if short.len() < text.len() { short + " …" } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Mode;

    #[test]
    fn a_preview_shows_the_last_messages_and_cuts_long_ones() {
        let user = |text: String| Entry::User { text, mode: Mode::Code, answered: true };
        let mut transcript: Vec<Entry> = (0..20).map(|number| user(format!("message {number}"))).collect();
        transcript.push(Entry::Cleared);
        transcript.push(user("x".repeat(MAX_PREVIEW_CHARS + 1)));
        let messages = last_messages(&transcript);
        assert_eq!((messages.len(), messages[0].1.as_str()), (MAX_PREVIEW_MESSAGES, "message 9"));
        assert!(messages[MAX_PREVIEW_MESSAGES - 1].1.ends_with("x …"));
    }
}
