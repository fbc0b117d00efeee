//! Decisions on a proposal: which hunks are accepted, what the files become, and what happens when a file changed
//! meanwhile. Nothing here touches a disk.

mod decision;
mod file;
mod stale;
mod state;

pub use decision::{Counts, Decision};
pub use file::{Composed, FileReview, ReviewHunk};
pub use state::{HunkId, Review};
