//! A file changed on disk while it was under review: carry the hunks over to the new text where that is certain.

use std::sync::Arc;

use super::file::{FileReview, ReviewHunk};
use crate::diff::{self, Hunk};
use crate::edit::FileChange;
use crate::text::lines;

impl FileReview {
    /// Moves the review onto the text that the file has now. Hunks whose lines (and the lines they touch) did not change
    /// keep their decision and move along; the others are given back: their place is gone, and guessing another would
    /// overwrite what somebody just wrote.
    pub fn rebase(&mut self, now: &str) -> Vec<ReviewHunk> {
        let Some(base) = self.base.clone().filter(|_| self.change == FileChange::Modify) else {
            return std::mem::take(&mut self.hunks);
        };
        let drift = diff::hunks(&base, now);
        let proposed = self.proposed.clone().unwrap_or_default();
        let (new_lines, now_lines) = (lines::split(&proposed), lines::split(now));
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        let (mut text, mut at) = (String::new(), 0);
        for mut item in std::mem::take(&mut self.hunks) {
            let Some(place) = moved(&item.hunk, &drift) else {
                lost.push(item);
                continue;
            };
            text.extend(now_lines[at..place.start].iter().copied());
            let first = lines::split(&text).len();
            let added = new_lines.get(item.hunk.proposed.clone()).unwrap_or_default();
            text.extend(added.iter().copied());
            at = place.end;
            item.hunk = Hunk {
                base: place,
                proposed: first..first + added.len(),
            };
            kept.push(item);
        }
        text.extend(now_lines[at..].iter().copied());
        self.base = Some(Arc::from(now));
        self.proposed = Some(Arc::from(text));
        self.hunks = kept;
        lost
    }
}

/// Where the base lines of `hunk` stand after `drift`; `None` if the drift touches them or an edge of them.
fn moved(hunk: &Hunk, drift: &[Hunk]) -> Option<std::ops::Range<usize>> {
    let mut shift = 0isize;
    for change in drift {
        if change.base.start > hunk.base.end {
            break;
        }
        if change.base.end >= hunk.base.start {
            return None;
        }
        shift += change.proposed.len() as isize - change.base.len() as isize;
    }
    Some(hunk.base.start.checked_add_signed(shift)?..hunk.base.end.checked_add_signed(shift)?)
}
