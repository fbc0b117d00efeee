//! Indexing the repository, which the user can stop and resume.

use super::UnreadFiles;
use crate::{Effect, Level, Session};

/// The progress of indexing the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurveyState {
    /// The number of files that were read, and of all files (0 while they are being counted).
    Reading(usize, usize),
    /// Indexing was stopped early: the number of files that were read, and of all files.
    Partial(usize, usize),
    /// All files are indexed.
    Done,
}

impl Default for SurveyState {
    fn default() -> Self {
        Self::Reading(0, 0)
    }
}

impl Session {
    /// Stops indexing; `None` if it does not run or stops already.
    pub fn stop_indexing(&mut self) -> Option<Vec<Effect>> {
        if self.repository.is_stopping || !matches!(self.repository.survey, SurveyState::Reading(..)) {
            return None;
        }
        self.repository.is_stopping = true;
        Some(vec![Effect::StopIndexing])
    }

    /// Indexes the files that were left out; `None` if there are none.
    pub fn resume_indexing(&mut self) -> Option<Vec<Effect>> {
        let SurveyState::Partial(read, total) = self.repository.survey else { return None };
        self.repository.survey = SurveyState::Reading(read, total);
        Some(vec![Effect::ResumeIndexing])
    }

    pub(crate) fn survey_ended(&mut self) {
        let before = self.repository.survey;
        self.repository.is_stopping = false;
        let UnreadFiles { unread, total } = std::mem::take(&mut self.repository.unread);
        if unread == 0 {
            self.repository.survey = SurveyState::Done;
            return;
        }
        self.repository.survey = SurveyState::Partial(total.saturating_sub(unread), total);
        if matches!(before, SurveyState::Reading(..)) {
            let text = format!("Indexing stopped: {unread} of {total} files are not indexed. The map omits them.");
            self.report(Level::Info, text, "/map-refresh indexes the rest.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, Response};

    #[test]
    fn indexing_can_be_stopped_and_resumed() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.resume_indexing(), None);
        session.handle(Response::SurveyProgress { done: 64, total: 1_000 });
        assert_eq!(session.stop_indexing(), Some(vec![Effect::StopIndexing]));
        assert_eq!(session.stop_indexing(), None, "it stops already");
        session.handle(Response::SurveyProgress { done: 1_000, total: 1_000 });
        assert_eq!(
            (session.repository.survey, session.repository.is_stopping),
            (SurveyState::Reading(64, 1_000), true)
        );
        session.handle(Response::Unread { unread: 800, total: 1_000 });
        session.handle(Response::Surveyed { note: None });
        assert_eq!(
            (session.repository.survey, session.repository.is_stopping),
            (SurveyState::Partial(200, 1_000), false)
        );
        let entries = session.transcript.len();
        assert_eq!(session.stop_indexing(), None);
        // A survey after a change on disk reports nothing.
        session.handle(Response::Unread { unread: 800, total: 1_000 });
        session.handle(Response::Surveyed { note: None });
        assert_eq!((session.repository.survey, session.transcript.len()), (SurveyState::Partial(200, 1_000), entries));
        assert_eq!(session.resume_indexing(), Some(vec![Effect::ResumeIndexing]));
        session.handle(Response::Unread { unread: 0, total: 1_000 });
        session.handle(Response::Surveyed { note: None });
        assert_eq!(session.repository.survey, SurveyState::Done);
    }
}
