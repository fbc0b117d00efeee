//! What the types of a file inherit from each other: a method that a base class, an interface or a trait declares too, or that a
//! type below its own declares again, is called by whoever knows the other, and cannot leave its class. Other files are not
//! looked at, and names are all that is compared.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::tree::{child, first_of, named, steps, text};

/// The types of a file, with what they declare.
#[derive(Debug, Clone, Default)]
pub(super) struct Lineage<'s> {
    types: Vec<Type<'s>>,
}

#[derive(Debug, Clone)]
struct Type<'s> {
    /// Empty where it has none, as a class that is made where it is used.
    name: &'s str,
    bases: BTreeSet<&'s str>,
    members: BTreeSet<&'s str>,
    /// Whatever has its methods belongs to it, without saying so.
    is_implicit: bool,
}

impl<'s> Lineage<'s> {
    pub(super) fn of(root: Node<'_>, source: &'s str) -> Self {
        Self { types: steps(root).filter_map(|step| declared(step.node, source)).collect() }
    }

    /// Whether a type above or below `class` declares `method`.
    pub(super) fn shares(&self, class: &str, method: &str) -> bool {
        let above = self.above(class);
        let is_kin = |of: &&Type<'_>| {
            of.is_implicit
                || (of.name != class && above.contains(of.name))
                || of.bases.iter().any(|base| *base == class || self.above(base).contains(class))
        };
        self.types.iter().filter(|of| of.members.contains(method)).any(|of| is_kin(&of))
    }

    /// The names of everything that a type inherits from.
    fn above(&self, name: &str) -> BTreeSet<&'s str> {
        let mut above = BTreeSet::new();
        let bases = |of: &str| {
            let types = self.types.iter().filter(|one| !one.name.is_empty() && one.name == of);
            types.flat_map(|one| one.bases.iter().copied()).collect::<Vec<_>>()
        };
        let mut open = bases(name);
        while let Some(base) = open.pop() {
            if above.insert(base) {
                open.extend(bases(base));
            }
        }
        above
    }
}

/// Nodes that declare a type, in all grammars of the benchmark.
const TYPES: [&str; 13] = [
    "class_definition",
    "class_declaration",
    "abstract_class_declaration",
    "class",
    "interface_declaration",
    "type_alias_declaration",
    "record_declaration",
    "enum_declaration",
    "enum_constant",
    "object_creation_expression",
    "class_specifier",
    "struct_specifier",
    "interface_type",
];

/// Nodes that name what a type inherits from.
const HERITAGE: [&str; 7] = [
    "argument_list",
    "class_heritage",
    "extends_type_clause",
    "superclass",
    "super_interfaces",
    "extends_interfaces",
    "base_class_clause",
];

fn declared<'s>(node: Node<'_>, source: &'s str) -> Option<Type<'s>> {
    if !TYPES.contains(&node.kind()) {
        return None;
    }
    let name = child(node, "name").map_or("", |name| text(name, source));
    let is_implicit = node.kind() == "interface_type";
    let body = match node.kind() {
        "interface_type" => node,
        "type_alias_declaration" => child(node, "value").filter(|value| value.kind() == "object_type")?,
        "object_creation_expression" => named(node).into_iter().find(|part| part.kind() == "class_body")?,
        _ => child(node, "body")?,
    };
    let heritage: Vec<Node<'_>> = match node.kind() {
        "object_creation_expression" => child(node, "type").into_iter().collect(),
        // A constant with a body of its own is a class below its enumeration.
        "enum_constant" => {
            node.parent().and_then(|list| list.parent()).and_then(|of| child(of, "name")).into_iter().collect()
        }
        _ => named(node).into_iter().filter(|part| HERITAGE.contains(&part.kind())).collect(),
    };
    let names = |node: Node<'_>| {
        let names = steps(node).filter(|step| matches!(step.node.kind(), "identifier" | "type_identifier"));
        names.map(|step| text(step.node, source)).collect::<Vec<_>>()
    };
    let bases = heritage.into_iter().flat_map(names).collect();
    let name = if node.kind() == "enum_constant" { "" } else { name };
    Some(Type { name, bases, members: members(body, source), is_implicit })
}

/// The names that the body of a type gives to something.
fn members<'s>(body: Node<'_>, source: &'s str) -> BTreeSet<&'s str> {
    let inner = |member: Node<'_>| member.kind() == "enum_body_declarations";
    let all = named(body).into_iter().flat_map(|member| if inner(member) { named(member) } else { vec![member] });
    let name = |member: Node<'_>| {
        let member = child(member, "definition").unwrap_or(member);
        let assigned = named(member).first().copied().filter(|first| first.kind() == "assignment");
        let declarator = child(member, "declarator").and_then(|it| first_of(it, &["field_identifier", "identifier"]));
        let name = child(member, "name").or(declarator).or(assigned.and_then(|it| child(it, "left")));
        name.map(|name| text(name, source))
    };
    all.filter_map(name).collect()
}
