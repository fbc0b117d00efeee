//! A whole proposal under review: its files and hunks, the edits that found no place, and an undo history.

use std::sync::Arc;

use super::decision::{Counts, Decision};
use super::file::{Composed, FileReview};
use crate::edit::{Outcome, Proposal, Status};

/// Names one hunk: the index of its file in [`Review::files`] and its own index there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct HunkId {
    /// Index of the file.
    pub file: usize,
    /// Index of the hunk in that file.
    pub hunk: usize,
}

/// One undo step: the hunks it changed and what they were before.
type Step = Vec<(HunkId, Decision)>;

/// The proposal of a turn with every decision taken so far.
#[derive(Debug, Clone, Default)]
pub struct Review {
    /// Files with at least one hunk, in the order of the reply.
    pub files: Vec<FileReview>,
    /// Edits that found no place, with the reason and the nearest candidates.
    pub refused: Vec<Outcome>,
    undo: Vec<Step>,
    redo: Vec<Step>,
}

impl Review {
    /// A review in which every hunk is pending.
    pub fn new(proposal: Proposal) -> Self {
        let outcomes = proposal.outcomes;
        // In the order of the reply, which is the order in which the model explains its changes.
        let mut files: Vec<FileReview> = proposal
            .files
            .into_iter()
            .filter_map(|file| {
                let path = file.path.clone();
                FileReview::new(file.path, file.change, file.base, file.proposed, |hunk| marks(&outcomes, &path, hunk))
            })
            .collect();
        files.sort_by_key(|file| outcomes.iter().position(|outcome| outcome.path == file.path));
        let refused = outcomes.into_iter().filter(|outcome| outcome.status == Status::Refused).collect();
        Self { files, refused, ..Self::default() }
    }

    /// Whether there is nothing to decide and nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.refused.is_empty()
    }

    /// Every hunk, in reading order.
    pub fn ids(&self) -> impl Iterator<Item = HunkId> + '_ {
        let hunks =
            |(file, review): (usize, &FileReview)| (0..review.hunks.len()).map(move |hunk| HunkId { file, hunk });
        self.files.iter().enumerate().flat_map(hunks)
    }

    /// The decision on a hunk; pending for one that does not exist.
    pub fn decision(&self, id: HunkId) -> Decision {
        self.files.get(id.file).and_then(|file| file.hunks.get(id.hunk)).map_or(Decision::Pending, |hunk| hunk.decision)
    }

    /// How many hunks of the whole review stand where.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.files.iter().flat_map(|file| &file.hunks).for_each(|hunk| counts.add(hunk.decision));
        counts
    }

    /// Sets the decision of one hunk.
    pub fn decide(&mut self, id: HunkId, decision: Decision) -> usize {
        self.decide_where(|other| other == id, decision)
    }

    /// Sets the decision of all hunks of a file; how many changed.
    pub fn decide_file(&mut self, file: usize, decision: Decision) -> usize {
        self.decide_where(|id| id.file == file, decision)
    }

    /// Sets every decision; how many changed.
    pub fn decide_all(&mut self, decision: Decision) -> usize {
        self.decide_where(|_| true, decision)
    }

    /// One undo step, however many hunks it changes.
    fn decide_where(&mut self, chosen: impl Fn(HunkId) -> bool, decision: Decision) -> usize {
        let ids: Vec<HunkId> = self.ids().filter(|id| chosen(*id) && self.decision(*id) != decision).collect();
        let before = ids.iter().map(|id| (*id, self.replace(*id, decision))).collect::<Step>();
        let changed = before.len();
        if changed > 0 {
            self.undo.push(before);
            self.redo.clear();
        }
        changed
    }

    fn replace(&mut self, id: HunkId, decision: Decision) -> Decision {
        match self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk)) {
            Some(hunk) => std::mem::replace(&mut hunk.decision, decision),
            None => Decision::Pending,
        }
    }

    /// Takes back the last step; the first hunk it concerned, for the cursor.
    pub fn undo(&mut self) -> Option<HunkId> {
        let step = self.undo.pop()?;
        let (first, inverse) = self.restore(&step);
        self.redo.push(inverse);
        first
    }

    /// Does again what [`Review::undo`] took back.
    pub fn redo(&mut self) -> Option<HunkId> {
        let step = self.redo.pop()?;
        let (first, inverse) = self.restore(&step);
        self.undo.push(inverse);
        first
    }

    fn restore(&mut self, step: &Step) -> (Option<HunkId>, Step) {
        let inverse = step.iter().map(|(id, decision)| (*id, self.replace(*id, *decision))).collect();
        (step.first().map(|(id, _)| *id), inverse)
    }

    /// The first pending hunk after `id`, wrapping round; `None` when nothing is pending.
    pub fn next_pending(&self, id: HunkId) -> Option<HunkId> {
        let pending = |other: &HunkId| self.decision(*other) == Decision::Pending;
        self.ids().filter(pending).find(|other| *other > id).or_else(|| self.ids().find(pending))
    }

    /// After `path` was written with its accepted hunks: they are part of the base now, refused ones are gone, and
    /// pending ones stay to be decided. A file with nothing left leaves the review. Clears the undo history, because
    /// taking back a decision cannot take back a write.
    pub fn settle(&mut self, path: &str) {
        self.undo.clear();
        self.redo.clear();
        let Some(index) = self.files.iter().position(|file| file.path == path) else {
            return;
        };
        let file = &self.files[index];
        let marks: Vec<Vec<String>> = file
            .hunks
            .iter()
            .filter(|item| item.decision == Decision::Pending)
            .map(|item| item.marks.clone())
            .collect();
        let next = match (file.composed(), file.composed_where(|decision| decision != Decision::Rejected)) {
            (Composed::Text(base), Composed::Text(proposed)) => FileReview::new(
                file.path.clone(),
                file.change.clone(),
                Some(Arc::from(base)),
                Some(Arc::from(proposed)),
                |_| Vec::new(),
            )
            .filter(|_| file.counts().pending > 0),
            (Composed::Untouched, _) => Some(file.clone()),
            _ => None,
        };
        match next {
            Some(mut next) => {
                // The same hunks in the same order, unless two of them have grown together: then their marks are lost.
                if next.hunks.len() == marks.len() {
                    next.hunks.iter_mut().zip(marks).for_each(|(item, marks)| item.marks = marks);
                }
                self.files[index] = next;
            }
            None => {
                self.files.remove(index);
            }
        }
    }

    /// Takes in a newer review. Paths whose undecided or accepted hunks the newer one replaces are returned.
    pub fn merge(&mut self, newer: Self) -> Vec<String> {
        let replaced = |file: &&FileReview| newer.files.iter().any(|new| new.path == file.path);
        let open = |file: &&FileReview| file.counts().rejected < file.counts().total();
        let paths = self.files.iter().filter(replaced).filter(open).map(|file| file.path.clone()).collect();
        self.files.retain(|file| !newer.files.iter().any(|new| new.path == file.path));
        self.files.extend(newer.files);
        self.refused = newer.refused;
        self.forget_steps();
        paths
    }

    /// Empties the undo history: what it names has moved.
    pub fn forget_steps(&mut self) {
        self.undo.clear();
        self.redo.clear();
    }

    /// Drops the files whose every hunk was rejected: they have been answered.
    pub fn drop_rejected(&mut self) {
        self.files.retain(|file| file.counts().rejected < file.hunks.len());
        self.undo.clear();
        self.redo.clear();
    }
}

