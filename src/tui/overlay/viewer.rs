//! Text viewers: plain text, and a long text in colours with sections and a search, of which only the visible lines are wrapped
//! and coloured.

use std::collections::HashMap;

use rhumb_llm::Image;
use rhumb_session::context::{Prompt, Section, SectionKind};

use super::{Overlay, OverlayContext, Reply, centred, inner_area, scroll_by, window};
use crate::tui::coloring::pieces;
use crate::tui::prelude::*;

#[derive(Debug, Default)]
pub struct TextView {
    title: String,
    lines: Vec<String>,
    wrapped: Vec<String>,
    width: u16,
    window: ListWindow,
    table: bool,
}

impl TextView {
    pub fn new(title: &str, text: &str) -> Self {
        let lines = text.lines().map(|line| sanitize::visible_line(line).into_owned()).collect();
        Self { title: format!(" {title} "), lines, ..Self::default() }
    }

    /// Each line is a row of a table, whose last column is wrapped below itself.
    pub fn table(mut self) -> Self {
        self.table = true;
        self
    }

    fn area(screen: Rect) -> Rect {
        centred(screen, screen.width.saturating_sub(4).min(110), screen.height.saturating_sub(2))
    }

    fn rewrap(&mut self, width: u16) {
        if self.width == width {
            return;
        }
        self.width = width;
        let columns = usize::from(width.max(1));
        let plain = |line: &str| wrap::wrap(line, columns).into_iter().map(|range| line[range].to_owned()).collect();
        let pieces = |line: &String| {
            if self.table { wrap::hanging(line, columns) } else { plain(line) }
        };
        self.wrapped = self.lines.iter().flat_map(pieces).collect();
        self.window.set_len(self.wrapped.len());
    }
}

impl Overlay for TextView {
    fn closes_by(&self, action: Action) -> bool {
        matches!(action, Action::ViewPrompt | Action::Help | Action::HelpHere | Action::ContextView)
    }

    fn key(&mut self, key: KeyEvent) -> Reply {
        match key::name(key).as_str() {
            "Esc" | "q" | "Enter" => return Reply::Close,
            name => scroll_by(name, self.window.visible().len()).into_iter().for_each(|by| self.window.scroll(by)),
        }
        Reply::Stay
    }

    fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let inner = inner_area(Self::area(screen));
        self.rewrap(inner.width);
        self.window.set_height(usize::from(inner.height.saturating_sub(1)));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let inner = window(frame, Self::area(screen), &self.title, theme);
        let visible = self.window.visible();
        let mut lines: Vec<Line<'_>> =
            self.wrapped[visible.clone()].iter().map(|line| Line::raw(line.as_str())).collect();
        lines.resize_with(usize::from(inner.height.saturating_sub(1)), Line::default);
        let hint = format!("j k scroll · Esc closes · {} of {} lines", visible.end, self.wrapped.len());
        lines.push(Line::styled(hint, theme.style(Role::Muted)));
        frame.render_widget(Paragraph::new(lines), inner);
    }
}

/// Longest line that is coloured and searched for marks, in bytes.
const MAX_MARKED_LINE_BYTES: usize = 8_000;

#[derive(Debug, Default)]
pub struct SectionView {
    title: String,
    sections: Vec<TextSection>,
    starts: Vec<usize>,
    width: usize,
    top: usize,
    rows: usize,
    /// The initial section, until the first layout.
    begin: Option<usize>,
    search: Search,
}

#[derive(Debug, Default)]
struct TextSection {
    /// The lines above its text.
    head: Vec<String>,
    text: String,
    title: String,
    /// Its language, and the bytes in that language.
    language: Option<(LanguageName, Range<usize>)>,
    /// The first row of each line at the measured width.
    rows: Vec<usize>,
}

#[derive(Debug, PartialEq, Eq)]
enum LanguageName {
    Path(String),
    /// By the name after a Markdown fence.
    Named(&'static str),
}

#[derive(Debug, Default)]
struct Search {
    input: LineInput,
    typing: bool,
    /// TextSection and line of each match.
    hits: Vec<(usize, usize)>,
    at: Option<usize>,
}

impl SectionView {
    /// A unified diff, a section for each file.
    pub fn diff(title: &str, diff: &str) -> Self {
        Self::new(title, diff_sections(diff), None)
    }

    /// The next request as it will be sent, starting at a chunk.
    pub fn request(prompt: &Prompt, chunk: Option<usize>) -> Self {
        let (sections, begin) = request_sections(prompt, chunk);
        Self::new("the next request", sections, begin)
    }

