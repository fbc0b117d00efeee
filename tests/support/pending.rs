//! The responses that a host still has to send to a harness. A test waits for exactly these.

use rhumb_session::{CodebaseResponse, PersistenceEffect, PersistenceResponse};

use super::*;

/// The pending responses of a host.
#[derive(Debug, Default)]
pub(super) struct PendingResponses {
    /// Whether the provider ends its answers.
    pub(super) answers: bool,
    pub(super) survey: bool,
    /// The latest measurement that was requested.
    pub(super) measure: Option<u64>,
    /// The turn that will end without further input.
    pub(super) turn: Option<u64>,
    /// Responses that come once for each effect.
    pub(super) others: usize,
}

impl PendingResponses {
    pub(super) fn add(&mut self, effect: &Effect) {
        match effect {
            Effect::Survey | Effect::ResumeIndexing => self.survey = true,
            Effect::StopIndexing => {}
            Effect::Measure(order) => self.measure = Some(order.generation),
            Effect::Ask(order) => self.turn = self.answers.then_some(order.generation),
            Effect::Reread(paths) => self.others += paths.len(),
            // The job sends its own response when it ends.
            Effect::Run(RunEffect::Stop(_)) => {}
            // A turn that is stopped may end without a response.
            Effect::Cancel => self.turn = None,
            // A summary that is stopped has no response.
            Effect::CancelSummary => self.others = self.others.saturating_sub(1),
            Effect::Fetch(_) => {}
            // Without stored sessions there is no response.
            Effect::Persist(PersistenceEffect::Names) => {}
            _ => self.others += 1,
        }
    }

    pub(super) fn settle(&mut self, response: &Response) {
        match response {
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
            Response::Ended { turn, .. } => self.turn = self.turn.filter(|pending| pending != turn),
            _ => self.others = self.others.saturating_sub(1),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.survey && self.measure.is_none() && self.turn.is_none() && self.others == 0
    }
}
