//! The session: its state, and how commands of the user and responses of the host change it.

use crate::agent::Agent;
use crate::connect::{DEMO_HAS_NO_MODEL, ModelState};
use crate::modes::Modes;
use crate::notice::Notices;
use crate::proposal::Proposals;
use crate::repository::Repository;
use crate::request::NextRequest;
use crate::request::chat_files::ChatFiles;
use crate::request::history_summary::History;
use crate::request::mentions::FileOffers;
use crate::request::spending::Spending;
use crate::turn::Turns;
use crate::{
    AgentRules, Attachments, ChatFile, Codebase, Command, CommentWatch, ConnectRequest, Connection, ContextView,
    Effect, EffectKind, Entry, Failure, Level, LookupEffect, Lookups, ModeRules, Notice, Persistence, Processes,
    Questions, Response, SessionSelector, Transcript, TrialRules,
};
use rhumb_index::repo_map::Refresh;
use rhumb_llm::LocalServer;
use rhumb_llm::models::{Dollars, Model};
use std::path::PathBuf;
use std::sync::Arc;

/// A conversation with a model about a repository.
///
/// Each field is a component. Front ends read them through the methods of the session and change them only by its commands.
#[derive(Debug, Default)]
pub struct Session {
    pub(super) transcript: Transcript,
    pub(super) drafts: Drafts,
    pub(super) turns: Turns,
    pub(super) modes: Modes,
    pub(super) agent: Agent,
    pub(super) model: ModelState,
    pub(super) spending: Spending,
    pub(super) chat_files: ChatFiles,
    pub(super) file_offers: FileOffers,
    pub(super) attachments: Attachments,
    pub(super) next_request: NextRequest,
    pub(super) history: History,
    pub(super) codebase: Codebase,
    pub(super) proposals: Proposals,
    pub(super) processes: Processes,
    pub(super) repository: Repository,
    pub(super) comment_watch: CommentWatch,
    pub(super) lookups: Lookups,
    pub(super) persistence: Persistence,
    pub(super) questions: Questions,
    pub(super) notices: Notices,
}

impl Session {
    /// Starts a conversation. Returns the first effects.
    pub fn start(connection: Connection) -> (Self, Vec<Effect>) {
        let model = ModelState::new(connection, None, None, ConnectRequest::default());
        let mut session = Self { model, ..Self::default() };
        let measure = session.measure();
        (session, [vec![Effect::Survey], measure].concat())
    }

    /// Sets the names of the themes, for completion.
    pub fn set_theme_names(&mut self, names: Vec<String>) {
        self.lookups.themes = names;
    }

    /// Sets name and description of each setting, for completion.
    pub fn set_setting_names(&mut self, names: Vec<(String, String)>) {
        self.lookups.setting_names = names;
    }

    /// Applies a setting that affects the running session. Returns `false` if `name` is not such a setting or `value` is invalid.
    pub fn apply_setting(&mut self, name: &str, value: &toml::Value) -> bool {
        let count = value.as_integer().and_then(|count| usize::try_from(count).ok());
        match (name, value.as_bool(), count) {
            ("suggest_commands", Some(on), _) => self.processes.set_offers_suggestions(on),
            ("accept_plan", Some(on), _) => self.modes.rules_mut().accept_plan = on,
            ("edit_rounds", _, Some(rounds)) => self.proposals.set_max_retries(rounds),
            ("verify_rounds", _, Some(rounds)) => self.processes.set_max_rounds(rounds),
            _ => return false,
        }
        true
    }

    /// Appends entries to the transcript.
    pub fn extend_transcript(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.transcript.extend(entries);
    }

    /// Adds a status message to the transcript. If the last entry is an answer without text, the message is inserted before it.
    pub fn report(&mut self, level: Level, text: impl Into<String>, hint: impl Into<String>) {
        let at = self.settled_entries();
        self.transcript.insert(at, Entry::status(level, text, hint));
    }

    pub(super) fn report_failure(&mut self, level: Level, failure: Failure) {
        self.report(level, failure.message, failure.hint);
    }

    /// The number of entries at the start of the transcript before which no entry will be inserted.
    pub fn settled_entries(&self) -> usize {
        self.transcript.len() - usize::from(self.transcript.last().is_some_and(Entry::is_empty_answer))
    }

