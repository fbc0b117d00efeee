//! Runs cases: checks out the parent commit, surveys it, ranks, renders the map, and scores it.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhumb::host::{Survey, SurveyStart, survey};
use rhumb::store::MapStore;
use rhumb_index::repo_map::{MapRequest, Ranking, RepoMap, TagGraph, Weights};
use rhumb_index::retrieval::{Question, SearchWeights, search};
use rhumb_tokens::{LineCache, TokenCounter, counter_for_model};
use rhumb_workspace::git::{Checkout, GitError};
use rhumb_workspace::{Root, WorkspaceError};

use super::case::{CommitCase, GoldSymbol};
use super::score::{MapContents, MeanRecall, ndcg_at_ten, recall_at_ten};
use crate::figure::Mean;

/// The model whose tokenizer counts.
const MODEL: &str = "gpt-4";

/// Number of passages of a search: enough for ten files.
const SEARCH_LIMIT: usize = 50;

/// Why a case cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The commit cannot be checked out.
    #[error("case {id}: {source}")]
    Git {
        /// The name of the case.
        id: String,
        /// The cause.
        source: GitError,
    },
    /// The checkout cannot be surveyed.
    #[error("the checkout cannot be read: {0}")]
    Root(#[from] WorkspaceError),
    /// A line that the case names does not exist.
    #[error("case {id}: there is no line {line} in {path}")]
    NoLine {
        /// The name of the case.
        id: String,
        /// The file, at the parent.
        path: String,
        /// 1-based.
        line: usize,
    },
}

/// Which files are in the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChatScenario {
    /// None. All files of the commit are expected in the map.
    All,
    /// One file of the commit. The other files are expected in the map.
    Others,
}

impl ChatScenario {
    /// The short name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "M1",
            Self::Others => "M2",
        }
    }
}

/// Recall of the maps for one scenario and one budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScenarioRecall {
    /// The scenario.
    pub task: ChatScenario,
    /// Maximum tokens of a map.
    pub budget: usize,
    /// The recall, as means over cases.
    pub means: MeanRecall,
}

/// The scores with one set of weights.
#[derive(Debug, Clone, Default)]
pub struct Variant {
    /// The signal that is left out; `None` if all signals count.
    pub without: Option<String>,
    recall: BTreeMap<(ChatScenario, usize), MeanRecall>,
    found: Mean,
    gain: Mean,
    /// Number of maps with more tokens than their budget.
    pub over: usize,
}

impl Variant {
    /// Recall by scenario and budget.
    pub fn recall(&self) -> impl Iterator<Item = ScenarioRecall> + '_ {
        self.recall.iter().map(|(&(task, budget), &means)| ScenarioRecall { task, budget, means })
    }

    /// Recall at 10: the share of the files of a commit among the first ten files of the search.
    pub fn recall_at_ten(&self) -> f64 {
        self.found.value()
    }

    /// nDCG at 10 of the files of a commit in the search.
    pub fn ndcg_at_ten(&self) -> f64 {
        self.gain.value()
    }

    /// The files of the passages that the search finds for a case, best first, without repetition.
    fn searched(&self, case: &CommitCase, graph: &Arc<TagGraph>) -> Vec<Arc<str>> {
        let question = Question::new(&case.query, SEARCH_LIMIT);
        let weights = match &self.without {
            Some(signal) => SearchWeights::of(&question).without(signal),
            None => SearchWeights::of(&question),
        };
        let mut files: Vec<Arc<str>> = Vec::new();
        for hit in search(graph, &question, &weights) {
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
    fitting: LineCache,
    exact: Arc<dyn TokenCounter>,
}

impl<'b> ContextBench<'b> {
    /// A run in a checkout. `scratch` is an empty folder for the map store.
    ///
    /// # Errors
    /// The folder of the checkout cannot be read.
    pub fn new(checkout: &'b Checkout, scratch: &Path, budgets: &'b [usize]) -> Result<Self, ContextError> {
        let root = Root::at(checkout.folder())?;
        let store = MapStore::new(scratch, root.path(), root.path());
        let (fitting, exact) = (LineCache::for_model(MODEL), counter_for_model(MODEL));
        Ok(Self { checkout, root, store, budgets, fitting, exact })
    }

    /// The scores with all signals, then without each signal of `without`, see [`rhumb_index::repo_map::SIGNALS`].
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

    /// Surveys the tree. Files that an earlier case had are not parsed again.
    fn survey(&self) -> Survey {
        let start = SurveyStart { store: Some(&self.store), with_terms: true, ..SurveyStart::default() };
        let survey = survey(&self.root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default();
        // If saving fails, the next case parses more files.
        drop(survey.save(&self.store));
        survey
    }

    /// The text of the first line of each definition that the commit touched.
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
