//! What is asked.

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The user, and everything that the program says on the user's behalf.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// The text.
    pub content: String,
}

impl Message {
    /// A message from `role`.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}

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
