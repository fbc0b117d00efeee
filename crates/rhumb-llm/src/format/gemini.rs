//! Google's `streamGenerateContent` API.

use super::{
    Chunk, Format, RequestContext, budget, effort, first_alternative, has_version, list_at, number_at, root, text_at,
    with_tail,
};
use super::{MessageGroup, arguments_object, base64, grouped_messages, tool_name};
use crate::calls::{CallPart, arguments_of, is_made_id};
use crate::quirks::Quirk;
use crate::{Finish, Image, Message, Role, Tool, ToolResult, Usage};
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
            let parts: Vec<Value> = system_messages.iter().flat_map(|message| parts(context, message)).collect();
            body.insert("systemInstruction".into(), json!({ "parts": parts }));
        }
        body.insert("contents".into(), groups.iter().map(|group| content(context, group)).collect());
        if !context.request.tools.is_empty() {
            let functions: Vec<Value> = context.request.tools.iter().map(function).collect();
            body.insert("tools".into(), json!([{ "functionDeclarations": functions }]));
        }
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
        let parts = || list_at(candidate, "/content/parts");
        // The signature of a text, or of the end of the answer. Those of calls are part of the calls.
        let signed = parts().filter(|part| part.get("functionCall").is_none());
        let signatures = signed.map(|part| text_at(part, "/thoughtSignature")).filter(|text| !text.is_empty());
        Some(Chunk {
            text: said(false),
            reasoning: said(true),
            calls: parts().filter_map(call).collect(),
            thinking: signatures.map(|signature| json!({ SIGNATURE: signature })).collect(),
            finish: if blocked { Some(Finish::Filtered) } else { finish(text_at(candidate, "/finishReason")) },
            usage: value.get("usageMetadata").map(usage),
            ..Chunk::default()
        })
    }
}

/// The field with the signature of the thinking before a part.
const SIGNATURE: &str = "thoughtSignature";
/// The signature that Google documents for calls by another model. Since the third generation, requests without a
/// signature are rejected.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Each call arrives whole.
fn call(part: &Value) -> Option<CallPart> {
    let call = part.get("functionCall").filter(|call| call.is_object())?;
    let signature = text_at(part, "/thoughtSignature");
    Some(CallPart {
        id: text_at(call, "/id").to_owned(),
        name: text_at(call, "/name").to_owned(),
        arguments: arguments_of(call.get("args")),
        whole: true,
        signature: (!signature.is_empty()).then(|| signature.to_owned()),
        ..CallPart::default()
    })
}

fn function(tool: &Tool) -> Value {
    let mut function = json!({ "name": tool_name(&tool.name), "description": tool.description });
    // An object without properties is rejected.
    let parameters = schema(&tool.parameters);
    if parameters.get("properties").is_some() {
        function["parameters"] = parameters;
    }
    function
}

/// Converts a JSON schema to the API's dialect, which rejects unknown keywords.
fn schema(value: &Value) -> Value {
    const KEYWORDS: [&str; 15] = [
        "title", "description", "nullable", "required", "minItems", "maxItems", "minProperties", "maxProperties",
        "minLength", "maxLength", "pattern", "minimum", "maximum", "default", "propertyOrdering",
    ];
    let mut converted = Map::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("type", Value::Array(types)) => {
                let is_null = |kind: &&Value| **kind == "null";
                converted.extend(types.iter().find(|kind| !is_null(kind)).map(|kind| ("type".into(), kind.clone())));
                if types.iter().any(|kind| *kind == "null") {
                    converted.insert("nullable".into(), json!(true));
                }
            }
            ("type", Value::String(_)) => {
                converted.insert("type".into(), value.clone());
            }
            ("properties", Value::Object(fields)) if !fields.is_empty() => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), schema(value)));
                converted.insert("properties".into(), Value::Object(fields.collect()));
            }
            ("items", Value::Object(_)) => {
                converted.insert("items".into(), schema(value));
            }
            ("anyOf" | "oneOf", Value::Array(choices)) => {
                converted.insert("anyOf".into(), choices.iter().map(schema).collect());
            }
            // Only of strings.
            ("enum", Value::Array(values)) if values.iter().all(Value::is_string) => {
                converted.insert("enum".into(), value.clone());
            }
            ("const", Value::String(_)) => {
                converted.insert("enum".into(), json!([value]));
            }
            ("format", Value::String(format))
                if ["enum", "date-time", "int32", "int64", "float", "double"].contains(&format.as_str()) =>
            {
                converted.insert("format".into(), value.clone());
            }
            (known, _) if KEYWORDS.contains(&known) => {
                converted.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
    // Names without a property are rejected.
    let properties = converted.get("properties").cloned().unwrap_or_default();
    if let Some(Value::Array(required)) = converted.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| properties.get(name).is_some()));
        if required.is_empty() {
            converted.remove("required");
        }
    }
    Value::Object(converted)
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

