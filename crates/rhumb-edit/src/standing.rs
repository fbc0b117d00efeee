//! What a reply is put upon: changes that earlier ones proposed, that are under review, and that no file has yet.

use std::ops::Range;

use super::compose::document::{Document, Item};
use super::outcome::Outcome;
use super::proposal::FileProposal;
use rhumb_text::diff;
use rhumb_text::lines;

/// What stands from the replies before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// The files with the changes that are not rejected.
    pub files: Vec<StandingFile>,
    /// Edits without a place that a reply may come back to.
    pub refused: Vec<Outcome>,
}

/// A file with changes that stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingFile {
    /// Its texts. Where the file says something else than the base by now, nothing stands.
    pub file: FileProposal,
    /// The lines of the base (0-based) of the changes that the reviewer wants otherwise: an edit of that place is put there
    /// instead, and not beside.
    pub noted: Vec<Range<usize>>,
}

/// The lines of a document with the changes to `proposed`.
pub(super) fn items(document: &Document, proposed: &str) -> Vec<Item> {
    let new = Document::new(proposed.into());
    let (old_lines, new_lines) = (lines::split(document.base()), lines::split(proposed));
    let mut items = Vec::with_capacity(new.len());
    let mut at = 0;
    for hunk in diff::line_hunks(&old_lines, &new_lines) {
        items.extend((at..hunk.base.start).map(Item::Old));
        items.extend(hunk.proposed.map(|line| Item::New(new.body(line).to_owned())));
        at = hunk.base.end;
    }
    items.extend((at..document.len()).map(Item::Old));
    items
}

/// Where the lines `first` to `last` of a document (0-based) of `count` lines stand among `items`, with all that is there in the place
/// of those that are gone; `None` if lines beside them are gone with them.
pub(super) fn region(items: &[Item], first: usize, last: usize, count: usize) -> Option<Range<usize>> {
    let place = |wanted: &dyn Fn(usize) -> bool| items.iter().position(|item| item.old().is_some_and(wanted));
    let start = match place(&|line| line == first) {
        Some(at) => at,
        None if first == 0 => 0,
        None => place(&|line| line + 1 == first)? + 1,
    };
    let end = match place(&|line| line == last) {
        Some(at) => at + 1,
        None if last + 1 == count => items.len(),
        None => place(&|line| line == last + 1)?,
    };
    (start <= end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(text: &str) -> Item {
        Item::New(text.to_owned())
    }

    #[test]
    fn a_change_that_stands_is_lines_that_went_and_lines_that_came() {
        let document = Document::new("a\nb\nc\n".into());
        assert_eq!(items(&document, "a\nB\nB2\nc\n"), [Item::Old(0), new("B"), new("B2"), Item::Old(2)]);
        assert_eq!(items(&document, "a\nb\nc"), [Item::Old(0), Item::Old(1), new("c")]);
    }

    #[test]
    fn a_region_ends_where_the_lines_beside_it_are() {
        let items = [Item::Old(0), new("x"), Item::Old(3), new("y"), Item::Old(4)];
        assert_eq!(region(&items, 1, 2, 5), Some(1..2));
        assert_eq!(region(&items, 3, 4, 5), Some(2..5));
        assert_eq!(region(&items, 1, 1, 5), None, "the line after it is gone, too");
        assert_eq!(region(&items, 2, 2, 5), None, "the line before it is");
        assert_eq!(region(&[Item::Old(0), new("x")], 1, 2, 3), Some(1..2), "to the end");
        assert_eq!(region(&[Item::Old(0), new("x")], 1, 1, 3), None, "not to the end");
        assert_eq!(region(&[new("x"), Item::Old(1)], 0, 0, 2), Some(0..1));
    }
}
