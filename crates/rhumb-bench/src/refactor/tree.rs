//! Walks over syntax trees. None recurses: a tree can be as deep as its source is long.

use tree_sitter::{Node, TreeCursor};

/// A node on a walk: how it hangs in the tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'t> {
    pub(super) node: Node<'t>,
    /// Its field in its parent.
    pub(super) field: Option<&'t str>,
    /// Its parent, and the parent's; none above the node that the walk began at.
    pub(super) parent: Option<Node<'t>>,
    pub(super) grandparent: Option<Node<'t>>,
}

impl<'t> Step<'t> {
    /// The kind of its parent, empty where there is none.
    pub(super) fn parent_kind(&self) -> &'t str {
        self.parent.map_or("", |parent| parent.kind())
    }

    /// The kind of its parent's parent, empty where there is none.
    pub(super) fn grandparent_kind(&self) -> &'t str {
        self.grandparent.map_or("", |parent| parent.kind())
    }
}

/// A node and everything below it, parents first.
pub(super) fn steps(node: Node<'_>) -> impl Iterator<Item = Step<'_>> {
    Walk { cursor: node.walk(), parents: Vec::new(), done: false }
}

struct Walk<'t> {
    cursor: TreeCursor<'t>,
    parents: Vec<Node<'t>>,
    done: bool,
}

impl<'t> Iterator for Walk<'t> {
    type Item = Step<'t>;

    fn next(&mut self) -> Option<Step<'t>> {
        if self.done {
            return None;
        }
        let (node, mut above) = (self.cursor.node(), self.parents.iter().rev());
        let field = if self.parents.is_empty() { None } else { self.cursor.field_name() };
        let step = Step { node, field, parent: above.next().copied(), grandparent: above.next().copied() };
        if self.cursor.goto_first_child() {
            self.parents.push(node);
            return Some(step);
        }
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                self.done = true;
                break;
            }
            self.parents.pop();
        }
        Some(step)
    }
}

/// The children of a node that have names in the grammar.
pub(super) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

/// The child of a node in a field.
pub(super) fn child<'t>(node: Node<'t>, field: &str) -> Option<Node<'t>> {
    node.child_by_field_name(field)
}

/// The text of a node.
pub(super) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The text of the child of a node in a field.
pub(super) fn name_in<'s>(node: Node<'_>, field: &str, source: &'s str) -> &'s str {
    child(node, field).map_or("", |name| text(name, source))
}

/// The first node of one of these kinds below a node, or it itself.
pub(super) fn first_of<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    steps(node).map(|step| step.node).find(|node| kinds.contains(&node.kind()))
}

/// Whether one of the direct children of a node, with or without a name in the grammar, is of one of these kinds.
pub(super) fn has_child(node: Node<'_>, kinds: &[&str]) -> bool {
    node.children(&mut node.walk()).any(|child| kinds.contains(&child.kind()))
}

/// Whether a leaf below a node reads like one of these words, in code: neither in a comment nor in a string.
pub(super) fn says(node: Node<'_>, source: &str, words: &[&str]) -> bool {
    says_beside(node, source, words, &[])
}

/// The same, leaves of some kinds aside.
pub(super) fn says_beside(node: Node<'_>, source: &str, words: &[&str], kinds: &[&str]) -> bool {
    let leaves = steps(node).map(|step| step.node).filter(|node| node.child_count() == 0);
    let mut leaves = leaves.filter(|leaf| !is_text(leaf.kind()) && !kinds.contains(&leaf.kind()));
    !words.is_empty() && leaves.any(|leaf| words.contains(&text(leaf, source)))
}

/// Whether nodes of this kind hold text for people.
fn is_text(kind: &str) -> bool {
    kind.contains("comment") || kind.contains("string") || kind.contains("char")
}

/// The parts of a definition, its name aside.
pub(super) fn beside_name(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let name = child(node, "name");
    named(node).into_iter().filter(move |part| Some(*part) != name)
}
