//! Approximate matching of names: which texts of a list match a query and in which order ([`FuzzyFilter`]), and which name
//! a misspelt one probably means ([`nearest`]).
//!
//! All lists use the same order. A text whose *name* equals the query comes first, then a text whose name starts with it,
//! both regardless of case; within these two groups the order of the list is kept (for example the rank in a repo map). All
//! other matches follow by the score of the fuzzy matcher (`nucleo-matcher`, the algorithm of fzf). [`NamePart`] says which
//! part of a text is its name.
//!
//! ```
//! use rhumb_text::fuzzy::{FuzzyFilter, NamePart};
//!
//! let paths = ["docs/attempts.md", "src/templating.py", "src/tem.py"];
//! let mut filter = FuzzyFilter::new("tem");
//! let mut found: Vec<_> = paths.iter().filter_map(|path| Some((filter.matched(path, NamePart::Path)?, *path))).collect();
//! found.sort();
//! assert_eq!(found.iter().map(|(_, path)| *path).collect::<Vec<_>>(), ["src/tem.py", "src/templating.py", "docs/attempts.md"]);
//! ```

use std::cmp::Reverse;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Minimum Jaro-Winkler similarity (1 is equal) of a name to its misspelling.
const MIN_SIMILARITY: f64 = 0.8;

/// Minimum length in bytes of a name for which a single typing mistake is accepted whatever the similarity.
const MIN_LENGTH_FOR_TYPO: usize = 3;

/// Which part of a text is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamePart {
    /// The first word, without a leading slash: the name of a command before its help text. A query of several words is
    /// compared with the whole text.
    #[default]
    FirstWord,
    /// The last component of a path, with or without its extension. A query with a slash is compared with the end or the
    /// start of the path.
    Path,
    /// The whole text, or the part after its last slash: `claude-3.5` of `anthropic/claude-3.5`.
    LastPart,
    /// The text before two spaces: the name of a symbol before its location.
    Symbol,
}

/// How the name of a text matches, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    /// The name equals the query.
    Exact,
    /// The name equals the query except for case, and the query has capitals.
    ExactIgnoringCase,
    /// The name starts with the query.
    Prefix,
    /// Neither; the letters of the query occur in the text in order.
    Fuzzy,
}

/// How a text matches. Smaller is better; texts with equal matches keep the order of their list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FuzzyMatch {
    /// How its name matches.
    pub name: NameMatch,
    /// The score of the fuzzy matcher; 0 unless `name` is [`NameMatch::Fuzzy`].
    score: Reverse<u32>,
}

/// A query to compare texts with. Its words are separated by spaces; all must match, regardless of case.
#[derive(Debug, Clone, Default)]
pub struct FuzzyFilter {
    query: String,
    lower: String,
    /// Whether a text whose name matches needs no score to be a match: the query is one word without operators and slashes.
    is_word: bool,
    pattern: Pattern,
    matcher: Matcher,
    chars: Vec<char>,
}

impl FuzzyFilter {
    /// A filter for a typed search. `^`, `$`, `'` and `!` are operators, as in fzf.
    pub fn new(query: &str) -> Self {
        Self::of(query, Pattern::parse(query, CaseMatching::Ignore, Normalization::Smart))
    }

