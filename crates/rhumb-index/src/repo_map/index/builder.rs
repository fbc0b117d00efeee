//! Builds segments: from tags and digests, from the records of other segments, or from a quick scan of words (sketches).

use rhumb_syntax::{FileTags, SymbolKind};

use super::segment::{DEFINITION, IndexedDefinition, NONE, RECORD, REFERENCE, Record, Segment, SegmentTables};
use crate::repo_map::digest::Digest;

/// Maximum length of a stored header, signature or documentation line, in bytes.
const MAX_STORED_LINE_BYTES: usize = 1_024;

/// A source file needs at most about one byte of each table for this many of its own bytes: measured on Linux, whose headers are rich in
/// definitions.
const TERM_SHARE: usize = 2;
const LINE_SHARE: usize = 3;
const DEFINITION_SHARE: usize = 7;
const REFERENCE_SHARE: usize = 10;

/// Builds a segment. Records are numbered in the order in which they are added.
#[derive(Debug, Default)]
pub struct SegmentBuilder {
    tables: SegmentTables,
    terms: Vec<u32>,
    /// By name: the row of its reference in the current file, so that repeated references are counted.
    counted: Vec<u32>,
    /// The first reference row of the current file.
    first_use: u32,
}

impl SegmentBuilder {
    /// A builder for source files of `bytes` bytes in all. It reserves what most sources need: a large table that grows is in memory
    /// twice while it is copied.
    pub fn for_bytes(bytes: usize) -> Self {
        let mut builder = Self::default();
        builder.terms.reserve(bytes / TERM_SHARE / size_of::<u32>());
        let tables = &mut builder.tables;
        tables.lines.reserve(bytes / LINE_SHARE);
        tables.definitions.reserve(bytes / DEFINITION_SHARE / size_of::<[u32; DEFINITION]>());
        tables.references.reserve(bytes / REFERENCE_SHARE / size_of::<[u32; REFERENCE]>());
        builder
    }

    /// Adds the tags and the digest of a file of `bytes` bytes. Returns the number of the record.
    pub fn add(&mut self, tags: &FileTags, digest: &Digest, bytes: u32) -> u32 {
        self.open_record(bytes);
        for (index, definition) in (0u32..).zip(&tags.definitions) {
            let name = self.tables.names.number(&definition.name);
            let container =
                definition.container.as_deref().map_or(NONE, |container| self.tables.names.number(container));
            let lines = [digest.own_line(index), &definition.signature, &definition.doc];
            self.push_definition(
                [name, definition.kind.number(), definition.line, definition.end_line, container],
                lines,
            );
        }
        self.begin_uses();
        for reference in &tags.references {
            self.use_name(&reference.name, reference.line);
        }
        for module in &tags.imports {
            let name = self.tables.names.number(module);
            self.tables.imports.push(name);
        }
        digest.terms().pack(&mut self.terms);
        number(self.tables.records.len()) - 1
    }

