//! What the settings say of questions about the whole repository.

use super::layers::Layers;

/// What happens when a model asks for more of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum More {
    /// The developer is asked.
    #[default]
    Ask,
    /// It is looked up at once.
    Always,
    /// It is not offered to the model.
    Never,
}

impl More {
    /// The words of the setting.
    pub const WORDS: &'static [&'static str] = &["ask", "always", "never"];

    fn named(name: &str) -> Self {
        match name {
            "always" => Self::Always,
            "never" => Self::Never,
            _ => Self::Ask,
        }
    }
}

/// How `@codebase` works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodebaseSettings {
    /// Tokens of the passages, if fixed; else a share of the window.
    pub tokens: Option<usize>,
    /// Whether the weak model is asked what to look for.
    pub planning: bool,
    /// Whether the weak model writes what the answer may look like, to search for that too.
    pub hyde: bool,
    /// Whether the weak model puts the files that were found in order.
    pub rerank: bool,
    /// How often the model may ask for more, for one question.
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
