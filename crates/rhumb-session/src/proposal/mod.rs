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
