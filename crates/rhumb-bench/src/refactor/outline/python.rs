//! Python: classes at any level, functions of the module, and rules of Python 3 that the grammar does not check: it also accepts
//! Python 2, any indentation, and any order of parameters and arguments.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::{Class, Function, Method, Obstacle, Outline};
use crate::refactor::syntax_tree::{child, first_of, has_child, mentions, name_in, named, text, walk};

pub(crate) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let functions = named(root).into_iter().filter_map(definition).filter(|node| node.kind() == FUNCTION);
    let functions = functions.map(|node| Function { name: name_in(node, "name", source).to_owned(), home: None, node });
    let classes = walk(root).filter(|step| step.node.kind() == CLASS).map(|step| Class {
        name: name_in(step.node, "name", source).to_owned(),
        // Decorators belong to the class, as in `ast`.
        parts: vec![step.parent.filter(|parent| parent.kind() == "decorated_definition").unwrap_or(step.node)],
        methods: methods(step.node, source),
    });
    Outline { classes: classes.collect(), functions: functions.collect() }
}

const FUNCTION: &str = "function_definition";
const CLASS: &str = "class_definition";

/// The definition of a statement, without decorators.
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
        let obstacle = obstacle(statement, node, instance, &surroundings, source);
        Some(Method { name, node, instance, obstacle })
    };
    statements.into_iter().filter_map(method).collect()
}

fn is_self(parameter: Node<'_>, source: &str) -> bool {
    first_of(parameter, &["identifier"]).is_some_and(|name| text(name, source) == "self")
}

/// The names around a method, without those of the module.
struct Surroundings<'s> {
    /// Names that the class binds. The signature of a method sees them, its body does not.
    class: Vec<&'s str>,
    /// Type parameters, and names that functions around the class bind. The body sees them too.
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
    let walk = node.map(walk).into_iter().flatten();
    walk.filter(|step| step.node.kind() == "identifier").map(|step| text(step.node, source)).collect()
}

/// The names that the statements of a block bind, without those in nested functions and classes.
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

fn obstacle(
    statement: Node<'_>,
    node: Node<'_>,
    instance: Option<Node<'_>>,
    around: &Surroundings<'_>,
    source: &str,
) -> Option<Obstacle> {
    let name = name_in(node, "name", source);
    let special = name.starts_with("__") && name.ends_with("__");
    let (Some(instance), Some(body)) = (instance, child(node, "body")) else { return Some(Obstacle::NoInstance) };
    let parameters = child(node, "parameters").map(named).unwrap_or_default();
    let head = parameters.into_iter().filter(|parameter| *parameter != instance);
    let mut head = head.flat_map(read).chain(child(node, "return_type"));
    if uses(body, source)
        || is_mangled(node, source)
        || head.any(|part| mentions(part, source, &around.class))
        || mentions(node, source, &around.outer)
    {
        Some(Obstacle::Uses)
    } else {
        (special || statement != node).then_some(Obstacle::Wanted)
    }
}

/// The parts of a parameter that are evaluated when the method is defined: the default and the type.
fn read(parameter: Node<'_>) -> Vec<Node<'_>> {
    ["value", "type"].into_iter().filter_map(|field| child(parameter, field)).collect()
}

/// Whether a body uses its instance or its class. An attribute with one of these names does not count.
fn uses(body: Node<'_>, source: &str) -> bool {
    let names = walk(body).filter(|step| step.node.kind() == "identifier" && step.field != Some("attribute"));
    names.into_iter().any(|step| matches!(text(step.node, source), "self" | "super" | "__class__"))
}

/// Whether a method has or uses a name like `__name`, which means `_Class__name` within a class.
fn is_mangled(node: Node<'_>, source: &str) -> bool {
    let mut names = walk(node).filter(|step| step.node.kind() == "identifier").map(|step| text(step.node, source));
    names.any(|name| name.starts_with("__") && !name.ends_with("__"))
}

/// Whether a tree without errors is valid Python 3, as far as these rules go.
pub(crate) fn is_sound(root: Node<'_>) -> bool {
    walk(root).all(|step| match step.node.kind() {
        "module" | "block" => is_laid_out(step.node, step.parent),
        // `print >>file, x` is a valid expression.
        "print_statement" => has_child(step.node, &["chevron"]),
        "exec_statement" => false,
        "raise_statement" => !has_child(step.node, &["expression_list"]),
        "try_statement" => has_child(step.node, &["except_clause", "except_group_clause", "finally_clause"]),
        "comparison_operator" => !has_child(step.node, &["<>"]),
        "parameters" | "lambda_parameters" => are_parameters(step.node),
        "argument_list" => are_arguments(step.node),
        _ => true,
    })
}

/// Whether the statements of a block have the same indentation, and more than their header.
fn is_laid_out(block: Node<'_>, parent: Option<Node<'_>>) -> bool {
    let statements = named(block).into_iter().filter(|node| !node.is_extra());
    let starts: Vec<_> = statements.map(|node| (node.start_position(), node.end_position())).collect();
    let Some(((first, _), rest)) = starts.split_first() else { return block.kind() == "module" };
    let above = parent.map_or(0, |parent| parent.start_position().column + 1);
    let header = parent.map(|parent| parent.start_position().row);
    let inside = first.column >= above || header == Some(first.row);
    let mut row = starts.first().map_or(0, |(_, end)| end.row);
    let aligned = rest.iter().all(|(start, end)| {
        let same_line = start.row == row;
        row = end.row;
        same_line || start.column == first.column
    });
    inside && aligned
}

/// The kind of a parameter, which determines what may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Plain,
    WithDefault,
    /// `/`
    Positional,
    /// `*`
    Star,
    /// `*args`
    Rest,
    /// `**kwargs`
    Keywords,
}

impl Parameter {
    fn of(node: Node<'_>) -> Self {
        let inner = if node.kind() == "typed_parameter" { node.named_child(0).unwrap_or(node) } else { node };
        match inner.kind() {
            "default_parameter" | "typed_default_parameter" => Self::WithDefault,
            "positional_separator" => Self::Positional,
            "keyword_separator" => Self::Star,
            "list_splat_pattern" => Self::Rest,
            "dictionary_splat_pattern" => Self::Keywords,
            _ => Self::Plain,
        }
    }
}

/// Whether the order of parameters is valid.
fn are_parameters(node: Node<'_>) -> bool {
    let all: Vec<Parameter> = named(node).into_iter().filter(|node| !node.is_extra()).map(Parameter::of).collect();
    let (mut default, mut slash, mut star) = (false, false, false);
    all.iter().enumerate().all(|(at, parameter)| {
        let next = all.get(at + 1);
        match parameter {
            Parameter::Plain => star || !default,
            Parameter::WithDefault => {
                default = true;
                true
            }
            Parameter::Positional => at > 0 && !star && !std::mem::replace(&mut slash, true),
            Parameter::Star => {
                let named = matches!(next, Some(Parameter::Plain | Parameter::WithDefault));
                named && !std::mem::replace(&mut star, true)
            }
            Parameter::Rest => !std::mem::replace(&mut star, true),
            Parameter::Keywords => next.is_none(),
        }
    })
}

/// Whether the order of arguments is valid.
fn are_arguments(node: Node<'_>) -> bool {
    let (mut keyword, mut splat) = (false, false);
    named(node).into_iter().filter(|node| !node.is_extra()).all(|argument| match argument.kind() {
        "keyword_argument" => {
            keyword = true;
            true
        }
        "dictionary_splat" => {
            splat = true;
            true
        }
        "list_splat" => !splat,
        _ => !keyword && !splat,
    })
}
