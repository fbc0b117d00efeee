//! The context pane: every section of the next request with its tokens, the omitted parts, and a gauge against the model's
//! window. The map and the history show their limits. A dot before the tokens of a section means that the server caches the
//! request up to there. The last rows show the cost of the request and the saving without the section under the cursor; the
//! first rows show which parts must be dropped if the request is too large.

use rhumb_llm::models::{Dollars, Tokens};
use rhumb_session::context::{Prompt, PromptSecret, Section, SectionKind, SentChunk};
use rhumb_session::{PassageCommand, ToolUse};

use super::overlay::{Place, SectionView};
use super::widget::meter;
use crate::tui::prelude::*;

/// Columns of the gauge of one part.
const PART_GAUGE: usize = 6;

/// Minimum width at which a section has a gauge. In fewer columns, its name and its tokens are more useful.
const MIN_GAUGE_COLUMNS: usize = 28;

/// Panes with at most this many rows omit the line about possible savings, and panes with fewer rows than the second
/// limit omit the advice for an oversized request: the title has the warning.
const MIN_SAVING_ROWS: u16 = 5;
const MIN_BANNER_ROWS: u16 = 6;

/// Panes with at most this many rows have no separate line for the cost.
const MIN_COST_ROWS: u16 = 3;

#[derive(Debug, Default)]
pub struct ContextPane {
    pub window: ListWindow,
    order: SectionOrder,
    /// Whether each passage has a row.
    pub passages_open: bool,
}

pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let Some(view) = app.session.view() else {
        let inner = pane_block(app, frame, area, Pane::Context, "");
        return frame.render_widget(Line::styled("Measuring …", app.theme().style(Role::Muted)), inner);
    };
    let prompt = &view.prompt;
    let inner = pane_block(app, frame, area, Pane::Context, &note(app, prompt));
    let over = too_much(app, prompt, inner);
    let cut = cells(prompt.omitted.len()).min(inner.height / 3);
    let cost = cost_line(app);
    let priced = u16::from(cost.is_some() && inner.height > MIN_COST_ROWS);
    let saving = (app.focus == Pane::Context && inner.height > MIN_SAVING_ROWS).then(|| saving_line(app, prompt));
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
    let warning = app.theme().style(Role::Warning);
    let left_out = prompt.omitted.iter().map(|each| clipped(&format!("✂ {each}"), trimmed.width, warning));
    frame.render_widget(Paragraph::new(left_out.collect::<Vec<_>>()), trimmed);
    if let Some(text) = saving {
        frame.render_widget(clipped(&text, saved.width, app.theme().style(Role::Accent)), saved);
    }
    frame.render_widget(total_line(app, prompt, total.width), total);
    if let Some(line) = cost {
        frame.render_widget(line, bill);
    }
}

/// The title: excess, estimate, and the order if it is not the default.
fn note(app: &App, prompt: &Prompt) -> String {
    let mut parts = Vec::new();
    if prompt.excess() > 0 {
        parts.push(format!("over by {}", meter::tokens(prompt.excess() as u64)));
    } else if !prompt.exact {
        parts.push("estimated".to_owned());
    }
    if app.context.order != SectionOrder::AsSent {
        parts.push(app.context.order.title().to_owned());
    }
    parts.join(" · ")
}

fn draw_list(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect, prompt: &Prompt) {
    cache.heights[1] = usize::from(area.height);
    let rows = rows(prompt, app.context.order, app.context.passages_open);
    let to_go = to_go(prompt);
    let tools = tool_results(app, prompt);
    draw_rows(app, cache, frame, (Pane::Context, area), app.context.window, |at, _| match *rows.get(at)? {
        ContextRow::Section(place) => {
            let section = prompt.sections.get(place)?;
            let tool = tools.get(&place).copied();
            Some(part_line(app, (place, section, tool), prompt, to_go.contains(&place), area.width))
        }
        ContextRow::Passage(place) => Some(passage_line(app, prompt.passages.get(place)?, prompt, area.width)),
        ContextRow::Kind { name, sections, tokens } => {
            Some(kind_line(app, (name, sections, tokens), prompt, area.width))
        }
    });
}

