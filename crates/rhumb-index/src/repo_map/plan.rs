//! The order in which entries are added to a map: a path, a name in a file, the line of a definition. The next entry is the one with
//! the highest expected gain per token.
//!
//! With a request, files and symbols have a probability of being needed (see `evidence`). Without one, the probability falls with the
//! position of the file in the ranking and with the position of the symbol in its file, by curves that were measured on commits.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::evidence::file_probability;
use super::index::IndexedDefinition;
use super::path;
use super::ranking::Ranking;
use super::render::{MapEntry, SymbolDetail};

/// Minimum probability of the README and the manifests at the root: they describe the repository and its build in a few tokens.
const LANDMARK_PROBABILITY: f64 = 0.03;

/// Estimated tokens of the line of a container.
const CONTAINER_TOKENS: f64 = 9.0;

/// The gain of a path, a name and a line, if the file or the symbol is needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gains {
    /// Gain of a path.
    pub path: f64,
    /// Gain of a name after the path.
    pub name: f64,
    /// Gain of the definition's line instead of its name.
    pub line: f64,
}

/// The files that may be shown, best first, pinned ones before all others. Ties keep path order.
pub(crate) fn order(ranking: &Ranking) -> Vec<u32> {
    let mut order: Vec<u32> = (0..ranking.hidden.len() as u32).filter(|&file| !ranking.hidden[file as usize]).collect();
    let key = |file: u32| (ranking.pinned[file as usize], settled(ranking.scores.files[file as usize]));
    order.sort_by_key(|&file| Reverse(key(file)));
    order
}

/// The definitions of a file with their scores, best first, pinned ones before all others, without banned ones. Ties keep source order.
pub(crate) fn ranked_symbols(ranking: &Ranking, file: u32) -> Vec<(u32, f64)> {
    let scored = (0u32..).zip(ranking.symbol_scores(file));
    let mut symbols: Vec<(u32, f64)> =
        scored.filter(|(at, _)| !is_among(ranking, file, *at, SymbolList::Banned)).collect();
    symbols.sort_by_key(|symbol| Reverse((is_among(ranking, file, symbol.0, SymbolList::Pinned), settled(symbol.1))));
    symbols
}

/// The banned definitions of a file, in source order.
pub(crate) fn banned(ranking: &Ranking, file: u32) -> Vec<u32> {
    let all = 0..ranking.graph.symbols_of(file).len() as u32;
    all.filter(|at| is_among(ranking, file, *at, SymbolList::Banned)).collect()
}

/// A list of symbols in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SymbolList {
    Pinned,
    Banned,
}

/// Whether a definition of a file is in a list.
fn is_among(ranking: &Ranking, file: u32, at: u32, chosen: SymbolList) -> bool {
    let symbols = match chosen {
        SymbolList::Pinned => &ranking.pinned_symbols,
        SymbolList::Banned => &ranking.banned_symbols,
    };
    // Usually the list is empty and nothing is looked up.
    !symbols.is_empty()
        && ranking.graph.symbols_of(file).get(at as usize).is_some_and(|symbol| symbols.contains(symbol))
}

/// Rounds a score to the digits that do not depend on the order of additions, so that ties are independent of the index.
fn settled(score: f64) -> i64 {
    (score * 1e12).round() as i64
}

/// Without a request: the probability that the file at a 0-based position is needed.
fn probability_at_position(position: usize) -> f64 {
    10.8 / (position as f64 + 4.0).powi(2)
}

/// Without a request: the probability that the symbol at a 0-based position of a needed file is needed.
fn symbol_probability_at_position(position: usize) -> f64 {
    10.2 / (position as f64 + 5.0).powi(2)
}

