//! The commands without the app, for scripts and harnesses. JSON goes to standard output only, messages to standard error.

mod apply;
mod args;
mod config;
mod doctor;
mod edit;
pub mod event;
mod index;
mod line_ui;
mod man;
mod map;
mod models;
mod names;
mod report;
mod search;
mod sessions;
mod survey;
mod trial;
mod trust;
mod undo;
mod version;

use std::io::{IsTerminal as _, Read as _, Write as _};

pub use apply::apply;
pub use args::{
    ApplyArgs, AskArgs, AskMode, CompletionsArgs, ConfigArgs, DoctorArgs, EditArgs, FormatArg, IndexArgs, ManArgs,
    MapArgs, ModelsArgs, SearchArgs, SessionsArgs, SessionsCommand, StyleArg, TrustArgs, TryArgs, VersionArgs,
};
pub use config::{config, config_files};
pub use doctor::doctor;
use edit::error_kind;
pub use edit::{EditOptions, edit, edit_with};
pub use index::index_command;
pub use line_ui::{LineUiStart, run as run_line_ui};
pub use man::completions;
pub use man::man;
pub use map::map;
pub use models::models;
pub use names::path_under;
pub use search::search;
pub use sessions::sessions;
pub use trial::{NOT_RUN, try_command};
pub use trust::trust;
pub use undo::{report_unfinished, undo};
pub use version::version;

use crate::error::{ErrorKind, UserError};
use rhumb_text::sanitize;

/// Prints a message to standard error. Control characters are made visible, because names and replies in messages are
/// untrusted, and logs are read on terminals.
pub fn print_message(text: &str) {
    // Standard error may be closed, and the failure cannot be reported elsewhere.
    let _ = writeln!(std::io::stderr(), "rhumb: {}", sanitize::visible(text));
}

/// Prints a message with a hint to standard error.
fn print_with_hint(message: &str, hint: &str) {
    if hint.is_empty() { print_message(message) } else { print_message(&format!("{message}\n  → {hint}")) }
}

/// Prints to standard output, with control characters made visible, because a pager may show them on a terminal. A closed pipe
/// (`| head`) ends the printing without an error.
///
/// # Errors
/// Standard output cannot be written, for another reason than a closed pipe.
pub fn print(text: &str) -> Result<(), UserError> {
    put(&sanitize::visible(text))
}

/// As [`print`], but unchanged if standard output is a pipe or file: for output that must be exact, such as a diff.
fn print_exactly(text: &str) -> Result<(), UserError> {
    if std::io::stdout().is_terminal() { print(text) } else { put(text) }
}

fn put(text: &str) -> Result<(), UserError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(UserError::new(ErrorKind::Machine, format!("cannot print: {error}"), ""))
        }
        _ => Ok(()),
    }
}

/// Prints a JSON value on one line. Control characters are escaped as JSON allows, so that the value is the same.
///
/// # Errors
/// Standard output cannot be written, for any other reason than a closed pipe.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), UserError> {
    let text = serde_json::to_string(value).map_err(|error| UserError::new(ErrorKind::Machine, error, ""))?;
    put(&format!("{}\n", escaped(&text)))
}

/// JSON with escapes for characters that could control a terminal. They occur only within strings, where an escape means the
/// same.
fn escaped(json: &str) -> String {
    let mut text = String::new();
    for c in json.chars() {
        if sanitize::is_unsafe(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

/// Reads a file of the command line, or standard input for `-`.
fn read_input(path: &std::path::Path) -> Result<String, UserError> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|_| UserError::new(ErrorKind::Usage, format!("{} is not UTF-8 text", path.display()), ""))
}

/// Maximum size in bytes of a file of the command line. Replies, requests and outputs are far smaller, and a device may be
/// endless.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;

/// The bytes of a file, or of standard input for `-`.
fn read_bytes(path: &std::path::Path) -> Result<Vec<u8>, UserError> {
    let name = if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| UserError::new(ErrorKind::Usage, format!("cannot read {name}: {error}"), ""))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let text = format!("{name} is too large: at most {} MB are read", MAX_INPUT_BYTES >> 20);
        return Err(UserError::new(ErrorKind::Usage, text, "give only the relevant part of it"));
    }
    Ok(bytes)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_an_error() {
        let error = read_bytes(std::path::Path::new("/dev/zero")).unwrap_err();
        assert!(error.message.starts_with("/dev/zero is too large"), "{}", error.message);
        assert!(read_bytes(std::path::Path::new("/dev/null")).unwrap().is_empty());
    }
}
