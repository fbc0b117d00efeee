//! The endpoint of a model: its address, API and key; and the endpoint for transcribing speech.

use super::provider::{ProviderEntry, of_family, preset};
use super::route::{Candidate, OPENAI_KEY};
use super::{ConfigError, Settings};
use rhumb_llm::models::Api;
use rhumb_llm::{Endpoint, KeySource};
use secrecy::SecretString;
use url::Url;

/// The provider that serves models of most makers, …
const ROUTER: &str = "openrouter";
/// … and its key.
const ROUTER_KEY: &str = "OPENROUTER_API_KEY";

impl Settings {
    /// The endpoint of `model` (empty for the default model); `None` if no provider is configured. May run the key command of
    /// the user, which can take time.
    ///
    /// # Errors
    /// The name is ambiguous, or the key cannot be read.
    pub fn endpoint(&self, model: &str) -> Result<Option<Endpoint>, ConfigError> {
        let Some((candidate, model)) = self.route(&self.model_named(model))? else {
            return Ok(None);
        };
        // A malformed address gets no key. The error is reported when it is used.
        let url = Url::parse(candidate.base_url.trim()).ok();
        let found = url.as_ref().map_or(Ok(None), |url| self.keys.find(&self.claim(&candidate, url)))?;
        let (key, key_source) = found.unzip();
        Ok(Some(self.opened(&candidate, model, key, key_source)))
    }

    /// The endpoint of `model` with the source of its key instead of the key. Runs no command and reads no key.
    ///
    /// # Errors
    /// As [`Settings::endpoint`].
    pub fn endpoint_without_key(&self, model: &str) -> Result<Option<Endpoint>, ConfigError> {
        let Some((candidate, model)) = self.route(&self.model_named(model))? else {
            return Ok(None);
        };
        let url = Url::parse(candidate.base_url.trim()).ok();
        let key_source = url.as_ref().map_or(Ok(None), |url| self.keys.source(&self.claim(&candidate, url)))?;
        Ok(Some(self.opened(&candidate, model, None, key_source)))
    }

    pub(super) fn opened(
        &self,
        candidate: &Candidate<'_>,
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
    fn missing_key_at(&self, candidate: &Candidate<'_>) -> Option<String> {
        let preset = candidate.preset.filter(|preset| preset.api != Api::Ollama && !preset.key_variables.is_empty())?;
        let url = Url::parse(candidate.base_url.trim()).ok()?;
        // Another address may be a proxy or a local server, which may need no key.
        let is_makers = candidate.at_home() || url.host_str()?.ends_with(".azure.com");
        // A header of the settings may contain the key.
        let has_header = |entry: &ProviderEntry| entry.headers.values().any(|value| !value.trim().is_empty());
        if !is_makers || candidate.entry.is_some_and(has_header) {
            return None;
        }
        let looked = self.keys.places(&self.claim(candidate, &url));
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

    /// What is missing for a model while no provider is configured, as a sentence without full stop: `gpt-5 needs
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
            return self.asked_of(name).endpoint(name);
        }
        for name in DEFAULT_MODELS {
            let apart = self.asked_of(name);
            if apart.endpoint_without_key(name)?.is_some_and(|endpoint| endpoint.key_source.is_some()) {
                return apart.endpoint(name);
            }
        }
        Ok(None)
    }

    /// The settings for a model name that may include its provider.
    fn asked_of(&self, name: &str) -> Self {
        let says = name.split_once('/').is_some_and(|(provider, _)| self.providers.knows(provider));
        let mut settings = self.clone();
        if says {
            (settings.base_url, settings.api) = (None, None);
        }
        settings
    }
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
