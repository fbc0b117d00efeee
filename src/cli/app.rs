//! Starts the full-screen app, on the user's repository or on the demo.

use super::args::{Args, PictureArgs};
use crate::config::{Paths, Settings, private_folder};
use crate::demo;
use crate::error::{ErrorKind, UserError};
use crate::headless::{LineUiStart, path_under, print, print_message, run_line_ui};
use crate::host::{Host, ModelClient, RequestEnv, connect, recovered};
use crate::store::LayoutFile;
use crate::tui::action::key_notes;
use crate::tui::event_loop::{self, AppExit};
use crate::tui::theme::store::ThemeChoice;
use crate::tui::theme::{ColorDepth, Theme, Themes};
use crate::tui::{self, Start};
use rhumb_llm::{KeySource, Provider, ScriptedProvider, ScriptedReply};
use rhumb_session::{ConnectRequest, Connection, MentionPolicy, ModeRules, SessionStart};
use rhumb_workspace::process::is_installed;
use rhumb_workspace::{Journal, Root, RootKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn open(root: &Root, settings: Settings, args: &Args, draft: String) -> Result<u8, UserError> {
    let mut warnings = settings.notes();
    let (env, notes) = RequestEnv::of_user(settings);
    warnings.extend(notes.into_iter().map(|note| (note.message, note.hint)));
    let settings = &env.settings;
    announce_key_command(settings);
    let model = ModelAtStart::connect(&env, &mut warnings);
    warnings.extend(root_warnings(root, settings));
    let (themes, themes_folder) = themes();
    let theme_choice = theme_choice(settings);
    let theme = chosen_theme(settings, &themes, &theme_choice, &mut warnings)?;
    warnings.extend(key_notes(settings));
    let plain = LineUiReason::wanted(args.plain, |name| std::env::var(name).ok());
    let start = Start {
        theme,
        themes,
        theme_choice,
        themes_folder,
        display: settings.display.clone(),
        layout_file: settings.state_folder.as_deref().map(LayoutFile::new),
        notify: settings.notify,
        notify_by_command: settings.notify_cmd.is_some(),
        is_first: args.wanted().is_none() && settings.state_folder.as_deref().is_some_and(is_first_start),
        test_panic: args.test_panic,
        session: SessionStart {
            root: display_name(root),
            folder: root.path().to_owned(),
            draft,
            files: args.files.iter().map(|name| path_under(root, name)).collect(),
            resume: args.wanted(),
            resume_command: args.resume_command(plain.is_some()),
            warnings,
            watch: settings.watch || args.provider.watch,
            connection: model.connection(),
            facts: model.client.as_ref().map(|client| Arc::clone(&client.facts)),
            missing_model: model.missing,
            connect: model.client.is_none().then_some(model.request),
            ..session_start(settings)
        },
    };
    match plain {
        Some(plain) => plain.run(start, root.clone(), env, model.client),
        None => run(start, root.clone(), env, model.client),
    }
}

/// The model of the settings when the app starts.
#[derive(Default)]
struct ModelAtStart {
    client: Option<ModelClient>,
    /// Why no model is connected although one was named: a sentence without its full stop.
    missing: Option<String>,
    /// The provider and the model that were named although no model is connected.
    request: ConnectRequest,
}

impl ModelAtStart {
    /// Connects the model of the settings. A malformed address is only a warning: map, context and review work without a model.
    fn connect(env: &RequestEnv, warnings: &mut Vec<(String, String)>) -> Self {
        let settings = &env.settings;
        let client = connect(env).unwrap_or_else(|error| {
            warnings.push((format!("No model is connected: {error}."), error.hint()));
            None
        });
        match (client, settings.model.clone()) {
            // Without a key, nothing is requested from a provider that needs one.
            (Some(ModelClient { lacks_key_of: Some(provider), .. }), model) => {
                let model = model.unwrap_or_default();
                let missing = format!("{model} needs a key for {provider}, and there is none");
                Self::missing(Some(provider), model, Some(missing))
            }
            (Some(client), _) => {
                warnings.extend(client.notes.clone());
                Self { client: Some(client), ..Self::default() }
            }
            (None, Some(model)) => Self::missing(settings.maker_of(&model), model.clone(), settings.lacking(&model)),
            (None, None) => Self::default(),
        }
    }

    /// No model, for a reason that may be unknown.
    fn missing(provider: Option<String>, model: String, missing: Option<String>) -> Self {
        let reason = missing.as_deref().map(|missing| format!("{missing}.")).unwrap_or_default();
        let request = ConnectRequest { provider, model, reason, is_for_message: false };
        Self { client: None, missing, request }
    }

    fn connection(&self) -> Connection {
        self.client.as_ref().map_or(Connection::None, |client| Connection::Remote {
            model: client.model.clone(),
            host: client.provider.name(),
        })
    }
}

/// Finishes interrupted writes. Returns warnings about them, and that there is no git repository.
fn root_warnings(root: &Root, settings: &Settings) -> Vec<(String, String)> {
    let journal = settings.state_folder.as_deref().map(|state| Journal::new(state, root));
    let interrupted = recovered(root, journal.as_ref()).into_iter().map(|failure| (failure.message, failure.hint));
    let no_repository = (root.kind() == RootKind::Directory).then(|| {
        (
            "This folder is not in a git repository: what you accept is written, but not committed.".to_owned(),
            "git init starts one.".to_owned(),
        )
    });
    interrupted.chain(no_repository).collect()
}

/// A session as the settings determine it.
fn session_start(settings: &Settings) -> SessionStart {
    SessionStart {
        editor: settings.editor.clone(),
        read: settings.reference_files(),
        map_refresh: settings.map_refresh,
        edit_rounds: settings.edit_rounds,
        verify_rounds: settings.verify_rounds,
        trial_rules: settings.trial_rules,
        agent_rules: settings.agent_rules,
        allowed_commands: settings.allow.clone(),
        suggest_commands: settings.suggest_commands,
        auto_commit: settings.auto_commit,
        rules: mode_rules(settings),
        spending_cap: settings.spending_cap,
        ..SessionStart::default()
    }
}

fn mode_rules(settings: &Settings) -> ModeRules {
    ModeRules {
        mentions: settings.mentions,
        accept_plan: settings.accept_plan,
        more: settings.codebase.more,
        more_rounds: settings.codebase.rounds,
        reads_pages: true,
    }
}

/// Whether this is the first start of the app for this user; records that it is not the next time. If that cannot be recorded,
/// it is not a first start.
fn is_first_start(state: &std::path::Path) -> bool {
    private_folder(state).and_then(|()| std::fs::File::create_new(state.join("welcomed"))).is_ok()
}

/// Prints that the key command is run, which may take time or prompt before the screen is set up.
fn announce_key_command(settings: &Settings) {
    let endpoint = settings.endpoint_without_key(settings.model.as_deref().unwrap_or_default());
    let source = endpoint.ok().flatten().and_then(|endpoint| endpoint.key_source);
    if matches!(source, Some(KeySource::Command(_))) {
        print_message("running key_command for the key …");
    }
}

fn no_sample(error: &std::io::Error) -> UserError {
    UserError::new(ErrorKind::Machine, format!("the sample cannot be copied: {error}"), "check the space in TMPDIR")
}

/// Creates the sample repository in a folder.
fn sample_repository(folder: &Path) -> Result<Root, UserError> {
    let sample = folder.join("tidewatch");
    std::fs::create_dir(&sample).and_then(|()| demo::unpack(&sample)).map_err(|error| no_sample(&error))?;
    let git = |error: rhumb_workspace::git::GitError| UserError::new(ErrorKind::Machine, &error, error.hint());
    rhumb_workspace::git::init(&sample, "You", "you@example.com", "Start tidewatch").map_err(git)?;
    Root::at(&sample).map_err(|error| UserError::new(ErrorKind::Machine, &error, error.hint().to_owned()))
}

/// Starts the app on a copy of the sample repository, with recorded replies.
pub(super) fn demo(settings: Settings, speed: u32, plain: bool, picture: &PictureArgs) -> Result<u8, UserError> {
    // The folder must exist while the app runs.
    let folder = tempfile::Builder::new().prefix("rhumb-demo-").tempdir().map_err(|error| no_sample(&error))?;
    let root = sample_repository(folder.path())?;
    let replies = demo::replies().into_iter().map(|(words, reply)| ScriptedReply {
        match_words: words.into_iter().map(str::to_owned).collect(),
        reply: reply.to_owned(),
    });
    let speed = if picture.svg.is_some() { 1_000 } else { speed.clamp(1, 1_000) };
    let pace = Duration::from_millis(u64::from(1_000 / speed));
    let provider: Arc<dyn Provider> = Arc::new(ScriptedProvider::new(replies.collect(), pace));
    let (themes, themes_folder) = themes();
    let theme_choice = theme_choice(&settings);
    let start = Start {
        theme: match picture.svg {
            // A file has all colours, regardless of the terminal.
            Some(_) => themed(&themes, &theme_choice, false, ColorDepth::True)?,
            None => theme(&themes, &theme_choice)?,
        },
        themes,
        theme_choice,
        themes_folder,
        display: settings.display.clone(),
        layout_file: None,
        notify: settings.notify,
        notify_by_command: false,
        is_first: false,
        test_panic: false,
        // Recorded replies cannot react: no edit rounds, no mentions.
        session: SessionStart {
            connection: Connection::Demo,
            root: "demo".to_owned(),
            folder: root.path().to_owned(),
            editor: settings.editor.clone(),
            draft: demo::FIRST_MESSAGE.to_owned(),
            files: demo::FIRST_FILES.iter().map(|path| (*path).to_owned()).collect(),
            read: settings.reference_files(),
            map_refresh: settings.map_refresh,
            auto_commit: settings.auto_commit,
            rules: ModeRules { mentions: MentionPolicy::Ignore, ..ModeRules::default() },
            ..SessionStart::default()
        },
    };
    let settings = Settings {
        context_window: Some(32_768),
        test_cmd: is_installed("python3").then(|| demo::TEST_COMMAND.to_owned()),
        cache_folder: None,
        state_folder: Some(folder.path().join("state")),
        ..settings
    };
    let (env, client) = (RequestEnv::new(settings), Some(ModelClient::new(provider, "demo".into())));
    if let Some(file) = &picture.svg {
        return draw(start, picture, file, |reports| Host::new(root, env, client, reports));
    }
    match LineUiReason::wanted(plain, |name| std::env::var(name).ok()) {
        Some(plain) => plain.run(start, root, env, client),
        None => run(start, root, env, client),
    }
}

fn draw(
    start: Start,
    picture: &PictureArgs,
    file: &Path,
    make_host: impl FnOnce(tokio::sync::mpsc::Sender<crate::host::HostMessage>) -> Host,
) -> Result<u8, UserError> {
    let machine = |error: std::io::Error| {
        let message = format!("the picture cannot be written to {}: {error}", file.display());
        UserError::new(ErrorKind::Machine, message, "choose a file in a folder that can be written to")
    };
    let svg = block_on(tui::screenshot(start, picture.scene, picture.size, make_host)).map_err(machine)?;
    match file.as_os_str() == "-" {
        true => print(&svg)?,
        false => std::fs::write(file, svg).map_err(machine)?,
    }
    Ok(0)
}

/// Runs a future to completion. Background work must not delay the exit.
fn block_on<T>(work: impl Future<Output = std::io::Result<T>>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

/// The error of writing to a closed terminal.
const EIO: i32 = 5;

fn run(start: Start, root: Root, env: RequestEnv, client: Option<ModelClient>) -> Result<u8, UserError> {
    let machine = |error: std::io::Error| {
        let hint = "The app needs a terminal; `rhumb map`, `apply` and `edit` do not.";
        UserError::new(ErrorKind::Machine, error, hint)
    };
    let left = match block_on(event_loop::run(start, |reports| Host::new(root, env, client, reports))) {
        // The terminal was closed, so the error cannot be printed.
        Err(error) if error.raw_os_error() == Some(EIO) => AppExit { code: 128 + 1, ..AppExit::default() },
        left => left.map_err(machine)?,
    };
    if !left.farewell.is_empty() {
        print_message(&left.farewell);
    }
    Ok(left.code)
}

/// The themes, and the folder of the user's own.
fn themes() -> (Themes, Option<PathBuf>) {
    let folder = Paths::of_user().map(|paths| paths.themes_folder());
    (folder.as_deref().map(Themes::read).unwrap_or_default(), folder)
}

fn theme_choice(settings: &Settings) -> ThemeChoice {
    let display = &settings.display;
    ThemeChoice { always: settings.theme.clone(), light: display.theme_light.clone(), dark: display.theme_dark.clone() }
}

/// The initial theme. An unknown theme in the settings of a repository and a malformed theme file are reported, and the app
/// starts anyway.
fn chosen_theme(
    settings: &Settings,
    themes: &Themes,
    theme_choice: &ThemeChoice,
    notices: &mut Vec<(String, String)>,
) -> Result<Theme, UserError> {
    let foreign = ["theme", "theme_light", "theme_dark"].iter().any(|name| settings.layers.is_foreign(name));
    match theme(themes, theme_choice) {
        Err(error) if foreign => {
            notices.push((format!("{}.", error.message), error.hint));
            theme(themes, &ThemeChoice::default())
        }
        // The app reports every invalid theme file.
        Err(_) if !themes.faults().is_empty() && themes.has(effective_theme(theme_choice)) => {
            theme(themes, &ThemeChoice::default())
        }
        chosen => chosen,
    }
}

/// The name of the theme to use, for the background that the environment suggests.
fn effective_theme(theme_choice: &ThemeChoice) -> &str {
    let env = |name: &str| std::env::var(name).ok();
    theme_choice.on(tui::light_background(env), tui::color_depth(env))
}

fn theme(themes: &Themes, theme_choice: &ThemeChoice) -> Result<Theme, UserError> {
    let depth = tui::color_depth(|name| std::env::var(name).ok());
    // Without colours, the theme does not matter and must not fail.
    if depth == ColorDepth::None && *theme_choice == ThemeChoice::default() {
        return Theme::builtin("rhumb-dark", depth).or_else(|_| Ok(Theme::plain(depth)));
    }
    themed(themes, theme_choice, tui::light_background(|name| std::env::var(name).ok()), depth)
}

fn themed(themes: &Themes, theme_choice: &ThemeChoice, light: bool, depth: ColorDepth) -> Result<Theme, UserError> {
    themes.load(theme_choice.on(light, depth), depth).map_err(|error| {
        let hint = format!("the themes are {}", themes.names().join(", "));
        UserError::new(ErrorKind::Usage, themes.explain(&error), hint)
    })
}

/// The name of the root's folder, for the status line.
fn display_name(root: &Root) -> String {
    let name = root.path().file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| root.path().display().to_string())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineUiReason {
    Requested,
    /// The terminal cannot move the cursor.
    DumbTerminal,
}

impl LineUiReason {
    fn wanted(requested: bool, env: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is_dumb = || env("TERM").is_some_and(|term| term == "dumb");
        if requested { Some(Self::Requested) } else { is_dumb().then_some(Self::DumbTerminal) }
    }

    fn run(self, start: Start, root: Root, env: RequestEnv, client: Option<ModelClient>) -> Result<u8, UserError> {
        let start = LineUiStart {
            session: start.session,
            reason: (self == Self::DumbTerminal).then(|| "The terminal is dumb (TERM=dumb)".to_owned()),
            commits: env.settings.auto_commit && root.kind() != RootKind::Directory,
            terminal: tui::facts(|name| std::env::var(name).ok()),
        };
        block_on(run_line_ui(start, |reports| Host::new(root, env, client, reports)))
            .map_err(|error| UserError::new(ErrorKind::Machine, error, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_ui_is_for_those_who_request_it_and_for_dumb_terminals() {
        let of =
            |requested, term: &str| LineUiReason::wanted(requested, |name| (name == "TERM").then(|| term.to_owned()));
        assert_eq!(of(true, "xterm"), Some(LineUiReason::Requested));
        assert_eq!((of(false, "dumb"), of(false, "xterm")), (Some(LineUiReason::DumbTerminal), None));
        assert_eq!(LineUiReason::wanted(false, |_| None), None);
    }
}
