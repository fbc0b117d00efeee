//! Slash commands: one table that parsing, help and the README share.

use crate::repo_map::Refresh;

/// One command as the user sees it.
#[derive(Debug, Clone, Copy)]
pub struct CommandInfo {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What it takes, for the help.
    pub arguments: &'static str,
    /// What it does.
    pub help: &'static str,
}

const fn info(name: &'static str, arguments: &'static str, help: &'static str) -> CommandInfo {
    CommandInfo { name, arguments, help }
}

/// Every command.
pub const COMMANDS: &[CommandInfo] = &[
    info("add", "FILE…", "add files to the chat; the model may edit them (globs allowed)"),
    info("read-only", "FILE…", "add files for reference; the model must not edit them"),
    info("drop", "[FILE…]", "take files out of the chat; without a name, all of them"),
    info("ls", "", "list the files in the chat"),
    info("clear", "", "leave the conversation so far out of later requests"),
    info("model", "NAME", "ask another model"),
    info("map-tokens", "N|auto", "set the budget of the repo map"),
    info("map-refresh", "[MODE]", "read the repository again; from now on auto, always, files or manual"),
    info("pin", "FILE…", "put files first in the map, or no more"),
    info("ban", "[FILE…]", "keep files out of the map, or no more; without a name, let all back in"),
    info("copy", "", "copy the whole prompt, for a chat window elsewhere"),
    info("paste", "", "take a pasted reply into review"),
    info("review", "", "look for edits in the last answer again"),
    info("undo", "", "take the last write back"),
    info("redo", "", "do the write again that was undone last"),
    info("servers", "", "look for a model server on this machine"),
    info("help", "", "show keys and commands"),
    info("quit", "", "leave"),
];

/// A command that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Add files to the chat.
    Add {
        /// Names or globs, as typed.
        names: Vec<String>,
        /// For reference only.
        read_only: bool,
    },
    /// Take files out; all of them without a name.
    Drop(Vec<String>),
    /// List the files in the chat.
    List,
    /// Leave the conversation so far out of later requests.
    Clear,
    /// Ask another model.
    Model(String),
    /// Set the map budget in tokens; `None` for automatic.
    MapTokens(Option<usize>),
    /// Read the repository again, and make the map anew in this mode from now on.
    MapRefresh(Option<Refresh>),
    /// Put files first in the map, or no more.
    Pin(Vec<String>),
    /// Keep files out of the map, or no more; all back in without a name.
    Ban(Vec<String>),
    /// Copy the prompt.
    Copy,
    /// Take a pasted reply.
    Paste,
    /// Look for edits in the last answer.
    Review,
    /// Take the last write back.
    Undo,
    /// Do what was undone again.
    Redo,
    /// Look for local servers.
    Servers,
    /// Show help.
    Help,
    /// Leave.
    Quit,
}

/// Why a command was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No such command.
    #[error("There is no command /{name}.{}", nearest.map_or_else(String::new, |near| format!(" Did you mean /{near}?")))]
    Unknown {
        /// What was typed.
        name: String,
        /// The command nearest to it, if one is near.
        nearest: Option<&'static str>,
    },
    /// The arguments are not what it takes.
    #[error("/{name} expects {expected}.")]
    Arguments {
        /// The command.
        name: &'static str,
        /// What it takes.
        expected: &'static str,
    },
}

/// Reads a line that begins with a slash. Names with spaces are quoted as in a shell.
///
/// # Errors
/// An unknown command, or arguments that it does not take.
pub fn parse_command(line: &str) -> Result<Command, CommandError> {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let Some(info) = COMMANDS.iter().find(|info| info.name == name) else {
        return Err(CommandError::Unknown { name: name.to_owned(), nearest: nearest(name) });
    };
    let wrong = CommandError::Arguments { name: info.name, expected: info.arguments };
    let words = shell_words::split(rest).map_err(|_| wrong.clone())?;
    let some = |words: Vec<String>| {
        if words.is_empty() { Err(wrong.clone()) } else { Ok(words) }
    };
    Ok(match info.name {
        "add" => Command::Add { names: some(words)?, read_only: false },
        "read-only" => Command::Add { names: some(words)?, read_only: true },
        "drop" => Command::Drop(words),
        "ls" => Command::List,
        "clear" => Command::Clear,
        "model" => Command::Model(some(words)?.remove(0)),
        "map-tokens" => match some(words)?.remove(0).as_str() {
            "auto" => Command::MapTokens(None),
            number => Command::MapTokens(Some(number.parse().map_err(|_| wrong)?)),
        },
        "map-refresh" => {
            let mode = words.first().map(|mode| mode.parse()).transpose();
            Command::MapRefresh(mode.map_err(|()| wrong)?)
        }
        "pin" => Command::Pin(some(words)?),
        "ban" => Command::Ban(words),
        "copy" => Command::Copy,
        "paste" => Command::Paste,
        "review" => Command::Review,
        "undo" => Command::Undo,
        "redo" => Command::Redo,
        "servers" => Command::Servers,
        "help" => Command::Help,
        _ => Command::Quit,
    })
}

/// Most letters that a typing mistake gets wrong.
const NEAR: usize = 2;

/// The command that `name` is a misspelling of, if there is one.
fn nearest(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let distance = |info: &CommandInfo| strsim::damerau_levenshtein(info.name, &name);
    let near = COMMANDS.iter().min_by_key(|info| distance(info))?;
    (distance(near) <= NEAR && distance(near) < near.name.len()).then_some(near.name)
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
    fn every_command_of_the_table_is_understood() {
        for info in COMMANDS {
            let argument = match info.name {
                "map-tokens" => "100",
                "map-refresh" => "files",
                _ => "x",
            };
            assert!(parse_command(&format!("/{} {argument}", info.name)).is_ok(), "{}", info.name);
        }
    }

    #[test]
    fn an_unknown_command_names_the_nearest() {
        let error = parse_command("/Red-only x").unwrap_err();
        assert_eq!(error, CommandError::Unknown { name: "Red-only".into(), nearest: Some("read-only") });
    }

    #[test]
    fn a_word_like_no_command_is_not_guessed_at() {
        assert_eq!(parse_command("/foo").unwrap_err().to_string(), "There is no command /foo.");
    }

    #[test]
    fn missing_arguments_and_open_quotes_say_what_is_expected() {
        assert_eq!(parse_command("/add").unwrap_err().to_string(), "/add expects FILE….");
        assert_eq!(parse_command("/add 'x").unwrap_err().to_string(), "/add expects FILE….");
        assert_eq!(parse_command("/map-tokens many").unwrap_err().to_string(), "/map-tokens expects N|auto.");
    }
}
