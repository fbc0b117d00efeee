//! Syntax errors of a source, to detect that an edit broke it.

use crate::language::Language;
use crate::parse::{MAX_ERRORS, parse, walk_errors};
use std::ops::Range;
use tree_sitter::Node;

/// The locations at which a source does not parse: error nodes, and tokens that the parser had to insert.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyntaxErrors {
    lines: Vec<Range<usize>>,
}

impl SyntaxErrors {
    /// The number of errors, at most [`MAX_ERRORS`].
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// The lines of each error, 0-based and half-open, sorted by start. Each has at least one line. An error inside another
    /// is listed separately.
    pub fn lines(&self) -> &[Range<usize>] {
        &self.lines
    }
}

/// The syntax errors of `text`. The language is that of `path`, or else that of the text. `None` if no statement is possible:
/// there is no grammar, its errors are unreliable, or the source exceeds the limits of parsing.
///
/// A long text is parsed only around the lines `near` (0-based, ascending): parsing 5,000 lines takes longer than all other
/// work for an edit.
pub fn errors(path: &str, text: &str, near: &[Range<usize>]) -> Option<SyntaxErrors> {
    let language = Language::detect(path, text)?;
    if text.len() <= MAX_WHOLE_BYTES {
        return errors_in(language, text);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut found = Vec::new();
    for part in parts(&lines, near) {
        let source = lines.get(part.clone()).unwrap_or_default().concat();
        if source.len() > MAX_PART_BYTES {
            continue;
        }
        let errors = errors_in(language, &source)?;
        found.extend(errors.lines.into_iter().map(|lines| lines.start + part.start..lines.end + part.start));
    }
    found.truncate(MAX_ERRORS);
    Some(SyntaxErrors { lines: found })
}

/// Maximum size in bytes of a part of a long text that is parsed. Larger parts would delay the marks on an edit noticeably.
const MAX_PART_BYTES: usize = 48 << 10;

/// Maximum size in bytes of a text that is parsed whole, which takes a few milliseconds.
const MAX_WHOLE_BYTES: usize = 32 << 10;

/// The unindented items that contain the lines `near`, with one more item above and below; ascending and disjoint.
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

/// Like [`errors`], for a whole text in a known language.
pub(crate) fn errors_in(language: &'static Language, text: &str) -> Option<SyntaxErrors> {
    if language.unreliable_errors {
        return None;
    }
    let tree = parse(language, text)?;
    let mut lines = Vec::new();
    walk_errors(tree.root_node(), |node| {
        if node.is_error() || node.is_missing() {
            let (first, end) = (node.start_position().row, node.end_position());
            // A node that ends at column 0 does not reach into that line.
            let end = if end.column == 0 { end.row } else { end.row + 1 };
            lines.push(first..end.max(first + 1));
        }
        lines.len() < MAX_ERRORS
    });
    if language.id == "python" {
        lines.extend(incomplete_python(tree.root_node()));
        lines.truncate(MAX_ERRORS);
    }
    lines.sort_unstable_by_key(|lines| (lines.start, lines.end));
    Some(SyntaxErrors { lines })
}

/// The first line of the decorators of the item at line `item`, or `item` if it has none. Decorators without their item would
/// be an error.
fn decorated_from(lines: &[&str], item: usize, begins: impl Fn(&usize) -> bool) -> usize {
    let close = |at: &usize| lines.get(*at).is_some_and(|line| !line.trim().is_empty()) && !begins(at);
    let decorates = |at: &usize| lines.get(*at).is_some_and(|line| line.starts_with('@'));
    (0..item).rev().take_while(close).filter(decorates).last().unwrap_or(item)
}

/// The lines (0-based, half-open) of Python statements that tree-sitter accepts and Python rejects: headers without a body, and
/// `try` statements with neither `except` nor `finally`.
pub(crate) fn incomplete_python(root: Node<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if lacks_body(node) || lacks_handler(node) {
            let first = node.start_position().row;
            found.push(first..first + 1);
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Whether a node has a block without statements, or no block at all where Python requires one.
fn lacks_body(node: Node<'_>) -> bool {
    const HEADERS: [&str; 14] = [
        "function_definition", "class_definition", "if_statement", "elif_clause", "else_clause", "for_statement",
        "while_statement", "with_statement", "try_statement", "except_clause", "except_group_clause", "finally_clause",
        "case_clause", "match_statement",
    ];
    if !HEADERS.contains(&node.kind()) {
        return false;
    }
    let mut cursor = node.walk();
    let is_statement = |child: &Node<'_>| child.is_named() && !child.is_extra();
    let blocks: Vec<Node<'_>> = node.children(&mut cursor).filter(|child| child.kind() == "block").collect();
    let is_empty = |block: &Node<'_>| !block.children(&mut block.walk()).any(|child| is_statement(&child));
    blocks.is_empty() || blocks.iter().any(is_empty)
}

fn lacks_handler(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let handles = |child: Node<'_>| ["except_clause", "except_group_clause", "finally_clause"].contains(&child.kind());
    node.kind() == "try_statement" && !node.children(&mut cursor).any(handles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_lines() {
        assert_eq!(errors("a.rs", "fn f() {}\n", &[]), Some(SyntaxErrors::default()));
        let found = errors("a.py", "a = 1\nb = 2\ndef f(:\n    pass\n", &[]).unwrap();
        assert!(found.count() > 0);
        assert!(found.lines().iter().all(|lines| lines.contains(&2)), "{found:?}");
    }

    #[test]
    fn a_long_text_is_parsed_around_the_given_lines() {
        let sound: String = (0..3_000).map(|n| format!("def f{n}():\n    return {n}\n\n")).collect();
        let broken = sound.replace("return 1500\n", "return (1500\n").replace("return 9\n", "return (9\n");
        let near = |at: usize| errors("a.py", &broken, &[at..at + 1, at + 1..at + 2]).unwrap();
        assert!(near(4_501).lines().iter().any(|lines| lines.contains(&4_501)), "{:?}", near(4_501));
        assert_eq!(near(6_000), SyntaxErrors::default());
        assert_eq!(errors("a.py", &sound, &[0..1, 8_999..9_000]), Some(SyntaxErrors::default()));
        assert_eq!(errors("a.py", &sound, &[9_100..9_100, 9_200..9_201]), Some(SyntaxErrors::default()));
    }

    #[test]
    fn a_part_includes_the_decorators_of_its_first_item() {
        let item = |n: usize| format!("@decorate(\n    {n},\n)\n@again\ndef f{n}():\n    return {n}\n\n");
        let sound: String = (0..3_000).map(item).collect();
        for at in [10_000, 10_001, 10_004, 10_005, 10_006] {
            assert_eq!(errors("a.py", &sound, &[at..at + 1, at + 1..at + 2]), Some(SyntaxErrors::default()), "{at}");
        }
        let broken = sound.replace("return 1500\n", "return (1500\n");
        assert!(errors("a.py", &broken, &[10_504..10_505, 10_505..10_506]).unwrap().count() > 0);
    }

    #[test]
    fn a_python_header_without_body_is_an_error() {
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
    fn a_missing_token_has_a_line() {
        let found = errors("a.c", "int a = 1;\nint b = 2\n", &[]).unwrap();
        assert_eq!((found.count(), &found.lines()[0]), (1, &(1..2)));
    }

    #[test]
    fn there_is_no_statement_without_a_grammar_or_beyond_the_limits() {
        assert_eq!(errors("a.txt", "(((", &[]), None);
        assert_eq!(errors("a.rs", &"(".repeat(10_000), &[]), None);
        assert_eq!(errors("noname", "#!/bin/bash\nif true; then\n", &[]).map(|found| found.count() > 0), Some(true));
    }
}
