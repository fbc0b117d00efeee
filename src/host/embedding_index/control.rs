//! Stopping and pausing an index that is being made, from outside.

use std::future::Future;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::IndexError;

/// What whoever makes an index looks at between two batches.
#[derive(Debug, Clone)]
pub struct IndexControl {
    cancel: CancellationToken,
    paused: watch::Sender<bool>,
}

impl Default for IndexControl {
    fn default() -> Self {
        Self { cancel: CancellationToken::new(), paused: watch::Sender::new(false) }
    }
}

impl IndexControl {
    /// Ends it. What was embedded is kept.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Whether it was ended.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Has it rest before the next batch, or go on.
    pub fn pause(&self, pause: bool) {
        self.paused.send_replace(pause);
    }

    /// Waits while it is paused.
    pub(super) async fn point(&self) -> Result<(), IndexError> {
        let mut paused = self.paused.subscribe();
        // The sender is our own, so waiting for it cannot fail.
        self.unless_cancelled(async { drop(paused.wait_for(|paused| !paused).await) }).await
    }

    /// What `work` comes to, unless it is ended before.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, IndexError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(IndexError::Cancelled),
            done = work => Ok(done),
        }
    }
}
