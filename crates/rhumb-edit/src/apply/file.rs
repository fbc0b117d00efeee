//! One file while the edits of a reply are applied to it.
//!
//! [`OpenFile`] handles the file as a whole (created, rewritten, deleted, renamed), [`FileEdits`] its hunks. A hunk
//! is located in the file as the earlier edits left it, or in the original file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff;
use rhumb_text::lines::{self, LineEnding};

use super::document::{Document, Item, View};
use super::whole_file;
use crate::altered_text;
use crate::locate;
use crate::locate::align::{self, MIN_MARGIN};
use crate::locate::placement::Located;
use crate::outcome::{AppliedEdit, Candidate, Flag, Strategy};
use crate::parse::markers;
use crate::proposal::{FileChange, FileProposal, Matching};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Change, Hunk, LineKind, QuotedLine};

/// A file with the edits applied so far.
pub(crate) struct OpenFile {
    pub(crate) edits: FileEdits,
    pub(crate) exists: bool,
    /// Whether only earlier replies changed the file: their changes are pending.
    pub(crate) only_pending: bool,
    pub(crate) deleted: bool,
    pub(crate) moved_to: Option<String>,
    /// Whether the reply is HTML-escaped.
    pub(crate) escaped: bool,
    /// Whether the text has to end with a newline, if an edit says so.
    pub(crate) final_newline: Option<bool>,
}

impl OpenFile {
    /// A file with pending changes; `to` is its new path if it is renamed.
    pub(crate) fn with_pending(
        file: &FileProposal,
        to: Option<String>,
        commented: Vec<Range<usize>>,
        matching: Matching,
    ) -> Self {
        let base: Arc<str> = file.base.clone().unwrap_or_default();
        let ends = |text: &str| text.ends_with('\n') || text.is_empty();
        let ends_so = file.proposed.as_deref().map(ends).filter(|ends_so| *ends_so != ends(&base));
        let proposed = file.proposed.clone().unwrap_or_else(|| base.clone());
        Self {
            edits: FileEdits::with_pending(base, &proposed, commented, matching),
            exists: file.base.is_some(),
            only_pending: true,
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
        is_diff: bool,
        new: bool,
    ) -> Result<AppliedEdit, Refusal> {
        let applied_edit = self.lines_of_hunk(path, readings, is_diff, new);
        match readings {
            [only] if only.final_newline.is_some() => self.ended(only, applied_edit),
            _ => applied_edit,
        }
    }

    /// Applies a change of the newline at the end of the file, after the lines of the hunk were applied. These may
    /// have been unchanged.
    fn ended(&mut self, hunk: &Hunk, applied_edit: Result<AppliedEdit, Refusal>) -> Result<AppliedEdit, Refusal> {
        let base = self.edits.document().base();
        let was = base.ends_with('\n') || base.is_empty();
        let last_of = |text: &str| text.lines().next_back().map(str::to_owned);
        let is_end = last_of(&self.edits.compose()) == last_of(&hunk.replacement());
        if !is_end || hunk.final_newline == Some(was) {
            return applied_edit;
        }
        let applied_edit = match applied_edit {
            Err(refusal) if refusal.is(Flag::AlreadyApplied) && self.final_newline != hunk.final_newline => {
                let last = self.edits.document().len();
                AppliedEdit { lines: Some((last, last)), ..AppliedEdit::new(Strategy::Exact, "") }
            }
            applied_edit => applied_edit?,
        };
        self.final_newline = hunk.final_newline;
        Ok(applied_edit)
    }

    fn lines_of_hunk(
        &mut self,
        path: &str,
        readings: &[Hunk],
        is_diff: bool,
        new: bool,
    ) -> Result<AppliedEdit, Refusal> {
        let creation = readings.iter().find(|hunk| !hunk.quotes());
        if let Some(hunk) = creation.filter(|_| !self.exists && (self.only_pending || self.edits.items().is_empty())) {
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
        let hunk = self.reading(path, readings, is_diff)?;
        let unescaped =
            altered_text::decoded(hunk).filter(|unescaped| self.reads_better(path, unescaped, hunk, is_diff));
        self.edits.apply(unescaped.as_ref().unwrap_or(hunk), is_diff)
    }

    /// The result of a hunk that occurs earlier in the reply.
    fn repeated(&self, hunk: &Hunk) -> Option<AppliedEdit> {
        let unescaped = || altered_text::decoded(hunk).is_some_and(|hunk| self.edits.repeats(&hunk));
        (self.edits.repeats(hunk) || unescaped()).then(AppliedEdit::repeated)
    }

    /// Whether a hunk fits better with decoded entities. If both fit equally, because only added lines have
    /// entities, the rest of the reply and the file decide.
    fn reads_better(&self, path: &str, unescaped: &Hunk, hunk: &Hunk, is_diff: bool) -> bool {
        match (self.edits.cost(unescaped, is_diff), self.edits.cost(hunk, is_diff)) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(cost), Some(plain)) if (cost - plain).abs() > 1e-3 => cost < plain,
            _ => {
                let added =
                    hunk.lines.iter().filter(|line| line.kind == LineKind::Insert).map(|line| line.text.as_str());
                self.escaped && !altered_text::entities_are_meant(path, self.edits.document().base(), added)
            }
        }
    }

