//! What comes back, piece by piece and at the end.

use std::time::Duration;

/// Something that happened while an answer was being made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// The next piece of the answer.
    Text(String),
    /// The next piece of the model's visible thinking; no part of the answer.
    Reasoning(String),
    /// Token counts. The last one counts.
    Usage(Usage),
    /// The request failed before any text and is sent again after a pause.
    Retrying {
        /// Number of the coming try; the first retry is 2.
        attempt: u32,
        /// How long the pause is.
        wait: Duration,
        /// What went wrong, as one line.
        reason: String,
    },
}

/// Tokens of one request, as counted by the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input: u64,
    /// Tokens of the answer, thinking included.
    pub output: u64,
    /// Those of `input` that the server had in its cache.
    pub cached: u64,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It ran into the limit on output tokens or the end of its context window: the answer is cut off.
    Length,
    /// A content filter cut the answer off.
    Filtered,
    /// Another reason, in the server's word.
    Other(String),
}

impl Finish {
    /// Why an answer that ended like this is not whole; `None` if it is.
    pub fn shortfall(&self) -> Option<String> {
        match self {
            Self::Stop => None,
            Self::Length => Some("it reached the model's output limit".into()),
            Self::Filtered => Some("the provider's content filter stopped it".into()),
            Self::Other(reason) => Some(format!("it ended with `{reason}`")),
        }
    }
}

/// The end of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Why the model stopped.
    pub finish: Finish,
    /// The final token counts, if the server sent any.
    pub usage: Option<Usage>,
}
