//! The messages about unfinished work, on leaving and at the next start: they name the undecided hunks and the unsent message, and
//! say how to resume the session.

use crate::{Entry, Level, Session};
use rhumb_edit::review::Review;
use rhumb_text::count;

/// The unfinished work of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnfinishedWork {
    /// The number of pending hunks.
    pub pending: usize,
    /// The number of hunks that are accepted and not written.
    pub accepted: usize,
    /// Whether there is an unsent message.
    pub has_draft: bool,
}

impl UnfinishedWork {
    /// The unfinished work in a review and a draft.
    pub fn of(review: &Review, draft: &str) -> Self {
        let counts = review.counts();
        Self { pending: counts.pending, accepted: counts.accepted, has_draft: !draft.trim().is_empty() }
    }

    /// Whether there is any unfinished work.
    pub fn is_anything(&self) -> bool {
        self.hunks().is_some() || self.has_draft
    }

    /// A phrase about the hunks that are not written.
    fn hunks(&self) -> Option<String> {
        Some(match (self.pending, self.accepted) {
            (0, 0) => return None,
            (pending, 0) => count(pending, "pending hunk"),
            (0, accepted) => format!("{} not written", count(accepted, "accepted hunk")),
            (pending, accepted) => {
                format!("{} and {accepted} accepted but not written", count(pending, "pending hunk"))
            }
        })
    }

    /// A phrase such as `4 pending hunks and an unsent message`.
    pub fn words(&self) -> String {
        let draft = self.has_draft.then(|| "an unsent message".to_owned());
        self.hunks().into_iter().chain(draft).collect::<Vec<_>>().join(" and ")
    }
}

impl Session {
    /// The message on leaving. `is_saved` says whether the last changes are on disk, and `resume` is the command line that resumes the
    /// session. Empty if the session has no conversation and no unfinished work.
    pub fn farewell(&self, is_saved: bool, resume: &str) -> String {
        let unfinished = UnfinishedWork::of(self.proposals.review(), self.drafts.text());
        match self.persistence.number.filter(|_| is_saved) {
            Some(_) if !self.is_worth_saving() => String::new(),
            Some(number) if unfinished.is_anything() => {
                format!("Session {number} is saved, with {}.\nResume it with: {resume}", unfinished.words())
            }
            Some(number) => format!("Session {number} is saved.\nResume it with: {resume}"),
            None if unfinished.is_anything() => {
                format!("The session was not saved, so this is lost: {}.", unfinished.words())
            }
            None => String::new(),
        }
    }

    pub(super) fn report_unfinished(&mut self, number: i64, unfinished: UnfinishedWork) {
        let text = format!("The last session ({number}) has {}.", unfinished.words());
        let message = Entry::status(Level::Info, text, "/resume opens it, and so does rhumb --continue at the start.");
        self.transcript.push(message.clone());
        self.persistence.unfinished = Some(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, PersistenceResponse, Response};

    fn unfinished(pending: usize, accepted: usize, has_draft: bool) -> UnfinishedWork {
        UnfinishedWork { pending, accepted, has_draft }
    }

    #[test]
    fn unfinished_work_is_counted_by_kind() {
        assert!(!unfinished(0, 0, false).is_anything());
        assert_eq!(unfinished(1, 0, false).words(), "1 pending hunk");
        assert_eq!(unfinished(4, 0, true).words(), "4 pending hunks and an unsent message");
        assert_eq!(unfinished(0, 2, false).words(), "2 accepted hunks not written");
        assert_eq!(unfinished(3, 1, false).words(), "3 pending hunks and 1 accepted but not written");
    }

    #[test]
    fn the_farewell_says_how_to_resume_and_is_empty_for_an_empty_session() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.farewell(true, "rhumb --continue"), "");
        session.draft_changed("Add a mode");
        assert_eq!(
            session.farewell(true, "rhumb --continue"),
            "The session was not saved, so this is lost: an unsent message."
        );
        session.handle(Response::Persisted(PersistenceResponse::Numbered(12)));
        assert_eq!(
            session.farewell(true, "rhumb --continue"),
            "Session 12 is saved, with an unsent message.\nResume it with: rhumb --continue"
        );
        session.draft_changed("");
        assert_eq!(session.farewell(true, "rhumb --continue"), "", "an empty session is not listed");
        session.rename("parser".into());
        assert_eq!(session.farewell(true, "rhumb -c"), "Session 12 is saved.\nResume it with: rhumb -c");
    }

    #[test]
    fn unfinished_work_of_the_last_session_is_reported_at_the_start() {
        let (mut session, _) = Session::start(Connection::None);
        session.handle(Response::Persisted(PersistenceResponse::UnfinishedWork(12, unfinished(4, 0, true))));
        let text = format!("{:?}", session.transcript.last());
        assert!(text.contains("The last session (12) has 4 pending hunks and an unsent message."), "{text}");
        assert!(text.contains("/resume opens it"), "{text}");
    }
}
