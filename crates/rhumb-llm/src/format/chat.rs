//! OpenAI's chat completions API, which most servers support: OpenRouter, DeepSeek, Groq, Mistral, Azure, LM Studio,
//! vLLM, llama.cpp and many more.

use super::{Chunk, Format, RequestContext, effort, first_alternative, list_at, number_at, text_at, with_tail};
use super::{arguments_text, extend_text, function_tool, hashed_id, keep_text, tool_name};
use super::{as_url, blank_end, grouped_messages, is_begun, joined};
use crate::calls::{CallPart, arguments_of};
use crate::quirks::Quirk;
use crate::{Finish, Message, Request, Role, Thinking, ToolCall, ToolResult, Usage};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use url::Url;

pub(crate) struct Chat;

impl Format for Chat {
    fn url(&self, base: &Url, _: &str) -> Url {
        with_tail(base, "/chat/completions")
    }

    fn body(&self, context: &RequestContext<'_>) -> Value {
        let RequestContext { request, quirks, .. } = *context;
        let mut body = Map::new();
        body.insert("model".into(), json!(request.model));
        body.insert("messages".into(), messages(context));
        if !request.tools.is_empty() {
            body.insert("tools".into(), request.tools.iter().map(function_tool).collect());
        }
        body.insert("stream".into(), json!(true));
        if !quirks.knows(Quirk::NoStreamOptions) {
            body.insert("stream_options".into(), json!({ "include_usage": true }));
        }
        if let Some(limit) = context.max_output() {
            let new_name = quirks.knows(Quirk::CompletionTokens);
            body.insert(if new_name { "max_completion_tokens" } else { "max_tokens" }.into(), json!(limit));
        }
        if let Some(temperature) = request.temperature.filter(|_| !quirks.knows(Quirk::NoTemperature)) {
            body.insert("temperature".into(), json!(temperature));
        }
        if let Some(thinking) = request.thinking.as_ref().filter(|_| !quirks.knows(Quirk::NoThinking)) {
            let (name, value) = thinking_field(thinking, context.is_at("openrouter.ai"));
            body.insert(name.into(), value);
        }
        Value::Object(body)
    }

    fn unsent_end<'r>(&self, request: &'r Request) -> &'r str {
        if is_claude(&request.model) { blank_end(&request.messages) } else { "" }
    }

    fn chunk(&self, value: &Value) -> Option<Chunk> {
        if !["choices", "usage", "object"].iter().any(|name| value.get(name).is_some()) {
            return None;
        }
        let mut chunk = Chunk {
            usage: value.get("usage").or_else(|| value.pointer("/x_groq/usage")).and_then(usage),
            ..Chunk::default()
        };
        let Some(choice) = first_alternative(value, "/choices") else { return Some(chunk) };
        chunk.finish = finish(text_at(choice, "/finish_reason"));
        chunk.whole = choice.get("delta").is_none() && choice.get("message").is_some();
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            (chunk.text, chunk.reasoning) = spoken(delta);
            chunk.thinking = thinking(delta);
            chunk.calls = list_at(delta, "/tool_calls").map(|each| call(each, chunk.whole)).collect();
            // The older form, of one call.
            let function = delta.get("function_call").filter(|function| function.is_object());
            chunk.calls.extend(function.map(|function| call(function, chunk.whole)));
        }
        Some(chunk)
    }

    fn keep_thinking(&self, kept: &mut Vec<Value>, part: Value) {
        for (name, value) in part.as_object().into_iter().flatten() {
            match value {
                Value::Array(details) => keep_details(kept, details),
                value => keep_text(kept, name, value.as_str().unwrap_or_default()),
            }
        }
    }
}

/// The fields with the thinking. A server that wants it back expects the name that it uses.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];
/// The field of OpenRouter, which keeps signatures and encrypted thinking.
const DETAILS: &str = "reasoning_details";

