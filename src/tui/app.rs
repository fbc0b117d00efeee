//! The state of the app between two frames: the session, the components, the focus and the overlays.

use std::path::PathBuf;

use rhumb_edit::review::HunkId;
use rhumb_session::{Session, SessionStart, SurveyState};

use super::chat_pane::ChatPane;
use super::composer::{Completion, Composer};
use super::context_pane::ContextPane;
use super::hints::{Hint, Uptime};
use super::layout::LayoutState;
use super::map_pane::MapPane;
use super::mouse::MouseState;
use super::notifications::Attention;
use super::overlay::OverlayStack;
use super::review_pane::ReviewPane;
use super::theme::store::{ThemeChoice, ThemeStore};
use super::{layout, terminal};
use crate::config::{DisplaySettings, Notify, SETTINGS};
use crate::store::LayoutFile;
use crate::tui::prelude::*;

pub use super::review_pane::edit::ReviewDraft;

/// A task of the event loop.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Run an effect of the session.
    Run(Effect),
    /// Copy this to the clipboard.
    Copy(ClipboardText),
    /// Notify a user whose terminal does not have the focus.
    Notify(String),
    /// Suspend the process until the shell continues it.
    Suspend,
    /// Open this in the external editor.
    Edit(Editing),
    /// Reload the user's themes.
    ReadThemes,
    /// Clear the screen and draw a complete frame.
    Redraw,
    /// Exit the app.
    Quit,
}

/// What the external editor opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Editing {
    Message(String),
    File {
        /// Relative to the repository.
        path: String,
        /// 1-based.
        line: usize,
    },
    Review(Box<ReviewDraft>),
}

/// The item under the cursor of the review pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewItem {
    File(usize),
    /// A hunk: its heading, or one of its context lines.
    Hunk(HunkId),
    /// A line of a hunk, 0-based, removed lines first.
    Line(HunkId, usize),
    Refused(usize),
}

/// The state that a frame is drawn from: the session, and one component for each part of the screen.
#[derive(Debug)]
pub struct App {
    /// The conversation.
    pub session: Session,
    /// The composer of the next message.
    pub composer: Composer,
    pub(super) completion: Completion,
    /// The pane with the focus.
    pub focus: Pane,
    /// The overlays above the panes. The top one receives the keys.
    pub overlays: OverlayStack,
    /// The chat pane.
    pub chat: ChatPane,
    /// The map pane.
    pub map: MapPane,
    /// The context pane.
    pub context: ContextPane,
    /// The review pane.
    pub review: ReviewPane,
    pub(crate) themes: ThemeStore,
    /// The display settings and the key bindings.
    pub display: DisplaySettings,
    pub(crate) keys: KeyMap,
    pub(super) sequence: KeySequence,
    pub(crate) previews: Previews,
    pub(crate) environment: Environment,
    /// The panes on the screen, and the layout that the user chose.
    pub layout: LayoutState,
    pub(super) mouse: MouseState,
    pub(crate) uptime: Uptime,
    /// The hint about the last key, in the status line.
    pub hint: Hint,
    pub(super) attention: Attention,
}

/// The repository and the terminal in which the app runs, and the settings that were changed in it.
#[derive(Debug, Default)]
pub struct Environment {
    pub root: String,
    /// The path of the root. Empty if unknown.
    pub folder: PathBuf,
    /// Name and value of each known property of the terminal.
    pub terminal: Vec<(String, String)>,
    /// The new value of each setting that was changed for this session, as TOML.
    pub changed_settings: BTreeMap<String, String>,
}

