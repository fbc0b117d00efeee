//! Several edits of one file, one after another, each against the file as the earlier ones left it or as it was.

pub(super) mod document;
pub(super) mod draft;
mod form;
mod open_file;
pub(super) mod view;
pub(super) mod whole_file;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::locate::placement::Located;
use super::locate::{self, CHEAP};
use super::locate::{align, explain};
use super::outcome::{Candidate, Flag, Landing, Refusal, Strategy};
use super::proposal::Flexibility;
use super::reply::{Hunk, LineKind, QuotedLine};
use super::standing;
use document::{Document, Item};
use view::View;

/// By so much the original must fit better than the edited file to be preferred.
const PREFERENCE: f32 = 0.2;

/// A file under edit.
#[derive(Debug)]
pub(super) struct FileEdits {
    document: Document,
    flexibility: Flexibility,
    items: Vec<Item>,
    changed: bool,
    applied: BTreeSet<Vec<QuotedLine>>,
    numbers: Numbers,
    /// The lines as the replies before left them.
    stood: Vec<Item>,
    /// Lines of the base whose change the reviewer wants otherwise.
    noted: Vec<Range<usize>>,
}

/// What the line numbers in the headings of a reply have proved to be worth, where a quote told the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Untested,
    Right,
    Wrong,
}

/// Which text the lines of a [`Located`] count.
enum Against {
    Edited(Located),
    Original(Located),
}

impl FileEdits {
    pub(super) fn new(base: Arc<str>, flexibility: Flexibility) -> Self {
        let document = Document::new(base);
        let items = document.items();
        Self {
            document,
            flexibility,
            stood: items.clone(),
            items,
            changed: false,
            applied: BTreeSet::new(),
            numbers: Numbers::Untested,
            noted: Vec::new(),
        }
    }

    /// A file with the changes that earlier replies proposed; `noted` are lines of the base whose change the reviewer wants otherwise.
    pub(super) fn standing(base: Arc<str>, proposed: &str, noted: Vec<Range<usize>>, flexibility: Flexibility) -> Self {
        let mut edits = Self::new(base, flexibility);
        edits.items = standing::items(&edits.document, proposed);
        edits.changed = edits.items != edits.stood;
        (edits.stood, edits.noted) = (edits.items.clone(), noted);
        edits
    }

    /// Takes up another reply, whose line numbers are to be tested anew.
    pub(super) fn take_up(&mut self) {
        self.numbers = Numbers::Untested;
        self.stood.clone_from(&self.items);
    }

    /// Leaves out all edits so far.
    pub(super) fn start_again(&mut self) {
        self.items = self.document.items();
        self.changed = false;
    }

    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// The text with all edits so far.
    pub(super) fn compose(&self) -> String {
        self.document.compose(&self.items)
    }

    /// Whether nothing but white space is left.
    pub(super) fn is_blank(&self) -> bool {
        View::of(&self.document, &self.items).bodies().all(|line| line.trim().is_empty())
    }

    /// Replaces everything.
    pub(super) fn set_items(&mut self, items: Vec<Item>) {
        self.items = items;
        self.changed = true;
    }

    /// Whether no edit has landed.
    pub(super) fn untouched(&self) -> bool {
        !self.changed
    }

    /// The lines with all edits so far.
    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The cost of the place that `hunk` would take, if it would be accepted.
    pub(super) fn cost(&self, hunk: &Hunk, forgiving: bool) -> Option<f32> {
        match self.find(hunk, forgiving).ok()? {
            Against::Edited(located) | Against::Original(located) => Some(located.cost),
        }
    }

    /// Applies one hunk.
    pub(super) fn apply(&mut self, hunk: &Hunk, forgiving: bool) -> Result<Landing, Refusal> {
        if self.repeats(hunk) {
            return Ok(Landing::repeated());
        }
        let against = match self.find(hunk, forgiving) {
            Err(refusal) if refusal.is(Flag::AlreadyApplied) && self.fitted_before(hunk, forgiving) => {
                return Ok(Landing::repeated());
            }
            found => found?,
        };
        let landing = self.land(hunk, against, forgiving)?;
        if let (Some(number), Some((first, _))) = (hunk.line, landing.lines) {
            let right = number == first && self.numbers != Numbers::Wrong;
            self.numbers = if right { Numbers::Right } else { Numbers::Wrong };
        }
        Ok(landing)
    }

    /// Applies a hunk that fits several places at the line of its number, if all other numbers of the reply are right and
    /// no other edit has come near. Nobody counts lines right by chance: such a reply has seen them.
    pub(super) fn apply_by_number(&mut self, hunk: &Hunk, forgiving: bool) -> Option<Landing> {
        let line = hunk.line.filter(|_| self.numbers == Numbers::Right)?.checked_sub(1)?;
        let base = View::of_base(&self.document);
        let located = locate::locate_at(&base, line, hunk, forgiving, self.flexibility)?;
        let shift = self.shift_of(&located)?;
        self.land(hunk, Against::Edited(located.shifted(shift)), forgiving).ok()
    }

