//! A place for a reply that was copied elsewhere (copy mode).

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Reply, centred, window};
use crate::text::{sanitize, wrap};
use crate::tui::key;
use crate::tui::theme::{Role, Theme};

/// The reply as pasted so far.
#[derive(Debug, Default)]
pub struct PasteBox {
    text: String,
}

impl PasteBox {
    /// Takes a bracketed paste.
    pub fn paste(&mut self, text: &str) {
        self.text.push_str(&text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    /// Takes a key. Terminals without bracketed paste send the text as keys, so that they are text here; Ctrl-D is never
    /// part of one.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match key::name(key).as_str() {
            "Ctrl-d" => return Reply::Pasted(std::mem::take(&mut self.text)),
            "Esc" => return Reply::Close,
            "Enter" | "Ctrl-j" => self.text.push('\n'),
            "Tab" => self.text.push('\t'),
            "Backspace" => {
                self.text.pop();
            }
            _ => {
                if let KeyCode::Char(c) = key.code
                    && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
                {
                    self.text.push(c);
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
        let hint = format!("Ctrl-D review · Esc discard · {count} lines");
        lines.push(Line::styled(hint, theme.style(Role::Muted)));
        frame.render_widget(Paragraph::new(lines), inner);
    }
}
