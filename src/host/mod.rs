//! The runner: carries out what the session asks for, off the draw path, and reports back.
//!
//! This is the one place that joins the rooms of the world. The functions in its files are also what the commands without
//! the app call.

mod agents_file;
mod ask;
mod attachments;
mod codebase;
mod commit;
mod compose;
mod connect;
mod embedding_index;
mod history_summary;
mod lookup;
mod mentions;
mod notify;
mod persistence;
mod propose;
mod survey;
mod verify;
mod write;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use self::survey::{Survey, SurveyStart, SurveyStep, SurveyTimes, survey};
pub use ask::editor::editor_line;
pub use ask::{Asked, Compose, Question, ask, llm_request};
pub use codebase::{Assistant, Gathering, Ground, Known, gathered, is_wanted};
pub use commit::message::{message_line, messages};
pub use commit::pending::{Messages, Pending};
pub use compose::counter::CachedCounter;
pub use compose::map_cache::MapCache;
pub use compose::request_env::{Machine, RequestEnv, catalog};
pub use compose::{MapSource, Means, compose};
pub use connect::{ConnectError, Line, connect, connect_model, facts};
pub use embedding_index::search::{SearchMode, found, found_near, question_vector};
pub use embedding_index::{
    IndexControl, IndexError, IndexRequest, IndexStatus, IndexStep, Indexed, Meaning, embedder, embedding_price,
    estimate, index, known_meaning, may_send, model_folder,
};
pub use history_summary::weak_line;
pub use lookup::doctor::{Check, Health, KEYS, checks_text, checkup, server_check};
pub use mentions::MentionLookup;
pub use persistence::store::map_store;
pub use propose::{propose, propose_alone};
pub use survey::surveying::unread_rules;
pub use verify::output::{SharedOutput, shared_output};
pub use verify::processes::output_budget;
pub use verify::{Bench, CommandEvent, check};
pub use write::{NotWritten, WriteOutcome, faults_of, recovered, undo_preview, unwrite, write};

use self::attachments::Fetching;
use commit::Commits;
use history_summary::SummaryRequest;
use rhumb_edit::PendingChanges;
use rhumb_index::repo_map::TagGraph;
use rhumb_llm::Endpoint;
use rhumb_llm::HttpProvider;
use rhumb_llm::models::{Api, Model};
use rhumb_session::context::Window;
use rhumb_session::{ChatFile, ContextView, Effect, EffectKind, Failure, MAP_BUDGET_STEP, RequestSpec, Response};
use rhumb_workspace::{DiskChanges, Journal, Root, Watch};

/// A burst of keystrokes is measured once, this long after the last of them.
const DEBOUNCE: Duration = Duration::from_millis(120);

/// How long a turn waits for the survey before it goes without a map.
const SURVEY_PATIENCE: Duration = Duration::from_secs(10);

/// Carries out effects. Cheap to clone: all clones share one state.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
    reports: mpsc::Sender<Response>,
}

struct Shared {
    root: Root,
    outfit: RequestEnv,
    line: RwLock<Option<Line>>,
    counter: RwLock<Arc<CachedCounter>>,
    survey: watch::Sender<Option<Arc<Survey>>>,
    newest_measure: AtomicU64,
    /// The newest question of the map's filter.
    newest_sift: AtomicU64,
    /// The newest question of the search as it is typed.
    newest_search: AtomicU64,
    measuring: Mutex<()>,
    surveying: Mutex<Arc<AtomicBool>>,
    /// Whether what is read of the repository so far is enough.
    enough: AtomicBool,
    /// Surveys that run, those that were told to stop included.
    surveys: AtomicUsize,
    kept: MapCache,
    /// What can be shown while the first survey goes on.
    sketch: Mutex<Option<Arc<TagGraph>>>,
    /// What changed on disk since the last survey began, as far as it was told.
    changed: Mutex<DiskChanges>,
    /// The watch on the disk, while there is one.
    watch: Mutex<Option<Watch>>,
    turn: Mutex<CancellationToken>,
    /// Stops the summary of the history that is being made.
    folding: Mutex<CancellationToken>,
    /// Whether comments for the model are looked for in what is saved.
    comments: AtomicBool,
    /// What is on its way from outside.
    fetching: Fetching,
    jobs: verify::processes::Jobs,
    keeper: persistence::Keeper,
    commits: Commits,
    indexing: embedding_index::Indexing,
    /// Whether what later requests need is prepared in the background: a first guess at the map, the index of embeddings.
    prepares: bool,
}

