//! One turn while it runs: the message, the answer so far, and the edits that show in it.

pub(super) mod continuation;
pub(super) mod events;
mod pasted_reply;
pub(super) mod queue;
mod request_spec;
mod send;

use queue::Queue;
use std::fmt;
use std::time::Duration;

use super::codebase::{SearchGoal, SearchStep};
use crate::context::Mode;
use rhumb_edit::{EditStream, FormatChoice, LineKind, StreamEvent};
use rhumb_index::retrieval::ContextRequest;

/// An edit as far as it has arrived: not yet located, not decidable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamedEdit {
    /// The file name as written, once it is known.
    pub path: Option<String>,
    /// Lines added so far.
    pub added: usize,
    /// Lines removed so far.
    pub removed: usize,
    /// Whether its end has arrived.
    pub ended: bool,
    /// Its lines so far, removed and added ones as they came; `true` is an added one.
    pub lines: Vec<(bool, String)>,
}

/// What a running turn is doing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TurnStatus {
    /// The request was sent, and nothing of the answer has arrived.
    #[default]
    Waiting,
    /// The names behind an `@` are looked up, before the request is sent.
    LookingUpNames,
    /// The repository is searched, before the request is sent.
    Searching(SearchStep),
    /// The search waits until the repository is read: files read so far, and all files. Both are 0 while files are counted.
    ReadingRepository(usize, usize),
    /// The model that writes the edits of a plan is asked; its name, once it is known.
    AskingEditor(Option<String>),
    /// The model thinks before it answers.
    Thinking,
    /// Text of the answer arrives.
    Answering,
    /// An incomplete answer is continued on the user's request.
    Resuming,
    /// The answer reached the output limit and is continued.
    Continuing {
        /// Which continuation it is, 1-based.
        time: u32,
        /// How many there may be.
        of: u32,
    },
    /// The request failed and is sent again after a wait.
    Retrying {
        /// The number of the next attempt.
        attempt: u32,
        /// The wait that is left.
        wait: Duration,
        /// Why the last attempt failed.
        reason: String,
    },
}

impl fmt::Display for TurnStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => f.write_str("waiting for the first word"),
            Self::LookingUpNames => f.write_str("looking up what is named with @"),
            Self::Searching(step) => step.fmt(f),
            Self::ReadingRepository(_, 0) => f.write_str("waiting until the repository is read"),
            Self::ReadingRepository(read, total) => {
                write!(f, "waiting until the repository is read: {read} of {total} files")
            }
            Self::AskingEditor(None) => f.write_str("asking the editor model"),
            Self::AskingEditor(Some(model)) => write!(f, "asking {model} for the edits"),
            Self::Thinking => f.write_str("thinking"),
            Self::Answering => f.write_str("answering"),
            Self::Resuming => f.write_str("continuing the answer"),
            Self::Continuing { time, of } => {
                write!(f, "the answer reached the output limit; continuing it, {time} of at most {of}")
            }
            Self::Retrying { attempt, wait, reason } => {
                write!(f, "try {attempt} in {:.0} s: {reason}", wait.as_secs_f32().ceil())
            }
        }
    }
}

/// The running turn and the messages that wait for it.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    current: Option<Turn>,
    /// The number of turns so far, which is also the number of the last one.
    count: u64,
    queue: Queue,
    /// Whether the request of the running turn waits until the repository is listed.
    waits_for_files: bool,
}

impl Turns {
    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(crate) fn current(&self) -> Option<&Turn> {
        self.current.as_ref()
    }

    pub(crate) fn current_mut(&mut self) -> Option<&mut Turn> {
        self.current.as_mut()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.current.is_some()
    }

    pub(crate) fn begin(&mut self, turn: Turn) {
        self.current = Some(turn);
    }

    /// Ends the running turn before its request was sent, or by a command of the user.
    pub(crate) fn cancel(&mut self) -> Option<Turn> {
        self.waits_for_files = false;
        self.current.take()
    }

