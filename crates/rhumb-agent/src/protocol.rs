//! Tool calls as text, for models and servers that have none.

use rhumb_llm::{Tool, ToolCall, ToolResult};

/// The instructions for a model: how to write calls, and the tools.
pub fn instructions(_tools: &[Tool]) -> String {
    String::new()
}

/// The calls in an answer, and the answer without them. `first` is the number of the first call, for ids.
pub fn calls(answer: &str, _first: usize) -> (String, Vec<ToolCall>) {
    (answer.to_owned(), Vec::new())
}

/// The results as the text of a message of the user.
pub fn results(_results: &[ToolResult]) -> String {
    String::new()
}
