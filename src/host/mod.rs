//! The host performs the effects that the session asks for, off the draw path, and sends the responses.
//!
//! It is the only module that combines configuration, store, network and repository. The commands without the app call its
//! functions directly.

mod agent;
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
mod responses;
mod shutdown;
mod survey;
mod trial;
mod verify;
mod write;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub use self::survey::{Survey, SurveyStart, SurveyStep, SurveyTimes, survey};
pub use ask::{Answer, AskParams, ComposeFn, ask, llm_request, turn::editor_client};
pub use codebase::{Assistant, EmbeddingIndex, PassageSource, SearchEvent, find_passages, is_enabled};
pub use commit::pending::{CommitMessages, PendingCommits};
pub use compose::counter::CachedCounter;
pub use compose::map_cache::MapCache;
pub use compose::request_env::{Machine, RequestEnv, catalog};
pub use compose::{ComposeContext, MapSource, compose};
pub use connect::{ConnectError, ModelClient, connect, connect_model, facts};
pub use embedding_index::search::{SearchMode, question_vector, search_survey, search_with_vector};
pub use embedding_index::{
    IndexControl, IndexError, IndexRequest, IndexStatus, IndexStep, Indexed, PassageVectors, embedder, embedding_price,
    estimate, index, load_vectors, may_send, model_folder,
};
pub use history_summary::weak_client;
pub use lookup::doctor::{Check, Health, KEYS, checks_text, checkup, server_check};
pub use mentions::MentionLookup;
pub use persistence::map_store;
pub use propose::propose_alone;
pub use responses::HostMessage;
pub use shutdown::{SAVE_DELAY, StopCommandsOnDrop, is_writing};
pub use survey::refresh::unread_rules;
pub use trial::{TrialSetup, changes_of, isolation_notes, trial_hint};
pub use verify::processes::{SharedOutput, environment, masks, output_budget, shared_output};
pub use verify::{CheckContext, CommandEvent, check};
pub use write::{NotWritten, WriteOutcome, new_syntax_faults, recovered, undo, undo_preview, write};

use self::attachments::FetchControl;
use commit::Commits;
use connect::local_endpoint;
use history_summary::SummaryRequest;
use responses::Responder;
use rhumb_edit::PendingChanges;
use rhumb_index::repo_map::TagGraph;
use rhumb_llm::HttpProvider;
use rhumb_llm::models::{Api, Model};
use rhumb_session::context::Window;
use rhumb_session::{
    ChatFile, ContextView, Effect, EffectKind, Failure, MAP_BUDGET_STEP, RequestId, RequestSpec, Response,
};
use rhumb_workspace::{DiskChanges, Journal, Root, Watch};

/// Delay after the last keystroke before the request is measured.
const DEBOUNCE: Duration = Duration::from_millis(120);

/// How long a turn waits for the survey. After that it is sent without a map.
const SURVEY_TIMEOUT: Duration = Duration::from_secs(10);

/// Performs effects. Cheap to clone: all clones share one state.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
    responder: Responder,
}

struct Shared {
    effects: AtomicU64,
    /// For work without an effect.
    background: Responder,
    root: Root,
    env: RequestEnv,
    client: RwLock<Option<ModelClient>>,
    counter: RwLock<Arc<CachedCounter>>,
    survey: watch::Sender<Option<Arc<Survey>>>,
    newest: Newest,
    /// Held while a request is measured: one at a time.
    measuring: Mutex<()>,
    survey_state: SurveyState,
    map_cache: MapCache,
    turn: Mutex<CancellationToken>,
    summary_cancel: Mutex<CancellationToken>,
    /// Whether saved files are searched for comments to the model.
    comments: AtomicBool,
    fetch_control: FetchControl,
    running_jobs: verify::processes::RunningJobs,
    agent: agent::AgentState,
    /// The trial checkout of the session, made by the first trial.
    trial: Mutex<Option<rhumb_trial::Trial>>,
    session_thread: persistence::SessionThread,
    commits: Commits,
    indexing: embedding_index::Indexing,
    /// Whether data for later requests is prepared in the background: a provisional map, and the embedding index.
    prepares: bool,
}

/// The numbers of the latest requests of a kind. Work for earlier ones is dropped.
#[derive(Default)]
struct Newest {
    /// The generation of the latest [`Effect::Measure`].
    measure: AtomicU64,
    /// The number of the latest query of the map filter.
    filter: AtomicU64,
    /// The number of the latest query of the search as you type.
    search: AtomicU64,
}

#[derive(Default)]
struct SurveyState {
    cancel: Mutex<Arc<AtomicBool>>,
    /// Whether the user stopped the first survey early.
    stop_reading: AtomicBool,
    /// Number of running surveys, including cancelled ones that have not ended yet.
    surveys: AtomicUsize,
    /// The provisional map of the first survey.
    sketch: Mutex<Option<Arc<TagGraph>>>,
    /// Changes on disk since the start of the last survey.
    changed: Mutex<DiskChanges>,
    /// The file watcher; `None` while changes are not followed.
    watch: Mutex<Option<Watch>>,
}

