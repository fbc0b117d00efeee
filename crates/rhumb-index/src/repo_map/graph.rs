//! The tag graph: each file votes for the names that it references, and each name shares its votes among its definitions.
//!
//! The ranked graph has an edge from each referencing file to each defining file, per name. Its size is the product of both numbers,
//! which is huge for a `new` that thousands of files define and use. A name shares its votes equally, so the two halves of each edge
//! (file → name → definition) give the same ranks.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::definitions::Definitions;
use super::history::{CommitIndex, History};
use super::imports::ModuleResolver;
use super::index::MapIndex;
use super::neighbourhood::{FileUses, Neighbourhood};
use super::pagerank::CsrGraph;
use super::ranking::ReferenceRanks;
use super::weights::{Weights, is_compound};

/// Number of files whose votes are computed at once.
const ROWS_AT_ONCE: usize = 4_096;

/// No symbol.
const NONE: u32 = u32::MAX;

/// Sizes of a graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapStats {
    /// Files, including those in the chat.
    pub files: usize,
    /// Definitions in these files.
    pub definitions: usize,
    /// References in these files, with repetitions.
    pub references: usize,
}

/// The definitions of one name in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// The defining file.
    pub file: u32,
    /// The name.
    pub name: u32,
    /// Number of definitions of the name in the file.
    pub definitions: u32,
}

/// What a graph has computed that depends on no request. It can be stored, and given to an equal graph with [`TagGraph::set_ranks`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphRanks {
    /// Number of references, with repetitions.
    pub references: u64,
    /// By file: the PageRank without a request. Empty if it was not computed, as are the other lists.
    pub files: Vec<f64>,
    /// By symbol: its part of the rank of the files that reference it, without a request.
    pub symbols: Vec<f64>,
    /// By file: its prominence.
    pub prominence: Vec<f64>,
}

impl GraphRanks {
    /// Number of lists that take long to compute: the PageRank and the prominence.
    pub const LISTS: usize = 2;
}

/// The tag graph of an index.
#[derive(Debug, Default)]
pub struct TagGraph {
    index: Arc<MapIndex>,
    weights: Weights,
    /// All symbols, grouped by file.
    symbols: Vec<Symbol>,
    /// The symbol of each definition, grouped by file.
    symbol_of: Vec<u32>,
    /// The start of the definitions of each file in `symbol_of`, and the end.
    files: Vec<u32>,
    definers: Definers,
    commits: CommitIndex,
    /// Computed when they are used. Most requests need the ranks only.
    votes: Mutex<Option<Arc<Votes>>>,
    /// Number of references, with repetitions. Computed at the first use.
    references: OnceLock<u64>,
    /// The ranks without a request. Computed at the first use.
    base_ranks: OnceLock<ReferenceRanks>,
    /// Computed at the first use.
    neighbourhood: OnceLock<Neighbourhood>,
    /// Computed at the first use.
    prominence: OnceLock<Vec<f64>>,
    /// Computed at the first use.
    definitions: OnceLock<Definitions>,
}

/// The votes of all files.
#[derive(Debug)]
pub(crate) struct Votes {
    /// By name: whether a file references it.
    referenced: Vec<bool>,
    /// One row per file. Targets are symbols and, after them, names; weights are the shares of the file's votes.
    shares: CsrGraph,
}

impl Votes {
    /// Whether a file references a name.
    pub(crate) fn is_referenced(&self, name: u32) -> bool {
        self.referenced.get(name as usize).copied().unwrap_or(false)
    }

    /// The shares of a file's votes as (target, share). Targets are symbols and, after them, names.
    pub(crate) fn of_file(&self, file: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.shares.row(file as usize)
    }

