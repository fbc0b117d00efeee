//! The event loop: waits for a key, a signal, a message of the host or the result of background work, updates the app, and draws if
//! something changed.

use std::io;
use std::process::ExitStatus;

use crossterm::event::Event;
use rhumb_workspace::process::{EditorSession, named_editor};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::app::{Start, begin};
use super::coloring::Colored;
use super::terminal::input::{BackgroundQuery, Input, TerminalInput};
use super::terminal::{Guard, Screen, input};
use super::widget::picker::Ranked;
use super::{notifications, status_line, terminal, theme, view};
use crate::host::{Host, HostMessage, SAVE_DELAY, StopCommandsOnDrop, is_writing};
use crate::signals::{SIGINT, SIGQUIT, Signal, Signals};
use crate::tui::prelude::*;

/// Messages of the host that are handled before the keyboard is polled again.
const MAX_MESSAGES_PER_TURN: usize = 64;

/// Events that are handled before the next frame: one notch of the wheel sends several, and a held key even more.
const MAX_EVENTS_PER_FRAME: usize = 64;

/// How the app ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppExit {
    pub code: u8,
    /// Written to the terminal after the screen is restored.
    pub farewell: String,
}

/// Runs the app until the user exits.
pub async fn run(start: Start, make_host: impl FnOnce(mpsc::Sender<HostMessage>) -> Host) -> io::Result<AppExit> {
    // Before the terminal is initialized: a signal in between would end the program without restoring it.
    let mut signals = Signals::for_screen(terminal::give_back)?;
    let _ = terminal::mouse(start.display.mouse);
    let (guard, screen) = Guard::take()?;
    // Dropped after the other end of the channel: commands that are being stopped must not wait for a reader.
    let mut commands = StopCommandsOnDrop::default();
    let (reports, incoming) = mpsc::channel(256);
    let host = make_host(reports);
    commands.arm(&host);
    let (app, tasks) = begin(&start);
    let mut event_loop = EventLoop::new(&start, app, host, incoming, screen);
    terminal::title(&event_loop.app.window_title());
    event_loop.render()?;
    if start.test_panic {
        panic_for_test();
    }
    let mut code = event_loop.perform(tasks)?;
    let _watch = start.themes_folder.clone().map(|folder| theme::store::follow(folder, event_loop.themes.0.clone()));
    event_loop.query_background();
    let mut input = Input::open()?;
    while code.is_none() {
        code = event_loop.turn(&mut input, &mut signals).await?;
    }
    // Input for the app that arrived meanwhile is discarded.
    let _ = event_loop.background.settle(&mut input).await;
    event_loop.finish_write().await?;
    drop(guard);
    event_loop.save_layout();
    let is_kept = event_loop.host.finish_saving(&mut event_loop.app.session, &mut event_loop.incoming).await;
    let resume = &start.session.resume_command;
    let farewell = if resume.is_empty() { String::new() } else { event_loop.app.session.farewell(is_kept, resume) };
    Ok(AppExit { code: code.unwrap_or(0), farewell })
}

type Channel<T> = (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>);

struct EventLoop<'a> {
    start: &'a Start,
    app: App,
    cache: ViewCache,
    screen: Screen,
    host: Host,
    /// The messages of the host.
    incoming: mpsc::Receiver<HostMessage>,
    colored: Channel<Colored>,
    ranked: Channel<Ranked>,
    /// Whether the system's clipboard took a text, and the text.
    copied: Channel<(bool, ClipboardText)>,
    /// The themes after a change in the user's folder.
    themes: Channel<Themes>,
    background: BackgroundQuery,
    /// The time from which the app's own clock counts.
    began: Instant,
    pace: Pace,
    /// When changes are saved: a fixed time after the first one, regardless of further changes.
    save_at: Option<Instant>,
    /// What the external editor is to be opened with.
    to_edit: Option<Editing>,
    /// The size of the terminal has changed since the last frame, even if it has changed back.
    resized: bool,
}

