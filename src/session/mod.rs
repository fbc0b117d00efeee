//! The conversation: a state machine without I/O ([`Session`]), and the runner that does what it asks for.
//!
//! The face calls methods of the session; each returns effects; the runner carries them out and answers with reports, which
//! go back into the session. Turns and measurements carry a number, so that a late answer to an old question is dropped.

mod chat_files;
mod command;
mod effect;
mod map_choices;
mod rounds;
pub mod runner;
mod state;
mod transcript;
mod turn;
mod writing;

#[cfg(test)]
mod tests;

pub use chat_files::ChatFile;
pub use command::{COMMANDS, Command, CommandError, CommandInfo, parse_command};
pub use effect::{ContextOrder, ContextView, Effect, Failure, Report, WriteOrder, Written};
pub use state::{Connection, Session, SurveyState};
pub use transcript::{Answer, AnswerState, Entry, Level, Notice};
pub use turn::{StreamedEdit, Turn};
pub use writing::{commit_message, write_orders};
