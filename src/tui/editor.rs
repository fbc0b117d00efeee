//! The developer's own editor, in the terminal that the app has given back for as long.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The editor where nobody has named one.
const FALLBACK: &str = "vi";

/// What a shell says of a program that it does not find.
const ABSENT: i32 = 127;

/// A message that is written in the editor.
pub(super) struct Draft {
    folder: tempfile::TempDir,
    file: PathBuf,
    editor: String,
}

/// The editor's command line: that of the settings, else of the variables that say so.
pub(super) fn editor(set: Option<&str>, env: impl Fn(&str) -> Option<String>) -> String {
    let named = |name: &str| env(name).filter(|line| !line.trim().is_empty());
    let set = set.map(str::to_owned).filter(|line| !line.trim().is_empty());
    set.or_else(|| named("VISUAL")).or_else(|| named("EDITOR")).unwrap_or_else(|| FALLBACK.to_owned())
}

impl Draft {
    /// Puts a text into a file of its own, in a folder that nobody else can enter.
    ///
    /// # Errors
    /// There is no place for it.
    pub(super) fn new(text: &str, editor: String) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("rhumb-message-").tempdir()?;
        let file = folder.path().join("message.md");
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&file)?.write_all(text.as_bytes())?;
        Ok(Self { folder, file, editor })
    }

    /// What opens it. The line is the developer's own and may hold arguments, so that a shell reads it.
    pub(super) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{} \"$@\"", self.editor)).arg("sh").arg(&self.file).current_dir(folder);
        command
    }

    /// The text as the editor left it; in words why it does not count, if so.
    pub(super) fn result(self, status: io::Result<std::process::ExitStatus>) -> Result<String, String> {
        let editor = &self.editor;
        match status {
            Err(error) => return Err(format!("The editor `{editor}` cannot be started: {error}.")),
            Ok(status) if status.code() == Some(ABSENT) => {
                return Err(format!("The editor `{editor}` was not found."));
            }
            Ok(status) if !status.success() => {
                return Err(format!("The editor `{editor}` failed ({status}), so the message is as it was."));
            }
            Ok(_) => {}
        }
        let bytes = std::fs::read(&self.file);
        let text = bytes.map_err(|error| format!("What `{editor}` wrote cannot be read: {error}."))?;
        drop(self.folder);
        let text = String::from_utf8(text).map_err(|_| format!("What `{}` wrote is no UTF-8.", self.editor))?;
        Ok(text.trim_end_matches(['\n', '\r']).to_owned())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn edited(editor: &str) -> Result<String, String> {
        let draft = Draft::new("one\n", editor.into()).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(draft.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let status = draft.command(Path::new("/")).stderr(std::process::Stdio::null()).status();
        let folder = draft.folder.path().to_owned();
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
