//! Input lines that begin with a slash or `!`, for all front ends.

use crate::context::Mode;
use crate::{COMMANDS, Command, CommandError, Connection, CustomUse, Session, parse_command};

/// The meaning of such a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedLine {
    /// A command of the front end: its name and arguments.
    FrontEnd(&'static str, String),
    /// A command of the program.
    Command(Command),
    /// A message for the composer, which the user must read before it is sent.
    Compose(String),
    /// A message for another model, to be sent once that model is connected.
    SwitchModel {
        /// The model.
        model: String,
        /// The message.
        message: String,
    },
    /// A message.
    Send(String),
}

/// Whether a text is a command: one line that begins with a slash or `!` and is neither a comment of a programming language nor the
/// path of a file. The command of a mode takes a message, which may have several lines.
pub fn is_command(text: &str) -> bool {
    let one_line = !text.trim_end().contains('\n');
    let name = text.strip_prefix('/').and_then(|line| line.split(char::is_whitespace).next());
    let slash = name.is_some_and(|name| !name.contains('/') && !name.starts_with('*'));
    let bang = text.starts_with('!') && !text.starts_with("![");
    let is_mode = name.is_some_and(|name| Mode::CHOICES.iter().any(|mode| mode.name() == name));
    is_mode || (one_line && (slash || bang))
}

/// Texts that quit other programs and are not messages to a model.
const QUIT_WORDS: [&str; 6] = [":q", ":q!", ":qa", ":qa!", "quit", "exit"];

/// The command in a text, if it is one: the text, or `/quit` for a word that quits other programs.
pub fn as_command(text: &str) -> Option<&str> {
    if QUIT_WORDS.contains(&text.trim()) { Some("/quit") } else { is_command(text).then_some(text) }
}

impl Session {
    /// Parses a line. A command of the table by its full name has the highest precedence, then commands of the front end
    /// (`front_end`), then custom commands, then the only command that begins with the name.
    ///
    /// # Errors
    /// The command is unknown, or the arguments are wrong.
    pub fn parse_line(&mut self, line: &str, front_end: &[&'static str]) -> Result<ParsedLine, CommandError> {
        let line = line.trim();
        if line.starts_with('!') {
            return parse_command(line).map(ParsedLine::Command);
        }
        let typed = line.trim_start_matches('/');
        let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let rest = rest.trim();
        if !COMMANDS.iter().any(|info| info.name == name)
            && let Some(command) = front_end.iter().find(|command| **command == name)
        {
            return Ok(ParsedLine::FrontEnd(command, rest.to_owned()));
        }
        let found = self.find_any_command(name, front_end)?;
        match self.use_custom(&found, rest).transpose()? {
            Some(custom) => Ok(self.parsed_custom(custom)),
            None => parse_command(&format!("/{found} {rest}")).map(ParsedLine::Command),
        }
    }

    fn parsed_custom(&self, custom: CustomUse) -> ParsedLine {
        match custom {
            CustomUse::Compose(message) => ParsedLine::Compose(message),
            CustomUse::Send { model: Some(model), message, .. } if !self.is_connected_to(&model) => {
                ParsedLine::SwitchModel { model, message }
            }
            CustomUse::Send { mode: Some(mode), message, .. } => ParsedLine::Command(Command::Mode { mode, message }),
            CustomUse::Send { message, .. } => ParsedLine::Send(message),
        }
    }

    fn is_connected_to(&self, name: &str) -> bool {
        let is_named = |model: &str| model == name || name.ends_with(&format!("/{model}"));
        matches!(self.model.connection(), Connection::Remote { model, .. } if is_named(model))
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
    fn a_line_is_a_command_of_the_program_of_the_front_end_or_of_a_file() {
        let mut session = session();
        let mut meant = |line: &str| session.parse_line(line, &["focus-map", "add"]);
        assert_eq!(meant("/focus-map  left "), Ok(ParsedLine::FrontEnd("focus-map", "left".into())));
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
        assert_eq!(
            meant("/deep it"),
            Ok(ParsedLine::SwitchModel { model: "reef-70b".into(), message: "mend it".into() })
        );
        assert!(meant("/fokus-map").unwrap_err().to_string().contains("/focus-map"));
    }

    #[test]
    fn words_that_quit_other_programs_quit_this_one() {
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
