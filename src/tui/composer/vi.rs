//! Vi keys for the composer: modes, motions, operators, text objects, a register, undo and repeat. No I/O: a key changes a
//! buffer.

use unicode_segmentation::UnicodeSegmentation;

use super::CHIP_OPENING;
use crate::tui::prelude::*;

/// The largest count before a command.
const MAX_COUNT: usize = 9_999;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Insert,
    Normal,
    Visual,
    VisualLine,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Normal => "normal",
            Self::Visual => "visual",
            Self::VisualLine => "visual line",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

impl Operator {
    fn of(letter: char) -> Option<Self> {
        Some(match letter {
            'd' => Self::Delete,
            'c' => Self::Change,
            'y' => Self::Yank,
            _ => return None,
        })
    }
}

/// The result of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViOutcome {
    /// The key was handled here.
    Taken,
    /// The key types or edits text in insert mode.
    Typed,
    /// It is not a vi key.
    Other,
}

/// The last deleted or yanked text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Register {
    text: String,
    /// Whether the text is whole lines, the last one without its line break.
    lines: bool,
}

#[derive(Debug, Default)]
pub struct Vi {
    pub mode: Mode,
    count: Option<usize>,
    /// The operator that waits for a motion, and the count before it.
    operator: Option<(Operator, usize)>,
    /// The first letter of a command of two: `f`, `F`, `t`, `T`, `g`, `r`, or `i` and `a` before a text object.
    pending: Option<char>,
    /// The cell where the selection began.
    anchor: usize,
    /// The column that `j` and `k` aim at.
    column: Option<usize>,
    register: Register,
    last_find: Option<Find>,
    undone: Vec<Buffer>,
    redone: Vec<Buffer>,
    /// The keys of the incomplete command.
    keys: Vec<KeyEvent>,
    /// The keys of the last change, and the text that was typed after them.
    last_change: Option<(Vec<KeyEvent>, String)>,
    /// The buffer when insert mode was entered.
    entered: Option<Buffer>,
    /// Whether the command that entered insert mode is an undo step, which the typed text joins.
    joins: bool,
    repeating: bool,
}

impl Vi {
    /// The letters of the incomplete command.
    pub fn pending(&self) -> String {
        self.keys.iter().filter_map(|key| key.code.as_char()).collect()
    }

    /// Whether text is being typed, so that the buffer from before is stored.
    pub fn is_typing(&self) -> bool {
        self.entered.is_some()
    }

    pub fn enter_normal_mode(&mut self) {
        self.end_command();
        (self.mode, self.entered, self.joins) = (Mode::Normal, None, false);
    }

    /// Returns to insert mode for another text. The register and what can be repeated stay.
    pub fn restart(&mut self) {
        let Self { register, last_find, last_change, .. } = std::mem::take(self);
        *self = Self { register, last_find, last_change, ..Self::default() };
    }

    pub fn selection(&self, buffer: &Buffer) -> Option<Range<usize>> {
        let (from, to) = (self.anchor.min(buffer.cursor), self.anchor.max(buffer.cursor));
        match self.mode {
            Mode::Visual => Some(from..(to + 1).min(buffer.len())),
            Mode::VisualLine => Some(buffer.whole_lines(from..to + 1)),
            Mode::Insert | Mode::Normal => None,
        }
    }

    pub fn key(&mut self, buffer: &mut Buffer, key: KeyEvent) -> ViOutcome {
        if self.mode == Mode::Insert {
            if key.code == KeyCode::Esc {
                self.leave_insert(buffer);
                return ViOutcome::Taken;
            }
            self.entered.get_or_insert_with(|| buffer.clone());
            return ViOutcome::Typed;
        }
        buffer.cursor = buffer.on_cell(buffer.cursor);
        let outcome = self.command_key(buffer, key);
        if self.mode != Mode::Insert {
            buffer.cursor = buffer.on_cell(buffer.cursor);
        }
        outcome
    }

    fn leave_insert(&mut self, buffer: &mut Buffer) {
        if let Some(before) = self.entered.take().filter(|before| before.text() != buffer.text()) {
            if let Some((_, typed)) = &mut self.last_change {
                *typed = inserted(before.text(), buffer.text());
            }
            if !self.joins && self.undone.last().is_none_or(|last| last.text() != before.text()) {
                self.undone.push(before);
            }
            self.redone.clear();
        }
        (self.mode, self.joins) = (Mode::Normal, false);
        buffer.cursor = buffer.cursor.saturating_sub(1).max(buffer.line_start(buffer.cursor));
    }

