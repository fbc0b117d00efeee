//! Java: classes at the top level, with static methods as functions.

use tree_sitter::Node;

use super::{Class, ClassNames, Function, Method, NamingRules, Obstacle, Outline, uses};
use crate::refactor::syntax_tree::{Visit, child, has_child, name_in, named, text, walk};

pub(crate) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let mut outline = Outline::default();
    for node in named(root).into_iter().filter(|node| CLASSES.contains(&node.kind())) {
        let name = name_in(node, "name", source);
        let functions = definitions(node).into_iter().filter(|method| is_static(*method)).map(|node| Function {
            name: name_in(node, "name", source).to_owned(),
            home: Some(name.to_owned()),
            node,
        });
        outline.functions.extend(functions);
        let methods = methods(node, source);
        outline.classes.push(Class { name: name.to_owned(), parts: vec![node], methods });
    }
    outline
}

const CLASSES: [&str; 3] = ["class_declaration", "record_declaration", "enum_declaration"];

fn definitions(class: Node<'_>) -> Vec<Node<'_>> {
    let members = child(class, "body").map(named).unwrap_or_default();
    let inner = |member: Node<'_>| member.kind() == "enum_body_declarations";
    let all = members.into_iter().flat_map(|member| if inner(member) { named(member) } else { vec![member] });
    all.filter(|member| member.kind() == "method_declaration").collect()
}

fn modifiers(method: Node<'_>) -> Option<Node<'_>> {
    named(method).into_iter().find(|part| part.kind() == "modifiers")
}

fn is_static(method: Node<'_>) -> bool {
    modifiers(method).is_some_and(|modifiers| has_child(modifiers, &["static"]))
}

fn methods<'t>(class: Node<'t>, source: &str) -> Vec<Method<'t>> {
    let own = walk(class).filter(|step| declares_member(step, class)).map(|step| text(step.node, source)).collect();
    let inherits = ["superclass", "interfaces"].iter().any(|field| child(class, field).is_some());
    let kin = ClassNames { own, inherits };
    let method = |node: Node<'t>| {
        let name = name_in(node, "name", source).to_owned();
        Method { obstacle: obstacle(node, &kin, source), name, node, instance: None }
    };
    definitions(class).into_iter().map(method).collect()
}

fn obstacle(node: Node<'_>, kin: &ClassNames<'_>, source: &str) -> Option<Obstacle> {
    let called_alone =
        |step: Visit<'_>| step.node.kind() == "method_invocation" && child(step.node, "object").is_none();
    if is_static(node) || child(node, "body").is_none() {
        Some(Obstacle::NoInstance)
    } else if uses(node, kin, &NAMING, source) || walk(node).any(called_alone) || locks(node) {
        Some(Obstacle::Uses)
    } else {
        is_annotated(node, source).then_some(Obstacle::Wanted)
    }
}

/// Whether the method locks its instance.
fn locks(method: Node<'_>) -> bool {
    modifiers(method).is_some_and(|modifiers| has_child(modifiers, &["synchronized"]))
}

/// Annotations that only the compiler reads. Other annotations may require the method in its class.
const COMPILER_ANNOTATIONS: [&str; 3] = ["SuppressWarnings", "Deprecated", "SafeVarargs"];

fn is_annotated(method: Node<'_>, source: &str) -> bool {
    let parts = modifiers(method).map(named).unwrap_or_default();
    let annotations = parts.into_iter().filter(|part| matches!(part.kind(), "annotation" | "marker_annotation"));
    annotations.into_iter().any(|annotation| !COMPILER_ANNOTATIONS.contains(&name_in(annotation, "name", source)))
}

/// Whether an identifier declares a member of the class, as opposed to a local name.
fn declares_member(step: &Visit<'_>, class: Node<'_>) -> bool {
    let body = child(class, "body");
    match step.parent_kind() {
        "variable_declarator" => step.field == Some("name") && step.grandparent_kind() == "field_declaration",
        "method_declaration"
        | "class_declaration"
        | "record_declaration"
        | "enum_declaration"
        | "interface_declaration"
        | "enum_constant" => step.field == Some("name") && step.parent != Some(class),
        "type_parameter" => step.node.kind() == "type_identifier" && step.node.start_byte() < start(body),
        "formal_parameter" => step.field == Some("name") && step.node.start_byte() < start(body),
        _ => false,
    }
}

fn start(body: Option<Node<'_>>) -> usize {
    body.map_or(0, |body| body.start_byte())
}

const NAMING: NamingRules = NamingRules { declares, reads };

fn declares(step: &Visit<'_>) -> bool {
    match step.parent_kind() {
        "variable_declarator"
        | "formal_parameter"
        | "enhanced_for_statement"
        | "resource"
        | "catch_formal_parameter"
        | "instanceof_expression" => step.field == Some("name"),
        "inferred_parameters" | "type_pattern" | "record_pattern_component" => true,
        "lambda_expression" => step.field == Some("parameters"),
        _ => false,
    }
}

fn reads(step: &Visit<'_>, name: &str) -> bool {
    // By convention a name in mixed case with an initial capital is a type.
    let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    let is_word = match step.parent_kind() {
        "method_invocation" | "method_declaration" | "marker_annotation" | "annotation" => step.field == Some("name"),
        "field_access" => step.field == Some("field"),
        "element_value_pair" => step.field == Some("key"),
        "method_reference" => step.parent.and_then(|parent| parent.named_child(0)) != Some(step.node),
        "switch_label" | "labeled_statement" | "break_statement" | "continue_statement" | "scoped_identifier" => true,
        _ => false,
    };
    !is_type && !is_word
}
