//! Stores of keys: the keyring of the system, with one entry for each host; and the credentials file, with a key for each host, and
//! which addresses a key may be sent to.
//!
//! ```toml
//! ["api.example.com"]
//! key = "…"
//! ```

use super::secret_file;
use crate::config::ConfigError;
use crate::config::paths::{owner_if_another, private_folder, replace_file};
use crate::config::settings_file::line_of;
use secrecy::{ExposeSecret as _, SecretString};
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};
use url::{Host, Url};

/// The key for `url` and the name of its entry; `None` if there is no such file or entry.
///
/// # Errors
/// The file can be read by others, cannot be read, or is malformed. Error messages never quote it.
pub(super) fn find(path: &Path, url: &Url) -> Result<Option<(String, SecretString)>, ConfigError> {
    let Some(text) = secret_file(path)? else { return Ok(None) };
    let wrong = |at: usize, message: &str| ConfigError::Invalid {
        path: path.display().to_string(),
        message: format!("line {}: {message}", line_of(&text, at)),
    };
    // The error of the parser is not included, because it may quote a key.
    let table = DeTable::parse(&text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), "this is not TOML"))?
        .into_inner();
    let mut found = None;
    for (name, value) in &table {
        let key = match value.get_ref() {
            DeValue::Table(entry) => entry.get("key").map(toml::Spanned::get_ref),
            plain => Some(plain),
        };
        let key = key.and_then(DeValue::as_str).map(str::trim).filter(|key| !key.is_empty());
        let Some(key) = key else {
            return Err(wrong(value.span().start, "expected the name of a host with key = \"…\" below it"));
        };
        if belongs(name.get_ref(), url) {
            found.get_or_insert_with(|| (name.get_ref().to_string(), SecretString::from(key)));
        }
    }
    Ok(found)
}

/// The text of the file with `key` for `url`, in the entry that [`find`] reads, else in a new entry at the end. Everything else
/// is preserved.
///
/// # Errors
/// The text is not TOML. The error is the line, 1-based.
pub(super) fn with_key(text: &str, url: &Url, entry: &str, key: &SecretString) -> Result<String, usize> {
    let written = toml::Value::from(key.expose_secret()).to_string();
    let line = |error: &toml::de::Error| line_of(text, error.span().map_or(0, |span| span.start));
    let table = DeTable::parse(text).map_err(|error| line(&error))?.into_inner();
    let found = table.iter().find(|(name, _)| belongs(name.get_ref(), url)).map(|(_, value)| value);
    let old = found.and_then(|value| match value.get_ref() {
        DeValue::Table(entry) => entry.get("key").map(toml::Spanned::span),
        _ => Some(value.span()),
    });
    if let Some((before, after)) = old.and_then(|old| Some((text.get(..old.start)?, text.get(old.end..)?))) {
        return Ok([before, &written, after].concat());
    }
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok(format!("{text}{gap}[{}]\nkey = {written}\n", toml::Value::from(entry)))
}

/// Writes a key to the credentials file, which only its owner can read. The file is replaced as a whole, so that a crash leaves
/// either the old or the new one.
pub(super) fn write_key(path: &Path, url: &Url, entry: &str, key: &SecretString) -> Result<(), ConfigError> {
    let shown = path.display().to_string();
    let failed = |why: String| ConfigError::KeyNotStored(why);
    let unwritable = |cause: std::io::Error| failed(format!("{shown} cannot be written: {cause}"));
    let folder = path.parent().ok_or_else(|| failed(format!("{shown} has no folder")))?;
    private_folder(folder).map_err(unwritable)?;
    for place in [folder, path] {
        if owner_if_another(place).is_some() {
            return Err(failed(format!("{} belongs to another user", place.display())));
        }
    }
    if path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_symlink()) {
        return Err(failed(format!("{shown} is a symbolic link")));
    }
    remove_write_permission_of_others(folder).map_err(unwritable)?;
    let old = secret_file(path)?.unwrap_or_default();
    let new = with_key(&old, url, entry, key).map_err(|line| ConfigError::Invalid {
        path: shown.clone(),
        message: format!("line {line}: this is not TOML"),
    })?;
    replace_file(path, new.as_bytes(), None).map_err(unwritable)
}

