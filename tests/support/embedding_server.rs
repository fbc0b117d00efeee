//! An embeddings server on the loopback interface. It knows a few words and records the texts that it receives.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::{WAIT_TIMEOUT, tiny_model};

/// How the server answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServerBehavior {
    /// Delay of each answer.
    pub takes: Duration,
    /// The status of an error to answer with, if any.
    pub status: Option<u16>,
    /// Number of zeros that are appended to each vector.
    pub extra: usize,
}

/// A server that ends with the test.
pub struct EmbeddingServer {
    address: SocketAddr,
    given: Arc<Mutex<Vec<Vec<String>>>>,
    behavior: Arc<Mutex<ServerBehavior>>,
}

impl EmbeddingServer {
    /// Starts the server.
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (given, behavior) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(ServerBehavior::default())));
        let (noted, kept) = (Arc::clone(&given), Arc::clone(&behavior));
        let answer = move |_: Uri, Json(body): Json<Value>| {
            let texts: Vec<String> =
                body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
            let behavior = *kept.lock().unwrap();
            let response = answered(&texts, behavior);
            noted.lock().unwrap().push(texts);
            async move {
                tokio::time::sleep(behavior.takes).await;
                response
            }
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, Router::new().fallback(any(answer))).await.unwrap();
            });
        });
        Self { address, given, behavior }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes how the server answers from now on.
    pub fn behave(&self, behavior: ServerBehavior) {
        *self.behavior.lock().unwrap() = behavior;
    }

    /// The texts of each request so far.
    pub fn given(&self) -> Vec<Vec<String>> {
        self.given.lock().unwrap().clone()
    }

    /// Waits for this number of requests.
    pub fn wait_for(&self, requests: usize) {
        let since = Instant::now();
        while self.given.lock().unwrap().len() < requests {
            assert!(since.elapsed() < WAIT_TIMEOUT, "the server was asked {} times", self.given().len());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn answered(texts: &[String], behavior: ServerBehavior) -> Response {
    if let Some(status) = behavior.status {
        return (StatusCode::from_u16(status).unwrap(), "not today").into_response();
    }
    let vector = |text: &String| [tiny_model::vector(text), vec![0.0; behavior.extra]].concat();
    let data = texts.iter().enumerate().map(|(at, text)| json!({"index": at, "embedding": vector(text)}));
    Json(json!({"data": data.collect::<Vec<_>>()})).into_response()
}
