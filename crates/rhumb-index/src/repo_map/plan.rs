//! The order in which a map grows: a bare path, the names of a file, the lines of its definitions, each step taken where
//! it is expected to help most for its tokens.
//!
//! When the request says something, both the file and the symbol have a probability of being needed (see `evidence`). When
//! it does not, a file at place r of the ranking is needed with a probability that falls with r, and so is a symbol at
//! place j of its file, by curves that were measured on commits.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::evidence::file_chance;
use super::index::Entry;
use super::path;
use super::render::{Choice, Tier};
use super::standing::Ranking;

/// Least probability that the README and the manifests at the root are given, whatever the request: a few tokens that say
/// what the repository is and how it is built.
const LANDMARK: f64 = 0.03;

/// Tokens of the line of a container, as a rule.
const CONTAINER: f64 = 9.0;

/// What a path, a name and a line are worth, if the file or the symbol is needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gains {
    /// Worth of a path.
    pub path: f64,
    /// Worth of a name behind it.
    pub name: f64,
    /// Worth of the definition's own line in place of the name.
    pub line: f64,
}

/// The files that may be shown, best first; pinned ones before all others. Equal ones stay in path order.
pub(crate) fn order(ranking: &Ranking) -> Vec<u32> {
    let mut order: Vec<u32> = (0..ranking.hidden.len() as u32).filter(|&file| !ranking.hidden[file as usize]).collect();
    let key = |file: u32| (ranking.pinned[file as usize], settled(ranking.scores.files[file as usize]));
    order.sort_by_key(|&file| Reverse(key(file)));
    order
}

/// The definitions of a file with their scores, best first, pinned ones before all others; banned ones are left out. Equal
/// ones stay in source order.
pub(crate) fn shelf(ranking: &Ranking, file: u32) -> Vec<(u32, f64)> {
    let scored = (0u32..).zip(ranking.symbol_scores(file));
    let mut symbols: Vec<(u32, f64)> = scored.filter(|(at, _)| !is_among(ranking, file, *at, Chosen::Banned)).collect();
    symbols.sort_by_key(|symbol| Reverse((is_among(ranking, file, symbol.0, Chosen::Pinned), settled(symbol.1))));
    symbols
}

/// The banned definitions of a file, in source order.
pub(crate) fn banned(ranking: &Ranking, file: u32) -> Vec<u32> {
    let all = 0..ranking.graph.symbols_of(file).len() as u32;
    all.filter(|at| is_among(ranking, file, *at, Chosen::Banned)).collect()
}

/// What the caller has chosen of symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Pinned,
    Banned,
}

/// Whether a definition of a file is among those that were chosen so.
fn is_among(ranking: &Ranking, file: u32, at: u32, chosen: Chosen) -> bool {
    let symbols = match chosen {
        Chosen::Pinned => &ranking.pinned_symbols,
        Chosen::Banned => &ranking.banned_symbols,
    };
    // As a rule nothing is chosen, and nothing is looked up.
    !symbols.is_empty()
        && ranking.graph.symbols_of(file).get(at as usize).is_some_and(|symbol| symbols.contains(symbol))
}

/// A score without the last of its digits, which depend on the order of additions: what is equal stays equal however the
/// index came about.
fn settled(score: f64) -> i64 {
    (score * 1e12).round() as i64
}

/// The probability that the file at a place, counted from 0, is needed, where nothing is known but the places.
fn at_place(place: usize) -> f64 {
    10.8 / (place as f64 + 4.0).powi(2)
}

/// … and that the symbol at a place of a needed file is.
fn symbol_at_place(place: usize) -> f64 {
    10.2 / (place as f64 + 5.0).powi(2)
}

