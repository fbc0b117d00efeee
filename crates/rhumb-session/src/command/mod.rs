//! Slash commands: parsing, completion, and their effects on the session. Everything about a command that users see is in one table,
//! [`COMMANDS`].

mod completer;
mod completion_target;
pub(super) mod custom;
pub(super) mod input_line;
mod table;

pub use completer::{Completer, CompletionItem, ExtraCommand, folder_of};
pub use completion_target::{CompletionKind, CompletionTarget, completion_target};
pub use table::{Argument, COMMANDS, Group};

use crate::context::Mode;
use crate::{
    CapChange, Effect, GitEffect, IndexEffect, Level, LookupEffect, ModelRole, PassageCommand, Session, TrialCommand,
    TrialHunks,
};
use rhumb_edit::EditFormat;
use rhumb_index::repo_map::Refresh;
use rhumb_llm::Thinking;
use rhumb_workspace::Direction;

/// A row of the table of commands.
#[derive(Debug, Clone, Copy)]
pub struct CommandInfo {
    /// The name without the slash.
    pub name: &'static str,
    /// The arguments, for the help.
    pub arguments: &'static str,
    /// The kind of the arguments, for completion.
    pub takes: Argument,
    /// What the command does.
    pub help: &'static str,
    /// An example of a command line.
    pub example: &'static str,
    /// The group in the help.
    pub group: Group,
    parse: fn(&Arguments<'_>) -> Result<Command, CommandError>,
}

/// A parsed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Send a message in a mode, or change the mode.
    Mode {
        /// The mode.
        mode: Mode,
        /// The message; empty to change the mode.
        message: String,
    },
    /// Show help.
    Help,
    /// Add files to the chat.
    Add {
        /// Names or globs, as typed.
        names: Vec<String>,
        /// Whether the model must not edit them.
        read_only: bool,
    },
    /// Make all files in the chat read-only.
    AllReadOnly,
    /// Remove files from the chat; without names, all except those of the start.
    Drop(Vec<String>),
    /// List the files in the chat.
    List,
    /// Ask a question about the whole repository.
    Codebase(String),
    /// List or drop the passages in the conversation.
    Passages(PassageCommand),
    /// Show the sections of the next request.
    Tokens,
    /// Summarise the conversation so far; the text says what to keep and may be empty.
    Compact(String),
    /// Clear the history.
    Clear,
    /// Clear the history and remove all files.
    Reset,
    /// Change the model; without a name, open the list.
    Model(Option<String>),
    /// Change the weak model.
    WeakModel(Option<String>),
    /// Change the editor model.
    EditorModel(Option<String>),
    /// List models.
    Models(String),
    /// Set the reasoning effort as a word.
    Effort(Option<String>),
    /// Set the reasoning effort in tokens.
    ThinkTokens(Option<u32>),
    /// Set the edit format.
    EditFormat(Option<EditFormat>),
    /// Show the cost of the session.
    Cost,
    /// Search the code.
    Search(String),
    /// Show the map.
    Map,
    /// Set the budget of the map in tokens; `None` for automatic.
    MapTokens(Option<usize>),
    /// Read the repository again, or set the refresh mode of the map.
    MapRefresh(Option<Refresh>),
    /// Pin files to the top of the map, or unpin them.
    Pin(Vec<String>),
    /// Ban files from the map, or allow them again; without names, allow all.
    Ban(Vec<String>),
    /// Show or control the embedding index.
    Index(IndexEffect),
    /// Copy the last answer.
    Copy,
    /// Copy the prompt.
    CopyContext,
    /// Insert an image or a reply from the clipboard; an image gets this name.
    Paste(Option<String>),
    /// Write the message in the editor, starting with this text.
    Editor(String),
    /// Record the message.
    Voice,
    /// Parse the last answer again.
    Review,
    /// Continue an answer that was cut off.
    Continue,
    /// Send the last message again.
    Retry,
    /// Return an earlier message to the composer: the number of its turn, 1-based; the last one by default.
    Rewind(Option<usize>),
    /// Return to the state after a step of the agent loop; 0 is the state before the first.
    RewindStep(usize),
    /// Hand the last turn, or the running one when it is complete, to the agent loop.
    TakeOver,
    /// Show the caps of the agent loop, or set one.
    Cap(Option<CapChange>),
    /// Undo the last write.
    Undo,
    /// Redo the last undone write.
    Redo,
    /// Show what was written since the last message.
    Diff,
    /// Commit all uncommitted changes with this message.
    Commit(Option<String>),
    /// Run git with these arguments.
    Git(Vec<String>),
    /// Run a command line.
    Run(String),
    /// Run the tests: this command line, or that of the settings.
    Test(Option<String>),
    /// Run this command, or the test command, on the hunks under review.
    Try(Option<String>),
    /// Lint these files, or those that were written.
    Lint(Vec<String>),
    /// Read a web page.
    Web(String),
    /// Turn watching for AI comments on or off; `None` toggles it.
    Watch(Option<bool>),
    /// List earlier sessions.
    Sessions(String),
    /// Resume an earlier session.
    Resume(Option<String>),
    /// Start a new session from this one, up to a turn (1-based).
    Fork(Option<usize>),
    /// Name this session.
    Rename(String),
    /// Export this session to a file.
    Export(Option<String>),
    /// Write the files in the chat as commands to a file.
    Save(String),
    /// Run the commands of a file.
    Load(String),
    /// Show settings.
    Settings(Option<String>),
    /// Change the theme.
    Theme(Option<String>),
    /// Show all keys.
    Keys,
    /// Show the settings that the repository proposes.
    Trust,
    /// Check the requirements of the program on this machine.
    Doctor,
    /// Copy a bug report with this title.
    Report(String),
    /// Look for local servers.
    Servers,
    /// Propose a first `AGENTS.md`.
    Init,
    /// Enter a key for this provider, or choose what to connect.
    Connect(Option<String>),
    /// Quit.
    Quit,
}

