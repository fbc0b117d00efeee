//! Classifies error responses of all kinds of servers into a few kinds of errors.

use super::error::LlmError;
use super::retry::pause;
use super::sanitize::KeyMask;
use serde_json::Value;
use std::time::Duration;

/// Phrases that indicate that a request exceeds the context window, in lower case, from the error messages of
/// different servers.
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

/// An error response.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    /// HTTP status, or 200 for an error inside a stream.
    pub(crate) status: u16,
    pub(crate) url: &'a str,
    /// The whole body, or the JSON of the event.
    pub(crate) body: &'a str,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) mask: &'a KeyMask,
}

/// Classifies an error response. Knows the fields of OpenAI, Anthropic, Google, Ollama, vLLM and llama.cpp.
pub(crate) fn classify(refusal: &Refusal<'_>) -> LlmError {
    let parsed: Option<Value> = serde_json::from_str(refusal.body).ok();
    let words = parsed.as_ref().map(words).unwrap_or_default();
    let said = words.message.unwrap_or_else(|| refusal.body.to_owned());
    let message = refusal.mask.sanitize(&said);
    let message = if message.is_empty() { "(no explanation)".to_owned() } else { message };
    let whole = format!("{} {} {}", words.kind, words.code, said).to_lowercase();
    let status = effective_status(refusal.status, &words.code, &whole);
    let url = refusal.url.to_owned();

    let retry_after = refusal.retry_after.or(words.retry_after);
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| whole.contains(phrase));
    match status {
        413 => overflow(message, &said, words.sizes),
        400 | 422 | 500 if says(OVERFLOW_PHRASES) => overflow(message, &said, words.sizes),
        402 => LlmError::Quota(message),
        400 | 429 if says(&["insufficient_quota", "perday", "credit balance"]) => LlmError::Quota(message),
        429 => LlmError::RateLimited { retry_after, message },
        407 => LlmError::Proxy(message),
        401 | 403 => LlmError::Auth { status, message },
        400 if says(&["api_key_invalid", "api key not valid"]) => LlmError::Auth { status, message },
        404 => LlmError::NotFound { url, message },
        408 | 500.. => LlmError::Server { status, message, retry_after },
        201..=299 => LlmError::NotAnApi { url, snippet: format!("it answers with status {status}") },
        300..=399 => LlmError::NotAnApi { url, snippet: format!("it redirects elsewhere (status {status})") },
        _ => LlmError::BadRequest { status, message },
    }
}

/// Words for tool calls in error messages, in lower case.
const TOOL_WORDS: &[&str] =
    &["tools", "tool use", "tool call", "tool_call", "tool choice", "tool_use", "function call"];
/// Phrases of error messages about tools that indicate that the server or the model does not support tool calls, in
/// lower case.
const UNSUPPORTED_PHRASES: &[&str] = &[
    "not support",
    "unsupported",
    "isn't supported",
    "endpoints found that support",
    "jinja",
    "enable-auto-tool-choice",
    "not enabled",
    "not available",
    "not implemented",
];
/// Phrases that indicate that the server does not know the field `tools`, in lower case.
const UNKNOWN_FIELD_PHRASES: &[&str] =
    &["unknown", "unrecognized", "unexpected", "extra inputs", "not permitted", "not allowed"];

/// Returns whether an error message of the chat completions API refers to the Responses API, which OpenAI requires for
/// some models, and for tools with others.
pub(crate) fn needs_responses_api(message: &str) -> bool {
    message.contains("v1/chat/completions") && message.contains("v1/responses")
}

/// Replaces the error for a request with tools if it says that tool calls are not supported.
pub(crate) fn without_tools(error: LlmError) -> LlmError {
    let (LlmError::BadRequest { message, .. }
    | LlmError::NotFound { message, .. }
    | LlmError::Server { status: 500 | 501, message, .. }) = &error
    else {
        return error;
    };
    let said = message.to_lowercase();
    // The other API supports them.
    if needs_responses_api(&said) {
        return error;
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| said.contains(phrase));
    let lacks_tools = says(TOOL_WORDS) && says(UNSUPPORTED_PHRASES);
    if lacks_tools || (said.contains("tools") && says(UNKNOWN_FIELD_PHRASES)) {
        return LlmError::NoTools { message: message.clone() };
    }
    error
}