    /// Applies a hunk at its place.
    fn land(&mut self, hunk: &Hunk, against: Against, forgiving: bool) -> Result<Landing, Refusal> {
        if !hunk.changes()
            && let Some(fate) = self.context_only(&against)
        {
            return fate;
        }
        let (items, located, lines) = match against {
            Against::Edited(located) => {
                let lines = self.base_lines(&located);
                (self.edited(&located), located, lines)
            }
            Against::Original(located) => {
                let lines = located.met.first().zip(located.met.last()).map(|(first, last)| (first + 1, last + 1));
                (self.merged(&located)?, located, lines)
            }
        };
        if self.same_text(&items) {
            let repeats = self.fitted_before(hunk, forgiving) && located.strategy != Strategy::Exact;
            return if repeats { Ok(Landing::repeated()) } else { Err(explain::already_applied()) };
        }
        self.items = items;
        self.changed = true;
        self.applied.insert(hunk.lines.clone());
        let flags = if located.strategy == Strategy::Elision { vec![Flag::Elision] } else { Vec::new() };
        let (strategy, confidence) = (located.strategy, located.confidence);
        Ok(Landing { strategy, confidence, lines, flags, note: String::new() })
    }

    /// Whether the very same hunk has been applied.
    pub(super) fn repeats(&self, hunk: &Hunk) -> bool {
        self.applied.contains(&hunk.lines)
    }

    /// Whether a quote that fitted several places of the original to the letter still has more than one, or none, of which
    /// no edit has removed a line. What is added between its lines makes a place no other.
    fn leaves_open(&self, refusal: &Refusal, hunk: &Hunk) -> bool {
        let alive: BTreeSet<usize> = self.items.iter().filter_map(Item::old).collect();
        let quoted = hunk.lines.iter().filter(|line| line.kind != LineKind::Insert).count();
        let stands = |place: &&Candidate| (place.line - 1..place.line - 1 + quoted).all(|line| alive.contains(&line));
        let exact = refusal.candidates.iter().all(|place| place.similarity >= 1.0);
        exact && refusal.candidates.iter().filter(stands).count() != 1
    }

    /// Whether a hunk that changes nothing now would have changed the file before the other edits of this reply: it says
    /// the same as one of them, in other words.
    fn fitted_before(&self, hunk: &Hunk, forgiving: bool) -> bool {
        self.changed && locate::locate(&View::of_base(&self.document), hunk, forgiving, self.flexibility).is_ok()
    }

    /// A hunk without plus or minus asks for nothing, if the file has it. If it is exact but for lines that the file
    /// has not, those lack their plus sign: `None`, go on.
    fn context_only(&self, against: &Against) -> Option<Result<Landing, Refusal>> {
        let (Against::Edited(located) | Against::Original(located)) = against;
        if located.strategy == Strategy::Exact {
            let mut landing = Landing::new(Strategy::Unchanged, "the edit adds and removes nothing");
            landing.lines = self.base_lines(located);
            return Some(Ok(landing));
        }
        let added = located.inserts.values().map(Vec::len).sum::<usize>() as f32;
        if added > 0.0 && located.cost < added * align::MISS_PLUS + PREFERENCE {
            return None;
        }
        let reason = "the edit adds and removes nothing: mark added lines with + and removed ones with -";
        Some(Err(Refusal::new(reason)))
    }

    fn find(&self, hunk: &Hunk, forgiving: bool) -> Result<Against, Refusal> {
        let locate = |view: &View<'_>| locate::locate(view, hunk, forgiving, self.flexibility);
        let original = locate(&View::of_base(&self.document));
        if let Ok(located) = &original
            && (located.cost <= CHEAP || located.complete)
            && let Some(shift) = self.shift_of(located)
        {
            return Ok(Against::Edited(located.shifted(shift)));
        }
        if let Ok(located) = &original
            && self.is_noted(located)
            && self.without_what_stood(located).is_some()
        {
            return original.map(Against::Original);
        }
        if !self.changed {
            return original.map(Against::Edited);
        }
        if let Err(refusal) = &original
            && refusal.is(Flag::Ambiguous)
            && self.leaves_open(refusal, hunk)
        {
            return original.map(Against::Edited);
        }
        let edited = locate(&View::of(&self.document, &self.items));
        let doubtful = match &edited {
            Ok(located) => located.cost > CHEAP,
            Err(refusal) => refusal.missing && !refusal.is(Flag::AlreadyApplied),
        };
        if doubtful
            && let Ok(original) = original
            && edited.as_ref().map_or(true, |edited| original.cost < edited.cost - PREFERENCE)
        {
            return Ok(Against::Original(original));
        }
        edited.map(Against::Edited)
    }

