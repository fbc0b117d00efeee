//! Explains ranks: the references and the other evidence that contribute most to the rank of a file or a symbol.

use std::collections::HashMap;

use super::map::RepoMap;
use super::ranking::Ranking;
use super::score::{contributions, symbol_contributions};

/// Maximum number of references per file or symbol.
const MAX_REFERENCES: usize = 5;

/// A reference that contributes to a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankReference {
    /// The referencing file.
    pub from: String,
    /// The referenced name.
    pub ident: String,
    /// The rank that the reference contributes.
    pub weight: f64,
}

/// A reference as numbers: the file that votes, the symbol that it votes for, the rank that it contributes.
type Vote = (u32, u32, f64);

/// The heaviest references to some files and to their symbols.
#[derive(Debug)]
pub(crate) struct ReferenceWeights {
    by_symbol: HashMap<u32, Vec<Vote>>,
    by_file: HashMap<u32, Vec<Vote>>,
}

impl ReferenceWeights {
    /// Visits every vote once.
    pub(crate) fn new(ranking: &Ranking, files: &[u32]) -> Self {
        let graph = &ranking.graph;
        let mut by_file: HashMap<u32, Vec<Vote>> = files.iter().map(|&file| (file, Vec::new())).collect();
        let mut by_symbol: HashMap<u32, Vec<Vote>> =
            files.iter().flat_map(|&file| graph.symbols_of(file)).map(|&symbol| (symbol, Vec::new())).collect();
        let symbols = graph.symbols().len() as u32;
        let file_votes = graph.votes();
        for (from, &rank) in (0u32..).zip(&ranking.reference_ranks().files) {
            for (target, part) in file_votes.of_file(from) {
                let is_own = target < symbols;
                let (definers, mass) = match target.checked_sub(symbols) {
                    // An unreferenced name keeps a little of the rank of its file; that is not a reference.
                    None if !file_votes.is_referenced(graph.symbols()[target as usize].name) => continue,
                    None => (std::slice::from_ref(&target), rank * part),
                    Some(name) => (graph.definers(name), rank * part / graph.definers(name).len() as f64),
                };
                for symbol in definers {
                    let Some(votes) = by_symbol.get_mut(symbol) else { continue };
                    keep(votes, (from, *symbol, mass));
                    // Votes of a file for its own symbols raise the file only by the share `home`.
                    let mass = if is_own { mass * ranking.weights.home } else { mass };
                    let file = graph.symbols()[*symbol as usize].file;
                    if let Some(votes) = by_file.get_mut(&file).filter(|_| mass > 0.0) {
                        keep(votes, (from, *symbol, mass));
                    }
                }
            }
        }
        Self { by_symbol, by_file }
    }

    /// The references to a file, heaviest first.
    pub(crate) fn of_file(&self, ranking: &Ranking, file: u32) -> Vec<RankReference> {
        self.by_file.get(&file).map_or_else(Vec::new, |votes| resolved(ranking, votes))
    }

    /// The references to a symbol, heaviest first.
    pub(crate) fn of_symbol(&self, ranking: &Ranking, symbol: u32) -> Vec<RankReference> {
        self.by_symbol.get(&symbol).map_or_else(Vec::new, |votes| resolved(ranking, votes))
    }
}

/// Inserts a reference if it is among the heaviest.
fn keep(votes: &mut Vec<Vote>, vote: Vote) {
    let heavier = |other: &Vote| {
        other.2.total_cmp(&vote.2).then((vote.0, vote.1).cmp(&(other.0, other.1))) == std::cmp::Ordering::Greater
    };
    let position = votes.partition_point(heavier);
    if position < MAX_REFERENCES {
        votes.insert(position, vote);
        votes.truncate(MAX_REFERENCES);
    }
}

