//! `rhumb doctor` and `/doctor`: checks of the installation, each with a hint. Keys are not shown, only their sources.

use crate::clock;
use crate::config::{EmbeddingsSource, PRESETS, Settings};
use crate::host::connect::is_listed;
use crate::host::{IndexError, ModelClient, RequestEnv, TrialSetup, embedder};
use crate::store::sessions::{SessionStore, SessionsError, sessions_folder};
use crate::version::Build;
use ignore::WalkBuilder;
use rhumb_llm::LlmError;
use rhumb_llm::models::{Api, Catalog};
use rhumb_syntax::Language;
use rhumb_text::byte_size;
use rhumb_trial::Network;
use rhumb_workspace::process::{is_installed, named_editor};
use rhumb_workspace::{Root, RootKind, has_ctags};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Maximum time for a model server to list its models.
const SERVER_TIMEOUT: Duration = Duration::from_secs(8);

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// It works.
    Good,
    /// Something optional is missing.
    Lacking,
    /// It does not work.
    Bad,
}

impl Health {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Lacking => "lacking",
            Self::Bad => "bad",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Lacking => "·",
            Self::Bad => "✗",
        }
    }
}

/// A check with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The subject.
    pub name: String,
    /// The result.
    pub health: Health,
    /// The result as text.
    pub text: String,
    /// What to do next; may be empty.
    pub hint: String,
}

impl Check {
    fn new(name: &str, health: Health, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.to_owned(), health, text: text.into(), hint: hint.into() }
    }

    fn good(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, Health::Good, text, "")
    }
}

/// The checks as text.
pub fn checks_text(checks: &[Check]) -> String {
    let wide = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Check { name, health, text: result, hint } in checks {
        let _ = writeln!(text, "{} {name:<wide$}  {result}", health.mark());
        if !hint.is_empty() {
            let _ = writeln!(text, "  {:<wide$}  → {hint}", "");
        }
    }
    text
}

/// Runs all checks except that of the model server. Runs no commands but `git` and `ctags` with `--version`, and `true` in a trial
/// checkout.
pub fn checkup(root: &Root, env: &RequestEnv, terminal: &[(String, String)]) -> Vec<Check> {
    let mut checks = vec![Check::good("version", version())];
    checks.extend(terminal.iter().map(terminal_check));
    checks.push(repository(root));
    checks.push(tool("git", "--version", "Undo, diffs and commits need no git; /git and signed commits do."));
    checks.push(ctags());
    checks.push(editor(&env.settings));
    checks.extend(keys(&env.settings));
    checks.push(model_list(&env.catalog, &clock::days_ago(OLD_AFTER_DAYS)));
    checks.push(embeddings(&env.settings));
    checks.extend(folders(env));
    checks.push(sessions(root, &env.settings));
    checks.push(trials(root, &env.settings));
    for (note, hint) in env.settings.notes() {
        checks.push(Check::new("settings", Health::Lacking, note, hint));
    }
    checks
}

/// The name of a check for errors in the key bindings, which the front end provides.
pub const KEYS: &str = "key bindings";

/// The text of the front end if `TERM` is not set.
const NO_TERMINAL: &str = "TERM is not set";

fn terminal_check((name, text): &(String, String)) -> Check {
    if name == KEYS {
        return Check::new(name, Health::Lacking, text, "/keys shows the names of actions and the keys in force.");
    }
    match name.as_str() {
        "terminal" if text == NO_TERMINAL => {
            Check::new(name, Health::Lacking, text, "The full-screen app needs a terminal; rhumb --plain does not.")
        }
        "locale" if !text.to_uppercase().replace('-', "").contains("UTF8") => {
            let hint = "The screen is drawn in UTF-8. If characters are wrong, set LANG, for instance to C.UTF-8.";
            Check::new(name, Health::Lacking, text, hint)
        }
        _ => Check::good(name, text),
    }
}

/// The embedding model. A local model is loaded; a server is not contacted.
fn embeddings(settings: &Settings) -> Check {
    const NAME: &str = "embeddings";
    let lacking = |error: &IndexError| Check::new(NAME, Health::Lacking, format!("{error}."), error.hint());
    match (settings.embeddings.source, &settings.embeddings.model) {
        (EmbeddingsSource::Off, _) => Check::good(NAME, "off: the search is by words alone"),
        (EmbeddingsSource::Remote, None) => lacking(&IndexError::NoServer),
        (EmbeddingsSource::Remote, Some(model)) => {
            Check::good(NAME, format!("{model} on a server; rhumb index shows more"))
        }
        (EmbeddingsSource::Local, _) => match embedder(settings) {
            Ok(Some(embedder)) => Check::good(NAME, embedder.identity()),
            Ok(None) => lacking(&IndexError::Off),
            Err(error) => Check::new(NAME, Health::Bad, format!("{error}."), error.hint()),
        },
    }
}