/// The largest files that must be dropped for the request to fit.
fn to_go(prompt: &Prompt) -> BTreeSet<usize> {
    let (mut excess, mut places) = (prompt.excess(), BTreeSet::new());
    let candidates = prompt.oversized.iter().flat_map(|over| &over.droppable_files);
    for candidate in candidates {
        if excess == 0 {
            break;
        }
        let place = prompt.sections.iter().position(|section| section.kind.path() == Some(candidate.path.as_str()));
        places.extend(place);
        excess = excess.saturating_sub(candidate.tokens);
    }
    places
}

/// The excess and what to do about it. Empty while the request fits.
fn too_much(app: &App, prompt: &Prompt, area: Rect) -> Lines {
    if prompt.excess() == 0 || area.height < MIN_BANNER_ROWS {
        return Vec::new();
    }
    let theme = app.theme();
    let excess = meter::tokens(prompt.excess() as u64);
    let window = if prompt.window.known { "it cannot be sent" } else { "the window is only assumed" };
    let first = format!("▲ {excess} tokens too many: {window}");
    let files = to_go(prompt).len();
    let over = prompt.oversized.as_ref();
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
    let line = |text: &str, role: Role| clipped(text, area.width, theme.style(role));
    vec![line(&first, Role::Error), line(&advice, Role::Warning)]
}

/// The cost of the next request without its answer and without caching, the amount spent so far, and the cached share of the
/// last request. `None` if no price is known and nothing was sent.
fn cost_line(app: &App) -> Option<Line<'static>> {
    let session = &app.session;
    let spent = session.ledger().session();
    let next = session.next_cost(0).filter(|next| *next > Dollars::ZERO);
    if next.is_none() && spent.known == Dollars::ZERO {
        return None;
    }
    let mut parts: Vec<String> = next.map(|next| format!("next ≤ {next}")).into_iter().collect();
    if spent.requests > 0 {
        parts.push(format!("spent {spent}"));
    }
    if let Some(last) = session.last_spent()
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
    Some(Line::styled(parts.join(" · "), app.theme().style(role)))
}

fn kind_line(
    app: &App,
    (name, sections, tokens): (&str, usize, usize),
    prompt: &Prompt,
    columns: u16,
) -> Line<'static> {
    let theme = app.theme();
    let count = if sections > 1 { format!(" · {sections}") } else { String::new() };
    let tokens_text = format!(" {:>5}", meter::tokens(tokens as u64));
    let share = format!("{:>3.0} %", tokens as f64 * 100.0 / prompt.tokens.max(1) as f64);
    let (title, muted) = (theme.style(Role::Title), theme.style(Role::Muted));
    let left = vec![Span::styled(name.to_owned(), title), Span::styled(count, muted)];
    spread(left, vec![Span::styled(share, muted), Span::styled(tokens_text, title)], usize::from(columns))
}