/// Errors in command lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There is no such command.
    #[error("There is no command /{name}.{}", nearest.as_ref().map_or_else(String::new, |near| format!(" Did you mean /{near}?")))]
    Unknown {
        /// The typed name.
        name: String,
        /// The command that it probably misspells.
        nearest: Option<String>,
    },
    /// Several commands begin with the name.
    #[error("/{name} may be {}.", candidates.join(", "))]
    Ambiguous {
        /// The typed name.
        name: String,
        /// These commands, with a slash.
        candidates: Vec<String>,
    },
    /// Wrong arguments.
    #[error("/{name} expects {expected}{}.", if problem.is_empty() { String::new() } else { format!(" ({problem})") })]
    Arguments {
        /// The command.
        name: &'static str,
        /// Its arguments.
        expected: &'static str,
        /// The mistake; may be empty.
        problem: String,
    },
    /// A custom command without its arguments.
    #[error("/{name} expects {expected}.")]
    Custom {
        /// The command.
        name: String,
        /// Its arguments, from its file.
        expected: String,
    },
}

impl CommandError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { .. } => "/help lists the commands.".into(),
            Self::Ambiguous { .. } => "Type more of its name.".into(),
            Self::Arguments { name, expected: "nothing", .. } => format!("/{name} alone is enough."),
            Self::Arguments { name, .. } => {
                let example = COMMANDS.iter().find(|info| info.name == *name).map(|info| info.example);
                example.map_or_else(String::new, |example| format!("For example: {example}"))
            }
            Self::Custom { .. } => "Its file says what it does with that.".into(),
        }
    }
}

/// Common wrong names of commands, with the right ones.
const ALIASES: [(&str, &str); 1] = [("themes", "theme")];

