//! Draws the candidates of a completion: a few rows above the composer.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};
use rhumb_text::{sanitize, width};

use super::styled::fill;
use crate::tui::theme::{Role, Theme};

/// Maximum number of rows that are drawn.
const MAX_ROWS: usize = 8;
/// Maximum width of the names; their descriptions follow.
const MAX_NAME_COLUMNS: usize = 44;

/// Minimum width of a screen that may have space for a preview beside the rows.
pub const MIN_PREVIEW_WIDTH: u16 = 90;
/// Columns and rows that a pane must have for a preview beside the rows.
const MIN_PREVIEW_PANE: (u16, u16) = (84, 8);
/// Columns of a row beside its name: the pointer, and the count at its end.
const AROUND_NAME: usize = 8;
const PREVIEW_ROWS: u16 = 12;

/// Divides the space above the composer between the rows and the preview of the selected one, if both fit. The rows get
/// up to half of the width if their longest name, `longest` columns, needs that.
pub fn part(room: Rect, longest: usize) -> (Rect, Option<Rect>) {
    if room.width < MIN_PREVIEW_PANE.0 || room.height < MIN_PREVIEW_PANE.1 {
        return (room, None);
    }
    let needed = u16::try_from(longest.saturating_add(AROUND_NAME)).unwrap_or(u16::MAX);
    let left = needed.clamp(room.width * 2 / 5, room.width / 2);
    let height = PREVIEW_ROWS.min(room.height);
    let right = Rect { x: room.x + left, width: room.width - left, y: room.bottom() - height, height };
    (Rect { width: left, ..room }, Some(right))
}

/// Draws the frame of a preview, and returns the area inside.
pub fn frame_of_preview(frame: &mut Frame<'_>, area: Rect, title: &str, theme: &Theme) -> Rect {
    frame.render_widget(Clear, area);
    let title = sanitize::visible_line(title);
    let title = width::clip_start(&title, usize::from(area.width).saturating_sub(4));
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.style(Role::Border))
        .title(Line::styled(format!(" {title} "), theme.style(Role::Title)))
        .style(theme.style(Role::Overlay));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// Name and description.
pub type Row<'r> = (&'r str, &'r str);

pub fn draw(frame: &mut Frame<'_>, room: Rect, rows: &[Row<'_>], selected: usize, theme: &Theme) {
    let height = rows.len().min(MAX_ROWS).min(usize::from(room.height));
    if height == 0 || room.width < 8 {
        return;
    }
    let rows_high = u16::try_from(height).unwrap_or(1);
    let area = Rect { y: room.bottom() - rows_high, height: rows_high, ..room };
    let first = (selected + 1).saturating_sub(height).min(rows.len() - height);
    let shown = rows.iter().enumerate().skip(first).take(height);
    let columns = usize::from(area.width);
    let names = name_columns(rows, columns);
    let lines: Vec<Line<'_>> =
        shown.map(|(at, row)| line(*row, names, columns, at == selected, rows.len(), theme)).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).style(theme.style(Role::Overlay)), area);
}

/// Columns of the names: as many as they need, limited by half of the width and the columns of the descriptions.
fn name_columns(rows: &[Row<'_>], columns: usize) -> usize {
    let widest = |text: fn(&Row<'_>) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let (names, words) = (widest(|(name, _)| width::columns(name)), widest(|(_, help)| width::columns(help)));
    // The pointer, the gap, and a column at the end; without words there is no gap.
    let around = if words == 0 { 4 } else { 6 };
    let left = columns.saturating_sub(words + around);
    if words == 0 { left } else { names.min(left.max(MAX_NAME_COLUMNS.min(columns / 2))) }
}

fn line(row: Row<'_>, names: usize, columns: usize, selected: bool, count: usize, theme: &Theme) -> Line<'static> {
    let background = theme.style(if selected { Role::Selection } else { Role::Overlay });
    let pointer = if selected { "▸ " } else { "  " };
    let name = sanitize::visible_line(row.0);
    // The end of a path is more useful than its beginning.
    let name = if name.contains('/') && !name.starts_with('/') {
        width::clip_start(&name, names).into_owned()
    } else {
        width::clip(&name, names).into_owned()
    };
    let gap = " ".repeat(names.saturating_sub(width::columns(&name)) + 2);
    let more = if selected && count > MAX_ROWS { format!(" {count} ") } else { String::new() };
    let room = columns.saturating_sub(width::columns(pointer) + names + 2 + width::columns(&more) + 1);
    let help = width::clip(&sanitize::visible_line(row.1), room).into_owned();
    let mut line = Line::from(vec![
        Span::styled(pointer, theme.style(Role::Accent).patch(background)),
        Span::styled(name, theme.style(Role::Text).patch(background)),
        Span::styled(gap, background),
        Span::styled(help, theme.style(Role::Muted).patch(background)),
    ]);
    fill(&mut line, columns.saturating_sub(width::columns(&more)), background);
    line.spans.push(Span::styled(more, theme.style(Role::Muted).patch(background)));
    line
}
