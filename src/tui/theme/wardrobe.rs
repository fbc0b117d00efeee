//! Which theme is worn: the one that was asked for, else the one that suits the ground; and the user's own as they change.

use super::{ColorDepth, Theme, Themes};
use crate::session::Level;
use crate::tui::app::App;

/// What the settings say of colours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// The theme on any ground.
    pub always: Option<String>,
    /// The theme on a light ground.
    pub light: Option<String>,
    /// The theme on a dark ground.
    pub dark: Option<String>,
}

impl Wish {
    /// The theme for that ground.
    pub fn on(&self, light_ground: bool, depth: ColorDepth) -> &str {
        let by_ground = if light_ground { &self.light } else { &self.dark };
        let wish = self.always.as_ref().or(by_ground.as_ref());
        wish.map_or_else(|| Theme::default_name(light_ground, depth), String::as_str)
    }
}

/// The themes that there are, and which one is to be worn.
#[derive(Debug, Default)]
pub struct Wardrobe {
    /// All themes.
    pub themes: Themes,
    /// What the settings say.
    pub wish: Wish,
    /// Whether the theme was chosen since the start: then the ground does not matter any more.
    pub by_hand: bool,
    /// Whether the ground is light, as far as is known.
    pub light: bool,
    /// A theme that was asked for and is looked for on disk.
    pub sought: Option<String>,
    /// The faults of the user's themes that were told last.
    told: Vec<String>,
}

impl App {
    /// Takes over the themes that there are, and what is wished for.
    pub fn furnish(&mut self, themes: Themes, wish: Wish, light: bool) {
        self.wardrobe = Wardrobe { told: themes.faults(), wish, by_hand: false, light, themes, sought: None };
        for fault in self.wardrobe.told.clone() {
            self.session.tell(Level::Warning, format!("{fault}."), "");
        }
        self.list_themes();
    }

    /// The user's themes have changed on disk. One that is worn and cannot be read any more stays as it was.
    pub fn themes_changed(&mut self, themes: Themes) {
        if themes != self.wardrobe.themes {
            self.take_over(themes);
        }
        if let Some(sought) = self.wardrobe.sought.take() {
            self.change_theme(Some(&sought));
        }
    }

    fn take_over(&mut self, themes: Themes) {
        let faults = themes.faults();
        self.wardrobe.themes = themes;
        for fault in faults.iter().filter(|fault| !self.wardrobe.told.contains(fault)) {
            self.session.tell(Level::Warning, format!("{fault}."), "The colours stay until it is right.");
        }
        self.wardrobe.told = faults;
        self.list_themes();
        let worn = match self.wardrobe.by_hand || self.choosing_theme() {
            true => self.theme.name().to_owned(),
            // It may have been wrong when the app started.
            false => self.wardrobe.wish.on(self.wardrobe.light, self.theme.depth()).to_owned(),
        };
        self.wear(&worn);
    }

    /// The terminal tells, or has changed, what its ground is.
    pub fn ground_is(&mut self, light: bool) {
        self.wardrobe.light = light;
        // A list of themes shows what is under its cursor. Without colours there is nothing to suit.
        if self.wardrobe.by_hand || self.choosing_theme() || self.theme.depth() == ColorDepth::None {
            return;
        }
        let name = self.wardrobe.wish.on(light, self.theme.depth()).to_owned();
        if name != self.theme.name() {
            self.wear(&name);
        }
    }

    /// Whether the ground would change anything.
    pub(crate) fn minds_the_ground(&self) -> bool {
        let (wish, depth) = (&self.wardrobe.wish, self.theme.depth());
        !self.wardrobe.by_hand && depth != ColorDepth::None && wish.on(true, depth) != wish.on(false, depth)
    }

    fn choosing_theme(&self) -> bool {
        self.overlay.as_ref().is_some_and(|overlay| overlay.theme_before().is_some())
    }

    fn list_themes(&mut self) {
        self.session.known.themes = self.wardrobe.themes.names().into_iter().map(str::to_owned).collect();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::session::{Connection, Entry, Session};
    use crate::tui::app::Task;
    use crate::tui::theme::Role;

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
        App::start(session, effects, theme, "root".into()).0
    }

    fn wish(always: Option<&str>, light: Option<&str>, dark: Option<&str>) -> Wish {
        let owned = |name: Option<&str>| name.map(str::to_owned);
        Wish { always: owned(always), light: owned(light), dark: owned(dark) }
    }

    fn notices(app: &App) -> usize {
        app.session.transcript.iter().filter(|entry| matches!(entry, Entry::Notice(_))).count()
    }

    #[test]
    fn a_theme_that_came_since_the_start_is_found_when_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut app = app();
        assert_eq!(app.ask_for_theme(Some("nord")), []);
        assert_eq!(app.ask_for_theme(Some("mine")), [Task::ReadThemes]);
        assert_eq!((app.theme.name(), notices(&app)), ("nord", 0));
        app.themes_changed(Themes::read(folder.path()));
        assert_eq!((app.theme.name(), notices(&app)), ("nord", 1), "there is none");
        fs::write(folder.path().join("mine.toml"), "inherits = \"nord\"\n").unwrap();
        assert_eq!(app.ask_for_theme(Some("mine")), [Task::ReadThemes]);
        app.themes_changed(Themes::read(folder.path()));
        assert_eq!((app.theme.name(), notices(&app)), ("mine", 1));
    }

    #[test]
    fn what_is_asked_for_wins_over_the_ground() {
        let on = |wish: &Wish, light| wish.on(light, ColorDepth::True).to_owned();
        assert_eq!(on(&wish(Some("nord"), Some("a"), Some("b")), true), "nord");
        assert_eq!(on(&wish(None, Some("a"), Some("b")), true), "a");
        assert_eq!(on(&wish(None, Some("a"), Some("b")), false), "b");
        assert_eq!(on(&wish(None, Some("a"), None), false), "rhumb-dark");
        assert_eq!(on(&Wish::default(), true), "rhumb-light");
        assert_eq!(Wish::default().on(true, ColorDepth::Ansi16), "rhumb-16");
    }

    #[test]
    fn the_theme_follows_the_ground_until_one_is_chosen() {
        let mut app = app();
        app.furnish(Themes::default(), wish(None, Some("gruvbox-light"), Some("gruvbox-dark")), false);
        app.ground_is(true);
        assert_eq!(app.theme.name(), "gruvbox-light");
        app.ground_is(false);
        assert_eq!(app.theme.name(), "gruvbox-dark");
        app.change_theme(Some("nord"));
        app.ground_is(true);
        assert_eq!(app.theme.name(), "nord");
    }

    #[test]
    fn the_ground_does_not_take_a_theme_from_under_the_cursor() {
        let mut app = app();
        app.change_theme(None);
        app.ground_is(true);
        assert_eq!(app.theme.name(), "rhumb-dark");
        // Left without a choice, it follows the ground as before.
        app.event(crossterm::event::Event::Key(crate::tui::key::parse("Esc").unwrap()));
        app.ground_is(true);
        assert_eq!(app.theme.name(), "rhumb-light");
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
        assert!(app.session.known.themes.iter().any(|name| name == "mine"));
        app.change_theme(Some("mine"));
        let title = |app: &App| app.theme.style(Role::Title).fg;
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
