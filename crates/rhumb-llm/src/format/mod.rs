//! Wire formats: how requests are encoded and responses decoded. Pure functions on values.
//!
//! Decoding is lenient. Compatible servers omit fields, send null for them, or add their own.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use super::calls::{CallPart, UNKNOWN_NAME};
use super::framing::Framing;
use super::provider::{Finish, Image, Message, Request, Role, Thinking, Tool, ToolCall, Usage};
use super::quirks::{Quirk, Quirks};
use crate::models::Api;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) use anthropic::DEFAULT_OUTPUT as ANTHROPIC_OUTPUT;
pub(crate) use ollama::context_for;

/// A request, and what its encoding depends on.
pub(crate) struct RequestContext<'a> {
    pub(crate) request: &'a Request,
    pub(crate) quirks: &'a Quirks,
    /// Host name of the server, for the few that deviate from a format.
    pub(crate) host: &'a str,
}

impl RequestContext<'_> {
    /// Maximum number of output tokens: that of the request, or less if the server accepts less.
    fn max_output(&self) -> Option<u32> {
        let asked = self.request.max_output_tokens?;
        Some(self.quirks.max_output.map_or(asked, |most| asked.min(most)))
    }

    fn is_at(&self, domain: &str) -> bool {
        self.host == domain || self.host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    }
}

/// The content of one event, or of a complete response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// Parts of tool calls.
    pub(crate) calls: Vec<CallPart>,
    /// Parts of the thinking, in the form that [`Format::keep_thinking`] combines. Empty parts are left out.
    pub(crate) thinking: Vec<Value>,
    /// Whether the content is the whole answer, of which parts may have arrived before.
    pub(crate) whole: bool,
    /// Why the model stopped. An answer without it is incomplete.
    pub(crate) finish: Option<Finish>,
    /// Token counts so far.
    pub(crate) usage: Option<Usage>,
    /// Whether no further event follows. This alone does not complete an answer.
    pub(crate) last: bool,
}

pub(crate) trait Format: Send + Sync {
    /// Returns the URL for requests to `model`, from the base URL in the settings.
    fn url(&self, base: &Url, model: &str) -> Url;

    /// Returns the URL of the model list, with the maximum page size.
    fn list_url(&self, base: &Url) -> Url {
        with_tail(base, "/models")
    }

    /// Returns the name of the header with the key, and the prefix of its value.
    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    /// Headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// How the events of a stream are separated.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn body(&self, context: &RequestContext<'_>) -> Value;

    /// Returns the end of a begun answer that is not sent, because servers reject it. The model may repeat it.
    fn unsent_end<'r>(&self, _: &'r Request) -> &'r str {
        ""
    }

    /// Returns the error if the JSON value is one.
    fn failure<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let is_error = value.get("error").is_some_and(|error| !error.is_null())
            || ["object", "type"].iter().any(|name| value.get(*name).is_some_and(|kind| kind == "error"));
        is_error.then_some(value)
    }

    /// Decodes an event. Returns `None` if it does not have the format.
    fn chunk(&self, value: &Value) -> Option<Chunk>;

    /// Adds a part of the thinking to the values that the API wants back.
    fn keep_thinking(&self, kept: &mut Vec<Value>, part: Value) {
        kept.push(part);
    }
}

pub(crate) fn format_of(api: Api) -> &'static dyn Format {
    match api {
        Api::Chat => &chat::Chat,
        Api::Responses => &responses::Responses,
        Api::Anthropic => &anthropic::Anthropic,
        Api::Gemini => &gemini::Gemini,
        Api::Ollama => &ollama::Ollama,
    }
}

/// Replaces the path suffix of any format in `base` with `tail`. Keeps the query.
fn with_tail(base: &Url, tail: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{tail}", root(base)));
    url
}

/// The path without trailing slashes and without the suffix of a format, since users often copy complete URLs.
fn root(base: &Url) -> &str {
    let path = base.path().trim_end_matches('/');
    let tails = ["/chat/completions", "/responses", "/messages", "/api/chat"];
    tails.iter().find_map(|tail| path.strip_suffix(tail)).unwrap_or(path).trim_end_matches('/')
}

