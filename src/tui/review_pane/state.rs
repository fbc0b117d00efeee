//! The state of the review pane: the cursor, and the view options of files and hunks.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rhumb_edit::review::{Decision, FileReview, HunkId, Review, ReviewHunk};

use super::actions::DecisionGuard;
use super::navigation::ReviewSearch;
use super::rows::{HunkPlan, Plan, Row, Rows, View};
use crate::config::DisplaySettings;
use crate::tui::prelude::*;

/// Rows kept visible above and below the cursor while there are any.
const MARGIN: usize = 2;

/// The space that is assumed before the first frame.
const UNKNOWN: Rect = Rect { x: 0, y: 0, width: 80, height: 24 };

/// The part that the next layout makes visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Follow {
    #[default]
    Row,
    /// The hunk under the cursor, if it fits.
    Hunk,
    /// Nothing: the window was scrolled, and the cursor follows it.
    Window,
}

/// Identifies a hunk by its location, so that view options survive changes of other hunks.
type Key = (u64, [usize; 4]);

/// Folded or opened hunks with their decision at that time. Another decision cancels the choice.
type Folds = BTreeMap<Key, (bool, Decision)>;

#[derive(Debug)]
pub struct ReviewPane {
    /// The hunk under the cursor, or the last one.
    pub cursor: HunkId,
    /// The first visible screen line.
    pub(super) offset: usize,
    pub(super) follow: Follow,
    pub(super) at: Row,
    pub(super) rows: Rows,
    pub(super) area: Rect,
    /// The start of the line selection.
    pub(super) anchor: Option<Row>,
    pub(super) search: ReviewSearch,
    pub(super) choice: Choice,
    pub(super) in_tree: bool,
    folds: Folds,
    context: BTreeMap<Key, (usize, usize)>,
    /// The area inside the frame of the pane.
    pub(super) inner: Rect,
    /// Ignores keys that were meant for another hunk.
    pub(super) guard: DecisionGuard,
    was_reviewing: bool,
    /// The number of proposals at the last reset.
    seen_proposals: usize,
}

/// View options that the user chose; `None` for the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choice {
    pub sides: Option<bool>,
    pub words: Option<bool>,
    pub tree: Option<bool>,
}

impl Default for ReviewPane {
    fn default() -> Self {
        Self {
            cursor: HunkId::default(),
            offset: 0,
            follow: Follow::Hunk,
            at: Row::Hunk { id: HunkId::default(), folded: false },
            rows: Rows::default(),
            area: UNKNOWN,
            anchor: None,
            search: ReviewSearch::default(),
            choice: Choice::default(),
            in_tree: false,
            folds: BTreeMap::new(),
            context: BTreeMap::new(),
            inner: UNKNOWN,
            guard: DecisionGuard::default(),
            was_reviewing: false,
            seen_proposals: 0,
        }
    }
}

impl ReviewPane {
    /// Resets the pane for a new proposal. Returns whether a review has just ended.
    pub(crate) fn follow_session(&mut self, is_reviewing: bool, proposals: usize) -> bool {
        let has_ended = self.was_reviewing && !is_reviewing;
        if proposals != self.seen_proposals {
            let (choice, area, inner) = (self.choice, self.area, self.inner);
            let guard = std::mem::take(&mut self.guard);
            *self = Self { choice, area, inner, guard, seen_proposals: proposals, ..Self::default() };
        }
        self.was_reviewing = is_reviewing;
        has_ended
    }

    pub(crate) fn height(&self) -> usize {
        usize::from(self.area.height)
    }

    pub(crate) fn is_searching(&self) -> bool {
        self.search.is_on()
    }

    pub(crate) fn is_typing(&self) -> bool {
        self.search.prompt.is_some()
    }

    /// Lays out the rows. The cursor stays on its item.
    pub(crate) fn lay_out(&mut self, review: &Review, display: &DisplaySettings, area: Rect, sides: bool) {
        self.area = area;
        let view = View { columns: area.width, sides };
        let (folds, context) = (&self.folds, &self.context);
        let plan = |file: usize| plan(folds, context, review.files.get(file), display.fold_decided);
        self.rows.refresh(review, view, plan);
        let number = self.rows.locate(self.at);
        self.put(number);
        // If the cursor is on an unplaced edit, the stored hunk is an earlier one and may no longer exist.
        if review.hunk(self.cursor).is_none() {
            self.cursor = review.ids().take_while(|id| *id <= self.cursor).last().unwrap_or_default();
        }
        let still = |anchor: Row| self.rows.get(self.rows.locate(anchor)).filter(|row| row.hunk() == self.at.hunk());
        self.anchor = self.anchor.and_then(still);
        self.scroll(number);
    }

