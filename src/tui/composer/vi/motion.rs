//! The motions of vi.

use std::ops::Range;

use super::{Buffer, Class};

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

/// The cells of an object around the cursor; `around` takes its marks or the blanks beside it, too.
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
    let run = |at: usize| -> Range<usize> {
        let class = buffer.class(at, big);
        let start = (first..at).rev().take_while(|at| buffer.class(*at, big) == class).last().unwrap_or(at);
        let end = (at..last).take_while(|at| buffer.class(*at, big) == class).last().map_or(at, |end| end + 1);
        start..end
    };
    let mut range = run(at);
    if around {
        if range.end < last && (buffer.class(at, big) == Class::Blank || buffer.class(range.end, big) == Class::Blank) {
            range.end = run(range.end).end;
        } else if range.start > first && buffer.class(range.start - 1, big) == Class::Blank {
            range.start = run(range.start - 1).start;
        }
    }
    range
}

fn quoted(buffer: &Buffer, mark: &str, around: bool) -> Option<Range<usize>> {
    let at = buffer.cursor;
    let line = buffer.line_start(at)..buffer.line_end(at);
    let is_mark = |at: &usize| {
        let escaped = at.checked_sub(1).and_then(|before| buffer.cells.get(before)).is_some_and(|cell| cell == "\\");
        !escaped && buffer.cells.get(*at).is_some_and(|cell| cell == mark)
    };
    let marks: Vec<usize> = line.filter(is_mark).collect();
    let (open, close) = marks.chunks_exact(2).map(|pair| (pair[0], pair[1])).find(|(_, close)| *close >= at)?;
    Some(if around { open..close + 1 } else { open + 1..close })
}

fn bracketed(buffer: &Buffer, mark: &str, around: bool) -> Option<Range<usize>> {
    let (open, close) = PAIRS.iter().find(|(open, close)| *open == mark || *close == mark)?;
    let here = buffer.cells.get(buffer.cursor);
    let start = if here.is_some_and(|cell| cell == open) {
        buffer.cursor
    } else {
        opening(buffer, buffer.cursor, open, close)?
    };
    let end = closing(buffer, start + 1, open, close)?;
    Some(if around { start..end + 1 } else { start + 1..end })
}

fn paragraph_object(buffer: &Buffer, around: bool) -> Range<usize> {
    let is_empty = |line: usize| buffer.line_end(line) == line;
    let mut start = buffer.line_start(buffer.cursor);
    let kind = is_empty(start);
    let mut end = buffer.line_end(start);
    while start > 0 && is_empty(buffer.line_start(start - 1)) == kind {
        start = buffer.line_start(start - 1);
    }
    let take = |mut end: usize, kind: bool| {
        while end < buffer.len() && is_empty(end + 1) == kind {
            end = buffer.line_end(end + 1);
        }
        end
    };
    end = take(end, kind);
    if around {
        end = take(end, !kind);
    }
    start..(end + 1).min(buffer.len())
}
