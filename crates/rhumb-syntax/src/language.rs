//! Languages: how a path, a Markdown fence or a `#!` line names one, and the compiled queries that each one keeps.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{LazyLock, OnceLock};

use tree_sitter::Query;
use tree_sitter_highlight::HighlightConfiguration;

use super::query::{self, TagQuery};
use super::registry::languages;
use super::tag::FileTags;
use super::{SyntaxError, shared};

/// A language that we parse. There is one value of it for each language, for the life of the program.
pub struct Language {
    /// Stable lower-case id, also the name of the folder in `queries/`: `rust`.
    pub id: &'static str,
    /// The name to show: `Rust`.
    pub name: &'static str,
    /// File extensions, lower case and without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names that mean this language: `Rakefile`.
    pub file_names: &'static [&'static str],
    /// Further names that people give it after a Markdown fence, lower case.
    pub aliases: &'static [&'static str],
    /// Programs that a `#!` line may name, without a version: `python`.
    pub interpreters: &'static [&'static str],
    /// The grammar, unless a reader of ours does with less.
    pub(super) grammar: Option<Grammar>,
    /// What finds the tags of a language that has no grammar.
    pub(super) reader: Option<Reader>,
    pub(super) tags_query: &'static str,
    /// Parts of the highlight query; where two patterns match a node the later one wins.
    pub(super) highlights: &'static [&'static str],
    pub(super) locals: &'static [&'static str],
    /// Whether the scanner of the grammar may see nothing but ASCII; see [`super::parse`].
    pub(super) ascii_only: bool,
    /// The source without what is only text to it: blanks in its place.
    pub(super) without_text: fn(&str) -> Cow<'_, str>,
    /// Whether a source would take the scanner of the grammar too long; see [`super::unfit`].
    pub(super) unfit: fn(&str) -> bool,
    /// Whether the grammar finds faults in sound code, so that its errors say nothing.
    pub(super) lenient: bool,
    /// Whether the scanner of the grammar must find a line end before the source ends; see [`super::parse`].
    pub(super) line_ended: bool,
}

/// Counts the changes of the code around the queries after which the same query gives other tags. Tags are kept between
/// runs: whoever changes what they say raises it.
const EXTRACTION: u32 = 3;

/// Where the tables of a parser come from.
pub(super) type Grammar = fn() -> tree_sitter::Language;

/// Finds the tags of a source without a parser.
pub(super) type Reader = fn(&str) -> FileTags;

/// The queries of each language, by its id.
static COMPILED: LazyLock<BTreeMap<&'static str, Compiled>> =
    LazyLock::new(|| languages().map(|language| (language.id, Compiled::default())).collect());

/// Languages by the names of files, for the many paths of a repository.
static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names::default();
    for language in languages() {
        names.files.extend(language.file_names.iter().map(|name| (*name, language)));
        names.extensions.extend(language.extensions.iter().map(|extension| (*extension, language)));
    }
    names
});

#[derive(Default)]
struct Names {
    files: HashMap<&'static str, &'static Language>,
    extensions: HashMap<&'static str, &'static Language>,
}

/// Queries of a language, compiled when first asked for.
#[derive(Default)]
struct Compiled {
    tags: OnceLock<Result<TagQuery, SyntaxError>>,
    whole_tags: OnceLock<Result<Query, SyntaxError>>,
    highlight: OnceLock<Result<HighlightConfiguration, SyntaxError>>,
}

impl Language {
    /// A language without a query, to be described by the methods that follow.
    pub(super) const fn new(id: &'static str, name: &'static str, grammar: Grammar) -> Self {
        Self { grammar: Some(grammar), ..Self::bare(id, name) }
    }

