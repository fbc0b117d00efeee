//! Anthropic's Messages API.

use super::{Chunk, Format, RequestContext, budget, effort, has_version, list_at, number_at, root, text_at, with_tail};
use super::{MessageGroup, base64, blank_end, grouped_messages, is_begun};
use crate::quirks::Quirk;
use crate::{Finish, Image, Message, Request, Thinking, Usage};
use serde_json::{Map, Value, json};
use url::Url;

/// Maximum number of output tokens if the request sets none, since the API requires a value. If a model does not
/// accept it, its error message names the limit, which is then used.
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
        let marked = marked(
            context,
            system_messages.iter().copied().chain(groups.iter().flat_map(|group| &group.messages).copied()),
        );
        let mut system = Vec::new();
        for message in system_messages {
            push_blocks(message, &marked, &mut system);
        }
        let mut body = Map::new();
        body.insert("model".into(), json!(context.request.model));
        if !system.is_empty() {
            body.insert("system".into(), Value::Array(system));
        }
        let mut messages: Vec<Value> = groups.iter().map(|group| as_message(group, &marked)).collect();
        if !self.unsent_end(context.request).is_empty() {
            trim_last(&mut messages);
        }
        body.insert("messages".into(), Value::Array(messages));
        body.insert("stream".into(), json!(true));
        let output = context.max_output().or(context.quirks.max_output).unwrap_or(DEFAULT_OUTPUT);
        // Thinking cannot be combined with a begun answer or a temperature.
        let thinks = !context.quirks.knows(Quirk::NoThinking) && !is_begun(&context.request.messages);
        let thinking = context.request.thinking.as_ref().filter(|thinking| thinks && budget(thinking) > 0);
        let adaptive = context.quirks.knows(Quirk::AdaptiveThinking);
        match thinking.filter(|_| adaptive || !is_fixed(context, output) || output >= 2 * MIN_BUDGET) {
            Some(thinking) if adaptive => set_effort(&mut body, thinking, output),
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
            }
            "content_block_delta" => {
                text_at(value, "/delta/text").clone_into(&mut chunk.text);
                text_at(value, "/delta/thinking").clone_into(&mut chunk.reasoning);
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
}

/// Selects the messages whose cache marks are sent. If there are too many, keeps the first one, which changes least,
/// and the last ones, which cover the longest prefixes.
fn marked<'a>(context: &RequestContext<'_>, messages: impl Iterator<Item = &'a Message>) -> Vec<*const Message> {
    if context.quirks.knows(Quirk::NoCacheMarks) {
        return Vec::new();
    }
    // Only a content block can be marked, and an empty message has none.
    let can_be = |message: &&Message| message.cached && !(message.content.is_empty() && message.images.is_empty());
    let mut marked: Vec<*const Message> = messages.filter(can_be).map(std::ptr::from_ref).collect();
    if marked.len() > MAX_MARKS {
        marked.drain(1..=marked.len() - MAX_MARKS);
    }
    marked
}

fn push_blocks(message: &Message, marked: &[*const Message], blocks: &mut Vec<Value>) {
    let source = |image: &Image| json!({ "type": "base64", "media_type": image_type(image), "data": base64(image) });
    blocks.extend(message.images.iter().map(|image| json!({ "type": "image", "source": source(image) })));
    if !message.content.is_empty() {
        blocks.push(json!({ "type": "text", "text": message.content }));
    }
    if marked.contains(&std::ptr::from_ref(message))
        && let Some(last) = blocks.last_mut()
    {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
}

fn image_type(image: &Image) -> &str {
    if image.media_type == "image/jpg" { "image/jpeg" } else { &image.media_type }
}

fn as_message(group: &MessageGroup<'_>, marked: &[*const Message]) -> Value {
    let mut blocks = Vec::new();
    for message in &group.messages {
        push_blocks(message, marked, &mut blocks);
    }
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

/// Returns whether `output` limits answer and thinking together, because of a spending cap or a limit of the server.
fn is_fixed(context: &RequestContext<'_>, output: u32) -> bool {
    context.request.capped || context.quirks.max_output.is_some_and(|most| most <= output)
}

fn set_effort(body: &mut Map<String, Value>, thinking: &Thinking, output: u32) {
    body.insert("max_tokens".into(), json!(output));
    body.insert("thinking".into(), json!({ "type": "adaptive" }));
    body.insert("output_config".into(), json!({ "effort": effort(thinking) }));
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
    Chunk {
        text: parts("/text"),
        reasoning: parts("/thinking"),
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
    use crate::Role;
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
        let adaptive = body(&word, &["use thinking.type adaptive and output_config.effort"]);
        assert_eq!(adaptive["thinking"], json!({"type":"adaptive"}));
        assert_eq!(adaptive["output_config"], json!({"effort":"high"}));
        for without in [
            body(&word, &["thinking is not supported by this model"]),
            body(&thinking(Thinking::Budget(0)), &[]),
            body(&thinking(Thinking::Effort("none".into())), &[]),
        ] {
            assert!(without.get("thinking").is_none() && without["max_tokens"] == 4000, "{without}");
        }
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
