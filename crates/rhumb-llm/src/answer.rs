//! Reading an answer: a stream of pieces as it should be, or one of the things that servers send instead.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::classify::{Refusal, classify};
use super::clean::Mask;
use super::client::Timeouts;
use super::error::LlmError;
use super::event::{Completion, Finish, StreamEvent, Usage};
use super::format::{Chunk, Format};
use super::frames::{Frames, Framing, TooLong};
use super::request::Request;
use super::surrogates::mended;
use super::thoughts::{Piece, Thoughts};
use crate::Role;

/// One event of a stream, or a whole answer in one piece, in bytes.
const MAX_PIECE: usize = if cfg!(test) { 256 * 1024 } else { 8 * 1024 * 1024 };
/// A whole stream, in bytes: some 200 per token, so far above any model's longest answer.
const MAX_STREAM: usize = if cfg!(test) { 1024 * 1024 } else { 256 * 1024 * 1024 };
/// The text and the thinking of a whole answer, in bytes: a million tokens, where no model writes an eighth of that.
const MAX_TEXT: usize = if cfg!(test) { 512 * 1024 } else { 4 * 1024 * 1024 };
/// What comes in one piece was made before it was sent, so only the line is slow: it may take so many times the patience with
/// silence, however busy the line is.
const PIECE_PATIENCE: u32 = 10;
/// As much of an error answer is read, in bytes.
const MAX_ERROR: usize = 64 * 1024;
/// As long as that is waited for.
const ERROR_PATIENCE: Duration = Duration::from_secs(10);
/// What is shown for half a character.
const HALF: &str = "\u{fffd}";
/// So many bytes of an answer are kept, to show them if nothing in it is recognised.
const SHOWN: usize = 256;
/// After the model's last word, how long to wait for the token counts that may follow.
const TRAILER_PATIENCE: Duration = Duration::from_secs(5);

/// Where an answer comes from.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) format: &'static dyn Format,
    /// The address for the eye.
    pub(super) url: &'a str,
    pub(super) mask: &'a Mask,
    pub(super) timeouts: Timeouts,
}

/// Reads one answer and passes it on.
pub(super) struct AnswerReader<'a> {
    origin: Origin<'a>,
    events: &'a mpsc::Sender<StreamEvent>,
    /// Something of the answer was passed on, so the request must not be repeated.
    pub(super) started: bool,
    /// Some of the text was passed on.
    has_text: bool,
    /// Bytes of text and thinking so far.
    length: usize,
    /// Some of the thinking was passed on that came in a way of its own.
    has_reasoning: bool,
    thoughts: Thoughts,
    /// The end of the begun answer that was not sent, as far as the model may still repeat it.
    unsent: String,
    finish: Option<Finish>,
    /// Nothing more is read.
    done: bool,
    usage: Option<Usage>,
    /// The piece that was taken last brought something: text, thinking, counts that grew, or the end.
    said: bool,
    /// The first half of a character that a piece ended with.
    half: Option<u16>,
    /// That of the piece that is being taken.
    opened: Option<u16>,
    /// A piece was completed.
    saw_piece: bool,
    /// Something was recognised as a part of an answer in the format.
    recognised: bool,
    /// The first bytes, to show if nothing is recognised.
    beginning: Vec<u8>,
}

impl<'a> AnswerReader<'a> {
    pub(super) fn new(origin: Origin<'a>, request: &Request, events: &'a mpsc::Sender<StreamEvent>) -> Self {
        let begun = request.messages.last().is_some_and(|last| last.role == Role::Assistant);
        Self {
            origin,
            events,
            started: false,
            has_text: false,
            has_reasoning: false,
            length: 0,
            thoughts: Thoughts::new(begun),
            unsent: origin.format.unsent_end(request).to_owned(),
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

    /// Reads to the end. `by` is when the first event must be here.
    pub(super) async fn read(&mut self, response: reqwest::Response, by: Instant) -> Result<Completion, LlmError> {
        let read = self.read_pieces(response, by).await;
        // What was held back is part of the answer, whole or not.
        let mut held = if self.half.take().is_some() { self.thoughts.feed(HALF) } else { Vec::new() };
        held.extend(self.thoughts.end());
        self.pass_on_sorted(held).await?;
        read?;
        self.end()
    }

    async fn read_pieces(&mut self, mut response: reqwest::Response, by: Instant) -> Result<(), LlmError> {
        let mut frames = Frames::new(self.origin.format.framing(), MAX_PIECE);
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
            if total > MAX_STREAM {
                return Err(LlmError::TooMuch { limit: MAX_STREAM });
            }
            let before = self.beginning.len();
            if self.is_one_piece(&bytes) {
                // What came before were blanks, or a part of a byte order mark.
                let blanks = self.beginning.get(..before).unwrap_or_default();
                return self.read_one_piece(response, [blanks, &bytes].concat()).await;
            }
            let fed = frames.feed(&bytes, &mut found);
            self.said = false;
            for piece in found.drain(..) {
                self.take(&piece, false).await?;
            }
            if self.said {
                // Comments and events that say nothing keep a connection open, not an answer.
                deadline = Instant::now() + self.patience();
            }
            fed.map_err(|TooLong { limit }| LlmError::TooMuch { limit })?;
        }
        Ok(())
    }

    fn patience(&self) -> Duration {
        if self.finish.is_some() { TRAILER_PATIENCE.min(self.origin.timeouts.idle) } else { self.origin.timeouts.idle }
    }

    /// The next bytes; none at the end. Once the model has said its last word, trouble on the line is the end too.
    async fn next_bytes(
        &self,
        response: &mut reqwest::Response,
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, LlmError> {
        let trouble = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(bytes)) => return Ok(bytes.map(Vec::from)),
            Ok(Err(error)) => LlmError::Interrupted { cause: cause(&error, self.origin.mask) },
            Err(_) if self.beginning.is_empty() => LlmError::Idle { seconds: seconds(self.origin.timeouts.first_byte) },
            Err(_) => LlmError::Idle { seconds: seconds(self.origin.timeouts.idle) },
        };
        if self.finish.is_some() { Ok(None) } else { Err(trouble) }
    }

