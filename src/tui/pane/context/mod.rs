//! The context pane: every chunk of the next request with its tokens, what was left out of it, and a gauge against the
//! model's window. The map and the history say how much they may have; a dot before the tokens of a chunk says that the
//! server keeps the request up to there. The last rows say what all of it costs, and what would be saved without the chunk under the
//! cursor; the first ones what has to go when it is too much.

mod rows;
mod saving;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use std::collections::BTreeSet;

use crate::context::{Chunk, ChunkKind, Prompt, PromptSecret, SentPassage, Trimmed};
use crate::tui::action::{Action, Pane};
use crate::tui::app::App;
use crate::tui::hits::Hit;
use crate::tui::theme::Role;
use crate::tui::view::{ViewCache, pane_block, under_cursor};
use crate::tui::widget::meter;
use rhumb_llm::models::{Dollars, Tokens};
use rhumb_text::{sanitize, width};

pub use rows::{ContextOrder, ContextRow, rows};

/// Columns of the gauge of one part.
const PART_GAUGE: usize = 6;

/// In fewer columns than this a chunk has no gauge: its name and its tokens say more.
const LEAST_WITH_GAUGE: usize = 28;

/// The line about what would be saved is left out in a pane of so many rows or fewer, and what to do when it is too much in one of
/// fewer than so many: the title says that it is.
const LEAST_WITH_SAVING: u16 = 5;
const LEAST_WITH_BANNER: u16 = 6;

/// The cost has no line of its own in a pane of so many rows or fewer.
const LEAST_WITH_COST: u16 = 3;

/// Draws the pane.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let Some(view) = &app.session.view else {
        let inner = pane_block(app, frame, area, Pane::Context, "");
        return frame.render_widget(Line::styled("Measuring …", app.theme.style(Role::Muted)), inner);
    };
    let prompt = &view.prompt;
    let inner = pane_block(app, frame, area, Pane::Context, &note(app, prompt));
    let over = too_much(app, prompt, inner);
    let cut = u16::try_from(prompt.trimmed.len()).unwrap_or(u16::MAX).min(inner.height / 3);
    let cost = cost_line(app);
    let priced = u16::from(cost.is_some() && inner.height > LEAST_WITH_COST);
    let saving = (app.focus == Pane::Context && inner.height > LEAST_WITH_SAVING).then(|| saving::line(app, prompt));
    let saving = saving.flatten();
    let [banner, list, trimmed, saved, total, bill] = Layout::vertical([
        Constraint::Length(u16::try_from(over.len()).unwrap_or(0)),
        Constraint::Fill(1),
        Constraint::Length(cut),
        Constraint::Length(u16::from(saving.is_some())),
        Constraint::Length(1),
        Constraint::Length(priced),
    ])
    .areas(inner);
    frame.render_widget(Paragraph::new(over), banner);
    draw_list(app, cache, frame, list, prompt);
    let left_out = prompt.trimmed.iter().map(|each| trimmed_line(app, each, trimmed.width));
    frame.render_widget(Paragraph::new(left_out.collect::<Vec<_>>()), trimmed);
    if let Some(text) = saving {
        let text = width::clip(&text, usize::from(saved.width)).into_owned();
        frame.render_widget(Line::styled(text, app.theme.style(Role::Accent)), saved);
    }
    frame.render_widget(total_line(app, prompt, total.width), total);
    if let Some(line) = cost {
        frame.render_widget(line, bill);
    }
}

/// What the title says: that it is too much, that the count is an estimate, the order if it is not the usual one.
fn note(app: &App, prompt: &Prompt) -> String {
    let mut parts = Vec::new();
    if prompt.excess() > 0 {
        parts.push(format!("over by {}", meter::tokens(prompt.excess() as u64)));
    } else if !prompt.exact {
        parts.push("estimated".to_owned());
    }
    if app.context_order != ContextOrder::AsSent {
        parts.push(app.context_order.title().to_owned());
    }
    parts.join(" · ")
}