impl App {
    /// Returns a new app and its first tasks.
    pub fn start(mut session: Session, effects: Vec<Effect>, theme: Theme, root: String) -> (Self, Vec<Task>) {
        session.set_theme_names(Theme::builtin_names().map(str::to_owned).collect());
        let settings = SETTINGS.iter().map(|setting| (setting.name.to_owned(), setting.help.to_owned()));
        session.set_setting_names(settings.collect());
        let app = Self {
            session,
            composer: Composer::new(&theme),
            completion: Completion::default(),
            focus: Pane::Chat,
            overlays: OverlayStack::default(),
            chat: ChatPane::default(),
            map: MapPane::default(),
            context: ContextPane::default(),
            review: ReviewPane::default(),
            themes: ThemeStore::new(theme),
            display: DisplaySettings::default(),
            keys: KeyMap::default(),
            sequence: KeySequence::default(),
            previews: Previews::default(),
            environment: Environment { root, ..Environment::default() },
            layout: LayoutState::default(),
            mouse: MouseState::default(),
            uptime: Uptime::default(),
            hint: Hint::default(),
            attention: Attention::default(),
        };
        (app, run(effects))
    }

    /// The theme in use.
    pub fn theme(&self) -> &Theme {
        &self.themes.current
    }

    /// Whether the review contains hunks to decide or messages to show.
    pub fn reviewing(&self) -> bool {
        !self.session.review().is_empty()
    }

    /// Clamps the cursors after any change.
    pub(super) fn settle(&mut self) {
        self.settle_reading();
        // A new proposal does not move the focus: a letter that was typed for the chat must not decide a hunk.
        let has_ended = self.review.follow_session(!self.session.review().is_empty(), self.session.proposal_count());
        if has_ended && self.focus == Pane::Review {
            self.focus = Pane::Chat;
        }
        self.lay_out_review(None);
        self.settle_context();
        self.settle_map();
        self.note_command();
    }

    /// Lays out the panes and the top overlay for a screen. To be called before each [`super::view::draw`].
    pub fn lay_out(&mut self, screen: Rect) {
        let areas = layout::places(screen, &self.layout_request());
        let review = areas.as_ref().and_then(|areas| areas.of(Pane::Review));
        (self.layout.screen, self.layout.places) = ((screen.width, screen.height), areas.unwrap_or_default());
        self.lay_out_review(review);
        if let Some(overlay) = self.overlays.top_mut() {
            overlay.fit(screen, &self.themes.current, &self.previews);
        }
    }

    /// Stores the results of drawing: heights for paging, the scroll position, what is drawn at each cell.
    pub fn drawn(&mut self, cache: &ViewCache) {
        self.mouse.drawn(cache);
        self.map.set_height(cache.heights[0]);
        self.context.window.set_height(cache.heights[1]);
        self.chat.drawn(cache);
        let rows = if self.focus == Pane::Review { self.review.height() } else { cache.chat.height };
        self.layout.page_rows = rows.saturating_sub(1).max(1);
    }

