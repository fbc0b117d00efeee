//! A line that begins with a slash or `!`: what it means, whichever face it was typed in.

use super::custom::CustomUse;
use super::{COMMANDS, Command, CommandError, parse_command};
use crate::connect::Connection;
use crate::context::Mode;
use crate::state::Session;

/// What a line that begins with a slash or `!` means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedLine {
    /// One of the face's own names, and what follows it.
    Own(&'static str, String),
    /// A command of the program.
    Command(Command),
    /// A message that is to be read before it is sent.
    Show(String),
    /// A message for a model that does not answer yet: it waits until that one is connected.
    Switch {
        /// The model.
        model: String,
        /// The message.
        message: String,
    },
    /// A message.
    Send(String),
}

/// Whether a text is meant as a command: one line that begins with a slash or with `!`, and neither a comment of a programming
/// language nor the path of a file. What a mode takes is a message, so it may have more lines.
pub fn is_command(text: &str) -> bool {
    let one_line = !text.trim_end().contains('\n');
    let name = text.strip_prefix('/').and_then(|line| line.split(char::is_whitespace).next());
    let slash = name.is_some_and(|name| !name.contains('/') && !name.starts_with('*'));
    let bang = text.starts_with('!') && !text.starts_with("![");
    let is_mode = name.is_some_and(|name| Mode::CHOICES.iter().any(|mode| mode.name() == name));
    is_mode || (one_line && (slash || bang))
}

/// What people type to leave an editor or a shell; nobody asks a model that.
const LEAVING: [&str; 6] = [":q", ":q!", ":qa", ":qa!", "quit", "exit"];

/// The command that a whole text is meant as, if it is one: itself, or `/quit` for the word that leaves other programs.
pub fn as_command(text: &str) -> Option<&str> {
    if LEAVING.contains(&text.trim()) { Some("/quit") } else { is_command(text).then_some(text) }
}

impl Session {
    /// What a line means: a command of the program by its whole name, else one of the face's `own` names, else a command of a file,
    /// else what is the only command to begin so.
    ///
    /// # Errors
    /// An unknown command, or arguments that it does not take.
    pub fn understand(&mut self, line: &str, own: &[&'static str]) -> Result<ParsedLine, CommandError> {
        let line = line.trim();
        if line.starts_with('!') {
            return parse_command(line).map(ParsedLine::Command);
        }
        let typed = line.trim_start_matches('/');
        let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let rest = rest.trim();
        if !COMMANDS.iter().any(|info| info.name == name)
            && let Some(own) = own.iter().find(|own| **own == name)
        {
            return Ok(ParsedLine::Own(own, rest.to_owned()));
        }
        let found = self.find_any_command(name, own)?;
        match self.use_custom(&found, rest).transpose()? {
            Some(custom) => Ok(self.meant_by_file(custom)),
            None => parse_command(&format!("/{found} {rest}")).map(ParsedLine::Command),
        }
    }

    fn meant_by_file(&self, custom: CustomUse) -> ParsedLine {
        match custom {
            CustomUse::Show(message) => ParsedLine::Show(message),
            CustomUse::Send { model: Some(model), message, .. } if !self.is_asking(&model) => {
                ParsedLine::Switch { model, message }
            }
            CustomUse::Send { mode: Some(mode), message, .. } => ParsedLine::Command(Command::Mode { mode, message }),
            CustomUse::Send { message, .. } => ParsedLine::Send(message),
        }
    }

    /// Whether that model answers already, as far as its name tells.
    fn is_asking(&self, name: &str) -> bool {
        let is_it = |model: &str| model == name || name.ends_with(&format!("/{model}"));
        matches!(self.model.connection(), Connection::Remote { model, .. } if is_it(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CustomCommands;
    use crate::{CommandFile, CommandSource};

    fn session() -> Session {
        let connection = Connection::Remote { model: "tide-7b".into(), host: "localhost".into() };
        let (mut session, _) = Session::start(connection);
        let file = |name: &str, mode, model: Option<&str>| CommandFile {
            name: name.into(),
            source: CommandSource::User,
            path: format!("{name}.md"),
            description: String::new(),
            arguments: String::new(),
            mode,
            model: model.map(str::to_owned),
            body: "mend $ARGUMENTS".into(),
        };
        let files = vec![
            file("fix", None, Some("ollama/tide-7b")),
            file("why", Some(Mode::Ask), None),
            file("deep", None, Some("reef-70b")),
        ];
        session.lookups.commands = CustomCommands::new(files, Vec::new());
        session
    }

    #[test]
    fn a_line_is_a_command_an_own_name_or_a_message_of_a_file() {
        let mut session = session();
        let mut meant = |line: &str| session.understand(line, &["focus-map", "add"]);
        assert_eq!(meant("/focus-map  left "), Ok(ParsedLine::Own("focus-map", "left".into())));
        assert!(
            matches!(meant("/add x"), Ok(ParsedLine::Command(Command::Add { .. }))),
            "the program's name comes first"
        );
        assert_eq!(meant("!ls -l"), Ok(ParsedLine::Command(Command::Run("ls -l".into()))));
        assert_eq!(meant("/fix it"), Ok(ParsedLine::Send("mend it".into())));
        assert_eq!(
            meant("/why it"),
            Ok(ParsedLine::Command(Command::Mode { mode: Mode::Ask, message: "mend it".into() }))
        );
        assert_eq!(meant("/deep it"), Ok(ParsedLine::Switch { model: "reef-70b".into(), message: "mend it".into() }));
        assert!(meant("/fokus-map").unwrap_err().to_string().contains("/focus-map"));
    }

    #[test]
    fn what_leaves_other_programs_leaves_this_one() {
        for text in ["/quit", ":q", ":q!", "quit", "exit\n"] {
            assert_eq!(as_command(text).and_then(|line| parse_command(line).ok()), Some(Command::Quit), "{text}");
        }
        for text in ["exit early if the list is empty", "quit?", ":wq", "Exit codes", ""] {
            assert_eq!(as_command(text), None, "{text}");
        }
        assert_eq!(as_command("/add x"), Some("/add x"));
    }

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
