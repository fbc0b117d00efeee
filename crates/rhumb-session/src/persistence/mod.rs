//! Saving the session while it runs, and earlier sessions.
//!
//! The front end asks at intervals for the changes since the last save ([`Session::unsaved_changes`]) and passes them to the host. This
//! is cheap and does not wait for the disk. Only one process may have a session open. An earlier session is therefore resumed in two
//! steps: the host locks and reads it, and then the session, which may be busy by that time, confirms or cancels.

mod export;
mod resume;
mod saved;
#[cfg(test)]
mod tests;

use crate::{Choice, Effect, Entry, Failure, Level, Notice, Question, Session, Subject};
use std::path::{Path, PathBuf};

pub use export::{ExportFormat, Exported, export};
pub use resume::UnfinishedWork;
pub use resume::{Speaker, last_messages};
pub use saved::{SavedSession, SessionChange, SessionLine, StoredSession, UnsavedChanges};

/// Identifies an earlier session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSelector {
    /// The session that changed last, other than the open one.
    Newest,
    /// The session with this number or name, or whose first message contains these words.
    Named(String),
}

/// Something to save or to load.
#[derive(Debug, Clone, PartialEq)]
pub enum PersistenceEffect {
    /// Start saving, and resume an earlier session if one is given.
    Open(Option<SessionSelector>),
    /// Save these changes.
    Save(Box<UnsavedChanges>),
    /// Later changes belong to the session that was loaded last.
    ConfirmResume,
    /// Release the session that was loaded last. It is not resumed.
    CancelResume,
    /// Later changes belong to a new session.
    Branch {
        /// The parent of the new session; `None` for the open session.
        from: Option<i64>,
    },
    /// List earlier sessions, for a list with this filter.
    List(String),
    /// List earlier sessions, to complete their names.
    Names,
    /// Read the last messages of the session with this number, for a preview.
    Peek(i64),
    /// Delete the session with this number, and list the others.
    Delete(i64),
    /// Rename the session with this number, and list all.
    Rename(i64, String),
    /// Load an earlier session.
    Resume {
        /// The session to load.
        selector: SessionSelector,
        /// Whether a new session starts with its contents. The loaded one stays unchanged.
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
    /// The path under the root. If it ends in a hyphen, the host appends the date and an extension.
    pub path: String,
    /// The text.
    pub text: String,
    /// What the text is, as the subject of a sentence: `The session`.
    pub what: String,
    /// Whether the user agreed to replace an existing file.
    pub overwrite: bool,
}

/// The response to a [`PersistenceEffect`].
#[derive(Debug, Clone)]
pub enum PersistenceResponse {
    /// Changes are saved from now on. Contains the inputs of earlier sessions, the oldest first.
    Opened(Vec<String>),
    /// The last session, with this number, has unfinished work.
    UnfinishedWork(i64, UnfinishedWork),
    /// Changes are not saved any more. The failure is absent if the user needs no explanation.
    Off(Option<Failure>),
    /// The number of the session.
    Numbered(i64),
    /// The database was damaged and was moved to this path. The whole session has to be saved again.
    DatabaseReplaced(PathBuf),
    /// Another process deleted the session. All of it has to be saved again, as a new one.
    Deleted,
    /// Earlier sessions, to complete their names.
    Names(Vec<SessionLine>),
    /// Earlier sessions, for a list with this filter.
    Listed(String, Vec<SessionLine>),
    /// The last messages of the session with this number.
    Peeked(i64, Vec<(Speaker, String)>),
    /// An earlier session was loaded.
    Resumed {
        /// The session.
        session: Box<SavedSession>,
        /// Whether a new session starts with its contents.
        fork: bool,
    },
    /// Another process has the session open.
    OpenElsewhere {
        /// Its number.
        number: i64,
        /// Its title.
        title: String,
    },
    /// A file was written.
    Written {
        /// The path under the root.
        path: String,
        /// What the file contains: [`TextFile::what`].
        what: String,
    },
    /// The file exists already and was not written.
    Exists(TextFile),
    /// The contents of a file of commands.
    Commands {
        /// The path under the root.
        path: String,
        /// The text.
        text: String,
    },
    /// The effect failed.
    Failed(Failure),
}

/// The subject of a question about sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersistenceQuestion {
    /// Fork the session with this number, which another process has open?
    Fork(i64),
    /// Replace an existing file?
    Replace(TextFile),
}

/// The identity of the session in the database, and the state of saving.
#[derive(Debug, Default)]
pub struct Persistence {
    /// The name that the user gave the session; empty without one.
    pub name: String,
    /// The number in the database, once the session is saved.
    pub number: Option<i64>,
    /// The inputs of this and earlier sessions, the oldest first.
    pub inputs: Vec<String>,
    /// Earlier sessions as last listed, the newest first.
    pub earlier: Vec<SessionLine>,
    /// The status message about unfinished work in the last session.
    unfinished: Option<Entry>,
    is_on: bool,
    saved: saved::SavedState,
    new_inputs: Vec<String>,
}

