//! Why a passage was found: what speaks for its file, and the words of the question that it has.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::question::Question;
use super::search::request;
use super::weights::SearchWeights;
use crate::lexical::{each_word, is_stop_word};
use crate::repo_map::{Ranking, TagGraph};

/// What a question went by.
#[derive(Debug)]
pub struct Reasons {
    ranking: Ranking,
    /// The words that count, in their order, reduced to their stems.
    words: Vec<String>,
}

impl Reasons {
    /// Ranks the files for a question as the search does.
    pub fn new(graph: &Arc<TagGraph>, question: &Question, weights: &SearchWeights) -> Self {
        Self { ranking: Ranking::new(graph, &request(question), &weights.map), words: question_words(&question.text) }
    }

    /// What speaks for a file of the index and against it, in log-odds, strongest first.
    pub fn grounds(&self, file: u32) -> Vec<(&'static str, f64)> {
        self.ranking.grounds(file)
    }

    /// The words of the question that a text has, as their stems.
    pub fn words_in(&self, text: &str) -> Vec<&str> {
        let mut there = BTreeSet::new();
        each_word(text, |word| {
            if self.words.iter().any(|asked| asked == word) {
                there.insert(word.to_owned());
            }
        });
        self.words.iter().filter(|word| there.contains(*word)).map(String::as_str).collect()
    }
}

/// The words of a question that say something, each once; none where it has only those that every text has.
pub fn question_words(question: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // Before they lose their endings: `where` is such a word, its stem is none.
    let spoken = question.split(|c: char| !c.is_alphanumeric() && c != '_');
    for word in spoken.filter(|word| !is_stop_word(&word.to_lowercase())) {
        each_word(word, |part| {
            if !words.iter().any(|known| known == part) {
                words.push(part.to_owned());
            }
        });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_question_are_those_that_say_something() {
        assert_eq!(
            question_words("How are the headers parsed, and the headers?"),
            ["header", "pars"].map(|stem| {
                let mut found = String::new();
                each_word(if stem == "pars" { "parsed" } else { stem }, |word| found = word.to_owned());
                found
            })
        );
        assert!(question_words("Where is the").is_empty() && question_words(" ?! ").is_empty());
    }
}
