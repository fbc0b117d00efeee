//! Building a map: rank, choose, write, and keep what the panes and the command line show of it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::explain::{Reasons, Why};
use super::fit::fit;
use super::graph::{MapStats, TagGraph};
use super::growth::Growth;
use super::history::History;
use super::index::MapIndex;
use super::plan::{banned, order, shelf, steps};
use super::render::{Choice, Writer};
use super::request::{MapFile, MapRequest, MapStyle};
use super::standing::Ranking;
use super::weights::Weights;
use rhumb_syntax::tag::SymbolKind;
use rhumb_tokens::TokenCounter;

/// Estimated tokens of the steps that a map is fitted from, in budgets: estimates may be off, and a step may not fit.
pub(super) const ENOUGH: usize = 2;

/// The repo map for one request.
#[derive(Debug)]
pub struct RepoMap {
    /// Exactly what the model sees.
    pub text: String,
    /// Most tokens that the text may have.
    pub budget: usize,
    /// Tokens that it has.
    pub tokens: usize,
    /// All files outside of the chat, best first.
    pub files: Vec<RankedFile>,
    /// Sizes of what was ranked.
    pub stats: MapStats,
    pub(super) ranking: Arc<Ranking>,
    pub(super) style: MapStyle,
    /// What a larger budget would bring, once somebody has asked.
    pub(super) growth: OnceLock<Growth>,
    /// The definitions that were chosen for the text, by file.
    pub(super) chosen: HashMap<u32, Vec<u32>>,
    /// By place: the symbols of the files that someone asked for.
    symbols: Vec<OnceLock<Vec<RankedSymbol>>>,
}

/// A file with its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedFile {
    /// Path relative to the root.
    pub path: Arc<str>,
    /// Its number in the index.
    pub file: u32,
    /// Its rank for this request; only the order means something.
    pub rank: f64,
    /// Whether the text names it.
    pub shown: bool,
    /// Tokens of its own part of the text, what it shares with its folder aside.
    pub tokens: usize,
    /// How many definitions it has.
    pub definitions: usize,
}

/// A definition with its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedSymbol {
    /// The bare name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// Its header on one line.
    pub signature: String,
    /// Name of the definition around it.
    pub container: Option<String>,
    /// The first line of its documentation; empty where there is none.
    pub doc: String,
    /// Its rank for this request among the symbols of its file; only the order means something.
    pub rank: f64,
    /// Whether it was chosen for the text. (A container may appear in the text for the sake of its members alone.)
    pub shown: bool,
    /// The definitions of its name in its file, as one.
    pub(super) symbol: u32,
    /// Its place among the definitions of its file.
    pub(super) index: u32,
}

/// Why a file stands where it does, and each of its symbols.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// What raised the file, heaviest first.
    pub file: Vec<Why>,
    /// What raised each of its symbols, in the order of [`RepoMap::symbols`].
    pub symbols: Vec<Vec<Why>>,
}

impl RepoMap {
    /// Ranks `files` for `request` and writes what fits its budget. The order of `files` does not matter.
    pub fn build(files: &[MapFile], request: &MapRequest, counter: &dyn TokenCounter) -> Self {
        Self::build_with(files, request, counter, &Weights::default())
    }

    /// [`RepoMap::build`] with other weights.
    pub fn build_with(files: &[MapFile], request: &MapRequest, counter: &dyn TokenCounter, weights: &Weights) -> Self {
        let graph = Arc::new(TagGraph::new(Arc::new(MapIndex::of(files)), &History::default(), weights));
        Self::of_ranking(Ranking::new(&graph, request, weights), request, counter)
    }

    /// Chooses from a ranking and writes what fits.
    pub fn of_ranking(ranking: Ranking, request: &MapRequest, counter: &dyn TokenCounter) -> Self {
        let order = order(&ranking);
        let choices = steps(&ranking, &order, ranking.gains(), ENOUGH * request.budget);
        let index = ranking.index();
        let fitted = fit(&mut Writer::new(index, request.style), &choices, request.budget, counter);
        let chosen = by_file(&fitted.choices);
        let ranked = |&file: &u32| RankedFile {
            path: index.files().get(file as usize).map_or_else(|| "".into(), |file| Arc::clone(&file.path)),
            file,
            rank: ranking.scores.files[file as usize],
            shown: chosen.contains_key(&file),
            tokens: fitted.parts.get(&file).copied().unwrap_or(0),
            definitions: ranking.graph.symbols_of(file).len(),
        };
        Self {
            text: fitted.text,
            budget: request.budget,
            tokens: fitted.tokens,
            files: order.iter().map(ranked).collect(),
            stats: ranking.graph.stats(),
            chosen,
            symbols: order.iter().map(|_| OnceLock::new()).collect(),
            ranking: Arc::new(ranking),
            style: request.style,
            growth: OnceLock::new(),
        }
    }

