//! The text objects of vi: a word, what stands in quotes or brackets, a paragraph.

use std::ops::Range;

use super::buffer::{Buffer, Class};
use super::motion::{PAIRS, closing, opening};

/// The cells of an object around the cursor; `around` takes its marks or the blanks beside it, too.
pub(super) fn object(buffer: &Buffer, name: char, around: bool) -> Option<Range<usize>> {
    match name {
        'w' | 'W' => Some(word(buffer, name == 'W', around)),
        '"' | '\'' | '`' => quoted(buffer, name.encode_utf8(&mut [0; 4]), around),
        'p' => Some(paragraph(buffer, around)),
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

fn paragraph(buffer: &Buffer, around: bool) -> Range<usize> {
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
