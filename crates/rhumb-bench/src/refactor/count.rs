//! Syntax nodes, counted.
//!
//! The benchmark's numbers began with Python's own `ast`, so for Python its nodes are counted: from the tree of tree-sitter it is
//! told for each node how many nodes `ast.walk` gives for it. A name is two there (the name, and whether it is read or written), an
//! operator is one, a comment or a bracket none. Patterns of `match` are counted roughly.
//!
//! For the other languages a syntax node is a node that has a name in the grammar and is no comment. In Python that measure
//! gives about three quarters of what `ast` gives.

use tree_sitter::Node;

use super::tree::{Step, has_child, named, steps, text};

/// Nodes of Python's `ast` below a node, it itself included.
pub(super) fn python(node: Node<'_>, source: &str) -> usize {
    steps(node).filter(|step| step.node.is_named()).map(|step| weight(&step, source)).sum()
}

/// Nodes below a node that have names in the grammar and are no comments, it itself included.
pub(super) fn plain(node: Node<'_>, _: &str) -> usize {
    steps(node).filter(|step| step.node.is_named() && !step.node.is_extra()).count()
}

/// How many nodes of `ast` a node of the tree stands for, those that its children stand for left out.
fn weight(step: &Step<'_>, source: &str) -> usize {
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
        "boolean_operator" => 2 * usize::from(!goes_on(step)),
        "comparison_operator" => code_children(node),
        "string" => usize::from(parent != "concatenated_string") * string(&[node], source),
        "concatenated_string" => string(&named(node), source),
        "format_specifier" => format(node, source),
        _ => 0,
    }
}

/// Two nodes for a name that is read or written, one for a parameter, none for what is only a word to `ast`.
fn name(step: &Step<'_>) -> usize {
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

/// The name that a caught exception goes by; of `with` the name is one that is written.
fn is_caught(step: &Step<'_>) -> bool {
    let above = step.grandparent.and_then(|pattern| pattern.parent());
    above.is_some_and(|above| matches!(above.kind(), "except_clause" | "except_group_clause"))
}

fn is_in_format(parent: &str) -> bool {
    parent == "format_specifier"
}

/// An assignment is the statement itself, anything else an expression within one. Several values are a tuple.
fn statement(node: Node<'_>) -> usize {
    let assigns = has_child(node, &["assignment", "augmented_assignment"]);
    usize::from(!assigns) + tuple_of(node)
}

/// Two nodes more where commas make a tuple without brackets of its own.
fn tuple_of(node: Node<'_>) -> usize {
    2 * usize::from(has_child(node, &[","]))
}

fn imported(node: Node<'_>) -> usize {
    let names = node.children_by_field_name("name", &mut node.walk()).count();
    names + usize::from(has_child(node, &["wildcard_import"]))
}

/// Whether it only goes on with the operator of its parent: `a and b and c` is one operation.
fn goes_on(step: &Step<'_>) -> bool {
    step.parent_kind() == "boolean_operator"
        && step.parent.is_some_and(|parent| operator(parent) == operator(step.node))
}

fn operator(node: Node<'_>) -> Option<u16> {
    node.child_by_field_name("operator").map(|operator| operator.kind_id())
}

fn code_children(node: Node<'_>) -> usize {
    named(node).iter().filter(|child| !child.is_extra()).count()
}

/// A text is one node. One with values in it is one, and one more for each piece of text between them.
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

/// How a value is to be written: one node, and one for each piece of text in it.
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

/// Counts pieces of text that no value divides.
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