/// The version, build and machine.
pub fn version() -> String {
    format!("rhumb {} on {} {}", Build::this().short(), std::env::consts::OS, std::env::consts::ARCH)
}

fn repository(root: &Root) -> Check {
    let path = root.path().display();
    match root.kind() {
        RootKind::Git => Check::good("repository", format!("{path}, in git")),
        RootKind::Bare => {
            let text = format!("{path}, a bare repository without files");
            Check::new("repository", Health::Lacking, text, "Start rhumb in a clone or a worktree of it.")
        }
        RootKind::Directory => {
            let text = format!("{path}, not in git");
            Check::new("repository", Health::Lacking, text, "With git init, writes are committed.")
        }
    }
}

fn first_output_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().next().unwrap_or_default().trim().to_owned())
}

fn tool(program: &str, argument: &str, without: &str) -> Check {
    match first_output_line(program, &[argument]) {
        Some(line) => Check::good(program, line),
        None => Check::new(program, Health::Lacking, "not found on the PATH".to_owned(), without),
    }
}

fn ctags() -> Check {
    if has_ctags() {
        // Without options files, which could change the output.
        return Check::good("ctags", first_output_line("ctags", &["--options=NONE", "--version"]).unwrap_or_default());
    }
    let text = format!(
        "not found, and optional: {} languages have grammars, other files are indexed by words",
        Language::all().count()
    );
    Check::new("ctags", Health::Lacking, text, "universal-ctags with JSON support finds definitions in other files.")
}

fn editor(settings: &Settings) -> Check {
    let Some(line) = named_editor(settings.editor.as_deref(), |name| std::env::var(name).ok()) else {
        let hint = "Set $EDITOR, or editor in rhumb.toml, to use /editor.";
        return Check::new("editor", Health::Lacking, "no editor is set", hint);
    };
    let words = shell_words::split(&line).unwrap_or_default();
    match words.first().filter(|program| is_installed(program)) {
        Some(_) => Check::good("editor", line),
        None => {
            Check::new("editor", Health::Bad, format!("{line} is not on the PATH"), "Correct $EDITOR, or install it.")
        }
    }
}

fn keys(settings: &Settings) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    if settings.base_url.is_some() {
        return vec![key_of(settings, "base_url", settings.model.as_deref().unwrap_or_default())];
    }
    let presets = PRESETS.iter().filter(|preset| preset.api != Api::Ollama).map(|preset| preset.name);
    let presets: Vec<&str> = presets.collect();
    let own = settings.providers.entries.keys().map(String::as_str).filter(|name| !presets.contains(name));
    for name in presets.iter().copied().chain(own) {
        match key_of(settings, name, &format!("{name}/any")) {
            check if check.health == Health::Lacking => missing.push(name),
            check => checks.push(check),
        }
    }
    if checks.is_empty() {
        let text = format!("no key for {}", missing.join(", "));
        let hint = "Without a model, /copy-context and /paste work; /servers looks for a model server on this machine.";
        checks.push(Check::new("keys", Health::Lacking, text, hint));
    }
    checks
}

fn key_of(settings: &Settings, name: &str, model: &str) -> Check {
    let title = format!("key: {name}");
    match settings.endpoint_without_key(model) {
        Ok(Some(endpoint)) => match endpoint.key_source {
            Some(source) => Check::good(&title, format!("from {source}")),
            None => Check::new(&title, Health::Lacking, "none, so none is sent", ""),
        },
        Ok(None) => Check::new(&title, Health::Lacking, "none", ""),
        Err(_) if is_unused(settings, name) => Check::new(&title, Health::Lacking, "none", ""),
        Err(error) => Check::new(&title, Health::Bad, format!("{error}."), error.hint()),
    }
}

/// Whether a provider without a fixed address is not used here: neither an address nor a key is set.
fn is_unused(settings: &Settings, name: &str) -> bool {
    let is_set = |variable: &&str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    let preset = PRESETS.iter().find(|preset| preset.name == name && preset.base_url.is_none());
    preset.is_some_and(|preset| !preset.key_variables.iter().any(is_set))
        && !settings.providers.entries.contains_key(name)
}

