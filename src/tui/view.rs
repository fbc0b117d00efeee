//! Draws a frame: panes, tabs, status line and overlay. Drawing reads the app and writes only its cache.

use ratatui::widgets::{Block, BorderType};
use rhumb_session::Question;

use super::layout::{MIN_HEIGHT, MIN_WIDTH};
use super::overlay::OverlayContext;
use super::{chat_pane, context_pane, map_pane, review_pane, status_line};
use crate::tui::prelude::*;

/// With fewer columns the tabs are abbreviated.
const MIN_FULL_TABS_COLUMNS: u16 = 50;

/// State of drawing that is kept between frames.
#[derive(Debug, Default)]
pub struct ViewCache {
    /// Cached syntax colours.
    pub coloring: Coloring,
    pub(crate) chat: chat_pane::ChatCache,
    pub(crate) review: review_pane::ReviewCache,
    /// Heights in the last frame, for paging: map, context.
    pub(crate) heights: [usize; 2],
    /// The question that is shown in full.
    pub(super) question: Option<Question>,
    /// The clickable areas of the frame. The app takes them after drawing.
    pub(crate) hits: Hits,
    /// The text that is selected with the mouse.
    pub(super) selected: String,
}

/// Computes the layout for the screen, draws a frame, and passes the results of drawing to the app.
pub fn render(app: &mut App, cache: &mut ViewCache, frame: &mut Frame<'_>) {
    app.lay_out(frame.area());
    draw(app, cache, frame);
    app.drawn(cache);
}

/// Draws the app in its current layout. Writes only the frame and the cache.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>) {
    let screen = frame.area();
    cache.hits = Hits::default();
    cache.question = None;
    cache.selected.clear();
    // A theme may paint the background. Unstyled text has the style of ordinary text.
    frame.buffer_mut().set_style(screen, app.theme().style(Role::Text));
    let places = &app.layout.places;
    if places.panes.is_empty() {
        return too_small(app, frame, screen);
    }
    for (pane, area) in &places.panes {
        cache.hits.add(*area, Hit::Pane(*pane));
        match pane {
            Pane::Chat => chat_pane::draw(app, cache, frame, *area),
            Pane::Map => map_pane::draw(app, cache, frame, *area),
            Pane::Context => context_pane::draw(app, cache, frame, *area),
            Pane::Review => review_pane::draw(app, cache, frame, *area),
        }
    }
    if let Some(area) = places.tabs {
        tabs(app, cache, frame, area);
    }
    status_line::draw(app, frame, places.status);
    if let Some(overlay) = app.overlays.top() {
        // The panes below an overlay do not receive mouse events.
        cache.hits = Hits::default();
        let context = OverlayContext { coloring: &mut cache.coloring, previews: &app.previews, hits: &mut cache.hits };
        overlay.draw(frame, screen, app.theme(), context);
        blank_cut_wide_chars(frame, screen);
    }
}

/// Blanks wide characters whose right half is covered by an overlay, since the terminal would draw over its edge.
fn blank_cut_wide_chars(frame: &mut Frame<'_>, screen: Rect) {
    let buffer = frame.buffer_mut();
    for y in screen.top()..screen.bottom() {
        for x in screen.left()..screen.right().saturating_sub(1) {
            let is_covered = buffer.cell((x + 1, y)).is_some_and(|next| !matches!(next.symbol(), " " | ""));
            if let Some(cell) = buffer.cell_mut((x, y)).filter(|cell| is_covered && cell.symbol().len() > 2)
                && width::columns(cell.symbol()) > 1
            {
                cell.set_symbol(" ");
            }
        }
    }
}

