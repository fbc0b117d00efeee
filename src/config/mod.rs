//! Settings: flags over environment over the user's configuration file. Nothing is ever read from the repository, so that a
//! cloned project cannot choose where a key is sent.

mod file;
mod key;
mod paths;
mod settings;

pub use file::ConfigFile;
pub use key::KeySource;
pub use paths::Paths;
pub use settings::{Overrides, Settings};

/// What is wrong with the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there but cannot be read.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
    /// The file is not what we expect.
    #[error("{path}: {message}")]
    Invalid {
        /// The file.
        path: String,
        /// What is wrong, with the line.
        message: String,
    },
    /// Others could read the key.
    #[error("{path} can be read by others, so the key in it is not used")]
    KeyExposed {
        /// The file.
        path: String,
    },
    /// A value that does not parse.
    #[error("{name}: {message}")]
    BadValue {
        /// The flag, variable or key.
        name: String,
        /// What is wrong.
        message: String,
    },
}

impl ConfigError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, .. } => format!("check the permissions of {path}"),
            Self::Invalid { .. } => "see the README for the settings that there are".into(),
            Self::KeyExposed { path } => format!("run: chmod 600 {path}"),
            Self::BadValue { .. } => "correct the value and start again".into(),
        }
    }
}
