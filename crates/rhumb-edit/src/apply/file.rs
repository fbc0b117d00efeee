//! One file while the edits of a reply are applied to it: made, changed, rewritten, deleted, moved.
// FROM compose/mod.rs
// //! Several edits of one file, one after another, each against the file as the earlier ones left it or as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff;
use rhumb_text::lines::{self, LineEnding};

use super::document::{Document, Item, View};
use super::whole_file;
use crate::altered_text;
use crate::locate::align::{self, MARGIN};
use crate::locate::placement::Located;
use crate::locate::{self, CHEAP};
use crate::outcome::{Candidate, Flag, Landing, Strategy};
use crate::parse::markers;
use crate::proposal::{FileChange, FileProposal, Flexibility};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Change, Hunk, LineKind, QuotedLine};

/// The file as the edits so far leave it.
pub(crate) struct OpenFile {
    pub(crate) edits: FileEdits,
    pub(crate) exists: bool,
    /// Whether all that was done to it was done by earlier replies, and is under review.
    pub(crate) stands: bool,
    pub(crate) deleted: bool,
    pub(crate) moved_to: Option<String>,
    /// Whether the reply says nothing but what is escaped.
    pub(crate) escaped: bool,
    /// Whether the text shall end with a newline, if an edit says so.
    pub(crate) final_newline: Option<bool>,
}

impl OpenFile {
    /// A file with changes that earlier replies proposed; `to` is where it moves.
    pub(crate) fn standing(
        file: &FileProposal,
        to: Option<String>,
        noted: Vec<Range<usize>>,
        flexibility: Flexibility,
    ) -> Self {
        let base: Arc<str> = file.base.clone().unwrap_or_default();
        let ends = |text: &str| text.ends_with('\n') || text.is_empty();
        let ends_so = file.proposed.as_deref().map(ends).filter(|ends_so| *ends_so != ends(&base));
        let proposed = file.proposed.clone().unwrap_or_else(|| base.clone());
        Self {
            edits: FileEdits::standing(base, &proposed, noted, flexibility),
            exists: file.base.is_some(),
            stands: true,
            deleted: file.proposed.is_none(),
            moved_to: to,
            escaped: false,
            final_newline: ends_so,
        }
    }

    pub(crate) fn hunk(
        &mut self,
        path: &str,
        readings: &[Hunk],
        forgiving: bool,
        new: bool,
    ) -> Result<Landing, Refusal> {
        let landing = self.lines_of_hunk(path, readings, forgiving, new);
        match readings {
            [only] if only.final_newline.is_some() => self.ended(only, landing),
            _ => landing,
        }
    }

    /// A hunk that changes the newline at the end of the file, after its lines have been dealt with. They may have been as
    /// they should be.
    fn ended(&mut self, hunk: &Hunk, landing: Result<Landing, Refusal>) -> Result<Landing, Refusal> {
        let base = self.edits.document().base();
        let was = base.ends_with('\n') || base.is_empty();
        let last_of = |text: &str| text.lines().next_back().map(str::to_owned);
        let is_end = last_of(&self.edits.compose()) == last_of(&hunk.replacement());
        if !is_end || hunk.final_newline == Some(was) {
            return landing;
        }
        let landing = match landing {
            Err(refusal) if refusal.is(Flag::AlreadyApplied) && self.final_newline != hunk.final_newline => {
                let last = self.edits.document().len();
                Landing { lines: Some((last, last)), ..Landing::new(Strategy::Exact, "") }
            }
            landing => landing?,
        };
        self.final_newline = hunk.final_newline;
        Ok(landing)
    }

