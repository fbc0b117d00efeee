//! A scripted model server on the loopback interface. All steps work with the API for chat completions; answers with tool calls,
//! and failures, with all five APIs.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use axum::routing::get;
use futures::stream::{self, Stream};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use super::WAIT_TIMEOUT;
use super::wire::{Answer, Api};

/// The one model that the server offers.
pub const MODEL: &str = "test-model";

/// The answer of the server to one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Streams the chunks, `gap_ms` apart, then a usage and the end mark.
    Reply { chunks: Vec<String>, gap_ms: u64 },
    /// Answers with this status, body and headers.
    Status { code: u16, body: String, headers: Vec<(String, String)> },
    /// Streams the chunks and then closes the connection without an end mark.
    Drop { chunks: Vec<String> },
    /// Streams `before`, waits for [`ModelServer::go_on`], and then streams `after` and a proper end.
    Paused { before: Vec<String>, after: Vec<String> },
    /// Streams the chunks and ends with another finish reason than `stop`, such as `length`.
    Cut { chunks: Vec<String>, reason: String },
    /// Answers in the format of the request.
    Answer(Answer),
    /// Waits for [`ModelServer::go_on`], and then answers in the format of the request.
    HeldAnswer(Answer),
    /// Begins to stream the answer, and never ends it.
    Endless(Answer),
    /// Never answers.
    Hang,
    /// Answers with a web page, like a proxy or a wrong address.
    Html,
}

impl Step {
    /// A reply in pieces of a few characters, without pauses.
    pub fn reply(text: &str) -> Self {
        Self::Reply { chunks: pieces(text), gap_ms: 0 }
    }

    /// A reply in pieces that stops after the first `mark` until [`ModelServer::go_on`].
    ///
    /// # Panics
    /// If the text does not contain the mark.
    pub fn held_after(text: &str, mark: &str) -> Self {
        let at = text.find(mark).expect("the mark in the reply") + mark.len();
        let (before, after) = text.split_at(at);
        Self::Paused { before: pieces(before), after: pieces(after) }
    }

    /// An error in the format of the API.
    pub fn error(code: u16, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": "test_error"}}).to_string();
        Self::Status { code, body, headers: vec![("content-type".into(), "application/json".into())] }
    }
}

/// A text in pieces of a few characters.
pub fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(7).map(|piece| piece.iter().collect()).collect()
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Request {
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    /// `Null` if it was not JSON.
    pub body: Value,
}

impl Request {
    /// The content of the last message; empty if it is not text.
    pub fn last_message(&self) -> &str {
        let messages = self.body["messages"].as_array();
        messages.and_then(|messages| messages.last()).and_then(|last| last["content"].as_str()).unwrap_or("")
    }
}

/// A server that performs a script, one step for each request. It ends on drop.
pub struct ModelServer {
    address: SocketAddr,
    script: Arc<Script>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Script {
    state: Mutex<Played>,
    changed: Condvar,
    go_on: Notify,
}

#[derive(Default)]
struct Played {
    steps: VecDeque<Step>,
    requests: Vec<Request>,
    cancelled: usize,
}

impl ModelServer {
    /// Starts a server on a free port. A request after the last of `steps` is answered with status 500.
    pub fn start(steps: Vec<Step>) -> Self {
        let script = Arc::new(Script::default());
        script.lock().steps = steps.into();
        let (stop, stopped) = oneshot::channel();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the server's address");
        let served = Arc::clone(&script);
        let thread = thread::spawn(move || serve(listener, served, stopped));
        Self { address, script, stop: Some(stop), thread: Some(thread) }
    }

    /// The base URL of the provider, without a trailing slash.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL for one of the formats.
    pub fn url(&self, api: Api) -> String {
        match api {
            Api::Chat | Api::Responses => self.base_url(),
            _ => format!("http://{}", self.address),
        }
    }

    /// The server's socket address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The chat requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.script.lock().requests.clone()
    }

