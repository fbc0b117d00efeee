//! An earlier message that is changed and sent again: the conversation goes on from there.

use crate::session::{Command, Connection, Effect, Entry, is_command, parse_command};
use crate::tui::action::Action;
use crate::tui::app::{App, Task};
use crate::tui::reading::Rerun;

impl App {
    /// Puts a message of the developer into the composer. Nothing is left out before it is sent.
    pub(super) fn edit_and_rerun(&mut self, entry: usize) -> Vec<Task> {
        // In an answer the message is meant that it answers.
        let at = (0..=entry.min(self.session.transcript.len().saturating_sub(1))).rev();
        let is_user = |at: &usize| matches!(self.session.transcript.get(*at), Some(Entry::User { .. }));
        let Some(entry) = at.into_iter().find(is_user) else {
            self.hint = "this is not a message of yours".into();
            return Vec::new();
        };
        let Some((turn, text)) = self.session.message_again(entry) else { return Vec::new() };
        let kept = !self.composer.text().trim().is_empty();
        self.keep_draft();
        self.stop_reading();
        self.reading.rerun = Some(Rerun { turn, entry });
        self.completion.hush();
        let tasks = self.typed(|app| app.composer.open(&text));
        // What sending leaves out stands above the composer.
        let [drops, back] = [Action::Interrupt, Action::HistoryBack].map(|action| self.keys.first(action));
        let kept = if kept { format!(" · {back} your draft") } else { String::new() };
        self.hint = format!("{drops} cancels{kept}");
        tasks
    }

    /// What sending will leave out, while a message is to be asked again.
    pub(crate) fn rerun_words(&self) -> Option<String> {
        let rerun = self.reading.rerun.as_ref()?;
        let after = self.session.transcript.iter().skip(rerun.entry + 1);
        let lost = after.filter(|entry| !matches!(entry, Entry::Notice(_) | Entry::Cleared)).count();
        let turn = rerun.turn;
        Some(match lost {
            0 => format!("turn {turn} again"),
            1 => format!("turn {turn} again: sending leaves out the 1 message after it"),
            lost => format!("turn {turn} again: sending leaves out the {lost} messages after it"),
        })
    }

    /// Leaves out the turn that is asked again, and all after it; `None` if that cannot be done now.
    pub(crate) fn begin_rerun(&mut self, text: &str) -> Option<Vec<Effect>> {
        // Other commands are no message, and where nobody can be asked the session says so and nothing may be lost.
        let goes_out = is_message(text) && self.session.connection != Connection::None;
        let Some(rerun) = self.reading.rerun.clone().filter(|_| goes_out) else { return Some(Vec::new()) };
        if self.session.turn.is_some() {
            self.hint = "the model is still answering".into();
            return None;
        }
        let effects = self.session.rewind(Some(rerun.turn));
        if self.session.transcript.iter().skip(rerun.entry).any(|entry| matches!(entry, Entry::User { .. })) {
            // The session has said why not.
            return None;
        }
        // The message is in the composer, as it was changed.
        self.session.returned_draft = None;
        self.reading.rerun = None;
        Some(effects)
    }
}

/// Whether the text goes to the model, be it in a mode of its own.
fn is_message(text: &str) -> bool {
    !is_command(text) || matches!(parse_command(text.trim()), Ok(Command::Mode { message, .. }) if !message.is_empty())
}