/// The entries of a map, in order, until their estimated tokens exceed `enough`.
pub(crate) fn entries(ranking: &Ranking, order: &[u32], gains: Gains, enough: usize) -> Vec<MapEntry> {
    let (seen, opened) = (HashSet::new(), HashSet::new());
    let mut planner = Planner { ranking, order, gains, ranked: HashMap::new(), heap: BinaryHeap::new(), seen, opened };
    let files_of_pinned_symbols = files_of_pinned(ranking);
    // Every path costs tokens, so those far down can never be chosen; landmarks and files of pinned symbols can.
    for (position, &file) in order.iter().enumerate() {
        let is_pinned = files_of_pinned_symbols.contains(&file);
        if position < enough || is_pinned || ranking.index().kind(file).is_landmark {
            planner.push_path(position, is_pinned);
        }
    }
    let mut entries = Vec::new();
    let mut used = 0.0;
    while let Some(step) = planner.heap.pop() {
        if planner.is_cheaper_now(&step) {
            continue;
        }
        entries.push(planner.choice(&step));
        used += step.cost;
        if used > enough as f64 {
            break;
        }
        planner.follow(&step);
    }
    entries
}

/// The files of pinned symbols.
fn files_of_pinned(ranking: &Ranking) -> HashSet<u32> {
    let symbols = ranking.graph.symbols();
    ranking.pinned_symbols.iter().filter_map(|symbol| symbols.get(*symbol as usize)).map(|symbol| symbol.file).collect()
}

