//! The developer's own editor, in the terminal that the app has given back for as long.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::app::Editing;

/// The editor where nobody has named one.
const FALLBACK: &str = "vi";

/// What a shell says of a program that it does not find.
const ABSENT: i32 = 127;

/// Something that is opened in the editor.
pub(super) struct Draft {
    /// Where a text of our own lies meanwhile; a file of the repository stays where it is.
    folder: Option<tempfile::TempDir>,
    file: PathBuf,
    arguments: Vec<String>,
    editor: String,
    /// Line ends at the end of a message mean nothing; at the end of a file they do.
    is_message: bool,
}

/// The editor's command line: that of the settings, else of the variables that say so.
pub(super) fn editor(set: Option<&str>, env: impl Fn(&str) -> Option<String>) -> String {
    let named = |name: &str| env(name).filter(|line| !line.trim().is_empty());
    let set = set.map(str::to_owned).filter(|line| !line.trim().is_empty());
    set.or_else(|| named("VISUAL")).or_else(|| named("EDITOR")).unwrap_or_else(|| FALLBACK.to_owned())
}

/// The arguments that open a file at a line (1-based) in that editor. Most take `+LINE`, as vi always did.
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

impl Draft {
    /// Prepares what is to be opened: a text of our own goes into a file in a folder that nobody else can enter.
    ///
    /// # Errors
    /// There is no place for it.
    pub(super) fn new(what: &Editing, editor: String) -> io::Result<Self> {
        match what {
            Editing::Message(text) => Ok(Self { is_message: true, ..Self::of_text("message.md", text, 1, editor)? }),
            Editing::Review(draft) => Self::of_text(draft.file_name(), &draft.text, draft.line, editor),
            Editing::File { path, line } => {
                // A name that begins with a dash is no option.
                let arguments = at_line(&editor, &format!("./{path}"), *line);
                Ok(Self { folder: None, file: PathBuf::from(path), arguments, editor, is_message: false })
            }
        }
    }

    fn of_text(name: &str, text: &str, line: usize, editor: String) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("rhumb-text-").tempdir()?;
        let file = folder.path().join(name);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&file)?.write_all(text.as_bytes())?;
        let path = file.to_string_lossy().into_owned();
        let arguments = if line > 1 { at_line(&editor, &path, line) } else { vec![path] };
        Ok(Self { folder: Some(folder), file, arguments, editor, is_message: false })
    }

    /// What opens it. The line is the developer's own and may hold arguments, so that a shell reads it.
    pub(super) fn command(&self, root: &Path) -> Command {
        let mut command = Command::new("sh");
        let line = format!("{} \"$@\"", self.editor);
        command.arg("-c").arg(line).arg("sh").args(&self.arguments).current_dir(root);
        command
    }

    /// The text as the editor left it; in words why it does not count, if so. Empty for a file of the repository.
    pub(super) fn result(self, status: io::Result<std::process::ExitStatus>) -> Result<String, String> {
        let editor = &self.editor;
        match status {
            Err(error) => return Err(format!("The editor `{editor}` cannot be started: {error}.")),
            Ok(status) if status.code() == Some(ABSENT) => {
                return Err(format!("The editor `{editor}` was not found."));
            }
            Ok(status) if !status.success() => {
                return Err(format!("The editor `{editor}` failed ({status}), so the text is as it was."));
            }
            Ok(_) => {}
        }
        let Some(folder) = self.folder else { return Ok(String::new()) };
        let bytes = std::fs::read(&self.file);
        let text = bytes.map_err(|error| format!("What `{editor}` wrote cannot be read: {error}."))?;
        drop(folder);
        let text = String::from_utf8(text).map_err(|_| format!("What `{}` wrote is no UTF-8.", self.editor))?;
        Ok(if self.is_message { text.trim_end_matches(['\n', '\r']).to_owned() } else { text })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn edited(editor: &str) -> Result<String, String> {
        let draft = Draft::new(&Editing::Message("one\n".into()), editor.into()).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(draft.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let status = draft.command(Path::new("/")).stderr(std::process::Stdio::null()).status();
        let folder = draft.folder.as_ref().unwrap().path().to_owned();
        let result = draft.result(status);
        assert!(!folder.exists(), "nothing of the message stays behind");
        result
    }

    #[test]
    fn what_the_editor_leaves_is_the_message() {
        assert_eq!(edited("sed -i s/one/two/"), Ok("two".into()));
    }

    #[test]
    fn an_editor_that_fails_or_is_absent_changes_nothing() {
        let failed = edited("sh -c 'exit 3'").unwrap_err();
        assert!(failed.contains("exit status: 3") && failed.contains("as it was"), "{failed}");
        assert!(edited("no-such-editor-of-ours").unwrap_err().contains("not found"));
    }

    #[test]
    fn a_file_is_opened_at_its_line_the_way_the_editor_takes_it() {
        let of = |editor: &str| at_line(editor, "./a b.rs", 7).join(" ");
        assert_eq!(of("nvim -p"), "+7 ./a b.rs");
        assert_eq!(of("/usr/bin/hx"), "./a b.rs:7");
        assert_eq!(of("code --wait"), "--goto ./a b.rs:7");
    }

    #[test]
    fn the_setting_wins_over_the_variables() {
        let env = |name: &str| match name {
            "VISUAL" => Some(" ".to_owned()),
            "EDITOR" => Some("ed".to_owned()),
            _ => None,
        };
        assert_eq!(
            (editor(Some("nvim"), env), editor(None, env), editor(None, |_| None)),
            ("nvim".into(), "ed".into(), "vi".into())
        );
    }
}
