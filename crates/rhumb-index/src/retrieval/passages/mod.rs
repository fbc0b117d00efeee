//! The text of passages within a budget: what a model reads of a repository to answer a question.
//!
//! Hits are widened to their chunks, those of a file that touch are joined, the best first until the budget is full. Then they
//! are written in the order of their paths, with numbered lines, so that an answer can cite them. What was written stays where it
//! is when more is added, since a provider keeps the beginning of a request that it knows.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::chunk::source::{Place, Sources};
use super::hit::Hit;
use super::references::{References, Related};
use crate::repo_map::TagGraph;
use rhumb_tokens::TokenCounter;
use round::Round;

/// Of a budget, the part that what is related may take: one in so many.
const RELATED_SHARE: usize = 5;

/// Most definitions that are told as related.
const MOST_RELATED: usize = 16;

/// What stands above what is related.
const RELATED_HEADING: &str = "Related by reference, one line each:";

/// A passage as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The lines that it shows, 1-based, ascending and disjoint.
    pub lines: Vec<RangeInclusive<u32>>,
    /// What it was cut for, the best first.
    pub places: Vec<Place>,
    /// How far down the list of hits the best of them was, from 0.
    pub rank: usize,
    /// Lines of its last chunk that the budget had no room for.
    pub omitted: u32,
    /// The passage as it is written: a heading and its numbered lines.
    pub text: String,
    /// Tokens of the text.
    pub tokens: usize,
    /// Hash of the lines that it shows and of their numbers: another one means that the file has changed there.
    pub hash: u64,
}

impl Passage {
    /// First line.
    pub fn line(&self) -> u32 {
        self.lines.first().map_or(0, |range| *range.start())
    }

    /// Last line, inclusive.
    pub fn end_line(&self) -> u32 {
        self.lines.last().map_or(0, |range| *range.end())
    }

    /// The name of the definition that it was cut for.
    pub fn symbol(&self) -> Option<&str> {
        self.places.first().and_then(|place| place.symbol.as_deref())
    }

    /// The definition around that.
    pub fn container(&self) -> Option<&str> {
        self.places.first().and_then(|place| place.container.as_deref())
    }
}

/// What the repository says to a question, as a model reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passages {
    list: Vec<Passage>,
    related: Vec<Related>,
    budget: usize,
    tokens: usize,
}

impl Passages {
    /// Adds what a question found: the hits with what connects them, if it names several things, and what is one reference
    /// away. See [`Passages::extend`].
    pub fn gather(
        &mut self,
        graph: &TagGraph,
        (question, hits): (&str, Vec<Hit>),
        sources: &Sources<'_>,
        budget: usize,
        counter: &dyn TokenCounter,
    ) {
        let references = References::new(graph, sources);
        let most = hits.len();
        let hits = references.connecting(question, hits, most);
        let related = references.related(&hits, MOST_RELATED);
        let places: Vec<Place> = hits.iter().map(Place::from).collect();
        self.extend(&places, &related, sources, budget, counter);
    }

    /// The best passages within a budget of tokens. `places` and `related` come best first; what cannot be read is left out.
    pub fn fit(
        places: &[Place],
        related: &[Related],
        sources: &Sources<'_>,
        budget: usize,
        counter: &dyn TokenCounter,
    ) -> Self {
        let mut passages = Self::default();
        passages.extend(places, related, sources, budget, counter);
        passages
    }

    /// Adds passages for another question behind those that are there, which stay as they are. Where these take more than half of the
    /// budget, the least of them make room. What is shown already is not shown again; what is related is that of the latest
    /// question.
    pub fn extend(
        &mut self,
        places: &[Place],
        related: &[Related],
        sources: &Sources<'_>,
        budget: usize,
        counter: &dyn TokenCounter,
    ) {
        self.budget = budget;
        self.related = fitting(related, &self.list, budget / RELATED_SHARE, counter);
        if !self.list.is_empty() && !places.is_empty() {
            self.shrink(budget / 2, counter);
        }
        let used = counter.count(&self.render());
        let mut round = Round::new(sources, counter, budget.saturating_sub(used), &self.list);
        for (rank, place) in places.iter().enumerate() {
            round.add(rank, place);
        }
        let fresh = round.finish();
        self.list.extend(fresh);
        let shown = |related: &Related| self.list.iter().any(|passage| shows(passage, &related.path, related.line));
        self.related.retain(|related| !shown(related));
        self.shrink(budget, counter);
    }

