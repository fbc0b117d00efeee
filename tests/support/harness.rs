//! The app without a terminal: keys by name go in, the screen comes out as text. Behind it works a real runner on a
//! throw-away repository, with recorded replies or with none.
//!
//! Time plays no part: [`Harness::settle`] knows what the runner still owes and waits for exactly that.
#![allow(dead_code, unreachable_pub, missing_docs)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

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
use rhumb::llm::{Scripted, ScriptedReply, StreamEvent};
use rhumb::session::runner::{Line, Outfit, Runner};
use rhumb::session::{
    AskEvent, CodebaseReport, Connection, Effect, Failure, FetchOrder, Level, Report, RunOrder, RunReport, Session,
};
use rhumb::text::width;
use rhumb::tui::app::{App, Task};
use rhumb::tui::key;
use rhumb::tui::theme::{ColorDepth, Theme};
use rhumb::tui::view::{self, ViewCache};
use rhumb::workspace::Root;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// How long the runner may take for something that must come. Far more than it needs; a test that passes never waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pace of a provider that never answers.
const NEVER: Duration = Duration::from_secs(86_400);

/// What stands in a screen instead of the id of a commit, which depends on the time.
const COMMIT: &str = "c0ffee0";

/// The files of the small repository.
pub const HARBOUR: &[(&str, &str)] = &[
    ("README.md", "# harbour\n\nWho lies where, and for how long.\n"),
    (
        "harbour/berth.py",
        "\"\"\"Berths and the ships in them.\"\"\"\n\nfrom .ship import Ship\n\n\nclass Berth:\n    \"\"\"One place at the quay.\"\"\"\n\n    \
         def __init__(self, length):\n        self.length = length\n        self.ship = None\n\n    \
         def fits(self, ship: Ship) -> bool:\n        return ship.length < self.length\n\n    \
         def moor(self, ship: Ship):\n        if not self.fits(ship):\n            raise ValueError(\"too long\")\n        \
         self.ship = ship\n\n    def leave(self):\n        self.ship = None\n",
    ),
    (
        "harbour/ship.py",
        "\"\"\"Ships.\"\"\"\n\n\nclass Ship:\n    def __init__(self, name, length):\n        self.name = name\n        \
         self.length = length\n",
    ),
    (
        "tests/test_berth.py",
        "from harbour.berth import Berth\nfrom harbour.ship import Ship\n\n\ndef test_a_ship_moors():\n    \
         berth = Berth(30)\n    berth.moor(Ship(\"Anna\", 20))\n    assert berth.ship.name == \"Anna\"\n",
    ),
];

/// What a harness starts with.
pub struct Scene {
    files: Vec<(String, String)>,
    git: bool,
    root: String,
    connection: Connection,
    /// Recorded replies; `None` is a provider that never answers, so that a test can stream by hand.
    replies: Option<Vec<ScriptedReply>>,
    chat_files: Vec<String>,
    draft: String,
    settings: Settings,
    depth: ColorDepth,
    sealed: bool,
}

impl Scene {
    /// The small repository and nobody to ask.
    pub fn harbour() -> Self {
        Self {
            files: owned(HARBOUR),
            git: true,
            root: "harbour".into(),
            connection: Connection::None,
            replies: None,
            chat_files: Vec::new(),
            draft: String::new(),
            settings: Settings::default(),
            depth: ColorDepth::True,
            sealed: false,
        }
    }

    /// What `rhumb demo` shows.
    pub fn demo() -> Self {
        let replies = demo::replies().into_iter().map(|(words, reply)| ScriptedReply {
            match_words: words.into_iter().map(str::to_owned).collect(),
            reply: reply.to_owned(),
        });
        Self {
            files: owned(demo::files()),
            root: "demo".into(),
            connection: Connection::Demo,
            replies: Some(replies.collect()),
            chat_files: demo::FIRST_FILES.iter().map(|path| (*path).to_owned()).collect(),
            draft: demo::FIRST_MESSAGE.into(),
            settings: Settings { context_window: Some(32_768), ..Settings::default() },
            ..Self::harbour()
        }
    }

