//! Aligns the quoted lines with the lines of a file.
//!
//! A semi-global alignment by dynamic programming: the whole quote is used, and the alignment may begin and end
//! anywhere in the file. Each difference has a cost. The result has the cheapest alignment, its cost, and its lead
//! over the cheapest alignment elsewhere.
//!
//! The cost of one exact line left out of the quote is the scale: a missing line of code costs about 1, and the
//! maximum cost grows with the number of quoted lines. [`super`] says what "Benchmark" below is.

use std::borrow::Cow;

use super::normalize::{LineClass, normalize};
use super::similarity;
use crate::apply::document::View;

/// The kind of a quoted line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuoteKind {
    Keep,
    Delete,
    Gap,
}

/// A quoted line.
#[derive(Debug, Clone)]
pub(crate) struct QuoteLine<'a> {
    pub(crate) kind: QuoteKind,
    pub(crate) text: &'a str,
    /// Whether the next quoted line may be anywhere below in the file, because the reply forgot a hunk heading.
    pub(crate) jump: bool,
}

impl QuoteLine<'_> {
    /// Whether the line is neither a gap nor blank.
    pub(crate) fn is_solid(&self) -> bool {
        self.kind != QuoteKind::Gap && !self.text.trim().is_empty()
    }
}

/// The cheapest alignment of a quote.
#[derive(Debug, Clone)]
pub(crate) struct Alignment {
    pub(crate) cost: f32,
    /// The number of quoted lines that are not blank. The maximum cost depends on it.
    pub(crate) weight: f32,
    /// The file line (0-based) of each quoted line.
    pub(crate) map: Vec<Option<usize>>,
    /// How much more the cheapest alignment costs that does not overlap with this one.
    pub(crate) margin: f32,
    /// The cheapest alignments: first line (0-based) and cost, cheapest first.
    pub(crate) candidates: Vec<(usize, f32)>,
}

/// Maximum cost of an alignment for each unit of its weight, in addition to [`MAX_COST_BASE`]. Benchmark: with 0.2
/// instead, 21 more replies are refused; with 0.9, 1 is applied wrongly.
const MAX_COST_PER_WEIGHT: f32 = 0.45;
/// Benchmark: with 0 instead, 2 more replies are refused (three seeds); with 1, 1 is applied wrongly.
const MAX_COST_BASE: f32 = 0.35;
/// Minimum lead over the next best alignment; below it the quote is ambiguous. Benchmark: without it, 364 replies
/// are applied wrongly (three seeds); with 1 instead, 4 more are refused.
pub(crate) const MIN_MARGIN: f32 = 0.5;

/// Maximum cost of the alignment of a quote of this weight. Benchmark: without a maximum, 6 replies are applied
/// wrongly (three seeds).
pub(crate) fn max_cost(weight: f32) -> f32 {
    MAX_COST_PER_WEIGHT * weight + MAX_COST_BASE
}

const INFINITE_COST: f32 = 1e9;
/// Cost of a blank line or a comment between two quoted lines. Benchmark: with 0.02 instead for blank lines, 2
/// replies are applied wrongly; with 0.5 for comments, 1 more is refused.
const SKIP_COST: f32 = 0.1;
/// Cost of a line of code between two quoted lines. Benchmark: with 0.2 or 1 instead, 2 more replies are refused.
const SKIP_CODE_COST: f32 = 0.5;
/// Cost of a line that is equal except for white space or typography. Benchmark: with 0 instead, 5 more replies are
/// refused and 1 is applied wrongly.
pub(crate) const NORMALIZED_COST: f32 = 0.05;
/// Cost of a similar line. Benchmark: with 0.6 instead, 3 more replies are refused.
const SIMILAR_COST: f32 = 0.25;
/// Additional cost of a similar line for each unit of dissimilarity (0 to 1). Benchmark: with 0 instead, 1 reply is
/// applied wrongly (three seeds); with 3.2, 1 more is refused.
const DISSIMILARITY_COST: f32 = 1.6;
/// Minimum similarity (0 to 1) of a misspelt line to the file line. Benchmark: with 0.95 instead for kept lines, 22
/// more replies are refused, and 10 for removed lines; with 0.6, 1.
const MIN_SIMILARITY: f32 = 0.75;
/// Cost of a jump, whatever its length. Benchmark: without jumps, 66 more replies are refused; with 3 instead, 9.
const JUMP_COST: f32 = 1.6;
/// Cost of a blank quoted line that the file does not have. Benchmark: with 0 instead, 1 reply is applied wrongly
/// and 11 with other white space.
const MISSING_BLANK_COST: f32 = 0.1;
/// Cost of any other quoted line that is missing. An alignment without a removed line is never accepted, but its
/// cost is compared. Benchmark: with 0.9 instead for kept lines, 35 more replies are refused, and 2 for removed lines.
const MISSING_COST: f32 = 2.2;
/// Cost of a kept line of a diff that is nowhere in the file: it lost its plus sign. Benchmark: with 2.2 instead,
/// 18 more replies are refused and 1 is applied wrongly; with 0.45, 2 and 1.
pub(crate) const MISSING_PLUS_COST: f32 = 0.9;
/// Quoted lines with this many matches or fewer always contribute to the searched windows. Benchmark: with 0
/// instead, 18 more replies are refused; with 4, none.
const MAX_RARE_MATCHES: usize = 16;
/// Maximum number of table cells for which the whole file is searched. Above it, only windows around rare lines
/// are. Bounds the memory (8 bytes a cell) and the time of an alignment. Benchmark: a tenth changes no reply.
const MAX_CELLS: usize = 3_000_000;
/// Maximum number of line comparisons for one alignment. Bounds its time. Benchmark: a tenth changes no reply.
const MAX_COMPARISONS: usize = 40_000;

