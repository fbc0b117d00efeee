//! The tools with which a model reads the repository: files, listings, searches and definitions. Nothing here changes anything.
//!
//! All of them see the files on disk with the changes of the proposal so far. Files outside of the root, in `.git`, or with the name of a
//! key or password file are refused. A text of which a call returns a part is masked first, because a part of a secret is not recognised;
//! results are masked as a whole where they are taken over.

mod grep;
mod scope;
mod symbols;

use crate::host::Survey;
use rhumb_agent::Action;
use rhumb_edit::{FileChange, PendingFile};
use rhumb_text::count;
use rhumb_text::lines::body;
use rhumb_text::sanitize::visible_line;
use rhumb_tokens::TokenCounter;
use rhumb_workspace::{ReadError, Root, is_secret_name, resolve_links};
use scope::Scope;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of lines that one call reads. A read is smaller than a result may be, so that its last line, which says how to read on,
/// is not cut off.
const MAX_READ_LINES: usize = 500;
/// Maximum size in bytes of the numbered lines that one call reads.
const MAX_READ_BYTES: usize = 20_000;
/// Maximum length in bytes of one line of a file. Longer lines are data or minified code.
const MAX_LINE_BYTES: usize = 2_000;
/// Maximum number of listed files.
const MAX_LISTED: usize = 500;
/// Maximum number of files whose further matches are counted one by one.
const MAX_COUNTED_FILES: usize = 50;
/// Maximum length of an argument in bytes.
const MAX_ARGUMENT_BYTES: usize = 4_000;
/// Maximum length in bytes of a path or name for which similar ones are looked up.
const MAX_MISSPELT_BYTES: usize = 200;
/// Maximum number of similar paths or names after a misspelt one.
const MAX_SIMILAR: usize = 5;
/// Maximum number of files in a note.
const MAX_NOTED: usize = 10;

/// The repository as the agent sees it: the files on disk, with the changes of the proposal so far.
#[derive(Clone, Copy)]
pub(crate) struct RepositoryView<'a> {
    /// The root.
    pub(crate) root: &'a Root,
    /// All files of the root, sorted.
    pub(crate) paths: &'a [String],
    /// The proposal so far.
    pub(crate) pending: &'a [PendingFile],
    /// The index; `None` if the repository is not indexed yet.
    pub(crate) survey: Option<&'a Survey>,
    /// Whether secrets are masked in texts that are read in part.
    pub(crate) masks: bool,
    /// Counts tokens for the model.
    pub(crate) counter: &'a dyn TokenCounter,
}

/// The result of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolText {
    /// The text for the model.
    pub(crate) text: String,
    /// The whole text, if `text` is cut and no other call reads the rest.
    pub(crate) rest: Option<String>,
}

impl ToolText {
    fn whole(text: String) -> Self {
        Self { text, rest: None }
    }

    /// The first `most` lines, then `cut_note`, which gets the lines that are left out; or all lines if they are no more.
    fn of_lines(lines: &[String], most: usize, cut_note: impl FnOnce(&[String]) -> String) -> Self {
        let joined = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        match lines.get(most..) {
            Some(rest @ [_, ..]) => {
                let shown = joined(lines.get(..most).unwrap_or_default());
                Self { text: shown + &cut_note(rest), rest: Some(joined(lines)) }
            }
            _ => Self::whole(joined(lines)),
        }
    }

    /// Appends a note, unless it is empty.
    fn with_note(mut self, note: &str) -> Self {
        if !note.is_empty() {
            let _ = writeln!(self.text, "[{note}]");
        }
        self
    }
}

/// Matching lines, grouped by file.
#[derive(Default)]
struct MatchList {
    /// The lines, with path and number.
    lines: Vec<String>,
    /// For each file: the path, the number of its matches, and that of all lines after its own were added.
    by_file: Vec<(String, usize, usize)>,
}

