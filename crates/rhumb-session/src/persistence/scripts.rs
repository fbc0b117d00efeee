//! The files of the chat as a file of commands, and such a file run again.

use super::super::command::{Command, parse_command};
use super::super::effect::Effect;
use super::super::state::Session;
use super::super::transcript::Level;
use super::{PersistenceEffect, TextFile};
use crate::notice::Notice;

impl Session {
    /// Writes the files of the chat as commands to a file.
    pub fn save_files(&mut self, path: String) -> Vec<Effect> {
        if self.chat_files.files().is_empty() {
            self.report(Level::Warning, "No file is in the chat, so there is nothing to save.", "/add FILE adds one.");
            return Vec::new();
        }
        let line = |file: &super::super::ChatFile| {
            let command = if file.read_only { "/read-only" } else { "/add" };
            format!("{command} {}\n", shell_words::quote(&file.path))
        };
        let text = self.chat_files.files().iter().map(line).collect();
        vec![Effect::Persist(PersistenceEffect::Write(TextFile {
            path,
            text,
            what: "The list of files".into(),
            over: false,
        }))]
    }

    /// Runs the commands of a file.
    pub fn load_commands(&self, path: String) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Read(path))]
    }

    /// Takes the commands of a file, one a line, to be run in their order. What could run a program, leave, or load again is
    /// skipped and told, and so is what cannot be understood: a file may come from anybody.
    pub(super) fn take_script(&mut self, path: &str, text: &str) {
        let mut count = 0;
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("line {} of {path}", number + 1);
            if !line.starts_with('/') {
                self.report(Level::Warning, format!("Skipped {place}: it is no command."), "");
                continue;
            }
            match parse_command(line) {
                Ok(command) if is_harmless(&command) => {
                    self.notices.push(Notice::Run(command));
                    count += 1;
                }
                Ok(_) => {
                    let text = format!("Skipped {place}: a file must not run {}.", word(line));
                    self.report(Level::Warning, text, "Type it, if you want it.");
                }
                Err(error) => self.report(Level::Warning, format!("Skipped {place}: {error}"), ""),
            }
        }
        let noun = if count == 1 { "command" } else { "commands" };
        self.report(Level::Info, format!("Running {count} {noun} of {path}."), "");
    }
}

/// The first word of a line.
fn word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// Whether a file may run the command: it neither runs a program nor reaches out, leaves nothing that cannot be taken back, and
/// does not load.
fn is_harmless(command: &Command) -> bool {
    !matches!(
        command,
        Command::Run(_)
            | Command::Test(_)
            | Command::Lint(_)
            | Command::Git(_)
            | Command::Commit(_)
            | Command::Web(_)
            | Command::Index(_)
            | Command::Watch(_)
            | Command::Voice
            | Command::Editor(_)
            | Command::Paste(_)
            | Command::Undo
            | Command::Redo
            | Command::Load(_)
            | Command::Quit
    )
}
