//! A language model on the loopback: an HTTP server that speaks the chat completions protocol from a script.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::{get, post};
use futures::stream::{self, Stream};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use super::PATIENCE;

/// The one model that the server offers.
pub const MODEL: &str = "test-model";

/// What the server does with one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Streams the chunks, `gap_ms` apart, with a usage and the end mark after them.
    Reply { chunks: Vec<String>, gap_ms: u64 },
    /// Answers with a status, a body and headers of its own.
    Status { code: u16, body: String, headers: Vec<(String, String)> },
    /// Streams the chunks and then breaks the connection off, without any end.
    Drop { chunks: Vec<String> },
    /// Streams `before`, waits for [`ModelServer::go_on`], and then streams `after` and a proper end.
    Held { before: Vec<String>, after: Vec<String> },
    /// Streams the chunks and ends for another reason than that the model was done, such as `length`.
    Cut { chunks: Vec<String>, reason: String },
    /// Takes the request and never answers.
    Hang,
    /// Answers with a web page, as a proxy or a wrong address would.
    Html,
}

impl Step {
    /// A reply in pieces of a few characters, without pauses.
    pub fn reply(text: &str) -> Self {
        Self::Reply { chunks: pieces(text), gap_ms: 0 }
    }

    /// A reply in pieces that stops after the first `mark` until the test lets it go on.
    ///
    /// # Panics
    /// When the text does not hold the mark.
    pub fn held_after(text: &str, mark: &str) -> Self {
        let at = text.find(mark).expect("the mark in the reply") + mark.len();
        let (before, after) = text.split_at(at);
        Self::Held { before: pieces(before), after: pieces(after) }
    }

    /// An error in the form of the protocol.
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

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    /// `Null` when it was not JSON.
    pub body: Value,
}

impl Request {
    /// The content of the last message, empty where it is no text.
    pub fn last_message(&self) -> &str {
        let messages = self.body["messages"].as_array();
        messages.and_then(|messages| messages.last()).and_then(|last| last["content"].as_str()).unwrap_or("")
    }
}

/// A server that plays a script, one step for each request; it ends when this is dropped.
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
    /// Starts a server on a free port of the loopback. A request past the end of `steps` is answered with status 500.
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

    /// The address to set as the provider's, without a slash at its end.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The server's socket address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The chat requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.script.lock().requests.clone()
    }

    /// Waits until `count` chat requests have come in, and gives them.
    #[track_caller]
    pub fn wait_for_requests(&self, count: usize) -> Vec<Request> {
        let state = self.script.wait(|played| played.requests.len() >= count);
        assert!(state.requests.len() >= count, "{count} requests expected, {} came", state.requests.len());
        state.requests.clone()
    }

    /// Whether a client went away before its answer was complete.
    pub fn cancelled(&self) -> bool {
        self.script.lock().cancelled > 0
    }

    /// Waits until a client has gone away before its answer was complete.
    #[track_caller]
    pub fn wait_cancelled(&self) {
        assert!(self.script.wait(|played| played.cancelled > 0).cancelled > 0, "no client went away");
    }

    /// Lets a held reply go on to its end.
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
        // A thread that is gone already has nothing to stop.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Script {
    fn lock(&self) -> MutexGuard<'_, Played> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state once `holds` is true of it, or when patience is at its end.
    fn wait(&self, holds: impl Fn(&Played) -> bool) -> MutexGuard<'_, Played> {
        let waited = self.changed.wait_timeout_while(self.lock(), PATIENCE, |played| !holds(played));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Records a request and takes the step that answers it.
    fn next(&self, request: Request) -> Option<Step> {
        let mut played = self.lock();
        played.requests.push(request);
        self.changed.notify_all();
        played.steps.pop_front()
    }
}

/// Counts a client as gone when it is dropped before the answer is complete.
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
        let routes =
            Router::new().route("/v1/chat/completions", post(chat)).route("/v1/models", get(models)).with_state(script);
        tokio::select! {
            served = async { axum::serve(listener, routes).await } => served.expect("serve"),
            _ = stopped => {}
        }
    });
}

async fn models() -> axum::Json<Value> {
    axum::Json(json!({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "tests"}]}))
}

async fn chat(State(script): State<Arc<Script>>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), lossy(value.as_bytes()))).collect();
    let request = Request { headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) };
    let step = script.next(request).unwrap_or_else(|| Step::error(500, "the test's script is at its end"));
    let mut watch = Watch { script, complete: false };
    match step {
        Step::Reply { chunks, gap_ms } => {
            let gap = Duration::from_millis(gap_ms);
            streamed(events(frames(&chunks, Some("stop")), gap, false, watch))
        }
        Step::Drop { chunks } => streamed(events(frames(&chunks, None), Duration::ZERO, true, watch)),
        Step::Cut { chunks, reason } => streamed(events(frames(&chunks, Some(&reason)), Duration::ZERO, false, watch)),
        Step::Held { before, after } => {
            let mut all = frames(&[before.clone(), after].concat(), Some("stop"));
            // The first frame is the role.
            all.insert(1 + before.len(), Frame::Wait);
            streamed(events(all, Duration::ZERO, false, watch))
        }
        Step::Hang => {
            // Dropped, and counted, when the client goes.
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
    let response = Response::builder().header("content-type", "text/event-stream").header("cache-control", "no-cache");
    response.body(Body::from_stream(events)).expect("a response")
}

/// One thing to do in a stream.
enum Frame {
    Send(String),
    /// Until the test lets the reply go on.
    Wait,
}

/// The events of a reply: the role first, then the text; at an end also the reason, a usage and the end mark.
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

/// The frames as a body, `gap` apart; one that `breaks` ends in an error, which closes the connection on the spot.
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
            // Done with the last frame: a client may close as soon as it has the end mark.
            watch.complete |= frames.is_empty();
            return Some((Ok(Bytes::from(frame)), (frames, watch, broken)));
        }
        if !breaks || broken {
            return None;
        }
        // A pause lets what was written reach the client before the connection goes.
        tokio::time::sleep(Duration::from_millis(50)).await;
        Some((Err(std::io::Error::other("the script breaks the connection off")), (frames, watch, true)))
    })
}
