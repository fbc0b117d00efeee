//! Words inside of identifiers: `HTTPAdapter` and `http_adapters` both contain `http` and `adapter`.

use std::cell::Cell;

use xxhash_rust::xxh3::xxh3_64;

/// Maximum length of an identifier, in bytes. Longer runs are data.
const MAX_IDENTIFIER_BYTES: usize = 128;

/// A word as a number: 32 bits of its hash. Among the words of a large repository (about 10⁵) one pair is expected to collide,
/// which hardly affects a ranking. In return, the files need no common table of words.
pub type Term = u32;

/// Calls `each` with the stem of every word of `text`, in lower case. Words end at every character other than a letter or digit,
/// before a capital after a small letter (`moveLine`), before the last capital of a run (`HTTPAdapter`), and between letters and
/// digits.
pub fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::with_capacity(32);
    for identifier in identifiers(text) {
        each_part(identifier, &mut word, &mut |part| each(stemmed(part)));
    }
}

/// Calls `each` with the terms of `text`: the words of each identifier, and the whole identifier if it has several. One-letter words
/// are dropped.
pub fn each_term(text: &str, mut each: impl FnMut(Term)) {
    let mut scratch = Scratch::default();
    identifiers(text).for_each(|identifier| each_term_of(identifier, &mut scratch, &mut each));
}

/// Buffers for splitting identifiers.
#[derive(Default)]
pub(crate) struct Scratch {
    word: String,
    whole: String,
}

/// Calls `each` with the terms of one identifier.
pub(crate) fn each_term_of(identifier: &str, scratch: &mut Scratch, each: &mut impl FnMut(Term)) {
    let Scratch { word, whole } = scratch;
    whole.clear();
    let mut parts = 0usize;
    each_part(identifier, word, &mut |part| {
        parts += 1;
        whole.push_str(part);
        if part.len() > 1 || part.as_bytes().first().is_some_and(u8::is_ascii_digit) {
            each(term_of(stemmed(part)));
        }
    });
    if parts > 1 {
        each(term_of(whole));
    }
}

/// The term of a stemmed word in lower case.
pub(crate) fn term_of(word: &str) -> Term {
    (xxh3_64(word.as_bytes()) >> 32) as Term
}

/// Runs of letters, digits and underscores.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let runs = std::iter::from_fn(move || {
        rest = &rest[run(rest, false)..];
        let (identifier, after) = rest.split_at(run(rest, true));
        rest = after;
        (!identifier.is_empty()).then_some(identifier)
    });
    runs.filter(|identifier| identifier.len() <= MAX_IDENTIFIER_BYTES)
}

/// The length in bytes of the run at the start of `text` that is inside of an identifier, or outside.
fn run(text: &str, inside: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let (is_part, length) = if byte.is_ascii() {
            (IS_PART[usize::from(byte)], 1)
        } else {
            let char = text[at..].chars().next().unwrap_or_default();
            (char.is_alphanumeric(), char.len_utf8())
        };
        if is_part != inside {
            break;
        }
        at += length;
    }
    at
}

/// Whether an ASCII character can be part of an identifier. A table is faster than comparisons.
const IS_PART: [bool; 128] = {
    let mut table = [false; 128];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = byte == b'_' || byte.is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Calls `each` with the parts of an identifier, in lower case. `word` is a buffer.
fn each_part(identifier: &str, word: &mut String, each: &mut impl FnMut(&str)) {
    word.clear();
    let mut chars = identifier.chars().peekable();
    let mut before = '_';
    while let Some(char) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
        let is_camel_case = char.is_uppercase() && (!before.is_uppercase() || next_is_small);
        let digits = char.is_numeric() != before.is_numeric();
        if !word.is_empty() && (char == '_' || is_camel_case || digits) {
            each(word);
            word.clear();
        }
        if char.is_ascii() {
            if char != '_' {
                word.push(char.to_ascii_lowercase());
            }
        } else {
            word.extend(char.to_lowercase());
        }
        before = char;
    }
    if !word.is_empty() {
        each(word);
    }
}

