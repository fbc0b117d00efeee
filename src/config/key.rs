//! The API key: from the environment or a file that only its owner can read. Never from a flag (which `ps` shows).

use std::path::Path;

use secrecy::SecretString;

use super::ConfigError;

/// Variables that may hold the key; the first that is set wins.
const VARIABLES: [&str; 2] = ["RHUMB_API_KEY", "OPENAI_API_KEY"];

/// Where the key in use came from; safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// This environment variable.
    Variable(&'static str),
    /// This file.
    File(String),
}

/// The key, if there is one.
///
/// # Errors
/// The key file can be read by others, or not at all.
pub(super) fn find(
    env: &dyn Fn(&str) -> Option<String>,
    file: Option<&Path>,
) -> Result<Option<(SecretString, KeySource)>, ConfigError> {
    for name in VARIABLES {
        if let Some(key) = env(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()) {
            return Ok(Some((SecretString::from(key), KeySource::Variable(name))));
        }
    }
    match file {
        Some(path) => from_file(path),
        None => Ok(None),
    }
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
        let (key, _) = find(&|_| None, Some(&path)).unwrap().unwrap();
        assert_eq!(key.expose_secret(), "from-file");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let (_dir, path) = key_file(0o644);
        assert!(matches!(find(&|_| None, Some(&path)), Err(ConfigError::KeyExposed { .. })));
    }

    #[test]
    fn the_environment_wins_and_the_key_is_never_printed() {
        let (_dir, path) = key_file(0o600);
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "canary".to_owned());
        let found = find(&env, Some(&path)).unwrap().unwrap();
        assert_eq!(found.1, KeySource::Variable("OPENAI_API_KEY"));
        assert!(!format!("{found:?}").contains("canary"));
    }
}