/// The chunks, with the cursor.
fn draw_list(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect, prompt: &Prompt) {
    cache.heights[1] = usize::from(area.height);
    let mut window = app.context;
    window.set_height(usize::from(area.height));
    let rows = rows(prompt, app.context_order, app.passages_open);
    let to_go = to_go(prompt);
    let mut lines = Vec::new();
    for (at, y) in window.visible().zip(area.y..) {
        let line = match rows.get(at) {
            Some(ContextRow::Chunk(place)) => match prompt.chunks.get(*place) {
                Some(chunk) => part_line(app, (*place, chunk), prompt, to_go.contains(place), area.width),
                None => continue,
            },
            Some(ContextRow::Passage(place)) => match prompt.passages.get(*place) {
                Some(passage) => passage_line(app, passage, prompt, area.width),
                None => continue,
            },
            Some(ContextRow::Kind(kind, count, tokens)) => kind_line(app, (kind, *count, *tokens), prompt, area.width),
            None => continue,
        };
        cache.hits.add(Rect { y, height: 1, ..area }, Hit::Row(Pane::Context, at));
        let chosen = window.selected() == Some(at) && app.focus == Pane::Context;
        lines.push(if chosen { under_cursor(line, area.width, &app.theme) } else { line });
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// The chunks that have to go for the request to fit, by their places: the largest files first.
fn to_go(prompt: &Prompt) -> BTreeSet<usize> {
    let (mut excess, mut places) = (prompt.excess(), BTreeSet::new());
    let candidates = prompt.overfull.iter().flat_map(|over| &over.candidates);
    for candidate in candidates {
        if excess == 0 {
            break;
        }
        let place = prompt.chunks.iter().position(|chunk| chunk.kind.path() == Some(candidate.path.as_str()));
        places.extend(place);
        excess = excess.saturating_sub(candidate.tokens);
    }
    places
}

/// What is too much, and what to do about it; nothing while the request fits.
fn too_much(app: &App, prompt: &Prompt, area: Rect) -> Vec<Line<'static>> {
    if prompt.excess() == 0 || area.height < LEAST_WITH_BANNER {
        return Vec::new();
    }
    let theme = &app.theme;
    let excess = meter::tokens(prompt.excess() as u64);
    let window = if prompt.window.known { "it cannot be sent" } else { "the window is only assumed" };
    let first = format!("▲ {excess} tokens too many: {window}");
    let files = to_go(prompt).len();
    let over = prompt.overfull.as_ref();
    let advice = match over {
        Some(over) if over.head > 0 && over.head_suffices => {
            format!("  a summary of the first {} messages would do, or /clear", over.head)
        }
        _ if files > 0 => {
            let enough = if files == 1 { "the one marked ▲ is" } else { "those marked ▲ are" };
            format!("  {} drops a file: {enough} enough", app.keys.first(Action::ContextDrop))
        }
        _ => "  a shorter message, or a model with a larger window".to_owned(),
    };
    let line = |text: &str, role: Role| {
        Line::styled(width::clip(text, usize::from(area.width)).into_owned(), theme.style(role))
    };
    vec![line(&first, Role::Error), line(&advice, Role::Warning)]
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

/// The heading of a kind, with its sum.
fn kind_line(app: &App, (kind, count, tokens): (&str, usize, usize), prompt: &Prompt, columns: u16) -> Line<'static> {
    let theme = &app.theme;
    let count = if count > 1 { format!(" · {count}") } else { String::new() };
    let tokens_text = format!(" {:>5}", meter::tokens(tokens as u64));
    let share = format!("{:>3.0} %", tokens as f64 * 100.0 / prompt.tokens.max(1) as f64);
    let used = width::columns(kind) + width::columns(&count) + width::columns(&share) + width::columns(&tokens_text);
    Line::from(vec![
        Span::styled(kind.to_owned(), theme.style(Role::Title)),
        Span::styled(count, theme.style(Role::Muted)),
        Span::raw(" ".repeat(usize::from(columns).saturating_sub(used))),
        Span::styled(share, theme.style(Role::Muted)),
        Span::styled(tokens_text, theme.style(Role::Title)),
    ])
}

fn part_line(app: &App, (place, part): (usize, &Chunk), prompt: &Prompt, to_go: bool, columns: u16) -> Line<'static> {
    let theme = &app.theme;
    let secrets: Vec<&PromptSecret> = prompt.secrets.iter().filter(|secret| secret.chunk == place).collect();
    let (mark, role) = match part.kind {
        _ if to_go => ("▲ ", Role::Error),
        _ if !secrets.is_empty() => ("! ", Role::Warning),
        ChunkKind::ChatFile(_) => ("✎ ", Role::Text),
        ChunkKind::ReadOnlyFile(_) => ("= ", Role::Text),
        ChunkKind::Image(_) => ("▣ ", Role::Text),
        ChunkKind::RepoMap => ("◇ ", Role::Text),
        ChunkKind::Passages => ("∷ ", Role::Text),
        ChunkKind::History => ("↑ ", Role::Text),
        ChunkKind::System | ChunkKind::Examples => ("§ ", Role::Muted),
        ChunkKind::Current | ChunkKind::Reminder => ("❯ ", Role::Accent),
    };
    let dot = if part.cached { '•' } else { ' ' };
    let level = if to_go { Role::MeterHigh } else { Role::MeterLow };
    let weight = weight(app, (part.tokens, dot, level), prompt, columns);
    let room = room_beside(&weight, columns);
    let most = match part.kind {
        ChunkKind::RepoMap => Some(prompt.plan.map),
        ChunkKind::Passages => Some(prompt.plan.passages),
        ChunkKind::History => Some(prompt.plan.history),
        _ => None,
    };
    let title = match most {
        Some(most) => {
            let title = match part.kind {
                ChunkKind::Passages => format!("{} · {}", part.title, prompt.passages.len()),
                _ => part.title.clone(),
            };
            let whole = format!("{title} ≤ {}", meter::tokens(most as u64));
            if width::columns(&whole) <= room { whole } else { width::clip(&title, room).into_owned() }
        }
        None => width::clip_start(&sanitize::visible_line(&part.title), room).into_owned(),
    };
    let keys = keys_note(&secrets);
    let title = if width::columns(&title) + width::columns(&keys) <= room { title + &keys } else { title };
    let pad = room.saturating_sub(width::columns(&title));
    let mut line = Line::from(vec![
        Span::styled(mark, theme.style(if to_go || !secrets.is_empty() { role } else { Role::Accent })),
        Span::styled(title, theme.style(role)),
        Span::raw(" ".repeat(pad + 1)),
    ]);
    line.spans.extend(weight);
    line
}