impl Host {
    /// A host for a conversation about `root`. It sends responses to `messages`; `client` is the connected model, if any.
    pub fn new(root: Root, env: RequestEnv, client: Option<ModelClient>, messages: mpsc::Sender<HostMessage>) -> Self {
        Self::create(root, env, client, messages, true)
    }

    /// A host for a single request: prepares nothing for later ones.
    pub fn for_one_request(
        root: Root,
        env: RequestEnv,
        client: Option<ModelClient>,
        messages: mpsc::Sender<HostMessage>,
    ) -> Self {
        Self::create(root, env, client, messages, false)
    }

    fn create(
        root: Root,
        env: RequestEnv,
        client: Option<ModelClient>,
        messages: mpsc::Sender<HostMessage>,
        prepares: bool,
    ) -> Self {
        let unknown = Model::unknown("");
        let counter = env.counter(client.as_ref().map_or(&unknown, |client| &client.facts));
        let background = Responder::new(messages);
        let responder = background.clone();
        let shared = Shared {
            effects: AtomicU64::new(0),
            background,
            counter: RwLock::new(Arc::new(counter)),
            client: RwLock::new(client),
            survey: watch::Sender::new(None),
            newest: Newest::default(),
            measuring: Mutex::default(),
            survey_state: SurveyState::default(),
            map_cache: MapCache::default(),
            turn: Mutex::default(),
            summary_cancel: Mutex::default(),
            comments: AtomicBool::new(false),
            fetch_control: FetchControl::default(),
            running_jobs: verify::processes::RunningJobs::default(),
            agent: agent::AgentState::default(),
            trial: Mutex::default(),
            session_thread: persistence::SessionThread::default(),
            commits: Commits::default(),
            indexing: embedding_index::Indexing::default(),
            prepares,
            root,
            env,
        };
        Self { shared: Arc::new(shared), responder }
    }

    /// This host, for work that continues after the effect that started it.
    fn background(&self) -> Self {
        Self { responder: self.shared.background.clone(), ..self.clone() }
    }

    /// Starts performing an effect and returns at once. The messages about it have the returned id.
    pub fn execute(&self, effect: Effect) -> RequestId {
        let (id, responder) = self.responder.next(&self.shared.effects);
        let host = Self { responder, ..self.clone() };
        match effect {
            Effect::Survey => {
                lock(&self.shared.survey_state.changed).listing = true;
                host.start_survey();
            }
            Effect::StopIndexing => host.stop_reading(),
            Effect::ResumeIndexing => host.read_on(),
            Effect::WatchFiles(follow) => host.follow(follow),
            Effect::WatchComments(watch) => drop(tokio::spawn(host.watch_comments(watch))),
            Effect::Measure(spec) => {
                self.shared.newest.measure.store(spec.generation, Ordering::SeqCst);
                tokio::spawn(host.measure(*spec));
            }
            Effect::Ask(spec) => {
                host.mark_diff_start(&spec);
                let cancel = CancellationToken::new();
                // Ends the work of the previous turn, such as cache pings.
                std::mem::replace(&mut *lock(&self.shared.turn), cancel.clone()).cancel();
                tokio::spawn(async move { host.ask(*spec, cancel).await });
            }
            Effect::Summarize { history, limit, allowance, weak_model, compact } => {
                let cancel = CancellationToken::new();
                lock(&self.shared.summary_cancel).clone_from(&cancel);
                let request = SummaryRequest { limit, allowance, chosen: weak_model, compact };
                tokio::spawn(host.summarize(history, request, cancel));
            }
            Effect::CancelSummary => lock(&self.shared.summary_cancel).cancel(),
            Effect::Cancel => {
                lock(&self.shared.turn).cancel();
                self.shared.agent.cancel();
            }
            Effect::Propose { reply, pending, mut earlier, answers, files, request } => {
                earlier.push(reply);
                let failed = |failure| Response::NotProposed(Some(failure));
                host.blocking(failed, move |host| {
                    let replies: Vec<_> = answers.into_iter().zip(earlier).collect();
                    host.propose(&pending, &replies, &files, request)
                })
            }
            Effect::Write { files, commit, consent } => host.write_and_commit(files, commit, consent),
            Effect::Undo(direction) => host.undo_in_turn(direction),
            Effect::Reread(paths) => paths.into_iter().for_each(|path| {
                host.clone().blocking(EffectKind::Reread.failed(), move |host| {
                    let text = rhumb_workspace::read(&host.shared.root, &path).ok().map(|snapshot| snapshot.text);
                    Response::Reread { path, text }
                });
            }),
            Effect::CopyPrompt(spec) => host.blocking(EffectKind::CopyPrompt.failed(), move |host| {
                Response::PromptText(host.compose(&spec, false, None).prompt.as_text())
            }),
            Effect::FindServers => {
                tokio::spawn(async move { host.respond(Response::Servers(rhumb_llm::local_servers().await)).await });
            }
            Effect::Connect { api, base_url, model } => host.connect(api, &base_url, model),
            Effect::UseModel(model) => host.use_model(model),
            Effect::Connecting(effect) => host.connecting(effect),
            Effect::Notify(text) => host.notify(text),
            Effect::Codebase(search) => host.search_codebase(search),
            Effect::Mention(effect) => host.mention(effect),
            Effect::Lookup(effect) => host.look_up(effect),
            Effect::Index(effect) => host.index_effect(effect),
            Effect::Run(effect) => host.run_commands(effect),
            Effect::Agent(effect) => host.agent(effect),
            Effect::Persist(effect) => host.persist(effect),
            Effect::Fetch(effect) => host.fetch(effect),
            Effect::Git(effect) => host.git(effect),
        }
        id
    }

