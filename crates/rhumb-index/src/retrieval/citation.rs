//! Citations: the code locations that an answer names, and whether they exist.
//!
//! Models write `src/a.rs:12`, `src/a.rs:12-20` or `src/a.rs#L12-L20`, with or without backticks, and sometimes with the separators of
//! another operating system. URLs, times and ports look similar and are excluded. The caller supplies the list of files and their
//! numbers of lines.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};

/// A code location that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// Its byte range in the text, without backticks.
    pub bytes: Range<usize>,
    /// The file as written, with `/` and without a leading `./`.
    pub path: String,
    /// The first line, 1-based.
    pub first: u32,
    /// The last line, inclusive.
    pub last: u32,
}

impl Citation {
    /// Whether another citation names the same lines of the same file.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.first, self.last) == (&other.path, other.first, other.last)
    }

    /// The citation in the form `path:first-last`.
    pub fn name(&self) -> String {
        let Self { path, first, last, .. } = self;
        if first == last { format!("{path}:{first}") } else { format!("{path}:{first}-{last}") }
    }
}

/// The target of a citation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CitationTarget {
    /// Lines of this file, or of several files with the same end of their path.
    Lines(Vec<String>),
    /// These files; the number of lines of one of them is unknown.
    Uncounted(Vec<String>),
    /// Lines beyond the end of this file, which has this number of lines.
    Beyond(String, u32),
    /// A file that does not exist.
    NoFile,
}

impl CitationTarget {
    /// Whether the file or the lines do not exist.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Beyond(..) | Self::NoFile)
    }
}

/// The lines after a path: `:12`, `:12-20`, `:12:5` (with a column), `#L12-L20`, `#L12C5`.
const LINES: &str = r"((?::L?(\d+)(?:[-–]L?(\d+))?|#L(\d+)(?:C\d+)?(?:[-–]L?(\d+)(?:C\d+)?)?)(?::\d+)?)";

/// A location within backticks; the path may contain any character.
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("`([^`\\s][^`\n]*?){LINES}`")).ok());
/// A location without backticks.
static BARE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"([\p{{L}}\p{{N}}_.@+~/\\-]+){LINES}")).ok());
/// A URL.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s`<>]+").ok());

/// The citations in a text, in order and without overlaps.
pub fn citations(text: &str) -> Vec<Citation> {
    let addresses: Vec<Range<usize>> =
        ADDRESS.iter().flat_map(|address| address.find_iter(text)).map(|found| found.range()).collect();
    let mut found: Vec<Citation> = Vec::new();
    for captures in QUOTED.iter().chain(BARE.iter()).flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(citation) = citation(text, &captures) else { continue };
        let touches = |other: &Range<usize>| other.start < citation.bytes.end && citation.bytes.start < other.end;
        if !addresses.iter().any(touches) && !found.iter().any(|other| touches(&other.bytes)) {
            found.push(citation);
        }
    }
    found.sort_by_key(|citation| citation.bytes.start);
    found
}

fn citation(text: &str, captures: &Captures<'_>) -> Option<Citation> {
    let path = captures.get(1)?;
    let end = captures.get(2)?.end();
    let (first, last) = match captures.get(3) {
        Some(first) => (first, captures.get(4)),
        None => (captures.get(5)?, captures.get(6)),
    };
    // `a.rs:12abc` and `v1.2:3.4` are not citations.
    let mut behind = text.get(end..)?.chars();
    let next = behind.next();
    let goes_on = next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        || (next == Some('.') && behind.next().is_some_and(|c| c.is_ascii_digit()));
    let written = clean(path.as_str());
    if goes_on || !may_be_a_path(&written) {
        return None;
    }
    // A number out of range exceeds the length of any file.
    let number = |digits: &str| digits.parse::<u32>().unwrap_or(u32::MAX);
    let first = number(first.as_str());
    let last = last.map_or(first, |last| number(last.as_str()));
    Some(Citation { bytes: path.start()..end, path: written, first: first.min(last), last: first.max(last) })
}

/// The path with `/`, without a leading `./`.
fn clean(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    path.trim_start_matches("./").to_owned()
}

/// Whether a text may be a path: its last component has a letter.
fn may_be_a_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with("//") && !name.starts_with("..") && name.chars().any(char::is_alphabetic)
}

/// The files of a repository by the ends of their paths.
#[derive(Debug, Clone, Default)]
pub struct FileNames {
    paths: Arc<Vec<String>>,
    by_name: HashMap<String, Vec<usize>>,
    extensions: HashSet<String>,
}

/// Maximum number of files for a citation.
const MAX_FILES: usize = 8;

