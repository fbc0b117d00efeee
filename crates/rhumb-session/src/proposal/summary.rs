//! What a write did, in words: the hunks that were written, file by file, and those that were not.

use super::write::few;
use crate::effect::Written;
use rhumb_edit::FileChange;
use rhumb_edit::review::{Decision, FileReview, Review};
use rhumb_text::count;

/// The hunks of a review, by what a write did with them. Taken before the written hunks leave the review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteSummary {
    /// The files that were written: path, number of hunks, and what happened to the file where that is more than a change.
    pub written: Vec<(String, usize, String)>,
    /// The hunks that were not written.
    pub left: Vec<LeftHunks>,
}

/// Hunks, or edits, that a write left out for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftHunks {
    /// Why.
    pub reason: LeftReason,
    /// The files, each with the number of its hunks.
    pub files: Vec<(String, usize)>,
}

/// Why a write left hunks out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftReason {
    /// The user rejected them.
    Rejected,
    /// The user has not decided on them.
    Pending,
    /// The file changed on disk, and the conflict is open.
    Conflict,
    /// The edit has no place in the file.
    Unplaced,
}

impl LeftReason {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Pending => "pending",
            Self::Conflict => "conflict",
            Self::Unplaced => "unplaced",
        }
    }

    fn counted(self, number: usize) -> String {
        match self {
            Self::Rejected => count(number, "rejected hunk"),
            Self::Pending => count(number, "pending hunk"),
            Self::Conflict => format!("{} in conflict", count(number, "hunk")),
            Self::Unplaced => format!("{} without a place", count(number, "edit")),
        }
    }
}

impl WriteSummary {
    /// The summary of a write of the files at `paths`.
    pub fn new(review: &Review, paths: &[String]) -> Self {
        let is_written = |file: &FileReview| paths.contains(&file.path);
        let hunks_of = |file: &FileReview, decision| file.hunks.iter().filter(|h| h.decision() == decision).count();
        let mut summary = Self::default();
        for file in review.files.iter().filter(|file| is_written(file)) {
            let taken = file.hunks.iter().filter(|item| item.is_partly_accepted()).count();
            let what = match &file.change {
                FileChange::Create => "new".to_owned(),
                FileChange::Delete => "deleted".to_owned(),
                FileChange::Rename { from } => format!("renamed from {from}"),
                FileChange::Modify => String::new(),
            };
            summary.written.push((file.path.clone(), taken, what));
        }
        let each = |of: &dyn Fn(&FileReview) -> usize| -> Vec<(String, usize)> {
            let counted = review.files.iter().map(|file| (file.path.clone(), of(file)));
            counted.filter(|(_, hunks)| *hunks > 0).collect()
        };
        let in_conflict = |file: &FileReview| !is_written(file) && review.has_conflict(&file.path);
        let held = |file: &FileReview| if in_conflict(file) { hunks_of(file, Decision::Accepted) } else { 0 };
        let mut unplaced: Vec<(String, usize)> = Vec::new();
        for outcome in review.refused.iter().filter(|outcome| outcome.is_open() && !outcome.is_conflict()) {
            match unplaced.iter_mut().find(|(path, _)| *path == outcome.path) {
                Some((_, edits)) => *edits += 1,
                None => unplaced.push((outcome.path.clone(), 1)),
            }
        }
        let left = [
            (LeftReason::Rejected, each(&|file| hunks_of(file, Decision::Rejected))),
            (LeftReason::Pending, each(&|file| hunks_of(file, Decision::Pending))),
            (LeftReason::Conflict, each(&held)),
            (LeftReason::Unplaced, unplaced),
        ];
        let left = left.into_iter().filter(|(_, files)| !files.is_empty());
        summary.left = left.map(|(reason, files)| LeftHunks { reason, files }).collect();
        summary
    }