    /// Whether the request of the running turn waited until the repository was listed; it does not any more.
    pub(crate) fn stop_waiting_for_files(&mut self) -> bool {
        std::mem::take(&mut self.waits_for_files)
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The number of the next turn, which is used up.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Continues the numbers after `count`: what was spent is recorded by them.
    pub(crate) fn skip_to(&mut self, count: u64) {
        self.count = self.count.max(count);
    }
}

/// A running turn.
#[derive(Debug)]
pub struct Turn {
    /// Its number.
    pub number: u64,
    /// The message it answers.
    pub message: String,
    /// What the developer asked for: the message itself, unless the program wrote that to have edits mended.
    pub request: String,
    /// How it is meant.
    pub mode: Mode,
    /// What it is doing.
    pub status: TurnStatus,
    /// What the repository is to be searched for before it goes out.
    pub(super) seeks: Option<SearchGoal>,
    /// Whether the developer asked the whole repository.
    pub(super) asks_codebase: bool,
    /// What the model asked for of the repository, where the turn is the answer to that.
    pub(super) wants: Option<Vec<ContextRequest>>,
    /// The edits recognised so far.
    pub edits: Vec<StreamedEdit>,
    stream: EditStream,
}

impl Turn {
    /// A turn that has just been sent.
    pub fn new(number: u64, message: String) -> Self {
        let request = message.clone();
        Self::again(number, message, request)
    }

    /// A turn in which the edits of an earlier one are to be mended.
    pub(super) fn again(number: u64, message: String, request: String) -> Self {
        let (mode, status) = (Mode::default(), TurnStatus::default());
        let (seeks, asks_codebase, wants, edits) = (None, false, None, Vec::new());
        let stream = EditStream::new(FormatChoice::Auto);
        Self { number, message, request, mode, status, seeks, asks_codebase, wants, edits, stream }
    }

    /// The same, with the repository searched for that before it goes out.
    pub(super) fn seeking(self, sought: Option<SearchGoal>) -> Self {
        Self { asks_codebase: sought.is_some(), seeks: sought, ..self }
    }

    /// The same, as the answer to what the model asked for of the repository.
    pub(super) fn wanting(self, wants: Vec<ContextRequest>) -> Self {
        Self { wants: Some(wants.clone()), ..self.seeking(Some(SearchGoal::Requests(wants))) }
    }

    /// The same, meant in that mode.
    pub(super) fn in_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Forgets what has been taken in: it was no part of the answer.
    pub(super) fn take_back(&mut self) {
        self.status = TurnStatus::Thinking;
        self.edits.clear();
        self.stream = EditStream::new(FormatChoice::Auto);
    }

    /// Whether it asks the whole repository.
    pub fn asks_codebase(&self) -> bool {
        self.asks_codebase
    }

    /// Takes in more of the answer.
    pub fn push(&mut self, text: &str) {
        self.status = TurnStatus::Answering;
        self.stream.push(text);
        for event in self.stream.events() {
            match (event, self.edits.last_mut()) {
                (StreamEvent::EditStarted { path, .. }, _) => {
                    self.edits.push(StreamedEdit { path, added: 0, removed: 0, ended: false, lines: Vec::new() });
                }
                (StreamEvent::EditLine { kind: LineKind::Insert, text }, Some(edit)) => {
                    edit.added += 1;
                    edit.lines.push((true, text));
                }
                (StreamEvent::EditLine { kind: LineKind::Delete, text }, Some(edit)) => {
                    edit.removed += 1;
                    edit.lines.push((false, text));
                }
                (StreamEvent::EditEnded { .. }, Some(edit)) => edit.ended = true,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_show_while_they_arrive() {
        let mut turn = Turn::new(1, String::new());
        for piece in
            ["Sure.\n\na.py\n```python\n<<<<<<< SEA", "RCH\nold\n=======\nnew\nmore\n", ">>>>>>> REPLACE\n```\n"]
        {
            turn.push(piece);
        }
        assert_eq!(turn.edits.len(), 1);
        assert_eq!(turn.edits[0].path.as_deref(), Some("a.py"));
        assert!(turn.edits[0].ended && turn.edits[0].added >= 1);
    }
}
