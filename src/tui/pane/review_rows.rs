//! The rows of the review pane, as small values: what a row shows is looked up only when it is on the screen.

use super::review::refused_text;
use crate::review::{FileReview, HunkId, Review};
use crate::text::lines;

/// Unchanged lines shown around a hunk.
const CONTEXT: usize = 3;

/// Which text a row quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// An unchanged line of the base.
    Kept,
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
    /// A line, 0-based in its text.
    Text {
        /// The hunk that it belongs to or stands around.
        id: HunkId,
        /// Which text.
        side: Side,
        /// The line.
        line: usize,
    },
    /// The heading of an edit without a place.
    Refused(usize),
    /// A line of what is told of it.
    RefusedText(usize, usize),
    /// Nothing.
    Blank,
}

impl Row {
    /// The hunk that a row belongs to.
    pub(super) fn hunk(self) -> Option<HunkId> {
        match self {
            Self::Hunk(id) | Self::Text { id, .. } => Some(id),
            _ => None,
        }
    }
}

/// All rows of a review.
pub(super) fn rows(review: &Review) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, outcome) in review.refused.iter().enumerate() {
        rows.push(Row::Refused(index));
        rows.extend((0..refused_text(outcome).len()).map(|line| Row::RefusedText(index, line)));
        rows.push(Row::Blank);
    }
    for (index, file) in review.files.iter().enumerate() {
        push_file(&mut rows, index, file);
    }
    rows
}

fn push_file(rows: &mut Vec<Row>, index: usize, file: &FileReview) {
    rows.push(Row::File(index));
    let count = lines::split(file.base.as_deref().unwrap_or_default()).len();
    let mut shown = 0;
    for (number, item) in file.hunks.iter().enumerate() {
        let id = HunkId {
            file: index,
            hunk: number,
        };
        let (base, proposed) = (&item.hunk.base, &item.hunk.proposed);
        let next = file.hunks.get(number + 1).map_or(count, |next| next.hunk.base.start);
        let text = |side: Side| move |line: usize| Row::Text { id, side, line };
        rows.push(Row::Hunk(id));
        rows.extend((base.start.saturating_sub(CONTEXT).max(shown)..base.start).map(text(Side::Kept)));
        rows.extend(base.clone().map(text(Side::Removed)));
        rows.extend(proposed.clone().map(text(Side::Added)));
        // Lines between two close hunks belong to the first; they are not shown twice.
        shown = (base.end + CONTEXT).min(next).min(count);
        rows.extend((base.end..shown).map(text(Side::Kept)));
        rows.push(Row::Blank);
    }
}
