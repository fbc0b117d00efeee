//! Earlier sessions: listing, previewing, renaming, deleting and resuming them; a new session from an earlier turn (fork, rewind),
//! which leaves the previous state as a session; and the messages about unfinished work, on leaving and at the next start.

use super::saved::SavedChoices;
use crate::context::Mode;
use crate::proposal::edit_retries::EditRetries;
use crate::turn::continuation::HINT_INTERRUPTED;
use crate::{
    Answer, AnswerState, ChatFile, Connection, Effect, Entry, Level, PersistenceEffect, RunState, SavedSession,
    Session, SessionSelector,
};
use rhumb_edit::review::Review;
use rhumb_text::count;

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
        self.forget_loop();
        self.stop_calls(STOPPED);
        let at = self.transcript.iter().rposition(Entry::is_streaming)?;
        let is_agent_step = self.last_mode() == Mode::Agent && self.last_step() > 0;
        let Some(Entry::Answer(Answer { text, state, .. })) = self.transcript.get_mut(at) else { return None };
        if !text.is_empty() {
            *state = AnswerState::Incomplete(STOPPED.into());
            return Some(("The last answer was incomplete when rhumb was stopped.", HINT_INTERRUPTED));
        }
        self.transcript.remove(at);
        if is_agent_step {
            return Some(("The agent loop was running when rhumb was stopped.", "/continue goes on with it."));
        }
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
        self.forget_loop();
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

/// The unfinished work of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnfinishedWork {
    /// The number of pending hunks.
    pub pending: usize,
    /// The number of hunks that are accepted and not written.
    pub accepted: usize,
    /// Whether there is an unsent message.
    pub has_draft: bool,
}

impl UnfinishedWork {
    /// The unfinished work in a review and a draft.
    pub fn of(review: &Review, draft: &str) -> Self {
        let counts = review.counts();
        Self { pending: counts.pending, accepted: counts.accepted, has_draft: !draft.trim().is_empty() }
    }

    /// Whether there is any unfinished work.
    pub fn is_anything(&self) -> bool {
        self.hunks().is_some() || self.has_draft
    }

    /// A phrase about the hunks that are not written.
    fn hunks(&self) -> Option<String> {
        Some(match (self.pending, self.accepted) {
            (0, 0) => return None,
            (pending, 0) => count(pending, "pending hunk"),
            (0, accepted) => format!("{} not written", count(accepted, "accepted hunk")),
            (pending, accepted) => {
                format!("{} and {accepted} accepted but not written", count(pending, "pending hunk"))
            }
        })
    }

    /// A phrase such as `4 pending hunks and an unsent message`.
    pub fn words(&self) -> String {
        let draft = self.has_draft.then(|| "an unsent message".to_owned());
        self.hunks().into_iter().chain(draft).collect::<Vec<_>>().join(" and ")
    }
}

impl Session {
    /// The message on leaving. `is_saved` says whether the last changes are on disk, and `resume` is the command line that resumes the
    /// session. Empty if the session has no conversation and no unfinished work.
    pub fn farewell(&self, is_saved: bool, resume: &str) -> String {
        let unfinished = UnfinishedWork::of(self.proposals.review(), self.drafts.text());
        match self.persistence.number.filter(|_| is_saved) {
            Some(_) if !self.is_worth_saving() => String::new(),
            Some(number) if unfinished.is_anything() => {
                format!("Session {number} is saved, with {}.\nResume it with: {resume}", unfinished.words())
            }
            Some(number) => format!("Session {number} is saved.\nResume it with: {resume}"),
            None if unfinished.is_anything() => {
                format!("The session was not saved, so this is lost: {}.", unfinished.words())
            }
            None => String::new(),
        }
    }

    pub(super) fn report_unfinished(&mut self, number: i64, unfinished: UnfinishedWork) {
        let text = format!("The last session ({number}) has {}.", unfinished.words());
        let message = Entry::status(Level::Info, text, "/resume opens it, and so does rhumb --continue at the start.");
        self.transcript.push(message.clone());
        self.persistence.unfinished = Some(message);
    }
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

#[cfg(test)]
mod unfinished_tests {
    use super::*;
    use crate::{Connection, PersistenceResponse, Response};

    fn unfinished(pending: usize, accepted: usize, has_draft: bool) -> UnfinishedWork {
        UnfinishedWork { pending, accepted, has_draft }
    }

    #[test]
    fn unfinished_work_is_counted_by_kind() {
        assert!(!unfinished(0, 0, false).is_anything());
        assert_eq!(unfinished(1, 0, false).words(), "1 pending hunk");
        assert_eq!(unfinished(4, 0, true).words(), "4 pending hunks and an unsent message");
        assert_eq!(unfinished(0, 2, false).words(), "2 accepted hunks not written");
        assert_eq!(unfinished(3, 1, false).words(), "3 pending hunks and 1 accepted but not written");
    }

    #[test]
    fn the_farewell_says_how_to_resume_and_is_empty_for_an_empty_session() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.farewell(true, "rhumb --continue"), "");
        session.draft_changed("Add a mode");
        assert_eq!(
            session.farewell(true, "rhumb --continue"),
            "The session was not saved, so this is lost: an unsent message."
        );
        session.handle(Response::Persisted(PersistenceResponse::Numbered(12)));
        assert_eq!(
            session.farewell(true, "rhumb --continue"),
            "Session 12 is saved, with an unsent message.\nResume it with: rhumb --continue"
        );
        session.draft_changed("");
        assert_eq!(session.farewell(true, "rhumb --continue"), "", "an empty session is not listed");
        session.rename("parser".into());
        assert_eq!(session.farewell(true, "rhumb -c"), "Session 12 is saved.\nResume it with: rhumb -c");
    }

    #[test]
    fn unfinished_work_of_the_last_session_is_reported_at_the_start() {
        let (mut session, _) = Session::start(Connection::None);
        session.handle(Response::Persisted(PersistenceResponse::UnfinishedWork(12, unfinished(4, 0, true))));
        let text = format!("{:?}", session.transcript.last());
        assert!(text.contains("The last session (12) has 4 pending hunks and an unsent message."), "{text}");
        assert!(text.contains("/resume opens it"), "{text}");
    }
}
