//! `rhumb completions`: what a shell needs to complete commands, flags and their values, made from the very table that is parsed by.

use super::{CompletionsArgs, print};
use crate::error::UserError;

/// Prints the completions of `command` for a shell.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(mut command: clap::Command, args: &CompletionsArgs) -> Result<u8, UserError> {
    let name = command.get_name().to_owned();
    // Into memory first: the generator takes a pipe that closes for a fault.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
