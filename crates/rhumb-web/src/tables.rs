//! Estimates the size of a table as text: each cell is as wide as its column, so that one long cell makes every row long.

use std::rc::Rc;

use htmd::Node;
use markup5ever_rcdom::NodeData;

/// Maximum size of a table as text in bytes. The cells of a larger one are written one after the other.
const MAX_TABLE_BYTES: usize = 4_000_000;

/// Additional bytes of a cell.
const CELL_BORDER_BYTES: usize = 3;

/// Whether a table stays within [`MAX_TABLE_BYTES`], approximately.
pub(super) fn is_sane(table: &Rc<Node>) -> bool {
    let (mut rows, mut widths) = (0usize, Vec::<usize>::new());
    let mut ahead = vec![Rc::clone(table)];
    while let Some(node) = ahead.pop() {
        if !named(&node, &["tr", "thead"]) {
            ahead.extend(node.children.borrow().iter().cloned());
            continue;
        }
        let mut column = 0;
        for child in node.children.borrow().iter() {
            if named(child, &["td", "th"]) {
                let width = CELL_BORDER_BYTES + weight(child);
                match widths.get_mut(column) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
                column += 1;
            } else {
                ahead.push(Rc::clone(child));
            }
        }
        rows += 1;
    }
    widths.iter().sum::<usize>().saturating_mul(rows) <= MAX_TABLE_BYTES
}

/// The size of the texts and attributes in a node, in bytes.
fn weight(node: &Rc<Node>) -> usize {
    let (mut bytes, mut ahead) = (0, vec![Rc::clone(node)]);
    while let Some(node) = ahead.pop() {
        match &node.data {
            NodeData::Text { contents } => bytes += contents.borrow().len(),
            NodeData::Element { attrs, .. } => {
                bytes += attrs.borrow().iter().map(|attribute| attribute.value.len()).sum::<usize>();
            }
            _ => {}
        }
        ahead.extend(node.children.borrow().iter().cloned());
    }
    bytes
}

fn named(node: &Rc<Node>, names: &[&str]) -> bool {
    matches!(&node.data, NodeData::Element { name, .. } if names.contains(&&*name.local))
}
