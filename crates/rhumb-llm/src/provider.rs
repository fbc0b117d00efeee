//! The interface to a model: the trait [`Provider`], its requests and its events.

use super::error::LlmError;
use crate::models::Tokens;
use futures::future::{BoxFuture, FutureExt as _, ready};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A source of answers: a server, or a script.
pub trait Provider: Send + Sync {
    /// A short name for display.
    fn name(&self) -> String;

    /// Checks whether a request can be sent, without contacting the server.
    ///
    /// # Errors
    /// Something is missing, such as the key.
    fn ready(&self) -> Result<(), LlmError> {
        Ok(())
    }

    /// Returns the ids of the models that the server lists. Empty if it has no list.
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, LlmError>> {
        ready(Ok(Vec::new())).boxed()
    }

    /// Replaces secrets of the connection, such as its key, in `text`.
    fn masked(&self, text: &str) -> String {
        text.to_owned()
    }

    /// Sends `request` and forwards the answer through `events` as it arrives.
    ///
    /// Returns when the model stops. Events that were sent before an error stay valid. Cancelling `cancel` or
    /// dropping the receiver closes the connection and returns [`LlmError::Cancelled`].
    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
        events: mpsc::Sender<StreamEvent>,
    ) -> BoxFuture<'_, Result<Completion, LlmError>>;
}

/// How much a model thinks before it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thinking {
    /// A level: `low`, `medium`, `high`, or another one that the model knows.
    Effort(String),
    /// Maximum number of tokens.
    Budget(u32),
}

impl Thinking {
    /// The levels that providers know.
    pub const EFFORTS: &'static [&'static str] = &["none", "minimal", "low", "medium", "high", "xhigh"];
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// Id of the model on the server.
    pub model: String,
    /// The conversation, oldest message first. A final message of the assistant is the beginning of the answer, which
    /// the model continues.
    pub messages: Vec<Message>,
    /// Estimated number of tokens of all messages, or 0 if unknown.
    pub tokens: usize,
    /// Maximum number of tokens of the answer. `None` leaves it to the server.
    pub max_output_tokens: Option<u32>,
    /// Maximum number of output tokens of the model for this request, if known. It is the limit if `max_output_tokens`
    /// is `None` and the API requires one. Other APIs ignore it.
    pub model_max_output: Option<u32>,
    /// Whether `max_output_tokens` limits answer and thinking together, because of a spending cap. Otherwise an API
    /// with one limit for both gets the sum.
    pub capped: bool,
    /// Sampling temperature. `None` leaves it to the server.
    pub temperature: Option<f32>,
    /// How much to think. `None` leaves it to the server.
    pub thinking: Option<Thinking>,
    /// Tools that the model may call. Empty if it may call none.
    pub tools: Vec<Tool>,
    /// Fields to set in the body of the request, for parameters that this crate does not know.
    pub extra: Map<String, Value>,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub parameters: Value,
    /// Whether the tool of this name that is built into the API is offered in its place, if the API has one. OpenAI's
    /// Responses API has `apply_patch`.
    pub built_in: bool,
}

/// A call of a tool by the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id. Unique within a conversation: if the server sends none, the client makes one.
    pub id: String,
    /// The name of the tool. May be a tool that was not offered.
    pub name: String,
    /// The arguments as the model wrote them: the JSON text of an object, unless the model made a mistake.
    pub arguments: String,
    /// Whether it is a call of a tool that is built into the API. See [`Tool::built_in`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub built_in: bool,
    /// The signature of the thinking before the call (Gemini). Sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The result of a tool call, for the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The result, or the error.
    pub content: String,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Whether the call was one of a tool that is built into the API.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub built_in: bool,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The lower-case name that every chat API uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// An image in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Name for display: a path, or a name for a pasted image.
    pub name: String,
    /// Media type, such as `image/png`.
    pub media_type: String,
    /// Content of the file.
    pub bytes: Arc<[u8]>,
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The images.
    #[serde(skip)]
    pub images: Vec<Image>,
    /// Whether to mark this message as the end of a prefix to cache, for servers that need such marks.
    pub cached: bool,
    /// The thinking of the assistant before [`Message::content`], in the form in which the API sent it and wants it
    /// back. Opaque: each API recognises its own values and ignores others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinking: Vec<Value>,
    /// The tool calls of the assistant, after [`Message::content`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The results of tool calls, before [`Message::content`]. In a message of the user that follows the message with
    /// the calls. It has a result for each of them, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ToolResult>,
}

