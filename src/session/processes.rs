//! Commands that run beside the conversation: the developer's own, tests and linters.

/// A command to run, or to stop.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOrder {}

/// What a command does while it runs, and how it ended.
#[derive(Debug, Clone)]
pub enum RunReport {}
