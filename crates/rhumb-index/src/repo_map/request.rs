//! What a repo map is built from: the files with their tags, and the request that it is built for.

use std::sync::Arc;

use super::digest::Digest;
use rhumb_syntax::tag::FileTags;

/// A file of the repository with its tags.
#[derive(Debug, Clone, Default)]
pub struct MapFile {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// What it defines and uses; empty for a file of no known language.
    pub tags: Arc<FileTags>,
    /// What the map keeps of its text; empty for a file that was not read.
    pub digest: Arc<Digest>,
}

/// How the map is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MapStyle {
    /// File → signatures in line order, members below their containers.
    #[default]
    Tree,
    /// File → kind → signatures.
    Outline,
}

/// What the map is asked for.
#[derive(Debug, Clone, Default)]
pub struct MapRequest {
    /// Files that the model has whole: they steer the rank and are left out of the map.
    pub chat_files: Vec<String>,
    /// Files that matter although they are not in the chat.
    pub mentioned_files: Vec<String>,
    /// Names that matter.
    pub mentioned_idents: Vec<String>,
    /// The user's message: paths, identifiers and words in it count as mentioned where the repository has them.
    pub message: String,
    /// Files that come first, whatever the request says, and symbols as `path#name` (see [`super::symbol_choice`]).
    pub pinned: Vec<String>,
    /// Files that are never shown, and symbols.
    pub banned: Vec<String>,
    /// Files that were edited since the last commit, or just before.
    pub edited: Vec<String>,
    /// Most tokens that the text may have.
    pub budget: usize,
    /// How the text is written.
    pub style: MapStyle,
}