    /// A language that `reader` knows well enough, so that it needs no grammar.
    pub(super) const fn read_by(id: &'static str, name: &'static str, reader: Reader) -> Self {
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
            without_text: |source| Cow::Borrowed(source),
            unfit: |_| false,
            lenient: false,
            line_ended: false,
        }
    }

    pub(super) const fn extensions(mut self, extensions: &'static [&'static str]) -> Self {
        self.extensions = extensions;
        self
    }

    pub(super) const fn file_names(mut self, file_names: &'static [&'static str]) -> Self {
        self.file_names = file_names;
        self
    }

    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(super) const fn interpreters(mut self, interpreters: &'static [&'static str]) -> Self {
        self.interpreters = interpreters;
        self
    }

    /// The tags query; see [`super::query`] for its vocabulary.
    pub(super) const fn tags(mut self, tags_query: &'static str) -> Self {
        self.tags_query = tags_query;
        self
    }

    /// The parts of the highlight query. A language without any is coloured by the fallback.
    pub(super) const fn highlights(mut self, highlights: &'static [&'static str]) -> Self {
        self.highlights = highlights;
        self
    }

    pub(super) const fn locals(mut self, locals: &'static [&'static str]) -> Self {
        self.locals = locals;
        self
    }

    /// For a language whose files may hold more text than code: how to blank it before tags are looked for.
    pub(super) const fn without_text(mut self, blanked: fn(&str) -> Cow<'_, str>) -> Self {
        self.without_text = blanked;
        self
    }

    /// For a grammar whose scanner looks characters up in tables that end after ASCII.
    pub(super) const fn ascii_only(mut self) -> Self {
        self.ascii_only = true;
        self
    }

    /// For a grammar whose scanner is slow on sources of which `unfit` is true.
    pub(super) const fn unfit_if(mut self, unfit: fn(&str) -> bool) -> Self {
        self.unfit = unfit;
        self
    }

    /// For a grammar whose scanner looks for the end of a line beyond the end of the source.
    pub(super) const fn line_ended(mut self) -> Self {
        self.line_ended = true;
        self
    }

    /// For a grammar that finds faults in sound code: its tags are good, its errors say nothing.
    pub(super) const fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// All languages, family by family.
    pub fn all() -> impl Iterator<Item = &'static Self> + Clone {
        languages()
    }

    /// The language of a path, by file name or extension (of any case). Both `/` and `\` separate folders. A file name
    /// may have an ending of its own that says nothing: `Dockerfile.dev`.
    pub fn for_path(path: &str) -> Option<&'static Self> {
        let file = file_name(path);
        let by_extension = || {
            let extension = file.rsplit_once('.')?.1;
            NAMES.extensions.get(extension).or_else(|| NAMES.extensions.get(extension.to_ascii_lowercase().as_str()))
        };
        let by_stem = || NAMES.files.get(file.split_once('.').filter(|(stem, _)| !stem.is_empty())?.0);
        NAMES.files.get(file).or_else(by_extension).or_else(by_stem).copied()
    }

    /// The language of a path; of the text, where several share the extension; or, when the path says nothing, of the `#!` on
    /// the first line.
    pub fn detect(path: &str, source: &str) -> Option<&'static Self> {
        let told = shared::told_by_text(path, source);
        told.or_else(|| Self::for_path(path)).or_else(|| Self::for_shebang(source))
    }

    /// The language that a Markdown fence names: an id, an alias or an extension, of any case. Only the first word of
    /// an info string counts, so `rust,ignore` and `{.python}` are understood.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        let word = first_word(name)?.to_ascii_lowercase();
        let word = word.as_str();
        Self::all().find(|language| {
            language.id == word || language.aliases.contains(&word) || language.extensions.contains(&word)
        })
    }

    /// A number that changes when what its tags are changes with the tables: the tags query and the grammar.
    pub fn fingerprint(&self) -> u64 {
        let mut text = format!("{EXTRACTION}/{}/", self.id);
        text.push_str(self.tags_query);
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }

    /// Compiles both queries, or says what is wrong with them. Only tests and `rhumb doctor` need this: without it a
    /// language whose queries are broken merely has no tags or no colours.
    pub fn check(&'static self) -> Result<(), &'static SyntaxError> {
        if self.grammar.is_none() {
            return Ok(());
        }
        self.tag_query()?;
        self.highlight_configuration().map(|_| ())
    }

    /// Whether its own highlight query colours it, and not the fallback.
    pub(super) fn has_highlights(&self) -> bool {
        !self.highlights.is_empty()
    }

    /// The compiled tags query.
    pub(super) fn tag_query(&'static self) -> Result<&'static TagQuery, &'static SyntaxError> {
        self.compiled().tags.get_or_init(|| TagQuery::compile(self)).as_ref()
    }

    /// The tags query with all of its patterns, for the query engine alone.
    pub(super) fn whole_tag_query(&'static self) -> Result<&'static Query, &'static SyntaxError> {
        self.compiled().whole_tags.get_or_init(|| query::tag_query(self)).as_ref()
    }

    /// The compiled highlight query.
    pub(super) fn highlight_configuration(
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

/// The last component of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The first word of the info string of a Markdown fence, if it has one.
pub(super) fn first_word(info: &str) -> Option<&str> {
    let info = info.trim_start_matches(|c: char| c.is_whitespace() || c == '{' || c == '.');
    info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}')).next().filter(|word| !word.is_empty())
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
    fn a_path_names_its_language() {
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
    fn a_fence_names_its_language() {
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
    fn the_first_line_names_the_language_of_a_script() {
        let id = |source| Language::detect("bin/tool", source).map(|language| language.id);
        assert_eq!(id("#!/bin/bash -e\n"), Some("bash"));
        assert_eq!(id("#!/usr/bin/env -S python3.12\n"), Some("python"));
        assert_eq!(id("\u{feff}#!/usr/bin/env node"), Some("javascript"));
        assert_eq!(id("#!"), None);
        assert_eq!(id("echo"), None);
    }

    #[test]
    fn no_two_languages_claim_the_same_name() {
        let mut names = std::collections::BTreeMap::new();
        for language in Language::all() {
            let own =
                language.extensions.iter().chain(language.aliases).chain(language.file_names).chain([&language.id]);
            for name in own {
                let other = *names.entry(*name).or_insert(language.id);
                assert_eq!(other, language.id, "{name}");
            }
        }
    }
}
