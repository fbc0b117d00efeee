//! The event loop: waits for a key, a report, a signal or colours; updates; draws when something changed, and never
//! otherwise.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crossterm::event::Event;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::app::{App, Editing, Task};
use super::coloring::Colored;
use super::editor::sheet;
use super::pace::Pace;
use super::start::{Start, begin};
use super::status;
use super::terminal::ground::{self, Ground};
use super::terminal::input::{Heard, Input};
use super::terminal::notify;
use super::terminal::signals::{Signal, Signals};
use super::terminal::{self, Guard, Screen};
use super::theme::{self, Themes};
use super::view::{self, ViewCache};
use super::widget::picker::Ranked;
use crate::config::Notify;
use crate::session::runner::Runner;
use crate::session::{Clip, Effect, GitOrder, Report};
use crate::store::LayoutFile;
use rhumb_workspace::process::named_editor;

/// Reports taken in before the next look at the keyboard.
const REPORTS_AT_ONCE: usize = 64;

/// How long leaving waits for a write that has begun. Writing thousands of files takes seconds; a disk that hangs must not
/// keep the terminal for ever.
const WRITE_PATIENCE: Duration = Duration::from_secs(60);

/// How long after a change it is kept: what a sudden end of the program may lose.
const KEEP: Duration = Duration::from_millis(250);

/// How long leaving waits until all is kept.
const KEEP_PATIENCE: Duration = Duration::from_secs(5);

/// Events taken in before the next frame: one notch of the wheel sends several, and a held key even more.
const EVENTS_AT_ONCE: usize = 64;

/// How the app was left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Left {
    /// The exit code: 0, or 128 + n after signal n.
    pub code: u8,
    /// What to tell the user where the app was; may be empty.
    pub farewell: String,
}

