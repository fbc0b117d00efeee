//! The ranks of all files and symbols for a request.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::explanation::Contribution;
use super::features::{FileFeature, SymbolFeatures, SymbolRow, SymbolScale, file_log_odds};
use super::graph::TagGraph;
use super::index::MapIndex;
use super::named::{Named, Resolver};
use super::pagerank::{PageRank, pagerank};
use super::plan::Gains;
use super::request::{MapRequest, symbols_chosen};
use super::score::{Scores, row_contributions, symbol_rows};
use super::seed::Seeds;
use super::weights::Weights;
use crate::lexical::{FileRelevance, FileText, Message, Query, Relevance, Term, each_word};

/// Maximum number of nested containers that are named.
const MAX_CONTAINERS: usize = 8;

/// Range of the logarithm of the PageRank that is distinguished. Files below it have a prominence of 0.
const PROMINENCE_RANGE: f64 = 14.0;

/// The ranks of files and symbols for a request.
#[derive(Debug)]
pub struct Ranking {
    pub(crate) graph: Arc<TagGraph>,
    /// By file: whether it is in the chat and has code. A document in the chat, such as a README, says nothing about the task.
    chat: Vec<bool>,
    /// By file: whether it is hidden because it is in the chat or banned.
    pub(crate) hidden: Vec<bool>,
    pub(crate) pinned: Vec<bool>,
    /// Symbols that come first in their files and include these in the map.
    pub(crate) pinned_symbols: BTreeSet<u32>,
    /// Symbols that are hidden.
    pub(crate) banned_symbols: BTreeSet<u32>,
    pub(crate) query: Query,
    pub(crate) relevance: Relevance,
    pub(crate) named: Named,
    /// Whether the subject of the request is a test.
    pub(crate) asks_for_tests: bool,
    pub(crate) weights: Weights,
    /// Computed at the first use: with a request, only explanations and questions need them.
    seeds: OnceLock<Seeds>,
    reference_ranks: OnceLock<ReferenceRanks>,
    /// Computed at the first use.
    symbol_scale: OnceLock<SymbolScale>,
    /// The scores of files and definitions.
    pub(crate) scores: Scores,
}

/// A definition with its log-odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedDefinition {
    /// The file.
    pub file: u32,
    /// The definition, by index in the file.
    pub definition: u32,
    /// Higher is better. Comparable only within one ranking.
    pub log_odds: f64,
}

