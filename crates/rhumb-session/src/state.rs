//! The session: everything that is known between two frames, and how reports change it. No I/O.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::attachments::Attachments;
use super::codebase::Codebase;
use super::connect::{Connecting, DEMO_HAS_NO_MODEL};
use super::effect::{ContextView, Effect, Failure, Response};
use super::modes::{ModeRules, Waiting};
use super::notice::{Notice, Notices};
use super::persistence::Persistence;
use super::processes::Processes;
use super::proposal::commits::Commits;
use super::proposal::edit_retries::EditRetries;
use super::question::Questions;
use super::repository::comment_watch::CommentWatch;
use super::repository::embedding_index::IndexState;
use super::repository::lookup::Known;
use super::request::chat_files::ChatFile;
use super::request::history_summary::History;
use super::request::map_choices::MapState;
use super::request::overrides::Choices;
use super::transcript::{Answer, AnswerState, Entry, Level, Transcript};
use super::turn::Turn;
use super::turn::events::Spent;
use super::turn::queue::Queue;
use crate::context::{HunkFeedback, Mode};
use rhumb_edit::review::Review;
use rhumb_index::repo_map::TagGraph;
use rhumb_llm::LocalServer;
use rhumb_llm::models::{Dollars, Ledger, Model};

/// ModelRole answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Connection {
    /// Nobody: the prompt can be copied and a reply pasted.
    #[default]
    None,
    /// A model behind an API.
    Remote {
        /// The model; empty until one is named.
        model: String,
        /// Whose it is.
        host: String,
    },
    /// The recorded replies of the demo.
    Demo,
}

/// How far the reading of the repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurveyState {
    /// So many files of so many (0 while they are being counted).
    Reading(usize, usize),
    /// So many of so many were read when that was said to be enough.
    Partial(usize, usize),
    /// All read.
    Done,
}

impl Default for SurveyState {
    fn default() -> Self {
        Self::Reading(0, 0)
    }
}

/// The conversation and all that belongs to it.
#[derive(Debug, Default)]
pub struct Session {
    /// What was said.
    pub(super) transcript: Transcript,
    /// Files in the chat, in the order they were added.
    pub files: Vec<ChatFile>,
    /// What came from outside, or is on its way.
    pub outside: Attachments,
    /// ModelRole answers.
    pub connection: Connection,
    /// How messages are meant from now on.
    pub mode: Mode,
    /// What the settings say of modes, and of files that somebody names.
    pub rules: ModeRules,
    pub(super) waiting: Waiting,
    /// The model that carries plans out, where one was chosen in this session.
    pub editor_model: Option<String>,
    /// What the repository defines, where; none before it is read.
    pub symbols: Option<Arc<TagGraph>>,
    /// What the program wants to know, the first of them first.
    pub(super) questions: Questions,
    /// Messages that wait until the model is free.
    pub queue: Queue,
    /// Comments for the model in files.
    pub watching: CommentWatch,
    /// Replies whose edits are being looked for.
    pub(super) proposing: usize,
    /// Commits under way, and how they are made.
    pub commits: Commits,
    /// What was found of the repository for this conversation.
    pub codebase: Codebase,
    /// The turn that runs, if one does.
    pub turn: Option<Turn>,
    /// The proposals under review.
    pub review: Review,
    /// How many proposals have come in.
    pub proposals: usize,
    /// How far the reading of the repository is.
    pub survey: SurveyState,
    /// Whether what is read of the repository is to be enough: what is under way comes to its end.
    pub stopping: bool,
    /// Files that the survey left out, of so many.
    pub(super) left_out: (usize, usize),
    /// How the index of meanings is.
    pub index: IndexState,
    /// Whether the user was told that it is there.
    pub(super) index_told: bool,
    /// Every file of the repository, sorted.
    pub paths: Arc<Vec<String>>,
    /// Files that every chat begins with: conventions, and those of the setting `read`.
    pub standing: Vec<String>,
    /// Whether [`Session::paths`] is filled.
    pub listed: bool,
    /// Files that were asked for before the list of files was there, and whether for reference.
    pub(super) early_files: Vec<(Vec<String>, bool)>,
    /// Whether the request of the running turn waits for those files.
    pub(super) ask_waits: bool,
    /// The next request as last measured.
    pub view: Option<ContextView>,
    /// The branch, for the status line.
    pub head: String,
    /// The settings of the repo map.
    pub(super) map: MapState,
    /// Where connecting a model stands.
    pub connecting: Connecting,
    /// What the front end has to be told.
    pub(super) notices: Notices,
    /// Whether a write is under way.
    pub writing: bool,
    /// Keys in requests that were told: where, in which line, what.
    pub(super) told_secrets: BTreeSet<(String, Option<usize>, &'static str)>,
    /// How often edits that found no place go back to the model by themselves, for one request. 0 until it is set.
    pub edit_rounds: usize,
    pub(super) rounds: EditRetries,
    /// Commands that run, and what they printed.
    pub processes: Processes,
    /// The history of the next request, and the summary of its beginning.
    pub(super) history: History,
    /// What the user chose of requests since the app was started.
    pub choices: Choices,
    /// What was looked up.
    pub known: Known,
    /// What is known of the model that answers.
    pub facts: Option<Arc<Model>>,
    /// Why nobody is connected although a model was named, as a sentence without its full stop.
    pub lacking: Option<String>,
    /// What was spent.
    pub ledger: Ledger,
    /// The most that may be spent in this session.
    pub spending_cap: Option<Dollars>,
    /// What the last request cost.
    pub last_spent: Option<Spent>,
    /// A message that was held back because its request may be too large: sent again, it goes.
    pub(super) doubted: Option<String>,
    /// The tokens of the largest request that the developer wanted sent all the same.
    pub(super) undoubted: usize,
    /// What was said of hunks that were written or rejected since, for the next message about the review.
    pub(super) said: Vec<HunkFeedback>,
    /// The request behind the review, for the commit message.
    pub(super) request: String,
    pub(super) draft: String,
    /// What is being written as a command: no part of the next request, but not to be lost either.
    pub(super) command_draft: String,
    /// How it stands with what is kept of it.
    pub keeping: Persistence,
    /// Measurements asked for so far: only the newest counts.
    pub(super) generation: u64,
    /// Turns so far.
    turns: u64,
}

/// Whether it is an answer of which nothing has arrived.
pub(super) fn is_silent(entry: &Entry) -> bool {
    matches!(entry, Entry::Answer(answer) if answer.text.is_empty() && answer.state == AnswerState::Streaming)
}

impl Session {
    /// Sets the names of the themes, for completion.
    pub fn set_theme_names(&mut self, names: Vec<String>) {
        self.known.themes = names;
    }

