//! The questions: one JSON object a line.

use serde::Deserialize;

/// A line of a file of questions, as an example.
pub const QUESTION: &str = r#"{"query": "where is the cache refreshed?", "relevant": [{"path": "src/cache.rs", "start_line": 41, "end_line": 60}], "secondary": [{"path": "docs/cache.md"}], "category": "where"}"#;

/// A question and what answers it. Further fields of its line mean nothing here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct QuestionCase {
    /// What is asked.
    pub query: String,
    /// What answers it.
    pub relevant: Vec<Target>,
    /// What helps to answer it.
    #[serde(default)]
    pub secondary: Vec<Target>,
    /// What kind of question it is.
    #[serde(default)]
    pub category: String,
}

/// A file, or lines of it, that should be found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Target {
    /// Path relative to the repository.
    pub path: String,
    /// The first of its lines, 1-based; the whole file where there is none.
    #[serde(default)]
    pub start_line: Option<u32>,
    /// The last of its lines, inclusive.
    #[serde(default)]
    pub end_line: Option<u32>,
}

impl QuestionCase {
    /// Everything that should be found.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.relevant.iter().chain(&self.secondary)
    }
}

impl Target {
    /// Whether lines of a file are what should be found.
    pub fn is_met(&self, path: &str, line: u32, end_line: u32) -> bool {
        self.path == path
            && self
                .start_line
                .is_none_or(|start| line <= self.end_line.unwrap_or(start).max(start) && start <= end_line)
    }
}

/// The questions cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// A line is not a question.
    #[error("line {line} is not a question: {source}")]
    Line {
        /// 1-based.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A question has no answer.
    #[error("line {line}: nothing answers the question {query:?}")]
    NoTarget {
        /// 1-based.
        line: usize,
        /// The question.
        query: String,
    },
    /// There is no line at all.
    #[error("there is no question in it")]
    None,
}

/// Reads questions, blank lines left out.
///
/// # Errors
/// The first line that is not a question; no question at all.
pub fn questions(text: &str) -> Result<Vec<QuestionCase>, QuestionError> {
    let mut cases = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let case: QuestionCase = serde_json::from_str(text).map_err(|source| QuestionError::Line { line, source })?;
        if case.targets().next().is_none() {
            return Err(QuestionError::NoTarget { line, query: case.query });
        }
        cases.push(case);
    }
    if cases.is_empty() { Err(QuestionError::None) } else { Ok(cases) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_whole_files_can_be_asked_for() {
        let read = questions(
            "{\"query\": \"q\", \"relevant\": [{\"path\": \"a\"}, {\"path\": \"b\", \"start_line\": 3, \"end_line\": 5}]}\n\n",
        );
        let case = &read.unwrap()[0];
        let met: Vec<bool> = case.targets().map(|target| target.is_met("b", 5, 9)).collect();
        assert_eq!(met, [false, true]);
        assert!(!case.relevant[1].is_met("b", 6, 9) && case.relevant[0].is_met("a", 6, 9));
    }

    #[test]
    fn a_line_that_is_no_question_is_named() {
        let error = |text: &str| questions(text).unwrap_err().to_string();
        assert!(error("no json").starts_with("line 1 is not a question"));
        assert_eq!(error("{\"query\": \"q\", \"relevant\": []}"), "line 1: nothing answers the question \"q\"");
        assert_eq!(error("\n"), "there is no question in it");
    }

    #[test]
    fn the_example_is_a_question_and_the_docs_show_it() {
        assert_eq!(questions(QUESTION).unwrap()[0].targets().count(), 2);
        assert!(include_str!("../../../../docs/benchmarks.md").contains(QUESTION));
    }
}
