//! From a proposal to files and commits: further rounds, what follows a review, writing, what became of the hunks.

pub(super) mod commits;
pub(super) mod edits;
pub(super) mod reviewing;
pub(super) mod rounds;
pub(super) mod writing;
