//! The search on the screen: what is typed, what was found, and a look at it.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::{Answer, CodeSearch, Row};
use crate::tui::hits::Hit;
use crate::tui::overlay::{Look, Sight, field, look};
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::picker::{list_and_look, rule, wide_area};
use crate::tui::widget::styled::fill;
use rhumb_index::retrieval::Hit as Passage;
use rhumb_text::{sanitize, width, wrap};

/// What stands where nothing is typed yet.
const EMPTY: &str = "a question, a name or a path";
/// The keys, the most important first.
const KEYS: [(&str, &str); 8] = [
    ("Enter", "show"),
    ("Esc", "close"),
    ("Alt-a", "add"),
    ("Alt-r", "read-only"),
    ("Alt-q", "ask"),
    ("Alt-e", "editor"),
    ("Alt-y", "copy"),
    ("Alt-g", "by file"),
];
/// Columns inside from which on the look stands beside the list: those of a screen of 100.
const BESIDE: u16 = 94;
/// Columns from which on a row says what its symbol is.
const WITH_KIND: usize = 36;

impl CodeSearch {
    /// Draws it over the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, mut sight: Sight<'_>) {
        let area = wide_area(screen);
        let block = Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(theme.style(Role::BorderFocused))
            .style(theme.style(Role::Overlay))
            .title_top(Line::styled(" search code ", theme.style(Role::Title)))
            .title_top(Line::styled(self.count(usize::from(area.width)), theme.style(Role::Muted)).right_aligned());
        let inside = block.inner(area);
        frame.render_widget(Clear, area);
        frame.render_widget(block, area);
        let layout = Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]);
        let [query, middle, hints] = layout.areas(inside);
        field::draw(frame, query, &self.input, EMPTY, theme);
        frame.render_widget(self.hints(usize::from(hints.width), theme), hints);
        if self.rows.is_empty() {
            return self.draw_remark(frame, middle, theme);
        }
        let (list, beside) = list_and_look(middle, BESIDE);
        self.window.set_height(usize::from(list.height));
        for (y, at) in (list.y..list.bottom()).zip(self.window.visible()) {
            let row = Rect { y, height: 1, ..list };
            frame.render_widget(self.row(at, usize::from(list.width), theme), row);
            sight.hits.add(row, Hit::Item(at));
        }
        if let (Some(area), Some(Look::File(path, marked))) = (beside, self.look()) {
            rule(frame, list, area, theme);
            look::file(frame, area, (&path, marked), &mut sight, theme);
        }
    }

    /// How much was found, as much of it as there is room for beside the title.
    fn count(&self, columns: usize) -> String {
        let waits = if self.waiting { "… " } else { "" };
        let found = match (self.answer, self.hits.len()) {
            (Answer::Found, 1) => "1 passage".to_owned(),
            (Answer::Found, count) => format!("{count} passages"),
            _ => String::new(),
        };
        let room = columns.saturating_sub(20);
        let long = format!(" {waits}{found} · {} ", self.reading);
        match (self.reading.is_empty() || self.rows.is_empty(), found.is_empty() && waits.is_empty()) {
            (false, _) if width::columns(&long) <= room => long,
            (_, true) => String::new(),
            _ => format!(" {waits}{found} "),
        }
    }

    /// The keys that matter here, as many as fit; or what the last one did.
    fn hints(&self, columns: usize, theme: &Theme) -> Line<'static> {
        if !self.note.is_empty() {
            let note = sanitize::visible_line(&self.note);
            let note = width::clip_start(&note, columns.saturating_sub(3));
            return Line::styled(format!("  {note}"), theme.style(Role::Success));
        }
        let mut line = Line::default();
        for (key, meaning) in KEYS {
            let meaning = if key == "Alt-g" && self.in_files { "by rank" } else { meaning };
            let key = Span::styled(format!("  {key}"), theme.style(Role::Key));
            let meaning = Span::styled(format!(" {meaning}"), theme.style(Role::Muted));
            if line.width() + key.width() + meaning.width() > columns {
                break;
            }
            line.spans.extend([key, meaning]);
        }
        line
    }

    /// Why nothing is listed.
    fn draw_remark(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let typed = !self.input.text().trim().is_empty();
        let mut says: Vec<(String, Role)> = match (self.answer, typed) {
            (_, false) => vec![
                ("Ask as you would ask a colleague, or type a name or a part of a path:".into(), Role::Text),
                ("how are retries decided · parse_header · src/config".into(), Role::Muted),
            ],
            (Answer::Found, true) if !self.waiting => vec![
                ("No passage matches.".into(), Role::Text),
                (
                    "Try other words. Names are split into their parts, and word endings do not count.".into(),
                    Role::Muted,
                ),
            ],
            (Answer::Failed, true) => vec![
                ("The search failed.".into(), Role::Error),
                ("The chat shows the reason. Type to search again.".into(), Role::Muted),
            ],
            (Answer::Unread, true) if self.reading.is_empty() => {
                vec![("The repository has not been read yet.".into(), Role::Muted)]
            }
            (Answer::Unread, true) => Vec::new(),
            (Answer::None | Answer::Found, true) => vec![("searching …".into(), Role::Muted)],
        };
        if !self.reading.is_empty() {
            says.push((self.reading.clone(), Role::Warning));
        }
        let columns = usize::from(area.width.saturating_sub(4)).max(8);
        let lines = says.into_iter().flat_map(|(text, role)| {
            let pieces = wrap::hanging(&text, columns).into_iter();
            pieces.map(move |piece| Line::styled(format!("  {piece}"), theme.style(role)))
        });
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
    }

    fn row(&self, at: usize, columns: usize, theme: &Theme) -> Line<'static> {
        let is_here = self.window.selected() == Some(at);
        let ground = if is_here { theme.style(Role::Selection) } else { Style::default() };
        let pointer = Span::styled(if is_here { "▸ " } else { "  " }, theme.style(Role::Accent).patch(ground));
        let mut line = Line::from(pointer);
        // One column stays free before what stands beside.
        let room = columns.saturating_sub(3);
        let spans = match self.rows.get(at).map(|row| (row, self.hits.get(row.hit()))) {
            Some((Row::File { count, .. }, Some(hit))) => heading(hit, *count, room, theme),
            Some((Row::Hit(_), Some(hit))) if self.in_files => passage(hit, &lines_of(hit), room, theme),
            Some((Row::Hit(_), Some(hit))) => {
                let path = sanitize::visible_line(&hit.path).into_owned();
                passage(hit, &format!("{path}:{}", hit.line), room, theme)
            }
            _ => Vec::new(),
        };
        line.spans.extend(spans.into_iter().map(|span| span.patch_style(ground)));
        fill(&mut line, columns, ground);
        line
    }
}