    /// A model that gives this reply to everything.
    #[must_use]
    pub fn replying(mut self, reply: &str) -> Self {
        self.replies = Some(vec![ScriptedReply { match_words: Vec::new(), reply: reply.into() }]);
        self.named()
    }

    /// A model that is asked and never answers: the test does, with [`Harness::stream`].
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.replies = None;
        self.named()
    }

    fn named(mut self) -> Self {
        self.connection = Connection::Remote { model: "gpt-4o".into(), host: "api.example.org".into() };
        self
    }

    /// One more file in the repository.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.retain(|(known, _)| known != path);
        self.files.push((path.into(), text.into()));
        self
    }

    /// Files in the chat from the start.
    #[must_use]
    pub fn chat(mut self, paths: &[&str]) -> Self {
        self.chat_files = paths.iter().map(|path| (*path).to_owned()).collect();
        self
    }

    /// Commands that it would run are not run.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.sealed = true;
        self
    }

    /// A plain folder, which is faster to make.
    #[must_use]
    pub fn without_git(mut self) -> Self {
        self.git = false;
        self
    }

    /// The window of the model in tokens.
    #[must_use]
    pub fn window(mut self, tokens: usize) -> Self {
        self.settings.context_window = Some(tokens);
        self
    }

    /// Colours that the terminal has.
    #[must_use]
    pub fn depth(mut self, depth: ColorDepth) -> Self {
        self.depth = depth;
        self
    }

    /// Opens the app and waits until the repository is read and the next request measured.
    pub fn open(self, width: u16, height: u16) -> Harness {
        let folder = tempfile::tempdir().expect("a folder for the repository");
        for (path, text) in &self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("make folders");
            std::fs::write(&path, text).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
        }
        if self.git {
            rhumb::git::init(folder.path(), "Mira Keel", "mira@example.org", "Start").expect("a repository");
        }
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let answers = self.replies.is_some();
        let model = match &self.connection {
            Connection::None => None,
            Connection::Demo => Some("demo".to_owned()),
            Connection::Remote { model, .. } => Some(model.clone()),
        };
        let pace = if answers { Duration::ZERO } else { NEVER };
        let provider = Arc::new(Scripted::new(self.replies.unwrap_or_default(), pace));
        let line = model.map(|model| Line::new(provider, model));
        let root = Root::at(folder.path()).expect("a root");
        let (sender, reports) = mpsc::channel(256);
        let runner = Runner::new(root, Outfit::new(self.settings), line, sender);
        let theme = Theme::builtin("rhumb-dark", self.depth).expect("the theme");
        let (session, effects) = Session::start(self.connection);
        let (app, tasks) = App::start(session, effects, theme, self.root);
        let mut harness = Harness {
            app,
            cache: ViewCache::default(),
            wanted: Vec::new(),
            terminal: Terminal::new(TestBackend::new(width, height)).expect("a test terminal"),
            runner,
            reports,
            due: Due { answers, ..Due::default() },
            commits: Vec::new(),
            copied: Vec::new(),
            fetches: Vec::new(),
            quit: false,
            written: BTreeSet::new(),
            sealed: self.sealed,
            runtime,
            folder,
        };
        harness.perform(tasks);
        if !self.chat_files.is_empty() {
            let effects = harness.app.session.add_files(&self.chat_files, false);
            harness.run(effects);
        }
        if !self.draft.is_empty() {
            harness.app.composer.set(&self.draft);
            let effects = harness.app.session.draft_changed(&self.draft);
            harness.run(effects);
        }
        harness.settle();
        harness
    }
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// What the runner still owes.
#[derive(Default)]
struct Due {
    /// Whether there is a provider that ends its answers.
    answers: bool,
    survey: bool,
    /// The newest measurement asked for.
    measure: Option<u64>,
    /// The turn that will end by itself.
    turn: Option<u64>,
    /// Reports that come once for each order.
    others: usize,
}

