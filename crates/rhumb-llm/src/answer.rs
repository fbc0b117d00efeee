//! Reads the response to a request: a stream of events, a single JSON value, or something unexpected.

use super::calls::{CallPart, TakenIds, ToolCalls};
use super::classify::{Refusal, classify};
use super::format::{Chunk, Format};
use super::framing::repair_surrogates;
use super::framing::{Frames, Framing, TooLong};
use super::sanitize::KeyMask;
use super::thinking::{Segment, ThinkingFilter};
use crate::{Completion, Finish, LlmError, Request, Role, StreamEvent, Timeouts, Usage};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// Maximum size in bytes of one event of a stream, or of a response that consists of one JSON value.
const MAX_EVENT_BYTES: usize = if cfg!(test) { 256 * 1024 } else { 8 * 1024 * 1024 };
/// Maximum size in bytes of a whole stream: about 200 bytes per token of a very long answer.
const MAX_STREAM_BYTES: usize = if cfg!(test) { 1024 * 1024 } else { 256 * 1024 * 1024 };
/// Maximum size in bytes of the text and the thinking of an answer: about a million tokens, eight times what models
/// write.
const MAX_TEXT_BYTES: usize = if cfg!(test) { 512 * 1024 } else { 4 * 1024 * 1024 };
/// A response that is a single JSON value was complete before it was sent, so only the network is slow. Its transfer
/// may take this many times the idle timeout.
const MAX_BODY_IDLE_PERIODS: u32 = 10;
/// Maximum number of bytes that are read of an error response.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Maximum time for reading an error response.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Replacement for an unpaired surrogate.
const REPLACEMENT: &str = "\u{fffd}";
/// Number of bytes of a response that are kept for an error message.
const MAX_SNIPPET_BYTES: usize = 256;
/// How long to wait for token counts after the finish reason.
const TRAILER_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
pub(crate) struct AnswerSource<'a> {
    pub(crate) format: &'static dyn Format,
    /// The URL without secrets.
    pub(crate) url: &'a str,
    pub(crate) mask: &'a KeyMask,
    pub(crate) timeouts: Timeouts,
}

pub(crate) struct AnswerReader<'a> {
    origin: AnswerSource<'a>,
    events: &'a mpsc::Sender<StreamEvent>,
    /// Something of the answer was forwarded, so the request must not be repeated.
    pub(crate) started: bool,
    has_text: bool,
    /// Size of text and thinking so far in bytes.
    length: usize,
    /// Thinking that the server sent separately was forwarded.
    has_reasoning: bool,
    thinking: ThinkingFilter,
    /// End of the begun answer that was not sent, as far as the model may still repeat it.
    unsent: String,
    /// Tools were offered to the model.
    offers_tools: bool,
    calls: ToolCalls,
    /// The ids of all calls in the conversation.
    taken: TakenIds,
    /// The thinking, as the API wants it back.
    kept_thinking: Vec<Value>,
    /// Size of the kept thinking in bytes.
    kept_length: usize,
    finish: Option<Finish>,
    /// Nothing more is read.
    done: bool,
    usage: Option<Usage>,
    /// The last event had content: text, thinking, increased counts, or the end.
    said: bool,
    /// The high surrogate with which the last event ended.
    half: Option<u16>,
    /// The high surrogate with which the current event ends.
    opened: Option<u16>,
    /// At least one event was complete.
    saw_piece: bool,
    /// At least one event had the expected format.
    recognised: bool,
    /// The first bytes, for an error message.
    beginning: Vec<u8>,
}

