//! Two halves of a diff beside each other, with a rule between them.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Puts the rows of two halves side by side. Of a half that has fewer rows, the rest is blank in its own style; each row of the left half
/// must fill its columns.
pub fn beside(
    left: Vec<Line<'static>>,
    right: Vec<Line<'static>>,
    columns: [usize; 2],
    blank: Style,
    rule: Style,
) -> Vec<Line<'static>> {
    let count = left.len().max(right.len()).max(1);
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let empty = |columns: usize| Line::from(Span::styled(" ".repeat(columns), blank));
    let row = |_| {
        let mut row = left.next().unwrap_or_else(|| empty(columns[0]));
        row.spans.push(Span::styled("│", rule));
        row.spans.extend(right.next().unwrap_or_else(|| empty(columns[1])).spans);
        row
    };
    (0..count).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_half_is_filled_up() {
        let rows = beside(vec!["ab".into()], vec!["c".into(), "d".into()], [2, 1], Style::default(), Style::default());
        assert_eq!(rows.iter().map(ToString::to_string).collect::<Vec<_>>(), ["ab│c", "  │d"]);
    }
}
