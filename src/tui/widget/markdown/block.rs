//! One top-level Markdown block, with all that it holds, as lines.

use std::ops::Range;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::page::Page;
use super::table::Table;
use super::{Look, code, options};
use crate::tui::theme::Role;
use crate::tui::widget::styled::StyledText;
use rhumb_text::width;

/// Bullets by depth of the list, repeated.
const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];

/// Renders `source`, one block and the link definitions that follow it.
pub(super) fn render(source: &str, look: &Look<'_>) -> Vec<Line<'static>> {
    let mut writer = Writer::new(look);
    let (mut depth, mut covered) = (0usize, 0usize);
    let parser = Parser::new_ext(source, options());
    // Those inside of quotes and lists stand in no gap between blocks.
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
    writer.page.into_lines()
}

/// The code or HTML being collected.
enum Verbatim {
    Code { info: String, text: String },
    Html { text: String },
}

struct Writer<'a> {
    look: &'a Look<'a>,
    page: Page,
    /// The inline text being collected, and the styles in force, the innermost last.
    text: StyledText,
    styles: Vec<Style>,
    /// The next number of each open list; none for bullets.
    lists: Vec<Option<u64>>,
    /// For each open item, whether it holds paragraphs: such lists are set with space between.
    loose: Vec<bool>,
    /// Targets of open links, with the bytes of text before them.
    links: Vec<(String, usize)>,
    verbatim: Option<Verbatim>,
    table: Option<Table>,
}

impl<'a> Writer<'a> {
    fn new(look: &'a Look<'a>) -> Self {
        Self {
            look,
            page: Page::new(look.width),
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
            inline => self.start_inline(inline),
        }
    }

    fn start_inline(&mut self, tag: Tag<'_>) {
        match tag {
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
                self.page.set_gap(true);
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => self.end_table(),
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
        self.page.set_gap(self.loose.pop().unwrap_or(false));
    }

    /// Puts a box in the place of the item's bullet.
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
            Some(Verbatim::Code { info, text }) => code::render(&info, &text, self.page.room(), self.look),
            Some(Verbatim::Html { text }) => {
                let mut muted = StyledText::new();
                muted.push(text.trim_end_matches('\n'), self.look.theme.style(Role::Muted));
                muted.wrap(self.page.room())
            }
        };
        self.page.block(lines);
    }

    fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            let lines = table.render(self.page.room(), self.look);
            self.page.block(lines);
        }
    }

    fn new_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn rule(&mut self) {
        self.flush();
        let rule = Line::styled("─".repeat(self.page.room()), self.look.theme.style(Role::Border));
        self.page.block(vec![rule]);
    }

    /// Link definitions make no block and might be all that tells where a link leads: shown as written.
    fn definitions(&mut self, between: &str) {
        let mut text = StyledText::new();
        text.push(between.trim(), self.look.theme.style(Role::Muted));
        if text.text().starts_with('[') {
            let lines = text.wrap(self.page.room());
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

    /// Lays the style of a role over the one in force; `Role::Text` only adds the attribute.
    fn push_style(&mut self, role: Role, attribute: Modifier) {
        let over = if role == Role::Text { Style::default() } else { self.look.theme.style(role) };
        self.styles.push(self.style().patch(over).add_modifier(attribute));
    }

    fn open(&mut self, first: &str, rest: &str) {
        let style = self.look.theme.style(Role::MarkdownMark);
        self.page.open(first, rest, style);
    }

    /// Writes the text collected so far.
    fn flush(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.page.start_block();
            for line in text.wrap(self.page.room()) {
                self.page.line(line);
            }
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.page.set_gap(true);
    }
}
