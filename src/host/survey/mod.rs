//! The survey of a repository: all files, and the index of those with text. Runs off the draw path, reports progress, and reads only
//! files that changed since the last survey of this or another process.

mod extract;
mod history;
mod records;
pub(super) mod refresh;
mod sketch;
#[cfg(test)]
mod tests;

use self::extract::{ByCtags, ChunkRecords, ThreadTimes};
use self::records::{IndexBuilder, KnownFiles};
use self::sketch::Sketch;
use crate::clock::Stopwatch;
use crate::host::lock;
use crate::store::{ContentKey, KnownFile, MapStore, StoreError, StoredSegment};
use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::{GraphRanks, History, Ranking, RecordId, TagGraph, Weights};
use rhumb_session::Failure;
use rhumb_workspace::git::{Repo, WorkTreeStatus};
use rhumb_workspace::{DiskChanges, FileEntry, Root, RootKind};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::Xxh3;

/// Number of files that a thread reads at once: enough that joining costs little, few enough that all threads end together.
const CHUNK: usize = 16;

/// Number of steps in which records replace a sketch.
const SKETCH_STEPS: usize = 4;

/// Maximum number of words of terms that stay in memory while the graph is built.
const MAX_SPARE_TERMS: usize = 16 << 20;

/// Maximum number of segments of an index. More are merged into one.
const MAX_SEGMENTS: usize = 8;

/// The result of a survey.
#[derive(Debug, Default)]
pub struct Survey {
    /// All files, sorted by path.
    pub files: Vec<FileEntry>,
    /// The tag graph, with the index.
    pub graph: Arc<TagGraph>,
    /// The commit history; empty if it was not requested, outside of git, or if it cannot be read.
    pub history: Arc<History>,
    /// Files with uncommitted changes; none outside of git.
    pub edited: Vec<String>,
    /// Number of files that were skipped because their names are not valid UTF-8.
    pub skipped: usize,
    /// Rule files such as `.gitignore` that were not read, so that their rules have no effect.
    pub unread_rules: Vec<String>,
    /// Why the `.git` folder was not opened: it contains a pipe or a device.
    pub git_refused: Option<Failure>,
    /// Whether the root is a bare repository, which has no files.
    pub bare: bool,
    /// Whether the repository is so large that the index has only the words of names, paths and comments.
    pub heads_only: bool,
    /// Total size of the indexed files in bytes.
    pub bytes: u64,
    /// Number of files that were read, because no earlier survey knew their content.
    pub read: usize,
    /// Number of files that were not read because the user stopped the survey early.
    pub unread: usize,
    /// Whether stored data was unusable, so that everything was read again.
    pub rebuilt: bool,
    /// The durations of the phases.
    pub ms: SurveyTimes,
    segments: Vec<StoredSegment>,
    known: Vec<KnownFile>,
    /// Whether the index must be stored.
    unsaved: bool,
    /// Why the index could not be stored while the graph was built.
    save_error: Option<StoreError>,
    /// Identifies the graph, whatever segments its records are in.
    graph_key: u64,
    /// Whether the stored tree has exactly these files, now or after [`Survey::save`].
    is_stored: bool,
    /// Number of rank lists of the graph that are stored.
    stored_rank_lists: usize,
    new_history: bool,
    status: WorkTreeStatus,
    new_status: bool,
}

/// The durations of the phases in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub struct SurveyTimes {
    /// Listing the files.
    pub walk: f64,
    /// Loading the store.
    pub load: f64,
    /// Reading files. Reading and parsing overlap on several threads; this is the share of reading.
    pub read: f64,
    /// Parsing files and indexing their words.
    pub parse: f64,
    /// Joining records and building the graph.
    pub graph: f64,
}

/// The input of a survey.
#[derive(Debug, Clone, Copy, Default)]
pub struct SurveyStart<'s> {
    /// The last survey of this process.
    pub before: Option<&'s Survey>,
    /// The store of earlier processes.
    pub store: Option<&'s MapStore>,
    /// Changes on disk since that survey, if they are watched. Without them all files are checked.
    pub changed: Option<&'s DiskChanges>,
    /// Whether the words of the files and the history are needed. A map without a request does not need them.
    pub with_terms: bool,
    /// Whether to make a provisional map first.
    pub provisional: bool,
    /// Set to stop early: from then on, files that no survey has read are skipped.
    pub stop_reading: Option<&'s AtomicBool>,
}

/// Progress of a survey.
#[derive(Debug, Clone)]
pub enum SurveyStep<'a> {
    /// Number of files found.
    Listing(usize),
    /// All files, sorted by path.
    Listed(&'a [FileEntry]),
    /// Number of checked files, and of all files.
    Reading(usize, usize),
    /// A provisional graph, in which some or all files are indexed by words only.
    Provisional(Arc<TagGraph>),
}

