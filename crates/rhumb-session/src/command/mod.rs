//! Slash commands: one table that parsing, completion, help, manual and README share.

mod candidates;
mod completion_target;
pub(super) mod custom;
mod execute;
mod filter;
pub(super) mod input_line;
mod table;

pub use candidates::{Candidate, Candidates, Word, folder_of};
pub use completion_target::{Place, Slot, place};
pub use table::{Argument, COMMANDS, Group};

use super::codebase::PassageCommand;
use super::repository::embedding_index::IndexEffect;
use crate::context::Mode;
use rhumb_edit::EditFormat;
use rhumb_index::repo_map::Refresh;

/// One command as the user sees it.
#[derive(Debug, Clone, Copy)]
pub struct CommandInfo {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What it takes, for the help.
    pub arguments: &'static str,
    /// What that is, for completion.
    pub takes: Argument,
    /// What it does.
    pub help: &'static str,
    /// A line that shows its use.
    pub example: &'static str,
    /// What it is about.
    pub group: Group,
}

/// A command that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Mean this message, or all from now on, in this mode.
    Mode {
        /// The mode.
        mode: Mode,
        /// The message; empty for all from now on.
        message: String,
    },
    /// Show help.
    Help,
    /// Add files to the chat.
    Add {
        /// Names or globs, as typed.
        names: Vec<String>,
        /// For reference only.
        read_only: bool,
    },
    /// Make all files of the chat read-only.
    AllReadOnly,
    /// Take files out; all but those of the start without a name.
    Drop(Vec<String>),
    /// List the files in the chat.
    List,
    /// Ask the whole repository.
    Codebase(String),
    /// Show or drop the passages of the conversation.
    Passages(PassageCommand),
    /// Say what the next request is made of.
    Tokens,
    /// Summarise the conversation so far; the words, which may be empty, say what the summary must keep.
    Compact(String),
    /// Leave the conversation so far out of later requests.
    Clear,
    /// The same, and take all files out.
    Reset,
    /// Ask another model; choose one without a name.
    Model(Option<String>),
    /// Have another model write summaries and commit messages.
    WeakModel(Option<String>),
    /// Have another model write the edits of architect mode.
    EditorModel(Option<String>),
    /// List models.
    Models(String),
    /// How long to think, as a word.
    Effort(Option<String>),
    /// How long to think, in tokens.
    ThinkTokens(Option<u32>),
    /// How the model writes edits.
    EditFormat(Option<EditFormat>),
    /// Say what was spent.
    Cost,
    /// Search the code.
    Search(String),
    /// Show the map.
    Map,
    /// Set the map budget in tokens; `None` for automatic.
    MapTokens(Option<usize>),
    /// Read the repository again, and make the map anew in this mode from now on.
    MapRefresh(Option<Refresh>),
    /// Put files first in the map, or no more.
    Pin(Vec<String>),
    /// Keep files out of the map, or no more; all back in without a name.
    Ban(Vec<String>),
    /// Show or make the index of meanings.
    Index(IndexEffect),
    /// Copy the last answer.
    Copy,
    /// Copy the prompt.
    CopyContext,
    /// Take an image or a reply from the clipboard; an image gets this name.
    Paste(Option<String>),
    /// Write the message in the editor, beginning with this text.
    Editor(String),
    /// Speak the message.
    Voice,
    /// Look for edits in the last answer.
    Review,
    /// Go on with an answer that broke off.
    Continue,
    /// Ask the last message again.
    Retry,
    /// Take an earlier message back into the composer: the number of its turn, 1-based; the last without one.
    Rewind(Option<usize>),
    /// Undo the last write.
    Undo,
    /// Do what was undone again.
    Redo,
    /// Show what was written since the last message.
    Diff,
    /// Commit what is uncommitted, with this message.
    Commit(Option<String>),
    /// Run git with these arguments.
    Git(Vec<String>),
    /// Run a command line.
    Run(String),
    /// Run the tests: this command line, or the one of the settings.
    Test(Option<String>),
    /// Check these files, or those that were written.
    Lint(Vec<String>),
    /// Read a web page.
    Web(String),
    /// Follow comments for the model in files, or not; the other of what is without a word.
    Watch(Option<bool>),
    /// List earlier sessions.
    Sessions(String),
    /// Go on with an earlier session.
    Resume(Option<String>),
    /// Start a new session from this one, up to a turn (1-based).
    Fork(Option<usize>),
    /// Name this session.
    Rename(String),
    /// Write this session to a file.
    Export(Option<String>),
    /// Write the files of the chat as commands to a file.
    Save(String),
    /// Run the commands of a file.
    Load(String),
    /// Show settings.
    Settings(Option<String>),
    /// Change the colours.
    Theme(Option<String>),
    /// Show every key.
    Keys,
    /// Show what the repository's settings propose.
    Trust,
    /// Check what the program needs on this machine.
    Doctor,
    /// Copy what a report of a fault should tell.
    Response(String),
    /// Look for local servers.
    Servers,
    /// Propose a first `AGENTS.md`.
    Init,
    /// Enter a key for this provider, or pick what to connect.
    Connect(Option<String>),
    /// Leave.
    Quit,
}

