//! The themes: the built-in ones and the files in the user's folder, which is watched; and the current one, which the user
//! chose or which suits the background.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, Weak};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use rhumb_workspace::debounced_watcher;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::{BUILTIN, ThemeError};
use crate::tui::overlay::Menu;
use crate::tui::prelude::*;

/// The colour settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThemeChoice {
    pub always: Option<String>,
    pub light: Option<String>,
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
pub struct ThemeStore {
    pub current: Theme,
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

impl ThemeStore {
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

    /// Replaces the themes. Returns the errors in them that were not reported before.
    fn replace(&mut self, themes: Themes) -> Vec<String> {
        let faults = themes.faults();
        let new = faults.iter().filter(|fault| !self.reported.contains(fault)).cloned().collect();
        (self.themes, self.reported) = (themes, faults);
        new
    }

    /// The theme that the settings choose for the background.
    fn for_background(&self) -> &str {
        self.choice.on(self.light_background, self.current.depth)
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
            let name = if keeps { &self.theme().name } else { self.themes.for_background() }.to_owned();
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
        if self.themes.is_chosen || self.is_choosing_theme() || self.theme().depth == ColorDepth::None {
            return;
        }
        let name = self.themes.for_background().to_owned();
        if name != self.theme().name {
            self.apply_theme(&name);
        }
    }

