//! Splitting a hunk: which added lines are new versions of which removed lines, and where the hunk can be cut.

use rhumb_text::lines;
use std::ops::Range;

/// Minimum similarity (0 to 1) of two versions of a line.
const MIN_VERSION_SIMILARITY: f64 = 0.5;

/// Maximum number of pairs of lines that are compared. In a larger hunk no lines are paired.
const MAX_PAIRS: usize = 10_000;

/// Maximum product of the lengths of the removed and of the added lines, in bytes: the number of steps of the
/// comparison. In a larger hunk no lines are paired.
const MAX_STEPS: usize = 10_000_000;

/// A part of a hunk: these removed lines become these added lines (0-based on each side).
pub(crate) type Part = (Range<usize>, Range<usize>);

/// The smallest parts of a hunk: a line and its new version, a run of lines without one, a paragraph of lines that
/// are only added or only removed. If that is only one part, the hunk is split into lines.
pub(crate) fn parts(removed: &[&str], added: &[&str]) -> Vec<Part> {
    if removed.len() == 1 && added.len() == 1 {
        return vec![(0..1, 0..1)];
    }
    let (mut parts, mut at) = (Vec::new(), (0, 0));
    for (old, new) in matching_lines(removed, added) {
        push_unmatched(&mut parts, (at.0..old, at.1..new), removed, added);
        parts.push((old..old + 1, new..new + 1));
        at = (old + 1, new + 1);
    }
    push_unmatched(&mut parts, (at.0..removed.len(), at.1..added.len()), removed, added);
    if parts.len() > 1 {
        return parts;
    }
    let gone = (0..removed.len()).map(|line| (line..line + 1, 0..0));
    let come = (0..added.len()).map(|line| (removed.len()..removed.len(), line..line + 1));
    gone.chain(come).collect()
}

/// The number of removed and of added lines in the first part, if the hunk is split before its line `line`
/// (0-based, removed lines first). `None` at its ends.
pub(crate) fn cut(removed: &[&str], added: &[&str], line: usize) -> Option<(usize, usize)> {
    if line == 0 || line >= removed.len() + added.len() {
        return None;
    }
    let Some(own) = line.checked_sub(removed.len()) else {
        // The added lines up to the last pair above the cut go to the first part.
        let before = matching_lines(removed, added).into_iter().take_while(|(old, _)| *old < line).last();
        return Some((line, before.map_or(0, |(_, new)| new + 1)));
    };
    if own == 0 {
        return Some((removed.len(), 0));
    }
    let after = matching_lines(removed, added).into_iter().find(|(_, new)| *new >= own);
    Some((after.map_or(removed.len(), |(old, _)| old), own))
}

/// The part with the chosen lines (runs, 0-based, removed lines first). Lines of one side include their versions on
/// the other. `None` for no lines.
pub(crate) fn chosen(removed: &[&str], added: &[&str], runs: &[Range<usize>]) -> Option<Part> {
    let count = removed.len();
    let lines = || runs.iter().cloned().flatten().filter(|line| *line < count + added.len());
    let old = span_of(lines().filter(|line| *line < count));
    let new = span_of(lines().filter_map(|line| line.checked_sub(count)));
    match (old, new) {
        (Some(old), Some(new)) => Some((old, new)),
        (Some(old), None) => {
            let pairs = matching_lines(removed, added);
            let own = span_of(pairs.iter().filter(|(line, _)| old.contains(line)).map(|(_, version)| *version));
            let before = pairs.iter().take_while(|(line, _)| *line < old.start).last().map_or(0, |(_, new)| new + 1);
            Some((old, own.unwrap_or(before..before)))
        }
        (None, Some(new)) => {
            let pairs = matching_lines(removed, added);
            let own = span_of(pairs.iter().filter(|(_, line)| new.contains(line)).map(|(version, _)| *version));
            let after = pairs.iter().find(|(_, line)| *line >= new.end).map_or(count, |(old, _)| *old);
            Some((own.unwrap_or(after..after), new))
        }
        (None, None) => None,
    }
}

/// The smallest range that contains some lines.
fn span_of(mut lines: impl Iterator<Item = usize>) -> Option<Range<usize>> {
    let first = lines.next()?;
    Some(lines.fold(first..first + 1, |span_of, line| span_of.start.min(line)..span_of.end.max(line + 1)))
}

/// Adds a run of lines without other versions.
fn push_unmatched(parts: &mut Vec<Part>, (old, new): Part, removed: &[&str], added: &[&str]) {
    match (old.is_empty(), new.is_empty()) {
        (true, true) => {}
        (false, false) => parts.push((old, new)),
        (true, false) => parts.extend(paragraphs(added, new).map(|range| (old.clone(), range))),
        (false, true) => parts.extend(paragraphs(removed, old).map(|range| (range, new.clone()))),
    }
}

/// The lines, cut after blank lines.
fn paragraphs(lines: &[&str], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let blank = |line: usize| lines.get(line).is_none_or(|line| line.trim().is_empty());
    let is_cut = |line: &usize| *line > range.start && blank(line - 1) && !blank(*line);
    let mut starts: Vec<usize> = range.clone().filter(is_cut).collect();
    // A blank line at the start belongs to the lines below it.
    if let Some(first) = starts.first()
        && (range.start..*first).all(blank)
    {
        starts.remove(0);
    }
    let ends = starts.clone().into_iter().chain([range.end]);
    [range.start].into_iter().chain(starts).zip(ends).map(|(start, end)| start..end)
}

