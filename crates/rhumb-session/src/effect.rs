//! What the session asks of the world, and what the world answers.

use std::sync::Arc;

use crate::context::{ChunkLocation, FoundComment, Mode, Prompt};
use rhumb_edit::{PendingChanges, Proposal, SyntaxFault};
use rhumb_index::repo_map::{RepoMap, TagGraph};
use rhumb_index::retrieval::Related;
use rhumb_llm::models::{Api, Dollars, Model};
use rhumb_llm::{Completion, LlmError, LocalServer};

use rhumb_llm::{Image, Message};
use rhumb_workspace::Direction;

use super::attachments::{FetchEffect, FetchResponse};
use super::codebase::{CodebaseResponse, CodebaseSearch};
use super::connect::{ConnectEffect, ConnectResponse};
use super::modes::who::ModelRole;
use super::persistence::{PersistenceEffect, PersistenceResponse};
use super::processes::{RunEffect, RunResponse};
use super::proposal::commits::{CommitRequest, GitEffect, GitResponse};
use super::proposal::write_questions::WriteConsent;
use super::repository::embedding_index::{IndexEffect, IndexResponse};
use super::repository::lookup::{LookupEffect, LookupResponse};
use super::request::chat_files::ChatFile;
use super::request::map_choices::MapSettings;
use super::request::mentions::{MentionEffect, MentionResponse};
use super::request::overrides::Choices;
use super::turn::events::{AskError, AskEvent};

/// Whether a message is a question about the whole repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodebaseQuestion {
    /// It is not.
    #[default]
    No,
    /// It is, and the model must answer with what was found.
    Final,
    /// It is, and the model may request more of the repository.
    MayRequestMore,
}

/// What is needed to put the next request together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestSpec {
    /// Number of this order.
    pub generation: u64,
    /// Files in the chat.
    pub files: Vec<ChatFile>,
    /// Pictures in the chat that are no files of the repository.
    pub images: Vec<Image>,
    /// How the draft is meant.
    pub mode: Mode,
    /// Whether the model may suggest commands.
    pub suggest: bool,
    /// Which of the models is asked.
    pub who: ModelRole,
    /// Earlier turns.
    pub history: Arc<Vec<Message>>,
    /// What was said of this request before, where its answer has to be mended; else what was shared for it.
    pub exchange: Vec<Message>,
    /// Passages of the repository that belong to the conversation.
    pub passages: Vec<ChunkLocation>,
    /// What is one reference away from those of the message.
    pub related: Vec<Related>,
    /// Whether the message is a question about the whole repository.
    pub codebase: CodebaseQuestion,
    /// The message being written or sent.
    pub draft: String,
    /// The beginning of the answer that is there already and is to be gone on with; empty for none.
    pub partial: String,
    /// What may still be spent; `None` for as much as it takes.
    pub allowance: Option<Dollars>,
    /// Whether the oldest turns may be left out if the request does not fit otherwise.
    pub may_drop_history: bool,
    /// What the user chose about the repo map.
    pub map: MapSettings,
    /// What the user chose of it since the app was started.
    pub choices: Choices,
}

/// One file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingWrite {
    /// Path under the root.
    pub path: String,
    /// The text that the file must still have; `None` if it must not exist.
    pub expected: Option<Arc<str>>,
    /// The text that it shall have; `None` to delete it.
    pub content: Option<String>,
    /// The file that it was until now, deleted in the same write; it goes on in the form and with the mode of that file.
    pub renamed_from: Option<String>,
}

/// Something to be done outside of the session.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Walk the repository and read its tags.
    Survey,
    /// Let what is read of the repository so far be enough.
    StopReading,
    /// Read what was left out.
    ReadOn,
    /// Follow changes on disk, or not.
    Follow(bool),
    /// Response comments for the model in files as they are saved, or no more.
    WatchComments(bool),
    /// Rank the map and measure the next request, for the panes.
    Measure(Box<RequestSpec>),
    /// Put the request together and send it.
    Ask(Box<RequestSpec>),
    /// Stop the running turn.
    Cancel,
    /// Make a summary of the beginning of a history.
    Summarize {
        /// The history.
        history: Arc<Vec<Message>>,
        /// The tokens that it may have afterwards.
        limit: usize,
        /// What may be spent on it; `None` for as much as it takes.
        allowance: Option<Dollars>,
        /// The model to do it, if one was chosen since the app was started.
        weak_model: Option<String>,
        /// Set where the user asked for the summary, so that it is made although the history is within its limit: what it must
        /// keep in the user's words, which may be empty.
        compact: Option<String>,
    },
    /// Stop the summary that is being made.
    CancelSummary,
    /// Find the places of the edits in a reply.
    Propose {
        /// The request that it answers, for the commit message.
        request: String,
        /// The changes to which the first of the replies is applied.
        pending: PendingChanges,
        /// The replies before it that it mends, oldest first.
        earlier: Vec<String>,
        /// The reply.
        reply: String,
        /// Which answers of the session the earlier replies and the reply are, 0-based; `None` for a text that is no answer.
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
    /// Take the last write back, or do it again.
    Undo(Direction),
    /// Read files again that changed under a review.
    Reread(Vec<String>),
    /// Put the request together as one text for the clipboard.
    CopyPrompt(Box<RequestSpec>),
    /// Look for model servers on this machine.
    FindServers,
    /// Talk to this server from now on.
    Connect {
        /// What it speaks.
        api: Api,
        /// Root of its API.
        base_url: String,
        /// Model to ask for.
        model: String,
    },
    /// Ask for another model.
    UseModel(String),
    /// Look for keys and servers, or take a key.
    Connecting(ConnectEffect),
    /// Tell somebody who looks elsewhere, by the command of the settings.
    Notify(String),
    /// Search the repository for passages.
    Codebase(CodebaseSearch),
    /// Find something out about what a message or an answer names.
    Mention(MentionEffect),
    /// Look something up.
    Lookup(LookupEffect),
    /// Do something with the index of meanings.
    Index(IndexEffect),
    /// Do something with git.
    Git(GitEffect),
    /// Run a command, or stop one.
    Run(RunEffect),
    /// Keep something of the session, or find it again.
    Persist(PersistenceEffect),
    /// Get something from outside.
    Fetch(FetchEffect),
}

