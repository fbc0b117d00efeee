//! A file changed on disk while it was under review: carry the hunks over to the new text where that is certain.

use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use super::Review;
use super::file::{FileReview, woven};
use super::hunk::ReviewHunk;
use crate::format::EditFormat;
use crate::outcome::{Excerpt, Flag, Outcome, Status};
use crate::proposal::FileChange;

/// What is noted on a hunk whose lines stand elsewhere by now.
const MOVED: &str = "moved";

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
        let before = file.clone();
        let lost = match now {
            Some(now) => file.rebase(now),
            None => std::mem::take(&mut file.hunks),
        };
        let kept = file.hunks.len();
        if kept == 0 {
            self.files.remove(index);
        }
        // Nothing more of the file is written before these are settled: they come first.
        self.refused.splice(0..0, lost.iter().map(|item| before.conflict(item, now)));
        self.forget_steps();
        (kept, lost.len())
    }

    /// How many hunks lost their place to a change on disk. They stand before all other edits without a place.
    pub fn conflicts(&self) -> usize {
        self.refused.iter().filter(|outcome| outcome.is_conflict()).count()
    }

    /// Whether a hunk of that file lost its place to a change on disk, and nobody has said yet what shall stand there.
    pub fn has_conflict(&self, path: &str) -> bool {
        self.refused.iter().any(|outcome| outcome.path == path && outcome.is_conflict())
    }
}

impl FileReview {
    /// A hunk whose place is gone, as an edit that was refused: what stood there as its quote, the hunk as its replacement, and
    /// nearest what stands there `now`.
    fn conflict(&self, item: &ReviewHunk, now: Option<&str>) -> Outcome {
        let (old, new) = self.split_texts();
        let of = |lines: &[&str], range: Range<usize>| lines.get(range).unwrap_or_default().concat();
        let hunk = &item.hunk;
        let there = lines::split(now.unwrap_or_default());
        let (was, is) = match &self.change {
            FileChange::Modify => place_of(hunk, &diff::line_hunks(&old, &there)),
            _ => (0..old.len(), 0..there.len()),
        };
        let can_be_settled = now.is_some() && matches!(self.change, FileChange::Modify | FileChange::Create);
        let nearest = now.map(|_| Excerpt { line: is.start + 1, text: of(&there, is.clone()), with_edits: false });
        let proposed = of(&new, hunk.proposed.clone());
        let replacement = [of(&old, was.start..hunk.base.start), proposed, of(&old, hunk.base.end..was.end)].concat();
        let mut reason = match now {
            Some(_) => format!("the file changed on disk around line {}, where this hunk stood", hunk.base.start + 1),
            None => "the file is gone, or no text any more".to_owned(),
        };
        for (_, note) in item.comments() {
            reason.push_str("; noted on it: ");
            reason.push_str(note);
        }
        let has = |flag: &Flag| item.marks.iter().any(|mark| mark == flag.name());
        let lasting = [Flag::RunsLater, Flag::NewAddress].into_iter().filter(has);
        Outcome {
            path: self.path.clone(),
            format: EditFormat::Diff,
            status: Status::Refused,
            strategy: None,
            confidence: 0.0,
            lines: None,
            reason,
            candidates: Vec::new(),
            nearest: nearest.into_iter().collect(),
            flags: can_be_settled.then_some(Flag::Conflict).into_iter().chain(lasting).collect(),
            quote: of(&old, was),
            replacement,
            reply_lines: (0, 0),
            edits: item.edits.clone(),
        }
    }

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
                    let is_marked = item.marks.iter().any(|mark| mark == MOVED);
                    item.marks.extend((place != item.hunk.base && !is_marked).then(|| MOVED.to_owned()));
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

/// The lines that a hunk and the changes on disk that it meets are about: in the base, and as they are now.
fn place_of(hunk: &Hunk, drift: &[Hunk]) -> (Range<usize>, Range<usize>) {
    let meets = |change: &&Hunk| change.base.start <= hunk.base.end && change.base.end >= hunk.base.start;
    let length = |change: &Hunk| change.proposed.len() as isize - change.base.len() as isize;
    let met = || drift.iter().filter(meets);
    let start = met().map(|change| change.base.start).fold(hunk.base.start, usize::min);
    let end = met().map(|change| change.base.end).fold(hunk.base.end, usize::max);
    let before: isize = drift.iter().take_while(|change| change.base.end < hunk.base.start).map(length).sum();
    let within: isize = met().map(length).sum();
    let at = |line: usize, by: isize| line.checked_add_signed(by).unwrap_or_default();
    (start..end, at(start, before)..at(end, before + within))
}

/// Where the base lines of `hunk` stand after `drift`; `None` if the drift touches them or an edge of them.
fn moved(hunk: &Hunk, drift: &[Hunk]) -> Option<Range<usize>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::Decision;

    fn review(base: &str, proposed: &str) -> Review {
        let text = |text: &str| Some(Arc::from(text));
        let file = FileReview::new("a".into(), FileChange::Modify, text(base), text(proposed), |_| Vec::new());
        Review { files: file.into_iter().collect(), ..Review::default() }
    }

    #[test]
    fn a_hunk_that_lost_its_place_is_a_conflict_of_three_texts() {
        let mut review = review("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\nE\nf\n");
        review.decide_all(Decision::Accepted);
        assert_eq!(review.rebase("a", Some("new\na\nmine\ntoo\nd\ne\nf\n")), (1, 1));
        assert!(review.has_conflict("a") && !review.has_conflict("b"));
        let conflict = &review.refused[0];
        assert_eq!((conflict.quote.as_str(), conflict.replacement.as_str()), ("b\nc\n", "B\nc\n"));
        assert_eq!(conflict.nearest, [Excerpt { line: 3, text: "mine\ntoo\n".into(), with_edits: false }]);
        assert_eq!(review.files[0].hunks[0].marks, [MOVED]);
        assert_eq!(review.counts().accepted, 1);
    }

    #[test]
    fn a_file_that_is_gone_leaves_nothing_to_settle() {
        let mut review = review("a\n", "b\n");
        assert_eq!(review.rebase("a", None), (0, 1));
        assert!(!review.has_conflict("a") && review.refused[0].nearest.is_empty());
    }

    #[test]
    fn what_was_put_in_by_hand_settles_a_conflict_and_keeps_what_is_to_be_known() {
        let mut review = review("a\nb\nc\n", "a\nB\nc\n");
        review.files[0].hunks[0].marks.push(Flag::RunsLater.to_string());
        review.rebase("a", Some("a\nmine\nc\n"));
        let conflict = review.refused[0].clone();
        let now = Arc::from("a\nmine\nc\n");
        review.place(Some(0), "a", &now, 1..2, &conflict.replacement).unwrap();
        assert!(review.refused.is_empty() && review.files[0].hunks[0].wants_own_yes());
        assert_eq!(review.files[0].proposed.as_deref(), Some("a\nB\nc\n"));
        review.undo();
        assert!(review.has_conflict("a"));
    }
}
