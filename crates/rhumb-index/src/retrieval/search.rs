//! The lexical search: ranks the files as the map does for the question, and takes the best chunks of each.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use regex::Regex;
use rhumb_syntax::SymbolKind;

use crate::lexical::{Chunk, each_word, is_stop_word};
use crate::repo_map::{
    Contribution, FileFeature, MapRequest, RankedDefinition, Ranking, SymbolRow, TagGraph, Weights, is_test,
    row_contributions,
};

/// Number of files whose chunks are scored, per requested hit.
const FILES_PER_HIT: usize = 3;
/// Maximum number of chunks per file.
const MAX_CHUNKS_PER_FILE: usize = 8;
/// Score of a chunk without any of the words, relative to the best of its file.
const BASE_SCORE: f64 = 0.1;
/// Factor for lines outside of all definitions in a file that has some: imports, constants, a comment about the file.
const OUTSIDE_SCORE: f64 = 0.3;
/// Minimum contribution in log-odds, and number, of the reasons that a hit states.
const MIN_EVIDENCE: f64 = 0.3;
const MAX_EVIDENCE: usize = 3;
/// Additional score of the definition of a requested name, relative to the best chunk of its file.
const DEFINITION_BONUS: f64 = 2.0;

/// A search in an index: ranks once, and lists files, definitions or chunks.
#[derive(Debug)]
pub struct CodeSearch<'q> {
    question: &'q Question,
    ranking: Ranking,
    weights: &'q SearchWeights,
}

/// A file of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct FileHit {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The number of the file in the index.
    pub file: u32,
    /// Higher is better: the file's share of the odds of all files.
    pub score: f64,
}

impl<'q> CodeSearch<'q> {
    /// Ranks the files of a graph for a question.
    pub fn new(graph: &Arc<TagGraph>, question: &'q Question, weights: &'q SearchWeights) -> Self {
        Self { question, ranking: Ranking::new(graph, &request(question), &weights.map), weights }
    }

    /// The best files, best first; empty if none is relevant.
    pub fn files(&self) -> Vec<FileHit> {
        let mut files: Vec<(u32, f64)> = self.ranked_files();
        files.truncate(self.question.limit);
        let hit = |(file, score): (u32, f64)| FileHit { path: path(&self.ranking, file), file, score };
        files.into_iter().map(hit).collect()
    }

    /// The best definitions, best first; empty if none is relevant. Of definitions with the same path, container and name only the best
    /// is listed.
    pub fn symbols(&self) -> Vec<Hit> {
        let mut rows = self.ranking.ranked_definitions();
        let name = self.question.name();
        let entry = |row: &RankedDefinition| self.ranking.index().definition(row.file, row.definition);
        let is_named = |row: &RankedDefinition| name.is_some() && entry(row).map(|entry| entry.name()) == name;
        // A stable sort: the best first, unless the question is a name.
        rows.sort_by_key(|row| !is_named(row));
        let mut listed = BTreeSet::new();
        let mut hits = Vec::new();
        for row in rows {
            if hits.len() >= self.question.limit {
                break;
            }
            let Some(entry) = entry(&row) else { continue };
            let container = self.ranking.container_path(row.file, row.definition);
            if listed.insert((row.file, container.clone(), entry.name())) {
                hits.push(Hit {
                    path: path(&self.ranking, row.file),
                    file: row.file,
                    definition: Some(row.definition),
                    line: entry.line(),
                    end_line: entry.end_line().max(entry.line()),
                    symbol: Some(entry.name().to_owned()),
                    kind: Some(entry.kind()),
                    container,
                    signature: entry.signature().to_owned(),
                    evidence: Vec::new(),
                    score: row.log_odds,
                });
            }
        }
        hits
    }

