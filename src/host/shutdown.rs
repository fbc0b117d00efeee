//! Ends a front end cleanly: a write that has begun is finished, everything is saved, and running commands are stopped.

use super::{Host, HostMessage};
use rhumb_session::{Effect, GitEffect, Response, Session};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the exit waits for a write that has begun. Writing thousands of files takes seconds, but a hanging disk
/// must not block the terminal.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long the exit waits until everything is saved.
const SAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Time between a change and its save: at most this much is lost if the program is killed.
pub const SAVE_DELAY: Duration = Duration::from_millis(250);

/// Stops running commands when it is dropped, however the front end exits.
///
/// It must be dropped after the receiver of the responses: a command that is being stopped must not wait for a reader.
#[derive(Default)]
pub struct StopCommandsOnDrop(Option<Host>);

impl StopCommandsOnDrop {
    /// Stops the commands of this host.
    pub fn arm(&mut self, host: &Host) {
        self.0 = Some(host.clone());
    }
}

impl Drop for StopCommandsOnDrop {
    fn drop(&mut self) {
        if let Some(host) = &self.0 {
            host.end_commands();
        }
    }
}

/// Whether files are being written or a commit is pending.
pub fn is_writing(session: &Session) -> bool {
    session.is_writing() || session.commits().pending > 0
}

impl Host {
    /// Waits for a write that has begun, so that it is not left half done. `handle` passes a message to the session and
    /// returns whether the write still runs.
    pub async fn finish_write(
        &self,
        incoming: &mut mpsc::Receiver<HostMessage>,
        mut handle: impl FnMut(HostMessage) -> bool,
    ) {
        let finished = async {
            // A commit that waits for its message is made without it.
            self.execute(Effect::Git(GitEffect::FlushPendingCommits));
            while let Some(message) = incoming.recv().await
                && handle(message)
            {
                // A commit may have begun to wait meanwhile.
                self.execute(Effect::Git(GitEffect::FlushPendingCommits));
            }
        };
        let _ = tokio::time::timeout(WRITE_TIMEOUT, finished).await;
    }

    /// Saves what has changed since the last save.
    pub fn save_changes(&self, session: &mut Session) {
        if let Some(change) = session.unsaved_changes() {
            self.execute(Effect::Persist(change));
        }
    }

    /// Saves pending changes and waits for the result. Returns `false` after a timeout.
    pub async fn finish_saving(&self, session: &mut Session, incoming: &mut mpsc::Receiver<HostMessage>) -> bool {
        self.save_changes(session);
        // Other responses are discarded, but they must be received, so that no sender blocks.
        let mut note = |message: HostMessage| {
            if let Some(response @ Response::Persisted(_)) = message.into_response() {
                session.handle(response);
            }
        };
        let saved = async {
            let finished = self.finish_persistence();
            tokio::pin!(finished);
            loop {
                tokio::select! {
                    biased;
                    Some(message) = incoming.recv() => note(message),
                    () = &mut finished => break,
                }
            }
            while let Ok(message) = incoming.try_recv() {
                note(message);
            }
        };
        tokio::time::timeout(SAVE_TIMEOUT, saved).await.is_ok()
    }
}