/// Removes write permission of others from a folder, so that they cannot replace the file.
#[cfg(unix)]
fn remove_write_permission_of_others(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = folder.metadata()?.permissions();
    if permissions.mode() & 0o022 != 0 {
        permissions.set_mode(0o700);
        std::fs::set_permissions(folder, permissions)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn remove_write_permission_of_others(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Whether the key of `entry` may be sent to `url`. An entry is a host (`api.example.com`), which means https on the default
/// port, or any port of this machine; a host with a port; or an origin (`http://10.0.0.7:8000`), which is the only way to send
/// a key unencrypted to another machine.
pub(super) fn belongs(entry: &str, url: &Url) -> bool {
    let entry = entry.trim();
    let spelt_out = entry.contains("://");
    let whole = if spelt_out { entry.to_owned() } else { format!("https://{entry}") };
    let Ok(named) = Url::parse(&whole) else { return false };
    if named.host().is_none() || named.host() != url.host() {
        return false;
    }
    if spelt_out {
        return named.scheme() == url.scheme() && named.port_or_known_default() == url.port_or_known_default();
    }
    // The default port of a scheme is not part of an address.
    let any_port = is_this_machine(url) && named.port().is_none();
    is_private(url) && (any_port || named.port_or_known_default() == url.port_or_known_default())
}

/// The shortest entry for an address that [`belongs`] accepts; `None` for an address without a host.
pub(super) fn entry_for(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(match url.port() {
        _ if !is_private(url) => url.origin().ascii_serialization(),
        // On this machine each port has its own entry.
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// Whether the connection is encrypted or stays on this machine.
pub(super) fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || is_this_machine(url)
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    }
}

/// A store of keys by host.
pub trait Keyring: fmt::Debug + Send + Sync {
    /// Reads the key of a host.
    ///
    /// # Errors
    /// The store exists and cannot be read.
    fn key(&self, host: &str) -> Result<Option<SecretString>, ConfigError>;

    /// Stores the key of a host. Returns `false` if the system has no keyring.
    ///
    /// # Errors
    /// The store exists and cannot be written.
    fn store(&self, host: &str, key: &SecretString) -> Result<bool, ConfigError>;
}

/// The keyring of this system, if the program is built with it.
#[cfg(not(feature = "keyring"))]
pub fn keyring_of_system() -> Option<Arc<dyn Keyring>> {
    None
}

/// The keyring of this system, if the program is built with it.
#[cfg(feature = "keyring")]
pub fn keyring_of_system() -> Option<Arc<dyn Keyring>> {
    Some(Arc::new(OfSystem))
}

/// The keyring of the desktop: entries of the service `rhumb`, with the host as user name.
#[cfg(feature = "keyring")]
#[derive(Debug)]
struct OfSystem;

#[cfg(feature = "keyring")]
impl Keyring for OfSystem {
    fn key(&self, host: &str) -> Result<Option<SecretString>, ConfigError> {
        use ::keyring::v1::{Entry, Error};
        match Entry::new("rhumb", host).and_then(|entry| entry.get_password()) {
            Ok(key) => Ok(Some(SecretString::from(key.trim())).filter(|_| !key.trim().is_empty())),
            // Most servers have no keyring.
            Err(Error::NoEntry | Error::NoDefaultStore) => Ok(None),
            Err(error) => Err(ConfigError::Keyring(error.to_string())),
        }
    }

    fn store(&self, host: &str, key: &SecretString) -> Result<bool, ConfigError> {
        use ::keyring::v1::{Entry, Error};
        use secrecy::ExposeSecret as _;
        match Entry::new("rhumb", host).and_then(|entry| entry.set_password(key.expose_secret())) {
            Ok(()) => Ok(true),
            Err(Error::NoDefaultStore) => Ok(false),
            Err(error) => Err(ConfigError::Keyring(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_an_address_belongs_to_it() {
        for (url, entry) in [
            ("https://api.example.com/v1", "api.example.com"),
            ("https://api.example.com:8443/v1", "api.example.com:8443"),
            ("http://10.0.0.7:8000/v1", "http://10.0.0.7:8000"),
            ("http://127.0.0.1:8080/v1", "127.0.0.1:8080"),
            ("http://localhost/v1", "localhost"),
            ("http://[::1]:9/v1", "[::1]:9"),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(entry_for(&url).as_deref(), Some(entry));
            assert!(belongs(entry, &url), "{entry} {url}");
        }
    }

    #[test]
    fn a_key_belongs_to_one_host_only() {
        let fits = |entry: &str, url: &str| belongs(entry, &Url::parse(url).unwrap());
        for (entry, url) in [
            ("api.example.com", "https://api.example.com/v1"),
            ("API.example.com", "https://api.example.com:443/"),
            ("api.example.com:8443", "https://api.example.com:8443/v1"),
            ("http://10.0.0.7:8000", "http://10.0.0.7:8000/v1"),
            ("localhost", "http://localhost:8080/v1"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
            ("[::1]", "http://[::1]:9/v1"),
        ] {
            assert!(fits(entry, url), "{entry} {url}");
        }
        for (entry, url) in [
            ("api.example.com", "http://api.example.com/v1"),
            ("api.example.com", "https://api.example.com:8443/v1"),
            ("api.example.com", "https://api.example.com.evil.example/v1"),
            ("api.example.com", "https://api.example.com@evil.example/v1"),
            ("example.com", "https://api.example.com/v1"),
            ("http://10.0.0.7:8000", "https://10.0.0.7:8000/v1"),
            ("127.0.0.1:8080", "http://127.0.0.1:8081/v1"),
            ("", "https://api.example.com"),
        ] {
            assert!(!fits(entry, url), "{entry} {url}");
        }
    }
}