/// Why a command was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No such command.
    #[error("There is no command /{name}.{}", nearest.as_ref().map_or_else(String::new, |near| format!(" Did you mean /{near}?")))]
    Unknown {
        /// What was typed.
        name: String,
        /// The command nearest to it, if one is near.
        nearest: Option<String>,
    },
    /// The beginning of several commands.
    #[error("/{name} may be {}.", candidates.join(", "))]
    Ambiguous {
        /// What was typed.
        name: String,
        /// The commands that begin so, with their slash.
        candidates: Vec<String>,
    },
    /// The arguments are not what it takes.
    #[error("/{name} expects {expected}{}.", if problem.is_empty() { String::new() } else { format!(" ({problem})") })]
    Arguments {
        /// The command.
        name: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What is wrong with what was typed; empty if there is nothing to say.
        problem: String,
    },
    /// The command of a file lacks its arguments.
    #[error("/{name} expects {expected}.")]
    Custom {
        /// The command.
        name: String,
        /// What it takes, as its file says.
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

/// The command of that name, or the only one whose name begins so.
///
/// # Errors
/// There is none, or more than one.
pub fn find_command(name: &str) -> Result<&'static CommandInfo, CommandError> {
    let name = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, own)| own);
    if let Some(info) = COMMANDS.iter().find(|info| info.name == name) {
        return Ok(info);
    }
    let begins: Vec<_> = COMMANDS.iter().filter(|info| !name.is_empty() && info.name.starts_with(name)).collect();
    match begins.as_slice() {
        [only] => Ok(only),
        [] => Err(CommandError::Unknown { name: name.to_owned(), nearest: nearest(name, std::iter::empty()) }),
        several => Err(CommandError::Ambiguous {
            name: name.to_owned(),
            candidates: several.iter().map(|info| format!("/{}", info.name)).collect(),
        }),
    }
}

/// What commands are called by mistake, and the command that is meant.
const OTHER_NAMES: [(&str, &str); 1] = [("themes", "theme")];

/// Reads a line that begins with a slash, or with `!` and a command line. Names with spaces are quoted as in a shell.
///
/// # Errors
/// An unknown command, or arguments that it does not take.
pub fn parse_command(line: &str) -> Result<Command, CommandError> {
    let line = line.trim();
    if let Some(shell) = line.strip_prefix('!') {
        return parse(find_command("run")?, shell.trim());
    }
    let line = line.trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    parse(find_command(name)?, rest.trim())
}

/// What is wrong with a word where only certain ones are known.
fn none_of(word: &str, known: impl IntoIterator<Item: ToString>) -> String {
    let known: Vec<String> = known.into_iter().map(|known| known.to_string()).collect();
    format!("{word} is none of {}", known.join(", "))
}

