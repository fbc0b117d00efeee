//! Signatures: the header of a definition, on one line.

use std::ops::Range;
use tree_sitter::Node;

/// Maximum length of a signature, in characters.
pub(crate) const MAX_SIGNATURE_CHARS: usize = 200;

/// Maximum number of bytes of a header that are read: [`MAX_SIGNATURE_CHARS`] plus comments and indentation.
const MAX_HEADER_BYTES: usize = 2_048;

/// Maximum number of nodes of a header that are searched for comments.
const MAX_HEADER_NODES: usize = 2_000;

/// The nodes that a signature is made from.
pub(crate) struct DefinitionHeader<'tree> {
    pub(crate) node: Node<'tree>,
    pub(crate) name: Node<'tree>,
    pub(crate) body: Option<Node<'tree>>,
    /// The documentation, which may be inside of the header.
    pub(crate) doc: Option<Node<'tree>>,
}

/// The signature of a definition: its source up to the body, without comments and annotations, with each run of white space as
/// one space, at most [`MAX_SIGNATURE_CHARS`] long. A name after the body, as in a C `typedef struct { … } name`, is kept.
pub(crate) fn signature(header: &DefinitionHeader<'_>, prefix: Option<&str>, source: &str) -> String {
    let whole = header.node.byte_range();
    let mut text = Squeezed::new(prefix.unwrap_or_default());
    match body(header) {
        Some(body) => {
            push_header(&mut text, header, whole.start..body.start, source);
            if header.name.start_byte() >= body.end {
                text.push("{ … }");
                push_code(&mut text, header.node, body.end..whole.end, source);
            }
        }
        None => push_header(&mut text, header, whole, source),
    }
    closed(trim(text.finish()))
}

/// Closes the brackets of a Lisp form whose body was removed.
fn closed(mut text: String) -> String {
    if !text.starts_with('(') {
        return text;
    }
    let (mut open, mut in_string) = (Vec::new(), false);
    for c in text.chars() {
        match c {
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    text.extend(open.iter().rev());
    text
}

/// Appends the code of `range` without documentation.
fn push_header(text: &mut Squeezed, header: &DefinitionHeader<'_>, range: Range<usize>, source: &str) {
    match header.doc.map(|doc| doc.byte_range()).filter(|doc| range.start <= doc.start && doc.end <= range.end) {
        Some(doc) => {
            push_code(text, header.node, range.start..doc.start, source);
            push_code(text, header.node, doc.end..range.end, source);
        }
        None => push_code(text, header.node, range, source),
    }
}

/// The range of the body. The fields of a tuple struct belong to its header, although the grammar calls them its body.
fn body(header: &DefinitionHeader<'_>) -> Option<Range<usize>> {
    let named =
        || header.node.child_by_field_name("body").filter(|body| body.kind() != "ordered_field_declaration_list");
    let body = header.body.or_else(named).or_else(|| opening(header.node))?;
    let range = body.byte_range();
    (range.start > header.node.start_byte()).then_some(range)
}

/// The child at which the body starts, for grammars without a `body` field: a brace, a node whose kind names a body, or the first
/// member.
fn opening<'tree>(node: Node<'tree>) -> Option<Node<'tree>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).take(MAX_HEADER_NODES).find(|child| opens_body(child.kind()))
}

fn opens_body(kind: &str) -> bool {
    match kind {
        "{" => true,
        // Kotlin
        "class_body" | "enum_class_body" | "function_body" | "getter" | "setter" => true,
        // Objective-C
        "implementation_definition" | "instance_variables" | "method_declaration" | "property_declaration" => true,
        "qualified_protocol_interface_declaration" | "@end" => true,
        _ => false,
    }
}

/// Appends the code of `range` without comments and annotations.
fn push_code(text: &mut Squeezed, node: Node<'_>, range: Range<usize>, source: &str) {
    let end = source.floor_char_boundary(range.end.min(range.start.saturating_add(MAX_HEADER_BYTES)));
    let mut start = range.start;
    for hole in holes(node, start..end) {
        text.push(source.get(start..hole.start).unwrap_or_default());
        start = start.max(hole.end.min(end));
    }
    text.push(source.get(start..end).unwrap_or_default());
}

/// The comments and annotations inside of `node` that overlap with `range`, in order.
fn holes(node: Node<'_>, range: Range<usize>) -> Vec<Range<usize>> {
    let mut cursor = node.walk();
    let mut holes = Vec::new();
    if !cursor.goto_first_child() {
        return holes;
    }
    for _ in 0..MAX_HEADER_NODES {
        let child = cursor.node();
        let skip = is_left_out(child);
        if skip && child.end_byte() > range.start && child.start_byte() < range.end {
            holes.push(child.byte_range());
        }
        let touches = child.start_byte() < range.end && child.end_byte() > range.start;
        if !skip && touches && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node() == node {
                return holes;
            }
        }
        if cursor.node().start_byte() >= range.end {
            return holes;
        }
    }
    holes
}

