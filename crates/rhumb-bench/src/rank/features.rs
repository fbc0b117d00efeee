//! `rank features`: ranks each case with the current weights and stores the features of the best candidates and of what was to be found.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhumb::error::UserError;
use rhumb::host::{SurveyStart, survey};
use rhumb::store::MapStore;
use rhumb_index::repo_map::{FileFeature, MapRequest, Ranking, SymbolFeature, TagGraph, Weights};
use rhumb_workspace::Root;
use rhumb_workspace::git::Checkout;
use xxhash_rust::xxh3::xxh3_64;

use super::case::{GoldName, RankCase, read};
use super::{machine, usage};
use crate::args::RankFeaturesArgs;
use crate::{git_error, scratch_folder};

/// Number of files and of definitions that are kept for a case, best first by the current weights.
const KEPT_FILES: usize = 200;
const KEPT_SYMBOLS: usize = 400;

/// The start of a file of features. The key of [`key`] follows on the first line.
const MAGIC: &[u8] = b"rank features ";

/// Number of features.
pub const FILE_FEATURES: usize = FileFeature::ALL.len();
pub const SYMBOL_FEATURES: usize = SymbolFeature::ALL.len();

/// The candidates of a case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CaseFeatures {
    pub id: String,
    pub repository: String,
    pub group: String,
    /// Whether a file is in the chat.
    pub has_chat: bool,
    /// Number of files to be found, listed or not.
    pub gold_files: u32,
    /// Number of definitions to be found, and of those with changed lines only.
    pub gold_symbols: u32,
    pub gold_strict: u32,
    pub files: Vec<FileCandidate>,
    pub symbols: Vec<SymbolCandidate>,
}

