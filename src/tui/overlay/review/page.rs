//! A box with a text that scrolls and a line or two of keys below it.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::tui::overlay::{centred, window};
use crate::tui::theme::{Role, Theme};
use rhumb_text::{sanitize, width, wrap};

/// A line of such a text, in the style of its role.
pub(super) type Styled = (Role, String);

/// A screen of fewer rows than this is low.
const LOW: u16 = 16;

/// How far a text is scrolled.
#[derive(Debug, Default)]
pub(super) struct Page {
    offset: usize,
    /// Rows of it as last drawn.
    height: usize,
}

impl Page {
    /// Moves by a key; whether it was one of those.
    pub(super) fn key(&mut self, name: &str) -> bool {
        let page = self.height.saturating_sub(1).max(1);
        match name {
            "j" | "Down" => self.offset += 1,
            "k" | "Up" => self.offset = self.offset.saturating_sub(1),
            "PageDown" | "Ctrl-d" | "Space" => self.offset += page,
            "PageUp" | "Ctrl-u" => self.offset = self.offset.saturating_sub(page),
            "Home" => self.offset = 0,
            "End" => self.offset = usize::MAX,
            _ => return false,
        }
        true
    }

    /// Draws a box of at most `width` columns, as high as its text needs, with what the keys do at its foot.
    pub(super) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        screen: Rect,
        theme: &Theme,
        (title, widest): (&str, u16),
        text: &[Styled],
        choices: &[(String, String)],
    ) {
        let columns = widest.min(screen.width.saturating_sub(2));
        let inner_columns = usize::from(columns.saturating_sub(4)).max(8);
        let rows: Vec<Line<'_>> = text.iter().flat_map(|line| wrapped(line, inner_columns, theme)).collect();
        let feet = feet(choices, inner_columns, theme);
        // On a low screen the text has the line that keeps the keys apart.
        let apart = u16::from(screen.height >= LOW);
        let height =
            u16::try_from(rows.len() + feet.len() + 2 + usize::from(apart)).unwrap_or(u16::MAX).min(screen.height);
        let area = centred(screen, columns, height);
        let inner = window(frame, area, &format!(" {title} "), theme);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let foot = u16::try_from(feet.len()).unwrap_or(1);
        let [body, _, keys] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(apart), Constraint::Length(foot)]).areas(inner);
        self.height = usize::from(body.height);
        self.offset = self.offset.min(rows.len().saturating_sub(self.height));
        let left = rows.len().saturating_sub(self.offset + self.height);
        let shown: Vec<Line<'_>> = rows.into_iter().skip(self.offset).take(self.height).collect();
        frame.render_widget(Paragraph::new(shown), body);
        frame.render_widget(Paragraph::new(feet), keys);
        if left > 0 {
            let more = format!("↓ {left} more");
            let columns = u16::try_from(width::columns(&more)).unwrap_or(0).min(body.width);
            let row = if apart > 0 { body.bottom() } else { area.bottom().saturating_sub(1) };
            let place = Rect::new(body.right() - columns, row, columns, 1).intersection(area);
            frame.render_widget(Line::styled(more, theme.style(Role::Muted)), place);
        }
    }
}

/// The rows of one line: what it begins with stays its beginning.
pub(super) fn wrapped(line: &Styled, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (role, text) = line;
    let safe = sanitize::visible_line(text).into_owned();
    let style = theme.style(*role);
    let code = matches!(role, Role::Added | Role::Removed | Role::Gutter);
    let pieces = if code { wrap::hard_wrap(&safe, columns) } else { wrap::wrap(&safe, columns) };
    let mut rows: Vec<Line<'_>> = pieces.into_iter().map(|piece| Line::styled(safe[piece].to_owned(), style)).collect();
    if rows.is_empty() {
        rows.push(Line::default());
    }
    rows
}

/// What the keys do, in as many rows as that takes.
pub(super) fn feet(choices: &[(String, String)], columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = Vec::new();
    let mut room = 0;
    for (key, what) in choices {
        let size = width::columns(key) + width::columns(what) + 1;
        if room < size + 3 || rows.is_empty() {
            rows.push(Line::default());
            room = columns;
        } else if let Some(row) = rows.last_mut() {
            row.push_span(Span::styled(" · ", theme.style(Role::Muted)));
            room = room.saturating_sub(3);
        }
        if let Some(row) = rows.last_mut() {
            row.push_span(Span::styled(key.clone(), theme.style(Role::Key)));
            row.push_span(Span::styled(format!(" {what}"), theme.style(Role::Text)));
        }
        room = room.saturating_sub(size);
    }
    rows
}

/// A key and what it does.
pub(super) fn choice(key: &str, what: impl Into<String>) -> (String, String) {
    (key.to_owned(), what.into())
}