fn part_line(
    app: &App,
    (place, part, tool): (usize, &Section, Option<&ToolUse>),
    prompt: &Prompt,
    to_go: bool,
    columns: u16,
) -> Line<'static> {
    let theme = app.theme();
    let secrets: Vec<&PromptSecret> = prompt.secrets.iter().filter(|secret| secret.section == place).collect();
    let (mark, role) = match part.kind {
        _ if to_go => ("▲ ", Role::Error),
        _ if !secrets.is_empty() => ("! ", Role::Warning),
        SectionKind::ChatFile(_) => ("✎ ", Role::Text),
        SectionKind::ReadOnlyFile(_) => ("= ", Role::Text),
        SectionKind::Image(_) => ("▣ ", Role::Text),
        SectionKind::RepoMap => ("◇ ", Role::Text),
        SectionKind::Passages => ("∷ ", Role::Text),
        SectionKind::History => ("↑ ", Role::Text),
        SectionKind::System | SectionKind::Examples | SectionKind::Tools => ("§ ", Role::Muted),
        SectionKind::Step => ("» ", Role::Text),
        SectionKind::ToolResult(_) if tool.is_some_and(|tool| tool.is_dropped) => ("✂ ", Role::Muted),
        SectionKind::ToolResult(_) if tool.is_some_and(|tool| tool.is_pinned) => ("★ ", Role::Text),
        SectionKind::ToolResult(_) => ("← ", Role::Text),
        SectionKind::Current | SectionKind::Reminder => ("❯ ", Role::Accent),
    };
    let dot = if part.cached { '•' } else { ' ' };
    let level = if to_go { Role::MeterHigh } else { Role::MeterLow };
    let weight = weight(app, (part.tokens, dot, level), prompt, columns);
    let available = columns_beside(&weight, columns);
    let most = match part.kind {
        SectionKind::RepoMap => Some(prompt.plan.map),
        SectionKind::Passages => Some(prompt.plan.passages),
        SectionKind::History => Some(prompt.plan.history),
        _ => None,
    };
    let title = match most {
        Some(most) => {
            let title = match part.kind {
                SectionKind::Passages => format!("{} · {}", part.title, prompt.passages.len()),
                _ => part.title.clone(),
            };
            let whole = format!("{title} ≤ {}", meter::tokens(most as u64));
            if width::columns(&whole) <= available { whole } else { width::clip(&title, available).into_owned() }
        }
        None => match tool {
            Some(tool) => {
                let (name, summary) = tool.description();
                let stub = if tool.is_dropped { " · dropped" } else { "" };
                let available = available.saturating_sub(width::columns(stub));
                width::clip(&sanitize::visible_line(&format!("{name} {summary}")), available).into_owned() + stub
            }
            None => width::clip_start(&sanitize::visible_line(&part.title), available).into_owned(),
        },
    };
    let keys = keys_note(&secrets);
    let title = if width::columns(&title) + width::columns(&keys) <= available { title + &keys } else { title };
    let mark = Span::styled(mark, theme.style(if to_go || !secrets.is_empty() { role } else { Role::Accent }));
    spread(vec![mark, Span::styled(title, theme.style(role))], weight.to_vec(), usize::from(columns).saturating_sub(1))
}

fn keys_note(secrets: &[&PromptSecret]) -> String {
    let does = if secrets.iter().all(|secret| secret.masked) { "masked" } else { "sent" };
    match secrets.len() {
        0 => String::new(),
        1 => format!(" · 1 key {does}"),
        many => format!(" · {many} keys {does}"),
    }
}

/// The row of a passage: its lines, and the definition that it contains.
fn passage_line(app: &App, passage: &SentChunk, prompt: &Prompt, columns: u16) -> Line<'static> {
    let theme = app.theme();
    let weight = weight(app, (passage.tokens, ' ', Role::MeterLow), prompt, columns);
    let available = columns_beside(&weight, columns).saturating_sub(2);
    let label = passage.location.label();
    let place = width::clip_start(&sanitize::visible_line(&label), available).into_owned();
    let symbol = passage.location.anchor.as_ref().map_or("", |anchor| anchor.symbol.as_str());
    let free = available.saturating_sub(width::columns(&place));
    let symbol = format!("  {}", sanitize::visible_line(symbol));
    let symbol = if width::columns(&symbol) <= free { symbol } else { String::new() };
    let left = vec![
        Span::raw("    "),
        Span::styled(place, theme.style(Role::Text)),
        Span::styled(symbol, theme.style(Role::Muted)),
    ];
    spread(left, weight.to_vec(), usize::from(columns).saturating_sub(1))
}

/// The gauge and the tokens of a part, at the right of its row.
fn weight(app: &App, (tokens, dot, level): (usize, char, Role), prompt: &Prompt, columns: u16) -> [Span<'static>; 3] {
    let theme = app.theme();
    let share = tokens as f64 / prompt.tokens.max(1) as f64;
    let gauge = if usize::from(columns) < MIN_GAUGE_COLUMNS { 0 } else { PART_GAUGE };
    let filled = ((share * gauge as f64).round() as usize).min(gauge);
    let [full, empty] = meter::gauge(filled, gauge, level, theme);
    [full, empty, Span::styled(format!("{dot}{:>5}", meter::tokens(tokens as u64)), theme.style(Role::Muted))]
}

