//! Scores files and symbols: by their features if there is a request, else by references.

use rayon::prelude::*;

use super::evidence;
use super::explanation::Contribution;
use super::features::{FileFeature, SymbolFeature, SymbolFeatures, SymbolRow, file_log_odds};
use super::ranking::Ranking;
use super::request::MapRequest;
use crate::lexical::FileRelevance;

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
    pub(crate) log_odds: Vec<f64>,
    /// By file: 1 if it has uncommitted changes, else 0.
    edited: Vec<f64>,
}

impl Scores {
    /// Scores the files of a ranking whose other fields are complete.
    pub(crate) fn new(ranking: &Ranking, request: &MapRequest) -> Self {
        let requested = is_requested(ranking);
        let edited = among(ranking, &request.edited);
        let (log_odds, files) = if requested {
            let log_odds = ranking.shown(&file_log_odds(ranking, &edited, false, &mut |_, _| {}));
            let shares = evidence::softmax(&log_odds);
            (log_odds, shares)
        } else {
            (Vec::new(), unrequested_files(ranking, &edited, &mut |_, _| {}))
        };
        Self { requested, files, log_odds, edited }
    }
}

/// Whether the request is about any file.
fn is_requested(ranking: &Ranking) -> bool {
    ranking.relevance.files.iter().any(FileRelevance::is_relevant) || !ranking.named.is_empty()
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
    let chat: Vec<(u32, f64)> = ranking.chat_files().map(|file| (file, 1.0)).collect();
    evidence::add(&mut scores, history, &ranking.graph.commits().changed_with(&chat));
    record("commits that changed it with the chat's files", &scores);
    evidence::add(&mut scores, weights.model.of_file(FileFeature::Edited), edited);
    record("changes that are not committed", &scores);
    for (score, kind) in scores.iter_mut().zip(ranking.index().kinds()) {
        *score *= if kind.is_peripheral { weights.peripheral } else { 1.0 };
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
        file_log_odds(ranking, &scores.edited, false, &mut each);
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
    let features = SymbolFeatures::new(ranking);
    features.files().into_par_iter().flat_map_iter(|file| features.of_file(file)).collect()
}

/// The contributions to the log-odds of a definition by these weights, strongest first.
pub(crate) fn row_contributions(row: &SymbolRow, weights: &[f64]) -> Vec<Contribution> {
    let mut contributions = Vec::new();
    for (feature, (weight, value)) in SymbolFeature::ALL.into_iter().zip(weights.iter().zip(&row.values)) {
        add_contribution(&mut contributions, feature.label(), weight * value);
    }
    strongest_first(contributions)
}

/// Drops negligible contributions and sorts the others by absolute weight.
fn strongest_first(mut contributions: Vec<Contribution>) -> Vec<Contribution> {
    contributions.retain(|contribution| contribution.weight.abs() >= MIN_CONTRIBUTION);
    contributions.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    contributions
}

/// 1 for each file whose path is in `paths`, else 0.
fn among(ranking: &Ranking, paths: &[String]) -> Vec<f64> {
    let mut among = vec![0.0; ranking.index().len()];
    for file in paths.iter().filter_map(|path| ranking.index().file_at(path)) {
        among[file as usize] = 1.0;
    }
    among
}

/// The contributions to the score of a definition, like [`contributions`]. Without a request: its share of the highest rank by references in
/// the file.
pub(crate) fn symbol_contributions(ranking: &Ranking, file: u32, at: u32) -> Vec<Contribution> {
    if ranking.is_requested() {
        let rows = SymbolFeatures::new(ranking).of_file(file);
        return rows
            .get(at as usize)
            .map_or_else(Vec::new, |row| row_contributions(row, &ranking.weights.model.symbol_in_file));
    }
    let all = ranking.symbol_scores(file);
    let (own, best) = (all.get(at as usize), all.iter().copied().fold(f64::MIN_POSITIVE, f64::max));
    own.map(|own| Contribution { label: "references to it", weight: own / best }).into_iter().collect()
}

impl Ranking {
    /// Scores of the definitions of a file, in source order, not negative. With a request: the probability of each if its file is
    /// needed.
    pub(crate) fn symbol_scores(&self, file: u32) -> Vec<f64> {
        if self.scores.requested {
            let rows = SymbolFeatures::new(self).of_file(file);
            return rows.iter().map(|row| self.weights.model.probability_in_file(row)).collect();
        }
        let inflow = |&symbol: &u32| {
            let definitions = self.graph.symbols()[symbol as usize].definitions;
            self.reference_ranks().symbols[symbol as usize] / f64::from(definitions.max(1))
        };
        self.graph.symbols_of(file).iter().map(inflow).collect()
    }
}
