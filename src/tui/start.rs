//! What the app starts with, and its first state.

use std::path::PathBuf;

use super::action::{Action, KeyMap};
use super::app::{App, Task, run};
use super::terminal;
use super::theme::wardrobe::Wish;
use super::theme::{Theme, Themes};
use crate::config::{DisplaySettings, Notify};
use crate::session::SessionStart;
use crate::store::LayoutFile;

/// What the app starts with.
pub struct Start {
    /// The conversation.
    pub session: SessionStart,
    /// The styles.
    pub theme: Theme,
    /// The themes that there are.
    pub themes: Themes,
    /// Which of them suits which ground.
    pub wish: Wish,
    /// Where the user's own lie.
    pub themes_folder: Option<PathBuf>,
    /// How it looks and feels otherwise.
    pub display: DisplaySettings,
    /// Where it is kept how the panes are arranged; `None` where nothing is.
    pub desk: Option<LayoutFile>,
    /// How to tell that a turn has ended.
    pub notify: Notify,
    /// Whether a command tells it instead.
    pub notify_by_command: bool,
    /// Whether this user has never started it before.
    pub is_first: bool,
    /// Panic after the first frame: lets a test see that the terminal comes back.
    pub test_panic: bool,
}

/// The app before its first frame, and what it asks for.
pub(super) fn begin(start: &Start) -> (App, Vec<Task>) {
    let (session, effects) = start.session.begin();
    let (mut app, mut tasks) = App::start(session, effects, start.theme.clone(), start.session.root.clone());
    app.display.clone_from(&start.display);
    app.display.animations &= !reduced_motion(|name| std::env::var(name).ok());
    let kept = start.desk.as_ref().map(LayoutFile::read).unwrap_or_default();
    app.display.layout = app.desk.arrange(kept, start.display.layout);
    let light = terminal::light_ground(|name| std::env::var(name).ok());
    app.furnish(start.themes.clone(), start.wish.clone(), light);
    app.welcome = start.is_first;
    app.keys = KeyMap::with(&start.display.keys).0;
    app.composer.invite(app.keys.first(Action::Help));
    app.folder.clone_from(&start.session.folder);
    app.terminal = terminal::facts(|name| std::env::var(name).ok());
    let draft = &start.session.draft;
    if !draft.is_empty() {
        app.composer.set(draft);
        tasks.extend(run(app.session.draft_changed(draft)));
    }
    (app, tasks)
}

/// Whether the environment says that nothing shall move by itself.
fn reduced_motion(env: impl Fn(&str) -> Option<String>) -> bool {
    ["REDUCE_MOTION", "NO_MOTION"]
        .into_iter()
        .any(|name| env(name).is_some_and(|value| !value.is_empty() && value != "0"))
}
