//! Scores the files of a repository, and the definitions in them, for a query by BM25F.
//!
//! BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the usual constants. The text of a
//! definition excludes its inner definitions, except that a function inside of a function counts for both.

use rayon::prelude::*;

use super::query::{PARTS, Query};
use super::terms::{FieldCounts, PackedTerms};
use super::words::{each_term, each_word};

/// BM25: saturation of the term frequency, and the influence of the text length.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Weights of the words of title, prose, code and error text.
const PART_WEIGHTS: [f64; PARTS] = [2.0, 1.0, 0.6, 0.8];
/// Number of definitions of a file whose scores are added.
const TOP_DEFINITIONS: usize = 3;
/// Weight of the identifiers of the message in the score of a definition.
const IDENTIFIER_WEIGHT: f64 = 0.5;
/// Saturation of the term frequency in one field of a definition and of a file.
const DEFINITION_FIELD_SATURATION: f64 = 1.0;
const FILE_FIELD_SATURATION: f64 = 2.0;
/// Weight of a word of the message's code in the folders of a path, relative to one in the file name.
const FOLDER_CODE_WEIGHT: f64 = 0.4;
/// Minimum length in bytes of a common prefix of two words.
const MIN_PREFIX: usize = 3;

/// Number of fields of a definition: name, documentation, code.
pub const FIELDS: usize = FieldCounts::FIELDS;

/// A file that is scored.
#[derive(Debug, Clone, Copy)]
pub struct FileText<'i> {
    /// The path.
    pub path: &'i str,
    /// The terms.
    pub terms: PackedTerms<'i>,
    /// By definition: the outermost function around it as an index, or [`u32::MAX`].
    pub outer: &'i [u32],
}

impl FileText<'_> {
    /// The slot of a chunk, and that of the function around it: its definition plus one, or 0 for lines outside of all definitions.
    fn slots_of(&self, chunk: u16) -> (u32, Option<u32>) {
        let definition = self.terms.chunk(chunk as usize).and_then(|chunk| chunk.definition);
        let outer = definition.and_then(|definition| self.outer.get(definition as usize)).copied();
        let slot = |definition: u32| definition + 1;
        (definition.map_or(0, slot), outer.filter(|outer| *outer != u32::MAX).map(slot))
    }
}

/// The relevance of a file to a query. Scores are comparable only among the files of one repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileRelevance {
    /// Score of the whole file as one text, by part of the message.
    pub parts: [f64; PARTS],
    /// Score by field of its definitions, saturated apart.
    pub fields: [f64; FIELDS],
    /// Sum of the idfs of the title's words that occur.
    pub coverage: f64,
    /// Sum of the idfs of the identifiers that occur, by their weights.
    pub identifiers: f64,
    /// Words in the path.
    pub path: PathRelevance,
    /// Definitions with a score, by index in the file.
    pub definitions: Vec<DefinitionRelevance>,
    /// Chunks with a score, by index in the file.
    pub chunks: Vec<(u16, f32)>,
}

/// The relevance of a path to a query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PathRelevance {
    /// Words of the title in the file name.
    pub title: f64,
    /// Words of title and prose in the file name.
    pub name: f64,
    /// Words of title and prose in the folders.
    pub folders: f64,
    /// Words of code and error text.
    pub code: f64,
    /// The share of the words of title and prose, weighted by their inverse document frequency, that share a prefix with a word of the file name or its folder.
    pub prefix: f64,
}

/// The relevance of a definition, or of the lines outside of all definitions, to a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DefinitionRelevance {
    /// The definition, by index in the file; `None` for lines outside of all definitions.
    pub definition: Option<u32>,
    /// Score by part of the message.
    pub parts: [f32; PARTS],
    /// Score by field, saturated apart.
    pub fields: [f32; FIELDS],
    /// Sum of the idfs of the title's words that occur.
    pub coverage: f32,
    /// Sum of the idfs of the identifiers that occur, by their weights.
    pub identifiers: f32,
}

impl DefinitionRelevance {
    /// The score of the whole message.
    pub fn total(&self) -> f64 {
        self.parts.map(f64::from).iter().sum::<f64>() + IDENTIFIER_WEIGHT * f64::from(self.identifiers)
    }
}

impl FileRelevance {
    /// Score of the best definition.
    pub fn best(&self) -> f64 {
        self.definitions.iter().map(DefinitionRelevance::total).fold(0.0, f64::max)
    }

