//! Where a reviewer may put an edit that found no place: the lines of the file that it would replace.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use rhumb_text::lines;

use super::line_diff::{self, Step};
use super::normalize::{self, normalize};
use super::similarity::{self, Probe};
use crate::outcome::Excerpt;

/// How many more lines than half of the quote are compared before and after the place where it may begin.
const SLACK: usize = 3;

/// Minimum similarity (0 to 1) of two lines that may be versions of each other.
const MIN_SIMILARITY: f32 = 0.6;

/// Maximum number of lines of a quote that are looked for, and of a file that they are looked for in.
const MAX_PROBES: usize = 20;
const MAX_FILE_LINES: usize = 20_000;

/// Maximum number of lines that an excerpt has before and after the quoted place.
const EXCERPT_CONTEXT: usize = 3;
/// Maximum number of lines that an excerpt has for the quoted place.
const MAX_EXCERPT_LINES: usize = 40;

/// The line of `text` (1-based) from which as many lines as `quote` has share most with it; `None` if no line that tells
/// something is in both.
pub(crate) fn likely_line(text: &str, quote: &str) -> Option<usize> {
    let wanted: BTreeSet<Cow<'_, str>> =
        quote.lines().filter(|line| normalize::is_telling(line)).map(normalize).collect();
    let is_wanted: Vec<bool> =
        text.lines().map(|line| normalize::is_telling(line) && wanted.contains(&normalize(line))).collect();
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
        quote.lines().map(|line| normalize::is_telling(line).then(|| normalize(line))).collect();
    let wanted: BTreeSet<&Cow<'_, str>> = quoted.iter().flatten().collect();
    let there: Vec<Option<Cow<'_, str>>> = text
        .lines()
        .map(|line| normalize::is_telling(line).then(|| normalize(line)).filter(|line| wanted.contains(line)))
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
    let first = line.saturating_sub(1 + EXCERPT_CONTEXT).min(lines.len());
    let last = (line.saturating_sub(1) + count.min(MAX_EXCERPT_LINES) + EXCERPT_CONTEXT).min(lines.len());
    let text = lines.get(first..last).unwrap_or_default().iter().map(|line| lines::body(line)).collect::<Vec<_>>();
    Excerpt { line: first + 1, text: text.join("\n"), with_edits: false }
}

/// The lines of `text` (0-based) that an edit with that quote and replacement would replace, if the quote begins near `line`
/// (0-based). The place begins and ends where lines of the quote do, and takes in lines around it that the replacement repeats.
pub fn place_near(text: &str, quote: &str, replacement: &str, line: usize) -> Range<usize> {
    let (file, quoted) = (bodies(text), bodies(quote));
    let slack = SLACK + quoted.len() / 2;
    let from = line.saturating_sub(slack).min(file.len());
    let to = (line + quoted.len() + slack).min(file.len());
    let window = keys(file.get(from..to).unwrap_or_default(), "file");
    let steps = line_diff::steps(&refs(&keys(&quoted, "quote")), &refs(&window));
    let (mut quote_at, mut pairs) = (0, Vec::new());
    let mut file_at = from;
    for step in steps {
        match step {
            Step::Same(same) => {
                pairs.extend(same.clone().map(|at| (at, file_at + at - quote_at)));
                (quote_at, file_at) = (same.end, file_at + same.len());
            }
            Step::Replace(old, new) => (quote_at, file_at) = (old.end, file_at + new.len()),
        }
    }
    let place = match (pairs.first(), pairs.last()) {
        (Some((first, start)), Some((last, end))) => {
            let rest = quoted.get(last + 1..).unwrap_or_default();
            let after = file.get(end + 1..).unwrap_or_default();
            let more = rest.iter().zip(after).take_while(|(quoted, found)| may_replace(quoted, found)).count();
            start.saturating_sub(*first)..end + 1 + more
        }
        _ => line.min(file.len())..(line + quoted.len()).min(file.len()),
    };
    let repeated = repeats(text, &place, replacement);
    repeated.before.start..repeated.after.end
}

/// The line (0-based) where a quote may begin of which the file has no line as it is: by the two lines that are most alike. `None`
/// if none are alike.
pub fn similar_line(text: &str, quote: &str) -> Option<usize> {
    let file = bodies(text);
    let quoted = bodies(quote);
    let telling = quoted.iter().enumerate().filter(|(_, line)| normalize::is_telling(line)).take(MAX_PROBES);
    let mut best: Option<(f32, usize)> = None;
    for (place, line) in telling {
        let probe = Probe::new(line.trim());
        for (at, other) in file.iter().enumerate().take(MAX_FILE_LINES) {
            let least = best.map_or(MIN_SIMILARITY, |(similarity, _)| similarity);
            if let Some(similarity) =
                probe.likeness(other.trim(), least).filter(|similarity| best.is_none() || *similarity > least)
            {
                best = Some((similarity, at.saturating_sub(place)));
            }
        }
    }
    best.map(|(_, line)| line)
}

/// Whether a quoted line that the file has not may be an older version of that line of the file.
fn may_replace(quoted: &str, found: &str) -> bool {
    let telling = normalize::is_telling(quoted) && normalize::is_telling(found);
    let other =
        similarity::declares(found) && !(similarity::declares(quoted) && similarity::may_stand_for(quoted, found));
    normalize(quoted) == normalize(found) || (telling && !other)
}

