//! The start of a ranking: the mentions in the request, and the teleport vector.
//!
//! Each path or name that the request mentions has votes, which all files or definitions of that name share: a unique name decides, one
//! with hundreds of definitions hardly counts. The plain words vote for the files that contain them.

use super::graph::TagGraph;
use super::index::FileKind;
use super::named::Named;
use super::weights::Weights;
use crate::lexical::Relevance;

/// Votes of all plain words together.
const WORD_VOTES: f64 = 2.0;
/// Number of files that share the votes of the words.
const MAX_WORD_LEADERS: usize = 12;
/// Shares of the teleport mass: all files, the chat, the mentions. The share of an empty part goes to the others.
const TELEPORT_SHARES: [f64; 3] = [0.3, 2.0, 4.0];

/// The start of a ranking. `teleport` sums to one.
#[derive(Debug)]
pub(crate) struct Seeds {
    pub(crate) teleport: Vec<f64>,
    /// Whether the chat or a mention has a share, and not the files alone.
    pub(crate) is_personalised: bool,
}

impl Seeds {
    /// Counts the votes of a request in a repository.
    pub(crate) fn new(
        graph: &TagGraph,
        chat: &[bool],
        named: &Named,
        relevance: &Relevance,
        weights: &Weights,
    ) -> Self {
        let mut votes = Votes {
            graph,
            file_votes: vec![0.0; graph.index().len()],
            symbol_votes: vec![0.0; graph.symbols().len()],
            word_votes: word_votes(relevance),
        };
        for (&file, weight) in named.paths.iter().chain(&named.given) {
            votes.file_votes[file as usize] += weight;
        }
        for (&definition, named) in &named.definitions {
            let (file, at) = graph.all_definitions().location(definition);
            if let Some(&symbol) = graph.symbols_of(file).get(at as usize) {
                votes.symbol_votes[symbol as usize] += named.identifier;
            }
        }
        votes.count(chat, weights)
    }
}

/// Votes by file and by symbol.
struct Votes<'g> {
    graph: &'g TagGraph,
    file_votes: Vec<f64>,
    symbol_votes: Vec<f64>,
    /// Votes of plain words, by file.
    word_votes: Vec<f64>,
}

/// Votes for the files with the highest relevance, by its square.
fn word_votes(relevance: &Relevance) -> Vec<f64> {
    let mut best: Vec<(f64, usize)> = relevance.shares().into_iter().zip(0..).collect();
    let mut votes = vec![0.0; best.len()];
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(MAX_WORD_LEADERS);
    let total: f64 = best.iter().map(|(score, _)| score * score).sum();
    for (score, file) in best.into_iter().filter(|_| total > 0.0) {
        votes[file] = WORD_VOTES * score * score / total;
    }
    votes
}

impl Votes<'_> {
    fn count(self, chat: &[bool], weights: &Weights) -> Seeds {
        let base_of = |kind: &FileKind| if kind.is_landmark { 1.0 + weights.landmark } else { 1.0 };
        let base: Vec<f64> = self.graph.index().kinds().iter().map(base_of).collect();
        let chats: Vec<f64> = chat.iter().map(|&chat| f64::from(u8::from(chat))).collect();
        let votes: f64 = self.file_votes.iter().chain(&self.symbol_votes).chain(&self.word_votes).sum();
        let sums = [base.iter().sum::<f64>(), chats.iter().sum(), votes];
        let present: f64 = TELEPORT_SHARES.iter().zip(sums).filter(|(_, sum)| *sum > 0.0).map(|(part, _)| part).sum();
        let scale = |index: usize| {
            if sums[index] > 0.0 { TELEPORT_SHARES[index] / present / sums[index] } else { 0.0 }
        };
        let scaled = |votes: &[f64], by: f64| -> Vec<f64> { votes.iter().map(|vote| vote * by).collect() };
        let mut teleport = scaled(&base, scale(0));
        for (cell, chat) in teleport.iter_mut().zip(&chats) {
            *cell += chat * scale(1);
        }
        for (cell, votes) in teleport.iter_mut().zip(self.file_votes.iter().zip(&self.word_votes)) {
            *cell += (votes.0 + votes.1) * scale(2);
        }
        for (symbol, votes) in self.graph.symbols().iter().zip(&self.symbol_votes) {
            teleport[symbol.file as usize] += votes * scale(2);
        }
        Seeds { teleport, is_personalised: sums[1..] != [0.0, 0.0] }
    }
}
