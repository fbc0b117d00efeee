//! What a message talks about: paths, identifiers and plain words, before anyone knows which of them exist.

use std::collections::BTreeSet;

use crate::lexical::is_stop_word;

/// Longest word that can be a name or a path, in bytes; longer runs are data.
const LONGEST: usize = 256;

/// The words of a message by what they could be. Each is listed once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mentions<'m> {
    /// Words with a `/` or a file extension, cleaned of quotes, line numbers and a leading `./`.
    pub(crate) paths: BTreeSet<&'m str>,
    /// Words that can only be names: `snake_case`, `camelCase`, or written as code (`` `walk` ``, `walk(`, `a::walk`).
    pub(crate) identifiers: BTreeSet<&'m str>,
    /// Other words of two or more characters, stop words left out.
    pub(crate) words: BTreeSet<&'m str>,
}

impl<'m> Mentions<'m> {
    /// Reads a message.
    pub(crate) fn new(message: &'m str) -> Self {
        let mut mentions = Self::default();
        for word in message.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;|=*!?".contains(c)) {
            mentions.paths.extend(path_like(word));
        }
        let mut rest = message;
        let mut before = '\0';
        while let Some(start) = rest.find(is_name_char) {
            before = rest[..start].chars().next_back().unwrap_or(before);
            let tail = &rest[start..];
            let end = tail.find(|c| !is_name_char(c)).unwrap_or(tail.len());
            let (word, after) = tail.split_at(end);
            mentions.add_word(word, before, after);
            before = word.chars().next_back().unwrap_or(before);
            rest = after;
        }
        mentions
    }

    fn add_word(&mut self, word: &'m str, before: char, after: &str) {
        if word.len() > LONGEST || word.chars().all(|c| c == '_' || c.is_numeric()) {
            return;
        }
        let as_code = before == '`' || after.starts_with('`') || after.starts_with('(') || after.starts_with("::");
        if is_identifier_shaped(word) || as_code {
            self.identifiers.insert(word);
        } else if word.chars().nth(1).is_some() && !is_stop_word(&word.to_lowercase()) {
            self.words.insert(word);
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// True for a word that prose does not have: an underscore, or a capital after a small letter.
fn is_identifier_shaped(word: &str) -> bool {
    let hump = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    hump || word.contains('_')
}

/// The path that a word may be: with a `/`, or with an extension of letters and digits.
fn path_like(word: &str) -> Option<&str> {
    let mut path = word.trim_end_matches(['.', ':']);
    while let Some((head, tail)) = path.rsplit_once(':') {
        if tail.is_empty() || !tail.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        path = head;
    }
    let path = path.trim_start_matches("./").trim_matches('/');
    if path.is_empty() || path.len() > LONGEST * 4 {
        return None;
    }
    let extension = path.rsplit_once('.').filter(|(head, _)| !head.is_empty()).map(|(_, extension)| extension);
    let has_extension =
        extension.is_some_and(|e| (1..=10).contains(&e.len()) && e.bytes().all(|b| b.is_ascii_alphanumeric()));
    (path.contains('/') || has_extension).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list<'m>(set: &BTreeSet<&'m str>) -> Vec<&'m str> {
        set.iter().copied().collect()
    }

    #[test]
    fn paths_names_and_words_are_told_apart() {
        let mentions = Mentions::new(
            "Fix `walk` in src/walk.rs:12:3 (see ./README.md): call Types::new_default and the httpServer, please.",
        );
        assert_eq!(list(&mentions.paths), ["README.md", "src/walk.rs"]);
        assert_eq!(list(&mentions.identifiers), ["Types", "httpServer", "new_default", "walk"]);
        assert_eq!(list(&mentions.words), ["README", "call", "md", "rs", "see", "src", "walk"]);
    }

    #[test]
    fn ends_of_sentences_are_not_extensions() {
        assert!(Mentions::new("That is it. And so on... 3.").paths.is_empty());
        assert_eq!(list(&Mentions::new("look at app.py.").paths), ["app.py"]);
    }

    #[test]
    fn numbers_and_data_are_no_names() {
        let blob = "x".repeat(5_000);
        let mentions = Mentions::new(&blob);
        assert_eq!(mentions, Mentions::default());
        assert_eq!(Mentions::new("42 __ 7_7"), Mentions::default());
    }

    proptest! {
        #[test]
        fn any_message_can_be_read(message in "\\PC{0,80}") {
            let mentions = Mentions::new(&message);
            prop_assert!(mentions.paths.iter().all(|path| message.contains(path)));
        }
    }
}
