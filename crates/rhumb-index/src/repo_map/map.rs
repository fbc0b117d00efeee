//! The repo map: builds it from a ranking and gives access to its files and symbols, to what a larger budget would add, and to a
//! fuzzy filter.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use rhumb_syntax::SymbolKind;
use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, NamePart};
use rhumb_tokens::TokenCounter;

use super::fit::fit;
use super::graph::{MapStats, TagGraph};
use super::history::History;
use super::index::MapIndex;
use super::plan::{banned, entries, order, ranked_symbols};
use super::ranking::Ranking;
use super::render::{MapEntry, MapWriter};
use super::request::{MapFile, MapRequest, MapStyle};
use super::weights::Weights;

/// Estimated tokens of the candidate entries, as a multiple of the budget: estimates are imprecise, and some entries do not fit.
pub(crate) const CANDIDATE_BUDGETS: usize = 2;

/// A repo map for one request.
#[derive(Debug)]
pub struct RepoMap {
    /// The text for the model.
    pub text: String,
    /// Maximum number of tokens of the text.
    pub budget: usize,
    /// Number of tokens of the text.
    pub tokens: usize,
    /// All files outside of the chat, best first.
    pub files: Vec<RankedFile>,
    /// Sizes of the ranked graph.
    pub stats: MapStats,
    pub(crate) ranking: Arc<Ranking>,
    pub(crate) style: MapStyle,
    /// The additions of a larger budget, once computed.
    pub(crate) growth: OnceLock<GrowthForecast>,
    /// The definitions in the text, by file.
    pub(crate) chosen: HashMap<u32, Vec<u32>>,
    /// The symbols of the files, by position, computed at the first access.
    symbols: Vec<OnceLock<Vec<RankedSymbol>>>,
}

/// A file with its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedFile {
    /// Path relative to the root.
    pub path: Arc<str>,
    /// The number of the file in the index.
    pub file: u32,
    /// The rank for this request. Only the order is meaningful.
    pub rank: f64,
    /// Whether the file is in the text.
    pub shown: bool,
    /// Tokens of the part of the text for this file, without the heading of its folder.
    pub tokens: usize,
    /// Number of definitions in the file.
    pub definitions: usize,
}

/// A definition with its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedSymbol {
    /// The bare name.
    pub name: String,
    /// The kind.
    pub kind: SymbolKind,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// The header on one line.
    pub signature: String,
    /// Name of the innermost enclosing definition.
    pub container: Option<String>,
    /// The first line of the documentation; may be empty.
    pub doc: String,
    /// The rank among the symbols of its file. Only the order is meaningful.
    pub rank: f64,
    /// Whether it was chosen for the text. A container can be in the text for its members only.
    pub shown: bool,
    /// The symbol in the graph: all definitions of this name in the file.
    pub(crate) symbol: u32,
    /// The index of the definition in its file.
    pub(crate) index: u32,
}

impl RepoMap {
    /// Ranks `files` for `request` and renders what fits the budget. The order of `files` does not matter.
    pub fn build(files: &[MapFile], request: &MapRequest, counter: &dyn TokenCounter) -> Self {
        Self::build_with(files, request, counter, &Weights::default())
    }

    /// Like [`RepoMap::build`], with other weights.
    pub fn build_with(files: &[MapFile], request: &MapRequest, counter: &dyn TokenCounter, weights: &Weights) -> Self {
        let graph = Arc::new(TagGraph::new(Arc::new(MapIndex::of(files)), &History::default(), weights));
        Self::of_ranking(Ranking::new(&graph, request, weights), request, counter)
    }

    /// Selects the entries of a ranking that fit the budget and renders them.
    pub fn of_ranking(ranking: Ranking, request: &MapRequest, counter: &dyn TokenCounter) -> Self {
        let order = order(&ranking);
        let candidates = entries(&ranking, &order, ranking.gains(), CANDIDATE_BUDGETS * request.budget);
        let index = ranking.index();
        let fitted = fit(&mut MapWriter::new(index, request.style), &candidates, request.budget, counter);
        let chosen = by_file(&fitted.entries);
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

    /// Number of files in the text.
    pub fn shown_files(&self) -> usize {
        self.chosen.len()
    }

    /// The position of a path in the ranking, if it is outside of the chat.
    pub fn position(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|file| file.path.as_ref() == path)
    }

    /// The position of each path in the ranking, 0 for the best; `u32::MAX` for a path that is not ranked, such as a file of the
    /// chat. `paths` must be sorted.
    pub fn ranks<P>(&self, paths: &[P], path: impl Fn(&P) -> &str) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; paths.len()];
        for (rank, file) in (0u32..).zip(&self.files) {
            // Usually the paths are those of the index.
            let numbered =
                Some(file.file as usize).filter(|at| paths.get(*at).is_some_and(|known| *path(known) == *file.path));
            let at = numbered.or_else(|| paths.binary_search_by(|known| path(known).cmp(&file.path)).ok());
            if let Some(cell) = at.and_then(|at| ranks.get_mut(at)) {
                *cell = rank;
            }
        }
        ranks
    }

    /// The definitions of the file at a position, best first and banned ones last; empty beyond the last position.
    pub fn symbols(&self, position: usize) -> &[RankedSymbol] {
        let Some((file, cell)) = self.files.get(position).zip(self.symbols.get(position)) else {
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
        ranked_symbols(ranking, file).into_iter().chain(out).filter_map(ranked).collect()
    }
}

