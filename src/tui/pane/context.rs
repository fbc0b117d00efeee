//! The context pane: every part of the next request with its tokens, and a gauge against the model's window.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::context::{Part, PartKind, Prompt};
use crate::text::{sanitize, width};
use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::theme::Role;
use crate::tui::view::{ViewCache, pane_block, under_cursor};
use crate::tui::widget::meter;

/// Columns of the gauge of one part.
const PART_GAUGE: usize = 6;

/// Draws the pane.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let Some(view) = &app.session.view else {
        let inner = pane_block(app, frame, area, Pane::Context, "");
        return frame.render_widget(Line::styled("Measuring …", app.theme.style(Role::Muted)), inner);
    };
    let prompt = &view.prompt;
    let note = if prompt.excess() > 0 {
        format!("over by {}", meter::tokens(prompt.excess() as u64))
    } else if !prompt.exact {
        "estimated".to_owned()
    } else {
        String::new()
    };
    let inner = pane_block(app, frame, area, Pane::Context, &note);
    let [list, total] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(inner);
    cache.heights[1] = usize::from(list.height);
    let mut window = app.context;
    window.set_height(usize::from(list.height));
    let lines: Vec<Line<'_>> = window
        .visible()
        .filter_map(|at| {
            let line = part_line(app, prompt.parts.get(at)?, prompt, list.width);
            let chosen = window.selected() == Some(at) && app.focus == Pane::Context;
            Some(if chosen { under_cursor(line, list.width, &app.theme) } else { line })
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), list);
    frame.render_widget(total_line(app, prompt, total.width), total);
}

fn part_line(app: &App, part: &Part, prompt: &Prompt, columns: u16) -> Line<'static> {
    let theme = &app.theme;
    let (mark, role) = match part.kind {
        PartKind::ChatFile(_) => ("✎ ", Role::Text),
        PartKind::ReadOnlyFile(_) => ("= ", Role::Text),
        PartKind::RepoMap => ("◇ ", Role::Text),
        PartKind::History => ("↑ ", Role::Text),
        PartKind::System => ("§ ", Role::Muted),
        PartKind::Draft => ("❯ ", Role::Accent),
    };
    let tokens = format!("{:>6}", meter::tokens(part.tokens as u64));
    let share = part.tokens as f64 / prompt.tokens.max(1) as f64;
    let filled = (share * PART_GAUGE as f64).round() as usize;
    let gauge = format!("{}{}", "▮".repeat(filled.min(PART_GAUGE)), "▯".repeat(PART_GAUGE.saturating_sub(filled)));
    let room = usize::from(columns).saturating_sub(PART_GAUGE + tokens.len() + 4);
    let title = width::clip_start(&sanitize::visible_line(&part.title), room).into_owned();
    let pad = room.saturating_sub(width::columns(&title));
    Line::from(vec![
        Span::styled(mark, theme.style(Role::Accent)),
        Span::styled(title, theme.style(role)),
        Span::raw(" ".repeat(pad + 1)),
        Span::styled(gauge, theme.style(Role::MeterLow)),
        Span::styled(tokens, theme.style(Role::Muted)),
    ])
}

fn total_line(app: &App, prompt: &Prompt, columns: u16) -> Line<'static> {
    // The answer needs its share of the window too.
    let window = prompt.window.max_input() as u64;
    let assumed = if prompt.window.known { "" } else { " assumed" };
    let bare = meter::line(prompt.tokens as u64, window, 0, false, &app.theme).width() + assumed.len();
    let cells = columns.saturating_sub(u16::try_from(bare).unwrap_or(0)).max(4);
    let mut line = meter::line(prompt.tokens as u64, window, cells, false, &app.theme);
    line.push_span(Span::styled(assumed, app.theme.style(Role::Muted)));
    line
}
