//! Searches the contents of files for a regular expression.

use super::scope::Scope;
use super::{MatchList, RepositoryView, ToolText, excerpt, unless_stopped};
use rayon::prelude::*;
use regex::{Regex, RegexBuilder};
use rhumb_text::count;
use rhumb_text::lines::body;
use rhumb_text::sanitize::visible_line;
use rhumb_workspace::ReadError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of matching lines in a result.
const MAX_MATCHES: usize = 200;
/// Maximum number of matching lines that can be read with a later call.
const MAX_KEPT: usize = 2_000;
/// Maximum length of a matching line in bytes.
const MAX_LINE_BYTES: usize = 300;
/// Maximum size in bytes of a file that is searched, unless it is named.
const MAX_FILE_BYTES: usize = 2 << 20;
/// Maximum size in bytes of a compiled expression.
const MAX_REGEX_BYTES: usize = 4 << 20;
/// Number of files that are searched at once. Their matches are in memory.
const BATCH: usize = 128;

/// The matches in a file.
#[derive(Default)]
struct FileMatches {
    /// The first matches: a line number and the text.
    lines: Vec<(usize, String)>,
    /// The number of matching lines.
    total: usize,
}

/// Searches the files of a scope. An invalid expression is searched as a literal text.
pub(super) fn grep(
    view: &RepositoryView<'_>,
    (pattern, ignore_case): (&str, bool),
    path: Option<&str>,
    stop: &AtomicBool,
) -> Result<ToolText, String> {
    if pattern.is_empty() {
        return Err("The pattern is empty.".to_owned());
    }
    let (regex, note) = compiled(pattern, ignore_case)?;
    let paths = view.paths();
    let scope = Scope::new(view, path, &paths)?;
    if let Scope::File(path) = &scope {
        // A file that is named must be readable.
        view.named_text(path)?;
    }
    let files = scope.files(&paths);
    let (mut matches, mut skipped) = (MatchList::default(), 0);
    for batch in files.chunks(BATCH) {
        let most = MAX_KEPT.saturating_sub(matches.lines.len());
        let search = |path: &&str| match stop.load(Ordering::Relaxed) {
            true => None,
            false => in_file(view, &scope, path, &regex, most),
        };
        let found: Vec<Option<FileMatches>> = batch.par_iter().map(search).collect();
        unless_stopped(stop)?;
        for (path, found) in batch.iter().zip(found) {
            let Some(found) = found else {
                skipped += 1;
                continue;
            };
            let most = MAX_KEPT.saturating_sub(matches.lines.len());
            let path = visible_line(path);
            let lines = found.lines.into_iter().take(most).map(|(line, text)| format!("{path}:{line}: {text}"));
            matches.add(&path, found.total, lines);
        }
    }
    let (total, matching) = (matches.total(), matches.by_file.len());
    let searched = count(files.len() - skipped, "file");
    let skipped = match skipped {
        0 => String::new(),
        files => {
            format!("; {} not searched: larger than 2 MB, or perhaps with keys or passwords", count(files, "file"))
        }
    };
    if total == 0 {
        return Ok(ToolText::whole(format!("No match in {searched}{skipped}.\n")).with_note(&note));
    }
    let summary = format!("{} in {}{skipped}", count(total, "matching line"), count(matching, "file"));
    Ok(matches.into_text(MAX_MATCHES).with_note(&summary).with_note(&note))
}

/// The compiled expression; an invalid one as a literal, with a note.
fn compiled(pattern: &str, ignore_case: bool) -> Result<(Regex, String), String> {
    let build = |pattern: &str| {
        let mut builder = RegexBuilder::new(pattern);
        builder.case_insensitive(ignore_case).multi_line(true).crlf(true).size_limit(MAX_REGEX_BYTES).build()
    };
    match build(pattern) {
        Ok(regex) => Ok((regex, String::new())),
        Err(regex::Error::Syntax(reason)) => {
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let note = format!("Not a valid regular expression ({reason}), so the pattern was searched as plain text");
            build(&regex::escape(pattern)).map(|regex| (regex, note)).map_err(|_| too_large())
        }
        Err(_) => Err(too_large()),
    }
}

fn too_large() -> String {
    "The regular expression is too large: use fewer or smaller repetitions.".to_owned()
}

/// The matching lines of a file, the first `most` with their text; `None` if it is secret or too large to be searched.
fn in_file(view: &RepositoryView<'_>, scope: &Scope, path: &str, regex: &Regex, most: usize) -> Option<FileMatches> {
    let is_named = matches!(scope, Scope::File(_));
    let mut matches = FileMatches::default();
    let text = match view.listed_text(path) {
        Ok(text) if is_named || text.len() <= MAX_FILE_BYTES => text,
        Err(ReadError::Binary(_) | ReadError::UnknownEncoding { .. } | ReadError::NotFound(_)) => return Some(matches),
        _ => return None,
    };
    let text = if regex.is_match(&text) { view.masked(&text) } else { text };
    let Some(first) = regex.find(&text).map(|found| found.start()).filter(|first| *first < text.len()) else {
        return Some(matches);
    };
    let start = text.get(..first)?.rfind('\n').map_or(0, |end| end + 1);
    let number = text.get(..start)?.matches('\n').count() + 1;
    // Line by line: to search the whole text for further matches can take time quadratic in its length.
    for (number, line) in (number..).zip(text.get(start..)?.split_inclusive('\n')) {
        let Some(found) = regex.find(body(line)) else { continue };
        matches.total += 1;
        if matches.lines.len() < most {
            matches.lines.push((number, excerpt(body(line), found.start(), MAX_LINE_BYTES).into_owned()));
        }
    }
    if matches.total == 0 {
        // The expression matches several lines together. The first one represents them.
        let line = text.get(start..)?.lines().next().unwrap_or_default();
        matches.lines.push((number, excerpt(line, first - start, MAX_LINE_BYTES).into_owned()));
        matches.total = 1;
    }
    Some(matches)
}