    fn lines_of_hunk(&mut self, path: &str, readings: &[Hunk], forgiving: bool, new: bool) -> Result<Landing, Refusal> {
        let creation = readings.iter().find(|hunk| !hunk.quotes());
        if let Some(hunk) = creation.filter(|_| !self.exists && (self.stands || self.edits.items().is_empty())) {
            return Ok(self.create(hunk));
        }
        if !self.exists && self.edits.items().is_empty() {
            return Err(Cause::NotCreatedYet { path: path.to_owned() }.into());
        }
        if new || readings.iter().all(|hunk| !hunk.quotes()) {
            return self.fill(path, readings.first());
        }
        if let Some(repeated) = readings.iter().find_map(|hunk| self.repeated(hunk)) {
            return Ok(repeated);
        }
        let hunk = self.reading(path, readings, forgiving)?;
        let unescaped =
            altered_text::decoded(hunk).filter(|unescaped| self.reads_better(path, unescaped, hunk, forgiving));
        self.edits.apply(unescaped.as_ref().unwrap_or(hunk), forgiving)
    }

    /// The outcome of a hunk that stands earlier in the reply.
    fn repeated(&self, hunk: &Hunk) -> Option<Landing> {
        let unescaped = || altered_text::decoded(hunk).is_some_and(|hunk| self.edits.repeats(&hunk));
        (self.edits.repeats(hunk) || unescaped()).then(Landing::repeated)
    }

