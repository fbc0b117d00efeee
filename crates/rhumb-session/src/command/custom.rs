//! Custom commands: expansion of arguments, and when a command of the repository may be sent. A command of the repository is an
//! untrusted text, so its first use puts the text into the composer, where the user reads it before sending it.

use super::nearest;
use crate::context::Mode;
use crate::{CommandError, Level, Session, find_command};
use std::collections::BTreeSet;

/// A custom command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFile {
    /// The name without the slash: `git:commit` for `git/commit.md`.
    pub name: String,
    /// The owner of the file.
    pub source: CommandSource,
    /// The file, for display.
    pub path: String,
    /// The description for lists; the first line of the text if the file has none.
    pub description: String,
    /// The arguments for the help; empty if the file does not describe them.
    pub arguments: String,
    /// The mode of the message, if the file sets one.
    pub mode: Option<Mode>,
    /// The model, if the file names one.
    pub model: Option<String>,
    /// The message with placeholders.
    pub body: String,
}

/// The owner of a custom command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandSource {
    /// The user.
    User,
    /// The repository: the text is not trusted.
    Repository,
}

/// All custom commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomCommands {
    /// The commands, by name.
    pub commands: Vec<CommandFile>,
    /// Problems with files, each with a hint.
    pub problems: Vec<(String, String)>,
    reported: BTreeSet<String>,
    /// Texts of the repository's commands that the user has seen.
    seen: BTreeSet<String>,
}

impl CustomCommands {
    /// Custom commands and problems with files.
    pub fn new(commands: Vec<CommandFile>, problems: Vec<(String, String)>) -> Self {
        Self { commands, problems, ..Self::default() }
    }

    /// The command with a name, unless a built-in command has that name.
    pub fn named(&self, name: &str) -> Option<&CommandFile> {
        let is_hidden = super::COMMANDS.iter().any(|info| info.name == name);
        self.commands.iter().find(|command| command.name == name && !is_hidden)
    }

    /// The commands that are not hidden by built-in ones.
    pub fn usable(&self) -> impl Iterator<Item = &CommandFile> {
        self.commands.iter().filter(|command| self.named(&command.name).is_some())
    }
}

/// How a custom command is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomUse {
    /// A message is sent.
    Send {
        /// The mode, if the file sets one.
        mode: Option<Mode>,
        /// The model to use from now on, if the file names one.
        model: Option<String>,
        /// The message.
        message: String,
    },
    /// A message is put into the composer.
    Compose(String),
}

/// The owner of a command, for display.
pub fn origin(source: CommandSource) -> &'static str {
    match source {
        CommandSource::User => "yours",
        CommandSource::Repository => "of the repository",
    }
}

impl Session {
    /// Replaces the custom commands. Each problem is reported once.
    pub(crate) fn set_custom_commands(&mut self, found: CustomCommands) {
        let before = std::mem::replace(&mut self.lookups.commands, found);
        (self.lookups.commands.reported, self.lookups.commands.seen) = (before.reported, before.seen);
        let mut problems = self.lookups.commands.problems.clone();
        for command in &self.lookups.commands.commands {
            if super::COMMANDS.iter().any(|info| info.name == command.name) {
                let what =
                    format!("/{} of {} is not used: rhumb has a command of that name.", command.name, command.path);
                problems.push((what, "Rename the file.".to_owned()));
            }
        }
        for (what, hint) in problems {
            if self.lookups.commands.reported.insert(what.clone()) {
                self.report(Level::Warning, what, hint);
            }
        }
    }

    /// Expands the custom command with a name; `None` if there is no such command.
    ///
    /// # Errors
    /// The command needs arguments and got none.
    pub fn use_custom(&mut self, name: &str, arguments: &str) -> Option<Result<CustomUse, CommandError>> {
        let command = self.lookups.commands.named(name)?.clone();
        let needs =
            uses_arguments(&command.body) && !command.arguments.is_empty() && !command.arguments.starts_with('[');
        if needs && arguments.is_empty() {
            return Some(Err(CommandError::Custom { name: name.to_owned(), expected: command.arguments }));
        }
        let message = expanded(&command.body, arguments);
        let is_known = command.source == CommandSource::User || self.lookups.commands.seen.contains(&command.body);
        if !is_known {
            self.lookups.commands.seen.insert(command.body);
            let text = format!("/{name} is a command of the repository: this is what {} says.", command.path);
            self.report(
                Level::Info,
                text,
                "Send it to run the command. Later uses in this session are sent at once, unless the file changes.",
            );
            // The mode is part of the draft, so that sending it keeps the mode.
            let lead = command.mode.map_or_else(String::new, |mode| format!("/{mode} "));
            return Some(Ok(CustomUse::Compose(lead + &message)));
        }
        Some(Ok(CustomUse::Send { mode: command.mode, model: command.model, message }))
    }