    /// Waits for `count` chat requests and returns them.
    #[track_caller]
    pub fn wait_for_requests(&self, count: usize) -> Vec<Request> {
        let state = self.script.wait(|played| played.requests.len() >= count);
        assert!(state.requests.len() >= count, "{count} requests expected, {} came", state.requests.len());
        state.requests.clone()
    }

    /// Whether a client disconnected before its answer was complete.
    pub fn cancelled(&self) -> bool {
        self.script.lock().cancelled > 0
    }

    /// Waits until a client has disconnected before its answer was complete.
    #[track_caller]
    pub fn wait_cancelled(&self) {
        assert!(self.script.wait(|played| played.cancelled > 0).cancelled > 0, "no client went away");
    }

    /// Continues a held reply.
    pub fn go_on(&self) {
        self.script.go_on.notify_one();
    }

    /// Adds steps to the script's end.
    pub fn push(&self, steps: impl IntoIterator<Item = Step>) {
        self.script.lock().steps.extend(steps);
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // A thread that has ended needs no stop.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Script {
    fn lock(&self) -> MutexGuard<'_, Played> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state once `holds` is true for it, or after [`WAIT_TIMEOUT`].
    fn wait(&self, holds: impl Fn(&Played) -> bool) -> MutexGuard<'_, Played> {
        let waited = self.changed.wait_timeout_while(self.lock(), WAIT_TIMEOUT, |played| !holds(played));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Records a request and takes the step that answers it.
    fn next(&self, request: Request) -> (usize, Option<Step>) {
        let mut played = self.lock();
        played.requests.push(request);
        self.changed.notify_all();
        (played.requests.len(), played.steps.pop_front())
    }
}

/// Counts a client as disconnected if it is dropped before the answer is complete.
struct Watch {
    script: Arc<Script>,
    complete: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.complete {
            self.script.lock().cancelled += 1;
            self.script.changed.notify_all();
        }
    }
}

fn serve(listener: std::net::TcpListener, script: Arc<Script>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        listener.set_nonblocking(true).expect("a listener for the runtime");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener for the runtime");
        let routes = Router::new()
            .route("/v1/models", get(models))
            .fallback(answer)
            // A request of a long loop is large.
            .layer(DefaultBodyLimit::max(64 * 1024 * 1024))
            .with_state(script);
        tokio::select! {
            served = async { axum::serve(listener, routes).await } => served.expect("serve"),
            _ = stopped => {}
        }
    });
}

async fn models() -> axum::Json<Value> {
    axum::Json(json!({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "tests"}]}))
}

