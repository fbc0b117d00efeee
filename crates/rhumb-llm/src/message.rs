//! A message of the conversation as a model sees it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Standing instructions.
    System,
    /// The developer.
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

/// A picture that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What to call it: its path under the root, or a name for one that was pasted.
    pub name: String,
    /// `image/png` and the like.
    pub media_type: String,
    /// The file as it is.
    pub bytes: Arc<[u8]>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
    /// What is shown with it.
    #[serde(skip)]
    pub images: Vec<Image>,
    /// The request up to and with this message should be kept in the server's cache, where it has to be told.
    pub cached: bool,
}

impl Message {
    /// A message by `role`.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), images: Vec::new(), cached: false }
    }
}
