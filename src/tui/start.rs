//! What the app starts with, and its first state.

use std::path::PathBuf;
use std::sync::Arc;

use super::action::{Action, KeyMap};
use super::app::{App, Task};
use super::terminal;
use super::theme::{Theme, Themes};
use super::wardrobe::Wish;
use crate::config::{Face, Notify};
use crate::models::{Dollars, Model};
use crate::repo_map::Refresh;
use crate::session::{Command, Connection, Effect, LookOrder, ModeRules, Session, WhichSession};
use crate::store::DeskFile;

/// What the app starts with.
pub struct Start {
    /// Who answers.
    pub connection: Connection,
    /// The styles.
    pub theme: Theme,
    /// The themes that there are.
    pub themes: Themes,
    /// Which of them suits which ground.
    pub wish: Wish,
    /// Where the user's own lie.
    pub themes_folder: Option<PathBuf>,
    /// How it looks and feels otherwise.
    pub face: Face,
    /// Where it is kept how the panes are arranged; `None` where nothing is.
    pub desk: Option<DeskFile>,
    /// The root, for the status line.
    pub root: String,
    /// A first draft in the composer.
    pub draft: String,
    /// Files in the chat from the start.
    pub files: Vec<String>,
    /// Files to read and not to change from the start.
    pub read: Vec<String>,
    /// When the repo map is made anew.
    pub map_refresh: Refresh,
    /// How often edits that found no place go back to the model by themselves.
    pub edit_rounds: usize,
    /// How often what checks found goes back by itself.
    pub verify_rounds: usize,
    /// Whether commands that the model suggests are offered.
    pub suggest_commands: bool,
    /// Whether what is written is committed by itself.
    pub auto_commit: bool,
    /// The editor for messages, if the settings name one.
    pub editor: Option<String>,
    /// The root, for the editor to start in.
    pub folder: PathBuf,
    /// What the settings say of modes, and of files that somebody names.
    pub rules: ModeRules,
    /// The most that may be spent in this session.
    pub spending_cap: Option<Dollars>,
    /// What is known of the model that answers.
    pub facts: Option<Arc<Model>>,
    /// An earlier session to go on with.
    pub resume: Option<WhichSession>,
    /// Notices to begin with: text and hint.
    pub notices: Vec<(String, String)>,
    /// How to tell that a turn has ended.
    pub notify: Notify,
    /// Whether a command tells it instead.
    pub notify_by_command: bool,
    /// Whether comments for the model in files are followed from the start.
    pub watch: bool,
    /// Whether this user has never started it before.
    pub is_first: bool,
    /// Panic after the first frame: lets a test see that the terminal comes back.
    pub test_panic: bool,
}

/// The app before its first frame, and what it asks for.
pub(super) fn begin(start: &Start) -> (App, Vec<Task>) {
    let (mut session, effects) = Session::start(start.connection.clone());
    session.edit_rounds = start.edit_rounds;
    session.processes.rounds = start.verify_rounds;
    session.processes.suggestions = start.suggest_commands;
    session.commits.off = !start.auto_commit;
    session.rules = start.rules;
    session.spending_cap = start.spending_cap;
    session.standing.clone_from(&start.read);
    session.facts.clone_from(&start.facts);
    let keep = session.keep(start.resume.clone());
    let (mut app, mut tasks) = App::start(session, effects, start.theme.clone(), start.root.clone());
    app.face.clone_from(&start.face);
    app.face.animations &= !reduced_motion(|name| std::env::var(name).ok());
    let kept = start.desk.as_ref().map(DeskFile::read).unwrap_or_default();
    app.face.layout = app.desk.arrange(kept, start.face.layout);
    let light = terminal::light_ground(|name| std::env::var(name).ok());
    app.furnish(start.themes.clone(), start.wish.clone(), light);
    app.welcome = start.is_first;
    app.keys = KeyMap::with(&start.face.keys).0;
    app.composer.invite(app.keys.first(Action::Help));
    app.folder.clone_from(&start.folder);
    app.terminal = terminal::facts(|name| std::env::var(name).ok());
    tasks.push(Task::Run(Effect::Look(LookOrder::Commands)));
    for (text, hint) in &start.notices {
        app.session.tell(crate::session::Level::Warning, text, hint);
    }
    tasks.extend(super::app::run(keep));
    tasks.extend(super::app::run(app.session.set_map_refresh(start.map_refresh)));
    if start.watch {
        tasks.extend(super::app::run(app.session.command(Command::Watch(Some(true)))));
    }
    if !start.files.is_empty() {
        tasks.extend(super::app::run(app.session.add_files(&start.files, false)));
    }
    if !start.read.is_empty() {
        tasks.extend(super::app::run(app.session.add_files(&start.read, true)));
    }
    if !start.draft.is_empty() {
        app.composer.set(&start.draft);
        tasks.extend(super::app::run(app.session.draft_changed(&start.draft)));
    }
    (app, tasks)
}

/// Whether the environment says that nothing shall move by itself.
fn reduced_motion(env: impl Fn(&str) -> Option<String>) -> bool {
    ["REDUCE_MOTION", "NO_MOTION"]
        .into_iter()
        .any(|name| env(name).is_some_and(|value| !value.is_empty() && value != "0"))
}
