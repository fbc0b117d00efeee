//! A line that begins with a slash or `!`: a command of the table, one of a file, or an action by its name.

use crate::session::{Command, CommandError, Connection, CustomUse, Level, parse_command};
use crate::tui::action::{ACTIONS, Action};
use crate::tui::app::{App, Task, run};

impl App {
    /// Carries a line out. It stays in the composer when it is not understood.
    pub(in crate::tui) fn run_line(&mut self, line: &str) -> Vec<Task> {
        let line = line.trim();
        if line.starts_with('!') {
            return self.run_parsed(parse_command(line));
        }
        let typed = line.trim_start_matches('/');
        let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let is_whole = crate::session::COMMANDS.iter().any(|info| info.name == name);
        let action = ACTIONS.iter().find(|info| info.name == name);
        if let Some(info) = action.filter(|_| !is_whole && self.session.known.commands.named(name).is_none()) {
            self.composer.clear();
            return self.run_action(info);
        }
        let others: Vec<&str> = ACTIONS.iter().map(|info| info.name).collect();
        let found = match self.session.find_any_command(name, &others) {
            Ok(found) => found,
            Err(error) => return self.run_parsed(Err(error)),
        };
        match self.session.use_custom(&found, rest.trim()) {
            Some(Ok(what)) => self.run_custom(what),
            Some(Err(error)) => self.run_parsed(Err(error)),
            None => self.run_parsed(parse_command(&format!("/{found} {rest}"))),
        }
    }

    fn run_parsed(&mut self, command: Result<Command, CommandError>) -> Vec<Task> {
        match command {
            Ok(command) => {
                self.composer.clear();
                self.command_of_user(command)
            }
            Err(error) => {
                self.session.tell(Level::Error, error.to_string(), error.hint());
                Vec::new()
            }
        }
    }

    /// Whether that model answers already, as far as its name tells.
    fn is_asking(&self, name: &str) -> bool {
        matches!(&self.session.connection, Connection::Remote { model, .. } if model == name || name.ends_with(&format!("/{model}")))
    }

    /// Does what the command of a file comes to.
    fn run_custom(&mut self, what: CustomUse) -> Vec<Task> {
        match what {
            CustomUse::Show(message) => self.typed(|app| app.composer.open(&message)),
            CustomUse::Send { mode, model, message } => {
                if let Some(model) = model.filter(|model| !self.is_asking(model)) {
                    // The connection may take its time: the message waits for it in the composer.
                    let mut tasks = run(self.session.use_model(model));
                    tasks.extend(self.typed(|app| app.composer.set(&message)));
                    let send = self.keys.first(Action::Send);
                    self.hint = format!("the command names another model; {send} sends once it is connected");
                    return tasks;
                }
                self.composer.clear();
                if let Some(mode) = mode {
                    return self.command(Command::Mode { mode, message });
                }
                let (sent, effects) = self.session.send(&message);
                if !sent {
                    // It is not lost: it can be sent again when that is mended.
                    self.composer.set(&message);
                }
                run(effects)
            }
        }
    }
}
