//! The summary of a definition: the first line of the comment above it, or of the string that opens its body.

use tree_sitter::Node;

/// Maximum length of a summary, in characters.
const MAX_DOC_CHARS: usize = 100;

/// Whether a line of a comment is only a heading or a delimiter: `#!/bin/sh`, `=head2 load` (Perl), `.SYNOPSIS` (PowerShell).
fn is_markup(line: &str) -> bool {
    let line = line.trim();
    let is_keyword = |word: &str| word.chars().all(|c| c.is_ascii_uppercase());
    line.starts_with("#!/") || line.starts_with('=') || line.strip_prefix('.').is_some_and(is_keyword)
}

/// Elixir's attribute for the documentation of a function.
const ELIXIR_DOC: &str = "@doc";

/// Substrings of the kinds of nodes that may occur between a comment and its definition. Elixir's attributes are unary operators.
const ATTRIBUTES: [&str; 4] = ["attribute", "annotation", "decorator", "unary_operator"];

/// Maximum number of previous siblings to visit: attributes and the lines of one comment.
const MAX_SIBLINGS: usize = 64;

/// Maximum number of ancestors to visit that start with the definition.
const MAX_PARENTS: usize = 3;

/// The summary of the definition at `node`; empty if there is none. `captured` is the node that the query captures as `@doc`.
pub(crate) fn doc_line(node: Node<'_>, captured: Option<Node<'_>>, source: &str) -> String {
    let mut comment = captured.or_else(|| comment_above(outermost_of_line(node, source), source));
    for _ in 0..MAX_SIBLINGS {
        // Where each comment line is a node, the first may contain only a mark or a tag.
        let Some(current) = comment.filter(|comment| comment.start_byte() < node.end_byte()) else { break };
        if let Some(line) = first_line(source.get(current.byte_range()).unwrap_or_default()) {
            return line.chars().take(MAX_DOC_CHARS).collect();
        }
        comment = current.next_sibling().filter(|next| next.kind().contains("comment"));
    }
    String::new()
}

/// The first line of a comment or docstring with letters or digits.
fn first_line(text: &str) -> Option<&str> {
    let text = text.strip_prefix(ELIXIR_DOC).map_or(text, |sigil| sigil.trim_start_matches([' ', '~', 'S', 's']));
    // A line such as `@param height` is for tools.
    let is_text = |line: &&str| line.chars().any(char::is_alphanumeric) && !line.starts_with('@');
    // Julia's docstrings start with the indented call.
    let is_code = |line: &&str| text.starts_with('"') && line.starts_with("    ");
    text.lines().filter(|line| !is_code(line) && !is_markup(line)).map(without_marks).find(is_text)
}

/// Whether a node documents the one that follows: a comment, a Julia string, or Elixir's `@doc`.
fn is_doc(node: Node<'_>, source: &str) -> bool {
    match node.kind() {
        "haddock" | "marginalia" | "pod" | "qldoc" | "xml_doc" | "string_literal" => true,
        // CodeQL's grammar wraps comments in members.
        "moduleMember" | "classMember" => source.get(node.byte_range()).is_some_and(|text| text.starts_with("/**")),
        "unary_operator" => {
            source.get(node.byte_range()).is_some_and(|text| text.starts_with(ELIXIR_DOC) && !text.ends_with("false"))
        }
        kind => kind.contains("comment"),
    }
}

/// The first of the comments directly above `node`. Attributes may be in between.
fn comment_above<'tree>(node: Node<'tree>, source: &str) -> Option<Node<'tree>> {
    let mut first = None;
    let mut row = node.start_position().row;
    let mut above = sibling_above(node);
    for _ in 0..MAX_SIBLINGS {
        let Some(sibling) = above.map(comment_at_its_end) else { break };
        let is_comment = is_doc(sibling, source);
        let is_attribute = ATTRIBUTES.iter().any(|part| sibling.kind().contains(part));
        let end = sibling.end_position();
        let last_row = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
        // Perl requires an empty line around POD.
        let reach = if sibling.kind() == "pod" { 2 } else { 1 };
        if !(is_comment || is_attribute) || last_row + reach < row {
            break;
        }
        row = sibling.start_position().row;
        above = sibling.prev_sibling();
        if is_comment {
            // A comment after code on the same line documents that code.
            if above.is_some_and(|before| before.end_position().row == row && before.end_position().column > 0) {
                break;
            }
            first = Some(sibling);
        }
    }
    first
}

