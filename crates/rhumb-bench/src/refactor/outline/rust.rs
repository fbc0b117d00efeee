//! Rust: types with their `impl` blocks, at the top level of the file.

use tree_sitter::Node;

use super::{Function, Method, Obstacle, Outline};
use crate::refactor::syntax_tree::{child, first_of, mentions, name_in, named, parts_without_name, text, walk};

pub(crate) fn outline<'t>(root: Node<'t>, source: &str) -> Outline<'t> {
    let mut outline = Outline::default();
    for node in named(root) {
        match node.kind() {
            "struct_item" | "enum_item" | "union_item" => {
                outline.class(name_in(node, "name", source)).parts.push(node);
            }
            "impl_item" => {
                let methods = methods(node, source);
                let class = outline.class(type_name(node, source));
                class.parts.push(node);
                class.methods.extend(methods);
            }
            "function_item" => {
                let name = name_in(node, "name", source).to_owned();
                outline.functions.push(Function { name, home: None, node });
            }
            _ => {}
        }
    }
    outline
}

/// The name of the type of an `impl` block, without generic arguments.
fn type_name<'s>(block: Node<'_>, source: &'s str) -> &'s str {
    let of = child(block, "type").and_then(|of| first_of(of, &["type_identifier"]));
    of.map_or("", |name| text(name, source))
}

fn methods<'t>(block: Node<'t>, source: &str) -> Vec<Method<'t>> {
    let of_trait = child(block, "trait").is_some();
    let parameters = parameters(block, source);
    let items = child(block, "body").map(named).unwrap_or_default();
    let method = |node: Node<'t>| {
        let instance = child(node, "parameters").and_then(|parameters| named(parameters).first().copied());
        let instance = instance.filter(|first| first.kind() == "self_parameter" || mentions(*first, source, &["self"]));
        // The parameter `self` is not a use.
        let parts = parts_without_name(node)
            .flat_map(|part| if part.kind() == "parameters" { named(part) } else { vec![part] });
        let mut parts = parts.filter(|part| Some(*part) != instance);
        let uses = parts.any(|part| {
            let formats = |name: &&str| formats(part, name, source);
            mentions(part, source, &["self", "Self"])
                || mentions(part, source, &parameters)
                || ["self"].iter().chain(&parameters).any(formats)
        });
        let obstacle = if instance.is_none() {
            Some(Obstacle::NoInstance)
        } else if of_trait {
            Some(Obstacle::Wanted)
        } else {
            uses.then_some(Obstacle::Uses)
        };
        Method { name: name_in(node, "name", source).to_owned(), node, instance, obstacle }
    };
    items.into_iter().filter(|node| node.kind() == "function_item").map(method).collect()
}

/// Whether a format string in a macro uses a value: `{name}`, `{name:?}` or `{:name$}`.
fn formats(part: Node<'_>, name: &str, source: &str) -> bool {
    let texts = walk(part).filter(|step| step.node.kind().ends_with("string_literal"));
    let names = |text: &str| {
        let said = text.match_indices(name).map(|(at, _)| (text.get(..at), text.get(at + name.len()..)));
        said.into_iter().any(|(before, after)| {
            let opens = before.is_some_and(|before| before.ends_with('{'));
            let after = after.and_then(|after| after.chars().next());
            after == Some('$') || (opens && matches!(after, Some('}' | ':')))
        })
    };
    texts.into_iter().any(|step| step.parent_kind() == "token_tree" && names(text(step.node, source)))
}

/// The names of the generic parameters of an `impl` block: types, constants and lifetimes.
fn parameters<'s>(block: Node<'_>, source: &'s str) -> Vec<&'s str> {
    let parameters = child(block, "type_parameters").map(walk).into_iter().flatten();
    let names = parameters.filter(|step| step.field == Some("name") || step.parent_kind() == "lifetime");
    names.map(|step| text(step.node, source)).collect()
}
