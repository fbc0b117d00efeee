//! Words inside identifiers: `HTTPAdapter` and `http_adapters` both speak of an http adapter.

use xxhash_rust::xxh3::xxh3_64;

use super::stem::stemmed;

/// Longest identifier that is taken apart, in bytes. Longer runs are data.
const LONGEST: usize = 128;

/// A word as a number: 32 bits of its hash. Among the words of a large repository (some 10⁵) about one pair shares its
/// number, which a rank can bear; in return a file's words need no table that all files share.
pub type Term = u32;

/// Calls `each` with every word of `text`, in lower case and reduced to its stem. Words end at anything but a letter or
/// digit, before a capital after a small letter (`moveLine`), before the last capital of a run (`HTTPAdapter`), and
/// between letters and digits.
pub fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::with_capacity(32);
    for identifier in identifiers(text) {
        each_part(identifier, &mut word, &mut |part| each(stemmed(part)));
    }
}

/// Calls `each` with the terms of `text`: the words of each identifier, and the identifier as a whole where it has
/// several. Words of one letter are left out.
pub fn each_term(text: &str, mut each: impl FnMut(Term)) {
    let mut scratch = Scratch::default();
    identifiers(text).for_each(|identifier| each_term_of(identifier, &mut scratch, &mut each));
}

/// Space to take identifiers apart in.
#[derive(Default)]
pub(super) struct Scratch {
    word: String,
    whole: String,
}

/// Calls `each` with the terms of one identifier.
pub(super) fn each_term_of(identifier: &str, scratch: &mut Scratch, each: &mut impl FnMut(Term)) {
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

/// The term of a word that is in lower case and stemmed.
pub(super) fn term_of(word: &str) -> Term {
    // The upper half of the hash is as good as the lower.
    (xxh3_64(word.as_bytes()) >> 32) as Term
}

/// Runs of letters, digits and underscores.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let runs = std::iter::from_fn(move || {
        rest = &rest[run(rest, false)..];
        let (identifier, after) = rest.split_at(run(rest, true));
        rest = after;
        (!identifier.is_empty()).then_some(identifier)
    });
    runs.filter(|identifier| identifier.len() <= LONGEST)
}

/// How many bytes at the start of `text` are part of an identifier, or are not.
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

/// Whether an ASCII character can be part of an identifier: a look-up takes a fraction of the comparisons.
const IS_PART: [bool; 128] = {
    let mut table = [false; 128];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = byte == b'_' || byte.is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// The parts of one identifier, in lower case. `word` is scratch space.
fn each_part(identifier: &str, word: &mut String, each: &mut impl FnMut(&str)) {
    word.clear();
    let mut chars = identifier.chars().peekable();
    let mut before = '_';
    while let Some(char) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
        let hump = char.is_uppercase() && (!before.is_uppercase() || next_is_small);
        let digits = char.is_numeric() != before.is_numeric();
        if !word.is_empty() && (char == '_' || hump || digits) {
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

#[cfg(test)]
mod tests {
    use super::*;
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
    fn names_fall_apart_into_words() {
        assert_eq!(words("HTTPAdapter"), ["http", "adapt"]);
        assert_eq!(words("http_adapters"), ["http", "adapt"]);
        assert_eq!(words("moveLine2"), ["mov", "lin", "2"]);
        assert_eq!(words("src/ui/menu.rs"), ["src", "ui", "menu", "rs"]);
        assert_eq!(words("__init__"), ["init"]);
        assert_eq!(words("ÜberGröße"), ["über", "größe"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn a_compound_counts_as_a_whole_too_however_it_is_written() {
        let whole = |text| terms(text).pop();
        assert_eq!(whole("moveLine"), whole("move_line"));
        assert_ne!(whole("moveLine"), whole("line_move"));
        assert_eq!(terms("move line").len(), 2);
        assert!(terms("x y").is_empty(), "one letter says nothing");
    }

    #[test]
    fn data_is_no_identifier() {
        assert!(terms(&"aB".repeat(1_000)).is_empty());
    }

    proptest! {
        #[test]
        fn any_text_has_the_words_of_its_lines(lines in prop::collection::vec("\\PC{0,20}", 0..6)) {
            let together = words(&lines.join("\n"));
            let apart: Vec<String> = lines.iter().flat_map(|line| words(line)).collect();
            prop_assert_eq!(&together, &apart);
            prop_assert!(together.iter().all(|word| !word.is_empty()));
        }

        #[test]
        fn terms_do_not_depend_on_case_where_nothing_is_compound(word in "[a-z]{2,10}") {
            prop_assert_eq!(terms(&word), terms(&word.to_uppercase()));
        }
    }
}
