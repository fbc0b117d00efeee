//! The order in which a map grows: a bare path, the names of a file, the lines of its definitions, each step taken where
//! it is expected to help most for its tokens.
//!
//! A file at place r of the ranking is needed with a probability that falls with r, and so is a symbol at place j of its
//! file. The shapes of both curves were measured on commits: which files and symbols, ranked by the commit's own message,
//! did it change?

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::index::Entry;
use super::render::{Choice, Tier};
use super::standing::Ranking;

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

/// The files outside of the chat, best first. Equal ones stay in path order.
pub(crate) fn order(ranking: &Ranking) -> Vec<u32> {
    let mut order: Vec<u32> = (0..ranking.chat.len() as u32).filter(|&file| !ranking.chat[file as usize]).collect();
    order.sort_by_key(|&file| Reverse(settled(ranking.scores.files[file as usize])));
    order
}

/// The definitions of a file with their scores, best first. Equal ones stay in source order.
pub(crate) fn shelf(ranking: &Ranking, file: u32) -> Vec<(u32, f64)> {
    let mut symbols: Vec<(u32, f64)> = (0u32..).zip(ranking.symbol_scores(file)).collect();
    symbols.sort_by_key(|symbol| Reverse(settled(symbol.1)));
    symbols
}

/// A score without the last of its digits, which depend on the order of additions: what is equal stays equal however the
/// index came about.
fn settled(score: f64) -> i64 {
    (score * 1e12).round() as i64
}

/// The probability that the file at a place, counted from 0, is needed.
fn of_file(place: usize) -> f64 {
    10.8 / (place as f64 + 4.0).powi(2)
}

/// The probability that the symbol at a place of a needed file is needed.
fn of_symbol(place: usize) -> f64 {
    10.2 / (place as f64 + 5.0).powi(2)
}

/// The steps of a map, in order, until their estimated tokens exceed `enough`.
pub(crate) fn steps(ranking: &Ranking, order: &[u32], gains: Gains, enough: usize) -> Vec<Choice> {
    let shelves = HashMap::new();
    let mut planner = Planner { ranking, order, gains, shelves, heap: BinaryHeap::new(), seen: HashSet::new() };
    // Every path costs some tokens, so those far down can never have their turn.
    for place in 0..order.len().min(enough) {
        planner.push_path(place);
    }
    let mut steps = Vec::new();
    let mut used = 0.0;
    while let Some(step) = planner.heap.pop() {
        steps.push(planner.choice(&step));
        used += step.cost;
        if used > enough as f64 {
            break;
        }
        planner.follow(&step);
    }
    steps
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
}

impl<'p> Planner<'p> {
    fn push_path(&mut self, place: usize) {
        let path = self.ranking.index().path(self.order[place]);
        self.push(place, None, Tier::Name, of_file(place) * self.gains.path, tokens_of(path.len(), 3.8) + 2.0);
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
            (Some(_), Tier::Line) => {}
        }
    }

    /// The next name from `symbol` on. Further definitions of a name that was there already are put up as lines.
    fn push_symbol(&mut self, place: usize, symbol: usize) {
        let shelf = self.shelves.get(&place).map_or(0, Vec::len);
        for at in symbol..shelf {
            let Some(entry) = self.entry(place, at) else { continue };
            if self.seen.insert((place, entry.name())) {
                let gain = of_file(place) * of_symbol(at) * self.gains.name;
                self.push(place, Some(at), Tier::Name, gain, tokens_of(entry.name().len(), 5.0) + 2.0);
                return;
            }
            self.push_line(place, at, false);
        }
    }

    fn push_line(&mut self, place: usize, symbol: usize, named: bool) {
        let Some(entry) = self.entry(place, symbol) else { return };
        let saved = if named { tokens_of(entry.name().len(), 5.0) + 1.0 } else { 0.0 };
        let cost = (tokens_of(entry.header().len(), 3.6).min(26.0) + 2.0 - saved).max(1.0);
        let gain = of_file(place) * of_symbol(symbol) * self.gains.line;
        self.push(place, Some(symbol), Tier::Line, gain, cost);
    }

    /// The definition at a place of the shelf of a file at a place.
    fn entry(&self, place: usize, symbol: usize) -> Option<Entry<'p>> {
        let &(index, _) = self.shelves.get(&place)?.get(symbol)?;
        self.ranking.index().definition(self.order[place], index)
    }

    fn push(&mut self, place: usize, symbol: Option<usize>, tier: Tier, gain: f64, cost: f64) {
        self.heap.push(Step { worth: gain / cost, cost, place, symbol, tier });
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
