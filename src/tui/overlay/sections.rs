//! A long text in colours with sections and a search. Only the visible lines are wrapped and coloured.

use crate::tui::action::Action;
use crate::tui::overlay::{OverlayComponent, OverlayContext};
use crate::tui::previews::Previews;
use std::collections::HashMap;
use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Reply, centred, window};
use crate::tui::coloring::{Coloring, Colors, Language, pieces};
use crate::tui::key;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::input::LineInput;
use crate::tui::widget::styled::StyledText;
use rhumb_text::{lines, sanitize, width, wrap};

/// Longest line that is coloured and searched for marks, in bytes.
const MAX_MARKED_LINE_BYTES: usize = 8_000;

/// The text, and what of it is in view.
#[derive(Debug)]
pub struct SectionView {
    /// What the whole is called.
    title: String,
    sections: Vec<Section>,
    /// The first row of each section, and after them how many rows there are; for a width.
    starts: Vec<usize>,
    width: usize,
    top: usize,
    rows: usize,
    /// The section to begin with, until it was drawn once.
    begin: Option<usize>,
    search: Search,
}

/// A part of the text.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// Lines above its text: the role and the kind.
    pub(super) head: Vec<String>,
    pub(super) text: String,
    /// What to call it.
    pub(super) title: String,
    /// Its language, and the bytes of its text that are in it.
    pub(super) language: Option<(LanguageName, Range<usize>)>,
    /// The first row of each of its lines, counted from its beginning; for a width.
    rows: Vec<usize>,
}

/// How the language of a section is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LanguageName {
    /// By the path of a file.
    Path(String),
    /// By its name, as at a fence.
    Named(&'static str),
}

impl Section {
    /// A section that is not measured yet.
    pub(super) fn new(
        title: String,
        head: Vec<String>,
        text: String,
        language: Option<(LanguageName, Range<usize>)>,
    ) -> Self {
        Self { head, text, title, language, rows: Vec::new() }
    }
}

#[derive(Debug, Default)]
struct Search {
    input: LineInput,
    typing: bool,
    /// Section and line of each line that matches.
    hits: Vec<(usize, usize)>,
    at: Option<usize>,
}

impl SectionView {
    /// A view of sections, from the one at a place on.
    pub(super) fn new(title: &str, sections: Vec<Section>, begin: Option<usize>) -> Self {
        let title = title.to_owned();
        Self { title, sections, starts: Vec::new(), width: 0, top: 0, rows: 10, begin, search: Search::default() }
    }