/// What ends a wait of the event loop.
enum Wakeup {
    Signal(Signal),
    Input(io::Result<TerminalInput>),
    Message(HostMessage),
    Colored(Colored),
    Ranked(Ranked),
    Copied(bool, ClipboardText),
    Themes(Themes),
    /// The spinner moves.
    Spinner,
    /// A frame is due, changes are to be saved, or a hint expires.
    Timer,
}

impl<'a> EventLoop<'a> {
    fn new(start: &'a Start, app: App, host: Host, incoming: mpsc::Receiver<HostMessage>, screen: Screen) -> Self {
        let now = Instant::now();
        Self {
            start,
            app,
            cache: ViewCache::default(),
            screen,
            host,
            incoming,
            colored: mpsc::unbounded_channel(),
            ranked: mpsc::unbounded_channel(),
            copied: mpsc::unbounded_channel(),
            themes: mpsc::unbounded_channel(),
            background: BackgroundQuery::default(),
            began: now,
            pace: Pace::new(now),
            save_at: None,
            to_edit: None,
            resized: false,
        }
    }

    /// Does what is due, waits until something happens, and handles it. Returns an exit code when the app exits.
    async fn turn(&mut self, input: &mut Input, signals: &mut Signals) -> io::Result<Option<u8>> {
        self.app.uptime.now = self.began.elapsed();
        if self.app.expire_hint() {
            self.pace.changed();
        }
        self.follow()?;
        if let Some(what) = self.to_edit.take() {
            self.pace.changed();
            let mut code = None;
            for terminal_input in self.background.settle(input).await {
                code = code.or(self.handle_input(terminal_input)?);
            }
            // The app does not read keys meanwhile: the editor gets them.
            return Ok(code.or(self.edit(&what, signals).await?));
        }
        // Drawing comes first, so that an uninterrupted stream does not block it.
        if self.pace.is_due(Instant::now()) {
            self.draw()?;
            self.pace.drawn(Instant::now());
            self.save_at = self.save_at.or(Some(Instant::now() + SAVE_DELAY));
        }
        if self.save_at.is_some_and(|at| Instant::now() >= at) {
            self.keep();
            self.save_at = None;
        }
        let wakeup = self.wait(input, signals).await;
        self.handle(wakeup, input)
    }

    /// Waits until something happens. Keys and signals take precedence over all else.
    async fn wait(&mut self, input: &mut Input, signals: &mut Signals) -> Wakeup {
        let next_frame = self.pace.next();
        let hint_ends = self.app.hint_ends().map(|end| self.began + end);
        tokio::select! {
            biased;
            signal = signals.next() => Wakeup::Signal(signal),
            terminal_input = input.next() => Wakeup::Input(terminal_input),
            Some(message) = self.incoming.recv() => Wakeup::Message(message),
            Some(colored) = self.colored.1.recv() => Wakeup::Colored(colored),
            Some(ranked) = self.ranked.1.recv() => Wakeup::Ranked(ranked),
            Some((native, clip)) = self.copied.1.recv() => Wakeup::Copied(native, clip),
            Some(themes) = self.themes.1.recv() => Wakeup::Themes(themes),
            () = sleep_until(next_frame), if self.pace.dirty => Wakeup::Timer,
            // Only the spinner moves without input, and only while work is running.
            () = sleep_until(next_frame + Duration::from_millis(status_line::TICK)), if self.app.shows_spinner() => {
                Wakeup::Spinner
            }
            () = sleep_until(self.save_at.unwrap_or(next_frame)), if self.save_at.is_some() => Wakeup::Timer,
            () = sleep_until(hint_ends.unwrap_or(next_frame)), if hint_ends.is_some() => Wakeup::Timer,
        }
    }

