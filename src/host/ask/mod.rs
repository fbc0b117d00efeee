//! Sends one request and receives its answer. The request is shortened if the server has a smaller window than assumed, and an
//! answer that reaches the output limit is continued. Costs are checked against the spending cap.

mod pings;
#[cfg(test)]
mod tests;
pub(super) mod turn;

use super::{ModelClient, RequestEnv, unsendable};
use crate::config::Settings;
use futures::future::BoxFuture;
use rhumb_llm::models::{Dollars, Tokens, estimate};
use rhumb_llm::{
    AttemptState, Completion, Finish, LlmError, MAX_CONTINUES, MAX_SHRINKS, NextStep, Request, StreamEvent, Usage,
    next_step,
};
use rhumb_llm::{Message, Role};
use rhumb_session::context::{Joiner, Overflow, Prompt, continuation, reduced_input};
use rhumb_session::{AskError, AskEvent, ContextView, Failure, RequestOverrides, Spent};
use rhumb_tokens::TokenCounter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Minimum number of tokens that the spending cap must leave for an answer.
const MIN_ANSWER_TOKENS: u32 = 256;
/// Prompts leave this many tokens of a large context window free for the answer, so that a limit of this size is always accepted.
const MIN_MODEL_OUTPUT: usize = 16_384;
/// Tolerance between our token count and the server's, as one part in this many. A longer answer is considered endless.
const COUNT_TOLERANCE: usize = 8;
const COUNTDOWN_INTERVAL: Duration = Duration::from_secs(1);

/// Composes the request, for a window of the given number of input tokens, or for that of the model.
pub type ComposeFn<'a> = dyn Fn(Option<usize>) -> BoxFuture<'a, Result<ContextView, Failure>> + Send + Sync + 'a;

/// The parameters of [`ask`].
pub struct AskParams<'a> {
    /// The model.
    pub client: &'a ModelClient,
    /// Composes the request.
    pub compose: &'a ComposeFn<'a>,
    /// The beginning of the answer if it is to be continued; empty otherwise.
    pub partial: &'a str,
    /// The request environment.
    pub env: &'a RequestEnv,
    /// The token counter of the model.
    pub counter: &'a dyn TokenCounter,
    /// Remaining budget of the spending cap; `None` without a cap.
    pub allowance: Option<Dollars>,
    /// Settings that the user changed in this session.
    pub choices: &'a RequestOverrides,
}

/// A received answer.
#[derive(Debug)]
pub struct Answer {
    /// How the answer ended.
    pub completion: Completion,
    /// The prompt that was sent.
    pub prompt: Arc<Prompt>,
}

/// Sends a request. Events are sent as they arrive; if their receiver is dropped, the request is cancelled.
///
/// # Errors
/// Nothing could be sent, or the provider failed.
pub async fn ask(
    params: &AskParams<'_>,
    cancel: &CancellationToken,
    events: &mpsc::Sender<AskEvent>,
) -> Result<Answer, AskError> {
    params.client.provider.ready().map_err(AskError::Provider)?;
    let factor = params.env.factor(&params.client.facts);
    let (mut limit, mut shrinks) = (None, 0);
    // The error of the previous attempt, and its number of tokens.
    let mut refused = None;
    loop {
        let view = (params.compose)(limit).await.map_err(AskError::Unsent)?;
        if let Some(failure) = unsendable(&view)
            && !may_still_fit(&view, refused.as_ref())
        {
            return Err(match refused {
                _ if !view.unreadable.is_empty() => AskError::Unreadable(failure),
                // Nothing more can be omitted. The server's error is the most precise one.
                Some((refusal, _)) => AskError::Provider(refusal),
                None => AskError::TooLong(failure),
            });
        }
        let attempt = Attempt {
            params,
            cancel,
            events,
            prompt: &view.prompt,
            started: AtomicBool::new(false),
            reported_cap: AtomicBool::new(false),
            factor,
            paid: Mutex::default(),
        };
        if let Some(max_input) = limit {
            attempt.emit(AskEvent::Shrunk { time: shrinks, of: MAX_SHRINKS, limit: max_input }).await?;
        }
        match attempt.answer().await {
            Err(AskError::Provider(error))
                if next(&error, attempt.started.load(Ordering::Relaxed), shrinks) == NextStep::Shrink =>
            {
                shrinks += 1;
                let max_input = reduced_input(view.prompt.tokens, overflow(&error), shrinks as usize);
                limit = Some(max_input);
                refused = Some((error, view.prompt.tokens));
            }
            end => {
                // A guessed limit is recorded once it has worked.
                if let Some(limit) = limit.filter(|_| end.is_ok()) {
                    params.env.learn_limit(&params.client.facts, limit.max(view.prompt.tokens));
                }
                return end.map(|completion| Answer { completion, prompt: view.prompt });
            }
        }
    }
}

