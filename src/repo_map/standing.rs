//! The rank of every file and symbol for one request.

use std::collections::BTreeSet;

use super::graph::{Names, TagGraph};
use super::rank::{Arcs, PageRank, pagerank};
use super::request::{MapFile, MapRequest};
use super::score::Standing;
use super::seed::Seeds;
use super::weights::Weights;
use crate::lexical::{FileTerms, Query, Relevance};

/// Rank of files and symbols. Files are in path order; their positions are the ids used throughout the room.
#[derive(Debug)]
pub struct Ranking<'a> {
    pub(crate) files: Vec<&'a MapFile>,
    pub(crate) chat: Vec<bool>,
    pub(crate) graph: TagGraph<'a>,
    /// PageRank by file.
    pub(crate) file_ranks: Vec<f64>,
    /// What the references bring to each symbol: its part of the rank of the files that reference it.
    pub(crate) inflow: Vec<f64>,
    /// What puts each file into the map.
    pub(crate) file_scores: Vec<f64>,
    /// What puts each definition before the others of its file, by file and by its index in the tags.
    pub(crate) symbol_scores: Vec<Vec<f64>>,
    /// Whether the request says anything of the files, so that the scores follow it.
    pub(crate) requested: bool,
}

impl<'a> Ranking<'a> {
    /// Ranks `files` (in any order; of two with one path the first counts) for `request`.
    pub fn new(files: &'a [MapFile], request: &MapRequest, weights: &Weights) -> Self {
        let mut sorted: Vec<&MapFile> = files.iter().collect();
        sorted.sort_by(|a, b| a.path.cmp(&b.path));
        sorted.dedup_by(|a, b| a.path == b.path);
        let chat_files: BTreeSet<&str> = request.chat_files.iter().map(String::as_str).collect();
        let chat: Vec<bool> = sorted.iter().map(|file| chat_files.contains(file.path.as_str())).collect();
        let names = Names::new(&sorted);
        let relevance = relevance(&sorted, request);
        let seeds = Seeds::new(&sorted, &names, &chat, request, &relevance, weights);
        let graph = TagGraph::new(&sorted, names, &chat, &seeds.mentioned, weights);
        let votes = graph.votes();
        let (file_ranks, inflow) = flow(&graph, &votes, &seeds.teleport, weights.home);
        let standing = Standing {
            files: &sorted,
            graph: &graph,
            file_ranks: &file_ranks,
            inflow: &inflow,
            seeds: &seeds,
            relevance: &relevance,
            weights,
        };
        let (file_scores, symbol_scores) = standing.scores(request);
        Self {
            requested: standing.is_requested(),
            file_scores,
            symbol_scores,
            files: sorted,
            chat,
            graph,
            file_ranks,
            inflow,
        }
    }

    /// Files with their PageRank, highest first, equal ones in path order.
    pub fn files(&self) -> Vec<(&'a str, f64)> {
        let mut files: Vec<(&str, f64)> =
            self.files.iter().zip(&self.file_ranks).map(|(file, rank)| (file.path.as_str(), *rank)).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1));
        files
    }

    /// `(file, name, rank)` of all symbols, highest first: the rank that references bring them, the request's own
    /// words aside.
    pub fn definitions(&self) -> Vec<(&'a str, &'a str, f64)> {
        let symbols = self.graph.names.symbols.iter().zip(&self.inflow);
        let mut ranked: Vec<(&str, &str, f64)> = symbols
            .map(|(symbol, rank)| {
                let name = self.graph.names.texts[symbol.name as usize];
                (self.files[symbol.file as usize].path.as_str(), name, *rank)
            })
            .collect();
        ranked.sort_by(|a, b| b.2.total_cmp(&a.2));
        ranked
    }
}

/// What the words of the request say of the files: those of the message, and the names that the caller gives.
fn relevance(files: &[&MapFile], request: &MapRequest) -> Relevance {
    let words = [request.message.as_str()];
    let words: Vec<&str> = words.into_iter().chain(request.mentioned_idents.iter().map(String::as_str)).collect();
    let texts: Vec<(&str, &FileTerms)> = files.iter().map(|file| (file.path.as_str(), file.digest.terms())).collect();
    Relevance::new(&Query::new(&words.join(" ")), &texts)
}

/// PageRank over the tag graph, by file, and the mass that reaches each symbol at the end.
///
/// Votes of a file for its own symbols say which of them matter, not that the file does: of their mass only the part
/// `home` stays in the file, the rest teleports.
fn flow(graph: &TagGraph<'_>, votes: &Arcs, teleport: &[f64], home: f64) -> (Vec<f64>, Vec<f64>) {
    let names = &graph.names;
    let mut meeting = vec![0.0; names.symbols.len() + names.texts.len()];
    let to_symbols = |from: &[f64], meeting: &mut [f64], home: f64| {
        meeting.fill(0.0);
        votes.spread(from, meeting);
        let (symbols, shared) = meeting.split_at_mut(names.symbols.len());
        symbols.iter_mut().for_each(|mass| *mass *= home);
        for (mass, definers) in shared.iter().zip(&names.symbols_of).filter(|(mass, _)| **mass > 0.0) {
            for &symbol in definers {
                symbols[symbol as usize] += mass / definers.len() as f64;
            }
        }
    };
    let ranks = pagerank(teleport, PageRank::default(), |from, to| {
        to_symbols(from, &mut meeting, home);
        for (symbol, mass) in names.symbols.iter().zip(&meeting) {
            to[symbol.file as usize] += mass;
        }
    });
    to_symbols(&ranks, &mut meeting, 1.0);
    meeting.truncate(names.symbols.len());
    (ranks, meeting)
}