    /// Continues in insert mode after a change. The typed text joins its undo step.
    fn enter_insert(&mut self, buffer: &Buffer) {
        (self.mode, self.entered, self.joins) = (Mode::Insert, Some(buffer.clone()), true);
    }

    fn command_key(&mut self, buffer: &mut Buffer, key: KeyEvent) -> ViOutcome {
        let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        let is_idle = self.keys.is_empty() && self.mode == Mode::Normal;
        let letter = match key.code {
            KeyCode::Char('r') if is_idle && key.modifiers == KeyModifiers::CONTROL => {
                if let Some(after) = self.redone.pop() {
                    self.undone.push(std::mem::replace(buffer, after));
                }
                return ViOutcome::Taken;
            }
            KeyCode::Esc if is_idle => return ViOutcome::Other,
            KeyCode::Esc => {
                self.end_command();
                self.mode = Mode::Normal;
                return ViOutcome::Taken;
            }
            _ if !is_plain => return ViOutcome::Other,
            KeyCode::Char(letter) => letter,
            KeyCode::Left | KeyCode::Backspace => 'h',
            KeyCode::Right => 'l',
            KeyCode::Up => 'k',
            KeyCode::Down => 'j',
            KeyCode::Home => '0',
            KeyCode::End => '$',
            KeyCode::Delete => 'x',
            _ => {
                self.end_command();
                return ViOutcome::Other;
            }
        };
        self.keys.push(key);
        if self.letter(buffer, letter) {
            self.end_command();
        }
        ViOutcome::Taken
    }

    fn end_command(&mut self) {
        (self.count, self.operator, self.pending) = (None, None, None);
        self.keys.clear();
    }

    /// Handles a letter of a command. Returns whether the command is complete or invalid.
    fn letter(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        match self.pending.take() {
            Some(find @ ('f' | 'F' | 't' | 'T')) => {
                let (forward, till) = (find.is_lowercase(), find.eq_ignore_ascii_case(&'t'));
                self.last_find = Some(Find { letter, forward, till });
                return self.motion(buffer, ';');
            }
            Some('g') => return letter != 'g' || self.motion(buffer, 'g'),
            Some('r') => return self.replace(buffer, letter),
            Some(kind) => return self.object(buffer, letter, kind == 'a'),
            None => {}
        }
        if let Some(digit) = letter.to_digit(10).filter(|digit| *digit > 0 || self.count.is_some()) {
            let count = self.count.unwrap_or(0) * 10 + digit as usize;
            self.count = Some(count.min(MAX_COUNT));
            return false;
        }
        let is_selecting = matches!(self.mode, Mode::Visual | Mode::VisualLine);
        let is_first_of_two = match letter {
            'f' | 'F' | 't' | 'T' | 'g' => true,
            'r' => self.operator.is_none(),
            'i' | 'a' => self.operator.is_some() || is_selecting,
            _ => false,
        };
        if is_first_of_two {
            self.pending = Some(letter);
            return false;
        }
        match letter {
            'h' | 'l' | ' ' | 'j' | 'k' | '0' | '^' | '$' | 'w' | 'W' | 'b' | 'B' | 'e' | 'E' | 'G' | '{' | '}'
            | '%' | ';' | ',' => self.motion(buffer, letter),
            letter if is_selecting => self.visual_command(buffer, letter),
            letter => self.command(buffer, letter),
        }
    }

    /// The count before the operator times the count before the motion.
    fn times(&self) -> usize {
        let before = self.operator.map_or(1, |(_, count)| count);
        before.saturating_mul(self.count.unwrap_or(1)).clamp(1, MAX_COUNT)
    }

    /// Moves the cursor, or applies the operator to the cells that the motion covers.
    fn motion(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        let at = buffer.cursor;
        let is_vertical = matches!(letter, 'j' | 'k');
        let column = self.column.filter(|_| is_vertical).unwrap_or(at - buffer.line_start(at));
        let operator = self.operator.map(|(operator, _)| operator);
        let found = match (letter, operator) {
            (';' | ',', _) => self.last_find.and_then(|find| buffer.find(find, letter == ',', self.times())),
            // `cw` on a word ends with the word, not before the next one.
            ('w' | 'W', Some(Operator::Change)) if buffer.class(at, false) != Class::Blank => {
                Some(buffer.change_word(letter == 'W', self.times()))
            }
            _ => buffer.motion(letter, self.count, self.times(), column, operator.is_some()),
        };
        let Some((to, covered)) = found else { return true };
        self.column = match letter {
            '$' => Some(usize::MAX / 2),
            _ => is_vertical.then_some(column),
        };
        match operator {
            Some(operator) => self.operate(buffer, operator, at.min(to)..at.max(to), covered),
            None => {
                buffer.cursor = to;
                true
            }
        }
    }

