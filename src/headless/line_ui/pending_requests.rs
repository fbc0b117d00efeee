//! The effects that the next line waits for, so that a script has the same result as a user who reads each answer first.

use rhumb_session::{ConnectEffect, Effect, FetchEffect, GitEffect, MentionEffect, PersistenceEffect, RequestId};
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    awaited: HashSet<RequestId>,
    /// The latest measurement of the next request.
    measurement: Option<RequestId>,
}

impl PendingRequests {
    /// Whether the next line has to wait.
    pub(super) fn is_empty(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Whether the next request in its current state is measured.
    pub(super) fn is_measured(&self) -> bool {
        self.measurement.is_none()
    }

    pub(super) fn clear(&mut self) {
        self.awaited.clear();
    }

    /// Records that the host performs an effect of this kind.
    pub(super) fn begin(&mut self, kind: Waiting, id: RequestId) {
        match kind {
            Waiting::NextLine => drop(self.awaited.insert(id)),
            Waiting::Measurement => self.measurement = Some(id),
            Waiting::Nothing => {}
        }
    }

    /// Records that the host has performed an effect.
    pub(super) fn finish(&mut self, id: RequestId) {
        self.awaited.remove(&id);
        self.measurement.take_if(|measurement| *measurement == id);
    }
}

/// The operation that waits for an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    NextLine,
    /// Commands about the next request.
    Measurement,
    /// Nothing: the effect has no end, or the session itself waits for it.
    Nothing,
}

impl From<&Effect> for Waiting {
    fn from(effect: &Effect) -> Self {
        match effect {
            Effect::Measure(_) => Self::Measurement,
            Effect::Lookup(_)
            | Effect::UseModel(_)
            | Effect::Connect { .. }
            | Effect::Connecting(ConnectEffect::Search)
            | Effect::FindServers
            | Effect::CopyPrompt(_)
            | Effect::Reread(_)
            | Effect::Git(GitEffect::Diff)
            | Effect::Mention(MentionEffect::CountTokens { .. })
            | Effect::Fetch(FetchEffect::Image { .. } | FetchEffect::Clipboard { .. })
            | Effect::Persist(
                PersistenceEffect::Open(_)
                | PersistenceEffect::Resume { .. }
                | PersistenceEffect::List(_)
                | PersistenceEffect::Write(_)
                | PersistenceEffect::Read(_),
            ) => Self::NextLine,
            _ => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_line_waits_until_every_request_is_finished() {
        let mut pending = PendingRequests::default();
        for (number, effect) in [(1, Effect::FindServers), (2, Effect::Git(GitEffect::Diff)), (3, Effect::Survey)] {
            pending.begin(Waiting::from(&effect), RequestId(number));
        }
        pending.finish(RequestId(2));
        assert!(!pending.is_empty());
        pending.finish(RequestId(1));
        assert!(pending.is_empty(), "nothing waits for the survey");
    }

    #[test]
    fn only_the_latest_measurement_counts() {
        let mut pending = PendingRequests::default();
        pending.begin(Waiting::Measurement, RequestId(1));
        pending.begin(Waiting::Measurement, RequestId(2));
        pending.finish(RequestId(1));
        assert!(!pending.is_measured() && pending.is_empty());
        pending.finish(RequestId(2));
        assert!(pending.is_measured());
    }
}
