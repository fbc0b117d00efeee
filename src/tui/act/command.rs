//! What a slash command does to the app. What is about the conversation, its files or the world goes on to the session.

use crate::session::{Command, Effect, Level, LookOrder, is_command};
use crate::tui::app::{App, Editing, Task, run};

/// Whether a text is a command with something behind its name: more than a few letters would be lost with it.
pub(crate) fn is_long_command(text: &str) -> bool {
    is_command(text) && text.trim().contains(char::is_whitespace)
}

impl App {
    /// Carries a command out.
    pub(crate) fn command(&mut self, command: Command) -> Vec<Task> {
        match command {
            Command::Help => self.open_help(true),
            Command::Keys => self.open_help(false),
            Command::Map => self.view_map(),
            Command::Search(words) => self.open_code_search(&words),
            Command::Theme(name) => return self.ask_for_theme(name.as_deref()),
            Command::Doctor => {
                self.hint = "looking …".into();
                return run(vec![Effect::Look(LookOrder::Doctor { terminal: self.terminal_facts() })]);
            }
            Command::Report(title) => return run(self.session.report_fault(title, self.terminal_facts())),
            Command::Quit => return self.leave(),
            Command::Paste(name) => return self.paste_command(name),
            Command::Editor(text) => {
                // It stays, whatever becomes of the editor.
                let mut tasks = self.typed(|app| app.composer.set(&text));
                tasks.push(Task::Edit(Editing::Message(text)));
                return tasks;
            }
            Command::MapRefresh(_) => {
                let effects = self.session.command(command);
                self.hint = format!("the map is recomputed (from now on: {})", self.session.map_refresh.as_str());
                return run(effects);
            }
            Command::Copy => self.copy_answer(),
            other => return run(self.session.command(other)),
        }
        Vec::new()
    }

    /// Puts the last answer on the clipboard.
    fn copy_answer(&mut self) {
        match self.session.last_answer() {
            Some(clip) => self.session.clipboard = Some(clip),
            None => self.session.tell(Level::Warning, "There is no answer to copy yet.", ""),
        }
    }
}
