//! Questions about a repository, and their kinds.

use std::sync::LazyLock;

use regex::Regex;

/// The kind of a question. It decides the weights of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// A name in code: `parse_header`, `Router::nest`, `HTTPAdapter`.
    Symbol,
    /// A path, or the end of one: `src/util/url.rs`.
    Path,
    /// Natural language.
    Sentence,
}

/// A question about a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The words of the question.
    pub text: String,
    /// Further words to search for: names and paths that a model proposed.
    pub hints: Vec<String>,
    /// Files that indicate the subject without being mentioned: those of the chat.
    pub near: Vec<String>,
    /// Maximum number of hits.
    pub limit: usize,
}

impl Question {
    /// A question without hints.
    pub fn new(text: &str, limit: usize) -> Self {
        Self { text: text.to_owned(), limit, ..Self::default() }
    }

    /// The kind of the question.
    pub fn shape(&self) -> QuestionKind {
        shape(&self.text)
    }

    /// The parts of the name, `Router` and `nest` of `Router::nest`, if the question is a name.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        let name = if self.shape() == QuestionKind::Symbol { self.text.as_str() } else { "" };
        name.split(|c| !is_of_a_name(c)).filter(|part| !part.is_empty())
    }

    /// The last part of the name, `nest` of `Router::nest`, if the question is a name.
    pub fn name(&self) -> Option<&str> {
        self.parts().last()
    }

    /// The names of definitions that answer the question: the last part of a name; in a sentence, each word that is written as code or
    /// with a capital.
    pub(crate) fn names(&self) -> Vec<&str> {
        if self.shape() == QuestionKind::Sentence {
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
        // Both a sentence and a member access have a dot after the word: the next character distinguishes them.
        let joined = after.trim_start_matches(['.', ':']).starts_with(is_of_a_name) || !after.starts_with(['.', ':']);
        let is_name = word.contains(|c: char| c.is_uppercase() || c == '_') || (as_code && joined);
        if is_name && word.contains(char::is_alphabetic) && !names.contains(&word) {
            names.push(word);
        }
        at += word.len() + after.chars().next().map_or(0, char::len_utf8);
    }
    names
}

/// A name as written in code: `Type::name`, `object.name`, `name()`.
static SYMBOL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[\p{L}_$][\p{L}\p{N}_$]*((::|\.|#|->)[\p{L}_$~][\p{L}\p{N}_$]*)*[!?]?(\(\))?$").ok()
});

fn shape(text: &str) -> QuestionKind {
    let text = text.trim().trim_matches('`');
    if text.split_whitespace().nth(1).is_some() || text.is_empty() {
        return QuestionKind::Sentence;
    }
    let is_path = text.contains('/') && !text.contains("::");
    if is_path {
        return QuestionKind::Path;
    }
    if SYMBOL.as_ref().is_some_and(|symbol| symbol.is_match(text)) {
        QuestionKind::Symbol
    } else {
        QuestionKind::Sentence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_question_are_the_words_written_as_code() {
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
    fn names_paths_and_sentences_are_distinguished() {
        for name in ["parse", "parse_header", "Router::nest", "self.send", "HTTPAdapter", "`run()`", "Größe", "ship!"]
        {
            assert_eq!(shape(name), QuestionKind::Symbol, "{name}");
        }
        for path in ["src/lib.rs", "lib/", "./util/url"] {
            assert_eq!(shape(path), QuestionKind::Path, "{path}");
        }
        for sentence in ["how is it parsed", "", "  ", "a-b", "1 + 1"] {
            assert_eq!(shape(sentence), QuestionKind::Sentence, "{sentence}");
        }
    }
}