fn next(error: &LlmError, started: bool, shrunk: u32) -> NextStep {
    next_step(Err(error), &AttemptState { started, shrunk, ..AttemptState::default() })
}

/// Whether a request is sent although it exceeds the limit: if the server did not name its limit, ours is a guess, and a request
/// that is shorter than the rejected one may fit.
fn may_still_fit(view: &ContextView, refused: Option<&(LlmError, usize)>) -> bool {
    let shorter = |(error, tokens): &(LlmError, usize)| overflow(error).is_none() && view.prompt.tokens < *tokens;
    view.unreadable.is_empty() && refused.is_some_and(shorter)
}

/// The sizes in the server's error, if it names both.
fn overflow(error: &LlmError) -> Option<Overflow> {
    let LlmError::Overflow { sent, limit, .. } = error else { return None };
    Some(Overflow { tokens: (*sent)?, limit: (*limit)? })
}

/// One attempt: a composed request, and the requests that continue its answer.
struct Attempt<'a, 'q> {
    params: &'a AskParams<'q>,
    cancel: &'a CancellationToken,
    events: &'a mpsc::Sender<AskEvent>,
    prompt: &'a Arc<Prompt>,
    /// Whether a part of the answer was passed on. Then the request must not be sent again.
    started: AtomicBool,
    /// Whether it was reported that the spending cap ended the answer.
    reported_cap: AtomicBool,
    /// The calibration factor when the request was composed. Answers change it.
    factor: f64,
    /// The cost of the parts of the answer so far.
    paid: Mutex<Dollars>,
}

impl Attempt<'_, '_> {
    async fn emit(&self, event: AskEvent) -> Result<(), AskError> {
        self.events.send(event).await.map_err(|_| AskError::Provider(LlmError::Cancelled))
    }

    /// Reports once per answer that the spending cap ended it.
    async fn report_cap(&self, event: AskEvent) -> Result<(), AskError> {
        if self.reported_cap.swap(true, Ordering::Relaxed) { Ok(()) } else { self.emit(event).await }
    }

    /// Receives the whole answer, with continuations.
    async fn answer(&self) -> Result<Completion, AskError> {
        let mut so_far = self.params.partial.to_owned();
        let mut continued = 0;
        loop {
            let (before, messages) = (so_far.len(), self.continuation_messages(&so_far));
            let completion = match self.part(messages, &mut so_far).await {
                Ok(completion) => completion,
                // The spending cap allows no continuation. The answer so far is kept.
                Err(AskError::Unsent(_)) if before > 0 => {
                    self.report_cap(AskEvent::CutByCap).await?;
                    return Ok(Completion::new(Finish::Length, None));
                }
                Err(AskError::Provider(error)) if before > 0 && error != LlmError::Cancelled => {
                    return Err(AskError::UnfinishedWork(error));
                }
                Err(error) => return Err(error),
            };
            let facts = AttemptState { started: so_far.len() > before, continued, ..AttemptState::default() };
            if next_step(Ok(&completion.finish), &facts) != NextStep::Continue {
                return Ok(completion);
            }
            continued += 1;
            self.emit(AskEvent::Continuing { time: continued, of: MAX_CONTINUES }).await?;
        }
    }

    /// The messages that ask to continue the answer; none for the first part.
    fn continuation_messages(&self, so_far: &str) -> Vec<Message> {
        if so_far.is_empty() {
            Vec::new()
        } else if self.params.client.facts.capabilities.prefill {
            vec![Message::new(Role::Assistant, so_far)]
        } else {
            continuation(so_far)
        }
    }

