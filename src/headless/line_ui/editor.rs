//! Edits a draft or a hunk in the user's editor.

use super::LineUi;
use crate::host::HostMessage;
use crate::signals::{EXIT_BY_SIGNAL, SIGINT, SIGQUIT, Signal, Signals};
use rhumb_edit::review::HunkId;
use rhumb_session::Level;
use rhumb_workspace::process::{EditorSession, named_editor};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EditTarget {
    Draft(String),
    Hunk(HunkId),
}

impl LineUi {
    /// Runs the editor, and applies the edited text. Responses are handled after it, because the editor has the terminal.
    pub(super) async fn edit(
        &mut self,
        target: EditTarget,
        incoming: &mut mpsc::Receiver<HostMessage>,
        signals: &mut Signals,
    ) {
        let editor = named_editor(self.environment.editor.as_deref(), |name| std::env::var(name).ok());
        let (name, text) = match &target {
            EditTarget::Draft(text) => ("message.md".to_owned(), text.clone()),
            EditTarget::Hunk(id) => {
                let file = self.session.review().files.get(id.file).filter(|file| file.proposed.is_some());
                let Some((file, (_, added))) = file.and_then(|file| Some((file, file.texts_of(id.hunk)?))) else {
                    return;
                };
                (edit_file_name(&file.path), added)
            }
        };
        let mut messages = Vec::new();
        let result = match EditorSession::for_text(&name, &text, 1, editor) {
            Err(error) => Err(format!("A temporary file for the text cannot be created: {error}.")),
            Ok(edit) => {
                let status = match open(&edit, &self.environment.folder) {
                    Ok(child) => wait(child, incoming, signals, &mut messages, &mut self.exit_code).await,
                    Err(error) => Err(error),
                };
                edit.result(status).map_err(|error| error.to_string())
            }
        };
        match (target, result) {
            (_, Err(error)) => {
                let hint = "The setting editor, or VISUAL or EDITOR, names another editor.";
                self.session.report(Level::Error, error, hint);
            }
            (EditTarget::Hunk(id), Ok(text)) => self.hunk_edited(id, &text),
            (EditTarget::Draft(_), Ok(text)) if text.trim().is_empty() => self.out.line("The text is empty."),
            (EditTarget::Draft(_), Ok(text)) => {
                self.session.return_draft(text.trim_end_matches(['\n', '\r']).to_owned());
            }
        }
        messages.into_iter().for_each(|message| self.handle(message));
    }
}

/// Starts the editor. It gets standard input only if that is a terminal, because the lines of a script are not meant for it.
fn open(edit: &EditorSession, root: &Path) -> io::Result<Child> {
    let input = if io::stdin().is_terminal() { Stdio::inherit() } else { Stdio::null() };
    Command::from(edit.command(root)).stdin(input).kill_on_drop(true).spawn()
}

/// Waits until the editor has exited. Collects responses meanwhile, and sets the exit code if a signal ends the program.
async fn wait(
    mut child: Child,
    incoming: &mut mpsc::Receiver<HostMessage>,
    signals: &mut Signals,
    messages: &mut Vec<HostMessage>,
    exit_code: &mut Option<u8>,
) -> io::Result<ExitStatus> {
    loop {
        tokio::select! {
            status = child.wait() => return status,
            signal = signals.next() => match signal {
                // Keys of the terminal are meant for the editor.
                Signal::Fatal(SIGINT | SIGQUIT) | Signal::Stop | Signal::Continued | Signal::Resized => {}
                Signal::Fatal(number) => {
                    *exit_code = Some(EXIT_BY_SIGNAL + number);
                    child.start_kill()?;
                    return child.wait().await;
                }
            },
            Some(message) = incoming.recv() => messages.push(message),
        }
    }
}

/// A name for a temporary file with a part of the file at `path`. It has the same extension, from which the editor detects the
/// language.
pub(crate) fn edit_file_name(path: &str) -> String {
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some(extension) if extension.chars().all(char::is_alphanumeric) => format!("hunk.{extension}"),
        _ => "hunk.txt".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_temporary_file_has_the_extension_of_the_edited_file() {
        let names = ["src/a.rs", "Makefile", "x.$(rm)"].map(edit_file_name);
        assert_eq!(names, ["hunk.rs", "hunk.txt", "hunk.txt"]);
    }
}
