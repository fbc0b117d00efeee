//! What was opened in the editor comes back.

use super::is_long_command;
use crate::context::Mode;
use crate::session::Level;
use crate::tui::action::Action;
use crate::tui::app::{App, Editing, Task};

/// Lines of a message from the editor up to which it is not folded.
const OPENED_LINES: usize = 200;

impl App {
    /// Takes what the session gives back to be sent again. What is being written meanwhile is not swept away: then the other text
    /// goes to the earlier inputs, where one key brings it back.
    pub(crate) fn take_returned_draft(&mut self) {
        let Some(draft) = self.session.returned_draft.take().filter(|draft| !draft.trim().is_empty()) else { return };
        if self.composer.is_empty() {
            match self.session.composing() {
                // A plan is there to be changed.
                Mode::Editor => self.composer.open(&draft),
                _ => self.composer.set(&draft),
            }
        } else if self.composer.text() != draft {
            self.session.remember_input(&draft);
            let key = self.keys.first(Action::HistoryBack);
            self.hint = format!("the message is among the earlier inputs now ({key})");
        }
    }

    /// Tells the session of a command that is being written: it is kept as a message is.
    pub(crate) fn note_command(&mut self) {
        let text = if self.composer.may_be_command() { self.composer.text() } else { String::new() };
        self.session.command_drafted(if is_long_command(&text) { &text } else { "" });
    }

    /// Puts what is being written among the earlier inputs: it makes room for something else, and must not be lost. False for what
    /// is there already.
    pub(crate) fn keep_draft(&mut self) -> bool {
        let draft = self.composer.text();
        let is_new = !draft.trim().is_empty() && !self.session.keeping.inputs.contains(&draft);
        if is_new {
            self.session.remember_input(&draft);
        }
        is_new
    }

    /// Takes what was opened as the editor left it; in words why it does not count, and then all is as it was.
    pub(crate) fn edited(&mut self, what: &Editing, result: Result<String, String>) -> Vec<Task> {
        match (what, result) {
            // What became of a file of the repository is seen by who follows the files.
            (Editing::File { path, .. }, Ok(_)) => self.file_was_open(path),
            (Editing::Review(draft), Ok(text)) => self.review_edited(draft, &text),
            (Editing::Message(_), Ok(text)) => {
                self.focus = crate::tui::action::Pane::Chat;
                // Somebody has just worked on it: all of it shows, unless it is too long to be wrapped at each key.
                // Line ends at the end of a message mean nothing; at the end of a file they do.
                let text = text.trim_end_matches(['\n', '\r']);
                let opens = text.lines().count() <= OPENED_LINES;
                self.typed(|app| if opens { app.composer.open(text) } else { app.composer.set(text) })
            }
            (_, Err(reason)) => {
                let hint = "The setting editor names another one; so do VISUAL and EDITOR.";
                self.session.tell(Level::Error, reason, hint);
                Vec::new()
            }
        }
    }
}
