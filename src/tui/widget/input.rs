//! An input of one line with a cursor.

use std::fmt;

use secrecy::SecretString;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::tui::prelude::*;

const PROMPT: &str = "› ";

/// One line of text and a cursor between two of its graphemes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineInput {
    text: String,
    /// Byte position, always between two graphemes.
    cursor: usize,
}

impl LineInput {
    /// A line holding `text`, the cursor at its end. Line feeds and other controls are left out.
    pub fn new(text: &str) -> Self {
        let mut input = Self::default();
        input.insert(text);
        input
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Column of the cursor, counted from the start of the text as [`sanitize::visible_line`] shows it.
    pub fn cursor_column(&self) -> usize {
        width::columns(&sanitize::visible_line(self.before()))
    }

    /// Inserts text at the cursor, without its control characters: for typing and pasting.
    pub fn insert(&mut self, text: &str) {
        let clean: String = text.chars().filter(|c| !c.is_control()).collect();
        let end = self.before().len() + clean.len();
        self.text.insert_str(self.before().len(), &clean);
        self.cursor = self.boundary_at_or_after(end);
    }

    /// Handles an editing key: characters, the usual movement and deletion keys, and their Emacs forms. Returns whether the
    /// key was one of these.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let word = key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::CONTROL);
        match (key.modifiers, key.code) {
            (KeyModifiers::NONE | KeyModifiers::SHIFT, KeyCode::Char(c)) => self.insert(c.encode_utf8(&mut [0; 4])),
            (KeyModifiers::CONTROL, KeyCode::Char('a')) | (_, KeyCode::Home) => self.cursor = 0,
            (KeyModifiers::CONTROL, KeyCode::Char('e')) | (_, KeyCode::End) => self.cursor = self.text.len(),
            (KeyModifiers::ALT, KeyCode::Char('b')) => self.cursor = self.word_start(),
            (KeyModifiers::ALT, KeyCode::Char('f')) => self.cursor = self.word_end(),
            (_, KeyCode::Left) => self.cursor = if word { self.word_start() } else { self.previous() },
            (_, KeyCode::Right) => self.cursor = if word { self.word_end() } else { self.next() },
            (KeyModifiers::CONTROL, KeyCode::Char('b')) => self.cursor = self.previous(),
            (KeyModifiers::CONTROL, KeyCode::Char('f')) => self.cursor = self.next(),
            (KeyModifiers::CONTROL, KeyCode::Char('w')) => self.delete_from(self.word_start()),
            (KeyModifiers::CONTROL, KeyCode::Char('h')) => self.delete_from(self.previous()),
            (_, KeyCode::Backspace) => self.delete_from(if word { self.word_start() } else { self.previous() }),
            (KeyModifiers::CONTROL, KeyCode::Char('u')) => self.delete_from(0),
            (KeyModifiers::CONTROL, KeyCode::Char('k')) => self.delete_to(self.text.len()),
            (KeyModifiers::CONTROL, KeyCode::Char('d')) | (_, KeyCode::Delete) => self.delete_to(self.next()),
            _ => return false,
        }
        true
    }

    /// Draws the line behind a prompt, scrolled so that its cursor is visible. `empty` is shown while nothing is typed.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, empty: &str, theme: &Theme) {
        let available = usize::from(area.width).saturating_sub(width::columns(PROMPT) + 1);
        let column = self.cursor_column();
        let shown = sanitize::visible_line(&self.text);
        let (text, skipped) = width::skip(&shown, column.saturating_sub(available));
        let typed = if shown.is_empty() {
            Span::styled(width::clip(empty, available), theme.style(Role::Muted))
        } else {
            Span::styled(text, theme.style(Role::Overlay))
        };
        frame.render_widget(Line::from(vec![Span::styled(PROMPT, theme.style(Role::Accent)), typed]), area);
        place_cursor(frame, area, width::columns(PROMPT) + column.saturating_sub(skipped));
    }

    fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or(&self.text)
    }

    fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or("")
    }

    fn previous(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        self.cursor + self.after().graphemes(true).next().map_or(0, str::len)
    }

    fn word_start(&self) -> usize {
        let mut words = self.before().unicode_word_indices();
        words.next_back().map_or(0, |(at, _)| at)
    }

    fn word_end(&self) -> usize {
        let word = self.after().unicode_word_indices().next();
        word.map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }

    fn delete_from(&mut self, start: usize) {
        if start < self.cursor && self.text.get(start..self.cursor).is_some() {
            self.text.replace_range(start..self.cursor, "");
            self.cursor = self.boundary_at_or_after(start);
        }
    }

    fn delete_to(&mut self, end: usize) {
        if self.cursor < end && self.text.get(self.cursor..end).is_some() {
            self.text.replace_range(self.cursor..end, "");
            self.cursor = self.boundary_at_or_after(self.cursor);
        }
    }

    /// The first grapheme boundary from a position on: an edit may join graphemes.
    fn boundary_at_or_after(&self, position: usize) -> usize {
        let mut boundaries = self.text.grapheme_indices(true).map(|(at, _)| at);
        boundaries.find(|at| *at >= position).unwrap_or(self.text.len())
    }
}

/// The mark that is drawn for a character.
const MASK: &str = "•";

/// The text that was typed. Its `Debug` shows none of it, and there is no undo.
#[derive(Default)]
pub struct SecretInput {
    text: String,
}

