//! Overlays are drawn over the panes and get keys first. Esc closes the top one.

mod connect;
mod explanation;
mod file_peek;
mod help;
mod input_boxes;
mod line_prompt;
mod lists;
mod log;
mod question;
mod review;
mod search;
mod section_sources;
mod sections;
mod viewer;

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear};
use rhumb_index::repo_map::RepoMap;
use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;

use self::explanation::ExplanationView;
use self::help::HelpView;
use self::input_boxes::{PasteBox, VoiceMeter};
use self::lists::{FileList, InputList, Menu, ServerList, SessionList, SettingsList, SymbolList};
use self::log::LogView;
use self::question::AskBox;
use self::sections::SectionView;
use self::viewer::TextView;
use super::action::Action;
use super::coloring::Coloring;
use super::mouse::Hits;
use super::previews::Previews;
use super::theme::{Role, Theme};
use super::widget::picker::Picker;
use rhumb_session::context::Prompt;
use rhumb_session::{ClipboardText, MapIdentity, ModelRole, ModelRow, NewKey, Question, Recording, RunLog, SettingRow};

pub use self::connect::ConnectBox;
pub use self::file_peek::{LocationView, Place, PreviewTarget};
pub use self::help::{HelpRow, HelpSection};
pub use self::line_prompt::{LineBox, LineFor};
pub use self::question::{Confirm, ConfirmedAction};
pub use self::review::{
    CommentBox, CommentContext, Placement, PlacementAction, PlacementBox, ReviewBox, ReviewReply, SendBox, WriteBox,
};
pub use self::search::CodeSearch;

/// An overlay over the panes.
#[derive(Debug)]
pub enum Overlay {
    /// A text to read.
    Read(TextView),
    /// Key bindings and commands.
    Help(HelpView),
    /// Files to add to the chat.
    Files(FileList),
    /// Servers to connect to.
    Servers(ServerList),
    /// Possible connections, and an input for a key.
    Connect(Box<ConnectBox>),
    /// An input for a pasted reply.
    Paste(PasteBox),
    /// A confirmation.
    Confirm(Confirm),
    /// A question of the session.
    Ask(AskBox),
    /// The meter of dictation.
    Voice(VoiceMeter),
    /// The output of commands.
    Log(LogView),
    /// A list to choose one thing from.
    Menu(Menu),
    /// Earlier sessions.
    Sessions(SessionList),
    /// Definitions of the repository.
    Symbols(SymbolList),
    /// Passages of the repository.
    Search(Box<CodeSearch>),
    /// The settings.
    Settings(SettingsList),
    /// An input of one line.
    Line(LineBox),
    /// Earlier inputs.
    Inputs(InputList),
    /// Locations in files.
    Locations(LocationView),
    /// The next request, or a diff.
    Sections(SectionView),
    /// Why an item has its rank in the map.
    Why(ExplanationView),
    /// An overlay of the review.
    Review(ReviewBox),
}

/// The data that an overlay needs to show a file in colours.
pub struct OverlayContext<'a> {
    /// The known colours, and the queue of requests for others.
    pub coloring: &'a mut Coloring,
    /// The files that were read for previews.
    pub previews: &'a Previews,
    /// The clickable rows.
    pub hits: &'a mut Hits,
}

impl Overlay {
    /// The help. `closes` are the keys that opened it.
    pub fn help(title: &str, sections: Vec<HelpSection>, closes: Vec<String>) -> Self {
        Self::Help(HelpView::new(title, sections, closes))
    }

    /// A text viewer for a table.
    pub fn table(title: &str, text: &str) -> Self {
        Self::Read(TextView::new(title, text).table())
    }

    /// A list of models, filtered by `query`.
    pub fn models(rows: &[ModelRow], part: ModelRole, query: &str) -> Self {
        Self::Menu(Menu::models(rows, part, query))
    }

    /// A list of themes.
    pub fn themes(names: &[&str], current: &str) -> Self {
        Self::Menu(Menu::themes(names, current))
    }