/// The thinking of a delta or a message, in the fields in which the server wants it back.
fn thinking(delta: &Value) -> Vec<Value> {
    let text = |name: &str| delta.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let plain = REASONING.into_iter().find_map(|name| Some(json!({ name: text(name)? })));
    let details = delta.get(DETAILS).filter(|details| details.as_array().is_some_and(|list| !list.is_empty()));
    plain.into_iter().chain(details.map(|details| json!({ DETAILS: details }))).collect()
}

/// Adds the parts of a list of details. The parts of one detail have the same type and index, and follow each other.
fn keep_details(kept: &mut Vec<Value>, parts: &[Value]) {
    if !kept.iter().any(|value| value.get(DETAILS).is_some()) {
        kept.push(json!({ DETAILS: [] }));
    }
    let details = kept.iter_mut().find_map(|value| value.get_mut(DETAILS)).and_then(Value::as_array_mut);
    let Some(details) = details else { return };
    for part in parts {
        let same = |old: &Value| ["type", "index"].iter().all(|name| old.get(name) == part.get(name));
        let is_text = ["text", "summary", "signature"].iter().any(|name| part.get(name).is_some_and(Value::is_string));
        match (details.last_mut().filter(|old| is_text && same(old)).and_then(Value::as_object_mut), part.as_object()) {
            (Some(old), Some(new)) => {
                for (name, value) in new {
                    match value.as_str() {
                        Some(text) if ["text", "summary"].contains(&name.as_str()) => extend_text(old, name, text),
                        _ if value.is_null() => {}
                        _ => drop(old.insert(name.clone(), value.clone())),
                    }
                }
            }
            _ => details.push(part.clone()),
        }
    }
}

fn call(value: &Value, whole: bool) -> CallPart {
    let function = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let arguments = function.get("arguments");
    let signature = text_at(value, "/extra_content/google/thought_signature");
    CallPart {
        index: value.get("index").and_then(Value::as_u64),
        id: text_at(value, "/id").to_owned(),
        name: text_at(function, "/name").to_owned(),
        arguments: arguments_of(arguments),
        whole: whole || arguments.is_some_and(Value::is_object),
        signature: (!signature.is_empty()).then(|| signature.to_owned()),
        ..CallPart::default()
    }
}

/// The thinking parameter. OpenRouter has its own, which accepts tokens too.
fn thinking_field(thinking: &Thinking, at_openrouter: bool) -> (&'static str, Value) {
    match (thinking, at_openrouter) {
        (Thinking::Budget(tokens @ 1..), true) => ("reasoning", json!({ "max_tokens": tokens })),
        (_, true) => ("reasoning", json!({ "effort": effort(thinking) })),
        (_, false) => ("reasoning_effort", json!(effort(thinking))),
    }
}

fn messages(context: &RequestContext<'_>) -> Value {
    let mut messages: Vec<Value> =
        if context.quirks.knows(Quirk::AlternateRoles) || context.quirks.knows(Quirk::NoSystem) {
            let (system_messages, groups) = grouped_messages(context);
            let system =
                (!system_messages.is_empty()).then(|| json!({ "role": "system", "content": joined(&system_messages) }));
            let groups = groups.iter().flat_map(|each| turn(context, each.role, &each.messages));
            system.into_iter().chain(groups).collect()
        } else {
            context.request.messages.iter().flat_map(|each| turn(context, each.role, &[each])).collect()
        };
    if is_begun(&context.request.messages)
        && (context.is_at("mistral.ai") || context.is_at("deepseek.com"))
        && let Some(last) = messages.last_mut().and_then(Value::as_object_mut)
    {
        last.insert("prefix".into(), json!(true));
    }
    let unsent = Chat.unsent_end(context.request).len();
    if unsent > 0
        && let Some(Value::String(text)) = messages.last_mut().and_then(|last| last.get_mut("content"))
    {
        text.truncate(text.len().saturating_sub(unsent));
    }
    Value::Array(messages)
}

