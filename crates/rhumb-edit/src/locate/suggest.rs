//! Suggestions for an edit that was not located: likely lines, excerpts, and the range that a reviewer would
//! replace.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use rhumb_text::lines;

use super::line_diff::{self, DiffStep};
use super::normalize::{self, normalize};
use super::similarity::{self, Probe};
use crate::outcome::Excerpt;

/// Number of lines, in addition to half of the quote, that are compared before and after the line where the quote
/// may begin. The reviewer sees the range before it is used, and can change it.
const EXTRA_CONTEXT_LINES: usize = 3;

/// Minimum similarity (0 to 1) of two lines that may be versions of each other. The most similar line wins, so that
/// the value only decides whether any line is suggested.
const MIN_SIMILARITY: f32 = 0.6;

/// Maximum number of lines of a quote that are searched for, and of a file that is searched. They bound the time of
/// [`similar_line`] to 400,000 comparisons.
const MAX_PROBES: usize = 20;
const MAX_FILE_LINES: usize = 20_000;

/// Number of lines that an excerpt has before and after the quoted lines, as many as in a unified diff.
const EXCERPT_CONTEXT: usize = 3;
/// Maximum number of quoted lines in an excerpt. Bounds the size of the message to the model.
const MAX_EXCERPT_LINES: usize = 40;

/// The line of `text` (1-based) at which a window as long as `quote` shares most lines with it. `None` if they
/// share no significant line.
pub(crate) fn likely_line(text: &str, quote: &str) -> Option<usize> {
    let wanted: BTreeSet<Cow<'_, str>> =
        quote.lines().filter(|line| normalize::is_significant(line)).map(normalize).collect();
    let is_wanted: Vec<bool> =
        text.lines().map(|line| normalize::is_significant(line) && wanted.contains(&normalize(line))).collect();
    let count = quote.lines().count().clamp(1, is_wanted.len().max(1));
    let shared = |window: &[bool]| window.iter().filter(|is_wanted| **is_wanted).count();
    let windows = is_wanted.windows(count).enumerate().map(|(at, window)| (shared(window), at));
    // The first of several equally good windows.
    let best = windows.max_by_key(|(shared, at)| (*shared, Reverse(*at)))?;
    (best.0 > 0).then_some(best.1 + 1)
}

