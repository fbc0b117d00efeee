//! One round of filling a budget with passages: each place is widened, joined with what it touches, and taken if it fits.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::Passage;
use crate::retrieval::chunk::ranges;
use crate::retrieval::chunk::source::{Place, SourceFile, Sources};
use rhumb_tokens::TokenCounter;

/// Fewest lines that are worth showing of a chunk that does not fit.
const LEAST_LINES: usize = 4;

/// Passages in the making.
pub(super) struct Round<'r> {
    sources: &'r Sources<'r>,
    counter: &'r dyn TokenCounter,
    /// Tokens that are left.
    room: usize,
    /// What is shown already.
    shown: &'r [Passage],
    groups: Vec<Group>,
    /// Whether a chunk has been cut to fit: then there is no room for another.
    full: bool,
}

/// Lines of a file that make one passage.
#[derive(Debug, Clone)]
struct Group {
    path: Arc<str>,
    file: Rc<SourceFile>,
    lines: BTreeSet<u32>,
    places: Vec<Place>,
    rank: usize,
    omitted: u32,
    tokens: usize,
}

impl<'r> Round<'r> {
    pub(crate) fn new(
        sources: &'r Sources<'r>,
        counter: &'r dyn TokenCounter,
        room: usize,
        shown: &'r [Passage],
    ) -> Self {
        Self { sources, counter, room, shown, groups: Vec::new(), full: false }
    }

    /// Takes the chunk of a place if it fits, or the beginning of it.
    pub(crate) fn add(&mut self, rank: usize, place: &Place) {
        let Some(file) = self.sources.file(&place.path).filter(|_| !self.full) else { return };
        let Some(chunk) = file.chunk_at(place) else { return };
        let wanted: Vec<u32> =
            chunk.shown.iter().cloned().flatten().filter(|line| !self.is_shown(place, *line)).collect();
        if wanted.iter().all(|line| file.line(*line).trim().is_empty()) {
            return;
        }
        let place = Place { line: chunk.line, end_line: chunk.end_line, ..place.clone() };
        let group = |lines: &[u32]| Group {
            path: Arc::clone(&place.path),
            file: Rc::clone(&file),
            lines: lines.iter().copied().collect(),
            places: vec![place.clone()],
            rank,
            omitted: (wanted.len() - lines.len()) as u32,
            tokens: 0,
        };
        if self.take(group(&wanted)) {
            return;
        }
        let (mut most, mut too_many) = (0, wanted.len());
        while too_many - most > 1 {
            let middle = most + (too_many - most) / 2;
            let fits = self.clone_with(group(&wanted[..middle])).is_some();
            if fits { most = middle } else { too_many = middle }
        }
        let from_zero: Vec<u32> = wanted.iter().map(|line| line.saturating_sub(1)).collect();
        let cut = if most < LEAST_LINES { 0 } else { file.borders().best(&from_zero, most / 2 + 1, most, most) };
        if cut >= LEAST_LINES {
            self.full = self.take(group(&wanted[..cut]));
        }
    }

    /// Whether a line of a place is in what was there before.
    fn is_shown(&self, place: &Place, line: u32) -> bool {
        let of_file = self.shown.iter().filter(|passage| passage.path == place.path);
        of_file.flat_map(|passage| &passage.lines).any(|range| range.contains(&line))
    }

    /// Takes a group, joined with those that it touches, if there is room for what it adds.
    fn take(&mut self, group: Group) -> bool {
        let Some((joined, touched, cost)) = self.clone_with(group) else { return false };
        let mut at = 0;
        self.groups.retain(|_| {
            at += 1;
            !touched.contains(&(at - 1))
        });
        self.groups.push(joined);
        self.room -= cost;
        true
    }

    /// A group joined with those that it touches, which these are, and what it adds in tokens; `None` if there is no room for it.
    fn clone_with(&self, mut group: Group) -> Option<(Group, Vec<usize>, usize)> {
        let (mut touched, mut paid) = (Vec::new(), 0);
        // What is joined may touch what the first alone did not.
        while let Some(at) = (0..self.groups.len()).find(|at| !touched.contains(at) && group.touches(&self.groups[*at]))
        {
            group.join(&self.groups[at]);
            paid += self.groups[at].tokens;
            touched.push(at);
        }
        group.tokens = self.counter.count(&group.text()) + 1;
        let cost = group.tokens.saturating_sub(paid);
        (cost <= self.room).then_some((group, touched, cost))
    }

