//! Decisions on several hunks, not the same on all of them, as one step.

use super::decision::Decision;
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
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::edit::{FileChange, FileProposal, Proposal};

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
