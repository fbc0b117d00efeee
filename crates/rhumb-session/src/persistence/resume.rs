//! Going on with an earlier session.

use super::super::connect::Connection;
use super::super::effect::Effect;
use super::super::processes::RunState;
use super::super::state::Session;
use super::super::transcript::{Answer, AnswerState, Entry, Level};
use super::super::turn::continuation::HINT_INTERRUPTED;
use super::change::Choices;
use super::{PersistenceEffect, SavedSession, SessionSelector};

/// Why an answer that was kept while it arrived is not whole.
const STOPPED: &str = "rhumb was stopped";

impl Session {
    /// Goes on with an earlier session: the one of that number or name, or the last one.
    pub fn resume(&mut self, word: Option<String>) -> Vec<Effect> {
        if self.must_not_move() {
            return Vec::new();
        }
        let wanted = word.map_or(SessionSelector::Newest, SessionSelector::Named);
        vec![Effect::Persist(PersistenceEffect::Resume { wanted, fork: false })]
    }

    /// Whether something runs that belongs to this session; that is told.
    pub(super) fn must_not_move(&mut self) -> bool {
        if self.turns.is_running() {
            self.report(Level::Warning, "The model is still answering.", "Esc cancels the turn; then try again.");
        } else if self.proposals.is_writing() {
            self.report(Level::Warning, "A write is under way.", "Try again when it is done.");
        } else if self.is_compacting() {
            self.report(Level::Warning, "The conversation is being summarised.", "Try again when that is done.");
        } else if self.proposals.is_locating() {
            let text = "The edits of the last answer are still being looked for.";
            self.report(Level::Warning, text, "Try again in a moment.");
        }
        self.is_busy()
    }

    /// What is not kept yet goes to where it belongs before the session becomes another.
    pub(super) fn keep_the_rest(&mut self) -> Vec<Effect> {
        self.kept_changes().map(Effect::Persist).into_iter().collect()
    }

    /// An earlier session is there.
    pub(super) fn resumed(&mut self, session: SavedSession, fork: bool) -> Vec<Effect> {
        if self.must_not_move() {
            return vec![Effect::Persist(PersistenceEffect::Leave)];
        }
        // A session in which nothing was said yet has only the files that the program was started with, and notices.
        let is_fresh = !self.was_spoken_in();
        let mut effects = self.keep_the_rest();
        let notices = self.transcript.replace(session.transcript);
        let files = self.chat_files.replace(session.files);
        if is_fresh {
            files.iter().for_each(|file| self.chat_files.add(&file.path, file.read_only));
        }
        self.take_choices(&session.choices);
        self.persistence.name = session.name;
        self.spending.resume(session.ledger);
        self.history.restore(session.folded);
        self.drafts.set_message(&session.draft);
        self.codebase.resume(session.passages);
        self.drafts.clear_command();
        self.proposals.resume(session.review, session.request, session.said);
        self.leave_what_waits();
        effects.push(self.enter(session.number, fork));
        let broken = self.close_broken_answer();
        if is_fresh {
            // What was told at an earlier start is not told once more.
            let unfinished = self.persistence.unfinished.take();
            let is_new = |notice: &&Entry| !self.transcript.contains(notice) && Some(*notice) != unfinished.as_ref();
            let new: Vec<Entry> = notices.iter().filter(is_new).cloned().collect();
            self.transcript.extend(new);
        }
        self.report_resumed(session.number, fork, &session.choices.model, session.lost);
        session.stale.into_iter().for_each(|(path, text)| self.reread(&path, text.as_deref()));
        // Last, where it is seen on a small screen too: there is something to do about it.
        if let Some((text, hint)) = broken {
            self.report(Level::Warning, text, hint);
        }
        if !self.drafts.message().is_empty() {
            self.return_draft(self.drafts.message().to_owned());
        }
        effects.extend(self.measure());
        effects
    }

    /// Questions belong to the session that is left, and so do messages that wait: those are held until the developer sends them.
    fn leave_what_waits(&mut self) {
        self.withdraw_offers();
        self.forget_mentioned();
        self.modes.end_search();
        self.set_checks_apart();
        self.withdraw_questions();
        self.hold_queue();
    }

    /// What is there now is the session of that number as it is kept, or the beginning of a new one.
    fn enter(&mut self, number: i64, fork: bool) -> Effect {
        self.forget_kept();
        if fork {
            return Effect::Persist(PersistenceEffect::Branch { from: Some(number) });
        }
        self.persistence.number = Some(number);
        self.take_as_kept();
        Effect::Persist(PersistenceEffect::Enter)
    }

    fn take_choices(&mut self, choices: &Choices) {
        self.modes.set_mode(choices.mode);
        self.next_request.restore_map(choices.map_tokens, &choices.pinned, &choices.banned);
        self.turns.skip_to(choices.turns);
    }

    /// An answer that was arriving when the program was killed has ended there. A message of which no answer was kept is a draft
    /// again, if there is no other. What to tell of it, and what can be done.
    fn close_broken_answer(&mut self) -> Option<(&'static str, &'static str)> {
        let is_running = |entry: &Entry| matches!(entry, Entry::Ran(ran) if ran.state == RunState::Running);
        while let Some(Entry::Ran(ran)) = self.transcript.rfind_mut(is_running) {
            ran.state = RunState::Failed(STOPPED.into());
        }
        let at = self.transcript.iter().rposition(Entry::is_streaming)?;
        let Some(Entry::Answer(Answer { text, state, .. })) = self.transcript.get_mut(at) else { return None };
        if !text.is_empty() {
            *state = AnswerState::Incomplete(STOPPED.into());
            return Some(("The last answer had not ended when rhumb was stopped.", HINT_INTERRUPTED));
        }
        self.transcript.remove(at);
        let asked = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::User { text, mode, answered: false } => Some(self.as_typed(text, *mode)),
            _ => None,
        });
        let text = "The last message had no answer yet when rhumb was stopped.";
        if !self.drafts.message().is_empty() {
            return Some((text, "/retry asks it again."));
        }
        self.drafts.set_message(&asked.unwrap_or_default());
        Some((text, "It is in the composer again; Enter sends it."))
    }

    fn report_resumed(&mut self, number: i64, fork: bool, model: &str, lost: Vec<String>) {
        let title = if self.persistence.name.is_empty() { self.opening() } else { self.persistence.name.clone() };
        let title = if title.is_empty() { String::new() } else { format!(": {title}") };
        let (text, hint) = if fork {
            (
                format!("This new session is a copy of session {number}{title}."),
                "What you do here leaves the other one unchanged.",
            )
        } else {
            (format!("Back in session {number}{title}."), "")
        };
        let notice = Entry::status(Level::Info, text, hint);
        while let Some(at) = self.transcript.iter().position(|entry| *entry == notice) {
            self.transcript.remove(at);
        }
        self.transcript.push(notice);
        if let Connection::Remote { model: now, .. } = self.model.connection()
            && !model.is_empty()
            && now != model
        {
            let text = format!("{model} answered in this session before; now {now} is asked.");
            self.report(Level::Info, text, format!("/model {model} asks the other one."));
        }
        lost.into_iter().for_each(|lost| self.report(Level::Warning, lost, "The rest is there."));
    }
}
