//! Parameters that a server is known to reject for a model. They are learned from its error messages, so that each costs one
//! request only.

use super::classify::{needs_responses_api, numbers};
use super::format::ANTHROPIC_OUTPUT;
use crate::{Message, Request, Role};

/// A deviation from the standard form of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// Does not accept `stream_options`.
    NoStreamOptions,
    /// Expects `max_completion_tokens` instead of `max_tokens`.
    CompletionTokens,
    /// Does not accept a temperature.
    NoTemperature,
    NoSystem,
    /// Requires user and assistant messages to alternate.
    AlternateRoles,
    /// Chooses the number of thinking tokens itself and accepts a level only.
    AdaptiveThinking,
    /// Does not accept `display` for adaptive thinking.
    NoThinkingDisplay,
    /// Does not return summaries of its thinking.
    NoSummary,
    /// Does not accept thinking parameters.
    NoThinking,
    /// Does not accept `cache_control`.
    NoCacheMarks,
    /// Does not accept the thinking of earlier answers, for example because another server signed it.
    NoThinkingBack,
    /// Requires thinking with tool calls of earlier answers.
    NeedsThinkingBack,
    /// Does not return encrypted thinking.
    NoEncryptedThinking,
    /// Requires a string as content of an answer that consists of tool calls.
    NoNullContent,
    /// Requires ids of tool calls that consist of 9 letters and digits.
    ShortCallIds,
    /// Does not have the built-in tools of its API.
    NoBuiltInTools,
}

/// Words of error messages, in lower case, and the quirk that they indicate. All words of a row must occur. The first
/// row with an unknown quirk is used.
const COMPLAINTS: &[(&[&str], Quirk)] = &[
    (&["reasoning_content", "missing"], Quirk::NeedsThinkingBack),
    (&["reasoning_content", "passed back"], Quirk::NeedsThinkingBack),
    (&["reasoning_content"], Quirk::NoThinkingBack),
    (&["reasoning_details"], Quirk::NoThinkingBack),
    (&["thinking", "signature"], Quirk::NoThinkingBack),
    (&["encrypted", "verif"], Quirk::NoThinkingBack),
    (&["encrypted"], Quirk::NoEncryptedThinking),
    (&["apply_patch"], Quirk::NoBuiltInTools),
    (&["tool call id", "length of 9"], Quirk::ShortCallIds),
    (&["stream_options"], Quirk::NoStreamOptions),
    (&["include_usage"], Quirk::NoStreamOptions),
    (&["max_completion_tokens"], Quirk::CompletionTokens),
    (&["temperature"], Quirk::NoTemperature),
    (&["cache_control"], Quirk::NoCacheMarks),
    (&["system", "role"], Quirk::NoSystem),
    (&["system message"], Quirk::NoSystem),
    (&["system prompt"], Quirk::NoSystem),
    (&["developer instruction"], Quirk::NoSystem),
    (&["alternat"], Quirk::AlternateRoles),
    (&["adaptive"], Quirk::AdaptiveThinking),
    (&["thinking", "display"], Quirk::NoThinkingDisplay),
    (&["reasoning", "summar"], Quirk::NoSummary),
    (&["think"], Quirk::NoThinking),
    (&["reasoning"], Quirk::NoThinking),
    (&["think"], Quirk::NoThinkingBack),
    (&["reasoning"], Quirk::NoThinkingBack),
    (&["content", "null"], Quirk::NoNullContent),
    (&["content", "nil"], Quirk::NoNullContent),
    (&["content", "none"], Quirk::NoNullContent),
    (&["content", "string"], Quirk::NoNullContent),
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    quirks: Vec<Quirk>,
    /// Maximum number of output tokens that it accepts.
    pub(crate) max_output: Option<u32>,
    /// Context length in tokens with which the server has loaded the model for an earlier request.
    pub(crate) context: Option<u32>,
}

