//! Whether all that the program needs on this machine is there: looked at piece by piece, each with what to do about it. No key is
//! shown, only where it would come from.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use ignore::WalkBuilder;

use crate::clock;
use crate::config::{EmbeddingsSource, PRESETS, Settings};
use crate::host::connect::is_listed;
use crate::host::{IndexError, ModelClient, RequestEnv, embedder};
use crate::store::sessions::{SessionStore, SessionsError, sessions_folder};
use crate::version::Build;
use rhumb_llm::LlmError;
use rhumb_llm::models::{Api, Catalog};
use rhumb_syntax::Language;
use rhumb_text::byte_size;
use rhumb_workspace::process::named_editor;
use rhumb_workspace::{Root, RootKind, has_ctags};

/// How long a model server may take to say which models it has.
const SERVER_TIMEOUT: Duration = Duration::from_secs(8);

/// How a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it should be.
    Good,
    /// Something that one may want and that is not there.
    Lacking,
    /// Something that does not work.
    Bad,
}

impl Health {
    /// The stable name.
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

/// One piece, looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub name: String,
    /// How it is.
    pub health: Health,
    /// In words.
    pub text: String,
    /// What to do; may be empty.
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

/// The checks as a text to read.
pub fn checks_text(checks: &[Check]) -> String {
    let wide = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Check { name, health, text: told, hint } in checks {
        let _ = writeln!(text, "{} {name:<wide$}  {told}", health.mark());
        if !hint.is_empty() {
            let _ = writeln!(text, "  {:<wide$}  → {hint}", "");
        }
    }
    text
}

/// Looks at everything but the model's server. Runs `git` and `ctags` to ask for their versions, and nothing else.
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
    for (note, hint) in env.settings.notes() {
        checks.push(Check::new("settings", Health::Lacking, note, hint));
    }
    checks
}

/// What the face tells under this name does not count as it is written.
pub const KEYS: &str = "key bindings";

/// What the face tells of the terminal where the environment names none.
const NO_TERMINAL: &str = "TERM is not set";

fn terminal_check((name, text): &(String, String)) -> Check {
    if name == KEYS {
        return Check::new(name, Health::Lacking, text, "/keys shows the names of actions and the keys in force.");
    }
    match name.as_str() {
        "terminal" if text == NO_TERMINAL => {
            Check::new(name, Health::Lacking, text, "The full screen needs a terminal; rhumb --plain talks in lines.")
        }
        "locale" if !text.to_uppercase().replace('-', "").contains("UTF8") => {
            let hint = "The screen is drawn in UTF-8. If signs come out wrong, set LANG, to C.UTF-8 for instance.";
            Check::new(name, Health::Lacking, text, hint)
        }
        _ => Check::good(name, text),
    }
}

/// ModelRole makes embeddings. A model on this machine is opened; a server is not asked, nor a key looked for.
fn embeddings(settings: &Settings) -> Check {
    const NAME: &str = "embeddings";
    let lacking = |error: &IndexError| Check::new(NAME, Health::Lacking, format!("{error}."), error.hint());
    match (settings.embeddings.source, &settings.embeddings.model) {
        (EmbeddingsSource::Off, _) => Check::good(NAME, "off: passages are searched by words alone"),
        (EmbeddingsSource::Remote, None) => lacking(&IndexError::NoServer),
        (EmbeddingsSource::Remote, Some(model)) => {
            Check::good(NAME, format!("{model} at its server; rhumb index shows more"))
        }
        (EmbeddingsSource::Local, _) => match embedder(settings) {
            Ok(Some(embedder)) => Check::good(NAME, embedder.identity()),
            Ok(None) => lacking(&IndexError::Off),
            Err(error) => Check::new(NAME, Health::Bad, format!("{error}."), error.hint()),
        },
    }
}

/// The version, the build and the machine.
pub fn version() -> String {
    format!("rhumb {} on {} {}", Build::this().short(), std::env::consts::OS, std::env::consts::ARCH)
}

fn repository(root: &Root) -> Check {
    let place = root.path().display();
    match root.kind() {
        RootKind::Git => Check::good("repository", format!("{place}, in git")),
        RootKind::Bare => {
            let text = format!("{place}, a bare repository: it has no files to work on");
            Check::new("repository", Health::Lacking, text, "Start rhumb in a clone or a worktree of it.")
        }
        RootKind::Directory => {
            let text = format!("{place}, which is not in git");
            Check::new(
                "repository",
                Health::Lacking,
                text,
                "git init starts a repository, so that writes are committed.",
            )
        }
    }
}

/// The first line of what a program says of itself.
fn says(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().next().unwrap_or_default().trim().to_owned())
}

fn tool(program: &str, argument: &str, without: &str) -> Check {
    match says(program, &[argument]) {
        Some(line) => Check::good(program, line),
        None => Check::new(program, Health::Lacking, format!("there is no {program} on the PATH"), without),
    }
}

