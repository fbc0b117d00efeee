//! Phrases: pairs of neighbouring words in documentation and in strings.
//!
//! A pair says more than its words: a message quotes an error or a sentence of the documentation, of which every single word is
//! common. Stop words are skipped, so that `not a valid choice` has the pair `valid choice`.

use std::sync::LazyLock;

use super::words::{STOP_WORDS, Term, TermCache, identifiers, stemmed, term_of};

/// A pair of words as a number below 2²²: a hash. Among the few hundred pairs of a message and of a file about one collides in fifty
/// files, and a posting has room for the passage.
pub(crate) type Phrase = u32;

/// Number of bits of a phrase, and of its passage in a posting.
const PHRASE_BITS: u32 = 22;
const PASSAGE_BITS: u32 = u32::BITS - PHRASE_BITS;

/// The stems of the stop words, as sorted terms.
static STOP_TERMS: LazyLock<Vec<Term>> = LazyLock::new(|| {
    let mut terms: Vec<Term> = STOP_WORDS.iter().map(|word| term_of(stemmed(word))).collect();
    terms.sort_unstable();
    terms
});

/// Reads phrases from consecutive texts.
#[derive(Debug, Default)]
pub(crate) struct PhraseReader {
    last: Option<Term>,
    terms: Vec<Term>,
}

impl PhraseReader {
    /// Starts a new text: its first word is no neighbour of the last one.
    pub(crate) fn restart(&mut self) {
        self.last = None;
    }

    /// Calls `each` with the phrases of a text, which continues the previous one.
    pub(crate) fn read(&mut self, text: &str, cache: &mut TermCache, mut each: impl FnMut(Phrase)) {
        for identifier in identifiers(text) {
            self.terms.clear();
            cache.each_term_of(identifier, &mut |term| self.terms.push(term));
            // The last term of several is the whole identifier.
            let parts = self.terms.len() - usize::from(self.terms.len() > 1);
            for &term in &self.terms[..parts] {
                let is_stop = STOP_TERMS.binary_search(&term).is_ok();
                if let Some(last) = (!is_stop).then(|| self.last.replace(term)).flatten() {
                    each(phrase(last, term));
                }
            }
        }
    }
}

fn phrase(first: Term, second: Term) -> Phrase {
    let mixed = (u64::from(first) << 32 | u64::from(second)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9).wrapping_shr(u64::BITS - PHRASE_BITS) as Phrase
}

/// A phrase in a passage, as one word. `None` for the passages after the first 1,024 of a file, which are not recorded.
pub(crate) fn posting(phrase: Phrase, passage: u16) -> Option<u32> {
    (u32::from(passage) >> PASSAGE_BITS == 0).then(|| phrase << PASSAGE_BITS | u32::from(passage))
}

/// The phrase and the passage of a posting.
pub(crate) fn of_posting(posting: u32) -> (Phrase, u16) {
    (posting >> PASSAGE_BITS, (posting & ((1 << PASSAGE_BITS) - 1)) as u16)
}

/// The texts of the string literals that end on their line, in the usual notations. An apostrophe in other code gives a few texts
/// too many.
pub(crate) fn strings(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.find(['"', '\'', '`'])?;
        let quote = rest.as_bytes()[start];
        let text = &rest[start + 1..];
        let mut escaped = false;
        let end = text.bytes().position(|byte| {
            let ends = byte == quote && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        rest = &text[end + 1..];
        Some(&text[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn phrases(text: &str) -> Vec<Phrase> {
        let mut phrases = Vec::new();
        TermCache::with(|cache| PhraseReader::default().read(text, cache, |phrase| phrases.push(phrase)));
        phrases
    }

    #[test]
    fn a_phrase_skips_stop_words_and_ignores_case_and_notation() {
        assert_eq!(phrases("is not a valid choice"), phrases("Valid choices"));
        assert_eq!(phrases("valid_choice"), phrases("validChoice"));
        assert_ne!(phrases("choice valid"), phrases("valid choice"));
        assert!(phrases("valid").is_empty());
    }

    #[test]
    fn strings_end_at_their_own_quote() {
        let texts: Vec<&str> = strings(r#"raise Error("it's \"odd\"", 'b') + `c"#).collect();
        assert_eq!(texts, [r#"it's \"odd\""#, "b"]);
    }

    proptest! {
        #[test]
        fn a_posting_holds_phrase_and_passage(phrase in 0u32..1 << PHRASE_BITS, passage in 0u16..2_000) {
            match posting(phrase, passage) {
                Some(word) => prop_assert_eq!(of_posting(word), (phrase, passage)),
                None => prop_assert!(passage >= 1_024),
            }
        }

        #[test]
        fn any_line_has_strings(line in "\\PC{0,40}") {
            prop_assert!(strings(&line).map(str::len).sum::<usize>() <= line.len());
        }
    }
}
