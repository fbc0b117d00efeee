//! The credentials file, with a key for each host.
//!
//! ```toml
//! ["api.example.com"]
//! key = "…"
//! ```

use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};
use toml::de::{DeTable, DeValue};
use url::Url;

use super::{host, secret_file};
use crate::config::ConfigError;
use crate::config::settings_file::line_of;

/// The key for `url` and the name of its entry; `None` if there is no such file or entry.
///
/// # Errors
/// The file can be read by others, cannot be read, or is malformed. Error messages never quote it.
pub(super) fn find(path: &Path, url: &Url) -> Result<Option<(String, SecretString)>, ConfigError> {
    let Some(text) = secret_file(path)? else {
        return Ok(None);
    };
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
        if host::belongs(name.get_ref(), url) {
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
    let found = table.iter().find(|(name, _)| host::belongs(name.get_ref(), url)).map(|(_, value)| value);
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