fn ctags() -> Check {
    if has_ctags() {
        // The options of a folder would answer in its place.
        return Check::good("ctags", says("ctags", &["--options=NONE", "--version"]).unwrap_or_default());
    }
    let text = format!(
        "not here, and not needed: {} languages are read by grammars of our own, files of others word by word",
        Language::all().count()
    );
    Check::new("ctags", Health::Lacking, text, "universal-ctags, built with JSON, finds definitions in those others.")
}

fn editor(settings: &Settings) -> Check {
    let Some(line) = named_editor(settings.editor.as_deref(), |name| std::env::var(name).ok()) else {
        let hint = "Set $EDITOR, or editor in rhumb.toml, for /editor.";
        return Check::new("editor", Health::Lacking, "no editor is named", hint);
    };
    let words = shell_words::split(&line).unwrap_or_default();
    match words.first().filter(|program| is_on_path(program)) {
        Some(_) => Check::good("editor", line),
        None => {
            Check::new("editor", Health::Bad, format!("{line} is not on the PATH"), "Correct $EDITOR or install it.")
        }
    }
}

fn is_on_path(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    Path::new(program).is_file() || std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// Where a key would come from, for each provider.
fn keys(settings: &Settings) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    if settings.base_url.is_some() {
        return vec![key_of(settings, "base_url", settings.model.as_deref().unwrap_or_default())];
    }
    let own = settings.providers.entries.keys().map(String::as_str);
    let presets = PRESETS.iter().filter(|preset| preset.api != Api::Ollama).map(|preset| preset.name);
    let mut names: Vec<&str> = presets.chain(own).collect();
    names.dedup();
    for name in names {
        match key_of(settings, name, &format!("{name}/any")) {
            check if check.health == Health::Lacking => missing.push(name),
            check => checks.push(check),
        }
    }
    if checks.is_empty() {
        let text = format!("there is none for any of {}", missing.join(", "));
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
            None => Check::new(&title, Health::Lacking, "there is none, so none is sent", ""),
        },
        Ok(None) => Check::new(&title, Health::Lacking, "there is none", ""),
        Err(_) if is_unused(settings, name) => Check::new(&title, Health::Lacking, "there is none", ""),
        Err(error) => Check::new(&title, Health::Bad, format!("{error}."), error.hint()),
    }
}

/// Whether it is one of those where everybody has an address of their own, and nobody here has begun to use it: not even a key
/// is set.
fn is_unused(settings: &Settings, name: &str) -> bool {
    let is_set = |variable: &&str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    let preset = PRESETS.iter().find(|preset| preset.name == name && preset.base_url.is_none());
    preset.is_some_and(|preset| !preset.key_variables.iter().any(is_set))
        && !settings.providers.entries.contains_key(name)
}

/// Whether the user's folders can be written to, and how large they are.
fn folders(env: &RequestEnv) -> Vec<Check> {
    let Settings { state_folder, cache_folder, .. } = &env.settings;
    let config = env.settings_file.as_deref().and_then(Path::parent).map(|folder| match folder.is_dir() {
        true => Check::good("settings", folder.display().to_string()),
        false => Check::good("settings", format!("{} (not there; nothing needs it)", folder.display())),
    });
    // Without a journal no write can be undone; a cache is made anew.
    let kept = [
        ("state", "XDG_STATE_HOME", state_folder, Health::Bad),
        ("cache", "XDG_CACHE_HOME", cache_folder, Health::Lacking),
    ];
    let kept = kept.into_iter().map(|(name, variable, folder, without)| match folder {
        Some(folder) => writable(name, folder),
        None => {
            let hint = format!("Set {variable} to a folder of your own; without any, set HOME.");
            Check::new(name, without, "there is no folder of yours, so nothing is kept", hint)
        }
    });
    config.into_iter().chain(kept).collect()
}

/// Whether something can be kept in a folder, or where it would be made. Nothing is left behind there.
fn writable(name: &str, folder: &Path) -> Check {
    let place = folder.display();
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    match tempfile::tempfile_in(there) {
        Ok(_) if there == folder => Check::good(name, format!("{place}, {}", size(folder))),
        Ok(_) => Check::good(name, format!("{place} (not there yet)")),
        Err(error) => {
            let text = format!("{place} cannot be written to: {error}");
            Check::new(
                name,
                Health::Bad,
                text,
                "Check the permissions and the space there; until then nothing is kept.",
            )
        }
    }
}

/// Days after which a list of models is old: by then there are new ones, and other prices.
const OLD_AFTER_DAYS: u64 = 90;