    /// Whether an action is available. The command bar omits the others.
    pub fn enabled(&self, action: Action) -> bool {
        match action {
            action if action.info().is_rare => false,
            Action::ReadOn => matches!(self.session.survey(), SurveyState::Partial(..)),
            Action::Escape => {
                let session = &self.session;
                if self.focus == Pane::Chat && matches!(session.survey(), SurveyState::Reading(..)) {
                    return !session.is_stopping() || session.turn().is_some();
                }
                let works = session.turn().is_some() || session.is_compacting();
                works || session.attachments().page.is_some() || session.processes().is_running()
            }
            Action::ViewLog => !self.session.processes().logs().is_empty(),
            Action::Send => self.focus == Pane::Chat && !self.composer.is_empty(),
            Action::Newline | Action::ScrollUp => self.focus == Pane::Chat,
            Action::ScrollDown => self.focus == Pane::Chat && self.chat.from_bottom > 0,
            Action::ToggleThoughts => self.session.transcript().iter().any(has_thoughts),
            Action::ReadTranscript => !self.session.transcript().is_empty() && !self.chat.reading.on,
            Action::ScrollToEnd => self.chat.from_bottom > 0,
            Action::NextMatch | Action::PreviousMatch => self.chat.reading.search.is_some(),
            Action::NextLink | Action::PreviousLink => self.chat.citing.any(),
            Action::SendQueued => {
                let waits = self.session.turn().is_some() || self.session.is_compacting();
                !waits && !self.session.queue().waiting().is_empty()
            }
            Action::DropPassages => self.session.kept_passages().is_some(),
            Action::TakeBackQueued => !self.session.queue().waiting().is_empty(),
            Action::Zoom | Action::ZoomHere => self.layout.zoomed,
            Action::FindServers | Action::CopyPrompt | Action::PasteReply => {
                *self.session.connection() == Connection::None
            }
            Action::Write => self.session.review().has_accepted(),
            Action::Reask | Action::ReaskAll | Action::Dismiss => !self.session.review().refused.is_empty(),
            Action::SendReview => self.session.has_feedback(),
            Action::BisectHunks => self.session.trial().is_some_and(|(last, _)| !last.passed),
            Action::Abandon => self.reviewing(),
            Action::NextReviewMatch | Action::PreviousReviewMatch => self.review.is_searching(),
            Action::FocusChat => self.focus != Pane::Chat,
            Action::FocusMap => self.focus != Pane::Map,
            Action::FocusContext => self.focus != Pane::Context,
            Action::FocusReview => self.focus != Pane::Review,
            action if action.info().scope == Scope::Pane(Pane::Review) => !self.session.review().files.is_empty(),
            _ => true,
        }
    }
}

fn has_thoughts(entry: &Entry) -> bool {
    matches!(entry, Entry::Answer(answer) if !answer.reasoning.is_empty())
}

pub(super) fn run(effects: Vec<Effect>) -> Vec<Task> {
    effects.into_iter().map(Task::Run).collect()
}

/// The initial values of the app.
pub struct Start {
    pub session: SessionStart,
    pub theme: Theme,
    pub(crate) themes: Themes,
    /// The themes that the user chose, by background.
    pub theme_choice: ThemeChoice,
    pub themes_folder: Option<PathBuf>,
    pub display: DisplaySettings,
    /// The file that stores the layout. `None` if it is not stored.
    pub layout_file: Option<LayoutFile>,
    pub notify: Notify,
    /// Whether a command of the user notifies instead.
    pub notify_by_command: bool,
    pub is_first: bool,
    /// Panics after the first frame, to test that the terminal is restored.
    pub test_panic: bool,
}

/// Creates the app and its first tasks.
pub(super) fn begin(start: &Start) -> (App, Vec<Task>) {
    let (session, effects) = start.session.begin();
    let (mut app, mut tasks) = App::start(session, effects, start.theme.clone(), start.session.root.clone());
    app.display.clone_from(&start.display);
    app.display.animations &= !reduced_motion(|name| std::env::var(name).ok());
    let kept = start.layout_file.as_ref().map(LayoutFile::read).unwrap_or_default();
    app.display.layout = app.layout.restore(kept, start.display.layout);
    let light = terminal::light_background(|name| std::env::var(name).ok());
    app.set_themes(start.themes.clone(), start.theme_choice.clone(), light);
    app.chat.welcome = start.is_first;
    app.keys = KeyMap::with(&start.display.keys).0;
    app.composer.invite(app.keys.first(Action::Help));
    app.environment.folder.clone_from(&start.session.folder);
    app.environment.terminal = terminal::facts(|name| std::env::var(name).ok());
    let draft = &start.session.draft;
    if !draft.is_empty() {
        app.composer.set(draft);
        tasks.extend(run(app.session.draft_changed(draft)));
    }
    (app, tasks)
}

/// Whether an environment variable asks for reduced motion.
fn reduced_motion(env: impl Fn(&str) -> Option<String>) -> bool {
    ["REDUCE_MOTION", "NO_MOTION"]
        .into_iter()
        .any(|name| env(name).is_some_and(|value| !value.is_empty() && value != "0"))
}