/// Runs the app until the user leaves.
///
/// # Errors
/// There is no terminal, or it went away.
pub async fn run(start: Start, make_runner: impl FnOnce(mpsc::Sender<Report>) -> Runner) -> io::Result<Left> {
    // Before the terminal is taken: a signal in between would end the program without giving it back.
    let mut signals = Signals::listen()?;
    let _ = terminal::mouse(start.display.mouse);
    let (guard, mut screen) = Guard::take()?;
    let began = Instant::now();
    // Dropped after the other end of the channel: commands that are told to end must not wait for us to listen.
    let mut commands = Commands(None);
    let (reports, mut incoming) = mpsc::channel(256);
    let runner = make_runner(reports);
    commands.0 = Some(runner.clone());
    let (mut app, tasks) = begin(&start);
    let mut cache = ViewCache::default();
    terminal::title(&app.window_title());
    terminal::at_once(|| screen.draw(|frame| view::draw(&mut app, &mut cache, frame)).map(drop))?;
    if start.test_panic {
        panic_for_test();
    }
    let mut stage = Stage {
        app,
        cache,
        runner,
        colored: mpsc::unbounded_channel(),
        ranked: mpsc::unbounded_channel(),
        copied: mpsc::unbounded_channel(),
        themes: mpsc::unbounded_channel(),
        themes_folder: start.themes_folder.clone(),
        ground: Ground::default(),
        notify: start.notify,
        by_command: start.notify_by_command,
        desk: start.desk.clone(),
        to_edit: None,
        resized: false,
    };
    let mut code = stage.perform(tasks, &mut screen)?;
    let _watch = start.themes_folder.clone().map(|folder| theme::watch::follow(folder, stage.themes.0.clone()));
    stage.ask_for_the_ground();
    let mut input = Input::open()?;
    let mut pace = Pace::new(Instant::now());
    // When to keep what has changed: some time after the first change, however many follow.
    let mut keep_at: Option<Instant> = None;
    while code.is_none() {
        stage.app.desk.now = began.elapsed();
        if stage.app.expire_hint() {
            pace.changed();
        }
        let hint_ends = stage.app.hint_ends().map(|end| began + end);
        stage.follow()?;
        if let Some(what) = stage.to_edit.take() {
            for heard in stage.ground.settle(&mut input).await {
                code = code.or(stage.hear(heard, &mut screen)?);
            }
            // Nobody reads here meanwhile, so that the editor gets its keys.
            code = code.or(stage.edit(&what, &start, &mut signals, &mut incoming, &mut screen).await?);
            pace.changed();
            continue;
        }
        // First of all: a stream that never pauses must not keep the screen from being drawn.
        if pace.is_due(Instant::now()) {
            stage.draw(&mut screen)?;
            pace.drawn(Instant::now());
            keep_at = keep_at.or(Some(Instant::now() + KEEP));
        }
        if keep_at.is_some_and(|at| Instant::now() >= at) {
            stage.keep();
            keep_at = None;
        }
        // The spinner is all that moves by itself, and only while there is something to wait for.
        let next_turn = pace.next() + Duration::from_millis(status::TICK);
        tokio::select! {
            biased;
            signal = signals.next() => match signal {
                Signal::Fatal(number) => code = Some(128 + number),
                Signal::Stop => { suspend(&mut screen)?; pace.changed(); }
                Signal::Continued => { terminal::enter()?; terminal::clear(&mut screen)?; pace.changed(); }
                Signal::Resized => {
                    let (width, height) = crossterm::terminal::size()?;
                    code = stage.hear(Heard::Event(Event::Resize(width, height)), &mut screen)?;
                    pace.changed();
                }
            },
            heard = input.next() => match heard {
                Ok(heard) => {
                    stage.app.desk.now = began.elapsed();
                    let by_user = matches!(heard, Heard::Event(Event::Key(_) | Event::Mouse(_) | Event::Paste(_)));
                    code = stage.hear_all(heard, &mut input, &mut screen)?;
                    if by_user { pace.answer(Instant::now()) } else { pace.changed() }
                }
                // The terminal is gone: there is nobody left to ask.
                Err(_) => code = Some(128 + 1),
            },
            Some(report) = incoming.recv() => {
                let mut tasks = stage.app.report(report);
                // What is there already goes into the same frame, within bounds: keys come first.
                for _ in 0..REPORTS_AT_ONCE {
                    let Ok(report) = incoming.try_recv() else { break };
                    tasks.extend(stage.app.report(report));
                }
                code = stage.perform(tasks, &mut screen)?;
                pace.changed();
            }
            Some(colored) = stage.colored.1.recv() => {
                stage.cache.coloring.put(colored);
                pace.changed();
            }
            Some(ranked) = stage.ranked.1.recv() => {
                let tasks = stage.app.ranked(ranked);
                code = stage.perform(tasks, &mut screen)?;
                pace.changed();
            }
            Some((native, clip)) = stage.copied.1.recv() => {
                stage.app.copied(native, &clip);
                pace.changed();
            }
            Some(themes) = stage.themes.1.recv() => {
                stage.app.themes_changed(themes);
                pace.changed();
            }
            () = sleep_until(pace.next()), if pace.is_waiting() => {}
            () = sleep_until(next_turn), if stage.app.spins() => pace.changed(),
            () = sleep_until(keep_at.unwrap_or(pace.next())), if keep_at.is_some() => {}
            () = sleep_until(hint_ends.unwrap_or(pace.next())), if hint_ends.is_some() => {}
        }
    }
    // What was typed for the app meanwhile comes too late for it.
    let _ = stage.ground.settle(&mut input).await;
    stage.finish_write(&mut incoming, &mut screen).await?;
    drop(guard);
    stage.keep_arrangement();
    let is_kept = stage.finish_keeping(&mut incoming).await;
    let resume = &start.session.resume_command;
    let farewell = if resume.is_empty() { String::new() } else { stage.app.session.farewell(is_kept, resume) };
    Ok(Left { code: code.unwrap_or(0), farewell })
}

/// Both ends of a channel.
type Channel<T> = (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>);

/// The app with what it needs to act.
struct Stage {
    app: App,
    cache: ViewCache,
    runner: Runner,
    colored: Channel<Colored>,
    ranked: Channel<Ranked>,
    /// Whether the system's clipboard took a text, and which.
    copied: Channel<(bool, Clip)>,
    /// The themes after a change of the user's folder.
    themes: Channel<Themes>,
    themes_folder: Option<PathBuf>,
    ground: Ground,
    notify: Notify,
    by_command: bool,
    desk: Option<LayoutFile>,
    /// What is to be opened in the editor.
    to_edit: Option<Editing>,
    /// The terminal had another size since the last frame, if only for a moment.
    resized: bool,
}

/// Ends the commands that run when the app is left, however it is left.
struct Commands(Option<Runner>);

impl Drop for Commands {
    fn drop(&mut self) {
        if let Some(runner) = &self.0 {
            runner.end_commands();
        }
    }
}

impl Stage {
    /// Asks whether the ground is light, if that matters and the terminal can be asked.
    fn ask_for_the_ground(&mut self) {
        if self.app.minds_the_ground() && ground::can_be_asked(|name| std::env::var(name).ok()) {
            self.ground.ask();
        }
    }

