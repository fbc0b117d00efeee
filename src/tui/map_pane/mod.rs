//! The map pane: files in rank order with their symbols and the limit of the budget, or the text that the model gets.

mod actions;
mod outline;
mod rows;
mod state;

use std::collections::HashMap;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use rhumb_index::repo_map::{RankedFile, RankedSymbol, RepoMap, symbol_choice};
use rhumb_session::SurveyState;
use rhumb_text::fuzzy::FuzzyFilter;
use rhumb_text::{sanitize, width};

use self::outline::cut;
use super::action::{Action, Pane};
use super::app::App;
use super::coloring::{Coloring, Colors, Language, colored};
use super::mouse::Hit;
use super::theme::Role;
use super::view::{ViewCache, pane_block, under_cursor};
use super::widget::list_window::ListWindow;
use super::widget::meter;
use super::widget::styled::{mark_characters, place_cursor, spread};

pub use self::outline::MapText;
pub use self::rows::{MapRow, Rule};
pub use self::state::MapPane;

pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let map = app.map.rows.map().cloned();
    let inner = pane_block(app, frame, area, Pane::Map, &note(app, map.as_deref()));
    let search = u16::from(app.map.filter.is_some());
    let [top, list] = Layout::vertical([Constraint::Length(search), Constraint::Fill(1)]).areas(inner);
    draw_filter(app, frame, top);
    cache.heights[0] = usize::from(list.height);
    let Some(map) = map.filter(|map| !map.files.is_empty() || !app.session.map().banned.is_empty()) else {
        let text = Line::styled(why_empty(app), app.theme().style(Role::Muted));
        return frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), list);
    };
    match &app.map.text {
        Some(text) => draw_rows(app, cache, frame, list, text.window, |at, cache| {
            text.line(at, usize::from(list.width), app, &mut cache.coloring)
        }),
        None => {
            let mut drawing = Drawing::new(app, &map, list.width);
            if let Some(filter) = app.map.filter.as_ref().filter(|filter| filter.found.is_some()) {
                drawing.filter = Some(FuzzyFilter::new(filter.input.text().trim()));
            }
            if app.map.rows.len() == 0 {
                let text = Line::styled("nothing matches", app.theme().style(Role::Muted));
                return frame.render_widget(text, list);
            }
            draw_rows(app, cache, frame, list, app.map.window, |at, cache| {
                Some(drawing.line(app.map.rows.get(at)?, &mut cache.coloring))
            });
        }
    }
}