    /// Adds the mass of each file to the targets of its votes: symbols and, after them, names.
    pub(crate) fn spread(&self, from: &[f64], to: &mut [f64]) {
        self.shares.spread(from, to);
    }
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
    /// Groups the symbols by name.
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
    /// Builds the graph of an index. `history` adds the evidence of past commits.
    pub fn new(index: Arc<MapIndex>, history: &History, weights: &Weights) -> Self {
        let (symbols, symbol_of, files) = symbols(&index);
        let definers = Definers::new(&symbols, index.names());
        let commits = CommitIndex::new(history, index.len(), |path| index.file_at(path));
        Self { index, weights: weights.clone(), symbols, symbol_of, files, definers, commits, ..Self::default() }
    }

    /// Sets ranks that an equal graph has computed. Lists of the wrong length have no effect.
    pub fn set_ranks(&self, ranks: GraphRanks) {
        let _ = self.references.set(ranks.references);
        if ranks.files.len() == self.index.len() && ranks.symbols.len() == self.symbols.len() {
            let _ = self.base_ranks.set(ReferenceRanks { files: ranks.files, symbols: ranks.symbols });
        }
        if ranks.prominence.len() == self.index.len() {
            let _ = self.prominence.set(ranks.prominence);
        }
    }

    /// The ranks that were computed or set.
    pub fn ranks(&self) -> GraphRanks {
        let base = self.base_ranks.get().cloned().unwrap_or_default();
        GraphRanks {
            references: self.references(),
            files: base.files,
            symbols: base.symbols,
            prominence: self.prominence.get().cloned().unwrap_or_default(),
        }
    }

    /// How many of the [`GraphRanks::LISTS`] lists were computed or set.
    pub fn rank_lists(&self) -> usize {
        usize::from(self.base_ranks.get().is_some()) + usize::from(self.prominence.get().is_some())
    }

    /// The ranks without a request. `make` computes them once; they are those of `weights`, which others do not share.
    pub(crate) fn base_ranks(
        &self,
        weights: &Weights,
        make: impl FnOnce() -> ReferenceRanks,
    ) -> Option<&ReferenceRanks> {
        (*weights == self.weights).then(|| self.base_ranks.get_or_init(make))
    }

    /// The past commits of the files.
    pub fn commits(&self) -> &CommitIndex {
        &self.commits
    }

