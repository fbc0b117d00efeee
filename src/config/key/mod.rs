//! API keys: where the key of an address is found, that it is sent nowhere else, and where a new key is stored. Keys are never
//! read from flags, which `ps` shows, and never from the repository.

mod command;
mod credentials;

use super::endpoint::ProviderCandidate;
use super::provider::PRESETS;
use super::{ConfigError, Paths, Settings};
pub use credentials::{Keyring, keyring_of_system};
use rhumb_llm::models::Api;
use rhumb_llm::{Endpoint, KeySource};
use rhumb_session::{KeySearch, KeyedProvider, SearchedPlace};
use secrecy::{ExposeSecret as _, SecretString};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// Maximum length of a key, in bytes. A longer text was pasted by mistake.
const MAX_KEY_BYTES: usize = 4096;

/// The variable with the key of the configured address.
const OWN_KEY_VARIABLE: &str = "RHUMB_API_KEY";

/// An address that needs a key, and the sources that the user bound to it.
#[derive(Debug, Clone)]
pub(super) struct KeyLookup<'a> {
    pub(super) url: &'a Url,
    /// Whether the user configured this address, so that keys without a host may be sent there.
    pub(super) is_own: bool,
    pub(super) variables: Vec<&'a str>,
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

    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// The source of the key of an address. Runs no command.
    ///
    /// # Errors
    /// A file with keys can be read by others, or cannot be read.
    pub(super) fn source(&self, lookup: &KeyLookup<'_>) -> Result<Option<KeySource>, ConfigError> {
        let own = lookup.is_own.then_some(OWN_KEY_VARIABLE);
        if let Some(name) = own.iter().chain(&lookup.variables).find(|name| self.has_variable(name)) {
            return Ok(Some(KeySource::Variable((*name).to_owned())));
        }
        if let Some(path) = &self.credentials
            && let Some((host, _)) = credentials::find(path, lookup.url)?
        {
            return Ok(Some(KeySource::Credentials { path: path.display().to_string(), host }));
        }
        if let (Some(keyring), Some(host)) = (&self.keyring, lookup.url.host_str())
            && credentials::is_private(lookup.url)
            && keyring.key(host)?.is_some()
        {
            return Ok(Some(KeySource::Keyring(host.to_owned())));
        }
        if let Some(command) = lookup.command {
            return Ok(Some(KeySource::Command(command.to_owned())));
        }
        match self.file.as_deref().filter(|_| lookup.is_own) {
            Some(path) => Ok(key_of_file(path)?.map(|_| KeySource::File(path.display().to_string()))),
            None => Ok(None),
        }
    }

    /// Where the key of an address was searched, for a message about a missing key: `A is not set, and FILE has no entry
    /// ["api.example.com"]`.
    pub(super) fn searched_places(&self, lookup: &KeyLookup<'_>) -> String {
        let variables: Vec<&str> =
            lookup.is_own.then_some(OWN_KEY_VARIABLE).into_iter().chain(lookup.variables.iter().copied()).collect();
        let verb = if variables.len() == 1 { "is" } else { "are" };
        let mut places = format!("{} {verb} not set", variables.join(" and "));
        let host = lookup.url.host_str().unwrap_or_default();
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
    pub(super) fn find(&self, lookup: &KeyLookup<'_>) -> Result<Option<(SecretString, KeySource)>, ConfigError> {
        let Some(source) = self.source(lookup)? else { return Ok(None) };
        let key = match &source {
            KeySource::Variable(name) => self.variables.get(name).cloned(),
            KeySource::Credentials { path, .. } => credentials::find(Path::new(path), lookup.url)?.map(|(_, key)| key),
            KeySource::Keyring(host) => self.keyring.as_ref().map_or(Ok(None), |keyring| keyring.key(host))?,
            KeySource::Command(line) => Some(self.printed_by(line)?),
            KeySource::File(path) => key_of_file(Path::new(path))?,
        };
        Ok(key.map(|key| (key, source)))
    }

    /// Stores the key of an address and returns where. A key in the credentials file is replaced there, because that file is
    /// read before the keyring.
    ///
    /// # Errors
    /// The text is not a valid key, or it cannot be stored. Error messages never quote it.
    fn store(&self, url: &Url, key: &SecretString) -> Result<KeySource, ConfigError> {
        let failed = |why: &str| ConfigError::KeyNotStored(why.to_owned());
        let entry = credentials::entry_for(url).ok_or_else(|| failed("the address has no host"))?;
        let text = key.expose_secret();
        if text.is_empty() || text.len() > MAX_KEY_BYTES || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(failed("a key is one word without spaces"));
        }
        let in_file = self.credentials.as_deref().map(|path| credentials::find(path, url)).transpose()?.flatten();
        if let (Some(keyring), Some(host), None) = (&self.keyring, url.host_str(), &in_file)
            && credentials::is_private(url)
            && keyring.store(host, key)?
        {
            return Ok(KeySource::Keyring(host.to_owned()));
        }
        let path =
            self.credentials.as_deref().ok_or_else(|| failed("there is no home folder for the credentials file"))?;
        credentials::write_key(path, url, &entry, key)?;
        let host = in_file.map_or(entry, |(host, _)| host);
        Ok(KeySource::Credentials { path: path.display().to_string(), host })
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

impl Settings {
    /// Searches for keys without running a command or reading a key.
    pub fn key_search(&self) -> KeySearch {
        let providers = self.keyed().iter().filter_map(|candidate| self.keyed_provider(candidate)).collect();
        let files = [&self.keys.credentials, &self.keys.file];
        let mut places: Vec<SearchedPlace> = files
            .into_iter()
            .flatten()
            .map(|path| {
                let state = match secret_file(path) {
                    Ok(None) => "not there".to_owned(),
                    Ok(Some(_)) => "there".to_owned(),
                    Err(error) => error.to_string(),
                };
                SearchedPlace { name: path.display().to_string(), state }
            })
            .collect();
        let keyring = if self.keys.keyring.is_some() { "searched" } else { "not part of this build" };
        places.push(SearchedPlace { name: "keyring".to_owned(), state: keyring.to_owned() });
        let file = self.keys.credentials.as_deref().map(|path| format!("{} (mode 0600)", path.display()));
        let storage = match (&self.keys.keyring, file) {
            (Some(_), _) => "the system's keyring".to_owned(),
            (None, Some(file)) => file,
            (None, None) => "no place: there is no home folder".to_owned(),
        };
        KeySearch { providers, places, storage }
    }

    /// The endpoint of a provider with this key, for checking the key; `None` if there is no such provider.
    pub fn endpoint_with_key(&self, provider: &str, key: &SecretString) -> Option<Endpoint> {
        let keyed = self.keyed();
        let candidate = keyed.iter().find(|candidate| candidate.name == provider)?;
        Some(self.endpoint_of(candidate, String::new(), Some(key.clone()), None))
    }

    /// Stores the key of a provider. Returns where, in words.
    ///
    /// # Errors
    /// There is no such provider, or the key cannot be stored.
    pub fn store_key(&self, provider: &str, key: &SecretString) -> Result<KeySource, ConfigError> {
        let unknown = || ConfigError::KeyNotStored(format!("there is no provider {provider}"));
        let keyed = self.keyed();
        let candidate = keyed.iter().find(|candidate| candidate.name == provider).ok_or_else(unknown)?;
        let url = Url::parse(candidate.base_url.trim()).map_err(|_| unknown())?;
        self.keys.store(&url, key)
    }

    /// The providers with a key. If the settings have an address, it is the only one.
    fn keyed(&self) -> Vec<ProviderCandidate<'_>> {
        if let Some(base_url) = &self.base_url {
            return vec![self.at(base_url)];
        }
        let own =
            self.providers.entries.keys().filter(|name| PRESETS.iter().all(|preset| preset.name != name.as_str()));
        let names = PRESETS.iter().map(|preset| preset.name).chain(own.map(String::as_str));
        let takes_key = |candidate: &ProviderCandidate<'_>| {
            candidate.preset.is_none_or(|preset| preset.api != Api::Ollama && !preset.key_variables.is_empty())
        };
        names.filter_map(|name| self.candidate(name)).filter(takes_key).collect()
    }

    fn keyed_provider(&self, candidate: &ProviderCandidate<'_>) -> Option<KeyedProvider> {
        let url = Url::parse(candidate.base_url.trim()).ok()?;
        let lookup = self.key_lookup(candidate, &url);
        let own = lookup.is_own.then_some(OWN_KEY_VARIABLE);
        Some(KeyedProvider {
            name: candidate.name.clone(),
            host: credentials::entry_for(&url)?,
            variables: own.into_iter().chain(lookup.variables.iter().copied()).map(str::to_owned).collect(),
            // A file that cannot be read is listed among the places.
            found: self.keys.source(&lookup).unwrap_or_default(),
            default_model: candidate.preset.and_then(|preset| preset.default_model).unwrap_or_default().to_owned(),
        })
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
        return Err(ConfigError::KeyExposed(name));
    }
    if !metadata.is_file() {
        // Reading a pipe could block.
        let cause = std::io::Error::other("it is not a regular file");
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
