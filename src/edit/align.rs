//! One alignment for all formats: quoted lines against file lines, with costs.
//!
//! A semi-global dynamic program: the quote must be used up, the file may be entered and left anywhere. Every
//! tolerance has a price, so that the best place, its cost and its lead over the next best place come out of one
//! computation. The costs come from measurements on replies made from real commits; see the tests for what each allows.

use super::canon::{self, LineClass, Probe};
use super::document::{Meaning, View};

/// What a quoted line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteKind {
    Keep,
    Delete,
    Gap,
}

/// A line of the quote.
#[derive(Debug, Clone)]
pub(super) struct QuoteLine<'a> {
    pub(super) kind: QuoteKind,
    pub(super) text: &'a str,
    /// Whether the reply may go on elsewhere in the file after this line (a forgotten hunk heading).
    pub(super) jump: bool,
}

/// The best place for a quote.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) cost: f32,
    /// What the whole quote weighs: its cost is judged against this.
    pub(super) weight: f32,
    /// The file line of each quoted line, 0-based.
    pub(super) map: Vec<Option<usize>>,
    /// How much dearer the next best place is that does not overlap.
    pub(super) margin: f32,
    /// The best places: first line (0-based) and cost, best first.
    pub(super) candidates: Vec<(usize, f32)>,
}

const INFINITE: f32 = 1e9;
/// Leaving out a file line.
const SKIP_BLANK: f32 = 0.1;
const SKIP_COMMENT: f32 = 0.2;
const SKIP_CODE: f32 = 0.5;
/// Going on elsewhere, once, at a flat price.
const JUMP: f32 = 1.6;
/// A blank quoted line that the file has not.
const MISS_BLANK: f32 = 0.1;
/// A removed line that the file has not; never accepted, but it must have a price.
const MISS_DELETE: f32 = 2.5;
/// A kept line that stands elsewhere in the file: hardly a forgotten plus.
const MISS_KNOWN: f32 = 2.2;
/// A kept line that stands nowhere: in a diff a forgotten plus, in a search block an error.
pub(super) const MISS_PLUS: f32 = 0.9;
const MISS_KEEP: f32 = 2.0;
/// The weight of a blank line.
const WEIGHT_BLANK: f32 = 0.15;
/// Cells of the table beyond which only the surroundings of anchors are searched.
const MAX_CELLS: usize = 3_000_000;
/// Full comparisons of lines that one alignment may spend.
const MAX_LIKENESS: usize = 40_000;

/// A row of the file that takes part, or a seam that stands for lines left out of the search.
struct Lane {
    lines: Vec<Option<usize>>,
    /// Price of skipping the first n rows.
    skipped: Vec<f64>,
}

/// How the best cost of a cell came about.
#[derive(Clone, Copy)]
struct Step {
    /// The cell before the file lines skipped after the quoted line.
    from: u32,
    /// Whether the quoted line met the file line before `from`.
    met: bool,
}

/// Finds the best place of `quote`. `forgiving` lets kept lines be missing (diffs forget plus signs).
pub(super) fn align(view: &View<'_>, quote: &[QuoteLine<'_>], forgiving: bool) -> Option<Place> {
    if view.len() == 0 || quote.is_empty() {
        return None;
    }
    let meaning = view.meaning();
    let costs = Costs::new(view, meaning, quote, forgiving);
    let lane = Lane::new(meaning, &costs, quote.len(), view.len())?;
    Some(Table::fill(&lane, quote, &costs).place(&lane, quote, &costs))
}

/// The price of each pair of quoted line and file line that may meet, and of missing each quoted line.
struct Costs {
    /// Ascending by file line.
    pairs: Vec<Vec<(usize, f32)>>,
    miss: Vec<f32>,
    weight: f32,
}

impl Costs {
    fn new(view: &View<'_>, meaning: &Meaning, quote: &[QuoteLine<'_>], forgiving: bool) -> Self {
        let mut budget = MAX_LIKENESS;
        let mut costs = Self { pairs: Vec::new(), miss: Vec::new(), weight: 0.0 };
        for line in quote {
            if line.kind == QuoteKind::Gap {
                costs.pairs.push(Vec::new());
                costs.miss.push(0.0);
                continue;
            }
            let wanted = canon::canon(line.text);
            let blank = wanted.is_empty();
            let hits = meaning.places(&wanted);
            costs.weight += if blank { WEIGHT_BLANK } else { 1.0 };
            costs.miss.push(match line.kind {
                _ if blank => MISS_BLANK,
                QuoteKind::Delete => MISS_DELETE,
                _ if !hits.is_empty() => MISS_KNOWN,
                _ if forgiving => MISS_PLUS,
                _ => MISS_KEEP,
            });
            costs.pairs.push(if hits.is_empty() && wanted.chars().nth(3).is_some() {
                similar_lines(meaning, &wanted, line.kind, &mut budget)
            } else {
                hits.iter().map(|at| (*at, same_line(line.text, view.body(*at)))).collect()
            });
        }
        costs
    }
}

