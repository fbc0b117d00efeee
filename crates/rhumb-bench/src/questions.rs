//! `rhumb-bench questions`: how well the search answers questions about a repository. A question file has one JSON object on each
//! line, with the files or lines that answer the question.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhumb::clock::Stopwatch;
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::{print, print_json};
use rhumb::host::{SurveyStart, survey};
use rhumb_index::repo_map::TagGraph;
use rhumb_index::retrieval::{Hit, Question, SearchWeights, search};
use rhumb_workspace::Root;
use rhumb_workspace::git::Checkout;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::QuestionBenchArgs;
use crate::figure::Mean;
use crate::{git_error, median, scratch_folder};

/// An example of a line of a question file.
pub const QUESTION: &str = r#"{"query": "where is the cache refreshed?", "relevant": [{"path": "src/cache.rs", "start_line": 41, "end_line": 60}], "secondary": [{"path": "docs/cache.md"}], "category": "where"}"#;

/// A question and its answers. Other fields of the line are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct QuestionCase {
    /// The question.
    pub query: String,
    /// Places that answer it.
    pub relevant: Vec<Target>,
    /// Places that help to answer it.
    #[serde(default)]
    pub secondary: Vec<Target>,
    /// The kind of question.
    #[serde(default)]
    pub category: String,
}

/// A file, or a range of its lines, that should be found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Target {
    /// The path, relative to the root of the repository.
    pub path: String,
    /// The first line, 1-based; `None` for the whole file.
    #[serde(default)]
    pub start_line: Option<u32>,
    /// The last line, inclusive.
    #[serde(default)]
    pub end_line: Option<u32>,
}

impl QuestionCase {
    /// All locations that should be found.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.relevant.iter().chain(&self.secondary)
    }
}

impl Target {
    /// Whether a passage overlaps the location.
    pub fn is_met(&self, path: &str, line: u32, end_line: u32) -> bool {
        self.path == path
            && self
                .start_line
                .is_none_or(|start| line <= self.end_line.unwrap_or(start).max(start) && start <= end_line)
    }
}

/// Why questions cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// A line is not a question.
    #[error("line {line} is not a question: {source}")]
    Line {
        /// 1-based.
        line: usize,
        /// The cause.
        source: serde_json::Error,
    },
    /// A question has no location that answers it.
    #[error("line {line}: nothing answers the question {query:?}")]
    NoTarget {
        /// 1-based.
        line: usize,
        /// The question.
        query: String,
    },
    /// There is no question.
    #[error("there is no question in it")]
    None,
}

/// Reads questions. Blank lines are skipped.
///
/// # Errors
/// A line is not a question (the first such line is reported), or the text contains no question.
pub fn questions(text: &str) -> Result<Vec<QuestionCase>, QuestionError> {
    let mut cases = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let case: QuestionCase = serde_json::from_str(text).map_err(|source| QuestionError::Line { line, source })?;
        if case.targets().next().is_none() {
            return Err(QuestionError::NoTarget { line, query: case.query });
        }
        cases.push(case);
    }
    if cases.is_empty() { Err(QuestionError::None) } else { Ok(cases) }
}

/// Length of the part of a result that is scored.
const RANK_CUTOFF: usize = 10;

/// A surveyed repository.
#[derive(Debug)]
pub struct QuestionBench {
    graph: Arc<TagGraph>,
    /// Prefix that makes paths of the index paths of the questions.
    prefix: String,
    /// Number of passages of the repository.
    pub passages: usize,
}

/// The scores of a run.
#[derive(Debug, Clone, Default)]
pub struct QuestionScore {
    /// Normalized discounted cumulative gain of the first ten passages, each location counted where it is found first.
    all: Mean,
    by_category: BTreeMap<String, Mean>,
    /// Milliseconds of each query.
    pub ms: Vec<f64>,
    /// The questions with their scores, in the order of the file.
    pub each: Vec<(String, f64)>,
}

impl QuestionScore {
    /// The mean over all questions.
    pub fn ndcg_at_ten(&self) -> f64 {
        self.all.value()
    }

    /// The mean of each category.
    pub fn categories(&self) -> impl Iterator<Item = (&str, f64)> {
        self.by_category.iter().map(|(name, mean)| (name.as_str(), mean.value()))
    }
}

