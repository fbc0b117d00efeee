//! What is kept of a session as it happens, and earlier sessions.
//!
//! The face asks now and then what has changed ([`Session::kept_changes`]); that is cheap, and nothing waits for the disk. Only one
//! process may have a session open. Going on with an earlier one therefore has two steps: the runner takes hold of it and reads
//! it, and the session, which may be busy by then, enters it or leaves it.

mod branch;
mod change;
mod earlier_sessions;
mod export;
mod resume;
pub mod rows;
mod saved;
mod scripts;
#[cfg(test)]
mod tests;
mod unfinished;

use std::path::PathBuf;

use super::effect::{Effect, Failure};
use super::notice::Notice;
use super::question::{Choice, Question, Subject};
use super::state::Session;
use super::transcript::{Entry, Level};
use crate::SessionLine;

pub use change::UnsavedChanges;
pub use earlier_sessions::{Speaker, last_said};
pub use export::{ExportFormat, Exported, export};
pub use saved::SavedSession;
pub use unfinished::UnfinishedWork;

/// An earlier session, as somebody asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSelector {
    /// The one that changed last, other than the one that is open.
    Newest,
    /// The one of that number or name, or with those words.
    Named(String),
}

/// Something to keep, or to find again.
#[derive(Debug, Clone, PartialEq)]
pub enum PersistenceEffect {
    /// Begin to keep, or go on with an earlier session.
    Open(Option<SessionSelector>),
    /// Keep this.
    Change(Box<UnsavedChanges>),
    /// What follows belongs to the session that was read last.
    Enter,
    /// The session that was read last is not gone on with.
    Leave,
    /// What follows belongs to a new session, which comes from the one that is open.
    Branch {
        /// The session that it comes from, where that is another than the one that is open.
        from: Option<i64>,
    },
    /// List earlier sessions.
    List(String),
    /// Tell which earlier sessions there are, to complete their names.
    Names,
    /// Tell what was said last in the session of that number, for a look at it.
    Peek(i64),
    /// Delete the session of that number, and list those that are left.
    Delete(i64),
    /// Call the session of that number so, and list them all again.
    Rename(i64, String),
    /// Read an earlier session.
    Resume {
        /// Which.
        wanted: SessionSelector,
        /// To begin a new one with it, and leave it as it is.
        fork: bool,
    },
    /// Write a file of the repository.
    Write(TextFile),
    /// Read a file of commands.
    Read(String),
}

/// A text to write to a file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Path under the root. One that ends in a hyphen is completed with the date and an ending.
    pub path: String,
    /// The text.
    pub text: String,
    /// What it is, as the subject of a sentence: `The session`.
    pub what: String,
    /// Whether a file that is there may be replaced: the user said so.
    pub over: bool,
}

/// What was found, or why not.
#[derive(Debug, Clone)]
pub enum PersistenceResponse {
    /// What happens is kept from now on. These are the inputs of earlier sessions, the oldest first.
    Opened(Vec<String>),
    /// Something waits in the last session, which has this number.
    UnfinishedWork(i64, UnfinishedWork),
    /// Nothing is kept from now on, for this reason, if it has to be told.
    Off(Option<Failure>),
    /// The session has this number.
    Numbered(i64),
    /// The database was damaged and lies there now: all of the session has to be kept again.
    DatabaseReplaced(PathBuf),
    /// Somebody has deleted the session: all of it has to be kept again, as another.
    Deleted,
    /// Earlier sessions, to complete their names.
    Names(Vec<SessionLine>),
    /// Earlier sessions, for a list with that query.
    Listed(String, Vec<SessionLine>),
    /// What was said last in the session of that number: who, and what.
    Peeked(i64, Vec<(Speaker, String)>),
    /// An earlier session, as it was kept; to begin a new one with it, if `fork`.
    Resumed {
        /// The session.
        session: Box<SavedSession>,
        /// Whether it stays as it is.
        fork: bool,
    },
    /// Another process has that session open.
    OpenElsewhere {
        /// Its number.
        number: i64,
        /// What to call it.
        title: String,
    },
    /// A file was written.
    Written {
        /// Path under the root.
        path: String,
        /// What it holds.
        what: String,
    },
    /// There is a file already.
    Exists(TextFile),
    /// A file of commands.
    Commands {
        /// Path under the root.
        path: String,
        /// What it says.
        text: String,
    },
    /// It could not be done.
    Failed(Failure),
}

/// What a question about sessions is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersistenceQuestion {
    /// Begin a new session with what is in one that another process has open?
    Fork(i64),
    /// Write over a file?
    Replace(TextFile),
}

/// How the session stands with what is kept of it.
#[derive(Debug, Default)]
pub struct Persistence {
    /// What the user calls the session; empty for nothing.
    pub name: String,
    /// The number that it is kept under, once it is.
    pub number: Option<i64>,
    /// What was typed, in earlier sessions too, the oldest first.
    pub inputs: Vec<String>,
    /// Earlier sessions as last looked up, the newest first.
    pub earlier: Vec<SessionLine>,
    /// What was told of something that waits in the last session.
    unfinished: Option<Entry>,
    /// Whether changes are kept.
    on: bool,
    /// What is kept already.
    kept: change::Kept,
    /// Inputs that are not kept yet.
    new_inputs: Vec<String>,
}