/// Whether the folders of the user are writable, and their size.
fn folders(env: &RequestEnv) -> Vec<Check> {
    let Settings { state_folder, cache_folder, .. } = &env.settings;
    let config = env.settings_file.as_deref().and_then(Path::parent).map(|folder| match folder.is_dir() {
        true => Check::good("settings", folder.display().to_string()),
        false => Check::good("settings", format!("{} (does not exist; optional)", folder.display())),
    });
    // Without a state folder no write can be undone; the cache is optional.
    let kept = [
        ("state", "XDG_STATE_HOME", state_folder, Health::Bad),
        ("cache", "XDG_CACHE_HOME", cache_folder, Health::Lacking),
    ];
    let kept = kept.into_iter().map(|(name, variable, folder, without)| match folder {
        Some(folder) => writable(name, folder),
        None => {
            let hint = format!("Set {variable} or HOME.");
            Check::new(name, without, "there is no folder, so nothing is saved", hint)
        }
    });
    config.into_iter().chain(kept).collect()
}

/// Whether a folder, or its nearest existing parent, is writable. Leaves no file behind.
fn writable(name: &str, folder: &Path) -> Check {
    let path = folder.display();
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    match tempfile::tempfile_in(existing) {
        Ok(_) if existing == folder => Check::good(name, format!("{path}, {}", size(folder))),
        Ok(_) => Check::good(name, format!("{path} (does not exist yet)")),
        Err(error) => {
            let text = format!("{path} is not writable: {error}");
            Check::new(name, Health::Bad, text, "Check its permissions and free space. Until then nothing is saved.")
        }
    }
}

/// Age in days at which a model list is outdated.
const OLD_AFTER_DAYS: u64 = 90;

/// The newest model list. It is outdated if it is older than the date `old`.
fn model_list(catalog: &Catalog, old: &str) -> Check {
    const NAME: &str = "models";
    let Some((list, source)) = catalog.lists().max_by(|(a, _), (b, _)| a.date.cmp(&b.date)) else {
        return Check::new(NAME, Health::Lacking, "there is no model list", REFRESH);
    };
    let text = format!("{} in the {} list of {}", list.models.len(), source.name(), list.date);
    match list.date.as_str() < old {
        true => Check::new(NAME, Health::Lacking, text, REFRESH),
        false => Check::good(NAME, text),
    }
}

const REFRESH: &str = "rhumb models --refresh fetches current lists with windows and prices.";

/// Whether the sessions of this repository can be read. A damaged database is not changed.
fn sessions(root: &Root, settings: &Settings) -> Check {
    const NAME: &str = "sessions";
    let Some(state) = settings.state_folder.as_deref().filter(|_| settings.sessions) else {
        return Check::good(NAME, "off in the settings");
    };
    let count = |folder: &Path| match SessionStore::open_existing(folder)? {
        Some(store) => Ok(store.list("")?.len()),
        None => Ok::<usize, SessionsError>(0),
    };
    match count(&sessions_folder(state, root.path())) {
        Ok(count) => Check::good(NAME, format!("{count} of this repository")),
        Err(error) if error.is_damage() => {
            let hint = "The next start moves it aside and creates a new one.";
            Check::new(NAME, Health::Bad, format!("{error}."), hint)
        }
        Err(error) => Check::new(NAME, Health::Bad, format!("{error}."), error.hint()),
    }
}

/// What isolates a command in a trial checkout here, and why it is not more.
fn trials(root: &Root, settings: &Settings) -> Check {
    const NAME: &str = "trials";
    let probe = TrialSetup::new(settings).open(root).and_then(|mut trial| trial.probe(Network::None));
    match probe {
        Ok(isolation) if isolation.missing.is_empty() => Check::good(NAME, isolation.summary()),
        Ok(isolation) => {
            let text = format!("{}: {}", isolation.summary(), isolation.missing.join("; "));
            let hint = "Commands are isolated completely where user namespaces are allowed (Linux, not in most containers) and the \
                        kernel has Landlock.";
            Check::new(NAME, Health::Lacking, text, hint)
        }
        Err(error) => {
            let hint = "Check the permissions and the free space of the state folder. Until then nothing can be tried.";
            Check::new(NAME, Health::Lacking, format!("{error}."), hint)
        }
    }
}

/// Maximum number of entries that are counted for the size of a folder, to limit the time.
const MAX_MEASURED_ENTRIES: usize = 20_000;

/// The size of a folder as text. Links are not followed.
fn size(folder: &Path) -> String {
    let mut bytes = 0;
    let walk = WalkBuilder::new(folder).standard_filters(false).build();
    for (at, entry) in walk.filter_map(Result::ok).enumerate() {
        if at == MAX_MEASURED_ENTRIES {
            return format!("more than {}", byte_size(bytes));
        }
        bytes += entry.metadata().ok().filter(|meta| meta.is_file()).map_or(0, |meta| meta.len());
    }
    byte_size(bytes)
}

