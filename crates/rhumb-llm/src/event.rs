//! What comes back, piece by piece and at the end.

use std::time::Duration;

use crate::models::Tokens;

/// Something that happened while an answer was being made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// The next piece of the answer.
    Text(String),
    /// The next piece of the model's visible thinking; no part of the answer.
    Reasoning(String),
    /// All text so far was thinking, as only its end has told. What follows is the answer.
    TakeBack,
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
    /// Those of `input` that it put into its cache for a price of their own.
    pub cache_written: u64,
    /// Those of `output` that were thinking, where the server says so.
    pub reasoning: u64,
}

impl Usage {
    /// What two counts of one request say together: servers tell some numbers first and others last, and none shrinks.
    pub(super) fn joined(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cached: self.cached.max(other.cached),
            cache_written: self.cache_written.max(other.cache_written),
            reasoning: self.reasoning.max(other.reasoning),
        }
    }

    /// The same by how it is paid for.
    pub fn tokens(self) -> Tokens {
        Tokens {
            fresh: self.input.saturating_sub(self.cached).saturating_sub(self.cache_written),
            cache_read: self.cached,
            cache_write: self.cache_written,
            output: self.output,
        }
    }
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
            Self::Other(reason) if matches!(reason.as_str(), "tool_calls" | "function_call" | "tool_use") => {
                Some("the model called a tool, and none was offered to it".into())
            }
            Self::Other(reason) => Some(format!("it ended with `{reason}`")),
        }
    }

    /// What to do about such an end, as one sentence; empty where the answer is whole.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Stop => "",
            Self::Length => "Ask for less at once, or raise max_output_tokens in rhumb.toml.",
            Self::Filtered => "Ask in other words, or ask another model.",
            Self::Other(_) => "Send again, or ask another model.",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_beyond_all_measure_are_counts() {
        let usage = Usage { input: u64::MAX, output: 1, cached: u64::MAX, cache_written: u64::MAX, reasoning: 0 };
        let tokens = usage.tokens();
        assert_eq!((tokens.fresh, tokens.input()), (0, u64::MAX));
    }
}
