//! The manual of the program, for questions about the program: the chapters that match a question, within a budget.

use rhumb_index::lexical::{each_word, is_stop_word};
use rhumb_tokens::TokenCounter;
use std::cmp::Reverse;
use std::collections::HashSet;

/// The documents, by the name for the model.
const DOCUMENTS: [(&str, &str); 14] = [
    ("rhumb manual: README.md", include_str!("../../../../README.md")),
    ("rhumb manual: manual.md", include_str!("../../../../docs/manual.md")),
    ("rhumb manual: commands.md", include_str!("../../../../docs/commands.md")),
    ("rhumb manual: settings.md", include_str!("../../../../docs/settings.md")),
    ("rhumb manual: models.md", include_str!("../../../../docs/models.md")),
    ("rhumb manual: requests.md", include_str!("../../../../docs/requests.md")),
    ("rhumb manual: prompts.md", include_str!("../../../../docs/prompts.md")),
    ("rhumb manual: repo-map.md", include_str!("../../../../docs/repo-map.md")),
    ("rhumb manual: languages.md", include_str!("../../../../docs/languages.md")),
    ("rhumb manual: editing.md", include_str!("../../../../docs/editing.md")),
    ("rhumb manual: scripting.md", include_str!("../../../../docs/scripting.md")),
    ("rhumb manual: trials.md", include_str!("../../../../docs/trials.md")),
    ("rhumb manual: performance.md", include_str!("../../../../docs/performance.md")),
    ("rhumb manual: guarantees.md", include_str!("../../../../docs/guarantees.md")),
];

/// Weight of a word in a heading, compared with one in the text.
const HEADING_WEIGHT: usize = 8;

/// A chapter: a second-level heading with its text, or the text before the first of them.
struct Chapter {
    document: usize,
    text: &'static str,
    score: usize,
}

/// The documents with the chapters that match the question best, in at most `budget` tokens; complete if they fit. Documents
/// without such chapters are left out.
pub fn manual(question: &str, budget: usize, counter: &dyn TokenCounter) -> Vec<(String, String)> {
    let mut wanted = HashSet::new();
    each_word(question, |word| {
        if !is_stop_word(word) {
            wanted.insert(word.to_owned());
        }
    });
    let chapters = chapters(&wanted);
    let mut order: Vec<usize> = (0..chapters.len()).collect();
    order.sort_by_key(|at| Reverse(chapters[*at].score));
    let mut taken = HashSet::new();
    let mut left = budget;
    for at in order {
        let tokens = counter.count(chapters[at].text);
        if tokens <= left {
            left -= tokens;
            taken.insert(at);
        }
    }
    let text_of = |document: usize| -> String {
        let of_document = |(at, chapter): &(usize, &Chapter)| chapter.document == document && taken.contains(at);
        chapters.iter().enumerate().filter(of_document).map(|(_, chapter)| chapter.text).collect()
    };
    let documents = DOCUMENTS.iter().enumerate().map(|(at, (name, _))| ((*name).to_owned(), text_of(at)));
    documents.filter(|(_, text)| !text.is_empty()).collect()
}

fn chapters(wanted: &HashSet<String>) -> Vec<Chapter> {
    let mut chapters = Vec::new();
    for (document, (_, text)) in DOCUMENTS.iter().enumerate() {
        for text in parted(text) {
            let heading = text.lines().next().unwrap_or_default();
            let score = hits(text, wanted) + HEADING_WEIGHT * hits(heading, wanted);
            chapters.push(Chapter { document, text, score });
        }
    }
    chapters
}

/// The text, split before each second-level heading.
fn parted(text: &'static str) -> Vec<&'static str> {
    let mut starts = vec![0];
    starts.extend(text.match_indices("\n## ").map(|(at, _)| at + 1));
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| text.get(*start..end)).collect()
}

/// The number of different words of the question in the text, and their damped frequency.
fn hits(text: &str, wanted: &HashSet<String>) -> usize {
    let mut found = std::collections::HashMap::new();
    each_word(text, |word| {
        if let Some(word) = wanted.get(word) {
            *found.entry(word.as_str()).or_insert(0_usize) += 1;
        }
    });
    found.values().map(|count| 4 + count.ilog2() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes;

    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> usize {
            text.len()
        }

        fn exact(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_large_budget_returns_the_whole_manual() {
        let pages = manual("anything", usize::MAX, &Bytes);
        let pages: Vec<(&str, &str)> = pages.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(pages, DOCUMENTS);
    }

    #[test]
    fn a_small_budget_returns_the_best_chapter() {
        let pages = manual("which settings are there, and in which file?", 12_000, &Bytes);
        assert!(pages[0].1.contains("\n## Settings") || pages[0].1.starts_with("## Settings"), "{}", &pages[0].1[..80]);
        assert!(pages[0].1.len() <= 12_000);
        assert!(manual("settings", 10, &Bytes).is_empty());
    }
}
