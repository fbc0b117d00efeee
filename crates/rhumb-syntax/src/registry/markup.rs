//! Documents, data and style: what has sections and keys more than functions.

use super::super::language::Language;
use super::super::{reader, unfit};

pub(super) static LANGUAGES: &[Language] = &[
    Language::new("css", "CSS", || tree_sitter_css::LANGUAGE.into())
        .extensions(&["css"])
        .tags(include_str!("../../../../queries/css/tags.scm"))
        .unfit_if(unfit::many_combinators)
        .highlights(&[tree_sitter_css::HIGHLIGHTS_QUERY]),
    Language::new("html", "HTML", || tree_sitter_html::LANGUAGE.into())
        .extensions(&["html", "htm", "xhtml"])
        .tags(include_str!("../../../../queries/html/tags.scm"))
        .unfit_if(unfit::tangled_markup),
    Language::read_by("ini", "INI", reader::ini)
        .extensions(&["ini", "cfg", "conf", "service", "desktop"])
        .file_names(&[".editorconfig", ".gitconfig", ".gitmodules", ".npmrc", ".flake8", ".pylintrc"])
        .aliases(&["dosini", "gitconfig"]),
    Language::read_by("less", "Less", reader::style).extensions(&["less"]),
    Language::new("json", "JSON", || tree_sitter_json::LANGUAGE.into())
        .extensions(&["json", "jsonc", "json5", "webmanifest", "geojson"])
        .file_names(&[".babelrc", ".eslintrc", ".prettierrc"])
        .tags(include_str!("../../../../queries/json/tags.scm"))
        .highlights(&[tree_sitter_json::HIGHLIGHTS_QUERY]),
    Language::read_by("markdown", "Markdown", reader::markdown).extensions(&["md", "markdown", "mdown", "mdx"]),
    Language::read_by("properties", "Properties", reader::ini)
        .extensions(&["properties"])
        .file_names(&[".env"])
        .aliases(&["dotenv"]),
    Language::read_by("scss", "SCSS", reader::style).extensions(&["scss"]),
    #[cfg(feature = "lang-more")]
    Language::new("svelte", "Svelte", || tree_sitter_svelte_ng::LANGUAGE.into())
        .extensions(&["svelte"])
        .tags(include_str!("../../../../queries/svelte/tags.scm"))
        .unfit_if(unfit::tangled_markup),
    Language::new("toml", "TOML", || tree_sitter_toml_ng::LANGUAGE.into())
        .extensions(&["toml"])
        .file_names(&["Cargo.lock", "Pipfile", "poetry.lock"])
        .tags(include_str!("../../../../queries/toml/tags.scm"))
        .highlights(&[tree_sitter_toml_ng::HIGHLIGHTS_QUERY]),
    Language::new("vue", "Vue", || tree_sitter_html::LANGUAGE.into())
        .extensions(&["vue"])
        .tags(include_str!("../../../../queries/vue/tags.scm"))
        .unfit_if(unfit::tangled_markup),
    Language::read_by("yaml", "YAML", reader::yaml)
        .extensions(&["yaml", "yml"])
        .file_names(&[".clang-format", ".clang-tidy"]),
];
