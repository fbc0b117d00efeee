//! The start of a ranking: the mentions in the request, and the teleport vector.
//!
//! Each path or name that the request mentions has votes, which all files or definitions of that name share: a unique name decides, one
//! with hundreds of definitions hardly counts. The plain words vote for the files that contain them.

use std::collections::{BTreeSet, HashMap};

use super::graph::TagGraph;
use super::index::IndexFile;
use super::path;
use super::request::MapRequest;
use super::weights::Weights;
use crate::lexical::{Relevance, is_stop_word};

/// Votes of a file or name given by the caller, of an identifier or path in the message, and of all plain words together.
const GIVEN_VOTES: f64 = 2.0;
const MENTION_VOTES: f64 = 1.0;
const WORD_VOTES: f64 = 2.0;
/// Number of files that share the votes of the words.
const MAX_WORD_LEADERS: usize = 12;
/// Shares of the teleport mass: all files, the chat, the mentions. The share of an empty part goes to the others.
const TELEPORT_SHARES: [f64; 3] = [0.3, 2.0, 4.0];

/// The start of a ranking. `teleport` sums to one. The votes are by file and by symbol, without those of plain words.
#[derive(Debug)]
pub(crate) struct Seeds {
    pub(crate) teleport: Vec<f64>,
    pub(crate) file_votes: Vec<f64>,
    pub(crate) symbol_votes: Vec<f64>,
}

impl Seeds {
    /// Counts the votes of `request` in a repository.
    pub(crate) fn new(
        graph: &TagGraph,
        chat: &[bool],
        request: &MapRequest,
        relevance: &Relevance,
        weights: &Weights,
    ) -> Self {
        let mut votes = Votes::new(graph);
        for file in &request.mentioned_files {
            votes.vote_for_path(file, GIVEN_VOTES);
        }
        for name in &request.mentioned_idents {
            votes.vote_for_name(name, GIVEN_VOTES);
        }
        let mentions = Mentions::new(&request.message);
        for path in &mentions.paths {
            votes.vote_for_path(path, MENTION_VOTES);
        }
        for name in &mentions.identifiers {
            votes.vote_for_name(name, MENTION_VOTES);
        }
        votes.vote_for_words(relevance);
        votes.count(chat, weights)
    }
}

/// Votes by file and by symbol.
struct Votes<'g> {
    graph: &'g TagGraph,
    /// Created if the request mentions a path.
    by_file_name: Option<HashMap<&'g str, Vec<u32>>>,
    file_votes: Vec<f64>,
    symbol_votes: Vec<f64>,
    /// Votes of plain words, by file.
    word_votes: Vec<f64>,
}

impl<'g> Votes<'g> {
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

    /// Votes for the files whose path equals `mention` or ends with it at a folder boundary.
    fn vote_for_path(&mut self, mention: &str, vote: f64) {
        let by_file_name = self.by_file_name.get_or_insert_with(|| by_file_name(self.graph));
        let Some(candidates) = by_file_name.get(path::file_name(mention)) else {
            return;
        };
        let is_match =
            |path: &str| path.strip_suffix(mention).is_some_and(|folders| folders.is_empty() || folders.ends_with('/'));
        let matches: Vec<u32> =
            candidates.iter().copied().filter(|&file| is_match(self.graph.index().path(file))).collect();
        for &file in &matches {
            self.file_votes[file as usize] += vote / matches.len() as f64;
        }
    }

    /// Votes for the definitions of an exact name.
    fn vote_for_name(&mut self, text: &str, vote: f64) {
        let Some(name) = self.graph.index().name_number(text) else { return };
        let symbols = self.graph.definers(name);
        for &symbol in symbols {
            self.symbol_votes[symbol as usize] += vote / symbols.len() as f64;
        }
    }

    /// Votes for the files with the highest relevance, by its square.
    fn vote_for_words(&mut self, relevance: &Relevance) {
        let mut best: Vec<(f64, usize)> = relevance.shares().into_iter().zip(0..).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(MAX_WORD_LEADERS);
        let total: f64 = best.iter().map(|(score, _)| score * score).sum();
        if total > 0.0 {
            for (score, file) in best {
                self.word_votes[file] = WORD_VOTES * score * score / total;
            }
        }
    }

