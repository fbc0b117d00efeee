//! Go: types with their methods.

use tree_sitter::Node;

use super::{Function, Method, Obstacle, Outline};
use crate::refactor::syntax_tree::{child, first_of, mentions_outside, name_in, named, text, walk};

pub(crate) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let mut outline = Outline::default();
    for node in named(root) {
        match node.kind() {
            "type_declaration" => {
                for spec in named(node).into_iter().filter(|spec| spec.kind() == "type_spec") {
                    outline.class(name_in(spec, "name", source)).parts.push(spec);
                }
            }
            "method_declaration" => {
                let of = child(node, "receiver").and_then(|receiver| first_of(receiver, &["type_identifier"]));
                let class = outline.class(of.map_or("", |name| text(name, source)));
                class.parts.push(node);
                class.methods.push(method(node, source));
            }
            "function_declaration" => {
                let name = name_in(node, "name", source).to_owned();
                outline.functions.push(Function { name, home: None, node });
            }
            _ => {}
        }
    }
    outline
}

fn method<'t>(node: Node<'t>, source: &str) -> Method<'t> {
    let instance = child(node, "receiver");
    let names: Vec<&str> = instance.map(|receiver| receiver_names(receiver, source)).unwrap_or_default();
    let Some(body) = child(node, "body") else {
        return Method {
            name: name_in(node, "name", source).to_owned(),
            node,
            instance,
            obstacle: Some(Obstacle::NoInstance),
        };
    };
    // A field of the same name is not the receiver.
    let uses = [child(node, "parameters"), child(node, "result"), Some(body)];
    let uses = uses.into_iter().flatten().any(|part| mentions_outside(part, source, &names, &["field_identifier"]));
    Method { name: name_in(node, "name", source).to_owned(), node, instance, obstacle: uses.then_some(Obstacle::Uses) }
}

/// The names of the receiver and of its type parameters.
fn receiver_names<'s>(receiver: Node<'_>, source: &'s str) -> Vec<&'s str> {
    let named = walk(receiver).filter(|step| {
        let own = step.node.kind() == "identifier" && step.field == Some("name");
        own || (step.node.kind() == "type_identifier" && step.parent_kind() == "type_elem")
    });
    named.map(|step| text(step.node, source)).filter(|name| *name != "_").collect()
}
