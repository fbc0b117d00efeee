//! Segments: records of files as flat tables that need no decoding.
//!
//! `words` contains, one after the other: a header of [`HEADER`] words; the end of each name in `text`; a hash table of the names; the
//! records; the definitions; the references; the imports. `text` contains the names and then the lines of the definitions. `terms`
//! contains the packed terms of each record, which are only needed once a request has words.

use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use crate::lexical::PackedTerms;
use rhumb_syntax::SymbolKind;

/// The version of the layout. Stored segments of another version are discarded.
pub(crate) const LAYOUT: u32 = 2;
/// Words of the header: layout, records, names, definitions, references, imports, slots of the hash table.
pub(crate) const HEADER: usize = 7;
/// Words of a record: the start of its definitions, references, imports and terms; bytes of the file.
pub(crate) const RECORD: usize = 5;
/// Words of a definition: name, kind, first and last line, container, start of its lines in the text, the lengths of its header and
/// its signature as two halves, and the length of its documentation line.
pub(crate) const DEFINITION: usize = 8;
/// Words of a reference: name, first line, count.
pub(crate) const REFERENCE: usize = 3;
/// No name, no slot.
pub(crate) const NONE: u32 = u32::MAX;

/// Records of files with a common table of names.
#[derive(Debug, Default)]
pub struct Segment {
    words: Vec<u32>,
    text: String,
    terms: OnceLock<Vec<u32>>,
    parts: TableOffsets,
}

/// The start of each table in the words.
#[derive(Debug, Default, Clone, Copy)]
struct TableOffsets {
    records: usize,
    names: usize,
    name_ends: usize,
    slots: usize,
    record_table: usize,
    definitions: usize,
    references: usize,
    imports: usize,
    end: usize,
}

impl TableOffsets {
    /// Reads the header; `None` if it is inconsistent with the words.
    fn of(words: &[u32]) -> Option<Self> {
        let [layout, records, names, definitions, references, imports, slots] = *words.first_chunk::<HEADER>()?;
        if layout != LAYOUT {
            return None;
        }
        let size = |count: u32, each: usize| (count as usize).checked_mul(each);
        let name_ends = HEADER;
        let slots_at = name_ends.checked_add(names as usize)?;
        let record_table = slots_at.checked_add(slots as usize)?;
        let definitions_at = record_table.checked_add(size(records.checked_add(1)?, RECORD)?)?;
        let references_at = definitions_at.checked_add(size(definitions, DEFINITION)?)?;
        let imports_at = references_at.checked_add(size(references, REFERENCE)?)?;
        let end = imports_at.checked_add(imports as usize)?;
        (end == words.len()).then_some(Self {
            records: records as usize,
            names: names as usize,
            name_ends,
            slots: slots_at,
            record_table,
            definitions: definitions_at,
            references: references_at,
            imports: imports_at,
            end,
        })
    }
}

impl Segment {
    /// Restores a segment from the results of [`Segment::words`] and [`Segment::text`]; `None` if they are inconsistent or have another
    /// layout.
    pub fn from_parts(words: Vec<u32>, text: String) -> Option<Self> {
        let parts = TableOffsets::of(&words)?;
        let names_end = words.get(parts.name_ends..parts.slots)?.last().copied().unwrap_or(0) as usize;
        (names_end <= text.len()).then_some(Self { words, text, terms: OnceLock::new(), parts })
    }

    /// The integer tables.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The names and lines.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The packed terms of all records; empty until they are set.
    pub fn terms(&self) -> &[u32] {
        self.terms.get().map_or(&[], Vec::as_slice)
    }

    /// Whether the terms are set.
    pub fn has_terms(&self) -> bool {
        self.terms.get().is_some()
    }

    /// Sets the terms. Only the first call has an effect.
    pub fn set_terms(&self, terms: Vec<u32>) {
        let _ = self.terms.set(terms);
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.parts.records
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of names.
    pub fn names(&self) -> usize {
        self.parts.names
    }

    /// A name; empty for an unknown number.
    pub fn name(&self, name: u32) -> &str {
        let ends = self.words.get(self.parts.name_ends..self.parts.slots).unwrap_or_default();
        let end = ends.get(name as usize).map_or(0, |end| *end as usize);
        let start = (name as usize).checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The number of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        let slots = self.words.get(self.parts.slots..self.parts.record_table).unwrap_or_default();
        probe(slots, name, |number| self.name(number)).ok()
    }

    /// A record.
    pub fn record(&self, at: u32) -> Option<Record<'_>> {
        ((at as usize) < self.len()).then_some(Record { segment: self, at: at as usize })
    }

    fn record_words(&self, at: usize) -> [u32; RECORD] {
        let start = self.parts.record_table + at * RECORD;
        self.words.get(start..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
    }

    /// The rows of a table with `EACH` words each, within `bounds`.
    fn rows<const EACH: usize>(&self, table: usize, bounds: (u32, u32), table_end: usize) -> &[[u32; EACH]] {
        let (start, end) = (table + bounds.0 as usize * EACH, (table + bounds.1 as usize * EACH).min(table_end));
        self.words.get(start..end).unwrap_or_default().as_chunks().0
    }
}

/// Looks up a name in a hash table of name numbers (open addressing, linear probing). Returns its number, or the free slot for it.
pub(crate) fn probe<'t>(slots: &[u32], name: &str, text: impl Fn(u32) -> &'t str) -> Result<u32, usize> {
    if slots.is_empty() {
        return Err(0);
    }
    // The number of slots is a power of two.
    let mut at = xxh3_64(name.as_bytes()) as usize & (slots.len() - 1);
    for _ in 0..slots.len() {
        match slots[at] {
            NONE => return Err(at),
            number if text(number) == name => return Ok(number),
            _ => at = (at + 1) & (slots.len() - 1),
        }
    }
    Err(0)
}

