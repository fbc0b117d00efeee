//! From the many shapes of error answers to the few kinds that a user can act on.

use std::time::Duration;

use serde_json::Value;

use super::error::LlmError;

/// Text from a server is cut to this many characters.
const MAX_SERVER_TEXT: usize = 300;

/// How servers say that the request does not fit the model's context window. Each is a phrase from the error texts of a
/// family of servers, in lower case.
const OVERFLOW_PHRASES: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context window",
    "context length",
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
    /// Never to be shown, whoever says it.
    pub(super) secret: Option<&'a str>,
}

/// Sorts an error answer. The fields that are looked at are those of OpenAI, Anthropic, Google, Ollama, vLLM and
/// llama.cpp.
pub(super) fn classify(refusal: &Refusal<'_>) -> LlmError {
    let parsed: Option<Value> = serde_json::from_str(refusal.body).ok();
    let words = parsed.as_ref().map(words).unwrap_or_default();
    let said = words.message.unwrap_or_else(|| refusal.body.to_owned());
    let message = clean(&said, refusal.secret);
    let message = if message.is_empty() { "(no explanation)".to_owned() } else { message };
    let whole = format!("{} {} {}", words.kind, words.code, said).to_lowercase();
    let status = effective_status(refusal.status, &words.code, &whole);
    let url = refusal.url.to_owned();

    let too_long = OVERFLOW_PHRASES.iter().any(|phrase| whole.contains(phrase));
    match status {
        413 => LlmError::Overflow { message },
        400 | 422 | 500 if too_long => LlmError::Overflow { message },
        402 => LlmError::Quota { message },
        429 if whole.contains("insufficient_quota") => LlmError::Quota { message },
        429 => LlmError::RateLimited { retry_after: refusal.retry_after, message },
        401 | 403 => LlmError::Auth { status, message },
        404 => LlmError::NotFound { url, message },
        408 | 500.. => LlmError::Server { status, message, retry_after: refusal.retry_after },
        300..=399 => LlmError::NotAnApi { url, snippet: format!("it redirects elsewhere (status {status})") },
        _ => LlmError::BadRequest { status, message },
    }
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
    let detail = error.pointer("/metadata/raw").or_else(|| body.get("detail"));
    let message = text(error.get("message")).or_else(|| text(Some(error))).or_else(|| text(body.get("message")));
    Words {
        message: match (message, text(detail)) {
            (Some(message), Some(detail)) => Some(format!("{message}: {detail}")),
            (message, detail) => message.or(detail),
        },
        kind: text(error.get("type")).or_else(|| text(error.get("status"))).unwrap_or_default(),
        code: text(error.get("code")).unwrap_or_default(),
    }
}

/// Text from a server, fit for one line of the screen: no control or invisible direction characters, blanks joined, 300
/// characters at most, and `secret` masked should it occur.
pub(super) fn clean(text: &str, secret: Option<&str>) -> String {
    let masked = match secret.filter(|secret| !secret.is_empty()) {
        Some(secret) => text.replace(secret, "[key]"),
        None => text.to_owned(),
    };
    let mut line = String::new();
    for word in masked.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !is_invisible(*c)));
        if line.len() > 4 * MAX_SERVER_TEXT {
            break;
        }
    }
    match line.char_indices().nth(MAX_SERVER_TEXT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Zero-width and direction controls, and the tag characters that can hide whole sentences.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(status: u16, body: &str) -> LlmError {
        let retry_after = Some(Duration::from_secs(7));
        classify(&Refusal { status, url: "http://x/v1", body, retry_after, secret: Some("sk-canary") })
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
    fn a_page_of_server_text_is_cut() {
        assert_eq!(clean(&"wörd ".repeat(500), None).chars().count(), MAX_SERVER_TEXT + 1);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert!(sorted(503, "").is_passing() && sorted(429, "").is_passing() && sorted(529, "").is_passing());
        assert!(!sorted(501, "").is_passing() && !sorted(401, "").is_passing());
        assert!(!sorted(429, "insufficient_quota").is_passing());
        assert_eq!(sorted(429, "").retry_after(), Some(Duration::from_secs(7)));
    }

    proptest! {
        #[test]
        fn any_answer_gives_one_clean_line(status in 100u16..=600, body in ".{0,400}") {
            let line = sorted(status, &body).to_string();
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(line.chars().count() < MAX_SERVER_TEXT + 100);
        }
    }
}
