//! Languages of the JVM, .NET, phones and the like.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[Language::new("java", "Java", || tree_sitter_java::LANGUAGE.into())
    .extensions(&["java"])
    .tags(include_str!("../../../queries/java/tags.scm"))
    .highlights(&[tree_sitter_java::HIGHLIGHTS_QUERY])];
