//! Python: classes wherever they stand, and functions of the module.

use tree_sitter::Node;

use super::super::tree::{child, first_of, name_in, named, steps, text};
use super::{Class, Function, Method, Outline, Tie};

pub(super) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let functions = named(root).into_iter().filter_map(definition).filter(|node| node.kind() == FUNCTION);
    let functions = functions.map(|node| Function { name: name_in(node, "name", source).to_owned(), home: None, node });
    let classes = steps(root).filter(|step| step.node.kind() == "class_definition").map(|step| Class {
        name: name_in(step.node, "name", source).to_owned(),
        // Decorators are part of what they decorate, as they are to `ast`.
        parts: vec![step.parent.filter(|parent| parent.kind() == "decorated_definition").unwrap_or(step.node)],
        methods: methods(step.node, source),
    });
    Outline { classes: classes.collect(), functions: functions.collect() }
}

const FUNCTION: &str = "function_definition";

/// What a statement defines, its decorators put aside.
fn definition(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() == "decorated_definition" { child(node, "definition") } else { Some(node) }
}

fn methods<'t>(class: Node<'t>, source: &str) -> Vec<Method<'t>> {
    let statements = child(class, "body").map(named).unwrap_or_default();
    let method = |statement: Node<'t>| {
        let node = definition(statement).filter(|node| node.kind() == FUNCTION)?;
        let name = name_in(node, "name", source).to_owned();
        let instance = child(node, "parameters").and_then(|parameters| named(parameters).first().copied());
        let instance = instance.filter(|first| is_self(*first, source));
        let tie = tie(statement, node, &name, instance, source);
        Some(Method { name, node, instance, tie })
    };
    statements.into_iter().filter_map(method).collect()
}

fn is_self(parameter: Node<'_>, source: &str) -> bool {
    first_of(parameter, &["identifier"]).is_some_and(|name| text(name, source) == "self")
}

fn tie(statement: Node<'_>, node: Node<'_>, name: &str, instance: Option<Node<'_>>, source: &str) -> Option<Tie> {
    let special = name.starts_with("__") && name.ends_with("__");
    let body = child(node, "body");
    if instance.is_none() || body.is_none() {
        Some(Tie::NoInstance)
    } else if body.is_some_and(|body| uses(body, source)) {
        Some(Tie::Uses)
    } else {
        (special || statement != node).then_some(Tie::Wanted)
    }
}

/// Whether a body says its instance, or asks for the class that it is in. An attribute of these names is another thing.
fn uses(body: Node<'_>, source: &str) -> bool {
    let names = steps(body).filter(|step| step.node.kind() == "identifier" && step.field != Some("attribute"));
    names.into_iter().any(|step| matches!(text(step.node, source), "self" | "super" | "__class__"))
}

/// Whether the statements of each block begin in one column, further in than what they belong to. The grammar takes any
/// indentation, and a block without a statement.
pub(super) fn is_laid_out(root: Node<'_>) -> bool {
    steps(root).filter(|step| matches!(step.node.kind(), "module" | "block")).all(|step| {
        let statements = named(step.node).into_iter().filter(|node| !node.is_extra());
        let starts: Vec<_> = statements.map(|node| (node.start_position(), node.end_position())).collect();
        let Some(((first, _), rest)) = starts.split_first() else { return step.node.kind() == "module" };
        let above = step.parent.map_or(0, |parent| parent.start_position().column + 1);
        let header = step.parent.map(|parent| parent.start_position().row);
        let inside = first.column >= above || header == Some(first.row);
        let mut row = starts.first().map_or(0, |(_, end)| end.row);
        let aligned = rest.iter().all(|(start, end)| {
            let same_line = start.row == row;
            row = end.row;
            same_line || start.column == first.column
        });
        inside && aligned
    })
}
