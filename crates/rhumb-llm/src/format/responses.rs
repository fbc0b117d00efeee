//! OpenAI's Responses API.

use super::{Chunk, Format, RequestContext, effort, list_at, number_at, text_at, with_tail};
use super::{arguments_text, as_url, grouped_messages, hashed_id, joined, parameters, tool_name};
use crate::calls::{CallPart, arguments_of};
use crate::quirks::Quirk;
use crate::{Finish, Message, Role, Tool, ToolCall, ToolResult, Usage};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use url::Url;

pub(crate) struct Responses;

impl Format for Responses {
    fn url(&self, base: &Url, _: &str) -> Url {
        with_tail(base, "/responses")
    }

    fn body(&self, context: &RequestContext<'_>) -> Value {
        let RequestContext { request, quirks, .. } = *context;
        let (system_messages, groups) = grouped_messages(context);
        let items = groups.iter().flat_map(|group| &group.messages).flat_map(|message| items(context, message));
        let mut body = Map::new();
        body.insert("model".into(), json!(request.model));
        if !system_messages.is_empty() {
            body.insert("instructions".into(), json!(joined(&system_messages)));
        }
        body.insert("input".into(), items.collect());
        if !request.tools.is_empty() {
            body.insert("tools".into(), request.tools.iter().map(|each| tool(context, each)).collect());
            // The server does not store thinking, so it is sent back.
            if !quirks.knows(Quirk::NoEncryptedThinking) {
                body.insert("include".into(), json!(["reasoning.encrypted_content"]));
            }
        }
        body.insert("stream".into(), json!(true));
        // The server must not store the conversation.
        body.insert("store".into(), json!(false));
        if let Some(limit) = context.max_output() {
            body.insert("max_output_tokens".into(), json!(limit));
        }
        if let Some(temperature) = request.temperature.filter(|_| !quirks.knows(Quirk::NoTemperature)) {
            body.insert("temperature".into(), json!(temperature));
        }
        if let Some(thinking) = request.thinking.as_ref().filter(|_| !quirks.knows(Quirk::NoThinking)) {
            let mut reasoning = json!({ "effort": effort(thinking) });
            if !quirks.knows(Quirk::NoSummary) {
                reasoning["summary"] = json!("auto");
            }
            body.insert("reasoning".into(), reasoning);
        }
        Value::Object(body)
    }

    fn failure<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let failed = |response: &'v Value| response.get("error").filter(|error| !error.is_null()).map(|_| response);
        match text_at(value, "/type") {
            "error" => Some(value),
            "response.failed" => value.get("response").or(Some(value)),
            _ => failed(value),
        }
    }

    fn chunk(&self, value: &Value) -> Option<Chunk> {
        if value.get("object").is_some_and(|kind| kind == "response") {
            return Some(ended(value));
        }
        let kind = value.get("type")?.as_str()?;
        let delta = text_at(value, "/delta").to_owned();
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => Some(Chunk { text: delta, ..Chunk::default() }),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                Some(Chunk { reasoning: delta, ..Chunk::default() })
            }
            // Summaries arrive in parts. Each one is a paragraph.
            "response.reasoning_summary_part.added" if number_at(value, "/summary_index") > 0 => {
                Some(Chunk { reasoning: "\n\n".into(), ..Chunk::default() })
            }
            "response.output_item.added" => {
                Some(Chunk { calls: begun_call(value).into_iter().collect(), ..Chunk::default() })
            }
            "response.output_item.done" => {
                let item = value.get("item").unwrap_or(&Value::Null);
                let calls = whole_call(item, place(value)).into_iter().collect();
                Some(Chunk { calls, thinking: reasoning(item).into_iter().collect(), ..Chunk::default() })
            }
            "response.function_call_arguments.delta" => Some(part(value, delta, false)),
            "response.function_call_arguments.done" => Some(part(value, text_at(value, "/arguments").to_owned(), true)),
            // The arguments are an object that ends with the diff.
            "response.apply_patch_call_operation_diff.delta" => {
                let text = json!(delta).to_string();
                let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
                Some(part(value, inner.to_owned(), false))
            }
            "response.completed" | "response.incomplete" => value.get("response").map(ended),
            other => other.starts_with("response.").then(Chunk::default),
        }
    }
}

/// Name of the tool for patches that is built into the API.
const APPLY_PATCH: &str = "apply_patch";

/// Returns whether a tool is replaced by the one that is built into the API.
fn is_built_in(context: &RequestContext<'_>, tool: &Tool) -> bool {
    tool.built_in && tool.name == APPLY_PATCH && !context.quirks.knows(Quirk::NoBuiltInTools)
}

fn tool(context: &RequestContext<'_>, tool: &Tool) -> Value {
    if is_built_in(context, tool) {
        return json!({ "type": APPLY_PATCH });
    }
    json!({
        "type": "function", "name": tool_name(&tool.name), "description": tool.description,
        "parameters": parameters(tool), "strict": false,
    })
}

