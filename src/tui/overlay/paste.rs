//! A place for a reply that was copied elsewhere (copy mode).

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Reply, centred, window};
use crate::tui::key;
use crate::tui::theme::{Role, Theme};
use rhumb_text::{sanitize, width, wrap};

/// The reply as pasted so far.
#[derive(Debug, Default)]
pub struct PasteBox {
    text: String,
    /// The text is the clipboard's, and nobody has touched it yet.
    filled: bool,
}

impl PasteBox {
    /// Takes the text of the clipboard, if nothing is there yet. A paste takes its place.
    pub fn fill(&mut self, text: &str) {
        if self.text.is_empty() {
            self.paste(text);
            self.filled = true;
        }
    }

    /// Whether nothing was typed or pasted.
    pub fn is_untouched(&self) -> bool {
        self.text.is_empty() || self.filled
    }

    /// Takes a bracketed paste.
    pub fn paste(&mut self, text: &str) {
        if std::mem::take(&mut self.filled) {
            self.text.clear();
        }
        self.text.push_str(&text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    /// Takes a key. Terminals without bracketed paste send the text as keys, so that they are text here; Ctrl-D is never
    /// part of one.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        match name.as_str() {
            "Ctrl-d" => return Reply::Pasted(std::mem::take(&mut self.text)),
            "Esc" => return Reply::Close,
            "Backspace" => {
                self.filled = false;
                self.text.pop();
            }
            "Enter" | "Ctrl-j" => self.paste("\n"),
            "Tab" => self.paste("\t"),
            _ => {
                if let KeyCode::Char(c) = key.code
                    && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
                {
                    self.paste(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        Reply::Stay
    }

    /// Draws the end of the text and what to do.
    pub fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        let area = centred(screen, screen.width.saturating_sub(6).min(100), screen.height.saturating_sub(4).min(24));
        let inner = window(frame, area, " paste the model's reply ", theme);
        let rows = usize::from(inner.height.saturating_sub(2));
        let count = self.text.lines().count();
        let shown = self.text.lines().skip(count.saturating_sub(rows));
        let mut lines: Vec<Line<'_>> = shown.map(|line| Line::raw(sanitize::visible_line(line).into_owned())).collect();
        if self.text.is_empty() {
            let hint = "Copy the whole reply in the other chat, then paste it here.";
            let pieces = wrap::wrap(hint, usize::from(inner.width)).into_iter();
            lines.extend(pieces.map(|piece| Line::styled(&hint[piece], theme.style(Role::Muted))));
        }
        lines.resize_with(rows + 1, Line::default);
        let from = if self.filled { " of the clipboard; or paste" } else { "" };
        let hint = format!("Ctrl-d review · Esc discard · {count} lines{from}");
        lines.push(Line::styled(hint, theme.style(Role::Muted)));
        frame.render_widget(Paragraph::new(lines), inner);
        self.put_cursor(frame, inner, count.min(rows));
    }

    /// The cursor stands behind the end of the text, of which so many lines show.
    fn put_cursor(&self, frame: &mut Frame<'_>, inner: Rect, shown: usize) {
        if inner.is_empty() {
            return;
        }
        let last = self.text.rsplit('\n').next().unwrap_or_default();
        let row = if self.text.is_empty() || self.text.ends_with('\n') { shown } else { shown.saturating_sub(1) };
        let column = width::columns(&sanitize::visible_line(last));
        let [x, y] = [(inner.x, column, inner.width), (inner.y, row, inner.height)]
            .map(|(start, at, length)| start + u16::try_from(at).unwrap_or(u16::MAX).min(length - 1));
        frame.set_cursor_position((x, y));
    }
}
