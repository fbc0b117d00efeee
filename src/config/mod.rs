//! Settings: values of flags, the environment and files, combined by precedence, and the sources of keys.
//!
//! One table, [`SETTINGS`], lists all settings with their types, defaults and trust. [`Layers`] reads the files and keeps the
//! origin of each value, [`Settings`] is the result, and an [`Endpoint`](rhumb_llm::Endpoint) is the address, the API and the key of a model.
//!
//! A settings file in a repository may set inert values. A value that runs a program, sends data, costs money or chooses who
//! receives code is shown to the user and used after this exact value was approved. Sources of keys can be set only by the
//! user. Opening a repository therefore runs, sends and writes nothing.

mod aider;
mod conventions;
mod custom_commands;
mod edit_file;
mod embeddings;
mod endpoint;
mod key;
mod layers;
mod paths;
mod provider;
mod render;
mod setting_table;
mod settings;
mod settings_file;
mod trust;
mod value;

pub use custom_commands::{REPOSITORY_COMMANDS, command_files};
pub use edit_file::{changed, setting_line, typed_value, write_setting};
pub use embeddings::{Consent, Embeddings, EmbeddingsSource};
pub use key::{Keyring, Keys, keyring_of_system};
pub use layers::{Layers, Sources, WorkingDirs, read_regular_file};
pub use paths::{Paths, private_folder};
pub use provider::{PRESETS, Preset, ProviderEntry, Providers, preset};
pub use render::{default_file, settings_table, settings_text};
pub use setting_table::{PROVIDER_FIELDS, SETTINGS, Setting, Trust, setting};
pub use settings::{
    Attribution, CodebaseSettings, ComposerKeys, DiffView, DisplaySettings, LayoutChoice, Notify, Overrides, Settings,
    UndoCommit,
};
pub use settings_file::{Entry, Level, Origin, Problem};
pub use trust::{Approvals, Proposed};
pub use value::written;

/// Errors of settings and keys.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file exists and cannot be read.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// The cause.
        cause: std::io::Error,
    },
    /// A file is malformed.
    #[error("{path}: {message}")]
    Invalid {
        /// The file.
        path: String,
        /// The mistake, with the line.
        message: String,
    },
    /// The settings file of the user has mistakes.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Wrong(Vec<Problem>),
    /// An approval cannot be saved.
    #[error("cannot write {path}: {cause}")]
    Unwritable {
        /// The file.
        path: String,
        /// The cause.
        cause: std::io::Error,
    },
    /// A file with a key can be read by others.
    #[error("{0} can be read by others, so the key in it is not used")]
    KeyExposed(String),
    /// A key could not be stored, for this reason.
    #[error("the key was not stored: {0}")]
    KeyNotStored(String),
    /// A key command failed.
    #[error("the key command `{command}`: {message}")]
    KeyCommand {
        /// The command line.
        command: String,
        /// The reason.
        message: String,
    },
    /// The keyring exists and cannot be read, for this reason.
    #[error("the keyring: {0}")]
    Keyring(String),
    /// A value is malformed.
    #[error("{name}: {message}")]
    BadValue {
        /// The flag, variable or setting.
        name: String,
        /// The mistake.
        message: String,
    },
}

impl ConfigError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, .. } => format!("check the permissions of {path}"),
            Self::Invalid { path, .. } => format!("correct {path} and start again"),
            Self::Wrong(_) => "rhumb config --default prints all settings".into(),
            Self::Unwritable { .. } => "check the permissions and the free space".into(),
            Self::KeyExposed(path) => format!("run: chmod 600 {path}"),
            Self::KeyNotStored(_) => "set a variable instead, or correct the cause".into(),
            Self::KeyCommand { .. } => "run it by hand, or remove key_command from the settings".into(),
            Self::Keyring(_) => "unlock the keyring, or provide the key in another way".into(),
            Self::BadValue { .. } => "correct the value and start again".into(),
        }
    }
}

#[cfg(test)]
mod tests;
