//! Languages: detection by path, Markdown fence or `#!` line, and the compiled queries of each language.

use crate::SyntaxError;
use crate::query::{self, TagQuery};
use crate::registry::languages;
use crate::tags::FileTags;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{LazyLock, OnceLock};
use tree_sitter::Query;
use tree_sitter_highlight::HighlightConfiguration;

/// A supported language. There is one static value per language.
pub struct Language {
    /// Stable lower-case id, also the name of its folder in `queries/`: `rust`.
    pub id: &'static str,
    /// The display name: `Rust`.
    pub name: &'static str,
    /// File extensions, in lower case and without the dot.
    pub extensions: &'static [&'static str],
    /// Complete file names of this language: `Rakefile`.
    pub file_names: &'static [&'static str],
    /// Other names in Markdown fences, in lower case.
    pub aliases: &'static [&'static str],
    /// Interpreters in `#!` lines, without a version: `python`.
    pub interpreters: &'static [&'static str],
    /// The tree-sitter grammar, unless a [`Reader`] suffices.
    pub(crate) grammar: Option<Grammar>,
    /// Finds the tags of a language without a grammar.
    pub(crate) reader: Option<Reader>,
    pub(crate) tags_query: &'static str,
    /// The parts of the highlight query. Where two patterns match a node, the later one wins.
    pub(crate) highlights: &'static [&'static str],
    pub(crate) locals: &'static [&'static str],
    /// Whether the scanner of the grammar accepts only ASCII; see [`crate::parse`].
    pub(crate) ascii_only: bool,
    /// Replaces embedded text of a source by spaces, before tags are searched.
    pub(crate) blank_text: fn(&str) -> Cow<'_, str>,
    /// Whether the scanner of the grammar is too slow for a source, so that it is skipped.
    pub(crate) skips: fn(&str) -> bool,
    /// Whether the grammar reports errors in correct code, so that its errors are ignored.
    pub(crate) unreliable_errors: bool,
    /// Whether the scanner of the grammar needs a line feed at the end of the source; see [`crate::parse`].
    pub(crate) needs_final_newline: bool,
}

/// Version of the code that extracts tags. Cached tags are valid for one version: increment it after every change that gives
/// different tags for the same query.
const EXTRACTION_VERSION: u32 = 3;

/// Returns the parse tables of a grammar.
pub(crate) type Grammar = fn() -> tree_sitter::Language;

/// Finds the tags of a source without a grammar.
pub(crate) type Reader = fn(&str) -> FileTags;

/// The compiled queries of each language, by id.
static COMPILED: LazyLock<BTreeMap<&'static str, Compiled>> =
    LazyLock::new(|| languages().map(|language| (language.id, Compiled::default())).collect());

/// Index from file names and extensions to languages.
static LANGUAGES_BY_NAME: LazyLock<LanguagesByName> = LazyLock::new(|| {
    let mut names = LanguagesByName::default();
    for language in languages() {
        names.files.extend(language.file_names.iter().map(|name| (*name, language)));
        names.extensions.extend(language.extensions.iter().map(|extension| (*extension, language)));
    }
    names
});

#[derive(Default)]
struct LanguagesByName {
    files: HashMap<&'static str, &'static Language>,
    extensions: HashMap<&'static str, &'static Language>,
}

/// The queries of a language, compiled at the first use.
#[derive(Default)]
struct Compiled {
    tags: OnceLock<Result<TagQuery, SyntaxError>>,
    whole_tags: OnceLock<Result<Query, SyntaxError>>,
    highlight: OnceLock<Result<HighlightConfiguration, SyntaxError>>,
}

impl Language {
    /// A language with a grammar. The builder methods below add the rest.
    pub(crate) const fn new(id: &'static str, name: &'static str, grammar: Grammar) -> Self {
        Self { grammar: Some(grammar), ..Self::bare(id, name) }
    }

    /// A language whose tags `reader` finds without a grammar.
    pub(crate) const fn with_reader(id: &'static str, name: &'static str, reader: Reader) -> Self {
        Self { reader: Some(reader), ..Self::bare(id, name) }
    }

