//! The JSON of the chat completions API, read with tolerance: servers that call themselves compatible leave fields out,
//! send null for them, or add their own.

use serde_json::{Map, Value, json};

use super::event::{Finish, Usage};
use super::request::Request;

/// What a server is known not to take. Learned from its own complaints, so that each costs one request only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    /// It does not know `stream_options`.
    no_stream_options: bool,
    /// It wants `max_completion_tokens` where others want `max_tokens`.
    completion_tokens: bool,
    /// Its temperature is fixed.
    no_temperature: bool,
}

impl Dialect {
    /// The dialect that avoids what `complaint` is about; none if it is not about any of these.
    pub(super) fn after(self, complaint: &str, request: &Request) -> Option<Self> {
        let complaint = complaint.to_lowercase();
        let about = |word: &str| complaint.contains(word);
        let mut next = self;
        if about("stream_options") || about("include_usage") {
            next.no_stream_options = true;
        } else if about("max_completion_tokens") && request.max_output_tokens.is_some() {
            next.completion_tokens = true;
        } else if about("temperature") && request.temperature.is_some() {
            next.no_temperature = true;
        }
        (next != self).then_some(next)
    }
}

/// The body of a request.
pub(super) fn body(request: &Request, dialect: Dialect) -> Value {
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    let messages: Vec<Value> = request.messages.iter().map(|each| message(each.role.as_str(), &each.content)).collect();
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), Value::Array(messages));
    body.insert("stream".into(), json!(true));
    if !dialect.no_stream_options {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if let Some(limit) = request.max_output_tokens {
        let name = if dialect.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(name.into(), json!(limit));
    }
    if let Some(temperature) = request.temperature.filter(|_| !dialect.no_temperature) {
        body.insert("temperature".into(), json!(temperature));
    }
    Value::Object(body)
}

/// What one event of the stream, or a whole answer in one piece, says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) finish: Option<Finish>,
    pub(super) usage: Option<Usage>,
}

/// Whether the JSON is an error in place of an answer.
pub(super) fn is_error(value: &Value) -> bool {
    value.get("error").is_some_and(|error| !error.is_null()) || value.get("object").is_some_and(|kind| kind == "error")
}

/// Whether the JSON has anything of a chat completion about it.
pub(super) fn is_completion(value: &Value) -> bool {
    value.get("choices").is_some() || value.get("usage").is_some() || value.get("object").is_some()
}

/// Reads a `chat.completion.chunk` (with `delta`) or a `chat.completion` (with `message`).
pub(super) fn chunk(value: &Value) -> Chunk {
    let mut chunk = Chunk { usage: value.get("usage").and_then(usage), ..Chunk::default() };
    let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) else {
        return chunk;
    };
    chunk.finish = choice.get("finish_reason").and_then(Value::as_str).filter(|word| !word.is_empty()).map(finish);
    if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
        chunk.text = content(delta.get("content"));
        if chunk.text.is_empty() {
            chunk.text = content(delta.get("refusal"));
        }
        let thinking = ["reasoning_content", "reasoning"].iter().map(|name| content(delta.get(*name)));
        chunk.reasoning = thinking.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    }
    chunk
}

/// Content is a string, null, or a list of parts.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    }
}

fn finish(word: &str) -> Finish {
    match word {
        "stop" | "eos" | "end_turn" | "stop_sequence" | "STOP" => Finish::Stop,
        "length" | "max_tokens" | "MAX_TOKENS" => Finish::Length,
        "content_filter" | "safety" | "refusal" | "SAFETY" => Finish::Filtered,
        other => Finish::Other(super::classify::clean(other, None)),
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |path: &str| value.pointer(path).and_then(Value::as_u64);
    let cached = ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"];
    Some(Usage {
        input: number("/prompt_tokens")?,
        output: number("/completion_tokens").unwrap_or(0),
        cached: cached.iter().find_map(|path| number(path)).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Message, Role};
    use proptest::prelude::*;

    fn read(text: &str) -> Chunk {
        chunk(&serde_json::from_str(text).unwrap())
    }

    fn request() -> Request {
        let messages = vec![Message::new(Role::System, "s"), Message::new(Role::User, "u")];
        Request { model: "m".into(), messages, max_output_tokens: Some(9), temperature: Some(0.0) }
    }

    #[test]
    fn missing_and_null_fields_are_nothing() {
        for text in [
            "{}",
            "null",
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
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"text":"b"}],"reasoning":"r"},"finish_reason":"length"}],
                "usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}}"#,
        );
        assert_eq!((read.text.as_str(), read.reasoning.as_str()), ("ab", "r"));
        assert_eq!(read.finish, Some(Finish::Length));
        assert_eq!(read.usage, Some(Usage { input: 5, output: 2, cached: 3 }));
    }

    #[test]
    fn a_server_that_complains_is_spoken_to_in_its_dialect() {
        let plain = Dialect::default();
        assert_eq!(body(&request(), plain)["stream_options"]["include_usage"], true);
        let dialect = plain.after("Unknown field: stream_options", &request()).unwrap();
        let dialect = dialect.after("Use 'max_completion_tokens' instead", &request()).unwrap();
        let dialect = dialect.after("Unsupported value: 'temperature'", &request()).unwrap();
        let body = body(&request(), dialect);
        assert_eq!(body["max_completion_tokens"], 9);
        for gone in ["stream_options", "max_tokens", "temperature"] {
            assert!(body.get(gone).is_none(), "{gone}");
        }
        assert_eq!(dialect.after("stream_options", &request()), None);
        assert_eq!(plain.after("no such model", &request()), None);
    }

    proptest! {
        #[test]
        fn no_json_is_too_strange(text in r#"[\[\]{}:,"a0n ]{0,30}"#) {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                chunk(&value);
                is_error(&value);
            }
        }
    }
}
