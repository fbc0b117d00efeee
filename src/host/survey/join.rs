//! Joining what was known with what was read: one index, and what is known_files for the next survey.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::extract::{ChunkRecords, FileRecord};
use super::sketch::Sketch;
use super::stored::{KnownFiles, UNREAD};
use crate::store::{ContentKey, KnownFile, StoredSegment};
use rhumb_index::repo_map::{IndexFile, MapIndex, RecordId, Segment, SegmentBuilder};
use rhumb_workspace::FileEntry;

/// Records that no file has are thrown away when there are as many of them as of the others, and more than this. Below it
/// they are what makes a switch of branches free.
const SPARE: usize = 512;
/// Changes below this number of files are not worth writing the list of files again: the next process reads them anew.
const WORTH_SAVING: usize = 16;

/// A list of files with their records, as far as they are looked at.
#[derive(Debug, Default)]
pub(super) struct IndexBuilder {
    pub(super) segments: Vec<StoredSegment>,
    /// In the order of the files.
    pub(super) records: Vec<Option<RecordId>>,
    /// How many files were read.
    pub(super) read: usize,
    /// Those that were left out, by their place among the files.
    pub(super) unread: BTreeSet<usize>,
    /// Whether anything is new.
    fresh: bool,
}

impl IndexBuilder {
    /// Starts from what was known.
    pub(super) fn new(known: &KnownFiles) -> Self {
        Self { segments: known.segments.clone(), ..Self::default() }
    }

    /// Begins a segment for new records.
    pub(super) fn begin(&self) -> NewSegment {
        NewSegment { at: self.segments.len() as u32, ..NewSegment::default() }
    }

    /// Adds the parts of the files that come next.
    pub(super) fn add(&mut self, parts: Vec<ChunkRecords>, fresh: &mut NewSegment) {
        for part in parts {
            self.read += part.read;
            let (segment, mut names) = (part.builder.finish(), Vec::new());
            let places = self.records.len()..;
            let left_out = places.zip(&part.files).filter(|(_, found)| matches!(found, FileRecord::Unread));
            self.unread.extend(left_out.map(|(at, _)| at));
            self.records.extend(part.files.into_iter().map(|found| {
                match found {
                    FileRecord::Nothing | FileRecord::Unread => None,
                    FileRecord::Known(at) => Some(at),
                    FileRecord::New(record) => segment
                        .record(record)
                        .map(|record| RecordId { segment: fresh.at, record: fresh.builder.copy(record, &mut names) }),
                }
            }));
            fresh.keys.extend(part.keys);
        }
    }

    /// Ends the segment.
    /// Its terms are only known_files for the store where nobody needs them now.
    pub(super) fn end(&mut self, fresh: NewSegment, with_terms: bool) {
        if fresh.keys.is_empty() {
            return;
        }
        self.fresh = true;
        let (segment, terms) = fresh.builder.finish_apart();
        let mut stored = StoredSegment::new(segment, fresh.keys);
        if with_terms {
            stored.segment.set_terms(terms);
        } else {
            stored.spare_terms = Some(Arc::new(terms));
        }
        self.segments.push(stored);
    }

    /// Makes one segment of many, where that is worth it.
    pub(super) fn settle(&mut self, most_segments: usize) {
        if should_compact(&self.segments, &self.records, most_segments) {
            (self.segments, self.records) = compact(&self.segments, &self.records);
        }
    }

    /// The index of `files`. Those that come later than the records, or were left out, have those of the sketch, if there is one.
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

    /// What the next survey can rely on, and whether that is worth writing down.
    pub(super) fn known_files(&self, files: &[FileEntry], known: &KnownFiles) -> (Vec<KnownFile>, bool) {
        let known_files = |(at, (entry, record)): (usize, (&FileEntry, &Option<RecordId>))| KnownFile {
            path: entry.path.clone(),
            stamp: if self.unread.contains(&at) { UNREAD } else { known.stamp(entry) },
            record: *record,
        };
        let list: Vec<KnownFile> = files.iter().zip(&self.records).enumerate().map(known_files).collect();
        let many = self.read > WORTH_SAVING || known.differs_by(&list) > WORTH_SAVING;
        (list, self.fresh || !known.stored || many)
    }
}

/// New records in the making.
#[derive(Debug, Default)]
pub(super) struct NewSegment {
    /// Where their segment will be.
    at: u32,
    builder: SegmentBuilder,
    keys: Vec<ContentKey>,
}

fn should_compact(segments: &[StoredSegment], records: &[Option<RecordId>], most_segments: usize) -> bool {
    let all: usize = segments.iter().map(|stored| stored.keys.len()).sum();
    let live = records.iter().flatten().count();
    // Terms that were left out could not be copied.
    let whole = segments.iter().all(|stored| stored.segment.has_terms());
    whole && (segments.len() > most_segments || all > 2 * live + SPARE)
}

/// One segment of the records that files have.
fn compact(segments: &[StoredSegment], records: &[Option<RecordId>]) -> (Vec<StoredSegment>, Vec<Option<RecordId>>) {
    let mut builder = SegmentBuilder::default();
    let mut keys = Vec::new();
    let mut names: Vec<Vec<u32>> = vec![Vec::new(); segments.len()];
    let mut moved: BTreeMap<RecordId, u32> = BTreeMap::new();
    let mut place = |at: RecordId| {
        if let Some(&record) = moved.get(&at) {
            return Some(RecordId { segment: 0, record });
        }
        let stored = segments.get(at.segment as usize)?;
        let record = builder.copy(stored.segment.record(at.record)?, names.get_mut(at.segment as usize)?);
        keys.push(*stored.keys.get(at.record as usize)?);
        moved.insert(at, record);
        Some(RecordId { segment: 0, record })
    };
    let records = records.iter().map(|at| at.and_then(&mut place)).collect();
    let segment: Segment = builder.finish();
    (vec![StoredSegment::new(segment, keys)], records)
}
