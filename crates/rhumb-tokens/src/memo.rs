//! A counter that counts line by line and remembers the lines, between runs too: loading the tables of a tokenizer costs
//! more than a whole map, and most lines of a map were in the map before.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::{Encoding, TokenCounter, encoding_of};

/// Most lines that are remembered between runs.
const MOST_LINES: usize = 32_768;

/// The tokens of a line by each of the encodings.
type Counts = [u16; 2];

/// What is remembered of a line: a hash of it, and its tokens by each of the encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCount {
    /// xxh3 of the line with its terminator.
    pub hash: u64,
    /// Tokens, by encoding.
    pub tokens: Counts,
}

/// Counts texts line by line and remembers the lines.
///
/// Both encodings end a word at a line end, so the lines add up to the whole wherever the next line starts with neither a
/// slash nor a further line end. That holds for every map: its lines are paths below the root, and indented.
#[derive(Debug)]
pub struct LineMemo {
    first: Encoding,
    /// The second encoding where no model says which one counts.
    second: Option<Encoding>,
    exact: bool,
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    known: HashMap<u64, Counts>,
    /// Those that this run has met.
    met: HashMap<u64, Counts>,
    /// Whether this run has met a line that was not known.
    learnt: bool,
}

impl LineMemo {
    /// The counter for a model (see [`super::counter_for_model`]).
    pub fn for_model(model: &str) -> Self {
        let (first, exact) = encoding_of(model);
        let second = model.trim().is_empty().then_some(Encoding::Cl100k);
        Self { first, second, exact, lines: Mutex::default() }
    }

    /// A name for the way of counting: what is remembered for one is wrong for another.
    pub fn name(&self) -> String {
        let second = self.second.map_or(String::new(), |second| format!("-{second:?}"));
        format!("{:?}{second}", self.first).to_lowercase()
    }

    /// Takes over what an earlier run remembered.
    pub fn remember(&self, lines: impl IntoIterator<Item = LineCount>) {
        self.lines().known.extend(lines.into_iter().map(|line| (line.hash, line.tokens)));
    }

    /// What the next run should remember, in the order of the hashes; `None` when that is what was remembered before.
    pub fn learnt(&self) -> Option<Vec<LineCount>> {
        let lines = self.lines();
        let all = if lines.known.len() + lines.met.len() > MOST_LINES { HashMap::new() } else { lines.known.clone() };
        let mut all: Vec<LineCount> =
            all.iter().chain(&lines.met).map(|(&hash, &tokens)| LineCount { hash, tokens }).collect();
        all.sort_unstable_by_key(|line| line.hash);
        all.dedup_by_key(|line| line.hash);
        lines.learnt.then_some(all)
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_line(&self, line: &str) -> Counts {
        let hash = xxh3_64(line.as_bytes());
        let mut lines = self.lines();
        if let Some(&counts) = lines.met.get(&hash) {
            return counts;
        }
        let counts = match lines.known.get(&hash) {
            Some(&counts) => counts,
            None => {
                lines.learnt = true;
                let count = |encoding: Encoding| u16::try_from(encoding.quick_table().count(line)).unwrap_or(u16::MAX);
                [count(self.first), self.second.map_or(0, count)]
            }
        };
        lines.met.insert(hash, counts);
        counts
    }
}

impl TokenCounter for LineMemo {
    fn count(&self, text: &str) -> usize {
        let mut sums = [0usize; 2];
        for line in text.split_inclusive('\n') {
            let counts = self.of_line(line);
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
    use super::super::counter_for_model;
    use super::*;
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
                prop_assert_eq!(LineMemo::for_model(model).count(&text), counter_for_model(model).count(&text), "{}", model);
            }
        }
    }

    #[test]
    fn what_is_remembered_is_not_counted_again() {
        let memo = LineMemo::for_model("");
        let text = "src/a.rs:\n  pub fn a(&self) -> u8\n";
        let tokens = memo.count(text);
        let learnt = memo.learnt().unwrap();
        let next = LineMemo::for_model("");
        next.remember(learnt.clone());
        assert_eq!((next.count(text), next.learnt()), (tokens, None));
        next.count("src/b.rs\n");
        assert_eq!(next.learnt().unwrap().len(), learnt.len() + 1);
        assert_ne!(memo.name(), LineMemo::for_model("gpt-4").name());
    }
}
