//! The text of the composer in cells, the motions over them, and text objects.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::Covered;
use crate::tui::composer::CHIP_OPENING;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Blank,
    Word,
    Mark,
}

/// A search for a letter within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) letter: char,
    pub(super) forward: bool,
    /// Whether the cursor stops beside the letter.
    pub(super) till: bool,
}

/// A text in cells, and a cursor. A cell is a grapheme, a line break, or a chip: a folded paste.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buffer {
    text: String,
    starts: Vec<usize>,
    /// The cell under the cursor, or before which text is inserted.
    pub cursor: usize,
}

impl Buffer {
    /// A buffer with its cursor at a position in characters.
    pub fn new(text: String, position: usize) -> Self {
        let mut buffer = Self { starts: Vec::new(), cursor: 0, text };
        buffer.find_cells();
        let byte = buffer.text.char_indices().nth(position).map_or(buffer.text.len(), |(at, _)| at);
        buffer.cursor = buffer.starts.partition_point(|start| *start < byte);
        buffer
    }

    fn find_cells(&mut self) {
        self.starts.clear();
        let mut at = 0;
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            let chip = if rest.starts_with(CHIP_OPENING) { rest.find(']').map(|end| end + 1) } else { None };
            self.starts.push(at);
            at += chip.or_else(|| rest.graphemes(true).next().map(str::len)).unwrap_or(rest.len());
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// The number of characters before a cell.
    pub fn position(&self, cell: usize) -> usize {
        self.text[..self.byte(cell)].chars().count()
    }

    fn byte(&self, cell: usize) -> usize {
        self.starts.get(cell).copied().unwrap_or(self.text.len())
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(self.byte(range.start)..self.byte(range.end)).unwrap_or_default()
    }

    /// A cell; empty beyond the end.
    fn cell(&self, at: usize) -> &str {
        self.slice(at..at + 1)
    }

    pub(super) fn replace(&mut self, range: Range<usize>, new: &str) {
        self.text.replace_range(self.byte(range.start)..self.byte(range.end.max(range.start)), new);
        self.find_cells();
    }

    /// Replaces each cell of a range.
    pub(super) fn map(&mut self, range: Range<usize>, change: impl Fn(&str) -> String) {
        let new: String = range.clone().map(|at| change(self.cell(at))).collect();
        self.replace(range, &new);
    }

    pub(super) fn is_break(&self, at: usize) -> bool {
        self.cell(at) == "\n"
    }

    /// With `big`, all cells that are not blank are of one class.
    pub(super) fn class(&self, at: usize, big: bool) -> Class {
        let cell = self.cell(at);
        match cell.chars().next() {
            _ if cell.chars().all(char::is_whitespace) => Class::Blank,
            Some(c) if big || c.is_alphanumeric() || c == '_' || cell.starts_with(CHIP_OPENING) => Class::Word,
            _ => Class::Mark,
        }
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        let before = self.text[..self.byte(at)].rfind('\n');
        before.map_or(0, |byte| self.starts.partition_point(|start| *start <= byte))
    }

    pub(super) fn line_end(&self, at: usize) -> usize {
        let byte = self.byte(at);
        let after = self.text[byte..].find('\n');
        after.map_or(self.len(), |after| self.starts.partition_point(|start| *start < byte + after))
    }

    /// The first cell of the line that is not blank.
    pub(super) fn first_text(&self, at: usize) -> usize {
        let start = self.line_start(at);
        (start..self.line_end(at)).find(|at| self.class(*at, false) != Class::Blank).unwrap_or(start)
    }

    /// The nearest cell for the cursor of normal mode: it is not on the line break of a line that has other cells.
    pub(super) fn on_cell(&self, at: usize) -> usize {
        let at = at.min(self.len());
        at.min(self.line_end(at).saturating_sub(1)).max(self.line_start(at))
    }

    /// The lines that a range touches, with the line break after them.
    pub(super) fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let last = range.end.saturating_sub(1).max(range.start);
        self.line_start(range.start)..(self.line_end(last) + 1).min(self.len())
    }

    fn is_empty_line(&self, at: usize) -> bool {
        (at == 0 || self.is_break(at - 1)) && self.line_end(at) == at
    }

