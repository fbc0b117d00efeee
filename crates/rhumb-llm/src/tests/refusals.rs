//! Tests of error responses of each wire format over HTTP.

use super::*;

fn json_answer(status: u16, body: impl Into<String>) -> Canned {
    (status, vec![("content-type", "application/json")], body.into())
}

async fn failed(api: Api, answer: Canned) -> (LlmError, usize) {
    let (base, seen) = canned(vec![answer]).await;
    let mut endpoint = endpoint(api, &base, "sk-canary");
    endpoint.headers.push(("x-token".into(), "canary-token".into()));
    let server = server_of(&endpoint);
    let (end, events) = ask(&server).await;
    let error = end.unwrap_err();
    assert!(!format!("{error} {error:?} {events:?} {server:?}").contains("canary"), "{error:?} {events:?}");
    let requests = seen.lock().unwrap().len();
    (error, requests)
}

/// An error body in the format of the API.
fn body(api: Api, status: u16, kind: &str, message: &str) -> String {
    match api {
        Api::Chat | Api::Responses => json!({"error":{"message":message,"type":kind,"param":null,"code":null}}),
        Api::Anthropic => json!({"type":"error","error":{"type":kind,"message":message},"request_id":"req_1"}),
        Api::Gemini => json!({"error":{"code":status,"message":message,"status":kind.to_uppercase()}}),
        Api::Ollama => json!({"error":message}),
    }
    .to_string()
}

#[tokio::test]
async fn each_status_means_the_same_in_each_format() {
    let table: [(u16, &str, usize, Expected); 9] = [
        (400, "invalid_request_error", 1, |e| matches!(e, LlmError::BadRequest { status: 400, .. })),
        (401, "authentication_error", 1, |e| matches!(e, LlmError::Auth { status: 401, .. })),
        (402, "billing_error", 1, |e| matches!(e, LlmError::Quota(_))),
        (403, "permission_error", 1, |e| matches!(e, LlmError::Auth { status: 403, .. })),
        (404, "not_found_error", 1, |e| matches!(e, LlmError::NotFound { .. })),
        (413, "request_too_large", 1, |e| matches!(e, LlmError::Overflow { .. })),
        (429, "rate_limit_error", 3, |e| matches!(e, LlmError::RateLimited { retry_after: None, .. })),
        (500, "api_error", 3, |e| matches!(e, LlmError::Server { status: 500, .. })),
        (529, "overloaded_error", 3, |e| matches!(e, LlmError::Server { status: 529, .. })),
    ];
    for api in Api::ALL {
        for (status, kind, requests, expected) in table {
            let message = "no: sk-canary and canary-token \u{1b}[2J";
            let (error, asked) = failed(api, json_answer(status, body(api, status, kind, message))).await;
            assert!(expected(&error) && asked == requests, "{} {status}: {error:?} after {asked}", api.name());
            assert!(error.to_string().contains("no: [key] and [key] [2J"), "{error}");
        }
        let mut soon = json_answer(429, body(api, 429, "rate_limit_error", "slow down"));
        soon.1.push(("retry-after", "0"));
        assert_eq!(failed(api, soon).await.1, 3, "{}", api.name());
        let mut later = json_answer(429, body(api, 429, "rate_limit_error", "slow down"));
        later.1.push(("retry-after", "3600"));
        let (error, asked) = failed(api, later).await;
        assert!(matches!(error, LlmError::RateLimited { retry_after: Some(_), .. }) && asked == 1, "{error:?}");
    }
}

#[tokio::test]
async fn a_requested_pause_that_is_too_long_ends_the_request() {
    let table = [
        ("1e30", "more than a year"),
        ("99999999999999999999", "more than a year"),
        ("18446744073709551615", "more than a year"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "more than a year"),
        ("200000", "3 days"),
        ("86400", "24 h"),
        ("90.5", "91 s"),
        ("600", "10 min"),
    ];
    for (wait, told) in table {
        for (status, failed_with) in [(429, "rate limited by the server"), (503, "the server failed (status 503)")] {
            let mut answer = json_answer(status, body(Api::Chat, status, "busy", "slow down"));
            answer.1.push(("retry-after", wait));
            let (error, asked) = failed(Api::Chat, answer).await;
            assert_eq!(asked, 1, "{wait}");
            assert_eq!(error.to_string(), format!("{failed_with}; it requests a pause of {told}: slow down"));
            assert!(error.hint().contains("when that time is over"), "{}", error.hint());
        }
    }
}

