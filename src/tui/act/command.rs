//! What a slash command does to the app. What is about the conversation, its files or the world goes on to the session.

use crate::context::Mode;
use crate::session::{Command, Effect, Level, LookOrder};
use crate::tui::app::{App, Editing, Task, run};

/// Whether a message is meant as a command: one line that begins with a slash or with `!`, and neither a comment of a
/// programming language nor the path of a file. What a mode takes is a message, so it may have more lines.
pub(crate) fn is_command(text: &str) -> bool {
    let one_line = !text.trim_end().contains('\n');
    let name = text.strip_prefix('/').and_then(|line| line.split(char::is_whitespace).next());
    let slash = name.is_some_and(|name| !name.contains('/') && !name.starts_with('*'));
    let bang = text.starts_with('!') && !text.starts_with("![");
    let is_mode = name.is_some_and(|name| Mode::CHOICES.iter().any(|mode| mode.name() == name));
    is_mode || (one_line && (slash || bang))
}

impl App {
    /// Carries a command out.
    pub(in crate::tui) fn command(&mut self, command: Command) -> Vec<Task> {
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
                self.hint = format!("the map is made anew (from now on: {})", self.session.map_refresh.as_str());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_or_a_longer_text_is_no_command() {
        for command in ["/add x", "/help", "!ls", "/add x\n"] {
            assert!(is_command(command), "{command}");
        }
        for text in ["// why?", "/* why? */", "/add x\nand more", "add", "![picture](x)", " /add"] {
            assert!(!is_command(text), "{text}");
        }
    }

    #[test]
    fn a_path_at_the_beginning_is_no_command_and_a_message_of_a_mode_may_have_lines() {
        assert!(!is_command("/etc/hosts has a line too many") && !is_command("/src/"));
        assert!(is_command("/ask why does this happen?\n\nTraceback:\n  …"));
        assert!(is_command("/architect\nsplit it") && !is_command("/asks\nwhy"));
    }
}