/// Draws the visible rows, and notes them for clicks.
fn draw_rows(
    app: &App,
    cache: &mut ViewCache,
    frame: &mut Frame<'_>,
    area: Rect,
    mut window: ListWindow,
    mut line: impl FnMut(usize, &mut ViewCache) -> Option<Line<'static>>,
) {
    window.set_height(usize::from(area.height));
    let mut lines = Vec::new();
    for (at, y) in window.visible().zip(area.y..) {
        let Some(row) = line(at, cache) else { continue };
        cache.hits.add(Rect { y, height: 1, ..area }, Hit::Row(Pane::Map, at));
        let chosen = window.selected() == Some(at) && app.focus == Pane::Map;
        lines.push(if chosen { under_cursor(row, area.width, app.theme()) } else { row });
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// The title: progress of reading, or the tokens of the map.
fn note(app: &App, map: Option<&RepoMap>) -> String {
    let provisional = app.session.view().is_some_and(|view| view.provisional);
    let note = match (app.session.survey(), map) {
        (SurveyState::Reading(..), None) if app.session.is_stopping() => "reading stops …".to_owned(),
        (SurveyState::Reading(found, 0), None) => format!("listing files: {}", meter::grouped(found)),
        (SurveyState::Reading(done, total), None) => {
            format!("reading {} of {}", meter::grouped(done), meter::grouped(total))
        }
        (_, None) => "ranking".to_owned(),
        (_, Some(map)) if map.budget == 0 => "no room for it".to_owned(),
        (_, Some(map)) => {
            let budget = meter::tokens(map.budget as u64);
            let first = match app.session.survey() {
                SurveyState::Partial(..) => "partial · ",
                _ if provisional => "first guess · ",
                _ => "",
            };
            format!("{first}{} of {budget} tokens", meter::tokens(map.tokens as u64))
        }
    };
    if app.map.text.is_some() { format!("as sent · {note}") } else { note }
}

fn why_empty(app: &App) -> &'static str {
    match (app.session.survey(), app.map.rows.map()) {
        (SurveyState::Done, Some(_)) if app.session.paths().is_empty() => "There are no files here yet.",
        (SurveyState::Done, Some(_)) => "Every file is in the chat.",
        _ => "The map appears as the repository is read.",
    }
}

/// Draws the filter with its results.
fn draw_filter(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(filter) = app.map.filter.as_ref().filter(|_| area.height > 0) else { return };
    let theme = app.theme();
    let found = match &filter.found {
        Some(found) => format!(" {} files, {} symbols", found.total.0, found.total.1),
        None => String::new(),
    };
    let columns = usize::from(area.width);
    let prompt = "/ ";
    let room = columns.saturating_sub(width::columns(prompt) + width::columns(&found) + 1).max(4);
    let typed = sanitize::visible_line(filter.input.text());
    let typed = width::clip_start(&typed, room).into_owned();
    let x = width::columns(prompt) + filter.input.cursor_column().min(width::columns(&typed));
    let left = vec![Span::styled(prompt, theme.style(Role::Accent)), Span::styled(typed, theme.style(Role::Text))];
    frame.render_widget(spread(left, vec![Span::styled(found, theme.style(Role::Muted))], columns), area);
    if filter.typing && app.focus == Pane::Map && app.overlays.is_empty() {
        place_cursor(frame, area, x);
    }
}

/// The text of a rule.
fn rule_text(app: &App, map: &RepoMap, rule: Rule) -> String {
    let key = |action: Action| app.keys.first(action).to_owned();
    match rule {
        Rule::Fits => {
            let files = map.shown_files();
            let more = match map.growth().filter(|growth| growth.files.is_empty()) {
                Some(growth) if growth.symbols > 0 => {
                    format!(" · {} {} tokens: {} more symbols", key(Action::MapMore), growth.step, growth.symbols)
                }
                _ => String::new(),
            };
            format!("{} hold {files} {}{more}", tokens(map.budget), if files == 1 { "file" } else { "files" })
        }
        Rule::Next => {
            let (files, symbols, step) =
                map.growth().map_or((0, 0, 0), |growth| (growth.files.len(), growth.symbols, growth.step));
            let noun = if files == 1 { "file" } else { "files" };
            let symbols = if symbols > 0 { format!(", {symbols} symbols") } else { String::new() };
            format!("{} {step} tokens: {files} more {noun}{symbols}", key(Action::MapMore))
        }
        Rule::Out => format!("banned by you · {} allows it again", key(Action::MapBan)),
    }
}

fn tokens(count: usize) -> String {
    format!("{} tokens", meter::tokens(count as u64))
}

/// Cells of the gauge that shows a file's rank against the best.
const GAUGE: usize = 5;

/// From the first number of columns on, a file is followed by its tokens; from the second on, also by its share of the
/// map.
const MIN_TOKENS_COLUMNS: usize = 42;
const MIN_SHARE_COLUMNS: usize = 52;

/// Symbols of a file that are coloured together at most.
const MAX_COLORED_SYMBOLS: usize = 2_000;

/// The context for drawing rows.
pub struct Drawing<'a> {
    app: &'a App,
    map: &'a RepoMap,
    columns: usize,
    /// The highest rank.
    best: f64,
    /// Colours of the signatures of a file, by its index.
    colors: HashMap<usize, Option<Colors>>,
    pub filter: Option<FuzzyFilter>,
}