    async fn respond(&self, response: Response) {
        self.responder.send(response).await;
    }

    fn respond_now(&self, response: Response) {
        self.responder.send_blocking(response);
    }

    /// Runs `work` on a thread that may block, and sends its response; after a panic, the one that `failed` returns.
    fn blocking(
        self,
        failed: impl FnOnce(Failure) -> Response + Send + 'static,
        work: impl FnOnce(&Self) -> Response + Send + 'static,
    ) {
        tokio::task::spawn_blocking(move || {
            let response = caught(|| work(&self)).unwrap_or_else(failed);
            self.respond_now(response);
        });
    }

    fn journal(&self) -> Option<Journal> {
        self.shared.env.settings.state_folder.as_deref().map(|state| Journal::new(state, &self.shared.root))
    }

    async fn measure(self, spec: RequestSpec) {
        tokio::time::sleep(DEBOUNCE).await;
        let generation = spec.generation;
        let is_newest = move |host: &Self| host.shared.newest.measure.load(Ordering::SeqCst) == generation;
        if !is_newest(&self) {
            return;
        }
        tokio::task::spawn_blocking(move || {
            let _measuring = lock(&self.shared.measuring);
            // A newer request may have arrived while this thread waited for the lock.
            if !is_newest(&self) {
                return;
            }
            let measured = caught(|| {
                let view = self.compose(&spec, true, None);
                // Computed here, off the draw path: the front end shows what a larger budget would add.
                if let Some(map) = view.map.as_ref().filter(|map| map.budget > 0) {
                    map.forecast_growth(MAP_BUDGET_STEP, self.counter().as_ref());
                }
                view
            });
            self.respond_now(match measured {
                Ok(view) => Response::Measured { generation, view },
                Err(failure) => Response::Failed { effect: EffectKind::Measure, failure },
            });
        });
    }

    /// The next request as it would be sent now. With `provisional`, a provisional map is used while there is no other. With a
    /// `limit`, the request has at most that many input tokens.
    fn compose(&self, spec: &RequestSpec, provisional: bool, limit: Option<usize>) -> ContextView {
        self.compose_for(spec, provisional, limit, (&self.model(), &self.counter()))
    }

    /// As [`Self::compose`], for the given model and its counter.
    fn compose_for(
        &self,
        spec: &RequestSpec,
        provisional: bool,
        limit: Option<usize>,
        (model, counter): (&Model, &CachedCounter),
    ) -> ContextView {
        let shared = &self.shared;
        let survey = shared.survey.borrow().clone();
        let sketch = lock(&shared.survey_state.sketch).clone().filter(|_| provisional);
        let surveyed = survey.as_ref().map(|survey| MapSource {
            graph: &survey.graph,
            edited: &survey.edited,
            provisional: false,
        });
        let sketched = sketch.as_ref().map(|graph| MapSource { graph, edited: &[], provisional: true });
        let context = ComposeContext {
            env: &shared.env,
            model,
            window: limit.map_or_else(|| shared.env.window(model), Window::holding),
            counter,
            map_cache: &shared.map_cache,
        };
        compose(&shared.root, surveyed.or(sketched), spec, &context)
    }

