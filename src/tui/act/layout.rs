//! How the panes are arranged: zoom, layouts, and borders that are moved by keys.

use crate::config::LayoutChoice;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::layout::Border;

/// How far one press moves a border, in columns and in rows.
const STEP: (i32, i32) = (5, 2);

impl App {
    /// Whether the pane with the focus has the screen for itself without being zoomed.
    pub(crate) fn is_alone(&self) -> bool {
        !self.desk.zoomed && self.desk.places.panes.len() == 1
    }

    /// Gives the pane with the focus the whole screen, or all panes theirs back.
    pub(crate) fn zoom(&mut self) {
        if self.is_alone() {
            self.hint = "the pane already has the whole screen".into();
            return;
        }
        self.desk.zoomed = !self.desk.zoomed;
        if self.desk.zoomed {
            self.hint = format!("{} fills the screen; {} shows all panes again", self.focus.title(), self.zoom_key());
        }
    }

    /// The key that zooms.
    pub(crate) fn zoom_key(&self) -> &str {
        self.keys.first(Action::Zoom)
    }

    /// Arranges the panes in the next way that there is.
    pub(crate) fn next_layout(&mut self) {
        let mut round = LayoutChoice::ALL.into_iter().cycle().skip_while(|layout| *layout != self.display.layout);
        let next = round.nth(1).unwrap_or_default();
        self.display.layout = next;
        self.desk.choose_layout(next);
        self.desk.zoomed = false;
        let (columns, rows) = self.screen;
        let small = matches!(next, LayoutChoice::Columns | LayoutChoice::Rows) && (columns < 80 || rows < 24);
        let why = if small { ": one pane at a time, the screen is small" } else { "" };
        self.hint = format!("layout: {}{why}", next.name());
    }

    /// Moves the nearest border of the pane with the focus that can still go further, so that it gets larger or smaller.
    pub(crate) fn grow(&mut self, by: i32) {
        let Some(area) = self.desk.places.of(self.focus) else { return };
        if self.desk.places.borders.is_empty() {
            self.hint = "the pane already has the whole screen".into();
            return;
        }
        let moved = self.desk.places.borders.iter().rev().find_map(|border| {
            let step = if border.beside { STEP.0 } else { STEP.1 };
            let forward = if border.is_before(area)? { by } else { -by };
            let (least, most) = border.range;
            let at = (i32::from(border.at) + forward * step).clamp(i32::from(least), i32::from(most));
            let at = u16::try_from(at).ok()?;
            (at != border.at).then(|| (border.name, border.share(at)))
        });
        match moved {
            Some((name, share)) => self.move_border(name, share),
            None => {
                self.hint = format!("{} cannot be {}", self.focus.title(), if by > 0 { "larger" } else { "smaller" })
            }
        }
    }

    /// Puts a border somewhere, and has that kept.
    pub(crate) fn move_border(&mut self, name: &str, share: u16) {
        self.desk.borders.insert(name.to_owned(), share);
        self.desk.moved = true;
    }

    /// Puts one border back to where it was at first.
    pub(crate) fn reset_border(&mut self, border: &Border) {
        self.desk.moved |= self.desk.borders.remove(border.name).is_some();
    }

    /// Puts all borders back to where they were at first.
    pub(crate) fn reset_borders(&mut self) {
        self.desk.moved |= !self.desk.borders.is_empty();
        self.desk.borders.clear();
        self.hint = "all borders are at their default places".into();
    }

    /// Lets the mouse count, or leaves it to the terminal.
    pub(crate) fn toggle_mouse(&mut self) {
        self.display.mouse = !self.display.mouse;
        self.desk.held = None;
        let key = self.keys.first(Action::Mouse);
        self.hint = if self.display.mouse {
            format!(
                "mouse on: a drag in the chat selects text, Shift-drag lets the terminal select; {key} turns it off"
            )
        } else {
            format!("mouse off: the terminal selects text; {key} turns it on")
        };
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;
    use ratatui::layout::Rect;

    use super::*;
    use crate::session::{Connection, Session};
    use crate::tui::action::Pane;
    use crate::tui::desk::Desk;
    use crate::tui::key;
    use crate::tui::layout::places;
    use crate::tui::theme::{ColorDepth, Theme};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        arrange(&mut app, 140, 40);
        app
    }

