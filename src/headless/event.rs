//! The events of a turn, as `rhumb edit --json` and `rhumb ask --json` print them: one JSON object on each line.
//!
//! Programs that run the command deserialize the same types, so a renamed field is a compile error and not a wrong number.

use rhumb_edit::{Outcome, Proposal, Status};
use rhumb_llm::models::{Prices, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happened during a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TurnEvent {
    /// The request that is about to be sent, as `--show-prompt --json` prints it. Only with `--dry-run`.
    Prompt(Value),
    /// A request was sent.
    Request {
        /// The model that answers it.
        model: String,
        /// Tokens of the request, as counted by rhumb.
        tokens: usize,
        /// Whether the count is exact for this model.
        exact: bool,
        /// What was left out because it does not fit into the context window.
        left_out: Vec<String>,
        /// Possible secrets in the request.
        secrets: Vec<SecretEvent>,
        /// Prices of the model; `None` if they are unknown.
        prices: Option<Prices>,
    },
    /// A piece of the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// A piece of the model's reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The text of this answer so far is void; the answer begins again.
    TakeBack {},
    /// Tokens as the server counts them so far.
    Usage {
        /// Tokens of the request, cached ones included.
        input: u64,
        /// Tokens of the answer.
        output: u64,
        /// Tokens of the request that came from the server's cache.
        cached: u64,
    },
    /// A request failed and is sent again after a wait.
    Retrying {
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// Seconds until then.
        seconds: f64,
        /// Why the last attempt failed.
        reason: String,
    },
    /// The request is too long for the server and is sent again with less.
    Shrunk {
        /// The number of the attempt, from 1.
        time: u32,
        /// The maximum number of attempts.
        of: u32,
        /// Input tokens that the request may now have.
        limit: usize,
    },
    /// The answer reached the output limit, and the model continues it.
    Continuing {
        /// The number of the part, from 1.
        time: u32,
        /// The number of parts at most.
        of: u32,
    },
    /// The plan goes to the editor model.
    Editor {
        /// Its name.
        model: String,
    },
    /// Two parts of an answer were joined inside an edit, and they may not fit together.
    DoubtfulSeam {},
    /// The server exceeded what the spending cap allows; the answer was stopped.
    PastTheCap {},
    /// The answer was cut short by the spending cap.
    CutByCap {},
    /// What a request cost.
    Spent {
        /// The tokens by how they are paid for.
        tokens: Tokens,
        /// Whether the tokens were counted by rhumb.
        estimated: bool,
        /// US dollars; `None` if the price is unknown.
        cost: Option<f64>,
    },
    /// There is no complete answer.
    Failed {
        /// The cause.
        why: FailedFor,
    },
    /// Refused edits or failed checks are sent back to the model.
    Again {
        /// The number of the round, from 1.
        round: usize,
        /// The number of rounds at most.
        of: usize,
        /// The message to the model.
        text: String,
    },
    /// One edit of the answer, located or refused.
    Hunk(HunkEvent),
    /// The proposal as a unified diff. Only where nothing is written.
    Diff {
        /// The diff.
        text: String,
    },
    /// The command of `--try` ended. Accepted changes are written only if its exit code is 0.
    Try {
        /// The command, its exit code, its duration in milliseconds, and its output.
        r#try: TriedEvent,
    },
    /// Accepted changes were written.
    Written {
        /// The files, in the order in which they were written.
        written: Vec<String>,
        /// The commit of them.
        commit: Option<String>,
        /// The files with the number of hunks that were written.
        files: Vec<FileEvent>,
        /// What was not written.
        not_written: Vec<NotWrittenEvent>,
    },
    /// A check of what was written began.
    CheckBegan {
        /// The command line.
        line: String,
    },
    /// A check ended.
    CheckEnded {
        /// The command line.
        line: String,
        /// How it ended, in words.
        end: String,
        /// The exit code, if it ended with one.
        exit: Option<i32>,
        /// How long it took.
        seconds: f64,
    },
    /// All checks of what was written ended.
    Checked {
        /// Whether one of them failed.
        failed: bool,
        /// Whether they were stopped.
        stopped: bool,
        /// The checks, each in a few words.
        checks: Vec<String>,
        /// Their findings, as they are sent to the model.
        text: Option<String>,
    },
    /// Passages of the repository that go into the request, after `@codebase`.
    Passages {
        /// The passages, best first.
        passages: Vec<PassageEvent>,
    },
    /// A step of the agent loop begins: one request to the model.
    Step {
        /// Its number, from 1.
        step: usize,
    },
    /// The model called a tool.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments: an object, or a string if they are not valid JSON.
        arguments: Value,
    },
    /// A tool call ended.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, as in the event of the call.
        arguments: Value,
        /// Whether it succeeded.
        ok: bool,
        /// Tokens of the result.
        tokens: usize,
        /// How long it took, in milliseconds.
        ms: u64,
        /// The result, as the model gets it.
        text: String,
    },
    /// The model replaced its checklist.
    Plan {
        /// The items: `text` and `state`.
        items: Value,
    },
    /// The proposal of the agent loop.
    Proposal {
        /// The changed files with their hunks.
        files: Vec<FileEvent>,
    },
    /// A cap or a guard ended the agent loop.
    Cap {
        /// What ended it.
        text: String,
    },
    /// A description of the current activity.
    Status {
        /// The description.
        text: String,
    },
    /// The turn ended.
    Done {
        /// Every file that was written.
        written: Vec<String>,
        /// The last commit.
        commit: Option<String>,
    },
}

