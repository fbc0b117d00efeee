//! The features of files and definitions for a request: numbers that say how well each fits, independent of the repository.
//!
//! Most features are shares of the highest value among the files that are not peripheral, so that one set of weights serves all
//! repositories. The weights are in `learned`; `rhumb-bench rank` fits them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::definitions::{self, Definitions, is_function, is_type};
use super::evidence::{self, leaders};
use super::index::{FileKind, IndexedDefinition};
use super::learned;
use super::ranking::Ranking;
use crate::lexical::{DefinitionRelevance, FileRelevance, Term, each_term};

/// Maximum share of a feature, for peripheral files that exceed all others.
const MAX_SHARE: f64 = 1.5;
/// Number of leaders: files whose neighbours and co-changed files get evidence.
const MAX_LEADERS: usize = 12;
/// Number of files, best first, of which all definitions are scored.
const MAX_OPENED_FILES: usize = 12;
/// Limits of the sums of named definitions.
const MAX_IDENTIFIERS: f64 = 4.0;
const MAX_WORDS: f64 = 3.0;
const MAX_TYPE: f64 = 2.0;
/// Weight of a named definition in a peripheral file.
const PERIPHERAL_NAME: f64 = 0.2;
/// Minimum logarithm of the share of a file.
const MIN_LOG_SHARE: f64 = -12.0;
/// Maximum logarithm of the number of lines of a definition.
const MAX_LOG_LINES: f64 = 5.0;

/// Declares features: their names in tables, and the labels in explanations.
macro_rules! features {
    ($(#[$doc:meta])* $name:ident { $($feature:ident: $table:literal, $label:expr;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $(#[doc = $table] $feature,)* }

        impl $name {
            /// All features, in the order of the weights.
            pub const ALL: [Self; [$($table),*].len()] = [$(Self::$feature),*];

            /// The name in tables.
            pub fn name(self) -> &'static str {
                match self { $(Self::$feature => $table,)* }
            }

            /// What the feature says, for explanations. Features with the same label are shown as one.
            pub fn label(self) -> &'static str {
                match self { $(Self::$feature => $label,)* }
            }
        }
    };
}

const WORDS: &str = "words of the message in its text";
const PATH_WORDS: &str = "words of the message in its path";
const IDENTIFIERS: &str = "identifiers of the message in its text";
const NAMED: &str = "named in the message";
const TYPES: &str = "types that the message names, and their relatives";
const TRACE: &str = "in a stack trace of the message";
const COMMITS: &str = "commits with a message like this";
const KIND: &str = "its kind: a test, an example, no code";
const SIZE: &str = "its size";
const WORDS_IN_FILE: &str = "words of the message, relative to its file";
const TITLE_NAME: &str = "words of the title in its name";
const SYMBOL_KIND: &str = "its kind: a type, a value, a test";

const WITH_LEADERS: &str = "commits that changed it with the best matches";
const WITH_CHAT: &str = "commits that changed it with the chat's files";
const NEAR_LEADERS: &str = "references between it and the best matches";
const NEAR_CHAT: &str = "references between it and the chat's files";
const REFERENCES: &str = "references to it";
const FROM_CHAT: &str = "references from the chat";

/// The labels of the features that each signal of [`SIGNALS`](super::weights::SIGNALS) removes.
pub(crate) const OF_REQUEST: [&str; 9] =
    [WORDS, WORDS_IN_FILE, TITLE_NAME, PATH_WORDS, IDENTIFIERS, NAMED, TYPES, TRACE, COMMITS];
pub(crate) const OF_HISTORY: [&str; 3] = [COMMITS, WITH_LEADERS, WITH_CHAT];
pub(crate) const OF_GRAPH: [&str; 4] = [REFERENCES, NEAR_LEADERS, NEAR_CHAT, FROM_CHAT];
pub(crate) const OF_PATHS: [&str; 1] = [PATH_WORDS];
pub(crate) const OF_KIND: [&str; 2] = [KIND, SYMBOL_KIND];
pub(crate) const OF_CHAT: [&str; 3] = [WITH_CHAT, NEAR_CHAT, FROM_CHAT];
pub(crate) const OF_SIZE: [&str; 1] = [SIZE];

