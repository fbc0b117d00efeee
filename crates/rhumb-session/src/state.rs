//! The session: everything that is known between two frames, and how reports change it. No I/O.

use std::sync::Arc;

use super::attachments::Attachments;
use super::codebase::Codebase;
use super::connect::{ConnectRequest, Connection, DEMO_HAS_NO_MODEL, ModelState};
use super::draft::Drafts;
use super::effect::{ContextView, Effect, Failure, Response};
use super::modes::Modes;
use super::notice::{Notice, Notices};
use super::persistence::Persistence;
use super::processes::Processes;
use super::proposal::Proposals;
use super::question::Questions;
use super::repository::Repository;
use super::repository::comment_watch::CommentWatch;
use super::repository::lookup::Known;
use super::request::NextRequest;
use super::request::chat_files::ChatFiles;
use super::request::history_summary::History;
use super::request::spending::Spending;
use super::transcript::{Answer, AnswerState, Entry, Level, Transcript};
use super::turn::{Turn, Turns};
use rhumb_llm::LocalServer;

/// A conversation with a model about a repository.
///
/// Each field is a component. Front ends read them through the methods of the session and change them only by its commands.
#[derive(Debug, Default)]
pub struct Session {
    pub(super) transcript: Transcript,
    pub(super) drafts: Drafts,
    pub(super) turns: Turns,
    pub(super) modes: Modes,
    pub(super) model: ModelState,
    pub(super) spending: Spending,
    pub(super) chat_files: ChatFiles,
    pub(super) attachments: Attachments,
    pub(super) next_request: NextRequest,
    pub(super) history: History,
    pub(super) codebase: Codebase,
    pub(super) proposals: Proposals,
    pub(super) processes: Processes,
    pub(super) repository: Repository,
    pub(super) comment_watch: CommentWatch,
    pub(super) lookups: Known,
    pub(super) persistence: Persistence,
    pub(super) questions: Questions,
    pub(super) notices: Notices,
}

/// Whether it is an answer of which nothing has arrived.
pub(super) fn is_silent(entry: &Entry) -> bool {
    matches!(entry, Entry::Answer(answer) if answer.text.is_empty() && answer.state == AnswerState::Streaming)
}

impl Session {
    /// Sets the names of the themes, for completion.
    pub fn set_theme_names(&mut self, names: Vec<String>) {
        self.lookups.themes = names;
    }

    /// Sets name and description of each setting, for completion.
    pub fn set_setting_names(&mut self, names: Vec<(String, String)>) {
        self.lookups.setting_names = names;
    }

    /// Applies a setting that counts for the running session. Returns `false` if `name` is not such a setting or `value` does not fit.
    pub fn apply_setting(&mut self, name: &str, value: &toml::Value) -> bool {
        let count = value.as_integer().and_then(|count| usize::try_from(count).ok());
        match (name, value.as_bool(), count) {
            ("suggest_commands", Some(on), _) => self.processes.suggestions = on,
            ("accept_plan", Some(on), _) => self.modes.rules_mut().accept_plan = on,
            ("edit_rounds", _, Some(rounds)) => self.proposals.set_max_retries(rounds),
            ("verify_rounds", _, Some(rounds)) => self.processes.max_rounds = rounds,
            _ => return false,
        }
        true
    }
}

impl Session {
    /// A new conversation, and the first effects.
    pub fn start(connection: Connection) -> (Self, Vec<Effect>) {
        let model = ModelState::new(connection, None, None, ConnectRequest::default());
        let mut session = Self { model, ..Self::default() };
        let measure = session.measure();
        (session, [vec![Effect::Survey], measure].concat())
    }

    /// Appends entries to the transcript: what was said elsewhere and belongs to this conversation.
    pub fn extend_transcript(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.transcript.extend(entries);
    }

    /// Says something in the transcript.
    pub fn tell(&mut self, level: Level, text: impl Into<String>, hint: impl Into<String>) {
        // A word about a request that is on its way stands above its answer.
        let at = self.told();
        self.transcript.insert(at, Entry::status(level, text, hint));
    }

    /// The number of entries at the start of the transcript before which nothing is inserted any more.
    pub fn told(&self) -> usize {
        self.transcript.len() - usize::from(self.transcript.last().is_some_and(is_silent))
    }

    pub(super) fn tell_failure(&mut self, level: Level, failure: Failure) {
        self.tell(level, failure.message, failure.hint);
    }

    /// Waits for the answer that `turn` is about.
    pub(super) fn begin(&mut self, turn: Turn) {
        let (text, reasoning, state) = (String::new(), String::new(), AnswerState::Streaming);
        self.transcript.push(Entry::Answer(Answer { text, reasoning, state, edits: Vec::new() }));
        self.turns.begin(turn);
    }

    /// Stops the running turn; what arrived stays.
    pub fn cancel(&mut self) -> Vec<Effect> {
        match self.turns.cancel() {
            Some(turn) => {
                self.hold_queue();
                if self.end_answer(Some("cancelled".into())).is_some() {
                    self.answered();
                } else {
                    self.give_back(&turn);
                }
                let mut effects = vec![Effect::Cancel];
                effects.extend(self.measure());
                effects
            }
            None => Vec::new(),
        }
    }

