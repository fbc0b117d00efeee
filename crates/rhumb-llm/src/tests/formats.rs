//! Tests of each wire format over HTTP: requests, complete answers, and damaged ones.

use super::*;
use serde_json::Value;

/// The content of all recorded answers.
const REASONING: &str = "step one";
const TEXT: &str = "done é🚀\nok";

const CHAT_GZIP: &[u8] = include_bytes!("streams/chat.sse.gz");

fn usage(api: Api) -> Usage {
    let all = Usage { input: 12, output: 7, cached: 4, cache_written: 0, reasoning: 3 };
    match api {
        Api::Anthropic => Usage { cache_written: 2, reasoning: 0, ..all },
        Api::Ollama => Usage { cached: 0, reasoning: 0, ..all },
        _ => all,
    }
}

fn server_for(api: Api, base: &str) -> HttpProvider {
    server_of(&endpoint(api, base, "sk-canary"))
}

fn reasoning(events: &[StreamEvent]) -> String {
    let reasoning = |event: &StreamEvent| {
        if let StreamEvent::Reasoning(text) = event { text.clone() } else { String::new() }
    };
    events.iter().map(reasoning).collect()
}

fn assert_whole(api: Api, end: Result<Completion, LlmError>, events: &[StreamEvent], what: &str) {
    let name = api.name();
    assert_eq!(end.map(|end| end.finish), Ok(Finish::Stop), "{name} {what}");
    assert_eq!((reasoning(events).as_str(), text(events).as_str()), (REASONING, TEXT), "{name} {what}");
}

#[tokio::test]
async fn each_format_has_its_requests_and_answers() {
    let wanted = [
        (Api::Chat, "/v1/chat/completions", "authorization", "Bearer sk-canary"),
        (Api::Responses, "/v1/responses", "authorization", "Bearer sk-canary"),
        (Api::Anthropic, "/v1/messages", "x-api-key", "sk-canary"),
        (Api::Gemini, "/v1/models/tiny:streamGenerateContent?alt=sse", "x-goog-api-key", "sk-canary"),
        (Api::Ollama, "/api/chat", "authorization", "Bearer sk-canary"),
    ];
    for (api, path, header, value) in wanted {
        let (base, seen) = canned(vec![ok(stream(api))]).await;
        let (end, events) = ask(&server_for(api, &base)).await;
        assert_eq!(end.clone().unwrap().usage, Some(usage(api)), "{}", api.name());
        assert_whole(api, end, &events, "as recorded");
        let asked = seen.lock().unwrap().remove(0);
        assert_eq!((asked.path.as_str(), asked.headers[header].to_str().unwrap()), (path, value));
        assert_eq!(asked.headers.contains_key("anthropic-version"), api == Api::Anthropic);
        let keys = asked.headers.values().filter(|value| value.to_str().is_ok_and(|value| value.contains("canary")));
        assert_eq!(keys.count(), 1, "{}", api.name());
    }
}

#[tokio::test]
async fn a_stream_cut_at_any_byte_is_interrupted_or_whole() {
    for api in Api::ALL {
        let whole = stream(api).as_bytes();
        let cuts = (1..=whole.len()).map(|cut| vec![head(""), Step::Send(whole[..cut].to_vec())]);
        let (base, _) = rude(cuts.collect()).await;
        let server = once(server_for(api, &base));
        let mut complete = 0;
        for cut in 1..=whole.len() {
            let (end, events) = ask(&server).await;
            match end {
                Ok(_) => {
                    complete += 1;
                    assert_whole(api, end, &events, &format!("cut at {cut}"));
                }
                Err(LlmError::Interrupted(_)) => {
                    assert_eq!(complete, 0, "{} cut at {cut}", api.name());
                    assert!(TEXT.starts_with(&text(&events)) && REASONING.starts_with(&reasoning(&events)));
                }
                Err(other) => panic!("{} cut at {cut}: {other:?}", api.name()),
            }
        }
        assert!(complete > 0, "{}", api.name());
    }
}