features! {
    /// A feature of a file.
    FileFeature {
        TitleWords: "title_words", WORDS;
        ProseWords: "prose_words", WORDS;
        CodeWords: "code_words", WORDS;
        ErrorWords: "error_words", WORDS;
        BestDefinition: "best_definition", WORDS;
        TopDefinitions: "top_definitions", WORDS;
        BestTitle: "best_title", WORDS;
        NameField: "name_field", WORDS;
        DocField: "doc_field", WORDS;
        CodeField: "code_field", WORDS;
        TitleCoverage: "title_coverage", WORDS;
        Identifiers: "identifiers", IDENTIFIERS;
        PathTitle: "path_title", PATH_WORDS;
        PathName: "path_name", PATH_WORDS;
        PathFolders: "path_folders", PATH_WORDS;
        PathCode: "path_code", PATH_WORDS;
        PathPrefix: "path_prefix", PATH_WORDS;
        NamedPath: "named_path", NAMED;
        Linked: "linked", NAMED;
        NamedModule: "named_module", NAMED;
        NamedDefinitions: "named_definitions", NAMED;
        NamedWords: "named_words", NAMED;
        NamedType: "named_type", TYPES;
        RelatedType: "related_type", TYPES;
        Frame: "frame", TRACE;
        SimilarCommits: "similar_commits", COMMITS;
        BestCommit: "best_commit", COMMITS;
        Churn: "churn", COMMITS;
        References: "references", REFERENCES;
        Given: "given", NAMED;
        Edited: "edited", "changes that are not committed";
        Peripheral: "peripheral", KIND;
        Test: "test", KIND;
        Entry: "entry", KIND;
        NoCode: "no_code", KIND;
        Size: "size", SIZE;
        WithLeaders: "with_leaders", WITH_LEADERS;
        WithChat: "with_chat", WITH_CHAT;
        NearLeaders: "near_leaders", NEAR_LEADERS;
        NearChat: "near_chat", NEAR_CHAT;
    }
}

features! {
    /// A feature of a definition.
    SymbolFeature {
        TitleWords: "title_words", WORDS;
        ProseWords: "prose_words", WORDS;
        CodeWords: "code_words", WORDS;
        ErrorWords: "error_words", WORDS;
        InFile: "in_file", WORDS_IN_FILE;
        InFileRank: "in_file_rank", WORDS_IN_FILE;
        NameField: "name_field", WORDS;
        DocField: "doc_field", WORDS;
        CodeField: "code_field", WORDS;
        TitleName: "title_name", TITLE_NAME;
        TitleCoverage: "title_coverage", WORDS;
        Identifiers: "identifiers", IDENTIFIERS;
        NamedIdentifier: "named_identifier", NAMED;
        NamedWord: "named_word", NAMED;
        NamedMember: "named_member", NAMED;
        NamedRelativeMember: "named_relative_member", NAMED;
        TypeNamed: "type_named", TYPES;
        TypeRelated: "type_related", TYPES;
        TypeWords: "type_words", TYPES;
        TypeName: "type_name", TYPES;
        Frame: "frame", TRACE;
        Linked: "linked", NAMED;
        FromChat: "from_chat", FROM_CHAT;
        FileShare: "file_share", "its file";
        FileRank: "file_rank", "its file";
        FileDefinitions: "file_definitions", "its file";
        Lines: "lines", SIZE;
        Dunder: "dunder", "the form of its name";
        Private: "private", "the form of its name";
        Constructor: "constructor", "the form of its name";
        Nested: "nested", "a function inside of a function";
        Type: "type", SYMBOL_KIND;
        Value: "value", SYMBOL_KIND;
        TestName: "test_name", SYMBOL_KIND;
        Peripheral: "peripheral", SYMBOL_KIND;
        Test: "test", SYMBOL_KIND;
    }
}

/// The weights of the features.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    /// By [`FileFeature`].
    pub file: [f64; FileFeature::ALL.len()],
    /// For the list of all definitions, by [`SymbolFeature`].
    pub symbol: [f64; SymbolFeature::ALL.len()],
    /// For the definitions of a file that is needed, by [`SymbolFeature`]. The last one is the intercept.
    pub symbol_in_file: [f64; SymbolFeature::ALL.len() + 1],
}

impl Default for LinearModel {
    fn default() -> Self {
        Self {
            file: learned::FILE.map(|row| row.1),
            symbol: learned::SYMBOL.map(|row| row.1),
            symbol_in_file: learned::SYMBOL_IN_FILE.map(|row| row.1),
        }
    }
}

