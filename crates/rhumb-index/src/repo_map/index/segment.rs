//! Segments: records of files as flat tables that need no decoding.
//!
//! `words` holds, one behind the other: a header of [`HEADER`] words; the end of each name in `text`; a hash table of the
//! names; the records; the definitions; the references; the imports. `text` holds the names, then the lines of the
//! definitions. `terms` holds the packed terms of each record, and is not needed until a request has words.

use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use crate::lexical::PackedTerms;
use rhumb_syntax::tag::SymbolKind;

/// The layout of the tables. A stored segment of another layout is of no use.
pub(super) const LAYOUT: u32 = 1;
/// Words of the header: layout, records, names, definitions, references, imports, slots of the hash table.
pub(super) const HEADER: usize = 7;
/// Words of a record: where its definitions, references, imports and terms begin; bytes of the file.
pub(super) const RECORD: usize = 5;
/// Words of a definition: name, kind, first and last line, container, where its lines begin in the text, the lengths of
/// its header and its signature in halves, and that of its doc line.
pub(super) const DEFINITION: usize = 8;
/// Words of a reference: name, first line, count.
pub(super) const REFERENCE: usize = 3;
/// No name, no slot.
pub(super) const NONE: u32 = u32::MAX;

/// Records of files that share their names.
#[derive(Debug, Default)]
pub struct Segment {
    words: Vec<u32>,
    text: String,
    terms: OnceLock<Vec<u32>>,
    parts: Parts,
}

/// Where the tables begin in the words.
#[derive(Debug, Default, Clone, Copy)]
struct Parts {
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

impl Parts {
    /// Reads the header; `None` when it does not fit the words.
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
    /// A segment from its parts, as [`Segment::words`] and [`Segment::text`] gave them; `None` when they do not belong
    /// together or have another layout.
    pub fn from_parts(words: Vec<u32>, text: String) -> Option<Self> {
        let parts = Parts::of(&words)?;
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

    /// The packed terms of all records; empty until they are given.
    pub fn terms(&self) -> &[u32] {
        self.terms.get().map_or(&[], Vec::as_slice)
    }

    /// Whether the terms are there.
    pub fn has_terms(&self) -> bool {
        self.terms.get().is_some()
    }

    /// Gives the terms, once.
    pub fn set_terms(&self, terms: Vec<u32>) {
        let _ = self.terms.set(terms);
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.parts.records
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of names.
    pub fn names(&self) -> usize {
        self.parts.names
    }

    /// A name; empty for a number that is none.
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

    /// Bytes that the segment takes in memory.
    pub fn bytes(&self) -> usize {
        (self.words.len() + self.terms().len()) * size_of::<u32>() + self.text.len()
    }

    fn record_words(&self, at: usize) -> [u32; RECORD] {
        let start = self.parts.record_table + at * RECORD;
        self.words.get(start..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
    }

    /// The rows of `each` words in a table, from row `start` to row `end`.
    fn rows<const EACH: usize>(&self, table: usize, bounds: (u32, u32), table_end: usize) -> &[[u32; EACH]] {
        let (start, end) = (table + bounds.0 as usize * EACH, (table + bounds.1 as usize * EACH).min(table_end));
        self.words.get(start..end).unwrap_or_default().as_chunks().0
    }
}

/// Looks a name up in a hash table of name numbers (open addressing, linear probing): its number, or the free slot
/// where it belongs.
pub(super) fn probe<'t>(slots: &[u32], name: &str, text: impl Fn(u32) -> &'t str) -> Result<u32, usize> {
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

/// What the index keeps of one file content. Names are numbers of the segment.
#[derive(Debug, Clone, Copy)]
pub struct Record<'s> {
    segment: &'s Segment,
    at: usize,
}

/// The uses of a name in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// The name.
    pub name: u32,
    /// Where it is used first, 1-based.
    pub line: u32,
    /// How often.
    pub count: u32,
}

impl<'s> Record<'s> {
    /// Bounds of a table's rows, by the column of the record that has its start.
    fn bounds(&self, column: usize) -> (u32, u32) {
        (self.segment.record_words(self.at)[column], self.segment.record_words(self.at + 1)[column])
    }

    /// The segment that holds it.
    pub fn segment(&self) -> &'s Segment {
        self.segment
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u32 {
        self.segment.record_words(self.at)[4]
    }

    pub(super) fn definition_rows(&self) -> &'s [[u32; DEFINITION]] {
        let parts = &self.segment.parts;
        self.segment.rows(parts.definitions, self.bounds(0), parts.references)
    }

    /// The definitions in source order.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = Entry<'s>> + Clone + use<'s> {
        let segment = self.segment;
        self.definition_rows().iter().map(move |row| Entry { segment, row })
    }

    /// One of the definitions.
    pub fn definition(&self, index: u32) -> Option<Entry<'s>> {
        self.definition_rows().get(index as usize).map(|row| Entry { segment: self.segment, row })
    }

    pub(super) fn reference_rows(&self) -> &'s [[u32; REFERENCE]] {
        let parts = &self.segment.parts;
        self.segment.rows(parts.references, self.bounds(1), parts.imports)
    }

    /// The names that are used, each once, in the order of their first use.
    pub fn references(&self) -> impl ExactSizeIterator<Item = Uses> + use<'s> {
        self.reference_rows().iter().map(|&[name, line, count]| Uses { name, line, count })
    }

    /// The modules that are imported, as names.
    pub fn imports(&self) -> &'s [u32] {
        let parts = &self.segment.parts;
        self.segment.rows::<1>(parts.imports, self.bounds(2), parts.end).as_flattened()
    }

    pub(super) fn term_words(&self) -> &'s [u32] {
        let (start, end) = self.bounds(3);
        self.segment.terms().get(start as usize..end as usize).unwrap_or_default()
    }

    /// The terms of the text by passage; none until the segment has its terms.
    pub fn terms(&self) -> PackedTerms<'s> {
        PackedTerms::new(self.term_words())
    }
}

/// A definition of a record.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'s> {
    segment: &'s Segment,
    row: &'s [u32; DEFINITION],
}

impl<'s> Entry<'s> {
    /// The number of its name.
    pub fn name_number(&self) -> u32 {
        self.row[0]
    }

    /// Its bare name.
    pub fn name(&self) -> &'s str {
        self.segment.name(self.row[0])
    }

    /// What it is.
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

    /// Name of the definition around it.
    pub fn container(&self) -> Option<&'s str> {
        (self.row[4] != NONE).then(|| self.segment.name(self.row[4]))
    }

    /// The line that shows it: its own line of the source, or its signature, or its name.
    pub fn header(&self) -> &'s str {
        let shown = [self.own_line(), self.signature(), self.name()];
        shown.into_iter().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// Bytes of [`Entry::header`], about.
    pub fn header_bytes(&self) -> usize {
        let [own, signature, _] = self.lengths();
        if own > 0 { own } else { signature }
    }

    /// Its header on one line.
    pub fn signature(&self) -> &'s str {
        let [own, signature, _] = self.lengths();
        self.text_from(own, signature)
    }

    /// The first line of its documentation.
    pub fn doc(&self) -> &'s str {
        let [own, signature, doc] = self.lengths();
        self.text_from(own + signature, doc)
    }

    pub(super) fn own_line(&self) -> &'s str {
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
