//! Line diffs: what changed between two texts, as hunks (change blocks), and the unified form for people and pipes.

mod hunk;
mod unified;
mod word;

pub use hunk::{Hunk, apply, hunks, line_hunks};
pub use unified::{unified, unified_move};
pub use word::{Words, changed_part, changed_words, pairs};
