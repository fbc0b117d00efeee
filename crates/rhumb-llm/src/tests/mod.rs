//! Tests of [`HttpProvider`] against sockets on the loopback interface. They use the chat API for what applies to
//! all.

mod formats;
mod refusals;
mod servers;
mod tools;

use super::*;
use crate::models::Api;
use crate::{Endpoint, Message, Role};
use proptest::prelude::*;
use serde_json::json;
use servers::{Canned, DONE, STOP, Step, canned, delta, head, rude, send};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const TINY: Duration = Duration::from_millis(40);
const LONG: Duration = Duration::from_secs(30);

type Expected = fn(&LlmError) -> bool;

fn ok(body: impl Into<String>) -> Canned {
    (200, vec![("content-type", "text/event-stream")], body.into())
}

fn request() -> Request {
    let messages = vec![Message::new(Role::System, "Be brief."), Message::new(Role::User, "Hi")];
    Request { model: "tiny".into(), messages, ..Request::default() }
}

fn endpoint(api: Api, base: &str, key: &str) -> Endpoint {
    Endpoint { key: Some(key.to_owned().into()), ..Endpoint::without_key(api, base, "tiny") }
}

fn server(base: &str) -> HttpProvider {
    server_of(&endpoint(Api::Chat, base, "sk-canary"))
}

fn server_of(endpoint: &Endpoint) -> HttpProvider {
    let retry = RetryPolicy { tries: 3, first_wait: Duration::from_millis(1), max_wait: Duration::from_secs(60) };
    let timeouts = Timeouts { connect: LONG, first_byte: LONG, idle: LONG };
    HttpProvider::new(endpoint).unwrap().with_retry(retry).with_timeouts(timeouts)
}

/// A provider for this server, without retries.
fn once(server: HttpProvider) -> HttpProvider {
    server.with_retry(RetryPolicy { tries: 1, ..RetryPolicy::default() })
}

/// A recorded answer.
fn stream(api: Api) -> &'static str {
    match api {
        Api::Chat => include_str!("streams/chat.sse"),
        Api::Responses => include_str!("streams/responses.sse"),
        Api::Anthropic => include_str!("streams/anthropic.sse"),
        Api::Gemini => include_str!("streams/gemini.sse"),
        Api::Ollama => include_str!("streams/ollama.ndjson"),
    }
}

async fn ask(server: &HttpProvider) -> (Result<Completion, LlmError>, Vec<StreamEvent>) {
    ask_for(server, request()).await
}

async fn ask_for(server: &HttpProvider, request: Request) -> (Result<Completion, LlmError>, Vec<StreamEvent>) {
    let (sender, mut receiver) = mpsc::channel(4);
    let collect = async move {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        events
    };
    tokio::join!(server.stream(request, CancellationToken::new(), sender), collect)
}

fn text(events: &[StreamEvent]) -> String {
    let text = |event: &StreamEvent| {
        if let StreamEvent::Text(text) = event { text.clone() } else { String::new() }
    };
    events.iter().map(text).collect()
}

fn retries(events: &[StreamEvent]) -> usize {
    events.iter().filter(|event| matches!(event, StreamEvent::Retrying { .. })).count()
}

