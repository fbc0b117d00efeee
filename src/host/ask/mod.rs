//! One request from the first try to the end of its answer: sent shorter when the server takes less than was thought, gone on
//! with when the answer reaches the limit on output, and paid for. The app and the commands without it ask in the same way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{Line, RequestEnv, unsendable};
use crate::config::Settings;
use rhumb_llm::models::{Dollars, Tokens, estimate};
use rhumb_llm::{
    AttemptState, Completion, Finish, LlmError, MAX_CONTINUES, MAX_SHRINKS, NextStep, Request, StreamEvent, Thinking,
    Usage, next_step,
};
use rhumb_llm::{Message, Role};
use rhumb_session::context::{Joiner, Overflow, Prompt, continuation, shorter};
use rhumb_session::{AskError, AskEvent, ContextView, Failure, RequestOverrides, Spent};
use rhumb_tokens::TokenCounter;

/// An answer shorter than this many tokens is not worth its request: below it, a spending cap is reached.
const LEAST_ANSWER: u32 = 256;
/// Our count may be above the server's by one part in so many before an answer is taken for one that does not end.
const MISCOUNT: usize = 8;
/// The wait before another try is counted down in steps of this length.
const TICK: Duration = Duration::from_secs(1);

/// Puts the request together, for a window that holds so many tokens of input, or for the one that is known.
pub type Compose<'a> = dyn Fn(Option<usize>) -> BoxFuture<'a, Result<ContextView, Failure>> + Send + Sync + 'a;

/// What is asked, and of whom.
pub struct Question<'a> {
    /// Whom.
    pub line: &'a Line,
    /// What.
    pub compose: &'a Compose<'a>,
    /// The beginning of the answer that is there already; empty for none.
    pub partial: &'a str,
    /// What with.
    pub outfit: &'a RequestEnv,
    /// Counts what the server does not.
    pub counter: &'a dyn TokenCounter,
    /// What may still be spent; `None` for as much as it takes.
    pub allowance: Option<Dollars>,
    /// What the user chose of it since the app was started.
    pub choices: &'a RequestOverrides,
}

/// An answer.
#[derive(Debug)]
pub struct Asked {
    /// How it ended.
    pub completion: Completion,
    /// The request that it answers, as it was sent.
    pub prompt: Arc<Prompt>,
}

/// Asks. What arrives goes out through `events`; when the receiver is gone, so is the request.
///
/// # Errors
/// Nothing could be sent, or the provider failed.
pub async fn ask(
    question: &Question<'_>,
    cancel: &CancellationToken,
    events: &mpsc::Sender<AskEvent>,
) -> Result<Asked, AskError> {
    question.line.provider.ready().map_err(AskError::Provider)?;
    let factor = question.outfit.factor(&question.line.facts);
    let (mut limit, mut shrinks) = (None, 0);
    // What the server said to the try before, and how many tokens that had.
    let mut refused = None;
    loop {
        let view = (question.compose)(limit).await.map_err(AskError::Unsent)?;
        if let Some(failure) = unsendable(&view)
            && !is_worth_a_try(&view, refused.as_ref())
        {
            return Err(match refused {
                _ if !view.unreadable.is_empty() => AskError::Unreadable(failure),
                // Nothing more can be left out: the server's own words say best why.
                Some((refusal, _)) => AskError::Provider(refusal),
                None => AskError::TooLong(failure),
            });
        }
        let asking = Asking {
            question,
            cancel,
            events,
            prompt: &view.prompt,
            started: AtomicBool::new(false),
            short_of_money: AtomicBool::new(false),
            factor,
            paid: Mutex::default(),
        };
        if let Some(shorter) = limit {
            asking.tell(AskEvent::Shrunk { time: shrinks, of: MAX_SHRINKS, limit: shorter }).await?;
        }
        match asking.answer().await {
            Err(AskError::Provider(error))
                if next(&error, asking.started.load(Ordering::Relaxed), shrinks) == NextStep::Shrink =>
            {
                shrinks += 1;
                let shorter = shorter(view.prompt.tokens, overflow(&error), shrinks as usize);
                limit = Some(shorter);
                refused = Some((error, view.prompt.tokens));
            }
            end => {
                // A limit that was only guessed at is one once it has proved to be enough.
                if let Some(limit) = limit.filter(|_| end.is_ok()) {
                    question.outfit.learn_limit(&question.line.facts, limit.max(view.prompt.tokens));
                }
                return end.map(|completion| Asked { completion, prompt: view.prompt });
            }
        }
    }
}

