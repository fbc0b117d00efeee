//! What is laid over the lines of the transcript that are in view: the reader's cursor, what was searched for, and what became of
//! edits. The lines themselves stay in the cache as they are.

use ratatui::text::{Line, Span};

use super::answer::CardLine;
use super::citation_marks::marked;
use super::transcript::ChatCache;
use crate::review::{Counts, Decision};
use crate::text::width;
use crate::tui::app::App;
use crate::tui::reading::is_path;
use crate::tui::theme::{Role, Theme};
use crate::tui::view::under_cursor;

/// Lays all of it over the lines in view.
pub(super) fn lay(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: u16) {
    lay_fates(lines, app, cache, usize::from(columns));
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

fn lay_fates(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: usize) {
    for (row, _, message) in cache.in_view() {
        for card in &message.cards {
            let Some(at) = row.checked_add_unsigned(card.line).and_then(|at| usize::try_from(at).ok()) else {
                continue;
            };
            let alone = message.cards.iter().filter(|other| other.path == card.path).count() == 1;
            if let Some(line) = lines.get_mut(at)
                && let Some(fate) = fate(app, card, alone)
                && line.width() + fate.width() <= columns
            {
                line.spans.push(fate);
            }
        }
    }
}

/// What was decided on an edit, as far as it is known. `alone` if no other edit of the answer is about its file.
fn fate(app: &App, card: &CardLine, alone: bool) -> Option<Span<'static>> {
    let theme = &app.theme;
    let telling = card.telling.as_ref().map(|(_, line)| line.as_str())?;
    let review = &app.session.review;
    let mut files = review.files.iter().filter(|file| is_path(&file.path, &card.path));
    let under_review = files.find_map(|file| {
        let hunk = file.hunks.get(file.hunk_changing(telling)?)?;
        // An edit that is larger than a hunk may be several.
        let several = alone && card.changes > hunk.line_count() && file.hunks.len() > 1;
        Some((several.then(|| file.counts()), hunk.decision()))
    });
    match under_review {
        Some((Some(counts), _)) => Some(counted(counts, theme)),
        Some((None, decision)) => Some(decided(decision, theme)),
        None => {
            let known = app
                .session
                .decided
                .iter()
                .rev()
                .find(|decided| is_path(&decided.path, &card.path) && decided.lines.contains(telling))?;
            let (text, role) = if known.written {
                ("  ✓ written", Role::HunkAccepted)
            } else {
                ("  ✗ rejected", Role::HunkRejected)
            };
            Some(Span::styled(text, theme.style(role)))
        }
    }
}

fn decided(decision: Decision, theme: &Theme) -> Span<'static> {
    let (text, role) = match decision {
        Decision::Accepted => ("  ✓ accepted", Role::HunkAccepted),
        Decision::Rejected => ("  ✗ rejected", Role::HunkRejected),
        Decision::Pending => ("  · pending", Role::HunkPending),
    };
    Span::styled(text, theme.style(role))
}

fn counted(counts: Counts, theme: &Theme) -> Span<'static> {
    let parts = [(counts.accepted, '✓'), (counts.rejected, '✗'), (counts.pending, '·')];
    let shown = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, mark)| format!(" {mark}{count}"));
    let text: String = std::iter::once(" ".to_owned()).chain(shown).collect();
    let role = if counts.pending > 0 {
        Role::HunkPending
    } else if counts.accepted > 0 {
        Role::HunkAccepted
    } else {
        Role::HunkRejected
    };
    debug_assert!(width::columns(&text) > 1);
    Span::styled(text, theme.style(role))
}