impl Due {
    fn add(&mut self, effect: &Effect) {
        match effect {
            Effect::Survey | Effect::ReadOn => self.survey = true,
            Effect::StopReading => {}
            Effect::Measure(order) => self.measure = Some(order.generation),
            Effect::Ask(order) => self.turn = self.answers.then_some(order.generation),
            Effect::Reread(paths) => self.others += paths.len(),
            // The job says so itself when it is done.
            Effect::Run(RunOrder::Stop(_)) => {}
            // A turn that is stopped may end without a word.
            Effect::Cancel => self.turn = None,
            Effect::Fetch(_) => {}
            _ => self.others += 1,
        }
    }

    fn settle(&mut self, report: &Report) {
        match report {
            Report::Surveyed { .. } => self.survey = false,
            Report::Measured { generation, .. } if self.measure == Some(*generation) => self.measure = None,
            Report::SurveyProgress { .. }
            | Report::LeftOut { .. }
            | Report::Listed(_)
            | Report::Head(_)
            | Report::Symbols(_)
            | Report::Codebase(CodebaseReport::Status { .. }) => {}
            Report::Measured { .. } | Report::Asked { .. } => {}
            Report::Ran(report) if !matches!(report, RunReport::Done { .. }) => {}
            Report::Ended { turn, .. } | Report::Unsent { turn, .. } => self.turn = self.turn.filter(|due| due != turn),
            _ => self.others = self.others.saturating_sub(1),
        }
    }

    fn anything(&self) -> bool {
        self.survey || self.measure.is_some() || self.turn.is_some() || self.others > 0
    }
}

/// The app on a screen that only the test sees.
pub struct Harness {
    /// The app, to look into.
    pub app: App,
    /// What it put on the clipboard.
    pub copied: Vec<String>,
    /// What it wanted from outside. Nothing of it is done; a test hands in what came.
    pub fetches: Vec<FetchOrder>,
    /// Whether it wanted to leave.
    pub quit: bool,
    /// The files that writes were about, or that a write was taken back of.
    pub written: BTreeSet<String>,
    sealed: bool,
    cache: ViewCache,
    /// What frames have asked to be coloured.
    wanted: Vec<rhumb::tui::Job>,
    terminal: Terminal<TestBackend>,
    runner: Runner,
    reports: mpsc::Receiver<Report>,
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
    pub fn report(&mut self, report: Report) -> &mut Self {
        let tasks = self.app.report(report);
        self.perform(tasks);
        self.draw();
        self
    }

    /// A piece of the answer to the running turn.
    pub fn stream(&mut self, text: &str) -> &mut Self {
        let turn = self.turn();
        self.report(Report::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) })
    }

    /// A piece of what the model thinks before its answer.
    pub fn think(&mut self, text: &str) -> &mut Self {
        let turn = self.turn();
        self.report(Report::Asked { turn, event: AskEvent::Stream(StreamEvent::Reasoning(text.into())) })
    }

    /// The running turn fails.
    pub fn fail(&mut self, message: &str, hint: &str) -> &mut Self {
        let turn = self.turn();
        let failure = Failure { message: message.into(), hint: hint.into() };
        self.report(Report::Ended { turn, result: Err(failure) })
    }

    /// A notice of the program.
    pub fn tell(&mut self, level: Level, text: &str, hint: &str) -> &mut Self {
        self.app.session.tell(level, text, hint);
        self.draw();
        self
    }

    fn turn(&self) -> u64 {
        self.app.session.turn.as_ref().expect("a running turn").number
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
                panic!("the runner owes a report that does not come\n{}", self.screen());
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

    fn take(&mut self, report: Report) {
        self.due.settle(&report);
        if let Report::Wrote(written) = &report {
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
    pub fn take_report(&mut self, report: Report) {
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
        self.terminal.draw(|frame| view::draw(app, cache, frame)).expect("a test terminal draws");
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
    pub fn await_report(&mut self, is_wanted: impl Fn(&Report) -> bool) -> Report {
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
            self.terminal.draw(|frame| view::draw(app, cache, frame)).expect("a test terminal draws");
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
