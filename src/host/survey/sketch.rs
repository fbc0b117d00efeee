//! A sketch: a quick index of an unknown repository by words only, made in a fraction of the time of parsing.

use super::extract::is_worth_reading;
use super::{CHUNK, read_in_order};
use rhumb_index::repo_map::{Segment, SegmentBuilder};
use rhumb_syntax::Language;
use rhumb_workspace::{FileEntry, Root};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Minimum size in bytes of the code of a repository for a sketch. Smaller ones are parsed fast enough.
const MIN_SKETCHED_BYTES: u64 = 2 << 20;
/// Maximum number of bytes that are read for a sketch, to limit its time.
const MAX_BYTES: u64 = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Sketch {
    pub(super) segment: Arc<Segment>,
    /// In the order of the files.
    pub(super) records: Vec<Option<u32>>,
}

/// Sketches the files with a grammar; `None` if the repository is too small, or if cancelled.
pub(super) fn sketch(root: &Root, files: &[FileEntry], cancel: &AtomicBool) -> Option<Sketch> {
    let has_code = |entry: &FileEntry| Language::for_path(&entry.path).is_some() && is_worth_reading(entry);
    let bytes: u64 = files.iter().filter(|entry| has_code(entry)).map(|entry| entry.bytes).sum();
    if bytes < MIN_SKETCHED_BYTES {
        return None;
    }
    let head = head_bytes(files.iter().filter(|entry| has_code(entry)).map(|entry| entry.bytes).collect());
    let read = |chunk: &[FileEntry]| {
        let (mut builder, mut text) = (SegmentBuilder::default(), String::new());
        let mut sketched = |entry: &FileEntry| {
            if cancel.load(Ordering::Relaxed) || !has_code(entry) {
                return None;
            }
            read_head(&root.path().join(&entry.path), head, &mut text)?;
            Some(builder.add_sketch(&text, u32::try_from(entry.bytes).unwrap_or(u32::MAX)))
        };
        let records: Vec<Option<u32>> = chunk.iter().map(&mut sketched).collect();
        (builder.finish(), records)
    };
    let mut all = SegmentBuilder::default();
    let mut records = Vec::with_capacity(files.len());
    read_in_order(files.chunks(CHUNK), read, |(segment, part)| {
        let mut names = Vec::new();
        records.extend(part.into_iter().map(|at| Some(all.copy(segment.record(at?)?, &mut names))));
    });
    (!cancel.load(Ordering::Relaxed)).then(|| Sketch { segment: Arc::new(all.finish()), records })
}

/// The maximum number of bytes to read per file, so that the total is at most [`MAX_BYTES`]. Small files are read completely, and
/// the beginnings of large ones, which contain imports and main definitions.
fn head_bytes(mut sizes: Vec<u64>) -> u64 {
    sizes.sort_unstable();
    let mut left = MAX_BYTES;
    for (at, size) in sizes.iter().enumerate() {
        let share = left / (sizes.len() - at) as u64;
        if *size > share {
            return share;
        }
        left -= size;
    }
    MAX_BYTES
}

/// Reads the first `head` bytes of a file, up to a character boundary; `None` if it is not readable as UTF-8.
fn read_head(path: &Path, head: u64, text: &mut String) -> Option<()> {
    let mut bytes = std::mem::take(text).into_bytes();
    bytes.clear();
    File::open(path).ok()?.take(head).read_to_end(&mut bytes).ok()?;
    if let Err(error) = std::str::from_utf8(&bytes) {
        if error.error_len().is_some() {
            return None;
        }
        bytes.truncate(error.valid_up_to());
    }
    *text = String::from_utf8(bytes).ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_heads_together_are_bounded_and_small_files_are_whole() {
        assert_eq!(head_bytes(vec![10, 20, 30]), MAX_BYTES);
        let sizes: Vec<u64> = (0..50_000).map(|n| n % 3_000).chain([900 << 20]).collect();
        let head = head_bytes(sizes.clone());
        let read: u64 = sizes.iter().map(|size| (*size).min(head)).sum();
        assert!(head > 100 && read <= MAX_BYTES && read > MAX_BYTES / 2, "{head} {read}");
        assert_eq!(head_bytes(Vec::new()), MAX_BYTES);
    }

    #[test]
    fn a_head_ends_between_characters_and_other_encodings_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let (path, mut text) = (folder.path().join("a"), String::from("before"));
        std::fs::write(&path, "fn ä() {}").unwrap();
        assert_eq!((read_head(&path, 4, &mut text), text.as_str()), (Some(()), "fn "));
        std::fs::write(&path, b"caf\xe9 fn").unwrap();
        assert_eq!(read_head(&path, 100, &mut text), None);
    }
}
