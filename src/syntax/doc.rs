//! The first line of what is written about a definition: the comment above it, or the string that opens its body.

use tree_sitter::Node;

/// Longest doc line that is kept, in characters.
const LONGEST: usize = 100;

/// Whether a line of a comment only heads or fences it: `#!/bin/sh`, `=head2 load` of Perl, `.SYNOPSIS` of PowerShell.
fn is_markup(line: &str) -> bool {
    let line = line.trim();
    let is_keyword = |word: &str| word.chars().all(|c| c.is_ascii_uppercase());
    line.starts_with("#!/") || line.starts_with('=') || line.strip_prefix('.').is_some_and(is_keyword)
}

/// What Elixir calls the attribute that documents a function.
const ELIXIR_DOC: &str = "@doc";

/// Parts of the names of nodes that may stand between a comment and what it is about. All attributes of Elixir are operators.
const ATTRIBUTES: [&str; 4] = ["attribute", "annotation", "decorator", "unary_operator"];

/// Siblings looked through upwards: attributes and the lines of one comment.
const MOST_SIBLINGS: usize = 64;

/// Nodes around a definition that may begin with it.
const MOST_PARENTS: usize = 3;

/// The first line of the documentation of a definition at `node`; `captured` is the node that the query calls its doc.
pub(super) fn doc_line(node: Node<'_>, captured: Option<Node<'_>>, source: &str) -> String {
    let comment = captured.or_else(|| comment_above(node, source));
    let text = comment.and_then(|comment| source.get(comment.byte_range())).unwrap_or_default();
    let text = text.strip_prefix(ELIXIR_DOC).map_or(text, |sigil| sigil.trim_start_matches([' ', '~', 'S', 's']));
    // A line like `@param height` is for tools.
    let says = |line: &&str| line.chars().any(char::is_alphanumeric) && !line.starts_with('@');
    // Docstrings of Julia open with the call, indented.
    let is_code = |line: &&str| text.starts_with('"') && line.starts_with("    ");
    let line = text.lines().filter(|line| !is_code(line) && !is_markup(line)).map(without_marks).find(says);
    line.unwrap_or_default().chars().take(LONGEST).collect()
}

/// Whether a node documents what follows it: a comment, or the string that Julia and the attribute that Elixir have for it.
fn is_doc(node: Node<'_>, source: &str) -> bool {
    match node.kind() {
        "haddock" | "pod" | "qldoc" | "xml_doc" | "string_literal" => true,
        // What CodeQL wraps its comments in.
        "moduleMember" | "classMember" => source.get(node.byte_range()).is_some_and(|text| text.starts_with("/**")),
        "unary_operator" => {
            source.get(node.byte_range()).is_some_and(|text| text.starts_with(ELIXIR_DOC) && !text.ends_with("false"))
        }
        kind => kind.contains("comment"),
    }
}

/// The first comment of those that stand right above, attributes in between or not.
fn comment_above<'tree>(node: Node<'tree>, source: &str) -> Option<Node<'tree>> {
    let mut first = None;
    let mut row = node.start_position().row;
    let mut above = sibling_above(node);
    for _ in 0..MOST_SIBLINGS {
        let Some(sibling) = above else { break };
        let is_comment = is_doc(sibling, source);
        let is_attribute = ATTRIBUTES.iter().any(|part| sibling.kind().contains(part));
        let end = sibling.end_position();
        let last_row = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
        // Perl wants an empty line around its documentation.
        let reach = if sibling.kind() == "pod" { 2 } else { 1 };
        if !(is_comment || is_attribute) || last_row + reach < row {
            break;
        }
        row = sibling.start_position().row;
        if is_comment {
            first = Some(sibling);
        }
        above = sibling.prev_sibling();
    }
    first
}

/// The node before, or before what `node` opens: the declaration around a binding, a list of declarations. Keywords are
/// no nodes here.
fn sibling_above(node: Node<'_>) -> Option<Node<'_>> {
    let mut outer = node;
    for _ in 0..MOST_PARENTS {
        if let Some(above) = outer.prev_named_sibling() {
            return Some(above);
        }
        outer = outer.parent()?;
    }
    None
}

/// A line of a comment without what makes it one.
fn without_marks(line: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || "/*#!-;%|^\"'(){}<>".contains(c);
    let line = line.trim_end();
    let line = ["*)", "-}", "-->", "#>", "|#", "]]"].iter().find_map(|end| line.strip_suffix(end)).unwrap_or(line);
    let line = line.trim_start_matches(marks);
    line.trim_start_matches("@doc ")
        .trim_start_matches("@brief ")
        .trim_end_matches(|c: char| c.is_whitespace() || "*/\"'".contains(c))
}
