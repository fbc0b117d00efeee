//! Posting lists as words: what is stored, and what queries read where it lies.
//!
//! Four words of counts (passages, terms, postings, length), then the passages of four words each, the sorted terms, where
//! the postings of each term end, and the postings with the passage in the upper half.

use super::passage::Passage;
use super::terms::{FileTerms, Posting};
use super::word::Term;

const COUNTS: usize = 4;
const PASSAGE: usize = 4;
const NONE: u32 = u32::MAX;

/// The terms of a file by passage, read from words. Words that do not fit together are no terms.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedTerms<'w> {
    passages: &'w [[u32; PASSAGE]],
    terms: &'w [Term],
    ends: &'w [u32],
    postings: &'w [u32],
    length: u32,
}

impl FileTerms {
    /// Appends the words that [`PackedTerms::new`] reads.
    pub fn pack(&self, words: &mut Vec<u32>) {
        let (terms, ends, postings) = self.lists();
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        words.extend([count(self.passages().len()), count(terms.len()), count(postings.len()), self.length()]);
        words.extend(
            self.passages().iter().flat_map(|passage| {
                [passage.definition.unwrap_or(NONE), passage.line, passage.end_line, passage.length]
            }),
        );
        words.extend_from_slice(terms);
        words.extend_from_slice(ends);
        words.extend(postings.iter().map(|posting| u32::from(posting.passage) << 16 | u32::from(posting.weight)));
    }
}

impl<'w> PackedTerms<'w> {
    /// Reads the words of one file.
    pub fn new(words: &'w [u32]) -> Self {
        Self::read(words).unwrap_or_default()
    }

    fn read(words: &'w [u32]) -> Option<Self> {
        let ([passages, terms, postings, length], rest) = words.split_first_chunk::<COUNTS>()?;
        let (passages, rest) = rest.split_at_checked((*passages as usize).checked_mul(PASSAGE)?)?;
        let (terms_list, rest) = rest.split_at_checked(*terms as usize)?;
        let (ends, rest) = rest.split_at_checked(*terms as usize)?;
        (rest.len() == *postings as usize).then_some(Self {
            passages: passages.as_chunks().0,
            terms: terms_list,
            ends,
            postings: rest,
            length: *length,
        })
    }

    /// Number of passages.
    pub fn passages(&self) -> usize {
        self.passages.len()
    }

    /// A passage.
    pub fn passage(&self, at: usize) -> Option<Passage> {
        let &[definition, line, end_line, length] = self.passages.get(at)?;
        Some(Passage { definition: (definition != NONE).then_some(definition), line, end_line, length })
    }

    /// Number of terms in the file, repeated ones included.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Where a term stands in the list, looked for from position `from` on; the place where it would be if it is absent.
    pub(super) fn find(&self, term: Term, from: usize) -> Result<usize, usize> {
        let rest = self.terms.get(from..).unwrap_or_default();
        rest.binary_search(&term).map(|at| at + from).map_err(|at| at + from)
    }

    /// The passages that have the term at a place of the list.
    pub(super) fn postings(&self, at: usize) -> impl Iterator<Item = Posting> + use<'w> {
        let end = self.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        let postings = self.postings.get(start..end).unwrap_or_default();
        postings.iter().map(|&word| Posting { passage: (word >> 16) as u16, weight: (word & 0xffff) as u16 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::terms::Depth;
    use super::*;
    use proptest::prelude::*;
    use rhumb_syntax::{Language, tags};

    proptest! {
        #[test]
        fn packing_keeps_everything(source in "[a-c]{0,3}( |\n|def [a-z]{1,4}\\(\\):\n    [a-z ]{1,9}\n){0,12}") {
            let terms = FileTerms::new(&source, &tags(Language::by_name("python").unwrap(), &source), Depth::Whole);
            let mut words = Vec::new();
            terms.pack(&mut words);
            let packed = PackedTerms::new(&words);
            prop_assert_eq!(packed.length(), terms.length());
            let passages: Vec<Passage> = (0..packed.passages()).filter_map(|at| packed.passage(at)).collect();
            prop_assert_eq!(&passages[..], terms.passages());
            let (list, _, postings) = terms.lists();
            let mut all = Vec::new();
            for (at, term) in list.iter().enumerate() {
                prop_assert_eq!(packed.find(*term, 0), Ok(at));
                all.extend(packed.postings(at));
            }
            prop_assert_eq!(&all[..], postings);
        }

        #[test]
        fn any_words_can_be_read(words in prop::collection::vec(prop_oneof![0u32..9, any::<u32>()], 0..40)) {
            let packed = PackedTerms::new(&words);
            for at in 0..8 {
                let _ = (packed.passage(at), packed.find(at as u32, 0), packed.postings(at).count());
            }
        }
    }
}