/// The lines of `text` (1-based) at which a window as long as `quote` shares lines with it, most similar first. At
/// most `most` lines, and no overlapping windows.
pub fn likely_lines(text: &str, quote: &str, most: usize) -> Vec<usize> {
    let quoted: Vec<Option<Cow<'_, str>>> =
        quote.lines().map(|line| normalize::is_significant(line).then(|| normalize(line))).collect();
    let wanted: BTreeSet<&Cow<'_, str>> = quoted.iter().flatten().collect();
    let there: Vec<Option<Cow<'_, str>>> = text
        .lines()
        .map(|line| normalize::is_significant(line).then(|| normalize(line)).filter(|line| wanted.contains(line)))
        .collect();
    let count = quoted.len().clamp(1, there.len().max(1));
    // The number of shared lines, and the number of those at the same position.
    let score = |(at, window): (usize, &[Option<Cow<'_, str>>])| {
        let shared = window.iter().flatten().count();
        let aligned = window.iter().zip(&quoted).filter(|(line, quoted)| line.is_some() && line == quoted).count();
        (shared, aligned, at)
    };
    let mut windows: Vec<_> = there.windows(count).enumerate().map(score).filter(|(shared, ..)| *shared > 0).collect();
    windows.sort_by_key(|(shared, aligned, at)| (Reverse((*shared, *aligned)), *at));
    let mut found: Vec<usize> = Vec::new();
    for (.., at) in windows {
        if found.len() < most && found.iter().all(|other| other.abs_diff(at) >= count) {
            found.push(at);
        }
    }
    found.into_iter().map(|at| at + 1).collect()
}

/// The lines of `text` around a quote of `count` lines that begins near `line` (1-based).
pub(crate) fn excerpt(text: &str, line: usize, count: usize) -> Excerpt {
    let lines = lines::split(text);
    let first = line.saturating_sub(1 + EXCERPT_CONTEXT).min(lines.len());
    let last = (line.saturating_sub(1) + count.min(MAX_EXCERPT_LINES) + EXCERPT_CONTEXT).min(lines.len());
    let text = lines.get(first..last).unwrap_or_default().iter().map(|line| lines::body(line)).collect::<Vec<_>>();
    Excerpt { line: first + 1, text: text.join("\n"), with_edits: false }
}

/// The lines of `text` (0-based) that an edit would replace, if its quote begins near `line` (0-based). The range
/// begins and ends with lines of the quote, and includes lines around it that the replacement repeats.
pub fn range_near(text: &str, quote: &str, replacement: &str, line: usize) -> Range<usize> {
    let (file, quoted) = (bodies(text), bodies(quote));
    let slack = EXTRA_CONTEXT_LINES + quoted.len() / 2;
    let from = line.saturating_sub(slack).min(file.len());
    let to = (line + quoted.len() + slack).min(file.len());
    let window = keys(file.get(from..to).unwrap_or_default(), "file");
    let steps = line_diff::steps(&refs(&keys(&quoted, "quote")), &refs(&window));
    let (mut quote_at, mut pairs) = (0, Vec::new());
    let mut file_at = from;
    for step in steps {
        match step {
            DiffStep::Same(same) => {
                pairs.extend(same.clone().map(|at| (at, file_at + at - quote_at)));
                (quote_at, file_at) = (same.end, file_at + same.len());
            }
            DiffStep::Replace(old, new) => (quote_at, file_at) = (old.end, file_at + new.len()),
        }
    }
    let range = match (pairs.first(), pairs.last()) {
        (Some((first, start)), Some((last, end))) => {
            let rest = quoted.get(last + 1..).unwrap_or_default();
            let after = file.get(end + 1..).unwrap_or_default();
            let more = rest.iter().zip(after).take_while(|(quoted, found)| may_replace(quoted, found)).count();
            start.saturating_sub(*first)..end + 1 + more
        }
        _ => line.min(file.len())..(line + quoted.len()).min(file.len()),
    };
    let repeated = duplicate_lines(text, &range, replacement);
    repeated.before.start..repeated.after.end
}

/// The line (0-based) at which a quote may begin of which no line is in the file exactly: by its most similar line.
/// `None` if no lines are similar.
pub fn similar_line(text: &str, quote: &str) -> Option<usize> {
    let file = bodies(text);
    let quoted = bodies(quote);
    let telling = quoted.iter().enumerate().filter(|(_, line)| normalize::is_significant(line)).take(MAX_PROBES);
    let mut best: Option<(f32, usize)> = None;
    for (nth, line) in telling {
        let probe = Probe::new(line.trim());
        for (at, other) in file.iter().enumerate().take(MAX_FILE_LINES) {
            let minimum = best.map_or(MIN_SIMILARITY, |(similarity, _)| similarity);
            if let Some(similarity) =
                probe.similarity(other.trim(), minimum).filter(|similarity| best.is_none() || *similarity > minimum)
            {
                best = Some((similarity, at.saturating_sub(nth)));
            }
        }
    }
    best.map(|(_, line)| line)
}

/// Whether a quoted line that the file does not have may be an older version of that line of the file.
fn may_replace(quoted: &str, found: &str) -> bool {
    let telling = normalize::is_significant(quoted) && normalize::is_significant(found);
    let other = similarity::declares(found) && !(similarity::declares(quoted) && similarity::may_match(quoted, found));
    normalize(quoted) == normalize(found) || (telling && !other)
}

/// Lines next to a range that the replacement of the range repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateLines {
    /// Right before the range; equal to the first lines of the replacement.
    pub before: Range<usize>,
    /// Right after the range; equal to the last lines of the replacement.
    pub after: Range<usize>,
}