/// Returns whether a segment of the path is a version such as `v1` or `v1beta`.
fn has_version(path: &str) -> bool {
    path.split('/').any(|segment| {
        let mut chars = segment.chars();
        chars.next() == Some('v') && chars.next().is_some_and(|c| c.is_ascii_digit())
    })
}

/// Converts the amount of thinking to a level.
fn effort(thinking: &Thinking) -> &str {
    match thinking {
        Thinking::Effort(word) => word,
        Thinking::Budget(0) => "none",
        Thinking::Budget(..=4096) => "low",
        Thinking::Budget(..=16_384) => "medium",
        Thinking::Budget(_) => "high",
    }
}

/// Converts the amount of thinking to tokens. 0 means no thinking.
fn budget(thinking: &Thinking) -> u32 {
    match thinking {
        Thinking::Budget(tokens) => *tokens,
        Thinking::Effort(word) => match word.as_str() {
            "none" | "off" => 0,
            "minimal" => 1024,
            "low" => 4096,
            "high" => 24_576,
            "xhigh" | "max" => 32_768,
            _ => 12_288,
        },
    }
}

/// Returns the string at `path`, or an empty one.
fn text_at<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the number at `path`, or 0.
fn number_at(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns the alternative with index 0. One without an index has its position as index.
fn first_alternative<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let is_first = |&(position, alternative): &(usize, &Value)| {
        alternative.get("index").and_then(Value::as_f64).map_or(position == 0, |index| index == 0.0)
    };
    list_at(value, path).enumerate().find(is_first).map(|(_, alternative)| alternative)
}

fn list_at<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = &'v Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

/// Consecutive messages of the same role.
pub(crate) struct MessageGroup<'a> {
    pub(crate) role: Role,
    pub(crate) messages: Vec<&'a Message>,
}

/// Returns the system messages at the beginning, and the other messages in groups of one role. Later system messages become user
/// messages, and so do all of them if the server has no system role.
pub(crate) fn grouped_messages<'a>(context: &RequestContext<'a>) -> (Vec<&'a Message>, Vec<MessageGroup<'a>>) {
    let messages = &context.request.messages;
    let system_messages = if context.quirks.knows(Quirk::NoSystem) {
        0
    } else {
        messages.iter().take_while(|message| message.role == Role::System).count()
    };
    let (system_messages, rest) = messages.split_at(system_messages);
    let mut groups: Vec<MessageGroup<'a>> = Vec::new();
    for message in rest.iter().filter(|message| !is_empty(message)) {
        let role = if message.role == Role::System { Role::User } else { message.role };
        match groups.last_mut().filter(|group| group.role == role) {
            Some(group) => group.messages.push(message),
            None => groups.push(MessageGroup { role, messages: vec![message] }),
        }
    }
    (system_messages.iter().filter(|message| !is_empty(message)).collect(), groups)
}

/// Returns whether the last message is the beginning of the answer.
pub(crate) fn is_begun(messages: &[Message]) -> bool {
    messages.last().is_some_and(|last| last.role == Role::Assistant)
}

/// The JSON schema of the arguments of a tool. Servers require an object.
fn parameters(tool: &Tool) -> Value {
    let fields = tool.parameters.as_object().filter(|fields| !fields.is_empty());
    fields.map_or_else(|| json!({ "type": "object", "properties": {} }), |_| tool.parameters.clone())
}

/// The form of a tool in the chat API and in that of Ollama.
fn function_tool(tool: &Tool) -> Value {
    let function =
        json!({ "name": tool_name(&tool.name), "description": tool.description, "parameters": parameters(tool) });
    json!({ "type": "function", "function": function })
}

/// The arguments of a call as an object. If the model wrote something else, it is put into an object, since servers
/// and chat templates reject a request with anything else, and the model should see its mistake.
fn arguments_object(call: &ToolCall) -> Map<String, Value> {
    let blank = || call.arguments.trim().is_empty();
    let wrapped =
        || if blank() { Map::new() } else { Map::from_iter([("arguments".to_owned(), json!(call.arguments))]) };
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| wrapped())
}

