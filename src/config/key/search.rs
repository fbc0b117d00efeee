//! Available keys and possible keys, for the dialog that connects a model. No key is shown.

use secrecy::SecretString;
use url::Url;

use rhumb_session::{KeySearch, KeyedProvider, SearchedPlace};

use super::{OWN_KEY_VARIABLE, host, secret_file};
use crate::config::provider::PRESETS;
use crate::config::route::Candidate;
use crate::config::{ConfigError, Settings};
use rhumb_llm::models::Api;
use rhumb_llm::{Endpoint, KeySource};

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
        Some(self.opened(candidate, String::new(), Some(key.clone()), None))
    }

    /// Stores the key of a provider. Returns where, in words.
    ///
    /// # Errors
    /// There is no such provider, or the key cannot be stored.
    pub fn store_key(&self, provider: &str, key: &SecretString) -> Result<KeySource, ConfigError> {
        let unknown = || ConfigError::KeyNotStored { why: format!("there is no provider {provider}") };
        let keyed = self.keyed();
        let candidate = keyed.iter().find(|candidate| candidate.name == provider).ok_or_else(unknown)?;
        let url = Url::parse(candidate.base_url.trim()).map_err(|_| unknown())?;
        self.keys.store(&url, key)
    }

    /// The providers with a key. If the settings have an address, it is the only one.
    fn keyed(&self) -> Vec<Candidate<'_>> {
        if let Some(base_url) = &self.base_url {
            return vec![self.at(base_url)];
        }
        let own =
            self.providers.entries.keys().filter(|name| PRESETS.iter().all(|preset| preset.name != name.as_str()));
        let names = PRESETS.iter().map(|preset| preset.name).chain(own.map(String::as_str));
        let takes_key = |candidate: &Candidate<'_>| {
            candidate.preset.is_none_or(|preset| preset.api != Api::Ollama && !preset.key_variables.is_empty())
        };
        names.filter_map(|name| self.candidate(name)).filter(takes_key).collect()
    }

    fn keyed_provider(&self, candidate: &Candidate<'_>) -> Option<KeyedProvider> {
        let url = Url::parse(candidate.base_url.trim()).ok()?;
        let claim = self.claim(candidate, &url);
        let own = claim.is_own.then_some(OWN_KEY_VARIABLE);
        Some(KeyedProvider {
            name: candidate.name.clone(),
            host: host::entry_for(&url)?,
            variables: own.into_iter().chain(claim.variables.iter().copied()).map(str::to_owned).collect(),
            // A file that cannot be read is listed among the places.
            found: self.keys.source(&claim).unwrap_or_default(),
            default_model: candidate.preset.and_then(|preset| preset.default_model).unwrap_or_default().to_owned(),
        })
    }
}