impl MatchList {
    /// Adds a file with `total` matches, some or all of them as lines.
    fn add(&mut self, path: &str, total: usize, lines: impl IntoIterator<Item = String>) {
        self.lines.extend(lines);
        if total > 0 {
            self.by_file.push((path.to_owned(), total, self.lines.len()));
        }
    }

    fn total(&self) -> usize {
        self.by_file.iter().map(|(_, total, _)| total).sum()
    }

    /// The first `most` lines, and the number of further ones by file.
    fn into_text(mut self, most: usize) -> ToolText {
        let total = self.total();
        let missing = total.saturating_sub(self.lines.len());
        if missing > 0 {
            self.lines.push(format!("… {missing} more"));
        }
        let further = |_: &[String]| {
            let mut shown_before = 0;
            let further = self.by_file.iter().filter_map(|(path, total, end)| {
                let shown = most.min(*end) - shown_before;
                shown_before += shown;
                (shown < *total).then(|| format!("{path}: {}\n", total - shown))
            });
            let further: Vec<String> = further.collect();
            let unnamed = further.len().saturating_sub(MAX_COUNTED_FILES);
            let unnamed = if unnamed > 0 { format!("and {}\n", count(unnamed, "more file")) } else { String::new() };
            let named: String = further.into_iter().take(MAX_COUNTED_FILES).collect();
            format!("[{most} of {total} lines. Further ones by file:\n{named}{unnamed}]\n")
        };
        ToolText::of_lines(&self.lines, most, further)
    }
}

/// Performs an action that only reads. Blocks while it reads files. After `stop` is set, it returns early.
///
/// # Errors
/// The action does not read the repository, or cannot be performed. The error is a text for the model.
pub(crate) fn perform(action: &Action, view: &RepositoryView<'_>, stop: &AtomicBool) -> Result<ToolText, String> {
    if arguments(action).into_iter().flatten().any(|argument| argument.len() > MAX_ARGUMENT_BYTES) {
        return Err(format!("An argument is longer than {MAX_ARGUMENT_BYTES} bytes."));
    }
    match action {
        Action::ReadFile { path, start_line, end_line } => read_file(view, path, *start_line, *end_line),
        Action::ListFiles { pattern } => list_files(view, pattern.as_deref()),
        Action::Grep { pattern, path, ignore_case } => grep::grep(view, (pattern, *ignore_case), path.as_deref(), stop),
        Action::Search { query } => symbols::search(view, query),
        Action::Outline { path, query } => symbols::outline(view, path.as_deref(), query.as_deref()),
        Action::Definition { symbol, path } => symbols::definition(view, symbol, path.as_deref(), stop),
        Action::References { symbol, path } => symbols::references(view, symbol, path.as_deref(), stop),
        _ => Err("This call does not read the repository.".to_owned()),
    }
}

/// The texts in a call.
fn arguments(action: &Action) -> [Option<&String>; 2] {
    match action {
        Action::ReadFile { path, .. } => [Some(path), None],
        Action::ListFiles { pattern } => [pattern.as_ref(), None],
        Action::Search { query } => [Some(query), None],
        Action::Grep { pattern, path, .. } => [Some(pattern), path.as_ref()],
        Action::Outline { path, query } => [path.as_ref(), query.as_ref()],
        Action::Definition { symbol, path } | Action::References { symbol, path } => [Some(symbol), path.as_ref()],
        _ => [None, None],
    }
}

