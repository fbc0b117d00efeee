//! Rebasing a review onto a file that changed on disk.

use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use super::Review;
use super::file::{FileReview, compose_items};
use super::hunk::ReviewHunk;
use super::marks::HunkMark;
use crate::format::EditFormat;
use crate::outcome::{Excerpt, Flag, Outcome, Status};
use crate::proposal::FileChange;

impl Review {
    /// Rebases the review of `path` onto its current text; `None` if it is no longer a text file. Returns the
    /// number of hunks that were kept, and of those that are conflicts now. Conflicts are kept among the refused
    /// edits.
    pub fn rebase(&mut self, path: &str, now: Option<&str>) -> (usize, usize) {
        let has_path = |file: &FileReview| {
            file.path == path || matches!(&file.change, FileChange::Rename { from } if from == path)
        };
        let Some(index) = self.files.iter().position(has_path) else {
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
        // Conflicts come first, because the file is not written until they are resolved.
        self.refused.splice(0..0, lost.iter().map(|item| before.conflict(item, now)));
        self.clear_history();
        (kept, lost.len())
    }

    /// The number of conflicts. They come before all other refused edits.
    pub fn conflicts(&self) -> usize {
        self.refused.iter().filter(|outcome| outcome.is_conflict()).count()
    }

    /// Whether a hunk of that file is an unresolved conflict.
    pub fn has_conflict(&self, path: &str) -> bool {
        self.refused.iter().any(|outcome| outcome.path == path && outcome.is_conflict())
    }
}

impl FileReview {
    /// A hunk that lost its location, as a refused edit: its old lines as the quote, its new lines as the
    /// replacement, and the current lines as the excerpt.
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
        let lasting = [Flag::RunsLater, Flag::NewAddress].into_iter().filter(|flag| item.has_flag(*flag));
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

    /// Rebases the review onto the current text of the file. Hunks of which neither their lines nor the lines next
    /// to them changed are kept, with decisions and comments. The others are returned: to guess another location
    /// could overwrite a change that was just written.
    pub fn rebase(&mut self, now: &str) -> Vec<ReviewHunk> {
        let Some(base) = self.base.clone().filter(|_| self.is_divisible()) else {
            return std::mem::take(&mut self.hunks);
        };
        let drift = diff::hunks(&base, now);
        let proposed = self.proposed.clone().unwrap_or_default();
        let (mut kept, mut lost) = (Vec::new(), Vec::new());
        for (mut item, added) in self.items(&lines::split(&proposed)) {
            match moved(&item.hunk, &drift) {
                Some(range) => {
                    if range != item.hunk.base && !item.marks.contains(&HunkMark::Moved) {
                        item.marks.push(HunkMark::Moved);
                    }
                    item.hunk.base = range;
                    kept.push((item, added));
                }
                None => lost.push(item),
            }
        }
        let (proposed, hunks) = compose_items(now, kept);
        (self.base, self.proposed, self.hunks) = (Some(Arc::from(now)), Some(Arc::from(proposed)), hunks);
        lost
    }
}

/// The lines of a hunk and of the changes on disk that it touches: in the base, and in the current text.
fn place_of(hunk: &Hunk, drift: &[Hunk]) -> (Range<usize>, Range<usize>) {
    let meets = |change: &&Hunk| change.base.start <= hunk.base.end && change.base.end >= hunk.base.start;
    let length = |change: &Hunk| change.proposed.len() as isize - change.base.len() as isize;
    let matched = || drift.iter().filter(meets);
    let start = matched().map(|change| change.base.start).fold(hunk.base.start, usize::min);
    let end = matched().map(|change| change.base.end).fold(hunk.base.end, usize::max);
    let before: isize = drift.iter().take_while(|change| change.base.end < hunk.base.start).map(length).sum();
    let within: isize = matched().map(length).sum();
    let at = |line: usize, by: isize| line.checked_add_signed(by).unwrap_or_default();
    (start..end, at(start, before)..at(end, before + within))
}

/// The range of the base lines of `hunk` after `drift`; `None` if the drift touches them or their edges.
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
        assert_eq!(review.files[0].hunks[0].marks, [HunkMark::Moved]);
        assert_eq!(review.counts().accepted, 1);
    }

    #[test]
    fn a_deleted_file_leaves_no_conflict() {
        let mut review = review("a\n", "b\n");
        assert_eq!(review.rebase("a", None), (0, 1));
        assert!(!review.has_conflict("a") && review.refused[0].nearest.is_empty());
    }

    #[test]
    fn placing_an_edit_resolves_its_conflict_and_keeps_its_flags() {
        let mut review = review("a\nb\nc\n", "a\nB\nc\n");
        review.files[0].hunks[0].marks.push(HunkMark::Flag(Flag::RunsLater));
        review.rebase("a", Some("a\nmine\nc\n"));
        let conflict = review.refused[0].clone();
        let now = Arc::from("a\nmine\nc\n");
        review.place(Some(0), "a", &now, 1..2, &conflict.replacement).unwrap();
        assert!(review.refused.is_empty() && review.files[0].hunks[0].needs_confirmation());
        assert_eq!(review.files[0].proposed.as_deref(), Some("a\nB\nc\n"));
        review.undo();
        assert!(review.has_conflict("a"));
    }
}
