//! A complete file in a reply. It is merged with the file on disk, so that unchanged lines keep their bytes, and
//! refused if it is not complete.

use std::collections::BTreeMap;

use super::document::{Document, Item};
use crate::elision::{self, Replacement};
use crate::locate::line_diff::{self, DiffStep};
use crate::locate::normalize::normalize;
use crate::parse::markers;
use crate::refusal::{Cause, Refusal};

/// Maximum number of lines of a file that may be rewritten without a check for fragments, if the model was asked
/// for whole files.
const MAX_SMALL_FILE_LINES: usize = 20;
/// Minimum number of lines missing at the end of a file to flag the edit.
const MIN_LOST_TAIL_LINES: usize = 8;
/// Minimum number of lines, all of them numbered, for which the numbers are not part of the file.
const MIN_NUMBERED_LINES: usize = 3;

/// The lines of the file with the text of the reply. `asked` is set if the model was asked for whole files.
/// Otherwise a fence under a file name may be an excerpt.
pub(crate) fn merge(document: &Document, lines: &[String], asked: bool) -> Result<Vec<Item>, Refusal> {
    let old = document.bodies();
    let new = trimmed(&old, lines);
    let is_blank = |lines: &[&str]| lines.iter().all(|line| line.trim().is_empty());
    if is_blank(&new) && !is_blank(&old) {
        return Err(Cause::EmptyFence.into());
    }
    complete(&old, &new)?;
    plain(&old, &new)?;
    let free = old.len() <= MAX_SMALL_FILE_LINES && asked;
    if !free && is_fragment(&old, &new) {
        return Err(Cause::Fragment { new: new.len(), old: old.len() }.into());
    }
    let known = |line: &str| old.iter().any(|other| normalize(other) == normalize(line));
    let suspect = new.iter().any(|line| elision::may_be_placeholder(line));
    if suspect && let Some(line) = elision::placeholder_for_code(&new, &replacements(&old, &new), known) {
        return Err(Cause::Elision((line).to_string()).into());
    }
    let loose = lost_trailing_blanks(&old, &new);
    let items = if loose { diffed(&old, &new, str::trim_end) } else { diffed(&old, &new, |line| line) };
    let unchanged = |items: &[Item]| items.len() == old.len() && items.iter().all(|item| matches!(item, Item::Old(_)));
    let items = if loose && unchanged(&items) { diffed(&old, &new, |line| line) } else { items };
    if unchanged(&items) {
        return Err(Cause::SameFile.into());
    }
    Ok(items)
}

/// Whether the text is a fragment of the file (`bench edits`: without this check, 30 of 2,936 replies are applied
/// wrongly): far fewer lines, and without most of the file's lines or without
/// both its ends.
fn is_fragment(old: &[&str], new: &[&str]) -> bool {
    let (old, new) = (significant(old), significant(new));
    if (new.len() as f32) >= 0.7 * old.len() as f32 {
        return false;
    }
    let lacks = |end: Option<&&str>| end.is_some_and(|end| !new.iter().any(|line| line.trim() == end.trim()));
    kept_share(&old, &new) < 0.5 || (lacks(old.first()) && lacks(old.last()))
}

/// The lines with letters or digits.
fn significant<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().filter(|line| line.chars().any(char::is_alphanumeric)).copied().collect()
}

/// Whether the text stops before the end of the file: the last third is missing and nothing replaces it.
pub(crate) fn drops_tail(items: &[Item], old: usize) -> bool {
    let Some(Item::Old(last)) = items.last() else { return false };
    let gone = old.saturating_sub(last + 1);
    gone >= MIN_LOST_TAIL_LINES && gone * 3 >= old
}

/// Refuses text that cannot be the content of the file: lines with diff signs, with line numbers, or without the
/// tabs of the file.
fn plain(old: &[&str], new: &[&str]) -> Result<(), Refusal> {
    let solid = |lines: &[&str]| lines.iter().filter(|line| !line.trim().is_empty()).count();
    let all = |lines: &[&str], has: fn(&str) -> bool| lines.iter().filter(|line| has(line)).count() == solid(lines);
    let signed = |line: &str| line.starts_with(['+', '-', ' ']) && !line.trim().is_empty();
    let any = |sign: char| new.iter().any(|line| line.starts_with(sign));
    if solid(old) > 0 && all(new, signed) && !all(old, signed) && any('+') {
        return Err(Cause::DiffAsFile.into());
    }
    if solid(new) >= MIN_NUMBERED_LINES && all(new, is_numbered) && !all(old, is_numbered) {
        return Err(Cause::NumberedLines.into());
    }
    let (tabs, blanks) = (|line: &&&str| line.starts_with('\t'), |line: &&&str| line.starts_with("  "));
    let tabbed = old.iter().filter(tabs).count();
    let lost = tabbed > old.iter().filter(blanks).count() && new.iter().filter(tabs).count() == 0;
    if lost && new.iter().filter(blanks).count() * 2 >= tabbed {
        return Err(Cause::LostTabs.into());
    }
    Ok(())
}

