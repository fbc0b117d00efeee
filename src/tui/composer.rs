//! The composer: the message being written, with the editing keys of a shell and soft wrapping.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui_textarea::{TextArea, WrapMode};

use super::theme::{Role, Theme};
use crate::text::{lines, sanitize};

/// A pasted text longer than this many lines slows typing down in a wrapped text area; it is folded into a chip.
const CHIP_LINES: usize = 30;

/// The message being written.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    style: Style,
    /// Long pastes, shown as `[paste 1: 200 lines]` and put back when the message is read.
    chips: Vec<(String, String)>,
}

impl Composer {
    /// An empty composer.
    pub fn new(theme: &Theme) -> Self {
        let mut composer = Self { area: TextArea::default(), style: theme.style(Role::Text), chips: Vec::new() };
        composer.reset(Vec::new());
        composer.area.set_placeholder_style(theme.style(Role::Muted));
        composer
    }

    fn reset(&mut self, lines: Vec<String>) {
        let placeholder = self.area.placeholder_style();
        self.area = TextArea::new(lines);
        self.area.set_wrap_mode(WrapMode::WordOrGlyph);
        self.area.set_style(self.style);
        self.area.set_cursor_line_style(Style::default());
        self.area.set_cursor_style(Style::default().add_modifier(Modifier::REVERSED));
        self.area.set_placeholder_text("Ask or say what to change · / commands · F1 help");
        if let Some(style) = placeholder {
            self.area.set_placeholder_style(style);
        }
        self.area.move_cursor(ratatui_textarea::CursorMove::Bottom);
        self.area.move_cursor(ratatui_textarea::CursorMove::End);
    }

    /// The message, with long pastes in full.
    pub fn text(&self) -> String {
        let typed = self.area.lines().join("\n");
        self.chips.iter().fold(typed, |text, (chip, paste)| text.replace(chip, paste))
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Replaces the message.
    pub fn set(&mut self, text: &str) {
        self.chips.clear();
        self.reset(Vec::new());
        self.paste(text);
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.chips.clear();
        self.reset(Vec::new());
    }

    /// Takes a pasted text. Control characters in it are made visible: a paste must not drive the terminal.
    pub fn paste(&mut self, text: &str) {
        let text = sanitize::visible(&text.replace("\r\n", "\n").replace('\r', "\n")).into_owned();
        let count = lines::split(&text).len();
        if count <= CHIP_LINES {
            self.area.insert_str(&text);
            return;
        }
        let chip = format!("[paste {}: {count} lines]", self.chips.len() + 1);
        self.area.insert_str(&chip);
        self.chips.push((chip, text));
    }

    /// Starts a new line.
    pub fn newline(&mut self) {
        self.area.insert_newline();
    }

    /// Takes an editing key.
    pub fn input(&mut self, key: KeyEvent) {
        self.area.input(key);
    }

    /// Rows that it wants at a width, between 1 and `most`.
    pub fn height(&self, width: u16, most: u16) -> u16 {
        let columns = usize::from(width.max(1));
        let rows: usize = self.area.lines().iter().map(|line| crate::text::width::columns(line) / columns + 1).sum();
        u16::try_from(rows).unwrap_or(most).clamp(1, most)
    }

    /// Draws it; the cursor shows only with the focus.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, focused: bool) {
        if focused {
            frame.render_widget(&self.area, area);
            return;
        }
        let mut still = self.area.clone();
        still.set_cursor_style(self.style);
        frame.render_widget(&still, area);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::ColorDepth;

    fn composer() -> Composer {
        Composer::new(&Theme::plain(ColorDepth::None))
    }

    #[test]
    fn a_long_paste_is_a_chip_on_the_screen_and_whole_in_the_message() {
        let mut composer = composer();
        composer.paste("see: ");
        let paste = "line\n".repeat(100);
        composer.paste(&paste);
        assert_eq!(composer.area.lines().join("\n"), "see: [paste 1: 100 lines]");
        assert_eq!(composer.text(), format!("see: {paste}"));
    }

    #[test]
    fn a_paste_cannot_drive_the_terminal() {
        let mut composer = composer();
        composer.paste("a\x1b]0;title\x07b\r\nc");
        assert!(!composer.text().contains('\x1b'));
        assert_eq!(composer.text().lines().count(), 2);
    }
}
