//! Definitions and references of symbols, outlines, and the search for code about something.
//!
//! The index says which files are relevant. Their texts are parsed as they are now, with the changes of the proposal, so that all lines are
//! current. Without an index, all files that contain the name are parsed.

use super::scope::Scope;
use super::{MAX_MISSPELT_BYTES, MatchList, RepositoryView, ToolText, digits, excerpt, push_numbered, unless_stopped};
use crate::host::search_survey;
use rayon::prelude::*;
use rhumb_index::repo_map::{MapRequest, Ranking, RepoMap, Weights, is_peripheral, is_value};
use rhumb_index::retrieval::{Passages, Question, SourceFiles, related_text};
use rhumb_syntax::{Definition, FileTags, Language, tags};
use rhumb_text::count;
use rhumb_text::lines::{body, split};
use rhumb_text::sanitize::visible_line;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of hits of a search.
const HITS: usize = 10;
/// Maximum number of tokens of the passages of a search: about 12 KB.
const SEARCH_TOKENS: usize = 3_000;
/// Maximum number of tokens of a map.
const MAP_TOKENS: usize = 2_000;
/// Maximum number of definitions in the outline of a file.
const MAX_OUTLINE_LINES: usize = 500;
/// Maximum number of levels by which a definition is indented.
const MAX_INDENT: usize = 8;
/// Maximum length of a signature or a line with a reference, in bytes.
const MAX_LINE_BYTES: usize = 300;
/// Maximum number of lines of the code of a definition.
const MAX_CODE_LINES: usize = 150;
/// Maximum size of this code in bytes.
const MAX_CODE_BYTES: usize = 20_000;
/// Maximum number of comment and attribute lines above a definition that are shown with it.
const MAX_LINES_ABOVE: usize = 20;
/// Maximum number of listed definitions of one name.
const MAX_DEFINITIONS: usize = 50;
/// Maximum number of listed references.
const MAX_REFERENCES: usize = 200;
/// Maximum number of files that are parsed for a name. Code comes before tests.
const MAX_PARSED_FILES: usize = 400;
/// Maximum number of names that are suggested for an unknown one.
const MAX_SIMILAR: usize = 5;

const NOT_INDEXED: &str = "The repository is not indexed yet. Use list_files, grep and read_file, or try again later.";

/// Searches with the program's own ranking. The best passages come first, with their code.
pub(super) fn search(view: &RepositoryView<'_>, query: &str) -> Result<ToolText, String> {
    let survey = view.survey.ok_or(NOT_INDEXED)?;
    let question = Question::new(query, HITS);
    let hits = search_survey(survey, &question);
    let read = |path: &str| is_plain(path).then(|| view.listed_text(path).ok()).flatten();
    let sources = SourceFiles::new(&read);
    let mut passages = Passages::default();
    passages.gather(&survey.graph, (query, hits), &sources, SEARCH_TOKENS, view.counter);
    let mut found: Vec<_> = passages.list().iter().collect();
    found.sort_by_key(|passage| passage.rank);
    let mut parts: Vec<String> = found.iter().map(|passage| passage.text.clone()).collect();
    let related: Vec<_> = passages.related().iter().filter(|related| is_plain(&related.path)).cloned().collect();
    if !related.is_empty() {
        parts.push(related_text(&related));
    }
    if parts.is_empty() {
        parts.push("Nothing was found. Use other words, names from the code, or grep.\n".to_owned());
    }
    Ok(ToolText::whole(parts.join("\n"))
        .with_note(&incomplete_note(view))
        .with_note(&view.pending_note(&Scope::All, "Ranked without the changes of the proposal")))
}

/// Whether a path can be part of a passage or a map, which contain paths as they are.
fn is_plain(path: &str) -> bool {
    !path.chars().any(rhumb_text::sanitize::is_unsafe)
}

/// Says what the index lacks; empty if it is complete.
fn incomplete_note(view: &RepositoryView<'_>) -> String {
    match view.survey {
        Some(survey) if survey.unread > 0 => {
            format!("The index is incomplete: {} of {} are not in it", survey.unread, count(survey.files.len(), "file"))
        }
        Some(survey) if survey.heads_only => {
            "The repository is very large, so only names, paths and comments are indexed; grep searches all text"
                .to_owned()
        }
        _ => String::new(),
    }
}

