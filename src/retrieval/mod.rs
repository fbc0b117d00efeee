//! Passages of a repository for a question: which lines of which files answer it.
//!
//! A question is looked at for its shape (`question`), the files are ranked as for the map with weights of their own, and
//! each file puts forward the passages that its words speak for (`search`). All of it reads the index that the map has:
//! one parse, one list of words, one store.
//!
//! Files are cut into chunks along their syntax (`chunk`, `chunk_cut`), which are what an embedder reads and what a hit is widened to.

mod chunk;
mod chunk_cut;
mod hit;
mod question;
mod search;
mod weights;

pub use chunk::{CodeChunk, LONGEST_CHUNK, Outlined, chunks};
pub use hit::Hit;
pub use question::{Question, Shape};
pub use search::search;
pub use weights::SearchWeights;