/// The columns for a title between its mark and the part at the right.
fn columns_beside(weight: &[Span<'_>], columns: u16) -> usize {
    let used: usize = weight.iter().map(Span::width).sum();
    usize::from(columns).saturating_sub(used + 4)
}

fn total_line(app: &App, prompt: &Prompt, columns: u16) -> Line<'static> {
    // The answer needs its share of the window too.
    let window = prompt.window.max_input() as u64;
    let assumed = if prompt.window.known { "" } else { " assumed" };
    let bare = meter::line(prompt.tokens as u64, window, 0, app.theme()).width() + assumed.len();
    let cells = columns.saturating_sub(u16::try_from(bare).unwrap_or(0)).max(2);
    let mut line = meter::line(prompt.tokens as u64, window, cells, app.theme());
    line.push_span(Span::styled(assumed, app.theme().style(Role::Muted)));
    line
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SectionOrder {
    #[default]
    AsSent,
    BySize,
    ByKind,
}

impl SectionOrder {
    pub fn next(self) -> Self {
        match self {
            Self::AsSent => Self::BySize,
            Self::BySize => Self::ByKind,
            Self::ByKind => Self::AsSent,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::AsSent => "as sent",
            Self::BySize => "by size",
            Self::ByKind => "by kind",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextRow {
    /// A section, by its index in the request.
    Section(usize),
    /// A passage, by its index.
    Passage(usize),
    /// The heading above the sections of a kind.
    Kind {
        name: &'static str,
        /// The number of the sections, and their tokens together.
        sections: usize,
        tokens: usize,
    },
}

/// The rows of a request. With `open`, the passages follow their section.
pub fn rows(prompt: &Prompt, order: SectionOrder, open: bool) -> Vec<ContextRow> {
    let is_passages = |row: &ContextRow| match row {
        ContextRow::Section(place) => {
            prompt.sections.get(*place).is_some_and(|section| section.kind == SectionKind::Passages)
        }
        _ => false,
    };
    let below = |row: &ContextRow| if open && is_passages(row) { 0..prompt.passages.len() } else { 0..0 };
    let with_below = |row: ContextRow| std::iter::once(row).chain(below(&row).map(ContextRow::Passage));
    section_rows(prompt, order).into_iter().flat_map(with_below).collect()
}

fn section_rows(prompt: &Prompt, order: SectionOrder) -> Vec<ContextRow> {
    let mut places: Vec<usize> = (0..prompt.sections.len()).collect();
    let tokens = |place: &usize| prompt.sections.get(*place).map_or(0, |section| section.tokens);
    match order {
        SectionOrder::AsSent => {}
        SectionOrder::BySize => places.sort_by_key(|place| std::cmp::Reverse(tokens(place))),
        SectionOrder::ByKind => return by_kind(prompt),
    }
    places.into_iter().map(ContextRow::Section).collect()
}

fn by_kind(prompt: &Prompt) -> Vec<ContextRow> {
    let mut kinds: Vec<(&'static str, Vec<usize>)> = Vec::new();
    for (place, section) in prompt.sections.iter().enumerate() {
        let kind = kind(&section.kind);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, places)) => places.push(place),
            None => kinds.push((kind, vec![place])),
        }
    }
    let tokens = |place: &usize| prompt.sections.get(*place).map_or(0, |section| section.tokens);
    let sum = |places: &[usize]| places.iter().map(tokens).sum::<usize>();
    kinds.sort_by_key(|(_, places)| std::cmp::Reverse(sum(places)));
    let row = |(kind, mut places): (&'static str, Vec<usize>)| {
        places.sort_by_key(|place| std::cmp::Reverse(tokens(place)));
        let heading = ContextRow::Kind { name: kind, sections: places.len(), tokens: sum(&places) };
        std::iter::once(heading).chain(places.into_iter().map(ContextRow::Section)).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(row).collect()
}

fn kind(kind: &SectionKind) -> &'static str {
    match kind {
        SectionKind::System | SectionKind::Examples | SectionKind::Reminder => "instructions",
        SectionKind::Tools => "tools",
        SectionKind::Step => "steps of the agent",
        SectionKind::ToolResult(_) => "results of tools",
        SectionKind::ReadOnlyFile(_) => "files for reference",
        SectionKind::RepoMap => "repo map",
        SectionKind::Passages => "passages",
        SectionKind::History => "history",
        SectionKind::ChatFile(_) => "files to edit",
        SectionKind::Image(_) => "pictures",
        SectionKind::Current => "this request",
    }
}

/// The line about the saving without the part under the cursor.
pub fn saving_line(app: &App, prompt: &Prompt) -> Option<String> {
    let place = app.context_place()?;
    let section = prompt.sections.get(place)?;
    let key = |action: Action| app.keys.first(action).to_owned();
    if let Some(passage) = app.context_passage() {
        let (drop, view) = (key(Action::ContextDrop), key(Action::ContextView));
        let saves = weighs(app, prompt, passage.tokens);
        return Some(format!("{view} shows it, {drop} drops it: saves {saves}{}", uncached(prompt, place)));
    }
    let saves = format!("saves {}", weighs(app, prompt, section.tokens));
    let text = match &section.kind {
        SectionKind::ChatFile(_) | SectionKind::ReadOnlyFile(_) | SectionKind::Image(_) => {
            format!("{} drops it: {saves}{}", key(Action::ContextDrop), uncached(prompt, place))
        }
        SectionKind::RepoMap => {
            format!("{} in the map gives it fewer tokens; all of it: {saves}", key(Action::MapLess))
        }
        SectionKind::Passages => {
            let (drop, view) = (key(Action::ContextDrop), key(Action::ContextView));
            let does = if app.context.passages_open { "folds" } else { "lists" };
            format!("{view} {does} them, {drop} drops all: {saves}{}", uncached(prompt, place))
        }
        SectionKind::History => format!("/clear leaves it out: {saves}{}", uncached(prompt, place)),
        SectionKind::System | SectionKind::Examples | SectionKind::Tools => {
            format!("always sent: {}", weighs(app, prompt, section.tokens))
        }
        SectionKind::Step => format!("what the agent did: {}", weighs(app, prompt, section.tokens)),
        SectionKind::ToolResult(_) => {
            let tool = tool_results(app, prompt).get(&place).copied();
            let (drop, pin) = (key(Action::ContextDrop), key(Action::ContextPin));
            match tool {
                Some(tool) if tool.is_dropped => {
                    format!("{drop} sends it again: {} tokens", meter::tokens(tool.tokens as u64))
                }
                tool => {
                    let pins = if tool.is_some_and(|tool| tool.is_pinned) { "unpins" } else { "pins" };
                    format!("{drop} drops it, {pin} {pins} it: {saves}{}", uncached(prompt, place))
                }
            }
        }
        SectionKind::Current | SectionKind::Reminder => {
            format!("the request itself: {}", weighs(app, prompt, section.tokens))
        }
    };
    Some(text)
}

/// The tool calls of the results in a request, by the index of the section.
fn tool_results<'a>(app: &'a App, prompt: &Prompt) -> BTreeMap<usize, &'a ToolUse> {
    let sections = prompt.sections.iter().enumerate().rev().filter_map(|(place, section)| match &section.kind {
        SectionKind::ToolResult(id) => Some((place, id)),
        _ => None,
    });
    let mut tools = app.session.transcript().iter().rev().filter_map(|entry| match entry {
        Entry::Tool(tool) => Some(tool),
        _ => None,
    });
    // Both are in the same order. Ids need not be unique, and the newest calls may not be part of the request yet.
    let find = |(place, id): (usize, &String)| Some((place, tools.by_ref().find(|tool| tool.call.id == *id)?));
    sections.map_while(find).collect()
}

