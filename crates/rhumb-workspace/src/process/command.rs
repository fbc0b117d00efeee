//! What is run, and with which environment.

use std::borrow::Cow;
use std::path::Path;
use std::process::Command;

use super::{ProcessError, group};
use rhumb_text::secrets::secrets;

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

/// Parts of names, between underscores, that say that a variable holds what nobody should see.
const SECRET_WORDS: [&str; 15] = [
    "KEY", "KEYS", "APIKEY", "APIKEYS", "TOKEN", "AUTH", "PAT", "PASS", "PWD", "CRED", "CREDS", "JWT", "BEARER",
    "COOKIE", "PIN",
];

/// What says so wherever it stands in a name.
const SECRET_PARTS: [&str; 6] = ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTHTOKEN"];

/// What says so at the end of a part of a name.
const SECRET_ENDINGS: [&str; 8] =
    ["APIKEY", "ACCESSKEY", "PRIVATEKEY", "ACCOUNTKEY", "SSHKEY", "TOKEN", "DBPASS", "DBPWD"];

/// Names that sound so and hold none: folders, and ways to an agent that asks for itself.
const HARMLESS: [&str; 7] =
    ["PWD", "OLDPWD", "SSH_AUTH_SOCK", "PASSWORD_STORE_DIR", "GPG_KEY", "GNOME_KEYRING_CONTROL", "KEY_REPEAT"];

/// What stands before a secret in a value of several parts, such as the address of a database.
const IN_VALUES: [&str; 5] = ["password=", "pwd=", "secret=", "accountkey=", "sharedaccesskey="];

/// Which variables a command gets: all of this process, with exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Variables that it does not get.
    pub without: Vec<String>,
    /// Whether it gets none whose name or value says that it holds a secret.
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
            for (name, value) in std::env::vars_os() {
                if holds_secret(&name.to_string_lossy(), &value.to_string_lossy()) {
                    command.env_remove(name);
                }
            }
        }
        command.envs(self.with.iter().map(|(name, value)| (name, value)));
    }
}

/// Whether the name of a variable says that it holds a secret, or its value is one by its form.
fn holds_secret(name: &str, value: &str) -> bool {
    sounds_secret(name) || has_password(value) || !secrets(value).is_empty()
}

fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    let ends = |word: &str| SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending));
    SECRET_PARTS.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| SECRET_WORDS.contains(&word) || ends(word))
}

/// Whether an address with a password stands in a value, or a password by its name.
fn has_password(value: &str) -> bool {
    let in_address = |after: &str| {
        let whole = after.split(['/', '?', '#', ' ', '\'', '"']).next().unwrap_or_default();
        let user = whole.rsplit_once('@').map_or("", |(user, _)| user);
        user.split_once(':').is_some_and(|(_, password)| !password.is_empty())
    };
    let lower = value.to_ascii_lowercase();
    value.split("://").skip(1).any(in_address) || IN_VALUES.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_secret_are_told_from_others() {
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
            "PATH",
            "HOME",
            "KEYBOARD",
            "MONKEY",
            "TOKENS",
            "SSH_AUTH_SOCK",
            "PWD",
            "OLDPWD",
            "XAUTHORITY",
            "GIT_AUTHOR_NAME",
            "GIT_ASKPASS",
            "SSH_ASKPASS",
            "GPG_TTY",
            "GPG_AGENT_INFO",
            "KEYMAP",
            "MAX_TOKENS",
            "COMPASS",
            "PATTERN",
            "CARGO_HOME",
            "XDG_SESSION_ID",
            "KEYTIMEOUT",
            "SPIN",
            "OPINION",
        ] {
            assert!(!holds_secret(name, "/some/where:/else"), "{name}");
        }
    }

    #[test]
    fn a_value_can_tell_what_its_name_does_not() {
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
    fn a_program_is_shown_as_a_shell_would_take_it() {
        let words = ["git", "commit", "-m", "a b"].map(str::to_owned).to_vec();
        assert_eq!(CommandLine::Program(words).text(), "git commit -m 'a b'");
        assert!(matches!(CommandLine::Shell("  ".into()).command(), Err(ProcessError::Empty)));
    }
}
