//! Editing text in the user's own editor.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Editor that is used if none is configured.
const DEFAULT_EDITOR: &str = "vi";

/// Exit code with which a shell reports an unknown command.
const COMMAND_NOT_FOUND: i32 = 127;

/// Returns the command line of the configured editor: that of the settings, or of `VISUAL` or `EDITOR`.
pub fn named_editor(set: Option<&str>, env: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_named = |line: &String| !line.trim().is_empty();
    let named = |name: &str| env(name).filter(is_named);
    set.map(str::to_owned).filter(is_named).or_else(|| named("VISUAL")).or_else(|| named("EDITOR"))
}

/// Returns the arguments that open a file at a line (1-based) in that editor. Most editors accept `+LINE` like vi.
fn at_line(editor: &str, path: &str, line: usize) -> Vec<String> {
    let program = editor.split_whitespace().next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    match program {
        "code" | "code-insiders" | "codium" | "cursor" | "windsurf" => vec!["--goto".into(), format!("{path}:{line}")],
        "hx" | "helix" | "subl" | "zed" | "zeditor" => vec![format!("{path}:{line}")],
        "idea" | "pycharm" | "clion" | "goland" | "webstorm" | "rustrover" => {
            vec!["--line".into(), line.to_string(), path.into()]
        }
        _ => vec![format!("+{line}"), path.into()],
    }
}

/// Why an edited text cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    /// The shell cannot be started.
    #[error("The editor {editor} cannot be started: {source}.")]
    Start {
        /// The editor's command line.
        editor: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// There is no such program.
    #[error("The editor {0} was not found.")]
    NotFound(String),
    /// The editor failed, so its text is not used.
    #[error("The editor {editor} failed ({status}), so the text is as it was.")]
    Failed {
        /// The editor's command line.
        editor: String,
        /// Its exit status.
        status: ExitStatus,
    },
    /// The edited file cannot be read.
    #[error("The text from {editor} cannot be read: {source}.")]
    Read {
        /// The editor's command line.
        editor: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The edited file is not UTF-8.
    #[error("The text from {0} is not UTF-8.")]
    NotUtf8(String),
}

/// A file that is open in the editor.
#[derive(Debug)]
pub struct EditorSession {
    /// Temporary folder of a text. `None` for a file of the repository.
    folder: Option<tempfile::TempDir>,
    file: PathBuf,
    arguments: Vec<String>,
    editor: String,
}

impl EditorSession {
    /// Prepares to edit `text` at a line (1-based), in a temporary file called `name` that only the user can read.
    ///
    /// # Errors
    /// The temporary file cannot be created.
    pub fn for_text(name: &str, text: &str, line: usize, editor: Option<String>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("rhumb-text-").tempdir()?;
        let file = folder.path().join(name);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&file)?.write_all(text.as_bytes())?;
        let path = file.to_string_lossy().into_owned();
        let editor = editor.unwrap_or_else(|| DEFAULT_EDITOR.to_owned());
        let arguments = if line > 1 { at_line(&editor, &path, line) } else { vec![path] };
        Ok(Self { folder: Some(folder), file, arguments, editor })
    }

    /// Prepares to edit the file at `path`, relative to the root, at a line (1-based).
    pub fn for_file(path: &str, line: usize, editor: Option<String>) -> Self {
        let editor = editor.unwrap_or_else(|| DEFAULT_EDITOR.to_owned());
        // The editor must not take a name with a leading dash for an option.
        let arguments = at_line(&editor, &format!("./{path}"), line);
        Self { folder: None, file: PathBuf::from(path), arguments, editor }
    }

    /// Returns the command that opens the file, to be run in `root`. A shell splits the editor's command line.
    pub fn command(&self, root: &Path) -> Command {
        let mut command = Command::new("sh");
        let line = format!("{} \"$@\"", self.editor);
        command.arg("-c").arg(line).arg("sh").args(&self.arguments).current_dir(root);
        command
    }

    /// Returns the edited text, or an empty text for a file of the repository. `status` is the result of the command.
    ///
    /// # Errors
    /// The editor failed, or the edited text cannot be read.
    pub fn result(self, status: io::Result<ExitStatus>) -> Result<String, EditorError> {
        let editor = self.editor;
        let status = match status {
            Ok(status) => status,
            Err(source) => return Err(EditorError::Start { editor, source }),
        };
        if status.code() == Some(COMMAND_NOT_FOUND) {
            return Err(EditorError::NotFound(editor));
        }
        if !status.success() {
            return Err(EditorError::Failed { editor, status });
        }
        let Some(folder) = self.folder else { return Ok(String::new()) };
        let bytes = fs::read(&self.file);
        drop(folder);
        match bytes {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| EditorError::NotUtf8(editor)),
            Err(source) => Err(EditorError::Read { editor, source }),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn edited(editor: &str) -> Result<String, String> {
        let session = EditorSession::for_text("message.md", "one\n", 1, Some(editor.into())).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(session.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let status = session.command(Path::new("/")).stderr(std::process::Stdio::null()).status();
        let folder = session.folder.as_ref().unwrap().path().to_owned();
        let result = session.result(status).map_err(|error| error.to_string());
        assert!(!folder.exists(), "nothing of the message stays behind");
        result
    }

    #[test]
    fn the_edited_text_is_returned() {
        assert_eq!(edited("sed -i s/one/two/"), Ok("two\n".into()));
    }

    #[test]
    fn a_failing_or_missing_editor_changes_nothing() {
        let failed = edited("sh -c 'exit 3'").unwrap_err();
        assert!(failed.contains("exit status: 3") && failed.contains("as it was"), "{failed}");
        assert!(edited("no-such-editor-of-ours").unwrap_err().contains("not found"));
    }

    #[test]
    fn each_editor_gets_its_own_line_argument() {
        let of = |editor: &str| EditorSession::for_file("a b.rs", 7, Some(editor.into())).arguments.join(" ");
        assert_eq!(of("nvim -p"), "+7 ./a b.rs");
        assert_eq!(of("/usr/bin/hx"), "./a b.rs:7");
        assert_eq!(of("code --wait"), "--goto ./a b.rs:7");
    }

    #[test]
    fn the_setting_takes_precedence_and_blank_variables_are_ignored() {
        let env = |name: &str| match name {
            "VISUAL" => Some(" ".to_owned()),
            "EDITOR" => Some("ed".to_owned()),
            _ => None,
        };
        assert_eq!(named_editor(Some("nvim"), env).as_deref(), Some("nvim"));
        assert_eq!(named_editor(Some(" "), env).as_deref(), Some("ed"));
        assert_eq!(named_editor(None, |_| None), None);
    }
}