    /// Sum of the scores of the three best definitions.
    pub fn top_three(&self) -> f64 {
        let mut best: Vec<f64> = self.definitions.iter().map(DefinitionRelevance::total).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        best.iter().take(TOP_DEFINITIONS).sum()
    }

    /// Highest score of a definition for the title.
    pub fn best_title(&self) -> f64 {
        self.definitions.iter().map(|definition| f64::from(definition.parts[0])).fold(0.0, f64::max)
    }

    /// Whether the query has any word of the file or its path.
    pub fn is_relevant(&self) -> bool {
        !self.definitions.is_empty() || self.path.name > 0.0 || self.path.folders > 0.0 || self.path.code > 0.0
    }
}

/// The relevance of all files of a repository to a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relevance {
    /// By file, in the given order.
    pub files: Vec<FileRelevance>,
}

impl Relevance {
    /// Scores `files`.
    pub fn new(query: &Query, files: &[FileText<'_>]) -> Self {
        if query.is_empty() {
            return Self { files: vec![FileRelevance::default(); files.len()] };
        }
        let hits: Vec<Hits> = files.par_iter().map(|file| Hits::new(query, file)).collect();
        let statistics = Statistics::new(query, files, &hits);
        Self { files: hits.into_par_iter().zip(files).map(|(hits, file)| statistics.score(&hits, file)).collect() }
    }

    /// The relevance of each file from 0 to 1: the mean of the scores of its best definition, its three best ones, the whole file, and its
    /// path, each as a share of the highest.
    pub fn shares(&self) -> Vec<f64> {
        let views: [fn(&FileRelevance) -> f64; 4] = [
            FileRelevance::best,
            FileRelevance::top_three,
            |file| file.parts.iter().sum(),
            |file| file.path.name + file.path.folders,
        ];
        let mut shares = vec![0.0; self.files.len()];
        for view in views {
            let scores: Vec<f64> = self.files.iter().map(view).collect();
            let highest = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            shares.iter_mut().zip(scores).for_each(|(share, score)| *share += score / highest / views.len() as f64);
        }
        shares
    }
}

/// The occurrences of a term of the query in a definition, or in the lines outside of all definitions.
#[derive(Debug, Clone, Copy)]
struct DefinitionHit {
    /// The definition plus one; 0 for lines outside of all definitions.
    slot: u32,
    /// The index in the query.
    term: u16,
    /// Number of occurrences by field.
    counts: [u16; FIELDS],
    /// Weighted number of occurrences.
    weight: u16,
}

/// The occurrences of the query's terms in a file.
struct Hits {
    /// Term (index in the query), chunk, weighted count; sorted by term.
    chunks: Vec<(u16, u16, u16)>,
    /// Sorted by slot and term, without duplicates.
    definitions: Vec<DefinitionHit>,
    /// Terms in the path, and whether they are in the file name.
    path: Vec<(u16, bool)>,
    /// Number of words in the file name.
    name_words: usize,
    /// Terms of query words that share a prefix with a word of the file name or its folder.
    prefix: Vec<u16>,
}

impl Hits {
    fn new(query: &Query, file: &FileText<'_>) -> Self {
        let terms = &file.terms;
        let (mut chunks, mut definitions) = (Vec::new(), Vec::new());
        let mut from = 0;
        for (index, entry) in (0u16..).zip(&query.terms) {
            let at = match terms.find(entry.term, from) {
                Ok(at) => at,
                Err(at) => {
                    from = at;
                    continue;
                }
            };
            from = at + 1;
            for posting in terms.postings(at) {
                let (counts, weight) = (posting.counts.fields(), posting.counts.weight());
                chunks.push((index, posting.chunk, weight));
                let (slot, outer) = file.slots_of(posting.chunk);
                definitions.push(DefinitionHit { slot, term: index, counts, weight });
                if let Some(outer) = outer {
                    let [name, doc, code] = counts;
                    definitions.push(DefinitionHit {
                        slot: outer,
                        term: index,
                        counts: [0, doc, code.max(name)],
                        weight,
                    });
                }
            }
        }
        definitions.sort_by_key(|hit| (hit.slot, hit.term));
        definitions.dedup_by(|later, first| {
            let same = (later.slot, later.term) == (first.slot, first.term);
            if same {
                first.weight = first.weight.saturating_add(later.weight);
                first.counts.iter_mut().zip(later.counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
            }
            same
        });
        let (path, name_words) = path_hits(query, file.path);
        Self { chunks, definitions, path, name_words, prefix: prefix_hits(query, file.path) }
    }

    /// The query's terms in the content, without duplicates.
    fn terms(&self) -> impl Iterator<Item = u16> + '_ {
        self.chunks.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0)
    }
}

