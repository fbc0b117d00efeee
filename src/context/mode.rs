//! What the model is asked for: which mode, which edit format, and what goes along with it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use rhumb_edit::EditFormat;

/// How a message is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// As a request for a change, answered with edits.
    #[default]
    Code,
    /// As a question, answered without edits.
    Ask,
    /// As a request for a change, answered with a plan that another model turns into edits.
    Architect,
    /// As a request for the files that a change needs.
    Context,
    /// As a question about this program.
    Help,
    /// As a plan, answered with its edits and nothing else: the second half of [`Mode::Architect`]. Nobody chooses it.
    Editor,
}

impl Mode {
    /// The modes that can be chosen, in the order in which help lists them.
    pub const CHOICES: [Self; 5] = [Self::Code, Self::Ask, Self::Architect, Self::Context, Self::Help];

    /// The modes that one key goes through, in this order. Questions about the program are asked one at a time, with `/help`.
    pub const CYCLE: [Self; 4] = [Self::Code, Self::Ask, Self::Architect, Self::Context];

    /// The mode after this one in [`Mode::CYCLE`].
    pub fn next(self) -> Self {
        let at = Self::CYCLE.iter().position(|mode| *mode == self).map_or(0, |at| at + 1);
        Self::CYCLE.get(at).copied().unwrap_or_default()
    }

    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Ask => "ask",
            Self::Architect => "architect",
            Self::Context => "context",
            Self::Help => "help",
            Self::Editor => "editor",
        }
    }

    /// Whether the answer is to hold edits.
    pub fn edits(self) -> bool {
        matches!(self, Self::Code | Self::Editor)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The word is the name of no mode that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected code, ask, architect, context or help")]
pub struct UnknownMode;

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        Self::CHOICES.into_iter().find(|mode| mode.name() == name).ok_or(UnknownMode)
    }
}

/// What the model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// How the message is meant.
    pub mode: Mode,
    /// The format in which edits are to be written.
    pub edit_format: EditFormat,
    /// Whether the model may suggest commands to run. Only asked for in [`Mode::Code`].
    pub shell_commands: bool,
    /// Whether the request marks what the server is to keep in its cache, where the model's cache has to be told.
    pub mark_cache: bool,
}

impl Task {
    /// Edits in that format, without anything that costs extra.
    pub fn code(edit_format: EditFormat) -> Self {
        Self { mode: Mode::Code, edit_format, shell_commands: false, mark_cache: false }
    }
}

/// Where the developer sits and how they work, as far as it is known; lines of a prompt that need what is not known are
/// left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Operating system and processor.
    pub platform: Option<String>,
    /// Name of the shell.
    pub shell: Option<String>,
    /// The language to answer in.
    pub language: Option<String>,
    /// The date. It changes every day and with it the beginning of every request, which then no cache knows: to be given
    /// only where the user wants the model to know it.
    pub date: Option<String>,
    /// The command that runs the tests.
    pub test: Option<String>,
    /// The command that runs the linter.
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
