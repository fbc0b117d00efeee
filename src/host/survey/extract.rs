//! Reads files and makes their records.

use super::SurveyTimes;
use super::records::KnownFiles;
use crate::clock::{Stopwatch, ThreadWatch};
use crate::store::ContentKey;
use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::{Digest, RecordId, SegmentBuilder};
use rhumb_syntax::parse::set_parse_timer;
use rhumb_syntax::{Definition, FileTags, ctags_line};
use rhumb_syntax::{Language, lexical_tags, tags};
use rhumb_workspace::{FileEntry, Root};
use std::collections::BTreeMap;
use std::iter::Sum;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Maximum size of a parsed file in bytes. Larger ones are data or generated, and would take seconds.
const PARSE_LIMIT: u64 = 1 << 20;

/// Maximum processor time of one parse in milliseconds. A file of [`PARSE_LIMIT`] takes about 100, unless it was made to be slow.
const MAX_PARSE_MS: f64 = 2_000.0;

/// Limits the time of every parse in this process.
pub(super) fn limit_parse_time() {
    set_parse_timer(|| {
        let watch = ThreadWatch::start();
        Box::new(move || watch.ms() > MAX_PARSE_MS)
    });
}

/// Maximum size in bytes of a file without a grammar that is indexed by words.
const LEXICON_LIMIT: u64 = 64 << 10;

/// Maximum size in bytes of a repository that is indexed completely. Larger ones are indexed by names, paths and comments: all words
/// would need more than a gigabyte of memory.
const WHOLE_LIMIT: u64 = 512 << 20;

/// How much of each file is indexed.
pub(super) fn depth_of(files: &[FileEntry]) -> Depth {
    let bytes: u64 = files.iter().filter(|entry| is_worth_reading(entry)).map(|entry| entry.bytes).sum();
    if bytes > WHOLE_LIMIT { Depth::Headers } else { Depth::Whole }
}

/// Some files in path order, with new records.
#[derive(Debug, Default)]
pub(super) struct ChunkRecords {
    pub(super) files: Vec<FileRecord>,
    pub(super) builder: SegmentBuilder,
    pub(super) keys: Vec<ContentKey>,
    pub(super) times: ThreadTimes,
    pub(super) read: usize,
    /// Where the next file is among the known ones.
    next: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileRecord {
    /// None: the file has no readable text.
    Nothing,
    Known(RecordId),
    New(u32),
    /// None: the file was skipped.
    Unread,
}

impl ChunkRecords {
    pub(super) fn add(&mut self, root: &Root, entry: &FileEntry, known: &KnownFiles, by_ctags: &ByCtags) {
        let found = match known.unchanged(entry, &mut self.next) {
            Some(record) => record.map_or(FileRecord::Nothing, FileRecord::Known),
            None => self.read(root, entry, known, by_ctags),
        };
        self.files.push(found);
    }

    pub(super) fn skip(&mut self) {
        self.files.push(FileRecord::Unread);
    }

    /// Reads a file. A file that is not readable as text has no record; the map shows only its name.
    fn read(&mut self, root: &Root, entry: &FileEntry, known: &KnownFiles, by_ctags: &ByCtags) -> FileRecord {
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
        self.times.add(read, clock.ms() - read);
        found
    }
}

/// Definitions by ctags in files without a grammar, by path.
pub(super) type ByCtags = BTreeMap<PathBuf, Vec<Definition>>;

/// Runs ctags, if it is installed, on unknown files without a grammar.
pub(super) fn by_ctags(root: &Root, files: &[FileEntry], known: &KnownFiles, cancel: &AtomicBool) -> ByCtags {
    let unread = |entry: &&FileEntry| Language::for_path(&entry.path).is_none() && is_worth_reading(entry);
    let mut next = 0;
    let paths = files.iter().filter(unread).filter(|entry| known.unchanged(entry, &mut next).is_none());
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

/// Whether a file is read: one with a grammar that is not too large, or a small one that is not data.
pub(super) fn is_worth_reading(entry: &FileEntry) -> bool {
    let limit = if Language::for_path(&entry.path).is_some() { PARSE_LIMIT } else { LEXICON_LIMIT };
    !entry.secret && (1..=limit).contains(&entry.bytes) && !is_data(&entry.path)
}

/// Whether the extension of a path is that of data or generated files.
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

/// A hash of what records depend on beside the content: the version of the program and the queries of all languages.
pub(super) static EXTRACTOR: LazyLock<u64> = LazyLock::new(|| {
    let mut versions = env!("CARGO_PKG_VERSION").to_owned();
    versions.extend(Language::all().map(|language| format!("{:x}", language.fingerprint())));
    xxhash_rust::xxh3::xxh3_64(versions.as_bytes())
});

/// The key of a content. Without a language it depends on whether ctags was used.
fn key(language: Option<&Language>, by_ctags: bool, depth: Depth, text: &str) -> ContentKey {
    let extractor = language.map_or(u64::from(by_ctags), Language::fingerprint);
    let extractor = extractor.rotate_left(u32::from(depth == Depth::Headers));
    ContentKey(xxh3_128_with_seed(text.as_bytes(), *EXTRACTOR ^ extractor))
}

/// Time of all threads together, in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ThreadTimes {
    read: f64,
    parse: f64,
}

impl ThreadTimes {
    pub(super) fn add(&mut self, read: f64, parse: f64) {
        self.read += read;
        self.parse += parse;
    }

    /// Divides the `elapsed` milliseconds between reading and parsing.
    pub(super) fn shares(self, walk: f64, load: f64, elapsed: f64) -> SurveyTimes {
        let (read, parse) = (self.read, self.parse);
        let share = if read + parse > 0.0 { read / (read + parse) } else { 1.0 };
        SurveyTimes { walk, load, read: elapsed * share, parse: elapsed * (1.0 - share), graph: 0.0 }
    }
}

impl Sum for ThreadTimes {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self { read: sum.read + part.read, parse: sum.parse + part.parse })
    }
}