fn parse(info: &'static CommandInfo, rest: &str) -> Result<Command, CommandError> {
    let wrong =
        |problem: &str| CommandError::Arguments { name: info.name, expected: info.arguments, problem: problem.into() };
    let words = || shell_words::split(rest).map_err(|_| wrong("a quote is not closed"));
    let some = |text: &str| if text.is_empty() { Err(wrong("")) } else { Ok(text.to_owned()) };
    let perhaps = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let some_words = || words().and_then(|words| if words.is_empty() { Err(wrong("")) } else { Ok(words) });
    let mode = |mode: Mode| Command::Mode { mode, message: rest.to_owned() };
    if info.takes == Argument::None && !rest.is_empty() {
        return Err(CommandError::Arguments { name: info.name, expected: "nothing", problem: format!("not {rest}") });
    }
    Ok(match info.name {
        "code" => mode(Mode::Code),
        "ask" => mode(Mode::Ask),
        "architect" => mode(Mode::Architect),
        "context" => mode(Mode::Context),
        "help" if rest.is_empty() => Command::Help,
        "help" => mode(Mode::Help),
        "add" => Command::Add { names: some_words()?, read_only: false },
        "read-only" if rest.is_empty() => Command::AllReadOnly,
        "read-only" => Command::Add { names: some_words()?, read_only: true },
        "drop" => Command::Drop(words()?),
        "ls" => Command::List,
        "codebase" => Command::Codebase(some(rest)?),
        "passages" => Command::Passages(PassageCommand::named(rest).ok_or_else(|| wrong(&format!("not {rest}")))?),
        "tokens" => Command::Tokens,
        "compact" => Command::Compact(rest.to_owned()),
        "clear" => Command::Clear,
        "reset" => Command::Reset,
        "model" => Command::Model(perhaps(rest)),
        "weak-model" => Command::WeakModel(perhaps(rest)),
        "editor-model" => Command::EditorModel(perhaps(rest)),
        "models" => Command::Models(rest.to_owned()),
        "reasoning-effort" if rest.is_empty() || rhumb_llm::Thinking::EFFORTS.contains(&rest) => {
            Command::Effort(perhaps(rest))
        }
        "reasoning-effort" => return Err(wrong(&none_of(rest, rhumb_llm::Thinking::EFFORTS))),
        "think-tokens" => Command::ThinkTokens(number(rest).map_err(|text| wrong(&text))?),
        "edit-format" if rest.is_empty() => Command::EditFormat(None),
        "edit-format" => Command::EditFormat(Some(rest.parse().map_err(|_| wrong(&none_of(rest, EditFormat::ALL)))?)),
        "cost" => Command::Cost,
        "search" => Command::Search(rest.to_owned()),
        "map" => Command::Map,
        "map-tokens" if rest == "auto" => Command::MapTokens(None),
        "map-tokens" => match number(rest).map_err(|text| wrong(&text))? {
            Some(tokens) => Command::MapTokens(Some(tokens as usize)),
            None => return Err(wrong("")),
        },
        "map-refresh" if rest.is_empty() => Command::MapRefresh(None),
        "map-refresh" => Command::MapRefresh(Some(
            rest.parse().map_err(|()| wrong(&none_of(rest, Refresh::ALL.map(Refresh::as_str))))?,
        )),
        "pin" => Command::Pin(some_words()?),
        "ban" => Command::Ban(words()?),
        "index" => Command::Index(index_command(rest).ok_or_else(|| wrong(&none_of(rest, INDEX_WORDS)))?),
        "copy" => Command::Copy,
        "copy-context" => Command::CopyContext,
        "paste" => Command::Paste(perhaps(rest)),
        "editor" => Command::Editor(rest.to_owned()),
        "voice" => Command::Voice,
        "review" => Command::Review,
        "continue" => Command::Continue,
        "retry" => Command::Retry,
        "rewind" => Command::Rewind(turn(rest).map_err(|text| wrong(&text))?),
        "undo" => Command::Undo,
        "redo" => Command::Redo,
        "diff" => Command::Diff,
        "commit" => Command::Commit(perhaps(rest)),
        "git" => Command::Git(some_words()?),
        "run" => Command::Run(some(rest)?),
        "test" => Command::Test(perhaps(rest)),
        "lint" => Command::Lint(words()?),
        "web" => Command::Web(some(rest)?),
        "watch" => Command::Watch(match rest {
            "" => None,
            "on" => Some(true),
            "off" => Some(false),
            other => return Err(wrong(&none_of(other, ["on", "off"]))),
        }),
        "sessions" => Command::Sessions(rest.to_owned()),
        "resume" => Command::Resume(perhaps(rest)),
        "fork" => Command::Fork(turn(rest).map_err(|text| wrong(&text))?),
        "rename" => Command::Rename(some(rest)?),
        "export" => Command::Export(perhaps(rest)),
        "save" => Command::Save(some(rest)?),
        "load" => Command::Load(some(rest)?),
        "settings" => Command::Settings(perhaps(rest)),
        "theme" => Command::Theme(perhaps(rest)),
        "keys" => Command::Keys,
        "trust" => Command::Trust,
        "doctor" => Command::Doctor,
        "report" => Command::Response(rest.to_owned()),
        "servers" => Command::Servers,
        "init" => Command::Init,
        "connect" => Command::Connect(perhaps(rest)),
        _ => Command::Quit,
    })
}

