//! The records of files: those known from earlier surveys, and the index that joins them with new ones.

use super::SurveyStart;
use super::extract::{ChunkRecords, EXTRACTOR, FileRecord, is_worth_reading};
use super::sketch::Sketch;
use crate::store::{ContentKey, KnownFile, StoredSegment};
use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::{IndexFile, MapIndex, RecordId, Segment, SegmentBuilder};
use rhumb_workspace::{FileEntry, find_sorted};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

/// The stamp of a file that was never read. No known file has it.
pub(super) const UNREAD: u64 = 0;

#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    pub(super) segments: Vec<StoredSegment>,
    /// How much of each file is indexed.
    pub(super) depth: Depth,
    /// In path order.
    files: Vec<KnownFile>,
    /// Computed at the first use: without changes it is not needed.
    contents: OnceLock<HashMap<ContentKey, RecordId>>,
    pub(super) stored: bool,
    /// Whether stored data was unusable.
    pub(super) rebuilt: bool,
}

impl KnownFiles {
    /// Reads the last survey, or else the store.
    pub(super) fn new(start: SurveyStart<'_>, depth: Depth) -> Self {
        let mut known = match (start.before, start.store) {
            (Some(before), _) => Self {
                segments: before.segments.clone(),
                files: before.known.clone(),
                stored: !before.unsaved,
                ..Self::default()
            },
            (None, Some(store)) => {
                let loaded = store.load(start.with_terms);
                let (segments, files) = (loaded.segments, loaded.files);
                Self { segments, files, stored: !loaded.rebuilt, rebuilt: loaded.rebuilt, ..Self::default() }
            }
            (None, None) => Self::default(),
        };
        known.depth = depth;
        known
    }

    /// The record of an unchanged file; `Some(None)` if it has none. `next` is that of [`find_sorted`].
    pub(super) fn unchanged(&self, entry: &FileEntry, next: &mut usize) -> Option<Option<RecordId>> {
        let file = &self.files[find_sorted(&self.files, next, |file| file.path.as_str().cmp(&entry.path))?];
        (entry.stamp != 0 && file.stamp == self.stamp(entry)).then_some(file.record)
    }

    pub(super) fn was_never_read(&self, entry: &FileEntry) -> bool {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(&entry.path)).ok();
        at.and_then(|at| self.files.get(at)).is_none_or(|file| file.stamp == UNREAD)
    }

    /// The stamp of a file's content, of the depth and of the extractor, because a file is read again for another depth or by another
    /// version of the program.
    pub(super) fn stamp(&self, entry: &FileEntry) -> u64 {
        entry.stamp ^ u64::from(self.depth == Depth::Headers) ^ *EXTRACTOR
    }

    pub(super) fn content(&self, key: ContentKey) -> Option<RecordId> {
        let contents = || {
            // Records of the same content in several segments are equal.
            let segments = (0u32..).zip(&self.segments);
            let records = |(segment, stored): (u32, &StoredSegment)| {
                let keys = Arc::clone(&stored.keys);
                (0..keys.len()).map(move |at| (keys[at], RecordId { segment, record: at as u32 }))
            };
            segments.flat_map(records).collect()
        };
        self.contents.get_or_init(contents).get(&key).copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Number of changed, new and removed files.
    pub(super) fn differences(&self, files: &[KnownFile]) -> usize {
        let (mut old, mut differing) = (self.files.iter().peekable(), 0);
        for file in files {
            while old.next_if(|old| old.path < file.path).is_some() {
                differing += 1;
            }
            let same = old.next_if(|old| old.path == file.path).is_some_and(|old| old.stamp == file.stamp);
            differing += usize::from(!same);
        }
        differing + old.count()
    }
}

/// Unused records are removed when they outnumber the used ones by this number. Fewer are kept, so that a switch of branches
/// needs no parsing.
const MAX_UNUSED_RECORDS: usize = 512;
/// Minimum number of changed files for storing the list of files. Fewer are read again by the next process.
const MIN_SAVED_CHANGES: usize = 16;

/// A larger file is most likely data, of which little is indexed.
const MAX_RESERVED_FILE_BYTES: u64 = 256 << 10;
/// Maximum size in bytes of the files for which memory is reserved. The index of more grows as it is filled.
const MAX_RESERVED_BYTES: u64 = 2 << 30;

/// Joins known and new records into an index.
#[derive(Debug, Default)]
pub(super) struct IndexBuilder {
    pub(super) segments: Vec<StoredSegment>,
    /// In the order of the files.
    pub(super) records: Vec<Option<RecordId>>,
    pub(super) read: usize,
    /// The indices of files that were skipped.
    pub(super) unread: BTreeSet<usize>,
    /// The terms of the new segment, which is the last one, if they are only needed until they are stored.
    pub(super) spare_terms: Option<Vec<u32>>,
    has_new: bool,
}

impl IndexBuilder {
    pub(super) fn new(known: &KnownFiles) -> Self {
        Self { segments: known.segments.clone(), ..Self::default() }
    }

