//! Where a source does not parse: what tells that an edit broke it, and which one.

use std::ops::Range;

use super::language::Language;
use super::parse::{MAX_ERRORS, parse, walk_errors};
use super::python;

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

/// The syntax errors of `text`, the file `path` (which names the language, else its text does). `None` when nothing can be
/// said: there is no grammar, or one that finds faults in sound code, or the source is beyond what is parsed.
///
/// Of a long text the parts that the lines `near` (0-based, ascending) belong to are parsed alone: parsing 5,000 lines takes
/// longer than everything else that an edit needs.
pub fn errors(path: &str, text: &str, near: &[Range<usize>]) -> Option<SyntaxErrors> {
    let language = Language::detect(path, text)?;
    if text.len() <= SHORT {
        return errors_in(language, text);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut found = Vec::new();
    for part in parts(&lines, near) {
        let source = lines.get(part.clone()).unwrap_or_default().concat();
        if source.len() > LONG {
            continue;
        }
        let errors = errors_in(language, &source)?;
        found.extend(errors.lines.into_iter().map(|lines| lines.start + part.start..lines.end + part.start));
    }
    found.truncate(MAX_ERRORS);
    Some(SyntaxErrors { lines: found })
}

/// Of a part that is longer than this, in bytes, nothing is said: one function of a thousand lines is parsed for longer than
/// a person notices a mark on it.
const LONG: usize = 48 << 10;

/// Texts up to this many bytes are parsed whole in a few milliseconds.
const SHORT: usize = 32 << 10;

/// The items at the margin that the lines `near` belong to, with one more above and below; ascending and disjoint.
fn parts(lines: &[&str], near: &[Range<usize>]) -> Vec<Range<usize>> {
    let begins =
        |at: &usize| lines.get(*at).is_some_and(|line| line.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    let mut parts: Vec<Range<usize>> = Vec::new();
    for range in near {
        let from = |item: usize| decorated_from(lines, item, begins);
        let above = (0..range.start.min(lines.len())).rev().filter(begins).nth(1).map_or(0, from);
        let below = (range.end.max(range.start + 1)..lines.len()).filter(begins).nth(1).map_or(lines.len(), from);
        match parts.last_mut() {
            Some(last) if above <= last.end => last.end = below.max(last.end),
            _ => parts.push(above..below),
        }
    }
    parts
}

/// Like [`errors`], of all of a text in a language that is known.
pub(super) fn errors_in(language: &'static Language, text: &str) -> Option<SyntaxErrors> {
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
    if language.id == "python" {
        lines.extend(python::incomplete(tree.root_node()));
        lines.truncate(MAX_ERRORS);
    }
    lines.sort_unstable_by_key(|lines| (lines.start, lines.end));
    Some(SyntaxErrors { lines })
}

/// Where the decorators of the item begin that begins at a line; without any, that line. They belong to what comes after them, and
/// without it they are an error.
fn decorated_from(lines: &[&str], item: usize, begins: impl Fn(&usize) -> bool) -> usize {
    let close = |at: &usize| lines.get(*at).is_some_and(|line| !line.trim().is_empty()) && !begins(at);
    let decorates = |at: &usize| lines.get(*at).is_some_and(|line| line.starts_with('@'));
    (0..item).rev().take_while(close).filter(decorates).last().unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_lines() {
        assert_eq!(errors("a.rs", "fn f() {}\n", &[]), Some(SyntaxErrors::default()));
        let found = errors("a.py", "a = 1\nb = 2\ndef f(:\n    pass\n", &[]).unwrap();
        assert!(found.count() > 0);
        assert!(found.lines().iter().all(|lines| lines.contains(&2)), "{found:?}");
    }

    #[test]
    fn of_a_long_text_the_parts_in_question_are_parsed() {
        let sound: String = (0..3_000).map(|n| format!("def f{n}():\n    return {n}\n\n")).collect();
        let broken = sound.replace("return 1500\n", "return (1500\n").replace("return 9\n", "return (9\n");
        let near = |at: usize| errors("a.py", &broken, &[at..at + 1, at + 1..at + 2]).unwrap();
        assert!(near(4_501).lines().iter().any(|lines| lines.contains(&4_501)), "{:?}", near(4_501));
        assert_eq!(near(6_000), SyntaxErrors::default());
        assert_eq!(errors("a.py", &sound, &[0..1, 8_999..9_000]), Some(SyntaxErrors::default()));
        assert_eq!(errors("a.py", &sound, &[9_100..9_100, 9_200..9_201]), Some(SyntaxErrors::default()));
    }

    #[test]
    fn a_part_does_not_end_between_a_decorator_and_what_it_decorates() {
        let item = |n: usize| format!("@decorate(\n    {n},\n)\n@again\ndef f{n}():\n    return {n}\n\n");
        let sound: String = (0..3_000).map(item).collect();
        for at in [10_000, 10_001, 10_004, 10_005, 10_006] {
            assert_eq!(errors("a.py", &sound, &[at..at + 1, at + 1..at + 2]), Some(SyntaxErrors::default()), "{at}");
        }
        let broken = sound.replace("return 1500\n", "return (1500\n");
        assert!(errors("a.py", &broken, &[10_504..10_505, 10_505..10_506]).unwrap().count() > 0);
    }

    #[test]
    fn a_header_of_python_without_its_body_is_an_error() {
        for (text, line) in [
            ("try:\n    a()\nexcept E as e:\nb()\n", 2),
            ("def f():\n    try:\n        a()\n    except E as e:\n    b()\n", 3),
            ("try:\n    a()\nb()\n", 0),
            ("def f():\n\ndef g():\n    return 1\n", 0),
            ("if a:\n    # nothing\nb()\n", 0),
            ("for a in b:\nelse:\n    c()\n", 0),
            ("class A:\n", 0),
            ("with a as b:\nc()\n", 0),
        ] {
            let found = errors("a.py", text, &[]).unwrap();
            assert!(found.lines().iter().any(|lines| lines.contains(&line)), "{text}: {found:?}");
        }
        for fine in [
            "if a: b()\nelse: c()\n",
            "class A: pass\n",
            "try:\n    a()\nfinally:\n    b()\n",
            "match a:\n    case 1:\n        b()\n    case _:\n        pass\n",
            "async def f(): ...\n",
            "while a:\n    \"\"\"text\"\"\"\n",
            "try:\n    a()\nexcept* E:\n    b()\n",
        ] {
            assert_eq!(errors("a.py", fine, &[]).map(|found| found.count()), Some(0), "{fine}");
        }
    }

    #[test]
    fn a_token_that_is_not_there_has_a_line() {
        let found = errors("a.c", "int a = 1;\nint b = 2\n", &[]).unwrap();
        assert_eq!((found.count(), &found.lines()[0]), (1, &(1..2)));
    }

    #[test]
    fn nothing_is_said_of_what_has_no_grammar_or_no_end() {
        assert_eq!(errors("a.txt", "(((", &[]), None);
        assert_eq!(errors("a.rs", &"(".repeat(10_000), &[]), None);
        assert_eq!(errors("noname", "#!/bin/bash\nif true; then\n", &[]).map(|found| found.count() > 0), Some(true));
    }
}
