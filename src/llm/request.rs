//! What is asked. The messages are those that the context was put together from.

use crate::context::Message;

/// A whole request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model's id, as the server knows it.
    pub model: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The most tokens that the answer may have; none leaves it to the server.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; none leaves it to the server.
    pub temperature: Option<f32>,
}