/// The command with a name, or the only one whose name begins with it.
///
/// # Errors
/// No command matches, or more than one does.
pub fn find_command(name: &str) -> Result<&'static CommandInfo, CommandError> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| own);
    if let Some(info) = COMMANDS.iter().find(|info| info.name == name) {
        return Ok(info);
    }
    let matches: Vec<_> = COMMANDS.iter().filter(|info| !name.is_empty() && info.name.starts_with(name)).collect();
    match matches.as_slice() {
        [only] => Ok(only),
        [] => Err(CommandError::Unknown { name: name.to_owned(), nearest: nearest(name, std::iter::empty()) }),
        several => Err(CommandError::Ambiguous {
            name: name.to_owned(),
            candidates: several.iter().map(|info| format!("/{}", info.name)).collect(),
        }),
    }
}

/// The command, or the one of `more`, that `name` probably misspells, if any.
fn nearest<'n>(name: &str, more: impl Iterator<Item = &'n str>) -> Option<String> {
    rhumb_text::nearest(name, COMMANDS.iter().map(|info| info.name).chain(more)).map(str::to_owned)
}

/// Parses a line that begins with a slash, or with `!` and a command line. Names with spaces are quoted as in a shell.
///
/// # Errors
/// The command is unknown, or the arguments are wrong.
pub fn parse_command(line: &str) -> Result<Command, CommandError> {
    let line = line.trim();
    let (info, text) = match line.strip_prefix('!') {
        Some(shell) => (find_command("run")?, shell),
        None => {
            let line = line.trim_start_matches('/');
            let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            (find_command(name)?, rest)
        }
    };
    let arguments = Arguments { info, text: text.trim() };
    if info.takes == Argument::None && !arguments.text.is_empty() {
        let problem = format!("not {}", arguments.text);
        return Err(CommandError::Arguments { name: info.name, expected: "nothing", problem });
    }
    (info.parse)(&arguments)
}

/// The arguments of a command as typed.
struct Arguments<'a> {
    info: &'static CommandInfo,
    text: &'a str,
}

