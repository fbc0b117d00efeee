//! `rhumb sessions`: lists, exports and deletes the sessions of a repository.

use super::args::{SessionsArgs, SessionsCommand};
use super::{print, print_exactly, print_json, print_message};
use crate::config::Settings;
use crate::error::{ErrorKind, UserError};
use crate::store::sessions::{Found, SessionStore, SessionsError, sessions_folder};
use rhumb_session::SessionLine;
use rhumb_session::{ExportFormat, Exported, SavedSession, export};
use rhumb_text::{sanitize, width};
use rhumb_workspace::Root;
use serde_json::json;
use std::path::Path;

/// Lists the sessions of a root, prints one, or deletes one. The exit code is 1 if none is found.
///
/// # Errors
/// There is no such session, it is open elsewhere, or the database cannot be read.
pub fn sessions(root: &Root, settings: &Settings, args: &SessionsArgs) -> Result<u8, UserError> {
    let store = match settings.state_folder.as_deref() {
        Some(state) => open(state, root)?,
        None => None,
    };
    match (&args.command, store) {
        (None, None) => list(&[], args.json),
        (None, Some(store)) => list(&store.list(&args.query.join(" ")).map_err(failed)?, args.json),
        (Some(_), None) => Err(none("there is no session of this repository")),
        (Some(SessionsCommand::Export { session, json }), Some(store)) => write_out(store, session, *json),
        (Some(SessionsCommand::Delete { number }), Some(store)) => delete(store, *number),
    }
}

fn open(state: &Path, root: &Root) -> Result<Option<SessionStore>, UserError> {
    SessionStore::open_existing(&sessions_folder(state, root.path())).map_err(failed)
}

fn list(lines: &[SessionLine], as_json: bool) -> Result<u8, UserError> {
    if as_json {
        let line = |line: &SessionLine| {
            json!({
                "number": line.number, "name": line.name, "opening": line.opening, "messages": line.messages,
                "begun": line.begun, "changed": line.changed, "from": line.parent, "open": line.live,
            })
        };
        print_json(&json!({"sessions": lines.iter().map(line).collect::<Vec<_>>()}))?;
    } else if lines.is_empty() {
        print_message("no session found");
    } else {
        lines.iter().try_for_each(|line| print(&row(line)))?;
    }
    Ok(u8::from(lines.is_empty()))
}

const TITLE: usize = 70;

fn row(line: &SessionLine) -> String {
    let title = match (line.name.as_str(), line.opening.as_str()) {
        ("", _) | (_, "") => line.title().to_owned(),
        (name, opening) => format!("{name} — {opening}"),
    };
    let title = sanitize::visible_line(&title).into_owned();
    let open = if line.live { "  (open)" } else { "" };
    format!("{:>4}  {}  {:>3}  {}{open}\n", line.number, line.changed, line.messages, width::clip(&title, TITLE))
}

fn write_out(mut store: SessionStore, word: &str, as_json: bool) -> Result<u8, UserError> {
    let number = match store.find(word).map_err(failed)? {
        Found::One(number) => number,
        Found::None => return Err(none(&format!("there is no session {word}"))),
        Found::Several(lines) => {
            let numbers: Vec<String> = lines.iter().map(|line| line.number.to_string()).collect();
            let message = format!("{word} may be any of the sessions {}", numbers.join(", "));
            return Err(UserError::new(ErrorKind::Usage, message, "name one by its number"));
        }
    };
    let stored = store.load(number).map_err(failed)?.ok_or_else(|| failed(SessionsError::Gone(number)))?;
    let session = SavedSession::from(stored);
    let format = if as_json { ExportFormat::Json } else { ExportFormat::Markdown };
    print_exactly(&export(&Exported::of(&session), format))?;
    Ok(0)
}

fn delete(mut store: SessionStore, number: i64) -> Result<u8, UserError> {
    if store.is_live(number) {
        let hint = "leave it there first";
        return Err(UserError::new(ErrorKind::Usage, format!("session {number} is open in another rhumb"), hint));
    }
    if !store.delete(number).map_err(failed)? {
        return Err(none(&format!("there is no session {number}")));
    }
    print_message(&format!("deleted session {number}"));
    Ok(0)
}

fn none(message: &str) -> UserError {
    UserError::new(ErrorKind::Usage, message, "rhumb sessions lists those that there are")
}

fn failed(error: SessionsError) -> UserError {
    let kind = if matches!(error, SessionsError::Gone(_)) { ErrorKind::Usage } else { ErrorKind::Machine };
    let hint = error.hint();
    UserError::new(kind, error, hint)
}
