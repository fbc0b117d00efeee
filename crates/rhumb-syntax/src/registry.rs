//! The table of languages, grouped by family.

use crate::language::Language;
use crate::{readers, workarounds};

pub(crate) fn languages() -> impl Iterator<Item = &'static Language> + Clone {
    FAMILIES.into_iter().flatten()
}

static FAMILIES: [&[Language]; 9] = [BUILD, FUNCTIONAL, HARDWARE, MANAGED, MARKUP, SCIENCE, SCRIPTING, SYSTEMS, WEB];

/// Build files, infrastructure and interface definitions.
static BUILD: &[Language] = &[
    Language::new("cmake", "CMake", || tree_sitter_cmake::LANGUAGE.into())
        .extensions(&["cmake"])
        .file_names(&["CMakeLists.txt"])
        .tags(include_str!("../../../queries/cmake/tags.scm"))
        .highlights(&[tree_sitter_cmake::HIGHLIGHTS_QUERY])
        .skip_if(workarounds::long_white_space),
    Language::new("dockerfile", "Dockerfile", || tree_sitter_containerfile::LANGUAGE.into())
        .extensions(&["dockerfile", "containerfile"])
        .file_names(&["Dockerfile", "Containerfile"])
        .aliases(&["docker"])
        .tags(include_str!("../../../queries/dockerfile/tags.scm"))
        .highlights(&[tree_sitter_containerfile::HIGHLIGHTS_QUERY])
        .skip_if(workarounds::many_heredocs),
    #[cfg(feature = "lang-more")]
    Language::new("graphql", "GraphQL", || tree_sitter_graphql::LANGUAGE.into())
        .extensions(&["graphql", "gql", "graphqls"])
        .tags(include_str!("../../../queries/graphql/tags.scm")),
    Language::new("hcl", "HCL", || tree_sitter_hcl::LANGUAGE.into())
        .extensions(&["tf", "hcl", "tfvars", "nomad"])
        .aliases(&["terraform"])
        .tags(include_str!("../../../queries/hcl/tags.scm")),
    Language::new("make", "Make", || tree_sitter_make::LANGUAGE.into())
        .extensions(&["mk", "mak", "make"])
        .file_names(&["Makefile", "makefile", "GNUmakefile"])
        .aliases(&["makefile"])
        .tags(include_str!("../../../queries/make/tags.scm"))
        .highlights(&[tree_sitter_make::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("nix", "Nix", || tree_sitter_nix::LANGUAGE.into())
        .extensions(&["nix"])
        .tags(include_str!("../../../queries/nix/tags.scm"))
        .highlights(&[tree_sitter_nix::HIGHLIGHTS_QUERY])
        .skip_if(workarounds::long_path_or_many_angles),
    Language::new("proto", "Protobuf", || tree_sitter_proto::LANGUAGE.into())
        .extensions(&["proto"])
        .aliases(&["protobuf"])
        .tags(include_str!("../../../queries/proto/tags.scm")),
    Language::new("sql", "SQL", || tree_sitter_sequel::LANGUAGE.into())
        .extensions(&["sql", "ddl", "psql"])
        .aliases(&["postgresql", "mysql", "sqlite"])
        .tags(include_str!("../../../queries/sql/tags.scm"))
        .highlights(&[tree_sitter_sequel::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("starlark", "Starlark", || tree_sitter_starlark::LANGUAGE.into())
        .extensions(&["bzl", "star", "bazel"])
        .file_names(&["BUILD", "WORKSPACE", "Tiltfile", "BUCK"])
        .aliases(&["skylark"])
        .tags(include_str!("../../../queries/starlark/tags.scm"))
        .highlights(&[tree_sitter_starlark::HIGHLIGHTS_QUERY]),
];

static FUNCTIONAL: &[Language] = &[
    #[cfg(feature = "lang-more")]
    Language::new("clojure", "Clojure", || tree_sitter_clojure_orchard::LANGUAGE.into())
        .extensions(&["clj", "cljs", "cljc", "edn", "bb"])
        .aliases(&["clojurescript"])
        .interpreters(&["bb", "clojure", "clj"])
        .tags(include_str!("../../../queries/clojure/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("commonlisp", "Common Lisp", || tree_sitter_commonlisp::LANGUAGE_COMMONLISP.into())
        .extensions(&["lisp", "lsp", "cl", "asd"])
        .aliases(&["lisp", "common-lisp"])
        .interpreters(&["sbcl"])
        .tags(include_str!("../../../queries/commonlisp/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("elisp", "Emacs Lisp", || tree_sitter_elisp::LANGUAGE.into())
        .extensions(&["el"])
        .file_names(&[".emacs", "Cask"])
        .aliases(&["emacs-lisp"])
        .tags(include_str!("../../../queries/elisp/tags.scm"))
        .highlights(&[tree_sitter_elisp::HIGHLIGHTS_QUERY]),
    Language::new("elixir", "Elixir", || tree_sitter_elixir::LANGUAGE.into())
        .extensions(&["ex", "exs"])
        .interpreters(&["elixir"])
        .tags(include_str!("../../../queries/elixir/tags.scm"))
        .highlights(&[tree_sitter_elixir::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("elm", "Elm", || tree_sitter_elm::LANGUAGE.into())
        .extensions(&["elm"])
        .tags(include_str!("../../../queries/elm/tags.scm"))
        .highlights(&[tree_sitter_elm::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("erlang", "Erlang", || tree_sitter_erlang::LANGUAGE.into())
        .extensions(&["erl", "hrl", "escript", "xrl", "yrl"])
        .file_names(&["rebar.config"])
        .interpreters(&["escript"])
        .tags(include_str!("../../../queries/erlang/tags.scm"))
        .highlights(&[tree_sitter_erlang::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-heavy")]
    Language::new("fsharp", "F#", || tree_sitter_fsharp::LANGUAGE_FSHARP.into())
        .extensions(&["fs", "fsx"])
        .aliases(&["f#"])
        .tags(include_str!("../../../queries/fsharp/tags.scm"))
        .highlights(&[tree_sitter_fsharp::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("gleam", "Gleam", || tree_sitter_gleam::LANGUAGE.into())
        .extensions(&["gleam"])
        .tags(include_str!("../../../queries/gleam/tags.scm"))
        .highlights(&[tree_sitter_gleam::HIGHLIGHT_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("haskell", "Haskell", || tree_sitter_haskell::LANGUAGE.into())
        .extensions(&["hs"])
        .interpreters(&["runghc", "runhaskell", "stack"])
        .tags(include_str!("../../../queries/haskell/tags.scm"))
        .highlights(&[tree_sitter_haskell::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("ocaml", "OCaml", || tree_sitter_ocaml::LANGUAGE_OCAML.into())
        .extensions(&["ml"])
        .interpreters(&["ocaml"])
        .tags(concat!(
            include_str!("../../../queries/ocaml-interface/tags.scm"),
            include_str!("../../../queries/ocaml/tags.scm")
        ))
        .highlights(&[tree_sitter_ocaml::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("ocaml-interface", "OCaml interface", || tree_sitter_ocaml::LANGUAGE_OCAML_INTERFACE.into())
        .extensions(&["mli"])
        .tags(include_str!("../../../queries/ocaml-interface/tags.scm"))
        .highlights(&[tree_sitter_ocaml::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("racket", "Racket", || tree_sitter_racket::LANGUAGE.into())
        .extensions(&["rkt", "rktl", "rktd", "scrbl"])
        .interpreters(&["racket"])
        .tags(include_str!("../../../queries/racket/tags.scm"))
        .highlights(&[tree_sitter_racket::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("scheme", "Scheme", || tree_sitter_scheme::LANGUAGE.into())
        .extensions(&["scm", "ss", "sld", "sls", "sps"])
        .interpreters(&["guile", "chibi-scheme"])
        .tags(include_str!("../../../queries/scheme/tags.scm"))
        .highlights(&[tree_sitter_scheme::HIGHLIGHTS_QUERY]),
];

/// Languages of hardware, graphics cards and microcontrollers.
static HARDWARE: &[Language] = &[
    #[cfg(feature = "lang-more")]
    Language::new("glsl", "GLSL", || tree_sitter_glsl::LANGUAGE_GLSL.into())
        .extensions(&["glsl", "vert", "frag", "geom", "comp", "tesc", "tese"])
        .tags(concat!(include_str!("../../../queries/c/tags.scm"), include_str!("../../../queries/glsl/tags.scm")))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY, tree_sitter_glsl::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("vhdl", "VHDL", || tree_sitter_vhdl::LANGUAGE.into())
        .extensions(&["vhd", "vhdl"])
        // The crate's highlight query takes time quadratic in the length of an expression.
        .tags(include_str!("../../../queries/vhdl/tags.scm")),
    #[cfg(feature = "lang-heavy")]
    Language::new("arduino", "Arduino", || tree_sitter_arduino::LANGUAGE.into())
        .extensions(&["ino"])
        .tags(concat!(include_str!("../../../queries/c/tags.scm"), include_str!("../../../queries/cpp/tags.scm"),))
        .highlights(&[
            tree_sitter_c::HIGHLIGHT_QUERY,
            tree_sitter_cpp::HIGHLIGHT_QUERY,
            tree_sitter_arduino::HIGHLIGHTS_QUERY,
        ]),
    #[cfg(feature = "lang-heavy")]
    Language::new("cuda", "CUDA", || tree_sitter_cuda::LANGUAGE.into())
        .extensions(&["cu", "cuh"])
        .tags(concat!(include_str!("../../../queries/c/tags.scm"), include_str!("../../../queries/cpp/tags.scm"),))
        .highlights(&[
            tree_sitter_c::HIGHLIGHT_QUERY,
            tree_sitter_cpp::HIGHLIGHT_QUERY,
            tree_sitter_cuda::HIGHLIGHTS_QUERY,
        ]),
    #[cfg(feature = "lang-heavy")]
    Language::new("hlsl", "HLSL", || tree_sitter_hlsl::LANGUAGE_HLSL.into())
        .extensions(&["hlsl", "hlsli", "fx", "fxh"])
        .tags(concat!(
            include_str!("../../../queries/c/tags.scm"),
            include_str!("../../../queries/cpp/tags.scm"),
            include_str!("../../../queries/hlsl/tags.scm")
        ))
        .highlights(&[tree_sitter_c::HIGHLIGHT_QUERY, tree_sitter_cpp::HIGHLIGHT_QUERY])
        .unreliable_errors(),
    #[cfg(feature = "lang-heavy")]
    Language::new("verilog", "Verilog", || tree_sitter_verilog::LANGUAGE.into())
        .extensions(&["v", "vh", "sv", "svh"])
        .aliases(&["systemverilog"])
        .tags(include_str!("../../../queries/verilog/tags.scm")),
];

/// Languages of the JVM, .NET, phones and the like.
static MANAGED: &[Language] = &[
    Language::new("java", "Java", || tree_sitter_java::LANGUAGE.into())
        .extensions(&["java"])
        .tags(include_str!("../../../queries/java/tags.scm"))
        .highlights(&[tree_sitter_java::HIGHLIGHTS_QUERY]),
    Language::new("csharp", "C#", || tree_sitter_c_sharp::LANGUAGE.into())
        .extensions(&["cs", "csx"])
        .aliases(&["c#", "dotnet"])
        .tags(include_str!("../../../queries/csharp/tags.scm"))
        .highlights(&[tree_sitter_c_sharp::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("dart", "Dart", || tree_sitter_dart::LANGUAGE.into())
        .extensions(&["dart"])
        .interpreters(&["dart"])
        .tags(include_str!("../../../queries/dart/tags.scm"))
        .highlights(&[tree_sitter_dart::HIGHLIGHTS_QUERY]),
    Language::new("kotlin", "Kotlin", || tree_sitter_kotlin_ng::LANGUAGE.into())
        .extensions(&["kt", "kts"])
        .tags(include_str!("../../../queries/kotlin/tags.scm"))
        .needs_final_newline(),
    #[cfg(feature = "lang-more")]
    Language::new("objc", "Objective-C", || tree_sitter_objc::LANGUAGE.into())
        .extensions(&["m", "mm"])
        .aliases(&["objective-c", "objectivec", "obj-c"])
        .tags(concat!(include_str!("../../../queries/c/tags.scm"), include_str!("../../../queries/objc/tags.scm")))
        .highlights(&[tree_sitter_objc::HIGHLIGHTS_QUERY]),
    Language::new("php", "PHP", || tree_sitter_php::LANGUAGE_PHP.into())
        .extensions(&["php", "phtml", "php5", "php7", "php8"])
        .interpreters(&["php"])
        .tags(include_str!("../../../queries/php/tags.scm"))
        .highlights(&[tree_sitter_php::HIGHLIGHTS_QUERY]),
    Language::new("scala", "Scala", || tree_sitter_scala::LANGUAGE.into())
        .extensions(&["scala", "sc", "sbt"])
        .interpreters(&["scala"])
        .tags(include_str!("../../../queries/scala/tags.scm"))
        .highlights(&[tree_sitter_scala::HIGHLIGHTS_QUERY]),
    Language::new("swift", "Swift", || tree_sitter_swift::LANGUAGE.into())
        .extensions(&["swift"])
        .interpreters(&["swift"])
        .tags(include_str!("../../../queries/swift/tags.scm"))
        .highlights(&[tree_sitter_swift::HIGHLIGHTS_QUERY])
        .needs_final_newline(),
    #[cfg(feature = "lang-more")]
    Language::new("groovy", "Groovy", || tree_sitter_groovy::LANGUAGE.into())
        .extensions(&["groovy", "gradle", "gvy", "gy"])
        .file_names(&["Jenkinsfile"])
        .interpreters(&["groovy"])
        .tags(include_str!("../../../queries/groovy/tags.scm"))
        .unreliable_errors(),
    #[cfg(feature = "lang-more")]
    Language::new("solidity", "Solidity", || tree_sitter_solidity::LANGUAGE.into())
        .extensions(&["sol"])
        .tags(include_str!("../../../queries/solidity/tags.scm")),
];

/// Documents, data and style: what has sections and keys more than functions.
static MARKUP: &[Language] = &[
    Language::new("css", "CSS", || tree_sitter_css::LANGUAGE.into())
        .extensions(&["css"])
        .tags(include_str!("../../../queries/css/tags.scm"))
        .skip_if(workarounds::many_combinators)
        .highlights(&[tree_sitter_css::HIGHLIGHTS_QUERY]),
    Language::new("html", "HTML", || tree_sitter_html::LANGUAGE.into())
        .extensions(&["html", "htm", "xhtml"])
        .tags(include_str!("../../../queries/html/tags.scm"))
        .skip_if(workarounds::unclosed_markup),
    Language::with_reader("ini", "INI", readers::ini)
        .extensions(&["ini", "cfg", "conf", "service", "desktop"])
        .file_names(&[".editorconfig", ".gitconfig", ".gitmodules", ".npmrc", ".flake8", ".pylintrc"])
        .aliases(&["dosini", "gitconfig"]),
    Language::with_reader("less", "Less", readers::style_sheet).extensions(&["less"]),
    Language::new("json", "JSON", || tree_sitter_json::LANGUAGE.into())
        .extensions(&["json", "jsonc", "json5", "webmanifest", "geojson"])
        .file_names(&[".babelrc", ".eslintrc", ".prettierrc"])
        .tags(include_str!("../../../queries/json/tags.scm"))
        .highlights(&[tree_sitter_json::HIGHLIGHTS_QUERY]),
    Language::with_reader("markdown", "Markdown", readers::markdown).extensions(&["md", "markdown", "mdown", "mdx"]),
    Language::with_reader("properties", "Properties", readers::ini)
        .extensions(&["properties"])
        .file_names(&[".env"])
        .aliases(&["dotenv"]),
    Language::with_reader("scss", "SCSS", readers::style_sheet).extensions(&["scss"]),
    #[cfg(feature = "lang-more")]
    Language::new("svelte", "Svelte", || tree_sitter_svelte_ng::LANGUAGE.into())
        .extensions(&["svelte"])
        .tags(include_str!("../../../queries/svelte/tags.scm"))
        .skip_if(workarounds::unclosed_markup),
    Language::new("toml", "TOML", || tree_sitter_toml_ng::LANGUAGE.into())
        .extensions(&["toml"])
        .file_names(&["Cargo.lock", "Pipfile", "poetry.lock"])
        .tags(include_str!("../../../queries/toml/tags.scm"))
        .highlights(&[tree_sitter_toml_ng::HIGHLIGHTS_QUERY]),
    Language::new("vue", "Vue", || tree_sitter_html::LANGUAGE.into())
        .extensions(&["vue"])
        .tags(include_str!("../../../queries/vue/tags.scm"))
        .skip_if(workarounds::unclosed_markup),
    Language::with_reader("yaml", "YAML", readers::yaml)
        .extensions(&["yaml", "yml"])
        .file_names(&[".clang-format", ".clang-tidy"]),
];

/// Languages of science, data and statistics.
static SCIENCE: &[Language] = &[
    #[cfg(feature = "lang-more")]
    Language::new("julia", "Julia", || tree_sitter_julia::LANGUAGE.into())
        .extensions(&["jl"])
        .interpreters(&["julia"])
        .tags(include_str!("../../../queries/julia/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("matlab", "MATLAB", || tree_sitter_matlab::LANGUAGE.into())
        .extensions(&["matlab"])
        .aliases(&["octave"])
        .interpreters(&["octave"])
        .tags(include_str!("../../../queries/matlab/tags.scm")),
    #[cfg(feature = "lang-more")]
    Language::new("ql", "CodeQL", || tree_sitter_ql::LANGUAGE.into())
        .extensions(&["ql", "qll"])
        .aliases(&["codeql"])
        .tags(include_str!("../../../queries/ql/tags.scm"))
        .highlights(&[tree_sitter_ql::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("r", "R", || tree_sitter_r::LANGUAGE.into())
        .extensions(&["r"])
        .file_names(&[".Rprofile"])
        .aliases(&["rscript", "rlang"])
        .interpreters(&["Rscript"])
        .tags(include_str!("../../../queries/r/tags.scm"))
        .highlights(&[tree_sitter_r::HIGHLIGHTS_QUERY]),
];

static SCRIPTING: &[Language] = &[
    Language::new("bash", "Bash", || tree_sitter_bash::LANGUAGE.into())
        .extensions(&["sh", "bash"])
        .file_names(&[".bashrc", ".bash_profile", ".bash_aliases", ".profile"])
        .aliases(&["shell", "zsh", "ksh"])
        .interpreters(&["sh", "bash", "dash", "ksh", "zsh"])
        .tags(include_str!("../../../queries/bash/tags.scm"))
        .highlights(&[tree_sitter_bash::HIGHLIGHT_QUERY])
        .ascii_only()
        .skip_if(workarounds::many_heredocs),
    #[cfg(feature = "lang-more")]
    Language::new("fish", "Fish", tree_sitter_fish::language)
        .extensions(&["fish"])
        .interpreters(&["fish"])
        .tags(include_str!("../../../queries/fish/tags.scm"))
        .highlights(&[tree_sitter_fish::HIGHLIGHTS_QUERY]),
    Language::new("lua", "Lua", || tree_sitter_lua::LANGUAGE.into())
        .extensions(&["lua", "rockspec"])
        .interpreters(&["lua", "luajit"])
        .tags(include_str!("../../../queries/lua/tags.scm"))
        .highlights(&[tree_sitter_lua::HIGHLIGHTS_QUERY])
        .locals(&[tree_sitter_lua::LOCALS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("perl", "Perl", || ts_parser_perl::LANGUAGE.into())
        .extensions(&["pl", "pm", "t", "psgi"])
        .file_names(&["cpanfile", "Makefile.PL", "Build.PL"])
        .interpreters(&["perl"])
        .tags(include_str!("../../../queries/perl/tags.scm"))
        .highlights(&[ts_parser_perl::HIGHLIGHTS_QUERY])
        .blank_text(workarounds::blank_heredocs)
        // The scanner does not notice that the source ends inside of a here document.
        .needs_final_newline(),
    #[cfg(feature = "lang-more")]
    Language::new("powershell", "PowerShell", || tree_sitter_powershell::LANGUAGE.into())
        .extensions(&["ps1", "psm1", "psd1"])
        .aliases(&["pwsh", "posh"])
        .interpreters(&["pwsh", "powershell"])
        .tags(include_str!("../../../queries/powershell/tags.scm"))
        .highlights(&[tree_sitter_powershell::HIGHLIGHTS_QUERY]),
    Language::new("python", "Python", || tree_sitter_python::LANGUAGE.into())
        .extensions(&["py", "pyi", "pyw"])
        .file_names(&["SConstruct", "SConscript"])
        .aliases(&["python3", "py3"])
        .interpreters(&["python", "pypy"])
        .tags(include_str!("../../../queries/python/tags.scm"))
        .highlights(&[tree_sitter_python::HIGHLIGHTS_QUERY]),
    Language::new("ruby", "Ruby", || tree_sitter_ruby::LANGUAGE.into())
        .extensions(&["rb", "rake", "gemspec", "ru"])
        .file_names(&["Rakefile", "Gemfile", "Guardfile", "Vagrantfile"])
        .interpreters(&["ruby"])
        .tags(include_str!("../../../queries/ruby/tags.scm"))
        .highlights(&[tree_sitter_ruby::HIGHLIGHTS_QUERY])
        .locals(&[tree_sitter_ruby::LOCALS_QUERY])
        .skip_if(workarounds::many_heredocs),
];

/// Compiled languages near the machine.
static SYSTEMS: &[Language] = &[
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
    Language::new("zig", "Zig", || tree_sitter_zig::LANGUAGE.into())
        .extensions(&["zig", "zon"])
        .tags(include_str!("../../../queries/zig/tags.scm"))
        .highlights(&[tree_sitter_zig::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("ada", "Ada", || tree_sitter_ada::LANGUAGE.into())
        .extensions(&["adb", "ads", "ada"])
        .tags(include_str!("../../../queries/ada/tags.scm"))
        .highlights(&[tree_sitter_ada::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("asm", "Assembly", || tree_sitter_asm::LANGUAGE.into())
        .extensions(&["s", "asm"])
        .aliases(&["assembly", "nasm", "gas"])
        .tags(include_str!("../../../queries/asm/tags.scm"))
        .highlights(&[tree_sitter_asm::HIGHLIGHTS_QUERY])
        .unreliable_errors(),
    #[cfg(feature = "lang-more")]
    Language::new("d", "D", || tree_sitter_d::LANGUAGE.into())
        .extensions(&["d", "di"])
        .aliases(&["dlang"])
        .interpreters(&["rdmd"])
        .tags(include_str!("../../../queries/d/tags.scm"))
        .ascii_only(),
    #[cfg(feature = "lang-more")]
    Language::new("fortran", "Fortran", || tree_sitter_fortran::LANGUAGE.into())
        .extensions(&["f90", "f95", "f03", "f08", "f", "for"])
        .tags(include_str!("../../../queries/fortran/tags.scm"))
        .highlights(&[tree_sitter_fortran::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("odin", "Odin", || tree_sitter_odin::LANGUAGE.into())
        .extensions(&["odin"])
        .tags(include_str!("../../../queries/odin/tags.scm"))
        .highlights(&[tree_sitter_odin::HIGHLIGHTS_QUERY])
        .ascii_only(),
    #[cfg(feature = "lang-more")]
    Language::new("pascal", "Pascal", || tree_sitter_pascal::LANGUAGE.into())
        .extensions(&["pas", "dpr", "lpr", "dpk"])
        .aliases(&["delphi"])
        .tags(include_str!("../../../queries/pascal/tags.scm"))
        .highlights(&[include_str!("../../../queries/pascal/highlights.scm")]),
];

/// JavaScript, TypeScript and TSX share a query; `$specific` is the rest.
macro_rules! ecmascript_tags {
    ($specific:literal) => {
        concat!(include_str!("../../../queries/ecmascript/tags.scm"), include_str!($specific))
    };
}

const JAVASCRIPT: &str = tree_sitter_javascript::HIGHLIGHT_QUERY;
const JSX: &str = tree_sitter_javascript::JSX_HIGHLIGHT_QUERY;
const TYPESCRIPT: &str = tree_sitter_typescript::HIGHLIGHTS_QUERY;

static WEB: &[Language] = &[
    Language::new("javascript", "JavaScript", || tree_sitter_javascript::LANGUAGE.into())
        .extensions(&["js", "mjs", "cjs", "jsx"])
        .aliases(&["node"])
        .interpreters(&["node"])
        .tags(ecmascript_tags!("../../../queries/javascript/tags.scm"))
        .highlights(&[JAVASCRIPT, JSX])
        .locals(&[tree_sitter_javascript::LOCALS_QUERY]),
    Language::new("tsx", "TSX", || tree_sitter_typescript::LANGUAGE_TSX.into())
        .extensions(&["tsx"])
        .tags(ecmascript_tags!("../../../queries/typescript/tags.scm"))
        .highlights(&[JAVASCRIPT, TYPESCRIPT, JSX])
        .locals(&[tree_sitter_typescript::LOCALS_QUERY]),
    Language::new("typescript", "TypeScript", || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into())
        .extensions(&["ts", "mts", "cts"])
        .interpreters(&["deno", "ts-node", "tsx"])
        .tags(ecmascript_tags!("../../../queries/typescript/tags.scm"))
        .highlights(&[JAVASCRIPT, TYPESCRIPT])
        .locals(&[tree_sitter_typescript::LOCALS_QUERY]),
];
