//! Sends responses to a front end. Each belongs to the effect that it answers.

use rhumb_session::{RequestId, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

/// A message of a host to a front end.
#[derive(Debug)]
pub enum HostMessage {
    /// A response to the effect with this id.
    Response(RequestId, Box<Response>),
    /// The effect with this id was performed. No response to it follows.
    Finished(RequestId),
}

impl HostMessage {
    /// The response, for a front end that does not wait for effects.
    pub fn into_response(self) -> Option<Response> {
        match self {
            Self::Response(_, response) => Some(*response),
            Self::Finished(_) => None,
        }
    }
}

/// Sends the responses to one effect. When the last clone is dropped, the effect is finished.
#[derive(Debug, Clone)]
pub(super) struct Responder(Arc<OpenEffect>);

#[derive(Debug)]
struct OpenEffect {
    id: RequestId,
    messages: Sender<HostMessage>,
}

impl Responder {
    /// A responder for work without an effect.
    pub(super) fn new(messages: Sender<HostMessage>) -> Self {
        Self(Arc::new(OpenEffect { id: RequestId::default(), messages }))
    }

    /// A responder for the next effect, whose number is taken from `count`.
    pub(super) fn next(&self, count: &AtomicU64) -> (RequestId, Self) {
        let id = RequestId(count.fetch_add(1, Ordering::Relaxed) + 1);
        (id, Self(Arc::new(OpenEffect { id, messages: self.0.messages.clone() })))
    }

    fn message(&self, response: Response) -> HostMessage {
        HostMessage::Response(self.0.id, Box::new(response))
    }

    // Sending fails only when the front end has ended.

    pub(super) async fn send(&self, response: Response) {
        let _ = self.0.messages.send(self.message(response)).await;
    }

    /// Must not be called on a thread of the runtime.
    pub(super) fn send_blocking(&self, response: Response) {
        let _ = self.0.messages.blocking_send(self.message(response));
    }

    /// Drops the response if the front end is behind.
    pub(super) fn try_send(&self, response: Response) {
        let _ = self.0.messages.try_send(self.message(response));
    }
}

impl Drop for OpenEffect {
    fn drop(&mut self) {
        if let Err(TrySendError::Full(message)) = self.messages.try_send(HostMessage::Finished(self.id)) {
            let messages = self.messages.clone();
            match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(async move { messages.send(message).await })),
                Err(_) => drop(messages.blocking_send(message)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_effect_is_finished_when_its_last_responder_is_dropped() {
        let (messages, mut received) = tokio::sync::mpsc::channel(1);
        let count = AtomicU64::new(0);
        let (id, responder) = Responder::new(messages).next(&count);
        // The end of the responder without an effect.
        assert!(matches!(received.recv().await, Some(HostMessage::Finished(none)) if none != id));
        let clone = responder.clone();
        responder.send(Response::Head("main".into())).await;
        drop(responder);
        // The channel is full when the last clone is dropped.
        drop(clone);
        assert!(matches!(received.recv().await, Some(HostMessage::Response(of, _)) if of == id));
        assert!(matches!(received.recv().await, Some(HostMessage::Finished(of)) if of == id));
        assert!(received.recv().await.is_none());
    }
}