/// Results, images, text, calls.
fn parts(context: &RequestContext<'_>, message: &Message) -> Vec<Value> {
    let image = |image: &Image| json!({ "inlineData": { "mimeType": image.media_type, "data": base64(image) } });
    let mut parts: Vec<Value> = message.tool_results.iter().map(result).collect();
    parts.extend(message.images.iter().map(image));
    if !message.content.is_empty() {
        let mut text = json!({ "text": message.content });
        let signature = message.thinking.iter().rev().map(|value| text_at(value, "/thoughtSignature"));
        if let Some(signature) = signature.into_iter().find(|signature| !signature.is_empty()) {
            text[SIGNATURE] = json!(signature);
        }
        parts.push(text);
    }
    // A name without a version is that of the latest model.
    let is_old = ["gemini-1", "gemini-2"].iter().any(|old| context.request.model.contains(old));
    let needs_signature = !is_old && message.tool_calls.iter().all(|call| call.signature.is_none());
    for (number, call) in message.tool_calls.iter().enumerate() {
        let mut part = json!({ "functionCall": with_id(&call.id, &call.name, "args", &json!(arguments_object(call))) });
        // Of parallel calls only the first one has a signature.
        let made_up = (needs_signature && number == 0).then_some(NO_SIGNATURE);
        if let Some(signature) = call.signature.as_deref().or(made_up) {
            part[SIGNATURE] = json!(signature);
        }
        parts.push(part);
    }
    parts
}

fn result(result: &ToolResult) -> Value {
    let kind = if result.is_error { "error" } else { "output" };
    json!({ "functionResponse": with_id(&result.id, &result.name, "response", &json!({ kind: result.content })) })
}

/// The fields of a call or a result. The server knows only ids that it has sent.
fn with_id(id: &str, name: &str, field: &str, value: &Value) -> Value {
    let mut fields = json!({ "name": tool_name(name), field: value });
    if !is_made_id(id) {
        fields["id"] = json!(id);
    }
    fields
}

fn content(context: &RequestContext<'_>, group: &MessageGroup<'_>) -> Value {
    let role = if group.role == Role::Assistant { "model" } else { "user" };
    let parts: Vec<Value> = group.messages.iter().flat_map(|message| parts(context, message)).collect();
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
    fn a_schema_has_only_keywords_of_the_dialect() {
        let tool = |parameters: Value| {
            function(&Tool { name: "t".into(), description: "d".into(), parameters, built_in: false })
        };
        let full = tool(json!({
            "$schema":"x", "type":"object", "additionalProperties":false, "required":["a","gone"],
            "properties":{
                "a":{"type":["string","null"],"format":"uri","minLength":1},
                "type":{"oneOf":[{"const":"x"},{"type":"integer","format":"int32","enum":[1,2],"exclusiveMinimum":0}]},
                "list":{"type":"array","items":{"type":"object","properties":{},"$ref":"#/x"}},
            },
        }));
        let expected = json!({
            "type":"object", "required":["a"],
            "properties":{
                "a":{"type":"string","nullable":true,"minLength":1},
                "type":{"anyOf":[{"enum":["x"]},{"type":"integer","format":"int32"}]},
                "list":{"type":"array","items":{"type":"object"}},
            },
        });
        assert_eq!(full["parameters"], expected);
        for empty in [json!({"type":"object","properties":{}}), json!({}), Value::Null, json!([1])] {
            assert_eq!(tool(empty), json!({"name":"t","description":"d"}));
        }
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
