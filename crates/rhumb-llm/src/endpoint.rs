//! The server of a model: its address, its wire format, and the key that belongs to it.

use super::error::LlmError;
use super::sanitize::sanitize;
use crate::models::Api;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::fmt;
use std::net::IpAddr;
use url::{Host, Url};

/// The server of one model. `Debug` shows no key, and only the names of the headers.
#[derive(Clone)]
pub struct Endpoint {
    /// Name of the provider, for display.
    pub provider: String,
    /// Wire format.
    pub api: Api,
    /// Base URL of the API.
    pub base_url: String,
    /// Key for the host of `base_url`.
    pub key: Option<SecretString>,
    /// Where the key was found.
    pub key_source: Option<KeySource>,
    /// Where a key was looked for, if there is none and the provider requires one.
    pub missing_key: Option<String>,
    /// Additional headers.
    pub headers: Vec<(String, String)>,
    /// Additional fields in the body of each request.
    pub extra: Map<String, Value>,
    /// Whether secrets in the text of a request are sent as they are. Otherwise they are replaced by placeholders.
    pub send_secrets: bool,
    /// Id of the model on the server. Empty until a model is chosen.
    pub model: String,
}

impl Endpoint {
    /// Creates an endpoint without a key.
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
            .field("base_url", &redacted_url(&self.base_url))
            .field("key_source", &self.key_source)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Where a key was found. Contains no secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeySource {
    /// An environment variable.
    Variable(String),
    /// The entry of a host in the credentials file.
    Credentials {
        /// The file.
        path: String,
        /// Name of the entry.
        host: String,
    },
    /// The entry of a host in the system's keyring.
    Keyring(String),
    /// The output of a command line.
    Command(String),
    /// A file that contains only the key.
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

/// The API of an embeddings server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingsApi {
    /// `/embeddings` of OpenAI and compatible servers.
    OpenAi,
    /// `/api/embed` of Ollama.
    Ollama,
    /// `/embeddings` of Voyage, which has a parameter for the purpose of a text.
    Voyage,
}

/// Removes user name, password and query from a URL.
pub fn redacted_url(url: &str) -> String {
    let Some(mut clean) = Url::parse(url.trim()).ok().filter(Url::has_host) else {
        // Even if the text is not a URL, the part before an `@` may be a password.
        return url.rsplit('@').next().unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    };
    if clean.username().is_empty() && clean.password().is_none() && clean.query().is_none() {
        return url.trim().to_owned();
    }
    clean.set_query(None);
    // Both calls fail only for URLs without a host.
    clean.set_username("").ok();
    clean.set_password(None).ok();
    clean.into()
}

/// Parses the base URL from the user's settings.
pub(crate) fn parse_url(base_url: &str) -> Result<Url, LlmError> {
    let invalid = |reason: String| LlmError::InvalidUrl { url: redact_unparsed(base_url), reason };
    let mut url = Url::parse(base_url.trim()).map_err(|error| invalid(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it must begin with http:// or https://".into()));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(invalid("it names no host".into()));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Removes user name, password and query from a URL.
pub(crate) fn redact(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // Both calls fail only for URLs without a host, which are rejected earlier.
    url.set_username("").ok();
    url.set_password(None).ok();
    url.into()
}

/// Returns whether the host is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    }
}

/// Removes the part between `://` and `@` from a text that may not be a URL.
fn redact_unparsed(url: &str) -> String {
    let clean = sanitize(url);
    match (clean.find("://"), clean.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}://{}", clean.get(..scheme).unwrap_or_default(), clean.get(at + 1..).unwrap_or_default())
        }
        (None, Some(at)) => clean.get(at + 1..).unwrap_or_default().to_owned(),
        _ => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        assert_eq!(redacted_url("https://u:canary@h.example/v1?key=canary"), "https://h.example/v1");
        assert_eq!(redacted_url("u:canary@h/v1?k=canary"), "h/v1");
        assert_eq!(redacted_url("http://127.0.0.1:1/v1"), "http://127.0.0.1:1/v1");
    }

    #[test]
    fn a_bad_address_is_refused_without_showing_a_password() {
        for base in ["", "api.example.com/v1", "ftp://user:canary@h/v1", "http://", "user:canary@h/v1"] {
            let error = parse_url(base).unwrap_err();
            assert!(matches!(error, LlmError::InvalidUrl { .. }), "{base}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
        }
        assert_eq!(redact(&parse_url(" https://u:canary@h/v1?key=canary#x").unwrap()), "https://h/v1");
    }

    #[test]
    fn this_machine_has_several_names() {
        let is_here = |base: &str| is_loopback(&parse_url(base).unwrap());
        assert!(is_here("http://localhost:1") && is_here("http://[::1]/v1") && is_here("http://127.0.0.2"));
        assert!(!is_here("http://localhost.example.com") && !is_here("http://10.0.0.1"));
    }
}
