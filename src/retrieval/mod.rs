//! Passages of a repository for a question: which lines of which files answer it.
//!
//! A question is looked at for its shape (`question`), the files are ranked as for the map with weights of their own, and
//! each file puts forward the passages that its words speak for (`search`). All of it reads the index that the map has:
//! one parse, one list of words, one store. What an answer says of it in return is checked (`citation`).
//!
//! Files are cut into chunks along their syntax (`chunk`, `chunk_cut`), which are what an embedder reads and what a hit is widened to;
//! `chunk_source` has the files of one question as they are now. `passages` writes the best of them within a budget for a model
//! (`passages_round` fills it), with what is one reference away (`references`, `references_paths`).

mod chunk;
mod chunk_cut;
mod chunk_source;
mod citation;
mod embedding;
mod fusion;
mod hit;
mod passages;
mod passages_round;
mod question;
mod references;
mod references_paths;
mod search;
mod vectors;
mod weights;
mod why;

pub use chunk::{CodeChunk, LONGEST_CHUNK, Outlined, chunks};
pub use chunk_source::{Place, SourceFile, Sources};
pub use citation::{Aim, Citation, FileNames, citations};
pub use embedding::{EmbeddingText, embedding_texts};
pub use fusion::{OVERFETCH, fused, spread};
pub use hit::Hit;
pub use passages::{Passage, Passages};
pub use question::{Question, Shape};
pub use references::{Around, DefinitionAt, References, Related, Relation, Use};
pub use search::search;
pub use vectors::{Near, Row, Vectors};
pub use weights::SearchWeights;
pub use why::{Reasons, question_words};
