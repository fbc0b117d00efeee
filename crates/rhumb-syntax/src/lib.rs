//! What source code means: the language registry, tags (definitions and references), and highlighting.
//!
//! Everything here is a pure function of a source text. Every one is bounded (see [`parse`]), so that a minified or
//! hostile file costs a little time and gives nothing, instead of hanging the program.

mod condition;
mod doc;
mod embedded;
mod errors;
mod fallback;
mod floor;
mod generated;
mod heredoc;
pub mod highlight;
pub mod language;
pub mod lexicon;
pub mod parse;
mod pattern;
mod python;
mod query;
mod reader;
mod registry;
mod shared;
mod signature;
mod statements;
pub mod tag;
pub mod tags;
mod unfit;
mod walk;

pub use errors::{SyntaxErrors, errors};
pub use floor::match_count;
pub use generated::is_generated;
pub use highlight::{Highlight, Span, highlight, highlight_lang};
pub use language::Language;
pub use lexicon::lexical_tags;
pub use statements::statements;
pub use tag::{Definition, FileTags, Reference, SymbolKind};
pub use tags::tags;

/// Why the room cannot work with a language. All causes are mistakes in our own queries or a grammar that does not fit
/// them, so the tests rule them out for every language of the registry.
#[derive(Debug, thiserror::Error)]
pub enum SyntaxError {
    /// A query does not compile for the grammar.
    #[error("the {what} query of {language} does not compile: {source}")]
    Query {
        /// Id of the language.
        language: &'static str,
        /// Which query: `tags` or `highlight`.
        what: &'static str,
        /// The compiler's complaint, with row and column (0-based) in the query.
        source: tree_sitter::QueryError,
    },
    /// The language is read without a grammar, so it has no queries.
    #[error("{language} has no grammar")]
    NoGrammar {
        /// Id of the language.
        language: &'static str,
    },
    /// A tags query captures `@definition.<kind>` with a kind that is not in [`SymbolKind`].
    #[error("the tags query of {language} has the unknown capture @{capture}")]
    Capture {
        /// Id of the language.
        language: &'static str,
        /// The capture, without its `@`.
        capture: String,
    },
}
