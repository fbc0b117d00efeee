//! OpenAI's Responses API.

use super::{Chunk, Format, RequestContext, effort, list_at, number_at, text_at, with_tail};
use super::{as_url, grouped_messages, joined};
use crate::quirks::Quirk;
use crate::{Finish, Message, Role, Usage};
use serde_json::{Map, Value, json};
use url::Url;

pub(crate) struct Responses;

impl Format for Responses {
    fn url(&self, base: &Url, _: &str) -> Url {
        with_tail(base, "/responses")
    }

    fn body(&self, context: &RequestContext<'_>) -> Value {
        let RequestContext { request, quirks, .. } = *context;
        let (system_messages, groups) = grouped_messages(context);
        let items = groups.iter().flat_map(|group| &group.messages).map(|message| item(message));
        let mut body = Map::new();
        body.insert("model".into(), json!(request.model));
        if !system_messages.is_empty() {
            body.insert("instructions".into(), json!(joined(&system_messages)));
        }
        body.insert("input".into(), items.collect());
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
            "response.completed" | "response.incomplete" => value.get("response").map(ended),
            other => other.starts_with("response.").then(Chunk::default),
        }
    }
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
    let reasoning: Vec<&str> = parts("reasoning", "/summary").map(|part| text_at(part, "/text")).collect();
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
        reasoning: reasoning.join("\n\n"),
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
        cache_written: 0,
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
