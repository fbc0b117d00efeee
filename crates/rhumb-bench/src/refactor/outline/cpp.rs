//! C++: classes with their bodies, and functions of namespaces.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::{Class, ClassNames, Function, Method, NamingRules, Obstacle, Outline, uses};
use crate::refactor::syntax_tree::{Visit, child, first_of, has_child, name_in, named, text, walk};

pub(crate) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let mut outline = Outline::default();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match node.kind() {
            "class_specifier" | "struct_specifier" => outline.classes.extend(class(node, source)),
            "function_definition" => {
                let name = name_of(node).filter(|name| name.kind() == "identifier");
                outline.functions.extend(name.map(|name| Function {
                    name: text(name, source).to_owned(),
                    home: None,
                    node,
                }));
            }
            kind if SCOPES.contains(&kind) => open.extend(named(node)),
            _ => {}
        }
    }
    outline
}

/// Kinds of nodes that contain definitions of the top level.
const SCOPES: [&str; 10] = [
    "translation_unit", "namespace_definition", "declaration_list", "linkage_specification", "template_declaration",
    "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "declaration",
];

/// The name of a function definition, whatever its return type.
fn name_of(definition: Node<'_>) -> Option<Node<'_>> {
    let declarator = child(definition, "declarator").and_then(|it| first_of(it, &["function_declarator"]));
    declarator.and_then(|declarator| child(declarator, "declarator"))
}

fn class<'t>(node: Node<'t>, source: &str) -> Option<Class<'t>> {
    let body = child(node, "body")?;
    let name = name_in(node, "name", source).to_owned();
    let own = members(node, source);
    let kin = ClassNames { own, inherits: has_child(node, &["base_class_clause"]) };
    let definitions = named(body).into_iter().filter(|member| member.kind() == "function_definition");
    let methods = definitions.filter_map(|node| method(node, &kin, source)).collect();
    Some(Class { name, parts: vec![node], methods })
}

fn method<'t>(node: Node<'t>, kin: &ClassNames<'_>, source: &str) -> Option<Method<'t>> {
    let name = name_of(node)?;
    let called = text(name, source).to_owned();
    let plain = name.kind() == "field_identifier" && child(node, "body").is_some() && child(node, "type").is_some();
    let is_static = named(node).iter().any(|part| text(*part, source) == "static");
    let kin =
        ClassNames { own: kin.own.iter().copied().filter(|own| *own != called).collect(), inherits: kin.inherits };
    let wanted = walk(node).any(|step| matches!(step.node.kind(), "virtual" | "virtual_specifier"));
    let recurs = walk(node).any(|step| step.node != name && text(step.node, source) == called);
    let obstacle = if !plain || is_static {
        Some(Obstacle::NoInstance)
    } else if recurs || uses(node, &kin, &NAMING, source) {
        Some(Obstacle::Uses)
    } else {
        wanted.then_some(Obstacle::Wanted)
    };
    Some(Method { name: called, node, instance: None, obstacle })
}

/// All names that a class declares, and the parameters of its template.
fn members<'s>(class: Node<'_>, source: &'s str) -> BTreeSet<&'s str> {
    let declares = |step: &Visit<'_>| match step.node.kind() {
        "field_identifier" => step.field == Some("declarator") || step.parent_kind().ends_with("_declarator"),
        "type_identifier" => {
            matches!(step.parent_kind(), "alias_declaration" | "type_definition" | "enum_specifier")
                || (step.parent_kind().ends_with("_specifier") && step.parent != Some(class))
        }
        "identifier" => step.parent_kind() == "enumerator",
        _ => false,
    };
    let inner = walk(class).filter(declares).map(|step| text(step.node, source));
    let template = class.parent().filter(|parent| parent.kind() == "template_declaration");
    let parameters = template.and_then(|template| child(template, "parameters")).map(walk).into_iter().flatten();
    let parameters = parameters.filter(|step| matches!(step.node.kind(), "type_identifier" | "identifier"));
    inner.chain(parameters.map(|step| text(step.node, source))).collect()
}

const NAMING: NamingRules = NamingRules { declares, reads };

fn declares(step: &Visit<'_>) -> bool {
    let wraps =
        ["reference_declarator", "pointer_declarator", "structured_binding_declarator", "parenthesized_declarator"];
    step.field == Some("declarator") || wraps.contains(&step.parent_kind())
}

fn reads(step: &Visit<'_>, _: &str) -> bool {
    !matches!(step.parent_kind(), "qualified_identifier" | "attribute")
}
