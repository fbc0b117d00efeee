//! From a proposal to files and commits: further rounds, what follows a review, writing, what became of the hunks.

mod agents_file;
pub(super) mod commits;
pub(super) mod edit_records;
pub(super) mod edit_retries;
pub(super) mod review;
pub(super) mod summary;
pub(super) mod syntax;
pub(super) mod undo;
mod unrecorded_write;
pub(super) mod write;

use crate::context::Said;
use commits::Commits;
use edit_retries::EditRetries;
use rhumb_edit::review::Review;

/// The proposals under review, and their way into files.
#[derive(Debug, Default)]
pub(crate) struct Proposals {
    review: Review,
    /// The number of proposals so far.
    count: usize,
    /// The number of replies whose edits are being located.
    locating: usize,
    retries: EditRetries,
    /// How often refused edits go back to the model without the user, for one request.
    max_retries: usize,
    is_writing: bool,
    commits: Commits,
    /// Comments on hunks that were written or rejected, for the next message about the review.
    feedback: Vec<Said>,
    /// The request behind the review, for the commit message.
    request: String,
}

impl Proposals {
    pub(crate) fn review(&self) -> &Review {
        &self.review
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

    pub(crate) fn feedback(&self) -> &[Said] {
        &self.feedback
    }

    pub(crate) fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Whether the edits of a reply are being located.
    pub(crate) fn is_locating(&self) -> bool {
        self.locating > 0
    }

    /// The edits of one more reply are being located.
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

    /// Sets whether writes are committed.
    pub(crate) fn set_commits(&mut self, on: bool) {
        self.commits.off = !on;
    }

    pub(crate) fn set_max_retries(&mut self, max: usize) {
        self.max_retries = max;
    }

    /// Replaces the review by that of a saved session.
    pub(crate) fn resume(&mut self, review: Review, request: String, feedback: Vec<Said>) {
        self.count += usize::from(!review.is_empty());
        (self.review, self.request, self.feedback, self.retries) = (review, request, feedback, EditRetries::default());
    }

    pub(crate) fn discard_review(&mut self) {
        self.review = Review::default();
    }
}