    /// Cancels the running turn. The text that arrived stays in the transcript.
    pub fn cancel(&mut self) -> Vec<Effect> {
        let Some(turn) = self.turns.cancel() else { return Vec::new() };
        self.hold_queue();
        let is_agent = self.has_worked(&turn);
        if self.close_answer(Some("cancelled".into())).is_some() || is_agent {
            self.mark_answered();
        } else {
            self.return_message(&turn);
        }
        self.agent_cancelled();
        let mut effects = vec![Effect::Cancel];
        effects.extend(self.measure());
        effects
    }

    /// Excludes the conversation so far from later requests.
    pub fn clear_history(&mut self) -> Vec<Effect> {
        // Without its messages, a loop cannot go on.
        let mut effects = if self.is_agent_running() { self.cancel() } else { Vec::new() };
        self.transcript.push(Entry::Cleared);
        self.drop_queue();
        self.codebase.clear();
        self.withdraw_offers();
        self.forget_mentioned();
        effects.extend(self.history.is_summarizing().then_some(Effect::CancelSummary));
        self.forget_summary();
        effects.extend(self.measure());
        effects
    }

    /// Connects another model.
    pub fn use_model(&mut self, name: String) -> Vec<Effect> {
        if *self.model.connection() == Connection::Demo {
            self.report(Level::Warning, DEMO_HAS_NO_MODEL, "");
            return Vec::new();
        }
        vec![Effect::UseModel(name)]
    }

    /// Handles a response of the host.
    pub fn handle(&mut self, response: Response) -> Vec<Effect> {
        match response {
            Response::SurveyProgress { done, total } => {
                if self.repository.set_progress(done, total) {
                    self.update_search_status();
                }
            }
            Response::Unread { unread, total } => self.repository.set_unread(unread, total),
            Response::Listed(paths) => return self.paths_listed(paths),
            Response::Surveyed { note } => {
                self.survey_ended();
                if let Some(note) = note {
                    self.report_failure(Level::Warning, note);
                }
                return self.measure();
            }
            Response::ProvisionalMap => return self.measure(),
            Response::Head(head) => self.repository.set_head(head),
            Response::Measured { generation, view } => {
                if generation == self.next_request.generation() {
                    return self.handle_measured(view);
                }
            }
            Response::Asked { turn, event } => self.turn_event(turn, event),
            Response::Summarized { history, result } => return self.summary_ended(&history, result),
            Response::Ended { turn, result } => return self.turn_ended(turn, result),
            Response::Proposed { request, proposal } => {
                self.proposals.end_locating();
                let mut effects = self.proposed(request, proposal);
                effects.extend(self.try_waiting());
                return effects;
            }
            Response::NotProposed(failure) => {
                self.proposals.end_locating();
                failure.into_iter().for_each(|failure| self.report_failure(Level::Error, failure));
            }
            Response::Watching(result) => self.handle_watch_result(result),
            Response::Comments { path, found } => return self.handle_comments(&path, &found),
            Response::Wrote(written) => return self.wrote(written),
            Response::Undone { direction, result } => return self.undone(direction, result),
            Response::BreaksSyntax(faults) => self.ask_about_syntax(faults),
            Response::NotRecorded(cause) => return self.ask_about_record(&cause),
            Response::NotWritten { failure, stale } => return self.not_written(failure, stale),
            Response::Reread { path, text } => self.reread(&path, text.as_deref()),
            Response::PromptText(text) => {
                let prompt = self.prompt_clip(text);
                self.copy(prompt);
            }
            Response::Symbols(graph) => self.repository.set_symbols(graph),
            Response::Codebase(response) => return self.codebase_response(response),
            Response::Mention(response) => return self.handle_mentions(response),
            Response::LookedUp(response) => return self.handle_lookup(response),
            Response::Indexing(response) => self.handle_index(response),
            Response::Ran(response) => return self.ran(response),
            Response::Agent(response) => return self.agent_response(response),
            Response::Persisted(response) => return self.persisted(response),
            Response::Fetched(response) => return self.fetched(response),
            Response::Git(response) => return self.git(response),
            Response::Servers(servers) => self.servers_found(servers),
            Response::Failed { effect, failure } => self.effect_failed(effect, failure),
            Response::Connecting(response) => self.handle_connecting(response),
            Response::Connected { model, host, facts, notes } => {
                self.model.connect(model, host, facts);
                self.notices.push(Notice::Connected);
                self.next_request.model_changed();
                self.agent_model_changed();
                notes.into_iter().for_each(|note| self.report_failure(Level::Warning, note));
                return self.measure();
            }
        }
        Vec::new()
    }

