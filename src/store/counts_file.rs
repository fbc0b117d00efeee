//! Token counts of lines in maps, one file for each tokenizer.

use std::path::Path;

use super::error::StoreError;
use super::sealed::{self, Sealed, halves, wide};
use rhumb_tokens::LineCount;

const KIND: u32 = 3;

/// Writes the counts to `path`.
pub(super) fn write(path: &Path, lines: &[LineCount]) -> Result<(), StoreError> {
    let row = |line: &LineCount| {
        let [low, high] = halves(line.hash);
        [low, high, u32::from(line.tokens[0]) | u32::from(line.tokens[1]) << 16]
    };
    let words: Vec<u32> = lines.iter().flat_map(row).collect();
    sealed::write(path, KIND, [bytemuck::cast_slice(&words), &[], &[], &[]])
        .map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

/// Reads the counts at `path`; none if the file is missing or damaged.
pub(super) fn read(path: &Path) -> Vec<LineCount> {
    let words = Sealed::open(path, KIND).and_then(|mut file| file.words(0)).unwrap_or_default();
    let line =
        |row: &[u32; 3]| LineCount { hash: wide(row), tokens: [(row[2] & 0xffff) as u16, (row[2] >> 16) as u16] };
    words.as_chunks::<3>().0.iter().map(line).collect()
}