    /// Remembers the beginning and tells whether it is that of a web page, or of a JSON text where no stream can begin
    /// so, whatever the content type says.
    fn is_one_piece(&mut self, bytes: &[u8]) -> bool {
        if self.beginning.len() < SHOWN {
            self.beginning.extend(bytes.iter().take(SHOWN));
        }
        let start = self.beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.beginning);
        match start.trim_ascii_start().first() {
            Some(b'<' | b'[') => true,
            Some(b'{') => self.origin.format.framing() == Framing::Events,
            _ => false,
        }
    }

    async fn read_one_piece(&mut self, response: reqwest::Response, start: Vec<u8>) -> Result<(), LlmError> {
        let start_of = |body: &[u8]| body.iter().take(SHOWN).copied().collect();
        if start.trim_ascii_start().starts_with(b"<") {
            // No page is an answer, so its beginning is enough.
            self.beginning = start_of(&beginning(response, start, self.origin.timeouts.idle).await);
            return Err(self.not_an_api(&String::from_utf8_lossy(&self.beginning)));
        }
        let body = self.whole_piece(response, start).await?;
        self.beginning = start_of(&body);
        let text = String::from_utf8_lossy(&body);
        let pieces = match self.parsed(text.trim_start_matches('\u{feff}')) {
            // Google sends the pieces of a stream as a list, where it is not asked for events.
            Ok(Value::Array(pieces)) => pieces,
            Ok(value) => vec![value],
            Err(error) if error.is_eof() => {
                return Err(LlmError::Interrupted { cause: "the answer ended in the middle".into() });
            }
            Err(_) => return Err(self.not_an_api(&text)),
        };
        self.saw_piece = true;
        for piece in &pieces {
            self.take_json(piece).await?;
        }
        Ok(())
    }

    /// Reads on until the end of what comes in one piece. Blanks say nothing, so they are not waited for any longer than silence is.
    async fn whole_piece(&self, mut response: reqwest::Response, mut body: Vec<u8>) -> Result<Vec<u8>, LlmError> {
        let idle = self.origin.timeouts.idle;
        let latest = Instant::now() + idle * PIECE_PATIENCE;
        let mut deadline = Instant::now() + idle;
        loop {
            if body.len() > MAX_PIECE {
                return Err(LlmError::TooMuch { limit: MAX_PIECE });
            }
            match timeout_at(deadline.min(latest), response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    if !bytes.trim_ascii().is_empty() {
                        deadline = Instant::now() + idle;
                    }
                    body.extend_from_slice(&bytes);
                }
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(error)) => return Err(LlmError::Interrupted { cause: cause(&error, self.origin.mask) }),
                Err(_) => return Err(LlmError::Idle { seconds: seconds(idle) }),
            }
        }
    }

    /// The JSON of a piece. Half characters in it are joined with what came before, or made visible.
    fn parsed(&mut self, text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(text).or_else(|error| {
            let mended = mended(text, self.half);
            let value = serde_json::from_str(&mended.json).map_err(|_| error)?;
            self.half = self.half.filter(|_| !mended.joined);
            self.opened = mended.open;
            Ok(value)
        })
    }

    /// Takes one piece; the last line of a body may be only half of one.
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
            Err(error) if last && error.is_eof() => {
                Err(LlmError::Interrupted { cause: "the answer ended in the middle".into() })
            }
            Err(_) if self.recognised => Err(LlmError::Interrupted {
                cause: format!("a piece of the answer is broken: {}", self.origin.mask.clean(data)),
            }),
            Err(_) => Err(self.not_an_api(data)),
        }
    }

    async fn take_json(&mut self, value: &Value) -> Result<(), LlmError> {
        if let Some(failure) = self.origin.format.failure(value) {
            // The answer is whole once the model has finished; what goes wrong later is not its business.
            return if self.finish.is_some() { Ok(()) } else { Err(self.refused(&failure.to_string())) };
        }
        let Some(mut chunk) = self.origin.format.chunk(value) else {
            return Ok(());
        };
        self.recognised = true;
        if chunk.whole {
            self.drop_what_came_in_pieces(&mut chunk);
        }
        self.said |= chunk.finish.is_some() || chunk.last || !(chunk.text.is_empty() && chunk.reasoning.is_empty());
        self.length = self.length.saturating_add(chunk.text.len() + chunk.reasoning.len());
        if self.length > MAX_TEXT {
            return Err(LlmError::TooMuch { limit: MAX_TEXT });
        }
        if !chunk.reasoning.is_empty() {
            self.has_reasoning = true;
            self.thoughts.told_apart();
            self.pass_on(StreamEvent::Reasoning(chunk.reasoning)).await?;
        }
        if !chunk.text.is_empty() {
            if self.half.take().is_some() {
                chunk.text.insert_str(0, HALF);
            }
            self.has_text = true;
            let text = self.without_unsent(&chunk.text).to_owned();
            let sorted = self.thoughts.feed(&text);
            self.pass_on_sorted(sorted).await?;
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

    /// The text without what it repeats of the end that was not sent: that end is in the begun answer already.
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
    }

    async fn pass_on_sorted(&mut self, pieces: Vec<Piece>) -> Result<(), LlmError> {
        for piece in pieces {
            let event = match piece {
                Piece::Text(text) => StreamEvent::Text(text),
                Piece::Reasoning(text) => StreamEvent::Reasoning(text),
                Piece::TakeBack => StreamEvent::TakeBack,
            };
            self.pass_on(event).await?;
        }
        Ok(())
    }

    async fn pass_on(&mut self, event: StreamEvent) -> Result<(), LlmError> {
        self.started |= !matches!(event, StreamEvent::Usage(_));
        self.events.send(event).await.map_err(|_| LlmError::Cancelled)
    }

    /// A reason for the end in the server's word is shown, so it is cleaned.
    fn shown_finish(&self, finish: Finish) -> Finish {
        match finish {
            Finish::Other(word) => Finish::Other(self.origin.mask.clean(&word)),
            known => known,
        }
    }

    fn end(&mut self) -> Result<Completion, LlmError> {
        if let Some(finish) = self.finish.take() {
            return Ok(Completion { finish, usage: self.usage });
        }
        if self.done {
            return Err(LlmError::Interrupted { cause: "the server gave no finish reason that rhumb can read".into() });
        }
        if self.beginning.is_empty() {
            return Err(LlmError::Interrupted { cause: "the answer is empty".into() });
        }
        if self.recognised || (!self.saw_piece && begins_like_a_stream(&self.beginning)) {
            return Err(LlmError::Interrupted { cause: "the stream ended without its end marker".into() });
        }
        Err(self.not_an_api(&String::from_utf8_lossy(&self.beginning)))
    }

    fn refused(&self, body: &str) -> LlmError {
        classify(&Refusal { status: 200, url: self.origin.url, body, retry_after: None, mask: self.origin.mask })
    }

    fn not_an_api(&self, text: &str) -> LlmError {
        LlmError::NotAnApi { url: self.origin.url.to_owned(), snippet: self.origin.mask.clean(text) }
    }
}