/// Checks that the model server answers and accepts the key, by listing its models.
pub async fn server_check(client: Option<&ModelClient>) -> Check {
    const NAME: &str = "model server";
    let Some(client) = client else {
        let hint = "Start with --base-url and --model, or set a provider's key. /servers in the app finds a server on this machine.";
        return Check::new(NAME, Health::Lacking, "no model is connected", hint);
    };
    let server = client.provider.name();
    match tokio::time::timeout(SERVER_TIMEOUT, client.provider.models()).await {
        Ok(Ok(models)) if models.is_empty() => Check::good(NAME, format!("{server} is connected")),
        Ok(Ok(models)) if is_listed(&client.model, &models) => {
            let noun = if models.len() == 1 { "model" } else { "models" };
            Check::good(NAME, format!("{server} answers and lists {} {noun}", models.len()))
        }
        Ok(Ok(models)) => {
            let text = format!("{server} answers, but {} is not among its {} models", client.model, models.len());
            Check::new(NAME, Health::Lacking, text, "/models lists them.")
        }
        Ok(Err(LlmError::NotFound { .. } | LlmError::BadRequest { .. })) => {
            Check::good(NAME, format!("{server} answers and has no model list"))
        }
        Ok(Err(error)) => Check::new(NAME, Health::Bad, format!("{server}: {error}"), error.hint()),
        Err(_) => {
            let text = format!("{server} did not answer within {} s", SERVER_TIMEOUT.as_secs());
            Check::new(NAME, Health::Bad, text, "Check the network, the address and the proxy.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderEntry;

    #[test]
    fn every_check_says_what_to_do_where_something_does_not_work() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path()).unwrap();
        let terminal = [("terminal".to_owned(), "xterm".to_owned())];
        let checks = checkup(&root, &RequestEnv::default(), &terminal);
        assert!(checks.iter().any(|check| check.name == "terminal" && check.text == "xterm"));
        for check in checks.iter().filter(|check| check.health == Health::Bad) {
            assert!(!check.hint.is_empty(), "{check:?}");
        }
        let text = checks_text(&checks);
        assert!(text.contains("✓ version") && text.lines().count() >= checks.len(), "{text}");
    }

    #[test]
    fn a_preset_with_an_entry_in_the_settings_is_named_once() {
        let mut settings = Settings::default();
        settings.providers.entries.insert("anthropic".into(), ProviderEntry::default());
        let told: String = keys(&settings).iter().map(|check| format!("{} {}\n", check.name, check.text)).collect();
        assert_eq!(told.matches("anthropic").count(), 1, "{told}");
    }

    #[test]
    fn a_folder_that_cannot_be_created_is_bad() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(writable("state", &file.path().join("below")).health, Health::Bad);
    }

    #[test]
    fn a_terminal_or_locale_that_is_not_set_is_lacking() {
        let health = |name: &str, text: &str| terminal_check(&(name.to_owned(), text.to_owned())).health;
        assert_eq!(health("terminal", "TERM is not set"), Health::Lacking);
        assert_eq!(health("terminal", "xterm-256color"), Health::Good);
        for text in ["not set", "C", "de_DE.ISO-8859-1"] {
            assert_eq!(health("locale", text), Health::Lacking, "{text}");
        }
        for text in ["C.UTF-8", "en_GB.utf8"] {
            assert_eq!(health("locale", text), Health::Good, "{text}");
        }
    }

    #[test]
    fn an_outdated_model_list_is_reported() {
        let catalog = Catalog::bundled();
        let date = catalog.lists().next().map(|(list, _)| list.date.clone()).unwrap();
        assert_eq!(model_list(&catalog, &date).health, Health::Good);
        let old = model_list(&catalog, "9999-01-01");
        assert!(old.health == Health::Lacking && old.text.contains(&date) && !old.hint.is_empty(), "{old:?}");
    }

    #[test]
    fn damaged_sessions_are_reported_and_not_changed() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = Root::at(folder.path()).unwrap();
        let settings = Settings { state_folder: Some(state.path().to_owned()), ..Settings::default() };
        assert_eq!(sessions(&root, &settings).text, "0 of this repository");
        let sessions_folder = sessions_folder(state.path(), root.path());
        drop(SessionStore::open(&sessions_folder).unwrap());
        let file = sessions_folder.join("sessions.db");
        let nonsense = "no database at all ".repeat(500);
        std::fs::write(&file, &nonsense).unwrap();
        let check = sessions(&root, &settings);
        assert!(check.health == Health::Bad && check.hint.contains("aside"), "{check:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), nonsense);
        let settings = Settings { sessions: false, ..settings };
        assert_eq!(sessions(&root, &settings).health, Health::Good);
    }

    #[tokio::test]
    async fn a_missing_connection_is_lacking() {
        assert_eq!(server_check(None).await.health, Health::Lacking);
    }
}