impl<'a> AnswerReader<'a> {
    pub(crate) fn new(origin: AnswerSource<'a>, request: &Request, events: &'a mpsc::Sender<StreamEvent>) -> Self {
        let begun = request.messages.last().is_some_and(|last| last.role == Role::Assistant);
        Self {
            origin,
            events,
            started: false,
            has_text: false,
            has_reasoning: false,
            length: 0,
            thinking: ThinkingFilter::new(begun),
            unsent: origin.format.unsent_end(request).to_owned(),
            offers_tools: !request.tools.is_empty(),
            calls: ToolCalls::default(),
            taken: TakenIds::of(request),
            kept_thinking: Vec::new(),
            kept_length: 0,
            finish: None,
            done: false,
            usage: None,
            said: false,
            half: None,
            opened: None,
            saw_piece: false,
            recognised: false,
            beginning: Vec::new(),
        }
    }

    /// Reads to the end. The first event must arrive before `by`.
    pub(crate) async fn read(&mut self, response: reqwest::Response, by: Instant) -> Result<Completion, LlmError> {
        let read = self.read_pieces(response, by).await;
        // Held text is part of the answer, even if the answer is incomplete.
        let mut held = if self.half.take().is_some() { self.thinking.feed(REPLACEMENT) } else { Vec::new() };
        held.extend(self.thinking.end());
        self.pass_on_sorted(held).await?;
        read?;
        self.end()
    }

    async fn read_pieces(&mut self, mut response: reqwest::Response, by: Instant) -> Result<(), LlmError> {
        let mut frames = Frames::new(self.origin.format.framing(), MAX_EVENT_BYTES);
        let mut found = Vec::new();
        let mut deadline = by;
        let mut total = 0usize;
        while !self.done {
            let Some(bytes) = self.next_bytes(&mut response, deadline).await? else {
                return match frames.rest() {
                    Some(rest) => self.take(&rest, true).await,
                    None => Ok(()),
                };
            };
            total = total.saturating_add(bytes.len());
            if total > MAX_STREAM_BYTES {
                return Err(LlmError::TooMuch(MAX_STREAM_BYTES));
            }
            let before = self.beginning.len();
            if self.is_one_piece(&bytes) {
                // The bytes before are whitespace or a part of a byte order mark.
                let blanks = self.beginning.get(..before).unwrap_or_default();
                return self.read_one_piece(response, [blanks, &bytes].concat()).await;
            }
            let fed = frames.feed(&bytes, &mut found);
            self.said = false;
            for piece in found.drain(..) {
                self.take(&piece, false).await?;
            }
            if self.said {
                // Comments and empty events do not extend the deadline.
                deadline = Instant::now() + self.idle_timeout();
            }
            fed.map_err(|TooLong { limit }| LlmError::TooMuch(limit))?;
        }
        Ok(())
    }

    fn idle_timeout(&self) -> Duration {
        if self.finish.is_some() { TRAILER_TIMEOUT.min(self.origin.timeouts.idle) } else { self.origin.timeouts.idle }
    }

