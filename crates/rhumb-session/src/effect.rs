//! Effects, which the session requests from its host, and the responses of the host.

use crate::context::{ChunkLocation, FoundComment, Mode, Prompt};
use crate::{
    AgentEffect, AgentResponse, AskError, AskEvent, ChatFile, CodebaseResponse, CodebaseSearch, CommitRequest,
    ConnectEffect, ConnectResponse, FetchEffect, FetchResponse, GitEffect, GitResponse, IndexEffect, IndexResponse,
    LookupEffect, LookupResponse, MapSettings, MentionEffect, MentionResponse, ModelRole, PersistenceEffect,
    PersistenceResponse, RequestOverrides, RunEffect, RunResponse, WriteConsent,
};
use rhumb_agent::ToolSet;
use rhumb_edit::{PendingChanges, Proposal, SyntaxFault};
use rhumb_index::repo_map::{RepoMap, TagGraph};
use rhumb_index::retrieval::Related;
use rhumb_llm::models::{Api, Dollars, Model};
use rhumb_llm::{Completion, Image, LlmError, LocalServer, Message};
use rhumb_workspace::Direction;
use std::sync::Arc;

/// Whether a message is a question about the whole repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodebaseQuestion {
    /// It is not.
    #[default]
    No,
    /// It is, and the model must answer from the passages in the request.
    Final,
    /// It is, and the model may request more of the repository.
    MayRequestMore,
}

/// The parts of a request that the session determines. It is copied after each key, so long parts are shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestSpec {
    /// The number of the turn, or of the measurement.
    pub generation: u64,
    /// Files in the chat.
    pub files: Arc<Vec<ChatFile>>,
    /// Images in the chat that are not files of the repository.
    pub images: Vec<Image>,
    /// The mode of the draft.
    pub mode: Mode,
    /// Whether the model may suggest commands.
    pub suggest: bool,
    /// Which model is used.
    pub role: ModelRole,
    /// Earlier turns.
    pub history: Arc<Vec<Message>>,
    /// In a follow-up, the messages of the same request so far. Otherwise the texts that the user shared since the last answer.
    pub exchange: Arc<Vec<Message>>,
    /// Passages of the repository that belong to the conversation.
    pub passages: Arc<Vec<ChunkLocation>>,
    /// Code that is one reference away from the passages of the message.
    pub related: Vec<Related>,
    /// Whether the message is a question about the whole repository.
    pub codebase: CodebaseQuestion,
    /// The message that is being written or sent.
    pub draft: String,
    /// The beginning of the answer, which the model has to continue; empty for a new answer.
    pub partial: String,
    /// The maximum cost; `None` without a limit.
    pub allowance: Option<Dollars>,
    /// Whether the oldest turns may be omitted if the request exceeds the context window.
    pub may_drop_history: bool,
    /// The user's choices about the repo map.
    pub map: MapSettings,
    /// Choices of this session that take precedence over the settings.
    pub overrides: RequestOverrides,
    /// In agent mode, the message that the loop answers, for the ranking of the map between its steps.
    pub topic: String,
    /// In agent mode, the tools that are offered.
    pub tools: Option<ToolSet>,
    /// Whether calls of tools are written as text.
    pub text_protocol: bool,
}

impl RequestSpec {
    /// Makes the last `count` messages of the history the exchange.
    pub(crate) fn split_exchange(&mut self, count: usize) {
        let at = self.history.len().saturating_sub(count);
        self.exchange = Arc::new(Arc::make_mut(&mut self.history).split_off(at));
    }
}

/// One file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingWrite {
    /// Path under the root.
    pub path: String,
    /// The text that the file must contain; `None` if it must not exist.
    pub expected: Option<Arc<str>>,
    /// The new text; `None` deletes the file.
    pub content: Option<String>,
    /// The old path of a renamed file, which the same write deletes. The new file keeps its encoding and mode.
    pub renamed_from: Option<String>,
}

