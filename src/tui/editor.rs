//! What of the app is opened in the developer's own editor, in the terminal that it has given back for as long.

use std::io;

use super::app::Editing;
use rhumb_workspace::process::EditorSession;

/// Prepares what is to be opened.
///
/// # Errors
/// There is no place for a text of our own.
pub(super) fn sheet(what: &Editing, editor: Option<String>) -> io::Result<EditorSession> {
    match what {
        Editing::Message(text) => EditorSession::for_text("message.md", text, 1, editor),
        Editing::Review(draft) => EditorSession::for_text(draft.file_name(), &draft.text, draft.line, editor),
        Editing::File { path, line } => Ok(EditorSession::for_file(path, *line, editor)),
    }
}