impl FileNames {
    /// For a list of files, with paths relative to the root and `/`.
    pub fn new(paths: &Arc<Vec<String>>) -> Self {
        let mut names = Self { paths: Arc::clone(paths), ..Self::default() };
        for (at, path) in paths.iter().enumerate() {
            let name = path.rsplit('/').next().unwrap_or(path);
            names.by_name.entry(name.to_owned()).or_default().push(at);
            names.extensions.extend(extension(name).map(str::to_owned));
        }
        names
    }

    /// Whether it was created for this list.
    pub fn is_of(&self, paths: &Arc<Vec<String>>) -> bool {
        Arc::ptr_eq(&self.paths, paths)
    }

    /// The files that a citation may refer to: the one with this path, else those whose path ends with it.
    pub fn files(&self, cited: &str) -> Vec<&str> {
        let name = cited.rsplit('/').next().unwrap_or(cited);
        let same = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let same: Vec<&str> = same.iter().filter_map(|at| self.paths.get(*at)).map(String::as_str).collect();
        if let Some(exact) = same.iter().find(|path| **path == cited) {
            return vec![exact];
        }
        let mut files: Vec<&str> = same.iter().copied().filter(|path| ends_with(path, cited)).collect();
        if files.is_empty() && is_absolute(cited) {
            // An absolute path: the file with the longest relative path at its end.
            let longest = same.into_iter().filter(|path| ends_with(cited, path)).max_by_key(|path| path.len());
            files = longest.into_iter().collect();
        }
        files.truncate(MAX_FILES);
        files
    }

    /// Whether it is a citation at all. If no file matches, it must at least have the form of a file name.
    pub fn is_citation(&self, citation: &Citation) -> bool {
        let name = citation.path.rsplit('/').next().unwrap_or_default();
        let is_file_like =
            extension(name).is_some_and(|extension| citation.path.contains('/') || self.extensions.contains(extension));
        is_file_like || !self.files(&citation.path).is_empty()
    }

    /// The target of a citation. `lines` returns the number of lines of a file, if known.
    pub fn aim(&self, citation: &Citation, lines: impl Fn(&str) -> Option<u32>) -> CitationTarget {
        let files = self.files(&citation.path);
        let mut known = Vec::new();
        let mut beyond = None;
        for &file in &files {
            match lines(file) {
                None => return CitationTarget::Uncounted(files.iter().map(|file| (*file).to_owned()).collect()),
                Some(count) if citation.first >= 1 && citation.last <= count => known.push(file.to_owned()),
                Some(count) => beyond = Some((file.to_owned(), count)),
            }
        }
        match (known.is_empty(), beyond) {
            (false, _) => CitationTarget::Lines(known),
            (true, Some((file, count))) => CitationTarget::Beyond(file, count),
            (true, None) => CitationTarget::NoFile,
        }
    }
}

/// The extension of a file name, if it contains a letter.
fn extension(name: &str) -> Option<&str> {
    let (_, extension) = name.rsplit_once('.')?;
    extension.chars().any(char::is_alphabetic).then_some(extension)
}