    /// Copies a record of another segment. Returns its new number. `known` maps the names of that segment to names here; it starts
    /// empty and is for one segment only.
    pub fn copy(&mut self, record: Record<'_>, known: &mut Vec<u32>) -> u32 {
        self.open_record(record.bytes());
        let segment = record.segment();
        known.resize(segment.names(), NONE);
        let names = &mut self.tables.names;
        let mut renamed = |name: u32| match known.get_mut(name as usize) {
            Some(known) if *known != NONE => *known,
            Some(known) => {
                *known = names.number(segment.name(name));
                *known
            }
            None => NONE,
        };
        let rows: Vec<(IndexedDefinition<'_>, u32, u32)> = record
            .definitions()
            .zip(record.definition_rows())
            .map(|(entry, row)| (entry, renamed(row[0]), if row[4] == NONE { NONE } else { renamed(row[4]) }))
            .collect();
        self.tables
            .references
            .extend(record.reference_rows().iter().map(|&[name, line, count]| [renamed(name), line, count]));
        self.tables.imports.extend(record.imports().iter().map(|&module| renamed(module)));
        for (entry, name, container) in rows {
            let lines = [entry.own_line(), entry.signature(), entry.doc()];
            self.push_definition([name, entry.kind().number(), entry.line(), entry.end_line(), container], lines);
        }
        self.terms.extend_from_slice(record.term_words());
        number(self.tables.records.len()) - 1
    }

    /// Starts the references of a file.
    pub(crate) fn begin_uses(&mut self) {
        self.first_use = number(self.tables.references.len());
    }

    /// Counts a reference to a name.
    pub(crate) fn use_name(&mut self, name: &str, line: u32) {
        let name = self.tables.names.number(name);
        if self.counted.len() <= name as usize {
            self.counted.resize(name as usize + 1, NONE);
        }
        let slot = &mut self.counted[name as usize];
        // A row of an earlier file is below the first row of this one.
        if *slot == NONE || *slot < self.first_use {
            *slot = number(self.tables.references.len());
            self.tables.references.push([name, line, 0]);
        }
        if let Some(uses) = self.tables.references.get_mut(*slot as usize) {
            uses[2] += 1;
        }
    }

    /// Adds a definition of which only the line is known.
    pub(crate) fn add_sketched(&mut self, name: &str, kind: SymbolKind, line: u32, text: &str) {
        let name = self.tables.names.number(name);
        self.push_definition([name, kind.number(), line, line, NONE], ["", text, ""]);
    }

    /// Ends a record without terms. Returns its number.
    pub(crate) fn close_sketch(&mut self) -> u32 {
        number(self.tables.records.len()) - 1
    }

    pub(crate) fn open_record(&mut self, bytes: u32) {
        self.tables.records.push(self.ends(bytes));
    }

    /// The current end of each table.
    fn ends(&self, bytes: u32) -> [u32; RECORD] {
        let SegmentTables { definitions, references, imports, .. } = &self.tables;
        [number(definitions.len()), number(references.len()), number(imports.len()), number(self.terms.len()), bytes]
    }

    fn push_definition(&mut self, [name, kind, line, end_line, container]: [u32; 5], lines: [&str; 3]) {
        let start = number(self.tables.lines.len());
        let cut = |line: &str| line.floor_char_boundary(MAX_STORED_LINE_BYTES);
        let [own, signature, doc] = lines.map(|line| line.get(..cut(line)).unwrap_or_default());
        for line in [own, signature, doc] {
            self.tables.lines.push_str(line);
        }
        let lengths = number(own.len()) << 16 | number(signature.len());
        self.tables.definitions.push([name, kind, line, end_line, container, start, lengths, number(doc.len())]);
    }

    /// The segment including its terms.
    pub fn finish(self) -> Segment {
        let (segment, terms) = self.finish_apart();
        segment.set_terms(terms);
        segment
    }

    /// The segment without its terms, and the terms.
    pub fn finish_apart(mut self) -> (Segment, Vec<u32>) {
        let end = self.ends(0);
        self.tables.records.push(end);
        (Segment::new(self.tables), self.terms)
    }
}

/// A count as a word. A table beyond the range (about 4 GB) is truncated.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Keywords before the name of a definition, and its kind. Sorted for binary search.
const KEYWORDS: [(&str, SymbolKind); 17] = [
    ("class", SymbolKind::Class),
    ("def", SymbolKind::Function),
    ("defmodule", SymbolKind::Module),
    ("enum", SymbolKind::Enum),
    ("fn", SymbolKind::Function),
    ("fun", SymbolKind::Function),
    ("func", SymbolKind::Function),
    ("function", SymbolKind::Function),
    ("interface", SymbolKind::Interface),
    ("macro_rules", SymbolKind::Macro),
    ("module", SymbolKind::Module),
    ("object", SymbolKind::Class),
    ("protocol", SymbolKind::Interface),
    ("record", SymbolKind::Struct),
    ("struct", SymbolKind::Struct),
    ("trait", SymbolKind::Interface),
    ("type", SymbolKind::Type),
];

/// Minimum and maximum length of a name, in bytes.
const MIN_NAME_BYTES: usize = 3;
const MAX_NAME_BYTES: usize = 64;
/// Maximum length of a line with a definition, in bytes; longer lines are data.
const MAX_LINE_BYTES: usize = 300;

impl SegmentBuilder {
    /// Adds a sketch of a text of `bytes` bytes. Returns its number.
    pub fn add_sketch(&mut self, text: &str, bytes: u32) -> u32 {
        self.open_record(bytes);
        self.begin_uses();
        for (number, line) in (1u32..).zip(text.lines()) {
            let defined = if line.len() <= MAX_LINE_BYTES { definition(line) } else { None };
            if let Some((name, kind)) = defined {
                self.add_sketched(name, kind, number, line.trim());
            }
            for word in words(line).filter(|word| defined.is_none_or(|(name, _)| *word != name)) {
                self.use_name(word, number);
            }
        }
        self.close_sketch()
    }
}

/// The words of a line that may be names.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + bytes.get(at..)?.iter().position(|byte| is_name_byte(*byte))?;
            let length = bytes[start..].iter().position(|byte| !is_name_byte(*byte)).unwrap_or(bytes.len() - start);
            at = start + length;
            if (MIN_NAME_BYTES..=MAX_NAME_BYTES).contains(&length) && !bytes[start].is_ascii_digit() {
                return line.get(start..at);
            }
        }
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// The probable definition on a line: the word after a keyword near its start, or the word before the first parenthesis of an
/// unindented line that does not end like a statement, as in C.
fn definition(line: &str) -> Option<(&str, SymbolKind)> {
    let mut before = "";
    for word in line.split(|c: char| !(c == '_' || c.is_alphanumeric())).filter(|word| !word.is_empty()).take(6) {
        if let Ok(at) = KEYWORDS.binary_search_by_key(&before, |keyword| keyword.0) {
            let is_name = (1..=MAX_NAME_BYTES).contains(&word.len()) && !word.starts_with(|c: char| c.is_ascii_digit());
            return is_name.then_some((word, KEYWORDS[at].1));
        }
        before = word;
    }
    let at_margin = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let ends = line.trim_end().ends_with([')', '{', ',']);
    let (head, _) = line.split_once('(').filter(|_| at_margin && ends)?;
    let name = head.rsplit(|c: char| !(c == '_' || c.is_alphanumeric())).next()?;
    let typed = head.len() > name.len();
    let is_name = (MIN_NAME_BYTES..=MAX_NAME_BYTES).contains(&name.len());
    (typed && is_name && !head.contains('=')).then_some((name, SymbolKind::Function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rhumb_syntax::{Language, tags};

    const SOURCE: &str = "import os\n\n\n# Opens the gate.\nclass Gate(Door):\n    async def open(self,\n                   how: int) -> str:\n        return os.path(how, how)\n";

    fn added(builder: &mut SegmentBuilder, source: &str) -> u32 {
        let tags = tags(Language::by_name("python").unwrap(), source);
        builder.add(&tags, &Digest::new(source, &tags, crate::lexical::Depth::Whole), source.len() as u32)
    }

    fn described(record: Record<'_>) -> Vec<String> {
        let segment = record.segment();
        let definitions = record.definitions().map(|entry| {
            let (kind, name, doc) = (entry.kind().as_str(), entry.name(), entry.doc());
            let lines = format!("{}-{} {:?}", entry.line(), entry.end_line(), entry.container());
            format!("{kind} {name} {lines} | {} | {} | {doc}", entry.header(), entry.signature())
        });
        let uses = record.references().map(|uses| format!("{} {}×{}", segment.name(uses.name), uses.line, uses.count));
        definitions.chain(uses).collect()
    }

    #[test]
    fn a_record_contains_the_tags() {
        let mut builder = SegmentBuilder::default();
        let at = added(&mut builder, SOURCE);
        let segment = builder.finish();
        let record = segment.record(at).unwrap();
        let lines = described(record);
        assert_eq!(lines[0], "class Gate 5-8 None | class Gate(Door): | class Gate(Door) | Opens the gate.");
        assert!(lines[1].starts_with("method open 6-8 Some(\"Gate\") | async def open(self, how: int) -> str"));
        assert!(lines.contains(&"path 8×1".to_owned()), "{lines:?}");
        assert_eq!(record.bytes() as usize, SOURCE.len());
        assert!(segment.record(1).is_none());
    }

    #[test]
    fn a_segment_can_be_restored_from_its_parts() {
        let mut builder = SegmentBuilder::default();
        added(&mut builder, SOURCE);
        added(&mut builder, "def other():\n    Gate()\n");
        let segment = builder.finish();
        let again = Segment::new(segment.tables().clone());
        again.set_terms(segment.terms().unwrap().to_vec());
        for at in 0..2 {
            assert_eq!(described(segment.record(at).unwrap()), described(again.record(at).unwrap()));
            assert_eq!(segment.record(at).unwrap().term_words(), again.record(at).unwrap().term_words());
        }
        assert_eq!(again.find("Gate").map(|name| again.name(name)), Some("Gate"));
        assert_eq!(again.find("gone"), None);
    }

    #[test]
    fn records_can_be_copied_into_another_order() {
        let mut builder = SegmentBuilder::default();
        added(&mut builder, SOURCE);
        added(&mut builder, "def other():\n    Gate()\n");
        let segment = builder.finish();
        let (mut copy, mut known) = (SegmentBuilder::default(), Vec::new());
        for at in [1, 0] {
            copy.copy(segment.record(at).unwrap(), &mut known);
        }
        let copy = copy.finish();
        for (old, new) in [(0, 1), (1, 0)] {
            let (old, new) = (segment.record(old).unwrap(), copy.record(new).unwrap());
            assert_eq!(described(old), described(new));
            assert_eq!(old.term_words(), new.term_words());
        }
    }

    proptest::proptest! {
        #[test]
        fn damaged_tables_never_panic(table in 0usize..6, at in 0usize..200, word in proptest::prelude::any::<u32>()) {
            let mut builder = SegmentBuilder::default();
            added(&mut builder, SOURCE);
            let segment = builder.finish();
            let mut tables = segment.tables().clone();
            let words: &mut [u32] = match table {
                0 => &mut tables.names.ends,
                1 => &mut tables.names.slots,
                2 => tables.records.as_flattened_mut(),
                3 => tables.definitions.as_flattened_mut(),
                4 => tables.references.as_flattened_mut(),
                _ => &mut tables.imports,
            };
            let at = at % words.len();
            words[at] = word;
            let damaged = Segment::new(tables);
            damaged.set_terms(segment.terms().unwrap().to_vec());
            let _ = (damaged.find("Gate"), damaged.record(0).map(described));
        }
    }

    #[test]
    fn a_keyword_introduces_a_definition() {
        let of = |line: &'static str| definition(line).map(|(name, kind)| (name, kind.as_str()));
        assert_eq!(of("pub(crate) async fn open_gate(&self) {"), Some(("open_gate", "function")));
        assert_eq!(of("export default class Gate extends Door {"), Some(("Gate", "class")));
        assert_eq!(of("static int gate_open(int how)"), Some(("gate_open", "function")));
        assert_eq!(of("    gate_open(how);"), None);
        assert_eq!(of("int x = gate_open(how)"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn a_sketch_counts_words_and_stores_the_lines_of_definitions() {
        let mut builder = SegmentBuilder::default();
        builder.add_sketch("def lift():\n    pass\n", 10);
        let at = builder.add_sketch("def open_gate(how):\n    lift(); lift()\n", 40);
        let segment = builder.finish();
        let record = segment.record(at).unwrap();
        let definitions: Vec<(&str, &str, u32)> =
            record.definitions().map(|entry| (entry.name(), entry.header(), entry.line())).collect();
        assert_eq!(definitions, [("open_gate", "def open_gate(how):", 1)]);
        let uses: Vec<(&str, u32)> = record.references().map(|uses| (segment.name(uses.name), uses.count)).collect();
        assert_eq!(uses, [("def", 1), ("how", 1), ("lift", 2)]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_sketched(text in "(\\PC|[a-z_(){};=\n ]|fn |class ){0,60}") {
            let mut builder = SegmentBuilder::default();
            let at = builder.add_sketch(&text, 1);
            let segment = builder.finish();
            let lines = text.lines().count() as u32;
            prop_assert!(segment.record(at).unwrap().definitions().all(|entry| (1..=lines).contains(&entry.line())));
        }
    }
}