impl PartialEq for RepoMap {
    /// Whether all visible parts are equal.
    fn eq(&self, other: &Self) -> bool {
        let seen = |map: &Self| (map.text.clone(), map.budget, map.tokens, map.files.clone(), map.stats);
        seen(self) == seen(other)
            && (0..self.files.len()).all(|position| self.symbols(position) == other.symbols(position))
    }
}

/// The chosen definitions by file. A file without chosen definitions has an empty list.
pub(crate) fn by_file(entries: &[MapEntry]) -> HashMap<u32, Vec<u32>> {
    let mut chosen: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in entries {
        chosen.entry(entry.file).or_default().extend(entry.definition);
    }
    chosen
}

/// The files and symbols that additional tokens would add to a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrowthForecast {
    /// The additional tokens.
    pub step: usize,
    /// The additional files, by number.
    pub files: BTreeSet<u32>,
    /// Number of additional definitions.
    pub symbols: usize,
}

impl RepoMap {
    /// Computes the additions of `step` more tokens by building that map. The first result is kept. This takes as long as building
    /// the map without ranking.
    pub fn forecast_growth(&self, step: usize, counter: &dyn TokenCounter) -> &GrowthForecast {
        self.growth.get_or_init(|| self.grown(step, counter))
    }

    /// The result of [`RepoMap::forecast_growth`], if it was computed.
    pub fn growth(&self) -> Option<&GrowthForecast> {
        self.growth.get()
    }

    fn grown(&self, step: usize, counter: &dyn TokenCounter) -> GrowthForecast {
        let budget = self.budget.saturating_add(step);
        let order: Vec<u32> = self.files.iter().map(|file| file.file).collect();
        let candidates = entries(&self.ranking, &order, self.ranking.gains(), budget.saturating_mul(CANDIDATE_BUDGETS));
        let fitted = fit(&mut MapWriter::new(self.ranking.index(), self.style), &candidates, budget, counter);
        let larger = by_file(&fitted.entries);
        let distinct = |chosen: &[u32]| chosen.iter().collect::<BTreeSet<_>>().len();
        let count = |chosen: &std::collections::HashMap<u32, Vec<u32>>| -> usize {
            chosen.values().map(|definitions| distinct(definitions)).sum()
        };
        let files = larger.keys().copied().filter(|file| !self.chosen.contains_key(file)).collect();
        GrowthForecast { step, files, symbols: count(&larger).saturating_sub(count(&self.chosen)) }
    }
}

/// Number of files between two checks whether the query is outdated.
const FILES_PER_CHECK: usize = 512;

/// Maximum number of files in a result.
const MAX_FILTERED_FILES: usize = 2_000;

/// A file that matches by its path or by its definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedFile {
    /// Its position in the map.
    pub position: usize,
    /// The matching symbols as indices into [`RepoMap::symbols`], best first.
    pub symbols: Vec<usize>,
}

/// The result of a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapMatches {
    /// The files, best match first.
    pub files: Vec<MatchedFile>,
    /// Number of matching files and symbols, including those beyond the limit.
    pub total: (usize, usize),
}

impl RepoMap {
    /// The files and symbols that match a query, best first; ties keep the order of the map. Returns `None` as soon as `is_stale` is
    /// true. Visits every definition, so it must not run on a draw path.
    pub fn filter(&self, query: &str, is_stale: &dyn Fn() -> bool) -> Option<MapMatches> {
        let mut filter = FuzzyFilter::new(query);
        let mut found: Vec<(FuzzyMatch, usize, bool)> = Vec::new();
        let mut symbols = 0;
        for (position, file) in self.files.iter().enumerate() {
            if position % FILES_PER_CHECK == 0 && is_stale() {
                return None;
            }
            let by_path = filter.matched(&file.path, NamePart::Path);
            let names = self.ranking.index().definitions(file.file);
            let by_name: Vec<FuzzyMatch> =
                names.filter_map(|entry| filter.matched(entry.name(), NamePart::Symbol)).collect();
            symbols += by_name.len();
            let best = by_path.into_iter().chain(by_name.iter().copied()).min();
            found.extend(best.map(|best| (best, position, !by_name.is_empty())));
        }
        let total = (found.len(), symbols);
        found.sort_by_key(|(best, position, _)| (*best, *position));
        found.truncate(MAX_FILTERED_FILES);
        let file = |(_, position, has_symbols): &(FuzzyMatch, usize, bool)| MatchedFile {
            position: *position,
            symbols: if *has_symbols { self.matching_symbols(*position, &mut filter) } else { Vec::new() },
        };
        Some(MapMatches { files: found.iter().map(file).collect(), total })
    }