/// The steps of a map, in order, until their estimated tokens exceed `enough`.
pub(crate) fn steps(ranking: &Ranking, order: &[u32], gains: Gains, enough: usize) -> Vec<Choice> {
    let (seen, opened) = (HashSet::new(), HashSet::new());
    let mut planner = Planner { ranking, order, gains, shelves: HashMap::new(), heap: BinaryHeap::new(), seen, opened };
    let homes = pinned_homes(ranking);
    // Every path costs some tokens, so those far down can never have their turn; but landmarks are worth a look.
    for (place, &file) in order.iter().enumerate() {
        let is_home = homes.contains(&file);
        if place < enough || is_home || path::is_landmark(ranking.index().path(file)) {
            planner.push_path(place, is_home);
        }
    }
    let mut steps = Vec::new();
    let mut used = 0.0;
    while let Some(step) = planner.heap.pop() {
        if planner.is_cheaper_now(&step) {
            continue;
        }
        steps.push(planner.choice(&step));
        used += step.cost;
        if used > enough as f64 {
            break;
        }
        planner.follow(&step);
    }
    steps
}

/// The files of pinned symbols.
fn pinned_homes(ranking: &Ranking) -> HashSet<u32> {
    let symbols = ranking.graph.symbols();
    ranking.pinned_symbols.iter().filter_map(|symbol| symbols.get(*symbol as usize)).map(|symbol| symbol.file).collect()
}

