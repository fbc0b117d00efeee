//! Child processes: shell commands, tests and linters, with bounded output and a clean end.
//!
//! [`run`] starts a command in its own session (or process group), with an empty standard input and both outputs on one
//! pipe. The output is decoded as it arrives: terminal control sequences are removed and known secrets are masked.
//! Memory use is bounded; the whole output goes to a file, up to [`MAX_KEPT_BYTES`].
//!
//! When the command has ended (normally, by a signal, by its time limit or by [`StopHandle::stop`]), the rest of its
//! process group is terminated. A daemon survives only if it leaves the group.
//!
//! This module does not decide whether a command may run. That is the caller's policy.

mod allowed_pattern;
mod capture;
mod command;
mod editor;
mod group;
mod installed;
mod run;
mod terminal;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::io;
use std::path::PathBuf;

pub use allowed_pattern::matches_pattern;
pub use capture::{LiveOutput, MAX_KEPT_BYTES, Output, SecretMask};
pub use command::{CommandLine, Environment, quoted};
pub use editor::{EditorError, EditorSession, named_editor};
pub use group::end_with_parent;
pub use installed::is_installed;
pub use run::{CommandOutcome, End, OpenLogFile, RunRequest, StopHandle, Watch, run, run_watched};
pub use terminal::TerminalDecoder;

/// Why a command did not run, or its result is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The command line is empty.
    #[error("the command is empty")]
    Empty,
    /// The working directory does not exist.
    #[error("the folder {} is not there any more", .0.display())]
    NoFolder(PathBuf),
    /// The program could not be started.
    #[error("{program} cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The program was started, but waiting for it failed.
    #[error("{program} was started, but its result cannot be read: {source}")]
    Wait {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl ProcessError {
    /// What the user can do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "Name a command to run.",
            Self::NoFolder(_) => "Restore the folder, or quit and start rhumb in the folder where the files are now.",
            Self::Start { .. } => "Check that the program is installed and that PATH includes its folder.",
            Self::Wait { .. } => "Run the command in a terminal.",
        }
    }
}
