//! What is kept of a session as it happens, and earlier sessions.

/// Something to keep, or to find again.
#[derive(Debug, Clone, PartialEq)]
pub enum KeepOrder {}

/// What was found, or why not.
#[derive(Debug, Clone)]
pub enum KeepReport {}