    /// Whether a hunk fits better with its entities read as characters. Where both fit alike, as entities stand among the
    /// added lines alone, the rest of the reply and the file decide.
    fn reads_better(&self, path: &str, unescaped: &Hunk, hunk: &Hunk, forgiving: bool) -> bool {
        match (self.edits.cost(unescaped, forgiving), self.edits.cost(hunk, forgiving)) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(cost), Some(plain)) if (cost - plain).abs() > 1e-3 => cost < plain,
            _ => {
                let added =
                    hunk.lines.iter().filter(|line| line.kind == LineKind::Insert).map(|line| line.text.as_str());
                self.escaped && !altered_text::may_be_meant(path, self.edits.document().base(), added)
            }
        }
    }

    /// The reading whose quote is in the file: the longest exact one, else the one that fits clearly best.
    fn reading<'h>(&self, path: &str, readings: &'h [Hunk], forgiving: bool) -> Result<&'h Hunk, Refusal> {
        if let [only] = readings {
            return Ok(only);
        }
        let quoting = readings.iter().rev().filter(|hunk| hunk.quotes());
        let cost = |hunk: &'h Hunk| Some((self.edits.cost(hunk, forgiving)?, hunk));
        let mut accepted: Vec<(f32, &Hunk)> = quoting.filter_map(cost).collect();
        // A reading that leaves the divider in the file is the last resort.
        if accepted.iter().any(|(_, hunk)| !adds_divider(hunk)) {
            accepted.retain(|(_, hunk)| !adds_divider(hunk));
        } else if !accepted.is_empty() && !markers::is_document(path) {
            accepted.retain(|(_, hunk)| underlines(hunk));
            if accepted.is_empty() {
                return Err(Cause::SeveralDividers.into());
            }
        }
        accepted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        match accepted.as_slice() {
            [(_, only)] | [(0.0, only), ..] => Ok(only),
            [(best, hunk), (next, _), ..] if next - best >= MARGIN => Ok(hunk),
            [] => Err(Cause::NoDividerFits.into()),
            _ => Err(Cause::AmbiguousDivider.into()),
        }
    }

    fn create(&mut self, hunk: &Hunk) -> Landing {
        let text = hunk.replacement();
        self.edits.set_items(text.lines().map(|line| Item::New(line.to_owned())).collect());
        self.exists = false;
        Landing::new(Strategy::Created, "")
    }

    /// An edit that quotes nothing fills an empty file and nothing else.
    fn fill(&mut self, path: &str, hunk: Option<&Hunk>) -> Result<Landing, Refusal> {
        let wanted = hunk.map(Hunk::replacement).unwrap_or_default();
        if self.edits.is_blank() {
            self.edits.set_items(wanted.lines().map(|line| Item::New(line.to_owned())).collect());
            return Ok(Landing::new(Strategy::Whole, ""));
        }
        if self.edits.compose().trim_end().lines().eq(wanted.trim_end().lines()) {
            return Err(Cause::AlreadyApplied.into());
        }
        Err(Cause::QuotesNothing { path: path.to_owned() }.into())
    }

    pub(crate) fn whole(&mut self, path: &str, lines: &[String], new: bool, asked: bool) -> Result<Landing, Refusal> {
        if !self.exists && (self.stands || self.edits.items().is_empty()) {
            let text: Vec<&str> = lines.iter().map(String::as_str).collect();
            whole_file::complete(&["..."], &text)?;
            self.edits.set_items(lines.iter().cloned().map(Item::New).collect());
            return Ok(Landing::new(Strategy::Created, ""));
        }
        if new {
            return Err(Cause::FileExists { path: path.to_owned() }.into());
        }
        let unescaped = self.unescaped(path, lines);
        let items = whole_file::merge(self.edits.document(), unescaped.as_deref().unwrap_or(lines), asked)?;
        let mut landing = Landing::new(Strategy::Whole, "");
        if whole_file::drops_tail(&items, self.edits.document().bodies().len()) {
            landing.flags.push(Flag::Elision);
        }
        self.edits.set_items(items);
        Ok(landing)
    }

    /// The lines with their entities read as characters, where that makes them more like the file.
    fn unescaped(&self, path: &str, lines: &[String]) -> Option<Vec<String>> {
        if !self.escaped {
            return None;
        }
        let unescaped: Vec<String> = lines.iter().map(|line| altered_text::decode(line)).collect();
        let old = self.edits.document().bodies();
        let share = |lines: &[String]| {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            whole_file::kept_share(&old, &lines)
        };
        let (with, without) = (share(&unescaped), share(lines));
        let added = || lines.iter().map(String::as_str);
        let meant = || altered_text::may_be_meant(path, self.edits.document().base(), added());
        (with > without || (with == without && !meant())).then_some(unescaped)
    }

    pub(crate) fn delete(&mut self, path: &str, change: &Change) -> Result<Landing, Refusal> {
        if !self.exists {
            return Err(Cause::NoSuchFile { path: path.to_owned(), similar: Vec::new() }.into());
        }
        if let Change::Hunk(readings) = change {
            let before = self.edits.items().to_vec();
            let hunk = self.reading(path, readings, true)?;
            self.edits.apply(hunk, true)?;
            if !self.edits.is_blank() {
                self.edits.set_items(before);
                return Err(Cause::DeletionQuotesPart { path: path.to_owned() }.into());
            }
        }
        self.deleted = true;
        Ok(Landing::new(Strategy::Deleted, ""))
    }

    /// The text with all edits.
    fn text(&self) -> String {
        let mut text = self.edits.compose();
        match self.final_newline {
            Some(true) if !text.is_empty() && !text.ends_with('\n') => {
                text.push_str(LineEnding::dominant(self.edits.document().base()).as_str());
            }
            Some(false) => {
                let body = text.strip_suffix('\n').map(|body| body.trim_end_matches('\r'));
                text.truncate(body.map_or(text.len(), str::len));
            }
            Some(true) | None => {}
        }
        text
    }

    /// A file that was deleted and is now made anew, as some write a replacement. Lines that it had keep their bytes.
    pub(crate) fn remake(&mut self, change: &Change) -> Option<Result<Landing, Refusal>> {
        let lines: Vec<String> = match change {
            Change::Whole(lines) => lines.clone(),
            Change::Hunk(readings) => {
                readings.iter().find(|hunk| !hunk.quotes())?.replacement().lines().map(str::to_owned).collect()
            }
            Change::Nothing => return None,
        };
        let text: Vec<&str> = lines.iter().map(String::as_str).collect();
        if let Err(refusal) = whole_file::complete(&["..."], &text) {
            return Some(Err(refusal));
        }
        let merged = whole_file::merge(self.edits.document(), &lines, true);
        self.edits.set_items(merged.unwrap_or_else(|_| lines.into_iter().map(Item::New).collect()));
        self.deleted = false;
        Some(Ok(Landing::new(Strategy::Whole, "")))
    }

    pub(crate) fn proposal(self, path: String) -> Option<FileProposal> {
        let base = self.exists.then(|| self.edits.document().base().clone());
        if self.deleted {
            return Some(FileProposal { path, change: FileChange::Delete, base, proposed: None });
        }
        let untouched = self.edits.untouched() && self.final_newline.is_none();
        let created = !self.exists && !untouched;
        let text: Arc<str> = Arc::from(self.text());
        let proposed = Some(text.clone());
        match (self.moved_to, base) {
            (Some(to), Some(base)) => {
                Some(FileProposal { path: to, change: FileChange::Rename { from: path }, base: Some(base), proposed })
            }
            (_, None) => created.then_some(FileProposal { path, change: FileChange::Create, base: None, proposed }),
            (None, Some(base)) if base != text && !untouched => {
                Some(FileProposal { path, change: FileChange::Modify, base: Some(base), proposed })
            }
            (None, Some(_)) => None,
        }
    }
}