    /// The proximity of files along references and imports.
    pub(crate) fn neighbourhood(&self, weights: &Weights) -> &Neighbourhood {
        self.neighbourhood.get_or_init(|| {
            let modules = ModuleResolver::new(self.index.files().iter().map(|file| &*file.path));
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

    /// By file, from 0 to 1: its prominence without a request. `make` computes it once.
    pub(crate) fn prominence(&self, make: impl FnOnce() -> Vec<f64>) -> &[f64] {
        self.prominence.get_or_init(make)
    }

    /// How the definitions contain and extend each other.
    pub(crate) fn all_definitions(&self) -> &Definitions {
        self.definitions.get_or_init(|| Definitions::new(&self.index))
    }

    /// The index of the graph.
    pub fn index(&self) -> &Arc<MapIndex> {
        &self.index
    }

    /// All symbols, grouped by file.
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

    /// The files that define a name, sorted.
    pub fn defining_files(&self, name: u32) -> &[u32] {
        self.definers.files.get(self.definers.range(name)).unwrap_or_default()
    }

    /// The votes of all files. They are kept until [`TagGraph::release_votes`].
    pub(crate) fn votes(&self) -> Arc<Votes> {
        let mut votes = self.votes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(votes.get_or_insert_with(|| Arc::new(self.vote())))
    }

    /// Frees the votes, which are large. Once the ranks are computed, they are needed only for a chat without a message and for
    /// explanations, and are computed again then.
    pub fn release_votes(&self) {
        self.votes.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn references(&self) -> u64 {
        let count = |file: u32| self.index.references(file).map(|uses| u64::from(uses.count)).sum::<u64>();
        *self.references.get_or_init(|| (0..self.index.len() as u32).map(count).sum())
    }

    fn definitions_of(&self, file: u32) -> Range<usize> {
        let bounds = self.files.get(file as usize).zip(self.files.get(file as usize + 1));
        bounds.map_or(0..0, |(&start, &end)| start as usize..end as usize)
    }

    /// Sizes of the graph.
    pub fn stats(&self) -> MapStats {
        let references = usize::try_from(self.references()).unwrap_or(usize::MAX);
        MapStats { files: self.index.len(), definitions: self.symbol_of.len(), references }
    }

    /// Computes the votes of all files. Unreferenced symbols get a small vote of their own file.
    fn vote(&self) -> Votes {
        let factors = self.factors();
        let files: Vec<u32> = (0..self.index.len() as u32).collect();
        let mut referenced = vec![false; self.index.names()];
        let mut names = 0;
        for uses in files.iter().flat_map(|&file| self.index.references(file)) {
            names += 1;
            if let Some(cell) = referenced.get_mut(uses.name as usize) {
                *cell = true;
            }
        }
        // Looking up the references is most of the work, and files are independent of each other. Only some rows are in memory at once.
        let rows = files.chunks(ROWS_AT_ONCE).flat_map(|files| {
            files.par_iter().map(|&file| self.shares(file, &factors, &referenced)).collect::<Vec<_>>()
        });
        let shares = CsrGraph::from_rows(rows, names + self.symbols.len());
        Votes { referenced, shares }
    }

    /// The shares of the votes of a file, by target.
    fn shares(&self, file: u32, factors: &[f64], referenced: &[bool]) -> Vec<(u32, f64)> {
        let mut row = self.row(file, factors);
        row.extend(self.unused(file, referenced).map(|symbol| (symbol, self.weights.unused)));
        // Summed in the order of the file, so that the numbering of an index does not affect the ranks.
        let total: f64 = row.iter().map(|vote| vote.1).sum();
        row.sort_unstable_by_key(|vote| vote.0);
        row.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same { later.1 } else { 0.0 };
            same
        });
        row.retain(|vote| vote.1 > 0.0);
        row.iter_mut().for_each(|vote| vote.1 /= total);
        row
    }

    /// The factor of references to each name.
    fn factors(&self) -> Vec<f64> {
        let factor = |name: u32| match self.definers(name).len() {
            0 => 0.0,
            definers => self.weights.of_name(self.index.name(name), definers),
        };
        (0..self.index.names() as u32).into_par_iter().map(factor).collect()
    }

    /// The votes of a file: one for each definer of a referenced name, or all for a local definition.
    fn row(&self, file: u32, factors: &[f64]) -> Vec<(u32, f64)> {
        let mut row = Vec::new();
        for uses in self.index.references(file) {
            let definers = self.definers(uses.name);
            if definers.is_empty() {
                continue;
            }
            let vote = self.weights.of_reference(factors[uses.name as usize], uses.count as usize);
            let local = || definers.binary_search_by_key(&file, |&symbol| self.symbols[symbol as usize].file).ok();
            match local().filter(|_| self.weights.prefer_local || definers.len() == 1) {
                Some(at) => row.push((definers[at], vote)),
                None => row.push((self.symbols.len() as u32 + uses.name, vote * definers.len() as f64)),
            }
        }
        row
    }

    /// The symbols of a file that are not referenced.
    fn unused<'a>(&'a self, file: u32, referenced: &'a [bool]) -> impl Iterator<Item = u32> + 'a {
        let mut symbols = self.symbols_of(file).to_vec();
        symbols.sort_unstable();
        symbols.dedup();
        symbols.into_iter().filter(|&symbol| !referenced[self.symbols[symbol as usize].name as usize])
    }
}

/// The symbols of all files, the symbol of each definition, and the start of the definitions of each file.
fn symbols(index: &MapIndex) -> (Vec<Symbol>, Vec<u32>, Vec<u32>) {
    let definitions = (0..index.len() as u32).map(|file| index.definitions(file).count()).sum();
    let (mut symbols, mut symbol_of) = (Vec::with_capacity(definitions), Vec::with_capacity(definitions));
    let mut files = Vec::with_capacity(index.len() + 1);
    // The latest symbol of each name: further definitions of a name in a file belong to the same symbol.
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
