//! The rank of every file and symbol for one request.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::choice::symbols_chosen;
use super::graph::TagGraph;
use super::index::MapIndex;
use super::plan::Gains;
use super::rank::{PageRank, pagerank};
use super::request::MapRequest;
use super::score::Scores;
use super::seed::Seeds;
use super::weights::Weights;
use crate::lexical::{PackedTerms, Query, Relevance};

/// Below this part of the highest PageRank, as a logarithm, all files are alike.
const LEAST_PROMINENT: f64 = 14.0;

/// Rank of files and symbols.
#[derive(Debug)]
pub struct Ranking {
    pub(crate) graph: Arc<TagGraph>,
    /// By file: whether it is in the chat.
    pub(crate) chat: Vec<bool>,
    /// By file: whether it is not shown, because it is in the chat or banned.
    pub(crate) hidden: Vec<bool>,
    pub(crate) pinned: Vec<bool>,
    /// Symbols that come first in their files and bring these along.
    pub(crate) pinned_symbols: BTreeSet<u32>,
    /// Symbols that are not shown.
    pub(crate) banned_symbols: BTreeSet<u32>,
    pub(crate) query: Query,
    pub(crate) relevance: Relevance,
    pub(crate) seeds: Seeds,
    pub(crate) weights: Weights,
    /// Made when first needed: where the request says what it is about, that says more.
    flow: OnceLock<Flow>,
    /// What puts files and definitions into the map.
    pub(crate) scores: Scores,
}

/// What the references bring.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// PageRank by file.
    pub(crate) files: Vec<f64>,
    /// By symbol: its part of the rank of the files that reference it.
    pub(crate) symbols: Vec<f64>,
}

impl Ranking {
    /// Ranks the files of a graph for `request`.
    pub fn new(graph: &Arc<TagGraph>, request: &MapRequest, weights: &Weights) -> Self {
        let index = graph.index();
        let listed = |paths: &[String]| {
            let mut listed = vec![false; index.len()];
            for file in paths.iter().filter_map(|path| index.file_at(path)) {
                listed[file as usize] = true;
            }
            listed
        };
        let (chat, banned) = (listed(&request.chat_files), listed(&request.banned));
        let query = query(request);
        let relevance = relevance(index, &query);
        let seeds = Seeds::new(graph, &chat, request, &relevance, weights);
        let mut ranking = Self {
            graph: Arc::clone(graph),
            hidden: chat.iter().zip(&banned).map(|(chat, banned)| *chat || *banned).collect(),
            pinned: listed(&request.pinned),
            pinned_symbols: symbols_chosen(graph, &request.pinned),
            banned_symbols: symbols_chosen(graph, &request.banned),
            chat,
            query,
            relevance,
            seeds,
            weights: weights.clone(),
            flow: OnceLock::new(),
            scores: Scores::default(),
        };
        ranking.scores = Scores::new(&ranking, request);
        ranking
    }

    /// The index whose files are ranked.
    pub fn index(&self) -> &MapIndex {
        self.graph.index()
    }

    /// Whether the request says anything of the files, so that the scores follow it.
    pub fn is_requested(&self) -> bool {
        self.scores.requested
    }

    /// What a path, a name and a line are worth for this request.
    pub(crate) fn gains(&self) -> Gains {
        if self.is_requested() { self.weights.asked } else { self.weights.unasked }
    }

    /// What the references bring to files and symbols.
    pub(crate) fn flow(&self) -> &Flow {
        self.flow.get_or_init(|| flow(&self.graph, &self.seeds.teleport, &self.weights))
    }

    /// By file, from 0 to 1: the logarithm of its PageRank where nobody asks for anything, as a part of the range that is
    /// told apart.
    pub(crate) fn prominence(&self) -> &[f64] {
        self.graph.prominence(|| {
            let ranks = flow(&self.graph, &vec![1.0; self.index().len()], &self.weights).files;
            let highest = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            ranks.iter().map(|rank| 1.0 + (rank / highest).ln().max(-LEAST_PROMINENT) / LEAST_PROMINENT).collect()
        })
    }

    /// Files with their PageRank, highest first, equal ones in path order.
    pub fn files(&self) -> Vec<(&str, f64)> {
        let files = self.index().files().iter().zip(&self.flow().files);
        let mut files: Vec<(&str, f64)> = files.map(|(file, rank)| (file.path.as_ref(), *rank)).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1));
        files
    }

    /// `(file, name, rank)` of all symbols, highest first: the rank that references bring them, the request's own
    /// words aside.
    pub fn definitions(&self) -> Vec<(&str, &str, f64)> {
        let symbols = self.graph.symbols().iter().zip(&self.flow().symbols);
        let mut ranked: Vec<(&str, &str, f64)> = symbols
            .map(|(symbol, rank)| (self.index().path(symbol.file), self.index().name(symbol.name), *rank))
            .collect();
        ranked.sort_by(|a, b| b.2.total_cmp(&a.2));
        ranked
    }
}

/// The words of the request: those of the message, and the names that the caller gives.
fn query(request: &MapRequest) -> Query {
    let words = [request.message.as_str()];
    let words: Vec<&str> = words.into_iter().chain(request.mentioned_idents.iter().map(String::as_str)).collect();
    Query::new(&words.join(" "))
}

/// What the words of the request say of the files.
fn relevance(index: &MapIndex, query: &Query) -> Relevance {
    let terms = |file: u32| index.record(file).map(|record| record.terms()).unwrap_or_default();
    let texts: Vec<(&str, PackedTerms<'_>)> =
        (0u32..).zip(index.files()).map(|(at, file)| (file.path.as_ref(), terms(at))).collect();
    Relevance::new(query, &texts)
}

/// PageRank over the tag graph, by file, and the mass that reaches each symbol at the end.
///
/// Votes of a file for its own symbols say which of them matter, not that the file does: of their mass only the part
/// `home` stays in the file, the rest teleports.
fn flow(graph: &TagGraph, teleport: &[f64], weights: &Weights) -> Flow {
    let symbols = graph.symbols();
    let names = graph.index().names();
    let mut meeting = vec![0.0; symbols.len() + names];
    let to_symbols = |from: &[f64], meeting: &mut [f64], home: f64| {
        meeting.fill(0.0);
        graph.spread(from, meeting);
        let (own, shared) = meeting.split_at_mut(symbols.len());
        own.iter_mut().for_each(|mass| *mass *= home);
        for (name, mass) in (0u32..).zip(shared.iter()).filter(|(_, mass)| **mass > 0.0) {
            let definers = graph.definers(name);
            for &symbol in definers {
                own[symbol as usize] += mass / definers.len() as f64;
            }
        }
    };
    let settings = PageRank { tolerance: weights.tolerance, ..PageRank::default() };
    let ranks = pagerank(teleport, settings, |from, to| {
        to_symbols(from, &mut meeting, weights.home);
        for (symbol, mass) in symbols.iter().zip(&meeting) {
            to[symbol.file as usize] += mass;
        }
    });
    to_symbols(&ranks, &mut meeting, 1.0);
    meeting.truncate(symbols.len());
    Flow { files: ranks, symbols: meeting }
}
