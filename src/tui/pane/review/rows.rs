//! The rows of the review pane, as small values: what a row shows is looked up only when it is on the screen.

use super::review::refused_text;
use crate::review::{FileReview, HunkId, Review};
use crate::text::{lines, sanitize, wrap};
use crate::tui::widget::diff_lines::{Gutter, height};

/// Unchanged lines shown around a hunk.
const CONTEXT: usize = 3;

/// Longest piece of a line that is shown, in bytes: a minified file must not fill the review.
const LONGEST: usize = 2_000;

/// Which text a row quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// An unchanged line of the base; it also stands at this line of the proposed text.
    Kept(usize),
    /// A line of the base that goes.
    Removed,
    /// A line of the proposed text that comes.
    Added,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// The heading of a file.
    File(usize),
    /// The heading of a hunk.
    Hunk(HunkId),
    /// A row of a line; long lines take several.
    Text {
        /// The hunk that it belongs to or stands around.
        id: HunkId,
        /// Which text.
        side: Side,
        /// The line, 0-based in its text.
        line: usize,
        /// Which of the rows of the line, 0-based.
        part: usize,
    },
    /// Says that the last line of a text has no newline.
    NoNewline(HunkId),
    /// The heading of an edit without a place.
    Refused(usize),
    /// A row of what is told of it: which outcome, which line, which part of the line.
    RefusedText(usize, usize, usize),
    /// Nothing.
    Blank,
}

impl Row {
    /// The hunk that a row belongs to.
    pub(super) fn hunk(self) -> Option<HunkId> {
        match self {
            Self::Hunk(id) | Self::Text { id, .. } | Self::NoNewline(id) => Some(id),
            _ => None,
        }
    }
}

/// All rows of a review in a pane of that width.
pub(super) fn rows(review: &Review, columns: u16) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, outcome) in review.refused.iter().enumerate() {
        rows.push(Row::Refused(index));
        for (number, line) in refused_text(outcome).iter().enumerate() {
            rows.extend((0..refused_parts(line, columns).len()).map(|part| Row::RefusedText(index, number, part)));
        }
        rows.push(Row::Blank);
    }
    for (index, file) in review.files.iter().enumerate() {
        FileRows::new(index, file, columns).push_all(&mut rows);
    }
    rows
}

/// A line of what is told of an edit without a place, cut into rows.
pub(super) fn refused_parts(line: &str, columns: u16) -> Vec<String> {
    let safe = sanitize::visible_line(shown(line)).into_owned();
    let room = usize::from(columns.saturating_sub(4)).max(1);
    let code = safe.starts_with(['-', '+']);
    let pieces = if code { wrap::hard_wrap(&safe, room) } else { wrap::wrap(&safe, room) };
    let parts: Vec<String> = pieces.into_iter().map(|range| safe[range].to_owned()).collect();
    if parts.is_empty() { vec![String::new()] } else { parts }
}

/// The numbers before the lines of a file.
fn gutter(file: &FileReview) -> Gutter {
    let count = |text: Option<&str>| u32::try_from(lines::split(text.unwrap_or_default()).len()).unwrap_or(u32::MAX);
    match (&file.base, &file.proposed) {
        (None, Some(proposed)) => Gutter::proposed(count(Some(proposed))),
        (Some(base), None) => Gutter::base(count(Some(base))),
        (base, proposed) => Gutter::unified(count(base.as_deref()), count(proposed.as_deref())),
    }
}

/// Where the lines of a file under review are, so that a row on the screen is found without reading the texts.
#[derive(Debug)]
pub(super) struct FileLines {
    /// The numbers before the lines.
    pub(super) gutter: Gutter,
    /// The byte at which each line starts, and the end of the text.
    base: Vec<usize>,
    proposed: Vec<usize>,
}

impl FileLines {
    /// Reads both texts once.
    pub(super) fn new(file: &FileReview) -> Self {
        let starts = |text: Option<&str>| {
            let mut end = 0;
            let ends = lines::split(text.unwrap_or_default()).into_iter().map(|line| {
                end += line.len();
                end
            });
            [0].into_iter().chain(ends).collect()
        };
        let (base, proposed) = (starts(file.base.as_deref()), starts(file.proposed.as_deref()));
        Self { gutter: gutter(file), base, proposed }
    }

