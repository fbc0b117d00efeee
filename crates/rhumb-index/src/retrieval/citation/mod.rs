//! Citations: the places that an answer names, and whether they are there.
//!
//! Models write `src/a.rs:12`, `src/a.rs:12-20` or `src/a.rs#L12-L20`, between backticks or bare, and at times with the separators
//! of another system. What only looks like it (addresses, times, ports) is none. A citation is judged by the list of files
//! and by how many lines a file has; both are handed in.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};

/// A place that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// Where it stands in the text, in bytes, without the backticks.
    pub bytes: Range<usize>,
    /// The file as it is written, with `/` and without a leading `./`.
    pub path: String,
    /// Its first line, 1-based as far as whoever wrote it counts so.
    pub first: u32,
    /// Its last line, inclusive.
    pub last: u32,
}

impl Citation {
    /// Whether another one names the same lines of the same file.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.first, self.last) == (&other.path, other.first, other.last)
    }

    /// The same as it is usually written.
    pub fn name(&self) -> String {
        let Self { path, first, last, .. } = self;
        if first == last { format!("{path}:{first}") } else { format!("{path}:{first}-{last}") }
    }
}

/// Where a citation leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aim {
    /// To lines of that file; of several, where the path is the end of several.
    Lines(Vec<String>),
    /// To that file, whose lines nobody has counted.
    Uncounted(Vec<String>),
    /// Beyond the end of that file, which has so many lines.
    Beyond(String, u32),
    /// To a file that is not there.
    NoFile,
}

impl Aim {
    /// Whether it leads nowhere.
    pub fn is_nowhere(&self) -> bool {
        matches!(self, Self::Beyond(..) | Self::NoFile)
    }
}

/// The lines behind a path: `:12`, `:12-20`, `:12:5` (a column), `#L12-L20`, `#L12C5`.
const LINES: &str = r"((?::L?(\d+)(?:[-–]L?(\d+))?|#L(\d+)(?:C\d+)?(?:[-–]L?(\d+)(?:C\d+)?)?)(?::\d+)?)";

/// A place within backticks, where a path may have any character.
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("`([^`\\s][^`\n]*?){LINES}`")).ok());
/// A bare place.
static BARE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"([\p{{L}}\p{{N}}_.@+~/\\-]+){LINES}")).ok());
/// An address of the web.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s`<>]+").ok());

/// The places that a text names, in order. None of them overlap.
pub fn citations(text: &str) -> Vec<Citation> {
    let addresses: Vec<Range<usize>> =
        ADDRESS.iter().flat_map(|address| address.find_iter(text)).map(|found| found.range()).collect();
    let mut found: Vec<Citation> = Vec::new();
    for captures in QUOTED.iter().chain(BARE.iter()).flat_map(|place| place.captures_iter(text)) {
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
    // `a.rs:12abc` and `v1.2:3.4` name no line.
    let mut behind = text.get(end..)?.chars();
    let next = behind.next();
    let goes_on = next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        || (next == Some('.') && behind.next().is_some_and(|c| c.is_ascii_digit()));
    let written = clean(path.as_str());
    if goes_on || !may_be_a_path(&written) {
        return None;
    }
    // A number too long for a line is one that no file has.
    let number = |digits: &str| digits.parse::<u32>().unwrap_or(u32::MAX);
    let first = number(first.as_str());
    let last = last.map_or(first, |last| number(last.as_str()));
    Some(Citation { bytes: path.start()..end, path: written, first: first.min(last), last: first.max(last) })
}

/// A path with `/`, without what only says that it begins here.
fn clean(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    path.trim_start_matches("./").to_owned()
}

/// Whether it may be a path: its last part has a letter, and it is no more than separators around it.
fn may_be_a_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with("//") && !name.starts_with("..") && name.chars().any(char::is_alphabetic)
}

/// The files of a repository, to be found by the ends of their paths.
#[derive(Debug, Clone, Default)]
pub struct FileNames {
    paths: Arc<Vec<String>>,
    by_name: HashMap<String, Vec<usize>>,
    extensions: HashSet<String>,
}

/// Files that one citation may lead to: more of the same name say nothing.
const MOST_FILES: usize = 8;

impl FileNames {
    /// For a list of files, paths relative to the root with `/`.
    pub fn new(paths: &Arc<Vec<String>>) -> Self {
        let mut names = Self { paths: Arc::clone(paths), ..Self::default() };
        for (at, path) in paths.iter().enumerate() {
            let name = path.rsplit('/').next().unwrap_or(path);
            names.by_name.entry(name.to_owned()).or_default().push(at);
            names.extensions.extend(extension(name).map(str::to_owned));
        }
        names
    }

    /// Whether it is for that very list.
    pub fn is_of(&self, paths: &Arc<Vec<String>>) -> bool {
        Arc::ptr_eq(&self.paths, paths)
    }

    /// The files that a citation may mean: the one of that path, else those whose path ends so.
    pub fn files(&self, cited: &str) -> Vec<&str> {
        let name = cited.rsplit('/').next().unwrap_or(cited);
        let same = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let same: Vec<&str> = same.iter().filter_map(|at| self.paths.get(*at)).map(String::as_str).collect();
        if let Some(exact) = same.iter().find(|path| **path == cited) {
            return vec![exact];
        }
        let mut files: Vec<&str> = same.iter().copied().filter(|path| ends_with(path, cited)).collect();
        if files.is_empty() && is_absolute(cited) {
            // Whoever was shown where the repository lies names files from there on: the longest path counts.
            let longest = same.into_iter().filter(|path| ends_with(cited, path)).max_by_key(|path| path.len());
            files = longest.into_iter().collect();
        }
        files.truncate(MOST_FILES);
        files
    }

    /// Whether it is one at all: what leads to no file must at least be called like one.
    pub fn is_citation(&self, citation: &Citation) -> bool {
        let name = citation.path.rsplit('/').next().unwrap_or_default();
        let is_file_like =
            extension(name).is_some_and(|extension| citation.path.contains('/') || self.extensions.contains(extension));
        is_file_like || !self.files(&citation.path).is_empty()
    }

    /// Where it leads; `lines` says how many lines a file has, as far as that is known.
    pub fn aim(&self, citation: &Citation, lines: impl Fn(&str) -> Option<u32>) -> Aim {
        let files = self.files(&citation.path);
        let mut known = Vec::new();
        let mut beyond = None;
        for &file in &files {
            match lines(file) {
                None => return Aim::Uncounted(files.iter().map(|file| (*file).to_owned()).collect()),
                Some(count) if citation.first >= 1 && citation.last <= count => known.push(file.to_owned()),
                Some(count) => beyond = Some((file.to_owned(), count)),
            }
        }
        match (known.is_empty(), beyond) {
            (false, _) => Aim::Lines(known),
            (true, Some((file, count))) => Aim::Beyond(file, count),
            (true, None) => Aim::NoFile,
        }
    }
}

/// The ending of a file's name, if it is one: it has a letter and is not all of the name.
fn extension(name: &str) -> Option<&str> {
    let (_, extension) = name.rsplit_once('.')?;
    extension.chars().any(char::is_alphabetic).then_some(extension)
}

/// Whether a path ends in whole parts of another.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.get(1..3) == Some(":/")
}

#[cfg(test)]
mod tests;