    /// Moves the cursor to a row without scrolling.
    fn put(&mut self, number: usize) {
        if let Some(row) = self.rows.get(number) {
            self.at = row;
        }
        if let Some(id) = self.at.hunk() {
            self.cursor = id;
        } else if let Some(file) = self.at.file() {
            self.cursor = HunkId { file, hunk: 0 };
        }
    }

    /// Moves the cursor to a row, or to the next selectable row in that direction.
    pub(crate) fn move_to(&mut self, number: usize, down: bool) {
        let is_stop = |number: &usize| self.rows.get(*number).is_some_and(Row::is_stop);
        let last = self.rows.len().saturating_sub(1);
        let number = number.min(last);
        let on = if down { (number..=last).find(is_stop) } else { (0..=number).rev().find(is_stop) };
        let on = on.or_else(|| (0..=number).rev().find(is_stop)).or_else(|| (number..=last).find(is_stop));
        if let Some(number) = on {
            self.put(number);
            self.follow = Follow::Row;
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.rows.locate(self.at)
    }

    pub(crate) fn window(&self) -> Range<usize> {
        self.offset..self.offset + usize::from(self.area.height)
    }

    /// Whether a line or the heading of a hunk is visible.
    pub(crate) fn shows(&self, id: HunkId) -> bool {
        let window = self.window();
        let first = self.rows.at_line(window.start);
        let rows = self.rows.from(first).take_while(|(number, _)| self.rows.place(*number).0 < window.end);
        rows.into_iter().any(|(_, row)| row.hunk() == Some(id) && row.shows_change())
    }

    /// Scrolls the window as `follow` demands.
    fn scroll(&mut self, number: usize) {
        let height = usize::from(self.area.height);
        let last = self.rows.height().saturating_sub(height);
        self.offset = self.offset.min(last);
        let (start, rows) = self.rows.place(number);
        let follow = std::mem::take(&mut self.follow);
        if height == 0 {
            self.follow = follow;
            return;
        }
        match follow {
            Follow::Hunk => {
                let (mut first, mut end) = self.extent(number);
                if end - first > height {
                    (first, end) = self.core(number);
                }
                let fits = end - first <= height;
                if fits && (first < self.offset || end > self.offset + height) {
                    // A hunk that fits is placed a third from the top, so that the following lines are visible, too.
                    self.offset = first.saturating_sub((height - (end - first)) / 3).min(last);
                } else if !fits {
                    self.offset = first.min(last);
                }
            }
            Follow::Window => {
                self.drag();
                return;
            }
            Follow::Row => {}
        }
        let margin = MARGIN.min(height / 6);
        let rows = rows.clamp(1, height);
        let top = if start == 0 { 0 } else { start.saturating_sub(margin) };
        if self.offset > top {
            self.offset = top;
        }
        let bottom = (start + rows + margin).min(self.rows.height().max(start + rows));
        if self.offset + height < bottom && rows + margin <= height {
            self.offset = bottom - height;
        }
        self.offset = self.offset.min(last);
    }

    /// The screen lines from the heading of the row's hunk to its end. The range of the first hunk includes the heading of the
    /// file. An unplaced edit is handled like a hunk.
    fn extent(&self, number: usize) -> (usize, usize) {
        let row = self.rows.get(number);
        let (id, refused) = (row.and_then(Row::hunk), row.and_then(Row::refused));
        let is_own = |row: Row| (id.is_some() || refused.is_some()) && (row.hunk(), row.refused()) == (id, refused);
        let own = |number: &usize| self.rows.get(*number).is_some_and(is_own);
        let mut first = (0..=number).rev().take_while(own).last().unwrap_or(number);
        let last = (number..self.rows.len()).take_while(own).last().unwrap_or(number);
        let heads = |row: Option<Row>| matches!(row, Some(Row::File(_) | Row::Gap { above: true, .. }));
        // The heading of the file belongs to its first hunk.
        while first > 0 && id.is_some_and(|id| id.hunk == 0) && heads(self.rows.get(first - 1)) {
            first -= 1;
        }
        let (start, _) = self.rows.place(first);
        let (end, height) = self.rows.place(last);
        (start, end + height)
    }

    /// The screen lines from the heading of a hunk to its last change.
    fn core(&self, number: usize) -> (usize, usize) {
        let id = self.rows.get(number).and_then(Row::hunk);
        let rows = self.rows.from(number).take_while(|(_, row)| id.is_some() && row.hunk() == id);
        let last = rows.filter(|(_, row)| row.shows_change()).last().map_or(number, |(number, _)| number);
        let (end, height) = self.rows.place(last);
        (self.rows.place(number).0, end + height)
    }

    fn drag(&mut self) {
        let window = self.window();
        let number = self.number();
        let (start, height) = self.rows.place(number);
        if start >= window.start && start + height.min(window.len()) <= window.end {
            return;
        }
        let (to, down) = if start < window.start {
            let first = self.rows.at_line(window.start);
            (if self.rows.place(first).0 < window.start { first + 1 } else { first }, true)
        } else {
            (self.rows.at_line(window.end.saturating_sub(1)), false)
        };
        self.move_to(to, down);
        self.follow = Follow::Row;
    }

    pub(crate) fn scroll_by(&mut self, lines: isize) {
        let last = self.rows.height().saturating_sub(usize::from(self.area.height));
        self.offset = self.offset.saturating_add_signed(lines).min(last);
        self.follow = Follow::Window;
    }

    /// Folds or opens hunks, until their decision changes.
    pub(crate) fn fold(&mut self, review: &Review, ids: &[HunkId], folded: bool) {
        for id in ids {
            if let Some((file, item)) = review.files.get(id.file).zip(review.hunk(*id)) {
                self.folds.insert(key(file, item), (folded, item.decision()));
            }
        }
    }

    pub(crate) fn is_folded(&self, review: &Review, id: HunkId, fold_decided: bool) -> bool {
        let found = review.files.get(id.file).zip(review.hunk(id));
        found.is_some_and(|(file, item)| is_folded(&self.folds, file, item, fold_decided))
    }

    /// Shows more unchanged lines above and below a hunk; fewer for negative numbers.
    pub(crate) fn widen(&mut self, review: &Review, id: HunkId, [above, below]: [isize; 2]) {
        if let Some((file, item)) = review.files.get(id.file).zip(review.hunk(id)) {
            let (before, after) = self.context.entry(key(file, item)).or_default();
            *before = before.saturating_add_signed(above);
            *after = after.saturating_add_signed(below);
        }
    }

    pub(crate) fn widened(&self, review: &Review, id: HunkId) -> (usize, usize) {
        let found = review.files.get(id.file).zip(review.hunk(id));
        found.and_then(|(file, item)| self.context.get(&key(file, item)).copied()).unwrap_or_default()
    }
}

fn key(file: &FileReview, item: &ReviewHunk) -> Key {
    let mut hasher = DefaultHasher::new();
    file.path.hash(&mut hasher);
    let (base, proposed) = (&item.hunk.base, &item.hunk.proposed);
    (hasher.finish(), [base.start, base.end, proposed.start, proposed.end])
}

fn is_folded(folds: &Folds, file: &FileReview, item: &ReviewHunk, fold_decided: bool) -> bool {
    let chosen = if folds.is_empty() { None } else { folds.get(&key(file, item)).copied() };
    let chosen = chosen.filter(|(_, said)| *said == item.decision()).map(|(folded, _)| folded);
    chosen.unwrap_or(fold_decided && item.decision() != Decision::Pending)
}

fn plan(folds: &Folds, context: &BTreeMap<Key, (usize, usize)>, file: Option<&FileReview>, fold_decided: bool) -> Plan {
    let Some(file) = file else { return Plan::new() };
    let of_hunk = |item: &ReviewHunk| {
        let more = if context.is_empty() { None } else { context.get(&key(file, item)).copied() };
        let (before, after) = more.unwrap_or_default();
        HunkPlan { folded: is_folded(folds, file, item, fold_decided), before, after }
    };
    file.hunks.iter().map(of_hunk).collect()
}
