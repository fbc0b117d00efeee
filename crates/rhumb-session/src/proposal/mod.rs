//! Proposals: the edits of an answer, from the location in files through the review to writes and commits.

pub(super) mod commits;
pub(super) mod edit_records;
pub(super) mod edit_retries;
mod feedback;
pub(crate) mod trial;
pub(super) mod undo;
pub(super) mod write;
pub(super) mod write_questions;

use crate::context::HunkFeedback;
use crate::{Effect, Failure, Level, LookupEffect, RequestSpec, Session};
use commits::Commits;
use edit_retries::EditRetries;
use rhumb_edit::review::Review;
use std::ops::{Deref, DerefMut};

/// The file that `/init` proposes.
const AGENTS_FILE: &str = "AGENTS.md";

/// A value that counts how often it was borrowed for a change.
#[derive(Debug, Default)]
struct Tracked<T> {
    value: T,
    revision: u64,
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Tracked<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.revision += 1;
        &mut self.value
    }
}

/// The proposals under review, and the write in progress.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    review: Tracked<Review>,
    count: usize,
    /// The number of replies whose edits are being located.
    locating: usize,
    retries: EditRetries,
    /// How often refused edits are sent to the model without a question, for one request.
    max_retries: usize,
    is_writing: bool,
    commits: Commits,
    trials: trial::Trials,
    /// Comments on hunks that were written or rejected, for the next message about the review.
    feedback: Vec<HunkFeedback>,
    /// The request behind the review, for the commit message.
    request: String,
}

impl Proposals {
    pub(crate) fn review(&self) -> &Review {
        &self.review
    }

    /// A number that changes with every change of the review.
    pub(crate) fn review_revision(&self) -> u64 {
        self.review.revision
    }

    pub(crate) fn review_mut(&mut self) -> &mut Review {
        &mut self.review
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn request(&self) -> &str {
        &self.request
    }

    #[cfg(test)]
    pub(crate) fn set_request(&mut self, request: &str) {
        request.clone_into(&mut self.request);
    }

    pub(crate) fn feedback(&self) -> &[HunkFeedback] {
        &self.feedback
    }

    pub(crate) fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Whether the edits of a reply are being located.
    pub(crate) fn is_locating(&self) -> bool {
        self.locating > 0
    }

    /// Records that the edits of one more reply are being located.
    pub(crate) fn begin_locating(&mut self) {
        self.locating += 1;
    }

    pub(crate) fn end_locating(&mut self) {
        self.locating = self.locating.saturating_sub(1);
    }

    pub(crate) fn retries(&self) -> &EditRetries {
        &self.retries
    }

    pub(crate) fn retries_mut(&mut self) -> &mut EditRetries {
        &mut self.retries
    }

    pub(crate) fn commits(&self) -> &Commits {
        &self.commits
    }

    pub(crate) fn set_commits(&mut self, on: bool) {
        self.commits.off = !on;
    }

    pub(crate) fn set_trial_rules(&mut self, rules: trial::TrialRules) {
        self.trials.rules = rules;
    }

    pub(crate) fn set_max_retries(&mut self, max: usize) {
        self.max_retries = max;
    }

    /// Replaces the review by that of a saved session.
    pub(crate) fn resume(&mut self, review: Review, request: String, feedback: Vec<HunkFeedback>) {
        self.count += usize::from(!review.is_empty());
        *self.review = review;
        (self.request, self.feedback, self.retries) = (request, feedback, EditRetries::default());
    }

    /// Counts the changes under review as one more proposal, which answers `request`.
    pub(crate) fn count_proposal(&mut self, request: &str) {
        self.count += 1;
        if self.request != request {
            // Feedback on the hunks of another request does not apply to this one.
            self.feedback.clear();
        }
        request.clone_into(&mut self.request);
    }

    pub(crate) fn discard_review(&mut self) {
        *self.review = Review::default();
    }
}

impl Session {
    /// Runs `/init`: requests a draft of `AGENTS.md` from the host.
    pub(crate) fn init(&mut self) -> Vec<Effect> {
        if self.turns.is_running() {
            self.report(Level::Warning, "The model is still answering.", "Cancel the turn, then /init again.");
            return Vec::new();
        }
        if self.proposals.review.files.iter().any(|file| file.path == AGENTS_FILE) {
            let text = format!("{AGENTS_FILE} is under review already.");
            self.report(Level::Warning, text, "Decide on it there first.");
            return Vec::new();
        }
        // The draft must not influence the ranking of the files.
        let spec = RequestSpec { draft: String::new(), ..self.request_spec(0) };
        vec![Effect::Lookup(LookupEffect::AgentsFile(Box::new(spec)))]
    }

    /// Proposes a first `AGENTS.md` as a new file.
    pub(crate) fn propose_agents_file(&mut self, text: Result<String, Failure>) -> Vec<Effect> {
        let text = match text {
            Ok(text) => text,
            Err(failure) => {
                self.report_failure(Level::Warning, failure);
                return Vec::new();
            }
        };
        let hint = "Edit and write it in the review. Once written, it is part of every request after the next start.";
        self.report(Level::Info, format!("{AGENTS_FILE} is proposed as a new file."), hint);
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let reply = format!("*** Begin Patch\n*** Add File: {AGENTS_FILE}\n{lines}*** End Patch\n");
        self.propose_alone(reply, None, format!("Add {AGENTS_FILE}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Connection, LookupResponse, Response};

    #[test]
    fn a_first_agents_file_is_proposed_as_a_new_file() {
        let (mut session, _) = Session::start(Connection::None);
        session.draft_changed("something else");
        let effects = session.command(Command::Init);
        let [Effect::Lookup(LookupEffect::AgentsFile(spec))] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(spec.draft, "");
        let text = Ok("# AGENTS.md\n\n- Test: `make test`\n".to_owned());
        let effects = session.handle(Response::LookedUp(LookupResponse::AgentsFile(text)));
        let [Effect::Propose { reply, request, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(reply.contains("*** Add File: AGENTS.md\n+# AGENTS.md\n+\n+- Test: `make test`\n"), "{reply}");
        assert_eq!(request, "Add AGENTS.md");
    }
}