/// The arguments of a call as the JSON text of an object: unchanged if they are one.
fn arguments_text(call: &ToolCall) -> Cow<'_, str> {
    match serde_json::from_str::<Map<String, Value>>(&call.arguments) {
        Ok(_) => Cow::Borrowed(&call.arguments),
        Err(_) => Cow::Owned(Value::Object(arguments_object(call)).to_string()),
    }
}

/// Maximum length in bytes of the name of a tool.
const MAX_TOOL_NAME: usize = 64;

/// Returns the name of a tool in the form that every API accepts, since a model may call tools that do not exist.
fn tool_name(name: &str) -> Cow<'_, str> {
    let name = if name.trim().is_empty() { UNKNOWN_NAME } else { name };
    if name.len() <= MAX_TOOL_NAME && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().take(MAX_TOOL_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect())
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns an id of at most `most` bytes for a server that does not accept `id`, which may be that of another server.
fn hashed_id(id: &str, most: usize) -> String {
    let mut hashed = format!("{:016x}", xxh3_64(id.as_bytes()));
    hashed.truncate(most);
    hashed
}

/// Adds text to the value that has only the field `name`, or a new one.
fn keep_text(kept: &mut Vec<Value>, name: &str, text: &str) {
    let mut objects = kept.iter_mut().filter_map(Value::as_object_mut);
    match objects.find(|fields| fields.len() == 1 && fields.contains_key(name)) {
        Some(fields) => extend_text(fields, name, text),
        None => kept.push(json!({ name: text })),
    }
}

/// Adds text to the string field `name` of `fields`.
fn extend_text(fields: &mut Map<String, Value>, name: &str, text: &str) {
    match fields.get_mut(name) {
        Some(Value::String(old)) => old.push_str(text),
        _ => {
            fields.insert(name.to_owned(), json!(text));
        }
    }
}

/// Returns the whitespace at the end of a begun answer, which some servers reject.
pub(crate) fn blank_end(messages: &[Message]) -> &str {
    let begun = messages.last().filter(|last| last.role == Role::Assistant);
    begun.and_then(|last| last.content.get(last.content.trim_end().len()..)).unwrap_or_default()
}

pub(crate) fn joined(messages: &[&Message]) -> String {
    let texts = messages.iter().map(|message| message.content.as_str());
    // Groups contain messages without text, such as those with tool calls.
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

pub(crate) fn base64(image: &Image) -> String {
    STANDARD.encode(&image.bytes)
}

pub(crate) fn as_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type, base64(image))
}

