//! The text that vi keys work on: cells, each a letter as the eye sees it, or a chip that is one thing.

use std::ops::Range;

/// What a cell is to the motions over words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Blank,
    Word,
    Mark,
}

/// A text and its cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Letters, chips, and `"\n"` for the end of a line.
    pub cells: Vec<String>,
    /// The cell under the cursor, or before which something is typed.
    pub cursor: usize,
}

impl Buffer {
    /// The text.
    pub fn text(&self) -> String {
        self.cells.concat()
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn is_break(&self, at: usize) -> bool {
        self.cells.get(at).is_some_and(|cell| cell == "\n")
    }

    pub(super) fn class(&self, at: usize, big: bool) -> Class {
        let Some(cell) = self.cells.get(at) else { return Class::Blank };
        if cell.chars().all(char::is_whitespace) {
            Class::Blank
        } else if big || cell.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_') || cell.len() > 16 {
            Class::Word
        } else {
            Class::Mark
        }
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        let before = self.cells.iter().take(at).rposition(|cell| cell == "\n");
        before.map_or(0, |before| before + 1)
    }

    /// The end of the line: its break, or the end of the text.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let after = self.cells.iter().skip(at).position(|cell| cell == "\n");
        after.map_or(self.len(), |after| at + after)
    }

    /// The first cell of a line that is no blank.
    pub(super) fn first_text(&self, at: usize) -> usize {
        let (start, end) = (self.line_start(at), self.line_end(at));
        (start..end).find(|at| self.class(*at, false) != Class::Blank).unwrap_or(start)
    }

    /// The nearest place where the cursor of normal mode can stand: on a cell, unless the line has none.
    pub(super) fn on_cell(&self, at: usize) -> usize {
        let at = at.min(self.len());
        let (start, end) = (self.line_start(at), self.line_end(at));
        at.min(end.saturating_sub(1)).max(start)
    }

    pub(super) fn slice(&self, range: Range<usize>) -> Vec<String> {
        self.cells.get(range).map(<[String]>::to_vec).unwrap_or_default()
    }

    pub(super) fn remove(&mut self, range: Range<usize>) -> Vec<String> {
        let end = range.end.min(self.len());
        if range.start >= end {
            return Vec::new();
        }
        self.cells.drain(range.start..end).collect()
    }

    pub(super) fn insert(&mut self, at: usize, cells: &[String]) {
        let at = at.min(self.len());
        self.cells.splice(at..at, cells.iter().cloned());
    }

    /// The whole lines that a range touches, with the break behind them.
    pub(super) fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let last = range.end.max(range.start + 1) - 1;
        self.line_start(range.start)..(self.line_end(last.max(range.start)) + 1).min(self.len())
    }
}
