//! Refusals in words that let the model send a better edit.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::align::{Place, QuoteKind, QuoteLine};
use super::canon;
use crate::compose::view::View;
use crate::outcome::{Candidate, Excerpt, Flag, Refusal};
use rhumb_text::lines;

/// So many characters of a line are shown.
const SHOWN: usize = 120;
/// So many closest places are listed.
const CLOSEST: usize = 3;
/// So many lines are quoted before and after a place.
const AROUND: usize = 3;
/// So many lines of a place are quoted at most.
const LONGEST: usize = 40;

/// A refusal that another state of the file could turn into a match.
pub(crate) fn missing(reason: impl Into<String>) -> Refusal {
    Refusal { missing: true, ..Refusal::new(reason) }
}

/// The change is in the file.
pub(crate) fn already_applied() -> Refusal {
    missing("already applied: the file says what this edit asks for; nothing was changed").flagged(Flag::AlreadyApplied)
}

/// A placeholder stands among the added lines.
pub(crate) fn elided(line: &str) -> Refusal {
    let line = shown(line);
    Refusal::new(format!("elision: the added line {line} stands for code that is not shown; write that code out"))
        .flagged(Flag::Elision)
}

/// The quote fits the given places (0-based line, similarity) about equally well.
pub(crate) fn ambiguous(places: Vec<(usize, f32)>) -> Refusal {
    let candidates = candidates(places);
    let mut lines: Vec<usize> = candidates.iter().map(|candidate| candidate.line).collect();
    lines.sort_unstable();
    let reason = format!(
        "ambiguous: the quoted lines fit equally well at lines {}; quote more of the lines around the one place you mean",
        listed(&lines)
    );
    Refusal { candidates, missing: true, ..Refusal::new(reason) }.flagged(Flag::Ambiguous)
}

/// The quote is not in the file; says where it differs from the closest place.
pub(super) fn no_match(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> Refusal {
    let weight = place.weight.max(0.1);
    let close = place.candidates.iter().map(|(line, cost)| (*line, 1.0 - cost / weight));
    let candidates = candidates(close.filter(|(_, similarity)| *similarity > 0.3).take(CLOSEST).collect());
    let mut reason = String::from("no match: the quoted lines are not in the file as one place");
    if let Some((line, difference)) = first_difference(view, quote, place) {
        reason.push_str(&format!(". The quote has {} as its line {}, {difference}", shown(&line.1), line.0));
    }
    if !candidates.is_empty() {
        let lines: Vec<usize> = candidates.iter().map(|candidate| candidate.line).collect();
        reason.push_str(&format!(". Closest: line {}", listed(&lines)));
    }
    Refusal { candidates, missing: true, ..Refusal::new(reason) }
}

/// The first quoted line that was not found (its number and text), and what the file has in its place.
fn first_difference(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> Option<((usize, String), String)> {
    let lost = quote
        .iter()
        .zip(&place.map)
        .position(|(line, at)| at.is_none() && line.kind != QuoteKind::Gap && !line.text.trim().is_empty())?;
    let text = quote.get(lost)?.text;
    let before = place.map.iter().take(lost).rev().find_map(|at| *at).map(|at| at + 1);
    let after = place.map.iter().skip(lost).find_map(|at| *at).and_then(|at| at.checked_sub(1));
    let known = view.places(&canon::canon(text));
    let difference = match (before.or(after).filter(|at| *at < view.len()), known.first()) {
        (_, Some(line)) => format!("which the file has elsewhere, at line {}", line + 1),
        (Some(at), None) => format!("the file has {} at line {}", shown(view.body(at)), at + 1),
        (None, None) => "which is nowhere in the file".to_owned(),
    };
    Some(((lost + 1, text.to_owned()), difference))
}

fn candidates(places: Vec<(usize, f32)>) -> Vec<Candidate> {
    let candidate =
        |(line, similarity): (usize, f32)| Candidate { line: line + 1, similarity: similarity.clamp(0.0, 1.0) };
    places.into_iter().map(candidate).collect()
}

/// `12`, `12 and 40`, `12, 40 and 55`.
fn listed(lines: &[usize]) -> String {
    let words: Vec<String> = lines.iter().map(usize::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The line of `text` (1-based) from which as many lines as `quote` has share most with it; `None` if no line that tells
/// something is in both.
pub(crate) fn likely_line(text: &str, quote: &str) -> Option<usize> {
    let wanted: BTreeSet<Cow<'_, str>> =
        quote.lines().filter(|line| canon::is_telling(line)).map(canon::canon).collect();
    let is_wanted: Vec<bool> =
        text.lines().map(|line| canon::is_telling(line) && wanted.contains(&canon::canon(line))).collect();
    let count = quote.lines().count().clamp(1, is_wanted.len().max(1));
    let shared = |window: &[bool]| window.iter().filter(|is_wanted| **is_wanted).count();
    let windows = is_wanted.windows(count).enumerate().map(|(at, window)| (shared(window), at));
    // Of equally good ones the first.
    let best = windows.max_by_key(|(shared, at)| (*shared, Reverse(*at)))?;
    (best.0 > 0).then_some(best.1 + 1)
}

/// The lines of `text` (1-based) at which as many lines as `quote` has share something with it, the likeliest first; at most
/// `most`, and no two that overlap.
pub fn likely_lines(text: &str, quote: &str, most: usize) -> Vec<usize> {
    let quoted: Vec<Option<Cow<'_, str>>> =
        quote.lines().map(|line| canon::is_telling(line).then(|| canon::canon(line))).collect();
    let wanted: BTreeSet<&Cow<'_, str>> = quoted.iter().flatten().collect();
    let there: Vec<Option<Cow<'_, str>>> = text
        .lines()
        .map(|line| canon::is_telling(line).then(|| canon::canon(line)).filter(|line| wanted.contains(line)))
        .collect();
    let count = quoted.len().clamp(1, there.len().max(1));
    // How many lines are in both, and how many of them in the same place.
    let score = |(at, window): (usize, &[Option<Cow<'_, str>>])| {
        let shared = window.iter().flatten().count();
        let aligned = window.iter().zip(&quoted).filter(|(line, quoted)| line.is_some() && line == quoted).count();
        (shared, aligned, at)
    };
    let mut places: Vec<_> = there.windows(count).enumerate().map(score).filter(|(shared, ..)| *shared > 0).collect();
    places.sort_by_key(|(shared, aligned, at)| (Reverse((*shared, *aligned)), *at));
    let mut found: Vec<usize> = Vec::new();
    for (.., at) in places {
        if found.len() < most && found.iter().all(|other| other.abs_diff(at) >= count) {
            found.push(at);
        }
    }
    found.into_iter().map(|at| at + 1).collect()
}

/// The lines of `text` where a quote of `count` lines that begins near `line` (1-based) may stand, and a few around.
pub(crate) fn excerpt(text: &str, line: usize, count: usize) -> Excerpt {
    let lines = lines::split(text);
    let first = line.saturating_sub(1 + AROUND).min(lines.len());
    let last = (line.saturating_sub(1) + count.min(LONGEST) + AROUND).min(lines.len());
    let text = lines.get(first..last).unwrap_or_default().iter().map(|line| lines::body(line)).collect::<Vec<_>>();
    Excerpt { line: first + 1, text: text.join("\n"), with_edits: false }
}

/// A line in backticks, shortened.
fn shown(line: &str) -> String {
    let text: String = line.trim().chars().take(SHOWN).collect();
    let more = if line.trim().chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("`{text}{more}`")
}
