//! Ollama's own `/api/chat`. Unlike its compatible API it accepts the context length, without which the server
//! truncates long prompts silently.

use super::{Chunk, Format, RequestContext, effort, list_at, number_at, root, text_at};
use super::{arguments_object, base64, function_tool, keep_text, tool_name};
use crate::calls::{CallPart, arguments_of};
use crate::framing::Framing;
use crate::quirks::Quirk;
use crate::{Finish, Message, Request, Role, Thinking, ToolCall, ToolResult, Usage};
use serde_json::{Map, Value, json};
use url::Url;

/// Step of the context length in tokens. The server reloads the model for each different length.
const STEP: usize = 8192;
/// Tokens reserved for the answer if the request sets no limit.
const ANSWER: usize = 4096;

pub(crate) struct Ollama;

/// Returns a URL of Ollama's own API, from the base URL of any of its APIs.
fn at(base: &Url, name: &str) -> Url {
    let root = root(base);
    let root = root.strip_suffix("/v1").or_else(|| root.strip_suffix("/api")).unwrap_or(root);
    let mut url = base.clone();
    url.set_path(&format!("{root}/api/{name}"));
    url
}

impl Format for Ollama {
    fn url(&self, base: &Url, _: &str) -> Url {
        at(base, "chat")
    }

    fn list_url(&self, base: &Url) -> Url {
        at(base, "tags")
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn body(&self, context: &RequestContext<'_>) -> Value {
        let RequestContext { request, quirks, .. } = *context;
        let mut options = Map::new();
        options.insert("num_ctx".into(), json!(context_for(request, quirks.context)));
        if let Some(limit) = context.max_output() {
            options.insert("num_predict".into(), json!(limit));
        }
        if let Some(temperature) = request.temperature {
            options.insert("temperature".into(), json!(temperature));
        }
        let mut body = json!({
            "model": request.model,
            "messages": request.messages.iter().flat_map(messages).collect::<Vec<_>>(),
            "stream": true,
            "options": options,
        });
        if !request.tools.is_empty() {
            body["tools"] = request.tools.iter().map(function_tool).collect();
        }
        if let Some(thinking) = request.thinking.as_ref().filter(|_| !quirks.knows(Quirk::NoThinking)) {
            body["think"] = think(&request.model, thinking);
        }
        body
    }

    fn failure<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.get("error").is_some_and(|error| !error.is_null()).then_some(value)
    }

    fn chunk(&self, value: &Value) -> Option<Chunk> {
        if !["message", "done"].iter().any(|name| value.get(name).is_some()) {
            return None;
        }
        let done = value.get("done").is_some_and(|done| done == true);
        let reasoning = thinking(value);
        Some(Chunk {
            text: text_at(value, "/message/content").to_owned(),
            reasoning: reasoning.to_owned(),
            thinking: (!reasoning.is_empty()).then(|| json!({ THINKING: reasoning })).into_iter().collect(),
            calls: list_at(value, "/message/tool_calls").map(call).collect(),
            finish: if done { finish(value.get("done_reason")) } else { None },
            usage: done.then(|| usage(value)),
            last: done,
            ..Chunk::default()
        })
    }

    fn keep_thinking(&self, kept: &mut Vec<Value>, part: Value) {
        keep_text(kept, THINKING, text_at(&part, "/thinking"));
    }
}

/// The field of a message with thinking.
const THINKING: &str = "thinking";

/// Each call arrives whole. Old servers send no id, and all calls may have the same index.
fn call(value: &Value) -> CallPart {
    CallPart {
        id: text_at(value, "/id").to_owned(),
        name: text_at(value, "/function/name").to_owned(),
        arguments: arguments_of(value.pointer("/function/arguments")),
        whole: true,
        ..CallPart::default()
    }
}

/// Returns the context length in tokens for a request: the prompt plus a tenth, because it was counted with another
/// tokenizer, plus the answer. At least `loaded`, for which the model is loaded already.
pub(crate) fn context_for(request: &Request, loaded: Option<u32>) -> u32 {
    let tools: usize = request.tools.iter().map(|tool| function_tool(tool).to_string().len()).sum();
    let bytes: usize = request.messages.iter().map(size).sum();
    let prompt = if request.tokens > 0 { request.tokens } else { bytes / 3 }.saturating_add(tools / 3);
    let answer = request.max_output_tokens.map_or(ANSWER, |tokens| usize::try_from(tokens).unwrap_or(ANSWER));
    let needed = (prompt + prompt / 10).saturating_add(answer).div_ceil(STEP).saturating_mul(STEP);
    u32::try_from(needed).unwrap_or(u32::MAX).max(loaded.unwrap_or(0))
}

/// Size of the texts of a message in bytes.
fn size(message: &Message) -> usize {
    let calls: usize = message.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    let results: usize = message.tool_results.iter().map(|result| result.content.len()).sum();
    message.content.len() + calls + results
}