impl<'a> Drawing<'a> {
    pub fn new(app: &'a App, map: &'a RepoMap, columns: u16) -> Self {
        // Pinned files come first regardless of their rank.
        let best = map
            .files
            .iter()
            .take(app.session.map().pinned.len() + 1)
            .map(|file| file.rank)
            .fold(f64::MIN_POSITIVE, f64::max);
        Self { app, map, columns: usize::from(columns), best, colors: HashMap::new(), filter: None }
    }

    pub fn line(&mut self, row: MapRow, coloring: &mut Coloring) -> Line<'static> {
        match row {
            MapRow::File(place) => self.map.files.get(place).map(|file| self.file(place, file)),
            MapRow::Symbol(place, at) => {
                let symbol = self.map.symbols(place).get(at);
                symbol.map(|symbol| self.symbol(place, at, symbol, coloring))
            }
            MapRow::Rule(rule) => Some(self.rule(rule)),
            MapRow::Banned(at) => self.app.session.map().banned.iter().nth(at).map(|choice| self.banned(choice)),
        }
        .unwrap_or_default()
    }

    fn file(&mut self, place: usize, file: &RankedFile) -> Line<'static> {
        let theme = self.app.theme();
        let arrow = match (file.definitions, self.app.map.rows.is_open(place)) {
            (0, _) => " ",
            (_, true) => "▾",
            (_, false) => "▸",
        };
        let filled = ((file.rank / self.best) * GAUGE as f64).ceil().clamp(0.0, GAUGE as f64) as usize;
        let count = if file.definitions > 0 { format!(" {}", file.definitions) } else { String::new() };
        let pinned = if self.app.session.map().pinned.contains(&*file.path) { " ★ pinned" } else { "" };
        let right = Some(self.weight(file)).filter(|right| !right.is_empty());
        let right = right.map_or_else(String::new, |right| format!(" {right}"));
        let fixed = GAUGE + 3 + width::columns(&count) + width::columns(pinned) + width::columns(&right);
        let role = if file.shown { Role::Text } else { Role::Muted };
        let path = self.name(&file.path, self.columns.saturating_sub(fixed), true, theme.style(role));
        let mut left = vec![
            Span::styled(format!("{arrow} "), theme.style(Role::Accent)),
            Span::styled("▮".repeat(filled), theme.style(if file.shown { Role::MeterLow } else { Role::Muted })),
            Span::styled("▯".repeat(GAUGE - filled), theme.style(Role::MeterEmpty)),
            Span::raw(" "),
        ];
        left.extend(path);
        left.push(Span::styled(count, theme.style(Role::Muted)));
        left.push(Span::styled(pinned, theme.style(Role::Badge)));
        spread(left, vec![Span::styled(right, theme.style(Role::Muted))], self.columns)
    }

    /// The tokens of a file, or a mark that it is not in the map.
    fn weight(&self, file: &RankedFile) -> String {
        let comes_next = self.map.growth().is_some_and(|growth| growth.files.contains(&file.file));
        match (file.shown, comes_next) {
            (false, true) => "+".into(),
            (false, false) => "·".into(),
            (true, _) if self.columns < MIN_TOKENS_COLUMNS => String::new(),
            (true, _) if self.columns < MIN_SHARE_COLUMNS => meter::tokens(file.tokens as u64),
            (true, _) => {
                let share = file.tokens as f64 * 100.0 / self.map.tokens.max(1) as f64;
                format!("{} {share:>2.0} %", meter::tokens(file.tokens as u64))
            }
        }
    }

    fn symbol(&mut self, place: usize, at: usize, symbol: &RankedSymbol, coloring: &mut Coloring) -> Line<'static> {
        let theme = self.app.theme();
        let path = self.map.files.get(place).map_or("", |file| &*file.path);
        let choice = symbol_choice(path, &symbol.name);
        let (mark, role) = match () {
            () if self.app.session.map().pinned.contains(&choice) => ("★ ", Role::Badge),
            () if self.app.session.map().banned.contains(&choice) => ("✗ ", Role::Warning),
            () if symbol.shown => ("│ ", Role::Muted),
            () => ("· ", Role::Muted),
        };
        // Members are indented below their container.
        let indent = if symbol.container.is_some() { "  " } else { "" };
        let number = format!("{:>7} ", symbol.line);
        let room = self.columns.saturating_sub(number.len() + 2 + indent.len());
        let mut line = Line::from(vec![
            Span::styled(number, theme.style(Role::Gutter)),
            Span::styled(mark, theme.style(role)),
            Span::raw(indent),
        ]);
        let signature = sanitize::visible_line(&symbol.signature);
        if self.filter.is_some() {
            line.spans.extend(self.name(&signature, room, false, theme.style(Role::Text)));
        } else if symbol.shown {
            line.spans.extend(self.signature(place, at, symbol, room, coloring).spans);
        } else {
            line.spans.push(Span::styled(width::clip(&signature, room).into_owned(), theme.style(Role::Muted)));
        }
        line
    }

    /// The signature of a symbol in colours. The signatures of a file are coloured together.
    fn signature(
        &mut self,
        place: usize,
        at: usize,
        symbol: &RankedSymbol,
        room: usize,
        coloring: &mut Coloring,
    ) -> Line<'static> {
        let (map, theme) = (self.map, self.app.theme());
        let colors = self.colors.entry(place).or_insert_with(|| {
            let path = map.files.get(place).map_or("", |file| &*file.path);
            let lines = map.symbols(place).iter().take(MAX_COLORED_SYMBOLS);
            let text: String =
                lines.map(|symbol| format!("{}\n", symbol.signature.replace(['\n', '\r'], " "))).collect();
            coloring.get(Language::Path(path), &text)
        });
        let spans = colors.as_ref().and_then(|colors| colors.get(at)).map_or(&[][..], Vec::as_slice);
        cut(&colored(&symbol.signature.replace(['\n', '\r'], " "), spans, theme), room.max(1), theme.style(Role::Muted))
    }

    fn rule(&self, rule: Rule) -> Line<'static> {
        let theme = self.app.theme();
        let (dash, role) = match rule {
            Rule::Fits => ("─", Role::Accent),
            Rule::Next => ("┄", Role::Muted),
            Rule::Out => ("─", Role::Warning),
        };
        let text = format!("{} {} ", dash.repeat(2), rule_text(self.app, self.map, rule));
        let text = width::clip(&text, self.columns).into_owned();
        let rest = self.columns.saturating_sub(width::columns(&text));
        Line::styled(format!("{text}{}", dash.repeat(rest)), theme.style(role))
    }

    fn banned(&self, choice: &str) -> Line<'static> {
        let theme = self.app.theme();
        let shown = sanitize::visible_line(choice);
        let shown = width::clip_start(&shown, self.columns.saturating_sub(2)).into_owned();
        Line::from(vec![Span::styled("✗ ", theme.style(Role::Warning)), Span::styled(shown, theme.style(Role::Muted))])
    }

    /// A name in at most `columns` columns, with highlighted matches.
    fn name(&mut self, name: &str, columns: usize, keep_end: bool, style: Style) -> Vec<Span<'static>> {
        let name = sanitize::visible_line(name);
        let shown = if keep_end { width::clip_start(&name, columns) } else { width::clip(&name, columns) };
        let hits = self.filter.as_mut().map(|filter| filter.positions(&name)).unwrap_or_default();
        if hits.is_empty() {
            return vec![Span::styled(shown.into_owned(), style)];
        }
        // Characters that were cut off before the shown part; the mark of the cut counts as the last of them.
        let cut = if keep_end { name.chars().count().saturating_sub(shown.chars().count()) } else { 0 };
        let hit = style.patch(self.app.theme().style(Role::Match));
        mark_characters(&shown, cut, &hits, style, hit)
    }
}
