//! The features of files and definitions for a request: numbers that say how well each fits, independent of the repository.
//!
//! Most features are shares of the highest value among the files that are not peripheral, so that one set of weights serves all
//! repositories. The weights are in `learned`; `rhumb-bench rank` fits them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rhumb_syntax::SymbolKind;

use super::definitions::{Definitions, is_function, is_type};
use super::evidence::{self, leaders};
use super::index::MapIndex;
use super::learned;
use super::path;
use super::ranking::Ranking;
use crate::lexical::{FileRelevance, Term, UnitRelevance, each_term};

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
        BestUnit: "best_unit", WORDS;
        TopUnits: "top_units", WORDS;
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
        FileUnits: "file_units", "its file";
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
    pub member: [f64; SymbolFeature::ALL.len() + 1],
}

impl Default for LinearModel {
    fn default() -> Self {
        Self {
            file: learned::FILE.map(|row| row.1),
            symbol: learned::SYMBOL.map(|row| row.1),
            member: learned::MEMBER.map(|row| row.1),
        }
    }
}

impl LinearModel {
    /// The standard errors of the default weights of files.
    pub fn file_errors() -> [f64; FileFeature::ALL.len()] {
        learned::FILE.map(|row| row.2)
    }

    /// The probability that a definition is needed if its file is.
    pub(crate) fn member_chance(&self, row: &SymbolRow) -> f64 {
        let intercept = self.member[SymbolFeature::ALL.len()];
        evidence::logistic(intercept + dot(&row.values, &self.member))
    }

    /// The weight of a feature of files.
    pub fn of_file(&self, feature: FileFeature) -> f64 {
        self.file[feature as usize]
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
                self.member[feature as usize] = 0.0;
            }
        }
    }
}