/// `511 tokens, 12 % of all, $0.0013`
fn weighs(app: &App, prompt: &Prompt, tokens: usize) -> String {
    let share = tokens as f64 * 100.0 / prompt.tokens.max(1) as f64;
    let price = app.session.price_of(tokens as u64).filter(|price| *price > Dollars::ZERO);
    let price = price.map_or_else(String::new, |price| format!(", {price}"));
    format!("{} tokens, {share:.0} % of all{price}", meter::tokens(tokens as u64))
}

/// The tokens that the server must process again if it has cached the request beyond this section.
fn uncached(prompt: &Prompt, place: usize) -> String {
    let Some(last) = prompt.sections.iter().rposition(|section| section.cached).filter(|last| *last > place) else {
        return String::new();
    };
    let after = prompt.sections.get(place + 1..=last).unwrap_or_default();
    let tokens: usize = after.iter().map(|section| section.tokens).sum();
    format!("; {} after it are read anew once", meter::tokens(tokens as u64))
}

impl App {
    fn prompt(&self) -> Option<&Prompt> {
        self.session.view().map(|view| &*view.prompt)
    }

    pub(crate) fn settle_context(&mut self) {
        let rows = self.prompt().map_or(0, |prompt| rows(prompt, self.context.order, self.context.passages_open).len());
        self.context.window.set_len(rows);
    }