/// `12 | code`, `12: code`: a line with its number, as tools and models show files.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.trim_start().len() - rest.len();
    let rest = rest.trim_start_matches([' ', '\t']);
    digits > 0 && rest.starts_with(['|', ':', '│'])
}

/// Refuses text that claims to be the complete file and omits something.
pub(crate) fn complete(old: &[&str], new: &[&str]) -> Result<(), Refusal> {
    let known: BTreeMap<_, _> = old.iter().map(|line| (normalize(line), ())).collect();
    let solid = || new.iter().filter(|line| !line.trim().is_empty());
    let is_known = |line: &str| known.contains_key(&normalize(line));
    let opens = solid().next().filter(|line| markers::opens_block(line) && !is_known(line));
    if let Some(opening) = opens
        && solid().any(|line| markers::closes_block(line))
    {
        return Err(Cause::UnknownBlock(opening.trim().chars().take(60).collect()).into());
    }
    let placeholder = |(at, line): &(usize, &&str)| {
        elision::mentions_elision(line) && !is_known(line) && header_of_stub(new, *at).is_none_or(is_known)
    };
    match new.iter().enumerate().find(placeholder) {
        Some((_, line)) => Err(Cause::Elision((line).to_string()).into()),
        None => Ok(()),
    }
}

/// The header of a stub whose body is the `...` at `at`, as in a protocol, an overload or a stub file of Python.
/// Only a docstring may be between them. If the header is not in the file, no code was omitted.
pub(crate) fn header_of_stub<'a>(new: &[&'a str], at: usize) -> Option<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let blank = |line: &&&str| line.trim().is_empty();
    let dots = new.get(at).filter(|line| line.trim() == "...")?;
    let after = new.iter().skip(at + 1).find(|line| !blank(line));
    let mut above = new.get(..at)?.iter().rev().filter(|line| !blank(line));
    let mut first = None;
    let header = above.find(|line| {
        let inside = indent(line) >= indent(dots);
        first = if inside { Some(**line) } else { first };
        !inside
    })?;
    let documented =
        first.is_none_or(|line| line.trim_start().starts_with(['"', '\'']) && line.trim_end().ends_with(['"', '\'']));
    let alone = after.is_none_or(|line| indent(line) < indent(dots));
    (header.trim_end().ends_with(':') && documented && alone).then_some(*header)
}

/// The share of the file's lines that the reply has, in any order, 0 to 1.
pub(crate) fn kept_share(old: &[&str], new: &[&str]) -> f32 {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in new {
        *counts.entry(line.trim()).or_default() += 1;
    }
    let kept = old.iter().filter(|line| match counts.get_mut(line.trim()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
    if old.is_empty() { 1.0 } else { kept.count() as f32 / old.len() as f32 }
}

/// The lines of the reply without blank lines at the ends that the file does not have.
fn trimmed<'a>(old: &[&str], lines: &'a [String]) -> Vec<&'a str> {
    let blank = |line: Option<&&str>| line.is_some_and(|line| line.trim().is_empty());
    let mut new: Vec<&str> = lines.iter().map(String::as_str).collect();
    if old.is_empty() {
        return new;
    }
    while blank(new.last()) && !blank(old.last()) {
        new.pop();
    }
    let leading = if blank(old.first()) { 0 } else { new.iter().take_while(|line| line.trim().is_empty()).count() };
    new.split_off(leading)
}

/// The removed and the added lines of each change.
fn replacements<'a>(old: &[&'a str], new: &[&str]) -> Vec<Replacement<'a>> {
    let exchange = |step: DiffStep| match step {
        DiffStep::Same(_) => None,
        DiffStep::Replace(old_range, new_range) => {
            let removed = old.get(old_range).unwrap_or_default().to_vec();
            Some(Replacement { removed, added: new_range.collect() })
        }
    };
    line_diff::steps(old, new).into_iter().filter_map(exchange).collect()
}

