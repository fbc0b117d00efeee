//! Files that a text mentions: paths in every usual notation, unique file names, and distinctive symbols that only one file
//! defines.
//!
//! Nothing is guessed: an ambiguous name is not a mention. Names in edit blocks and fenced code are not mentions; [`prose`]
//! removes these from an answer first.

mod at_reference;
mod name_candidates;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub use at_reference::{AtReference, AtTarget, at_references, at_target};

use self::name_candidates::{NameCandidate, name_candidates};
use rhumb_edit::{FormatChoice, parse};
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
    let candidates = name_candidates(text);
    let ends = PathEnds::new(known.paths, &candidates);
    let mut found: Vec<Mention> = candidates.iter().filter_map(|candidate| ends.mention(candidate, known)).collect();
    found.extend(mentions_of_spaced_paths(text, &candidates, known.paths));
    let taken: HashSet<usize> = found.iter().map(|mention| mention.range.start).collect();
    let symbols = candidates.iter().filter(|candidate| !taken.contains(&candidate.range.start));
    found.extend(symbols.filter_map(|candidate| symbol(text, candidate, known)));
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
    fn new(paths: &'p [String], candidates: &[NameCandidate]) -> Self {
        let names: HashSet<&str> = candidates.iter().map(|candidate| last_part(&candidate.name)).collect();
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in paths {
            let name = last_part(path);
            if names.contains(name) {
                by_name.entry(name).or_default().push(path);
            }
        }
        Self { by_name }
    }

    fn mention(&self, candidate: &NameCandidate, known: &KnownFiles<'_>) -> Option<Mention> {
        let name = candidate.name.as_str();
        let files = self.by_name.get(last_part(name))?;
        let mention =
            |path: &str, by: NamedBy| Some(Mention { range: candidate.range.clone(), path: path.to_owned(), by });
        if files.contains(&name) {
            let is_path =
                name.contains('/') || candidate.quoted || looks_like_file(name) || name.contains(char::is_uppercase);
            return if is_path { mention(name, NamedBy::Path) } else { None };
        }
        if !name.contains('/') && !candidate.quoted && !looks_like_file(name) {
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

fn is_end_of(name: &str, path: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a word looks like a file name and not like a word of a sentence.
fn looks_like_file(name: &str) -> bool {
    name.contains(['.', '/', '-', '_'])
}

/// The file of a symbol that is written as code: in backticks, or followed by a parenthesis.
fn symbol(text: &str, candidate: &NameCandidate, known: &KnownFiles<'_>) -> Option<Mention> {
    let written = text.get(candidate.range.clone())?;
    let (bare, called) = match written.find('(') {
        Some(at) => (&written[..at], true),
        None => (written, text[candidate.range.end..].starts_with('(')),
    };
    if !called && !candidate.in_code {
        return None;
    }
    let name = bare.rsplit([':', '.', '#', '>']).next().unwrap_or(bare);
    let is_name = name.chars().count() >= MIN_SYMBOL_CHARS
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_numeric())
        // Several words, or the case of a type, probably refer to a definition.
        && is_compound(name)
        && !COMMON_TYPES.contains(&name);
    let path = is_name.then(|| (known.symbol)(name)).flatten()?;
    let start = candidate.range.start + bare.len() - name.len();
    Some(Mention { range: start..start + name.len(), path, by: NamedBy::Symbol })
}

/// Mentions of unquoted paths with spaces, which are searched literally.
fn mentions_of_spaced_paths(text: &str, words: &[NameCandidate], paths: &[String]) -> Vec<Mention> {
    let words: HashSet<&str> = words.iter().map(|candidate| candidate.name.as_str()).collect();
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| path.contains(' ')) {
        // Few texts contain the first word of such a path.
        let first = path.split(' ').next().unwrap_or(path);
        if !first.is_empty() && !words.contains(first) {
            continue;
        }
        let windows = path.replace('/', "\\");
        for written in [path.as_str(), windows.as_str()] {
            let matches = text.match_indices(written).filter(|(at, _)| is_whole_name(text, *at, written.len()));
            found.extend(matches.map(|(at, _)| Mention {
                range: at..at + written.len(),
                path: path.clone(),
                by: NamedBy::Path,
            }));
            if !path.contains('/') {
                break;
            }
        }
    }
    found
}

/// Whether the match is not part of a longer name.
fn is_whole_name(text: &str, start: usize, length: usize) -> bool {
    let (before, after) = (&text[..start], &text[start + length..]);
    let bare = before.strip_suffix("./").or_else(|| before.strip_suffix(".\\")).unwrap_or(before);
    let joins = |c: char| c.is_alphanumeric() || "_-/\\".contains(c);
    let ends = |rest: &str| {
        let mut rest = rest.chars();
        match rest.next() {
            // The end of a sentence, or another extension.
            Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
            Some(c) => !joins(c),
            None => true,
        }
    };
    !bare.chars().next_back().is_some_and(joins) && ends(after)
}

/// The answer with edits and fenced code replaced by blanks. Byte offsets are preserved.
pub fn prose(answer: &str) -> String {
    let parsed = parse(answer, FormatChoice::Auto);
    let blocks: Vec<(usize, usize)> = parsed.edits.iter().map(|edit| edit.reply_lines).collect();
    let mut masked = String::with_capacity(answer.len());
    let mut fence: Option<&str> = None;
    for (at, line) in answer.split_inclusive('\n').enumerate() {
        let number = at + 1;
        let is_edit = blocks.iter().any(|(first, last)| (*first..=*last).contains(&number));
        let mark = fence_of(line);
        let is_code = match (fence, mark) {
            (Some(open), Some(close)) => {
                let rest = line.trim_start().trim_start_matches(['`', '~']).trim();
                if close.starts_with(open) && rest.is_empty() {
                    fence = None;
                }
                true
            }
            (Some(_), None) => true,
            (None, Some(open)) => {
                fence = Some(open);
                true
            }
            (None, None) => false,
        };
        if is_edit || is_code { masked.push_str(&blank(line)) } else { masked.push_str(line) }
    }
    masked
}

/// The fence that a line opens or closes: three or more backticks or tildes at its beginning, without a backtick after them.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| "`~".contains(*c))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3 && !line[length..].contains('`')).then(|| &line[..length])
}

/// Blanks of the same length in bytes.
fn blank(line: &str) -> String {
    line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests;