/// The next request and the map in it, measured.
#[derive(Debug, Clone)]
pub struct ContextView {
    /// The ranked map; `None` while the repository is being read.
    pub map: Option<Arc<RepoMap>>,
    /// Whether the map is a first guess, which is shown and never sent.
    pub provisional: bool,
    /// The request.
    pub prompt: Arc<Prompt>,
    /// Files of the chat that cannot be sent, and why.
    pub unreadable: Vec<(String, String)>,
}

/// Something that went wrong, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened, and to what.
    pub message: String,
    /// What to do next.
    pub hint: String,
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
    /// The tokens that the history had.
    pub before: usize,
    /// The tokens that it has now.
    pub after: usize,
}

/// What a write did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The files.
    pub paths: Vec<String>,
    /// The commit, shortened, if one was made.
    pub commit: Option<String>,
    /// The commit before it of the user's own changes to these files, if one was made.
    pub own_commit: Option<String>,
    /// The commit that an undo took off the branch, shortened.
    pub dropped: Option<String>,
    /// The commit that a redo put back, shortened.
    pub restored: Option<String>,
    /// Whether the commit is made as soon as its message is there, which [`GitResponse::Committed`] tells.
    pub commit_follows: bool,
    /// Why there is none, or what else to know.
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

/// An answer of the world.
#[derive(Debug, Clone)]
pub enum Response {
    /// The survey goes on.
    SurveyProgress {
        /// Files read.
        done: usize,
        /// Files to read; 0 while they are being counted.
        total: usize,
    },
    /// These files there are, sorted; they are still to be read.
    Listed(Arc<Vec<String>>),
    /// There is something to show while the survey goes on.
    Sketched,
    /// The survey that is just done left out so many files of so many.
    LeftOut {
        /// Files that were not read.
        unread: usize,
        /// All files.
        total: usize,
    },
    /// The survey is done.
    Surveyed {
        /// Something to know about it.
        note: Option<Failure>,
    },
    /// The branch, for the status line.
    Head(String),
    /// The next request, measured.
    Measured {
        /// The order it answers.
        generation: u64,
        /// The result.
        view: ContextView,
    },
    /// Something happened while a request is asked.
    Asked {
        /// The turn.
        turn: u64,
        /// What.
        event: AskEvent,
    },
    /// A summary stands for the beginning of a history, or could not be made.
    Summarized {
        /// The history as it was.
        history: Arc<Vec<Message>>,
        /// The history as it is to be sent.
        result: Result<Summarized, Failure>,
    },
    /// The answer ended.
    Ended {
        /// The turn.
        turn: u64,
        /// How; after an error the session keeps what had arrived.
        result: Result<Completion, AskError>,
    },
    /// The edits of a reply, located.
    Proposed {
        /// The request that the reply answered.
        request: String,
        /// The proposal.
        proposal: Proposal,
    },
    /// The edits of a reply could not be looked for; why, if that has to be told.
    NotProposed(Option<Failure>),
    /// Comments for the model in files are followed now, or cannot be.
    Watching(Result<(), Failure>),
    /// A file was saved.
    Comments {
        /// Which.
        path: String,
        /// The comments for the model in it.
        found: Vec<FoundComment>,
    },
    /// Files were written.
    Wrote(Written),
    /// Nothing is written yet: the text to be written has these syntax errors, which the user has not agreed to.
    BreaksSyntax(Vec<SyntaxFault>),
    /// Nothing is written yet: the journal cannot record it, and why.
    NotRecorded(String),
    /// Nothing was written.
    NotWritten {
        /// Why.
        failure: Failure,
        /// Files that changed meanwhile.
        stale: Vec<String>,
    },
    /// The last write was taken back or done again; no files if there was none.
    Undone {
        /// Which of the two.
        direction: Direction,
        /// What that did, or why nothing was done.
        result: Result<Written, Failure>,
    },
    /// A file as it is now; `None` if it cannot be read as text any more.
    Reread {
        /// Path under the root.
        path: String,
        /// Its text.
        text: Option<Arc<str>>,
    },
    /// The request as one text.
    PromptText(String),
    /// What the repository defines, where.
    Symbols(Arc<TagGraph>),
    /// Of a search for passages.
    Codebase(CodebaseResponse),
    /// About what a message or an answer names.
    Mention(MentionResponse),
    /// What was looked up.
    LookedUp(LookupResponse),
    /// Of the index of meanings.
    Indexing(IndexResponse),
    /// Of git.
    Git(GitResponse),
    /// Of a command that runs.
    Ran(RunResponse),
    /// Of what is kept.
    Persisted(PersistenceResponse),
    /// From outside.
    Fetched(FetchResponse),
    /// Servers found on this machine.
    Servers(Vec<LocalServer>),
    /// Something that was asked for failed.
    Failed(Failure),
    /// Of looking for keys and servers, or of a key that was entered.
    Connecting(ConnectResponse),
    /// A new connection stands.
    Connected {
        /// The model.
        model: String,
        /// Whose it is, for the status line.
        host: String,
        /// What is known of it.
        facts: Arc<Model>,
        /// Things to know about it.
        notes: Vec<Failure>,
    },
}
