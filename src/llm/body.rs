//! Reading the body of an answer: a stream of events as it should be, or one of the things that servers send instead.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use super::classify::{Refusal, classify, clean};
use super::error::LlmError;
use super::event::{Completion, Finish, StreamEvent, Usage};
use super::openai::Timeouts;
use super::sse::{SseDecoder, SseEvent, TooLong};
use super::wire::{chunk, is_completion, is_error};

/// One event of a stream, or a whole answer in one piece, in bytes.
const MAX_PIECE: usize = 8 * 1024 * 1024;
/// A whole stream, in bytes: some 200 per token, so far above any model's longest answer.
const MAX_STREAM: usize = 256 * 1024 * 1024;
/// As much of an error answer is read, in bytes.
const MAX_ERROR: usize = 64 * 1024;
/// After the model's last word, how long to wait for the token counts that may follow.
const TRAILER_PATIENCE: Duration = Duration::from_secs(5);

/// Reads one answer and passes it on.
pub(super) struct BodyReader<'a> {
    pub(super) url: &'a str,
    pub(super) secret: Option<&'a str>,
    pub(super) timeouts: Timeouts,
    pub(super) events: &'a mpsc::Sender<StreamEvent>,
    /// Something of the answer was passed on, so the request must not be repeated.
    pub(super) started: bool,
    finish: Option<Finish>,
    done: bool,
    usage: Option<Usage>,
    /// An event with data was completed.
    saw_event: bool,
    /// Something was recognised as a part of a chat completion.
    recognised: bool,
    /// The first bytes, to show if nothing is recognised.
    beginning: Vec<u8>,
}

impl<'a> BodyReader<'a> {
    pub(super) fn new(
        url: &'a str,
        secret: Option<&'a str>,
        timeouts: Timeouts,
        events: &'a mpsc::Sender<StreamEvent>,
    ) -> Self {
        Self {
            url,
            secret,
            timeouts,
            events,
            started: false,
            finish: None,
            done: false,
            usage: None,
            saw_event: false,
            recognised: false,
            beginning: Vec::new(),
        }
    }

    /// Reads to the end. `by` is when the first event must be here.
    pub(super) async fn read(&mut self, mut response: reqwest::Response, by: Instant) -> Result<Completion, LlmError> {
        let mut decoder = SseDecoder::new(MAX_PIECE);
        let mut found = Vec::new();
        let mut deadline = by;
        let mut total = 0usize;
        while !self.done {
            let Some(bytes) = self.next_bytes(&mut response, deadline).await? else {
                break;
            };
            total = total.saturating_add(bytes.len());
            if total > MAX_STREAM {
                return Err(LlmError::TooMuch { limit: MAX_STREAM });
            }
            if self.is_one_piece(&bytes) {
                return self.read_one_piece(response, bytes).await;
            }
            let fed = decoder.feed(&bytes, &mut found);
            if !found.is_empty() {
                for event in found.drain(..) {
                    self.take(&event).await?;
                }
                // Comments keep a connection open, not an answer: only events move the deadline.
                deadline = Instant::now() + self.patience();
            }
            fed.map_err(|TooLong { limit }| LlmError::TooMuch { limit })?;
        }
        self.end()
    }

    fn patience(&self) -> Duration {
        if self.finish.is_some() { TRAILER_PATIENCE.min(self.timeouts.idle) } else { self.timeouts.idle }
    }

