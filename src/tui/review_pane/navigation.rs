//! Navigation in the review pane: the cursor, hunks and files, the selection of lines, the file list, the mouse.

use std::ops::Range;

use ratatui::layout::{Margin, Rect};
use rhumb_edit::review::{CommentTarget, HunkId};

use super::{Follow, Row, parts, stops};
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, ReviewItem, Task};

impl App {
    /// Lays out the rows, in a new area or in the same as before.
    pub(crate) fn lay_out_review(&mut self, area: Option<Rect>) {
        if let Some(area) = area {
            self.review.inner = area.inner(Margin::new(1, 1));
        }
        if self.session.review().is_empty() {
            return;
        }
        let parts = parts(self, self.review.inner);
        let made = self.review.rows.made();
        self.review.lay_out(self.session.review(), &self.display, parts.rows, parts.sides);
        if self.review.search.is_on() && self.review.rows.made() != made {
            self.review.search.look(self.session.review(), &self.review.rows);
        }
    }

    /// Handles an action that moves the cursor. `None` for any other action.
    pub(crate) fn move_in_review(&mut self, action: Action) -> Option<()> {
        self.lay_out_review(None);
        if self.review.in_tree && matches!(action, Action::Down | Action::Up) {
            self.step_in_tree(action == Action::Down);
            return Some(());
        }
        let at = self.review.number();
        let height = usize::from(self.review.area.height);
        match action {
            Action::Down => self.step_in_review(true),
            Action::Up => self.step_in_review(false),
            Action::PageDown => self.page_in_review(height.saturating_sub(1).max(1), true),
            Action::PageUp => self.page_in_review(height.saturating_sub(1).max(1), false),
            Action::Top => self.stand_within(0, true),
            Action::Bottom => self.stand_within(self.review.rows.len().saturating_sub(1), false),
            Action::NextHunk => {
                let to = self.review.rows.from(at + 1).map(|(_, row)| row).find(|row| is_heading(*row));
                self.go_or_say(to, "this is the last hunk");
            }
            Action::PreviousHunk => {
                let mut before = (0..at).rev().filter_map(|number| self.review.rows.get(number));
                let to = before.find(|row| is_heading(*row));
                self.go_or_say(to, "this is the first hunk");
            }
            Action::NextFile => {
                let next = self.review.at.file().map_or(0, |file| file + 1);
                let to = (next < self.session.review().files.len()).then_some(heading(HunkId { file: next, hunk: 0 }));
                self.go_or_say(to, "this is the last file");
            }
            Action::PreviousFile => {
                let file = self.review.at.file();
                let own = self.review.at.hunk().is_some_and(|id| id.hunk > 0);
                let to = file.map(|file| heading(HunkId { file: file.saturating_sub(usize::from(!own)), hunk: 0 }));
                self.go_or_say(to, "this is the first file");
            }
            _ => return None,
        }
        Some(())
    }

    fn go_or_say(&mut self, to: Option<Row>, otherwise: &str) {
        match to {
            Some(row) => self.go_to_row(row),
            None => self.hint.set(otherwise),
        }
    }

    /// Moves by one row; through a row that is taller than the pane, by half a page.
    fn step_in_review(&mut self, down: bool) {
        let pane = &mut self.review;
        let number = pane.number();
        let (start, rows) = pane.rows.place(number);
        let window = pane.window();
        if rows >= window.len() && rows > 1 {
            let half = window.len().div_ceil(2);
            if down && start + rows > window.end {
                pane.offset += half;
                pane.follow = Follow::Window;
                return;
            }
            if !down && start < window.start {
                pane.offset = pane.offset.saturating_sub(half).max(start);
                pane.follow = Follow::Window;
                return;
            }
        }
        let to = if down { number + 1 } else { number.saturating_sub(1) };
        self.stand_within(to, down);
    }

