//! The part of the transcript that agent mode sends unchanged: messages, answers with their tool calls, and the results.

use crate::context::Mode;
use crate::transcript::Entry;
use crate::{AnswerState, ToolState, ToolUse};
use rhumb_llm::{Message, Role, ToolCall, ToolResult};
use serde_json::Value;

/// The result of a call that has none, because the loop was stopped.
const NOT_RUN: &str = "not run: the developer stopped the loop";

/// The index of the first entry that agent mode sends unchanged: the first message of the agent turns at the end of the
/// transcript. `None` if the last message of the user has another mode.
pub(crate) fn start(transcript: &[Entry]) -> Option<usize> {
    let mut start = None;
    for (at, entry) in transcript.iter().enumerate().rev() {
        match entry {
            Entry::Cleared => break,
            Entry::User { mode: Mode::Agent, .. } => start = Some(at),
            Entry::User { .. } => break,
            _ => {}
        }
    }
    start
}

/// The messages of these entries, oldest first, without messages that have no answer. Texts that are attached to a message follow it
/// in the transcript, and are joined to it as in its first request, so that the beginning of the request stays the same.
pub(crate) fn messages(entries: &[Entry]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut entries = entries.iter().peekable();
    // The attempts to answer a message that is not part of the conversation are not part of it either.
    let mut is_included = false;
    // Texts that were attached to a message without an answer: they are sent with the next message.
    let mut unanswered: Vec<&String> = Vec::new();
    while let Some(entry) = entries.next() {
        match entry {
            Entry::User { text, answered, .. } => {
                unanswered.drain(..).for_each(|text| push_text(&mut messages, text));
                is_included = *answered;
                if is_included {
                    push_text(&mut messages, text);
                }
            }
            Entry::Shared { text, .. } if !is_included => unanswered.push(text),
            _ if !is_included => {}
            Entry::FollowUp { answered: false, .. } => {}
            Entry::FollowUp { text, .. } | Entry::Steering { text } | Entry::Shared { text, .. } => {
                push_text(&mut messages, text);
            }
            Entry::Answer(answer) => {
                let mut calls = Vec::new();
                let mut results = Vec::new();
                // Status messages and shared texts can stand between an answer and its calls.
                let mut shared = Vec::new();
                while let Some(Entry::Tool(_) | Entry::Status(_) | Entry::Ran(_) | Entry::Shared { .. }) =
                    entries.peek()
                {
                    match entries.next() {
                        Some(Entry::Tool(tool)) => {
                            calls.push(tool.call_for_model());
                            results.push(tool.result_for_model());
                        }
                        Some(Entry::Shared { text, .. }) => shared.push(text),
                        _ => {}
                    }
                }
                let is_cut = matches!(answer.state, AnswerState::Incomplete(_));
                if answer.state == AnswerState::Streaming || (answer.text.is_empty() && calls.is_empty()) {
                    continue;
                }
                messages.push(Message {
                    // Thinking without its signature is refused, and that of an incomplete answer has none.
                    thinking: if is_cut { Vec::new() } else { answer.thinking.clone() },
                    tool_calls: calls,
                    ..Message::new(Role::Assistant, &answer.text)
                });
                if !results.is_empty() {
                    messages.push(Message { tool_results: results, ..Message::new(Role::User, "") });
                }
                shared.iter().for_each(|text| push_text(&mut messages, text));
            }
            Entry::Tool(_) | Entry::Status(_) | Entry::Ran(_) | Entry::Cleared => {}
        }
    }
    messages
}

/// Appends a text of the user: to the message with results before it, or as a message.
fn push_text(messages: &mut Vec<Message>, text: &str) {
    match messages.last_mut() {
        Some(last) if last.role == Role::User && last.content.is_empty() => last.content.push_str(text),
        Some(last) if last.role == Role::User => {
            last.content.push_str("\n\n");
            last.content.push_str(text);
        }
        _ => messages.push(Message::new(Role::User, text)),
    }
}

/// Arguments of dropped calls are kept up to this length in characters: a path, but not the content of a file.
const MAX_KEPT_ARGUMENT_CHARS: usize = 200;

impl ToolUse {
    /// The call; if it is dropped, without its long arguments.
    fn call_for_model(&self) -> ToolCall {
        let is_long =
            |value: &&mut Value| value.as_str().is_some_and(|text| text.chars().nth(MAX_KEPT_ARGUMENT_CHARS).is_some());
        let mut arguments = match serde_json::from_str::<Value>(&self.call.arguments) {
            Ok(Value::Object(arguments)) if self.is_dropped => arguments,
            _ => return self.call.clone(),
        };
        for long in arguments.values_mut().filter(is_long) {
            let characters = long.as_str().map_or(0, |text| text.chars().count());
            *long = format!("[{characters} characters, dropped to save space]").into();
        }
        ToolCall { arguments: Value::Object(arguments).to_string(), ..self.call.clone() }
    }

    fn result_for_model(&self) -> ToolResult {
        let (name, summary) = self.description();
        let content = match self.state {
            ToolState::Waiting | ToolState::Running => NOT_RUN.to_owned(),
            _ if self.is_dropped => rhumb_agent::output::stub(&name, &summary, self.tokens),
            _ => self.result.clone(),
        };
        ToolResult {
            id: self.call.id.clone(),
            name: self.call.name.clone(),
            content,
            is_error: matches!(self.state, ToolState::Failed),
            built_in: self.call.built_in,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Answer;

    #[test]
    fn what_was_attached_to_a_message_without_an_answer_is_sent_with_the_next_one() {
        let user = |text: &str, answered| Entry::User { text: text.into(), mode: Mode::Agent, answered };
        let shared = |text: &str| Entry::Shared { title: "t".into(), text: text.into(), whole: None };
        let answer = Entry::Answer(Answer {
            text: "a".into(),
            reasoning: String::new(),
            state: AnswerState::Complete,
            edits: Vec::new(),
            thinking: Vec::new(),
        });
        let sent =
            |entries: &[Entry]| -> Vec<String> { messages(entries).into_iter().map(|sent| sent.content).collect() };
        let mut entries = vec![user("stopped", false), shared("page")];
        // The draft of the request has it.
        assert!(sent(&entries).is_empty());
        entries.push(user("again", false));
        assert_eq!(sent(&entries), ["page"]);
        entries[2] = user("again", true);
        entries.push(answer);
        assert_eq!(sent(&entries), ["page\n\nagain", "a"]);
    }
}
