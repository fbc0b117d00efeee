//! Calls of a method through its instance, within its class: each becomes smaller when the method becomes a function.

use tree_sitter::Node;

use super::outline::{Class, Method};
use super::tree::{child, steps, text};

/// A place that names a method.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'t> {
    /// The name with what stands before it: `self.name`, or the whole call where the language has one node for that.
    pub(super) whole: Node<'t>,
    /// What stands before it; the name itself where that is nothing.
    pub(super) through: Node<'t>,
    /// The name.
    pub(super) name: Node<'t>,
}

/// The calls of a method in the rest of its class.
pub(super) fn calls_of<'t>(class: &Class<'t>, method: &Method<'t>, source: &str) -> Vec<Call<'t>> {
    let receivers: Vec<&str> = class.methods.iter().filter_map(|other| receiver(other, source)).collect();
    let own = |node: Node<'_>| {
        let text = text(node, source);
        matches!(text, "self" | "this") || receivers.contains(&text)
    };
    let nodes = class.parts.iter().flat_map(|part| steps(*part)).map(|step| step.node);
    let outside = nodes
        .filter(|node| node.start_byte() < method.node.start_byte() || node.start_byte() >= method.node.end_byte());
    let call = |whole: Node<'t>| {
        if !ACCESS.contains(&whole.kind()) {
            return None;
        }
        let name = ["attribute", "field", "property", "name"].into_iter().find_map(|field| child(whole, field))?;
        let through = whole.named_child(0)?;
        let meant = text(name, source) == method.name && (through == name || own(through));
        meant.then_some(Call { whole, through, name })
    };
    outside.filter_map(call).collect()
}

/// Kinds of nodes by which something of an instance is named.
const ACCESS: [&str; 5] =
    ["attribute", "field_expression", "member_expression", "selector_expression", "method_invocation"];

/// The name of the receiver of a method, where it has one of its own.
fn receiver<'s>(method: &Method<'_>, source: &'s str) -> Option<&'s str> {
    let name = steps(method.instance?).find(|step| step.node.kind() == "identifier" && step.field == Some("name"))?;
    Some(text(name.node, source))
}