    /// Begins a segment for the records of files. If no file is known, it reserves the memory for all that are read.
    pub(super) fn begin_segment(&self, files: &[FileEntry], known: &KnownFiles) -> NewSegment {
        let read = files.iter().filter(|file| known.is_empty() && is_worth_reading(file));
        let bytes = read.map(|file| file.bytes.min(MAX_RESERVED_FILE_BYTES)).sum::<u64>().min(MAX_RESERVED_BYTES);
        let builder = SegmentBuilder::for_bytes(usize::try_from(bytes).unwrap_or(0));
        NewSegment { at: self.segments.len() as u32, builder, keys: Vec::new() }
    }

    /// Adds the records of the next files.
    pub(super) fn add(&mut self, chunk: ChunkRecords, new: &mut NewSegment) {
        self.read += chunk.read;
        let (segment, mut names) = (chunk.builder.finish(), Vec::new());
        for found in chunk.files {
            let record = match found {
                FileRecord::Nothing => None,
                FileRecord::Unread => {
                    self.unread.insert(self.records.len());
                    None
                }
                FileRecord::Known(at) => Some(at),
                FileRecord::New(record) => segment
                    .record(record)
                    .map(|record| RecordId { segment: new.at, record: new.builder.copy(record, &mut names) }),
            };
            self.records.push(record);
        }
        new.keys.extend(chunk.keys);
    }

    /// Ends the segment. Without `with_terms`, its terms are only kept until they are stored.
    pub(super) fn end_segment(&mut self, new: NewSegment, with_terms: bool) {
        if new.keys.is_empty() {
            return;
        }
        self.has_new = true;
        let (segment, terms) = new.builder.finish_apart();
        if with_terms {
            segment.set_terms(terms);
        } else {
            self.spare_terms = Some(terms);
        }
        self.segments.push(StoredSegment::new(segment, new.keys));
    }

    /// Merges segments if there are too many, or too many unused records.
    pub(super) fn merge_segments(&mut self, max_segments: usize) {
        if should_compact(&self.segments, &self.records, max_segments) {
            (self.segments, self.records) = compact(&self.segments, &self.records);
        }
    }

    /// The index of `files`. Files without records have those of the sketch, if there is one.
    pub(super) fn index(&self, files: &[FileEntry], sketch: Option<&Sketch>) -> MapIndex {
        let mut segments: Vec<Arc<Segment>> = self.segments.iter().map(|stored| Arc::clone(&stored.segment)).collect();
        let sketched = segments.len() as u32;
        segments.extend(sketch.map(|sketch| Arc::clone(&sketch.segment)));
        let sketched = |at: usize| {
            let record = (*sketch?.records.get(at)?)?;
            Some(RecordId { segment: sketched, record })
        };
        let index_file = |(at, entry): (usize, &FileEntry)| IndexFile {
            path: entry.path.as_str().into(),
            record: match self.records.get(at) {
                Some(record) if !self.unread.contains(&at) => *record,
                _ => sketched(at),
            },
        };
        MapIndex::new(segments, files.iter().enumerate().map(index_file).collect())
    }

    /// The files for the next survey, and whether they should be stored.
    pub(super) fn known_files(&self, files: &[FileEntry], known: &KnownFiles) -> (Vec<KnownFile>, bool) {
        let known_file = |(at, (entry, record)): (usize, (&FileEntry, &Option<RecordId>))| KnownFile {
            path: entry.path.clone(),
            stamp: if self.unread.contains(&at) { UNREAD } else { known.stamp(entry) },
            record: *record,
        };
        let list: Vec<KnownFile> = files.iter().zip(&self.records).enumerate().map(known_file).collect();
        let many = self.read > MIN_SAVED_CHANGES || known.differences(&list) > MIN_SAVED_CHANGES;
        (list, self.has_new || !known.stored || many)
    }
}

#[derive(Debug, Default)]
pub(super) struct NewSegment {
    /// Its future index among the segments.
    at: u32,
    builder: SegmentBuilder,
    keys: Vec<ContentKey>,
}

fn should_compact(segments: &[StoredSegment], records: &[Option<RecordId>], max_segments: usize) -> bool {
    let all: usize = segments.iter().map(|stored| stored.keys.len()).sum();
    let live = records.iter().flatten().count();
    // Segments without loaded terms cannot be copied.
    let whole = segments.iter().all(|stored| stored.segment.terms().is_some());
    whole && (segments.len() > max_segments || all > 2 * live + MAX_UNUSED_RECORDS)
}

/// Merges the used records into one segment.
fn compact(segments: &[StoredSegment], records: &[Option<RecordId>]) -> (Vec<StoredSegment>, Vec<Option<RecordId>>) {
    let mut builder = SegmentBuilder::default();
    let mut keys = Vec::new();
    let mut names: Vec<Vec<u32>> = vec![Vec::new(); segments.len()];
    let mut moved: BTreeMap<RecordId, u32> = BTreeMap::new();
    let mut copy = |at: RecordId| {
        if let Some(&record) = moved.get(&at) {
            return Some(RecordId { segment: 0, record });
        }
        let stored = segments.get(at.segment as usize)?;
        let record = builder.copy(stored.segment.record(at.record)?, names.get_mut(at.segment as usize)?);
        keys.push(*stored.keys.get(at.record as usize)?);
        moved.insert(at, record);
        Some(RecordId { segment: 0, record })
    };
    let records = records.iter().map(|at| at.and_then(&mut copy)).collect();
    let segment: Segment = builder.finish();
    (vec![StoredSegment::new(segment, keys)], records)
}
