//! Overlays are drawn over the panes and get keys first. Esc closes the top one.

mod connect;
mod explanation;
mod file_peek;
mod help;
mod input_boxes;
mod lists;
mod log;
mod question;
mod review;
mod search;
mod viewer;

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Debug;

use ratatui::layout::Flex;
use ratatui::widgets::{Block, BorderType, Clear};
use rhumb_llm::models::Api;
use rhumb_session::{ModelRole, NewKey, Notice, Session, SettingRow};

use super::widget::picker::Picker;
use crate::tui::prelude::*;

pub use self::connect::ConnectBox;
pub use self::explanation::ExplanationView;
pub use self::file_peek::{LocationView, Place, PreviewTarget};
pub use self::input_boxes::{LineBox, LineFor, PasteBox, VoiceMeter};
pub use self::lists::{FileList, Menu, MenuRow, SessionList, SettingsList, SymbolList};
pub use self::log::LogView;
pub use self::question::{AskBox, Confirm, ConfirmedAction};
pub use self::review::{
    CommentBox, CommentContext, Placement, PlacementAction, PlacementBox, ReviewReply, SendBox, WriteBox,
};
pub use self::search::CodeSearch;
pub use self::viewer::{SectionView, TextView};

pub struct OverlayContext<'a> {
    pub coloring: &'a mut Coloring,
    pub previews: &'a Previews,
    pub hits: &'a mut Hits,
}

/// A component that is drawn over the panes and receives the keys while it is on top.
pub trait Overlay: Any + Debug {
    fn key(&mut self, key: KeyEvent) -> Reply;

    /// Lays out the overlay for a screen: wraps its text, and clamps its scroll position. It is called before each [`Self::draw`].
    fn fit(&mut self, _screen: Rect, _theme: &Theme, _previews: &Previews) {}

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>);

    fn picker(&mut self) -> Option<&mut Picker> {
        None
    }

    fn paste(&mut self, _text: &str) {}

    /// Scrolls down by `by` lines.
    fn wheel(&mut self, _by: isize) {}

    fn click(&mut self, _row: usize, _double: bool) -> Reply {
        Reply::Stay
    }

    /// The preview beside the list.
    fn preview(&self) -> Option<PreviewTarget> {
        None
    }

    /// Whether the action closes the overlay, which is the case for the action that opens it.
    fn closes_by(&self, _: Action) -> bool {
        false
    }

    /// Applies changes of the session and files that were read for previews.
    fn refresh(&mut self, _session: &Session, _previews: &Previews) {}
}

/// The overlays above the panes. The top one receives the keys. When it closes, the next one becomes the top.
#[derive(Debug, Default)]
pub struct OverlayStack {
    /// The lowest first.
    open: Vec<Box<dyn Overlay>>,
    /// The earlier session whose end is being read for a preview.
    previewed_session: Option<i64>,
    /// Notices that wait until no overlay is open.
    pub(in crate::tui) waiting: VecDeque<Notice>,
}

impl OverlayStack {
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn top(&self) -> Option<&dyn Overlay> {
        self.open.last().map(AsRef::as_ref)
    }

    pub fn top_mut(&mut self) -> Option<&mut (dyn Overlay + 'static)> {
        self.open.last_mut().map(AsMut::as_mut)
    }

    pub fn top_as<T: Overlay>(&self) -> Option<&T> {
        let top: &dyn Any = self.open.last()?.as_ref();
        top.downcast_ref()
    }

    pub fn top_as_mut<T: Overlay>(&mut self) -> Option<&mut T> {
        let top: &mut dyn Any = self.open.last_mut()?.as_mut();
        top.downcast_mut()
    }

    pub fn is_top<T: Overlay>(&self) -> bool {
        self.top_as::<T>().is_some()
    }

    /// The lowest overlay that is a `T`.
    pub fn find_mut<T: Overlay>(&mut self) -> Option<&mut T> {
        self.open.iter_mut().find_map(|overlay| {
            let overlay: &mut dyn Any = overlay.as_mut();
            overlay.downcast_mut()
        })
    }

    pub fn show(&mut self, overlay: impl Overlay) {
        self.open.pop();
        self.push(overlay);
    }

    pub fn push(&mut self, overlay: impl Overlay) {
        self.open.push(Box::new(overlay));
    }

    pub fn close(&mut self) {
        self.open.pop();
    }

    pub fn clear(&mut self) {
        self.open.clear();
    }

    /// Notes which session is being read for a preview. Returns whether it is another one than before.
    pub fn note_session(&mut self, number: Option<i64>) -> bool {
        std::mem::replace(&mut self.previewed_session, number) != number
    }
}