    fn effect_failed(&mut self, effect: EffectKind, failure: Failure) {
        self.report_failure(Level::Error, failure);
        if effect == EffectKind::Mention {
            self.ask_without_token_counts();
        }
    }

    /// Adds the files that were named before the repository was listed, and sends a request that waits for them.
    fn paths_listed(&mut self, paths: Arc<Vec<String>>) -> Vec<Effect> {
        self.repository.set_paths(paths);
        let waiting = self.chat_files.take_waiting();
        let mut effects: Vec<Effect> =
            waiting.into_iter().flat_map(|(names, read_only)| self.add_files(&names, read_only)).collect();
        if self.turns.stop_waiting_for_files() {
            effects.extend(self.advance_turn());
        }
        effects
    }

    fn handle_measured(&mut self, view: ContextView) -> Vec<Effect> {
        for (path, reason) in &view.unreadable {
            self.chat_files.remove(path);
            self.attachments.drop_image(path);
            self.report(Level::Error, format!("{path} was removed from the chat: {reason}."), "");
        }
        self.report_secrets(&view.prompt.secrets);
        let mut effects = self.summarize_if_long(&view.prompt);
        self.next_request.set_view(view);
        effects.extend(self.offer_drafted());
        effects
    }

    fn servers_found(&mut self, servers: Vec<LocalServer>) {
        if servers.is_empty() {
            self.report(
                Level::Info,
                "No model server answers on this machine (looked for Ollama, LM Studio, llama.cpp and vLLM).",
                "Start one and run /servers again, or start rhumb with --base-url and --model.",
            );
        } else {
            self.notices.push(Notice::ChooseServer(servers));
        }
    }
}

/// The draft of a message and that of a command. At most one of them is in the input at a time.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    message: String,
    command: String,
}

impl Drafts {
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn set_message(&mut self, message: &str) {
        message.clone_into(&mut self.message);
    }

    pub(crate) fn clear_command(&mut self) {
        self.command.clear();
    }

    /// The text in the input, which is saved with the session.
    pub(crate) fn text(&self) -> &str {
        if self.command.is_empty() { &self.message } else { &self.command }
    }
}

impl Session {
    /// Replaces the draft of a message, and measures the next request, of which it is a part.
    pub fn draft_changed(&mut self, draft: &str) -> Vec<Effect> {
        if self.drafts.message == draft {
            return Vec::new();
        }
        draft.clone_into(&mut self.drafts.message);
        if draft.is_empty() {
            self.ask_about_plan_again();
        }
        self.measure()
    }

    /// Replaces the draft of a command, which may be empty. It is saved, but it is not part of the next request.
    pub fn command_drafted(&mut self, text: &str) {
        text.clone_into(&mut self.drafts.command);
    }
}

