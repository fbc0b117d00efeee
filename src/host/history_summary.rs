//! Makes summaries of long histories, with the weak model where there is one.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::connect::unknown_note;
use super::{Host, Line, RequestEnv, connect_model};
use rhumb_llm::Message;
use rhumb_llm::models::{Dollars, Tokens, estimate};
use rhumb_llm::{Finish, LlmError, Request, StreamEvent, Usage};
use rhumb_session::context::{SummaryInputs, SummaryPlan, history_tokens, summary};
use rhumb_session::{AskEvent, Failure, Response, Spent, Summarized};
use rhumb_tokens::TokenCounter;

/// Tokens that a summary is expected to have at most, for the spending cap.
const EXPECTED_OUTPUT: u64 = 2_048;

/// The part of its tokens to which a history is brought that is summarised on request.
const COMPACTED_SHARE: usize = 4;

/// How a history is to be summarised.
#[derive(Debug, Clone, Default)]
pub(super) struct SummaryRequest {
    /// The tokens that it may have afterwards.
    pub(super) limit: usize,
    /// What may be spent on it; `None` for as much as it takes.
    pub(super) allowance: Option<Dollars>,
    /// The model to do it, if one was chosen since the app was started.
    pub(super) chosen: Option<String>,
    /// Set where the user asked for it: what the summary must keep.
    pub(super) compact: Option<String>,
}

impl Host {
    /// Summarises a history in the background and reports the result. A summary that was stopped is not reported.
    pub(super) async fn fold(self, history: Arc<Vec<Message>>, order: SummaryRequest, cancel: CancellationToken) {
        let result = self.folded(&history, &order, &cancel).await;
        if !cancel.is_cancelled() {
            self.report(Response::Summarized { history, result }).await;
        }
    }

    /// The history with a summary in the place of its beginning, so that it has at most as many tokens as the limit.
    pub(super) async fn folded(
        &self,
        history: &[Message],
        order: &SummaryRequest,
        cancel: &CancellationToken,
    ) -> Result<Summarized, Failure> {
        let SummaryRequest { limit, allowance, chosen, compact } = order;
        let failure = |message: &str| Failure { message: message.to_owned(), hint: "/clear begins anew.".into() };
        let Some(main) = self.line() else { return Err(failure("no model is connected.")) };
        let (runner, chosen) = (self.clone(), chosen.clone());
        // The key of another provider may have to be asked for.
        let weak =
            tokio::task::spawn_blocking(move || weak_line(&runner.shared.outfit, chosen.as_deref(), &main)).await;
        let Ok(line) = weak else { return Err(failure("the program is leaving.")) };
        let outfit = &self.shared.outfit;
        let counter = outfit.counter(&line.facts);
        let window = outfit.window(&line.facts);
        let before = history_tokens(history, &counter);
        // A history that is summarised on request may be within its limit already.
        let first = if compact.is_some() { (before / COMPACTED_SHARE).min(*limit) } else { *limit };
        let keep = compact.as_deref().unwrap_or_default();
        let mut inputs = SummaryInputs { limit: first, window, prompts: &outfit.prompts, counter: &counter, keep };
        let mut plan = summary(history, &inputs);
        inputs.limit = *limit;
        let mut folded = history.to_vec();
        let mut left = *allowance;
        while let Some(next) = plan {
            let summaries = self.summaries(&line, &next, &counter, &mut left, cancel).await?;
            let shorter = next.applied(&folded, &summaries);
            folded = shorter.ok_or_else(|| failure("the summary is empty or no shorter than what it sums up."))?;
            plan = next.next_round(&folded, &inputs);
        }
        if folded == history {
            return Err(failure("it does not fit the model's window."));
        }
        Ok(Summarized { before, after: history_tokens(&folded, &counter), messages: folded })
    }

    async fn summaries(
        &self,
        line: &Line,
        plan: &SummaryPlan,
        counter: &dyn TokenCounter,
        left: &mut Option<Dollars>,
        cancel: &CancellationToken,
    ) -> Result<Vec<String>, Failure> {
        let mut summaries = Vec::new();
        for messages in plan.requests() {
            let tokens = messages.iter().map(|message| counter.count(&message.content)).sum();
            let cost = estimate(&line.facts, tokens as u64, EXPECTED_OUTPUT);
            if left.zip(cost).is_some_and(|(left, cost)| cost > left) {
                let message = "it would pass the spending cap.".into();
                return Err(Failure { message, hint: "Raise spending_cap in rhumb.toml.".into() });
            }
            let request =
                Request { model: line.model.clone(), messages: messages.clone(), tokens, ..Request::default() };
            let (text, spent) = answer(line, request, cancel).await;
            if let Some(spent) = spent {
                let paid = line.facts.prices.map(|prices| prices.cost(spent.tokens)).unwrap_or_default();
                *left = left.map(|left| left.over(paid));
                self.report(Response::Asked { turn: 0, event: AskEvent::Spent(spent) }).await;
            }
            summaries.push(text.map_err(|error| Failure::from(&error))?);
        }
        Ok(summaries)
    }
}

/// Whom to ask for a summary and the like: the weak model where there is one, else the model itself.
pub fn weak_line(outfit: &RequestEnv, chosen: Option<&str>, main: &Line) -> Line {
    own_weak_line(outfit, chosen, main).unwrap_or_else(|| main.clone())
}

/// The weak model: the one that was chosen or that the settings name, else the one that is told to suit.
pub(super) fn own_weak_line(outfit: &RequestEnv, chosen: Option<&str>, main: &Line) -> Option<Line> {
    // A server of the user's own, or one that was found, need not have the models of the table.
    let suits = main.facts.weak.as_deref().filter(|_| main.configured && outfit.settings.base_url.is_none());
    let named = chosen.or(outfit.settings.weak_model.as_deref()).or(suits);
    let line = named.and_then(|name| connect_model(outfit, name).ok().flatten());
    // Without its key it would only fail. That it is in no table is no reason against a model that was named.
    line.filter(|line| line.notes.iter().all(|note| *note == unknown_note(&line.facts)))
}

/// The whole answer, and what it costs.
pub(super) async fn answer(
    line: &Line,
    request: Request,
    cancel: &CancellationToken,
) -> (Result<String, LlmError>, Option<Spent>) {
    let asked = request.tokens as u64;
    let (sender, mut events) = mpsc::channel(64);
    let (mut text, mut usage) = (String::new(), None::<Usage>);
    let stream = line.provider.stream(request, cancel.clone(), sender);
    let listen = async {
        while let Some(event) = events.recv().await {
            match event {
                StreamEvent::Text(piece) => text.push_str(&piece),
                StreamEvent::Retract => text.clear(),
                StreamEvent::Usage(counts) => usage = Some(counts),
                StreamEvent::Reasoning(_) | StreamEvent::Retrying { .. } => {}
            }
        }
    };
    let (result, ()) = tokio::join!(stream, listen);
    let counted = || Tokens { fresh: asked, output: rhumb_tokens::estimate(&text) as u64, ..Tokens::default() };
    let is_paid = usage.is_some() || result.is_ok();
    let tokens = usage.map_or_else(counted, Usage::tokens);
    let spent = Spent { model: std::sync::Arc::clone(&line.facts), tokens, estimated: usage.is_none() };
    let text = match result {
        Ok(completion) if completion.finish == Finish::Stop => Ok(text),
        // What is cut off would pass for all there was.
        Ok(completion) => {
            let cause = completion.finish.incomplete_reason().unwrap_or_default();
            Err(LlmError::Interrupted { cause })
        }
        Err(error) => Err(error),
    };
    (text, is_paid.then_some(spent))
}
