//! The developer's own editor, which has the terminal for as long as it runs.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

/// The editor where nobody has named one.
const FALLBACK: &str = "vi";

/// What a shell says of a program that it does not find.
const ABSENT: i32 = 127;

/// The editor's command line: that of the settings, else of the variables that say so.
pub(super) fn editor(set: Option<&str>, env: impl Fn(&str) -> Option<String>) -> String {
    let named = |name: &str| env(name).filter(|line| !line.trim().is_empty());
    let set = set.map(str::to_owned).filter(|line| !line.trim().is_empty());
    set.or_else(|| named("VISUAL")).or_else(|| named("EDITOR")).unwrap_or_else(|| FALLBACK.to_owned())
}

/// A text in a file of its own, in a folder that nobody else can enter, for as long as it is edited.
pub(super) struct Sheet {
    folder: tempfile::TempDir,
    file: std::path::PathBuf,
}

impl Sheet {
    /// Puts the text into a file of that name.
    ///
    /// # Errors
    /// There is no place for it.
    pub(super) fn new(name: &str, text: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("rhumb-text-").tempdir()?;
        let file = folder.path().join(name);
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&file)?.write_all(text.as_bytes())?;
        Ok(Self { folder, file })
    }

    /// Starts the editor. Lines of a script are not for it, so it gets the input only where that is a terminal.
    ///
    /// # Errors
    /// There is no shell.
    pub(super) fn open(&self, editor: &str, root: &Path) -> io::Result<tokio::process::Child> {
        let input = if io::stdin().is_terminal() { Stdio::inherit() } else { Stdio::null() };
        let mut command = tokio::process::Command::new("sh");
        // The line is the developer's own and may hold arguments, so that a shell reads it.
        command.arg("-c").arg(format!("{editor} \"$@\"")).arg("sh").arg(&self.file);
        command.current_dir(root).stdin(input).kill_on_drop(true).spawn()
    }

    /// The text as the editor left it; in words why it does not count, if so.
    ///
    /// # Errors
    /// The editor failed, or left something that is no text.
    pub(super) fn result(self, editor: &str, status: io::Result<ExitStatus>) -> Result<String, String> {
        match status {
            Err(error) => return Err(format!("The editor {editor} cannot be started: {error}.")),
            Ok(status) if status.code() == Some(ABSENT) => return Err(format!("The editor {editor} was not found.")),
            Ok(status) if !status.success() => {
                return Err(format!("The editor {editor} failed ({status}), so the text is as it was."));
            }
            Ok(_) => {}
        }
        let bytes = std::fs::read(&self.file).map_err(|error| format!("What {editor} wrote cannot be read: {error}."));
        drop(self.folder);
        String::from_utf8(bytes?).map_err(|_| format!("What {editor} wrote is no UTF-8."))
    }
}

/// A name for the file with part of the file at `path`: with its ending, by which editors know the language.
pub(super) fn sheet_name(path: &str) -> String {
    match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some(ending) if ending.chars().all(char::is_alphanumeric) => format!("hunk.{ending}"),
        _ => "hunk.txt".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_wins_over_the_variables() {
        let env = |name: &str| (name == "EDITOR").then(|| "ed".to_owned());
        let names = [editor(Some("nvim"), env), editor(None, env), editor(Some(" "), |_| None)];
        assert_eq!(names, ["nvim", "ed", "vi"]);
    }

    #[test]
    fn the_file_has_the_ending_of_the_one_that_it_is_part_of() {
        assert_eq!((sheet_name("src/a.rs").as_str(), sheet_name("Makefile").as_str()), ("hunk.rs", "hunk.txt"));
        assert_eq!(sheet_name("x.$(rm)"), "hunk.txt");
    }
}
