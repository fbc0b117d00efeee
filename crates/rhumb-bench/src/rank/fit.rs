//! `rank fit`: fits the weights, measures them on repositories that they were not fitted on, and prints the table for the library.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use rhumb::error::UserError;
use rhumb::headless::print;
use rhumb_index::repo_map::{FileFeature, LinearModel, SymbolFeature};
use rhumb_index::retrieval::MAX_RERANKED;

use super::features::{CaseFeatures, FILE_FEATURES, SYMBOL_FEATURES, SymbolCandidate, parse};
use super::logit::{Choice, Fit};
use super::{machine, usage};
use crate::args::{RankFitArgs, WeightTable};

/// Minimum logarithm of the share of a file.
const MIN_LOG_SHARE: f64 = -12.0;
/// Ranks at which definitions are counted. The last one is the number of functions that `codebase_rerank` shows: more than are found among
/// them, no order of the weak model can find.
const SYMBOL_RANKS: [usize; 3] = [5, 10, MAX_RERANKED];
/// How much an issue counts in the fit of definitions; a commit counts as 1. The functions of an issue are those that its text leads to;
/// a commit changes others as well. With 404 issues and 616 commits it adds 2.0 to function @10 of issues and takes 0.4 from that of
/// commits.
const ISSUE_WEIGHT: f64 = 3.0;

pub(super) fn command(args: &RankFitArgs) -> Result<u8, UserError> {
    let mut cases = Vec::new();
    let mut files: Vec<_> =
        fs::read_dir(&args.features).map_err(machine)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "features"));
    files.sort();
    for path in files {
        let bytes = fs::read(&path).map_err(machine)?;
        cases.extend(parse(&bytes).ok_or_else(|| {
            usage(format!("{} is damaged or has other features: write it again with rank features", path.display()))
        })?);
    }
    if cases.is_empty() {
        return Err(usage(format!("there are no features in {}", args.features.display())));
    }
    let used = Used::without(&args.without);
    let scores =
        if args.current { Scores::current(&mut cases) } else { Scores::crossed(&mut cases, args.folds.get(), &used) };
    print(&scores.report(&cases))?;
    if let Some(path) = &args.table {
        put_file_log_odds(&mut cases, &scores.files);
        let source = fs::read_to_string(path).map_err(machine)?;
        let tables = if args.only.is_empty() { &WeightTable::ALL } else { &args.only[..] };
        let fitted = with_tables(&source, tables, &cases, &used)
            .ok_or_else(|| usage(format!("{} does not have these tables", path.display())))?;
        fs::write(path, fitted).map_err(machine)?;
    }
    Ok(0)
}

/// Which features are used.
struct Used {
    file: [bool; FILE_FEATURES],
    symbol: [bool; SYMBOL_FEATURES],
}

impl Used {
    /// All features but those whose label or name is in `labels`.
    fn without(labels: &[String]) -> Self {
        let kept = |label: &str, name: &str| !labels.iter().any(|left_out| left_out == label || left_out == name);
        Self {
            // Not in the data: uncommitted changes, and files that a caller gives.
            file: FileFeature::ALL.map(|feature| {
                !matches!(feature, FileFeature::Edited | FileFeature::Given) && kept(feature.label(), feature.name())
            }),
            symbol: SymbolFeature::ALL.map(|feature| kept(feature.label(), feature.name())),
        }
    }

    /// Those of definitions and the intercept.
    fn with_intercept(&self) -> Vec<bool> {
        self.symbol.into_iter().chain([true]).collect()
    }
}

fn file_choices<'c>(cases: impl Iterator<Item = &'c CaseFeatures>) -> Vec<Choice> {
    let choice = |case: &CaseFeatures| Choice {
        weight: 1.0,
        rows: case.files.iter().map(|file| file.values.iter().map(|value| f64::from(*value)).collect()).collect(),
        chosen: case.files.iter().map(|file| file.is_gold).collect(),
    };
    cases.map(choice).collect()
}

