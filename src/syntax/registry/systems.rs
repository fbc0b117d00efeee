//! Compiled languages near the machine.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("c", "C", || tree_sitter_c::LANGUAGE.into())
        .extensions(&["c", "h"])
        .tags(include_str!("../../../queries/c/tags.scm"))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY]),
    Language::new("cpp", "C++", || tree_sitter_cpp::LANGUAGE.into())
        .extensions(&["cc", "cpp", "cxx", "hh", "hpp", "hxx"])
        .aliases(&["c++"])
        .tags(concat!(include_str!("../../../queries/c/tags.scm"), include_str!("../../../queries/cpp/tags.scm")))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY, tree_sitter_cpp::HIGHLIGHT_QUERY]),
    Language::new("go", "Go", || tree_sitter_go::LANGUAGE.into())
        .extensions(&["go"])
        .aliases(&["golang"])
        .tags(include_str!("../../../queries/go/tags.scm"))
        .highlights(&[tree_sitter_go::HIGHLIGHTS_QUERY]),
    Language::new("rust", "Rust", || tree_sitter_rust::LANGUAGE.into())
        .extensions(&["rs"])
        .tags(include_str!("../../../queries/rust/tags.scm"))
        .highlights(&[tree_sitter_rust::HIGHLIGHTS_QUERY]),
];