/// Whether a stem is that of a file that represents its folder.
pub(crate) fn is_entry(stem: &str) -> bool {
    matches!(stem, "__init__" | "index" | "mod" | "lib")
}

/// The folders of a path and the name that describes the file: that of the folder for an entry file.
fn described(path: &str) -> (&str, &str) {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let folder = folders.rsplit_once('/').map_or(folders, |(_, folder)| folder);
    (folders, if is_entry(stem) && !folder.is_empty() { folder } else { stem })
}

fn path_hits(query: &Query, path: &str) -> (Vec<(u16, bool)>, usize) {
    let (folders, stem) = described(path);
    let mut hits: Vec<(u16, bool)> = Vec::new();
    let mut words = 0;
    for (text, in_name) in [(folders, false), (stem, true)] {
        each_term(text, |term| {
            words += usize::from(in_name);
            let at = query.terms.binary_search_by_key(&term, |entry| entry.term);
            hits.extend(at.ok().and_then(|at| u16::try_from(at).ok()).map(|at| (at, in_name)));
        });
    }
    // A term in both the folders and the file name counts as one in the file name, which sorts last.
    hits.sort_unstable();
    hits.reverse();
    hits.dedup_by_key(|hit| hit.0);
    (hits, words)
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
    /// By query term: inverse document frequency among chunks, definitions, files and paths.
    chunk_idf: Vec<f64>,
    definition_idf: Vec<f64>,
    file_idf: Vec<f64>,
    path_idf: Vec<f64>,
    /// Sum of the inverse document frequencies of the query's words among files.
    word_idf: f64,
    /// Mean lengths, in terms.
    chunk_length: f64,
    definition_length: f64,
    file_length: f64,
}

