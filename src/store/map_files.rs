//! The files of a map store: segments of the index with the keys of their contents; trees, which map the files of a root to records;
//! ranks of a graph; token counts of lines in maps; the commit history; and the status of the work tree.

use super::StoreError;
use super::sealed::{self, Sealed, Section, halves, wide};
use rhumb_index::repo_map::{
    GraphRanks, History, NameTable, PastCommit, RecordId, SEGMENT_LAYOUT, Segment, SegmentTables,
};
use rhumb_tokens::LineCount;
use rhumb_workspace::git::{ComparedFile, WorkTreeStatus};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Kinds from this one on are segments, by the version of their tables.
const SEGMENT_KIND: u32 = 100 + SEGMENT_LAYOUT;

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
}

impl StoredSegment {
    /// A segment that is not stored yet, with a key for each record.
    pub fn new(segment: Segment, keys: Vec<ContentKey>) -> Self {
        Self { keys: Arc::new(keys), segment: Arc::new(segment), stored: false }
    }

    /// The id: segments with the same keys are equal.
    pub(super) fn id(&self) -> u64 {
        xxh3_64(bytemuck::cast_slice(&key_words(&self.keys)))
    }

    /// Writes the segment with these terms to `path`.
    pub(super) fn write(&self, path: &Path, terms: Section<'_>) -> Result<(), StoreError> {
        let SegmentTables { names, records, definitions, references, imports, lines } = self.segment.tables();
        let sections = vec![
            // The terms come first, so that they are freed early: a cold map needs the memory for its graph.
            terms,
            key_words(&self.keys).into(),
            names.text.as_str().into(),
            names.ends.as_slice().into(),
            names.slots.as_slice().into(),
            records.as_flattened().into(),
            definitions.as_flattened().into(),
            references.as_flattened().into(),
            imports.as_slice().into(),
            lines.as_str().into(),
        ];
        write_file(path, SEGMENT_KIND, sections)
    }

    /// Reads the segment at `path`, with or without its terms; `None` if it is damaged or from another version.
    pub(super) fn read(path: &Path, with_terms: bool) -> Option<Self> {
        let mut file = Sealed::open(path, SEGMENT_KIND)?;
        let keys: Vec<ContentKey> = file.rows(1)?.iter().map(key).collect();
        let names = NameTable { text: file.text(2)?, ends: file.words(3)?, slots: file.words(4)? };
        let (records, definitions) = (file.rows(5)?, file.rows(6)?);
        let (references, imports, lines) = (file.rows(7)?, file.words(8)?, file.text(9)?);
        let segment = Segment::new(SegmentTables { names, records, definitions, references, imports, lines });
        if with_terms {
            segment.set_terms(file.words(0)?);
        }
        (keys.len() == segment.len()).then(|| Self { keys: Arc::new(keys), segment: Arc::new(segment), stored: true })
    }
}

fn key_words(keys: &[ContentKey]) -> Vec<u32> {
    keys.iter().flat_map(|key| [halves(key.0 as u64), halves((key.0 >> 64) as u64)]).flatten().collect()
}

fn key(words: &[u32; 4]) -> ContentKey {
    ContentKey(u128::from(wide(words)) | u128::from(wide(&words[2..])) << 64)
}

const TREE_KIND: u32 = 2;
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
        write_file(path, TREE_KIND, vec![words.into(), text.as_str().into()])
    }

    /// Reads the tree at `path`; `None` if it is damaged.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut file = Sealed::open(path, TREE_KIND)?;
        let (words, text) = (file.words(0)?, file.text(1)?);
        let (count, rest) = words.split_first()?;
        let (segments, files) = rest.split_at_checked((*count as usize).checked_mul(2)?)?;
        let mut pieces = Pieces { text: &text, start: 0 };
        let files = files.as_chunks::<FILE_WORDS>().0.iter().map(|&[end, low, high, segment, record]| {
            let path = pieces.until(end)?;
            let record = (segment != NONE).then_some(RecordId { segment, record });
            Some(KnownFile { path, stamp: wide(&[low, high]), record })
        });
        let files = files.collect::<Option<Vec<KnownFile>>>()?;
        Some(Self { segments: segments.as_chunks::<2>().0.iter().map(|id| wide(id)).collect(), files })
    }
}

const COUNTS_KIND: u32 = 3;