impl<'a> RepositoryView<'a> {
    /// A path as a model writes it, relative to the root and without `.` components; empty for the root. Paths that lead out of the root
    /// stay as they are, and are refused when the file is read.
    fn relative(&self, written: &str) -> String {
        let written = written.trim();
        let root = self.root.path().to_string_lossy();
        let below = written.strip_prefix(&*root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let absolute = below.is_none() && written.starts_with('/');
        let parts = below.unwrap_or(written).split('/').filter(|part| !matches!(*part, "" | "."));
        let path = parts.collect::<Vec<_>>().join("/");
        if absolute { format!("/{path}") } else { path }
    }

    /// What the proposal makes of a file: its text, or `Some(None)` if the file is deleted or renamed; `None` if it does not change.
    fn proposed(&self, path: &str) -> Option<Option<&'a Arc<str>>> {
        let changed = self.pending.iter().find(|pending| pending.file.path == path);
        let is_source =
            |pending: &PendingFile| matches!(&pending.file.change, FileChange::Rename { from } if from == path);
        changed
            .map(|pending| pending.file.proposed.as_ref())
            .or_else(|| self.pending.iter().any(is_source).then_some(None))
    }

    /// The files with a text in the proposal.
    fn proposed_paths(&self) -> impl Iterator<Item = &'a str> {
        self.pending.iter().filter(|pending| pending.file.proposed.is_some()).map(|pending| pending.file.path.as_str())
    }

    /// All files, sorted.
    fn paths(&self) -> Vec<&'a str> {
        let mut paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        if !self.pending.is_empty() {
            paths.retain(|path| self.proposed(path).is_none());
            paths.extend(self.proposed_paths());
            paths.sort_unstable();
        }
        paths
    }

    /// The text of a listed file that is not secret.
    fn listed_text(&self, path: &str) -> Result<Arc<str>, ReadError> {
        if is_secret_name(path) {
            return Err(ReadError::Outside { path: path.to_owned(), reason: "it may hold keys or passwords" });
        }
        match self.proposed(path) {
            Some(text) => text.map(Arc::clone).ok_or_else(|| ReadError::NotFound(path.to_owned())),
            None => rhumb_workspace::read(self.root, path).map(|snapshot| snapshot.text),
        }
    }

    /// The text with its secrets masked, if they are not to be sent.
    fn masked(&self, text: &Arc<str>) -> Arc<str> {
        match self.masks.then(|| rhumb_text::secrets::masked(text)) {
            Some(Cow::Owned(masked)) => masked.into(),
            _ => Arc::clone(text),
        }
    }

    /// The text of a file that a model names, listed or not. The error is for the model.
    fn named_text(&self, path: &str) -> Result<Arc<str>, String> {
        let target = resolve_links(self.root, path);
        if is_secret_name(path) || is_secret_name(&target) {
            return Err(format!(
                "{} was not read: files with such names hold keys or passwords. Ask the user if its content is needed.",
                visible_line(path)
            ));
        }
        let error = match self.proposed(path).or_else(|| self.proposed(&target)) {
            Some(Some(text)) => return Ok(self.masked(text)),
            Some(None) => ReadError::NotFound(path.to_owned()),
            None => match rhumb_workspace::read(self.root, path) {
                Ok(snapshot) => return Ok(self.masked(&snapshot.text)),
                Err(error) => error,
            },
        };
        let shown = format!("{error}.");
        let advice = match error {
            ReadError::NotFound(_) => self.similar_note(path),
            ReadError::NotAFile(_) => " It is a folder without listed files, or a special file.".to_owned(),
            ReadError::Outside { .. } => " Only files inside the repository and outside .git can be read.".to_owned(),
            _ => String::new(),
        };
        Err(visible_line(&shown).into_owned() + &advice)
    }

    /// Names files that a misspelt path may mean: those with its file name, else the most similar path or file name.
    fn similar_note(&self, path: &str) -> String {
        let paths = self.paths();
        let name = rhumb_text::fuzzy::file_name(path);
        let named = |name: &str| {
            let same = |known: &&&str| rhumb_text::fuzzy::file_name(known).eq_ignore_ascii_case(name);
            paths.iter().filter(same).take(MAX_SIMILAR).copied().collect::<Vec<_>>()
        };
        let mut similar = named(name);
        if similar.is_empty() && path.len() <= MAX_MISSPELT_BYTES {
            similar.extend(rhumb_text::nearest(path, paths.iter().copied()));
            let names = paths.iter().map(|known| rhumb_text::fuzzy::file_name(known));
            similar.extend(rhumb_text::nearest(name, names).map(named).unwrap_or_default());
            similar.sort_unstable();
            similar.dedup();
        }
        if similar.is_empty() {
            return " list_files shows the files.".to_owned();
        }
        let shown: Vec<_> = similar.iter().map(|path| visible_line(path)).collect();
        format!(" Did you mean {}?", shown.join(", "))
    }

    /// Names the files of the proposal in a scope that the index does not know in their proposed form.
    fn pending_note(&self, scope: &Scope, effect: &str) -> String {
        let changed: Vec<&str> =
            self.pending.iter().map(|file| file.file.path.as_str()).filter(|path| scope.contains(path)).collect();
        let shown: Vec<_> = changed.iter().take(MAX_NOTED).map(|path| visible_line(path)).collect();
        let further = changed.len().saturating_sub(MAX_NOTED);
        let further = if further > 0 { format!(" and {}", count(further, "more file")) } else { String::new() };
        if shown.is_empty() { String::new() } else { format!("{effect}: {}{further}", shown.join(", ")) }
    }
}

