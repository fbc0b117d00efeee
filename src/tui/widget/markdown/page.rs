//! Where lines go: the marks and indentation of the containers around them, and the empty lines between blocks.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use rhumb_text::width;

/// Columns that must remain for text; containers nested deeper get no mark and no indentation any more.
const LEAST_ROOM: usize = 8;

/// What a container puts before its lines.
struct Prefix {
    /// Before its first line, and before all others: of the same width.
    first: Span<'static>,
    rest: Span<'static>,
    used: bool,
}

/// The lines written so far and the containers open at their end.
pub(super) struct Page {
    /// Columns.
    width: usize,
    lines: Vec<Line<'static>>,
    prefixes: Vec<Prefix>,
    /// A block has ended, so that the next one wants an empty line before it.
    gap: bool,
}

impl Page {
    pub(super) fn new(width: usize) -> Self {
        Self { width, lines: Vec::new(), prefixes: Vec::new(), gap: false }
    }

    pub(super) fn into_lines(self) -> Vec<Line<'static>> {
        self.lines
    }

    /// Opens a container that puts `first` before its first line and `rest`, of the same width, before the others.
    pub(super) fn open(&mut self, first: &str, rest: &str, style: Style) {
        let fits = self.room() >= width::columns(first) + LEAST_ROOM;
        let span = |text: &str| {
            if fits { Span::styled(text.to_owned(), style) } else { Span::default() }
        };
        self.prefixes.push(Prefix { first: span(first), rest: span(rest), used: false });
    }

    /// Closes the innermost container. One that has written nothing still shows its mark.
    pub(super) fn close(&mut self) {
        if self.prefixes.last().is_some_and(|prefix| !prefix.used) {
            self.line(Line::default());
        }
        self.prefixes.pop();
    }

    /// Puts another mark of the same width before the first line of the innermost container, if that is still to come.
    pub(super) fn replace_mark(&mut self, mark: &'static str) -> bool {
        let same = |prefix: &&mut Prefix| !prefix.used && width::columns(&prefix.first.content) == width::columns(mark);
        self.prefixes.last_mut().filter(same).map(|prefix| prefix.first.content = mark.into()).is_some()
    }

    /// Columns left for text by the containers.
    pub(super) fn room(&self) -> usize {
        let taken: usize = self.prefixes.iter().map(|prefix| width::columns(&prefix.first.content)).sum();
        self.width.saturating_sub(taken).max(1)
    }

    /// Whether the next block wants an empty line before it.
    pub(super) fn set_gap(&mut self, gap: bool) {
        self.gap = gap;
    }

    /// Starts a block: writes the empty line that is due. A container that has written nothing yet starts with its
    /// content instead.
    pub(super) fn start_block(&mut self) {
        if std::mem::take(&mut self.gap) && self.prefixes.iter().all(|prefix| prefix.used) {
            self.line(Line::default());
        }
    }

    /// Writes a whole block.
    pub(super) fn block(&mut self, lines: Vec<Line<'static>>) {
        self.start_block();
        for line in lines {
            self.line(line);
        }
        self.gap = true;
    }

    /// Writes a line behind the marks of its containers.
    pub(super) fn line(&mut self, line: Line<'static>) {
        let mut spans = Vec::with_capacity(self.prefixes.len() + line.spans.len());
        for prefix in &mut self.prefixes {
            let span = if prefix.used { &prefix.rest } else { &prefix.first };
            prefix.used = true;
            spans.push(span.clone());
        }
        spans.extend(line.spans);
        // Indentation before nothing is nothing, but a coloured ground is something.
        while spans.last().is_some_and(|span| span.content.trim().is_empty() && span.style.bg.is_none()) {
            spans.pop();
        }
        self.lines.push(Line::from(spans).style(line.style));
    }
}