/// Results, thinking, text and images, calls.
fn items(context: &RequestContext<'_>, message: &Message) -> Vec<Value> {
    let mut items: Vec<Value> = message.tool_results.iter().map(|each| result_item(context, each)).collect();
    if message.role == Role::Assistant && !context.quirks.knows(Quirk::NoThinkingBack) {
        items.extend(message.thinking.iter().filter(|value| text_at(value, "/type") == "reasoning").cloned());
    }
    if !(message.content.is_empty() && message.images.is_empty()) {
        items.push(item(message));
    }
    items.extend(message.tool_calls.iter().map(|each| call_item(context, each)));
    items
}

fn item(message: &Message) -> Value {
    let (role, kind) = match message.role {
        Role::System => ("developer", "input_text"),
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    let images = message.images.iter().map(|image| json!({ "type": "input_image", "image_url": as_url(image) }));
    let text = (!message.content.is_empty()).then(|| json!({ "type": kind, "text": message.content }));
    json!({ "type": "message", "role": role, "content": images.chain(text).collect::<Vec<_>>() })
}

/// Longer ids, which other servers use, are rejected.
fn call_id(id: &str) -> Cow<'_, str> {
    if id.len() > 64 { Cow::Owned(hashed_id(id, 16)) } else { Cow::Borrowed(id) }
}

fn call_item(context: &RequestContext<'_>, call: &ToolCall) -> Value {
    let id = call_id(&call.id);
    if let Some(operation) = operation(context, call) {
        return json!({ "type": "apply_patch_call", "call_id": id, "status": "completed", "operation": operation });
    }
    json!({ "type": "function_call", "call_id": id, "name": tool_name(&call.name), "arguments": arguments_text(call) })
}

fn result_item(context: &RequestContext<'_>, result: &ToolResult) -> Value {
    let id = call_id(&result.id);
    let mut calls = context.request.messages.iter().flat_map(|message| &message.tool_calls);
    if result.built_in && calls.any(|call| call.id == result.id && operation(context, call).is_some()) {
        let status = if result.is_error { "failed" } else { "completed" };
        return json!({ "type": "apply_patch_call_output", "call_id": id, "status": status, "output": result.content });
    }
    json!({ "type": "function_call_output", "call_id": id, "output": result.content })
}

/// Returns the operation of a call of the built-in tool, if it is offered. Otherwise the call is sent as one of a
/// function.
fn operation(context: &RequestContext<'_>, call: &ToolCall) -> Option<Value> {
    let is_offered = call.built_in && context.request.tools.iter().any(|tool| is_built_in(context, tool));
    let arguments = is_offered.then(|| serde_json::from_str::<Value>(&call.arguments).ok())??;
    arguments.get("operation").filter(|operation| operation.is_object()).cloned()
}

/// The place of an item in the answer.
fn place(event: &Value) -> Option<u64> {
    event.get("output_index").and_then(Value::as_u64)
}

fn part(event: &Value, arguments: String, whole: bool) -> Chunk {
    let item = text_at(event, "/item_id").to_owned();
    let part = CallPart { index: place(event), item, arguments, whole, ..CallPart::default() };
    Chunk { calls: vec![part], ..Chunk::default() }
}