impl Host {
    /// A runner for a conversation about `root`. Reports go to `reports`; `line` is the connected model, if there is one.
    pub fn new(root: Root, outfit: RequestEnv, line: Option<Line>, reports: mpsc::Sender<Response>) -> Self {
        Self::create(root, outfit, line, reports, true)
    }

    /// A runner for one request, after which the program ends: nothing is prepared for requests that follow.
    pub fn for_one_request(
        root: Root,
        outfit: RequestEnv,
        line: Option<Line>,
        reports: mpsc::Sender<Response>,
    ) -> Self {
        Self::create(root, outfit, line, reports, false)
    }

    fn create(
        root: Root,
        outfit: RequestEnv,
        line: Option<Line>,
        reports: mpsc::Sender<Response>,
        prepares: bool,
    ) -> Self {
        let unknown = Model::unknown("");
        let counter = outfit.counter(line.as_ref().map_or(&unknown, |line| &line.facts));
        let shared = Shared {
            counter: RwLock::new(Arc::new(counter)),
            line: RwLock::new(line),
            survey: watch::Sender::new(None),
            newest_measure: AtomicU64::new(0),
            newest_sift: AtomicU64::new(0),
            newest_search: AtomicU64::new(0),
            measuring: Mutex::default(),
            surveying: Mutex::default(),
            enough: AtomicBool::new(false),
            surveys: AtomicUsize::new(0),
            kept: MapCache::default(),
            sketch: Mutex::default(),
            changed: Mutex::default(),
            watch: Mutex::default(),
            turn: Mutex::default(),
            folding: Mutex::default(),
            comments: AtomicBool::new(false),
            fetching: Fetching::default(),
            jobs: verify::processes::Jobs::default(),
            keeper: persistence::Keeper::default(),
            commits: Commits::default(),
            indexing: embedding_index::Indexing::default(),
            prepares,
            root,
            outfit,
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
            Effect::StopIndexing => runner.stop_reading(),
            Effect::ResumeIndexing => runner.read_on(),
            Effect::WatchFiles(follow) => runner.follow(follow),
            Effect::WatchComments(watch) => drop(tokio::spawn(runner.watch_comments(watch))),
            Effect::Measure(order) => {
                self.shared.newest_measure.store(order.generation, Ordering::SeqCst);
                tokio::spawn(runner.measure(*order));
            }
            Effect::Ask(order) => {
                runner.begin_diff(&order);
                let cancel = CancellationToken::new();
                // Whatever the turn before still does, such as keeping a cache warm, ends here.
                std::mem::replace(&mut *lock(&self.shared.turn), cancel.clone()).cancel();
                tokio::spawn(async move { runner.ask(*order, cancel).await });
            }
            Effect::Summarize { history, limit, allowance, weak_model, compact } => {
                let cancel = CancellationToken::new();
                lock(&self.shared.folding).clone_from(&cancel);
                let order = SummaryRequest { limit, allowance, chosen: weak_model, compact };
                tokio::spawn(runner.fold(history, order, cancel));
            }
            Effect::CancelSummary => lock(&self.shared.folding).cancel(),
            Effect::Cancel => lock(&self.shared.turn).cancel(),
            Effect::Propose { reply, pending, mut earlier, answers, files, request } => {
                earlier.push(reply);
                let failed = |failure| Response::NotProposed(Some(failure));
                runner.blocking(failed, move |runner| {
                    let replies: Vec<_> = answers.into_iter().zip(earlier).collect();
                    runner.propose(&pending, &replies, &files, request)
                })
            }
            Effect::Write { files, commit, consent } => runner.write_and_commit(files, commit, consent),
            Effect::Undo(direction) => runner.unwrite_in_turn(direction),
            Effect::Reread(paths) => paths.into_iter().for_each(|path| {
                runner.clone().blocking(EffectKind::Reread.failed(), move |runner| {
                    let text = rhumb_workspace::read(&runner.shared.root, &path).ok().map(|snapshot| snapshot.text);
                    Response::Reread { path, text }
                });
            }),
            Effect::CopyPrompt(order) => runner.blocking(EffectKind::CopyPrompt.failed(), move |runner| {
                Response::PromptText(runner.compose(&order, false, None).prompt.as_text())
            }),
            Effect::FindServers => {
                tokio::spawn(async move { runner.report(Response::Servers(rhumb_llm::local_servers().await)).await });
            }
            Effect::Connect { api, base_url, model } => self.connect(api, &base_url, model),
            Effect::UseModel(model) => runner.use_model(model),
            Effect::Connecting(order) => runner.connecting(order),
            Effect::Notify(text) => runner.notify(text),
            Effect::Codebase(order) => runner.search_codebase(order),
            Effect::Mention(order) => runner.mention(order),
            Effect::Lookup(order) => runner.look(order),
            Effect::Index(command) => runner.index_command(command),
            Effect::Run(order) => runner.run_order(order),
            Effect::Persist(order) => self.keep(order),
            Effect::Fetch(order) => runner.fetch(order),
            Effect::Git(order) => runner.git(order),
        }
    }

