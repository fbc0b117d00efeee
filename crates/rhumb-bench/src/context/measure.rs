//! Running the cases: check out, survey, rank, fit, score.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::case::{CommitCase, GoldSymbol};
use super::score::{MapContents, MeanRecall, ndcg_at_ten, recall_at_ten};
use crate::figure::Mean;
use rhumb::session::runner::{Survey, SurveyStart, survey};
use rhumb::store::MapStore;
use rhumb_index::repo_map::{MapRequest, Ranking, RepoMap, TagGraph, Weights};
use rhumb_index::retrieval::{Question, SearchWeights, search};
use rhumb_tokens::{LineMemo, TokenCounter, counter_for_model};
use rhumb_workspace::git::{Checkout, GitError};
use rhumb_workspace::{Root, WorkspaceError};

/// The model whose tokens are counted.
const MODEL: &str = "gpt-4";

/// Passages that are searched for: enough for ten files.
const SEARCH_LIMIT: usize = 50;

/// A case cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The tree cannot be checked out.
    #[error("case {id}: {source}")]
    Git {
        /// Name of the case.
        id: String,
        /// Why.
        source: GitError,
    },
    /// The checkout cannot be surveyed.
    #[error("the checkout cannot be read: {0}")]
    Root(#[from] WorkspaceError),
    /// The case names a line that the tree does not have.
    #[error("case {id}: there is no line {line} in {path}")]
    NoLine {
        /// Name of the case.
        id: String,
        /// The file, at the parent.
        path: String,
        /// 1-based.
        line: usize,
    },
}

/// What the map is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChatScenario {
    /// All files of the commit, with nothing in the chat.
    All,
    /// The others, with one of them in the chat.
    Others,
}

impl ChatScenario {
    /// Its short name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "M1",
            Self::Others => "M2",
        }
    }
}

/// Recall of the maps for one task with one budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScenarioRecall {
    /// The task.
    pub task: ChatScenario,
    /// Tokens that a map may have.
    pub budget: usize,
    /// What the maps show.
    pub means: MeanRecall,
}

/// The scores of one way to weigh.
#[derive(Debug, Clone, Default)]
pub struct Variant {
    /// The signal that is left out; none where all count.
    pub without: Option<String>,
    recall: BTreeMap<(ChatScenario, usize), MeanRecall>,
    found: Mean,
    gain: Mean,
    /// Maps that had more tokens than their budget.
    pub over: usize,
}

impl Variant {
    /// Recall by task and budget.
    pub fn recall(&self) -> impl Iterator<Item = ScenarioRecall> + '_ {
        self.recall.iter().map(|(&(task, budget), &means)| ScenarioRecall { task, budget, means })
    }

    /// The part of the files of a commit that stand at the first ten places of the ranking.
    pub fn recall_at_ten(&self) -> f64 {
        self.found.value()
    }

    /// How early they stand there.
    pub fn ndcg_at_ten(&self) -> f64 {
        self.gain.value()
    }

    /// The files of the passages that the search finds for a case, best first, each once.
    fn searched(&self, case: &CommitCase, graph: &Arc<TagGraph>) -> Vec<Arc<str>> {
        let weights = match &self.without {
            Some(signal) => SearchWeights::default().without(signal),
            None => SearchWeights::default(),
        };
        let mut files: Vec<Arc<str>> = Vec::new();
        for hit in search(graph, &Question::new(&case.query, SEARCH_LIMIT), &weights) {
            if !files.contains(&hit.path) {
                files.push(hit.path);
            }
        }
        files
    }

    fn weights(&self) -> Weights {
        match &self.without {
            Some(signal) => Weights::default().without(signal),
            None => Weights::default(),
        }
    }
}

/// A run over cases of one repository.
pub struct ContextBench<'b> {
    checkout: &'b Checkout,
    root: Root,
    store: MapStore,
    budgets: &'b [usize],
    fitting: LineMemo,
    exact: Arc<dyn TokenCounter>,
}

