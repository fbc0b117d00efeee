//! From a change of a file to the blocks that a reply writes it in: how much is quoted, in how many pieces.

use std::ops::Range;

use fastrand::Rng;
use similar::{Algorithm, DiffTag};

use super::fit::Lookup;
use super::sample::Sample;
use super::sketch::{Block, Head, Line, Mark};

/// Lines that are quoted at most on a side to make a quote unique.
const MOST_CONTEXT: usize = 16;

/// The old lines and the new lines of one change.
type Change = (Range<usize>, Range<usize>);

/// The blocks of a change with so many lines of context, or more where fewer would fit several places; none if even
/// many lines would. With `loose`, white space does not tell places apart.
pub(super) fn blocks(sample: &Sample, context: usize, loose: bool) -> Option<Vec<Block>> {
    let ops = similar::capture_diff_slices(Algorithm::Myers, &sample.before, &sample.after);
    let changed = ops.into_iter().filter(|op| op.tag() != DiffTag::Equal);
    let changes: Vec<Change> = changed.map(|op| (op.old_range(), op.new_range())).collect();
    let lookup = Lookup::new(&sample.before);
    let mut groups: Vec<(Range<usize>, Vec<Change>)> = Vec::new();
    for change in changes {
        let mut more = context;
        let range = loop {
            let range = around(&change.0, more, sample.before.len());
            let quote: Vec<&str> = sample.before.get(range.clone())?.iter().map(String::as_str).collect();
            if lookup.count(&quote, loose) == 1 {
                break range;
            }
            more += 1;
            if more > MOST_CONTEXT {
                return None;
            }
        };
        groups.push((range, vec![change]));
    }
    let blocks = merged(groups).into_iter().map(|(range, changes)| block(sample, range, &changes));
    Some(blocks.collect())
}

fn around(range: &Range<usize>, context: usize, lines: usize) -> Range<usize> {
    range.start.saturating_sub(context)..(range.end + context).min(lines)
}

/// Pieces that touch become one: what a reply quotes as it was must not change beside it.
fn merged(groups: Vec<(Range<usize>, Vec<Change>)>) -> Vec<(Range<usize>, Vec<Change>)> {
    let mut merged: Vec<(Range<usize>, Vec<Change>)> = Vec::new();
    for (range, mut changes) in groups {
        // A wide piece may reach back over several.
        let mut start = range.start;
        while let Some((before, _)) = merged.last().filter(|(before, _)| start <= before.end) {
            start = start.min(before.start);
            let (wide, mut earlier) = merged.pop().unwrap_or_default();
            earlier.append(&mut changes);
            changes = earlier;
            start = start.min(wide.start);
        }
        let end = changes.iter().map(|change| change.0.end).max().unwrap_or_default().max(range.end);
        merged.push((start..end, changes));
    }
    merged
}

fn block(sample: &Sample, range: Range<usize>, changes: &[Change]) -> Block {
    let mut lines = Vec::new();
    let old = |mark, range: Range<usize>| {
        let texts = sample.before.get(range.clone()).unwrap_or_default();
        range.zip(texts).map(move |(at, text)| Line::new(mark, at, text))
    };
    let mut at = range.start;
    for (gone, new) in changes {
        lines.extend(old(Mark::Keep, at..gone.start));
        lines.extend(old(Mark::Delete, gone.clone()));
        let texts = sample.after.get(new.clone()).unwrap_or_default();
        lines.extend(texts.iter().map(|text| Line::new(Mark::Insert, gone.end, text)));
        at = gone.end;
    }
    lines.extend(old(Mark::Keep, at..range.end));
    Block { lines, blockwise: false, head: Head::Dots, counts: true }
}

/// The line numbers in a head: near the truth, or anywhere.
pub(super) fn numbers(block: &Block, lines: usize, rng: &mut Rng) -> Head {
    let first = block.range().0 + 1;
    let start = match rng.usize(..4) {
        0 => first,
        1 => first.saturating_sub(rng.usize(1..9)).max(1),
        2 => first + rng.usize(1..9),
        _ => rng.usize(1..=lines.max(1)),
    };
    Head::Numbers(start, start + rng.usize(..4))
}

/// The line that opens the scope in which a block begins, if one does.
pub(super) fn scope(base: &[String], block: &Block) -> Option<String> {
    let width = |line: &str| line.len() - line.trim_start().len();
    let own = block.lines.iter().find(|line| line.is_quoted() && line.is_solid())?;
    let above = base.get(..block.range().0)?.iter().rev();
    let opens = |line: &&String| {
        !line.trim().is_empty() && width(line) < width(&own.text) && line.trim().starts_with(char::is_alphabetic)
    };
    above.clone().find(opens).map(|line| line.trim().to_owned()).filter(|line| !line.contains("@@"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn sample(before: &str, after: &str) -> Sample {
        let lines = |text: &str| text.chars().map(String::from).collect();
        let (before, after) = (lines(before), lines(after));
        Sample { origin: "x".into(), path: "a.py".into(), before, after, around: BTreeMap::new() }
    }

    fn quotes(before: &str, after: &str, context: usize) -> Option<Vec<String>> {
        let quote = |block: &Block| block.lines.iter().filter(|l| l.is_quoted()).map(|l| l.text.as_str()).collect();
        blocks(&sample(before, after), context, true).map(|blocks| blocks.iter().map(quote).collect())
    }

    #[test]
    fn a_quote_grows_until_it_is_unique() {
        assert_eq!(quotes("abcdefgh", "abcDefgh", 1), Some(vec!["cde".into()]));
        assert_eq!(quotes("abxab", "abxaBb", 1), Some(vec!["xab".into()]));
        assert_eq!(quotes("xay_zay", "xay_zAy", 0), Some(vec!["zay".into()]));
        let same = "a".repeat(60);
        assert_eq!(quotes(&same, &format!("{same}b"), 0), None);
    }

    #[test]
    fn pieces_that_touch_are_one() {
        assert_eq!(quotes("abcdefghij", "abXdefgYij", 1), Some(vec!["bcd".into(), "ghi".into()]));
        assert_eq!(quotes("abcdefghij", "abXdefgYij", 3), Some(vec!["abcdefghij".into()]));
    }

    #[test]
    fn the_scope_is_the_line_that_is_indented_less() {
        let base: Vec<String> = ["class A:", "    def f(self):", "", "        x = 1"].map(str::to_owned).to_vec();
        let lines = vec![Line::new(Mark::Delete, 3, &base[3])];
        let block = Block { lines, blockwise: false, head: Head::Bare, counts: true };
        assert_eq!(scope(&base, &block).as_deref(), Some("def f(self):"));
    }
}
