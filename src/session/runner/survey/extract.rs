//! Reading files and making their records.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::known::Known;
use super::spent::Spent;
use crate::clock::Stopwatch;
use crate::repo_map::{Digest, RecordAt, SegmentBuilder};
use crate::store::ContentKey;
use crate::syntax::{Language, tags};
use crate::workspace::{self, FileEntry, Root};

/// Files above this many bytes are listed but not parsed: they are data or generated, and would cost seconds.
const PARSE_LIMIT: u64 = 1 << 20;

/// Some files in path order, with new records for those that were not known.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) files: Vec<Found>,
    pub(super) builder: SegmentBuilder,
    /// By record of the builder.
    pub(super) keys: Vec<ContentKey>,
    pub(super) spent: Spent,
    pub(super) read: usize,
}

/// Where the record of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It has none.
    Nothing,
    /// Among what was known.
    Known(RecordAt),
    /// Among the new ones of the part.
    Fresh(u32),
}

impl Part {
    /// Finds or makes the record of a file.
    pub(super) fn take(&mut self, root: &Root, entry: &FileEntry, known: &Known) {
        let found = match known.unchanged(entry) {
            Some(record) => record.map_or(Found::Nothing, Found::Known),
            None => self.look_into(root, entry, known),
        };
        self.files.push(found);
    }

    /// Reads a file. One that cannot be read as text has no record: its name is still worth a line of the map.
    fn look_into(&mut self, root: &Root, entry: &FileEntry, known: &Known) -> Found {
        let clock = Stopwatch::start();
        let language = Language::for_path(&entry.path).filter(|_| !entry.secret && entry.bytes <= PARSE_LIMIT);
        let Some((language, snapshot)) = language.and_then(|it| Some((it, workspace::read(root, &entry.path).ok()?)))
        else {
            return Found::Nothing;
        };
        self.read += 1;
        let read = clock.ms();
        let key = key(language, &snapshot.text);
        let found = known.content(key).map_or_else(
            || {
                let tags = tags(language, &snapshot.text);
                let digest = Digest::new(&snapshot.text, &tags);
                self.keys.push(key);
                Found::Fresh(self.builder.add(&tags, &digest, snapshot.text.len() as u32))
            },
            Found::Known,
        );
        self.spent.add(read, clock.ms() - read);
        found
    }
}

/// What the record of a content depends on beside it: the queries of all languages, and this version of the program.
static MAKING: LazyLock<u64> = LazyLock::new(|| {
    let mut making = env!("CARGO_PKG_VERSION").to_owned();
    making.extend(Language::all().map(|language| format!("{:x}", language.fingerprint())));
    xxhash_rust::xxh3::xxh3_64(making.as_bytes())
});

fn key(language: &Language, text: &str) -> ContentKey {
    ContentKey(xxh3_128_with_seed(text.as_bytes(), *MAKING ^ language.fingerprint()))
}
