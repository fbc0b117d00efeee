//! One alignment for all formats: quoted lines against file lines, with costs.
//!
//! A semi-global dynamic program: the quote must be used up, the file may be entered and left anywhere. Every
//! tolerance has a price, so that the best place, its cost and its lead over the next best place come out of one
//! computation. The costs come from measurements on replies made from real commits; see the tests for what each allows.

use std::borrow::Cow;

use super::normalize::{LineClass, normalize};
use super::similarity;
use crate::apply::document::View;

/// What a quoted line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuoteKind {
    Keep,
    Delete,
    Gap,
}

/// A line of the quote.
#[derive(Debug, Clone)]
pub(crate) struct QuoteLine<'a> {
    pub(crate) kind: QuoteKind,
    pub(crate) text: &'a str,
    /// Whether the reply may go on elsewhere in the file after this line (a forgotten hunk heading).
    pub(crate) jump: bool,
}

/// The best place for a quote.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) cost: f32,
    /// What the whole quote weighs: its cost is judged against this.
    pub(crate) weight: f32,
    /// The file line of each quoted line, 0-based.
    pub(crate) map: Vec<Option<usize>>,
    /// How much dearer the next best place is that does not overlap.
    pub(crate) margin: f32,
    /// The best places: first line (0-based) and cost, best first.
    pub(crate) candidates: Vec<(usize, f32)>,
}

/// A place costs at most this much for each unit of its weight, plus [`SLACK`].
const COST_PER_WEIGHT: f32 = 0.45;
const SLACK: f32 = 0.35;
/// By so much the next best place must be dearer.
pub(crate) const MARGIN: f32 = 0.5;

/// The most that a place may cost that a quote of this weight can have.
pub(crate) fn dearest(weight: f32) -> f32 {
    COST_PER_WEIGHT * weight + SLACK
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
pub(crate) const MISS_PLUS: f32 = 0.9;
const MISS_KEEP: f32 = 2.0;
/// Lines with so many places at most are always looked at.
const RARE: usize = 16;
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
pub(crate) fn align(view: &View<'_>, quote: &[QuoteLine<'_>], forgiving: bool) -> Option<Place> {
    if view.len() == 0 || quote.is_empty() {
        return None;
    }
    let (hits, windows) = Hits::new(view, quote);
    if windows.is_empty() {
        return None;
    }
    let costs = Costs::new(view, quote, &hits, &windows, forgiving);
    let lane = Lane::new(view, &windows);
    Some(Table::fill(&lane, quote, &costs).place(&lane, quote, &costs))
}

/// The lines of the file that each quoted line may mean, ascending.
struct Hits<'v> {
    lines: Vec<Hit<'v>>,
    weight: f32,
}

enum Hit<'v> {
    /// A gap means any.
    Any,
    /// Lines that read the same.
    Same(&'v [usize]),
    /// Lines that read much the same, with their likeness.
    Like(Vec<(usize, f32)>),
}

impl Hit<'_> {
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

