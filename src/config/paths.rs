//! Where settings live: the XDG folders of the user.

use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

/// The user's folders.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The user's home: settings of other programs lie here.
    pub home: PathBuf,
    /// `rhumb.toml`, `credentials.toml` and `api-key` live here.
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
            home: base.home_dir().to_owned(),
            config: base.config_dir().join("rhumb"),
            cache: base.cache_dir().join("rhumb"),
            state: state.join("rhumb"),
        })
    }

    /// The folder of these that holds what is believed without a question (approvals, sessions, the journal) and belongs to another
    /// user, with that user's number. Whoever owns it decides what is in it.
    pub fn of_another(&self) -> Option<(&Path, u32)> {
        Some((&self.state, owner_if_another(&self.state)?))
    }

    /// Every folder of ours, and what the files of ours in them are links to: a model that writes there says what is run.
    pub fn own(&self) -> Vec<PathBuf> {
        let files =
            [self.settings_file(), self.config_file(), self.credentials_file(), self.key_file(), self.approvals_file()];
        [&self.config, &self.cache, &self.state].into_iter().cloned().chain(files).collect()
    }

    /// The settings file.
    pub fn settings_file(&self) -> PathBuf {
        self.config.join("rhumb.toml")
    }

    /// What the user has approved of the settings of repositories.
    pub fn approvals_file(&self) -> PathBuf {
        self.state.join("approved.json")
    }

    /// The settings file under its name of before, read where there is no other.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's own commands, as files.
    pub fn commands_folder(&self) -> PathBuf {
        self.config.join("commands")
    }

    /// The user's own themes, as files.
    pub fn themes_folder(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// The file with a key for each host.
    pub fn credentials_file(&self) -> PathBuf {
        self.config.join("credentials.toml")
    }

    /// The file that holds nothing but the key of the configured address.
    pub fn key_file(&self) -> PathBuf {
        self.config.join("api-key")
    }
}

/// The number of the user that a folder belongs to, where it is there and that is not who runs this.
#[cfg(unix)]
pub(super) fn owner_if_another(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = folder.metadata().ok()?.uid();
    (owner != rustix::process::geteuid().as_raw()).then_some(owner)
}

/// Folders have no such number here.
#[cfg(not(unix))]
pub(super) fn owner_if_another(_: &Path) -> Option<u32> {
    None
}