/// The options with which a conversation starts.
#[derive(Debug, Default)]
pub struct SessionStart {
    /// The connected model.
    pub connection: Connection,
    /// The name of the root, for display.
    pub root: String,
    /// The root, which is the working directory of the editor.
    pub folder: PathBuf,
    /// The editor of the settings.
    pub editor: Option<String>,
    /// A draft that the front end puts into its input.
    pub draft: String,
    /// Names of editable files in the chat.
    pub files: Vec<String>,
    /// Names of read-only files in the chat.
    pub read: Vec<String>,
    /// Files in the chat that are known to exist.
    pub chat_files: Vec<ChatFile>,
    /// The editor model that was chosen on the command line.
    pub editor_model: Option<String>,
    /// When the repo map is recomputed.
    pub map_refresh: Refresh,
    /// Maximum number of automatic retries for edits that could not be located.
    pub edit_rounds: usize,
    /// Maximum number of automatic repairs after failed checks.
    pub verify_rounds: usize,
    /// When trials and checks run.
    pub trial_rules: TrialRules,
    /// The settings of agent mode.
    pub agent_rules: AgentRules,
    /// Patterns of suggested commands that run in a trial checkout without a question.
    pub allowed_commands: Vec<String>,
    /// Whether the model may suggest commands.
    pub suggest_commands: bool,
    /// Whether writes are committed.
    pub auto_commit: bool,
    /// The settings of modes and mentioned files.
    pub rules: ModeRules,
    /// The maximum cost of the session.
    pub spending_cap: Option<Dollars>,
    /// The facts about the connected model.
    pub facts: Option<Arc<Model>>,
    /// Why no model is connected although one was named: a sentence without its full stop.
    pub missing_model: Option<String>,
    /// The provider and the model that were named although no model is connected; `None` if the front end does not offer to connect
    /// one at the start.
    pub connect: Option<ConnectRequest>,
    /// A saved session to resume.
    pub resume: Option<SessionSelector>,
    /// The command line that resumes the session later; empty if the session is not saved.
    pub resume_command: String,
    /// Warnings to show first: text and hint.
    pub warnings: Vec<(String, String)>,
    /// Whether to watch files for comments for the model.
    pub watch: bool,
}

impl SessionStart {
    /// Creates the session. Returns the first effects.
    pub fn begin(&self) -> (Session, Vec<Effect>) {
        let (mut session, mut effects) = Session::start(self.connection.clone());
        session.proposals.set_max_retries(self.edit_rounds);
        session.processes = Processes::new(self.verify_rounds, self.suggest_commands, self.allowed_commands.clone());
        session.proposals.set_trial_rules(self.trial_rules);
        session.agent.rules = self.agent_rules;
        session.proposals.set_commits(self.auto_commit);
        *session.modes.rules_mut() = self.rules;
        session.spending.set_cap(self.spending_cap);
        session.chat_files.set_initial(&self.read);
        let at_start = self.connect.clone().unwrap_or_default();
        session.model =
            ModelState::new(self.connection.clone(), self.facts.clone(), self.missing_model.clone(), at_start);
        self.chat_files.iter().for_each(|file| session.chat_files.add(&file.path, file.read_only));
        session.next_request.overrides_mut().editor_model.clone_from(&self.editor_model);
        if let Some(request) = &self.connect {
            session.ask_to_connect(request.clone());
        }
        for (text, hint) in &self.warnings {
            session.report(Level::Warning, text, hint);
        }
        effects.push(Effect::Lookup(LookupEffect::Commands));
        effects.extend(session.start_saving(self.resume.clone()));
        effects.extend(session.set_map_refresh(self.map_refresh));
        if self.watch {
            effects.extend(session.command(Command::Watch(Some(true))));
        }
        for (files, read_only) in [(&self.files, false), (&self.read, true)] {
            if !files.is_empty() {
                effects.extend(session.add_files(files, read_only));
            }
        }
        (session, effects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_without_a_model_names_the_missing_key() {
        let missing_model = Some("gpt-5 needs OPENAI_API_KEY, which is not set".to_owned());
        let (mut session, _) = SessionStart { missing_model, ..SessionStart::default() }.begin();
        session.send("hello");
        let last = format!("{:?}", session.transcript.last());
        assert!(last.contains("gpt-5 needs OPENAI_API_KEY, which is not set, so the message was not sent."), "{last}");
    }

    #[test]
    fn warnings_come_first_and_a_saved_session_is_opened_before_anything_is_saved() {
        let start = SessionStart {
            warnings: vec![("The theme is gone.".into(), "Choose another.".into())],
            resume: Some(SessionSelector::Newest),
            watch: true,
            ..SessionStart::default()
        };
        let (session, effects) = start.begin();
        let first = format!("{:?}", session.transcript.first());
        assert!(first.contains("The theme is gone."), "{first}");
        let names: Vec<String> = effects.iter().map(|effect| format!("{effect:?}")).collect();
        let at = |what: &str| names.iter().position(|name| name.starts_with(what));
        assert!(at("Survey") < at("Persist(Open(Some(Newest)))"), "{names:?}");
        assert!(session.proposals.commits().off, "nothing is committed by default");
    }
}
