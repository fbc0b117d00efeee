//! Segments of the index on disk, each with the keys of the contents of its records.

use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::error::StoreError;
use super::sealed::{self, Sealed, halves, wide};
use rhumb_index::repo_map::Segment;

const KIND: u32 = 1;
/// The sections of the file.
const KEYS: usize = 0;
const WORDS: usize = 1;
const TEXT: usize = 2;
const TERMS: usize = 3;

/// A hash of a content and of the way it is parsed: files with the same key have the same record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentKey(pub u128);

/// A segment with the keys of its records.
#[derive(Debug, Clone)]
pub struct StoredSegment {
    /// The keys, by record.
    pub keys: Arc<Vec<ContentKey>>,
    /// The records.
    pub segment: Arc<Segment>,
    /// Whether it is stored.
    pub stored: bool,
    /// The terms, if they must be stored and are not needed otherwise.
    pub spare_terms: Option<Arc<Vec<u32>>>,
}

impl StoredSegment {
    /// A segment that is not stored yet, with a key for each record.
    pub fn new(segment: Segment, keys: Vec<ContentKey>) -> Self {
        Self { keys: Arc::new(keys), segment: Arc::new(segment), stored: false, spare_terms: None }
    }

    /// The id: segments with the same keys are equal.
    pub(super) fn id(&self) -> u64 {
        xxh3_64(bytemuck::cast_slice(&key_words(&self.keys)))
    }

    /// Writes the segment to `path`.
    pub(super) fn write(&self, path: &Path) -> Result<(), StoreError> {
        let (keys, segment) = (key_words(&self.keys), &self.segment);
        let words = |words| bytemuck::cast_slice::<u32, u8>(words);
        let terms = self.spare_terms.as_ref().map_or_else(|| segment.terms(), |terms| terms.as_slice());
        let sections = [words(&keys), words(segment.words()), segment.text().as_bytes(), words(terms)];
        sealed::write(path, KIND, sections).map_err(|source| StoreError::Write { path: path.to_owned(), source })
    }

    /// Reads the segment at `path`, with or without its terms; `None` if it is damaged or from another version.
    pub(super) fn read(path: &Path, with_terms: bool) -> Option<Self> {
        let mut file = Sealed::open(path, KIND)?;
        let keys: Vec<ContentKey> = file.words(KEYS)?.as_chunks::<4>().0.iter().map(key).collect();
        let segment = Segment::from_parts(file.words(WORDS)?, file.text(TEXT)?)?;
        if with_terms {
            segment.set_terms(file.words(TERMS)?);
        }
        (keys.len() == segment.len()).then(|| Self {
            keys: Arc::new(keys),
            segment: Arc::new(segment),
            stored: true,
            spare_terms: None,
        })
    }

    /// Whether its terms are loaded.
    pub(super) fn is_whole(&self) -> bool {
        self.segment.has_terms() || self.spare_terms.is_some()
    }
}

fn key_words(keys: &[ContentKey]) -> Vec<u32> {
    keys.iter().flat_map(|key| [halves(key.0 as u64), halves((key.0 >> 64) as u64)]).flatten().collect()
}

fn key(words: &[u32; 4]) -> ContentKey {
    ContentKey(u128::from(wide(words)) | u128::from(wide(&words[2..])) << 64)
}
