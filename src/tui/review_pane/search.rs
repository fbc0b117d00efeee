//! Search in a review: in changed lines and their context, in paths, and in the texts of unplaced edits.

use rhumb_edit::review::Review;

use super::file_rows;
use super::file_rows::{Plan, Side};
use super::rows::{Row, Rows};
use crate::tui::widget::input::LineInput;

/// A search.
#[derive(Debug, Default)]
pub struct Search {
    /// The line that is being typed; `None` while it is not.
    pub(crate) prompt: Option<LineInput>,
    /// What is searched; empty for nothing.
    pub(crate) wanted: String,
    /// The rows that have it, in reading order, as they stand unified and with nothing folded.
    pub(crate) found: Vec<Row>,
    /// Which of them the cursor went to.
    pub(crate) current: Option<usize>,
    /// Where the cursor was when the line was opened.
    pub(crate) origin: Option<Row>,
}

impl Search {
    /// Whether anything is searched.
    pub fn is_on(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// `3 of 12`, or that there is nothing.
    pub fn standing(&self) -> String {
        match (self.found.len(), self.current) {
            (0, _) => "not found".into(),
            (count, Some(at)) => format!("{} of {count}", at + 1),
            (count, None) => format!("{count} found"),
        }
    }

    /// Looks for `wanted` in the whole review.
    pub(crate) fn look(&mut self, review: &Review, rows: &Rows) {
        self.found = if self.wanted.is_empty() { Vec::new() } else { rows_with(review, rows, &self.wanted) };
        self.current = self.current.filter(|at| *at < self.found.len());
    }

    /// Ends it.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The rows of a review that hold a text.
fn rows_with(review: &Review, rows: &Rows, wanted: &str) -> Vec<Row> {
    let has = |text: &str| !matches(text, wanted).is_empty();
    let mut found = Vec::new();
    for (index, outcome) in review.refused.iter().enumerate() {
        if has(&outcome.path) {
            found.push(Row::Refused(index));
        }
        let lines = file_rows::refused_text(outcome);
        let told = lines.iter().enumerate().filter(|(_, line)| has(line));
        found.extend(told.map(|(number, _)| Row::RefusedText(index, number)));
    }
    for (index, file) in review.files.iter().enumerate() {
        let Some(places) = rows.lines_of(index) else { continue };
        let shown_has = |side, line| has(&places.shown(file, side, line).text);
        let holds = |row: &Row| match *row {
            Row::File(_) => has(&file.path),
            Row::Kept { base, .. } => shown_has(Side::Base, base),
            Row::Changed { id, removed, added } => file.hunks.get(id.hunk).is_some_and(|item| {
                removed.is_some_and(|line| shown_has(Side::Base, item.hunk.base.start + line))
                    || added.is_some_and(|line| shown_has(Side::Proposed, item.hunk.proposed.start + line))
            }),
            Row::Note(place) => review.comment_on(place).is_some_and(has),
            _ => false,
        };
        found.extend(file_rows::rows(index, file, places, &Plan::new(), false).into_iter().filter(holds));
    }
    found
}

/// Byte ranges of the matches of `wanted` in a text. Lowercase letters match capitals unless `wanted` contains a
/// capital.
pub(super) fn matches(text: &str, wanted: &str) -> Vec<std::ops::Range<usize>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let exact = wanted.chars().any(char::is_uppercase);
    if exact || text.is_ascii() {
        let folded = if exact { None } else { Some(text.to_ascii_lowercase()) };
        let text = folded.as_deref().unwrap_or(text);
        return text.match_indices(wanted).map(|(at, found)| at..at + found.len()).collect();
    }
    // A capital may be longer or shorter than its small letter, so that bytes of the one say nothing of the other.
    let starts: Vec<(usize, char)> =
        text.char_indices().flat_map(|(at, c)| c.to_lowercase().map(move |small| (at, small))).collect();
    let wanted: Vec<char> = wanted.chars().collect();
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (number, window) in starts.windows(wanted.len()).enumerate() {
        let start = window.first().map_or(0, |(at, _)| *at);
        let is_free = found.last().is_none_or(|last| start >= last.end);
        if is_free && window.iter().map(|(_, c)| c).eq(wanted.iter()) {
            let last = window.last().map_or(start, |(at, _)| *at);
            let after = starts.iter().skip(number + wanted.len()).map(|(at, _)| *at).find(|at| *at > last);
            found.push(start..after.unwrap_or(text.len()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_letters_match_capitals_and_capitals_only_themselves() {
        assert_eq!(matches("Berth and berth", "berth"), [0..5, 10..15]);
        assert_eq!(matches("Berth and Berth", "Berth"), [0..5, 10..15]);
        assert_eq!(matches("berth and berth", "Berth").len(), 0);
        assert_eq!(matches("Übung übung", "übung"), [0..6, 7..13]);
        assert_eq!(matches("İx x", "x"), [2..3, 4..5]);
        assert!(matches("anything", "").is_empty());
    }
}
