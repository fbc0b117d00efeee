//! Where the rank starts from: the teleport vector, drawn towards what the request is about.
//!
//! Whatever the request mentions has a vote, shared by everything in the repository that it could mean. A word that
//! fits one name decides; a word that fits hundreds hardly counts. So rare words weigh more without a table of
//! frequencies, and words that the repository does not know cost nothing.

use std::collections::{BTreeSet, HashMap};

use super::graph::Names;
use super::mention::Mentions;
use super::path;
use super::request::{MapFile, MapRequest};
use super::weights::Weights;
use super::words::{each_word, stemmed};

/// Votes of a file or name that the caller names, of an identifier or path in the message, and of a plain word there.
const NAMED: f64 = 3.0;
const SPOKEN: f64 = 2.0;
const WORD: f64 = 1.0;
/// Votes of a word for folders of its name: they hold many files.
const FOLDER: f64 = 0.5;
/// Parts of the teleport mass: all files, the chat, the mentions. Parts without an entry leave theirs to the others.
const PARTS: [f64; 3] = [0.3, 2.0, 4.0];

/// The start of a ranking. `teleport` sums to one; the masses are the part of it that a mention put on a file as a
/// whole or on a symbol of it, by file and by symbol.
#[derive(Debug)]
pub(crate) struct Seeds {
    pub(crate) teleport: Vec<f64>,
    pub(crate) file_mass: Vec<f64>,
    pub(crate) symbol_mass: Vec<f64>,
    /// Names that the request mentions as they are written.
    pub(crate) mentioned: BTreeSet<u32>,
}

impl Seeds {
    /// Weighs what `request` mentions against what the repository has.
    pub(crate) fn new(
        files: &[&MapFile],
        names: &Names<'_>,
        chat: &[bool],
        request: &MapRequest,
        weights: &Weights,
    ) -> Self {
        let mut ballot = Ballot::new(files, names);
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
        let mut words: BTreeSet<String> = BTreeSet::new();
        for name in &mentions.identifiers {
            if !ballot.vote_for_name(name, SPOKEN) {
                each_word(name, |word| words.extend([word.to_owned()]));
            }
        }
        for word in &mentions.words {
            ballot.note_if_rare(word, weights.common_above);
            words.insert(stemmed(&word.to_lowercase()).to_owned());
        }
        for name in &request.mentioned_idents {
            words.insert(stemmed(&name.to_lowercase()).to_owned());
        }
        ballot.vote_for_words(&words);
        ballot.count(chat, weights)
    }
}

/// Votes by file and by symbol.
struct Ballot<'r, 'a> {
    files: &'r [&'a MapFile],
    names: &'r Names<'a>,
    by_file_name: HashMap<&'a str, Vec<u32>>,
    file_votes: Vec<f64>,
    symbol_votes: Vec<f64>,
    mentioned: BTreeSet<u32>,
}

