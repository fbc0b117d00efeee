//! The running turn: its message, its status, and the edits in the answer so far.

pub(super) mod continuation;
pub(super) mod events;
pub(super) mod queue;
mod send;

use crate::codebase::{SearchGoal, SearchStep};
use crate::context::Mode;
use queue::Queue;
use rhumb_edit::{EditStream, FormatChoice, LineKind, StreamEvent};
use rhumb_index::retrieval::ContextRequest;
use std::fmt;
use std::time::Duration;

/// An edit that is arriving. It is not located yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamedEdit {
    /// The file name as written by the model, once it is known.
    pub path: Option<String>,
    /// Lines added so far.
    pub added: usize,
    /// Lines removed so far.
    pub removed: usize,
    /// Whether its end has arrived.
    pub ended: bool,
    /// Its added and removed lines, in the order in which they arrived.
    pub lines: Vec<StreamedLine>,
}

/// A line of a [`StreamedEdit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamedLine {
    /// An added line.
    Added(String),
    /// A removed line.
    Removed(String),
}

/// The current step of a running turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TurnStatus {
    /// The request was sent, and no part of the answer has arrived.
    #[default]
    Waiting,
    /// The names after an `@` are looked up before the request is sent.
    LookingUpNames,
    /// The repository is searched before the request is sent.
    Searching(SearchStep),
    /// The search waits until the repository is indexed: files read so far, and all files. Both are 0 while files are counted.
    ReadingRepository(usize, usize),
    /// The request was sent to the editor model; its name, once it is known.
    AskingEditor(Option<String>),
    /// The model thinks before it answers.
    Thinking,
    /// Text of the answer arrives.
    Answering,
    /// The model writes the arguments of a tool call: the tool, and the bytes so far.
    Calling(String, usize),
    /// Tool calls of the model run, or wait for the user.
    Tools,
    /// An incomplete answer is continued on the user's request.
    Resuming,
    /// The answer reached the output limit and is continued.
    Continuing {
        /// The 1-based number of the continuation.
        time: u32,
        /// The maximum number of continuations.
        of: u32,
    },
    /// The request failed and is sent again after a wait.
    Retrying {
        /// The number of the next attempt.
        attempt: u32,
        /// The remaining wait.
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
            Self::Calling(tool, bytes) if *bytes < 1_000 => write!(f, "calling {tool}"),
            Self::Calling(tool, bytes) => write!(f, "calling {tool}: {} kB", bytes / 1_000),
            Self::Tools => f.write_str("running tools"),
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

/// The running turn and the queued messages.
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

    /// Makes `turn` the running turn again.
    pub(crate) fn resume(&mut self, turn: Turn, status: TurnStatus) {
        self.current = Some(Turn { status, ..turn });
    }

    pub(crate) fn cancel(&mut self) -> Option<Turn> {
        self.waits_for_files = false;
        self.current.take()
    }

    /// Clears the wait for the list of files. Returns whether the running turn waited for it.
    pub(crate) fn stop_waiting_for_files(&mut self) -> bool {
        std::mem::take(&mut self.waits_for_files)
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Continues the numbers after `count`, because costs are recorded by number.
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
    /// The request of the user: the message itself, or in a follow-up the message of the user that it continues.
    pub request: String,
    /// The mode of the message.
    pub mode: Mode,
    /// Its current step.
    pub status: TurnStatus,
    pub(super) search_goal: Option<SearchGoal>,
    /// Whether it is a question about the whole repository.
    pub(super) asks_codebase: bool,
    /// The context requests of the model that this turn answers.
    pub(super) context_requests: Option<Vec<ContextRequest>>,
    /// The edits in the answer so far.
    pub edits: Vec<StreamedEdit>,
    /// Whether the agent takes over when the answer is complete.
    pub(super) becomes_agent: bool,
    stream: EditStream,
}

impl Turn {
    /// Creates a turn for a message of the user.
    pub fn new(number: u64, message: String) -> Self {
        let request = message.clone();
        Self::follow_up(number, message, request)
    }

    /// Creates a turn for a message of the program that continues `request`.
    pub(super) fn follow_up(number: u64, message: String, request: String) -> Self {
        let (mode, status) = (Mode::default(), TurnStatus::default());
        let (search_goal, asks_codebase, context_requests, edits) = (None, false, None, Vec::new());
        let (stream, becomes_agent) = (EditStream::new(FormatChoice::Auto), false);
        Self {
            number,
            message,
            request,
            mode,
            status,
            search_goal,
            asks_codebase,
            context_requests,
            edits,
            becomes_agent,
            stream,
        }
    }

    /// Precedes the request with a search of the repository.
    pub(super) fn with_search(self, goal: Option<SearchGoal>) -> Self {
        Self { asks_codebase: goal.is_some(), search_goal: goal, ..self }
    }

    pub(super) fn with_context_requests(self, context_requests: Vec<ContextRequest>) -> Self {
        Self {
            context_requests: Some(context_requests.clone()),
            ..self.with_search(Some(SearchGoal::Requests(context_requests)))
        }
    }

    pub(super) fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Discards the text so far, which was reasoning and not part of the answer.
    pub(super) fn retract(&mut self) {
        self.status = TurnStatus::Thinking;
        self.edits.clear();
        self.stream = EditStream::new(FormatChoice::Auto);
    }

    /// Prepares the turn for the next step of an agent loop.
    pub(super) fn next_step(&mut self) {
        self.retract();
        self.status = TurnStatus::Waiting;
    }

    /// Whether the agent takes over when the answer is complete.
    pub fn becomes_agent(&self) -> bool {
        self.becomes_agent
    }

    /// Whether it is a question about the whole repository.
    pub fn asks_codebase(&self) -> bool {
        self.asks_codebase
    }

    /// Adds a piece of the answer.
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
                    edit.lines.push(StreamedLine::Added(text));
                }
                (StreamEvent::EditLine { kind: LineKind::Delete, text }, Some(edit)) => {
                    edit.removed += 1;
                    edit.lines.push(StreamedLine::Removed(text));
                }
                (StreamEvent::EditEnded { .. }, Some(edit)) => edit.ended = true,
                (StreamEvent::EditLine { .. } | StreamEvent::EditEnded { .. } | StreamEvent::Prose { .. }, _) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_recognised_while_they_arrive() {
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