impl Message {
    /// Creates a message of `role` that has only a text.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            images: Vec::new(),
            cached: false,
            thinking: Vec::new(),
            tool_calls: Vec::new(),
            tool_results: Vec::new(),
        }
    }
}

/// Something that happens while an answer is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// The next part of the answer.
    Text(String),
    /// The next part of the visible thinking, which is not part of the answer.
    Reasoning(String),
    /// All text so far was thinking, as a closing tag has shown. The answer follows.
    Retract,
    /// The next part of the arguments of a tool call. The complete calls are in [`Completion::tool_calls`].
    ToolCall {
        /// Number of the call in this answer, from 0.
        index: usize,
        /// The name of the tool.
        name: String,
        /// The next part of the arguments; may be empty.
        arguments: String,
    },
    /// Token counts so far. Later counts replace earlier ones.
    Usage(Usage),
    /// The request failed before any text arrived and is sent again after a pause.
    Retrying {
        /// Number of the next attempt. The first retry is attempt 2.
        attempt: u32,
        /// The pause.
        wait: Duration,
        /// The error, as one line.
        reason: String,
    },
}

/// Token counts of one request, as reported by the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request, including cached ones.
    pub input: u64,
    /// Tokens of the answer, including thinking.
    pub output: u64,
    /// Tokens of the request that were read from the server's cache.
    pub cached: u64,
    /// Tokens of the request that were written to the server's cache at a separate price.
    pub cache_written: u64,
    /// Tokens of thinking, if the server reports them.
    pub reasoning: u64,
}

impl Usage {
    /// Combines two counts of the same request. Servers report some numbers first and others last, and none
    /// decreases.
    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cached: self.cached.max(other.cached),
            cache_written: self.cache_written.max(other.cache_written),
            reasoning: self.reasoning.max(other.reasoning),
        }
    }

    /// The counts by price.
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
    /// The answer is complete.
    Stop,
    /// The limit on output tokens, or the end of the context window, was reached.
    Length,
    /// The answer is complete, and the model waits for the results of its tool calls.
    ToolCalls,
    /// A content filter stopped the answer.
    Filtered,
    /// Another reason, as named by the server.
    Other(String),
}

impl Finish {
    /// Returns why the answer is incomplete, or `None` if it is complete.
    pub fn incomplete_reason(&self) -> Option<String> {
        match self {
            Self::Stop | Self::ToolCalls => None,
            Self::Length => Some("it reached the model's output limit".into()),
            Self::Filtered => Some("the provider's content filter stopped it".into()),
            Self::Other(reason) if matches!(reason.as_str(), "tool_calls" | "function_call" | "tool_use") => {
                Some("the model called a tool, and none was offered to it".into())
            }
            Self::Other(reason) => Some(format!("it ended with `{reason}`")),
        }
    }

    /// What the user can do next, as one sentence. Empty for a complete answer.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Stop | Self::ToolCalls => "",
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
    /// Final token counts, if the server reported any.
    pub usage: Option<Usage>,
    /// The tool calls, in the order of the answer. Only if the finish reason is [`Finish::ToolCalls`]: calls in an
    /// incomplete answer are dropped, and so are those after the 128th.
    pub tool_calls: Vec<ToolCall>,
    /// The thinking, as the API wants it back. See [`Message::thinking`]. Empty if the answer is incomplete.
    pub thinking: Vec<Value>,
}

impl Completion {
    /// Creates the end of an answer without tool calls.
    pub fn new(finish: Finish, usage: Option<Usage>) -> Self {
        Self { finish, usage, tool_calls: Vec::new(), thinking: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_counts_do_not_overflow() {
        let usage = Usage { input: u64::MAX, output: 1, cached: u64::MAX, cache_written: u64::MAX, reasoning: 0 };
        let tokens = usage.tokens();
        assert_eq!((tokens.fresh, tokens.input()), (0, u64::MAX));
    }
}
