//! The review pane: the hunks of a proposal with context and decisions, the file list at the left if there is space, and
//! unplaced edits.

mod actions;
pub(super) mod edit;
mod navigation;
mod paint;
mod rows;
mod state;

use rhumb_edit::review::{EditState, HunkMark};
use rhumb_session::{StreamedEdit, StreamedLine};

use self::paint::RowPainter;
use crate::config::DiffView;
use crate::tui::prelude::*;

pub(crate) use self::paint::stops;
pub use self::rows::Row;
pub use self::state::{Follow, ReviewPane};

/// With at least this many columns base and proposed are side by side unless the user chose otherwise.
const MIN_COLUMNS_SIDE_BY_SIDE: u16 = 140;

/// From this many columns on, the file list is shown beside the hunks unless the user chose otherwise; the second
/// number applies to the side-by-side view.
const MIN_TREE_COLUMNS: [u16; 2] = [104, 176];

const MIN_HALF_COLUMNS: u16 = 24;

/// Maximum width of the command of a trial in the title.
const MAX_TRIAL_COLUMNS: usize = 24;

#[derive(Debug, Default)]
pub struct ReviewCache {
    words: paint::WordCache,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    pub tree: Option<Rect>,
    pub rows: Rect,
    /// The search prompt, while it is open.
    pub prompt: Option<Rect>,
    pub sides: bool,
}

pub(crate) fn parts(app: &App, inner: Rect) -> Parts {
    let pane = &app.review;
    let line = u16::from(pane.search.prompt.is_some() && inner.height > 1);
    let [body, prompt] = Layout::vertical([Constraint::Fill(1), Constraint::Length(line)]).areas(inner);
    let wanted = pane.choice.sides.or(match app.display.diff_view {
        DiffView::Auto => None,
        DiffView::Unified => Some(false),
        DiffView::SideBySide => Some(true),
    });
    let automatic = wanted.unwrap_or(inner.width >= MIN_COLUMNS_SIDE_BY_SIDE);
    let several = app.session.review().files.len() + app.session.review().refused.len() > 1;
    let roomy = inner.width >= MIN_TREE_COLUMNS[usize::from(automatic)];
    let listed = pane.choice.tree.unwrap_or(several && roomy) || pane.in_tree;
    let columns = if listed { (inner.width / 4).clamp(22, 38).min(inner.width / 2) } else { 0 };
    let [tree, rows] = Layout::horizontal([Constraint::Length(columns), Constraint::Fill(1)]).areas(body);
    Parts {
        tree: listed.then_some(tree),
        rows,
        prompt: (line > 0).then_some(prompt),
        // An explicit choice of the user applies as long as a half is wide enough to be read.
        sides: automatic && rows.width >= 2 * MIN_HALF_COLUMNS,
    }
}

pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let inner = pane_block(app, frame, area, Pane::Review, &note(app, area.width));
    if app.session.review().is_empty() {
        // Streaming edits. The newest line is at the bottom, unless the user scrolled up.
        let edits = app.session.turn().map_or(&[][..], |turn| turn.edits.as_slice());
        let lines = if edits.is_empty() { nothing(app, inner) } else { arriving(app, edits, inner) };
        return frame.render_widget(Paragraph::new(lines), inner);
    }
    let parts = parts(app, inner);
    if let Some(tree) = parts.tree {
        paint::draw(app, cache, frame, tree);
    }
    draw_rows(app, cache, frame, parts.rows);
    if let Some(prompt) = parts.prompt {
        draw_prompt(app, frame, prompt);
    }
    draw_place(app, frame, area);
}

