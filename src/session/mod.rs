//! The conversation: a state machine without I/O ([`Session`]), and the runner that does what it asks for.
//!
//! The face calls methods of the session; each returns effects; the runner carries them out and answers with reports, which
//! go back into the session. Turns and measurements carry a number, so that a late answer to an old question is dropped.
//!
//! ```text
//! start state transcript effect   what it starts with, what is known, what was said, what is to be done and what came of it
//! command commands custom line    the table of slash commands, what each does, commands from the user's files, a line as typed
//! sending ordering turn asking …  a message from the composer to the end of its answer
//! queue doubt question            what waits: for the model, for a second Enter, for an answer of the developer
//! modes architect finding who     how a message is meant, and which model it goes to
//! chat_files mentions fetching    what goes along: files, what is named, pages and pictures
//! rounds writing decided commits  from a proposal to files and commits
//! processes verifying suggesting  commands, checks of what was written, commands that the model suggests
//! codebase                        questions about the whole repository, and the passages that stay
//! watching                        comments for the model in files
//! keeping                         sessions on disk: resuming, branching, exporting
//! citing                          which places of the repository answers name, and whether they are there
//! folding spending choosing …     summaries, money, models and other choices
//! runner                          carries the effects out: the one place that joins the rooms of the world
//! ```

mod architect;
mod asking;
mod chat_files;
mod choosing;
mod citing;
mod codebase;
mod command;
mod commands;
mod commits;
mod custom;
mod decided;
mod doubt;
mod effect;
mod elsewhere;
mod fetching;
mod finding;
mod folding;
mod going_on;
mod indexing;
mod keeping;
mod line;
mod looking;
mod map_choices;
mod mentions;
mod modes;
mod ordering;
mod processes;
mod question;
mod queue;
mod reading;
mod reviewing;
mod rounds;
pub mod runner;
mod secrets;
mod sending;
mod spending;
mod start;
mod state;
mod suggesting;
mod telling;
mod transcript;
mod turn;
mod verifying;
mod watching;
mod who;
mod writing;

#[cfg(test)]
mod tests;

pub use architect::Plan;
pub use asking::{AskEvent, Spent};
pub use chat_files::ChatFile;
pub use choosing::{Choices, Chosen};
pub use citing::Citing;
pub use codebase::{
    Codebase, CodebaseOrder, CodebaseReport, FoundPassages, PassageChoice, Sought, WantsMore, found_message,
};
pub use command::{
    Argument, COMMANDS, Candidate, Candidates, Command, CommandError, CommandInfo, Group, Place, Slot, Word,
    find_command, folder_of, parse_command, place,
};
pub use commits::{CommitOrder, Commits, Committed, GitOrder, GitReport};
pub use custom::{CustomCommands, CustomUse, origin};
pub use decided::Decided;
pub use effect::{Clip, ContextOrder, ContextView, Effect, Failure, Report, WriteOrder, Written};
pub use fetching::{
    Clipboard, FetchOrder, FetchReport, NewPicture, Outside, PageFetch, Recording, SharedPage, Stage, is_picture_path,
};
pub use indexing::{IndexCommand, IndexReport, IndexState, consent_text};
pub use keeping::{
    ExportFormat, Exported, KeepOrder, KeepQuestion, KeepReport, Keeping, KeptChange, KeptSession, Speaker, TextOrder,
    WhichSession, export, last_said,
};
pub use line::{Meant, as_command, is_command};
pub use looking::{Known, LookOrder, LookReport, ModelRow, ModelUse, Page, SettingRow};
pub use map_choices::{MAP_BUDGET_STEP, ThisMap};
pub use mentions::{Attachment, LookedUp, MentionOrder, MentionReport, Wanted};
pub use modes::ModeRules;
pub use processes::{
    CheckOrder, Origin, Outcome, Processes, Ran, RunLog, RunOrder, RunReport, RunState, SharedText, When,
};
pub use question::{Choice, Question, Subject};
pub use queue::{Queue, Queued};
pub use reviewing::{WritePlan, WritePreview};
pub use spending::uncounted;
pub use start::SessionStart;
pub use state::{Connection, Session, SurveyState};
pub use suggesting::suggested;
pub use transcript::{Answer, AnswerState, Entry, Level, Notice};
pub use turn::{StreamedEdit, Turn};
pub use verifying::ProcessSubject;
pub use watching::Watching;
pub use who::Who;
pub(crate) use writing::few;
pub use writing::{commit_message, write_orders};
