//! What Python refuses and its grammar for tree-sitter takes: a statement that lacks its body, and a `try` that handles nothing.

use std::ops::Range;

use tree_sitter::Node;

/// The lines (0-based, the end excluded) of headers without a body, and of `try` statements with neither `except` nor `finally`.
pub(super) fn incomplete(root: Node<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if lacks_body(node) || handles_nothing(node) {
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

/// Whether a node has a block without a statement. Some grammars leave the block out altogether.
fn lacks_body(node: Node<'_>) -> bool {
    const HEADERS: [&str; 14] = [
        "function_definition",
        "class_definition",
        "if_statement",
        "elif_clause",
        "else_clause",
        "for_statement",
        "while_statement",
        "with_statement",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "case_clause",
        "match_statement",
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

fn handles_nothing(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let handles = |child: Node<'_>| ["except_clause", "except_group_clause", "finally_clause"].contains(&child.kind());
    node.kind() == "try_statement" && !node.children(&mut cursor).any(handles)
}
