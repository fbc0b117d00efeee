//! Passages of a repository for a question: which lines of which files answer it.
//!
//! A question is looked at for its shape (`question`), the files are ranked as for the map with weights of their own, and
//! each file puts forward the passages that its words speak for (`search`). All of it reads the index that the map has:
//! one parse, one list of words, one store. What an answer says of it in return is checked (`citation`).
//!
//! Files are cut into chunks along their syntax (`chunk`, `chunk::cut`), which are what an embedder reads and what a hit is widened to;
//! `chunk::source` has the files of one question as they are now. `passages` writes the best of them within a budget for a model
//! (`passages::round` fills it), with what is one reference away (`references`, `references::paths`).

mod chunk;
mod citation;
mod embedding;
mod fusion;
mod hit;
mod hyde;
mod passages;
mod plan;
mod question;
mod references;
mod rerank;
mod search;
mod vectors;
mod wants;
mod weights;
mod why;

pub use chunk::source::{Place, SourceFile, Sources};
pub use chunk::{CodeChunk, LONGEST_CHUNK, Outlined, chunks};
pub use citation::{Aim, Citation, FileNames, citations};
pub use embedding::{EmbeddingText, embedding_texts};
pub use fusion::{OVERFETCH, fused, spread};
pub use hit::Hit;
pub use hyde::hypothesis;
pub use passages::round::numbered;
pub use passages::{Passage, Passages, related_text};
pub use plan::SearchPlan;
pub use question::{Question, Shape};
pub use references::{Around, DefinitionAt, References, Related, Relation, Use};
pub use rerank::{cards, reordered};
pub use search::{definitions_first, search};
pub use vectors::{Near, Row, Vectors};
pub use wants::{WANTS_FENCE, Want, wants};
pub use weights::SearchWeights;
pub use why::{Reasons, question_words};
