//! Google's `streamGenerateContent` API.

use super::{
    Chunk, Format, RequestContext, budget, effort, first_alternative, has_version, list_at, number_at, root, text_at,
    with_tail,
};
use super::{MessageGroup, base64, grouped_messages};
use crate::quirks::Quirk;
use crate::{Finish, Image, Message, Role, Usage};
use serde_json::{Map, Value, json};
use url::Url;

pub(crate) struct Gemini;

impl Format for Gemini {
    fn url(&self, base: &Url, model: &str) -> Url {
        let version = if has_version(root(base)) { "" } else { "/v1beta" };
        let model = model.strip_prefix("models/").unwrap_or(model);
        let mut url = with_tail(base, &format!("{version}/models/{model}:streamGenerateContent"));
        url.query_pairs_mut().append_pair("alt", "sse");
        url
    }

    fn list_url(&self, base: &Url) -> Url {
        let version = if has_version(root(base)) { "" } else { "/v1beta" };
        let mut url = with_tail(base, &format!("{version}/models"));
        url.query_pairs_mut().append_pair("pageSize", "1000");
        url
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }

    fn body(&self, context: &RequestContext<'_>) -> Value {
        let (system_messages, groups) = grouped_messages(context);
        let mut body = Map::new();
        if !system_messages.is_empty() {
            let parts: Vec<Value> = system_messages.iter().flat_map(|message| parts(message)).collect();
            body.insert("systemInstruction".into(), json!({ "parts": parts }));
        }
        body.insert("contents".into(), groups.iter().map(content).collect());
        let config = config(context);
        if !config.is_empty() {
            body.insert("generationConfig".into(), Value::Object(config));
        }
        Value::Object(body)
    }

    /// There is no end marker. An answer is complete if it has a finish reason.
    fn chunk(&self, value: &Value) -> Option<Chunk> {
        if !["candidates", "usageMetadata", "promptFeedback"].iter().any(|name| value.get(name).is_some()) {
            return None;
        }
        let candidate = first_alternative(value, "/candidates").unwrap_or(&Value::Null);
        let said = |thought: bool| {
            let is_wanted = move |part: &&Value| part.get("thought").is_some_and(|flag| flag == true) == thought;
            list_at(candidate, "/content/parts").filter(is_wanted).map(|part| text_at(part, "/text")).collect()
        };
        let blocked = !text_at(value, "/promptFeedback/blockReason").is_empty();
        Some(Chunk {
            text: said(false),
            reasoning: said(true),
            finish: if blocked { Some(Finish::Filtered) } else { finish(text_at(candidate, "/finishReason")) },
            usage: value.get("usageMetadata").map(usage),
            ..Chunk::default()
        })
    }
}

fn config(context: &RequestContext<'_>) -> Map<String, Value> {
    let RequestContext { request, quirks, .. } = *context;
    let mut config = Map::new();
    if let Some(limit) = context.max_output() {
        config.insert("maxOutputTokens".into(), json!(limit));
    }
    if let Some(temperature) = request.temperature.filter(|_| !quirks.knows(Quirk::NoTemperature)) {
        config.insert("temperature".into(), json!(temperature));
    }
    if let Some(thinking) = request.thinking.as_ref().filter(|_| !quirks.knows(Quirk::NoThinking)) {
        // Since the third generation, thinking is set by a level.
        let thinking = match request.model.contains("gemini-3") {
            true => json!({ "thinkingLevel": effort(thinking), "includeThoughts": true }),
            false => json!({ "thinkingBudget": budget(thinking), "includeThoughts": budget(thinking) > 0 }),
        };
        config.insert("thinkingConfig".into(), thinking);
    }
    config
}

fn parts(message: &Message) -> Vec<Value> {
    let image = |image: &Image| json!({ "inlineData": { "mimeType": image.media_type, "data": base64(image) } });
    let text = (!message.content.is_empty()).then(|| json!({ "text": message.content }));
    message.images.iter().map(image).chain(text).collect()
}

fn content(group: &MessageGroup<'_>) -> Value {
    let role = if group.role == Role::Assistant { "model" } else { "user" };
    let parts: Vec<Value> = group.messages.iter().flat_map(|message| parts(message)).collect();
    json!({ "role": role, "parts": parts })
}

fn finish(word: &str) -> Option<Finish> {
    match word {
        "" | "FINISH_REASON_UNSPECIFIED" => None,
        "STOP" => Some(Finish::Stop),
        "MAX_TOKENS" => Some(Finish::Length),
        "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" => Some(Finish::Filtered),
        other => Some(Finish::Other(other.to_owned())),
    }
}

/// Adds up the output tokens, since thinking is reported separately.
fn usage(value: &Value) -> Usage {
    let reasoning = number_at(value, "/thoughtsTokenCount");
    Usage {
        input: number_at(value, "/promptTokenCount"),
        output: number_at(value, "/candidatesTokenCount").saturating_add(reasoning),
        cached: number_at(value, "/cachedContentTokenCount"),
        cache_written: 0,
        reasoning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quirks::Quirks;
    use crate::{Request, Thinking};

    fn request() -> Request {
        let mut user = Message::new(Role::User, "u");
        let image = Image { name: "x".into(), media_type: "image/png".into(), bytes: [1, 2, 3].as_slice().into() };
        user.images.push(image);
        let messages = vec![
            Message::new(Role::System, "s"),
            user,
            Message::new(Role::System, "reminder"),
            Message::new(Role::Assistant, "a"),
        ];
        Request {
            model: "gemini-2.5-pro".into(),
            messages,
            max_output_tokens: Some(5),
            thinking: Some(Thinking::Budget(2000)),
            ..Request::default()
        }
    }

    fn body(request: &Request) -> Value {
        Gemini.body(&RequestContext { request, quirks: &Quirks::default(), host: "h" })
    }

    #[test]
    fn a_request_is_contents_of_user_and_model() {
        let expected = json!({
            "systemInstruction": {"parts":[{"text":"s"}]},
            "contents": [
                {"role":"user","parts":[
                    {"inlineData":{"mimeType":"image/png","data":"AQID"}}, {"text":"u"}, {"text":"reminder"}]},
                {"role":"model","parts":[{"text":"a"}]},
            ],
            "generationConfig": {
                "maxOutputTokens": 5, "thinkingConfig": {"thinkingBudget":2000,"includeThoughts":true},
            },
        });
        assert_eq!(body(&request()), expected);
    }

    #[test]
    fn newer_models_get_a_level() {
        let request = Request { model: "gemini-3-pro".into(), ..request() };
        let thinking = body(&request)["generationConfig"]["thinkingConfig"].clone();
        assert_eq!(thinking, json!({"thinkingLevel":"low","includeThoughts":true}));
    }

    #[test]
    fn thinking_and_blocks_are_separated_from_text() {
        let chunk = Gemini.chunk(&json!({
            "candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a"},{"text":"b"}]},"finishReason":"STOP"}],
            "usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":3,"cachedContentTokenCount":4}
        }));
        let usage = Usage { input: 9, output: 5, cached: 4, cache_written: 0, reasoning: 3 };
        let expected = Chunk {
            text: "ab".into(),
            reasoning: "hm".into(),
            finish: Some(Finish::Stop),
            usage: Some(usage),
            ..Chunk::default()
        };
        assert_eq!(chunk, Some(expected));
        let blocked = Gemini.chunk(&json!({"promptFeedback":{"blockReason":"SAFETY"}}));
        assert_eq!(blocked.and_then(|chunk| chunk.finish), Some(Finish::Filtered));
    }
}