fn resolved(ranking: &Ranking, votes: &[Vote]) -> Vec<RankReference> {
    let index = ranking.index();
    let resolve = |&(file, symbol, weight): &Vote| RankReference {
        from: index.path(file).to_owned(),
        ident: index.name(ranking.graph.symbols()[symbol as usize].name).to_owned(),
        weight,
    };
    votes.iter().map(resolve).collect()
}

/// The references that contribute most to the ranks of a file and of each of its symbols.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TopReferences {
    /// For the file, heaviest first.
    pub file: Vec<RankReference>,
    /// For each symbol, in the order of [`RepoMap::symbols`].
    pub symbols: Vec<Vec<RankReference>>,
}

/// The explanation of a rank, to be shown to a user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// The contributions to the score, strongest first: in log-odds with a request, else as shares of the highest rank.
    pub contributions: Vec<Contribution>,
    /// Whether the request is about any file, so that the contributions are log-odds.
    pub requested: bool,
    /// The references that contribute most, heaviest first.
    pub references: Vec<LocatedReference>,
}

/// A kind of evidence and its contribution to a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contribution {
    /// The kind of evidence, as a phrase for users: `named in the message`.
    pub label: &'static str,
    /// The contribution to the score. Negative for evidence against.
    pub weight: f64,
}

/// A reference that contributes to a rank, with its line.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedReference {
    /// The referencing file.
    pub from: String,
    /// The referenced name.
    pub ident: String,
    /// The rank that the reference contributes.
    pub weight: f64,
    /// The first line with the reference, 1-based; 0 if unknown.
    pub line: u32,
}

impl Ranking {
    /// The contributions to the score of a file of the index, strongest first: in log-odds with a request, else as shares of the
    /// highest rank.
    pub fn contributions(&self, file: u32) -> Vec<Contribution> {
        contributions(self, file)
    }
}

impl RepoMap {
    /// The references that contribute most to the ranks of the files at some positions.
    pub fn top_references(&self, positions: &[usize]) -> Vec<TopReferences> {
        let files = positions.iter().filter_map(|&position| self.files.get(position)).map(|file| file.file);
        let references = ReferenceWeights::new(&self.ranking, &files.collect::<Vec<u32>>());
        let of_position = |&position: &usize| {
            let Some(file) = self.files.get(position) else { return TopReferences::default() };
            let symbols = self.symbols(position).iter();
            TopReferences {
                file: references.of_file(&self.ranking, file.file),
                symbols: symbols.map(|symbol| references.of_symbol(&self.ranking, symbol.symbol)).collect(),
            }
        };
        positions.iter().map(of_position).collect()
    }

    /// Explains the rank of the file at a position, or of a symbol in it by its index in [`RepoMap::symbols`]. Visits every reference of
    /// the repository, so it must not run on a draw path.
    pub fn explain(&self, position: usize, symbol: Option<usize>) -> Explanation {
        let Some(file) = self.files.get(position).map(|file| file.file) else { return Explanation::default() };
        let ranking = &self.ranking;
        let weights = ReferenceWeights::new(ranking, &[file]);
        let symbol = symbol.and_then(|at| self.symbols(position).get(at));
        let (contributions, references) = match symbol {
            None => (contributions(ranking, file), weights.of_file(ranking, file)),
            Some(symbol) => {
                (symbol_contributions(ranking, file, symbol.index), weights.of_symbol(ranking, symbol.symbol))
            }
        };
        let located = |reference: RankReference| {
            let line = self.line_of(&reference).unwrap_or(0);
            let RankReference { from, ident, weight } = reference;
            LocatedReference { from, ident, weight, line }
        };
        let references = references.into_iter().map(located).collect();
        Explanation { contributions, requested: ranking.is_requested(), references }
    }

    /// The first line on which a file references a name.
    fn line_of(&self, reference: &RankReference) -> Option<u32> {
        let index = self.ranking.index();
        let (file, name) = (index.file_at(&reference.from)?, index.name_number(&reference.ident)?);
        index.references(file).find(|found| found.name == name).map(|found| found.line)
    }
}