    /// The built-in or custom command that has this name or is the only one that begins with it.
    ///
    /// # Errors
    /// No command matches, or more than one does. The suggestion can also be one of `others`, the commands of the front end.
    pub fn find_any_command(&self, name: &str, others: &[&str]) -> Result<String, CommandError> {
        if self.lookups.commands.named(name).is_some() {
            return Ok(name.to_owned());
        }
        let begins: Vec<&str> = self
            .lookups
            .commands
            .usable()
            .map(|command| command.name.as_str())
            .filter(|custom| custom.starts_with(name))
            .collect();
        match (find_command(name), begins.as_slice()) {
            (Ok(info), _) if info.name == name => Ok(info.name.to_owned()),
            (Ok(info), []) => Ok(info.name.to_owned()),
            (Err(CommandError::Unknown { .. }), [only]) if !name.is_empty() => Ok((*only).to_owned()),
            (Ok(info), more) => Err(ambiguous(name, [info.name].iter().chain(more))),
            (Err(CommandError::Ambiguous { candidates, .. }), more) => {
                let candidates = candidates.into_iter().chain(more.iter().map(|custom| format!("/{custom}"))).collect();
                Err(CommandError::Ambiguous { name: name.to_owned(), candidates })
            }
            (Err(_), several @ [_, _, ..]) if !name.is_empty() => Err(ambiguous(name, several.iter())),
            (Err(CommandError::Unknown { name, .. }), _) => {
                let more = self.lookups.commands.usable().map(|command| command.name.as_str());
                let nearest = nearest(&name, more.chain(others.iter().copied()));
                Err(CommandError::Unknown { name, nearest })
            }
            (Err(error), _) => Err(error),
        }
    }
}

fn ambiguous<'n>(name: &str, candidates: impl Iterator<Item = &'n &'n str>) -> CommandError {
    let candidates = candidates.map(|candidate| format!("/{candidate}")).collect();
    CommandError::Ambiguous { name: name.to_owned(), candidates }
}

/// A part of the text of a command.
enum Piece<'b> {
    Text(&'b str),
    /// `$ARGUMENTS`.
    All,
    /// `\$1` to `\$9`, as an index from 0. More digits are text, such as an amount of money.
    One(usize),
}

/// Splits the text of a command at its placeholders.
fn pieces(mut rest: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    while let Some((before, from)) = rest.find('$').and_then(|at| rest.split_at_checked(at)) {
        pieces.push(Piece::Text(before));
        let digits = from.bytes().skip(1).take_while(u8::is_ascii_digit).count();
        let number = from.get(1..=digits).and_then(|digits| digits.parse::<usize>().ok()).unwrap_or(0);
        let (piece, length) = if from.starts_with(ALL) {
            (Piece::All, ALL.len())
        } else if digits == 1 && number > 0 {
            (Piece::One(number - 1), 2)
        } else {
            (Piece::Text("$"), 1)
        };
        pieces.push(piece);
        rest = from.get(length..).unwrap_or_default();
    }
    pieces.push(Piece::Text(rest));
    pieces
}

const ALL: &str = "$ARGUMENTS";

fn uses_arguments(body: &str) -> bool {
    pieces(body).iter().any(|piece| !matches!(piece, Piece::Text(_)))
}

