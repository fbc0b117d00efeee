//! Compiling queries: what each capture of a tags query means, and the highlight configuration of a language.
//!
//! A tags query speaks in these captures and settings:
//!
//! | capture | meaning |
//! |---|---|
//! | `@definition.<kind>` with `@name` | a definition; `<kind>` is a [`SymbolKind`] |
//! | `@body` | where the header of the definition ends, if its `body` field does not say so |
//! | `@container` | the name that the definition belongs to, if that is not what surrounds it (a Go receiver) |
//! | `@scope` with `@name` | a region that names what it contains without defining it (a Rust `impl`) |
//! | `@reference` | a use of a name; the names of definitions are taken out afterwards |
//! | `@import` | a module or file that is imported, as written: a path, a dotted name, a string |
//! | `@doc` | the documentation of the definition, if it is not the comment right above it |
//! | `@embedded` | code of another language, which `@language` captures or `(#set! language "…")` names |
//! | `@ignore` with `@name` | not a definition after all, whatever another pattern says of that name on that line |
//!
//! `(#set! only "top-level")` drops a definition that stands inside a function, and `(#set! prefix "type")` puts a
//! keyword before the signature that stands outside the captured node. `(#set! joins "clauses")` makes a definition that
//! follows one of the same name part of it: the equations of a Haskell function, and the type that is declared above them.
//! `(#set! segment "last")` knows names and references by their last part: `Tides` for `Harbour.Tides`.
//! Captures that begin with `_` serve predicates.

use tree_sitter::Query;
use tree_sitter_highlight::HighlightConfiguration;

use super::SyntaxError;
use super::highlight::capture_names;
use super::language::Language;
use super::tag::SymbolKind;
use super::walk::Walk;

/// What a capture of a tags query stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
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
    /// Only predicates look at it.
    Private,
}

/// What the settings of a pattern say.
#[derive(Debug, Clone, Default)]
pub(super) struct PatternSettings {
    /// Drop the definition inside functions and methods.
    pub(super) top_level_only: bool,
    /// Part of the definition right before it, if that has the same name.
    pub(super) joins_clauses: bool,
    /// Only the last part of a qualified name counts.
    pub(super) last_segment: bool,
    /// A keyword for the front of the signature.
    pub(super) prefix: Option<String>,
    /// The language of what is embedded.
    pub(super) language: Option<String>,
}

/// A compiled tags query.
pub(super) struct TagQuery {
    pub(super) walk: Walk,
    /// By capture index.
    pub(super) roles: Vec<Role>,
    /// By pattern index.
    pub(super) settings: Vec<PatternSettings>,
}

impl TagQuery {
    /// Compiles the tags query of `language`.
    pub(super) fn compile(language: &'static Language) -> Result<Self, SyntaxError> {
        let query = tag_query(language)?;
        let unknown = |capture: &str| SyntaxError::Capture { language: language.id, capture: capture.to_owned() };
        let roles = query.capture_names().iter().map(|name| role(name).ok_or_else(|| unknown(name)));
        let roles = roles.collect::<Result<Vec<_>, _>>()?;
        let settings = (0..query.pattern_count()).map(|pattern| settings(&query, pattern)).collect();
        Ok(Self { walk: Walk::new(query, language.tags_query, &grammar(language)?), roles, settings })
    }
}

/// Compiles the tags query of `language` for the query engine alone.
pub(super) fn tag_query(language: &'static Language) -> Result<Query, SyntaxError> {
    let compiled = Query::new(&grammar(language)?, language.tags_query);
    compiled.map_err(|source| SyntaxError::Query { language: language.id, what: "tags", source })
}

fn role(capture: &str) -> Option<Role> {
    Some(match capture {
        "name" => Role::Name,
        "body" => Role::Body,
        "container" => Role::Container,
        "scope" => Role::Scope,
        "reference" => Role::Reference,
        "import" => Role::Import,
        "doc" => Role::Doc,
        "ignore" => Role::Ignore,
        "embedded" => Role::Embedded,
        "language" => Role::Language,
        _ if capture.starts_with('_') => Role::Private,
        _ => Role::Definition(SymbolKind::from_name(capture.strip_prefix("definition.")?)?),
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
    language.grammar.map(|grammar| grammar()).ok_or(SyntaxError::NoGrammar { language: language.id })
}

/// Compiles the highlight query of `language`.
pub(super) fn highlight_configuration(language: &'static Language) -> Result<HighlightConfiguration, SyntaxError> {
    let grammar = grammar(language)?;
    // The parts are files that need not end in a line end, and a part may open with a comment.
    let (highlights, locals) = (language.highlights.join("\n"), language.locals.join("\n"));
    // No injections: each would start another parse, and macros and templates read well enough without.
    let mut configuration = HighlightConfiguration::new(grammar, language.id, &highlights, "", &locals)
        .map_err(|source| SyntaxError::Query { language: language.id, what: "highlight", source })?;
    configuration.configure(&capture_names());
    Ok(configuration)
}
