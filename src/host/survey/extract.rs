//! Reading files and making their records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::stored::KnownFiles;
use super::times::ThreadTimes;
use crate::clock::{Stopwatch, ThreadWatch};
use crate::store::ContentKey;
use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::{Digest, RecordId, SegmentBuilder};
use rhumb_syntax::parse::set_parse_timer;
use rhumb_syntax::{Definition, FileTags, ctags_line};
use rhumb_syntax::{Language, lexical_tags, tags};
use rhumb_workspace::{FileEntry, Root};

/// Files above this many bytes are listed but not parsed: they are data or generated, and would cost seconds.
const PARSE_LIMIT: u64 = 1 << 20;

/// Processor time that one parse may take, in milliseconds: a file of [`PARSE_LIMIT`] takes about 100. Only what was made to
/// take long takes longer.
const MAX_PARSE_MS: f64 = 2_000.0;

/// Has every parse of this process give up when it takes too long.
pub(super) fn limit_parse_time() {
    set_parse_timer(|| {
        let watch = ThreadWatch::start();
        Box::new(move || watch.ms() > MAX_PARSE_MS)
    });
}

/// Files without a grammar are read for their words up to this size, in bytes.
const LEXICON_LIMIT: u64 = 64 << 10;

/// Repositories with more bytes of text than this are known by names, paths and comments alone: every
/// word of them would take more than a gigabyte of memory.
const WHOLE_LIMIT: u64 = 512 << 20;

/// How much of each of these files is to be known.
pub(super) fn depth_of(files: &[FileEntry]) -> Depth {
    let bytes: u64 = files.iter().filter(|entry| is_worth_reading(entry)).map(|entry| entry.bytes).sum();
    if bytes > WHOLE_LIMIT { Depth::Headers } else { Depth::Whole }
}

/// Some files in path order, with new records for those that were not known.
#[derive(Debug, Default)]
pub(super) struct ChunkRecords {
    pub(super) files: Vec<FileRecord>,
    pub(super) builder: SegmentBuilder,
    /// By record of the builder.
    pub(super) keys: Vec<ContentKey>,
    pub(super) spent: ThreadTimes,
    pub(super) read: usize,
}

/// Where the record of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileRecord {
    /// It has none.
    Nothing,
    /// Among what was known.
    Known(RecordId),
    /// Among the new ones of the part.
    New(u32),
    /// It was not looked at.
    Unread,
}

impl ChunkRecords {
    /// Finds or makes the record of a file.
    pub(super) fn take(&mut self, root: &Root, entry: &FileEntry, known: &KnownFiles, by_ctags: &ByCtags) {
        let found = match known.unchanged(entry) {
            Some(record) => record.map_or(FileRecord::Nothing, FileRecord::Known),
            None => self.look_into(root, entry, known, by_ctags),
        };
        self.files.push(found);
    }

    /// Leaves the next file out.
    pub(super) fn leave(&mut self) {
        self.files.push(FileRecord::Unread);
    }

    /// Reads a file. One that cannot be read as text has no record: its name is still worth a line of the map.
    fn look_into(&mut self, root: &Root, entry: &FileEntry, known: &KnownFiles, by_ctags: &ByCtags) -> FileRecord {
        let clock = Stopwatch::start();
        let snapshot = is_worth_reading(entry).then(|| rhumb_workspace::read(root, &entry.path).ok()).flatten();
        let Some(snapshot) = snapshot else { return FileRecord::Nothing };
        self.read += 1;
        let read = clock.ms();
        let language = Language::detect(&entry.path, &snapshot.text);
        let definitions = by_ctags.get(Path::new(&entry.path));
        let key = key(language, definitions.is_some(), known.depth, &snapshot.text);
        let fresh = || {
            let tags = match (language, definitions) {
                (Some(language), _) => tags(language, &snapshot.text),
                (None, Some(definitions)) => {
                    FileTags { definitions: definitions.clone(), ..lexical_tags(&snapshot.text) }
                }
                (None, None) => lexical_tags(&snapshot.text),
            };
            let digest = Digest::new(&snapshot.text, &tags, known.depth);
            self.keys.push(key);
            FileRecord::New(self.builder.add(&tags, &digest, snapshot.text.len() as u32))
        };
        let found = known.content(key).map_or_else(fresh, FileRecord::Known);
        self.spent.add(read, clock.ms() - read);
        found
    }
}

/// Definitions that ctags found in files without a grammar, by path.
pub(super) type ByCtags = BTreeMap<PathBuf, Vec<Definition>>;

/// Asks ctags, where it is installed, about the files that no grammar of ours can read and that nobody knows yet.
pub(super) fn by_ctags(root: &Root, files: &[FileEntry], known: &KnownFiles, cancel: &AtomicBool) -> ByCtags {
    let unread = |entry: &&FileEntry| Language::for_path(&entry.path).is_none() && is_worth_reading(entry);
    let paths = files.iter().filter(unread).filter(|entry| known.unchanged(entry).is_none());
    let paths: Vec<PathBuf> = paths.map(|entry| PathBuf::from(&entry.path)).collect();
    if paths.is_empty() || !rhumb_workspace::has_ctags() {
        return ByCtags::new();
    }
    let mut found = ByCtags::new();
    for (path, definition) in rhumb_workspace::run_ctags(root.path(), &paths, cancel, ctags_line) {
        found.entry(PathBuf::from(path)).or_default().push(definition);
    }
    for definitions in found.values_mut() {
        definitions.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
    }
    found
}

/// Whether a file can say anything: one with a grammar that is not too large, or a small one that is not known as data.
pub(super) fn is_worth_reading(entry: &FileEntry) -> bool {
    let limit = if Language::for_path(&entry.path).is_some() { PARSE_LIMIT } else { LEXICON_LIMIT };
    !entry.secret && (1..=limit).contains(&entry.bytes) && !is_data(&entry.path)
}

/// Whether a path has an extension of what nobody writes by hand or nobody reads as code.
fn is_data(path: &str) -> bool {
    const DATA: [&str; 27] = [
        "bin", "bmp", "class", "csv", "dll", "eot", "exe", "gif", "gz", "ico", "jar", "jpeg", "jpg", "lock", "log",
        "map", "mo", "pdf", "png", "po", "pot", "so", "svg", "tsv", "ttf", "webp", "zip",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        DATA.binary_search(&extension.to_ascii_lowercase().as_str()).is_ok() || extension.starts_with("woff")
    })
}

/// What the record of a content depends on beside it: the queries of all languages, and this version of the program.
static MAKING: LazyLock<u64> = LazyLock::new(|| {
    let mut making = env!("CARGO_PKG_VERSION").to_owned();
    making.extend(Language::all().map(|language| format!("{:x}", language.fingerprint())));
    xxhash_rust::xxh3::xxh3_64(making.as_bytes())
});

/// Where there is no language, what ctags knew makes the difference.
fn key(language: Option<&Language>, by_ctags: bool, depth: Depth, text: &str) -> ContentKey {
    let manner = language.map_or(u64::from(by_ctags), Language::fingerprint);
    let manner = manner.rotate_left(u32::from(depth == Depth::Headers));
    ContentKey(xxh3_128_with_seed(text.as_bytes(), *MAKING ^ manner))
}
