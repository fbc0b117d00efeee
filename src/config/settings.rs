//! The effective settings, after all layers are combined.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rhumb_session::ContextRequestPolicy;

use super::layers::{Layers, Sources};
use super::paths::owner_if_another;
use super::provider::entries;
use super::{ConfigError, Embeddings, Keys, Providers, keyring_of_system};
use rhumb_edit::EditFormat;
use rhumb_index::repo_map::Refresh;
use rhumb_llm::models::{Api, Catalog, Dollars, ModelOverride};
use toml::Value;

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

/// The effective settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The root of the API for all models, if set.
    pub base_url: Option<String>,
    /// The model, if set.
    pub model: Option<String>,
    /// The model for summaries, if set.
    pub weak_model: Option<String>,
    /// The model that writes edits in architect mode, if set.
    pub editor_model: Option<String>,
    /// Short names for models; see [`Settings::model_named`].
    pub aliases: BTreeMap<String, String>,
    /// Properties of models, by name.
    pub models: BTreeMap<String, ModelOverride>,
    /// The API of the server, if it does not follow from the address or the model.
    pub api: Option<Api>,
    /// Whether the address was set by the user and not by the repository, so that keys without a host may be sent there.
    pub address_is_own: bool,
    /// The command that prints the key of the configured address.
    pub key_command: Option<String>,
    /// The providers of the settings and the environment.
    pub providers: Providers,
    /// Where keys are searched.
    pub keys: Keys,
    /// The context window in tokens, if set.
    pub context_window: Option<usize>,
    /// Maximum tokens of an answer, if set.
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature, if set.
    pub temperature: Option<f64>,
    /// The reasoning effort as a word, if set.
    pub thinking_effort: Option<String>,
    /// The reasoning effort in tokens, if set.
    pub thinking_tokens: Option<u32>,
    /// The budget of the repo map in tokens, if set.
    pub map_tokens: Option<usize>,
    /// When the repo map is updated.
    pub map_refresh: Refresh,
    /// The cache folder; `None` disables caching.
    pub cache_folder: Option<PathBuf>,
    /// The state folder, for the journal, sessions and approvals; `None` records nothing.
    pub state_folder: Option<PathBuf>,
    /// The edit format, if set.
    pub edit_format: Option<EditFormat>,
    /// How often edits without a place are sent back to the model automatically for one request; 0 for never.
    pub edit_rounds: usize,
    /// Tokens of history before it is summarized, if set.
    pub history_tokens: Option<usize>,
    /// The settings of `@codebase`.
    pub codebase: CodebaseSettings,
    /// Whether parts of a request are marked for the cache of the provider.
    pub cache_prompts: bool,
    /// Whether secrets are sent as they are instead of masked.
    pub send_secrets: bool,
    /// How often a request is repeated to keep its cache, while there is no other request.
    pub cache_pings: u32,
    /// The maximum cost of a session, if set.
    pub spending_cap: Option<Dollars>,
    /// How long a server may send no data, if set.
    pub timeout: Option<Duration>,
    /// The language of answers, if set.
    pub language: Option<String>,
    /// The folder with prompts that replace built-in ones.
    pub prompts: Option<PathBuf>,
    /// Read-only files in every chat, relative to the root.
    pub read: Vec<String>,
    /// Patterns of files to leave out of every list, as in `.gitignore` at the root.
    pub ignore: Vec<String>,
    /// Whether convention files are added to every chat.
    pub conventions: bool,
    /// The command that lints a change, if set.
    pub lint_cmd: Option<String>,
    /// The command that tests a change, if set.
    pub test_cmd: Option<String>,
    /// The name of the theme, if set.
    pub theme: Option<String>,
    /// The other settings of display and input.
    pub display: DisplaySettings,
    /// Whether written changes are committed.
    pub auto_commit: bool,
    /// Whether the user's own changes to a file are committed before accepted hunks are written to it; `None` to ask.
    pub dirty_commits: Option<bool>,
    /// What an undo does with the commit of the write.
    pub undo_commit: UndoCommit,
    /// How commits are attributed.
    pub attribution: Attribution,
    /// Whether git hooks run for commits.
    pub commit_hooks: bool,
    /// The language of commit messages, if set.
    pub commit_language: Option<String>,
    /// Whether written files are linted.
    pub lint: bool,
    /// Whether tests run after each write.
    pub test: bool,
    /// The linters of single languages, by language.
    pub linters: BTreeMap<String, String>,
    /// How often findings of lint and tests are sent back to the model for one request.
    pub verify_rounds: usize,
    /// The time limit of tests and linters.
    pub command_timeout: Duration,
    /// Whether the model may suggest commands.
    pub suggest_commands: bool,
    /// Whether files that are named in messages are added to the chat; `None` to ask.
    pub add_mentions: Option<bool>,
    /// Whether a plan is carried out without showing it first.
    pub accept_plan: bool,
    /// The edit format of the editor model, if set.
    pub editor_edit_format: Option<EditFormat>,
    /// The settings of embeddings.
    pub embeddings: Embeddings,
    /// Whether AI comments are followed.
    pub watch: bool,
    /// Whether sessions are saved.
    pub sessions: bool,
    /// How the end of a turn is signalled.
    pub notify: Notify,
    /// The command that signals it instead.
    pub notify_cmd: Option<String>,
    /// The editor for messages, if set.
    pub editor: Option<String>,
    /// The command that records speech, if set.
    pub voice_cmd: Option<String>,
    /// The model that transcribes speech, if set.
    pub voice_model: Option<String>,
    /// The spoken language, if set.
    pub voice_language: Option<String>,
    /// The layers: origins of values, and values that wait for an approval.
    pub layers: Layers,
}

