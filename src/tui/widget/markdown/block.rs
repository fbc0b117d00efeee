//! Renders one top-level Markdown block with its content.

use pulldown_cmark::{Alignment, BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

use super::{RenderContext, options};
use crate::tui::prelude::*;

/// Bullets by depth of the list, repeated.
const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];

/// Renders `source`, one block and the link definitions that follow it.
pub(super) fn render(source: &str, look: &RenderContext<'_>) -> Lines {
    let mut writer = Writer::new(look);
    let (mut depth, mut covered) = (0usize, 0usize);
    let parser = Parser::new_ext(source, options());
    // Definitions inside quotes and lists are not between blocks.
    let mut inside: Vec<Range<usize>> =
        parser.reference_definitions().iter().map(|(_, known)| known.span.clone()).collect();
    inside.sort_by_key(|span| std::cmp::Reverse(span.start));
    for (event, range) in parser.into_offset_iter() {
        let place = if matches!(event, Event::End(_)) { range.end } else { range.start };
        while let Some(span) = inside.pop_if(|span| span.end <= place) {
            if depth > 0 {
                writer.definitions(source.get(span).unwrap_or(""));
            }
        }
        if depth == 0 {
            writer.definitions(source.get(covered..range.start).unwrap_or(""));
            covered = covered.max(range.end);
        }
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        writer.event(event);
    }
    writer.flush();
    writer.definitions(source.get(covered..).unwrap_or(""));
    writer.page.lines
}

enum Verbatim {
    Code { info: String, text: String },
    Html { text: String },
}

struct Writer<'a> {
    look: &'a RenderContext<'a>,
    page: MarkdownPage,
    /// The collected inline text, and the current styles, the innermost last.
    text: StyledText,
    styles: Vec<Style>,
    /// The next number of each open list. `None` for bullets.
    lists: Vec<Option<u64>>,
    /// Whether each open item contains paragraphs, which are separated by blank lines.
    loose: Vec<bool>,
    /// Targets of open links, with the length of the text before them.
    links: Vec<(String, usize)>,
    verbatim: Option<Verbatim>,
    table: Option<Table>,
}