    /// How many files the text names.
    pub fn shown_files(&self) -> usize {
        self.chosen.len()
    }

    /// The place of a path, if it is outside of the chat.
    pub fn place(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|file| file.path.as_ref() == path)
    }

    /// The place of each path, from 0 for the best; `u32::MAX` for a path that the map does not rank, such as a file of the chat.
    /// `paths` are sorted.
    pub fn ranks<P>(&self, paths: &[P], path: impl Fn(&P) -> &str) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; paths.len()];
        for (rank, file) in (0u32..).zip(&self.files) {
            // Mostly these are the paths of the index.
            let numbered =
                Some(file.file as usize).filter(|at| paths.get(*at).is_some_and(|known| *path(known) == *file.path));
            let at = numbered.or_else(|| paths.binary_search_by(|known| path(known).cmp(&file.path)).ok());
            if let Some(cell) = at.and_then(|at| ranks.get_mut(at)) {
                *cell = rank;
            }
        }
        ranks
    }

    /// The definitions of the file at a place, best first and banned ones last; none beyond the last place.
    pub fn symbols(&self, place: usize) -> &[RankedSymbol] {
        let Some((file, cell)) = self.files.get(place).zip(self.symbols.get(place)) else {
            return &[];
        };
        cell.get_or_init(|| self.ranked_symbols(file.file))
    }

    fn ranked_symbols(&self, file: u32) -> Vec<RankedSymbol> {
        let ranking = &self.ranking;
        let shown = self.chosen.get(&file).map_or(&[][..], Vec::as_slice);
        let ranked = |(index, rank): (u32, f64)| {
            let entry = ranking.index().definition(file, index)?;
            Some(RankedSymbol {
                name: entry.name().to_owned(),
                kind: entry.kind(),
                line: entry.line(),
                end_line: entry.end_line(),
                signature: entry.signature().to_owned(),
                container: entry.container().map(str::to_owned),
                doc: entry.doc().to_owned(),
                rank,
                shown: shown.contains(&index),
                index,
                symbol: ranking.graph.symbols_of(file).get(index as usize).copied()?,
            })
        };
        let out = banned(ranking, file).into_iter().map(|index| (index, 0.0));
        shelf(ranking, file).into_iter().chain(out).filter_map(ranked).collect()
    }

    /// Why the files at some places stand where they do.
    pub fn explain(&self, places: &[usize]) -> Vec<Explanation> {
        let files: Vec<u32> = places.iter().filter_map(|&place| self.files.get(place)).map(|file| file.file).collect();
        let reasons = Reasons::new(&self.ranking, &files);
        let explain = |&place: &usize| {
            let Some(file) = self.files.get(place) else { return Explanation::default() };
            let symbols = self.symbols(place).iter();
            Explanation {
                file: reasons.of_file(&self.ranking, file.file),
                symbols: symbols.map(|symbol| reasons.of_symbol(&self.ranking, symbol.symbol)).collect(),
            }
        };
        places.iter().map(explain).collect()
    }
}

impl PartialEq for RepoMap {
    /// Whether all that can be seen is the same.
    fn eq(&self, other: &Self) -> bool {
        let seen = |map: &Self| (map.text.clone(), map.budget, map.tokens, map.files.clone(), map.stats);
        seen(self) == seen(other) && (0..self.files.len()).all(|place| self.symbols(place) == other.symbols(place))
    }
}

/// The chosen definitions by file; a file whose path alone was chosen has none.
pub(super) fn by_file(choices: &[Choice]) -> HashMap<u32, Vec<u32>> {
    let mut chosen: HashMap<u32, Vec<u32>> = HashMap::new();
    for choice in choices {
        chosen.entry(choice.file).or_default().extend(choice.definition);
    }
    chosen
}
