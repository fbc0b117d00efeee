//! Tests of embedders with a generated model and with servers on the loopback interface.

use super::*;
use crate::models::Api;
use crate::{EmbeddingsApi, Endpoint, LlmError, RetryPolicy};
use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

#[path = "../../../../tests/support/tiny_model.rs"]
pub(crate) mod tiny_model;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn silent(_: Duration, _: &str) {}

#[test]
fn batches_respect_both_limits_and_are_complete() {
    let texts = texts(&["aaaa", "bb", "cc", "dddddddddd", "e"]);
    let limit = BatchLimit { texts: 2, bytes: 6 };
    assert_eq!(batches(&texts, limit), [0..2, 2..3, 3..4, 4..5]);
    assert!(batches(&[], limit).is_empty());
}

#[cfg(feature = "static-embeddings")]
mod local {
    use super::*;

    #[tokio::test]
    async fn texts_of_similar_meaning_have_similar_vectors() {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path(), 0);
        let model = static_embedder("tiny", folder.path()).unwrap();
        let made = model.embed(&texts(&["Retry_it", "again !", "the door", "?"]), TextKind::Passage, &silent).await;
        assert_eq!(made.unwrap(), [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0; 4]]);
        assert_eq!(model.host(), None);
    }

    #[test]
    fn another_revision_of_a_model_has_another_identity() {
        let folder = tempfile::tempdir().unwrap();
        tiny_model::write(folder.path(), 0);
        let identity = || static_embedder("tiny", folder.path()).unwrap().identity().to_owned();
        let first = identity();
        assert_eq!(first, identity());
        let path = folder.path().join("model.safetensors");
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_ne!(first, identity());
    }

    #[test]
    fn an_invalid_model_is_reported_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let open = || static_embedder("tiny", folder.path()).err().unwrap();
        assert!(matches!(open(), EmbedError::NoModel(_)));
        for (file, bytes) in [("tokenizer.json", &b"{}"[..]), ("model.safetensors", b"\x02\0\0\0\0\0\0\0{}")] {
            tiny_model::write(folder.path(), 0);
            std::fs::write(folder.path().join(file), bytes).unwrap();
            assert!(matches!(open(), EmbedError::Unusable { path, .. } if path.ends_with(file)), "{file}");
        }
    }
}

/// A server that answers with `answer`, and the requests that it received.
async fn serve(
    answer: impl Fn(&Value) -> Response + Clone + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&sent);
    let route = move |uri: axum::http::Uri, Json(body): Json<Value>| {
        let answered = answer(&body);
        noted.lock().unwrap().push(json!({"path": uri.path(), "body": body}));
        async move { answered }
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(route))).await });
    (address, sent)
}

