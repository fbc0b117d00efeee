//! Tags of languages that are read line by line, without a grammar: INI, YAML, Markdown, SCSS and Less.
//!
//! These readers cost a fraction of a parser and are linear in any input. They find what matters in documents and settings:
//! sections and keys.

mod markdown;
mod style;

use crate::tags::{Definition, FileTags, SymbolKind};

pub(crate) use markdown::markdown;
pub(crate) use style::style_sheet;

/// Maximum number of entries of an outline. A file with more is a table of data.
const MAX_ENTRIES: usize = 1_000;

const MAX_NAME_BYTES: usize = 256;

/// Maximum length of a signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 200;

/// A heading or key.
pub(crate) struct OutlineEntry<'source> {
    /// Nesting depth, 1 for the outermost.
    pub(crate) depth: usize,
    pub(crate) kind: SymbolKind,
    pub(crate) name: &'source str,
    /// The line as written.
    pub(crate) signature: &'source str,
    /// 1-based line.
    pub(crate) line: u32,
    /// The comment above.
    pub(crate) doc: &'source str,
}

/// Collects headings or keys. An entry ends where the next one of its depth starts.
#[derive(Default)]
pub(crate) struct OutlineBuilder {
    definitions: Vec<Definition>,
    /// Depth and index of the open entries, outermost first.
    open: Vec<(usize, usize)>,
    /// The last line with content, if the reader reports it.
    last: Option<u32>,
}

impl OutlineBuilder {
    /// Closes entries of at least the same depth and adds an entry to the last open one.
    pub(crate) fn push(&mut self, entry: &OutlineEntry<'_>) {
        let usable = !entry.name.is_empty() && entry.name.len() <= MAX_NAME_BYTES;
        if !usable || self.definitions.len() >= MAX_ENTRIES {
            return;
        }
        self.close(entry.depth, self.last.unwrap_or(entry.line.saturating_sub(1)));
        let outer = self.open.last().and_then(|(_, outer)| self.definitions.get(*outer));
        let container = outer.map(|outer| outer.name.clone());
        self.open.push((entry.depth, self.definitions.len()));
        self.definitions.push(Definition {
            name: entry.name.to_owned(),
            kind: entry.kind,
            line: entry.line,
            end_line: entry.line,
            signature: entry.signature.chars().take(MAX_SIGNATURE_CHARS).collect(),
            container,
            doc: entry.doc.to_owned(),
        });
    }

    /// Reports that `line` has content.
    pub(crate) fn extend_to(&mut self, line: u32) {
        self.last = Some(line);
    }

    /// Closes all entries of at least `depth` on `line`.
    pub(crate) fn close(&mut self, depth: usize, line: u32) {
        while let Some((_, at)) = self.open.pop_if(|(open, _)| *open >= depth) {
            if let Some(definition) = self.definitions.get_mut(at) {
                definition.end_line = line.max(definition.line);
            }
        }
    }

    /// Closes all entries on the last line and returns the definitions.
    pub(crate) fn finish(mut self, last: u32) -> Vec<Definition> {
        self.close(0, last);
        self.definitions
    }
}

/// Length in bytes of a word that can be an identifier.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 3..=64;

/// The identifiers in `text`, in order: letters, digits and underscores, not starting with a digit.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| WORD_BYTES.contains(&word.len()) && !word.starts_with(|c: char| c.is_numeric()))
}

/// INI and similar files: `[section]` and `key = value` lines, as in `.properties`, `.env` and git's configuration.
pub(crate) fn ini(source: &str) -> FileTags {
    let mut outline = OutlineBuilder::default();
    let (mut last, mut continued, mut doc) = (0, false, "");
    for (line, text) in (1u32..).zip(source.trim_start_matches('\u{feff}').lines()) {
        let body = text.trim();
        let is_continued = std::mem::replace(&mut continued, body.ends_with('\\'));
        if body.is_empty() {
            continue;
        }
        if body.starts_with(['#', ';', '!']) {
            doc = if doc.is_empty() { body.trim_start_matches(['#', ';', '!', ' ']) } else { doc };
            continue;
        }
        // An indented line, or one after a backslash, continues the previous value.
        let is_new = !is_continued && (!text.starts_with([' ', '\t']) || text.contains('='));
        if is_new && let Some((depth, kind, name)) = ini_entry(body) {
            outline.push(&OutlineEntry { depth, kind, name, signature: body, line, doc });
        }
        doc = "";
        last = line;
        outline.extend_to(line);
    }
    FileTags { definitions: outline.finish(last.max(1)), ..FileTags::default() }
}

fn ini_entry(body: &str) -> Option<(usize, SymbolKind, &str)> {
    if let Some(section) = body.strip_prefix('[') {
        return Some((1, SymbolKind::Section, section.split_once(']')?.0.trim()));
    }
    let (key, _) = body.split_once(['=', ':'])?;
    let key = key.trim();
    let key = key.strip_prefix("export ").unwrap_or(key);
    (!key.contains(char::is_whitespace)).then_some((2, SymbolKind::Key, key))
}