/// Whether a path ends with the components of another.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.get(1..3) == Some(":/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(text: &str) -> Vec<String> {
        citations(text).iter().map(Citation::name).collect()
    }

    fn files(paths: &[&str]) -> FileNames {
        FileNames::new(&Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()))
    }

    #[test]
    fn citations_are_found_in_all_usual_forms() {
        let cases = [
            ("See src/a.rs:12.", "src/a.rs:12"),
            ("(`src/a.rs:12-20`)", "src/a.rs:12-20"),
            ("src/a.rs:12–20, and more", "src/a.rs:12-20"),
            ("./src/a.rs:12:5: error", "src/a.rs:12"),
            ("`./src/a.rs:12:5`", "src/a.rs:12"),
            ("src/a.rs#L10-L20", "src/a.rs:10-20"),
            ("[it](src/a.rs#L10)", "src/a.rs:10"),
            ("src/a.rs#L10C4-L12C9", "src/a.rs:10-12"),
            ("src\\tui\\a.rs:7", "src/tui/a.rs:7"),
            ("**Makefile:3**", "Makefile:3"),
            ("`app/[id]/my page.tsx:4`", "app/[id]/my page.tsx:4"),
            ("größe.rs:20-10", "größe.rs:10-20"),
            ("a.rs:99999999999999", "a.rs:4294967295"),
            ("a.rs:L5-L6", "a.rs:5-6"),
            ("`moor` and b.rs:12 or `x`", "b.rs:12"),
            ("`moor` and b.rs:12`x`", "b.rs:12"),
        ];
        for (text, expected) in cases {
            assert_eq!(named(text), [expected], "{text}");
        }
    }

    #[test]
    fn the_byte_range_excludes_backticks() {
        let text = "so: `src/a.rs:12-20`, b.rs#L3!";
        let found = citations(text);
        let cited: Vec<&str> = found.iter().map(|citation| &text[citation.bytes.clone()]).collect();
        assert_eq!(cited, ["src/a.rs:12-20", "b.rs#L3"]);
    }

    #[test]
    fn urls_times_and_ports_are_not_citations() {
        for text in [
            "at 12:30 or 12:30-13:00",
            "https://example.org/a.rs:12 and http://localhost:8080/x.rs:3",
            "ssh://git@host.example:22/a.rs#L3",
            "127.0.0.1:8080",
            "a ratio of 3/4:5",
            "a.rs:12abc and a.rs:1.5",
            "..:3 and ../..:4 and :12 and a.rs: 12",
            "std::vec:: and x::y",
        ] {
            assert_eq!(named(text), Vec::<String>::new(), "{text}");
        }
        let known = files(&["src/a.rs", "Makefile"]);
        let is_one = |text: &str| citations(text).iter().all(|citation| known.is_citation(citation));
        for text in ["localhost:8080", "example.com:443", "origin/main:12", "step:3", "docs/Makefil:3"] {
            assert!(!is_one(text), "{text}");
        }
        for text in ["Makefile:2", "b.rs:4", "lib/b.py:4", "a.rs:1"] {
            assert!(is_one(text), "{text}");
        }
    }

    #[test]
    fn a_citation_has_lines_or_is_broken() {
        let known = files(&["src/a.rs", "src/b/mod.rs", "src/c/mod.rs"]);
        let lines = |path: &str| (path != "src/c/mod.rs").then_some(10);
        let aim = |text: &str| known.aim(&citations(text)[0], lines);
        let to = |path: &str| CitationTarget::Lines(vec![path.to_owned()]);
        assert_eq!(aim("src/a.rs:10"), to("src/a.rs"));
        assert_eq!(aim("a.rs:1-10"), to("src/a.rs"), "the end of a path");
        assert_eq!(aim("b/mod.rs:3"), to("src/b/mod.rs"));
        assert_eq!(aim("/home/mira/ship/src/a.rs:3"), to("src/a.rs"));
        assert_eq!(aim("C:\\ship\\src\\a.rs:3"), to("src/a.rs"));
        assert_eq!(aim("a.rs:11"), CitationTarget::Beyond("src/a.rs".into(), 10));
        assert_eq!(aim("a.rs:5-11"), CitationTarget::Beyond("src/a.rs".into(), 10));
        assert_eq!(aim("a.rs:0"), CitationTarget::Beyond("src/a.rs".into(), 10));
        assert_eq!(aim("lib/a.rs:1"), CitationTarget::NoFile, "another folder is another file");
        assert_eq!(aim("sa.rs:1"), CitationTarget::NoFile);
        assert_eq!(aim("c/mod.rs:1"), CitationTarget::Uncounted(vec!["src/c/mod.rs".into()]));
        assert_eq!(aim("mod.rs:1"), CitationTarget::Uncounted(vec!["src/b/mod.rs".into(), "src/c/mod.rs".into()]));
        let all = known.aim(&citations("mod.rs:1")[0], |_| Some(3));
        assert_eq!(all, CitationTarget::Lines(vec!["src/b/mod.rs".into(), "src/c/mod.rs".into()]));
    }

    fn path() -> impl Strategy<Value = String> {
        proptest::string::string_regex("([a-z_][a-z0-9_-]{0,6}/){0,3}[a-z][a-z0-9_-]{0,6}\\.(rs|py|ts)").unwrap()
    }

    proptest! {
        #[test]
        fn citations_in_any_text_are_ordered_and_disjoint(text in any::<String>()) {
            let found = citations(&text);
            prop_assert!(found.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start));
            for citation in &found {
                prop_assert!(text.get(citation.bytes.clone()).is_some() && citation.first <= citation.last);
                files(&["a.rs"]).aim(citation, |_| Some(1));
            }
        }

        #[test]
        fn any_written_citation_is_found(
            path in path(), first in 1u32..5_000, more in 0u32..50, form in 0usize..6, before in "[ (*\n]", after in "[ ,)*\n]",
        ) {
            let last = first + more;
            let written = match form {
                0 => format!("{path}:{first}-{last}"),
                1 => format!("`{path}:{first}-{last}`"),
                2 => format!("{path}#L{first}-L{last}"),
                3 => format!("./{path}:{first}–{last}"),
                4 => format!("`{}:{first}-{last}`", path.replace('/', "\\")),
                _ => format!("{}#L{first}-{last}", path.replace('/', "\\")),
            };
            let found = citations(&format!("word{before}{written}{after}word 12:30"));
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!((found[0].path.as_str(), found[0].first, found[0].last), (path.as_str(), first, last));
            let names = files(&[&path, "zz/other.md"]);
            prop_assert!(names.aim(&found[0], |_| Some(last - 1)).is_broken());
            prop_assert_eq!(names.aim(&found[0], |_| Some(last)), CitationTarget::Lines(vec![path]));
        }
    }
}
