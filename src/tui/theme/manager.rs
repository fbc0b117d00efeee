//! The current theme: the one that the user chose, or the one for the background; and reloads of the user's theme
//! files.

use rhumb_session::Level;

use super::{ColorDepth, Theme, Themes};
use crate::tui::app::{App, Task};
use crate::tui::overlay::Menu;

/// The colour settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThemeChoice {
    /// The theme for any background.
    pub always: Option<String>,
    /// The theme for a light background.
    pub light: Option<String>,
    /// The theme for a dark background.
    pub dark: Option<String>,
}

impl ThemeChoice {
    /// The name of the theme for that background.
    pub fn on(&self, light_background: bool, depth: ColorDepth) -> &str {
        let by_background = if light_background { &self.light } else { &self.dark };
        let choice = self.always.as_ref().or(by_background.as_ref());
        choice.map_or_else(|| Theme::default_name(light_background, depth), String::as_str)
    }
}

/// The themes, and the one in use.
#[derive(Debug)]
pub struct ThemeManager {
    current: Theme,
    themes: Themes,
    choice: ThemeChoice,
    /// Whether the user chose a theme in this session, which stays for any background.
    is_chosen: bool,
    light_background: bool,
    /// A requested theme that is being searched on disk.
    requested: Option<String>,
    /// Errors in the user's themes that were already reported.
    reported: Vec<String>,
}

impl ThemeManager {
    /// A manager that uses `theme` and knows the built-in themes.
    pub fn new(theme: Theme) -> Self {
        Self {
            current: theme,
            themes: Themes::default(),
            choice: ThemeChoice::default(),
            is_chosen: false,
            light_background: false,
            requested: None,
            reported: Vec::new(),
        }
    }

    /// The theme in use.
    pub fn current(&self) -> &Theme {
        &self.current
    }

    /// Replaces the themes. Returns the errors in them that were not reported before.
    fn replace(&mut self, themes: Themes) -> Vec<String> {
        let faults = themes.faults();
        let new = faults.iter().filter(|fault| !self.reported.contains(fault)).cloned().collect();
        (self.themes, self.reported) = (themes, faults);
        new
    }

    /// The theme that the settings choose for the background.
    fn for_background(&self) -> &str {
        self.choice.on(self.light_background, self.current.depth())
    }
}

impl App {
    /// Sets the themes and the choice of the settings.
    pub fn set_themes(&mut self, themes: Themes, choice: ThemeChoice, light_background: bool) {
        (self.themes.choice, self.themes.light_background) = (choice, light_background);
        for fault in self.themes.replace(themes) {
            self.session.report(Level::Warning, format!("{fault}."), "");
        }
        self.list_themes();
    }

    /// Replaces the user's themes after a change on disk. If the theme in use cannot be read any more, its colours stay.
    pub fn themes_changed(&mut self, themes: Themes) {
        if themes != self.themes.themes {
            for fault in self.themes.replace(themes) {
                self.session.report(Level::Warning, format!("{fault}."), "The colours stay until it is right.");
            }
            self.list_themes();
            // The theme of the settings may have been wrong at the start.
            let keeps = self.themes.is_chosen || self.is_choosing_theme();
            let name = if keeps { self.theme().name() } else { self.themes.for_background() }.to_owned();
            self.apply_theme(&name);
        }
        if let Some(requested) = self.themes.requested.take() {
            self.change_theme(Some(&requested));
        }
    }

    /// The terminal reported whether its background is light.
    pub fn background_changed(&mut self, light: bool) {
        self.themes.light_background = light;
        // While the user chooses a theme, the screen shows the one under the cursor.
        if self.themes.is_chosen || self.is_choosing_theme() || self.theme().depth() == ColorDepth::None {
            return;
        }
        let name = self.themes.for_background().to_owned();
        if name != self.theme().name() {
            self.apply_theme(&name);
        }
    }

    /// Whether the background decides which theme is used.
    pub(crate) fn needs_background(&self) -> bool {
        let (choice, depth) = (&self.themes.choice, self.theme().depth());
        !self.themes.is_chosen && depth != ColorDepth::None && choice.on(true, depth) != choice.on(false, depth)
    }

    /// The theme from before the list of themes was opened. `None` if that is not open.
    pub(crate) fn theme_before(&self) -> Option<&str> {
        self.overlays.top_as().and_then(Menu::theme_before)
    }

    fn is_choosing_theme(&self) -> bool {
        self.theme_before().is_some()
    }

    fn list_themes(&mut self) {
        self.session.set_theme_names(self.themes.themes.names().into_iter().map(str::to_owned).collect());
    }

    /// Changes the theme, or opens the list of themes. An unknown theme is searched on disk: its folder may be new, and a folder
    /// that did not exist at the start is not watched.
    pub(crate) fn ask_for_theme(&mut self, name: Option<&str>) -> Vec<Task> {
        match name {
            Some(name) if !self.themes.themes.has(name) => {
                self.themes.requested = Some(name.to_owned());
                vec![Task::ReadThemes]
            }
            _ => {
                self.change_theme(name);
                Vec::new()
            }
        }
    }

    /// Changes the theme, or opens the list of themes.
    pub(crate) fn change_theme(&mut self, name: Option<&str>) {
        let names = self.themes.themes.names();
        match name {
            None => self.overlays.show(Menu::themes(&names, self.theme().name())),
            Some(name) if names.contains(&name) => {
                if let Err(error) = self.themes.themes.load(name, self.theme().depth()) {
                    let text = format!("{}.", self.themes.themes.explain(&error));
                    return self.session.report(Level::Error, text, "The colours stay as they are.");
                }
                self.choose_theme(name);
                self.hint.set(format!("colours: {name} (theme in rhumb.toml keeps them)"));
            }
            Some(name) => {
                let text = format!("There is no theme {name}.");
                let hint = format!(
                    "The themes are {}. `rhumb config --path` names the folder for your own.",
                    names.join(", ")
                );
                self.session.report(Level::Error, text, hint);
            }
        }
    }