impl<'v> Hits<'v> {
    /// The hits, and the parts of the file (disjoint, ascending) where an acceptable place can be.
    ///
    /// A place that has none of the rarest lines leaves out more lines than it may cost, as those are known to the file.
    /// So their surroundings will do, and lines that are only alike need not be sought elsewhere.
    fn new(view: &'v View<'_>, quote: &[QuoteLine<'_>]) -> (Self, Vec<(usize, usize)>) {
        let canon: Vec<Cow<'_, str>> = quote.iter().map(|line| normalize(line.text)).collect();
        let same = |(line, canon): (&QuoteLine<'_>, &Cow<'_, str>)| match line.kind {
            QuoteKind::Gap => Hit::Any,
            _ => Hit::Same(view.places(canon)),
        };
        let mut hits = Self { lines: quote.iter().zip(&canon).map(same).collect(), weight: 0.0 };
        let solid = |line: &QuoteLine<'_>| line.kind != QuoteKind::Gap && !line.text.trim().is_empty();
        let blank = |line: &QuoteLine<'_>| line.kind != QuoteKind::Gap && line.text.trim().is_empty();
        hits.weight = quote
            .iter()
            .map(|line| f32::from(u8::from(solid(line))) + if blank(line) { WEIGHT_BLANK } else { 0.0 })
            .sum();
        let all = vec![(0, view.len())];
        let gaps = quote.iter().any(|line| line.kind == QuoteKind::Gap);
        let windows = if gaps { None } else { hits.windows(quote, view.len()) };
        hits.find_alike(view, quote, &canon, windows.as_ref().unwrap_or(&all));
        let windows = windows.unwrap_or_else(|| {
            let few = view.len().saturating_mul(quote.len()) <= MAX_CELLS;
            if few {
                all
            } else {
                merged(&hits.anchors(quote), reach(quote, hits.weight), MAX_CELLS / quote.len(), view.len())
            }
        });
        (hits, windows)
    }

    /// The surroundings of the rarest known lines; `None` where too few are known, or too many places.
    fn windows(&self, quote: &[QuoteLine<'_>], lines: usize) -> Option<Vec<(usize, usize)>> {
        let may_miss = ((dearest(self.weight) + MARGIN) / MISS_KNOWN) as usize;
        let anchors = self.anchors(quote);
        let rare = anchors.iter().enumerate().filter(|(at, hit)| *at <= may_miss || hit.len() <= RARE);
        let chosen: Vec<&Hit<'_>> = rare.map(|(_, hit)| *hit).collect();
        let places: usize = chosen.iter().map(|hit| hit.len()).sum();
        let reach = reach(quote, self.weight);
        let worth_it = anchors.len() > may_miss && places.saturating_mul(reach) < lines;
        worth_it.then(|| merged(&chosen, reach, usize::MAX, lines))
    }

    /// The hits of the lines that are not blank and not without any, rarest first.
    fn anchors(&self, quote: &[QuoteLine<'_>]) -> Vec<&Hit<'v>> {
        let solid = quote.iter().zip(&self.lines).filter(|(line, hit)| !line.text.trim().is_empty() && hit.len() > 0);
        let mut anchors: Vec<&Hit<'_>> = solid.map(|(_, hit)| hit).collect();
        anchors.sort_by_key(|hit| hit.len());
        anchors
    }

    /// Looks for lines that are alike where none reads the same.
    fn find_alike(
        &mut self,
        view: &View<'_>,
        quote: &[QuoteLine<'_>],
        canon: &[Cow<'_, str>],
        windows: &[(usize, usize)],
    ) {
        let mut budget = MAX_LIKENESS;
        for ((hit, line), wanted) in self.lines.iter_mut().zip(quote).zip(canon) {
            if matches!(hit, Hit::Same([])) && wanted.chars().nth(3).is_some() {
                let mut like = view.like(wanted, least_likeness(line.kind), windows, &mut budget);
                // What goes must be what was meant, and what stays must be the same thing.
                like.retain(|(at, _)| match line.kind {
                    QuoteKind::Delete => similarity::is_slip(wanted, &view.canon(*at)),
                    _ => similarity::may_stand_for(wanted, &view.canon(*at)),
                });
                *hit = Hit::Like(like);
            }
        }
    }
}

/// How far from one of its lines an acceptable place can reach, in lines.
fn reach(quote: &[QuoteLine<'_>], weight: f32) -> usize {
    quote.len().saturating_add(((dearest(weight) + MARGIN) / SKIP_BLANK) as usize)
}

/// The surroundings of the lines that `anchors` hit, rarest anchors first, `most` lines in all.
fn merged(anchors: &[&Hit<'_>], reach: usize, most: usize, lines: usize) -> Vec<(usize, usize)> {
    let mut spent = 0usize;
    let mut windows: Vec<(usize, usize)> = Vec::new();
    for at in anchors.iter().flat_map(|hit| hit.lines()) {
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

/// The price of each pair of quoted line and file line that may meet, and of missing each quoted line.
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
        hits: &Hits<'_>,
        windows: &[(usize, usize)],
        forgiving: bool,
    ) -> Self {
        let price = |(line, hit): (&QuoteLine<'_>, &Hit<'_>)| miss(line, hit, forgiving);
        let pairs = |(line, hit): (&QuoteLine<'_>, &Hit<'_>)| match hit {
            Hit::Any => Vec::new(),
            Hit::Like(lines) => lines.iter().map(|(at, likeness)| (*at, 0.25 + 1.6 * (1.0 - likeness))).collect(),
            Hit::Same(lines) => within(lines, windows).map(|at| (at, same_line(line.text, view.body(at)))).collect(),
        };
        let both = || quote.iter().zip(&hits.lines);
        Self { pairs: both().map(pairs).collect(), miss: both().map(price).collect(), weight: hits.weight }
    }
}

/// The price of a quoted line that has no place.
fn miss(line: &QuoteLine<'_>, hit: &Hit<'_>, forgiving: bool) -> f32 {
    match (line.kind, hit) {
        (QuoteKind::Gap, _) => 0.0,
        _ if line.text.trim().is_empty() => MISS_BLANK,
        (QuoteKind::Delete, _) => MISS_DELETE,
        (_, Hit::Same(lines)) if !lines.is_empty() => MISS_KNOWN,
        _ if forgiving => MISS_PLUS,
        _ => MISS_KEEP,
    }
}

/// Those of ascending `lines` that lie in ascending `windows`.
fn within<'l>(lines: &'l [usize], windows: &'l [(usize, usize)]) -> impl Iterator<Item = usize> + 'l {
    windows.iter().flat_map(|(from, to)| {
        let (first, end) = (lines.partition_point(|line| line < from), lines.partition_point(|line| line < to));
        lines.get(first..end).unwrap_or_default().iter().copied()
    })
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

/// How much like a line of the file a misspelt quote of it must be.
fn least_likeness(kind: QuoteKind) -> f32 {
    if kind == QuoteKind::Keep { 0.75 } else { 0.85 }
}

impl Lane {
    /// The lines of the windows, with a seam for what lies between them.
    fn new(view: &View<'_>, windows: &[(usize, usize)]) -> Self {
        let price = |line: usize| match view.class(line) {
            LineClass::Blank => f64::from(SKIP_BLANK),
            LineClass::Comment => f64::from(SKIP_COMMENT),
            LineClass::Code => f64::from(SKIP_CODE),
        };
        let mut lane = Self { lines: Vec::new(), skipped: vec![0.0] };
        let mut end = 0;
        for &(from, to) in windows {
            if from > end {
                lane.push(None, (end..from).map(price).sum());
            }
            (from..to).for_each(|line| lane.push(Some(line), price(line)));
            end = to;
        }
        lane
    }

    fn push(&mut self, line: Option<usize>, price: f64) {
        let before = self.skipped.last().copied().unwrap_or_default();
        self.lines.push(line);
        self.skipped.push(before + price);
    }
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