impl Quirks {
    pub(crate) fn knows(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// Returns the quirks that avoid what `complaint` is about, or `None` if the message indicates nothing new.
    pub(crate) fn after(&self, complaint: &str, request: &Request) -> Option<Self> {
        let complaint = complaint.to_lowercase();
        // The user should choose the other API. Without thinking, the request is rejected again or gets a worse answer.
        if needs_responses_api(&complaint) {
            return None;
        }
        let taught = COMPLAINTS.iter().find(|(words, quirk)| {
            words.iter().all(|word| complaint.contains(word)) && !self.knows(*quirk) && concerns(*quirk, request)
        });
        let mut next = self.clone();
        if let Some(&(_, quirk)) = taught {
            next.quirks.push(quirk);
            return Some(next);
        }
        next.max_output = Some(self.smaller_output(&complaint, request)?);
        Some(next)
    }

    /// Returns the limit on output tokens that the message names.
    fn smaller_output(&self, complaint: &str, request: &Request) -> Option<u32> {
        let is_about_it =
            ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "output tokens"]
                .iter()
                .any(|name| complaint.contains(name));
        let asked = self.max_output.or(request.max_output_tokens).or(request.model_max_output);
        let asked = asked.unwrap_or(ANTHROPIC_OUTPUT);
        let sizes = numbers(complaint).into_iter().filter_map(|number| u32::try_from(number.value).ok());
        let most = sizes.filter(|size| (256..asked).contains(size)).max().filter(|_| is_about_it)?;
        // "from 1 (inclusive) to 65537 (exclusive)"
        Some(if complaint.contains("(exclusive)") { most - 1 } else { most })
    }
}

fn has_calls(message: &Message) -> bool {
    !message.tool_calls.is_empty()
}

