//! Git, as the session asks for it: commits, their messages, what differs.

/// Something to be done with git.
#[derive(Debug, Clone, PartialEq)]
pub enum GitOrder {}

/// What came of it.
#[derive(Debug, Clone)]
pub enum GitReport {}
