//! The message comes back from the editor.

use crate::session::Level;
use crate::tui::app::{App, Task};

impl App {
    /// Takes the message as the editor left it; in words why there is none, and then the draft stays.
    pub(in crate::tui) fn edited(&mut self, result: Result<String, String>) -> Vec<Task> {
        match result {
            Ok(text) => {
                self.focus = crate::tui::action::Pane::Chat;
                self.typed(|app| app.composer.set(&text))
            }
            Err(reason) => {
                let hint = "The setting editor names another one; so do VISUAL and EDITOR.";
                self.session.tell(Level::Error, reason, hint);
                Vec::new()
            }
        }
    }
}