/// A call whose arguments follow.
fn begun_call(event: &Value) -> Option<CallPart> {
    let item = event.get("item")?;
    let mut part = CallPart { whole: false, ..whole_call(item, place(event))? };
    if part.built_in {
        // Ends where the diff begins, so that the parts are the text of the arguments.
        let begun = part.arguments.strip_suffix(r#""}}"#).filter(|_| text_at(item, "/operation/diff").is_empty());
        part.arguments = begun.unwrap_or_default().to_owned();
    }
    Some(part)
}

fn whole_call(item: &Value, index: Option<u64>) -> Option<CallPart> {
    let text = |path: &str| text_at(item, path).to_owned();
    let call = CallPart { index, item: text("/id"), id: text("/call_id"), whole: true, ..CallPart::default() };
    match text_at(item, "/type") {
        "function_call" => {
            Some(CallPart { name: text("/name"), arguments: arguments_of(item.get("arguments")), ..call })
        }
        "apply_patch_call" => {
            let mut operation = json!({ "type": text("/operation/type"), "path": text("/operation/path") });
            if text_at(item, "/operation/type") != "delete_file" {
                operation["diff"] = json!(text("/operation/diff"));
            }
            let arguments = json!({ "operation": operation }).to_string();
            Some(CallPart { name: APPLY_PATCH.to_owned(), arguments, built_in: true, ..call })
        }
        _ => None,
    }
}

/// The fields of a reasoning item that the API accepts. Without its content the server does not know the item, since
/// it stores nothing.
fn reasoning(item: &Value) -> Option<Value> {
    const FIELDS: [&str; 5] = ["type", "id", "summary", "content", "encrypted_content"];
    let has_content = !text_at(item, "/encrypted_content").is_empty() || list_at(item, "/content").next().is_some();
    if text_at(item, "/type") != "reasoning" || !has_content {
        return None;
    }
    let fields = item.as_object()?.iter().filter(|(name, value)| FIELDS.contains(&name.as_str()) && !value.is_null());
    Some(Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

/// Decodes the end of a response, which contains all of it.
fn ended(response: &Value) -> Chunk {
    let parts = |kind: &'static str, path: &'static str| {
        let items = list_at(response, "/output").filter(move |item| text_at(item, "/type") == kind);
        items.flat_map(move |item| list_at(item, path))
    };
    let text = parts("message", "/content").map(|part| match text_at(part, "/text") {
        "" => text_at(part, "/refusal"),
        text => text,
    });
    let call = |(index, item)| whole_call(item, u64::try_from(index).ok());
    let summaries: Vec<&str> = parts("reasoning", "/summary").map(|part| text_at(part, "/text")).collect();
    let finish = match (text_at(response, "/status"), text_at(response, "/incomplete_details/reason")) {
        ("completed", _) => Some(Finish::Stop),
        ("incomplete", "max_output_tokens" | "max_tokens") => Some(Finish::Length),
        ("incomplete", "content_filter") => Some(Finish::Filtered),
        ("incomplete", "") => Some(Finish::Other("incomplete".to_owned())),
        ("incomplete", reason) => Some(Finish::Other(reason.to_owned())),
        _ => None,
    };
    Chunk {
        text: text.collect(),
        reasoning: summaries.join("\n\n"),
        calls: list_at(response, "/output").enumerate().filter_map(call).collect(),
        thinking: list_at(response, "/output").filter_map(reasoning).collect(),
        whole: true,
        last: finish.is_some(),
        finish,
        usage: response.get("usage").and_then(usage),
    }
}

fn usage(value: &Value) -> Option<Usage> {
    Some(Usage {
        input: value.get("input_tokens")?.as_u64()?,
        output: number_at(value, "/output_tokens"),
        cached: number_at(value, "/input_tokens_details/cached_tokens"),
        cache_written: number_at(value, "/input_tokens_details/cache_write_tokens"),
        reasoning: number_at(value, "/output_tokens_details/reasoning_tokens"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use crate::quirks::Quirks;
    use crate::{Request, Thinking};

    #[test]
    fn a_request_is_instructions_and_items() {
        let mut user = Message::new(Role::User, "u");
        let image = Image { name: "x".into(), media_type: "image/png".into(), bytes: [1, 2, 3].as_slice().into() };
        user.images.push(image);
        let messages = vec![
            Message::new(Role::System, "s"),
            user,
            Message::new(Role::Assistant, "a"),
            Message::new(Role::System, "reminder"),
        ];
        let thinking = Some(Thinking::Effort("high".into()));
        let request =
            Request { model: "m".into(), messages, thinking, max_output_tokens: Some(5), ..Request::default() };
        let quirks = Quirks::default();
        let body = Responses.body(&RequestContext { request: &request, quirks: &quirks, host: "h" });
        let expected = json!({
            "model": "m", "instructions": "s",
            "input": [
                {"type":"message","role":"user","content":[
                    {"type":"input_image","image_url":"data:image/png;base64,AQID"}, {"type":"input_text","text":"u"}]},
                {"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},
                {"type":"message","role":"developer","content":[{"type":"input_text","text":"reminder"}]},
            ],
            "stream": true, "store": false, "max_output_tokens": 5,
            "reasoning": {"effort":"high","summary":"auto"},
        });
        assert_eq!(body, expected);
        let quirks = quirks.after("verify your organization for reasoning summaries", &request).unwrap();
        let body = Responses.body(&RequestContext { request: &request, quirks: &quirks, host: "h" });
        assert_eq!(body["reasoning"], json!({"effort":"high"}));
    }

    #[test]
    fn tokens_that_are_written_to_the_cache_are_counted() {
        let details = json!({"cached_tokens":2000,"cache_write_tokens":400});
        let usage = usage(&json!({"input_tokens":2600,"input_tokens_details":details,"output_tokens":7}));
        assert_eq!(usage, Some(Usage { input: 2600, output: 7, cached: 2000, cache_written: 400, reasoning: 0 }));
    }

    #[test]
    fn every_end_is_recognized() {
        let ended = |kind: &str, response: Value| {
            Responses.chunk(&json!({"type": kind, "response": response})).and_then(|chunk| chunk.finish)
        };
        assert_eq!(ended("response.completed", json!({"status":"completed"})), Some(Finish::Stop));
        let cut = |reason: &str| json!({"status":"incomplete","incomplete_details":{"reason":reason}});
        assert_eq!(ended("response.incomplete", cut("max_output_tokens")), Some(Finish::Length));
        assert_eq!(ended("response.incomplete", cut("content_filter")), Some(Finish::Filtered));
        assert_eq!(ended("response.incomplete", cut("x")), Some(Finish::Other("x".into())));
        assert_eq!(ended("response.created", json!({"status":"in_progress"})), None);
        for failure in [
            json!({"type":"error","code":"server_error","message":"x"}),
            json!({"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"x"}}}),
            json!({"type":"response.failed"}),
            json!({"error":{"message":"x"}}),
        ] {
            assert!(Responses.failure(&failure).is_some(), "{failure}");
        }
        assert!(Responses.failure(&json!({"object":"response","error":null})).is_none());
    }
}
