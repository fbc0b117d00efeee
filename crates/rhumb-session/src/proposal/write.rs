//! From decisions to files: what to write, what a write changes, and what to do when a file changed meanwhile.

use super::edit_retries::EditRetries;
use super::summary::WriteSummary;
use crate::effect::{Effect, Failure, PendingWrite, Written};
use crate::state::Session;
use crate::transcript::Level;
use rhumb_edit::FileChange;
use rhumb_edit::review::{Composed, FileReview, Review};
use rhumb_text::count;

/// So many files are named where there may be hundreds.
const FEW: usize = 3;

impl Session {
    /// Writes the accepted hunks, and only those.
    pub fn write_accepted(&mut self) -> Vec<Effect> {
        if self.proposals.is_writing {
            return Vec::new();
        }
        if !self.proposals.review.has_accepted() {
            let hint = "y accepts a hunk, Y a file, gy everything.";
            self.report(Level::Info, "Nothing is accepted, so nothing was written.", hint);
            return Vec::new();
        }
        let (held, free): (Vec<&FileReview>, Vec<&FileReview>) =
            self.proposals.review.files.iter().partition(|file| self.proposals.review.has_conflict(&file.path));
        let files: Vec<PendingWrite> = free.into_iter().flat_map(write_orders).collect();
        let held: Vec<String> = held
            .into_iter()
            .filter(|file| file.composed() != Composed::Untouched)
            .map(|file| file.path.clone())
            .collect();
        self.report_held(&held);
        if files.is_empty() {
            return Vec::new();
        }
        self.proposals.is_writing = true;
        self.before_write(&files);
        vec![Effect::Write { files, commit: self.commit_order(), consent: self.proposals.commits.consent.clone() }]
    }

    /// Gives up everything under review. Nothing is written.
    pub fn abandon_review(&mut self) {
        let told = match self.proposals.review.counts().total() {
            0 => "The edits without a place were put away.".to_owned(),
            hunks => format!("The review was abandoned ({}). Nothing was written.", count(hunks, "hunk")),
        };
        self.proposals.review = Review::default();
        self.forget_questions_of_write();
        self.proposals.feedback.clear();
        self.proposals.retries = EditRetries::closed();
        self.report(Level::Info, told, "");
    }

    pub(crate) fn wrote(&mut self, written: Written) -> Vec<Effect> {
        self.proposals.is_writing = false;
        let is_kept_back = self.proposals.commits.wanted.take() == Some(false);
        self.forget_questions_of_write();
        self.remember_said(&written.paths);
        self.remember_decided(&written.paths);
        // What they proposed is decided: a later answer is about the files as they are now.
        self.proposals.retries.forget_replies();
        let summary = WriteSummary::new(&self.proposals.review, &written.paths);
        for path in &written.paths {
            self.proposals.review.settle(path);
        }
        self.proposals.review.drop_rejected();
        self.proposals.commits.pending += usize::from(written.commit_follows);
        self.report(Level::Info, summary.text(&written, is_kept_back), "");
        self.report_notes(written.notes);
        let mut effects = vec![Effect::Survey];
        effects.extend(self.measure());
        effects.extend(self.check_written(&written.paths));
        effects
    }

    pub(super) fn report_notes(&mut self, notes: Vec<Failure>) {
        for note in notes {
            self.report(Level::Warning, note.message, note.hint);
        }
    }

    pub(crate) fn not_written(&mut self, failure: Failure, stale: Vec<String>) -> Vec<Effect> {
        self.proposals.is_writing = false;
        self.proposals.commits.wanted = None;
        // The next one may be recorded.
        self.proposals.commits.consent.unrecorded = false;
        let hint = if stale.is_empty() { failure.hint } else { "Nothing was written.".to_owned() };
        self.report(Level::Error, failure.message, hint);
        if stale.is_empty() { Vec::new() } else { vec![Effect::Reread(stale)] }
    }

    /// A file changed under the review: hunks whose place is untouched move along, the others are told of.
    pub(crate) fn reread(&mut self, path: &str, text: Option<&str>) {
        let is_as_known = |file: &FileReview| file.name_on_disk() == path && file.base.as_deref() == text;
        if self.proposals.review.files.iter().any(is_as_known) {
            return;
        }
        let (kept, lost) = self.proposals.review.rebase(path, text);
        let moved = match kept {
            0 => String::new(),
            1 => " Its hunk moved along and keeps its decision.".to_owned(),
            kept => format!(" {kept} hunks moved along and keep their decision."),
        };
        let gone = match lost {
            0 => String::new(),
            lost if !self.proposals.review.has_conflict(path) => {
                format!(" {} lost the place for good; the top of the review shows what was lost.", count(lost, "hunk"))
            }
            1 => " One hunk lost its place; the conflict is shown at the top of the review.".to_owned(),
            lost => format!(" {lost} hunks lost their place; the conflicts are shown at the top of the review."),
        };
        let hint = if lost > 0 {
            "Settle what is in conflict, then write again; the other files can be written before."
        } else {
            "Look once more, then write again."
        };
        self.report(Level::Warning, format!("{path} was read again.{moved}{gone}"), hint);
    }
}

/// What to write for one file; nothing if none of its hunks is accepted.
pub fn write_orders(file: &FileReview) -> Vec<PendingWrite> {
    let order =
        |path: &str, expected, content| PendingWrite { path: path.to_owned(), expected, content, renamed_from: None };
    match (file.composed(), &file.change) {
        (Composed::Untouched, _) => Vec::new(),
        (Composed::Deleted, _) => vec![order(&file.path, file.base.clone(), None)],
        (Composed::Text(text), FileChange::Rename { from }) => {
            let renamed = PendingWrite { renamed_from: Some(from.clone()), ..order(&file.path, None, Some(text)) };
            vec![renamed, order(from, file.base.clone(), None)]
        }
        (Composed::Text(text), _) => vec![order(&file.path, file.base.clone(), Some(text))],
    }
}

/// The names of some files, as many as are good to read.
pub fn few(paths: &[String]) -> String {
    // One more is named in the room that its count would take.
    let named = if paths.len() <= FEW + 1 { paths.len() } else { FEW };
    let names: Vec<&str> = paths.iter().take(named).map(String::as_str).collect();
    match paths.len() - named {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_counted() {
        let paths: Vec<String> = (1..=5).map(|n| format!("f{n}")).collect();
        assert_eq!(few(&paths[..4]), "f1, f2, f3, f4");
        assert_eq!(few(&paths), "f1, f2, f3 and 2 more");
    }
}
