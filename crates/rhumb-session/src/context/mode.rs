//! The task of a request: the mode, the edit format, and options.

use rhumb_edit::EditFormat;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The mode of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A request for a change, answered with edits.
    #[default]
    Code,
    /// A question, answered without edits.
    Ask,
    /// A request for a change, answered with a plan that the editor model turns into edits.
    Architect,
    /// A request for the files that a change needs.
    Context,
    /// A task for the agent loop: the model calls tools until it is done.
    Agent,
    /// A question about this program.
    Help,
    /// A plan, answered with its edits only: the second half of [`Mode::Architect`]. Cannot be chosen.
    Editor,
}

impl Mode {
    /// The modes that can be chosen, in the order of the help.
    pub const CHOICES: [Self; 6] = [Self::Code, Self::Ask, Self::Architect, Self::Context, Self::Agent, Self::Help];

    /// The modes that a key cycles through. [`Mode::Help`] is not among them: `/help` asks one question at a time.
    pub const CYCLE: [Self; 5] = [Self::Code, Self::Ask, Self::Architect, Self::Context, Self::Agent];

    /// The mode after this one in [`Mode::CYCLE`].
    pub fn next(self) -> Self {
        let at = Self::CYCLE.iter().position(|mode| *mode == self).map_or(0, |at| at + 1);
        Self::CYCLE.get(at).copied().unwrap_or_default()
    }

    /// The kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Ask => "ask",
            Self::Architect => "architect",
            Self::Context => "context",
            Self::Agent => "agent",
            Self::Help => "help",
            Self::Editor => "editor",
        }
    }

    /// Whether the answer has edits.
    pub fn edits(self) -> bool {
        matches!(self, Self::Code | Self::Editor)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The word is not the name of a mode that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected code, ask, architect, context, agent or help")]
pub struct UnknownMode;

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        Self::CHOICES.into_iter().find(|mode| mode.name() == name).ok_or(UnknownMode)
    }
}

/// The task of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The mode.
    pub mode: Mode,
    /// The edit format.
    pub edit_format: EditFormat,
    /// Whether the model may suggest commands. Only in [`Mode::Code`].
    pub shell_commands: bool,
    /// Whether the request marks parts for the cache of the server, if the model needs that.
    pub mark_cache: bool,
}

impl Task {
    /// Edits in a format, without options that cost extra.
    pub fn code(edit_format: EditFormat) -> Self {
        Self { mode: Mode::Code, edit_format, shell_commands: false, mark_cache: false }
    }
}

/// What is known of the user's environment. Lines of a prompt that need unknown values are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserEnvironment {
    /// The operating system and architecture.
    pub platform: Option<String>,
    /// The name of the shell.
    pub shell: Option<String>,
    /// The language of answers.
    pub language: Option<String>,
    /// The date. It changes the beginning of requests every day, which invalidates caches, so it is set only on request of the
    /// user.
    pub date: Option<String>,
    /// The command that runs the tests.
    pub test: Option<String>,
    /// The command of the linter.
    pub lint: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_can_be_chosen_reads_back() {
        for mode in Mode::CHOICES {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert_eq!("editor".parse::<Mode>(), Err(UnknownMode));
    }
}
