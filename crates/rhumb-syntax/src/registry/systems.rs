//! Compiled languages near the machine.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("c", "C", || tree_sitter_c::LANGUAGE.into())
        .extensions(&["c", "h"])
        .tags(include_str!("../../../../queries/c/tags.scm"))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY]),
    Language::new("cpp", "C++", || tree_sitter_cpp::LANGUAGE.into())
        .extensions(&["cc", "cpp", "cxx", "hh", "hpp", "hxx"])
        .aliases(&["c++"])
        .tags(concat!(include_str!("../../../../queries/c/tags.scm"), include_str!("../../../../queries/cpp/tags.scm")))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY, tree_sitter_cpp::HIGHLIGHT_QUERY]),
    Language::new("go", "Go", || tree_sitter_go::LANGUAGE.into())
        .extensions(&["go"])
        .aliases(&["golang"])
        .tags(include_str!("../../../../queries/go/tags.scm"))
        .highlights(&[tree_sitter_go::HIGHLIGHTS_QUERY]),
    Language::new("rust", "Rust", || tree_sitter_rust::LANGUAGE.into())
        .extensions(&["rs"])
        .tags(include_str!("../../../../queries/rust/tags.scm"))
        .highlights(&[tree_sitter_rust::HIGHLIGHTS_QUERY]),
    Language::new("zig", "Zig", || tree_sitter_zig::LANGUAGE.into())
        .extensions(&["zig", "zon"])
        .tags(include_str!("../../../../queries/zig/tags.scm"))
        .highlights(&[tree_sitter_zig::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("ada", "Ada", || tree_sitter_ada::LANGUAGE.into())
        .extensions(&["adb", "ads", "ada"])
        .tags(include_str!("../../../../queries/ada/tags.scm"))
        .highlights(&[tree_sitter_ada::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("asm", "Assembly", || tree_sitter_asm::LANGUAGE.into())
        .extensions(&["s", "asm"])
        .aliases(&["assembly", "nasm", "gas"])
        .tags(include_str!("../../../../queries/asm/tags.scm"))
        .highlights(&[tree_sitter_asm::HIGHLIGHTS_QUERY])
        .lenient(),
    #[cfg(feature = "lang-more")]
    Language::new("d", "D", || tree_sitter_d::LANGUAGE.into())
        .extensions(&["d", "di"])
        .aliases(&["dlang"])
        .interpreters(&["rdmd"])
        .tags(include_str!("../../../../queries/d/tags.scm"))
        .ascii_only(),
    #[cfg(feature = "lang-more")]
    Language::new("fortran", "Fortran", || tree_sitter_fortran::LANGUAGE.into())
        .extensions(&["f90", "f95", "f03", "f08", "f", "for"])
        .tags(include_str!("../../../../queries/fortran/tags.scm"))
        .highlights(&[tree_sitter_fortran::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("odin", "Odin", || tree_sitter_odin::LANGUAGE.into())
        .extensions(&["odin"])
        .tags(include_str!("../../../../queries/odin/tags.scm"))
        .highlights(&[tree_sitter_odin::HIGHLIGHTS_QUERY])
        .ascii_only(),
    #[cfg(feature = "lang-more")]
    Language::new("pascal", "Pascal", || tree_sitter_pascal::LANGUAGE.into())
        .extensions(&["pas", "dpr", "lpr", "dpk"])
        .aliases(&["delphi"])
        .tags(include_str!("../../../../queries/pascal/tags.scm"))
        .highlights(&[include_str!("../../../../queries/pascal/highlights.scm")]),
];
