//! From the many shapes of error answers to the few kinds that a user can act on.

use std::time::Duration;

use serde_json::Value;

use super::clean::Mask;
use super::error::LlmError;
use super::numbers::sent_and_limit;
use super::retry::pause;

/// How servers say that the request does not fit the model's context window. Each is a phrase from the error texts of a
/// family of servers, in lower case.
const OVERFLOW_PHRASES: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context window",
    "context length",
    "context limit",
    "context size",
    "prompt is too long",
    "input is too long",
    "exceeds the maximum number of tokens",
    "input tokens exceed",
    "request_too_large",
    "while limit is",
];

/// An answer that is an error, before it is sorted.
#[derive(Debug)]
pub(super) struct Refusal<'a> {
    /// HTTP status; 200 if the error came within a stream.
    pub(super) status: u16,
    pub(super) url: &'a str,
    /// The whole body, or the JSON of the event.
    pub(super) body: &'a str,
    pub(super) retry_after: Option<Duration>,
    pub(super) mask: &'a Mask,
}

/// Sorts an error answer. The fields that are looked at are those of OpenAI, Anthropic, Google, Ollama, vLLM and
/// llama.cpp.
pub(super) fn classify(refusal: &Refusal<'_>) -> LlmError {
    let parsed: Option<Value> = serde_json::from_str(refusal.body).ok();
    let words = parsed.as_ref().map(words).unwrap_or_default();
    let said = words.message.unwrap_or_else(|| refusal.body.to_owned());
    let message = refusal.mask.clean(&said);
    let message = if message.is_empty() { "(no explanation)".to_owned() } else { message };
    let whole = format!("{} {} {}", words.kind, words.code, said).to_lowercase();
    let status = effective_status(refusal.status, &words.code, &whole);
    let url = refusal.url.to_owned();

    let retry_after = refusal.retry_after.or(words.retry_after);
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| whole.contains(phrase));
    match status {
        413 => overflow(message, &said, words.sizes),
        400 | 422 | 500 if says(OVERFLOW_PHRASES) => overflow(message, &said, words.sizes),
        402 => LlmError::Quota { message },
        400 | 429 if says(&["insufficient_quota", "perday", "credit balance"]) => LlmError::Quota { message },
        429 => LlmError::RateLimited { retry_after, message },
        407 => LlmError::Proxy { message },
        401 | 403 => LlmError::Auth { status, message },
        400 if says(&["api_key_invalid", "api key not valid"]) => LlmError::Auth { status, message },
        404 => LlmError::NotFound { url, message },
        408 | 500.. => LlmError::Server { status, message, retry_after },
        201..=299 => LlmError::NotAnApi { url, snippet: format!("it answers with status {status}") },
        300..=399 => LlmError::NotAnApi { url, snippet: format!("it redirects elsewhere (status {status})") },
        _ => LlmError::BadRequest { status, message },
    }
}

/// The numbers from the fields that llama.cpp has for them, else from the words.
fn overflow(message: String, said: &str, sizes: Option<(usize, usize)>) -> LlmError {
    let (sent, limit) = match sizes {
        Some((sent, limit)) => (Some(sent), Some(limit)),
        None => sent_and_limit(said),
    };
    LlmError::Overflow { message, sent, limit }
}

/// An error within a stream came with status 200; its code or words tell the real one.
fn effective_status(status: u16, code: &str, whole: &str) -> u16 {
    if status != 200 {
        return status;
    }
    if let Ok(code @ 400..=599) = code.parse() {
        return code;
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| whole.contains(phrase));
    if says(OVERFLOW_PHRASES) {
        400
    } else if says(&["insufficient_quota", "billing"]) {
        402
    } else if says(&["rate_limit", "rate limit", "resource_exhausted", "too many requests"]) {
        429
    } else if says(&["authentication", "invalid_api_key", "permission"]) {
        401
    } else if says(&["overloaded"]) {
        529
    } else if says(&["invalid_request", "bad_request", "badrequest"]) {
        400
    } else if says(&["model_not_found"]) {
        404
    } else {
        // A failure in mid-stream that has no name is the server's.
        500
    }
}

#[derive(Default)]
struct Words {
    message: Option<String>,
    kind: String,
    code: String,
    /// Tokens sent and allowed, where fields say so.
    sizes: Option<(usize, usize)>,
    /// How long the server wants us to wait, where the body says so.
    retry_after: Option<Duration>,
}