/// The sum of features times weights.
pub(crate) fn dot(values: &[f64], weights: &[f64]) -> f64 {
    values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// A score of the relevance of a file.
type Score = fn(&FileRelevance) -> f64;

/// Computes the log-odds of the files of a request. Calls `each` with the values of every feature, by file.
pub(crate) fn file_odds(ranking: &Ranking, edited: &[f64], each: &mut dyn FnMut(FileFeature, &[f64])) -> Vec<f64> {
    let index = ranking.index();
    let count = index.len();
    let relevance = &ranking.relevance.files;
    let peripheral: Vec<bool> = index.files().iter().map(|file| path::is_peripheral(&file.path)).collect();
    let mut odds = vec![0.0; count];
    let mut add = |feature: FileFeature, values: &[f64], odds: &mut Vec<f64>| {
        evidence::add(odds, ranking.weights.model.of_file(feature), values);
        each(feature, values);
    };
    let share = |of: &dyn Fn(&FileRelevance) -> f64| shares(relevance.iter().map(of).collect(), &peripheral);
    {
        use FileFeature::*;
        let texts: [(FileFeature, Score); 17] = [
            (TitleWords, |file| file.parts[0]),
            (ProseWords, |file| file.parts[1]),
            (CodeWords, |file| file.parts[2]),
            (ErrorWords, |file| file.parts[3]),
            (BestUnit, FileRelevance::best),
            (TopUnits, FileRelevance::top_three),
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
        ];
        for (feature, of) in texts {
            add(feature, &share(&of), &mut odds);
        }
        let named = named_files(ranking, &peripheral);
        for (feature, values) in named {
            add(feature, &values, &mut odds);
        }
        let commits = ranking.graph.commits().resembling(&ranking.query);
        add(SimilarCommits, &commits.similar, &mut odds);
        add(BestCommit, &commits.best, &mut odds);
        add(Churn, ranking.graph.commits().churn(), &mut odds);
        if ranking.weights.model.of_file(References) != 0.0 {
            add(References, ranking.prominence(), &mut odds);
        }
        add(Edited, edited, &mut odds);
        let excused = |file: usize| ranking.named.has_path(file as u32) || ranking.asks_for_tests;
        let flags =
            |of: &dyn Fn(usize) -> bool| -> Vec<f64> { (0..count).map(|file| f64::from(u8::from(of(file)))).collect() };
        let path = |file: usize| index.path(file as u32);
        add(Peripheral, &flags(&|file| peripheral[file] && !excused(file)), &mut odds);
        add(Test, &flags(&|file| path::is_test(path(file)) && !excused(file)), &mut odds);
        add(Entry, &flags(&|file| path::is_entry(path::stem(path(file)))), &mut odds);
        add(NoCode, &flags(&|file| is_without_code(ranking, file as u32)), &mut odds);
        let size = |file: u32| index.record(file).map_or(0.0, |record| f64::from(record.terms().length()).ln_1p());
        add(Size, &(0..count as u32).map(size).collect::<Vec<_>>(), &mut odds);
        let chat: Vec<(u32, f64)> = ranking.chat_files().map(|file| (file, 1.0)).collect();
        let leaders = leaders(&ranking.shown(&odds), MAX_LEADERS);
        let none = vec![0.0; count];
        let near = |start: &[(u32, f64)]| ranking.graph.neighbourhood(&ranking.weights).near(start);
        add(WithLeaders, &ranking.graph.commits().changed_with(&leaders), &mut odds);
        add(WithChat, &ranking.graph.commits().changed_with(&chat), &mut odds);
        let uses_references =
            ranking.weights.model.of_file(NearLeaders) != 0.0 || ranking.weights.model.of_file(NearChat) != 0.0;
        let (near_leaders, near_chat) = match (uses_references, chat.is_empty()) {
            (false, _) => (none.clone(), none),
            (true, true) => (near(&leaders), none),
            (true, false) => (none, near(&chat)),
        };
        add(NearLeaders, &near_leaders, &mut odds);
        add(NearChat, &near_chat, &mut odds);
    }
    odds
}

/// Values as shares of the highest among the files that are not peripheral.
fn shares(mut values: Vec<f64>, peripheral: &[bool]) -> Vec<f64> {
    let highest = |all: bool| {
        let counted = values.iter().zip(peripheral).filter(|(_, peripheral)| all || !**peripheral);
        counted.map(|(value, _)| *value).fold(0.0, f64::max)
    };
    let top = if highest(false) > 0.0 { highest(false) } else { highest(true) };
    if top > 0.0 {
        values.iter_mut().for_each(|value| *value = (*value / top).min(MAX_SHARE));
    }
    values
}

/// The features of files that come from what the request names.
fn named_files(ranking: &Ranking, peripheral: &[bool]) -> [(FileFeature, Vec<f64>); 9] {
    let (named, count) = (&ranking.named, ranking.index().len());
    let definitions = ranking.graph.all_definitions();
    let dense = |values: &BTreeMap<u32, f64>| {
        let mut all = vec![0.0; count];
        values.iter().for_each(|(&file, &value)| all[file as usize] = value);
        all
    };
    let [mut identifiers, mut words, mut types, mut related] = [(); 4].map(|()| vec![0.0f64; count]);
    for (&definition, named) in &named.definitions {
        let file = definitions.location(definition).0 as usize;
        identifiers[file] += named.identifier * if peripheral[file] { PERIPHERAL_NAME } else { 1.0 };
        words[file] += named.word;
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

/// Whether a file has no code and is neither named nor a README or manifest.
fn is_without_code(ranking: &Ranking, file: u32) -> bool {
    !has_code(ranking.index(), file) && !path::is_landmark(ranking.index().path(file)) && !ranking.named.has_path(file)
}

/// Whether a file has definitions of code, not only sections of a document or keys.
pub(crate) fn has_code(index: &MapIndex, file: u32) -> bool {
    let is_code = |kind: SymbolKind| !matches!(kind, SymbolKind::Section | SymbolKind::Key | SymbolKind::Selector);
    index.definitions(file).any(|entry| is_code(entry.kind()))
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

/// What the features of the definitions of a ranking are relative to.
#[derive(Debug)]
pub(crate) struct SymbolScale {
    /// Highest values among definitions in files that are not peripheral, or among all if the others have no words of the message.
    highest: UnitRelevance,
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
        let (index, odds) = (ranking.index(), &ranking.scores.odds);
        let mut highest = UnitRelevance::default();
        let mut highest_total = 0.0f64;
        let found = || (0u32..).zip(&ranking.relevance.files).filter(|(_, relevance)| !relevance.units.is_empty());
        let is_counted = |file: u32| !path::is_peripheral(index.path(file));
        let all = !found().any(|(file, _)| is_counted(file));
        for (_, relevance) in found().filter(|(file, _)| all || is_counted(*file)) {
            for unit in &relevance.units {
                let raise = |held: &mut [f32], values: &[f32]| {
                    held.iter_mut().zip(values).for_each(|(held, value)| *held = held.max(*value))
                };
                raise(&mut highest.parts, &unit.parts);
                raise(&mut highest.fields, &unit.fields);
                highest.coverage = highest.coverage.max(unit.coverage);
                highest.identifiers = highest.identifiers.max(unit.identifiers);
                highest_total = highest_total.max(unit.total());
            }
        }
        let shares = evidence::odds_shares(odds);
        let mut order: Vec<u32> = (0..odds.len() as u32).collect();
        order.sort_by(|&a, &b| odds[b as usize].total_cmp(&odds[a as usize]).then(a.cmp(&b)));
        let mut positions = vec![0; odds.len()];
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

impl<'r> SymbolFeatures<'r> {
    /// The features of a ranking whose files are scored.
    pub(crate) fn new(ranking: &'r Ranking) -> Self {
        Self { ranking, definitions: ranking.graph.all_definitions(), scale: ranking.symbol_scale() }
    }

    /// The files whose definitions can be relevant: the best ones, and those with words of the message or named definitions.
    pub(crate) fn files(&self) -> Vec<u32> {
        let named = self.ranking.named.definitions.keys().map(|&at| self.definitions.location(at).0);
        let best = (0u32..).zip(&self.scale.positions).filter(|(_, position)| (**position as usize) < MAX_OPENED_FILES);
        let relevant = (0u32..).zip(&self.ranking.relevance.files).filter(|(_, file)| !file.units.is_empty());
        let mut files: Vec<u32> = named.chain(best.map(|file| file.0)).chain(relevant.map(|file| file.0)).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The features of all definitions of a file, in source order.
    pub(crate) fn of_file(&self, file: u32) -> Vec<SymbolRow> {
        let index = self.ranking.index();
        let relevance = self.ranking.relevance.files.get(file as usize);
        let empty = UnitRelevance::default();
        let mut units: HashMap<u32, &UnitRelevance> = HashMap::new();
        for unit in relevance.into_iter().flat_map(|file| &file.units) {
            if let Some(definition) = unit.definition {
                units.insert(definition, unit);
            }
        }
        let range = self.definitions.of_file(file);
        let entries: Vec<_> = index.definitions(file).collect();
        let total = |at: u32| units.get(&at).map_or(0.0, |unit| unit.total());
        let functions = (0u32..).zip(&entries).filter(|(_, entry)| is_function(entry.kind()));
        let best = functions.map(|(at, _)| total(at)).fold(0.0, f64::max);
        let mut by_total: Vec<u32> = (0..entries.len() as u32).filter(|&at| total(at) > 0.0).collect();
        by_total.sort_by(|&a, &b| total(b).total_cmp(&total(a)).then(a.cmp(&b)));
        let mut ranks = vec![by_total.len() as f64; entries.len()];
        by_total.iter().enumerate().for_each(|(rank, &at)| ranks[at as usize] = rank as f64);
        let path = index.path(file);
        let excused = self.ranking.asks_for_tests || self.ranking.named.has_path(file);
        let flag = |flag: bool| f64::from(u8::from(flag));
        let (peripheral, test) = (flag(path::is_peripheral(path) && !excused), flag(path::is_test(path) && !excused));
        let outer = self.definitions.outer(file);
        let row = |(at, entry): (u32, &super::index::IndexedDefinition<'_>)| {
            let number = range.start + at;
            let unit = units.get(&at).copied().unwrap_or(&empty);
            let owner = self.definitions.type_of(number);
            let owner_unit = owner.map(|owner| self.unit(owner)).unwrap_or_default();
            let named = self.ranking.named.definitions.get(&number).copied().unwrap_or_default();
            let weight_of = |types: &BTreeMap<u32, f64>| {
                owner.and_then(|owner| types.get(&owner)).copied().unwrap_or(0.0).min(MAX_TYPE)
            };
            let (type_named, type_related) =
                (weight_of(&self.ranking.named.types), weight_of(&self.ranking.named.related_types));
            let name = entry.name();
            let said =
                index.name_number(name).and_then(|name| self.ranking.named.names.get(&name)).copied().unwrap_or(0.0);
            let mut values = [0.0; SymbolFeature::ALL.len()];
            let mut set = |feature: SymbolFeature, value: f64| values[feature as usize] = value;
            use SymbolFeature::*;
            let of_highest =
                |value: f64, highest: f64| if highest > 0.0 { (value / highest).min(MAX_SHARE) } else { 0.0 };
            let share = |value: f32, highest: f32| of_highest(f64::from(value), f64::from(highest));
            for (part, feature) in [TitleWords, ProseWords, CodeWords, ErrorWords].into_iter().enumerate() {
                set(feature, share(unit.parts[part], self.scale.highest.parts[part]));
            }
            for (field, feature) in [NameField, DocField, CodeField].into_iter().enumerate() {
                set(feature, share(unit.fields[field], self.scale.highest.fields[field]));
            }
            set(InFile, of_highest(total(at), best));
            set(InFileRank, ranks[at as usize].ln_1p());
            set(TitleName, self.title_share(name));
            set(TitleCoverage, share(unit.coverage, self.scale.highest.coverage));
            set(Identifiers, share(unit.identifiers, self.scale.highest.identifiers));
            set(NamedIdentifier, named.identifier.min(MAX_WORDS));
            set(NamedWord, named.word.min(MAX_TYPE));
            set(NamedMember, said * type_named.min(1.0));
            set(NamedRelativeMember, said * type_related.min(1.0));
            set(TypeNamed, type_named);
            set(TypeRelated, type_related);
            set(TypeWords, of_highest(owner_unit.total(), self.scale.highest_total));
            set(TypeName, share(owner_unit.fields[0], self.scale.highest.fields[0]));
            set(Frame, named.frame);
            set(Linked, named.link);
            set(FromChat, self.chat_references(index.name_number(name)));
            set(FileShare, self.scale.log_shares.get(file as usize).copied().unwrap_or(MIN_LOG_SHARE));
            set(FileRank, f64::from(self.scale.positions.get(file as usize).copied().unwrap_or(0)).ln_1p());
            set(FileUnits, (entries.len() as f64).ln_1p());
            set(
                Lines,
                f64::from(entry.end_line().saturating_sub(entry.line()).saturating_add(1)).ln_1p().min(MAX_LOG_LINES),
            );
            set(Dunder, flag(name.starts_with("__")));
            set(Private, flag(name.starts_with('_')));
            let is_constructor =
                matches!(name, "__init__" | "constructor" | "new" | "init" | "initialize" | "__construct")
                    || owner.is_some_and(|_| entry.container() == Some(name));
            set(Constructor, flag(is_constructor));
            set(Nested, flag(outer.get(at as usize).is_some_and(|outer| *outer != super::definitions::NONE)));
            set(Type, flag(is_type(entry.kind())));
            set(Value, flag(!is_type(entry.kind()) && !is_function(entry.kind())));
            set(TestName, flag(super::score::is_test(*entry) && !excused));
            set(Peripheral, peripheral);
            set(Test, test);
            SymbolRow { file, definition: at, values }
        };
        (0u32..).zip(&entries).map(row).collect()
    }

    /// The relevance of a definition.
    fn unit(&self, definition: u32) -> UnitRelevance {
        let (file, at) = self.definitions.location(definition);
        let units = self.ranking.relevance.files.get(file as usize).map_or(&[][..], |file| &file.units);
        let found = units.binary_search_by_key(&Some(at), |unit| unit.definition);
        found.ok().and_then(|at| units.get(at)).cloned().unwrap_or_default()
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
