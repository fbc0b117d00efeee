//! One file while the edits of a reply are applied to it: made, changed, rewritten, deleted, moved.

use std::ops::Range;
use std::sync::Arc;

use super::FileEdits;
use super::document::Item;
use super::whole_file;
use crate::block::{entity, marker};
use crate::locate::align::MARGIN;
use crate::locate::explain;
use crate::outcome::{Flag, Landing, Refusal, Strategy};
use crate::proposal::{FileChange, FileProposal, Flexibility};
use crate::reply::{Change, Hunk, LineKind};
use rhumb_text::lines::LineEnding;

const DIVIDERS: &str = "malformed: the block has several `=======` lines, and one would be written into the file; send a \
                        block with just one between SEARCH and REPLACE";

/// The file as the edits so far leave it.
pub(super) struct OpenFile {
    pub(crate) edits: FileEdits,
    pub(crate) exists: bool,
    /// Whether all that was done to it was done by earlier replies, and is under review.
    pub(crate) stands: bool,
    pub(crate) deleted: bool,
    pub(super) moved_to: Option<String>,
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
            return Err(explain::missing(format!("no such file: `{path}`")));
        }
        if new || readings.iter().all(|hunk| !hunk.quotes()) {
            return self.fill(path, readings.first());
        }
        if let Some(repeated) = readings.iter().find_map(|hunk| self.repeated(hunk)) {
            return Ok(repeated);
        }
        let hunk = self.reading(path, readings, forgiving)?;
        let unescaped = entity::decoded(hunk).filter(|unescaped| self.reads_better(path, unescaped, hunk, forgiving));
        self.edits.apply(unescaped.as_ref().unwrap_or(hunk), forgiving)
    }

    /// The outcome of a hunk that stands earlier in the reply.
    fn repeated(&self, hunk: &Hunk) -> Option<Landing> {
        let unescaped = || entity::decoded(hunk).is_some_and(|hunk| self.edits.repeats(&hunk));
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
                self.escaped && !entity::may_be_meant(path, self.edits.document().base(), added)
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
        } else if !accepted.is_empty() && !marker::is_document(path) {
            accepted.retain(|(_, hunk)| underlines(hunk));
            if accepted.is_empty() {
                return Err(Refusal::new(DIVIDERS));
            }
        }
        accepted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        match accepted.as_slice() {
            [(_, only)] | [(0.0, only), ..] => Ok(only),
            [(best, hunk), (next, _), ..] if next - best >= MARGIN => Ok(hunk),
            [] => Err(explain::missing("no match: none of the ways to read the dividers gives lines of the file")),
            _ => {
                Err(Refusal::new("ambiguous: the block has several lines that may be its divider")
                    .flagged(Flag::Ambiguous))
            }
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
            return Err(explain::already_applied());
        }
        Err(Refusal::new(format!(
            "`{path}` exists already and the edit quotes none of its lines; quote the lines around the place"
        )))
    }

    pub(crate) fn whole(&mut self, path: &str, lines: &[String], new: bool, asked: bool) -> Result<Landing, Refusal> {
        if !self.exists && (self.stands || self.edits.items().is_empty()) {
            let text: Vec<&str> = lines.iter().map(String::as_str).collect();
            whole_file::complete(&["..."], &text)?;
            self.edits.set_items(lines.iter().cloned().map(Item::New).collect());
            return Ok(Landing::new(Strategy::Created, ""));
        }
        if new {
            return Err(Refusal::new(format!("`{path}` exists already")));
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
        let unescaped: Vec<String> = lines.iter().map(|line| entity::decode(line)).collect();
        let old = self.edits.document().bodies();
        let share = |lines: &[String]| {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            whole_file::kept_share(&old, &lines)
        };
        let (with, without) = (share(&unescaped), share(lines));
        let added = || lines.iter().map(String::as_str);
        let meant = || entity::may_be_meant(path, self.edits.document().base(), added());
        (with > without || (with == without && !meant())).then_some(unescaped)
    }

    pub(crate) fn delete(&mut self, path: &str, change: &Change) -> Result<Landing, Refusal> {
        if !self.exists {
            return Err(Refusal::new(format!("no such file: `{path}`")));
        }
        if let Change::Hunk(readings) = change {
            let before = self.edits.items().to_vec();
            let hunk = self.reading(path, readings, true)?;
            self.edits.apply(hunk, true)?;
            if !self.edits.is_blank() {
                self.edits.set_items(before);
                return Err(Refusal::new(format!("the diff deletes `{path}` but does not quote all of its lines")));
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
    pub(super) fn remake(&mut self, change: &Change) -> Option<Result<Landing, Refusal>> {
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
    added.iter().enumerate().filter(|(_, line)| marker::divider(line).is_some()).all(|(at, _)| heads(at))
}

/// Whether there are more lines like dividers among the added lines than among the removed ones.
fn adds_divider(hunk: &Hunk) -> bool {
    let count = |kind: LineKind| {
        let lines = hunk.lines.iter().filter(|line| line.kind == kind);
        lines.filter(|line| marker::divider(&line.text).is_some()).count()
    };
    count(LineKind::Insert) > count(LineKind::Delete)
}