    /// Takes in what the terminal said and what it said with it; an exit code when the app wants to leave.
    fn hear_all(&mut self, first: Heard, input: &mut Input, screen: &mut Screen) -> io::Result<Option<u8>> {
        let mut code = self.hear(first, screen)?;
        for _ in 1..EVENTS_AT_ONCE {
            if code.is_some() || self.to_edit.is_some() {
                break;
            }
            let Some(heard) = input.at_hand()? else { break };
            code = self.hear(heard, screen)?;
        }
        Ok(code)
    }

    /// Takes in what the terminal said; an exit code when the app wants to leave.
    fn hear(&mut self, heard: Heard, screen: &mut Screen) -> io::Result<Option<u8>> {
        match heard {
            Heard::Event(event) => {
                match event {
                    Event::FocusGained => self.ask_for_the_ground(),
                    Event::Resize(..) => self.resized = true,
                    _ => {}
                }
                let tasks = self.app.event(event);
                self.perform(tasks, screen)
            }
            Heard::Ground(light) => {
                self.ground.answered();
                light.into_iter().for_each(|light| self.app.ground_is(light));
                Ok(None)
            }
            Heard::Scheme(light) => {
                self.app.ground_is(light);
                // Its ground may be another one all the same.
                self.ask_for_the_ground();
                Ok(None)
            }
        }
    }

    fn draw(&mut self, screen: &mut Screen) -> io::Result<()> {
        // A terminal that was small for a moment has lost what was on it, though it has the size of the last frame again.
        let resized = std::mem::take(&mut self.resized);
        terminal::at_once(|| {
            if resized {
                terminal::clear(screen)?;
            }
            screen.draw(|frame| view::draw(&mut self.app, &mut self.cache, frame)).map(drop)
        })?;
        if let Some(job) = self.app.take_rank_job() {
            let done = self.ranked.0.clone();
            tokio::task::spawn_blocking(move || job.run().map(|ranked| done.send(ranked)));
        }
        for job in self.cache.coloring.take_wanted() {
            let done = self.colored.0.clone();
            tokio::task::spawn_blocking(move || done.send(job.run()));
        }
        Ok(())
    }

    /// What the app says of the mouse and the title becomes so.
    fn follow(&self) -> io::Result<()> {
        terminal::title(&self.app.window_title());
        terminal::mouse(self.app.display.mouse)
    }

    /// Does what the app asks for; an exit code when it wants to leave.
    fn perform(&mut self, tasks: Vec<Task>, screen: &mut Screen) -> io::Result<Option<u8>> {
        for task in tasks {
            match task {
                Task::Run(effect) => self.runner.execute(effect),
                Task::Copy(clip) => {
                    terminal::copy_by_escape(&clip.text);
                    let told = self.copied.0.clone();
                    tokio::task::spawn_blocking(move || told.send((terminal::copy_natively(&clip.text), clip)));
                }
                Task::Notify(text) if self.by_command => self.runner.execute(Effect::Notify(text)),
                Task::Notify(text) => notify::by_terminal(self.notify, &text),
                Task::ReadThemes => {
                    let (folder, told) = (self.themes_folder.clone(), self.themes.0.clone());
                    tokio::task::spawn_blocking(move || {
                        told.send(folder.as_deref().map(Themes::read).unwrap_or_default())
                    });
                }
                Task::Redraw => terminal::clear(screen)?,
                Task::Suspend => suspend(screen)?,
                Task::Edit(what) => self.to_edit = Some(what),
                Task::Quit => return Ok(Some(0)),
            }
        }
        Ok(None)
    }
}

impl Stage {
    /// Writes down how the panes are arranged, if that has changed. It is no more than a convenience: where it cannot be kept,
    /// nothing is lost that is worth a word.
    fn keep_arrangement(&mut self) {
        if let (Some(arrangement), Some(file)) = (self.app.desk.take_moved(), &self.desk) {
            let _ = file.write(&arrangement);
        }
    }

    /// Hands over what has changed since it was last kept.
    fn keep(&mut self) {
        if let (Some(arrangement), Some(file)) = (self.app.desk.take_moved(), self.desk.clone()) {
            tokio::task::spawn_blocking(move || file.write(&arrangement));
        }
        let order = self.app.session.kept_changes();
        order.into_iter().for_each(|order| self.runner.execute(Effect::Keep(order)));
    }

