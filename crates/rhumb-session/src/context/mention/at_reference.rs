//! References with `@` in a message: a file, a folder, a symbol, the uncommitted diff, or a page.

use super::super::chunks::CODEBASE;
use super::{is_end_of, prose};
use std::ops::Range;

/// Characters that may precede an `@` reference. After a letter it is an e-mail address, after a backtick a decorator.
const BEFORE: &[char] = &['(', '[', '{', '"', '\'', '“', '‘', ',', ';', ':'];

/// Characters that end a sentence and not a name.
const AFTER: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '…', '”', '’'];

/// A reference: an `@` and a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtReference {
    /// The byte range, including the `@`.
    pub range: Range<usize>,
    /// The name.
    pub name: String,
}

/// What a reference names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtTarget {
    /// A file.
    File(String),
    /// A folder, without a slash at its end.
    Folder(String),
    /// A definition, by its name.
    Symbol(String),
    /// The uncommitted diff.
    Diff,
    /// A page, by its address.
    Page(String),
    /// A search of the whole repository.
    Codebase,
}

/// All references in a text, also those that name nothing, except in fenced code and code spans.
pub fn at_references(text: &str) -> Vec<AtReference> {
    let shown = without_spans(&prose(text));
    let mut found: Vec<AtReference> = Vec::new();
    for (at, _) in shown.match_indices('@') {
        let before = shown[..at].chars().next_back();
        let opens = before.is_none_or(|c| c.is_whitespace() || BEFORE.contains(&c));
        if opens && found.last().is_none_or(|last| last.range.end <= at) {
            found.extend(reference(text, at));
        }
    }
    found
}

fn reference(text: &str, at: usize) -> Option<AtReference> {
    let rest = &text[at + 1..];
    if let Some(quote) = rest.chars().next().filter(|c| "\"'".contains(*c)) {
        let line = rest[1..].lines().next().unwrap_or_default();
        let name = &line[..line.find(quote)?];
        return (!name.is_empty()).then(|| AtReference { range: at..at + name.len() + 3, name: name.to_owned() });
    }
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    let name = word.trim_end_matches(AFTER);
    // `@url https://…` is the same as `@https://…`.
    if name == "url" {
        let page = rest[word.len()..].trim_start_matches(' ');
        let page = page.split(char::is_whitespace).next().unwrap_or_default().trim_end_matches(AFTER);
        if is_page(page) {
            let end = page.as_ptr() as usize + page.len() - text.as_ptr() as usize;
            return Some(AtReference { range: at..end, name: page.to_owned() });
        }
    }
    (!name.is_empty()).then(|| AtReference { range: at..at + 1 + name.len(), name: name.to_owned() })
}

/// The text with code spans replaced by blanks.
fn without_spans(text: &str) -> String {
    let mut open = false;
    let hidden = text.chars().map(|c| {
        if c == '`' || c == '\n' {
            open = c == '`' && !open;
            return c;
        }
        // Byte offsets are preserved.
        if open && c == '@' { ' ' } else { c }
    });
    hidden.collect()
}

fn is_page(name: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| name.strip_prefix(scheme).is_some_and(|host| !host.is_empty()))
}

/// What a name after `@` refers to; `None` if it is ordinary text. `paths` are all files, sorted; `is_symbol` returns whether a
/// symbol is defined.
pub fn at_target(name: &str, paths: &[String], is_symbol: &dyn Fn(&str) -> bool) -> Option<AtTarget> {
    if name == "diff" {
        return Some(AtTarget::Diff);
    }
    if name == CODEBASE {
        return Some(AtTarget::Codebase);
    }
    if is_page(name) {
        return Some(AtTarget::Page(name.to_owned()));
    }
    let path = name.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let without_lines =
        path.rsplit_once(':').filter(|(_, lines)| lines.chars().all(|c| c.is_ascii_digit() || c == '-'));
    for path in [Some(path), without_lines.map(|(path, _)| path)].into_iter().flatten() {
        if let Some(target) = file_or_folder(path, paths) {
            return Some(target);
        }
    }
    let symbol = name.trim_end_matches(['(', ')']);
    let symbol = symbol.rsplit([':', '.']).next().unwrap_or(symbol);
    is_symbol(symbol).then(|| AtTarget::Symbol(symbol.to_owned()))
}

fn file_or_folder(path: &str, paths: &[String]) -> Option<AtTarget> {
    let bare = path.trim_end_matches('/');
    if bare.is_empty() {
        return None;
    }
    if bare == path && paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok() {
        return Some(AtTarget::File(path.to_owned()));
    }
    let folder = format!("{bare}/");
    let first = paths.partition_point(|known| known.as_str() < folder.as_str());
    if paths.get(first).is_some_and(|known| known.starts_with(&folder)) {
        return Some(AtTarget::Folder(bare.to_owned()));
    }
    // A plain word is not a file, so the files are not searched.
    if !bare.contains(['.', '/', '-', '_']) {
        return None;
    }
    let mut ends = paths.iter().filter(|known| is_end_of(bare, known));
    match (ends.next(), ends.next()) {
        (Some(only), None) => Some(AtTarget::File(only.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> Vec<AtTarget> {
        let paths: Vec<String> =
            ["a b.md", "charts/compass.py", "charts/tide.py", "harbour.py"].iter().map(|path| (*path).into()).collect();
        let is_symbol = |name: &str| name == "depth";
        at_references(text).iter().filter_map(|at| at_target(&at.name, &paths, &is_symbol)).collect()
    }

    #[test]
    fn files_folders_symbols_the_diff_and_pages_are_named_with_an_at() {
        use AtTarget::*;
        for (text, wanted) in [
            ("see @harbour.py, please", File("harbour.py".into())),
            ("(@./harbour.py)", File("harbour.py".into())),
            ("@harbour.py:12-20?", File("harbour.py".into())),
            ("@tide.py", File("charts/tide.py".into())),
            ("@\"a b.md\" is old", File("a b.md".into())),
            ("all of @charts/", Folder("charts".into())),
            ("all of @charts.", Folder("charts".into())),
            ("what does @depth do", Symbol("depth".into())),
            ("@harbour.depth() is slow", Symbol("depth".into())),
            ("review @diff", Diff),
            ("@codebase: where is it?", Codebase),
            ("as @https://example.org/a?b=c says", Page("https://example.org/a?b=c".into())),
            ("as @url https://example.org/a, says", Page("https://example.org/a".into())),
        ] {
            assert_eq!(meant(text), [wanted], "{text}");
        }
    }

    #[test]
    fn addresses_decorators_and_unknown_names_are_text() {
        for text in
            ["mira@harbour.py", "@nothing", "`@depth`", "```\n@depth\n```", "@ harbour.py", "@", "@\"open", "me@depth"]
        {
            assert!(meant(text).is_empty(), "{text}");
        }
    }
}