/// The functions of each case. Types and values are left out, since the issue cases name none; their weights are set by hand.
fn symbol_choices<'c>(cases: impl Iterator<Item = &'c CaseFeatures>) -> Vec<Choice> {
    let choice = |case: &CaseFeatures| {
        let functions = || case.symbols.iter().filter(|symbol| is_candidate(symbol));
        Choice {
            weight: if case.is_issue() { ISSUE_WEIGHT } else { 1.0 },
            rows: functions().map(|symbol| symbol.values.iter().map(|value| f64::from(*value)).collect()).collect(),
            chosen: functions().map(|symbol| symbol.is_gold).collect(),
        }
    };
    cases.map(choice).collect()
}

/// For each definition of a changed file, whether it was to be found. A list has the features of the definition with a 1 for the intercept,
/// and zeros: the logit of this choice is a logistic regression. Issues name only functions.
fn in_file_choices<'c>(cases: impl Iterator<Item = &'c CaseFeatures>) -> Vec<Choice> {
    let choices = |case: &CaseFeatures| {
        let choice = |symbol: &SymbolCandidate| Choice {
            weight: 1.0,
            rows: vec![in_file_row(symbol), vec![0.0; SYMBOL_FEATURES + 1]],
            chosen: vec![symbol.is_gold, !symbol.is_gold],
        };
        in_changed_files(case).into_iter().map(choice).collect::<Vec<_>>()
    };
    cases.flat_map(choices).collect()
}

/// The definitions of the changed files.
fn in_changed_files(case: &CaseFeatures) -> Vec<&SymbolCandidate> {
    let is_changed = |symbol: &SymbolCandidate| case.files.get(symbol.file as usize).is_some_and(|file| file.is_gold);
    let is_counted = |symbol: &&SymbolCandidate| is_changed(symbol) && (!case.is_issue() || is_function(symbol));
    case.symbols.iter().filter(is_counted).collect()
}

/// The features of a definition, and a 1. Those of its file do not count: it is known to be changed. Neither does its place among the
/// definitions of the file: with it, a map of 4,096 tokens names fewer of the changed ones.
fn in_file_row(symbol: &SymbolCandidate) -> Vec<f64> {
    let mut row: Vec<f64> = symbol.values.iter().map(|value| f64::from(*value)).collect();
    for unused in [SymbolFeature::FileShare, SymbolFeature::FileRank, SymbolFeature::InFileRank] {
        row[unused as usize] = 0.0;
    }
    row.push(1.0);
    row
}

fn is_function(symbol: &SymbolCandidate) -> bool {
    symbol.values[SymbolFeature::Type as usize] == 0.0 && symbol.values[SymbolFeature::Value as usize] == 0.0
}

/// Whether a definition is a function, and among the best or one to be found.
fn is_candidate(symbol: &SymbolCandidate) -> bool {
    is_function(symbol) && (!symbol.is_added || symbol.is_gold || symbol.is_strict)
}

/// Sets the features of definitions that come from the log-odds of their files.
fn put_file_log_odds(cases: &mut [CaseFeatures], log_odds: &[Vec<f64>]) {
    for (case, log_odds) in cases.iter_mut().zip(log_odds) {
        let order = order(log_odds);
        let mut positions = vec![0usize; log_odds.len()];
        order.iter().enumerate().for_each(|(position, &file)| positions[file] = position);
        let highest = log_odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_total = log_odds.iter().map(|log_odds| (log_odds - highest).exp()).sum::<f64>().ln();
        for symbol in &mut case.symbols {
            let (log_share, position) = match log_odds.get(symbol.file as usize) {
                Some(own) => ((own - highest - log_total).max(MIN_LOG_SHARE), positions[symbol.file as usize]),
                None => (MIN_LOG_SHARE, log_odds.len()),
            };
            symbol.values[SymbolFeature::FileShare as usize] = log_share as f32;
            symbol.values[SymbolFeature::FileRank as usize] = (position as f64).ln_1p() as f32;
        }
    }
}