impl LinearModel {
    /// The standard errors of the default weights of files.
    pub fn file_errors() -> [f64; FileFeature::ALL.len()] {
        learned::FILE.map(|row| row.2)
    }

    /// The weight of a feature of files.
    pub fn of_file(&self, feature: FileFeature) -> f64 {
        self.file[feature as usize]
    }

    /// The log-odds of a definition in the list of all definitions.
    pub(crate) fn symbol_log_odds(&self, row: &SymbolRow) -> f64 {
        dot(&row.values, &self.symbol)
    }

    /// The probability that a definition is needed if its file is.
    pub(crate) fn probability_in_file(&self, row: &SymbolRow) -> f64 {
        let intercept = self.symbol_in_file[SymbolFeature::ALL.len()];
        evidence::logistic(intercept + dot(&row.values, &self.symbol_in_file))
    }

    /// Sets the weights of all features with these labels to 0.
    pub(crate) fn remove(&mut self, labels: &[&str]) {
        for feature in FileFeature::ALL {
            if labels.contains(&feature.label()) {
                self.file[feature as usize] = 0.0;
            }
        }
        for feature in SymbolFeature::ALL {
            if labels.contains(&feature.label()) {
                self.symbol[feature as usize] = 0.0;
                self.symbol_in_file[feature as usize] = 0.0;
            }
        }
    }
}

