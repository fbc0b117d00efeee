//! The tools as the model sees them, and the parsing of its calls.

use crate::action::Action;
use rhumb_llm::{Tool, ToolCall};

/// Which tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolSet {
    /// Tools that change the proposal.
    pub edits: bool,
    /// How patches are offered.
    pub patch: PatchTool,
    /// Whether commands can be run.
    pub run: bool,
    /// Whether the user can be asked.
    pub ask_user: bool,
    /// Whether pages can be fetched.
    pub fetch_url: bool,
    /// Whether a question can be given to another model.
    pub task: bool,
}

/// How `apply_patch` is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PatchTool {
    /// Not at all: the model knows search/replace better.
    #[default]
    None,
    /// As a function with the patch as its argument.
    Function,
    /// As the tool that is built into the API.
    BuiltIn,
}

/// Why a call cannot be performed. The text is the result that the model gets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no such tool.
    #[error("there is no tool {name:?}; the tools are {known}")]
    UnknownTool {
        /// The name in the call.
        name: String,
        /// The names of the tools that are offered.
        known: String,
    },
    /// The arguments are not what the tool takes.
    #[error("{problem}. Arguments of {tool}: {expected}")]
    InvalidArguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong.
        problem: String,
        /// The schema of the arguments, in short.
        expected: String,
    },
}

/// The definitions of the tools.
pub fn definitions(_set: &ToolSet) -> Vec<Tool> {
    Vec::new()
}

/// Parses a call.
///
/// # Errors
/// The tool is not offered, or the arguments are not valid.
pub fn parse_call(call: &ToolCall, _set: &ToolSet) -> Result<Action, CallError> {
    Err(CallError::UnknownTool { name: call.name.clone(), known: String::new() })
}
