//! Where settings live: the XDG folders of the user.

use std::path::PathBuf;

use etcetera::{BaseStrategy, choose_base_strategy};

/// The user's folders.
#[derive(Debug, Clone)]
pub struct Paths {
    /// `config.toml` and `api-key` live here.
    pub config: PathBuf,
    /// What can be made again at any time lives here.
    pub cache: PathBuf,
    /// What cannot, and is no setting, lives here: the journal of writes.
    pub state: PathBuf,
}

impl Paths {
    /// The folders of this user; `None` where there is no home.
    pub fn of_user() -> Option<Self> {
        let base = choose_base_strategy().ok()?;
        // Not every system has a folder for state.
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Some(Self {
            config: base.config_dir().join("rhumb"),
            cache: base.cache_dir().join("rhumb"),
            state: state.join("rhumb"),
        })
    }

    /// The settings file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The file that holds nothing but a key.
    pub fn key_file(&self) -> PathBuf {
        self.config.join("api-key")
    }
}
