//! Ranking the items of a picker by how well they match the query: at once where they are few, else as a job for another thread.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use rayon::prelude::*;

use super::items::Items;

/// Up to so many items are ranked while the key is handled; that takes less than a millisecond.
const AT_ONCE: usize = 4_000;

/// Items that one thread ranks before it looks whether that is still wanted.
const CHUNK: usize = 4_096;

/// How items are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Taste {
    /// As words; what begins with the query comes first, in the order of the items.
    #[default]
    Words,
    /// As paths: the file's name weighs more.
    Paths,
    /// As names with their place behind them; the whole name comes before one that only begins so.
    Names,
}

/// The matching items, best first.
#[derive(Debug, Clone)]
pub(super) struct Ranking {
    /// The query that the matches are for.
    query: String,
    pattern: Pattern,
    matches: Vec<usize>,
    /// Counts the queries; jobs for one before the newest end early.
    newest: Arc<AtomicU64>,
    /// A job that nobody has taken yet.
    job: Option<Box<RankJob>>,
}

/// A query over many items, to be ranked away from the keyboard.
#[derive(Debug, Clone)]
pub struct RankJob {
    items: Items,
    query: String,
    taste: Taste,
    /// The items that may match, where those of a wider query are known.
    among: Option<Vec<usize>>,
    number: u64,
    newest: Arc<AtomicU64>,
}

/// What a job found.
#[derive(Debug, Clone)]
pub struct Ranked {
    query: String,
    matches: Vec<usize>,
    number: u64,
    newest: Arc<AtomicU64>,
}

impl RankJob {
    /// Ranks; `None` where another query has come meanwhile.
    pub fn run(self) -> Option<Ranked> {
        let all: Vec<usize> = self.among.clone().unwrap_or_else(|| (0..self.items.len()).collect());
        let is_wanted = || self.newest.load(Ordering::Relaxed) == self.number;
        let pattern = parsed(&self.query);
        let parts: Vec<Vec<Score>> =
            all.par_chunks(CHUNK)
                .map(|part| {
                    if is_wanted() { scores(&self.items, part, &pattern, &self.query, self.taste) } else { Vec::new() }
                })
                .collect();
        if !is_wanted() {
            return None;
        }
        let mut scores = parts.concat();
        scores.par_sort_unstable();
        let matches = scores.into_iter().map(|(.., at)| at).collect();
        Some(Ranked { query: self.query, matches, number: self.number, newest: self.newest })
    }
}

impl Ranking {
    /// All of `len` items in their order, for no query.
    pub(super) fn all(len: usize) -> Self {
        Self {
            query: String::new(),
            pattern: Pattern::default(),
            matches: (0..len).collect(),
            newest: Arc::default(),
            job: None,
        }
    }

    /// Positions of the matching items, best first; equal ones in their order.
    pub(super) fn matches(&self) -> &[usize] {
        &self.matches
    }

    /// Ranks the items for another query. Terms are separated by spaces and must all match; lower case matches any case. Whether
    /// that is done: of many items the matches of before stay until the job has run.
    pub(super) fn update(&mut self, items: &Items, query: &str, taste: Taste) -> bool {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        self.pattern = parsed(query);
        self.job = None;
        if self.pattern.atoms.is_empty() {
            self.take(query, (0..items.len()).collect());
            return true;
        }
        let among = narrows(&self.query, query).then(|| self.matches.clone());
        if among.as_ref().map_or(items.len(), Vec::len) > AT_ONCE {
            let newest = Arc::clone(&self.newest);
            let job = RankJob { items: items.clone(), query: query.to_owned(), taste, among, number, newest };
            self.job = Some(Box::new(job));
            return false;
        }
        let among = among.unwrap_or_else(|| (0..items.len()).collect());
        let mut scores = scores(items, &among, &self.pattern, query, taste);
        scores.sort_unstable();
        self.take(query, scores.into_iter().map(|(.., at)| at).collect());
        true
    }

