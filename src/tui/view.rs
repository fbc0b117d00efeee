//! A frame: the panes in their places, the tabs, the status line, the overlay. Drawing reads the app and writes nothing but
//! its cache.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};

use super::act::is_command;
use super::action::{ACTIONS, Action, ActionInfo, Pane, Scope};
use super::app::App;
use super::coloring::Coloring;
use super::hits::{Hit, Hits};
use super::layout::{self, MIN_HEIGHT, MIN_WIDTH};
use super::overlay::Sight;
use super::pane;
use super::theme::{Role, Theme};
use super::widget::meter;
use super::widget::styled::fill;
use crate::session::{Connection, SurveyState};
use crate::text::width;

/// Below this many columns the tabs are as short as they can be.
const NARROW: u16 = 50;

/// What drawing remembers between frames.
#[derive(Debug, Default)]
pub struct ViewCache {
    /// Syntax colours.
    pub coloring: Coloring,
    /// Rendered messages.
    pub chat: pane::chat::ChatCache,
    /// Rows of the review.
    pub review: pane::review::ReviewCache,
    /// Heights as last drawn, for paging: map, context.
    pub heights: [usize; 2],
    /// What stands where; the app takes it when the frame is done.
    pub hits: Hits,
}

/// Draws the app. The overlay is the one part that may change while it is drawn: it wraps its text for the width.
pub fn draw(app: &mut App, cache: &mut ViewCache, frame: &mut Frame<'_>) {
    let screen = frame.area();
    app.screen = (screen.width, screen.height);
    cache.hits = Hits::default();
    let Some(places) = layout::places(screen, app.focus, app.reviewing()) else {
        return too_small(frame, screen);
    };
    for (pane, area) in &places.panes {
        cache.hits.add(*area, Hit::Pane(*pane));
        match pane {
            Pane::Chat => pane::chat::draw(app, cache, frame, *area),
            Pane::Map => pane::repo_map::draw(app, cache, frame, *area),
            Pane::Context => pane::context::draw(app, cache, frame, *area),
            Pane::Review => pane::review::draw(app, cache, frame, *area),
        }
    }
    if let Some(area) = places.tabs {
        tabs(app, frame, area);
    }
    status(app, frame, places.status);
    if let Some(overlay) = &mut app.overlay {
        let sight = Sight { coloring: &mut cache.coloring, previews: &app.previews };
        overlay.draw(frame, screen, &app.theme, sight);
    }
    app.drawn(cache);
}

/// The frame of a pane, brighter with the focus, and the space inside.
pub(super) fn pane_block(app: &App, frame: &mut Frame<'_>, area: Rect, pane: Pane, note: &str) -> Rect {
    let focused = app.focus == pane && app.overlay.is_none();
    let title = if note.is_empty() { format!(" {} ", pane.title()) } else { format!(" {} · {note} ", pane.title()) };
    let (border, title_role) = if focused { (Role::BorderFocused, Role::Title) } else { (Role::Border, Role::Muted) };
    let block = Block::bordered()
        .border_type(if focused { BorderType::Thick } else { BorderType::Rounded })
        .border_style(app.theme.style(border))
        .title(Line::styled(title, app.theme.style(title_role)));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// A line with the ground of the cursor, over the whole width.
pub(super) fn under_cursor(mut line: Line<'static>, columns: u16, theme: &Theme) -> Line<'static> {
    let style = theme.style(Role::CursorLine);
    fill(&mut line, usize::from(columns), style);
    line.patch_style(style)
}

fn too_small(frame: &mut Frame<'_>, screen: Rect) {
    let text = format!(
        "rhumb needs {MIN_WIDTH}×{MIN_HEIGHT} characters; this terminal has {}×{}. Make it larger, or Ctrl-Q to leave.",
        screen.width, screen.height
    );
    frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), screen);
}

