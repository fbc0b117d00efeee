//! The conversation: a state machine without I/O ([`Session`]), and the runner that does what it asks for.
//!
//! The face calls methods of the session; each returns effects; the runner carries them out and answers with reports, which
//! go back into the session. Turns and measurements carry a number, so that a late answer to an old question is dropped.
//!
//! ```text
//! start state transcript effect   what it starts with, what is known, what was said, what is to be done and what came of it
//! question                        what waits for an answer of the developer
//! connecting                      a key that the user enters, and where keys and servers were looked for
//! command                         the table of slash commands, what each does, commands from the user's files, a line as typed
//! turn                            a message from the composer to the end of its answer, and those that wait their turn
//! modes                           how a message is meant, and which model it goes to
//! request                         what goes out with a message and what it may cost: files, what is named, the map, summaries, money
//! fetching                        pages, pictures and speech that go along
//! proposal                        from a proposal to files and commits
//! processes                       commands, checks of what was written, commands that the model suggests
//! repository                      reading it, its index of meanings, comments for the model in its files, what is looked up
//! codebase                        questions about the whole repository, and the passages that stay
//! keeping                         sessions on disk: resuming, branching, exporting
//! runner                          carries the effects out: the one place that joins the rooms of the world
//! ```

mod attachments;
mod codebase;
mod command;
mod connect;
mod effect;
mod modes;
mod notice;
mod persistence;
mod processes;
mod proposal;
mod question;
mod repository;
mod request;
mod start;
mod state;
mod transcript;
mod turn;

#[cfg(test)]
mod tests;

pub use attachments::{
    Attachments, Clipboard, FetchEffect, FetchResponse, NewImage, PageFetch, Recording, SharedPage, Stage,
    is_picture_path,
};
pub use codebase::{
    Codebase, CodebaseResponse, CodebaseSearch, FoundPassages, MoreContextRequest, PassageCommand, SearchGoal,
    SearchStep, found_message,
};
pub use command::custom::{CustomCommands, CustomUse, origin};
pub use command::input_line::{ParsedLine, as_command, is_command};
pub use command::{
    Argument, COMMANDS, Candidate, Candidates, Command, CommandError, CommandInfo, Group, Place, Slot, Word,
    find_command, folder_of, parse_command, place,
};
pub use connect::{ConnectEffect, ConnectRequest, ConnectResponse, Connecting, NewKey};
pub use effect::{
    ClipboardText, ContextView, Effect, Failure, PendingWrite, RequestSpec, Response, Summarized, Written,
};
pub use modes::ModeRules;
pub use modes::architect::Plan;
pub use modes::who::ModelRole;
pub use notice::Notice;
pub use persistence::{
    ExportFormat, Exported, Persistence, PersistenceEffect, PersistenceQuestion, PersistenceResponse, SavedSession,
    SessionSelector, Speaker, TextFile, UnfinishedWork, UnsavedChanges, export, last_said,
};
pub use processes::suggested_commands::suggested;
pub use processes::verify::ProcessSubject;
pub use processes::{
    CommandRun, Origin, Outcome, Processes, RepeatedCheck, RunEffect, RunLog, RunResponse, RunState, SharedText,
    VerifyRequest, When,
};
pub use proposal::commits::{CommitRequest, Commits, Committed, Consent, GitEffect, GitResponse};
pub use proposal::review::{WritePlan, WritePreview};
pub use proposal::summary::{LeftHunks, LeftReason, WriteSummary};
pub use proposal::syntax::SHOW_FAULT;
pub use proposal::undo::{CommitPlan, UndoPreview, commit_change};
pub(crate) use proposal::write::few;
pub use proposal::write::write_orders;
pub use question::{Choice, Question, Questions, Subject};
pub use repository::comment_watch::CommentWatch;
pub use repository::embedding_index::{IndexEffect, IndexEstimate, IndexResponse, IndexState, consent_text};
pub use repository::lookup::{Known, LookupEffect, LookupResponse, ModelRow, ModelUse, Page, SettingRow};
pub use request::chat_files::ChatFile;
pub use request::citations::Citations;
pub use request::map_choices::{MAP_BUDGET_STEP, MapIdentity, MapSettings, MapState};
pub use request::mentions::{Attachment, LookedUp, MentionEffect, MentionResponse, NamedFile, RequestedFiles};
pub use request::overrides::{Choices, Chosen};
pub use request::spending::uncounted;
pub use start::SessionStart;
pub use state::{Connection, Session, SurveyState};
pub use transcript::{Answer, AnswerState, Entry, EntryVersion, Level, StatusMessage, Transcript};
pub use turn::events::{AskError, AskEvent, Spent};
pub use turn::queue::{Queue, Queued};
pub use turn::{StreamedEdit, Turn, TurnStatus};
