//! A first look at a repository that nobody knows yet: words alone, in a fraction of the time that parsing takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::CHUNK;
use super::extract::is_worth_reading;
use crate::repo_map::{Segment, SegmentBuilder};
use crate::syntax::Language;
use crate::workspace::{FileEntry, Root};

/// Repositories with less than this many bytes of code are parsed before anyone could look at a sketch.
const WORTH_SKETCHING: u64 = 2 << 20;

/// Sketched records of files.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    pub(super) segment: Arc<Segment>,
    /// In the order of the files.
    pub(super) records: Vec<Option<u32>>,
}

/// Sketches the files that have a grammar; `None` where that is not worth it, or was cancelled.
pub(super) fn sketch(root: &Root, files: &[FileEntry], cancel: &AtomicBool) -> Option<Sketch> {
    let has_code = |entry: &FileEntry| Language::for_path(&entry.path).is_some() && is_worth_reading(entry);
    let bytes: u64 = files.iter().filter(|entry| has_code(entry)).map(|entry| entry.bytes).sum();
    if bytes < WORTH_SKETCHING {
        return None;
    }
    let part = |chunk: &[FileEntry]| {
        let mut builder = SegmentBuilder::default();
        let mut sketched = |entry: &FileEntry| {
            if cancel.load(Ordering::Relaxed) || !has_code(entry) {
                return None;
            }
            let bytes = std::fs::read(root.path().join(&entry.path)).ok()?;
            Some(builder.add_sketch(std::str::from_utf8(&bytes).ok()?, bytes.len() as u32))
        };
        let records: Vec<Option<u32>> = chunk.iter().map(&mut sketched).collect();
        (builder.finish(), records)
    };
    let parts: Vec<(Segment, Vec<Option<u32>>)> = files.par_chunks(CHUNK).map(part).collect();
    let mut all = SegmentBuilder::default();
    let mut records = Vec::with_capacity(files.len());
    for (segment, part) in parts {
        let mut names = Vec::new();
        records.extend(part.into_iter().map(|at| Some(all.copy(segment.record(at?)?, &mut names))));
    }
    (!cancel.load(Ordering::Relaxed)).then(|| Sketch { segment: Arc::new(all.finish()), records })
}
