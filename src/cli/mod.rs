//! The command line: what can be typed, and starting what was meant.

mod app;
mod args;
mod plain;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

pub use args::{Args, Command, ProviderArgs};

use crate::config::{Overrides, Paths, Place, Settings, Sources};
use crate::error::{ErrorKind, UserError};
use crate::headless;
use crate::text::{nearest, sanitize};
use crate::workspace::{Direction, Root, WorkspaceError};

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return ExitCode::from(misread(&error)),
    };
    match start(args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            headless::complain(&error.to_string());
            ExitCode::from(error.kind.exit_code())
        }
    }
}

/// Prints what is wrong with the command line, or the help that it asks for; the exit code. An argument may be the name of a file
/// that somebody else chose, and is quoted.
fn misread(error: &clap::Error) -> u8 {
    let is_harmless = |argument: &std::ffi::OsStr| {
        let argument = argument.to_string_lossy();
        sanitize::visible_line(&argument) == argument
    };
    // What cannot be printed does not matter here: the exit code tells.
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
    match args.command {
        None => {
            let root = root(&args.root)?;
            let files = files_to_open(&root, &args)?;
            let (root, settings) = with_settings(root, overrides(&args.provider))?;
            app::open(&root, settings, &Args { files, ..args })
        }
        // The sample needs none of the user's settings, so none of them can spoil it.
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
        Some(Command::Models(models)) => {
            headless::models(&load(overrides(&args.provider), Some(&root(&args.root)?))?, &models)
        }
        Some(Command::Sessions(sessions)) => {
            let root = root(&args.root)?;
            headless::sessions(&root, &load(overrides(&args.provider), Some(&root))?, &sessions)
        }
        Some(Command::Bench(mut bench)) => {
            bench.flags = args.provider.as_typed();
            headless::bench(&root(&args.root)?, &bench, &|| load(overrides(&args.provider), None))
        }
        Some(Command::Apply(mut apply)) => {
            apply.files.splice(..0, args.files);
            apply.format = args.provider.edit_format;
            own_state(Paths::of_user().as_ref())?;
            headless::apply(&root(&args.root)?, &apply)
        }
        Some(Command::Completions(completions)) => headless::completions(Args::command(), &completions),
        Some(Command::Man(man)) => headless::man(Args::command(), &man),
        Some(Command::Version(version)) => headless::version(&version),
        Some(Command::Undo) => undo(&root(&args.root)?, &args.provider, Direction::Undo),
        Some(Command::Redo) => undo(&root(&args.root)?, &args.provider, Direction::Redo),
        Some(Command::Config(config)) => {
            // What needs no settings works while they are wrong.
            if config.default || config.path {
                return headless::config_files(&root(&args.root)?, &config);
            }
            let settings = load(overrides(&args.provider), Some(&root(&args.root)?))?;
            headless::config(&settings, &config)
        }
        Some(Command::Trust(trust)) => {
            headless::trust(&load(overrides(&args.provider), Some(&root(&args.root)?))?, &trust)
        }
        Some(Command::Ask(mut ask)) => {
            ask.files.splice(..0, args.files);
            ask.files.append(&mut ask.named);
            let (root, settings) = with_settings(root(&args.root)?, overrides(&args.provider))?;
            headless::ask(&root, settings, ask)
        }
        Some(Command::Doctor(doctor)) => {
            let (root, settings) = with_settings(root(&args.root)?, overrides(&args.provider))?;
            headless::doctor(&root, settings, &doctor)
        }
        Some(Command::Edit(mut edit)) => {
            edit.files.splice(..0, args.files);
            edit.files.append(&mut edit.named);
            let outer = overrides(&args.provider);
            let auto_commit = edit.commit_choice().or(outer.auto_commit);
            let (root, settings) = with_settings(root(&args.root)?, Overrides { auto_commit, ..outer })?;
            headless::edit(&root, settings, &edit)
        }
    }
}

/// The files to begin the chat with. A bare word that is no file is a command misspelled, sooner than a file that is to be made.
fn files_to_open(root: &Root, args: &Args) -> Result<Vec<String>, UserError> {
    let is_there = |name: &String| root.path().join(headless::path_under(root, name)).symlink_metadata().is_ok();
    if let Some(name) = args.named.iter().find(|name| !is_there(name)) {
        let commands: Vec<String> = Args::command().get_subcommands().map(|own| own.get_name().to_owned()).collect();
        let near = nearest(name, commands.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean rhumb {near}? ")).unwrap_or_default();
        let name = sanitize::visible_line(name);
        let hint =
            format!("{near}rhumb --help lists the commands; --file {name} begins with a file that is to be made");
        return Err(UserError::new(ErrorKind::Usage, format!("there is no command and no file {name}"), hint));
    }
    Ok(args.files.iter().chain(&args.named).cloned().collect())
}

/// The root that is worked in. rhumb's own files are kept out of every one.
fn find_root(dir: Option<&PathBuf>) -> Result<Root, UserError> {
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
    Ok(found.keeping_out(&own))
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

fn undo(root: &Root, provider: &ProviderArgs, direction: Direction) -> Result<u8, UserError> {
    headless::undo(root, &load(overrides(provider), Some(root))?, direction)
}

/// The settings for a root, and the root without what they hide.
fn with_settings(root: Root, flags: Overrides) -> Result<(Root, Settings), UserError> {
    let settings = load(flags, Some(&root))?;
    Ok((root.ignoring(&settings.ignore), settings))
}

/// Refuses a state folder of another user: it would say what is approved, what was written and what was said.
fn own_state(paths: Option<&Paths>) -> Result<(), UserError> {
    let Some((folder, owner)) = paths.and_then(Paths::of_another) else { return Ok(()) };
    let message =
        format!("{} belongs to another user (number {owner}), so nothing in it is believed", folder.display());
    let hint = "Set XDG_STATE_HOME to a folder of your own, or make that one yours (chown).";
    Err(UserError::new(ErrorKind::Machine, message, hint))
}

fn load(flags: Overrides, root: Option<&Root>) -> Result<Settings, UserError> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let paths = Paths::of_user();
    own_state(paths.as_ref())?;
    let sources = Sources {
        flags,
        env: &|name| std::env::var(name).ok(),
        paths: paths.as_ref(),
        place: root.map(|root| Place { root: root.path(), here: &here }),
    };
    Settings::load(&sources).map_err(|error| UserError::new(ErrorKind::Usage, &error, error.hint()))
}
