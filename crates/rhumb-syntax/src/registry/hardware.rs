//! Languages of hardware, graphics cards and microcontrollers.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[
    #[cfg(feature = "lang-more")]
    Language::new("glsl", "GLSL", || tree_sitter_glsl::LANGUAGE_GLSL.into())
        .extensions(&["glsl", "vert", "frag", "geom", "comp", "tesc", "tese"])
        .tags(concat!(
            include_str!("../../../../queries/c/tags.scm"),
            include_str!("../../../../queries/glsl/tags.scm")
        ))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY, tree_sitter_glsl::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("vhdl", "VHDL", || tree_sitter_vhdl::LANGUAGE.into())
        .extensions(&["vhd", "vhdl"])
        // Its own colours take time with the square of the length of an expression.
        .tags(include_str!("../../../../queries/vhdl/tags.scm")),
    #[cfg(feature = "lang-heavy")]
    Language::new("arduino", "Arduino", || tree_sitter_arduino::LANGUAGE.into())
        .extensions(&["ino"])
        .tags(
            concat!(include_str!("../../../../queries/c/tags.scm"), include_str!("../../../../queries/cpp/tags.scm"),),
        )
        .highlights(&[
            tree_sitter_c::HIGHLIGHT_QUERY,
            tree_sitter_cpp::HIGHLIGHT_QUERY,
            tree_sitter_arduino::HIGHLIGHTS_QUERY,
        ]),
    #[cfg(feature = "lang-heavy")]
    Language::new("cuda", "CUDA", || tree_sitter_cuda::LANGUAGE.into())
        .extensions(&["cu", "cuh"])
        .tags(
            concat!(include_str!("../../../../queries/c/tags.scm"), include_str!("../../../../queries/cpp/tags.scm"),),
        )
        .highlights(&[
            tree_sitter_c::HIGHLIGHT_QUERY,
            tree_sitter_cpp::HIGHLIGHT_QUERY,
            tree_sitter_cuda::HIGHLIGHTS_QUERY,
        ]),
    #[cfg(feature = "lang-heavy")]
    Language::new("hlsl", "HLSL", || tree_sitter_hlsl::LANGUAGE_HLSL.into())
        .extensions(&["hlsl", "hlsli", "fx", "fxh"])
        .tags(concat!(
            include_str!("../../../../queries/c/tags.scm"),
            include_str!("../../../../queries/cpp/tags.scm"),
            include_str!("../../../../queries/hlsl/tags.scm")
        ))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY, tree_sitter_cpp::HIGHLIGHT_QUERY])
        .lenient(),
    #[cfg(feature = "lang-heavy")]
    Language::new("verilog", "Verilog", || tree_sitter_verilog::LANGUAGE.into())
        .extensions(&["v", "vh", "sv", "svh"])
        .aliases(&["systemverilog"])
        .tags(include_str!("../../../../queries/verilog/tags.scm")),
];
