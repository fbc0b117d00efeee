//! The tree of a page, within bounds that the page does not choose.
//!
//! Whoever walks a tree by calling itself must know how deep it is, and what a parser makes of a page is not to be guessed from its
//! text: end tags stand in comments, and one open tag can be opened anew for every paragraph. So the tree itself is measured. The page
//! goes to the parser in pieces; where too much comes of them, or nobody waits any more, the rest is not read.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use htmd::Node;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::{TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};
use markup5ever_rcdom::RcDom;

/// The deepest nesting that is walked as a tree. Browsers themselves go no deeper, and no page that people write comes near it.
pub(super) const DEEPEST: usize = 512;

/// Elements and comments that a page may have; a page of the largest size that is read has some 200,000.
pub(super) const MOST: usize = 500_000;

/// Bytes that the parser gets at a time: what a single piece can do is little.
const PIECE: usize = 1024;

/// The tree of `html`, at most [`DEEPEST`] levels deep and of at most [`MOST`] nodes without the texts. `None` if the page wants
/// more, or where `given_up` says so.
pub(super) fn tree(html: &str, given_up: &dyn Fn() -> bool) -> Option<Rc<Node>> {
    // What is for browsers without scripts is mostly a note to get another browser.
    let tree_builder = TreeBuilderOpts { scripting_enabled: true, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(Measured::default(), ParseOpts { tree_builder, ..ParseOpts::default() });
    let (mut rest, too_much) = (html, parser.tokenizer.sink.sink.too_much());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE.min(rest.len())));
        parser.process(StrTendril::from_slice(piece));
        if too_much.get() || given_up() {
            return None;
        }
        rest = after;
    }
    let document = parser.finish();
    (!too_much.get() && is_shallow(&document)).then_some(document)
}

/// Whether a finished tree is within [`DEEPEST`]. It does not call itself.
fn is_shallow(document: &Rc<Node>) -> bool {
    let mut ahead = vec![(Rc::clone(document), 0)];
    while let Some((node, depth)) = ahead.pop() {
        if depth > DEEPEST {
            return false;
        }
        ahead.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    true
}

/// Builds a tree and notes when it becomes too large.
#[derive(Default)]
struct Measured {
    dom: RcDom,
    nodes: Cell<usize>,
    too_much: Rc<Cell<bool>>,
}

impl Measured {
    fn too_much(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.too_much)
    }

    fn one_more(&self) {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MOST {
            self.too_much.set(true);
        }
    }

    /// Something comes under this node.
    fn grows(&self, under: &Rc<Node>) {
        let mut at = Rc::clone(under);
        for _ in 0..DEEPEST {
            let parent = at.parent.take();
            at.parent.set(parent.clone());
            let Some(parent) = parent.and_then(|parent| parent.upgrade()) else { return };
            at = parent;
        }
        self.too_much.set(true);
    }
}

/// What the tree is asked for goes on to it; only the measure is ours.
impl TreeSink for Measured {
    type Handle = Rc<Node>;
    type Output = Rc<Node>;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Rc<Node> {
        self.dom.document
    }

    // Hardly a page is without mistakes, and nobody reads them.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.dom.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        self.dom.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Rc<Node> {
        self.one_more();
        self.dom.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Rc<Node> {
        self.one_more();
        self.dom.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Rc<Node> {
        self.one_more();
        self.dom.create_pi(target, data)
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.grows(parent);
        self.dom.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &Rc<Node>, previous: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.grows(element);
        self.grows(previous);
        self.dom.append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.dom.append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &Rc<Node>) -> Rc<Node> {
        self.dom.get_template_contents(target)
    }

    fn same_node(&self, one: &Rc<Node>, other: &Rc<Node>) -> bool {
        self.dom.same_node(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.grows(sibling);
        self.dom.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &Rc<Node>, attrs: Vec<Attribute>) {
        self.dom.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &Rc<Node>) {
        self.dom.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Rc<Node>, parent: &Rc<Node>) {
        self.dom.reparent_children(node, parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Rc<Node>) -> bool {
        self.dom.is_mathml_annotation_xml_integration_point(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(html: &str) -> bool {
        tree(html, &|| false).is_some()
    }

    #[test]
    fn a_tree_that_is_too_deep_or_too_large_is_none() {
        assert!(fits("<html><body><p>a<p>b<br><div>c</div></body></html>"));
        assert!(fits(&"<p><b>a</b></p>".repeat(50_000)), "it is long, but no deeper for that");
        assert!(fits(&"<div>".repeat(DEEPEST - 10)));
        assert!(!fits(&"<div>".repeat(DEEPEST + 10)));
        assert!(!fits(&"<!>".repeat(MOST + 1)));
        // Each paragraph opens all of them anew.
        let bold: String = (0..400).map(|number| format!("<b id={number}>")).collect();
        assert!(!fits(&format!("<p>{bold}</p>{}", "<p>x</p>".repeat(20_000))));
    }

    #[test]
    fn a_page_that_nobody_waits_for_is_not_read_on() {
        assert!(tree(&"<p>a</p>".repeat(1_000), &|| true).is_none());
    }
}
