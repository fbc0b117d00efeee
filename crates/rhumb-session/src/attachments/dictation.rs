//! Speaking a message: recorded, written down, and put into the composer.

use crate::notice::Notice;
use std::collections::VecDeque;

use super::FetchEffect;
use crate::effect::{Effect, Failure};
use crate::state::Session;
use crate::transcript::Level;

/// Levels that are kept for the meter; more than any screen is wide.
const LEVELS: usize = 240;

/// How far speaking a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The recorder was started and has said nothing yet.
    Starting,
    /// It records.
    Recording,
    /// What it recorded is being written down.
    Writing,
}

/// A message that is being spoken.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The number of the order.
    pub number: u64,
    /// How far it is.
    pub stage: Stage,
    /// How loud it was, from 0 to 1, oldest first.
    pub levels: VecDeque<f32>,
    /// Seconds so far.
    pub seconds: f32,
}

impl Session {
    /// Records a message.
    pub fn record(&mut self) -> Vec<Effect> {
        if self.attachments.recording.is_some() {
            return Vec::new();
        }
        let number = self.attachments.next_number();
        let (stage, levels, seconds) = (Stage::Starting, VecDeque::new(), 0.0);
        self.attachments.recording = Some(Recording { number, stage, levels, seconds });
        vec![Effect::Fetch(FetchEffect::Record { number })]
    }

    /// Ends the recording and has it written down; or throws it away.
    pub fn end_recording(&mut self, keep: bool) -> Vec<Effect> {
        let Some(recording) = &mut self.attachments.recording else { return Vec::new() };
        if keep && recording.stage == Stage::Writing {
            return Vec::new();
        }
        recording.stage = Stage::Writing;
        if !keep {
            self.attachments.recording = None;
        }
        vec![Effect::Fetch(FetchEffect::EndRecording { keep })]
    }

    pub(super) fn heard(&mut self, number: u64, level: Option<f32>, seconds: f32) {
        let Some(recording) = self.recording_of(number).filter(|recording| recording.stage != Stage::Writing) else {
            return;
        };
        recording.stage = Stage::Recording;
        recording.seconds = seconds;
        if let Some(level) = level {
            recording.levels.push_back(level);
            if recording.levels.len() > LEVELS {
                recording.levels.pop_front();
            }
        }
    }

    pub(super) fn recorded(&mut self, number: u64, limit: Option<&str>) {
        let Some(recording) = self.recording_of(number) else { return };
        recording.stage = Stage::Writing;
        let Some(limit) = limit else { return };
        let text = format!("The recording ended at its limit, {limit}; it is being written down.");
        self.report(Level::Info, text, "/voice again goes on.");
    }

    pub(super) fn spoken(&mut self, number: u64, result: Result<String, Failure>) {
        if self.recording_of(number).is_none() {
            return;
        }
        self.attachments.recording = None;
        match result {
            Ok(words) if words.trim().is_empty() => {
                self.report(
                    Level::Warning,
                    "Nothing was understood.",
                    "Check the microphone, and speak a little longer.",
                );
            }
            Ok(words) => self.notices.push(Notice::InsertDictated(words.trim().to_owned())),
            Err(failure) => self.report_failure(Level::Error, failure),
        }
    }

    fn recording_of(&mut self, number: u64) -> Option<&mut Recording> {
        self.attachments.recording.as_mut().filter(|recording| recording.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, FetchResponse, Response};

    fn report(session: &mut Session, report: FetchResponse) {
        session.handle(Response::Fetched(report));
    }

    #[test]
    fn what_was_spoken_goes_into_the_composer() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.record(), [Effect::Fetch(FetchEffect::Record { number: 1 })]);
        assert!(session.record().is_empty(), "one at a time");
        report(&mut session, FetchResponse::RecordingProgress { number: 1, level: Some(0.5), seconds: 0.1 });
        assert_eq!(session.attachments.recording.as_ref().unwrap().levels, [0.5]);
        assert_eq!(session.end_recording(true), [Effect::Fetch(FetchEffect::EndRecording { keep: true })]);
        assert!(session.end_recording(true).is_empty(), "once is enough");
        report(&mut session, FetchResponse::RecordingProgress { number: 1, level: Some(0.7), seconds: 0.2 });
        assert_eq!(session.attachments.recording.as_ref().unwrap().stage, Stage::Writing);
        report(&mut session, FetchResponse::Spoken { number: 1, result: Ok(" make it green \n".into()) });
        assert_eq!(session.take_notices(), [Notice::InsertDictated("make it green".into())]);
        assert!(session.attachments.recording.is_none());
    }

    #[test]
    fn what_was_thrown_away_does_not_come_back() {
        let (mut session, _) = Session::start(Connection::None);
        session.record();
        assert_eq!(session.end_recording(false), [Effect::Fetch(FetchEffect::EndRecording { keep: false })]);
        report(&mut session, FetchResponse::Spoken { number: 1, result: Ok("late".into()) });
        assert!(session.take_notices().is_empty());
        assert!(session.end_recording(true).is_empty());
    }
}
