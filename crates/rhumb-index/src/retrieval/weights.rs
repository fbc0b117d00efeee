//! What each signal of a search is worth.

use crate::repo_map::{FileWeights, Weights};

/// The weights of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchWeights {
    /// Those that rank the files.
    pub map: Weights,
    /// What the next passage of a file is worth beside the one before: an answer is seldom all in one file.
    pub next_of_a_file: f64,
    /// What a test among other code is worth beside the code, unless tests are asked for.
    pub test: f64,
}

impl Default for SearchWeights {
    /// The map's weights, fitted on commits, and two signals that questions need: fitted on public questions about nine
    /// repositories (leaving one of them out at a time) and held against commits of three others, which lose nothing by them.
    fn default() -> Self {
        let file = FileWeights { opening: 2.0, prominence: 1.5, ..FileWeights::default() };
        Self { map: Weights { file, ..Weights::default() }, next_of_a_file: 0.12, test: 0.3 }
    }
}

impl SearchWeights {
    /// These weights without one of [`crate::repo_map::SIGNALS`].
    #[must_use]
    pub fn without(self, signal: &str) -> Self {
        Self { map: self.map.without(signal), ..self }
    }
}