    const fn bare(id: &'static str, name: &'static str) -> Self {
        Self {
            id,
            name,
            extensions: &[],
            file_names: &[],
            aliases: &[],
            interpreters: &[],
            grammar: None,
            reader: None,
            tags_query: "",
            highlights: &[],
            locals: &[],
            ascii_only: false,
            blank_text: |source| Cow::Borrowed(source),
            skips: |_| false,
            unreliable_errors: false,
            needs_final_newline: false,
        }
    }

    pub(crate) const fn extensions(mut self, extensions: &'static [&'static str]) -> Self {
        self.extensions = extensions;
        self
    }

    pub(crate) const fn file_names(mut self, file_names: &'static [&'static str]) -> Self {
        self.file_names = file_names;
        self
    }

    pub(crate) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(crate) const fn interpreters(mut self, interpreters: &'static [&'static str]) -> Self {
        self.interpreters = interpreters;
        self
    }

    /// Sets the tags query; see [`crate::query`] for its captures.
    pub(crate) const fn tags(mut self, tags_query: &'static str) -> Self {
        self.tags_query = tags_query;
        self
    }

    /// Sets the parts of the highlight query. Without any, the language is highlighted by TextMate rules.
    pub(crate) const fn highlights(mut self, highlights: &'static [&'static str]) -> Self {
        self.highlights = highlights;
        self
    }

    pub(crate) const fn locals(mut self, locals: &'static [&'static str]) -> Self {
        self.locals = locals;
        self
    }

    /// For a language whose files can contain more text than code: blanks the text before tags are searched.
    pub(crate) const fn blank_text(mut self, blanked: fn(&str) -> Cow<'_, str>) -> Self {
        self.blank_text = blanked;
        self
    }

    /// For a grammar whose scanner indexes tables that end after ASCII.
    pub(crate) const fn ascii_only(mut self) -> Self {
        self.ascii_only = true;
        self
    }

    /// For a grammar whose scanner is too slow for the sources for which `is_slow` is true.
    pub(crate) const fn skip_if(mut self, is_slow: fn(&str) -> bool) -> Self {
        self.skips = is_slow;
        self
    }

    /// For a grammar whose scanner searches for a line feed beyond the end of the source.
    pub(crate) const fn needs_final_newline(mut self) -> Self {
        self.needs_final_newline = true;
        self
    }

    /// For a grammar that reports errors in correct code. Its tags are correct.
    pub(crate) const fn unreliable_errors(mut self) -> Self {
        self.unreliable_errors = true;
        self
    }

    /// All languages, grouped by family.
    pub fn all() -> impl Iterator<Item = &'static Self> + Clone {
        languages()
    }

    /// The language of a path, by file name or extension, regardless of case. Both `/` and `\` separate folders. A known file
    /// name may have a further ending: `Dockerfile.dev`.
    pub fn for_path(path: &str) -> Option<&'static Self> {
        let file = file_name(path);
        let by_extension = || {
            let extension = file.rsplit_once('.')?.1;
            let extensions = &LANGUAGES_BY_NAME.extensions;
            extensions.get(extension).or_else(|| extensions.get(extension.to_ascii_lowercase().as_str()))
        };
        let by_stem = || LANGUAGES_BY_NAME.files.get(file.split_once('.').filter(|(stem, _)| !stem.is_empty())?.0);
        LANGUAGES_BY_NAME.files.get(file).or_else(by_extension).or_else(by_stem).copied()
    }

    /// The language of a file: by its text if several languages share the extension, else by its path, else by the `#!` line of
    /// the text.
    pub fn detect(path: &str, source: &str) -> Option<&'static Self> {
        let by_text = ambiguous_extension(path, source);
        by_text.or_else(|| Self::for_path(path)).or_else(|| Self::for_shebang(source))
    }

    /// The language that a Markdown fence names by id, alias or extension, regardless of case. Only the first word of the info
    /// string counts, so `rust,ignore` and `{.python}` are understood.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        let word = first_word(name)?.to_ascii_lowercase();
        let word = word.as_str();
        Self::all().find(|language| {
            language.id == word || language.aliases.contains(&word) || language.extensions.contains(&word)
        })
    }

    /// A hash that changes whenever the tags of a source can change: with the tags query and the extraction code.
    pub fn fingerprint(&self) -> u64 {
        let mut text = format!("{EXTRACTION_VERSION}/{}/", self.id);
        text.push_str(self.tags_query);
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }

    /// Compiles both queries. Without this check, a language with a broken query has no tags or no colours; only tests and
    /// `rhumb doctor` need the error.
    pub fn check(&'static self) -> Result<(), &'static SyntaxError> {
        if self.grammar.is_none() {
            return Ok(());
        }
        self.tag_query()?;
        self.highlight_configuration().map(|_| ())
    }

    /// Whether the language has a highlight query. Otherwise TextMate rules are used.
    pub(crate) fn has_highlights(&self) -> bool {
        !self.highlights.is_empty()
    }

    pub(crate) fn tag_query(&'static self) -> Result<&'static TagQuery, &'static SyntaxError> {
        self.compiled().tags.get_or_init(|| TagQuery::compile(self)).as_ref()
    }

    /// The tags query with all of its patterns, for tree-sitter's engine.
    pub(crate) fn whole_tag_query(&'static self) -> Result<&'static Query, &'static SyntaxError> {
        self.compiled().whole_tags.get_or_init(|| query::compile_tags_query(self)).as_ref()
    }

    pub(crate) fn highlight_configuration(
        &'static self,
    ) -> Result<&'static HighlightConfiguration, &'static SyntaxError> {
        self.compiled().highlight.get_or_init(|| query::highlight_configuration(self)).as_ref()
    }

    fn compiled(&self) -> &'static Compiled {
        &COMPILED[self.id]
    }

    fn for_shebang(source: &str) -> Option<&'static Self> {
        let line = source.trim_start_matches('\u{feff}').lines().next()?.strip_prefix("#!")?;
        let mut words = line.split_whitespace();
        let mut program = file_name(words.next()?);
        if program == "env" {
            program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        }
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Self::all().find(|language| language.interpreters.contains(&program))
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Language({})", self.id)
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Language {}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The first word of the info string of a Markdown fence, if any.
pub(crate) fn first_word(info: &str) -> Option<&str> {
    let info = info.trim_start_matches(|c: char| c.is_whitespace() || c == '{' || c == '.');
    info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}')).next().filter(|word| !word.is_empty())
}