    /// The summary in words, with the commit that was made. `not_committed` says that the user wanted none.
    pub fn text(&self, written: &Written, not_committed: bool) -> String {
        let hunks = self.written.iter().map(|(_, hunks, _)| hunks).sum();
        let alone = self.written.len() == 1;
        let named = |(path, hunks, what): &(String, usize, String)| match (what.as_str(), alone) {
            ("", true) => path.clone(),
            ("", false) => format!("{path} ({hunks})"),
            (what, _) => format!("{path} ({what})"),
        };
        let files: Vec<String> = self.written.iter().map(named).collect();
        let mut text = match files.as_slice() {
            [] => format!("Wrote {}.", few(&written.paths)),
            files => format!("Wrote {}: {}.", count(hunks, "hunk"), few(files)),
        };
        match &written.commit {
            Some(commit) => {
                let own = written.own_commit.as_ref();
                let own = own.map_or_else(String::new, |own| format!(", after your own changes as {own}"));
                text += &format!(" Committed as {commit}{own}.");
            }
            None if not_committed => text += " Not committed.",
            None => {}
        }
        let left: Vec<String> = self.left.iter().map(LeftHunks::text).collect();
        if !left.is_empty() {
            text += &format!(" Not written: {}.", left.join(", "));
        }
        text
    }
}

impl LeftHunks {
    fn text(&self) -> String {
        let number = self.files.iter().map(|(_, hunks)| hunks).sum();
        let files: Vec<String> = match self.files.as_slice() {
            [(path, _)] => vec![path.clone()],
            files => files.iter().map(|(path, hunks)| format!("{path} {hunks}")).collect(),
        };
        let files: Vec<String> = files.into_iter().filter(|file| !file.is_empty()).collect();
        let counted = self.reason.counted(number);
        if files.is_empty() { counted } else { format!("{counted} ({})", few(&files)) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use rhumb_edit::review::HunkId;
    use rhumb_edit::{EditFormat, FileProposal, Outcome, Proposal, Status};

    fn file(path: &str, change: FileChange, base: &str, proposed: &str) -> FileProposal {
        let is_new = change == FileChange::Create;
        let base = (!is_new).then(|| Arc::from(base));
        FileProposal { path: path.into(), change, base, proposed: Some(Arc::from(proposed)) }
    }

    /// Three hunks in `a.py`, two in `b.py`, and the new file `c.py`.
    fn review() -> Review {
        let files = vec![
            file("a.py", FileChange::Modify, "1\n2\n3\n4\n5\n", "one\n2\nthree\n4\nfive\n"),
            file("b.py", FileChange::Modify, "1\n2\n3\n", "one\n2\nthree\n"),
            file("c.py", FileChange::Create, "", "new\n"),
        ];
        Review::new(Proposal { files, ..Proposal::default() })
    }

    fn paths(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn written_and_unwritten_hunks_are_named_with_their_own_files() {
        let mut review = review();
        review.decide_all(Decision::Accepted);
        review.decide(HunkId { file: 0, hunk: 0 }, Decision::Rejected);
        review.decide(HunkId { file: 1, hunk: 1 }, Decision::Rejected);
        let all = paths(&["a.py", "b.py", "c.py"]);
        let written = Written { paths: all.clone(), commit: Some("abc1234".into()), ..Written::default() };
        assert_eq!(
            WriteSummary::new(&review, &all).text(&written, false),
            "Wrote 4 hunks: a.py (2), b.py (1), c.py (new). Committed as abc1234. \
             Not written: 2 rejected hunks (a.py 1, b.py 1)."
        );
    }

    #[test]
    fn pending_hunks_are_counted_and_one_file_needs_no_count() {
        let mut review = review();
        review.decide(HunkId { file: 0, hunk: 1 }, Decision::Accepted);
        let written = Written { paths: paths(&["a.py"]), ..Written::default() };
        let summary = WriteSummary::new(&review, &written.paths);
        assert_eq!(
            summary.text(&written, true),
            "Wrote 1 hunk: a.py. Not committed. Not written: 5 pending hunks (a.py 2, b.py 2, c.py 1)."
        );
        assert_eq!(summary.left[0].reason.name(), "pending");
    }

    #[test]
    fn edits_without_a_place_are_counted() {
        let mut review = review();
        review.decide_all(Decision::Accepted);
        review.refused.push(Outcome {
            path: "d.py".into(),
            format: EditFormat::Diff,
            status: Status::Refused,
            strategy: None,
            confidence: 0.0,
            lines: None,
            reason: "no such lines".into(),
            candidates: Vec::new(),
            nearest: Vec::new(),
            flags: Vec::new(),
            quote: "absent\n".into(),
            replacement: "x\n".into(),
            reply_lines: (1, 6),
            edits: Vec::new(),
        });
        let written = Written { paths: paths(&["a.py", "b.py", "c.py"]), ..Written::default() };
        let text = WriteSummary::new(&review, &written.paths).text(&written, false);
        assert!(text.ends_with("Not written: 1 edit without a place (d.py)."), "{text}");
    }
}
