//! Overlays: what lies over the panes and gets the keys first. Esc closes the top one.

mod ask;
mod changes;
mod confirm;
mod connect;
mod field;
mod help;
mod line;
mod log;
mod look;
mod menu;
mod past;
mod paste;
mod peek;
mod prompt;
mod reply;
mod review;
mod search;
mod sections;
mod settings;
mod symbols;
mod viewer;
mod voice;
mod why;

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear};

use super::action::Action;
use super::coloring::Coloring;
use super::hits::Hits;
use super::preview::Previews;
use super::theme::{Role, Theme};
use super::widget::picker::{Items, Outcome, Picker, RankJob, Ranked};
use crate::context::Prompt;
use crate::session::{ModelRow, ModelUse, Question, Recording, RunLog, ThisMap};
use ask::AskBox;
pub use confirm::{Confirm, Deed};
pub use connect::ConnectBox;
use help::HelpView;
pub use help::{HelpRow, HelpSection};
pub use line::{LineBox, LineFor};
use log::LogView;
pub use look::Look;
use menu::Menu;
use past::SessionList;
use paste::PasteBox;
pub use peek::{Peek, Place};
pub use reply::Reply;
pub use review::{CommentBox, CommentPlace, PlaceBox, PlaceDeed, Placing, ReviewBox, ReviewReply, SendBox, WriteBox};
use rhumb_index::repo_map::RepoMap;
use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;
pub use search::CodeSearch;
use sections::SectionView;
use settings::SettingsList;
use symbols::SymbolList;
use viewer::Viewer;
use voice::VoiceMeter;
use why::WhyView;

/// What lies over the panes.
#[derive(Debug)]
pub enum Overlay {
    /// A text to read.
    Read(Viewer),
    /// Keys and commands.
    Help(HelpView),
    /// Files to add to the chat.
    Files {
        /// The list.
        picker: Picker,
        /// Its items.
        listed: Arc<Vec<String>>,
        /// The files of the repository that it was made from, by path.
        known: Arc<Vec<String>>,
    },
    /// Servers to connect to: base URL and model of each row.
    Servers(Picker, Vec<(Api, String, String)>),
    /// What can be connected, and a field for a key.
    Connect(Box<ConnectBox>),
    /// A place for a pasted reply.
    Paste(PasteBox),
    /// A question before something is done.
    Confirm(Confirm),
    /// A question of the session.
    Ask(AskBox),
    /// A message that is being spoken.
    Voice(VoiceMeter),
    /// What commands printed.
    Log(LogView),
    /// A list to choose one thing from.
    Menu(Menu),
    /// Earlier sessions to go on with.
    Sessions(SessionList),
    /// Definitions of the repository.
    Symbols(SymbolList),
    /// Passages of the repository.
    Search(Box<CodeSearch>),
    /// The settings.
    Settings(SettingsList),
    /// A line that is asked for.
    Line(LineBox),
    /// What was typed before.
    Inputs(Picker, Vec<String>),
    /// Places in files.
    Peek(Peek),
    /// The next request, or a diff.
    Sections(SectionView),
    /// Why something stands in the map where it does.
    Why(WhyView),
    /// What the review has opened.
    Review(ReviewBox),
}

/// What an overlay needs to show a file in its colours.
pub struct Sight<'a> {
    /// The colours that are known, and a place to ask for others.
    pub coloring: &'a mut Coloring,
    /// The files that were read for a look at them.
    pub previews: &'a Previews,
    /// Where rows stand, for the mouse.
    pub hits: &'a mut Hits,
}

impl Overlay {
    /// The help; `closes` are the keys that opened it.
    pub fn help(title: &str, sections: Vec<HelpSection>, closes: Vec<String>) -> Self {
        Self::Help(HelpView::new(title, sections, closes))
    }

    /// A text to read whose lines have columns.
    pub fn table(title: &str, text: &str) -> Self {
        Self::Read(Viewer::new(title, text).table())
    }

    /// Models to choose from, with `query` typed already.
    pub fn models(rows: &[ModelRow], part: ModelUse, query: &str) -> Self {
        Self::Menu(Menu::models(rows, part, query))
    }

    /// Themes to choose from.
    pub fn themes(names: &[&str], current: &str) -> Self {
        Self::Menu(Menu::themes(names, current))
    }

