//! Walks over syntax trees, and counts of their nodes. No walk recurses, because a tree can be as deep as its source is long.
//!
//! The benchmark that this one follows counts nodes of Python's `ast`, so for Python each node of tree-sitter is weighted by the
//! number of nodes that `ast.walk` gives for it. A name is two nodes (the name, and its context), an operator one, a comment or a
//! bracket none. Patterns of `match` are counted approximately.
//!
//! In the other languages the named nodes are counted, without comments. For Python, that would give about three quarters of what
//! `ast` gives.

use tree_sitter::{Node, TreeCursor};

/// A node on a walk, with its position in the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit<'t> {
    pub(crate) node: Node<'t>,
    /// The field of the node in its parent.
    pub(crate) field: Option<&'t str>,
    /// The parent and the grandparent; `None` above the start of the walk.
    pub(crate) parent: Option<Node<'t>>,
    pub(crate) grandparent: Option<Node<'t>>,
}

impl<'t> Visit<'t> {
    /// The kind of the parent; empty without one.
    pub(crate) fn parent_kind(&self) -> &'t str {
        self.parent.map_or("", |parent| parent.kind())
    }

    /// The kind of the grandparent; empty without one.
    pub(crate) fn grandparent_kind(&self) -> &'t str {
        self.grandparent.map_or("", |parent| parent.kind())
    }
}

/// A node and everything below it, parents first.
pub(crate) fn walk(node: Node<'_>) -> impl Iterator<Item = Visit<'_>> {
    Walk { cursor: node.walk(), parents: Vec::new(), done: false }
}

struct Walk<'t> {
    cursor: TreeCursor<'t>,
    parents: Vec<Node<'t>>,
    done: bool,
}

impl<'t> Iterator for Walk<'t> {
    type Item = Visit<'t>;

    fn next(&mut self) -> Option<Visit<'t>> {
        if self.done {
            return None;
        }
        let (node, mut above) = (self.cursor.node(), self.parents.iter().rev());
        let field = if self.parents.is_empty() { None } else { self.cursor.field_name() };
        let step = Visit { node, field, parent: above.next().copied(), grandparent: above.next().copied() };
        if self.cursor.goto_first_child() {
            self.parents.push(node);
            return Some(step);
        }
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                self.done = true;
                break;
            }
            self.parents.pop();
        }
        Some(step)
    }
}

/// The named children of a node.
pub(crate) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

/// The child of a node in a field.
pub(crate) fn child<'t>(node: Node<'t>, field: &str) -> Option<Node<'t>> {
    node.child_by_field_name(field)
}

/// The text of a node.
pub(crate) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The text of the child of a node in a field.
pub(crate) fn name_in<'s>(node: Node<'_>, field: &str, source: &'s str) -> &'s str {
    child(node, field).map_or("", |name| text(name, source))
}

/// The first node of one of these kinds, the node itself or below it.
pub(crate) fn first_of<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    walk(node).map(|step| step.node).find(|node| kinds.contains(&node.kind()))
}

/// Whether a direct child of the node, named or not, is of one of these kinds.
pub(crate) fn has_child(node: Node<'_>, kinds: &[&str]) -> bool {
    node.children(&mut node.walk()).any(|child| kinds.contains(&child.kind()))
}

/// Whether a leaf below a node is one of these words, outside of comments and strings.
pub(crate) fn mentions(node: Node<'_>, source: &str, words: &[&str]) -> bool {
    mentions_outside(node, source, words, &[])
}

/// As [`mentions`], without leaves of some kinds.
pub(crate) fn mentions_outside(node: Node<'_>, source: &str, words: &[&str], kinds: &[&str]) -> bool {
    let leaves = walk(node).map(|step| step.node).filter(|node| node.child_count() == 0);
    let mut leaves = leaves.filter(|leaf| !is_text(leaf.kind()) && !kinds.contains(&leaf.kind()));
    !words.is_empty() && leaves.any(|leaf| words.contains(&text(leaf, source)))
}

/// Whether nodes of this kind are comments or literals.
fn is_text(kind: &str) -> bool {
    kind.contains("comment") || kind.contains("string") || kind.contains("char")
}

/// The named children of a definition except its name.
pub(crate) fn parts_without_name(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let name = child(node, "name");
    named(node).into_iter().filter(move |part| Some(*part) != name)
}

/// The number of nodes that Python's `ast` has for a node and everything below it.
pub(crate) fn python(node: Node<'_>, source: &str) -> usize {
    walk(node).filter(|step| step.node.is_named()).map(|step| weight(&step, source)).sum()
}

/// The number of named nodes without comments, the node included.
pub(crate) fn plain(node: Node<'_>, _: &str) -> usize {
    walk(node).filter(|step| step.node.is_named() && !step.node.is_extra()).count()
}