/// A task for the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Index the repository.
    Survey,
    /// Stop indexing early and use the files that are indexed.
    StopIndexing,
    /// Index the files that were left out.
    ResumeIndexing,
    /// Watch the files of the repository, or stop watching them.
    WatchFiles(bool),
    /// Report comments for the model when a file is saved, or stop reporting them.
    WatchComments(bool),
    /// Rank the repo map and count the tokens of the next request.
    Measure(Box<RequestSpec>),
    /// Assemble a request and send it.
    Ask(Box<RequestSpec>),
    /// Cancel the running turn.
    Cancel,
    /// Summarise the beginning of a history.
    Summarize {
        /// The history.
        history: Arc<Vec<Message>>,
        /// The maximum size of the result in tokens.
        limit: usize,
        /// The maximum cost; `None` without a limit.
        allowance: Option<Dollars>,
        /// The weak model that was chosen in this session.
        weak_model: Option<String>,
        /// Set if the user requested the summary, which is then made even if the history is within its limit: instructions of the
        /// user about what to keep, which may be empty.
        compact: Option<String>,
    },
    /// Cancel the summary that is being made.
    CancelSummary,
    /// Locate the edits of a reply.
    Propose {
        /// The request that the reply answers, for the commit message.
        request: String,
        /// The pending changes to which the replies are applied.
        pending: PendingChanges,
        /// The replies that this one corrects, oldest first.
        earlier: Vec<String>,
        /// The reply.
        reply: String,
        /// For each earlier reply and the reply, its 0-based number among the answers of the session; `None` if it is not an answer.
        answers: Vec<Option<usize>>,
        /// Files in the chat.
        files: Vec<ChatFile>,
    },
    /// Write files, all or none, and commit them.
    Write {
        /// The files.
        files: Vec<PendingWrite>,
        /// How they are committed.
        commit: CommitRequest,
        /// What the user agreed to.
        consent: WriteConsent,
    },
    /// Undo the last write, or redo it.
    Undo(Direction),
    /// Read files that changed during a review.
    Reread(Vec<String>),
    /// Assemble a request as one text, for the clipboard.
    CopyPrompt(Box<RequestSpec>),
    /// Search this machine for model servers.
    FindServers,
    /// Connect a model of a server.
    Connect {
        /// The API of the server.
        api: Api,
        /// The root of the API.
        base_url: String,
        /// The model.
        model: String,
    },
    /// Connect a model by its name.
    UseModel(String),
    /// Search for keys and servers, or store a key.
    Connecting(ConnectEffect),
    /// Run the command of the setting `notify`, with this text.
    Notify(String),
    /// Search the repository for passages.
    Codebase(CodebaseSearch),
    /// Resolve the names in a message or an answer.
    Mention(MentionEffect),
    /// Look something up.
    Lookup(LookupEffect),
    /// Build or change the embedding index.
    Index(IndexEffect),
    /// Run git.
    Git(GitEffect),
    /// Run a command, or stop one.
    Run(RunEffect),
    /// Perform tool calls of the agent loop.
    Agent(AgentEffect),
    /// Save or load a session.
    Persist(PersistenceEffect),
    /// Read a page, an image, the clipboard or the microphone.
    Fetch(FetchEffect),
}

/// Identifies an effect that a host performs. Ids are unique within a host; 0 is that of no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestId(pub u64);

/// The kind of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are those of `Effect`")]
pub enum EffectKind {
    Survey,
    StopIndexing,
    ResumeIndexing,
    WatchFiles,
    WatchComments,
    Measure,
    Ask,
    Cancel,
    Summarize,
    CancelSummary,
    Propose,
    Write,
    Undo,
    Reread,
    CopyPrompt,
    FindServers,
    Connect,
    UseModel,
    Connecting,
    Notify,
    Codebase,
    Mention,
    Lookup,
    Index,
    Git,
    Run,
    Agent,
    Persist,
    Fetch,
}

