//! The runner: carries out what the session asks for, off the draw path, and reports back.
//!
//! This is the one place that joins the rooms of the world. The functions in its files are also what the commands without
//! the app call.

mod compose;
mod connect;
mod counter;
mod kept;
mod propose;
mod store;
mod survey;
mod surveying;
mod write;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use self::survey::{Survey, SurveyStart, SurveyStep, SurveyTimes, survey};
pub use compose::{MapSource, compose};
pub use connect::{Line, connect};
pub use counter::CachedCounter;
pub use kept::KeptMap;
pub use propose::{propose, propose_alone};
pub use store::map_store;
pub use write::{NotWritten, recovered, unwrite, write};

use super::{ChatFile, ContextOrder, ContextView, Effect, Failure, Report, WriteOrder, Written};
use crate::config::Settings;
use crate::context::{self, Prompt, Window};
use crate::edit::FormatChoice;
use crate::llm::{self, LlmError, OpenAi, Provider};
use crate::repo_map::{Refresh, TagGraph};
use crate::workspace::{self, Changed, Direction, Journal, Root, Watch};

/// A burst of keystrokes is measured once, this long after the last of them.
const DEBOUNCE: Duration = Duration::from_millis(120);

/// How long a turn waits for the survey before it goes without a map.
const SURVEY_PATIENCE: Duration = Duration::from_secs(10);

/// Carries out effects. Cheap to clone: all clones share one state.
#[derive(Clone)]
pub struct Runner {
    shared: Arc<Shared>,
    reports: mpsc::Sender<Report>,
}

struct Shared {
    root: Root,
    settings: Settings,
    line: RwLock<Option<Line>>,
    counter: RwLock<Arc<CachedCounter>>,
    survey: watch::Sender<Option<Arc<Survey>>>,
    newest_measure: AtomicU64,
    measuring: Mutex<()>,
    surveying: Mutex<Arc<AtomicBool>>,
    /// Surveys that run, those that were told to stop included.
    surveys: AtomicUsize,
    kept: KeptMap,
    /// What can be shown while the first survey goes on.
    sketch: Mutex<Option<Arc<TagGraph>>>,
    /// What changed on disk since the last survey began, as far as it was told.
    changed: Mutex<Changed>,
    /// The watch on the disk, while there is one.
    watch: Mutex<Option<Watch>>,
    turn: Mutex<CancellationToken>,
}

impl Runner {
    /// A runner for `root`. Reports go to `reports`; `line` is whom to ask, if anybody.
    pub fn new(root: Root, settings: Settings, line: Option<Line>, reports: mpsc::Sender<Report>) -> Self {
        let model = line.as_ref().map_or("", |line| &line.model);
        let shared = Shared {
            counter: RwLock::new(Arc::new(CachedCounter::for_model(model))),
            line: RwLock::new(line),
            survey: watch::Sender::new(None),
            newest_measure: AtomicU64::new(0),
            measuring: Mutex::default(),
            surveying: Mutex::default(),
            surveys: AtomicUsize::new(0),
            kept: KeptMap::default(),
            sketch: Mutex::default(),
            changed: Mutex::default(),
            watch: Mutex::default(),
            turn: Mutex::default(),
            root,
            settings,
        };
        Self { shared: Arc::new(shared), reports }
    }

    /// Starts carrying out an effect and returns at once.
    pub fn execute(&self, effect: Effect) {
        let runner = self.clone();
        match effect {
            Effect::Survey => {
                lock(&self.shared.changed).listing = true;
                runner.start_survey();
            }
            Effect::Follow(follow) => runner.follow(follow),
            Effect::Measure(order) => {
                self.shared.newest_measure.store(order.generation, Ordering::SeqCst);
                tokio::spawn(runner.measure(order));
            }
            Effect::Ask(order) => {
                let cancel = CancellationToken::new();
                *lock(&self.shared.turn) = cancel.clone();
                tokio::spawn(async move { runner.ask(order, cancel).await });
            }
            Effect::Cancel => lock(&self.shared.turn).cancel(),
            Effect::Propose { reply, mut earlier, files, request } => {
                earlier.push(reply);
                runner.blocking(Report::Failed, move |runner| runner.propose(&earlier, &files, request))
            }
            Effect::Write { files, message } => {
                let failed = |failure| Report::NotWritten { failure, stale: Vec::new() };
                runner.blocking(failed, move |runner| runner.write(&files, &message));
            }
            Effect::Unwrite(direction) => {
                let failed = move |failure| Report::Unwrote { direction, result: Err(failure) };
                runner.blocking(failed, move |runner| Report::Unwrote { direction, result: runner.unwrite(direction) });
            }
            Effect::Reread(paths) => paths.into_iter().for_each(|path| {
                runner.clone().blocking(Report::Failed, move |runner| {
                    let text = workspace::read(&runner.shared.root, &path).ok().map(|snapshot| snapshot.text);
                    Report::Reread { path, text }
                });
            }),
            Effect::CopyPrompt(order) => runner.blocking(Report::Failed, move |runner| {
                Report::PromptText(runner.compose(&order, false).prompt.as_text())
            }),
            Effect::FindServers => {
                tokio::spawn(async move { runner.report(Report::Servers(llm::local_servers().await)).await });
            }
            Effect::Connect { base_url, model } => self.connect(&base_url, model),
            Effect::UseModel(model) => self.use_model(model),
        }
    }