impl Arguments<'_> {
    fn error(&self, problem: impl Into<String>) -> CommandError {
        CommandError::Arguments { name: self.info.name, expected: self.info.arguments, problem: problem.into() }
    }

    fn required(&self) -> Result<String, CommandError> {
        self.optional().ok_or_else(|| self.error(""))
    }

    fn optional(&self) -> Option<String> {
        (!self.text.is_empty()).then(|| self.text.to_owned())
    }

    fn words(&self) -> Result<Vec<String>, CommandError> {
        shell_words::split(self.text).map_err(|_| self.error("a quote is not closed"))
    }

    fn required_words(&self) -> Result<Vec<String>, CommandError> {
        let words = self.words()?;
        if words.is_empty() { Err(self.error("")) } else { Ok(words) }
    }

    fn mode(&self, mode: Mode) -> Command {
        Command::Mode { mode, message: self.text.to_owned() }
    }

    /// Parses one of `words`; `None` without an argument.
    fn optional_of<T>(
        &self,
        words: impl IntoIterator<Item: ToString>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, CommandError> {
        if self.text.is_empty() {
            return Ok(None);
        }
        parse(self.text).map(Some).ok_or_else(|| {
            let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
            self.error(format!("{} is not one of {}", self.text, words.join(", ")))
        })
    }

    /// Parses a number of tokens, such as `8k` for 8000; `None` without an argument.
    fn tokens(&self) -> Result<Option<u32>, CommandError> {
        if self.text.is_empty() {
            return Ok(None);
        }
        let (digits, factor) = self.text.strip_suffix(['k', 'K']).map_or((self.text, 1.0), |digits| (digits, 1_000.0));
        match digits.parse::<f64>() {
            Ok(number) if number >= 0.0 && number * factor <= f64::from(u32::MAX) => Ok(Some((number * factor) as u32)),
            _ => Err(self.error(format!("{} is not a number of tokens", self.text))),
        }
    }

    /// Parses a turn, or a step of the agent loop.
    fn rewind(&self) -> Result<Command, CommandError> {
        let Some(step) = self.text.strip_prefix("step") else { return Ok(Command::Rewind(self.turn()?)) };
        let step =
            step.trim().parse().map_err(|_| self.error(format!("{} is not the number of a step", step.trim())))?;
        Ok(Command::RewindStep(step))
    }

    /// Parses a cap of the agent loop and its new value; `None` without an argument.
    fn cap(&self) -> Result<Option<CapChange>, CommandError> {
        let Some((name, value)) = self.text.split_once(char::is_whitespace) else {
            return if self.text.is_empty() { Ok(None) } else { Err(self.error("a value is missing")) };
        };
        let value = value.trim();
        let wrong = || self.error(format!("{value} is not a value for {name}"));
        let unless_off = |parsed: Option<f64>| match value {
            "off" => Ok(None),
            _ => parsed.filter(|number| number.is_finite() && *number >= 0.0).map(Some).ok_or_else(wrong),
        };
        let scaled = |units: &[(char, f64)]| {
            let unit = units.iter().find_map(|(unit, factor)| Some((value.strip_suffix(*unit)?, *factor)));
            let (digits, factor) = unit.unwrap_or((value, 1.0));
            digits.trim().parse::<f64>().ok().map(|number| number * factor)
        };
        Ok(Some(match name {
            "steps" => CapChange::Steps(unless_off(scaled(&[]))?.map(|steps| steps as usize)),
            "tokens" => CapChange::Tokens(
                unless_off(scaled(&[('k', 1e3), ('K', 1e3), ('M', 1e6)]))?.map(|tokens| tokens as u64),
            ),
            "cost" => CapChange::Cost(unless_off(value.trim_start_matches('$').parse().ok())?),
            "time" => CapChange::Time(
                unless_off(scaled(&[('s', 1.0), ('m', 60.0), ('h', 3600.0)]))?
                    .map(|seconds| std::time::Duration::try_from_secs_f64(seconds).unwrap_or(std::time::Duration::MAX)),
            ),
            _ => return Err(self.error(format!("{name} is not one of steps, tokens, cost, time"))),
        }))
    }

    /// Parses the number of a turn, 1-based; `None` without an argument.
    fn turn(&self) -> Result<Option<usize>, CommandError> {
        match self.text.parse::<usize>() {
            _ if self.text.is_empty() => Ok(None),
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(self.error(format!("{} is not the number of a turn", self.text))),
        }
    }
}

const INDEX_WORDS: [&str; 6] = ["status", "build", "pause", "resume", "cancel", "delete"];

fn index_command(word: &str) -> Option<IndexEffect> {
    Some(match word {
        "status" => IndexEffect::Status,
        "build" => IndexEffect::Build { agreed: false },
        "pause" => IndexEffect::Pause(true),
        "resume" => IndexEffect::Pause(false),
        "cancel" => IndexEffect::Cancel,
        "delete" => IndexEffect::Delete,
        _ => return None,
    })
}

