//! A server of embeddings on the loopback: it knows a few words, and notes what it is sent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::{PATIENCE, tiny_model};

/// How it behaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner {
    /// It takes so long for each answer.
    pub takes: Duration,
    /// It answers with this status instead, if there is one.
    pub status: Option<u16>,
    /// Its vectors have so many zeros more.
    pub extra: usize,
}

/// A server that ends with the test.
pub struct EmbeddingServer {
    address: SocketAddr,
    given: Arc<Mutex<Vec<Vec<String>>>>,
    manner: Arc<Mutex<Manner>>,
}

impl EmbeddingServer {
    /// Starts one.
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (given, manner) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Manner::default())));
        let (noted, kept) = (Arc::clone(&given), Arc::clone(&manner));
        let answer = move |_: Uri, Json(body): Json<Value>| {
            let texts: Vec<String> =
                body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
            let manner = *kept.lock().unwrap();
            let response = answered(&texts, manner);
            noted.lock().unwrap().push(texts);
            async move {
                tokio::time::sleep(manner.takes).await;
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
        Self { address, given, manner }
    }

    /// Its root.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Has it behave so from now on.
    pub fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// The texts of each request so far.
    pub fn given(&self) -> Vec<Vec<String>> {
        self.given.lock().unwrap().clone()
    }

    /// Waits for so many requests.
    pub fn wait_for(&self, requests: usize) {
        let since = Instant::now();
        while self.given.lock().unwrap().len() < requests {
            assert!(since.elapsed() < PATIENCE, "the server was asked {} times", self.given().len());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn answered(texts: &[String], manner: Manner) -> Response {
    if let Some(status) = manner.status {
        return (StatusCode::from_u16(status).unwrap(), "not today").into_response();
    }
    let vector = |text: &String| [tiny_model::vector(text), vec![0.0; manner.extra]].concat();
    let data = texts.iter().enumerate().map(|(at, text)| json!({"index": at, "embedding": vector(text)}));
    Json(json!({"data": data.collect::<Vec<_>>()})).into_response()
}
