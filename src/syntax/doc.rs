//! The first line of what is written about a definition: the comment above it, or the string that opens its body.

use tree_sitter::Node;

/// Longest doc line that is kept, in characters.
const LONGEST: usize = 100;

/// Siblings looked through upwards: attributes and the lines of one comment.
const MOST_SIBLINGS: usize = 64;

/// The first line of the documentation of a definition at `node`; `captured` is the node that the query calls its doc.
pub(super) fn doc_line(node: Node<'_>, captured: Option<Node<'_>>, source: &str) -> String {
    let comment = captured.or_else(|| comment_above(outermost_of_line(node, source)));
    let text = comment.and_then(|comment| source.get(comment.byte_range())).unwrap_or_default();
    let line = text.lines().map(without_marks).find(|line| line.chars().any(char::is_alphanumeric));
    line.unwrap_or_default().chars().take(LONGEST).collect()
}

/// The first comment of those that stand right above, attributes in between or not.
fn comment_above(node: Node<'_>) -> Option<Node<'_>> {
    let mut first = None;
    let mut row = node.start_position().row;
    let mut above = node.prev_sibling();
    for _ in 0..MOST_SIBLINGS {
        let Some(sibling) = above.map(comment_at_its_end) else { break };
        let is_comment = sibling.kind().contains("comment") || sibling.kind() == "marginalia";
        let is_attribute = ["attribute", "annotation", "decorator"].iter().any(|part| sibling.kind().contains(part));
        let end = sibling.end_position();
        let last_row = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
        if !(is_comment || is_attribute) || last_row + 1 < row {
            break;
        }
        row = sibling.start_position().row;
        above = sibling.prev_sibling();
        if is_comment {
            // A comment behind code is about that code.
            if above.is_some_and(|before| before.end_position().row == row && before.end_position().column > 0) {
                break;
            }
            first = Some(sibling);
        }
    }
    first
}

/// The node around `node` that begins with words of its line, as the `export` of a function does.
fn outermost_of_line<'tree>(node: Node<'tree>, source: &str) -> Node<'tree> {
    let mut outer = node;
    while let Some(parent) = outer.parent().filter(|parent| parent.parent().is_some()) {
        let before = source.get(parent.start_byte()..node.start_byte()).unwrap_or_default();
        if before.contains(['\n', '{', '(', '[', ';', ',', ':', '=']) {
            break;
        }
        outer = parent;
    }
    outer
}

/// The comment that a grammar has put at the end of what stands above, as that of TOML does, or else `node`.
fn comment_at_its_end(node: Node<'_>) -> Node<'_> {
    let last = node.child_count().checked_sub(1).and_then(|last| node.child(last));
    last.filter(|last| last.kind() == "comment").unwrap_or(node)
}

/// A line of a comment without what makes it one.
fn without_marks(line: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || "/*#!-;%\"'(){}<>".contains(c);
    line.trim_start_matches(marks).trim_end_matches(|c: char| c.is_whitespace() || "*/\"'".contains(c))
}
