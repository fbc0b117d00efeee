//! Vi keys for the composer: modes, motions, operators, text objects, registers, undo. No I/O: the input is a key and a
//! buffer, the output a buffer.

mod change;
mod motion;

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use self::change::Register;
use self::motion::{Find, Motion};

/// The mode that the keys are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What is typed goes into the text.
    #[default]
    Insert,
    /// Keys are commands.
    Normal,
    /// Keys select letters.
    Visual,
    /// Keys select lines.
    VisualLine,
}

impl Mode {
    /// Its name, for the eyes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Normal => "normal",
            Self::Visual => "visual",
            Self::VisualLine => "visual line",
        }
    }
}

/// What an operator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

/// What the next key completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Awaits {
    #[default]
    Command,
    /// The letter of `f`, `F`, `t`, `T`.
    Letter { forward: bool, till: bool },
    /// The second key after `g`.
    Go,
    /// The letter of `r`.
    Replacement,
    /// The name of a text object.
    Object { around: bool },
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken.
    Taken,
    /// It is typed.
    Typed,
    /// Not a vi key.
    Other,
}

/// The state of the keys.
#[derive(Debug, Default)]
pub struct Vi {
    mode: Mode,
    count: Option<usize>,
    operator: Option<(Operator, usize)>,
    awaits: Awaits,
    /// Where a selection began.
    anchor: usize,
    /// The column that Up and Down aim at.
    column: Option<usize>,
    register: Register,
    last_find: Option<Find>,
    /// States before changes, and those that were taken back.
    undone: Vec<Buffer>,
    redone: Vec<Buffer>,
    /// The keys of the command that is being typed, and of the last one that changed something, with what was typed then.
    keys: Vec<KeyEvent>,
    last_change: Option<(Vec<KeyEvent>, Vec<String>)>,
    /// The text when insert mode began.
    entered: Option<Buffer>,
    /// Whether the command that led there was remembered as a step already.
    joins: bool,
    repeating: bool,
}

impl Vi {
    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What was typed of a command, for the eyes.
    pub fn pending(&self) -> String {
        self.keys.iter().filter_map(|key| if let KeyCode::Char(c) = key.code { Some(c) } else { None }).collect()
    }

    /// Whether the text as it was before the typing that goes on is known.
    pub fn is_typing(&self) -> bool {
        self.entered.is_some()
    }

    /// Goes to normal mode, whatever was being typed.
    pub fn be_normal(&mut self) {
        self.forget();
        (self.mode, self.entered, self.joins) = (Mode::Normal, None, false);
    }

    /// Back to insert mode, with another text: the one before was sent or replaced.
    pub fn start_anew(&mut self) {
        let (register, last_find, last_change) =
            (std::mem::take(&mut self.register), self.last_find.take(), self.last_change.take());
        *self = Self { register, last_find, last_change, ..Self::default() };
    }

    /// The selected cells.
    pub fn selection(&self, buffer: &Buffer) -> Option<std::ops::Range<usize>> {
        let (from, to) = (self.anchor.min(buffer.cursor), self.anchor.max(buffer.cursor));
        match self.mode {
            Mode::Visual => Some(from..(to + 1).min(buffer.len())),
            Mode::VisualLine => Some(buffer.whole_lines(from..to + 1)),
            Mode::Insert | Mode::Normal => None,
        }
    }

    /// Takes a key.
    pub fn key(&mut self, buffer: &mut Buffer, key: KeyEvent) -> Outcome {
        buffer.cursor = buffer.cursor.min(buffer.len());
        if self.mode == Mode::Insert {
            return self.insert_key(buffer, key);
        }
        buffer.cursor = buffer.on_cell(buffer.cursor);
        let outcome = self.command_key(buffer, key);
        if self.mode != Mode::Insert {
            buffer.cursor = buffer.on_cell(buffer.cursor);
        }
        outcome
    }

    fn insert_key(&mut self, buffer: &mut Buffer, key: KeyEvent) -> Outcome {
        if key.code != KeyCode::Esc {
            if self.entered.is_none() {
                self.entered = Some(buffer.clone());
            }
            return Outcome::Typed;
        }
        self.leave_insert(buffer);
        Outcome::Taken
    }

    fn leave_insert(&mut self, buffer: &mut Buffer) {
        if let Some(before) = self.entered.take()
            && before.cells != buffer.cells
        {
            if let Some((_, typed)) = &mut self.last_change {
                *typed = change::inserted(&before, buffer);
            }
            // A change by a command before the typed text is an undo step only without that text.
            if self.undone.last().is_none_or(|last| last.cells != before.cells) && !self.joins {
                self.undone.push(before);
            }
            self.redone.clear();
        }
        self.joins = false;
        self.mode = Mode::Normal;
        let start = buffer.line_start(buffer.cursor);
        buffer.cursor = buffer.cursor.saturating_sub(1).max(start);
    }

