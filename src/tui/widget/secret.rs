//! A secret of one line that is being typed: how long it is shows, what it is does not.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use secrecy::SecretString;
use unicode_segmentation::UnicodeSegmentation as _;

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
    /// Whether nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// A mark for each character, at most `columns` of them.
    pub fn masked(&self, columns: usize) -> String {
        MASK.repeat(self.text.graphemes(true).count().min(columns))
    }

    /// Adds a text at the end, without its control characters: for typing and pasting.
    pub fn insert(&mut self, text: &str) {
        self.text.extend(text.chars().filter(|c| !c.is_control()));
    }

    /// Takes an editing key: characters, Backspace, and the keys that empty a line.
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

    /// Takes what was typed, without blanks around it. Nothing of it is left here.
    pub fn take(&mut self) -> SecretString {
        let text = std::mem::take(&mut self.text);
        SecretString::from(text.trim())
    }
}

#[cfg(test)]
mod tests {
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