impl<'q> Statistics<'q> {
    fn new(query: &'q Query, files: &[FileText<'_>], hits: &[Hits]) -> Self {
        let count = query.terms.len();
        let [mut chunks_with, mut definitions_with, mut files_with, mut paths_with] =
            [0; 4].map(|_: i32| vec![0usize; count]);
        for hits in hits {
            hits.chunks.iter().for_each(|hit| chunks_with[hit.0 as usize] += 1);
            hits.definitions.iter().for_each(|hit| definitions_with[hit.term as usize] += 1);
            hits.terms().for_each(|term| files_with[term as usize] += 1);
            hits.path.iter().for_each(|hit| paths_with[hit.0 as usize] += 1);
        }
        let chunks: usize = files.iter().map(|file| file.terms.chunk_count()).sum();
        let definitions: usize = files.par_iter().map(|file| definition_count(&file.terms)).sum();
        let texts = files.iter().filter(|file| file.terms.length() > 0).count();
        let length: f64 = files.iter().map(|file| f64::from(file.terms.length())).sum();
        let idfs = |with: &[usize], all: usize| -> Vec<f64> { with.iter().map(|&with| idf(with, all)).collect() };
        let mut statistics = Self {
            query,
            word_idf: 0.0,
            chunk_idf: idfs(&chunks_with, chunks),
            definition_idf: idfs(&definitions_with, definitions),
            file_idf: idfs(&files_with, texts),
            path_idf: idfs(&paths_with, files.len()),
            chunk_length: (length / chunks.max(1) as f64).max(1.0),
            definition_length: (length / definitions.max(1) as f64).max(1.0),
            file_length: (length / texts.max(1) as f64).max(1.0),
        };
        let words = query.words.iter().map(|word| statistics.file_idf[word.1 as usize]).sum::<f64>();
        statistics.word_idf = words.max(f64::MIN_POSITIVE);
        statistics
    }

    fn score(&self, hits: &Hits, file: &FileText<'_>) -> FileRelevance {
        let mut relevance = FileRelevance {
            path: self.path(hits),
            definitions: self.definitions(hits, file),
            chunks: self.chunks(hits, &file.terms),
            ..FileRelevance::default()
        };
        self.whole(hits, &file.terms, &mut relevance);
        relevance
    }

    /// The weight of a term in each part of the message.
    fn weights(&self, term: u16) -> [f64; PARTS] {
        let counts = self.query.terms[term as usize].counts;
        std::array::from_fn(|part| counts[part] * PART_WEIGHTS[part])
    }

    fn chunks(&self, hits: &Hits, terms: &PackedTerms<'_>) -> Vec<(u16, f32)> {
        let score = |&(term, chunk, weight): &(u16, u16, u16)| {
            let length = terms.chunk(chunk as usize).map_or(0, |chunk| chunk.length);
            let saturated = saturated(f64::from(weight), f64::from(length) / self.chunk_length);
            (chunk, self.weights(term).iter().sum::<f64>() * self.chunk_idf[term as usize] * saturated)
        };
        let mut parts: Vec<(u16, f64)> = hits.chunks.iter().map(score).collect();
        // A stable sort: the scores of a chunk are added in the order of the terms, so the sum is reproducible.
        parts.sort_by_key(|part| part.0);
        let of_chunk = |same: &[(u16, f64)]| (same[0].0, same.iter().map(|part| part.1).sum::<f64>() as f32);
        parts.chunk_by(|a, b| a.0 == b.0).map(of_chunk).collect()
    }

    fn definitions(&self, hits: &Hits, file: &FileText<'_>) -> Vec<DefinitionRelevance> {
        let lengths = definition_lengths(file);
        let of_definition = |same: &[DefinitionHit]| {
            let slot = same[0].slot;
            let length = f64::from(lengths.get(slot as usize).copied().unwrap_or(0)) / self.definition_length;
            let (mut parts, mut fields, mut coverage, mut identifiers) = ([0.0; PARTS], [0.0; FIELDS], 0.0, 0.0);
            for hit in same {
                let (idf, weights) = (self.definition_idf[hit.term as usize], self.weights(hit.term));
                let score = idf * saturated(f64::from(hit.weight), length);
                add_scaled(&mut parts, &weights, score);
                let saturated = saturated_fields(hit.counts, DEFINITION_FIELD_SATURATION);
                add_scaled(&mut fields, &saturated, weights.iter().sum::<f64>() * idf);
                let entry = &self.query.terms[hit.term as usize];
                coverage += if entry.counts[0] > 0.0 { idf } else { 0.0 };
                identifiers += entry.identifier * idf;
            }
            DefinitionRelevance {
                definition: slot.checked_sub(1),
                parts: parts.map(|part| part as f32),
                fields: fields.map(|field| field as f32),
                coverage: coverage as f32,
                identifiers: identifiers as f32,
            }
        };
        hits.definitions.chunk_by(|a, b| a.slot == b.slot).map(of_definition).collect()
    }

    /// Scores the file as one text.
    fn whole(&self, hits: &Hits, terms: &PackedTerms<'_>, relevance: &mut FileRelevance) {
        let length = f64::from(terms.length()) / self.file_length;
        let count = self.query.terms.len();
        let mut sums = vec![[0u32; FIELDS]; count];
        for hit in &hits.definitions {
            sums[hit.term as usize].iter_mut().zip(hit.counts).for_each(|(sum, count)| *sum += u32::from(count));
        }
        for same in hits.chunks.chunk_by(|a, b| a.0 == b.0) {
            let term = same[0].0;
            let weight: f64 = same.iter().map(|hit| f64::from(hit.2)).sum();
            let (idf, weights) = (self.file_idf[term as usize], self.weights(term));
            add_scaled(&mut relevance.parts, &weights, idf * saturated(weight, length));
            let fields = sums[term as usize].map(|count| f64::from(count) / (f64::from(count) + FILE_FIELD_SATURATION));
            add_scaled(&mut relevance.fields, &fields, weights.iter().sum::<f64>() * idf);
            let entry = &self.query.terms[term as usize];
            relevance.coverage += if entry.counts[0] > 0.0 { idf } else { 0.0 };
            relevance.identifiers += entry.identifier * idf;
        }
    }

    fn path(&self, hits: &Hits) -> PathRelevance {
        let mut path = PathRelevance::default();
        let name_length = (hits.name_words.max(1) as f64).sqrt();
        for &(term, in_name) in &hits.path {
            let [title, prose, code, error] = self.query.terms[term as usize].counts;
            let idf = self.path_idf[term as usize];
            let words = (2.0 * title + prose).min(2.0);
            if in_name {
                path.title += if title > 0.0 { idf / name_length } else { 0.0 };
                path.name += words * idf / name_length;
            } else {
                path.folders += words * idf;
            }
            if code + error > 0.0 {
                path.code += idf * if in_name { 1.0 / name_length } else { FOLDER_CODE_WEIGHT };
            }
        }
        path.prefix = hits.prefix.iter().map(|&term| self.file_idf[term as usize]).sum::<f64>() / self.word_idf;
        path
    }
}

