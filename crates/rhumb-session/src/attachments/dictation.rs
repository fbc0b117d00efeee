//! Dictation: speech is recorded, transcribed, and inserted into the composer.

use crate::{Effect, Failure, FetchEffect, Level, Notice, Session};
use std::collections::VecDeque;

/// Number of levels that are stored for the meter; more than the width of any screen.
const MAX_LEVELS: usize = 240;

/// The state of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingState {
    /// The recorder was started and has produced no audio yet.
    Starting,
    /// The recorder records.
    Recording,
    /// The recording is being transcribed.
    Transcribing,
}

/// A recording in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The number of the effect.
    pub number: u64,
    /// The state.
    pub state: RecordingState,
    /// The levels from 0 to 1, oldest first.
    pub levels: VecDeque<f32>,
    /// Seconds so far.
    pub seconds: f32,
}

impl Session {
    /// Starts a recording.
    pub fn record(&mut self) -> Vec<Effect> {
        if self.attachments.recording.is_some() {
            return Vec::new();
        }
        let number = self.attachments.next_number();
        let (state, levels, seconds) = (RecordingState::Starting, VecDeque::new(), 0.0);
        self.attachments.recording = Some(Recording { number, state, levels, seconds });
        vec![Effect::Fetch(FetchEffect::StartRecording { number })]
    }

    /// Stops the recording and transcribes or discards it.
    pub fn stop_recording(&mut self, transcribe: bool) -> Vec<Effect> {
        let Some(recording) = &mut self.attachments.recording else { return Vec::new() };
        if transcribe && recording.state == RecordingState::Transcribing {
            return Vec::new();
        }
        recording.state = RecordingState::Transcribing;
        if !transcribe {
            self.attachments.recording = None;
        }
        vec![Effect::Fetch(FetchEffect::StopRecording { transcribe })]
    }

    pub(super) fn recording_progress(&mut self, number: u64, level: Option<f32>, seconds: f32) {
        let Some(recording) =
            self.recording_of(number).filter(|recording| recording.state != RecordingState::Transcribing)
        else {
            return;
        };
        recording.state = RecordingState::Recording;
        recording.seconds = seconds;
        if let Some(level) = level {
            recording.levels.push_back(level);
            if recording.levels.len() > MAX_LEVELS {
                recording.levels.pop_front();
            }
        }
    }

    pub(super) fn recording_ended(&mut self, number: u64, limit: Option<&str>) {
        let Some(recording) = self.recording_of(number) else { return };
        recording.state = RecordingState::Transcribing;
        let Some(limit) = limit else { return };
        let text = format!("The recording ended at its limit, {limit}; it is being written down.");
        self.report(Level::Info, text, "/voice again goes on.");
    }

    pub(super) fn transcribed(&mut self, number: u64, result: Result<String, Failure>) {
        if self.recording_of(number).is_none() {
            return;
        }
        self.attachments.recording = None;
        match result {
            Ok(text) if text.trim().is_empty() => {
                self.report(
                    Level::Warning,
                    "Nothing was understood.",
                    "Check the microphone, and speak a little longer.",
                );
            }
            Ok(text) => self.notices.push(Notice::InsertDictated(text.trim().to_owned())),
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

    fn respond(session: &mut Session, response: FetchResponse) {
        session.handle(Response::Fetched(response));
    }

    #[test]
    fn transcribed_speech_is_inserted_into_the_composer() {
        let (mut session, _) = Session::start(Connection::None);
        assert_eq!(session.record(), [Effect::Fetch(FetchEffect::StartRecording { number: 1 })]);
        assert!(session.record().is_empty(), "one at a time");
        respond(&mut session, FetchResponse::RecordingProgress { number: 1, level: Some(0.5), seconds: 0.1 });
        assert_eq!(session.attachments.recording.as_ref().unwrap().levels, [0.5]);
        assert_eq!(session.stop_recording(true), [Effect::Fetch(FetchEffect::StopRecording { transcribe: true })]);
        assert!(session.stop_recording(true).is_empty(), "once is enough");
        respond(&mut session, FetchResponse::RecordingProgress { number: 1, level: Some(0.7), seconds: 0.2 });
        assert_eq!(session.attachments.recording.as_ref().unwrap().state, RecordingState::Transcribing);
        respond(&mut session, FetchResponse::Transcribed { number: 1, result: Ok(" make it green \n".into()) });
        assert_eq!(session.take_notices(), [Notice::InsertDictated("make it green".into())]);
        assert!(session.attachments.recording.is_none());
    }

    #[test]
    fn a_discarded_recording_inserts_nothing() {
        let (mut session, _) = Session::start(Connection::None);
        session.record();
        assert_eq!(session.stop_recording(false), [Effect::Fetch(FetchEffect::StopRecording { transcribe: false })]);
        respond(&mut session, FetchResponse::Transcribed { number: 1, result: Ok("late".into()) });
        assert!(session.take_notices().is_empty());
        assert!(session.stop_recording(true).is_empty());
    }
}
