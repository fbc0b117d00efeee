//! Scores the passages, files and paths of a repository for a message, by BM25.
//!
//! BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the usual constants.

use rayon::prelude::*;

use super::terms::PackedTerms;
use super::words::{Term, each_term, each_word, is_stop_word, term_of};

/// BM25: saturation of the term frequency, and the influence of the text length.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Maximum count of a word in a message. A repeated word is the subject, but not arbitrarily more important.
const MAX_WORD_COUNT: u32 = 2;
/// Maximum number of terms of a message that are looked up, so that a pasted log costs little.
const MAX_QUERY_TERMS: usize = 512;
/// Number of passages of a file whose scores are added.
const TOP_PASSAGES: usize = 3;
/// Weight of a word in the file name and in the folders of a path.
const FILE_NAME_WEIGHT: f64 = 1.5;
const FOLDER_WEIGHT: f64 = 0.7;
/// Minimum length in bytes of a common prefix of two words.
const MIN_PREFIX: usize = 3;

/// The terms of a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Sorted by term, without duplicates, with their counts.
    terms: Vec<(Term, f64)>,
    /// The stemmed words in lower case, without duplicates, with the index of their term.
    words: Vec<(Box<str>, u16)>,
}

impl Query {
    /// Splits a message into terms. Stop words and one-letter words are dropped.
    pub fn new(message: &str) -> Self {
        let mut all: Vec<Term> = Vec::new();
        let mut words: Vec<Box<str>> = Vec::new();
        for word in message.split(|c: char| !(c == '_' || c.is_alphanumeric())) {
            if all.len() >= MAX_QUERY_TERMS {
                break;
            }
            if !is_stop_word(&word.to_lowercase()) {
                each_term(word, |term| all.push(term));
                each_word(word, |word| words.push(word.into()));
            }
        }
        all.sort_unstable();
        let counted = all.chunk_by(|a, b| a == b);
        let terms: Vec<(Term, f64)> =
            counted.map(|same| (same[0], f64::from((same.len() as u32).min(MAX_WORD_COUNT)))).collect();
        words.sort_unstable();
        words.dedup();
        let with_term = |word: Box<str>| {
            let at = terms.binary_search_by_key(&term_of(&word), |entry| entry.0).ok()?;
            Some((word, u16::try_from(at).ok()?))
        };
        Self { words: words.into_iter().filter_map(with_term).collect(), terms }
    }

    /// The terms in order, without duplicates, with their counts.
    pub fn terms(&self) -> impl Iterator<Item = (Term, f64)> + '_ {
        self.terms.iter().copied()
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// The relevance of a file to a query. Scores are comparable only among the files of one repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileRelevance {
    /// Score of the best passage.
    pub best: f64,
    /// Sum of the scores of the three best passages.
    pub top_three: f64,
    /// Score of the whole file as one text.
    pub whole_file: f64,
    /// Score of the words in the path.
    pub path: f64,
    /// The share of the query, weighted by rarity, whose words share a prefix with a word of the file name or its folder.
    pub prefix: f64,
    /// Passages with a score, by index in the file.
    pub passages: Vec<(u16, f64)>,
}

/// The relevance of all files of a repository to a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relevance {
    /// By file, in the given order.
    pub files: Vec<FileRelevance>,
}

impl Relevance {
    /// Scores `files`, pairs of a path and its terms.
    pub fn new(query: &Query, files: &[(&str, PackedTerms<'_>)]) -> Self {
        if query.is_empty() {
            return Self { files: vec![FileRelevance::default(); files.len()] };
        }
        let hits: Vec<Hits> = files.par_iter().map(|(path, terms)| Hits::new(query, path, terms)).collect();
        let statistics = Statistics::new(query, files, &hits);
        let scored = hits.par_iter().zip(files).map(|(hits, (_, terms))| statistics.score(hits, terms)).collect();
        Self { files: scored }
    }

    /// Four scores of all files, each as a share of the maximum among the files: best passage, three best passages, whole file,
    /// path.
    pub fn views(&self) -> [Vec<f64>; 4] {
        let views: [fn(&FileRelevance) -> f64; 4] =
            [|file| file.best, |file| file.top_three, |file| file.whole_file, |file| file.path];
        views.map(|view| {
            let highest = self.files.iter().map(view).fold(f64::MIN_POSITIVE, f64::max);
            self.files.iter().map(|file| view(file) / highest).collect()
        })
    }

    /// The relevance of each file from 0 to 1: the mean of its four scores.
    pub fn shares(&self) -> Vec<f64> {
        let views = self.views();
        let mean = |file: usize| views.iter().map(|view| view[file]).sum::<f64>() / views.len() as f64;
        (0..self.files.len()).map(mean).collect()
    }
}

/// The occurrences of the query's terms in a file.
struct Hits {
    /// Term (index in the query), passage, weighted count; sorted by term.
    found: Vec<(u16, u16, u16)>,
    /// Terms in the path, and whether they are in the file name.
    path: Vec<(u16, bool)>,
    /// Terms of query words that share a prefix with a word of the file name or its folder.
    prefix: Vec<u16>,
}

impl Hits {
    fn new(query: &Query, path: &str, terms: &PackedTerms<'_>) -> Self {
        let mut found = Vec::new();
        let mut from = 0;
        for (index, &(term, _)) in (0u16..).zip(&query.terms) {
            match terms.find(term, from) {
                Ok(at) => {
                    found.extend(terms.postings(at).map(|posting| (index, posting.passage, posting.weight)));
                    from = at + 1;
                }
                Err(at) => from = at,
            }
        }
        Self { found, path: path_hits(query, path), prefix: prefix_hits(query, path) }
    }

    /// The query's terms in the content, without duplicates.
    fn terms(&self) -> impl Iterator<Item = u16> + '_ {
        self.found.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0)
    }
}

