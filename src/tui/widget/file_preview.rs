//! A part of a file with line numbers and colours, as a preview for a list.

use rhumb_syntax::Span as Colored;

use crate::tui::prelude::*;

/// Longest part of a line that is shown, in bytes.
const MAX_LINE_BYTES: usize = 2_000;

/// Lines that are marked, 1-based and inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked {
    pub first: usize,
    pub last: usize,
}

impl Marked {
    pub fn line(line: usize) -> Self {
        Self { first: line, last: line }
    }

    /// The range, limited to a text of `count` lines, 0-based.
    fn within(self, count: usize) -> (usize, usize) {
        let at = |line: usize| line.saturating_sub(1).min(count.saturating_sub(1));
        (at(self.first), at(self.last.max(self.first)))
    }

    /// The first visible line (0-based) of a text of `count` lines, of which `rows` are shown. Several marked lines are centred
    /// if all of them fit; a single one is placed a third from the top.
    pub fn top(self, count: usize, rows: usize) -> usize {
        let (first, last) = self.within(count);
        let above = match last - first + 1 {
            1 => rows / 3,
            tall if tall < rows => (rows - tall) / 2,
            _ => usize::from(rows > 3),
        };
        first.saturating_sub(above).min(count.saturating_sub(rows))
    }
}

/// Draws the part of `text` around the lines that are marked; without any, its beginning.
pub fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    (path, text): (&str, &str),
    marked: Option<Marked>,
    coloring: &mut Coloring,
    theme: &Theme,
) {
    let count = lines::split(text).len();
    let first = marked.map_or(0, |marked| marked.top(count, usize::from(area.height)));
    draw_from(frame, area, (path, text), (first, marked), coloring, theme);
}

/// Draws the part of `text` from its line `first` (0-based) on, with a mark at some lines.
pub fn draw_from(
    frame: &mut Frame<'_>,
    area: Rect,
    (path, text): (&str, &str),
    (first, marked): (usize, Option<Marked>),
    coloring: &mut Coloring,
    theme: &Theme,
) {
    let all = lines::split(text);
    let rows = usize::from(area.height);
    let marked = marked.map(|marked| marked.within(all.len()));
    let colors = coloring.get(Language::Path(path), text);
    let digits = all.len().max(1).ilog10() as usize + 1;
    let columns = usize::from(area.width);
    let row = |(at, line): (usize, &&str)| {
        let spans = colors.as_ref().and_then(|colors| colors.get(at)).map_or(&[][..], Vec::as_slice);
        let is_marked = marked.is_some_and(|(from, to)| (from..=to).contains(&at));
        let mark = match is_marked {
            true if marked.is_some_and(|(from, _)| from == at) => '▸',
            true => '▎',
            false => ' ',
        };
        let mut row = Line::from(Span::styled(format!("{mark}{:>digits$} ", at + 1), theme.style(Role::Gutter)));
        row.spans.extend(code(lines::body(line), spans, columns.saturating_sub(digits + 2), theme));
        if is_marked {
            fill(&mut row, columns, Style::default());
            row = row.patch_style(theme.style(Role::CursorLine));
        }
        row
    };
    let shown: Vec<Line<'_>> = all.iter().enumerate().skip(first).take(rows).map(row).collect();
    frame.render_widget(Paragraph::new(shown), area);
}

/// A line of code in its colours, with a mark if it is cut.
fn code(body: &str, spans: &[Colored], columns: usize, theme: &Theme) -> Vec<Span<'static>> {
    let whole = body.len();
    let body = &body[..body.floor_char_boundary(MAX_LINE_BYTES)];
    let text = colored(body, spans, theme);
    let is_cut = text.columns() > columns || body.len() < whole;
    let available = columns.saturating_sub(usize::from(is_cut)).max(1);
    let mut spans = text.hard_wrap(available).into_iter().next().map(|line| line.spans).unwrap_or_default();
    if is_cut {
        spans.push(Span::styled(width::ELLIPSIS, theme.style(Role::Muted)));
    }
    spans
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::tui::theme::ColorDepth;

    fn shown(text: &str, line: Option<usize>) -> String {
        let mut screen = Terminal::new(TestBackend::new(12, 3)).unwrap();
        let theme = Theme::plain(ColorDepth::None);
        let draw = |frame: &mut Frame<'_>| {
            draw(frame, frame.area(), ("a.rs", text), line.map(Marked::line), &mut Coloring::default(), &theme);
        };
        screen.draw(draw).unwrap();
        screen.backend().to_string()
    }

    #[test]
    fn the_line_is_marked_with_what_stands_around_it() {
        let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        assert_eq!(shown(&text, Some(7)), "\"  6 line 6  \"\n\"▸ 7 line 7  \"\n\"  8 line 8  \"\n");
        assert!(shown(&text, None).starts_with("\"  1 line 1"));
        assert!(shown(&text, Some(99)).ends_with("\"▸20 line 20 \"\n"));
    }

    #[test]
    fn several_lines_stand_in_the_middle_or_begin_near_the_top() {
        let top = |first, last, rows| Marked { first, last }.top(100, rows);
        assert_eq!((top(50, 53, 10), top(50, 90, 10), top(1, 3, 10), top(98, 100, 10)), (46, 48, 0, 90));
        assert_eq!((top(500, 900, 10), top(7, 3, 9), top(4, 5, 1)), (90, 3, 3));
    }

    #[test]
    fn a_line_that_is_cut_says_so() {
        assert!(shown("123456789\n", None).contains("123456789"));
        assert!(shown("1234567890\n", None).contains("12345678…"));
    }

    #[test]
    fn hostile_and_empty_texts_are_drawn_safely() {
        assert!(shown("\x1b[2J\u{202e}é\r\n", Some(1)).contains('␛'));
        assert!(!shown("", Some(3)).contains('▸'));
    }
}