/// Replaces the placeholders: `\$ARGUMENTS` by all arguments, `\$1` to `\$9` by one each, split as in a shell. Without placeholders the
/// arguments are appended. Placeholders in arguments are not replaced.
fn expanded(body: &str, arguments: &str) -> String {
    if !uses_arguments(body) {
        let gap = if arguments.is_empty() { "" } else { "\n\n" };
        return format!("{body}{gap}{arguments}");
    }
    let words =
        shell_words::split(arguments).unwrap_or_else(|_| arguments.split_whitespace().map(str::to_owned).collect());
    let filled = pieces(body).into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::All => arguments,
        Piece::One(at) => words.get(at).map_or("", String::as_str),
    });
    filled.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Connection;

    fn file(name: &str, source: CommandSource, body: &str) -> CommandFile {
        CommandFile {
            name: name.into(),
            source,
            path: format!("{name}.md"),
            description: String::new(),
            arguments: String::new(),
            mode: None,
            model: None,
            body: body.into(),
        }
    }

    fn session(commands: Vec<CommandFile>) -> Session {
        let mut session = Session::start(Connection::None).0;
        session.set_custom_commands(CustomCommands::new(commands, Vec::new()));
        session
    }

    #[test]
    fn arguments_replace_placeholders() {
        assert_eq!(expanded("fix $1 in $2 ($ARGUMENTS)", "'the bug' a.rs"), "fix the bug in a.rs ('the bug' a.rs)");
        assert_eq!(expanded("costs $10 or $0, $3", "a b"), "costs $10 or $0, ");
        assert_eq!(expanded("look", "at this"), "look\n\nat this");
        assert_eq!(expanded("$100 of ideas", "on tides"), "$100 of ideas\n\non tides", "an amount is no place");
        assert_eq!(expanded("$1", "$2 x"), "$2", "arguments are no placeholders");
        assert_eq!(expanded("$1 $2", "it's open"), "it's open");
    }

    #[test]
    fn a_repositorys_command_is_shown_before_it_is_sent_for_the_first_time() {
        let mut session =
            session(vec![file("fix", CommandSource::Repository, "mend $1"), file("mine", CommandSource::User, "x")]);
        assert_eq!(session.use_custom("fix", "it"), Some(Ok(CustomUse::Compose("mend it".into()))));
        let again = session.use_custom("fix", "that").unwrap().unwrap();
        assert!(matches!(again, CustomUse::Send { message, .. } if message == "mend that"));
        assert!(matches!(session.use_custom("mine", ""), Some(Ok(CustomUse::Send { .. }))));
        session.set_custom_commands(CustomCommands::new(
            vec![file("fix", CommandSource::Repository, "rm $1")],
            Vec::new(),
        ));
        assert!(matches!(session.use_custom("fix", "it"), Some(Ok(CustomUse::Compose(_)))), "the file has changed");
        let mut asks = file("why", CommandSource::Repository, "why $1?");
        asks.mode = Some(Mode::Ask);
        session.set_custom_commands(CustomCommands::new(vec![asks], Vec::new()));
        assert_eq!(session.use_custom("why", "it"), Some(Ok(CustomUse::Compose("/ask why it?".into()))));
    }

    #[test]
    fn a_built_in_command_hides_a_custom_one_and_that_is_reported_once() {
        let mut session = session(vec![file("add", CommandSource::User, "x")]);
        assert_eq!(session.use_custom("add", ""), None);
        let told = session.transcript.len();
        assert_eq!(told, 1);
        session.set_custom_commands(CustomCommands::new(vec![file("add", CommandSource::User, "x")], Vec::new()));
        assert_eq!(session.transcript.len(), told);
    }

    #[test]
    fn a_command_that_needs_arguments_says_so() {
        let mut command = file("why", CommandSource::User, "why $1?");
        command.arguments = "TOPIC".into();
        let mut session = session(vec![command]);
        let error = session.use_custom("why", "").unwrap().unwrap_err();
        assert_eq!(error.to_string(), "/why expects TOPIC.");
    }

    #[test]
    fn the_beginning_of_a_name_is_enough_where_it_is_the_only_one() {
        let session =
            session(vec![file("deploy", CommandSource::User, "x"), file("git:wip", CommandSource::User, "x")]);
        assert_eq!(session.find_any_command("dep", &[]), Ok("deploy".into()));
        assert_eq!(session.find_any_command("git", &[]), Ok("git".into()), "a whole name is no beginning");
        let error = session.find_any_command("delpoy", &[]).unwrap_err().to_string();
        assert!(error.contains("Did you mean /deploy?"), "{error}");
        let error = session.find_any_command("fokus-map", &["focus-map"]).unwrap_err().to_string();
        assert!(error.contains("Did you mean /focus-map?"), "{error}");
        let error = session.find_any_command("d", &[]).unwrap_err().to_string();
        assert!(error.contains("/diff") && error.contains("/deploy"), "{error}");
    }

    proptest! {
        #[test]
        fn a_text_without_a_dollar_stays_as_it_is(body in "[^$]{0,80}", arguments in ".{0,40}") {
            prop_assert!(expanded(&body, &arguments).starts_with(&body));
        }

        #[test]
        fn any_text_can_be_expanded(body in "(\\$[0-9A-Zé]{0,3}|.){0,20}", arguments in ".{0,40}") {
            expanded(&body, &arguments);
        }
    }
}
