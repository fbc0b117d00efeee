//! From a proposal to files and commits: further rounds, what follows a review, writing, what became of the hunks.

mod agents_file;
pub(super) mod commits;
pub(super) mod edits;
mod recording;
pub(super) mod reviewing;
pub(super) mod rounds;
pub(super) mod summary;
pub(super) mod syntax;
pub(super) mod undo;
pub(super) mod writing;