impl DuplicateLines {
    /// Whether no line is repeated.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// The lines next to a range (0-based) that would be there twice with `replacement` in the range. Blank lines do
/// not count.
pub fn duplicate_lines(text: &str, range: &Range<usize>, replacement: &str) -> DuplicateLines {
    let file = bodies(text);
    let new = solid(bodies(replacement).into_iter().enumerate());
    let after = solid(file.iter().copied().enumerate().skip(range.end));
    let before = solid(file.iter().copied().enumerate().take(range.start));
    let same = |one: &[(usize, &str)], other: &[(usize, &str)]| {
        let mut pairs = one.iter().zip(other);
        let telling = one.iter().any(|(_, line)| normalize::is_significant(line));
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
    let (start, end) = (range.start.min(file.len()), range.end.min(file.len()));
    DuplicateLines { before: precedes.unwrap_or(start)..start, after: end..follows.unwrap_or(end) }
}

/// The first line (0-based) with a declaration; 0 if there is none.
pub fn first_declaration(text: &str) -> usize {
    bodies(text).iter().position(|line| similarity::declares(line)).unwrap_or_default()
}

fn bodies(text: &str) -> Vec<&str> {
    lines::split(text).into_iter().map(lines::body).collect()
}

fn solid<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<(usize, &'t str)> {
    lines.filter(|(_, line)| !line.trim().is_empty()).collect()
}

/// The keys by which lines are compared. Insignificant lines never equal a line of the other text.
fn keys<'t>(lines: &[&'t str], side: &'t str) -> Vec<Cow<'t, str>> {
    let key = |line: &&'t str| {
        if normalize::is_significant(line) { normalize(line) } else { Cow::Owned(format!("\n{side}")) }
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
        // The file has one more line than the quote.
        let quote =
            "def total(items):\n    found = 0\n    for item in items:\n        found += item.cost\n    return found\n";
        let replacement = quote.replace("item.cost", "item.cost * 2");
        assert_eq!(range_near(FILE, quote, &replacement, 3), 3..9);
        assert!(duplicate_lines(FILE, &(3..9), &replacement).is_empty());
        assert_eq!(duplicate_lines(FILE, &(3..8), &replacement).after, 8..9);
        assert_eq!(range_near(FILE, quote, &replacement, 4), 3..9, "wherever in it the search began");
    }

    #[test]
    fn a_place_takes_in_the_lines_that_the_replacement_repeats() {
        let quote = "    found = 1\n    for thing in items:\n";
        let replacement =
            "    found = 1\n    for thing in items:\n        found += item.price\n    log(found)\n    return found\n";
        assert_eq!(range_near(FILE, quote, replacement, 4), 4..9);
    }

    #[test]
    fn a_place_does_not_reach_into_the_next_declaration() {
        let quote = "    return found\n    cleanup(found)\n    # the end\n    gone(found)\n";
        assert_eq!(range_near(FILE, quote, "    return found\n", 8), 8..9);
        // Another version of the declaration belongs to the range.
        let quote = "\n\ndef first(items, default):\n    return default\n";
        assert_eq!(range_near(FILE, &format!("    return found\n{quote}"), "x = 100\n", 8), 8..13);
    }

    #[test]
    fn lines_that_stand_next_to_the_place_are_told() {
        let repeated =
            duplicate_lines(FILE, &(5..7), "    found = 0\n    for item in items:\n        pass\n    log(found)\n");
        assert_eq!((repeated.before, repeated.after), (4..5, 7..8));
        assert!(duplicate_lines("a {\n}\n}\n", &(1..2), "}\n").is_empty(), "a brace tells nothing");
        assert!(duplicate_lines("", &(0..0), "x = 100\n").is_empty());
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
