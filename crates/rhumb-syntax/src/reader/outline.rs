//! An outline under construction: headings or keys that end where the next of their depth begins.

use super::super::tag::{Definition, SymbolKind};

/// Most entries of one file. What has more is a table of data, not an outline.
const MAX_ENTRIES: usize = 1_000;

/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Longest signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 200;

/// An entry of an outline.
pub(super) struct Entry<'source> {
    /// How deep it stands: 1 for the outermost.
    pub(super) depth: usize,
    /// What it is.
    pub(super) kind: SymbolKind,
    /// Its name.
    pub(super) name: &'source str,
    /// Its line as written.
    pub(super) signature: &'source str,
    /// Its line, 1-based.
    pub(super) line: u32,
    /// What is written about it.
    pub(super) doc: &'source str,
}

/// Entries so far.
#[derive(Default)]
pub(super) struct Outline {
    definitions: Vec<Definition>,
    /// Depth and index of the entries that are still open, outermost first.
    open: Vec<(usize, usize)>,
    /// The last line that is known to hold something, if the reader tells.
    last: Option<u32>,
}

impl Outline {
    /// Adds an entry below the last one that is less deep, and closes the others.
    pub(super) fn push(&mut self, entry: &Entry<'_>) {
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

    /// Tells that `line` holds something of what is open.
    pub(super) fn extend_to(&mut self, line: u32) {
        self.last = Some(line);
    }

    /// Ends every open entry of at least `depth` on `line`.
    pub(super) fn close(&mut self, depth: usize, line: u32) {
        while let Some((_, at)) = self.open.pop_if(|(open, _)| *open >= depth) {
            if let Some(definition) = self.definitions.get_mut(at) {
                definition.end_line = line.max(definition.line);
            }
        }
    }

    /// The finished outline of a source whose last line is `last`.
    pub(super) fn finish(mut self, last: u32) -> Vec<Definition> {
        self.close(0, last);
        self.definitions
    }
}