    /// Receives one part, and appends its text to `so_far`.
    async fn part(&self, more: Vec<Message>, so_far: &mut String) -> Result<Completion, AskError> {
        let client = self.params.client;
        // A prefilled answer is continued exactly; only another turn may repeat text.
        let joiner = (more.len() > 1).then(|| Joiner::new(so_far));
        let more_tokens: usize = more.iter().map(|message| self.params.counter.count(&message.content)).sum();
        let mut request = llm_request(client, &self.params.env.settings, self.params.choices, self.prompt);
        request.messages.extend(more);
        request.tokens += more_tokens;
        request.model_max_output = self.model_max_output(request.tokens);
        let affordable = self.affordable(&request)?;
        let limit = affordable.and_then(|tokens| self.output_limit(&request, tokens)).or(request.max_output_tokens);
        let capped = limit != request.max_output_tokens;
        request.capped = capped;
        request.max_output_tokens = limit;
        let (prompt, continues) = (Arc::clone(self.prompt), !so_far.is_empty());
        self.emit(AskEvent::Sent { prompt, continues, tokens: request.tokens, prices: client.facts.prices }).await?;
        let sent_tokens = request.tokens;
        let (sender, arriving) = mpsc::channel(64);
        let stop = self.cancel.child_token();
        let stream = client.provider.stream(request, stop.clone(), sender);
        let max_tokens =
            affordable.map(|tokens| tokens as usize).map(|tokens| tokens.saturating_add(tokens / COUNT_TOLERANCE));
        let start = so_far.len();
        let mut part =
            Part { attempt: self, joiner, start, text: so_far, bytes: 0, usage: None, max_tokens, stop, ended: false };
        let (mut result, passed) = tokio::join!(stream, part.pass_on(arriving));
        let (received, mut usage) = (part.received(), part.usage);
        // The usage of an aborted answer may be outdated.
        if let Some(usage) = usage.as_mut().filter(|_| result.is_err() || part.ended) {
            usage.output = usage.output.max(received as u64);
        }
        let is_past_cap = part.ended && !self.cancel.is_cancelled();
        if is_past_cap {
            result = Ok(Completion::new(Finish::Length, usage));
        }
        if part.joiner.as_ref().is_some_and(Joiner::is_uncertain) && received > 0 {
            self.emit(AskEvent::DoubtfulSeam).await?;
        }
        // The calibration is for text: the size of images is an estimate, and exact counts need none.
        let is_text = self.prompt.messages.iter().all(|message| message.images.is_empty());
        if let Some(usage) = usage.filter(|_| is_text && !self.prompt.exact) {
            self.params.env.learn(&client.facts, sent_tokens, self.factor, usage.input as usize);
        }
        // A rejected request costs nothing.
        if received > 0 || usage.is_some() || result.is_ok() {
            self.emit(self.spent(sent_tokens, received, usage)).await?;
        }
        passed?;
        if is_past_cap {
            self.report_cap(AskEvent::PastTheCap).await?;
        } else if capped && result.as_ref().is_ok_and(|completion| completion.finish == Finish::Length) {
            self.report_cap(AskEvent::CutByCap).await?;
        }
        result.map_err(AskError::Provider)
    }

    fn spent(&self, sent_tokens: usize, received: usize, usage: Option<Usage>) -> AskEvent {
        let counted = Tokens { fresh: sent_tokens as u64, output: received as u64, ..Tokens::default() };
        let model = Arc::clone(&self.params.client.facts);
        let tokens = usage.map_or(counted, Usage::tokens);
        if let Some(prices) = model.prices {
            *self.paid.lock().unwrap_or_else(PoisonError::into_inner) += prices.cost(tokens);
        }
        AskEvent::Spent(Spent { model, tokens, estimated: usage.is_none() })
    }

    /// Maximum number of output tokens within the spending cap; `None` without a cap or without known prices.
    fn affordable(&self, request: &Request) -> Result<Option<u32>, AskError> {
        let facts = &self.params.client.facts;
        let cost = |output| estimate(facts, request.tokens as u64, output);
        let Some(((allowance, bare), with_million)) = self.params.allowance.zip(cost(0)).zip(cost(1_000_000)) else {
            return Ok(None);
        };
        if with_million == Dollars::ZERO {
            return Ok(None);
        }
        let allowance = allowance.saturating_sub(*self.paid.lock().unwrap_or_else(PoisonError::into_inner));
        let per_token = with_million.saturating_sub(bare).as_f64() / 1e6;
        let answer = if bare > allowance { 0.0 } else { allowance.saturating_sub(bare).as_f64() / per_token };
        if answer.is_nan() || answer < f64::from(MIN_ANSWER_TOKENS) {
            return Err(AskError::Unsent(Failure {
                message: format!("Not sent: this request would exceed the spending cap ({allowance} remain)."),
                hint: "Raise spending_cap in rhumb.toml, drop files from the chat, or ask a cheaper model.".into(),
            }));
        }
        // The cast saturates.
        Ok(Some(answer as u32))
    }

    /// Maximum number of output tokens of the model, if known, beside a request of `tokens` tokens. Some servers reject a limit that
    /// exceeds the rest of the context window.
    fn model_max_output(&self, tokens: usize) -> Option<u32> {
        let rest = self.prompt.window.tokens.saturating_sub(tokens + tokens / COUNT_TOLERANCE);
        let max = self.params.client.facts.max_output?.min(rest.max(MIN_MODEL_OUTPUT));
        u32::try_from(max).ok()
    }

    /// The output limit to send: that of the settings, reduced to what the spending cap allows.
    fn output_limit(&self, request: &Request, affordable: u32) -> Option<u32> {
        match request.max_output_tokens {
            Some(set) => Some(set.min(affordable)),
            // A limit above the maximum of the model is omitted: some servers reject it.
            None => {
                let max = self.params.client.facts.max_output;
                (max.is_none_or(|max| (affordable as usize) < max) && affordable < u32::MAX).then_some(affordable)
            }
        }
    }
}

