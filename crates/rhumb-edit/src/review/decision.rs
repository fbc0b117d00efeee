//! The state of one hunk under review, and counts of them.

use serde::{Deserialize, Serialize};

/// What the user said of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Nothing yet; such a hunk is not written.
    #[default]
    Pending,
    /// To be written.
    Accepted,
    /// Not to be written.
    Rejected,
}

impl Decision {
    /// What Space does: pending and rejected hunks become accepted, accepted ones rejected.
    pub fn toggled(self) -> Self {
        match self {
            Self::Accepted => Self::Rejected,
            Self::Pending | Self::Rejected => Self::Accepted,
        }
    }

    /// A mark that reads without colour.
    pub fn mark(self) -> char {
        match self {
            Self::Pending => '·',
            Self::Accepted => '✓',
            Self::Rejected => '✗',
        }
    }
}

/// How many hunks stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Hunks not decided yet.
    pub pending: usize,
    /// Hunks that will be written.
    pub accepted: usize,
    /// Hunks that will not.
    pub rejected: usize,
}

impl Counts {
    /// Counts one more hunk.
    pub fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Pending => self.pending += 1,
            Decision::Accepted => self.accepted += 1,
            Decision::Rejected => self.rejected += 1,
        }
    }

    /// All of them.
    pub fn total(self) -> usize {
        self.pending + self.accepted + self.rejected
    }
}
