//! Fuzzy filtering of lists: which texts match a query, and in which order they are listed.
//!
//! The rule for the order is the same wherever something is picked or completed. A text whose *name* equals the query comes first,
//! then a text whose name begins with it, both in any case; among these the order of the list decides, such as the rank of the repo
//! map. All other matches follow by the score of the fuzzy matcher. The name of a path is its last part, see [`Name`].

use std::cmp::Reverse;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Which part of a text is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Name {
    /// The first word, without a slash before it: the name of a command that its help follows. A query of several words is compared
    /// with the whole text.
    #[default]
    FirstWord,
    /// The last part of a path, with or without its extension. A query with a slash is compared with the end or the beginning of
    /// the path.
    Path,
    /// The text, or its last part behind a slash: `claude-3.5` of `anthropic/claude-3.5`.
    LastPart,
    /// What precedes two blanks: the name of a symbol that its place follows.
    Symbol,
}

/// How the name of a text matches; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    /// It equals the query.
    Exact,
    /// It equals the query but for the case, where the query has capitals.
    ExactIgnoringCase,
    /// It begins with the query.
    Prefix,
    /// It does neither; the letters of the query occur in the text.
    Fuzzy,
}

/// How a text matches. The smallest comes first in a list; texts with equal matches keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FuzzyMatch {
    /// How its name matches.
    pub name: NameMatch,
    /// The score of the fuzzy matcher; 0 where the name decides.
    score: Reverse<u32>,
}

/// A query that texts are compared with. Words are separated by spaces and must all match, in any case.
#[derive(Debug, Clone, Default)]
pub struct FuzzyFilter {
    query: String,
    lower: String,
    pattern: Pattern,
    matcher: Matcher,
    chars: Vec<char>,
}

impl FuzzyFilter {
    /// A filter in which `^`, `$`, `'` and `!` are operators, for queries that are typed to search a list.
    pub fn new(query: &str) -> Self {
        Self::of(query, Pattern::parse(query, CaseMatching::Ignore, Normalization::Smart))
    }

    /// A filter without operators, for a name that is being typed.
    pub fn literal(query: &str) -> Self {
        Self::of(query, Pattern::new(query, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy))
    }

    fn of(query: &str, pattern: Pattern) -> Self {
        let query = query.trim().to_owned();
        let lower = query.to_lowercase();
        Self { query, lower, pattern, matcher: Matcher::new(Config::DEFAULT.match_paths()), chars: Vec::new() }
    }

    /// Whether the query is empty, so that every text matches.
    pub fn is_empty(&self) -> bool {
        self.pattern.atoms.is_empty()
    }

    /// How the name of a text matches, without a look at the rest of the text: [`NameMatch::Fuzzy`] says only that the name neither
    /// equals the query nor begins with it.
    pub fn name_match(&self, text: &str, name: Name) -> NameMatch {
        if self.query.is_empty() {
            return NameMatch::Fuzzy;
        }
        match name {
            Name::FirstWord => {
                let text = text.strip_prefix('/').unwrap_or(text);
                let has_words = self.query.contains(char::is_whitespace);
                self.compared(if has_words { text } else { text.split_whitespace().next().unwrap_or(text) })
            }
            Name::Symbol => self.compared(symbol_name(text)),
            Name::LastPart => self.compared(text).min(self.compared(file_name(text))),
            Name::Path => self.compared_with_path(text),
        }
    }

    fn compared_with_path(&self, path: &str) -> NameMatch {
        let path = path.trim_end_matches('/');
        if self.query.contains('/') {
            let query = self.query.trim_end_matches('/');
            // Every end of the path that begins a part may be meant: `flask/app` of `src/flask/app.py`.
            let starts = path.match_indices('/').map(|(at, _)| at + 1);
            let ends = std::iter::once(0).chain(starts).filter_map(|at| path.get(at..));
            return ends.map(|end| self.compared_with_file(query, end)).min().unwrap_or(NameMatch::Fuzzy);
        }
        self.compared_with_file(&self.query, file_name(path))
    }

    /// Compares with a file name, with and without its extension and the dot of a hidden file.
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
    pub fn matched(&mut self, text: &str, name: Name) -> Option<FuzzyMatch> {
        let whole = self.score(text)?;
        // Files and symbols are mostly meant by their names: the score of the name counts besides the score of the whole text.
        let own = match name {
            Name::Path => self.score(file_name(text)).unwrap_or(0),
            Name::Symbol => self.score(symbol_name(text)).unwrap_or(0),
            Name::FirstWord | Name::LastPart => 0,
        };
        let score = whole + own;
        Some(match self.name_match(text, name) {
            NameMatch::Fuzzy => FuzzyMatch { name: NameMatch::Fuzzy, score: Reverse(score) },
            name => FuzzyMatch { name, score: Reverse(0) },
        })
    }