/// Why there is no complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedFor {
    /// The request does not fit into the context window.
    Window,
    /// The answer does not fit into the output limit.
    Output,
    /// The spending cap does not allow it.
    Money,
    /// A file of the chat cannot be read.
    File,
    /// The provider failed.
    Provider,
}

/// A possible secret in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretEvent {
    /// The part of the request that has it.
    pub place: String,
    /// The line there, 1-based; `None` if that part is not a file.
    pub line: Option<usize>,
    /// The kind of secret.
    pub kind: String,
    /// Whether a mask is sent instead.
    pub masked: bool,
}

/// One edit of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HunkEvent {
    /// The file, relative to the root.
    pub path: String,
    /// The edit format.
    pub format: String,
    /// Whether it was located.
    pub status: HunkStatus,
    /// How it was located; empty if it was not.
    pub strategy: String,
    /// The confidence of the location, from 0 to 1.
    pub confidence: f64,
    /// The first and the last line that it replaces, 1-based and inclusive.
    pub lines: Option<[usize; 2]>,
    /// Why it was refused; empty if it was not.
    pub reason: String,
    /// Possible locations.
    pub candidates: Vec<CandidateEvent>,
    /// The lines of the file that are most similar to its quote.
    pub nearest: Vec<NearestEvent>,
    /// Its flags: `elision`, `syntax-error`, `outside-chat` …
    pub flags: Vec<String>,
    /// Where the file is stored, if the path leads there through a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<String>,
}

/// Whether an edit was located.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HunkStatus {
    /// It was located.
    Applied,
    /// It was not located, or must not be applied.
    Refused,
}

/// A possible location of an edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateEvent {
    /// Its first line, 1-based.
    pub line: usize,
    /// The similarity to the quote of the edit, from 0 to 1.
    pub similarity: f64,
}

/// A line of a file near which an edit may belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearestEvent {
    /// The line, 1-based.
    pub line: usize,
    /// Its text.
    pub text: String,
}

/// A file with a number of hunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEvent {
    /// The file, relative to the root.
    pub path: String,
    /// The number of hunks.
    pub hunks: usize,
}

/// Hunks that were not written for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotWrittenEvent {
    /// The reason.
    pub reason: String,
    /// The files with their hunks.
    pub files: Vec<FileEvent>,
}

/// A command that ran in a trial checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedEvent {
    /// The command line.
    pub command: String,
    /// The exit code, as a shell would give it; 124 if it exceeded the time limit.
    pub exit: u8,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Its output, without the middle of a long one.
    pub output: String,
}

/// A passage of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassageEvent {
    /// The file, relative to the root.
    pub path: String,
    /// Its first line, 1-based.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The definition that it is from.
    pub symbol: Option<String>,
}

impl HunkEvent {
    /// An edit of a proposal.
    pub fn new(outcome: &Outcome, proposal: &Proposal) -> Self {
        let candidates = outcome.candidates.iter();
        Self {
            path: outcome.path.clone(),
            format: outcome.format.to_string(),
            status: if outcome.status == Status::Applied { HunkStatus::Applied } else { HunkStatus::Refused },
            strategy: outcome.strategy.map(|strategy| strategy.to_string()).unwrap_or_default(),
            confidence: f64::from(outcome.confidence),
            lines: outcome.lines.map(|(first, last)| [first, last]),
            reason: outcome.reason.clone(),
            candidates: candidates
                .map(|place| CandidateEvent { line: place.line, similarity: f64::from(place.similarity) })
                .collect(),
            nearest: outcome
                .nearest
                .iter()
                .map(|near| NearestEvent { line: near.line, text: near.text.clone() })
                .collect(),
            flags: outcome.flags.iter().map(ToString::to_string).collect(),
            stored_at: proposal.links.get(&outcome.path).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_were_printed() {
        let hunk = HunkEvent {
            path: "a.rs".into(),
            format: "udiff".into(),
            status: HunkStatus::Refused,
            strategy: String::new(),
            confidence: 0.5,
            lines: Some([1, 2]),
            reason: "no location".into(),
            candidates: vec![CandidateEvent { line: 7, similarity: 0.25 }],
            nearest: Vec::new(),
            flags: vec!["elision".into()],
            stored_at: None,
        };
        let spent = TurnEvent::Spent { tokens: Tokens::default(), estimated: false, cost: None };
        for (event, text) in [
            (TurnEvent::TakeBack {}, r#"{"event":"take_back"}"#),
            (TurnEvent::Failed { why: FailedFor::Window }, r#"{"event":"failed","why":"window"}"#),
            (
                spent,
                r#"{"event":"spent","tokens":{"fresh":0,"cache_read":0,"cache_write":0,"output":0},"estimated":false,"cost":null}"#,
            ),
            (
                TurnEvent::Hunk(hunk),
                r#"{"event":"hunk","path":"a.rs","format":"udiff","status":"refused","strategy":"","confidence":0.5,"lines":[1,2],"reason":"no location","candidates":[{"line":7,"similarity":0.25}],"nearest":[],"flags":["elision"]}"#,
            ),
            (TurnEvent::Prompt(serde_json::json!({"tokens": 7})), r#"{"event":"prompt","tokens":7}"#),
        ] {
            assert_eq!(serde_json::to_string(&event).unwrap(), text);
            assert_eq!(serde_json::from_str::<TurnEvent>(text).unwrap(), event);
        }
    }
}
