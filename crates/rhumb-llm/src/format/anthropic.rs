//! Anthropic's Messages API.

use super::{Chunk, Format, RequestContext, budget, effort, has_version, list_at, number_at, root, text_at, with_tail};
use super::{
    MessageGroup, arguments_object, base64, blank_end, extend_text, grouped_messages, hashed_id, is_begun, is_empty,
    is_plain, parameters, tool_name,
};
use crate::calls::{CallPart, arguments_of};
use crate::quirks::Quirk;
use crate::{Finish, Image, Message, Request, Role, Thinking, Tool, ToolResult, Usage};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use url::Url;

/// Maximum number of output tokens if the request sets none and that of the model is unknown, since the API requires a
/// value. If a model does not accept it, its error message names the limit, which is then used.
pub(crate) const DEFAULT_OUTPUT: u32 = 16_384;
/// Maximum number of cache marks in a request.
const MAX_MARKS: usize = 4;
/// Minimum thinking budget in tokens.
const MIN_BUDGET: u32 = 1024;

pub(crate) struct Anthropic;

impl Format for Anthropic {
    fn url(&self, base: &Url, _: &str) -> Url {
        with_tail(base, if has_version(root(base)) { "/messages" } else { "/v1/messages" })
    }

    fn list_url(&self, base: &Url) -> Url {
        let mut url = with_tail(base, if has_version(root(base)) { "/models" } else { "/v1/models" });
        url.query_pairs_mut().append_pair("limit", "1000");
        url
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(&self, context: &RequestContext<'_>) -> Value {
        let (system_messages, groups) = grouped_messages(context);
        let output = max_output(context);
        let thinking = thinking(context, output);
        // Blocks of thinking are accepted only if thinking is on, which is the default of some servers.
        let is_on = thinking.is_some() || (context.request.thinking.is_none() && can_think(context));
        let keeps_thinking = is_on && !context.quirks.knows(Quirk::NoThinkingBack);
        let marked = marked(
            context,
            system_messages.iter().copied().chain(groups.iter().flat_map(|group| &group.messages).copied()),
        );
        let mut system = Vec::new();
        for message in system_messages {
            push_blocks(message, &marked, false, &mut system);
        }
        let mut body = Map::new();
        body.insert("model".into(), json!(context.request.model));
        if !system.is_empty() {
            body.insert("system".into(), Value::Array(system));
        }
        if !context.request.tools.is_empty() {
            body.insert("tools".into(), context.request.tools.iter().map(tool).collect());
        }
        let mut messages: Vec<Value> = groups.iter().map(|group| as_message(group, &marked, keeps_thinking)).collect();
        if !self.unsent_end(context.request).is_empty() {
            trim_last(&mut messages);
        }
        body.insert("messages".into(), Value::Array(messages));
        body.insert("stream".into(), json!(true));
        match thinking {
            Some(thinking) if context.quirks.knows(Quirk::AdaptiveThinking) => {
                set_effort(&mut body, context, thinking, output);
            }
            Some(thinking) => set_budget(&mut body, thinking, output, is_fixed(context, output)),
            None => {
                body.insert("max_tokens".into(), json!(output));
                if let Some(temperature) =
                    context.request.temperature.filter(|_| !context.quirks.knows(Quirk::NoTemperature))
                {
                    body.insert("temperature".into(), json!(temperature));
                }
            }
        }
        Value::Object(body)
    }

    fn unsent_end<'r>(&self, request: &'r Request) -> &'r str {
        blank_end(&request.messages)
    }

    fn chunk(&self, value: &Value) -> Option<Chunk> {
        let kind = value.get("type")?.as_str()?;
        let mut chunk = Chunk::default();
        match kind {
            "message" => return Some(whole(value)),
            "message_start" => chunk.usage = value.pointer("/message/usage").map(usage),
            "content_block_start" => {
                text_at(value, "/content_block/text").clone_into(&mut chunk.text);
                text_at(value, "/content_block/thinking").clone_into(&mut chunk.reasoning);
                let block = value.get("content_block").unwrap_or(&Value::Null);
                chunk.calls.extend(call(block, value.get("index").and_then(Value::as_u64)));
                chunk.thinking.extend(thinking_block(block));
            }
            "content_block_delta" => {
                text_at(value, "/delta/text").clone_into(&mut chunk.text);
                text_at(value, "/delta/thinking").clone_into(&mut chunk.reasoning);
                let arguments = text_at(value, "/delta/partial_json").to_owned();
                let index = value.get("index").and_then(Value::as_u64);
                chunk.calls.push(CallPart { index, arguments, ..CallPart::default() });
                chunk.calls.retain(|part| !part.is_empty());
                let signature = text_at(value, "/delta/signature");
                if !(chunk.reasoning.is_empty() && signature.is_empty()) {
                    chunk.thinking.extend(value.get("delta").cloned());
                }
            }
            "message_delta" => {
                chunk.finish = finish(text_at(value, "/delta/stop_reason"));
                chunk.usage = value.get("usage").map(usage);
            }
            "message_stop" => chunk.last = true,
            "content_block_stop" | "ping" => {}
            _ => return None,
        }
        Some(chunk)
    }

    fn keep_thinking(&self, kept: &mut Vec<Value>, part: Value) {
        if THINKING_BLOCKS.contains(&text_at(&part, "/type")) {
            kept.push(part);
        } else if let Some(block) = kept.last_mut().and_then(Value::as_object_mut) {
            for name in ["thinking", "signature"] {
                let text = text_at(&part, &format!("/{name}"));
                if !text.is_empty() {
                    extend_text(block, name, text);
                }
            }
        }
    }
}

