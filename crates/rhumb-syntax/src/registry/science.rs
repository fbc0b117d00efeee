//! Languages of science, data and statistics.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[
    #[cfg(feature = "lang-more")]
    Language::new("julia", "Julia", || tree_sitter_julia::LANGUAGE.into())
        .extensions(&["jl"])
        .interpreters(&["julia"])
        .tags(include_str!("../../../../queries/julia/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("matlab", "MATLAB", || tree_sitter_matlab::LANGUAGE.into())
        .extensions(&["matlab"])
        .aliases(&["octave"])
        .interpreters(&["octave"])
        .tags(include_str!("../../../../queries/matlab/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("ql", "CodeQL", || tree_sitter_ql::LANGUAGE.into())
        .extensions(&["ql", "qll"])
        .aliases(&["codeql"])
        .tags(include_str!("../../../../queries/ql/tags.scm"))
        .highlights(&[tree_sitter_ql::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("r", "R", || tree_sitter_r::LANGUAGE.into())
        .extensions(&["r"])
        .file_names(&[".Rprofile"])
        .aliases(&["rscript", "rlang"])
        .interpreters(&["Rscript"])
        .tags(include_str!("../../../../queries/r/tags.scm"))
        .highlights(&[tree_sitter_r::HIGHLIGHTS_QUERY]),
];