    /// Returns the next bytes, or `None` at the end. After the finish reason an error counts as the end.
    async fn next_bytes(
        &self,
        response: &mut reqwest::Response,
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, LlmError> {
        let trouble = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(bytes)) => return Ok(bytes.map(Vec::from)),
            Ok(Err(error)) => LlmError::Interrupted(cause(&error, self.origin.mask)),
            Err(_) if self.beginning.is_empty() => LlmError::Idle(seconds(self.origin.timeouts.first_byte)),
            Err(_) => LlmError::Idle(seconds(self.origin.timeouts.idle)),
        };
        if self.finish.is_some() { Ok(None) } else { Err(trouble) }
    }

    /// Keeps the first bytes. Returns whether they are those of a web page, or of a JSON value where a stream cannot
    /// begin like this. The content type is ignored.
    fn is_one_piece(&mut self, bytes: &[u8]) -> bool {
        if self.beginning.len() < MAX_SNIPPET_BYTES {
            self.beginning.extend(bytes.iter().take(MAX_SNIPPET_BYTES));
        }
        let start = self.beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.beginning);
        match start.trim_ascii_start().first() {
            Some(b'<' | b'[') => true,
            Some(b'{') => self.origin.format.framing() == Framing::Events,
            _ => false,
        }
    }

    async fn read_one_piece(&mut self, response: reqwest::Response, start: Vec<u8>) -> Result<(), LlmError> {
        let start_of = |body: &[u8]| body.iter().take(MAX_SNIPPET_BYTES).copied().collect();
        if start.trim_ascii_start().starts_with(b"<") {
            // A web page is never an answer, so its beginning is enough.
            self.beginning = start_of(&beginning(response, start, self.origin.timeouts.idle).await);
            return Err(self.not_an_api(&String::from_utf8_lossy(&self.beginning)));
        }
        let body = self.whole_piece(response, start).await?;
        self.beginning = start_of(&body);
        let text = String::from_utf8_lossy(&body);
        let pieces = match self.parsed(text.trim_start_matches('\u{feff}')) {
            // Google sends the events of a stream as an array if server-sent events are not requested.
            Ok(Value::Array(pieces)) => pieces,
            Ok(value) => vec![value],
            Err(error) if error.is_eof() => {
                return Err(LlmError::Interrupted("the answer ended in the middle".into()));
            }
            Err(_) => return Err(self.not_an_api(&text)),
        };
        self.saw_piece = true;
        for piece in &pieces {
            self.take_json(piece).await?;
        }
        Ok(())
    }

    /// Reads the rest of a single JSON value. Whitespace does not extend the deadline.
    async fn whole_piece(&self, mut response: reqwest::Response, mut body: Vec<u8>) -> Result<Vec<u8>, LlmError> {
        let idle = self.origin.timeouts.idle;
        let latest = Instant::now() + idle * MAX_BODY_IDLE_PERIODS;
        let mut deadline = Instant::now() + idle;
        loop {
            if body.len() > MAX_EVENT_BYTES {
                return Err(LlmError::TooMuch(MAX_EVENT_BYTES));
            }
            match timeout_at(deadline.min(latest), response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    if !bytes.trim_ascii().is_empty() {
                        deadline = Instant::now() + idle;
                    }
                    body.extend_from_slice(&bytes);
                }
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(error)) => return Err(LlmError::Interrupted(cause(&error, self.origin.mask))),
                Err(_) => return Err(LlmError::Idle(seconds(idle))),
            }
        }
    }

    /// Parses the JSON of an event. Surrogate pairs that are split between events are joined, and unpaired ones
    /// replaced.
    fn parsed(&mut self, text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(text).or_else(|error| {
            let repaired = repair_surrogates(text, self.half);
            let value = serde_json::from_str(&repaired.json).map_err(|_| error)?;
            self.half = self.half.filter(|_| !repaired.joined);
            self.opened = repaired.open;
            Ok(value)
        })
    }

    /// Processes one event. The last line of a response may be incomplete.
    async fn take(&mut self, piece: &str, last: bool) -> Result<(), LlmError> {
        self.saw_piece = true;
        let data = piece.trim();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        match self.parsed(data) {
            Ok(value) => self.take_json(&value).await,
            Err(_) if self.finish.is_some() => Ok(()),
            Err(error) if last && error.is_eof() => Err(LlmError::Interrupted("the answer ended in the middle".into())),
            Err(_) if self.recognised => Err(LlmError::Interrupted(format!(
                "a piece of the answer is broken: {}",
                self.origin.mask.sanitize(data)
            ))),
            Err(_) => Err(self.not_an_api(data)),
        }
    }

    async fn take_json(&mut self, value: &Value) -> Result<(), LlmError> {
        if let Some(failure) = self.origin.format.failure(value) {
            // An error after the finish reason does not affect the answer.
            return if self.finish.is_some() { Ok(()) } else { Err(self.refused(&failure.to_string())) };
        }
        let Some(mut chunk) = self.origin.format.chunk(value) else { return Ok(()) };
        self.recognised = true;
        if chunk.whole {
            self.drop_what_came_in_pieces(&mut chunk);
        }
        self.said |= chunk.finish.is_some() || chunk.last || !(chunk.text.is_empty() && chunk.reasoning.is_empty());
        self.said |= !chunk.thinking.is_empty() || chunk.calls.iter().any(|part| !part.is_empty());
        let calls: usize = chunk.calls.iter().map(CallPart::len).sum();
        self.length = self.length.saturating_add(chunk.text.len() + chunk.reasoning.len() + calls);
        for part in chunk.thinking {
            self.kept_length = self.kept_length.saturating_add(part.to_string().len());
            self.origin.format.keep_thinking(&mut self.kept_thinking, part);
        }
        if self.length.max(self.kept_length) > MAX_TEXT_BYTES {
            return Err(LlmError::TooMuch(MAX_TEXT_BYTES));
        }
        if !chunk.reasoning.is_empty() {
            self.has_reasoning = true;
            self.thinking.reasoning_is_separate();
            self.pass_on(StreamEvent::Reasoning(chunk.reasoning)).await?;
        }
        if !chunk.text.is_empty() {
            if self.half.take().is_some() {
                chunk.text.insert_str(0, REPLACEMENT);
            }
            self.has_text = true;
            let text = self.without_unsent(&chunk.text).to_owned();
            let sorted = self.thinking.feed(&text);
            self.pass_on_sorted(sorted).await?;
        }
        if !chunk.calls.is_empty() {
            // The other half of a character is in the arguments.
            self.half = None;
        }
        for part in chunk.calls {
            let added = self.calls.add(part);
            if let Some(added) = added.filter(|_| self.offers_tools) {
                let (index, name, arguments) = (added.call, added.name, added.arguments);
                self.pass_on(StreamEvent::ToolCall { index, name, arguments }).await?;
            }
        }
        if let Some(usage) = chunk.usage {
            let usage = self.usage.unwrap_or_default().joined(usage);
            self.said |= self.usage != Some(usage);
            self.usage = Some(usage);
            self.pass_on(StreamEvent::Usage(usage)).await?;
        }
        if let Some(finish) = chunk.finish {
            self.finish = Some(self.shown_finish(finish));
        }
        self.half = self.opened.take().or(self.half);
        self.done |= chunk.last;
        Ok(())
    }

    /// Removes what the model repeats of the unsent end, since the begun answer contains it already.
    fn without_unsent<'t>(&mut self, text: &'t str) -> &'t str {
        let equal = self.unsent.chars().zip(text.chars()).take_while(|(unsent, new)| unsent == new);
        let repeated = equal.map(|(c, _)| c.len_utf8()).sum();
        if repeated < text.len() {
            self.unsent.clear();
        } else {
            self.unsent.drain(..repeated);
        }
        text.get(repeated..).unwrap_or_default()
    }

    fn drop_what_came_in_pieces(&self, chunk: &mut Chunk) {
        if self.has_reasoning {
            chunk.reasoning.clear();
        }
        if self.has_text {
            chunk.text.clear();
        }
        if !self.kept_thinking.is_empty() {
            chunk.thinking.clear();
        }
        if !self.calls.is_empty() {
            // They complete those that are known.
            chunk.calls.retain(|part| self.calls.knows(part));
        }
    }

    async fn pass_on_sorted(&mut self, pieces: Vec<Segment>) -> Result<(), LlmError> {
        for piece in pieces {
            let event = match piece {
                Segment::Text(text) => StreamEvent::Text(text),
                Segment::Reasoning(text) => StreamEvent::Reasoning(text),
                Segment::Retract => StreamEvent::Retract,
            };
            self.pass_on(event).await?;
        }
        Ok(())
    }

    async fn pass_on(&mut self, event: StreamEvent) -> Result<(), LlmError> {
        self.started |= !matches!(event, StreamEvent::Usage(_));
        self.events.send(event).await.map_err(|_| LlmError::Cancelled)
    }

    /// Sanitizes a finish reason that the server has named, for display.
    fn shown_finish(&self, finish: Finish) -> Finish {
        match finish {
            Finish::Other(word) => Finish::Other(self.origin.mask.sanitize(&word)),
            known => known,
        }
    }

    fn end(&mut self) -> Result<Completion, LlmError> {
        if let Some(finish) = self.finish.take() {
            return Ok(self.completed(finish));
        }
        if self.done {
            return Err(LlmError::Interrupted("the server gave no finish reason that rhumb can read".into()));
        }
        if self.beginning.is_empty() {
            return Err(LlmError::Interrupted("the answer is empty".into()));
        }
        if self.recognised || (!self.saw_piece && begins_like_a_stream(&self.beginning)) {
            return Err(LlmError::Interrupted("the stream ended without its end marker".into()));
        }
        Err(self.not_an_api(&String::from_utf8_lossy(&self.beginning)))
    }

    /// Returns the end of the answer. An answer with calls waits for their results, whatever finish reason it has, if
    /// it is complete.
    fn completed(&mut self, finish: Finish) -> Completion {
        let calls = std::mem::take(&mut self.calls);
        let called = matches!(&finish, Finish::Other(word) if is_call_word(word));
        let mut completion = Completion::new(finish, self.usage);
        if self.offers_tools && (called || completion.finish == Finish::Stop) {
            completion.tool_calls = calls.finish(&mut self.taken);
            if !completion.tool_calls.is_empty() {
                completion.finish = Finish::ToolCalls;
            } else if called {
                completion.finish = Finish::Other("tool_calls, but without a tool call".to_owned());
            }
        } else if completion.finish == Finish::Stop && !self.has_text && !calls.is_empty() {
            completion.finish = Finish::Other("tool_calls".to_owned());
        }
        if completion.finish.incomplete_reason().is_none() {
            completion.thinking = std::mem::take(&mut self.kept_thinking);
        }
        completion
    }

    fn refused(&self, body: &str) -> LlmError {
        classify(&Refusal { status: 200, url: self.origin.url, body, retry_after: None, mask: self.origin.mask })
    }

    fn not_an_api(&self, text: &str) -> LlmError {
        LlmError::NotAnApi { url: self.origin.url.to_owned(), snippet: self.origin.mask.sanitize(text) }
    }
}

