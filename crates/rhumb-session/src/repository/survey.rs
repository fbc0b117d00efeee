//! Reading the repository, as far as the user lets it go: it can be stopped, and gone on with.

use crate::effect::Effect;
use crate::state::Session;
use crate::transcript::Level;

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
    /// Lets what is read so far be enough; `None` while nothing is being read, or it stops already.
    pub fn stop_reading(&mut self) -> Option<Vec<Effect>> {
        if self.repository.is_stopping || !matches!(self.repository.survey, SurveyState::Reading(..)) {
            return None;
        }
        self.repository.is_stopping = true;
        Some(vec![Effect::StopReading])
    }

    /// Reads what was left out; `None` if nothing was.
    pub fn read_on(&mut self) -> Option<Vec<Effect>> {
        let SurveyState::Partial(read, total) = self.repository.survey else { return None };
        self.repository.survey = SurveyState::Reading(read, total);
        Some(vec![Effect::ReadOn])
    }

    /// A survey has come to its end.
    pub(crate) fn surveyed(&mut self) {
        let before = self.repository.survey;
        self.repository.is_stopping = false;
        let (unread, total) = std::mem::take(&mut self.repository.left_out);
        if unread == 0 {
            self.repository.survey = SurveyState::Done;
            return;
        }
        self.repository.survey = SurveyState::Partial(total.saturating_sub(unread), total);
        if matches!(before, SurveyState::Reading(..)) {
            let text =
                format!("Reading stopped: {unread} of {total} files are not read yet. The map goes by the others.");
            self.tell(Level::Info, text, "/read-on reads the rest.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, Response};

    #[test]
    fn reading_stops_tells_what_is_left_out_and_goes_on_when_asked() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.read_on(), None);
        session.handle(Response::SurveyProgress { done: 64, total: 1_000 });
        assert_eq!(session.stop_reading(), Some(vec![Effect::StopReading]));
        assert_eq!(session.stop_reading(), None, "it stops already");
        session.handle(Response::SurveyProgress { done: 1_000, total: 1_000 });
        assert_eq!(
            (session.repository.survey, session.repository.is_stopping),
            (SurveyState::Reading(64, 1_000), true)
        );
        session.handle(Response::LeftOut { unread: 800, total: 1_000 });
        session.handle(Response::Surveyed { note: None });
        assert_eq!(
            (session.repository.survey, session.repository.is_stopping),
            (SurveyState::Partial(200, 1_000), false)
        );
        let told = session.transcript.len();
        assert_eq!(session.stop_reading(), None);
        // What changes meanwhile is looked at without a word.
        session.handle(Response::LeftOut { unread: 800, total: 1_000 });
        session.handle(Response::Surveyed { note: None });
        assert_eq!((session.repository.survey, session.transcript.len()), (SurveyState::Partial(200, 1_000), told));
        assert_eq!(session.read_on(), Some(vec![Effect::ReadOn]));
        session.handle(Response::LeftOut { unread: 0, total: 1_000 });
        session.handle(Response::Surveyed { note: None });
        assert_eq!(session.repository.survey, SurveyState::Done);
    }
}