/// YAML: the keys of the first two levels. A key of a list item counts as the second level.
///
/// This is not a parser; it looks at the start of lines. Block scalars (`|`, `>`) are skipped. Keys in flow collections and
/// multi-line strings are not recognised.
pub(crate) fn yaml(source: &str) -> FileTags {
    let mut reader = YamlReader::default();
    let mut last = 1;
    for (line, text) in (1u32..).zip(source.trim_start_matches('\u{feff}').lines()) {
        reader.line(line, text);
        if !text.trim().is_empty() && !text.trim().starts_with('#') {
            last = line;
            reader.outline.extend_to(line);
        }
    }
    FileTags { definitions: reader.outline.finish(last), ..FileTags::default() }
}

#[derive(Default)]
struct YamlReader<'source> {
    outline: OutlineBuilder,
    doc: &'source str,
    /// The indentation of the key whose block scalar is being skipped.
    scalar: Option<usize>,
    /// The indentation of the second level below the last key of the first level.
    second: Option<usize>,
}

impl<'source> YamlReader<'source> {
    fn line(&mut self, line: u32, text: &'source str) {
        let body = text.trim();
        let indentation = text.len() - text.trim_start().len();
        if body.is_empty() || self.scalar.is_some_and(|key| indentation > key) {
            return;
        }
        self.scalar = None;
        if let Some(comment) = body.strip_prefix('#') {
            self.doc = if self.doc.is_empty() { comment.trim_start_matches(['#', ' ']) } else { self.doc };
            return;
        }
        let doc = std::mem::take(&mut self.doc);
        let Some(name) = yaml_key(body) else { return };
        if body.trim_end().ends_with(['|', '>', '-', '+']) && is_scalar(body) {
            self.scalar = Some(indentation);
        }
        let depth = self.depth(indentation);
        if depth <= 2 {
            self.outline.push(&OutlineEntry { depth, kind: SymbolKind::Key, name, signature: body, line, doc });
        }
    }

    /// The level of a key at this indentation: 1, 2, or 3 for all deeper ones.
    fn depth(&mut self, indentation: usize) -> usize {
        if indentation == 0 {
            self.second = None;
            return 1;
        }
        if indentation <= *self.second.get_or_insert(indentation) { 2 } else { 3 }
    }
}

/// The key at the start of a line: `name:`, `"a name":`. List items and directives have none.
fn yaml_key(body: &str) -> Option<&str> {
    if body.starts_with(['-', '?', '%', '{', '[', '&', '*', '!', '|', '>', '@', '`']) {
        return None;
    }
    if let Some(quote) = body.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let (name, rest) = body.get(1..)?.split_once(quote)?;
        return rest.trim_start().starts_with(':').then_some(name);
    }
    let end = body.find(": ").or_else(|| body.ends_with(':').then(|| body.len() - 1))?;
    body.get(..end).map(str::trim_end)
}

/// Whether the value of a key starts a block scalar: `|`, `>-`, `|2+`.
fn is_scalar(body: &str) -> bool {
    let value = body.rsplit_once(": ").map(|(_, value)| value.trim()).unwrap_or_default();
    value.starts_with(['|', '>']) && value.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_and_numbers_separate_words() {
        let found: Vec<&str> = words("tide::Table<u8>.high_water(12, 3rd, é_tude, x)").collect();
        assert_eq!(found, ["tide", "Table", "high_water", "é_tude"]);
    }

    #[test]
    fn keys_belong_to_their_section() {
        let source = "top=1\n[tide \"x\"]\n  ; metres\n  height = 1,\\\n  low=2\n\nlist =\n  a\n  b\n";
        let found = ini(source).definitions.into_iter();
        let found: Vec<_> = found.map(|found| (found.name, found.container, found.line, found.end_line)).collect();
        let section = Some("tide \"x\"".to_owned());
        let expected = [
            ("top".to_owned(), None, 1, 1),
            ("tide \"x\"".to_owned(), None, 2, 9),
            ("height".to_owned(), section.clone(), 4, 5),
            ("list".to_owned(), section, 7, 9),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_of_two_levels_are_read() {
        let source = "# What runs\non: push\njobs:\n  test:\n    steps:\n      - run: |\n          a: b\n  'the docs':\n    x: 1\n\nenv:\n  TEXT: |\n    not: a key\n  NEXT: 1\n";
        let found = yaml(source).definitions.into_iter();
        let found: Vec<_> = found.map(|found| (found.name, found.container, found.line, found.end_line)).collect();
        let within = |name: &str| Some(name.to_owned());
        let expected = [
            ("on".to_owned(), None, 2, 2),
            ("jobs".to_owned(), None, 3, 9),
            ("test".to_owned(), within("jobs"), 4, 7),
            ("the docs".to_owned(), within("jobs"), 8, 9),
            ("env".to_owned(), None, 11, 14),
            ("TEXT".to_owned(), within("env"), 12, 13),
            ("NEXT".to_owned(), within("env"), 14, 14),
        ];
        assert_eq!(found, expected);
        assert_eq!(yaml(source).definitions[0].doc, "What runs");
    }
}
