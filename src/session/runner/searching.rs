//! Searching the repository for the passages that answer a question.

use std::sync::Arc;

use super::{Runner, Survey, lock};
use crate::repo_map::TagGraph;
use crate::retrieval::{Hit, Question, SearchWeights, search};

/// The passages of a surveyed repository that answer a question, best first. The app and the commands without it search in
/// the same way. Takes milliseconds of the calling thread.
pub fn found(survey: &Survey, question: &Question) -> Vec<Hit> {
    found_in(&survey.graph, question)
}

fn found_in(graph: &Arc<TagGraph>, question: &Question) -> Vec<Hit> {
    search(graph, question, &SearchWeights::default())
}

impl Runner {
    /// The passages that answer a question, by what is known of the repository now; `None` while nothing is. Blocks for
    /// milliseconds: never on the draw path.
    pub(super) fn found(&self, question: &Question) -> Option<Vec<Hit>> {
        let survey = self.shared.survey.borrow().clone();
        let known = survey.map(|survey| Arc::clone(&survey.graph)).or_else(|| lock(&self.shared.sketch).clone())?;
        Some(found_in(&known, question))
    }
}