fn path_hits(query: &Query, path: &str) -> Vec<(u16, bool)> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut hits: Vec<(u16, bool)> = Vec::new();
    for (text, in_name) in [(folders, false), (stem, true)] {
        each_term(text, |term| {
            let at = query.terms.binary_search_by_key(&term, |entry| entry.0);
            hits.extend(at.ok().and_then(|at| u16::try_from(at).ok()).map(|at| (at, in_name)));
        });
    }
    // A term in both the folders and the file name counts as one in the file name, which sorts last.
    hits.sort_unstable();
    hits.reverse();
    hits.dedup_by_key(|hit| hit.0);
    hits
}

/// The query words of which a word of the file name or its folder is a prefix, or which are a prefix of one: `routing` and
/// `router` (by their stems), `dependencies` and `depend`.
fn prefix_hits(query: &Query, path: &str) -> Vec<u16> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let folder = folders.rsplit_once('/').map_or(folders, |(_, folder)| folder);
    let mut words: Vec<Box<str>> = Vec::new();
    for text in [folder, stem] {
        each_word(text, |word| words.push(word.into()));
    }
    let begins = |long: &str, short: &str| short.len() >= MIN_PREFIX && long.starts_with(short);
    let hit = |wanted: &str| words.iter().any(|word| begins(word, wanted) || begins(wanted, word));
    query.words.iter().filter(|(wanted, _)| hit(wanted)).map(|&(_, term)| term).collect()
}

/// The statistics of a repository for the terms of a query.
struct Statistics<'q> {
    query: &'q Query,
    /// By query term: inverse document frequency among passages, among files and among paths.
    rarity: Vec<f64>,
    file_rarity: Vec<f64>,
    path_rarity: Vec<f64>,
    /// Sum of the inverse document frequencies of the query's words among files.
    word_rarity: f64,
    /// Mean lengths, in terms.
    passage_length: f64,
    file_length: f64,
}

impl<'q> Statistics<'q> {
    fn new(query: &'q Query, files: &[(&str, PackedTerms<'_>)], hits: &[Hits]) -> Self {
        let count = query.terms.len();
        let (mut passages_with, mut files_with, mut paths_with) = (vec![0usize; count], vec![0; count], vec![0; count]);
        for hits in hits {
            hits.found.iter().for_each(|hit| passages_with[hit.0 as usize] += 1);
            hits.terms().for_each(|term| files_with[term as usize] += 1);
            hits.path.iter().for_each(|hit| paths_with[hit.0 as usize] += 1);
        }
        let passages: usize = files.iter().map(|(_, terms)| terms.passages()).sum();
        let texts = files.iter().filter(|(_, terms)| terms.length() > 0).count();
        let length: f64 = files.iter().map(|(_, terms)| f64::from(terms.length())).sum();
        let rarities = |with: &[usize], all: usize| with.iter().map(|&with| rarity(with, all)).collect();
        let mut statistics = Self {
            query,
            word_rarity: 0.0,
            rarity: rarities(&passages_with, passages),
            file_rarity: rarities(&files_with, texts),
            path_rarity: rarities(&paths_with, files.len()),
            passage_length: length / passages.max(1) as f64,
            file_length: length / texts.max(1) as f64,
        };
        let word_rarity = statistics.rarity_of(query.words.iter().map(|word| word.1));
        statistics.word_rarity = word_rarity.max(f64::MIN_POSITIVE);
        statistics
    }

    fn score(&self, hits: &Hits, terms: &PackedTerms<'_>) -> FileRelevance {
        let passages = self.passages(hits, terms);
        let mut best: Vec<f64> = passages.iter().map(|passage| passage.1).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        best.truncate(TOP_PASSAGES);
        FileRelevance {
            best: best.first().copied().unwrap_or_default(),
            top_three: best.iter().sum(),
            whole_file: self.whole(hits, terms),
            path: hits.path.iter().map(|&(term, in_name)| self.of_path(term, in_name)).sum(),
            prefix: self.rarity_of(hits.prefix.iter().copied()) / self.word_rarity,
            passages,
        }
    }

    fn passages(&self, hits: &Hits, terms: &PackedTerms<'_>) -> Vec<(u16, f64)> {
        let score = |&(term, passage, weight): &(u16, u16, u16)| {
            let length = terms.passage(passage as usize).map_or(0, |passage| passage.length);
            let saturated = saturated(f64::from(weight), f64::from(length) / self.passage_length.max(1.0));
            (passage, self.count_of(term) * self.rarity[term as usize] * saturated)
        };
        let mut parts: Vec<(u16, f64)> = hits.found.iter().map(score).collect();
        // A stable sort: the scores of a passage are added in the order of the terms, so the sum is reproducible.
        parts.sort_by_key(|part| part.0);
        let of_passage = |same: &[(u16, f64)]| (same[0].0, same.iter().map(|part| part.1).sum());
        parts.chunk_by(|a, b| a.0 == b.0).map(of_passage).collect()
    }

    fn whole(&self, hits: &Hits, terms: &PackedTerms<'_>) -> f64 {
        let length = f64::from(terms.length()) / self.file_length.max(1.0);
        let of_term = |same: &[(u16, u16, u16)]| {
            let term = same[0].0;
            let weight: f64 = same.iter().map(|hit| f64::from(hit.2)).sum();
            self.count_of(term) * self.file_rarity[term as usize] * saturated(weight, length)
        };
        hits.found.chunk_by(|a, b| a.0 == b.0).map(of_term).sum()
    }

    fn of_path(&self, term: u16, in_name: bool) -> f64 {
        let weight = if in_name { FILE_NAME_WEIGHT } else { FOLDER_WEIGHT };
        weight * self.path_rarity[term as usize]
    }

    /// Sum of the inverse document frequencies of some terms among files.
    fn rarity_of(&self, terms: impl Iterator<Item = u16>) -> f64 {
        terms.map(|term| self.file_rarity[term as usize]).sum()
    }

    fn count_of(&self, term: u16) -> f64 {
        self.query.terms[term as usize].1
    }
}

