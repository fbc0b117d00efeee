//! Parts that were left out of a request, and parts that could be.

use std::fmt;

/// A part that was left out of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trimmed {
    /// The repo map got less than its budget.
    RepoMap {
        /// The budget in tokens.
        planned: usize,
        /// The tokens that it got.
        given: usize,
    },
    /// The worst passages.
    Passages {
        /// The number left out.
        left_out: usize,
        /// The total number.
        of: usize,
    },
    /// The reminder of the edit format.
    Reminder,
    /// The oldest messages of the history.
    History {
        /// The number left out.
        messages: usize,
        /// The tokens.
        tokens: usize,
    },
}

impl fmt::Display for Trimmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepoMap { planned, given: 0 } => write!(f, "the repo map ({planned} tokens planned)"),
            Self::RepoMap { planned, given } => write!(f, "part of the repo map ({given} of {planned} tokens)"),
            Self::Passages { left_out, of } if left_out == of => write!(f, "all {of} passages of the repository"),
            Self::Passages { left_out, of } => write!(f, "{left_out} of {of} passages of the repository"),
            Self::Reminder => f.write_str("the reminder of the edit format"),
            Self::History { messages, tokens } => {
                write!(f, "the oldest {messages} messages of the history ({tokens} tokens)")
            }
        }
    }
}

/// A request that does not fit, after everything optional was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overfull {
    /// The excess tokens.
    pub excess: usize,
    /// The number of messages at the beginning of the history that have to be summarized or left out for the request to fit;
    /// all of them if even that does not suffice, 0 without a history.
    pub head: usize,
    /// Whether it fits without them. If not, a file has to be dropped.
    pub head_suffices: bool,
    /// The files that could be dropped, largest first.
    pub candidates: Vec<Candidate>,
}

/// A file that could be dropped from the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The path, relative to the root.
    pub path: String,
    /// The tokens that this saves.
    pub tokens: usize,
}