/// The record of a file content in the index. Names are numbers of the segment.
#[derive(Debug, Clone, Copy)]
pub struct Record<'s> {
    segment: &'s Segment,
    at: usize,
}

/// The references to a name in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameReferences {
    /// The name.
    pub name: u32,
    /// The line of the first one, 1-based.
    pub line: u32,
    /// The number of references.
    pub count: u32,
}

impl<'s> Record<'s> {
    /// The bounds of the rows in a table, by the column of the record that holds their start.
    fn bounds(&self, column: usize) -> (u32, u32) {
        (self.segment.record_words(self.at)[column], self.segment.record_words(self.at + 1)[column])
    }

    /// The segment of the record.
    pub fn segment(&self) -> &'s Segment {
        self.segment
    }

    /// Size of the file in bytes.
    pub fn bytes(&self) -> u32 {
        self.segment.record_words(self.at)[4]
    }

    pub(crate) fn definition_rows(&self) -> &'s [[u32; DEFINITION]] {
        let parts = &self.segment.parts;
        self.segment.rows(parts.definitions, self.bounds(0), parts.references)
    }

    /// The definitions in source order.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = IndexedDefinition<'s>> + Clone + use<'s> {
        let segment = self.segment;
        self.definition_rows().iter().map(move |row| IndexedDefinition { segment, row })
    }

    /// A definition by its index.
    pub fn definition(&self, index: u32) -> Option<IndexedDefinition<'s>> {
        self.definition_rows().get(index as usize).map(|row| IndexedDefinition { segment: self.segment, row })
    }

    pub(crate) fn reference_rows(&self) -> &'s [[u32; REFERENCE]] {
        let parts = &self.segment.parts;
        self.segment.rows(parts.references, self.bounds(1), parts.imports)
    }

    /// The referenced names, without duplicates, in the order of their first occurrence.
    pub fn references(&self) -> impl ExactSizeIterator<Item = NameReferences> + use<'s> {
        self.reference_rows().iter().map(|&[name, line, count]| NameReferences { name, line, count })
    }

    /// The imported modules, as names.
    pub fn imports(&self) -> &'s [u32] {
        let parts = &self.segment.parts;
        self.segment.rows::<1>(parts.imports, self.bounds(2), parts.end).as_flattened()
    }

    pub(crate) fn term_words(&self) -> &'s [u32] {
        let (start, end) = self.bounds(3);
        self.segment.terms().get(start as usize..end as usize).unwrap_or_default()
    }

    /// The terms of the text by passage; empty until the segment has its terms.
    pub fn terms(&self) -> PackedTerms<'s> {
        PackedTerms::new(self.term_words())
    }
}

/// A definition of a record.
#[derive(Debug, Clone, Copy)]
pub struct IndexedDefinition<'s> {
    segment: &'s Segment,
    row: &'s [u32; DEFINITION],
}

impl<'s> IndexedDefinition<'s> {
    /// The number of the name.
    pub fn name_number(&self) -> u32 {
        self.row[0]
    }

    /// The bare name.
    pub fn name(&self) -> &'s str {
        self.segment.name(self.row[0])
    }

    /// The kind.
    pub fn kind(&self) -> SymbolKind {
        SymbolKind::from_number(self.row[1])
    }

    /// First line, 1-based.
    pub fn line(&self) -> u32 {
        self.row[2]
    }

    /// Last line, 1-based and inclusive.
    pub fn end_line(&self) -> u32 {
        self.row[3]
    }

    /// Name of the innermost enclosing definition.
    pub fn container(&self) -> Option<&'s str> {
        (self.row[4] != NONE).then(|| self.segment.name(self.row[4]))
    }

    /// The line that shows the definition: its source line, else its signature, else its name.
    pub fn header(&self) -> &'s str {
        let shown = [self.own_line(), self.signature(), self.name()];
        shown.into_iter().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// The header on one line.
    pub fn signature(&self) -> &'s str {
        let [own, signature, _] = self.lengths();
        self.text_from(own, signature)
    }

    /// The first line of the documentation.
    pub fn doc(&self) -> &'s str {
        let [own, signature, doc] = self.lengths();
        self.text_from(own + signature, doc)
    }

    pub(crate) fn own_line(&self) -> &'s str {
        self.text_from(0, self.lengths()[0])
    }

    fn lengths(&self) -> [usize; 3] {
        [(self.row[6] >> 16) as usize, (self.row[6] & 0xffff) as usize, self.row[7] as usize]
    }

    fn text_from(&self, skipped: usize, length: usize) -> &'s str {
        let start = self.row[5] as usize + skipped;
        self.segment.text.get(start..start + length).unwrap_or_default()
    }
}