    /// Whether the background decides which theme is used.
    pub(crate) fn needs_background(&self) -> bool {
        let (choice, depth) = (&self.themes.choice, self.theme().depth);
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
            None => self.overlays.show(Menu::themes(&names, &self.theme().name)),
            Some(name) if names.contains(&name) => {
                if let Err(error) = self.themes.themes.load(name, self.theme().depth) {
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
        if let Some(name) = name.filter(|name| *name != self.theme().name) {
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
        let Ok(theme) = self.themes.themes.load(name, self.theme().depth) else { return };
        self.composer.apply_theme(&theme);
        self.themes.current = theme;
    }
}

/// Maximum number of theme files that are read: a folder with more is not a folder of themes.
const MAX_THEME_FILES: usize = 200;

/// Largest file of a theme, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The themes by name. Only the user's folder is read. A repository cannot define themes, because colours can hide lines of
/// a review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Themes {
    own: BTreeMap<String, (PathBuf, String)>,
}

impl Themes {
    /// Reads the built-in themes and each `NAME.toml` in `folder`, which may be missing.
    pub fn read(folder: &Path) -> Self {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let own = paths.into_iter().filter_map(|path| Some((name(&path)?, path))).take(MAX_THEME_FILES);
        let own = own.filter_map(|(name, path)| {
            let text = read(&path)?;
            Some((name, (path, text)))
        });
        Self { own: own.collect() }
    }

    /// Their names: the default, then the other built-in themes, then the user's.
    pub fn names(&self) -> Vec<&str> {
        let inside = BUILTIN.iter().map(|(name, _)| *name);
        let own = self.own.keys().map(String::as_str).filter(|name| !BUILTIN.iter().any(|(inside, _)| inside == name));
        inside.chain(own).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.own.contains_key(name) || BUILTIN.iter().any(|(inside, _)| *inside == name)
    }

    /// Loads the theme of that name.
    ///
    /// # Errors
    ///
    /// The theme is unknown, or its file is malformed. [`Self::explain`] describes the fault.
    pub fn load(&self, name: &str, depth: ColorDepth) -> Result<Theme, ThemeError> {
        Theme::load(name, depth, &|name| self.own.get(name).map(|(_, text)| text.clone()))
    }

    /// The user's themes that cannot be used, each with the reason: `themes/mine.toml:7: …`.
    pub fn faults(&self) -> Vec<String> {
        let wrong = |name: &String| self.load(name, ColorDepth::True).err();
        self.own.keys().filter_map(wrong).map(|error| self.explain(&error)).collect()
    }

    /// An error with the file and line that it is about.
    pub fn explain(&self, error: &ThemeError) -> String {
        let (theme, line) = error.place();
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        match self.own.get(theme) {
            Some((file, _)) => format!("{}{line}: {error}", file.display()),
            None => error.to_string(),
        }
    }
}

/// The theme name of a file. `None` for files such as backups of editors.
fn name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".toml")?;
    let fit = !name.starts_with('.') && !name.chars().any(|c| c.is_control() || c.is_whitespace());
    Some(name.to_owned()).filter(|_| fit)
}

/// The text of a regular file of limited size.
fn read(path: &Path) -> Option<String> {
    let plain = fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let mut text = String::new();
    let file = fs::File::open(path).ok().filter(|_| plain)?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// How long changes are gathered: an editor saves in several steps.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// A running watch; it ends when it is dropped.
pub(crate) struct Watch {
    _held: Arc<Mutex<Watched>>,
}

struct Watched {
    /// `None` during the setup.
    watch: Option<RecommendedWatcher>,
    /// The canonical parent folder of the themes, which is watched recursively.
    around: PathBuf,
    /// Other folders that links lead to.
    elsewhere: BTreeSet<PathBuf>,
}

/// Sends all themes whenever a file of `folder`, or the target of a link in it, has changed. The setup reads the disk,
/// so it runs off the draw path. Without a settings folder or free file watches nothing is watched, and `/theme` lists
/// the themes from the start.
pub(crate) fn follow(folder: PathBuf, tell: UnboundedSender<Themes>) -> JoinHandle<Option<Watch>> {
    tokio::task::spawn_blocking(move || watch(&folder, tell))
}

fn watch(folder: &Path, tell: UnboundedSender<Themes>) -> Option<Watch> {
    // The parent folder is watched, because the folder may be created later.
    let around = folder.parent()?.canonicalize().ok()?;
    let folder = around.join(folder.file_name()?);
    let held = Arc::new(Mutex::new(Watched { watch: None, around: around.clone(), elsewhere: BTreeSet::new() }));
    let watched: Weak<Mutex<Watched>> = Arc::downgrade(&held);
    let own = folder.clone();
    let changed = move |events: Vec<notify::Result<Event>>| {
        let places = places(&own);
        let ours = events.iter().any(|event| match event {
            Ok(event) if !event.need_rescan() => {
                event.paths.iter().any(|path| places.iter().any(|place| path.starts_with(place)))
            }
            // Events were lost, so anything may have changed.
            _ => true,
        });
        if ours && let Some(watched) = watched.upgrade() {
            // Links may be new. Their targets are watched before they are read.
            watched.lock().unwrap_or_else(PoisonError::into_inner).follow_links(&places);
            // The receiver is closed when the app exits.
            let _ = tell.send(Themes::read(&own));
        }
    };
    let mut watch = debounced_watcher(DEBOUNCE, changed).ok()?;
    watch.watch(&around, RecursiveMode::Recursive).ok()?;
    let mut watched = held.lock().unwrap_or_else(PoisonError::into_inner);
    watched.watch = Some(watch);
    watched.follow_links(&places(&folder));
    drop(watched);
    Some(Watch { _held: held })
}

/// The folder, and the canonical paths of the folder and its files, since a save through a link changes only its
/// target.
fn places(folder: &Path) -> BTreeSet<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let real = files.chain([folder.to_owned()]).filter_map(|path| path.canonicalize().ok());
    real.chain([folder.to_owned()]).collect()
}

impl Watched {
    fn follow_links(&mut self, places: &BTreeSet<PathBuf>) {
        let Some(watch) = &mut self.watch else { return };
        for place in places.iter().filter(|place| !place.starts_with(&self.around)) {
            let Some(folder) = (if place.is_dir() { Some(place.as_path()) } else { place.parent() }) else { continue };
            if !self.elsewhere.contains(folder) && watch.watch(folder, RecursiveMode::NonRecursive).is_ok() {
                self.elsewhere.insert(folder.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Role;
    use super::*;
    use crate::tui::app::Task;
    use rhumb_session::Connection;
    use rhumb_session::Entry;
    use rhumb_session::Session;

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
        assert_eq!((app.theme().name.as_str(), notices(&app)), ("nord", 0));
        app.themes_changed(Themes::read(folder.path()));
        assert_eq!((app.theme().name.as_str(), notices(&app)), ("nord", 1), "there is none");
        fs::write(folder.path().join("mine.toml"), "inherits = \"nord\"\n").unwrap();
        assert_eq!(app.ask_for_theme(Some("mine")), [Task::ReadThemes]);
        app.themes_changed(Themes::read(folder.path()));
        assert_eq!((app.theme().name.as_str(), notices(&app)), ("mine", 1));
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
        assert_eq!(app.theme().name.as_str(), "gruvbox-light");
        app.background_changed(false);
        assert_eq!(app.theme().name.as_str(), "gruvbox-dark");
        app.change_theme(Some("nord"));
        app.background_changed(true);
        assert_eq!(app.theme().name.as_str(), "nord");
    }

    #[test]
    fn the_ground_does_not_take_a_theme_from_under_the_cursor() {
        let mut app = app();
        app.change_theme(None);
        app.background_changed(true);
        assert_eq!(app.theme().name.as_str(), "rhumb-dark");
        // Without a choice, the theme follows the background again.
        app.event(crossterm::event::Event::Key(crate::tui::key::parse("Esc").unwrap()));
        app.background_changed(true);
        assert_eq!(app.theme().name.as_str(), "rhumb-light");
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

#[cfg(test)]
mod theme_list_tests {
    use super::super::Role;
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    #[test]
    fn the_users_themes_stand_beside_those_inside() {
        let folder = folder(&[
            ("mine.toml", "inherits = \"nord\"\n[styles]\ntitle = \"red\"\n"),
            ("nord.toml", "inherits = \"nord\"\n[styles]\nkey = \"red\"\n"),
            (".hidden.toml", ""),
            ("notes.txt", ""),
            ("two words.toml", ""),
        ]);
        let themes = Themes::read(folder.path());
        assert_eq!(themes.names().last(), Some(&"mine"));
        assert_eq!(themes.names().iter().filter(|name| **name == "nord").count(), 1);
        assert_eq!(themes.names().len(), BUILTIN.len() + 1);
        let mine = themes.load("mine", ColorDepth::True).unwrap();
        let red = Some(ratatui::style::Color::Red);
        assert_eq!((mine.style(Role::Title).fg, mine.style(Role::Key).fg), (red, red));
        assert_eq!(themes.faults(), [""; 0]);
    }

    #[test]
    fn a_wrong_file_is_told_with_its_place() {
        let folder = folder(&[
            ("a.toml", "[styles]\n\ntittle = \"red\"\n"),
            ("b.toml", "[styles]\ntitle = \"brass\"\n"),
            ("c.toml", "inherits = \"nord\"\n[styles\n"),
            ("d.toml", "inherits = \"b\"\n"),
            ("e.toml", "[palette]\nsea = \"#12\"\n"),
            ("f.toml", "[styles]\ntitle = { fg = \"red\", bolt = true }\n"),
        ]);
        let at = |name: &str| folder.path().join(name).display().to_string();
        let faults = Themes::read(folder.path()).faults();
        let begins = [
            at("a.toml:3: "),
            at("b.toml:2: "),
            at("c.toml:2: "),
            at("b.toml:2: "),
            at("e.toml:2: "),
            at("f.toml:2: "),
        ];
        assert_eq!(faults.len(), begins.len());
        for (fault, begin) in faults.iter().zip(begins) {
            assert!(fault.starts_with(&begin) && !fault.contains('\n'), "{fault:?} does not begin with {begin:?}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_holds_none() {
        assert_eq!(Themes::read(Path::new("/nowhere/at/all")), Themes::default());
    }
}

#[cfg(test)]
mod watch_tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_theme_that_comes_or_changes_is_told() {
        let config = tempfile::tempdir().unwrap();
        let folder = config.path().canonicalize().unwrap().join("themes");
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let _watch = watch(&folder, tell).unwrap();
        fs::create_dir(&folder).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut wait = |holds: &dyn Fn(&Themes) -> bool| {
            runtime.block_on(async {
                let wait = async { while !holds(&told.recv().await.unwrap()) {} };
                tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
            });
        };
        // Changes in the new folder are not reported until it is watched.
        wait(&|_| true);
        fs::write(folder.join("mine.toml"), "inherits = \"nord\"\n").unwrap();
        wait(&|themes| themes.has("mine") && themes.faults().is_empty());
        fs::write(folder.join("mine.toml"), "inherits = \"nord\"\nx\n").unwrap();
        wait(&|themes| themes.faults().len() == 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_theme_that_a_link_leads_to_is_told_whether_the_link_was_there_or_comes() {
        let (config, dotfiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = config.path().join("themes");
        fs::create_dir(&folder).unwrap();
        let target = |name: &str| dotfiles.path().join(name);
        let save = |name: &str, text: &str| {
            // Editors write the new text to another file and rename it over the old one.
            fs::write(target("new"), text).unwrap();
            fs::rename(target("new"), target(name)).unwrap();
        };
        save("mine", "inherits = \"nord\"\n");
        save("late", "inherits = \"nord\"\n");
        std::os::unix::fs::symlink(target("mine"), folder.join("mine.toml")).unwrap();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let _watch = watch(&folder, tell).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut wait = |holds: &dyn Fn(&Themes) -> bool| {
            runtime.block_on(async {
                let wait = async { while !holds(&told.recv().await.unwrap()) {} };
                tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
            });
        };
        save("mine", "inherits = \"nord\"\nx\n");
        wait(&|themes| themes.faults().len() == 1);
        std::os::unix::fs::symlink(target("late"), folder.join("late.toml")).unwrap();
        wait(&|themes| themes.has("late"));
        save("late", "inherits = \"nord\"\nx\n");
        wait(&|themes| themes.faults().len() == 2);
    }
}