impl QuestionBench {
    /// Surveys the folder `root`. The questions name its files with `prefix` in front of the path: empty, or a folder with a `/` at
    /// the end.
    pub fn new(root: &Root, prefix: &str) -> Self {
        let start = SurveyStart { with_terms: true, ..SurveyStart::default() };
        let survey = survey(root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default();
        let index = survey.graph.index();
        let passages =
            (0..).take(index.len()).filter_map(|file| index.record(file)).map(|record| record.terms().chunk_count());
        Self { passages: passages.sum(), graph: survey.graph, prefix: prefix.to_owned() }
    }

    /// Searches for each question and scores the results.
    pub fn run(&self, cases: &[QuestionCase], weights: &SearchWeights) -> QuestionScore {
        let mut score = QuestionScore::default();
        for case in cases {
            let clock = Stopwatch::start();
            let hits = search(&self.graph, &Question::new(&case.query, RANK_CUTOFF), weights);
            score.ms.push(clock.ms());
            let gain = self.gain(case, &hits);
            score.all.add(Some(gain));
            score.by_category.entry(case.category.clone()).or_default().add(Some(gain));
            score.each.push((case.query.clone(), gain));
        }
        score
    }

    fn gain(&self, case: &QuestionCase, hits: &[Hit]) -> f64 {
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let rank_of = |target: &Target| {
            hits.iter()
                .take(RANK_CUTOFF)
                .position(|hit| target.is_met(&format!("{}{}", self.prefix, hit.path), hit.line, hit.end_line))
        };
        let found: f64 = case.targets().filter_map(rank_of).map(gain).sum();
        let best: f64 = (0..case.targets().count().min(RANK_CUTOFF)).map(gain).sum();
        found / best.max(f64::MIN_POSITIVE)
    }
}

/// Runs `rhumb-bench questions`.
///
/// # Errors
/// The questions cannot be read, the repository or the commit does not exist, or there is no space on the disk.
pub(crate) fn command(args: &QuestionBenchArgs) -> Result<u8, UserError> {
    let hint = format!("each line is a question such as {QUESTION}");
    let usage = |message: String| UserError::new(ErrorKind::Usage, message, &hint);
    let name = args.cases.display();
    let text = fs::read_to_string(&args.cases).map_err(|error| usage(format!("cannot read {name}: {error}")))?;
    let cases = questions(&text).map_err(|error| usage(format!("{name}: {error}")))?;
    let folder = scratch_folder()?;
    let checkout = Checkout::new(&args.git_dir, folder.path()).map_err(|error| git_error(&error, &error))?;
    checkout.to(&args.revision).map_err(|error| git_error(&error, &error))?;
    let inner = args.folder.trim_matches('/').trim_start_matches("./");
    let inner = if inner == "." { "" } else { inner };
    let root = Root::at(&checkout.folder().join(inner))
        .map_err(|error| UserError::new(ErrorKind::Usage, format!("cannot read {}: {error}", args.folder), ""))?;
    let prefix = if inner.is_empty() { String::new() } else { format!("{inner}/") };
    let bench = QuestionBench::new(&root, &prefix);
    let score = bench.run(&cases, &SearchWeights::default());
    if args.report.is_json() {
        print_json(&as_json(&bench, &score))?;
    } else {
        print(&table(&bench, &score))?;
    }
    Ok(0)
}

fn table(bench: &QuestionBench, score: &QuestionScore) -> String {
    let categories: String = score.categories().map(|(name, value)| format!("{name:<14}{value:>8.3}\n")).collect();
    format!(
        "{:<14}{:>8}\n{:<14}{:>8.3}\n{categories}\n{} questions over {} passages, {:.1} ms each (median).\n",
        "",
        "nDCG@10",
        "all",
        score.ndcg_at_ten(),
        score.each.len(),
        bench.passages,
        median(score.ms.clone()),
    )
}

fn as_json(bench: &QuestionBench, score: &QuestionScore) -> Value {
    json!({
        "questions": score.each.len(),
        "passages": bench.passages,
        "ndcg_at_10": score.ndcg_at_ten(),
        "categories": score.categories().map(|(name, value)| (name.to_owned(), json!(value))).collect::<serde_json::Map<_, _>>(),
        "median_ms": median(score.ms.clone()),
        "each": score.each.iter().map(|(query, gain)| json!({"query": query, "ndcg_at_10": gain})).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_whole_files_can_be_expected() {
        let read = questions(
            "{\"query\": \"q\", \"relevant\": [{\"path\": \"a\"}, {\"path\": \"b\", \"start_line\": 3, \"end_line\": 5}]}\n\n",
        );
        let case = &read.unwrap()[0];
        let met: Vec<bool> = case.targets().map(|target| target.is_met("b", 5, 9)).collect();
        assert_eq!(met, [false, true]);
        assert!(!case.relevant[1].is_met("b", 6, 9) && case.relevant[0].is_met("a", 6, 9));
    }

    #[test]
    fn a_line_that_is_not_a_question_is_reported_by_number() {
        let error = |text: &str| questions(text).unwrap_err().to_string();
        assert!(error("no json").starts_with("line 1 is not a question"));
        assert_eq!(error("{\"query\": \"q\", \"relevant\": []}"), "line 1: nothing answers the question \"q\"");
        assert_eq!(error("\n"), "there is no question in it");
    }

    #[test]
    fn the_example_is_a_question_and_the_docs_show_it() {
        assert_eq!(questions(QUESTION).unwrap()[0].targets().count(), 2);
        assert!(include_str!("../../../docs/benchmarks.md").contains(QUESTION));
    }
}