    /// The best chunks, best first; empty if none is relevant.
    pub fn chunks(&self) -> Vec<Hit> {
        let (question, index) = (self.question, self.ranking.index());
        let mut files = self.ranked_files();
        files.truncate(question.limit.saturating_mul(FILES_PER_HIT).max(1));
        let defining = question.name().and_then(|name| index.name_number(name));
        if files.is_empty() {
            return Vec::new();
        }
        for file in defining.into_iter().flat_map(|name| self.ranking.defining_files(name)).take(question.limit) {
            if files.iter().all(|(known, _)| known != file) {
                files.push((*file, self.ranking.scores.files.get(*file as usize).copied().unwrap_or(0.0)));
            }
        }
        let named = question.names();
        let rows = self.ranking.definition_rows(files.iter().map(|file| file.0));
        let rows_of = |file: u32| rows.get(&file).map_or(&[][..], Vec::as_slice);
        let of_file = |&(file, share): &(u32, f64)| {
            let model = &self.ranking.weights.model;
            let log_odds: Vec<f64> = rows_of(file).iter().map(|row| model.symbol_log_odds(row)).collect();
            of_file(&self.ranking, (file, share), &log_odds, (&named, self.weights))
        };
        let mut hits: Vec<Hit> = files.iter().flat_map(of_file).collect();
        definitions_first(question, &mut hits);
        hits.truncate(question.limit);
        for hit in &mut hits {
            let row = hit.definition.and_then(|definition| rows_of(hit.file).get(definition as usize));
            hit.evidence = row.map(|row| evidence(&self.ranking, row)).unwrap_or_default();
        }
        hits
    }

    /// The files with their shares, best first.
    fn ranked_files(&self) -> Vec<(u32, f64)> {
        if !self.ranking.is_requested() {
            return Vec::new();
        }
        let mut files: Vec<(u32, f64)> = (0u32..).zip(self.ranking.scores.files.iter().copied()).collect();
        files.retain(|(_, share)| *share > 0.0);
        files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        files
    }

    /// The contributions to the score of a file, in log-odds, strongest first.
    pub fn file_contributions(&self, file: u32) -> Vec<Contribution> {
        self.ranking.contributions(file)
    }

    /// The contributions to the score of a definition, in log-odds, strongest first.
    pub fn symbol_contributions(&self, file: u32, definition: u32) -> Vec<Contribution> {
        self.ranking.definition_contributions(file, definition)
    }

    /// The words of the question that occur in a text, as stems.
    pub fn words_in(&self, text: &str) -> Vec<String> {
        let mut there = BTreeSet::new();
        each_word(text, |word| {
            there.insert(word.to_owned());
        });
        question_words(&self.question.text).into_iter().filter(|word| there.contains(word)).collect()
    }
}

/// The labels of the strongest contributions to the score of a definition.
fn evidence(ranking: &Ranking, row: &SymbolRow) -> Vec<&'static str> {
    let contributions = row_contributions(row, &ranking.weights.model.symbol);
    let strong = contributions.iter().filter(|contribution| contribution.weight >= MIN_EVIDENCE);
    strong.map(|contribution| contribution.label).take(MAX_EVIDENCE).collect()
}

/// The best chunks for a question, best first; empty if none is relevant.
pub fn search(graph: &Arc<TagGraph>, question: &Question, weights: &SearchWeights) -> Vec<Hit> {
    CodeSearch::new(graph, question, weights).chunks()
}

fn path(ranking: &Ranking, file: u32) -> Arc<str> {
    ranking.index().files().get(file as usize).map_or_else(|| "".into(), |file| Arc::clone(&file.path))
}

/// Sorts hits by score. If the question is a name, its definitions come first.
pub fn definitions_first(question: &Question, hits: &mut [Hit]) {
    hits.sort_by(Hit::best_first);
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let Some(name) = question.name() else { return };
    // A long definition has several chunks; its header is in the first.
    let mut heads: BTreeMap<(Arc<str>, Option<u32>), u32> = BTreeMap::new();
    for hit in hits.iter().filter(|hit| hit.symbol.as_deref() == Some(name)) {
        let line = heads.entry((Arc::clone(&hit.path), hit.definition)).or_insert(hit.line);
        *line = hit.line.min(*line);
    }
    for hit in hits.iter_mut().filter(|hit| hit.symbol.as_deref() == Some(name)) {
        if heads.get(&(Arc::clone(&hit.path), hit.definition)) == Some(&hit.line) {
            hit.score += best;
        }
    }
    hits.sort_by(Hit::best_first);
}