    /// A filter without operators, for a name that is being typed.
    pub fn literal(query: &str) -> Self {
        let pattern = Pattern::new(query, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
        Self { is_word: pattern.atoms.len() == 1 && !query.contains('/'), ..Self::of(query, pattern) }
    }

    fn of(query: &str, pattern: Pattern) -> Self {
        let query = query.trim().to_owned();
        let lower = query.to_lowercase();
        Self {
            query,
            lower,
            is_word: false,
            pattern,
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            chars: Vec::new(),
        }
    }

    /// Whether the query is empty. An empty query matches every text.
    pub fn is_empty(&self) -> bool {
        self.pattern.atoms.is_empty()
    }

    /// How the name of a text matches. The rest of the text is ignored: [`NameMatch::Fuzzy`] only means that the name
    /// neither equals the query nor starts with it.
    pub fn name_match(&self, text: &str, part: NamePart) -> NameMatch {
        if self.query.is_empty() {
            return NameMatch::Fuzzy;
        }
        match part {
            NamePart::FirstWord => {
                let text = text.strip_prefix('/').unwrap_or(text);
                let has_words = self.query.contains(char::is_whitespace);
                self.compared(if has_words { text } else { text.split_whitespace().next().unwrap_or(text) })
            }
            NamePart::Symbol => self.compared(symbol_name(text)),
            NamePart::LastPart => self.compared(text).min(self.compared(file_name(text))),
            NamePart::Path => self.compared_with_path(text),
        }
    }

    fn compared_with_path(&self, path: &str) -> NameMatch {
        let path = path.trim_end_matches('/');
        if self.query.contains('/') {
            let query = self.query.trim_end_matches('/');
            // The query may name any tail of the path: `flask/app` matches `src/flask/app.py`.
            let starts = path.match_indices('/').map(|(at, _)| at + 1);
            let ends = std::iter::once(0).chain(starts).filter_map(|at| path.get(at..));
            return ends.map(|end| self.compared_with_file(query, end)).min().unwrap_or(NameMatch::Fuzzy);
        }
        self.compared_with_file(&self.query, file_name(path))
    }

    /// Compares with a file name, with and without its extension and the leading dot of a hidden file.
    fn compared_with_file(&self, query: &str, file: &str) -> NameMatch {
        let shown = file.strip_prefix('.').filter(|_| !query.starts_with('.')).unwrap_or(file);
        let stem = shown.rsplit_once('.').map_or(shown, |(stem, _)| stem);
        self.compared(shown).min(self.compared(stem))
    }

    fn compared(&self, name: &str) -> NameMatch {
        let query = self.query.trim_end_matches('/');
        let lower = self.lower.trim_end_matches('/');
        if name == query {
            return NameMatch::Exact;
        }
        match rest_after(name, lower) {
            Some("") if query == lower => NameMatch::Exact,
            Some("") => NameMatch::ExactIgnoringCase,
            Some(_) => NameMatch::Prefix,
            None => NameMatch::Fuzzy,
        }
    }

    /// How a text matches; `None` if it does not.
    pub fn matched(&mut self, text: &str, part: NamePart) -> Option<FuzzyMatch> {
        self.matched_with_name(text, part, self.name_match(text, part))
    }

    /// [`matched`](Self::matched) of a text whose name matches as `name` says.
    pub fn matched_with_name(&mut self, text: &str, part: NamePart, name: NameMatch) -> Option<FuzzyMatch> {
        if name != NameMatch::Fuzzy {
            let is_match = self.is_word || self.score(text).is_some();
            return is_match.then_some(FuzzyMatch { name, score: Reverse(0) });
        }
        let text_score = self.score(text)?;
        // Most queries for files and symbols mean the name, so its score is added to that of the whole text.
        let name_score = match part {
            NamePart::Path => self.score(file_name(text)).unwrap_or(0),
            NamePart::Symbol => self.score(symbol_name(text)).unwrap_or(0),
            NamePart::FirstWord | NamePart::LastPart => 0,
        };
        Some(FuzzyMatch { name, score: Reverse(text_score + name_score) })
    }

    /// The score of the fuzzy matcher, higher for a better match; `None` if the text does not match.
    pub fn score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(haystack(text, &mut self.chars), &mut self.matcher)
    }

    /// The matching characters of a text, as sorted positions counted in characters.
    pub fn positions(&mut self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        self.pattern.indices(haystack(text, &mut self.chars), &mut self.matcher, &mut found);
        let mut positions: Vec<usize> = found.into_iter().map(|at| at as usize).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

/// The last component of a path with `/` separators.
pub fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a symbol before its location.
fn symbol_name(text: &str) -> &str {
    text.split("  ").next().unwrap_or(text)
}

/// The rest of `name` after a prefix that equals `lower` regardless of case; `None` if there is no such prefix.
fn rest_after<'n>(name: &'n str, lower: &str) -> Option<&'n str> {
    if let Some(start) = name.get(..lower.len())
        && start.eq_ignore_ascii_case(lower)
    {
        return name.get(lower.len()..);
    }
    if name.is_ascii() && lower.is_ascii() {
        return None;
    }
    let mut wanted = lower.chars().peekable();
    for (at, c) in name.char_indices() {
        if wanted.peek().is_none() {
            return name.get(at..);
        }
        if !c.to_lowercase().all(|c| wanted.next() == Some(c)) {
            return None;
        }
    }
    wanted.peek().is_none().then_some("")
}

/// Of `names`, the one that `name` probably misspells, if any is similar enough: one typing mistake away (a letter added,
/// missing, replaced or transposed) or of a high Jaro-Winkler similarity. Ignores case, and treats `-` and `_` as equal.
///
/// ```
/// assert_eq!(rhumb_text::nearest("serach", ["search", "theme"].into_iter()), Some("search"));
/// assert_eq!(rhumb_text::nearest("zzz", ["search", "theme"].into_iter()), None);
/// ```
pub fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let name = plain(name);
    let rated = names.map(|other| (other, strsim::jaro_winkler(&name, &plain(other))));
    let (best, similarity) = rated.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let is_typo = name.len() >= MIN_LENGTH_FOR_TYPO && strsim::osa_distance(&name, &plain(best)) == 1;
    (similarity > MIN_SIMILARITY || is_typo).then_some(best)
}

