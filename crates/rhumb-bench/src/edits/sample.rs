//! Changes of files, drawn from the history of repositories, and the blocks in which a reply writes them: how many lines are quoted,
//! in how many blocks, and whether a quote is unambiguous.
//!
//! [`LineIndex::fit`] judges cases, not the engine: a quote that fits two locations has no right answer, so such a case is not counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use fastrand::Rng;
use rhumb_syntax::Language;
use rhumb_workspace::git::{Revision, Revisions};
use similar::{Algorithm, DiffTag};

use crate::edits::sketch::{Block, Head, Line, Mark};

/// Maximum number of lines of a file.
const MAX_FILE_LINES: usize = 5_000;
/// Maximum number of removed and added lines of a change.
const MAX_CHANGED_LINES: usize = 160;
/// Maximum length of a line in bytes. Longer lines are generated.
const MAX_LINE_BYTES: usize = 400;

/// A file before and after a change, with some other files of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Where the change is from, for people.
    pub origin: String,
    /// The file, relative to the root, with `/`.
    pub path: String,
    /// The lines before, without terminators. Every line ends with a line feed.
    pub before: Vec<String>,
    /// The lines after.
    pub after: Vec<String>,
    /// Other files of the tree by path.
    pub around: BTreeMap<String, String>,
}

impl Sample {
    /// A sample, or `None` if the texts are unsuitable: equal, very long, changed nearly everywhere, with line endings other than
    /// line feeds, or with markers of edit formats.
    pub fn new(origin: &str, revision: Revision) -> Option<Self> {
        let (before, after) = (lines(&revision.before)?, lines(&revision.after)?);
        let changed = similar::capture_diff_slices(similar::Algorithm::Myers, &before, &after);
        let changed = changed.iter().filter(|op| op.tag() != similar::DiffTag::Equal);
        let changed: usize = changed.map(|op| op.old_range().len() + op.new_range().len()).sum();
        let small = changed <= MAX_CHANGED_LINES && changed * 2 <= before.len() + after.len();
        (changed > 0 && small).then(|| Self {
            origin: format!("{origin} {}", revision.commit.get(..10).unwrap_or_default()),
            path: revision.path,
            before,
            after,
            around: revision.around,
        })
    }
}

