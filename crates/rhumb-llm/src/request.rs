//! What is asked. The messages are those that the context was put together from.

use serde_json::{Map, Value};

use crate::Message;

/// How much a model shall think before it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thinking {
    /// As the word says: `low`, `medium`, `high`, or another that the model knows.
    Effort(String),
    /// At most so many tokens.
    Budget(u32),
}

/// A whole request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The model's id, as the server knows it.
    pub model: String,
    /// The conversation, oldest first. A last message of the assistant is the beginning of the answer, to be gone on with.
    pub messages: Vec<Message>,
    /// Tokens of all messages as far as we can count them; 0 if that is not known.
    pub tokens: usize,
    /// The most tokens that the answer may have; none leaves it to the server.
    pub max_output_tokens: Option<u32>,
    /// That limit holds for answer and thinking together, because no more may be paid for. Else a format that wants one number for
    /// both adds the thinking to it.
    pub capped: bool,
    /// Sampling temperature; none leaves it to the server.
    pub temperature: Option<f32>,
    /// How much to think; none leaves it to the server.
    pub thinking: Option<Thinking>,
    /// Fields laid over the body as they are, for what a server takes and we do not know.
    pub extra: Map<String, Value>,
}