/// The text in the form that the matcher reads: bytes if it is ASCII, else characters.
fn haystack<'a>(text: &'a str, chars: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() {
        return Utf32Str::Ascii(text.as_bytes());
    }
    chars.clear();
    chars.extend(text.chars());
    Utf32Str::Unicode(chars)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ordered<'t>(query: &str, name: NamePart, texts: &[&'t str]) -> Vec<&'t str> {
        let mut filter = FuzzyFilter::new(query);
        let mut found: Vec<(FuzzyMatch, &str)> =
            texts.iter().filter_map(|text| Some((filter.matched(text, name)?, *text))).collect();
        found.sort_by_key(|(matched, _)| *matched);
        found.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn exact_names_come_first_then_prefixes_in_list_order_then_scores() {
        let paths = [
            "docs/attempts.md",
            "src/templating.py",
            "examples/templates/base.html",
            "tests/test_templating.py",
            "src/tem.py",
            "tests/templates/x/template_filter.html",
        ];
        let found = ordered("tem", NamePart::Path, &paths);
        assert_eq!(found[..3], ["src/tem.py", "src/templating.py", "tests/templates/x/template_filter.html"]);
        assert_eq!(found.len(), paths.len());
    }

    #[test]
    fn case_is_ignored_but_the_typed_case_comes_first() {
        let paths = ["a/Config.py", ".github/config.yml", "src/config.py", "config_loader.py"];
        assert_eq!(ordered("config", NamePart::Path, &paths), paths, "lower case means any case");
        assert_eq!(ordered("CONFIG", NamePart::Path, &paths).len(), 4);
        let symbols = ["config  a.py:1", "Configure  a.py:9", "Config  b.py:2"];
        assert_eq!(
            ordered("Config", NamePart::Symbol, &symbols),
            ["Config  b.py:2", "config  a.py:1", "Configure  a.py:9"]
        );
        assert_eq!(FuzzyFilter::new("größe").name_match("GRÖSSE", NamePart::LastPart), NameMatch::Fuzzy);
        assert_eq!(FuzzyFilter::new("Ärger").name_match("ärgernis", NamePart::LastPart), NameMatch::Prefix);
        assert_eq!(FuzzyFilter::new("ärger").name_match("ÄRGER", NamePart::LastPart), NameMatch::Exact);
    }

    #[test]
    fn the_name_of_a_path_is_its_last_component_with_or_without_extension() {
        let how = |query: &str, path: &str| FuzzyFilter::literal(query).name_match(path, NamePart::Path);
        for query in ["app.py", "app", "flask/app", "src/flask/app.py", "k/app"] {
            let wanted = if query == "k/app" { NameMatch::Fuzzy } else { NameMatch::Exact };
            assert_eq!(how(query, "src/flask/app.py"), wanted, "{query}");
        }
        assert_eq!(how("src/fl", "src/flask/app.py"), NameMatch::Prefix);
        assert_eq!(how("gitignore", "crates/.gitignore"), NameMatch::Exact);
        assert_eq!(how(".gitignore", "crates/.gitignore"), NameMatch::Exact);
        assert_eq!(how("src", "src/"), NameMatch::Exact);
        assert_eq!(how("src/", "src/"), NameMatch::Exact);
        assert_eq!(how("flask", "src/flask/app.py"), NameMatch::Fuzzy, "a folder is not the name of its files");
    }

    #[test]
    fn a_name_can_be_a_word_or_a_part() {
        let how = |query: &str, text: &str, name| FuzzyFilter::new(query).name_match(text, name);
        assert_eq!(how("model", "/model [NAME]  ask another model", NamePart::FirstWord), NameMatch::Exact);
        assert_eq!(how("model", "/models list models", NamePart::FirstWord), NameMatch::Prefix);
        assert_eq!(how("split the", "split the parser", NamePart::FirstWord), NameMatch::Prefix);
        assert_eq!(how("gpt-4", "openai/gpt-4.1", NamePart::LastPart), NameMatch::Prefix);
        assert_eq!(how("openai/gpt", "openai/gpt-4.1", NamePart::LastPart), NameMatch::Prefix);
        assert_eq!(how("", "x", NamePart::Path), NameMatch::Fuzzy);
    }

    #[test]
    fn only_typed_searches_have_operators() {
        assert!(FuzzyFilter::new("^src").matched("a/src", NamePart::Path).is_none());
        assert!(FuzzyFilter::literal("$x").matched("a$x", NamePart::Path).is_some());
        assert_eq!(FuzzyFilter::new("havn").positions("Århus — østhavn"), [11, 12, 13, 14]);
    }

    #[test]
    fn a_typing_mistake_is_near_and_another_word_is_not() {
        let names = ["map_tokens", "search", "theme", "map"];
        let meant = |name: &str| nearest(name, names.into_iter());
        assert_eq!(
            (meant("serach"), meant("Map-Token"), meant("theem"), meant("mop")),
            (Some("search"), Some("map_tokens"), Some("theme"), Some("map"))
        );
        assert_eq!(["notes.txt", "zzz", ""].map(meant), [None; 3]);
        assert_eq!(nearest("map", std::iter::empty()), None);
    }

    proptest! {
        /// A word that a name begins with is not scored: it matches anyway.
        #[test]
        fn a_name_that_begins_with_a_word_matches(
            query in "[a-cA-C_.é-]{1,3}",
            text in "([a-cA-C_.é/-]{0,4}/)?[a-cA-C_.é-]{0,5}",
        ) {
            let mut filter = FuzzyFilter::literal(&query);
            for part in [NamePart::FirstWord, NamePart::Path, NamePart::LastPart, NamePart::Symbol] {
                if filter.name_match(&text, part) != NameMatch::Fuzzy {
                    prop_assert!(filter.score(&text).is_some(), "{query} in {text}");
                }
            }
        }
    }
}
