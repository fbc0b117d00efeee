//! Keys: where one is found for an address, that it goes nowhere else, and where a new one is stored. Never from a flag (which
//! `ps` shows), never from the repository.

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
pub use search::{KeySearch, KeyedProvider, SearchedPlace};

/// The key that is meant for this program, and goes to the address that the user configured.
const OWN: &str = "RHUMB_API_KEY";

/// An address that a key is looked for, and what the user bound to it.
#[derive(Debug, Clone)]
pub(super) struct Claim<'a> {
    /// The address.
    pub(super) url: &'a Url,
    /// It is the one address that the user configured, which the keys without a host are for.
    pub(super) is_own: bool,
    /// Variables whose key belongs there.
    pub(super) variables: Vec<&'a str>,
    /// A command line whose key belongs there.
    pub(super) command: Option<&'a str>,
}

/// Everywhere that keys are looked for. Its `Debug` shows none.
#[derive(Clone, Default)]
pub struct Keys {
    variables: BTreeMap<String, SecretString>,
    credentials: Option<PathBuf>,
    file: Option<PathBuf>,
    keyring: Option<Arc<dyn Keyring>>,
    /// What commands printed: each is run once at most.
    printed: Arc<Mutex<BTreeMap<String, SecretString>>>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("variables", &self.variables.keys()).finish_non_exhaustive()
    }
}

impl Keys {
    /// The places of this user. `env` looks a variable up; of those with keys the presets' own are taken, and `more`.
    pub(super) fn new<'n>(
        env: &dyn Fn(&str) -> Option<String>,
        paths: Option<&Paths>,
        keyring: Option<Arc<dyn Keyring>>,
        more: impl Iterator<Item = &'n str>,
    ) -> Self {
        let known = PRESETS.iter().flat_map(|preset| preset.key_variables.iter().copied());
        let variables = known.chain([OWN]).chain(more).filter_map(|name| {
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

    /// The variables that hold keys, with what they hold: for what must not pass them on, and must not show them.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &SecretString)> {
        self.variables.iter().map(|(name, key)| (name.as_str(), key))
    }

    /// Whether a variable holds a key.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// Where the key of an address would come from. Runs nothing; the keyring is asked last but for the user's commands.
    ///
    /// # Errors
    /// A file with keys can be read by others, or not at all.
    pub(super) fn source(&self, claim: &Claim<'_>) -> Result<Option<KeySource>, ConfigError> {
        let own = claim.is_own.then_some(OWN);
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

    /// Where the key of an address is looked for, for a message that there is none: `A is not set, and FILE has no entry
    /// ["api.example.com"]`.
    pub(super) fn places(&self, claim: &Claim<'_>) -> String {
        let variables: Vec<&str> =
            claim.is_own.then_some(OWN).into_iter().chain(claim.variables.iter().copied()).collect();
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

    /// The key of an address, if there is one, and where it came from. May run a command of the user, once.
    ///
    /// # Errors
    /// As [`Keys::source`], or the command failed.
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
        let key = command::key_printed_by(line, command::PATIENCE)?;
        printed.insert(line.to_owned(), key.clone());
        Ok(key)
    }
}

/// The key in a file that holds nothing else.
fn key_of_file(path: &Path) -> Result<Option<SecretString>, ConfigError> {
    let text = secret_file(path)?;
    let key = text.as_deref().map(str::trim).filter(|key| !key.is_empty());
    Ok(key.map(SecretString::from))
}

/// The text of a file with secrets; `None` when there is no such file.
///
/// # Errors
/// Others than its owner could read it, or nobody can.
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
        // A pipe would be waited for without an end.
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
