//! The effective settings, after all layers are combined.

use super::layers::{Layers, Sources};
use super::paths::owner_if_another;
use super::provider::entries;
use super::{ConfigError, Embeddings, Keys, Providers, keyring_of_system};
use rhumb_agent::Caps;
use rhumb_edit::EditFormat;
use rhumb_index::repo_map::Refresh;
use rhumb_llm::Thinking;
use rhumb_llm::models::{Api, Catalog, Dollars, ModelOverride};
use rhumb_session::{AgentRules, ContextRequestPolicy, MentionPolicy, OwnChanges, TrialRules};
use rhumb_trial::Network;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Values of flags, which have the highest precedence.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--base-url`
    pub base_url: Option<String>,
    /// `--api`
    pub api: Option<String>,
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

impl Overrides {
    /// The flags that were given: flag, setting, text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&'static str, &'static str, String)> {
        let commit = if self.auto_commit == Some(true) { "--commit" } else { "--no-commit" };
        let all = [
            ("--base-url", "base_url", self.base_url.clone()),
            ("--api", "api", self.api.clone()),
            ("--model", "model", self.model.clone()),
            ("--edit-format", "edit_format", self.edit_format.clone()),
            ("--map-tokens", "map_tokens", self.map_tokens.map(|tokens| tokens.to_string())),
            ("--theme", "theme", self.theme.clone()),
            (commit, "auto_commit", self.auto_commit.map(|commit| commit.to_string())),
        ];
        all.into_iter().filter_map(|(flag, name, text)| Some((flag, name, text?)))
    }
}

/// Declares a struct of settings and `of`, which reads it from the layers. A field has the value of the setting of its name, of the setting
/// after `from`, or of the function after `=`. The table [`SETTINGS`](super::SETTINGS) has the defaults, and the descriptions of fields
/// that have none here.
macro_rules! settings {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty $(, from $setting:literal)? $(= $read:expr)?;)*
    }) => {
        $(#[$meta])*
        pub struct $name {
            $(#[doc = settings!(@doc $field $(, $setting)?; $(#[$doc])*)] $(#[$doc])* pub $field: $type,)*
        }

        impl $name {
            pub(super) fn of(layers: &Layers) -> Self {
                Self { $($field: settings!(@read layers, $field: $type $(, $setting)? $(= $read)?),)* }
            }
        }

        impl Default for $name {
            /// The settings without any file, variable or flag.
            fn default() -> Self {
                Self::of(&Layers::default())
            }
        }
    };
    (@doc $field:ident;) => { concat!("The setting `", stringify!($field), "`.") };
    (@doc $field:ident, $setting:literal;) => { concat!("The setting `", $setting, "`.") };
    (@doc $($documented:tt)*) => { "" };
    (@read $layers:ident, $field:ident: $type:ty) => { $layers.get(stringify!($field)) };
    (@read $layers:ident, $field:ident: $type:ty, $setting:literal) => { $layers.get($setting) };
    (@read $layers:ident, $field:ident: $type:ty = $read:expr) => {{
        let read: fn(&Layers) -> $type = $read;
        read($layers)
    }};
}
pub(super) use settings;

settings! {
    /// The effective settings.
    #[derive(Debug, Clone)]
    pub struct Settings {
        /// The root of the API for all models, if set.
        base_url: Option<String>;
        model: Option<String>;
        weak_model: Option<String>;
        editor_model: Option<String>;
        /// Short names for models; see [`Settings::model_named`].
        aliases: BTreeMap<String, String>;
        models: BTreeMap<String, ModelOverride>;
        api: Option<Api> = |layers| layers.get::<Option<String>>("api").and_then(|name| Api::named(&name));
        /// Whether the address was set by the user and not by the repository, so that keys without a host may be sent there.
        address_is_own: bool = |layers| !layers.is_foreign("base_url");
        key_command: Option<String>;
        /// The providers of the settings and the environment.
        providers: Providers = |_| Providers::default();
        /// Where keys are searched.
        keys: Keys = |_| Keys::default();
        context_window: Option<usize>;
        max_output_tokens: Option<u32>;
        temperature: Option<f64>;
        thinking: Option<Thinking> = |layers| layers.thinking();
        map_tokens: Option<usize>;
        map_refresh: Refresh = |layers| layers.get::<String>("map_refresh").parse().unwrap_or_default();
        /// The cache folder; `None` disables caching.
        cache_folder: Option<PathBuf> = |_| None;
        /// The state folder, for the journal, sessions and approvals; `None` records nothing.
        state_folder: Option<PathBuf> = |_| None;
        edit_format: Option<EditFormat>;
        /// How often edits that could not be located are sent back to the model automatically for one request; 0 for never.
        edit_rounds: usize;
        history_tokens: Option<usize>;
        /// The settings of `@codebase`.
        codebase: CodebaseSettings = CodebaseSettings::of;
        cache_prompts: bool;
        /// Whether secrets are sent unmasked.
        send_secrets: bool = |layers| layers.get::<String>("secrets") == "send";
        cache_pings: u32;
        spending_cap: Option<Dollars> = |layers| layers.get::<Option<f64>>("spending_cap").map(Dollars::new);
        timeout: Option<Duration> = |layers| layers.get::<Option<u64>>("timeout").map(Duration::from_secs);
        language: Option<String>;
        prompts: Option<PathBuf> = |layers| layers.get::<Option<String>>("prompts").map(below_home);
        read: Vec<String>;
        ignore: Vec<String>;
        conventions: bool;
        lint_cmd: Option<String>;
        test_cmd: Option<String>;
        theme: Option<String>;
        /// The other settings of display and input.
        display: DisplaySettings = DisplaySettings::of;
        auto_commit: bool;
        dirty_commits: OwnChanges;
        undo_commit: UndoCommit;
        /// How commits are attributed.
        attribution: Attribution = Attribution::of;
        commit_hooks: bool;
        commit_language: Option<String>;
        lint: bool;
        test: bool;
        linters: BTreeMap<String, String>;
        verify_rounds: usize;
        /// When trials and checks run.
        trial_rules: TrialRules = |layers| TrialRules {
            automatic: layers.get::<String>("try") == "auto",
            required: layers.get("commit_needs_trial"),
            verify: layers.get("verify"),
        };
        /// The settings of agent mode.
        agent_rules: AgentRules = |layers| AgentRules {
            run: layers.get("agent_run"),
            caps: Caps {
                steps: Some(layers.get("agent_steps")),
                tokens: layers.get("agent_tokens"),
                dollars: layers.get("agent_cost"),
                time: layers.get::<Option<u64>>("agent_time").map(Duration::from_secs),
            },
            text_protocol: layers.get::<String>("agent_tools") == "text",
            ..AgentRules::default()
        };
        trial_network: Network = |layers| layers.get("try_network");
        /// Largest repository that is copied for a trial, in bytes.
        trial_max_copy_bytes: u64 = |layers| layers.get::<u64>("try_copy_gb") << 30;
        command_timeout: Duration = |layers| Duration::from_secs(layers.get("command_timeout"));
        allow: Vec<String>;
        suggest_commands: bool;
        mentions: MentionPolicy;
        accept_plan: bool;
        editor_edit_format: Option<EditFormat>;
        /// The settings of embeddings.
        embeddings: Embeddings = Embeddings::of;
        watch: bool;
        sessions: bool;
        notify: Notify;
        notify_cmd: Option<String>;
        editor: Option<String>;
        voice_cmd: Option<String>;
        voice_model: Option<String>;
        voice_language: Option<String>;
        /// The layers: origins of values, and values that wait for an approval.
        layers: Layers = Layers::clone;
    }
}

/// How an undo handles the commit of the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoCommit {
    /// Drop it if it is HEAD and not pushed; else revert it.
    #[default]
    Drop,
    /// Revert it by a new commit.
    Revert,
}

settings! {
    /// How commits of accepted hunks are attributed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Attribution {
        author: bool, from "attribute_author";
        committer: bool, from "attribute_committer";
        co_author: bool, from "attribute_co_author";
    }
}

/// How the end of a turn is signalled while the terminal is not focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notify {
    /// No signal.
    #[default]
    None,
    /// The terminal bell.
    Bell,
    /// The escape sequence OSC 9.
    Osc9,
    /// The escape sequence OSC 777.
    Osc777,
}

impl Settings {
    /// Reads and combines all layers.
    ///
    /// # Errors
    /// A layer of the user cannot be read or is wrong.
    pub fn load(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        let layers = Layers::read(sources)?;
        let var = |name: &str| (sources.env)(name).filter(|value| !value.trim().is_empty());
        let openai_base_url = var("OPENAI_BASE_URL").or_else(|| var("OPENAI_API_BASE"));
        let providers = Providers::new(entries(&layers), openai_base_url, &var);
        let key_variables = providers.entries.values().filter_map(|entry| entry.key_env.as_deref());
        let keys = Keys::new(&var, sources.paths, keyring_of_system(), key_variables);
        let (cache, state) = sources.paths.map(|paths| (paths.cache.clone(), paths.state.clone())).unzip();
        // A cache folder of another user is not trusted. Without one, everything in it is made again.
        let cache_folder = cache.filter(|cache| owner_if_another(cache).is_none());
        Ok(Self { providers, keys, cache_folder, state_folder: state, ..Self::of(&layers) })
    }

    /// The model catalogue with the properties and aliases of the settings, without fetched lists.
    pub fn catalog(&self) -> Catalog {
        Catalog::bundled().with_user(self.models.clone(), self.aliases.clone())
    }

    /// Resolves an alias or partial name of a model. If the settings have an address, only aliases of the settings are
    /// resolved, because the models there are unknown.
    pub fn model_named(&self, name: &str) -> String {
        let own = || self.aliases.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
        match own() {
            _ if name.is_empty() => String::new(),
            Some((_, meant)) if self.base_url.is_some() => meant.clone(),
            None if self.base_url.is_some() => name.to_owned(),
            _ => self.catalog().resolve(name),
        }
    }

    /// The read-only files of every chat, relative to the root: those of `read`, and convention files.
    pub fn reference_files(&self) -> Vec<String> {
        let conventions = self.layers.conventions.iter().filter(|_| self.conventions);
        let mut files: Vec<String> = Vec::new();
        for path in conventions.chain(&self.read) {
            if !files.contains(path) {
                files.push(path.clone());
            }
        }
        files
    }

    /// Notes about the settings for the start of the program, each with a hint.
    pub fn notes(&self) -> Vec<(String, String)> {
        let mut notes = self.layers.notes.clone();
        let waiting = &self.layers.unapproved;
        if !waiting.is_empty() {
            let names: Vec<_> = waiting.iter().map(|(proposed, _)| proposed.name.as_str()).collect();
            let them = if waiting.len() == 1 { "a setting" } else { "settings" };
            notes.push((
                format!("This repository proposes {them} that you have not approved: {}.", names.join(", ")),
                "Nothing of it is used. rhumb trust shows the values, and approves them one by one.".into(),
            ));
        }
        notes
    }
}

/// The path, with `~/` replaced by the home folder.
fn below_home(path: String) -> PathBuf {
    match path.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((below, home)) => home.join(below),
        None => PathBuf::from(path),
    }
}

/// The editing keys of the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComposerKeys {
    /// Emacs keys, as in shells: Ctrl-a, Ctrl-e, Alt-b.
    #[default]
    Emacs,
    /// Vi keys, with insert and normal mode.
    Vi,
}

/// How the review shows a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiffView {
    /// Side by side if the pane is wide enough, else unified.
    #[default]
    Auto,
    /// Removed lines above added lines.
    Unified,
    /// Base on the left, proposed on the right.
    SideBySide,
}

/// The arrangement of the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutChoice {
    /// By the size of the screen.
    #[default]
    Auto,
    /// The chat on the left, the other panes in a column on the right.
    Columns,
    /// The chat at the top, the other panes in a row below.
    Rows,
    /// One pane at a time.
    Single,
}

impl LayoutChoice {
    /// All layouts, in the order in which they are cycled.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Columns, Self::Rows, Self::Single];

    /// The name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Columns => "columns",
            Self::Rows => "rows",
            Self::Single => "single",
        }
    }

    /// The layout with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name() == name)
    }
}

settings! {
    /// The settings of the display and input of the app.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DisplaySettings {
        theme_light: Option<String>;
        theme_dark: Option<String>;
        layout: LayoutChoice;
        mouse: bool;
        animations: bool;
        composer_keys: ComposerKeys;
        diff_view: DiffView;
        diff_words: bool;
        fold_decided: bool;
        /// The keys of actions by name, which replace the default keys. An empty list leaves an action without keys.
        keys: BTreeMap<String, Vec<String>>;
    }
}

settings! {
    /// The settings of `@codebase`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CodebaseSettings {
        tokens: Option<usize>, from "codebase_tokens";
        planning: bool, from "codebase_planning";
        hyde: bool, from "codebase_hyde";
        rerank: bool, from "codebase_rerank";
        rounds: usize, from "codebase_rounds";
        more: ContextRequestPolicy, from "codebase_more";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: Overrides, vars: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::load(&Sources { flags, env: &env, paths: None, dirs: None })
    }

    #[test]
    fn flags_win_over_the_environment() {
        let flags = Overrides { model: Some("flag".into()), ..Overrides::default() };
        assert_eq!(load(flags, &[("RHUMB_MODEL", "env")]).unwrap().model.as_deref(), Some("flag"));
    }

    #[test]
    fn nothing_configured_is_no_provider() {
        let settings = load(Overrides::default(), &[("OPENAI_BASE_URL", " ")]).unwrap();
        assert!(settings.base_url.is_none() && settings.endpoint("").unwrap().is_none());
    }

    #[test]
    fn every_setting_has_a_variable() {
        let vars = [
            ("RHUMB_THINKING", "8000"),
            ("RHUMB_SPENDING_CAP", "2.5"),
            ("RHUMB_TIMEOUT", "30"),
            ("RHUMB_READ", "a.md,b.md"),
            ("RHUMB_CONVENTIONS", "no"),
            ("RHUMB_TEST_CMD", "make test"),
        ];
        let settings = load(Overrides::default(), &vars).unwrap();
        assert_eq!(settings.thinking, Some(Thinking::Budget(8000)));
        assert_eq!((settings.spending_cap, settings.timeout), (Some(Dollars::new(2.5)), Some(Duration::from_secs(30))));
        assert_eq!((settings.read.len(), settings.conventions), (2, false));
        assert_eq!(settings.test_cmd.as_deref(), Some("make test"));
    }

    #[test]
    fn every_word_of_a_setting_has_its_own_effect() {
        for setting in crate::config::SETTINGS {
            let rhumb_session::SettingKind::OneOf(words) = setting.kind else { continue };
            let name = setting.variable().unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for word in words {
                let settings = load(Overrides::default(), &[(&name, word)]).unwrap();
                assert!(
                    seen.insert(format!("{:?}", Settings { layers: Layers::default(), ..settings })),
                    "{name}={word}"
                );
            }
        }
    }

    #[test]
    fn a_bad_number_is_reported_with_its_variable() {
        let error = load(Overrides::default(), &[("RHUMB_MAP_TOKENS", "lots")]).unwrap_err();
        assert!(
            matches!(error, ConfigError::BadValue { .. }) && error.to_string().contains("RHUMB_MAP_TOKENS"),
            "{error}"
        );
    }
}