    fn matching_symbols(&self, position: usize, filter: &mut FuzzyFilter) -> Vec<usize> {
        let matched = self.symbols(position).iter().enumerate();
        let mut symbols: Vec<(FuzzyMatch, usize)> =
            matched.filter_map(|(at, symbol)| Some((filter.matched(&symbol.name, NamePart::Symbol)?, at))).collect();
        symbols.sort_unstable();
        symbols.into_iter().map(|(_, at)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::repo_map::{MapFile, MapRequest, RepoMap, symbol_choice};
    use rhumb_syntax::{Definition, FileTags, SymbolKind};
    use rhumb_tokens::counter_for_model;
    use std::sync::Arc;

    fn build(budget: usize, pinned: &[String], banned: &[String]) -> RepoMap {
        let definition = |file: usize, number: usize| Definition {
            name: format!("moor_{file}_{number}"),
            kind: SymbolKind::Function,
            line: number as u32 + 1,
            end_line: 9,
            signature: format!("fn moor_{file}_{number}(ship: Ship) -> Berth"),
            container: None,
            doc: String::new(),
        };
        let file = |number: usize| MapFile {
            path: format!("src/berth_{number:02}.rs"),
            tags: Arc::new(FileTags {
                definitions: (0..4).map(|at| definition(number, at)).collect(),
                ..FileTags::default()
            }),
            digest: Arc::default(),
        };
        let files: Vec<MapFile> = (0..40).map(file).collect();
        let (pinned, banned) = (pinned.to_vec(), banned.to_vec());
        let request = MapRequest { budget, pinned, banned, ..MapRequest::default() };
        RepoMap::build(&files, &request, counter_for_model("gpt-4").as_ref())
    }

    #[test]
    fn the_forecast_equals_the_larger_map() {
        for (budget, step) in [(40, 64), (200, 128), (100_000, 512)] {
            let (map, larger) = (build(budget, &[], &[]), build(budget + step, &[], &[]));
            let counter = counter_for_model("gpt-4");
            let growth = map.forecast_growth(step, counter.as_ref()).clone();
            let new = larger
                .files
                .iter()
                .filter(|file| file.shown && !map.files.iter().any(|other| other.path == file.path && other.shown));
            assert_eq!(new.map(|file| file.file).collect::<std::collections::BTreeSet<_>>(), growth.files);
            assert_eq!(map.growth(), Some(&growth));
        }
    }

    #[test]
    fn the_tokens_of_files_do_not_exceed_those_of_the_map() {
        for budget in [40, 200, 1_000] {
            let map = build(budget, &[], &[]);
            let sum: usize = map.files.iter().map(|file| file.tokens).sum();
            assert!(sum > 0 && sum <= map.tokens + 2, "{sum} of {}", map.tokens);
            assert!(map.files.iter().all(|file| file.shown == (file.tokens > 0)));
        }
    }

    #[test]
    fn a_pinned_symbol_includes_its_file_and_a_banned_one_is_left_out() {
        let choice = symbol_choice("src/berth_37.rs", "moor_37_2");
        assert!(!build(60, &[], &[]).text.contains("moor_37_2"));
        let pinned = build(60, std::slice::from_ref(&choice), &[]);
        assert!(pinned.text.contains("berth_37") && pinned.text.contains("moor_37_2"), "{}", pinned.text);
        let position = pinned.position("src/berth_37.rs").unwrap();
        assert_eq!(pinned.symbols(position)[0].name, "moor_37_2", "first of its file");
        let banned = build(100_000, &[], &[choice]);
        assert!(banned.text.contains("moor_37_1") && !banned.text.contains("moor_37_2"));
        let position = banned.position("src/berth_37.rs").unwrap();
        assert_eq!(banned.symbols(position).last().unwrap().name, "moor_37_2", "a banned symbol is listed last");
    }

    #[test]
    fn the_filter_finds_files_and_symbols_best_first() {
        let map = build(1_000, &[], &[]);
        let found = map.filter("moor_7_1", &|| false).unwrap();
        let first = &found.files[0];
        assert_eq!(&*map.files[first.position].path, "src/berth_07.rs");
        assert_eq!(map.symbols(first.position)[first.symbols[0]].name, "moor_7_1");
        assert_eq!(map.filter("berth_3", &|| false).unwrap().files[0].symbols.len(), 0, "by its path alone");
        assert_eq!(map.filter("nothing like it", &|| false).unwrap().total, (0, 0));
        assert!(map.filter("moor", &|| true).is_none(), "the query is outdated");
    }

    #[test]
    fn a_rank_has_an_explanation() {
        let map = build(1_000, &[], &[]);
        let explanation = map.explain(0, None);
        assert!(!explanation.requested && !explanation.contributions.is_empty(), "{explanation:?}");
        assert!(map.explain(9_999, None).contributions.is_empty());
        assert_eq!(map.explain(0, Some(1)).contributions.len().max(1), 1);
    }
}