/// The definitions of a file, or the map of a folder or for a query.
pub(super) fn outline(view: &RepositoryView<'_>, path: Option<&str>, query: Option<&str>) -> Result<ToolText, String> {
    let paths = view.paths();
    let scope = Scope::new(view, path, &paths)?;
    if let Scope::File(path) = &scope {
        return Ok(file_outline(path, &view.named_text(path)?));
    }
    let survey = view.survey.ok_or(NOT_INDEXED)?;
    let index = survey.graph.index();
    let outside = index.files().iter().filter(|file| !scope.contains(&file.path) || !is_plain(&file.path));
    let request = MapRequest {
        message: query.unwrap_or_default().to_owned(),
        banned: outside.map(|file| file.path.to_string()).collect(),
        budget: MAP_TOKENS,
        ..MapRequest::default()
    };
    let ranking = Ranking::new(&survey.graph, &request, &Weights::default());
    let map = RepoMap::of_ranking(ranking, &request, view.counter);
    let text = if map.text.is_empty() { "There are no definitions.\n".to_owned() } else { map.text.clone() };
    let shown = map.shown_files();
    let further = scope.files(&paths).len().saturating_sub(shown);
    let note = if further > 0 { format!("{} not shown", count(further, "file")) } else { String::new() };
    Ok(ToolText::whole(text)
        .with_note(&note)
        .with_note(&incomplete_note(view))
        .with_note(&view.pending_note(&scope, "Shown without the changes of the proposal")))
}

fn parsed(path: &str, text: &str) -> FileTags {
    Language::detect(path, text).map(|language| tags(language, text)).unwrap_or_default()
}

/// The definitions of a file: lines and signature, indented below their containers.
fn file_outline(path: &str, text: &str) -> ToolText {
    let definitions = parsed(path, text).definitions;
    let mut open: Vec<u32> = Vec::new();
    let mut lines = Vec::new();
    for definition in &definitions {
        while open.last().is_some_and(|end| *end < definition.line) {
            open.pop();
        }
        let indent = "  ".repeat(open.len().min(MAX_INDENT));
        lines.push(format!("{indent}{}  {}", range_of(definition), signature_of(definition)));
        if definition.end_line > definition.line {
            open.push(definition.end_line);
        }
    }
    if lines.is_empty() {
        lines.push("No definitions are known in this file. Use read_file.".to_owned());
    }
    ToolText::of_lines(&lines, MAX_OUTLINE_LINES, |rest| format!("[{}]\n", count(rest.len(), "more definition")))
}

fn range_of(definition: &Definition) -> String {
    let (line, end) = (definition.line, definition.end_line);
    if end > line { format!("{line}-{end}") } else { line.to_string() }
}

fn signature_of(definition: &Definition) -> String {
    let text = if definition.signature.is_empty() { &definition.name } else { &definition.signature };
    visible_line(&excerpt(text, 0, MAX_LINE_BYTES)).into_owned()
}

/// A name of a symbol, perhaps with that of its container or module.
struct SymbolName<'s> {
    name: &'s str,
    container: Option<&'s str>,
}

impl<'s> SymbolName<'s> {
    /// Splits `Class.method`, `mod::function`, `Class#method` and `path/file.function()`.
    fn new(symbol: &'s str) -> Self {
        let symbol = symbol.trim();
        let bare = symbol.split(['(', '<']).next().filter(|bare| !bare.is_empty()).unwrap_or(symbol);
        let mut parts = bare.rsplit([':', '.', '#', '/']).filter(|part| !part.is_empty());
        Self { name: parts.next().unwrap_or(bare), container: parts.next() }
    }

    /// Whether the container is that of the definition, or its module by file or folder name.
    fn fits(&self, path: &str, definition: &Definition) -> bool {
        self.container.is_none_or(|container| {
            let is_module = |part: &str| part == container || part.split('.').next() == Some(container);
            definition.container.as_deref() == Some(container) || path.rsplit('/').take(2).any(is_module)
        })
    }
}

/// What is known about a name in a file.
#[derive(Clone, Copy, PartialEq)]
enum Mention {
    Definition,
    Reference,
}

/// The text of a listed file, unless the call is stopped.
fn text_unless(stop: &AtomicBool, view: &RepositoryView<'_>, path: &str) -> Option<Arc<str>> {
    if stop.load(Ordering::Relaxed) { None } else { view.listed_text(path).ok() }
}

