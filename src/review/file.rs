//! One file under review: its base, what is proposed for it, and a decision for each hunk between the two.

use std::sync::Arc;

use super::decision::{Counts, Decision};
use crate::diff::{self, Hunk};
use crate::edit::FileChange;

/// A hunk and what was said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewHunk {
    /// Where it stands (0-based lines of base and proposed).
    pub hunk: Hunk,
    /// What the user said.
    pub decision: Decision,
    /// Words about how it came to be: `fuzzy 93 %`, `elision`, `outside-chat`, `syntax-error`.
    pub marks: Vec<String>,
}

/// What a file is to become when the accepted hunks alone are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Composed {
    /// Nothing accepted: leave it alone.
    Untouched,
    /// The file is to hold this text.
    Text(String),
    /// The file is to go.
    Deleted,
}

/// A file with its hunks. A created, deleted or renamed file is one item with one decision, because half of such a change
/// means nothing.
#[derive(Debug, Clone)]
pub struct FileReview {
    /// Path under the root.
    pub path: String,
    /// What happens to it.
    pub change: FileChange,
    /// Its text when the proposal was made; `None` when it did not exist.
    pub base: Option<Arc<str>>,
    /// Its text with every hunk taken; `None` when it is to go.
    pub proposed: Option<Arc<str>>,
    /// The hunks, in order. Never empty.
    pub hunks: Vec<ReviewHunk>,
}

impl FileReview {
    /// The review of one proposed file; `None` when nothing would change. `marks_at` says what to note on a hunk, given
    /// its lines in the base (0-based).
    pub fn new(
        path: String,
        change: FileChange,
        base: Option<Arc<str>>,
        proposed: Option<Arc<str>>,
        marks_at: impl Fn(&Hunk) -> Vec<String>,
    ) -> Option<Self> {
        let (old, new) = (base.as_deref().unwrap_or_default(), proposed.as_deref().unwrap_or_default());
        let hunks = match change {
            FileChange::Modify => diff::hunks(old, new),
            _ => vec![Hunk { base: 0..line_count(old), proposed: 0..line_count(new) }],
        };
        let hunks: Vec<_> = hunks
            .into_iter()
            .map(|hunk| ReviewHunk { marks: marks_at(&hunk), hunk, decision: Decision::Pending })
            .collect();
        (!hunks.is_empty()).then_some(Self { path, change, base, proposed, hunks })
    }

    /// What the file becomes when the accepted hunks alone are taken.
    pub fn composed(&self) -> Composed {
        self.composed_where(|decision| decision == Decision::Accepted)
    }

    /// What the file becomes when the hunks with the decisions that `take` names are taken.
    pub(super) fn composed_where(&self, take: impl Fn(Decision) -> bool) -> Composed {
        if !self.hunks.iter().any(|hunk| take(hunk.decision)) {
            return Composed::Untouched;
        }
        match (&self.change, &self.proposed) {
            (FileChange::Delete, _) | (_, None) => Composed::Deleted,
            (FileChange::Modify, Some(proposed)) => {
                let hunks: Vec<Hunk> = self.hunks.iter().map(|hunk| hunk.hunk.clone()).collect();
                let base = self.base.as_deref().unwrap_or_default();
                Composed::Text(diff::apply(base, proposed, &hunks, |index| take(self.hunks[index].decision)))
            }
            (_, Some(proposed)) => Composed::Text(proposed.to_string()),
        }
    }

    /// How many hunks stand where.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.hunks.iter().for_each(|hunk| counts.add(hunk.decision));
        counts
    }
}

fn line_count(text: &str) -> usize {
    crate::text::lines::split(text).len()
}