/// The map request for a question.
pub(crate) fn request(question: &Question) -> MapRequest {
    MapRequest {
        message: question.text_with_code(),
        mentioned_idents: question.parts().map(str::to_owned).chain(question.hints.iter().cloned()).collect(),
        ..MapRequest::default()
    }
}

/// The hits of a file, best first, given the log-odds of its definitions.
fn of_file(
    ranking: &Ranking,
    (file, share): (u32, f64),
    log_odds: &[f64],
    (named, weights): (&[&str], &SearchWeights),
) -> Vec<Hit> {
    let Some(terms) = ranking.index().record(file).map(|record| record.terms()) else { return Vec::new() };
    let scored = ranking.relevance.files.get(file as usize).map_or(&[][..], |relevance| &relevance.chunks);
    let best = scored.iter().map(|chunk| f64::from(chunk.1)).fold(f64::MIN_POSITIVE, f64::max);
    let best_log_odds = log_odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut score = vec![BASE_SCORE; terms.chunk_count()];
    for &(chunk, points) in scored {
        let definition = terms.chunk(chunk as usize).and_then(|chunk| chunk.definition);
        let of_definition = definition.and_then(|definition| log_odds.get(definition as usize));
        let place = match of_definition {
            Some(log_odds) => (weights.definition * (log_odds - best_log_odds)).exp(),
            None if log_odds.is_empty() => 1.0,
            None => OUTSIDE_SCORE,
        };
        if let Some(cell) = score.get_mut(chunk as usize) {
            *cell = BASE_SCORE + (1.0 - BASE_SCORE) * place * f64::from(points) / best;
        }
    }
    let mut chunks: Vec<(Chunk, f64)> = Vec::new();
    let mut seen = None;
    for (at, score) in score.into_iter().enumerate() {
        let Some(chunk) = terms.chunk(at) else { continue };
        let entry = chunk.definition.and_then(|definition| ranking.index().definition(file, definition));
        let is_first = chunk.definition != seen;
        seen = chunk.definition;
        let defines = is_first && entry.is_some_and(|entry| named.contains(&entry.name()));
        let is_test = !ranking.asks_for_tests && entry.is_some_and(|entry| is_test(entry.name(), entry.container()));
        let score = score + if defines { DEFINITION_BONUS } else { 0.0 };
        chunks.push((chunk, if is_test { score * weights.test } else { score }));
    }
    chunks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.line.cmp(&b.0.line)));
    chunks.truncate(MAX_CHUNKS_PER_FILE);
    let top = chunks.first().map_or(1.0, |chunk| chunk.1);
    let mut factor = share;
    let mut hits = Vec::new();
    for (chunk, score) in chunks {
        hits.push(hit(ranking, file, chunk, factor * score / top));
        factor *= weights.next_of_a_file;
    }
    hits
}

fn hit(ranking: &Ranking, file: u32, chunk: Chunk, score: f64) -> Hit {
    let index = ranking.index();
    let entry = chunk.definition.and_then(|definition| index.definition(file, definition));
    Hit {
        path: path(ranking, file),
        file,
        definition: chunk.definition,
        line: chunk.line,
        end_line: chunk.end_line.max(chunk.line),
        symbol: entry.map(|entry| entry.name().to_owned()),
        kind: entry.map(|entry| entry.kind()),
        container: entry.and_then(|entry| entry.container()).map(str::to_owned),
        signature: entry.map(|entry| entry.signature().to_owned()).unwrap_or_default(),
        evidence: Vec::new(),
        score,
    }
}