fn next(error: &LlmError, started: bool, shrunk: u32) -> NextStep {
    next_step(Err(error), &AttemptState { started, shrunk, ..AttemptState::default() })
}

/// Whether a request is sent although it is above the limit: where the server named none, ours is a guess, and all that may be
/// left out of the request that it refused is left out of this one.
fn is_worth_a_try(view: &ContextView, refused: Option<&(LlmError, usize)>) -> bool {
    let shorter = |(error, tokens): &(LlmError, usize)| overflow(error).is_none() && view.prompt.tokens < *tokens;
    view.unreadable.is_empty() && refused.is_some_and(shorter)
}

/// What the server said of both sizes, if it said so.
fn overflow(error: &LlmError) -> Option<Overflow> {
    let LlmError::Overflow { sent, limit, .. } = error else { return None };
    Some(Overflow { tokens: (*sent)?, limit: (*limit)? })
}

/// One request, composed, and the requests that go on with its answer.
struct Asking<'a, 'q> {
    question: &'a Question<'q>,
    cancel: &'a CancellationToken,
    events: &'a mpsc::Sender<AskEvent>,
    prompt: &'a Arc<Prompt>,
    /// Something of the answer was passed on: the request must not be put in another way any more.
    started: AtomicBool,
    /// It was told that the cap cut the answer off.
    short_of_money: AtomicBool,
    /// What one of our tokens counted for when the request was put together: answers change it.
    factor: f64,
    /// What the parts of the answer so far cost.
    paid: Mutex<Dollars>,
}

impl Asking<'_, '_> {
    async fn tell(&self, event: AskEvent) -> Result<(), AskError> {
        self.events.send(event).await.map_err(|_| AskError::Provider(LlmError::Cancelled))
    }

    /// Tells, once for an answer, that the cap cut it off.
    async fn cut_by_cap(&self, event: AskEvent) -> Result<(), AskError> {
        if self.short_of_money.swap(true, Ordering::Relaxed) { Ok(()) } else { self.tell(event).await }
    }

    /// The whole answer, in as many parts as it takes.
    async fn answer(&self) -> Result<Completion, AskError> {
        let mut so_far = self.question.partial.to_owned();
        let mut time = 0;
        loop {
            let (before, messages) = (so_far.len(), self.going_on(&so_far));
            let completion = match self.part(messages, &mut so_far).await {
                Ok(completion) => completion,
                // There is no money left to go on with: what is there is still an answer.
                Err(AskError::Unsent(_)) if before > 0 => {
                    self.cut_by_cap(AskEvent::CutByCap).await?;
                    return Ok(Completion { finish: Finish::Length, usage: None });
                }
                Err(AskError::Provider(error)) if before > 0 && error != LlmError::Cancelled => {
                    return Err(AskError::UnfinishedWork(error));
                }
                Err(error) => return Err(error),
            };
            let facts = AttemptState { started: so_far.len() > before, continued: time, ..AttemptState::default() };
            if next_step(Ok(&completion.finish), &facts) != NextStep::Continue {
                return Ok(completion);
            }
            time += 1;
            self.tell(AskEvent::Continuing { time, of: MAX_CONTINUES }).await?;
        }
    }

    /// The messages that follow the request to have its answer gone on with; none for the first part.
    fn going_on(&self, so_far: &str) -> Vec<Message> {
        if so_far.is_empty() {
            Vec::new()
        } else if self.question.line.facts.capabilities.prefill {
            vec![Message::new(Role::Assistant, so_far)]
        } else {
            continuation(so_far)
        }
    }