    async fn report(&self, report: Response) {
        // The face is gone when this fails; there is nobody left to tell.
        let _ = self.reports.send(report).await;
    }

    fn report_now(&self, report: Response) {
        let _ = self.reports.blocking_send(report);
    }

    /// Runs `work` on a thread that may block, and reports its result; if it panics, what `failed` makes of that.
    fn blocking(
        self,
        failed: impl FnOnce(Failure) -> Response + Send + 'static,
        work: impl FnOnce(&Self) -> Response + Send + 'static,
    ) {
        tokio::task::spawn_blocking(move || {
            let report = caught(|| work(&self)).unwrap_or_else(failed);
            self.report_now(report);
        });
    }

    fn journal(&self) -> Option<Journal> {
        self.shared.outfit.settings.state_folder.as_deref().map(|state| Journal::new(state, &self.shared.root))
    }

    async fn measure(self, order: RequestSpec) {
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
                let measured = caught(|| {
                    let view = runner.compose(&order, true, None);
                    // For the line that says what more tokens would bring.
                    if let Some(map) = view.map.as_ref().filter(|map| map.budget > 0) {
                        map.forecast_growth(MAP_BUDGET_STEP, runner.counter().as_ref());
                    }
                    view
                });
                runner.report_now(match measured {
                    Ok(view) => Response::Measured { generation, view },
                    Err(failure) => Response::Failed { effect: EffectKind::Measure, failure },
                });
            }
        });
    }

    /// The next request as it would be sent now. With `or_guess`, a first guess at the map will do while there is no other; with a
    /// `limit`, it has at most so many input tokens.
    fn compose(&self, order: &RequestSpec, or_guess: bool, limit: Option<usize>) -> ContextView {
        let model = self.line().map_or_else(|| Arc::new(Model::unknown("")), |line| line.facts);
        self.compose_for(order, or_guess, limit, (&model, &self.counter()))
    }

    /// The same for that model, whose tokens are counted with that counter.
    fn compose_for(
        &self,
        order: &RequestSpec,
        or_guess: bool,
        limit: Option<usize>,
        (model, counter): (&Model, &CachedCounter),
    ) -> ContextView {
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
        let means = Means {
            outfit: &shared.outfit,
            model,
            window: limit.map_or_else(|| shared.outfit.window(model), Window::holding),
            counter,
            kept: &shared.kept,
        };
        compose(&shared.root, source, order, &means)
    }

    /// The request as it would be sent now.
    pub async fn composed_now(self, order: RequestSpec) -> ContextView {
        let composed = tokio::task::spawn_blocking(move || self.compose(&order, false, None)).await;
        composed.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// The editor of the settings, if they name one.
    pub fn editor(&self) -> Option<String> {
        self.shared.outfit.settings.editor.clone()
    }

    fn counter(&self) -> Arc<CachedCounter> {
        Arc::clone(&self.shared.counter.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the connected model can be asked at all; false where its key is missing.
    pub fn is_ready(&self) -> bool {
        self.line().is_some_and(|line| line.provider.ready().is_ok())
    }

    fn line(&self) -> Option<Line> {
        self.shared.line.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `replies` are those of the session with that number.
    fn propose(
        &self,
        standing: &PendingChanges,
        replies: &[(Option<usize>, String)],
        files: &[ChatFile],
        request: String,
    ) -> Response {
        let survey = self.shared.survey.borrow().clone();
        let paths: Vec<String> = survey.iter().flat_map(|survey| &survey.files).map(|file| file.path.clone()).collect();
        let proposal = propose::propose_upon(standing, &self.shared.root, &paths, files, replies);
        Response::Proposed { request, proposal }
    }

    fn connect(&self, api: Api, base_url: &str, model: String) {
        let runner = self.clone();
        match HttpProvider::new(&Endpoint::without_key(api, base_url, &model)) {
            Ok(provider) => {
                let report = runner.set_line(Line::new(Arc::new(provider), model));
                tokio::spawn(async move { runner.report(report).await });
            }
            Err(error) => {
                let report = Response::Failed { effect: EffectKind::Connect, failure: Failure::from(&error) };
                tokio::spawn(async move { runner.report(report).await });
            }
        }
    }

    /// Counts for that model, with what was learnt of it, from now on.
    fn set_counter(&self, model: &Model) {
        let counter = Arc::new(self.shared.outfit.counter(model));
        *self.shared.counter.write().unwrap_or_else(PoisonError::into_inner) = counter;
    }

    /// Asks there from now on; what to tell of it.
    fn set_line(&self, line: Line) -> Response {
        let (host, facts) = (line.provider.name(), Arc::clone(&line.facts));
        let note = |(message, hint): &(String, String)| Failure { message: message.clone(), hint: hint.clone() };
        let notes = line.notes.iter().map(note).collect();
        let model = line.model.clone();
        self.set_counter(&facts);
        *self.shared.line.write().unwrap_or_else(PoisonError::into_inner) = Some(line);
        Response::Connected { model, host, facts, notes }
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

/// Files that are offered when one has to be taken out.
const MOST_CHOICES: usize = 3;

/// Why a request must not be sent, if so: a file in it cannot be read, or it is too large for a window that we know.
pub fn unsendable(view: &ContextView) -> Option<Failure> {
    if let Some((path, reason)) = view.unreadable.first() {
        return Some(Failure {
            message: format!("Not sent, because {path} is in the chat and cannot be read: {reason}."),
            hint: format!("Mend it or take it out: /drop {path}."),
        });
    }
    let prompt = &view.prompt;
    let overfull = prompt.overfull.as_ref()?;
    let mut ways = Vec::new();
    if overfull.head > 0 && overfull.head_suffices {
        ways.push("/clear the history".to_owned());
    }
    let largest = overfull.candidates.iter().take(MOST_CHOICES);
    let files: Vec<_> = largest.map(|file| format!("/drop {} ({} tokens)", file.path, file.tokens)).collect();
    if !files.is_empty() {
        ways.push(format!("choose a file to take out: {}", files.join(", ")));
    }
    if ways.is_empty() {
        ways.push("say it in fewer words, or /clear the history".to_owned());
    }
    Some(Failure {
        message: format!(
            "Not sent: the request has {} tokens, {} more than the model takes.",
            prompt.tokens, overfull.excess
        ),
        hint: format!("{}.", sentence(&ways.join(", or "))),
    })
}

/// The text with a capital at its beginning.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_ours_in_the_background_becomes_a_word_to_the_user() {
        for fault in [|| panic!("the sails are torn"), || std::panic::panic_any("the sails are torn".to_owned())] {
            let failure = caught::<()>(fault).unwrap_err();
            assert!(failure.message.contains("the sails are torn") && failure.hint.contains("fault of the program"));
        }
        assert!(caught::<()>(|| std::panic::panic_any(7)).is_err());
        assert_eq!(caught(|| 7).ok(), Some(7));
    }
}
