//! Answers of a model with tool calls, in the five formats of servers, and the results in requests.

use serde_json::{Value, json};

use super::server::{MODEL, Request, pieces};

/// The formats of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
}

/// An answer of the scripted model: text, then calls.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub text: String,
    /// The name of each tool, and its arguments as JSON, which may be broken in the formats that send a string.
    pub calls: Vec<(String, String)>,
    /// Thinking before the text, with a signature.
    pub thinking: String,
    /// The tokens of the request and of the answer, as the server counts them.
    pub usage: Option<(u64, u64)>,
}

impl Answer {
    /// The answer that ends a loop.
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// An answer with calls alone.
    pub fn calls<const N: usize>(calls: [(&str, Value); N]) -> Self {
        let calls = calls.into_iter().map(|(name, arguments)| (name.to_owned(), arguments.to_string())).collect();
        Self { calls, ..Self::default() }
    }

    /// An answer with one call whose arguments are sent as they are.
    pub fn raw_call(name: &str, arguments: &str) -> Self {
        Self { calls: vec![(name.to_owned(), arguments.to_owned())], ..Self::default() }
    }

    pub fn with_text(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    pub fn with_thinking(self, thinking: &str) -> Self {
        Self { thinking: thinking.to_owned(), ..self }
    }

    pub fn with_usage(self, input: u64, output: u64) -> Self {
        Self { usage: Some((input, output)), ..self }
    }
}

/// The arguments as an object, as far as they are valid.
fn object(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| json!({ "raw": arguments }))
}

/// The signature of the thinking of an answer.
pub fn signature(number: usize) -> String {
    format!("signed+{number}/=")
}

impl Api {
    pub const ALL: [Self; 5] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Its name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The format of requests to a path.
    pub fn of_path(path: &str) -> Option<Self> {
        let ends = [
            ("/chat/completions", Self::Chat),
            ("/responses", Self::Responses),
            ("/messages", Self::Anthropic),
            (":streamGenerateContent", Self::Gemini),
            ("/api/chat", Self::Ollama),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, api)| api)
    }

    pub fn content_type(self) -> &'static str {
        if self == Self::Ollama { "application/x-ndjson" } else { "text/event-stream" }
    }

    /// The frames of an answer. `number` is that of the request, from 1: ids of calls are made from it.
    pub fn frames(self, answer: &Answer, number: usize) -> Vec<String> {
        let calls: Vec<Call> = answer
            .calls
            .iter()
            .enumerate()
            .map(|(index, (name, arguments))| Call {
                id: format!("call_{number}_{index}"),
                index,
                name: name.clone(),
                arguments: arguments.clone(),
            })
            .collect();
        let usage = answer.usage.unwrap_or((100, 10));
        match self {
            Self::Chat => chat(answer, &calls, usage),
            Self::Responses => responses(answer, &calls, usage, number),
            Self::Anthropic => anthropic(answer, &calls, usage, number),
            Self::Gemini => gemini(answer, &calls, usage, number),
            Self::Ollama => ollama(answer, &calls, usage),
        }
    }

    /// The results at the end of a request: the id or the name of each call, and its text. All are in one message, or in messages that
    /// follow each other, as the format has it.
    pub fn last_results(self, request: &Request) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let body = &request.body;
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        match self {
            Self::Anthropic => {
                let last = list(&body["messages"]).pop().unwrap_or_default();
                let blocks = list(&last["content"]).into_iter().filter(|block| block["type"] == "tool_result");
                blocks.map(|block| (text(&block["tool_use_id"]), text(&block["content"]))).collect()
            }
            Self::Gemini => {
                let last = list(&body["contents"]).pop().unwrap_or_default();
                let parts = list(&last["parts"]).into_iter().filter_map(|part| part.get("functionResponse").cloned());
                parts
                    .map(|result| {
                        let response = &result["response"];
                        let said = response.get("output").or(response.get("error")).cloned().unwrap_or_default();
                        (text(&result["name"]), text(&said))
                    })
                    .collect()
            }
            Self::Responses => {
                let items = list(&body["input"]);
                let of = |item: &&Value| item["type"] == "function_call_output";
                let results = items.iter().rev().skip_while(|item| item["type"] == "message").take_while(of);
                let mut results: Vec<_> = results.map(|item| (text(&item["call_id"]), text(&item["output"]))).collect();
                results.reverse();
                results
            }
            Self::Chat | Self::Ollama => {
                let messages = list(&body["messages"]);
                let of = |message: &&Value| message["role"] == "tool";
                let name = if self == Self::Chat { "tool_call_id" } else { "tool_name" };
                let results = messages.iter().rev().skip_while(|message| !of(message)).take_while(of);
                let mut results: Vec<_> =
                    results.map(|message| (text(&message[name]), text(&message["content"]))).collect();
                results.reverse();
                results
            }
        }
    }
}