    fn object(&mut self, buffer: &mut Buffer, name: char, around: bool) -> bool {
        let Some(range) = object(buffer, name, around) else { return true };
        match self.operator {
            Some((operator, _)) if name == 'p' => self.operate_on(buffer, operator, range, true),
            Some((operator, _)) => self.operate_on(buffer, operator, range, false),
            None if range.is_empty() => true,
            None => {
                (self.anchor, buffer.cursor) = (range.start, range.end - 1);
                true
            }
        }
    }

    fn operate(&mut self, buffer: &mut Buffer, operator: Operator, range: Range<usize>, covered: Covered) -> bool {
        let end = match covered {
            Covered::Before => range.end,
            Covered::With => (range.end + 1).min(buffer.len()),
            Covered::Lines => return self.operate_on(buffer, operator, range.start..range.end + 1, true),
        };
        self.operate_on(buffer, operator, range.start..end, false)
    }

    /// Applies an operator to some cells, or to the lines that they are in. The command is complete.
    fn operate_on(&mut self, buffer: &mut Buffer, operator: Operator, range: Range<usize>, lines: bool) -> bool {
        let Range { mut start, mut end } = if lines { buffer.whole_lines(range) } else { range };
        let first = start;
        if start == end && operator != Operator::Change && !lines {
            return true;
        }
        let text = buffer.slice(start..end);
        let text = if lines { text.strip_suffix('\n').unwrap_or(text) } else { text };
        self.register = Register { text: text.to_owned(), lines };
        if operator == Operator::Yank {
            if !lines || buffer.line_start(buffer.cursor) != start {
                buffer.cursor = start;
            }
            return true;
        }
        self.begin(buffer);
        if lines && operator == Operator::Change {
            end -= usize::from(end > start && buffer.is_break(end - 1));
        } else if lines && buffer.line_end(end.saturating_sub(1).max(start)) >= buffer.len() {
            // With the last line, the line break before it is deleted.
            start = start.saturating_sub(1);
        }
        buffer.replace(start..end, "");
        if operator == Operator::Change {
            buffer.cursor = first;
            self.enter_insert(buffer);
        } else {
            buffer.cursor = if lines { buffer.first_text(first.min(buffer.len())) } else { first };
        }
        true
    }

    /// Stores the buffer before a change, and the keys of the change.
    fn begin(&mut self, buffer: &Buffer) {
        self.undone.push(buffer.clone());
        self.redone.clear();
        if !self.repeating {
            self.last_change = Some((self.keys.clone(), String::new()));
        }
    }

    /// Handles a command of normal mode that is not a motion. Returns whether it is complete.
    fn command(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        let (at, count) = (buffer.cursor, self.times());
        if let Some((operator, _)) = self.operator {
            if Operator::of(letter) == Some(operator) {
                let last = vertical(buffer, true, count - 1, 0).unwrap_or(buffer.len());
                self.operate(buffer, operator, at..last.max(at), Covered::Lines);
            }
            return true;
        }
        if let Some(operator) = Operator::of(letter) {
            (self.operator, self.count) = (Some((operator, count)), None);
            return false;
        }
        let shorthand = match letter {
            'x' => Some((Operator::Delete, 'l')),
            'X' => Some((Operator::Delete, 'h')),
            'D' => Some((Operator::Delete, '$')),
            's' => Some((Operator::Change, 'l')),
            'C' => Some((Operator::Change, '$')),
            'S' => Some((Operator::Change, 'c')),
            'Y' => Some((Operator::Yank, 'y')),
            _ => None,
        };
        if let Some((operator, motion)) = shorthand {
            self.operator = Some((operator, 1));
            return self.letter(buffer, motion);
        }
        match letter {
            'i' | 'a' | 'I' | 'A' | 'o' | 'O' => self.insert(buffer, letter),
            'v' => (self.mode, self.anchor) = (Mode::Visual, at),
            'V' => (self.mode, self.anchor) = (Mode::VisualLine, at),
            'p' | 'P' => self.put(buffer, letter == 'p', count),
            'u' => (0..count).for_each(|_| self.undo(buffer)),
            '~' => self.toggle_case(buffer, at..(at + count).min(buffer.line_end(at))),
            'J' => self.join(buffer, count.max(2) - 1),
            '.' => self.repeat(buffer),
            _ => {}
        }
        true
    }

