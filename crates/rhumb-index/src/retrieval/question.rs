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

    /// The parts of the name that it is, `Router` and `nest` of `Router::nest`; none where it is no name.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        let name = if self.shape() == Shape::Symbol { self.text.as_str() } else { "" };
        name.split(|c| !is_of_a_name(c)).filter(|part| !part.is_empty())
    }

    /// The name that it is, or the last part of it, `nest` of `Router::nest`; `None` where it is a path or a sentence.
    pub fn name(&self) -> Option<&str> {
        self.parts().last()
    }

    /// What a definition has to be called, letter for letter, to be what is asked for: the last part of a name, and in a
    /// sentence each word that is written as code, or with a capital.
    pub(super) fn names(&self) -> Vec<&str> {
        if self.shape() == Shape::Sentence {
            written_as_names(&self.text)
        } else {
            self.parts().last().into_iter().collect()
        }
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

fn written_as_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = 0;
    for word in text.split(|c| !is_of_a_name(c)) {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let as_code = before.ends_with(['`', '.', ':', '#']) || after.starts_with(['`', '(', '.', ':']);
        // A sentence ends as a member is asked for: what follows tells them apart.
        let joined = after.trim_start_matches(['.', ':']).starts_with(is_of_a_name) || !after.starts_with(['.', ':']);
        let is_name = word.contains(|c: char| c.is_uppercase() || c == '_') || (as_code && joined);
        if is_name && word.contains(char::is_alphabetic) && !names.contains(&word) {
            names.push(word);
        }
        at += word.len() + after.chars().next().map_or(0, char::len_utf8);
    }
    names
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
    fn the_names_of_a_question_are_what_it_is_or_what_is_written_as_code() {
        for (text, names) in [
            ("Router::nest", vec!["nest"]),
            ("how does Router relate to MethodRouter?", vec!["Router", "MethodRouter"]),
            ("where is `walk` called by read_all, and run()?", vec!["walk", "read_all", "run"]),
            ("what does self.depth.mark do.", vec!["self", "depth", "mark"]),
            ("how is the tide read: by whom.", vec![]),
            ("src/Tide.rs", vec![]),
            ("Größe é(", vec!["Größe", "é"]),
        ] {
            assert_eq!(Question::new(text, 1).names(), names, "{text}");
        }
    }

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
