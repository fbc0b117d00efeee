//! The endpoint of a model: its provider, address, API and key; and the endpoint for transcribing speech.
//!
//! If the settings have an address, every model is used there, by its whole name. Otherwise the name decides: the part before
//! the first `/` if it is a provider, else a provider with a key, preferably the maker of the model.

use super::key::KeyLookup;
use super::provider::{PRESETS, Preset, ProviderEntry, of_family, preset};
use super::{ConfigError, Settings};
use rhumb_llm::models::{Api, Catalog};
use rhumb_llm::{Endpoint, KeySource};
use secrecy::SecretString;
use url::Url;

/// The provider that serves models of most makers, …
const ROUTER: &str = "openrouter";
const ROUTER_KEY: &str = "OPENROUTER_API_KEY";

/// A key with its source, which may be known without the key.
type FoundKey = Result<(Option<SecretString>, Option<KeySource>), ConfigError>;

impl Settings {
    /// The endpoint of `model` (empty for the default model); `None` if no provider is configured. May run the key command of
    /// the user, which can take time.
    ///
    /// # Errors
    /// The name is ambiguous, or the key cannot be read.
    pub fn endpoint(&self, model: &str) -> Result<Option<Endpoint>, ConfigError> {
        self.endpoint_with(model, |lookup| Ok(self.keys.find(lookup)?.unzip()))
    }

    /// The endpoint of `model` with the source of its key instead of the key. Runs no command and reads no key.
    ///
    /// # Errors
    /// As [`Settings::endpoint`].
    pub fn endpoint_without_key(&self, model: &str) -> Result<Option<Endpoint>, ConfigError> {
        self.endpoint_with(model, |lookup| Ok((None, self.keys.source(lookup)?)))
    }