/// The files of a scope that may define or use a name, code before tests.
fn candidates(
    view: &RepositoryView<'_>,
    scope: &Scope,
    name: &str,
    mention: Mention,
    stop: &AtomicBool,
) -> Result<Vec<String>, String> {
    if let Scope::File(path) = scope {
        return Ok(vec![path.clone()]);
    }
    let contains = |path: &&str| {
        let text = text_unless(stop, view, path);
        text.is_some_and(|text| text.contains(name))
    };
    let mut files: BTreeSet<String> = BTreeSet::new();
    match view.survey {
        Some(survey) => {
            let (graph, index) = (&survey.graph, survey.graph.index());
            if let Some(number) = index.name_number(name) {
                let uses = |file: &u32| index.references(*file).any(|uses| uses.name == number);
                let found: Vec<u32> = match mention {
                    Mention::Definition => graph.defining_files(number).to_vec(),
                    Mention::Reference => (0..index.len() as u32).into_par_iter().filter(uses).collect(),
                };
                files.extend(found.into_iter().map(|file| index.path(file).to_owned()));
            }
            files.extend(view.proposed_paths().filter(contains).map(str::to_owned));
        }
        None => {
            let listed = view.paths();
            let listed: Vec<&str> = listed.into_iter().filter(|path| scope.contains(path)).collect();
            let found: Vec<&str> = listed.into_par_iter().filter(contains).collect();
            files.extend(found.into_iter().map(str::to_owned));
        }
    }
    unless_stopped(stop)?;
    let mut files: Vec<String> = files.into_iter().filter(|path| scope.contains(path)).collect();
    files.sort_by_cached_key(|path| is_peripheral(path));
    Ok(files)
}

/// A definition with the text of its file.
struct Found {
    path: String,
    text: Arc<str>,
    definition: Definition,
}

/// The definitions of a name, those that fit its container first.
fn definitions_of(
    view: &RepositoryView<'_>,
    scope: &Scope,
    symbol: &SymbolName<'_>,
    stop: &AtomicBool,
) -> Result<Vec<Found>, String> {
    let files = candidates(view, scope, symbol.name, Mention::Definition, stop)?;
    let in_file = |path: &String| {
        let text = text_unless(stop, view, path);
        let Some(text) = text else { return Vec::new() };
        let definitions = parsed(path, &text).definitions.into_iter();
        let named = definitions.filter(|definition| definition.name == symbol.name);
        named.map(|definition| Found { path: path.clone(), text: Arc::clone(&text), definition }).collect()
    };
    let mut found: Vec<Found> = files.par_iter().take(MAX_PARSED_FILES).flat_map_iter(in_file).collect();
    unless_stopped(stop)?;
    found.sort_by_cached_key(|found| {
        let definition = &found.definition;
        (!symbol.fits(&found.path, definition), is_peripheral(&found.path), is_value(definition.kind))
    });
    if found.iter().any(|found| symbol.fits(&found.path, &found.definition)) {
        found.retain(|found| symbol.fits(&found.path, &found.definition));
    }
    Ok(found)
}

/// Shows the code of the best definition of a symbol, and lists the others.
pub(super) fn definition(
    view: &RepositoryView<'_>,
    symbol: &str,
    path: Option<&str>,
    stop: &AtomicBool,
) -> Result<ToolText, String> {
    let scope = Scope::new(view, path, &view.paths())?;
    let name = SymbolName::new(symbol);
    let found = definitions_of(view, &scope, &name, stop)?;
    let Some((best, others)) = found.split_first() else { return Err(unknown(view, symbol, &name, &scope)) };
    let mut text = String::new();
    if !name.fits(&best.path, &best.definition) {
        text.push_str(&format!("There is no {}; these are definitions of {}.\n", visible_line(symbol), name.name));
    }
    text.push_str(&code_of(best));
    if !others.is_empty() {
        text.push_str(&format!("\n{}:\n", count(others.len(), "other definition")));
        for other in others.iter().take(MAX_DEFINITIONS) {
            text.push_str(&format!("{}  {}\n", heading(other), signature_of(&other.definition)));
        }
        if others.len() > MAX_DEFINITIONS {
            text.push_str("…\n");
        }
    }
    Ok(ToolText::whole(text).with_note(&incomplete_note(view)))
}

/// `src/gate.rs:7-9 in Gate`
fn heading(found: &Found) -> String {
    let container = found.definition.container.as_ref().map(|name| format!(" in {}", visible_line(name)));
    format!("{}:{}{}", visible_line(&found.path), range_of(&found.definition), container.unwrap_or_default())
}

/// The code of a definition below a heading, with the comments and attributes directly above.
fn code_of(found: &Found) -> String {
    let lines = split(&found.text);
    let (line, end) = (found.definition.line as usize, found.definition.end_line.max(found.definition.line) as usize);
    let is_above = |text: &&&str| {
        let marks = ["//", "/*", "*", "#", "@", "--", ";;"];
        marks.iter().any(|mark| text.trim_start().starts_with(mark))
    };
    let before = lines.get(..line.saturating_sub(1)).unwrap_or_default();
    let above = before.iter().rev().take(MAX_LINES_ABOVE).take_while(is_above).count();
    let first = line.saturating_sub(above).max(1);
    let last = end.min(line + MAX_CODE_LINES - 1);
    let mut text = format!("{}\n", heading(found));
    let mut next = first;
    for line in lines.get(first - 1..last.min(lines.len())).unwrap_or_default() {
        let line = excerpt(body(line), 0, super::MAX_LINE_BYTES);
        if text.len() + line.len() > MAX_CODE_BYTES {
            break;
        }
        push_numbered(&mut text, next, digits(last), &line);
        next += 1;
    }
    if next <= end {
        text.push_str(&format!("[{}; read_file from line {next}]\n", count(end + 1 - next, "more line")));
    }
    text
}