/// Suffixes, longest first. A word loses one of them if at least three letters remain.
const ENDINGS: [&str; 9] = ["ations", "ation", "ings", "ing", "ers", "ed", "es", "er", "s"];

/// A light stem of a word in lower case: without one of the usual suffixes, without a doubled consonant before the suffix
/// (`splitting`, `split`), and without a final `e`. It need not be correct English; it only has to map a message and a name to the
/// same stem. Words that are not ASCII are returned unchanged.
pub fn stemmed(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let cut = ENDINGS
        .iter()
        .filter(|ending| !(**ending == "s" && word.ends_with("ss")))
        .find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() >= 3));
    let stem = cut.unwrap_or(word);
    let stem = match stem.as_bytes() {
        [.., a, b] if a == b && stem.len() > 3 && cut.is_some() && !b"sl".contains(b) => &stem[..stem.len() - 1],
        _ => stem,
    };
    stem.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(stem)
}

/// Whether a word is a function word, or a verb that most requests contain. `lower` is in lower case and not stemmed.
pub fn is_stop_word(lower: &str) -> bool {
    STOP_WORDS.binary_search(&lower).is_ok()
}

/// Sorted for binary search.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "add", "added", "adds", "after", "all", "allow", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "bug", "but", "by", "can", "change", "changed", "changes", "code", "correct", "correctly", "could",
    "did", "do", "does", "doesn", "doing", "don", "each", "ensure", "fix", "fixed", "fixes", "for", "from", "get", "had", "has",
    "have", "how", "i", "if", "implement", "in", "instead", "into", "is", "issue", "it", "its", "just", "let", "like", "longer",
    "make", "makes", "more", "new", "no", "not", "now", "of", "on", "one", "only", "or", "other", "our", "please", "properly",
    "remove", "removed", "should", "so", "some", "still", "such", "support", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "to", "too", "up", "update", "updated", "use", "used", "uses", "using", "want", "was", "we", "were",
    "what", "when", "where", "which", "while", "will", "with", "work", "works", "would", "you",
];

/// Number of slots. Each identifier has one slot; a new one replaces the old one.
const SLOTS: usize = 1 << 13;

/// Maximum number of terms of a cached identifier.
const MAX_CACHED_TERMS: usize = 7;

/// Splits identifiers into terms, with a cache.
#[derive(Default)]
pub(crate) struct TermCache {
    slots: Box<[CachedTerms]>,
    scratch: Scratch,
}

#[derive(Clone, Copy)]
struct CachedTerms {
    /// Hash of the identifier. Collisions of all 64 bits within a file are not expected.
    identifier: u64,
    length: u8,
    terms: [Term; MAX_CACHED_TERMS],
}

/// An empty slot: no cached identifier has this length.
const FREE: CachedTerms = CachedTerms { identifier: 0, length: u8::MAX, terms: [0; MAX_CACHED_TERMS] };

thread_local! {
    /// The cache of the thread, about 0.3 MB.
    static RECENT: Cell<TermCache> = Cell::default();
}

impl TermCache {
    /// Calls `read` with the cache of this thread.
    pub(crate) fn with<R>(read: impl FnOnce(&mut Self) -> R) -> R {
        let mut cache = RECENT.take();
        if cache.slots.is_empty() {
            cache.slots = vec![FREE; SLOTS].into();
        }
        let result = read(&mut cache);
        RECENT.set(cache);
        result
    }

    /// Calls `each` with the terms of `text`, as [`super::each_term`] does.
    pub(crate) fn each_term(&mut self, text: &str, mut each: impl FnMut(Term)) {
        for identifier in identifiers(text) {
            self.each_term_of(identifier, &mut each);
        }
    }

