//! Languages that find the names of a class without `this`: whether a method may be saying one.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::tree::{Step, beside_name, says, steps, text};

/// How a language declares and uses names.
pub(super) struct Naming {
    /// Whether an identifier is declared here, within a method.
    pub(super) declares: fn(&Step<'_>) -> bool,
    /// Whether an identifier that no declaration within the method explains may be a name of the class.
    pub(super) reads: fn(&Step<'_>, &str) -> bool,
}

/// What a class brings its methods.
pub(super) struct Kin<'s> {
    /// The names that it declares.
    pub(super) own: BTreeSet<&'s str>,
    /// Whether it has more that cannot be seen from here.
    pub(super) inherits: bool,
}

/// Whether a method says a name that the class declares or, where it inherits, could inherit.
pub(super) fn uses(node: Node<'_>, kin: &Kin<'_>, naming: &Naming, source: &str) -> bool {
    let own: Vec<&str> = kin.own.iter().copied().chain(["this", "super"]).collect();
    beside_name(node).any(|part| says(part, source, &own)) || (kin.inherits && reads_foreign(node, naming, source))
}

fn reads_foreign(node: Node<'_>, naming: &Naming, source: &str) -> bool {
    let identifiers = || steps(node).filter(|step| step.node.kind() == "identifier");
    let local: BTreeSet<&str> =
        identifiers().filter(|step| (naming.declares)(step)).map(|step| text(step.node, source)).collect();
    identifiers().any(|step| {
        let name = text(step.node, source);
        !local.contains(name) && (naming.reads)(&step, name)
    })
}
