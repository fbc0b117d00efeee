//! An error as the user of the command line sees it: what happened, what to do next, and the exit code.

use std::fmt;

/// What kind of failure, as the exit code tells scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Bad input or usage: exit code 2.
    Usage,
    /// This machine: files, git. Exit code 3.
    Machine,
    /// The provider: authentication, rate limit, overflow, network. Exit code 4.
    Provider,
    /// The reply was incomplete; nothing was applied. Exit code 5.
    Incomplete,
}

impl ErrorKind {
    /// The exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Machine => 3,
            Self::Provider => 4,
            Self::Incomplete => 5,
        }
    }
}

/// An error with the advice that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    /// What kind.
    pub kind: ErrorKind,
    /// What happened, and to what.
    pub message: String,
    /// What to do next; may be empty.
    pub hint: String,
}

impl UserError {
    /// An error of that kind.
    pub fn new(kind: ErrorKind, message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self { kind, message: message.to_string(), hint: hint.into() }
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end_matches('.'))?;
        if !self.hint.is_empty() {
            write!(f, "\n  → {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for UserError {}
