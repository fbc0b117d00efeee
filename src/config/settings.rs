//! The settings in force, after all layers are laid over each other.

use secrecy::SecretString;

use super::{ConfigError, ConfigFile, KeySource, Paths, key};
use crate::context::Window;
use crate::edit::EditFormat;

/// The API that an OpenAI key alone implies.
const OPENAI_URL: &str = "https://api.openai.com/v1";

/// What flags say; they win over everything.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--base-url`
    pub base_url: Option<String>,
    /// `--model`
    pub model: Option<String>,
    /// `--edit-format`
    pub edit_format: Option<String>,
    /// `--map-tokens`
    pub map_tokens: Option<usize>,
    /// `--theme`
    pub theme: Option<String>,
    /// `--commit`, `--no-commit`
    pub auto_commit: Option<bool>,
}

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Root of the API; `None` when no provider is configured.
    pub base_url: Option<String>,
    /// Model to ask for; `None` until one is named or found.
    pub model: Option<String>,
    /// The key, never shown.
    pub api_key: Option<SecretString>,
    /// Where the key came from.
    pub key_source: Option<KeySource>,
    /// The window as configured, if it is.
    pub context_window: Option<usize>,
    /// Tokens for the repo map, if fixed.
    pub map_tokens: Option<usize>,
    /// The format that the model writes edits in.
    pub edit_format: EditFormat,
    /// Name of the theme.
    pub theme: Option<String>,
    /// Whether a write is followed by a commit.
    pub auto_commit: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key: None,
            key_source: None,
            context_window: None,
            map_tokens: None,
            edit_format: EditFormat::Diff,
            theme: None,
            auto_commit: true,
        }
    }
}

impl Settings {
    /// Lays the layers over each other. `env` looks a variable up; empty variables count as unset.
    ///
    /// # Errors
    /// A layer that cannot be read or does not parse: better told at the start than ignored.
    pub fn load(
        flags: Overrides,
        env: &dyn Fn(&str) -> Option<String>,
        paths: Option<&Paths>,
    ) -> Result<Self, ConfigError> {
        let var = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let file = paths.map_or_else(|| Ok(ConfigFile::default()), |paths| ConfigFile::read(&paths.config_file()))?;
        let key_file = paths.map(Paths::key_file);
        let (api_key, key_source) = key::find(&var, key_file.as_deref())?.unzip();
        let base_url = flags
            .base_url
            .or_else(|| var("RHUMB_BASE_URL"))
            .or_else(|| var("OPENAI_BASE_URL"))
            .or_else(|| var("OPENAI_API_BASE"))
            .or(file.base_url)
            .or_else(|| (key_source == Some(KeySource::Variable("OPENAI_API_KEY"))).then(|| OPENAI_URL.to_owned()));
        let edit_format = flags.edit_format.or_else(|| var("RHUMB_EDIT_FORMAT")).or(file.edit_format);
        Ok(Self {
            model: flags.model.or_else(|| var("RHUMB_MODEL")).or(file.model),
            api_key,
            key_source,
            context_window: number("RHUMB_CONTEXT_WINDOW", var("RHUMB_CONTEXT_WINDOW"))?.or(file.context_window),
            map_tokens: flags.map_tokens.or(number("RHUMB_MAP_TOKENS", var("RHUMB_MAP_TOKENS"))?).or(file.map_tokens),
            edit_format: edit_format.map_or(Ok(EditFormat::Diff), |name| format_named(&name))?,
            theme: flags.theme.or_else(|| var("RHUMB_THEME")).or(file.theme),
            auto_commit: flags.auto_commit.or(file.auto_commit).unwrap_or(true),
            base_url,
        })
    }

    /// The window of `model`: as configured, else as known, else assumed.
    pub fn window(&self, model: &str) -> Window {
        match self.context_window {
            Some(tokens) => Window { tokens, known: true },
            None => Window::of_model(model),
        }
    }
}

fn number(name: &str, value: Option<String>) -> Result<Option<usize>, ConfigError> {
    value
        .map(|value| value.trim().parse())
        .transpose()
        .map_err(|_| ConfigError::BadValue { name: name.to_owned(), message: "expected a number of tokens".into() })
}

fn format_named(name: &str) -> Result<EditFormat, ConfigError> {
    name.parse().map_err(|_| ConfigError::BadValue {
        name: "edit_format".into(),
        message: format!("`{name}` is none of diff, diff-fenced, udiff, whole, patch"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: Overrides, vars: &[(&str, &str)]) -> Settings {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::load(flags, &env, None).unwrap()
    }

    #[test]
    fn flags_win_over_the_environment() {
        let flags = Overrides { model: Some("flag".into()), ..Overrides::default() };
        assert_eq!(load(flags, &[("RHUMB_MODEL", "env")]).model.as_deref(), Some("flag"));
    }

    #[test]
    fn an_openai_key_alone_implies_its_api() {
        assert_eq!(load(Overrides::default(), &[("OPENAI_API_KEY", "k")]).base_url.as_deref(), Some(OPENAI_URL));
        assert_eq!(load(Overrides::default(), &[("RHUMB_API_KEY", "k")]).base_url, None);
    }

    #[test]
    fn nothing_configured_is_no_provider() {
        let settings = load(Overrides::default(), &[("OPENAI_BASE_URL", " ")]);
        assert!(settings.base_url.is_none() && settings.api_key.is_none());
    }

    #[test]
    fn a_bad_number_is_told() {
        let env = |name: &str| (name == "RHUMB_MAP_TOKENS").then(|| "lots".to_owned());
        assert!(matches!(Settings::load(Overrides::default(), &env, None), Err(ConfigError::BadValue { .. })));
    }
}