fn draw_rows(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let rows = &app.review.rows;
    let window = app.review.offset..app.review.offset + usize::from(area.height);
    let mut painter = RowPainter::new(app);
    let mut lines: Vec<Line<'_>> = Vec::with_capacity(window.len());
    for (number, row) in rows.from(rows.at_line(window.start)) {
        let (start, height) = rows.place(number);
        if start >= window.end {
            break;
        }
        let skip = window.start.saturating_sub(start);
        let painted = painter.row(number, row, cache);
        debug_assert_eq!(painted.len(), height, "{row:?}");
        let top = start.saturating_sub(window.start);
        let shown = height.saturating_sub(skip).min(window.len() - top);
        let place =
            Rect { y: area.y + u16::try_from(top).unwrap_or(0), height: u16::try_from(shown).unwrap_or(0), ..area };
        if row.is_stop() {
            cache.hits.add(place, Hit::Row(Pane::Review, number));
        }
        lines.extend(painted.into_iter().skip(skip).take(shown));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn draw_prompt(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(input) = &app.review.search.prompt else { return };
    let theme = app.theme();
    let text = sanitize::visible_line(input.text()).into_owned();
    let standing =
        if app.review.search.is_on() { format!("  {}", app.review.search.standing()) } else { String::new() };
    let available = usize::from(area.width).saturating_sub(width::columns(&standing) + 2);
    let line = Line::from(vec![
        Span::styled("/", theme.style(Role::Accent)),
        Span::styled(width::clip_start(&text, available).into_owned(), theme.style(Role::Text)),
        Span::styled(" ", theme.style(Role::Text)),
        Span::styled(standing, theme.style(Role::Muted)),
    ]);
    frame.render_widget(line, area);
    if app.overlays.is_empty() {
        let hidden = width::columns(&text).saturating_sub(available);
        place_cursor(frame, area, 1 + input.cursor_column().saturating_sub(hidden));
    }
}

/// Draws the position of the cursor in the lower border of the pane, because the heading may be out of view: the numbers of
/// the file and the hunk, and the decisions. If the space is too small, parts are omitted, the path first.
fn draw_place(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let review = app.session.review();
    let pane = &app.review;
    let available = usize::from(area.width.saturating_sub(6));
    let mut parts = Vec::new();
    let counts = review.counts();
    let refused = pane.at.refused().and_then(|index| Some((index, review.refused.get(index)?)));
    let path = match refused {
        Some((index, outcome)) => {
            let state = EditState::of_refused(outcome);
            parts.push(format!("{} {}/{}", state.label(), index + 1, review.refused.len()));
            Some(outcome.path.clone())
        }
        None => review.files.get(pane.cursor.file).map(|file| {
            let number = review.ids().take_while(|id| *id <= pane.cursor).count();
            parts.push(format!("file {}/{}", pane.cursor.file + 1, review.files.len()));
            parts.push(format!("hunk {number}/{}", counts.total()));
            file.title()
        }),
    };
    if let Some(path) = path {
        if counts.total() > 0 {
            parts.push(format!("✓{} ✗{} ·{}", counts.accepted, counts.rejected, counts.pending));
        }
        if let Some((_, lines)) = app.selected_lines() {
            parts.insert(0, format!("{} selected", lines.len()));
        }
        if pane.search.is_on() && pane.search.prompt.is_none() {
            let wanted = width::clip(&sanitize::visible_line(&pane.search.wanted), 16).into_owned();
            parts.insert(0, format!("/{wanted} {}", pane.search.standing()));
        }
        let used = width::columns(&parts.join(" · "));
        let left = available.saturating_sub(used + 3);
        if left >= 8 && !path.is_empty() {
            parts.insert(0, width::clip_start(&sanitize::visible_line(&path), left).into_owned());
        }
        while parts.len() > 1 && width::columns(&parts.join(" · ")) > available {
            parts.remove(0);
        }
    }
    let text = parts.join(" · ");
    if text.is_empty() {
        return;
    }
    let place = format!(" {} ", width::clip(&text, available));
    let columns = u16::try_from(width::columns(&place)).unwrap_or(0);
    let edge = Rect::new(area.x + 2, area.bottom().saturating_sub(1), columns, 1).intersection(area);
    frame.render_widget(Line::styled(place, app.theme().style(Role::Muted)), edge);
}

/// Columns of the title without the note: the corners, the name of the pane, and the spaces.
const TITLE_COLUMNS: usize = 14;

fn note(app: &App, columns: u16) -> String {
    let counts = app.session.review().counts();
    let (conflicts, others): (Vec<_>, Vec<_>) =
        app.session.review().refused_states().into_iter().partition(|(state, _)| *state == EditState::Conflict);
    let words = |(state, number): &(EditState, usize)| format!("{number} {}", state.label());
    let mut parts: Vec<String> = conflicts.iter().map(words).collect();
    if counts.total() > 0 {
        parts.push(format!("{} pending", counts.pending));
        parts.push(format!("✓ {}", counts.accepted));
        parts.push(format!("✗ {}", counts.rejected));
    }
    parts.extend(others.iter().map(words));
    parts.extend(trial_note(app));
    let of_agent = |mark: &HunkMark| matches!(mark, HunkMark::Step(_));
    let mut hunks = app.session.review().files.iter().flat_map(|file| &file.hunks);
    if app.session.agent_end().is_some() && hunks.any(|hunk| hunk.marks.iter().any(of_agent)) {
        parts.push(app.session.agent_summary());
        // A later message may have another mode.
        if parts.last().is_some_and(|summary| summary.starts_with("0 "))
            || width::columns(&parts.join(" · ")) + TITLE_COLUMNS > usize::from(columns)
        {
            parts.pop();
        }
    }
    if app.session.is_writing() {
        parts.push("writing …".into());
    } else if app.review.in_tree {
        parts.push(format!("files ({} back)", app.keys.first(Action::ToggleTree)));
    }
    parts.join(" · ")
}

/// The round of repairs; and the last trial: its command and whether it passed, or why its result does not hold.
fn trial_note(app: &App) -> Vec<String> {
    let round = app.session.repair_round().map(|(round, of)| format!("round {round} of {of}"));
    let trial = if app.session.is_trying() {
        Some("trying …".to_owned())
    } else {
        app.session.trial().map(|(last, is_current)| {
            let line = last.line.lines().next().unwrap_or_default();
            let line = width::clip(&sanitize::visible_line(line), MAX_TRIAL_COLUMNS).into_owned();
            let count = if last.summary.is_empty() { String::new() } else { format!(" ({})", last.summary) };
            match (is_current, last.passed) {
                (false, _) if last.is_stale => format!("{line}: files changed meanwhile"),
                (false, _) => format!("{line}: other hunks since"),
                (true, true) => format!("✓ {line}{count}"),
                (true, false) => format!("✗ {line}{count}"),
            }
        })
    };
    round.into_iter().chain(trial).collect()
}

fn nothing(app: &App, area: Rect) -> Lines {
    let text = format!(
        "Hunks that the model proposes wait here for you. Nothing is written before {}.",
        app.keys.first(Action::Write)
    );
    wrapped(&text, "", area.width.max(8), app.theme().style(Role::Muted))
}

/// The headings of the edits, and the newest lines. Nothing can be decided yet, so all is muted.
fn arriving(app: &App, edits: &[StreamedEdit], area: Rect) -> Lines {
    let columns = usize::from(area.width);
    let height = usize::from(area.height);
    let (muted, last) = (app.theme().style(Role::Muted), edits.len().saturating_sub(1));
    // Only the end can be visible, so only the lines up to the scroll position are rendered.
    let wanted = height + app.review.offset;
    let mut lines: Lines = Vec::new();
    for (number, edit) in edits.iter().enumerate().rev() {
        if lines.len() >= wanted {
            break;
        }
        let mut own = vec![heading(app, edit, columns)];
        // Once the next edit has begun, the number of lines is enough.
        if number == last || app.review.offset > 0 {
            own.extend(body(edit, columns, wanted, muted));
        }
        own.extend(lines);
        lines = own;
    }
    let from = lines.len().saturating_sub(wanted);
    let over = lines.len().saturating_sub(height);
    lines.into_iter().skip(from.min(over)).take(height).collect()
}

fn heading(app: &App, edit: &StreamedEdit, columns: usize) -> Line<'static> {
    let path = edit.path.as_deref().unwrap_or("(no file name yet)");
    let mark = if edit.ended { "·" } else { "⋯" };
    let path = width::clip_start(&sanitize::visible_line(path), columns.saturating_sub(14)).into_owned();
    Line::from(vec![
        Span::styled(format!("{mark} {path} "), app.theme().style(Role::Muted)),
        Span::styled(format!("+{} ", edit.added), app.theme().style(Role::Added)),
        Span::styled(format!("−{}", edit.removed), app.theme().style(Role::Removed)),
    ])
}

/// The last `wanted` screen lines of an edit.
fn body(edit: &StreamedEdit, columns: usize, wanted: usize, muted: Style) -> Lines {
    let mut lines: Lines = Vec::new();
    for line in edit.lines.iter().rev() {
        if lines.len() >= wanted {
            break;
        }
        let (sign, text) = match line {
            StreamedLine::Added(text) => ("  + ", text),
            StreamedLine::Removed(text) => ("  - ", text),
        };
        let mut styled = StyledText::new();
        let shown = text.get(..text.floor_char_boundary(2_000)).unwrap_or_default();
        styled.push(&sanitize::visible_line(shown), muted);
        let rows = styled.hard_wrap(columns.saturating_sub(4).max(1)).into_iter().enumerate();
        let mut own: Lines = rows
            .map(|(part, mut line)| {
                line.spans.insert(0, Span::styled(if part == 0 { sign } else { "  ↪ " }, muted));
                line
            })
            .collect();
        own.extend(lines);
        lines = own;
    }
    lines
}

#[cfg(test)]
mod tests;
