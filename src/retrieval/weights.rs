//! What each signal of a search is worth.

use crate::repo_map::Weights;

/// The weights of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchWeights {
    /// Those that rank the files.
    pub map: Weights,
}
