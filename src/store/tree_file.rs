//! The result of the last survey of a root: its files with their stamps, and the record of each.

use std::path::Path;

use super::error::StoreError;
use super::sealed::{self, Sealed, halves, wide};
use rhumb_index::repo_map::RecordId;

const KIND: u32 = 2;
/// The fields of a file: the end of its path, its stamp in halves, segment and record.
const FILE_WORDS: usize = 5;
const NONE: u32 = u32::MAX;

/// A surveyed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// The path, relative to the root, with `/`.
    pub path: String,
    /// The stamp, which changes with the file; 0 if that is not certain.
    pub stamp: u64,
    /// The record, if it has one.
    pub record: Option<RecordId>,
}

/// The files of a root, sorted by path, and the segments with their records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The ids of the segments, indexed by the numbers in records.
    pub segments: Vec<u64>,
    /// The files.
    pub files: Vec<KnownFile>,
}

impl Tree {
    pub(super) fn write(&self, path: &Path) -> Result<(), StoreError> {
        let mut words = vec![self.segments.len() as u32];
        words.extend(self.segments.iter().flat_map(|id| halves(*id)));
        let mut text = String::new();
        for file in &self.files {
            text.push_str(&file.path);
            let at = file.record.unwrap_or(RecordId { segment: NONE, record: NONE });
            words.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            words.extend(halves(file.stamp));
            words.extend([at.segment, at.record]);
        }
        sealed::write(path, KIND, [bytemuck::cast_slice(&words), text.as_bytes(), &[], &[]])
            .map_err(|source| StoreError::Write { path: path.to_owned(), source })
    }

    /// Reads the tree at `path`; `None` if it is damaged.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut file = Sealed::open(path, KIND)?;
        let (words, text) = (file.words(0)?, file.text(1)?);
        let (count, rest) = words.split_first()?;
        let (segments, files) = rest.split_at_checked((*count as usize).checked_mul(2)?)?;
        let mut start = 0;
        let files = files.as_chunks::<FILE_WORDS>().0.iter().map(|&[end, low, high, segment, record]| {
            let path = text.get(start..end as usize)?.to_owned();
            start = end as usize;
            let record = (segment != NONE).then_some(RecordId { segment, record });
            Some(KnownFile { path, stamp: wide(&[low, high]), record })
        });
        let files = files.collect::<Option<Vec<KnownFile>>>()?;
        Some(Self { segments: segments.as_chunks::<2>().0.iter().map(|id| wide(id)).collect(), files })
    }
}