    fn endpoint_with(
        &self,
        model: &str,
        find: impl FnOnce(&KeyLookup<'_>) -> FoundKey,
    ) -> Result<Option<Endpoint>, ConfigError> {
        let Some((candidate, model)) = self.route(&self.model_named(model))? else { return Ok(None) };
        // A malformed address gets no key. The error is reported when it is used.
        let (key, key_source) = match Url::parse(candidate.base_url.trim()) {
            Ok(url) => find(&self.key_lookup(&candidate, &url))?,
            Err(_) => (None, None),
        };
        Ok(Some(self.endpoint_of(&candidate, model, key, key_source)))
    }

    pub(super) fn endpoint_of(
        &self,
        candidate: &ProviderCandidate<'_>,
        model: String,
        key: Option<SecretString>,
        key_source: Option<KeySource>,
    ) -> Endpoint {
        let entry = candidate.entry.cloned().unwrap_or_default();
        Endpoint {
            api: self.api.unwrap_or_else(|| candidate.api(&model)),
            base_url: candidate.base_url.clone(),
            provider: candidate.name.clone(),
            missing_key: if key.is_none() && key_source.is_none() { self.missing_key_at(candidate) } else { None },
            key,
            key_source,
            headers: entry.headers.into_iter().collect(),
            extra: entry.params,
            send_secrets: self.send_secrets,
            model,
        }
    }

    /// Where a key for this provider was searched, in words; `None` if the server may work without a key.
    fn missing_key_at(&self, candidate: &ProviderCandidate<'_>) -> Option<String> {
        let preset = candidate.preset.filter(|preset| preset.api != Api::Ollama && !preset.key_variables.is_empty())?;
        let url = Url::parse(candidate.base_url.trim()).ok()?;
        // Another address may be a proxy or a local server, which may need no key.
        let is_makers = candidate.has_preset_address() || url.host_str()?.ends_with(".azure.com");
        // A header of the settings may contain the key.
        let has_header = |entry: &ProviderEntry| entry.headers.values().any(|value| !value.trim().is_empty());
        if !is_makers || candidate.entry.is_some_and(has_header) {
            return None;
        }
        let looked = self.keys.searched_places(&self.key_lookup(candidate, &url));
        let has_router = self.keys.has_variable(ROUTER_KEY) && preset.name != ROUTER;
        Some(if has_router {
            format!("{looked}; {ROUTER_KEY} is set, so {ROUTER}/{}/… works", preset.name)
        } else {
            looked
        })
    }

    /// Notes about an endpoint, each with a hint: the default model, a missing key, or a key that is not sent. `named` is the
    /// requested model.
    pub fn notes_on(&self, named: &str, endpoint: &Endpoint) -> Vec<(String, String)> {
        let mut notes = Vec::new();
        if named.is_empty() && !endpoint.model.is_empty() {
            let Endpoint { provider, model, .. } = endpoint;
            notes.push((
                format!("No model is named, so {provider} is asked for {model}."),
                format!("Name one with --model, RHUMB_MODEL or in rhumb.toml: model = \"{provider}/…\"."),
            ));
        }
        if endpoint.key.is_none() {
            notes.extend(self.missing_key(endpoint));
        }
        notes
    }

    /// The maker of a model, by the name of the model, if it is a provider with a key.
    pub fn maker_of(&self, model: &str) -> Option<String> {
        let named = self.catalog().resolve(&self.model_named(model));
        let maker = named.split_once('/').and_then(|(maker, _)| preset(maker)).or_else(|| of_family(&named))?;
        (!maker.key_variables.is_empty()).then(|| maker.name.to_owned())
    }

    /// The missing key of a model while no provider is configured, as a sentence without full stop: `gpt-5 needs
    /// OPENAI_API_KEY, which is not set`. `None` if the maker is unknown.
    pub fn lacking(&self, model: &str) -> Option<String> {
        let meant = self.model_named(model);
        let named = self.catalog().resolve(&meant);
        let maker = named.split_once('/').and_then(|(maker, _)| preset(maker));
        let variable = maker.or_else(|| of_family(&named))?.key_variables.first()?;
        (!self.keys.has_variable(variable)).then(|| format!("{model} needs {variable}, which is not set"))
    }

    fn missing_key(&self, endpoint: &Endpoint) -> Option<(String, String)> {
        if self.base_url.is_some() {
            return self.keys.has_variable(OPENAI_KEY).then(|| {
                (
                    format!(
                        "No key is sent: {OPENAI_KEY} belongs to api.openai.com or the address in OPENAI_BASE_URL, not to this one."
                    ),
                    "If this server needs a key, put it into RHUMB_API_KEY.".to_owned(),
                )
            });
        }
        let preset = preset(&endpoint.provider).filter(|preset| preset.api != Api::Ollama)?;
        let variable = preset.key_variables.first()?;
        let host = Url::parse(&endpoint.base_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        if self.keys.has_variable(variable) {
            // The address of the provider was changed, so its key is not sent there.
            return Some((
                format!("No key is sent: {variable} belongs to {}'s own address, not to this one.", endpoint.provider),
                format!(
                    "If this server needs a key, say key_env = \"VARIABLE\" below [providers.{}] in rhumb.toml, or put it \
                     below [\"{}\"] into credentials.toml.",
                    endpoint.provider,
                    host.unwrap_or_default()
                ),
            ));
        }
        Some((
            format!("There is no key for {}.", endpoint.provider),
            if self.keys.has_variable(ROUTER_KEY) && endpoint.provider != ROUTER {
                let maker = &endpoint.provider;
                format!("Set {variable}; or ask OpenRouter, whose key is there: {ROUTER}/{maker}/… by its own name.")
            } else {
                format!("Set {variable}, or put it below [\"{}\"] into credentials.toml.", host.unwrap_or_default())
            },
        ))
    }
}

/// The default models, used if a key for them is available.
const DEFAULT_MODELS: [&str; 2] = ["openai/whisper-1", "groq/whisper-large-v3-turbo"];

impl Settings {
    /// The endpoint for transcribing speech: `voice_model`, else the first default model with a key; `None` without either.
    /// Keys follow the same rules as for the chat. A provider in the name is used even if the settings have one address for the
    /// chat. May run the key command of the user.
    ///
    /// # Errors
    /// As [`Settings::endpoint`].
    pub fn voice_endpoint(&self) -> Result<Option<Endpoint>, ConfigError> {
        if let Some(name) = self.voice_model.as_deref() {
            return self.for_model(name).endpoint(name);
        }
        for name in DEFAULT_MODELS {
            let apart = self.for_model(name);
            if apart.endpoint_without_key(name)?.is_some_and(|endpoint| endpoint.key_source.is_some()) {
                return apart.endpoint(name);
            }
        }
        Ok(None)
    }

    /// The settings for a model name that may include its provider.
    fn for_model(&self, name: &str) -> Self {
        let says = name.split_once('/').is_some_and(|(provider, _)| self.providers.knows(provider));
        let mut settings = self.clone();
        if says {
            (settings.base_url, settings.api) = (None, None);
        }
        settings
    }
}

/// The preset whose key may also be sent to the address in OPENAI_BASE_URL.
pub(super) const OPENAI: &str = "openai";
pub(super) const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// A candidate: a preset, a provider of the settings, or a preset with changes in the settings.
#[derive(Debug, Clone)]
pub(super) struct ProviderCandidate<'a> {
    pub(super) name: String,
    pub(super) preset: Option<&'static Preset>,
    pub(super) entry: Option<&'a ProviderEntry>,
    /// The root of the API.
    pub(super) base_url: String,
    /// Whether the settings name this address for all models.
    pub(super) is_configured: bool,
}

impl ProviderCandidate<'_> {
    /// The API for `model`, unless a setting overrides it.
    pub(super) fn api(&self, model: &str) -> Api {
        let preset = self.preset.map_or(Api::Chat, |preset| preset.api);
        let newer = self.name == OPENAI
            && self.has_preset_address()
            && Catalog::bundled().find_at(OPENAI, model).responses_only;
        self.entry.and_then(|entry| entry.api).unwrap_or(if newer { Api::Responses } else { preset })
    }

