//! Styled text that can be wrapped, cut and converted to lines of the screen.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::tui::prelude::*;

pub type Lines = Vec<Line<'static>>;

/// A text and its styles. It is safe to draw; line feeds end lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledText {
    text: String,
    /// End byte and style of each stretch, in order and without gaps.
    runs: Vec<(usize, Style)>,
}

impl StyledText {
    pub fn new() -> Self {
        Self::default()
    }

    /// Tabs become single spaces; expand them first where columns matter.
    pub fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let safe = sanitize::visible(text);
        self.text.extend(safe.chars().map(|c| if c == '\t' { ' ' } else { c }));
        match self.runs.last_mut() {
            Some((end, last)) if *last == style => *end = self.text.len(),
            _ => self.runs.push((self.text.len(), style)),
        }
    }

    pub fn append(&mut self, other: &Self) {
        let before = self.text.len();
        self.text.push_str(&other.text);
        self.runs.extend(other.runs.iter().map(|(end, style)| (before + end, *style)));
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn columns(&self) -> usize {
        self.text.split('\n').map(width::columns).max().unwrap_or(0)
    }

    /// The styled pieces of a byte range.
    pub fn spans(&self, range: Range<usize>) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let mut start = 0;
        for (end, style) in &self.runs {
            let (from, to) = (start.max(range.start), range.end.min(*end));
            if let Some(text) = self.text.get(from..to).filter(|text| !text.is_empty()) {
                spans.push(Span::styled(text.to_owned(), *style));
            }
            start = *end;
        }
        spans
    }

    /// The text word-wrapped to `columns` columns; at least one line.
    pub fn wrap(&self, columns: usize) -> Lines {
        self.lines(|line| wrap::wrap(line, columns))
    }

    /// The text cut at exactly `columns` columns; at least one line.
    pub fn hard_wrap(&self, columns: usize) -> Lines {
        self.lines(|line| wrap::hard_wrap(line, columns))
    }

    fn lines(&self, pieces: impl Fn(&str) -> Vec<Range<usize>>) -> Lines {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            let cut = pieces(line).into_iter();
            lines.extend(cut.map(|piece| Line::from(self.spans(start + piece.start..start + piece.end))));
            start += line.len() + 1;
        }
        lines
    }
}

/// A number of columns or rows, limited to what the screen can count.
pub fn cells(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// A line of one style, cut to `columns` columns. `text` must be safe to draw.
pub fn clipped(text: &str, columns: impl Into<usize>, style: Style) -> Line<'static> {
    Line::styled(width::clip(text, columns.into()).into_owned(), style)
}

/// The lines of `text`, word-wrapped to `columns` columns behind `indent`. `text` must be safe to draw.
pub fn wrapped(text: &str, indent: &str, columns: impl Into<usize>, style: Style) -> Lines {
    let pieces = wrap::wrap(text, columns.into().max(1)).into_iter();
    pieces.filter_map(|range| Some(Line::styled(format!("{indent}{}", text.get(range)?), style))).collect()
}

/// As [`wrapped`], but lines after the first keep the indentation of `text`.
pub fn hanging(text: &str, indent: &str, columns: impl Into<usize>, style: Style) -> Lines {
    let pieces = wrap::hanging(text, columns.into()).into_iter();
    pieces.map(|piece| Line::styled(format!("{indent}{piece}"), style)).collect()
}

/// Puts the cursor of the terminal at a column of a row, or at the end of the row if that is nearer.
pub fn place_cursor(frame: &mut Frame<'_>, row: Rect, column: usize) {
    let x = row.x.saturating_add(cells(column)).min(row.right().saturating_sub(1));
    frame.set_cursor_position((x, row.y));
}

/// Byte ranges of the matches of `wanted` in a text. Lowercase letters match capitals unless `wanted` contains a
/// capital.
pub fn matches(text: &str, wanted: &str) -> Vec<Range<usize>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let exact = wanted.chars().any(char::is_uppercase);
    if exact || text.is_ascii() {
        let folded = if exact { None } else { Some(text.to_ascii_lowercase()) };
        let text = folded.as_deref().unwrap_or(text);
        return text.match_indices(wanted).map(|(at, found)| at..at + found.len()).collect();
    }
    // Upper and lower case of a letter may differ in length, so byte positions cannot be transferred between them.
    let starts: Vec<(usize, char)> =
        text.char_indices().flat_map(|(at, c)| c.to_lowercase().map(move |small| (at, small))).collect();
    let wanted: Vec<char> = wanted.chars().collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    for (number, window) in starts.windows(wanted.len()).enumerate() {
        let start = window.first().map_or(0, |(at, _)| *at);
        let is_free = found.last().is_none_or(|last| start >= last.end);
        if is_free && window.iter().map(|(_, c)| c).eq(wanted.iter()) {
            let last = window.last().map_or(start, |(at, _)| *at);
            let after = starts.iter().skip(number + wanted.len()).map(|(at, _)| *at).find(|at| *at > last);
            found.push(start..after.unwrap_or(text.len()));
        }
    }
    found
}

