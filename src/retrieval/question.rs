//! What is asked, and what kind of question it is.

use std::sync::LazyLock;

use regex::Regex;

/// What a question looks like. It decides what its words are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The name of something in the code: `parse_header`, `Router::nest`, `HTTPAdapter`.
    Symbol,
    /// A path, or the end of one: `src/util/url.rs`.
    Path,
    /// Words of a language.
    Sentence,
}

/// What is asked of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The words of whoever asks.
    pub text: String,
    /// Further words to look for: names and paths that a model guessed.
    pub hints: Vec<String>,
    /// Files that say what it is about although nobody asked for them: those of the chat.
    pub near: Vec<String>,
    /// Most hits.
    pub limit: usize,
}

impl Question {
    /// A question with nothing to go by but its words.
    pub fn new(text: &str, limit: usize) -> Self {
        Self { text: text.to_owned(), limit, ..Self::default() }
    }

    /// What it looks like.
    pub fn shape(&self) -> Shape {
        shape(&self.text)
    }
}

/// A name as code writes it, with what may stand around it: `Type::name`, `object.name`, `name()`.
static SYMBOL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[\p{L}_$][\p{L}\p{N}_$]*((::|\.|#|->)[\p{L}_$~][\p{L}\p{N}_$]*)*[!?]?(\(\))?$").ok()
});

fn shape(text: &str) -> Shape {
    let text = text.trim().trim_matches('`');
    if text.split_whitespace().nth(1).is_some() || text.is_empty() {
        return Shape::Sentence;
    }
    let is_path = text.contains('/') && !text.contains("::");
    if is_path {
        return Shape::Path;
    }
    if SYMBOL.as_ref().is_some_and(|symbol| symbol.is_match(text)) { Shape::Symbol } else { Shape::Sentence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_paths_and_sentences_are_told_apart() {
        for name in ["parse", "parse_header", "Router::nest", "self.send", "HTTPAdapter", "`run()`", "Größe", "ship!"]
        {
            assert_eq!(shape(name), Shape::Symbol, "{name}");
        }
        for path in ["src/lib.rs", "lib/", "./util/url"] {
            assert_eq!(shape(path), Shape::Path, "{path}");
        }
        for sentence in ["how is it parsed", "", "  ", "a-b", "1 + 1"] {
            assert_eq!(shape(sentence), Shape::Sentence, "{sentence}");
        }
    }
}
