//! Tree-sitter based analysis of source code: tags (definitions and references), syntax errors, statement boundaries and
//! highlighting, for about 70 languages.
//!
//! ```
//! use rhumb_syntax::{Language, tags};
//!
//! let source = "/// Area in square metres.\nfn area(width: u32) -> u32 {\n    square(width)\n}\n";
//! let language = Language::detect("src/area.rs", source).expect("the extension is known");
//! let tags = tags(language, source);
//! let area = &tags.definitions[0];
//! assert_eq!((area.name.as_str(), area.line, area.end_line), ("area", 2, 4));
//! assert_eq!(area.signature, "fn area(width: u32) -> u32");
//! assert_eq!(area.doc, "Area in square metres.");
//! assert_eq!(tags.references[0].name, "square");
//! ```
//!
//! - [`Language`] detects the language of a file by path, Markdown fence or `#!` line.
//! - [`tags()`] extracts the [`Definition`]s, [`Reference`]s and imports of a source. [`lexical_tags`] and [`ctags_line`] serve
//!   files without a grammar.
//! - [`errors()`] lists the [`SyntaxErrors`] of a source, to detect that an edit broke it.
//! - [`highlight()`] classifies the bytes of each line as keyword, string and so on, by grammar or by TextMate rules.
//! - [`statements()`] returns the lines at which a source may be split into chunks.
//! - [`is_generated`] detects generated, locked and vendored files.
//!
//! # Limits
//!
//! - All functions depend on their arguments only. They read no files, no clock and no environment (enforced by `clippy.toml`);
//!   a program that wants to limit parsing by time supplies a clock with [`set_parse_timer`].
//! - The work is limited (see [`parse`](mod@parse)): a minified, deeply nested or adversarial source takes at most a few
//!   seconds and yields no tags.
//! - Tags are syntactic. A reference is a name; it is not resolved to a definition.
//! - The feature `lang-more` (default) adds about 30 grammars with 45 MB of tables, `lang-heavy` five more with over 4 MB each.

#![cfg_attr(not(feature = "lang-more"), allow(dead_code, reason = "some builder methods serve optional grammars only"))]

mod doc;
mod embedded;
mod errors;
mod generated;
pub mod highlight;
mod language;
mod lexical;
pub mod parse;
mod pattern;
mod query;
mod readers;
mod registry;
mod signature;
mod statements;
mod tags;
mod textmate;
mod walk;
mod workarounds;

pub use errors::{SyntaxErrors, errors};
pub use generated::is_generated;
pub use highlight::{Highlight, Span, highlight, highlight_lang};
pub use language::Language;
pub use lexical::{ctags_line, lexical_tags};
pub use parse::{ParseTimer, set_parse_timer};
pub use query::match_count;
pub use statements::statements;

pub use tags::{Definition, FileTags, Reference, SymbolKind, tags};

/// A language whose queries cannot be used. The cause is a mistake in the queries of this crate or a grammar that does not fit
/// them; tests rule it out for every language.
#[derive(Debug, thiserror::Error)]
pub enum SyntaxError {
    /// A query does not compile for the grammar.
    #[error("the {query} query of {language} does not compile: {source}")]
    Query {
        /// Id of the language.
        language: &'static str,
        /// Which query: `tags` or `highlight`.
        query: &'static str,
        /// The error of the query compiler, with 0-based row and column.
        source: tree_sitter::QueryError,
    },
    /// The language is read without a grammar, so it has no queries.
    #[error("{0} has no grammar")]
    NoGrammar(&'static str),
    /// A tags query captures `@definition.<kind>` with a kind that is not in [`SymbolKind`].
    #[error("the tags query of {language} has the unknown capture @{capture}")]
    Capture {
        /// Id of the language.
        language: &'static str,
        /// The capture, without its `@`.
        capture: String,
    },
}
