//! A line that begins with a slash or `!`: what the app does for what it means, actions by their names among it.

use crate::session::{Level, Meant};
use crate::tui::action::{ACTIONS, Action};
use crate::tui::app::{App, Task, run};

impl App {
    /// Carries a line out. It stays in the composer when it is not understood.
    pub(crate) fn run_line(&mut self, line: &str) -> Vec<Task> {
        // A command of a file hides the action of its name.
        let is_free = |name: &&str| self.session.known.commands.named(name).is_none();
        let actions: Vec<&'static str> = ACTIONS.iter().map(|info| info.name).filter(is_free).collect();
        match self.session.understand(line, &actions) {
            Ok(Meant::Own(name, _)) => {
                self.composer.clear();
                let action = ACTIONS.iter().find(|info| info.name == name);
                action.map_or_else(Vec::new, |info| self.run_action(info))
            }
            Ok(Meant::Command(command)) => {
                self.composer.clear();
                self.command_of_user(command)
            }
            Ok(Meant::Show(message)) => self.typed(|app| app.composer.open(&message)),
            Ok(Meant::Switch { model, message }) => {
                // The connection may take its time: the message waits for it in the composer.
                let mut tasks = run(self.session.use_model(model));
                tasks.extend(self.typed(|app| app.composer.set(&message)));
                let send = self.keys.first(Action::Send);
                self.hint = format!("the command names another model; {send} sends once it is connected");
                tasks
            }
            Ok(Meant::Send(message)) => {
                self.composer.clear();
                let (sent, effects) = self.session.send(&message);
                if !sent {
                    // It is not lost: it can be sent again when that is mended.
                    self.composer.set(&message);
                }
                run(effects)
            }
            Err(error) => {
                self.session.tell(Level::Error, error.to_string(), error.hint());
                Vec::new()
            }
        }
    }
}