/// The rank by references.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReferenceRanks {
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
        let (in_chat, banned) = (listed(&request.chat_files), listed(&request.banned));
        let chat: Vec<bool> =
            (0u32..).zip(&in_chat).map(|(file, in_chat)| *in_chat && index.kind(file).has_code).collect();
        let message = message(request);
        let query = Query::of_message(&message);
        let relevance = relevance(graph, &query);
        let given = (&request.mentioned_files[..], &request.mentioned_idents[..]);
        // Without a request nothing is looked up, and the table of definitions is not needed.
        let is_request = !message.is_empty() || !request.mentioned_files.is_empty();
        let named = if is_request {
            Resolver::resolve(index, graph.all_definitions(), &message, given)
        } else {
            Named::default()
        };
        let mut ranking = Self {
            graph: Arc::clone(graph),
            hidden: in_chat.iter().zip(&banned).map(|(in_chat, banned)| *in_chat || *banned).collect(),
            pinned: listed(&request.pinned),
            pinned_symbols: symbols_chosen(graph, &request.pinned),
            banned_symbols: symbols_chosen(graph, &request.banned),
            chat,
            asks_for_tests: asks_for_tests(&message.title),
            query,
            relevance,
            named,
            weights: weights.clone(),
            seeds: OnceLock::new(),
            reference_ranks: OnceLock::new(),
            symbol_scale: OnceLock::new(),
            scores: Scores::default(),
        };
        ranking.scores = Scores::new(&ranking, request);
        ranking
    }

    /// The index whose files are ranked.
    pub fn index(&self) -> &MapIndex {
        self.graph.index()
    }

    /// The files with code that are in the chat.
    pub(crate) fn chat_files(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.chat).filter(|(_, chat)| **chat).map(|(file, _)| file)
    }

    /// Whether the request is about any file, so that the scores follow it.
    pub fn is_requested(&self) -> bool {
        self.scores.requested
    }

    /// The gains of paths, names and lines for this request.
    pub(crate) fn gains(&self) -> Gains {
        if self.is_requested() { self.weights.asked } else { self.weights.unasked }
    }

    /// What the features of definitions are relative to.
    pub(crate) fn symbol_scale(&self) -> &SymbolScale {
        self.symbol_scale.get_or_init(|| SymbolScale::new(self))
    }

    /// The rank of files and symbols by references.
    pub(crate) fn reference_ranks(&self) -> &ReferenceRanks {
        let seeds = || Seeds::new(&self.graph, &self.chat, &self.named, &self.relevance, &self.weights);
        let seeds = self.seeds.get_or_init(seeds);
        let ranks = || reference_ranks(&self.graph, &seeds.teleport, &self.weights);
        let base = if seeds.is_personalised { None } else { self.graph.base_ranks(&self.weights, ranks) };
        base.unwrap_or_else(|| self.reference_ranks.get_or_init(ranks))
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

    /// Computes the ranks that depend on no request: [`TagGraph::ranks`] has all of them then.
    pub fn compute_ranks(graph: &Arc<TagGraph>, weights: &Weights) {
        let ranking = Self::new(graph, &MapRequest::default(), weights);
        ranking.reference_ranks();
        ranking.prominence();
    }

    /// The definitions that can be relevant with their log-odds, best first; none without a request.
    pub fn ranked_definitions(&self) -> Vec<RankedDefinition> {
        let ranked = |row: SymbolRow| RankedDefinition {
            file: row.file,
            definition: row.definition,
            log_odds: self.weights.model.symbol_log_odds(&row),
        };
        let mut all: Vec<RankedDefinition> = symbol_rows(self).into_par_iter().map(ranked).collect();
        all.sort_by(|a, b| b.log_odds.total_cmp(&a.log_odds).then((a.file, a.definition).cmp(&(b.file, b.definition))));
        all
    }

    /// The files by their scores for this request, best first.
    pub fn ranked_files(&self) -> Vec<u32> {
        super::plan::order(self)
    }

    /// The features of all definitions of some files, in source order.
    pub(crate) fn definition_rows(&self, files: impl Iterator<Item = u32>) -> HashMap<u32, Vec<SymbolRow>> {
        let features = SymbolFeatures::new(self);
        files.map(|file| (file, features.of_file(file))).collect()
    }

    /// The values of every feature, by file, also of those without weight; none without a request.
    pub fn file_features(&self) -> Vec<(FileFeature, Vec<f64>)> {
        let mut all = Vec::new();
        if self.is_requested() {
            let edited = vec![0.0; self.index().len()];
            file_log_odds(self, &edited, true, &mut |feature, values| all.push((feature, values.to_vec())));
        }
        all
    }

    /// The features of the definitions that can be relevant.
    pub fn symbol_features(&self) -> Vec<SymbolRow> {
        symbol_rows(self)
    }

    /// The contributions to the log-odds of a definition, strongest first.
    pub fn definition_contributions(&self, file: u32, definition: u32) -> Vec<Contribution> {
        let rows = SymbolFeatures::new(self).of_file(file);
        let row = rows.iter().find(|row| row.definition == definition);
        row.map_or_else(Vec::new, |row| row_contributions(row, &self.weights.model.symbol))
    }

    /// The names of the types around a definition, joined by dots, outermost first; for a function inside of a function those around the
    /// outer one.
    pub fn container_path(&self, file: u32, definition: u32) -> Option<String> {
        let all = self.graph.all_definitions();
        let mut at = Some(all.of_file(file).start + definition);
        let mut names = Vec::new();
        while let Some(inner) = at {
            let owner = all.type_of(inner);
            let name = |owner: u32| {
                let (file, at) = all.location(owner);
                self.index().definition(file, at).map(|entry| entry.name())
            };
            names.extend(owner.and_then(name).filter(|_| names.len() < MAX_CONTAINERS));
            at = owner
                .filter(|_| names.len() < MAX_CONTAINERS)
                .or_else(|| all.parent(inner))
                .filter(|&next| next != inner);
        }
        names.reverse();
        (!names.is_empty()).then(|| names.join("."))
    }

    /// The files that define a name, sorted.
    pub(crate) fn defining_files(&self, name: u32) -> &[u32] {
        self.graph.defining_files(name)
    }

    /// The terms of the title.
    pub(crate) fn title_terms(&self) -> BTreeSet<Term> {
        self.query.terms.iter().filter(|term| term.counts[0] > 0.0).map(|term| term.term).collect()
    }

    /// The log-odds of the files that may be shown; negative infinity for the others.
    pub(crate) fn shown(&self, log_odds: &[f64]) -> Vec<f64> {
        let shown = |(log_odds, hidden): (&f64, &bool)| if *hidden { f64::NEG_INFINITY } else { *log_odds };
        log_odds.iter().zip(&self.hidden).map(shown).collect()
    }

    /// All files with their PageRank, highest first; ties keep path order.
    pub fn files_by_references(&self) -> Vec<(&str, f64)> {
        let files = self.index().files().iter().zip(&self.reference_ranks().files);
        let mut files: Vec<(&str, f64)> = files.map(|(file, rank)| (file.path.as_ref(), *rank)).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1));
        files
    }

    /// All symbols as `(file, name, rank)` with their rank by references, highest first.
    pub fn symbols_by_references(&self) -> Vec<(&str, &str, f64)> {
        let symbols = self.graph.symbols().iter().zip(&self.reference_ranks().symbols);
        let mut ranked: Vec<(&str, &str, f64)> = symbols
            .map(|(symbol, rank)| (self.index().path(symbol.file), self.index().name(symbol.name), *rank))
            .collect();
        ranked.sort_by(|a, b| b.2.total_cmp(&a.2));
        ranked
    }
}

