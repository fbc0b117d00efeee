//! The visible part and the selection of a long list.

use crate::tui::prelude::*;

/// A window of `height` items over a list of `len`, holding the selected item in view. Positions are 0-based; an empty
/// list has selection 0, which is then no item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListWindow {
    len: usize,
    height: usize,
    selected: usize,
    pub offset: usize,
}

/// Items kept visible above and below the selection while there are any.
const MARGIN: usize = 2;

impl ListWindow {
    pub fn new(len: usize) -> Self {
        Self { len, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn selected(&self) -> Option<usize> {
        (self.selected < self.len).then_some(self.selected)
    }

    pub fn visible(&self) -> Range<usize> {
        self.offset..self.len.min(self.offset.saturating_add(self.height))
    }

    /// Changes the number of items. The selection stays while it exists.
    pub fn set_len(&mut self, len: usize) {
        self.len = len;
        self.select(self.selected);
    }

    pub fn set_height(&mut self, height: usize) {
        self.height = height;
        self.follow();
    }

    /// Selects an item, or the last one if there are fewer.
    pub fn select(&mut self, item: usize) {
        self.selected = item.min(self.len.saturating_sub(1));
        self.follow();
    }

    /// Moves the selection by that many items and stops at either end.
    pub fn step(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    /// Moves the selection by one item, from the last to the first and back.
    pub fn cycle(&mut self, forward: bool) {
        let last = self.len.saturating_sub(1);
        self.select(match (forward, self.selected) {
            (true, at) if at >= last => 0,
            (true, at) => at + 1,
            (false, 0) => last,
            (false, at) => at - 1,
        });
    }

    /// Moves down by a window less one item.
    pub fn page_down(&mut self) {
        self.select(self.selected.saturating_add(self.page()));
    }

    pub fn page_up(&mut self) {
        self.select(self.selected.saturating_sub(self.page()));
    }

    pub fn first(&mut self) {
        self.select(0);
    }

    pub fn last(&mut self) {
        self.select(usize::MAX);
    }

    /// Moves the selection by an action of lists. Returns false for any other action.
    pub fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Down => self.step(1),
            Action::Up => self.step(-1),
            Action::PageDown => self.page_down(),
            Action::PageUp => self.page_up(),
            Action::Top => self.first(),
            Action::Bottom => self.last(),
            _ => return false,
        }
        true
    }

    /// Scrolls the window. The selection stays inside of it.
    pub fn scroll(&mut self, by: isize) {
        self.offset = self.offset.saturating_add_signed(by).min(self.last_offset());
        let margin = self.margin();
        let (top, bottom) = (self.offset, (self.offset + self.height).saturating_sub(1));
        let lowest = if top == 0 { 0 } else { top + margin };
        let highest = if self.offset == self.last_offset() { bottom } else { bottom.saturating_sub(margin) };
        self.selected = self.selected.clamp(lowest, highest.max(lowest)).min(self.len.saturating_sub(1));
    }

    fn page(&self) -> usize {
        self.height.saturating_sub(1).max(1)
    }

    fn last_offset(&self) -> usize {
        self.len.saturating_sub(self.height)
    }

    fn margin(&self) -> usize {
        MARGIN.min(self.height.saturating_sub(1) / 2)
    }

    fn follow(&mut self) {
        let margin = self.margin();
        let lowest = (self.selected + margin + 1).saturating_sub(self.height);
        let highest = self.selected.saturating_sub(margin);
        self.offset = self.offset.clamp(lowest.min(highest), highest).min(self.last_offset());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn window(len: usize, height: usize) -> ListWindow {
        let mut window = ListWindow::new(len);
        window.set_height(height);
        window
    }

    #[test]
    fn the_selection_stays_in_view_with_a_margin() {
        let mut list = window(100, 10);
        list.step(7);
        assert_eq!(list.visible(), 0..10);
        list.step(1);
        assert_eq!(list.visible(), 1..11);
        list.last();
        assert_eq!((list.selected(), list.visible()), (Some(99), 90..100));
        list.page_up();
        assert_eq!((list.selected(), list.visible()), (Some(90), 88..98));
    }

    #[test]
    fn stepping_stops_at_the_ends_and_cycling_wraps() {
        let mut list = window(3, 10);
        list.step(-1);
        assert_eq!(list.selected(), Some(0));
        list.cycle(false);
        assert_eq!(list.selected(), Some(2));
        list.cycle(true);
        assert_eq!(list.selected(), Some(0));
    }

    #[test]
    fn a_list_that_shrinks_keeps_a_selection() {
        let mut list = window(50, 10);
        list.select(40);
        list.set_len(5);
        assert_eq!((list.selected(), list.visible()), (Some(4), 0..5));
        list.set_len(0);
        assert_eq!((list.selected(), list.visible()), (None, 0..0));
        list.cycle(true);
        list.page_down();
        list.scroll(3);
        assert_eq!(list.selected(), None);
    }

    #[test]
    fn scrolling_drags_the_selection_only_when_it_must() {
        let mut list = window(100, 10);
        list.select(5);
        list.scroll(2);
        assert_eq!((list.selected(), list.offset), (Some(5), 2));
        list.scroll(6);
        assert_eq!((list.selected(), list.offset), (Some(10), 8));
        list.scroll(-100);
        assert_eq!((list.selected(), list.offset), (Some(7), 0));
    }

    proptest! {
        #[test]
        fn the_selection_is_visible_after_any_move(
            len in 0usize..40, height in 0usize..12, moves in prop::collection::vec((0u8..9, 0isize..50), 0..20),
        ) {
            let mut list = window(len, height);
            for (kind, by) in moves {
                match kind {
                    0 => list.step(by),
                    1 => list.step(-by),
                    2 => list.page_down(),
                    3 => list.page_up(),
                    4 => list.cycle(by % 2 == 0),
                    5 => list.scroll(by),
                    6 => list.scroll(-by),
                    7 => list.set_len(by.unsigned_abs()),
                    _ => list.set_height(by.unsigned_abs() % 12),
                }
                let visible = list.visible();
                prop_assert!(visible.start <= visible.end && visible.end <= list.len());
                prop_assert_eq!(list.selected().is_none(), list.is_empty());
                if let Some(selected) = list.selected().filter(|_| !visible.is_empty()) {
                    prop_assert!(visible.contains(&selected), "{:?}", list);
                }
            }
        }
    }
}
