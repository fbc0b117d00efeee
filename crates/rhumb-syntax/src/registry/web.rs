//! The languages of the web.

use super::super::language::Language;

/// What JavaScript, TypeScript and TSX have in common.
macro_rules! ecmascript_tags {
    ($own:literal) => {
        concat!(include_str!("../../../../queries/ecmascript/tags.scm"), include_str!($own))
    };
}

const JAVASCRIPT: &str = tree_sitter_javascript::HIGHLIGHT_QUERY;
const JSX: &str = tree_sitter_javascript::JSX_HIGHLIGHT_QUERY;
const TYPESCRIPT: &str = tree_sitter_typescript::HIGHLIGHTS_QUERY;

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("javascript", "JavaScript", || tree_sitter_javascript::LANGUAGE.into())
        .extensions(&["js", "mjs", "cjs", "jsx"])
        .aliases(&["node"])
        .interpreters(&["node"])
        .tags(ecmascript_tags!("../../../../queries/javascript/tags.scm"))
        .highlights(&[JAVASCRIPT, JSX])
        .locals(&[tree_sitter_javascript::LOCALS_QUERY]),
    Language::new("tsx", "TSX", || tree_sitter_typescript::LANGUAGE_TSX.into())
        .extensions(&["tsx"])
        .tags(ecmascript_tags!("../../../../queries/typescript/tags.scm"))
        .highlights(&[JAVASCRIPT, TYPESCRIPT, JSX])
        .locals(&[tree_sitter_typescript::LOCALS_QUERY]),
    Language::new("typescript", "TypeScript", || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into())
        .extensions(&["ts", "mts", "cts"])
        .interpreters(&["deno", "ts-node", "tsx"])
        .tags(ecmascript_tags!("../../../../queries/typescript/tags.scm"))
        .highlights(&[JAVASCRIPT, TYPESCRIPT])
        .locals(&[tree_sitter_typescript::LOCALS_QUERY]),
];
