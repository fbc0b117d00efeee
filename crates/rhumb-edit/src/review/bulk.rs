//! Finds hunks by number, path or decision, and decides several of them in one step.

use super::{Decision, HunkId, Review, ReviewHunk};

impl Review {
    /// The index of the file with that path.
    pub fn file_index(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|file| file.path == path)
    }

    /// The number of a hunk in reading order, from 1.
    pub fn number_of(&self, id: HunkId) -> Option<usize> {
        Some(self.ids().position(|other| other == id)? + 1)
    }

    /// The hunk with that number in reading order, from 1.
    pub fn hunk_numbered(&self, number: usize) -> Option<HunkId> {
        self.ids().nth(number.checked_sub(1)?)
    }

    /// The first pending hunk.
    pub fn first_pending(&self) -> Option<HunkId> {
        self.ids().find(|id| self.decision(*id) == Decision::Pending)
    }

    /// The last pending hunk before `id`, wrapping around.
    pub fn previous_pending(&self, id: HunkId) -> Option<HunkId> {
        let pending = || self.ids().filter(|other| self.decision(*other) == Decision::Pending);
        pending().take_while(|other| *other < id).last().or_else(|| pending().last())
    }

    /// Decides a hunk and the later pending hunks of its file. Hunks that need confirmation are not accepted with
    /// others, so they stay pending. Returns the number of changed hunks.
    pub fn decide_to_end_of_file(&mut self, id: HunkId, decision: Decision) -> usize {
        let is_included = |other: &HunkId| {
            let is_later = other.file == id.file && *other > id && self.decision(*other) == Decision::Pending;
            *other == id || (is_later && (decision != Decision::Accepted || !self.needs_confirmation(*other)))
        };
        let ids: Vec<HunkId> = self.ids().filter(is_included).collect();
        self.decide_each(ids.into_iter().map(|id| (id, decision)))
    }

    /// Rejects these hunks and accepts all others, except those that need confirmation. Returns the number of changed
    /// hunks.
    pub fn accept_all_except(&mut self, rejected: &[HunkId]) -> usize {
        let decision = |id: HunkId| match rejected.contains(&id) {
            true => Some((id, Decision::Rejected)),
            false => (!self.needs_confirmation(id)).then_some((id, Decision::Accepted)),
        };
        let decisions: Vec<_> = self.ids().filter_map(decision).collect();
        self.decide_each(decisions)
    }

    /// Accepts every hunk except those that need confirmation. Returns the number of changed hunks.
    pub fn accept_all(&mut self) -> usize {
        self.accept_all_except(&[])
    }

    fn needs_confirmation(&self, id: HunkId) -> bool {
        self.hunk(id).is_some_and(ReviewHunk::needs_confirmation)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::review::HunkMark;
    use crate::{FileChange, FileProposal, Flag, Proposal};

    /// Three hunks in `a`, of which the second needs confirmation, and one in `b`.
    fn review() -> Review {
        let file = |path: &str, base: &str, proposed: &str| FileProposal {
            path: path.into(),
            change: FileChange::Modify,
            base: Some(Arc::from(base)),
            proposed: Some(Arc::from(proposed)),
        };
        let files = vec![file("a", "1\n2\n3\n4\n5\n", "one\n2\nthree\n4\nfive\n"), file("b", "x\n", "y\n")];
        let mut review = Review::new(Proposal { files, ..Proposal::default() });
        review.files[0].hunks[1].marks = vec![HunkMark::Flag(Flag::RunsLater)];
        review
    }

    fn decisions(review: &Review) -> String {
        review.ids().map(|id| review.decision(id).mark()).collect()
    }

    const A: [HunkId; 3] = [HunkId { file: 0, hunk: 0 }, HunkId { file: 0, hunk: 1 }, HunkId { file: 0, hunk: 2 }];
    const B: HunkId = HunkId { file: 1, hunk: 0 };

    #[test]
    fn hunks_are_found_by_number_and_path() {
        let review = review();
        assert_eq!((review.hunk_numbered(0), review.hunk_numbered(4), review.hunk_numbered(5)), (None, Some(B), None));
        assert_eq!((review.number_of(A[2]), review.number_of(HunkId { file: 2, hunk: 0 })), (Some(3), None));
        assert_eq!((review.file_index("b"), review.file_index("c")), (Some(1), None));
    }

    #[test]
    fn the_previous_pending_hunk_is_found_around_the_start() {
        let mut review = review();
        review.decide(A[1], Decision::Rejected);
        assert_eq!(review.first_pending(), Some(A[0]));
        assert_eq!([A[2], A[0]].map(|id| review.previous_pending(id)), [Some(A[0]), Some(B)]);
        review.decide_all(Decision::Accepted);
        assert_eq!((review.first_pending(), review.previous_pending(B)), (None, None));
    }

    #[test]
    fn accepting_to_the_end_of_the_file_leaves_out_what_needs_confirmation() {
        let [pending, accepted, rejected] =
            [Decision::Pending, Decision::Accepted, Decision::Rejected].map(Decision::mark);
        let mut review = review();
        assert_eq!(review.decide_to_end_of_file(A[0], Decision::Accepted), 2);
        assert_eq!(decisions(&review), String::from_iter([accepted, pending, accepted, pending]));
        assert_eq!(review.decide_to_end_of_file(A[1], Decision::Accepted), 1, "it is the hunk itself");
        review.undo();
        review.undo();
        assert_eq!(review.decide_to_end_of_file(A[1], Decision::Rejected), 2);
        assert_eq!(decisions(&review), String::from_iter([pending, rejected, rejected, pending]));
    }

    #[test]
    fn all_hunks_but_some_are_accepted_in_one_step() {
        let [pending, accepted, rejected] =
            [Decision::Pending, Decision::Accepted, Decision::Rejected].map(Decision::mark);
        let mut review = review();
        assert_eq!(review.accept_all_except(&[A[2]]), 3);
        assert_eq!(decisions(&review), String::from_iter([accepted, pending, rejected, accepted]));
        review.undo();
        assert_eq!(review.counts().pending, 4);
        assert_eq!(review.accept_all(), 3);
    }
}