    async fn report(&self, report: Report) {
        // The face is gone when this fails; there is nobody left to tell.
        let _ = self.reports.send(report).await;
    }

    fn report_now(&self, report: Report) {
        let _ = self.reports.blocking_send(report);
    }

    /// Runs `work` on a thread that may block, and reports its result; if it panics, what `failed` makes of that.
    fn blocking(
        self,
        failed: impl FnOnce(Failure) -> Report + Send + 'static,
        work: impl FnOnce(&Self) -> Report + Send + 'static,
    ) {
        tokio::task::spawn_blocking(move || {
            let report = caught(|| work(&self)).unwrap_or_else(failed);
            self.report_now(report);
        });
    }

    fn write(&self, files: &[WriteOrder], message: &str) -> Report {
        let message = self.shared.settings.auto_commit.then_some(message);
        match write(&self.shared.root, self.journal().as_ref(), files, message) {
            Ok(written) => Report::Wrote(written),
            Err((failure, stale)) => Report::NotWritten { failure, stale },
        }
    }

    fn unwrite(&self, direction: Direction) -> Result<Written, Failure> {
        unwrite(&self.shared.root, self.journal().as_ref(), direction, self.shared.settings.auto_commit)
    }

    fn journal(&self) -> Option<Journal> {
        self.shared.settings.state_folder.as_deref().map(|state| Journal::new(state, &self.shared.root))
    }

    async fn measure(self, order: ContextOrder) {
        tokio::time::sleep(DEBOUNCE).await;
        let generation = order.generation;
        let current = move |runner: &Self| runner.shared.newest_measure.load(Ordering::SeqCst) == generation;
        if !current(&self) {
            return;
        }
        let runner = self.clone();
        tokio::task::spawn_blocking(move || {
            // One at a time: whoever waited here may be outdated by now.
            let _turn = lock(&runner.shared.measuring);
            if current(&runner) {
                let measured = caught(|| runner.compose(&order, true));
                runner.report_now(match measured {
                    Ok(view) => Report::Measured { generation, view },
                    Err(failure) => Report::Failed(failure),
                });
            }
        });
    }

    /// The next request as it would be sent now. With `or_guess`, a first guess at the map will do while there is no other.
    fn compose(&self, order: &ContextOrder, or_guess: bool) -> ContextView {
        let shared = &self.shared;
        let survey = shared.survey.borrow().clone();
        let sketch = lock(&shared.sketch).clone().filter(|_| or_guess);
        let known = survey.as_ref().map(|survey| MapSource {
            graph: &survey.graph,
            edited: &survey.edited,
            provisional: false,
        });
        let guess = sketch.as_ref().map(|graph| MapSource { graph, edited: &[], provisional: true });
        let source = known.or(guess);
        let counter = Arc::clone(&shared.counter.read().unwrap_or_else(PoisonError::into_inner));
        compose(&shared.root, source, order, &shared.settings, self.window(), &*counter, &shared.kept)
    }

