//! A line to type in, as overlays draw it: a mark, the text, the cursor.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use crate::tui::theme::{Role, Theme};
use crate::tui::widget::input::LineInput;
use rhumb_text::{sanitize, width};

/// What stands before the text.
const PROMPT: &str = "› ";

/// Draws the line with its cursor; `empty` stands there while nothing is typed.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, input: &LineInput, empty: &str, theme: &Theme) {
    let room = usize::from(area.width).saturating_sub(width::columns(PROMPT) + 1);
    let column = input.cursor_column();
    let shown = sanitize::visible_line(input.text());
    let (text, skipped) = width::skip(&shown, column.saturating_sub(room));
    let mut line = Line::from(Span::styled(PROMPT, theme.style(Role::Accent)));
    if shown.is_empty() {
        line.spans.push(Span::styled(width::clip(empty, room).into_owned(), theme.style(Role::Muted)));
    } else {
        line.spans.push(Span::styled(text.to_owned(), theme.style(Role::Overlay)));
    }
    frame.render_widget(line, area);
    let at = width::columns(PROMPT) + column.saturating_sub(skipped);
    let x = area.x.saturating_add(u16::try_from(at).unwrap_or(u16::MAX)).min(area.right().saturating_sub(1));
    frame.set_cursor_position(Position { x, y: area.y });
}