impl Effect {
    /// The kind of this effect.
    pub const fn kind(&self) -> EffectKind {
        match self {
            Self::Survey => EffectKind::Survey,
            Self::StopIndexing => EffectKind::StopIndexing,
            Self::ResumeIndexing => EffectKind::ResumeIndexing,
            Self::WatchFiles(_) => EffectKind::WatchFiles,
            Self::WatchComments(_) => EffectKind::WatchComments,
            Self::Measure(_) => EffectKind::Measure,
            Self::Ask(_) => EffectKind::Ask,
            Self::Cancel => EffectKind::Cancel,
            Self::Summarize { .. } => EffectKind::Summarize,
            Self::CancelSummary => EffectKind::CancelSummary,
            Self::Propose { .. } => EffectKind::Propose,
            Self::Write { .. } => EffectKind::Write,
            Self::Undo(_) => EffectKind::Undo,
            Self::Reread(_) => EffectKind::Reread,
            Self::CopyPrompt(_) => EffectKind::CopyPrompt,
            Self::FindServers => EffectKind::FindServers,
            Self::Connect { .. } => EffectKind::Connect,
            Self::UseModel(_) => EffectKind::UseModel,
            Self::Connecting(_) => EffectKind::Connecting,
            Self::Notify(_) => EffectKind::Notify,
            Self::Codebase(_) => EffectKind::Codebase,
            Self::Mention(_) => EffectKind::Mention,
            Self::Lookup(_) => EffectKind::Lookup,
            Self::Index(_) => EffectKind::Index,
            Self::Git(_) => EffectKind::Git,
            Self::Run(_) => EffectKind::Run,
            Self::Agent(_) => EffectKind::Agent,
            Self::Persist(_) => EffectKind::Persist,
            Self::Fetch(_) => EffectKind::Fetch,
        }
    }
}

impl EffectKind {
    /// Returns a function that makes a [`Response::Failed`] of this kind.
    pub fn failed(self) -> impl FnOnce(Failure) -> Response {
        move |failure| Response::Failed { effect: self, failure }
    }
}

/// The measured next request.
#[derive(Debug, Clone)]
pub struct ContextView {
    /// The ranked repo map; `None` before the repository is indexed.
    pub map: Option<Arc<RepoMap>>,
    /// Whether the map is of a partial index. Such a map is shown and not sent.
    pub provisional: bool,
    /// The request.
    pub prompt: Arc<Prompt>,
    /// Files of the chat that cannot be sent, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

/// An error as a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What failed, and on what.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

impl Failure {
    /// Creates a failure.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl From<&LlmError> for Failure {
    fn from(error: &LlmError) -> Self {
        let message = format!("{}.", error.to_string().trim_end_matches('.'));
        Self { message, hint: error.hint().to_owned() }
    }
}

/// A history whose beginning is a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summarized {
    /// The messages.
    pub messages: Vec<Message>,
    /// The tokens of the history before.
    pub before: usize,
    /// The tokens of the history now.
    pub after: usize,
}

/// The result of a write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The files.
    pub paths: Vec<String>,
    /// The abbreviated hash of the commit, if one was made.
    pub commit: Option<String>,
    /// The commit before it of the user's own changes to these files, if one was made.
    pub own_commit: Option<String>,
    /// The abbreviated hash of the commit that an undo removed from the branch.
    pub dropped: Option<String>,
    /// The abbreviated hash of the commit that a redo restored.
    pub restored: Option<String>,
    /// Whether a commit follows when its message is written. [`GitResponse::Committed`] reports it.
    pub commit_follows: bool,
    /// Why there is no commit, and other remarks.
    pub notes: Vec<Failure>,
}

/// A text for the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipboardText {
    /// What it is, as the subject of a sentence: `The last answer`.
    pub what: String,
    /// The text.
    pub text: String,
    /// What to do with it; may be empty.
    pub hint: String,
}

