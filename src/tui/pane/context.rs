//! The context pane: every chunk of the next request with its tokens, what was left out of it, and a gauge against the
//! model's window. The map and the history say how much they may have; a dot before the tokens of a chunk says that the
//! server keeps the request up to there.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::context::{Chunk, ChunkKind, Prompt, Trimmed};
use crate::models::{Dollars, Tokens};
use crate::text::{sanitize, width};
use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::theme::Role;
use crate::tui::view::{ViewCache, pane_block, under_cursor};
use crate::tui::widget::meter;

/// Columns of the gauge of one part.
const PART_GAUGE: usize = 6;

/// The cost has no line of its own in a pane of so many rows or fewer.
const LEAST_WITH_COST: u16 = 3;

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
    let cut = u16::try_from(prompt.trimmed.len()).unwrap_or(u16::MAX).min(inner.height / 3);
    let cost = cost_line(app);
    let priced = u16::from(cost.is_some() && inner.height > LEAST_WITH_COST);
    let [list, trimmed, total, bill] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(cut),
        Constraint::Length(1),
        Constraint::Length(priced),
    ])
    .areas(inner);
    cache.heights[1] = usize::from(list.height);
    let mut window = app.context;
    window.set_height(usize::from(list.height));
    let lines: Vec<Line<'_>> = window
        .visible()
        .filter_map(|at| {
            let line = part_line(app, prompt.chunks.get(at)?, prompt, list.width);
            let chosen = window.selected() == Some(at) && app.focus == Pane::Context;
            Some(if chosen { under_cursor(line, list.width, &app.theme) } else { line })
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), list);
    let left_out = prompt.trimmed.iter().map(|each| trimmed_line(app, each, trimmed.width));
    frame.render_widget(Paragraph::new(left_out.collect::<Vec<_>>()), trimmed);
    frame.render_widget(total_line(app, prompt, total.width), total);
    if let Some(line) = cost {
        frame.render_widget(line, bill);
    }
}

/// What the next request costs, without its answer and if no cache knew any of it; what was spent, and how much of the last
/// request came from a cache. Nothing where no price is known and nothing was sent.
fn cost_line(app: &App) -> Option<Line<'static>> {
    let session = &app.session;
    let spent = session.ledger.session();
    let next = session.next_cost(0).filter(|next| *next > Dollars::ZERO);
    if next.is_none() && spent.known == Dollars::ZERO {
        return None;
    }
    let mut parts: Vec<String> = next.map(|next| format!("next ≤ {next}")).into_iter().collect();
    if spent.requests > 0 {
        parts.push(format!("spent {spent}"));
    }
    if let Some(last) = &session.last_spent
        && let Some(share) = (last.tokens.cache_read * 100).checked_div(last.tokens.input()).filter(|share| *share > 0)
    {
        let paid = last
            .model
            .prices
            .map(|prices| prices.cost(Tokens { cache_read: last.tokens.cache_read, ..Tokens::default() }));
        let paid = paid.map_or_else(String::new, |paid| format!(" for {paid}"));
        parts.push(format!("{share} % cached{paid}"));
    }
    let role = if session.is_over_cap() { Role::Error } else { Role::Muted };
    Some(Line::styled(parts.join(" · "), app.theme.style(role)))
}

fn part_line(app: &App, part: &Chunk, prompt: &Prompt, columns: u16) -> Line<'static> {
    let theme = &app.theme;
    let (mark, role) = match part.kind {
        ChunkKind::ChatFile(_) => ("✎ ", Role::Text),
        ChunkKind::ReadOnlyFile(_) => ("= ", Role::Text),
        ChunkKind::Image(_) => ("▣ ", Role::Text),
        ChunkKind::RepoMap => ("◇ ", Role::Text),
        ChunkKind::History => ("↑ ", Role::Text),
        ChunkKind::System | ChunkKind::Examples => ("§ ", Role::Muted),
        ChunkKind::Current | ChunkKind::Reminder => ("❯ ", Role::Accent),
    };
    let dot = if part.cached { '•' } else { ' ' };
    let tokens = format!("{dot}{:>5}", meter::tokens(part.tokens as u64));
    let share = part.tokens as f64 / prompt.tokens.max(1) as f64;
    let filled = (share * PART_GAUGE as f64).round() as usize;
    let gauge = format!("{}{}", "▮".repeat(filled.min(PART_GAUGE)), "▯".repeat(PART_GAUGE.saturating_sub(filled)));
    let room = usize::from(columns).saturating_sub(PART_GAUGE + width::columns(&tokens) + 4);
    let most = match part.kind {
        ChunkKind::RepoMap => Some(prompt.plan.map),
        ChunkKind::History => Some(prompt.plan.history),
        _ => None,
    };
    let title = match most {
        Some(most) => format!("{} ≤ {}", part.title, meter::tokens(most as u64)),
        None => width::clip_start(&sanitize::visible_line(&part.title), room).into_owned(),
    };
    let pad = room.saturating_sub(width::columns(&title));
    Line::from(vec![
        Span::styled(mark, theme.style(Role::Accent)),
        Span::styled(title, theme.style(role)),
        Span::raw(" ".repeat(pad + 1)),
        Span::styled(gauge, theme.style(Role::MeterLow)),
        Span::styled(tokens, theme.style(Role::Muted)),
    ])
}

fn trimmed_line(app: &App, trimmed: &Trimmed, columns: u16) -> Line<'static> {
    let text = format!("✂ {trimmed}");
    Line::styled(width::clip(&text, usize::from(columns)).into_owned(), app.theme.style(Role::Warning))
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