/// Takes the numbers from the fields of llama.cpp, or else from the message.
fn overflow(message: String, said: &str, sizes: Option<(usize, usize)>) -> LlmError {
    let (sent, limit) = match sizes {
        Some((sent, limit)) => (Some(sent), Some(limit)),
        None => sent_and_limit(said),
    };
    LlmError::Overflow { message, sent, limit }
}

/// Returns the status that is equivalent to an error inside a stream, which has status 200.
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
        // An unknown error in the middle of a stream is the server's.
        500
    }
}

#[derive(Default)]
struct Words {
    message: Option<String>,
    kind: String,
    code: String,
    /// Number of tokens sent and allowed, if there are fields for them.
    sizes: Option<(usize, usize)>,
    /// The pause that the body requests.
    retry_after: Option<Duration>,
}

fn words(body: &Value) -> Words {
    // Google wraps errors in an array.
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

/// Reasons and quota ids in the details that Google adds.
fn details(error: &Value) -> Option<String> {
    let details = error.get("details")?.as_array()?;
    let reasons = details.iter().filter_map(|detail| detail.get("reason"));
    let quotas = details.iter().filter_map(|detail| detail.pointer("/violations/0/quotaId"));
    Some(reasons.chain(quotas).filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
}

/// Parses `retryDelay` of Google's `RetryInfo`: seconds followed by `s`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?.as_str()?;
    pause(delay.strip_suffix('s')?, 1.0)
}

/// An integer in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) value: usize,
    /// Offset of its first byte.
    pub(crate) start: usize,
    /// Offset after its last byte.
    pub(crate) end: usize,
}

/// Returns the integers in a text, in order. Digits inside of names, versions and fractions are ignored.
pub(crate) fn numbers(text: &str) -> Vec<Number> {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ',');
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.split(|c: char| !is_inner(c)) {
        let bare = word.trim_end_matches(['.', ',']);
        let digits: String = bare.chars().filter(|c| *c != ',').collect();
        if digits.chars().all(|c| c.is_ascii_digit())
            && let Ok(value) = digits.parse()
        {
            found.push(Number { value, start, end: start + bare.len() });
        }
        start += word.len();
        start += text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    found
}

/// Returns the number of tokens sent and allowed that an error message about the context window names. A number is
/// the limit if words say so or if it follows `>`. The number sent is larger.
pub(crate) fn sent_and_limit(text: &str) -> (Option<usize>, Option<usize>) {
    let text = text.to_lowercase();
    let numbers = numbers(&text);
    let Some(at) = limit_among(&text, &numbers) else { return (None, None) };
    let limit = numbers.get(at).map(|number| number.value).filter(|limit| *limit > 0);
    let others = || numbers.iter().map(|number| number.value).filter(|value| Some(*value) != limit);
    let exceeds = |sent: &usize| limit.is_some_and(|limit| *sent > limit);
    // If no single number exceeds the limit, prompt and answer together do.
    let sent = others().max().filter(exceeds).or_else(|| others().reduce(usize::saturating_add).filter(exceeds));
    (sent, limit)
}

