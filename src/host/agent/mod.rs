//! Agent mode: performs the tool calls of a model.

#[allow(dead_code, reason = "the agent loop calls it")]
pub(crate) mod tools;