/// The name of a file, and how many passages of it follow.
fn heading(hit: &Passage, count: usize, room: usize, theme: &Theme) -> Vec<Span<'static>> {
    let count = format!(" · {count}");
    let path = sanitize::visible_line(&hit.path);
    let path = width::clip_start(&path, room.saturating_sub(width::columns(&count))).into_owned();
    vec![Span::styled(path, theme.style(Role::Title)), Span::styled(count, theme.style(Role::Muted))]
}

/// The lines of a passage below the name of its file.
fn lines_of(hit: &Passage) -> String {
    let lines = if hit.end_line > hit.line { format!("{}–{}", hit.line, hit.end_line) } else { hit.line.to_string() };
    format!("  {lines:<11}")
}

/// Where it is, the symbol, and at the right what that is.
fn passage(hit: &Passage, place: &str, room: usize, theme: &Theme) -> Vec<Span<'static>> {
    let kind = hit.kind.map_or("", |kind| kind.as_str());
    let kind = if room < WITH_KIND || kind.is_empty() { String::new() } else { format!("  {kind}") };
    let left = room.saturating_sub(width::columns(&kind));
    let symbol = hit.symbol.as_deref().map(sanitize::visible_line).unwrap_or_default();
    let symbol = width::clip(&symbol, left / 2).into_owned();
    let gap = if symbol.is_empty() { 0 } else { 2 };
    let place = width::clip_start(place, left.saturating_sub(width::columns(&symbol) + gap)).into_owned();
    let mut free = left.saturating_sub(width::columns(&place) + width::columns(&symbol) + gap);
    let container = hit.container.as_deref().map(sanitize::visible_line).unwrap_or_default();
    let container = format!(" in {container}");
    let inside = (container.len() > " in ".len() && !symbol.is_empty() && width::columns(&container) <= free)
        .then_some(container);
    free -= inside.as_deref().map_or(0, width::columns);
    let muted = theme.style(Role::Muted);
    vec![
        Span::styled(place, theme.style(Role::Overlay)),
        Span::raw(" ".repeat(gap)),
        Span::styled(symbol, theme.style(Role::Accent)),
        Span::styled(inside.unwrap_or_default(), muted),
        Span::raw(" ".repeat(free)),
        Span::styled(kind, muted),
    ]
}
