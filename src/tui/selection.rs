//! Text that the mouse selects in the chat: from the cell where the button went down to the cell where the pointer is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::hits::Hit;
use rhumb_text::width;

/// The left button that went down in the chat. It becomes a click where it is released, or a selection where the pointer moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Press {
    /// The cell: column and row.
    pub(super) at: (u16, u16),
    /// What was drawn there.
    pub(super) hit: Hit,
    /// Whether it is the second click of a double click.
    pub(super) is_double: bool,
}

/// A selection while the button is down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// The cell where it began: column and row.
    pub(super) from: (u16, u16),
    /// The cell where the pointer is.
    pub(super) to: (u16, u16),
    /// Its text as last drawn.
    pub(super) text: String,
}

/// Marks the cells between two cells, in reading order, as far as they are in `area`; their text. Blanks at the ends of lines are
/// left out.
pub(super) fn mark(buffer: &mut Buffer, area: Rect, from: (u16, u16), to: (u16, u16), style: Style) -> String {
    let ((first, top), (last, bottom)) = if (from.1, from.0) <= (to.1, to.0) { (from, to) } else { (to, from) };
    let mut lines = Vec::new();
    for y in top.max(area.top())..=bottom.min(area.bottom().saturating_sub(1)) {
        let start = if y == top { first.max(area.left()) } else { area.left() };
        let end = if y == bottom { last.saturating_add(1).min(area.right()) } else { area.right() };
        let mut line = String::new();
        let mut x = start;
        while x < end {
            let Some(cell) = buffer.cell_mut((x, y)) else { break };
            line.push_str(cell.symbol());
            // The cell behind a wide character is part of it.
            let columns = u16::try_from(width::columns(cell.symbol())).unwrap_or(1).max(1);
            for column in x..x.saturating_add(columns) {
                if let Some(cell) = buffer.cell_mut((column, y)) {
                    cell.set_style(style);
                }
            }
            x = x.saturating_add(columns);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_the_text_between_two_cells_in_either_direction() {
        let mut buffer = Buffer::with_lines(["|one two  |", "|日本 six |", "|four     |"]);
        let area = Rect::new(1, 0, 9, 3);
        let mut select = |from, to| mark(&mut buffer, area, from, to, Style::default());
        assert_eq!(select((5, 0), (5, 2)), "two\n日本 six\nfour");
        assert_eq!(select((5, 2), (5, 0)), "two\n日本 six\nfour");
        assert_eq!(select((1, 1), (4, 1)), "日本");
        assert_eq!(select((0, 0), (90, 90)), "one two\n日本 six\nfour", "only what is in the area");
    }
}