    fn context_row(&self) -> Option<ContextRow> {
        rows(self.prompt()?, self.context.order, self.context.passages_open)
            .get(self.context.window.selected()?)
            .copied()
    }

    /// The index of the section under the cursor, or of the section that contains the passage under the cursor.
    pub(crate) fn context_place(&self) -> Option<usize> {
        match self.context_row()? {
            ContextRow::Section(place) => Some(place),
            ContextRow::Passage(_) => passages_section(self.prompt()?),
            ContextRow::Kind { .. } => None,
        }
    }

    pub(crate) fn context_passage(&self) -> Option<&SentChunk> {
        match self.context_row()? {
            ContextRow::Passage(place) => self.prompt()?.passages.get(place),
            _ => None,
        }
    }

    fn on_passages(&self) -> bool {
        matches!(self.context_row(), Some(ContextRow::Section(place)) if self.prompt().and_then(passages_section) == Some(place))
    }

    fn context_file(&self) -> Option<String> {
        let part = self.prompt()?.sections.get(self.context_place()?)?;
        part.kind.path().map(str::to_owned)
    }

    pub(crate) fn context_title(&self) -> Option<String> {
        title_of(self.prompt()?, self.context_row()?)
    }

    /// Keeps the cursor on the part with that title, since parts move when they change.
    pub(crate) fn keep_context_cursor(&mut self, title: Option<&str>) {
        let Some(view) = self.session.view() else { return };
        let rows = rows(&view.prompt, self.context.order, self.context.passages_open);
        self.context.window.set_len(rows.len());
        let is_it = |row: &ContextRow| title_of(&view.prompt, *row).as_deref() == title;
        if title.is_some()
            && let Some(at) = rows.iter().position(is_it)
        {
            self.context.window.select(at);
        }
    }

