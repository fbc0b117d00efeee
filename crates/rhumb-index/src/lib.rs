//! A code-aware index of a repository: which files, symbols and passages are relevant to a request.
//!
//! ```text
//! lexical    lexical relevance (BM25F) of files and symbols to the words of a query
//! repo_map   the tag graph, personalised PageRank over it, and the ranked outline that fits a token budget
//! retrieval  passages that answer a question: chunks by syntax, references, embeddings
//! ```

pub mod lexical;
pub mod repo_map;
pub mod retrieval;
