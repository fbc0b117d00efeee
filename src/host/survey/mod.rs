//! The survey of a repository: every file, and the index of those that say anything. Runs off the draw path, with progress,
//! and reads again only what changed since the survey before, in this process or another.

mod comments;
mod extract;
mod history;
mod join;
mod sketch;
mod stored;
pub(super) mod surveying;
#[cfg(test)]
mod tests;
mod times;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

pub use times::SurveyTimes;

use self::extract::{ByCtags, ChunkRecords};
use self::join::IndexBuilder;
use self::sketch::Sketch;
use self::stored::KnownFiles;
use self::times::ThreadTimes;
use crate::clock::Stopwatch;
use crate::store::{ContentKey, KnownFile, MapStore, StoredSegment};
use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::{History, TagGraph, Weights};
use rhumb_session::Failure;
use rhumb_workspace::{DiskChanges, FileEntry, Root, RootKind};

/// Files that are read by one thread in a row, and whose records share a segment until all are joined.
const CHUNK: usize = 64;

/// Steps in which a sketch gives way to what is read.
const STEPS: usize = 4;

/// Files whose records are held apart before they are joined: enough to keep all threads busy, few enough that memory does
/// not hold everything twice.
const BATCH: usize = 6 * CHUNK;

/// Most segments that an index is spread over; then they are made one.
const MAX_SEGMENTS: usize = 8;

/// Everything that the map is made from.
#[derive(Debug, Default)]
pub struct Survey {
    /// Every file, sorted by path.
    pub files: Vec<FileEntry>,
    /// The graph of their tags, with the index.
    pub graph: Arc<TagGraph>,
    /// What past commits changed; empty where nobody asked, outside of git, and where the past cannot be read.
    pub history: Arc<History>,
    /// Files with changes that are not committed; none outside of git.
    pub edited: Vec<String>,
    /// Names that cannot be shown as text, and were left out.
    pub skipped: usize,
    /// Rule files such as `.gitignore` that were refused, so that they hide nothing.
    pub unread_rules: Vec<String>,
    /// Why git's folder was not opened, if a pipe or a device is in it.
    pub git_refused: Option<Failure>,
    /// Whether the root is a bare repository, which has no files to edit.
    pub bare: bool,
    /// Whether the repository is so large that the index has no words but those of names, paths and comments.
    pub heads_only: bool,
    /// Bytes of the files that the index knows.
    pub bytes: u64,
    /// How many files were read: those that no earlier survey knew as they are.
    pub read: usize,
    /// How many files were left out because what was read was enough.
    pub unread: usize,
    /// Whether the store held something that was of no use, so that everything was read again.
    pub rebuilt: bool,
    /// Milliseconds of the phases.
    pub ms: SurveyTimes,
    /// The segments of the index, with keys.
    segments: Vec<StoredSegment>,
    /// What the next survey can rely on.
    known: Vec<KnownFile>,
    /// Whether the store does not have all of this yet.
    unsaved: bool,
    /// Whether it does not have the history.
    new_history: bool,
}

/// What a survey starts from.
#[derive(Debug, Clone, Copy, Default)]
pub struct SurveyStart<'s> {
    /// The survey before, in this process.
    pub before: Option<&'s Survey>,
    /// Where earlier processes left what they knew.
    pub store: Option<&'s MapStore>,
    /// What changed on disk since that survey, where something watches it; without it everything is looked over.
    pub changed: Option<&'s DiskChanges>,
    /// Whether the words of the files and the past will be needed: a map without a request or a chat does without.
    pub with_terms: bool,
    /// Whether someone waits for a first map to look at.
    pub provisional: bool,
    /// Set when what is read so far shall be enough: files that no survey has read are left out from then on.
    pub enough: Option<&'s AtomicBool>,
}