    /// Handles what happened, and requests a frame if that may be visible. Returns an exit code when the app exits.
    fn handle(&mut self, wakeup: Wakeup, input: &mut Input) -> io::Result<Option<u8>> {
        let mut tasks = Vec::new();
        match wakeup {
            Wakeup::Signal(signal) => return self.handle_signal(signal),
            Wakeup::Input(Ok(terminal_input)) => return self.handle_inputs(terminal_input, input),
            // The terminal is closed, so no question can be answered.
            Wakeup::Input(Err(_)) => return Ok(Some(128 + 1)),
            Wakeup::Message(message) => return self.handle_messages(message),
            Wakeup::Timer => return Ok(None),
            Wakeup::Colored(colored) => self.cache.coloring.put(colored),
            Wakeup::Ranked(ranked) => tasks = self.app.ranked(ranked),
            Wakeup::Copied(native, clip) => self.app.copied(native, &clip),
            Wakeup::Themes(themes) => self.app.themes_changed(themes),
            Wakeup::Spinner => {}
        }
        self.pace.changed();
        self.perform(tasks)
    }

    fn handle_signal(&mut self, signal: Signal) -> io::Result<Option<u8>> {
        self.pace.changed();
        match signal {
            Signal::Fatal(number) => return Ok(Some(128 + number)),
            Signal::Stop => suspend(&mut self.screen)?,
            Signal::Continued => {
                terminal::enter()?;
                terminal::clear(&mut self.screen)?;
            }
            Signal::Resized => {
                let (width, height) = crossterm::terminal::size()?;
                return self.handle_input(TerminalInput::Event(Event::Resize(width, height)));
            }
        }
        Ok(None)
    }

    /// Handles a message of the host, and those that are pending, up to a limit: keys take precedence.
    fn handle_messages(&mut self, first: HostMessage) -> io::Result<Option<u8>> {
        let pending = std::iter::from_fn(|| self.incoming.try_recv().ok()).take(MAX_MESSAGES_PER_TURN);
        let messages = std::iter::once(first).chain(pending);
        let responses: Vec<Response> = messages.filter_map(HostMessage::into_response).collect();
        // The end of an effect alone changes nothing on the screen.
        if responses.is_empty() {
            return Ok(None);
        }
        self.pace.changed();
        let tasks = responses.into_iter().flat_map(|response| self.app.handle_response(response)).collect();
        self.perform(tasks)
    }

    /// Queries whether the background is light, if the theme depends on it and the terminal supports the query.
    fn query_background(&mut self) {
        if self.app.needs_background() && input::can_be_asked(|name| std::env::var(name).ok()) {
            self.background.ask();
        }
    }

    /// Handles an input event and those that follow it, in order. Returns an exit code when the app exits.
    fn handle_inputs(&mut self, first: TerminalInput, input: &mut Input) -> io::Result<Option<u8>> {
        self.app.uptime.now = self.began.elapsed();
        let by_user = matches!(first, TerminalInput::Event(Event::Key(_) | Event::Mouse(_) | Event::Paste(_)));
        let mut code = self.handle_input(first)?;
        for _ in 1..MAX_EVENTS_PER_FRAME {
            if code.is_some() || self.to_edit.is_some() {
                break;
            }
            let Some(terminal_input) = input.try_next()? else { break };
            code = self.handle_input(terminal_input)?;
        }
        if by_user {
            self.pace.answer(Instant::now())
        } else {
            self.pace.changed()
        }
        Ok(code)
    }

    /// Handles an input event. Returns an exit code when the app exits.
    fn handle_input(&mut self, terminal_input: TerminalInput) -> io::Result<Option<u8>> {
        match terminal_input {
            TerminalInput::Event(event) => {
                match event {
                    Event::FocusGained => self.query_background(),
                    Event::Resize(..) => self.resized = true,
                    _ => {}
                }
                let tasks = self.app.event(event);
                self.perform(tasks)
            }
            TerminalInput::Background(light) => {
                self.background.answered();
                light.into_iter().for_each(|light| self.app.background_changed(light));
                Ok(None)
            }
            TerminalInput::Scheme(light) => {
                self.app.background_changed(light);
                // The background may have changed nevertheless.
                self.query_background();
                Ok(None)
            }
        }
    }