    /// All actions and commands: name, label, detail, and whether it is available.
    pub fn palette(rows: Vec<(String, String, String, bool)>) -> Self {
        Self::Menu(Menu::palette(rows))
    }

    /// A list of choices in the style of the palette.
    pub fn choices(title: &str, rows: Vec<(String, String, String, bool)>) -> Self {
        Self::Menu(Menu::choices(title, rows))
    }

    /// The theme to preview while the list of themes is open.
    pub fn theme_under_cursor(&self) -> Option<&str> {
        if let Self::Menu(menu) = self { menu.theme_under_cursor() } else { None }
    }

    /// The theme from before the list of themes was opened.
    pub fn theme_before(&self) -> Option<&str> {
        if let Self::Menu(menu) = self { menu.theme_before() } else { None }
    }

    /// A text viewer.
    pub fn text(title: &str, text: &str) -> Self {
        Self::Read(TextView::new(title, text))
    }

    /// The file picker, in the order of the map if there is one.
    pub fn files(paths: &Arc<Vec<String>>, map: Option<&RepoMap>) -> Self {
        Self::Files(FileList::new(paths, map))
    }

    /// Updates files, logs and previews that have changed.
    pub fn refresh(&mut self, paths: &Arc<Vec<String>>, map: Option<&RepoMap>, logs: &[RunLog], previews: &Previews) {
        match self {
            Self::Files(files) => files.refresh(paths, map),
            Self::Log(view) => view.refresh(logs),
            Self::Review(ReviewBox::Place(place)) => place.refresh(previews),
            _ => {}
        }
    }

    /// The servers that were found, one row for each model.
    pub fn servers(servers: Vec<LocalServer>) -> Self {
        Self::Servers(ServerList::new(servers))
    }

    /// An input for a pasted reply.
    pub fn reply() -> Self {
        Self::Paste(PasteBox::default())
    }

    /// A question of the session with its full text.
    pub fn question(question: &Question) -> Self {
        Self::Ask(AskBox::new(question))
    }

    /// The meter of a recording.
    pub fn voice(recording: &Recording) -> Self {
        Self::Voice(VoiceMeter::new(recording))
    }

    /// Explains the rank of an item in the map.
    pub fn why(map: &MapIdentity, place: usize, symbol: Option<usize>) -> Self {
        Self::Why(ExplanationView::new(map, place, symbol))
    }

    /// The next request as it will be sent, starting at a chunk.
    pub fn prompt(prompt: &Prompt, place: Option<usize>) -> Self {
        Self::Sections(section_sources::request_view(prompt, place))
    }

    /// A unified diff of the written changes.
    pub fn changes(title: &str, diff: &str) -> Self {
        Self::Sections(section_sources::diff_view(title, diff))
    }

    /// The output of commands.
    pub fn logs(logs: &[RunLog]) -> Self {
        Self::Log(LogView::new(logs))
    }

    /// The output of one command, with a list of the others.
    pub fn log_of(logs: &[RunLog], run: u64) -> Self {
        Self::Log(LogView::new(logs).at_run(run))
    }

    /// The overlay as a mutable component.
    pub(super) fn component(&mut self) -> &mut dyn OverlayComponent {
        match self {
            Self::Read(overlay) => overlay,
            Self::Help(overlay) => overlay,
            Self::Files(overlay) => overlay,
            Self::Servers(overlay) => overlay,
            Self::Paste(overlay) => overlay,
            Self::Confirm(overlay) => overlay,
            Self::Ask(overlay) => overlay,
            Self::Voice(overlay) => overlay,
            Self::Log(overlay) => overlay,
            Self::Menu(overlay) => overlay,
            Self::Sessions(overlay) => overlay,
            Self::Symbols(overlay) => overlay,
            Self::Settings(overlay) => overlay,
            Self::Line(overlay) => overlay,
            Self::Inputs(overlay) => overlay,
            Self::Locations(overlay) => overlay,
            Self::Sections(overlay) => overlay,
            Self::Why(overlay) => overlay,
            Self::Review(overlay) => overlay,
            Self::Connect(overlay) => overlay.as_mut(),
            Self::Search(overlay) => overlay.as_mut(),
        }
    }

