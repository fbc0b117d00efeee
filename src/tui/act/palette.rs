//! The palette: every action and command in one list, with what it does, its keys, and why it cannot be done now. A slash and the
//! name of an action does the same.

use crate::session::{COMMANDS, Connection, SurveyState, origin};
use crate::tui::action::{ACTIONS, Action, ActionInfo, Pane, Scope};
use crate::tui::app::{App, Task};
use crate::tui::overlay::Overlay;
use crate::tui::widget::scroll::ListWindow;

/// The columns that names get; what they do stands beside them.
const NAMES: usize = 24;

impl App {
    /// Opens the palette.
    pub(in crate::tui) fn open_palette(&mut self) {
        let mut rows = Vec::new();
        let row = |name: &str, usage: &str, help: &str, detail: String, enabled: bool| {
            let shown = format!("{name} {usage}");
            (name.to_owned(), format!("{:<NAMES$} {}", shown.trim(), help.trim()), detail, enabled)
        };
        for info in COMMANDS {
            rows.push(row(&format!("/{}", info.name), info.arguments, info.help, String::new(), true));
        }
        for own in self.session.known.commands.usable() {
            let detail = origin(own.level).to_owned();
            rows.push(row(&format!("/{}", own.name), &own.arguments, &own.description, detail, true));
        }
        let mut actions: Vec<(&ActionInfo, Option<&str>)> = self.palette_actions();
        actions.sort_by_key(|(info, why)| (why.is_some(), info.scope != Scope::Pane(self.focus)));
        for (info, why) in actions {
            let keys = self.keys.of(info.action).join("  ");
            let detail = why.map_or_else(|| keys.clone(), |why| format!("{why}  {keys}"));
            rows.push(row(info.name, "", info.help, detail, why.is_none()));
        }
        self.overlay = Some(Overlay::palette(rows));
    }

    /// The actions, with why each cannot be done now.
    fn palette_actions(&self) -> Vec<(&'static ActionInfo, Option<&'static str>)> {
        let others = ACTIONS.iter().filter(|info| info.action != Action::Palette);
        others.map(|info| (info, self.why_not(info))).collect()
    }

    /// Why an action would do nothing now; `None` if it would do something.
    pub(in crate::tui) fn why_not(&self, info: &ActionInfo) -> Option<&'static str> {
        let session = &self.session;
        let is_empty = |window: &ListWindow| window.is_empty();
        match info.action {
            Action::Send if self.composer.is_empty() => Some("there is no message"),
            Action::ToggleThoughts if !self.enabled(info.action) => Some("no thoughts came"),
            Action::CopyPrompt | Action::ViewPrompt if session.view.is_none() => Some("nothing is measured yet"),
            Action::FindServers if session.connection == Connection::Demo => Some("this is the demo"),
            Action::NextMatch | Action::PreviousMatch if self.reading.search.is_none() => Some("nothing is searched for"),
            Action::ReadTranscript | Action::SearchTranscript if session.transcript.is_empty() => {
                Some("nothing was said yet")
            }
            Action::Undo if !self.reviewing() => Some("nothing is under review"),
            Action::Write if self.reviewing() && !self.enabled(info.action) => Some("nothing is accepted"),
            Action::StopReading if !matches!(session.survey, SurveyState::Reading(..)) => Some("nothing is being read"),
            Action::ReadOn if !matches!(session.survey, SurveyState::Partial(..)) => Some("no file was left out"),
            Action::Zoom | Action::ZoomHere if self.is_alone() => Some("the pane has the whole screen already"),
            Action::GrowPane | Action::ShrinkPane if self.desk.places.borders.is_empty() => Some("there is no border"),
            Action::ResetBorders if self.desk.borders.is_empty() => Some("no border was moved"),
            _ => match info.scope {
                Scope::Pane(Pane::Review) if !self.reviewing() => Some("nothing is under review"),
                Scope::Pane(Pane::Map) => self.why_not_map(info.action),
                Scope::Pane(Pane::Context) if is_empty(&self.context) => Some("nothing is measured yet"),
                Scope::Reading if session.transcript.is_empty() => Some("nothing was said yet"),
                Scope::Lists if self.focus == Pane::Chat && !self.reading.on => Some("only in map, context and review"),
                _ => None,
            },
        }
    }

    /// Runs what was chosen in the palette: an action by its name, a command by its name with a slash. One that needs an
    /// argument is put into the composer.
    pub(in crate::tui) fn run_chosen(&mut self, name: &str) -> Vec<Task> {
        let Some(command) = name.strip_prefix('/') else {
            let action = ACTIONS.iter().find(|info| info.name == name);
            return action.map_or_else(Vec::new, |info| self.run_action(info));
        };
        let takes = COMMANDS.iter().find(|info| info.name == command).map(|info| info.arguments);
        let own = self.session.known.commands.named(command).map(|own| own.arguments.as_str());
        if takes.or(own).is_some_and(|arguments| !arguments.is_empty()) {
            self.focus = Pane::Chat;
            let text = format!("{name} ");
            return self.typed(|app| app.composer.set(&text));
        }
        self.run_line(name)
    }

    /// Does an action wherever it counts: in its pane, if it has one.
    pub(in crate::tui) fn run_action(&mut self, info: &ActionInfo) -> Vec<Task> {
        if let Some(why) = self.why_not(info) {
            self.hint = format!("{}: {why}", info.name);
            return Vec::new();
        }
        if let Scope::Pane(pane) = info.scope {
            self.focus = pane;
        }
        if info.scope == Scope::Reading {
            self.start_reading();
        }
        self.act(info.action)
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::session::{Connection, Session};
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn typed(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    #[test]
    fn every_action_and_command_is_in_the_palette() {
        let mut app = app();
        typed(&mut app, "Alt-x");
        let Some(Overlay::Menu(menu)) = &app.overlay else { panic!("no palette") };
        assert_eq!(menu.picker.match_count(), ACTIONS.len() - 1 + COMMANDS.len());
    }

    #[test]
    fn a_command_that_needs_something_goes_to_the_composer_and_others_run() {
        let mut app = app();
        app.run_chosen("/add");
        assert_eq!(app.composer.text(), "/add ");
        assert_eq!(app.run_chosen("/quit"), [Task::Quit]);
        app.run_chosen("focus-map");
        assert_eq!(app.focus, Pane::Map);
    }

    #[test]
    fn of_two_of_one_name_the_one_that_can_be_done_comes_first() {
        let mut app = app();
        typed(&mut app, "Alt-x u n d o");
        let Some(Overlay::Menu(menu)) = &app.overlay else { panic!("no palette") };
        let first = menu.picker.listed().next().unwrap();
        assert!(first.starts_with("/undo "), "{first}, while nothing is under review");
    }

    #[test]
    fn what_cannot_be_done_says_why_and_is_not_done() {
        let mut app = app();
        app.run_chosen("accept-all");
        assert_eq!((app.hint.as_str(), app.focus), ("accept-all: nothing is under review", Pane::Chat));
        typed(&mut app, "Alt-x a c c e p t - a l l Enter");
        assert!(app.overlay.is_some(), "it stays open");
    }
}
