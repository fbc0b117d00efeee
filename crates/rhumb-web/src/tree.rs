//! Parses HTML into a tree of limited depth and size.
//!
//! A recursive walk needs a tree of limited depth, and the depth cannot be predicted from the text: end tags may be in
//! comments, and one unclosed tag can be reopened for every paragraph. So the tree itself is measured. The page is parsed in
//! pieces; if the tree becomes too large, or the conversion is cancelled, the rest is not parsed.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use htmd::Node;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::{TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};
use markup5ever_rcdom::{NodeData, RcDom};

/// Maximum depth of a tree. Browsers have a similar limit, and pages written by people are far below it.
pub(super) const MAX_DEPTH: usize = 512;

/// Maximum number of elements and comments. A page of the maximum size has about 200,000.
pub(super) const MAX_NODES: usize = 500_000;

/// Size of a piece for the parser in bytes. A single piece can add only little.
const PIECE_BYTES: usize = 1024;

/// Parses `html` into a tree with at most [`MAX_DEPTH`] levels and [`MAX_NODES`] nodes without texts. `None` if the page
/// exceeds them, or if `is_cancelled` returns `true`.
pub(super) fn tree(html: &str, is_cancelled: &dyn Fn() -> bool) -> Option<Rc<Node>> {
    // Content of `noscript` is usually a note to use another browser.
    let tree_builder = TreeBuilderOpts { scripting_enabled: true, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(LimitedSink::default(), ParseOpts { tree_builder, ..ParseOpts::default() });
    let (mut rest, exceeded) = (html, Rc::clone(&parser.tokenizer.sink.sink.exceeded));
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES.min(rest.len())));
        parser.process(StrTendril::from_slice(piece));
        if exceeded.get() || is_cancelled() {
            return None;
        }
        rest = after;
    }
    let document = parser.finish();
    (!exceeded.get() && is_shallow(&document)).then_some(document)
}

/// Whether a finished tree is within [`MAX_DEPTH`]. Not recursive.
fn is_shallow(document: &Rc<Node>) -> bool {
    let mut pending = vec![(Rc::clone(document), 0)];
    while let Some((node, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return false;
        }
        pending.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    true
}

/// Builds a tree and records when it becomes too large.
#[derive(Default)]
struct LimitedSink {
    dom: RcDom,
    nodes: Cell<usize>,
    exceeded: Rc<Cell<bool>>,
}

impl LimitedSink {
    fn count_node(&self) {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MAX_NODES {
            self.exceeded.set(true);
        }
    }

    /// Checks the depth before a node is added to `parent`.
    fn check_depth(&self, parent: &Rc<Node>) {
        let mut at = Rc::clone(parent);
        for _ in 0..MAX_DEPTH {
            let parent = at.parent.take();
            at.parent.set(parent.clone());
            let Some(parent) = parent.and_then(|parent| parent.upgrade()) else { return };
            at = parent;
        }
        self.exceeded.set(true);
    }
}

/// Delegates to the inner sink and counts nodes.
impl TreeSink for LimitedSink {
    type Handle = Rc<Node>;
    type Output = Rc<Node>;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Rc<Node> {
        self.dom.document
    }

    // Almost all pages have errors, which are ignored.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.dom.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        self.dom.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Rc<Node> {
        self.count_node();
        self.dom.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Rc<Node> {
        self.count_node();
        self.dom.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Rc<Node> {
        self.count_node();
        self.dom.create_pi(target, data)
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.check_depth(parent);
        self.dom.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &Rc<Node>, previous: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.check_depth(element);
        self.check_depth(previous);
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
        self.check_depth(sibling);
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

/// Maximum size of a table as text in bytes. The cells of a larger one are written one after the other.
const MAX_TABLE_BYTES: usize = 4_000_000;

/// Additional bytes of a cell.
const CELL_BORDER_BYTES: usize = 3;

/// Whether a table as text has at most about [`MAX_TABLE_BYTES`]. Each cell is as wide as its column, so one long cell makes every row
/// long.
pub(super) fn has_bounded_size(table: &Rc<Node>) -> bool {
    let (mut rows, mut widths) = (0usize, Vec::<usize>::new());
    let mut pending = vec![Rc::clone(table)];
    while let Some(node) = pending.pop() {
        if !is_element(&node, &["tr", "thead"]) {
            pending.extend(node.children.borrow().iter().cloned());
            continue;
        }
        let mut column = 0;
        for child in node.children.borrow().iter() {
            if is_element(child, &["td", "th"]) {
                let width = CELL_BORDER_BYTES + content_bytes(child);
                match widths.get_mut(column) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
                column += 1;
            } else {
                pending.push(Rc::clone(child));
            }
        }
        rows += 1;
    }
    widths.iter().sum::<usize>().saturating_mul(rows) <= MAX_TABLE_BYTES
}

/// The size of the texts and attributes in a node, in bytes.
fn content_bytes(node: &Rc<Node>) -> usize {
    let (mut bytes, mut pending) = (0, vec![Rc::clone(node)]);
    while let Some(node) = pending.pop() {
        match &node.data {
            NodeData::Text { contents } => bytes += contents.borrow().len(),
            NodeData::Element { attrs, .. } => {
                bytes += attrs.borrow().iter().map(|attribute| attribute.value.len()).sum::<usize>();
            }
            _ => {}
        }
        pending.extend(node.children.borrow().iter().cloned());
    }
    bytes
}

fn is_element(node: &Rc<Node>, names: &[&str]) -> bool {
    matches!(&node.data, NodeData::Element { name, .. } if names.contains(&&*name.local))
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
        assert!(fits(&"<p><b>a</b></p>".repeat(50_000)), "it is long, but not deep");
        assert!(fits(&"<div>".repeat(MAX_DEPTH - 10)));
        assert!(!fits(&"<div>".repeat(MAX_DEPTH + 10)));
        assert!(!fits(&"<!>".repeat(MAX_NODES + 1)));
        // Each paragraph reopens all of them.
        let bold: String = (0..400).map(|number| format!("<b id={number}>")).collect();
        assert!(!fits(&format!("<p>{bold}</p>{}", "<p>x</p>".repeat(20_000))));
    }

    #[test]
    fn a_cancelled_page_is_not_parsed_further() {
        assert!(tree(&"<p>a</p>".repeat(1_000), &|| true).is_none());
    }
}