    /// Draws a frame on the screen.
    fn render(&mut self) -> io::Result<()> {
        // A terminal that was small for a moment has lost its content, although it has the size of the last frame
        // again.
        let resized = std::mem::take(&mut self.resized);
        terminal::at_once(|| {
            if resized {
                terminal::clear(&mut self.screen)?;
            }
            self.screen.draw(|frame| view::render(&mut self.app, &mut self.cache, frame)).map(drop)
        })
    }

    /// Draws a frame, and starts the work that it showed to be needed.
    fn draw(&mut self) -> io::Result<()> {
        self.render()?;
        let tasks = self.app.copy_selection();
        self.perform(tasks)?;
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

    /// Applies the app's mouse mode and window title to the terminal.
    fn follow(&self) -> io::Result<()> {
        terminal::title(&self.app.window_title());
        terminal::mouse(self.app.display.mouse)
    }

    /// Performs tasks of the app. Returns an exit code when the app exits.
    fn perform(&mut self, tasks: Vec<Task>) -> io::Result<Option<u8>> {
        for task in tasks {
            match task {
                Task::Run(effect) => {
                    self.host.execute(effect);
                }
                Task::Copy(clip) => {
                    terminal::copy_by_escape(&clip.text);
                    let done = self.copied.0.clone();
                    tokio::task::spawn_blocking(move || done.send((terminal::copy_natively(&clip.text), clip)));
                }
                Task::Notify(text) if self.start.notify_by_command => {
                    self.host.execute(Effect::Notify(text));
                }
                Task::Notify(text) => notifications::by_terminal(self.start.notify, &text),
                Task::ReadThemes => {
                    let (folder, done) = (self.start.themes_folder.clone(), self.themes.0.clone());
                    tokio::task::spawn_blocking(move || {
                        done.send(folder.as_deref().map(Themes::read).unwrap_or_default())
                    });
                }
                Task::Redraw => terminal::clear(&mut self.screen)?,
                Task::Suspend => suspend(&mut self.screen)?,
                Task::Edit(what) => self.to_edit = Some(what),
                Task::Quit => return Ok(Some(0)),
            }
        }
        Ok(None)
    }

    /// Saves the layout if it has changed. An error is ignored, since only the layout would be lost.
    fn save_layout(&mut self) {
        if let (Some(arrangement), Some(file)) = (self.app.layout.take_changes(), &self.start.layout_file) {
            let _ = file.write(&arrangement);
        }
    }

    /// Passes changes since the last save to the host.
    fn keep(&mut self) {
        if let (Some(arrangement), Some(file)) = (self.app.layout.take_changes(), self.start.layout_file.clone()) {
            tokio::task::spawn_blocking(move || file.write(&arrangement));
        }
        self.host.save_changes(&mut self.app.session);
    }

    /// Waits for a write that has begun, so that it is not left half done.
    async fn finish_write(&mut self) -> io::Result<()> {
        if !is_writing(&self.app.session) {
            return Ok(());
        }
        self.app.hint.set("finishing the write …");
        // An error of the terminal is ignored: the files are more important.
        let _ = self.draw();
        let Self { app, host, incoming, .. } = self;
        let handle = |message: HostMessage| {
            message.into_response().map(|response| app.handle_response(response));
            is_writing(&app.session)
        };
        host.finish_write(incoming, handle).await;
        Ok(())
    }

    /// Runs the external editor, which has the terminal meanwhile. Returns an exit code if a signal ends the app.
    async fn edit(&mut self, what: &Editing, signals: &mut Signals) -> io::Result<Option<u8>> {
        let session = &self.start.session;
        let editor = named_editor(session.editor.as_deref(), |name| std::env::var(name).ok());
        let sheet = match sheet(what, editor) {
            Ok(sheet) => sheet,
            Err(error) => {
                let tasks = self.app.edit_failed(format!("A temporary file for the text cannot be created: {error}."));
                return self.perform(tasks);
            }
        };
        terminal::give_back();
        let mut later = Vec::new();
        let (status, code) = match tokio::process::Command::from(sheet.command(&session.folder)).spawn() {
            Ok(child) => self.wait_for_editor(child, signals, &mut later).await,
            Err(error) => (Err(error), None),
        };
        terminal::enter()?;
        terminal::clear(&mut self.screen)?;
        later.extend(match sheet.result(status) {
            Ok(text) => self.app.edited(what, &text),
            Err(error) => self.app.edit_failed(error.to_string()),
        });
        Ok(code.or(self.perform(later)?))
    }

    /// Waits until the editor has exited. Messages of the host are handled meanwhile; tasks for the screen are deferred.
    async fn wait_for_editor(
        &mut self,
        mut child: tokio::process::Child,
        signals: &mut Signals,
        later: &mut Vec<Task>,
    ) -> (io::Result<ExitStatus>, Option<u8>) {
        loop {
            tokio::select! {
                status = child.wait() => return (status, None),
                signal = signals.next() => match signal {
                    // Keys and sizes of the terminal are meant for the editor.
                    Signal::Fatal(SIGINT | SIGQUIT) | Signal::Continued | Signal::Resized => {}
                    Signal::Stop => terminal::stop(),
                    Signal::Fatal(number) => {
                        let _ = child.start_kill();
                        return (child.wait().await, Some(128 + number));
                    }
                },
                Some(message) = self.incoming.recv() => {
                    let response = message.into_response();
                    for task in response.map(|response| self.app.handle_response(response)).unwrap_or_default() {
                        match task {
                            Task::Run(effect) => {
                                self.host.execute(effect);
                            }
                            task => later.push(task),
                        }
                    }
                }
            }
        }
    }
}

/// Restores the terminal, stops the process, and initializes the terminal again when the shell continues it.
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

/// Shortest time between two frames without a key press: 60 frames a second.
const FRAME: Duration = Duration::from_millis(16);

/// Decides when the next frame is drawn.
#[derive(Debug)]
pub(super) struct Pace {
    dirty: bool,
    next: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { dirty: true, next: now }
    }