fn order(log_odds: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..log_odds.len()).collect();
    order.sort_by(|&a, &b| log_odds[b].total_cmp(&log_odds[a]).then(a.cmp(&b)));
    order
}

/// The log-odds of the candidates of each case.
struct Scores {
    files: Vec<Vec<f64>>,
    symbols: Vec<Vec<f64>>,
    /// Those of [`in_changed_files`].
    in_file: Vec<Vec<f64>>,
}

impl Scores {
    /// By the weights of the library.
    fn current(cases: &mut [CaseFeatures]) -> Self {
        let model = LinearModel::default();
        let fit = |weights: &[f64]| Fit { weights: weights.to_vec(), errors: Vec::new() };
        let files = log_odds(&file_choices(cases.iter()), &fit(&model.file));
        put_file_log_odds(cases, &files);
        let symbols = log_odds(&symbol_choices(cases.iter()), &fit(&model.symbol));
        let in_file = cases.iter().map(|case| in_file_log_odds(case, &fit(&model.symbol_in_file))).collect();
        Self { files, symbols, in_file }
    }

    /// By weights that were fitted on other repositories: these are divided into `folds` groups.
    fn crossed(cases: &mut [CaseFeatures], folds: usize, used: &Used) -> Self {
        let repositories: BTreeSet<String> = cases.iter().map(|case| case.repository.clone()).collect();
        let fold: BTreeMap<String, usize> = repositories.into_iter().zip((0..folds).cycle()).collect();
        let of_case: Vec<usize> = cases.iter().map(|case| fold[&case.repository]).collect();
        let with_intercept = used.with_intercept();
        let crossed = |choices: &[Choice], used: &[bool]| {
            let mut scores = vec![Vec::new(); choices.len()];
            for fold in 0..folds {
                let others: Vec<Choice> = choices
                    .iter()
                    .zip(&of_case)
                    .filter(|(_, of_case)| **of_case != fold)
                    .map(|(choice, _)| choice.clone())
                    .collect();
                let fit = Fit::new(&others, used);
                for (at, choice) in choices.iter().enumerate().filter(|(at, _)| of_case[*at] == fold) {
                    scores[at] = choice.rows.iter().map(|row| fit.log_odds(row)).collect();
                }
            }
            scores
        };
        let files = crossed(&file_choices(cases.iter()), &used.file);
        put_file_log_odds(cases, &files);
        let symbols = crossed(&symbol_choices(cases.iter()), &used.symbol);
        let mut in_file = vec![Vec::new(); cases.len()];
        for fold in 0..folds {
            let others = cases.iter().zip(&of_case).filter(|(_, of_case)| **of_case != fold).map(|(case, _)| case);
            let fit = Fit::new(&in_file_choices(others), &with_intercept);
            for (at, case) in cases.iter().enumerate().filter(|(at, _)| of_case[*at] == fold) {
                in_file[at] = in_file_log_odds(case, &fit);
            }
        }
        Self { files, symbols, in_file }
    }

    /// The accuracy by group and by repository.
    fn report(&self, cases: &[CaseFeatures]) -> String {
        let mut rows: BTreeMap<(u8, String), Accuracy> = BTreeMap::new();
        for (at, case) in cases.iter().enumerate().filter(|(_, case)| !case.has_chat) {
            let accuracy = Accuracy::of(case, &self.files[at], &self.symbols[at], &self.in_file[at]);
            let kind = if case.is_issue() { "all issues" } else { "all commits" };
            for (level, name) in [(0, kind), (1, case.group.as_str()), (2, case.repository.as_str())] {
                rows.entry((level, name.to_owned())).or_default().add(&accuracy);
            }
        }
        let mut text = format!(
            "{:<34}{:>6}{:>7}{:>7}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}{:>8}{:>8}{:>10}{:>8}\n",
            "",
            "cases",
            "file@1",
            "@5",
            "@10",
            "R@10",
            "nDCG@10",
            "func@5",
            "@10",
            "@60",
            "strict@5",
            "@10",
            "@60",
            "in-file@5",
            "@10"
        );
        for ((level, name), accuracy) in rows {
            let name = format!("{:indent$}{name}", "", indent = 2 * usize::from(level));
            accuracy.write(&mut text, &name);
        }
        text
    }
}

