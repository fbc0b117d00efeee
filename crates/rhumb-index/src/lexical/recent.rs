//! Terms of the identifiers that were met lately: most identifiers of a repository come again and again, and taking one
//! apart costs ten times as much as finding it here.

use std::cell::Cell;

use xxhash_rust::xxh3::xxh3_64;

use super::word::{Scratch, Term, each_term_of, identifiers};

/// Number of identifiers that are remembered. Each has one place, so that a new one takes the place of an old one.
const PLACES: usize = 1 << 13;

/// Most terms of an identifier that is remembered.
const MOST_TERMS: usize = 7;

/// A reader of terms that remembers.
#[derive(Default)]
pub(super) struct Recent {
    places: Box<[Place]>,
    scratch: Scratch,
}

#[derive(Clone, Copy)]
struct Place {
    /// Hash of the whole identifier; that two of one file share all 64 bits is not to be expected.
    identifier: u64,
    length: u8,
    terms: [Term; MOST_TERMS],
}

/// A place that no identifier has taken: none has so many terms.
const FREE: Place = Place { identifier: 0, length: u8::MAX, terms: [0; MOST_TERMS] };

thread_local! {
    /// Each thread remembers for itself, a third of a megabyte at most.
    static RECENT: Cell<Recent> = Cell::default();
}

impl Recent {
    /// Lends the memory of this thread to `read`.
    pub(super) fn with<R>(read: impl FnOnce(&mut Self) -> R) -> R {
        let mut recent = RECENT.take();
        if recent.places.is_empty() {
            recent.places = vec![FREE; PLACES].into();
        }
        let result = read(&mut recent);
        RECENT.set(recent);
        result
    }

    /// Calls `each` with the terms of `text`, as [`super::each_term`] does.
    pub(super) fn each_term(&mut self, text: &str, mut each: impl FnMut(Term)) {
        for identifier in identifiers(text) {
            self.each_term_of(identifier, &mut each);
        }
    }

    fn each_term_of(&mut self, identifier: &str, each: &mut impl FnMut(Term)) {
        let hash = xxh3_64(identifier.as_bytes());
        let Some(place) = self.places.get_mut(hash as usize % PLACES) else {
            return each_term_of(identifier, &mut self.scratch, each);
        };
        if place.identifier == hash && place.length != FREE.length {
            place.terms.iter().take(usize::from(place.length)).for_each(|term| each(*term));
            return;
        }
        let (mut terms, mut length) = ([0; MOST_TERMS], 0usize);
        each_term_of(identifier, &mut self.scratch, &mut |term| {
            if let Some(slot) = terms.get_mut(length) {
                *slot = term;
            }
            length += 1;
            each(term);
        });
        if length <= MOST_TERMS {
            *place = Place { identifier: hash, length: length as u8, terms };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::each_term;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_remembered_is_what_was_read(texts in prop::collection::vec("[a-cA-C1_ é]{0,40}", 1..8)) {
            for text in texts.iter().chain(&texts) {
                let (mut fresh, mut remembered) = (Vec::new(), Vec::new());
                each_term(text, |term| fresh.push(term));
                Recent::with(|recent| recent.each_term(text, |term| remembered.push(term)));
                prop_assert_eq!(fresh, remembered);
            }
        }
    }

    #[test]
    fn a_memory_that_is_full_forgets() {
        let text: String = (0..3 * PLACES).map(|n| format!("name{n} ")).collect();
        let (mut fresh, mut remembered) = (Vec::new(), Vec::new());
        each_term(&text, |term| fresh.push(term));
        Recent::with(|recent| recent.each_term(&text, |term| remembered.push(term)));
        assert_eq!(fresh, remembered);
    }
}