impl<'a> Writer<'a> {
    fn new(look: &'a RenderContext<'a>) -> Self {
        Self {
            look,
            page: MarkdownPage::new(look.width),
            text: StyledText::new(),
            styles: vec![look.theme.style(Role::Text)],
            lists: Vec::new(),
            loose: Vec::new(),
            links: Vec::new(),
            verbatim: None,
            table: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.words(&text),
            Event::Code(text) => {
                let style = self.style().patch(self.look.theme.style(Role::MarkdownCode));
                self.text.push(&text.replace('\n', " "), style);
            }
            Event::Html(text) => match &mut self.verbatim {
                Some(Verbatim::Html { text: all }) => all.push_str(&text),
                _ => self.words(&text),
            },
            Event::InlineHtml(text) => self.muted(&text),
            Event::SoftBreak => self.words(" "),
            Event::HardBreak => self.words("\n"),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => self.task(done),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.words(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                if let Some(loose) = self.loose.last_mut() {
                    *loose = true;
                }
            }
            Tag::Heading { level, .. } => self.start_heading(level),
            Tag::BlockQuote(kind) => self.start_quote(kind),
            Tag::CodeBlock(kind) => self.start_code(kind),
            Tag::HtmlBlock => {
                self.flush();
                self.verbatim = Some(Verbatim::Html { text: String::new() });
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead => {
                self.new_row();
                self.push_style(Role::MarkdownStrong, Modifier::BOLD);
            }
            Tag::TableRow => self.new_row(),
            Tag::Emphasis => self.push_style(Role::MarkdownEmphasis, Modifier::empty()),
            Tag::Strong => self.push_style(Role::MarkdownStrong, Modifier::BOLD),
            Tag::Strikethrough => self.push_style(Role::Text, Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.push_style(Role::MarkdownLink, Modifier::empty());
                self.links.push((dest_url.to_string(), self.text.text().len()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_block(),
            TagEnd::Heading(_) | TagEnd::BlockQuote(_) => {
                self.end_block();
                self.page.close();
                self.styles.pop();
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => self.end_verbatim(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.page.gap = true;
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.page.block(table.render(self.page.text_columns(), self.look));
                }
            }
            TagEnd::TableHead | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn start_code(&mut self, kind: CodeBlockKind<'_>) {
        self.flush();
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.into_string(),
            CodeBlockKind::Indented => String::new(),
        };
        let text = String::new();
        self.verbatim = Some(Verbatim::Code { info, text });
    }

    fn start_heading(&mut self, level: HeadingLevel) {
        self.flush();
        let mark = format!("{} ", "#".repeat(level as usize));
        self.page.start_block();
        self.open(&mark, &" ".repeat(mark.len()));
        self.push_style(Role::MarkdownHeading, Modifier::empty());
    }

    fn start_quote(&mut self, kind: Option<BlockQuoteKind>) {
        self.flush();
        self.page.start_block();
        self.open("▌ ", "▌ ");
        self.push_style(Role::MarkdownQuote, Modifier::empty());
        let label = match kind {
            None => return,
            Some(BlockQuoteKind::Note) => "Note",
            Some(BlockQuoteKind::Tip) => "Tip",
            Some(BlockQuoteKind::Important) => "Important",
            Some(BlockQuoteKind::Warning) => "Warning",
            Some(BlockQuoteKind::Caution) => "Caution",
        };
        self.page.line(Line::styled(label, self.look.theme.style(Role::Warning)));
    }

    fn start_item(&mut self) {
        self.page.start_block();
        let depth = self.lists.len().saturating_sub(1);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => BULLETS.get(depth % BULLETS.len()).copied().unwrap_or("• ").to_owned(),
        };
        self.open(&mark, &" ".repeat(width::columns(&mark)));
        self.loose.push(false);
    }

    fn end_item(&mut self) {
        self.flush();
        self.page.close();
        self.page.gap = self.loose.pop().unwrap_or(false);
    }

    /// Replaces the bullet of an item with a box.
    fn task(&mut self, done: bool) {
        let mark = if done { "☑ " } else { "☐ " };
        if !self.page.replace_mark(mark) {
            self.words(mark);
        }
    }

    fn end_link(&mut self) {
        self.styles.pop();
        let Some((url, start)) = self.links.pop() else { return };
        let label = self.text.text().get(start..).unwrap_or("");
        let shown = url.trim_start_matches("mailto:");
        if !url.is_empty() && label != shown && label != url {
            let space = if label.is_empty() { "" } else { " " };
            self.muted(&format!("{space}({url})"));
        }
    }

    fn end_verbatim(&mut self) {
        let lines = match self.verbatim.take() {
            None => return,
            Some(Verbatim::Code { info, text }) => render_code(&info, &text, self.page.text_columns(), self.look),
            Some(Verbatim::Html { text }) => {
                let mut muted = StyledText::new();
                muted.push(text.trim_end_matches('\n'), self.look.theme.style(Role::Muted));
                muted.wrap(self.page.text_columns())
            }
        };
        self.page.block(lines);
    }

    fn new_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn rule(&mut self) {
        self.flush();
        let rule = Line::styled("─".repeat(self.page.text_columns()), self.look.theme.style(Role::Border));
        self.page.block(vec![rule]);
    }

    /// Renders link definitions as written, since they may be the only sign of a link's target.
    fn definitions(&mut self, between: &str) {
        let mut text = StyledText::new();
        text.push(between.trim(), self.look.theme.style(Role::Muted));
        if text.text().starts_with('[') {
            let lines = text.wrap(self.page.text_columns());
            self.page.block(lines);
        }
    }

    fn words(&mut self, words: &str) {
        match &mut self.verbatim {
            Some(Verbatim::Code { text, .. } | Verbatim::Html { text }) => text.push_str(words),
            None => self.text.push(words, self.style()),
        }
    }

    fn muted(&mut self, text: &str) {
        let style = self.style().patch(self.look.theme.style(Role::Muted));
        self.text.push(text, style);
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    /// Adds the style of a role to the current one. `Role::Text` only adds the attribute.
    fn push_style(&mut self, role: Role, attribute: Modifier) {
        let over = if role == Role::Text { Style::default() } else { self.look.theme.style(role) };
        self.styles.push(self.style().patch(over).add_modifier(attribute));
    }

    fn open(&mut self, first: &str, rest: &str) {
        let style = self.look.theme.style(Role::MarkdownMark);
        self.page.open(first, rest, style);
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.page.start_block();
            for line in text.wrap(self.page.text_columns()) {
                self.page.line(line);
            }
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.page.gap = true;
    }
}

/// Columns that must remain for text; containers nested deeper get no mark and no indentation any more.
const MIN_TEXT_COLUMNS: usize = 8;

struct Prefix {
    /// Before its first line, and before the others; both have the same width.
    first: Span<'static>,
    rest: Span<'static>,
    used: bool,
}

pub(super) struct MarkdownPage {
    width: usize,
    lines: Lines,
    prefixes: Vec<Prefix>,
    /// Whether the next block is preceded by a blank line.
    gap: bool,
}

impl MarkdownPage {
    pub(super) fn new(width: usize) -> Self {
        Self { width, lines: Vec::new(), prefixes: Vec::new(), gap: false }
    }

    /// Opens a container that puts `first` before its first line and `rest` before the others.
    pub(super) fn open(&mut self, first: &str, rest: &str, style: Style) {
        let fits = self.text_columns() >= width::columns(first) + MIN_TEXT_COLUMNS;
        let span = |text: &str| {
            if fits { Span::styled(text.to_owned(), style) } else { Span::default() }
        };
        self.prefixes.push(Prefix { first: span(first), rest: span(rest), used: false });
    }

    /// Closes the innermost container. An empty one still shows its mark.
    pub(super) fn close(&mut self) {
        if self.prefixes.last().is_some_and(|prefix| !prefix.used) {
            self.line(Line::default());
        }
        self.prefixes.pop();
    }

    /// Replaces the mark of the innermost container before its first line.
    pub(super) fn replace_mark(&mut self, mark: &'static str) -> bool {
        let same = |prefix: &&mut Prefix| !prefix.used && width::columns(&prefix.first.content) == width::columns(mark);
        self.prefixes.last_mut().filter(same).map(|prefix| prefix.first.content = mark.into()).is_some()
    }

    /// The columns for text.
    pub(super) fn text_columns(&self) -> usize {
        let taken: usize = self.prefixes.iter().map(|prefix| width::columns(&prefix.first.content)).sum();
        self.width.saturating_sub(taken).max(1)
    }

    /// Starts a block: writes the empty line that is due. A container that has written nothing yet starts with its
    /// content instead.
    pub(super) fn start_block(&mut self) {
        if std::mem::take(&mut self.gap) && self.prefixes.iter().all(|prefix| prefix.used) {
            self.line(Line::default());
        }
    }

    pub(super) fn block(&mut self, lines: Lines) {
        self.start_block();
        for line in lines {
            self.line(line);
        }
        self.gap = true;
    }

    pub(super) fn line(&mut self, line: Line<'static>) {
        let mut spans = Vec::with_capacity(self.prefixes.len() + line.spans.len());
        for prefix in &mut self.prefixes {
            let span = if prefix.used { &prefix.rest } else { &prefix.first };
            prefix.used = true;
            spans.push(span.clone());
        }
        spans.extend(line.spans);
        // Trailing indentation is removed, unless it has a background colour.
        while spans.last().is_some_and(|span| span.content.trim().is_empty() && span.style.bg.is_none()) {
            spans.pop();
        }
        self.lines.push(Line::from(spans).style(line.style));
    }
}

/// The bar before a line of code, and before what is carried over from the line above.
const BAR: &str = "│ ";
const CARRIED: &str = "│↪";

/// The lines of a code block in `columns` columns. `info` is the info string of its fence.
pub(super) fn render_code(info: &str, code: &str, columns: usize, look: &RenderContext<'_>) -> Lines {
    let background = look.theme.style(Role::CodeBg);
    let plain = look.theme.style(Role::Text).patch(background);
    let mark = background.patch(look.theme.style(Role::Border));
    let info = sanitize::visible_line(info.trim());
    let mut lines = Vec::new();
    if !info.is_empty() {
        let label = width::clip(&info, columns.saturating_sub(BAR.chars().count())).into_owned();
        let label = Span::styled(label, background.patch(look.theme.style(Role::Muted)));
        lines.push(Line::from(vec![Span::styled("╭ ", mark), label]));
    }
    let safe: Vec<_> = code.strip_suffix('\n').unwrap_or(code).split('\n').map(sanitize::visible_line).collect();
    let language = info.split([' ', ',', '{']).next().unwrap_or("");
    let mut coloured = (look.code)(language, &safe.join("\n")).into_iter();
    let available = columns.saturating_sub(2).max(1);
    for line in &safe {
        let text = styled(line, coloured.next(), plain);
        for (index, mut piece) in text.hard_wrap(available).into_iter().enumerate() {
            let bar = if index == 0 { BAR } else { CARRIED };
            piece.spans.insert(0, Span::styled(bar, mark));
            lines.push(piece);
        }
    }
    for line in &mut lines {
        fill(line, columns, background);
    }
    lines
}

/// A line with its colours, or plain if they do not match.
fn styled(line: &str, pieces: Option<Vec<(String, Style)>>, plain: Style) -> StyledText {
    let mut text = StyledText::new();
    for (piece, style) in pieces.unwrap_or_default() {
        text.push(&piece, plain.patch(style));
    }
    if text.text() != line {
        text = StyledText::new();
        text.push(line, plain);
    }
    text
}

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
    pub(super) fn render(&self, columns: usize, look: &RenderContext<'_>) -> Lines {
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
        let available = columns.checked_sub(width::columns(BETWEEN) * count.saturating_sub(1))?;
        // Limits the widest columns: the highest limit at which all fit together.
        let total = |limit: usize| widths.iter().map(|width| (*width).min(limit)).sum::<usize>();
        let widest = widths.iter().copied().max()?;
        let limit = if total(widest) <= available {
            widest
        } else {
            (MIN_COLUMN_WIDTH..widest.min(available + 1)).rev().find(|limit| total(*limit) <= available)?
        };
        let mut left = available.saturating_sub(total(limit));
        for width in &mut widths {
            let extra = width.saturating_sub(limit).min(left);
            *width = (*width).min(limit) + extra;
            left -= extra;
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize], look: &RenderContext<'_>) -> Lines {
        let mark = look.theme.style(Role::Border);
        let rows: Vec<Lines> = self.rows.iter().map(|row| self.row(row, widths, look)).collect();
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

    fn row(&self, cells: &[StyledText], widths: &[usize], look: &RenderContext<'_>) -> Lines {
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
    fn fields(&self, columns: usize, look: &RenderContext<'_>) -> Lines {
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

fn trim_end(mut line: Line<'static>) -> Line<'static> {
    while line.spans.last().is_some_and(|span| span.content.trim_matches(' ').is_empty()) {
        line.spans.pop();
    }
    line
}