    fn page_in_review(&mut self, by: usize, down: bool) {
        let pane = &mut self.review;
        let (start, _) = pane.rows.place(pane.number());
        let last = pane.rows.height().saturating_sub(usize::from(pane.area.height));
        let (line, offset) = if down {
            (start.saturating_add(by), pane.offset.saturating_add(by).min(last))
        } else {
            (start.saturating_sub(by), pane.offset.saturating_sub(by))
        };
        pane.offset = offset;
        let to = pane.rows.at_line(line.min(pane.rows.height().saturating_sub(1)));
        self.stand_within(to, down);
    }

    /// Moves the cursor to a row. During a selection it stays in the hunk.
    fn stand_within(&mut self, to: usize, down: bool) {
        let from = self.review.number();
        let Some(id) = self.review.anchor.and_then(Row::hunk) else {
            return self.review.stand(to, down);
        };
        let rows = &self.review.rows;
        let is_line = |number: &usize| matches!(rows.get(*number), Some(Row::Changed { id: own, .. }) if own == id);
        let last = rows.len().saturating_sub(1);
        let to = to.min(last);
        // Comments between the lines are passed over.
        let own = if to >= from {
            (from..=to).rev().find(is_line).filter(|found| *found > from).or_else(|| (to..=last).find(is_line))
        } else {
            (to..=from).find(is_line).filter(|found| *found < from).or_else(|| (0..=to).rev().find(is_line))
        };
        if let Some(number) = own {
            self.review.stand(number, down);
        }
    }

    fn step_in_tree(&mut self, down: bool) {
        let stops = stops(self.session.review());
        let at = self.review.at;
        let here = stops.iter().position(|row| match row {
            Row::Refused(index) => at.refused() == Some(*index),
            other => other.file().is_some() && at.file() == other.file(),
        });
        let to = match here {
            Some(here) if down => here + 1,
            Some(here) => here.saturating_sub(1),
            None => 0,
        };
        match stops.get(to).copied() {
            Some(Row::File(file)) => self.go_to(HunkId { file, hunk: 0 }),
            Some(row) => self.review.stand(self.review.rows.locate(row), true),
            None => {}
        }
    }

    /// Moves the cursor to the heading of a hunk, and shows the hunk.
    pub(crate) fn go_to(&mut self, id: HunkId) {
        self.go_to_row(heading(id));
    }

    /// Moves the cursor to a heading, and shows all of it.
    fn go_to_row(&mut self, row: Row) {
        self.review.anchor = None;
        self.review.at = row;
        self.review.cursor = row.hunk().unwrap_or(self.review.cursor);
        self.review.follow = Follow::Hunk;
    }

    /// Identifies the item under the cursor: whether it is unplaced, its path, and its removed and added lines.
    pub(crate) fn under_cursor(&self) -> Option<(bool, String, (String, String))> {
        if self.focus != Pane::Review {
            return None;
        }
        let review = self.session.review();
        if let Some(index) = self.review.at.refused() {
            let edit = review.refused.get(index)?;
            return Some((true, edit.path.clone(), (edit.quote.clone(), edit.replacement.clone())));
        }
        let file = review.files.get(self.review.cursor.file)?;
        Some((false, file.path.clone(), file.texts_of(self.review.cursor.hunk)?))
    }

    /// Moves the cursor back to an item, if it still exists.
    pub(crate) fn restore_cursor(&mut self, item: &(bool, String, (String, String))) {
        let (refused, path, (removed, added)) = item;
        let review = self.session.review();
        if *refused {
            let mut edits = review.refused.iter();
            let is_it =
                |edit: &rhumb_edit::Outcome| (&edit.path, &edit.quote, &edit.replacement) == (path, removed, added);
            edits.position(is_it).into_iter().for_each(|index| self.go_to_refused(index));
        } else if let Some(id) = review.find(path, removed, added, self.review.cursor.hunk) {
            self.go_to(id);
        }
        self.lay_out_review(None);
    }