    /// A line with its terminator, 0-based; empty beyond the end.
    pub(super) fn line<'a>(&self, file: &'a FileReview, side: Side, line: usize) -> &'a str {
        let (text, starts) =
            if side == Side::Added { (&file.proposed, &self.proposed) } else { (&file.base, &self.base) };
        let range = starts.get(line).zip(starts.get(line.saturating_add(1)));
        range.and_then(|(start, end)| text.as_deref()?.get(*start..*end)).unwrap_or_default()
    }

    /// Where the starts of the lines are kept: stays the same until they are looked for again.
    #[cfg(test)]
    pub(super) fn starts(&self) -> (usize, usize) {
        (self.base.as_ptr() as usize, self.proposed.as_ptr() as usize)
    }
}

/// The part of a line that is shown.
pub(super) fn shown(body: &str) -> &str {
    let mut end = body.len().min(LONGEST);
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    &body[..end]
}

/// Makes the rows of one file.
struct FileRows<'a> {
    index: usize,
    file: &'a FileReview,
    base: Vec<&'a str>,
    proposed: Vec<&'a str>,
    gutter: Gutter,
    columns: u16,
}

impl<'a> FileRows<'a> {
    fn new(index: usize, file: &'a FileReview, columns: u16) -> Self {
        let split = |text: &'a Option<std::sync::Arc<str>>| lines::split(text.as_deref().unwrap_or_default());
        Self { index, file, base: split(&file.base), proposed: split(&file.proposed), gutter: gutter(file), columns }
    }

    fn push_all(&self, rows: &mut Vec<Row>) {
        rows.push(Row::File(self.index));
        let mut done = 0;
        for (number, item) in self.file.hunks.iter().enumerate() {
            let id = HunkId { file: self.index, hunk: number };
            let (base, proposed) = (item.hunk.base.clone(), item.hunk.proposed.clone());
            let next = self.file.hunks.get(number + 1).map_or(self.base.len(), |next| next.hunk.base.start);
            rows.push(Row::Hunk(id));
            for line in base.start.saturating_sub(CONTEXT).max(done)..base.start {
                self.push(rows, id, Side::Kept(line + proposed.start - base.start), line);
            }
            base.clone().for_each(|line| self.push(rows, id, Side::Removed, line));
            proposed.clone().for_each(|line| self.push(rows, id, Side::Added, line));
            // Lines between two close hunks belong to the first; they are not shown twice.
            done = (base.end + CONTEXT).min(next);
            (base.end..done).for_each(|line| self.push(rows, id, Side::Kept(line + proposed.end - base.end), line));
            rows.push(Row::Blank);
        }
    }

    fn push(&self, rows: &mut Vec<Row>, id: HunkId, side: Side, line: usize) {
        let text = if side == Side::Added { &self.proposed } else { &self.base };
        let Some(raw) = text.get(line) else { return };
        let height = height(shown(lines::body(raw)), self.gutter, self.columns);
        rows.extend((0..height).map(|part| Row::Text { id, side, line, part }));
        if !raw.ends_with('\n') {
            rows.push(Row::NoNewline(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::edit::FileChange;

    proptest! {
        #[test]
        fn a_line_is_found_where_a_scan_finds_it(base in "[a\r\né]{0,40}", proposed in "[a\r\né]{0,40}") {
            let file = FileReview {
                path: "a".into(),
                change: FileChange::Modify,
                base: Some(Arc::from(base.as_str())),
                proposed: Some(Arc::from(proposed.as_str())),
                hunks: Vec::new(),
                comment: String::new(),
            };
            let places = FileLines::new(&file);
            for line in 0..44 {
                for (side, text) in [(Side::Removed, &base), (Side::Added, &proposed)] {
                    let scanned = text.split_inclusive('\n').nth(line).unwrap_or_default();
                    prop_assert_eq!(places.line(&file, side, line), scanned);
                }
            }
        }
    }

    #[test]
    fn a_file_without_a_text_has_no_lines() {
        let file = FileReview {
            path: "a".into(),
            change: FileChange::Create,
            base: None,
            proposed: Some(Arc::from("x\n")),
            hunks: Vec::new(),
            comment: String::new(),
        };
        let places = FileLines::new(&file);
        assert_eq!(places.line(&file, Side::Removed, 0), "");
        assert_eq!(places.line(&file, Side::Added, 0), "x\n");
        assert_eq!(places.line(&file, Side::Added, usize::MAX), "");
    }
}
