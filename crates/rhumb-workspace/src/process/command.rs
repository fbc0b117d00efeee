//! Command lines and their environment variables.

use super::{ProcessError, group};
use rhumb_text::secrets::secrets;
use std::borrow::Cow;
use std::path::Path;
use std::process::Command;

/// A command, with or without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A command line for the shell (`sh -c`).
    Shell(String),
    /// A program and its arguments, without a shell.
    Program(Vec<String>),
}

impl CommandLine {
    /// The command line for display.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Shell(line) => Cow::Borrowed(line),
            Self::Program(words) => Cow::Owned(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
        }
    }

    pub(crate) fn program(&self) -> &str {
        match self {
            Self::Shell(_) => SHELL.0,
            Self::Program(words) => words.first().map_or("", String::as_str),
        }
    }

    /// Creates the command in a new session, or at least in a new process group. In a new session it
    /// has no controlling terminal to read from or write to.
    pub(crate) fn command(&self) -> Result<Command, ProcessError> {
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
        // `setsid` forks if it is already the leader of a process group, so the group is not set here.
        let mut command = Command::new(leader);
        command.arg(program).args(arguments);
        Ok(command)
    }
}

/// Programs that start another program in a new session. Absolute paths, because PATH could lead into the repository.
const SESSION_LEADERS: &[&str] = if cfg!(target_os = "linux") { &["/usr/bin/setsid", "/bin/setsid"] } else { &[] };

/// The shell, and the option before the command line.
const SHELL: (&str, &str) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    shell_words::quote(word).into_owned()
}

/// Words of variable names (between underscores) that indicate a secret.
const SECRET_WORDS: [&str; 15] = [
    "KEY", "KEYS", "APIKEY", "APIKEYS", "TOKEN", "AUTH", "PAT", "PASS", "PWD", "CRED", "CREDS", "JWT", "BEARER",
    "COOKIE", "PIN",
];

/// Substrings of variable names that indicate a secret.
const SECRET_PARTS: [&str; 6] = ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTHTOKEN"];

/// Endings of words of variable names that indicate a secret.
const SECRET_ENDINGS: [&str; 8] =
    ["APIKEY", "ACCESSKEY", "PRIVATEKEY", "ACCOUNTKEY", "SSHKEY", "TOKEN", "DBPASS", "DBPWD"];

/// Variables whose names look like secrets but are not: folders, and sockets of agents that ask the user.
const NOT_SECRET: [&str; 7] =
    ["PWD", "OLDPWD", "SSH_AUTH_SOCK", "PASSWORD_STORE_DIR", "GPG_KEY", "GNOME_KEYRING_CONTROL", "KEY_REPEAT"];

/// Text before a secret in a value with several parts, such as a connection string.
const SECRET_VALUE_PARTS: [&str; 5] = ["password=", "pwd=", "secret=", "accountkey=", "sharedaccesskey="];

/// Environment of a command: the variables of this process with exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Variables to remove.
    pub without: Vec<String>,
    /// Whether to remove all variables whose name or value looks like a secret.
    pub guarded: bool,
    /// Variables to add or replace.
    pub with: Vec<(String, String)>,
}

impl Environment {
    pub(crate) fn apply(&self, command: &mut Command) {
        for name in &self.without {
            command.env_remove(name);
        }
        if self.guarded {
            for (name, value) in std::env::vars_os() {
                if holds_secret(&name.to_string_lossy(), &value.to_string_lossy()) {
                    command.env_remove(name);
                }
            }
        }
        command.envs(self.with.iter().map(|(name, value)| (name, value)));
    }
}

/// Returns whether a variable looks like a secret, by its name or its value.
fn holds_secret(name: &str, value: &str) -> bool {
    sounds_secret(name) || has_password(value) || !secrets(value).is_empty()
}

fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if NOT_SECRET.contains(&name.as_str()) {
        return false;
    }
    let ends = |word: &str| SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending));
    SECRET_PARTS.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| SECRET_WORDS.contains(&word) || ends(word))
}

/// Returns whether a value contains a URL with a password, or a named password.
fn has_password(value: &str) -> bool {
    let in_address = |after: &str| {
        let whole = after.split(['/', '?', '#', ' ', '\'', '"']).next().unwrap_or_default();
        let user = whole.rsplit_once('@').map_or("", |(user, _)| user);
        user.split_once(':').is_some_and(|(_, password)| !password.is_empty())
    };
    let lower = value.to_ascii_lowercase();
    value.split("://").skip(1).any(in_address) || SECRET_VALUE_PARTS.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_variable_names_are_recognized() {
        for name in ["OPENAI_API_KEY", "gh_token", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "TOKEN"] {
            assert!(sounds_secret(name), "{name}");
        }
        for name in [
            "PGPASSWORD",
            "MYSQL_PWD",
            "APIKEY",
            "OPENAI_APIKEY",
            "SECRET_KEY_BASE",
            "AWS_ACCESS_KEY_ID",
            "STRIPE_KEY_LIVE",
            "NPM_AUTH",
            "GITHUB_PAT",
            "NODE_AUTH_TOKEN",
            "npm_config__auth",
            "GPG_PASSPHRASE",
            "GH_TOKEN_READ",
            "REDIS_PASS",
            "MY-API-KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "VAULT_CRED",
            "GITTOKEN",
            "CLIENTSECRET",
            "SESSION_COOKIE",
        ] {
            assert!(holds_secret(name, "x"), "{name}");
        }
        for name in [
            "PATH", "HOME", "KEYBOARD", "MONKEY", "TOKENS", "SSH_AUTH_SOCK", "PWD", "OLDPWD", "XAUTHORITY",
            "GIT_AUTHOR_NAME", "GIT_ASKPASS", "SSH_ASKPASS", "GPG_TTY", "GPG_AGENT_INFO", "KEYMAP", "MAX_TOKENS",
            "COMPASS", "PATTERN", "CARGO_HOME", "XDG_SESSION_ID", "KEYTIMEOUT", "SPIN", "OPINION",
        ] {
            assert!(!holds_secret(name, "/some/where:/else"), "{name}");
        }
    }

    #[test]
    fn secret_values_are_recognized() {
        let key = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap_or_default());
        for value in [
            "postgres://user:pass@db/x",
            "a https://x, redis://:pass@db",
            "host=db user=u password=p",
            "AccountName=a;AccountKey=abc==",
            &key,
        ] {
            assert!(holds_secret("DATABASE_URL", value), "{value}");
        }
        for value in
            ["postgres://user@db/x", "https://x/a:b@c", "a:b@c", "http://[::1]:80/", "unix:path=/run/bus,guid=1", ""]
        {
            assert!(!holds_secret("DATABASE_URL", value), "{value}");
        }
    }

    #[test]
    fn a_program_is_shown_with_shell_quoting() {
        let words = ["git", "commit", "-m", "a b"].map(str::to_owned).to_vec();
        assert_eq!(CommandLine::Program(words).text(), "git commit -m 'a b'");
        assert!(matches!(CommandLine::Shell("  ".into()).command(), Err(ProcessError::Empty)));
    }
}