/// A call with its id.
struct Call {
    id: String,
    index: usize,
    name: String,
    arguments: String,
}

impl Call {
    /// The arguments in two pieces.
    fn halves(&self) -> [String; 2] {
        let chars: Vec<char> = self.arguments.chars().collect();
        let (first, second) = chars.split_at(chars.len() / 2);
        [first.iter().collect(), second.iter().collect()]
    }
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn chat(answer: &Answer, calls: &[Call], (input, output): (u64, u64)) -> Vec<String> {
    let frame = |delta: Value, reason: Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        event(&json!({"id": "chatcmpl-test", "object": "chat.completion.chunk", "model": MODEL, "choices": choices}))
    };
    let mut frames = vec![frame(json!({"role": "assistant", "content": ""}), Value::Null)];
    if !answer.thinking.is_empty() {
        frames.push(frame(json!({"reasoning_content": answer.thinking}), Value::Null));
    }
    frames.extend(pieces(&answer.text).iter().map(|text| frame(json!({"content": text}), Value::Null)));
    for call in calls {
        let [first, second] = call.halves();
        let begun = json!({"index": call.index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": first}});
        frames.push(frame(json!({"tool_calls": [begun]}), Value::Null));
        let rest = json!({"index": call.index, "function": {"arguments": second}});
        frames.push(frame(json!({"tool_calls": [rest]}), Value::Null));
    }
    frames.push(frame(json!({}), json!(if calls.is_empty() { "stop" } else { "tool_calls" })));
    let usage = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output});
    frames.push(event(&json!({"object": "chat.completion.chunk", "choices": [], "usage": usage})));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn responses(answer: &Answer, calls: &[Call], (input, output): (u64, u64), number: usize) -> Vec<String> {
    let mut frames = vec![event(&json!({"type": "response.created", "response": {"id": "resp_test"}}))];
    let mut items: Vec<Value> = Vec::new();
    let mut done = |frames: &mut Vec<String>, item: Value| {
        let place = items.len();
        frames.push(event(&json!({"type": "response.output_item.done", "output_index": place, "item": item})));
        items.push(item);
    };
    if !answer.thinking.is_empty() {
        let summary = json!([{"type": "summary_text", "text": answer.thinking}]);
        let delta = &answer.thinking;
        frames.push(event(&json!({"type": "response.reasoning_summary_text.delta", "delta": delta})));
        let item = json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": summary,
            "encrypted_content": signature(number)});
        done(&mut frames, item);
    }
    if !answer.text.is_empty() {
        for piece in pieces(&answer.text) {
            frames.push(event(&json!({"type": "response.output_text.delta", "delta": piece})));
        }
        let content = json!([{"type": "output_text", "text": answer.text}]);
        done(&mut frames, json!({"type": "message", "role": "assistant", "content": content}));
    }
    for call in calls {
        let item = |arguments: &str| {
            json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "name": call.name,
                "arguments": arguments})
        };
        let at = json!({"item_id": format!("fc_{}", call.id), "output_index": call.index + usize::from(!answer.text.is_empty())
            + usize::from(!answer.thinking.is_empty())});
        let part = |kind: &str, name: &str, text: &str| {
            let mut part = at.clone();
            part["type"] = json!(kind);
            part[name] = json!(text);
            event(&part)
        };
        frames.push(event(
            &json!({"type": "response.output_item.added", "output_index": at["output_index"], "item": item("")}),
        ));
        for half in call.halves() {
            frames.push(part("response.function_call_arguments.delta", "delta", &half));
        }
        frames.push(part("response.function_call_arguments.done", "arguments", &call.arguments));
        done(&mut frames, item(&call.arguments));
    }
    let usage = json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output});
    let response =
        json!({"id": "resp_test", "object": "response", "status": "completed", "output": items, "usage": usage});
    frames.push(event(&json!({"type": "response.completed", "response": response})));
    frames
}

