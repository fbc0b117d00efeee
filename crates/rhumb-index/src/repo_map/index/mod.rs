//! The index: the data about every file that the map needs, as flat tables.
//!
//! The record of a file depends only on its content. Segments (`segment`) hold records with a common table of names; a segment
//! consists of a few integer arrays and one text, so it is stored and loaded without conversion. The index lists the paths with their
//! records: a changed file adds a small segment and leaves the large ones unchanged.

mod builder;
mod files;
mod segment;

pub use builder::SegmentBuilder;
pub(crate) use files::FileKind;
pub use segment::{IndexedDefinition, NameReferences, NameTable, Record, SEGMENT_LAYOUT, Segment, SegmentTables};

use self::files::FileTables;
use crate::repo_map::request::MapFile;
use std::collections::HashMap;
use std::sync::Arc;

/// The location of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId {
    /// The number of the segment in the index.
    pub segment: u32,
    /// The number of the record in the segment.
    pub record: u32,
}

/// A file of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFile {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The record of its content; `None` if the file was not read.
    pub record: Option<RecordId>,
}

/// All files of a repository with their records. Files are sorted by path and numbered in this order. Names are numbered across all
/// segments.
#[derive(Debug, Default)]
pub struct MapIndex {
    segments: Vec<Arc<Segment>>,
    files: Vec<IndexFile>,
    /// For each segment after the first: its names as numbers of the index. The names of the first keep their numbers.
    renamed: Vec<Vec<u32>>,
    /// Names that the first segment lacks, as (segment, name).
    further: Vec<(u32, u32)>,
    numbers: HashMap<Box<str>, u32>,
    tables: FileTables,
}

impl MapIndex {
    /// Joins `files` over `segments`. The files may be in any order; of two with the same path the first one counts.
    pub fn new(segments: Vec<Arc<Segment>>, mut files: Vec<IndexFile>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        let mut index = Self { files, ..Self::default() };
        for segment in segments {
            index.add_segment(segment);
        }
        index
    }

    /// The index of files with their tags and digests.
    pub fn of(files: &[MapFile]) -> Self {
        let mut builder = SegmentBuilder::default();
        let file = |file: &MapFile| {
            let record = builder.add(&file.tags, &file.digest, 0);
            IndexFile { path: file.path.as_str().into(), record: Some(RecordId { segment: 0, record }) }
        };
        let files = files.iter().map(file).collect();
        Self::new(vec![Arc::new(builder.finish())], files)
    }

    fn add_segment(&mut self, segment: Arc<Segment>) {
        let at = self.segments.len() as u32;
        if at > 0 {
            let renamed = (0..segment.names() as u32).map(|name| self.number(&segment, at, name)).collect();
            self.renamed.push(renamed);
        }
        self.segments.push(segment);
    }

    fn number(&mut self, segment: &Segment, at: u32, name: u32) -> u32 {
        let text = segment.name(name);
        self.name_number(text).unwrap_or_else(|| {
            let fresh = self.names() as u32;
            self.further.push((at, name));
            self.numbers.insert(text.into(), fresh);
            fresh
        })
    }

    /// The files in path order.
    pub fn files(&self) -> &[IndexFile] {
        &self.files
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The path of a file; empty for an unknown number.
    pub fn path(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", |file| &file.path)
    }

    /// The number of the file at a path.
    pub fn file_at(&self, path: &str) -> Option<u32> {
        self.files.binary_search_by(|file| file.path.as_ref().cmp(path)).ok().map(|at| at as u32)
    }

    /// The record of a file.
    pub fn record(&self, file: u32) -> Option<Record<'_>> {
        let at = self.files.get(file as usize)?.record?;
        self.segments.get(at.segment as usize)?.record(at.record)
    }

    /// The definitions of a file in source order.
    pub fn definitions(&self, file: u32) -> impl Iterator<Item = IndexedDefinition<'_>> + Clone {
        self.record(file).into_iter().flat_map(|record| record.definitions())
    }

    /// A definition of a file.
    pub fn definition(&self, file: u32, index: u32) -> Option<IndexedDefinition<'_>> {
        self.record(file)?.definition(index)
    }

    /// Number of names.
    pub fn names(&self) -> usize {
        self.segments.first().map_or(0, |first| first.names()) + self.further.len()
    }

    /// A name by its number.
    pub fn name(&self, name: u32) -> &str {
        let first = self.segments.first().map_or(0, |first| first.names());
        match (name as usize).checked_sub(first) {
            None => self.segments.first().map_or("", |first| first.name(name)),
            Some(at) => self.further.get(at).map_or("", |&(segment, name)| {
                self.segments.get(segment as usize).map_or("", |segment| segment.name(name))
            }),
        }
    }

    /// The number of a name.
    pub fn name_number(&self, name: &str) -> Option<u32> {
        self.segments.first().and_then(|first| first.find(name)).or_else(|| self.numbers.get(name).copied())
    }

    /// Converts the number of a name from the segment of a file to the index.
    fn renamed(&self, file: u32, name: u32) -> u32 {
        let segment = self.files.get(file as usize).and_then(|file| file.record).map_or(0, |at| at.segment);
        match (segment as usize).checked_sub(1) {
            None => name,
            Some(at) => self.renamed.get(at).and_then(|names| names.get(name as usize)).copied().unwrap_or(u32::MAX),
        }
    }

    /// The names of a file's definitions, in source order.
    pub fn defined(&self, file: u32) -> impl Iterator<Item = u32> + '_ {
        let entries = self.record(file).into_iter().flat_map(|record| record.definitions());
        entries.map(move |entry| self.renamed(file, entry.name_number()))
    }

    /// The names that a file references, without duplicates.
    pub fn references(&self, file: u32) -> impl Iterator<Item = NameReferences> + '_ {
        let uses = self.record(file).into_iter().flat_map(|record| record.references());
        uses.map(move |uses| NameReferences { name: self.renamed(file, uses.name), ..uses })
    }

    /// The modules that a file imports, as written.
    pub fn imports(&self, file: u32) -> impl Iterator<Item = &str> + '_ {
        let record = self.record(file);
        record.into_iter().flat_map(|record| record.imports().iter().map(move |&name| record.segment().name(name)))
    }
}
