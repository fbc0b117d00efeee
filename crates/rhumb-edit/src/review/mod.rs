//! Decisions on a proposal: which hunks are accepted, what the files become, and what happens when a file changed
//! meanwhile. Nothing here touches a disk.

mod broken;
mod decision;
mod each;
mod edits;
mod file;
mod hunk;
mod kept;
mod marks;
mod newer;
mod parts;
mod stale;
mod state;
mod step;
mod whole;

#[cfg(test)]
mod tests;

pub use decision::{Counts, Decision};
pub use edits::{EditRecord, EditState, Placement};
pub use file::{Composed, FileReview, led};
pub use hunk::ReviewHunk;
pub use state::{HunkId, Place, Review};
pub use whole::PlaceError;