#[tokio::test]
async fn an_answer_streams_with_its_thinking_and_its_counts() {
    let usage = json!({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"timings":{}}});
    let thinking = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n";
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n";
    let azure = "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\ndata: {\"choices\":[{\"index\":0}]}\n\n";
    let stream = [
        ": OPENROUTER PROCESSING\n\n",
        azure,
        thinking,
        role,
        &delta("Hé"),
        &delta("llo 🚀"),
        STOP,
        &format!("data: {usage}\n\n"),
        DONE,
        DONE,
    ];
    let (base, seen) = canned(vec![ok(stream.concat())]).await;
    let (end, events) = ask(&server(&base)).await;
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    let thinking = vec![json!({"reasoning_content":"hm"})];
    assert_eq!(end, Ok(Completion { thinking, ..Completion::new(Finish::Stop, Some(usage)) }));
    assert_eq!(text(&events), "Héllo 🚀");
    assert_eq!(events[0], StreamEvent::Reasoning("hm".into()));
    assert_eq!(events.last(), Some(&StreamEvent::Usage(usage)));
    let asked = seen.lock().unwrap().remove(0);
    assert_eq!(asked.headers["authorization"], "Bearer sk-canary");
    assert_eq!(asked.body["messages"][1], json!({"role":"user","content":"Hi"}));
    assert_eq!(asked.body["stream"], true);
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_interrupted_and_never_complete() {
    let whole = [delta("é🚀"), delta("x"), STOP.to_owned()].concat().into_bytes();
    let last_word = whole.len() - STOP.len();
    for cut in (1..=whole.len()).step_by(7).chain([whole.len()]) {
        let (start, rest) = whole[..cut].split_at(cut / 2);
        let steps = vec![head(""), Step::Send(start.to_vec()), Step::Send(rest.to_vec())];
        let (base, _) = rude(vec![steps]).await;
        let server = server(&base).with_retry(RetryPolicy { tries: 1, ..RetryPolicy::default() });
        let (end, events) = ask(&server).await;
        if cut == whole.len() {
            assert_eq!(end.unwrap().finish, Finish::Stop);
        } else {
            assert!(matches!(end, Err(LlmError::Interrupted(_) | LlmError::NotAnApi { .. })), "{cut}: {end:?}");
            assert!("é🚀x".starts_with(&text(&events)));
        }
        assert!(cut < last_word || text(&events) == "é🚀x");
    }
}

#[tokio::test]
async fn a_cut_before_any_text_is_tried_again_and_one_after_is_not() {
    let whole = [delta("ok"), STOP.to_owned()].concat();
    let (base, _) = rude(vec![vec![], vec![head(""), send(&whole)]]).await;
    let (end, events) = ask(&server(&base)).await;
    assert_eq!(end.unwrap().finish, Finish::Stop);
    assert_eq!((retries(&events), text(&events).as_str()), (1, "ok"));

    let (base, _) = rude(vec![vec![head("content-length: 9999\r\n"), send(&delta("half"))]]).await;
    let (end, events) = ask(&server(&base)).await;
    assert!(matches!(end, Err(LlmError::Interrupted(_))), "{end:?}");
    assert_eq!((retries(&events), text(&events).as_str()), (0, "half"));
}

#[tokio::test]
async fn a_busy_server_is_retried_with_an_event() {
    let busy = (429, vec![("retry-after", "0")], json!({"error":{"message":"slow down"}}).to_string());
    let broken = (503, vec![], "loading".to_owned());
    let (base, seen) = canned(vec![busy, broken, ok([&delta("ok"), STOP, DONE].concat())]).await;
    let (end, events) = ask(&server(&base)).await;
    assert_eq!(end.unwrap().finish, Finish::Stop);
    assert_eq!(seen.lock().unwrap().len(), 3);
    let StreamEvent::Retrying { attempt, wait, reason } = &events[0] else { panic!("{events:?}") };
    assert_eq!((*attempt, *wait), (2, Duration::ZERO));
    assert!(reason.contains("slow down"));
    assert!(matches!(events[1], StreamEvent::Retrying { attempt: 3, .. }));
}