/// Encodes messages of one role: a message for each result, and one for everything else.
fn turn(context: &RequestContext<'_>, role: Role, messages: &[&Message]) -> Vec<Value> {
    let mut turn = Vec::new();
    let mut has_more = false;
    for message in messages {
        let only_results = message.content.is_empty() && message.images.is_empty();
        has_more |= message.tool_results.is_empty() || !only_results;
        let last = message.tool_results.len().saturating_sub(1);
        for (number, result) in message.tool_results.iter().enumerate() {
            turn.push(result_message(context, result, only_results && message.cached && number == last));
        }
    }
    if has_more {
        let calls: Vec<Value> =
            messages.iter().flat_map(|message| &message.tool_calls).map(|each| call_value(context, each)).collect();
        let mut content = content(context, messages);
        // OpenAI documents null for an answer that consists of calls, and some gateways make an empty text block of an
        // empty string, which their model rejects.
        if !calls.is_empty() && content == "" && !context.quirks.knows(Quirk::NoNullContent) {
            content = Value::Null;
        }
        let mut value = json!({ "role": role.as_str(), "content": content });
        if role == Role::Assistant {
            set_thinking(context, &mut value, messages, !calls.is_empty());
        }
        if !calls.is_empty() {
            value["tool_calls"] = Value::Array(calls);
        }
        turn.push(value);
    }
    turn
}

fn call_value(context: &RequestContext<'_>, call: &ToolCall) -> Value {
    let function = json!({ "name": tool_name(&call.name), "arguments": arguments_text(call) });
    let mut value = json!({ "id": call_id(context, &call.id), "type": "function", "function": function });
    if let Some(signature) = call.signature.as_ref().filter(|_| context.request.model.contains("gemini")) {
        value["extra_content"] = json!({ "google": { "thought_signature": signature } });
    }
    value
}

fn result_message(context: &RequestContext<'_>, result: &ToolResult, is_marked: bool) -> Value {
    let content = if is_marked && has_marks(context) && !result.content.is_empty() {
        json!([{ "type": "text", "text": result.content, "cache_control": { "type": "ephemeral" } }])
    } else {
        json!(result.content)
    };
    json!({ "role": "tool", "tool_call_id": call_id(context, &result.id), "content": content })
}

/// Ids go back unchanged, since some servers keep information in them. OpenAI accepts at most 40 characters, and
/// Mistral exactly 9 letters and digits, which matters for calls of another model.
fn call_id<'i>(context: &RequestContext<'_>, id: &'i str) -> Cow<'i, str> {
    let is_short = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_short && (context.is_at("mistral.ai") || context.quirks.knows(Quirk::ShortCallIds)) {
        return Cow::Owned(hashed_id(id, 9));
    }
    let openai = context.is_at("openai.com") || context.is_at("azure.com");
    if openai && id.len() > 40 { Cow::Owned(hashed_id(id, 16)) } else { Cow::Borrowed(id) }
}

/// Sets the thinking in the field in which the server has sent it.
fn set_thinking(context: &RequestContext<'_>, value: &mut Value, messages: &[&Message], has_calls: bool) {
    let kept = || messages.iter().flat_map(|message| &message.thinking);
    let fields = [DETAILS].into_iter().chain(REASONING);
    let found = fields.filter(|_| !context.quirks.knows(Quirk::NoThinkingBack)).find_map(|name| {
        let fields = kept().filter_map(|value| value.as_object().filter(|fields| fields.len() == 1)?.get(name));
        let texts: String = fields.clone().filter_map(Value::as_str).collect();
        let details: Vec<&Value> = fields.filter_map(Value::as_array).flatten().collect();
        let is_found = !texts.is_empty() || !details.is_empty();
        is_found.then(|| (name, if details.is_empty() { json!(texts) } else { json!(details) }))
    });
    match found {
        Some((name, thinking)) => value[name] = thinking,
        // An empty string counts as missing on some servers.
        None if has_calls && context.quirks.knows(Quirk::NeedsThinkingBack) => value["reasoning_content"] = json!(" "),
        None => {}
    }
}

fn has_marks(context: &RequestContext<'_>) -> bool {
    !context.quirks.knows(Quirk::NoCacheMarks) && is_claude(&context.request.model)
}