    fn new(title: &str, sections: Vec<TextSection>, begin: Option<usize>) -> Self {
        Self { title: title.to_owned(), sections, rows: 10, begin, ..Self::default() }
    }

    fn search_key(&mut self, key: KeyEvent) {
        match key.code {
            KeyCode::Esc => self.search = Search::default(),
            KeyCode::Enter => self.search.typing = false,
            KeyCode::Backspace if self.search.input.text().is_empty() => self.search = Search::default(),
            _ => {
                self.search.input.key(key);
                self.find();
            }
        }
    }

    /// Searches for the query, and shows the first match from the top of the view on.
    fn find(&mut self) {
        let wanted = self.search.input.text();
        let in_section = |(number, section): (usize, &TextSection)| {
            let found = lines::split(&section.text)
                .into_iter()
                .enumerate()
                .filter(|(_, line)| !matches(line, wanted).is_empty());
            found.map(|(line, _)| (number, line)).collect::<Vec<_>>()
        };
        let hits: Vec<(usize, usize)> = if wanted.is_empty() {
            Vec::new()
        } else {
            self.sections.iter().enumerate().flat_map(in_section).collect()
        };
        self.search.at = hits.iter().position(|hit| self.row_of(*hit) >= self.top).or((!hits.is_empty()).then_some(0));
        self.search.hits = hits;
        self.show_hit();
    }

    fn next_hit(&mut self, forward: bool) {
        let count = self.search.hits.len();
        if let Some(at) = self.search.at.filter(|_| count > 0) {
            self.search.at = Some((at + if forward { 1 } else { count - 1 }) % count);
            self.show_hit();
        }
    }

    /// Shows the current match, a third from the top unless it is visible.
    fn show_hit(&mut self) {
        let Some(hit) = self.search.at.and_then(|at| self.search.hits.get(at)) else { return };
        let row = self.row_of(*hit);
        if !(self.top..self.top + self.rows).contains(&row) {
            self.top = row.saturating_sub(self.rows / 3);
        }
    }

    fn row_of(&self, (section, line): (usize, usize)) -> usize {
        let start = self.starts.get(section).copied().unwrap_or(0);
        let own = self
            .sections
            .get(section)
            .map_or(0, |section| section.head.len() + section.rows.get(line).copied().unwrap_or(0));
        start + own
    }

    fn current(&self) -> usize {
        self.starts
            .partition_point(|start| *start <= self.top)
            .saturating_sub(1)
            .min(self.sections.len().saturating_sub(1))
    }

    fn jump(&mut self, forward: bool) {
        let current = self.current();
        let at_start = self.starts.get(current).is_some_and(|start| *start == self.top);
        let to = match (forward, at_start) {
            (true, _) => current + 1,
            (false, true) => current.saturating_sub(1),
            (false, false) => current,
        };
        if let Some(start) = self.starts.get(to.min(self.sections.len().saturating_sub(1))) {
            self.top = *start;
        }
    }

    fn area(screen: Rect) -> Rect {
        centred(screen, screen.width.saturating_sub(4).min(130), screen.height.saturating_sub(2))
    }

    fn row_count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Computes the rows for a width. Lines that certainly fit are not wrapped.
    fn measure(&mut self, columns: usize) {
        if self.width == columns {
            return;
        }
        let held = self.current();
        let had_width = self.width > 0;
        self.width = columns;
        let mut start = 0;
        self.starts.clear();
        for section in &mut self.sections {
            self.starts.push(start);
            let mut row = 0;
            section.rows.clear();
            for line in lines::split(&section.text) {
                section.rows.push(row);
                row += height(lines::body(line), columns);
            }
            start += section.head.len() + row;
        }
        self.starts.push(start);
        if let Some(begin) = self.begin.take().or(had_width.then_some(held)) {
            self.top = self.starts.get(begin).copied().unwrap_or(0);
        }
    }

    fn title(&self, columns: usize) -> String {
        let current = self.current();
        let part = self.sections.get(current).map_or("", |section| section.title.as_str());
        let text = format!("{} · {part} · {} of {}", self.title, current + 1, self.sections.len());
        format!(" {} ", width::clip(&sanitize::visible_line(&text), columns.saturating_sub(2)))
    }

