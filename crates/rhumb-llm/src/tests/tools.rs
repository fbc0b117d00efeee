//! Tests of tool calls in each wire format: requests, answers, and servers that deviate or fail.

use super::*;
use crate::{Tool, ToolCall, ToolResult};
use serde_json::Value;

fn tool(name: &str) -> Tool {
    let parameters = json!({"type":"object","properties":{"path":{"type":"string"}},"required":["path"],
        "additionalProperties":false});
    Tool { name: name.into(), description: format!("Does {name}."), parameters, built_in: false }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    let [id, name, arguments] = [id, name, arguments].map(str::to_owned);
    ToolCall { id, name, arguments, ..ToolCall::default() }
}

fn result(id: &str, name: &str, content: &str) -> ToolResult {
    let [id, name, content] = [id, name, content].map(str::to_owned);
    ToolResult { id, name, content, ..ToolResult::default() }
}

/// A request with tools and no calls yet.
fn offering() -> Request {
    Request { tools: vec![tool("read_file"), tool("grep")], ..request() }
}

/// A conversation with two parallel calls, of which the second has invalid arguments and fails.
fn conversation() -> Request {
    let mut request = offering();
    let mut answer = Message::new(Role::Assistant, "I look.");
    answer.tool_calls = vec![call("a1", "read_file", r#"{"path":"é"}"#), call("b2", "grep", "{\"pat")];
    let mut results = Message::new(Role::User, "");
    let failed = ToolResult { is_error: true, ..result("b2", "grep", "invalid arguments") };
    results.tool_results = vec![result("a1", "read_file", "fn main() {}"), failed];
    request.messages.extend([answer, results]);
    request
}

/// The body that is sent for a request.
async fn body_of(api: Api, request: Request) -> Value {
    let (base, seen) = canned(vec![ok(stream(api))]).await;
    ask_for(&once(server_of(&endpoint(api, &base, "k"))), request).await.0.unwrap();
    seen.lock().unwrap().remove(0).body
}

/// Asks with tools. Returns the end and the events.
async fn answered(api: Api, answer: &str) -> (Result<Completion, LlmError>, Vec<StreamEvent>) {
    let (base, _) = canned(vec![ok(answer)]).await;
    ask_for(&once(server_of(&endpoint(api, &base, "k"))), offering()).await
}

fn calls_of(end: &Result<Completion, LlmError>) -> Vec<[&str; 3]> {
    let calls = &end.as_ref().unwrap().tool_calls;
    calls.iter().map(|call| [call.id.as_str(), call.name.as_str(), call.arguments.as_str()]).collect()
}

/// The arguments that the events contain for each call.
fn streamed(events: &[StreamEvent]) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for event in events {
        if let StreamEvent::ToolCall { index, name, arguments } = event {
            calls.resize(calls.len().max(index + 1), Default::default());
            calls[*index].0.clone_from(name);
            calls[*index].1.push_str(arguments);
        }
    }
    calls
}

fn sse(values: &[Value]) -> String {
    values.iter().map(|value| format!("data: {value}\n\n")).collect()
}

/// A stream of the chat API with these deltas.
fn chat(deltas: &[Value], finish: &str) -> String {
    let mut values: Vec<Value> = deltas.iter().map(|delta| json!({"choices":[{"index":0,"delta":delta}]})).collect();
    values.push(json!({"choices":[{"index":0,"delta":{},"finish_reason":finish}]}));
    sse(&values) + DONE
}

fn chat_calls(parts: Value) -> Value {
    Value::Object([("tool_calls".to_owned(), parts)].into_iter().collect())
}

const PATH: &str = r#"{"path":"src/é🚀.rs","lines":[1,20]}"#;
const PATTERN: &str = r#"{"pattern":"fn main"}"#;

fn recorded(api: Api) -> &'static str {
    match api {
        Api::Chat => include_str!("streams/chat-tools.sse"),
        Api::Responses => include_str!("streams/responses-tools.sse"),
        Api::Anthropic => include_str!("streams/anthropic-tools.sse"),
        Api::Gemini => include_str!("streams/gemini-tools.sse"),
        Api::Ollama => include_str!("streams/ollama-tools.ndjson"),
    }
}

#[tokio::test]
async fn recorded_answers_of_each_format_have_two_calls() {
    for api in Api::ALL {
        let bytes = recorded(api).as_bytes();
        for size in [7, bytes.len()] {
            let steps = bytes.chunks(size).map(|piece| Step::Send(piece.to_vec()));
            let (base, _) = rude(vec![[head("")].into_iter().chain(steps).collect()]).await;
            let (end, events) = ask_for(&once(server_of(&endpoint(api, &base, "k"))), offering()).await;
            let ids = match api {
                Api::Chat | Api::Gemini | Api::Ollama | Api::Responses => ["call_1", "call_2"],
                Api::Anthropic => ["toolu_1", "toolu_2"],
            };
            assert_eq!(calls_of(&end), [[ids[0], "read_file", PATH], [ids[1], "grep", PATTERN]], "{}", api.name());
            assert_eq!(end.unwrap().finish, Finish::ToolCalls);
            let expected = [("read_file".to_owned(), PATH.to_owned()), ("grep".to_owned(), PATTERN.to_owned())];
            assert_eq!(streamed(&events), expected, "{}", api.name());
            assert_eq!(text(&events), "I look.", "{}", api.name());
        }
    }
}