/// Whether the file has trailing white space and the reply has none.
fn lost_trailing_blanks(old: &[&str], new: &[&str]) -> bool {
    let trailing = |line: &&str| line.ends_with([' ', '\t']);
    old.iter().any(trailing) && !new.iter().any(trailing)
}

fn diffed(old: &[&str], new: &[&str], key: fn(&str) -> &str) -> Vec<Item> {
    let keys = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| key(line).to_owned()).collect() };
    let (old_keys, new_keys) = (keys(old), keys(new));
    let old_keys: Vec<&str> = old_keys.iter().map(String::as_str).collect();
    let new_keys: Vec<&str> = new_keys.iter().map(String::as_str).collect();
    let mut items = Vec::with_capacity(new.len());
    for step in line_diff::steps(&old_keys, &new_keys) {
        match step {
            DiffStep::Same(old) => items.extend(old.map(Item::Old)),
            DiffStep::Replace(_, range) => {
                let added = new.get(range).unwrap_or_default();
                items.extend(added.iter().map(|line| Item::new((*line).to_owned())));
            }
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "import os\n\nLIMIT = 10\n\n\ndef first(a):\n    return a + 1\n\n\ndef second(b):\n    return b * LIMIT\n";

    fn merged(file: &str, reply: &str, asked: bool) -> Result<Vec<Item>, Refusal> {
        let lines: Vec<String> = reply.lines().map(str::to_owned).collect();
        merge(&Document::new(file.into()), &lines, asked)
    }

    #[test]
    fn an_excerpt_never_replaces_a_small_file() {
        for excerpt in
            ["def first(a):\n    return a + 2\n", "LIMIT = 12\n", "    return a + 1\n", "LIMIT = 10\n\ndef first(a):\n"]
        {
            assert!(merged(FILE, excerpt, false).is_err(), "{excerpt}");
        }
        assert!(merged("flask\nrequests\npytest\n", "httpx\n", false).is_err());
    }

    #[test]
    fn a_file_may_become_shorter() {
        let shorter = FILE.replace("def first(a):\n    return a + 1\n\n\n", "");
        assert!(merged(FILE, &shorter, false).is_ok());
        assert!(merged("FROM alpine:3.19\nRUN ls\n", "FROM alpine:3.20\nRUN ls -l\n", false).is_ok());
        assert!(merged(FILE, "x = 1\n", true).is_ok(), "asked for whole files, this is one");
        assert!(merged("a\nb\nc\n", "    z\na\nb\nc\n", false).is_ok(), "the first line may be indented");
    }

    #[test]
    fn an_empty_fence_empties_no_file() {
        for (file, reply) in [("a\nb\n", ""), ("a\n", "\n"), (FILE, "  \n\n")] {
            for asked in [false, true] {
                let refusal = merged(file, reply, asked).unwrap_err();
                assert!(refusal.cause.to_string().contains("the fence is empty"), "{}", refusal.cause.to_string());
            }
        }
    }

    #[test]
    fn blocks_with_other_markers_are_no_files() {
        for (open, divider, close) in [
            ("<<<<<<< HEAD", "=======", ">>>>>>> branch"),
            ("<<< SEARCH", "===", ">>> REPLACE"),
            ("< < < < SEARCH", "=======", ">>>>>>> REPLACE"),
        ] {
            let reply = format!("{open}\nLIMIT = 10\n{divider}\nLIMIT = 11\n{close}\n");
            let refusal = merged(FILE, &reply, false).unwrap_err();
            assert!(refusal.cause.to_string().contains("markers"), "{}", refusal.cause.to_string());
        }
    }

    #[test]
    fn numbered_or_signed_text_is_no_file_unless_the_file_is_so_too() {
        let numbered: String = FILE.lines().enumerate().map(|(at, line)| format!("{at:3} | {line}\n")).collect();
        let signed: String = FILE.lines().map(|line| format!(" {line}\n")).collect();
        assert!(merged(FILE, &numbered, false).is_err());
        assert!(merged(FILE, &signed.replace(" LIMIT", "+LIMIT"), false).is_err());
        assert!(merged("1: a\n2: b\n3: c\n", "1: a\n2: b\n3: d\n", false).is_ok());
        assert!(merged("- a\n- b\n- c\n", "- a\n- b\n+ d\n", false).is_ok());
    }

    #[test]
    fn lost_tabs_are_not_written() {
        let file = "all: a\n\tcc a\n\nclean:\n\trm a\n";
        assert!(merged(file, &file.replace('\t', "    "), false).is_err());
        assert!(merged(file, &file.replace("rm a", "rm -f a"), false).is_ok());
    }
}