    /// The request as it would be sent now.
    pub async fn composed_now(self, spec: RequestSpec) -> ContextView {
        let composed = tokio::task::spawn_blocking(move || self.compose(&spec, false, None)).await;
        composed.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// The editor in the settings, if there is one.
    pub fn editor(&self) -> Option<String> {
        self.shared.env.settings.editor.clone()
    }

    fn counter(&self) -> Arc<CachedCounter> {
        Arc::clone(&self.shared.counter.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn client(&self) -> Option<ModelClient> {
        self.shared.client.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The connected model. Without a connection, an unknown model without a name.
    fn model(&self) -> Arc<Model> {
        self.client().map_or_else(|| Arc::new(Model::unknown("")), |client| client.facts)
    }

    /// Waits for the first survey, up to [`SURVEY_TIMEOUT`].
    async fn wait_for_survey(&self) {
        let mut surveyed = self.shared.survey.subscribe();
        let _ = tokio::time::timeout(SURVEY_TIMEOUT, surveyed.wait_for(Option::is_some)).await;
    }

    /// Each of `replies` has its number among the answers of the session; `None` for other replies.
    fn propose(
        &self,
        pending: &PendingChanges,
        replies: &[(Option<usize>, String)],
        files: &[ChatFile],
        request: String,
    ) -> Response {
        let survey = self.shared.survey.borrow().clone();
        let paths: Vec<String> = survey.iter().flat_map(|survey| &survey.files).map(|file| file.path.clone()).collect();
        let proposal = propose::propose_upon(pending, &self.shared.root, &paths, files, replies);
        Response::Proposed { request, proposal }
    }

    fn connect(self, api: Api, base_url: &str, model: String) {
        let response = match HttpProvider::new(&local_endpoint(api, base_url, &model)) {
            Ok(provider) => {
                let catalog = &self.shared.env.catalog;
                self.set_client(ModelClient::unconfigured(catalog, Arc::new(provider), model))
            }
            Err(error) => Response::Failed { effect: EffectKind::Connect, failure: Failure::from(&error) },
        };
        tokio::spawn(async move { self.respond(response).await });
    }

    /// Counts tokens for `model` from now on, with its calibration.
    fn set_counter(&self, model: &Model) {
        let counter = Arc::new(self.shared.env.counter(model));
        *self.shared.counter.write().unwrap_or_else(PoisonError::into_inner) = counter;
    }

    /// Uses `client` from now on, and returns the response that reports it.
    fn set_client(&self, client: ModelClient) -> Response {
        let note = |(message, hint): &(String, String)| Failure { message: message.clone(), hint: hint.clone() };
        let response = Response::Connected {
            model: client.model.clone(),
            host: client.provider.name(),
            facts: Arc::clone(&client.facts),
            notes: client.notes.iter().map(note).collect(),
        };
        self.set_counter(&client.facts);
        *self.shared.client.write().unwrap_or_else(PoisonError::into_inner) = Some(client);
        response
    }
}

/// Runs `work` on a thread that may block.
async fn on_blocking_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(move || caught(work)).await;
    // Fails only when the program ends.
    done.unwrap_or_else(|error| Err(Failure::new(format!("{error}."), "")))
}

/// Runs `work`. A panic in it is a bug of the program; it becomes a failure, and the program continues.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
        Failure {
            message: format!("rhumb has a bug: {}.", text.unwrap_or("the cause is unknown")),
            hint: "Your files were not changed. Save your work and start rhumb again. /bug writes a report.".into(),
        }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of files that are suggested for removal when the request is too long.
const MAX_CHOICES: usize = 3;

/// Why a request must not be sent: a file in it cannot be read, or it does not fit a known context window.
pub fn unsendable(view: &ContextView) -> Option<Failure> {
    if let Some((path, reason)) = view.unreadable.first() {
        return Some(Failure {
            message: format!("Not sent, because {path} is in the chat and cannot be read: {reason}."),
            hint: format!("Correct the file, or remove it from the chat: /drop {path}."),
        });
    }
    let prompt = &view.prompt;
    let oversized = prompt.oversized.as_ref()?;
    let mut ways = Vec::new();
    if oversized.head > 0 && oversized.head_suffices {
        ways.push("/clear the history".to_owned());
    }
    let largest = oversized.droppable_files.iter().take(MAX_CHOICES);
    let files: Vec<_> = largest.map(|file| format!("/drop {} ({} tokens)", file.path, file.tokens)).collect();
    if !files.is_empty() {
        ways.push(format!("remove a file: {}", files.join(", ")));
    }
    if ways.is_empty() {
        ways.push("shorten the message, or /clear the history".to_owned());
    }
    Some(Failure::new(
        format!("Not sent: the request has {} tokens, {} more than the model takes.", prompt.tokens, oversized.excess),
        format!("{}.", sentence(&ways.join(", or "))),
    ))
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
        for panics in [|| panic!("the sails are torn"), || std::panic::panic_any("the sails are torn".to_owned())] {
            let failure = caught::<()>(panics).unwrap_err();
            assert!(failure.message.contains("the sails are torn") && failure.hint.contains("not changed"));
        }
        assert!(caught::<()>(|| std::panic::panic_any(7)).is_err());
        assert_eq!(caught(|| 7).ok(), Some(7));
    }
}
