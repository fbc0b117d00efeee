//! Sealed files: sections of words or bytes after a header with the kind of the file and checksums.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

/// The magic number of a file. With another byte order it reads as another number.
const MAGIC: [u32; 2] = [0x7268_756d, 0x6220_0002];
/// Maximum number of sections. Those that are not written are empty.
const MAX_SECTIONS: usize = 10;
/// The words of the header: magic, kind, length in bytes and checksum of each section, both in halves, and the checksum of the
/// header.
const HEADER_WORDS: usize = 2 + 1 + MAX_SECTIONS * 4 + 2;

/// An open sealed file with the lengths of its sections.
#[derive(Debug)]
pub(super) struct Sealed {
    file: File,
    lengths: [u64; MAX_SECTIONS],
    checksums: [u64; MAX_SECTIONS],
}

impl Sealed {
    /// Opens a file of a kind; `None` if it is missing, of another kind, or has a damaged header.
    pub(super) fn open(path: &Path, kind: u32) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let mut header = [0u32; HEADER_WORDS];
        file.read_exact(bytemuck::cast_slice_mut(&mut header)).ok()?;
        let (content, seal) = header.split_at(HEADER_WORDS - 2);
        if content[..2] != MAGIC || content[2] != kind || wide(seal) != xxh3_64(bytemuck::cast_slice(content)) {
            return None;
        }
        let section = |at: usize| &content[3 + at * 4..];
        let lengths = std::array::from_fn(|at| wide(section(at)));
        let checksums = std::array::from_fn(|at| wide(&section(at)[2..]));
        let size = lengths.iter().try_fold((HEADER_WORDS * 4) as u64, |sum, length| sum.checked_add(*length))?;
        (file.metadata().ok()?.len() == size).then_some(Self { file, lengths, checksums })
    }

    /// Reads a section as words or as rows of words; `None` if it is damaged.
    pub(super) fn rows<T: bytemuck::Pod>(&mut self, section: usize) -> Option<Vec<T>> {
        let length = usize::try_from(*self.lengths.get(section)?).ok()?;
        let mut rows = vec![T::zeroed(); length / size_of::<T>()];
        self.read(section, bytemuck::cast_slice_mut(&mut rows))?;
        Some(rows)
    }

    /// Reads a section as words; `None` if it is damaged.
    pub(super) fn words(&mut self, section: usize) -> Option<Vec<u32>> {
        self.rows(section)
    }

    /// Reads a section as text; `None` if it is damaged.
    pub(super) fn text(&mut self, section: usize) -> Option<String> {
        let mut bytes = vec![0u8; usize::try_from(*self.lengths.get(section)?).ok()?];
        self.read(section, &mut bytes)?;
        String::from_utf8(bytes).ok()
    }

    fn read(&mut self, section: usize, bytes: &mut [u8]) -> Option<()> {
        let start = self.lengths.get(..section)?.iter().sum::<u64>() + (HEADER_WORDS * 4) as u64;
        self.file.seek(SeekFrom::Start(start)).ok()?;
        self.file.read_exact(bytes).ok()?;
        (xxh3_64(bytes) == self.checksums[section]).then_some(())
    }
}

/// The content of a section.
#[derive(Debug)]
pub(super) enum Section<'s> {
    Bytes(&'s [u8]),
    Words(Cow<'s, [u32]>),
}

impl Section<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Words(words) => bytemuck::cast_slice(words),
        }
    }
}

impl<'s> From<&'s str> for Section<'s> {
    fn from(text: &'s str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}

impl<'s> From<&'s [u32]> for Section<'s> {
    fn from(words: &'s [u32]) -> Self {
        Self::Words(Cow::Borrowed(words))
    }
}

impl<'s> From<&'s [f64]> for Section<'s> {
    fn from(numbers: &'s [f64]) -> Self {
        Self::Bytes(bytemuck::cast_slice(numbers))
    }
}

impl From<Vec<u32>> for Section<'_> {
    fn from(words: Vec<u32>) -> Self {
        Self::Words(Cow::Owned(words))
    }
}

/// Writes a file of a kind, with at most [`MAX_SECTIONS`] sections, under a temporary name and renames it. Each section is freed once
/// it is written.
pub(super) fn write(path: &Path, kind: u32, sections: Vec<Section<'_>>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut header = Vec::with_capacity(HEADER_WORDS);
    header.extend(MAGIC);
    header.push(kind);
    let contents = sections.iter().map(Section::bytes).chain(std::iter::repeat(&[][..]));
    for section in contents.take(MAX_SECTIONS) {
        header.extend(halves(section.len() as u64));
        header.extend(halves(xxh3_64(section)));
    }
    header.extend(halves(xxh3_64(bytemuck::cast_slice(&header))));
    let mut file = BufWriter::new(NamedTempFile::new_in(folder)?);
    file.write_all(bytemuck::cast_slice(&header))?;
    for section in sections {
        file.write_all(section.bytes())?;
    }
    // A lost store is made again, so the file is not synced.
    file.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path)?;
    Ok(())
}

/// A 64-bit number as two words, the lower half first.
pub(super) fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The number in the first two words; 0 if there are fewer.
pub(super) fn wide(words: &[u32]) -> u64 {
    words.first_chunk::<2>().map_or(0, |[low, high]| u64::from(*low) | u64::from(*high) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIND: u32 = 7;

    #[test]
    fn sections_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, KIND, vec![vec![1].into(), "é".into()]).unwrap();
        let mut sealed = Sealed::open(&path, KIND).unwrap();
        assert_eq!(sealed.text(1).as_deref(), Some("é"));
        assert_eq!(sealed.words(0), Some(vec![1]));
        assert_eq!(sealed.words(2), Some(Vec::new()));
        assert!(Sealed::open(&path, KIND + 1).is_none());
        assert!(Sealed::open(&folder.path().join("b"), KIND).is_none());
    }

    proptest! {
        #[test]
        fn damage_is_noticed(at in 0usize..400, flip in 1u8.., cut in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            write(&path, KIND, vec![vec![1; 10].into(), Section::Bytes(&[b'x'; 40])]).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
            std::fs::write(&path, bytes).unwrap();
            let read = Sealed::open(&path, KIND).and_then(|mut sealed| Some((sealed.words(0)?, sealed.text(1)?)));
            prop_assert!(read.is_none());
        }
    }
}