/// The price of a line whose canonical form is right.
fn same_line(quoted: &str, found: &str) -> f32 {
    if quoted == found {
        0.0
    } else if quoted.trim_end() == found.trim_end() {
        0.02
    } else {
        0.05
    }
}

/// File lines that a misspelt quote may mean.
fn similar_lines(meaning: &Meaning, wanted: &str, kind: QuoteKind, budget: &mut usize) -> Vec<(usize, f32)> {
    let least = if kind == QuoteKind::Keep { 0.75 } else { 0.85 };
    let probe = Probe::new(wanted);
    let length = wanted.len() as f32;
    let mut found = Vec::new();
    for (at, line) in meaning.canon.iter().enumerate() {
        let theirs = line.len() as f32;
        if theirs < 0.6 * length || theirs > 1.7 * length {
            continue;
        }
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        if let Some(likeness) = probe.likeness(line, least) {
            found.push((at, 0.25 + 1.6 * (1.0 - likeness)));
        }
    }
    found
}

impl Lane {
    /// All lines, or in big files the surroundings of the lines that the quote has in common with the file.
    fn new(meaning: &Meaning, costs: &Costs, quoted: usize, lines: usize) -> Option<Self> {
        let all = lines.saturating_mul(quoted) <= MAX_CELLS;
        let windows = if all { vec![(0, lines)] } else { windows(costs, quoted, lines) };
        if windows.is_empty() {
            return None;
        }
        let price = |line: usize| match meaning.class(line) {
            LineClass::Blank => f64::from(SKIP_BLANK),
            LineClass::Comment => f64::from(SKIP_COMMENT),
            LineClass::Code => f64::from(SKIP_CODE),
        };
        let mut lane = Self { lines: Vec::new(), skipped: vec![0.0] };
        let mut end = 0;
        for (from, to) in windows {
            if from > end {
                lane.push(None, (end..from).map(price).sum());
            }
            (from..to).for_each(|line| lane.push(Some(line), price(line)));
            end = to;
        }
        Some(lane)
    }

    fn push(&mut self, line: Option<usize>, price: f64) {
        let before = self.skipped.last().copied().unwrap_or_default();
        self.lines.push(line);
        self.skipped.push(before + price);
    }
}

