//! What is run, and with which environment.

use std::borrow::Cow;
use std::path::Path;
use std::process::Command;

use super::{ProcessError, group};

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A line for the shell (`sh -c`), as somebody typed it.
    Shell(String),
    /// A program with its arguments, which nobody interprets.
    Program(Vec<String>),
}

impl CommandLine {
    /// As it is shown.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Shell(line) => Cow::Borrowed(line),
            Self::Program(words) => Cow::Owned(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
        }
    }

    /// The program that is started.
    pub(super) fn program(&self) -> &str {
        match self {
            Self::Shell(_) => SHELL.0,
            Self::Program(words) => words.first().map_or("", String::as_str),
        }
    }

    /// The command in a process group of its own, and where that can be had in a session of its own: then there is no terminal that
    /// it could ask at, or draw on.
    pub(super) fn command(&self) -> Result<Command, ProcessError> {
        let words: Vec<&str> = match self {
            Self::Shell(line) if line.trim().is_empty() => return Err(ProcessError::Empty),
            Self::Shell(line) => vec![SHELL.0, SHELL.1, line],
            Self::Program(words) => words.iter().map(String::as_str).collect(),
        };
        let (program, arguments) = words.split_first().ok_or(ProcessError::Empty)?;
        let Some(leader) = SESSION_LEADERS.iter().find(|leader| Path::new(leader).exists()) else {
            let mut command = Command::new(program);
            command.args(arguments);
            group::own_group(&mut command);
            return Ok(command);
        };
        // It must not lead a group already, or it would go on as another process.
        let mut command = Command::new(leader);
        command.arg(program).args(arguments);
        Ok(command)
    }
}

/// The programs that run another in a session of its own, in its own place. They are called by their whole name: what PATH finds
/// could be the repository's.
const SESSION_LEADERS: &[&str] = if cfg!(target_os = "linux") { &["/usr/bin/setsid", "/bin/setsid"] } else { &[] };

/// The shell, and the flag before its line.
const SHELL: (&str, &str) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };

/// A word as a shell takes it literally.
pub fn quoted(word: &str) -> String {
    shell_words::quote(word).into_owned()
}

/// Endings of names of variables that hold what nobody should see.
const SECRET_ENDINGS: [&str; 7] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_CREDENTIALS", "_PAT"];

/// Which variables a command gets: all of this process, with exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Variables that it does not get.
    pub without: Vec<String>,
    /// Whether it gets none whose name says that it holds a secret.
    pub guarded: bool,
    /// Variables that it gets besides, or with another value.
    pub with: Vec<(String, String)>,
}

impl Environment {
    pub(super) fn apply(&self, command: &mut Command) {
        for name in &self.without {
            command.env_remove(name);
        }
        if self.guarded {
            let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            names.filter(|name| sounds_secret(name)).for_each(|name| {
                command.env_remove(name);
            });
        }
        command.envs(self.with.iter().map(|(name, value)| (name, value)));
    }
}

/// Whether the name of a variable says that it holds a secret.
fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || ["PASSWORD", "SECRET", "TOKEN"].contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_secret_are_told_from_others() {
        for name in ["OPENAI_API_KEY", "gh_token", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "TOKEN"] {
            assert!(sounds_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "KEYBOARD", "MONKEY", "TOKENS", "SSH_AUTH_SOCK"] {
            assert!(!sounds_secret(name), "{name}");
        }
    }

    #[test]
    fn a_program_is_shown_as_a_shell_would_take_it() {
        let words = ["git", "commit", "-m", "a b"].map(str::to_owned).to_vec();
        assert_eq!(CommandLine::Program(words).text(), "git commit -m 'a b'");
        assert!(matches!(CommandLine::Shell("  ".into()).command(), Err(ProcessError::Empty)));
    }
}