    /// Handles a command on the selection. It is complete.
    fn visual_command(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        let lines = self.mode == Mode::VisualLine || letter.is_uppercase();
        let Some(range) = self.selection(buffer) else { return true };
        let operator = match letter.to_ascii_lowercase() {
            'd' | 'x' => Operator::Delete,
            'c' | 's' => Operator::Change,
            'y' => Operator::Yank,
            'v' => {
                let wanted = if letter == 'v' { Mode::Visual } else { Mode::VisualLine };
                self.mode = if self.mode == wanted { Mode::Normal } else { wanted };
                return true;
            }
            'o' => {
                std::mem::swap(&mut self.anchor, &mut buffer.cursor);
                return true;
            }
            '~' | 'u' => {
                self.mode = Mode::Normal;
                self.toggle_case(buffer, range.clone());
                buffer.cursor = range.start;
                return true;
            }
            'p' => {
                let put = self.register.clone();
                self.mode = Mode::Normal;
                // One step, also where the selection is empty and nothing is deleted.
                self.begin(buffer);
                let steps = self.undone.len();
                self.operate_on(buffer, Operator::Delete, range, false);
                let deleted = std::mem::replace(&mut self.register, put);
                self.put(buffer, false, 1);
                self.undone.truncate(steps);
                self.register = deleted;
                return true;
            }
            _ => return true,
        };
        self.mode = Mode::Normal;
        self.operate_on(buffer, operator, range, lines)
    }

    fn insert(&mut self, buffer: &mut Buffer, letter: char) {
        let (at, start, end) = (buffer.cursor, buffer.line_start(buffer.cursor), buffer.line_end(buffer.cursor));
        self.begin(buffer);
        buffer.cursor = match letter {
            'a' => (at + 1).min(end),
            'I' => buffer.first_text(at),
            'A' => end,
            'o' => {
                buffer.replace(end..end, "\n");
                end + 1
            }
            'O' => {
                buffer.replace(start..start, "\n");
                start
            }
            _ => at,
        };
        self.enter_insert(buffer);
    }

    fn replace(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        let (at, selected) = (buffer.cursor, self.selection(buffer));
        let range = selected.clone().unwrap_or(at..at + self.times());
        self.mode = Mode::Normal;
        if range.is_empty() || (selected.is_none() && range.end > buffer.line_end(at)) {
            return true;
        }
        self.begin(buffer);
        buffer.map(range.clone(), |cell| if cell == "\n" { cell.to_owned() } else { letter.to_string() });
        buffer.cursor = if selected.is_some() { range.start } else { range.end - 1 };
        true
    }

    fn toggle_case(&mut self, buffer: &mut Buffer, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.begin(buffer);
        let toggled = |c: char| -> String {
            if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
        };
        // A chip is not a letter.
        let is_letter = |cell: &str| cell.chars().count() == 1;
        buffer
            .map(range.clone(), |cell| if is_letter(cell) { cell.chars().map(toggled).collect() } else { cell.into() });
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
            let last = buffer.line_end(end + 1);
            let next = (end + 1..last).find(|at| buffer.class(*at, false) != Class::Blank).unwrap_or(last);
            let is_spaced = end > 0 && buffer.class(end - 1, false) != Class::Blank && next < last;
            buffer.replace(end..next, if is_spaced { " " } else { "" });
            buffer.cursor = end;
        }
    }

    fn put(&mut self, buffer: &mut Buffer, after: bool, count: usize) {
        let Register { text, lines } = self.register.clone();
        if text.is_empty() && !lines {
            return;
        }
        self.begin(buffer);
        let (at, end, old_length) = (buffer.cursor, buffer.line_end(buffer.cursor), buffer.len());
        if lines && after && end >= buffer.len() {
            buffer.replace(end..end, &format!("\n{text}").repeat(count));
            buffer.cursor = buffer.first_text(end + 1);
        } else if lines {
            let start = if after { end + 1 } else { buffer.line_start(at) };
            buffer.replace(start..start, &format!("{text}\n").repeat(count));
            buffer.cursor = buffer.first_text(start);
        } else {
            let start = if after { (at + 1).min(end) } else { at };
            buffer.replace(start..start, &text.repeat(count));
            buffer.cursor = (start + buffer.len() - old_length).saturating_sub(1);
        }
    }

    fn undo(&mut self, buffer: &mut Buffer) {
        while let Some(before) = self.undone.pop() {
            if before.text() != buffer.text() {
                self.redone.push(std::mem::replace(buffer, before));
                return;
            }
        }
    }

    fn repeat(&mut self, buffer: &mut Buffer) {
        let Some((keys, typed)) = self.last_change.clone() else { return };
        self.end_command();
        self.repeating = true;
        for key in &keys {
            self.key(buffer, *key);
        }
        if self.mode == Mode::Insert {
            let (at, old_length) = (buffer.cursor, buffer.len());
            buffer.replace(at..at, &typed);
            buffer.cursor = at + buffer.len() - old_length;
            self.leave_insert(buffer);
        }
        (self.last_change, self.repeating) = (Some((keys, typed)), false);
    }
}

