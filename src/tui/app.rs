//! The app between two frames: the session, the panes' own state, the focus and the overlay on top.

use std::collections::BTreeMap;

use ratatui::layout::Rect;

pub use super::act::{DraftPart, ReviewDraft};
use super::action::{Action, KeyMap, Pane, Scope};
use super::composer::Composer;
use super::composer::completing::Completion;
use super::desk::Desk;
use super::hits::Hits;
use super::overlay::Overlay;
use super::pane::context::ContextOrder;
use super::pane::repo_map::MapPane;
use super::pane::review::ReviewPane;
use super::preview::Previews;
use super::reading::Reading;
use super::terminal::notify::Attention;
use super::theme::Theme;
use super::theme::wardrobe::Wardrobe;
use super::view::ViewCache;
use super::widget::scroll::ListWindow;
use crate::config::DisplaySettings;
use crate::session::{Citing, Clip, Connection, Effect, Entry, Question, Session, SurveyState};
use rhumb_edit::review::HunkId;

/// Something for the event loop to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// For the runner.
    Run(Effect),
    /// Put this on the clipboard.
    Copy(Clip),
    /// Tell somebody who looks elsewhere.
    Notify(String),
    /// Give the terminal back until the shell continues us.
    Suspend,
    /// Open this in the editor.
    Edit(Editing),
    /// Read the user's themes again.
    ReadThemes,
    /// Draw everything anew.
    Redraw,
    /// Leave.
    Quit,
}

/// What is opened in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Editing {
    /// The message that is being written.
    Message(String),
    /// A file of the repository itself.
    File {
        /// Its path under the root.
        path: String,
        /// The line to begin at, 1-based.
        line: usize,
    },
    /// A text of the review.
    Review(Box<ReviewDraft>),
}

/// How far the transcript is scrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChatScroll {
    /// Lines below the last visible one; 0 follows the newest text.
    pub from_bottom: usize,
    /// Whether what the model thought is shown in full.
    pub thoughts: bool,
}

/// What the cursor of the review pane is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewItem {
    /// The heading of a file.
    File(usize),
    /// A hunk: its heading, or a line around it.
    Hunk(HunkId),
    /// A line of a hunk, 0-based, its removed lines first.
    Line(HunkId, usize),
    /// An edit without a place.
    Refused(usize),
}

/// Everything that a frame is drawn from.
#[derive(Debug)]
pub struct App {
    /// The conversation.
    pub session: Session,
    /// The message being written.
    pub composer: Composer,
    /// What is offered where something is being typed.
    pub(super) completion: Completion,
    /// The pane with the focus.
    pub focus: Pane,
    /// What lies over the panes and gets the keys first.
    pub overlay: Option<Overlay>,
    /// What comes back when that closes, the next one last.
    pub(super) under: Vec<Overlay>,
    /// The question that stood whole on the screen when it was last drawn: no other is answered by a key.
    pub(super) seen_question: Option<Question>,
    /// Whether this is the very first start, and no key was pressed yet.
    pub welcome: bool,
    /// What was run from the palette, the newest last.
    pub(super) recent: Vec<String>,
    /// Settings that were changed in this session, with their values as TOML.
    pub(super) chosen_settings: BTreeMap<String, String>,
    /// The session that is being looked at.
    pub(super) peeking: Option<i64>,
    /// The chat pane.
    pub chat: ChatScroll,
    /// Reading in its transcript.
    pub reading: Reading,
    /// The map pane.
    pub map: MapPane,
    /// The context pane's line under the cursor.
    pub context: ListWindow,
    /// How it lists the chunks.
    pub context_order: ContextOrder,
    /// Whether the passages of the repository are listed in the context pane one by one.
    pub passages_open: bool,
    /// What answers cite.
    pub(super) citing: Citing,
    /// The review pane.
    pub review: ReviewPane,
    /// The space inside its frame, as last drawn.
    pub(super) review_inner: Rect,
    /// The styles.
    pub theme: Theme,
    /// The themes that there are, and which one suits which ground.
    pub wardrobe: Wardrobe,
    /// How it looks and feels otherwise, as the settings say.
    pub display: DisplaySettings,
    /// The keys of every action.
    pub keys: KeyMap,
    /// Files that were read for a look at them.
    pub previews: Previews,
    /// The root, for the status line.
    pub root: String,
    /// The root itself, to tell paths in it from others; empty where nobody has said.
    pub folder: std::path::PathBuf,
    /// What is known of the terminal: what, and how it is.
    pub terminal: Vec<(String, String)>,
    /// Where the panes stand, and what the pointer does there.
    pub desk: Desk,
    /// Columns and rows of the screen as last drawn.
    pub(super) screen: (u16, u16),
    /// What stands where on it.
    pub(super) hits: Hits,
    /// The input of earlier times that is in the composer.
    pub(super) recall: super::act::Recall,
    /// A word about the last key, shown in the status line until the next one, or until it is old.
    pub hint: String,
    /// Since when the hint is shown.
    pub(super) hint_age: super::act::HintAge,
    /// Keys of a sequence that has only begun.
    pub(super) pending_keys: String,
    /// What was put on the clipboard last.
    pub(super) own_clip: Option<String>,
    /// Whether Ctrl-C was the key before this one.
    pub(super) interrupted_once: bool,
    /// Rows of the panes as last drawn, for paging.
    pub(super) page: usize,
    /// Whether there was something to review after the event before.
    pub(super) was_reviewing: bool,
    /// Whether anybody looks.
    pub(super) attention: Attention,
    /// The proposals that the review pane has turned to.
    pub(super) seen_proposals: usize,
    /// Against keys that were meant for what was there before.
    pub guard: super::act::Guard,
}

