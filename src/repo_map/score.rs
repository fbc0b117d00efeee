//! What puts files and symbols into the map: what the request says of them, and what the references say.

use super::index::Entry;
use super::path;
use super::request::MapRequest;
use super::standing::Ranking;
use crate::lexical::FileRelevance;
use crate::syntax::tag::SymbolKind;

/// Worth of a symbol's name for each unit of rarity that it shares with the request, of the references to it, and of
/// its length (a logarithm of its lines), against that of the best passage of the repository.
const BY_NAME: f64 = 0.12;
const BY_REFERENCES: f64 = 0.1;
const BY_LENGTH: f64 = 0.02;

/// Factor for what seldom is the place to look: fields, constants and variables, as what is done to them is done in
/// functions and types; and tests beside the code, unless the request asks for tests.
const MINOR: f64 = 0.3;

/// What puts files and definitions into the map. Definitions are scored when asked for: a map looks into few files.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// Whether the request says anything of any file.
    pub(crate) requested: bool,
    /// By file; none is negative.
    pub(crate) files: Vec<f64>,
    /// Score of the best passage of the repository.
    best_passage: f64,
    asks_for_tests: bool,
}

impl Scores {
    /// Scores the files of a ranking whose scores are still to come.
    pub(crate) fn new(ranking: &Ranking, request: &MapRequest) -> Self {
        let requested = is_requested(ranking);
        let asks_for_tests = request.message.to_lowercase().contains("test");
        let index = ranking.index();
        let weigh = |(file, score): (u32, f64)| {
            let path = index.path(file);
            let is_aside = path::is_aside(path) && !asks_for_tests;
            let no_code = requested && ranking.graph.symbols_of(file).is_empty() && !path::is_landmark(path);
            let named = ranking.seeds.file_votes[file as usize] > 0.0;
            if (is_aside || no_code) && !named { score * ranking.weights.aside } else { score }
        };
        let files = if requested { requested_files(ranking) } else { ranking.file_ranks.clone() };
        Self {
            requested,
            files: (0u32..).zip(files).map(weigh).collect(),
            best_passage: ranking.relevance.files.iter().map(|file| file.best).fold(0.0, f64::max),
            asks_for_tests,
        }
    }
}

/// Whether the request says anything of any file.
fn is_requested(ranking: &Ranking) -> bool {
    let says = |file: &FileRelevance| file.best > 0.0 || file.path > 0.0;
    let votes = ranking.seeds.file_votes.iter().chain(&ranking.seeds.symbol_votes);
    ranking.relevance.files.iter().any(says) || votes.into_iter().any(|votes| *votes > 0.0)
}

fn requested_files(ranking: &Ranking) -> Vec<f64> {
    let (seeds, weights) = (&ranking.seeds, &ranking.weights);
    let mut named = seeds.file_votes.clone();
    for (symbol, votes) in ranking.graph.symbols().iter().zip(&seeds.symbol_votes) {
        named[symbol.file as usize] += votes;
    }
    let top_rank = ranking.file_ranks.iter().copied().fold(0.0, f64::max);
    let score = |(file, words): (usize, f64)| {
        let reach = if top_rank > 0.0 { (ranking.file_ranks[file] / top_rank).sqrt() } else { 0.0 };
        weights.words * words + weights.named * named[file] + weights.reach * reach
    };
    ranking.relevance.shares().into_iter().enumerate().map(score).collect()
}

impl Ranking {
    /// Scores of the definitions of a file, in source order. None is negative.
    pub(crate) fn symbol_scores(&self, file: u32) -> Vec<f64> {
        let symbols = self.graph.symbols_of(file);
        let inflow = |symbol: u32| {
            let definitions = self.graph.symbols()[symbol as usize].definitions;
            self.inflow[symbol as usize] / f64::from(definitions.max(1))
        };
        if !self.scores.requested {
            return symbols.iter().map(|&symbol| inflow(symbol)).collect();
        }
        let highest = symbols.iter().map(|&symbol| inflow(symbol)).fold(f64::MIN_POSITIVE, f64::max);
        let passages = self.passage_scores(file, symbols.len());
        let best = self.scores.best_passage;
        let score = |((entry, &symbol), passage): ((Entry<'_>, &u32), f64)| {
            let lines = f64::from(entry.end_line().saturating_sub(entry.line()));
            let words = if best > 0.0 { passage / best } else { 0.0 };
            let score = words
                + BY_NAME * self.relevance.of_name(entry.name())
                + BY_REFERENCES * inflow(symbol) / highest
                + BY_LENGTH * lines.ln_1p();
            let minor = is_value(entry.kind()) || (!self.scores.asks_for_tests && is_test(entry));
            self.seeds.symbol_votes[symbol as usize] + score * if minor { MINOR } else { 1.0 }
        };
        self.index().definitions(file).zip(symbols).zip(passages).map(score).collect()
    }

    /// The score of the best passage of each definition.
    fn passage_scores(&self, file: u32, definitions: usize) -> Vec<f64> {
        let mut scores = vec![0.0f64; definitions];
        let Some(terms) = self.index().record(file).map(|record| record.terms()) else {
            return scores;
        };
        for &(passage, score) in self.relevance.files.get(file as usize).map_or(&[][..], |file| &file.passages) {
            let definition = terms.passage(passage as usize).and_then(|passage| passage.definition);
            if let Some(cell) = definition.and_then(|definition| scores.get_mut(definition as usize)) {
                *cell = cell.max(score);
            }
        }
        scores
    }
}

/// True for a test among other code, by the usual names of tests and of what holds them.
fn is_test(entry: Entry<'_>) -> bool {
    let holds_tests = |name: &str| matches!(name, "tests" | "test");
    holds_tests(entry.name()) || entry.container().is_some_and(holds_tests) || entry.name().starts_with("test_")
}

fn is_value(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable)
}
