//! What the rest of the program knows of a model's vendor.

use futures::future::{BoxFuture, FutureExt as _, ready};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::LlmError;
use super::event::{Completion, StreamEvent};
use super::request::Request;

/// A source of answers.
pub trait Provider: Send + Sync {
    /// A short name for the screen.
    fn name(&self) -> String;

    /// Whether a request can be sent at all. Nothing is contacted to find out.
    ///
    /// # Errors
    /// What is missing, such as the key.
    fn ready(&self) -> Result<(), LlmError> {
        Ok(())
    }

    /// The ids of the models that it says it has; none where it has no such list.
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, LlmError>> {
        ready(Ok(Vec::new())).boxed()
    }

    /// The text without what is secret to the connection, such as its key, wherever that stands in it.
    fn masked(&self, text: &str) -> String {
        text.to_owned()
    }

    /// Sends `request` and passes the answer on through `events` as it arrives. Ends with the reason why the model
    /// stopped, or with the error that kept it from finishing; what was passed on until then stays valid. Cancelling
    /// closes the connection and gives [`LlmError::Cancelled`], as does dropping the receiver.
    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
        events: mpsc::Sender<StreamEvent>,
    ) -> BoxFuture<'_, Result<Completion, LlmError>>;
}