    /// The target of a motion, and the cells that an operator covers. `None` if there is no target. `count` is the typed count
    /// and `times` the number of repetitions; `column` is the column that `j` and `k` aim at.
    pub(super) fn motion(
        &self,
        letter: char,
        count: Option<usize>,
        times: usize,
        column: usize,
        for_operator: bool,
    ) -> Option<(usize, Covered)> {
        let at = self.cursor;
        let big = letter.is_uppercase();
        let repeated = |step: fn(&Self, usize, bool) -> usize, flag| {
            (0..times.min(self.len() + 1)).fold(at, |at, _| step(self, at, flag))
        };
        let line = |number: usize| {
            let breaks = (0..self.len()).filter(|at| self.is_break(*at)).take(number - 1);
            self.first_text(breaks.last().map_or(0, |last| last + 1))
        };
        Some(match letter {
            'h' => (at.saturating_sub(times).max(self.line_start(at)), Covered::Before),
            'l' | ' ' => ((at + times).min(self.line_end(at)), Covered::Before),
            'j' | 'k' => (vertical(self, letter == 'j', times, column)?, Covered::Lines),
            '0' => (self.line_start(at), Covered::Before),
            '^' => (self.first_text(at), Covered::Before),
            '$' => {
                let start = vertical(self, true, times - 1, 0)?;
                let end = self.line_end(start);
                (if for_operator { end } else { end.saturating_sub(1).max(start) }, Covered::Before)
            }
            'w' | 'W' if for_operator => (self.short_of_break(at, repeated(word_next, big)), Covered::Before),
            'w' | 'W' => (repeated(word_next, big), Covered::Before),
            'b' | 'B' => (repeated(word_back, big), Covered::Before),
            'e' | 'E' => (repeated(word_end, big), Covered::With),
            'g' => (line(count.unwrap_or(1)), Covered::Lines),
            'G' => (line(count.unwrap_or(usize::MAX)), Covered::Lines),
            '{' | '}' => (repeated(paragraph, letter == '}'), Covered::Before),
            '%' => (self.matching_bracket()?, Covered::With),
            _ => return None,
        })
    }

    /// The target of `cw`: the end of the word, unless the cursor is already there.
    pub(super) fn change_word(&self, big: bool, times: usize) -> (usize, Covered) {
        let at = self.cursor;
        let is_end = at + 1 >= self.len() || self.class(at + 1, big) != self.class(at, big);
        let to = (0..times - usize::from(is_end)).fold(at, |at, _| word_end(self, at, big));
        (to, Covered::With)
    }

    /// The letter of a find in the line.
    pub(super) fn find(&self, find: Find, reverse: bool, times: usize) -> Option<(usize, Covered)> {
        let at = self.cursor;
        let is_it = |at: &usize| self.cell(*at).chars().eq([find.letter]);
        if find.forward != reverse {
            let to = (at + 1..self.line_end(at)).filter(is_it).nth(times - 1)?;
            Some((to - usize::from(find.till), Covered::With))
        } else {
            let to = (self.line_start(at)..at).rev().filter(is_it).nth(times - 1)?;
            Some((to + usize::from(find.till), Covered::Before))
        }
    }

    /// The end of `w` for an operator: it does not cover the line break after the last word of a line.
    fn short_of_break(&self, from: usize, to: usize) -> usize {
        let last_text = (from..to).rev().find(|at| self.class(*at, false) != Class::Blank);
        let gap = last_text.map_or(from, |at| at + 1);
        (gap..to).find(|at| self.is_break(*at)).filter(|at| *at > from || to == self.len()).unwrap_or(to)
    }

    /// The bracket that matches the first one in the line from the cursor on.
    fn matching_bracket(&self) -> Option<usize> {
        let known = |at: usize| BRACKETS[..3].iter().find(|pair| pair.contains(&self.cell(at))).map(|pair| (at, *pair));
        let (at, [open, close]) = (self.cursor..self.line_end(self.cursor)).find_map(known)?;
        if self.cell(at) == open {
            self.unmatched(at + 1..self.len(), close, open)
        } else {
            self.unmatched((0..at).rev(), open, close)
        }
    }

    /// The first `bracket` in some cells that has no `other` before it.
    fn unmatched(&self, cells: impl IntoIterator<Item = usize>, bracket: &str, other: &str) -> Option<usize> {
        let mut depth = 0;
        cells.into_iter().find(|at| {
            let cell = self.cell(*at);
            let is_found = cell == bracket && depth == 0;
            depth = depth + usize::from(cell == other) - usize::from(cell == bracket && depth > 0);
            is_found
        })
    }
}

const BRACKETS: [[&str; 2]; 4] = [["(", ")"], ["[", "]"], ["{", "}"], ["<", ">"]];

/// The cell at a column, `count` lines below or above the cursor.
pub(super) fn vertical(buffer: &Buffer, down: bool, count: usize, column: usize) -> Option<usize> {
    let mut line = buffer.line_start(buffer.cursor);
    for _ in 0..count {
        line = if down {
            Some(buffer.line_end(line) + 1).filter(|next| *next <= buffer.len())?
        } else {
            buffer.line_start(line.checked_sub(1)?)
        };
    }
    Some((line + column).min(buffer.line_end(line)))
}

fn word_next(buffer: &Buffer, mut at: usize, big: bool) -> usize {
    let class = buffer.class(at, big);
    if class != Class::Blank {
        while at < buffer.len() && buffer.class(at, big) == class {
            at += 1;
        }
    } else if at < buffer.len() && buffer.is_empty_line(at) {
        at += 1;
    }
    while at < buffer.len() && buffer.class(at, big) == Class::Blank && !buffer.is_empty_line(at) {
        at += 1;
    }
    at
}

