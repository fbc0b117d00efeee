//! Marks the citations in the visible lines of the transcript as links. A citation of a file or line that does not
//! exist is crossed out and has a sign, so that it is recognised without colours.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use rhumb_session::Entry;
use rhumb_text::width;

use super::transcript::ChatCache;
use crate::tui::app::App;
use crate::tui::theme::Role;
use crate::tui::view::under_cursor;
use crate::tui::widget::diff_lines::state_span;
use crate::tui::widget::styled::marked;

/// The sign after a citation without a target.
const SIGN: &str = "⚠";

pub(super) struct Link {
    pub(super) row: usize,
    pub(super) columns: Range<usize>,
    pub(super) entry: usize,
    pub(super) citation: usize,
    /// The target does not exist, and there was no space for the sign.
    pub(super) unsigned: bool,
}

/// A citation to be marked.
struct Mark<'a> {
    written: &'a str,
    citation: usize,
    style: Style,
    is_nowhere: bool,
}

pub(super) fn lay_citations(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: usize) -> Vec<Link> {
    let mut links = Vec::new();
    for (start, at, message) in cache.in_view() {
        let Some(entry) = at.checked_sub(1) else { continue };
        let marks = marks(app, entry);
        if marks.is_empty() {
            continue;
        }
        let end = start.saturating_add_unsigned(message.said);
        let row = |row: isize| usize::try_from(row).unwrap_or(0);
        for (number, line) in lines.iter_mut().enumerate().take(row(end)).skip(row(start)) {
            lay_line(line, number, entry, &marks, columns, &mut links);
        }
    }
    links
}

/// The citations of an answer, the longest first, since one may be a prefix of another.
fn marks(app: &App, entry: usize) -> Vec<Mark<'_>> {
    let Some(Entry::Answer(answer)) = app.session.transcript().get(entry) else { return Vec::new() };
    let link = app.theme().style(Role::MarkdownLink).add_modifier(Modifier::UNDERLINED);
    let broken = app.theme().style(Role::Warning).add_modifier(Modifier::CROSSED_OUT);
    let current = app.chat.reading.link_in(entry);
    let all = app.chat.citing.of(entry).iter().enumerate();
    let mut marks: Vec<Mark<'_>> = all
        .filter_map(|(at, citation)| {
            let is_nowhere = app.chat.citing.target(entry, citation).is_broken();
            let style = if is_nowhere { broken } else { link };
            let is_here = current.is_some_and(|current| current.is_same(citation));
            let style = if is_here { style.patch(app.theme().style(Role::Selection)) } else { style };
            Some(Mark { written: answer.text.get(citation.bytes.clone())?, citation: at, style, is_nowhere })
        })
        .collect();
    marks.sort_by_key(|mark| std::cmp::Reverse(mark.written.len()));
    marks.dedup_by_key(|mark| mark.written);
    marks
}

fn lay_line(
    line: &mut Line<'static>,
    row: usize,
    entry: usize,
    marks: &[Mark<'_>],
    room: usize,
    links: &mut Vec<Link>,
) {
    let text = line.to_string();
    let mut found: Vec<(Range<usize>, &Mark<'_>)> = Vec::new();
    for mark in marks {
        for (at, _) in text.match_indices(mark.written) {
            let range = at..at + mark.written.len();
            let is_free = found.iter().all(|(other, _)| other.end <= range.start || range.end <= other.start);
            if is_free && stands_alone(&text, &range) {
                found.push((range, mark));
            }
        }
    }
    if found.is_empty() {
        return;
    }
    found.sort_by_key(|(range, _)| range.start);
    let broken = found.iter().filter(|(_, mark)| mark.is_nowhere).count();
    let has_room = line.width() + broken * width::columns(SIGN) <= room;
    let mut shift = 0;
    for (range, mark) in &found {
        let from = width::columns(&text[..range.start]) + shift;
        let signed = mark.is_nowhere && has_room;
        let columns = from..from + width::columns(&text[range.clone()]) + usize::from(signed) * width::columns(SIGN);
        shift += usize::from(signed) * width::columns(SIGN);
        let unsigned = mark.is_nowhere && !has_room;
        links.push(Link { row, columns, entry, citation: mark.citation, unsigned });
    }
    let styled = |(range, mark): (Range<usize>, &Mark<'_>)| {
        let sign = Style { add_modifier: Modifier::empty(), ..mark.style };
        (range, mark.style, (mark.is_nowhere && has_room).then(|| Span::styled(SIGN, sign)))
    };
    *line = marked(line, &found.into_iter().map(styled).collect::<Vec<_>>());
}

/// Whether a range of a text is delimited: `a.rs:1` is not part of `a.rs:12`.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|before| before.chars().next_back());
    let behind = text.get(range.end..).and_then(|behind| behind.chars().next());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !before.is_some_and(|c| is_part(c) || matches!(c, '/' | '-' | '.')) && !behind.is_some_and(is_part)
}

pub(super) fn lay_reading_marks(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: u16) {
    lay_states(lines, app, cache, usize::from(columns));
    if let Some(search) = app.chat.reading.search.as_ref().filter(|_| app.chat.reading.on) {
        let style = app.theme().style(Role::Search);
        for line in lines.iter_mut() {
            let text = line.to_string();
            let ranges: Vec<_> = search.needle.find_iter(&text).map(|found| found.range()).collect();
            if !ranges.is_empty() {
                *line = marked(line, &ranges.into_iter().map(|range| (range, style, None)).collect::<Vec<_>>());
            }
        }
    }
    if !app.chat.reading.on {
        return;
    }
    for seen in cache.seen().into_iter().filter(|seen| seen.stop_id == app.chat.reading.stop_id) {
        for line in lines.iter_mut().take(seen.rows.end).skip(seen.rows.start) {
            *line = under_cursor(std::mem::take(line), columns, app.theme());
        }
    }
}

/// Appends the state of each edit to its card.
fn lay_states(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: usize) {
    for (row, at, message) in cache.in_view() {
        let Some(Entry::Answer(answer)) = at.checked_sub(1).and_then(|at| app.session.transcript().get(at)) else {
            continue;
        };
        for card in &message.cards {
            let at = row.checked_add_unsigned(card.line).and_then(|at| usize::try_from(at).ok());
            let record = answer.edits.iter().find(|record| record.id == card.edit);
            if let Some(line) = at.and_then(|at| lines.get_mut(at))
                && let Some(record) = record
            {
                let space = columns.saturating_sub(line.width());
                line.spans.extend(state_span(app.session.edit_state(record), space, app.theme()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_within_a_longer_one_is_none() {
        let text = "a.rs:1 a.rs:12 b/a.rs:1 (a.rs:1)";
        let alone: Vec<usize> = text
            .match_indices("a.rs:1")
            .filter(|(at, found)| stands_alone(text, &(*at..at + found.len())))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(alone, [0, 25]);
    }
}