/// The inverse document frequency: not negative, near zero for a term that nearly all texts have.
fn rarity(with: usize, all: usize) -> f64 {
    let (with, all) = (with as f64, all as f64);
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// The saturated term frequency in a text of `length` times the mean length.
fn saturated(count: f64, length: f64) -> f64 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::terms::{Depth, FileTerms};
    use proptest::prelude::*;
    use rhumb_syntax::FileTags;

    fn relevance(message: &str, files: &[(&str, &str)]) -> Relevance {
        let pack = |text: &str| {
            let mut words = Vec::new();
            FileTerms::new(text, &FileTags::default(), Depth::Whole).pack(&mut words);
            words
        };
        let words: Vec<Vec<u32>> = files.iter().map(|(_, text)| pack(text)).collect();
        let files: Vec<(&str, PackedTerms<'_>)> =
            files.iter().zip(&words).map(|(file, words)| (file.0, PackedTerms::new(words))).collect();
        Relevance::new(&Query::new(message), &files)
    }

    #[test]
    fn rare_words_decide() {
        let found = relevance(
            "the parser of cookies",
            &[("a", "parser cookie"), ("b", "parser parser"), ("c", "parser"), ("d", "x")],
        );
        let best: Vec<f64> = found.files.iter().map(|file| file.best).collect();
        assert!(best[0] > best[1] && best[1] > 0.0 && best[3] == 0.0, "{best:?}");
    }

    #[test]
    fn a_file_name_says_more_than_a_folder() {
        let found = relevance("menus", &[("src/menu.rs", ""), ("menu/src.rs", ""), ("menu/menu.rs", "")]);
        let path: Vec<f64> = found.files.iter().map(|file| file.path).collect();
        assert!(path[0] > path[1] && path[1] > 0.0);
        assert_eq!(path[0], path[2], "a word counts once");
    }

    #[test]
    fn stop_words_are_ignored() {
        assert!(Query::new("please fix this, it should be so").is_empty());
        let found = relevance("please fix this", &[("fix.rs", "fix this")]);
        assert_eq!(found.files, [FileRelevance::default()]);
    }

    #[test]
    fn a_pasted_log_is_cut() {
        let log: String = (0..5_000).map(|n| format!("word{n}x ")).collect();
        assert!(Query::new(&log).terms.len() <= MAX_QUERY_TERMS + 4);
    }

    proptest! {
        #[test]
        fn scores_are_finite_and_independent_of_the_order_of_files(
            message in "[a-dA-D_ ]{0,20}", texts in prop::collection::vec("[a-dA-D_ \n]{0,30}", 0..6)
        ) {
            let files: Vec<(&str, &str)> = texts.iter().map(|text| ("a/b.c", text.as_str())).collect();
            let mut turned = files.clone();
            turned.reverse();
            let (forward, mut backward) = (relevance(&message, &files), relevance(&message, &turned));
            backward.files.reverse();
            prop_assert_eq!(&forward, &backward);
            for file in &forward.files {
                prop_assert!([file.best, file.top_three, file.whole_file, file.path].iter().all(|score| score.is_finite() && *score >= 0.0));
                prop_assert!(file.best <= file.top_three);
            }
        }
    }
}