fn word_back(buffer: &Buffer, mut at: usize, big: bool) -> usize {
    while at > 0 {
        at -= 1;
        if buffer.is_empty_line(at) {
            return at;
        }
        if buffer.class(at, big) != Class::Blank {
            break;
        }
    }
    let class = buffer.class(at, big);
    while at > 0 && class != Class::Blank && buffer.class(at - 1, big) == class {
        at -= 1;
    }
    at
}

fn word_end(buffer: &Buffer, at: usize, big: bool) -> usize {
    let last = buffer.len().saturating_sub(1);
    let mut at = (at + 1).min(last);
    while at < last && buffer.class(at, big) == Class::Blank {
        at += 1;
    }
    let class = buffer.class(at, big);
    while at < last && buffer.class(at + 1, big) == class && class != Class::Blank {
        at += 1;
    }
    at
}

/// The next or the previous empty line after text.
fn paragraph(buffer: &Buffer, at: usize, forward: bool) -> usize {
    let is_text = |at: usize| at < buffer.len() && !buffer.is_empty_line(at);
    if forward {
        let ends = |at: &usize| buffer.is_empty_line(*at) && is_text(at - 1);
        (at + 1..=buffer.len()).find(ends).unwrap_or(buffer.len())
    } else {
        (0..at).rev().find(|at| buffer.is_empty_line(*at) && is_text(at + 1)).unwrap_or(0)
    }
}

/// The cells of a text object at the cursor. With `around`, also its delimiters or the blanks beside it.
pub(super) fn object(buffer: &Buffer, name: char, around: bool) -> Option<Range<usize>> {
    match name {
        'w' | 'W' => Some(word(buffer, name == 'W', around)),
        '"' | '\'' | '`' => quoted(buffer, name.encode_utf8(&mut [0; 4]), around),
        'p' => Some(paragraph_object(buffer, around)),
        'b' => bracketed(buffer, "(", around),
        'B' => bracketed(buffer, "{", around),
        other => bracketed(buffer, other.encode_utf8(&mut [0; 4]), around),
    }
}

fn word(buffer: &Buffer, big: bool, around: bool) -> Range<usize> {
    let at = buffer.cursor.min(buffer.len());
    let (first, last) = (buffer.line_start(at), buffer.line_end(at));
    let is_blank = |at: usize| buffer.class(at, big) == Class::Blank;
    let run = |at: usize| -> Range<usize> {
        let is_own = |other: &usize| buffer.class(*other, big) == buffer.class(at, big);
        let start = (first..at).rev().take_while(is_own).last().unwrap_or(at);
        start..(at..last).take_while(is_own).last().map_or(at, |end| end + 1)
    };
    let mut range = run(at);
    if around && range.end < last && (is_blank(at) || is_blank(range.end)) {
        range.end = run(range.end).end;
    } else if around && range.start > first && is_blank(range.start - 1) {
        range.start = run(range.start - 1).start;
    }
    range
}

fn quoted(buffer: &Buffer, mark: &str, around: bool) -> Option<Range<usize>> {
    let at = buffer.cursor;
    let is_mark = |at: &usize| buffer.cell(*at) == mark && (*at == 0 || buffer.cell(at - 1) != "\\");
    let marks: Vec<usize> = (buffer.line_start(at)..buffer.line_end(at)).filter(is_mark).collect();
    let (open, close) = marks.chunks_exact(2).map(|pair| (pair[0], pair[1])).find(|(_, close)| *close >= at)?;
    Some(if around { open..close + 1 } else { open + 1..close })
}

fn bracketed(buffer: &Buffer, mark: &str, around: bool) -> Option<Range<usize>> {
    let [open, close] = *BRACKETS.iter().find(|pair| pair.contains(&mark))?;
    let at = buffer.cursor;
    let start = if buffer.cell(at) == open { at } else { buffer.unmatched((0..at).rev(), open, close)? };
    let end = buffer.unmatched(start + 1..buffer.len(), close, open)?;
    Some(if around { start..end + 1 } else { start + 1..end })
}

fn paragraph_object(buffer: &Buffer, around: bool) -> Range<usize> {
    let is_empty = |line: usize| buffer.line_end(line) == line;
    let mut start = buffer.line_start(buffer.cursor);
    let kind = is_empty(start);
    let extend = |mut end: usize, kind: bool| {
        while end < buffer.len() && is_empty(end + 1) == kind {
            end = buffer.line_end(end + 1);
        }
        end
    };
    let mut end = extend(buffer.line_end(start), kind);
    while start > 0 && is_empty(buffer.line_start(start - 1)) == kind {
        start = buffer.line_start(start - 1);
    }
    if around {
        end = extend(end, !kind);
    }
    start..(end + 1).min(buffer.len())
}
