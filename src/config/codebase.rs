//! The settings of `@codebase`.

use super::layers::Layers;

/// What happens when a model requests more of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum More {
    /// The user is asked.
    #[default]
    Ask,
    /// The request is answered.
    Always,
    /// The model is not offered to request more.
    Never,
}

impl More {
    /// The values of the setting.
    pub const WORDS: &'static [&'static str] = &["ask", "always", "never"];

    fn named(name: &str) -> Self {
        match name {
            "always" => Self::Always,
            "never" => Self::Never,
            _ => Self::Ask,
        }
    }
}

/// The settings of `@codebase`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodebaseSettings {
    /// Budget of the passages in tokens; a share of the context window if `None`.
    pub tokens: Option<usize>,
    /// Whether the weak model chooses search terms.
    pub planning: bool,
    /// Whether the weak model writes guesses at the answer, which are searched for too (HyDE).
    pub hyde: bool,
    /// Whether the weak model ranks the files that were found.
    pub rerank: bool,
    /// How often the model may request more for one question.
    pub rounds: usize,
    /// What happens when it does.
    pub more: More,
}

impl Default for CodebaseSettings {
    fn default() -> Self {
        Self::of(&Layers::default())
    }
}

impl CodebaseSettings {
    pub(super) fn of(layers: &Layers) -> Self {
        Self {
            tokens: layers.whole("codebase_tokens"),
            planning: layers.switch("codebase_planning"),
            hyde: layers.switch("codebase_hyde"),
            rerank: layers.switch("codebase_rerank"),
            rounds: layers.whole("codebase_rounds").unwrap_or_default(),
            more: layers.text("codebase_more").map(|name| More::named(&name)).unwrap_or_default(),
        }
    }
}