impl App {
    /// A new app, and the first tasks.
    pub fn start(session: Session, effects: Vec<Effect>, theme: Theme, root: String) -> (Self, Vec<Task>) {
        let mut session = session;
        session.known.themes = Theme::builtin_names().map(str::to_owned).collect();
        let app = Self {
            session,
            composer: Composer::new(&theme),
            completion: Completion::default(),
            focus: Pane::Chat,
            overlay: None,
            under: Vec::new(),
            seen_question: None,
            welcome: false,
            recent: Vec::new(),
            chosen_settings: BTreeMap::new(),
            peeking: None,
            chat: ChatScroll::default(),
            reading: Reading::default(),
            map: MapPane::default(),
            context: ListWindow::default(),
            context_order: ContextOrder::default(),
            passages_open: false,
            citing: Citing::default(),
            review: ReviewPane::default(),
            review_inner: Rect::new(0, 0, 80, 24),
            theme,
            wardrobe: Wardrobe::default(),
            display: DisplaySettings::default(),
            keys: KeyMap::default(),
            previews: Previews::default(),
            root,
            folder: std::path::PathBuf::new(),
            terminal: Vec::new(),
            desk: Desk::default(),
            screen: (0, 0),
            hits: Hits::default(),
            recall: super::act::Recall::default(),
            hint: String::new(),
            hint_age: super::act::HintAge::default(),
            pending_keys: String::new(),
            own_clip: None,
            interrupted_once: false,
            page: 10,
            was_reviewing: false,
            attention: Attention::default(),
            seen_proposals: 0,
            guard: super::act::Guard::default(),
        };
        (app, run(effects))
    }

    /// Lays an overlay over the one that is open, which comes back when it closes.
    pub(super) fn open_over(&mut self, overlay: Overlay) {
        self.under.extend(self.overlay.replace(overlay));
    }

    /// Whether the review has something to decide or to tell.
    pub fn reviewing(&self) -> bool {
        !self.session.review.is_empty()
    }

    /// Keeps cursors inside what they point into, after anything changed.
    pub(super) fn settle(&mut self) {
        self.open_what_waits();
        self.settle_reading();
        let review = &self.session.review;
        if review.is_empty() && self.focus == Pane::Review && self.was_reviewing {
            self.focus = Pane::Chat;
        }
        self.was_reviewing = !review.is_empty();
        if self.session.proposals != self.seen_proposals {
            self.seen_proposals = self.session.proposals;
            self.review = self.review.anew();
            // The focus stays where it is: a letter typed for the chat must never decide a hunk.
        }
        self.lay_out_review(None);
        self.context.set_len(self.context_rows());
        self.settle_map();
        self.take_returned_draft();
        self.note_command();
    }
}

