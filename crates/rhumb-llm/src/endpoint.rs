//! The server of a model: its address, its wire format, and the key that belongs to it.

use std::fmt;

use secrecy::SecretString;
use serde_json::{Map, Value};
use url::Url;

use crate::models::Api;

/// The server of one model.
/// Its `Debug` shows no key, and of the headers their names.
#[derive(Clone)]
pub struct Endpoint {
    /// The provider's name, for the screen.
    pub provider: String,
    /// What it speaks.
    pub api: Api,
    /// Root of its API.
    pub base_url: String,
    /// The key that belongs to the host of `base_url`, never shown.
    pub key: Option<SecretString>,
    /// Where the key came from.
    pub key_source: Option<KeySource>,
    /// Where a key was looked for, in words, if there is none and the provider answers no request without one.
    pub missing_key: Option<String>,
    /// Headers that the user wants sent along.
    pub headers: Vec<(String, String)>,
    /// Fields that the user wants in the body of each request.
    pub extra: Map<String, Value>,
    /// Whether keys that stand in a text are sent as they are. Else masks stand in their place.
    pub send_secrets: bool,
    /// The model's id as the server knows it; empty until one is named.
    pub model: String,
}

impl Endpoint {
    /// A server that needs no key.
    pub fn without_key(api: Api, base_url: &str, model: &str) -> Self {
        Self {
            provider: String::new(),
            api,
            base_url: base_url.to_owned(),
            key: None,
            key_source: None,
            missing_key: None,
            headers: Vec::new(),
            extra: Map::new(),
            send_secrets: false,
            model: model.to_owned(),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("api", &self.api)
            .field("base_url", &shown_url(&self.base_url))
            .field("key_source", &self.key_source)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Where a key came from; safe to show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeySource {
    /// This environment variable.
    Variable(String),
    /// The entry of this host in the credentials file.
    Credentials {
        /// The file.
        path: String,
        /// The entry's name.
        host: String,
    },
    /// The entry of this host in the system's keyring.
    Keyring(String),
    /// What this command line of the user prints.
    Command(String),
    /// This file, which holds nothing else.
    File(String),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::Credentials { path, host } => write!(f, "{path}, entry {host}"),
            Self::Keyring(host) => write!(f, "the keyring, entry {host}"),
            Self::Command(line) => write!(f, "the command {line}"),
            Self::File(path) => f.write_str(path),
        }
    }
}

/// What a server of embeddings speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingsApi {
    /// `/embeddings` as OpenAI and most others have it.
    OpenAi,
    /// `/api/embed` of Ollama.
    Ollama,
    /// `/embeddings` of Voyage, which wants to know what a text is for.
    Voyage,
}

/// An address without what may be secret in it: the name and password before the host, and the query.
pub fn shown_url(url: &str) -> String {
    let Some(mut clean) = Url::parse(url.trim()).ok().filter(Url::has_host) else {
        // Whatever stands before an @ may be a password, even where the rest is no address.
        return url.rsplit('@').next().unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    };
    if clean.username().is_empty() && clean.password().is_none() && clean.query().is_none() {
        return url.trim().to_owned();
    }
    clean.set_query(None);
    // Both fail only for addresses without a host.
    clean.set_username("").ok();
    clean.set_password(None).ok();
    clean.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        assert_eq!(shown_url("https://u:canary@h.example/v1?key=canary"), "https://h.example/v1");
        assert_eq!(shown_url("u:canary@h/v1?k=canary"), "h/v1");
        assert_eq!(shown_url("http://127.0.0.1:1/v1"), "http://127.0.0.1:1/v1");
    }
}