    fn foot(&self, all: usize, columns: usize, theme: &Theme) -> Line<'static> {
        let search = &self.search;
        let found = match search.at {
            Some(at) => format!("  {} of {} lines", at + 1, search.hits.len()),
            None if search.input.text().is_empty() => String::new(),
            None => "  not found".to_owned(),
        };
        let typed = sanitize::visible_line(search.input.text()).into_owned();
        let text = if search.typing {
            format!("/{typed}{found}")
        } else if !typed.is_empty() {
            format!("/{typed}{found} · n N next, before · Esc ends the search")
        } else {
            let end = (self.top + self.rows).min(all);
            format!("Esc closes · / search · [ ] parts · j k scroll · {end} of {all} lines")
        };
        clipped(&text, columns, theme.style(Role::Muted))
    }

    fn visible(&self, theme: &Theme, coloring: &mut Coloring) -> Lines {
        let mut colors: HashMap<usize, Option<Colors>> = HashMap::new();
        let mut shown = Vec::new();
        let (mut number, end) = (self.current(), self.top + self.rows);
        while let (Some(section), Some(start)) = (self.sections.get(number), self.starts.get(number)) {
            if *start >= end {
                break;
            }
            let heads = section.head.iter().enumerate().filter(|(at, _)| (self.top..end).contains(&(start + at)));
            shown.extend(heads.map(|(_, head)| self.head(head, theme)));
            let of_section = colors.entry(number).or_insert_with(|| section.colors(coloring)).clone();
            let from = (self.top).saturating_sub(start + section.head.len());
            let to = end.saturating_sub(start + section.head.len());
            shown.extend(self.rows_of(number, section, from..to, of_section.as_ref(), theme));
            number += 1;
        }
        shown.truncate(self.rows);
        shown
    }

    fn head(&self, head: &str, theme: &Theme) -> Line<'static> {
        let role = if head.starts_with('━') { Role::Title } else { Role::Accent };
        clipped(&sanitize::visible_line(head), self.width, theme.style(role))
    }

    /// A range of the rows of a section's text.
    fn rows_of(
        &self,
        number: usize,
        section: &TextSection,
        rows: Range<usize>,
        colors: Option<&Colors>,
        theme: &Theme,
    ) -> Lines {
        if rows.is_empty() || section.rows.is_empty() {
            return Vec::new();
        }
        let first = section.rows.partition_point(|row| *row <= rows.start).saturating_sub(1);
        let all = lines::split(&section.text);
        let code = section.language.as_ref().map_or(0, |(_, bytes)| bytes.start);
        let skipped = section.text.get(..code).unwrap_or_default().matches('\n').count();
        let mut shown = Vec::new();
        for (at, line) in all.iter().enumerate().skip(first) {
            let start = section.rows.get(at).copied().unwrap_or(usize::MAX);
            if start >= rows.end {
                break;
            }
            let spans = at.checked_sub(skipped).and_then(|at| colors?.get(at));
            let is_current = self.search.at.and_then(|hit| self.search.hits.get(hit)) == Some(&(number, at));
            let text = self.styled(lines::body(line), spans.map_or(&[][..], Vec::as_slice), is_current, theme);
            let wrapped = text.wrap(self.width).into_iter().enumerate();
            shown.extend(wrapped.filter(|(within, _)| rows.contains(&(start + within))).map(|(_, line)| line));
        }
        shown
    }

    /// A line in its colours, with highlighted matches.
    fn styled(&self, line: &str, spans: &[rhumb_syntax::Span], is_current: bool, theme: &Theme) -> StyledText {
        let mut text = StyledText::new();
        if line.len() > MAX_MARKED_LINE_BYTES {
            text.push(&sanitize::visible_line(line), theme.style(Role::Text));
            return text;
        }
        let hits = matches(line, self.search.input.text());
        let (mut column, mut at) = (0, 0);
        for (piece, style) in pieces(line, spans, theme.style(Role::Text), theme) {
            for (part, is_hit) in split(piece, at, &hits) {
                let shown = sanitize::visible_from(part, column);
                column += width::columns(&shown);
                let mut style = if is_hit { style.patch(theme.style(Role::Search)) } else { style };
                if is_hit && is_current {
                    style = style.add_modifier(ratatui::style::Modifier::BOLD | ratatui::style::Modifier::UNDERLINED);
                }
                text.push(&shown, style);
            }
            at += piece.len();
        }
        text
    }
}

