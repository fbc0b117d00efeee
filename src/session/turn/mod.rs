//! One turn while it runs: the message, the answer so far, and the edits that show in it.

pub(super) mod asking;
mod elsewhere;
pub(super) mod going_on;
mod ordering;
pub(super) mod queue;
mod sending;

use super::codebase::Sought;
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
    /// What the user should know while it runs, such as a retry; empty while text arrives.
    pub status: String,
    /// The number of the try that [`Turn::status`] counts down to, if it does.
    pub retrying: Option<u32>,
    /// What the repository is to be searched for before it goes out.
    pub(super) seeks: Option<Sought>,
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
        let status = "waiting for the first word".to_owned();
        let (mode, stream) = (Mode::default(), EditStream::new(FormatChoice::Auto));
        let (retrying, seeks, asks_codebase, wants, edits) = (None, None, false, None, Vec::new());
        Self { number, message, request, mode, status, retrying, seeks, asks_codebase, wants, edits, stream }
    }

    /// The same, with the repository searched for that before it goes out.
    pub(super) fn seeking(self, sought: Option<Sought>) -> Self {
        Self { asks_codebase: sought.is_some(), seeks: sought, ..self }
    }

    /// The same, as the answer to what the model asked for of the repository.
    pub(super) fn wanting(self, wants: Vec<ContextRequest>) -> Self {
        Self { wants: Some(wants.clone()), ..self.seeking(Some(Sought::Wants(wants))) }
    }

    /// The same, meant in that mode.
    pub(super) fn in_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Forgets what has been taken in: it was no part of the answer.
    pub(super) fn take_back(&mut self) {
        self.status = "thinking".into();
        self.edits.clear();
        self.stream = EditStream::new(FormatChoice::Auto);
    }

    /// Takes in more of the answer.
    pub fn push(&mut self, text: &str) {
        self.status.clear();
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