impl CaseFeatures {
    /// Whether it is an issue, and not a commit.
    pub fn is_issue(&self) -> bool {
        self.group == "issue"
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct FileCandidate {
    pub is_gold: bool,
    /// Whether it is listed only because it was to be found: it is not among the best.
    pub is_added: bool,
    pub values: [f32; FILE_FEATURES],
}

#[derive(Debug, Clone, PartialEq)]
pub struct SymbolCandidate {
    pub is_gold: bool,
    pub is_strict: bool,
    pub is_added: bool,
    /// The file, as an index in the files of the case; [`u32::MAX`] if it is not listed.
    pub file: u32,
    /// Equal for definitions with the same path, container and name.
    pub name: u32,
    pub values: [f32; SYMBOL_FEATURES],
}

/// Reads case files. The cases of a repository are in the order of the files.
pub(super) fn cases_by_repository(files: &[PathBuf]) -> Result<BTreeMap<String, Vec<RankCase>>, UserError> {
    let mut by_repository: BTreeMap<String, Vec<RankCase>> = BTreeMap::new();
    for path in files {
        let text =
            fs::read_to_string(path).map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let case =
                read(line).map_err(|error| usage(format!("{}:{number} is not a case: {error}", path.display())))?;
            by_repository.entry(case.repository.clone()).or_default().push(case);
        }
    }
    Ok(by_repository)
}

pub(super) fn command(args: &RankFeaturesArgs) -> Result<u8, UserError> {
    fs::create_dir_all(&args.out).map_err(machine)?;
    let weights = Weights::default();
    for (repository, cases) in cases_by_repository(&args.cases)? {
        let folder = repository.replace('/', "+");
        let out = args.out.join(format!("{folder}.features"));
        let cases: Vec<RankCase> = cases.into_iter().step_by(args.stride.get()).collect();
        let key = key(&cases, &weights);
        if is_current(&out, &key) {
            continue;
        }
        let features = of_repository(&args.mirrors.join(&folder).join("repo"), &cases, &weights)?;
        write(&out, &key, &features).map_err(machine)?;
        rhumb::headless::print(&format!("{repository}: {} cases\n", features.len()))?;
    }
    Ok(0)
}

/// Identifies what the features of a repository depend on: the cases, the weights, and which features and candidates are kept.
fn key(cases: &[RankCase], weights: &Weights) -> String {
    let kept = (KEPT_FILES, KEPT_SYMBOLS, FileFeature::ALL, SymbolFeature::ALL);
    format!("{:016x}", xxh3_64(format!("{kept:?} {cases:?} {weights:?}").as_bytes()))
}

/// Whether a file has the features with this key, undamaged.
fn is_current(path: &Path, key: &str) -> bool {
    let is_of_key = |bytes: &[u8]| split_key(bytes).is_some_and(|(own, _)| own == key.as_bytes());
    fs::read(path).is_ok_and(|bytes| is_of_key(&bytes) && parse(&bytes).is_some())
}

/// The key of a file of features, and the cases.
fn split_key(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    Some((&rest[..end], &rest[end + 1..]))
}

/// The features of all cases of a repository. A case whose commit is missing is reported and left out.
fn of_repository(git_dir: &Path, cases: &[RankCase], weights: &Weights) -> Result<Vec<CaseFeatures>, UserError> {
    let (folder, kept) = (scratch_folder()?, scratch_folder()?);
    let checkout = Checkout::new(git_dir, folder.path()).map_err(|error| git_error(&error, &error))?;
    let root = Root::at(checkout.folder()).map_err(machine)?;
    let store = MapStore::new(kept.path(), root.path(), root.path());
    let mut all = Vec::new();
    for case in cases {
        if let Err(error) = checkout.to(&case.commit) {
            rhumb::headless::print_message(&format!("{}: {error}", case.id));
            continue;
        }
        let start = SurveyStart { store: Some(&store), with_terms: true, ..SurveyStart::default() };
        let survey = survey(&root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default();
        // If saving fails, the next case parses more files.
        drop(survey.save(&store));
        let graph = Arc::new(TagGraph::new(Arc::clone(survey.graph.index()), &survey.history, weights));
        all.push(of_case(case, &graph, weights, ""));
        if !case.chat.is_empty() && case.files.len() > 1 {
            all.push(of_case(case, &graph, weights, &case.chat));
        }
    }
    Ok(all)
}

fn of_case(case: &RankCase, graph: &Arc<TagGraph>, weights: &Weights, chat: &str) -> CaseFeatures {
    let chat_files = (!chat.is_empty()).then(|| chat.to_owned()).into_iter().collect();
    let request = MapRequest { message: case.query.clone(), chat_files, ..MapRequest::default() };
    let ranking = Ranking::new(graph, &request, weights);
    let gold: Vec<&String> = case.files.iter().filter(|path| *path != chat).collect();
    let wanted = |names: &[GoldName]| names.iter().filter(|name| name.path != chat).count() as u32;
    let mut features = CaseFeatures {
        id: case.id.clone(),
        repository: case.repository.clone(),
        group: case.group.clone(),
        has_chat: !chat.is_empty(),
        gold_files: gold.len() as u32,
        gold_symbols: wanted(&case.symbols),
        gold_strict: wanted(&case.strict),
        ..CaseFeatures::default()
    };
    let columns = ranking.file_features();
    let index = ranking.index();
    let is_listed = |path: &str| path != chat;
    let order: Vec<u32> = ranking.ranked_files().into_iter().filter(|&file| is_listed(index.path(file))).collect();
    let mut positions: BTreeMap<u32, u32> = BTreeMap::new();
    for (position, &file) in order.iter().enumerate() {
        let is_gold = gold.iter().any(|path| *path == index.path(file));
        if position >= KEPT_FILES && !is_gold {
            continue;
        }
        let mut values = [0.0; FILE_FEATURES];
        columns.iter().for_each(|(feature, column)| values[*feature as usize] = column[file as usize] as f32);
        positions.insert(file, features.files.len() as u32);
        features.files.push(FileCandidate { is_gold, is_added: position >= KEPT_FILES, values });
    }
    let of_model = |values: &[f64; SYMBOL_FEATURES]| -> f64 {
        values.iter().zip(&weights.model.symbol).map(|(value, weight)| value * weight).sum()
    };
    let mut rows = ranking.symbol_features();
    rows.retain(|row| is_listed(index.path(row.file)));
    rows.sort_by(|a, b| {
        of_model(&b.values).total_cmp(&of_model(&a.values)).then((a.file, a.definition).cmp(&(b.file, b.definition)))
    });
    let mut names: BTreeMap<(u32, String), u32> = BTreeMap::new();
    for (position, row) in rows.iter().enumerate() {
        let Some(entry) = index.definition(row.file, row.definition) else { continue };
        let path = index.path(row.file);
        let qualified = match ranking.container_path(row.file, row.definition) {
            Some(container) => format!("{container}.{}", entry.name()),
            None => entry.name().to_owned(),
        };
        let is_among = |gold: &[GoldName]| {
            let is_it = |gold: &GoldName| {
                gold.path == path
                    && if gold.line > 0 {
                        gold.line == entry.line() && gold.name == entry.name()
                    } else {
                        gold.name == qualified
                    }
            };
            gold.iter().any(is_it)
        };
        let (is_gold, is_strict) = (is_among(&case.symbols), is_among(&case.strict));
        if position >= KEPT_SYMBOLS && !is_gold && !is_strict && !gold.iter().any(|gold| *gold == path) {
            continue;
        }
        let next = names.len() as u32;
        features.symbols.push(SymbolCandidate {
            is_gold,
            is_strict,
            is_added: position >= KEPT_SYMBOLS,
            file: positions.get(&row.file).copied().unwrap_or(u32::MAX),
            name: *names.entry((row.file, qualified)).or_insert(next),
            values: row.values.map(|value| value as f32),
        });
    }
    features
}

fn write(path: &Path, key: &str, cases: &[CaseFeatures]) -> std::io::Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    out.write_all(MAGIC)?;
    writeln!(out, "{key}")?;
    for case in cases {
        let head = [&case.id, &case.repository, &case.group].map(|text| text.replace(['\t', '\n'], " ")).join("\t");
        writeln!(
            out,
            "{head}\t{}\t{}\t{}\t{}\t{}\t{}",
            u8::from(case.has_chat),
            case.gold_files,
            case.gold_symbols,
            case.gold_strict,
            case.files.len(),
            case.symbols.len()
        )?;
        for file in &case.files {
            out.write_all(&[u8::from(file.is_gold), u8::from(file.is_added)])?;
            write_values(&mut out, &file.values)?;
        }
        for symbol in &case.symbols {
            out.write_all(&[u8::from(symbol.is_gold), u8::from(symbol.is_strict), u8::from(symbol.is_added)])?;
            out.write_all(&symbol.file.to_le_bytes())?;
            out.write_all(&symbol.name.to_le_bytes())?;
            write_values(&mut out, &symbol.values)?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn write_values(out: &mut impl std::io::Write, values: &[f32]) -> std::io::Result<()> {
    values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

/// Reads a file of `rank features`; `None` if it is damaged or has other features.
pub fn parse(bytes: &[u8]) -> Option<Vec<CaseFeatures>> {
    let (_, mut bytes) = split_key(bytes)?;
    let mut cases = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
        bytes = bytes.get(end + 1..)?;
        let parts: Vec<&str> = head.split('\t').collect();
        let number = |at: usize| parts.get(at)?.parse::<u32>().ok();
        let mut case = CaseFeatures {
            id: (*parts.first()?).to_owned(),
            repository: (*parts.get(1)?).to_owned(),
            group: (*parts.get(2)?).to_owned(),
            has_chat: number(3)? == 1,
            gold_files: number(4)?,
            gold_symbols: number(5)?,
            gold_strict: number(6)?,
            ..CaseFeatures::default()
        };
        for _ in 0..number(7)? {
            let ([gold, added], rest) = bytes.split_first_chunk()?;
            let values = values(rest)?;
            bytes = rest.get(4 * FILE_FEATURES..)?;
            case.files.push(FileCandidate { is_gold: *gold == 1, is_added: *added == 1, values });
        }
        for _ in 0..number(8)? {
            let ([gold, strict, added], rest) = bytes.split_first_chunk()?;
            let (file, rest) = rest.split_first_chunk()?;
            let (name, rest) = rest.split_first_chunk()?;
            let values = values(rest)?;
            bytes = rest.get(4 * SYMBOL_FEATURES..)?;
            case.symbols.push(SymbolCandidate {
                is_gold: *gold == 1,
                is_strict: *strict == 1,
                is_added: *added == 1,
                file: u32::from_le_bytes(*file),
                name: u32::from_le_bytes(*name),
                values,
            });
        }
        bytes = bytes.strip_prefix(b"\n")?;
        cases.push(case);
    }
    Some(cases)
}

fn values<const N: usize>(bytes: &[u8]) -> Option<[f32; N]> {
    let (words, _) = bytes.as_chunks::<4>();
    let mut values = [0.0; N];
    for (value, word) in values.iter_mut().zip(words.get(..N)?) {
        *value = f32::from_le_bytes(*word);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_back_as_they_were_written() {
        let mut case =
            CaseFeatures { id: "a".into(), repository: "o/n".into(), group: "rust".into(), ..CaseFeatures::default() };
        case.files.push(FileCandidate { is_gold: true, is_added: false, values: [0.5; FILE_FEATURES] });
        let values = [1.5; SYMBOL_FEATURES];
        case.symbols.push(SymbolCandidate {
            is_gold: false,
            is_strict: true,
            is_added: true,
            file: 7,
            name: 9,
            values,
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), "key", &[case.clone(), case.clone()]).unwrap();
        let bytes = fs::read(file.path()).unwrap();
        assert_eq!(parse(&bytes), Some(vec![case.clone(), case]));
        assert_eq!(parse(&bytes[..bytes.len() - 3]), None);
    }

    #[test]
    fn features_are_kept_only_for_the_same_cases_and_weights() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.features");
        let cases: Vec<RankCase> = (0..4)
            .map(|number| RankCase { id: number.to_string(), ..read(super::super::RANK_CASE).unwrap() })
            .collect();
        let weights = Weights::default();
        let key_of =
            |stride: usize, weights: &Weights| key(&cases.iter().step_by(stride).cloned().collect::<Vec<_>>(), weights);
        let first = key_of(2, &weights);
        assert!(!is_current(&path, &first), "there is no file");
        write(&path, &first, &[CaseFeatures::default()]).unwrap();
        assert!(is_current(&path, &key_of(2, &weights)));
        assert!(!is_current(&path, &key_of(1, &weights)), "another stride");
        assert!(!is_current(&path, &key_of(2, &weights.without("history"))), "other weights");
        fs::write(&path, &fs::read(&path).unwrap()[..MAGIC.len() + first.len() + 3]).unwrap();
        assert!(!is_current(&path, &first), "a damaged file");
    }

    #[test]
    fn a_feature_without_weight_is_stored_too() {
        use rhumb_index::repo_map::{History, MapFile, MapIndex};
        let tags = |definitions: &[&str], references: &[&str]| {
            let source: String = definitions.iter().map(|name| format!("def {name}():\n    pass\n\n\n")).collect();
            let uses: String = references.iter().map(|name| format!("{name}()\n")).collect();
            rhumb_syntax::tags(rhumb_syntax::Language::by_name("python").unwrap(), &(source + &uses))
        };
        let file = |path: &str, tags| MapFile { path: path.to_owned(), tags: Arc::new(tags), ..MapFile::default() };
        let files = [
            file("gate.py", tags(&["lift"], &[])),
            file("pier.py", tags(&["moor"], &["lift"])),
            file("a.py", tags(&[], &["lift"])),
        ];
        let mut weights = Weights::default();
        weights.model.file[FileFeature::References as usize] = 0.0;
        let graph = Arc::new(TagGraph::new(Arc::new(MapIndex::of(&files)), &History::default(), &weights));
        let case = RankCase { query: "lift the gate".to_owned(), ..read(super::super::RANK_CASE).unwrap() };
        let features = of_case(&case, &graph, &weights, "");
        let values: Vec<f32> =
            features.files.iter().map(|file| file.values[FileFeature::References as usize]).collect();
        assert!(values[0] > values[1] && values[0] > 0.0, "{values:?}");
    }
}
