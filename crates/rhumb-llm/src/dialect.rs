//! What a server is known not to take. Learned from its own complaints, so that each costs one request only.

use super::format::ANTHROPIC_OUTPUT;
use super::numbers::numbers;
use super::request::Request;
use crate::Role;

/// One thing learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lesson {
    /// It does not know `stream_options`.
    NoStreamOptions,
    /// It wants `max_completion_tokens` where others want `max_tokens`.
    CompletionTokens,
    /// Its temperature is fixed.
    NoTemperature,
    /// It knows no system role.
    NoSystem,
    /// It wants user and assistant to take turns.
    TakeTurns,
    /// It decides itself how many tokens to think, and takes a word only.
    AdaptiveThinking,
    /// It gives no summaries of its thinking.
    NoSummary,
    /// Its thinking cannot be set.
    NoThinking,
    /// It does not know `cache_control`.
    NoCacheMarks,
}

/// Complaints, in lower case, and what they teach. All words of a row must occur; the first row counts that teaches
/// something new.
const COMPLAINTS: &[(&[&str], Lesson)] = &[
    (&["stream_options"], Lesson::NoStreamOptions),
    (&["include_usage"], Lesson::NoStreamOptions),
    (&["max_completion_tokens"], Lesson::CompletionTokens),
    (&["temperature"], Lesson::NoTemperature),
    (&["cache_control"], Lesson::NoCacheMarks),
    (&["system", "role"], Lesson::NoSystem),
    (&["system message"], Lesson::NoSystem),
    (&["system prompt"], Lesson::NoSystem),
    (&["developer instruction"], Lesson::NoSystem),
    (&["alternat"], Lesson::TakeTurns),
    (&["adaptive"], Lesson::AdaptiveThinking),
    (&["reasoning", "summar"], Lesson::NoSummary),
    (&["think"], Lesson::NoThinking),
    (&["reasoning"], Lesson::NoThinking),
];

/// All that was learned of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    lessons: Vec<Lesson>,
    /// The most tokens of an answer that it lets us ask for.
    pub(super) max_output: Option<u32>,
    /// The context length that its model was last loaded with on our behalf, in tokens.
    pub(super) context: Option<u32>,
}

impl Dialect {
    /// Whether this was learned.
    pub(super) fn knows(&self, lesson: Lesson) -> bool {
        self.lessons.contains(&lesson)
    }

    /// The dialect that avoids what `complaint` is about; none if it is not about anything that we could do differently.
    pub(super) fn after(&self, complaint: &str, request: &Request) -> Option<Self> {
        let complaint = complaint.to_lowercase();
        let taught = COMPLAINTS.iter().find(|(words, lesson)| {
            words.iter().all(|word| complaint.contains(word)) && !self.knows(*lesson) && concerns(*lesson, request)
        });
        let mut next = self.clone();
        if let Some(&(_, lesson)) = taught {
            next.lessons.push(lesson);
            return Some(next);
        }
        next.max_output = Some(self.smaller_output(&complaint, request)?);
        Some(next)
    }

    /// The limit on the answer that the complaint names, if it is about that.
    fn smaller_output(&self, complaint: &str, request: &Request) -> Option<u32> {
        let is_about_it =
            ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "output tokens"]
                .iter()
                .any(|name| complaint.contains(name));
        let asked = self.max_output.or(request.max_output_tokens).unwrap_or(ANTHROPIC_OUTPUT);
        let sizes = numbers(complaint).into_iter().filter_map(|number| u32::try_from(number.value).ok());
        let most = sizes.filter(|size| (256..asked).contains(size)).max().filter(|_| is_about_it)?;
        // "from 1 (inclusive) to 65537 (exclusive)"
        Some(if complaint.contains("(exclusive)") { most - 1 } else { most })
    }
}

/// Whether the request has what the lesson leaves out.
fn concerns(lesson: Lesson, request: &Request) -> bool {
    match lesson {
        Lesson::NoStreamOptions | Lesson::TakeTurns => true,
        Lesson::CompletionTokens => request.max_output_tokens.is_some(),
        Lesson::NoTemperature => request.temperature.is_some(),
        Lesson::NoSystem => request.messages.iter().any(|message| message.role == Role::System),
        Lesson::AdaptiveThinking | Lesson::NoSummary | Lesson::NoThinking => request.thinking.is_some(),
        Lesson::NoCacheMarks => request.messages.iter().any(|message| message.cached),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::Thinking;

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
    fn each_complaint_teaches_its_lesson_once() {
        let table = [
            ("Unknown field: stream_options", Lesson::NoStreamOptions),
            ("Use 'max_completion_tokens' instead", Lesson::CompletionTokens),
            ("Unsupported value: 'temperature' does not support 0", Lesson::NoTemperature),
            ("messages.0.content.0.cache_control: Extra inputs are not permitted", Lesson::NoCacheMarks),
            ("'messages[0].role' does not support 'system' with this model", Lesson::NoSystem),
            ("System role not supported", Lesson::NoSystem),
            ("Developer instruction is not enabled for models/x", Lesson::NoSystem),
            ("Conversation roles must alternate user/assistant/user/…", Lesson::TakeTurns),
            ("thinking.type.enabled is not supported; use adaptive", Lesson::AdaptiveThinking),
            ("Your organization must be verified to generate reasoning summaries", Lesson::NoSummary),
            ("\"tiny\" does not support thinking", Lesson::NoThinking),
            ("Unrecognized request argument supplied: reasoning_effort", Lesson::NoThinking),
        ];
        for (complaint, lesson) in table {
            let dialect = Dialect::default().after(complaint, &request()).unwrap();
            assert!(dialect.knows(lesson), "{complaint}: {dialect:?}");
            assert_ne!(dialect.after(complaint, &request()), Some(dialect.clone()), "{complaint}");
            assert_eq!(
                dialect.after(complaint, &request()).filter(|next| next.lessons == dialect.lessons),
                None,
                "{complaint}"
            );
        }
        assert_eq!(Dialect::default().after("no such model", &request()), None);
    }

    #[test]
    fn what_was_not_asked_for_cannot_be_left_out() {
        let plain = Request::default();
        for complaint in ["temperature", "thinking", "cache_control", "system message", "max_completion_tokens"] {
            assert_eq!(Dialect::default().after(complaint, &plain), None, "{complaint}");
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
            let dialect = Dialect::default().after(complaint, &request()).unwrap();
            assert_eq!(dialect.max_output, Some(limit), "{complaint}");
            assert_eq!(dialect.after(complaint, &request()).and_then(|next| next.max_output), None, "{complaint}");
        }
    }
}
