//! What puts files and symbols into the map: what the request says of them, and what the references say.

use super::graph::TagGraph;
use super::path;
use super::request::{MapFile, MapRequest};
use super::seed::Seeds;
use super::weights::Weights;
use crate::lexical::{FileRelevance, Relevance};
use crate::syntax::tag::{Definition, SymbolKind};

/// Worth of a symbol's name for each unit of rarity that it shares with the request, of the references to it, and of
/// its length (a logarithm of its lines), against that of the best passage of the repository.
const BY_NAME: f64 = 0.12;
const BY_REFERENCES: f64 = 0.1;
const BY_LENGTH: f64 = 0.02;

/// Factor for what seldom is the place to look: fields, constants and variables, as what is done to them is done in
/// functions and types; and tests beside the code, unless the request asks for tests.
const MINOR: f64 = 0.3;

/// Everything that a score is made from.
pub(crate) struct Standing<'s, 'a> {
    pub(crate) files: &'s [&'a MapFile],
    pub(crate) graph: &'s TagGraph<'a>,
    pub(crate) file_ranks: &'s [f64],
    pub(crate) inflow: &'s [f64],
    pub(crate) seeds: &'s Seeds,
    pub(crate) relevance: &'s Relevance,
    pub(crate) weights: &'s Weights,
}

impl Standing<'_, '_> {
    /// Scores of the files, and of the definitions of each. None is negative.
    pub(crate) fn scores(&self, request: &MapRequest) -> (Vec<f64>, Vec<Vec<f64>>) {
        let files = if self.is_requested() { self.requested_files() } else { self.file_ranks.to_vec() };
        let asks_for_tests = request.message.to_lowercase().contains("test");
        let requested = self.is_requested();
        let weigh = |(file, score): (usize, f64)| {
            let path = &self.files[file].path;
            let is_aside = path::is_aside(path) && !asks_for_tests;
            let no_code = requested && self.files[file].tags.definitions.is_empty() && !path::is_landmark(path);
            if (is_aside || no_code) && self.votes(file) == 0.0 { score * self.weights.aside } else { score }
        };
        let files = files.into_iter().enumerate().map(|(file, score)| weigh((file, score))).collect();
        let best = self.relevance.files.iter().map(|file| file.best).fold(0.0, f64::max);
        let symbols = (0..self.files.len()).map(|file| self.symbols(file, best, asks_for_tests)).collect();
        (files, symbols)
    }

    /// Whether the request says anything of any file.
    pub(crate) fn is_requested(&self) -> bool {
        let says = |file: &FileRelevance| file.best > 0.0 || file.path > 0.0;
        self.relevance.files.iter().any(says)
            || (0..self.files.len()).any(|file| self.seeds.file_votes[file] > 0.0)
            || self.seeds.symbol_votes.iter().any(|votes| *votes > 0.0)
    }

    fn votes(&self, file: usize) -> f64 {
        self.seeds.file_votes.get(file).copied().unwrap_or_default()
    }

    fn requested_files(&self) -> Vec<f64> {
        let mut named = self.seeds.file_votes.clone();
        for (symbol, votes) in self.graph.names.symbols.iter().zip(&self.seeds.symbol_votes) {
            named[symbol.file as usize] += votes;
        }
        let top_rank = self.file_ranks.iter().copied().fold(0.0, f64::max);
        let score = |(index, words): (usize, f64)| {
            let reach = if top_rank > 0.0 { (self.file_ranks[index] / top_rank).sqrt() } else { 0.0 };
            self.weights.words * words + self.weights.named * named[index] + self.weights.reach * reach
        };
        self.relevance.shares().into_iter().enumerate().map(score).collect()
    }

    /// Scores of the definitions of a file.
    fn symbols(&self, file: usize, best: f64, asks_for_tests: bool) -> Vec<f64> {
        let tags = &self.files[file].tags;
        let ids: Vec<Option<usize>> =
            tags.definitions.iter().map(|definition| self.symbol(file, &definition.name)).collect();
        let inflow = |id: &Option<usize>| {
            id.map_or(0.0, |id| self.inflow[id] / f64::from(self.graph.names.symbols[id].definitions.max(1)))
        };
        if !self.is_requested() {
            return ids.iter().map(inflow).collect();
        }
        let highest = ids.iter().map(inflow).fold(f64::MIN_POSITIVE, f64::max);
        let passages = self.passages(file);
        let score = |(index, id): (usize, &Option<usize>)| {
            let definition = &tags.definitions[index];
            let lines = f64::from(definition.end_line.saturating_sub(definition.line));
            let votes = id.map_or(0.0, |id| self.seeds.symbol_votes[id]);
            let words = if best > 0.0 { passages[index] / best } else { 0.0 };
            let score = words
                + BY_NAME * self.relevance.of_name(&definition.name)
                + BY_REFERENCES * inflow(id) / highest
                + BY_LENGTH * lines.ln_1p();
            let minor = is_value(definition.kind) || (!asks_for_tests && is_test(definition));
            votes + score * if minor { MINOR } else { 1.0 }
        };
        ids.iter().enumerate().map(score).collect()
    }

    fn symbol(&self, file: usize, name: &str) -> Option<usize> {
        let names = &self.graph.names;
        let symbol = names.id(name).and_then(|name| names.symbol(file as u32, name))?;
        Some(symbol as usize)
    }

    /// The score of the best passage of each definition.
    fn passages(&self, file: usize) -> Vec<f64> {
        let map_file = self.files[file];
        let mut scores = vec![0.0f64; map_file.tags.definitions.len()];
        let passages = map_file.digest.terms().passages();
        for &(passage, score) in self.relevance.files.get(file).map_or(&[][..], |file| &file.passages) {
            let definition = passages.get(passage as usize).and_then(|passage| passage.definition);
            if let Some(cell) = definition.and_then(|definition| scores.get_mut(definition as usize)) {
                *cell = cell.max(score);
            }
        }
        scores
    }
}

/// True for a test among other code, by the usual names of tests and of what holds them.
fn is_test(definition: &Definition) -> bool {
    let holds_tests = |name: &str| matches!(name, "tests" | "test");
    holds_tests(&definition.name)
        || definition.container.as_deref().is_some_and(holds_tests)
        || definition.name.starts_with("test_")
}

fn is_value(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable)
}
