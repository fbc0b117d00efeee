//! The app without a terminal: a test sends keys by name and reads the screen as text. A real host works on a
//! temporary repository, with recorded replies or without a provider.
//!
//! Tests do not depend on time: [`Harness::settle`] waits for exactly the pending responses.
#![allow(dead_code, unreachable_pub, missing_docs)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod pending;
pub mod scene;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Style;
use rhumb::config::Settings;
use rhumb::demo;
use rhumb::host::{Host, HostMessage, ModelClient, RequestEnv};
use rhumb::tui::theme::{ColorDepth, Theme};
use rhumb::tui::view::{self, ViewCache};
use rhumb::tui::{App, Task, key};
use rhumb_llm::{LlmError, ScriptedProvider, ScriptedReply, StreamEvent};
use rhumb_session::{
    AskError, AskEvent, ConnectEffect, Connection, Effect, FetchEffect, IndexEffect, Level, Response, RunEffect,
    RunResponse, Session,
};
use rhumb_text::width;
use rhumb_workspace::Root;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use pending::PendingResponses;
pub use scene::Scene;

/// How long a test waits for a response. Far more than the host needs.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Replaces commit ids on the screen, which depend on the time.
const COMMIT: &str = "c0ffee0";

/// The app on a screen in memory.
pub struct Harness {
    /// The app, for tests of its state.
    pub app: App,
    /// The texts that it copied to the clipboard.
    pub copied: Vec<String>,
    /// The attachments that it requested. Nothing is fetched; a test supplies the response.
    pub fetches: Vec<FetchEffect>,
    /// Its requests to connect a model. Nothing is done.
    pub connecting: Vec<ConnectEffect>,
    /// Its requests to the embedding index. Nothing is done.
    pub indexed: Vec<IndexEffect>,
    /// Whether it asked to quit.
    pub quit: bool,
    /// The files of all writes and undone writes.
    pub written: BTreeSet<String>,
    sealed: bool,
    cache: ViewCache,
    /// The texts that frames have requested to be coloured.
    wanted: Vec<rhumb::tui::ColoringJob>,
    terminal: Terminal<TestBackend>,
    host: Host,
    messages: mpsc::Receiver<HostMessage>,
    pending: PendingResponses,
    commits: Vec<String>,
    runtime: Runtime,
    folder: tempfile::TempDir,
}

impl Harness {
    /// The small repository without a model.
    pub fn new(width: u16, height: u16) -> Self {
        Scene::harbour().open(width, height)
    }

