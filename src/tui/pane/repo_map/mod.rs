//! The map pane: files in rank order, each opening to its symbols, and where the budget ends; or the text that the model gets.

mod line;
mod outline;
mod rows;
mod state;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::session::SurveyState;
use crate::tui::action::{Action, Pane};
use crate::tui::app::App;
use crate::tui::hits::Hit;
use crate::tui::theme::Role;
use crate::tui::view::{ViewCache, pane_block, under_cursor};
use crate::tui::widget::meter;
use crate::tui::widget::scroll::ListWindow;
use rhumb_index::repo_map::RepoMap;
use rhumb_text::fuzzy::FuzzyFilter;
use rhumb_text::{sanitize, width};

pub use outline::MapText;
pub use rows::{MapRow, Rule};
pub use state::MapPane;

/// Draws the pane.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let map = app.map.rows.map().cloned();
    let inner = pane_block(app, frame, area, Pane::Map, &note(app, map.as_deref()));
    let search = u16::from(app.map.filter.is_some());
    let [top, list] = Layout::vertical([Constraint::Length(search), Constraint::Fill(1)]).areas(inner);
    draw_filter(app, frame, top);
    cache.heights[0] = usize::from(list.height);
    let Some(map) = map.filter(|map| !map.files.is_empty() || !app.session.banned.is_empty()) else {
        let text = Line::styled(why_empty(app), app.theme.style(Role::Muted));
        return frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), list);
    };
    match &app.map.text {
        Some(text) => draw_rows(app, cache, frame, list, text.window, |at, cache| {
            text.line(at, usize::from(list.width), app, &mut cache.coloring)
        }),
        None => {
            let mut drawing = line::Drawing::new(app, &map, list.width);
            if let Some(filter) = app.map.filter.as_ref().filter(|filter| filter.found.is_some()) {
                drawing.filter = Some(FuzzyFilter::new(filter.input.text().trim()));
            }
            if app.map.rows.len() == 0 {
                let text = Line::styled("nothing matches", app.theme.style(Role::Muted));
                return frame.render_widget(text, list);
            }
            draw_rows(app, cache, frame, list, app.map.window, |at, cache| {
                Some(drawing.line(app.map.rows.get(at)?, &mut cache.coloring))
            });
        }
    }
}

/// Draws what a window shows, with the cursor, and notes where each row stands.
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
        lines.push(if chosen { under_cursor(row, area.width, &app.theme) } else { row });
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// What the title says: how far the reading is, or what the map weighs.
fn note(app: &App, map: Option<&RepoMap>) -> String {
    let provisional = app.session.view.as_ref().is_some_and(|view| view.provisional);
    let note = match (app.session.survey, map) {
        (SurveyState::Reading(..), None) if app.session.stopping => "reading stops …".to_owned(),
        (SurveyState::Reading(found, 0), None) => format!("listing files: {}", meter::grouped(found)),
        (SurveyState::Reading(done, total), None) => {
            format!("reading {} of {}", meter::grouped(done), meter::grouped(total))
        }
        (_, None) => "ranking".to_owned(),
        (_, Some(map)) if map.budget == 0 => "no room for it".to_owned(),
        (_, Some(map)) => {
            let budget = meter::tokens(map.budget as u64);
            let first = match app.session.survey {
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
    match (app.session.survey, app.map.rows.map()) {
        (SurveyState::Done, Some(_)) if app.session.paths.is_empty() => "There are no files here yet.",
        (SurveyState::Done, Some(_)) => "Every file is in the chat.",
        _ => "The map appears as the repository is read.",
    }
}

/// The letters that are searched, with what they found.
fn draw_filter(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(filter) = app.map.filter.as_ref().filter(|_| area.height > 0) else { return };
    let theme = &app.theme;
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
    let gap = columns.saturating_sub(width::columns(prompt) + width::columns(&typed) + width::columns(&found));
    let line = Line::from(vec![
        Span::styled(prompt, theme.style(Role::Accent)),
        Span::styled(typed, theme.style(Role::Text)),
        Span::raw(" ".repeat(gap)),
        Span::styled(found, theme.style(Role::Muted)),
    ]);
    frame.render_widget(line, area);
    if filter.typing && app.focus == Pane::Map && app.overlay.is_none() {
        let x = area.x.saturating_add(u16::try_from(x).unwrap_or(u16::MAX)).min(area.right().saturating_sub(1));
        frame.set_cursor_position(Position { x, y: area.y });
    }
}

/// The words of a line between files.
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
