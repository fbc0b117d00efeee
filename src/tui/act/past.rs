//! What was before: going through earlier inputs, lists of them and of earlier sessions, and commands from a file.

use crate::tui::app::{App, Task};
use crate::tui::overlay::Overlay;

/// The input of earlier times that is in the composer.
#[derive(Debug, Default)]
pub struct Recall {
    /// Its place among the inputs, and the text as it was put there.
    at: Option<(usize, String)>,
    /// What was in the composer before, which comes back behind the newest input.
    before: String,
}

impl App {
    /// Whether Up and Down go through earlier inputs: the composer holds nothing, or an input as it was.
    pub(crate) fn recalls(&self, key: &str) -> bool {
        let is_unchanged = || self.recall.at.as_ref().is_some_and(|(_, text)| *text == self.composer.text());
        let is_history = !self.session.keeping.inputs.is_empty();
        matches!(key, "Up" | "Down") && is_history && (self.composer.is_empty() || is_unchanged())
    }

    /// Brings the input before into the composer, or the next one.
    pub(crate) fn recall(&mut self, back: bool) -> Vec<Task> {
        let text = self.composer.text();
        let inputs = &self.session.keeping.inputs;
        let at = self.recall.at.take().filter(|(at, shown)| *shown == text && *at < inputs.len()).map(|(at, _)| at);
        let to = match (at, back) {
            (None, true) => inputs.len().checked_sub(1),
            (Some(at), true) => Some(at.saturating_sub(1)),
            (Some(at), false) => Some(at + 1),
            (None, false) => None,
        };
        if at.is_none() {
            self.recall.before = text;
        }
        let Some(to) = to else { return Vec::new() };
        let recalled = inputs.get(to).cloned();
        let shown = recalled.clone().unwrap_or_else(|| std::mem::take(&mut self.recall.before));
        self.completion.hush();
        let tasks = self.typed(|app| app.composer.set(&shown));
        // As it is in the composer, which may have made a control character visible.
        self.recall.at = recalled.map(|_| (to, self.composer.text()));
        tasks
    }

    /// Opens the search in what was typed.
    pub(crate) fn search_inputs(&mut self) {
        if self.session.keeping.inputs.is_empty() {
            self.hint = "there are no earlier inputs yet".into();
            return;
        }
        self.overlay = Some(Overlay::inputs(&self.session.keeping));
    }

    /// Opens the list of earlier sessions, if one was asked for. Another overlay may hold work, so the list waits for it.
    pub(crate) fn offer_sessions(&mut self) {
        if let (Some(Overlay::Sessions(open)), Some((_, lines))) = (&mut self.overlay, &self.session.keeping.listed) {
            open.refresh(lines);
            self.session.keeping.listed = None;
        }
        if self.overlay.is_some() {
            return;
        }
        if let Some((query, lines)) = self.session.keeping.listed.take() {
            self.overlay = Some(Overlay::sessions(&query, &lines));
        }
    }

    /// Runs commands that came from a file.
    pub(crate) fn run_loaded(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        while let Some(command) = self.session.keeping.commands.pop_front() {
            tasks.extend(self.command(command));
        }
        tasks
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::session::{Connection, Session};
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};

    fn app(inputs: &[&str]) -> App {
        let (mut session, effects) = Session::start(Connection::None);
        inputs.iter().for_each(|input| session.remember_input(input));
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn pressed(app: &mut App, keys: &str) -> String {
        for key in keys.split(' ').filter_map(key::parse) {
            app.event(Event::Key(key));
        }
        app.composer.text()
    }

    #[test]
    fn up_and_down_go_through_what_was_typed() {
        let mut app = app(&["one", "two", "three"]);
        assert_eq!(pressed(&mut app, "Up"), "three");
        assert_eq!(pressed(&mut app, "Up Up Up"), "one");
        assert_eq!(pressed(&mut app, "Down"), "two");
        assert_eq!(pressed(&mut app, "Down Down"), "");
        assert_eq!(pressed(&mut app, "Down"), "");
    }

    #[test]
    fn an_input_that_is_being_changed_is_not_swept_away() {
        let mut app = app(&["one", "two"]);
        assert_eq!(pressed(&mut app, "Up ! Up Up"), "two!");
        assert_eq!(pressed(&mut app, "Alt-Up Alt-Up"), "one");
        assert_eq!(pressed(&mut app, "Alt-Down Alt-Down"), "two!", "what was being written comes back");
    }

    #[test]
    fn an_input_is_found_by_its_words() {
        let mut app = app(&["mend the sail", "hoist", "row"]);
        assert_eq!(pressed(&mut app, "Ctrl-r s a i l Enter"), "mend the sail");
        assert!(app.overlay.is_none());
    }

    #[test]
    fn what_is_typed_twice_is_remembered_once() {
        let mut app = app(&["one", "two", "one", "one"]);
        assert_eq!(app.session.keeping.inputs, ["two", "one"]);
        assert_eq!(pressed(&mut app, "Up Up"), "two");
    }
}