    /// Keeps what is not kept yet, and waits for it. False if that took too long.
    async fn finish_keeping(&mut self, incoming: &mut mpsc::Receiver<Report>) -> bool {
        self.keep();
        let runner = self.runner.clone();
        let session = &mut self.app.session;
        // Other reports are of no use any more, but whoever sends one must not wait for ever.
        let mut note = |report: Report| {
            if matches!(report, Report::Kept(_)) {
                session.handle(report);
            }
        };
        let kept = async {
            let finished = runner.finish_keeping();
            tokio::pin!(finished);
            loop {
                tokio::select! {
                    biased;
                    Some(report) = incoming.recv() => note(report),
                    () = &mut finished => break,
                }
            }
            while let Ok(report) = incoming.try_recv() {
                note(report);
            }
        };
        tokio::time::timeout(KEEP_PATIENCE, kept).await.is_ok()
    }

    /// Waits for a write that has begun: leaving in the middle would leave half of it behind.
    async fn finish_write(&mut self, incoming: &mut mpsc::Receiver<Report>, screen: &mut Screen) -> io::Result<()> {
        if !self.is_writing() {
            return Ok(());
        }
        // What waits for its message is committed without it.
        self.runner.execute(Effect::Git(GitOrder::Hurry));
        self.app.hint = "finishing the write …".into();
        // The terminal may be gone; the files come first.
        let _ = self.draw(screen);
        let finished = async {
            while self.is_writing()
                && let Some(report) = incoming.recv().await
            {
                self.app.report(report);
                // A commit may have come to be waited for.
                self.runner.execute(Effect::Git(GitOrder::Hurry));
            }
        };
        let _ = tokio::time::timeout(WRITE_PATIENCE, finished).await;
        Ok(())
    }

    fn is_writing(&self) -> bool {
        self.app.session.writing || self.app.session.commits.pending > 0
    }
}

impl Stage {
    /// Opens something in the editor, which has the terminal meanwhile; an exit code if a signal says to leave.
    async fn edit(
        &mut self,
        what: &Editing,
        start: &Start,
        signals: &mut Signals,
        incoming: &mut mpsc::Receiver<Report>,
        screen: &mut Screen,
    ) -> io::Result<Option<u8>> {
        let editor = named_editor(start.session.editor.as_deref(), |name| std::env::var(name).ok());
        let sheet = match sheet(what, editor) {
            Ok(sheet) => sheet,
            Err(error) => {
                let tasks = self.app.edited(what, Err(format!("There is no place for the text: {error}.")));
                return self.perform(tasks, screen);
            }
        };
        terminal::give_back();
        let mut later = Vec::new();
        let (status, code) = match tokio::process::Command::from(sheet.command(&start.session.folder)).spawn() {
            Ok(child) => self.wait_for_editor(child, signals, incoming, &mut later).await,
            Err(error) => (Err(error), None),
        };
        terminal::enter()?;
        terminal::clear(screen)?;
        later.extend(self.app.edited(what, sheet.result(status)));
        Ok(code.or(self.perform(later, screen)?))
    }

    /// Waits until the editor has ended. What arrives meanwhile is taken in; what would touch the screen waits.
    async fn wait_for_editor(
        &mut self,
        mut child: tokio::process::Child,
        signals: &mut Signals,
        incoming: &mut mpsc::Receiver<Report>,
        later: &mut Vec<Task>,
    ) -> (io::Result<ExitStatus>, Option<u8>) {
        loop {
            tokio::select! {
                status = child.wait() => return (status, None),
                signal = signals.next() => match signal {
                    // Keys of the terminal that the editor has: they are for it.
                    Signal::Fatal(2 | 3) | Signal::Continued | Signal::Resized => {}
                    Signal::Stop => terminal::stop(),
                    Signal::Fatal(number) => {
                        let _ = child.start_kill();
                        return (child.wait().await, Some(128 + number));
                    }
                },
                Some(report) = incoming.recv() => {
                    for task in self.app.report(report) {
                        match task {
                            Task::Run(effect) => self.runner.execute(effect),
                            task => later.push(task),
                        }
                    }
                }
            }
        }
    }
}

/// Gives the terminal back, stops, and takes it again when the shell continues us.
fn suspend(screen: &mut Screen) -> io::Result<()> {
    terminal::give_back();
    terminal::stop();
    terminal::enter()?;
    terminal::clear(screen)
}

#[expect(clippy::panic, reason = "the test of the panic hook needs a panic")]
fn panic_for_test() {
    panic!("panic asked for by --test-panic");
}
