//! Build files, infrastructure and interface definitions.

use super::super::language::Language;
use super::super::unfit;

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("cmake", "CMake", || tree_sitter_cmake::LANGUAGE.into())
        .extensions(&["cmake"])
        .file_names(&["CMakeLists.txt"])
        .tags(include_str!("../../../../queries/cmake/tags.scm"))
        .highlights(&[tree_sitter_make::HIGHLIGHTS_QUERY])
        .highlights(&[tree_sitter_cmake::HIGHLIGHTS_QUERY])
        .unfit_if(unfit::long_blank),
    Language::new("dockerfile", "Dockerfile", || tree_sitter_containerfile::LANGUAGE.into())
        .extensions(&["dockerfile", "containerfile"])
        .file_names(&["Dockerfile", "Containerfile"])
        .aliases(&["docker"])
        .tags(include_str!("../../../../queries/dockerfile/tags.scm"))
        .highlights(&[tree_sitter_containerfile::HIGHLIGHTS_QUERY])
        .unfit_if(unfit::many_heredocs),
    #[cfg(feature = "lang-more")]
    Language::new("graphql", "GraphQL", || tree_sitter_graphql::LANGUAGE.into())
        .extensions(&["graphql", "gql", "graphqls"])
        .tags(include_str!("../../../../queries/graphql/tags.scm")),
    Language::new("hcl", "HCL", || tree_sitter_hcl::LANGUAGE.into())
        .extensions(&["tf", "hcl", "tfvars", "nomad"])
        .aliases(&["terraform"])
        .tags(include_str!("../../../../queries/hcl/tags.scm")),
    Language::new("make", "Make", || tree_sitter_make::LANGUAGE.into())
        .extensions(&["mk", "mak", "make"])
        .file_names(&["Makefile", "makefile", "GNUmakefile"])
        .aliases(&["makefile"])
        .tags(include_str!("../../../../queries/make/tags.scm"))
        .highlights(&[tree_sitter_make::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("nix", "Nix", || tree_sitter_nix::LANGUAGE.into())
        .extensions(&["nix"])
        .tags(include_str!("../../../../queries/nix/tags.scm"))
        .highlights(&[tree_sitter_nix::HIGHLIGHTS_QUERY])
        .unfit_if(unfit::long_path_or_many_signs),
    Language::new("proto", "Protobuf", || tree_sitter_proto::LANGUAGE.into())
        .extensions(&["proto"])
        .aliases(&["protobuf"])
        .tags(include_str!("../../../../queries/proto/tags.scm")),
    Language::new("sql", "SQL", || tree_sitter_sequel::LANGUAGE.into())
        .extensions(&["sql", "ddl", "psql"])
        .aliases(&["postgresql", "mysql", "sqlite"])
        .tags(include_str!("../../../../queries/sql/tags.scm"))
        .highlights(&[tree_sitter_sequel::HIGHLIGHTS_QUERY]),
    #[cfg(feature = "lang-more")]
    Language::new("starlark", "Starlark", || tree_sitter_starlark::LANGUAGE.into())
        .extensions(&["bzl", "star", "bazel"])
        .file_names(&["BUILD", "WORKSPACE", "Tiltfile", "BUCK"])
        .aliases(&["skylark"])
        .tags(include_str!("../../../../queries/starlark/tags.scm"))
        .highlights(&[tree_sitter_starlark::HIGHLIGHTS_QUERY]),
];
