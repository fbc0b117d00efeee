//! The layout state: the areas of the panes, the borders that the user moved, zoom and the chosen layout.

use ratatui::layout::Rect;

use super::action::{Action, Pane};
use super::app::App;
use super::layout::{Border, Borders, LayoutRequest, Places};
use crate::config::LayoutChoice;
use crate::store::{ChosenLayout, SavedLayout};

/// The areas of the panes and the user's arrangement.
#[derive(Debug)]
pub struct LayoutState {
    /// Empty if the screen is too small.
    places: Places,
    screen: (u16, u16),
    /// Rows by which a page key scrolls the pane with the focus.
    page_rows: usize,
    zoomed: bool,
    borders: Borders,
    configured: LayoutChoice,
    chosen: Option<LayoutChoice>,
    /// Whether the arrangement changed since the last save.
    changed: bool,
}

impl Default for LayoutState {
    fn default() -> Self {
        Self {
            places: Places::default(),
            screen: (0, 0),
            page_rows: 10,
            zoomed: false,
            borders: Borders::default(),
            configured: LayoutChoice::default(),
            chosen: None,
            changed: false,
        }
    }
}

impl LayoutState {
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    pub(super) fn screen(&self) -> (u16, u16) {
        self.screen
    }

    pub(super) fn page_rows(&self) -> usize {
        self.page_rows
    }

    pub(super) fn is_zoomed(&self) -> bool {
        self.zoomed
    }

    #[cfg(test)]
    pub(super) fn set_zoomed(&mut self) {
        self.zoomed = true;
    }

    pub(super) fn borders(&self) -> &Borders {
        &self.borders
    }

    /// Stores the areas for a screen. `None` if the screen is too small.
    pub(super) fn set_places(&mut self, screen: (u16, u16), places: Option<Places>) {
        (self.screen, self.places) = (screen, places.unwrap_or_default());
    }

    pub(super) fn set_page_rows(&mut self, rows: usize) {
        self.page_rows = rows;
    }

    /// Restores the saved arrangement. Returns the layout to begin with; `configured` is that of the settings.
    pub(super) fn restore(&mut self, saved: SavedLayout, configured: LayoutChoice) -> LayoutChoice {
        let own = saved.layout.filter(|layout| LayoutChoice::named(&layout.instead_of) == Some(configured));
        (self.borders, self.configured) = (saved.borders, configured);
        self.chosen = own.and_then(|layout| LayoutChoice::named(&layout.chosen));
        self.chosen.unwrap_or(configured)
    }

    fn choose(&mut self, layout: LayoutChoice) {
        self.chosen = Some(layout).filter(|layout| *layout != self.configured);
        (self.changed, self.zoomed) = (true, false);
    }

    /// Returns the arrangement if it changed since the last call.
    pub(super) fn take_changes(&mut self) -> Option<SavedLayout> {
        let name = |layout: LayoutChoice| layout.name().to_owned();
        let layout = self.chosen.map(|chosen| ChosenLayout { chosen: name(chosen), instead_of: name(self.configured) });
        std::mem::take(&mut self.changed).then(|| SavedLayout { borders: self.borders.clone(), layout })
    }

    /// Moves a border; `share` is in thousandths of the space of both parts.
    pub(super) fn move_border(&mut self, name: &str, share: u16) {
        if self.borders.insert(name.to_owned(), share) != Some(share) {
            self.changed = true;
        }
    }

    /// Resets a border to its default position.
    pub(super) fn reset_border(&mut self, border: &Border) {
        self.changed |= self.borders.remove(border.name).is_some();
    }
}

impl App {
    /// The visible panes with their areas.
    pub fn on_screen(&self) -> &[(Pane, Rect)] {
        &self.layout.places.panes
    }

    pub(super) fn layout_request(&self) -> LayoutRequest<'_> {
        LayoutRequest {
            focus: self.focus,
            reviewing: self.reviewing(),
            layout: self.display.layout,
            zoomed: self.layout.zoomed,
            borders: &self.layout.borders,
        }
    }
}

/// How far one press moves a border, in columns and in rows.
const RESIZE_STEP: (i32, i32) = (5, 2);

impl App {
    /// Whether the pane fills the screen without being zoomed.
    pub(crate) fn is_alone(&self) -> bool {
        !self.layout.zoomed && self.layout.places.panes.len() == 1
    }

    /// Zooms the pane with the focus, or shows all panes again.
    pub(crate) fn zoom(&mut self) {
        if self.is_alone() {
            return self.hint.set("the pane already has the whole screen");
        }
        self.layout.zoomed = !self.layout.zoomed;
        if self.layout.zoomed {
            self.hint.set(format!(
                "{} fills the screen; {} shows all panes again",
                self.focus.title(),
                self.zoom_key()
            ));
        }
    }

    pub(crate) fn zoom_key(&self) -> &str {
        self.keys.first(Action::Zoom)
    }

    /// Switches to the next layout.
    pub(crate) fn next_layout(&mut self) {
        let mut round = LayoutChoice::ALL.into_iter().cycle().skip_while(|layout| *layout != self.display.layout);
        let next = round.nth(1).unwrap_or_default();
        self.display.layout = next;
        self.layout.choose(next);
        let (columns, rows) = self.layout.screen;
        let small = matches!(next, LayoutChoice::Columns | LayoutChoice::Rows) && (columns < 80 || rows < 24);
        let why = if small { ": one pane at a time, the screen is small" } else { "" };
        self.hint.set(format!("layout: {}{why}", next.name()));
    }