impl<'b> ContextBench<'b> {
    /// A run in a checkout; `scratch` is an empty folder for what is kept between two cases.
    ///
    /// # Errors
    /// The folder of the checkout cannot be read.
    pub fn new(checkout: &'b Checkout, scratch: &Path, budgets: &'b [usize]) -> Result<Self, ContextError> {
        let root = Root::at(checkout.folder())?;
        let store = MapStore::new(scratch, root.path(), root.path());
        let (fitting, exact) = (LineMemo::for_model(MODEL), counter_for_model(MODEL));
        Ok(Self { checkout, root, store, budgets, fitting, exact })
    }

    /// The scores with all signals, then without each of some [`rhumb_index::repo_map::SIGNALS`].
    ///
    /// # Errors
    /// A commit or a line that a case names does not exist, or the checkout cannot be written.
    pub fn run(&self, cases: &[CommitCase], without: &[String]) -> Result<Vec<Variant>, ContextError> {
        let left_out = [None].into_iter().chain(without.iter().cloned().map(Some));
        let mut variants: Vec<Variant> = left_out.map(|without| Variant { without, ..Variant::default() }).collect();
        for case in cases {
            let failed = |source| ContextError::Git { id: case.id.clone(), source };
            self.checkout.to(&case.parent).map_err(failed)?;
            let survey = self.survey();
            let lines = self.own_lines(case)?;
            for variant in &mut variants {
                self.score(case, &lines, &survey, variant);
            }
        }
        Ok(variants)
    }

    /// Surveys the tree; only files that no case before had are parsed.
    fn survey(&self) -> Survey {
        let start = SurveyStart { store: Some(&self.store), with_terms: true, ..SurveyStart::default() };
        let survey = survey(&self.root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default();
        // What is not kept is parsed again.
        drop(survey.save(&self.store));
        survey
    }

    /// The first line of each of the definitions that the commit touched.
    fn own_lines(&self, case: &CommitCase) -> Result<Vec<String>, ContextError> {
        let own = |symbol: &GoldSymbol| {
            let bytes = fs::read(self.root.path().join(&symbol.path)).unwrap_or_default();
            let line = String::from_utf8_lossy(&bytes).split('\n').nth(symbol.line.wrapping_sub(1)).map(str::to_owned);
            let (id, path) = (case.id.clone(), symbol.path.clone());
            line.filter(|_| !bytes.is_empty()).ok_or(ContextError::NoLine { id, path, line: symbol.line })
        };
        case.symbols.iter().map(own).collect()
    }

    fn score(&self, case: &CommitCase, lines: &[String], survey: &Survey, variant: &mut Variant) {
        let weights = variant.weights();
        let graph = Arc::new(TagGraph::new(Arc::clone(survey.graph.index()), &survey.history, &weights));
        for task in [ChatScenario::All, ChatScenario::Others] {
            let chat = if task == ChatScenario::Others { case.chat.as_str() } else { "" };
            let gold: Vec<&str> =
                case.gold.iter().map(|file| file.path.as_str()).filter(|path| *path != chat).collect();
            if gold.is_empty() || (task == ChatScenario::Others && chat.is_empty()) {
                continue;
            }
            let symbols = case.symbols.iter().zip(lines.iter().map(String::as_str));
            let symbols: Vec<_> = symbols.filter(|(symbol, _)| symbol.path != chat).collect();
            for (nth, &budget) in self.budgets.iter().enumerate() {
                let chat_files = (!chat.is_empty()).then(|| chat.to_owned()).into_iter().collect();
                let request = MapRequest { message: case.query.clone(), chat_files, budget, ..MapRequest::default() };
                let map = RepoMap::of_ranking(Ranking::new(&graph, &request, &weights), &request, &self.fitting);
                let ranked: Vec<&str> = map.files.iter().map(|file| &*file.path).collect();
                let paths: HashSet<&str> = ranked.iter().copied().collect();
                let shown = MapContents::read(&map.text, &paths);
                variant.recall.entry((task, budget)).or_default().add(&shown, &gold, &symbols);
                variant.over += usize::from(self.exact.count(&map.text) > budget);
                if task == ChatScenario::All && nth == 0 {
                    let files = variant.searched(case, &graph);
                    let files: Vec<&str> = files.iter().map(|path| &**path).collect();
                    variant.found.add(recall_at_ten(&files, &gold));
                    variant.gain.add(ndcg_at_ten(&files, &gold));
                }
            }
        }
    }
}