    /// What drawing does.
    fn arrange(app: &mut App, width: u16, height: u16) {
        app.screen = (width, height);
        app.desk.places = places(Rect::new(0, 0, width, height), &app.wish()).unwrap();
    }

    fn press(app: &mut App, keys: &str) {
        let (width, height) = app.screen;
        for key in keys.split(' ').filter_map(key::parse) {
            app.event(Event::Key(key));
            arrange(app, width, height);
        }
    }

    #[test]
    fn zoom_gives_the_focus_the_screen_and_back_and_lists_have_a_key_of_their_own() {
        let mut app = app();
        press(&mut app, "Alt-z");
        assert_eq!(app.desk.places.panes.len(), 1);
        press(&mut app, "Alt-2");
        assert_eq!(app.desk.places.panes[0].0, Pane::Map, "the focus goes on, and takes the screen with it");
        press(&mut app, "z");
        assert_eq!(app.desk.places.panes.len(), 4);
        arrange(&mut app, 60, 18);
        press(&mut app, "z");
        assert!(!app.desk.zoomed && app.hint.contains("already"), "{}", app.hint);
    }

    #[test]
    fn layouts_go_round() {
        let mut app = app();
        let mut seen = Vec::new();
        for _ in 0..4 {
            press(&mut app, "Alt-l");
            seen.push((app.display.layout, app.desk.places.panes.len()));
        }
        let expected = [LayoutChoice::Columns, LayoutChoice::Rows, LayoutChoice::Single, LayoutChoice::Auto];
        assert_eq!(seen, expected.into_iter().zip([4, 4, 1, 4]).collect::<Vec<_>>());
        arrange(&mut app, 60, 18);
        press(&mut app, "Alt-l");
        assert!(app.hint.contains("small"), "{}", app.hint);
    }

    #[test]
    fn a_layout_that_was_chosen_is_kept_until_the_settings_say_something_else() {
        let mut app = app();
        press(&mut app, "Alt-l Alt-l");
        let kept = app.desk.take_moved().expect("it is to be kept");
        let starts_with = |set| {
            let mut desk = Desk::default();
            desk.arrange(kept.clone(), set)
        };
        assert_eq!(starts_with(LayoutChoice::Auto), LayoutChoice::Rows);
        assert_eq!(starts_with(LayoutChoice::Columns), LayoutChoice::Columns);
        press(&mut app, "Alt-l Alt-l");
        assert_eq!(app.desk.take_moved().map(|kept| kept.layout), Some(None), "what the settings say need not be kept");
    }

    #[test]
    fn every_pane_can_grow_and_shrink_by_keys_up_to_an_end_that_is_told() {
        for pane in Pane::ALL {
            let mut app = app();
            app.focus = pane;
            let size = |app: &App| app.desk.places.of(pane).map(|area| u32::from(area.width) * u32::from(area.height));
            let first = size(&app);
            press(&mut app, "Alt-+");
            assert!(size(&app) > first, "{pane:?}");
            press(&mut app, "Alt-- Alt--");
            assert!(size(&app) < first, "{pane:?}");
            for _ in 0..100 {
                press(&mut app, "Alt--");
            }
            assert!(app.hint.contains("cannot be smaller"), "{pane:?} {}", app.hint);
            press(&mut app, "Alt-0");
            assert_eq!(size(&app), first);
            let kept = app.desk.take_moved().map(|arrangement| arrangement.borders);
            assert_eq!(kept, Some(crate::tui::layout::Borders::new()));
        }
    }
}
