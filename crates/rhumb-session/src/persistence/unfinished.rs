//! What the user is told on leaving and at the next start: that the session is kept, what is undecided in it, and how to resume it.

use super::super::state::Session;
use super::super::transcript::{Entry, Level};
use rhumb_edit::review::Review;
use rhumb_text::count;

/// What an earlier session holds that waits for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnfinishedWork {
    /// Hunks that are pending.
    pub pending: usize,
    /// Hunks that are accepted and not written.
    pub accepted: usize,
    /// Whether there is a message that was not sent.
    pub has_draft: bool,
}

impl UnfinishedWork {
    /// What waits in a review and a draft.
    pub fn of(review: &Review, draft: &str) -> Self {
        let counts = review.counts();
        Self { pending: counts.pending, accepted: counts.accepted, has_draft: !draft.trim().is_empty() }
    }

    /// Whether anything waits.
    pub fn is_anything(&self) -> bool {
        self.hunks().is_some() || self.has_draft
    }

    /// The hunks that are not written, in words.
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

    /// All of it in words, such as `4 pending hunks and an unsent message`.
    pub fn words(&self) -> String {
        let draft = self.has_draft.then(|| "an unsent message".to_owned());
        self.hunks().into_iter().chain(draft).collect::<Vec<_>>().join(" and ")
    }
}

impl Session {
    /// What to tell after leaving; `is_kept` says whether the last changes are on the disk, and `resume` is the command line that resumes
    /// the session, on a line that can be copied. Empty where nothing was said in it and nothing waits.
    pub fn farewell(&self, is_kept: bool, resume: &str) -> String {
        let unfinished = UnfinishedWork::of(self.proposals.review(), self.drafts.text());
        match self.persistence.number.filter(|_| is_kept) {
            Some(_) if !self.is_worth_keeping() => String::new(),
            Some(number) if unfinished.is_anything() => {
                format!("Session {number} is kept, with {}.\nResume it with: {resume}", unfinished.words())
            }
            Some(number) => format!("Session {number} is kept.\nResume it with: {resume}"),
            None if unfinished.is_anything() => {
                format!("The session was not kept, so this is lost: {}.", unfinished.words())
            }
            None => String::new(),
        }
    }

    /// Tells of an earlier session in which something waits.
    pub(super) fn report_unfinished(&mut self, number: i64, unfinished: UnfinishedWork) {
        let text = format!("The last session ({number}) has {}.", unfinished.words());
        let notice = Entry::status(Level::Info, text, "/resume opens it, and so does rhumb --continue at the start.");
        self.transcript.push(notice.clone());
        self.persistence.unfinished = Some(notice);
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
    fn what_waits_is_said_in_words() {
        assert!(!unfinished(0, 0, false).is_anything());
        assert_eq!(unfinished(1, 0, false).words(), "1 pending hunk");
        assert_eq!(unfinished(4, 0, true).words(), "4 pending hunks and an unsent message");
        assert_eq!(unfinished(0, 2, false).words(), "2 accepted hunks not written");
        assert_eq!(unfinished(3, 1, false).words(), "3 pending hunks and 1 accepted but not written");
    }

    #[test]
    fn leaving_says_how_to_resume_and_nothing_of_an_empty_session() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.farewell(true, "rhumb --continue"), "");
        session.draft_changed("Add a mode");
        assert_eq!(
            session.farewell(true, "rhumb --continue"),
            "The session was not kept, so this is lost: an unsent message."
        );
        session.handle(Response::Persisted(PersistenceResponse::Numbered(12)));
        assert_eq!(
            session.farewell(true, "rhumb --continue"),
            "Session 12 is kept, with an unsent message.\nResume it with: rhumb --continue"
        );
        session.draft_changed("");
        assert_eq!(session.farewell(true, "rhumb --continue"), "", "it is on no list");
        session.rename("parser".into());
        assert_eq!(session.farewell(true, "rhumb -c"), "Session 12 is kept.\nResume it with: rhumb -c");
    }

    #[test]
    fn what_waits_in_the_last_session_is_told_at_the_start() {
        let (mut session, _) = Session::start(Connection::None);
        session.handle(Response::Persisted(PersistenceResponse::UnfinishedWork(12, unfinished(4, 0, true))));
        let told = format!("{:?}", session.transcript.last());
        assert!(told.contains("The last session (12) has 4 pending hunks and an unsent message."), "{told}");
        assert!(told.contains("/resume opens it"), "{told}");
    }
}
