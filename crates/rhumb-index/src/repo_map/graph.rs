//! The tag graph: files vote for names, names share their votes among the definitions of that name.
//!
//! The graph that is ranked has an arc from each referencing file to each defining file, one for every name. Its size is
//! the product of both, which explodes for a `new` that thousands of files define and use. A name shares its votes
//! equally among its definitions, so the same ranks come out of the two halves of each arc: file → name → definition.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use petgraph::csr::Csr;
use rayon::prelude::*;

use super::history::{History, Past};
use super::imports::Modules;
use super::index::MapIndex;
use super::neighbourhood::{FileUses, Neighbourhood};
use super::weights::{Weights, is_compound};

/// No symbol yet.
const NONE: u32 = u32::MAX;

/// Sizes of what is ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapStats {
    /// Files, those in the chat included.
    pub files: usize,
    /// Definitions in them.
    pub definitions: usize,
    /// References in them, repeated ones included.
    pub references: usize,
}

/// The definitions of one name in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// The file that defines it.
    pub file: u32,
    /// The name.
    pub name: u32,
    /// How many definitions of that name the file has.
    pub definitions: u32,
}

/// The tag graph of an index.
#[derive(Debug, Default)]
pub struct TagGraph {
    index: Arc<MapIndex>,
    /// All symbols, those of a file next to each other.
    symbols: Vec<Symbol>,
    /// By definition: its symbol; those of a file next to each other.
    symbol_of: Vec<u32>,
    /// Where the definitions of each file begin in `symbol_of`; one more for the end.
    files: Vec<u32>,
    definers: Definers,
    /// By name: whether any file references it.
    referenced: Vec<bool>,
    /// Rows are files, targets are symbols and, behind them, names; an edge's weight is the part of the file's votes that
    /// it carries.
    votes: Csr<(), f64>,
    stats: MapStats,
    past: Past,
    /// Made when a request first asks.
    neighbourhood: OnceLock<Neighbourhood>,
    /// Made when a request first asks.
    prominence: OnceLock<Vec<f64>>,
}

/// For each name, its symbols in file order.
#[derive(Debug, Default)]
struct Definers {
    starts: Vec<u32>,
    symbols: Vec<u32>,
    /// The file of each of these symbols.
    files: Vec<u32>,
}

impl Definers {
    /// Sorts the symbols by name.
    fn new(symbols: &[Symbol], names: usize) -> Self {
        let mut starts = vec![0u32; names + 1];
        for symbol in symbols {
            starts[symbol.name as usize + 1] += 1;
        }
        for name in 0..names {
            starts[name + 1] += starts[name];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0u32; symbols.len()];
        for (at, symbol) in (0u32..).zip(symbols) {
            let slot = &mut next[symbol.name as usize];
            sorted[*slot as usize] = at;
            *slot += 1;
        }
        let files = sorted.iter().map(|&symbol| symbols[symbol as usize].file).collect();
        Self { starts, symbols: sorted, files }
    }

    fn range(&self, name: u32) -> Range<usize> {
        let bounds = self.starts.get(name as usize).zip(self.starts.get(name as usize + 1));
        bounds.map_or(0..0, |(&start, &end)| start as usize..end as usize)
    }

    fn of(&self, name: u32) -> &[u32] {
        self.symbols.get(self.range(name)).unwrap_or_default()
    }
}

impl TagGraph {
    /// The graph of an index, with what past commits say of its files.
    pub fn new(index: Arc<MapIndex>, history: &History, weights: &Weights) -> Self {
        let (symbols, symbol_of, files) = symbols(&index);
        let definers = Definers::new(&symbols, index.names());
        let past = Past::new(history, index.len(), |path| index.file_at(path));
        let mut graph = Self { index, symbols, symbol_of, files, definers, past, ..Self::default() };
        graph.vote(weights);
        graph
    }

    /// What past commits say of the files.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// How near the files are to each other, along references and imports.
    pub(super) fn neighbourhood(&self, weights: &Weights) -> &Neighbourhood {
        self.neighbourhood.get_or_init(|| {
            let modules = Modules::new(self.index.files().iter().map(|file| &*file.path));
            let uses = |file: u32| {
                let mut imports: Vec<u32> =
                    self.index.imports(file).flat_map(|module| modules.resolve(module, file)).collect();
                imports.sort_unstable();
                imports.dedup();
                let names = self.index.references(file).map(|uses| (uses.name, uses.count)).collect();
                FileUses { names, imports: if weights.imports { imports } else { Vec::new() } }
            };
            let compound = |name: u32| {
                let text = self.index.name(name);
                text.len() >= weights.compound_length && is_compound(text)
            };
            Neighbourhood::new(self.index.len(), uses, |name| self.defining_files(name), compound)
        })
    }

    /// By file, from 0 to 1: how much it stands out before anybody asks. `make` tells, once.
    pub(super) fn prominence(&self, make: impl FnOnce() -> Vec<f64>) -> &[f64] {
        self.prominence.get_or_init(make)
    }

    /// The index that it was made from.
    pub fn index(&self) -> &Arc<MapIndex> {
        &self.index
    }

    /// All symbols, those of a file next to each other.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The symbols of the definitions of a file, in source order.
    pub fn symbols_of(&self, file: u32) -> &[u32] {
        self.symbol_of.get(self.definitions_of(file)).unwrap_or_default()
    }

    /// The symbols of a name, in file order.
    pub fn definers(&self, name: u32) -> &[u32] {
        self.definers.of(name)
    }