/// The outermost ancestor that starts on the line of `node`, such as the `export` of a function.
fn outermost_of_line<'tree>(node: Node<'tree>, source: &str) -> Node<'tree> {
    let mut outer = node;
    while let Some(parent) = outer.parent() {
        let before = source.get(parent.start_byte()..node.start_byte()).unwrap_or_default();
        // The root is no part of the line. To find a parent, tree-sitter starts at the root, so that is checked last.
        if before.contains(['\n', '{', '(', '[', ';', ',', ':', '=']) || parent.parent().is_none() {
            break;
        }
        outer = parent;
    }
    outer
}

/// The comment at the end of `node`, where the grammar attaches it there (TOML does); else `node`.
fn comment_at_its_end(node: Node<'_>) -> Node<'_> {
    let last = node.child_count().checked_sub(1).and_then(|last| node.child(last));
    last.filter(|last| last.kind() == "comment").unwrap_or(node)
}

/// The previous named sibling of `node`, or of the ancestor that starts with it: the declaration around a binding, a list of
/// declarations.
fn sibling_above(node: Node<'_>) -> Option<Node<'_>> {
    let mut outer = node;
    for _ in 0..MAX_PARENTS {
        if let Some(above) = outer.prev_named_sibling() {
            return Some(above);
        }
        outer = outer.parent()?;
    }
    None
}

/// A line of a comment without comment marks and XML tags.
fn without_marks(whole: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || "/*#!-;%|^\"'(){}>".contains(c);
    let line = whole.trim_end();
    let line = ["*)", "-}", "-->", "#>", "|#", "]]"].iter().find_map(|end| line.strip_suffix(end)).unwrap_or(line);
    let mut line = line.trim_start_matches(marks);
    while let Some((_, rest)) = line.strip_prefix('<').and_then(|tagged| tagged.split_once('>')) {
        line = rest.trim_start_matches(marks);
    }
    let line = line.trim_start_matches(|c: char| c == '<' || marks(c));
    let line = if whole.trim_start().starts_with('{') { line.trim_end().trim_end_matches('}') } else { line };
    let line = line.split_once("</").map_or(line, |(text, _)| text);
    // Tags that introduce a description. Tags of parameters are not among them.
    let opened = ["@doc ", "@brief ", "@title ", "@notice ", "@dev "].iter().find_map(|tag| line.strip_prefix(tag));
    opened.unwrap_or(line).trim_end_matches(|c: char| c.is_whitespace() || "*/\"'".contains(c))
}

#[cfg(test)]
mod tests {
    use crate::{Language, tags};

    /// The non-empty summaries of the definitions in `source`.
    fn docs(language: &str, source: &str) -> Vec<String> {
        let tags = tags(Language::by_name(language).unwrap(), source);
        tags.definitions.into_iter().map(|definition| definition.doc).filter(|doc| !doc.is_empty()).collect()
    }

    #[test]
    fn the_first_line_with_text_is_the_summary() {
        assert_eq!(docs("c#", "/// <summary>\n/// One tide.\n/// </summary>\nclass Tide {}\n"), ["One tide."]);
        assert_eq!(docs("c#", "/// <summary>One tide.</summary>\nclass Tide {}\n"), ["One tide."]);
        assert_eq!(docs("rust", "//\n// Twice.\nfn f() {}\n"), ["Twice."]);
    }

    #[test]
    fn a_comment_after_code_documents_that_code() {
        assert_eq!(docs("rust", "const A: u8 = 1; // one\nconst B: u8 = 2;\n"), [""; 0]);
    }
}
