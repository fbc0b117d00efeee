//! The current files of a repository, each read, parsed and cut at most once per question.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rhumb_syntax::{FileTags, Language, tags};

use super::chunk::{ChunkDefinition, CodeChunk, CutPoints, chunks};
use super::search::Hit;

/// The location of a definition or of lines. It can be found again after the file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLocation {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// The name of the definition; `None` for lines outside of all definitions.
    pub symbol: Option<String>,
    /// Name of the innermost enclosing definition.
    pub container: Option<String>,
}

impl From<&Hit> for CodeLocation {
    fn from(hit: &Hit) -> Self {
        Self {
            path: Arc::clone(&hit.path),
            line: hit.line,
            end_line: hit.end_line,
            symbol: hit.symbol.clone(),
            container: hit.container.clone(),
        }
    }
}

/// The files of a repository, read at the first access.
pub struct SourceFiles<'t> {
    read: &'t dyn Fn(&str) -> Option<Arc<str>>,
    known: RefCell<BTreeMap<String, Option<Rc<SourceFile>>>>,
}

impl std::fmt::Debug for SourceFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SourceFiles({} read)", self.known.borrow().len())
    }
}

impl<'t> SourceFiles<'t> {
    /// `read` returns the text at a path; `None` if it does not exist or may not be read.
    pub fn new(read: &'t dyn Fn(&str) -> Option<Arc<str>>) -> Self {
        Self { read, known: RefCell::default() }
    }

    /// The file at a path.
    pub fn file(&self, path: &str) -> Option<Rc<SourceFile>> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let file = (self.read)(path).map(|text| Rc::new(SourceFile::new(path, text)));
        self.known.borrow_mut().insert(path.to_owned(), file.clone());
        file
    }

    /// Number of files that were read or tried.
    pub fn read(&self) -> usize {
        self.known.borrow().len()
    }
}

/// A text with its tags and chunks.
#[derive(Debug)]
pub struct SourceFile {
    text: Arc<str>,
    language: Option<&'static Language>,
    tags: FileTags,
    /// The byte range of each line without its terminator.
    lines: Vec<(usize, usize)>,
    chunks: OnceCell<Vec<CodeChunk>>,
    cut_points: OnceCell<CutPoints>,
}

impl SourceFile {
    /// Parses the definitions and references of a text.
    pub fn new(path: &str, text: Arc<str>) -> Self {
        let language = Language::detect(path, &text);
        let tags = language.map(|language| tags(language, &text)).unwrap_or_default();
        let mut start = 0;
        let line = |whole: &str| {
            let from = start;
            start += whole.len();
            let body = whole.strip_suffix('\n').map_or(whole, |body| body.strip_suffix('\r').unwrap_or(body));
            (from, from + body.len())
        };
        let lines = text.split_inclusive('\n').map(line).collect();
        Self { text, language, tags, lines, chunks: OnceCell::new(), cut_points: OnceCell::new() }
    }

    /// Its definitions and references.
    pub fn tags(&self) -> &FileTags {
        &self.tags
    }

    /// Number of lines.
    pub fn len(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// A line by its 1-based number, without terminator; empty if it does not exist.
    pub fn line(&self, number: u32) -> &str {
        let bounds = (number as usize).checked_sub(1).and_then(|at| self.lines.get(at));
        bounds.and_then(|&(start, end)| self.text.get(start..end)).unwrap_or_default()
    }

    /// The chunks, sorted by first line.
    pub fn chunks(&self) -> &[CodeChunk] {
        let outline = || self.tags.definitions.iter().map(ChunkDefinition::from);
        self.chunks.get_or_init(|| chunks(&self.text, outline(), self.language))
    }

    pub(crate) fn cut_points(&self) -> &CutPoints {
        let lines = || self.text.lines().collect::<Vec<_>>();
        self.cut_points.get_or_init(|| CutPoints::new(&self.text, &lines(), self.language))
    }

    /// The chunk at a location: that of its definition, wherever it is now, else the one on its lines.
    pub fn chunk_at(&self, location: &CodeLocation) -> Option<&CodeChunk> {
        let named = |chunk: &&CodeChunk| location.symbol.is_some() && chunk.symbol == location.symbol;
        let inside = |chunk: &&CodeChunk| chunk.container == location.container;
        let nearest = |chunk: &&CodeChunk| {
            let overlap = chunk.overlap(location.line, location.end_line);
            (std::cmp::Reverse(overlap), chunk.line.abs_diff(location.line), chunk.line)
        };
        let chunks = || self.chunks().iter();
        let same = || chunks().filter(named);
        let on_lines = || chunks().filter(|chunk| chunk.overlap(location.line, location.end_line) > 0);
        same().filter(inside).min_by_key(nearest).or_else(|| same().min_by_key(nearest)).or_else(|| {
            let outside = |chunk: &&CodeChunk| location.symbol.is_some() || chunk.symbol.is_none();
            on_lines().filter(outside).min_by_key(nearest).or_else(|| on_lines().min_by_key(nearest))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "struct A;\r\n\nimpl A {\n    fn go(&self) {\n    }\n}\n\nimpl B {\n    fn go(&self) {\n        1;\n    }\n}\nend";

    fn location(symbol: &str, container: &str, line: u32) -> CodeLocation {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        CodeLocation { path: "a.rs".into(), line, end_line: line, symbol: named(symbol), container: named(container) }
    }

    #[test]
    fn lines_equal_those_of_the_text() {
        let file = SourceFile::new("a.rs", TEXT.into());
        let lines: Vec<&str> = (1..=file.len()).map(|number| file.line(number)).collect();
        assert_eq!(lines, TEXT.lines().collect::<Vec<_>>());
        assert_eq!((file.line(0), file.line(99)), ("", ""));
    }

    #[test]
    fn a_moved_definition_is_found() {
        let file = SourceFile::new("a.rs", TEXT.into());
        let found = |location: CodeLocation| file.chunk_at(&location).map(|chunk| (chunk.line, chunk.end_line));
        assert_eq!(found(location("go", "A", 10)), Some((3, 5)));
        assert_eq!(found(location("go", "B", 1)), Some((8, 11)));
        assert_eq!(found(location("go", "gone", 9)), Some((8, 11)));
        assert_eq!(found(location("gone", "", 4)), Some((3, 5)));
        assert_eq!(found(location("", "", 13)), Some((13, 13)));
        assert_eq!(found(location("gone", "", 99)), None);
    }

    #[test]
    fn a_file_is_read_once() {
        let times = std::cell::Cell::new(0);
        let read = |path: &str| {
            times.set(times.get() + 1);
            (path == "a.rs").then(|| TEXT.into())
        };
        let sources = SourceFiles::new(&read);
        assert!(sources.file("a.rs").is_some() && sources.file("a.rs").is_some());
        assert!(sources.file("b.rs").is_none() && sources.file("b.rs").is_none());
        assert_eq!((times.get(), sources.read()), (2, 2));
    }
}