/// The message of the request. The names given by the caller belong to its title.
fn message(request: &MapRequest) -> Message {
    let mut message = Message::new(&request.message);
    for name in &request.mentioned_idents {
        message.title.push(' ');
        message.title.push_str(name);
    }
    message
}

fn asks_for_tests(title: &str) -> bool {
    let mut asks = false;
    each_word(title, |word| asks |= word == "test");
    asks
}

/// The relevance of the files to the words of the request.
fn relevance(graph: &TagGraph, query: &Query) -> Relevance {
    if query.is_empty() {
        return Relevance { files: vec![FileRelevance::default(); graph.index().len()] };
    }
    let (index, definitions) = (graph.index(), graph.all_definitions());
    let text = |file: u32| FileText {
        path: index.path(file),
        terms: index.record(file).map(|record| record.terms()).unwrap_or_default(),
        outer: definitions.outer(file),
    };
    let texts: Vec<FileText<'_>> = (0..index.len() as u32).map(text).collect();
    Relevance::new(query, &texts)
}

/// PageRank over the tag graph by file, and the mass that finally reaches each symbol.
///
/// Votes of a file for its own symbols distinguish these symbols; they do not make the file important. Only the share `home` of their
/// mass stays in the file, the rest teleports.
fn reference_ranks(graph: &TagGraph, teleport: &[f64], weights: &Weights) -> ReferenceRanks {
    let (symbols, votes) = (graph.symbols(), graph.votes());
    let names = graph.index().names();
    let mut meeting = vec![0.0; symbols.len() + names];
    let to_symbols = |from: &[f64], meeting: &mut [f64], home: f64| {
        meeting.fill(0.0);
        votes.spread(from, meeting);
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
