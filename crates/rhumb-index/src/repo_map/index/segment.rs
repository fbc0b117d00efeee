//! Segments: records of files as flat tables that need no decoding.

use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use crate::lexical::PackedTerms;
use rhumb_syntax::SymbolKind;

/// The version of the tables and of what they contain. Stored segments of another version are of no use.
pub const SEGMENT_LAYOUT: u32 = 4;
/// Words of a record: the start of its definitions, references, imports and terms; bytes of the file.
pub(crate) const RECORD: usize = 5;
/// Words of a definition: name, kind, first and last line, container, start of its lines in the text, the lengths of its header and
/// its signature as two halves, and the length of its documentation line.
pub(crate) const DEFINITION: usize = 8;
/// Words of a reference: name, first line, count.
pub(crate) const REFERENCE: usize = 3;
/// The initial number of slots of a table of names.
const MIN_SLOTS: usize = 64;
/// No name, no slot.
pub(crate) const NONE: u32 = u32::MAX;

/// Names and their numbers: an open-addressing hash table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameTable {
    /// The names, one after the other.
    pub text: String,
    /// The end of each name in the text, by number.
    pub ends: Vec<u32>,
    /// The numbers of the names, by hash. Their count is a power of two.
    pub slots: Vec<u32>,
}

impl NameTable {
    /// A name; empty for an unknown number.
    fn name(&self, name: u32) -> &str {
        let end = self.ends.get(name as usize).map_or(0, |end| *end as usize);
        let before = (name as usize).checked_sub(1).and_then(|before| self.ends.get(before));
        self.text.get(before.map_or(0, |end| *end as usize)..end).unwrap_or_default()
    }

    /// The number of a name. Adds the name if it is new.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        self.find(name).unwrap_or_else(|slot| {
            let fresh = self.ends.len() as u32;
            self.slots[slot] = fresh;
            self.text.push_str(name);
            self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
            fresh
        })
    }

    fn grow(&mut self) {
        self.slots = vec![NONE; (self.slots.len() * 2).max(MIN_SLOTS)];
        for name in 0..self.ends.len() as u32 {
            if let Err(slot) = self.find(self.name(name)) {
                self.slots[slot] = name;
            }
        }
    }

    /// Looks up a name by linear probing. Returns its number, or the free slot for it.
    fn find(&self, name: &str) -> Result<u32, usize> {
        let Some(last) = self.slots.len().checked_sub(1) else { return Err(0) };
        let mut at = xxh3_64(name.as_bytes()) as usize & last;
        for _ in 0..=last {
            match self.slots.get(at) {
                None | Some(&NONE) => return Err(at),
                Some(&number) if self.name(number) == name => return Ok(number),
                Some(_) => at = (at + 1) & last,
            }
        }
        Err(0)
    }
}

/// The tables of a segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentTables {
    /// The names.
    pub names: NameTable,
    /// The records, and a last one with the ends of the other tables.
    pub records: Vec<[u32; RECORD]>,
    /// The definitions, by record.
    pub definitions: Vec<[u32; DEFINITION]>,
    /// The references, by record.
    pub references: Vec<[u32; REFERENCE]>,
    /// The imported modules as names, by record.
    pub imports: Vec<u32>,
    /// The lines of the definitions.
    pub lines: String,
}

/// Records of files with a common table of names.
#[derive(Debug, Default)]
pub struct Segment {
    tables: SegmentTables,
    /// The packed terms of each record, which are only needed once a request has words.
    terms: OnceLock<Vec<u32>>,
}

impl Segment {
    /// The segment with these tables. What refers to a place beyond the end of a table reads as empty.
    pub fn new(tables: SegmentTables) -> Self {
        Self { tables, terms: OnceLock::new() }
    }

    /// The tables.
    pub fn tables(&self) -> &SegmentTables {
        &self.tables
    }

    /// The packed terms of all records; `None` until they are set.
    pub fn terms(&self) -> Option<&[u32]> {
        self.terms.get().map(Vec::as_slice)
    }

    /// Sets the terms. Only the first call has an effect.
    pub fn set_terms(&self, terms: Vec<u32>) {
        let _ = self.terms.set(terms);
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.tables.records.len().saturating_sub(1)
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of names.
    pub fn names(&self) -> usize {
        self.tables.names.ends.len()
    }

    /// A name; empty for an unknown number.
    pub fn name(&self, name: u32) -> &str {
        self.tables.names.name(name)
    }

    /// The number of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.tables.names.find(name).ok()
    }

    /// A record.
    pub fn record(&self, at: u32) -> Option<Record<'_>> {
        ((at as usize) < self.len()).then_some(Record { segment: self, at: at as usize })
    }
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
    fn row(&self, at: usize) -> [u32; RECORD] {
        self.segment.tables.records.get(at).copied().unwrap_or_default()
    }

    /// The rows of the record in a table, by the column of the record that holds their start.
    fn rows<T>(&self, table: &'s [T], column: usize) -> &'s [T] {
        let (start, end) = (self.row(self.at)[column] as usize, self.row(self.at + 1)[column] as usize);
        table.get(start..end).unwrap_or_default()
    }

    /// The segment of the record.
    pub fn segment(&self) -> &'s Segment {
        self.segment
    }

    /// Size of the file in bytes.
    pub fn bytes(&self) -> u32 {
        self.row(self.at)[4]
    }

    pub(crate) fn definition_rows(&self) -> &'s [[u32; DEFINITION]] {
        self.rows(&self.segment.tables.definitions, 0)
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
        self.rows(&self.segment.tables.references, 1)
    }

    /// The referenced names, without duplicates, in the order of their first occurrence.
    pub fn references(&self) -> impl ExactSizeIterator<Item = NameReferences> + use<'s> {
        self.reference_rows().iter().map(|&[name, line, count]| NameReferences { name, line, count })
    }

    /// The imported modules, as names.
    pub fn imports(&self) -> &'s [u32] {
        self.rows(&self.segment.tables.imports, 2)
    }

    pub(crate) fn term_words(&self) -> &'s [u32] {
        self.rows(self.segment.terms().unwrap_or_default(), 3)
    }

    /// The terms of the text by chunk; empty until the segment has its terms.
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
        self.segment.tables.lines.get(start..start + length).unwrap_or_default()
    }
}