/// Number of bytes that are searched for the language. Distinguishing features are near the start.
const DETECTION_BYTES: usize = 16 << 10;

/// The language of a file whose extension is shared by several languages, decided by its text.
fn ambiguous_extension(path: &str, text: &str) -> Option<&'static Language> {
    let extension = file_name(path).rsplit_once('.')?.1;
    let head = text.get(..text.floor_char_boundary(DETECTION_BYTES))?;
    let id = match extension {
        "h" | "H" if is_objective_c(head) => "objc",
        "h" | "H" if is_cpp(head) => "cpp",
        "m" if is_matlab(head) => "matlab",
        _ => return None,
    };
    Language::all().find(|language| language.id == id)
}

/// Whether a line starts with a keyword that C lacks, or uses the `std` namespace.
fn is_cpp(text: &str) -> bool {
    const STARTS: [&str; 10] = [
        "constexpr ", "namespace ", "private:", "protected:", "public:", "template <", "template<", "typename ",
        "using namespace ", "virtual ",
    ];
    text.lines().map(str::trim).any(|line| {
        let class =
            line.strip_prefix("class ").is_some_and(|rest| rest.ends_with(['{', ';', ':']) || !rest.contains(' '));
        let comment = line.starts_with(['*', '/']);
        class || STARTS.iter().any(|start| line.starts_with(start)) || (!comment && line.contains("std::"))
    })
}

