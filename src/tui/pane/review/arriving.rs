//! What the pane shows while there is nothing to decide: the edits that stream in, or what it is for.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::session::StreamedEdit;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::theme::Role;
use crate::tui::widget::styled::StyledText;
use rhumb_text::{sanitize, width, wrap};

/// Draws it. The newest line stands at the bottom, unless the user scrolled up.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let edits = app.session.turn.as_ref().map_or(&[][..], |turn| turn.edits.as_slice());
    let lines = if edits.is_empty() { nothing(app, area) } else { arriving(app, edits, area) };
    frame.render_widget(Paragraph::new(lines), area);
}

fn nothing(app: &App, area: Rect) -> Vec<Line<'static>> {
    let text = format!(
        "Hunks that the model proposes wait here for you. Nothing is written before {}.",
        app.keys.first(Action::Write)
    );
    let wrapped = wrap::wrap(&text, usize::from(area.width).max(8)).into_iter();
    wrapped.map(|range| Line::styled(text[range].to_owned(), app.theme.style(Role::Muted))).collect()
}

/// Each edit with its counts, and of the newest one its lines as they come. Nothing of it can be decided yet: it is all muted.
fn arriving(app: &App, edits: &[StreamedEdit], area: Rect) -> Vec<Line<'static>> {
    let columns = usize::from(area.width);
    let height = usize::from(area.height);
    let (muted, last) = (app.theme.style(Role::Muted), edits.len().saturating_sub(1));
    // Only the end can be on the screen; so much of it is prepared as the user has scrolled up.
    let wanted = height + app.review.offset;
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (number, edit) in edits.iter().enumerate().rev() {
        if lines.len() >= wanted {
            break;
        }
        let mut own = vec![heading(app, edit, columns)];
        // Once another has begun, how many lines it has is enough.
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
        Span::styled(format!("{mark} {path} "), app.theme.style(Role::Muted)),
        Span::styled(format!("+{} ", edit.added), app.theme.style(Role::Added)),
        Span::styled(format!("−{}", edit.removed), app.theme.style(Role::Removed)),
    ])
}

/// The last lines of an edit, as many lines of the screen as are wanted.
fn body(edit: &StreamedEdit, columns: usize, wanted: usize, muted: Style) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (added, text) in edit.lines.iter().rev() {
        if lines.len() >= wanted {
            break;
        }
        let sign = if *added { "  + " } else { "  - " };
        let mut styled = StyledText::new();
        let shown = text.get(..text.floor_char_boundary(2_000)).unwrap_or_default();
        styled.push(&sanitize::visible_line(shown), muted);
        let rows = styled.hard_wrap(columns.saturating_sub(4).max(1)).into_iter().enumerate();
        let mut own: Vec<Line<'static>> = rows
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