struct Planner<'p> {
    ranking: &'p Ranking,
    /// Files, best first.
    order: &'p [u32],
    gains: Gains,
    /// The definitions of each file whose path has had its turn, by its place.
    shelves: HashMap<usize, Vec<(u32, f64)>>,
    heap: BinaryHeap<Step>,
    /// Names that have their step, by place of the file: a second definition of a name needs no second mention.
    seen: HashSet<(usize, &'p str)>,
    /// Containers that have a line, by place of the file: the first line of a member brings that of its container along.
    opened: HashSet<(usize, &'p str)>,
}

impl<'p> Planner<'p> {
    /// Puts a path up; for sure, if it is the `home` of a pinned symbol.
    fn push_path(&mut self, place: usize, home: bool) {
        let path = self.ranking.index().path(self.order[place]);
        // Half of the folder: it is said once for all of its files.
        let name = path::file_name(path).len();
        let bytes = name + (path.len() - name) / 2;
        let chance = if home { 1.0 } else { self.file_chance(place) };
        self.push_short(place, None, chance * self.gains.path, tokens_of(bytes, 3.8) + 2.0);
    }

    /// The probability that the file at a place is needed.
    fn file_chance(&self, place: usize) -> f64 {
        let file = self.order[place];
        let landmark = path::is_landmark(self.ranking.index().path(file));
        match self.ranking.pinned[file as usize] {
            true => 1.0,
            false if self.ranking.is_requested() => {
                let chance = file_chance(self.ranking.scores.files[file as usize], place);
                chance.max(if landmark { LANDMARK } else { 0.0 })
            }
            false => at_place(place),
        }
    }

    /// The probability that a file and the symbol at a place of its shelf are needed.
    fn chance(&self, place: usize, symbol: usize) -> f64 {
        let at = self.shelves.get(&place).and_then(|shelf| shelf.get(symbol)).map(|definition| definition.0);
        let file = self.order.get(place).copied();
        if at.zip(file).is_some_and(|(at, file)| is_among(self.ranking, file, at, Chosen::Pinned)) {
            return 1.0;
        }
        self.file_chance(place) * self.symbol_chance(place, symbol)
    }

    /// The probability that the symbol at a place of its shelf is needed.
    fn symbol_chance(&self, place: usize, symbol: usize) -> f64 {
        match self.shelves.get(&place).and_then(|shelf| shelf.get(symbol)) {
            Some(&(_, chance)) if self.ranking.is_requested() => chance,
            _ => symbol_at_place(symbol),
        }
    }

    fn choice(&self, step: &Step) -> Choice {
        let shelf = self.shelves.get(&step.place);
        let definition = shelf.zip(step.symbol).and_then(|(shelf, symbol)| shelf.get(symbol)).map(|symbol| symbol.0);
        Choice { file: self.order[step.place], definition, tier: step.tier }
    }

    /// Puts up what a step makes possible: the next name, and the line of this one.
    fn follow(&mut self, step: &Step) {
        match (step.symbol, step.tier) {
            (None, _) => {
                self.shelves.insert(step.place, shelf(self.ranking, self.order[step.place]));
                self.push_symbol(step.place, 0);
            }
            (Some(symbol), Tier::Name) => {
                self.push_line(step.place, symbol, true);
                self.push_symbol(step.place, symbol + 1);
            }
            (Some(symbol), Tier::Line) => {
                let entry = self.entry(step.place, symbol);
                let opened = entry.into_iter().flat_map(|entry| [Some(entry.name()), entry.container()]);
                self.opened.extend(opened.flatten().map(|name| (step.place, name)));
            }
        }
    }

    /// Puts a line up again whose container has come into the map since its cost was estimated.
    fn is_cheaper_now(&mut self, step: &Step) -> bool {
        let Some(symbol) = step.symbol.filter(|_| step.opens) else { return false };
        let container = self.entry(step.place, symbol).and_then(|entry| entry.container());
        let cheaper = container.is_some_and(|container| self.opened.contains(&(step.place, container)));
        if cheaper {
            let cost = (step.cost - CONTAINER).max(1.0);
            self.heap.push(Step { worth: step.worth * step.cost / cost, cost, opens: false, ..*step });
        }
        cheaper
    }

    /// The next name from `symbol` on. Further definitions of a name that was there already are put up as lines.
    fn push_symbol(&mut self, place: usize, symbol: usize) {
        let shelf = self.shelves.get(&place).map_or(0, Vec::len);
        for at in symbol..shelf {
            let Some(entry) = self.entry(place, at) else { continue };
            if self.seen.insert((place, entry.name())) {
                let gain = self.chance(place, at) * self.gains.name;
                self.push_short(place, Some(at), gain, tokens_of(entry.name().len(), 5.0) + 2.0);
                return;
            }
            self.push_line(place, at, false);
        }
    }

    fn push_line(&mut self, place: usize, symbol: usize, named: bool) {
        let Some(entry) = self.entry(place, symbol) else { return };
        let saved = if named { tokens_of(entry.name().len(), 5.0) + 1.0 } else { 0.0 };
        let opens = entry.container().is_some_and(|container| !self.opened.contains(&(place, container)));
        let line = (tokens_of(entry.header().len(), 3.6).min(26.0) + 2.0 - saved).max(1.0);
        let cost = line + if opens { CONTAINER } else { 0.0 };
        let gain = self.chance(place, symbol) * self.gains.line;
        self.heap.push(Step { worth: gain / cost, cost, place, symbol: Some(symbol), tier: Tier::Line, opens });
    }

    /// The definition at a place of the shelf of a file at a place.
    fn entry(&self, place: usize, symbol: usize) -> Option<Entry<'p>> {
        let &(index, _) = self.shelves.get(&place)?.get(symbol)?;
        self.ranking.index().definition(self.order[place], index)
    }

    fn push_short(&mut self, place: usize, symbol: Option<usize>, gain: f64, cost: f64) {
        self.heap.push(Step { worth: gain / cost, cost, place, symbol, tier: Tier::Name, opens: false });
    }
}

/// An estimate of the tokens of so many bytes; the true count is taken when the map is fitted.
fn tokens_of(length: usize, bytes: f64) -> f64 {
    (length as f64 / bytes).floor()
}

/// A step that could be taken next.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Expected gain by token.
    worth: f64,
    /// Estimated tokens.
    cost: f64,
    /// Place of the file in the ranking.
    place: usize,
    /// Place of the symbol in its file; none for the path.
    symbol: Option<usize>,
    tier: Tier,
    /// Whether its container has no line yet.
    opens: bool,
}

impl Step {
    fn key(&self) -> (usize, Option<usize>, Tier) {
        (self.place, self.symbol, self.tier)
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then_with(|| other.key().cmp(&self.key()))
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Step {}
