//! Why a command did not run.

/// What keeps a command from running.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is nothing to run.
    #[error("the command is empty")]
    Empty,
    /// The folder that it is to run in is gone.
    #[error("the folder {} is not there any more", .folder.display())]
    NoFolder {
        /// The folder.
        folder: std::path::PathBuf,
    },
    /// It cannot be started.
    #[error("{program} cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// It cannot be followed.
    #[error("{program} was started and cannot be followed: {source}")]
    Follow {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
}

impl ProcessError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "Say what to run.",
            Self::NoFolder { .. } => "Put it back, or leave and start rhumb where the files are now.",
            Self::Start { .. } => "Check that it is installed and that PATH finds it.",
            Self::Follow { .. } => "Run it in a terminal of your own.",
        }
    }
}