/// The rows of the table: a file line, or a seam for lines outside of all windows.
struct SearchRows {
    lines: Vec<Option<usize>>,
    /// Cost of skipping the first n rows.
    skipped: Vec<f64>,
}

/// How the cheapest cost of a cell was reached.
#[derive(Clone, Copy)]
struct AlignStep {
    /// The cell before the file lines that were skipped after the quoted line.
    from: u32,
    /// Whether the quoted line matched the file line before `from`.
    matched: bool,
}

/// Finds the cheapest alignment of `quote`. `is_diff` lowers the cost of kept lines that are missing, since diffs
/// forget plus signs.
pub(crate) fn align(view: &View<'_>, quote: &[QuoteLine<'_>], is_diff: bool) -> Option<Alignment> {
    if view.len() == 0 || quote.is_empty() {
        return None;
    }
    let (matches, windows) = Matches::new(view, quote);
    if windows.is_empty() {
        return None;
    }
    let costs = Costs::new(view, quote, &matches, &windows, is_diff);
    let search_rows = SearchRows::new(view, &windows);
    Some(Table::fill(&search_rows, quote, &costs).alignment(&search_rows, quote, &costs))
}

/// The file lines that each quoted line may match, ascending.
struct Matches<'v> {
    lines: Vec<Match<'v>>,
    weight: f32,
}

enum Match<'v> {
    /// A gap matches any lines.
    Any,
    /// Lines that are equal after normalization.
    Same(&'v [usize]),
    /// Similar lines, each with its similarity.
    Like(Vec<(usize, f32)>),
}

impl Match<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Any => 0,
            Self::Same(lines) => lines.len(),
            Self::Like(lines) => lines.len(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = usize> + '_ {
        let (same, like) = match self {
            Self::Any => (&[][..], &[][..]),
            Self::Same(lines) => (*lines, &[][..]),
            Self::Like(lines) => (&[][..], lines.as_slice()),
        };
        same.iter().copied().chain(like.iter().map(|(line, _)| *line))
    }
}