impl Overlay for SectionView {
    fn key(&mut self, key: KeyEvent) -> Reply {
        if self.search.typing {
            self.search_key(key);
            return Reply::Stay;
        }
        let page = self.rows.saturating_sub(1);
        match key::name(key).as_str() {
            "]" | "Tab" | "Right" => self.jump(true),
            "[" | "Shift-Tab" | "Left" => self.jump(false),
            "/" => self.search = Search { typing: true, ..Search::default() },
            "n" => self.next_hit(true),
            "N" => self.next_hit(false),
            "Esc" if !self.search.input.text().is_empty() => self.search = Search::default(),
            "Esc" | "q" | "Enter" => return Reply::Close,
            name => scroll_by(name, page).into_iter().for_each(|by| self.top = self.top.saturating_add_signed(by)),
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        if self.search.typing {
            self.search.input.insert(text);
            self.find();
        }
    }

    fn wheel(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by);
    }

    fn closes_by(&self, action: Action) -> bool {
        matches!(action, Action::ViewPrompt | Action::ContextView) && !self.search.typing
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let area = Self::area(screen);
        self.measure(usize::from(area.width.saturating_sub(2)).max(1));
        self.rows = usize::from(area.height.saturating_sub(3));
        self.top = self.top.min(self.row_count().saturating_sub(self.rows));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        let (area, all) = (Self::area(screen), self.row_count());
        let inner = window(frame, area, &self.title(usize::from(area.width.saturating_sub(4))), theme);
        let [body, last] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(inner);
        let lines = self.visible(theme, context.coloring);
        frame.render_widget(Paragraph::new(lines), body);
        frame.render_widget(self.foot(all, usize::from(last.width), theme), last);
        if self.search.typing {
            place_cursor(frame, last, self.search.input.cursor_column() + 1);
        }
    }
}

impl TextSection {
    fn colors(&self, coloring: &mut Coloring) -> Option<Colors> {
        let (language, bytes) = self.language.as_ref()?;
        let source = self.text.get(bytes.clone())?;
        match language {
            LanguageName::Path(path) => coloring.get(Language::Path(path), source),
            LanguageName::Named(name) => coloring.get(Language::Fence(name), source),
        }
    }
}

fn height(line: &str, columns: usize) -> usize {
    let is_plain = line.len() <= columns && line.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain { 1 } else { wrap::wrap(&sanitize::visible_line(line), columns).len().max(1) }
}

/// A part of a line, which begins at byte `start`, split at the ends of the matches.
fn split<'p>(piece: &'p str, start: usize, hits: &[Range<usize>]) -> Vec<(&'p str, bool)> {
    let (mut parts, mut at) = (Vec::new(), 0);
    for hit in hits {
        let (from, to) = (hit.start.saturating_sub(start), hit.end.saturating_sub(start).min(piece.len()));
        let (Some(before), Some(own)) = (piece.get(at..from.max(at)), piece.get(from.max(at)..to.max(at))) else {
            continue;
        };
        if own.is_empty() {
            continue;
        }
        parts.extend((!before.is_empty()).then_some((before, false)));
        parts.push((own, true));
        at = to;
    }
    parts.extend(piece.get(at..).filter(|rest| !rest.is_empty()).map(|rest| (rest, false)));
    parts
}

/// Prefix of the part of a file in a unified diff of several files. No line of a file has it, because those follow a mark.
const FILE: &str = "diff --git ";

fn diff_sections(diff: &str) -> Vec<TextSection> {
    let mut parts: Vec<String> = Vec::new();
    for line in diff.split_inclusive('\n') {
        match parts.last_mut().filter(|_| !line.starts_with(FILE)) {
            Some(part) => part.push_str(line),
            None => parts.push(line.to_owned()),
        }
    }
    parts.iter().map(|part| diff_section(part)).collect()
}

fn diff_section(diff: &str) -> TextSection {
    let path = diff_path(diff).unwrap_or("changes").to_owned();
    // The heading contains these lines.
    let is_header = |line: &&str| [FILE, "--- ", "+++ "].iter().any(|header| line.starts_with(header));
    let (header, body) = diff.split_at(diff.find("\n@@").map_or(diff.len(), |at| at + 1));
    let rest: String = header.split_inclusive('\n').filter(|line| !is_header(line)).collect();
    let count = |mark: char| body.lines().filter(|line| line.starts_with(mark)).count();
    let head = vec![String::new(), format!("━━ {path}  +{} −{}", count('+'), count('-'))];
    let text = rest + body;
    let all = 0..text.len();
    let language = Some((LanguageName::Named("diff"), all));
    TextSection { head, text, title: path, language, ..TextSection::default() }
}