fn limit_among(text: &str, numbers: &[Number]) -> Option<usize> {
    const WORDS: [&str; 7] = ["maximum", "limit", "available", "context length", "allowed", "cannot exceed", "<="];
    let before = |at: usize| {
        let from = at.checked_sub(1).and_then(|at| numbers.get(at)).map_or(0, |number| number.end);
        numbers.get(at).and_then(|number| text.get(from..number.start)).unwrap_or_default()
    };
    let behind_sign = (1..numbers.len()).find(|at| before(*at).trim_end().ends_with('>'));
    let by_words = || (0..numbers.len()).find(|at| WORDS.iter().any(|word| before(*at).contains(word)));
    let by_last_words = || {
        let last = numbers.len().checked_sub(1)?;
        let after = text.get(numbers.get(last)?.end..)?;
        WORDS.iter().any(|word| after.contains(word)).then_some(last)
    };
    behind_sign.or_else(by_words).or_else(by_last_words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(status: u16, body: &str) -> LlmError {
        let retry_after = Some(Duration::from_secs(7));
        let mask = KeyMask::new(Some(&"sk-canary".to_owned().into()), &[], &url::Url::parse("http://x").unwrap());
        classify(&Refusal { status, url: "http://x/v1", body, retry_after, mask: &mask })
    }

    fn kind(error: &LlmError) -> String {
        format!("{error:?}").split([' ', '{', '(']).next().unwrap_or_default().to_owned()
    }

    #[test]
    fn error_responses_of_all_servers_are_classified() {
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
    fn an_error_that_refers_to_the_responses_api_says_how_to_use_it() {
        for (status, message) in [
            (
                400,
                "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
            ),
            (404, "This model is only supported in v1/responses and not in v1/chat/completions."),
        ] {
            let error = without_tools(sorted(status, &serde_json::json!({"error":{"message":message}}).to_string()));
            assert!(error.to_string().contains(message), "{error:?}");
            assert!(error.hint().contains("api = \"responses\""), "{}", error.hint());
        }
        let missing = sorted(404, r#"{"error":{"message":"no route for POST /v1/responses"}}"#);
        assert!(!missing.hint().contains("api = "), "{}", missing.hint());
    }

    #[test]
    fn keys_and_control_characters_are_removed() {
        let error = sorted(401, "{\"error\":{\"message\":\"bad key sk-canary \\u001b]52;c;x\\u0007\\n\\u202eok\"}}");
        assert_eq!(error.to_string(), "the server refused the key (status 401): bad key [key] ]52;c;x ok");
    }

    #[test]
    fn token_counts_are_extracted() {
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
    fn the_pause_in_googles_error_body_is_used() {
        for (delay, wait) in [("34.5s", Duration::from_millis(34_500)), ("1e30s", Duration::MAX)] {
            let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[
                {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"DELAY"}]}}"#;
            let body = &body.replace("DELAY", delay);
            let mask = KeyMask::default();
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
        fn every_error_is_one_clean_line(status in 100u16..=600, body in ".{0,400}") {
            let line = sorted(status, &body).to_string();
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(line.chars().count() < crate::sanitize::MAX_SERVER_TEXT + 100);
        }
    }

    #[test]
    fn names_versions_and_fractions_are_no_numbers() {
        let values: Vec<usize> =
            numbers("gpt-4.1 v2 0.5 é12,345. (7) `8`: x9 10").iter().map(|number| number.value).collect();
        assert_eq!(values, [7, 8, 10]);
        assert_eq!(numbers("has 12,345.").first().map(|number| number.value), Some(12_345));
    }

    #[test]
    fn every_family_of_servers_tells_both_numbers() {
        let table = [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
                10_000,
                8192,
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
                10_000,
                8192,
            ),
            (
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
                300_000,
                272_000,
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", 210_000, 200_000),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length",
                211_333,
                200_000,
            ),
            (
                "The input token count (1234567) exceeds the maximum number of tokens allowed (1048576).",
                1_234_567,
                1_048_576,
            ),
            (
                "request (12345 tokens) exceeds the available context size (4096 tokens), try increasing it",
                12_345,
                4096,
            ),
            ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 5000, 4096),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 3500 input tokens",
                4500,
                4096,
            ),
            ("Current length is 9000 while limit is 8192", 9000, 8192),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                40_000,
                32_768,
            ),
            (
                "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (138000 of text input, 2000 in the output).",
                140_000,
                131_072,
            ),
            ("This model's maximum prompt length is 131072 but the request contains 150000 tokens.", 150_000, 131_072),
            ("The input (9,000 tokens) is longer than the model's context length (8,192 tokens).", 9000, 8192),
            ("Limit 6000, Requested 7000, please reduce your message size", 7000, 6000),
            (
                "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
                5000,
                4096,
            ),
        ];
        for (words, sent, limit) in table {
            assert_eq!(sent_and_limit(words), (Some(sent), Some(limit)), "{words}");
        }
    }

    #[test]
    fn no_numbers_are_made_up() {
        assert_eq!(sent_and_limit("Your input exceeds the context window of this model."), (None, None));
        assert_eq!(sent_and_limit("the limit of gpt-4 is 8192 tokens"), (None, Some(8192)));
        assert_eq!(sent_and_limit("error 17 and 4"), (None, None));
    }

    proptest! {
        #[test]
        fn any_words_are_read(text in "(\\PC|[0-9]{1,25}| > |limit |\u{130}|maximum ){0,20}") {
            let (sent, limit) = sent_and_limit(&text);
            prop_assert!(sent.is_none_or(|sent| limit.is_some_and(|limit| sent > limit)));
        }
    }
}
