//! Paths that are dropped on the terminal, which types them quoted, with backslashes, or as URLs. No I/O.

use std::path::Path;

use rhumb_session::is_image_path;

/// Maximum size in bytes of a list of dropped paths.
const MAX_BYTES: usize = 65_536;
const MAX_PATHS: usize = 64;

/// A dropped path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// A file or folder of the repository, relative to the root. A folder ends with a slash.
    Known(String),
    /// A picture, by its absolute path.
    Picture(String),
    /// Any other file, by its absolute path.
    Elsewhere(String),
}

/// The paths of a pasted text; `None` if it contains anything else. `known` are the files of the repository in `root`.
pub(crate) fn dropped(text: &str, root: &Path, known: &[String]) -> Option<Vec<Dropped>> {
    let text = text.trim();
    let begins = ["/", "'/", "\"/", "file://", "'file://"].iter().any(|start| text.starts_with(start));
    if !begins || text.len() > MAX_BYTES {
        return None;
    }
    let words = shell_words::split(text).ok().filter(|words| words.len() <= MAX_PATHS)?;
    words.iter().map(|word| one(word, root, known)).collect()
}

fn one(word: &str, root: &Path, known: &[String]) -> Option<Dropped> {
    let path = if word.starts_with("file://") {
        url::Url::parse(word).ok()?.to_file_path().ok()?.to_str()?.to_owned()
    } else {
        word.to_owned()
    };
    // A word with one slash may be a command.
    if !path.starts_with('/') || path.trim_matches('/').split('/').count() < 2 || path.contains(char::is_control) {
        return None;
    }
    let under =
        Path::new(&path).strip_prefix(root).ok().and_then(Path::to_str).map(|under| under.trim_end_matches('/'));
    let folder = under.filter(|under| !under.is_empty()).map(|under| format!("{under}/"));
    if let Some(under) = under.filter(|under| known.iter().any(|path| path == under)) {
        return Some(Dropped::Known(under.to_owned()));
    }
    if let Some(folder) = folder.filter(|folder| known.iter().any(|path| path.starts_with(folder.as_str()))) {
        return Some(Dropped::Known(folder));
    }
    Some(if is_image_path(&path) { Dropped::Picture(path) } else { Dropped::Elsewhere(path) })
}

/// A path as written in a message or as an argument of a command.
pub(crate) fn named(path: &str, in_command: bool) -> String {
    let has_blank = path.contains(char::is_whitespace);
    match (in_command, has_blank) {
        (true, _) => shell_words::quote(path).into_owned(),
        (false, true) => format!("@\"{path}\""),
        (false, false) => format!("@{path}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Option<Vec<Dropped>> {
        let known = ["src/a.rs", "my notes/tide table.md"].map(str::to_owned);
        dropped(text, Path::new("/home/mira/harbour"), &known)
    }

    fn known(path: &str) -> Dropped {
        Dropped::Known(path.into())
    }

    #[test]
    fn paths_are_known_however_the_terminal_writes_them() {
        let table = known("my notes/tide table.md");
        for text in [
            "'/home/mira/harbour/my notes/tide table.md'",
            "/home/mira/harbour/my\\ notes/tide\\ table.md ",
            "\"/home/mira/harbour/my notes/tide table.md\"\n",
            "file:///home/mira/harbour/my%20notes/tide%20table.md",
        ] {
            assert_eq!(of(text), Some(vec![table.clone()]), "{text}");
        }
        let several = "/home/mira/harbour/src/a.rs '/home/mira/harbour/my notes' /home/mira/harbour/src/";
        assert_eq!(of(several), Some(vec![known("src/a.rs"), known("my notes/"), known("src/")]));
    }

    #[test]
    fn what_lies_elsewhere_is_told_from_pictures() {
        let found = of("/tmp/notes.txt /tmp/shot.png").unwrap();
        assert_eq!(found, [Dropped::Elsewhere("/tmp/notes.txt".into()), Dropped::Picture("/tmp/shot.png".into())]);
    }

    #[test]
    fn other_texts_are_texts() {
        for text in ["/help", "src/a.rs", "/add src/a.rs", "see /tmp/x", "/tmp/x is full", "'/tmp/x", "", "file://"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[/'\" a-z%:\\\\\n.]{0,40}") {
            let _ = of(&format!("/{text}"));
            let _ = of(&format!("file://{text}"));
        }
    }
}
