//! What became of hunks that have left the review, for whoever reads the answers that proposed them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::review::Decision;
use crate::session::state::Session;

/// Hunks that are remembered after their review is over; the oldest go first.
const REMEMBERED: usize = 1_000;

/// A hunk that was decided when its review was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The file, under the root.
    pub path: String,
    /// Whether it was written; else it was rejected.
    pub written: bool,
    /// The lines that it adds and takes away, without their ends.
    pub lines: BTreeSet<String>,
}

impl Session {
    /// Remembers what becomes of the hunks of a review that was written, before they leave it.
    pub(super) fn remember_decided(&mut self, paths: &[String]) {
        let decided = Arc::make_mut(&mut self.decided);
        for file in &self.review.files {
            let is_written = paths.contains(&file.path);
            for hunk in &file.hunks {
                let written = match hunk.decision() {
                    Decision::Accepted if is_written => true,
                    Decision::Rejected => false,
                    _ => continue,
                };
                let lines = file.changed_lines(hunk).map(str::to_owned).collect();
                decided.push(Decided { path: file.path.clone(), written, lines });
            }
        }
        decided.drain(..decided.len().saturating_sub(REMEMBERED));
    }

    /// Forgets them: a write of these files was taken back, or done again.
    pub(super) fn forget_decided(&mut self, paths: &[String]) {
        Arc::make_mut(&mut self.decided).retain(|decided| !paths.contains(&decided.path));
    }
}
