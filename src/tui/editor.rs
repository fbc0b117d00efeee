//! What of the app is opened in the developer's own editor, in the terminal that it has given back for as long.

use std::io;

use super::app::Editing;
use rhumb_workspace::process::Sheet;

/// Prepares what is to be opened.
///
/// # Errors
/// There is no place for a text of our own.
pub(super) fn sheet(what: &Editing, editor: Option<String>) -> io::Result<Sheet> {
    match what {
        Editing::Message(text) => Sheet::of_text("message.md", text, 1, editor),
        Editing::Review(draft) => Sheet::of_text(draft.file_name(), &draft.text, draft.line, editor),
        Editing::File { path, line } => Ok(Sheet::of_file(path, *line, editor)),
    }
}