/// Lays out an overlay for a frame and draws it.
#[cfg(test)]
pub(super) fn render(overlay: &mut dyn Overlay, frame: &mut Frame<'_>) {
    let (theme, previews) = (Theme::plain(crate::tui::theme::ColorDepth::None), Previews::default());
    let (mut coloring, mut hits) = (Coloring::default(), Hits::default());
    let context = OverlayContext { coloring: &mut coloring, previews: &previews, hits: &mut hits };
    overlay.fit(frame.area(), &theme, &previews);
    overlay.draw(frame, frame.area(), &theme, context);
}

/// The area inside the border of an overlay.
pub(super) fn inner_area(area: Rect) -> Rect {
    Block::bordered().inner(area)
}

/// A centred rectangle of that size, limited to the screen.
pub(super) fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let [row] = Layout::vertical([Constraint::Length(height.min(screen.height))]).flex(Flex::Center).areas(screen);
    let [area] = Layout::horizontal([Constraint::Length(width.min(screen.width))]).flex(Flex::Center).areas(row);
    area
}

pub(super) fn border(theme: &Theme) -> Block<'static> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.style(Role::BorderFocused))
        .style(theme.style(Role::Overlay))
}

/// Clears `area`, draws the border of an overlay there, and returns the area inside.
pub(super) fn window(frame: &mut Frame<'_>, area: Rect, title: &str, theme: &Theme) -> Rect {
    let block = border(theme).title(Line::styled(title.to_owned(), theme.style(Role::Title)));
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    inner_area(area)
}

/// The lines by which a key scrolls a text whose page has `page` lines. `None` if it is not a key that scrolls.
pub(super) fn scroll_by(key: &str, page: usize) -> Option<isize> {
    let page = isize::try_from(page.max(1)).unwrap_or(1);
    Some(match key {
        "j" | "Down" => 1,
        "k" | "Up" => -1,
        "PageDown" | "Space" | "Ctrl-d" => page,
        "PageUp" | "Ctrl-u" => -page,
        "Home" | "g" => isize::MIN / 2,
        "End" | "G" => isize::MAX / 2,
        _ => return None,
    })
}

/// The result of a key in an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Stay,
    Close,
    Add(Vec<String>),
    Connect {
        api: Api,
        base_url: String,
        model: String,
    },
    /// Check and store this key. The overlay stays open.
    Key(NewKey),
    /// Search for keys and servers again. The overlay stays open.
    SearchConnections,
    Pasted(String),
    Confirmed(ConfirmedAction),
    /// This key is not an answer and goes to the pane below.
    Typed(KeyEvent),
    Answer(char),
    /// The recording ends: true to transcribe it, false to discard it.
    Spoken(bool),
    /// Copy this to the clipboard. The overlay stays open.
    Copy(ClipboardText),
    /// Stop this run. The overlay stays open.
    StopRun(u64),
    Model(ModelRole, String),
    Theme(String),
    /// Run this action, or this command if it begins with a slash.
    Run(String),
    Resume(i64),
    /// Put this earlier input into the composer.
    Recall(String),
    ShowLocations(Vec<Place>),
    /// Open this file in the external editor at the line (1-based).
    Edit(String, usize),
    /// Insert this symbol into the message.
    Mention(String),
    /// Show these locations above the overlay.
    Show(Vec<Place>),
    /// Add this file to the chat; true if read-only. The overlay stays open.
    AddFound(String, bool),
    /// Open this file in the external editor at the line (1-based). The overlay stays open.
    Visit(String, usize),
    /// Put this question about the whole repository into the composer.
    AskCodebase(String),
    /// Start a new session with the content of the one with this number.
    Fork(i64),
    /// Ask for confirmation above the overlay.
    AskFirst(Box<Confirm>),
    /// Open an input with this text above the overlay.
    AskLine(LineFor, String),
    Line(LineFor, String),
    /// Change this setting for this session.
    ChangeSetting(Box<SettingRow>),
    /// Save this setting to the user's file.
    KeepSetting(Box<SettingRow>),
    /// Remove this setting from the user's file.
    ForgetSetting(Box<SettingRow>),
    Review(ReviewReply),
}

impl Reply {
    /// Whether the overlay stays open, on top or below another one.
    pub fn stays(&self) -> bool {
        matches!(
            self,
            Self::Stay
                | Self::Copy(_)
                | Self::Key(_)
                | Self::SearchConnections
                | Self::StopRun(_)
                | Self::Show(_)
                | Self::AddFound(..)
                | Self::Visit(..)
                | Self::AskFirst(_)
                | Self::AskLine(..)
                | Self::ChangeSetting(_)
                | Self::KeepSetting(_)
                | Self::ForgetSetting(_)
        )
    }
}