/// The sum of features times weights.
fn dot(values: &[f64], weights: &[f64]) -> f64 {
    values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// A score of the relevance of a file.
type Score = fn(&FileRelevance) -> f64;

/// The features of files that are scores of their relevance. Their values are shares of the highest score.
const SCORES: [(FileFeature, Score); 17] = {
    use FileFeature::*;
    [
        (TitleWords, |file| file.parts[0]),
        (ProseWords, |file| file.parts[1]),
        (CodeWords, |file| file.parts[2]),
        (ErrorWords, |file| file.parts[3]),
        (BestDefinition, FileRelevance::best),
        (TopDefinitions, FileRelevance::top_three),
        (BestTitle, FileRelevance::best_title),
        (NameField, |file| file.fields[0]),
        (DocField, |file| file.fields[1]),
        (CodeField, |file| file.fields[2]),
        (TitleCoverage, |file| file.coverage),
        (Identifiers, |file| file.identifiers),
        (PathTitle, |file| file.path.title),
        (PathName, |file| file.path.name),
        (PathFolders, |file| file.path.folders),
        (PathCode, |file| file.path.code),
        (PathPrefix, |file| file.path.prefix),
    ]
};

/// Computes the log-odds of the files of a request. Calls `each` with the values of every feature, by file. Of those that take long
/// to compute, features without weight are left out unless `all`.
pub(crate) fn file_log_odds(
    ranking: &Ranking,
    edited: &[f64],
    all: bool,
    each: &mut dyn FnMut(FileFeature, &[f64]),
) -> Vec<f64> {
    let mut sums = FileSums { ranking, all, each, log_odds: vec![0.0; ranking.index().len()] };
    for (feature, score) in SCORES {
        let scores = ranking.relevance.files.iter().map(score).collect();
        sums.add(feature, &shares(scores, ranking.index().kinds()));
    }
    for (feature, values) in named_files(ranking) {
        sums.add(feature, &values);
    }
    let commits = ranking.graph.commits();
    let resembling = commits.resembling(&ranking.query);
    sums.add(FileFeature::SimilarCommits, &resembling.similar);
    sums.add(FileFeature::BestCommit, &resembling.best);
    sums.add(FileFeature::Churn, commits.churn());
    if sums.has_use_for(FileFeature::References) {
        sums.add(FileFeature::References, ranking.prominence());
    }
    sums.add(FileFeature::Edited, edited);
    sums.add_kinds();
    sums.add_related_files();
    sums.log_odds
}

/// The log-odds of the files of a request, summed up feature by feature.
struct FileSums<'r, 'e> {
    ranking: &'r Ranking,
    all: bool,
    each: &'e mut dyn FnMut(FileFeature, &[f64]),
    log_odds: Vec<f64>,
}

impl FileSums<'_, '_> {
    fn add(&mut self, feature: FileFeature, values: &[f64]) {
        evidence::add(&mut self.log_odds, self.ranking.weights.model.of_file(feature), values);
        (self.each)(feature, values);
    }

    fn has_use_for(&self, feature: FileFeature) -> bool {
        self.all || self.ranking.weights.model.of_file(feature) != 0.0
    }

    /// Adds the features of the kinds and the sizes of the files. The kind of a file that the request names does not count against it.
    fn add_kinds(&mut self) {
        let (ranking, index) = (self.ranking, self.ranking.index());
        let is_named = |file: u32| ranking.named.has_path(file);
        let flags = |of: &dyn Fn(u32, &FileKind) -> bool| -> Vec<f64> {
            (0u32..).zip(index.kinds()).map(|(file, kind)| flag(of(file, kind))).collect()
        };
        let is_excused = |file: u32| ranking.asks_for_tests || is_named(file);
        self.add(FileFeature::Peripheral, &flags(&|file, kind| kind.is_peripheral && !is_excused(file)));
        self.add(FileFeature::Test, &flags(&|file, kind| kind.is_test && !is_excused(file)));
        self.add(FileFeature::Entry, &flags(&|_, kind| kind.is_entry));
        self.add(FileFeature::NoCode, &flags(&|file, kind| !kind.has_code && !kind.is_landmark && !is_named(file)));
        let size = |file: u32| index.record(file).map_or(0.0, |record| f64::from(record.terms().length()).ln_1p());
        self.add(FileFeature::Size, &(0..index.len() as u32).map(size).collect::<Vec<_>>());
    }

    /// Adds the features of the relation to the files in the chat, and to the files with the highest log-odds so far (the leaders).
    /// Neighbours of leaders count only if the chat has no files.
    fn add_related_files(&mut self) {
        let (ranking, commits) = (self.ranking, self.ranking.graph.commits());
        let chat: Vec<(u32, f64)> = ranking.chat_files().map(|file| (file, 1.0)).collect();
        let leaders = leaders(&ranking.shown(&self.log_odds), MAX_LEADERS);
        self.add(FileFeature::WithLeaders, &commits.changed_with(&leaders));
        self.add(FileFeature::WithChat, &commits.changed_with(&chat));
        let none = vec![0.0; self.log_odds.len()];
        let start = if chat.is_empty() { &leaders } else { &chat };
        let near = match self.has_use_for(FileFeature::NearLeaders) || self.has_use_for(FileFeature::NearChat) {
            true => ranking.graph.neighbourhood(&ranking.weights).near(start),
            false => none.clone(),
        };
        let (near_leaders, near_chat) = if chat.is_empty() { (near, none) } else { (none, near) };
        self.add(FileFeature::NearLeaders, &near_leaders);
        self.add(FileFeature::NearChat, &near_chat);
    }
}

/// 1 if a feature is present, else 0.
fn flag(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}

/// Values as shares of the highest among the files that are not peripheral.
fn shares(mut values: Vec<f64>, kinds: &[FileKind]) -> Vec<f64> {
    let highest = |all: bool| {
        let counted = values.iter().zip(kinds).filter(|(_, kind)| all || !kind.is_peripheral);
        counted.map(|(value, _)| *value).fold(0.0, f64::max)
    };
    let top = if highest(false) > 0.0 { highest(false) } else { highest(true) };
    if top > 0.0 {
        values.iter_mut().for_each(|value| *value = (*value / top).min(MAX_SHARE));
    }
    values
}

/// The features of files that come from what the request names.
fn named_files(ranking: &Ranking) -> [(FileFeature, Vec<f64>); 9] {
    let (named, index) = (&ranking.named, ranking.index());
    let definitions = ranking.graph.all_definitions();
    let dense = |values: &BTreeMap<u32, f64>| {
        let mut all = vec![0.0; index.len()];
        values.iter().for_each(|(&file, &value)| all[file as usize] = value);
        all
    };
    let [mut identifiers, mut words, mut types, mut related] = [(); 4].map(|()| vec![0.0f64; index.len()]);
    for (&definition, named) in &named.definitions {
        let file = definitions.location(definition).0;
        identifiers[file as usize] +=
            named.identifier * if index.kind(file).is_peripheral { PERIPHERAL_NAME } else { 1.0 };
        words[file as usize] += named.word;
    }
    for (sums, named) in [(&mut types, &named.types), (&mut related, &named.related_types)] {
        for (&definition, &weight) in named {
            let file = definitions.location(definition).0 as usize;
            sums[file] = sums[file].max(weight).min(MAX_TYPE);
        }
    }
    identifiers.iter_mut().for_each(|sum| *sum = sum.min(MAX_IDENTIFIERS));
    words.iter_mut().for_each(|sum| *sum = sum.min(MAX_WORDS));
    [
        (FileFeature::NamedPath, dense(&named.paths)),
        (FileFeature::Given, dense(&named.given)),
        (FileFeature::Linked, dense(&named.links)),
        (FileFeature::NamedModule, dense(&named.modules)),
        (FileFeature::NamedDefinitions, identifiers),
        (FileFeature::NamedWords, words),
        (FileFeature::NamedType, types),
        (FileFeature::RelatedType, related),
        (FileFeature::Frame, dense(&named.frames)),
    ]
}

/// A definition with its features.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolRow {
    /// The file.
    pub file: u32,
    /// The definition, by index in the file.
    pub definition: u32,
    /// By [`SymbolFeature`].
    pub values: [f64; SymbolFeature::ALL.len()],
}

