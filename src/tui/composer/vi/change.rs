//! The commands of vi that change a text.

use std::ops::Range;

use super::motion::{Motion, Reach, object};
use super::{Awaits, Buffer, Class, Mode, Operator, Vi};

/// What was deleted or yanked last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Register {
    cells: Vec<String>,
    /// Whole lines, of which the last has no break.
    lines: bool,
}

#[cfg(test)]
impl Register {
    pub(super) fn text(&self) -> String {
        self.cells.concat()
    }
}

/// The cells that stand in `after` and not in `before`, where one stretch was typed.
pub(super) fn inserted(before: &Buffer, after: &Buffer) -> Vec<String> {
    let same = before.cells.iter().zip(&after.cells).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - same;
    let tail = before.cells.iter().rev().zip(after.cells.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    after.slice(same..after.len() - tail)
}

impl Vi {
    /// Remembers the text before a change, and the keys of the change.
    fn begin(&mut self, buffer: &Buffer) {
        self.undone.push(buffer.clone());
        self.redone.clear();
        if !self.repeating {
            self.last_change = Some((self.keys.clone(), Vec::new()));
        }
    }

    /// Moves, or gives what the motion goes over to the operator.
    pub(super) fn motion(&mut self, buffer: &mut Buffer, motion: &Motion) -> bool {
        let line = buffer.line_start(buffer.cursor);
        let vertical = matches!(motion, Motion::Up | Motion::Down);
        let column = self.column.filter(|_| vertical).unwrap_or(buffer.cursor - line);
        let over_word = matches!(motion, Motion::WordNext(_)) && self.operator.is_some();
        // `cw` on a word changes it as far as it goes.
        let is_text = buffer.class(buffer.cursor, false) != Class::Blank;
        let changes = matches!(self.operator, Some((Operator::Change, _)));
        let motion = match motion {
            Motion::WordNext(big) if changes && is_text => {
                let count = self.times();
                return self.change_words(buffer, *big, count);
            }
            other => other,
        };
        let Some(mut to) = motion.from(buffer, self.times(), column) else { return true };
        self.column = match motion {
            Motion::LineEnd => Some(usize::MAX / 2),
            _ if vertical => Some(column),
            _ => None,
        };
        let Some((operator, _)) = self.operator else {
            buffer.cursor = to;
            return true;
        };
        let at = buffer.cursor;
        if over_word {
            to = short_of_break(buffer, at, to);
        }
        let (from, until) = (at.min(to), at.max(to));
        let range = match motion.reach() {
            Reach::Before => from..until,
            Reach::With => from..(until + 1).min(buffer.len()),
            Reach::Lines => return self.operate_on_lines(buffer, operator, from..until + 1),
        };
        self.operate(buffer, operator, range)
    }

    fn change_words(&mut self, buffer: &mut Buffer, big: bool, count: usize) -> bool {
        // The end of this word is where `e` leads, except from that end itself.
        let at = buffer.cursor;
        let class = buffer.class(at, big);
        let is_end = buffer.class(at + 1, big) != class || at + 1 >= buffer.len();
        let rest = if is_end { count - 1 } else { count };
        let to = if rest == 0 { at } else { Motion::WordEnd(big).from(buffer, rest, 0).unwrap_or(at) };
        self.operate(buffer, Operator::Change, at..(to + 1).min(buffer.len()))
    }

    /// Gives an object to the operator, or selects it.
    pub(super) fn object(&mut self, buffer: &mut Buffer, name: char, around: bool) -> bool {
        let Some(range) = object(buffer, name, around) else { return true };
        match self.operator {
            Some((operator, _)) if name == 'p' => self.operate_on_lines(buffer, operator, range),
            Some((operator, _)) => self.operate(buffer, operator, range),
            None => {
                if !range.is_empty() {
                    (self.anchor, buffer.cursor) = (range.start, range.end - 1);
                }
                true
            }
        }
    }

    fn operate(&mut self, buffer: &mut Buffer, operator: Operator, range: Range<usize>) -> bool {
        if range.is_empty() && operator != Operator::Change {
            return true;
        }
        self.register = Register { cells: buffer.slice(range.clone()), lines: false };
        if operator != Operator::Yank {
            self.begin(buffer);
            buffer.remove(range.clone());
        }
        buffer.cursor = range.start;
        if operator == Operator::Change {
            self.enter_insert(buffer);
        }
        true
    }

    fn operate_on_lines(&mut self, buffer: &mut Buffer, operator: Operator, range: Range<usize>) -> bool {
        let lines = buffer.whole_lines(range);
        let mut cells = buffer.slice(lines.clone());
        cells.pop_if(|cell| cell == "\n");
        self.register = Register { cells, lines: true };
        match operator {
            // Upwards, the cursor moves too.
            Operator::Yank if buffer.line_start(buffer.cursor) == lines.start => {}
            Operator::Yank => buffer.cursor = lines.start,
            Operator::Delete => {
                self.begin(buffer);
                // The last line goes with the break before it; an empty one below it stays a line.
                let is_last = buffer.line_end(lines.end.saturating_sub(1).max(lines.start)) >= buffer.len();
                buffer.remove(lines.clone());
                if is_last && lines.start > 0 {
                    buffer.remove(lines.start - 1..lines.start);
                }
                buffer.cursor = buffer.first_text(lines.start.min(buffer.len()));
            }
            Operator::Change => {
                self.begin(buffer);
                let end =
                    if lines.end > lines.start && buffer.is_break(lines.end - 1) { lines.end - 1 } else { lines.end };
                buffer.remove(lines.start..end);
                buffer.cursor = lines.start;
                self.enter_insert(buffer);
            }
        }
        true
    }

    /// Goes on in insert mode. What a command has changed by then and what is typed are one step.
    fn enter_insert(&mut self, buffer: &Buffer) {
        self.mode = Mode::Insert;
        self.entered = Some(buffer.clone());
        self.joins = true;
    }

    /// A command that is no motion; whether it is whole.
    pub(super) fn command(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        if matches!(self.mode, Mode::Visual | Mode::VisualLine) {
            return self.visual_command(buffer, letter);
        }
        if let Some((operator, _)) = self.operator {
            let is_twice =
                matches!((operator, letter), (Operator::Delete, 'd') | (Operator::Change, 'c') | (Operator::Yank, 'y'));
            if !is_twice {
                return true;
            }
            let last = Motion::Down.from(buffer, self.times() - 1, 0).unwrap_or(buffer.len());
            return self.operate_on_lines(buffer, operator, buffer.cursor..last.max(buffer.cursor) + 1);
        }
        let (at, count) = (buffer.cursor, self.times());
        let (start, end) = (buffer.line_start(at), buffer.line_end(at));
        match letter {
            'd' | 'c' | 'y' => {
                let operator = match letter {
                    'd' => Operator::Delete,
                    'c' => Operator::Change,
                    _ => Operator::Yank,
                };
                self.operator = Some((operator, count));
                self.count = None;
                return false;
            }
            'x' => return self.operate(buffer, Operator::Delete, at..(at + count).min(end)),
            'X' => return self.operate(buffer, Operator::Delete, at.saturating_sub(count).max(start)..at),
            's' => return self.operate(buffer, Operator::Change, at..(at + count).min(end)),
            'D' => return self.operate(buffer, Operator::Delete, at..end),
            'C' => return self.operate(buffer, Operator::Change, at..end),
            'S' => return self.operate_on_lines(buffer, Operator::Change, at..at + 1),
            'Y' => {
                let last = Motion::Down.from(buffer, count - 1, 0).unwrap_or(buffer.len());
                return self.operate_on_lines(buffer, Operator::Yank, at..last.max(at) + 1);
            }
            'i' | 'a' | 'I' | 'A' | 'o' | 'O' => self.open_insert(buffer, letter),
            'v' => (self.mode, self.anchor) = (Mode::Visual, at),
            'V' => (self.mode, self.anchor) = (Mode::VisualLine, at),
            'p' | 'P' => self.put(buffer, letter == 'p', count),
            'u' => (0..count).for_each(|_| self.undo(buffer)),
            '~' => self.turn_case(buffer, at..(at + count).min(end)),
            'J' => self.join(buffer, count.max(2) - 1),
            '.' => self.repeat(buffer),
            _ => {}
        }
        true
    }

    fn visual_command(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        let lines = self.mode == Mode::VisualLine;
        let Some(range) = self.selection(buffer) else { return true };
        let operator = match letter {
            'd' | 'x' | 'D' | 'X' => Operator::Delete,
            'c' | 's' | 'C' | 'S' => Operator::Change,
            'y' | 'Y' => Operator::Yank,
            'v' | 'V' => {
                let wanted = if letter == 'v' { Mode::Visual } else { Mode::VisualLine };
                self.mode = if self.mode == wanted { Mode::Normal } else { wanted };
                return true;
            }
            'o' => {
                std::mem::swap(&mut self.anchor, &mut buffer.cursor);
                return true;
            }
            '~' | 'u' | 'U' => {
                self.mode = Mode::Normal;
                buffer.cursor = range.start;
                self.turn_case(buffer, range.clone());
                buffer.cursor = range.start;
                return true;
            }
            'p' | 'P' => {
                let kept = self.register.clone();
                self.mode = Mode::Normal;
                self.operate(buffer, Operator::Delete, range);
                let removed = std::mem::replace(&mut self.register, kept);
                let steps = self.undone.len();
                self.put(buffer, false, 1);
                self.undone.truncate(steps);
                self.register = removed;
                return true;
            }
            _ => return true,
        };
        self.mode = Mode::Normal;
        let whole = lines || letter.is_uppercase();
        if whole { self.operate_on_lines(buffer, operator, range) } else { self.operate(buffer, operator, range) }
    }

    fn open_insert(&mut self, buffer: &mut Buffer, letter: char) {
        let at = buffer.cursor;
        self.begin(buffer);
        let line_break = ["\n".to_owned()];
        buffer.cursor = match letter {
            'a' => (at + 1).min(buffer.line_end(at)),
            'I' => buffer.first_text(at),
            'A' => buffer.line_end(at),
            'o' => {
                let end = buffer.line_end(at);
                buffer.insert(end, &line_break);
                end + 1
            }
            'O' => {
                let start = buffer.line_start(at);
                buffer.insert(start, &line_break);
                start
            }
            _ => at,
        };
        self.enter_insert(buffer);
    }

    pub(super) fn replace(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        let (at, count) = (buffer.cursor, self.times());
        let selected = self.selection(buffer);
        let range = selected.clone().unwrap_or(at..at + count);
        let fits = selected.is_some() || range.end <= buffer.line_end(at);
        if fits && !range.is_empty() {
            self.begin(buffer);
            for cell in buffer.cells.iter_mut().take(range.end).skip(range.start).filter(|cell| *cell != "\n") {
                *cell = letter.to_string();
            }
            buffer.cursor = if selected.is_some() { range.start } else { range.end - 1 };
        }
        self.mode = Mode::Normal;
        true
    }

    fn turn_case(&mut self, buffer: &mut Buffer, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.begin(buffer);
        let toggled = |c: char| -> String {
            if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
        };
        // A chip is no letter.
        for cell in buffer.cells.iter_mut().take(range.end).skip(range.start).filter(|cell| cell.chars().count() == 1) {
            *cell = cell.chars().map(toggled).collect();
        }
        buffer.cursor = range.end;
    }

    fn join(&mut self, buffer: &mut Buffer, times: usize) {
        if buffer.line_end(buffer.cursor) >= buffer.len() {
            return;
        }
        self.begin(buffer);
        for _ in 0..times {
            let end = buffer.line_end(buffer.cursor);
            if end >= buffer.len() {
                return;
            }
            let mut next = end + 1;
            while next < buffer.len() && !buffer.is_break(next) && buffer.class(next, false) == Class::Blank {
                next += 1;
            }
            buffer.remove(end..next);
            buffer.cursor = end;
            if end > 0
                && !buffer.is_break(end - 1)
                && end < buffer.line_end(end)
                && buffer.class(end - 1, false) != Class::Blank
            {
                buffer.insert(end, &[" ".to_owned()]);
            }
        }
    }

    fn put(&mut self, buffer: &mut Buffer, after: bool, count: usize) {
        let Register { cells, lines } = self.register.clone();
        if cells.is_empty() && !lines {
            return;
        }
        self.begin(buffer);
        let at = buffer.cursor;
        if lines {
            let mut all = Vec::new();
            for _ in 0..count {
                all.extend(cells.iter().cloned());
                all.push("\n".to_owned());
            }
            let end = buffer.line_end(at);
            if after && end >= buffer.len() {
                all.pop();
                all.insert(0, "\n".to_owned());
                buffer.insert(end, &all);
                buffer.cursor = buffer.first_text(end + 1);
            } else {
                let start = if after { end + 1 } else { buffer.line_start(at) };
                buffer.insert(start, &all);
                buffer.cursor = buffer.first_text(start);
            }
            return;
        }
        let start = if after { (at + 1).min(buffer.line_end(at)) } else { at };
        let all: Vec<String> = (0..count).flat_map(|_| cells.iter().cloned()).collect();
        buffer.insert(start, &all);
        buffer.cursor = start + all.len() - 1;
    }

    fn undo(&mut self, buffer: &mut Buffer) {
        while let Some(before) = self.undone.pop() {
            let is_step = before.cells != buffer.cells;
            if is_step {
                self.redone.push(std::mem::replace(buffer, before));
                return;
            }
        }
    }

    pub(super) fn redo(&mut self, buffer: &mut Buffer) {
        if let Some(after) = self.redone.pop() {
            self.undone.push(std::mem::replace(buffer, after));
        }
    }

    /// Does the last change once more, with what was typed then.
    fn repeat(&mut self, buffer: &mut Buffer) {
        let Some((keys, typed)) = self.last_change.clone() else { return };
        self.keys.clear();
        (self.count, self.awaits, self.repeating) = (None, Awaits::Command, true);
        for key in keys {
            self.key(buffer, key);
        }
        if self.mode == Mode::Insert {
            buffer.insert(buffer.cursor, &typed);
            buffer.cursor += typed.len();
            self.leave_insert(buffer);
        }
        self.last_change = self.last_change.take().map(|(keys, _)| (keys, typed));
        self.repeating = false;
    }
}

/// Where `w` ends for an operator: it does not take the break behind the last word of a line.
fn short_of_break(buffer: &Buffer, from: usize, to: usize) -> usize {
    let last_text = (from..to).rev().find(|at| buffer.class(*at, false) != Class::Blank);
    let gap = last_text.map_or(from, |at| at + 1);
    (gap..to).find(|at| buffer.is_break(*at)).filter(|at| *at > from || to == buffer.len()).unwrap_or(to)
}