/// What `/index` takes.
const INDEX_WORDS: [&str; 6] = ["status", "build", "pause", "resume", "cancel", "delete"];

fn index_command(word: &str) -> Option<IndexEffect> {
    Some(match word {
        "" | "status" => IndexEffect::Status,
        "build" => IndexEffect::Build { agreed: false },
        "pause" => IndexEffect::Pause(true),
        "resume" => IndexEffect::Pause(false),
        "cancel" => IndexEffect::Cancel,
        "delete" => IndexEffect::Delete,
        _ => return None,
    })
}

/// A number of tokens, `8k` for 8000; `None` for an empty text. The text itself if it is none.
fn number(text: &str) -> Result<Option<u32>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let (digits, factor) = text.strip_suffix(['k', 'K']).map_or((text, 1.0), |digits| (digits, 1_000.0));
    match digits.parse::<f64>() {
        Ok(number) if number >= 0.0 && number * factor <= f64::from(u32::MAX) => Ok(Some((number * factor) as u32)),
        _ => Err(format!("{text} is no number of tokens")),
    }
}

/// The number of a turn, 1-based; `None` for an empty text. What is wrong if it is none.
fn turn(text: &str) -> Result<Option<usize>, String> {
    match text.parse::<usize>() {
        _ if text.is_empty() => Ok(None),
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(format!("{text} is no number of a turn")),
    }
}

/// The command, or the one of `more`, that `name` probably misspells, if any.
pub(super) fn nearest<'n>(name: &str, more: impl Iterator<Item = &'n str>) -> Option<String> {
    rhumb_text::nearest(name, COMMANDS.iter().map(|info| info.name).chain(more)).map(str::to_owned)
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
        assert_eq!(said("/map-tokens many"), "/map-tokens expects N|auto (many is no number of tokens).");
        assert_eq!(
            said("/map-refresh often"),
            "/map-refresh expects [MODE] (often is none of auto, always, files, manual)."
        );
        assert_eq!(
            said("/edit-format xml"),
            "/edit-format expects [FORMAT] (xml is none of diff, diff-fenced, udiff, whole, patch)."
        );
        assert_eq!(said("/watch maybe"), "/watch expects [on|off] (maybe is none of on, off).");
        assert_eq!(said("/rewind 0"), "/rewind expects [TURN] (0 is no number of a turn).");
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
