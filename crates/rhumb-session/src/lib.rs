//! A conversation with a language model about a repository, as a state machine without I/O.
//!
//! A [`Session`] holds the transcript, the files in the chat, the proposals under review, the questions to the user and everything else
//! that a front end shows. A front end calls one method for each action of the user. The method changes the state and returns [`Effect`]s:
//! requests to read, send, write or run something. A host performs them and answers with [`Response`]s, which go to [`Session::handle`]. An
//! event that the front end has to show or handle once is reported as a [`Notice`].
//!
//! ```
//! use rhumb_session::{Connection, Effect, Session};
//!
//! let connection = Connection::Remote { model: "m".into(), host: "localhost".into() };
//! let (mut session, _) = Session::start(connection);
//! let (is_sent, effects) = session.send("Why does the build fail?");
//! assert!(is_sent);
//! assert!(matches!(&effects[..], [Effect::Ask(request)] if request.draft == "Why does the build fail?"));
//! ```
//!
//! [`context`] assembles a request: its sections in order with their tokens. It leaves sections out if the request exceeds the
//! context window.
//!
//! # Limits
//!
//! One session has one turn at a time; messages that are sent meanwhile are queued. The session does not check that responses come
//! from a host: a front end may construct them, as tests do. It reads no files, clock or environment.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `state` | the session, its drafts, and the options at its start |
//! | `transcript`, `question`, `notice` | messages and answers; questions to the user; notices to the front end |
//! | `effect` | effects and responses |
//! | `command` | slash commands: the table, parsing, completion, custom commands |
//! | `agent` | agent mode: the loop of model and tools |
//! | `turn`, `modes`, `codebase` | a turn from the message to the end of its answer; the modes; `@codebase` questions |
//! | `request`, `context` | the contents of a request and its cost |
//! | `proposal`, `processes` | edits from the answer to files and commits; commands, checks and their repair |
//! | `attachments`, `connect` | pages, images and dictation; connecting a model |
//! | `repository`, `persistence` | the files and the indexes of the repository, look-ups; saved sessions |

mod agent;
mod attachments;
mod codebase;
mod command;
mod connect;
pub mod context;
mod effect;
mod modes;
mod notice;
mod persistence;
mod processes;
mod proposal;
mod question;
mod repository;
mod request;
mod state;
mod transcript;
mod turn;
mod view;

#[cfg(any(test, feature = "test-support"))]
mod test_support;
#[cfg(test)]
mod tests;

pub use agent::{
    AgentEffect, AgentEnd, AgentQuestion, AgentResponse, AgentRules, AgentStatus, AgentView, CapChange, PendingCall,
    RunPolicy, ToolOutcome,
};
pub use attachments::{
    Attachments, Clipboard, FetchEffect, FetchResponse, NewImage, PageFetch, Recording, RecordingState, SharedPage,
    is_image_path,
};
pub use codebase::context_requests::ContextRequestPolicy;
pub use codebase::{
    Codebase, CodebaseResponse, CodebaseSearch, FoundPassages, MoreContextRequest, PassageCommand, SearchGoal,
    SearchStep, found_message,
};
pub use command::custom::{CommandFile, CommandSource, CustomCommands, CustomUse, origin};
pub use command::input_line::{ParsedLine, as_command, is_command};
pub use command::{
    Argument, COMMANDS, Command, CommandError, CommandInfo, Completer, CompletionItem, CompletionKind,
    CompletionTarget, ExtraCommand, Group, completion_target, find_command, folder_of, parse_command,
};
pub use connect::{
    ConnectEffect, ConnectRequest, ConnectResponse, Connecting, Connection, KeySearch, KeyedProvider, ModelRole,
    NewKey, SearchedPlace,
};
pub use effect::{
    ClipboardText, CodebaseQuestion, ContextView, Effect, EffectKind, Failure, PendingWrite, RequestId, RequestSpec,
    Response, Summarized, Written,
};
pub use modes::architect::Plan;
pub use modes::{MentionPolicy, ModeRules};
pub use notice::Notice;
pub use persistence::{
    ExportFormat, Exported, Persistence, PersistenceEffect, PersistenceQuestion, PersistenceResponse, SavedSession,
    SessionChange, SessionLine, SessionSelector, Speaker, StoredSession, TextFile, UnfinishedWork, UnsavedChanges,
    export, last_messages,
};
pub use processes::suggested_commands::suggested;
pub use processes::verify::{Findings, ProcessSubject};
pub use processes::{
    Bisection, CheckMode, CommandRun, JobOutcome, Origin, Processes, RepeatedCheck, RunEffect, RunLog, RunResponse,
    RunState, SharedText, VerifyRequest,
};
pub use proposal::commits::{CommitChoice, CommitRequest, Commits, Committed, GitEffect, GitResponse, OwnChanges};
pub use proposal::trial::{
    CopyQuestion, FinishedTrial, TooLargeCopy, TrialCommand, TrialHunks, TrialRequest, TrialRules, VerifyTime,
};
pub use proposal::undo::{CommitPlan, UndoPreview, commit_change};
pub use proposal::write::{
    FileSummary, PreviewedFile, UnwrittenHunks, UnwrittenReason, WritePlan, WritePreview, WriteSummary, name_some,
    pending_writes,
};
pub use proposal::write_questions::{SHOW_FAULT, WriteConsent};
pub use question::{Choice, Question, Questions, Subject};
pub use repository::SurveyState;
pub use repository::comment_watch::CommentWatch;
pub use repository::embedding_index::{IndexEffect, IndexEstimate, IndexResponse, IndexState, consent_text};
pub use repository::lookup::{LookupEffect, LookupResponse, Lookups, ModelRow, Page, SettingKind, SettingRow};
pub use request::chat_files::ChatFile;
pub use request::citations::Citations;
pub use request::map_choices::{MAP_BUDGET_STEP, MapIdentity, MapSettings, MapState};
pub use request::mentions::{
    Attachment, FileQuestion, LookedUp, MentionEffect, MentionResponse, NamedFile, RequestedFiles,
};
pub use request::overrides::{Override, RequestOverrides};
pub use request::spending::uncounted;
pub use state::{Session, SessionStart};
pub use transcript::{Answer, AnswerState, Entry, EntryVersion, Level, StatusMessage, ToolState, ToolUse, Transcript};
pub use turn::events::{AskError, AskEvent, Spent};
pub use turn::queue::{Queue, Queued};
pub use turn::{StreamedEdit, StreamedLine, Turn, TurnStatus};