/// Results are messages before the text.
fn messages(message: &Message) -> Vec<Value> {
    let result = |result: &ToolResult| json!({ "role": "tool", "content": result.content, "tool_name": tool_name(&result.name) });
    let mut messages: Vec<Value> = message.tool_results.iter().map(result).collect();
    if !messages.is_empty() && message.content.is_empty() && message.images.is_empty() {
        return messages;
    }
    let mut value = json!({ "role": message.role.as_str(), "content": message.content });
    if !message.images.is_empty() && message.role == Role::User {
        value["images"] = message.images.iter().map(base64).collect();
    }
    if message.role == Role::Assistant {
        if let Some(thinking) = message.thinking.iter().find_map(own_thinking) {
            value[THINKING] = json!(thinking);
        }
        if !message.tool_calls.is_empty() {
            let function =
                |call: &ToolCall| json!({ "name": tool_name(&call.name), "arguments": arguments_object(call) });
            value["tool_calls"] = message.tool_calls.iter().map(|call| json!({ "function": function(call) })).collect();
        }
    }
    messages.push(value);
    messages
}

/// Thinking of this API, unlike that of Anthropic's, has no type.
fn own_thinking(value: &Value) -> Option<&str> {
    value.as_object().filter(|fields| fields.len() == 1)?.get(THINKING)?.as_str()
}

/// The models of one family accept a level, others only true or false.
fn think(model: &str, thinking: &Thinking) -> Value {
    match effort(thinking) {
        "none" | "off" => json!(false),
        word if model.contains("gpt-oss") => json!(word),
        _ => json!(true),
    }
}

/// Compatible servers use the field name of the chat API.
fn thinking(value: &Value) -> &str {
    let fields = ["/message/thinking", "/message/reasoning_content"].map(|path| text_at(value, path));
    fields.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// Servers from before May 2024 send no reason: `done` alone completes the answer.
fn finish(reason: Option<&Value>) -> Option<Finish> {
    match reason.unwrap_or(&Value::Null) {
        Value::Null => Some(Finish::Stop),
        Value::String(word) => Some(match word.as_str() {
            "stop" | "" => Finish::Stop,
            "length" => Finish::Length,
            other => Finish::Other(other.to_owned()),
        }),
        _ => None,
    }
}

fn usage(value: &Value) -> Usage {
    Usage { input: number_at(value, "/prompt_eval_count"), output: number_at(value, "/eval_count"), ..Usage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use crate::quirks::Quirks;

    #[test]
    fn a_request_says_how_long_the_context_must_be() {
        let mut user = Message::new(Role::User, "u");
        let image = Image { name: "x".into(), media_type: "image/png".into(), bytes: [1, 2, 3].as_slice().into() };
        user.images.push(image);
        let request = Request {
            model: "m".into(),
            messages: vec![Message::new(Role::System, "s"), user],
            tokens: 9000,
            max_output_tokens: Some(1000),
            thinking: Some(Thinking::Effort("low".into())),
            ..Request::default()
        };
        let expected = json!({
            "model": "m",
            "messages": [{"role":"system","content":"s"}, {"role":"user","content":"u","images":["AQID"]}],
            "stream": true,
            "options": {"num_ctx":16_384,"num_predict":1000},
            "think": true,
        });
        assert_eq!(Ollama.body(&RequestContext { request: &request, quirks: &Quirks::default(), host: "h" }), expected);
        assert_eq!(think("gpt-oss:20b", &Thinking::Budget(9000)), "medium");
        assert_eq!(think("gpt-oss:20b", &Thinking::Budget(0)), false);
    }

    #[test]
    fn the_context_holds_prompt_and_answer_and_moves_in_steps() {
        let request = |tokens, max_output_tokens| Request { tokens, max_output_tokens, ..Request::default() };
        assert_eq!(context_for(&request(1, None), None), 8192);
        assert_eq!(context_for(&request(3000, None), None), 8192);
        assert_eq!(context_for(&request(4000, None), None), 16_384);
        assert_eq!(context_for(&request(100_000, Some(8000)), None), 122_880);
        assert_eq!(context_for(&request(1, None), Some(32_768)), 32_768);
        let unknown = Request { messages: vec![Message::new(Role::User, "x".repeat(30_000))], ..Request::default() };
        assert_eq!(context_for(&unknown, None), 16_384);
        assert_eq!(context_for(&request(usize::MAX / 2, None), None), u32::MAX);
        let mut results = Message::new(Role::User, "");
        results.tool_results.push(ToolResult { content: "x".repeat(30_000), ..ToolResult::default() });
        let called = Request { messages: vec![results], ..Request::default() };
        assert_eq!(context_for(&called, None), 16_384);
    }
}
