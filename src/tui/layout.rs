//! Where the panes stand on a screen of a given size. Pure.

use ratatui::layout::{Constraint, Layout, Rect};

use super::action::Pane;

/// Smallest screen that can show a pane.
pub const MIN_WIDTH: u16 = 40;
/// Smallest screen that can show a pane.
pub const MIN_HEIGHT: u16 = 10;

/// From this size on all four panes are on the screen.
const WIDE: (u16, u16) = (120, 35);
/// From this size on the pane with the focus has company.
const MEDIUM: (u16, u16) = (80, 24);

/// Places on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Each pane that is on the screen.
    pub panes: Vec<(Pane, Rect)>,
    /// The line with the tabs, when not all panes are on the screen.
    pub tabs: Option<Rect>,
    /// The status line.
    pub status: Rect,
}

/// The places for a screen; `None` if it is too small. A review with something to decide takes the largest share.
pub fn places(screen: Rect, focus: Pane, reviewing: bool) -> Option<Places> {
    if screen.width < MIN_WIDTH || screen.height < MIN_HEIGHT {
        return None;
    }
    if screen.width >= WIDE.0 && screen.height >= WIDE.1 {
        let [body, status] = rows(screen, [Constraint::Fill(1), Constraint::Length(1)]);
        return Some(Places { panes: wide(body, reviewing), tabs: None, status });
    }
    let [tabs, body, status] = rows(screen, [Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]);
    let company = screen.width >= MEDIUM.0 && screen.height >= MEDIUM.1;
    let panes = if company { stack(body, focus, reviewing) } else { vec![(focus, body)] };
    Some(Places { panes, tabs: Some(tabs), status })
}

fn wide(body: Rect, reviewing: bool) -> Vec<(Pane, Rect)> {
    if reviewing {
        let [left, right] = columns(body, [Constraint::Percentage(42), Constraint::Fill(1)]);
        let [top, review] = rows(right, [Constraint::Percentage(27), Constraint::Fill(1)]);
        let [map, context] = columns(top, [Constraint::Fill(1), Constraint::Fill(1)]);
        return vec![(Pane::Chat, left), (Pane::Map, map), (Pane::Context, context), (Pane::Review, review)];
    }
    let [left, right] = columns(body, [Constraint::Percentage(56), Constraint::Fill(1)]);
    let [map, context, review] = rows(right, [Constraint::Fill(5), Constraint::Fill(4), Constraint::Length(7)]);
    vec![(Pane::Chat, left), (Pane::Map, map), (Pane::Context, context), (Pane::Review, review)]
}

/// The pane with the focus above; below it the chat, or what waits for a decision, or map and context beside each other.
fn stack(body: Rect, focus: Pane, reviewing: bool) -> Vec<(Pane, Rect)> {
    match focus {
        Pane::Chat if reviewing => {
            let [chat, review] = rows(body, [Constraint::Fill(1), Constraint::Fill(1)]);
            vec![(Pane::Chat, chat), (Pane::Review, review)]
        }
        Pane::Chat => {
            let [chat, below] = rows(body, [Constraint::Fill(1), Constraint::Length(8)]);
            let [map, context] = columns(below, [Constraint::Fill(1), Constraint::Fill(1)]);
            vec![(Pane::Chat, chat), (Pane::Map, map), (Pane::Context, context)]
        }
        other => {
            let [pane, chat] = rows(body, [Constraint::Fill(1), Constraint::Length(7)]);
            vec![(other, pane), (Pane::Chat, chat)]
        }
    }
}

fn rows<const N: usize>(area: Rect, sizes: [Constraint; N]) -> [Rect; N] {
    Layout::vertical(sizes).areas(area)
}

fn columns<const N: usize>(area: Rect, sizes: [Constraint; N]) -> [Rect; N] {
    Layout::horizontal(sizes).areas(area)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Places {
        fn of(&self, pane: Pane) -> Option<Rect> {
            self.panes.iter().find(|(other, _)| *other == pane).map(|(_, rect)| *rect)
        }
    }

    #[test]
    fn every_pane_is_on_a_wide_screen() {
        let places = places(Rect::new(0, 0, 120, 35), Pane::Chat, false).unwrap();
        assert!(Pane::ALL.into_iter().all(|pane| places.of(pane).is_some()));
    }

    #[test]
    fn the_pane_with_the_focus_is_always_on_the_screen_and_nothing_overlaps() {
        for (width, height) in [(40, 10), (79, 24), (80, 24), (119, 60), (120, 35), (400, 120)] {
            for focus in Pane::ALL {
                for reviewing in [false, true] {
                    let places = places(Rect::new(0, 0, width, height), focus, reviewing).unwrap();
                    assert!(places.of(focus).is_some());
                    for (index, (_, rect)) in places.panes.iter().enumerate() {
                        assert!(rect.width >= 10 && rect.height >= 3, "{width}x{height} {focus:?} {rect:?}");
                        assert!(places.panes[..index].iter().all(|(_, other)| !other.intersects(*rect)));
                    }
                }
            }
        }
    }

    #[test]
    fn a_tiny_screen_has_no_places() {
        assert_eq!(places(Rect::new(0, 0, 39, 30), Pane::Chat, false), None);
    }
}