/// How many keys stand in a chunk, and what becomes of them.
fn keys_note(secrets: &[&PromptSecret]) -> String {
    let does = if secrets.iter().all(|secret| secret.masked) { "masked" } else { "sent" };
    match secrets.len() {
        0 => String::new(),
        1 => format!(" · 1 key {does}"),
        many => format!(" · {many} keys {does}"),
    }
}

/// A passage of the repository below its chunk: its lines, and the definition that it was found for.
fn passage_line(app: &App, passage: &SentPassage, prompt: &Prompt, columns: u16) -> Line<'static> {
    let theme = &app.theme;
    let weight = weight(app, (passage.tokens, ' ', Role::MeterLow), prompt, columns);
    let room = room_beside(&weight, columns).saturating_sub(2);
    let label = passage.place.label();
    let place = width::clip_start(&sanitize::visible_line(&label), room).into_owned();
    let symbol = passage.place.anchor.as_ref().map_or("", |anchor| anchor.symbol.as_str());
    let free = room.saturating_sub(width::columns(&place));
    let symbol = format!("  {}", sanitize::visible_line(symbol));
    let symbol = if width::columns(&symbol) <= free { symbol } else { String::new() };
    let mut line = Line::from(vec![
        Span::raw("    "),
        Span::styled(place, theme.style(Role::Text)),
        Span::raw(" ".repeat(free - width::columns(&symbol) + 1)),
    ]);
    line.spans.insert(2, Span::styled(symbol, theme.style(Role::Muted)));
    line.spans.extend(weight);
    line
}

/// What a part of the request weighs, at the right: a gauge where there is room for it, and the tokens behind a dot or a blank.
fn weight(app: &App, (tokens, dot, level): (usize, char, Role), prompt: &Prompt, columns: u16) -> [Span<'static>; 3] {
    let theme = &app.theme;
    let share = tokens as f64 / prompt.tokens.max(1) as f64;
    let gauge = if usize::from(columns) < LEAST_WITH_GAUGE { 0 } else { PART_GAUGE };
    let filled = ((share * gauge as f64).round() as usize).min(gauge);
    [
        Span::styled("▮".repeat(filled), theme.style(level)),
        Span::styled("▯".repeat(gauge - filled), theme.style(Role::MeterEmpty)),
        Span::styled(format!("{dot}{:>5}", meter::tokens(tokens as u64)), theme.style(Role::Muted)),
    ]
}

/// The columns of a title between its mark and what stands at the right; one stays free beside each.
fn room_beside(weight: &[Span<'_>], columns: u16) -> usize {
    let used: usize = weight.iter().map(Span::width).sum();
    usize::from(columns).saturating_sub(used + 4)
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
    let cells = columns.saturating_sub(u16::try_from(bare).unwrap_or(0)).max(2);
    let mut line = meter::line(prompt.tokens as u64, window, cells, false, &app.theme);
    line.push_span(Span::styled(assumed, app.theme.style(Role::Muted)));
    line
}