/// The number of nodes that `ast` has for a node of tree-sitter, without those for its children.
fn weight(step: &Visit<'_>, source: &str) -> usize {
    let node = step.node;
    let parent = step.parent_kind();
    match node.kind() {
        "identifier" => name(step),
        "module"
        | "return_statement"
        | "delete_statement"
        | "raise_statement"
        | "assert_statement"
        | "pass_statement"
        | "break_statement"
        | "continue_statement"
        | "global_statement"
        | "nonlocal_statement"
        | "if_statement"
        | "elif_clause"
        | "for_statement"
        | "while_statement"
        | "try_statement"
        | "except_clause"
        | "except_group_clause"
        | "with_statement"
        | "with_item"
        | "match_statement"
        | "case_clause"
        | "class_definition" => 1,
        "integer" | "float" | "true" | "false" | "none" | "ellipsis" => usize::from(!is_in_format(parent)),
        "set"
        | "dictionary"
        | "list_comprehension"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "generator_expression"
        | "for_in_clause"
        | "conditional_expression"
        | "named_expression"
        | "await"
        | "yield"
        | "call"
        | "keyword_argument"
        | "slice"
        | "interpolation"
        | "format_expression"
        | "case_pattern" => 1,
        "function_definition"
        | "lambda"
        | "augmented_assignment"
        | "binary_operator"
        | "unary_operator"
        | "not_operator"
        | "attribute"
        | "generic_type"
        | "union_type"
        | "list_splat"
        | "splat_type" => 2,
        "tuple" | "list" | "pattern_list" => 2,
        "tuple_pattern" | "list_pattern" => 2 * usize::from(parent != "case_pattern"),
        "expression_statement" => statement(node),
        "assignment" => usize::from(parent != "assignment"),
        "import_statement" | "import_from_statement" | "future_import_statement" => 1 + imported(node),
        "expression_list" => 2 * usize::from(parent != "delete_statement"),
        "list_splat_pattern" => 2 * usize::from(!is_parameter(parent)),
        "dictionary_splat" => usize::from(parent != "dictionary"),
        "subscript" => 2 + tuple_of(node),
        "type_parameter" => tuple_of(node),
        "boolean_operator" => 2 * usize::from(!continues_parent(step)),
        "comparison_operator" => code_children(node),
        "string" => usize::from(parent != "concatenated_string") * string(&[node], source),
        "concatenated_string" => string(&named(node), source),
        "format_specifier" => format(node, source),
        _ => 0,
    }
}

/// Two nodes for a name that is read or written, one for a parameter, none for an attribute and the like.
fn name(step: &Visit<'_>) -> usize {
    match (step.parent_kind(), step.field) {
        ("attribute", Some("attribute"))
        | ("keyword_argument" | "function_definition" | "class_definition", Some("name")) => 0,
        ("dotted_name", _) if step.grandparent_kind() == "class_pattern" => 2,
        ("dotted_name" | "aliased_import" | "global_statement" | "nonlocal_statement" | "keyword_pattern", _) => 0,
        ("splat_pattern", _) | ("except_clause" | "except_group_clause", Some("alias")) => 0,
        ("as_pattern_target", _) if is_caught(step) => 0,
        ("default_parameter" | "typed_default_parameter", Some("name")) => 1,
        ("dictionary_splat_pattern", _) => 1,
        ("list_splat_pattern", _) if is_parameter(step.grandparent_kind()) => 1,
        (parent, None) if is_parameter(parent) => 1,
        _ => 2,
    }
}

fn is_parameter(parent: &str) -> bool {
    matches!(parent, "parameters" | "lambda_parameters" | "typed_parameter")
}

/// Whether a name is that of a caught exception. After `with`, the name is an ordinary target.
fn is_caught(step: &Visit<'_>) -> bool {
    let above = step.grandparent.and_then(|pattern| pattern.parent());
    above.is_some_and(|above| matches!(above.kind(), "except_clause" | "except_group_clause"))
}

fn is_in_format(parent: &str) -> bool {
    parent == "format_specifier"
}

/// An assignment is itself a statement, anything else an expression in a statement. Several values are a tuple.
fn statement(node: Node<'_>) -> usize {
    let assigns = has_child(node, &["assignment", "augmented_assignment"]);
    usize::from(!assigns) + tuple_of(node)
}

/// Two more nodes if commas make a tuple without brackets.
fn tuple_of(node: Node<'_>) -> usize {
    2 * usize::from(has_child(node, &[","]))
}

fn imported(node: Node<'_>) -> usize {
    let names = node.children_by_field_name("name", &mut node.walk()).count();
    names + usize::from(has_child(node, &["wildcard_import"]))
}

/// Whether the node continues the operator of its parent: `a and b and c` is one operation.
fn continues_parent(step: &Visit<'_>) -> bool {
    step.parent_kind() == "boolean_operator"
        && step.parent.is_some_and(|parent| operator(parent) == operator(step.node))
}

fn operator(node: Node<'_>) -> Option<u16> {
    node.child_by_field_name("operator").map(|operator| operator.kind_id())
}

fn code_children(node: Node<'_>) -> usize {
    named(node).iter().filter(|child| !child.is_extra()).count()
}

/// A string is one node. A formatted one has another node for each piece of text between its values.
fn string(parts: &[Node<'_>], source: &str) -> usize {
    let mut runs = Runs::default();
    let mut formatted = false;
    for part in parts {
        let start = part.child(0).map_or("", |start| text(start, source));
        formatted |= start.contains(['f', 'F']);
        for piece in named(*part) {
            match piece.kind() {
                "string_content" => runs.text(!piece.byte_range().is_empty()),
                "interpolation" => {
                    runs.text(has_child(piece, &["="]));
                    runs.value();
                }
                _ => {}
            }
        }
    }
    1 + if formatted { runs.count } else { 0 }
}

/// A format specifier is one node, and one more for each piece of text in it.
fn format(node: Node<'_>, source: &str) -> usize {
    let mut runs = Runs::default();
    let start = node.start_byte() + usize::from(text(node, source).starts_with(':'));
    let mut at = start;
    for value in named(node).into_iter().filter(|child| matches!(child.kind(), "format_expression" | "interpolation")) {
        runs.text(value.start_byte() > at);
        runs.value();
        at = value.end_byte();
    }
    runs.text(node.end_byte() > at);
    1 + runs.count
}

/// Counts pieces of text between values.
#[derive(Default)]
struct Runs {
    count: usize,
    within: bool,
}

impl Runs {
    fn text(&mut self, is_there: bool) {
        if is_there && !self.within {
            self.count += 1;
            self.within = true;
        }
    }

    fn value(&mut self) {
        self.within = false;
    }
}