/// The lines of a text, or `None` if the text is unsuitable for a sample.
fn lines(text: &str) -> Option<Vec<String>> {
    let odd = |c: char| matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{feff}' | '\u{2028}' | '\u{2029}');
    let marker = |line: &str| {
        let line = line.trim_start();
        ["<<<<<", ">>>>>", "*** Begin", "*** End", "*** Update", "*** Add", "*** Delete", "*** Move"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let body = text.strip_suffix('\n').filter(|body| !body.contains(odd) && !body.ends_with('\n'))?;
    let lines: Vec<String> = body.split('\n').map(str::to_owned).collect();
    let fits = lines.len() <= MAX_FILE_LINES && lines.iter().all(|line| line.len() <= MAX_LINE_BYTES && !marker(line));
    fits.then_some(lines)
}

/// Draws up to `wanted` samples from the history of a repository, at most one from each commit.
pub fn samples(origin: &str, revisions: &Revisions, wanted: usize, rng: &mut Rng) -> Vec<Sample> {
    let mut order: Vec<usize> = (0..revisions.len()).collect();
    rng.shuffle(&mut order);
    let mut found = Vec::new();
    for nth in order {
        if found.len() == wanted {
            break;
        }
        let mut paths = revisions.modified(nth);
        paths.retain(|path| Language::for_path(path).is_some());
        if paths.is_empty() {
            continue;
        }
        let path = paths.swap_remove(rng.usize(..paths.len()));
        found.extend(revisions.revision(nth, &path).and_then(|revision| Sample::new(origin, revision)));
    }
    found
}

/// Maximum number of context lines on each side that make a quote unique.
const MAX_CONTEXT_LINES: usize = 16;

/// The old lines and the new lines of one change.
type Change = (Range<usize>, Range<usize>);

/// The blocks of a change with `context` lines of context, or with more where the quote would fit several locations. `None` if it does
/// so even with [`MAX_CONTEXT_LINES`]. With `loose`, white space is ignored when locations are compared.
pub(crate) fn blocks(sample: &Sample, context: usize, loose: bool) -> Option<Vec<Block>> {
    let ops = similar::capture_diff_slices(Algorithm::Myers, &sample.before, &sample.after);
    let changed = ops.into_iter().filter(|op| op.tag() != DiffTag::Equal);
    let changes: Vec<Change> = changed.map(|op| (op.old_range(), op.new_range())).collect();
    let lookup = LineIndex::new(&sample.before);
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
            if more > MAX_CONTEXT_LINES {
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

/// Joins quotes that touch: a line that one block changes must not be context of another.
fn merged(groups: Vec<(Range<usize>, Vec<Change>)>) -> Vec<(Range<usize>, Vec<Change>)> {
    let mut merged: Vec<(Range<usize>, Vec<Change>)> = Vec::new();
    for (range, mut changes) in groups {
        // A wide quote may overlap several earlier ones.
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

/// The line numbers of a hunk header: right, nearly right, or arbitrary.
pub(crate) fn numbers(block: &Block, lines: usize, rng: &mut Rng) -> Head {
    let first = block.range().0 + 1;
    let start = match rng.usize(..4) {
        0 => first,
        1 => first.saturating_sub(rng.usize(1..9)).max(1),
        2 => first + rng.usize(1..9),
        _ => rng.usize(1..=lines.max(1)),
    };
    Head::Numbers(start, start + rng.usize(..4))
}

/// The line that opens the scope in which a block begins.
pub(crate) fn scope(base: &[String], block: &Block) -> Option<String> {
    let width = |line: &str| line.len() - line.trim_start().len();
    let own = block.lines.iter().find(|line| line.is_quoted() && line.is_solid())?;
    let above = base.get(..block.range().0)?.iter().rev();
    let opens = |line: &&String| {
        !line.trim().is_empty() && width(line) < width(&own.text) && line.trim().starts_with(char::is_alphabetic)
    };
    above.clone().find(opens).map(|line| line.trim().to_owned()).filter(|line| !line.contains("@@"))
}

/// Weight of a misspelt line as evidence for its location; an exact line has weight 1.
const MISSPELT_WEIGHT: f32 = 0.8;
/// Minimum normalized Levenshtein similarity at which one line may be a misspelling of another.
const MIN_SIMILARITY: f64 = 0.7;
/// Minimum lead of the true location over every other location, in lines.
const MIN_LEAD: f32 = 0.75;

/// How clearly a quote identifies its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// No other location fits.
    Clear,
    /// Another location fits nearly as well.
    Close,
    /// Several locations fit exactly.
    Several,
}

/// An index of the lines of a file, for finding quotes.
pub(crate) struct LineIndex<'b> {
    base: &'b [String],
    lines_of: HashMap<String, Vec<usize>>,
}

/// A line with normalized white space and ASCII punctuation.
pub(crate) fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ascii = |c: char| match c {
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{2013}' | '\u{2014}' => '-',
        _ => c,
    };
    words.join(" ").chars().map(ascii).collect()
}

impl<'b> LineIndex<'b> {
    pub(crate) fn new(base: &'b [String]) -> Self {
        let mut lines_of: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, line) in base.iter().enumerate() {
            lines_of.entry(plain(line)).or_default().push(at);
        }
        Self { base, lines_of }
    }

    /// The positions (0-based) of a line, ignoring white space.
    pub(crate) fn lines_of(&self, line: &str) -> &[usize] {
        self.lines_of.get(&plain(line)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The number of locations where the lines occur in sequence; with `loose`, ignoring white space.
    pub(crate) fn count(&self, quote: &[&str], loose: bool) -> usize {
        if quote.iter().all(|line| line.trim().is_empty()) { self.base.len() } else { self.starts(quote, loose).len() }
    }

    /// The positions (0-based) where the lines occur in sequence; empty if all lines are blank.
    pub(crate) fn starts(&self, quote: &[&str], loose: bool) -> Vec<usize> {
        let Some(anchor) = quote.iter().position(|line| !line.trim().is_empty()) else { return Vec::new() };
        let same = |(a, b): (&String, &&str)| if loose { plain(a) == plain(b) } else { a == b };
        let starts = self.lines_of(quote.get(anchor).copied().unwrap_or_default()).iter();
        let starts = starts.filter_map(|at| at.checked_sub(anchor));
        let window = |start: usize| self.base.get(start..start + quote.len());
        starts.filter(|start| window(*start).is_some_and(|window| window.iter().zip(quote).all(same))).collect()
    }

    /// The lines (0-based) of which `text` may be a misspelling.
    fn like(&self, text: &str) -> Vec<usize> {
        let text = text.trim();
        let like = |line: &str| {
            let near = line.len() * 2 > text.len() && line.len() < text.len() * 2;
            near && strsim::normalized_levenshtein(line, text) > MIN_SIMILARITY
        };
        let lines = self.base.iter().enumerate();
        lines.filter(|(_, line)| like(line.trim())).map(|(at, _)| at).collect()
    }

    /// How clearly the quoted lines of `block` identify the location that they are from.
    pub(crate) fn fit(&self, block: &Block) -> Fit {
        let quoted: Vec<&Line> = block.lines.iter().filter(|line| line.is_quoted()).collect();
        let texts: Vec<&str> = quoted.iter().map(|line| line.text.as_str()).collect();
        let own = quoted.first().and_then(|line| line.at);
        match self.starts(&texts, false).as_slice() {
            [] => self.compared(&quoted),
            [only] if Some(*only) == own => Fit::Clear,
            // With lines left out, a quote may fit another location exactly.
            [_] => Fit::Close,
            _ => Fit::Several,
        }
    }

    /// Compares the true location with the same lines shifted up or down, allowing for lines that the quote leaves out.
    fn compared(&self, quoted: &[&Line]) -> Fit {
        let founded = quoted.iter().filter_map(|line| Some((line.at?, line.text.as_str())));
        let founded: Vec<(usize, &str)> = founded.filter(|(_, text)| !text.trim().is_empty()).collect();
        let mut own = 0.0;
        let mut shifts: BTreeMap<isize, BTreeSet<usize>> = BTreeMap::new();
        for (nth, (at, text)) in founded.iter().enumerate() {
            let mut hits = self.lines_of(text).to_vec();
            own += if hits.contains(at) { 1.0 } else { MISSPELT_WEIGHT };
            if hits.is_empty() {
                hits = self.like(text);
            }
            for hit in hits.iter().filter(|hit| *hit != at) {
                shifts.entry(*hit as isize - *at as isize).or_default().insert(nth);
            }
        }
        let left_out = founded.windows(2).map(|pair| match pair {
            [(a, _), (b, _)] => b.saturating_sub(*a).saturating_sub(1),
            _ => 0,
        });
        let left_out = left_out.sum::<usize>().min(12) as isize;
        let best = shifts.keys().map(|shift| {
            let near = shifts.range(*shift..=*shift + left_out).flat_map(|(_, lines)| lines);
            near.collect::<BTreeSet<_>>().len()
        });
        let rival = best.max().unwrap_or_default();
        if rival as f32 > own - MIN_LEAD { Fit::Close } else { Fit::Clear }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::sketch::{Head, Mark};
    use std::collections::BTreeMap;

    fn sample(before: &str, after: &str) -> Option<Sample> {
        let (before, after) = (before.to_owned(), after.to_owned());
        Sample::new("x", Revision { commit: "0".into(), path: "a.py".into(), before, after, around: BTreeMap::new() })
    }

    #[test]
    fn only_plain_texts_with_a_small_change_are_samples() {
        assert!(sample("a\nb\nc\n", "a\nB\nc\n").is_some());
        for (before, after) in [
            ("a\nb\n", "a\nb\n"),
            ("a\r\nb\n", "a\nb\n"),
            ("a\nb", "a\nc\n"),
            ("a\n<<<<<<< SEARCH\nb\nc\n", "a\n<<<<<<< SEARCH\nb\nd\n"),
            ("a\nb\nc\n", "d\ne\nf\n"),
        ] {
            assert_eq!(sample(before, after), None, "{before:?}");
        }
    }

    fn letters(before: &str, after: &str) -> Sample {
        let lines = |text: &str| text.chars().map(String::from).collect();
        let (before, after) = (lines(before), lines(after));
        Sample { origin: "x".into(), path: "a.py".into(), before, after, around: BTreeMap::new() }
    }

    fn quotes(before: &str, after: &str, context: usize) -> Option<Vec<String>> {
        let quote = |block: &Block| block.lines.iter().filter(|l| l.is_quoted()).map(|l| l.text.as_str()).collect();
        blocks(&letters(before, after), context, true).map(|blocks| blocks.iter().map(quote).collect())
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

    fn fit(base: &str, quoted: &[(usize, &str)]) -> Fit {
        let base: Vec<String> = base.lines().map(str::to_owned).collect();
        let lines = quoted.iter().map(|(at, text)| Line::new(Mark::Keep, *at, text)).collect();
        LineIndex::new(&base).fit(&Block { lines, blockwise: false, head: Head::Bare, counts: true })
    }

    #[test]
    fn a_quote_that_stands_once_is_clear() {
        assert_eq!(fit("one\ntwo\nthree\n", &[(1, "two"), (2, "three")]), Fit::Clear);
        assert_eq!(fit("one\ntwo\nthree\n", &[(0, "one"), (2, "three")]), Fit::Clear);
    }

    #[test]
    fn a_quote_that_stands_twice_is_not() {
        assert_eq!(fit("a\nb\nc\na\nb\n", &[(0, "a"), (1, "b")]), Fit::Several);
        assert_eq!(fit("a\nb\nc\n  a\n  b\n", &[(0, " a"), (1, " b")]), Fit::Close);
        assert_eq!(fit("a\nx\nb\na\nb\n", &[(0, "a"), (2, "b")]), Fit::Close);
        assert_eq!(fit("a\nlonger\nc\na\nd\nc\n", &[(0, "a"), (1, "lnoger"), (2, "c")]), Fit::Clear);
    }
}