/// The youngest list of models, which is old if it is from before the day `old`.
fn model_list(catalog: &Catalog, old: &str) -> Check {
    const NAME: &str = "models";
    let Some((list, source)) = catalog.lists().max_by(|(a, _), (b, _)| a.date.cmp(&b.date)) else {
        return Check::new(NAME, Health::Lacking, "there is no list of models", REFRESH);
    };
    let text = format!("{} in the {} list of {}", list.models.len(), source.name(), list.date);
    match list.date.as_str() < old {
        true => Check::new(NAME, Health::Lacking, text, REFRESH),
        false => Check::good(NAME, text),
    }
}

const REFRESH: &str = "rhumb models --refresh fetches the public lists; windows and prices may have changed.";

/// Whether the sessions of this repository can be read. A damaged database stays where it is.
fn sessions(root: &Root, settings: &Settings) -> Check {
    const NAME: &str = "sessions";
    let Some(state) = settings.state_folder.as_deref().filter(|_| settings.sessions) else {
        return Check::good(NAME, "not kept, as the settings say");
    };
    let count = |folder: &Path| match SessionStore::open_existing(folder)? {
        Some(store) => Ok(store.list("")?.len()),
        None => Ok::<usize, SessionsError>(0),
    };
    match count(&sessions_folder(state, root.path())) {
        Ok(count) => Check::good(NAME, format!("{count} of this repository")),
        Err(error) if error.is_damage() => {
            let hint = "The next start moves it aside, as it is, and begins a new one.";
            Check::new(NAME, Health::Bad, format!("{error}."), hint)
        }
        Err(error) => Check::new(NAME, Health::Bad, format!("{error}."), error.hint()),
    }
}

/// Files and folders that are measured: a look must not take long, however much there is.
const MAX_MEASURED_ENTRIES: usize = 20_000;

/// How large a folder is, in words. Links are not followed.
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

/// Asks the model's server which models it has: that it answers, and takes the key. `None` stands for no connection.
pub async fn server_check(client: Option<&ModelClient>) -> Check {
    const NAME: &str = "model server";
    let Some(client) = client else {
        let hint = "Start with --base-url and --model, or set a provider's key; /servers in the app looks for a server on this machine.";
        return Check::new(NAME, Health::Lacking, "no model is connected", hint);
    };
    let who = client.provider.name();
    match tokio::time::timeout(SERVER_TIMEOUT, client.provider.models()).await {
        Ok(Ok(models)) if models.is_empty() => Check::good(NAME, format!("{who} is connected")),
        Ok(Ok(models)) if is_listed(&client.model, &models) => {
            let noun = if models.len() == 1 { "model" } else { "models" };
            Check::good(NAME, format!("{who} answers, with {} {noun}", models.len()))
        }
        Ok(Ok(models)) => {
            let text =
                format!("{who} answers; {} is not among the {} models that it lists", client.model, models.len());
            Check::new(NAME, Health::Lacking, text, "/models lists them.")
        }
        Ok(Err(LlmError::NotFound { .. } | LlmError::BadRequest { .. })) => {
            Check::good(NAME, format!("{who} answers; it has no list of models"))
        }
        Ok(Err(error)) => Check::new(NAME, Health::Bad, format!("{who}: {error}"), error.hint()),
        Err(_) => {
            let text = format!("{who} did not answer within {} s", SERVER_TIMEOUT.as_secs());
            Check::new(NAME, Health::Bad, text, "Check the network, the address and the proxy.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_folder_that_cannot_be_made_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(writable("state", &file.path().join("below")).health, Health::Bad);
    }

    #[test]
    fn a_terminal_or_locale_that_is_not_set_is_no_praise() {
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
    fn a_list_of_models_from_long_ago_is_told() {
        let catalog = Catalog::bundled();
        let date = catalog.lists().next().map(|(list, _)| list.date.clone()).unwrap();
        assert_eq!(model_list(&catalog, &date).health, Health::Good);
        let old = model_list(&catalog, "9999-01-01");
        assert!(old.health == Health::Lacking && old.text.contains(&date) && !old.hint.is_empty(), "{old:?}");
    }

    #[test]
    fn damaged_sessions_are_told_and_left_where_they_are() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = Root::at(folder.path()).unwrap();
        let settings = Settings { state_folder: Some(state.path().to_owned()), ..Settings::default() };
        assert_eq!(sessions(&root, &settings).text, "0 of this repository");
        let (store, _) = SessionStore::open(&sessions_folder(state.path(), root.path())).unwrap();
        let file = store.path().to_owned();
        drop(store);
        let nonsense = "no database at all ".repeat(500);
        std::fs::write(&file, &nonsense).unwrap();
        let check = sessions(&root, &settings);
        assert!(check.health == Health::Bad && check.hint.contains("aside"), "{check:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), nonsense);
        let settings = Settings { sessions: false, ..settings };
        assert_eq!(sessions(&root, &settings).health, Health::Good);
    }

    #[tokio::test]
    async fn no_connection_is_nothing_bad() {
        assert_eq!(server_check(None).await.health, Health::Lacking);
    }
}
