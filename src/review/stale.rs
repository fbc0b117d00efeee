//! A file changed on disk while it was under review: carry the hunks over to the new text where that is certain.

use std::sync::Arc;

use super::file::{FileReview, woven};
use super::hunk::ReviewHunk;
use super::state::Review;
use crate::diff::{self, Hunk};
use crate::edit::{EditFormat, FileChange, Outcome, Status};
use crate::text::lines;

impl Review {
    /// Moves the review of `path` onto the text that it has now; `None` if it is no text any more. How many hunks moved along,
    /// and how many lost their place: those are kept among the refused edits.
    pub fn rebase(&mut self, path: &str, now: Option<&str>) -> (usize, usize) {
        let stands_for = |file: &FileReview| {
            file.path == path || matches!(&file.change, FileChange::Rename { from } if from == path)
        };
        let Some(index) = self.files.iter().position(stands_for) else {
            return (0, 0);
        };
        let file = &mut self.files[index];
        let (base, proposed) = (file.base.clone(), file.proposed.clone());
        let lost = match now {
            Some(now) => file.rebase(now),
            None => std::mem::take(&mut file.hunks),
        };
        let kept = file.hunks.len();
        if kept == 0 {
            self.files.remove(index);
        }
        let told = lost.iter().map(|item| {
            let side = |text: &Option<Arc<str>>, lines| quoted(text.as_deref().unwrap_or_default(), lines);
            refused(path, &item.hunk, side(&base, &item.hunk.base), side(&proposed, &item.hunk.proposed))
        });
        self.refused.extend(told);
        self.forget_steps();
        (kept, lost.len())
    }
}

/// Those lines of a text.
fn quoted(text: &str, range: &std::ops::Range<usize>) -> String {
    lines::split(text).get(range.clone()).unwrap_or_default().concat()
}

/// A hunk whose place is gone, as an edit that was refused.
fn refused(path: &str, hunk: &Hunk, quote: String, replacement: String) -> Outcome {
    Outcome {
        path: path.to_owned(),
        format: EditFormat::Diff,
        status: Status::Refused,
        strategy: None,
        confidence: 0.0,
        lines: None,
        reason: format!("the file changed on disk around line {}, where this hunk stood", hunk.base.start + 1),
        candidates: Vec::new(),
        nearest: Vec::new(),
        flags: Vec::new(),
        quote,
        replacement,
        reply_lines: (0, 0),
    }
}

impl FileReview {
    /// Moves the review onto the text that the file has now. Hunks whose lines (and the lines they touch) did not change
    /// move along with all that was said of them; the others are given back: their place is gone, and guessing another would
    /// overwrite what somebody just wrote.
    pub fn rebase(&mut self, now: &str) -> Vec<ReviewHunk> {
        let Some(base) = self.base.clone().filter(|_| self.is_divisible()) else {
            return std::mem::take(&mut self.hunks);
        };
        let drift = diff::hunks(&base, now);
        let proposed = self.proposed.clone().unwrap_or_default();
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        for (mut item, added) in self.items(&lines::split(&proposed)) {
            match moved(&item.hunk, &drift) {
                Some(place) => {
                    item.hunk.base = place;
                    kept.push((item, added));
                }
                None => lost.push(item),
            }
        }
        let (proposed, hunks) = woven(now, kept);
        (self.base, self.proposed, self.hunks) = (Some(Arc::from(now)), Some(Arc::from(proposed)), hunks);
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