/// Inputs that are remembered; as many as are kept.
const INPUTS: usize = 2_000;

impl Session {
    /// Begins to keep what happens; goes on with an earlier session, if one is wanted.
    pub fn keep(&self, resume: Option<SessionSelector>) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Open(resume))]
    }

    /// Remembers a message or command as it was typed.
    pub fn remember_input(&mut self, text: &str) {
        let text = text.trim_end();
        let inputs = &mut self.persistence.inputs;
        if text.is_empty() || inputs.last().is_some_and(|last| last == text) {
            return;
        }
        // What is typed again moves to the end, as it does in what is kept.
        inputs.retain(|known| known != text);
        inputs.push(text.to_owned());
        if inputs.len() > INPUTS {
            inputs.remove(0);
        }
        self.persistence.new_inputs.push(text.to_owned());
    }

    /// Lists earlier sessions, to choose one.
    pub fn list_sessions(&self, query: String) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::List(query))]
    }

    /// Names the session.
    pub fn rename(&mut self, name: String) {
        self.report(
            Level::Info,
            format!("This session is called {name} from now on."),
            "/resume finds it by its name.",
        );
        self.persistence.name = name;
    }

    /// Takes in what became of an order.
    pub(super) fn kept(&mut self, report: PersistenceResponse) -> Vec<Effect> {
        match report {
            PersistenceResponse::Opened(inputs) => {
                self.persistence.on = true;
                // What was typed before the database was open is the newest.
                let typed = std::mem::replace(&mut self.persistence.inputs, inputs);
                self.persistence.inputs.retain(|known| !typed.contains(known));
                self.persistence.inputs.extend(typed);
            }
            PersistenceResponse::Off(failure) => {
                self.persistence.on = false;
                if let Some(failure) = failure {
                    self.report_failure(Level::Warning, failure);
                }
            }
            PersistenceResponse::UnfinishedWork(number, unfinished) => self.report_unfinished(number, unfinished),
            PersistenceResponse::Numbered(number) => self.persistence.number = Some(number),
            PersistenceResponse::DatabaseReplaced(aside) => self.report_damaged(&aside),
            PersistenceResponse::Deleted => self.forget_kept(),
            PersistenceResponse::Names(lines) => self.persistence.earlier = lines,
            PersistenceResponse::Listed(query, lines) => self.listed_sessions(query, lines),
            // The face takes note of it by itself.
            PersistenceResponse::Peeked(..) => {}
            PersistenceResponse::Resumed { session, fork } => return self.resumed(*session, fork),
            PersistenceResponse::OpenElsewhere { number, title } => self.ask_to_fork(number, &title),
            PersistenceResponse::Written { path, what } => {
                self.comment_watch.exclude(&path);
                self.report(Level::Info, format!("{what} was written to {path}."), "");
            }
            PersistenceResponse::Exists(order) => self.ask_to_replace(order),
            PersistenceResponse::Commands { path, text } => self.take_script(&path, &text),
            PersistenceResponse::Failed(failure) => self.report_failure(Level::Warning, failure),
        }
        Vec::new()
    }

    fn report_damaged(&mut self, aside: &std::path::Path) {
        self.forget_kept();
        let text = format!("The database of sessions was damaged and was moved to {}.", aside.display());
        self.report(
            Level::Warning,
            text,
            "Nothing of it was deleted. A new one was begun; this session is kept in it.",
        );
    }

    fn listed_sessions(&mut self, query: String, lines: Vec<SessionLine>) {
        if lines.is_empty() {
            self.report(Level::Info, "There is no other session in this repository.", "");
            return;
        }
        self.notices.push(Notice::ChooseSession(query, lines));
    }

    fn ask_to_fork(&mut self, number: i64, title: &str) {
        self.question(Question {
            subject: Subject::Persistence(PersistenceQuestion::Fork(number)),
            title: format!("Session {number} is open in another rhumb. Begin a new session with what is in it?"),
            text: title.to_owned(),
            choices: vec![Choice::new('f', "fork it"), Choice::new('n', "leave it")],
        });
    }

    fn ask_to_replace(&mut self, order: TextFile) {
        self.question(Question {
            title: format!("{} is there already. Replace it?", order.path),
            text: String::new(),
            subject: Subject::Persistence(PersistenceQuestion::Replace(order)),
            choices: vec![Choice::new('r', "replace the file"), Choice::new('k', "keep the file")],
        });
    }

    /// Acts on the answer to a question about sessions.
    pub(super) fn answer_on_keeping(&mut self, question: PersistenceQuestion, key: char) -> Vec<Effect> {
        match question {
            PersistenceQuestion::Fork(number) if key == 'f' => {
                vec![Effect::Persist(PersistenceEffect::Resume {
                    wanted: SessionSelector::Named(number.to_string()),
                    fork: true,
                })]
            }
            PersistenceQuestion::Replace(order) if key == 'r' => {
                vec![Effect::Persist(PersistenceEffect::Write(TextFile { over: true, ..order }))]
            }
            PersistenceQuestion::Fork(_) | PersistenceQuestion::Replace(_) => Vec::new(),
        }
    }
}