fn log_odds(choices: &[Choice], fit: &Fit) -> Vec<Vec<f64>> {
    choices.iter().map(|choice| choice.rows.iter().map(|row| fit.log_odds(row)).collect()).collect()
}

/// The log-odds of [`in_changed_files`].
fn in_file_log_odds(case: &CaseFeatures, fit: &Fit) -> Vec<f64> {
    in_changed_files(case).into_iter().map(|symbol| fit.log_odds(&in_file_row(symbol))).collect()
}

/// Sums of the accuracies of cases: whether all that was to be found is among the first k.
#[derive(Debug, Clone, Default)]
struct Accuracy {
    cases: f64,
    /// At 1, 5 and 10.
    files: [f64; 3],
    recall: f64,
    gain: f64,
    symbol_cases: f64,
    /// At [`SYMBOL_RANKS`].
    symbols: [f64; 3],
    strict_cases: f64,
    strict: [f64; 3],
    in_file_cases: f64,
    /// The share of what was to be found among the first 5 and 10 definitions of the changed files.
    in_file: [f64; 2],
}

impl Accuracy {
    fn of(case: &CaseFeatures, file_log_odds: &[f64], symbol_log_odds: &[f64], in_file_log_odds: &[f64]) -> Self {
        let files: Vec<bool> = order(file_log_odds)
            .into_iter()
            .filter(|&at| !case.files[at].is_added)
            .map(|at| case.files[at].is_gold)
            .collect();
        let found = |k: usize| files.iter().take(k).filter(|gold| **gold).count();
        let all = |count: usize, gold: u32| f64::from(u8::from(gold > 0 && count >= gold as usize));
        let ideal: f64 = (0..case.gold_files.min(10)).map(|at| 1.0 / f64::from(at + 2).log2()).sum();
        let gain: f64 =
            (0u32..10).zip(&files).filter(|(_, gold)| **gold).map(|(at, _)| 1.0 / f64::from(at + 2).log2()).sum();
        let mut listed = BTreeSet::new();
        let functions: Vec<&SymbolCandidate> = case.symbols.iter().filter(|symbol| is_candidate(symbol)).collect();
        // The functions of an issue are counted in the case; those of a commit are the listed ones.
        let gold_names: BTreeSet<u32> =
            functions.iter().filter(|symbol| symbol.is_gold).map(|symbol| symbol.name).collect();
        let gold_symbols = if case.is_issue() { case.gold_symbols } else { gold_names.len() as u32 };
        let symbols: Vec<&SymbolCandidate> = order(symbol_log_odds)
            .into_iter()
            .map(|at| functions[at])
            .filter(|symbol| !symbol.is_added && listed.insert(symbol.name))
            .collect();
        let symbol = |k: usize, gold: u32, strict: bool| {
            let is_gold = |symbol: &&&SymbolCandidate| if strict { symbol.is_strict } else { symbol.is_gold };
            all(symbols.iter().take(k).filter(is_gold).count(), gold)
        };
        let definitions = in_changed_files(case);
        let changed: Vec<bool> = order(in_file_log_odds).into_iter().map(|at| definitions[at].is_gold).collect();
        let changed_in = |k: usize| changed.iter().take(k).filter(|gold| **gold).count() as f64;
        let all_changed = changed_in(changed.len());
        Self {
            cases: 1.0,
            files: [1, 5, 10].map(|k| all(found(k), case.gold_files)),
            recall: found(10) as f64 / f64::from(case.gold_files.max(1)),
            gain: gain / ideal.max(f64::MIN_POSITIVE),
            symbol_cases: f64::from(u8::from(gold_symbols > 0)),
            symbols: SYMBOL_RANKS.map(|k| symbol(k, gold_symbols, false)),
            strict_cases: f64::from(u8::from(case.gold_strict > 0)),
            strict: SYMBOL_RANKS.map(|k| symbol(k, case.gold_strict, true)),
            in_file_cases: f64::from(u8::from(all_changed > 0.0)),
            in_file: [5, 10].map(|k| changed_in(k) / all_changed.max(1.0)),
        }
    }

    fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.recall += other.recall;
        self.gain += other.gain;
        self.symbol_cases += other.symbol_cases;
        self.strict_cases += other.strict_cases;
        self.files.iter_mut().zip(other.files).for_each(|(sum, value)| *sum += value);
        self.symbols.iter_mut().zip(other.symbols).for_each(|(sum, value)| *sum += value);
        self.strict.iter_mut().zip(other.strict).for_each(|(sum, value)| *sum += value);
        self.in_file_cases += other.in_file_cases;
        self.in_file.iter_mut().zip(other.in_file).for_each(|(sum, value)| *sum += value);
    }

    fn write(&self, text: &mut String, name: &str) {
        let percent = |sum: f64, of: f64| if of > 0.0 { format!("{:.1}", 100.0 * sum / of) } else { "-".to_owned() };
        let [one, five, ten] = self.files.map(|sum| percent(sum, self.cases));
        let [symbol_five, symbol_ten, symbol_all] = self.symbols.map(|sum| percent(sum, self.symbol_cases));
        let [strict_five, strict_ten, strict_all] = self.strict.map(|sum| percent(sum, self.strict_cases));
        let [in_file_five, in_file_ten] = self.in_file.map(|sum| percent(sum, self.in_file_cases));
        let (recall, gain) = (self.recall / self.cases, self.gain / self.cases);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{name:<34}{:>6}{one:>7}{five:>7}{ten:>7}{recall:>8.3}{gain:>8.3}{symbol_five:>8}{symbol_ten:>8}{symbol_all:>8}{strict_five:>9}{strict_ten:>8}{strict_all:>8}{in_file_five:>10}{in_file_ten:>8}",
            self.cases
        );
    }
}

/// `source` with new weights in these tables, fitted on all cases. `None` if it lacks one of them.
fn with_tables(source: &str, tables: &[WeightTable], cases: &[CaseFeatures], used: &Used) -> Option<String> {
    let mut source = source.to_owned();
    for table in tables {
        let start = source.find(&format!("/// {}", table.subject()))?;
        let end = start + source.get(start..)?.find("];\n")?;
        source.replace_range(start..end, &weights(*table, cases, used));
    }
    Some(source)
}

