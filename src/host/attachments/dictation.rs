//! Dictation: records a message, reports the level, and transcribes the recording.

use crate::host::{Host, lock};
use crate::speech::{self, RecordingProgress, SpeechError, recorder, transcribe};
use rhumb_session::{Failure, FetchResponse, Response};
use rhumb_workspace::process::is_installed;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub(super) struct RecordingControl {
    stop: CancellationToken,
    cancel: CancellationToken,
}

impl RecordingControl {
    pub(super) fn end(&self, transcribe: bool) {
        if transcribe { self.stop.cancel() } else { self.cancel.cancel() }
    }
}

impl Host {
    pub(super) fn record(self, number: u64) {
        let (stop, cancel) = (CancellationToken::new(), CancellationToken::new());
        let control = RecordingControl { stop: stop.clone(), cancel: cancel.clone() };
        std::mem::replace(&mut *lock(&self.shared.fetch_control.recording), control).end(false);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                result = self.dictate(number, &stop) => {
                    self.respond(Response::Fetched(FetchResponse::Transcribed { number, result })).await;
                }
            }
        });
    }

    async fn dictate(&self, number: u64, stop: &CancellationToken) -> Result<String, Failure> {
        let settings = &self.shared.env.settings;
        // Checked before the recording. The user's key command may run.
        let own = settings.clone();
        let endpoint = tokio::task::spawn_blocking(move || own.voice_endpoint()).await;
        let endpoint = match endpoint {
            Ok(Ok(Some(endpoint))) => endpoint,
            Ok(Ok(None)) => return Err(failure(&SpeechError::NoModel)),
            Ok(Err(error)) => return Err(Failure { message: format!("{error}."), hint: error.hint() }),
            Err(error) => return Err(Failure { message: format!("{error}."), hint: String::new() }),
        };
        let recorder = recorder(settings.voice_cmd.as_deref(), std::env::consts::OS, &is_installed)
            .map_err(|error| failure(&error))?;
        let progress = |RecordingProgress { level, seconds }: RecordingProgress| {
            self.responder.try_send(Response::Fetched(FetchResponse::RecordingProgress { number, level, seconds }));
        };
        let (sound, limit) = speech::record(&recorder, stop, &progress).await.map_err(|error| failure(&error))?;
        self.respond(Response::Fetched(FetchResponse::RecordingEnded { number, limit })).await;
        let words = transcribe(&endpoint, sound, settings.voice_language.as_deref()).await;
        words.map_err(|error| failure(&error))
    }
}

fn failure(error: &SpeechError) -> Failure {
    Failure { message: format!("{error}."), hint: error.hint().to_owned() }
}