    /// Whether a search is being typed.
    pub fn is_typing(&self) -> bool {
        self.search.typing
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

    /// Looks for what is typed, and goes to the first place from the top of the view on.
    fn find(&mut self) {
        let wanted = self.search.input.text();
        let matches = |line: &str| !ranges(line, wanted).is_empty();
        let in_section = |(number, section): (usize, &Section)| {
            let found = lines::split(&section.text).into_iter().enumerate().filter(|(_, line)| matches(line));
            found.map(|(line, _)| (number, line)).collect::<Vec<_>>()
        };
        let hits: Vec<(usize, usize)> = match wanted.is_empty() {
            true => Vec::new(),
            false => self.sections.iter().enumerate().flat_map(in_section).collect(),
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

    /// Brings the place that was found into view, a third from the top unless it is there already.
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

    /// The section at the top of the view.
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

    /// The number of rows at the measured width.
    fn row_count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Counts rows for a width. Lines that surely fit are not wrapped for it.
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
        Line::styled(width::clip(&text, columns).into_owned(), theme.style(Role::Muted))
    }

    /// The rows in view.
    fn visible(&self, theme: &Theme, coloring: &mut Coloring) -> Vec<Line<'static>> {
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
        Line::styled(width::clip(&sanitize::visible_line(head), self.width).into_owned(), theme.style(role))
    }

    /// The rows of a section's text in a range, counted from its first.
    fn rows_of(
        &self,
        number: usize,
        section: &Section,
        rows: Range<usize>,
        colors: Option<&Colors>,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
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

    /// A line in its colours, with what is searched marked.
    fn styled(&self, line: &str, spans: &[rhumb_syntax::Span], is_current: bool, theme: &Theme) -> StyledText {
        let mut text = StyledText::new();
        if line.len() > MAX_MARKED_LINE_BYTES {
            text.push(&sanitize::visible_line(line), theme.style(Role::Text));
            return text;
        }
        let hits = ranges(line, self.search.input.text());
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

impl OverlayComponent for SectionView {
    /// Takes a key.
    fn key(&mut self, key: KeyEvent) -> Reply {
        if self.search.typing {
            self.search_key(key);
            return Reply::Stay;
        }
        let page = self.rows.saturating_sub(1).max(1);
        match key::name(key).as_str() {
            "j" | "Down" => self.top += 1,
            "k" | "Up" => self.top = self.top.saturating_sub(1),
            "PageDown" | "Space" | "Ctrl-d" => self.top += page,
            "PageUp" | "Ctrl-u" => self.top = self.top.saturating_sub(page),
            "Home" | "g" => self.top = 0,
            "End" | "G" => self.top = usize::MAX / 2,
            "]" | "Tab" | "Right" => self.jump(true),
            "[" | "Shift-Tab" | "Left" => self.jump(false),
            "/" => self.search = Search { typing: true, ..Search::default() },
            "n" => self.next_hit(true),
            "N" => self.next_hit(false),
            "Esc" if !self.search.input.text().is_empty() => self.search = Search::default(),
            "Esc" | "q" | "Enter" => return Reply::Close,
            _ => {}
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
        let OverlayContext { coloring, .. } = context;
        let (area, all) = (Self::area(screen), self.row_count());
        let inner = window(frame, area, &self.title(usize::from(area.width.saturating_sub(4))), theme);
        let [body, last] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(inner);
        let lines = self.visible(theme, coloring);
        frame.render_widget(Paragraph::new(lines), body);
        frame.render_widget(self.foot(all, usize::from(last.width), theme), last);
        if self.search.typing {
            let column = u16::try_from(self.search.input.cursor_column() + 1).unwrap_or(u16::MAX);
            let x = last.x.saturating_add(column).min(last.right().saturating_sub(1));
            frame.set_cursor_position(ratatui::layout::Position { x, y: last.y });
        }
    }
}

impl Section {
    fn colors(&self, coloring: &mut Coloring) -> Option<Colors> {
        let (language, bytes) = self.language.as_ref()?;
        let source = self.text.get(bytes.clone())?;
        match language {
            LanguageName::Path(path) => coloring.get(Language::Path(path), source),
            LanguageName::Named(name) => coloring.get(Language::Fence(name), source),
        }
    }
}

/// The rows of a line at a width.
fn height(line: &str, columns: usize) -> usize {
    let is_plain = line.len() <= columns && line.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain { 1 } else { wrap::wrap(&sanitize::visible_line(line), columns).len().max(1) }
}

/// Where a text stands in a line. Lower case matches any case.
fn ranges(line: &str, wanted: &str) -> Vec<Range<usize>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let found = |line: &str, wanted: &str| line.match_indices(wanted).map(|(at, text)| at..at + text.len()).collect();
    if wanted.chars().any(char::is_uppercase) {
        return found(line, wanted);
    }
    let lower = line.to_lowercase();
    // Where lower case is of another length, places are not to be had; such lines are matched as they are.
    if lower.len() == line.len() { found(&lower, wanted) } else { found(line, wanted) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Section> {
        let part = |title: &str, head: &[&str], text: &str| {
            Section::new(title.into(), head.iter().map(|line| (*line).to_owned()).collect(), text.into(), None)
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
        let hits = ranges("the Harbour, the harbour", "harbour");
        assert_eq!(hits, [4..11, 17..24]);
        assert_eq!(split("the Har", 0, &hits), [("the ", false), ("Har", true)]);
        assert_eq!(split("bour, the", 7, &hits), [("bour", true), (", the", false)]);
    }
}
