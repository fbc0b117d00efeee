//! The settings of embeddings: whether passages are also searched by meaning, the model, and the consent to send texts.

use super::layers::Layers;
use super::settings::settings;
use super::{ConfigError, Settings};
use rhumb_llm::{EmbeddingsApi, Endpoint};
use serde::Deserialize;
use std::path::PathBuf;
use url::Url;

/// The default model on this machine: small, made for code, with a permissive licence.
const LOCAL_MODEL: &str = "minishlab/potion-code-16M";

/// Where vectors are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingsSource {
    /// Nowhere: the search is lexical only.
    #[default]
    Off,
    /// On this machine, by a model in a folder.
    Local,
    /// By a server.
    Remote,
}

/// Whether texts may be sent to an embedding server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consent {
    /// After the user has agreed, once for each repository and server.
    #[default]
    Ask,
    /// Without asking.
    Always,
    /// Never.
    Never,
}

settings! {
    /// The settings of embeddings.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Embeddings {
        source: EmbeddingsSource, from "embeddings";
        /// The model, if set: a folder, a name of the hub, or the name at a server.
        model: Option<String> = |layers| trimmed(layers, "embeddings_model");
        url: Option<String> = |layers| trimmed(layers, "embeddings_url");
        api: Option<EmbeddingsApi>, from "embeddings_api";
        dims: Option<usize>, from "embeddings_dims";
        consent: Consent, from "embeddings_consent";
        hub: String = |layers| trimmed(layers, "embeddings_hub").unwrap_or_default();
    }
}

/// The text of a setting without white space around it; `None` if it is blank.
fn trimmed(layers: &Layers, name: &str) -> Option<String> {
    let text: Option<String> = layers.get(name);
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

impl Embeddings {
    /// The name of the model on this machine, or of the default one.
    pub fn local_model(&self) -> &str {
        self.model.as_deref().unwrap_or(LOCAL_MODEL)
    }

    /// The folder of a model on this machine, even if it does not exist: `name` as a path, or the download folder of the model
    /// below `cache`.
    pub fn folder_of(name: &str, cache: Option<&std::path::Path>) -> Option<PathBuf> {
        if let Some((below, home)) = name.strip_prefix("~/").zip(std::env::home_dir()) {
            return Some(home.join(below));
        }
        let path = PathBuf::from(name);
        let is_path = path.is_absolute() || name.starts_with("./") || name.starts_with("../");
        if is_path {
            return Some(path);
        }
        let plain: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '.' }).collect();
        Some(cache?.join("embedding-models").join(plain.trim_matches('.')))
    }
}

impl Settings {
    /// The server of embeddings with its key; `None` if no model is named or no server is configured. May run the user's key
    /// command, which can take time.
    ///
    /// # Errors
    /// The name is ambiguous, or the key cannot be read.
    pub fn embeddings_endpoint(&self) -> Result<Option<Endpoint>, ConfigError> {
        let Some(model) = &self.embeddings.model else { return Ok(None) };
        let Some(url) = &self.embeddings.url else { return self.endpoint(model) };
        // Keys without a host, and the key command, are for the address of the chat: another machine must not receive them.
        let is_same = self.base_url.as_deref().is_some_and(|base| same_origin(base, url));
        let there = Self {
            base_url: Some(url.clone()),
            address_is_own: is_same && self.address_is_own && !self.layers.is_foreign("embeddings_url"),
            key_command: self.key_command.clone().filter(|_| is_same),
            api: None,
            ..self.clone()
        };
        there.endpoint(model)
    }
}

fn same_origin(a: &str, b: &str) -> bool {
    let origin = |text: &str| Url::parse(text.trim()).map(|url| url.origin());
    origin(a).is_ok_and(|origin_of_a| origin(b).is_ok_and(|origin_of_b| origin_of_a == origin_of_b))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_key_of_the_address_that_answers_stays_with_it() {
        let key = |url: &str| {
            let vars = [
                ("RHUMB_BASE_URL", "https://chat.example/v1"),
                ("RHUMB_API_KEY", "sk-canary"),
                ("RHUMB_EMBEDDINGS_MODEL", "m"),
                ("RHUMB_EMBEDDINGS_URL", url),
            ];
            let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let sources = crate::config::Sources { flags: Default::default(), env: &env, paths: None, dirs: None };
            Settings::load(&sources).unwrap().embeddings_endpoint().unwrap().unwrap().key.is_some()
        };
        assert!(key("https://chat.example/v2") && !key("https://vectors.example/v1"));
    }

    #[test]
    fn a_model_is_a_path_or_a_name_that_stays_below_the_cache() {
        let folder = |name| Embeddings::folder_of(name, Some(Path::new("/c"))).unwrap();
        assert_eq!(folder("/models/a"), Path::new("/models/a"));
        assert_eq!(folder("./a"), Path::new("./a"));
        assert_eq!(folder("maker/model-2M"), Path::new("/c/embedding-models/maker.model-2M"));
        assert_eq!(folder("a/../../b"), Path::new("/c/embedding-models/a.......b"));
        assert_eq!(Embeddings::folder_of("a/b", None), None);
    }
}