    fn command_key(&mut self, buffer: &mut Buffer, key: KeyEvent) -> Outcome {
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
        let redo = key.code == KeyCode::Char('r') && key.modifiers == KeyModifiers::CONTROL;
        let idle = self.keys.is_empty() && self.mode == Mode::Normal;
        let letter = match key.code {
            _ if redo && idle => {
                self.redo(buffer);
                return Outcome::Taken;
            }
            KeyCode::Esc if idle => return Outcome::Other,
            KeyCode::Esc => {
                self.forget();
                self.mode = Mode::Normal;
                return Outcome::Taken;
            }
            KeyCode::Char(letter) if plain => letter,
            _ if !plain => return Outcome::Other,
            KeyCode::Left | KeyCode::Backspace => 'h',
            KeyCode::Right => 'l',
            KeyCode::Up => 'k',
            KeyCode::Down => 'j',
            KeyCode::Home => '0',
            KeyCode::End => '$',
            KeyCode::Delete => 'x',
            _ => {
                self.forget();
                return Outcome::Other;
            }
        };
        self.keys.push(key);
        let done = self.letter(buffer, letter);
        if done {
            self.forget();
        }
        Outcome::Taken
    }

    /// Drops what was typed of a command.
    fn forget(&mut self) {
        (self.count, self.operator, self.awaits) = (None, None, Awaits::Command);
        self.keys.clear();
    }

    /// Takes a letter of a command; whether the command is whole, or none at all.
    fn letter(&mut self, buffer: &mut Buffer, letter: char) -> bool {
        match std::mem::take(&mut self.awaits) {
            Awaits::Letter { forward, till } => {
                let find = Find { letter: letter.to_string(), forward, till };
                self.last_find = Some(find.clone());
                return self.motion(buffer, &Motion::Find(find));
            }
            Awaits::Replacement => return self.replace(buffer, letter),
            Awaits::Object { around } => return self.object(buffer, letter, around),
            Awaits::Go => {
                return match letter {
                    'g' => self.motion(buffer, &Motion::Line(Some(self.count.unwrap_or(1)))),
                    _ => true,
                };
            }
            Awaits::Command => {}
        }
        if let Some(digit) = letter.to_digit(10).filter(|digit| *digit > 0 || self.count.is_some()) {
            let count = self.count.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize);
            self.count = Some(count.min(9_999));
            return false;
        }
        if let Some(awaits) = self.awaited(letter) {
            self.awaits = awaits;
            return false;
        }
        match self.motion_of(letter) {
            Some(motion) => self.motion(buffer, &motion),
            None => self.command(buffer, letter),
        }
    }

    /// What a letter only begins.
    fn awaited(&self, letter: char) -> Option<Awaits> {
        let selects = matches!(self.mode, Mode::Visual | Mode::VisualLine);
        Some(match letter {
            'f' | 'F' | 't' | 'T' => {
                Awaits::Letter { forward: letter.is_lowercase(), till: letter.eq_ignore_ascii_case(&'t') }
            }
            'g' => Awaits::Go,
            'r' if self.operator.is_none() => Awaits::Replacement,
            'i' | 'a' if self.operator.is_some() || selects => Awaits::Object { around: letter == 'a' },
            _ => return None,
        })
    }

    fn motion_of(&self, letter: char) -> Option<Motion> {
        let toggled = |find: &Find| Motion::Find(Find { forward: !find.forward, ..find.clone() });
        Some(match letter {
            'h' => Motion::Left,
            'l' | ' ' => Motion::Right,
            'k' => Motion::Up,
            'j' => Motion::Down,
            '0' => Motion::LineStart,
            '^' => Motion::FirstText,
            '$' => Motion::LineEnd,
            'w' | 'W' => Motion::WordNext(letter == 'W'),
            'b' | 'B' => Motion::WordBack(letter == 'B'),
            'e' | 'E' => Motion::WordEnd(letter == 'E'),
            'G' => Motion::Line(self.count),
            '{' | '}' => Motion::Paragraph(letter == '}'),
            '%' => Motion::Pair,
            ';' => Motion::Find(self.last_find.clone()?),
            ',' => toggled(self.last_find.as_ref()?),
            _ => return None,
        })
    }

    /// How often, all numbers taken together.
    fn times(&self) -> usize {
        let before = self.operator.map_or(1, |(_, count)| count);
        before.saturating_mul(self.count.unwrap_or(1)).clamp(1, 9_999)
    }
}

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

#[cfg(test)]
mod tests;
