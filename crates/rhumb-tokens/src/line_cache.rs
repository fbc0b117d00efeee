//! A token counter that caches the counts of lines, also between runs: loading a tokenizer's tables takes longer than
//! rendering a whole repo map, and most lines of a map do not change.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::{Encoding, TokenCounter, encoding_of};

/// Maximum number of lines that are kept between runs.
const MAX_LINES: usize = 32_768;

/// The tokens of a line in each of the two encodings.
type Counts = [u16; 2];

/// The cached count of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCount {
    /// xxh3 of the line with its terminator.
    pub hash: u64,
    /// Tokens by encoding; the second is 0 if only one encoding is used.
    pub tokens: Counts,
}

/// Counts texts line by line and caches the counts.
///
/// Both encodings end a word at a line feed, so the counts of the lines add up unless the next line starts with a slash or
/// is empty. Lines of a repo map are relative paths or indented, so neither occurs there.
#[derive(Debug)]
pub struct LineCache {
    first: Encoding,
    /// The second encoding, if no model is named.
    second: Option<Encoding>,
    exact: bool,
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    known: HashMap<u64, Counts>,
    /// Lines that were counted in this run.
    used: HashMap<u64, Counts>,
    /// Whether a line of this run was not in the cache.
    is_changed: bool,
}

impl LineCache {
    /// The counter for a model (see [`super::counter_for_model`]).
    pub fn for_model(model: &str) -> Self {
        let (first, exact) = encoding_of(model);
        let second = model.trim().is_empty().then_some(Encoding::Cl100k);
        Self { first, second, exact, lines: Mutex::default() }
    }

    /// The name of the encoding or encodings. Counts that were saved under one name are wrong for another.
    pub fn name(&self) -> String {
        let second = self.second.map_or(String::new(), |second| format!("-{second:?}"));
        format!("{:?}{second}", self.first).to_lowercase()
    }

    /// Adds the counts that an earlier run saved.
    pub fn load(&self, lines: impl IntoIterator<Item = LineCount>) {
        self.lines().known.extend(lines.into_iter().map(|line| (line.hash, line.tokens)));
    }

    /// The counts to save for the next run, sorted by hash; `None` if all lines of this run had been loaded.
    pub fn unsaved(&self) -> Option<Vec<LineCount>> {
        let lines = self.lines();
        let all = if lines.known.len() + lines.used.len() > MAX_LINES { HashMap::new() } else { lines.known.clone() };
        let mut all: Vec<LineCount> =
            all.iter().chain(&lines.used).map(|(&hash, &tokens)| LineCount { hash, tokens }).collect();
        all.sort_unstable_by_key(|line| line.hash);
        all.dedup_by_key(|line| line.hash);
        lines.is_changed.then_some(all)
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line_counts(&self, line: &str) -> Counts {
        let hash = xxh3_64(line.as_bytes());
        let mut lines = self.lines();
        if let Some(&counts) = lines.used.get(&hash) {
            return counts;
        }
        let counts = match lines.known.get(&hash) {
            Some(&counts) => counts,
            None => {
                lines.is_changed = true;
                let count = |encoding: Encoding| u16::try_from(encoding.table().count(line)).unwrap_or(u16::MAX);
                [count(self.first), self.second.map_or(0, count)]
            }
        };
        lines.used.insert(hash, counts);
        counts
    }
}

impl TokenCounter for LineCache {
    fn count(&self, text: &str) -> usize {
        let mut sums = [0usize; 2];
        for line in text.split_inclusive('\n') {
            let counts = self.line_counts(line);
            sums[0] += usize::from(counts[0]);
            sums[1] += usize::from(counts[1]);
        }
        sums[0].max(sums[1])
    }

    fn exact(&self) -> bool {
        self.exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter_for_model;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_lines_of_a_map_add_up_to_the_whole(
            lines in prop::collection::vec(("[a-zA-Z0-9_.é-]{1,12}(/[a-zA-Z0-9_.-]{1,9}){0,3}", "( {2,6}\\PC{1,40})?", any::<bool>()), 1..12)
        ) {
            let line = |(path, below, colon): (String, String, bool)| {
                let below = if below.trim().is_empty() { String::new() } else { format!("\n{below}") };
                format!("{path}{}{below}\n", if colon { ":" } else { "" })
            };
            let text: String = lines.into_iter().map(line).collect();
            for model in ["", "gpt-4", "gpt-4o"] {
                prop_assert_eq!(LineCache::for_model(model).count(&text), counter_for_model(model).count(&text), "{}", model);
            }
        }
    }

    #[test]
    fn saved_counts_are_used_again() {
        let cache = LineCache::for_model("");
        let text = "src/a.rs:\n  pub fn a(&self) -> u8\n";
        let tokens = cache.count(text);
        let saved = cache.unsaved().unwrap();
        let next = LineCache::for_model("");
        next.load(saved.clone());
        assert_eq!((next.count(text), next.unsaved()), (tokens, None));
        next.count("src/b.rs\n");
        assert_eq!(next.unsaved().unwrap().len(), saved.len() + 1);
        assert_ne!(cache.name(), LineCache::for_model("gpt-4").name());
    }
}
