//! The settings in force, after all layers are laid over each other.

use std::path::PathBuf;

use secrecy::SecretString;

use super::{ConfigError, ConfigFile, KeySource, Paths, key};
use crate::context::Window;
use crate::edit::EditFormat;
use crate::repo_map::Refresh;

/// The API that an OpenAI key alone implies.
const OPENAI_URL: &str = "https://api.openai.com/v1";

/// Rounds of edits when nothing is configured.
const EDIT_ROUNDS: usize = 3;

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
    /// Whether no key is sent because the only one, of OpenAI, does not belong to `base_url`.
    pub key_withheld: bool,
    /// The window as configured, if it is.
    pub context_window: Option<usize>,
    /// Tokens for the repo map, if fixed.
    pub map_tokens: Option<usize>,
    /// When the repo map is made anew.
    pub map_refresh: Refresh,
    /// Whether what the map is made from is kept between runs.
    pub keep_map: bool,
    /// Where writes are recorded, so that they can be undone; `None` records nothing.
    pub state_folder: Option<PathBuf>,
    /// The format that the model writes edits in.
    pub edit_format: EditFormat,
    /// How often edits that found no place are sent back to the model by themselves, for one request; 0 for never.
    pub edit_rounds: usize,
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
            key_withheld: false,
            context_window: None,
            map_tokens: None,
            map_refresh: Refresh::default(),
            keep_map: true,
            state_folder: None,
            edit_format: EditFormat::Diff,
            edit_rounds: EDIT_ROUNDS,
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
        let beside_key = var("OPENAI_BASE_URL").or_else(|| var("OPENAI_API_BASE"));
        let base_url =
            flags.base_url.or_else(|| var("RHUMB_BASE_URL")).or_else(|| beside_key.clone()).or(file.base_url);
        let openai_may_go = base_url.as_deref().is_none_or(|url| key::belongs_to_openai(url, beside_key.as_deref()));
        let (api_key, key_source) = key::find(&var, key_file.as_deref(), openai_may_go)?.unzip();
        let key_withheld = !openai_may_go && api_key.is_none() && var(key::OPENAI).is_some();
        let implied = key_source == Some(KeySource::Variable(key::OPENAI));
        let base_url = base_url.or_else(|| implied.then(|| OPENAI_URL.to_owned()));
        let map_refresh = var("RHUMB_MAP_REFRESH").or(file.map_refresh);
        let edit_format = flags.edit_format.or_else(|| var("RHUMB_EDIT_FORMAT")).or(file.edit_format);
        Ok(Self {
            model: flags.model.or_else(|| var("RHUMB_MODEL")).or(file.model),
            api_key,
            key_source,
            key_withheld,
            context_window: number("RHUMB_CONTEXT_WINDOW", var("RHUMB_CONTEXT_WINDOW"))?.or(file.context_window),
            map_tokens: flags.map_tokens.or(number("RHUMB_MAP_TOKENS", var("RHUMB_MAP_TOKENS"))?).or(file.map_tokens),
            map_refresh: map_refresh.map_or(Ok(Refresh::default()), |name| refresh_named(&name))?,
            keep_map: true,
            state_folder: paths.map(|paths| paths.state.clone()),
            edit_format: edit_format.map_or(Ok(EditFormat::Diff), |name| format_named(&name))?,
            edit_rounds: number("RHUMB_EDIT_ROUNDS", var("RHUMB_EDIT_ROUNDS"))?
                .or(file.edit_rounds)
                .unwrap_or(EDIT_ROUNDS),
            theme: flags.theme.or_else(|| var("RHUMB_THEME")).or(file.theme),
            auto_commit: flags.auto_commit.or(file.auto_commit).unwrap_or(true),
            base_url,
        })
    }

    /// What to tell when a key was withheld, and what to do about it.
    pub fn key_warning(&self) -> Option<(&'static str, &'static str)> {
        self.key_withheld.then_some((
            "No key is sent: OPENAI_API_KEY belongs to api.openai.com or the address in OPENAI_BASE_URL, not to this one.",
            "If this server needs a key, put it into RHUMB_API_KEY.",
        ))
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
        .map_err(|_| ConfigError::BadValue { name: name.to_owned(), message: "expected a whole number".into() })
}

fn refresh_named(name: &str) -> Result<Refresh, ConfigError> {
    name.parse().map_err(|()| ConfigError::BadValue {
        name: "map_refresh".into(),
        message: format!("`{name}` is none of auto, always, files, manual"),
    })
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
    fn the_key_of_openai_does_not_go_to_another_address() {
        let key = ("OPENAI_API_KEY", "k");
        let elsewhere = || Overrides { base_url: Some("https://models.example.org/v1".into()), ..Overrides::default() };
        for settings in [
            load(elsewhere(), &[key]),
            load(elsewhere(), &[key, ("OPENAI_BASE_URL", "https://gateway.example.org/v1")]),
            load(Overrides::default(), &[key, ("RHUMB_BASE_URL", "https://models.example.org/v1")]),
        ] {
            assert!(settings.api_key.is_none() && settings.key_withheld && settings.key_warning().is_some());
        }
        for settings in [
            load(elsewhere(), &[key, ("RHUMB_API_KEY", "own")]),
            load(Overrides::default(), &[key, ("OPENAI_API_BASE", "https://gateway.example.org/v1")]),
            load(Overrides { base_url: Some(OPENAI_URL.into()), ..Overrides::default() }, &[key]),
            load(Overrides::default(), &[key]),
        ] {
            assert!(settings.api_key.is_some() && !settings.key_withheld && settings.key_warning().is_none());
        }
        assert!(!load(elsewhere(), &[]).key_withheld);
    }

    #[test]
    fn an_address_in_the_settings_file_gets_its_own_key_only() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { config: dir.path().to_owned(), cache: dir.path().to_owned(), state: dir.path().to_owned() };
        std::fs::write(paths.config_file(), "base_url = \"https://models.example.org/v1\"\n").unwrap();
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "k".to_owned());
        let settings = Settings::load(Overrides::default(), &env, Some(&paths)).unwrap();
        assert!(settings.api_key.is_none() && settings.key_withheld);
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
