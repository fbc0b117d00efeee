//! Writing the accepted hunks: the preview, the files to write, the result, and files that changed in the meantime.

use super::edit_retries::EditRetries;
use crate::{CommitChoice, Effect, Failure, Level, PendingWrite, Session, WriteConsent, Written};
use rhumb_edit::FileChange;
use rhumb_edit::review::{Composed, Decision, FileReview, Review};
use rhumb_text::count;

/// Number of files that are named in a list. The others are counted.
const MAX_NAMED_FILES: usize = 3;

/// How to write the accepted hunks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WritePlan {
    /// Whether pending hunks are rejected first. Otherwise they stay under review.
    pub reject_rest: bool,
    /// Whether the write is committed.
    pub commit: CommitChoice,
}

/// A preview of a write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WritePreview {
    /// The files that are written.
    pub files: Vec<PreviewedFile>,
    /// The number of hunks that are written.
    pub accepted: usize,
    /// The number of pending hunks.
    pub pending: usize,
    /// The number of rejected hunks.
    pub rejected: usize,
    /// Files with accepted hunks that are not written because of a conflict.
    pub held: Vec<String>,
    /// Whether writes are committed automatically; `None` without a repository.
    pub commits: Option<bool>,
}

/// A file that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewedFile {
    /// The path under the root.
    pub path: String,
    /// The change of the file as a whole.
    pub change: FileChange,
    /// The number of its hunks that are written, completely or in part.
    pub accepted: usize,
    /// The number of all its hunks.
    pub total: usize,
}

impl Session {
    /// Previews a write in the current state.
    pub fn write_preview(&self) -> WritePreview {
        let is_in_repository = !self.repository.head().is_empty();
        let commits = is_in_repository.then_some(!self.proposals.commits.off);
        let mut preview = WritePreview { commits, ..WritePreview::default() };
        for file in &self.proposals.review.files {
            let counts = file.counts();
            preview.pending += counts.pending;
            preview.rejected += counts.rejected;
            let accepted = file.hunks.iter().filter(|item| item.is_partly_accepted()).count();
            if accepted == 0 {
                continue;
            }
            if self.proposals.review.has_conflict(&file.path) {
                preview.held.push(file.path.clone());
                continue;
            }
            preview.accepted += accepted;
            if file.composed() == Composed::Untouched {
                continue;
            }
            let (path, change) = (file.path.clone(), file.change.clone());
            preview.files.push(PreviewedFile { path, change, accepted, total: counts.total() });
        }
        preview
    }

    /// Writes the accepted hunks as planned.
    pub fn write_planned(&mut self, plan: WritePlan) -> Vec<Effect> {
        if self.proposals.is_writing {
            return Vec::new();
        }
        if plan.reject_rest {
            self.proposals.review.reject_pending();
        }
        // The answers about an earlier write do not apply to this one.
        self.proposals.commits.consent = WriteConsent::default();
        self.proposals.commits.choice = plan.commit;
        self.continue_write()
    }

    /// Writes the accepted hunks, and only those.
    pub fn write_accepted(&mut self) -> Vec<Effect> {
        self.write_planned(WritePlan::default())
    }

    /// Writes the accepted hunks with the choice about the commit and the consent given so far, or asks what is still open.
    pub(super) fn continue_write(&mut self) -> Vec<Effect> {
        if self.proposals.is_writing {
            return Vec::new();
        }
        let review = &self.proposals.review;
        if !review.has_accepted() {
            let hint = "Accept hunks in the review first.";
            self.report(Level::Info, "Nothing is accepted, so nothing was written.", hint);
            return Vec::new();
        }
        let (in_conflict, others): (Vec<&FileReview>, Vec<&FileReview>) =
            review.files.iter().partition(|file| review.has_conflict(&file.path));
        let files: Vec<PendingWrite> = others.into_iter().flat_map(pending_writes).collect();
        let held: Vec<String> = in_conflict
            .into_iter()
            .filter(|file| file.composed() != Composed::Untouched)
            .map(|file| file.path.clone())
            .collect();
        self.report_held(&held);
        if files.is_empty() {
            return Vec::new();
        }
        if self.ask_about_trial() {
            return Vec::new();
        }
        self.proposals.is_writing = true;
        self.before_write(&files);
        vec![Effect::Write { files, commit: self.commit_request(), consent: self.proposals.commits.consent.clone() }]
    }

    /// Reports files that are not written because of conflicts.
    fn report_held(&mut self, held: &[String]) {
        if held.is_empty() {
            return;
        }
        let conflicts = if held.len() == 1 { "a conflict in it is" } else { "conflicts in them are" };
        let text = format!("Not written, because {conflicts} open: {}.", held.join(", "));
        self.report(Level::Warning, text, "Resolve the conflicts in the review, then write again.");
    }