    /// Everything that can be done: what to run, what is shown of it, what stands at the right, and whether it can be done now.
    pub fn palette(rows: Vec<(String, String, String, bool)>) -> Self {
        Self::Menu(Menu::palette(rows))
    }

    /// Words to choose one from, as the palette has them.
    pub fn choices(title: &str, rows: Vec<(String, String, String, bool)>) -> Self {
        Self::Menu(Menu::choices(title, rows))
    }

    /// The theme that the screen shall show while this is open, if it is about themes.
    pub fn theme_under_cursor(&self) -> Option<&str> {
        if let Self::Menu(menu) = self { menu.theme_under_cursor() } else { None }
    }

    /// The theme from before this was opened, if it is about themes.
    pub fn theme_before(&self) -> Option<&str> {
        if let Self::Menu(menu) = self { menu.theme_before() } else { None }
    }

    /// A text to read.
    pub fn text(title: &str, text: &str) -> Self {
        Self::Read(Viewer::new(title, text))
    }

    /// The file picker: the files in the order of the map, where there is one.
    pub fn files(paths: &Arc<Vec<String>>, map: Option<&RepoMap>) -> Self {
        let listed = match map {
            Some(map) => {
                let ranks = map.ranks(paths, |path| path);
                let mut ranked: Vec<(u32, &String)> = ranks.into_iter().zip(paths.iter()).collect();
                ranked.sort_unstable();
                Arc::new(ranked.into_iter().map(|(_, path)| path.clone()).collect())
            }
            None => Arc::clone(paths),
        };
        let picker = Picker::of("add files to the chat", Items::Texts(Arc::clone(&listed)));
        Self::Files { picker: picker.paths().multiple().with_preview(), listed, known: Arc::clone(paths) }
    }

    /// Takes in a new list of files, if this is the file picker; what was typed stays.
    pub fn refresh(&mut self, paths: &Arc<Vec<String>>, map: Option<&RepoMap>) {
        let Self::Files { picker, known, .. } = self else { return };
        if !Arc::ptr_eq(known, paths) {
            let query = picker.query().to_owned();
            *self = Self::files(paths, map);
            self.paste(&query);
        }
    }

    /// The servers that were found, one row for each model.
    pub fn servers(servers: Vec<LocalServer>) -> Self {
        let mut rows = Vec::new();
        let mut targets = Vec::new();
        for server in servers {
            for model in &server.models {
                rows.push(format!("{model}  —  {} at {}", server.name, server.base_url));
                targets.push((server.api, server.base_url.clone(), model.clone()));
            }
            if server.models.is_empty() {
                rows.push(format!("(no model loaded)  —  {} at {}", server.name, server.base_url));
                targets.push((server.api, server.base_url, String::new()));
            }
        }
        Self::Servers(Picker::new("model servers on this machine", rows), targets)
    }

    /// A place for a pasted reply.
    pub fn reply() -> Self {
        Self::Paste(PasteBox::default())
    }

    /// A question of the session, with all that is to be known.
    pub fn question(question: &Question) -> Self {
        Self::Ask(AskBox::new(question))
    }

    /// The meter of a recording.
    pub fn voice(recording: &Recording) -> Self {
        Self::Voice(VoiceMeter::new(recording))
    }

    /// Why something stands in the map where it does: the question.
    pub fn why(map: &ThisMap, place: usize, symbol: Option<usize>) -> Self {
        Self::Why(WhyView::new(map, place, symbol))
    }

    /// The next request as it will be sent, from the chunk at a place on.
    pub fn prompt(prompt: &Prompt, place: Option<usize>) -> Self {
        Self::Sections(prompt::view(prompt, place))
    }

    /// A unified diff of what was written.
    pub fn changes(title: &str, diff: &str) -> Self {
        Self::Sections(changes::view(title, diff))
    }

    /// What commands printed.
    pub fn logs(logs: &[RunLog]) -> Self {
        Self::Log(LogView::new(logs))
    }

    /// What one of the commands printed, with the others beside it.
    pub fn log_of(logs: &[RunLog], run: u64) -> Self {
        Self::Log(LogView::new(logs).at_run(run))
    }

    /// Takes in what commands printed meanwhile, if these are the logs.
    pub fn refresh_logs(&mut self, logs: &[RunLog]) {
        if let Self::Log(view) = self {
            view.refresh(logs);
        }
    }

