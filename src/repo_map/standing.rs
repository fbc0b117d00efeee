//! The rank of every file and symbol for one request.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::graph::TagGraph;
use super::index::MapIndex;
use super::rank::{PageRank, pagerank};
use super::request::MapRequest;
use super::score::Scores;
use super::seed::Seeds;
use super::weights::Weights;
use crate::lexical::{PackedTerms, Query, Relevance};

/// Rank of files and symbols.
#[derive(Debug)]
pub struct Ranking {
    pub(crate) graph: Arc<TagGraph>,
    /// By file: whether it is in the chat.
    pub(crate) chat: Vec<bool>,
    /// PageRank by file.
    pub(crate) file_ranks: Vec<f64>,
    /// What the references bring to each symbol: its part of the rank of the files that reference it.
    pub(crate) inflow: Vec<f64>,
    pub(crate) seeds: Seeds,
    pub(crate) relevance: Relevance,
    pub(crate) weights: Weights,
    /// What puts files and definitions into the map.
    pub(crate) scores: Scores,
}

impl Ranking {
    /// Ranks the files of a graph for `request`.
    pub fn new(graph: &Arc<TagGraph>, request: &MapRequest, weights: &Weights) -> Self {
        let index = graph.index();
        let chat_files: BTreeSet<&str> = request.chat_files.iter().map(String::as_str).collect();
        let chat: Vec<bool> = index.files().iter().map(|file| chat_files.contains(file.path.as_ref())).collect();
        let relevance = relevance(index, request);
        let seeds = Seeds::new(graph, &chat, request, &relevance, weights);
        let (file_ranks, inflow) = flow(graph, &seeds.teleport, weights);
        let mut ranking = Self {
            graph: Arc::clone(graph),
            chat,
            file_ranks,
            inflow,
            seeds,
            relevance,
            weights: weights.clone(),
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

    /// Files with their PageRank, highest first, equal ones in path order.
    pub fn files(&self) -> Vec<(&str, f64)> {
        let files = self.index().files().iter().zip(&self.file_ranks);
        let mut files: Vec<(&str, f64)> = files.map(|(file, rank)| (file.path.as_ref(), *rank)).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1));
        files
    }

    /// `(file, name, rank)` of all symbols, highest first: the rank that references bring them, the request's own
    /// words aside.
    pub fn definitions(&self) -> Vec<(&str, &str, f64)> {
        let symbols = self.graph.symbols().iter().zip(&self.inflow);
        let mut ranked: Vec<(&str, &str, f64)> = symbols
            .map(|(symbol, rank)| (self.index().path(symbol.file), self.index().name(symbol.name), *rank))
            .collect();
        ranked.sort_by(|a, b| b.2.total_cmp(&a.2));
        ranked
    }
}

/// What the words of the request say of the files: those of the message, and the names that the caller gives.
fn relevance(index: &MapIndex, request: &MapRequest) -> Relevance {
    let words = [request.message.as_str()];
    let words: Vec<&str> = words.into_iter().chain(request.mentioned_idents.iter().map(String::as_str)).collect();
    let query = Query::new(&words.join(" "));
    let texts: Vec<(&str, PackedTerms<'_>)> = (0u32..)
        .zip(index.files())
        .map(|(at, file)| {
            let terms = index.record(at).map(|record| record.terms()).unwrap_or_default();
            (file.path.as_ref(), terms)
        })
        .collect();
    Relevance::new(&query, &texts)
}

/// PageRank over the tag graph, by file, and the mass that reaches each symbol at the end.
///
/// Votes of a file for its own symbols say which of them matter, not that the file does: of their mass only the part
/// `home` stays in the file, the rest teleports.
fn flow(graph: &TagGraph, teleport: &[f64], weights: &Weights) -> (Vec<f64>, Vec<f64>) {
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
    (ranks, meeting)
}