    /// Whether the address is that of the preset, so that the models there belong to it.
    pub(super) fn has_preset_address(&self) -> bool {
        self.preset.is_some_and(|preset| {
            let home = preset.base_url.and_then(|url| Url::parse(url).ok());
            home.is_some_and(|home| Url::parse(self.base_url.trim()).is_ok_and(|url| url.origin() == home.origin()))
        })
    }

    fn serves_models_of(&self, maker: Option<&Preset>) -> bool {
        let own = self.preset.filter(|_| self.has_preset_address()).map_or(&[][..], |preset| preset.families);
        own.is_empty() || maker.is_none_or(|maker| maker.name == self.name)
    }
}

impl Settings {
    /// The provider of `model` and the name of the model there; `None` if no provider is configured.
    ///
    /// # Errors
    /// The name is ambiguous, the provider has no address, or a file with keys cannot be read.
    pub(super) fn route(&self, model: &str) -> Result<Option<(ProviderCandidate<'_>, String)>, ConfigError> {
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
        let available = self.available()?;
        if model.is_empty() {
            let catalog = self.catalog();
            let default = |candidate: &ProviderCandidate<'_>| {
                let named = format!("{}/{}", candidate.name, candidate.preset?.default_model?);
                catalog.resolve(&named).split_once('/').map(|(_, model)| model.to_owned())
            };
            let chosen = available.iter().find(|candidate| default(candidate).is_some()).or(available.first()).cloned();
            return Ok(chosen.map(|candidate| {
                let model = default(&candidate).unwrap_or_default();
                (candidate, model)
            }));
        }
        Ok(self.provider_of(model, available)?.map(|candidate| (candidate, model.to_owned())))
    }

    /// Chooses the provider for a model name without a provider.
    fn provider_of<'a>(
        &'a self,
        model: &str,
        available: Vec<ProviderCandidate<'a>>,
    ) -> Result<Option<ProviderCandidate<'a>>, ConfigError> {
        let maker = of_family(model);
        if available.is_empty() {
            return Ok(None);
        }
        if let Some(maker) = available.iter().find(|candidate| maker.is_some_and(|maker| maker.name == candidate.name))
        {
            return Ok(Some(maker.clone()));
        }
        let mut able: Vec<_> = available.into_iter().filter(|candidate| candidate.serves_models_of(maker)).collect();
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

    pub(super) fn candidate(&self, name: &str) -> Option<ProviderCandidate<'_>> {
        let (preset, entry) = (preset(name), self.providers.entries.get(name));
        let of_entry = entry.and_then(|entry| entry.base_url.clone());
        let of_preset = || preset.and_then(|preset| preset.base_url).map(str::to_owned);
        let base_url = of_entry.or_else(|| self.providers.urls.get(name).cloned()).or_else(of_preset)?;
        Some(ProviderCandidate { name: name.to_owned(), preset, entry, base_url, is_configured: false })
    }

    pub(super) fn at(&self, base_url: &str) -> ProviderCandidate<'_> {
        let url = Url::parse(base_url.trim()).ok();
        let same = |other: &str| same_address(other, base_url);
        let entry = self.providers.entries.iter().find(|(_, entry)| entry.base_url.as_deref().is_some_and(same));
        let preset = url.as_ref().and_then(preset_at);
        let host = || url.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
        let name = entry.map(|(name, _)| name.clone()).or_else(|| preset.map(|preset| preset.name.to_owned()));
        ProviderCandidate {
            name: name.unwrap_or_else(host),
            preset,
            entry: entry.map(|(_, entry)| entry),
            base_url: base_url.trim().to_owned(),
            is_configured: true,
        }
    }

    /// The providers with a key, and those of the settings that need none.
    fn available(&self) -> Result<Vec<ProviderCandidate<'_>>, ConfigError> {
        let own = self.providers.entries.keys().filter(|name| preset(name).is_none()).map(String::as_str);
        let mut found = Vec::new();
        for candidate in PRESETS.iter().map(|preset| preset.name).chain(own).filter_map(|name| self.candidate(name)) {
            let wants_key = |entry: &ProviderEntry| entry.key_env.is_some() || entry.key_command.is_some();
            let is_open = candidate.preset.is_none() && !candidate.entry.is_some_and(wants_key);
            let has_key = match Url::parse(&candidate.base_url) {
                Ok(url) => self.keys.source(&self.key_lookup(&candidate, &url))?.is_some(),
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
    pub(super) fn key_lookup<'a>(&'a self, candidate: &'a ProviderCandidate<'_>, url: &'a Url) -> KeyLookup<'a> {
        let entry = candidate.entry;
        let mut variables: Vec<&str> = entry.and_then(|entry| entry.key_env.as_deref()).into_iter().collect();
        let moved = entry.is_some_and(|entry| entry.base_url.is_some());
        if let Some(preset) =
            candidate.preset.filter(|_| !moved && url.scheme() == "https" || candidate.has_preset_address())
        {
            variables.extend(preset.key_variables);
        }
        if candidate.is_configured
            && self.providers.openai_base_url.as_deref().is_some_and(|url| same_address(url, &candidate.base_url))
        {
            variables.push(OPENAI_KEY);
        }
        let is_own = candidate.is_configured && self.address_is_own;
        let command = entry.and_then(|entry| entry.key_command.as_deref());
        let command = command.or(self.key_command.as_deref().filter(|_| is_own));
        KeyLookup { url, is_own, variables, command }
    }
}

fn preset_at(url: &Url) -> Option<&'static Preset> {
    let is_present = |preset: &&Preset| {
        let home = preset.base_url.and_then(|home| Url::parse(home).ok());
        // Some providers also serve the OpenAI format, under another path.
        let as_expected = match preset.api {
            Api::Ollama => matches!(url.path().trim_end_matches('/'), "" | "/api"),
            Api::Gemini => !url.path().contains("/openai"),
            _ => true,
        };
        as_expected && home.is_some_and(|home| home.origin() == url.origin())
    };
    PRESETS.iter().find(is_present)
}