fn concerns(quirk: Quirk, request: &Request) -> bool {
    match quirk {
        Quirk::NoStreamOptions | Quirk::AlternateRoles => true,
        Quirk::CompletionTokens => request.max_output_tokens.is_some(),
        Quirk::NoTemperature => request.temperature.is_some(),
        Quirk::NoSystem => request.messages.iter().any(|message| message.role == Role::System),
        Quirk::AdaptiveThinking | Quirk::NoThinkingDisplay | Quirk::NoSummary | Quirk::NoThinking => {
            request.thinking.is_some()
        }
        Quirk::NoCacheMarks => request.messages.iter().any(|message| message.cached),
        Quirk::NoThinkingBack => request.messages.iter().any(|message| !message.thinking.is_empty()),
        Quirk::NeedsThinkingBack | Quirk::ShortCallIds => request.messages.iter().any(has_calls),
        Quirk::NoNullContent => request.messages.iter().any(|message| has_calls(message) && message.content.is_empty()),
        Quirk::NoEncryptedThinking => !request.tools.is_empty(),
        Quirk::NoBuiltInTools => request.tools.iter().any(|tool| tool.built_in),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Thinking, Tool, ToolCall};
    use serde_json::Value;

    fn request() -> Request {
        let mut system = Message::new(Role::System, "s");
        system.cached = true;
        Request {
            messages: vec![system, Message::new(Role::User, "u")],
            max_output_tokens: Some(100_000),
            temperature: Some(0.0),
            thinking: Some(Thinking::Effort("low".into())),
            ..Request::default()
        }
    }

    #[test]
    fn each_complaint_reveals_its_quirk_once() {
        let table = [
            ("Unknown field: stream_options", Quirk::NoStreamOptions),
            ("Use 'max_completion_tokens' instead", Quirk::CompletionTokens),
            ("Unsupported value: 'temperature' does not support 0", Quirk::NoTemperature),
            ("messages.0.content.0.cache_control: Extra inputs are not permitted", Quirk::NoCacheMarks),
            ("'messages[0].role' does not support 'system' with this model", Quirk::NoSystem),
            ("System role not supported", Quirk::NoSystem),
            ("Developer instruction is not enabled for models/x", Quirk::NoSystem),
            ("Conversation roles must alternate user/assistant/user/…", Quirk::AlternateRoles),
            ("thinking.type.enabled is not supported; use adaptive", Quirk::AdaptiveThinking),
            ("Your organization must be verified to generate reasoning summaries", Quirk::NoSummary),
            ("\"tiny\" does not support thinking", Quirk::NoThinking),
            ("Unrecognized request argument supplied: reasoning_effort", Quirk::NoThinking),
        ];
        for (complaint, quirk) in table {
            let quirks = Quirks::default().after(complaint, &request()).unwrap();
            assert!(quirks.knows(quirk), "{complaint}: {quirks:?}");
            assert_ne!(quirks.after(complaint, &request()), Some(quirks.clone()), "{complaint}");
            assert_eq!(
                quirks.after(complaint, &request()).filter(|next| next.quirks == quirks.quirks),
                None,
                "{complaint}"
            );
        }
        assert_eq!(Quirks::default().after("no such model", &request()), None);
    }

    #[test]
    fn complaints_about_calls_and_their_thinking_are_told_from_others() {
        let mut request = request();
        request.tools.push(Tool {
            name: "apply_patch".into(),
            description: String::new(),
            parameters: Value::Null,
            built_in: true,
        });
        let mut answer = Message::new(Role::Assistant, "");
        answer.thinking.push(Value::Null);
        answer.tool_calls.push(ToolCall::default());
        request.messages.push(answer);
        let table = [
            ("Missing `reasoning_content` field in the assistant message", Quirk::NeedsThinkingBack),
            ("property 'reasoning_content' is unsupported", Quirk::NoThinkingBack),
            ("Invalid `signature` in `thinking` block", Quirk::NoThinkingBack),
            ("The encrypted content gAAA could not be verified", Quirk::NoThinkingBack),
            ("Encrypted content is not supported with this model", Quirk::NoEncryptedThinking),
            ("Tool type 'apply_patch' is not supported", Quirk::NoBuiltInTools),
            ("Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.", Quirk::ShortCallIds),
            ("invalid message content type: <nil>", Quirk::NoNullContent),
            ("Unrecognized request argument supplied: reasoning_effort", Quirk::NoThinking),
        ];
        for (complaint, quirk) in table {
            let quirks = Quirks::default().after(complaint, &request).unwrap();
            assert!(quirks.knows(quirk), "{complaint}: {quirks:?}");
        }
    }

    #[test]
    fn a_complaint_that_refers_to_the_responses_api_reveals_no_quirk() {
        let complaint = "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. \
                         To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
        assert_eq!(Quirks::default().after(complaint, &request()), None);
    }

    #[test]
    fn parameters_that_are_not_set_reveal_no_quirk() {
        let plain = Request::default();
        for complaint in ["temperature", "thinking", "cache_control", "system message", "max_completion_tokens"] {
            assert_eq!(Quirks::default().after(complaint, &plain), None, "{complaint}");
        }
    }

    #[test]
    fn a_limit_on_the_answer_is_taken_from_the_complaint() {
        let limits = [
            ("max_tokens: 100000 > 32000, which is the maximum allowed number of output tokens for x", 32_000),
            ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens", 16_384),
            (
                "it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)",
                65_536,
            ),
        ];
        for (complaint, limit) in limits {
            let quirks = Quirks::default().after(complaint, &request()).unwrap();
            assert_eq!(quirks.max_output, Some(limit), "{complaint}");
            assert_eq!(quirks.after(complaint, &request()).and_then(|next| next.max_output), None, "{complaint}");
        }
        let unlimited = Request { model_max_output: Some(100_000), ..Request::default() };
        assert_eq!(Quirks::default().after(limits[0].0, &unlimited).and_then(|next| next.max_output), Some(32_000));
    }
}