    pub(crate) fn why_not_context(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::ContextAdd => None,
            _ if self.prompt().is_none() => Some("nothing is measured yet"),
            Action::ContextSort => None,
            Action::ContextDrop if self.on_passages() || self.context_passage().is_some() => None,
            Action::ContextDrop | Action::ContextPin if self.context_result().is_some() => None,
            Action::ContextPin => Some("only results of tools can be pinned"),
            Action::ContextEdit if self.context_passage().is_some() => None,
            Action::ContextDrop | Action::ContextReadOnly | Action::ContextEdit if self.context_file().is_none() => {
                Some("only files can be dropped, edited or made read-only; /clear empties the history")
            }
            Action::ContextView if self.context_place().is_none() => Some("the cursor is not on a part of the request"),
            _ => None,
        }
    }

    pub(crate) fn act_on_context(&mut self, action: Action) -> Option<Vec<Task>> {
        if action.info().scope == Scope::Pane(Pane::Context)
            && let Some(why) = self.why_not_context(action)
        {
            self.hint.set(why);
            return Some(Vec::new());
        }
        match action {
            Action::Down => self.step_in_context(1),
            Action::Up => self.step_in_context(-1),
            Action::ContextDrop | Action::ContextPin if self.context_result().is_some() => {
                return Some(self.change_result(action));
            }
            Action::ContextDrop | Action::ContextReadOnly => return Some(self.change_file(action)),
            Action::ContextEdit => {
                let passage = self.context_passage().map(|passage| &passage.location);
                let passage = passage.map(|place| (place.path.clone(), place.line as usize));
                let edit = |(path, line)| Task::Edit(Editing::File { path, line });
                let file = passage.or_else(|| Some((self.context_file()?, 1)));
                return Some(file.map(edit).into_iter().collect());
            }
            Action::ContextSort => self.sort_context(),
            Action::ContextView if self.on_passages() => self.fold_passages(),
            Action::ContextView if self.context_passage().is_some() => {
                return Some(self.show_locations(self.passage_places()));
            }
            Action::ContextView => self.view_prompt_at(self.context_place()),
            _ if !self.context.window.act(action) => return None,
            // The first row may be a heading.
            Action::Top if self.context_place().is_none() => self.context.window.step(1),
            _ => {}
        }
        Some(Vec::new())
    }

    /// Moves the cursor; skips headings.
    fn step_in_context(&mut self, by: isize) {
        self.context.window.step(by);
        if self.context_place().is_none() {
            self.context.window.step(by);
        }
        if self.context_place().is_none() {
            self.context.window.step(-by);
        }
    }

    fn sort_context(&mut self) {
        let title = self.context_title();
        self.context.order = self.context.order.next();
        self.keep_context_cursor(title.as_deref());
        self.hint.set(format!("the parts of the request {}", self.context.order.title()));
    }

    fn fold_passages(&mut self) {
        let title = self.context_title();
        self.context.passages_open = !self.context.passages_open;
        self.keep_context_cursor(title.as_deref());
    }

    /// The locations of the passages, the one under the cursor first.
    fn passage_places(&self) -> Vec<Place> {
        let Some((prompt, ContextRow::Passage(here))) = self.prompt().zip(self.context_row()) else {
            return Vec::new();
        };
        let place = |SentChunk { location, .. }: &SentChunk| {
            let name = location.anchor.as_ref().map_or("", |anchor| anchor.symbol.as_str());
            Place { end: Some(location.end_line), ..Place::at(&location.path, Some(location.line), name) }
        };
        let mut places: Vec<Place> = prompt.passages.iter().map(place).collect();
        places.rotate_left(here.min(prompt.passages.len()));
        places
    }

    /// The tool call whose result is under the cursor.
    fn context_result(&self) -> Option<&ToolUse> {
        tool_results(self, self.prompt()?).get(&self.context_place()?).copied()
    }

    /// Drops or pins the result under the cursor, or reverses that.
    fn change_result(&mut self, action: Action) -> Vec<Task> {
        let Some((number, is_dropped, is_pinned)) =
            self.context_result().map(|tool| (tool.number, tool.is_dropped, tool.is_pinned))
        else {
            return Vec::new();
        };
        let effects = match action {
            Action::ContextDrop => self.session.toggle_result(number),
            _ => self.session.pin_result(number),
        };
        self.hint.set(match action {
            Action::ContextDrop if is_dropped => "the result is sent again",
            Action::ContextDrop => "the model gets one line in place of the result",
            _ if is_pinned => "the result may be dropped when the requests grow",
            _ => "the result stays in the requests",
        });
        run(effects)
    }

    fn change_file(&mut self, action: Action) -> Vec<Task> {
        if action == Action::ContextDrop && self.on_passages() {
            return self.command(Command::Passages(PassageCommand::DropAll));
        }
        if let Some(gone) = self.context_passage().map(|passage| passage.location.clone()) {
            return run(self.session.drop_passages(|place| place.is_same(&gone)));
        }
        let Some(path) = self.context_file() else { return Vec::new() };
        run(match action {
            Action::ContextDrop => self.session.drop_files(&[path]),
            _ => self.session.toggle_read_only(&path),
        })
    }

    pub(crate) fn view_prompt_at(&mut self, place: Option<usize>) {
        if let Some(view) = self.session.view() {
            self.overlays.show(SectionView::request(&view.prompt, place));
        }
    }

    /// Handles a click on a row. A double click opens it.
    pub fn click_in_context(&mut self, row: usize, double: bool) -> Vec<Task> {
        self.focus = Pane::Context;
        self.context.window.select(row);
        if double { self.act_on_context(Action::ContextView).unwrap_or_default() } else { Vec::new() }
    }
}