    /// Requests a frame for a change that no key caused.
    pub(super) fn changed(&mut self) {
        self.dirty = true;
    }

    /// Requests a frame now, after any key or mouse event.
    pub(super) fn answer(&mut self, now: Instant) {
        (self.dirty, self.next) = (true, self.next.min(now));
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.dirty && now >= self.next
    }

    pub(super) fn drawn(&mut self, now: Instant) {
        (self.dirty, self.next) = (false, now + FRAME);
    }

    pub(super) fn next(&self) -> Instant {
        self.next
    }
}

/// Prepares a text or a file for the external editor.
pub(super) fn sheet(what: &Editing, editor: Option<String>) -> io::Result<EditorSession> {
    match what {
        Editing::Message(text) => EditorSession::for_text("message.md", text, 1, editor),
        Editing::Review(draft) => EditorSession::for_text(draft.file_name(), &draft.text, draft.line, editor),
        Editing::File { path, line } => Ok(EditorSession::for_file(path, *line, editor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_at_once_also_while_an_answer_streams() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.drawn(now);
        pace.changed();
        pace.answer(now + FRAME / 4);
        assert!(pace.is_due(now + FRAME / 4));
        pace.drawn(now + FRAME / 4);
        pace.changed();
        assert!(!pace.is_due(now + FRAME), "the stream goes on waiting for its turn");
        assert!(pace.is_due(now + FRAME / 4 + FRAME));
    }

    #[test]
    fn what_comes_by_itself_waits_for_the_next_frame() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.drawn(now);
        pace.changed();
        assert!(!pace.is_due(now + FRAME / 2) && pace.dirty);
        assert!(pace.is_due(pace.next()));
    }

    #[test]
    fn a_key_late_in_a_pause_is_due_at_once_and_does_not_put_the_frame_off() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.drawn(now);
        pace.answer(now + FRAME * 9);
        assert_eq!(pace.next(), now + FRAME);
        assert!(pace.is_due(now + FRAME * 9));
    }

    #[test]
    fn nothing_is_drawn_where_nothing_has_changed() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        assert!(pace.is_due(now), "the first frame");
        pace.drawn(now);
        assert!(!pace.is_due(now + FRAME * 1_000));
    }
}
