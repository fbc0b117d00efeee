//! The developer's own editor: which it is, and a text in a file of its own for as long as it is edited.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The editor where nobody has named one.
const FALLBACK: &str = "vi";

/// What a shell says of a program that it does not find.
const ABSENT: i32 = 127;

/// The editor's command line that somebody has named: that of the settings, else of the variables that say so.
pub fn named_editor(set: Option<&str>, env: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_named = |line: &String| !line.trim().is_empty();
    let named = |name: &str| env(name).filter(is_named);
    set.map(str::to_owned).filter(is_named).or_else(|| named("VISUAL")).or_else(|| named("EDITOR"))
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

/// Something that is open in the editor.
#[derive(Debug)]
pub struct Sheet {
    /// Where a text of our own lies meanwhile; a file of the repository stays where it is.
    folder: Option<tempfile::TempDir>,
    file: PathBuf,
    arguments: Vec<String>,
    editor: String,
}

impl Sheet {
    /// A text in a file of that name, in a folder that nobody else can enter, to be opened at a line (1-based). The editor is the
    /// one that was named, else `vi`.
    ///
    /// # Errors
    /// There is no place for it.
    pub fn of_text(name: &str, text: &str, line: usize, editor: Option<String>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("rhumb-text-").tempdir()?;
        let file = folder.path().join(name);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&file)?.write_all(text.as_bytes())?;
        let path = file.to_string_lossy().into_owned();
        let editor = editor.unwrap_or_else(|| FALLBACK.to_owned());
        let arguments = if line > 1 { at_line(&editor, &path, line) } else { vec![path] };
        Ok(Self { folder: Some(folder), file, arguments, editor })
    }

    /// The file of the repository at `path` under the root, at a line (1-based).
    pub fn of_file(path: &str, line: usize, editor: Option<String>) -> Self {
        let editor = editor.unwrap_or_else(|| FALLBACK.to_owned());
        // A name that begins with a dash is no option.
        let arguments = at_line(&editor, &format!("./{path}"), line);
        Self { folder: None, file: PathBuf::from(path), arguments, editor }
    }

    /// What opens it in `root`. The line is the developer's own and may hold arguments, so that a shell reads it.
    pub fn command(&self, root: &Path) -> Command {
        let mut command = Command::new("sh");
        let line = format!("{} \"$@\"", self.editor);
        command.arg("-c").arg(line).arg("sh").args(&self.arguments).current_dir(root);
        command
    }

    /// The text as the editor left it; empty for a file of the repository.
    ///
    /// # Errors
    /// In words why it does not count: the editor failed, or left something that is no text.
    pub fn result(self, status: io::Result<ExitStatus>) -> Result<String, String> {
        let editor = &self.editor;
        match status {
            Err(error) => return Err(format!("The editor {editor} cannot be started: {error}.")),
            Ok(status) if status.code() == Some(ABSENT) => return Err(format!("The editor {editor} was not found.")),
            Ok(status) if !status.success() => {
                return Err(format!("The editor {editor} failed ({status}), so the text is as it was."));
            }
            Ok(_) => {}
        }
        let Some(folder) = self.folder else { return Ok(String::new()) };
        let bytes = std::fs::read(&self.file);
        drop(folder);
        let bytes = bytes.map_err(|error| format!("What {editor} wrote cannot be read: {error}."))?;
        String::from_utf8(bytes).map_err(|_| format!("What {editor} wrote is no UTF-8."))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn edited(editor: &str) -> Result<String, String> {
        let sheet = Sheet::of_text("message.md", "one\n", 1, Some(editor.into())).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(sheet.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let status = sheet.command(Path::new("/")).stderr(std::process::Stdio::null()).status();
        let folder = sheet.folder.as_ref().unwrap().path().to_owned();
        let result = sheet.result(status);
        assert!(!folder.exists(), "nothing of the message stays behind");
        result
    }

    #[test]
    fn what_the_editor_leaves_is_the_text() {
        assert_eq!(edited("sed -i s/one/two/"), Ok("two\n".into()));
    }

    #[test]
    fn an_editor_that_fails_or_is_absent_changes_nothing() {
        let failed = edited("sh -c 'exit 3'").unwrap_err();
        assert!(failed.contains("exit status: 3") && failed.contains("as it was"), "{failed}");
        assert!(edited("no-such-editor-of-ours").unwrap_err().contains("not found"));
    }

    #[test]
    fn a_file_is_opened_at_its_line_the_way_the_editor_takes_it() {
        let of = |editor: &str| Sheet::of_file("a b.rs", 7, Some(editor.into())).arguments.join(" ");
        assert_eq!(of("nvim -p"), "+7 ./a b.rs");
        assert_eq!(of("/usr/bin/hx"), "./a b.rs:7");
        assert_eq!(of("code --wait"), "--goto ./a b.rs:7");
    }

    #[test]
    fn the_setting_wins_over_the_variables_and_blank_ones_name_nothing() {
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