/// The path that the first line names twice, as `a/PATH b/PATH`.
fn diff_path(text: &str) -> Option<&str> {
    let names = text.lines().next()?.strip_prefix(FILE)?;
    names.get(..names.len() / 2)?.strip_prefix("a/")
}

/// The sections of a request, and the index of the section of a chunk.
fn request_sections(prompt: &Prompt, place: Option<usize>) -> (Vec<TextSection>, Option<usize>) {
    let (mut sections, mut begin) = (vec![summary(prompt)], None);
    for (at, message) in prompt.messages.iter().enumerate() {
        let mut head = vec![String::new(), format!("── {}", message.role.as_str())];
        let chunks: Vec<(usize, &Section)> =
            prompt.sections.iter().enumerate().filter(|(_, chunk)| chunk.message == at).collect();
        for (number, chunk) in &chunks {
            head.push(format!("━━ {}", chunk.heading()));
            if Some(*number) == place {
                begin = Some(sections.len());
            }
            // A conversation is one chunk of several messages, which follow separately.
            let text = if chunks.len() == 1 { message.content.clone() } else { chunk.text.clone() };
            let language = language(&chunk.kind, &text);
            let title = chunk.title.clone();
            let head = std::mem::take(&mut head);
            sections.push(TextSection { head, text, title, language, ..TextSection::default() });
        }
        if chunks.is_empty() {
            let (text, title) = (message.content.clone(), message.role.as_str().to_owned());
            sections.push(TextSection { head, text, title, ..TextSection::default() });
        }
        if let Some(last) = sections.last_mut().filter(|_| !message.images.is_empty()) {
            let image =
                |image: &Image| format!("[{}: {}, {} bytes]\n", image.name, image.media_type, image.bytes.len());
            last.text.extend(message.images.iter().map(image));
        }
    }
    (sections, begin)
}

fn summary(prompt: &Prompt) -> TextSection {
    let about = if prompt.exact && prompt.error == 0 { "" } else { "about " };
    let (tokens, window) = (prompt.tokens, prompt.window.max_input());
    let mut text = format!("{} messages, {about}{tokens} of {window} tokens\n", prompt.messages.len());
    for omission in &prompt.omitted {
        text.push_str(&format!("left out: {omission}\n"));
    }
    TextSection { title: "all of it".into(), text, ..TextSection::default() }
}

/// The language of a chunk, and the bytes in that language: the content of a file between its fences.
fn language(kind: &SectionKind, text: &str) -> Option<(LanguageName, Range<usize>)> {
    match kind {
        SectionKind::ChatFile(path) | SectionKind::ReadOnlyFile(path) => {
            let start = text.find(&format!("{path}\n"))? + path.len() + 1;
            let fence = text.get(start..)?.lines().next()?;
            let code = start + fence.len() + 1;
            let length = text.get(code..)?.rfind(&format!("{fence}\n")).filter(|_| !fence.is_empty())?;
            Some((LanguageName::Path(path.clone()), code..code + length))
        }
        SectionKind::RepoMap | SectionKind::Image(_) => None,
        _ => Some((LanguageName::Named("markdown"), 0..text.len())),
    }
}

#[cfg(test)]
mod tests {
    use rhumb_llm::Message;
    use rhumb_llm::Role as Speaker;
    use rhumb_session::context::Section;
    use rhumb_text::diff;

    use super::*;

    fn parts() -> Vec<TextSection> {
        let part = |title: &str, head: &[&str], text: &str| {
            let head = head.iter().map(|line| (*line).to_owned()).collect();
            TextSection { head, text: text.into(), title: title.into(), ..TextSection::default() }
        };
        let file = "harbour/berth.py\n```\ndef moor():\n    return ship\n```\n\n";
        vec![
            part("all of it", &[], "3 messages, 21 of 100 tokens\n"),
            part("system", &["", "── system", "━━ system"], "You are pairing.\n"),
            part("harbour/berth.py", &["", "── user", "━━ harbour/berth.py"], file),
            part("draft", &["", "── user", "━━ draft"], "Moor the SHIP, and moor it well"),
        ]
    }

    fn view(place: Option<usize>) -> SectionView {
        let mut view = SectionView::new("a text", parts(), place);
        view.rows = 4;
        view.measure(12);
        view
    }

    fn press(view: &mut SectionView, keys: &str) {
        keys.split(' ').filter_map(key::parse).for_each(|key| drop(view.key(key)));
    }

