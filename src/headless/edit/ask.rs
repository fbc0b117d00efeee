//! `rhumb ask`: a question without the app. Nothing is changed by its answer.

use super::edit;
use crate::config::Settings;
use crate::error::UserError;
use crate::headless::args::{AskArgs, EditArgs};
use rhumb_session::context::Mode;
use rhumb_workspace::Root;

/// Asks, and prints the answer as it streams. The exit code is 0.
///
/// # Errors
/// No provider, a request that does not fit, an error of the provider, or an incomplete answer.
pub fn ask(root: &Root, settings: Settings, args: AskArgs) -> Result<u8, UserError> {
    let AskArgs { message, message_file, with_output, named: _, files, read, mode, codebase_more, show_prompt, json } =
        args;
    let asked = EditArgs {
        message,
        message_file,
        with_output,
        files,
        read,
        mode: Some(mode.map_or(Mode::Ask, Mode::from)),
        codebase_more,
        show_prompt,
        json,
        plan_only: true,
        ..EditArgs::default()
    };
    edit(root, settings, &asked)
}
