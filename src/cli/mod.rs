//! Parses the command line and starts the command.

mod app;
mod args;

use clap::{CommandFactory as _, Parser as _};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

pub use args::{Args, Command, ProviderArgs};

use crate::config::{Overrides, Paths, Settings, Sources, WorkingDirs};
use crate::error::{ErrorKind, UserError};
use crate::headless::{self, EditArgs, NOT_RUN};
use rhumb_text::{nearest, sanitize};
use rhumb_workspace::{Direction, Root, WorkspaceError};

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = misread(&error);
            return ExitCode::from(if code != 0 && is_try() { NOT_RUN } else { code });
        }
    };
    let is_try = matches!(args.command, Some(Command::Try(_)));
    match start(args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            headless::print_message(&error.to_string());
            // All other codes are those of the command that is tried.
            ExitCode::from(if is_try { NOT_RUN } else { error.kind.exit_code() })
        }
    }
}

/// Whether a command line with an error is that of `rhumb try`.
fn is_try() -> bool {
    let matches = Args::command().ignore_errors(true).try_get_matches();
    matches.is_ok_and(|matches| matches.subcommand_name() == Some("try"))
}

/// Prints an error of the command line, or its help. Returns the exit code. An argument may be an untrusted file name, so
/// control characters are made visible.
fn misread(error: &clap::Error) -> u8 {
    let is_harmless = |argument: &std::ffi::OsStr| {
        let argument = argument.to_string_lossy();
        sanitize::visible_line(&argument) == argument
    };
    // If printing fails, the exit code still reports the error.
    let _ = if std::env::args_os().all(|argument| is_harmless(&argument)) {
        error.print()
    } else {
        std::io::stderr().write_all(sanitize::visible(&error.render().to_string()).as_bytes())
    };
    u8::try_from(error.exit_code()).unwrap_or(ErrorKind::Usage.exit_code())
}

fn start(args: Args) -> Result<u8, UserError> {
    if let Some((flag, command)) = args.misplaced() {
        let hint = format!("rhumb {command} --help lists the flags that it has");
        return Err(UserError::new(ErrorKind::Usage, format!("{flag} means nothing to rhumb {command}"), hint));
    }
    let here = args.subtree_only.then(|| PathBuf::from("."));
    let root = |dir: &Option<PathBuf>| find_root(here.as_ref().or(dir.as_ref()));
    let settings = || load_settings(overrides(&args.provider), Some(&root(&args.root)?));
    if args.command.as_ref().is_some_and(Command::only_reads)
        && let Ok(root) = root(&args.root)
    {
        headless::report_unfinished(&root);
    }
    match args.command {
        None => {
            let root = root(&args.root)?;
            let Opening { files, draft } = opening(&root, &args)?;
            let (root, settings) = with_settings(root, overrides(&args.provider))?;
            app::open(&root, settings, &Args { files, ..args }, draft)
        }
        // The demo does not depend on the user's settings.
        Some(Command::Demo { speed, theme, plain, picture }) => {
            let settings = Settings { theme: theme.or(args.provider.theme), ..Settings::default() };
            app::demo(settings, speed, args.plain || plain, &picture)
        }
        Some(Command::Map(mut map)) => {
            map.tokens = map.tokens.or(args.provider.map_tokens);
            let (root, settings) = with_settings(root(&args.root)?, overrides(&args.provider))?;
            map.model = settings.model.clone().unwrap_or_default();
            headless::map(&root, &settings, &map)
        }
        Some(Command::Search(search)) => {
            let (root, settings) = with_settings(root(&args.root)?, overrides(&args.provider))?;
            headless::search(&root, &settings, &search)
        }
        Some(Command::Index(index)) => {
            let (root, settings) = with_settings(root(&args.root)?, overrides(&args.provider))?;
            headless::index_command(&root, &settings, &index)
        }
        Some(Command::Models(models)) => headless::models(&settings()?, &models),
        Some(Command::Sessions(sessions)) => headless::sessions(&root(&args.root)?, &settings()?, &sessions),
        Some(Command::Apply(mut apply)) => {
            apply.files.splice(..0, args.files);
            apply.format = args.provider.edit_format.clone();
            own_state(Paths::of_user().as_ref())?;
            // Without a trial, a wrong setting does not matter.
            let settings = apply.try_command.as_ref().map(|_| settings()).transpose()?;
            headless::apply(&root(&args.root)?, settings, &apply)
        }
        Some(Command::Try(mut tried)) => {
            tried.format = args.provider.edit_format.clone();
            headless::try_command(&root(&args.root)?, settings()?, &tried)
        }
        Some(Command::Completions(completions)) => headless::completions(Args::command(), &completions),
        Some(Command::Man(man)) => headless::man(Args::command(), &man),
        Some(Command::Version(version)) => headless::version(&version),
        Some(Command::Undo) => headless::undo(&root(&args.root)?, &settings()?, Direction::Undo),
        Some(Command::Redo) => headless::undo(&root(&args.root)?, &settings()?, Direction::Redo),
        Some(Command::Config(config)) => {
            // These work even if the settings are wrong.
            if config.default || config.path {
                return headless::config_files(&root(&args.root)?, &config);
            }
            headless::config(&settings()?, &config)
        }
        Some(Command::Trust(trust)) => headless::trust(&settings()?, &trust),
        Some(Command::Ask(ask)) => edit("ask", root(&args.root)?, ask.into(), args.files, overrides(&args.provider)),
        Some(Command::Doctor(doctor)) => {
            let (root, settings) = with_settings(root(&args.root)?, overrides(&args.provider))?;
            headless::doctor(&root, settings, &doctor)
        }
        Some(Command::Edit(args_of_edit)) => {
            edit("edit", root(&args.root)?, args_of_edit, args.files, overrides(&args.provider))
        }
    }
}

