//! `rhumb completions`: shell completions, made from the definition of the command line.

use super::{CompletionsArgs, print};
use crate::error::UserError;
use clap::Command;

/// Prints the completions of `command` for a shell.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(mut command: Command, args: &CompletionsArgs) -> Result<u8, UserError> {
    let name = command.get_name().to_owned();
    // Written to memory first, because the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