    /// Sets name and description of each setting, for completion.
    pub fn set_setting_names(&mut self, names: Vec<(String, String)>) {
        self.known.setting_names = names;
    }

    /// Applies a setting that counts for the running session. Returns `false` if `name` is not such a setting or `value` does not fit.
    pub fn apply_setting(&mut self, name: &str, value: &toml::Value) -> bool {
        let count = value.as_integer().and_then(|count| usize::try_from(count).ok());
        match (name, value.as_bool(), count) {
            ("suggest_commands", Some(on), _) => self.processes.suggestions = on,
            ("accept_plan", Some(on), _) => self.rules.accept_plan = on,
            ("edit_rounds", _, Some(rounds)) => self.edit_rounds = rounds,
            ("verify_rounds", _, Some(rounds)) => self.processes.rounds = rounds,
            _ => return false,
        }
        true
    }
}

impl Session {
    /// A new conversation, and the first effects.
    pub fn start(connection: Connection) -> (Self, Vec<Effect>) {
        let mut session = Self { connection, ..Self::default() };
        let measure = session.measure();
        (session, [vec![Effect::Survey], measure].concat())
    }

    /// The conversation so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The conversation so far, for tests of front ends.
    #[cfg(any(test, feature = "test-support"))]
    pub fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
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

    /// The draft changed: the map is ranked for it and its meter moves.
    pub fn draft_changed(&mut self, draft: &str) -> Vec<Effect> {
        if self.draft == draft {
            return Vec::new();
        }
        self.draft = draft.to_owned();
        if draft.is_empty() {
            self.put_plan_back();
        }
        self.measure()
    }

    /// What is being written is a command with something to say, or is none (an empty text).
    pub fn command_drafted(&mut self, text: &str) {
        if self.command_draft != text {
            text.clone_into(&mut self.command_draft);
        }
    }

    /// What is in the composer, to be kept.
    pub(super) fn in_composer(&self) -> &str {
        if self.command_draft.is_empty() { &self.draft } else { &self.command_draft }
    }

    pub(super) fn draft_is_empty(&self) -> bool {
        self.draft.trim().is_empty()
    }

    /// A number for the next turn.
    pub(super) fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// The number of the last turn.
    pub(super) fn turns(&self) -> u64 {
        self.turns
    }

    /// Counts turns on from there: what was spent is known by their numbers.
    pub(super) fn skip_turns(&mut self, turns: u64) {
        self.turns = self.turns.max(turns);
    }