/// The types of content blocks with thinking.
const THINKING_BLOCKS: [&str; 2] = ["thinking", "redacted_thinking"];

/// A content block with thinking, without the empty signature that precedes a signature in parts.
fn thinking_block(block: &Value) -> Option<Value> {
    let mut block = THINKING_BLOCKS.contains(&text_at(block, "/type")).then(|| block.clone())?;
    if let Some(fields) = block.as_object_mut() {
        fields.retain(|name, value| name != "signature" || value.as_str().is_some_and(|text| !text.is_empty()));
    }
    Some(block)
}

/// A call, whose arguments may follow in parts.
fn call(block: &Value, index: Option<u64>) -> Option<CallPart> {
    (text_at(block, "/type") == "tool_use").then(|| CallPart {
        index,
        id: text_at(block, "/id").to_owned(),
        name: text_at(block, "/name").to_owned(),
        arguments: arguments_of(block.get("input").filter(|input| **input != json!({}))),
        ..CallPart::default()
    })
}

/// Returns the maximum number of output tokens: that of the request or else of the model, or less if the server accepts
/// less.
fn max_output(context: &RequestContext<'_>) -> u32 {
    let asked = context.request.max_output_tokens.or(context.request.model_max_output);
    [asked, context.quirks.max_output].into_iter().flatten().min().unwrap_or(DEFAULT_OUTPUT)
}

/// Returns whether thinking is possible in this request.
fn can_think(context: &RequestContext<'_>) -> bool {
    // Thinking cannot be combined with a begun answer.
    !context.quirks.knows(Quirk::NoThinking) && !is_begun(&context.request.messages)
}

/// Returns the thinking to ask for, if any.
fn thinking<'r>(context: &RequestContext<'r>, output: u32) -> Option<&'r Thinking> {
    let thinking = context.request.thinking.as_ref().filter(|thinking| can_think(context) && budget(thinking) > 0)?;
    let adaptive = context.quirks.knows(Quirk::AdaptiveThinking);
    // With a budget, an answer with calls must begin with thinking. Those of another model do not.
    let fits = (!is_fixed(context, output) || output >= 2 * MIN_BUDGET) && !lacks_thinking(context);
    (adaptive || fits).then_some(thinking)
}

/// Returns whether the answer to the last question begins with tool calls without thinking. Its later steps need none.
fn lacks_thinking(context: &RequestContext<'_>) -> bool {
    let messages = &context.request.messages;
    let is_question = |message: &Message| message.role == Role::User && message.tool_results.is_empty();
    let start = messages.iter().rposition(is_question).unwrap_or(0);
    let has_thinking = |message: &Message| {
        !context.quirks.knows(Quirk::NoThinkingBack)
            && message.thinking.iter().any(|value| THINKING_BLOCKS.contains(&text_at(value, "/type")))
    };
    let first = messages.iter().skip(start).find(|message| !message.tool_calls.is_empty());
    first.is_some_and(|message| !has_thinking(message))
}

fn tool(tool: &Tool) -> Value {
    json!({ "name": tool_name(&tool.name), "description": tool.description, "input_schema": parameters(tool) })
}

/// Other characters than these, which ids of other servers may have, are rejected.
fn call_id(id: &str) -> Cow<'_, str> {
    let is_valid = (1..=64).contains(&id.len()) && id.chars().all(is_plain);
    if is_valid { Cow::Borrowed(id) } else { Cow::Owned(hashed_id(id, 16)) }
}

