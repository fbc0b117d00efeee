//! A provider that replays recorded replies, without key or network, for demonstrations and tests.

use crate::{Completion, Finish, LlmError, Provider, Request, Role, StreamEvent};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A recorded reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedReply {
    /// Words that must all occur in the last user message, ignoring case. A reply without words is only used as the
    /// last one of the list.
    pub match_words: Vec<String>,
    /// The reply.
    pub reply: String,
}

/// Replays recorded replies, one word at a time.
#[derive(Debug, Clone)]
pub struct ScriptedProvider {
    replies: Vec<ScriptedReply>,
    pace: Duration,
}

impl ScriptedProvider {
    /// Answers with the first of `replies` that matches, else with the last one. Waits for `pace` before each word.
    pub fn new(replies: Vec<ScriptedReply>, pace: Duration) -> Self {
        Self { replies, pace }
    }

    fn reply(&self, request: &Request) -> &str {
        let asked = request.messages.iter().rfind(|message| message.role == Role::User);
        let asked = asked.map(|message| message.content.to_lowercase()).unwrap_or_default();
        let matches = |reply: &&ScriptedReply| {
            !reply.match_words.is_empty() && reply.match_words.iter().all(|word| asked.contains(&word.to_lowercase()))
        };
        let reply = self.replies.iter().find(matches).or(self.replies.last());
        reply.map_or("(no reply is recorded)", |reply| &reply.reply)
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> String {
        "scripted".to_owned()
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
        events: mpsc::Sender<StreamEvent>,
    ) -> BoxFuture<'_, Result<Completion, LlmError>> {
        async move {
            let replay = async {
                for piece in pieces(self.reply(&request)) {
                    if !self.pace.is_zero() {
                        tokio::time::sleep(self.pace).await;
                    }
                    events.send(StreamEvent::Text(piece.to_owned())).await.map_err(|_| LlmError::Cancelled)?;
                }
                Ok(Completion::new(Finish::Stop, None))
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(LlmError::Cancelled),
                outcome = replay => outcome,
            }
        }
        .boxed()
    }
}

/// Splits a text into words, each with the whitespace after it.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut after_blank = false;
    for (i, c) in text.char_indices() {
        if after_blank && !c.is_whitespace() {
            pieces.extend(text.get(start..i));
            start = i;
        }
        after_blank = c.is_whitespace();
    }
    pieces.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use proptest::prelude::*;

    fn asked(text: &str) -> Request {
        let messages = vec![Message::new(Role::User, text), Message::new(Role::Assistant, "rename")];
        Request { model: "m".into(), messages, ..Request::default() }
    }

    fn script() -> ScriptedProvider {
        let reply = |words: &[&str], reply: &str| ScriptedReply {
            match_words: words.iter().map(|word| word.to_string()).collect(),
            reply: reply.into(),
        };
        ScriptedProvider::new(
            vec![reply(&[], "never"), reply(&["Rename", "field"], "one two"), reply(&["x"], "last")],
            Duration::ZERO,
        )
    }

    #[test]
    fn the_first_match_answers_and_else_the_last_reply() {
        assert_eq!(script().reply(&asked("please rename the FIELD")), "one two");
        assert_eq!(script().reply(&asked("please rename")), "last");
        assert_eq!(ScriptedProvider::new(vec![], Duration::ZERO).reply(&asked("hi")), "(no reply is recorded)");
    }

    #[tokio::test]
    async fn a_reply_comes_in_words() {
        let (sender, mut receiver) = mpsc::channel(16);
        let end = script().stream(asked("rename field"), CancellationToken::new(), sender).await.unwrap();
        assert_eq!(end.finish, Finish::Stop);
        assert_eq!(receiver.recv().await, Some(StreamEvent::Text("one ".into())));
        assert_eq!(receiver.recv().await, Some(StreamEvent::Text("two".into())));
        assert_eq!(receiver.recv().await, None);
    }

    #[tokio::test]
    async fn a_scripted_answer_can_be_cancelled() {
        let slow = ScriptedProvider::new(script().replies, Duration::from_secs(3600));
        let (sender, _receiver) = mpsc::channel(16);
        let cancel = CancellationToken::new();
        let stopping = cancel.clone();
        let (outcome, ()) = tokio::join!(slow.stream(asked("x"), cancel, sender), async move { stopping.cancel() });
        assert_eq!(outcome, Err(LlmError::Cancelled));
    }

    proptest! {
        #[test]
        fn splitting_loses_no_character(text in "(\\PC|\n| ){0,60}") {
            prop_assert_eq!(pieces(&text).concat(), text);
        }
    }
}