impl<'v> Matches<'v> {
    /// The matches, and the windows of the file (disjoint, ascending) in which an acceptable alignment can be.
    ///
    /// An alignment without any of the rarest lines leaves out lines that the file has, and costs more than the
    /// maximum. So only windows around these lines are searched.
    fn new(view: &'v View<'_>, quote: &[QuoteLine<'_>]) -> (Self, Vec<(usize, usize)>) {
        let canon: Vec<Cow<'_, str>> = quote.iter().map(|line| normalize(line.text)).collect();
        let same = |(line, canon): (&QuoteLine<'_>, &Cow<'_, str>)| match line.kind {
            QuoteKind::Gap => Match::Any,
            _ => Match::Same(view.occurrences(canon)),
        };
        let weight = quote.iter().filter(|line| line.is_solid()).count() as f32;
        let mut matches = Self { lines: quote.iter().zip(&canon).map(same).collect(), weight };
        let all = vec![(0, view.len())];
        let gaps = quote.iter().any(|line| line.kind == QuoteKind::Gap);
        let windows = if gaps { None } else { matches.windows(quote, view.len()) };
        matches.find_similar(view, quote, &canon, windows.as_ref().unwrap_or(&all));
        let windows = windows.unwrap_or_else(|| {
            let few = view.len().saturating_mul(quote.len()) <= MAX_CELLS;
            if few {
                all
            } else {
                merged(&matches.anchors(quote), reach(quote, matches.weight), MAX_CELLS / quote.len(), view.len())
            }
        });
        (matches, windows)
    }

    /// Windows around the rarest matched lines; `None` if too few lines match, or the windows would cover the file.
    fn windows(&self, quote: &[QuoteLine<'_>], lines: usize) -> Option<Vec<(usize, usize)>> {
        let may_miss = ((max_cost(self.weight) + MIN_MARGIN) / MISSING_COST) as usize;
        let anchors = self.anchors(quote);
        let rare = anchors
            .iter()
            .enumerate()
            .filter(|(at, line_matches)| *at <= may_miss || line_matches.len() <= MAX_RARE_MATCHES);
        let chosen: Vec<&Match<'_>> = rare.map(|(_, line_matches)| *line_matches).collect();
        let match_count: usize = chosen.iter().map(|line_matches| line_matches.len()).sum();
        let reach = reach(quote, self.weight);
        let worth_it = anchors.len() > may_miss && match_count.saturating_mul(reach) < lines;
        worth_it.then(|| merged(&chosen, reach, usize::MAX, lines))
    }

    /// The matches of the lines that are not blank and match something, rarest first.
    fn anchors(&self, quote: &[QuoteLine<'_>]) -> Vec<&Match<'v>> {
        let solid = quote
            .iter()
            .zip(&self.lines)
            .filter(|(line, line_matches)| !line.text.trim().is_empty() && line_matches.len() > 0);
        let mut anchors: Vec<&Match<'_>> = solid.map(|(_, line_matches)| line_matches).collect();
        anchors.sort_by_key(|line_matches| line_matches.len());
        anchors
    }

    /// Finds similar lines for the quoted lines that have no equal one.
    fn find_similar(
        &mut self,
        view: &View<'_>,
        quote: &[QuoteLine<'_>],
        canon: &[Cow<'_, str>],
        windows: &[(usize, usize)],
    ) {
        let mut budget = MAX_COMPARISONS;
        for ((line_matches, line), wanted) in self.lines.iter_mut().zip(quote).zip(canon) {
            if matches!(line_matches, Match::Same([])) && wanted.chars().nth(3).is_some() {
                let mut like = view.similar_lines(wanted, MIN_SIMILARITY, windows, &mut budget);
                // A removed line may only have a typo; a kept line must mean the same item.
                like.retain(|(at, _)| match line.kind {
                    QuoteKind::Delete => similarity::is_typo(wanted, &view.normalized(*at)),
                    _ => similarity::may_match(wanted, &view.normalized(*at)),
                });
                *line_matches = Match::Like(like);
            }
        }
    }
}

/// How far an acceptable alignment can reach from one of its lines, in lines.
fn reach(quote: &[QuoteLine<'_>], weight: f32) -> usize {
    quote.len().saturating_add(((max_cost(weight) + MIN_MARGIN) / SKIP_COST) as usize)
}

/// Windows around the matches of `anchors`, rarest anchors first, `most` lines in all.
fn merged(anchors: &[&Match<'_>], reach: usize, most: usize, lines: usize) -> Vec<(usize, usize)> {
    let mut spent = 0usize;
    let mut windows: Vec<(usize, usize)> = Vec::new();
    for at in anchors.iter().flat_map(|line_matches| line_matches.lines()) {
        if windows.iter().rev().take(8).any(|(from, to)| from + reach / 2 <= at && at + reach / 2 < *to) {
            continue;
        }
        let window = (at.saturating_sub(reach), at.saturating_add(reach).min(lines));
        spent = spent.saturating_add(window.1 - window.0);
        if spent > most && !windows.is_empty() {
            break;
        }
        windows.push(window);
    }
    windows.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (from, to) in windows {
        match merged.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// The cost of each pair of a quoted line and a file line, and of each quoted line that is missing.
struct Costs {
    /// Ascending by file line.
    pairs: Vec<Vec<(usize, f32)>>,
    miss: Vec<f32>,
    weight: f32,
}

impl Costs {
    fn new(
        view: &View<'_>,
        quote: &[QuoteLine<'_>],
        matches: &Matches<'_>,
        windows: &[(usize, usize)],
        is_diff: bool,
    ) -> Self {
        let price = |(line, line_matches): (&QuoteLine<'_>, &Match<'_>)| miss(line, line_matches, is_diff);
        let pairs = |(line, line_matches): (&QuoteLine<'_>, &Match<'_>)| match line_matches {
            Match::Any => Vec::new(),
            Match::Like(lines) => lines
                .iter()
                .map(|(at, similarity)| (*at, SIMILAR_COST + DISSIMILARITY_COST * (1.0 - similarity)))
                .collect(),
            Match::Same(lines) => within(lines, windows)
                .map(|at| (at, if line.text == view.body(at) { 0.0 } else { NORMALIZED_COST }))
                .collect(),
        };
        let both = || quote.iter().zip(&matches.lines);
        Self { pairs: both().map(pairs).collect(), miss: both().map(price).collect(), weight: matches.weight }
    }
}

/// The cost of a quoted line that is missing.
fn miss(line: &QuoteLine<'_>, line_matches: &Match<'_>, is_diff: bool) -> f32 {
    match (line.kind, line_matches) {
        (QuoteKind::Gap, _) => 0.0,
        _ if line.text.trim().is_empty() => MISSING_BLANK_COST,
        // A line that is elsewhere in the file did not lose a plus sign.
        (_, Match::Same(lines)) if !lines.is_empty() => MISSING_COST,
        (QuoteKind::Keep, _) if is_diff => MISSING_PLUS_COST,
        _ => MISSING_COST,
    }
}

/// Those of ascending `lines` that are in ascending `windows`.
fn within<'l>(lines: &'l [usize], windows: &'l [(usize, usize)]) -> impl Iterator<Item = usize> + 'l {
    windows.iter().flat_map(|(from, to)| {
        let (first, end) = (lines.partition_point(|line| line < from), lines.partition_point(|line| line < to));
        lines.get(first..end).unwrap_or_default().iter().copied()
    })
}

impl SearchRows {
    /// The lines of the windows, with a seam between two windows.
    fn new(view: &View<'_>, windows: &[(usize, usize)]) -> Self {
        let price = |line: usize| match view.class(line) {
            LineClass::Blank | LineClass::Comment => f64::from(SKIP_COST),
            LineClass::Code => f64::from(SKIP_CODE_COST),
        };
        let mut search_rows = Self { lines: Vec::new(), skipped: vec![0.0] };
        let mut end = 0;
        for &(from, to) in windows {
            if from > end {
                search_rows.push(None, (end..from).map(price).sum());
            }
            (from..to).for_each(|line| search_rows.push(Some(line), price(line)));
            end = to;
        }
        search_rows
    }

    fn push(&mut self, line: Option<usize>, price: f64) {
        let before = self.skipped.last().copied().unwrap_or_default();
        self.lines.push(line);
        self.skipped.push(before + price);
    }
}

/// The table of the dynamic program: the last row of costs, and one step for each cell.
struct Table {
    costs: Vec<f32>,
    starts: Vec<u32>,
    steps: Vec<AlignStep>,
    width: usize,
}

impl Table {
    fn fill(search_rows: &SearchRows, quote: &[QuoteLine<'_>], costs: &Costs) -> Self {
        let width = search_rows.lines.len() + 1;
        let steps = Vec::with_capacity(width.saturating_mul(quote.len()));
        let mut table = Self { costs: vec![0.0; width], starts: (0..width as u32).collect(), steps, width };
        for (at, line) in quote.iter().enumerate() {
            if line.kind == QuoteKind::Gap {
                table.pass_gap();
                continue;
            }
            let pairs = costs.pairs.get(at).map(Vec::as_slice).unwrap_or_default();
            let matched = table.meet(search_rows, pairs, costs.miss.get(at).copied().unwrap_or(INFINITE_COST));
            table.skip(search_rows, &matched, line.jump);
        }
        table
    }

    /// A gap of any length costs nothing.
    fn pass_gap(&mut self) {
        let (mut best, mut start, mut from) = (INFINITE_COST, 0, 0);
        for (at, (cost, own)) in self.costs.iter_mut().zip(self.starts.iter_mut()).enumerate() {
            if *cost <= best {
                (best, start, from) = (*cost, *own, at as u32);
            }
            (*cost, *own) = (best, start);
            self.steps.push(AlignStep { from, matched: false });
        }
    }

    /// The quoted line matches a file line or is missing. Returns which, for each cell.
    fn meet(&mut self, search_rows: &SearchRows, pairs: &[(usize, f32)], miss: f32) -> Vec<bool> {
        let mut matched = vec![false; self.width];
        let mut pairs = pairs.iter().peekable();
        let (mut before, mut start) = (INFINITE_COST, 0);
        let rows = std::iter::once(None).chain(search_rows.lines.iter().copied());
        for ((line, matched), (cost, own)) in
            rows.zip(matched.iter_mut()).zip(self.costs.iter_mut().zip(self.starts.iter_mut()))
        {
            let (old, old_start) = (*cost, *own);
            *cost += miss;
            if let Some(line) = line {
                while pairs.next_if(|(at, _)| *at < line).is_some() {}
                if let Some((_, price)) = pairs.next_if(|(at, _)| *at == line)
                    && before + price <= *cost
                {
                    (*cost, *own, *matched) = (before + price, start, true);
                }
            }
            (before, start) = (old, old_start);
        }
        matched
    }

    /// Skips file lines after the quoted line; after a jump, any number of them.
    fn skip(&mut self, search_rows: &SearchRows, matched: &[bool], jump: bool) {
        let (mut best, mut best_from, mut best_start) = (f64::from(INFINITE_COST) * 2.0, 0, 0);
        let (mut flat, mut flat_from, mut flat_start) = (INFINITE_COST, 0, 0);
        let rows = self.costs.iter_mut().zip(self.starts.iter_mut());
        for (at, ((cost, start), (met_here, skipped))) in rows.zip(matched.iter().zip(&search_rows.skipped)).enumerate()
        {
            let here = f64::from(*cost) - skipped;
            if here <= best + 1e-9 {
                (best, best_from, best_start) = (here, at, *start);
            }
            if *cost <= flat {
                (flat, flat_from, flat_start) = (*cost, at, *start);
            }
            let mut step = AlignStep { from: at as u32, matched: *met_here };
            let mut cheapest = *cost - 1e-6;
            let near = (best + skipped) as f32;
            if near < cheapest {
                cheapest = near;
                (*cost, *start) = (near, best_start);
                step = AlignStep { from: best_from as u32, matched: matched.get(best_from).copied().unwrap_or(false) };
            }
            if jump && flat + JUMP_COST < cheapest {
                (*cost, *start) = (flat + JUMP_COST, flat_start);
                step = AlignStep { from: flat_from as u32, matched: matched.get(flat_from).copied().unwrap_or(false) };
            }
            self.steps.push(step);
        }
    }

    fn alignment(&self, search_rows: &SearchRows, quote: &[QuoteLine<'_>], costs: &Costs) -> Alignment {
        let mut order: Vec<usize> = (0..self.width).collect();
        let cost = |at: usize| self.costs.get(at).copied().unwrap_or(INFINITE_COST);
        order.sort_by(|a, b| cost(*a).total_cmp(&cost(*b)).then(a.cmp(b)));
        let end = order.first().copied().unwrap_or_default();
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut candidates = Vec::new();
        for at in order {
            let start = self.starts.get(at).copied().unwrap_or_default() as usize;
            if taken.iter().any(|(from, to)| at > *from && start < *to) || candidates.len() >= 8 {
                continue;
            }
            taken.push((start, at));
            if let Some(line) = search_rows.lines.iter().skip(start).flatten().next() {
                candidates.push((*line, cost(at)));
            }
        }
        let margin = self.margin(end, cost(end));
        let map = self.trace(search_rows, quote, end);
        Alignment { cost: cost(end), weight: costs.weight, map, margin, candidates }
    }

    fn margin(&self, end: usize, cost: f32) -> f32 {
        let start = self.starts.get(end).copied().unwrap_or_default() as usize;
        let rows = self.costs.iter().zip(&self.starts).enumerate();
        let others = rows.filter(|(at, (_, from))| *at <= start || **from as usize >= end);
        others.map(|(_, (other, _))| *other).fold(INFINITE_COST, f32::min) - cost
    }

    fn trace(&self, search_rows: &SearchRows, quote: &[QuoteLine<'_>], end: usize) -> Vec<Option<usize>> {
        let mut map = vec![None; quote.len()];
        let mut at = end;
        for (row, found) in map.iter_mut().enumerate().rev() {
            let Some(step) = self.steps.get(row * self.width + at) else {
                break;
            };
            at = step.from as usize;
            if step.matched && at > 0 {
                at -= 1;
                *found = search_rows.lines.get(at).copied().flatten();
            }
        }
        map
    }
}