#[tokio::test]
async fn single_bytes_give_the_same_answer() {
    for api in Api::ALL {
        let bytes = stream(api).bytes().map(|byte| Step::Send(vec![byte]));
        let (base, _) = rude(vec![[head("")].into_iter().chain(bytes).collect()]).await;
        let (end, events) = ask(&once(server_for(api, &base))).await;
        assert_whole(api, end, &events, "byte by byte");
    }
}

#[tokio::test]
async fn line_ends_comments_and_marks_change_nothing() {
    for api in Api::ALL {
        let marked = format!("\u{feff}{}", stream(api));
        let windows = stream(api).replace('\n', "\r\n");
        let mac = stream(api).replace('\n', "\r");
        let commented = stream(api).replace("\n\n", "\n\n: keep-alive\n\n");
        let variants = if api == Api::Ollama { vec![windows] } else { vec![marked, windows, mac, commented] };
        for variant in variants {
            let (base, _) = canned(vec![ok(variant.clone())]).await;
            let (end, events) = ask(&once(server_for(api, &base))).await;
            assert_whole(api, end, &events, &variant);
        }
    }
}

#[tokio::test]
async fn a_compressed_stream_is_read() {
    let head = head("content-encoding: gzip\r\n");
    let pieces = CHAT_GZIP.chunks(10).map(|piece| Step::Send(piece.to_vec()));
    let (base, _) = rude(vec![[head].into_iter().chain(pieces).collect()]).await;
    let (end, events) = ask(&once(server(&base))).await;
    assert_whole(Api::Chat, end, &events, "compressed");
    let cut = vec![super::head("content-encoding: gzip\r\n"), Step::Send(CHAT_GZIP[..200].to_vec())];
    let (base, _) = rude(vec![cut]).await;
    assert!(matches!(ask(&once(server(&base))).await.0, Err(LlmError::Interrupted(_))));
}