    fn each_term_of(&mut self, identifier: &str, each: &mut impl FnMut(Term)) {
        let hash = xxh3_64(identifier.as_bytes());
        let Some(slot) = self.slots.get_mut(hash as usize % SLOTS) else {
            return each_term_of(identifier, &mut self.scratch, each);
        };
        if slot.identifier == hash && slot.length != FREE.length {
            slot.terms.iter().take(usize::from(slot.length)).for_each(|term| each(*term));
            return;
        }
        let (mut terms, mut length) = ([0; MAX_CACHED_TERMS], 0usize);
        each_term_of(identifier, &mut self.scratch, &mut |term| {
            if let Some(slot) = terms.get_mut(length) {
                *slot = term;
            }
            length += 1;
            each(term);
        });
        if length <= MAX_CACHED_TERMS {
            *slot = CachedTerms { identifier: hash, length: length as u8, terms };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::each_term;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    fn terms(text: &str) -> Vec<Term> {
        let mut terms = Vec::new();
        each_term(text, |term| terms.push(term));
        terms
    }

    #[test]
    fn identifiers_are_split_into_words() {
        assert_eq!(words("HTTPAdapter"), ["http", "adapt"]);
        assert_eq!(words("http_adapters"), ["http", "adapt"]);
        assert_eq!(words("moveLine2"), ["mov", "lin", "2"]);
        assert_eq!(words("src/ui/menu.rs"), ["src", "ui", "menu", "rs"]);
        assert_eq!(words("__init__"), ["init"]);
        assert_eq!(words("ÜberGröße"), ["über", "größe"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn a_compound_is_also_a_term_however_it_is_written() {
        let whole = |text| terms(text).pop();
        assert_eq!(whole("moveLine"), whole("move_line"));
        assert_ne!(whole("moveLine"), whole("line_move"));
        assert_eq!(terms("move line").len(), 2);
        assert!(terms("x y").is_empty(), "one-letter words are dropped");
    }

    #[test]
    fn long_runs_are_not_identifiers() {
        assert!(terms(&"aB".repeat(1_000)).is_empty());
    }

    proptest! {
        #[test]
        fn the_words_of_a_text_are_those_of_its_lines(lines in prop::collection::vec("\\PC{0,20}", 0..6)) {
            let together = words(&lines.join("\n"));
            let apart: Vec<String> = lines.iter().flat_map(|line| words(line)).collect();
            prop_assert_eq!(&together, &apart);
            prop_assert!(together.iter().all(|word| !word.is_empty()));
        }

        #[test]
        fn terms_of_simple_words_ignore_case(word in "[a-z]{2,10}") {
            prop_assert_eq!(terms(&word), terms(&word.to_uppercase()));
        }
    }

    #[test]
    fn inflected_forms_have_the_same_stem() {
        for forms in [
            &["cache", "caches", "cached", "caching"][..],
            &["match", "matches", "matched", "matching", "matcher"],
            &["split", "splits", "splitting", "splitter"],
            &["call", "calls", "called", "caller"],
        ] {
            assert!(forms.iter().all(|form| stemmed(form) == stemmed(forms[0])), "{forms:?}");
        }
        assert_eq!(stemmed("class"), "class");
        assert_eq!(stemmed("is"), "is");
        assert_eq!(stemmed("größer"), "größer");
    }

    proptest! {
        #[test]
        fn a_stem_is_a_prefix_of_its_word(word in "\\PC{0,12}") {
            prop_assert!(word.starts_with(stemmed(&word)));
            prop_assert!(word.is_empty() || !stemmed(&word).is_empty());
        }
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("walk"));
    }

    proptest! {
        #[test]
        fn cached_terms_equal_computed_terms(texts in prop::collection::vec("[a-cA-C1_ é]{0,40}", 1..8)) {
            for text in texts.iter().chain(&texts) {
                let (mut fresh, mut remembered) = (Vec::new(), Vec::new());
                each_term(text, |term| fresh.push(term));
                TermCache::with(|cache| cache.each_term(text, |term| remembered.push(term)));
                prop_assert_eq!(fresh, remembered);
            }
        }
    }

    #[test]
    fn a_full_cache_replaces_identifiers() {
        let text: String = (0..3 * SLOTS).map(|n| format!("name{n} ")).collect();
        let (mut fresh, mut remembered) = (Vec::new(), Vec::new());
        each_term(&text, |term| fresh.push(term));
        TermCache::with(|cache| cache.each_term(&text, |term| remembered.push(term)));
        assert_eq!(fresh, remembered);
    }
}
