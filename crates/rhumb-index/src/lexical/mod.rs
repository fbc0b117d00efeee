//! Which code a message talks about: words inside identifiers, counted per passage and weighed by how rare they are.
//!
//! A source becomes words (`word`), the words of a file become a compact posting list over its passages (`terms`), and a
//! query scores the passages, the paths and the files of a repository (`query`). A file's list depends on nothing but its
//! text and tags, so it is made once a content and kept; all statistics of the repository are taken at query time.

mod packed;
mod passage;
mod query;
mod recent;
mod stem;
mod stop;
mod terms;
mod word;

pub use packed::PackedTerms;
pub use passage::{Extent, LONGEST, Passage, is_remark, owners};
pub use query::{FileRelevance, Query, Relevance};
pub use stem::stemmed;
pub use stop::is_stop_word;
pub use terms::{Depth, FileTerms};
pub use word::{Term, each_term, each_word};
