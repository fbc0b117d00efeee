//! The start of statements: lines at which a source may be cut.

use crate::language::Language;
use crate::parse::parse_for_query;
use tree_sitter::Node;

/// Maximum depth of the nodes that are visited. Only adversarial sources nest deeper.
const MAX_DEPTH: u16 = 2_048;

/// For each line, 0-based: the depth in the syntax tree of the outermost node that starts the line. `None` for empty lines and for
/// lines inside of a node that has no part starting there (a multi-line string, a chain of calls).
///
/// Returns `None` if the language has no grammar or the parser stopped at a limit.
pub fn statements(language: &'static Language, source: &str) -> Option<Vec<Option<u16>>> {
    let tree = parse_for_query(language, source)?;
    let lines: Vec<&str> = source.split('\n').collect();
    let mut depths: Vec<Option<u16>> = vec![None; lines.len()];
    let (mut cursor, mut depth) = (tree.walk(), 0u16);
    loop {
        let node = cursor.node();
        mark(node, depth, &lines, &mut depths);
        if is_worth_entering(node) && depth < MAX_DEPTH && cursor.goto_first_child() {
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

/// Children of a single-line node cannot start another line.
fn is_worth_entering(node: Node<'_>) -> bool {
    node.start_position().row < node.end_position().row
}

/// Records a node that starts its line, unless an outer node does.
fn mark(node: Node<'_>, depth: u16, lines: &[&str], depths: &mut [Option<u16>]) {
    let start = node.start_position();
    let before = lines.get(start.row).and_then(|line| line.get(..start.column));
    let is_first = before.is_some_and(|before| before.trim().is_empty());
    if !node.is_named() || node.is_missing() || depth == 0 || !is_first {
        return;
    }
    let Some(slot) = depths.get_mut(start.row) else { return };
    // A block that starts with its first statement gets the depth of the statements, so that all of them are equal.
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
    fn lines_inside_of_a_string_start_no_statement() {
        let source = "fn f() {\n    let a = \"one\n    two\";\n\n    g(a)\n        .h();\n}\n";
        let found = depths("rust", source);
        assert_eq!(found[0], Some(1));
        assert_eq!(found[1], found[4], "{found:?}");
        assert!(found[1] > found[0]);
        assert_eq!((found[2], found[3]), (None, None), "{found:?}");
    }

    #[test]
    fn nested_statements_are_deeper() {
        let found = depths("python", "def f():\n    if a:\n        b()\n    c()\n");
        assert!(found[0] < found[1] && found[1] < found[2] && found[1] == found[3], "{found:?}");
    }

    #[test]
    fn a_language_without_a_grammar_has_no_statements() {
        assert_eq!(statements(Language::by_name("markdown").unwrap(), "# A\n"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_accepted(source in "[a-z(){}:;\"' \n\té]{0,120}") {
            for name in ["rust", "python", "javascript", "c"] {
                let _ = statements(Language::by_name(name).unwrap(), &source);
            }
        }
    }
}
