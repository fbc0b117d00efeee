//! Scores files and symbols: by the evidence if there is a request, else by references.

use std::collections::BTreeSet;

use rhumb_syntax::SymbolKind;

use super::evidence::{self, SymbolEvidence};
use super::explanation::Contribution;
use super::index::IndexedDefinition;
use super::path;
use super::ranking::Ranking;
use super::request::MapRequest;
use crate::lexical::FileRelevance;

/// Number of leaders: files whose neighbours and co-changed files get evidence.
const MAX_LEADERS: usize = 12;
/// Minimum absolute weight of a contribution that is reported.
const MIN_CONTRIBUTION: f64 = 0.005;

/// The scores of the files. Definitions are scored on demand, since a map needs those of few files.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// Whether the request is about any file.
    pub(crate) requested: bool,
    /// By file, not negative. With a request: the file's share of the odds of all files.
    pub(crate) files: Vec<f64>,
    /// Score of the best passage of the repository.
    best_passage: f64,
    pub(crate) asks_for_tests: bool,
    /// Names that the files of the chat reference.
    from_chat: BTreeSet<u32>,
    /// By file: 1 if it has uncommitted changes, else 0.
    edited: Vec<f64>,
}

impl Scores {
    /// Scores the files of a ranking whose other fields are complete.
    pub(crate) fn new(ranking: &Ranking, request: &MapRequest) -> Self {
        let requested = is_requested(ranking);
        let asks_for_tests = request.message.to_lowercase().contains("test");
        let edited = among(ranking, &request.edited);
        let files = if requested {
            evidence::odds_shares(&shown(ranking, &requested_odds(ranking, &edited, asks_for_tests, &mut |_, _| {})))
        } else {
            unrequested_files(ranking, &edited, &mut |_, _| {})
        };
        let chat = (0u32..).zip(&ranking.chat).filter(|(_, chat)| **chat).map(|(file, _)| file);
        Self {
            requested,
            files,
            best_passage: ranking.relevance.files.iter().map(|file| file.best).fold(f64::MIN_POSITIVE, f64::max),
            asks_for_tests,
            from_chat: chat.flat_map(|file| ranking.index().references(file)).map(|uses| uses.name).collect(),
            edited,
        }
    }
}

/// Whether the request is about any file.
fn is_requested(ranking: &Ranking) -> bool {
    let is_relevant = |file: &FileRelevance| file.best > 0.0 || file.path > 0.0;
    let votes = ranking.seeds.file_votes.iter().chain(&ranking.seeds.symbol_votes);
    ranking.relevance.files.iter().any(is_relevant) || votes.into_iter().any(|votes| *votes > 0.0)
}