fn is_left_out(node: Node<'_>) -> bool {
    match node.kind() {
        "comment" | "line_comment" | "block_comment" | "haddock" => true,
        "annotation" | "marker_annotation" | "decorator" | "attributes" | "description" => true,
        // PowerShell: the attribute list of a parameter is its type.
        "attribute_list" => node.parent().is_none_or(|parent| parent.kind() != "script_parameter"),
        // Swift: attributes are among the modifiers. In markup, attributes matter.
        "attribute" => node.child(0).is_some_and(|mark| mark.kind() == "@"),
        // C++ and Dart: initializers belong to the body.
        "field_initializer_list" | "initializers" | "redirection" => true,
        _ => false,
    }
}

/// Removes the punctuation and keywords before the body.
fn trim(mut text: String) -> String {
    loop {
        let shorter = text.trim_end_matches([' ', '{', ':', ';', ',', '=']);
        // `=>` marks a function and is kept; a single `=` is the start of a body.
        let opener = [" end", " where", " do", " begin"].into_iter().find_map(|word| shorter.strip_suffix(word));
        let shorter = opener.unwrap_or(shorter);
        if shorter.len() == text.len() {
            return text;
        }
        text.truncate(shorter.len());
    }
}

/// Text on one line: each run of white space and control characters becomes one space, up to the limit.
struct Squeezed {
    text: String,
    chars: usize,
    space: bool,
}

impl Squeezed {
    fn new(prefix: &str) -> Self {
        Self { text: prefix.to_owned(), chars: prefix.chars().count(), space: !prefix.is_empty() }
    }

    fn push(&mut self, code: &str) {
        for c in code.chars() {
            if c.is_whitespace() || c.is_control() || c == '\u{feff}' {
                self.space = true;
                continue;
            }
            if self.chars >= MAX_SIGNATURE_CHARS {
                return;
            }
            self.leave_space(c);
            self.space = false;
            self.text.push(c);
            self.chars += 1;
        }
        // The next piece is not adjacent to this one.
        self.space = true;
    }

    /// Inserts the pending space before `c` if it needs one. A trailing comma before a closing bracket is removed.
    fn leave_space(&mut self, c: char) {
        if !self.space || self.text.is_empty() {
            return;
        }
        if matches!(c, ')' | ']') && self.text.ends_with(',') {
            self.text.pop();
            self.chars -= 1;
        } else if !self.glues(c) {
            self.text.push(' ');
            self.chars += 1;
        }
    }

    /// Whether no space is needed before `c`, as between a call and its arguments on separate lines.
    fn glues(&self, c: char) -> bool {
        self.text.ends_with(['(', '[']) || matches!(c, ')' | ']' | ',' | ';')
    }

    fn finish(self) -> String {
        match self.text.char_indices().nth(MAX_SIGNATURE_CHARS) {
            Some((end, _)) => self.text.get(..end).unwrap_or_default().to_owned(),
            None => self.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Language, tags};

    fn signatures(language: &str, source: &str) -> Vec<String> {
        let tags = tags(Language::by_name(language).unwrap(), source);
        tags.definitions.into_iter().map(|definition| definition.signature).collect()
    }

    #[test]
    fn a_multi_line_header_becomes_one_line() {
        let source = "fn area(\n    width: u32, // in metres\n    height: u32,\n) -> u32\n{\n    width * height\n}\n";
        assert_eq!(signatures("rust", source), ["fn area(width: u32, height: u32) -> u32"]);
    }

    #[test]
    fn headers_end_as_each_language_requires() {
        assert_eq!(signatures("python", "def f(a: int) -> str:  # why\n    return ''\n"), ["def f(a: int) -> str"]);
        assert_eq!(signatures("ruby", "def name = @name\n"), ["def name"]);
        assert_eq!(signatures("ruby", "def empty\nend\n"), ["def empty"]);
        assert_eq!(signatures("javascript", "const f = async (a) => {\n};\n"), ["const f = async (a) =>"]);
        assert_eq!(signatures("c", "int f(void);\n"), ["int f(void)"]);
        assert_eq!(signatures("rust", "pub struct P(pub u32, u32);\n"), ["pub struct P(pub u32, u32)"]);
        assert_eq!(signatures("go", "type P struct {\n\tX int\n}\n"), ["type P struct"]);
    }

    #[cfg(feature = "lang-more")]
    #[test]
    fn members_without_a_body_node_end_the_header() {
        let source = "@interface A : B <C>\n// x\n- (void)f;\n@end\n@implementation A\n@end\n";
        assert_eq!(signatures("objc", source), ["@interface A : B <C>", "- (void)f", "@implementation A"]);
    }

    #[test]
    fn annotations_are_left_out() {
        let source = "class A {\n  @Override\n  @Cached(size = 3)\n  public String name() { return \"\"; }\n}\n";
        assert_eq!(signatures("java", source), ["class A", "public String name()"]);
    }

    #[test]
    fn a_name_after_the_body_is_kept() {
        assert_eq!(signatures("c", "typedef struct {\n  int x;\n} point_t;\n"), ["typedef struct { … } point_t"]);
    }

    #[test]
    fn a_long_header_is_cut_at_a_character() {
        let source = format!("const X: &str = \"{}\";\n", "ä".repeat(5_000));
        let signature = signatures("rust", &source).remove(0);
        assert_eq!(signature.chars().count(), super::MAX_SIGNATURE_CHARS);
    }
}