/// Receives one part of an answer and passes its events on.
struct Part<'a, 'q> {
    attempt: &'a Attempt<'a, 'q>,
    joiner: Option<Joiner>,
    text: &'a mut String,
    /// The start of this part in `text`, in bytes.
    start: usize,
    /// Received bytes of text and thinking.
    bytes: usize,
    usage: Option<Usage>,
    /// Maximum number of tokens within the spending cap, by our count.
    max_tokens: Option<usize>,
    /// Cancels the stream.
    stop: CancellationToken,
    /// Whether the stream was cancelled because it exceeded `max_tokens`.
    ended: bool,
}

impl Part<'_, '_> {
    async fn pass_on(&mut self, mut arriving: mpsc::Receiver<StreamEvent>) -> Result<(), AskError> {
        let mut next = arriving.recv().await;
        while let Some(event) = next {
            let mut received = None;
            match event {
                // The rest of a cancelled stream is ignored.
                _ if self.ended => {}
                StreamEvent::Text(text) => {
                    self.count(&text);
                    let text = self.joiner.as_mut().map_or_else(|| text.clone(), |joiner| joiner.push(&text));
                    self.add(text).await?;
                }
                StreamEvent::Reasoning(text) => {
                    self.count(&text);
                    self.attempt.emit(AskEvent::Stream(StreamEvent::Reasoning(text))).await?;
                }
                StreamEvent::Retract => self.retract().await?,
                StreamEvent::ToolCall { index, name, arguments } => {
                    self.count(&arguments);
                    self.attempt.started.store(true, Ordering::Relaxed);
                    let event = StreamEvent::ToolCall { index, name, arguments };
                    self.attempt.emit(AskEvent::Stream(event)).await?;
                }
                StreamEvent::Usage(usage) => {
                    self.usage = Some(usage);
                    self.attempt.emit(AskEvent::Stream(StreamEvent::Usage(usage))).await?;
                }
                StreamEvent::Retrying { attempt, wait, reason } => {
                    received = self.count_down(&mut arriving, attempt, wait, &reason).await?;
                }
            }
            next = match received {
                Some(event) => event,
                None => arriving.recv().await,
            };
        }
        let rest = self.joiner.as_mut().map(Joiner::finish).unwrap_or_default();
        self.add(rest).await
    }

    /// Removes the text of this part, which was thinking. Earlier parts are kept.
    async fn retract(&mut self) -> Result<(), AskError> {
        self.text.truncate(self.start);
        self.joiner = self.joiner.take().map(|_| Joiner::new(self.text));
        self.attempt.emit(AskEvent::Stream(StreamEvent::Retract)).await?;
        match self.text.as_str() {
            "" => Ok(()),
            before => self.attempt.emit(AskEvent::Stream(StreamEvent::Text(before.to_owned()))).await,
        }
    }

    async fn add(&mut self, text: String) -> Result<(), AskError> {
        if text.is_empty() {
            return Ok(());
        }
        self.text.push_str(&text);
        self.attempt.started.store(true, Ordering::Relaxed);
        self.attempt.emit(AskEvent::Stream(StreamEvent::Text(text))).await
    }

    /// Reports the remaining wait before a retry every second. Returns the next event if one arrives before the end.
    async fn count_down(
        &self,
        arriving: &mut mpsc::Receiver<StreamEvent>,
        attempt: u32,
        mut wait: Duration,
        reason: &str,
    ) -> Result<Option<Option<StreamEvent>>, AskError> {
        loop {
            let event = StreamEvent::Retrying { attempt, wait, reason: reason.to_owned() };
            self.attempt.emit(AskEvent::Stream(event)).await?;
            let step = wait.min(COUNTDOWN_INTERVAL);
            if step.is_zero() {
                return Ok(None);
            }
            if let Ok(event) = timeout(step, arriving.recv()).await {
                return Ok(Some(event));
            }
            wait -= step;
        }
    }

    fn count(&mut self, text: &str) {
        self.bytes += text.len();
        if self.max_tokens.is_some_and(|max| self.received() > max) {
            self.ended = true;
            self.stop.cancel();
        }
    }

    /// Estimated number of received tokens, from the total number of bytes because single events are short.
    fn received(&self) -> usize {
        rhumb_tokens::estimate_of(self.bytes)
    }
}

/// The request for a prompt, with the parameters of the settings.
pub fn llm_request(
    client: &ModelClient,
    settings: &Settings,
    overrides: &RequestOverrides,
    prompt: &Prompt,
) -> Request {
    Request {
        model: client.model.clone(),
        messages: prompt.messages.clone(),
        tokens: prompt.tokens,
        tools: prompt.tools.clone(),
        max_output_tokens: settings.max_output_tokens,
        temperature: settings.temperature.map(|temperature| temperature as f32),
        thinking: overrides.thinking.apply(settings.thinking.clone()),
        ..Request::default()
    }
}