/// Pairs of similar removed and added lines, ascending on both sides, with the greatest sum of similarities.
fn matching_lines(removed: &[&str], added: &[&str]) -> Vec<(usize, usize)> {
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    if removed.len().saturating_mul(added.len()) > MAX_PAIRS || bytes(removed).saturating_mul(bytes(added)) > MAX_STEPS
    {
        return Vec::new();
    }
    let similar = |old: &str, new: &str| {
        let (old, new) = (lines::body(old).trim(), lines::body(new).trim());
        // Blank lines are not paired.
        let similarity = if old.is_empty() || new.is_empty() { 0.0 } else { strsim::normalized_levenshtein(old, new) };
        if similarity < MIN_VERSION_SIMILARITY { 0.0 } else { similarity }
    };
    let columns = added.len() + 1;
    let similarity: Vec<f64> = removed.iter().flat_map(|old| added.iter().map(|new| similar(old, new))).collect();
    let similarity = |old: usize, new: usize| similarity.get(old * added.len() + new).copied().unwrap_or_default();
    // The greatest sum of the lines from (old, new) on.
    let mut best = vec![0.0f64; (removed.len() + 1) * columns];
    for old in (0..removed.len()).rev() {
        for new in (0..added.len()).rev() {
            let at = old * columns + new;
            let paired = similarity(old, new) + best[at + columns + 1];
            best[at] = paired.max(best[at + 1]).max(best[at + columns]);
        }
    }
    let (mut pairs, mut old, mut new) = (Vec::new(), 0, 0);
    while old < removed.len() && new < added.len() {
        let at = old * columns + new;
        let own = similarity(old, new);
        if own > 0.0 && own + best[at + columns + 1] >= best[at] {
            pairs.push((old, new));
            (old, new) = (old + 1, new + 1);
        } else if best[at + columns] >= best[at] {
            old += 1;
        } else {
            new += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_goes_with_its_new_version() {
        let removed = ["let a = one();\n", "let b = two();\n"];
        let added = ["// first\n", "let a = one(1);\n", "let b = two(2);\n"];
        assert_eq!(parts(&removed, &added), [(0..0, 0..1), (0..1, 1..2), (1..2, 2..3)]);
        assert_eq!(cut(&removed, &added, 1), Some((1, 2)));
        assert_eq!(cut(&removed, &added, 4), Some((1, 2)));
        assert_eq!(cut(&removed, &added, 2), Some((2, 0)));
        assert_eq!(cut(&removed, &added, 5), None);
    }

    #[test]
    fn added_lines_come_apart_into_paragraphs_and_then_into_lines() {
        let added = ["\n", "fn a() {\n", "}\n", "\n", "fn b() {\n", "}\n"];
        assert_eq!(parts(&[], &added), [(0..0, 0..4), (0..0, 4..6)]);
        assert_eq!(parts(&[], &added[4..]), [(0..0, 0..1), (0..0, 1..2)]);
    }

    #[test]
    fn lines_that_have_nothing_in_common_stay_together_beside_others() {
        let removed = ["alpha = 1\n", "return 77\n"];
        let added = ["alpha = 2\n", "yield from every_thing\n"];
        assert_eq!(parts(&removed, &added), [(0..1, 0..1), (1..2, 1..2)]);
    }

    #[test]
    fn very_long_lines_are_not_compared() {
        let (one, other) = ("a".repeat(4_000), "a".repeat(4_001));
        assert_eq!(matching_lines(&[&one], &[&other]), []);
        assert_eq!(parts(&[&one], &[&other]), [(0..1, 0..1)]);
        assert_eq!(matching_lines(&[&one[..3_000]], &[&other[..3_000]]), [(0, 0)]);
    }

    #[test]
    fn lines_of_one_side_are_chosen_with_their_versions_and_those_of_both_as_they_are() {
        let removed = ["let a = one();\n", "let b = two();\n", "let c = three();\n"];
        let added = ["let a = one(1);\n", "let b = two(2);\n", "let c = three(3);\n", "# nothing like it\n"];
        let of_one = |run: Range<usize>| chosen(&removed, &added, &[run]);
        assert_eq!(of_one(1..2), Some((1..2, 1..2)));
        assert_eq!(of_one(4..5), Some((1..2, 1..2)));
        assert_eq!(of_one(6..7), Some((3..3, 3..4)));
        assert_eq!(chosen(&removed, &added, &[1..3, 3..4]), Some((1..3, 0..1)));
        assert_eq!(of_one(7..9), None);
    }

    proptest! {
        #[test]
        fn parts_and_cuts_leave_no_line_out(
            removed in prop::collection::vec("[ab]{0,3}", 0..8),
            added in prop::collection::vec("[ab]{0,3}", 0..8),
            line in 0usize..18,
        ) {
            let removed: Vec<&str> = removed.iter().map(String::as_str).collect();
            let added: Vec<&str> = added.iter().map(String::as_str).collect();
            let (mut old, mut new) = (0, 0);
            for (part_old, part_new) in parts(&removed, &added) {
                prop_assert_eq!((part_old.start, part_new.start), (old, new));
                prop_assert!(!part_old.is_empty() || !part_new.is_empty());
                (old, new) = (part_old.end, part_new.end);
            }
            prop_assert_eq!((old, new), (removed.len(), added.len()));
            if let Some((old, new)) = cut(&removed, &added, line) {
                prop_assert!(old <= removed.len() && new <= added.len());
                prop_assert!(old + new > 0 && old + new < removed.len() + added.len());
            }
        }
    }
}