/// A table of weights as Rust source, without its last line.
fn weights(table: WeightTable, cases: &[CaseFeatures], used: &Used) -> String {
    let current = LinearModel::default();
    let symbol_names = SymbolFeature::ALL.map(SymbolFeature::name);
    let in_file_names: Vec<&str> = symbol_names.into_iter().chain(["intercept"]).collect();
    let with_intercept = used.with_intercept();
    let (name, choices, names, used, current) = match table {
        WeightTable::Files => (
            "FILE",
            file_choices(cases.iter()),
            &FileFeature::ALL.map(FileFeature::name)[..],
            &used.file[..],
            &current.file[..],
        ),
        WeightTable::Symbols => {
            ("SYMBOL", symbol_choices(cases.iter()), &symbol_names[..], &used.symbol[..], &current.symbol[..])
        }
        WeightTable::SymbolsInFile => {
            ("SYMBOL_IN_FILE", in_file_choices(cases.iter()), &in_file_names[..], &with_intercept[..], &[][..])
        }
    };
    let fit = Fit::new(&choices, used);
    let repositories: BTreeSet<&str> = cases.iter().map(|case| case.repository.as_str()).collect();
    let mut text = format!(
        "/// {} Fitted on {} cases of {} repositories.\npub(crate) const {name}: [(&str, f64, f64); {}] = [\n",
        table.subject(),
        cases.len(),
        repositories.len(),
        names.len()
    );
    for (at, feature) in names.iter().enumerate() {
        // What the data lack keeps its weight.
        let by_hand = current.get(at).filter(|_| matches!(*feature, "given" | "edited" | "type" | "value"));
        let weight = by_hand.copied().unwrap_or(fit.weights[at]);
        text += &format!("    (\"{feature}\", {weight:.3}, {:.3}),\n", fit.errors[at]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::features::FileCandidate;
    use super::*;

    const LEARNED: &str = include_str!("../../../rhumb-index/src/repo_map/learned.rs");

    /// A case in which the file and the definition with this feature are to be found.
    fn case(file: FileFeature, symbol: SymbolFeature) -> CaseFeatures {
        let file_candidate = |is_gold: bool| {
            let mut values = [0.0; FILE_FEATURES];
            values[file as usize] = f32::from(u8::from(is_gold));
            FileCandidate { is_gold, is_added: false, values }
        };
        let symbol_candidate = |is_gold: bool| {
            let mut values = [0.0; SYMBOL_FEATURES];
            values[symbol as usize] = f32::from(u8::from(is_gold));
            let name = u32::from(is_gold);
            SymbolCandidate { is_gold, is_strict: false, is_added: false, file: 0, name, values }
        };
        CaseFeatures {
            repository: "owner/name".to_owned(),
            files: vec![file_candidate(true), file_candidate(false)],
            symbols: vec![symbol_candidate(true), symbol_candidate(false)],
            ..CaseFeatures::default()
        }
    }

    /// The rows of a table in Rust source, with the name of each feature and its weight.
    fn rows(source: &str, table: &str) -> Vec<(String, f64)> {
        let (_, rest) = source.split_once(&format!("const {table}: ")).unwrap();
        let rows = rest.split_once("];\n").unwrap().0.lines().skip(1);
        let row = |line: &str| {
            let mut parts = line.trim().trim_start_matches('(').split(", ");
            (parts.next().unwrap().trim_matches('"').to_owned(), parts.next().unwrap().parse().unwrap())
        };
        rows.map(row).collect()
    }

    #[test]
    fn tables_are_replaced_by_fitted_ones() {
        let cases = [case(FileFeature::References, SymbolFeature::InFile)];
        let used = Used::without(&[]);
        let fitted = with_tables(LEARNED, &WeightTable::ALL, &cases, &used).unwrap();
        let names = |table| rows(&fitted, table).into_iter().map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(names("FILE"), FileFeature::ALL.map(FileFeature::name));
        assert_eq!(names("SYMBOL"), SymbolFeature::ALL.map(SymbolFeature::name));
        assert_eq!(names("SYMBOL_IN_FILE").last().map(String::as_str), Some("intercept"));
        assert_eq!(fitted.matches("Fitted on 1 cases of 1 repositories.").count(), 3);
        assert_eq!(fitted.matches("];\n").count(), LEARNED.matches("];\n").count());
        // The only feature that the cases have gets a weight; those that they cannot have keep theirs.
        let weighted: Vec<(String, f64)> = rows(&fitted, "FILE").into_iter().filter(|row| row.1 != 0.0).collect();
        let names: Vec<&str> = weighted.iter().map(|row| row.0.as_str()).collect();
        assert_eq!(names, ["references", "given", "edited"]);
        assert!(weighted[0].1 > 0.0 && weighted[1].1 == LinearModel::default().of_file(FileFeature::Given));
    }

    #[test]
    fn only_the_chosen_table_is_replaced() {
        let cases = [case(FileFeature::References, SymbolFeature::InFile)];
        let used = Used::without(&["references to it".to_owned()]);
        let fitted = with_tables(LEARNED, &[WeightTable::Files], &cases, &used).unwrap();
        assert!(rows(&fitted, "FILE").iter().all(|row| row.0 != "references" || row.1 == 0.0));
        for table in ["SYMBOL", "SYMBOL_IN_FILE"] {
            assert_eq!(rows(&fitted, table), rows(LEARNED, table));
        }
        assert_eq!(with_tables("const FILE: [f64; 0] = [];\n", &WeightTable::ALL, &cases, &used), None);
    }
}
