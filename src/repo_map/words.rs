//! Words inside names: `HTTPAdapter` and `http_adapters` both speak of an http adapter.

/// Calls `each` with every word of `name`, in lower case and reduced to its stem. Words end at anything but a letter
/// or digit, before a capital after a small letter (`moveLine`), and before the last capital of a run (`HTTPAdapter`).
pub(crate) fn each_word(name: &str, mut each: impl FnMut(&str)) {
    let mut word = String::with_capacity(16);
    let mut chars = name.chars().peekable();
    let mut before = '\0';
    while let Some(char) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
        let starts = char.is_uppercase() && (!before.is_uppercase() || next_is_small);
        if !char.is_alphanumeric() || starts {
            flush(&mut word, &mut each);
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        before = char;
    }
    flush(&mut word, &mut each);
}

fn flush(word: &mut String, each: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        each(stemmed(word));
        word.clear();
    }
}

/// A light stem: without a plural `s`, an `ed` or `ing`, and a final `e`, as long as three characters remain.
/// It only has to treat a message and a name alike, not to be right about English.
pub(crate) fn stemmed(word: &str) -> &str {
    let strip = |word: &'_ str, suffix: &str| -> Option<usize> {
        let rest = word.strip_suffix(suffix)?;
        (rest.chars().nth(2).is_some() && rest.is_ascii()).then_some(rest.len())
    };
    let mut end = word.len();
    for suffixes in [&["s"][..], &["ing", "ed"], &["e"]] {
        let now = &word[..end];
        if now.ends_with("ss") {
            continue;
        }
        if let Some(shorter) = suffixes.iter().find_map(|suffix| strip(now, suffix)) {
            end = shorter;
        }
    }
    &word[..end]
}

/// Words of a message that say nothing about where in the code: function words, and the verbs of every request.
pub(crate) fn is_stop_word(lower: &str) -> bool {
    STOP_WORDS.binary_search(&lower).is_ok()
}

/// Sorted, for the binary search.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "add",
    "added",
    "adds",
    "after",
    "all",
    "allow",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "bug",
    "but",
    "by",
    "can",
    "change",
    "changed",
    "changes",
    "code",
    "correct",
    "correctly",
    "could",
    "did",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "each",
    "ensure",
    "fix",
    "fixed",
    "fixes",
    "for",
    "from",
    "get",
    "had",
    "has",
    "have",
    "how",
    "i",
    "if",
    "implement",
    "in",
    "instead",
    "into",
    "is",
    "issue",
    "it",
    "its",
    "just",
    "let",
    "like",
    "longer",
    "make",
    "makes",
    "more",
    "new",
    "no",
    "not",
    "now",
    "of",
    "on",
    "one",
    "only",
    "or",
    "other",
    "our",
    "please",
    "properly",
    "remove",
    "removed",
    "should",
    "so",
    "some",
    "still",
    "such",
    "support",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "too",
    "up",
    "update",
    "updated",
    "use",
    "used",
    "uses",
    "using",
    "want",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "will",
    "with",
    "work",
    "works",
    "would",
    "you",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(name, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn names_fall_apart_into_words() {
        assert_eq!(words("HTTPAdapter"), ["http", "adapter"]);
        assert_eq!(words("http_adapters"), ["http", "adapter"]);
        assert_eq!(words("moveLine2"), ["mov", "line2"]);
        assert_eq!(words("__init__"), ["init"]);
        assert_eq!(words("ÜberGröße"), ["über", "größe"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [&["cache", "caches", "cached", "caching"][..], &["match", "matches", "matched", "matching"]] {
            assert!(forms.iter().all(|form| stemmed(form) == stemmed(forms[0])), "{forms:?}");
        }
        assert_eq!(stemmed("class"), "class");
        assert_eq!(stemmed("is"), "is");
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("walk"));
    }
}