    /// Leaves the conversation so far out of later requests.
    pub fn clear_history(&mut self) -> Vec<Effect> {
        self.transcript.push(Entry::Cleared);
        self.drop_queue();
        self.codebase.clear();
        self.withdraw_offers();
        self.forget_mentioned();
        let stop = self.history.is_summarizing().then_some(Effect::CancelSummary);
        self.forget_summary();
        stop.into_iter().chain(self.measure()).collect()
    }

    /// Asks another model from now on.
    pub fn use_model(&mut self, name: String) -> Vec<Effect> {
        if *self.model.connection() == Connection::Demo {
            self.tell(Level::Warning, DEMO_HAS_NO_MODEL, "");
            return Vec::new();
        }
        vec![Effect::UseModel(name)]
    }

    /// Takes in an answer of the world.
    pub fn handle(&mut self, report: Response) -> Vec<Effect> {
        match report {
            Response::SurveyProgress { done, total } => {
                if self.repository.set_progress(done, total) {
                    self.update_search_status();
                }
            }
            Response::LeftOut { unread, total } => self.repository.set_left_out(unread, total),
            Response::Listed(paths) => return self.list(paths),
            Response::Surveyed { note } => {
                self.surveyed();
                if let Some(note) = note {
                    self.tell_failure(Level::Warning, note);
                }
                return self.measure();
            }
            Response::Sketched => return self.measure(),
            Response::Head(head) => self.repository.set_head(head),
            Response::Measured { generation, view } if generation == self.next_request.generation() => {
                return self.measured(view);
            }
            Response::Measured { .. } => {}
            Response::Asked { turn, event } => self.asked(turn, event),
            Response::Summarized { history, result } => return self.summary_ended(&history, result),
            Response::Ended { turn, result } => return self.ended(turn, result),
            Response::Proposed { request, proposal } => {
                self.proposals.end_locating();
                return self.proposed(request, proposal);
            }
            Response::NotProposed(failure) => {
                self.proposals.end_locating();
                failure.into_iter().for_each(|failure| self.tell_failure(Level::Error, failure));
            }
            Response::Watching(result) => self.watches(result),
            Response::Comments { path, found } => return self.commented(&path, &found),
            Response::Wrote(written) => return self.wrote(written),
            Response::Undone { direction, result } => return self.undone(direction, result),
            Response::BreaksSyntax(faults) => self.ask_about_syntax(faults),
            Response::NotRecorded(cause) => return self.ask_about_record(&cause),
            Response::NotWritten { failure, stale } => return self.not_written(failure, stale),
            Response::Reread { path, text } => self.reread(&path, text.as_deref()),
            Response::PromptText(text) => {
                let clip = self.prompt_clip(text);
                self.copy(clip);
            }
            Response::Symbols(graph) => self.repository.set_symbols(graph),
            Response::Codebase(report) => return self.codebase_response(report),
            Response::Mention(report) => return self.mention_found(report),
            Response::LookedUp(report) => return self.looked(report),
            Response::Indexing(report) => self.indexed(report),
            Response::Ran(report) => return self.ran(report),
            Response::Persisted(report) => return self.persisted(report),
            Response::Fetched(report) => return self.fetched(report),
            Response::Git(report) => return self.git(report),
            Response::Servers(servers) => self.found(servers),
            Response::Failed(failure) => self.tell_failure(Level::Error, failure),
            Response::Connecting(report) => self.connect_reported(report),
            Response::Connected { model, host, facts, notes } => {
                self.model.connect(model, host, facts);
                self.notices.push(Notice::Connected);
                self.next_request.model_changed();
                notes.into_iter().for_each(|note| self.tell_failure(Level::Warning, note));
                return self.measure();
            }
        }
        Vec::new()
    }

    /// The files are known; what was asked for before can be found now.
    fn list(&mut self, paths: Arc<Vec<String>>) -> Vec<Effect> {
        self.repository.set_paths(paths);
        let early = self.chat_files.take_waiting();
        let mut effects: Vec<Effect> =
            early.into_iter().flat_map(|(names, read_only)| self.add_files(&names, read_only)).collect();
        if self.turns.stop_waiting_for_files() {
            effects.extend(self.launch());
        }
        effects
    }

    fn measured(&mut self, view: ContextView) -> Vec<Effect> {
        for (path, reason) in &view.unreadable {
            self.chat_files.remove(path);
            self.attachments.drop_image(path);
            self.tell(Level::Error, format!("{path} was taken out of the chat: {reason}."), "");
        }
        self.tell_secrets(&view.prompt.secrets);
        let mut effects = self.summarize_if_long(&view.prompt);
        self.next_request.set_view(view);
        effects.extend(self.offer_drafted());
        effects
    }

    fn found(&mut self, servers: Vec<LocalServer>) {
        if servers.is_empty() {
            self.tell(
                Level::Info,
                "No model server answers on this machine (looked for Ollama, LM Studio, llama.cpp and vLLM).",
                "Start one and look again with /servers, or start rhumb with --base-url and --model.",
            );
        }
        if !servers.is_empty() {
            self.notices.push(Notice::ChooseServer(servers));
        }
    }
}
