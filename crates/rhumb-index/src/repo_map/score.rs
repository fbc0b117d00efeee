//! Scores files and symbols: by their features if there is a request, else by references.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rhumb_syntax::SymbolKind;

use super::evidence::{self, SymbolEvidence};
use super::explanation::Contribution;
use super::features::{FileFeature, SymbolFeature, SymbolFeatures, SymbolRow, file_odds};
use super::index::IndexedDefinition;
use super::path;
use super::ranking::Ranking;
use super::request::MapRequest;
use crate::lexical::{FileRelevance, UnitRelevance};

/// Minimum absolute weight of a contribution that is reported.
const MIN_CONTRIBUTION: f64 = 0.005;

/// The scores of the files. Definitions are scored on demand, since a map needs those of few files.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// Whether the request is about any file.
    pub(crate) requested: bool,
    /// By file, not negative. With a request: the file's share of the odds of all files.
    pub(crate) files: Vec<f64>,
    /// With a request: the log-odds of each file, negative infinity for hidden ones.
    pub(crate) odds: Vec<f64>,
    /// Highest score of a definition of the repository.
    best_unit: f64,
    /// Names that the files of the chat reference.
    from_chat: BTreeSet<u32>,
    /// By file: 1 if it has uncommitted changes, else 0.
    edited: Vec<f64>,
}

impl Scores {
    /// Scores the files of a ranking whose other fields are complete.
    pub(crate) fn new(ranking: &Ranking, request: &MapRequest) -> Self {
        let requested = is_requested(ranking);
        let edited = among(ranking, &request.edited);
        let odds = if requested { ranking.shown(&file_odds(ranking, &edited, &mut |_, _| {})) } else { Vec::new() };
        let files =
            if requested { evidence::odds_shares(&odds) } else { unrequested_files(ranking, &edited, &mut |_, _| {}) };
        let chat = (0u32..).zip(&ranking.chat).filter(|(_, chat)| **chat).map(|(file, _)| file);
        Self {
            requested,
            files,
            odds,
            best_unit: ranking.relevance.files.iter().map(FileRelevance::best).fold(f64::MIN_POSITIVE, f64::max),
            from_chat: chat.flat_map(|file| ranking.index().references(file)).map(|uses| uses.name).collect(),
            edited,
        }
    }
}

/// Whether the request is about any file.
fn is_requested(ranking: &Ranking) -> bool {
    let named = &ranking.named;
    ranking.relevance.files.iter().any(FileRelevance::is_relevant)
        || !(named.paths.is_empty() && named.given.is_empty() && named.definitions.is_empty())
}

