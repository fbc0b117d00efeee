//! The command line: what can be typed, and starting what was meant.

mod app;
mod args;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;

pub use args::{Args, Command, ProviderArgs};

use crate::config::{Overrides, Paths, Settings};
use crate::error::{ErrorKind, UserError};
use crate::headless;
use crate::workspace::{Direction, Root, WorkspaceError};

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let args = Args::parse();
    match start(args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            headless::complain(&error.to_string());
            ExitCode::from(error.kind.exit_code())
        }
    }
}

fn start(args: Args) -> Result<u8, UserError> {
    if let Some((flag, command)) = args.misplaced() {
        let hint = format!("rhumb {command} --help lists the flags that it has");
        return Err(UserError::new(ErrorKind::Usage, format!("{flag} means nothing to rhumb {command}"), hint));
    }
    let here = args.subtree_only.then(|| PathBuf::from("."));
    let root = |dir: &Option<PathBuf>| find_root(here.as_ref().or(dir.as_ref()));
    match args.command {
        None => app::open(&root(&args.root)?, load(overrides(&args.provider))?, &args),
        // The sample needs none of the user's settings, so none of them can spoil it.
        Some(Command::Demo { speed, theme }) => {
            app::demo(Settings { theme: theme.or(args.provider.theme), ..Settings::default() }, speed)
        }
        Some(Command::Map(mut map)) => {
            map.tokens = map.tokens.or(args.provider.map_tokens);
            map.model = args.provider.model.or_else(|| std::env::var("RHUMB_MODEL").ok()).unwrap_or_default();
            headless::map(&root(&args.root)?, &map)
        }
        Some(Command::Bench(bench)) => headless::bench(&root(&args.root)?, &bench),
        Some(Command::Apply(mut apply)) => {
            apply.files.splice(..0, args.files);
            apply.format = args.provider.edit_format;
            headless::apply(&root(&args.root)?, &apply)
        }
        Some(Command::Undo) => headless::undo(&root(&args.root)?, &load(overrides(&args.provider))?, Direction::Undo),
        Some(Command::Redo) => headless::undo(&root(&args.root)?, &load(overrides(&args.provider))?, Direction::Redo),
        Some(Command::Edit(mut edit)) => {
            edit.files.splice(..0, args.files);
            let outer = overrides(&args.provider);
            let auto_commit = edit.commit_choice().or(outer.auto_commit);
            headless::edit(&root(&args.root)?, &load(Overrides { auto_commit, ..outer })?, &edit)
        }
    }
}

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
    found.map_err(|error: WorkspaceError| UserError::new(ErrorKind::Usage, &error, error.hint()))
}

fn overrides(provider: &ProviderArgs) -> Overrides {
    Overrides {
        base_url: provider.base_url.clone(),
        model: provider.model.clone(),
        edit_format: provider.edit_format.clone(),
        map_tokens: provider.map_tokens,
        theme: provider.theme.clone(),
        auto_commit: provider.no_commit.then_some(false),
    }
}

fn load(overrides: Overrides) -> Result<Settings, UserError> {
    let env = |name: &str| std::env::var(name).ok();
    Settings::load(overrides, &env, Paths::of_user().as_ref())
        .map_err(|error| UserError::new(ErrorKind::Usage, &error, error.hint()))
}