#[tokio::test]
async fn an_overlong_request_is_reported_with_its_numbers() {
    let table = [
        (
            Api::Chat,
            400,
            json!({"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}),
            Some(10_000),
            Some(8192),
        ),
        (
            Api::Chat,
            400,
            json!({"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}),
            Some(9000),
            Some(4096),
        ),
        (
            Api::Chat,
            400,
            json!({"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.","type":"BadRequestError","code":400}),
            Some(5000),
            Some(4096),
        ),
        (
            Api::Chat,
            400,
            json!({"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}"}}}),
            Some(210_000),
            Some(200_000),
        ),
        (
            Api::Chat,
            413,
            json!({"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000","type":"tokens","code":"rate_limit_exceeded"}}),
            Some(7000),
            Some(6000),
        ),
        (
            Api::Responses,
            400,
            json!({"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}),
            None,
            None,
        ),
        (
            Api::Anthropic,
            400,
            json!({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}),
            Some(210_000),
            Some(200_000),
        ),
        (
            Api::Anthropic,
            400,
            json!({"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` and try again"}}),
            Some(211_333),
            Some(200_000),
        ),
        (
            Api::Anthropic,
            413,
            json!({"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}),
            None,
            None,
        ),
        (
            Api::Gemini,
            400,
            json!({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (1234567) exceeds the maximum number of tokens allowed (1048576)."}}),
            Some(1_234_567),
            Some(1_048_576),
        ),
        (Api::Ollama, 400, json!({"error":"the input length exceeds the context length"}), None, None),
    ];
    for (api, status, body, sent, limit) in table {
        let (error, asked) = failed(api, json_answer(status, body.to_string())).await;
        let LlmError::Overflow { sent: told, limit: allowed, .. } = error else { panic!("{body}: {error:?}") };
        assert_eq!((told, allowed, asked), (sent, limit, 1), "{body}");
    }
}

#[tokio::test]
async fn errors_inside_a_stream_are_reported_before_and_after_text() {
    let events = |value: serde_json::Value| format!("data: {value}\n\n");
    let overloaded: Expected = |e| matches!(e, LlmError::Server { status: 529, .. });
    let server: Expected = |e| matches!(e, LlmError::Server { .. });
    let limited: Expected = |e| matches!(e, LlmError::RateLimited { .. });
    let bad: Expected = |e| matches!(e, LlmError::BadRequest { .. });
    let text = |api| match api {
        Api::Chat => delta("half"),
        Api::Responses => events(json!({"type":"response.output_text.delta","delta":"half"})),
        Api::Anthropic => events(json!({"type":"content_block_delta","delta":{"type":"text_delta","text":"half"}})),
        Api::Gemini => events(json!({"candidates":[{"content":{"parts":[{"text":"half"}]}}]})),
        Api::Ollama => format!("{}\n", json!({"message":{"content":"half"},"done":false})),
    };
    let table = [
        (Api::Chat, events(json!({"error":{"message":"upstream died","type":"server_error","code":null}})), server),
        // The formats of vLLM, and of litellm after an interrupted stream.
        (Api::Chat, events(json!({"object":"error","message":"boom","type":"BadRequestError","code":400})), bad),
        (
            Api::Chat,
            events(json!({"error":{"message":"litellm.APIError: cut","type":null,"param":null,"code":"500"}})) + DONE,
            server,
        ),
        (
            Api::Responses,
            format!(
                "event: error\n{}",
                events(json!({"type":"error","code":"server_error","message":"x","param":null}))
            ),
            server,
        ),
        (
            Api::Responses,
            events(
                json!({"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"x"}}}),
            ),
            limited,
        ),
        (
            Api::Anthropic,
            format!(
                "event: error\n{}",
                events(json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}))
            ),
            overloaded,
        ),
        (Api::Gemini, events(json!({"error":{"code":503,"status":"UNAVAILABLE","message":"busy"}})), server),
        (Api::Ollama, "{\"error\":\"model runner has stopped\"}\n".to_owned(), server),
    ];
    for (api, error, expected) in table {
        let (found, asked) = failed(api, ok(error.clone())).await;
        assert!(
            expected(&found) && asked == if matches!(found, LlmError::BadRequest { .. }) { 1 } else { 3 },
            "{error} {found:?} {asked}"
        );
        let (found, asked) = failed(api, ok(text(api) + &error)).await;
        assert!(expected(&found) && asked == 1, "{error} {found:?} {asked}");
    }
}

#[tokio::test]
async fn an_unexpected_response_is_quoted() {
    for api in Api::ALL {
        for page in [
            "<!doctype html><title>Log in, sk-canary</title>",
            "Hello, sk-canary",
            "{\"hello\":1}",
            "[]",
            "data: no\n\n",
        ] {
            let (error, asked) = failed(api, ok(page)).await;
            assert!(matches!(error, LlmError::NotAnApi { .. }) && asked == 1, "{} {page}: {error:?}", api.name());
        }
        let (error, asked) = failed(api, (502, vec![("content-type", "text/html")], "<html>bad gateway".into())).await;
        assert!(matches!(error, LlmError::Server { status: 502, .. }) && asked == 3, "{error:?}");
    }
}

#[tokio::test]
async fn a_broken_piece_in_the_middle_is_an_interruption() {
    let (base, _) = canned(vec![ok([&delta("half"), "data: {\"choices\":[{\"del\n\n", STOP].concat())]).await;
    let (end, events) = ask(&server(&base)).await;
    assert!(matches!(end, Err(LlmError::Interrupted(_))), "{end:?}");
    assert_eq!(text(&events), "half");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    for api in Api::ALL {
        for status in [301, 302, 303, 307, 308] {
            let (elsewhere, seen) = canned(vec![ok("")]).await;
            let (base, _) = canned(vec![(status, vec![], String::new())]).await;
            let location =
                format!("HTTP/1.1 {status} Moved\r\nlocation: {elsewhere}/steal\r\ncontent-length: 0\r\n\r\n");
            drop(base);
            let (base, _) = rude(vec![vec![send(&location)]]).await;
            let end = ask(&server_of(&endpoint(api, &base, "sk-canary"))).await.0;
            assert!(matches!(end, Err(LlmError::NotAnApi { .. })), "{end:?}");
            assert!(seen.lock().unwrap().is_empty(), "{} {status}", api.name());
        }
    }
}

#[tokio::test]
async fn quirks_are_learned_in_each_format() {
    let asked_twice = |api: Api, complaint: &'static str, request: Request| async move {
        let (base, seen) =
            canned(vec![json_answer(400, body(api, 400, "invalid_request_error", complaint)), ok(stream(api))]).await;
        let (sender, mut receiver) = mpsc::channel(64);
        let server = server_of(&endpoint(api, &base, "k"));
        server.stream(request, CancellationToken::new(), sender).await.unwrap();
        while let Some(event) = receiver.recv().await {
            assert!(!matches!(event, StreamEvent::Retrying { .. }));
        }
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        assert_eq!(seen.len(), 2);
        seen.into_iter().next_back().unwrap().body
    };
    let full = || Request {
        temperature: Some(0.0),
        thinking: Some(Thinking::Effort("low".into())),
        max_output_tokens: Some(99_999),
        ..request()
    };
    let chat = asked_twice(Api::Chat, "System role not supported", full()).await;
    assert_eq!(chat["messages"], json!([{"role":"user","content":"Be brief.\n\nHi"}]));
    let responses = asked_twice(Api::Responses, "Unsupported parameter: 'temperature'", full()).await;
    assert!(responses.get("temperature").is_none());
    let anthropic = asked_twice(
        Api::Anthropic,
        "max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens",
        full(),
    )
    .await;
    assert_eq!(anthropic["max_tokens"], 8192);
    let gemini = asked_twice(Api::Gemini, "Thinking is not enabled for models/tiny", full()).await;
    assert!(gemini["generationConfig"].get("thinkingConfig").is_none());
    let ollama = asked_twice(Api::Ollama, "\"tiny\" does not support thinking", full()).await;
    assert!(ollama.get("think").is_none());
}

#[tokio::test]
async fn an_unexpected_response_is_quoted_alike_however_it_is_cut() {
    for pieces in [&["{\"a\":1}"][..], &["{", "\"a\"", ":1}"]] {
        let chunk = |piece: &&str| send(&format!("{:x}\r\n{piece}\r\n", piece.len()));
        let start = head("transfer-encoding: chunked\r\n");
        let steps = std::iter::once(start).chain(pieces.iter().map(chunk)).chain([send("0\r\n\r\n")]).collect();
        let (base, _) = rude(vec![steps]).await;
        let Err(LlmError::NotAnApi { snippet, .. }) = ask(&server(&base)).await.0 else { panic!("{pieces:?}") };
        assert_eq!(snippet, "{\"a\":1}");
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_may_be_cut_within_its_byte_order_mark() {
    let answer = json!([{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}]).to_string();
    let chunk = |piece: &[u8]| Step::Send([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
    let start = head("transfer-encoding: chunked\r\n");
    let pieces = [start, chunk(b"\xef"), chunk(b"\xbb\xbf"), chunk(answer.as_bytes()), send("0\r\n\r\n")];
    let (base, _) = rude(vec![pieces.into()]).await;
    let (end, events) = ask(&server(&base)).await;
    assert_eq!((end.map(|end| end.finish), text(&events).as_str()), (Ok(Finish::Stop), "ok"));
}
