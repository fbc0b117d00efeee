//! Lexical relevance: the words inside of identifiers, counted per chunk and weighted by rarity (BM25).
//!
//! A source is split into words (`words`). The words of a file become a compact posting list over its chunks (`terms`). A query
//! scores the chunks, paths and files of a repository (`query`). The list of a file depends only on its text and tags, so it
//! is computed once per content and stored; statistics of the repository are computed at query time.

mod message;
mod query;
mod relevance;
mod terms;
mod words;

pub use message::{LineRange, Message, StackFrame};
pub use query::{PARTS, Query};
pub(crate) use relevance::is_entry;
pub use relevance::{DefinitionRelevance, FIELDS, FileRelevance, FileText, PathRelevance, Relevance};
pub use terms::{Chunk, Depth, Extent, FileTerms, MAX_CHUNK_LINES, PackedTerms, is_comment_line, owners};
pub use words::{Term, each_term, each_word, is_stop_word, stemmed};
