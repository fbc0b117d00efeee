//! How surely a quote means its own place. This judges cases, not the engine: a defect that leaves a place open makes a
//! case that has no right answer, and such a case is not counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sketch::{Block, Line};

/// A misspelt line speaks for its place, but less than a true one.
const MISSPELT: f32 = 0.8;
/// Lines this alike could be meant for each other.
const ALIKE: f64 = 0.7;
/// By so many lines the own place must be ahead of every other.
const AHEAD: f32 = 0.75;

/// How surely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It can mean nothing else.
    Clear,
    /// Another place fits nearly as well.
    Close,
    /// It fits several places to the letter.
    Several,
}

/// The lines of a file for looking quotes up.
pub(super) struct Lookup<'b> {
    base: &'b [String],
    places: HashMap<String, Vec<usize>>,
}

/// A line without what does not tell it from others: indentation, runs of white space, typography.
pub(super) fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ascii = |c: char| match c {
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{2013}' | '\u{2014}' => '-',
        _ => c,
    };
    words.join(" ").chars().map(ascii).collect()
}

impl<'b> Lookup<'b> {
    pub(super) fn new(base: &'b [String]) -> Self {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, line) in base.iter().enumerate() {
            places.entry(plain(line)).or_default().push(at);
        }
        Self { base, places }
    }

    /// Where a line stands, white space aside.
    pub(super) fn places(&self, line: &str) -> &[usize] {
        self.places.get(&plain(line)).map(Vec::as_slice).unwrap_or_default()
    }

    /// In how many places the lines stand one after another, to the letter or (`loose`) white space aside.
    pub(super) fn count(&self, quote: &[&str], loose: bool) -> usize {
        if quote.iter().all(|line| line.trim().is_empty()) { self.base.len() } else { self.starts(quote, loose).len() }
    }

    /// Where (0-based) the lines stand one after another; none if all are blank.
    pub(super) fn starts(&self, quote: &[&str], loose: bool) -> Vec<usize> {
        let Some(anchor) = quote.iter().position(|line| !line.trim().is_empty()) else { return Vec::new() };
        let same = |(a, b): (&String, &&str)| if loose { plain(a) == plain(b) } else { a == b };
        let starts = self.places(quote.get(anchor).copied().unwrap_or_default()).iter();
        let starts = starts.filter_map(|at| at.checked_sub(anchor));
        let window = |start: usize| self.base.get(start..start + quote.len());
        starts.filter(|start| window(*start).is_some_and(|window| window.iter().zip(quote).all(same))).collect()
    }

    /// The lines that a misspelt line could be meant for.
    fn like(&self, text: &str) -> Vec<usize> {
        let text = text.trim();
        let like = |line: &str| {
            let near = line.len() * 2 > text.len() && line.len() < text.len() * 2;
            near && strsim::normalized_levenshtein(line, text) > ALIKE
        };
        let lines = self.base.iter().enumerate();
        lines.filter(|(_, line)| like(line.trim())).map(|(at, _)| at).collect()
    }

    /// How surely the quoted lines of `block` mean where they are from.
    pub(super) fn fit(&self, block: &Block) -> Fit {
        let quoted: Vec<&Line> = block.lines.iter().filter(|line| line.is_quoted()).collect();
        let texts: Vec<&str> = quoted.iter().map(|line| line.text.as_str()).collect();
        let own = quoted.first().and_then(|line| line.at);
        match self.starts(&texts, false).as_slice() {
            [] => self.compared(&quoted),
            [only] if Some(*only) == own => Fit::Clear,
            // With lines left out a quote may fit another place to the letter.
            [_] => Fit::Close,
            _ => Fit::Several,
        }
    }

    /// Compares the own place with the same lines moved up or down, lines that the quote leaves out counted in.
    fn compared(&self, quoted: &[&Line]) -> Fit {
        let founded = quoted.iter().filter_map(|line| Some((line.at?, line.text.as_str())));
        let founded: Vec<(usize, &str)> = founded.filter(|(_, text)| !text.trim().is_empty()).collect();
        let mut own = 0.0;
        let mut shifts: BTreeMap<isize, BTreeSet<usize>> = BTreeMap::new();
        for (nth, (at, text)) in founded.iter().enumerate() {
            let mut hits = self.places(text).to_vec();
            own += if hits.contains(at) { 1.0 } else { MISSPELT };
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
        if rival as f32 > own - AHEAD { Fit::Close } else { Fit::Clear }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sketch::{Head, Mark};
    use super::*;

    fn fit(base: &str, quoted: &[(usize, &str)]) -> Fit {
        let base: Vec<String> = base.lines().map(str::to_owned).collect();
        let lines = quoted.iter().map(|(at, text)| Line::new(Mark::Keep, *at, text)).collect();
        Lookup::new(&base).fit(&Block { lines, blockwise: false, head: Head::Bare, counts: true })
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