    /// The files that define a name, in order.
    pub fn defining_files(&self, name: u32) -> &[u32] {
        self.definers.files.get(self.definers.range(name)).unwrap_or_default()
    }

    /// Whether any file references a name.
    pub fn is_referenced(&self, name: u32) -> bool {
        self.referenced.get(name as usize).copied().unwrap_or(false)
    }

    /// The parts of a file's votes, as (target, part): targets are symbols and, behind them, names.
    pub fn votes_of(&self, file: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let known = (file as usize) < self.votes.node_count();
        let row = known.then(|| {
            self.votes.neighbors_slice(file).iter().copied().zip(self.votes.edges_slice(file).iter().copied())
        });
        row.into_iter().flatten()
    }

    /// Adds the mass of each file to what it votes for: symbols and, behind them, names.
    pub(crate) fn spread(&self, from: &[f64], to: &mut [f64]) {
        for (file, &mass) in (0u32..).zip(from).filter(|(_, mass)| **mass > 0.0) {
            for (target, part) in self.votes_of(file) {
                to[target as usize] += mass * part;
            }
        }
    }

    fn definitions_of(&self, file: u32) -> Range<usize> {
        let bounds = self.files.get(file as usize).zip(self.files.get(file as usize + 1));
        bounds.map_or(0..0, |(&start, &end)| start as usize..end as usize)
    }

    /// Sizes of what is ranked.
    pub fn stats(&self) -> MapStats {
        self.stats
    }

    /// Counts the votes of all files, and gives what nobody references a little of its file.
    fn vote(&mut self, weights: &Weights) {
        let factors = self.factors(weights);
        // Looking up every reference is most of the work of a graph, and the files do not depend on each other.
        let rows: Vec<Vec<(u32, f64)>> =
            (0..self.index.len() as u32).into_par_iter().map(|file| self.row(file, &factors, weights)).collect();
        self.referenced = vec![false; self.index.names()];
        let mut references = 0;
        for file in 0..self.index.len() as u32 {
            for uses in self.index.references(file) {
                references += uses.count as usize;
                if let Some(cell) = self.referenced.get_mut(uses.name as usize) {
                    *cell = true;
                }
            }
        }
        self.stats = MapStats { files: self.index.len(), definitions: self.symbol_of.len(), references };
        let mut edges: Vec<(u32, u32, f64)> = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        for (file, mut row) in (0u32..).zip(rows) {
            row.extend(self.unused(file).map(|symbol| (symbol, weights.unused)));
            // Added up in the order of the file, not of the numbers, so that no index gives another rank.
            let total: f64 = row.iter().map(|vote| vote.1).sum();
            row.sort_unstable_by_key(|vote| vote.0);
            row.dedup_by(|later, first| {
                let same = later.0 == first.0;
                first.1 += if same { later.1 } else { 0.0 };
                same
            });
            edges
                .extend(row.into_iter().filter(|vote| vote.1 > 0.0).map(|(target, vote)| (file, target, vote / total)));
        }
        self.votes = Csr::from_sorted_edges(&edges).unwrap_or_default();
    }

    /// What references to each name count.
    fn factors(&self, weights: &Weights) -> Vec<f64> {
        let factor = |name: u32| match self.definers(name).len() {
            0 => 0.0,
            definers => weights.of_name(self.index.name(name), definers),
        };
        (0..self.index.names() as u32).into_par_iter().map(factor).collect()
    }

    /// Each definer of a name gets its vote; a local definition may keep it all at home.
    fn row(&self, file: u32, factors: &[f64], weights: &Weights) -> Vec<(u32, f64)> {
        let mut row = Vec::new();
        for uses in self.index.references(file) {
            let definers = self.definers(uses.name);
            if definers.is_empty() {
                continue;
            }
            let vote = weights.of_reference(factors[uses.name as usize], uses.count as usize);
            let local = || definers.binary_search_by_key(&file, |&symbol| self.symbols[symbol as usize].file).ok();
            match local().filter(|_| weights.prefer_local || definers.len() == 1) {
                Some(at) => row.push((definers[at], vote)),
                None => row.push((self.symbols.len() as u32 + uses.name, vote * definers.len() as f64)),
            }
        }
        row
    }

    /// The symbols of a file that no file references.
    fn unused(&self, file: u32) -> impl Iterator<Item = u32> + '_ {
        let mut symbols = self.symbols_of(file).to_vec();
        symbols.sort_unstable();
        symbols.dedup();
        symbols.into_iter().filter(|&symbol| !self.is_referenced(self.symbols[symbol as usize].name))
    }
}

/// The symbols of all files, the symbol of each definition, and where the definitions of each file begin.
fn symbols(index: &MapIndex) -> (Vec<Symbol>, Vec<u32>, Vec<u32>) {
    let (mut symbols, mut symbol_of, mut files) = (Vec::new(), Vec::new(), Vec::with_capacity(index.len() + 1));
    // By name, its latest symbol: a name that the file has already stays one symbol.
    let mut latest = vec![NONE; index.names()];
    for file in 0..index.len() as u32 {
        files.push(symbol_of.len() as u32);
        for name in index.defined(file) {
            let Some(last) = latest.get_mut(name as usize) else { continue };
            match symbols.get_mut(*last as usize) {
                Some(Symbol { file: before, definitions, .. }) if *before == file => *definitions += 1,
                _ => {
                    *last = symbols.len() as u32;
                    symbols.push(Symbol { file, name, definitions: 1 });
                }
            }
            symbol_of.push(*last);
        }
    }
    files.push(symbol_of.len() as u32);
    (symbols, symbol_of, files)
}