/// A search hit: lines of a file that may answer a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The number of the file in the index.
    pub file: u32,
    /// The definition that it is (or is a part of), by index in the file; `None` for lines outside of all definitions.
    pub definition: Option<u32>,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// The name of the definition.
    pub symbol: Option<String>,
    /// The kind of the definition.
    pub kind: Option<SymbolKind>,
    /// Name of the innermost enclosing definition.
    pub container: Option<String>,
    /// The header of the definition on one line; empty outside of all definitions.
    pub signature: String,
    /// The strongest reasons for its definition, strongest first; only of [`CodeSearch::chunks`].
    pub evidence: Vec<&'static str>,
    /// Higher is better. Scores are comparable only among the hits of one search.
    pub score: f64,
}

impl Hit {
    /// Orders by score, highest first, then by location.
    pub(crate) fn best_first(&self, other: &Self) -> Ordering {
        let by_location = || self.path.cmp(&other.path).then(self.line.cmp(&other.line));
        other.score.total_cmp(&self.score).then_with(by_location)
    }

    /// Whether both hits overlap in the same definition.
    pub fn is_about(&self, other: &Self) -> bool {
        let overlaps = self.line <= other.end_line && other.line <= self.end_line;
        self.path == other.path && self.definition == other.definition && overlaps
    }
}

/// The weights of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchWeights {
    /// The weights for ranking the files.
    pub map: Weights,
    /// Factor per further chunk of a file, since an answer is seldom in one file only.
    pub next_of_a_file: f64,
    /// How much the log-odds of a definition, relative to the best of its file, count for its chunks.
    pub definition: f64,
    /// Factor for a test among other code, unless the question is about tests.
    pub test: f64,
}

impl Default for SearchWeights {
    /// The weights for a question on one line. They are those of the map, except for four that questions need, since these are about central
    /// files and documents more often than changes are. They were chosen on public questions about nine repositories.
    fn default() -> Self {
        let mut map = Weights::default();
        for (feature, weight) in [
            (FileFeature::PathPrefix, 2.0),
            (FileFeature::References, 2.0),
            (FileFeature::NoCode, -1.0),
            (FileFeature::Peripheral, -2.5),
        ] {
            map.model.file[feature as usize] = weight;
        }
        Self { map, next_of_a_file: 0.04, definition: 1.0, test: 0.3 }
    }
}

impl SearchWeights {
    /// The weights for a question. A text of several lines, such as an issue, is about a change: it is searched with the weights of the map, and
    /// several chunks of a file are as likely as those of several files.
    pub fn of(question: &Question) -> Self {
        if question.text.trim().contains('\n') {
            Self { map: Weights::default(), next_of_a_file: 0.8, ..Self::default() }
        } else {
            Self::default()
        }
    }

    /// Removes one of [`SIGNALS`](crate::repo_map::SIGNALS) from these weights.
    #[must_use]
    pub fn without(self, signal: &str) -> Self {
        Self { map: self.map.without(signal), ..self }
    }
}

/// The stems of the words of a question, without stop words and duplicates.
pub fn question_words(question: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // Stop words are compared before stemming, since the stem of `where` is not one.
    let words_of_question = question.split(|c: char| !c.is_alphanumeric() && c != '_');
    for word in words_of_question.filter(|word| !is_stop_word(&word.to_lowercase())) {
        each_word(word, |part| {
            if !words.iter().any(|known| known == part) {
                words.push(part.to_owned());
            }
        });
    }
    words
}

/// The kind of a question. It decides the weights of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// A name in code: `parse_header`, `Router::nest`, `HTTPAdapter`.
    Symbol,
    /// A path, or the end of one: `src/util/url.rs`.
    Path,
    /// Natural language.
    Sentence,
}

/// A question about a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The words of the question.
    pub text: String,
    /// Further words to search for: names and paths that a model proposed.
    pub hints: Vec<String>,
    /// Code that a model wrote as a guess at the answer. Its words are searched for, and it does not change the kind of the question.
    pub code: String,
    /// Maximum number of hits.
    pub limit: usize,
}