    /// Asks for one part and adds its text to `so_far`.
    async fn part(&self, more: Vec<Message>, so_far: &mut String) -> Result<Completion, AskError> {
        let line = self.question.line;
        // What the server goes on with by itself repeats nothing.
        let joiner = (more.len() > 1).then(|| Joiner::new(so_far));
        let more_tokens: usize = more.iter().map(|message| self.question.counter.count(&message.content)).sum();
        let mut request = llm_request(line, &self.question.outfit.settings, self.question.choices, self.prompt);
        request.messages.extend(more);
        request.tokens += more_tokens;
        let pays_for = self.affordable(&request)?;
        let most = pays_for.and_then(|pays_for| self.limit(&request, pays_for)).or(request.max_output_tokens);
        let capped = most != request.max_output_tokens;
        request.capped = capped;
        request.max_output_tokens = most;
        let (prompt, continues) = (Arc::clone(self.prompt), !so_far.is_empty());
        self.tell(AskEvent::Sent { prompt, continues, tokens: request.tokens, prices: line.facts.prices }).await?;
        let asked = request.tokens;
        let (sender, arriving) = mpsc::channel(64);
        let stop = self.cancel.child_token();
        let stream = line.provider.stream(request, stop.clone(), sender);
        let most = pays_for.map(|most| most as usize).map(|most| most.saturating_add(most / MISCOUNT));
        let start = so_far.len();
        let mut part =
            Part { asking: self, joiner, start, text: so_far, bytes: 0, usage: None, most, stop, ended: false };
        let (mut result, passed) = tokio::join!(stream, part.pass_on(arriving));
        let (received, mut usage) = (part.received(), part.usage);
        // What did not end by itself has no last word on its size.
        if let Some(usage) = usage.as_mut().filter(|_| result.is_err() || part.ended) {
            usage.output = usage.output.max(received as u64);
        }
        let past_the_cap = part.ended && !self.cancel.is_cancelled();
        if past_the_cap {
            result = Ok(Completion { finish: Finish::Length, usage });
        }
        if part.joiner.as_ref().is_some_and(Joiner::is_doubtful) && received > 0 {
            self.tell(AskEvent::DoubtfulSeam).await?;
        }
        // What is exact has nothing to learn, and of pictures we know only what vendors say.
        let is_text = self.prompt.messages.iter().all(|message| message.images.is_empty());
        if let Some(usage) = usage.filter(|_| is_text && !self.prompt.exact) {
            self.question.outfit.learn(&line.facts, asked, self.factor, usage.input as usize);
        }
        // A server that refuses a request does not charge for it.
        if received > 0 || usage.is_some() || result.is_ok() {
            self.tell(self.spent(asked, received, usage)).await?;
        }
        passed?;
        if past_the_cap {
            self.cut_by_cap(AskEvent::PastTheCap).await?;
        } else if capped && result.as_ref().is_ok_and(|completion| completion.finish == Finish::Length) {
            self.cut_by_cap(AskEvent::CutByCap).await?;
        }
        result.map_err(AskError::Provider)
    }

    fn spent(&self, asked: usize, received: usize, usage: Option<Usage>) -> AskEvent {
        let counted = Tokens { fresh: asked as u64, output: received as u64, ..Tokens::default() };
        let model = Arc::clone(&self.question.line.facts);
        let tokens = usage.map_or(counted, Usage::tokens);
        if let Some(prices) = model.prices {
            *self.paid.lock().unwrap_or_else(PoisonError::into_inner) += prices.cost(tokens);
        }
        AskEvent::Spent(Spent { model, tokens, estimated: usage.is_none() })
    }

    /// The most tokens of an answer that the spending cap still pays for, whatever the model writes; `None` where there is no cap, or
    /// nothing to count by.
    fn affordable(&self, request: &Request) -> Result<Option<u32>, AskError> {
        let facts = &self.question.line.facts;
        let cost = |output| estimate(facts, request.tokens as u64, output);
        let Some(((allowance, bare), with_million)) = self.question.allowance.zip(cost(0)).zip(cost(1_000_000)) else {
            return Ok(None);
        };
        if with_million == Dollars::ZERO {
            return Ok(None);
        }
        let allowance = allowance.over(*self.paid.lock().unwrap_or_else(PoisonError::into_inner));
        let per_token = with_million.over(bare).as_f64() / 1e6;
        let answer = if bare > allowance { 0.0 } else { allowance.over(bare).as_f64() / per_token };
        if answer.is_nan() || answer < f64::from(LEAST_ANSWER) {
            return Err(AskError::Unsent(Failure {
                message: format!("Not sent: this request would pass the spending cap ({allowance} are left of it)."),
                hint: "Raise spending_cap in rhumb.toml, drop files from the chat, or ask a cheaper model.".into(),
            }));
        }
        // The cast stops at the largest number.
        Ok(Some(answer as u32))
    }

    /// The limit that the server is told: what was set, or less where money is short.
    fn limit(&self, request: &Request, pays_for: u32) -> Option<u32> {
        match request.max_output_tokens {
            Some(set) => Some(set.min(pays_for)),
            // A limit that no answer reaches need not be sent: some servers refuse it.
            None => {
                let most = self.question.line.facts.max_output;
                (most.is_none_or(|most| (pays_for as usize) < most) && pays_for < u32::MAX).then_some(pays_for)
            }
        }
    }
}