impl SymbolRow {
    fn set(&mut self, feature: SymbolFeature, value: f64) {
        self.values[feature as usize] = value;
    }
}

/// What the features of the definitions of a ranking are relative to.
#[derive(Debug)]
pub(crate) struct SymbolScale {
    /// Highest values among definitions in files that are not peripheral, or among all if the others have no words of the message.
    highest: DefinitionRelevance,
    highest_total: f64,
    /// The terms of the title.
    title: BTreeSet<Term>,
    /// Logarithms of the shares of the files, and their positions.
    log_shares: Vec<f64>,
    positions: Vec<u32>,
    /// Names that the files of the chat reference.
    from_chat: BTreeSet<u32>,
}

impl SymbolScale {
    /// The scale of a ranking whose files are scored.
    pub(crate) fn new(ranking: &Ranking) -> Self {
        let (index, log_odds) = (ranking.index(), &ranking.scores.log_odds);
        let mut highest = DefinitionRelevance::default();
        let mut highest_total = 0.0f64;
        let found =
            || (0u32..).zip(&ranking.relevance.files).filter(|(_, relevance)| !relevance.definitions.is_empty());
        let is_counted = |file: u32| !index.kind(file).is_peripheral;
        let all = !found().any(|(file, _)| is_counted(file));
        for (_, relevance) in found().filter(|(file, _)| all || is_counted(*file)) {
            for definition in &relevance.definitions {
                let raise = |held: &mut [f32], values: &[f32]| {
                    held.iter_mut().zip(values).for_each(|(held, value)| *held = held.max(*value))
                };
                raise(&mut highest.parts, &definition.parts);
                raise(&mut highest.fields, &definition.fields);
                highest.coverage = highest.coverage.max(definition.coverage);
                highest.identifiers = highest.identifiers.max(definition.identifiers);
                highest_total = highest_total.max(definition.total());
            }
        }
        let shares = evidence::softmax(log_odds);
        let mut order: Vec<u32> = (0..log_odds.len() as u32).collect();
        order.sort_by(|&a, &b| log_odds[b as usize].total_cmp(&log_odds[a as usize]).then(a.cmp(&b)));
        let mut positions = vec![0; log_odds.len()];
        (0u32..).zip(&order).for_each(|(position, &file)| positions[file as usize] = position);
        let chat = ranking.chat_files();
        Self {
            highest,
            highest_total,
            title: ranking.title_terms(),
            log_shares: shares.iter().map(|share| share.max(f64::MIN_POSITIVE).ln().max(MIN_LOG_SHARE)).collect(),
            positions,
            from_chat: chat.flat_map(|file| index.references(file)).map(|uses| uses.name).collect(),
        }
    }
}

/// The features of the definitions of a ranking.
pub(crate) struct SymbolFeatures<'r> {
    ranking: &'r Ranking,
    definitions: &'r Definitions,
    scale: &'r SymbolScale,
}

/// What the features of the definitions of one file are relative to.
struct FileScale<'r> {
    entries: Vec<IndexedDefinition<'r>>,
    /// By definition: its relevance, if it has words of the message.
    relevance: HashMap<u32, &'r DefinitionRelevance>,
    /// By definition: its relevance to the whole message, and its position by that.
    totals: Vec<f64>,
    positions: Vec<f64>,
    /// The highest relevance of a function.
    best_function: f64,
    /// Whether the request is about tests or names the file, so that its kind does not count.
    is_excused: bool,
}

