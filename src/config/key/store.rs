//! Stores a key that the user entered: in the keyring if there is one, else in the credentials file.

use std::io::Write as _;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use rhumb_llm::KeySource;

use super::{Keys, credentials, host, secret_file};
use crate::config::ConfigError;
use crate::config::paths::owner_if_another;
use crate::config::trust::private_folder;

/// Maximum length of a key, in bytes. A longer text was pasted by mistake.
const MAX_KEY_BYTES: usize = 4096;

impl Keys {
    /// Stores the key of an address and returns where. A key in the credentials file is replaced there, because that file is
    /// read before the keyring.
    ///
    /// # Errors
    /// The text is not a valid key, or it cannot be stored. Error messages never quote it.
    pub(crate) fn store(&self, url: &Url, key: &SecretString) -> Result<KeySource, ConfigError> {
        let failed = |why: &str| ConfigError::KeyNotStored { why: why.to_owned() };
        let entry = host::entry_for(url).ok_or_else(|| failed("the address has no host"))?;
        let text = key.expose_secret();
        if text.is_empty() || text.len() > MAX_KEY_BYTES || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(failed("a key is one word without spaces"));
        }
        let in_file = self.credentials.as_deref().map(|path| credentials::find(path, url)).transpose()?.flatten();
        if let (Some(keyring), Some(host), None) = (&self.keyring, url.host_str(), &in_file)
            && host::is_private(url)
            && keyring.store(host, key)?
        {
            return Ok(KeySource::Keyring(host.to_owned()));
        }
        let path =
            self.credentials.as_deref().ok_or_else(|| failed("there is no home folder for the credentials file"))?;
        write_key(path, url, &entry, key)?;
        let host = in_file.map_or(entry, |(host, _)| host);
        Ok(KeySource::Credentials { path: path.display().to_string(), host })
    }
}

/// Writes a key to the credentials file, which only its owner can read. The file is replaced as a whole, so that a crash leaves
/// either the old or the new one.
fn write_key(path: &Path, url: &Url, entry: &str, key: &SecretString) -> Result<(), ConfigError> {
    let shown = path.display().to_string();
    let failed = |why: String| ConfigError::KeyNotStored { why };
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
    keep_others_out(folder).map_err(unwritable)?;
    let old = secret_file(path)?.unwrap_or_default();
    let new = credentials::with_key(&old, url, entry, key).map_err(|line| ConfigError::Invalid {
        path: shown.clone(),
        message: format!("line {line}: this is not TOML"),
    })?;
    // A temporary file is accessible only for its owner.
    let mut draft = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    draft.write_all(new.as_bytes()).and_then(|()| draft.as_file().sync_all()).map_err(unwritable)?;
    draft.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(())
}

/// Removes write permission of others from a folder, so that they cannot replace the file.
#[cfg(unix)]
fn keep_others_out(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = folder.metadata()?.permissions();
    if permissions.mode() & 0o022 != 0 {
        permissions.set_mode(0o700);
        std::fs::set_permissions(folder, permissions)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_others_out(_: &Path) -> std::io::Result<()> {
    Ok(())
}