impl Survey {
    /// The survey without the record of a file, so that the next one reads it again.
    pub fn without(&self, path: &str) -> Self {
        let mut known = self.known.clone();
        let removed = known.iter_mut().find(|file| file.path == path);
        let record = removed.and_then(|file| {
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

    /// Why the index could not be stored: a survey without terms stores it itself.
    pub fn save_error(&self) -> Option<&StoreError> {
        self.save_error.as_ref()
    }

    /// Stores the index, the history and the status of the work tree for other processes, unless they are stored already.
    pub fn save(&self, store: &MapStore) -> Result<(), StoreError> {
        if self.new_history {
            store.save_history(&self.history)?;
        }
        if self.new_status {
            store.save_status(&self.status)?;
        }
        if self.unsaved { store.save(&self.segments, None, self.known.clone()) } else { Ok(()) }
    }

    /// Computes and stores the ranks of the graph that are not stored.
    pub fn complete_ranks(&self, store: &MapStore) -> Result<(), StoreError> {
        if self.is_stored && self.stored_rank_lists < GraphRanks::LISTS {
            Ranking::compute_ranks(&self.graph, &Weights::default());
        }
        self.graph.release_votes();
        self.save_ranks(store)
    }

    /// Stores the ranks that the graph has computed, unless they are stored already or the tree is not.
    pub fn save_ranks(&self, store: &MapStore) -> Result<(), StoreError> {
        let is_new = self.is_stored && self.graph.rank_lists() > self.stored_rank_lists;
        if is_new { store.save_ranks(self.graph_key, &self.graph.ranks()) } else { Ok(()) }
    }
}

/// Surveys the repository. `progress` is called for each step, from any thread. Returns `None` if cancelled.
pub fn survey(
    root: &Root,
    start: SurveyStart<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Option<Survey> {
    let clock = Stopwatch::start();
    extract::limit_parse_time();
    let (repo, git_refused) = history::repository(root);
    let repo = repo.as_ref();
    let listing = listing((root, repo), start, cancel, progress);
    let walk = clock.ms();
    let known = KnownFiles::new(start, extract::depth_of(&listing.files));
    let load = clock.ms() - walk;
    let (history, new_history) =
        if start.with_terms { history::history(repo, start, cancel) } else { Default::default() };
    let (mut builder, spent, sketch) = index_files(root, &listing.files, &known, start, cancel, progress)?;
    let times = spent.shares(walk, load, clock.ms() - walk - load);
    let join_ms = clock.ms();
    let (list, mut unsaved) = builder.known_files(&listing.files, &known);
    let is_stored = unsaved || known.differences(&list) == 0;
    let weights = Weights::default();
    let graph_key = graph_key(&list, &builder.segments, &weights);
    let spare_terms = std::mem::take(&mut builder.spare_terms);
    let has_many_terms = spare_terms.as_ref().is_some_and(|terms| terms.len() > MAX_SPARE_TERMS);
    let save = || {
        // A map without terms does not use them, and they are a third of the index.
        let store = start.store.filter(|_| unsaved && !start.with_terms)?;
        Some(store.save(&builder.segments, spare_terms, list.clone()))
    };
    let make_graph = || {
        // Without changes the graph stays the same, and cached maps of it stay valid.
        let same = |before: &&Survey| before.known == list && before.history.head == history.head;
        if let Some(before) = start.before.filter(same) {
            return (Arc::clone(&before.graph), before.stored_rank_lists);
        }
        let index = Arc::new(builder.index(&listing.files, sketch.as_ref()));
        let graph = TagGraph::new(index, &history, &weights);
        if let Some(ranks) = start.store.filter(|_| is_stored).and_then(|store| store.ranks(graph_key)) {
            graph.set_ranks(ranks);
        }
        let stored = graph.rank_lists();
        (Arc::new(graph), stored)
    };
    let (saved, (graph, stored_rank_lists)) =
        if has_many_terms { (save(), make_graph()) } else { rayon::join(save, make_graph) };
    unsaved &= saved.is_none();
    let index = graph.index();
    let bytes = (0..index.len() as u32).filter_map(|file| index.record(file)).map(|record| u64::from(record.bytes()));
    let bytes = bytes.sum();
    let (edited, status, new_status) = history::edited(repo, &listing.files, start);
    Some(Survey {
        graph,
        skipped: listing.skipped,
        unread_rules: listing.unread_rules,
        git_refused,
        bare: root.kind() == RootKind::Bare,
        bytes,
        read: builder.read,
        unread: builder.unread.len(),
        rebuilt: known.rebuilt,
        heads_only: known.depth == Depth::Headers,
        ms: SurveyTimes { graph: clock.ms() - join_ms, ..times },
        segments: builder.segments,
        known: list,
        edited,
        status,
        unsaved,
        graph_key,
        is_stored,
        stored_rank_lists,
        save_error: saved.and_then(Result::err),
        new_history,
        new_status,
        history,
        files: listing.files,
    })
}

/// Finds or makes the records of all files. In an unknown repository a sketch is made first, which is replaced by records step by
/// step. Files that are not read keep their sketch.
fn index_files(
    root: &Root,
    files: &[FileEntry],
    known: &KnownFiles,
    start: SurveyStart<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Option<(IndexBuilder, ThreadTimes, Option<Sketch>)> {
    let sketch = (start.provisional && known.is_empty()).then(|| sketch::sketch(root, files, cancel)).flatten();
    let parts = if sketch.is_some() { SKETCH_STEPS } else { 1 };
    let by_ctags = extract::by_ctags(root, files, known, cancel);
    let mut builder = IndexBuilder::new(known);
    let mut times = ThreadTimes::default();
    for step in files.chunks(files.len().div_ceil(parts).max(1)) {
        if let Some(sketch) = &sketch {
            let index = Arc::new(builder.index(files, Some(sketch)));
            progress(SurveyStep::Provisional(Arc::new(TagGraph::new(index, &History::default(), &Weights::default()))));
        }
        let mut new_segment = builder.begin_segment(step, known);
        let total = files.len();
        read_in_order(
            step.chunks(CHUNK),
            |chunk| read(root, chunk, (known, &by_ctags), (cancel, start.stop_reading)),
            |part| {
                times = [times, part.times].into_iter().sum();
                builder.add(part, &mut new_segment);
                progress(SurveyStep::Reading(builder.records.len(), total));
            },
        );
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        builder.end_segment(new_segment, start.with_terms);
    }
    if cancel.load(Ordering::Relaxed) {
        return None;
    }
    // The segments of the steps are merged.
    builder.merge_segments(if sketch.is_some() { 1 } else { MAX_SEGMENTS });
    let sketch = sketch.filter(|_| !builder.unread.is_empty());
    Some((builder, times, sketch))
}

/// A hash of everything that the ranks of a graph depend on: paths, contents and weights.
fn graph_key(files: &[KnownFile], segments: &[StoredSegment], weights: &Weights) -> u64 {
    let mut hash = Xxh3::new();
    for file in files {
        let key = |at: RecordId| segments.get(at.segment as usize)?.keys.get(at.record as usize).copied();
        hash.update(file.path.as_bytes());
        hash.update(&[0]);
        hash.update(&file.record.and_then(key).unwrap_or_default().0.to_le_bytes());
    }
    hash.update(format!("{weights:?}").as_bytes());
    hash.digest()
}

struct Listed {
    files: Vec<FileEntry>,
    skipped: usize,
    unread_rules: Vec<String>,
}

/// Lists the files of the root; if changes are known, updates the last list.
fn listing(
    (root, repo): (&Root, Option<&Repo>),
    start: SurveyStart<'_>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Listed {
    if let Some((before, changed)) = start.before.zip(start.changed).filter(|(_, changed)| !changed.listing) {
        let update = |entry: &FileEntry| match changed.files.contains(&entry.path) {
            true => rhumb_workspace::refresh_entry(root, entry),
            false => Some(entry.clone()),
        };
        return Listed {
            files: before.files.iter().filter_map(update).collect(),
            skipped: before.skipped,
            unread_rules: before.unread_rules.clone(),
        };
    }
    let mut listing = rhumb_workspace::files(root, cancel, &mut |found| progress(SurveyStep::Listing(found)));
    let tracked = history::hidden_but_tracked(root, repo, &listing.files, cancel);
    if !tracked.is_empty() {
        listing.files.extend(tracked);
        listing.files.sort();
    }
    progress(SurveyStep::Listed(&listing.files));
    Listed { files: listing.files, skipped: listing.skipped.len(), unread_rules: listing.unread_rules }
}

/// Finds the records of files, and reads unknown files. If cancelled, it ends early.
fn read(
    root: &Root,
    files: &[FileEntry],
    (known, by_ctags): (&KnownFiles, &ByCtags),
    (cancel, stop_reading): (&AtomicBool, Option<&AtomicBool>),
) -> ChunkRecords {
    let mut part = ChunkRecords::default();
    for entry in files {
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        if stop_reading.is_some_and(|stop| stop.load(Ordering::Relaxed)) && known.was_never_read(entry) {
            part.skip();
        } else {
            part.add(root, entry, known, by_ctags);
        }
    }
    part
}

/// Calls `read` for each item on all threads, and `join` with the results in the order of the items. A thread whose result has to wait
/// for an earlier one goes on with the next item.
fn read_in_order<I: Send, T: Send>(
    items: impl Iterator<Item = I> + Send,
    read: impl Fn(I) -> T + Sync,
    join: impl FnMut(T) + Send,
) {
    struct Results<T, F> {
        waiting: BTreeMap<usize, T>,
        next: usize,
        join: F,
    }
    let items = Mutex::new(items.enumerate());
    let results = Mutex::new(Results { waiting: BTreeMap::new(), next: 0, join });
    let work = || {
        while let Some((at, item)) = { lock(&items).next() } {
            let result = read(item);
            let results = &mut *lock(&results);
            results.waiting.insert(at, result);
            while let Some(result) = results.waiting.remove(&results.next) {
                (results.join)(result);
                results.next += 1;
            }
        }
    };
    rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work())));
}
