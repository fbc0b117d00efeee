//! Renders tables: columns aligned and wrapped to the width, or one field per line if the columns do not fit.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};
use rhumb_text::width;

use super::RenderContext;
use crate::tui::theme::Role;
use crate::tui::widget::styled::StyledText;

/// The separator of two columns, and its crossing with the rule under the header.
const BETWEEN: &str = " │ ";
const CROSSING: &str = "─┼─";
/// Columns of the terminal below which a column of the table cannot be read.
const MIN_COLUMN_WIDTH: usize = 8;

/// A parsed table. The first row is the header.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<StyledText>>,
}

impl Table {
    pub(super) fn render(&self, columns: usize, look: &RenderContext<'_>) -> Vec<Line<'static>> {
        match self.widths(columns) {
            Some(widths) => self.grid(&widths, look),
            None => self.fields(columns, look),
        }
    }

    /// The width of each column: the natural one, with the widest narrowed until all fit. `None` if they cannot fit.
    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let mut widths = vec![1; count];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.columns());
            }
        }
        let room = columns.checked_sub(width::columns(BETWEEN) * count.saturating_sub(1))?;
        // Limits the widest columns: the highest limit at which all fit together.
        let total = |limit: usize| widths.iter().map(|width| (*width).min(limit)).sum::<usize>();
        let widest = widths.iter().copied().max()?;
        let limit = if total(widest) <= room {
            widest
        } else {
            (MIN_COLUMN_WIDTH..widest.min(room + 1)).rev().find(|limit| total(*limit) <= room)?
        };
        let mut left = room.saturating_sub(total(limit));
        for width in &mut widths {
            let extra = width.saturating_sub(limit).min(left);
            *width = (*width).min(limit) + extra;
            left -= extra;
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize], look: &RenderContext<'_>) -> Vec<Line<'static>> {
        let mark = look.theme.style(Role::Border);
        let rows: Vec<Vec<Line<'static>>> = self.rows.iter().map(|row| self.row(row, widths, look)).collect();
        let tall = rows.iter().skip(1).any(|row| row.len() > 1);
        let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join(CROSSING);
        let mut lines = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            // A rule separates rows of several lines.
            if index == 1 || (index > 1 && tall) {
                lines.push(Line::styled(rule.clone(), mark));
            }
            lines.extend(row);
        }
        lines
    }

    fn row(&self, cells: &[StyledText], widths: &[usize], look: &RenderContext<'_>) -> Vec<Line<'static>> {
        let mark = look.theme.style(Role::Border);
        let wrapped: Vec<_> = cells.iter().zip(widths).map(|(cell, width)| cell.wrap(*width)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|at| {
                let mut spans = Vec::new();
                for (column, (cell, width)) in wrapped.iter().zip(widths).enumerate() {
                    if column > 0 {
                        spans.push(Span::styled(BETWEEN, mark));
                    }
                    let line = cell.get(at).cloned().unwrap_or_default();
                    spans.extend(self.aligned(column, line, *width));
                }
                trim_end(Line::from(spans))
            })
            .collect()
    }

    fn aligned(&self, column: usize, line: Line<'static>, width: usize) -> Vec<Span<'static>> {
        let used: usize = line.spans.iter().map(|span| width::columns(&span.content)).sum();
        let gap = width.saturating_sub(used);
        let before = match self.alignments.get(column) {
            Some(Alignment::Right) => gap,
            Some(Alignment::Center) => gap / 2,
            _ => 0,
        };
        let mut spans = vec![Span::raw(" ".repeat(before))];
        spans.extend(line.spans);
        spans.push(Span::raw(" ".repeat(gap - before)));
        spans
    }

    /// Each row as lines of "header: field".
    fn fields(&self, columns: usize, look: &RenderContext<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let (header, rows) = match self.rows.split_first() {
            Some((header, [])) => (&[][..], std::slice::from_ref(header)),
            Some((header, rows)) => (header.as_slice(), rows),
            None => return lines,
        };
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                lines.push(Line::default());
            }
            for (column, cell) in row.iter().enumerate() {
                let mut field = StyledText::new();
                if let Some(name) = header.get(column).filter(|name| !name.is_empty()) {
                    field.push(&format!("{}: ", name.text()), look.theme.style(Role::MarkdownStrong));
                }
                field.append(cell);
                lines.extend(field.wrap(columns));
            }
        }
        lines
    }
}

/// Drops padding at the end.
fn trim_end(mut line: Line<'static>) -> Line<'static> {
    while line.spans.last().is_some_and(|span| span.content.trim_matches(' ').is_empty()) {
        line.spans.pop();
    }
    line
}
