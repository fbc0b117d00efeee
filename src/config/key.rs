//! The API key: from the environment or a file that only its owner can read. Never from a flag (which `ps` shows).

use std::path::Path;

use secrecy::SecretString;
use url::Url;

use super::ConfigError;

/// The key that is meant for this program, and goes wherever it is told to ask.
const OWN: &str = "RHUMB_API_KEY";

/// The key that belongs to OpenAI and is there for other programs, too. It must not go to any address that we are told.
pub(super) const OPENAI: &str = "OPENAI_API_KEY";

/// The host that [`OPENAI`] belongs to.
const OPENAI_HOST: &str = "api.openai.com";

/// Where the key in use came from; safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// This environment variable.
    Variable(&'static str),
    /// This file.
    File(String),
}

/// The key to send, if there is one. The one of OpenAI counts only where `openai_may_go` there.
///
/// # Errors
/// The key file can be read by others, or not at all.
pub(super) fn find(
    env: &dyn Fn(&str) -> Option<String>,
    file: Option<&Path>,
    openai_may_go: bool,
) -> Result<Option<(SecretString, KeySource)>, ConfigError> {
    let names = if openai_may_go { &[OWN, OPENAI][..] } else { &[OWN] };
    for name in names {
        if let Some(key) = env(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()) {
            return Ok(Some((SecretString::from(key), KeySource::Variable(name))));
        }
    }
    match file {
        Some(path) => from_file(path),
        None => Ok(None),
    }
}

/// Whether the key of OpenAI belongs to this address: it is OpenAI's own, or the one that the user's environment gives
/// together with the key.
pub(super) fn belongs_to_openai(base_url: &str, of_environment: Option<&str>) -> bool {
    let is_openai = |url: Url| url.scheme() == "https" && url.host_str() == Some(OPENAI_HOST) && url.port().is_none();
    let same = |url: &str| url.trim().trim_end_matches('/') == base_url.trim().trim_end_matches('/');
    of_environment.is_some_and(same) || Url::parse(base_url.trim()).is_ok_and(is_openai)
}

fn from_file(path: &Path) -> Result<Option<(SecretString, KeySource)>, ConfigError> {
    let name = path.display().to_string();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(ConfigError::Unreadable { path: name, cause }),
    };
    if readable_by_others(&metadata) {
        return Err(ConfigError::KeyExposed { path: name });
    }
    let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable { path: name.clone(), cause })?;
    let key = text.trim();
    Ok((!key.is_empty()).then(|| (SecretString::from(key), KeySource::File(name))))
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
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use secrecy::ExposeSecret as _;

    use super::*;

    fn key_file(mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("api-key");
        std::fs::write(&path, "from-file\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        (dir, path)
    }

    #[test]
    fn a_private_file_gives_the_key() {
        let (_dir, path) = key_file(0o600);
        let (key, _) = find(&|_| None, Some(&path), true).unwrap().unwrap();
        assert_eq!(key.expose_secret(), "from-file");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let (_dir, path) = key_file(0o644);
        assert!(matches!(find(&|_| None, Some(&path), true), Err(ConfigError::KeyExposed { .. })));
    }

    #[test]
    fn the_environment_wins_and_the_key_is_never_printed() {
        let (_dir, path) = key_file(0o600);
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "canary".to_owned());
        let found = find(&env, Some(&path), true).unwrap().unwrap();
        assert_eq!(found.1, KeySource::Variable("OPENAI_API_KEY"));
        assert!(!format!("{found:?}").contains("canary"));
        let found = find(&env, Some(&path), false).unwrap().unwrap();
        assert_eq!(found.1, KeySource::File(path.display().to_string()));
    }

    #[test]
    fn the_key_of_openai_belongs_to_openai_and_to_the_address_beside_it() {
        for url in ["https://api.openai.com/v1", " https://api.openai.com", "https://API.OpenAI.com:443/v1/"] {
            assert!(belongs_to_openai(url, None), "{url}");
        }
        for url in [
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com.example.org/v1",
            "https://api.openai.com@example.org/v1",
            "https://example.org/api.openai.com",
            "api.openai.com",
            "",
        ] {
            assert!(!belongs_to_openai(url, None), "{url}");
            assert!(!belongs_to_openai(url, Some("https://gateway.example.org/v1")), "{url}");
        }
        assert!(belongs_to_openai("https://gateway.example.org/v1/", Some("https://gateway.example.org/v1")));
    }
}