fn passages_section(prompt: &Prompt) -> Option<usize> {
    prompt.sections.iter().position(|section| section.kind == SectionKind::Passages)
}

/// The identity of a row across changes of the request.
fn title_of(prompt: &Prompt, row: ContextRow) -> Option<String> {
    match row {
        ContextRow::Section(place) => {
            let section = prompt.sections.get(place)?;
            Some(match &section.kind {
                SectionKind::ToolResult(id) => format!("{} {id}", section.title),
                _ => section.title.clone(),
            })
        }
        ContextRow::Passage(place) => Some(prompt.passages.get(place)?.location.label()),
        ContextRow::Kind { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_llm::Role;
    use rhumb_session::context::{ChunkLocation, Section, SentChunk};

    fn prompt() -> Prompt {
        let section = |kind: SectionKind, tokens: usize| Section {
            title: kind.name().into(),
            kind,
            role: Role::User,
            message: 0,
            tokens,
            text: String::new(),
            cached: false,
        };
        let sections = vec![
            section(SectionKind::System, 10),
            section(SectionKind::ChatFile("a".into()), 30),
            section(SectionKind::ChatFile("b".into()), 50),
            section(SectionKind::Reminder, 5),
        ];
        Prompt { sections, ..Prompt::default() }
    }

    #[test]
    fn the_orders_show_every_chunk_once() {
        for order in [SectionOrder::AsSent, SectionOrder::BySize, SectionOrder::ByKind] {
            let mut places: Vec<usize> = rows(&prompt(), order, true)
                .into_iter()
                .filter_map(|row| match row {
                    ContextRow::Section(place) => Some(place),
                    _ => None,
                })
                .collect();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3], "{}", order.title());
        }
    }

    #[test]
    fn passages_stand_below_their_chunk_when_they_are_open() {
        let mut prompt = prompt();
        prompt.sections[0].kind = SectionKind::Passages;
        let place =
            |line| ChunkLocation { path: "a".into(), line, end_line: line, anchor: None, turn: 1, rank: line, hash: 0 };
        prompt.passages = [1, 9].map(|line| SentChunk { location: place(line), tokens: 5 }).into();
        let open = rows(&prompt, SectionOrder::AsSent, true);
        let below = [ContextRow::Section(0), ContextRow::Passage(0), ContextRow::Passage(1), ContextRow::Section(1)];
        assert_eq!(open[..4], below);
        assert_eq!(rows(&prompt, SectionOrder::AsSent, false)[..2], [ContextRow::Section(0), ContextRow::Section(1)]);
        let last = rows(&prompt, SectionOrder::BySize, true);
        assert_eq!(last[2..5], [ContextRow::Section(0), ContextRow::Passage(0), ContextRow::Passage(1)]);
    }

    #[test]
    fn kinds_stand_with_their_sums_the_heaviest_first() {
        let rows = rows(&prompt(), SectionOrder::ByKind, false);
        assert_eq!(rows[0], ContextRow::Kind { name: "files to edit", sections: 2, tokens: 80 });
        assert_eq!(rows[1], ContextRow::Section(2), "the larger one");
        assert_eq!(rows[3], ContextRow::Kind { name: "instructions", sections: 2, tokens: 15 });
    }
}