/// The cells that an operator covers in addition to those between the cursor and the target of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Covered {
    /// None.
    Before,
    /// The last cell.
    With,
    Lines,
}

/// The text in `after` that is not in `before`, if one stretch was typed.
fn inserted(before: &str, after: &str) -> String {
    let is_same = |(a, b): &(char, char)| a == b;
    let head: usize = before.chars().zip(after.chars()).take_while(is_same).map(|(c, _)| c.len_utf8()).sum();
    let ends = before[head..].chars().rev().zip(after[head..].chars().rev());
    let tail: usize = ends.take_while(is_same).map(|(c, _)| c.len_utf8()).sum();
    after[head..after.len() - tail].to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Mark,
}

/// A search for a letter within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Find {
    letter: char,
    forward: bool,
    /// Whether the cursor stops beside the letter.
    till: bool,
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

    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(self.byte(range.start)..self.byte(range.end)).unwrap_or_default()
    }

    /// A cell; empty beyond the end.
    fn cell(&self, at: usize) -> &str {
        self.slice(at..at + 1)
    }

    fn replace(&mut self, range: Range<usize>, new: &str) {
        self.text.replace_range(self.byte(range.start)..self.byte(range.end.max(range.start)), new);
        self.find_cells();
    }

    fn map(&mut self, range: Range<usize>, change: impl Fn(&str) -> String) {
        let new: String = range.clone().map(|at| change(self.cell(at))).collect();
        self.replace(range, &new);
    }

    fn is_break(&self, at: usize) -> bool {
        self.cell(at) == "\n"
    }

    /// With `big`, all cells that are not blank are of one class.
    fn class(&self, at: usize, big: bool) -> Class {
        let cell = self.cell(at);
        match cell.chars().next() {
            _ if cell.chars().all(char::is_whitespace) => Class::Blank,
            Some(c) if big || c.is_alphanumeric() || c == '_' || cell.starts_with(CHIP_OPENING) => Class::Word,
            _ => Class::Mark,
        }
    }

    fn line_start(&self, at: usize) -> usize {
        let before = self.text[..self.byte(at)].rfind('\n');
        before.map_or(0, |byte| self.starts.partition_point(|start| *start <= byte))
    }

    fn line_end(&self, at: usize) -> usize {
        let byte = self.byte(at);
        let after = self.text[byte..].find('\n');
        after.map_or(self.len(), |after| self.starts.partition_point(|start| *start < byte + after))
    }

    /// The first cell of the line that is not blank.
    fn first_text(&self, at: usize) -> usize {
        let start = self.line_start(at);
        (start..self.line_end(at)).find(|at| self.class(*at, false) != Class::Blank).unwrap_or(start)
    }

    /// The nearest cell for the cursor of normal mode: it is not on the line break of a line that has other cells.
    fn on_cell(&self, at: usize) -> usize {
        let at = at.min(self.len());
        at.min(self.line_end(at).saturating_sub(1)).max(self.line_start(at))
    }

    /// The lines that a range touches, with the line break after them.
    fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let last = range.end.saturating_sub(1).max(range.start);
        self.line_start(range.start)..(self.line_end(last) + 1).min(self.len())
    }

    fn is_empty_line(&self, at: usize) -> bool {
        (at == 0 || self.is_break(at - 1)) && self.line_end(at) == at
    }

    /// The target of a motion, and the cells that an operator covers. `None` if there is no target. `count` is the typed count
    /// and `times` the number of repetitions; `column` is the column that `j` and `k` aim at.
    fn motion(
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
    fn change_word(&self, big: bool, times: usize) -> (usize, Covered) {
        let at = self.cursor;
        let is_end = at + 1 >= self.len() || self.class(at + 1, big) != self.class(at, big);
        let to = (0..times - usize::from(is_end)).fold(at, |at, _| word_end(self, at, big));
        (to, Covered::With)
    }

    /// The letter of a find in the line.
    fn find(&self, find: Find, reverse: bool, times: usize) -> Option<(usize, Covered)> {
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
fn vertical(buffer: &Buffer, down: bool, count: usize, column: usize) -> Option<usize> {
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
fn object(buffer: &Buffer, name: char, around: bool) -> Option<Range<usize>> {
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

#[cfg(test)]
mod tests;
