//! The first line of what is written about a definition: the comment above it, or the string that opens its body.

use tree_sitter::Node;

/// Longest doc line that is kept, in characters.
const LONGEST: usize = 100;

/// Siblings looked through upwards: attributes and the lines of one comment.
const MOST_SIBLINGS: usize = 64;

/// The first line of the documentation of a definition at `node`; `captured` is the node that the query calls its doc.
pub(super) fn doc_line(node: Node<'_>, captured: Option<Node<'_>>, source: &str) -> String {
    let mut comment = captured.or_else(|| comment_above(outermost_of_line(node, source)));
    for _ in 0..MOST_SIBLINGS {
        // Where each line is a comment of its own, the first may hold nothing but a mark or a tag.
        let Some(said) = comment.filter(|comment| comment.start_byte() < node.end_byte()) else { break };
        let text = source.get(said.byte_range()).unwrap_or_default();
        if let Some(line) = text.lines().map(without_marks).find(|line| line.chars().any(char::is_alphanumeric)) {
            return line.chars().take(LONGEST).collect();
        }
        comment = said.next_sibling().filter(|next| next.kind().contains("comment"));
    }
    String::new()
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
        if !(is_comment || is_attribute) || last_row + 1 < row || (is_comment && trails(sibling)) {
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

/// Whether a comment stands behind something else on its line, and so is about that.
fn trails(comment: Node<'_>) -> bool {
    let end = comment.prev_sibling().map(|before| before.end_position());
    end.is_some_and(|end| end.row == comment.start_position().row && end.column > 0)
}

/// A line of a comment without what makes it one, nor the tags of XML around it.
fn without_marks(whole: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || "/*#!-;%\"'(){}>".contains(c);
    let mut line = whole.trim_start_matches(marks);
    while let Some((_, rest)) = line.strip_prefix('<').and_then(|tagged| tagged.split_once('>')) {
        line = rest.trim_start_matches(marks);
    }
    let line = line.trim_start_matches(|c: char| c == '<' || marks(c));
    let line = if whole.trim_start().starts_with('{') { line.trim_end().trim_end_matches('}') } else { line };
    let line = line.split_once("</").map_or(line, |(text, _)| text);
    line.trim_end_matches(|c: char| c.is_whitespace() || "*/\"'".contains(c))
}

#[cfg(test)]
mod tests {
    use super::super::{Language, tags};

    /// The doc lines of the definitions of `source` that have one.
    fn docs(language: &str, source: &str) -> Vec<String> {
        let tags = tags(Language::by_name(language).unwrap(), source);
        tags.definitions.into_iter().map(|definition| definition.doc).filter(|doc| !doc.is_empty()).collect()
    }

    #[test]
    fn the_first_line_that_says_something_counts() {
        assert_eq!(docs("c#", "/// <summary>\n/// One tide.\n/// </summary>\nclass Tide {}\n"), ["One tide."]);
        assert_eq!(docs("c#", "/// <summary>One tide.</summary>\nclass Tide {}\n"), ["One tide."]);
        assert_eq!(docs("rust", "//\n// Twice.\nfn f() {}\n"), ["Twice."]);
    }

    #[test]
    fn a_comment_behind_code_is_about_that_code() {
        assert_eq!(docs("rust", "const A: u8 = 1; // one\nconst B: u8 = 2;\n"), [""; 0]);
    }
}