    /// Presses keys by name: `y g y <Enter> Alt-2`. `type "some text"` types a text.
    #[track_caller]
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys.trim_start();
        while !rest.is_empty() {
            if let Some(text) = rest.strip_prefix("type \"") {
                let (typed, after) = text.split_once('"').unwrap_or_else(|| panic!("no closing quote in {keys}"));
                typed.chars().for_each(|c| self.press(character(c)));
                rest = after.trim_start();
                continue;
            }
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let name = word.strip_prefix('<').and_then(|name| name.strip_suffix('>')).unwrap_or(word);
            let key = key::parse(name).unwrap_or_else(|| panic!("{name} is no key"));
            self.press(key);
            rest = after.trim_start();
        }
        self
    }

    /// Presses one key and draws.
    pub fn press(&mut self, key: KeyEvent) {
        self.event(Event::Key(key));
    }

    /// Pastes a text, as a terminal with bracketed paste does.
    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.event(Event::Paste(text.into()));
        self
    }

    /// Sends a mouse event at a cell.
    pub fn mouse(&mut self, kind: MouseEventKind, (column, row): (u16, u16)) -> &mut Self {
        self.event(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        self
    }

    /// Presses and releases the left button at a cell.
    pub fn click(&mut self, at: (u16, u16)) -> &mut Self {
        self.mouse(MouseEventKind::Down(MouseButton::Left), at).mouse(MouseEventKind::Up(MouseButton::Left), at)
    }

    fn event(&mut self, event: Event) {
        let tasks = self.app.event(event);
        self.perform(tasks);
        self.draw();
    }

    /// Sends the app a response that the test made.
    pub fn report(&mut self, response: Response) -> &mut Self {
        let tasks = self.app.handle_response(response);
        self.perform(tasks);
        self.draw();
        self
    }

    /// Streams a piece of the answer of the running turn.
    pub fn stream(&mut self, text: &str) -> &mut Self {
        let turn = self.turn();
        self.report(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) })
    }

    /// Streams a piece of the reasoning of the running turn.
    pub fn think(&mut self, text: &str) -> &mut Self {
        let turn = self.turn();
        self.report(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Reasoning(text.into())) })
    }

    /// Ends the stream of the running turn with this error.
    pub fn fail(&mut self, cause: &str) -> &mut Self {
        let turn = self.turn();
        let error = AskError::Provider(LlmError::Interrupted(cause.into()));
        self.report(Response::Ended { turn, result: Err(error) })
    }

    /// Adds a status message.
    pub fn tell(&mut self, level: Level, text: &str, hint: &str) -> &mut Self {
        self.app.session.report(level, text, hint);
        self.draw();
        self
    }

    fn turn(&self) -> u64 {
        self.app.session.turn().expect("a running turn").number
    }

    /// Waits until the host has performed all effects.
    ///
    /// # Panics
    /// If a response does not arrive.
    #[track_caller]
    pub fn settle(&mut self) -> &mut Self {
        while !self.pending.is_empty() {
            let next = async { tokio::time::timeout(WAIT_TIMEOUT, next_response(&mut self.messages)).await };
            let response = self.runtime.block_on(next);
            let Ok(Some(response)) = response else {
                panic!("a response did not arrive: {:?}\n{}", self.pending, self.screen());
            };
            self.take(response);
        }
        self.catch_up()
    }

    /// Handles the responses so far, without waiting.
    pub fn catch_up(&mut self) -> &mut Self {
        self.take_reports();
        self.draw();
        self
    }

    /// Handles the responses so far, without waiting and without drawing.
    pub fn take_reports(&mut self) -> &mut Self {
        while let Ok(message) = self.messages.try_recv() {
            message.into_response().into_iter().for_each(|response| self.take(response));
        }
        self
    }

    fn take(&mut self, response: Response) {
        self.pending.settle(&response);
        if let Response::Wrote(written) = &response {
            self.commits.extend(written.commit.clone());
        }
        let tasks = self.app.handle_response(response);
        self.perform(tasks);
    }

    fn run(&mut self, effects: Vec<Effect>) {
        self.perform(effects.into_iter().map(Task::Run).collect());
    }

    fn perform(&mut self, tasks: Vec<Task>) {
        for task in tasks {
            match task {
                // Tests must not use the clipboard, the network and the microphone of the machine.
                Task::Run(Effect::Fetch(order)) => self.fetches.push(order),
                Task::Run(Effect::Connecting(order)) => self.connecting.push(order),
                Task::Run(Effect::Index(command)) => self.indexed.push(command),
                Task::Run(Effect::Run(_) | Effect::Agent(_)) if self.sealed => {}
                Task::Run(effect) => {
                    self.pending.add(&effect);
                    if let Effect::Write { files, .. } = &effect {
                        self.written.extend(
                            files
                                .iter()
                                .flat_map(|file| [Some(file.path.clone()), file.renamed_from.clone()])
                                .flatten(),
                        );
                    }
                    let _inside = self.runtime.enter();
                    self.host.execute(effect);
                }
                Task::Copy(clip) => self.copied.push(clip.text),
                Task::Quit => self.quit = true,
                Task::Redraw | Task::ReadThemes | Task::Suspend | Task::Notify(_) | Task::Edit(_) => {}
            }
        }
    }

    /// Handles an event like the event loop, without drawing.
    pub fn take_event(&mut self, event: Event) {
        let tasks = self.app.event(event);
        self.perform(tasks);
    }

    /// Handles a response like the event loop, without drawing.
    pub fn take_report(&mut self, response: Response) {
        let tasks = self.app.handle_response(response);
        self.perform(tasks);
    }

    /// Changes the size of the terminal without drawing.
    pub fn resize_only(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.take_event(Event::Resize(width, height));
    }

    /// Draws one frame with the available colours. Returns the number of texts whose colours are missing.
    pub fn frame(&mut self) -> usize {
        let (app, cache) = (&mut self.app, &mut self.cache);
        self.terminal.draw(|frame| view::render(app, cache, frame)).expect("a test terminal draws");
        let wanted = self.cache.coloring.take_wanted();
        let count = wanted.len();
        self.wanted.extend(wanted);
        count
    }

    /// Colours the requested texts, as the event loop does between frames.
    pub fn color(&mut self) {
        let wanted = std::mem::take(&mut self.wanted);
        wanted.into_iter().for_each(|job| self.cache.coloring.put(job.run()));
    }

    /// Waits for a response and returns it without handling it. Others before it are handled.
    ///
    /// # Panics
    /// If it does not arrive.
    pub fn await_report(&mut self, is_wanted: impl Fn(&Response) -> bool) -> Response {
        loop {
            let next = async { tokio::time::timeout(WAIT_TIMEOUT, next_response(&mut self.messages)).await };
            let response = self.runtime.block_on(next).ok().flatten().expect("a response");
            if is_wanted(&response) {
                self.pending.settle(&response);
                return response;
            }
            self.take(response);
        }
    }

    /// Draws until all colours are available.
    pub fn draw(&mut self) {
        loop {
            let (app, cache) = (&mut self.app, &mut self.cache);
            self.terminal.draw(|frame| view::render(app, cache, frame)).expect("a test terminal draws");
            if let Some(ranked) = self.app.take_rank_job().and_then(|job| job.run()) {
                let tasks = self.app.ranked(ranked);
                self.perform(tasks);
                continue;
            }
            let wanted = self.cache.coloring.take_wanted();
            if wanted.is_empty() {
                return;
            }
            wanted.into_iter().for_each(|job| self.cache.coloring.put(job.run()));
        }
    }

    /// Changes the size of the terminal.
    pub fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.terminal.backend_mut().resize(width, height);
        self.event(Event::Resize(width, height));
        self
    }

    /// The screen as text, without trailing blanks, with a fixed text for each commit id.
    pub fn screen(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let lines = (0..buffer.area.height).map(|y| {
            let mut line = String::new();
            let mut x = 0;
            while x < buffer.area.width {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                // A wide character covers the cells behind it.
                x += u16::try_from(width::columns(symbol)).unwrap_or(1).max(1);
            }
            line.trim_end().to_owned()
        });
        let screen = lines.collect::<Vec<_>>().join("\n");
        self.commits.iter().fold(screen, |screen, id| screen.replace(id, &COMMIT[..id.len().min(COMMIT.len())]))
    }

    /// The lines of the screen that contain `text`.
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        self.screen().lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    /// The text of a cell.
    pub fn cell(&self, x: u16, y: u16) -> &str {
        self.terminal.backend().buffer()[(x, y)].symbol()
    }

    /// The position of the cursor; `None` if it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let backend = self.terminal.backend();
        backend.cursor_visible().then(|| (backend.cursor_position().x, backend.cursor_position().y))
    }

    /// The style of a cell.
    pub fn style_at(&self, x: u16, y: u16) -> Style {
        self.terminal.backend().buffer()[(x, y)].style()
    }

    /// The first cell of a text on the screen.
    pub fn find(&self, text: &str) -> Option<(u16, u16)> {
        let screen = self.screen();
        screen.lines().zip(0..).find_map(|(line, y)| {
            let before = &line[..line.find(text)?];
            Some((u16::try_from(width::columns(before)).ok()?, y))
        })
    }

    /// Every cell with characters that are not printable.
    pub fn control_characters(&self) -> Vec<String> {
        let cells = self.terminal.backend().buffer().content().iter();
        cells
            .map(ratatui::buffer::Cell::symbol)
            .filter(|symbol| symbol.chars().any(char::is_control))
            .map(|symbol| format!("{symbol:?}"))
            .collect()
    }

    /// The cells of the screen.
    pub fn buffer(&self) -> &ratatui::buffer::Buffer {
        self.terminal.backend().buffer()
    }

    /// The folder of the repository.
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The text of a file; `None` if it does not exist.
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(path)).ok()
    }

    /// Writes a file, as another program would.
    pub fn put(&self, path: &str, text: &str) {
        std::fs::write(self.folder.path().join(path), text).expect("write a file");
    }

    /// Every file of the repository with its bytes, except `.git`.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("list a folder") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else {
            let bytes = std::fs::read(&path).expect("read a file");
            files.insert(path, bytes);
        }
    }
}

/// The key event of a typed character.
pub fn character(c: char) -> KeyEvent {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    KeyEvent::new(KeyCode::Char(c), shift)
}

/// The next response of a host; `None` if the host has ended.
async fn next_response(messages: &mut mpsc::Receiver<HostMessage>) -> Option<Response> {
    loop {
        if let Some(response) = messages.recv().await?.into_response() {
            return Some(response);
        }
    }
}
