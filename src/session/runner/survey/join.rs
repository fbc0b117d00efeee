//! Joining what was known with what was read: one index, and what is kept for the next survey.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::extract::{Found, Part};
use super::known::Known;
use crate::repo_map::{IndexFile, MapIndex, RecordAt, Segment, SegmentBuilder};
use crate::store::{ContentKey, KnownFile, StoredSegment};
use crate::workspace::FileEntry;

/// Most segments that an index is spread over; then they are made one.
const MOST_SEGMENTS: usize = 8;
/// Records that no file has are thrown away when there are as many of them as of the others, and more than this. Below it
/// they are what makes a switch of branches free.
const SPARE: usize = 512;
/// Changes below this number of files are not worth writing the list of files again: the next process reads them anew.
const WORTH_SAVING: usize = 16;

/// The index of a survey, and what is kept.
pub(super) struct Joined {
    pub(super) index: MapIndex,
    pub(super) segments: Vec<StoredSegment>,
    pub(super) known: Vec<KnownFile>,
    pub(super) bytes: u64,
    pub(super) read: usize,
    pub(super) rebuilt: bool,
    pub(super) unsaved: bool,
}

/// Joins the parts of a survey over `files`.
pub(super) fn join(files: &[FileEntry], parts: Vec<Part>, known: Known) -> Joined {
    let read = parts.iter().map(|part| part.read).sum();
    let mut segments = known.segments.clone();
    let fresh_segment = segments.len() as u32;
    let (records, fresh) = records(parts, fresh_segment);
    let fresh_records = fresh.as_ref().map_or(0, |fresh| fresh.keys.len());
    segments.extend(fresh);
    let mut records = records;
    if should_compact(&segments, &records) {
        (segments, records) = compact(&segments, &records);
    }
    let kept = |(entry, record): (&FileEntry, &Option<RecordAt>)| KnownFile {
        path: entry.path.clone(),
        stamp: entry.stamp,
        record: *record,
    };
    let list: Vec<KnownFile> = files.iter().zip(&records).map(kept).collect();
    let index_file = |(entry, record): (&FileEntry, &Option<RecordAt>)| IndexFile {
        path: entry.path.as_str().into(),
        record: *record,
    };
    let index = MapIndex::new(
        segments.iter().map(|stored| Arc::clone(&stored.segment)).collect(),
        files.iter().zip(&records).map(index_file).collect(),
    );
    let bytes =
        (0..index.len() as u32).filter_map(|file| index.record(file)).map(|record| u64::from(record.bytes())).sum();
    let worth_saving =
        fresh_records > 0 || !known.stored || read > WORTH_SAVING || known.differs_by(&list) > WORTH_SAVING;
    Joined { index, segments, bytes, read, rebuilt: known.rebuilt, unsaved: worth_saving, known: list }
}

/// The record of each file, and a segment of the new ones.
fn records(parts: Vec<Part>, fresh_segment: u32) -> (Vec<Option<RecordAt>>, Option<StoredSegment>) {
    let (mut records, mut keys) = (Vec::new(), Vec::<ContentKey>::new());
    let mut builder = SegmentBuilder::default();
    for part in parts {
        let (segment, mut names) = (part.builder.finish(), Vec::new());
        for found in part.files {
            records.push(match found {
                Found::Nothing => None,
                Found::Known(at) => Some(at),
                Found::Fresh(record) => segment
                    .record(record)
                    .map(|record| RecordAt { segment: fresh_segment, record: builder.copy(record, &mut names) }),
            });
        }
        keys.extend(part.keys);
    }
    (records, (!keys.is_empty()).then(|| StoredSegment::new(builder.finish(), keys)))
}

fn should_compact(segments: &[StoredSegment], records: &[Option<RecordAt>]) -> bool {
    let all: usize = segments.iter().map(|stored| stored.keys.len()).sum();
    let live = records.iter().flatten().count();
    // Terms that were left out could not be copied.
    let whole = segments.iter().all(|stored| stored.segment.has_terms());
    whole && (segments.len() > MOST_SEGMENTS || all > 2 * live + SPARE)
}

/// One segment of the records that files have.
fn compact(segments: &[StoredSegment], records: &[Option<RecordAt>]) -> (Vec<StoredSegment>, Vec<Option<RecordAt>>) {
    let mut builder = SegmentBuilder::default();
    let mut keys = Vec::new();
    let mut names: Vec<Vec<u32>> = vec![Vec::new(); segments.len()];
    let mut moved: BTreeMap<RecordAt, u32> = BTreeMap::new();
    let mut place = |at: RecordAt| {
        if let Some(&record) = moved.get(&at) {
            return Some(RecordAt { segment: 0, record });
        }
        let stored = segments.get(at.segment as usize)?;
        let record = builder.copy(stored.segment.record(at.record)?, names.get_mut(at.segment as usize)?);
        keys.push(*stored.keys.get(at.record as usize)?);
        moved.insert(at, record);
        Some(RecordAt { segment: 0, record })
    };
    let records = records.iter().map(|at| at.and_then(&mut place)).collect();
    let segment: Segment = builder.finish();
    (vec![StoredSegment::new(segment, keys)], records)
}