#[tokio::test]
async fn a_stream_with_calls_that_is_cut_is_interrupted_and_is_not_sent_again() {
    for api in Api::ALL {
        let whole = recorded(api).as_bytes();
        for cut in (1..whole.len()).step_by(31) {
            let (base, _) = rude(vec![vec![head(""), Step::Send(whole[..cut].to_vec())]]).await;
            let (end, events) = ask_for(&once(server_of(&endpoint(api, &base, "k"))), offering()).await;
            match end {
                Ok(end) => {
                    assert_eq!((end.finish, end.tool_calls.len()), (Finish::ToolCalls, 2), "{} {cut}", api.name())
                }
                Err(LlmError::Interrupted(_)) => assert!(streamed(&events).len() <= 2),
                Err(other) => panic!("{} cut at {cut}: {other:?}", api.name()),
            }
        }
        // The server has only one answer, so a second request would hang.
        let begun = recorded(api).find("src").unwrap();
        let line = recorded(api)[begun..].find('\n').unwrap() + begun + 2;
        let (base, _) = rude(vec![vec![head(""), send(&recorded(api)[..line.min(whole.len() - 1)])]]).await;
        let (end, events) = ask_for(&server_of(&endpoint(api, &base, "k")), offering()).await;
        assert!(matches!(end, Err(LlmError::Interrupted(_)) | Ok(_)), "{end:?}");
        assert_eq!(retries(&events), 0, "{}", api.name());
    }
}

#[tokio::test]
async fn calls_and_results_have_the_form_of_each_api() {
    let schema = tool("grep").parameters;
    let wrapped = json!({"arguments":"{\"pat"});
    let offered = |name: &str| {
        let function = json!({"name":name,"description":format!("Does {name}."),"parameters":schema});
        json!({"type":"function","function":function})
    };
    let tools = json!([offered("read_file"), offered("grep")]);

    let body = body_of(Api::Chat, conversation()).await;
    assert_eq!(body["tools"], tools);
    let expected = json!([
        {"role":"assistant","content":"I look.","tool_calls":[
            {"id":"a1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"é\"}"}},
            {"id":"b2","type":"function","function":{"name":"grep","arguments":wrapped.to_string()}}]},
        {"role":"tool","tool_call_id":"a1","content":"fn main() {}"},
        {"role":"tool","tool_call_id":"b2","content":"invalid arguments"},
    ]);
    assert_eq!(body["messages"].as_array().unwrap()[2..], *expected.as_array().unwrap());

    let body = body_of(Api::Responses, conversation()).await;
    assert_eq!(
        body["tools"][1],
        json!({"type":"function","name":"grep","description":"Does grep.","parameters":schema,"strict":false})
    );
    assert_eq!((&body["store"], &body["include"]), (&json!(false), &json!(["reasoning.encrypted_content"])));
    let expected = json!([
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
        {"type":"function_call","call_id":"a1","name":"read_file","arguments":"{\"path\":\"é\"}"},
        {"type":"function_call","call_id":"b2","name":"grep","arguments":wrapped.to_string()},
        {"type":"function_call_output","call_id":"a1","output":"fn main() {}"},
        {"type":"function_call_output","call_id":"b2","output":"invalid arguments"},
    ]);
    assert_eq!(body["input"].as_array().unwrap()[1..], *expected.as_array().unwrap());

    let body = body_of(Api::Anthropic, conversation()).await;
    assert_eq!(body["tools"][1], json!({"name":"grep","description":"Does grep.","input_schema":schema}));
    let expected = json!([
        {"role":"assistant","content":[
            {"type":"text","text":"I look."},
            {"type":"tool_use","id":"a1","name":"read_file","input":{"path":"é"}},
            {"type":"tool_use","id":"b2","name":"grep","input":wrapped}]},
        {"role":"user","content":[
            {"type":"tool_result","tool_use_id":"a1","content":"fn main() {}"},
            {"type":"tool_result","tool_use_id":"b2","content":"invalid arguments","is_error":true}]},
    ]);
    assert_eq!(body["messages"].as_array().unwrap()[1..], *expected.as_array().unwrap());

    let body = body_of(Api::Gemini, Request { model: "gemini-2.5-pro".into(), ..conversation() }).await;
    let parameters = json!({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]});
    assert_eq!(
        body["tools"],
        json!([{"functionDeclarations":[
            {"name":"read_file","description":"Does read_file.","parameters":parameters},
            {"name":"grep","description":"Does grep.","parameters":parameters}]}])
    );
    let expected = json!([
        {"role":"model","parts":[
            {"text":"I look."},
            {"functionCall":{"id":"a1","name":"read_file","args":{"path":"é"}}},
            {"functionCall":{"id":"b2","name":"grep","args":wrapped}}]},
        {"role":"user","parts":[
            {"functionResponse":{"id":"a1","name":"read_file","response":{"output":"fn main() {}"}}},
            {"functionResponse":{"id":"b2","name":"grep","response":{"error":"invalid arguments"}}}]},
    ]);
    assert_eq!(body["contents"].as_array().unwrap()[1..], *expected.as_array().unwrap());

    let body = body_of(Api::Ollama, conversation()).await;
    assert_eq!(body["tools"], tools);
    let expected = json!([
        {"role":"assistant","content":"I look.","tool_calls":[
            {"function":{"name":"read_file","arguments":{"path":"é"}}},
            {"function":{"name":"grep","arguments":wrapped}}]},
        {"role":"tool","tool_name":"read_file","content":"fn main() {}"},
        {"role":"tool","tool_name":"grep","content":"invalid arguments"},
    ]);
    assert_eq!(body["messages"].as_array().unwrap()[2..], *expected.as_array().unwrap());
}