    /// The score of the fuzzy matcher, higher for a better match; `None` if the text does not match.
    pub fn score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(haystack(text, &mut self.chars), &mut self.matcher)
    }

    /// The characters of a text that match, as sorted positions counted in characters.
    pub fn positions(&mut self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        self.pattern.indices(haystack(text, &mut self.chars), &mut self.matcher, &mut found);
        let mut positions: Vec<usize> = found.into_iter().map(|at| at as usize).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a symbol that its place follows.
fn symbol_name(text: &str) -> &str {
    text.split("  ").next().unwrap_or(text)
}

/// What follows the beginning of a name that equals `lower` in any case; `None` if the name begins otherwise.
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

/// The text as the matcher reads it: bytes if it is ASCII, else characters.
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
    use super::*;

    fn ordered<'t>(query: &str, name: Name, texts: &[&'t str]) -> Vec<&'t str> {
        let mut filter = FuzzyFilter::new(query);
        let mut found: Vec<(FuzzyMatch, &str)> =
            texts.iter().filter_map(|text| Some((filter.matched(text, name)?, *text))).collect();
        found.sort_by_key(|(matched, _)| *matched);
        found.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn exact_names_come_first_then_prefixes_in_the_order_of_the_list_then_scores() {
        let paths = [
            "docs/attempts.md",
            "src/templating.py",
            "examples/templates/base.html",
            "tests/test_templating.py",
            "src/tem.py",
            "tests/templates/x/template_filter.html",
        ];
        let found = ordered("tem", Name::Path, &paths);
        assert_eq!(found[..3], ["src/tem.py", "src/templating.py", "tests/templates/x/template_filter.html"]);
        assert_eq!(found.len(), paths.len());
    }

    #[test]
    fn a_name_is_compared_in_any_case_and_the_right_case_comes_first() {
        let paths = ["a/Config.py", ".github/config.yml", "src/config.py", "config_loader.py"];
        assert_eq!(ordered("config", Name::Path, &paths), paths, "lower case means any case");
        assert_eq!(ordered("CONFIG", Name::Path, &paths).len(), 4);
        let symbols = ["config  a.py:1", "Configure  a.py:9", "Config  b.py:2"];
        assert_eq!(
            ordered("Config", Name::Symbol, &symbols),
            ["Config  b.py:2", "config  a.py:1", "Configure  a.py:9"]
        );
        assert_eq!(FuzzyFilter::new("größe").name_match("GRÖSSE", Name::LastPart), NameMatch::Fuzzy);
        assert_eq!(FuzzyFilter::new("Ärger").name_match("ärgernis", Name::LastPart), NameMatch::Prefix);
        assert_eq!(FuzzyFilter::new("ärger").name_match("ÄRGER", Name::LastPart), NameMatch::Exact);
    }

    #[test]
    fn the_name_of_a_path_is_its_last_part_with_or_without_extension() {
        let how = |query: &str, path: &str| FuzzyFilter::literal(query).name_match(path, Name::Path);
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
    fn other_names_are_words_and_parts() {
        let how = |query: &str, text: &str, name| FuzzyFilter::new(query).name_match(text, name);
        assert_eq!(how("model", "/model [NAME]  ask another model", Name::FirstWord), NameMatch::Exact);
        assert_eq!(how("model", "/models list models", Name::FirstWord), NameMatch::Prefix);
        assert_eq!(how("split the", "split the parser", Name::FirstWord), NameMatch::Prefix);
        assert_eq!(how("gpt-4", "openai/gpt-4.1", Name::LastPart), NameMatch::Prefix);
        assert_eq!(how("openai/gpt", "openai/gpt-4.1", Name::LastPart), NameMatch::Prefix);
        assert_eq!(how("", "x", Name::Path), NameMatch::Fuzzy);
    }

    #[test]
    fn operators_are_read_in_queries_and_not_in_names() {
        assert!(FuzzyFilter::new("^src").matched("a/src", Name::Path).is_none());
        assert!(FuzzyFilter::literal("$x").matched("a$x", Name::Path).is_some());
        assert_eq!(FuzzyFilter::new("havn").positions("Århus — østhavn"), [11, 12, 13, 14]);
    }
}