    #[test]
    fn a_section_is_opened_at_and_sections_are_jumped_between() {
        let mut view = view(Some(2));
        assert_eq!((view.current(), view.sections[view.current()].title.as_str()), (2, "harbour/berth.py"));
        press(&mut view, "]");
        assert_eq!(view.current(), 3);
        press(&mut view, "[ [");
        assert_eq!(view.current(), 1);
        press(&mut view, "j [");
        assert_eq!((view.current(), view.top), (1, view.starts[1]), "to its own beginning first");
    }

    #[test]
    fn lower_case_finds_any_case_and_the_view_follows() {
        let mut view = view(None);
        press(&mut view, "/ s h i p Enter");
        assert_eq!(view.search.hits, [(2, 3), (3, 0)]);
        let row = view.row_of((2, 3));
        assert!((view.top..view.top + 4).contains(&row));
        press(&mut view, "n n");
        assert_eq!(view.search.at, Some(0), "round and round");
        press(&mut view, "/ S H");
        assert_eq!(view.search.hits, [(3, 0)]);
        press(&mut view, "Esc");
        assert!(view.search.hits.is_empty());
    }

    #[test]
    fn rows_are_counted_as_they_are_wrapped() {
        let mut coloring = Coloring::default();
        let theme = Theme::plain(crate::tui::theme::ColorDepth::None);
        for columns in [1, 5, 12, 80] {
            let mut view = SectionView::new("a text", parts(), None);
            view.rows = 1_000;
            view.measure(columns);
            assert_eq!(view.visible(&theme, &mut coloring).len(), *view.starts.last().unwrap(), "{columns} columns");
        }
    }

    #[test]
    fn what_is_found_is_marked_across_pieces() {
        let hits = matches("the Harbour, the harbour", "harbour");
        assert_eq!(hits, [4..11, 17..24]);
        assert_eq!(split("the Har", 0, &hits), [("the ", false), ("Har", true)]);
        assert_eq!(split("bour, the", 7, &hits), [("bour", true), (", the", false)]);
    }

    #[test]
    fn each_file_is_a_section_with_its_counts() {
        let first = diff::unified("a b/c d.py", Some("one\ntwo\n"), Some("one\n2\n-- 3\n"));
        let second = diff::unified("new", None, Some("diff --git a/x b/x\n"));
        let found = diff_sections(&format!("{first}\n{second}"));
        let heads: Vec<&str> = found.iter().map(|section| section.head[1].as_str()).collect();
        assert_eq!(heads, ["━━ a b/c d.py  +2 −1", "━━ new  +1 −0"]);
        assert!(found[0].text.starts_with("@@ -1,2 +1,3 @@\n one\n-two\n+2\n+-- 3\n"), "{}", found[0].text);
        assert_eq!(found[1].text, "new file mode 100644\n@@ -0,0 +1,1 @@\n+diff --git a/x b/x\n");
        assert!(diff_sections("").is_empty());
    }

    fn prompt() -> Prompt {
        let file = "harbour/berth.py\n```\ndef moor():\n    return ship\n```\n\n";
        let chunk = |kind: SectionKind, title: &str, message: usize, text: &str| Section {
            kind,
            title: title.into(),
            role: Speaker::User,
            message,
            tokens: 7,
            text: text.into(),
            cached: false,
        };
        Prompt {
            sections: vec![
                chunk(SectionKind::System, "system", 0, "You are pairing.\n"),
                chunk(SectionKind::ChatFile("harbour/berth.py".into()), "harbour/berth.py", 1, file),
                chunk(SectionKind::Current, "draft", 2, "Moor the SHIP, and moor it well"),
            ],
            messages: vec![
                Message::new(Speaker::System, "You are pairing.\n"),
                Message::new(Speaker::User, file),
                Message::new(Speaker::User, "Moor the SHIP, and moor it well"),
            ],
            ..Prompt::default()
        }
    }

    #[test]
    fn only_the_code_of_a_file_is_in_its_language() {
        let (sections, begin) = request_sections(&prompt(), Some(1));
        let file = &sections[2];
        assert_eq!((begin, file.title.as_str()), (Some(2), "harbour/berth.py"));
        let (language, bytes) = file.language.as_ref().unwrap();
        assert_eq!(*language, LanguageName::Path("harbour/berth.py".into()));
        assert_eq!(&file.text[bytes.clone()], "def moor():\n    return ship\n");
    }
}