/// A result or a progress report of an effect.
#[derive(Debug, Clone)]
pub enum Response {
    /// Progress of indexing.
    SurveyProgress {
        /// Files read.
        done: usize,
        /// All files; 0 while they are being counted.
        total: usize,
    },
    /// The sorted paths of all files. The files are not indexed yet.
    Listed(Arc<Vec<String>>),
    /// A provisional map can be shown while indexing continues.
    ProvisionalMap,
    /// The number of files that the index lacks. Sent before [`Response::Surveyed`].
    Unread {
        /// Files that were not read.
        unread: usize,
        /// All files.
        total: usize,
    },
    /// Indexing ended.
    Surveyed {
        /// A warning about it.
        note: Option<Failure>,
    },
    /// The branch, for the status line.
    Head(String),
    /// The result of [`Effect::Measure`].
    Measured {
        /// The number of the measurement.
        generation: u64,
        /// The result.
        view: ContextView,
    },
    /// An event of a running request.
    Asked {
        /// The turn.
        turn: u64,
        /// The event.
        event: AskEvent,
    },
    /// The result of [`Effect::Summarize`].
    Summarized {
        /// The history before.
        history: Arc<Vec<Message>>,
        /// The history to be sent.
        result: Result<Summarized, Failure>,
    },
    /// The answer ended.
    Ended {
        /// The turn.
        turn: u64,
        /// The result. After an error, the session keeps the text that arrived.
        result: Result<Completion, AskError>,
    },
    /// The located edits of a reply.
    Proposed {
        /// The request that the reply answered.
        request: String,
        /// The proposal.
        proposal: Proposal,
    },
    /// There is no proposal; with the reason if the user should know it.
    NotProposed(Option<Failure>),
    /// The result of [`Effect::WatchComments`].
    Watching(Result<(), Failure>),
    /// A file with comments for the model was saved.
    Comments {
        /// Its path.
        path: String,
        /// The comments.
        found: Vec<FoundComment>,
    },
    /// Files were written.
    Wrote(Written),
    /// Nothing is written yet: the new text contains syntax errors that the user has not agreed to.
    BreaksSyntax(Vec<SyntaxFault>),
    /// Nothing is written yet: the journal cannot record the write, for this reason.
    NotRecorded(String),
    /// Nothing was written.
    NotWritten {
        /// The reason.
        failure: Failure,
        /// Files that changed since they were read.
        stale: Vec<String>,
    },
    /// The result of [`Effect::Undo`]; no files if there was nothing to undo or redo.
    Undone {
        /// Undo or redo.
        direction: Direction,
        /// The result.
        result: Result<Written, Failure>,
    },
    /// The current text of a file; `None` if it can no longer be read as text.
    Reread {
        /// Path under the root.
        path: String,
        /// Its text.
        text: Option<Arc<str>>,
    },
    /// The request as one text.
    PromptText(String),
    /// The definitions and references of the repository.
    Symbols(Arc<TagGraph>),
    /// See [`Effect::Codebase`].
    Codebase(CodebaseResponse),
    /// See [`Effect::Mention`].
    Mention(MentionResponse),
    /// See [`Effect::Lookup`].
    LookedUp(LookupResponse),
    /// See [`Effect::Index`].
    Indexing(IndexResponse),
    /// See [`Effect::Git`].
    Git(GitResponse),
    /// See [`Effect::Run`].
    Ran(RunResponse),
    /// See [`Effect::Agent`].
    Agent(AgentResponse),
    /// See [`Effect::Persist`].
    Persisted(PersistenceResponse),
    /// See [`Effect::Fetch`].
    Fetched(FetchResponse),
    /// The model servers on this machine.
    Servers(Vec<LocalServer>),
    /// An effect failed that has no specific response for a failure.
    Failed {
        /// The kind of the effect.
        effect: EffectKind,
        /// The error.
        failure: Failure,
    },
    /// See [`Effect::Connecting`].
    Connecting(ConnectResponse),
    /// A model was connected.
    Connected {
        /// The model.
        model: String,
        /// The provider or the host of the server, for the status line.
        host: String,
        /// The facts about the model.
        facts: Arc<Model>,
        /// Warnings.
        notes: Vec<Failure>,
    },
}
