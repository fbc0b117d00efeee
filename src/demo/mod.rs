//! The data of the demo: a small sample repository and the recorded replies of its scripted model.
//!
//! The sample is a Python package of tide tables with a visible fault (a forecast ends one step early) and missing features.
//! The first reply fixes the fault, and contains one hunk that a careful reviewer rejects.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The initial draft of the demo; the first of [`replies`] answers it.
pub const FIRST_MESSAGE: &str = "Forecasts compute the same heights again and again: add a small cache. \
And fix the off-by-one in `heights`, the last sample is missing.";

/// The initial files of the chat: those that the first of [`replies`] changes.
pub const FIRST_FILES: &[&str] = &["tidewatch/forecast.py", "tidewatch/cli.py", "tests/test_forecast.py"];

/// Runs the tests of the sample. They fail with the hunk that a careful reviewer rejects. `-B`: leaves no compiled files.
pub const TEST_COMMAND: &str = "python3 -B -m unittest discover -s tests -t .";

macro_rules! sample {
    ($($path:literal,)+) => { &[$(($path, include_str!(concat!("sample/", $path)))),+] };
}

/// The files of the sample repository: path, relative to its root, with `/`, and text. Sorted by path.
pub fn files() -> &'static [(&'static str, &'static str)] {
    sample![
        "README.md",
        "pyproject.toml",
        "tests/__init__.py",
        "tests/test_forecast.py",
        "tests/test_harmonics.py",
        "tidewatch/__init__.py",
        "tidewatch/__main__.py",
        "tidewatch/cli.py",
        "tidewatch/forecast.py",
        "tidewatch/harmonics.py",
        "tidewatch/station.py",
        "tidewatch/table.py",
    ]
}

/// Writes the files of the sample repository to `into`, which is created if it is missing.
///
/// # Errors
/// A folder or file cannot be created; the message has its path. An existing file is an error, because the demo never
/// overwrites files.
pub fn unpack(into: &Path) -> io::Result<()> {
    for (name, text) in files() {
        let path = into.join(name);
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = folder.and_then(|()| File::create_new(&path)?.write_all(text.as_bytes()));
        written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

/// The recorded replies, each with the words (in lower case) that a message must contain. They are tried in order; the last
/// one, which changes no file, answers every other message.
pub fn replies() -> Vec<(Vec<&'static str>, &'static str)> {
    vec![
        (vec!["cache", "off-by-one"], include_str!("replies/cache.md")),
        (vec!["@codebase"], include_str!("replies/codebase.md")),
        (vec!["json"], include_str!("replies/json.md")),
        (vec!["how"], include_str!("replies/explain.md")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edits of a recorded reply: path, search text, replacement.
    fn quotes(reply: &str) -> Vec<(String, String, String)> {
        let lines: Vec<&str> = reply.lines().collect();
        let mut found = Vec::new();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| **line == "<<<<<<< SEARCH") {
            let rest = &lines[at + 1..];
            let middle = rest.iter().position(|line| *line == "=======").unwrap();
            let end = rest.iter().position(|line| *line == ">>>>>>> REPLACE").unwrap();
            let block = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            found.push((lines[at - 2].to_owned(), block(&rest[..middle]), block(&rest[middle + 1..end])));
        }
        found
    }

    fn text_of(path: &str) -> Option<&'static str> {
        files().iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
    }

    /// The position of `quote` in `text` as whole lines.
    fn places(text: &str, quote: &str) -> usize {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        starts.filter(|at| text[*at..].starts_with(quote)).count()
    }

    #[test]
    fn every_quote_of_a_reply_stands_in_the_sample_once() {
        for (_, reply) in replies() {
            for (path, quote, _) in quotes(reply) {
                match text_of(&path) {
                    None => assert_eq!(quote, "", "{path} is new, so nothing can be quoted from it"),
                    Some(text) => assert_eq!(places(text, &quote), 1, "{path}:\n{quote}"),
                }
            }
        }
    }

    #[test]
    fn the_first_reply_changes_three_files_in_five_places_and_adds_one() {
        let quotes = quotes(replies()[0].1);
        let (changed, added): (Vec<_>, Vec<_>) = quotes.iter().partition(|(path, _, _)| text_of(path).is_some());
        let paths: std::collections::BTreeSet<_> = changed.iter().map(|(path, _, _)| path.as_str()).collect();
        assert_eq!((changed.len(), paths.len(), added.len()), (5, 3, 1));
    }

    #[test]
    fn one_hunk_of_the_first_reply_drops_a_check_that_is_needed() {
        let bad: Vec<_> = quotes(replies()[0].1).into_iter().filter(|(_, quote, _)| quote.contains("raise")).collect();
        assert_eq!(bad.len(), 1);
        assert!(!bad[0].2.contains("raise"));
    }

    #[test]
    fn the_last_reply_holds_no_edit() {
        let (_, reply) = replies().pop().unwrap();
        assert_eq!(quotes(reply), []);
    }

    #[test]
    fn the_first_message_asks_for_the_first_reply() {
        let message = FIRST_MESSAGE.to_lowercase();
        let found = replies().into_iter().position(|(words, _)| words.iter().all(|word| message.contains(word)));
        assert_eq!(found, Some(0));
    }

    #[test]
    fn every_citation_of_a_reply_is_in_the_sample() {
        let (_, reply) = replies().swap_remove(1);
        let spans = reply.split('`').skip(1).step_by(2);
        let cited: Vec<(&str, &str)> = spans.filter_map(|span| span.rsplit_once(':')).collect();
        assert!(cited.len() >= 4);
        for (path, lines) in cited {
            let last: usize = lines.rsplit('-').next().unwrap().parse().unwrap();
            assert!(text_of(path).is_some_and(|text| text.lines().count() >= last), "{path}:{lines}");
        }
    }

    #[test]
    fn the_files_are_sorted_and_stay_below_the_root() {
        assert!(files().windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(files().iter().all(|(path, _)| !path.starts_with('/') && !path.contains("..")));
    }

    #[test]
    fn every_file_of_the_sample_folder_is_bundled() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/sample");
        for (path, text) in files() {
            assert_eq!(fs::read_to_string(root.join(path)).unwrap(), *text, "{path}");
        }
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                    assert!(text_of(name).is_some(), "{name} is not bundled");
                }
            }
        }
    }

    #[test]
    fn unpacking_writes_every_file_and_never_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("tidewatch");
        unpack(&root).unwrap();
        for (path, text) in files() {
            assert_eq!(fs::read_to_string(root.join(path)).unwrap(), *text);
        }
        let error = unpack(&root).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(error.to_string().contains("README.md"), "{error}");
    }
}