impl Question {
    /// A question without hints.
    pub fn new(text: &str, limit: usize) -> Self {
        Self { text: text.to_owned(), limit, ..Self::default() }
    }

    /// The text, and the code on further lines.
    pub fn text_with_code(&self) -> String {
        if self.code.is_empty() { self.text.clone() } else { format!("{}\n{}", self.text, self.code) }
    }

    /// The kind of the question.
    pub fn shape(&self) -> QuestionKind {
        shape(&self.text)
    }

    /// The parts of the name, `Router` and `nest` of `Router::nest`, if the question is a name.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        let name = if self.shape() == QuestionKind::Symbol { self.text.as_str() } else { "" };
        name.split(|c| !is_of_a_name(c)).filter(|part| !part.is_empty())
    }

    /// The last part of the name, `nest` of `Router::nest`, if the question is a name.
    pub fn name(&self) -> Option<&str> {
        self.parts().last()
    }

    /// The names of definitions that answer the question: the last part of a name; in a sentence, each word that is written as code or
    /// with a capital.
    pub(crate) fn names(&self) -> Vec<&str> {
        if self.shape() == QuestionKind::Sentence {
            written_as_names(&self.text)
        } else {
            self.parts().last().into_iter().collect()
        }
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

fn written_as_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = 0;
    for word in text.split(|c| !is_of_a_name(c)) {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let as_code = before.ends_with(['`', '.', ':', '#']) || after.starts_with(['`', '(', '.', ':']);
        // Both a sentence and a member access have a dot after the word: the next character distinguishes them.
        let joined = after.trim_start_matches(['.', ':']).starts_with(is_of_a_name) || !after.starts_with(['.', ':']);
        let is_name = word.contains(|c: char| c.is_uppercase() || c == '_') || (as_code && joined);
        if is_name && word.contains(char::is_alphabetic) && !names.contains(&word) {
            names.push(word);
        }
        at += word.len() + after.chars().next().map_or(0, char::len_utf8);
    }
    names
}

/// A name as written in code: `Type::name`, `object.name`, `name()`.
static SYMBOL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[\p{L}_$][\p{L}\p{N}_$]*((::|\.|#|->)[\p{L}_$~][\p{L}\p{N}_$]*)*[!?]?(\(\))?$").ok()
});

fn shape(text: &str) -> QuestionKind {
    let text = text.trim().trim_matches('`');
    if text.split_whitespace().nth(1).is_some() || text.is_empty() {
        return QuestionKind::Sentence;
    }
    let is_path = text.contains('/') && !text.contains("::");
    if is_path {
        return QuestionKind::Path;
    }
    if SYMBOL.as_ref().is_some_and(|symbol| symbol.is_match(text)) {
        QuestionKind::Symbol
    } else {
        QuestionKind::Sentence
    }
}

#[cfg(test)]
mod tests {
    use rhumb_syntax::{Language, tags};

    use super::*;
    use crate::lexical::Depth;
    use crate::repo_map::{Digest, History, MapFile, MapIndex, Weights};

    fn graph(files: &[(String, String)]) -> Arc<TagGraph> {
        let file = |(path, text): &(String, String)| {
            let tags = tags(Language::for_path(path).unwrap(), text);
            let digest = Arc::new(Digest::new(text, &tags, Depth::Whole));
            MapFile { path: path.clone(), tags: Arc::new(tags), digest }
        };
        let index = MapIndex::of(&files.iter().map(file).collect::<Vec<_>>());
        Arc::new(TagGraph::new(Arc::new(index), &History::default(), &Weights::default()))
    }

    #[test]
    fn a_guess_at_the_code_leaves_a_name_a_name() {
        let question = Question { code: "fn nest() {\n}\n".to_owned(), ..Question::new("Router::nest", 5) };
        assert_eq!((question.shape(), question.name()), (QuestionKind::Symbol, Some("nest")));
        assert_eq!(request(&question).message, "Router::nest\nfn nest() {\n}\n");
    }