/// What an undo does with the commit of the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UndoCommit {
    /// Drop it if it is HEAD and not pushed; else revert it.
    #[default]
    Drop,
    /// Revert it by a new commit.
    Revert,
}

/// How commits of accepted hunks are attributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribution {
    /// Whether `(rhumb)` is added to the author name.
    pub author: bool,
    /// Whether `(rhumb)` is added to the committer name.
    pub committer: bool,
    /// Whether the message has a `Co-authored-by` trailer with the name of the model.
    pub co_author: bool,
}

/// How the end of a turn is signalled while the terminal is not focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

impl Notify {
    fn named(name: &str) -> Self {
        match name {
            "bell" => Self::Bell,
            "osc9" => Self::Osc9,
            "osc777" => Self::Osc777,
            _ => Self::None,
        }
    }
}

impl Default for Settings {
    /// The settings without any file, variable or flag.
    fn default() -> Self {
        Self::of(Layers::default(), Providers::default(), Keys::default())
    }
}

impl Settings {
    /// Reads and combines all layers.
    ///
    /// # Errors
    /// A layer of the user cannot be read or is wrong.
    pub fn load(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        let layers = Layers::read(sources)?;
        let var = |name: &str| (sources.env)(name).filter(|value| !value.trim().is_empty());
        let beside_key = var("OPENAI_BASE_URL").or_else(|| var("OPENAI_API_BASE"));
        let providers = Providers::new(entries(&layers), beside_key, &var);
        let key_variables = providers.entries.values().filter_map(|entry| entry.key_env.as_deref());
        let keys = Keys::new(&var, sources.paths, keyring_of_system(), key_variables);
        let (cache, state) = sources.paths.map(|paths| (paths.cache.clone(), paths.state.clone())).unzip();
        // A cache folder of another user is not trusted. Without one, everything in it is made again.
        let cache_folder = cache.filter(|cache| owner_if_another(cache).is_none());
        Ok(Self { cache_folder, state_folder: state, ..Self::of(layers, providers, keys) })
    }