fn tool_result(result: &ToolResult) -> Value {
    // An error without a text is rejected.
    let content =
        if result.is_error && result.content.trim().is_empty() { "The call failed." } else { &result.content };
    let mut block = json!({ "type": "tool_result", "tool_use_id": call_id(&result.id), "content": content });
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

/// Selects the messages whose cache marks are sent. If there are too many, keeps the first one, which changes least,
/// and the last ones, which cover the longest prefixes.
fn marked<'a>(context: &RequestContext<'_>, messages: impl Iterator<Item = &'a Message>) -> Vec<*const Message> {
    if context.quirks.knows(Quirk::NoCacheMarks) {
        return Vec::new();
    }
    // Only a content block can be marked, and an empty message has none.
    let can_be = |message: &&Message| message.cached && !is_empty(message);
    let mut marked: Vec<*const Message> = messages.filter(can_be).map(std::ptr::from_ref).collect();
    if marked.len() > MAX_MARKS {
        marked.drain(1..=marked.len() - MAX_MARKS);
    }
    marked
}

fn push_blocks(message: &Message, marked: &[*const Message], keeps_thinking: bool, blocks: &mut Vec<Value>) {
    let source = |image: &Image| json!({ "type": "base64", "media_type": image_type(image), "data": base64(image) });
    if keeps_thinking && message.role == Role::Assistant {
        let is_own = |value: &&Value| THINKING_BLOCKS.contains(&text_at(value, "/type"));
        blocks.extend(message.thinking.iter().filter(is_own).cloned());
    }
    blocks.extend(message.tool_results.iter().map(tool_result));
    blocks.extend(message.images.iter().map(|image| json!({ "type": "image", "source": source(image) })));
    let has_tools = !message.tool_calls.is_empty() || !message.tool_results.is_empty();
    // Models write blank lines before calls, and a block of blanks is rejected.
    if !(message.content.is_empty() || (has_tools && message.content.trim().is_empty())) {
        blocks.push(json!({ "type": "text", "text": message.content }));
    }
    blocks.extend(message.tool_calls.iter().map(|call| {
        let (id, name) = (call_id(&call.id), tool_name(&call.name));
        json!({ "type": "tool_use", "id": id, "name": name, "input": arguments_object(call) })
    }));
    if marked.contains(&std::ptr::from_ref(message))
        && let Some(last) = blocks.last_mut()
    {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
}

fn image_type(image: &Image) -> &str {
    if image.media_type == "image/jpg" { "image/jpeg" } else { &image.media_type }
}

fn as_message(group: &MessageGroup<'_>, marked: &[*const Message], keeps_thinking: bool) -> Value {
    let mut blocks = Vec::new();
    for message in &group.messages {
        push_blocks(message, marked, keeps_thinking, &mut blocks);
    }
    // Anything before the results is rejected.
    blocks.sort_by_key(|block| text_at(block, "/type") != "tool_result");
    json!({ "role": group.role.as_str(), "content": blocks })
}

/// Removes whitespace from the end of a begun answer, and the whole answer if it is empty then.
fn trim_last(messages: &mut Vec<Value>) {
    let content = messages.last_mut().and_then(|last| last.get_mut("content"));
    let Some(blocks) = content.and_then(Value::as_array_mut) else { return };
    if let Some(Value::String(text)) = blocks.last_mut().and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
        if text.is_empty() {
            blocks.pop();
        }
    }
    if blocks.is_empty() {
        messages.pop();
    }
}

/// Returns whether `output` limits answer and thinking together, because of a spending cap or a limit of the server or
/// the model.
fn is_fixed(context: &RequestContext<'_>, output: u32) -> bool {
    let request = context.request;
    let is_of_model = request.max_output_tokens.is_none() && request.model_max_output.is_some();
    request.capped || is_of_model || context.quirks.max_output.is_some_and(|most| most <= output)
}

fn set_effort(body: &mut Map<String, Value>, context: &RequestContext<'_>, thinking: &Thinking, output: u32) {
    let mut adaptive = json!({ "type": "adaptive" });
    // Since Opus 4.7, the text of the thinking is omitted by default.
    if !context.quirks.knows(Quirk::NoThinkingDisplay) {
        adaptive["display"] = json!("summarized");
    }
    // The API has no level below `low`.
    let level = match effort(thinking) {
        "minimal" => "low",
        level => level,
    };
    body.insert("max_tokens".into(), json!(output));
    body.insert("thinking".into(), adaptive);
    body.insert("output_config".into(), json!({ "effort": level }));
}

