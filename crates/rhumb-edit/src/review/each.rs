//! Decisions on several hunks, not the same on all of them, as one step.

use super::decision::Decision;
use super::file::FileReview;
use super::hunk::ReviewHunk;
use super::state::{HunkId, Review};
use super::step::{Before, Step};

impl Review {
    /// Decides each of these hunks, all of its lines; how many that changed. One step to be taken back, however many they are.
    pub fn decide_each(&mut self, wanted: impl IntoIterator<Item = (HunkId, Decision)>) -> usize {
        let (mut before, mut cursor) = (Vec::new(), None);
        for (id, decision) in wanted {
            let item = self.files.get_mut(id.file).and_then(|file| file.hunks.get_mut(id.hunk));
            if let Some(item) = item.filter(|item| !item.is_wholly(decision)) {
                before.push(Before::Hunk(id, item.clone()));
                item.decide(decision);
                cursor = cursor.or(Some(id));
            }
        }
        let changed = before.len();
        if let Some(cursor) = cursor {
            self.did(Step { cursor, before });
        }
        changed
    }

    /// Accepts every hunk but those that want a yes of their own, which stay as they are; how many changed.
    pub fn accept_all(&mut self) -> usize {
        let own = |id: &HunkId| self.hunk(*id).is_some_and(ReviewHunk::wants_own_yes);
        let ids: Vec<HunkId> = self.ids().filter(|id| !own(id)).collect();
        self.decide_each(ids.into_iter().map(|id| (id, Decision::Accepted)))
    }

    /// The files whose hunks want a yes of their own and wait for it.
    pub fn waiting_for_own_yes(&self) -> Vec<String> {
        let waits = |hunk: &ReviewHunk| hunk.wants_own_yes() && hunk.decision() == Decision::Pending;
        let files = self.files.iter().filter(|file| file.hunks.iter().any(waits));
        files.map(FileReview::title).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{FileChange, FileProposal, Flag, Proposal};

    #[test]
    fn accepting_all_leaves_what_tools_run_to_a_yes_of_its_own() {
        let file = |path: &str| {
            let (base, proposed) = (Some(Arc::from("1\n2\n3\n")), Some(Arc::from("one\n2\nthree\n")));
            FileProposal { path: path.into(), change: FileChange::Modify, base, proposed }
        };
        let mut review = Review::new(Proposal { files: vec![file("Makefile"), file("a.rs")], ..Proposal::default() });
        for hunk in &mut review.files[0].hunks {
            hunk.marks = vec![Flag::RunsLater.to_string()];
        }
        assert_eq!(review.accept_all(), 2);
        assert_eq!((review.counts().accepted, review.waiting_for_own_yes()), (2, vec!["Makefile".to_owned()]));
        let first = HunkId { file: 0, hunk: 0 };
        review.decide(first, Decision::Accepted);
        assert_eq!(review.accept_all(), 0, "the other still waits");
        assert_eq!(review.waiting_for_own_yes(), ["Makefile"]);
        review.decide_file(0, Decision::Accepted);
        assert!(review.waiting_for_own_yes().is_empty());
        review.undo();
        review.undo();
        review.undo();
        assert_eq!(review.counts().pending, 4);
    }

    #[test]
    fn several_decisions_are_one_step() {
        let (base, proposed) = (Some(Arc::from("1\n2\n3\n")), Some(Arc::from("one\n2\nthree\n")));
        let file = FileProposal { path: "a".into(), change: FileChange::Modify, base, proposed };
        let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
        let ids: Vec<HunkId> = review.ids().collect();
        let wanted = [(ids[0], Decision::Accepted), (ids[1], Decision::Rejected)];
        assert_eq!(review.decide_each(wanted), 2);
        assert_eq!((review.decision(ids[0]), review.decision(ids[1])), (Decision::Accepted, Decision::Rejected));
        assert_eq!(review.decide_each(wanted), 0, "nothing changes");
        review.undo();
        assert_eq!(review.counts().pending, 2);
    }
}