#[tokio::test]
async fn errors_are_classified_and_only_temporary_ones_are_retried() {
    let quota = json!({"error":{"code":"insufficient_quota","message":"pay"}}).to_string();
    let long = json!({"error":{"code":"context_length_exceeded","message":"9 > 8"}}).to_string();
    let day = (429, vec![("retry-after", "86400")], String::new());
    let table: Vec<(Canned, usize, Expected)> = vec![
        ((401, vec![], "no sk-canary here".into()), 1, |e| matches!(e, LlmError::Auth { status: 401, .. })),
        ((404, vec![], "{}".into()), 1, |e| matches!(e, LlmError::NotFound { .. })),
        ((400, vec![], long), 1, |e| matches!(e, LlmError::Overflow { .. })),
        ((429, vec![], quota), 1, |e| matches!(e, LlmError::Quota(_))),
        (day, 1, |e| matches!(e, LlmError::RateLimited { retry_after: Some(_), .. })),
        ((500, vec![], String::new()), 3, |e| matches!(e, LlmError::Server { status: 500, .. })),
        ((302, vec![("location", "http://127.0.0.1:1/steal")], String::new()), 1, |e| {
            matches!(e, LlmError::NotAnApi { .. })
        }),
        (ok("<!doctype html><title>Login</title>"), 1, |e| matches!(e, LlmError::NotAnApi { .. })),
        (ok("data: hello\n\n"), 1, |e| matches!(e, LlmError::NotAnApi { .. })),
        (ok("event: message_start\ndata: {\"type\":\"message_start\"}\n\n"), 1, |e| {
            matches!(e, LlmError::NotAnApi { .. })
        }),
        (ok("{\"choices\":[{\"mess"), 3, |e| matches!(e, LlmError::Interrupted(_))),
        (ok("Hello, world"), 1, |e| matches!(e, LlmError::NotAnApi { .. })),
        (ok(""), 3, |e| matches!(e, LlmError::Interrupted(_))),
        (ok("data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n"), 3, |e| {
            matches!(e, LlmError::Server { status: 529, .. })
        }),
    ];
    for (answer, requests, expected) in table {
        let shown = format!("{answer:?}");
        let (base, seen) = canned(vec![answer]).await;
        let error = ask(&server(&base)).await.0.unwrap_err();
        assert!(expected(&error), "{shown} gave {error:?}");
        assert_eq!(seen.lock().unwrap().len(), requests, "{shown}");
        assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
    }
}

#[tokio::test]
async fn an_error_in_mid_stream_ends_the_answer_and_one_after_the_end_does_not() {
    let error = "data: {\"error\":{\"message\":\"upstream died\"}}\n\n";
    let (base, _) = canned(vec![ok([&delta("half"), error].concat())]).await;
    let (end, events) = ask(&server(&base)).await;
    assert!(matches!(end, Err(LlmError::Server { .. })), "{end:?}");
    assert_eq!((text(&events).as_str(), retries(&events)), ("half", 0));
    let (base, _) = canned(vec![ok([&delta("all"), STOP, error].concat())]).await;
    assert_eq!(ask(&server(&base)).await.0.unwrap().finish, Finish::Stop);
}

#[tokio::test]
async fn a_response_without_streaming_is_accepted() {
    let body = json!({
        "object": "chat.completion",
        "choices": [{"message":{"role":"assistant","content":"all at once"},"finish_reason":"length"}],
        "usage": {"prompt_tokens":1,"completion_tokens":2}
    });
    let (base, _) = canned(vec![ok(format!("\n{body}"))]).await;
    let (end, events) = ask(&server(&base)).await;
    assert_eq!(end.unwrap().finish, Finish::Length);
    assert_eq!(text(&events), "all at once");
}

