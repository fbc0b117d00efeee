//! The wire formats: what each wants to be sent and how its answers are read. Pure: values in, values out.
//!
//! Answers are read with tolerance. Servers that call themselves compatible leave fields out, send null for them, or add
//! their own.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;
mod turns;

use serde_json::Value;
use url::Url;

use super::dialect::Dialect;
use super::event::{Finish, Usage};
use super::frames::Framing;
use super::request::{Request, Thinking};
use crate::models::Api;

pub(super) use anthropic::DEFAULT_OUTPUT as ANTHROPIC_OUTPUT;
pub(super) use ollama::context_for;

/// A request as one server is to get it.
pub(super) struct Ask<'a> {
    pub(super) request: &'a Request,
    pub(super) dialect: &'a Dialect,
    /// The server's host name, for the few that speak a format in their own way.
    pub(super) host: &'a str,
}

impl Ask<'_> {
    /// The most tokens that the answer may have, in the request's words or as the server said.
    fn max_output(&self) -> Option<u32> {
        let asked = self.request.max_output_tokens?;
        Some(self.dialect.max_output.map_or(asked, |most| asked.min(most)))
    }

    fn is_at(&self, domain: &str) -> bool {
        self.host == domain || self.host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    }
}

/// What one piece of a stream, or a whole answer in one piece, says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) text: String,
    pub(super) reasoning: String,
    /// `text` and `reasoning` are all of the answer, which may have come in pieces before.
    pub(super) whole: bool,
    /// Why the model stopped. Only an answer that has this is complete, and each format lists the words that say so.
    pub(super) finish: Option<Finish>,
    /// What is known of the counts so far.
    pub(super) usage: Option<Usage>,
    /// Nothing follows. This alone does not make an answer complete.
    pub(super) last: bool,
}

/// A wire format.
pub(super) trait Format: Send + Sync {
    /// Where `model` is asked, from the address that the user gave.
    fn url(&self, base: &Url, model: &str) -> Url;

    /// Where the models are listed, as many as one answer can hold.
    fn list_url(&self, base: &Url) -> Url {
        with_tail(base, "/models")
    }

    /// The header that carries the key, and what stands before the key in it.
    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    /// Headers that every request needs.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// How the pieces of a stream are told apart.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// The body of a request.
    fn body(&self, ask: &Ask<'_>) -> Value;

    /// The end of a begun answer that is not sent, because servers do not take it. The model may say it again.
    fn unsent_end<'r>(&self, _: &'r Request) -> &'r str {
        ""
    }

    /// The error in place of an answer, if the JSON is one.
    fn failure<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let is_error = value.get("error").is_some_and(|error| !error.is_null())
            || ["object", "type"].iter().any(|name| value.get(*name).is_some_and(|kind| kind == "error"));
        is_error.then_some(value)
    }

    /// What the JSON says; `None` if nothing of this format can be recognised in it.
    fn chunk(&self, value: &Value) -> Option<Chunk>;
}

/// The format that is spoken there.
pub(super) fn format_of(api: Api) -> &'static dyn Format {
    match api {
        Api::Chat => &chat::Chat,
        Api::Responses => &responses::Responses,
        Api::Anthropic => &anthropic::Anthropic,
        Api::Gemini => &gemini::Gemini,
        Api::Ollama => &ollama::Ollama,
    }
}

/// `base` with `tail` at the end of its path, whichever format's tail it may have had. What follows `?` stays.
fn with_tail(base: &Url, tail: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{tail}", root(base)));
    url
}

/// The path without slashes at its end and without the tail of a format: people copy whole addresses.
fn root(base: &Url) -> &str {
    let path = base.path().trim_end_matches('/');
    let tails = ["/chat/completions", "/responses", "/messages", "/api/chat"];
    tails.iter().find_map(|tail| path.strip_suffix(tail)).unwrap_or(path).trim_end_matches('/')
}

/// Whether a segment of the path is a version such as `v1` or `v1beta`.
fn has_version(path: &str) -> bool {
    path.split('/').any(|segment| {
        let mut chars = segment.chars();
        chars.next() == Some('v') && chars.next().is_some_and(|c| c.is_ascii_digit())
    })
}

/// How hard to think, as a word.
fn effort(thinking: &Thinking) -> &str {
    match thinking {
        Thinking::Effort(word) => word,
        Thinking::Budget(0) => "none",
        Thinking::Budget(..=4096) => "low",
        Thinking::Budget(..=16_384) => "medium",
        Thinking::Budget(_) => "high",
    }
}

/// How hard to think, in tokens; 0 for not at all.
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

/// The text at `path` of a value, empty if there is none.
fn text_at<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// The number at `path` of a value, 0 if there is none.
fn number_at(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// The alternative with index 0 in a list of alternative answers. One without an index counts by its position.
fn first_alternative<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let is_first = |&(position, alternative): &(usize, &Value)| {
        alternative.get("index").and_then(Value::as_f64).map_or(position == 0, |index| index == 0.0)
    };
    list_at(value, path).enumerate().find(is_first).map(|(_, alternative)| alternative)
}

/// The elements of a list at `path` of a value.
fn list_at<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = &'v Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_address_is_found_from_what_people_type() {
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
    fn the_list_of_models_is_found_from_any_address() {
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
    fn words_and_tokens_of_thinking_are_put_into_each_other() {
        for word in ["none", "low", "medium", "high"] {
            let tokens = Thinking::Budget(budget(&Thinking::Effort(word.into())));
            assert_eq!(effort(&tokens), word);
        }
    }

    #[test]
    fn missing_and_null_fields_are_nothing() {
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
        fn no_json_is_too_strange(
            text in r#"(\{|\}|\[|\]|:|,|null|0|"(choices|delta|type|message|content|text|candidates|parts|usage|error|response|done)"){0,30}"#,
        ) {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                for api in Api::ALL {
                    format_of(api).chunk(&value);
                    format_of(api).failure(&value);
                }
            }
        }
    }
}