fn words(body: &Value) -> Words {
    // Google wraps its errors in a list.
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let size = |name: &str| usize::try_from(error.get(name)?.as_u64()?).ok();
    let detail = error.pointer("/metadata/raw").or_else(|| body.get("detail"));
    let message = text(error.get("message")).or_else(|| text(Some(error))).or_else(|| text(body.get("message")));
    Words {
        message: match (message, text(detail)) {
            (Some(message), Some(detail)) => Some(format!("{message}: {detail}")),
            (message, detail) => message.or(detail),
        },
        kind: [text(error.get("type")), text(error.get("status")), details(error)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
        code: text(error.get("code")).unwrap_or_default(),
        sizes: size("n_prompt_tokens").zip(size("n_ctx")),
        retry_after: retry_delay(error),
    }
}

/// Reasons and quotas that Google gives beside its words.
fn details(error: &Value) -> Option<String> {
    let details = error.get("details")?.as_array()?;
    let reasons = details.iter().filter_map(|detail| detail.get("reason"));
    let quotas = details.iter().filter_map(|detail| detail.pointer("/violations/0/quotaId"));
    Some(reasons.chain(quotas).filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
}

/// Google's `RetryInfo`: seconds with an `s` after them.
fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?.as_str()?;
    pause(delay.strip_suffix('s')?, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(status: u16, body: &str) -> LlmError {
        let retry_after = Some(Duration::from_secs(7));
        let mask = Mask::new(Some(&"sk-canary".to_owned().into()), &[], &url::Url::parse("http://x").unwrap());
        classify(&Refusal { status, url: "http://x/v1", body, retry_after, mask: &mask })
    }

    fn kind(error: &LlmError) -> String {
        format!("{error:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
    }

    #[test]
    fn every_family_of_servers_is_sorted_alike() {
        let table = [
            (401, r#"{"error":{"message":"Incorrect API key"}}"#, "Auth"),
            (403, r#"{"error":{"status":"PERMISSION_DENIED","message":"no"}}"#, "Auth"),
            (402, r#"{"error":{"type":"billing_error","message":"no"}}"#, "Quota"),
            (429, r#"{"error":{"code":"rate_limit_exceeded","message":"slow"}}"#, "RateLimited"),
            (429, r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#, "Quota"),
            (429, r#"{"error":"too many"}"#, "RateLimited"),
            (400, r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#, "Overflow"),
            (400, r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#, "Overflow"),
            (400, r#"[{"error":{"message":"exceeds the maximum number of tokens allowed"}}]"#, "Overflow"),
            (400, r#"{"error":{"type":"exceed_context_size_error","message":"x","n_ctx":4}}"#, "Overflow"),
            (400, r#"{"message":"This model's maximum context length is 8","object":"error"}"#, "Overflow"),
            (413, "too big", "Overflow"),
            (400, r#"{"detail":"bad field"}"#, "BadRequest"),
            (404, r#"{"error":{"message":"model 'x' not found"}}"#, "NotFound"),
            (500, "", "Server"),
            (503, r#"{"error":{"message":"Loading model"}}"#, "Server"),
            (529, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Server"),
            (400, r#"{"error":{"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}"#, "Auth"),
            (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, "Quota"),
            (429, r#"{"error":{"message":"x","details":[{"violations":[{"quotaId":"RequestsPerDay"}]}]}}"#, "Quota"),
            (302, "", "NotAnApi"),
            (200, r#"{"error":{"message":"x","code":502}}"#, "Server"),
            (200, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Server"),
            (200, r#"{"error":{"type":"rate_limit_error","message":"x"}}"#, "RateLimited"),
            (200, r#"{"object":"error","message":"boom","code":400}"#, "BadRequest"),
            (200, r#"{"error":{"message":"x","type":"internal"}}"#, "Server"),
        ];
        for (status, body, expected) in table {
            assert_eq!(kind(&sorted(status, body)), expected, "{status} {body}");
        }
    }

    #[test]
    fn the_key_and_control_characters_never_come_through() {
        let error = sorted(401, "{\"error\":{\"message\":\"bad key sk-canary \\u001b]52;c;x\\u0007\\n\\u202eok\"}}");
        assert_eq!(error.to_string(), "the server refused the key (status 401): bad key [key] ]52;c;x ok");
    }

    #[test]
    fn what_was_sent_and_what_is_allowed_is_told() {
        let sizes = |body: &str| match sorted(400, body) {
            LlmError::Overflow { sent, limit, .. } => (sent, limit),
            other => panic!("{other:?}"),
        };
        let llama = r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#;
        assert_eq!(sizes(llama), (Some(9000), Some(4096)));
        let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
        assert_eq!(sizes(anthropic), (Some(9), Some(8)));
    }

    #[test]
    fn google_says_in_the_body_how_long_to_wait() {
        for (delay, wait) in [("34.5s", Duration::from_millis(34_500)), ("1e30s", Duration::MAX)] {
            let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[
                {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"DELAY"}]}}"#;
            let body = &body.replace("DELAY", delay);
            let mask = Mask::default();
            let error = classify(&Refusal { status: 429, url: "", body, retry_after: None, mask: &mask });
            assert_eq!(error.retry_after(), Some(wait), "{delay}");
        }
    }

    #[test]
    fn the_pause_that_a_server_asks_for_is_kept() {
        assert_eq!(sorted(429, "").retry_after(), Some(Duration::from_secs(7)));
    }

    proptest! {
        #[test]
        fn any_answer_gives_one_clean_line(status in 100u16..=600, body in ".{0,400}") {
            let line = sorted(status, &body).to_string();
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(line.chars().count() < crate::clean::MAX_SERVER_TEXT + 100);
        }
    }
}