struct Planner<'p> {
    ranking: &'p Ranking,
    /// Files, best first.
    order: &'p [u32],
    gains: Gains,
    /// The ranked definitions of each file whose path was taken, by position of the file.
    ranked: HashMap<usize, Vec<(u32, f64)>>,
    heap: BinaryHeap<Candidate>,
    /// Names that were taken, by position of the file: a second definition of a name does not repeat it.
    seen: HashSet<(usize, &'p str)>,
    /// Containers that have a line, by position of the file: the first line of a member adds that of its container.
    opened: HashSet<(usize, &'p str)>,
}

impl<'p> Planner<'p> {
    /// Adds a path as a candidate; with probability 1 if it is the `home` of a pinned symbol.
    fn push_path(&mut self, position: usize, home: bool) {
        let path = self.ranking.index().path(self.order[position]);
        // Half of the folder, which is written once for several files.
        let name = path::file_name(path).len();
        let bytes = name + (path.len() - name) / 2;
        let probability = if home { 1.0 } else { self.file_probability(position) };
        self.push_short(position, None, probability * self.gains.path, tokens_of(bytes, 3.8) + 2.0);
    }

    /// The probability that the file at a position is needed.
    fn file_probability(&self, position: usize) -> f64 {
        let file = self.order[position];
        let landmark = self.ranking.index().kind(file).is_landmark;
        match self.ranking.pinned[file as usize] {
            true => 1.0,
            false if self.ranking.is_requested() => {
                let probability = file_probability(self.ranking.scores.files[file as usize], position);
                probability.max(if landmark { LANDMARK_PROBABILITY } else { 0.0 })
            }
            false => probability_at_position(position),
        }
    }

    /// The probability that a file and a symbol in it are needed, by their positions.
    fn probability(&self, position: usize, symbol: usize) -> f64 {
        let at = self.ranked.get(&position).and_then(|symbols| symbols.get(symbol)).map(|definition| definition.0);
        let file = self.order.get(position).copied();
        if at.zip(file).is_some_and(|(at, file)| is_among(self.ranking, file, at, SymbolList::Pinned)) {
            return 1.0;
        }
        self.file_probability(position) * self.symbol_probability(position, symbol)
    }

    /// The probability that a symbol is needed if its file is, by their positions.
    fn symbol_probability(&self, position: usize, symbol: usize) -> f64 {
        match self.ranked.get(&position).and_then(|symbols| symbols.get(symbol)) {
            Some(&(_, probability)) if self.ranking.is_requested() => probability,
            _ => symbol_probability_at_position(symbol),
        }
    }

    fn choice(&self, step: &Candidate) -> MapEntry {
        let symbols = self.ranked.get(&step.position);
        let definition =
            symbols.zip(step.symbol).and_then(|(symbols, symbol)| symbols.get(symbol)).map(|symbol| symbol.0);
        MapEntry { file: self.order[step.position], definition, detail: step.detail }
    }

    /// Adds the candidates that a step enables: the next name, and the line of this one.
    fn follow(&mut self, step: &Candidate) {
        match (step.symbol, step.detail) {
            (None, _) => {
                self.ranked.insert(step.position, ranked_symbols(self.ranking, self.order[step.position]));
                self.push_symbol(step.position, 0);
            }
            (Some(symbol), SymbolDetail::Name) => {
                self.push_line(step.position, symbol, true);
                self.push_symbol(step.position, symbol + 1);
            }
            (Some(symbol), SymbolDetail::Line) => {
                let entry = self.entry(step.position, symbol);
                let opened = entry.into_iter().flat_map(|entry| [Some(entry.name()), entry.container()]);
                self.opened.extend(opened.flatten().map(|name| (step.position, name)));
            }
        }
    }

    /// Adds a line again, at a lower cost, if its container was added to the map after the cost was estimated.
    fn is_cheaper_now(&mut self, step: &Candidate) -> bool {
        let Some(symbol) = step.symbol.filter(|_| step.opens) else { return false };
        let container = self.entry(step.position, symbol).and_then(|entry| entry.container());
        let cheaper = container.is_some_and(|container| self.opened.contains(&(step.position, container)));
        if cheaper {
            let cost = (step.cost - CONTAINER_TOKENS).max(1.0);
            self.heap.push(Candidate {
                gain_per_token: step.gain_per_token * step.cost / cost,
                cost,
                opens: false,
                ..*step
            });
        }
        cheaper
    }

    /// Adds the next name from `symbol` on. Further definitions of a name that was taken are added as lines.
    fn push_symbol(&mut self, position: usize, symbol: usize) {
        let symbols = self.ranked.get(&position).map_or(0, Vec::len);
        for at in symbol..symbols {
            let Some(entry) = self.entry(position, at) else { continue };
            if self.seen.insert((position, entry.name())) {
                let gain = self.probability(position, at) * self.gains.name;
                self.push_short(position, Some(at), gain, tokens_of(entry.name().len(), 5.0) + 2.0);
                return;
            }
            self.push_line(position, at, false);
        }
    }

    fn push_line(&mut self, position: usize, symbol: usize, named: bool) {
        let Some(entry) = self.entry(position, symbol) else { return };
        let saved = if named { tokens_of(entry.name().len(), 5.0) + 1.0 } else { 0.0 };
        let opens = entry.container().is_some_and(|container| !self.opened.contains(&(position, container)));
        let line = (tokens_of(entry.header().len(), 3.6).min(26.0) + 2.0 - saved).max(1.0);
        let cost = line + if opens { CONTAINER_TOKENS } else { 0.0 };
        let gain = self.probability(position, symbol) * self.gains.line;
        self.heap.push(Candidate {
            gain_per_token: gain / cost,
            cost,
            position,
            symbol: Some(symbol),
            detail: SymbolDetail::Line,
            opens,
        });
    }

    /// A definition by the positions of its file and itself.
    fn entry(&self, position: usize, symbol: usize) -> Option<IndexedDefinition<'p>> {
        let &(index, _) = self.ranked.get(&position)?.get(symbol)?;
        self.ranking.index().definition(self.order[position], index)
    }

    fn push_short(&mut self, position: usize, symbol: Option<usize>, gain: f64, cost: f64) {
        self.heap.push(Candidate {
            gain_per_token: gain / cost,
            cost,
            position,
            symbol,
            detail: SymbolDetail::Name,
            opens: false,
        });
    }
}

/// Estimates the tokens of `length` bytes at `bytes` bytes per token. Fitting the map counts them exactly.
fn tokens_of(length: usize, bytes: f64) -> f64 {
    (length as f64 / bytes).floor()
}

/// A candidate for the next entry.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Expected gain per token.
    gain_per_token: f64,
    /// Estimated tokens.
    cost: f64,
    /// Position of the file in the ranking.
    position: usize,
    /// Position of the symbol in its file; `None` for the path.
    symbol: Option<usize>,
    detail: SymbolDetail,
    /// Whether its container has no line yet.
    opens: bool,
}

impl Candidate {
    fn key(&self) -> (usize, Option<usize>, SymbolDetail) {
        (self.position, self.symbol, self.detail)
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain_per_token.total_cmp(&other.gain_per_token).then_with(|| other.key().cmp(&self.key()))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