/// Sets the thinking budget. Thinking counts towards `max_tokens`, so the budget is added to it. If the limit is
/// fixed, thinking gets at most half of it.
fn set_budget(body: &mut Map<String, Value>, thinking: &Thinking, output: u32, fixed: bool) {
    let tokens = budget(thinking).max(MIN_BUDGET);
    let (tokens, limit) = match output > tokens {
        true => (tokens, output),
        false if fixed => (output / 2, output),
        false => (tokens, output.saturating_add(tokens)),
    };
    body.insert("max_tokens".into(), json!(limit));
    body.insert("thinking".into(), json!({ "type": "enabled", "budget_tokens": tokens }));
}

/// Parses a complete message, which gateways without streaming send.
fn whole(message: &Value) -> Chunk {
    let parts = |path: &'static str| list_at(message, "/content").map(move |part| text_at(part, path)).collect();
    let finish = finish(text_at(message, "/stop_reason"));
    let whole_call = |(index, block)| Some(CallPart { whole: true, ..call(block, u64::try_from(index).ok())? });
    Chunk {
        text: parts("/text"),
        reasoning: parts("/thinking"),
        calls: list_at(message, "/content").enumerate().filter_map(whole_call).collect(),
        thinking: list_at(message, "/content").filter_map(thinking_block).collect(),
        whole: true,
        last: finish.is_some(),
        finish,
        usage: message.get("usage").map(usage),
    }
}

fn finish(word: &str) -> Option<Finish> {
    match word {
        "" => None,
        "end_turn" | "stop_sequence" => Some(Finish::Stop),
        "max_tokens" | "model_context_window_exceeded" => Some(Finish::Length),
        "refusal" => Some(Finish::Filtered),
        other => Some(Finish::Other(other.to_owned())),
    }
}

