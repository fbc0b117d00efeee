//! Passages of a repository for a question: which lines of which files answer it.
//!
//! A question is looked at for its shape (`question`), the files are ranked as for the map with weights of their own, and
//! each file puts forward the passages that its words speak for (`search`). All of it reads the index that the map has:
//! one parse, one list of words, one store.

mod hit;
mod hyde;
mod plan;
mod question;
mod rerank;
mod search;
mod wants;
mod weights;

pub use hit::Hit;
pub use hyde::hypothesis;
pub use plan::SearchPlan;
pub use question::{Question, Shape};
pub use rerank::{cards, reordered};
pub use search::search;
pub use wants::{WANTS_FENCE, Want, wants};
pub use weights::SearchWeights;
