//! The order in which a map grows: a bare path, the names of a file, the lines of its definitions, each step taken where
//! it is expected to help most for its tokens.
//!
//! A file at place r of the ranking is needed with a probability that falls with r, and so is a symbol at place j of its
//! file. The shapes of both curves were measured on commits: which files and symbols, ranked by the commit's own message,
//! did it change?

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

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

/// The symbols of one file, best first.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) file: u32,
    /// Definitions with their scores.
    pub(crate) symbols: Vec<(u32, f64)>,
}

/// All files outside of the chat, best first, with their symbols. Equal ones stay in path and source order.
pub(crate) fn shelves(ranking: &Ranking<'_>) -> Vec<Shelf> {
    let mut order: Vec<u32> = (0..ranking.files.len() as u32).filter(|&file| !ranking.chat[file as usize]).collect();
    order.sort_by(|&a, &b| ranking.file_scores[b as usize].total_cmp(&ranking.file_scores[a as usize]));
    let shelf = |file: u32| {
        let mut symbols: Vec<(u32, f64)> = (0u32..).zip(ranking.symbol_scores[file as usize].iter().copied()).collect();
        symbols.sort_by(|a, b| b.1.total_cmp(&a.1));
        Shelf { file, symbols }
    };
    order.into_iter().map(shelf).collect()
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
pub(crate) fn steps(ranking: &Ranking<'_>, shelves: &[Shelf], gains: Gains, enough: usize) -> Vec<Choice> {
    let mut planner = Planner { ranking, shelves, gains, heap: BinaryHeap::new(), seen: BTreeSet::new() };
    for place in 0..shelves.len() {
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

struct Planner<'p, 'a> {
    ranking: &'p Ranking<'a>,
    shelves: &'p [Shelf],
    gains: Gains,
    heap: BinaryHeap<Step>,
    /// Names that have their step, by place of the file: a second definition of a name needs no second mention.
    seen: BTreeSet<(usize, &'a str)>,
}

impl<'a> Planner<'_, 'a> {
    fn push_path(&mut self, place: usize) {
        let path = &self.ranking.files[self.shelves[place].file as usize].path;
        self.push(place, None, Tier::Name, of_file(place) * self.gains.path, tokens_of(path, 3.8) + 2.0);
    }

    fn choice(&self, step: &Step) -> Choice {
        let shelf = &self.shelves[step.place];
        let definition = step.symbol.and_then(|symbol| shelf.symbols.get(symbol)).map(|symbol| symbol.0);
        Choice { file: shelf.file, definition, tier: step.tier }
    }

    /// Puts up what a step makes possible: the next name, and the line of this one.
    fn follow(&mut self, step: &Step) {
        match (step.symbol, step.tier) {
            (None, _) => self.push_symbol(step.place, 0),
            (Some(symbol), Tier::Name) => {
                self.push_line(step.place, symbol, true);
                self.push_symbol(step.place, symbol + 1);
            }
            (Some(_), Tier::Line) => {}
        }
    }

    /// The next name from `symbol` on. Further definitions of a name that was there already are put up as lines.
    fn push_symbol(&mut self, place: usize, symbol: usize) {
        let shelf = &self.shelves[place];
        let definitions = &self.ranking.files[shelf.file as usize].tags.definitions;
        for (at, (index, _)) in shelf.symbols.iter().enumerate().skip(symbol) {
            let name = definitions[*index as usize].name.as_str();
            if self.seen.insert((place, name)) {
                let gain = of_file(place) * of_symbol(at) * self.gains.name;
                self.push(place, Some(at), Tier::Name, gain, tokens_of(name, 5.0) + 2.0);
                return;
            }
            self.push_line(place, at, false);
        }
    }

    fn push_line(&mut self, place: usize, symbol: usize, named: bool) {
        let shelf = &self.shelves[place];
        let Some(&(index, _)) = shelf.symbols.get(symbol) else {
            return;
        };
        let file = self.ranking.files[shelf.file as usize];
        let definition = &file.tags.definitions[index as usize];
        let header = file.digest.header(index, definition);
        let saved = if named { tokens_of(&definition.name, 5.0) + 1.0 } else { 0.0 };
        let cost = (tokens_of(header, 3.6).min(26.0) + 2.0 - saved).max(1.0);
        let gain = of_file(place) * of_symbol(symbol) * self.gains.line;
        self.push(place, Some(symbol), Tier::Line, gain, cost);
    }

    fn push(&mut self, place: usize, symbol: Option<usize>, tier: Tier, gain: f64, cost: f64) {
        self.heap.push(Step { worth: gain / cost, cost, place, symbol, tier });
    }
}

/// An estimate of the tokens of a text; the true count is taken when the map is fitted.
fn tokens_of(text: &str, bytes: f64) -> f64 {
    (text.len() as f64 / bytes).floor()
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