impl fmt::Debug for SecretInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretInput").finish_non_exhaustive()
    }
}

impl SecretInput {
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn masked(&self, columns: usize) -> String {
        MASK.repeat(self.text.graphemes(true).count().min(columns))
    }

    /// Draws a mark for each character behind a prompt, with the cursor at the end.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let available = usize::from(area.width).saturating_sub(width::columns(PROMPT) + 1);
        let masked = self.masked(available);
        place_cursor(frame, area, width::columns(PROMPT) + width::columns(&masked));
        let (prompt, typed) = (theme.style(Role::Accent), theme.style(Role::Overlay));
        frame.render_widget(Line::from(vec![Span::styled(PROMPT, prompt), Span::styled(masked, typed)]), area);
    }

    /// Adds a text without its control characters.
    pub fn insert(&mut self, text: &str) {
        self.text.extend(text.chars().filter(|c| !c.is_control()));
    }

    pub fn key(&mut self, key: KeyEvent) {
        match (key.modifiers, key.code) {
            (KeyModifiers::NONE | KeyModifiers::SHIFT, KeyCode::Char(c)) => self.insert(c.encode_utf8(&mut [0; 4])),
            (KeyModifiers::NONE, KeyCode::Backspace) | (KeyModifiers::CONTROL, KeyCode::Char('h')) => {
                let last = self.text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
                self.text.truncate(last);
            }
            (KeyModifiers::CONTROL, KeyCode::Char('u' | 'w' | 'k')) => self.text.clear(),
            _ => {}
        }
    }

    /// Takes the text without surrounding blanks.
    pub fn take(&mut self) -> SecretString {
        let text = std::mem::take(&mut self.text);
        SecretString::from(text.trim())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn press(input: &mut LineInput, code: KeyCode, modifiers: KeyModifiers) -> bool {
        input.key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn typing_goes_in_at_the_cursor() {
        let mut input = LineInput::new("hrbour");
        press(&mut input, KeyCode::Home, KeyModifiers::NONE);
        press(&mut input, KeyCode::Right, KeyModifiers::NONE);
        press(&mut input, KeyCode::Char('a'), KeyModifiers::NONE);
        assert_eq!((input.text(), input.cursor_column()), ("harbour", 2));
    }

    #[test]
    fn words_go_at_once() {
        let mut input = LineInput::new("weigh the anchor");
        press(&mut input, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(input.text(), "weigh the ");
        press(&mut input, KeyCode::Left, KeyModifiers::CONTROL);
        press(&mut input, KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!((input.text(), input.cursor_column()), ("the ", 0));
    }

    #[test]
    fn a_grapheme_goes_as_a_whole() {
        let mut input = LineInput::new("日e\u{301}");
        assert_eq!(input.cursor_column(), 3);
        press(&mut input, KeyCode::Backspace, KeyModifiers::NONE);
        assert_eq!((input.text(), input.cursor_column()), ("日", 2));
    }

    #[test]
    fn a_pasted_line_feed_is_left_out() {
        assert_eq!(LineInput::new("a\nb\x1b[2J").text(), "ab[2J");
    }

    #[test]
    fn other_keys_are_not_taken() {
        let mut input = LineInput::default();
        assert!(!press(&mut input, KeyCode::Enter, KeyModifiers::NONE));
        assert!(!press(&mut input, KeyCode::Char('x'), KeyModifiers::CONTROL));
    }

    proptest! {
        #[test]
        fn the_cursor_stands_between_graphemes(keys in prop::collection::vec((0u8..12, any::<char>()), 0..40)) {
            let mut input = LineInput::default();
            for (kind, c) in keys {
                let (code, modifiers) = match kind {
                    0 => (KeyCode::Left, KeyModifiers::NONE),
                    1 => (KeyCode::Right, KeyModifiers::NONE),
                    2 => (KeyCode::Left, KeyModifiers::ALT),
                    3 => (KeyCode::Right, KeyModifiers::ALT),
                    4 => (KeyCode::Backspace, KeyModifiers::NONE),
                    5 => (KeyCode::Delete, KeyModifiers::NONE),
                    6 => (KeyCode::Backspace, KeyModifiers::ALT),
                    7 => (KeyCode::Char('\u{301}'), KeyModifiers::NONE),
                    8 => (KeyCode::Char('\u{200d}'), KeyModifiers::NONE),
                    _ => (KeyCode::Char(c), KeyModifiers::NONE),
                };
                press(&mut input, code, modifiers);
                let boundaries = input.text.grapheme_indices(true).map(|(at, _)| at).chain([input.text.len()]);
                prop_assert!(boundaries.into_iter().any(|at| at == input.cursor), "{:?}", input);
            }
        }
    }
}

#[cfg(test)]
mod secret_tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn a_secret_is_typed_pasted_and_taken_and_never_shown() {
        let mut input = SecretInput::default();
        input.insert(" sk-canary\n");
        input.key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE));
        input.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE));
        assert_eq!(input.masked(80), "•".repeat(10));
        assert_eq!(input.masked(4), "••••");
        assert!(!format!("{input:?}").contains("canary"));
        assert_eq!(input.take().expose_secret(), "sk-canary");
        assert!(input.is_empty());
        input.insert("abc");
        input.key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert!(input.is_empty());
    }
}
