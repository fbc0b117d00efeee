//! Where a source does not parse: what tells that an edit broke it, and which one.

use std::ops::Range;

use super::language::Language;
use super::parse::{MAX_ERRORS, parse, walk_errors};

/// The places of a source that do not parse: error nodes, and tokens that the parser had to invent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyntaxErrors {
    lines: Vec<Range<usize>>,
}

impl SyntaxErrors {
    /// How many there are, up to [`MAX_ERRORS`].
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// The lines of each (0-based, the end excluded; at least one line), by where they begin. An error within another
    /// is one of its own.
    pub fn lines(&self) -> &[Range<usize>] {
        &self.lines
    }
}

/// The syntax errors of `text`, the file `path` (which names the language, else its `#!` line does). `None` when nothing can
/// be said: there is no grammar, or one that finds faults in sound code, or the source is beyond what is parsed.
pub fn errors(path: &str, text: &str) -> Option<SyntaxErrors> {
    Language::detect(path, text).and_then(|language| errors_in(language, text))
}

/// How many places of `source` do not parse. Counts up to [`MAX_ERRORS`]; 0 when nothing can be said.
pub fn error_count(language: &'static Language, source: &str) -> usize {
    errors_in(language, source).map_or(0, |errors| errors.count())
}

/// Like [`errors`], in a language that is known.
fn errors_in(language: &'static Language, text: &str) -> Option<SyntaxErrors> {
    if language.lenient {
        return None;
    }
    let tree = parse(language, text)?;
    let mut lines = Vec::new();
    walk_errors(tree.root_node(), |node| {
        if node.is_error() || node.is_missing() {
            let (first, end) = (node.start_position().row, node.end_position());
            // A node that ends with a line end does not reach into the next line.
            let end = if end.column == 0 { end.row } else { end.row + 1 };
            lines.push(first..end.max(first + 1));
        }
        lines.len() < MAX_ERRORS
    });
    lines.sort_unstable_by_key(|lines| (lines.start, lines.end));
    Some(SyntaxErrors { lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_lines() {
        assert_eq!(errors("a.rs", "fn f() {}\n"), Some(SyntaxErrors::default()));
        let found = errors("a.py", "a = 1\nb = 2\ndef f(:\n    pass\n").unwrap();
        assert!(found.count() > 0);
        assert!(found.lines().iter().all(|lines| lines.contains(&2)), "{found:?}");
    }

    #[test]
    fn a_token_that_is_not_there_has_a_line() {
        let found = errors("a.c", "int a = 1;\nint b = 2\n").unwrap();
        assert_eq!((found.count(), &found.lines()[0]), (1, &(1..2)));
    }

    #[test]
    fn nothing_is_said_of_what_has_no_grammar_or_no_end() {
        assert_eq!(errors("a.txt", "((("), None);
        assert_eq!(errors("a.rs", &"(".repeat(100_000)), None);
        assert_eq!(errors("noname", "#!/bin/bash\nif true; then\n").map(|found| found.count() > 0), Some(true));
    }
}