/// Returns whether a finish reason says that the model has called tools.
fn is_call_word(word: &str) -> bool {
    ["tool_calls", "tool_call", "tool_use", "function_call", "function_calls"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns whether these bytes may be the beginning of an event stream.
fn begins_like_a_stream(beginning: &[u8]) -> bool {
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    fields.iter().any(|field| beginning.starts_with(field) || field.starts_with(beginning))
}

/// Reads the body of an error response. Returns what arrives within the time limit, since the status says enough.
pub(crate) async fn error_text(response: reqwest::Response, patience: Duration) -> String {
    String::from_utf8_lossy(&beginning(response, Vec::new(), patience).await).into_owned()
}

/// Reads the first bytes of an unexpected response, after those in `body`, within the time limit.
async fn beginning(mut response: reqwest::Response, mut body: Vec<u8>, patience: Duration) -> Vec<u8> {
    let by = Instant::now() + patience.min(ERROR_BODY_TIMEOUT);
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Ok(Some(bytes))) = timeout_at(by, response.chunk()).await
    {
        body.extend_from_slice(&bytes);
    }
    body.truncate(MAX_ERROR_BYTES);
    body
}

/// Returns the innermost error of a transport error. The outer ones repeat the URL and "error sending request".
pub(crate) fn cause(error: &reqwest::Error, mask: &KeyMask) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    mask.sanitize(&inner.to_string())
}

/// Rounds up to whole seconds.
pub(crate) fn seconds(duration: Duration) -> u64 {
    duration.as_secs().max(1)
}
