//! Scoring a repository for a message: BM25 over passages, over files and over paths.
//!
//! BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the constants
//! that they give as usual.

use rayon::prelude::*;

use super::packed::PackedTerms;
use super::stop::is_stop_word;
use super::word::{Term, each_term, each_word, term_of};

/// How soon repetition stops to count, and how much length counts against a text.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A word that a message repeats counts twice at most: what is said often is the subject, not worth any multiple.
const REPEATED: u32 = 2;
/// Most terms of a message that are looked up: a pasted log must not cost seconds.
const MOST_TERMS: usize = 512;
/// Passages of a file that count together.
const BEST: usize = 3;
/// Worth of a word in the file name and in the folders of a path.
const IN_FILE_NAME: f64 = 1.5;
const IN_FOLDER: f64 = 0.7;
/// Fewest bytes of a word that another can begin with.
const SHORTEST_OPENING: usize = 3;

/// The terms of a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Sorted by term, each once, with its count.
    terms: Vec<(Term, f64)>,
    /// The words, in lower case and without endings, each once, with their terms as indices.
    words: Vec<(Box<str>, u16)>,
}

impl Query {
    /// Reads a message; stop words and words of one letter are left out.
    pub fn new(message: &str) -> Self {
        let mut all: Vec<Term> = Vec::new();
        let mut words: Vec<Box<str>> = Vec::new();
        for word in message.split(|c: char| !(c == '_' || c.is_alphanumeric())) {
            if all.len() >= MOST_TERMS {
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
            counted.map(|same| (same[0], f64::from((same.len() as u32).min(REPEATED)))).collect();
        words.sort_unstable();
        words.dedup();
        let with_term = |word: Box<str>| {
            let at = terms.binary_search_by_key(&term_of(&word), |entry| entry.0).ok()?;
            Some((word, u16::try_from(at).ok()?))
        };
        Self { words: words.into_iter().filter_map(with_term).collect(), terms }
    }

    /// Its terms in order, each once, with how often it counts as asked for.
    pub fn terms(&self) -> impl Iterator<Item = (Term, f64)> + '_ {
        self.terms.iter().copied()
    }

    /// True when there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// What a query says of one file. The scores are comparable among the files of one repository only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileRelevance {
    /// Score of the best passage.
    pub best: f64,
    /// Scores of the three best passages together.
    pub three: f64,
    /// Score of the file as one text.
    pub whole: f64,
    /// What the words of the path say.
    pub path: f64,
    /// The part of the query, by how rare its words are, that begins like the words of the file name or of its folder.
    pub opening: f64,
    /// Passages with a score, by their index in the file.
    pub passages: Vec<(u16, f64)>,
}

/// What a query says of a repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relevance {
    /// By file, in the order that the files were given in.
    pub files: Vec<FileRelevance>,
}

impl Relevance {
    /// Scores `files`, pairs of a path and the terms of its content.
    pub fn new(query: &Query, files: &[(&str, PackedTerms<'_>)]) -> Self {
        if query.is_empty() {
            return Self { files: vec![FileRelevance::default(); files.len()] };
        }
        let hits: Vec<Hits> = files.par_iter().map(|(path, terms)| Hits::new(query, path, terms)).collect();
        let statistics = Statistics::new(query, files, &hits);
        let scored = hits.par_iter().zip(files).map(|(hits, (_, terms))| statistics.score(hits, terms)).collect();
        Self { files: scored }
    }

    /// The four scores of all files, each as a part of the highest among the files: the best passage, the three best, the
    /// whole and the path.
    pub fn views(&self) -> [Vec<f64>; 4] {
        let views: [fn(&FileRelevance) -> f64; 4] =
            [|file| file.best, |file| file.three, |file| file.whole, |file| file.path];
        views.map(|view| {
            let highest = self.files.iter().map(view).fold(f64::MIN_POSITIVE, f64::max);
            self.files.iter().map(|file| view(file) / highest).collect()
        })
    }

    /// How much of the query each file answers, from 0 to 1: the mean of its four scores, which agree where a file is
    /// right.
    pub fn shares(&self) -> Vec<f64> {
        let views = self.views();
        let mean = |file: usize| views.iter().map(|view| view[file]).sum::<f64>() / views.len() as f64;
        (0..self.files.len()).map(mean).collect()
    }
}

/// Where one file has the terms of a query.
struct Hits {
    /// Term (as an index of the query), passage, weighted count; by term.
    found: Vec<(u16, u16, u16)>,
    /// Terms in the path, with whether the file name has them.
    path: Vec<(u16, bool)>,
    /// Words of the query that begin like a word of the file name or of its folder, by their terms.
    opening: Vec<u16>,
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
        Self { found, path: path_hits(query, path), opening: opening_hits(query, path) }
    }

    /// The query terms that the content has, each once.
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
    // The better place of a term that stands in both comes last, and is the one to stay.
    hits.sort_unstable();
    hits.reverse();
    hits.dedup_by_key(|hit| hit.0);
    hits
}

/// The words of a query that begin like a word of the file name or of its folder, or that one of these begins like:
/// `routing` and `router`, `dependencies` and `depend`.
fn opening_hits(query: &Query, path: &str) -> Vec<u16> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let folder = folders.rsplit_once('/').map_or(folders, |(_, folder)| folder);
    let mut words: Vec<Box<str>> = Vec::new();
    for text in [folder, stem] {
        each_word(text, |word| words.push(word.into()));
    }
    let begins = |long: &str, short: &str| short.len() >= SHORTEST_OPENING && long.starts_with(short);
    let hit = |asked: &str| words.iter().any(|word| begins(word, asked) || begins(asked, word));
    query.words.iter().filter(|(asked, _)| hit(asked)).map(|&(_, term)| term).collect()
}

