//! A complete file in a reply: merged with the file on disk so that unchanged lines keep their bytes, and refused
//! where it is not complete.

use std::collections::BTreeMap;

use super::document::{Document, Item};
use crate::edit::block::marker;
use crate::edit::locate::canon;
use crate::edit::locate::line_diff::{self, Step};
use crate::edit::locate::stand_in::{self, Exchange};
use crate::edit::outcome::{Flag, Refusal};

/// Files shorter than this may be rewritten freely.
const SMALL: usize = 20;

/// The lines of the file with the reply's text in it.
pub(super) fn merge(document: &Document, lines: &[String]) -> Result<Vec<Item>, Refusal> {
    let old = document.bodies();
    let new = trimmed(&old, lines);
    complete(&old, &new)?;
    if kept_share(&old, &new) < 0.5 && old.len() > SMALL && (new.len() as f32) < 0.7 * old.len() as f32 {
        return Err(Refusal::new(format!(
            "fragment: the reply has {} lines and drops most of the {} lines of the file; send the whole file or a diff",
            new.len(),
            old.len()
        )));
    }
    let known = |line: &str| old.iter().any(|other| canon::canon(other) == canon::canon(line));
    let suspect = new.iter().any(|line| stand_in::is_suspect(line));
    if suspect && let Some(line) = stand_in::stand_in(&new, &exchanges(&old, &new), known) {
        return Err(super::explain::elided(line));
    }
    let loose = lost_trailing_blanks(&old, &new);
    let items = if loose { diffed(&old, &new, str::trim_end) } else { diffed(&old, &new, |line| line) };
    let unchanged = |items: &[Item]| items.len() == old.len() && items.iter().all(|item| matches!(item, Item::Old(_)));
    let items = if loose && unchanged(&items) { diffed(&old, &new, |line| line) } else { items };
    if unchanged(&items) {
        return Err(Refusal::new("already applied: the file is exactly as the reply wants it; nothing was changed")
            .flagged(Flag::AlreadyApplied));
    }
    Ok(items)
}

/// Whether a text that claims to be the complete file leaves something out.
pub(in crate::edit) fn complete(old: &[&str], new: &[&str]) -> Result<(), Refusal> {
    let known: BTreeMap<_, _> = old.iter().map(|line| (canon::canon(line), ())).collect();
    let solid = || new.iter().filter(|line| !line.trim().is_empty());
    let opens = solid().next().is_some_and(|line| marker::search_start(line).is_some());
    if opens && solid().next_back().is_some_and(|line| marker::replace_end(line)) {
        return Err(Refusal::new("the fence holds a search/replace block where the whole file was asked for"));
    }
    let is_known = |line: &str| known.contains_key(&canon::canon(line));
    let placeholder = |(at, line): &(usize, &&str)| {
        marker::mentions_elision(line) && !is_known(line) && header_of_stub(new, *at).is_none_or(is_known)
    };
    match new.iter().enumerate().find(placeholder) {
        Some((_, line)) => Err(crate::edit::locate::explain::elided(line)),
        None => Ok(()),
    }
}

/// The line whose whole body is the `...` at `at`, as in a protocol, an overload or a stub file of Python. Only a docstring may
/// stand between them. If the file does not know that line, nothing of it can have been left out.
pub(in crate::edit) fn header_of_stub<'a>(new: &[&'a str], at: usize) -> Option<&'a str> {
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

/// The share of the file's lines that the reply has too, order aside, 0 to 1.
pub(in crate::edit) fn kept_share(old: &[&str], new: &[&str]) -> f32 {
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

/// The reply's lines without blank lines at the ends that the file has not.
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

/// The lines that go and come, place by place.
fn exchanges<'a>(old: &[&'a str], new: &[&str]) -> Vec<Exchange<'a>> {
    let exchange = |step: Step| match step {
        Step::Same(_) => None,
        Step::Replace(old_range, new_range) => {
            let removed = old.get(old_range).unwrap_or_default().to_vec();
            Some(Exchange { removed, added: new_range.collect() })
        }
    };
    line_diff::steps(old, new).into_iter().filter_map(exchange).collect()
}

/// Whether the file has white space at line ends and the reply has none at all.
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
            Step::Same(old) => items.extend(old.map(Item::Old)),
            Step::Replace(_, range) => {
                let added = new.get(range).unwrap_or_default();
                items.extend(added.iter().map(|line| Item::New((*line).to_owned())));
            }
        }
    }
    items
}