    /// Waits for the answer that `turn` is about.
    pub(super) fn begin(&mut self, turn: Turn) {
        let (text, reasoning, state) = (String::new(), String::new(), AnswerState::Streaming);
        self.transcript.push(Entry::Answer(Answer { text, reasoning, state, edits: Vec::new() }));
        self.turn = Some(turn);
    }

    /// Stops the running turn; what arrived stays.
    pub fn cancel(&mut self) -> Vec<Effect> {
        match self.turn.take() {
            Some(turn) => {
                self.ask_waits = false;
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
        if self.connection == Connection::Demo {
            self.tell(Level::Warning, DEMO_HAS_NO_MODEL, "");
            return Vec::new();
        }
        vec![Effect::UseModel(name)]
    }

    /// Takes in an answer of the world.
    pub fn handle(&mut self, report: Response) -> Vec<Effect> {
        match report {
            // What is passed over now would count as read.
            Response::SurveyProgress { .. } if self.stopping => {}
            Response::SurveyProgress { done, total } => {
                self.survey = SurveyState::Reading(done, total);
                self.update_search_status();
            }
            Response::LeftOut { unread, total } => self.left_out = (unread, total),
            Response::Listed(paths) => return self.list(paths),
            Response::Surveyed { note } => {
                self.surveyed();
                if let Some(note) = note {
                    self.tell_failure(Level::Warning, note);
                }
                return self.measure();
            }
            Response::Sketched => return self.measure(),
            Response::Head(head) => self.head = head,
            Response::Measured { generation, view } if generation == self.generation => return self.measured(view),
            Response::Measured { .. } => {}
            Response::Asked { turn, event } => self.asked(turn, event),
            Response::Summarized { history, result } => return self.summary_ended(&history, result),
            Response::Ended { turn, result } => return self.ended(turn, result),
            Response::Proposed { request, proposal } => {
                self.proposing = self.proposing.saturating_sub(1);
                return self.proposed(request, proposal);
            }
            Response::NotProposed(failure) => {
                self.proposing = self.proposing.saturating_sub(1);
                failure.into_iter().for_each(|failure| self.tell_failure(Level::Error, failure));
            }
            Response::Watching(result) => self.watches(result),
            Response::Comments { path, found } => return self.commented(&path, &found),
            Response::Wrote(written) => return self.wrote(written),
            Response::Undone { direction, result } => return self.unwrote(direction, result),
            Response::BreaksSyntax(faults) => self.ask_about_syntax(faults),
            Response::NotRecorded(cause) => return self.ask_about_record(&cause),
            Response::NotWritten { failure, stale } => return self.not_written(failure, stale),
            Response::Reread { path, text } => self.reread(&path, text.as_deref()),
            Response::PromptText(text) => {
                let clip = self.prompt_clip(text);
                self.copy(clip);
            }
            Response::Symbols(graph) => self.symbols = Some(graph),
            Response::Codebase(report) => return self.codebase_response(report),
            Response::Mention(report) => return self.mention_found(report),
            Response::LookedUp(report) => return self.looked(report),
            Response::Indexing(report) => self.indexed(report),
            Response::Ran(report) => return self.ran(report),
            Response::Persisted(report) => return self.kept(report),
            Response::Fetched(report) => return self.fetched(report),
            Response::Git(report) => return self.git(report),
            Response::Servers(servers) => self.found(servers),
            Response::Failed(failure) => self.tell_failure(Level::Error, failure),
            Response::Connecting(report) => self.connect_reported(report),
            Response::Connected { model, host, facts, notes } => {
                self.connection = Connection::Remote { model, host };
                self.facts = Some(facts);
                self.lacking = None;
                self.notices.push(Notice::Connected);
                self.undoubted = 0;
                notes.into_iter().for_each(|note| self.tell_failure(Level::Warning, note));
                return self.measure();
            }
        }
        Vec::new()
    }

    /// The files are known; what was asked for before can be found now.
    fn list(&mut self, paths: Arc<Vec<String>>) -> Vec<Effect> {
        (self.paths, self.listed) = (paths, true);
        let early = std::mem::take(&mut self.early_files);
        let mut effects: Vec<Effect> =
            early.into_iter().flat_map(|(names, read_only)| self.add_files(&names, read_only)).collect();
        if std::mem::take(&mut self.ask_waits) {
            effects.extend(self.launch());
        }
        effects
    }

    fn measured(&mut self, view: ContextView) -> Vec<Effect> {
        for (path, reason) in &view.unreadable {
            self.files.retain(|file| file.path != *path);
            self.outside.drop_image(path);
            self.tell(Level::Error, format!("{path} was taken out of the chat: {reason}."), "");
        }
        self.tell_secrets(&view.prompt.secrets);
        let mut effects = self.summarize_if_long(&view.prompt);
        self.view = Some(view);
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
