//! Chooses the provider of a model, and its address.
//!
//! If the settings have an address, every model is used there, by its whole name. Otherwise the name decides: the part before
//! the first `/` if it is a provider, else a provider with a key, preferably the maker of the model.

use url::Url;

use super::key::Claim;
use super::provider::{PRESETS, Preset, ProviderEntry, of_family, preset};
use super::{ConfigError, Settings};
use rhumb_llm::models::{Api, Catalog};

/// The preset whose key may also be sent to the address in OPENAI_BASE_URL.
pub(super) const OPENAI: &str = "openai";
/// The variable with its key.
pub(super) const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// A candidate: a preset, a provider of the settings, or a preset with changes in the settings.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    pub(super) name: String,
    pub(super) preset: Option<&'static Preset>,
    pub(super) entry: Option<&'a ProviderEntry>,
    /// The root of the API.
    pub(super) base_url: String,
    /// Whether the settings name this address for all models.
    pub(super) is_configured: bool,
}

impl Candidate<'_> {
    /// The API for `model`, unless a setting says otherwise.
    pub(super) fn api(&self, model: &str) -> Api {
        let preset = self.preset.map_or(Api::Chat, |preset| preset.api);
        let newer = self.name == OPENAI && self.at_home() && Catalog::bundled().find_at(OPENAI, model).responses_only;
        self.entry.and_then(|entry| entry.api).unwrap_or(if newer { Api::Responses } else { preset })
    }

    /// Whether the address is that of the preset, so that the models there belong to it.
    pub(super) fn at_home(&self) -> bool {
        self.preset.is_some_and(|preset| {
            let home = preset.base_url.and_then(|url| Url::parse(url).ok());
            home.is_some_and(|home| Url::parse(self.base_url.trim()).is_ok_and(|url| url.origin() == home.origin()))
        })
    }

    /// Whether the provider serves models of `maker`.
    fn serves_models_of(&self, maker: Option<&Preset>) -> bool {
        let own = self.preset.filter(|_| self.at_home()).map_or(&[][..], |preset| preset.families);
        own.is_empty() || maker.is_none_or(|maker| maker.name == self.name)
    }
}