fn tabs(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let mut spans = Vec::new();
    let narrow = area.width < NARROW;
    for (index, pane) in Pane::ALL.into_iter().enumerate() {
        let counts = app.session.review.counts();
        let note =
            if pane == Pane::Review && counts.total() > 0 { format!(" {}", counts.pending) } else { String::new() };
        let style = if pane == app.focus {
            app.theme.style(Role::Accent).add_modifier(Modifier::BOLD | Modifier::REVERSED)
        } else {
            app.theme.style(Role::Muted)
        };
        // `repo map` is the one title of two words.
        let title = pane.title().rsplit(' ').next().filter(|_| narrow).unwrap_or(pane.title());
        spans.push(Span::styled(format!(" {} {title}{note} ", index + 1), style));
        if !narrow {
            spans.push(Span::raw(" "));
        }
    }
    let used: usize = spans.iter().map(Span::width).sum();
    let keys = "Tab or Alt-1…4";
    if used + width::columns(keys) <= usize::from(area.width) {
        spans.push(Span::styled(keys, app.theme.style(Role::Muted)));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// Who answers, where we are, what the context weighs, and what the keys do here.
fn status(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let theme = &app.theme;
    let mut left = vec![Span::styled(format!(" {} ", connection(app)), theme.style(Role::Accent))];
    let place =
        if app.session.head.is_empty() { app.root.clone() } else { format!("{} ⎇ {}", app.root, app.session.head) };
    // On a narrow screen the keys matter more than the place, which the shell's prompt has told.
    if area.width >= 100 {
        let place = format!(" {} ", width::clip_start(&place, 40));
        left.push(Span::styled(place, theme.style(Role::Muted)));
    }
    if let SurveyState::Reading(done, total) = app.session.survey {
        left.push(Span::styled(format!(" {} ", survey(done, total)), theme.style(Role::Warning)));
    } else if let Some(view) = &app.session.view {
        let prompt = &view.prompt;
        let role = meter::role(prompt.tokens as u64, prompt.window.max_input() as u64);
        let about = if prompt.exact { "" } else { "~" };
        left.push(Span::styled(format!(" {about}{} tokens ", meter::tokens(prompt.tokens as u64)), theme.style(role)));
    }
    let used: usize = left.iter().map(Span::width).sum();
    let room = usize::from(area.width).saturating_sub(used + 1);
    let right = if app.hint.is_empty() {
        keys(app, room)
    } else {
        vec![Span::styled(clip(&app.hint, room), theme.style(Role::Warning))]
    };
    let pad = room.saturating_sub(right.iter().map(Span::width).sum());
    left.push(Span::raw(" ".repeat(pad)));
    left.extend(right);
    frame.render_widget(Paragraph::new(Line::from(left)).style(theme.style(Role::Status)), area);
}

fn clip(text: &str, room: usize) -> String {
    width::clip(text, room).into_owned()
}

fn survey(done: usize, total: usize) -> String {
    if total == 0 { format!("listing files: {done}") } else { format!("reading {done} of {total} files") }
}

/// Which of its ways of working the app is in.
fn connection(app: &App) -> String {
    match &app.session.connection {
        Connection::None => "no model: copy mode".into(),
        Connection::Demo => "demo: recorded replies".into(),
        Connection::Remote { model, host } if model.is_empty() => format!("no model named @ {host}"),
        Connection::Remote { model, host } => width::clip(&format!("{model} @ {host}"), 44).into_owned(),
    }
}

/// The keys that matter here, as many as there is room for: first what is most likely wanted now, last the help that shows
/// all the others.
fn keys(app: &App, room: usize) -> Vec<Span<'static>> {
    if app.overlay.is_some() {
        // It says itself which keys it takes.
        return Vec::new();
    }
    if let Some(commands) = commands(app, room) {
        return vec![Span::styled(commands, app.theme.style(Role::Key))];
    }
    let help = if app.focus == Pane::Chat { Action::Help } else { Action::HelpHere };
    let entry = |info: &ActionInfo| (app.keys.first(info.action), info.title);
    let help = help.info().map(entry);
    let size = |(key, title): &(&str, &'static str)| width::columns(key) + width::columns(title) + 3;
    let mut left = room.saturating_sub(help.as_ref().map_or(0, size));
    let wanted = first_keys(app).into_iter().chain(table_keys(app).map(entry));
    let fitting = wanted.take_while(|entry| {
        let fits = size(entry) <= left;
        left = left.saturating_sub(size(entry));
        fits
    });
    let shown: Vec<(&str, &'static str)> = fitting.collect();
    let help = help.filter(|help| size(help) <= room);
    let spans = |(key, title): (&str, &'static str)| {
        [
            Span::styled(key.to_owned(), app.theme.style(Role::Key)),
            Span::styled(format!(" {title}  "), app.theme.style(Role::Muted)),
        ]
    };
    shown.into_iter().chain(help).flat_map(spans).collect()
}

/// What is most likely wanted now: to see a proposal that waits, to write what is accepted.
fn first_keys(app: &App) -> Option<(&str, &'static str)> {
    let key = |action| app.keys.first(action);
    match app.focus {
        Pane::Chat if !app.session.questions.is_empty() && app.composer.is_empty() => {
            Some((key(Action::Send), "question"))
        }
        Pane::Chat if app.reviewing() && app.composer.is_empty() => Some((key(Action::Send), "review")),
        Pane::Chat if app.reviewing() => Some((key(Action::FocusReview), "review")),
        Pane::Review if app.enabled(Action::Write) => Some((key(Action::Write), "write")),
        _ => None,
    }
}

/// The keys of the pane and then the general ones, in the order of the table.
fn table_keys(app: &App) -> impl Iterator<Item = &'static ActionInfo> + '_ {
    let scopes = [Scope::Pane(app.focus), Scope::Global];
    let in_order = scopes.into_iter().flat_map(|scope| ACTIONS.iter().filter(move |info| info.scope == scope));
    // Scrolling is guessed by everybody, and the places in a list by those who use them.
    let told_elsewhere =
        [Action::Write, Action::Help, Action::FocusReview, Action::ScrollUp, Action::ScrollDown, Action::Newline];
    in_order.filter(move |info| app.enabled(info.action) && !told_elsewhere.contains(&info.action))
}

/// What is being typed as a command: how what is offered is taken, how the command is used, or that there is none.
fn commands(app: &App, room: usize) -> Option<String> {
    if app.focus != Pane::Chat {
        return None;
    }
    if let Some(text) = app.command_at_hand() {
        return Some(width::clip(&text, room).into_owned());
    }
    if app.completion.popup().is_some() {
        return Some(width::clip("Tab takes it · ↑↓ choose · Esc closes", room).into_owned());
    }
    let typed = app.composer.text();
    let is_name = app.completion.is_empty()
        && is_command(&typed)
        && typed.starts_with('/')
        && !typed.contains(char::is_whitespace);
    is_name.then(|| width::clip("no such command; /help lists them", room).into_owned())
}
