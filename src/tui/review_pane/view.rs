//! View options of a review: folds, context lines, side by side, changed words, the file list, and the search.

use crossterm::event::KeyEvent;
use rhumb_edit::review::{Decision, HunkId, Review};

use super::file_rows::{self, Plan, Side};
use super::rows::{Row, Rows};
use super::state::Follow;
use crate::tui::action::{Action, Pane};
use crate::tui::app::App;
use crate::tui::widget::input::LineInput;
use crate::tui::widget::styled::matches;

/// Unchanged lines that one key shows or hides.
const UNCHANGED_LINES_STEP: isize = 10;

/// Maximum number of unchanged lines that are shown.
const MAX_UNCHANGED_LINES: usize = 200;

impl App {
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
                let sides = !self.review.rows.view().sides;
                self.review.choice.sides = Some(sides);
                self.lay_out_review(None);
                if self.review.rows.view().sides != sides {
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
            self.review.stand(number, true);
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

/// A search.
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

    /// Searches the whole review.
    pub(super) fn look(&mut self, review: &Review, rows: &Rows) {
        self.found = if self.wanted.is_empty() { Vec::new() } else { rows_with(review, rows, &self.wanted) };
        self.current = self.current.filter(|at| *at < self.found.len());
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The rows of a review that contain a text.
fn rows_with(review: &Review, rows: &Rows, wanted: &str) -> Vec<Row> {
    let has = |text: &str| !matches(text, wanted).is_empty();
    let mut found = Vec::new();
    for (index, outcome) in review.refused.iter().enumerate() {
        if has(&outcome.path) {
            found.push(Row::Refused(index));
        }
        let lines = file_rows::refused_text(outcome);
        let told = lines.iter().enumerate().filter(|(_, line)| has(line));
        found.extend(told.map(|(number, _)| Row::RefusedText(index, number)));
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
        found.extend(file_rows::rows(index, file, places, &Plan::new(), false).into_iter().filter(holds));
    }
    found
}