    pub(crate) fn go_to_refused(&mut self, index: usize) {
        self.go_to_row(Row::Refused(index));
    }

    pub(crate) fn review_path(&self) -> Option<String> {
        Some(self.session.review().files.get(self.review.cursor.file)?.path.clone())
    }

    /// Keeps the cursor in the file at `path`: after a write, earlier files or hunks of the file may have left the
    /// review.
    pub(crate) fn keep_review_cursor(&mut self, path: Option<&str>) {
        let files = &self.session.review().files;
        let Some(file) = files.iter().position(|file| Some(file.path.as_str()) == path) else {
            return;
        };
        let hunk = self.review.cursor.hunk.min(files[file].hunks.len().saturating_sub(1));
        if self.review.cursor != (HunkId { file, hunk }) {
            self.go_to(HunkId { file, hunk });
        }
    }

    /// The item under the cursor. `None` if nothing is under review.
    pub(crate) fn review_item(&self) -> Option<ReviewItem> {
        let review = self.session.review();
        if review.is_empty() {
            return None;
        }
        Some(match self.review.rows.get(self.review.number())? {
            Row::Refused(index) | Row::RefusedText(index, _) => ReviewItem::Refused(index),
            Row::File(file) | Row::Note(CommentTarget::File(file)) => ReviewItem::File(file),
            Row::Gap { id, .. } => ReviewItem::File(id.file),
            Row::Hunk { id, .. } | Row::Kept { id, .. } | Row::NoNewline(id) | Row::Note(CommentTarget::Hunk(id)) => {
                ReviewItem::Hunk(id)
            }
            Row::Note(CommentTarget::Line(id, line)) => ReviewItem::Line(id, line),
            Row::Changed { id, removed, added } => {
                let count = review.hunk(id)?.hunk.base.len();
                ReviewItem::Line(id, added.map(|line| count + line).or(removed)?)
            }
            Row::Blank => return None,
        })
    }

    /// The hunk under the cursor.
    pub(crate) fn hunk_here(&self) -> Option<HunkId> {
        match self.review_item()? {
            ReviewItem::Hunk(id) | ReviewItem::Line(id, _) => Some(id),
            ReviewItem::File(_) | ReviewItem::Refused(_) => None,
        }
    }

    /// The file under the cursor.
    pub(crate) fn file_here(&self) -> Option<usize> {
        match self.review_item()? {
            ReviewItem::File(file) => Some(file),
            ReviewItem::Hunk(id) | ReviewItem::Line(id, _) => Some(id.file),
            ReviewItem::Refused(_) => None,
        }
    }

    pub(crate) fn selected_lines(&self) -> Option<(HunkId, Range<usize>)> {
        let (id, runs) = self.selected_runs()?;
        let count = self.session.review().hunk(id)?.hunk.base.len();
        match runs.as_slice() {
            [removed, added] if removed.end == count && added.start == count => Some((id, removed.start..added.end)),
            [.., last] => Some((id, last.clone())),
            [] => None,
        }
    }

    /// The selected lines of a hunk: removed ones, then added ones.
    pub(crate) fn selected_runs(&self) -> Option<(HunkId, Vec<Range<usize>>)> {
        let rows = &self.review.rows;
        let anchor = self.review.anchor?;
        let id = anchor.hunk()?;
        let count = self.session.review().hunk(id)?.hunk.base.len();
        let (from, to) = (rows.locate(anchor), self.review.number());
        let mut runs: [Option<Range<usize>>; 2] = [None, None];
        for number in from.min(to)..=from.max(to) {
            let Some(Row::Changed { id: own, removed, added }) = rows.get(number) else { continue };
            if own != id {
                continue;
            }
            for (run, line) in runs.iter_mut().zip([removed, added.map(|line| count + line)]) {
                if let Some(line) = line {
                    let known = run.get_or_insert(line..line + 1);
                    *known = known.start.min(line)..known.end.max(line + 1);
                }
            }
        }
        let runs: Vec<Range<usize>> = runs.into_iter().flatten().collect();
        (!runs.is_empty()).then_some((id, runs))
    }