    /// Applies the theme under the cursor of the list of themes.
    pub(crate) fn preview_theme(&mut self) {
        let name = self.overlays.top_as().and_then(Menu::theme_under_cursor).map(str::to_owned);
        if let Some(name) = name.filter(|name| name != self.theme().name()) {
            self.apply_theme(&name);
        }
    }

    /// Applies a theme that the user chose, for any background.
    pub(crate) fn choose_theme(&mut self, name: &str) {
        self.themes.is_chosen = true;
        self.apply_theme(name);
    }

    pub(crate) fn apply_theme(&mut self, name: &str) {
        // Without colours, the initial theme may have a name that is not in the list.
        let Ok(theme) = self.themes.themes.load(name, self.theme().depth()) else { return };
        self.composer.apply_theme(&theme);
        self.themes.current = theme;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tui::app::Task;
    use crate::tui::theme::Role;
    use rhumb_session::{Connection, Entry, Session};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
        App::start(session, effects, theme, "root".into()).0
    }

    fn choice(always: Option<&str>, light: Option<&str>, dark: Option<&str>) -> ThemeChoice {
        let owned = |name: Option<&str>| name.map(str::to_owned);
        ThemeChoice { always: owned(always), light: owned(light), dark: owned(dark) }
    }

    fn notices(app: &App) -> usize {
        app.session.transcript().iter().filter(|entry| matches!(entry, Entry::Status(_))).count()
    }

    #[test]
    fn a_theme_that_came_since_the_start_is_found_when_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut app = app();
        assert_eq!(app.ask_for_theme(Some("nord")), []);
        assert_eq!(app.ask_for_theme(Some("mine")), [Task::ReadThemes]);
        assert_eq!((app.theme().name(), notices(&app)), ("nord", 0));
        app.themes_changed(Themes::read(folder.path()));
        assert_eq!((app.theme().name(), notices(&app)), ("nord", 1), "there is none");
        fs::write(folder.path().join("mine.toml"), "inherits = \"nord\"\n").unwrap();
        assert_eq!(app.ask_for_theme(Some("mine")), [Task::ReadThemes]);
        app.themes_changed(Themes::read(folder.path()));
        assert_eq!((app.theme().name(), notices(&app)), ("mine", 1));
    }

    #[test]
    fn what_is_asked_for_wins_over_the_ground() {
        let on = |choice: &ThemeChoice, light| choice.on(light, ColorDepth::True).to_owned();
        assert_eq!(on(&choice(Some("nord"), Some("a"), Some("b")), true), "nord");
        assert_eq!(on(&choice(None, Some("a"), Some("b")), true), "a");
        assert_eq!(on(&choice(None, Some("a"), Some("b")), false), "b");
        assert_eq!(on(&choice(None, Some("a"), None), false), "rhumb-dark");
        assert_eq!(on(&ThemeChoice::default(), true), "rhumb-light");
        assert_eq!(ThemeChoice::default().on(true, ColorDepth::Ansi16), "rhumb-16");
    }

    #[test]
    fn the_theme_follows_the_ground_until_one_is_chosen() {
        let mut app = app();
        app.set_themes(Themes::default(), choice(None, Some("gruvbox-light"), Some("gruvbox-dark")), false);
        app.background_changed(true);
        assert_eq!(app.theme().name(), "gruvbox-light");
        app.background_changed(false);
        assert_eq!(app.theme().name(), "gruvbox-dark");
        app.change_theme(Some("nord"));
        app.background_changed(true);
        assert_eq!(app.theme().name(), "nord");
    }

    #[test]
    fn the_ground_does_not_take_a_theme_from_under_the_cursor() {
        let mut app = app();
        app.change_theme(None);
        app.background_changed(true);
        assert_eq!(app.theme().name(), "rhumb-dark");
        // Without a choice, the theme follows the background again.
        app.event(crossterm::event::Event::Key(crate::tui::key::parse("Esc").unwrap()));
        app.background_changed(true);
        assert_eq!(app.theme().name(), "rhumb-light");
    }

    #[test]
    fn a_theme_that_is_saved_is_worn_anew_and_a_broken_one_leaves_the_colours() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        let save = |app: &mut App, text: &str| {
            fs::write(&file, text).unwrap();
            app.themes_changed(Themes::read(folder.path()));
        };
        let mut app = app();
        save(&mut app, "inherits = \"nord\"\n[styles]\ntitle = \"red\"\n");
        assert!(app.session.lookups().themes.iter().any(|name| name == "mine"));
        app.change_theme(Some("mine"));
        let title = |app: &App| app.theme().style(Role::Title).fg;
        assert_eq!(title(&app), Some(ratatui::style::Color::Red));
        save(&mut app, "inherits = \"nord\"\n[styles]\ntitle = \"blue\"\n");
        assert_eq!(title(&app), Some(ratatui::style::Color::Blue));
        let before = notices(&app);
        for _ in 0..2 {
            save(&mut app, "inherits = \"nord\"\n[styles]\ntitle = \"bluue\"\n");
        }
        assert_eq!((title(&app), notices(&app)), (Some(ratatui::style::Color::Blue), before + 1));
        fs::remove_file(&file).unwrap();
        app.themes_changed(Themes::read(folder.path()));
        assert_eq!(title(&app), Some(ratatui::style::Color::Blue));
    }
}