    fn count(self, chat: &[bool], weights: &Weights) -> Seeds {
        let base_of = |file: &IndexFile| if path::is_landmark(&file.path) { 1.0 + weights.landmark } else { 1.0 };
        let base: Vec<f64> = self.graph.index().files().iter().map(base_of).collect();
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

/// Maximum length of a name, in bytes; longer runs are data.
const MAX_NAME_BYTES: usize = 256;

/// The words of a message by form, without duplicates.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mentions<'m> {
    /// Words with a `/` or a file extension, without quotes, line numbers and a leading `./`.
    pub(crate) paths: BTreeSet<&'m str>,
    /// Identifiers: `snake_case`, `camelCase`, or written as code (`` `walk` ``, `walk(`, `a::walk`).
    pub(crate) identifiers: BTreeSet<&'m str>,
    /// Other words of at least two characters, except stop words.
    pub(crate) words: BTreeSet<&'m str>,
}

impl<'m> Mentions<'m> {
    /// Splits a message.
    pub(crate) fn new(message: &'m str) -> Self {
        let mut mentions = Self::default();
        for word in message.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;|=*!?".contains(c)) {
            mentions.paths.extend(path_like(word));
        }
        let mut rest = message;
        let mut before = '\0';
        while let Some(start) = rest.find(is_name_char) {
            before = rest[..start].chars().next_back().unwrap_or(before);
            let tail = &rest[start..];
            let end = tail.find(|c| !is_name_char(c)).unwrap_or(tail.len());
            let (word, after) = tail.split_at(end);
            mentions.add_word(word, before, after);
            before = word.chars().next_back().unwrap_or(before);
            rest = after;
        }
        mentions
    }

    fn add_word(&mut self, word: &'m str, before: char, after: &str) {
        if word.len() > MAX_NAME_BYTES || word.chars().all(|c| c == '_' || c.is_numeric()) {
            return;
        }
        let as_code = before == '`' || after.starts_with('`') || after.starts_with('(') || after.starts_with("::");
        if is_identifier_shaped(word) || as_code {
            self.identifiers.insert(word);
        } else if word.chars().nth(1).is_some() && !is_stop_word(&word.to_lowercase()) {
            self.words.insert(word);
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a word has a form that prose lacks: an underscore, or a capital after a small letter.
fn is_identifier_shaped(word: &str) -> bool {
    let is_camel_case = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    is_camel_case || word.contains('_')
}

/// The path that a word may be: with a `/`, or with an alphanumeric extension.
fn path_like(word: &str) -> Option<&str> {
    let mut path = word.trim_end_matches(['.', ':']);
    while let Some((head, tail)) = path.rsplit_once(':') {
        if tail.is_empty() || !tail.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        path = head;
    }
    let path = path.trim_start_matches("./").trim_matches('/');
    if path.is_empty() || path.len() > MAX_NAME_BYTES * 4 {
        return None;
    }
    let extension = path.rsplit_once('.').filter(|(head, _)| !head.is_empty()).map(|(_, extension)| extension);
    let has_extension =
        extension.is_some_and(|e| (1..=10).contains(&e.len()) && e.bytes().all(|b| b.is_ascii_alphanumeric()));
    (path.contains('/') || has_extension).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list<'m>(set: &BTreeSet<&'m str>) -> Vec<&'m str> {
        set.iter().copied().collect()
    }

    #[test]
    fn paths_identifiers_and_words_are_separated() {
        let mentions = Mentions::new(
            "Fix `walk` in src/walk.rs:12:3 (see ./README.md): call Types::new_default and the httpServer, please.",
        );
        assert_eq!(list(&mentions.paths), ["README.md", "src/walk.rs"]);
        assert_eq!(list(&mentions.identifiers), ["Types", "httpServer", "new_default", "walk"]);
        assert_eq!(list(&mentions.words), ["README", "call", "md", "rs", "see", "src", "walk"]);
    }

    #[test]
    fn the_end_of_a_sentence_is_not_an_extension() {
        assert!(Mentions::new("That is it. And so on... 3.").paths.is_empty());
        assert_eq!(list(&Mentions::new("look at app.py.").paths), ["app.py"]);
    }

    #[test]
    fn numbers_and_data_are_not_names() {
        let blob = "x".repeat(5_000);
        let mentions = Mentions::new(&blob);
        assert_eq!(mentions, Mentions::default());
        assert_eq!(Mentions::new("42 __ 7_7"), Mentions::default());
    }

    proptest! {
        #[test]
        fn any_message_can_be_read(message in "\\PC{0,80}") {
            let mentions = Mentions::new(&message);
            prop_assert!(mentions.paths.iter().all(|path| message.contains(path)));
        }
    }
}