    /// The reading of a block that is in the file: the longest exact one, or the one with a clear lead.
    fn reading<'h>(&self, path: &str, readings: &'h [Hunk], is_diff: bool) -> Result<&'h Hunk, Refusal> {
        if let [only] = readings {
            return Ok(only);
        }
        let quoting = readings.iter().rev().filter(|hunk| hunk.quotes());
        let cost = |hunk: &'h Hunk| Some((self.edits.cost(hunk, is_diff)?, hunk));
        let mut accepted: Vec<(f32, &Hunk)> = quoting.filter_map(cost).collect();
        // A reading that adds a divider to the file is used only if no other is accepted.
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
            [(best, hunk), (next, _), ..] if next - best >= MIN_MARGIN => Ok(hunk),
            [] => Err(Cause::NoDividerFits.into()),
            _ => Err(Cause::AmbiguousDivider.into()),
        }
    }

    fn create(&mut self, hunk: &Hunk) -> AppliedEdit {
        let text = hunk.replacement();
        self.edits.set_items(text.lines().map(|line| Item::new(line.to_owned())).collect());
        self.exists = false;
        AppliedEdit::new(Strategy::Created, "")
    }

    /// An edit without quote can only fill an empty file.
    fn fill(&mut self, path: &str, hunk: Option<&Hunk>) -> Result<AppliedEdit, Refusal> {
        let wanted = hunk.map(Hunk::replacement).unwrap_or_default();
        if self.edits.is_blank() {
            self.edits.set_items(wanted.lines().map(|line| Item::new(line.to_owned())).collect());
            return Ok(AppliedEdit::new(Strategy::Whole, ""));
        }
        if self.edits.compose().trim_end().lines().eq(wanted.trim_end().lines()) {
            return Err(Cause::AlreadyApplied.into());
        }
        Err(Cause::QuotesNothing { path: path.to_owned() }.into())
    }

    pub(crate) fn whole(
        &mut self,
        path: &str,
        lines: &[String],
        new: bool,
        asked: bool,
    ) -> Result<AppliedEdit, Refusal> {
        if !self.exists && (self.only_pending || self.edits.items().is_empty()) {
            let text: Vec<&str> = lines.iter().map(String::as_str).collect();
            whole_file::complete(&["..."], &text)?;
            self.edits.set_items(lines.iter().cloned().map(Item::new).collect());
            return Ok(AppliedEdit::new(Strategy::Created, ""));
        }
        if new {
            return Err(Cause::FileExists { path: path.to_owned() }.into());
        }
        let unescaped = self.unescaped(path, lines);
        let items = whole_file::merge(self.edits.document(), unescaped.as_deref().unwrap_or(lines), asked)?;
        let mut applied_edit = AppliedEdit::new(Strategy::Whole, "");
        if whole_file::drops_tail(&items, self.edits.document().bodies().len()) {
            applied_edit.flags.push(Flag::Elision);
        }
        self.edits.set_items(items);
        Ok(applied_edit)
    }

    /// The lines with decoded entities, if these are more similar to the file.
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
        let meant = || altered_text::entities_are_meant(path, self.edits.document().base(), added());
        (with > without || (with == without && !meant())).then_some(unescaped)
    }

    pub(crate) fn delete(&mut self, path: &str, change: &Change) -> Result<AppliedEdit, Refusal> {
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
        Ok(AppliedEdit::new(Strategy::Deleted, ""))
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

    /// Creates a file again that the reply deleted, as models do to replace it. Unchanged lines keep their bytes.
    pub(crate) fn remake(&mut self, change: &Change) -> Option<Result<AppliedEdit, Refusal>> {
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
        self.edits.set_items(merged.unwrap_or_else(|_| lines.into_iter().map(Item::new).collect()));
        self.deleted = false;
        Some(Ok(AppliedEdit::new(Strategy::Whole, "")))
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

/// Whether each added line that looks like a divider underlines a heading above it.
fn underlines(hunk: &Hunk) -> bool {
    let added: Vec<&str> =
        hunk.lines.iter().filter(|line| line.kind == LineKind::Insert).map(|line| &*line.text).collect();
    let width = |line: Option<&str>| line.map_or(0, |line| line.trim().chars().count());
    let heads = |at: usize| {
        (1..=width(added.get(at).copied())).contains(&width(at.checked_sub(1).and_then(|at| added.get(at).copied())))
    };
    added.iter().enumerate().filter(|(_, line)| markers::divider(line).is_some()).all(|(at, _)| heads(at))
}

/// Whether the hunk adds more lines that look like dividers than it removes.
fn adds_divider(hunk: &Hunk) -> bool {
    let count = |kind: LineKind| {
        let lines = hunk.lines.iter().filter(|line| line.kind == kind);
        lines.filter(|line| markers::divider(&line.text).is_some()).count()
    };
    count(LineKind::Insert) > count(LineKind::Delete)
}

/// Minimum difference in cost for which a location in the original file is preferred to one in the edited file.
/// Benchmark of [`crate::locate`]: with 0 instead, 2 more replies are refused; with 2, 10 are applied wrongly.
const MIN_ORIGINAL_LEAD: f32 = 0.2;

/// The hunks of one file.
#[derive(Debug)]
pub(crate) struct FileEdits {
    document: Document,
    matching: Matching,
    items: Vec<Item>,
    changed: bool,
    applied: BTreeSet<Vec<QuotedLine>>,
    numbers: LineNumberTrust,
    /// The lines before the current reply.
    lines_before_reply: Vec<Item>,
    /// Lines of the base with pending changes on which the reviewer commented.
    commented: Vec<Range<usize>>,
}

/// Whether the line numbers of the hunk headings in this reply are reliable, judged by the hunks that are located
/// without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineNumberTrust {
    Unknown,
    Right,
    Wrong,
}

/// The text in which a hunk was located.
enum Target {
    Edited(Located),
    Original(Located),
}

impl FileEdits {
    pub(crate) fn new(base: Arc<str>, matching: Matching) -> Self {
        let document = Document::new(base);
        let items = document.items();
        Self {
            document,
            matching,
            lines_before_reply: items.clone(),
            items,
            changed: false,
            applied: BTreeSet::new(),
            numbers: LineNumberTrust::Unknown,
            commented: Vec::new(),
        }
    }

    /// A file with pending changes. `commented` are the lines of the base with changes on which the reviewer
    /// commented.
    pub(crate) fn with_pending(
        base: Arc<str>,
        proposed: &str,
        commented: Vec<Range<usize>>,
        matching: Matching,
    ) -> Self {
        let mut edits = Self::new(base, matching);
        edits.items = pending_items(&edits.document, proposed);
        edits.changed = edits.items != edits.lines_before_reply;
        (edits.lines_before_reply, edits.commented) = (edits.items.clone(), commented);
        edits
    }

    /// Begins another reply, whose line numbers may be reliable or not.
    pub(crate) fn begin_reply(&mut self) {
        self.numbers = LineNumberTrust::Unknown;
        self.lines_before_reply.clone_from(&self.items);
    }

    /// Discards all edits.
    pub(crate) fn reset(&mut self) {
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

    /// Whether the text has only white space.
    pub(crate) fn is_blank(&self) -> bool {
        View::of(&self.document, &self.items).bodies().all(|line| line.trim().is_empty())
    }

    /// Replaces all lines.
    pub(crate) fn set_items(&mut self, items: Vec<Item>) {
        self.items = items;
        self.changed = true;
    }

    /// Whether no edit was applied.
    pub(crate) fn untouched(&self) -> bool {
        !self.changed
    }

    /// The lines with all edits so far.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The cost of the location that `hunk` would get; `None` if it is refused.
    pub(crate) fn cost(&self, hunk: &Hunk, is_diff: bool) -> Option<f32> {
        match self.find(hunk, is_diff).ok()? {
            Target::Edited(located) | Target::Original(located) => Some(located.cost),
        }
    }

    /// Applies one hunk.
    pub(crate) fn apply(&mut self, hunk: &Hunk, is_diff: bool) -> Result<AppliedEdit, Refusal> {
        if self.repeats(hunk) {
            return Ok(AppliedEdit::repeated());
        }
        let against = match self.find(hunk, is_diff) {
            Err(refusal) if refusal.is(Flag::AlreadyApplied) && self.fits_original(hunk, is_diff) => {
                return Ok(AppliedEdit::repeated());
            }
            found => found?,
        };
        let applied_edit = self.apply_located(hunk, against, is_diff)?;
        if let (Some(number), Some((first, _))) = (hunk.line, applied_edit.lines) {
            let right = number == first && self.numbers != LineNumberTrust::Wrong;
            self.numbers = if right { LineNumberTrust::Right } else { LineNumberTrust::Wrong };
        }
        Ok(applied_edit)
    }

    /// Applies an ambiguous hunk at the line number of its heading, if all other numbers of the reply are right and
    /// no other edit is near. Models do not guess several numbers right, so this reply was made with them.
    pub(crate) fn apply_by_number(&mut self, hunk: &Hunk, is_diff: bool) -> Option<AppliedEdit> {
        let line = hunk.line.filter(|_| self.numbers == LineNumberTrust::Right)?.checked_sub(1)?;
        let base = View::of_base(&self.document);
        let located = locate::locate_at(&base, line, hunk, is_diff, self.matching)?;
        let shift = self.shift(&located)?;
        self.apply_located(hunk, Target::Edited(located.shifted(shift)), is_diff).ok()
    }

    /// Applies a hunk at its location.
    fn apply_located(&mut self, hunk: &Hunk, against: Target, is_diff: bool) -> Result<AppliedEdit, Refusal> {
        if !hunk.changes()
            && let Some(result) = self.context_only(&against)
        {
            return result;
        }
        let (items, located, lines) = match against {
            Target::Edited(located) => {
                let lines = self.base_lines(&located);
                (self.edited(&located), located, lines)
            }
            Target::Original(located) => {
                let lines =
                    located.matched.first().zip(located.matched.last()).map(|(first, last)| (first + 1, last + 1));
                (self.merged(&located)?, located, lines)
            }
        };
        if self.same_text(&items) {
            let repeats = self.fits_original(hunk, is_diff) && located.strategy != Strategy::Exact;
            return if repeats { Ok(AppliedEdit::repeated()) } else { Err(Cause::AlreadyApplied.into()) };
        }
        self.items = items;
        self.changed = true;
        self.applied.insert(hunk.lines.clone());
        let flags = if located.strategy == Strategy::Elision { vec![Flag::Elision] } else { Vec::new() };
        let (strategy, confidence) = (located.strategy, located.confidence);
        Ok(AppliedEdit { strategy, confidence, lines, flags, note: String::new() })
    }

    /// Whether the same hunk was applied before.
    pub(crate) fn repeats(&self, hunk: &Hunk) -> bool {
        self.applied.contains(&hunk.lines)
    }

    /// Whether a quote that is verbatim in several places of the original file is still ambiguous: not exactly one
    /// of them has all its lines. Lines added in between do not matter.
    fn leaves_open(&self, refusal: &Refusal, hunk: &Hunk) -> bool {
        let alive: BTreeSet<usize> = self.items.iter().filter_map(Item::old).collect();
        let quoted = hunk.lines.iter().filter(|line| line.kind != LineKind::Insert).count();
        let stands = |candidate: &&Candidate| {
            (candidate.line - 1..candidate.line - 1 + quoted).all(|line| alive.contains(&line))
        };
        let exact = refusal.candidates.iter().all(|candidate| candidate.similarity >= 1.0);
        exact && refusal.candidates.iter().filter(stands).count() != 1
    }

    /// Whether a hunk that changes nothing now would have changed the original file. Then it repeats another edit
    /// of this reply.
    fn fits_original(&self, hunk: &Hunk, is_diff: bool) -> bool {
        self.changed && locate::locate(&View::of_base(&self.document), hunk, is_diff, self.matching).is_ok()
    }

    /// The result of a hunk without added or removed lines. `None` if the hunk is exact except for lines that the
    /// file does not have: these lost their plus sign.
    fn context_only(&self, against: &Target) -> Option<Result<AppliedEdit, Refusal>> {
        let (Target::Edited(located) | Target::Original(located)) = against;
        if located.strategy == Strategy::Exact {
            let mut applied_edit = AppliedEdit::new(Strategy::Unchanged, "the edit adds and removes nothing");
            applied_edit.lines = self.base_lines(located);
            return Some(Ok(applied_edit));
        }
        let added = located.inserts.values().map(Vec::len).sum::<usize>() as f32;
        if added > 0.0 && located.cost < added * align::MISSING_PLUS_COST + MIN_ORIGINAL_LEAD {
            return None;
        }
        Some(Err(Cause::ContextOnly.into()))
    }

    fn find(&self, hunk: &Hunk, is_diff: bool) -> Result<Target, Refusal> {
        let locate = |view: &View<'_>| locate::locate(view, hunk, is_diff, self.matching);
        let original = locate(&View::of_base(&self.document));
        if let Ok(located) = &original
            && located.complete
            && let Some(shift) = self.shift(located)
        {
            return Ok(Target::Edited(located.shifted(shift)));
        }
        if let Ok(located) = &original
            && self.is_commented(located)
            && self.without_pending(located).is_some()
        {
            return original.map(Target::Original);
        }
        if !self.changed {
            return original.map(Target::Edited);
        }
        if let Err(refusal) = &original
            && refusal.is(Flag::Ambiguous)
            && self.leaves_open(refusal, hunk)
        {
            return original.map(Target::Edited);
        }
        let edited = locate(&View::of(&self.document, &self.items));
        let prefers_original = |original: &Located| match &edited {
            Ok(edited) => original.cost < edited.cost - MIN_ORIGINAL_LEAD,
            Err(refusal) => refusal.is_not_found() && !refusal.is(Flag::AlreadyApplied),
        };
        if let Some(original) = original.ok().filter(prefers_original) {
            return Ok(Target::Original(original));
        }
        edited.map(Target::Edited)
    }

    /// The number of lines by which a location in the original file has moved, if no edit touched it or the lines
    /// around it.
    fn shift(&self, located: &Located) -> Option<isize> {
        let (first, last) = located.span()?;
        let (from, to) = (first.saturating_sub(1), (last + 1).min(self.document.len().checked_sub(1)?));
        let at = self.items.iter().position(|item| *item == Item::Old(from))?;
        let window = self.items.get(at..=at + (to - from))?;
        // Where the original begins or ends, the edited file has to begin or end too.
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
            // A new line ends like a pending line next to it. The pending change may be one of the line endings.
            let beside = self.items.iter().skip(line.saturating_sub(1)).take(2).find_map(Item::terminator);
            let new_line = |body: &String| Item::with_terminator(body, beside.unwrap_or_default());
            items.extend(located.inserts.get(&line).into_iter().flatten().map(new_line));
            next = if located.deletes.contains(&line) { line + 1 } else { line };
        }
        items.extend_from_slice(self.items.get(next..).unwrap_or_default());
        items
    }

    /// Whether the location has a change on which the reviewer commented.
    fn is_commented(&self, located: &Located) -> bool {
        let span = located.span();
        let within = |commented: &Range<usize>| {
            span.is_some_and(|(first, last)| first <= commented.start && commented.end <= last + 1)
        };
        self.commented.iter().any(within)
    }

    /// The lines without the pending changes at a location in the original file that the edit fits exactly or
    /// nearly so. `None` if a pending change reaches beyond the location, or this reply edited there.
    fn without_pending(&self, located: &Located) -> Option<Vec<Item>> {
        let lines = || located.matched.iter().chain(&located.deletes).copied();
        let (first, last) = lines().min().zip(lines().max())?;
        if !located.complete || located.matched.len() != last - first + 1 {
            return None;
        }
        let region = |items: &[Item]| pending_region(items, first, last, self.document.len());
        let (now, before) = (region(&self.items)?, region(&self.lines_before_reply)?);
        if self.items.get(now.clone())? != self.lines_before_reply.get(before)? {
            return None;
        }
        let mut items = self.items.clone();
        items.splice(now, (first..=last).map(Item::Old));
        Some(items)
    }

    /// Applies a location in the original file to the edited file. Lines that an earlier edit of this reply removed
    /// cannot be removed again; pending changes at the location are replaced.
    fn merged(&self, located: &Located) -> Result<Vec<Item>, Refusal> {
        let alive: BTreeSet<usize> = self.items.iter().filter_map(Item::old).collect();
        let meets = !located.deletes.is_subset(&alive);
        let instead = (meets || self.is_commented(located)).then(|| self.without_pending(located)).flatten();
        if meets && instead.is_none() {
            return Err(Cause::ChangedByOther.into());
        }
        let lines = instead.as_ref().unwrap_or(&self.items);
        let mut pending = located.inserts.iter().peekable();
        let mut items = Vec::with_capacity(lines.len() + located.inserts.len());
        for item in lines {
            if let Some(line) = item.old() {
                while let Some((_, lines)) = pending.next_if(|(at, _)| **at <= line) {
                    items.extend(lines.iter().cloned().map(Item::new));
                }
                if located.deletes.contains(&line) {
                    continue;
                }
            }
            items.push(item.clone());
        }
        items.extend(pending.flat_map(|(_, lines)| lines.iter().cloned().map(Item::new)));
        Ok(items)
    }

    fn same_text(&self, items: &[Item]) -> bool {
        View::of(&self.document, items).bodies().eq(View::of(&self.document, &self.items).bodies())
    }

    /// First and last line of the base that the quote matched, 1-based.
    fn base_lines(&self, located: &Located) -> Option<(usize, usize)> {
        let lines = located.matched.iter().filter_map(|at| match self.items.get(*at) {
            Some(Item::Old(line)) => Some(line + 1),
            _ => None,
        });
        let lines: Vec<usize> = lines.collect();
        lines.iter().min().copied().zip(lines.iter().max().copied())
    }
}

/// The lines of a document after its change to `proposed`.
fn pending_items(document: &Document, proposed: &str) -> Vec<Item> {
    let new = Document::new(proposed.into());
    let (old_lines, new_lines) = (lines::split(document.base()), lines::split(proposed));
    let mut items = Vec::with_capacity(new.len());
    let mut at = 0;
    for hunk in diff::line_hunks(&old_lines, &new_lines) {
        items.extend((at..hunk.base.start).map(Item::Old));
        items.extend(hunk.proposed.map(|line| Item::with_terminator(new.body(line), new.terminator(line))));
        at = hunk.base.end;
    }
    items.extend((at..document.len()).map(Item::Old));
    items
}

/// The range of `items` for the lines `first` to `last` (0-based) of a document with `count` lines, including what
/// replaced them. `None` if a line next to them was replaced with them.
fn pending_region(items: &[Item], first: usize, last: usize, count: usize) -> Option<Range<usize>> {
    let item_at = |wanted: &dyn Fn(usize) -> bool| items.iter().position(|item| item.old().is_some_and(wanted));
    let start = match item_at(&|line| line == first) {
        Some(at) => at,
        None if first == 0 => 0,
        None => item_at(&|line| line + 1 == first)? + 1,
    };
    let end = match item_at(&|line| line == last) {
        Some(at) => at + 1,
        None if last + 1 == count => items.len(),
        None => item_at(&|line| line == last + 1)?,
    };
    (start <= end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(text: &str) -> Item {
        Item::new(text.to_owned())
    }

    #[test]
    fn a_pending_change_is_removed_and_added_lines() {
        let document = Document::new("a\nb\nc\n".into());
        let ended = |text: &str| Item::with_terminator(text, "\n");
        assert_eq!(pending_items(&document, "a\nB\nB2\nc\n"), [Item::Old(0), ended("B"), ended("B2"), Item::Old(2)]);
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