impl<'r, 'a> Ballot<'r, 'a> {
    fn new(files: &'r [&'a MapFile], names: &'r Names<'a>) -> Self {
        let mut by_file_name: HashMap<&str, Vec<u32>> = HashMap::new();
        for (index, file) in (0u32..).zip(files) {
            by_file_name.entry(path::file_name(&file.path)).or_default().push(index);
        }
        Self {
            files,
            names,
            by_file_name,
            file_votes: vec![0.0; files.len()],
            symbol_votes: vec![0.0; names.symbols.len()],
            mentioned: BTreeSet::new(),
        }
    }

    /// Votes for the files whose path is `spoken` or ends in it at a folder boundary.
    fn vote_for_path(&mut self, spoken: &str, vote: f64) {
        let Some(candidates) = self.by_file_name.get(path::file_name(spoken)) else {
            return;
        };
        let is_meant =
            |path: &str| path.strip_suffix(spoken).is_some_and(|folders| folders.is_empty() || folders.ends_with('/'));
        let meant: Vec<u32> =
            candidates.iter().copied().filter(|&file| is_meant(&self.files[file as usize].path)).collect();
        for &file in &meant {
            self.file_votes[file as usize] += vote / meant.len() as f64;
        }
    }

    /// Votes for the definitions of a name as it is written; false if there are none.
    fn vote_for_name(&mut self, text: &str, vote: f64) -> bool {
        let Some(name) = self.names.id(text) else { return false };
        self.mentioned.insert(name);
        self.share_name(name, vote);
        true
    }

    fn share_name(&mut self, name: u32, vote: f64) {
        let symbols = &self.names.symbols_of[name as usize];
        for &symbol in symbols {
            self.symbol_votes[symbol as usize] += vote / symbols.len() as f64;
        }
    }

    /// A plain word that few files define as a name counts as that name for the references too.
    fn note_if_rare(&mut self, word: &str, common_above: usize) {
        if let Some(name) = self.names.id(word)
            && self.names.symbols_of[name as usize].len() <= common_above
        {
            self.mentioned.insert(name);
        }
    }

    /// Each word votes for the names, the files and the folders that it is a part of, by how much of them it covers.
    fn vote_for_words(&mut self, words: &BTreeSet<String>) {
        if words.is_empty() {
            return;
        }
        let matcher = Matcher::new(words);
        for (name, share) in matcher.shares(self.names.texts.iter().copied()) {
            self.share_name(name, WORD * share);
        }
        for (file, share) in matcher.shares(self.files.iter().map(|file| path::subject(&file.path))) {
            self.file_votes[file as usize] += WORD * share;
        }
        let folders: Vec<(u32, &str)> = (0u32..)
            .zip(self.files)
            .flat_map(|(index, file)| path::folders(&file.path).map(move |folder| (index, folder)))
            .collect();
        for (at, share) in matcher.shares(folders.iter().map(|(_, folder)| *folder)) {
            self.file_votes[folders[at as usize].0 as usize] += FOLDER * share;
        }
    }

    fn count(self, chat: &[bool], weights: &Weights) -> Seeds {
        let lift = |file: &&MapFile| {
            if path::is_landmark(&file.path) { 1.0 + weights.landmark } else { 1.0 }
        };
        let base: Vec<f64> = self.files.iter().map(lift).collect();
        let chats: Vec<f64> = chat.iter().map(|&chat| f64::from(u8::from(chat))).collect();
        let votes: f64 = self.file_votes.iter().chain(&self.symbol_votes).sum();
        let sums = [base.iter().sum::<f64>(), chats.iter().sum(), votes];
        let present: f64 = PARTS.iter().zip(sums).filter(|(_, sum)| *sum > 0.0).map(|(part, _)| part).sum();
        let scale = |index: usize| {
            if sums[index] > 0.0 { PARTS[index] / present / sums[index] } else { 0.0 }
        };
        let scaled = |votes: &[f64], by: f64| -> Vec<f64> { votes.iter().map(|vote| vote * by).collect() };
        let file_mass = scaled(&self.file_votes, scale(2));
        let symbol_mass = scaled(&self.symbol_votes, scale(2));
        let mut teleport = scaled(&base, scale(0));
        for (cell, (chat, mass)) in teleport.iter_mut().zip(chats.iter().zip(&file_mass)) {
            *cell += chat * scale(1) + mass;
        }
        for (symbol, mass) in self.names.symbols.iter().zip(&symbol_mass) {
            teleport[symbol.file as usize] += mass;
        }
        Seeds { teleport, file_mass, symbol_mass, mentioned: self.mentioned }
    }
}

/// Finds the words of a message inside names.
struct Matcher<'w> {
    index: HashMap<&'w str, u32>,
}

impl<'w> Matcher<'w> {
    fn new(words: &'w BTreeSet<String>) -> Self {
        Self { index: words.iter().map(String::as_str).zip(0u32..).collect() }
    }

    /// For every text that has some of the words, its share of their votes: each word's vote is split in proportion to
    /// the square of the part of the text that the message covers.
    fn shares<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Vec<(u32, f64)> {
        let mut pools = vec![0.0f64; self.index.len()];
        let mut hits: Vec<(u32, u32, f64)> = Vec::new();
        let mut found: Vec<u32> = Vec::new();
        for (text_id, text) in (0u32..).zip(texts) {
            let mut parts = 0usize;
            found.clear();
            each_word(text, |word| {
                parts += 1;
                found.extend(self.index.get(word));
            });
            found.sort_unstable();
            let covered = found.len() as f64 / parts.max(1) as f64;
            found.dedup();
            for &word in &found {
                pools[word as usize] += covered * covered;
                hits.push((text_id, word, covered * covered));
            }
        }
        hits.into_iter().map(|(text, word, weight)| (text, weight / pools[word as usize])).collect()
    }
}