    /// Cuts again what has changed in its file since; what is gone is dropped. Tells whether anything is other than before.
    pub fn refresh(&mut self, sources: &Sources<'_>, counter: &dyn TokenCounter) -> bool {
        let before = self.tokens;
        let mut changed = false;
        for at in (0..self.list.len()).rev() {
            let stale = self.list.remove(at);
            if sources.file(&stale.path).is_some_and(|file| round::hash(&file, &stale.lines) == stale.hash) {
                self.list.insert(at, stale);
                continue;
            }
            changed = true;
            let others: usize = self.list.iter().map(|passage| passage.tokens).sum();
            let mut round = Round::new(sources, counter, self.budget.saturating_sub(others), &self.list);
            stale.places.iter().for_each(|place| round.add(stale.rank, place));
            self.list.splice(at..at, round.finish());
        }
        self.shrink(self.budget, counter);
        changed || self.tokens != before
    }

    /// Drops the least of the passages, and before them what is related, until the rest is within a budget.
    pub fn trim(&mut self, budget: usize, counter: &dyn TokenCounter) {
        self.budget = budget;
        self.shrink(budget, counter);
    }

    /// Drops a passage by its place in the list.
    pub fn remove(&mut self, at: usize, counter: &dyn TokenCounter) {
        if at < self.list.len() {
            self.list.remove(at);
        }
        self.tokens = counter.count(&self.render());
    }

    fn shrink(&mut self, budget: usize, counter: &dyn TokenCounter) {
        loop {
            self.tokens = counter.count(&self.render());
            if self.tokens <= budget {
                return;
            }
            let least = (0..self.list.len()).max_by_key(|&at| (self.list[at].rank, at));
            match (self.related.pop(), least) {
                (Some(_), _) => {}
                (None, Some(least)) => drop(self.list.remove(least)),
                (None, None) => return,
            }
        }
    }

    /// The passages in the order in which they are written.
    pub fn list(&self) -> &[Passage] {
        &self.list
    }

    /// What is related to them.
    pub fn related(&self) -> &[Related] {
        &self.related
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Tokens of all of it, as [`Passages::render`] writes it.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// All of it as a model reads it; empty where there is nothing.
    pub fn render(&self) -> String {
        let mut parts: Vec<String> = self.list.iter().map(|passage| passage.text.clone()).collect();
        if !self.related.is_empty() {
            parts.push(related_text(&self.related));
        }
        parts.join("\n")
    }
}

/// Whether a passage shows a line.
fn shows(passage: &Passage, path: &str, line: u32) -> bool {
    &*passage.path == path && passage.lines.iter().any(|range| range.contains(&line))
}

/// What is related, a line each, below what it is.
pub fn related_text(related: &[Related]) -> String {
    let lines: String = related.iter().map(|related| format!("{related}\n")).collect();
    format!("{RELATED_HEADING}\n{lines}")
}

/// The first of what is related, without what is shown anyway, within a budget.
fn fitting(related: &[Related], shown: &[Passage], budget: usize, counter: &dyn TokenCounter) -> Vec<Related> {
    let is_shown = |related: &Related| shown.iter().any(|passage| shows(passage, &related.path, related.line));
    let mut fitting: Vec<Related> = Vec::new();
    for related in related.iter().filter(|related| !is_shown(related)) {
        fitting.push(related.clone());
        if counter.count(&related_text(&fitting)) > budget {
            fitting.pop();
            break;
        }
    }
    fitting
}

pub(super) mod round;
#[cfg(test)]
mod tests;
