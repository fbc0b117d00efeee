//! The app without a terminal: keys by name go in, the screen comes out as text. Behind it works a real runner on a
//! throw-away repository, with recorded replies or with none.
//!
//! Time plays no part: [`Harness::settle`] knows what the runner still owes and waits for exactly that.
#![allow(dead_code, unreachable_pub, missing_docs)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod due;
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
use rhumb::host::{Host, Line, RequestEnv};
use rhumb::tui::app::{App, Task};
use rhumb::tui::key;
use rhumb::tui::theme::{ColorDepth, Theme};
use rhumb::tui::view::{self, ViewCache};
use rhumb_llm::{LlmError, ScriptedProvider, ScriptedReply, StreamEvent};
use rhumb_session::{
    AskError, AskEvent, ConnectEffect, Connection, Effect, FetchEffect, IndexEffect, Level, Response, RunEffect,
    RunResponse, Session,
};
use rhumb_text::width;
use rhumb_workspace::Root;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use due::Due;
pub use scene::Scene;

/// How long the runner may take for something that must come. Far more than it needs; a test that passes never waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// What stands in a screen instead of the id of a commit, which depends on the time.
const COMMIT: &str = "c0ffee0";

/// The app on a screen that only the test sees.
pub struct Harness {
    /// The app, to look into.
    pub app: App,
    /// What it put on the clipboard.
    pub copied: Vec<String>,
    /// What it wanted from outside. Nothing of it is done; a test hands in what came.
    pub fetches: Vec<FetchEffect>,
    /// What it wanted on the way to a model. Nothing of it is done either.
    pub connecting: Vec<ConnectEffect>,
    /// What it wanted of the index of meanings. Nothing of it is done either.
    pub indexed: Vec<IndexEffect>,
    /// Whether it wanted to leave.
    pub quit: bool,
    /// The files that writes were about, or that a write was taken back of.
    pub written: BTreeSet<String>,
    sealed: bool,
    cache: ViewCache,
    /// What frames have asked to be coloured.
    wanted: Vec<rhumb::tui::Job>,
    terminal: Terminal<TestBackend>,
    runner: Host,
    reports: mpsc::Receiver<Response>,
    due: Due,
    commits: Vec<String>,
    runtime: Runtime,
    folder: tempfile::TempDir,
}

impl Harness {
    /// The small repository and nobody to ask.
    pub fn new(width: u16, height: u16) -> Self {
        Scene::harbour().open(width, height)
    }

    /// Presses keys, each by its name: `y g y <Enter> Alt-2`. `type "some text"` types a text.
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

    /// Presses one key, and draws.
    pub fn press(&mut self, key: KeyEvent) {
        self.event(Event::Key(key));
    }