#[tokio::test]
async fn a_text_follows_the_results_of_the_same_message() {
    for api in Api::ALL {
        let mut request = conversation();
        request.messages[2].content = "\n".into();
        request.messages[3].content = "Faster.".into();
        // A hint of the program, which becomes part of the user's message.
        request.messages.push(Message::new(Role::System, "Stop soon."));
        let body = body_of(api, request).await.to_string();
        let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("{text} in {body}"));
        assert!(at("fn main() {}") < at("invalid arguments"), "{}", api.name());
        assert!(at("invalid arguments") < at("Faster.") && at("Faster.") < at("Stop soon."), "{} {body}", api.name());
        assert!(api != Api::Anthropic || !body.contains(r#""text":"\n""#), "{body}");
    }
}

#[tokio::test]
async fn requests_without_tools_say_nothing_about_them() {
    for api in Api::ALL {
        let body = body_of(api, request()).await;
        assert!(["tools", "include"].iter().all(|name| body.get(*name).is_none()), "{body}");
    }
}

#[tokio::test]
async fn thinking_goes_back_unchanged_in_each_format() {
    let details = json!([{"type":"reasoning.text","index":0,"text":"hm so","format":"f","signature":"sig"},
        {"type":"reasoning.encrypted","index":1,"data":"xyz"}]);
    let block = json!({"type":"thinking","thinking":"hm so","signature":"sig"});
    let redacted = json!({"type":"redacted_thinking","data":"abc"});
    let item = json!({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm so"}],"encrypted_content":"enc"});
    let one = |name: &str| chat_calls(json!([{"index":0,"id":"a","function":{"name":name,"arguments":"{}"}}]));
    let table = [
        (
            Api::Chat,
            chat(&[json!({"reasoning_content":"hm "}), json!({"reasoning_content":"so"}), one("grep")], "tool_calls"),
            vec![json!({"reasoning_content":"hm so"})],
            json!("hm so"),
            "/messages/2/reasoning_content",
        ),
        (
            Api::Chat,
            chat(
                &[
                    json!({"reasoning":"hm ","reasoning_details":[{"type":"reasoning.text","index":0,"text":"hm ","format":"f"}]}),
                    json!({"reasoning":"so","reasoning_details":[{"type":"reasoning.text","index":0,"text":"so","signature":null}]}),
                    json!({"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"sig"}]}),
                    json!({"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"xyz"}]}),
                    one("grep"),
                ],
                "tool_calls",
            ),
            vec![json!({"reasoning":"hm so"}), json!({"reasoning_details":details})],
            details,
            "/messages/2/reasoning_details",
        ),
        (
            Api::Anthropic,
            sse(&[
                json!({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}),
                json!({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm "}}),
                json!({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so"}}),
                json!({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}),
                json!({"type":"content_block_start","index":1,"content_block":redacted}),
                json!({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"grep","input":{}}}),
                json!({"type":"message_delta","delta":{"stop_reason":"tool_use"}}),
            ]),
            vec![block.clone(), redacted.clone()],
            json!([block, redacted, {"type":"tool_use","id":"a","name":"grep","input":{}}]),
            "/messages/1/content",
        ),
        (
            Api::Responses,
            sse(&[
                json!({"type":"response.output_item.done","output_index":0,"item":item}),
                json!({"type":"response.completed","response":{"object":"response","status":"completed","output":[item,
                    {"type":"function_call","id":"fc","call_id":"a","name":"grep","arguments":""}]}}),
            ]),
            vec![item.clone()],
            item,
            "/input/1",
        ),
        (
            Api::Ollama,
            ["hm ", "so"].map(|text| format!("{}\n", json!({"message":{"content":"","thinking":text}}))).concat()
                + "{\"message\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"grep\",\"arguments\":{}}}]},\"done\":true}\n",
            vec![json!({"thinking":"hm so"})],
            json!("hm so"),
            "/messages/2/thinking",
        ),
    ];
    for (api, answer, thinking, sent, path) in table {
        let (end, _) = answered(api, &answer).await;
        assert_eq!(calls_of(&end), [["a", "grep", "{}"]], "{}", api.name());
        let end = end.unwrap();
        assert_eq!(end.thinking, thinking, "{}", api.name());
        let mut request = offering();
        let mut message = Message::new(Role::Assistant, "");
        (message.tool_calls, message.thinking) = (end.tool_calls, end.thinking);
        let mut results = Message::new(Role::User, "");
        results.tool_results = vec![result("a", "grep", "x")];
        request.messages.extend([message, results]);
        assert_eq!(body_of(api, request.clone()).await.pointer(path), Some(&sent), "{}", api.name());
        // The other formats ignore it.
        for other in Api::ALL.into_iter().filter(|other| *other != api) {
            let body = body_of(other, request.clone()).await.to_string();
            assert!(!body.contains("hm so"), "{} in {}", api.name(), other.name());
        }
    }
}

#[tokio::test]
async fn thought_signatures_go_back_with_their_parts() {
    let parts = json!([
        {"functionCall":{"name":"grep","args":{"n":1}},"thoughtSignature":"s1"},
        {"functionCall":{"name":"grep","args":{"n":2}}},
    ]);
    let answer = sse(&[
        json!({"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}),
        json!({"candidates":[{"content":{"parts":parts}}]}),
        json!({"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"s2"}]},"finishReason":"STOP"}]}),
    ]);
    let (end, _) = answered(Api::Gemini, &answer).await;
    assert_eq!(calls_of(&end), [["call_1", "grep", r#"{"n":1}"#], ["call_2", "grep", r#"{"n":2}"#]]);
    let end = end.unwrap();
    let mut message = Message::new(Role::Assistant, "Hi");
    (message.tool_calls, message.thinking) = (end.tool_calls, end.thinking);
    let mut request = Request { model: "gemini-3-pro".into(), ..offering() };
    request.messages.push(message);
    let sent = body_of(Api::Gemini, request.clone()).await["contents"][1]["parts"].clone();
    assert_eq!(sent[0], json!({"text":"Hi","thoughtSignature":"s2"}));
    assert_eq!(sent.as_array().unwrap()[1..], *parts.as_array().unwrap());
    // Calls of another model have none.
    request.messages[2].tool_calls[0].signature = None;
    let sent = body_of(Api::Gemini, request).await["contents"][1]["parts"].clone();
    assert_eq!(sent[1]["thoughtSignature"], "skip_thought_signature_validator");
    assert!(sent[2].get("thoughtSignature").is_none());
}

#[tokio::test]
async fn the_built_in_patch_tool_is_used_where_the_api_has_it() {
    let mut request = offering();
    request.tools.push(Tool { built_in: true, ..tool("apply_patch") });
    let operation = json!({"type":"update_file","path":"a.rs","diff":"@@\n-\"a\"\n+\"b\""});
    let item = |status: &str, operation: &Value| json!({"type":"apply_patch_call","id":"apc","call_id":"p1","status":status,"operation":operation});
    let mut begun = operation.clone();
    begun["diff"] = json!("");
    let diff = |delta: &str| json!({"type":"response.apply_patch_call_operation_diff.delta","item_id":"apc","output_index":0,"delta":delta});
    let answer = sse(&[
        json!({"type":"response.output_item.added","output_index":0,"item":item("in_progress", &begun)}),
        diff("@@\n-\"a\""),
        diff("\n+\"b\""),
        json!({"type":"response.output_item.done","output_index":0,"item":item("completed", &operation)}),
        json!({"type":"response.completed","response":{"status":"completed","output":[item("completed", &operation)]}}),
    ]);
    let complaint =
        (400, vec![], json!({"error":{"message":"Tool type 'apply_patch' is not supported with tiny."}}).to_string());
    let (base, seen) = canned(vec![ok(answer.clone()), ok(answer.clone()), complaint, ok(answer)]).await;
    let server = once(server_of(&endpoint(Api::Responses, &base, "k")));
    let (end, events) = ask_for(&server, request.clone()).await;
    let arguments = json!({"operation":operation}).to_string();
    assert_eq!(calls_of(&end), [["p1", "apply_patch", arguments.as_str()]]);
    assert_eq!(streamed(&events), [("apply_patch".to_owned(), arguments.clone())]);
    let mut message = Message::new(Role::Assistant, "");
    message.tool_calls = end.unwrap().tool_calls;
    let mut results = Message::new(Role::User, "");
    results.tool_results =
        vec![ToolResult { built_in: true, is_error: true, ..result("p1", "apply_patch", "no match") }];
    request.messages.extend([message, results]);
    for _ in 0..2 {
        ask_for(&server, request.clone()).await.0.unwrap();
    }
    let seen = seen.lock().unwrap();
    let native = json!([
        {"type":"apply_patch_call","call_id":"p1","status":"completed","operation":operation},
        {"type":"apply_patch_call_output","call_id":"p1","status":"failed","output":"no match"},
    ]);
    assert_eq!(seen[1].body["tools"][2], json!({"type":"apply_patch"}));
    assert_eq!(seen[1].body["input"].as_array().unwrap()[1..], *native.as_array().unwrap());
    // A model without it gets a function.
    assert_eq!(seen[3].body["tools"][2]["name"], "apply_patch");
    let function = json!([
        {"type":"function_call","call_id":"p1","name":"apply_patch","arguments":arguments},
        {"type":"function_call_output","call_id":"p1","output":"no match"},
    ]);
    assert_eq!(seen[3].body["input"].as_array().unwrap()[1..], *function.as_array().unwrap());
}

#[tokio::test]
async fn deviating_servers_give_the_same_calls() {
    let expected = [["a", "grep", r#"{"n":1}"#], ["b", "grep", r#"{"n":2}"#]];
    let function = |name: &str, arguments: &str| json!({"name":name,"arguments":arguments});
    let ends = [
        // Interleaved, with the finish reason of an answer without calls.
        chat(
            &[
                chat_calls(json!([{"index":0,"id":"a","type":"function","function":function("grep", "")},
                    {"index":1,"id":"b","function":function("grep", "{\"n\"")}])),
                chat_calls(json!([{"index":0,"function":{"arguments":"{\"n\":1"}}])),
                chat_calls(json!([{"index":1,"function":{"arguments":":2}"}}])),
                chat_calls(json!([{"index":0,"id":null,"function":{"name":null,"arguments":"}"}}])),
            ],
            "stop",
        ),
        // One index, whole calls, arguments as objects.
        chat(
            &[chat_calls(json!([{"index":0,"id":"a","function":{"name":"grep","arguments":{"n":1}}},
                {"index":0,"id":"b","function":{"name":"grep","arguments":{"n":2}}}]))],
            "TOOL_CALLS",
        ),
        // A response without streaming.
        json!({"choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[
            {"id":"a","function":function("grep", "{\"n\":1}")},{"id":"b","function":function("grep", "{\"n\":2}")}]}}]})
        .to_string(),
        // The whole message again at the end.
        sse(&[
            json!({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":function("grep", "{\"n\":1}")}]}}]}),
            json!({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":function("grep", "{\"n\":2}")}]}}]}),
            json!({"choices":[{"finish_reason":"tool_calls","message":{"content":"","tool_calls":[
                {"id":"a","function":function("grep", "{\"n\":1}")},{"id":"b","function":function("grep", "{\"n\":2}")}]}}]}),
        ]),
    ];
    for answer in ends {
        let (end, _) = answered(Api::Chat, &answer).await;
        assert_eq!(calls_of(&end), expected, "{answer}");
        assert_eq!(end.unwrap().finish, Finish::ToolCalls);
    }
    let anthropic = [
        json!({"type":"message","stop_reason":"tool_use","content":[
            {"type":"tool_use","id":"a","name":"grep","input":{"n":1}},{"type":"tool_use","id":"b","name":"grep","input":{"n":2}}]})
        .to_string(),
        // Complete input at the beginning, and calls of tools of the server between.
        sse(&[
            json!({"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"search","input":{}}}),
            json!({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}}),
            json!({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"grep","input":{"n":1}}}),
            json!({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"grep","input":{}}}),
            json!({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\":"}}),
            json!({"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"2}"}}),
            json!({"type":"message_delta","delta":{"stop_reason":"end_turn"}}),
        ]),
    ];
    for answer in anthropic {
        let (end, _) = answered(Api::Anthropic, &answer).await;
        assert_eq!(calls_of(&end), expected, "{answer}");
    }
    let ollama = "{\"message\":{\"tool_calls\":[{\"function\":{\"index\":0,\"name\":\"grep\",\"arguments\":\"{\\\"n\\\":1}\"}},\
        {\"function\":{\"index\":0,\"name\":\"grep\",\"arguments\":{\"n\":2}}}]},\"done\":true,\"done_reason\":\"stop\"}\n";
    let (end, _) = answered(Api::Ollama, ollama).await;
    assert_eq!(calls_of(&end), [["call_1", "grep", r#"{"n":1}"#], ["call_2", "grep", r#"{"n":2}"#]]);
}

#[tokio::test]
async fn incomplete_answers_have_no_calls() {
    let one = chat_calls(json!([{"index":0,"id":"a","function":{"name":"grep","arguments":"{\"n\":"}}]));
    let (end, events) = answered(Api::Chat, &chat(&[json!({"reasoning":"hm"}), one.clone()], "length")).await;
    assert_eq!(end, Ok(Completion::new(Finish::Length, None)));
    assert_eq!(streamed(&events), [("grep".to_owned(), "{\"n\":".to_owned())]);
    let (end, _) = answered(Api::Chat, &chat(std::slice::from_ref(&one), "content_filter")).await;
    assert_eq!(end, Ok(Completion::new(Finish::Filtered, None)));
    // The model's mistake is kept for the model.
    let (end, _) = answered(Api::Chat, &chat(&[one], "tool_calls")).await;
    assert_eq!(calls_of(&end), [["a", "grep", "{\"n\":"]]);
    // A finish reason without a call.
    let finish = answered(Api::Chat, &chat(&[json!({"content":"x"})], "tool_calls")).await.0.unwrap().finish;
    assert!(finish.incomplete_reason().is_some_and(|reason| reason.contains("without a tool call")), "{finish:?}");
}

#[tokio::test]
async fn calls_without_offered_tools_are_reported() {
    for api in Api::ALL {
        let (base, _) = canned(vec![ok(recorded(api))]).await;
        let (end, events) = ask(&once(server_of(&endpoint(api, &base, "k")))).await;
        let end = end.unwrap();
        assert!(end.tool_calls.is_empty() && streamed(&events).is_empty(), "{}", api.name());
        // With a text and a normal finish reason the answer is complete.
        let is_plain = matches!(api, Api::Responses | Api::Ollama);
        assert_eq!(end.finish.incomplete_reason().is_none(), is_plain, "{}: {:?}", api.name(), end.finish);
    }
    let bare = chat(&[chat_calls(json!([{"index":0,"id":"a","function":{"name":"grep","arguments":"{}"}}]))], "stop");
    let (base, _) = canned(vec![ok(bare)]).await;
    let finish = ask(&once(server(&base))).await.0.unwrap().finish;
    assert_eq!(finish.incomplete_reason().unwrap(), "the model called a tool, and none was offered to it");
}

#[tokio::test]
async fn endless_arguments_and_endless_calls_are_stopped() {
    let piece = |part: Value| sse(&[json!({"choices":[{"index":0,"delta":chat_calls(json!([part]))}]})]);
    let begin = piece(json!({"index":0,"id":"a","function":{"name":"grep","arguments":"{"}}));
    let more = piece(json!({"index":0,"function":{"arguments":"x".repeat(1024)}}));
    let (base, hung_up) = rude(vec![vec![head(""), send(&begin), Step::Repeat(more.into_bytes())]]).await;
    let (end, events) = ask_for(&server(&base), offering()).await;
    assert_eq!(end, Err(LlmError::TooMuch(512 * 1024)));
    assert!(streamed(&events)[0].1.len() <= 512 * 1024);
    hung_up.await.unwrap();
    let many: Vec<Value> = (0..3000)
        .map(|n| chat_calls(json!([{"index":n,"id":format!("c{n}"),"function":{"name":"grep","arguments":"{}"}}])))
        .collect();
    let (end, _) = answered(Api::Chat, &chat(&many, "tool_calls")).await;
    assert_eq!(end.unwrap().tool_calls.len(), crate::calls::MAX_CALLS);
}

#[tokio::test]
async fn calls_extend_the_deadline_and_empty_ones_do_not() {
    let tiny = Timeouts { connect: LONG, first_byte: LONG, idle: 5 * TINY };
    let part = |arguments: &str| {
        sse(&[json!({"choices":[{"delta":chat_calls(json!([{"index":0,"function":{"arguments":arguments}}]))}]})])
    };
    let begin = sse(&[
        json!({"choices":[{"delta":chat_calls(json!([{"index":0,"id":"a","function":{"name":"grep","arguments":"{"}}]))}]}),
    ]);
    let end = part("}") + STOP;
    let steps = vec![head(""), send(&begin), Step::Times(part(" ").into(), 12, TINY), send(&end)];
    let (base, _) = rude(vec![steps]).await;
    let (answer, _) = ask_for(&once(server(&base)).with_timeouts(tiny), offering()).await;
    assert_eq!(answer.unwrap().finish, Finish::ToolCalls);
    let (base, hung_up) = rude(vec![vec![head(""), send(&begin), Step::Drip(part("").into(), TINY)]]).await;
    let (answer, events) = ask_for(&server(&base).with_timeouts(tiny), offering()).await;
    assert!(matches!(answer, Err(LlmError::Idle(_))), "{answer:?}");
    assert_eq!(retries(&events), 0);
    hung_up.await.unwrap();
}

#[tokio::test]
async fn servers_without_tools_are_recognized_and_not_asked_again() {
    let table = [
        (Api::Ollama, 400, json!({"error":"registry.ollama.ai/library/gemma:2b does not support tools"})),
        (
            Api::Chat,
            500,
            json!({"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}),
        ),
        (Api::Chat, 404, json!({"error":{"message":"No endpoints found that support tool use.","code":404}})),
        (
            Api::Chat,
            400,
            json!({"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}),
        ),
        (Api::Chat, 400, json!({"error":{"message":"`tools` is not supported in this model"}})),
        (Api::Chat, 422, json!({"detail":"tools: Extra inputs are not permitted"})),
        (
            Api::Gemini,
            400,
            json!({"error":{"code":400,"message":"Function calling is not enabled for models/gemma","status":"INVALID_ARGUMENT"}}),
        ),
        (Api::Anthropic, 501, json!({"type":"error","error":{"message":"tool calls are not implemented"}})),
    ];
    for (api, status, body) in table {
        let answer: Canned = (status, vec![], body.to_string());
        let (base, seen) = canned(vec![answer]).await;
        let server = server_of(&endpoint(api, &base, "k"));
        let end = ask_for(&server, offering()).await.0;
        assert!(matches!(end, Err(LlmError::NoTools { .. })), "{body} {end:?}");
        assert_eq!(seen.lock().unwrap().len(), 1, "{body}");
        // Without tools the message is about something else.
        let end = ask(&once(server)).await.0;
        assert!(!matches!(end, Err(LlmError::NoTools { .. })), "{body} {end:?}");
    }
    for other in [
        "Invalid schema for function 'grep': unknown keyword",
        "the model 'tools' does not exist",
        "messages.3.content.0: unexpected `tool_use_id` found in `tool_result` blocks",
        "Unexpected tool call id x in tool results",
    ] {
        let (base, _) = canned(vec![(400, vec![], json!({"error":{"message":other}}).to_string())]).await;
        let end = ask_for(&once(server(&base)), offering()).await.0;
        assert!(matches!(end, Err(LlmError::BadRequest { .. })), "{other} {end:?}");
    }
}

#[tokio::test]
async fn complaints_about_calls_in_the_history_are_answered_once() {
    let mut request = conversation();
    request.messages[2].content.clear();
    request.messages[2].thinking = vec![json!({"reasoning_content":"hm"})];
    let call = |body: &Value, path: &str| body.pointer(path).cloned().unwrap_or_default();
    let table: [(&str, &str, Value, Value); 4] = [
        ("Invalid value for 'content': expected a string, got null.", "/messages/2/content", Value::Null, json!("")),
        ("Unrecognized field reasoning_content in messages", "/messages/2/reasoning_content", json!("hm"), Value::Null),
        (
            "Tool call id was a1 but must be a-z, A-Z, 0-9, with a length of 9.",
            "/messages/3/tool_call_id",
            json!("a1"),
            json!(null),
        ),
        ("Encrypted content is not supported with this model", "/messages/0/role", json!("system"), json!("system")),
    ];
    for (complaint, path, before, after) in table {
        let refused: Canned = (400, vec![], json!({"error":{"message":complaint}}).to_string());
        let (base, seen) = canned(vec![refused, ok(stream(Api::Chat))]).await;
        ask_for(&once(server(&base)), request.clone()).await.0.unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(call(&seen[0].body, path), before, "{complaint}");
        let now = call(&seen[1].body, path);
        if complaint.contains("length of 9") {
            assert_eq!(now.as_str().map(str::len), Some(9));
            assert_eq!(call(&seen[1].body, "/messages/2/tool_calls/0/id"), now);
        } else {
            assert_eq!(now, after, "{complaint}");
        }
    }
    request.messages[2].thinking.clear();
    let missing = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    let refused: Canned = (400, vec![], json!({"error":{"message":missing}}).to_string());
    let (base, seen) = canned(vec![refused, ok(stream(Api::Chat))]).await;
    ask_for(&once(server(&base)), request).await.0.unwrap();
    assert_eq!(seen.lock().unwrap()[1].body["messages"][2]["reasoning_content"], " ");
}

#[tokio::test]
async fn secrets_are_masked_in_calls_and_results_but_signatures_are_not_changed() {
    let key = concat!("ghp", "_Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5Gf1LsCcTeUgA");
    for api in Api::ALL {
        let mut request = conversation();
        let arguments = json!({"signature":key,"nested":{"encrypted_content":key}}).to_string();
        request.messages[2].tool_calls[0] =
            ToolCall { signature: Some(key.into()), ..call("a1", "read_file", &arguments) };
        request.messages[3].tool_results[0].content = key.into();
        request.tools[0].parameters = json!({"properties":{"signature":{"type":"string","description":key}}});
        request.messages[2].thinking = vec![
            json!({"type":"thinking","thinking":"hm","signature":key}),
            json!({"type":"reasoning","encrypted_content":key}),
        ];
        let body = body_of(api, request).await.to_string();
        let kept = match api {
            Api::Anthropic | Api::Gemini | Api::Responses => 1,
            Api::Chat | Api::Ollama => 0,
        };
        assert_eq!(body.matches(key).count(), kept, "{} {body}", api.name());
    }
}

#[tokio::test]
async fn ids_of_other_servers_are_made_acceptable() {
    let long = "x".repeat(70);
    for (api, accepts) in
        [(Api::Anthropic, "a1"), (Api::Responses, "functions.grep:0"), (Api::Chat, "functions.grep:0")]
    {
        for id in ["a1", "functions.grep:0", long.as_str()] {
            let mut request = conversation();
            request.messages[2].tool_calls[0] = call(id, "a tool with a long name: \u{1f680}", "{}");
            request.messages[3].tool_results[0].id = id.into();
            let body = body_of(api, request).await;
            let (call, result, kept) = match api {
                Api::Anthropic => ("/messages/1/content/1/id", "/messages/2/content/0/tool_use_id", id == accepts),
                Api::Responses => ("/input/2/call_id", "/input/4/call_id", id != long),
                _ => ("/messages/2/tool_calls/0/id", "/messages/3/tool_call_id", true),
            };
            let sent = body.pointer(call).and_then(Value::as_str).unwrap();
            assert_eq!(body.pointer(result).and_then(Value::as_str), Some(sent), "{}", api.name());
            assert_eq!(sent == id, kept, "{} {id}", api.name());
            assert!(body.to_string().contains("a_tool_with_a_long_name___"), "{body}");
        }
    }
}

#[tokio::test]
async fn marks_on_results_are_sent() {
    let mark = json!({"type":"ephemeral"});
    let mut request = conversation();
    request.model = "anthropic/claude".into();
    request.messages[2].cached = true;
    request.messages[3].cached = true;
    let body = body_of(Api::Anthropic, request.clone()).await;
    assert_eq!(body["messages"][1]["content"][2]["cache_control"], mark);
    assert_eq!(body["messages"][2]["content"][1]["cache_control"], mark);
    assert_eq!(body.to_string().matches("cache_control").count(), 2);
    let body = body_of(Api::Chat, request.clone()).await;
    let content = json!([{"type":"text","text":"invalid arguments","cache_control":mark}]);
    assert_eq!(body["messages"][4]["content"], content);
    request.messages[3].content = "Faster.".into();
    let body = body_of(Api::Chat, request).await;
    assert_eq!(body["messages"][4]["content"], "invalid arguments");
    assert_eq!(body["messages"][5]["content"][0]["cache_control"], mark);
}

#[tokio::test]
async fn messages_of_one_role_are_joined_with_their_calls() {
    let refused: Canned = (400, vec![], json!({"error":{"message":"roles must alternate"}}).to_string());
    let (base, seen) = canned(vec![refused, ok(stream(Api::Chat))]).await;
    let mut request = conversation();
    request.messages.insert(2, Message::new(Role::Assistant, "First."));
    request.messages[3].content.clear();
    request.messages.push(Message::new(Role::User, "Faster."));
    ask_for(&once(server(&base)), request).await.0.unwrap();
    let messages = seen.lock().unwrap()[1].body["messages"].clone();
    let roles: Vec<&str> = messages.as_array().unwrap().iter().map(|each| each["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    assert_eq!((&messages[2]["content"], &messages[5]["content"]), (&json!("First."), &json!("Faster.")));
    assert_eq!(messages[2]["tool_calls"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn thinking_is_asked_for_only_if_the_calls_have_it() {
    let block = json!({"type":"thinking","thinking":"hm","signature":"s"});
    let with = |change: &dyn Fn(&mut Request)| {
        let mut request = Request { thinking: Some(Thinking::Budget(2000)), ..conversation() };
        request.messages[2].thinking = vec![block.clone()];
        change(&mut request);
        request
    };
    // Columns: the change, whether thinking is asked for, whether the block is sent.
    type Change<'a> = &'a dyn Fn(&mut Request);
    let table: [(Change<'_>, bool, bool); 7] = [
        // Later steps may have none.
        (
            &|request| {
                let mut step = Message::new(Role::Assistant, "");
                step.tool_calls = vec![call("c3", "grep", "{}")];
                let mut results = Message::new(Role::User, "");
                results.tool_results = vec![result("c3", "grep", "x")];
                request.messages.extend([step, results]);
            },
            true,
            true,
        ),
        (&|_| {}, true, true),
        (&|request| request.messages[2].thinking.clear(), false, false),
        // The calls belong to an earlier question.
        (
            &|request| {
                request.messages[2].thinking.clear();
                request.messages.push(Message::new(Role::User, "And now?"));
            },
            true,
            false,
        ),
        (&|request| request.thinking = None, false, true),
        (&|request| request.thinking = Some(Thinking::Budget(0)), false, false),
        (&|request| request.messages.push(Message::new(Role::Assistant, "begun")), false, false),
    ];
    for (number, (change, asked, sent)) in table.into_iter().enumerate() {
        let body = body_of(Api::Anthropic, with(change)).await;
        assert_eq!(body.get("thinking").is_some(), asked, "{number}: {body}");
        assert_eq!(body["messages"][1]["content"][0] == block, sent, "{number}: {body}");
    }
    // A signature that the server does not accept.
    let invalid = "messages.1.content.0: Invalid `signature` in `thinking` block";
    let refused: Canned = (400, vec![], json!({"type":"error","error":{"message":invalid}}).to_string());
    let (base, seen) = canned(vec![refused, ok(stream(Api::Anthropic))]).await;
    ask_for(&once(server_of(&endpoint(Api::Anthropic, &base, "k"))), with(&|_| {})).await.0.unwrap();
    assert!(!seen.lock().unwrap()[1].body.to_string().contains("thinking"));
}