/// Whether each line like a divider among the added ones stands below a short text, as a heading of a docstring has it.
fn underlines(hunk: &Hunk) -> bool {
    let added: Vec<&str> =
        hunk.lines.iter().filter(|line| line.kind == LineKind::Insert).map(|line| &*line.text).collect();
    let width = |line: Option<&str>| line.map_or(0, |line| line.trim().chars().count());
    let heads = |at: usize| {
        (1..=width(added.get(at).copied())).contains(&width(at.checked_sub(1).and_then(|at| added.get(at).copied())))
    };
    added.iter().enumerate().filter(|(_, line)| markers::divider(line).is_some()).all(|(at, _)| heads(at))
}

/// Whether there are more lines like dividers among the added lines than among the removed ones.
fn adds_divider(hunk: &Hunk) -> bool {
    let count = |kind: LineKind| {
        let lines = hunk.lines.iter().filter(|line| line.kind == kind);
        lines.filter(|line| markers::divider(&line.text).is_some()).count()
    };
    count(LineKind::Insert) > count(LineKind::Delete)
}

/// By so much the original must fit better than the edited file to be preferred.
const PREFERENCE: f32 = 0.2;

/// A file under edit.
#[derive(Debug)]
pub(crate) struct FileEdits {
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
    pub(crate) fn new(base: Arc<str>, flexibility: Flexibility) -> Self {
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
    pub(crate) fn standing(base: Arc<str>, proposed: &str, noted: Vec<Range<usize>>, flexibility: Flexibility) -> Self {
        let mut edits = Self::new(base, flexibility);
        edits.items = pending_items(&edits.document, proposed);
        edits.changed = edits.items != edits.stood;
        (edits.stood, edits.noted) = (edits.items.clone(), noted);
        edits
    }

    /// Takes up another reply, whose line numbers are to be tested anew.
    pub(crate) fn take_up(&mut self) {
        self.numbers = Numbers::Untested;
        self.stood.clone_from(&self.items);
    }

    /// Leaves out all edits so far.
    pub(crate) fn start_again(&mut self) {
        self.items = self.document.items();
        self.changed = false;
    }

    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    /// The text with all edits so far.
    pub(crate) fn compose(&self) -> String {
        self.document.compose(&self.items)
    }

    /// Whether nothing but white space is left.
    pub(crate) fn is_blank(&self) -> bool {
        View::of(&self.document, &self.items).bodies().all(|line| line.trim().is_empty())
    }

    /// Replaces everything.
    pub(crate) fn set_items(&mut self, items: Vec<Item>) {
        self.items = items;
        self.changed = true;
    }

    /// Whether no edit has landed.
    pub(crate) fn untouched(&self) -> bool {
        !self.changed
    }

    /// The lines with all edits so far.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The cost of the place that `hunk` would take, if it would be accepted.
    pub(crate) fn cost(&self, hunk: &Hunk, forgiving: bool) -> Option<f32> {
        match self.find(hunk, forgiving).ok()? {
            Against::Edited(located) | Against::Original(located) => Some(located.cost),
        }
    }

    /// Applies one hunk.
    pub(crate) fn apply(&mut self, hunk: &Hunk, forgiving: bool) -> Result<Landing, Refusal> {
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
    pub(crate) fn apply_by_number(&mut self, hunk: &Hunk, forgiving: bool) -> Option<Landing> {
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
            return if repeats { Ok(Landing::repeated()) } else { Err(Cause::AlreadyApplied.into()) };
        }
        self.items = items;
        self.changed = true;
        self.applied.insert(hunk.lines.clone());
        let flags = if located.strategy == Strategy::Elision { vec![Flag::Elision] } else { Vec::new() };
        let (strategy, confidence) = (located.strategy, located.confidence);
        Ok(Landing { strategy, confidence, lines, flags, note: String::new() })
    }

    /// Whether the very same hunk has been applied.
    pub(crate) fn repeats(&self, hunk: &Hunk) -> bool {
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
        Some(Err(Cause::ContextOnly.into()))
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
            Err(refusal) => refusal.is_not_found() && !refusal.is(Flag::AlreadyApplied),
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
        let region = |items: &[Item]| pending_region(items, first, last, self.document.len());
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
            return Err(Cause::ChangedByOther.into());
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

/// The lines of a document with the changes to `proposed`.
fn pending_items(document: &Document, proposed: &str) -> Vec<Item> {
    let new = Document::new(proposed.into());
    let (old_lines, new_lines) = (lines::split(document.base()), lines::split(proposed));
    let mut items = Vec::with_capacity(new.len());
    let mut at = 0;
    for hunk in diff::line_hunks(&old_lines, &new_lines) {
        items.extend((at..hunk.base.start).map(Item::Old));
        items.extend(hunk.proposed.map(|line| Item::New(new.body(line).to_owned())));
        at = hunk.base.end;
    }
    items.extend((at..document.len()).map(Item::Old));
    items
}

/// Where the lines `first` to `last` of a document (0-based) of `count` lines stand among `items`, with all that is there in the place
/// of those that are gone; `None` if lines beside them are gone with them.
fn pending_region(items: &[Item], first: usize, last: usize, count: usize) -> Option<Range<usize>> {
    let place = |wanted: &dyn Fn(usize) -> bool| items.iter().position(|item| item.old().is_some_and(wanted));
    let start = match place(&|line| line == first) {
        Some(at) => at,
        None if first == 0 => 0,
        None => place(&|line| line + 1 == first)? + 1,
    };
    let end = match place(&|line| line == last) {
        Some(at) => at + 1,
        None if last + 1 == count => items.len(),
        None => place(&|line| line == last + 1)?,
    };
    (start <= end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(text: &str) -> Item {
        Item::New(text.to_owned())
    }

    #[test]
    fn a_change_that_stands_is_lines_that_went_and_lines_that_came() {
        let document = Document::new("a\nb\nc\n".into());
        assert_eq!(pending_items(&document, "a\nB\nB2\nc\n"), [Item::Old(0), new("B"), new("B2"), Item::Old(2)]);
        assert_eq!(pending_items(&document, "a\nb\nc"), [Item::Old(0), Item::Old(1), new("c")]);
    }

    #[test]
    fn a_region_ends_where_the_lines_beside_it_are() {
        let items = [Item::Old(0), new("x"), Item::Old(3), new("y"), Item::Old(4)];
        assert_eq!(pending_region(&items, 1, 2, 5), Some(1..2));
        assert_eq!(pending_region(&items, 3, 4, 5), Some(2..5));
        assert_eq!(pending_region(&items, 1, 1, 5), None, "the line after it is gone, too");
        assert_eq!(pending_region(&items, 2, 2, 5), None, "the line before it is");
        assert_eq!(pending_region(&[Item::Old(0), new("x")], 1, 2, 3), Some(1..2), "to the end");
        assert_eq!(pending_region(&[Item::Old(0), new("x")], 1, 1, 3), None, "not to the end");
        assert_eq!(pending_region(&[new("x"), Item::Old(1)], 0, 0, 2), Some(0..1));
    }
}
