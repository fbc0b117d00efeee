//! The input of a repo map: the files with their tags, the request, and its lists of pinned and banned files and symbols.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;

use rhumb_syntax::FileTags;

use super::digest::Digest;
use super::graph::TagGraph;

/// A file of the repository with its tags.
#[derive(Debug, Clone, Default)]
pub struct MapFile {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// Its definitions and references; empty for a file of an unknown language.
    pub tags: Arc<FileTags>,
    /// The digest of its text; empty for a file that was not read.
    pub digest: Arc<Digest>,
}

/// The layout of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MapStyle {
    /// File → definitions in line order, members below their containers.
    #[default]
    Tree,
    /// File → kind → definitions.
    Outline,
}

/// The request for which a map is built.
#[derive(Debug, Clone, Default)]
pub struct MapRequest {
    /// Files that the model gets completely: those with code influence the ranks, and all are left out of the map.
    pub chat_files: Vec<String>,
    /// Further files that are relevant.
    pub mentioned_files: Vec<String>,
    /// Relevant names.
    pub mentioned_idents: Vec<String>,
    /// The user's message. Paths, identifiers and words in it count as mentioned if the repository has them.
    pub message: String,
    /// Files that come first regardless of the request, and symbols as `path#name` (see [`symbol_choice`]).
    pub pinned: Vec<String>,
    /// Files and symbols that are never shown.
    pub banned: Vec<String>,
    /// Files with uncommitted or very recent changes.
    pub edited: Vec<String>,
    /// Maximum number of tokens of the text.
    pub budget: usize,
    /// The layout of the text.
    pub style: MapStyle,
}

/// Separates the path of a file from the name of a symbol.
const SEPARATOR: char = '#';

/// The name of a symbol for [`MapRequest::pinned`] and [`MapRequest::banned`].
pub fn symbol_choice(path: &str, name: &str) -> String {
    format!("{path}{SEPARATOR}{name}")
}

/// All ways to split a choice into a path and a symbol name: both may contain the separator.
pub fn symbol_readings(choice: &str) -> impl Iterator<Item = (&str, &str)> {
    let at = |(at, sign): (usize, &str)| Some((choice.get(..at)?, choice.get(at + sign.len()..)?));
    choice.match_indices("#").filter_map(at).filter(|(path, name)| !path.is_empty() && !name.is_empty())
}

/// The symbols that the choices name. Choices that name a file or nothing are ignored.
pub(crate) fn symbols_chosen(graph: &TagGraph, choices: &[String]) -> BTreeSet<u32> {
    let index = graph.index();
    let symbol = |choice: &String| {
        if index.file_at(choice).is_some() {
            return None;
        }
        symbol_readings(choice).find_map(|(path, name)| {
            let (file, name) = (index.file_at(path)?, index.name_number(name)?);
            let is_meant = |symbol: &&u32| graph.symbols().get(**symbol as usize).is_some_and(|own| own.name == name);
            graph.symbols_of(file).iter().find(is_meant).copied()
        })
    };
    choices.iter().filter_map(symbol).collect()
}

/// When the map is updated. `/map-refresh` updates it at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// When the draft, the chat or a file on disk changes, by notifications of the operating system.
    #[default]
    Auto,
    /// Like `Auto`, and all files are checked before each request: for file systems without notifications.
    Always,
    /// When the files of the chat change. Otherwise the map stays the same, so that providers can cache it.
    Files,
    /// Only on command.
    Manual,
}

impl Refresh {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Always, Self::Files, Self::Manual];

    /// The name, as written in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Files => "files",
            Self::Manual => "manual",
        }
    }

    /// Whether the map is updated after changes on disk.
    pub fn follows_disk(self) -> bool {
        matches!(self, Self::Auto | Self::Always)
    }
}

impl FromStr for Refresh {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name.trim()).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_may_occur_in_paths_and_names() {
        let choice = symbol_choice("a.rs", "moor");
        let read = |choice| symbol_readings(choice).collect::<Vec<_>>();
        assert_eq!(read(choice.as_str()), [("a.rs", "moor")]);
        assert_eq!(read("a.js##count"), [("a.js", "#count"), ("a.js#", "count")]);
        assert_eq!(read("c#/a.cs#Moor"), [("c", "/a.cs#Moor"), ("c#/a.cs", "Moor")]);
        assert!(read("a.rs").is_empty() && read("a.rs#").is_empty() && read("#moor").is_empty());
    }
}
