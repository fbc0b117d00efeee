//! Where the rank starts from: the teleport vector, drawn towards what the request is about.
//!
//! Whatever the request names has a vote, shared by everything in the repository of that name: one that fits a single
//! definition decides, one that fits hundreds hardly counts. Its plain words vote for the files that speak of them.

use std::collections::HashMap;

use super::graph::TagGraph;
use super::index::IndexFile;
use super::mention::Mentions;
use super::path;
use super::request::MapRequest;
use super::weights::Weights;
use crate::lexical::Relevance;

/// Votes of a file or name that the caller names, of an identifier or path in the message, and of all its words together.
const NAMED: f64 = 2.0;
const SPOKEN: f64 = 1.0;
const WORDS: f64 = 2.0;
/// Files that share the votes of the words.
const LEADERS: usize = 12;
/// Parts of the teleport mass: all files, the chat, the mentions. Parts without an entry leave theirs to the others.
const PARTS: [f64; 3] = [0.3, 2.0, 4.0];

/// The start of a ranking. `teleport` sums to one; the votes are those for a file as a whole and for a symbol of it, by
/// file and by symbol, without those of plain words.
#[derive(Debug)]
pub(crate) struct Seeds {
    pub(crate) teleport: Vec<f64>,
    pub(crate) file_votes: Vec<f64>,
    pub(crate) symbol_votes: Vec<f64>,
}

impl Seeds {
    /// Weighs what `request` mentions against what the repository has.
    pub(crate) fn new(
        graph: &TagGraph,
        chat: &[bool],
        request: &MapRequest,
        relevance: &Relevance,
        weights: &Weights,
    ) -> Self {
        let mut ballot = Ballot::new(graph);
        for file in &request.mentioned_files {
            ballot.vote_for_path(file, NAMED);
        }
        for name in &request.mentioned_idents {
            ballot.vote_for_name(name, NAMED);
        }
        let mentions = Mentions::new(&request.message);
        for path in &mentions.paths {
            ballot.vote_for_path(path, SPOKEN);
        }
        for name in &mentions.identifiers {
            ballot.vote_for_name(name, SPOKEN);
        }
        ballot.vote_for_words(relevance);
        ballot.count(chat, weights)
    }
}

/// Votes by file and by symbol.
struct Ballot<'g> {
    graph: &'g TagGraph,
    /// Made when the request names a path.
    by_file_name: Option<HashMap<&'g str, Vec<u32>>>,
    file_votes: Vec<f64>,
    symbol_votes: Vec<f64>,
    /// Votes of plain words by file.
    word_votes: Vec<f64>,
}

impl<'g> Ballot<'g> {
    fn new(graph: &'g TagGraph) -> Self {
        let index = graph.index();
        Self {
            graph,
            by_file_name: None,
            file_votes: vec![0.0; index.len()],
            symbol_votes: vec![0.0; graph.symbols().len()],
            word_votes: vec![0.0; index.len()],
        }
    }

    /// Votes for the files whose path is `spoken` or ends in it at a folder boundary.
    fn vote_for_path(&mut self, spoken: &str, vote: f64) {
        let by_file_name = self.by_file_name.get_or_insert_with(|| by_file_name(self.graph));
        let Some(candidates) = by_file_name.get(path::file_name(spoken)) else {
            return;
        };
        let is_meant =
            |path: &str| path.strip_suffix(spoken).is_some_and(|folders| folders.is_empty() || folders.ends_with('/'));
        let meant: Vec<u32> =
            candidates.iter().copied().filter(|&file| is_meant(self.graph.index().path(file))).collect();
        for &file in &meant {
            self.file_votes[file as usize] += vote / meant.len() as f64;
        }
    }

    /// Votes for the definitions of a name as it is written.
    fn vote_for_name(&mut self, text: &str, vote: f64) {
        let Some(name) = self.graph.index().name_number(text) else { return };
        let symbols = self.graph.definers(name);
        for &symbol in symbols {
            self.symbol_votes[symbol as usize] += vote / symbols.len() as f64;
        }
    }

    /// The files whose words say most of what the message says, by the square of it: the rest hardly count.
    fn vote_for_words(&mut self, relevance: &Relevance) {
        let mut best: Vec<(f64, usize)> = relevance.shares().into_iter().zip(0..).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(LEADERS);
        let total: f64 = best.iter().map(|(score, _)| score * score).sum();
        if total > 0.0 {
            for (score, file) in best {
                self.word_votes[file] = WORDS * score * score / total;
            }
        }
    }

    fn count(self, chat: &[bool], weights: &Weights) -> Seeds {
        let lift = |file: &IndexFile| if path::is_landmark(&file.path) { 1.0 + weights.landmark } else { 1.0 };
        let base: Vec<f64> = self.graph.index().files().iter().map(lift).collect();
        let chats: Vec<f64> = chat.iter().map(|&chat| f64::from(u8::from(chat))).collect();
        let votes: f64 = self.file_votes.iter().chain(&self.symbol_votes).chain(&self.word_votes).sum();
        let sums = [base.iter().sum::<f64>(), chats.iter().sum(), votes];
        let present: f64 = PARTS.iter().zip(sums).filter(|(_, sum)| *sum > 0.0).map(|(part, _)| part).sum();
        let scale = |index: usize| {
            if sums[index] > 0.0 { PARTS[index] / present / sums[index] } else { 0.0 }
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
        Seeds { teleport, file_votes: self.file_votes, symbol_votes: self.symbol_votes }
    }
}

fn by_file_name(graph: &TagGraph) -> HashMap<&str, Vec<u32>> {
    let mut files: HashMap<&str, Vec<u32>> = HashMap::new();
    for (at, file) in (0u32..).zip(graph.index().files()) {
        files.entry(path::file_name(&file.path)).or_default().push(at);
    }
    files
}
