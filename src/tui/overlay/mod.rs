//! Overlays: what lies over the panes and gets the keys first. Esc closes the top one.

mod ask;
mod help;
mod log;
mod menu;
mod past;
mod paste;
mod peek;
mod viewer;
mod voice;
mod why;

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::action::Pane;
use super::coloring::Coloring;
use super::preview::Previews;
use super::theme::{Role, Theme};
use super::widget::picker::{Outcome, Picker};
use crate::llm::LocalServer;
use crate::models::Api;
use crate::session::{CustomCommands, ModelRow, ModelUse, Question, Recording, RunLog, ThisMap};
use ask::AskBox;
use log::LogView;
use menu::Menu;
use paste::PasteBox;
pub use peek::{Peek, Place};
use viewer::Viewer;
use voice::VoiceMeter;
use why::WhyView;

/// What lies over the panes.
#[derive(Debug)]
pub enum Overlay {
    /// Keys and commands, or another text to read.
    Read(Viewer),
    /// Files to add to the chat.
    Files(Picker, Arc<Vec<String>>),
    /// Servers to connect to: base URL and model of each row.
    Servers(Picker, Vec<(Api, String, String)>),
    /// A place for a pasted reply.
    Paste(PasteBox),
    /// Abandon so many hunks?
    Abandon(usize),
    /// A question of the session.
    Ask(AskBox),
    /// A message that is being spoken.
    Voice(VoiceMeter),
    /// What commands printed.
    Log(LogView),
    /// A list to choose one thing from.
    Menu(Menu),
    /// Earlier sessions to go on with, and their numbers.
    Sessions(Picker, Vec<i64>),
    /// What was typed before.
    Inputs(Picker, Vec<String>),
    /// Places in files.
    Peek(Peek),
    /// Why something stands in the map where it does.
    Why(WhyView),
}

/// What an overlay says to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It stays.
    Stay,
    /// It closes.
    Close,
    /// Add these files to the chat.
    Add(Vec<String>),
    /// Connect to this server.
    Connect {
        /// What it speaks.
        api: Api,
        /// Root of its API.
        base_url: String,
        /// Model to ask for.
        model: String,
    },
    /// This reply was pasted.
    Pasted(String),
    /// Abandon the review.
    Abandon,
    /// The choice with this letter.
    Answer(char),
    /// The recording ends: it is written down, or thrown away.
    Spoken(bool),
    /// Stop this run.
    StopRun(u64),
    /// Have this model do that part of the work.
    Model(ModelUse, String),
    /// Draw in these colours.
    Theme(String),
    /// Run this action, or with a slash before it this command.
    Run(String),
    /// Go on with the session of this number.
    Resume(i64),
    /// Type this again.
    Recall(String),
    /// Look at these places.
    Peek(Vec<Place>),
    /// Open this file in the editor, at the line.
    Edit(String, usize),
}

/// What an overlay needs to show a file in its colours.
pub struct Sight<'a> {
    /// The colours that are known, and a place to ask for others.
    pub coloring: &'a mut Coloring,
    /// The files that were read for a look at them.
    pub previews: &'a Previews,
}

impl Overlay {
    /// Keys and commands; those of `pane` first.
    pub fn help(pane: Pane, own: &CustomCommands) -> Self {
        Self::Read(Viewer::new("keys and commands", &help::text(pane, own)).table())
    }

    /// Keys; those of `pane` first.
    pub fn keys(pane: Pane) -> Self {
        Self::Read(Viewer::new("keys", &help::keys(pane)).table())
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

    /// The file picker.
    pub fn files(paths: &Arc<Vec<String>>) -> Self {
        let picker = Picker::new("add files to the chat", paths.to_vec()).paths().multiple();
        Self::Files(picker, Arc::clone(paths))
    }

    /// Takes in a new list of files, if this is the file picker; what was typed stays.
    pub fn refresh(&mut self, paths: &Arc<Vec<String>>) {
        let Self::Files(picker, known) = self else { return };
        if !Arc::ptr_eq(known, paths) {
            let query = picker.query().to_owned();
            *self = Self::files(paths);
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

    /// Asks before so many hunks are abandoned.
    pub fn abandon(hunks: usize) -> Self {
        Self::Abandon(hunks)
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

    /// What commands printed.
    pub fn logs(logs: &[RunLog]) -> Self {
        Self::Log(LogView::new(logs))
    }

    /// Takes in what commands printed meanwhile, if these are the logs.
    pub fn refresh_logs(&mut self, logs: &[RunLog]) {
        if let Self::Log(view) = self {
            view.refresh(logs);
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match self {
            Self::Read(viewer) => viewer.key(key),
            Self::Paste(paste) => paste.key(key),
            Self::Files(picker, paths) => match picker.key(key) {
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
            Self::Ask(question) => question.key(key),
            Self::Voice(meter) => meter.key(key),
            Self::Log(logs) => logs.key(key),
            Self::Menu(menu) => menu.key(key),
            Self::Peek(peek) => peek.key(key),
            Self::Why(why) => why.key(key),
            Self::Sessions(picker, numbers) => past::chosen(picker.key(key), numbers, |number| Reply::Resume(*number)),
            Self::Inputs(picker, inputs) => past::chosen(picker.key(key), inputs, |text| Reply::Recall(text.clone())),
            Self::Abandon(_) => match key.code {
                KeyCode::Char('y') => Reply::Abandon,
                _ => Reply::Close,
            },
        }
    }

    /// Takes a paste.
    pub fn paste(&mut self, text: &str) {
        match self {
            Self::Paste(paste) => paste.paste(text),
            Self::Files(picker, _) | Self::Servers(picker, _) => picker.paste(text),
            Self::Menu(menu) => menu.picker.paste(text),
            Self::Sessions(picker, _) | Self::Inputs(picker, _) => picker.paste(text),
            Self::Read(_) | Self::Abandon(_) | Self::Ask(_) | Self::Voice(_) | Self::Log(_) => {}
            Self::Peek(_) | Self::Why(_) => {}
        }
    }

    /// Draws it over `screen`.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, sight: Sight<'_>) {
        match self {
            Self::Read(viewer) => viewer.draw(frame, screen, theme),
            Self::Paste(paste) => paste.draw(frame, screen, theme),
            Self::Ask(question) => question.draw(frame, screen, theme),
            Self::Voice(meter) => meter.draw(frame, screen, theme),
            Self::Log(logs) => logs.draw(frame, screen, theme),
            Self::Peek(peek) => peek.draw(frame, screen, theme, sight),
            Self::Why(why) => why.draw(frame, screen, theme),
            Self::Files(picker, _)
            | Self::Servers(picker, _)
            | Self::Sessions(picker, _)
            | Self::Inputs(picker, _)
            | Self::Menu(Menu { picker, .. }) => {
                picker.fit(screen);
                picker.draw(frame, screen, theme);
            }
            Self::Abandon(hunks) => {
                let noun = if *hunks == 1 { "hunk" } else { "hunks" };
                let text = format!(
                    "Abandon the review of {hunks} {noun}? Nothing of it will be written.\n\ny abandon · any other key keeps it"
                );
                let inner = window(frame, centred(screen, 60, 6), " abandon ", theme);
                frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), inner);
            }
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
