//! Retrieval: the code of a repository that answers a question.
//!
//! A *chunk* is a piece of a file: a definition without its inner ones, a part of a long one, or lines outside of all definitions. A
//! search scores chunks, and each has a vector. A *passage* is text for a model: adjacent chunks with a heading and line numbers. The
//! application calls the chunks that a search lists passages, too (`rhumb search --unit passage`).
//!
//! 1. [`CodeSearch`] ranks files and definitions with the features of the map, and lists files, definitions or chunks. It uses the index
//!    of the map.
//! 2. Optionally a vector search ([`VectorIndex`], over [`embedding_texts`]) is fused with it ([`fused`]), and a model expands the
//!    question or reranks the hits.
//! 3. [`Passages`] widens the hits to [`chunks`], adds definitions that are one reference away ([`References`]), and renders the best that
//!    fit a budget, with line numbers.
//! 4. [`citations`] checks the locations that the answer names.

mod chunk;
mod citation;
mod fusion;
mod model_reply;
mod passages;
mod references;
mod search;
mod source;
mod vectors;

pub use chunk::{ChunkDefinition, CodeChunk, EmbeddingText, MAX_CHUNK_LINES, chunks, embedding_texts};
pub use citation::{Citation, CitationTarget, FileNames, citations};
pub use fusion::{OVERFETCH, diversified, fused};
pub use model_reply::{
    CONTEXT_REQUEST_FENCE, ContextRequest, MAX_RERANKED, SearchPlan, context_requests, hypothesis, rerank_list,
    reranked,
};
pub use passages::{Passage, Passages, numbered, related_text};
pub use references::{DefinitionAt, EnclosingDefinition, References, Related, Relation, Usage};
pub use search::{
    CodeSearch, FileHit, Hit, Question, QuestionKind, SearchWeights, definitions_first, question_words, search,
};
pub use source::{CodeLocation, SourceFile, SourceFiles};
pub use vectors::{Neighbour, QuantizedVector, VectorIndex};
