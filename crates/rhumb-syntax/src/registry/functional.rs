//! Functional languages and Lisps.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[
    #[cfg(feature = "lang-more")]
    Language::new("clojure", "Clojure", || tree_sitter_clojure_orchard::LANGUAGE.into())
        .extensions(&["clj", "cljs", "cljc", "edn", "bb"])
        .aliases(&["clojurescript"])
        .interpreters(&["bb", "clojure", "clj"])
        .tags(include_str!("../../../../queries/clojure/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("commonlisp", "Common Lisp", || tree_sitter_commonlisp::LANGUAGE_COMMONLISP.into())
        .extensions(&["lisp", "lsp", "cl", "asd"])
        .aliases(&["lisp", "common-lisp"])
        .interpreters(&["sbcl"])
        .tags(include_str!("../../../../queries/commonlisp/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("elisp", "Emacs Lisp", || tree_sitter_elisp::LANGUAGE.into())
        .extensions(&["el"])
        .file_names(&[".emacs", "Cask"])
        .aliases(&["emacs-lisp"])
        .tags(include_str!("../../../../queries/elisp/tags.scm"))
        .highlights(&[tree_sitter_elisp::HIGHLIGHTS_QUERY]),
    Language::new("elixir", "Elixir", || tree_sitter_elixir::LANGUAGE.into())
        .extensions(&["ex", "exs"])
        .interpreters(&["elixir"])
        .tags(include_str!("../../../../queries/elixir/tags.scm"))
        .highlights(&[tree_sitter_elixir::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("elm", "Elm", || tree_sitter_elm::LANGUAGE.into())
        .extensions(&["elm"])
        .tags(include_str!("../../../../queries/elm/tags.scm"))
        .highlights(&[tree_sitter_elm::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("erlang", "Erlang", || tree_sitter_erlang::LANGUAGE.into())
        .extensions(&["erl", "hrl", "escript", "xrl", "yrl"])
        .file_names(&["rebar.config"])
        .interpreters(&["escript"])
        .tags(include_str!("../../../../queries/erlang/tags.scm"))
        .highlights(&[tree_sitter_erlang::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-heavy")]
    Language::new("fsharp", "F#", || tree_sitter_fsharp::LANGUAGE_FSHARP.into())
        .extensions(&["fs", "fsx"])
        .aliases(&["f#"])
        .tags(include_str!("../../../../queries/fsharp/tags.scm"))
        .highlights(&[tree_sitter_fsharp::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("gleam", "Gleam", || tree_sitter_gleam::LANGUAGE.into())
        .extensions(&["gleam"])
        .tags(include_str!("../../../../queries/gleam/tags.scm"))
        .highlights(&[tree_sitter_gleam::HIGHLIGHT_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("haskell", "Haskell", || tree_sitter_haskell::LANGUAGE.into())
        .extensions(&["hs"])
        .interpreters(&["runghc", "runhaskell", "stack"])
        .tags(include_str!("../../../../queries/haskell/tags.scm"))
        .highlights(&[tree_sitter_haskell::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("ocaml", "OCaml", || tree_sitter_ocaml::LANGUAGE_OCAML.into())
        .extensions(&["ml"])
        .interpreters(&["ocaml"])
        .tags(concat!(
            include_str!("../../../../queries/ocaml-interface/tags.scm"),
            include_str!("../../../../queries/ocaml/tags.scm")
        ))
        .highlights(&[tree_sitter_ocaml::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("ocaml-interface", "OCaml interface", || tree_sitter_ocaml::LANGUAGE_OCAML_INTERFACE.into())
        .extensions(&["mli"])
        .tags(include_str!("../../../../queries/ocaml-interface/tags.scm"))
        .highlights(&[tree_sitter_ocaml::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("racket", "Racket", || tree_sitter_racket::LANGUAGE.into())
        .extensions(&["rkt", "rktl", "rktd", "scrbl"])
        .interpreters(&["racket"])
        .tags(include_str!("../../../../queries/racket/tags.scm"))
        .highlights(&[tree_sitter_racket::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("scheme", "Scheme", || tree_sitter_scheme::LANGUAGE.into())
        .extensions(&["scm", "ss", "sld", "sls", "sps"])
        .interpreters(&["guile", "chibi-scheme"])
        .tags(include_str!("../../../../queries/scheme/tags.scm"))
        .highlights(&[tree_sitter_scheme::HIGHLIGHTS_QUERY]),
];