/// What to note on a hunk: how the edits behind its lines were located.
fn marks(outcomes: &[Outcome], path: &str, hunk: &crate::diff::Hunk) -> Vec<String> {
    let mut marks: Vec<String> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.path == path && outcome.status == Status::Applied) {
        let touches = outcome.lines.is_none_or(|(first, last)| hunk.base.start < last && first <= hunk.base.end + 1);
        if touches {
            marks.extend(marks_of(outcome));
        }
    }
    marks.sort();
    marks.dedup();
    marks
}

/// What to note of how an edit was located: how sure that is when it was not exact, and every flag.
fn marks_of(outcome: &Outcome) -> impl Iterator<Item = String> + '_ {
    let percent = (outcome.confidence * 100.0).floor();
    let how = outcome.strategy.filter(|_| percent < 100.0).map(|strategy| format!("{strategy} {percent:.0} %"));
    how.into_iter().chain(outcome.flags.iter().map(ToString::to_string))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edit::{FileChange, FileProposal};

    fn review(base: &str, proposed: &str) -> Review {
        let file = FileProposal {
            path: "a".into(),
            change: FileChange::Modify,
            base: Some(Arc::from(base)),
            proposed: Some(Arc::from(proposed)),
        };
        Review::new(Proposal { files: vec![file], ..Proposal::default() })
    }

    fn id(hunk: usize) -> HunkId {
        HunkId { file: 0, hunk }
    }

    fn text_of(review: &Review) -> Composed {
        review.files[0].composed()
    }

    #[test]
    fn only_accepted_hunks_are_composed() {
        let mut review = review("a\nb\nc\n", "A\nb\nC\n");
        review.decide(id(0), Decision::Accepted);
        review.decide(id(1), Decision::Rejected);
        assert_eq!(text_of(&review), Composed::Text("A\nb\nc\n".into()));
    }

    #[test]
    fn nothing_accepted_leaves_the_file_alone() {
        let mut review = review("a\n", "b\n");
        assert_eq!(text_of(&review), Composed::Untouched);
        review.decide_all(Decision::Rejected);
        assert_eq!(text_of(&review), Composed::Untouched);
    }

    #[test]
    fn a_bulk_decision_is_one_undo_step() {
        let mut review = review("a\nb\nc\n", "A\nb\nC\n");
        assert_eq!(review.decide_all(Decision::Accepted), 2);
        review.undo();
        assert_eq!(review.counts().pending, 2);
        review.redo();
        assert_eq!(review.counts().accepted, 2);
    }

    #[test]
    fn deciding_the_same_again_is_no_step() {
        let mut review = review("a\n", "b\n");
        review.decide(id(0), Decision::Accepted);
        assert_eq!(review.decide(id(0), Decision::Accepted), 0);
        review.undo();
        assert_eq!(review.counts().pending, 1);
    }

    #[test]
    fn the_next_pending_hunk_wraps_round() {
        let mut review = review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
        review.decide(id(1), Decision::Accepted);
        assert_eq!(review.next_pending(id(0)), Some(id(2)));
        assert_eq!(review.next_pending(id(2)), Some(id(0)));
    }

    #[test]
    fn after_a_write_pending_hunks_remain_on_the_new_base() {
        let mut review = review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
        review.decide(id(0), Decision::Accepted);
        review.decide(id(1), Decision::Rejected);
        review.settle("a");
        let file = &review.files[0];
        assert_eq!(file.base.as_deref(), Some("A\nb\nc\nd\ne\n"));
        assert_eq!(file.proposed.as_deref(), Some("A\nb\nc\nd\nE\n"));
        assert_eq!(review.counts(), Counts { pending: 1, ..Counts::default() });
    }

    #[test]
    fn a_written_file_with_nothing_left_leaves_the_review() {
        let mut review = review("a\n", "b\n");
        review.decide_all(Decision::Accepted);
        review.settle("a");
        assert!(review.files.is_empty());
    }

    #[test]
    fn a_deleted_file_is_one_decision() {
        let file = FileProposal {
            path: "a".into(),
            change: FileChange::Delete,
            base: Some(Arc::from("x\ny\n")),
            proposed: None,
        };
        let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
        assert_eq!(review.counts().total(), 1);
        review.decide_all(Decision::Accepted);
        assert_eq!(text_of(&review), Composed::Deleted);
    }

    #[test]
    fn an_empty_new_file_can_be_accepted() {
        let file =
            FileProposal { path: "a".into(), change: FileChange::Create, base: None, proposed: Some(Arc::from("")) };
        let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
        review.decide_all(Decision::Accepted);
        assert_eq!(text_of(&review), Composed::Text(String::new()));
    }

    #[test]
    fn hunks_move_with_lines_that_came_above_and_keep_their_decision() {
        let mut review = review("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\nF\n");
        review.decide_all(Decision::Accepted);
        assert!(review.files[0].rebase("new\na\nb\nc\nd\ne\nf\n").is_empty());
        assert_eq!(text_of(&review), Composed::Text("new\na\nb\nc\nd\ne\nF\n".into()));
    }

    #[test]
    fn a_hunk_whose_lines_changed_is_given_back() {
        let mut review = review("a\nb\nc\n", "a\nB\nc\n");
        assert_eq!(review.files[0].rebase("a\nmine\nc\n").len(), 1);
        assert!(review.files[0].hunks.is_empty());
    }

    fn lines() -> impl Strategy<Value = String> {
        prop::collection::vec("[abc]\n", 0..15).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn undoing_everything_gives_back_the_start(base in lines(), proposed in lines(), steps in prop::collection::vec((0usize..6, 0u8..3), 0..20)) {
            let mut review = review(&base, &proposed);
            for (hunk, decision) in steps {
                let decision = [Decision::Pending, Decision::Accepted, Decision::Rejected][usize::from(decision)];
                review.decide(id(hunk), decision);
            }
            while review.undo().is_some() {}
            prop_assert_eq!(review.counts().pending, review.counts().total());
        }

        #[test]
        fn a_rebase_onto_the_same_text_changes_nothing(base in lines(), proposed in lines()) {
            let mut review = review(&base, &proposed);
            if let Some(file) = review.files.first_mut() {
                prop_assert!(file.rebase(&base).is_empty());
                prop_assert_eq!(file.proposed.as_deref(), Some(proposed.as_str()));
                review.decide_all(Decision::Accepted);
                prop_assert_eq!(text_of(&review), Composed::Text(proposed));
            }
        }

        #[test]
        fn a_rebase_never_loses_a_line_of_the_file_outside_its_hunks(base in lines(), proposed in lines(), now in lines()) {
            let mut review = review(&base, &proposed);
            if let Some(file) = review.files.first_mut() {
                file.rebase(&now);
                prop_assert_eq!(file.composed_where(|_| false), Composed::Untouched);
                prop_assert_eq!(file.base.as_deref(), Some(now.as_str()));
                let hunks: Vec<_> = file.hunks.iter().map(|hunk| hunk.hunk.clone()).collect();
                let all = crate::diff::apply(&now, file.proposed.as_deref().unwrap_or_default(), &hunks, |_| true);
                prop_assert_eq!(file.proposed.as_deref(), Some(all.as_str()));
            }
        }
    }
}
