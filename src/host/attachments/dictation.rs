//! Speaking a message: the recorder runs, its levels are passed on, and what it recorded is written down.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::host::{Host, lock};
use crate::speech::{self, RecordingProgress, SpeechError, recorder, transcribe};
use rhumb_session::{Failure, FetchResponse, Response};

/// How what is being spoken can be ended.
#[derive(Default)]
pub(super) struct Control {
    /// Stops the recorder; what it recorded is written down.
    stop: CancellationToken,
    /// Stops everything.
    cancel: CancellationToken,
}

impl Control {
    /// Ends the recording, or throws all of it away.
    pub(super) fn end(&self, keep: bool) {
        if keep { self.stop.cancel() } else { self.cancel.cancel() }
    }
}

impl Host {
    /// Records a message and has it written down.
    pub(super) fn record(self, number: u64) {
        let (stop, cancel) = (CancellationToken::new(), CancellationToken::new());
        let control = Control { stop: stop.clone(), cancel: cancel.clone() };
        std::mem::replace(&mut *lock(&self.shared.fetch_control.voice), control).end(false);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                result = self.speak(number, &stop) => {
                    self.respond(Response::Fetched(FetchResponse::Transcribed { number, result })).await;
                }
            }
        });
    }

    async fn speak(&self, number: u64, stop: &CancellationToken) -> Result<String, Failure> {
        let settings = &self.shared.env.settings;
        // Before anything is recorded that nobody could write down. It may run a command for the key.
        let own = settings.clone();
        let found = tokio::task::spawn_blocking(move || own.voice_endpoint()).await;
        let endpoint = match found {
            Ok(Ok(Some(endpoint))) => endpoint,
            Ok(Ok(None)) => return Err(failure(&SpeechError::NoModel)),
            Ok(Err(error)) => return Err(Failure { message: format!("{error}."), hint: error.hint() }),
            Err(error) => return Err(Failure { message: format!("{error}."), hint: String::new() }),
        };
        let recorder = recorder(settings.voice_cmd.as_deref(), std::env::consts::OS, &is_there)
            .map_err(|error| failure(&error))?;
        let progress = |RecordingProgress { level, seconds }: RecordingProgress| {
            // A level less where many wait already.
            self.responder.try_send(Response::Fetched(FetchResponse::RecordingProgress { number, level, seconds }));
        };
        let (sound, limit) = speech::record(&recorder, stop, &progress).await.map_err(|error| failure(&error))?;
        self.respond(Response::Fetched(FetchResponse::RecordingEnded { number, limit })).await;
        let words = transcribe(&endpoint, sound, settings.voice_language.as_deref()).await;
        words.map_err(|error| failure(&error))
    }
}

/// Whether a program of that name is on the path of the user's environment. Relative entries do not count: the repository could
/// have put something there.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).any(|folder| is_program(&folder.join(program)))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.with_extension("exe").is_file() || path.is_file()
}

fn failure(error: &SpeechError) -> Failure {
    Failure { message: format!("{error}."), hint: error.hint().to_owned() }
}