    pub(crate) fn is_selected(&self, row: Row) -> bool {
        let Row::Changed { id, .. } = row else { return false };
        let Some(anchor) = self.review.anchor.filter(|anchor| anchor.hunk() == Some(id)) else { return false };
        let rows = &self.review.rows;
        let (from, to, own) = (rows.locate(anchor), self.review.number(), rows.locate(row));
        (from.min(to)..=from.max(to)).contains(&own)
    }

    pub(crate) fn select_lines(&mut self) {
        if self.review.anchor.take().is_some() {
            return;
        }
        self.lay_out_review(None);
        let rows = &self.review.rows;
        let Some(id) = self.hunk_here() else {
            return self.hint.set("lines can be selected in a hunk only");
        };
        let is_line = |row: Row| matches!(row, Row::Changed { id: own, .. } if own == id);
        let at = self.review.number();
        let here = rows.get(at).filter(|row| is_line(*row)).map(|_| at);
        // From the heading or a line around the hunk, the nearest of its lines.
        let own = |(number, row): (usize, Row)| is_line(row).then_some(number);
        let after = || rows.from(at).take_while(|(_, row)| row.hunk() == Some(id)).find_map(own);
        let before = || (0..at).rev().filter_map(|number| Some((number, rows.get(number)?))).find_map(own);
        let Some(number) = here.or_else(after).or_else(before).filter(|_| rows.get(at).is_some()) else {
            return self.hint.set(format!("the hunk is folded; {} opens it", self.keys.first(Action::OpenHere)));
        };
        self.review.stand(number, true);
        self.review.anchor = self.review.rows.get(number);
        self.hint.set(format!(
            "{} accepts and {} rejects the lines; {} ends the selection",
            self.keys.first(Action::Accept),
            self.keys.first(Action::Reject),
            self.keys.first(Action::SelectLines)
        ));
    }

    /// Handles a click on a row or on a file of the list. A double click opens it.
    pub fn click_in_review(&mut self, row: usize, double: bool) -> Vec<Task> {
        self.focus = Pane::Review;
        self.review.anchor = None;
        self.lay_out_review(None);
        match self.review.rows.get(row) {
            // The list of files leads to a heading, below which its first hunk should show, too.
            Some(Row::File(file)) if self.review.at.file() != Some(file) => self.go_to(HunkId { file, hunk: 0 }),
            Some(_) => self.review.stand(row, true),
            None => return Vec::new(),
        }
        self.lay_out_review(None);
        if double && !matches!(self.review.at, Row::Changed { .. } | Row::Kept { .. }) {
            let tasks = self.act(Action::OpenHere);
            self.lay_out_review(None);
            return tasks;
        }
        Vec::new()
    }

    /// Scrolls the window. The cursor stays inside of it.
    pub fn scroll_review(&mut self, lines: isize) {
        if self.session.review().is_empty() {
            self.review.offset = self.review.offset.saturating_add_signed(-lines).min(self.arriving_lines());
            return;
        }
        self.lay_out_review(None);
        self.review.anchor = None;
        self.review.scroll_by(lines);
        self.lay_out_review(None);
    }

    /// A lower bound of the lines of streaming edits.
    pub(crate) fn arriving_lines(&self) -> usize {
        let edits = self.session.turn().map_or(&[][..], |turn| turn.edits.as_slice());
        edits.iter().map(|edit| edit.lines.len() + 1).sum()
    }
}

fn heading(id: HunkId) -> Row {
    Row::Hunk { id, folded: false }
}

/// Whether a row is the heading of a hunk or of an unplaced edit.
fn is_heading(row: Row) -> bool {
    matches!(row, Row::Hunk { .. } | Row::Refused(_))
}