/// Lines of a file next to a place that the text to be put there has already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// Right before the place; these are the first lines of the text.
    pub before: Range<usize>,
    /// Right after it; these are its last lines.
    pub after: Range<usize>,
}

impl Repeated {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// Which lines next to a place (0-based) would stand there twice with `replacement` in the place. Blank lines do not count.
pub fn repeats(text: &str, place: &Range<usize>, replacement: &str) -> Repeated {
    let file = bodies(text);
    let new = solid(bodies(replacement).into_iter().enumerate());
    let after = solid(file.iter().copied().enumerate().skip(place.end));
    let before = solid(file.iter().copied().enumerate().take(place.start));
    let same = |one: &[(usize, &str)], other: &[(usize, &str)]| {
        let mut pairs = one.iter().zip(other);
        let telling = one.iter().any(|(_, line)| normalize::is_telling(line));
        one.len() == other.len() && telling && pairs.all(|((_, one), (_, other))| normalize(one) == normalize(other))
    };
    let most = |other: usize| (1..=new.len().min(other)).rev();
    let follows = most(after.len()).find_map(|count| {
        let (last, next) = (new.get(new.len() - count..)?, after.get(..count)?);
        same(last, next).then_some(next.last()?.0 + 1)
    });
    let precedes = most(before.len()).find_map(|count| {
        let (first, previous) = (new.get(..count)?, before.get(before.len() - count..)?);
        same(first, previous).then_some(previous.first()?.0)
    });
    let (start, end) = (place.start.min(file.len()), place.end.min(file.len()));
    Repeated { before: precedes.unwrap_or(start)..start, after: end..follows.unwrap_or(end) }
}

/// The first line (0-based) that declares something; the first line of all if there is none.
pub fn first_declaration(text: &str) -> usize {
    bodies(text).iter().position(|line| similarity::declares(line)).unwrap_or_default()
}

fn bodies(text: &str) -> Vec<&str> {
    lines::split(text).into_iter().map(lines::body).collect()
}

fn solid<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<(usize, &'t str)> {
    lines.filter(|(_, line)| !line.trim().is_empty()).collect()
}

/// What lines are compared by. Lines that tell nothing are like none of the other text.
fn keys<'t>(lines: &[&'t str], side: &'t str) -> Vec<Cow<'t, str>> {
    let key = |line: &&'t str| {
        if normalize::is_telling(line) { normalize(line) } else { Cow::Owned(format!("\n{side}")) }
    };
    lines.iter().map(key).collect()
}

fn refs<'k>(keys: &'k [Cow<'_, str>]) -> Vec<&'k str> {
    keys.iter().map(|key| &**key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
import os


def total(items):
    found = 0
    for item in items:
        found += item.price
    log(found)
    return found


def first(items):
    return items[0]
";

    #[test]
    fn a_place_ends_where_the_lines_of_the_edit_end_in_the_file() {
        // The file has a line more than the quote, which without it would end before the `return`.
        let quote =
            "def total(items):\n    found = 0\n    for item in items:\n        found += item.cost\n    return found\n";
        let replacement = quote.replace("item.cost", "item.cost * 2");
        assert_eq!(place_near(FILE, quote, &replacement, 3), 3..9);
        assert!(repeats(FILE, &(3..9), &replacement).is_empty());
        assert_eq!(repeats(FILE, &(3..8), &replacement).after, 8..9);
        assert_eq!(place_near(FILE, quote, &replacement, 4), 3..9, "wherever in it the search began");
    }

    #[test]
    fn a_place_takes_in_the_lines_that_the_replacement_repeats() {
        let quote = "    found = 1\n    for thing in items:\n";
        let replacement =
            "    found = 1\n    for thing in items:\n        found += item.price\n    log(found)\n    return found\n";
        assert_eq!(place_near(FILE, quote, replacement, 4), 4..9);
    }

    #[test]
    fn a_place_does_not_reach_into_the_next_declaration() {
        let quote = "    return found\n    cleanup(found)\n    # the end\n    gone(found)\n";
        assert_eq!(place_near(FILE, quote, "    return found\n", 8), 8..9);
        // Another version of the declaration itself belongs to the place.
        let quote = "\n\ndef first(items, default):\n    return default\n";
        assert_eq!(place_near(FILE, &format!("    return found\n{quote}"), "x = 100\n", 8), 8..13);
    }

    #[test]
    fn lines_that_stand_next_to_the_place_are_told() {
        let repeated = repeats(FILE, &(5..7), "    found = 0\n    for item in items:\n        pass\n    log(found)\n");
        assert_eq!((repeated.before, repeated.after), (4..5, 7..8));
        assert!(repeats("a {\n}\n}\n", &(1..2), "}\n").is_empty(), "a brace tells nothing");
        assert!(repeats("", &(0..0), "x = 100\n").is_empty());
    }

    #[test]
    fn a_line_that_is_nearly_the_same_tells_where_to_begin() {
        assert_eq!(similar_line(FILE, "x = nothing\n    for item in all_items:\n"), Some(4));
        assert_eq!(similar_line(FILE, "fn open() -> Gate {\n"), None);
    }

    #[test]
    fn without_a_similar_line_an_edit_goes_before_the_first_declaration() {
        assert_eq!((first_declaration(FILE), first_declaration("x = 1\n"), first_declaration("")), (3, 0, 0));
    }
}