pub(super) fn write_counts(path: &Path, lines: &[LineCount]) -> Result<(), StoreError> {
    let row = |line: &LineCount| {
        let [low, high] = halves(line.hash);
        [low, high, u32::from(line.tokens[0]) | u32::from(line.tokens[1]) << 16]
    };
    let words: Vec<u32> = lines.iter().flat_map(row).collect();
    write_file(path, COUNTS_KIND, vec![words.into()])
}

/// Reads the counts at `path`; none if the file is missing or damaged.
pub(super) fn read_counts(path: &Path) -> Vec<LineCount> {
    let words = Sealed::open(path, COUNTS_KIND).and_then(|mut file| file.words(0)).unwrap_or_default();
    let line =
        |row: &[u32; 3]| LineCount { hash: wide(row), tokens: [(row[2] & 0xffff) as u16, (row[2] >> 16) as u16] };
    words.as_chunks::<3>().0.iter().map(line).collect()
}

const HISTORY_KIND: u32 = 4;
/// The fields of a commit: the end of its subject, the number of its paths, and compared entries.
const COMMIT_WORDS: usize = 3;

/// Writes a history to `path`: the ends of all texts as words; ids, subjects and paths as text.
pub(super) fn write_history(path: &Path, history: &History) -> Result<(), StoreError> {
    let (mut text, mut words) = (history.head.clone(), Vec::new());
    let end = |text: &String| u32::try_from(text.len()).unwrap_or(u32::MAX);
    words.push(end(&text));
    for commit in &history.commits {
        text.push_str(&commit.id);
        words.push(end(&text));
        text.push_str(&commit.subject);
        words.extend([end(&text), u32::try_from(commit.paths.len()).unwrap_or(u32::MAX), commit.compared]);
        for path in &commit.paths {
            text.push_str(path);
            words.push(end(&text));
        }
    }
    write_file(path, HISTORY_KIND, vec![words.into(), text.as_str().into()])
}

/// Reads the history at `path`; empty if the file is missing or damaged.
pub(super) fn read_history(path: &Path) -> History {
    let Some(mut file) = Sealed::open(path, HISTORY_KIND) else { return History::default() };
    let parts = file.words(0).zip(file.text(1));
    parts.and_then(|(words, text)| decode_history(&words, &text)).unwrap_or_default()
}

fn decode_history(words: &[u32], text: &str) -> Option<History> {
    let mut rest = words;
    let mut pieces = Pieces { text, start: 0 };
    let mut piece = |end| pieces.until(end);
    let (&head, tail) = rest.split_first()?;
    let mut history = History { head: piece(head)?, commits: Vec::new() };
    rest = tail;
    while let Some((&id, tail)) = rest.split_first() {
        let ([subject, paths, compared], tail) = tail.split_first_chunk::<COMMIT_WORDS>()?;
        let (ends, tail) = tail.split_at_checked(*paths as usize)?;
        let (id, subject) = (piece(id)?, piece(*subject)?);
        let paths = ends.iter().map(|&end| piece(end)).collect::<Option<Vec<String>>>()?;
        history.commits.push(PastCommit { id, subject, paths, compared: *compared });
        rest = tail;
    }
    Some(history)
}

/// Kinds from this one on are ranks, by the version of the segments that they were computed from.
const RANKS_KIND: u32 = 1_000 + SEGMENT_LAYOUT;

/// Writes the ranks of a graph with the key of the graph to `path`.
pub(super) fn write_ranks(path: &Path, key: u64, ranks: &GraphRanks) -> Result<(), StoreError> {
    let words: Vec<u32> = [halves(key), halves(ranks.references)].concat();
    let lists = [&ranks.files, &ranks.symbols, &ranks.prominence].map(|list| Section::from(list.as_slice()));
    write_file(path, RANKS_KIND, std::iter::once(words.into()).chain(lists).collect())
}

/// Reads the ranks at `path`; `None` if the file is missing or damaged, or has those of another graph.
pub(super) fn read_ranks(path: &Path, key: u64) -> Option<GraphRanks> {
    let mut file = Sealed::open(path, RANKS_KIND)?;
    let words = file.words(0)?;
    let (stored_key, references) = (wide(&words), wide(words.get(2..)?));
    (stored_key == key).then_some(())?;
    Some(GraphRanks { references, files: file.rows(1)?, symbols: file.rows(2)?, prominence: file.rows(3)? })
}

const STATUS_KIND: u32 = 5;
/// The fields of a compared file: the end of its path, its stamp in halves, and whether it is edited.
const COMPARED_WORDS: usize = 4;