#[tokio::test]
async fn a_stalled_stream_times_out_and_keeps_its_text() {
    for api in Api::ALL {
        let half = stream(api).find("🚀").unwrap();
        let (base, hung_up) = rude(vec![vec![head(""), send(&stream(api)[..half]), Step::Hold]]).await;
        let timeouts = Timeouts { connect: LONG, first_byte: LONG, idle: TINY };
        let (end, events) = ask(&server_for(api, &base).with_timeouts(timeouts)).await;
        assert_eq!(end, Err(LlmError::Idle(1)), "{}", api.name());
        assert_eq!(text(&events), "done é", "{}", api.name());
        tokio::time::timeout(LONG, hung_up).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn an_endless_stream_is_stopped() {
    let more = |api| match api {
        Api::Chat => delta(&"x".repeat(4000)),
        Api::Responses => r#"data: {"type":"response.output_text.delta","delta":"x"}"#.to_owned() + "\n\n",
        Api::Anthropic => r#"data: {"type":"content_block_delta","delta":{"text":"x"}}"#.to_owned() + "\n\n",
        Api::Gemini => r#"data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}"#.to_owned() + "\n\n",
        Api::Ollama => r#"{"message":{"content":"x"}}"#.to_owned() + "\n",
    };
    for api in Api::ALL {
        for repeated in [more(api), "data: x".to_owned()] {
            let (base, hung_up) = rude(vec![vec![head(""), Step::Repeat(repeated.into_bytes())]]).await;
            let (end, _) = ask(&once(server_for(api, &base))).await;
            assert!(matches!(end, Err(LlmError::TooMuch(_))), "{}: {end:?}", api.name());
            tokio::time::timeout(LONG, hung_up).await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn a_response_without_streaming_is_accepted_in_each_format() {
    let table = [
        (
            Api::Chat,
            json!({"object":"chat.completion","choices":[{"message":{"role":"assistant","content":TEXT,
            "reasoning_content":REASONING},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}),
        ),
        (
            Api::Responses,
            json!({"object":"response","status":"completed","error":null,"output":[
            {"type":"reasoning","summary":[{"type":"summary_text","text":REASONING}]},
            {"type":"message","content":[{"type":"output_text","text":TEXT}]}],"usage":{"input_tokens":1,"output_tokens":2}}),
        ),
        // The format of litellm for a request with streaming.
        (
            Api::Anthropic,
            json!({"id":"msg_1","type":"message","role":"assistant","model":"tiny","content":[
            {"type":"thinking","thinking":REASONING},{"type":"text","text":TEXT}],"stop_reason":"end_turn",
            "usage":{"input_tokens":1,"output_tokens":2}}),
        ),
        // The format of Google without server-sent events.
        (
            Api::Gemini,
            json!([{"candidates":[{"content":{"parts":[{"text":REASONING,"thought":true}]}}]},
            {"candidates":[{"content":{"parts":[{"text":TEXT}]},"finishReason":"STOP"}],
            "usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}]),
        ),
        (
            Api::Ollama,
            json!({"message":{"content":TEXT,"thinking":REASONING},"done":true,
            "prompt_eval_count":1,"eval_count":2}),
        ),
    ];
    for (api, body) in table {
        let (base, _) = canned(vec![ok(body.to_string())]).await;
        let (end, events) = ask(&once(server_for(api, &base))).await;
        assert_eq!(end.clone().unwrap().usage.map(|usage| (usage.input, usage.output)), Some((1, 2)));
        assert_whole(api, end, &events, "in one piece");
        let cut = body.to_string();
        let (base, _) = canned(vec![ok(&cut[..cut.len() - 1])]).await;
        let end = ask(&once(server_for(api, &base))).await.0;
        assert!(matches!(end, Err(LlmError::Interrupted(_))), "{}: {end:?}", api.name());
    }
}

#[tokio::test]
async fn reasons_of_incomplete_answers_are_reported() {
    let chat = |word: &str| (Api::Chat, format!(r#"data: {{"choices":[{{"delta":{{}},"finish_reason":"{word}"}}]}}"#));
    let anthropic = |word: &str| {
        (Api::Anthropic, format!(r#"data: {{"type":"message_delta","delta":{{"stop_reason":"{word}"}}}}"#))
    };
    let gemini = |word: &str| (Api::Gemini, format!(r#"data: {{"candidates":[{{"finishReason":"{word}"}}]}}"#));
    let ollama = |word: &str| (Api::Ollama, format!(r#"{{"done":true,"done_reason":"{word}"}}"#));
    let responses = |word: &str| {
        let response = json!({"status":"incomplete","incomplete_details":{"reason":word}});
        (Api::Responses, format!("data: {}", json!({"type":"response.incomplete","response":response})))
    };
    let blocked = (Api::Gemini, r#"data: {"promptFeedback":{"blockReason":"SAFETY"}}"#.to_owned());
    let other = |word: &str| Finish::Other(word.into());
    let table = [
        (chat("length"), Finish::Length),
        (chat("content_filter"), Finish::Filtered),
        (chat("tool_calls"), other("tool_calls")),
        (chat("stop"), Finish::Stop),
        (chat("eos_token"), Finish::Stop),
        (chat("eos"), Finish::Stop),
        (chat("end"), Finish::Stop),
        (chat("end_turn"), Finish::Stop),
        (chat("stop_sequence"), Finish::Stop),
        (chat("COMPLETE"), Finish::Stop),
        (chat("MAX_TOKENS"), Finish::Length),
        (chat("error"), other("error")),
        (chat("abort"), other("abort")),
        (chat("insufficient_system_resource"), other("insufficient_system_resource")),
        (chat("Stopped"), other("Stopped")),
        (chat("sk-canary\\u001b[2J"), other("[key] [2J")),
        (anthropic("max_tokens"), Finish::Length),
        (anthropic("refusal"), Finish::Filtered),
        (anthropic("tool_use"), other("tool_use")),
        (gemini("MAX_TOKENS"), Finish::Length),
        (gemini("RECITATION"), Finish::Filtered),
        (gemini("MALFORMED_FUNCTION_CALL"), other("MALFORMED_FUNCTION_CALL")),
        (blocked, Finish::Filtered),
        (ollama("length"), Finish::Length),
        (ollama("unload"), other("unload")),
        (responses("max_output_tokens"), Finish::Length),
        (responses("content_filter"), Finish::Filtered),
        (responses(""), other("incomplete")),
    ];
    for ((api, last), finish) in table {
        let (base, _) = canned(vec![ok(last.clone() + "\n\n")]).await;
        assert_eq!(ask(&once(server_for(api, &base))).await.0.map(|end| end.finish), Ok(finish), "{last}");
    }
}

#[tokio::test]
async fn an_end_marker_without_a_finish_reason_does_not_complete_an_answer() {
    for api in Api::ALL.into_iter().filter(|api| *api != Api::Ollama) {
        let half = stream(api).find("🚀").unwrap();
        let begin = stream(api)[..half].rfind("\n\n").unwrap() + 2;
        let (base, _) = canned(vec![ok(stream(api)[..begin].to_owned() + DONE)]).await;
        let end = ask(&once(server_for(api, &base))).await.0;
        assert!(matches!(end, Err(LlmError::Interrupted(_))), "{}: {end:?}", api.name());
    }
    let anthropic = |reason: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"delta\":{{\"text\":\"x\"}}}}\n\n\
             data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":{reason}}}}}\n\n\
             data: {{\"type\":\"message_stop\"}}\n\n"
        )
    };
    let chat = |reason: &str| {
        let last = format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":{reason}}}]}}\n\n");
        [delta("x"), last, DONE.to_owned()].concat()
    };
    let gemini = |reason: &str| {
        let parts = r#"{"parts":[{"text":"x"}]}"#;
        format!("data: {{\"candidates\":[{{\"content\":{parts},\"finishReason\":{reason}}}]}}\n\n{DONE}")
    };
    let responses = |status: &str| {
        let response = format!("{{\"status\":{status},\"output\":[]}}");
        format!("data: {{\"type\":\"response.completed\",\"response\":{response}}}\n\n{DONE}")
    };
    let ollama =
        |reason: &str| format!("{{\"message\":{{\"content\":\"x\"}},\"done\":true,\"done_reason\":{reason}}}\n");
    for reason in ["7", "true", "{}", "[\"stop\"]", "null", "\"\""] {
        let answers = [
            (Api::Anthropic, anthropic(reason)),
            (Api::Chat, chat(reason)),
            (Api::Gemini, gemini(reason)),
            (Api::Responses, responses(reason)),
            (Api::Ollama, ollama(reason)),
        ];
        for (api, answer) in answers {
            let (base, _) = canned(vec![ok(answer)]).await;
            let end = ask(&once(server_for(api, &base))).await.0;
            // Old versions of Ollama send no reason.
            if api == Api::Ollama && matches!(reason, "null" | "\"\"") {
                assert_eq!(end.map(|end| end.finish), Ok(Finish::Stop));
            } else {
                assert!(matches!(end, Err(LlmError::Interrupted(_))), "{} {reason}: {end:?}", api.name());
            }
        }
    }
}

#[tokio::test]
async fn of_several_alternatives_only_the_first_is_the_answer() {
    let piece = |api: Api, alternatives: &[(u32, &str, Option<&str>)]| {
        let alternative = |&(index, text, end): &(u32, &str, Option<&str>)| match api {
            Api::Chat => json!({"index":index,"delta":{"content":text},"finish_reason":end}),
            _ => json!({"index":index,"content":{"parts":[{"text":text}]},"finishReason":end}),
        };
        let list: Vec<Value> = alternatives.iter().map(alternative).collect();
        format!("data: {}\n\n", json!({if api == Api::Chat { "choices" } else { "candidates" }: list}))
    };
    for api in [Api::Chat, Api::Gemini] {
        let cut = [
            piece(api, &[(0, "one ", None), (1, "other ", None)]),
            piece(api, &[(1, "end", Some("STOP"))]),
            piece(api, &[(1, "x", None), (0, "two", None)]),
        ];
        let end = piece(api, &[(1, "", Some("MAX_TOKENS")), (0, "", Some("STOP"))]);
        let (base, _) = canned(vec![ok(cut.concat() + &end), ok(cut.concat())]).await;
        let server = once(server_for(api, &base));
        let (end, events) = ask(&server).await;
        assert_eq!(text(&events), "one two", "{}", api.name());
        assert_eq!(end.map(|end| end.finish), Ok(Finish::Stop), "{}", api.name());
        // The end of another alternative does not end the answer.
        let end = ask(&server).await.0;
        assert!(matches!(end, Err(LlmError::Interrupted(_))), "{}: {end:?}", api.name());
    }
}

#[tokio::test]
async fn token_counts_have_many_formats() {
    let litellm = r#"{"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
    let llama = r#"{"choices":[],"usage":{"completion_tokens":3,"prompt_tokens":7,"total_tokens":10},"timings":{"prompt_n":7}}"#;
    let azure = r#"{"choices":[],"prompt_filter_results":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
    let groq = r#"{"choices":[],"x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":3}}}"#;
    for usage in [litellm, llama, azure, groq] {
        let early = [delta("x"), STOP.to_owned(), format!("data: {usage}\n\n"), DONE.to_owned()].concat();
        let growing =
            [r#"data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}"#, "\n\n", &early].concat();
        for stream in [early, growing] {
            let (base, _) = canned(vec![ok(stream)]).await;
            let counted = ask(&server(&base)).await.0.unwrap().usage.unwrap();
            assert_eq!((counted.input, counted.output), (7, 3), "{usage}");
        }
    }
}

#[tokio::test]
async fn thinking_between_tags_is_separated_in_each_format() {
    for api in [Api::Chat, Api::Ollama] {
        let piece = |text: &str| match api {
            Api::Chat => delta(text),
            _ => format!("{}\n", json!({"message":{"content":text},"done":false})),
        };
        let end = if api == Api::Chat { STOP } else { "{\"done\":true}\n" };
        let tagged = ["<th", "ink>hm", "</thi", "nk>\n\n", "yes"].map(piece).concat();
        let (base, _) = canned(vec![ok(tagged + end)]).await;
        let (_, events) = ask(&server_for(api, &base)).await;
        assert_eq!((reasoning(&events).as_str(), text(&events).as_str()), ("hm", "yes"));
        let closed = ["hm", "\n</thi", "nk>\n\n", "yes"].map(piece).concat();
        let (base, _) = canned(vec![ok(closed + end)]).await;
        let (_, events) = ask(&server_for(api, &base)).await;
        let back = events.iter().position(|event| *event == StreamEvent::Retract).unwrap();
        assert_eq!((text(&events[..back]).as_str(), text(&events[back..]).as_str()), ("hm\n", "yes"));
    }
    // Held text is forwarded when the stream breaks off.
    let (base, _) = canned(vec![ok(delta("a <"))]).await;
    let (end, events) = ask(&once(server(&base))).await;
    assert!(matches!(end, Err(LlmError::Interrupted(_))));
    assert_eq!(text(&events), "a <");
}

#[tokio::test]
async fn additional_fields_are_merged_into_the_body() {
    let (base, seen) = canned(vec![ok(stream(Api::Ollama))]).await;
    let mut endpoint = endpoint(Api::Ollama, &base, "");
    endpoint.extra = json!({"keep_alive":"1h","options":{"num_ctx":4096}}).as_object().unwrap().clone();
    endpoint.headers.push(("X-Title".into(), "rhumb".into()));
    ask(&server_of(&endpoint)).await.0.unwrap();
    let asked = seen.lock().unwrap().remove(0);
    assert_eq!((&asked.body["keep_alive"], &asked.body["options"]["num_ctx"]), (&json!("1h"), &json!(4096)));
    assert_eq!(asked.headers["x-title"], "rhumb");
    assert!(!asked.headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_longer_context_is_kept() {
    let (base, seen) = canned(vec![ok(stream(Api::Ollama))]).await;
    let server = server_for(Api::Ollama, &base);
    for tokens in [20_000, 100] {
        let (sender, _receiver) = mpsc::channel(64);
        let request = Request { tokens, ..request() };
        server.stream(request, CancellationToken::new(), sender).await.unwrap();
    }
    let asked = seen.lock().unwrap();
    let context = |asked: &servers::Asked| asked.body["options"]["num_ctx"].as_u64();
    assert_eq!(asked.iter().map(context).collect::<Vec<_>>(), [Some(32_768), Some(32_768)]);
}

#[tokio::test]
async fn the_key_is_sent_in_the_users_key_header() {
    let table = [
        (vec![("api-key", "")], "api-key", "sk-canary"),
        (vec![("Authorization", " ")], "authorization", "Bearer sk-canary"),
        (vec![("authorization", "Basic other")], "authorization", "Basic other"),
        (vec![("x-api-key", "own-value")], "x-api-key", "own-value"),
    ];
    for (headers, name, value) in table {
        let (base, seen) = canned(vec![ok(stream(Api::Chat))]).await;
        let mut endpoint = endpoint(Api::Chat, &base, "sk-canary");
        endpoint.headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        ask(&server_of(&endpoint)).await.0.unwrap();
        let asked = seen.lock().unwrap().remove(0);
        assert_eq!(asked.headers[name], value);
        let key_headers = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];
        assert_eq!(key_headers.iter().filter(|name| asked.headers.contains_key(**name)).count(), 1, "{name}");
    }
}

#[tokio::test]
async fn repeated_whitespace_of_a_begun_answer_is_removed() {
    // The begun answer, what the model sends, and what must be appended.
    let table = [
        ("a = [\n    ", vec!["\n", "    1"], "1"),
        ("a = [\n    ", vec!["\n        1"], "    1"),
        ("a = [\n", vec!["1\n"], "1\n"),
        ("a = [\n", vec![" 1\n"], " 1\n"),
        ("a = [", vec!["\n1"], "\n1"),
    ];
    for (begun, pieces, added) in table {
        let piece = |text: &str| {
            format!("data: {}\n\n", json!({"type":"content_block_delta","delta":{"type":"text_delta","text":text}}))
        };
        let stop = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";
        let (base, seen) = canned(vec![ok(pieces.into_iter().map(piece).collect::<String>() + stop)]).await;
        let mut request = request();
        request.messages.push(Message::new(Role::Assistant, begun));
        let (sender, mut receiver) = mpsc::channel(64);
        server_for(Api::Anthropic, &base).stream(request, CancellationToken::new(), sender).await.unwrap();
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        assert_eq!(text(&events), added, "{begun:?}");
        let sent = seen.lock().unwrap()[0].body["messages"][1]["content"][0]["text"].clone();
        assert_eq!(sent, begun.trim_end());
    }
}

/// Secrets in texts that were composed elsewhere, such as summaries and commit messages.
#[tokio::test]
async fn secrets_are_masked_in_every_format_unless_disabled() {
    let key = concat!("ghp", "_Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5Gf1LsCcTeUgA");
    for api in Api::ALL {
        for send_secrets in [false, true] {
            let (base, seen) = canned(vec![(400, vec![], "no".to_owned())]).await;
            let mut endpoint = Endpoint { send_secrets, ..endpoint(api, &base, "k") };
            endpoint.extra.insert("own".into(), json!(key));
            let messages = [Role::System, Role::User, Role::Assistant, Role::User].map(|role| Message::new(role, key));
            let request = Request { messages: messages.into(), ..request() };
            let (sender, _receiver) = mpsc::channel(4);
            let _ = server_of(&endpoint).stream(request, CancellationToken::new(), sender).await;
            let body = seen.lock().unwrap().remove(0).body;
            assert_eq!(body["own"], key, "what the user wants in the body is sent");
            let expected = if send_secrets { 5 } else { 1 };
            assert_eq!(body.to_string().matches(key).count(), expected, "{} {body}", api.name());
        }
    }
}
