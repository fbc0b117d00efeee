//! Draws one screen of the app without a terminal, as an SVG image for documentation and bug reports.

use std::io;
use std::time::Duration;

use crossterm::event::Event;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rhumb_session::SurveyState;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::app::{App, Start, Task, begin};
use super::view::ViewCache;
use super::{key, svg, view};
use crate::host::{Host, HostMessage};

/// The screen is complete when no report has arrived for this long.
const QUIET_PERIOD: Duration = Duration::from_millis(400);

/// Longest wait for one step.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// The subject of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scene {
    /// The first screen.
    Start,
    /// The answer to the first message.
    Chat,
    /// Its review.
    Review,
    /// The repo map.
    Map,
    /// The context.
    Context,
    /// The help.
    Help,
}

impl Scene {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 6] = [
        ("start", Self::Start),
        ("chat", Self::Chat),
        ("review", Self::Review),
        ("map", Self::Map),
        ("context", Self::Context),
        ("help", Self::Help),
    ];

    /// The keys that lead to the scene. The app settles after each.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Start => &[],
            Self::Chat => &["Enter"],
            Self::Review => &["Enter", "Alt-4"],
            Self::Map => &["Enter", "Alt-2", "Enter"],
            Self::Context => &["Enter", "Alt-3"],
            Self::Help => &["F1"],
        }
    }
}

/// The picture of a scene on a screen of that size.
///
/// # Errors
/// Nothing can be drawn at that size.
pub async fn screenshot(
    start: Start,
    scene: Scene,
    (width, height): (u16, u16),
    make_host: impl FnOnce(mpsc::Sender<HostMessage>) -> Host,
) -> io::Result<String> {
    let (reports, mut incoming) = mpsc::channel(256);
    let host = make_host(reports);
    let (app, tasks) = begin(&start);
    let terminal = Terminal::new(TestBackend::new(width, height)).map_err(io::Error::other)?;
    let mut offscreen = OffscreenApp { app, cache: ViewCache::default(), terminal, host };
    offscreen.perform(tasks);
    offscreen.settle(&mut incoming).await?;
    for name in scene.keys() {
        let tasks = key::parse(name).map(|key| offscreen.app.event(Event::Key(key)));
        offscreen.perform(tasks.unwrap_or_default());
        offscreen.settle(&mut incoming).await?;
    }
    let title = format!("rhumb: {}", Scene::ALL.iter().find(|(_, one)| *one == scene).map_or("", |(name, _)| name));
    Ok(svg::svg(offscreen.terminal.backend().buffer(), offscreen.app.theme(), &title))
}

struct OffscreenApp {
    app: App,
    cache: ViewCache,
    terminal: Terminal<TestBackend>,
    host: Host,
}

impl OffscreenApp {
    /// Runs effects. Other tasks need a terminal.
    fn perform(&self, tasks: Vec<Task>) {
        for task in tasks {
            if let Task::Run(effect) = task {
                self.host.execute(effect);
            }
        }
    }

    /// Waits until the app is idle, and draws it.
    async fn settle(&mut self, incoming: &mut mpsc::Receiver<HostMessage>) -> io::Result<()> {
        let still = async {
            loop {
                match timeout(QUIET_PERIOD, incoming.recv()).await {
                    Ok(Some(message)) => {
                        let tasks = message.into_response().map(|response| self.app.report(response));
                        self.perform(tasks.unwrap_or_default());
                    }
                    Ok(None) => return,
                    Err(_) if self.is_at_rest() => return,
                    Err(_) => {}
                }
            }
        };
        // A screen that does not settle is drawn after the timeout.
        let _ = timeout(STEP_TIMEOUT, still).await;
        self.draw()
    }

    fn is_at_rest(&self) -> bool {
        let session = &self.app.session;
        matches!(session.survey(), SurveyState::Done) && session.view().is_some() && session.turn().is_none()
    }

    fn draw(&mut self) -> io::Result<()> {
        loop {
            let (app, cache) = (&mut self.app, &mut self.cache);
            self.terminal.draw(|frame| view::render(app, cache, frame)).map_err(io::Error::other)?;
            let wanted = self.cache.coloring.take_wanted();
            if wanted.is_empty() {
                return Ok(());
            }
            wanted.into_iter().for_each(|job| self.cache.coloring.put(job.run()));
        }
    }
}