/// How far a survey is.
#[derive(Debug, Clone)]
pub enum SurveyStep<'a> {
    /// So many files found.
    Listing(usize),
    /// All files found, sorted by path.
    Listed(&'a [FileEntry]),
    /// So many files looked at, of so many.
    Reading(usize, usize),
    /// What can be shown already, though some or all of it is a guess by words alone.
    Provisional(Arc<TagGraph>),
}

impl Survey {
    /// The same survey as if the file at `path` had never been read.
    pub fn without(&self, path: &str) -> Self {
        let mut known = self.known.clone();
        let forgotten = known.iter_mut().find(|file| file.path == path);
        let record = forgotten.and_then(|file| {
            file.stamp = 0;
            file.record.take()
        });
        let mut segments = self.segments.clone();
        if let Some((at, stored)) = record.and_then(|at| Some((at, segments.get_mut(at.segment as usize)?))) {
            let mut keys = stored.keys.to_vec();
            keys.splice(at.record as usize..=at.record as usize, [ContentKey::default()]);
            stored.keys = Arc::new(keys);
        }
        Self { known, segments, files: self.files.clone(), graph: Arc::clone(&self.graph), ..Self::default() }
    }

    /// Lets go of what was held for the store alone.
    pub fn drop_spare_terms(&mut self) {
        self.segments.iter_mut().for_each(|stored| stored.spare_terms = None);
    }

    /// Keeps what was learnt for the next process. Does nothing when the store has it already.
    pub fn save(&self, store: &MapStore) -> Result<(), crate::store::StoreError> {
        if self.new_history {
            store.save_history(&self.history)?;
        }
        if self.unsaved { store.save(&self.segments, self.known.clone()) } else { Ok(()) }
    }
}

