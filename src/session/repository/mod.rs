//! The repository beside the conversation: reading it, its index of meanings, comments in its files, and what is looked up.

pub(super) mod indexing;
pub(super) mod looking;
mod reading;
pub(super) mod watching;