impl<'r> FileScale<'r> {
    fn new(ranking: &'r Ranking, file: u32) -> Self {
        let entries: Vec<_> = ranking.index().definitions(file).collect();
        let relevant = ranking.relevance.files.get(file as usize).into_iter().flat_map(|file| &file.definitions);
        let relevance: HashMap<u32, &DefinitionRelevance> =
            relevant.filter_map(|relevance| Some((relevance.definition?, relevance))).collect();
        let total = |at: u32| relevance.get(&at).map_or(0.0, |relevance| relevance.total());
        let totals: Vec<f64> = (0..entries.len() as u32).map(total).collect();
        let functions = totals.iter().zip(&entries).filter(|(_, entry)| is_function(entry.kind()));
        let best_function = functions.map(|(total, _)| *total).fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..entries.len()).filter(|&at| totals[at] > 0.0).collect();
        order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]).then(a.cmp(&b)));
        let mut positions = vec![order.len() as f64; entries.len()];
        order.iter().enumerate().for_each(|(position, &at)| positions[at] = position as f64);
        let is_excused = ranking.asks_for_tests || ranking.named.has_path(file);
        Self { entries, relevance, totals, positions, best_function, is_excused }
    }
}

impl<'r> SymbolFeatures<'r> {
    /// The features of a ranking whose files are scored.
    pub(crate) fn new(ranking: &'r Ranking) -> Self {
        Self { ranking, definitions: ranking.graph.all_definitions(), scale: ranking.symbol_scale() }
    }