impl Session {
    /// Executes a command.
    pub fn command(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::Add { names, read_only } => return self.add_files(&names, read_only),
            Command::Drop(names) => return self.drop_files(&names),
            Command::Codebase(question) => return self.ask_codebase(&question),
            Command::Passages(choice) => return self.passage_command(choice),
            Command::List => self.list_files(),
            Command::AllReadOnly => return self.make_all_read_only(),
            Command::Tokens => self.report_tokens(),
            Command::Compact(keep) => return self.compact(keep),
            Command::Clear => return self.clear_history(),
            Command::Model(Some(name)) => return self.use_model(name),
            Command::Model(None) => return self.choose_model(ModelRole::Main, String::new()),
            Command::WeakModel(Some(name)) => return self.choose_for(ModelRole::Weak, name),
            Command::WeakModel(None) => return self.choose_model(ModelRole::Weak, String::new()),
            Command::EditorModel(Some(name)) => return self.choose_for(ModelRole::Editor, name),
            Command::EditorModel(None) => return self.choose_model(ModelRole::Editor, String::new()),
            Command::Models(query) => return self.choose_model(ModelRole::Main, query),
            Command::Effort(word) => return self.choose_thinking(word.map(Thinking::Effort)),
            Command::ThinkTokens(tokens) => return self.choose_thinking(tokens.map(Thinking::Budget)),
            Command::EditFormat(format) => return self.choose_edit_format(format),
            Command::Settings(only) => return self.request_settings(only),
            Command::Trust => return vec![Effect::Lookup(LookupEffect::Trust)],
            Command::MapTokens(tokens) => return self.set_map_tokens(tokens),
            Command::Pin(names) => return self.pin(&names),
            Command::Ban(names) => return self.ban(&names),
            Command::MapRefresh(mode) => return self.refresh_map(mode),
            Command::Index(command) => return self.index_command(command),
            Command::CopyContext => return self.copy_prompt(),
            Command::Review => return self.review_last_answer(),
            Command::Cost => self.report_cost(),
            Command::Continue => return self.continue_answer(),
            Command::Retry => return self.retry(),
            Command::Watch(on) => return self.watch(on),
            Command::Run(line) => return self.run_line(line),
            Command::Git(arguments) => return self.run_git(arguments),
            Command::Test(line) => return self.test(line),
            Command::Try(line) => return self.try_hunks(TrialHunks::Proposed, TrialCommand::or_tests(line)),
            Command::Lint(names) => return self.lint(&names),
            Command::Undo => return self.undo_or_redo(Direction::Undo),
            Command::Redo => return self.undo_or_redo(Direction::Redo),
            Command::Mode { mode, message } => return self.mode_command(mode, &message),
            Command::Diff => return vec![Effect::Git(GitEffect::Diff)],
            Command::Commit(message) => return self.commit_all(message),
            Command::Servers => {
                self.report(Level::Info, "Searching for a model server on this machine …", "");
                return vec![Effect::FindServers];
            }
            Command::Connect(provider) => self.connect_command(provider),
            Command::Init => return self.init(),
            Command::Web(url) => return self.fetch_page(&url),
            Command::Paste(name) => return self.paste_from_clipboard(name),
            Command::Voice => return self.record(),
            Command::Reset => return self.reset(),
            Command::Rewind(turn) => return self.rewind(turn),
            Command::RewindStep(step) => return self.rewind_to_step(step),
            Command::TakeOver => return self.go_on_as_agent(),
            Command::Cap(change) => self.change_cap(change),
            Command::Sessions(query) => return self.list_sessions(query),
            Command::Resume(word) => return self.resume(word),
            Command::Fork(turn) => return self.fork(turn),
            Command::Rename(name) => self.rename(name),
            Command::Export(path) => return self.export(path),
            Command::Save(path) => return self.save_files(path),
            Command::Load(path) => return self.load_commands(path),
            // Executed by the front end, because they are about the screen, the terminal or the program.
            Command::Help
            | Command::Map
            | Command::Search(_)
            | Command::Copy
            | Command::Editor(_)
            | Command::Theme(_)
            | Command::Keys
            | Command::Doctor
            | Command::Report(_)
            | Command::Quit => {}
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_may_hold_spaces() {
        let command = parse_command("/add 'my file.rs' src/ünï.py").unwrap();
        assert_eq!(command, Command::Add { names: vec!["my file.rs".into(), "src/ünï.py".into()], read_only: false });
    }

    #[test]
    fn the_example_of_every_command_is_understood_and_its_own() {
        for info in COMMANDS {
            assert!(parse_command(info.example).is_ok(), "{}", info.example);
            assert!(info.example.starts_with(&format!("/{}", info.name)), "{}", info.example);
            assert!(COMMANDS.iter().filter(|other| other.name == info.name).count() == 1, "{}", info.name);
        }
    }

    #[test]
    fn every_command_of_the_table_is_a_command_of_its_own() {
        let commands: Vec<Command> = COMMANDS.iter().filter_map(|info| parse_command(info.example).ok()).collect();
        for (at, command) in commands.iter().enumerate() {
            assert!(!commands[..at].contains(command), "{command:?}");
        }
    }

    #[test]
    fn a_missing_argument_is_told_by_every_command_that_needs_one() {
        for info in COMMANDS {
            let needs = !info.arguments.is_empty() && !info.arguments.starts_with('[');
            let bare = parse_command(&format!("/{}", info.name));
            assert_eq!(bare.is_err(), needs, "{}", info.name);
            let Err(error) = bare else { continue };
            assert_eq!(error.to_string(), format!("/{} expects {}.", info.name, info.arguments));
        }
    }

    #[test]
    fn an_argument_to_a_command_that_takes_none_is_told() {
        for info in COMMANDS.iter().filter(|info| info.takes == Argument::None) {
            assert!(parse_command(&format!("/{} x", info.name)).is_err(), "{}", info.name);
            assert!(info.arguments.is_empty(), "{}", info.name);
        }
    }

    #[test]
    fn an_unknown_command_names_the_nearest() {
        let error = parse_command("/Red-only x").unwrap_err();
        assert_eq!(error, CommandError::Unknown { name: "Red-only".into(), nearest: Some("read-only".into()) });
    }

    #[test]
    fn a_word_like_no_command_is_not_guessed_at() {
        assert_eq!(parse_command("/zebra").unwrap_err().to_string(), "There is no command /zebra.");
    }

    #[test]
    fn the_beginning_of_one_command_is_enough() {
        assert_eq!(parse_command("/arch x").unwrap(), parse_command("/architect x").unwrap());
        let error = parse_command("/map-").unwrap_err().to_string();
        assert_eq!(error, "/map- may be /map-tokens, /map-refresh.");
        assert_eq!(parse_command("/map"), Ok(Command::Map), "a whole name is no beginning");
        assert!(parse_command("/").is_err());
    }

    #[test]
    fn an_exclamation_mark_runs_a_command_as_it_is() {
        assert_eq!(parse_command("!grep -n 'a  b' x | wc"), Ok(Command::Run("grep -n 'a  b' x | wc".into())));
        assert_eq!(parse_command("!").unwrap_err().to_string(), "/run expects COMMAND.");
    }

    #[test]
    fn open_quotes_and_wrong_words_say_what_is_expected() {
        let said = |line: &str| parse_command(line).unwrap_err().to_string();
        assert_eq!(said("/add 'x"), "/add expects FILE… (a quote is not closed).");
        assert_eq!(said("/map-tokens many"), "/map-tokens expects N|auto (many is not a number of tokens).");
        assert_eq!(
            said("/map-refresh often"),
            "/map-refresh expects [MODE] (often is not one of auto, always, files, manual)."
        );
        assert_eq!(
            said("/edit-format xml"),
            "/edit-format expects [FORMAT] (xml is not one of diff, diff-fenced, udiff, whole, patch)."
        );
        assert_eq!(said("/watch maybe"), "/watch expects [on|off] (maybe is not one of on, off).");
        assert_eq!(said("/rewind 0"), "/rewind expects [TURN|step N] (0 is not the number of a turn).");
        assert_eq!(said("/clear all"), "/clear expects nothing (not all).");
    }

    #[test]
    fn tokens_may_be_counted_in_thousands() {
        assert_eq!(parse_command("/think-tokens 8k"), Ok(Command::ThinkTokens(Some(8_000))));
        assert_eq!(parse_command("/think-tokens 1.5K"), Ok(Command::ThinkTokens(Some(1_500))));
        assert_eq!(parse_command("/think-tokens"), Ok(Command::ThinkTokens(None)));
        for bad in ["-1", "9999999k", "k", "1e99"] {
            assert!(parse_command(&format!("/think-tokens {bad}")).is_err(), "{bad}");
        }
    }
}
