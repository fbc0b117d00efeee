//! What puts files and symbols into the map: what speaks for them, if the request says something, or else the references.

use std::collections::BTreeSet;

use super::evidence::{self, SymbolEvidence};
use super::index::Entry;
use super::path;
use super::request::MapRequest;
use super::standing::Ranking;
use crate::lexical::FileRelevance;
use rhumb_syntax::tag::SymbolKind;

/// Files that are asked what they are near to, and changed with.
const LEADERS: usize = 12;
/// What is not worth telling as a ground.
const LEAST_GROUND: f64 = 0.005;

/// What puts files and definitions into the map. Definitions are scored when asked for: a map looks into few files.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// Whether the request says anything of any file.
    pub(crate) requested: bool,
    /// By file, none negative. When the request says something: its share in the odds of all.
    pub(crate) files: Vec<f64>,
    /// Score of the best passage of the repository.
    best_passage: f64,
    pub(crate) asks_for_tests: bool,
    /// Names that the files of the chat reference.
    from_chat: BTreeSet<u32>,
    /// By file: one where it was edited and not committed, else zero.
    edited: Vec<f64>,
}

impl Scores {
    /// Scores the files of a ranking whose scores are still to come.
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

/// Whether the request says anything of any file.
fn is_requested(ranking: &Ranking) -> bool {
    let says = |file: &FileRelevance| file.best > 0.0 || file.path > 0.0;
    let votes = ranking.seeds.file_votes.iter().chain(&ranking.seeds.symbol_votes);
    ranking.relevance.files.iter().any(says) || votes.into_iter().any(|votes| *votes > 0.0)
}

/// The rank by references, and what is at hand: what was edited, and what changes with the chat.
///
/// Each kind of evidence is told as soon as it has been added.
fn unrequested_files(ranking: &Ranking, edited: &[f64], tell: &mut dyn FnMut(&'static str, &[f64])) -> Vec<f64> {
    let (ranks, weights) = (&ranking.flow().files, &ranking.weights);
    let highest = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut scores: Vec<f64> = ranks.iter().map(|rank| rank / highest).collect();
    tell("references to it", &scores);
    let history = f64::from(u8::from(weights.file.with_chat > 0.0));
    evidence::add(&mut scores, history, &ranking.graph.past().changed_with(&chat_files(ranking)));
    tell("commits that changed it with the chat's files", &scores);
    evidence::add(&mut scores, weights.file.edited, edited);
    tell("changes that are not committed", &scores);
    for (score, file) in scores.iter_mut().zip(ranking.index().files()) {
        *score *= if path::is_aside(&file.path) { weights.aside } else { 1.0 };
    }
    tell("lying aside: a test, an example, vendored code", &scores);
    scores
}

/// What speaks for each file, as log-odds. Each kind of evidence is told as soon as it has been added.
fn requested_odds(
    ranking: &Ranking,
    edited: &[f64],
    asks_for_tests: bool,
    tell: &mut dyn FnMut(&'static str, &[f64]),
) -> Vec<f64> {
    let (weights, past) = (&ranking.weights.file, ranking.graph.past());
    let mut odds = vec![0.0; ranking.chat.len()];
    let [best, three, whole, path] = ranking.relevance.views();
    evidence::add(&mut odds, weights.best, &best);
    evidence::add(&mut odds, weights.three, &three);
    evidence::add(&mut odds, weights.whole, &whole);
    tell("words of the message in its text", &odds);
    evidence::add(&mut odds, weights.path, &path);
    let opening: Vec<f64> = ranking.relevance.files.iter().map(|file| file.opening).collect();
    evidence::add(&mut odds, weights.opening, &opening);
    tell("words of the message in its path", &odds);
    if weights.prominence != 0.0 {
        evidence::add(&mut odds, weights.prominence, ranking.prominence());
    }
    tell("references to it", &odds);
    evidence::add(&mut odds, weights.named, &named(ranking));
    tell("named in the message", &odds);
    evidence::add(&mut odds, weights.edited, edited);
    tell("changes that are not committed", &odds);
    evidence::add(&mut odds, weights.resembling, &past.resembling(&ranking.query));
    tell("commits with a message like this", &odds);
    for (file, odds) in (0u32..).zip(&mut odds) {
        *odds += of_its_kind(ranking, file, asks_for_tests);
    }
    tell("its kind: a test, an example, no code", &odds);
    let (chat, leaders) = (chat_files(ranking), evidence::leaders(&shown(ranking, &odds), LEADERS));
    evidence::add(&mut odds, weights.with_leaders, &past.changed_with(&leaders));
    evidence::add(&mut odds, weights.with_chat, &past.changed_with(&chat));
    tell(
        told(&chat, ["commits that changed it with the best matches", "commits that changed it with the chat's files"]),
        &odds,
    );
    let (weight, start) = if chat.is_empty() { (weights.near_leaders, &leaders) } else { (weights.near_chat, &chat) };
    if weight != 0.0 {
        evidence::add(&mut odds, weight, &ranking.graph.neighbourhood(&ranking.weights).near(start));
        tell(
            told(&chat, ["references between it and the best matches", "references between it and the chat's files"]),
            &odds,
        );
    }
    odds
}

/// The words for a chat without files, or for one with some.
fn told(chat: &[(u32, f64)], [without, with]: [&'static str; 2]) -> &'static str {
    if chat.is_empty() { without } else { with }
}

/// What speaks for a file, or against it, and how much: in log-odds where the request says something, else in parts of the
/// highest rank. The strongest first.
pub(crate) fn grounds(ranking: &Ranking, file: u32) -> Vec<(&'static str, f64)> {
    let (mut grounds, mut before) = (Vec::new(), 0.0);
    let mut tell = |what, sums: &[f64]| {
        let now = sums.get(file as usize).copied().unwrap_or(0.0);
        grounds.push((what, now - before));
        before = now;
    };
    let scores = &ranking.scores;
    if scores.requested {
        requested_odds(ranking, &scores.edited, scores.asks_for_tests, &mut tell);
    } else {
        unrequested_files(ranking, &scores.edited, &mut tell);
    }
    grounds.retain(|(_, weight)| weight.abs() >= LEAST_GROUND);
    grounds.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    grounds
}

/// What lies aside, or holds no code, is seldom meant unless it is named.
fn of_its_kind(ranking: &Ranking, file: u32, asks_for_tests: bool) -> f64 {
    if ranking.seeds.file_votes[file as usize] > 0.0 {
        return 0.0;
    }
    let path = ranking.index().path(file);
    let mut odds = 0.0;
    if path::is_aside(path) && !asks_for_tests {
        odds += ranking.weights.file.aside;
    }
    let holds_code = ranking.index().definitions(file).any(|entry| is_code(entry.kind()));
    if !holds_code && !path::is_landmark(path) {
        odds += ranking.weights.file.no_code;
    }
    odds
}

/// Votes for each file and for what it defines.
fn named(ranking: &Ranking) -> Vec<f64> {
    let mut named = ranking.seeds.file_votes.clone();
    for (symbol, votes) in ranking.graph.symbols().iter().zip(&ranking.seeds.symbol_votes) {
        named[symbol.file as usize] += votes;
    }
    named
}

/// The odds of the files that may be shown; none for the others.
fn shown(ranking: &Ranking, odds: &[f64]) -> Vec<f64> {
    let shown = |(odds, hidden): (&f64, &bool)| if *hidden { f64::NEG_INFINITY } else { *odds };
    odds.iter().zip(&ranking.hidden).map(shown).collect()
}

fn chat_files(ranking: &Ranking) -> Vec<(u32, f64)> {
    (0u32..).zip(&ranking.chat).filter(|(_, chat)| **chat).map(|(file, _)| (file, 1.0)).collect()
}

/// One for each file whose path is among `paths`, else zero.
fn among(ranking: &Ranking, paths: &[String]) -> Vec<f64> {
    let mut among = vec![0.0; ranking.chat.len()];
    for file in paths.iter().filter_map(|path| ranking.index().file_at(path)) {
        among[file as usize] = 1.0;
    }
    among
}

/// What speaks for a definition of a file, or against it, as [`grounds`] tells of the file: its part of the rank that references
/// bring, unless the request says something.
pub(crate) fn symbol_grounds(ranking: &Ranking, file: u32, at: u32) -> Vec<(&'static str, f64)> {
    let weights = &ranking.weights.symbol;
    let Some(evidence) = ranking.symbol_evidence(file).get(at as usize).copied().filter(|_| ranking.is_requested())
    else {
        let all = ranking.symbol_scores(file);
        let (own, best) = (all.get(at as usize), all.iter().copied().fold(f64::MIN_POSITIVE, f64::max));
        return own.map(|own| ("references to it", own / best)).into_iter().collect();
    };
    let length = f64::from(evidence.lines).ln_1p().min(weights.longest);
    let mut grounds = vec![
        ("words of the message in its text", weights.passage * evidence.passage),
        ("the best such place of its file", weights.passage_in_file * evidence.passage_in_file),
        ("its length", weights.length * length),
        ("its kind: a value or a test", weights.minor * f64::from(u8::from(evidence.minor))),
        ("references from the chat", weights.from_chat * evidence.from_chat),
        ("named in the message", weights.votes * evidence.votes),
    ];
    grounds.retain(|(_, weight)| weight.abs() >= LEAST_GROUND);
    grounds.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    grounds
}

impl Ranking {
    /// Scores of the definitions of a file, in source order, none negative. When the request says something: the
    /// probability of each if its file is needed.
    pub(crate) fn symbol_scores(&self, file: u32) -> Vec<f64> {
        let symbols = self.graph.symbols_of(file);
        if !self.scores.requested {
            let inflow = |&symbol: &u32| {
                let definitions = self.graph.symbols()[symbol as usize].definitions;
                self.flow().symbols[symbol as usize] / f64::from(definitions.max(1))
            };
            return symbols.iter().map(inflow).collect();
        }
        let chance = |evidence: SymbolEvidence| self.weights.symbol.chance(&evidence, symbols.len());
        self.symbol_evidence(file).into_iter().map(chance).collect()
    }

    /// What is known of the definitions of a file, in source order.
    fn symbol_evidence(&self, file: u32) -> Vec<SymbolEvidence> {
        let symbols = self.graph.symbols_of(file);
        let passages = self.passage_scores(file, symbols.len());
        let best_here = passages.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let evidence = |((entry, &symbol), passage): ((Entry<'_>, &u32), &f64)| SymbolEvidence {
            passage: passage / self.scores.best_passage,
            passage_in_file: passage / best_here,
            lines: entry.end_line().saturating_sub(entry.line()),
            minor: is_value(entry.kind()) || (!self.scores.asks_for_tests && is_test(entry)),
            from_chat: self.chat_use(symbol),
            votes: self.seeds.symbol_votes[symbol as usize],
        };
        self.index().definitions(file).zip(symbols).zip(&passages).map(evidence).collect()
    }

    /// What references from the chat say for a symbol: one by the number of files that define its name.
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

/// True for a test among other code, by the usual names of tests and of what holds them.
pub(crate) fn is_test(entry: Entry<'_>) -> bool {
    let holds_tests = |name: &str| matches!(name, "tests" | "test");
    holds_tests(entry.name()) || entry.container().is_some_and(holds_tests) || entry.name().starts_with("test_")
}

/// Fields, constants and variables: what is done to them is done in functions and types.
fn is_value(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable)
}

/// False for what prose, markup and data define.
fn is_code(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Section | SymbolKind::Key | SymbolKind::Selector)
}
