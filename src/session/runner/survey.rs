//! The survey of a repository: every file, and the tags of those that have any. Runs off the draw path, with progress, and
//! reads again only what changed since the survey before.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::clock::Stopwatch;
use crate::repo_map::{Digest, MapFile};
use crate::syntax::{Language, tags};
use crate::workspace::{self, ContentHash, FileEntry, Root, RootKind};

/// Files above this many bytes are listed but not parsed: they are data or generated, and would cost seconds.
const PARSE_LIMIT: u64 = 1 << 20;

/// Progress is told after so many files.
const PROGRESS_STEP: usize = 64;

/// Everything that the map is made from.
#[derive(Debug, Default)]
pub struct Survey {
    /// Every file, sorted by path.
    pub files: Vec<FileEntry>,
    /// The same files with their tags.
    pub map_files: Vec<MapFile>,
    /// Names that cannot be shown as text, and were left out.
    pub skipped: usize,
    /// Whether the root is a bare repository, which has no files to edit.
    pub bare: bool,
    /// Bytes read.
    pub bytes: u64,
    /// Milliseconds of walking, and of reading and parsing.
    pub ms: SurveyTimes,
    /// Content hashes, to tell what changed.
    hashes: HashMap<String, ContentHash>,
}

/// How long the phases took, in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub struct SurveyTimes {
    /// Listing the files.
    pub walk: f64,
    /// Reading them: their share of the time, since the two overlap on several threads.
    pub read: f64,
    /// Parsing them and digesting their words: the rest of it.
    pub parse: f64,
}

/// How far a survey is.
#[derive(Debug, Clone, Copy)]
pub enum SurveyStep<'a> {
    /// So many files found.
    Listing(usize),
    /// All files found, sorted by path.
    Listed(&'a [FileEntry]),
    /// So many files read, of so many.
    Reading(usize, usize),
}

/// Surveys the repository. `progress` is told of each step, from any thread; `None` when cancelled.
pub fn survey(
    root: &Root,
    before: Option<&Survey>,
    cancel: &AtomicBool,
    progress: &(dyn Fn(SurveyStep<'_>) + Sync),
) -> Option<Survey> {
    let clock = Stopwatch::start();
    let listing = workspace::files(root, cancel, &mut |found| progress(SurveyStep::Listing(found)));
    progress(SurveyStep::Listed(&listing.files));
    let walk = clock.ms();
    let known: HashMap<&str, &MapFile> =
        before.into_iter().flat_map(|survey| &survey.map_files).map(|file| (file.path.as_str(), file)).collect();
    let (done, bytes, total) = (AtomicUsize::new(0), AtomicUsize::new(0), listing.files.len());
    let spent = Spent::default();
    let read: Vec<(MapFile, Option<ContentHash>)> = listing
        .files
        .par_iter()
        .map(|entry| {
            let finished = done.fetch_add(1, Ordering::Relaxed);
            if finished % PROGRESS_STEP == 0 {
                progress(SurveyStep::Reading(finished, total));
            }
            if cancel.load(Ordering::Relaxed) {
                return (named(entry), None);
            }
            let old = before.and_then(|survey| survey.hashes.get(&entry.path)).zip(known.get(entry.path.as_str()));
            let (file, hash, size) = read(root, entry, old.map(|(hash, file)| (*hash, *file)), &spent);
            bytes.fetch_add(size, Ordering::Relaxed);
            (file, hash)
        })
        .collect();
    if cancel.load(Ordering::Relaxed) {
        return None;
    }
    let hashes = read.iter().filter_map(|(file, hash)| Some((file.path.clone(), (*hash)?))).collect();
    Some(Survey {
        files: listing.files,
        map_files: read.into_iter().map(|(file, _)| file).collect(),
        skipped: listing.skipped.len(),
        bare: root.kind() == RootKind::Bare,
        bytes: bytes.into_inner() as u64,
        ms: spent.times(walk, clock.ms() - walk),
        hashes,
    })
}

/// One file with its tags and its digest; those of the survey before if its content is the same. Files that cannot be read
/// as text have none: their name is still worth a line of the map.
fn read(
    root: &Root,
    entry: &FileEntry,
    old: Option<(ContentHash, &MapFile)>,
    spent: &Spent,
) -> (MapFile, Option<ContentHash>, usize) {
    let clock = Stopwatch::start();
    let language = Language::for_path(&entry.path).filter(|_| !entry.secret && entry.bytes <= PARSE_LIMIT);
    let Some((language, snapshot)) = language.and_then(|it| Some((it, workspace::read(root, &entry.path).ok()?)))
    else {
        return (named(entry), None, 0);
    };
    let read = clock.ms();
    let file = match old {
        Some((hash, file)) if hash == snapshot.hash => file.clone(),
        _ => {
            let tags = tags(language, &snapshot.text);
            MapFile {
                path: entry.path.clone(),
                digest: Arc::new(Digest::new(&snapshot.text, &tags)),
                tags: Arc::new(tags),
            }
        }
    };
    spent.add(read, clock.ms() - read);
    (file, Some(snapshot.hash), snapshot.text.len())
}

/// Time that all threads together spent, in microseconds.
#[derive(Debug, Default)]
struct Spent {
    read: AtomicUsize,
    parse: AtomicUsize,
}

impl Spent {
    /// Adds the milliseconds of one file.
    fn add(&self, read: f64, parse: f64) {
        self.read.fetch_add((read * 1_000.0) as usize, Ordering::Relaxed);
        self.parse.fetch_add((parse * 1_000.0) as usize, Ordering::Relaxed);
    }

    /// Shares out the `elapsed` milliseconds in which both were done.
    fn times(&self, walk: f64, elapsed: f64) -> SurveyTimes {
        let (read, parse) = (self.read.load(Ordering::Relaxed) as f64, self.parse.load(Ordering::Relaxed) as f64);
        let share = if read + parse > 0.0 { read / (read + parse) } else { 0.0 };
        SurveyTimes { walk, read: elapsed * share, parse: elapsed * (1.0 - share) }
    }
}

/// A file that is not read.
fn named(entry: &FileEntry) -> MapFile {
    MapFile { path: entry.path.clone(), ..MapFile::default() }
}