    /// Takes in the text of a file that was read meanwhile, if an edit is to be placed in it.
    pub fn refresh_place(&mut self, previews: &Previews) {
        if let Self::Review(ReviewBox::Place(place)) = self {
            place.refresh(previews);
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match self {
            Self::Read(viewer) => viewer.key(key),
            Self::Help(help) => help.key(key),
            Self::Paste(paste) => paste.key(key),
            Self::Files { picker, listed: paths, .. } => match picker.key(key) {
                Outcome::Open => Reply::Stay,
                Outcome::Cancelled => Reply::Close,
                Outcome::Picked(rows) => Reply::Add(rows.iter().filter_map(|row| paths.get(*row).cloned()).collect()),
            },
            Self::Servers(picker, targets) => match picker.key(key) {
                Outcome::Open => Reply::Stay,
                Outcome::Cancelled => Reply::Close,
                Outcome::Picked(rows) => match rows.first().and_then(|row| targets.get(*row)) {
                    Some((api, base_url, model)) => {
                        Reply::Connect { api: *api, base_url: base_url.clone(), model: model.clone() }
                    }
                    None => Reply::Close,
                },
            },
            Self::Connect(connect) => connect.key(key),
            Self::Ask(question) => question.key(key),
            Self::Voice(meter) => meter.key(key),
            Self::Log(logs) => logs.key(key),
            Self::Menu(menu) => menu.key(key),
            Self::Peek(peek) => peek.key(key),
            Self::Sections(text) => text.key(key),
            Self::Why(why) => why.key(key),
            Self::Sessions(sessions) => sessions.key(key),
            Self::Symbols(symbols) => symbols.key(key),
            Self::Search(search) => search.key(key),
            Self::Settings(settings) => settings.key(key),
            Self::Line(line) => line.key(key),
            Self::Review(review) => review.key(key),
            Self::Inputs(picker, inputs) => past::chosen(picker.key(key), inputs, |text| Reply::Recall(text.clone())),
            Self::Confirm(question) => question.key(key),
        }
    }

    /// Takes a paste.
    pub fn paste(&mut self, text: &str) {
        match self {
            Self::Paste(paste) => paste.paste(text),
            Self::Connect(connect) => connect.paste(text),
            Self::Sections(sections) => sections.paste(text),
            Self::Peek(_) | Self::Why(_) => {}
            Self::Help(help) => help.paste(text),
            Self::Line(line) => line.paste(text),
            Self::Search(search) => search.paste(text),
            Self::Review(review) => review.paste(text),
            Self::Log(logs) => logs.paste(text),
            Self::Read(_) | Self::Confirm(_) | Self::Ask(_) | Self::Voice(_) => {}
            other => {
                if let Some(picker) = other.picker() {
                    picker.paste(text);
                }
            }
        }
    }

    /// Its list, if it is one to choose from.
    fn picker(&mut self) -> Option<&mut Picker> {
        match self {
            Self::Files { picker, .. } | Self::Servers(picker, _) | Self::Inputs(picker, _) => Some(picker),
            Self::Menu(menu) => Some(&mut menu.picker),
            Self::Sessions(sessions) => Some(&mut sessions.picker),
            Self::Symbols(symbols) => Some(&mut symbols.picker),
            Self::Settings(settings) => Some(&mut settings.picker),
            _ => None,
        }
    }

    /// A ranking of its list that is to be done elsewhere.
    pub fn take_job(&mut self) -> Option<RankJob> {
        self.picker()?.take_job()
    }

    /// Takes in such a ranking.
    pub fn put(&mut self, ranked: Ranked) {
        if let Some(picker) = self.picker() {
            picker.put(ranked);
        }
    }

    /// Takes a click on a row of its list: the row comes under the cursor; twice, or where it was already, it is chosen.
    pub fn click(&mut self, row: usize, double: bool) -> Reply {
        if let Self::Search(search) = self {
            return search.click(row, double);
        }
        if let Self::Connect(connect) = self {
            return connect.click(row, double);
        }
        let Some(picker) = self.picker() else { return Reply::Stay };
        let was_there = picker.row() == row;
        if picker.point(row) && (double || was_there) {
            return self.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
        }
        Reply::Stay
    }

    /// Takes the wheel, so many lines down.
    pub fn wheel(&mut self, by: isize) {
        match self {
            Self::Read(viewer) => viewer.wheel(by),
            Self::Help(help) => help.wheel(by),
            Self::Log(logs) => logs.wheel(by),
            Self::Connect(connect) => connect.wheel(by),
            Self::Paste(_) | Self::Confirm(_) | Self::Ask(_) | Self::Voice(_) | Self::Line(_) | Self::Review(_) => {}
            Self::Peek(peek) => peek.wheel(by),
            Self::Sections(text) => text.wheel(by),
            Self::Why(why) => why.wheel(by),
            Self::Search(search) => search.wheel(by),
            other => {
                if let Some(picker) = other.picker() {
                    picker.wheel(by);
                }
            }
        }
    }

    /// Whether the action that opens it has closed it, too.
    pub fn closes_by(&self, action: Action) -> bool {
        match self {
            Self::Read(_) => {
                matches!(action, Action::ViewPrompt | Action::Help | Action::HelpHere | Action::ContextView)
            }
            Self::Sections(text) => matches!(action, Action::ViewPrompt | Action::ContextView) && !text.is_typing(),
            Self::Log(logs) => action == Action::ViewLog && !logs.is_typing(),
            _ => false,
        }
    }

    /// What it shows beside its list.
    pub fn look(&self) -> Option<Look> {
        match self {
            Self::Files { picker, listed: paths, .. } => Some(Look::File(paths.get(picker.selected()?)?.clone(), None)),
            Self::Symbols(symbols) => symbols.look(),
            Self::Search(search) => search.look(),
            Self::Peek(peek) => peek.look(),
            Self::Sessions(sessions) => sessions.look(),
            _ => None,
        }
    }

    /// Draws it over `screen`.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, mut sight: Sight<'_>) {
        match self {
            Self::Read(viewer) => viewer.draw(frame, screen, theme),
            Self::Help(help) => help.draw(frame, screen, theme),
            Self::Paste(paste) => paste.draw(frame, screen, theme),
            Self::Connect(connect) => connect.draw(frame, screen, sight.hits, theme),
            Self::Ask(question) => question.draw(frame, screen, theme),
            Self::Voice(meter) => meter.draw(frame, screen, theme),
            Self::Log(logs) => logs.draw(frame, screen, theme),
            Self::Peek(peek) => peek.draw(frame, screen, theme, sight),
            Self::Sections(text) => text.draw(frame, screen, theme, sight),
            Self::Why(why) => why.draw(frame, screen, theme),
            Self::Confirm(question) => question.draw(frame, screen, theme),
            Self::Line(line) => line.draw(frame, screen, theme),
            Self::Search(search) => search.draw(frame, screen, theme, sight),
            Self::Review(review) => review.draw(frame, screen, theme, sight),
            Self::Files { .. }
            | Self::Servers(..)
            | Self::Sessions(_)
            | Self::Inputs(..)
            | Self::Menu(_)
            | Self::Symbols(_)
            | Self::Settings(_) => {
                let Some(picker) = self.picker() else { return };
                picker.fit(screen);
                let look_at = picker.draw(frame, screen, sight.hits, theme);
                if let Some(area) = look_at {
                    self.draw_look(frame, area, theme, &mut sight);
                }
            }
        }
    }

    fn draw_look(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, sight: &mut Sight<'_>) {
        if let Self::Sessions(sessions) = self {
            return look::session(frame, area, sessions.said(), theme);
        }
        if let Self::Settings(settings) = self {
            return settings.draw_look(frame, area, theme);
        }
        if let Some(Look::File(path, marked)) = self.look() {
            look::file(frame, area, (&path, marked), sight, theme);
        }
    }
}

/// A rectangle of that size in the middle of the screen, or as much of it as there is.
pub(super) fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let [row] = Layout::vertical([Constraint::Length(height.min(screen.height))])
        .flex(ratatui::layout::Flex::Center)
        .areas(screen);
    let [area] = Layout::horizontal([Constraint::Length(width.min(screen.width))])
        .flex(ratatui::layout::Flex::Center)
        .areas(row);
    area
}

/// Clears `area`, draws the frame of an overlay there, and gives the space inside.
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
