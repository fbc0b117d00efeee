//! Commit messages by the weak model.

use super::pending::{CommitMessages, MessageRequest, PendingCommits};
use crate::host::history_summary::answer;
use crate::host::{ModelClient, RequestEnv};
use rhumb_llm::Request;
use rhumb_llm::models::Dollars;
use rhumb_session::Spent;
use rhumb_session::context::{CommitMessageInputs, commit_message_in, commit_request};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a commit waits for its message.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);

/// How long to wait for a cancelled request to end, so that its cost is known.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Expected maximum size of a message in tokens with its thinking, for the spending cap.
const EXPECTED_OUTPUT: u64 = 512;

/// Asks for the messages of pending commits. Returns those that arrive in time and before `cancel`, and their cost.
pub async fn commit_messages(
    env: &RequestEnv,
    client: &ModelClient,
    pending: &PendingCommits,
    allowance: Option<Dollars>,
    cancel: &CancellationToken,
) -> (CommitMessages, Vec<Spent>) {
    let writer = MessageWriter { env, client, cancel };
    let (mut messages, mut all, mut left) = (CommitMessages::default(), Vec::new(), allowance);
    let (own, accepted) = (pending.own_message_request(), pending.message_request());
    for (message_request, message) in [(own, &mut messages.own), (accepted, &mut messages.accepted)] {
        let Some(message_request) = message_request else { continue };
        let (text, spent) = writer.message(&message_request, left).await;
        *message = text;
        if let Some(spent) = spent {
            client.pay(&mut left, &spent);
            all.push(spent);
        }
    }
    (messages, all)
}

struct MessageWriter<'a> {
    env: &'a RequestEnv,
    client: &'a ModelClient,
    cancel: &'a CancellationToken,
}

impl MessageWriter<'_> {
    async fn message(
        &self,
        message_request: &MessageRequest,
        allowance: Option<Dollars>,
    ) -> (Option<String>, Option<Spent>) {
        let Some(request) = self.request(message_request).filter(|_| !self.cancel.is_cancelled()) else {
            return (None, None);
        };
        if self.client.exceeds(allowance, &request, EXPECTED_OUTPUT) {
            return (None, None);
        }
        let stop = self.cancel.child_token();
        let timeout_reached = async {
            tokio::time::sleep(MESSAGE_TIMEOUT).await;
            stop.cancel();
            tokio::time::sleep(STOP_TIMEOUT).await;
        };
        let cancelled = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(STOP_TIMEOUT).await;
        };
        let answer = timeout(MESSAGE_TIMEOUT + STOP_TIMEOUT * 2, answer(self.client, request, &stop));
        tokio::select! {
            ended = answer => match ended {
                Ok((text, spent)) => (text.ok().and_then(|text| commit_message_in(&text)), spent),
                Err(_) => (None, None),
            },
            () = timeout_reached => (None, None),
            () = cancelled => (None, None),
        }
    }

    fn request(&self, message_request: &MessageRequest) -> Option<Request> {
        let counter = self.env.counter(&self.client.facts);
        let inputs = CommitMessageInputs {
            request: &message_request.request,
            change: &message_request.change,
            language: self.env.settings.commit_language.as_deref(),
            window: self.env.window(&self.client.facts),
            prompts: &self.env.prompts,
            counter: &counter,
        };
        let (messages, _) = commit_request(&inputs)?;
        Some(self.client.request(messages, &counter))
    }
}