    /// The overlay as a component.
    pub(super) fn as_component(&self) -> &dyn OverlayComponent {
        match self {
            Self::Read(overlay) => overlay,
            Self::Help(overlay) => overlay,
            Self::Files(overlay) => overlay,
            Self::Servers(overlay) => overlay,
            Self::Paste(overlay) => overlay,
            Self::Confirm(overlay) => overlay,
            Self::Ask(overlay) => overlay,
            Self::Voice(overlay) => overlay,
            Self::Log(overlay) => overlay,
            Self::Menu(overlay) => overlay,
            Self::Sessions(overlay) => overlay,
            Self::Symbols(overlay) => overlay,
            Self::Settings(overlay) => overlay,
            Self::Line(overlay) => overlay,
            Self::Inputs(overlay) => overlay,
            Self::Locations(overlay) => overlay,
            Self::Sections(overlay) => overlay,
            Self::Why(overlay) => overlay,
            Self::Review(overlay) => overlay,
            Self::Connect(overlay) => overlay.as_ref(),
            Self::Search(overlay) => overlay.as_ref(),
        }
    }

    /// Whether the action closes it, which is the case for the action that opens it.
    pub fn closes_by(&self, action: Action) -> bool {
        self.as_component().closes_by(action)
    }

    /// What it previews beside its list.
    pub fn preview(&self) -> Option<PreviewTarget> {
        self.as_component().preview()
    }
}

/// The behaviour of an overlay. The defaults are those of a list with a picker.
pub(super) trait OverlayComponent {
    /// Handles a key.
    fn key(&mut self, key: KeyEvent) -> Reply;

    /// Lays the overlay out for a screen: wraps its text, and clamps its scroll position. It is called before each [`Self::draw`].
    fn fit(&mut self, screen: Rect, theme: &Theme, previews: &Previews);

    /// Draws the overlay over `screen`.
    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>);

    /// Its picker, if it is a list.
    fn picker(&mut self) -> Option<&mut Picker> {
        None
    }

    /// Handles a paste.
    fn paste(&mut self, text: &str) {
        if let Some(picker) = self.picker() {
            picker.paste(text);
        }
    }

    /// Scrolls down by that many lines.
    fn wheel(&mut self, by: isize) {
        if let Some(picker) = self.picker() {
            picker.wheel(by);
        }
    }

    /// Handles a click on a row of the list, which moves the cursor there. A double click, or a click on the row under
    /// the cursor, chooses the row.
    fn click(&mut self, row: usize, double: bool) -> Reply {
        let Some(picker) = self.picker() else { return Reply::Stay };
        let was_there = picker.row() == row;
        if picker.point(row) && (double || was_there) {
            return self.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
        }
        Reply::Stay
    }

    /// What is previewed beside the list.
    fn preview(&self) -> Option<PreviewTarget> {
        None
    }

    /// Whether the action closes the overlay, which is the case for the action that opens it.
    fn closes_by(&self, _: Action) -> bool {
        false
    }
}

/// The overlays above the panes. The top one receives the keys; the one below comes back when it closes.
#[derive(Debug, Default)]
pub struct OverlayStack {
    /// The lowest first.
    open: Vec<Overlay>,
    /// The earlier session whose end is being read for a preview.
    previewed_session: Option<i64>,
}

impl OverlayStack {
    /// Whether no overlay is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The number of open overlays.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// The overlay that receives the keys.
    pub fn top(&self) -> Option<&Overlay> {
        self.open.last()
    }

    /// The overlay that receives the keys.
    pub fn top_mut(&mut self) -> Option<&mut Overlay> {
        self.open.last_mut()
    }