/// Whether these first bytes may be those of an event stream, however few they are.
fn begins_like_a_stream(beginning: &[u8]) -> bool {
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    fields.iter().any(|field| beginning.starts_with(field) || field.starts_with(beginning))
}

/// The text of an error answer, as far as it comes within `patience`, or within the little time that it is worth: its status
/// says enough.
pub(super) async fn error_text(response: reqwest::Response, patience: Duration) -> String {
    String::from_utf8_lossy(&beginning(response, Vec::new(), patience).await).into_owned()
}

/// The first bytes of what is no answer, as far as they come within that time; `body` is what came of them before.
async fn beginning(mut response: reqwest::Response, mut body: Vec<u8>, patience: Duration) -> Vec<u8> {
    let by = Instant::now() + patience.min(ERROR_PATIENCE);
    while body.len() < MAX_ERROR
        && let Ok(Ok(Some(bytes))) = timeout_at(by, response.chunk()).await
    {
        body.extend_from_slice(&bytes);
    }
    body.truncate(MAX_ERROR);
    body
}

/// The innermost cause of a transport error: the outer ones repeat the address and say "error sending request".
pub(super) fn cause(error: &reqwest::Error, mask: &Mask) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    mask.clean(&inner.to_string())
}

/// Whole seconds for the eye, never 0.
pub(super) fn seconds(duration: Duration) -> u64 {
    duration.as_secs().max(1)
}
