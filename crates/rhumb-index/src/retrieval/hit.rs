//! What a search finds.

use std::cmp::Ordering;
use std::sync::Arc;

use rhumb_syntax::tag::SymbolKind;

/// A passage that answers a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// Its file, as a number of the index.
    pub file: u32,
    /// The definition that it is (a part of), as a number among those of the file; none for lines outside of all.
    pub definition: Option<u32>,
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// The name of the definition.
    pub symbol: Option<String>,
    /// What the definition is.
    pub kind: Option<SymbolKind>,
    /// The definition around it.
    pub container: Option<String>,
    /// The header of the definition on one line; empty outside of all.
    pub signature: String,
    /// The higher the better; comparable among the hits of one search only.
    pub score: f64,
}

impl Hit {
    /// How a list is ordered: by score, the highest first, then by place.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        let by_place = || self.path.cmp(&other.path).then(self.line.cmp(&other.line));
        other.score.total_cmp(&self.score).then_with(by_place)
    }

    /// Whether both are about the same lines of the same definition.
    pub fn is_about(&self, other: &Self) -> bool {
        let overlaps = self.line <= other.end_line && other.line <= self.end_line;
        self.path == other.path && self.definition == other.definition && overlaps
    }
}