    /// The files whose definitions can be relevant: the best ones, and those with words of the message or named definitions.
    pub(crate) fn files(&self) -> Vec<u32> {
        let named = self.ranking.named.definitions.keys().map(|&at| self.definitions.location(at).0);
        let best = (0u32..).zip(&self.scale.positions).filter(|(_, position)| (**position as usize) < MAX_OPENED_FILES);
        let relevant = (0u32..).zip(&self.ranking.relevance.files).filter(|(_, file)| !file.definitions.is_empty());
        let mut files: Vec<u32> = named.chain(best.map(|file| file.0)).chain(relevant.map(|file| file.0)).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The features of all definitions of a file, in source order.
    pub(crate) fn of_file(&self, file: u32) -> Vec<SymbolRow> {
        let scale = FileScale::new(self.ranking, file);
        let row = |(at, entry): (u32, &IndexedDefinition<'_>)| {
            let mut row = SymbolRow { file, definition: at, values: [0.0; SymbolFeature::ALL.len()] };
            self.set_words(&mut row, &scale, entry.name());
            self.set_names_and_types(&mut row, entry.name());
            self.set_file(&mut row, &scale);
            self.set_form(&mut row, &scale, entry);
            row
        };
        (0u32..).zip(&scale.entries).map(row).collect()
    }

    /// Sets the features of the words in the definition.
    fn set_words(&self, row: &mut SymbolRow, scale: &FileScale<'_>, name: &str) {
        use SymbolFeature::*;
        let (at, highest) = (row.definition as usize, &self.scale.highest);
        let empty = DefinitionRelevance::default();
        let own = scale.relevance.get(&row.definition).copied().unwrap_or(&empty);
        for (part, feature) in [TitleWords, ProseWords, CodeWords, ErrorWords].into_iter().enumerate() {
            row.set(feature, share(own.parts[part], highest.parts[part]));
        }
        for (field, feature) in [NameField, DocField, CodeField].into_iter().enumerate() {
            row.set(feature, share(own.fields[field], highest.fields[field]));
        }
        row.set(InFile, share_of(scale.totals[at], scale.best_function));
        row.set(InFileRank, scale.positions[at].ln_1p());
        row.set(TitleName, self.title_share(name));
        row.set(TitleCoverage, share(own.coverage, highest.coverage));
        row.set(Identifiers, share(own.identifiers, highest.identifiers));
    }

    /// Sets the features of what the request names, of the type that the definition is a member of, and of the chat.
    fn set_names_and_types(&self, row: &mut SymbolRow, name: &str) {
        use SymbolFeature::*;
        let (number, request) = (self.number(row), &self.ranking.named);
        let named = request.definitions.get(&number).copied().unwrap_or_default();
        row.set(NamedIdentifier, named.identifier.min(MAX_WORDS));
        row.set(NamedWord, named.word.min(MAX_TYPE));
        row.set(Frame, named.frame);
        row.set(Linked, named.link);
        let owner = self.definitions.type_of(number);
        let weight_of = |types: &BTreeMap<u32, f64>| {
            owner.and_then(|owner| types.get(&owner)).copied().unwrap_or(0.0).min(MAX_TYPE)
        };
        let (type_named, type_related) = (weight_of(&request.types), weight_of(&request.related_types));
        let name = self.ranking.index().name_number(name);
        let said = name.and_then(|name| request.names.get(&name)).copied().unwrap_or(0.0);
        row.set(NamedMember, said * type_named.min(1.0));
        row.set(NamedRelativeMember, said * type_related.min(1.0));
        row.set(TypeNamed, type_named);
        row.set(TypeRelated, type_related);
        let owner = owner.map(|owner| self.relevance(owner)).unwrap_or_default();
        row.set(TypeWords, share_of(owner.total(), self.scale.highest_total));
        row.set(TypeName, share(owner.fields[0], self.scale.highest.fields[0]));
        row.set(FromChat, self.chat_references(name));
    }

    /// Sets the features of the file.
    fn set_file(&self, row: &mut SymbolRow, scale: &FileScale<'_>) {
        use SymbolFeature::*;
        let (file, kind) = (row.file as usize, self.ranking.index().kind(row.file));
        row.set(FileShare, self.scale.log_shares.get(file).copied().unwrap_or(MIN_LOG_SHARE));
        row.set(FileRank, f64::from(self.scale.positions.get(file).copied().unwrap_or(0)).ln_1p());
        row.set(FileDefinitions, (scale.entries.len() as f64).ln_1p());
        row.set(Peripheral, flag(kind.is_peripheral && !scale.is_excused));
        row.set(Test, flag(kind.is_test && !scale.is_excused));
    }

    /// Sets the features of the kind, the size and the name.
    fn set_form(&self, row: &mut SymbolRow, scale: &FileScale<'_>, entry: &IndexedDefinition<'_>) {
        use SymbolFeature::*;
        let (name, kind) = (entry.name(), entry.kind());
        let lines = entry.end_line().saturating_sub(entry.line()).saturating_add(1);
        row.set(Lines, f64::from(lines).ln_1p().min(MAX_LOG_LINES));
        row.set(Dunder, flag(name.starts_with("__")));
        row.set(Private, flag(name.starts_with('_')));
        let is_member = self.definitions.type_of(self.number(row)).is_some();
        let is_constructor = matches!(name, "__init__" | "constructor" | "new" | "init" | "initialize" | "__construct")
            || (is_member && entry.container() == Some(name));
        row.set(Constructor, flag(is_constructor));
        let outer = self.definitions.outer(row.file).get(row.definition as usize);
        row.set(Nested, flag(outer.is_some_and(|outer| *outer != definitions::NONE)));
        row.set(Type, flag(is_type(kind)));
        row.set(Value, flag(!is_type(kind) && !is_function(kind)));
        row.set(TestName, flag(definitions::is_test(name, entry.container()) && !scale.is_excused));
    }

    /// The number of a definition among those of all files.
    fn number(&self, row: &SymbolRow) -> u32 {
        self.definitions.of_file(row.file).start + row.definition
    }

    /// The relevance of a definition.
    fn relevance(&self, definition: u32) -> DefinitionRelevance {
        let (file, at) = self.definitions.location(definition);
        let all = self.ranking.relevance.files.get(file as usize).map_or(&[][..], |file| &file.definitions);
        let found = all.binary_search_by_key(&Some(at), |relevance| relevance.definition);
        found.ok().and_then(|at| all.get(at)).cloned().unwrap_or_default()
    }

    /// The share of the title's words that a name has.
    fn title_share(&self, name: &str) -> f64 {
        let mut terms = Vec::new();
        each_term(name, |term| terms.push(term));
        terms.sort_unstable();
        terms.dedup();
        terms.retain(|term| self.scale.title.contains(term));
        terms.len() as f64 / self.scale.title.len().max(1) as f64
    }

    /// References from the chat to a name: 1 divided by the number of files that define it.
    fn chat_references(&self, name: Option<u32>) -> f64 {
        let name = name.filter(|name| self.scale.from_chat.contains(name));
        name.map_or(0.0, |name| 1.0 / self.ranking.graph.definers(name).len().max(1) as f64)
    }
}

/// A value as a share of the highest.
fn share_of(value: f64, highest: f64) -> f64 {
    if highest > 0.0 { (value / highest).min(MAX_SHARE) } else { 0.0 }
}

fn share(value: f32, highest: f32) -> f64 {
    share_of(f64::from(value), f64::from(highest))
}