fn is_objective_c(text: &str) -> bool {
    const STARTS: [&str; 4] = ["#import ", "@class ", "@interface ", "@protocol "];
    text.lines().any(|line| STARTS.iter().any(|start| line.starts_with(start)))
}

/// Whether the first line is a MATLAB comment, function or class. None of these can start an Objective-C file.
fn is_matlab(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    first.starts_with('%') || ["function ", "classdef "].iter().any(|start| first.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> Option<&'static str> {
        Language::for_path(path).map(|language| language.id)
    }

    #[test]
    fn every_query_compiles() {
        for language in Language::all() {
            if let Err(error) = language.check() {
                panic!("{error}");
            }
        }
    }

    #[test]
    fn a_path_has_a_language() {
        assert_eq!(path("src/main.rs"), Some("rust"));
        assert_eq!(path("A.PY"), Some("python"));
        assert_eq!(path("web\\app.tsx"), Some("tsx"));
        assert_eq!(path("lib.d.ts"), Some("typescript"));
        assert_eq!(path("x/Rakefile"), Some("ruby"));
        assert_eq!(path("a.h"), Some("c"));
        assert_eq!(path("Rakefile.local"), Some("ruby"));
        assert_eq!(path(".rs"), Some("rust"));
        assert_eq!(path("rs"), None);
        assert_eq!(path(""), None);
        assert_eq!(path("a/"), None);
    }

    #[test]
    fn a_fence_has_a_language() {
        let id = |name| Language::by_name(name).map(|language| language.id);
        assert_eq!(id("py"), Some("python"));
        assert_eq!(id("Rust,ignore"), Some("rust"));
        assert_eq!(id("{.js}"), Some("javascript"));
        assert_eq!(id("c++ title=x"), Some("cpp"));
        assert_eq!(id("sh"), Some("bash"));
        assert_eq!(id("  "), None);
        assert_eq!(id("klingon"), None);
    }

    #[test]
    fn a_shebang_has_a_language() {
        let id = |source| Language::detect("bin/tool", source).map(|language| language.id);
        assert_eq!(id("#!/bin/bash -e\n"), Some("bash"));
        assert_eq!(id("#!/usr/bin/env -S python3.12\n"), Some("python"));
        assert_eq!(id("\u{feff}#!/usr/bin/env node"), Some("javascript"));
        assert_eq!(id("#!"), None);
        assert_eq!(id("echo"), None);
    }

    #[test]
    fn names_of_languages_are_unique() {
        let mut names = std::collections::BTreeMap::new();
        for language in Language::all() {
            let names_of = language.extensions.iter().chain(language.aliases).chain(language.file_names);
            for name in names_of.chain([&language.id]) {
                let other = *names.entry(*name).or_insert(language.id);
                assert_eq!(other, language.id, "{name}");
            }
        }
    }

    #[test]
    fn the_text_decides_the_language_of_a_header() {
        let of = |path: &str, text: &str| Language::detect(path, text).map(|language| language.id);
        assert_eq!(of("a.h", "#ifndef A\n/* class of service */\nint open_gate(int how);\n"), Some("c"));
        assert_eq!(of("a.h", "namespace a {\nclass Gate;\n}\n"), Some("cpp"));
        assert_eq!(of("a.h", "  class Gate : public Door {\n"), Some("cpp"));
        assert_eq!(of("a.h", "std::string name();\n"), Some("cpp"));
        assert_eq!(of("a.h", " * std::string in a comment\nint a;\n"), Some("c"));
        assert_eq!(of("a.c", "namespace a {"), Some("c"));
    }

    #[cfg(feature = "lang-more")]
    #[test]
    fn the_text_tells_objective_c_from_matlab() {
        let of = |path: &str, text: &str| Language::detect(path, text).map(|language| language.id);
        assert_eq!(of("a.h", "#import <Foundation/Foundation.h>\n@interface Gate\n@end\n"), Some("objc"));
        assert_eq!(of("a.m", "#import \"a.h\"\n"), Some("objc"));
        assert_eq!(of("a.m", "\n% Opens the gate.\nfunction gate()\n"), Some("matlab"));
    }
}
