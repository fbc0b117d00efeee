//! The words of a request, by the part of the message that has them.

use std::collections::BTreeMap;

use super::message::Message;
use super::words::{Term, each_term, each_word, is_stop_word, term_of};

/// Number of parts of a message: title, prose, code, error text.
pub const PARTS: usize = 4;

/// Maximum count of a word in a part. A repeated word is the subject, but not arbitrarily more important.
const MAX_WORD_COUNT: f64 = 2.0;
/// Maximum number of different terms of a message that are looked up, so that a pasted log costs little.
const MAX_QUERY_TERMS: usize = 512;
/// Weights of the parts where a message is compared with a single line, such as the subject of a commit; the words of code count once.
const SUBJECT_WEIGHTS: [f64; PARTS] = [2.0, 1.0, 0.5, 0.0];

/// The terms of a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Sorted by term, without duplicates.
    pub(crate) terms: Vec<QueryTerm>,
    /// The stemmed words of title and prose in lower case, without duplicates, with the index of their term.
    pub(crate) words: Vec<(Box<str>, u16)>,
}

/// A term with its counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QueryTerm {
    pub(crate) term: Term,
    /// The count in each part, at most [`MAX_WORD_COUNT`].
    pub(crate) counts: [f64; PARTS],
    /// The weight of the identifier that is this term; 0 if none is.
    pub(crate) identifier: f64,
}

impl Query {
    /// The terms of a text without parts, such as a list of names. Stop words and one-letter words are dropped.
    pub fn new(text: &str) -> Self {
        Self::of_message(&Message { title: text.to_owned(), ..Message::default() })
    }

    /// The terms of a message.
    pub fn of_message(message: &Message) -> Self {
        let mut found: BTreeMap<Term, [f64; PARTS]> = BTreeMap::new();
        let mut words: Vec<Box<str>> = Vec::new();
        let parts = [&message.title, &message.prose, &message.code, &message.error];
        // Code is last: the words of the error are nearer to the cause.
        for part in [0, 1, 3, 2] {
            for word in parts[part].split(|c: char| !(c == '_' || c.is_alphanumeric())) {
                let lower = word.to_lowercase();
                if is_stop_word(&lower) || (part > 0 && is_report_word(&lower)) {
                    continue;
                }
                each_term(word, |term| {
                    if found.len() < MAX_QUERY_TERMS || found.contains_key(&term) {
                        let count = &mut found.entry(term).or_default()[part];
                        *count = (*count + 1.0).min(MAX_WORD_COUNT);
                    }
                });
                if part < 2 {
                    each_word(word, |word| words.push(word.into()));
                }
            }
        }
        let mut terms: Vec<QueryTerm> =
            found.into_iter().map(|(term, counts)| QueryTerm { term, counts, identifier: 0.0 }).collect();
        for (name, &weight) in &message.identifiers {
            // The last term of a name is the whole name.
            let mut whole = None;
            each_term(name, |term| whole = Some(term));
            let at = whole.and_then(|whole| terms.binary_search_by_key(&whole, |term| term.term).ok());
            if let Some(term) = at.and_then(|at| terms.get_mut(at)) {
                term.identifier = term.identifier.max(weight);
            }
        }
        words.sort_unstable();
        words.dedup();
        let with_term = |word: Box<str>| {
            let at = terms.binary_search_by_key(&term_of(&word), |entry| entry.term).ok()?;
            Some((word, u16::try_from(at).ok()?))
        };
        Self { words: words.into_iter().filter_map(with_term).collect(), terms }
    }

    /// The terms in order, without duplicates, with their weights for the comparison with a single line.
    pub fn terms(&self) -> impl Iterator<Item = (Term, f64)> + '_ {
        self.terms.iter().map(|term| {
            let counts = [term.counts[0].min(1.0), term.counts[1], term.counts[2].min(1.0), 0.0];
            (term.term, counts.iter().zip(SUBJECT_WEIGHTS).map(|(count, weight)| count * weight).sum())
        })
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Whether a word is common in reports of any subject. Sorted for binary search.
fn is_report_word(lower: &str) -> bool {
    const REPORT_WORDS: [&str; 52] = [
        "actual", "actually", "another", "anything", "behavior", "behaviour", "better", "case", "cases", "currently",
        "description", "different", "either", "error", "even", "example", "expect", "expected", "first", "following",
        "found", "getting", "gives", "however", "least", "maybe", "me", "might", "my", "need", "needs", "possible",
        "problem", "python", "rather", "really", "reproduce", "result", "results", "same", "see", "seems", "show",
        "shows", "since", "something", "steps", "sure", "thing", "trying", "version", "wrong",
    ];
    REPORT_WORDS.binary_search(&lower).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_ignored() {
        assert!(Query::new("please fix this, it should be so").is_empty());
    }

    #[test]
    fn a_pasted_log_is_cut() {
        let log: String = (0..5_000).map(|n| format!("word{n}x ")).collect();
        assert!(Query::new(&log).terms.len() <= MAX_QUERY_TERMS + 4);
    }

    #[test]
    fn a_long_message_keeps_the_words_of_its_error() {
        let code: String = (0..2_000).map(|n| format!("part{n}x = part{n}y\n")).collect();
        let prose = "the same boat again ".repeat(400);
        let message = Message::new(&format!("It sinks\n\n{prose}\n\n```\n{code}```\n\nValueError: no wind\n"));
        let query = Query::of_message(&message);
        let wind = query.terms.iter().find(|entry| entry.term == term_of("wind"));
        assert!(wind.is_some_and(|wind| wind.counts[3] > 0.0));
        assert!(query.terms.len() == MAX_QUERY_TERMS);
    }

    #[test]
    fn words_are_counted_by_part() {
        let query = Query::of_message(&Message::new("Moor the boat\n\nThe boat and the actual boat, a boat.\n"));
        let boat = query.terms.iter().find(|term| term.counts[1] > 0.0).unwrap();
        assert_eq!((boat.counts, query.terms.len()), ([1.0, 2.0, 0.0, 0.0], 2));
        assert!(is_report_word("actual") && is_report_word("wrong") && !is_report_word("boat"));
    }

    #[test]
    fn an_identifier_is_the_term_of_its_whole_name() {
        let query = Query::of_message(&Message::new("the depth of open_gate"));
        assert_eq!(query.terms.iter().filter(|term| term.identifier > 0.0).count(), 1);
    }
}