async fn answer(State(script): State<Arc<Script>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let Some(api) = Api::of_path(uri.path()) else { return plain(404, String::new(), &[]) };
    let headers = headers.iter().map(|(name, value)| (name.to_string(), lossy(value.as_bytes()))).collect();
    let request = Request { headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) };
    let (number, step) = script.next(request);
    let step = step.unwrap_or_else(|| Step::error(500, "the test's script is at its end"));
    let mut watch = Watch { script, complete: false };
    match step {
        Step::Reply { chunks, gap_ms } => {
            let gap = Duration::from_millis(gap_ms);
            streamed(events(frames(&chunks, Some("stop")), gap, false, watch))
        }
        Step::Drop { chunks } => streamed(events(frames(&chunks, None), Duration::ZERO, true, watch)),
        Step::Cut { chunks, reason } => streamed(events(frames(&chunks, Some(&reason)), Duration::ZERO, false, watch)),
        Step::Paused { before, after } => {
            let mut all = frames(&[before.clone(), after].concat(), Some("stop"));
            // The first frame is the role.
            all.insert(1 + before.len(), Frame::Wait);
            streamed(events(all, Duration::ZERO, false, watch))
        }
        Step::Answer(answer) => {
            let frames = api.frames(&answer, number).into_iter().map(Frame::Send).collect();
            typed(api, events(frames, Duration::ZERO, false, watch))
        }
        Step::HeldAnswer(answer) => {
            let mut frames: VecDeque<Frame> = api.frames(&answer, number).into_iter().map(Frame::Send).collect();
            frames.push_front(Frame::Wait);
            typed(api, events(frames, Duration::ZERO, false, watch))
        }
        Step::Endless(answer) => {
            let mut frames: VecDeque<Frame> = api.frames(&answer, number).into_iter().map(Frame::Send).collect();
            // Its end is the reason and the mark.
            let begun = frames.len().saturating_sub(3);
            frames.truncate(begun);
            frames.extend([Frame::Wait, Frame::Send(String::new())]);
            typed(api, events(frames, Duration::ZERO, false, watch))
        }
        Step::Hang => {
            // Dropped, and counted, if the client disconnects.
            std::future::pending::<Infallible>().await;
            unreachable!("nothing ends the wait")
        }
        Step::Html => {
            watch.complete = true;
            let page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in</body></html>\n";
            plain(200, page.to_owned(), &[("content-type".into(), "text/html; charset=utf-8".into())])
        }
        Step::Status { code, body, headers } => {
            watch.complete = true;
            plain(code, body, &headers)
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn plain(code: u16, body: String, headers: &[(String, String)]) -> Response<Body> {
    let mut response = Response::builder().status(StatusCode::from_u16(code).expect("a status"));
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).expect("a response")
}

fn streamed(events: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static) -> Response<Body> {
    typed(Api::Chat, events)
}

fn typed(api: Api, events: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static) -> Response<Body> {
    let response = Response::builder().header("content-type", api.content_type()).header("cache-control", "no-cache");
    response.body(Body::from_stream(events)).expect("a response")
}

/// A step of a stream.
enum Frame {
    Send(String),
    /// Waits until the test continues the reply.
    Wait,
}

/// The events of a reply: the role, then the text; with `end` also the finish reason, a usage and the end mark.
fn frames(chunks: &[String], end: Option<&str>) -> VecDeque<Frame> {
    let delta = |delta: Value, reason: Value| {
        event(&json!({
            "id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1_772_366_400, "model": MODEL,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }))
    };
    let mut frames = vec![delta(json!({"role": "assistant", "content": ""}), Value::Null)];
    frames.extend(chunks.iter().map(|text| delta(json!({"content": text}), Value::Null)));
    if let Some(reason) = end {
        let usage = json!({
            "prompt_tokens": 100, "completion_tokens": chunks.len(), "total_tokens": 100 + chunks.len(),
        });
        frames.push(delta(json!({}), json!(reason)));
        frames.push(event(&json!({
            "id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1_772_366_400, "model": MODEL,
            "choices": [], "usage": usage,
        })));
        frames.push("data: [DONE]\n\n".to_owned());
    }
    frames.into_iter().map(Frame::Send).collect()
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// The frames as a body, `gap` apart. With `breaks` it ends in an error, which closes the connection.
fn events(
    frames: VecDeque<Frame>,
    gap: Duration,
    breaks: bool,
    watch: Watch,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send {
    stream::unfold((frames, watch, false), move |(mut frames, mut watch, broken)| async move {
        while let Some(frame) = frames.pop_front() {
            let Frame::Send(frame) = frame else {
                watch.script.go_on.notified().await;
                continue;
            };
            if !gap.is_zero() {
                tokio::time::sleep(gap).await;
            }
            // Complete at the last frame: a client may close as soon as it has the end mark.
            watch.complete |= frames.is_empty();
            return Some((Ok(Bytes::from(frame)), (frames, watch, broken)));
        }
        if !breaks || broken {
            return None;
        }
        // The pause lets the written data reach the client before the connection closes.
        tokio::time::sleep(Duration::from_millis(50)).await;
        Some((Err(std::io::Error::other("the script breaks the connection off")), (frames, watch, true)))
    })
}
