//! The developer's own editor for a text of this mode.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::Stdio;

use rhumb_workspace::process::EditorSession;

/// Starts the editor. Lines of a script are not for it, so it gets the input only where that is a terminal.
///
/// # Errors
/// There is no shell.
pub(super) fn open(sheet: &EditorSession, root: &Path) -> io::Result<tokio::process::Child> {
    let input = if io::stdin().is_terminal() { Stdio::inherit() } else { Stdio::null() };
    tokio::process::Command::from(sheet.command(root)).stdin(input).kill_on_drop(true).spawn()
}

/// A name for the file with part of the file at `path`: with its ending, by which editors know the language.
pub(crate) fn sheet_name(path: &str) -> String {
    match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some(ending) if ending.chars().all(char::is_alphanumeric) => format!("hunk.{ending}"),
        _ => "hunk.txt".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_ending_of_the_one_that_it_is_part_of() {
        assert_eq!((sheet_name("src/a.rs").as_str(), sheet_name("Makefile").as_str()), ("hunk.rs", "hunk.txt"));
        assert_eq!(sheet_name("x.$(rm)"), "hunk.txt");
    }
}