/// Whether two addresses are equal after normalization.
fn same_address(a: &str, b: &str) -> bool {
    a.trim().trim_end_matches('/') == b.trim().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Sources};

    fn endpoint(vars: &[(&str, &str)], voice_model: Option<&str>) -> Option<Endpoint> {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let sources = Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None };
        let settings = Settings { voice_model: voice_model.map(str::to_owned), ..Settings::load(&sources).unwrap() };
        settings.voice_endpoint().unwrap()
    }

    #[test]
    fn the_provider_in_the_name_is_asked_with_its_own_key() {
        let vars = [("OPENAI_API_KEY", "k"), ("RHUMB_BASE_URL", "http://10.0.0.7/v1"), ("RHUMB_API_KEY", "own")];
        let found = endpoint(&vars, Some("openai/whisper-1")).unwrap();
        assert_eq!((found.base_url.as_str(), found.model.as_str()), ("https://api.openai.com/v1", "whisper-1"));
        assert!(matches!(found.key_source, Some(rhumb_llm::KeySource::Variable(name)) if name == "OPENAI_API_KEY"));
        let found = endpoint(&vars, Some("my-whisper")).unwrap();
        assert_eq!((found.base_url.as_str(), found.model.as_str()), ("http://10.0.0.7/v1", "my-whisper"));
    }

    #[test]
    fn without_a_name_the_usual_one_is_asked_if_there_is_a_key() {
        assert_eq!(endpoint(&[("GROQ_API_KEY", "k")], None).unwrap().model, "whisper-large-v3-turbo");
        assert_eq!(endpoint(&[("GROQ_API_KEY", "k"), ("OPENAI_API_KEY", "k")], None).unwrap().model, "whisper-1");
        assert!(endpoint(&[("ANTHROPIC_API_KEY", "k")], None).is_none());
    }
}
