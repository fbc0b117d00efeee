//! The folders of the user, by the XDG base directory specification.

use etcetera::{BaseStrategy, choose_base_strategy};
use std::fs::Permissions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folders of the user.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The home folder, for settings of other programs.
    pub home: PathBuf,
    /// The configuration folder: `rhumb.toml`, `credentials.toml` and `api-key`.
    pub config: PathBuf,
    /// The cache folder. Everything in it can be made again.
    pub cache: PathBuf,
    /// The state folder: the journal of writes, sessions, approvals.
    pub state: PathBuf,
}

impl Paths {
    /// The folders of this user; `None` without a home folder.
    pub fn of_user() -> Option<Self> {
        let base = choose_base_strategy().ok()?;
        // Not every system has a state folder.
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Some(Self {
            home: base.home_dir().to_owned(),
            config: base.config_dir().join("rhumb"),
            cache: base.cache_dir().join("rhumb"),
            state: state.join("rhumb"),
        })
    }

    /// The state folder and the id of its owner, if it belongs to another user. Its content (approvals, sessions, the journal)
    /// is trusted, so it must belong to this user.
    pub fn of_another(&self) -> Option<(&Path, u32)> {
        Some((&self.state, owner_if_another(&self.state)?))
    }

    /// All folders of rhumb, and the targets of symbolic links in them. A model must not write there.
    pub fn own(&self) -> Vec<PathBuf> {
        let files =
            [self.settings_file(), self.config_file(), self.credentials_file(), self.key_file(), self.approvals_file()];
        [&self.config, &self.cache, &self.state].into_iter().cloned().chain(files).collect()
    }

    /// The settings file.
    pub fn settings_file(&self) -> PathBuf {
        self.config.join("rhumb.toml")
    }

    /// The approvals of settings of repositories.
    pub fn approvals_file(&self) -> PathBuf {
        self.state.join("approved.json")
    }

    /// The former name of the settings file, read if there is no other.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The folder with custom commands.
    pub fn commands_folder(&self) -> PathBuf {
        self.config.join("commands")
    }

    /// The folder with custom themes.
    pub fn themes_folder(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// The file with keys by host.
    pub fn credentials_file(&self) -> PathBuf {
        self.config.join("credentials.toml")
    }

    /// The file with only the key of the configured address.
    pub fn key_file(&self) -> PathBuf {
        self.config.join("api-key")
    }
}

/// The id of the owner of a folder, if that is another user than the one who runs this process.
#[cfg(unix)]
pub(super) fn owner_if_another(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = folder.metadata().ok()?.uid();
    (owner != rustix::process::geteuid().as_raw()).then_some(owner)
}

/// Folders have no owner id on this system.
#[cfg(not(unix))]
pub(super) fn owner_if_another(_: &Path) -> Option<u32> {
    None
}

/// Creates a folder that only its owner can access, and its parents.
pub fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Replaces a file as a whole, so that a crash leaves either the old or the new content. Without `permissions`, only the owner can read
/// the new file.
pub(super) fn replace_file(path: &Path, content: &[u8], permissions: Option<Permissions>) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(content)?;
    if let Some(permissions) = permissions {
        draft.as_file().set_permissions(permissions)?;
    }
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}