    /// The passages in the order of their paths and lines.
    pub(crate) fn finish(self) -> Vec<Passage> {
        let mut groups = self.groups;
        groups.sort_by(|a, b| a.path.cmp(&b.path).then(a.lines.first().cmp(&b.lines.first())));
        groups.into_iter().map(|group| group.into_passage(self.counter)).collect()
    }
}

impl Group {
    fn bounds(&self) -> (u32, u32) {
        (self.lines.first().copied().unwrap_or(0), self.lines.last().copied().unwrap_or(0))
    }

    /// Whether two groups overlap, or nothing stands between them. What was cut ends where it was cut.
    fn touches(&self, other: &Self) -> bool {
        let ((a, a_end), (b, b_end)) = (self.bounds(), other.bounds());
        let (end, start, above) = if a <= b { (a_end, b, self) } else { (b_end, a, other) };
        let is_empty = || (end + 1..start).all(|line| self.file.line(line).trim().is_empty());
        self.path == other.path && (start <= end || (above.omitted == 0 && is_empty()))
    }

    /// Adds another group, and the empty lines between the two.
    fn join(&mut self, other: &Self) {
        let ((a, a_end), (b, b_end)) = (self.bounds(), other.bounds());
        let (end, start) = if a <= b { (a_end, b) } else { (b_end, a) };
        // Lines that are left out within are shown as a gap.
        self.omitted = if a_end >= b_end { self.omitted } else { other.omitted };
        self.lines.extend(end + 1..start);
        self.lines.extend(&other.lines);
        if other.rank < self.rank {
            self.places.splice(0..0, other.places.iter().cloned());
        } else {
            self.places.extend(other.places.iter().cloned());
        }
        self.rank = self.rank.min(other.rank);
    }

    /// A heading that can be cited, then the lines with their numbers.
    fn text(&self) -> String {
        let (line, end) = self.bounds();
        let mut text = format!("{}:{line}-{end}", self.path);
        if let Some(container) = self.places.first().and_then(|place| place.container.as_deref()) {
            let _ = write!(text, " in {container}");
        }
        text.push('\n');
        let width = end.max(1).ilog10() as usize + 1;
        let mut before = line;
        for &number in &self.lines {
            if number > before.saturating_add(1) {
                let _ = writeln!(text, "{:>width$}  …", "");
            }
            before = number;
            text.push_str(&numbered(number, self.file.line(number), end));
        }
        if self.omitted > 0 {
            let lines = if self.omitted == 1 { "line" } else { "lines" };
            let _ = writeln!(text, "{:>width$}  … cut here: {} more {lines} of this", "", self.omitted);
        }
        text
    }

    fn into_passage(self, counter: &dyn TokenCounter) -> Passage {
        let text = self.text();
        let lines = ranges(self.lines.iter().copied());
        Passage {
            hash: hash(&self.file, &lines),
            tokens: counter.count(&text),
            path: self.path,
            lines,
            places: self.places,
            rank: self.rank,
            omitted: self.omitted,
            text,
        }
    }
}

/// Hash of those lines and their numbers.
pub(super) fn hash(file: &SourceFile, lines: &[RangeInclusive<u32>]) -> u64 {
    let mut hash = Xxh3::new();
    for line in lines.iter().cloned().flatten() {
        hash.update(&line.to_le_bytes());
        hash.update(file.line(line).as_bytes());
        hash.update(b"\n");
    }
    hash.digest()
}

/// A line with its number, as wide as `last`, the number of the last of its passage.
pub fn numbered(number: u32, line: &str, last: u32) -> String {
    let width = last.max(1).ilog10() as usize + 1;
    let text = format!("{number:>width$}  {line}");
    format!("{}\n", text.trim_end())
}
