//! Drawing a picker as an overlay.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};
use rhumb_text::fuzzy::NamePart;
use rhumb_text::{sanitize, width};

use super::Picker;
use crate::tui::mouse::{Hit, Hits};
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::styled::{fill, mark_characters};

/// The largest overlay, borders included, and the columns and lines of the screen that it leaves free around it.
const MAX_WIDTH: u16 = 84;
const MAX_HEIGHT: u16 = 22;
const MARGIN: u16 = 2;
/// The same with a preview.
const MAX_WIDTH_WITH_PREVIEW: u16 = 180;
const MAX_HEIGHT_WITH_PREVIEW: u16 = 48;
/// With at least this many columns inside, the preview is beside the list; with at least this many lines, below it.
const MIN_COLUMNS_BESIDE: u16 = 96;
const MIN_LINES_BELOW: u16 = 16;

impl Picker {
    pub fn area(&self, screen: Rect) -> Rect {
        if self.with_preview { wide_area(screen) } else { area_within(screen, (MAX_WIDTH, MAX_HEIGHT)) }
    }

    /// Computes the height of the list for a screen, for paging and scrolling. To be called before drawing if the size of the
    /// screen may have changed.
    pub fn fit(&mut self, screen: Rect) {
        let (list, _) = self.parts(self.area(screen));
        self.window.set_height(usize::from(list.height));
    }

    /// The list, and the area of the preview.
    fn parts(&self, area: Rect) -> (Rect, Option<Rect>) {
        let inside = Block::bordered().inner(area);
        let [_, middle, _] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(inside);
        if self.with_preview { list_and_look(middle, MIN_COLUMNS_BESIDE) } else { (middle, None) }
    }

    /// Draws the overlay in the middle of the screen and notes the areas of its rows. Returns the area of the preview, if there
    /// is one.
    pub fn draw(&self, frame: &mut Frame<'_>, screen: Rect, hits: &mut Hits, theme: &Theme) -> Option<Rect> {
        let area = self.area(screen);
        let (list, look) = self.parts(area);
        let mut window = self.window;
        window.set_height(usize::from(list.height));
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.style(Role::BorderFocused))
            .style(theme.style(Role::Overlay))
            .title_top(Line::styled(self.title_within(usize::from(area.width)), theme.style(Role::Title)))
            .title_top(Line::styled(self.count(), theme.style(Role::Muted)).right_aligned());
        let inside = block.inner(area);
        frame.render_widget(Clear, area);
        frame.render_widget(block, area);
        let layout = Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]);
        let [query, _, hints] = layout.areas(inside);
        self.query.draw(frame, query, "", theme);
        let rows = self.rows(window.visible(), window.selected(), usize::from(list.width), theme);
        frame.render_widget(Paragraph::new(rows), list);
        for (row, at) in (list.y..list.bottom()).zip(window.visible()) {
            hits.add(Rect { y: row, height: 1, ..list }, Hit::Item(at));
        }
        frame.render_widget(self.hints(usize::from(hints.width), theme), hints);
        if let Some(look) = look {
            rule(frame, list, look, theme);
        }
        look
    }

    /// The title, cut to leave space for the count.
    fn title_within(&self, columns: usize) -> String {
        let room = columns.saturating_sub(width::columns(&self.count()) + 5);
        format!(" {} ", width::clip(&self.title, room))
    }

    fn count(&self) -> String {
        let marked = if self.marked.is_empty() { String::new() } else { format!("{} marked, ", self.marked.len()) };
        let behind = if self.is_behind { "… " } else { "" };
        format!(" {marked}{behind}{} of {} ", self.match_count(), self.items.len())
    }

    fn rows(
        &self,
        visible: Range<usize>,
        selected: Option<usize>,
        columns: usize,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let listed = self.ranking.matches().get(visible.clone()).unwrap_or(&[]);
        if listed.is_empty() {
            return vec![Line::styled("  nothing matches", theme.style(Role::Muted))];
        }
        let texts: Vec<String> = listed
            .iter()
            .map(|at| sanitize::visible_line(self.items.text(*at, &mut String::new())).into_owned())
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let highlights = self.ranking.highlights(&texts);
        let rows = listed.iter().zip(texts).zip(highlights).zip(visible);
        rows.map(|(((item, text), hits), at)| {
            let detail = self.details.get(*item).map_or_else(|| self.items.detail(*item), String::as_str);
            let row = PickerRow {
                text,
                hits: &hits,
                detail,
                marked: self.multiple.then(|| self.marked.contains(item)),
                selected: selected == Some(at),
                dimmed: self.dimmed.get(*item) == Some(&true),
            };
            row.line(columns, self.name == NamePart::Path, theme)
        })
        .collect()
    }

    /// The available keys, as many as fit.
    fn hints(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let mark = self.multiple.then_some(("Tab", "mark"));
        let first = [Some(("Enter", "choose")), Some(("Esc", "close")), mark].into_iter().flatten();
        key_hints(first.chain(self.extra.iter().copied()).chain([("↑↓", "move")]), columns, theme)
    }
}

