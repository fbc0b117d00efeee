//! Commands that show something or change how it looks: the map, pages that were looked up, the colours.

use crate::session::Level;
use crate::session::runner::KEYS;
use crate::tui::action::KeyMap;
use crate::tui::app::{App, Task};
use crate::tui::overlay::Overlay;

impl App {
    /// Shows the map as it will be sent.
    pub(crate) fn view_map(&mut self) {
        let Some(map) = self.session.view.as_ref().and_then(|view| view.map.as_ref()) else {
            self.session.tell(Level::Info, "There is no map yet: the repository is still being read.", "");
            return;
        };
        if map.text.trim().is_empty() {
            let hint = "/map-tokens N gives it tokens.";
            self.session.tell(
                Level::Info,
                "The map is empty: it has no tokens, or no file has anything to show.",
                hint,
            );
            return;
        }
        let title = format!("repo map · {} of {} tokens", map.tokens, map.budget);
        self.overlay = Some(Overlay::text(&title, &map.text));
    }

    /// Opens what was looked up. Another overlay may hold work, so it waits until that closes.
    pub(crate) fn show_known(&mut self) {
        let known = &mut self.session.known;
        if self.overlay.is_some() || (known.page.is_none() && known.choosing.is_none() && known.settings.is_none()) {
            return;
        }
        if let Some((rows, query)) = known.settings.take() {
            self.show_settings(rows, &query);
            self.hint.clear();
            self.pending_keys.clear();
            return;
        }
        if let Some(page) = known.page.take() {
            self.overlay = Some(Overlay::table(&page.title, &page.text));
        } else if let Some((part, query)) = known.choosing.take() {
            if known.models.is_empty() {
                let hint = "rhumb models lists those that are known; /model NAME asks one by its name.";
                self.session.tell(Level::Info, "The server has no list of its models.", hint);
                return;
            }
            self.overlay = Some(Overlay::models(&known.models, part, &query));
        }
        self.hint.clear();
        self.pending_keys.clear();
    }

    /// Changes the colours, or lets a theme be chosen. One that is not known may have come just now, to a folder that is not
    /// followed because it was not there at the start.
    pub(crate) fn ask_for_theme(&mut self, name: Option<&str>) -> Vec<Task> {
        match name {
            Some(name) if !self.wardrobe.themes.has(name) => {
                self.wardrobe.sought = Some(name.to_owned());
                vec![Task::ReadThemes]
            }
            _ => {
                self.change_theme(name);
                Vec::new()
            }
        }
    }

    /// Changes the colours, or lets a theme be chosen.
    pub(crate) fn change_theme(&mut self, name: Option<&str>) {
        let names = self.wardrobe.themes.names();
        match name {
            None => self.overlay = Some(Overlay::themes(&names, self.theme.name())),
            Some(name) if names.contains(&name) => {
                if let Err(error) = self.wardrobe.themes.load(name, self.theme.depth()) {
                    let text = format!("{}.", self.wardrobe.themes.explain(&error));
                    return self.session.tell(Level::Error, text, "The colours stay as they are.");
                }
                self.choose_theme(name);
                self.hint = format!("colours: {name} (theme in rhumb.toml keeps them)");
            }
            Some(name) => {
                let text = format!("There is no theme {name}.");
                let hint = format!(
                    "The themes are {}. `rhumb config --path` names the folder for your own.",
                    names.join(", ")
                );
                self.session.tell(Level::Error, text, hint);
            }
        }
    }

    /// Shows the theme under the cursor, while one is chosen.
    pub(crate) fn preview_theme(&mut self) {
        let name = self.overlay.as_ref().and_then(Overlay::theme_under_cursor).map(str::to_owned);
        if let Some(name) = name.filter(|name| name != self.theme.name()) {
            self.wear(&name);
        }
    }

    /// Draws in the colours of a theme that was asked for, whatever the ground.
    pub(crate) fn choose_theme(&mut self, name: &str) {
        self.wardrobe.by_hand = true;
        self.wear(name);
    }

    /// Draws in the colours of a theme from now on.
    pub(crate) fn wear(&mut self, name: &str) {
        // What was worn at the start may have a name of its own, where there are no colours.
        let Ok(theme) = self.wardrobe.themes.load(name, self.theme.depth()) else { return };
        self.composer.wear(&theme);
        self.theme = theme;
    }

    /// What is known of the terminal, for doctor and reports.
    pub(crate) fn terminal_facts(&self) -> Vec<(String, String)> {
        let (width, height) = self.screen;
        let own = [("screen", format!("{width}×{height}")), ("theme", self.theme.name().to_owned())];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let (_, problems) = KeyMap::with(&self.display.keys);
        let keys =
            problems.into_iter().map(|problem| (KEYS.to_owned(), format!("{}: {}.", problem.name, problem.text)));
        self.terminal.iter().cloned().chain(own).chain(keys).collect()
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::session::{Connection, LookReport, ModelRow, ModelUse, Page, Report, Session};
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
        App::start(session, effects, theme, "root".into()).0
    }

    fn press(app: &mut App, keys: &str) {
        keys.split(' ').filter_map(key::parse).for_each(|key| drop(app.event(Event::Key(key))));
    }

    #[test]
    fn the_colours_change_while_one_chooses_and_come_back_on_the_way_out() {
        for way_out in ["Esc", "Ctrl-c"] {
            let mut app = app();
            app.change_theme(None);
            press(&mut app, "Down");
            assert_ne!(app.theme.name(), "rhumb-dark");
            press(&mut app, way_out);
            assert_eq!((app.theme.name(), app.overlay.is_none()), ("rhumb-dark", true));
        }
        let mut app = app();
        app.change_theme(None);
        press(&mut app, "l i g h t Enter");
        assert_eq!(app.theme.name(), "rhumb-light");
    }

    #[test]
    fn a_page_waits_until_the_open_overlay_closes() {
        let mut app = app();
        press(&mut app, "F4");
        app.report(Report::Looked(LookReport::Page(Page { title: "doctor".into(), text: "✓ all".into() })));
        assert!(matches!(app.overlay, Some(Overlay::Paste(_))));
        press(&mut app, "Esc");
        assert!(matches!(app.overlay, Some(Overlay::Read(_))));
    }

    #[test]
    fn models_are_chosen_from_a_list() {
        let mut app = app();
        let row = |name: &str| ModelRow { name: name.into(), detail: "200k".into(), at_hand: true };
        let rows = vec![row("tide-7b"), row("ebb-3b")];
        app.session.connection = Connection::Remote { model: "x".into(), host: "h".into() };
        app.report(Report::Looked(LookReport::Models { rows, choose: Some((ModelUse::Weak, "ebb".into())) }));
        press(&mut app, "Enter");
        assert_eq!(app.session.choices.weak_model.as_deref(), Some("ebb-3b"));
    }
}
