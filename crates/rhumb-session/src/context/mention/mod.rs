//! Files that a text mentions: paths in every usual notation, unique file names, and distinctive symbols that only one file
//! defines.
//!
//! Nothing is guessed: an ambiguous name is not a mention. Names in edit blocks and fenced code are not mentions; [`prose`]
//! removes these from an answer first.

mod at;
mod prose;
mod readings;
mod spaced;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub use at::{At, AtMeaning, at_meaning, ats};
pub use prose::prose;

use self::readings::{Reading, readings};
use rhumb_index::repo_map::is_compound;

/// Minimum length of the name of a symbol in characters. Shorter names are common words.
const MIN_SYMBOL_CHARS: usize = 4;

/// Common names of types, which are not mentions even if only one file defines them.
const COMMON_TYPES: [&str; 32] = [
    "Array", "Boolean", "Data", "Date", "DateTime", "Default", "Dict", "Display", "Error", "Exception", "False",
    "File", "Float", "Integer", "Item", "Iterator", "List", "Node", "None", "Null", "Number", "Object", "Option",
    "Path", "Result", "Some", "String", "Test", "True", "Type", "Value", "Vector",
];

/// How a file was mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NamedBy {
    /// By its path.
    Path,
    /// By the unique end of its path.
    Name,
    /// By a symbol that only it defines.
    Symbol,
}

/// A mention of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The byte range of the name, without quotes, line numbers and punctuation.
    pub range: Range<usize>,
    /// The path of the file in the repository.
    pub path: String,
    /// How it was mentioned.
    pub by: NamedBy,
}

/// The repository, for finding mentions.
#[derive(Clone, Copy)]
pub struct KnownFiles<'k> {
    /// All files, sorted.
    pub paths: &'k [String],
    /// Files in the chat. They are not mentions, and an ambiguous name refers to one of them.
    pub chat: &'k [String],
    /// The file that defines a symbol, if it is the only one.
    pub symbol: &'k dyn Fn(&str) -> Option<String>,
}

/// The mentions in `text`, in order, with repetitions. Ranges do not overlap.
pub fn mentions(text: &str, known: &KnownFiles<'_>) -> Vec<Mention> {
    let read = readings(text);
    let ends = PathEnds::new(known.paths, &read);
    let mut found: Vec<Mention> = read.iter().filter_map(|reading| ends.mention(reading, known)).collect();
    found.extend(spaced::mentions(text, &read, known.paths));
    let taken: HashSet<usize> = found.iter().map(|mention| mention.range.start).collect();
    let symbols = read.iter().filter(|reading| !taken.contains(&reading.range.start));
    found.extend(symbols.filter_map(|reading| symbol(text, reading, known)));
    found.retain(|mention| !known.chat.contains(&mention.path));
    found.sort_by_key(|mention| (mention.range.start, std::cmp::Reverse(mention.range.end)));
    let mut end = 0;
    found.retain(|mention| {
        let is_free = mention.range.start >= end;
        end = end.max(mention.range.end);
        is_free
    });
    found
}

/// The paths of mentions without repetitions, in order.
pub fn mentioned_paths(mentions: &[Mention]) -> Vec<String> {
    let mut seen = HashSet::new();
    mentions.iter().filter(|mention| seen.insert(mention.path.as_str())).map(|mention| mention.path.clone()).collect()
}

/// The paths whose last part occurs in a text, by that part.
struct PathEnds<'p> {
    by_name: HashMap<&'p str, Vec<&'p str>>,
}

impl<'p> PathEnds<'p> {
    /// Every path is examined once, whatever the length of the text.
    fn new(paths: &'p [String], read: &[Reading]) -> Self {
        let names: HashSet<&str> = read.iter().map(|reading| last_part(&reading.name)).collect();
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in paths {
            let name = last_part(path);
            if names.contains(name) {
                by_name.entry(name).or_default().push(path);
            }
        }
        Self { by_name }
    }

    fn mention(&self, reading: &Reading, known: &KnownFiles<'_>) -> Option<Mention> {
        let name = reading.name.as_str();
        let files = self.by_name.get(last_part(name))?;
        let mention =
            |path: &str, by: NamedBy| Some(Mention { range: reading.range.clone(), path: path.to_owned(), by });
        if files.contains(&name) {
            let is_path = name.contains('/') || reading.quoted || has_shape(name) || has_capital(name);
            return if is_path { mention(name, NamedBy::Path) } else { None };
        }
        if !name.contains('/') && !reading.quoted && !has_shape(name) {
            return None;
        }
        let mut ends = files.iter().filter(|path| is_end_of(name, path));
        match (ends.next(), ends.next()) {
            (Some(only), None) => mention(only, NamedBy::Name),
            // Of several files, the one in the chat is meant.
            (Some(_), Some(_)) => {
                let in_chat = |path: &&&str| known.chat.iter().any(|chat| chat == **path);
                let meant = files.iter().filter(|path| is_end_of(name, path)).find(in_chat);
                meant.and_then(|path| mention(path, NamedBy::Name))
            }
            _ => None,
        }
    }
}

/// Whether a path ends with these parts.
fn is_end_of(name: &str, path: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a word looks like a file name and not like a word of a sentence.
fn has_shape(name: &str) -> bool {
    name.contains(['.', '/', '-', '_'])
}

fn has_capital(name: &str) -> bool {
    name.contains(char::is_uppercase)
}

/// The file of a symbol that is written as code: in backticks, or followed by a parenthesis.
fn symbol(text: &str, reading: &Reading, known: &KnownFiles<'_>) -> Option<Mention> {
    let written = text.get(reading.range.clone())?;
    let (bare, called) = match written.find('(') {
        Some(at) => (&written[..at], true),
        None => (written, text[reading.range.end..].starts_with('(')),
    };
    if !called && !reading.in_code {
        return None;
    }
    let name = bare.rsplit([':', '.', '#', '>']).next().unwrap_or(bare);
    let is_name = name.chars().count() >= MIN_SYMBOL_CHARS
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_numeric())
        && is_distinctive(name);
    let path = is_name.then(|| (known.symbol)(name)).flatten()?;
    let start = reading.range.start + bare.len() - name.len();
    Some(Mention { range: start..start + name.len(), path, by: NamedBy::Symbol })
}

/// Whether a name probably refers to a definition: it consists of several words or has the case of a type.
fn is_distinctive(name: &str) -> bool {
    is_compound(name) && !COMMON_TYPES.contains(&name)
}

#[cfg(test)]
mod tests;