/// Scores without a request: the rank by references, plus recent changes and changes together with the chat.
///
/// Calls `record` with the sums after each kind of evidence.
fn unrequested_files(ranking: &Ranking, edited: &[f64], record: &mut dyn FnMut(&'static str, &[f64])) -> Vec<f64> {
    let (ranks, weights) = (&ranking.reference_ranks().files, &ranking.weights);
    let highest = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut scores: Vec<f64> = ranks.iter().map(|rank| rank / highest).collect();
    record("references to it", &scores);
    let history = f64::from(u8::from(weights.model.of_file(FileFeature::WithChat) > 0.0));
    evidence::add(&mut scores, history, &ranking.graph.commits().changed_with(&chat_files(ranking)));
    record("commits that changed it with the chat's files", &scores);
    evidence::add(&mut scores, weights.model.of_file(FileFeature::Edited), edited);
    record("changes that are not committed", &scores);
    for (score, file) in scores.iter_mut().zip(ranking.index().files()) {
        *score *= if path::is_peripheral(&file.path) { weights.peripheral } else { 1.0 };
    }
    record("its path: a test, an example, vendored code", &scores);
    scores
}

/// The contributions to the score of a file, strongest first: in log-odds with a request, else as shares of the highest rank.
pub(crate) fn contributions(ranking: &Ranking, file: u32) -> Vec<Contribution> {
    let scores = &ranking.scores;
    let of_file = |values: &[f64]| values.get(file as usize).copied().unwrap_or(0.0);
    let mut contributions = Vec::new();
    if scores.requested {
        let mut each = |feature: FileFeature, values: &[f64]| {
            add_contribution(
                &mut contributions,
                feature.label(),
                ranking.weights.model.of_file(feature) * of_file(values),
            );
        };
        file_odds(ranking, &scores.edited, &mut each);
    } else {
        let mut before = 0.0;
        let mut record = |label, sums: &[f64]| {
            add_contribution(&mut contributions, label, of_file(sums) - before);
            before = of_file(sums);
        };
        unrequested_files(ranking, &scores.edited, &mut record);
    }
    strongest_first(contributions)
}

/// Adds to the contribution of a label.
fn add_contribution(contributions: &mut Vec<Contribution>, label: &'static str, weight: f64) {
    match contributions.iter_mut().find(|contribution| contribution.label == label) {
        Some(contribution) => contribution.weight += weight,
        None => contributions.push(Contribution { label, weight }),
    }
}

/// The definitions that can be relevant, with their features. Empty without a request.
pub(crate) fn symbol_rows(ranking: &Ranking) -> Vec<SymbolRow> {
    if !ranking.scores.requested {
        return Vec::new();
    }
    let features = SymbolFeatures::new(ranking, &ranking.scores.odds);
    features.files().into_par_iter().flat_map_iter(|file| features.of_file(file)).collect()
}

/// The log-odds of a definition.
pub(crate) fn row_odds(ranking: &Ranking, row: &SymbolRow) -> f64 {
    row.values.iter().zip(&ranking.weights.model.symbol).map(|(value, weight)| value * weight).sum()
}

/// The contributions to the log-odds of a definition, strongest first.
pub(crate) fn row_contributions(ranking: &Ranking, row: &SymbolRow) -> Vec<Contribution> {
    let mut contributions = Vec::new();
    for feature in SymbolFeature::ALL {
        let weight = ranking.weights.model.symbol[feature as usize] * row.values[feature as usize];
        add_contribution(&mut contributions, feature.label(), weight);
    }
    strongest_first(contributions)
}

/// Drops negligible contributions and sorts the others by absolute weight.
fn strongest_first(mut contributions: Vec<Contribution>) -> Vec<Contribution> {
    contributions.retain(|contribution| contribution.weight.abs() >= MIN_CONTRIBUTION);
    contributions.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    contributions
}

fn chat_files(ranking: &Ranking) -> Vec<(u32, f64)> {
    (0u32..).zip(&ranking.chat).filter(|(_, chat)| **chat).map(|(file, _)| (file, 1.0)).collect()
}

/// 1 for each file whose path is in `paths`, else 0.
fn among(ranking: &Ranking, paths: &[String]) -> Vec<f64> {
    let mut among = vec![0.0; ranking.chat.len()];
    for file in paths.iter().filter_map(|path| ranking.index().file_at(path)) {
        among[file as usize] = 1.0;
    }
    among
}

/// The contributions to the score of a definition, like [`contributions`]. Without a request: its share of the highest rank by references in
/// the file.
pub(crate) fn symbol_contributions(ranking: &Ranking, file: u32, at: u32) -> Vec<Contribution> {
    let weights = &ranking.weights.symbol;
    let Some(evidence) = ranking.symbol_evidence(file).get(at as usize).copied().filter(|_| ranking.is_requested())
    else {
        let all = ranking.symbol_scores(file);
        let (own, best) = (all.get(at as usize), all.iter().copied().fold(f64::MIN_POSITIVE, f64::max));
        return own.map(|own| Contribution { label: "references to it", weight: own / best }).into_iter().collect();
    };
    let length = f64::from(evidence.lines).ln_1p().min(weights.max_length);
    let contributions = [
        ("words of the message in its text", weights.passage * evidence.passage),
        ("words of the message, relative to its file", weights.passage_in_file * evidence.passage_in_file),
        ("its length", weights.length * length),
        ("its kind: a value or a test", weights.minor * f64::from(u8::from(evidence.minor))),
        ("references from the chat", weights.from_chat * evidence.from_chat),
        ("named in the message", weights.votes * evidence.votes),
    ];
    let contributions = contributions.into_iter().map(|(label, weight)| Contribution { label, weight }).collect();
    strongest_first(contributions)
}

impl Ranking {
    /// Scores of the definitions of a file, in source order, not negative. With a request: the probability of each if its file is
    /// needed.
    pub(crate) fn symbol_scores(&self, file: u32) -> Vec<f64> {
        let symbols = self.graph.symbols_of(file);
        if !self.scores.requested {
            let inflow = |&symbol: &u32| {
                let definitions = self.graph.symbols()[symbol as usize].definitions;
                self.reference_ranks().symbols[symbol as usize] / f64::from(definitions.max(1))
            };
            return symbols.iter().map(inflow).collect();
        }
        let chance = |evidence: SymbolEvidence| self.weights.symbol.chance(&evidence, symbols.len());
        self.symbol_evidence(file).into_iter().map(chance).collect()
    }

    /// The evidence for the definitions of a file, in source order.
    fn symbol_evidence(&self, file: u32) -> Vec<SymbolEvidence> {
        let symbols = self.graph.symbols_of(file);
        let totals = self.unit_scores(file, symbols.len());
        let best_here = totals.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let evidence = |((entry, &symbol), total): ((IndexedDefinition<'_>, &u32), &f64)| SymbolEvidence {
            passage: total / self.scores.best_unit,
            passage_in_file: total / best_here,
            lines: entry.end_line().saturating_sub(entry.line()),
            minor: is_value(entry.kind()) || (!self.asks_for_tests && is_test(entry)),
            from_chat: self.chat_use(symbol),
            votes: self.seeds.symbol_votes[symbol as usize],
        };
        self.index().definitions(file).zip(symbols).zip(&totals).map(evidence).collect()
    }

    /// References from the chat to a symbol: 1 divided by the number of files that define its name.
    fn chat_use(&self, symbol: u32) -> f64 {
        let name = self.graph.symbols()[symbol as usize].name;
        if self.scores.from_chat.contains(&name) { 1.0 / self.graph.definers(name).len() as f64 } else { 0.0 }
    }

    /// The score of each definition for the words of the request.
    fn unit_scores(&self, file: u32, definitions: usize) -> Vec<f64> {
        let mut scores = vec![0.0f64; definitions];
        for unit in self.relevance.files.get(file as usize).map_or(&[][..], |file| &file.units) {
            if let Some(cell) = unit.definition.and_then(|definition| scores.get_mut(definition as usize)) {
                *cell = UnitRelevance::total(unit);
            }
        }
        scores
    }
}

/// Whether a definition is a test among other code, by the usual names.
pub(crate) fn is_test(entry: IndexedDefinition<'_>) -> bool {
    let holds_tests = |name: &str| matches!(name, "tests" | "test");
    holds_tests(entry.name()) || entry.container().is_some_and(holds_tests) || entry.name().starts_with("test_")
}

/// Whether a kind is a field, constant or variable. Changes to values are made in functions and types.
fn is_value(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable)
}
