//! What stands where on the screen, as last drawn: so that a click finds what it means.

use ratatui::layout::{Position, Rect};

use super::action::Pane;

/// What a cell of the screen belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// A pane: its frame, or a part of it that means nothing else.
    Pane(Pane),
    /// A row of a pane, 0-based in the list that the pane shows.
    Row(Pane, usize),
    /// The tab of a pane.
    Tab(Pane),
    /// The composer.
    Composer,
    /// A place in the code that an answer of the transcript names: the entry, and which of its citations.
    Citation(usize, usize),
    /// A row of the overlay on top, 0-based in its list.
    Item(usize),
}

/// All that stands on the screen.
#[derive(Debug, Clone, Default)]
pub struct Hits(Vec<(Rect, Hit)>);

impl Hits {
    /// Notes what a part of the screen belongs to. Of parts that overlap, the one noted last counts.
    pub fn add(&mut self, area: Rect, hit: Hit) {
        self.0.push((area, hit));
    }

    /// What stands at a cell, with the area that belongs to it.
    pub fn at(&self, column: u16, row: u16) -> Option<(Rect, Hit)> {
        self.0.iter().rev().find(|(area, _)| area.contains(Position { x: column, y: row })).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_last_lies_on_top() {
        let mut hits = Hits::default();
        hits.add(Rect::new(0, 0, 10, 5), Hit::Pane(Pane::Map));
        hits.add(Rect::new(1, 1, 8, 1), Hit::Row(Pane::Map, 3));
        assert_eq!(hits.at(2, 1).map(|(_, hit)| hit), Some(Hit::Row(Pane::Map, 3)));
        assert_eq!(hits.at(0, 1).map(|(_, hit)| hit), Some(Hit::Pane(Pane::Map)));
        assert_eq!(hits.at(10, 1), None);
    }
}