/// Reads lines of a file, or lists a folder.
fn read_file(
    view: &RepositoryView<'_>,
    written: &str,
    start: Option<usize>,
    end: Option<usize>,
) -> Result<ToolText, String> {
    let path = view.relative(written);
    let listed = view.paths();
    let is_file = listed.binary_search(&path.as_str()).is_ok();
    let folder = Scope::folder(&path);
    if !is_file && (path.is_empty() || listed.iter().any(|known| folder.contains(known))) {
        return Ok(tree(&listed, &path));
    }
    let text = view.named_text(&path)?;
    let note = if view.proposed(&path).is_some() { ", with the changes of the proposal" } else { "" };
    read_lines(&text, start, end, note)
}

/// Lines of a text with their numbers, at most [`MAX_READ_LINES`]. The last line states which lines they are, and `note`.
///
/// # Errors
/// The range is empty or begins after the end of the text.
pub(crate) fn read_lines(text: &str, start: Option<usize>, end: Option<usize>, note: &str) -> Result<ToolText, String> {
    let lines = rhumb_text::lines::split(text);
    let total = lines.len();
    if total == 0 {
        return Ok(ToolText::whole(format!("[empty{note}]\n")));
    }
    let first = start.unwrap_or(1).max(1);
    let last = end.unwrap_or(total).min(total);
    if first > total {
        return Err(format!("Line {first} is beyond the end: there are {}.", count(total, "line")));
    }
    if last < first {
        return Err(format!("The range is empty: line {last} is before line {first}."));
    }
    let width = digits(last.min(first + MAX_READ_LINES - 1));
    let (mut out, mut next) = (String::new(), first);
    for line in lines.iter().take(last).skip(first - 1).take(MAX_READ_LINES) {
        let line = excerpt(body(line), 0, MAX_LINE_BYTES);
        if out.len() + line.len() > MAX_READ_BYTES {
            break;
        }
        push_numbered(&mut out, next, width, &line);
        next += 1;
    }
    let shown = next - 1;
    let more = if shown < last { format!("; read on with start_line {next}") } else { String::new() };
    let range = if (first, shown) == (1, total) { String::new() } else { format!("lines {first}-{shown} of ") };
    let _ = writeln!(out, "[{range}{}{note}{more}]", count(total, "line"));
    Ok(ToolText::whole(out))
}

/// Number of decimal digits.
fn digits(number: usize) -> usize {
    number.max(1).ilog10() as usize + 1
}

fn push_numbered(out: &mut String, number: usize, width: usize, line: &str) {
    let _ = writeln!(out, "{number:>width$}\t{line}");
}

