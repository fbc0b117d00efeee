//! What lay where at the last survey of a root: its files with their stamps, and the record of each.

use std::path::Path;

use super::error::StoreError;
use super::sealed::{self, Sealed, halves, wide};
use rhumb_index::repo_map::RecordId;

const KIND: u32 = 2;
/// Words of a file: where its path ends, its stamp in halves, segment and record.
const FILE: usize = 5;
const NONE: u32 = u32::MAX;

/// A file as it was surveyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// Changes whenever the file does; 0 when that is not certain.
    pub stamp: u64,
    /// Its record, if it has one.
    pub record: Option<RecordId>,
}

/// The files of a root, in path order, and the segments that their records are in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The ids of the segments, by the number that the records give.
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

    /// Reads the tree at `path`; `None` when it is damaged.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut file = Sealed::open(path, KIND)?;
        let (words, text) = (file.words(0)?, file.text(1)?);
        let (count, rest) = words.split_first()?;
        let (segments, files) = rest.split_at_checked((*count as usize).checked_mul(2)?)?;
        let mut start = 0;
        let files = files.as_chunks::<FILE>().0.iter().map(|&[end, low, high, segment, record]| {
            let path = text.get(start..end as usize)?.to_owned();
            start = end as usize;
            let record = (segment != NONE).then_some(RecordId { segment, record });
            Some(KnownFile { path, stamp: wide(&[low, high]), record })
        });
        let files = files.collect::<Option<Vec<KnownFile>>>()?;
        Some(Self { segments: segments.as_chunks::<2>().0.iter().map(|id| wide(id)).collect(), files })
    }
}