    #[test]
    fn the_definition_of_a_requested_name_comes_first() {
        let talk = |at: usize| {
            let uses = format!("    Gate.open(gate_{at})  # the gate of gates\n").repeat(30);
            (format!("gate/gate_{at}.py"), format!("def gate_{at}(gate):\n{uses}"))
        };
        let mut files: Vec<(String, String)> = (0..60).map(talk).collect();
        let body = "    def lift(self):\n        return self.weight * 2\n\n".repeat(60);
        files.push(("tests/zz.py".into(), format!("class Other:\n    pass\n\nclass Gate:\n{body}")));
        let graph = graph(&files);
        for limit in [1, 10] {
            let hits = search(&graph, &Question::new("Gate", limit), &SearchWeights::default());
            assert_eq!((hits[0].symbol.as_deref(), hits[0].line), (Some("Gate"), 4), "{:?}", hits[0]);
            assert!(hits.len() <= limit && hits.is_sorted_by(|one, other| one.score >= other.score));
        }
    }

    #[test]
    fn definitions_are_listed_with_their_types() {
        let source = "class Port:\n    class Gate:\n        def lift(self):\n            def hook():\n                return self.weight\n            return hook\n\n\ndef lower(gate):\n    return gate.weight\n";
        let graph = graph(&[("port.py".into(), source.into()), ("other.py".into(), "def other():\n    pass\n".into())]);
        let question = Question::new("Lift the gate by its weight\n\nIt does not lift.", 10);
        let weights = SearchWeights::default();
        let search = CodeSearch::new(&graph, &question, &weights);
        let names: Vec<(Option<String>, String)> =
            search.symbols().into_iter().map(|hit| (hit.container, hit.symbol.unwrap())).collect();
        let has =
            |container: Option<&str>, name: &str| names.contains(&(container.map(str::to_owned), name.to_owned()));
        assert!(has(Some("Port.Gate"), "lift") && has(Some("Port.Gate"), "hook") && has(None, "lower"), "{names:?}");
        assert_eq!(names[0].1, "lift", "{names:?}");
        assert_eq!(&*search.files()[0].path, "port.py");
        assert!(!search.symbol_contributions(1, 2).is_empty());
    }

    #[test]
    fn the_words_of_a_question_exclude_stop_words() {
        assert_eq!(
            question_words("How are the headers parsed, and the headers?"),
            ["header", "pars"].map(|stem| {
                let mut found = String::new();
                each_word(if stem == "pars" { "parsed" } else { stem }, |word| found = word.to_owned());
                found
            })
        );
        assert!(question_words("Where is the").is_empty() && question_words(" ?! ").is_empty());
    }

    #[test]
    fn the_names_of_a_question_are_the_words_written_as_code() {
        for (text, names) in [
            ("Router::nest", vec!["nest"]),
            ("how does Router relate to MethodRouter?", vec!["Router", "MethodRouter"]),
            ("where is `walk` called by read_all, and run()?", vec!["walk", "read_all", "run"]),
            ("what does self.depth.mark do.", vec!["self", "depth", "mark"]),
            ("how is the tide read: by whom.", vec![]),
            ("src/Tide.rs", vec![]),
            ("Größe é(", vec!["Größe", "é"]),
        ] {
            assert_eq!(Question::new(text, 1).names(), names, "{text}");
        }
    }

    #[test]
    fn names_paths_and_sentences_are_distinguished() {
        for name in ["parse", "parse_header", "Router::nest", "self.send", "HTTPAdapter", "`run()`", "Größe", "ship!"]
        {
            assert_eq!(shape(name), QuestionKind::Symbol, "{name}");
        }
        for path in ["src/lib.rs", "lib/", "./util/url"] {
            assert_eq!(shape(path), QuestionKind::Path, "{path}");
        }
        for sentence in ["how is it parsed", "", "  ", "a-b", "1 + 1"] {
            assert_eq!(shape(sentence), QuestionKind::Sentence, "{sentence}");
        }
    }
}
