//! The user's configuration file, `config.toml`.

use std::path::Path;

use serde::Deserialize;

use super::ConfigError;

/// What `config.toml` may hold. Unknown names are errors, so that a typing mistake is told and not ignored.
#[derive(Debug, Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// Root of an OpenAI-compatible API, `http://127.0.0.1:11434/v1` for example.
    pub base_url: Option<String>,
    /// Model to ask for.
    pub model: Option<String>,
    /// Context window of the model in tokens, where we do not know it.
    pub context_window: Option<usize>,
    /// Tokens for the repo map.
    pub map_tokens: Option<usize>,
    /// When the repo map is made anew: `auto`, `always`, `files` or `manual`.
    pub map_refresh: Option<String>,
    /// Edit format that the model writes: `diff`, `diff-fenced`, `udiff`, `whole` or `patch`.
    pub edit_format: Option<String>,
    /// How often edits that found no place are sent back to the model by themselves; 0 for never.
    pub edit_rounds: Option<usize>,
    /// Name of a theme.
    pub theme: Option<String>,
    /// Whether accepted hunks are committed after they are written.
    pub auto_commit: Option<bool>,
}

impl ConfigFile {
    /// Reads `path`; an absent file is an empty configuration.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else than these settings.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|message| ConfigError::Invalid { path: name, message }),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(cause) => Err(ConfigError::Unreadable { path: name, cause }),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let file = ConfigFile::parse("model = \"m\"\nauto_commit = false\n").unwrap();
        assert_eq!(file.model.as_deref(), Some("m"));
        assert_eq!(file.auto_commit, Some(false));
    }

    #[test]
    fn a_misspelt_setting_is_told_with_its_line() {
        let message = ConfigFile::parse("modle = \"m\"\n").unwrap_err();
        assert!(message.contains("line 1") && message.contains("modle"), "{message}");
    }
}
