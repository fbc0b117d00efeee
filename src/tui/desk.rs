//! The desk: where the panes stand, where their borders were moved to, what the pointer is doing there, and the time.

use std::time::Duration;

use ratatui::layout::Rect;

use super::action::Pane;
use super::app::App;
use super::layout::{Borders, Places, Wish};
use super::selection::{Press, Selection};
use crate::config::LayoutChoice;
use crate::store::{ChosenLayout, SavedLayout};

/// Two clicks on one place within this time are a double click.
const DOUBLE: Duration = Duration::from_millis(400);

/// What the first event of the wheel in a frame moves, and the most that all of them do, in rows. Terminals send one, three or
/// nine events for one notch.
const FIRST_TURN: usize = 3;
const MOST_TURNS: usize = 6;

/// Where the panes stand, and what is done about it.
#[derive(Debug, Default)]
pub struct Desk {
    /// The places as last drawn; none on a screen that is too small.
    pub(super) places: Places,
    /// Whether the pane with the focus has the screen for itself.
    pub(super) zoomed: bool,
    /// Where the borders were moved to.
    pub(super) borders: Borders,
    /// What the settings say of the layout.
    set: LayoutChoice,
    /// What the user has chosen instead.
    chosen: Option<LayoutChoice>,
    /// Whether borders were moved or a layout chosen since they were last kept.
    pub(super) moved: bool,
    /// The border that the pointer holds.
    pub(super) held: Option<Held>,
    /// The button that is down in the chat.
    pub(super) pressed: Option<Press>,
    /// The text that the pointer has selected since.
    pub(super) selection: Option<Selection>,
    /// Time since the start, as the event loop last told; a test has none.
    pub(super) now: Duration,
    /// When what is under way began.
    pub(super) busy_since: Option<Duration>,
    /// The last click: when, and where.
    clicked: Option<(Duration, u16, u16)>,
    /// Events of the wheel since the last frame.
    turns: usize,
}

/// A border that the pointer holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Its name.
    pub(super) name: &'static str,
    /// How far beside it the pointer took it.
    pub(super) beside: u16,
    /// Whether it was moved since.
    pub(super) moved: bool,
}

impl Desk {
    /// A frame was drawn: the next turn of the wheel counts in full.
    pub(super) fn drawn(&mut self) {
        self.turns = 0;
    }

    /// Whether a click is the second of two.
    pub(super) fn is_double(&mut self, column: u16, row: u16) -> bool {
        let first = self.clicked.take();
        let double = first.is_some_and(|(at, x, y)| (x, y) == (column, row) && self.now.saturating_sub(at) <= DOUBLE);
        // A third one begins anew.
        self.clicked = (!double).then_some((self.now, column, row));
        double
    }

    /// Rows that one more event of the wheel moves: terminals that send many for a notch must not be faster than others.
    pub(super) fn turn(&mut self) -> usize {
        self.turns += 1;
        match self.turns {
            1 => FIRST_TURN,
            turns if turns > FIRST_TURN && turns <= MOST_TURNS => 1,
            _ => 0,
        }
    }

    /// Notes whether something is under way.
    pub(super) fn note_busy(&mut self, busy: bool) {
        self.busy_since = busy.then(|| self.busy_since.unwrap_or(self.now));
    }

    /// Puts everything where it was kept; the layout to begin with, where the settings say `set`.
    pub(super) fn arrange(&mut self, kept: SavedLayout, set: LayoutChoice) -> LayoutChoice {
        let own = kept.layout.filter(|layout| LayoutChoice::named(&layout.instead_of) == Some(set));
        (self.borders, self.set) = (kept.borders, set);
        self.chosen = own.and_then(|layout| LayoutChoice::named(&layout.chosen));
        self.chosen.unwrap_or(set)
    }

    /// The user has chosen a layout.
    pub(super) fn choose_layout(&mut self, layout: LayoutChoice) {
        self.chosen = Some(layout).filter(|layout| *layout != self.set);
        self.moved = true;
    }

    /// How the panes are arranged, if that has to be kept.
    pub(super) fn take_moved(&mut self) -> Option<SavedLayout> {
        let name = |layout: LayoutChoice| layout.name().to_owned();
        let layout = self.chosen.map(|chosen| ChosenLayout { chosen: name(chosen), instead_of: name(self.set) });
        std::mem::take(&mut self.moved).then(|| SavedLayout { borders: self.borders.clone(), layout })
    }
}

impl App {
    /// The panes that are on the screen, as last drawn, with their places; none where the screen is too small.
    pub fn on_screen(&self) -> &[(Pane, Rect)] {
        &self.desk.places.panes
    }

    /// How the panes shall stand.
    pub(super) fn wish(&self) -> Wish<'_> {
        Wish {
            focus: self.focus,
            reviewing: self.reviewing(),
            layout: self.display.layout,
            zoomed: self.desk.zoomed,
            borders: &self.desk.borders,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notch_of_the_wheel_moves_about_the_same_however_many_events_it_sends() {
        for (events, rows) in [(1, 3), (3, 3), (6, 6), (9, 6), (100, 6)] {
            let mut desk = Desk::default();
            assert_eq!((0..events).map(|_| desk.turn()).sum::<usize>(), rows, "{events} events");
            desk.drawn();
            assert_eq!(desk.turn(), 3, "a new frame");
        }
    }

    #[test]
    fn two_clicks_on_one_place_are_a_double_click_if_they_are_quick() {
        let mut desk = Desk::default();
        assert!(!desk.is_double(3, 4));
        assert!(desk.is_double(3, 4));
        assert!(!desk.is_double(3, 4), "a third one begins anew");
        assert!(!desk.is_double(3, 5));
        desk.now = Duration::from_secs(1);
        assert!(!desk.is_double(3, 5), "too late");
    }
}
