//! Test servers on the loopback interface, well-behaved and misbehaving.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A request that was received.
pub(crate) struct Asked {
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

pub(crate) type Seen = Arc<Mutex<Vec<Asked>>>;
pub(crate) type Canned = (u16, Vec<(&'static str, &'static str)>, String);

/// An HTTP server that sends canned responses in turn and repeats the last one.
pub(crate) async fn canned(answers: Vec<Canned>) -> (String, Seen) {
    let seen: Seen = Arc::default();
    let state = (Arc::clone(&seen), Arc::new(Mutex::new(VecDeque::from(answers))));
    let answer = |State((seen, answers)): State<(Seen, Arc<Mutex<VecDeque<Canned>>>)>,
                  uri: Uri,
                  headers: HeaderMap,
                  body: String| async move {
        let body = serde_json::from_str(&body).unwrap();
        seen.lock().unwrap().push(Asked { path: uri.to_string(), headers, body });
        let mut answers = answers.lock().unwrap();
        let (status, headers, body) =
            if answers.len() > 1 { answers.pop_front().unwrap() } else { answers.front().cloned().unwrap() };
        let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
        for (name, value) in headers {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        response
    };
    let app = Router::new().fallback(answer).with_state(state);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (base, seen)
}

/// What a misbehaving server does with a connection.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Keeps the connection open until the client closes it.
    Hold,
    /// Sends the same bytes until the client closes the connection.
    Repeat(Vec<u8>),
    /// Sends the same bytes, with a pause, until the client closes the connection.
    Drip(Vec<u8>, Duration),
    /// Sends the same bytes this many times, with a pause.
    Times(Vec<u8>, usize, Duration),
}

/// A server that sends exactly these bytes on each connection in turn and closes it. Reports when a client has closed
/// a connection.
pub(crate) async fn rude(connections: Vec<Vec<Step>>) -> (String, oneshot::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let (hung_up, told) = oneshot::channel();
    tokio::spawn(async move {
        let mut hung_up = Some(hung_up);
        for steps in connections {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 64 * 1024];
            let _ = socket.read(&mut request).await;
            socket.set_nodelay(true).unwrap();
            for step in steps {
                match step {
                    Step::Send(bytes) => socket.write_all(&bytes).await.unwrap_or_default(),
                    Step::Repeat(bytes) => {
                        while socket.write_all(&bytes).await.is_ok() {}
                        hung_up.take().map(|hung_up| hung_up.send(()));
                    }
                    Step::Drip(bytes, pause) => {
                        while socket.write_all(&bytes).await.is_ok() {
                            tokio::time::sleep(pause).await;
                        }
                        hung_up.take().map(|hung_up| hung_up.send(()));
                    }
                    Step::Times(bytes, times, pause) => {
                        for _ in 0..times {
                            socket.write_all(&bytes).await.unwrap_or_default();
                            tokio::time::sleep(pause).await;
                        }
                    }
                    Step::Hold => {
                        while socket.read(&mut request).await.is_ok_and(|read| read > 0) {}
                        hung_up.take().map(|hung_up| hung_up.send(()));
                    }
                }
                // Lets the pieces be sent separately.
                tokio::task::yield_now().await;
            }
        }
    });
    (base, told)
}

pub(crate) fn head(extra: &str) -> Step {
    Step::Send(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{extra}\r\n").into_bytes())
}

pub(crate) fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

pub(crate) fn delta(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices":[{"index":0,"delta":{"content":text}}]}))
}

pub(crate) const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
pub(crate) const DONE: &str = "data: [DONE]\n\n";
