//! `rhumb undo` and `rhumb redo`: undo and redo of the last write.

use super::{print_message, print_with_hint};
use crate::config::{Paths, Settings};
use crate::error::{ErrorKind, UserError};
use crate::headless::report::yes_or_no;
use crate::host::{self, recovered};
use rhumb_session::commit_change;
use rhumb_text::sanitize;
use rhumb_workspace::{Direction, Journal, Root};

/// Undoes or redoes the last write. The exit code is 1 if there is no such write.
///
/// # Errors
/// A file has changed since the write, or cannot be written. Nothing has changed then.
pub fn undo(root: &Root, settings: &Settings, direction: Direction) -> Result<u8, UserError> {
    let hint = "It is stored below XDG_STATE_HOME, or ~/.local/state.";
    let none = || UserError::new(ErrorKind::Machine, "there is no folder for the journal", hint);
    let journal = journal_of(root, settings).ok_or_else(none)?;
    let done = host::undo(root, Some(&journal), direction, settings)
        .map_err(|failure| UserError::new(ErrorKind::Machine, failure.message, failure.hint))?;
    done.notes.iter().for_each(|note| print_with_hint(&note.message, &note.hint));
    let (did, to_do) = match direction {
        Direction::Undo => ("undid", "undo"),
        Direction::Redo => ("redid", "redo"),
    };
    if done.paths.is_empty() {
        print_message(&format!("there is no write to {to_do}"));
        return Ok(1);
    }
    let paths: Vec<_> = done.paths.iter().map(|path| sanitize::visible_line(path)).collect();
    print_message(&format!("{did} {}.{}", paths.join(", "), commit_change(direction, &done)));
    Ok(0)
}

/// Asks on the terminal whether files may be written although the journal cannot record that.
///
/// # Errors
/// There is no terminal.
pub(super) fn may_go_unrecorded(cause: &str, asks: bool) -> Result<bool, UserError> {
    if !asks {
        let hint = "Free space there, or make that folder writable; --no-journal writes without undo and recovery.";
        let message = format!("nothing was written: the write cannot be recorded: {cause}.");
        return Err(UserError::new(ErrorKind::Machine, message, hint));
    }
    let question = format!("This write cannot be recorded ({}): write it anyway", sanitize::visible_line(cause));
    let help = "y - write; it cannot be undone, and a crash may leave some files changed and others not\n\
                n - write nothing\n\
                q - the same";
    Ok(yes_or_no(&question, help) == Some(true))
}

/// The journal of a root, if there is a state folder in the settings.
pub(super) fn journal_of(root: &Root, settings: &Settings) -> Option<Journal> {
    settings.state_folder.as_deref().map(|state| Journal::new(state, root))
}

/// The journal of a root; `None` without a home folder.
pub(super) fn journal(root: &Root) -> Option<Journal> {
    Paths::of_user().map(|paths| Journal::new(&paths.state, root))
}

/// Reports interrupted writes of earlier processes, before a command that only reads files.
pub fn report_unfinished(root: &Root) {
    let unfinished = journal(root).map(|journal| rhumb_workspace::unfinished_writes(&journal)).unwrap_or_default();
    for (made_in, paths) in unfinished {
        let place = if made_in == root.path() { String::new() } else { format!(" in {}", made_in.display()) };
        let files = if paths.is_empty() { String::new() } else { format!(": {}", paths.join(", ")) };
        let hint = "Some of its files may be written and others not; rhumb or rhumb undo, started there, finishes or undoes it.";
        print_with_hint(&format!("an earlier write{place} was interrupted{files}"), hint);
    }
}

/// Recovers an interrupted write of an earlier process, and reports it.
pub(super) fn report_recovered(root: &Root, journal: Option<&Journal>) {
    recovered(root, journal).iter().for_each(|failure| print_with_hint(&failure.message, &failure.hint));
}