/// Maximum number of inputs in the history. The database has the same limit.
const MAX_INPUTS: usize = 2_000;

impl Session {
    /// Starts saving, and resumes an earlier session if one is given.
    pub fn start_saving(&self, resume: Option<SessionSelector>) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Open(resume))]
    }

    /// Whether changes are saved, so that the session can be resumed.
    pub fn is_saved(&self) -> bool {
        self.persistence.is_on
    }

    /// Adds a message or command, as typed, to the input history.
    pub fn remember_input(&mut self, text: &str) {
        let text = text.trim_end();
        let inputs = &mut self.persistence.inputs;
        if text.is_empty() || inputs.last().is_some_and(|last| last == text) {
            return;
        }
        // A repeated input moves to the end, as it does in the database.
        inputs.retain(|known| known != text);
        inputs.push(text.to_owned());
        if inputs.len() > MAX_INPUTS {
            inputs.remove(0);
        }
        self.persistence.new_inputs.push(text.to_owned());
    }

    /// Names the session.
    pub fn rename(&mut self, name: String) {
        self.report(Level::Info, format!("This session is now called {name}."), "/resume finds it by its name.");
        self.persistence.name = name;
    }

    pub(super) fn persisted(&mut self, response: PersistenceResponse) -> Vec<Effect> {
        match response {
            PersistenceResponse::Opened(inputs) => {
                self.persistence.is_on = true;
                // Inputs that were typed before the database was open are the newest.
                let typed = std::mem::replace(&mut self.persistence.inputs, inputs);
                self.persistence.inputs.retain(|known| !typed.contains(known));
                self.persistence.inputs.extend(typed);
            }
            PersistenceResponse::Off(failure) => {
                self.persistence.is_on = false;
                if let Some(failure) = failure {
                    self.report_failure(Level::Warning, failure);
                }
            }
            PersistenceResponse::UnfinishedWork(number, work) => self.report_unfinished(number, work),
            PersistenceResponse::Numbered(number) => self.persistence.number = Some(number),
            PersistenceResponse::DatabaseReplaced(moved_to) => self.report_damaged_database(&moved_to),
            PersistenceResponse::Deleted => self.mark_unsaved(),
            PersistenceResponse::Names(lines) => self.persistence.earlier = lines,
            PersistenceResponse::Listed(_, lines) if lines.is_empty() => {
                self.report(Level::Info, "There is no other session in this repository.", "");
            }
            PersistenceResponse::Listed(query, lines) => self.notices.push(Notice::ChooseSession(query, lines)),
            // Only the front end uses it.
            PersistenceResponse::Peeked(..) => {}
            PersistenceResponse::Resumed { session, fork } => return self.resumed(*session, fork),
            PersistenceResponse::OpenElsewhere { number, title } => self.ask_to_fork(number, title),
            PersistenceResponse::Written { path, what } => {
                self.comment_watch.exclude(&path);
                self.report(Level::Info, format!("{what} was written to {path}."), "");
            }
            PersistenceResponse::Exists(file) => self.ask_to_replace(file),
            PersistenceResponse::Commands { path, text } => self.run_command_file(&path, &text),
            PersistenceResponse::Failed(failure) => self.report_failure(Level::Warning, failure),
        }
        Vec::new()
    }

    fn report_damaged_database(&mut self, moved_to: &Path) {
        self.mark_unsaved();
        let text = format!("The session database was damaged and was moved to {}.", moved_to.display());
        let hint = "Nothing was deleted. A new database was created, and this session is saved in it.";
        self.report(Level::Warning, text, hint);
    }

    fn ask_to_fork(&mut self, number: i64, title: String) {
        self.question(Question {
            subject: Subject::Persistence(PersistenceQuestion::Fork(number)),
            title: format!("Session {number} is open in another rhumb. Fork it?"),
            text: title,
            choices: vec![Choice::new('f', "fork it"), Choice::new('n', "cancel")],
        });
    }

    fn ask_to_replace(&mut self, file: TextFile) {
        self.question(Question {
            title: format!("{} already exists. Replace it?", file.path),
            text: String::new(),
            subject: Subject::Persistence(PersistenceQuestion::Replace(file)),
            choices: vec![Choice::new('r', "replace the file"), Choice::new('k', "keep the file")],
        });
    }

    pub(super) fn answer_persistence(&mut self, question: PersistenceQuestion, key: char) -> Vec<Effect> {
        match question {
            PersistenceQuestion::Fork(number) if key == 'f' => {
                let selector = SessionSelector::Named(number.to_string());
                vec![Effect::Persist(PersistenceEffect::Resume { selector, fork: true })]
            }
            PersistenceQuestion::Replace(file) if key == 'r' => {
                vec![Effect::Persist(PersistenceEffect::Write(TextFile { overwrite: true, ..file }))]
            }
            PersistenceQuestion::Fork(_) | PersistenceQuestion::Replace(_) => Vec::new(),
        }
    }
}
