//! The keyring of the system, with one entry for each host under the name of this program.

use crate::config::ConfigError;
use secrecy::SecretString;
use std::fmt;
use std::sync::Arc;

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
            Err(error) => Err(ConfigError::Keyring { message: error.to_string() }),
        }
    }

    fn store(&self, host: &str, key: &SecretString) -> Result<bool, ConfigError> {
        use ::keyring::v1::{Entry, Error};
        use secrecy::ExposeSecret as _;
        match Entry::new("rhumb", host).and_then(|entry| entry.set_password(key.expose_secret())) {
            Ok(()) => Ok(true),
            Err(Error::NoDefaultStore) => Ok(false),
            Err(error) => Err(ConfigError::Keyring { message: error.to_string() }),
        }
    }
}