    /// Discards everything under review. Nothing is written.
    pub fn abandon_review(&mut self) {
        let text = match self.proposals.review.counts().total() {
            0 => "The edits without a location were put away.".to_owned(),
            hunks => format!("The review was abandoned ({}). Nothing was written.", count(hunks, "hunk")),
        };
        *self.proposals.review = Review::default();
        self.forget_write_questions();
        self.proposals.feedback.clear();
        self.proposals.retries = EditRetries::closed();
        self.report(Level::Info, text, "");
    }

    pub(crate) fn wrote(&mut self, written: Written) -> Vec<Effect> {
        self.proposals.is_writing = false;
        self.forget_snapshots();
        let tests = self.tests_after_write();
        let not_committed = self.proposals.commits.choice == CommitChoice::NoCommit;
        self.forget_write_questions();
        self.remember_feedback(&written.paths);
        self.record_decisions(&written.paths);
        // Their edits are decided: a later answer is applied to the current files.
        self.proposals.retries.forget_replies();
        let summary = WriteSummary::new(&self.proposals.review, &written.paths);
        for path in &written.paths {
            self.proposals.review.settle(path);
        }
        self.proposals.review.drop_rejected();
        self.proposals.commits.pending += usize::from(written.commit_follows);
        self.report(Level::Info, summary.text(&written, not_committed), "");
        self.report_notes(written.notes);
        let mut effects = vec![Effect::Survey];
        effects.extend(self.measure());
        if let Some(tests) = tests {
            effects.extend(self.check_written(&written.paths, tests));
        }
        effects
    }

    pub(super) fn report_notes(&mut self, notes: Vec<Failure>) {
        notes.into_iter().for_each(|note| self.report_failure(Level::Warning, note));
    }

    /// Handles a failed write. `stale` are the files that changed in the meantime.
    pub(crate) fn not_written(&mut self, failure: Failure, stale: Vec<String>) -> Vec<Effect> {
        self.proposals.is_writing = false;
        let hint = if stale.is_empty() { failure.hint } else { "Nothing was written.".to_owned() };
        self.report(Level::Error, failure.message, hint);
        if stale.is_empty() { Vec::new() } else { vec![Effect::Reread(stale)] }
    }

    /// Handles a change on disk of a file under review. Hunks whose lines are unchanged move with them; other hunks are in
    /// conflict.
    pub(crate) fn reread(&mut self, path: &str, text: Option<&str>) {
        let is_unchanged = |file: &FileReview| file.name_on_disk() == path && file.base.as_deref() == text;
        if self.proposals.review.files.iter().any(is_unchanged) {
            return;
        }
        let (moved, lost) = self.proposals.review.rebase(path, text);
        let mut message = format!("{path} was read again.");
        message += &match moved {
            0 => String::new(),
            1 => " Its hunk moved along and keeps its decision.".to_owned(),
            moved => format!(" {moved} hunks moved along and keep their decision."),
        };
        message += &match lost {
            0 => String::new(),
            lost if !self.proposals.review.has_conflict(path) => {
                format!(" {} lost the place for good; the review shows what was lost.", count(lost, "hunk"))
            }
            1 => " One hunk lost its location; the review shows the conflict.".to_owned(),
            lost => format!(" {lost} hunks lost their place; the review shows the conflicts."),
        };
        let hint = if lost > 0 {
            "Resolve the conflicts, then write again. The other files can be written before."
        } else {
            "Review the file again, then write."
        };
        self.report(Level::Warning, message, hint);
    }
}

/// The writes for a file; empty if none of its hunks is accepted.
pub fn pending_writes(file: &FileReview) -> Vec<PendingWrite> {
    let write =
        |path: &str, expected, content| PendingWrite { path: path.to_owned(), expected, content, renamed_from: None };
    match (file.composed(), &file.change) {
        (Composed::Untouched, _) => Vec::new(),
        (Composed::Deleted, _) => vec![write(&file.path, file.base.clone(), None)],
        (Composed::Text(text), FileChange::Rename { from }) => {
            let renamed = PendingWrite { renamed_from: Some(from.clone()), ..write(&file.path, None, Some(text)) };
            vec![renamed, write(from, file.base.clone(), None)]
        }
        (Composed::Text(text), _) => vec![write(&file.path, file.base.clone(), Some(text))],
    }
}

