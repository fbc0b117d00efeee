//! Ranks the items of a picker by a query: short lists inline, long lists as a job on another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, NamePart};

use super::Items;

/// Up to this many items are ranked while the key is handled, which takes less than a millisecond.
const MAX_INLINE_ITEMS: usize = 4_000;

/// Items that one thread ranks before it checks whether the result is still needed.
const CHUNK: usize = 4_096;

/// The matching items, best first.
#[derive(Debug, Clone)]
pub(super) struct Ranking {
    query: String,
    filter: FuzzyFilter,
    matches: Vec<usize>,
    /// Counts the queries; jobs of earlier queries end early.
    newest: Arc<AtomicU64>,
    /// The pending job.
    job: Option<Box<RankJob>>,
}

/// A query over many items, to be ranked on another thread.
#[derive(Debug, Clone)]
pub struct RankJob {
    items: Items,
    query: String,
    name: NamePart,
    /// The items that may match, if those of a wider query are known.
    among: Option<Vec<usize>>,
    number: u64,
    newest: Arc<AtomicU64>,
}

#[derive(Debug, Clone)]
pub struct Ranked {
    query: String,
    matches: Vec<usize>,
    number: u64,
    newest: Arc<AtomicU64>,
}

impl RankJob {
    /// Ranks. `None` if another query has been typed meanwhile.
    pub fn run(self) -> Option<Ranked> {
        let all: Vec<usize> = self.among.clone().unwrap_or_else(|| (0..self.items.len()).collect());
        let is_wanted = || self.newest.load(Ordering::Relaxed) == self.number;
        let filter = FuzzyFilter::new(&self.query);
        let matched =
            |part| if is_wanted() { matched(&self.items, part, filter.clone(), self.name) } else { Vec::new() };
        let parts: Vec<Vec<(FuzzyMatch, usize)>> = all.par_chunks(CHUNK).map(matched).collect();
        if !is_wanted() {
            return None;
        }
        let mut found = parts.concat();
        found.par_sort_unstable();
        let matches = found.into_iter().map(|(_, at)| at).collect();
        Some(Ranked { query: self.query, matches, number: self.number, newest: self.newest })
    }
}

impl Ranking {
    /// All of `len` items in their order, for no query.
    pub(super) fn all(len: usize) -> Self {
        Self {
            query: String::new(),
            filter: FuzzyFilter::default(),
            matches: (0..len).collect(),
            newest: Arc::default(),
            job: None,
        }
    }

    /// Indices of the matching items, best first.
    pub(super) fn matches(&self) -> &[usize] {
        &self.matches
    }

    /// Ranks the items for another query. Terms are separated by spaces and must all match, in any case. Returns whether the
    /// ranking is complete: a long list keeps the earlier matches until the job has run.
    pub(super) fn update(&mut self, items: &Items, query: &str, name: NamePart) -> bool {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        self.filter = FuzzyFilter::new(query);
        self.job = None;
        if self.filter.is_empty() {
            self.take(query, (0..items.len()).collect());
            return true;
        }
        let among = narrows(&self.query, query).then(|| self.matches.clone());
        if among.as_ref().map_or(items.len(), Vec::len) > MAX_INLINE_ITEMS {
            let newest = Arc::clone(&self.newest);
            let job = RankJob { items: items.clone(), query: query.to_owned(), name, among, number, newest };
            self.job = Some(Box::new(job));
            return false;
        }
        let among = among.unwrap_or_else(|| (0..items.len()).collect());
        let mut found = matched(items, &among, self.filter.clone(), name);
        found.sort_unstable();
        self.take(query, found.into_iter().map(|(_, at)| at).collect());
        true
    }

    /// Ranks immediately.
    pub(super) fn catch_up(&mut self, items: &Items, query: &str, name: NamePart) {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        let newest = Arc::clone(&self.newest);
        let job = RankJob { items: items.clone(), query: query.to_owned(), name, among: None, number, newest };
        job.run().map(|ranked| self.put(ranked));
    }

    fn take(&mut self, query: &str, matches: Vec<usize>) {
        (self.query, self.matches) = (query.to_owned(), matches);
    }

    pub(super) fn take_job(&mut self) -> Option<RankJob> {
        self.job.take().map(|job| *job)
    }

    /// Stores the result of a job. Returns whether it was for the newest query of this list.
    pub(super) fn put(&mut self, ranked: Ranked) -> bool {
        let is_ours = Arc::ptr_eq(&ranked.newest, &self.newest);
        let is_newest = self.newest.load(Ordering::Relaxed) == ranked.number;
        if is_ours && is_newest {
            self.take(&ranked.query, ranked.matches);
        }
        is_ours && is_newest
    }

    /// The matched characters of each text, as sorted positions.
    pub(super) fn highlights(&self, texts: &[&str]) -> Vec<Vec<usize>> {
        let mut filter = self.filter.clone();
        texts.iter().map(|text| filter.positions(text)).collect()
    }
}

fn matched(items: &Items, among: &[usize], mut filter: FuzzyFilter, name: NamePart) -> Vec<(FuzzyMatch, usize)> {
    let mut room = String::new();
    let matched = among.iter().filter_map(|&at| Some((filter.matched(items.text(at, &mut room), name)?, at)));
    matched.collect()
}

/// Whether every match of `query` also matches `before`. Terms with an operator may match more.
fn narrows(before: &str, query: &str) -> bool {
    query.starts_with(before) && !query.contains(['!', '^', '$', '\'', '\\'])
}
