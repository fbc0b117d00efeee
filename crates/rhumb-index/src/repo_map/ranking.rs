//! The ranks of all files and symbols for a request.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::graph::TagGraph;
use super::index::MapIndex;
use super::pagerank::{PageRank, pagerank};
use super::plan::Gains;
use super::request::{MapRequest, symbols_chosen};
use super::score::Scores;
use super::seed::Seeds;
use super::weights::Weights;
use crate::lexical::{PackedTerms, Query, Relevance};

/// Range of the logarithm of the PageRank that is distinguished. Files below it have a prominence of 0.
const PROMINENCE_RANGE: f64 = 14.0;

/// The ranks of files and symbols for a request.
#[derive(Debug)]
pub struct Ranking {
    pub(crate) graph: Arc<TagGraph>,
    /// By file: whether it is in the chat.
    pub(crate) chat: Vec<bool>,
    /// By file: whether it is hidden because it is in the chat or banned.
    pub(crate) hidden: Vec<bool>,
    pub(crate) pinned: Vec<bool>,
    /// Symbols that come first in their files and include these in the map.
    pub(crate) pinned_symbols: BTreeSet<u32>,
    /// Symbols that are hidden.
    pub(crate) banned_symbols: BTreeSet<u32>,
    pub(crate) query: Query,
    pub(crate) relevance: Relevance,
    pub(crate) seeds: Seeds,
    pub(crate) weights: Weights,
    /// Computed at the first use: with a request, only explanations and questions need it.
    reference_ranks: OnceLock<ReferenceRanks>,
    /// The scores of files and definitions.
    pub(crate) scores: Scores,
}

/// The rank by references.
#[derive(Debug, Default)]
pub(crate) struct ReferenceRanks {
    /// PageRank by file.
    pub(crate) files: Vec<f64>,
    /// PageRank by file.
    /// By symbol: its share of the rank of the files that reference it.
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
            reference_ranks: OnceLock::new(),
            scores: Scores::default(),
        };
        ranking.scores = Scores::new(&ranking, request);
        ranking
    }

    /// The index whose files are ranked.
    pub fn index(&self) -> &MapIndex {
        self.graph.index()
    }

    /// Whether the request is about any file, so that the scores follow it.
    pub fn is_requested(&self) -> bool {
        self.scores.requested
    }

    /// The gains of paths, names and lines for this request.
    pub(crate) fn gains(&self) -> Gains {
        if self.is_requested() { self.weights.asked } else { self.weights.unasked }
    }

    /// The rank of files and symbols by references.
    pub(crate) fn reference_ranks(&self) -> &ReferenceRanks {
        self.reference_ranks.get_or_init(|| reference_ranks(&self.graph, &self.seeds.teleport, &self.weights))
    }

    /// By file, from 0 to 1: the logarithm of its PageRank without a request, scaled by [`PROMINENCE_RANGE`].
    pub(crate) fn prominence(&self) -> &[f64] {
        self.graph.prominence(|| {
            let ranks = reference_ranks(&self.graph, &vec![1.0; self.index().len()], &self.weights).files;
            let highest = ranks.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let scaled = |rank: &f64| 1.0 + (rank / highest).ln().max(-PROMINENCE_RANGE) / PROMINENCE_RANGE;
            ranks.iter().map(scaled).collect()
        })
    }

    /// Files with their PageRank, highest first; ties keep path order.
    pub fn files(&self) -> Vec<(&str, f64)> {
        let files = self.index().files().iter().zip(&self.reference_ranks().files);
        let mut files: Vec<(&str, f64)> = files.map(|(file, rank)| (file.path.as_ref(), *rank)).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1));
        files
    }

    /// `(file, name, rank)` of all symbols by references, highest first.
    pub fn definitions(&self) -> Vec<(&str, &str, f64)> {
        let symbols = self.graph.symbols().iter().zip(&self.reference_ranks().symbols);
        let mut ranked: Vec<(&str, &str, f64)> = symbols
            .map(|(symbol, rank)| (self.index().path(symbol.file), self.index().name(symbol.name), *rank))
            .collect();
        ranked.sort_by(|a, b| b.2.total_cmp(&a.2));
        ranked
    }
}

/// The words of the request: those of the message and the names given by the caller.
fn query(request: &MapRequest) -> Query {
    let words = [request.message.as_str()];
    let words: Vec<&str> = words.into_iter().chain(request.mentioned_idents.iter().map(String::as_str)).collect();
    Query::new(&words.join(" "))
}

/// The relevance of the files to the words of the request.
fn relevance(index: &MapIndex, query: &Query) -> Relevance {
    let terms = |file: u32| index.record(file).map(|record| record.terms()).unwrap_or_default();
    let texts: Vec<(&str, PackedTerms<'_>)> =
        (0u32..).zip(index.files()).map(|(at, file)| (file.path.as_ref(), terms(at))).collect();
    Relevance::new(query, &texts)
}

/// PageRank over the tag graph by file, and the mass that finally reaches each symbol.
///
/// Votes of a file for its own symbols distinguish these symbols; they do not make the file important. Only the share `home` of their
/// mass stays in the file, the rest teleports.
fn reference_ranks(graph: &TagGraph, teleport: &[f64], weights: &Weights) -> ReferenceRanks {
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
    ReferenceRanks { files: ranks, symbols: meeting }
}