    /// Moves the nearest border that can still be moved, so that the pane grows or shrinks.
    pub(crate) fn grow(&mut self, by: i32) {
        let Some(area) = self.layout.places.of(self.focus) else { return };
        if self.layout.places.borders.is_empty() {
            return self.hint.set("the pane already has the whole screen");
        }
        let moved = self.layout.places.borders.iter().rev().find_map(|border| {
            let step = if border.beside { RESIZE_STEP.0 } else { RESIZE_STEP.1 };
            let forward = if border.is_before(area)? { by } else { -by };
            let (least, most) = border.range;
            let at = (i32::from(border.at) + forward * step).clamp(i32::from(least), i32::from(most));
            let at = u16::try_from(at).ok()?;
            (at != border.at).then(|| (border.name, border.share(at)))
        });
        match moved {
            Some((name, share)) => self.layout.move_border(name, share),
            None => {
                self.hint.set(format!("{} cannot be {}", self.focus.title(), if by > 0 { "larger" } else { "smaller" }))
            }
        }
    }

    /// Resets all borders to their default positions.
    pub(crate) fn reset_borders(&mut self) {
        self.layout.changed |= !self.layout.borders.is_empty();
        self.layout.borders.clear();
        self.hint.set("all borders are at their default places");
    }

    /// Turns the mouse on or off.
    pub(crate) fn toggle_mouse(&mut self) {
        self.display.mouse = !self.display.mouse;
        self.mouse.release_border();
        let key = self.keys.first(Action::Mouse);
        self.hint.set(if self.display.mouse {
            format!(
                "mouse on: a drag in the chat selects text, Shift-drag lets the terminal select; {key} turns it off"
            )
        } else {
            format!("mouse off: the terminal selects text; {key} turns it on")
        });
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;
    use ratatui::layout::Rect;

    use super::*;
    use crate::tui::action::Pane;
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_session::{Connection, Session};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        arrange(&mut app, 140, 40);
        app
    }

    fn arrange(app: &mut App, width: u16, height: u16) {
        app.lay_out(Rect::new(0, 0, width, height));
    }

    fn press(app: &mut App, keys: &str) {
        let (width, height) = app.layout.screen;
        for key in keys.split(' ').filter_map(key::parse) {
            app.event(Event::Key(key));
            arrange(app, width, height);
        }
    }

    #[test]
    fn zoom_gives_the_focus_the_screen_and_back_and_lists_have_a_key_of_their_own() {
        let mut app = app();
        press(&mut app, "Alt-z");
        assert_eq!(app.layout.places.panes.len(), 1);
        press(&mut app, "Alt-2");
        assert_eq!(app.layout.places.panes[0].0, Pane::Map, "the focus goes on, and takes the screen with it");
        press(&mut app, "z");
        assert_eq!(app.layout.places.panes.len(), 4);
        arrange(&mut app, 60, 18);
        press(&mut app, "z");
        assert!(!app.layout.zoomed && app.hint.text().contains("already"), "{}", app.hint.text());
    }

    #[test]
    fn layouts_go_round() {
        let mut app = app();
        let mut seen = Vec::new();
        for _ in 0..4 {
            press(&mut app, "Alt-l");
            seen.push((app.display.layout, app.layout.places.panes.len()));
        }
        let expected = [LayoutChoice::Columns, LayoutChoice::Rows, LayoutChoice::Single, LayoutChoice::Auto];
        assert_eq!(seen, expected.into_iter().zip([4, 4, 1, 4]).collect::<Vec<_>>());
        arrange(&mut app, 60, 18);
        press(&mut app, "Alt-l");
        assert!(app.hint.text().contains("small"), "{}", app.hint.text());
    }

    #[test]
    fn a_layout_that_was_chosen_is_kept_until_the_settings_say_something_else() {
        let mut app = app();
        press(&mut app, "Alt-l Alt-l");
        let kept = app.layout.take_changes().expect("it is to be kept");
        let starts_with = |set| {
            let mut layout = LayoutState::default();
            layout.restore(kept.clone(), set)
        };
        assert_eq!(starts_with(LayoutChoice::Auto), LayoutChoice::Rows);
        assert_eq!(starts_with(LayoutChoice::Columns), LayoutChoice::Columns);
        press(&mut app, "Alt-l Alt-l");
        assert_eq!(
            app.layout.take_changes().map(|kept| kept.layout),
            Some(None),
            "what the settings say need not be kept"
        );
    }

    #[test]
    fn every_pane_can_grow_and_shrink_by_keys_up_to_an_end_that_is_told() {
        for pane in Pane::ALL {
            let mut app = app();
            app.focus = pane;
            let size =
                |app: &App| app.layout.places.of(pane).map(|area| u32::from(area.width) * u32::from(area.height));
            let first = size(&app);
            press(&mut app, "Alt-+");
            assert!(size(&app) > first, "{pane:?}");
            press(&mut app, "Alt-- Alt--");
            assert!(size(&app) < first, "{pane:?}");
            for _ in 0..100 {
                press(&mut app, "Alt--");
            }
            assert!(app.hint.text().contains("cannot be smaller"), "{pane:?} {}", app.hint.text());
            press(&mut app, "Alt-0");
            assert_eq!(size(&app), first);
            let kept = app.layout.take_changes().map(|arrangement| arrangement.borders);
            assert_eq!(kept, Some(crate::tui::layout::Borders::new()));
        }
    }
}