/// The events of one part of an answer on their way out.
struct Part<'a, 'q> {
    asking: &'a Asking<'a, 'q>,
    joiner: Option<Joiner>,
    text: &'a mut String,
    /// Where the text of this part begins, in bytes.
    start: usize,
    /// Bytes of text and thinking that came.
    bytes: usize,
    usage: Option<Usage>,
    /// The most tokens that are paid for, by our own count.
    most: Option<usize>,
    /// Ends the stream.
    stop: CancellationToken,
    /// It was ended because more came.
    ended: bool,
}

impl Part<'_, '_> {
    async fn pass_on(&mut self, mut arriving: mpsc::Receiver<StreamEvent>) -> Result<(), AskError> {
        let mut next = arriving.recv().await;
        while let Some(event) = next {
            let mut came = None;
            match event {
                // What is still on its way is not paid for.
                _ if self.ended => {}
                StreamEvent::Text(text) => {
                    self.count(&text);
                    let text = self.joiner.as_mut().map_or_else(|| text.clone(), |joiner| joiner.push(&text));
                    self.add(text).await?;
                }
                StreamEvent::Reasoning(text) => {
                    self.count(&text);
                    self.asking.tell(AskEvent::Stream(StreamEvent::Reasoning(text))).await?;
                }
                StreamEvent::Retract => self.take_back().await?,
                StreamEvent::Usage(usage) => {
                    self.usage = Some(usage);
                    self.asking.tell(AskEvent::Stream(StreamEvent::Usage(usage))).await?;
                }
                StreamEvent::Retrying { attempt, wait, reason } => {
                    came = self.count_down(&mut arriving, attempt, wait, &reason).await?;
                }
            }
            next = match came {
                Some(event) => event,
                None => arriving.recv().await,
            };
        }
        let rest = self.joiner.as_mut().map(Joiner::finish).unwrap_or_default();
        self.add(rest).await
    }

    /// The text of this part was thinking. What the parts before it said stands.
    async fn take_back(&mut self) -> Result<(), AskError> {
        self.text.truncate(self.start);
        self.joiner = self.joiner.take().map(|_| Joiner::new(self.text));
        self.asking.tell(AskEvent::Stream(StreamEvent::Retract)).await?;
        match self.text.as_str() {
            "" => Ok(()),
            before => self.asking.tell(AskEvent::Stream(StreamEvent::Text(before.to_owned()))).await,
        }
    }

    async fn add(&mut self, text: String) -> Result<(), AskError> {
        if text.is_empty() {
            return Ok(());
        }
        self.text.push_str(&text);
        self.asking.started.store(true, Ordering::Relaxed);
        self.asking.tell(AskEvent::Stream(StreamEvent::Text(text))).await
    }

    /// Tells every second how long the wait still is, until something comes; that, if it came before the wait was over.
    async fn count_down(
        &self,
        arriving: &mut mpsc::Receiver<StreamEvent>,
        attempt: u32,
        mut wait: Duration,
        reason: &str,
    ) -> Result<Option<Option<StreamEvent>>, AskError> {
        loop {
            let event = StreamEvent::Retrying { attempt, wait, reason: reason.to_owned() };
            self.asking.tell(AskEvent::Stream(event)).await?;
            let step = wait.min(TICK);
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
        if self.most.is_some_and(|most| self.received() > most) {
            self.ended = true;
            self.stop.cancel();
        }
    }

    /// Tokens of text and thinking that came, by our own count. Pieces are short, so each is not counted for itself.
    fn received(&self) -> usize {
        rhumb_tokens::estimate_of(self.bytes)
    }
}

/// The request for a prompt, as the settings want it put.
pub fn llm_request(line: &Line, settings: &Settings, overrides: &RequestOverrides, prompt: &Prompt) -> Request {
    let effort = settings.thinking_effort.clone().map(Thinking::Effort);
    let set = effort.or(settings.thinking_tokens.map(Thinking::Budget));
    Request {
        model: line.model.clone(),
        messages: prompt.messages.clone(),
        tokens: prompt.tokens,
        max_output_tokens: settings.max_output_tokens,
        temperature: settings.temperature.map(|temperature| temperature as f32),
        thinking: overrides.thinking.apply(set),
        ..Request::default()
    }
}

pub(super) mod editor;
mod pings;
#[cfg(test)]
mod tests;
mod turn;