    /// Pastes, as a terminal with bracketed paste does.
    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.event(Event::Paste(text.into()));
        self
    }

    /// An event of the mouse at a cell.
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

    /// Hands the app a report that no runner made.
    pub fn report(&mut self, report: Response) -> &mut Self {
        let tasks = self.app.report(report);
        self.perform(tasks);
        self.draw();
        self
    }

    /// A piece of the answer to the running turn.
    pub fn stream(&mut self, text: &str) -> &mut Self {
        let turn = self.turn();
        self.report(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) })
    }

    /// A piece of what the model thinks before its answer.
    pub fn think(&mut self, text: &str) -> &mut Self {
        let turn = self.turn();
        self.report(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Reasoning(text.into())) })
    }

    /// The stream of the running turn ends early, for this reason.
    pub fn fail(&mut self, cause: &str) -> &mut Self {
        let turn = self.turn();
        let error = AskError::Provider(LlmError::Interrupted { cause: cause.into() });
        self.report(Response::Ended { turn, result: Err(error) })
    }

    /// A notice of the program.
    pub fn tell(&mut self, level: Level, text: &str, hint: &str) -> &mut Self {
        self.app.session.report(level, text, hint);
        self.draw();
        self
    }

    fn turn(&self) -> u64 {
        self.app.session.turn().expect("a running turn").number
    }

    /// Lets the runner finish everything that it was asked for.
    ///
    /// # Panics
    /// When something does not come.
    #[track_caller]
    pub fn settle(&mut self) -> &mut Self {
        while self.due.anything() {
            let next = async { tokio::time::timeout(PATIENCE, self.reports.recv()).await };
            let report = self.runtime.block_on(next);
            let Ok(Some(report)) = report else {
                panic!("the runner owes a report that does not come: {:?}\n{}", self.due, self.screen());
            };
            self.take(report);
        }
        self.catch_up()
    }

    /// Takes in what has come so far, without waiting.
    pub fn catch_up(&mut self) -> &mut Self {
        self.take_reports();
        self.draw();
        self
    }

    /// Takes in what has come so far, without waiting and without drawing.
    pub fn take_reports(&mut self) -> &mut Self {
        while let Ok(report) = self.reports.try_recv() {
            self.take(report);
        }
        self
    }

    fn take(&mut self, report: Response) {
        self.due.settle(&report);
        if let Response::Wrote(written) = &report {
            self.commits.extend(written.commit.clone());
        }
        let tasks = self.app.report(report);
        self.perform(tasks);
    }

    fn run(&mut self, effects: Vec<Effect>) {
        self.perform(effects.into_iter().map(Task::Run).collect());
    }

    fn perform(&mut self, tasks: Vec<Task>) {
        for task in tasks {
            match task {
                // The clipboard, the network and the microphone of whoever runs the tests are none of theirs.
                Task::Run(Effect::Fetch(order)) => self.fetches.push(order),
                Task::Run(Effect::Connecting(order)) => self.connecting.push(order),
                Task::Run(Effect::Index(command)) => self.indexed.push(command),
                Task::Run(Effect::Run(_)) if self.sealed => {}
                Task::Run(effect) => {
                    self.due.add(&effect);
                    if let Effect::Write { files, .. } = &effect {
                        self.written.extend(
                            files
                                .iter()
                                .flat_map(|file| [Some(file.path.clone()), file.renamed_from.clone()])
                                .flatten(),
                        );
                    }
                    let _inside = self.runtime.enter();
                    self.runner.execute(effect);
                }
                Task::Copy(clip) => self.copied.push(clip.text),
                Task::Quit => self.quit = true,
                Task::Redraw | Task::ReadThemes | Task::Suspend | Task::Notify(_) | Task::Edit(_) => {}
            }
        }
    }

    /// Takes an event in as the event loop does, without drawing.
    pub fn take_event(&mut self, event: Event) {
        let tasks = self.app.event(event);
        self.perform(tasks);
    }

    /// Takes a report in as the event loop does, without drawing.
    pub fn take_report(&mut self, report: Response) {
        let tasks = self.app.report(report);
        self.perform(tasks);
    }

    /// Changes the size of the terminal without drawing.
    pub fn resize_only(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.take_event(Event::Resize(width, height));
    }

    /// Draws one frame with the colours that are there; how many texts it would have coloured.
    pub fn frame(&mut self) -> usize {
        let (app, cache) = (&mut self.app, &mut self.cache);
        self.terminal.draw(|frame| view::render(app, cache, frame)).expect("a test terminal draws");
        let wanted = self.cache.coloring.take_wanted();
        let count = wanted.len();
        self.wanted.extend(wanted);
        count
    }

    /// Does the colouring that frames have asked for, as the event loop does it beside them.
    pub fn color(&mut self) {
        let wanted = std::mem::take(&mut self.wanted);
        wanted.into_iter().for_each(|job| self.cache.coloring.put(job.run()));
    }

    /// Waits for a report and gives it out instead of taking it in; others that come before it are taken in.
    ///
    /// # Panics
    /// When it does not come.
    pub fn await_report(&mut self, is_wanted: impl Fn(&Response) -> bool) -> Response {
        loop {
            let next = async { tokio::time::timeout(PATIENCE, self.reports.recv()).await };
            let report = self.runtime.block_on(next).ok().flatten().expect("a report that must come");
            if is_wanted(&report) {
                self.due.settle(&report);
                return report;
            }
            self.take(report);
        }
    }

    /// Draws until all colours are there.
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

    /// The screen as text, without blanks at line ends, and with a fixed word for each commit id.
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

    /// The lines of the screen that hold `text`.
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        self.screen().lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    /// What stands in a cell.
    pub fn cell(&self, x: u16, y: u16) -> &str {
        self.terminal.backend().buffer()[(x, y)].symbol()
    }

    /// Where the cursor of the terminal stands; `None` while it is hidden.
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

    /// Every cell that would send something else than a printable character to the terminal.
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

    /// Where the repository is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The text of a file; `None` if it is not there.
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(path)).ok()
    }

    /// Writes a file behind the app's back.
    pub fn put(&self, path: &str, text: &str) {
        std::fs::write(self.folder.path().join(path), text).expect("write a file");
    }

    /// Every file of the repository with its bytes, git's own left out.
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

/// A typed character, as a terminal reports it.
pub fn character(c: char) -> KeyEvent {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    KeyEvent::new(KeyCode::Char(c), shift)
}