    /// The settings of these layers. Settings without a value have the default of the table.
    fn of(layers: Layers, providers: Providers, keys: Keys) -> Self {
        let path = |text: String| match text.strip_prefix("~/").zip(std::env::home_dir()) {
            Some((below, home)) => home.join(below),
            None => PathBuf::from(text),
        };
        let thinking = layers.top("thinking").map(|entry| &entry.value);
        Self {
            base_url: layers.text("base_url"),
            model: layers.text("model"),
            weak_model: layers.text("weak_model"),
            editor_model: layers.text("editor_model"),
            aliases: texts(&layers, "aliases"),
            models: models(&layers),
            api: layers.text("api").and_then(|name| Api::named(&name)),
            address_is_own: !layers.is_foreign("base_url"),
            key_command: layers.text("key_command"),
            providers,
            keys,
            context_window: layers.whole("context_window"),
            max_output_tokens: layers.whole("max_output_tokens"),
            temperature: layers.number("temperature"),
            thinking_effort: thinking.and_then(Value::as_str).map(str::to_owned),
            thinking_tokens: thinking.and_then(Value::as_integer).and_then(|tokens| tokens.try_into().ok()),
            map_tokens: layers.whole("map_tokens"),
            map_refresh: layers.text("map_refresh").and_then(|name| name.parse().ok()).unwrap_or_default(),
            cache_folder: None,
            state_folder: None,
            edit_format: layers.text("edit_format").and_then(|name| name.parse().ok()),
            edit_rounds: layers.whole("edit_rounds").unwrap_or_default(),
            history_tokens: layers.whole("history_tokens"),
            codebase: CodebaseSettings::of(&layers),
            cache_prompts: layers.switch("cache_prompts"),
            send_secrets: layers.text("secrets").as_deref() == Some("send"),
            cache_pings: layers.whole("cache_pings").unwrap_or_default(),
            spending_cap: layers.number("spending_cap").map(Dollars::new),
            timeout: layers.whole("timeout").map(Duration::from_secs),
            language: layers.text("language"),
            prompts: layers.text("prompts").map(path),
            read: layers.list("read"),
            ignore: layers.list("ignore"),
            conventions: layers.switch("conventions"),
            lint_cmd: layers.text("lint_cmd"),
            test_cmd: layers.text("test_cmd"),
            theme: layers.text("theme"),
            display: DisplaySettings::of(&layers),
            auto_commit: layers.switch("auto_commit"),
            dirty_commits: decided(&layers, "dirty_commits", "yes", "no"),
            undo_commit: if layers.text("undo_commit").as_deref() == Some("revert") {
                UndoCommit::Revert
            } else {
                UndoCommit::Drop
            },
            attribution: Attribution {
                author: layers.switch("attribute_author"),
                committer: layers.switch("attribute_committer"),
                co_author: layers.switch("attribute_co_author"),
            },
            commit_hooks: layers.switch("commit_hooks"),
            commit_language: layers.text("commit_language"),
            lint: layers.switch("lint"),
            test: layers.switch("test"),
            linters: texts(&layers, "linters"),
            verify_rounds: layers.whole("verify_rounds").unwrap_or_default(),
            command_timeout: Duration::from_secs(layers.whole("command_timeout").unwrap_or_default()),
            suggest_commands: layers.switch("suggest_commands"),
            add_mentions: decided(&layers, "mentions", "add", "ignore"),
            accept_plan: layers.switch("accept_plan"),
            editor_edit_format: layers.text("editor_edit_format").and_then(|name| name.parse().ok()),
            embeddings: Embeddings::of(&layers),
            watch: layers.switch("watch"),
            sessions: layers.switch("sessions"),
            notify: layers.text("notify").map(|name| Notify::named(&name)).unwrap_or_default(),
            notify_cmd: layers.text("notify_cmd"),
            editor: layers.text("editor"),
            voice_cmd: layers.text("voice_cmd"),
            voice_model: layers.text("voice_model"),
            voice_language: layers.text("voice_language"),
            layers,
        }
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
        let waiting = &self.layers.waiting;
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

/// A setting that may be `ask`: true for the word `yes`, false for `no`, else `None`.
fn decided(layers: &Layers, name: &str, yes: &str, no: &str) -> Option<bool> {
    match layers.text(name)? {
        word if word == yes => Some(true),
        word if word == no => Some(false),
        _ => None,
    }
}

/// A table with texts as values.
fn texts(layers: &Layers, table: &str) -> BTreeMap<String, String> {
    let named = layers.tables(table);
    named.filter_map(|(name, entry)| Some((name.to_owned(), entry.value.as_str()?.to_owned()))).collect()
}

fn models(layers: &Layers) -> BTreeMap<String, ModelOverride> {
    let read = |(name, entry): (&str, &super::Entry)| Some((name.to_owned(), entry.value.clone().try_into().ok()?));
    layers.tables("models").filter_map(read).collect()
}

/// The editing keys of the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ComposerKeys {
    /// Emacs keys, as in shells: Ctrl-a, Ctrl-e, Alt-b.
    #[default]
    Emacs,
    /// Vi keys, with insert and normal mode.
    Vi,
}

/// How the review shows a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

/// The settings of the display and input of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplaySettings {
    /// The theme for a light background, if set.
    pub theme_light: Option<String>,
    /// The theme for a dark background, if set.
    pub theme_dark: Option<String>,
    /// The arrangement of the panes.
    pub layout: LayoutChoice,
    /// Whether mouse events are handled.
    pub mouse: bool,
    /// Whether animations are shown.
    pub animations: bool,
    /// The editing keys of the composer.
    pub composer_keys: ComposerKeys,
    /// How the review shows a hunk.
    pub diff_view: DiffView,
    /// Whether changed words within a line are highlighted.
    pub diff_words: bool,
    /// Whether decided hunks are folded to one line.
    pub fold_decided: bool,
    /// The keys of actions by name, which replace the default keys. An empty list leaves an action without keys.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for DisplaySettings {
    fn default() -> Self {
        Self::of(&Layers::default())
    }
}

