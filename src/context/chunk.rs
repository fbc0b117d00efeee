//! The parts that a request is made of.

use rhumb_llm::Role;

/// What a chunk is. The order is that in which they are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkKind {
    /// Standing instructions, the rules of the edit format among them.
    System,
    /// A request and its answer in the edit format.
    Examples,
    /// A file for reference, by its path.
    ReadOnlyFile(String),
    /// The ranked repo map.
    RepoMap,
    /// Passages of the repository that were found for questions.
    Passages,
    /// Earlier turns.
    History,
    /// A file that may be edited, by its path.
    ChatFile(String),
    /// A picture in the chat, by its name.
    Image(String),
    /// The message about to be sent, and what was said since the files were shown.
    Current,
    /// The edit format in a sentence, once more.
    Reminder,
}

impl ChunkKind {
    /// The stable kebab-case name.
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

    /// The path of a file or the name of a picture, if it is one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::ReadOnlyFile(path) | Self::ChatFile(path) | Self::Image(path) => Some(path),
            _ => None,
        }
    }
}

/// One chunk of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// What it is.
    pub kind: ChunkKind,
    /// What to call it on the screen.
    pub title: String,
    /// Who says it; of a conversation, who begins.
    pub role: Role,
    /// The message that it is in, or begins with: an index into [`super::Prompt::messages`].
    pub message: usize,
    /// Tokens that it adds to the request, the borders of the messages that it begins included: the chunks add up to
    /// [`super::Prompt::tokens`].
    pub tokens: usize,
    /// Its text as sent; of a conversation, the messages with a blank line between. Empty for a picture.
    pub text: String,
    /// Whether the server is told to keep the request up to the end of this chunk.
    pub cached: bool,
}