    /// By how many lines a place in the original has moved, if no edit has touched it or the lines around it.
    fn shift_of(&self, located: &Located) -> Option<isize> {
        let (first, last) = located.span()?;
        let (from, to) = (first.saturating_sub(1), (last + 1).min(self.document.len().checked_sub(1)?));
        let at = self.items.iter().position(|item| *item == Item::Old(from))?;
        let window = self.items.get(at..=at + (to - from))?;
        // Where the original begins or ends, so must the edited file.
        let begins = from > 0 || at == 0;
        let ends = to + 1 < self.document.len() || at + window.len() == self.items.len();
        let same = begins && ends && window.iter().zip(from..).all(|(item, line)| *item == Item::Old(line));
        same.then(|| isize::try_from(at).ok()?.checked_sub(isize::try_from(from).ok()?)).flatten()
    }

    fn edited(&self, located: &Located) -> Vec<Item> {
        let mut items = Vec::with_capacity(self.items.len() + located.inserts.len());
        let mut next = 0;
        let changed: BTreeSet<usize> = located.deletes.iter().chain(located.inserts.keys()).copied().collect();
        for line in changed {
            items.extend_from_slice(self.items.get(next..line).unwrap_or_default());
            items.extend(new_lines(&located.inserts, line));
            next = if located.deletes.contains(&line) { line + 1 } else { line };
        }
        items.extend_from_slice(self.items.get(next..).unwrap_or_default());
        items
    }

    /// Whether the reviewer wants a change at that place otherwise.
    fn is_noted(&self, located: &Located) -> bool {
        let span = located.span();
        let within =
            |noted: &Range<usize>| span.is_some_and(|(first, last)| first <= noted.start && noted.end <= last + 1);
        self.noted.iter().any(within)
    }

    /// The lines without what earlier replies proposed at a place of the original that an edit of this one fits to the letter, or
    /// nearly so; `None` if that reaches beyond the place, or this reply has edited there.
    fn without_what_stood(&self, located: &Located) -> Option<Vec<Item>> {
        let lines = || located.met.iter().chain(&located.deletes).copied();
        let (first, last) = lines().min().zip(lines().max()).filter(|_| located.complete && located.cost <= CHEAP)?;
        let region = |items: &[Item]| standing::region(items, first, last, self.document.len());
        let (now, before) = (region(&self.items)?, region(&self.stood)?);
        if self.items.get(now.clone())? != self.stood.get(before)? {
            return None;
        }
        let mut items = self.items.clone();
        items.splice(now, (first..=last).map(Item::Old));
        Some(items)
    }

    /// Applies a place in the original to the edited file. What an earlier edit of the reply removed cannot be removed again; what
    /// an earlier reply proposed there gives way.
    fn merged(&self, located: &Located) -> Result<Vec<Item>, Refusal> {
        let alive: BTreeSet<usize> = self.items.iter().filter_map(Item::old).collect();
        let meets = !located.deletes.is_subset(&alive);
        let instead = (meets || self.is_noted(located)).then(|| self.without_what_stood(located)).flatten();
        if meets && instead.is_none() {
            return Err(explain::missing(
                "no match: another edit that is kept has changed the lines that this one removes",
            ));
        }
        let lines = instead.as_ref().unwrap_or(&self.items);
        let mut pending = located.inserts.iter().peekable();
        let mut items = Vec::with_capacity(lines.len() + located.inserts.len());
        for item in lines {
            if let Some(line) = item.old() {
                while let Some((_, lines)) = pending.next_if(|(at, _)| **at <= line) {
                    items.extend(lines.iter().cloned().map(Item::New));
                }
                if located.deletes.contains(&line) {
                    continue;
                }
            }
            items.push(item.clone());
        }
        items.extend(pending.flat_map(|(_, lines)| lines.iter().cloned().map(Item::New)));
        Ok(items)
    }

    fn same_text(&self, items: &[Item]) -> bool {
        let body = |item: &'_ Item| match item {
            Item::Old(line) => self.document.body(*line),
            Item::New(_) => "",
        };
        let same = |(one, other): (&Item, &Item)| match (one, other) {
            (Item::New(one), Item::New(other)) => one == other,
            (Item::New(new), old) | (old, Item::New(new)) => new == body(old),
            (one, other) => one == other || body(one) == body(other),
        };
        items.len() == self.items.len() && items.iter().zip(&self.items).all(same)
    }

    /// First and last line of the base that the quote met, 1-based.
    fn base_lines(&self, located: &Located) -> Option<(usize, usize)> {
        let lines = located.met.iter().filter_map(|at| match self.items.get(*at) {
            Some(Item::Old(line)) => Some(line + 1),
            _ => None,
        });
        let lines: Vec<usize> = lines.collect();
        lines.iter().min().copied().zip(lines.iter().max().copied())
    }
}

fn new_lines(inserts: &BTreeMap<usize, Vec<String>>, line: usize) -> impl Iterator<Item = Item> {
    inserts.get(&line).into_iter().flatten().cloned().map(Item::New)
}
