//! The cases: one JSON object on each line, a commit with the request that it answers.

use serde::Deserialize;

/// An example of a line of a case file.
pub const CASE: &str = r#"{"id": "cache", "parent": "HEAD~1", "query": "the cache is stale after a rename", "gold": [{"path": "src/cache.rs"}], "symbols": [{"path": "src/cache.rs", "name": "refresh", "line": 41}], "chat": "src/cache.rs"}"#;

/// A commit: the request and the changed files. Other fields of the line are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommitCase {
    /// The name of the case.
    pub id: String,
    /// The commit before the change, whose tree is mapped.
    pub parent: String,
    /// The request.
    pub query: String,
    /// The files that the change touched.
    pub gold: Vec<GoldFile>,
    /// The innermost definitions that it touched.
    #[serde(default)]
    pub symbols: Vec<GoldSymbol>,
    /// The changed file that is in the chat in the second scenario; may be empty.
    #[serde(default)]
    pub chat: String,
}

/// A file that the change touched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct GoldFile {
    /// The path at the parent.
    pub path: String,
}

/// A definition that the change touched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct GoldSymbol {
    /// The file with the definition.
    pub path: String,
    /// The bare name.
    pub name: String,
    /// The first line at the parent, 1-based.
    pub line: usize,
}

/// Why cases cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A line is not a case.
    #[error("line {line} is not a case: {source}")]
    Line {
        /// 1-based.
        line: usize,
        /// The cause.
        source: serde_json::Error,
    },
    /// A case has no changed file.
    #[error("line {line}: no file answers the case {id}")]
    NoGold {
        /// 1-based.
        line: usize,
        /// The name of the case.
        id: String,
    },
    /// There is no case.
    #[error("there is no case in it")]
    None,
}

/// Reads cases. Blank lines are skipped.
///
/// # Errors
/// A line is not a case (the first such line is reported), or the text contains no case.
pub fn cases(text: &str) -> Result<Vec<CommitCase>, CaseError> {
    let mut cases = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = at + 1;
        let case: CommitCase =
            serde_json::from_str(line).map_err(|source| CaseError::Line { line: line_number, source })?;
        if case.gold.is_empty() {
            return Err(CaseError::NoGold { line: line_number, id: case.id });
        }
        cases.push(case);
    }
    if cases.is_empty() { Err(CaseError::None) } else { Ok(cases) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str =
        r#"{"id": "a", "parent": "0f", "query": "q", "gold": [{"path": "a.rs", "changed_lines": 2}], "lang": "rust"}"#;

    #[test]
    fn a_case_needs_no_symbols_and_no_chat() {
        let read = cases(&format!("{SHORT}\n\n{SHORT}\n")).unwrap();
        assert_eq!((read.len(), read[0].gold[0].path.as_str(), read[1].chat.as_str()), (2, "a.rs", ""));
    }

    #[test]
    fn a_line_that_is_not_a_case_is_reported_by_number() {
        let error = |text: &str| cases(text).unwrap_err().to_string();
        assert!(error(&format!("{SHORT}\nnot json\n")).starts_with("line 2 is not a case: expected"));
        assert!(error("{\"id\": \"a\"}").contains("missing field `parent`"));
        assert_eq!(
            error(&SHORT.replace(r#"{"path": "a.rs", "changed_lines": 2}"#, "")),
            "line 1: no file answers the case a"
        );
        assert_eq!(error("\n"), "there is no case in it");
    }

    #[test]
    fn the_example_is_a_case_and_the_docs_show_it() {
        assert_eq!(cases(CASE).unwrap()[0].symbols[0].line, 41);
        assert!(include_str!("../../../../docs/benchmarks.md").contains(CASE));
    }
}