/// Writes a status to `path`: the ends of all texts as words; the checksum, the tree and the paths as text.
pub(super) fn write_status(path: &Path, status: &WorkTreeStatus) -> Result<(), StoreError> {
    let (mut text, mut words) = (String::new(), Vec::new());
    let mut push = |piece: &str| {
        text.push_str(piece);
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    };
    words.extend([push(&status.index), push(&status.head)]);
    words.push(u32::try_from(status.staged.len()).unwrap_or(u32::MAX));
    words.extend(status.staged.iter().map(|path| push(path)));
    for file in &status.compared {
        let [low, high] = halves(file.stamp);
        words.extend([push(&file.path), low, high, u32::from(file.edited)]);
    }
    write_file(path, STATUS_KIND, vec![words.into(), text.as_str().into()])
}

/// Reads the status at `path`; empty if the file is missing or damaged.
pub(super) fn read_status(path: &Path) -> WorkTreeStatus {
    let Some(mut file) = Sealed::open(path, STATUS_KIND) else { return WorkTreeStatus::default() };
    let parts = file.words(0).zip(file.text(1));
    parts.and_then(|(words, text)| decode_status(&words, &text)).unwrap_or_default()
}

fn decode_status(words: &[u32], text: &str) -> Option<WorkTreeStatus> {
    let mut pieces = Pieces { text, start: 0 };
    let mut piece = |end| pieces.until(end);
    let ([index, head, staged], rest) = words.split_first_chunk::<3>()?;
    let (staged, compared) = rest.split_at_checked(*staged as usize)?;
    Some(WorkTreeStatus {
        index: piece(*index)?,
        head: piece(*head)?,
        staged: staged.iter().map(|&end| piece(end)).collect::<Option<_>>()?,
        compared: compared
            .as_chunks::<COMPARED_WORDS>()
            .0
            .iter()
            .map(|&[end, low, high, edited]| {
                Some(ComparedFile { path: piece(end)?, stamp: wide(&[low, high]), edited: edited != 0 })
            })
            .collect::<Option<_>>()?,
    })
}

/// A text whose pieces stand one after the other, without separators.
struct Pieces<'text> {
    text: &'text str,
    start: usize,
}

impl Pieces<'_> {
    /// The next piece, up to the byte `end`; `None` if the text has no such piece.
    fn until(&mut self, end: u32) -> Option<String> {
        let piece = self.text.get(self.start..end as usize)?.to_owned();
        self.start = end as usize;
        Some(piece)
    }
}

fn write_file(path: &Path, kind: u32, sections: Vec<Section<'_>>) -> Result<(), StoreError> {
    sealed::write(path, kind, sections).map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_history_comes_back(commits in prop::collection::vec(("[a-f0-9]{0,8}", "\\PC{0,12}", prop::collection::vec("[a-z/é]{0,6}", 0..4), any::<u32>()), 0..6)) {
            let commit = |(id, subject, paths, compared)| PastCommit { id, subject, paths, compared };
            let history = History { head: "abc".into(), commits: commits.into_iter().map(commit).collect() };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("history");
            write_history(&path, &history).unwrap();
            prop_assert_eq!(read_history(&path), history);
        }

        #[test]
        fn ranks_come_back_for_their_graph_only(key in any::<u64>(), references in any::<u64>(), lists in prop::array::uniform3(prop::collection::vec(0.0f64..1.0, 0..5))) {
            let [files, symbols, prominence] = lists;
            let ranks = GraphRanks { references, files, symbols, prominence };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ranks");
            write_ranks(&path, key, &ranks).unwrap();
            prop_assert_eq!(read_ranks(&path, key), Some(ranks));
            prop_assert_eq!(read_ranks(&path, key ^ 1), None);
        }

        #[test]
        fn a_status_comes_back(index in "[a-f0-9]{0,8}", head in "[a-f0-9]{0,8}", staged in prop::collection::vec("[a-z/é]{0,6}", 0..4), compared in prop::collection::vec(("[a-z/é]{0,6}", any::<u64>(), any::<bool>()), 0..4)) {
            let compared = compared.into_iter().map(|(path, stamp, edited)| ComparedFile { path, stamp, edited }).collect();
            let status = WorkTreeStatus { index, head, staged, compared };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("status");
            write_status(&path, &status).unwrap();
            prop_assert_eq!(read_status(&path), status);
        }
    }
}