/// The number of definitions with chunks. The lines outside of all definitions count as one.
fn definition_count(terms: &PackedTerms<'_>) -> usize {
    let mut definitions: Vec<Option<u32>> =
        (0..terms.chunk_count()).filter_map(|at| terms.chunk(at)).map(|chunk| chunk.definition).collect();
    definitions.sort_unstable();
    definitions.dedup();
    definitions.len()
}

/// The number of terms of each slot: of the lines outside of all definitions, then of each definition.
fn definition_lengths(file: &FileText<'_>) -> Vec<u32> {
    let mut lengths = vec![0u32; file.outer.len() + 1];
    for chunk in (0..file.terms.chunk_count()).filter_map(|at| file.terms.chunk(at)) {
        let definition = chunk.definition;
        let outer =
            definition.and_then(|definition| file.outer.get(definition as usize)).filter(|outer| **outer != u32::MAX);
        for slot in [Some(definition.map_or(0, |definition| definition + 1)), outer.map(|outer| outer + 1)]
            .into_iter()
            .flatten()
        {
            if let Some(length) = lengths.get_mut(slot as usize) {
                *length = length.saturating_add(chunk.length);
            }
        }
    }
    lengths
}

fn saturated_fields(counts: [u16; FIELDS], saturation: f64) -> [f64; FIELDS] {
    counts.map(|count| f64::from(count) / (f64::from(count) + saturation))
}

fn add_scaled<const N: usize>(sums: &mut [f64; N], values: &[f64; N], factor: f64) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * factor);
}

/// The inverse document frequency: not negative, near zero for a term that nearly all texts have.
fn idf(with: usize, all: usize) -> f64 {
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
        let text = |((path, _), words)| FileText { path, terms: PackedTerms::new(words), outer: &[] };
        let files: Vec<FileText<'_>> = files.iter().copied().zip(words.iter().map(Vec::as_slice)).map(text).collect();
        Relevance::new(&Query::new(message), &files)
    }

    #[test]
    fn rare_words_decide() {
        let found = relevance(
            "the parser of cookies",
            &[("a", "parser cookie"), ("b", "parser parser"), ("c", "parser"), ("d", "x")],
        );
        let best: Vec<f64> = found.files.iter().map(FileRelevance::best).collect();
        assert!(best[0] > best[1] && best[1] > 0.0 && best[3] == 0.0, "{best:?}");
    }

    #[test]
    fn file_names_and_folders_are_scored_apart() {
        let found =
            relevance("menus", &[("src/menu.rs", ""), ("menu/src.rs", ""), ("menu/menu.rs", ""), ("menu/mod.rs", "")]);
        let path: Vec<(bool, bool)> =
            found.files.iter().map(|file| (file.path.name > 0.0, file.path.folders > 0.0)).collect();
        assert_eq!(path, [(true, false), (false, true), (true, false), (true, false)]);
        assert_eq!(found.files[0].path, found.files[2].path, "a word counts once");
    }

    #[test]
    fn words_without_relevance_give_no_scores() {
        let found = relevance("please fix this", &[("fix.rs", "fix this")]);
        assert_eq!(found.files, [FileRelevance::default()]);
    }

    #[test]
    fn a_nested_function_counts_for_the_function_around_it() {
        let source = "def outer():\n    def inner():\n        gate()\n    return inner\n\n\ndef other():\n    door()\n";
        let tags = rhumb_syntax::tags(rhumb_syntax::Language::by_name("python").unwrap(), source);
        let mut words = Vec::new();
        FileTerms::new(source, &tags, Depth::Whole).pack(&mut words);
        let file = FileText { path: "a.py", terms: PackedTerms::new(&words), outer: &[u32::MAX, 0, u32::MAX] };
        let found = Relevance::new(&Query::new("gate"), &[file]);
        let definitions: Vec<Option<u32>> =
            found.files[0].definitions.iter().map(|relevance| relevance.definition).collect();
        assert_eq!(definitions, [Some(0), Some(1)]);
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
                prop_assert!([file.best(), file.top_three(), file.coverage, file.path.name].iter().all(|score| score.is_finite() && *score >= 0.0));
                prop_assert!(file.best() <= file.top_three() + 1e-9);
            }
        }
    }
}
