//! Settings: what flags, the environment and files say, laid over each other, and where keys are found.
//!
//! One table, [`SETTINGS`], says what there is, what it takes and who may set it. [`Layers`] reads the files and keeps the origin
//! of each value, [`Settings`] is what they come to, and an [`Endpoint`] is whom a model is asked of, in which format and
//! with which key.
//!
//! A repository's own files may set what is inert. What runs, sends, costs, or chooses who reads the code is shown to the user and
//! used once exactly that value is approved; where keys come from is nobody's but the user's to say. Opening a repository
//! therefore runs, sends and writes nothing.

mod aider;
mod codebase;
mod conventions;
mod custom_commands;
mod default_file;
mod embeddings;
mod endpoint;
mod face;
mod keep;
mod key;
mod layer;
mod layers;
mod paths;
mod provider;
mod route;
mod setting;
mod settings;
mod shown;
mod trust;
mod value;
mod voice;

pub use codebase::{CodebaseSettings, More};
pub use custom_commands::{CommandFile, REPOSITORY_COMMANDS, command_files};
pub use default_file::{default_file, settings_table};
pub use embeddings::{Consent, Embeddings, EmbeddingsSource};
pub use face::{ComposerKeys, DiffView, Face, LayoutChoice};
pub use keep::{changed, keep_setting, setting_line, typed_value};
pub use key::{KeySearch, KeyedProvider, Keyring, Keys, SearchedPlace, keyring_of_system};
pub use layer::{Entry, Level, Origin, Problem};
pub use layers::{Layers, Place, Sources, plain_text};
pub use paths::Paths;
pub use provider::{PRESETS, Preset, ProviderEntry, Providers, preset};
pub use setting::{EFFORTS, Kind, PROVIDER_FIELDS, SETTINGS, Setting, Trust, setting};
pub use settings::{Attribution, Notify, Overrides, Settings, UndoCommit};
pub use shown::settings_text;
pub use trust::{Approvals, Proposed};
pub use value::written;

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
    /// The user's settings file has mistakes.
    #[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Wrong {
        /// Every one of them.
        problems: Vec<Problem>,
    },
    /// An approval cannot be kept.
    #[error("cannot write {path}: {cause}")]
    Unkept {
        /// The file.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
    /// Others could read the key.
    #[error("{path} can be read by others, so the key in it is not used")]
    KeyExposed {
        /// The file.
        path: String,
    },
    /// A key that the user entered was not stored.
    #[error("the key was not stored: {why}")]
    KeyNotStored {
        /// Why.
        why: String,
    },
    /// A command that should print a key did not.
    #[error("the key command `{command}`: {message}")]
    KeyCommand {
        /// The command line.
        command: String,
        /// What went wrong.
        message: String,
    },
    /// The system's keyring is there and cannot be read.
    #[error("the keyring: {message}")]
    Keyring {
        /// What went wrong.
        message: String,
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
            Self::Invalid { path, .. } => format!("correct {path} and start again"),
            Self::Wrong { .. } => "rhumb config --default prints every setting that there is".into(),
            Self::Unkept { .. } => "check the permissions and the space there".into(),
            Self::KeyExposed { path } => format!("run: chmod 600 {path}"),
            Self::KeyNotStored { .. } => "set a variable instead, or correct what stands in the way".into(),
            Self::KeyCommand { .. } => "run it by hand, or take key_command out of the settings".into(),
            Self::Keyring { .. } => "unlock the keyring, or give the key another way".into(),
            Self::BadValue { .. } => "correct the value and start again".into(),
        }
    }
}

#[cfg(test)]
mod tests;