/// The numbers of a repository that a score needs.
struct Statistics<'q> {
    query: &'q Query,
    /// By query term: how rare it is among passages, among files and among paths; by the query's order.
    rarity: Vec<f64>,
    file_rarity: Vec<f64>,
    path_rarity: Vec<f64>,
    /// How rare the words of the query are among files, together.
    of_words: f64,
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
            of_words: 0.0,
            rarity: rarities(&passages_with, passages),
            file_rarity: rarities(&files_with, texts),
            path_rarity: rarities(&paths_with, files.len()),
            passage_length: length / passages.max(1) as f64,
            file_length: length / texts.max(1) as f64,
        };
        let of_words = statistics.rarity_of(query.words.iter().map(|word| word.1));
        statistics.of_words = of_words.max(f64::MIN_POSITIVE);
        statistics
    }

    fn score(&self, hits: &Hits, terms: &PackedTerms<'_>) -> FileRelevance {
        let passages = self.passages(hits, terms);
        let mut best: Vec<f64> = passages.iter().map(|passage| passage.1).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        best.truncate(BEST);
        FileRelevance {
            best: best.first().copied().unwrap_or_default(),
            three: best.iter().sum(),
            whole: self.whole(hits, terms),
            path: hits.path.iter().map(|&(term, in_name)| self.of_path(term, in_name)).sum(),
            opening: self.rarity_of(hits.opening.iter().copied()) / self.of_words,
            passages,
        }
    }

    fn passages(&self, hits: &Hits, terms: &PackedTerms<'_>) -> Vec<(u16, f64)> {
        let score = |&(term, passage, weight): &(u16, u16, u16)| {
            let length = terms.passage(passage as usize).map_or(0, |passage| passage.length);
            let saturated = saturated(f64::from(weight), f64::from(length) / self.passage_length.max(1.0));
            (passage, self.asked(term) * self.rarity[term as usize] * saturated)
        };
        let mut parts: Vec<(u16, f64)> = hits.found.iter().map(score).collect();
        // Stable: the parts of a passage are added up in the order of the terms, whatever the machine.
        parts.sort_by_key(|part| part.0);
        let of_passage = |same: &[(u16, f64)]| (same[0].0, same.iter().map(|part| part.1).sum());
        parts.chunk_by(|a, b| a.0 == b.0).map(of_passage).collect()
    }

    fn whole(&self, hits: &Hits, terms: &PackedTerms<'_>) -> f64 {
        let length = f64::from(terms.length()) / self.file_length.max(1.0);
        let of_term = |same: &[(u16, u16, u16)]| {
            let term = same[0].0;
            let weight: f64 = same.iter().map(|hit| f64::from(hit.2)).sum();
            self.asked(term) * self.file_rarity[term as usize] * saturated(weight, length)
        };
        hits.found.chunk_by(|a, b| a.0 == b.0).map(of_term).sum()
    }

    fn of_path(&self, term: u16, in_name: bool) -> f64 {
        let place = if in_name { IN_FILE_NAME } else { IN_FOLDER };
        place * self.path_rarity[term as usize]
    }

    /// How rare some terms are among files, together.
    fn rarity_of(&self, terms: impl Iterator<Item = u16>) -> f64 {
        terms.map(|term| self.file_rarity[term as usize]).sum()
    }

    fn asked(&self, term: u16) -> f64 {
        self.query.terms[term as usize].1
    }
}

/// The inverse document frequency: never negative, near zero for what nearly all have.
fn rarity(with: usize, all: usize) -> f64 {
    let (with, all) = (with as f64, all as f64);
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// An occurrence count for what it tells, in a text of `length` times the mean.
fn saturated(count: f64, length: f64) -> f64 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}

#[cfg(test)]
mod tests {
    use super::super::terms::{Depth, FileTerms};
    use super::*;
    use proptest::prelude::*;
    use rhumb_syntax::tag::FileTags;

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
    fn stop_words_ask_for_nothing() {
        assert!(Query::new("please fix this, it should be so").is_empty());
        let found = relevance("please fix this", &[("fix.rs", "fix this")]);
        assert_eq!(found.files, [FileRelevance::default()]);
    }

    #[test]
    fn a_pasted_log_is_cut() {
        let log: String = (0..5_000).map(|n| format!("word{n}x ")).collect();
        assert!(Query::new(&log).terms.len() <= MOST_TERMS + 4);
    }

    proptest! {
        #[test]
        fn scores_are_finite_and_do_not_depend_on_the_neighbours(
            message in "[a-dA-D_ ]{0,20}", texts in prop::collection::vec("[a-dA-D_ \n]{0,30}", 0..6)
        ) {
            let files: Vec<(&str, &str)> = texts.iter().map(|text| ("a/b.c", text.as_str())).collect();
            let mut turned = files.clone();
            turned.reverse();
            let (forward, mut backward) = (relevance(&message, &files), relevance(&message, &turned));
            backward.files.reverse();
            prop_assert_eq!(&forward, &backward);
            for file in &forward.files {
                prop_assert!([file.best, file.three, file.whole, file.path].iter().all(|score| score.is_finite() && *score >= 0.0));
                prop_assert!(file.best <= file.three);
            }
        }
    }
}
