//! Format of the journal's records.
//!
//! A record has the old and the new content of every file, so that a write can be finished, rolled back, undone and
//! redone from the record alone. It has a checksum. Of a damaged record only the file names are used, and only for
//! messages.

use crate::snapshot::ContentHash;
use serde::{Deserialize, Serialize};
use std::io;
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of a record. The last byte is the version of the format.
const MAGIC: &[u8; 8] = b"rhumbjr1";
/// Size in bytes of the magic number, the length of the header and the checksum of everything that follows.
const PREAMBLE: usize = 24;

/// The content of a file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: ContentHash,
    /// Permission bits. `None` for the default of a new file.
    pub(crate) mode: Option<u32>,
}

impl Version {
    pub(crate) fn new(bytes: Vec<u8>, mode: Option<u32>) -> Self {
        Self { hash: ContentHash::of(&bytes), bytes, mode }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedChange {
    /// Path relative to the root, with `/` and without symbolic links.
    pub(crate) path: String,
    /// Name of the temporary file next to it.
    pub(crate) temp: String,
    /// `None` if the file did not exist.
    pub(crate) before: Option<Version>,
    /// `None` if the file is deleted.
    pub(crate) after: Option<Version>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Commit message, if a commit is to follow.
    pub(crate) message: Option<String>,
    /// Folders that the write creates, relative to the root, outermost first.
    pub(crate) folders: Vec<String>,
    pub(crate) files: Vec<RecordedChange>,
}

/// Why a record cannot be used.
#[derive(Debug)]
pub(crate) enum RecordError {
    /// The checksum is wrong. The paths may be wrong too and are used in messages only.
    Damaged { paths: Vec<String> },
    /// Another version of the program wrote the record.
    OtherVersion,
    /// The operating system reported an error.
    Unreadable(io::Error),
}

#[derive(Serialize, Deserialize)]
struct Header {
    message: Option<String>,
    folders: Vec<String>,
    files: Vec<FileHeader>,
}

#[derive(Serialize, Deserialize)]
struct FileHeader {
    path: String,
    temp: String,
    before: Option<VersionHeader>,
    after: Option<VersionHeader>,
}

/// The contents of all versions follow the header, in the same order.
#[derive(Serialize, Deserialize)]
struct VersionHeader {
    bytes: usize,
    mode: Option<u32>,
    hash: String,
}

pub(crate) fn encode(message: Option<&str>, folders: &[String], files: &[&RecordedChange]) -> Vec<u8> {
    let version = |version: &Option<Version>| {
        version.as_ref().map(|version| VersionHeader {
            bytes: version.bytes.len(),
            mode: version.mode,
            hash: version.hash.to_string(),
        })
    };
    let file = |change: &&RecordedChange| FileHeader {
        path: change.path.clone(),
        temp: change.temp.clone(),
        before: version(&change.before),
        after: version(&change.after),
    };
    let header = Header {
        message: message.map(str::to_owned),
        folders: folders.to_vec(),
        files: files.iter().map(file).collect(),
    };
    // Strings and numbers can always be encoded as JSON.
    let header = serde_json::to_vec(&header).unwrap_or_default();
    let contents = || files.iter().flat_map(|change| change.before.iter().chain(&change.after));
    let size = contents().map(|version| version.bytes.len()).sum::<usize>();
    let mut record = Vec::with_capacity(PREAMBLE + header.len() + size);
    record.extend_from_slice(MAGIC);
    record.extend_from_slice(&(header.len() as u64).to_le_bytes());
    record.extend_from_slice(&[0; 8]);
    record.extend_from_slice(&header);
    contents().for_each(|version| record.extend_from_slice(&version.bytes));
    let sum = xxh3_64(record.get(PREAMBLE..).unwrap_or_default()).to_le_bytes();
    if let Some(slot) = record.get_mut(PREAMBLE - sum.len()..PREAMBLE) {
        slot.copy_from_slice(&sum);
    }
    record
}

/// Decodes a record.
///
/// # Errors
/// The record is damaged, or another version of the program wrote it.
pub(crate) fn decode(bytes: &[u8]) -> Result<Record, RecordError> {
    let [family @ .., version] = MAGIC;
    match bytes.strip_prefix(family).and_then(<[u8]>::first) {
        Some(other) if other != version && other.is_ascii_digit() => Err(RecordError::OtherVersion),
        _ => whole(bytes).ok_or_else(|| RecordError::Damaged { paths: paths(bytes).unwrap_or_default() }),
    }
}

/// Returns the file names in a record, even if it is damaged.
fn paths(bytes: &[u8]) -> Option<Vec<String>> {
    let (preamble, rest) = bytes.split_at_checked(PREAMBLE)?;
    let length = u64::from_le_bytes(preamble.get(8..16)?.try_into().ok()?);
    let header: Header = serde_json::from_slice(rest.get(..usize::try_from(length).ok()?)?).ok()?;
    Some(header.files.into_iter().map(|file| file.path).collect())
}

fn whole(bytes: &[u8]) -> Option<Record> {
    let (preamble, rest) = bytes.split_at_checked(PREAMBLE)?;
    let word = |at: usize| Some(u64::from_le_bytes(preamble.get(at..at + 8)?.try_into().ok()?));
    if !preamble.starts_with(MAGIC) || word(16)? != xxh3_64(rest) {
        return None;
    }
    let (header, mut contents) = rest.split_at_checked(usize::try_from(word(8)?).ok()?)?;
    let header: Header = serde_json::from_slice(header).ok()?;
    let mut version = |header: Option<VersionHeader>| {
        let Some(header) = header else { return Some(None) };
        let (bytes, rest) = contents.split_at_checked(header.bytes)?;
        contents = rest;
        let version = Version::new(bytes.to_vec(), header.mode);
        (version.hash.to_string() == header.hash).then_some(Some(version))
    };
    let mut files = Vec::with_capacity(header.files.len());
    for file in header.files {
        let (before, after) = (version(file.before)?, version(file.after)?);
        files.push(RecordedChange { path: file.path, temp: file.temp, before, after });
    }
    contents.is_empty().then_some(Record { message: header.message, folders: header.folders, files })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version() -> impl Strategy<Value = Option<Version>> {
        let bytes = proptest::collection::vec(any::<u8>(), 0..50);
        proptest::option::of((bytes, proptest::option::of(0..0o7777u32)).prop_map(|(b, mode)| Version::new(b, mode)))
    }

    fn change() -> impl Strategy<Value = RecordedChange> {
        ("\\PC{1,10}", "[a-z]{1,5}", version(), version()).prop_map(|(path, temp, before, after)| RecordedChange {
            path,
            temp,
            before,
            after,
        })
    }

    proptest! {
        #[test]
        fn records_round_trip_and_damage_is_detected(
            message in proptest::option::of("\\PC{0,20}"),
            folders in proptest::collection::vec("\\PC{1,8}", 0..3),
            files in proptest::collection::vec(change(), 0..4),
            at in any::<prop::sample::Index>(),
        ) {
            let bytes = encode(message.as_deref(), &folders, &files.iter().collect::<Vec<_>>());
            let named: Vec<String> = files.iter().map(|change| change.path.clone()).collect();
            prop_assert_eq!(decode(&bytes).unwrap(), Record { message, folders, files });
            let at = at.index(bytes.len());
            let is_damaged = |bytes: &[u8]| matches!(decode(bytes), Err(RecordError::Damaged { .. }));
            prop_assert!(is_damaged(&bytes[..at]));
            let mut damaged = bytes;
            damaged[at] ^= 0x10;
            prop_assert!(is_damaged(&damaged));
            // A record with an intact header still has the file names.
            damaged[at] ^= 0x10;
            damaged[PREAMBLE - 1] ^= 0x10;
            let Err(RecordError::Damaged { paths }) = decode(&damaged) else { panic!("a wrong checksum was believed") };
            prop_assert_eq!(paths, named);
            damaged[MAGIC.len() - 1] = b'2';
            prop_assert!(matches!(decode(&damaged), Err(RecordError::OtherVersion)));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            drop(decode(&bytes));
            drop(decode(&[MAGIC.as_slice(), &bytes].concat()));
        }
    }
}