impl Settings {
    /// The provider of `model` and the name of the model there; `None` if no provider is configured.
    ///
    /// # Errors
    /// The name is ambiguous, the provider has no address, or a file with keys cannot be read.
    pub(super) fn route(&self, model: &str) -> Result<Option<(Candidate<'_>, String)>, ConfigError> {
        if let Some(base_url) = &self.base_url {
            return Ok(Some((self.at(base_url), model.to_owned())));
        }
        if let Some((name, rest)) = model.split_once('/')
            && self.providers.knows(name)
        {
            let candidate = self.candidate(name).ok_or_else(|| ConfigError::BadValue {
                name: "model".into(),
                message: format!("`{name}` needs an address: base_url below [providers.{name}]"),
            })?;
            return Ok(Some((candidate, rest.to_owned())));
        }
        let at_hand = self.at_hand()?;
        if model.is_empty() {
            let catalog = self.catalog();
            let default = |candidate: &Candidate<'_>| {
                let named = format!("{}/{}", candidate.name, candidate.preset?.default_model?);
                catalog.resolve(&named).split_once('/').map(|(_, model)| model.to_owned())
            };
            let chosen = at_hand.iter().find(|candidate| default(candidate).is_some()).or(at_hand.first()).cloned();
            return Ok(chosen.map(|candidate| {
                let model = default(&candidate).unwrap_or_default();
                (candidate, model)
            }));
        }
        Ok(self.keeper(model, at_hand)?.map(|candidate| (candidate, model.to_owned())))
    }

    /// Chooses the provider for a model name without a provider.
    fn keeper<'a>(&'a self, model: &str, at_hand: Vec<Candidate<'a>>) -> Result<Option<Candidate<'a>>, ConfigError> {
        let maker = of_family(model);
        if at_hand.is_empty() {
            return Ok(None);
        }
        if let Some(maker) = at_hand.iter().find(|candidate| maker.is_some_and(|maker| maker.name == candidate.name)) {
            return Ok(Some(maker.clone()));
        }
        let mut able: Vec<_> = at_hand.into_iter().filter(|candidate| candidate.serves_models_of(maker)).collect();
        match (able.len(), maker) {
            (1, _) => Ok(able.pop()),
            // The available keys belong to makers of other models.
            (0, Some(maker)) => Ok(self.candidate(maker.name)),
            _ => {
                let names: Vec<_> = able.iter().map(|candidate| format!("{}/{model}", candidate.name)).collect();
                let message = format!("`{model}` could be asked of several: write {}", names.join(" or "));
                Err(ConfigError::BadValue { name: "model".into(), message })
            }
        }
    }

    /// The provider with a name, if it has an address.
    pub(super) fn candidate(&self, name: &str) -> Option<Candidate<'_>> {
        let (preset, entry) = (preset(name), self.providers.entries.get(name));
        let of_entry = entry.and_then(|entry| entry.base_url.clone());
        let of_preset = || preset.and_then(|preset| preset.base_url).map(str::to_owned);
        let base_url = of_entry.or_else(|| self.providers.urls.get(name).cloned()).or_else(of_preset)?;
        Some(Candidate { name: name.to_owned(), preset, entry, base_url, is_configured: false })
    }

    /// The provider at the address in the settings.
    pub(super) fn at(&self, base_url: &str) -> Candidate<'_> {
        let url = Url::parse(base_url.trim()).ok();
        let same = |other: &str| same_address(other, base_url);
        let entry = self.providers.entries.iter().find(|(_, entry)| entry.base_url.as_deref().is_some_and(same));
        let preset = url.as_ref().and_then(preset_at);
        let host = || url.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
        let name = entry.map(|(name, _)| name.clone()).or_else(|| preset.map(|preset| preset.name.to_owned()));
        Candidate {
            name: name.unwrap_or_else(host),
            preset,
            entry: entry.map(|(_, entry)| entry),
            base_url: base_url.trim().to_owned(),
            is_configured: true,
        }
    }

    /// The providers with a key, and those of the settings that need none.
    fn at_hand(&self) -> Result<Vec<Candidate<'_>>, ConfigError> {
        let own = self.providers.entries.keys().filter(|name| preset(name).is_none()).map(String::as_str);
        let mut found = Vec::new();
        for candidate in PRESETS.iter().map(|preset| preset.name).chain(own).filter_map(|name| self.candidate(name)) {
            let wants_key = |entry: &ProviderEntry| entry.key_env.is_some() || entry.key_command.is_some();
            let is_open = candidate.preset.is_none() && !candidate.entry.is_some_and(wants_key);
            let has_key = match Url::parse(&candidate.base_url) {
                Ok(url) => self.keys.source(&self.claim(&candidate, &url))?.is_some(),
                Err(_) => false,
            };
            if is_open || has_key {
                found.push(candidate);
            }
        }
        Ok(found)
    }

    /// The keys that may be sent to a provider. The variables of a preset belong to the host of the preset, or to the address
    /// that the environment has for it.
    pub(super) fn claim<'a>(&'a self, candidate: &'a Candidate<'_>, url: &'a Url) -> Claim<'a> {
        let entry = candidate.entry;
        let mut variables: Vec<&str> = entry.and_then(|entry| entry.key_env.as_deref()).into_iter().collect();
        let moved = entry.is_some_and(|entry| entry.base_url.is_some());
        if let Some(preset) = candidate.preset.filter(|_| !moved && url.scheme() == "https" || candidate.at_home()) {
            variables.extend(preset.key_variables);
        }
        if candidate.is_configured
            && self.providers.beside_key.as_deref().is_some_and(|url| same_address(url, &candidate.base_url))
        {
            variables.push(OPENAI_KEY);
        }
        let is_own = candidate.is_configured && self.address_is_own;
        let command = entry.and_then(|entry| entry.key_command.as_deref());
        let command = command.or(self.key_command.as_deref().filter(|_| is_own));
        Claim { url, is_own, variables, command }
    }
}

/// The preset with this address.
fn preset_at(url: &Url) -> Option<&'static Preset> {
    let is_there = |preset: &&Preset| {
        let home = preset.base_url.and_then(|home| Url::parse(home).ok());
        // Some providers also serve the OpenAI format, under another path.
        let as_expected = match preset.api {
            Api::Ollama => matches!(url.path().trim_end_matches('/'), "" | "/api"),
            Api::Gemini => !url.path().contains("/openai"),
            _ => true,
        };
        as_expected && home.is_some_and(|home| home.origin() == url.origin())
    };
    PRESETS.iter().find(is_there)
}

/// Whether two addresses are equal after normalization.
fn same_address(a: &str, b: &str) -> bool {
    a.trim().trim_end_matches('/') == b.trim().trim_end_matches('/')
}
