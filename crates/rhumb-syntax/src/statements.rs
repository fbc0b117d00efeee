//! Where the statements of a source begin: places at which it may be cut.

use tree_sitter::Node;

use super::language::Language;
use super::parse::parse_for_query;

/// Deepest node that is looked at. Only what was made for it nests deeper.
const DEEPEST: u16 = 2_048;

/// By line from 0: how deep the outermost part of the syntax nests that begins there as the first of its line; `None` for a line
/// in the middle of something (a text of several lines, a chain of calls), and for one that is empty.
///
/// `None` altogether where the language has no grammar or the parser gave up.
pub fn statements(language: &'static Language, source: &str) -> Option<Vec<Option<u16>>> {
    let tree = parse_for_query(language, source)?;
    let lines: Vec<&str> = source.split('\n').collect();
    let mut depths: Vec<Option<u16>> = vec![None; lines.len()];
    let (mut cursor, mut depth) = (tree.walk(), 0u16);
    loop {
        let node = cursor.node();
        mark(node, depth, &lines, &mut depths);
        if is_worth_entering(node) && depth < DEEPEST && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(depths);
            }
            depth = depth.saturating_sub(1);
        }
    }
}

/// Nothing begins a line within one line, other than what begins that.
fn is_worth_entering(node: Node<'_>) -> bool {
    node.start_position().row < node.end_position().row
}

/// Notes a node that is the first of its line, unless one further out is.
fn mark(node: Node<'_>, depth: u16, lines: &[&str], depths: &mut [Option<u16>]) {
    let start = node.start_position();
    let before = lines.get(start.row).and_then(|line| line.get(..start.column));
    let is_first = before.is_some_and(|before| before.trim().is_empty());
    if !node.is_named() || node.is_missing() || depth == 0 || !is_first {
        return;
    }
    let Some(slot) = depths.get_mut(start.row) else { return };
    // A block that begins with its first statement is as deep as this, or it would seem better than the next.
    let begins_list = || node.next_named_sibling().is_some_and(|next| next.start_position().row > start.row);
    if *slot == Some(depth - 1) && begins_list() {
        *slot = Some(depth);
    }
    slot.get_or_insert(depth);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn depths(language: &str, source: &str) -> Vec<Option<u16>> {
        statements(Language::by_name(language).unwrap(), source).unwrap()
    }

    #[test]
    fn statements_begin_where_they_are_written_and_not_within_a_text() {
        let source = "fn f() {\n    let a = \"one\n    two\";\n\n    g(a)\n        .h();\n}\n";
        let found = depths("rust", source);
        assert_eq!(found[0], Some(1));
        assert_eq!(found[1], found[4], "{found:?}");
        assert!(found[1] > found[0]);
        assert_eq!((found[2], found[3]), (None, None), "{found:?}");
    }

    #[test]
    fn what_is_further_in_is_deeper() {
        let found = depths("python", "def f():\n    if a:\n        b()\n    c()\n");
        assert!(found[0] < found[1] && found[1] < found[2] && found[1] == found[3], "{found:?}");
    }

    #[test]
    fn a_language_without_a_grammar_has_none() {
        assert_eq!(statements(Language::by_name("markdown").unwrap(), "# A\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(source in "[a-z(){}:;\"' \n\té]{0,120}") {
            for name in ["rust", "python", "javascript", "c"] {
                let _ = statements(Language::by_name(name).unwrap(), &source);
            }
        }
    }
}