/// The first names of a list, and the number of the others.
pub fn name_some(names: &[String]) -> String {
    // Naming one more takes no more space than "and 1 more".
    let named = if names.len() <= MAX_NAMED_FILES + 1 { names.len() } else { MAX_NAMED_FILES };
    let list = names.iter().take(named).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len() - named {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

/// The hunks of a review, grouped by the result of a write. Must be created before the written hunks leave the review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteSummary {
    /// The written files.
    pub written: Vec<FileSummary>,
    /// The hunks that were not written.
    pub not_written: Vec<UnwrittenHunks>,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSummary {
    /// The path under the root.
    pub path: String,
    /// The change of the file as a whole.
    pub change: FileChange,
    /// The number of its hunks that were written, completely or in part.
    pub hunks: usize,
}

/// Hunks or edits that were not written, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnwrittenHunks {
    /// The reason.
    pub reason: UnwrittenReason,
    /// The files, each with the number of its hunks.
    pub files: Vec<(String, usize)>,
}

/// Why hunks were not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnwrittenReason {
    /// The user rejected them.
    Rejected,
    /// The user has not decided them.
    Pending,
    /// They are in conflict with a change on disk.
    Conflict,
    /// The edit could not be located.
    Unplaced,
}

impl UnwrittenReason {
    /// The name in JSON.
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
            Self::Unplaced => format!("{} without a location", count(number, "edit")),
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
            let hunks = file.hunks.iter().filter(|item| item.is_partly_accepted()).count();
            summary.written.push(FileSummary { path: file.path.clone(), change: file.change.clone(), hunks });
        }
        let counted = |hunks: &dyn Fn(&FileReview) -> usize| -> Vec<(String, usize)> {
            let files = review.files.iter().map(|file| (file.path.clone(), hunks(file)));
            files.filter(|(_, hunks)| *hunks > 0).collect()
        };
        let in_conflict = |file: &FileReview| !is_written(file) && review.has_conflict(&file.path);
        let conflicting = |file: &FileReview| if in_conflict(file) { hunks_of(file, Decision::Accepted) } else { 0 };
        let mut unplaced: Vec<(String, usize)> = Vec::new();
        for outcome in review.refused.iter().filter(|outcome| outcome.is_open() && !outcome.is_conflict()) {
            match unplaced.iter_mut().find(|(path, _)| *path == outcome.path) {
                Some((_, edits)) => *edits += 1,
                None => unplaced.push((outcome.path.clone(), 1)),
            }
        }
        let not_written = [
            (UnwrittenReason::Rejected, counted(&|file| hunks_of(file, Decision::Rejected))),
            (UnwrittenReason::Pending, counted(&|file| hunks_of(file, Decision::Pending))),
            (UnwrittenReason::Conflict, counted(&conflicting)),
            (UnwrittenReason::Unplaced, unplaced),
        ];
        let not_written = not_written.into_iter().filter(|(_, files)| !files.is_empty());
        summary.not_written = not_written.map(|(reason, files)| UnwrittenHunks { reason, files }).collect();
        summary
    }

    /// The summary as text, with the commit. `not_committed` says that the user chose no commit.
    pub fn text(&self, written: &Written, not_committed: bool) -> String {
        let hunks = self.written.iter().map(|file| file.hunks).sum();
        let alone = self.written.len() == 1;
        let named = |FileSummary { path, change, hunks }: &FileSummary| match change {
            FileChange::Create => format!("{path} (new)"),
            FileChange::Delete => format!("{path} (deleted)"),
            FileChange::Rename { from } => format!("{path} (renamed from {from})"),
            FileChange::Modify if alone => path.clone(),
            FileChange::Modify => format!("{path} ({hunks})"),
        };
        let files: Vec<String> = self.written.iter().map(named).collect();
        let mut text = match files.as_slice() {
            [] => format!("Wrote {}.", name_some(&written.paths)),
            files => format!("Wrote {}: {}.", count(hunks, "hunk"), name_some(files)),
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
        let not_written: Vec<String> = self.not_written.iter().map(UnwrittenHunks::text).collect();
        if !not_written.is_empty() {
            text += &format!(" Not written: {}.", not_written.join(", "));
        }
        text
    }
}

impl UnwrittenHunks {
    fn text(&self) -> String {
        let number = self.files.iter().map(|(_, hunks)| hunks).sum();
        let files: Vec<String> = match self.files.as_slice() {
            [(path, _)] => vec![path.clone()],
            files => files.iter().map(|(path, hunks)| format!("{path} {hunks}")).collect(),
        };
        let files: Vec<String> = files.into_iter().filter(|file| !file.is_empty()).collect();
        let counted = self.reason.counted(number);
        if files.is_empty() { counted } else { format!("{counted} ({})", name_some(&files)) }
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
        assert_eq!(summary.not_written[0].reason.name(), "pending");
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
        assert!(text.ends_with("Not written: 1 edit without a location (d.py)."), "{text}");
    }

    #[test]
    fn surplus_files_are_counted() {
        let paths: Vec<String> = (1..=5).map(|n| format!("f{n}")).collect();
        assert_eq!(name_some(&paths[..4]), "f1, f2, f3, f4");
        assert_eq!(name_some(&paths), "f1, f2, f3 and 2 more");
    }
}