/// Facts that only drawing knows: heights for paging, and how far scrolling can go.
impl App {
    pub(super) fn drawn(&mut self, cache: &ViewCache) {
        self.hits = cache.hits.clone();
        self.seen_question.clone_from(&cache.question);
        if let Some(selection) = &mut self.desk.selection {
            selection.text.clone_from(&cache.selected);
        }
        self.desk.drawn();
        self.map.window.set_height(cache.heights[0]);
        if let Some(text) = &mut self.map.text {
            text.window.set_height(cache.heights[0]);
        }
        self.context.set_height(cache.heights[1]);
        self.chat.from_bottom = cache.chat.from_bottom;
        self.reading.drawn(cache.chat.seen());
        self.page = match self.focus {
            Pane::Review => usize::from(self.review.area.height),
            _ => cache.chat.height,
        }
        .saturating_sub(1)
        .max(1);
    }

    /// Whether an action would do something now; the command bar leaves the others out.
    pub fn enabled(&self, action: Action) -> bool {
        match action {
            Action::StopReading | Action::BuildIndex | Action::PauseIndex | Action::CancelIndex => false,
            Action::ReadOn => matches!(self.session.survey, SurveyState::Partial(..)),
            Action::Escape => {
                let session = &self.session;
                if self.focus == Pane::Chat && matches!(session.survey, SurveyState::Reading(..)) {
                    return !session.stopping || session.turn.is_some();
                }
                let works = session.turn.is_some() || session.is_compacting();
                works || session.outside.page.is_some() || session.processes.is_running()
            }
            Action::ViewLog => !self.session.processes.logs.is_empty(),
            Action::EditMessage => false,
            Action::Send => self.focus == Pane::Chat && !self.composer.is_empty(),
            Action::Newline | Action::ScrollUp => self.focus == Pane::Chat,
            Action::ScrollDown => self.focus == Pane::Chat && self.chat.from_bottom > 0,
            Action::ToggleThoughts => self.session.transcript.iter().any(has_thoughts),
            Action::ReadTranscript => !self.session.transcript.is_empty() && !self.reading.on,
            Action::MessageBack | Action::MessageForward | Action::BackToTyping | Action::OpenPaste => false,
            Action::ScrollToEnd => self.chat.from_bottom > 0,
            Action::ScrollToStart | Action::SearchTranscript => false,
            Action::NextMatch | Action::PreviousMatch => self.reading.search.is_some(),
            Action::NextLink | Action::PreviousLink => self.citing.any(),
            Action::SendQueued => {
                let waits = self.session.turn.is_some() || self.session.is_compacting();
                !waits && !self.session.queue.waiting().is_empty()
            }
            Action::DropPassages => self.session.kept_passages().is_some(),
            Action::TakeBackQueued => !self.session.queue.waiting().is_empty(),
            // The bar is for what is wanted next; the help tells of these.
            Action::PickSymbol
            | Action::SearchCode
            | Action::Interrupt
            | Action::HistoryBack
            | Action::HistoryForward
            | Action::HistorySearch => false,
            Action::Layout | Action::GrowPane | Action::ShrinkPane | Action::ResetBorders | Action::Mouse => false,
            Action::Zoom | Action::ZoomHere => self.desk.zoomed,
            Action::FindServers | Action::CopyPrompt | Action::PasteReply => {
                self.session.connection == Connection::None
            }
            Action::Write => self.session.review.is_anything_taken(),
            // The bar is for what is wanted next; the help tells of the others.
            Action::EditFile | Action::CommentFile | Action::OpenFile | Action::WriteOther => false,
            Action::Reask | Action::ReaskAll | Action::Dismiss => !self.session.review.refused.is_empty(),
            Action::SendReview => self.session.has_feedback(),
            Action::Abandon => self.reviewing(),
            Action::NextReviewMatch | Action::PreviousReviewMatch => self.review.search.is_on(),
            Action::Redraw | Action::Suspend | Action::Quit | Action::FocusPrevious | Action::NextMode => false,
            Action::FocusChat => self.focus != Pane::Chat,
            Action::FocusMap => self.focus != Pane::Map,
            Action::FocusContext => self.focus != Pane::Context,
            Action::FocusReview => self.focus != Pane::Review,
            action if action.info().is_some_and(|info| info.scope == Scope::Pane(Pane::Review)) => {
                !self.session.review.files.is_empty()
            }
            _ => true,
        }
    }
}

fn has_thoughts(entry: &Entry) -> bool {
    matches!(entry, Entry::Answer(answer) if !answer.reasoning.is_empty())
}

/// Effects as tasks.
pub(super) fn run(effects: Vec<Effect>) -> Vec<Task> {
    effects.into_iter().map(Task::Run).collect()
}
