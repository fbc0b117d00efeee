//! The sections of a request.

use rhumb_llm::Role;

/// The kind of a section, in the order in which sections are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkKind {
    /// Instructions, including the rules of the edit format.
    System,
    /// An example of a request and its answer in the edit format.
    Examples,
    /// A read-only file, by path.
    ReadOnlyFile(String),
    /// The ranked repo map.
    RepoMap,
    /// Passages of the repository.
    Passages,
    /// Earlier turns.
    History,
    /// An editable file, by path.
    ChatFile(String),
    /// An image, by name.
    Image(String),
    /// The message, and the exchange since the files were shown.
    Current,
    /// A short reminder of the edit format.
    Reminder,
}

impl ChunkKind {
    /// The kebab-case name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Examples => "examples",
            Self::ReadOnlyFile(_) => "read-only-file",
            Self::RepoMap => "repo-map",
            Self::Passages => "passages",
            Self::History => "history",
            Self::ChatFile(_) => "chat-file",
            Self::Image(_) => "image",
            Self::Current => "current",
            Self::Reminder => "reminder",
        }
    }

    /// The path of a file or the name of an image.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::ReadOnlyFile(path) | Self::ChatFile(path) | Self::Image(path) => Some(path),
            _ => None,
        }
    }
}

/// A section of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The kind.
    pub kind: ChunkKind,
    /// The title for display.
    pub title: String,
    /// The role; of a conversation, the first role.
    pub role: Role,
    /// The first message of the section: an index into [`super::Prompt::messages`].
    pub message: usize,
    /// Tokens that it adds to the request, including the overhead of messages. The sections add up to
    /// [`super::Prompt::tokens`].
    pub tokens: usize,
    /// The text as sent; messages of a conversation are separated by blank lines. Empty for an image.
    pub text: String,
    /// Whether the request is cached up to the end of this section.
    pub cached: bool,
}