/// Scores without a request: the rank by references, plus recent changes and changes together with the chat.
///
/// Calls `record` with the sums after each kind of evidence.
fn unrequested_files(ranking: &Ranking, edited: &[f64], record: &mut dyn FnMut(&'static str, &[f64])) -> Vec<f64> {
    let (ranks, weights) = (&ranking.reference_ranks().files, &ranking.weights);
    let highest = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut scores: Vec<f64> = ranks.iter().map(|rank| rank / highest).collect();
    record("references to it", &scores);
    let history = f64::from(u8::from(weights.file.with_chat > 0.0));
    evidence::add(&mut scores, history, &ranking.graph.commits().changed_with(&chat_files(ranking)));
    record("commits that changed it with the chat's files", &scores);
    evidence::add(&mut scores, weights.file.edited, edited);
    record("changes that are not committed", &scores);
    for (score, file) in scores.iter_mut().zip(ranking.index().files()) {
        *score *= if path::is_peripheral(&file.path) { weights.peripheral } else { 1.0 };
    }
    record("its path: a test, an example, vendored code", &scores);
    scores
}

/// The log-odds of each file. Calls `record` with the sums after each kind of evidence.
fn requested_odds(
    ranking: &Ranking,
    edited: &[f64],
    asks_for_tests: bool,
    record: &mut dyn FnMut(&'static str, &[f64]),
) -> Vec<f64> {
    let (weights, commits) = (&ranking.weights.file, ranking.graph.commits());
    let mut odds = vec![0.0; ranking.chat.len()];
    let [best, top_three, whole_file, path] = ranking.relevance.views();
    evidence::add(&mut odds, weights.best, &best);
    evidence::add(&mut odds, weights.top_three, &top_three);
    evidence::add(&mut odds, weights.whole_file, &whole_file);
    record("words of the message in its text", &odds);
    evidence::add(&mut odds, weights.path, &path);
    let prefix: Vec<f64> = ranking.relevance.files.iter().map(|file| file.prefix).collect();
    evidence::add(&mut odds, weights.prefix, &prefix);
    record("words of the message in its path", &odds);
    if weights.prominence != 0.0 {
        evidence::add(&mut odds, weights.prominence, ranking.prominence());
    }
    record("references to it", &odds);
    evidence::add(&mut odds, weights.named, &named(ranking));
    record("named in the message", &odds);
    evidence::add(&mut odds, weights.edited, edited);
    record("changes that are not committed", &odds);
    evidence::add(&mut odds, weights.similar_commits, &commits.with_similar_subjects(&ranking.query));
    record("commits with a message like this", &odds);
    for (file, odds) in (0u32..).zip(&mut odds) {
        *odds += of_its_kind(ranking, file, asks_for_tests);
    }
    record("its kind: a test, an example, no code", &odds);
    let (chat, leaders) = (chat_files(ranking), evidence::leaders(&shown(ranking, &odds), MAX_LEADERS));
    evidence::add(&mut odds, weights.with_leaders, &commits.changed_with(&leaders));
    evidence::add(&mut odds, weights.with_chat, &commits.changed_with(&chat));
    record(
        label(
            &chat,
            ["commits that changed it with the best matches", "commits that changed it with the chat's files"],
        ),
        &odds,
    );
    let (weight, start) = if chat.is_empty() { (weights.near_leaders, &leaders) } else { (weights.near_chat, &chat) };
    if weight != 0.0 {
        evidence::add(&mut odds, weight, &ranking.graph.neighbourhood(&ranking.weights).near(start));
        record(
            label(&chat, ["references between it and the best matches", "references between it and the chat's files"]),
            &odds,
        );
    }
    odds
}

/// The label for a chat without files or with files.
fn label(chat: &[(u32, f64)], [without, with]: [&'static str; 2]) -> &'static str {
    if chat.is_empty() { without } else { with }
}

/// The contributions to the score of a file, strongest first: in log-odds with a request, else as shares of the highest rank.
pub(crate) fn contributions(ranking: &Ranking, file: u32) -> Vec<Contribution> {
    let (mut contributions, mut before) = (Vec::new(), 0.0);
    let mut record = |label, sums: &[f64]| {
        let now = sums.get(file as usize).copied().unwrap_or(0.0);
        contributions.push(Contribution { label, weight: now - before });
        before = now;
    };
    let scores = &ranking.scores;
    if scores.requested {
        requested_odds(ranking, &scores.edited, scores.asks_for_tests, &mut record);
    } else {
        unrequested_files(ranking, &scores.edited, &mut record);
    }
    strongest_first(contributions)
}

/// Drops negligible contributions and sorts the others by absolute weight.
fn strongest_first(mut contributions: Vec<Contribution>) -> Vec<Contribution> {
    contributions.retain(|contribution| contribution.weight.abs() >= MIN_CONTRIBUTION);
    contributions.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    contributions
}

/// The log-odds for peripheral files and files without code. Files that the request names are exempt.
fn of_its_kind(ranking: &Ranking, file: u32, asks_for_tests: bool) -> f64 {
    if ranking.seeds.file_votes[file as usize] > 0.0 {
        return 0.0;
    }
    let path = ranking.index().path(file);
    let mut odds = 0.0;
    if path::is_peripheral(path) && !asks_for_tests {
        odds += ranking.weights.file.peripheral;
    }
    let holds_code = ranking.index().definitions(file).any(|entry| is_code(entry.kind()));
    if !holds_code && !path::is_landmark(path) {
        odds += ranking.weights.file.no_code;
    }
    odds
}

/// The votes for each file and its definitions.
fn named(ranking: &Ranking) -> Vec<f64> {
    let mut named = ranking.seeds.file_votes.clone();
    for (symbol, votes) in ranking.graph.symbols().iter().zip(&ranking.seeds.symbol_votes) {
        named[symbol.file as usize] += votes;
    }
    named
}

/// The odds of the files that may be shown; negative infinity for the others.
fn shown(ranking: &Ranking, odds: &[f64]) -> Vec<f64> {
    let shown = |(odds, hidden): (&f64, &bool)| if *hidden { f64::NEG_INFINITY } else { *odds };
    odds.iter().zip(&ranking.hidden).map(shown).collect()
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
        let passages = self.passage_scores(file, symbols.len());
        let best_here = passages.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let evidence = |((entry, &symbol), passage): ((IndexedDefinition<'_>, &u32), &f64)| SymbolEvidence {
            passage: passage / self.scores.best_passage,
            passage_in_file: passage / best_here,
            lines: entry.end_line().saturating_sub(entry.line()),
            minor: is_value(entry.kind()) || (!self.scores.asks_for_tests && is_test(entry)),
            from_chat: self.chat_use(symbol),
            votes: self.seeds.symbol_votes[symbol as usize],
        };
        self.index().definitions(file).zip(symbols).zip(&passages).map(evidence).collect()
    }

    /// References from the chat to a symbol: 1 divided by the number of files that define its name.
    fn chat_use(&self, symbol: u32) -> f64 {
        let name = self.graph.symbols()[symbol as usize].name;
        if self.scores.from_chat.contains(&name) { 1.0 / self.graph.definers(name).len() as f64 } else { 0.0 }
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

/// Whether a definition is a test among other code, by the usual names.
pub(crate) fn is_test(entry: IndexedDefinition<'_>) -> bool {
    let holds_tests = |name: &str| matches!(name, "tests" | "test");
    holds_tests(entry.name()) || entry.container().is_some_and(holds_tests) || entry.name().starts_with("test_")
}

/// Whether a kind is a field, constant or variable. Changes to values are made in functions and types.
fn is_value(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable)
}

/// Whether a kind is code, and not prose, markup or data.
fn is_code(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Section | SymbolKind::Key | SymbolKind::Selector)
}