#[tokio::test]
async fn a_server_without_stream_options_is_remembered() {
    let complaint = (400, vec![], json!({"error":{"message":"Unknown parameter: 'stream_options'."}}).to_string());
    let (base, seen) = canned(vec![complaint, ok([&delta("ok"), STOP, DONE].concat())]).await;
    let server = server(&base);
    for _ in 0..2 {
        let (end, events) = ask(&server).await;
        assert_eq!((end.unwrap().finish, retries(&events)), (Finish::Stop, 0));
    }
    let asked: Vec<bool> =
        seen.lock().unwrap().iter().map(|asked| asked.body.get("stream_options").is_some()).collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn what_is_learned_about_a_model_does_not_apply_to_another() {
    let refused: Canned = (400, vec![], json!({"error":{"message":"Unknown field: stream_options"}}).to_string());
    let (base, seen) = canned(vec![refused, ok([&delta("ok"), STOP, DONE].concat())]).await;
    let server = server(&base);
    for model in ["tiny", "other", "tiny"] {
        ask_for(&server, Request { model: model.into(), ..request() }).await.0.unwrap();
    }
    let sent = |asked: &servers::Asked| asked.body.get("stream_options").is_some();
    assert_eq!(seen.lock().unwrap().iter().map(sent).collect::<Vec<_>>(), [true, false, true, false]);
}

#[tokio::test]
async fn cancelling_keeps_the_text_and_closes_the_connection() {
    let (base, hung_up) = rude(vec![vec![head(""), send(&delta("half")), Step::Hold]]).await;
    let server = server(&base);
    let cancel = CancellationToken::new();
    let (sender, mut receiver) = mpsc::channel(4);
    let stop = async {
        assert_eq!(receiver.recv().await, Some(StreamEvent::Text("half".into())));
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(server.stream(request(), cancel.clone(), sender), stop);
    assert_eq!(end, Err(LlmError::Cancelled));
    tokio::time::timeout(LONG, hung_up).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_reader_that_goes_away_stops_the_request() {
    let (base, hung_up) = rude(vec![vec![head(""), Step::Hold]]).await;
    let (sender, receiver) = mpsc::channel(4);
    drop(receiver);
    assert_eq!(server(&base).stream(request(), CancellationToken::new(), sender).await, Err(LlmError::Cancelled));
    drop(hung_up);
}

#[tokio::test]
async fn a_pause_before_a_retry_can_be_cancelled() {
    let (base, _) = canned(vec![(429, vec![("retry-after", "50")], String::new())]).await;
    let server = server(&base);
    let cancel = CancellationToken::new();
    let (sender, mut receiver) = mpsc::channel(4);
    let stop = async {
        assert!(matches!(receiver.recv().await, Some(StreamEvent::Retrying { .. })));
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(server.stream(request(), cancel.clone(), sender), stop);
    assert_eq!(end, Err(LlmError::Cancelled));
}

#[tokio::test]
async fn silence_and_comments_time_out() {
    let tiny = Timeouts { connect: LONG, first_byte: TINY, idle: TINY };
    let (base, _) = rude(vec![vec![Step::Hold]]).await;
    assert_eq!(ask(&server(&base).with_timeouts(tiny)).await.0, Err(LlmError::Idle(1)));
    let (base, _) = rude(vec![vec![head(""), send(&delta("half")), send(": alive\n\n"), Step::Hold]]).await;
    let (end, events) = ask(&server(&base).with_timeouts(Timeouts { first_byte: LONG, ..tiny })).await;
    assert_eq!((end, text(&events).as_str()), (Err(LlmError::Idle(1)), "half"));
    // The status of an error response is enough if its body does not end.
    let refusal = Step::Send(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 99\r\n\r\nno such key".to_vec());
    let (base, _) = rude(vec![vec![refusal, Step::Hold]]).await;
    let (end, _) = ask(&server(&base).with_timeouts(Timeouts { first_byte: LONG, ..tiny })).await;
    assert_eq!(end, Err(LlmError::Auth { status: 401, message: "no such key".into() }));
    // The model has finished. Only the end marker is missing.
    let (base, _) = rude(vec![vec![head(""), send(&[&delta("all"), STOP].concat()), Step::Hold]]).await;
    let (end, _) = ask(&server(&base).with_timeouts(Timeouts { first_byte: LONG, ..tiny })).await;
    assert_eq!(end.unwrap().finish, Finish::Stop);
}

#[tokio::test]
async fn empty_data_does_not_prevent_a_timeout() {
    let tiny = Timeouts { connect: LONG, first_byte: LONG, idle: 5 * TINY };
    let drip = |start: &str, drop: &str| vec![send(start), Step::Drip(drop.as_bytes().to_vec(), TINY)];
    let idle: Expected = |error| matches!(error, LlmError::Idle(_));
    let no_api: Expected = |error| matches!(error, LlmError::NotAnApi { snippet, .. } if snippet.starts_with("<html>"));
    let no_text = delta("");
    let thought = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"\"}}]}\n\n";
    for (start, drop, expected) in [
        ("{", " ", idle),
        ("{\"choices\":[", "\n", idle),
        // Even if every byte is content: it was complete before it was sent.
        ("{\"x\":\"", "y", idle),
        ("<html>", "x", no_api),
        (&delta("half"), &no_text, idle),
        (&delta("half"), thought, idle),
    ] {
        let (base, hung_up) = rude(vec![[vec![head("")], drip(start, drop)].concat()]).await;
        let (end, events) = ask(&server(&base).with_timeouts(tiny)).await;
        assert!(end.as_ref().is_err_and(expected), "{start}: {end:?}");
        assert_eq!(retries(&events), 0, "{start}");
        hung_up.await.unwrap();
    }
    // Thinking and text extend the deadline, however slowly they arrive.
    let thinking = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n";
    let (base, _) =
        rude(vec![vec![head(""), Step::Times(thinking.into(), 12, TINY), send(&[&delta("all"), STOP].concat())]]).await;
    let (end, events) = ask(&server(&base).with_timeouts(tiny)).await;
    assert_eq!((end.map(|end| end.finish), text(&events).as_str()), (Ok(Finish::Stop), "all"));
}

#[tokio::test]
async fn split_surrogate_pairs_are_joined_and_unpaired_ones_replaced() {
    let piece = |escaped: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{escaped}\"}}}}]}}\n\n");
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n";
    for (pieces, expected) in [
        (vec![piece("a\\ud83d"), piece("\\ude00b")], "a😀b"),
        (vec![piece("a\\ud83d"), usage.to_owned(), piece("\\ude00b")], "a😀b"),
        (vec![piece("\\ud83d"), piece("\\ude00\\ud83d"), piece("\\ude01")], "😀😁"),
        (vec![piece("a\\ud83d"), piece("b")], "a\u{fffd}b"),
        (vec![piece("a\\ud83d"), piece("b\\ude00c")], "a\u{fffd}b\u{fffd}c"),
        (vec![piece("a"), piece("\\ude00b")], "a\u{fffd}b"),
        (vec![piece("a\\ud83d")], "a\u{fffd}"),
    ] {
        let (base, _) = canned(vec![ok([&pieces.concat(), STOP].concat())]).await;
        let (end, events) = ask(&server(&base)).await;
        assert_eq!((end.map(|end| end.finish), text(&events).as_str()), (Ok(Finish::Stop), expected), "{pieces:?}");
    }
    let whole = r#"{"choices":[{"message":{"content":"a\ud83db"},"finish_reason":"stop"}]}"#;
    let (base, _) = canned(vec![ok(whole)]).await;
    assert_eq!(text(&ask(&server(&base)).await.1), "a\u{fffd}b");
}

#[tokio::test]
async fn a_huge_answer_in_one_piece_is_refused_once() {
    let body = json!({"choices":[{"message":{"content":"x".repeat(300 * 1024)},"finish_reason":"stop"}]});
    let (base, seen) = canned(vec![ok(body.to_string())]).await;
    let end = ask(&server(&base)).await.0;
    assert!(matches!(end, Err(LlmError::TooMuch(_))), "{end:?}");
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_overlong_answer_is_stopped_and_its_text_is_kept() {
    let piece = delta(&"x".repeat(1024));
    let (base, seen) = canned(vec![ok([&piece.repeat(600), STOP].concat())]).await;
    let (end, events) = ask(&server(&base)).await;
    assert_eq!(end, Err(LlmError::TooMuch(512 * 1024)));
    assert_eq!((text(&events).len(), seen.lock().unwrap().len()), (512 * 1024, 1));
}

#[tokio::test]
async fn a_tls_server_asked_in_plain_http_is_reported_with_a_hint() {
    let alert = Step::Send(b"\x15\x03\x01\x00\x02\x02\x46".to_vec());
    let (base, _) = rude(vec![vec![alert]]).await;
    let Err(LlmError::NotAnApi { snippet, .. }) = ask(&server(&base)).await.0 else { panic!("it was asked again") };
    assert!(snippet.contains("https://"), "{snippet}");
    let (base, _) = rude(vec![vec![]]).await;
    let Err(LlmError::Interrupted(cause)) = ask(&once(server(&base))).await.0 else { panic!("no answer came") };
    assert!(cause.contains("https://"), "{cause}");
    let (base, _) = canned(vec![(204, vec![], String::new())]).await;
    let end = ask(&server(&base)).await.0;
    assert!(matches!(&end, Err(LlmError::NotAnApi { snippet, .. }) if snippet.contains("204")), "{end:?}");
}

#[tokio::test]
async fn a_closed_port_and_an_invalid_key_are_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let address = listener_address(&base);
    let nothing_listens = Err(LlmError::NothingListens(address));
    let (end, events) = ask(&server(&base)).await;
    // A local server that is not running will not start during retries.
    assert_eq!((&end, retries(&events)), (&nothing_listens, 0));
    // An https address, which uses the certificates of the system, and the model list give the same error.
    let secure = server(&base.replace("http:", "https:"));
    assert_eq!(ask(&secure).await.0, nothing_listens);
    assert_eq!(server(&base).models().await.map(|_| ()), nothing_listens.map(|_| ()));
    let broken = HttpProvider::new(&endpoint(Api::Chat, &base, "sk\ncanary")).unwrap();
    assert_eq!(ask(&broken).await.0, Err(LlmError::UnusableKey));
}

fn listener_address(base: &str) -> String {
    base.trim_start_matches("http://").trim_end_matches("/v1").to_owned()
}

#[tokio::test]
async fn without_the_key_that_a_provider_needs_nothing_is_sent() {
    let (base, seen) = canned(vec![(200, vec![], String::new())]).await;
    let endpoint = Endpoint {
        provider: "anthropic".into(),
        missing_key: Some("ANTHROPIC_API_KEY is not set".into()),
        ..Endpoint::without_key(Api::Anthropic, &base, "tiny")
    };
    let (end, events) = ask(&server_of(&endpoint)).await;
    let Err(error @ LlmError::MissingKey { .. }) = end else { panic!("{end:?}") };
    assert_eq!(error.to_string(), "there is no key for anthropic, so nothing was sent: ANTHROPIC_API_KEY is not set");
    assert!(server_of(&endpoint).models().await.is_err() && server_of(&endpoint).ready() == Err(error));
    assert_eq!((seen.lock().unwrap().len(), retries(&events)), (0, 0));
}

#[test]
fn an_unencrypted_key_is_detected() {
    let with_key = |base: &str| server(base).sends_key_in_clear();
    assert!(with_key("http://example.com/v1"));
    assert!(!with_key("https://example.com/v1") && !with_key("http://localhost:1/v1") && !with_key("http://[::1]/v1"));
    assert!(!server_of(&endpoint(Api::Chat, "http://example.com/v1", " ")).sends_key_in_clear());
}

#[test]
fn debug_shows_no_key() {
    let mut endpoint = endpoint(Api::Chat, "http://u:canary@h/v1?key=canary", "sk-canary");
    endpoint.headers.push(("x-token".into(), "canary-token".into()));
    assert!(!format!("{:?}", server_of(&endpoint)).contains("canary"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_text_is_the_same_however_the_network_cuts_it(
        words in proptest::collection::vec("(\\PC|🚀|é|\n){0,6}", 1..5),
        size in 1usize..40,
    ) {
        let stream = [words.iter().map(|word| delta(word)).collect::<String>(), STOP.to_owned(), DONE.to_owned()].concat();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (end, events) = runtime.block_on(async {
            let mut steps = vec![head("")];
            steps.extend(stream.as_bytes().chunks(size).map(|piece| Step::Send(piece.to_vec())));
            let (base, _) = rude(vec![steps]).await;
            ask(&server(&base)).await
        });
        prop_assert_eq!(end.map(|end| end.finish), Ok(Finish::Stop));
        prop_assert_eq!(text(&events), words.concat());
    }
}

/// A server that does not support TLS, and counts connections.
async fn insecure(answer: &'static [u8]) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let came = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&came);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket.write_all(answer).await;
        }
    });
    (base, came)
}

#[tokio::test]
async fn a_server_without_tls_is_reported_without_retries() {
    // Plain HTTP, and a TLS alert: the handshake fails.
    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[21, 3, 3, 0, 2, 2, 40]] {
        let (base, came) = insecure(answer).await;
        let (end, events) = ask(&server(&base)).await;
        let Err(error @ LlmError::Insecure { .. }) = end else { panic!("{end:?}") };
        assert!(error.to_string().contains(&base) && error.hint().contains("http://"), "{error}");
        assert!(!format!("{error:?} {events:?}").contains("canary"));
        // There is no retry.
        assert_eq!((came.load(std::sync::atomic::Ordering::SeqCst), retries(&events)), (1, 0));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_handshake_is_tried_again() {
    let (base, came) = insecure(b"").await;
    let (end, events) = ask(&server(&base)).await;
    assert!(matches!(end, Err(LlmError::Connect { .. })), "{end:?}");
    assert_eq!((came.load(std::sync::atomic::Ordering::SeqCst), retries(&events)), (3, 2));
}

#[tokio::test]
async fn an_unknown_host_is_reported() {
    // Names under `.invalid` never exist.
    let end = ask(&once(server("http://nowhere.invalid/v1"))).await.0;
    let Err(LlmError::Connect { url, cause }) = end else { panic!("{end:?}") };
    assert!(url.starts_with("http://nowhere.invalid/v1") && !cause.is_empty(), "{url} {cause}");
}

#[tokio::test]
async fn proxy_authentication_is_distinguished_from_server_authentication() {
    for api in Api::ALL {
        let (base, seen) = canned(vec![(407, vec![("proxy-authenticate", "Basic")], "who are you".into())]).await;
        let (end, events) = ask(&server_of(&endpoint(api, &base, "sk-canary"))).await;
        let Err(error @ LlmError::Proxy(_)) = end else { panic!("{}: {end:?}", api.name()) };
        assert!(error.to_string().contains("who are you") && error.hint().contains("HTTPS_PROXY"), "{error}");
        assert_eq!((seen.lock().unwrap().len(), retries(&events)), (1, 0));
    }
}

#[tokio::test]
async fn incomplete_events_do_not_prevent_a_timeout() {
    for api in Api::ALL {
        let half = stream(api).find("🚀").unwrap();
        // Bytes keep arriving, but never a complete event.
        let drip = Step::Drip(b"x".to_vec(), TINY / 20);
        let (base, hung_up) = rude(vec![vec![head(""), send(&stream(api)[..half]), drip]]).await;
        let timeouts = Timeouts { connect: LONG, first_byte: LONG, idle: TINY };
        let (end, events) = ask(&server_of(&endpoint(api, &base, "")).with_timeouts(timeouts)).await;
        assert_eq!(end, Err(LlmError::Idle(1)), "{}", api.name());
        assert_eq!(text(&events), "done é", "{}", api.name());
        tokio::time::timeout(LONG, hung_up).await.unwrap().unwrap();
    }
}
