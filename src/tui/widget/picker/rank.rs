//! Ranking the items of a picker by how well they match the query.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The matching items, best first.
#[derive(Debug, Clone)]
pub(super) struct Ranking {
    query: String,
    pattern: Pattern,
    matches: Vec<usize>,
    /// Scores and positions while ranking; kept for its room.
    scores: Vec<(bool, u32, usize)>,
}

impl Ranking {
    /// All of `len` items in their order, for no query.
    pub(super) fn all(len: usize) -> Self {
        Self { query: String::new(), pattern: Pattern::default(), matches: (0..len).collect(), scores: Vec::new() }
    }

    /// Positions of the matching items, best first; equal ones in their order.
    pub(super) fn matches(&self) -> &[usize] {
        &self.matches
    }

    /// Ranks the items for another query. Terms are separated by spaces and must all match; lower case matches any case.
    pub(super) fn update(&mut self, items: &[String], query: &str, paths: bool) {
        if !narrows(&self.query, query) {
            self.matches = (0..items.len()).collect();
        }
        self.query = query.to_owned();
        self.pattern.reparse(query, CaseMatching::Smart, Normalization::Smart);
        if self.pattern.atoms.is_empty() {
            self.matches.sort_unstable();
            return;
        }
        let mut matcher = matcher(paths);
        let mut chars = Vec::new();
        // A name that begins so is meant before one that is only described so. Of several such the order of the items tells:
        // what cannot be done now stands last there, and its score must not put it first.
        let lower = query.trim().to_lowercase();
        let begins = |item: &str| {
            let head = item.strip_prefix('/').unwrap_or(item).get(..lower.len());
            !paths && head.is_some_and(|head| head.to_lowercase() == lower)
        };
        self.scores.clear();
        for at in self.matches.drain(..) {
            let Some(item) = items.get(at) else { continue };
            if let Some(score) = self.pattern.score(haystack(item, &mut chars), &mut matcher) {
                self.scores.push((begins(item), score, at));
            }
        }
        self.scores
            .sort_unstable_by_key(|(begins, score, at)| (!begins, Reverse(if *begins { 0 } else { *score }), *at));
        self.matches.extend(self.scores.iter().map(|(.., at)| *at));
    }

    /// For each of the texts, the characters that the query matched, as sorted positions counted in characters.
    pub(super) fn highlights(&self, texts: &[&str], paths: bool) -> Vec<Vec<usize>> {
        let mut matcher = matcher(paths);
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

/// Whether every match of `query` is one of `before` too. Terms with an operator (`!` turns a match round) may widen.
fn narrows(before: &str, query: &str) -> bool {
    query.starts_with(before) && !query.contains(['!', '^', '$', '\'', '\\'])
}

fn matcher(paths: bool) -> Matcher {
    Matcher::new(if paths { Config::DEFAULT.match_paths() } else { Config::DEFAULT })
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
