//! API keys: where the key of an address is found, that it is sent nowhere else, and where a new key is stored. Keys are never
//! read from flags, which `ps` shows, and never from the repository.

mod command;
mod credentials;
mod host;
mod keyring;
mod search;
mod store;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;
use url::Url;

use super::provider::PRESETS;
use super::{ConfigError, Paths};
pub use keyring::{Keyring, keyring_of_system};
use rhumb_llm::KeySource;

/// The variable with the key of the configured address.
const OWN_KEY_VARIABLE: &str = "RHUMB_API_KEY";

/// An address that needs a key, and the sources that the user bound to it.
#[derive(Debug, Clone)]
pub(super) struct Claim<'a> {
    /// The address.
    pub(super) url: &'a Url,
    /// Whether the user configured this address, so that keys without a host may be sent there.
    pub(super) is_own: bool,
    /// Variables with its key.
    pub(super) variables: Vec<&'a str>,
    /// The command that prints its key.
    pub(super) command: Option<&'a str>,
}

/// All sources of keys. The `Debug` output contains no key.
#[derive(Clone, Default)]
pub struct Keys {
    variables: BTreeMap<String, SecretString>,
    credentials: Option<PathBuf>,
    file: Option<PathBuf>,
    keyring: Option<Arc<dyn Keyring>>,
    /// The output of commands. Each command runs at most once.
    printed: Arc<Mutex<BTreeMap<String, SecretString>>>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("variables", &self.variables.keys()).finish_non_exhaustive()
    }
}

impl Keys {
    /// The sources of this user. `env` reads a variable; the variables of presets and of `more` are read.
    pub(super) fn new<'n>(
        env: &dyn Fn(&str) -> Option<String>,
        paths: Option<&Paths>,
        keyring: Option<Arc<dyn Keyring>>,
        more: impl Iterator<Item = &'n str>,
    ) -> Self {
        let known = PRESETS.iter().flat_map(|preset| preset.key_variables.iter().copied());
        let variables = known.chain([OWN_KEY_VARIABLE]).chain(more).filter_map(|name| {
            let key = env(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())?;
            Some((name.to_owned(), SecretString::from(key)))
        });
        Self {
            variables: variables.collect(),
            credentials: paths.map(Paths::credentials_file),
            file: paths.map(Paths::key_file),
            keyring,
            printed: Arc::default(),
        }
    }

    /// The variables that contain keys, with their values, so that they can be masked and not inherited.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &SecretString)> {
        self.variables.iter().map(|(name, key)| (name.as_str(), key))
    }

    /// Whether a variable contains a key.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// The source of the key of an address. Runs no command.
    ///
    /// # Errors
    /// A file with keys can be read by others, or cannot be read.
    pub(super) fn source(&self, claim: &Claim<'_>) -> Result<Option<KeySource>, ConfigError> {
        let own = claim.is_own.then_some(OWN_KEY_VARIABLE);
        if let Some(name) = own.iter().chain(&claim.variables).find(|name| self.has_variable(name)) {
            return Ok(Some(KeySource::Variable((*name).to_owned())));
        }
        if let Some(path) = &self.credentials
            && let Some((host, _)) = credentials::find(path, claim.url)?
        {
            return Ok(Some(KeySource::Credentials { path: path.display().to_string(), host }));
        }
        if let (Some(keyring), Some(host)) = (&self.keyring, claim.url.host_str())
            && host::is_private(claim.url)
            && keyring.key(host)?.is_some()
        {
            return Ok(Some(KeySource::Keyring(host.to_owned())));
        }
        if let Some(command) = claim.command {
            return Ok(Some(KeySource::Command(command.to_owned())));
        }
        match self.file.as_deref().filter(|_| claim.is_own) {
            Some(path) => Ok(key_of_file(path)?.map(|_| KeySource::File(path.display().to_string()))),
            None => Ok(None),
        }
    }

    /// Where the key of an address was searched, for a message that there is none: `A is not set, and FILE has no entry
    /// ["api.example.com"]`.
    pub(super) fn places(&self, claim: &Claim<'_>) -> String {
        let variables: Vec<&str> =
            claim.is_own.then_some(OWN_KEY_VARIABLE).into_iter().chain(claim.variables.iter().copied()).collect();
        let verb = if variables.len() == 1 { "is" } else { "are" };
        let mut places = format!("{} {verb} not set", variables.join(" and "));
        let host = claim.url.host_str().unwrap_or_default();
        if let Some(path) = &self.credentials {
            places += &format!(", and {} has no entry [\"{host}\"]", path.display());
        }
        if self.keyring.is_some() {
            places += ", nor has the keyring";
        }
        places
    }

    /// The key of an address and its source. May run a command of the user, once.
    ///
    /// # Errors
    /// As [`Keys::source`], or the command fails.
    pub(super) fn find(&self, claim: &Claim<'_>) -> Result<Option<(SecretString, KeySource)>, ConfigError> {
        let Some(source) = self.source(claim)? else {
            return Ok(None);
        };
        let key = match &source {
            KeySource::Variable(name) => self.variables.get(name).cloned(),
            KeySource::Credentials { path, .. } => credentials::find(Path::new(path), claim.url)?.map(|(_, key)| key),
            KeySource::Keyring(host) => self.keyring.as_ref().map_or(Ok(None), |keyring| keyring.key(host))?,
            KeySource::Command(line) => Some(self.printed_by(line)?),
            KeySource::File(path) => key_of_file(Path::new(path))?,
        };
        Ok(key.map(|key| (key, source)))
    }

    fn printed_by(&self, line: &str) -> Result<SecretString, ConfigError> {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = printed.get(line) {
            return Ok(key.clone());
        }
        let key = command::key_printed_by(line, command::TIMEOUT)?;
        printed.insert(line.to_owned(), key.clone());
        Ok(key)
    }
}

/// The key in a file that contains only the key.
fn key_of_file(path: &Path) -> Result<Option<SecretString>, ConfigError> {
    let text = secret_file(path)?;
    let key = text.as_deref().map(str::trim).filter(|key| !key.is_empty());
    Ok(key.map(SecretString::from))
}

/// The text of a file with secrets; `None` if there is no such file.
///
/// # Errors
/// The file can be read by others than its owner, or cannot be read.
fn secret_file(path: &Path) -> Result<Option<String>, ConfigError> {
    let name = path.display().to_string();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(ConfigError::Unreadable { path: name, cause }),
    };
    if readable_by_others(&metadata) {
        return Err(ConfigError::KeyExposed { path: name });
    }
    if !metadata.is_file() {
        // Reading a pipe could block.
        let cause = std::io::Error::other("it is no plain file");
        return Err(ConfigError::Unreadable { path: name, cause });
    }
    std::fs::read_to_string(path).map(Some).map_err(|cause| ConfigError::Unreadable { path: name, cause })
}

#[cfg(unix)]
fn readable_by_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn readable_by_others(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
