//! The repository beside the conversation: reading it, its index of meanings, comments in its files, and what is looked up.

pub(super) mod comment_watch;
pub(super) mod embedding_index;
pub(super) mod lookup;
mod survey;
