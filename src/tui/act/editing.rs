//! What was opened in the editor comes back.

use crate::session::Level;
use crate::tui::app::{App, Editing, Task};

impl App {
    /// Takes what was opened as the editor left it; in words why it does not count, and then all is as it was.
    pub(in crate::tui) fn edited(&mut self, what: &Editing, result: Result<String, String>) -> Vec<Task> {
        match (what, result) {
            // What became of a file of the repository is seen by who follows the files.
            (Editing::File { path, .. }, Ok(_)) => self.file_was_open(path),
            (Editing::Review(draft), Ok(text)) => self.review_edited(draft, &text),
            (Editing::Message(_), Ok(text)) => {
                self.focus = crate::tui::action::Pane::Chat;
                self.typed(|app| app.composer.set(&text))
            }
            (_, Err(reason)) => {
                let hint = "The setting editor names another one; so do VISUAL and EDITOR.";
                self.session.tell(Level::Error, reason, hint);
                Vec::new()
            }
        }
    }
}