    /// All open overlays, the lowest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Overlay> {
        self.open.iter_mut()
    }

    /// Opens an overlay in place of the top one.
    pub fn show(&mut self, overlay: Overlay) {
        self.open.pop();
        self.open.push(overlay);
    }

    /// Opens an overlay above the top one.
    pub fn push(&mut self, overlay: Overlay) {
        self.open.push(overlay);
    }

    /// Closes the top overlay.
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// Closes all overlays. Returns the top one.
    pub fn clear(&mut self) -> Option<Overlay> {
        let top = self.open.pop();
        self.open.clear();
        top
    }

    /// Notes which session is being read for a preview. Returns whether it is another one than before.
    pub fn note_session(&mut self, number: Option<i64>) -> bool {
        std::mem::replace(&mut self.previewed_session, number) != number
    }
}

/// Lays an overlay out for a frame and draws it.
#[cfg(test)]
pub(super) fn render(overlay: &mut dyn OverlayComponent, frame: &mut Frame<'_>) {
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
    let [row] = Layout::vertical([Constraint::Length(height.min(screen.height))])
        .flex(ratatui::layout::Flex::Center)
        .areas(screen);
    let [area] = Layout::horizontal([Constraint::Length(width.min(screen.width))])
        .flex(ratatui::layout::Flex::Center)
        .areas(row);
    area
}

/// Clears `area`, draws the border of an overlay there, and returns the area inside.
pub(super) fn window(frame: &mut Frame<'_>, area: Rect, title: &str, theme: &Theme) -> Rect {
    frame.render_widget(Clear, area);
    let block = Block::bordered()
        .border_type(ratatui::widgets::BorderType::Rounded)
        .title(Line::styled(title.to_owned(), theme.style(Role::Title)))
        .border_style(theme.style(Role::BorderFocused))
        .style(theme.style(Role::Overlay));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// The result of a key in an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Keep the overlay open.
    Stay,
    /// Close the overlay.
    Close,
    /// Add these files to the chat.
    Add(Vec<String>),
    /// Connect to this server.
    Connect {
        /// The API of the server.
        api: Api,
        /// The root URL of its API.
        base_url: String,
        /// The model.
        model: String,
    },
    /// Check and store this key. The overlay stays open.
    Key(NewKey),
    /// Search for keys and servers again. The overlay stays open.
    SearchConnections,
    /// This reply was pasted.
    Pasted(String),
    /// Run this action: the user confirmed it.
    Confirmed(ConfirmedAction),
    /// This key is not an answer: it is meant for the pane below.
    Typed(KeyEvent),
    /// The choice with this letter.
    Answer(char),
    /// The recording ends: true to transcribe it, false to discard it.
    Spoken(bool),
    /// Copy this to the clipboard. The overlay stays open.
    Copy(ClipboardText),
    /// Stop this run.
    StopRun(u64),
    /// Use this model for that purpose.
    Model(ModelRole, String),
    /// Apply this theme.
    Theme(String),
    /// Run this action, or this command if it begins with a slash.
    Run(String),
    /// Resume the session with this number.
    Resume(i64),
    /// Put this earlier input into the composer.
    Recall(String),
    /// Show these locations.
    ShowLocations(Vec<Place>),
    /// Open this file of the repository in the external editor at the line (1-based).
    Edit(String, usize),
    /// Insert this symbol into the message.
    Mention(String),
    /// Show these locations above the overlay.
    Show(Vec<Place>),
    /// Add this file to the chat; true if read-only. The overlay stays open.
    AddFound(String, bool),
    /// Open this file at this line (1-based) in the external editor. The overlay stays open.
    Visit(String, usize),
    /// Put this question about the whole repository into the composer.
    AskCodebase(String),
    /// Start a new session with the content of the one with this number.
    Fork(i64),
    /// Ask for confirmation above the overlay.
    AskFirst(Box<Confirm>),
    /// Open an input with this text above the overlay.
    AskLine(LineFor, String),
    /// The user submitted this line.
    Line(LineFor, String),
    /// Change this setting for this session.
    ChangeSetting(Box<SettingRow>),
    /// Save this setting to the user's file.
    KeepSetting(Box<SettingRow>),
    /// Remove this setting from the user's file.
    ForgetSetting(Box<SettingRow>),
    /// The result of a box of the review.
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
