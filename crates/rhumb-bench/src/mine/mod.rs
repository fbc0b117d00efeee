//! `rhumb-bench mine`: makes cases for `rhumb-bench context` of the commits of a repository. The request is the message, the expected
//! result the changed files and definitions.

mod changes;
mod message;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::print_json;
use rhumb_syntax::{Language, is_generated};
use rhumb_text::iso_date;
use rhumb_workspace::git::{GitError, Revisions};
use serde::Serialize;

use crate::args::MineArgs;
use changes::{ChangedSymbol, changed_symbols, is_code, is_test_path, mentions};
use message::MessageCleaner;

/// Maximum number of changed source files of a case.
const MAX_GOLD_FILES: usize = 6;
/// Minimum number of files of the tree of a case. In a smaller tree every ranking finds the files.
const MIN_TREE_FILES: usize = 30;
/// Maximum number of changed definitions of a case. More are changed mechanically.
const MAX_SYMBOLS: usize = 40;
/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// A mined case, in the format of `rhumb-bench context` with fields that describe it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct MinedCase {
    id: String,
    repo: String,
    split: &'static str,
    lang: &'static str,
    commit: String,
    parent: String,
    date: String,
    query: String,
    subject: String,
    gold: Vec<ChangedFile>,
    gold_tests: Vec<String>,
    symbols: Vec<ChangedSymbol>,
    chat: String,
    mentions_file: bool,
    mentions_symbol: bool,
    tree_files: usize,
}

/// A source file that a commit modified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ChangedFile {
    path: String,
    /// Number of removed and added lines.
    changed_lines: usize,
    #[serde(skip)]
    lang: &'static str,
}

/// Why cases cannot be mined.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MineError {
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A pattern for messages is malformed.
    #[error("cannot compile a pattern for commit messages")]
    Pattern(#[from] regex::Error),
    /// No commit is suitable.
    #[error("no commit of {} is suitable as a case", .git_dir.display())]
    None {
        /// The repository.
        git_dir: PathBuf,
    },
}

/// Writes the cases, one JSON object on each line.
///
/// # Errors
/// The repository cannot be read, none of its commits is suitable, or the output cannot be written.
pub(crate) fn command(args: &MineArgs) -> Result<u8, UserError> {
    let name = args.repo.clone().unwrap_or_else(|| folder_name(&args.git_dir));
    let cases = mine(&args.git_dir, &name, args.limit.get(), args.seed).map_err(|error| match &error {
        MineError::Git(source) => crate::git_error(&error, source),
        MineError::Pattern(source) => UserError::new(ErrorKind::Machine, &error, source.to_string()),
        MineError::None { .. } => UserError::new(ErrorKind::Usage, &error, "the repository needs more history"),
    })?;
    let Some(out) = &args.out else {
        cases.iter().try_for_each(|case| print_json(&serde_json::json!(case)))?;
        return Ok(0);
    };
    let text: String = cases.iter().map(|case| format!("{}\n", serde_json::json!(case))).collect();
    let failed = |error| UserError::new(ErrorKind::Machine, format!("cannot write {}: {error}", out.display()), "");
    fs::write(out, text).map_err(failed)?;
    Ok(0)
}

/// The name of the folder that contains a repository, without `.git`.
fn folder_name(git_dir: &Path) -> String {
    let full = git_dir.canonicalize().unwrap_or_else(|_| git_dir.to_owned());
    let names = full.iter().rev().map(|name| name.to_string_lossy());
    names.map(|name| name.trim_end_matches(".git").to_owned()).find(|name| !name.is_empty()).unwrap_or_default()
}

/// Returns up to `limit` cases, newest first. The history is divided into `limit` parts of equal length, and one case is drawn from
/// each. If a part has no suitable commit, another part provides two.
///
/// # Errors
/// The repository cannot be read, or none of its commits is suitable.
pub(crate) fn mine(git_dir: &Path, repo: &str, limit: usize, seed: u64) -> Result<Vec<MinedCase>, MineError> {
    let miner = Miner { revisions: Revisions::open(git_dir)?, cleaner: MessageCleaner::new()?, repo };
    let has_request = |nth: &usize| {
        miner.revisions.header(*nth).is_some_and(|header| miner.cleaner.request(&header.message).is_some())
    };
    let with_request: Vec<usize> = (0..miner.revisions.len()).filter(has_request).collect();
    let mut rng = Rng::with_seed(seed);
    let case = |nth: usize| Some((nth, miner.case(nth)?));
    let (mut found, mut unused) = (BTreeMap::new(), Vec::new());
    for part in with_request.chunks(with_request.len().div_ceil(limit).max(1)) {
        let mut part = part.to_vec();
        rng.shuffle(&mut part);
        let mut rest = part.into_iter();
        found.extend(rest.find_map(case));
        unused.extend(rest);
    }
    rng.shuffle(&mut unused);
    let missing = limit.saturating_sub(found.len());
    found.extend(unused.into_iter().filter_map(case).take(missing));
    if found.is_empty() {
        return Err(MineError::None { git_dir: git_dir.to_owned() });
    }
    Ok(found.into_values().collect())
}

struct Miner<'m> {
    revisions: Revisions,
    cleaner: MessageCleaner,
    /// The name of the repository.
    repo: &'m str,
}

impl Miner<'_> {
    /// The case of commit number `nth`. `None` if the commit is not suitable, or if objects are missing.
    fn case(&self, nth: usize) -> Option<MinedCase> {
        let header = self.revisions.header(nth)?;
        let request = self.cleaner.request(&header.message)?;
        let modified = self.revisions.modified(nth).into_iter().filter(|path| is_code(path));
        let (gold_tests, paths): (Vec<String>, Vec<String>) = modified.partition(|path| is_test_path(path));
        if paths.is_empty() || paths.len() > MAX_GOLD_FILES {
            return None;
        }
        let tree_files = self.revisions.files_before(nth);
        if tree_files < MIN_TREE_FILES {
            return None;
        }
        let (mut gold, mut symbols) = (Vec::new(), Vec::new());
        for path in paths {
            let (before, after) = self.revisions.texts(nth, &path)?;
            if is_generated(&path, &before) {
                continue;
            }
            let (changed_lines, changed) = changed_symbols(&path, &before, &after);
            symbols.extend(changed);
            let lang = Language::detect(&path, &before)?.id;
            gold.push(ChangedFile { path, changed_lines, lang });
        }
        if symbols.is_empty() || symbols.len() > MAX_SYMBOLS {
            return None;
        }
        // Of files with equally many changed lines, the first.
        let (chat, lang) =
            gold.iter().rev().max_by_key(|file| file.changed_lines).map(|file| (file.path.clone(), file.lang))?;
        let short = self.repo.rsplit('/').next().unwrap_or(self.repo);
        Some(MinedCase {
            id: format!("{short}-{}", header.id.get(..10)?),
            repo: self.repo.to_owned(),
            split: "train",
            lang,
            date: iso_date(u64::try_from(header.seconds).ok()? / DAY),
            mentions_file: gold.iter().any(|file| mentions(&request.query.to_lowercase(), &file.stem().to_lowercase())),
            mentions_symbol: symbols.iter().any(|symbol| mentions(&request.query, symbol.name())),
            commit: header.id,
            parent: header.parent,
            query: request.query,
            subject: request.subject,
            gold,
            gold_tests,
            symbols,
            chat,
            tree_files,
        })
    }
}

impl ChangedFile {
    /// The file name up to its first dot.
    fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.split('.').next().unwrap_or(name)
    }
}