/// Draws the border of a pane, highlighted if it has the focus, and returns the area inside.
pub(super) fn pane_block(app: &App, frame: &mut Frame<'_>, area: Rect, pane: Pane, note: &str) -> Rect {
    let focused = app.focus == pane && app.overlays.is_empty();
    let title = if note.is_empty() { format!(" {} ", pane.title()) } else { format!(" {} · {note} ", pane.title()) };
    let (border, title_role) = if focused { (Role::BorderFocused, Role::Title) } else { (Role::Border, Role::Muted) };
    let block = Block::bordered()
        .border_type(if focused { BorderType::Thick } else { BorderType::Rounded })
        .border_style(app.theme().style(border))
        .title(Line::styled(title, app.theme().style(title_role)));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// A line with the cursor's background over the whole width.
pub(super) fn under_cursor(mut line: Line<'static>, columns: u16, theme: &Theme) -> Line<'static> {
    let style = theme.style(Role::CursorLine);
    fill(&mut line, usize::from(columns), style);
    line.patch_style(style)
}

/// Draws the visible rows of a list in a pane, and notes them for clicks.
pub(super) fn draw_rows(
    app: &App,
    cache: &mut ViewCache,
    frame: &mut Frame<'_>,
    (pane, area): (Pane, Rect),
    mut window: ListWindow,
    mut line: impl FnMut(usize, &mut ViewCache) -> Option<Line<'static>>,
) {
    window.set_height(usize::from(area.height));
    let mut lines = Vec::new();
    for (at, y) in window.visible().zip(area.y..) {
        let Some(row) = line(at, cache) else { continue };
        cache.hits.add(Rect { y, height: 1, ..area }, Hit::Row(pane, at));
        let chosen = window.selected() == Some(at) && app.focus == pane;
        lines.push(if chosen { under_cursor(row, area.width, app.theme()) } else { row });
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn too_small(app: &App, frame: &mut Frame<'_>, screen: Rect) {
    let text = format!(
        "rhumb needs {MIN_WIDTH}×{MIN_HEIGHT} characters; this terminal has {}×{}. Make it larger, or {} to leave.",
        screen.width,
        screen.height,
        app.keys.first(Action::Quit)
    );
    frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), screen);
}

fn tabs(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let narrow = area.width < MIN_FULL_TABS_COLUMNS;
    let mut column = area.x;
    for (index, pane) in Pane::ALL.into_iter().enumerate() {
        let review = app.session.review();
        let note =
            if pane == Pane::Review && !review.is_empty() { format!(" {}", review.waiting()) } else { String::new() };
        let style = if pane == app.focus {
            app.theme().style(Role::Accent).add_modifier(Modifier::BOLD | Modifier::REVERSED)
        } else {
            app.theme().style(Role::Muted)
        };
        // `repo map` is the only title of two words.
        let title = pane.title().rsplit(' ').next().filter(|_| narrow).unwrap_or(pane.title());
        let tab = Span::styled(format!(" {} {title}{note} ", index + 1), style);
        let columns = cells(tab.width());
        let place = Rect { x: column, width: columns, ..area }.intersection(area);
        cache.hits.add(place, Hit::Tab(pane));
        frame.render_widget(Line::from(tab), place);
        column = column.saturating_add(columns + u16::from(!narrow));
    }
    let way = pane_keys(app);
    let columns = cells(width::columns(&way));
    if column.saturating_add(columns) <= area.right() {
        let place = Rect { x: column, width: columns, ..area };
        frame.render_widget(Line::styled(way, app.theme().style(Role::Muted)), place);
    }
}

/// The keys that move the focus to the other panes.
fn pane_keys(app: &App) -> String {
    let key = |action| app.keys.first(action);
    let next = key(Action::FocusNext);
    let own = [Action::FocusChat, Action::FocusMap, Action::FocusContext, Action::FocusReview].map(key);
    let prefix = own[0].strip_suffix('1').filter(|prefix| {
        own.iter().zip(1..).all(|(key, number)| key.strip_prefix(prefix) == Some(number.to_string().as_str()))
    });
    let keys = prefix.map_or(next.to_owned(), |prefix| format!("{next} or {prefix}1…4"));
    if app.layout.zoomed { format!("zoomed · {} · {keys}", app.zoom_key()) } else { keys }
}