/// A line with styles over ranges of its text, which are in order, and a span after some of them.
pub fn marked(line: &Line<'static>, marks: &[(Range<usize>, Style, Option<Span<'static>>)]) -> Line<'static> {
    let mut spans = Vec::with_capacity(line.spans.len() + marks.len() * 3);
    let mut start = 0;
    for span in &line.spans {
        let end = start + span.content.len();
        let mut at = start;
        for (range, style, behind) in marks.iter().filter(|(range, ..)| range.start < end && start < range.end) {
            let (from, to) = (range.start.max(start), range.end.min(end));
            let mut push = |from: usize, to: usize, style| {
                if let Some(text) = span.content.get(from - start..to - start).filter(|text| !text.is_empty()) {
                    spans.push(Span::styled(text.to_owned(), style));
                }
            };
            push(at, from, span.style);
            push(from, to, span.style.patch(*style));
            if range.end <= end {
                spans.extend(behind.clone());
            }
            at = to;
        }
        if let Some(rest) = span.content.get(at - start..).filter(|rest| !rest.is_empty()) {
            spans.push(Span::styled(rest.to_owned(), span.style));
        }
        start = end;
    }
    Line { spans, ..line.clone() }
}

/// The spans of a part of a text that starts `cut` characters from the start of the text. The characters at the sorted
/// positions `hits` have another style.
pub fn mark_characters(part: &str, cut: usize, hits: &[usize], plain: Style, hit: Style) -> Vec<Span<'static>> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut position = cut;
    for cluster in part.graphemes(true) {
        let next = position + cluster.chars().count();
        let style = if (position..next).any(|at| hits.binary_search(&at).is_ok()) { hit } else { plain };
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(cluster),
            _ => spans.push(Span::styled(cluster.to_owned(), style)),
        }
        position = next;
    }
    spans
}

/// A line with spans at the left and at the right edge.
pub fn spread(mut left: Vec<Span<'static>>, right: Vec<Span<'static>>, columns: usize) -> Line<'static> {
    let used: usize = left.iter().chain(&right).map(|span| width::columns(&span.content)).sum();
    left.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
    left.extend(right);
    Line::from(left)
}

/// A row of a list, filled to its edge if it is selected. The pointer before the row has the first columns.
pub fn list_row(selected: bool, row: Line<'static>, columns: usize, theme: &Theme) -> Line<'static> {
    let background = if selected { theme.style(Role::Selection) } else { Style::default() };
    let pointer = Span::styled(if selected { "▸ " } else { "  " }, theme.style(Role::Accent));
    let spans = std::iter::once(pointer).chain(row.spans).map(|span| span.patch_style(background));
    let mut line = Line::from_iter(spans);
    fill(&mut line, columns, background);
    line
}

/// Fills a line with spaces of that style to `columns` columns, so that its background reaches the edge: a paragraph
/// colours only its text.
pub fn fill(line: &mut Line<'static>, columns: usize, style: Style) {
    let used: usize = line.spans.iter().map(|span| width::columns(&span.content)).sum();
    if used < columns {
        line.spans.push(Span::styled(" ".repeat(columns - used), style));
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn styles_follow_the_text_over_a_break() {
        let (red, plain) = (Style::default().fg(Color::Red), Style::default());
        let mut text = StyledText::new();
        text.push("all ", plain);
        text.push("hands on", red);
        text.push(" deck", plain);
        let lines = text.wrap(10);
        assert_eq!(lines[0], Line::from(vec![Span::styled("all ", plain), Span::styled("hands", red)]));
        assert_eq!(lines[1], Line::from(vec![Span::styled("on", red), Span::styled(" deck", plain)]));
    }

    #[test]
    fn what_is_pushed_is_made_safe() {
        let mut text = StyledText::new();
        text.push("a\x1b[2J\tb\nc", Style::default());
        assert_eq!(text.text(), "a␛[2J b\nc");
        assert_eq!(text.wrap(20).len(), 2);
        assert_eq!(text.columns(), 7);
    }

    #[test]
    fn an_empty_text_is_one_empty_line() {
        assert_eq!(StyledText::new().wrap(10), vec![Line::from(Vec::<Span>::new())]);
    }

    #[test]
    fn small_letters_match_capitals_and_capitals_only_themselves() {
        assert_eq!(matches("Berth and berth", "berth"), [0..5, 10..15]);
        assert_eq!(matches("Berth and Berth", "Berth"), [0..5, 10..15]);
        assert_eq!(matches("berth and berth", "Berth").len(), 0);
        assert_eq!(matches("Übung übung", "übung"), [0..6, 7..13]);
        assert_eq!(matches("İx x", "x"), [2..3, 4..5]);
        assert!(matches("anything", "").is_empty());
    }

    #[test]
    fn a_mark_may_begin_in_one_span_and_end_in_another() {
        let (red, mark) = (Style::new().fg(Color::Red), Style::new().bg(Color::Blue));
        let line = Line::from(vec![Span::raw("héllo "), Span::styled("world", red)]);
        let text = line.to_string();
        let range = text.find("lo w").map(|at| at..at + 4).unwrap();
        let found = marked(&line, &[(range, mark, Some(Span::raw("!")))]);
        let pieces: Vec<(&str, Style)> = found.spans.iter().map(|span| (&*span.content, span.style)).collect();
        let plain = Style::new();
        assert_eq!(pieces, [("hél", plain), ("lo ", mark), ("w", red.patch(mark)), ("!", plain), ("orld", red)]);
    }
}