    /// The next bytes; none at the end. Once the model has said its last word, trouble on the line is the end too.
    async fn next_bytes(
        &self,
        response: &mut reqwest::Response,
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, LlmError> {
        let trouble = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(bytes)) => return Ok(bytes.map(Vec::from)),
            Ok(Err(error)) => LlmError::Interrupted { cause: cause(&error, self.secret) },
            Err(_) if self.beginning.is_empty() => LlmError::Idle { seconds: seconds(self.timeouts.first_byte) },
            Err(_) => LlmError::Idle { seconds: seconds(self.timeouts.idle) },
        };
        if self.finish.is_some() { Ok(None) } else { Err(trouble) }
    }

    /// Remembers the beginning and tells whether it is that of a JSON text or a web page. No event stream can begin so,
    /// whatever the content type says.
    fn is_one_piece(&mut self, bytes: &[u8]) -> bool {
        if self.beginning.len() < 256 {
            self.beginning.extend(bytes.iter().take(256));
        }
        let start = self.beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.beginning);
        matches!(start.trim_ascii_start().first(), Some(b'{' | b'[' | b'<'))
    }

    async fn read_one_piece(&mut self, response: reqwest::Response, start: Vec<u8>) -> Result<Completion, LlmError> {
        let body = match read_up_to(response, start, MAX_PIECE, self.timeouts.idle).await {
            Ok(body) => body,
            Err(Trouble::Idle) => {
                return Err(LlmError::Idle { seconds: seconds(self.timeouts.idle) });
            }
            Err(Trouble::Line(error)) => {
                return Err(LlmError::Interrupted { cause: cause(&error, self.secret) });
            }
        };
        let text = String::from_utf8_lossy(&body);
        let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(value) => value,
            Err(error) if error.is_eof() => {
                return Err(LlmError::Interrupted { cause: "the answer ended in the middle".into() });
            }
            Err(_) => return Err(self.not_an_api(&text)),
        };
        self.take_json(&value, &text).await?;
        self.end()
    }

    async fn take(&mut self, event: &SseEvent) -> Result<(), LlmError> {
        self.saw_event = true;
        let data = event.data.trim();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        match serde_json::from_str::<Value>(data) {
            Ok(value) => self.take_json(&value, data).await,
            Err(_) if self.finish.is_some() => Ok(()),
            Err(_) => Err(self.not_an_api(data)),
        }
    }

    async fn take_json(&mut self, value: &Value, text: &str) -> Result<(), LlmError> {
        if is_error(value) || value.get(0).is_some_and(is_error) {
            // The answer is whole once the model has finished; what goes wrong later is not its business.
            return if self.finish.is_some() { Ok(()) } else { Err(self.refused(text)) };
        }
        self.recognised |= is_completion(value);
        let chunk = chunk(value);
        if !chunk.reasoning.is_empty() {
            self.pass_on(StreamEvent::Reasoning(chunk.reasoning)).await?;
        }
        if !chunk.text.is_empty() {
            self.pass_on(StreamEvent::Text(chunk.text)).await?;
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage);
            self.pass_on(StreamEvent::Usage(usage)).await?;
        }
        if chunk.finish.is_some() {
            self.finish = chunk.finish;
        }
        Ok(())
    }

    async fn pass_on(&mut self, event: StreamEvent) -> Result<(), LlmError> {
        self.started |= !matches!(event, StreamEvent::Usage(_));
        self.events.send(event).await.map_err(|_| LlmError::Cancelled)
    }

    fn end(&mut self) -> Result<Completion, LlmError> {
        if self.finish.is_some() || self.done {
            return Ok(Completion { finish: self.finish.take().unwrap_or(Finish::Stop), usage: self.usage });
        }
        if self.beginning.is_empty() {
            return Err(LlmError::Interrupted { cause: "the answer is empty".into() });
        }
        if self.recognised || (!self.saw_event && begins_like_a_stream(&self.beginning)) {
            return Err(LlmError::Interrupted { cause: "the stream ended without its end marker".into() });
        }
        Err(self.not_an_api(&String::from_utf8_lossy(&self.beginning)))
    }

    fn refused(&self, body: &str) -> LlmError {
        classify(&Refusal { status: 200, url: self.url, body, retry_after: None, secret: self.secret })
    }

    fn not_an_api(&self, text: &str) -> LlmError {
        LlmError::NotAnApi { url: self.url.to_owned(), snippet: clean(text, self.secret) }
    }
}

/// Whether these first bytes may be those of an event stream, however few they are.
fn begins_like_a_stream(beginning: &[u8]) -> bool {
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    fields.iter().any(|field| beginning.starts_with(field) || field.starts_with(beginning))
}

enum Trouble {
    Idle,
    Line(reqwest::Error),
}

/// Reads on until the end, `limit` bytes, or `idle` without a byte.
async fn read_up_to(
    mut response: reqwest::Response,
    mut body: Vec<u8>,
    limit: usize,
    idle: Duration,
) -> Result<Vec<u8>, Trouble> {
    while body.len() < limit {
        match timeout(idle, response.chunk()).await {
            Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(Trouble::Line(error)),
            Err(_) => return Err(Trouble::Idle),
        }
    }
    body.truncate(limit);
    Ok(body)
}

/// The text of an error answer, as far as it comes within `idle`.
pub(super) async fn error_text(response: reqwest::Response, idle: Duration) -> String {
    let read = timeout(idle, read_up_to(response, Vec::new(), MAX_ERROR, idle)).await;
    match read {
        Ok(Ok(body)) => String::from_utf8_lossy(&body).into_owned(),
        _ => String::new(),
    }
}

/// The innermost cause of a transport error: the outer ones repeat the address and say "error sending request".
pub(super) fn cause(error: &reqwest::Error, secret: Option<&str>) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    clean(&inner.to_string(), secret)
}

/// Whole seconds for the eye, never 0.
pub(super) fn seconds(duration: Duration) -> u64 {
    duration.as_secs().max(1)
}