/// Uses a plain string if possible, since not every server supports content parts.
fn content(context: &RequestContext<'_>, messages: &[&Message]) -> Value {
    let marks = has_marks(context);
    let is_marked = |message: &Message| marks && message.cached && !message.content.is_empty();
    if !messages.iter().any(|message| !message.images.is_empty() || is_marked(message)) {
        return Value::String(joined(messages));
    }
    let mut parts = Vec::new();
    for message in messages {
        let images = message.images.iter().map(as_url);
        parts.extend(images.map(|url| json!({ "type": "image_url", "image_url": { "url": url } })));
        if is_marked(message) {
            parts.push(json!({
                "type": "text", "text": message.content, "cache_control": { "type": "ephemeral" },
            }));
        } else if !message.content.is_empty() {
            parts.push(json!({ "type": "text", "text": message.content }));
        }
    }
    Value::Array(parts)
}

/// Returns whether the model is a Claude model behind a gateway: its prompt cache needs marks, and a begun answer
/// must not end with whitespace.
fn is_claude(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    model.contains("claude") || model.contains("anthropic/")
}

/// The text and the thinking of a delta or a message.
fn spoken(delta: &Value) -> (String, String) {
    let mut text = content_text(delta.get("content"));
    if text.is_empty() {
        text = content_text(delta.get("refusal"));
    }
    let fields = REASONING.into_iter().map(|name| content_text(delta.get(name)));
    let mut reasoning = fields.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    // Mistral's models put thinking into a content part.
    for part in list_at(delta, "/content").filter(|part| text_at(part, "/type") == "thinking") {
        reasoning.push_str(&content_text(part.get("thinking")));
    }
    (text, reasoning)
}

/// Content is a string, null, or a list of parts.
fn content_text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text_at(part, "/text")).collect(),
        _ => String::new(),
    }
}