fn is_empty(message: &Message) -> bool {
    message.content.is_empty()
        && message.images.is_empty()
        && message.tool_calls.is_empty()
        && message.tool_results.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_url_is_derived_from_various_base_urls() {
        let table = [
            (Api::Chat, "http://h:1/v1", "http://h:1/v1/chat/completions"),
            (Api::Chat, "http://h:1/v1//", "http://h:1/v1/chat/completions"),
            (Api::Chat, "http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"),
            (
                Api::Chat,
                "https://a.example/openai?api-version=1",
                "https://a.example/openai/chat/completions?api-version=1",
            ),
            (Api::Responses, "https://h/v1", "https://h/v1/responses"),
            (Api::Responses, "https://h/v1/chat/completions", "https://h/v1/responses"),
            (Api::Anthropic, "https://h", "https://h/v1/messages"),
            (Api::Anthropic, "https://h/v1/", "https://h/v1/messages"),
            (Api::Anthropic, "https://h/v1/messages", "https://h/v1/messages"),
            (Api::Anthropic, "https://h/anthropic", "https://h/anthropic/v1/messages"),
            (Api::Gemini, "https://h", "https://h/v1beta/models/m:streamGenerateContent?alt=sse"),
            (Api::Gemini, "https://h/v1/", "https://h/v1/models/m:streamGenerateContent?alt=sse"),
            (Api::Gemini, "https://h/v1beta?x=1", "https://h/v1beta/models/m:streamGenerateContent?x=1&alt=sse"),
            (Api::Ollama, "http://h:11434", "http://h:11434/api/chat"),
            (Api::Ollama, "http://h:11434/v1", "http://h:11434/api/chat"),
            (Api::Ollama, "http://h:11434/api/", "http://h:11434/api/chat"),
        ];
        for (api, base, expected) in table {
            assert_eq!(format_of(api).url(&Url::parse(base).unwrap(), "m").as_str(), expected, "{base}");
        }
        let gemini = format_of(Api::Gemini).url(&Url::parse("https://h").unwrap(), "models/a?b#c");
        assert_eq!(gemini.path(), "/v1beta/models/a%3Fb%23c:streamGenerateContent");
    }

    #[test]
    fn the_model_list_url_is_derived_from_any_base_url() {
        let table = [
            (Api::Chat, "https://h/v1", "https://h/v1/models"),
            (Api::Chat, "https://h/v1/chat/completions?v=1", "https://h/v1/models?v=1"),
            (Api::Responses, "https://h/v1/responses", "https://h/v1/models"),
            (Api::Anthropic, "https://h", "https://h/v1/models?limit=1000"),
            (Api::Anthropic, "https://h/v1/messages", "https://h/v1/models?limit=1000"),
            (Api::Gemini, "https://h", "https://h/v1beta/models?pageSize=1000"),
            (Api::Gemini, "https://h/v1", "https://h/v1/models?pageSize=1000"),
            (Api::Ollama, "http://h:11434", "http://h:11434/api/tags"),
            (Api::Ollama, "http://h:11434/v1/", "http://h:11434/api/tags"),
            (Api::Ollama, "http://h:11434/api/chat", "http://h:11434/api/tags"),
        ];
        for (api, base, expected) in table {
            assert_eq!(format_of(api).list_url(&Url::parse(base).unwrap()).as_str(), expected, "{base}");
        }
    }

    #[test]
    fn tools_and_arguments_are_always_objects() {
        let call = |arguments: &str| ToolCall { arguments: arguments.into(), ..ToolCall::default() };
        for (written, sent) in [
            (r#"{"b":1, "a":2}"#, r#"{"b":1, "a":2}"#),
            ("", "{}"),
            (" ", "{}"),
            ("[1]", r#"{"arguments":"[1]"}"#),
            (r#"{"a""#, r#"{"arguments":"{\"a\""}"#),
        ] {
            assert_eq!(arguments_text(&call(written)), sent, "{written}");
            assert_eq!(Value::Object(arguments_object(&call(written))), serde_json::from_str::<Value>(sent).unwrap());
        }
        let deep = call(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
        assert_eq!(arguments_object(&deep).len(), 1);
        let tool = Tool { name: " ".into(), description: String::new(), parameters: Value::Null, built_in: false };
        let function = json!({"name":"unknown","description":"","parameters":{"type":"object","properties":{}}});
        assert_eq!(function_tool(&tool)["function"], function);
        assert_eq!(tool_name(&"é".repeat(100)).len(), MAX_TOOL_NAME);
    }

    #[test]
    fn levels_and_token_counts_are_converted() {
        for word in ["none", "low", "medium", "high"] {
            let tokens = Thinking::Budget(budget(&Thinking::Effort(word.into())));
            assert_eq!(effort(&tokens), word);
        }
    }

    #[test]
    fn missing_and_null_fields_are_ignored() {
        for api in Api::ALL {
            for text in ["{}", "null", "[]", "3", "\"x\"", r#"{"a":[null,{}]}"#] {
                let value = serde_json::from_str(text).unwrap();
                assert_eq!(format_of(api).chunk(&value), None, "{text} in {}", api.name());
                assert_eq!(format_of(api).failure(&value), None, "{text} in {}", api.name());
            }
        }
    }

    proptest! {
        #[test]
        fn arbitrary_json_does_not_panic(
            text in r#"(\{|\}|\[|\]|:|,|null|0|"(choices|delta|type|message|content|text|candidates|parts|usage|error|response|done|tool_calls|function|arguments|functionCall|item|function_call|content_block|tool_use|reasoning_details)"){0,30}"#,
        ) {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                for api in Api::ALL {
                    let mut kept = Vec::new();
                    for part in format_of(api).chunk(&value).unwrap_or_default().thinking {
                        format_of(api).keep_thinking(&mut kept, part);
                    }
                    format_of(api).failure(&value);
                }
            }
        }
    }
}
