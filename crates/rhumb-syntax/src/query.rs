//! Compiles queries: the role of each capture of a tags query, and the highlight configuration of a language.
//!
//! A tags query consists of these captures and directives:
//!
//! | capture | meaning |
//! |---|---|
//! | `@definition.<kind>` with `@name` | a definition; `<kind>` is a [`SymbolKind`] |
//! | `@body` | the body of the definition, if the grammar has no `body` field |
//! | `@container` | the name of the container, if it is not an enclosing definition (a Go receiver) |
//! | `@scope` with `@name` | a region that is the container of its contents but not a definition (a Rust `impl`) |
//! | `@reference` | a use of a name; names of definitions are removed afterwards |
//! | `@import` | an imported module or file as written: a path, a dotted name, a string |
//! | `@doc` | the documentation of the definition, if it is not the comment directly above |
//! | `@embedded` | code of another language, which `@language` captures or `(#set! language "…")` names |
//! | `@ignore` with `@name` | cancels other definitions of this name on this line |
//!
//! `(#set! only "top-level")` drops definitions inside of functions. `(#set! prefix "type")` puts a keyword, which is outside of
//! the captured node, before the signature. `(#set! joins "clauses")` merges a definition with a preceding one of the same name:
//! the equations of a Haskell function and its type signature. `(#set! segment "last")` reduces names and references to their
//! last segment: `Tides` for `Harbour.Tides`. Captures that start with `_` serve predicates.

use crate::SyntaxError;
use crate::highlight::capture_names;
use crate::parse::parse_for_query;
use crate::walk::TagWalk;
use crate::{Language, SymbolKind};
use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, Query, QueryCursor};
use tree_sitter_highlight::HighlightConfiguration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaptureRole {
    Definition(SymbolKind),
    Name,
    Body,
    Container,
    Scope,
    Reference,
    Import,
    Doc,
    Ignore,
    Embedded,
    Language,
    /// Used by predicates only.
    Private,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct PatternSettings {
    /// Drop definitions inside of functions and methods.
    pub(crate) top_level_only: bool,
    /// Merge with the preceding definition if it has the same name.
    pub(crate) joins_clauses: bool,
    /// Use only the last segment of a qualified name.
    pub(crate) last_segment: bool,
    /// A keyword at the start of the signature.
    pub(crate) prefix: Option<String>,
    /// The language of embedded code.
    pub(crate) language: Option<String>,
}

pub(crate) struct TagQuery {
    pub(crate) walk: TagWalk,
    pub(crate) roles: Vec<CaptureRole>,
    /// Directives by pattern index.
    pub(crate) settings: Vec<PatternSettings>,
}

impl TagQuery {
    pub(crate) fn compile(language: &'static Language) -> Result<Self, SyntaxError> {
        let query = compile_tags_query(language)?;
        let unknown = |capture: &str| SyntaxError::Capture { language: language.id, capture: capture.to_owned() };
        let roles = query.capture_names().iter().map(|name| role(name).ok_or_else(|| unknown(name)));
        let roles = roles.collect::<Result<Vec<_>, _>>()?;
        let settings = (0..query.pattern_count()).map(|pattern| settings(&query, pattern)).collect();
        Ok(Self { walk: TagWalk::new(query, language.tags_query, &grammar(language)?), roles, settings })
    }
}

/// Compiles the tags query of `language` for tree-sitter's engine.
pub(crate) fn compile_tags_query(language: &'static Language) -> Result<Query, SyntaxError> {
    let compiled = Query::new(&grammar(language)?, language.tags_query);
    compiled.map_err(|source| SyntaxError::Query { language: language.id, query: "tags", source })
}

fn role(capture: &str) -> Option<CaptureRole> {
    Some(match capture {
        "name" => CaptureRole::Name,
        "body" => CaptureRole::Body,
        "container" => CaptureRole::Container,
        "scope" => CaptureRole::Scope,
        "reference" => CaptureRole::Reference,
        "import" => CaptureRole::Import,
        "doc" => CaptureRole::Doc,
        "ignore" => CaptureRole::Ignore,
        "embedded" => CaptureRole::Embedded,
        "language" => CaptureRole::Language,
        _ if capture.starts_with('_') => CaptureRole::Private,
        _ => CaptureRole::Definition(SymbolKind::from_name(capture.strip_prefix("definition.")?)?),
    })
}

fn settings(query: &Query, pattern: usize) -> PatternSettings {
    let mut settings = PatternSettings::default();
    for property in query.property_settings(pattern) {
        match (&*property.key, property.value.as_deref()) {
            ("only", Some("top-level")) => settings.top_level_only = true,
            ("joins", Some("clauses")) => settings.joins_clauses = true,
            ("segment", Some("last")) => settings.last_segment = true,
            ("prefix", Some(prefix)) => settings.prefix = Some(prefix.to_owned()),
            ("language", Some(language)) => settings.language = Some(language.to_owned()),
            _ => {}
        }
    }
    settings
}

fn grammar(language: &Language) -> Result<tree_sitter::Language, SyntaxError> {
    language.grammar.map(|grammar| grammar()).ok_or(SyntaxError::NoGrammar(language.id))
}

pub(crate) fn highlight_configuration(language: &'static Language) -> Result<HighlightConfiguration, SyntaxError> {
    let grammar = grammar(language)?;
    // The parts are files that may lack a final line feed, and the next part may start with a comment.
    let (highlights, locals) = (language.highlights.join("\n"), language.locals.join("\n"));
    // No injections: each would cost another parse, and code in macros and templates is readable without.
    let mut configuration = HighlightConfiguration::new(grammar, language.id, &highlights, "", &locals)
        .map_err(|source| SyntaxError::Query { language: language.id, query: "highlight", source })?;
    configuration.configure(&capture_names());
    Ok(configuration)
}

/// Parses a source and runs the complete tags query with tree-sitter's engine. Returns the number of matches. Benchmarks use it
/// as the baseline for [`tags`](crate::tags()).
pub fn match_count(language: &'static Language, source: &str) -> usize {
    let (Ok(query), Some(tree)) = (language.whole_tag_query(), parse_for_query(language, source)) else { return 0 };
    let mut cursor = QueryCursor::new();
    let text = |node: Node<'_>| std::iter::once(source.as_bytes().get(node.byte_range()).unwrap_or_default());
    let mut matches = cursor.matches(query, tree.root_node(), text);
    let mut count = 0;
    while matches.next().is_some() {
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_a_match() {
        assert!(match_count(Language::by_name("rust").unwrap(), "fn f() {}\n") >= 1);
        assert_eq!(match_count(Language::by_name("rust").unwrap(), ""), 0);
    }
}
