//! What was left out of a request, and what could be.

use std::fmt;

/// Something that was left out of a request so that it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trimmed {
    /// The repo map got fewer tokens than it should have.
    RepoMap {
        /// Tokens that it should have had.
        planned: usize,
        /// Tokens that it was given.
        given: usize,
    },
    /// Passages that were found for questions, those that are worth least.
    Passages {
        /// How many.
        left_out: usize,
        /// How many there are.
        of: usize,
    },
    /// The reminder of the edit format.
    Reminder,
    /// The oldest messages of the history.
    History {
        /// How many.
        messages: usize,
        /// Their tokens.
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

/// A request that does not fit, when all that may go by itself is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overfull {
    /// Tokens that are too many.
    pub excess: usize,
    /// How many messages at the beginning of the history have to become a summary, or be left out, for the request to fit;
    /// all of them where even that is not enough, 0 where there is no history.
    pub head: usize,
    /// Whether it fits once they are gone. If not, a file has to go.
    pub head_suffices: bool,
    /// The files that could go, largest first.
    pub candidates: Vec<Candidate>,
}

/// A file that could be taken out of the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its path under the root.
    pub path: String,
    /// The tokens that this saves.
    pub tokens: usize,
}
