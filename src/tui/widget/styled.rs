//! Styled text that can be wrapped, cut and converted to lines of the screen.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use rhumb_text::{sanitize, width, wrap};

/// A text and its styles. Everything pushed is made safe to draw; line feeds stay and end lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledText {
    text: String,
    /// End byte and style of each stretch, in order, without gaps.
    runs: Vec<(usize, Style)>,
}

impl StyledText {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `text` at the end. Tabs become single spaces here; expand them first where columns matter.
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

    /// Adds another styled text at the end.
    pub fn append(&mut self, other: &Self) {
        let before = self.text.len();
        self.text.push_str(&other.text);
        self.runs.extend(other.runs.iter().map(|(end, style)| (before + end, *style)));
    }

    /// The text without its styles.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Columns of its widest line.
    pub fn columns(&self) -> usize {
        self.text.split('\n').map(width::columns).max().unwrap_or(0)
    }

    /// The styled pieces of a byte range. Ends outside the text or inside a character give nothing.
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

    /// The text word-wrapped to `columns` columns, as lines of the screen; at least one.
    pub fn wrap(&self, columns: usize) -> Vec<Line<'static>> {
        self.lines(|line| wrap::wrap(line, columns))
    }

    /// The text cut at exactly `columns` columns with nothing dropped, as lines of the screen; at least one.
    pub fn hard_wrap(&self, columns: usize) -> Vec<Line<'static>> {
        self.lines(|line| wrap::hard_wrap(line, columns))
    }

    fn lines(&self, pieces: impl Fn(&str) -> Vec<Range<usize>>) -> Vec<Line<'static>> {
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
}
