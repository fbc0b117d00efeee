//! What a runner behind a harness still owes: a test waits for exactly that.

use rhumb_session::{CodebaseResponse, PersistenceEffect, PersistenceResponse};

use super::*;

/// What the runner still owes.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Whether there is a provider that ends its answers.
    pub(super) answers: bool,
    pub(super) survey: bool,
    /// The newest measurement asked for.
    pub(super) measure: Option<u64>,
    /// The turn that will end by itself.
    pub(super) turn: Option<u64>,
    /// Reports that come once for each order.
    pub(super) others: usize,
}

impl Due {
    pub(super) fn add(&mut self, effect: &Effect) {
        match effect {
            Effect::Survey | Effect::ResumeIndexing => self.survey = true,
            Effect::StopIndexing => {}
            Effect::Measure(order) => self.measure = Some(order.generation),
            Effect::Ask(order) => self.turn = self.answers.then_some(order.generation),
            Effect::Reread(paths) => self.others += paths.len(),
            // The job says so itself when it is done.
            Effect::Run(RunEffect::Stop(_)) => {}
            // A turn that is stopped may end without a word.
            Effect::Cancel => self.turn = None,
            // A summary that is stopped is not reported.
            Effect::CancelSummary => self.others = self.others.saturating_sub(1),
            Effect::Fetch(_) => {}
            // Where no sessions are kept, nothing comes.
            Effect::Persist(PersistenceEffect::Names) => {}
            _ => self.others += 1,
        }
    }

    pub(super) fn settle(&mut self, report: &Response) {
        match report {
            Response::Surveyed { .. } => self.survey = false,
            Response::Measured { generation, .. } if self.measure == Some(*generation) => self.measure = None,
            Response::SurveyProgress { .. }
            | Response::Unread { .. }
            | Response::Listed(_)
            | Response::Head(_)
            | Response::Symbols(_)
            | Response::Persisted(PersistenceResponse::UnfinishedWork(..) | PersistenceResponse::Names(_))
            | Response::Codebase(CodebaseResponse::Status { .. }) => {}
            Response::Measured { .. } | Response::Asked { .. } => {}
            Response::Ran(report) if !matches!(report, RunResponse::Done { .. }) => {}
            Response::Ended { turn, .. } => self.turn = self.turn.filter(|due| due != turn),
            _ => self.others = self.others.saturating_sub(1),
        }
    }

    pub(super) fn anything(&self) -> bool {
        self.survey || self.measure.is_some() || self.turn.is_some() || self.others > 0
    }
}
