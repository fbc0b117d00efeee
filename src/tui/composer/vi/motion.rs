//! Where the motions of vi lead.

use super::buffer::{Buffer, Class};

/// A search for a letter within a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) letter: String,
    pub(super) forward: bool,
    /// Stops beside it.
    pub(super) till: bool,
}

/// A motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    LineStart,
    FirstText,
    LineEnd,
    /// To the next word; `true` for words that only blanks part.
    WordNext(bool),
    WordBack(bool),
    WordEnd(bool),
    /// To a line, 1-based; the last one without a number.
    Line(Option<usize>),
    /// To the next empty line, or the one before.
    Paragraph(bool),
    Find(Find),
    /// To the bracket that belongs to this one.
    Pair,
}

/// How an operator takes the cell that a motion leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Before,
    With,
    Lines,
}

impl Motion {
    pub(super) fn reach(&self) -> Reach {
        match self {
            Self::Up | Self::Down | Self::Line(_) => Reach::Lines,
            Self::LineEnd | Self::WordEnd(_) | Self::Pair => Reach::With,
            Self::Find(find) if find.forward => Reach::With,
            _ => Reach::Before,
        }
    }

    /// Where it leads from the cursor; `None` if nowhere. `column` is the one that Up and Down aim at.
    pub(super) fn from(&self, buffer: &Buffer, count: usize, column: usize) -> Option<usize> {
        let at = buffer.cursor;
        let repeated = |step: &dyn Fn(usize) -> usize| (0..count.min(buffer.len() + 1)).fold(at, |at, _| step(at));
        let (start, end) = (buffer.line_start(at), buffer.line_end(at));
        Some(match self {
            Self::Left => at.saturating_sub(count).max(start),
            Self::Right => (at + count).min(end),
            Self::Up | Self::Down => return vertical(buffer, matches!(self, Self::Down), count, column),
            Self::LineStart => start,
            Self::FirstText => buffer.first_text(at),
            Self::LineEnd => {
                let line = vertical(buffer, true, count - 1, 0)?;
                buffer.line_end(line).saturating_sub(1).max(line)
            }
            Self::WordNext(big) => repeated(&|at| word_next(buffer, at, *big)),
            Self::WordBack(big) => repeated(&|at| word_back(buffer, at, *big)),
            Self::WordEnd(big) => repeated(&|at| word_end(buffer, at, *big)),
            Self::Line(number) => buffer.first_text(nth_line(buffer, number.unwrap_or(usize::MAX))),
            Self::Paragraph(forward) => repeated(&|at| paragraph(buffer, at, *forward)),
            Self::Find(find) => return found(buffer, find, count),
            Self::Pair => return pair(buffer),
        })
    }
}

fn vertical(buffer: &Buffer, down: bool, count: usize, column: usize) -> Option<usize> {
    let mut line = buffer.line_start(buffer.cursor);
    for _ in 0..count {
        line = if down {
            Some(buffer.line_end(line) + 1).filter(|_| buffer.line_end(line) < buffer.len())?
        } else {
            buffer.line_start(line.checked_sub(1)?)
        };
    }
    Some((line + column).min(buffer.line_end(line)))
}

fn nth_line(buffer: &Buffer, number: usize) -> usize {
    let mut line = 0;
    for _ in 1..number {
        let end = buffer.line_end(line);
        if end >= buffer.len() {
            break;
        }
        line = end + 1;
    }
    line
}

fn is_empty_line(buffer: &Buffer, at: usize) -> bool {
    (at == 0 || buffer.is_break(at - 1)) && buffer.line_end(at) == at
}

fn word_next(buffer: &Buffer, at: usize, big: bool) -> usize {
    let (mut at, class) = (at, buffer.class(at, big));
    if class != Class::Blank {
        while at < buffer.len() && buffer.class(at, big) == class {
            at += 1;
        }
    } else if at < buffer.len() && is_empty_line(buffer, at) {
        at += 1;
    }
    while at < buffer.len() && buffer.class(at, big) == Class::Blank && !is_empty_line(buffer, at) {
        at += 1;
    }
    at
}

fn word_back(buffer: &Buffer, at: usize, big: bool) -> usize {
    let mut at = at;
    while at > 0 {
        at -= 1;
        if is_empty_line(buffer, at) {
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

fn paragraph(buffer: &Buffer, at: usize, forward: bool) -> usize {
    let mut at = at;
    loop {
        let next = if forward { at + 1 } else { at.wrapping_sub(1) };
        if next > buffer.len() {
            return if forward { buffer.len() } else { 0 };
        }
        at = next;
        let is_text = |at: usize| at < buffer.len() && !is_empty_line(buffer, at);
        let from_text = if forward { is_text(at.saturating_sub(1)) } else { is_text(at + 1) };
        if is_empty_line(buffer, at) && from_text {
            return at;
        }
    }
}

fn found(buffer: &Buffer, find: &Find, count: usize) -> Option<usize> {
    let at = buffer.cursor;
    let holds = |at: &usize| buffer.cells.get(*at) == Some(&find.letter);
    if find.forward {
        // With `till` a second time, the one that the cursor stands beside does not count.
        let place = (at + 1..buffer.line_end(at)).filter(holds).nth(count - 1)?;
        Some(place - usize::from(find.till))
    } else {
        let place = (buffer.line_start(at)..at).rev().filter(holds).nth(count - 1)?;
        Some(place + usize::from(find.till))
    }
}

/// The brackets that belong together.
pub(super) const PAIRS: [(&str, &str); 4] = [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">")];

fn pair(buffer: &Buffer) -> Option<usize> {
    let end = buffer.line_end(buffer.cursor);
    let known = |cell: &str| PAIRS.iter().take(3).find(|(open, close)| *open == cell || *close == cell);
    let at = (buffer.cursor..end).find(|at| buffer.cells.get(*at).is_some_and(|cell| known(cell).is_some()))?;
    let cell = buffer.cells.get(at)?;
    let (open, close) = known(cell)?;
    if cell == open { closing(buffer, at + 1, open, close) } else { opening(buffer, at, open, close) }
}

/// The bracket that closes what is open at a place.
pub(super) fn closing(buffer: &Buffer, from: usize, open: &str, close: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, cell) in buffer.cells.iter().enumerate().skip(from) {
        if cell == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        } else if cell == open {
            depth += 1;
        }
    }
    None
}

/// The bracket that is open before a place.
pub(super) fn opening(buffer: &Buffer, before: usize, open: &str, close: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, cell) in buffer.cells.iter().enumerate().take(before).rev() {
        if cell == open {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        } else if cell == close {
            depth += 1;
        }
    }
    None
}
