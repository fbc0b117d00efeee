//! Marks the citations in the visible lines of the transcript as links. A citation of a file or line that does not
//! exist is crossed out and has a sign, so that it is recognised without colours.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use rhumb_text::width;

use super::transcript::ChatCache;
use crate::tui::app::App;
use crate::tui::theme::Role;
use crate::tui::view::under_cursor;
use crate::tui::widget::edit_state;
use rhumb_session::Entry;

/// What stands behind a citation that leads nowhere.
const SIGN: &str = "⚠";

/// A link on the screen.
pub(super) struct Link {
    /// The row in the view.
    pub(super) row: usize,
    /// Its columns there.
    pub(super) columns: Range<usize>,
    /// The answer that it stands in.
    pub(super) entry: usize,
    /// Which of its citations it is.
    pub(super) citation: usize,
    /// It leads nowhere, and there was no room for the sign.
    pub(super) unsigned: bool,
}

/// A citation to be laid: its text, and how it looks.
struct Mark<'a> {
    written: &'a str,
    citation: usize,
    style: Style,
    is_nowhere: bool,
}

/// Lays the links over the lines in view, and gives where they stand.
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

/// What an answer cites, the longest first: one may be the beginning of another.
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

/// Whether nothing goes on before or behind a place in a text: `a.rs:1` does not stand in `a.rs:12`.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|before| before.chars().next_back());
    let behind = text.get(range.end..).and_then(|behind| behind.chars().next());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !before.is_some_and(|c| is_part(c) || matches!(c, '/' | '-' | '.')) && !behind.is_some_and(is_part)
}

/// The line with a style over ranges of its text, which are in order, and something behind some of them.
pub(super) fn marked(line: &Line<'static>, marks: &[(Range<usize>, Style, Option<Span<'static>>)]) -> Line<'static> {
    let mut spans = Vec::with_capacity(line.spans.len() + marks.len() * 3);
    let mut start = 0;
    for span in &line.spans {
        let end = start + span.content.len();
        let mut at = start;
        for (range, style, behind) in marks.iter().filter(|(range, ..)| range.start < end && start < range.end) {
            let (from, to) = (range.start.max(start), range.end.min(end));
            let mut push = |from: usize, to: usize, style| {
                if let Some(text) = span.content.get(from - start..to - start).filter(|text| !text.is_empty()) {
                    spans.push(Span::styled(text.to_owned(), style));
                }
            };
            push(at, from, span.style);
            push(from, to, span.style.patch(*style));
            if range.end <= end {
                spans.extend(behind.clone());
            }
            at = to;
        }
        if let Some(rest) = span.content.get(at - start..).filter(|rest| !rest.is_empty()) {
            spans.push(Span::styled(rest.to_owned(), span.style));
        }
        start = end;
    }
    Line { spans, ..line.clone() }
}

/// Lays all of it over the lines in view.
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

/// Puts the state of each edit behind its card.
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
                line.spans.extend(edit_state::span(app.session.edit_state(record), space, app.theme()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn a_mark_may_begin_in_one_span_and_end_in_another() {
        let (red, mark) = (Style::new().fg(Color::Red), Style::new().bg(Color::Blue));
        let line = Line::from(vec![Span::raw("héllo "), Span::styled("world", red)]);
        let text = line.to_string();
        let range = text.find("lo w").map(|at| at..at + 4).unwrap();
        let found = marked(&line, &[(range, mark, Some(Span::raw("!")))]);
        let pieces: Vec<(&str, Style)> = found.spans.iter().map(|span| (&*span.content, span.style)).collect();
        let plain = Style::new();
        assert_eq!(pieces, [("hél", plain), ("lo ", mark), ("w", red.patch(mark)), ("!", plain), ("orld", red)]);
    }

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
