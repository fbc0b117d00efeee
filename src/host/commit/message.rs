//! Messages of commits, by the weak model.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::pending::{Messages, Pending, Wish};
use crate::host::history_summary::{answer, own_weak_line};
use crate::host::{Line, RequestEnv};
use rhumb_llm::Request;
use rhumb_llm::models::{Dollars, estimate};
use rhumb_session::Spent;
use rhumb_session::context::{CommitMessageInputs, commit_message_in, commit_request};
use rhumb_tokens::TokenCounter as _;

/// How long a commit waits for its message.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a request that was told to stop may take to do so.
const GRACE: Duration = Duration::from_millis(500);

/// Tokens that a message is expected to have at most, with what is thought before it, for the spending cap.
const EXPECTED_OUTPUT: u64 = 512;

/// Whom to ask for messages; `None` where there is no weak model: then the first line of the request is the message. May have
/// to run the user's own command for a key.
pub fn message_line(outfit: &RequestEnv, chosen: Option<&str>, main: Option<&Line>) -> Option<Line> {
    own_weak_line(outfit, chosen, main?)
}

/// The messages for what is pending, as far as the model has them in time, and what they cost. Whoever cancels gets what is
/// there.
pub async fn messages(
    outfit: &RequestEnv,
    line: &Line,
    pending: &Pending,
    allowance: Option<Dollars>,
    cancel: &CancellationToken,
) -> (Messages, Vec<Spent>) {
    let asked = Asked { outfit, line, cancel };
    let (mut messages, mut all, mut left) = (Messages::default(), Vec::new(), allowance);
    let (own, ours) = (pending.own_wish(), pending.wish());
    for (wish, message) in [(own, &mut messages.own), (ours, &mut messages.ours)] {
        let Some(wish) = wish else { continue };
        let (text, spent) = asked.message(&wish, left).await;
        *message = text;
        if let Some(spent) = spent {
            let paid = line.facts.prices.map(|prices| prices.cost(spent.tokens)).unwrap_or_default();
            left = left.map(|left| left.over(paid));
            all.push(spent);
        }
    }
    (messages, all)
}

struct Asked<'a> {
    outfit: &'a RequestEnv,
    line: &'a Line,
    cancel: &'a CancellationToken,
}

impl Asked<'_> {
    async fn message(&self, wish: &Wish, allowance: Option<Dollars>) -> (Option<String>, Option<Spent>) {
        let Some(request) = self.request(wish).filter(|_| !self.cancel.is_cancelled()) else { return (None, None) };
        let cost = estimate(&self.line.facts, request.tokens as u64, EXPECTED_OUTPUT);
        if allowance.zip(cost).is_some_and(|(left, cost)| cost > left) {
            return (None, None);
        }
        let stop = self.cancel.child_token();
        let clock = async {
            tokio::time::sleep(PATIENCE).await;
            stop.cancel();
            // What it has cost so far is still to be heard.
            tokio::time::sleep(GRACE).await;
        };
        let hurried = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let answer = timeout(PATIENCE + GRACE * 2, answer(self.line, request, &stop));
        tokio::select! {
            ended = answer => match ended {
                Ok((text, spent)) => (text.ok().and_then(|text| commit_message_in(&text)), spent),
                Err(_) => (None, None),
            },
            () = clock => (None, None),
            () = hurried => (None, None),
        }
    }

    fn request(&self, wish: &Wish) -> Option<Request> {
        let counter = self.outfit.counter(&self.line.facts);
        let inputs = CommitMessageInputs {
            request: &wish.request,
            change: &wish.change,
            language: self.outfit.settings.commit_language.as_deref(),
            window: self.outfit.window(&self.line.facts),
            prompts: &self.outfit.prompts,
            counter: &counter,
        };
        let (messages, _) = commit_request(&inputs)?;
        let tokens = messages.iter().map(|message| counter.count(&message.content)).sum();
        Some(Request { model: self.line.model.clone(), messages, tokens, ..Request::default() })
    }
}
