//! What is laid over the lines of the transcript that are in view: the reader's cursor, what was searched for, and the states of
//! edits. The lines themselves stay in the cache as they are.

use ratatui::text::Line;

use super::citation_marks::marked;
use super::transcript::ChatCache;
use crate::session::Entry;
use crate::tui::app::App;
use crate::tui::theme::Role;
use crate::tui::view::under_cursor;
use crate::tui::widget::edit_state;

/// Lays all of it over the lines in view.
pub(super) fn lay(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: u16) {
    lay_states(lines, app, cache, usize::from(columns));
    if let Some(search) = app.reading.search.as_ref().filter(|_| app.reading.on) {
        let style = app.theme.style(Role::Search);
        for line in lines.iter_mut() {
            let text = line.to_string();
            let ranges: Vec<_> = search.needle.find_iter(&text).map(|found| found.range()).collect();
            if !ranges.is_empty() {
                *line = marked(line, &ranges.into_iter().map(|range| (range, style, None)).collect::<Vec<_>>());
            }
        }
    }
    if !app.reading.on {
        return;
    }
    for seen in cache.seen().into_iter().filter(|seen| seen.spot == app.reading.spot) {
        for line in lines.iter_mut().take(seen.rows.end).skip(seen.rows.start) {
            *line = under_cursor(std::mem::take(line), columns, &app.theme);
        }
    }
}

/// Puts the state of each edit behind its card.
fn lay_states(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: usize) {
    for (row, at, message) in cache.in_view() {
        let Some(Entry::Answer(answer)) = at.checked_sub(1).and_then(|at| app.session.transcript.get(at)) else {
            continue;
        };
        for card in &message.cards {
            let at = row.checked_add_unsigned(card.line).and_then(|at| usize::try_from(at).ok());
            let record = answer.edits.iter().find(|record| record.id == card.edit);
            if let Some(line) = at.and_then(|at| lines.get_mut(at))
                && let Some(record) = record
            {
                let space = columns.saturating_sub(line.width());
                line.spans.extend(edit_state::span(app.session.edit_state(record), space, &app.theme));
            }
        }
    }
}
