//! Python: classes wherever they stand, and functions of the module.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::tree::{child, first_of, name_in, named, says, steps, text};
use super::{Class, Function, Method, Outline, Tie};

pub(super) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let functions = named(root).into_iter().filter_map(definition).filter(|node| node.kind() == FUNCTION);
    let functions = functions.map(|node| Function { name: name_in(node, "name", source).to_owned(), home: None, node });
    let classes = steps(root).filter(|step| step.node.kind() == CLASS).map(|step| Class {
        name: name_in(step.node, "name", source).to_owned(),
        // Decorators are part of what they decorate, as they are to `ast`.
        parts: vec![step.parent.filter(|parent| parent.kind() == "decorated_definition").unwrap_or(step.node)],
        methods: methods(step.node, source),
    });
    Outline { classes: classes.collect(), functions: functions.collect() }
}

const FUNCTION: &str = "function_definition";
const CLASS: &str = "class_definition";

/// What a statement defines, its decorators put aside.
fn definition(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() == "decorated_definition" { child(node, "definition") } else { Some(node) }
}

fn methods<'t>(class: Node<'t>, source: &str) -> Vec<Method<'t>> {
    let statements = child(class, "body").map(named).unwrap_or_default();
    let surroundings = Surroundings::of(class, source);
    let method = |statement: Node<'t>| {
        let node = definition(statement).filter(|node| node.kind() == FUNCTION)?;
        let name = name_in(node, "name", source).to_owned();
        let instance = child(node, "parameters").and_then(|parameters| named(parameters).first().copied());
        let instance = instance.filter(|first| is_self(*first, source));
        let tie = tie(statement, node, instance, &surroundings, source);
        Some(Method { name, node, instance, tie })
    };
    statements.into_iter().filter_map(method).collect()
}

fn is_self(parameter: Node<'_>, source: &str) -> bool {
    first_of(parameter, &["identifier"]).is_some_and(|name| text(name, source) == "self")
}

/// The names around a method that are not those of the module.
struct Surroundings<'s> {
    /// What the class binds, which the head of a method sees and its body does not.
    class: Vec<&'s str>,
    /// Parameters of the type, and what functions around the class bind: the body sees them too.
    outer: Vec<&'s str>,
}

impl<'s> Surroundings<'s> {
    fn of(class: Node<'_>, source: &'s str) -> Self {
        let mut outer = identifiers(child(class, "type_parameters"), source);
        let mut above = class.parent();
        while let Some(node) = above {
            if node.kind() == FUNCTION {
                outer.extend(identifiers(child(node, "parameters"), source));
                outer.extend(child(node, "body").map(|body| bound(body, source)).unwrap_or_default());
            }
            above = node.parent();
        }
        let class = child(class, "body").map(|body| bound(body, source)).unwrap_or_default();
        Self { class: class.into_iter().collect(), outer: outer.into_iter().collect() }
    }
}

fn identifiers<'s>(node: Option<Node<'_>>, source: &'s str) -> BTreeSet<&'s str> {
    let steps = node.map(steps).into_iter().flatten();
    steps.filter(|step| step.node.kind() == "identifier").map(|step| text(step.node, source)).collect()
}

/// The names that the statements of a block bind, those of blocks of functions and classes in it left out.
fn bound<'s>(block: Node<'_>, source: &'s str) -> BTreeSet<&'s str> {
    let mut names = BTreeSet::new();
    let mut open = named(block);
    while let Some(node) = open.pop() {
        match node.kind() {
            FUNCTION | CLASS => drop(names.insert(name_in(node, "name", source))),
            "import_statement" | "import_from_statement" | "as_pattern_target" => {
                names.extend(identifiers(Some(node), source));
            }
            "lambda" => {}
            _ => {
                names.extend(identifiers(child(node, "left"), source));
                names.extend(identifiers(child(node, "name").filter(|_| node.kind() == "named_expression"), source));
                open.extend(named(node));
            }
        }
    }
    names
}

fn tie(
    statement: Node<'_>,
    node: Node<'_>,
    instance: Option<Node<'_>>,
    around: &Surroundings<'_>,
    source: &str,
) -> Option<Tie> {
    let name = name_in(node, "name", source);
    let special = name.starts_with("__") && name.ends_with("__");
    let (Some(instance), Some(body)) = (instance, child(node, "body")) else { return Some(Tie::NoInstance) };
    let parameters = child(node, "parameters").map(named).unwrap_or_default();
    let head = parameters.into_iter().filter(|parameter| *parameter != instance);
    let mut head = head.flat_map(read).chain(child(node, "return_type"));
    if uses(body, source)
        || is_mangled(node, source)
        || head.any(|part| says(part, source, &around.class))
        || says(node, source, &around.outer)
    {
        Some(Tie::Uses)
    } else {
        (special || statement != node).then_some(Tie::Wanted)
    }
}

/// What of a parameter is read when the method is defined: what it is by default, and its type.
fn read(parameter: Node<'_>) -> Vec<Node<'_>> {
    ["value", "type"].into_iter().filter_map(|field| child(parameter, field)).collect()
}

/// Whether a body says its instance, or asks for the class that it is in. An attribute of these names is another thing.
fn uses(body: Node<'_>, source: &str) -> bool {
    let names = steps(body).filter(|step| step.node.kind() == "identifier" && step.field != Some("attribute"));
    names.into_iter().any(|step| matches!(text(step.node, source), "self" | "super" | "__class__"))
}

/// Whether a method has or says a name of the kind `__name`, which within a class is short for `_Class__name`.
fn is_mangled(node: Node<'_>, source: &str) -> bool {
    let mut names = steps(node).filter(|step| step.node.kind() == "identifier").map(|step| text(step.node, source));
    names.any(|name| name.starts_with("__") && !name.ends_with("__"))
}