/// The neighbourhoods worth searching, rarest anchors first, disjoint and ascending.
fn windows(costs: &Costs, quoted: usize, lines: usize) -> Vec<(usize, usize)> {
    let reach = quoted.saturating_mul(2).saturating_add(64);
    let mut anchors: Vec<&Vec<(usize, f32)>> = costs.pairs.iter().filter(|pairs| !pairs.is_empty()).collect();
    anchors.sort_by_key(|pairs| pairs.len());
    let budget = MAX_CELLS / quoted.max(1);
    let mut spent = 0usize;
    let mut windows: Vec<(usize, usize)> = Vec::new();
    for (at, _) in anchors.into_iter().flatten() {
        if windows.iter().rev().take(8).any(|(from, to)| from <= at && at < to) {
            continue;
        }
        let window = (at.saturating_sub(reach), at.saturating_add(reach).min(lines));
        spent = spent.saturating_add(window.1 - window.0);
        if spent > budget && !windows.is_empty() {
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

/// The filled table: only the last row of costs is kept, and a step per cell.
struct Table {
    costs: Vec<f32>,
    starts: Vec<u32>,
    steps: Vec<Step>,
    width: usize,
}

impl Table {
    fn fill(lane: &Lane, quote: &[QuoteLine<'_>], costs: &Costs) -> Self {
        let width = lane.lines.len() + 1;
        let steps = Vec::with_capacity(width.saturating_mul(quote.len()));
        let mut table = Self { costs: vec![0.0; width], starts: (0..width as u32).collect(), steps, width };
        for (at, line) in quote.iter().enumerate() {
            if line.kind == QuoteKind::Gap {
                table.pass_gap();
                continue;
            }
            let pairs = costs.pairs.get(at).map(Vec::as_slice).unwrap_or_default();
            let met = table.meet(lane, pairs, costs.miss.get(at).copied().unwrap_or(INFINITE));
            table.skip(lane, &met, line.jump);
        }
        table
    }

    /// A gap costs nothing, however long.
    fn pass_gap(&mut self) {
        let (mut best, mut start, mut from) = (INFINITE, 0, 0);
        for (at, (cost, own)) in self.costs.iter_mut().zip(self.starts.iter_mut()).enumerate() {
            if *cost <= best {
                (best, start, from) = (*cost, *own, at as u32);
            }
            (*cost, *own) = (best, start);
            self.steps.push(Step { from, met: false });
        }
    }

    /// The quoted line meets a file line or is missing. Returns which of the two.
    fn meet(&mut self, lane: &Lane, pairs: &[(usize, f32)], miss: f32) -> Vec<bool> {
        let mut met = vec![false; self.width];
        let mut pairs = pairs.iter().peekable();
        let (mut before, mut start) = (INFINITE, 0);
        let rows = std::iter::once(None).chain(lane.lines.iter().copied());
        for ((line, met), (cost, own)) in
            rows.zip(met.iter_mut()).zip(self.costs.iter_mut().zip(self.starts.iter_mut()))
        {
            let (old, old_start) = (*cost, *own);
            *cost += miss;
            if let Some(line) = line {
                while pairs.next_if(|(at, _)| *at < line).is_some() {}
                if let Some((_, price)) = pairs.next_if(|(at, _)| *at == line)
                    && before + price <= *cost
                {
                    (*cost, *own, *met) = (before + price, start, true);
                }
            }
            (before, start) = (old, old_start);
        }
        met
    }

    /// File lines are skipped after the quoted line; after a jump any number of them.
    fn skip(&mut self, lane: &Lane, met: &[bool], jump: bool) {
        let (mut best, mut best_from, mut best_start) = (f64::from(INFINITE) * 2.0, 0, 0);
        let (mut flat, mut flat_from, mut flat_start) = (INFINITE, 0, 0);
        let rows = self.costs.iter_mut().zip(self.starts.iter_mut());
        for (at, ((cost, start), (met_here, skipped))) in rows.zip(met.iter().zip(&lane.skipped)).enumerate() {
            let here = f64::from(*cost) - skipped;
            if here <= best + 1e-9 {
                (best, best_from, best_start) = (here, at, *start);
            }
            if *cost <= flat {
                (flat, flat_from, flat_start) = (*cost, at, *start);
            }
            let mut step = Step { from: at as u32, met: *met_here };
            let mut cheapest = *cost - 1e-6;
            let near = (best + skipped) as f32;
            if near < cheapest {
                cheapest = near;
                (*cost, *start) = (near, best_start);
                step = Step { from: best_from as u32, met: met.get(best_from).copied().unwrap_or(false) };
            }
            if jump && flat + JUMP < cheapest {
                (*cost, *start) = (flat + JUMP, flat_start);
                step = Step { from: flat_from as u32, met: met.get(flat_from).copied().unwrap_or(false) };
            }
            self.steps.push(step);
        }
    }

    fn place(&self, lane: &Lane, quote: &[QuoteLine<'_>], costs: &Costs) -> Place {
        let mut order: Vec<usize> = (0..self.width).collect();
        let cost = |at: usize| self.costs.get(at).copied().unwrap_or(INFINITE);
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
            if let Some(line) = lane.lines.iter().skip(start).flatten().next() {
                candidates.push((*line, cost(at)));
            }
        }
        let margin = self.margin(end, cost(end));
        let map = self.trace(lane, quote, end);
        Place { cost: cost(end), weight: costs.weight, map, margin, candidates }
    }

    fn margin(&self, end: usize, cost: f32) -> f32 {
        let start = self.starts.get(end).copied().unwrap_or_default() as usize;
        let rows = self.costs.iter().zip(&self.starts).enumerate();
        let others = rows.filter(|(at, (_, from))| *at <= start || **from as usize >= end);
        others.map(|(_, (other, _))| *other).fold(INFINITE, f32::min) - cost
    }

    fn trace(&self, lane: &Lane, quote: &[QuoteLine<'_>], end: usize) -> Vec<Option<usize>> {
        let mut map = vec![None; quote.len()];
        let mut at = end;
        for (row, found) in map.iter_mut().enumerate().rev() {
            let Some(step) = self.steps.get(row * self.width + at) else {
                break;
            };
            at = step.from as usize;
            if step.met && at > 0 {
                at -= 1;
                *found = lane.lines.get(at).copied().flatten();
            }
        }
        map
    }
}