/// Runs `rhumb edit` or `rhumb ask`.
fn edit(command: &str, root: Root, mut args: EditArgs, files: Vec<String>, outer: Overrides) -> Result<u8, UserError> {
    args.files.splice(..0, files);
    args.take_words(command, &root)?;
    let auto_commit = args.commit_choice().or(outer.auto_commit);
    let (root, settings) = with_settings(root, Overrides { auto_commit, ..outer })?;
    headless::edit(&root, settings, &args)
}

/// The initial state of the app: files of the chat, and the draft of a message.
#[derive(Debug, PartialEq, Eq)]
struct Opening {
    files: Vec<String>,
    draft: String,
}

/// Interprets the words of the command line. Existing files are files of the chat; all words from the first to the last other
/// word are the draft.
fn opening(root: &Root, args: &Args) -> Result<Opening, UserError> {
    let path = |name: &String| root.path().join(headless::path_under(root, name));
    let exists = |name: &String| path(name).symlink_metadata().is_ok();
    // Among other words, the name of a folder is part of the message: `fix the tests`.
    let all_exist = args.named.iter().all(exists);
    let is_file = |name: &String| exists(name) && (all_exist || !path(name).is_dir());
    let files = args.files.iter().chain(args.named.iter().filter(|name| is_file(name))).cloned().collect();
    let first = args.named.iter().position(|name| !is_file(name));
    let last = args.named.iter().rposition(|name| !is_file(name));
    let words = first.zip(last).and_then(|(first, last)| args.named.get(first..=last)).unwrap_or_default();
    if let [word] = words {
        check_spelling(word, args.named.len() == 1)?;
    }
    Ok(Opening { files, draft: words.join(" ") })
}

/// Reports a single word that resembles a command or a path, which is probably a typing error.
fn check_spelling(word: &str, may_be_command: bool) -> Result<(), UserError> {
    if word.contains(char::is_whitespace) {
        return Ok(());
    }
    let shown = sanitize::visible_line(word);
    let commands: Vec<String> = Args::command().get_subcommands().map(|own| own.get_name().to_owned()).collect();
    if let Some(near) = nearest(word, commands.iter().map(String::as_str)).filter(|_| may_be_command) {
        let hint = format!(
            "did you mean rhumb {near}? rhumb --help lists the commands; several words are the draft of a message"
        );
        return Err(UserError::new(ErrorKind::Usage, format!("there is no command and no file {shown}"), hint));
    }
    let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && !ending.is_empty() && ending.chars().all(char::is_alphanumeric)
    });
    if has_ending || word.contains('/') {
        let hint = format!("--file {shown} begins with a file that does not exist yet");
        return Err(UserError::new(ErrorKind::Usage, format!("there is no file {shown}"), hint));
    }
    Ok(())
}

/// The root at `dir`, or else the one around the current folder. Files of rhumb itself are excluded from every root.
///
/// # Errors
/// The folder does not exist or cannot be opened.
pub fn find_root(dir: Option<&PathBuf>) -> Result<Root, UserError> {
    let found = match dir {
        Some(dir) => Root::at(dir),
        None => match std::env::current_dir() {
            Ok(here) => Root::discover(&here),
            Err(cause) => {
                let message = format!("the current folder cannot be opened: {cause}");
                return Err(UserError::new(ErrorKind::Machine, message, "change to a folder that exists"));
            }
        },
    };
    let found = found.map_err(|error: WorkspaceError| UserError::new(ErrorKind::Usage, &error, error.hint()))?;
    let own = Paths::of_user().map(|paths| paths.own()).unwrap_or_default();
    Ok(found.excluding(&own))
}

fn overrides(provider: &ProviderArgs) -> Overrides {
    Overrides {
        base_url: provider.base_url.clone(),
        api: provider.api.clone(),
        model: provider.model.clone(),
        edit_format: provider.edit_format.clone(),
        map_tokens: provider.map_tokens,
        theme: provider.theme.clone(),
        auto_commit: provider.no_commit.then_some(false),
    }
}

/// The settings for a root, and the root without the files that they ignore.
fn with_settings(root: Root, flags: Overrides) -> Result<(Root, Settings), UserError> {
    let settings = load_settings(flags, Some(&root))?;
    Ok((root.ignoring(&settings.ignore), settings))
}

/// Fails if the state folder belongs to another user, because its approvals, journal and sessions are trusted.
fn own_state(paths: Option<&Paths>) -> Result<(), UserError> {
    let Some((folder, owner)) = paths.and_then(Paths::of_another) else { return Ok(()) };
    let message =
        format!("{} belongs to another user (number {owner}), so nothing in it is believed", folder.display());
    let hint = "Set XDG_STATE_HOME to a folder of your own, or make that one yours (chown).";
    Err(UserError::new(ErrorKind::Machine, message, hint))
}

/// The settings of the user, combined with flags, environment and, with a root, the files of that repository.
///
/// # Errors
/// A setting is wrong, or the state folder belongs to another user.
pub fn load_settings(flags: Overrides, root: Option<&Root>) -> Result<Settings, UserError> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let paths = Paths::of_user();
    own_state(paths.as_ref())?;
    let sources = Sources {
        flags,
        env: &|name| std::env::var(name).ok(),
        paths: paths.as_ref(),
        dirs: root.map(|root| WorkingDirs { root: root.path(), current: &here }),
    };
    Settings::load(&sources).map_err(|error| UserError::new(ErrorKind::Usage, &error, error.hint()))
}