    fn line(&self) -> Option<Line> {
        self.shared.line.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn window(&self) -> Window {
        let model = self.line().map_or_else(String::new, |line| line.model);
        self.shared.settings.window(&model)
    }

    async fn ask(self, order: ContextOrder, cancel: CancellationToken) {
        let turn = order.generation;
        let mut surveyed = self.shared.survey.subscribe();
        let ready = surveyed.wait_for(Option::is_some);
        tokio::select! {
            () = cancel.cancelled() => return,
            _ = tokio::time::timeout(SURVEY_PATIENCE, ready) => {}
        }
        let runner = self.clone();
        let composed = tokio::task::spawn_blocking(move || {
            caught(|| {
                if order.map_refresh == Refresh::Always {
                    lock(&runner.shared.changed).listing = true;
                    runner.survey(&AtomicBool::new(false));
                }
                runner.compose(&order, false)
            })
        })
        .await;
        let view = match composed {
            Ok(Ok(view)) => view,
            Ok(Err(failure)) => return self.report(Report::Unsent { turn, failure }).await,
            // The program is leaving.
            Err(_) => return,
        };
        if let Some(failure) = unsendable(&view) {
            return self.report(Report::Unsent { turn, failure }).await;
        }
        let Some(line) = self.line() else { return };
        let request = llm_request(&line.model, &view.prompt);
        let (events, mut arriving) = mpsc::channel(64);
        let forward = async {
            while let Some(event) = arriving.recv().await {
                self.report(Report::Stream { turn, event }).await;
            }
        };
        let (result, ()) = tokio::join!(line.provider.stream(request, cancel, events), forward);
        let result = result.map_err(|error| failure_of(&error));
        self.report(Report::Ended { turn, result }).await;
    }

    fn propose(&self, replies: &[String], files: &[ChatFile], request: String) -> Report {
        let survey = self.shared.survey.borrow().clone();
        let paths: Vec<String> = survey.iter().flat_map(|survey| &survey.files).map(|file| file.path.clone()).collect();
        let proposal = propose(&self.shared.root, &paths, files, replies, FormatChoice::Auto);
        Report::Proposed { request, proposal }
    }

    fn connect(&self, base_url: &str, model: String) {
        let runner = self.clone();
        match OpenAi::new(base_url, None) {
            Ok(provider) => {
                let host = provider.name();
                runner.set_line(Line::new(Arc::new(provider), model.clone()));
                tokio::spawn(async move { runner.report(Report::Connected { model, host }).await });
            }
            Err(error) => {
                let report = Report::Failed(failure_of(&error));
                tokio::spawn(async move { runner.report(report).await });
            }
        }
    }

    fn use_model(&self, model: String) {
        let Some(line) = self.line() else { return };
        let host = line.provider.name();
        self.set_line(Line { model: model.clone(), ..line });
        let runner = self.clone();
        tokio::spawn(async move { runner.report(Report::Connected { model, host }).await });
    }

    fn set_line(&self, line: Line) {
        let counter = Arc::new(CachedCounter::for_model(&line.model));
        *self.shared.counter.write().unwrap_or_else(PoisonError::into_inner) = counter;
        *self.shared.line.write().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }
}

/// Runs `work`; a panic in it, which is a fault of ours, becomes a failure to tell instead of the end of the program.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
        Failure {
            message: format!("Something in rhumb broke: {}.", text.unwrap_or("no more is known")),
            hint: "This is a fault of the program. Your files are as they were; save what you have and start again."
                .into(),
        }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The request for `model`.
pub fn llm_request(model: &str, prompt: &Prompt) -> llm::Request {
    llm::Request {
        model: model.to_owned(),
        messages: prompt.messages.clone(),
        max_output_tokens: None,
        temperature: None,
    }
}

/// Why a request must not be sent, if so: a file in it cannot be read, or it is too large for a window that we know.
pub fn unsendable(view: &ContextView) -> Option<Failure> {
    if let Some((path, reason)) = view.unreadable.first() {
        return Some(Failure {
            message: format!("Not sent, because {path} is in the chat and cannot be read: {reason}."),
            hint: format!("Mend it or take it out: /drop {path}."),
        });
    }
    let prompt = &view.prompt;
    if prompt.excess() == 0 || !prompt.window.known {
        return None;
    }
    let largest =
        prompt.parts.iter().filter(|part| part.kind != context::PartKind::System).max_by_key(|part| part.tokens);
    let hint = largest.map_or_else(String::new, |part| {
        format!("The largest part is {} with {} tokens: drop it, or /clear the history.", part.title, part.tokens)
    });
    Some(Failure {
        message: format!(
            "Not sent: the request has {} tokens, {} more than the model takes.",
            prompt.tokens,
            prompt.excess()
        ),
        hint,
    })
}

/// An error of a provider in words.
pub fn failure_of(error: &LlmError) -> Failure {
    let message = format!("{}.", error.to_string().trim_end_matches('.'));
    Failure { message, hint: error.hint().to_owned() }
}