/// Surveys the repository. `progress` is told of each step, from any thread; `None` when cancelled.
pub fn survey(
    root: &Root,
    start: SurveyStart<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Option<Survey> {
    let clock = Stopwatch::start();
    extract::limit_parse_time();
    let listing = listing(root, start, cancel, progress);
    let walk = clock.ms();
    let known = KnownFiles::new(start, extract::depth_of(&listing.files));
    let load = clock.ms() - walk;
    let (history, new_history) =
        if start.with_terms { history::history(root, start, cancel) } else { Default::default() };
    let (joined, spent, sketch) = look(root, &listing.files, &known, start, cancel, progress)?;
    let times = spent.times(walk, load, clock.ms() - walk - load);
    let join_ms = clock.ms();
    let (list, unsaved) = joined.known_files(&listing.files, &known);
    // Where nothing changed after all, the graph stays, and with it every map that was made of it.
    let same = |before: &&Survey| before.known == list && before.history.head == history.head;
    let graph = match start.before.filter(same) {
        Some(before) => Arc::clone(&before.graph),
        None => {
            let index = Arc::new(joined.index(&listing.files, sketch.as_ref()));
            Arc::new(TagGraph::new(index, &history, &Weights::default()))
        }
    };
    let index = graph.index();
    let bytes = (0..index.len() as u32).filter_map(|file| index.record(file)).map(|record| u64::from(record.bytes()));
    let bytes = bytes.sum();
    Some(Survey {
        graph,
        skipped: listing.skipped,
        unread_rules: listing.unread_rules,
        git_refused: history::refused(root),
        bare: root.kind() == RootKind::Bare,
        bytes,
        read: joined.read,
        unread: joined.unread.len(),
        rebuilt: known.rebuilt,
        heads_only: known.depth == Depth::Headers,
        ms: SurveyTimes { graph: clock.ms() - join_ms, ..times },
        segments: joined.segments,
        known: list,
        edited: history::edited(root, &listing.files),
        unsaved,
        new_history,
        history,
        files: listing.files,
    })
}

/// Looks at all files. Of a repository that nobody knows yet, and that someone waits for, there is a sketch first, which
/// gives way to the records part by part. What is never read keeps what was sketched of it.
fn look(
    root: &Root,
    files: &[FileEntry],
    known: &KnownFiles,
    start: SurveyStart<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Option<(IndexBuilder, ThreadTimes, Option<Sketch>)> {
    let sketch = (start.provisional && known.is_empty()).then(|| sketch::sketch(root, files, cancel)).flatten();
    let parts = if sketch.is_some() { STEPS } else { 1 };
    let by_ctags = extract::by_ctags(root, files, known, cancel);
    let mut joined = IndexBuilder::new(known);
    let mut spent = ThreadTimes::default();
    for step in files.chunks(files.len().div_ceil(parts).max(1)) {
        if let Some(sketch) = &sketch {
            let index = Arc::new(joined.index(files, Some(sketch)));
            progress(SurveyStep::Provisional(Arc::new(TagGraph::new(index, &History::default(), &Weights::default()))));
        }
        let mut fresh = joined.begin();
        for batch in step.chunks(BATCH) {
            let done = joined.records.len();
            let read =
                read_all(root, batch, (known, &by_ctags), (done, files.len()), (cancel, start.enough), progress)?;
            spent = [spent, read.iter().map(|part| part.spent).sum()].into_iter().sum();
            joined.add(read, &mut fresh);
        }
        joined.end(fresh, start.with_terms);
    }
    if cancel.load(Ordering::Relaxed) {
        return None;
    }
    // The segments of the steps were many only to show something meanwhile.
    joined.settle(if sketch.is_some() { 1 } else { MAX_SEGMENTS });
    let sketch = sketch.filter(|_| !joined.unread.is_empty());
    Some((joined, spent, sketch))
}

/// The files, how many names were left out, and which rule files were not read.
struct Listed {
    files: Vec<FileEntry>,
    skipped: usize,
    unread_rules: Vec<String>,
}

/// Walks the root, or takes the list of the survey before with a new look at the files that changed.
fn listing(
    root: &Root,
    start: SurveyStart<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Listed {
    if let Some((before, changed)) = start.before.zip(start.changed).filter(|(_, changed)| !changed.listing) {
        let look = |entry: &FileEntry| match changed.files.contains(&entry.path) {
            true => rhumb_workspace::refresh_entry(root, entry),
            false => Some(entry.clone()),
        };
        return Listed {
            files: before.files.iter().filter_map(look).collect(),
            skipped: before.skipped,
            unread_rules: before.unread_rules.clone(),
        };
    }
    let mut listing = rhumb_workspace::files(root, cancel, &mut |found| progress(SurveyStep::Listing(found)));
    let tracked = history::hidden_but_tracked(root, &listing.files, cancel);
    if !tracked.is_empty() {
        listing.files.extend(tracked);
        listing.files.sort();
    }
    progress(SurveyStep::Listed(&listing.files));
    Listed { files: listing.files, skipped: listing.skipped.len(), unread_rules: listing.unread_rules }
}

/// Looks at every file, and reads those that are not known.
fn read_all(
    root: &Root,
    files: &[FileEntry],
    (known, by_ctags): (&KnownFiles, &ByCtags),
    (before, total): (usize, usize),
    (cancel, enough): (&AtomicBool, Option<&AtomicBool>),
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Option<Vec<ChunkRecords>> {
    let done = AtomicUsize::new(before);
    let part = |chunk: &[FileEntry]| {
        let mut part = ChunkRecords::default();
        for entry in chunk {
            if cancel.load(Ordering::Relaxed) {
                break;
            }
            if enough.is_some_and(|enough| enough.load(Ordering::Relaxed)) && known.may_leave(entry) {
                part.leave();
            } else {
                part.take(root, entry, known, by_ctags);
            }
        }
        progress(SurveyStep::Reading(done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len(), total));
        part
    };
    let parts = files.par_chunks(CHUNK).map(part).collect();
    (!cancel.load(Ordering::Relaxed)).then_some(parts)
}
