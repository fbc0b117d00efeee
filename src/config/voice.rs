//! The endpoint for transcribing speech.

use rhumb_llm::Endpoint;

use super::{ConfigError, Settings};

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