    /// Ranks here and now, however long that takes; a job that runs for the same query comes too late.
    pub(super) fn catch_up(&mut self, items: &Items, query: &str, taste: Taste) {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        let newest = Arc::clone(&self.newest);
        let job = RankJob { items: items.clone(), query: query.to_owned(), taste, among: None, number, newest };
        job.run().map(|ranked| self.put(ranked));
    }

    fn take(&mut self, query: &str, matches: Vec<usize>) {
        (self.query, self.matches) = (query.to_owned(), matches);
    }

    /// The job that is to be run, once.
    pub(super) fn take_job(&mut self) -> Option<RankJob> {
        self.job.take().map(|job| *job)
    }

    /// Takes in what a job found. Whether it was for this list and its newest query.
    pub(super) fn put(&mut self, ranked: Ranked) -> bool {
        let is_ours = Arc::ptr_eq(&ranked.newest, &self.newest);
        let is_newest = self.newest.load(Ordering::Relaxed) == ranked.number;
        if is_ours && is_newest {
            self.take(&ranked.query, ranked.matches);
        }
        is_ours && is_newest
    }

    /// For each of the texts, the characters that the query matched, as sorted positions counted in characters.
    pub(super) fn highlights(&self, texts: &[&str], taste: Taste) -> Vec<Vec<usize>> {
        let mut matcher = matcher(taste);
        let mut chars = Vec::new();
        let mut highlight = |text: &str| {
            let mut found = Vec::new();
            self.pattern.indices(haystack(text, &mut chars), &mut matcher, &mut found);
            let mut positions: Vec<usize> = found.into_iter().map(|at| at as usize).collect();
            positions.sort_unstable();
            positions.dedup();
            positions
        };
        texts.iter().map(|text| highlight(text)).collect()
    }
}

/// What sorts an item: how it begins, how well it matches, where it stands.
type Score = (u8, Reverse<u32>, usize);

fn scores(items: &Items, among: &[usize], pattern: &Pattern, query: &str, taste: Taste) -> Vec<Score> {
    let mut matcher = matcher(taste);
    let (mut chars, mut room) = (Vec::new(), String::new());
    let lower = query.trim().to_lowercase();
    let mut scored = Vec::new();
    for &at in among {
        let item = items.text(at, &mut room);
        if let Some(score) = pattern.score(haystack(item, &mut chars), &mut matcher) {
            let begins = begins(item, &lower, taste);
            // A name that begins so is meant before one that is only described so. Of several such the order of the items tells:
            // what cannot be done now stands last there, and its score must not put it first.
            let score = if taste == Taste::Words && begins == 0 { 0 } else { score };
            scored.push((begins, Reverse(score), at));
        }
    }
    scored
}

/// How an item begins: as the query does (0 and 1), or otherwise.
fn begins(item: &str, lower: &str, taste: Taste) -> u8 {
    let same = |head: Option<&str>| head.is_some_and(|head| head.to_lowercase() == lower);
    match taste {
        Taste::Paths => 0,
        Taste::Words => u8::from(!same(item.strip_prefix('/').unwrap_or(item).get(..lower.len()))),
        Taste::Names if same(item.get(..lower.len())) => u8::from(!item[lower.len()..].starts_with("  ")),
        Taste::Names => 2,
    }
}

fn parsed(query: &str) -> Pattern {
    Pattern::parse(query, CaseMatching::Smart, Normalization::Smart)
}

/// Whether every match of `query` is one of `before` too. Terms with an operator (`!` turns a match round) may widen.
fn narrows(before: &str, query: &str) -> bool {
    query.starts_with(before) && !query.contains(['!', '^', '$', '\'', '\\'])
}

fn matcher(taste: Taste) -> Matcher {
    Matcher::new(if taste == Taste::Paths { Config::DEFAULT.match_paths() } else { Config::DEFAULT })
}

/// The text as the matcher reads it: bytes if it is ASCII, else characters.
fn haystack<'a>(text: &'a str, chars: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() {
        return Utf32Str::Ascii(text.as_bytes());
    }
    chars.clear();
    chars.extend(text.chars());
    Utf32Str::Unicode(chars)
}
