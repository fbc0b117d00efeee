//! Navigation in the review pane: the cursor, hunks and files, the selection of lines, the file list, the mouse, view
//! options and the search.

use ratatui::layout::Margin;
use rhumb_edit::review::{CommentTarget, Decision, HunkId, Review};

use super::rows::{Plan, Row, Rows, Side};
use super::{Follow, parts, rows, stops};
use crate::tui::prelude::*;

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
        let made = self.review.rows.made;
        self.review.lay_out(self.session.review(), &self.display, parts.rows, parts.sides);
        if self.review.search.is_on() && self.review.rows.made != made {
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
            Action::Top => self.move_within(0, true),
            Action::Bottom => self.move_within(self.review.rows.len().saturating_sub(1), false),
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
        self.move_within(to, down);
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
        self.move_within(to, down);
    }

    /// Moves the cursor to a row. During a selection it stays in the hunk.
    fn move_within(&mut self, to: usize, down: bool) {
        let from = self.review.number();
        let Some(id) = self.review.anchor.and_then(Row::hunk) else {
            return self.review.move_to(to, down);
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
            self.review.move_to(number, down);
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
            Some(row) => self.review.move_to(self.review.rows.locate(row), true),
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

    pub(crate) fn hunk_here(&self) -> Option<HunkId> {
        match self.review_item()? {
            ReviewItem::Hunk(id) | ReviewItem::Line(id, _) => Some(id),
            ReviewItem::File(_) | ReviewItem::Refused(_) => None,
        }
    }

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
        self.review.move_to(number, true);
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
            Some(_) => self.review.move_to(row, true),
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

    /// Handles an action that changes view options. `None` for any other action.
    pub(crate) fn view_in_review(&mut self, action: Action) -> Option<()> {
        self.lay_out_review(None);
        match action {
            Action::OpenHere => self.open_here(),
            Action::Fold => self.fold_here(),
            Action::FoldDecided => self.fold_decided(),
            Action::MoreContext => self.widen_here(UNCHANGED_LINES_STEP),
            Action::LessContext => self.widen_here(-UNCHANGED_LINES_STEP),
            Action::ToggleSides => {
                let sides = !self.review.rows.view.sides;
                self.review.choice.sides = Some(sides);
                self.lay_out_review(None);
                if self.review.rows.view.sides != sides {
                    self.hint.set("the pane is too narrow for side by side");
                }
            }
            Action::ToggleWords => {
                let words = !self.review.choice.words.unwrap_or(self.display.diff_words);
                self.review.choice.words = Some(words);
                self.hint.set(if words { "changed words are marked" } else { "changed words are not marked" });
            }
            Action::ToggleTree => {
                let inside = !self.review.in_tree;
                self.review.in_tree = inside;
                if self.review.choice.tree.is_some() || inside {
                    self.review.choice.tree = inside.then_some(true);
                }
            }
            Action::Search => {
                self.review.search.origin = Some(self.review.at);
                self.review.search.prompt = Some(LineInput::default());
            }
            Action::NextReviewMatch => self.next_review_match(true),
            Action::PreviousReviewMatch => self.next_review_match(false),
            _ => return None,
        }
        Some(())
    }

    /// Esc ends the innermost state: the selection, the search, or the focus of the file list. Returns `false` if no such state
    /// is active.
    pub(crate) fn end_in_review(&mut self) -> bool {
        if self.review.anchor.take().is_some() {
            return true;
        }
        if self.review.search.is_on() {
            self.review.search.clear();
            return true;
        }
        if self.review.in_tree {
            let _ = self.view_in_review(Action::ToggleTree);
            return true;
        }
        false
    }

    fn open_here(&mut self) {
        if self.review.in_tree {
            let _ = self.view_in_review(Action::ToggleTree);
            return;
        }
        let at = self.review.at;
        match at {
            Row::Hunk { id, folded: true } => {
                self.review.fold(self.session.review(), &[id], false);
                self.review.follow = Follow::Hunk;
            }
            Row::Gap { id, above, lines } => self.open_gap(id, above, lines.min(MAX_UNCHANGED_LINES)),
            Row::File(file) => self.go_to(HunkId { file, hunk: 0 }),
            _ => {
                let _ = self.move_in_review(Action::NextHunk);
            }
        }
    }

    /// Shows omitted lines, next to the hunk above them if it is open.
    fn open_gap(&mut self, id: HunkId, above: bool, lines: usize) {
        let review = self.session.review();
        let lines = isize::try_from(lines).unwrap_or(0);
        let before = above.then(|| id.hunk.checked_sub(1)).flatten().map(|hunk| HunkId { hunk, ..id });
        let open_before = before.filter(|id| !self.review.is_folded(review, *id, self.display.fold_decided));
        match open_before {
            Some(before) => self.review.widen(review, before, [0, lines]),
            None if above => self.review.widen(review, id, [lines, 0]),
            None => self.review.widen(review, id, [0, lines]),
        }
        let number = self.review.number();
        self.lay_out_review(None);
        // The first shown line replaces the row of the gap.
        if open_before.is_some() || !above {
            self.review.move_to(number, true);
        }
    }

    fn fold_here(&mut self) {
        let review = self.session.review();
        let folded = |id: HunkId| self.review.is_folded(review, id, self.display.fold_decided);
        if let Some(id) = self.hunk_here() {
            let fold = !folded(id);
            self.review.fold(review, &[id], fold);
            self.go_to(id);
        } else if let Some(file) = self.file_here() {
            let ids: Vec<HunkId> = review.ids().filter(|id| id.file == file).collect();
            let fold = !ids.iter().all(|id| folded(*id));
            self.review.fold(review, &ids, fold);
        } else {
            self.hint.set("there is no hunk here to fold");
        }
    }

    fn fold_decided(&mut self) {
        let review = self.session.review();
        let ids: Vec<HunkId> = review.ids().filter(|id| review.decision(*id) != Decision::Pending).collect();
        if ids.is_empty() {
            return self.hint.set("nothing is decided yet");
        }
        let fold = !ids.iter().all(|id| self.review.is_folded(review, *id, self.display.fold_decided));
        self.review.fold(review, &ids, fold);
        self.review.follow = Follow::Hunk;
        let what = if fold { "folded" } else { "open" };
        self.hint.set(format!("{} decided {} {what}", ids.len(), if ids.len() == 1 { "hunk is" } else { "hunks are" }));
    }

    fn widen_here(&mut self, by: isize) {
        let review = self.session.review();
        let (id, sides) = match self.review.at {
            Row::Gap { id, above, lines } if by > 0 => {
                return self.open_gap(id, above, lines.min(usize::try_from(by).unwrap_or(0)));
            }
            Row::Gap { id, above, .. } => (id, if above { [by, 0] } else { [0, by] }),
            row => match row.hunk() {
                Some(id) => (id, [by, by]),
                None => {
                    return self.hint.set("there is no hunk here");
                }
            },
        };
        if self.review.is_folded(review, id, self.display.fold_decided) {
            return self.hint.set(format!("the hunk is folded; {} opens it", self.keys.first(Action::OpenHere)));
        }
        if by < 0 && self.review.widened(review, id) == (0, 0) {
            return self.hint.set("the usual number of context lines is shown");
        }
        self.review.widen(review, id, sides);
    }

    /// Handles a key of the search prompt. Returns false if it is not open.
    pub(crate) fn review_search_key(&mut self, key: KeyEvent, name: &str) -> bool {
        if self.focus != Pane::Review || !self.reviewing() {
            self.review.search.prompt = None;
            return false;
        }
        let search = &mut self.review.search;
        let Some(prompt) = &mut search.prompt else { return false };
        match name {
            "Enter" => {
                search.prompt = None;
                if search.is_on() && search.found.is_empty() {
                    self.hint.set(format!("{} was not found in the review", search.wanted));
                    search.clear();
                }
            }
            "Esc" | "Ctrl-c" => {
                let origin = search.origin;
                search.clear();
                self.return_to(origin);
            }
            "Backspace" if prompt.text().is_empty() => search.clear(),
            "Down" | "Ctrl-n" => self.next_review_match(true),
            "Up" | "Ctrl-p" => self.next_review_match(false),
            _ => {
                if prompt.key(key) {
                    self.update_review_search();
                }
            }
        }
        self.lay_out_review(None);
        true
    }

    /// Inserts pasted text into the search prompt. Returns false if it is not open.
    pub(crate) fn search_paste(&mut self, text: &str) -> bool {
        if self.focus != Pane::Review {
            return false;
        }
        let Some(prompt) = &mut self.review.search.prompt else { return false };
        prompt.insert(text.lines().next().unwrap_or_default());
        self.update_review_search();
        true
    }

    /// Searches for the query, from the origin of the search.
    fn update_review_search(&mut self) {
        let search = &mut self.review.search;
        search.wanted = search.prompt.as_ref().map(|prompt| prompt.text().to_owned()).unwrap_or_default();
        search.current = None;
        search.look(self.session.review(), &self.review.rows);
        let origin = search.origin;
        self.return_to(origin);
        if !self.review.search.found.is_empty() {
            let from = self.review.number();
            self.go_to_match(|number| number >= from, true);
        }
    }

    fn return_to(&mut self, origin: Option<Row>) {
        if let Some(origin) = origin {
            self.review.at = origin;
            self.review.follow = Follow::Row;
        }
    }

    fn next_review_match(&mut self, forward: bool) {
        let search = &self.review.search;
        if !search.is_on() {
            return self.hint.set(format!("no search is active; {} starts one", self.keys.first(Action::Search)));
        }
        if search.found.is_empty() {
            return self.hint.set(format!("{} was not found in the review", search.wanted));
        }
        let (from, count) = (self.review.number(), search.found.len());
        // On a match, the search goes to the next match of the list, even if both are in one folded hunk.
        let here =
            search.current.filter(|at| search.found.get(*at).is_some_and(|row| self.review.rows.locate(*row) == from));
        match here {
            Some(at) => self.show_review_match(if forward { (at + 1) % count } else { (at + count - 1) % count }),
            None if forward => self.go_to_match(|number| number > from, true),
            None => self.go_to_match(|number| number < from, false),
        }
        let standing = self.review.search.standing();
        let around = here.is_some_and(|at| if forward { at + 1 == count } else { at == 0 });
        self.hint.set(if around { format!("{standing}, wrapped around") } else { standing });
    }

    /// Moves to the first (or last) match whose row satisfies `is_wanted`, with wrap-around.
    fn go_to_match(&mut self, is_wanted: impl Fn(usize) -> bool, first: bool) {
        let found = &self.review.search.found;
        let rows = &self.review.rows;
        let wanted = |row: &Row| is_wanted(rows.locate(*row));
        let at = if first { found.iter().position(wanted) } else { found.iter().rposition(wanted) };
        let otherwise = if first { 0 } else { found.len().saturating_sub(1) };
        self.show_review_match(at.unwrap_or(otherwise));
    }

    fn show_review_match(&mut self, at: usize) {
        let Some(row) = self.review.search.found.get(at).copied() else { return };
        self.review.search.current = Some(at);
        if let Some(id) = row.hunk()
            && self.review.is_folded(self.session.review(), id, self.display.fold_decided)
        {
            self.review.fold(self.session.review(), &[id], false);
        }
        self.review.anchor = None;
        self.review.at = row;
        self.review.follow = Follow::Row;
        self.lay_out_review(None);
    }
}

fn heading(id: HunkId) -> Row {
    Row::Hunk { id, folded: false }
}

/// Whether a row is the heading of a hunk or of an unplaced edit.
fn is_heading(row: Row) -> bool {
    matches!(row, Row::Hunk { .. } | Row::Refused(_))
}

/// Unchanged lines that one key shows or hides.
const UNCHANGED_LINES_STEP: isize = 10;

const MAX_UNCHANGED_LINES: usize = 200;

#[derive(Debug, Default)]
pub struct ReviewSearch {
    pub(super) prompt: Option<LineInput>,
    /// The query; empty for none.
    pub(super) wanted: String,
    /// The matching rows of the unified view without folds.
    pub(super) found: Vec<Row>,
    pub(super) current: Option<usize>,
    /// The cursor when the prompt was opened.
    pub(super) origin: Option<Row>,
}

impl ReviewSearch {
    pub(super) fn is_on(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// For example `3 of 12`.
    pub(super) fn standing(&self) -> String {
        match (self.found.len(), self.current) {
            (0, _) => "not found".into(),
            (count, Some(at)) => format!("{} of {count}", at + 1),
            (count, None) => format!("{count} found"),
        }
    }

    pub(super) fn look(&mut self, review: &Review, rows: &Rows) {
        self.found = if self.wanted.is_empty() { Vec::new() } else { rows_with(review, rows, &self.wanted) };
        self.current = self.current.filter(|at| *at < self.found.len());
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn rows_with(review: &Review, rows: &Rows, wanted: &str) -> Vec<Row> {
    let has = |text: &str| !matches(text, wanted).is_empty();
    let mut found = Vec::new();
    for (index, outcome) in review.refused.iter().enumerate() {
        if has(&outcome.path) {
            found.push(Row::Refused(index));
        }
        let lines = rows::refused_text(outcome);
        let matching = lines.iter().enumerate().filter(|(_, line)| has(line));
        found.extend(matching.map(|(number, _)| Row::RefusedText(index, number)));
    }
    for (index, file) in review.files.iter().enumerate() {
        let Some(places) = rows.lines_of(index) else { continue };
        let shown_has = |side, line| has(&places.shown(file, side, line).text);
        let holds = |row: &Row| match *row {
            Row::File(_) => has(&file.path),
            Row::Kept { base, .. } => shown_has(Side::Base, base),
            Row::Changed { id, removed, added } => file.hunks.get(id.hunk).is_some_and(|item| {
                removed.is_some_and(|line| shown_has(Side::Base, item.hunk.base.start + line))
                    || added.is_some_and(|line| shown_has(Side::Proposed, item.hunk.proposed.start + line))
            }),
            Row::Note(place) => review.comment_on(place).is_some_and(has),
            _ => false,
        };
        found.extend(rows::rows(index, file, places, &Plan::new(), false).into_iter().filter(holds));
    }
    found
}