/// Adds up the input tokens, since cached ones are reported separately.
fn usage(value: &Value) -> Usage {
    let cached = number_at(value, "/cache_read_input_tokens");
    let cache_written = number_at(value, "/cache_creation_input_tokens");
    Usage {
        input: number_at(value, "/input_tokens").saturating_add(cached).saturating_add(cache_written),
        output: number_at(value, "/output_tokens"),
        cached,
        cache_written,
        reasoning: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quirks::Quirks;

    fn body(request: &Request, complaints: &[&str]) -> Value {
        let learn = |quirks: Quirks, complaint: &&str| quirks.after(complaint, request).unwrap();
        let quirks = complaints.iter().fold(Quirks::default(), learn);
        Anthropic.body(&RequestContext { request, quirks: &quirks, host: "h" })
    }

    fn cached(role: Role, content: &str) -> Message {
        Message { cached: true, ..Message::new(role, content) }
    }

    #[test]
    fn a_request_is_blocks_in_turns() {
        let mut shown = Message::new(Role::User, "look");
        let image = Image { name: "x".into(), media_type: "image/jpg".into(), bytes: [1, 2, 3].as_slice().into() };
        shown.images.push(image);
        let messages = vec![
            cached(Role::System, "s"),
            shown,
            Message::new(Role::User, ""),
            cached(Role::User, "u"),
            Message::new(Role::Assistant, "begun \n"),
        ];
        let request = Request { model: "m".into(), messages, temperature: Some(0.5), ..Request::default() };
        let mark = json!({"type":"ephemeral"});
        let expected = json!({
            "model": "m",
            "system": [{"type":"text","text":"s","cache_control":mark}],
            "messages": [
                {"role":"user","content":[
                    {"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"AQID"}},
                    {"type":"text","text":"look"}, {"type":"text","text":"u","cache_control":mark}]},
                {"role":"assistant","content":[{"type":"text","text":"begun"}]},
            ],
            "stream": true, "max_tokens": DEFAULT_OUTPUT, "temperature": 0.5,
        });
        assert_eq!(body(&request, &[]), expected);
    }

    #[test]
    fn a_begun_answer_of_blanks_is_not_sent() {
        let messages = vec![Message::new(Role::User, "u"), Message::new(Role::Assistant, " \n")];
        let request = Request { messages, ..Request::default() };
        assert_eq!(body(&request, &[])["messages"].as_array().map(Vec::len), Some(1));
        assert_eq!(Anthropic.unsent_end(&request), " \n");
    }

    #[test]
    fn excess_cache_marks_are_dropped_from_the_middle() {
        let messages = (0..7).map(|n| cached(if n % 2 == 0 { Role::User } else { Role::Assistant }, &n.to_string()));
        let request = Request { messages: messages.collect(), ..Request::default() };
        let body = body(&request, &[]);
        let is_marked = |n: &usize| body["messages"][*n]["content"][0].get("cache_control").is_some();
        assert_eq!((0..7).filter(is_marked).collect::<Vec<_>>(), [0, 4, 5, 6]);
    }

    #[test]
    fn thinking_is_added_to_the_limit_and_excludes_a_temperature() {
        let thinking = |thinking| Request {
            messages: vec![Message::new(Role::User, "u")],
            max_output_tokens: Some(4000),
            temperature: Some(0.0),
            thinking: Some(thinking),
            ..Request::default()
        };
        let budgeted = body(&thinking(Thinking::Budget(8000)), &[]);
        assert_eq!(budgeted["thinking"], json!({"type":"enabled","budget_tokens":8000}));
        assert_eq!((&budgeted["max_tokens"], budgeted.get("temperature")), (&json!(12_000), None));
        assert_eq!(body(&thinking(Thinking::Budget(5)), &[])["thinking"]["budget_tokens"], MIN_BUDGET);
        let word = thinking(Thinking::Effort("high".into()));
        assert_eq!(body(&word, &[])["thinking"]["budget_tokens"], 24_576);
        let adaptive = body(&word, &[ADAPTIVE]);
        assert_eq!(adaptive["thinking"], json!({"type":"adaptive","display":"summarized"}));
        assert_eq!(adaptive["output_config"], json!({"effort":"high"}));
        for without in [
            body(&word, &["thinking is not supported by this model"]),
            body(&thinking(Thinking::Budget(0)), &[]),
            body(&thinking(Thinking::Effort("none".into())), &[]),
        ] {
            assert!(without.get("thinking").is_none() && without["max_tokens"] == 4000, "{without}");
        }
    }

    const ADAPTIVE: &str = "use thinking.type adaptive and output_config.effort";

    #[test]
    fn adaptive_thinking_has_a_level_that_the_api_knows_and_is_shown_if_possible() {
        let request = Request {
            messages: vec![Message::new(Role::User, "u")],
            thinking: Some(Thinking::Effort("minimal".into())),
            ..Request::default()
        };
        let refused = "thinking.adaptive.display: Extra inputs are not permitted";
        for (complaints, thinking) in [
            (&[ADAPTIVE][..], json!({"type":"adaptive","display":"summarized"})),
            (&[ADAPTIVE, refused], json!({"type":"adaptive"})),
        ] {
            let body = body(&request, complaints);
            assert_eq!((&body["thinking"], &body["output_config"]), (&thinking, &json!({"effort":"low"})));
        }
    }

    #[test]
    fn without_a_limit_in_the_request_that_of_the_model_is_sent() {
        let request = |model_max_output, thinking| Request {
            messages: vec![Message::new(Role::User, "u")],
            model_max_output,
            thinking,
            ..Request::default()
        };
        let limit = |request: &Request, complaints: &[&str]| body(request, complaints)["max_tokens"].clone();
        assert_eq!(limit(&request(None, None), &[]), DEFAULT_OUTPUT);
        assert_eq!(limit(&request(Some(64_000), None), &[]), 64_000);
        assert_eq!(limit(&Request { max_output_tokens: Some(4000), ..request(Some(64_000), None) }, &[]), 4000);
        let complaint = "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens";
        assert_eq!(limit(&request(Some(64_000), None), &[complaint]), 32_000);
        // Thinking counts towards it.
        let thinking = body(&request(Some(20_000), Some(Thinking::Budget(24_000))), &[]);
        assert_eq!((&thinking["max_tokens"], &thinking["thinking"]["budget_tokens"]), (&json!(20_000), &json!(10_000)));
    }

    #[test]
    fn thinking_stays_within_a_limit_that_is_fixed() {
        let request = |most, capped| Request {
            messages: vec![Message::new(Role::User, "u")],
            max_output_tokens: Some(most),
            thinking: Some(Thinking::Budget(8000)),
            capped,
            ..Request::default()
        };
        let told = |body: &Value| (body["max_tokens"].as_u64(), body["thinking"]["budget_tokens"].as_u64());
        assert_eq!(told(&body(&request(3000, true), &[])), (Some(3000), Some(1500)));
        assert_eq!(told(&body(&request(2000, true), &[])), (Some(2000), None));
        assert_eq!(told(&body(&request(9000, true), &[])), (Some(9000), Some(8000)));
        let complaint = "max_tokens: 17000 > 4096, which is the maximum allowed number of output tokens";
        assert_eq!(told(&body(&request(9000, false), &[complaint])), (Some(4096), Some(2048)));
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let usage = usage(&json!({
            "input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":7
        }));
        assert_eq!(usage, Usage { input: 125, output: 7, cached: 100, cache_written: 20, reasoning: 0 });
    }
}