fn inputs(body: &Value) -> Vec<String> {
    body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A response of OpenAI, in reverse order.
fn openai(body: &Value) -> Response {
    let data = inputs(body).into_iter().enumerate();
    let data = data.map(|(at, text)| json!({"index": at, "embedding": tiny_model::vector(&text)}));
    Json(json!({"data": data.rev().collect::<Vec<_>>()})).into_response()
}

fn at(base: &str, api: EmbeddingsApi) -> RemoteEmbedder {
    let endpoint = Endpoint { key: Some("sk-canary".to_owned().into()), ..Endpoint::without_key(Api::Chat, base, "m") };
    let quick = RetryPolicy { tries: 3, first_wait: Duration::from_millis(1), max_wait: Duration::from_secs(1) };
    RemoteEmbedder::new(&endpoint, Some(api), Some(4)).unwrap().with_retry(quick)
}

#[tokio::test]
async fn each_api_has_its_requests_and_vectors_keep_the_order_of_the_texts() {
    let (base, sent) = serve(|body| match body.get("output_dimension") {
        None if body.get("truncate").is_some() => unreachable!(),
        _ => openai(body),
    })
    .await;
    let (ollama, asked) = serve(|body| {
        let vectors: Vec<_> = inputs(body).iter().map(|text| tiny_model::vector(text)).collect();
        Json(json!({"embeddings": vectors})).into_response()
    })
    .await;
    let all = texts(&["retry", "door"]);
    for embedder in [
        at(&format!("{base}/v1"), EmbeddingsApi::OpenAi),
        at(&format!("{base}/v1/"), EmbeddingsApi::Voyage),
        at(&format!("{ollama}/v1"), EmbeddingsApi::Ollama),
    ] {
        let made = embedder.embed(&all, TextKind::Query, &silent).await.unwrap();
        assert_eq!(made, [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    }
    let sent = sent.lock().unwrap().clone();
    let body = |more: Value| {
        let mut body = json!({"model": "m", "input": ["retry", "door"]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    assert_eq!(sent[0], json!({"path": "/v1/embeddings", "body": body(json!({"dimensions": 4}))}));
    let voyage = body(json!({"output_dimension": 4, "input_type": "query"}));
    assert_eq!(sent[1], json!({"path": "/v1/embeddings", "body": voyage}));
    assert_eq!(asked.lock().unwrap()[0], json!({"path": "/api/embed", "body": body(json!({"dimensions": 4}))}));
}

#[tokio::test]
async fn a_server_that_is_busy_is_waited_for_and_that_is_told() {
    let tries = Arc::new(AtomicUsize::new(0));
    let (base, _) = serve(move |body| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => (StatusCode::TOO_MANY_REQUESTS, [("retry-after-ms", "2")], "slow down").into_response(),
        1 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        _ => openai(body),
    })
    .await;
    let told = Mutex::new(Vec::new());
    let on_wait = |wait: Duration, why: &str| told.lock().unwrap().push((wait, why.to_owned()));
    at(&base, EmbeddingsApi::OpenAi).embed(&texts(&["retry"]), TextKind::Passage, &on_wait).await.unwrap();
    let told = told.into_inner().unwrap();
    assert_eq!((told.len(), told[0].0), (2, Duration::from_millis(2)));
    assert!(told[0].1.contains("slow down"), "{told:?}");
}

#[tokio::test]
async fn what_is_too_much_goes_in_halves() {
    let (base, sent) = serve(|body| {
        let inputs = inputs(body);
        if inputs.len() > 2 || inputs.iter().any(|text| text.len() > 20) {
            return (StatusCode::PAYLOAD_TOO_LARGE, "too long").into_response();
        }
        openai(body)
    })
    .await;
    let long = format!("door {}", "é".repeat(40));
    let made = at(&base, EmbeddingsApi::OpenAi)
        .embed(&texts(&["retry", "map", "again", &long]), TextKind::Passage, &silent)
        .await
        .unwrap();
    assert_eq!(made.len(), 4);
    assert_eq!((&made[1], &made[3]), (&vec![0.0, 0.0, 0.0, 1.0], &vec![0.0, 0.0, 1.0, 0.0]));
    assert!(sent.lock().unwrap().len() < 10);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_an_error_that_says_how() {
    let ask = |answer: Value| async move {
        let (base, _) = serve(move |_| Json(answer.clone()).into_response()).await;
        at(&base, EmbeddingsApi::OpenAi).embed(&texts(&["a", "b"]), TextKind::Passage, &silent).await.unwrap_err()
    };
    let vector = |at: usize, numbers: Value| json!({"index": at, "embedding": numbers});
    let one = ask(json!({"data": [vector(0, json!([1.0]))]})).await;
    assert!(matches!(one, EmbedError::Count { texts: 2, found: 1, .. }), "{one}");
    let twice = ask(json!({"data": [vector(0, json!([1.0])), vector(0, json!([1.0]))]})).await;
    assert!(matches!(twice, EmbedError::Count { texts: 2, found: 1, .. }), "{twice}");
    let uneven = ask(json!({"data": [vector(0, json!([1.0])), vector(1, json!([1.0, 2.0]))]})).await;
    assert!(matches!(uneven, EmbedError::Dims { known: 1, found: 2, .. }), "{uneven}");
    let none = ask(json!({"data": [vector(0, json!([1.0])), vector(1, json!([null]))]})).await;
    assert!(matches!(none, EmbedError::NotFinite(_)), "{none}");
    for other in
        [json!({"data": [{}, {}]}), json!({"object": "list"}), json!([]), json!({"data": [{"embedding": []}, 1]})]
    {
        let error = ask(other).await;
        assert!(matches!(error, EmbedError::Server(LlmError::NotAnApi { .. })), "{error}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_without_the_key_and_not_repeated() {
    let (base, sent) = serve(|_| (StatusCode::UNAUTHORIZED, "no access with sk-canary").into_response()).await;
    let error = at(&base, EmbeddingsApi::OpenAi).embed(&texts(&["a"]), TextKind::Passage, &silent).await.unwrap_err();
    assert!(
        matches!(error, EmbedError::Server(LlmError::Auth { .. })) && !error.to_string().contains("canary"),
        "{error}"
    );
    assert_eq!(sent.lock().unwrap().len(), 1);
}

#[test]
fn only_texts_for_another_machine_leave_this_one() {
    let host = |base| at(base, EmbeddingsApi::OpenAi).host();
    assert_eq!(host("http://127.0.0.1:9"), None);
    assert_eq!(host("https://api.example.com/v1").as_deref(), Some("api.example.com"));
    let claude = Endpoint::without_key(Api::Anthropic, "https://api.anthropic.com", "m");
    assert!(matches!(RemoteEmbedder::new(&claude, None, None), Err(EmbedError::NoEmbeddings(_))));
}

/// A hub with one model.
async fn hub(files: Vec<(&'static str, Vec<u8>)>, sha256: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let listed: Vec<Value> = files
        .iter()
        .map(|(name, bytes)| match *name {
            "model.safetensors" => {
                json!({"rfilename": name, "size": bytes.len(), "lfs": {"sha256": sha256, "size": bytes.len()}})
            }
            _ => json!({"rfilename": name, "size": bytes.len()}),
        })
        .collect();
    let said = json!({"sha": "abc123", "siblings": listed, "cardData": {"license": "mit"}});
    let mut app = Router::new().route("/api/models/maker/tiny/revision/main", get(move || async { Json(said) }));
    for (name, bytes) in files {
        let moved = format!("/elsewhere/{name}");
        let to = moved.clone();
        let resolve = format!("/maker/tiny/resolve/abc123/{name}");
        app = app
            .route(&resolve, get(move || async move { axum::response::Redirect::temporary(&to) }))
            .route(&moved, get(move || async move { bytes }));
    }
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

fn sha256(bytes: &[u8]) -> &'static str {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>().leak()
}

#[tokio::test]
async fn a_model_is_downloaded_whole_and_as_it_was_published() {
    let source = tempfile::tempdir().unwrap();
    tiny_model::write(source.path(), 0);
    let read = |name: &str| std::fs::read(source.path().join(name)).unwrap();
    let files = ["tokenizer.json", "model.safetensors", "config.json"].map(|name| (name, read(name))).to_vec();
    let hash = sha256(&files[1].1);
    let address = hub(files.clone(), hash).await;
    let model = look_up(&address, "maker/tiny").await.unwrap();
    assert_eq!((model.revision.as_str(), model.licence.as_deref()), ("abc123", Some("mit")));
    assert_eq!(model.bytes(), files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("models/tiny");
    let mut heard = 0;
    for _ in 0..2 {
        download(&model, &folder, &mut |done, _| heard = done).await.unwrap();
        assert_eq!(heard, model.bytes());
        assert_eq!(std::fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
    }
    for (name, bytes) in &files {
        assert_eq!(&std::fs::read(folder.join(name)).unwrap(), bytes, "{name}");
    }
    // A file that differs from the published one leaves the previous model in place.
    let wrong = hub(files, sha256(b"other")).await;
    let model = look_up(&wrong, "maker/tiny").await.unwrap();
    std::fs::write(folder.join("config.json"), "kept").unwrap();
    let error = download(&model, &folder, &mut |_, _| {}).await.unwrap_err();
    assert!(matches!(&error, EmbedError::Damaged(file) if file == "model.safetensors"), "{error}");
    assert_eq!(std::fs::read(folder.join("config.json")).unwrap(), b"kept");
}

#[tokio::test]
async fn what_is_no_model_is_not_downloaded() {
    let address = hub(vec![("config.json", b"{}".to_vec())], "").await;
    assert!(matches!(look_up(&address, "maker/tiny").await, Err(EmbedError::NotAModel { .. })));
    for name in ["tiny", "maker/../tiny", "../tiny", "maker/", "a/b/c", "a/.."] {
        assert!(matches!(look_up(&address, name).await, Err(EmbedError::NotAModel { .. })), "{name}");
    }
    let gone = look_up(&address, "maker/other").await.unwrap_err();
    assert!(matches!(gone, EmbedError::Server(LlmError::NotFound { .. })), "{gone}");
}
