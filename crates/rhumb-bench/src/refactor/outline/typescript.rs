//! TypeScript: classes at any level, and functions of the module, declared or assigned to constants.

use tree_sitter::Node;

use super::{Class, Function, Method, Obstacle, Outline};
use crate::refactor::syntax_tree::{child, has_child, mentions, name_in, named, parts_without_name, text, walk};

pub(crate) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let classes = walk(root).filter(|step| CLASSES.contains(&step.node.kind())).map(|step| Class {
        name: name_in(step.node, "name", source).to_owned(),
        parts: vec![step.node],
        methods: methods(step.node, source),
    });
    let functions = named(root).into_iter().flat_map(|statement| functions(statement, source));
    Outline { classes: classes.collect(), functions: functions.collect() }
}

const CLASSES: [&str; 2] = ["class_declaration", "abstract_class_declaration"];

/// The functions that a statement declares.
fn functions<'t>(statement: Node<'t>, source: &str) -> Vec<Function<'t>> {
    let declared = match statement.kind() {
        "export_statement" => child(statement, "declaration"),
        _ => Some(statement),
    };
    let Some(declared) = declared else { return Vec::new() };
    let function = |node: Node<'t>| Function { name: name_in(node, "name", source).to_owned(), home: None, node };
    match declared.kind() {
        "function_declaration" | "generator_function_declaration" => vec![function(declared)],
        "lexical_declaration" => {
            let is_function = |node: &Node<'_>| {
                let value = child(*node, "value").map(|value| value.kind());
                matches!(value, Some("arrow_function" | "function_expression" | "generator_function"))
            };
            named(declared).into_iter().filter(is_function).map(function).collect()
        }
        _ => Vec::new(),
    }
}

fn methods<'t>(class: Node<'t>, source: &str) -> Vec<Method<'t>> {
    let members = child(class, "body").map(named).unwrap_or_default();
    let own = own_names(class, &members, source);
    let enclosed = is_enclosed(class);
    let mut decorated = false;
    let mut methods = Vec::new();
    for member in members {
        match member.kind() {
            "decorator" => decorated = true,
            "comment" => {}
            kind => {
                if METHODS.contains(&kind) {
                    let mut method = method(member, decorated, &own, source);
                    // It may use names of the function around the class.
                    method.obstacle = method.obstacle.or(enclosed.then_some(Obstacle::Uses));
                    methods.push(method);
                }
                decorated = false;
            }
        }
    }
    methods
}

/// Whether a class is within a function.
fn is_enclosed(class: Node<'_>) -> bool {
    std::iter::successors(class.parent(), Node::parent).any(|node| node.kind() == "statement_block" && is_body(node))
}

fn is_body(block: Node<'_>) -> bool {
    block.parent().is_some_and(|parent| child(parent, "body") == Some(block) && child(parent, "parameters").is_some())
}

const METHODS: [&str; 3] = ["method_definition", "method_signature", "abstract_method_signature"];

fn method<'t>(node: Node<'t>, decorated: bool, own: &[&str], source: &str) -> Method<'t> {
    let name = name_in(node, "name", source).to_owned();
    let plain = child(node, "name").is_some_and(|name| name.kind() == "property_identifier");
    let obstacle =
        if node.kind() != METHODS[0] || name == "constructor" || has_child(node, &["static", "get", "set"]) || !plain {
            Some(Obstacle::NoInstance)
        } else if says_private(node)
            || parts_without_name(node)
                .any(|part| mentions(part, source, &["this", "super"]) || mentions(part, source, own))
        {
            Some(Obstacle::Uses)
        } else {
            (decorated || has_child(node, &["override_modifier"])).then_some(Obstacle::Wanted)
        };
    Method { name, node, instance: None, obstacle }
}

/// Names that can be used only within the class: private and protected members, and type parameters.
fn own_names<'s>(class: Node<'_>, members: &[Node<'_>], source: &'s str) -> Vec<&'s str> {
    let parameters = child(class, "type_parameters").map(walk).into_iter().flatten();
    let parameters = parameters.filter(|step| step.field == Some("name")).map(|step| step.node);
    let hidden = members.iter().filter(|member| {
        let modifiers = named(**member).into_iter().filter(|part| part.kind() == "accessibility_modifier");
        modifiers.into_iter().any(|modifier| text(modifier, source) != "public")
    });
    let hidden = hidden.filter_map(|member| child(*member, "name"));
    parameters.chain(hidden).map(|name| text(name, source)).filter(|name| !name.is_empty()).collect()
}

fn says_private(node: Node<'_>) -> bool {
    walk(node).any(|step| step.node.kind() == "private_property_identifier")
}