impl DisplaySettings {
    /// The settings of these layers.
    pub(super) fn of(layers: &Layers) -> Self {
        let text = |name: &str| layers.text(name);
        Self {
            theme_light: text("theme_light"),
            theme_dark: text("theme_dark"),
            layout: text("layout").and_then(|name| LayoutChoice::named(&name)).unwrap_or_default(),
            mouse: layers.switch("mouse"),
            animations: layers.switch("animations"),
            composer_keys: match text("composer_keys").as_deref() {
                Some("vi") => ComposerKeys::Vi,
                _ => ComposerKeys::Emacs,
            },
            diff_view: match text("diff_view").as_deref() {
                Some("unified") => DiffView::Unified,
                Some("side-by-side") => DiffView::SideBySide,
                _ => DiffView::Auto,
            },
            diff_words: layers.switch("diff_words"),
            fold_decided: layers.switch("fold_decided"),
            keys: keys(layers),
        }
    }
}

/// The table `[keys]`: a list of keys for each action.
fn keys(layers: &Layers) -> BTreeMap<String, Vec<String>> {
    let texts = |value: &Value| match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(key) => vec![key.clone()],
        _ => Vec::new(),
    };
    layers.tables("keys").map(|(action, entry)| (action.to_owned(), texts(&entry.value))).collect()
}

/// The settings of `@codebase`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodebaseSettings {
    /// Budget of the passages in tokens; a share of the context window if `None`.
    pub tokens: Option<usize>,
    /// Whether the weak model chooses search terms.
    pub planning: bool,
    /// Whether the weak model writes guesses at the answer, which are searched for too (HyDE).
    pub hyde: bool,
    /// Whether the weak model ranks the files that were found.
    pub rerank: bool,
    /// How often the model may request more for one question.
    pub rounds: usize,
    /// What happens when it does.
    pub more: ContextRequestPolicy,
}

impl Default for CodebaseSettings {
    fn default() -> Self {
        Self::of(&Layers::default())
    }
}

impl CodebaseSettings {
    pub(super) fn of(layers: &Layers) -> Self {
        Self {
            tokens: layers.whole("codebase_tokens"),
            planning: layers.switch("codebase_planning"),
            hyde: layers.switch("codebase_hyde"),
            rerank: layers.switch("codebase_rerank"),
            rounds: layers.whole("codebase_rounds").unwrap_or_default(),
            more: layers.text("codebase_more").map(|name| ContextRequestPolicy::named(&name)).unwrap_or_default(),
        }
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
        assert_eq!((settings.thinking_tokens, settings.thinking_effort), (Some(8000), None));
        assert_eq!((settings.spending_cap, settings.timeout), (Some(Dollars::new(2.5)), Some(Duration::from_secs(30))));
        assert_eq!((settings.read.len(), settings.conventions), (2, false));
        assert_eq!(settings.test_cmd.as_deref(), Some("make test"));
    }

    #[test]
    fn a_bad_number_is_told() {
        let error = load(Overrides::default(), &[("RHUMB_MAP_TOKENS", "lots")]).unwrap_err();
        assert!(
            matches!(error, ConfigError::BadValue { .. }) && error.to_string().contains("RHUMB_MAP_TOKENS"),
            "{error}"
        );
    }
}
