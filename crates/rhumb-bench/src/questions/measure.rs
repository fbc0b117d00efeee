//! Asking the questions, and scoring what is found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::case::QuestionCase;
use crate::mean::Mean;
use rhumb::clock::Stopwatch;
use rhumb_index::repo_map::TagGraph;
use rhumb_index::retrieval::{Hit, Question, SearchWeights, search};
use rhumb::session::runner::{SurveyStart, survey};
use rhumb_workspace::Root;

/// Places of the result that count.
const PLACES: usize = 10;

/// A repository that is asked.
#[derive(Debug)]
pub struct QuestionBench {
    graph: Arc<TagGraph>,
    /// What stands before the paths of the index to make them those of the questions.
    prefix: String,
    /// Passages of the repository.
    pub passages: usize,
}

/// How well questions were answered.
#[derive(Debug, Clone, Default)]
pub struct QuestionScore {
    /// Normalised discounted cumulative gain of the first ten passages, each file counted where it is found first.
    all: Mean,
    by_category: BTreeMap<String, Mean>,
    /// Milliseconds of each query.
    pub ms: Vec<f64>,
    /// The questions with their scores, in their order.
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
    /// Reads the repository at `root`. The questions name its files with `prefix` before the path (empty, or a folder
    /// with a `/` at its end).
    pub fn new(root: &Root, prefix: &str) -> Self {
        let start = SurveyStart { with_terms: true, ..SurveyStart::default() };
        let survey = survey(root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default();
        let index = survey.graph.index();
        let passages =
            (0..).take(index.len()).filter_map(|file| index.record(file)).map(|record| record.terms().passages());
        Self { passages: passages.sum(), graph: survey.graph, prefix: prefix.to_owned() }
    }

    /// Asks the questions.
    pub fn run(&self, cases: &[QuestionCase], weights: &SearchWeights) -> QuestionScore {
        let mut score = QuestionScore::default();
        for case in cases {
            let clock = Stopwatch::start();
            let hits = search(&self.graph, &Question::new(&case.query, PLACES), weights);
            score.ms.push(clock.ms());
            let gain = self.gain(case, &hits);
            score.all.add(Some(gain));
            score.by_category.entry(case.category.clone()).or_default().add(Some(gain));
            score.each.push((case.query.clone(), gain));
        }
        score
    }

    fn gain(&self, case: &QuestionCase, hits: &[Hit]) -> f64 {
        let at_place = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let place_of = |target: &super::case::Target| {
            hits.iter()
                .take(PLACES)
                .position(|hit| target.is_met(&format!("{}{}", self.prefix, hit.path), hit.line, hit.end_line))
        };
        let found: f64 = case.targets().filter_map(place_of).map(at_place).sum();
        let best: f64 = (0..case.targets().count().min(PLACES)).map(at_place).sum();
        found / best.max(f64::MIN_POSITIVE)
    }
}