/// Keys and their effects, as many as fit.
pub fn key_hints<'a>(
    keys: impl IntoIterator<Item = (&'a str, &'a str)>,
    columns: usize,
    theme: &Theme,
) -> Line<'static> {
    let mut line = Line::default();
    for (key, meaning) in keys {
        let key = Span::styled(format!("  {key}"), theme.style(Role::Key));
        let meaning = Span::styled(format!(" {meaning}"), theme.style(Role::Muted));
        if line.width() + key.width() + meaning.width() > columns {
            break;
        }
        line.spans.extend([key, meaning]);
    }
    line
}

/// The area of an overlay with a preview.
pub fn wide_area(screen: Rect) -> Rect {
    area_within(screen, (MAX_WIDTH_WITH_PREVIEW, MAX_HEIGHT_WITH_PREVIEW))
}

fn area_within(screen: Rect, (widest, tallest): (u16, u16)) -> Rect {
    // A small screen has no space for a margin.
    let margin = |room: u16, small: u16| if room <= small { 0 } else { MARGIN };
    let size = |room: u16, most: u16, small| room.saturating_sub(2 * margin(room, small)).min(most).max(room.min(8));
    let (width, height) = (size(screen.width, widest, 49), size(screen.height, tallest, 12));
    Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) / 2, width, height }
}

/// Divides an area into a list and a preview, if both fit: beside the list from `beside` columns on, otherwise below
/// it.
pub fn list_and_look(middle: Rect, beside: u16) -> (Rect, Option<Rect>) {
    if middle.width >= beside {
        let list = (middle.width * 2 / 5).clamp(40, 80);
        let [list, _, look] =
            Layout::horizontal([Constraint::Length(list), Constraint::Length(1), Constraint::Fill(1)]).areas(middle);
        return (list, Some(look));
    }
    if middle.height >= MIN_LINES_BELOW {
        let list = middle.height * 3 / 5;
        let [list, _, look] =
            Layout::vertical([Constraint::Length(list), Constraint::Length(1), Constraint::Fill(1)]).areas(middle);
        return (list, Some(look));
    }
    (middle, None)
}

struct PickerRow<'a> {
    text: &'a str,
    hits: &'a [usize],
    detail: &'a str,
    /// `None` if items cannot be marked.
    marked: Option<bool>,
    selected: bool,
    dimmed: bool,
}

impl PickerRow<'_> {
    fn line(&self, columns: usize, keep_end: bool, theme: &Theme) -> Line<'static> {
        let background = if self.selected { theme.style(Role::Selection) } else { Style::default() };
        let pointer = if self.selected { "▸ " } else { "  " };
        let mark = match self.marked {
            Some(true) => "✓ ",
            Some(false) => "  ",
            None => "",
        };
        let mut spans = vec![
            Span::styled(pointer, theme.style(Role::Accent).patch(background)),
            Span::styled(mark, theme.style(Role::Success).patch(background)),
        ];
        // One column stays free before the border.
        let room = columns.saturating_sub(width::columns(pointer) + width::columns(mark) + 1);
        let detail = width::clip(self.detail, room / 2);
        let gap = if detail.is_empty() { 0 } else { 2 };
        let label = room.saturating_sub(width::columns(&detail) + gap);
        let text = if self.dimmed { Role::Muted } else { Role::Overlay };
        let text = self.label(label, keep_end, theme.style(text).patch(background), theme.style(Role::Match));
        let used: usize = text.iter().map(|span| width::columns(&span.content)).sum();
        spans.extend(text);
        let gap = room.saturating_sub(used + width::columns(&detail));
        spans.push(Span::styled(" ".repeat(gap), background));
        spans.push(Span::styled(detail.into_owned(), theme.style(Role::Muted).patch(background)));
        let mut line = Line::from(spans);
        fill(&mut line, columns, background);
        line
    }

    /// The text in at most `columns` columns, with highlighted matches.
    fn label(&self, columns: usize, keep_end: bool, plain: Style, hit: Style) -> Vec<Span<'static>> {
        let mark = |part: &str, cut: usize| mark_characters(part, cut, self.hits, plain, plain.patch(hit));
        let shown = if keep_end { width::clip_start(self.text, columns) } else { width::clip(self.text, columns) };
        if shown == self.text {
            return mark(self.text, 0);
        }
        let ellipsis = Span::styled(width::ELLIPSIS, plain);
        if let Some(end) = shown.strip_prefix(width::ELLIPSIS).filter(|_| keep_end) {
            let cut = self.text.chars().count().saturating_sub(end.chars().count());
            return [vec![ellipsis], mark(end, cut)].concat();
        }
        let start = shown.strip_suffix(width::ELLIPSIS).unwrap_or("");
        [mark(start, 0), vec![ellipsis]].concat()
    }
}

/// Draws the rule between the list and the preview.
pub fn rule(frame: &mut Frame<'_>, list: Rect, look: Rect, theme: &Theme) {
    let style = theme.style(Role::Border);
    if look.y == list.y {
        let lines: Vec<Line<'_>> = (0..list.height).map(|_| Line::styled("│", style)).collect();
        frame.render_widget(Paragraph::new(lines), Rect { x: list.right(), width: 1, ..list });
    } else {
        let line = Line::styled("─".repeat(usize::from(list.width)), style);
        frame.render_widget(line, Rect { y: list.bottom(), height: 1, ..list });
    }
}