fn anthropic(answer: &Answer, calls: &[Call], (input, output): (u64, u64), number: usize) -> Vec<String> {
    let mut frames = Vec::new();
    let mut push = |value: Value| {
        let kind = value["type"].as_str().unwrap_or_default();
        frames.push(format!("event: {kind}\ndata: {value}\n\n"));
    };
    push(json!({"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": input}}}));
    let mut at = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        push(json!({"type": "content_block_start", "index": at, "content_block": start}));
        for delta in deltas {
            push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
        }
        push(json!({"type": "content_block_stop", "index": at}));
        at += 1;
    };
    if !answer.thinking.is_empty() {
        let mut deltas: Vec<Value> = pieces(&answer.thinking)
            .into_iter()
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": signature(number)}));
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), deltas);
    }
    if !answer.text.is_empty() {
        let deltas = pieces(&answer.text).into_iter().map(|piece| json!({"type": "text_delta", "text": piece}));
        block(json!({"type": "text", "text": ""}), deltas.collect());
    }
    for call in calls {
        let deltas = call.halves().map(|half| json!({"type": "input_json_delta", "partial_json": half}));
        block(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}), deltas.into());
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": output}}));
    push(json!({"type": "message_stop"}));
    frames
}

fn gemini(answer: &Answer, calls: &[Call], (input, output): (u64, u64), number: usize) -> Vec<String> {
    let frame = |part: Value| event(&json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}));
    let mut frames = Vec::new();
    if !answer.thinking.is_empty() {
        frames.push(frame(json!({"thought": true, "text": answer.thinking})));
    }
    frames.extend(pieces(&answer.text).iter().map(|text| frame(json!({"text": text}))));
    for call in calls {
        let mut part = json!({"functionCall": {"name": call.name, "args": object(&call.arguments)}});
        // Of parallel calls only the first has a signature.
        if call.index == 0 && !answer.thinking.is_empty() {
            part["thoughtSignature"] = json!(signature(number));
        }
        frames.push(frame(part));
    }
    let usage = json!({"promptTokenCount": input, "candidatesTokenCount": output});
    let last = json!([{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]);
    frames.push(event(&json!({"candidates": last, "usageMetadata": usage})));
    frames
}

fn ollama(answer: &Answer, calls: &[Call], (input, output): (u64, u64)) -> Vec<String> {
    let frame = |message: Value| format!("{}\n", json!({"model": MODEL, "message": message, "done": false}));
    let mut frames = Vec::new();
    if !answer.thinking.is_empty() {
        frames.push(frame(json!({"role": "assistant", "content": "", "thinking": answer.thinking})));
    }
    frames.extend(pieces(&answer.text).iter().map(|text| frame(json!({"role": "assistant", "content": text}))));
    for call in calls {
        let function = json!({"name": call.name, "arguments": object(&call.arguments)});
        frames.push(frame(json!({"role": "assistant", "content": "", "tool_calls": [{"function": function}]})));
    }
    let last = json!({"model": MODEL, "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
        "prompt_eval_count": input, "eval_count": output});
    frames.push(format!("{last}\n"));
    frames
}