/// The error for a name without definitions, with similar names.
fn unknown(view: &RepositoryView<'_>, symbol: &str, name: &SymbolName<'_>, scope: &Scope) -> String {
    let place = if matches!(scope, Scope::All) { "" } else { " there" };
    let text = format!("No definition of {} was found{place}.", visible_line(symbol));
    let Some(survey) = view.survey else { return text + " " + NOT_INDEXED };
    if name.name.len() > MAX_MISSPELT_BYTES {
        return text;
    }
    let (graph, index) = (&survey.graph, survey.graph.index());
    let names = || {
        let defined = |number: &u32| graph.defining_files(*number).iter().any(|file| scope.contains(index.path(*file)));
        (0..index.names() as u32).filter(defined).map(|number| index.name(number))
    };
    let lower = name.name.to_lowercase();
    let is_part = |other: &&str| lower.len() > 2 && other.to_lowercase().contains(&lower);
    let mut similar: Vec<&str> = rhumb_text::nearest(name.name, names()).into_iter().collect();
    similar.extend(names().filter(is_part).take(MAX_SIMILAR));
    let mut known = BTreeSet::new();
    similar.retain(|other| *other != name.name && known.insert(*other));
    let similar: Vec<_> = similar.iter().take(MAX_SIMILAR).map(|name| visible_line(name)).collect();
    if similar.is_empty() {
        return text + " grep finds names in any text.";
    }
    format!("{text} Similar names: {}.", similar.join(", "))
}

/// Lists the references to a name, with their lines and the definitions that contain them.
pub(super) fn references(
    view: &RepositoryView<'_>,
    symbol: &str,
    path: Option<&str>,
    stop: &AtomicBool,
) -> Result<ToolText, String> {
    let scope = Scope::new(view, path, &view.paths())?;
    let name = SymbolName::new(symbol);
    let files = candidates(view, &scope, name.name, Mention::Reference, stop)?;
    let in_file = |path: &String| {
        let text = text_unless(stop, view, path);
        text.map(|text| reference_lines(path, &text, name.name)).unwrap_or_default()
    };
    let found: Vec<Vec<String>> = files.par_iter().take(MAX_PARSED_FILES).map(in_file).collect();
    unless_stopped(stop)?;
    let mut references = MatchList::default();
    for (path, lines) in files.iter().zip(found) {
        references.add(&visible_line(path), lines.len(), lines);
    }
    let further = files.len().saturating_sub(MAX_PARSED_FILES);
    let further = if further > 0 { format!("; {} not listed", count(further, "further file")) } else { String::new() };
    if references.lines.is_empty() {
        let defined = definitions_of(view, &Scope::All, &name, stop)?;
        if defined.is_empty() {
            return Err(unknown(view, symbol, &name, &Scope::All));
        }
        let text = format!("No reference to {} was found. grep also finds names in comments and texts.\n", name.name);
        return Ok(ToolText::whole(text).with_note(&incomplete_note(view)));
    }
    let summary = format!("{}{further}; found by name", count(references.lines.len(), "reference"));
    Ok(references.into_text(MAX_REFERENCES).with_note(&summary).with_note(&incomplete_note(view)))
}

/// The lines of a file that refer to a name.
fn reference_lines(path: &str, text: &str, name: &str) -> Vec<String> {
    let tags = parsed(path, text);
    let numbers: BTreeSet<u32> =
        tags.references.iter().filter(|reference| reference.name == name).map(|reference| reference.line).collect();
    if numbers.is_empty() {
        return Vec::new();
    }
    let (lines, path) = (split(text), visible_line(path));
    let line = |number: u32| {
        let line = body(lines.get((number as usize).checked_sub(1)?)?);
        let at = line.find(name).unwrap_or_default();
        let around = |definition: &&Definition| {
            definition.end_line > definition.line && (definition.line..=definition.end_line).contains(&number)
        };
        let within =
            tags.definitions.iter().filter(around).min_by_key(|definition| definition.end_line - definition.line);
        let within = within.map(|definition| match &definition.container {
            Some(container) => format!("  [in {}.{}]", visible_line(container), visible_line(&definition.name)),
            None => format!("  [in {}]", visible_line(&definition.name)),
        });
        let shown = excerpt(line.trim_end(), at, MAX_LINE_BYTES);
        Some(format!("{path}:{number}: {}{}", shown.trim_start(), within.unwrap_or_default()))
    };
    numbers.into_iter().filter_map(line).collect()
}
