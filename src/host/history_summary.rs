//! Summarises long histories with the weak model, or the main model without one.

use super::connect::unknown_note;
use super::{Host, ModelClient, RequestEnv, connect_model};
use rhumb_llm::models::{Dollars, Tokens};
use rhumb_llm::{Finish, LlmError, Message, Request, StreamEvent, Usage};
use rhumb_session::context::{SummaryInputs, SummaryPlan, history_tokens, summary};
use rhumb_session::{AskEvent, Failure, Response, Spent, Summarized};
use rhumb_tokens::TokenCounter;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Expected maximum size of a summary in tokens, for the spending cap.
const EXPECTED_OUTPUT: u64 = 2_048;

/// `/compact` reduces a history to one part in this many of its tokens.
const COMPACTED_SHARE: usize = 4;

#[derive(Debug, Clone, Default)]
pub(super) struct SummaryRequest {
    /// Maximum size of the result in tokens.
    pub(super) limit: usize,
    /// Maximum cost; `None` without a limit.
    pub(super) allowance: Option<Dollars>,
    /// The weak model that was chosen in this session, if any.
    pub(super) chosen: Option<String>,
    /// Set if the user asked for the summary: what it must keep.
    pub(super) compact: Option<String>,
}

impl Host {
    /// Summarises a history and sends the result, unless it was cancelled.
    pub(super) async fn summarize(
        self,
        history: Arc<Vec<Message>>,
        request: SummaryRequest,
        cancel: CancellationToken,
    ) {
        let result = self.summarized(&history, &request, &cancel).await;
        if !cancel.is_cancelled() {
            self.respond(Response::Summarized { history, result }).await;
        }
    }

    /// The history with its beginning replaced by a summary, so that it fits the limit.
    pub(super) async fn summarized(
        &self,
        history: &[Message],
        request: &SummaryRequest,
        cancel: &CancellationToken,
    ) -> Result<Summarized, Failure> {
        let SummaryRequest { limit, allowance, chosen, compact } = request;
        let failure = |message: &str| Failure::new(message, "/clear starts without history.");
        let Some(main) = self.client() else { return Err(failure("no model is connected.")) };
        let (host, chosen) = (self.clone(), chosen.clone());
        let weak = tokio::task::spawn_blocking(move || weak_client(&host.shared.env, chosen.as_deref(), &main)).await;
        let Ok(client) = weak else { return Err(failure("the program is ending.")) };
        let env = &self.shared.env;
        let counter = env.counter(&client.facts);
        let window = env.window(&client.facts);
        let before = history_tokens(history, &counter);
        // On request, a history is shortened even if it fits its limit.
        let first = if compact.is_some() { (before / COMPACTED_SHARE).min(*limit) } else { *limit };
        let keep = compact.as_deref().unwrap_or_default();
        let mut options = SummaryInputs { limit: first, window, prompts: &env.prompts, counter: &counter, keep };
        let mut plan = summary(history, &options);
        options.limit = *limit;
        let mut summarized = history.to_vec();
        let mut left = *allowance;
        while let Some(next) = plan {
            let summaries = self.summaries(&client, &next, &counter, &mut left, cancel).await?;
            let shorter = next.applied(&summarized, &summaries);
            summarized = shorter.ok_or_else(|| failure("the summary is empty, or not shorter than the original."))?;
            plan = next.next_round(&summarized, &options);
        }
        if summarized == history {
            return Err(failure("it does not fit the model's window."));
        }
        Ok(Summarized { before, after: history_tokens(&summarized, &counter), messages: summarized })
    }

    async fn summaries(
        &self,
        client: &ModelClient,
        plan: &SummaryPlan,
        counter: &dyn TokenCounter,
        left: &mut Option<Dollars>,
        cancel: &CancellationToken,
    ) -> Result<Vec<String>, Failure> {
        let mut summaries = Vec::new();
        for messages in plan.requests() {
            let request = client.request(messages.clone(), counter);
            if client.exceeds(*left, &request, EXPECTED_OUTPUT) {
                return Err(Failure::new("it would exceed the spending cap.", "Raise spending_cap in rhumb.toml."));
            }
            let (text, spent) = answer(client, request, cancel).await;
            if let Some(spent) = spent {
                client.pay(left, &spent);
                self.respond(Response::Asked { turn: 0, event: AskEvent::Spent(spent) }).await;
            }
            summaries.push(text.map_err(|error| Failure::from(&error))?);
        }
        Ok(summaries)
    }
}

/// The weak model, or the main model without one. May run the user's key command.
pub fn weak_client(env: &RequestEnv, chosen: Option<&str>, main: &ModelClient) -> ModelClient {
    separate_weak_client(env, chosen, main).unwrap_or_else(|| main.clone())
}

/// The weak model: the chosen one, else that of the settings, else the one that the model table suggests. May run the user's key
/// command.
pub fn separate_weak_client(env: &RequestEnv, chosen: Option<&str>, main: &ModelClient) -> Option<ModelClient> {
    // A custom server, or one that was found on this machine, may not have the models of the table.
    let suggested = main.facts.weak.as_deref().filter(|_| main.configured && env.settings.base_url.is_none());
    let named = chosen.or(env.settings.weak_model.as_deref()).or(suggested);
    let client = named.and_then(|name| connect_model(env, name).ok().flatten());
    // A missing key would make every request fail. A model that is in no table is used nevertheless.
    client.filter(|client| client.notes.iter().all(|note| *note == unknown_note(&client.facts)))
}

/// Sends a request, and returns the complete answer and its cost.
pub(super) async fn answer(
    client: &ModelClient,
    request: Request,
    cancel: &CancellationToken,
) -> (Result<String, LlmError>, Option<Spent>) {
    let asked = request.tokens as u64;
    let (sender, mut events) = mpsc::channel(64);
    let (mut text, mut usage) = (String::new(), None::<Usage>);
    let stream = client.provider.stream(request, cancel.clone(), sender);
    let listen = async {
        while let Some(event) = events.recv().await {
            match event {
                StreamEvent::Text(piece) => text.push_str(&piece),
                StreamEvent::Retract => text.clear(),
                StreamEvent::Usage(counts) => usage = Some(counts),
                StreamEvent::Reasoning(_) | StreamEvent::ToolCall { .. } | StreamEvent::Retrying { .. } => {}
            }
        }
    };
    let (result, ()) = tokio::join!(stream, listen);
    let counted = || Tokens { fresh: asked, output: rhumb_tokens::estimate(&text) as u64, ..Tokens::default() };
    let is_paid = usage.is_some() || result.is_ok();
    let tokens = usage.map_or_else(counted, Usage::tokens);
    let spent = Spent { model: Arc::clone(&client.facts), tokens, estimated: usage.is_none() };
    let text = match result {
        Ok(completion) if completion.finish == Finish::Stop => Ok(text),
        // An incomplete answer must not be used as a complete one.
        Ok(completion) => {
            let cause = completion.finish.incomplete_reason().unwrap_or_default();
            Err(LlmError::Interrupted(cause))
        }
        Err(error) => Err(error),
    };
    (text, is_paid.then_some(spent))
}
