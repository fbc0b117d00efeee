//! The map pane: files in rank order, each opening to its symbols, and where the budget ends.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::repo_map::{RankedFile, RankedSymbol};
use crate::session::SurveyState;
use crate::text::{sanitize, width};
use crate::tui::act::MapRow;
use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::theme::Role;
use crate::tui::view::{ViewCache, pane_block, under_cursor};
use crate::tui::widget::meter;

/// Cells of the gauge that shows a file's rank against the best.
const GAUGE: usize = 5;

/// Draws the pane.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let map = app.session.view.as_ref().and_then(|view| view.map.as_ref());
    let provisional = app.session.view.as_ref().is_some_and(|view| view.provisional);
    let note = match (app.session.survey, map) {
        (SurveyState::Reading(done, 0), None) => format!("listing: {done} files"),
        (SurveyState::Reading(done, total), None) => format!("reading {done}/{total}"),
        (_, None) => "ranking".to_owned(),
        (_, Some(map)) if map.budget == 0 => "no room for it".to_owned(),
        (_, Some(map)) => {
            let budget = meter::tokens(map.budget as u64);
            let first = if provisional { "first guess · " } else { "" };
            format!("{first}{} of {budget} tokens", meter::tokens(map.tokens as u64))
        }
    };
    let inner = pane_block(app, frame, area, Pane::Map, &note);
    cache.heights[0] = usize::from(inner.height);
    let rows = app.map_rows();
    if rows.is_empty() {
        let text = match (app.session.survey, map) {
            (SurveyState::Done, Some(_)) if app.session.paths.is_empty() => "There are no files here yet.",
            (SurveyState::Done, Some(_)) => "Every file is in the chat.",
            _ => "The map fills in as the repository is read.",
        };
        return frame.render_widget(Line::styled(text, app.theme.style(Role::Muted)), inner);
    }
    let mut window = app.map.window;
    window.set_height(usize::from(inner.height));
    let best = app.ranked_files().first().map_or(1.0, |file| file.rank).max(f64::MIN_POSITIVE);
    let lines: Vec<Line<'_>> = window
        .visible()
        .filter_map(|at| {
            let line = match *rows.get(at)? {
                MapRow::File(file) => file_line(app, app.ranked_files().get(file)?, best, inner.width),
                MapRow::Symbol(file, symbol) => symbol_line(app, app.ranked_symbols(file).get(symbol)?, inner.width),
            };
            let chosen = window.selected() == Some(at) && app.focus == Pane::Map;
            Some(if chosen { under_cursor(line, inner.width, &app.theme) } else { line })
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

fn file_line(app: &App, file: &RankedFile, best: f64, columns: u16) -> Line<'static> {
    let theme = &app.theme;
    let open = app.map.open.contains(&*file.path);
    let arrow = if file.definitions == 0 {
        " "
    } else if open {
        "▾"
    } else {
        "▸"
    };
    let filled = ((file.rank / best) * GAUGE as f64).ceil().clamp(0.0, GAUGE as f64) as usize;
    let gauge = format!("{}{}", "▮".repeat(filled), "▯".repeat(GAUGE - filled));
    let count = match file.definitions {
        0 => String::new(),
        count => format!(" {count}"),
    };
    // Files that the budget leaves out are marked, not only dimmed.
    let pinned = app.session.pinned.contains(&*file.path);
    let mark = match (pinned, file.shown) {
        (true, _) => " pinned",
        (false, true) => "",
        (false, false) => " ·",
    };
    let room = usize::from(columns).saturating_sub(GAUGE + 3 + width::columns(&count) + width::columns(mark));
    let path = width::clip_start(&sanitize::visible_line(&file.path), room).into_owned();
    let role = if file.shown { Role::Text } else { Role::Muted };
    Line::from(vec![
        Span::styled(format!("{arrow} "), theme.style(Role::Accent)),
        Span::styled(gauge, theme.style(if file.shown { Role::MeterLow } else { Role::MeterEmpty })),
        Span::styled(format!(" {path}"), theme.style(role)),
        Span::styled(format!("{count}{mark}"), theme.style(Role::Muted)),
    ])
}

fn symbol_line(app: &App, symbol: &RankedSymbol, columns: u16) -> Line<'static> {
    let theme = &app.theme;
    // Members stand below what they belong to.
    let indent = if symbol.container.is_some() { "  " } else { "" };
    let number = format!("{:>7} ", symbol.line);
    let room = usize::from(columns).saturating_sub(number.len() + 2 + indent.len());
    let signature = width::clip(&sanitize::visible_line(&symbol.signature), room).into_owned();
    let role = if symbol.shown { Role::Text } else { Role::Muted };
    let mark = if symbol.shown { "│ " } else { "· " };
    Line::from(vec![
        Span::styled(number, theme.style(Role::Gutter)),
        Span::styled(mark, theme.style(Role::Muted)),
        Span::styled(format!("{indent}{signature}"), theme.style(role)),
    ])
}