/// A line with at most `max` bytes (16 or more) around the character at the byte `at`; an ellipsis marks what is cut.
fn excerpt(line: &str, at: usize, max: usize) -> Cow<'_, str> {
    if line.len() <= max {
        return Cow::Borrowed(line);
    }
    let latest = line.len() - max;
    let start = if at < max * 3 / 4 { 0 } else { line.ceil_char_boundary((at - max / 4).min(latest)) };
    let end = line.floor_char_boundary(start + max);
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    Cow::Owned(format!("{before}{}{after}", line.get(start..end).unwrap_or_default()))
}

/// Lists the files that match a pattern; without one, the two upper levels of the tree.
fn list_files(view: &RepositoryView<'_>, pattern: Option<&str>) -> Result<ToolText, String> {
    let paths = view.paths();
    let pattern = pattern.map(str::trim).filter(|pattern| !pattern.is_empty());
    let Some(pattern) = pattern.filter(|pattern| !view.relative(pattern).is_empty()) else {
        return Ok(tree(&paths, ""));
    };
    let scope = Scope::new(view, Some(pattern), &paths)?;
    let files: Vec<String> = scope.files(&paths).iter().map(|path| visible_line(path).into_owned()).collect();
    if files.is_empty() {
        let note = "No listed file matches. Ignored files are not listed, but read_file reads them.";
        return Ok(ToolText::whole(format!("{note}\n")));
    }
    Ok(ToolText::of_lines(&files, MAX_LISTED, further_files))
}

/// The number of files by top folder.
fn further_files(rest: &[String]) -> String {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for path in rest {
        *folders.entry(path.split_once('/').map_or(".", |(folder, _)| folder)).or_default() += 1;
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
    let shown: Vec<_> = folders.iter().take(MAX_NOTED).map(|(folder, files)| format!("{folder}/ {files}")).collect();
    let dots = if folders.len() > MAX_NOTED { ", …" } else { "" };
    format!("[{}: {}{dots}]\n", count(rest.len(), "more file"), shown.join(", "))
}

/// The two upper levels below a folder (`""` for the root), with the number of files in each folder.
fn tree(paths: &[&str], folder: &str) -> ToolText {
    let scope = Scope::folder(folder);
    let skipped = if folder.is_empty() { 0 } else { folder.len() + 1 };
    // By name: the number of files below it, and the same for the names in it; a file has none.
    let mut top: BTreeMap<&str, (usize, BTreeMap<&str, usize>)> = BTreeMap::new();
    for path in paths.iter().filter(|path| scope.contains(path)) {
        let below = path.get(skipped..).unwrap_or_default();
        let (first, rest) = below.split_once('/').map_or((below, None), |(first, rest)| (first, Some(rest)));
        let entry = top.entry(first).or_default();
        let Some(rest) = rest else { continue };
        entry.0 += 1;
        match rest.split_once('/') {
            Some((second, _)) => *entry.1.entry(second).or_default() += 1,
            None => drop(entry.1.entry(rest).or_default()),
        }
    }
    let line = |indent: &str, name: &str, files: usize| {
        let size = if files > 0 { format!("/ ({})", count(files, "file")) } else { String::new() };
        format!("{indent}{}{size}", visible_line(name))
    };
    let mut lines = Vec::new();
    for (name, (files, inner)) in top {
        lines.push(line("", name, files));
        lines.extend(inner.into_iter().map(|(name, files)| line("  ", name, files)));
    }
    if lines.is_empty() {
        lines.push("There are no files.".to_owned());
    }
    let cut_note =
        |rest: &[String]| format!("[{}; list_files with a folder shows less]\n", count(rest.len(), "more line"));
    ToolText::of_lines(&lines, MAX_LISTED, cut_note)
}

/// Fails after `stop` was set.
fn unless_stopped(stop: &AtomicBool) -> Result<(), String> {
    if stop.load(Ordering::Relaxed) { Err("The call was stopped.".to_owned()) } else { Ok(()) }
}

#[cfg(test)]
pub(crate) mod tests;
