//! Syntax errors that a write would bring into a file: the same judgement as the flag on a hunk, made of the text that would
//! be written. Accepting one hunk of two can break a file that parses with both or with neither.

use std::ops::Range;

use super::{broken, new_errors};
use rhumb_syntax::SyntaxErrors;
use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

/// A place where a text does not parse and the text before it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// The file, under the root.
    pub path: String,
    /// The line of the new text that does not parse, 0-based.
    pub line: usize,
    /// That line, without its end.
    pub text: String,
    /// The lines of the old text that the hunk replaces which brings the error in, 0-based.
    pub replaced: Range<usize>,
}

/// The hunks between `before` and `after` that break the syntax of a file. Empty if the file parses, if it has no more errors
/// than before, and if its language has no strict grammar.
pub fn syntax_faults(path: &str, before: Option<&str>, after: &str) -> Vec<SyntaxFault> {
    let base = before.unwrap_or_default();
    if before.is_some() && rhumb_syntax::is_generated(path, base) {
        return Vec::new();
    }
    let hunks = diff::hunks(base, after);
    let at_fault = broken(path, before, after, &hunks);
    if at_fault.is_empty() {
        return Vec::new();
    }
    let near = |side: fn(&Hunk) -> Range<usize>| hunks.iter().map(side).collect::<Vec<_>>();
    let errors = |text: &str, near: &[Range<usize>]| rhumb_syntax::errors(path, text, near).unwrap_or_default();
    let now = errors(after, &near(|hunk| hunk.proposed.clone()));
    let was = before.map_or_else(SyntaxErrors::default, |base| errors(base, &near(|hunk| hunk.base.clone())));
    let new = new_errors(&was, &now, &hunks);
    let lines = lines::split(after);
    let fault = |hunk: &Hunk| {
        // A parser often sees an open bracket only much later: then the hunk itself is the place to look at.
        let inside = new.iter().map(|error| error.start).find(|line| hunk.proposed.contains(line));
        let line = inside.unwrap_or(hunk.proposed.start).min(lines.len().saturating_sub(1));
        let text = lines.get(line).map(|line| lines::body(line).trim().to_owned()).unwrap_or_default();
        SyntaxFault { path: path.to_owned(), line, text, replaced: hunk.base.clone() }
    };
    at_fault.into_iter().filter_map(|at| hunks.get(at)).map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "def a():\n    return f(1)\n\n\ndef b():\n    return 2\n";

    #[test]
    fn the_hunk_and_the_line_that_break_a_file_are_named() {
        let broken = WHOLE.replace("f(1)", "f(1");
        let faults = syntax_faults("a.py", Some(WHOLE), &broken);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!((faults[0].line, faults[0].text.as_str(), faults[0].replaced.clone()), (1, "return f(1", 1..2));
    }

    #[test]
    fn a_file_that_parses_or_was_broken_before_has_no_fault() {
        assert!(syntax_faults("a.py", Some(WHOLE), &WHOLE.replace('2', "3")).is_empty());
        let broken = WHOLE.replace("f(1)", "f(1");
        assert!(syntax_faults("a.py", Some(&broken), &broken.replace('2', "3")).is_empty());
        assert!(syntax_faults("a.py", Some(&broken), WHOLE).is_empty());
        assert!(syntax_faults("notes.txt", Some("a (\n"), "b ((\n").is_empty());
    }

    #[test]
    fn a_new_file_that_does_not_parse_has_a_fault() {
        let faults = syntax_faults("new.py", None, "x = 1\ndef f(:\n    pass\n");
        assert_eq!(faults.iter().map(|fault| fault.path.as_str()).collect::<Vec<_>>(), ["new.py"]);
    }
}