/// Most servers use the finish reasons of OpenAI. Some have their own, and gateways forward those of the server
/// behind them: `eos` (Together), `eos_token` (TGI), `end` (some gateways), `end_turn` (Anthropic, Bedrock),
/// `complete` (Cohere), `model_length` (Mistral), `sensitive` (Zhipu). Before the end, the reason is null, empty, or
/// the string `null`.
fn finish(word: &str) -> Option<Finish> {
    match word.to_ascii_lowercase().as_str() {
        "" | "null" => None,
        "stop" | "stop_sequence" | "eos" | "eos_token" | "end" | "end_turn" | "complete" => Some(Finish::Stop),
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => Some(Finish::Length),
        "content_filter" | "content_filtered" | "safety" | "sensitive" | "refusal" | "guardrail_intervened" => {
            Some(Finish::Filtered)
        }
        _ => Some(Finish::Other(word.to_owned())),
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let cached = ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"];
    let input = value.get("prompt_tokens")?.as_u64()?;
    // xAI counts thinking in the total only.
    let rest_of_total = number_at(value, "/total_tokens").saturating_sub(input);
    Some(Usage {
        input,
        output: number_at(value, "/completion_tokens").max(rest_of_total),
        cached: cached.iter().find_map(|path| value.pointer(path)?.as_u64()).unwrap_or(0),
        cache_written: number_at(value, "/prompt_tokens_details/cache_write_tokens")
            .max(number_at(value, "/cache_creation_input_tokens")),
        reasoning: number_at(value, "/completion_tokens_details/reasoning_tokens"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use crate::quirks::Quirks;

    fn read(text: &str) -> Chunk {
        Chat.chunk(&serde_json::from_str(text).unwrap()).unwrap_or_default()
    }

    fn request() -> Request {
        let messages = vec![Message::new(Role::System, "s"), Message::new(Role::User, "u")];
        Request {
            model: "m".into(),
            messages,
            max_output_tokens: Some(9),
            temperature: Some(0.0),
            thinking: Some(Thinking::Budget(3000)),
            ..Request::default()
        }
    }

    fn body(request: &Request, complaints: &[&str], host: &str) -> Value {
        let learn = |quirks: Quirks, complaint: &&str| quirks.after(complaint, request).unwrap();
        let quirks = complaints.iter().fold(Quirks::default(), learn);
        Chat.body(&RequestContext { request, quirks: &quirks, host })
    }

    #[test]
    fn missing_and_null_fields_are_ignored() {
        for text in [
            r#"{"choices":[]}"#,
            r#"{"choices":[{}],"usage":null}"#,
            r#"{"choices":[{"delta":{"content":null},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":null}]}"#,
        ] {
            assert_eq!(read(text), Chunk::default(), "{text}");
        }
    }

    #[test]
    fn text_thinking_and_the_end_are_found() {
        let read = read(
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"text":"r"}]},{"type":"text","text":"a"},
                {"text":"b"}]},"finish_reason":"length"}],
                "usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}}"#,
        );
        assert_eq!((read.text.as_str(), read.reasoning.as_str()), ("ab", "r"));
        assert_eq!(read.finish, Some(Finish::Length));
        assert_eq!(read.usage, Some(Usage { input: 5, output: 2, cached: 3, ..Usage::default() }));
    }

    #[test]
    fn thinking_that_only_the_total_contains_is_output() {
        let output = |completion: u64, total: Value| {
            let usage = json!({
                "prompt_tokens": 32, "completion_tokens": completion, "total_tokens": total,
                "completion_tokens_details": {"reasoning_tokens": 94},
            });
            Chat.chunk(&json!({"choices":[],"usage":usage})).unwrap().usage.unwrap().output
        };
        assert_eq!(output(9, json!(135)), 103, "xAI");
        assert_eq!(output(103, json!(135)), 103, "OpenAI");
        assert_eq!(output(103, Value::Null), 103);
    }

    #[test]
    fn rejected_parameters_are_omitted() {
        let plain = body(&request(), &[], "h");
        assert_eq!(plain["stream_options"]["include_usage"], true);
        assert_eq!(plain["reasoning_effort"], "low");
        let complaints =
            ["stream_options", "use max_completion_tokens", "temperature", "reasoning_effort", "system role"];
        let body = body(&request(), &complaints, "h");
        assert_eq!(body["max_completion_tokens"], 9);
        assert_eq!(body["messages"], json!([{"role":"user","content":"s\n\nu"}]));
        for gone in ["stream_options", "max_tokens", "temperature", "reasoning_effort"] {
            assert!(body.get(gone).is_none(), "{gone}");
        }
    }

    #[test]
    fn openrouter_gets_its_own_thinking_parameter() {
        assert_eq!(body(&request(), &[], "openrouter.ai")["reasoning"], json!({"max_tokens": 3000}));
        let request = Request { thinking: Some(Thinking::Effort("high".into())), ..request() };
        assert_eq!(body(&request, &[], "openrouter.ai")["reasoning"], json!({"effort": "high"}));
    }

    #[test]
    fn parts_are_sent_only_for_images_and_marks() {
        let mut request = request();
        request.messages[0].cached = true;
        assert_eq!(body(&request, &[], "h")["messages"][0]["content"], "s");
        request.model = "anthropic/claude-x".into();
        let marked = json!([{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]);
        assert_eq!(body(&request, &[], "h")["messages"][0]["content"], marked);
        assert_eq!(body(&request, &["cache_control"], "h")["messages"][0]["content"], "s");
        let image = Image { name: "x".into(), media_type: "image/png".into(), bytes: [1, 2, 3].as_slice().into() };
        request.messages[1].images.push(image);
        let shown = json!([
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},
            {"type":"text","text":"u"},
        ]);
        assert_eq!(body(&request, &[], "h")["messages"][1]["content"], shown);
    }

    #[test]
    fn a_begun_answer_is_marked_for_servers_that_require_it() {
        let mut request = request();
        request.messages.push(Message::new(Role::Assistant, "a "));
        let last = |host: &str| body(&request, &[], host)["messages"][2].clone();
        assert_eq!(last("h"), json!({"role":"assistant","content":"a "}));
        assert_eq!(last("api.mistral.ai"), json!({"role":"assistant","content":"a ","prefix":true}));
        assert!(last("notdeepseek.com").get("prefix").is_none());
        request.model = "claude-x".into();
        assert_eq!(body(&request, &[], "h")["messages"][2]["content"], "a");
    }
}
